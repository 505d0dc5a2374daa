/* The builtin functions. */
#include "sema/sema.h"

enum { MAX_ARGS = 3 };

typedef bg_val *function_fn(bg_sema *s, bg_scope *scope, bg_val **args, const bg_ast *ast);

static bg_val *f_src(bg_sema *s, bg_scope *scope, bg_val **args, const bg_ast *ast)
{
    bg_val *rel = bg_type_want(s, args[0], BG_TYPE_STR, "the argument of `src`");
    bg_val *root = bg_val_path(s, BG_ROOT_FILE, scope->unit, NULL, (bg_str){"", 0}, ast->span);
    return bg_pathval_slash(s, root, rel, ast->span);
}

static bg_val *want_path(bg_sema *s, bg_val *v, const char *what)
{
    bg_val *path = bg_pathval_of(s, v);
    return path != NULL ? path : bg_type_want(s, v, BG_TYPE_PATH, what);
}

static bg_val *f_dir(bg_sema *s, bg_scope *scope, bg_val **args, const bg_ast *ast)
{
    (void)scope;
    return bg_pathval_dir(s, want_path(s, args[0], "the argument of `dir`"), ast->span);
}

static bg_val *f_base(bg_sema *s, bg_scope *scope, bg_val **args, const bg_ast *ast)
{
    (void)scope;
    return bg_pathval_base(s, want_path(s, args[0], "the argument of `base`"), ast->span);
}

static bg_val *f_unique(bg_sema *s, bg_scope *scope, bg_val **args, const bg_ast *ast)
{
    (void)scope;
    bg_val *list = bg_known(s, bg_type_want(s, args[0], BG_TYPE_LIST, "the argument of `unique`"), "the argument of `unique`");
    if (list->kind == BG_VAL_ERROR)
        return list;
    uint32_t n_slots = 8;
    while (n_slots < list->n * 2)
        n_slots *= 2;
    bg_val **slots = BG_ARRAY(s, n_slots, bg_val *);
    BG_LIST(bg_val *) kept = {0};
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t at = (uint32_t)(bg_val_hash(list->kids[i]) & (n_slots - 1));
        while (slots[at] != NULL && !bg_val_same(slots[at], list->kids[i]))
            at = (at + 1) & (n_slots - 1);
        bg_sema_step(s, ast->span, list->kids[i]->weight);
        if (slots[at] == NULL) {
            slots[at] = list->kids[i];
            BG_PUSH(s, &kept, list->kids[i]);
        }
    }
    return bg_eval_list(s, kept.at, kept.n, ast->span);
}

static bg_val *f_len(bg_sema *s, bg_scope *scope, bg_val **args, const bg_ast *ast)
{
    (void)scope;
    bg_val *v = args[0];
    if (v->type == BG_TYPE_LIST)
        v = bg_known_list(s, v, "the argument of `len`");
    else if (v->type == BG_TYPE_STR || v->type == BG_TYPE_ENUM)
        v = bg_known(s, v, "the argument of `len`");
    else if (v->kind != BG_VAL_MAP)
        v = bg_type_want(s, v, BG_TYPE_LIST, "the argument of `len`");
    if (v->kind == BG_VAL_ERROR)
        return v;
    return bg_val_int(s, v->kind == BG_VAL_STR ? (int64_t)v->str.len : v->n, BG_TYPE_INT, ast->span);
}

static bg_val *f_has(bg_sema *s, bg_scope *scope, bg_val **args, const bg_ast *ast)
{
    (void)scope;
    bg_val *node = bg_type_want(s, args[0], BG_TYPE_NODE, "the first argument of `has`");
    bg_val *name = bg_known(s, bg_type_want(s, args[1], BG_TYPE_STR, "the second argument of `has`"), "the second argument of `has`");
    if (node->kind == BG_VAL_ERROR || name->kind == BG_VAL_ERROR)
        return s->error;
    bg_node_prepare(s, node->ref);
    bg_out *out = bg_node_out(node->ref, name->str);
    bool has = out != NULL ? bg_out_exists(s, out)
                           : bg_node_provide(node->ref, name->str) != NULL || bg_str_is(name->str, "link");
    return bg_val_bool(s, has, ast->span);
}

static bg_val *f_replace(bg_sema *s, bg_scope *scope, bg_val **args, const bg_ast *ast)
{
    (void)scope;
    for (uint32_t i = 0; i < 3; i++) {
        args[i] = bg_known(s, bg_type_want(s, args[i], BG_TYPE_STR, "an argument of `replace`"), "an argument of `replace`");
        if (args[i]->kind == BG_VAL_ERROR)
            return s->error;
    }
    bg_str in = args[0]->str, from = args[1]->str, to = args[2]->str;
    if (from.len == 0) {
        bg_diag_push(s->diags, BG_D_RANGE, args[1]->span, 2, BG_STR("what `replace` looks for"), BG_STR("at least one character"));
        return s->error;
    }
    BG_LIST(bg_val *) parts = {0};
    size_t start = 0, i = 0;
    while (i + from.len <= in.len) {
        if (memcmp(in.ptr + i, from.ptr, from.len) != 0) {
            i++;
            continue;
        }
        BG_PUSH(s, &parts, bg_val_str(s, (bg_str){in.ptr + start, i - start}, ast->span));
        BG_PUSH(s, &parts, bg_val_str(s, to, ast->span));
        i += from.len;
        start = i;
    }
    BG_PUSH(s, &parts, bg_val_str(s, (bg_str){in.ptr + start, in.len - start}, ast->span));
    return bg_eval_concat(s, parts.at, parts.n, ast->span);
}

static bg_val *f_str(bg_sema *s, bg_scope *scope, bg_val **args, const bg_ast *ast)
{
    (void)scope;
    bg_val *v = args[0];
    if (v->type == BG_TYPE_DURATION || v->type == BG_TYPE_SIZE) {
        v = bg_known(s, v, "the argument of `str`");
        return v->kind == BG_VAL_ERROR ? v : bg_val_str(s, bg_param_text(s, v), ast->span);
    }
    v = bg_eval_word(s, v, "made a string");
    return v->kind == BG_VAL_ERROR ? v : bg_eval_concat(s, &v, 1, ast->span);
}

static const struct {
    const char *name;
    uint32_t n_args;
    function_fn *call;
} functions[] = {
    {"src", 1, f_src}, {"dir", 1, f_dir}, {"base", 1, f_base},       {"unique", 1, f_unique},
    {"len", 1, f_len}, {"has", 2, f_has}, {"replace", 3, f_replace}, {"str", 1, f_str},
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

static uint32_t find(bg_str name)
{
    for (uint32_t i = 0; i < N_FUNCTIONS; i++)
        if (bg_str_is(name, functions[i].name))
            return i;
    return N_FUNCTIONS;
}

bool bg_is_function(bg_str name)
{
    return find(name) < N_FUNCTIONS;
}

static bool check_count(bg_sema *s, const bg_ast *ast, uint32_t f)
{
    bg_str name = bg_sema_printf(s, "`%s`", functions[f].name);
    uint32_t n = ast->n_kids - 1;
    if (n > functions[f].n_args)
        bg_diag_push(s->diags, BG_D_TOO_MANY_ARGUMENTS, ast->span, 3, name, bg_sema_printf(s, "%u", functions[f].n_args),
                     bg_sema_printf(s, "%u", n));
    else if (n < functions[f].n_args)
        bg_diag_push(s->diags, BG_D_MISSING_ARGUMENT, ast->span, 2, name, bg_sema_printf(s, "argument %u", n + 1));
    return n == functions[f].n_args;
}

static bg_val *call_function(bg_sema *s, bg_scope *scope, const bg_ast *ast, uint32_t f)
{
    bg_val *args[MAX_ARGS];
    if (!check_count(s, ast, f))
        return s->error;
    bool bad = false;
    for (uint32_t i = 0; i < functions[f].n_args; i++) {
        const bg_ast *arg = ast->kids[1 + i];
        if (arg->kind == BG_AST_ARG) {
            bg_diag_push(s->diags, BG_D_UNKNOWN_ARGUMENT, arg->name_span, 2, bg_sema_printf(s, "`%s`", functions[f].name), arg->text);
            return s->error;
        }
        args[i] = bg_eval(s, scope, arg);
        bad = bad || args[i]->kind == BG_VAL_ERROR;
    }
    return bad ? s->error : functions[f].call(s, scope, args, ast);
}

bg_val *bg_eval_call(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    const bg_ast *callee = ast->kids[0];
    if (callee->kind == BG_AST_NAME && bg_scope_find(scope, callee->text) == NULL) {
        uint32_t f = find(callee->text);
        if (f < N_FUNCTIONS)
            return call_function(s, scope, ast, f);
        bg_scope_undefined(s, scope, callee->text, callee->span);
        return s->error;
    }
    bg_val *v = bg_eval(s, scope, callee);
    if (v->kind != BG_VAL_ERROR)
        bg_diag_push(s->diags, BG_D_NOT_CALLABLE, callee->span, 1, bg_val_describe(v));
    return s->error;
}
