/* Values that must be known when compiled: params are replaced by what they were given, and marked as baked. */
#include "sema/sema.h"

static bg_val *not_known(bg_sema *s, const bg_val *v, const char *what, bg_str why)
{
    bg_diag_push(s->diags, BG_D_NOT_KNOWN, v->span, 2, bg_str_of(what), why);
    return s->error;
}

static bg_val *known_kids(bg_sema *s, bg_val *v, const char *what, bg_val ***out)
{
    bg_val **kids = BG_ARRAY(s, v->n, bg_val *);
    for (uint32_t i = 0; i < v->n; i++) {
        kids[i] = bg_known(s, v->kids[i], what);
        if (kids[i]->kind == BG_VAL_ERROR)
            return s->error;
    }
    *out = kids;
    return v;
}

static bg_val *known_list(bg_sema *s, bg_val *v, const char *what, bool deep)
{
    bg_val **items = BG_ARRAY(s, v->n, bg_val *);
    for (uint32_t i = 0; i < v->n; i++) {
        bg_val *item = v->kids[i];
        while (item->kind == BG_VAL_ITEM_IF) {
            bg_val *c = bg_known(s, item->kids[0], what);
            if (c->kind == BG_VAL_ERROR)
                return c;
            item = c->i != 0 ? item->kids[1] : bg_val_op1(s, BG_VAL_SPLICE, BG_TYPE_LIST, bg_eval_list(s, NULL, 0, v->span), v->span);
        }
        if (item->kind == BG_VAL_SPLICE) {
            bg_val *list = deep ? bg_known(s, item->kids[0], what) : bg_known_list(s, item->kids[0], what);
            item = bg_val_op1(s, BG_VAL_SPLICE, BG_TYPE_LIST, list, item->span);
        } else if (deep) {
            item = bg_known(s, item, what);
        }
        if (item->kind == BG_VAL_ERROR)
            return item;
        items[i] = item;
    }
    return bg_eval_list(s, items, v->n, v->span);
}

static bool has_shape(const bg_val *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (v->kids[i]->kind == BG_VAL_SPLICE || v->kids[i]->kind == BG_VAL_ITEM_IF)
            return false;
    return v->kind == BG_VAL_LIST;
}

bg_val *bg_known_list(bg_sema *s, bg_val *v, const char *what)
{
    if (v->kind == BG_VAL_ERROR || v->known || has_shape(v))
        return v;
    if (v->kind == BG_VAL_LIST)
        return known_list(s, v, what, false);
    if (v->kind == BG_VAL_COND) {
        bg_val *c = bg_known(s, v->kids[0], what);
        return c->kind == BG_VAL_ERROR ? c : bg_known_list(s, v->kids[c->i != 0 ? 1 : 2], what);
    }
    return bg_known(s, v, what);
}

static bg_val *known_concat(bg_sema *s, bg_val *v, const char *what)
{
    bg_val **kids = NULL;
    if (known_kids(s, v, what, &kids)->kind == BG_VAL_ERROR)
        return s->error;
    for (uint32_t i = 0; i < v->n; i++)
        if (kids[i]->kind == BG_VAL_PATH || kids[i]->kind == BG_VAL_TOOL)
            return not_known(s, v->kids[i], what, BG_STR("where a path lies"));
    return bg_eval_concat(s, kids, v->n, v->span);
}

static bg_val *known_operator(bg_sema *s, bg_val *v, const char *what)
{
    bg_val **kids = NULL;
    if (known_kids(s, v, what, &kids)->kind == BG_VAL_ERROR)
        return s->error;
    if (v->kind == BG_VAL_NOT)
        return bg_oper_not(s, kids[0], v->span);
    bg_str op = v->kind == BG_VAL_ADD   ? BG_STR("+")
                : v->kind == BG_VAL_SUB ? BG_STR("-")
                : v->kind == BG_VAL_MUL ? BG_STR("*")
                : v->kind == BG_VAL_DIV ? BG_STR("/")
                : v->kind == BG_VAL_LT  ? BG_STR("<")
                                        : BG_STR("==");
    bg_val *r = bg_oper_binary(s, op, kids[0], kids[1], v->span);
    return r->known || r->kind == BG_VAL_ERROR ? r : not_known(s, v, what, BG_STR("where a path lies"));
}

static bg_val *known_cond(bg_sema *s, bg_val *v, const char *what)
{
    bg_val *c = bg_known(s, v->kids[0], what);
    return c->kind == BG_VAL_ERROR ? c : bg_known(s, v->kids[c->i != 0 ? 1 : 2], what);
}

static bg_val *known_map(bg_sema *s, bg_val *v, const char *what)
{
    bg_val **kids = NULL;
    if (known_kids(s, v, what, &kids)->kind == BG_VAL_ERROR)
        return s->error;
    bg_val *map = bg_val_op(s, BG_VAL_MAP, BG_TYPE_MAP, kids, v->n, v->span);
    map->keys = v->keys;
    return map;
}

bg_val *bg_known(bg_sema *s, bg_val *v, const char *what)
{
    if (v->kind == BG_VAL_ERROR || v->known)
        return v;
    bg_sema_step(s, v->span, 1);
    switch ((int)v->kind) {
    case BG_VAL_PARAM:
        return bg_val_at(s, bg_param_value(s, v->ref, v->span, what), v->span);
    case BG_VAL_ENV: {
        const bg_env *env = v->ref;
        return not_known(s, v, what, bg_sema_printf(s, "the environment variable `%.*s`", BG_FMT(env->bind->name)));
    }
    case BG_VAL_FACT:
        return not_known(s, v, what, BG_STR("the machine"));
    case BG_VAL_CONCAT:
        return known_concat(s, v, what);
    case BG_VAL_LIST:
        return known_list(s, v, what, true);
    case BG_VAL_MAP:
        return known_map(s, v, what);
    case BG_VAL_JOIN: {
        bg_val *base = bg_known(s, v->kids[0], what), *rel = bg_known(s, v->kids[1], what);
        if (base->kind == BG_VAL_PATH && rel->kind == BG_VAL_STR)
            return bg_pathval_slash(s, base, rel, v->span);
        return base->kind == BG_VAL_ERROR || rel->kind == BG_VAL_ERROR ? s->error
                                                                       : not_known(s, v, what, BG_STR("where a path lies"));
    }
    case BG_VAL_RENDER:
        return not_known(s, v, what, BG_STR("an escaped string"));
    case BG_VAL_DIR:
    case BG_VAL_BASE:
        return not_known(s, v, what, BG_STR("where a path lies"));
    case BG_VAL_COND:
        return known_cond(s, v, what);
    default:
        return known_operator(s, v, what);
    }
}

/* ---- params ---- */

/* A param that stands in the tree of a default, declared no earlier than that one. */
static const bg_param *later_param(const bg_val *v, uint32_t order)
{
    if (v->kind == BG_VAL_PARAM)
        return ((const bg_param *)v->ref)->order >= order ? v->ref : NULL;
    for (uint32_t i = 0; i < v->n; i++) {
        const bg_param *p = v->kids[i]->known ? NULL : later_param(v->kids[i], order);
        if (p != NULL)
            return p;
    }
    return NULL;
}

bg_val *bg_param_preset(bg_sema *s, bg_param *param)
{
    if (param->default_ast == NULL || param->type == NULL)
        return param->default_ast == NULL ? NULL : s->error;
    if (param->preset_state == BG_STATE_DONE)
        return param->preset;
    if (param->preset_state == BG_STATE_BUSY) {
        bg_diag_push(s->diags, BG_D_VALUE_CYCLE, param->bind->span, 1, param->bind->name);
        return s->error;
    }
    param->preset_state = BG_STATE_BUSY;
    bg_param *outer = s->default_of;
    s->default_of = param;
    bg_val *v = bg_eval_as(s, param->bind->scope, param->default_ast, param->type, BG_STR("the default of a param"));
    s->default_of = outer;
    const bg_param *later = later_param(v, param->order);
    if (later != NULL) {
        bg_diag *d = bg_diag_push(s->diags, BG_D_PARAM_ORDER, param->default_ast->span, 2, param->bind->name, later->bind->name);
        bg_diag_label_add(s->diags, d, later->bind->span, "declared here");
        v = s->error;
    }
    param->preset = v;
    param->preset_state = BG_STATE_DONE;
    return v;
}

static void bake(bg_sema *s, bg_param *param)
{
    param->touched = true;
    param->baked = true;
    for (uint32_t i = 0; i < s->baked.n; i++)
        if (bg_str_eq(s->baked.at[i], param->name))
            return;
    BG_PUSH(s, &s->baked, param->name);
    s->baked_more = true;
}

bg_val *bg_param_value(bg_sema *s, bg_param *param, bg_span span, const char *what)
{
    if (param->type == NULL)
        return s->error;
    if (param->value != NULL) {
        bake(s, param);
        return param->value;
    }
    bg_val *preset = bg_param_preset(s, param);
    if (preset == NULL) {
        bg_diag *d = bg_diag_push(s->diags, BG_D_PARAM_NO_VALUE, span, 1, param->bind->name);
        bg_diag_label_add(s->diags, d, param->bind->span, "declared here");
        bg_diag_help(s->diags, d, "give it with -D %.*s=…", BG_FMT(param->name));
        return s->error;
    }
    bake(s, param);
    bg_val *v = bg_known(s, preset, what);
    if (v->kind == BG_VAL_ERROR)
        param->preset = s->error;
    return v;
}

/* ---- the text form of -D ---- */

typedef struct {
    const char *suffix;
    int64_t factor;
} unit;
static const unit durations[] = {{"h", 3600000000000}, {"m", 60000000000}, {"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
static const unit sizes[] = {{"TiB", (int64_t)1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}, {"B", 1}};

static bg_str with_unit(bg_sema *s, int64_t v, const unit *units, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (v % units[i].factor == 0 && (v != 0 || units[i].factor == 1000000000 || units[i].suffix[0] == '\0'))
            return bg_sema_printf(s, "%lld%s", (long long)(v / units[i].factor), units[i].suffix);
    return (bg_str){"0", 1};
}

bg_str bg_param_text(bg_sema *s, const bg_val *v)
{
    if (v->type == BG_TYPE_DURATION)
        return with_unit(s, v->i, durations, sizeof durations / sizeof *durations);
    if (v->type == BG_TYPE_SIZE)
        return with_unit(s, v->i, sizes, sizeof sizes / sizeof *sizes);
    if (v->kind == BG_VAL_INT)
        return bg_sema_printf(s, "%lld", (long long)v->i);
    if (v->kind == BG_VAL_BOOL)
        return v->i != 0 ? BG_STR("true") : BG_STR("false");
    if (v->kind != BG_VAL_LIST)
        return v->str;
    bg_str text = {"", 0};
    for (uint32_t i = 0; i < v->n; i++)
        text = bg_sema_printf(s, "%.*s%s%.*s", BG_FMT(text), i == 0 ? "" : ",", BG_FMT(v->kids[i]->str));
    return text;
}

static bool parse_number(bg_str text, int64_t *v, bg_str *rest)
{
    bool negative = text.len != 0 && text.ptr[0] == '-';
    size_t i = negative, start = i;
    int64_t sum = 0;
    for (; i < text.len && ((text.ptr[i] >= '0' && text.ptr[i] <= '9') || (text.ptr[i] == '_' && i > start)); i++)
        if (text.ptr[i] != '_' && (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, text.ptr[i] - '0', &sum)))
            return false;
    *v = negative ? -sum : sum;
    *rest = (bg_str){text.ptr + i, text.len - i};
    return i > start;
}

static bool parse_unit(bg_str text, const unit *units, size_t n, int64_t *v)
{
    bg_str rest;
    if (!parse_number(text, v, &rest))
        return false;
    for (size_t i = 0; i < n; i++)
        if (bg_str_is(rest, units[i].suffix))
            return !__builtin_mul_overflow(*v, units[i].factor, v);
    return false;
}

static bg_val *parse_list(bg_sema *s, bg_str text, bg_span span)
{
    BG_LIST(bg_val *) items = {0};
    for (size_t i = 0; text.len != 0 && i <= text.len;) {
        size_t end = i;
        while (end < text.len && text.ptr[end] != ',')
            end++;
        BG_PUSH(s, &items, bg_val_str(s, (bg_str){text.ptr + i, end - i}, span));
        i = end + 1;
    }
    return bg_eval_list(s, items.at, items.n, span);
}

static bg_val *parse_value(bg_sema *s, const bg_type *type, bg_str text, bg_span span)
{
    int64_t v = 0;
    bg_str rest;
    switch ((int)type->kind) {
    case BG_TYPE_STR:
        return bg_val_str(s, text, span);
    case BG_TYPE_ENUM:
        for (uint32_t i = 0; i < type->n_choices; i++)
            if (bg_str_eq(type->choices[i], text))
                return bg_val_str(s, text, span);
        return NULL;
    case BG_TYPE_BOOL:
        return bg_str_is(text, "true")    ? bg_val_bool(s, true, span)
               : bg_str_is(text, "false") ? bg_val_bool(s, false, span)
                                          : NULL;
    case BG_TYPE_INT:
        return parse_number(text, &v, &rest) && rest.len == 0 ? bg_val_int(s, v, BG_TYPE_INT, span) : NULL;
    case BG_TYPE_DURATION:
        return parse_unit(text, durations, sizeof durations / sizeof *durations, &v) ? bg_val_int(s, v, BG_TYPE_DURATION, span)
                                                                                    : NULL;
    case BG_TYPE_SIZE:
        return parse_unit(text, sizes, sizeof sizes / sizeof *sizes, &v) ? bg_val_int(s, v, BG_TYPE_SIZE, span) : NULL;
    case BG_TYPE_LIST:
        return parse_list(s, text, span);
    default:
        return NULL;
    }
}

static bg_param *find_param(const bg_sema *s, bg_str name)
{
    for (uint32_t u = 0; u < s->units.n; u++)
        for (uint32_t i = 0; i < s->units.at[u]->params.n; i++)
            if (bg_str_eq(s->units.at[u]->params.at[i]->name, name))
                return s->units.at[u]->params.at[i];
    return NULL;
}

static void unknown_define(bg_sema *s, bg_str name)
{
    BG_LIST(bg_str) names = {0};
    for (uint32_t u = 0; u < s->units.n; u++)
        for (uint32_t i = 0; i < s->units.at[u]->params.n; i++)
            BG_PUSH(s, &names, s->units.at[u]->params.at[i]->name);
    bg_diag *d = bg_diag_push(s->diags, BG_D_UNKNOWN_DEFINE, (bg_span){0, 0, 0}, 1, name);
    bg_sema_nearest(s, d, name, names.at, names.n);
}

void bg_params_define(bg_sema *s)
{
    for (size_t i = 0; i < s->options->n_defines; i++) {
        const bg_session_define *define = &s->options->defines[i];
        bg_param *param = find_param(s, define->name);
        if (param == NULL) {
            unknown_define(s, define->name);
            continue;
        }
        if (param->type == NULL)
            continue;
        param->given = define->value;
        param->value = parse_value(s, param->type, define->value, param->bind->span);
        if (param->value == NULL) {
            bg_diag_push(s->diags, BG_D_BAD_DEFINE, param->bind->span, 3, define->name, define->value, bg_type_name(s, param->type));
            param->value = s->error;
        }
    }
    for (uint32_t b = 0; b < s->baked.n; b++) {
        bg_param *param = find_param(s, s->baked.at[b]);
        if (param != NULL)
            param->baked = true;
    }
}
