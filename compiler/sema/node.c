/* What a node is made of: templates are bound to their arguments, and all items are put in order. Nothing is evaluated here but
 * which templates are meant; members are evaluated when something asks for them. */
#include "sema/sema.h"

typedef struct {
    bg_sema *s;
    bg_node *node;
    bg_scope *scope; /* of the items */
    const bg_ast *body;
    bool is_block;   /* the block after the templates */
    bg_bind *skip_template; /* crates: keys that are parameters of this template are arguments */
} part;

static const bg_str set_keys[] = {{"run", 3}, {"in", 2},   {"cwd", 3},  {"depfile", 7},  {"signal", 6}, {"timeout", 7},
                                  {"retry", 5}, {"cpus", 4}, {"when", 4}, {"relocate", 8}, {"cache", 5}};
enum { N_SET_KEYS = sizeof set_keys / sizeof *set_keys };

bg_out *bg_node_out(const bg_node *node, bg_str name)
{
    for (uint32_t i = 0; i < node->outs.n; i++)
        if (bg_str_eq(node->outs.at[i]->name, name))
            return node->outs.at[i];
    return NULL;
}

bg_bind *bg_node_provide(const bg_node *node, bg_str name)
{
    for (uint32_t i = 0; i < node->provides.n; i++)
        if (bg_str_eq(node->provides.at[i]->name, name))
            return node->provides.at[i];
    return NULL;
}

/* Outputs and provided values share the names after `node.`. */
static bool member_is_free(part p, const bg_ast *ast)
{
    const bg_out *out = bg_node_out(p.node, ast->text);
    const bg_bind *provide = bg_node_provide(p.node, ast->text);
    bool reserved = bg_str_is(ast->text, "link") || bg_str_is(ast->text, "name") || bg_str_is(ast->text, "path");
    if (out == NULL && provide == NULL && !reserved)
        return true;
    bg_diag *d = bg_diag_push(p.s->diags, BG_D_DUPLICATE_NAME, ast->name_span, 1, ast->text);
    if (reserved)
        bg_diag_help(p.s->diags, d, "every node has `name`, `path` and `link`");
    else
        bg_diag_label_add(p.s->diags, d, out != NULL ? out->span : provide->span, "first declared here");
    return false;
}

static void add_out(part p, const bg_ast *ast)
{
    if (!member_is_free(p, ast))
        return;
    bg_out *out = BG_NEW(p.s, bg_out);
    out->node = p.node;
    out->name = ast->text;
    out->span = ast->span;
    out->ast = ast;
    out->scope = p.scope;
    out->is_early = (ast->flags & BG_AST_EARLY) != 0;
    const bg_ast *type = ast->kids[0];
    out->is_dir = type != NULL && bg_str_is(type->text, "dir");
    if (type != NULL && type->kind == BG_AST_TYPE && !out->is_dir && !bg_str_is(type->text, "file"))
        bg_diag_push(p.s->diags, BG_D_BAD_TYPE, type->span, 2, BG_STR("an output"), type->text);
    BG_PUSH(p.s, &p.node->outs, out);
}

static void add_work(part p, const bg_ast *ast)
{
    for (uint32_t i = 0; i < p.node->works.n; i++)
        if (bg_str_eq(p.node->works.at[i]->name, ast->text)) {
            bg_diag *d = bg_diag_push(p.s->diags, BG_D_DUPLICATE_NAME, ast->name_span, 1, ast->text);
            bg_diag_label_add(p.s->diags, d, p.node->works.at[i]->span, "first declared here");
            return;
        }
    bg_work *work = BG_NEW(p.s, bg_work);
    work->node = p.node;
    work->name = ast->text;
    work->span = ast->span;
    BG_PUSH(p.s, &p.node->works, work);
}

static void add_provide(part p, const bg_ast *ast)
{
    if (!member_is_free(p, ast))
        return;
    bg_bind *bind = BG_NEW(p.s, bg_bind);
    bind->kind = BG_BIND_PROVIDE;
    bind->name = ast->text;
    bind->span = ast->name_span;
    bind->ast = ast->kids[0];
    bind->scope = p.scope;
    BG_PUSH(p.s, &p.node->provides, bind);
    BG_PUSH(p.s, &p.node->checks, bind);
}

static void add_let(part p, const bg_ast *ast)
{
    bg_bind *bind = bg_scope_add(p.s, p.scope, BG_BIND_LET, ast->text, ast->name_span, ast);
    if (bind == NULL)
        return;
    bind->ast = ast->kids[0];
    BG_PUSH(p.s, &p.node->checks, bind);
}

static bg_str key_of(const bg_ast *ast)
{
    return ast->kind == BG_AST_RUN ? BG_STR("run") : ast->kind == BG_AST_ENV_BLOCK ? BG_STR("env") : ast->text;
}

static bg_item *find_item(bg_node *node, bg_str key, uint32_t from)
{
    for (uint32_t i = from; i < node->items.n; i++)
        if (!node->items.at[i].dropped && bg_str_eq(key_of(node->items.at[i].ast), key))
            return &node->items.at[i];
    return NULL;
}

static void override_key(part p, const bg_ast *ast, uint32_t from)
{
    bool any = false;
    for (uint32_t i = 0; i < from; i++) {
        bg_item *item = &p.node->items.at[i];
        if (bg_str_eq(key_of(item->ast), key_of(ast))) {
            any = any || !item->dropped;
            item->dropped = true;
        }
    }
    /* A second `override run` of one block adds to the first. */
    if (!any && find_item(p.node, key_of(ast), from) == NULL) {
        bg_diag *d = bg_diag_push(p.s->diags, BG_D_NOTHING_TO_OVERRIDE, ast->name_span, 1, key_of(ast));
        if (!p.is_block)
            bg_diag_help(p.s->diags, d, "`override` stands in the block after the templates");
    }
}

static void add_set(part p, const bg_ast *ast, uint32_t from)
{
    bg_str key = key_of(ast);
    bool adds = ast->kind != BG_AST_SET, is_override = (ast->flags & BG_AST_OVERRIDE) != 0;
    if (!adds) {
        uint32_t k = 0;
        while (k < N_SET_KEYS && !bg_str_eq(set_keys[k], key))
            k++;
        if (k == N_SET_KEYS) {
            bg_diag *d = bg_diag_push(p.s->diags, BG_D_UNKNOWN_KEY, ast->name_span, 2,
                                      p.node->is_crate ? BG_STR("a crate") : BG_STR("a stage"), key);
            bg_sema_nearest(p.s, d, key, set_keys, N_SET_KEYS);
            return;
        }
    }
    if (is_override && ast->kind != BG_AST_ENV_BLOCK)
        override_key(p, ast, from);
    const bg_item *old = adds ? NULL : find_item(p.node, key, bg_str_is(key, "in") ? from : 0);
    if (old != NULL) {
        bg_diag *d = bg_diag_push(p.s->diags, BG_D_KEY_TWICE, ast->name_span, 1, key);
        bg_diag_label_add(p.s->diags, d, old->ast->name_span, "first set here");
        if (p.is_block && !is_override && !bg_str_is(key, "in"))
            bg_diag_help(p.s->diags, d, "`override %.*s = …` replaces what a template set", BG_FMT(key));
        return;
    }
    bg_item item = {ast, p.scope, false};
    BG_PUSH(p.s, &p.node->items, item);
}

static void check_allow(part p, const bg_ast *ast)
{
    uint32_t number = 0;
    bool ok = ast->text.len == 6 && bg_str_starts(ast->text, BG_STR("BG"));
    for (size_t i = 2; ok && i < 6; i++) {
        ok = ast->text.ptr[i] >= '0' && ast->text.ptr[i] <= '9';
        number = number * 10 + (uint32_t)(ast->text.ptr[i] - '0');
    }
    /* 06xx belongs to the linter, which may know more than this table does. */
    const bg_diag_info *info = ok ? bg_diag_find(number) : NULL;
    if (!(ok && number / 100 == 6) && (info == NULL || info->severity != BG_SEVERITY_WARNING))
        bg_diag_push(p.s->diags, BG_D_UNKNOWN_CODE, ast->span, 1, ast->text);
}

static bool is_parameter(const bg_bind *template, bg_str key);

static void add_item(part p, const bg_ast *ast, uint32_t from)
{
    switch ((int)ast->kind) {
    case BG_AST_LET:
        add_let(p, ast);
        break;
    case BG_AST_OUT:
        add_out(p, ast);
        break;
    case BG_AST_WORK:
        add_work(p, ast);
        break;
    case BG_AST_PROVIDE:
        add_provide(p, ast);
        break;
    case BG_AST_SET:
        if (p.skip_template == NULL || !is_parameter(p.skip_template, ast->text))
            add_set(p, ast, from);
        break;
    case BG_AST_RUN:
    case BG_AST_ENV_BLOCK:
        add_set(p, ast, from);
        break;
    case BG_AST_ALLOW:
        check_allow(p, ast);
        break;
    default:
        break;
    }
}

static void add_body(part p)
{
    uint32_t from = p.node->items.n;
    for (uint32_t i = 0; p.body != NULL && i < p.body->n_kids; i++)
        if (p.body->kids[i] != NULL)
            add_item(p, p.body->kids[i], from);
}

/* ---- templates ---- */

static const bg_ast *parameters(const bg_bind *template)
{
    return template->ast->kids[0];
}

static uint32_t parameter_index(const bg_bind *template, bg_str key)
{
    const bg_ast *params = parameters(template);
    uint32_t n = params == NULL ? 0 : params->n_kids, i = 0;
    while (i < n && !bg_str_eq(params->kids[i]->text, key))
        i++;
    return i;
}

static bool is_parameter(const bg_bind *template, bg_str key)
{
    return parameters(template) != NULL && parameter_index(template, key) < parameters(template)->n_kids;
}

static bg_str template_name(bg_sema *s, const bg_bind *template)
{
    return bg_sema_printf(s, "the template `%.*s`", BG_FMT(template->name));
}

static void unknown_argument(bg_sema *s, const bg_bind *template, const bg_ast *arg)
{
    const bg_ast *params = parameters(template);
    BG_LIST(bg_str) names = {0};
    for (uint32_t i = 0; params != NULL && i < params->n_kids; i++)
        BG_PUSH(s, &names, params->kids[i]->text);
    bg_diag *d = bg_diag_push(s->diags, BG_D_UNKNOWN_ARGUMENT, arg->name_span, 2, template_name(s, template), arg->text);
    bg_sema_nearest(s, d, arg->text, names.at, names.n);
}

/* args[i]: the value for parameter i, NULL if it is not given. */
static const bg_ast **match_args(part p, const bg_bind *template, const bg_ast *call)
{
    const bg_ast *params = parameters(template);
    uint32_t n = params == NULL ? 0 : params->n_kids, n_placed = 0;
    const bg_ast **args = BG_ARRAY(p.s, n, const bg_ast *);
    for (uint32_t i = 1; call->kind == BG_AST_CALL && i < call->n_kids; i++) {
        const bg_ast *arg = call->kids[i];
        bool named = arg->kind == BG_AST_ARG;
        uint32_t k = named ? parameter_index(template, arg->text) : n_placed++;
        if (k >= n && named)
            unknown_argument(p.s, template, arg);
        else if (k < n && args[k] != NULL)
            bg_diag_push(p.s->diags, BG_D_ARGUMENT_TWICE, arg->span, 1, params->kids[k]->text);
        else if (k < n)
            args[k] = named ? arg->kids[0] : arg;
    }
    if (n_placed > n)
        bg_diag_push(p.s->diags, BG_D_TOO_MANY_ARGUMENTS, call->span, 3, template_name(p.s, template),
                     bg_sema_printf(p.s, "%u", n), bg_sema_printf(p.s, "%u", n_placed));
    return args;
}

/* Keys of a crate that are parameters of std.rust.crate. */
static const bg_ast **crate_args(part p, const bg_bind *template)
{
    const bg_ast *params = parameters(template);
    uint32_t n = params == NULL ? 0 : params->n_kids;
    const bg_ast **args = BG_ARRAY(p.s, n, const bg_ast *);
    for (uint32_t i = 0; p.body != NULL && i < p.body->n_kids; i++) {
        const bg_ast *set = p.body->kids[i];
        uint32_t k = set != NULL && set->kind == BG_AST_SET ? parameter_index(template, set->text) : n;
        if (k >= n)
            continue;
        if (args[k] != NULL)
            bg_diag_push(p.s->diags, BG_D_KEY_TWICE, set->name_span, 1, set->text);
        else
            args[k] = set->kids[0];
    }
    return args;
}

static bg_scope *bind_args(part p, const bg_bind *template, const bg_ast *const *args, bg_span span)
{
    const bg_ast *params = parameters(template);
    bg_scope *scope = bg_scope_new(p.s, template->scope, template->scope->unit, p.node);
    for (uint32_t i = 0; params != NULL && i < params->n_kids; i++) {
        const bg_ast *param = params->kids[i];
        if (param->kind != BG_AST_PARAMETER)
            continue;
        bg_bind *bind = bg_scope_add(p.s, scope, BG_BIND_ARG, param->text, param->name_span, param);
        if (bind == NULL)
            continue;
        bind->type = bg_type_of_ast(p.s, param->kids[0]);
        bind->ast = args[i] != NULL ? args[i] : param->kids[1];
        bind->scope = args[i] != NULL ? p.node->scope : scope;
        if (bind->ast == NULL) {
            bg_diag *d = bg_diag_push(p.s->diags, BG_D_MISSING_ARGUMENT, span, 2, template_name(p.s, template), param->text);
            bg_diag_label_add(p.s->diags, d, param->span, "declared here without a default");
            bind->type = NULL;
        }
        BG_PUSH(p.s, &p.node->checks, bind);
    }
    return scope;
}

static void add_template(part p, const bg_ast *call)
{
    if (call == NULL || call->kind == BG_AST_ERROR)
        return;
    const bg_ast *callee = call->kind == BG_AST_CALL ? call->kids[0] : call;
    bg_val *v = bg_eval(p.s, p.scope, callee);
    if (v->kind == BG_VAL_ERROR)
        return;
    if (v->kind != BG_VAL_TEMPLATE) {
        bg_diag_push(p.s->diags, BG_D_NOT_TEMPLATE, callee->span, 2, callee->text, bg_val_describe(v));
        return;
    }
    const bg_bind *template = v->ref;
    bg_scope *scope = bind_args(p, template, match_args(p, template, call), call->span);
    add_body((part){p.s, p.node, scope, template->ast->kids[1], false, NULL});
}

static bg_bind *crate_template(part p)
{
    bg_unit *rust = p.s->load(p.s, p.node->unit, NULL, BG_STR("rust"));
    bg_bind *template = rust == NULL ? NULL : bg_scope_own(rust->scope, BG_STR("crate"));
    if (rust != NULL && (template == NULL || template->kind != BG_BIND_TEMPLATE)) {
        bg_diag_push(p.s->diags, BG_D_NO_MEMBER, p.node->bind->span, 2, BG_STR("the module `std.rust`"), BG_STR("crate"));
        return NULL;
    }
    return template;
}

static void prepare_crate(bg_sema *s, bg_node *node)
{
    part p = {s, node, node->scope, node->ast->kids[1], true, NULL};
    bg_bind *template = crate_template(p);
    if (template == NULL)
        return;
    bg_scope *scope = bind_args(p, template, crate_args(p, template), node->bind->span);
    add_body((part){s, node, scope, template->ast->kids[1], false, NULL});
    p.skip_template = template;
    add_body(p);
}

static void prepare_stage(bg_sema *s, bg_node *node)
{
    const bg_ast *templates = node->ast->kids[1], *block = node->ast->kids[2];
    part p = {s, node, node->scope, block, true, NULL};
    for (uint32_t i = 0; templates != NULL && i < templates->n_kids; i++)
        add_template(p, templates->kids[i]);
    add_body(p);
}

void bg_node_prepare(bg_sema *s, bg_node *node)
{
    if (node->state == BG_STATE_DONE)
        return;
    if (node->state == BG_STATE_BUSY) {
        bg_diag_push(s->diags, BG_D_VALUE_CYCLE, node->bind->span, 1, node->path);
        return;
    }
    node->state = BG_STATE_BUSY;
    if (node->is_crate)
        prepare_crate(s, node);
    else
        prepare_stage(s, node);
    node->state = BG_STATE_DONE;
}

/* ---- members ---- */

bool bg_out_exists(bg_sema *s, bg_out *out)
{
    if (out->state == BG_STATE_BUSY)
        bg_diag_push(s->diags, BG_D_VALUE_CYCLE, out->span, 1, bg_sema_printf(s, "%.*s when", BG_FMT(out->name)));
    if (out->state != BG_STATE_NEW)
        return out->exists;
    out->exists = true;
    out->state = BG_STATE_BUSY;
    if (out->ast->kids[2] != NULL) {
        bg_val *v = bg_type_want(s, bg_eval(s, out->scope, out->ast->kids[2]), BG_TYPE_BOOL, "`when`");
        v = bg_known(s, v, "`when` of an output");
        out->exists = v->kind == BG_VAL_ERROR || v->i != 0;
    }
    out->state = BG_STATE_DONE;
    return out->exists;
}

static const char *unsafe(bg_str path)
{
    if (path.len == 0)
        return "it is empty";
    if (path.ptr[0] == '/')
        return "it is absolute";
    if (memchr(path.ptr, 0, path.len) != NULL)
        return "it holds a NUL byte";
    for (size_t i = 0; i <= path.len;) {
        size_t end = i;
        while (end < path.len && path.ptr[end] != '/')
            end++;
        size_t len = end - i;
        if (len == 0)
            return "it has an empty part";
        if (len <= 2 && path.ptr[i] == '.' && path.ptr[end - 1] == '.')
            return "it has a `.` or `..` part";
        if (len > 255)
            return "a part is longer than 255 bytes";
        i = end + 1;
    }
    return path.len > 3000 ? "it is longer than 3000 bytes" : NULL;
}

bg_str bg_out_path(bg_sema *s, bg_out *out)
{
    if (out->path_state == BG_STATE_BUSY)
        bg_diag_push(s->diags, BG_D_VALUE_CYCLE, out->span, 1, out->name);
    if (out->path_state != BG_STATE_NEW)
        return out->path;
    out->path = out->name;
    out->path_state = BG_STATE_BUSY;
    const bg_ast *ast = out->ast->kids[1];
    if (ast != NULL) {
        bg_val *v = bg_known(s, bg_type_want(s, bg_eval(s, out->scope, ast), BG_TYPE_STR, "the path of an output"),
                             "the path of an output");
        const char *why = v->kind == BG_VAL_STR ? unsafe(v->str) : NULL;
        if (why != NULL)
            bg_diag_push(s->diags, BG_D_OUTPUT_PATH, ast->span, 2, v->str, bg_str_of(why));
        else if (v->kind == BG_VAL_STR)
            out->path = v->str;
    }
    out->path_state = BG_STATE_DONE;
    return out->path;
}

/* What the node has instead, and why there may be no metadata. */
static void help_products(bg_sema *s, bg_diag *d, bg_node *node, bg_str name)
{
    bg_str all = {"`link`", 6};
    BG_LIST(bg_str) names = {0};
    for (uint32_t i = 0; i < node->outs.n; i++) {
        const bg_out *out = node->outs.at[i];
        if (!bg_out_exists(s, node->outs.at[i]))
            continue;
        BG_PUSH(s, &names, out->name);
        all = bg_sema_printf(s, "%.*s, `%.*s`%s", BG_FMT(all), BG_FMT(out->name), out->is_early ? " (early)" : "");
    }
    for (uint32_t i = 0; i < node->provides.n; i++) {
        BG_PUSH(s, &names, node->provides.at[i]->name);
        all = bg_sema_printf(s, "%.*s, `%.*s`", BG_FMT(all), BG_FMT(node->provides.at[i]->name));
    }
    bg_str near = bg_diag_nearest(name, names.at, names.n);
    if (near.len != 0)
        bg_diag_help(s->diags, d, "did you mean `%.*s`? It has %.*s", BG_FMT(near), BG_FMT(all));
    else if (bg_str_is(name, "metadata") || bg_str_is(name, "meta"))
        bg_diag_help(s->diags, d, "only libraries have their metadata early; this node is ready as a whole, `link`. It has %.*s",
                     BG_FMT(all));
    else
        bg_diag_help(s->diags, d, "it has %.*s", BG_FMT(all));
}

static bg_val *no_product(bg_sema *s, bg_node *node, bg_str name, bg_span span)
{
    bg_diag *d = bg_diag_push(s->diags, BG_D_NO_PRODUCT, span, 2, node->path, name);
    bg_diag_label_add(s->diags, d, node->bind->span, "declared here");
    help_products(s, d, node, name);
    return s->error;
}

bg_val *bg_node_member(bg_sema *s, bg_node *node, bg_str name, bg_span span)
{
    if (bg_str_is(name, "name"))
        return bg_val_str(s, node->name, span);
    if (bg_str_is(name, "path"))
        return bg_val_str(s, node->path, span);
    if (bg_str_is(name, "link"))
        return bg_val_path(s, BG_ROOT_PROD, node, NULL, (bg_str){"", 0}, span);
    bg_node_prepare(s, node);
    bg_out *out = bg_node_out(node, name);
    if (out == NULL) {
        bg_bind *provide = bg_node_provide(node, name);
        return provide == NULL ? no_product(s, node, name, span) : bg_val_at(s, bg_eval_bind(s, provide, span), span);
    }
    if (!bg_out_exists(s, out)) {
        bg_diag *d = bg_diag_push(s->diags, BG_D_OUTPUT_OFF, span, 2, name, node->path);
        bg_diag_label_add(s->diags, d, out->span, "declared here");
        help_products(s, d, node, name);
        return s->error;
    }
    return bg_val_path(s, BG_ROOT_OUT, out, NULL, (bg_str){"", 0}, span);
}
