/* Params and environment variables: parsing -D values by type, defaults, the caller's environment; remembered a mode each. */
#include <limits.h>
#include <string.h>

#include "exec/exec.h"

static const bg_define *find_define(const bg_exec *x, bg_str name)
{
    const bg_define *found = NULL;
    for (size_t i = 0; i < x->options->n_defines; i++) {
        if (bg_str_eq(x->options->defines[i].name, name))
            found = &x->options->defines[i];
    }
    return found;
}

/* Edit distance with a cap, one row. */
static size_t distance(bg_str a, bg_str b)
{
    size_t row[65];
    if (a.len > 64 || b.len > 64)
        return SIZE_MAX;
    for (size_t j = 0; j <= b.len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t cost = diagonal + (a.ptr[i - 1] != b.ptr[j - 1]);
            diagonal = row[j];
            size_t step = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = cost < step ? cost : step;
        }
    }
    return row[b.len];
}

const char *bg_exec_suggest(bg_exec *x, bg_str name, const bg_str *names, size_t n)
{
    size_t best = name.len / 3 + 1;
    bg_str near = {0};
    for (size_t i = 0; i < n; i++) {
        size_t d = distance(name, names[i]);
        if (d < best || (d == best && near.ptr == NULL)) {
            best = d;
            near = names[i];
        }
    }
    bg_buf text = {0};
    if (near.ptr != NULL)
        bg_buf_printf(&text, "; did you mean `%.*s`?", BG_FMT(near));
    else if (n > 0 && n <= 20) {
        bg_buf_puts(&text, "; there are: ");
        for (size_t i = 0; i < n; i++)
            bg_buf_printf(&text, "%s%.*s", i > 0 ? ", " : "", BG_FMT(names[i]));
    }
    const char *copy = bg_arena_strdup(&x->arena, bg_buf_cstr(&text), text.len);
    bg_buf_clear(&text);
    return copy == NULL ? "" : copy;
}

static bool parse_digits(bg_str s, size_t *used, int64_t *out)
{
    int64_t v = 0;
    size_t i = 0;
    while (i < s.len && ((s.ptr[i] >= '0' && s.ptr[i] <= '9') || (s.ptr[i] == '_' && i > 0))) {
        if (s.ptr[i] != '_') {
            int digit = s.ptr[i] - '0';
            if (v > (INT64_MAX - digit) / 10)
                return false;
            v = v * 10 + digit;
        }
        i++;
    }
    *used = i;
    *out = v;
    return i > 0;
}

static bool parse_int(bg_str s, int64_t *out)
{
    bool negative = s.len > 0 && s.ptr[0] == '-';
    if (negative)
        s = (bg_str){s.ptr + 1, s.len - 1};
    size_t used = 0;
    if (!parse_digits(s, &used, out) || used != s.len)
        return false;
    *out = negative ? -*out : *out;
    return true;
}

typedef struct {
    const char *suffix;
    int64_t factor;
} unit;

static bool parse_unit(bg_str s, const unit *units, size_t n, int64_t *out)
{
    size_t used = 0;
    if (!parse_digits(s, &used, out))
        return false;
    bg_str suffix = {s.ptr + used, s.len - used};
    for (size_t i = 0; i < n; i++) {
        if (!bg_str_is(suffix, units[i].suffix))
            continue;
        if (*out > INT64_MAX / units[i].factor)
            return false;
        *out *= units[i].factor;
        return true;
    }
    return false;
}

static const unit duration_units[] = {
    {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}};
static const unit size_units[] = {{"B", 1},          {"", 1},
                                  {"KiB", 1 << 10},  {"MiB", 1 << 20},
                                  {"GiB", 1 << 30},  {"TiB", (int64_t)1 << 40}};

static bool parse_list(bg_exec *x, bg_str s, bg_value *out)
{
    size_t n = s.len > 0;
    for (size_t i = 0; i < s.len; i++)
        n += s.ptr[i] == ',';
    bg_value *items = BG_ARENA_ARRAY(&x->arena, n + 1, bg_value);
    if (items == NULL || n > UINT32_MAX)
        return false;
    size_t begin = 0, k = 0;
    for (size_t i = 0; n > 0 && i <= s.len; i++) {
        if (i < s.len && s.ptr[i] != ',')
            continue;
        items[k++] = (bg_value){.kind = BG_V_STR, .str = {s.ptr + begin, i - begin}};
        begin = i + 1;
    }
    *out = (bg_value){.kind = BG_V_LIST, .n = (uint32_t)n, .items = items};
    return true;
}

static bool is_choice(const bg_exec *x, const bg_img_params *p, bg_str text)
{
    for (uint32_t i = 0; i < p->n_choices; i++) {
        if (bg_str_eq(bg_graph_str(x->graph, x->graph->words[p->choices + i].str), text))
            return true;
    }
    return false;
}

static bool parse_bool(bg_str s, int64_t *out)
{
    *out = bg_str_is(s, "true");
    return *out == 1 || bg_str_is(s, "false");
}

static bool parse_value(bg_exec *x, const bg_img_params *p, bg_str s, bg_value *out)
{
    *out = (bg_value){.kind = BG_V_INT};
    switch ((bg_param_type)p->type) {
    case BG_PARAM_INT:
        return parse_int(s, &out->i);
    case BG_PARAM_BOOL:
        out->kind = BG_V_BOOL;
        return parse_bool(s, &out->i);
    case BG_PARAM_DURATION:
        return parse_unit(s, duration_units, sizeof duration_units / sizeof *duration_units, &out->i);
    case BG_PARAM_SIZE:
        return parse_unit(s, size_units, sizeof size_units / sizeof *size_units, &out->i);
    case BG_PARAM_STR_LIST:
        return parse_list(x, s, out);
    case BG_PARAM_ENUM:
        *out = (bg_value){.kind = BG_V_STR, .str = s};
        return is_choice(x, p, s);
    case BG_PARAM_STR:
    case BG_PARAM_TYPE_COUNT:
        *out = (bg_value){.kind = BG_V_STR, .str = s};
        return memchr(s.ptr == NULL ? "" : s.ptr, 0, s.len) == NULL;
    }
    return false;
}

static bool same_value(const bg_value *a, const bg_value *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == BG_V_STR)
        return bg_str_eq(a->str, b->str);
    if (a->kind != BG_V_LIST)
        return a->i == b->i;
    bool same = a->n == b->n;
    for (uint32_t i = 0; same && i < a->n; i++)
        same = bg_str_eq(a->items[i].str, b->items[i].str);
    return same;
}

static const char *expected(bg_exec *x, const bg_img_params *p)
{
    static const char *const forms[] = {"a string without NUL",
                                        "a whole number",
                                        "`true` or `false`",
                                        "a duration such as 90s, 5m or 2h",
                                        "a size such as 4KiB, 512MiB or 2GiB",
                                        NULL,
                                        "strings separated by commas"};
    if (p->type != BG_PARAM_ENUM)
        return p->type < BG_PARAM_TYPE_COUNT ? forms[p->type] : "";
    bg_buf text = {0};
    bg_buf_puts(&text, "one of ");
    for (uint32_t i = 0; i < p->n_choices; i++) {
        bg_str choice = bg_graph_str(x->graph, x->graph->words[p->choices + i].str);
        bg_buf_printf(&text, "%s`%.*s`", i > 0 ? ", " : "", BG_FMT(choice));
    }
    const char *copy = bg_arena_strdup(&x->arena, bg_buf_cstr(&text), text.len);
    bg_buf_clear(&text);
    return copy == NULL ? "one of its choices" : copy;
}

static bg_status parse_define(bg_exec *x, const bg_img_params *p, bg_str text, bg_value *out, bg_error *err)
{
    if (parse_value(x, p, text, out))
        return BG_OK;
    bg_str name = bg_graph_str(x->graph, p->name);
    return bg_error_set(err, BG_E_USAGE, "%s: the value `%.*s` given for param `%.*s` is wrong: expected %s",
                        bg_exec_place(x, p->span), BG_FMT(text), BG_FMT(name), expected(x, p));
}

static bg_status check_baked(bg_exec *x, const bg_img_params *p, const bg_value *given, bg_error *err)
{
    bg_value baked;
    bg_str text = bg_graph_str(x->graph, p->baked);
    bg_str name = bg_graph_str(x->graph, p->name);
    BG_TRY(parse_define(x, p, text, &baked, err));
    if (same_value(given, &baked))
        return BG_OK;
    return bg_error_set(err, BG_E_USAGE,
                        "%s: param `%.*s` decided the shape of this graph when it was compiled with `%.*s`; compile "
                        "again with the other value",
                        bg_exec_place(x, p->span), BG_FMT(name), BG_FMT(text));
}

static uint32_t find_param(const bg_exec *x, bg_str name)
{
    for (uint32_t i = 1; i < x->graph->n_params; i++) {
        if (bg_str_eq(bg_graph_str(x->graph, x->graph->params[i].name), name))
            return i;
    }
    return 0;
}

static bg_status unknown_define(bg_exec *x, bg_str name, bg_error *err)
{
    uint32_t n = x->graph->n_params;
    bg_str *names = BG_ARENA_ARRAY(&x->arena, n + 1u, bg_str);
    for (uint32_t i = 1; names != NULL && i < n; i++)
        names[i - 1] = bg_graph_str(x->graph, x->graph->params[i].name);
    const char *hint = names == NULL || n < 2 ? "; the file has no params" : bg_exec_suggest(x, name, names, n - 1);
    return bg_error_set(err, BG_E_USAGE, "-D %.*s: %.*s has no such param%s", BG_FMT(name), BG_FMT(x->options->file),
                        hint);
}

bg_status bg_exec_check_defines(bg_exec *x, bg_error *err)
{
    for (size_t i = 0; i < x->options->n_defines; i++) {
        const bg_define *d = &x->options->defines[i];
        uint32_t id = find_param(x, d->name);
        if (id == 0)
            return unknown_define(x, d->name, err);
        bg_value value;
        BG_TRY(parse_define(x, &x->graph->params[id], d->value, &value, err));
        if (x->graph->params[id].is_baked != 0)
            BG_TRY(check_baked(x, &x->graph->params[id], &value, err));
    }
    return BG_OK;
}

/* Values in KEY mode hold tokens instead of this machine's directories. */
static bg_status for_mode(bg_exec *x, bg_exec_mode mode, bg_value *v, bg_error *err)
{
    if (mode == BG_MODE_RUN)
        return BG_OK;
    if (v->kind == BG_V_STR)
        return bg_exec_tokenise(x, v->str, &v->str, err);
    if (v->kind != BG_V_LIST || v->n == 0)
        return BG_OK;
    bg_value *items = BG_ARENA_ARRAY(&x->arena, v->n, bg_value);
    if (items == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < v->n; i++) {
        items[i] = v->items[i];
        BG_TRY(for_mode(x, mode, &items[i], err));
    }
    v->items = items;
    return BG_OK;
}

typedef struct {
    bg_exec *x;
    bg_exec_mode mode;
} default_host;

static bg_status default_param(void *self, uint32_t param, bg_value *out, bg_error *err)
{
    default_host *d = self;
    return bg_exec_param(d->x, d->mode, param, out, err);
}

static bg_status default_env(void *self, uint32_t env, bg_value *out, bg_error *err)
{
    default_host *d = self;
    return bg_exec_env(d->x, d->mode, env, out, err);
}

static bg_status no_machine(void *self, bg_machine fact, bg_value *out, bg_error *err)
{
    (void)self;
    (void)fact;
    (void)out;
    return bg_error_set(err, BG_E_USAGE, "a param's default can't ask for facts of the machine");
}

static bg_status no_path(void *self, const bg_value *path, bg_buf *out, bg_error *err)
{
    (void)self;
    (void)path;
    (void)out;
    return bg_error_set(err, BG_E_USAGE, "a param's default can't hold a path");
}

static bg_status param_default(bg_exec *x, bg_exec_mode mode, const bg_img_params *p, bg_value *out, bg_error *err)
{
    bg_str name = bg_graph_str(x->graph, p->name);
    if (p->prog == 0)
        return bg_error_set(err, BG_E_USAGE, "%s: param `%.*s` has no default: give it with -D %.*s=VALUE (%s)",
                            bg_exec_place(x, p->span), BG_FMT(name), BG_FMT(name), expected(x, p));
    if (x->param_depth > 64)
        return bg_error_set(err, BG_E_CORRUPT, "params depend on each other in a ring at `%.*s`", BG_FMT(name));
    default_host self = {x, mode};
    bg_vm_host host = {&self, default_param, default_env, no_machine, no_path};
    bg_error why = {0};
    x->param_depth++;
    bg_status status = bg_vm_run(x->graph, p->prog, &host, &x->arena, out, &why);
    x->param_depth--;
    if (status != BG_OK)
        return bg_error_set(err, status, "%s: default of param `%.*s`: %s", bg_exec_place(x, p->span), BG_FMT(name),
                            why.text);
    return BG_OK;
}

bg_status bg_exec_param(bg_exec *x, bg_exec_mode mode, uint32_t param, bg_value *out, bg_error *err)
{
    bg_value *known = &x->param_values[mode][param];
    if (known->kind != BG_V_NONE) {
        *out = *known;
        return BG_OK;
    }
    const bg_img_params *p = &x->graph->params[param];
    const bg_define *given = find_define(x, bg_graph_str(x->graph, p->name));
    if (p->is_baked != 0)
        BG_TRY(parse_define(x, p, bg_graph_str(x->graph, p->baked), out, err));
    else if (given != NULL)
        BG_TRY(parse_define(x, p, given->value, out, err));
    else
        BG_TRY(param_default(x, mode, p, out, err));
    BG_TRY(for_mode(x, mode, out, err));
    *known = *out;
    return BG_OK;
}

bg_str bg_exec_getenv(const bg_exec *x, bg_str name, bool *found)
{
    *found = false;
    for (char *const *e = x->options->environ_; e != NULL && *e != NULL; e++) {
        if (strncmp(*e, name.ptr, name.len) == 0 && (*e)[name.len] == '=') {
            *found = true;
            return bg_str_of(*e + name.len + 1);
        }
    }
    return (bg_str){"", 0};
}

bg_status bg_exec_env(bg_exec *x, bg_exec_mode mode, uint32_t env, bg_value *out, bg_error *err)
{
    bg_value *known = &x->env_values[mode][env];
    if (known->kind != BG_V_NONE) {
        *out = *known;
        return BG_OK;
    }
    const bg_img_envs *e = &x->graph->envs[env];
    bg_str name = bg_graph_str(x->graph, e->name);
    bool found;
    *out = (bg_value){.kind = BG_V_STR, .str = bg_exec_getenv(x, name, &found)};
    if (!found && e->fallback == 0)
        return bg_error_set(err, BG_E_USAGE, "%s: the environment variable %.*s must be set: it has no fallback",
                            bg_exec_place(x, e->span), BG_FMT(name));
    if (!found)
        out->str = bg_graph_str(x->graph, e->fallback);
    BG_TRY(for_mode(x, mode, out, err));
    *known = *out;
    return BG_OK;
}
