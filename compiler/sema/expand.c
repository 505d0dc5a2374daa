/* From declarations to the whole graph: what the root file declares, what that refers to in other files, and the defaults. */
#include "graph/graph.h"
#include "sema/sema.h"

typedef BG_LIST(bg_node *) node_list;

static void check_binds(bg_sema *s, const bg_scope *scope)
{
    for (uint32_t i = 0; i < scope->binds.n; i++) {
        bg_bind *bind = scope->binds.at[i];
        if (bind->kind != BG_BIND_PARAM && bind->kind != BG_BIND_ENV)
            bg_eval_bind(s, bind, bind->span);
    }
}

static void check_declarations(bg_sema *s)
{
    bg_params_define(s);
    for (uint32_t i = 0; i < s->units.n; i++)
        bg_unit_envs(s, s->units.at[i]);
    for (uint32_t i = 0; i < s->root->params.n; i++)
        bg_param_preset(s, s->root->params.at[i]);
    check_binds(s, s->root->scope);
    for (uint32_t i = 0; i < s->root->groups.n; i++) {
        check_binds(s, s->root->groups.at[i]->scope);
        bg_group_when(s, s->root->groups.at[i]);
    }
}

static void enqueue(bg_sema *s, node_list *queue, bg_node *node)
{
    if (node->color != 0)
        return;
    node->color = 1;
    BG_PUSH(s, queue, node);
}

static void add_default(bg_sema *s, bg_node *node)
{
    for (uint32_t i = 0; i < s->defaults.n && s->defaults.n < 1000; i++)
        if (s->defaults.at[i] == node)
            return;
    BG_PUSH(s, &s->defaults, node);
}

static void default_value(bg_sema *s, bg_val *v)
{
    if (v->kind == BG_VAL_NODE) {
        add_default(s, v->ref);
    } else if (v->kind == BG_VAL_GROUP) {
        const bg_group *group = v->ref;
        for (uint32_t i = 0; i < group->nodes.n; i++)
            add_default(s, group->nodes.at[i]);
    } else if (v->type == BG_TYPE_LIST) {
        v = bg_known(s, v, "`default`");
        for (uint32_t i = 0; i < v->n; i++)
            default_value(s, v->kids[i]);
    } else if (v->kind != BG_VAL_ERROR) {
        bg_diag_push(s->diags, BG_D_TYPE, v->span, 3, BG_STR("a default"), BG_STR("a node or a group"), bg_val_describe(v));
    }
}

static void read_defaults(bg_sema *s)
{
    const bg_ast *file = s->root->ast;
    for (uint32_t i = 0; i < file->n_kids; i++) {
        const bg_ast *item = file->kids[i];
        if (item == NULL || item->kind != BG_AST_DEFAULT)
            continue;
        for (uint32_t k = 0; k < item->n_kids; k++)
            default_value(s, bg_eval(s, s->root->scope, item->kids[k]));
    }
}

/* Nodes of other files become part of the graph when an edge leads to them. */
static void finish_nodes(bg_sema *s)
{
    node_list queue = {0};
    for (uint32_t i = 0; i < s->root->nodes.n; i++)
        enqueue(s, &queue, s->root->nodes.at[i]);
    for (uint32_t i = 0; i < s->defaults.n; i++)
        enqueue(s, &queue, s->defaults.at[i]);
    for (uint32_t i = 0; i < queue.n; i++) {
        bg_node *node = queue.at[i];
        bg_node_finish(s, node);
        for (uint32_t k = 0; k < node->edges.n; k++)
            enqueue(s, &queue, node->edges.at[k].node);
    }
}

static void order_nodes(bg_sema *s)
{
    for (uint32_t u = 0; u < s->units.n; u++) {
        const bg_unit *unit = s->units.at[u];
        for (uint32_t i = 0; i < unit->nodes.n; i++) {
            if (unit->nodes.at[i]->color == 0)
                continue;
            BG_PUSH(s, &s->nodes, unit->nodes.at[i]);
            for (bg_group *g = unit->nodes.at[i]->group; g != NULL; g = g->parent)
                g->used = true;
        }
    }
}

void bg_sema_expand(bg_sema *s)
{
    check_declarations(s);
    read_defaults(s);
    finish_nodes(s);
    order_nodes(s);
    bg_graph_check_cycles(s);
    for (uint32_t i = 0; i < s->units.n; i++)
        if (!s->units.at[i]->is_std)
            bg_unused_check(s, s->units.at[i]);
}
