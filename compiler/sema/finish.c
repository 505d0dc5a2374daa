/* Values of one node: its commands, environment, inputs and settings, checked and ready to be emitted. */
#include "sema/sema.h"

typedef struct {
    bg_sema *s;
    bg_node *node;
    BG_LIST(bg_val *) inputs, env;
    bg_scope *env_names;
} work;

/* ---- commands ---- */

static bg_val *word(bg_sema *s, bg_val *v)
{
    if (v->kind == BG_VAL_ITEM_IF)
        return bg_val_op2(s, BG_VAL_ITEM_IF, BG_TYPE_STR, v->kids[0], word(s, v->kids[1]), v->span);
    if (v->kind != BG_VAL_SPLICE)
        return bg_eval_word(s, v, "a word of a command");
    bg_val *list = v->kids[0];
    if (list->kind == BG_VAL_PARAM || list->kind == BG_VAL_ERROR)
        return v;
    if (list->kind == BG_VAL_COND) {
        bg_val **kids = BG_ARRAY(s, 3, bg_val *);
        kids[0] = list->kids[0];
        for (uint32_t i = 1; i < 3; i++) {
            bg_val *part = word(s, bg_val_op1(s, BG_VAL_SPLICE, BG_TYPE_LIST, list->kids[i], list->span));
            kids[i] = part->kind == BG_VAL_ERROR ? part : part->kids[0];
        }
        return bg_val_op1(s, BG_VAL_SPLICE, BG_TYPE_LIST, bg_val_op(s, BG_VAL_COND, BG_TYPE_LIST, kids, 3, list->span), v->span);
    }
    bg_val **items = BG_ARRAY(s, list->n, bg_val *);
    for (uint32_t i = 0; i < list->n; i++)
        items[i] = word(s, list->kids[i]);
    return bg_val_op1(s, BG_VAL_SPLICE, BG_TYPE_LIST, bg_eval_list(s, items, list->n, list->span), v->span);
}

static bg_val *words(bg_sema *s, bg_val *list)
{
    bg_val *splice = bg_val_op1(s, BG_VAL_SPLICE, BG_TYPE_LIST, list, list->span);
    splice = splice->kind == BG_VAL_ERROR ? splice : word(s, splice);
    return splice->kind == BG_VAL_ERROR ? splice : splice->kids[0];
}

static bg_tool *implied_tool(bg_sema *s, bg_str name)
{
    for (uint32_t i = 0; i < s->implied.n; i++)
        if (bg_str_eq(s->implied.at[i]->name, name))
            return s->implied.at[i];
    bg_tool *tool = BG_NEW(s, bg_tool);
    tool->name = name;
    tool->program = name;
    BG_PUSH(s, &s->implied, tool);
    return tool;
}

/* A string that is not a path names a program to be looked up. */
static bg_val *program(bg_sema *s, bg_val *v)
{
    if (v->kind == BG_VAL_COND || v->kind == BG_VAL_ITEM_IF) {
        bg_val **kids = BG_ARRAY(s, v->n, bg_val *);
        for (uint32_t i = 0; i < v->n; i++)
            kids[i] = i == 0 ? v->kids[0] : program(s, v->kids[i]);
        return bg_val_op(s, v->kind, v->type, kids, v->n, v->span);
    }
    if (v->kind != BG_VAL_STR)
        return v;
    if (v->str.len == 0) {
        bg_diag_push(s->diags, BG_D_EMPTY_COMMAND, v->span, 0);
        return s->error;
    }
    if (memchr(v->str.ptr, '/', v->str.len) != NULL)
        return v;
    return bg_val_ref(s, BG_VAL_TOOL, BG_TYPE_TOOL, implied_tool(s, v->str), v->span);
}

static bg_val *command(bg_sema *s, bg_val *argv)
{
    argv = words(s, argv);
    if (argv->kind != BG_VAL_LIST)
        return argv;
    if (argv->n == 0) {
        bg_diag_push(s->diags, BG_D_EMPTY_COMMAND, argv->span, 0);
        return s->error;
    }
    bg_val **items = BG_ARRAY(s, argv->n, bg_val *);
    for (uint32_t i = 0; i < argv->n; i++)
        items[i] = i == 0 ? program(s, argv->kids[i]) : argv->kids[i];
    return bg_eval_list(s, items, argv->n, argv->span);
}

static bool is_own(const bg_node *node, const bg_val *v)
{
    if (v->kind == BG_VAL_COND)
        return is_own(node, v->kids[1]) && is_own(node, v->kids[2]);
    while (v->kind == BG_VAL_JOIN || v->kind == BG_VAL_DIR)
        v = v->kids[0];
    if (v->kind != BG_VAL_PATH)
        return false;
    return (v->i == BG_ROOT_OUT && ((const bg_out *)v->ref)->node == node) ||
           (v->i == BG_ROOT_WORK && ((const bg_work *)v->ref)->node == node) || (v->i == BG_ROOT_PROD && v->ref == node);
}

static bg_val *path_value(work *w, bg_scope *scope, const bg_ast *ast, const char *what, bool own)
{
    static const bg_type path = {BG_TYPE_PATH, NULL, NULL, 0};
    bg_val *v = bg_eval_as(w->s, scope, ast, &path, bg_str_of(what));
    if (v->kind == BG_VAL_ERROR || !own || is_own(w->node, v))
        return v->kind == BG_VAL_ERROR ? NULL : v;
    bg_diag_push(w->s->diags, BG_D_NOT_OWN_PATH, ast->span, 1, bg_str_of(what));
    return NULL;
}

static void add_run(work *w, bg_scope *scope, const bg_ast *ast)
{
    bg_val *argv = bg_type_want(w->s, bg_eval(w->s, scope, ast->kids[0]), BG_TYPE_LIST, "a command");
    bg_cmd cmd = {command(w->s, argv), NULL, ast->span};
    if (ast->kids[1] != NULL)
        cmd.out = path_value(w, scope, ast->kids[1], "`stdout`", true);
    if (cmd.argv->kind != BG_VAL_ERROR)
        BG_PUSH(w->s, &w->node->cmds, cmd);
}

/* ---- inputs and environment ---- */

static bg_val *input(bg_sema *s, bg_val *v)
{
    if (v->kind == BG_VAL_ERROR)
        return v;
    if (v->kind == BG_VAL_NODE)
        return bg_val_path(s, BG_ROOT_PROD, v->ref, NULL, (bg_str){"", 0}, v->span);
    if (v->kind == BG_VAL_ITEM_IF)
        return bg_val_op2(s, BG_VAL_ITEM_IF, BG_TYPE_PATH, v->kids[0], input(s, v->kids[1]), v->span);
    if (v->kind == BG_VAL_SPLICE && v->kids[0]->kind == BG_VAL_LIST) {
        bg_val *list = v->kids[0];
        bg_val **items = BG_ARRAY(s, list->n, bg_val *);
        for (uint32_t i = 0; i < list->n; i++)
            items[i] = input(s, list->kids[i]);
        return bg_val_op1(s, BG_VAL_SPLICE, BG_TYPE_LIST, bg_eval_list(s, items, list->n, list->span), v->span);
    }
    if (v->kind == BG_VAL_SPLICE && v->kids[0]->kind == BG_VAL_COND) {
        bg_val *c = v->kids[0];
        bg_val **kids = BG_ARRAY(s, 3, bg_val *);
        kids[0] = c->kids[0];
        for (uint32_t i = 1; i < 3; i++) {
            bg_val *part = input(s, bg_val_op1(s, BG_VAL_SPLICE, BG_TYPE_LIST, c->kids[i], c->span));
            kids[i] = part->kind == BG_VAL_ERROR ? part : part->kids[0];
        }
        return bg_val_op1(s, BG_VAL_SPLICE, BG_TYPE_LIST, bg_val_op(s, BG_VAL_COND, BG_TYPE_LIST, kids, 3, c->span), v->span);
    }
    bg_val *path = v->kind == BG_VAL_TOOL ? v : bg_pathval_of(s, v);
    if (path != NULL)
        return path;
    if (v->type == BG_TYPE_LIST && v->kind != BG_VAL_SPLICE) {
        bg_diag *d = bg_diag_push(s->diags, BG_D_NESTED_LIST, v->span, 0);
        bg_diag_help(s->diags, d, "splice it with `..`");
        return s->error;
    }
    bg_diag *d = bg_diag_push(s->diags, BG_D_TYPE, v->span, 3, BG_STR("an item of `in`"),
                              BG_STR("a path, a source, a tool, a node or a product"), bg_val_describe(v));
    if (v->type == BG_TYPE_STR)
        bg_diag_help(s->diags, d, "`src(\"…\")` is a path below this file's directory");
    return s->error;
}

static void add_in(work *w, bg_scope *scope, const bg_ast *ast)
{
    bg_val *v = bg_type_want(w->s, bg_eval(w->s, scope, ast->kids[0]), BG_TYPE_LIST, "`in`");
    if (v->kind == BG_VAL_ERROR)
        return;
    v = input(w->s, bg_val_op1(w->s, BG_VAL_SPLICE, BG_TYPE_LIST, v, v->span));
    if (v->kind != BG_VAL_ERROR)
        BG_PUSH(w->s, &w->inputs, v);
}

static void add_env(work *w, bg_scope *scope, const bg_ast *ast)
{
    for (uint32_t i = 0; i < ast->n_kids; i++) {
        const bg_ast *set = ast->kids[i];
        if (set == NULL || set->kind != BG_AST_SET)
            continue;
        bg_val *v = bg_eval_word(w->s, bg_eval(w->s, scope, set->kids[0]), "the value of an environment variable");
        if (v->kind != BG_VAL_ERROR && v->type != BG_TYPE_STR && v->type != BG_TYPE_ENUM)
            v = bg_eval_concat(w->s, &v, 1, v->span);
        bg_bind *old = bg_scope_own(w->env_names, set->text);
        if (old != NULL && ((set->flags | ast->flags) & BG_AST_OVERRIDE) != 0) {
            w->env.at[(uintptr_t)old->ref] = v;
            continue;
        }
        bg_bind *bind = old;
        if (old != NULL) {
            bg_diag *d = bg_diag_push(w->s->diags, BG_D_KEY_TWICE, set->name_span, 1, set->text);
            bg_diag_label_add(w->s->diags, d, old->span, "first set here");
            continue;
        }
        bind = bg_scope_add(w->s, w->env_names, BG_BIND_VAR, set->text, set->name_span, set);
        BG_PUSH(w->s, &w->env, bg_val_str(w->s, set->text, set->name_span));
        bind->ref = (void *)(uintptr_t)w->env.n;
        BG_PUSH(w->s, &w->env, v);
    }
}

/* ---- settings ---- */

static int64_t number(work *w, const bg_item *item, bg_type_kind type, int64_t min, int64_t max, const char *range, int64_t otherwise)
{
    const char *what = bg_sema_printf(w->s, "`%.*s`", BG_FMT(item->ast->text)).ptr;
    bg_val *v = bg_known(w->s, bg_type_want(w->s, bg_eval(w->s, item->scope, item->ast->kids[0]), type, what), what);
    if (v->kind == BG_VAL_ERROR)
        return otherwise;
    if (v->i >= min && v->i <= max)
        return v->i;
    bg_diag_push(w->s->diags, BG_D_RANGE, item->ast->kids[0]->span, 2, bg_str_of(what), bg_str_of(range));
    return otherwise;
}

static uint32_t signal_of(work *w, const bg_item *item)
{
    const bg_ast *value = item->ast->kids[0];
    bg_str name = bg_decl_word(w->s, item->scope, value, "`signal`");
    if (bg_str_is(name, "rustc-json"))
        return BG_SIGNAL_RUSTC_JSON;
    if (bg_str_is(name, "fd"))
        return BG_SIGNAL_FD;
    if (name.ptr != NULL) {
        bg_diag *d = bg_diag_push(w->s->diags, BG_D_NOT_A_CHOICE, value->span, 2, BG_STR("`signal`"), name);
        bg_diag_help(w->s->diags, d, "it is `rustc-json` or `fd`");
    }
    return BG_SIGNAL_FD; /* silences errors about early outputs */
}

static void add_when(work *w, bg_val *v)
{
    if (v == NULL || v->kind == BG_VAL_ERROR)
        return;
    w->node->when = w->node->when == NULL
                        ? v
                        : bg_eval_cond(w->s, w->node->when, v, bg_val_bool(w->s, false, v->span), v->span);
}

static void set(work *w, const bg_item *item)
{
    bg_sema *s = w->s;
    bg_node *node = w->node;
    bg_str key = item->ast->text;
    const bg_ast *value = item->ast->kids[0];
    if (bg_str_is(key, "in")) {
        add_in(w, item->scope, item->ast);
    } else if (bg_str_is(key, "cwd")) {
        node->cwd = path_value(w, item->scope, value, "`cwd`", false);
    } else if (bg_str_is(key, "depfile")) {
        node->depfile = path_value(w, item->scope, value, "`depfile`", true);
    } else if (bg_str_is(key, "signal")) {
        node->signal = signal_of(w, item);
    } else if (bg_str_is(key, "timeout")) {
        node->timeout_ns = number(w, item, BG_TYPE_DURATION, 1, INT64_MAX, "longer than 0s", 0);
    } else if (bg_str_is(key, "retry")) {
        node->retry = (uint32_t)number(w, item, BG_TYPE_INT, 0, 1000, "from 0 to 1000", 0);
    } else if (bg_str_is(key, "cpus")) {
        node->cpus = (uint32_t)number(w, item, BG_TYPE_INT, 1, 65535, "from 1 to 65535", 1);
    } else if (bg_str_is(key, "when")) {
        add_when(w, bg_type_want(s, bg_eval(s, item->scope, value), BG_TYPE_BOOL, "`when`"));
    } else if (bg_str_is(key, "relocate")) {
        bg_val *v = bg_type_want(s, bg_eval(s, item->scope, value), BG_TYPE_RULE, "`relocate`");
        node->rule = v->kind == BG_VAL_RULE ? v->ref : NULL;
    } else if (bg_str_is(key, "cache")) {
        bg_val *v = bg_known(s, bg_type_want(s, bg_eval(s, item->scope, value), BG_TYPE_BOOL, "`cache`"), "`cache`");
        node->no_cache = v->kind == BG_VAL_BOOL && v->i == 0;
    }
}

/* ---- outputs ---- */

static bool overlaps(bg_str a, bg_str b)
{
    if (a.len > b.len)
        return overlaps(b, a);
    return bg_str_starts(b, a) && (a.len == b.len || b.ptr[a.len] == '/');
}

static void check_outs(work *w)
{
    bg_node *node = w->node;
    for (uint32_t i = 0; i < node->outs.n; i++) {
        bg_out *out = node->outs.at[i];
        if (!bg_out_exists(w->s, out))
            continue;
        bg_out_path(w->s, out);
        bg_sema_step(w->s, out->span, node->live.n);
        for (uint32_t k = 0; k < node->live.n; k++) {
            if (!overlaps(node->live.at[k]->path, out->path))
                continue;
            bg_diag *d = bg_diag_push(w->s->diags, BG_D_OUTPUT_OVERLAP, out->span, 2, node->live.at[k]->name, out->name);
            bg_diag_label_add(w->s->diags, d, node->live.at[k]->span, "the other one");
            break;
        }
        if (out->is_early && node->signal == BG_SIGNAL_NONE) {
            bg_diag *d = bg_diag_push(w->s->diags, BG_D_EARLY_SIGNAL, out->span, 1, out->name);
            bg_diag_help(w->s->diags, d, "write `signal = rustc-json` or `signal = fd`");
        }
        BG_PUSH(w->s, &node->live, out);
    }
}

/* ---- edges ---- */

static void add_edge(work *w, bg_node *producer, bg_out *early, bg_span span)
{
    const bg_node **asked_by = early != NULL ? &early->asked_by : &producer->asked_by;
    if (producer == w->node || *asked_by == w->node)
        return;
    *asked_by = w->node;
    bg_edge edge = {producer, early, span};
    BG_PUSH(w->s, &w->node->edges, edge);
}

static void path_edge(work *w, const bg_val *v)
{
    if (v->i == BG_ROOT_OUT) {
        bg_out *out = v->ref;
        add_edge(w, out->node, out->is_early ? out : NULL, v->span);
    } else if (v->i == BG_ROOT_PROD) {
        add_edge(w, v->ref, v->early, v->span);
    } else if (v->i == BG_ROOT_WORK && ((const bg_work *)v->ref)->node != w->node) {
        const bg_work *other = v->ref;
        bg_diag *d = bg_diag_push(w->s->diags, BG_D_FOREIGN_WORK, v->span, 3, other->name, other->node->path, w->node->path);
        bg_diag_label_add(w->s->diags, d, other->span, "declared here");
    }
}

static void collect(work *w, const bg_val *v)
{
    if (v == NULL)
        return;
    if (v->kind == BG_VAL_PATH)
        path_edge(w, v);
    for (uint32_t i = 0; i < v->n; i++)
        collect(w, v->kids[i]);
}

/* A node can't read what it has yet to make. */
static void check_inputs(work *w, const bg_val *v)
{
    bg_node *node = w->node;
    bool own = v->kind == BG_VAL_PATH && ((v->i == BG_ROOT_OUT && ((const bg_out *)v->ref)->node == node) ||
                                          (v->i == BG_ROOT_PROD && v->ref == node));
    if (own)
        bg_diag_push(w->s->diags, BG_D_NODE_CYCLE, v->span, 1,
                     bg_sema_printf(w->s, "%.*s -> %.*s", BG_FMT(node->path), BG_FMT(node->path)));
    for (uint32_t i = 0; i < v->n; i++)
        check_inputs(w, v->kids[i]);
}

static void collect_edges(work *w)
{
    bg_node *node = w->node;
    if (node->inputs != NULL)
        check_inputs(w, node->inputs);
    collect(w, node->when);
    collect(w, node->inputs);
    for (uint32_t i = 0; i < node->cmds.n; i++) {
        collect(w, node->cmds.at[i].argv);
        collect(w, node->cmds.at[i].out);
    }
    collect(w, node->env);
    collect(w, node->cwd);
    collect(w, node->depfile);
}

static bg_val *list_of(work *w, bg_val *const *items, uint32_t n)
{
    bg_val *v = n == 0 ? NULL : bg_eval_list(w->s, items, n, w->node->bind->span);
    return v == NULL || v->kind == BG_VAL_ERROR || v->n == 0 ? NULL : v;
}

void bg_node_finish(bg_sema *s, bg_node *node)
{
    if (node->finish_state != BG_STATE_NEW)
        return;
    node->finish_state = BG_STATE_BUSY;
    node->cpus = 1;
    work w = {.s = s, .node = node, .env_names = bg_scope_new(s, NULL, node->unit, NULL)};
    bg_node_prepare(s, node);
    if (node->group != NULL)
        add_when(&w, bg_group_when(s, node->group));
    for (uint32_t i = 0; i < node->items.n; i++) {
        const bg_item *item = &node->items.at[i];
        if (item->dropped)
            continue;
        if (item->ast->kind == BG_AST_RUN)
            add_run(&w, item->scope, item->ast);
        else if (item->ast->kind == BG_AST_ENV_BLOCK)
            add_env(&w, item->scope, item->ast);
        else
            set(&w, item);
    }
    if (node->when != NULL && node->when->kind == BG_VAL_BOOL && node->when->i != 0)
        node->when = NULL;
    node->inputs = list_of(&w, w.inputs.at, w.inputs.n);
    node->env = list_of(&w, w.env.at, w.env.n);
    check_outs(&w);
    for (uint32_t i = 0; i < node->checks.n; i++)
        bg_eval_bind(s, node->checks.at[i], node->checks.at[i]->span);
    collect_edges(&w);
    node->finish_state = BG_STATE_DONE;
}
