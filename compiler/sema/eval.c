/* Expressions to values: constants are folded, what waits for the run becomes a residual tree. */
#include "sema/sema.h"

typedef bg_val *eval_fn(bg_sema *s, bg_scope *scope, const bg_ast *ast);

static bg_val *eval_in_node(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    if (scope->node == NULL) {
        bg_diag_push(s->diags, BG_D_OUTSIDE_NODE, ast->span, 1, ast->text);
        return s->error;
    }
    if (bg_str_is(ast->text, "self"))
        return bg_val_ref(s, BG_VAL_NODE, BG_TYPE_NODE, scope->node, ast->span);
    bg_diag *d = bg_diag_push(s->diags, BG_D_UNDEFINED_NAME, ast->span, 1, ast->text);
    bg_diag_help(s->diags, d, "write `%.*s.NAME`", BG_FMT(ast->text));
    return s->error;
}

static bg_val *eval_name(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    bg_bind *bind = bg_scope_find(scope, ast->text);
    if (bind != NULL)
        return bg_val_at(s, bg_eval_bind(s, bind, ast->span), ast->span);
    if (bg_str_is(ast->text, "self") || bg_str_is(ast->text, "out") || bg_str_is(ast->text, "work"))
        return eval_in_node(s, scope, ast);
    if (bg_is_function(ast->text)) {
        bg_diag *d = bg_diag_push(s->diags, BG_D_UNDEFINED_NAME, ast->span, 1, ast->text);
        bg_diag_help(s->diags, d, "it is a function: call it, `%.*s(…)`", BG_FMT(ast->text));
        return s->error;
    }
    bg_scope_undefined(s, scope, ast->text, ast->span);
    return s->error;
}

static bg_val *eval_error(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    (void)scope;
    (void)ast;
    return s->error;
}

static bg_val *eval_text(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    (void)scope;
    return bg_val_str(s, ast->text, ast->span);
}

static bg_val *eval_int(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    (void)scope;
    bg_type_kind type = ast->kind == BG_AST_DURATION ? BG_TYPE_DURATION : ast->kind == BG_AST_SIZE ? BG_TYPE_SIZE : BG_TYPE_INT;
    return bg_val_int(s, ast->ival, type, ast->span);
}

static bg_val *eval_bool(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    (void)scope;
    return bg_val_bool(s, ast->ival != 0, ast->span);
}

/* ---- strings ---- */

static bg_val *render(bg_sema *s, const bg_ast *interp, bg_val *v)
{
    static const char *const formats[BG_RENDER_COUNT] = {"toml", "json", "make"};
    for (uint32_t i = 0; i < BG_RENDER_COUNT; i++) {
        if (!bg_str_is(interp->text, formats[i]))
            continue;
        if (v->type == BG_TYPE_INT || v->type == BG_TYPE_BOOL)
            v = bg_eval_concat(s, &v, 1, interp->span);
        bg_val *r = bg_val_op1(s, BG_VAL_RENDER, BG_TYPE_STR, v, interp->span);
        if (r->kind != BG_VAL_ERROR)
            r->i = (int64_t)i;
        return r;
    }
    bg_diag_push(s->diags, BG_D_FORMAT, interp->span, 1, interp->text);
    return s->error;
}

bg_val *bg_eval_word(bg_sema *s, bg_val *v, const char *what)
{
    if (v->kind == BG_VAL_ERROR)
        return v;
    switch ((int)v->type) {
    case BG_TYPE_STR:
    case BG_TYPE_ENUM:
    case BG_TYPE_PATH:
    case BG_TYPE_PRODUCT:
    case BG_TYPE_TOOL:
        return v;
    case BG_TYPE_SOURCE:
        return bg_pathval_of(s, v);
    case BG_TYPE_INT:
    case BG_TYPE_BOOL:
        return bg_eval_concat(s, &v, 1, v->span);
    default:
        break;
    }
    if (v->type == BG_TYPE_LIST) {
        bg_diag *d = bg_diag_push(s->diags, BG_D_NESTED_LIST, v->span, 0);
        bg_diag_help(s->diags, d, "splice it with `..`");
        return s->error;
    }
    bg_diag *d = bg_diag_push(s->diags, BG_D_BAD_WORD, v->span, 2, bg_val_describe(v), bg_str_of(what));
    if (v->type == BG_TYPE_NODE)
        bg_diag_help(s->diags, d, "name one of its outputs, or `.link` for the directory of all");
    else if (v->type == BG_TYPE_SOURCE)
        bg_diag_help(s->diags, d, "name a path in it: `source / \"path\"`");
    else if (v->type == BG_TYPE_DURATION || v->type == BG_TYPE_SIZE)
        bg_diag_help(s->diags, d, "`str(…)` writes it as in the file");
    return s->error;
}

static bg_str constant_text(bg_sema *s, const bg_val *v)
{
    if (v->kind == BG_VAL_STR)
        return v->str;
    if (v->kind == BG_VAL_BOOL)
        return v->i != 0 ? BG_STR("true") : BG_STR("false");
    return bg_sema_printf(s, "%lld", (long long)v->i);
}

static bg_val *join_texts(bg_sema *s, bg_val *const *parts, uint32_t n, bg_span span)
{
    size_t len = 0;
    for (uint32_t i = 0; i < n; i++)
        len += parts[i]->str.len;
    if (len / 16 > BG_LIMIT_WEIGHT)
        bg_sema_limit(s, span, "size of a value", BG_LIMIT_WEIGHT);
    char *p = bg_sema_new(s, len + 1, 1);
    size_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (parts[i]->str.len != 0)
            memcpy(p + at, parts[i]->str.ptr, parts[i]->str.len);
        at += parts[i]->str.len;
    }
    return bg_val_str(s, (bg_str){p, len}, span);
}

bg_val *bg_eval_concat(bg_sema *s, bg_val *const *parts, uint32_t n, bg_span span)
{
    BG_LIST(bg_val *) flat = {0};
    for (uint32_t i = 0; i < n; i++) {
        bg_val *v = parts[i];
        if (v->kind == BG_VAL_ERROR)
            return v;
        if (v->kind == BG_VAL_CONCAT) {
            for (uint32_t k = 0; k < v->n; k++)
                BG_PUSH(s, &flat, v->kids[k]);
        } else if (v->kind == BG_VAL_INT || v->kind == BG_VAL_BOOL) {
            BG_PUSH(s, &flat, bg_val_str(s, constant_text(s, v), v->span));
        } else {
            BG_PUSH(s, &flat, v);
        }
    }
    bg_sema_step(s, span, flat.n);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < flat.n;) {
        uint32_t end = i;
        while (end < flat.n && flat.at[end]->kind == BG_VAL_STR)
            end++;
        if (end > i + 1)
            flat.at[kept++] = join_texts(s, flat.at + i, end - i, span);
        else
            flat.at[kept++] = flat.at[i];
        i = end > i ? end : i + 1;
    }
    if (kept == 0)
        return bg_val_str(s, (bg_str){"", 0}, span);
    bool is_str = flat.at[0]->type == BG_TYPE_STR || flat.at[0]->type == BG_TYPE_ENUM;
    if (kept == 1 && is_str)
        return flat.at[0];
    return bg_val_op(s, BG_VAL_CONCAT, BG_TYPE_STR, flat.at, kept, span);
}

static bg_val *eval_string(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    bg_val **parts = BG_ARRAY(s, ast->n_kids, bg_val *);
    bool bad = false;
    for (uint32_t i = 0; i < ast->n_kids; i++) {
        const bg_ast *kid = ast->kids[i];
        if (kid->kind == BG_AST_INTERP) {
            parts[i] = bg_eval_word(s, bg_eval(s, scope, kid->kids[0]), "part of a string");
            if (kid->text.len != 0 && parts[i]->kind != BG_VAL_ERROR)
                parts[i] = render(s, kid, parts[i]);
        } else {
            parts[i] = bg_eval(s, scope, kid);
        }
        bad = bad || parts[i]->kind == BG_VAL_ERROR;
    }
    if (bad)
        return s->error;
    bg_val *v = bg_eval_concat(s, parts, ast->n_kids, ast->span);
    return bg_val_at(s, v, ast->span);
}

/* ---- lists and maps ---- */

bg_val *bg_eval_list(bg_sema *s, bg_val *const *items, uint32_t n, bg_span span)
{
    BG_LIST(bg_val *) out = {0};
    bool bad = false;
    for (uint32_t i = 0; i < n; i++) {
        bg_val *v = items[i];
        while (v != NULL && v->kind == BG_VAL_ITEM_IF && v->kids[0]->kind == BG_VAL_BOOL)
            v = v->kids[0]->i != 0 ? v->kids[1] : NULL;
        if (v == NULL)
            continue;
        bad = bad || v->kind == BG_VAL_ERROR;
        if (v->kind == BG_VAL_SPLICE && v->kids[0]->kind == BG_VAL_LIST) {
            bg_sema_step(s, span, v->kids[0]->n);
            for (uint32_t k = 0; k < v->kids[0]->n; k++)
                BG_PUSH(s, &out, v->kids[0]->kids[k]);
        } else {
            BG_PUSH(s, &out, v);
        }
        if (out.n > BG_LIMIT_ITEMS)
            bg_sema_limit(s, span, "items of a list", BG_LIMIT_ITEMS);
    }
    return bad ? s->error : bg_val_op(s, BG_VAL_LIST, BG_TYPE_LIST, out.at, out.n, span);
}

static bg_val *eval_splice(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    bg_val *v = bg_type_want(s, bg_eval(s, scope, ast->kids[0]), BG_TYPE_LIST, "what is spliced with `..`");
    return bg_val_op1(s, BG_VAL_SPLICE, BG_TYPE_LIST, v, ast->span);
}

static bg_val *eval_item_if(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    bg_val *c = bg_type_want(s, bg_eval(s, scope, ast->kids[1]), BG_TYPE_BOOL, "a condition");
    if (c->kind == BG_VAL_BOOL && c->i == 0)
        return bg_val_op2(s, BG_VAL_ITEM_IF, BG_TYPE_ANY, c, c, ast->span);
    bg_val *v = bg_eval(s, scope, ast->kids[0]);
    return bg_val_op2(s, BG_VAL_ITEM_IF, v->type, c, v, ast->span);
}

static bg_val *eval_list(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    bg_val **items = BG_ARRAY(s, ast->n_kids, bg_val *);
    for (uint32_t i = 0; i < ast->n_kids; i++)
        items[i] = bg_eval(s, scope, ast->kids[i]);
    return bg_eval_list(s, items, ast->n_kids, ast->span);
}

static bg_val *eval_map(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    bg_val **kids = BG_ARRAY(s, ast->n_kids, bg_val *);
    bg_str *keys = BG_ARRAY(s, ast->n_kids, bg_str);
    bg_scope *names = bg_scope_new(s, NULL, scope->unit, NULL);
    uint32_t n = 0;
    for (uint32_t i = 0; i < ast->n_kids; i++) {
        const bg_ast *kid = ast->kids[i];
        if (kid->kind != BG_AST_SET || bg_scope_add(s, names, BG_BIND_VAR, kid->text, kid->name_span, kid) == NULL)
            continue;
        keys[n] = kid->text;
        kids[n++] = bg_eval(s, scope, kid->kids[0]);
    }
    bg_val *v = bg_val_op(s, BG_VAL_MAP, BG_TYPE_MAP, kids, n, ast->span);
    v->keys = keys;
    return v;
}

/* ---- if, operators ---- */

/* Can the choice between values like this one wait for the run? */
static bool can_wait(const bg_val *v)
{
    if (v->kind == BG_VAL_LIST) {
        for (uint32_t i = 0; i < v->n; i++)
            if (!can_wait(v->kids[i]))
                return false;
        return true;
    }
    return v->kind >= BG_VAL_PARAM || v->kind == BG_VAL_STR || v->kind == BG_VAL_INT || v->kind == BG_VAL_BOOL ||
           v->kind == BG_VAL_PATH || v->kind == BG_VAL_TOOL || v->kind == BG_VAL_SOURCE;
}

static bg_type_kind common_type(const bg_val *a, const bg_val *b)
{
    if (a->type == b->type && a->type != BG_TYPE_ENUM)
        return a->type;
    bool strs = (a->type == BG_TYPE_STR || a->type == BG_TYPE_ENUM) && (b->type == BG_TYPE_STR || b->type == BG_TYPE_ENUM);
    if (strs)
        return BG_TYPE_STR;
    bool paths = (a->type == BG_TYPE_PATH || a->type == BG_TYPE_PRODUCT) && (b->type == BG_TYPE_PATH || b->type == BG_TYPE_PRODUCT);
    return paths ? BG_TYPE_PATH : BG_TYPE_ERROR;
}

static bg_val *as_path(bg_sema *s, bg_val *v)
{
    bg_val *p = v->kind == BG_VAL_SOURCE ? bg_pathval_of(s, v) : v;
    return p;
}

bg_val *bg_eval_cond(bg_sema *s, bg_val *c, bg_val *a, bg_val *b, bg_span span)
{
    if (c->kind == BG_VAL_ERROR || a->kind == BG_VAL_ERROR || b->kind == BG_VAL_ERROR)
        return s->error;
    if (!can_wait(a) || !can_wait(b)) {
        c = bg_known(s, c, "the condition of an `if` between such values");
        return c->kind == BG_VAL_ERROR ? c : c->i != 0 ? a : b;
    }
    a = as_path(s, a);
    b = as_path(s, b);
    bg_type_kind type = common_type(a, b);
    if (type == BG_TYPE_ERROR) {
        bg_diag *d = bg_diag_push(s->diags, BG_D_OPERANDS, span, 3, BG_STR("if"), bg_val_describe(a), bg_val_describe(b));
        bg_diag_help(s->diags, d, "both branches have one type%s",
                     a->type == BG_TYPE_PATH || b->type == BG_TYPE_PATH ? "; \"{…}\" makes a string of a path" : "");
        return s->error;
    }
    if (a->kind == BG_VAL_BOOL && b->kind == BG_VAL_BOOL && a->i != 0 && b->i == 0)
        return c;
    bg_val **kids = BG_ARRAY(s, 3, bg_val *);
    kids[0] = c;
    kids[1] = a;
    kids[2] = b;
    return bg_val_op(s, BG_VAL_COND, type, kids, 3, span);
}

static bg_val *eval_cond(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    bg_val *c = bg_type_want(s, bg_eval(s, scope, ast->kids[0]), BG_TYPE_BOOL, "a condition");
    if (c->kind == BG_VAL_ERROR)
        return c;
    if (c->kind == BG_VAL_BOOL)
        return bg_eval(s, scope, ast->kids[c->i != 0 ? 1 : 2]);
    bg_val *a = bg_eval(s, scope, ast->kids[1]);
    return bg_eval_cond(s, c, a, bg_eval(s, scope, ast->kids[2]), ast->span);
}

static bg_val *eval_unary(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    bg_val *v = bg_eval(s, scope, ast->kids[0]);
    return bg_str_is(ast->text, "not") ? bg_oper_not(s, v, ast->span) : bg_oper_negate(s, v, ast->span);
}

static bg_val *eval_binary(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    bool is_and = bg_str_is(ast->text, "and");
    bg_val *a = bg_eval(s, scope, ast->kids[0]);
    if (!is_and && !bg_str_is(ast->text, "or"))
        return bg_oper_binary(s, ast->text, a, bg_eval(s, scope, ast->kids[1]), ast->span);
    a = bg_type_want(s, a, BG_TYPE_BOOL, is_and ? "the left side of `and`" : "the left side of `or`");
    if (a->kind == BG_VAL_BOOL && (a->i != 0) != is_and)
        return a;
    bg_val *b = bg_type_want(s, bg_eval(s, scope, ast->kids[1]), BG_TYPE_BOOL,
                             is_and ? "the right side of `and`" : "the right side of `or`");
    if (a->kind == BG_VAL_BOOL || a->kind == BG_VAL_ERROR)
        return a->kind == BG_VAL_ERROR ? a : b;
    bg_val *fixed = bg_val_bool(s, !is_and, ast->span);
    return is_and ? bg_eval_cond(s, a, b, fixed, ast->span) : bg_eval_cond(s, a, fixed, b, ast->span);
}

static eval_fn *const table[BG_AST_COUNT] = {
    [BG_AST_ERROR] = eval_error,     [BG_AST_NAME] = eval_name,     [BG_AST_STRING] = eval_string,
    [BG_AST_STRING_TEXT] = eval_text, [BG_AST_INT] = eval_int,      [BG_AST_DURATION] = eval_int,
    [BG_AST_SIZE] = eval_int,        [BG_AST_BOOL] = eval_bool,     [BG_AST_LIST] = eval_list,
    [BG_AST_ITEM_IF] = eval_item_if, [BG_AST_SPLICE] = eval_splice, [BG_AST_COMP] = bg_eval_comp,
    [BG_AST_MAP] = eval_map,         [BG_AST_CALL] = bg_eval_call,  [BG_AST_FIELD] = bg_eval_field,
    [BG_AST_INDEX] = bg_eval_index,  [BG_AST_COND] = eval_cond,     [BG_AST_UNARY] = eval_unary,
    [BG_AST_BINARY] = eval_binary,
};

bg_val *bg_eval(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    if (ast == NULL || table[ast->kind] == NULL)
        return s->error;
    bg_sema_step(s, ast->span, 1);
    if (s->depth >= BG_LIMIT_DEPTH)
        bg_sema_limit(s, ast->span, "depth of values that need each other", BG_LIMIT_DEPTH);
    s->depth++;
    bg_val *v = table[ast->kind](s, scope, ast);
    s->depth--;
    return v;
}

bg_val *bg_eval_as(bg_sema *s, bg_scope *scope, const bg_ast *ast, const bg_type *type, bg_str what)
{
    if (ast != NULL && type->kind == BG_TYPE_ENUM && ast->kind == BG_AST_NAME)
        for (uint32_t i = 0; i < type->n_choices; i++)
            if (bg_str_eq(type->choices[i], ast->text))
                return bg_val_str(s, ast->text, ast->span);
    return bg_type_assign(s, bg_eval(s, scope, ast), type, what);
}

/* ---- bindings ---- */

static bg_val *param_value(bg_sema *s, bg_param *param, bg_span span)
{
    param->touched = true;
    if (s->default_of != NULL && param->order >= s->default_of->order) {
        bg_diag *d = bg_diag_push(s->diags, BG_D_PARAM_ORDER, span, 2, s->default_of->bind->name, param->bind->name);
        bg_diag_label_add(s->diags, d, param->bind->span, "declared here");
        return s->error;
    }
    if (param->type == NULL)
        return s->error;
    if (param->baked)
        return bg_param_value(s, param, span, "a param");
    bg_val *v = bg_val_ref(s, BG_VAL_PARAM, param->type->kind, param, span);
    v->full = param->type;
    return v;
}

static bg_val *bind_value(bg_sema *s, bg_bind *bind, bg_span span)
{
    switch (bind->kind) {
    case BG_BIND_LET:
    case BG_BIND_PROVIDE:
        return bg_eval(s, bind->scope, bind->ast);
    case BG_BIND_ARG:
        return bind->type == NULL ? s->error
                                  : bg_eval_as(s, bind->scope, bind->ast, bind->type,
                                               bg_sema_printf(s, "the argument `%.*s`", BG_FMT(bind->name)));
    case BG_BIND_PARAM:
        return param_value(s, bind->ref, span);
    case BG_BIND_ENV:
        ((bg_env *)bind->ref)->touched = true;
        return bg_val_ref(s, BG_VAL_ENV, BG_TYPE_STR, bind->ref, span);
    case BG_BIND_TOOL:
        return bg_val_ref(s, BG_VAL_TOOL, BG_TYPE_TOOL, bg_decl_tool(s, bind), span);
    case BG_BIND_SOURCE:
        return bg_val_ref(s, BG_VAL_SOURCE, BG_TYPE_SOURCE, bg_decl_source(s, bind), span);
    case BG_BIND_RULE:
        return bg_val_ref(s, BG_VAL_RULE, BG_TYPE_RULE, bg_decl_rule(s, bind), span);
    case BG_BIND_TEMPLATE:
        return bg_val_ref(s, BG_VAL_TEMPLATE, BG_TYPE_TEMPLATE, bind, span);
    case BG_BIND_GROUP:
        return bg_val_ref(s, BG_VAL_GROUP, BG_TYPE_GROUP, bind->ref, span);
    case BG_BIND_NODE:
        return bg_val_ref(s, BG_VAL_NODE, BG_TYPE_NODE, bind->ref, span);
    case BG_BIND_MODULE:
        return bind->ref == NULL ? s->error : bg_val_ref(s, BG_VAL_MODULE, BG_TYPE_MODULE, bind->ref, span);
    case BG_BIND_VAR:
        break;
    }
    return bind->val;
}

bg_val *bg_eval_bind(bg_sema *s, bg_bind *bind, bg_span span)
{
    if (bind->kind == BG_BIND_PARAM)
        return param_value(s, bind->ref, span);
    if (bind->state == BG_STATE_DONE)
        return bind->val;
    if (bind->state == BG_STATE_BUSY) {
        bg_diag *d = bg_diag_push(s->diags, BG_D_VALUE_CYCLE, bind->span, 1, bind->name);
        bg_diag_label_add(s->diags, d, span, "needed again here");
        bind->val = s->error;
        return s->error;
    }
    bind->state = BG_STATE_BUSY;
    bg_val *v = bind_value(s, bind, span);
    bind->state = BG_STATE_DONE;
    bind->val = v;
    return v;
}
