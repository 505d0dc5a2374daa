/* What follows a dot or stands in brackets. */
#include "sema/sema.h"

static bg_val *no_member(bg_sema *s, bg_str owner, const bg_ast *ast, const bg_str *names, uint32_t n)
{
    bg_diag *d = bg_diag_push(s->diags, BG_D_NO_MEMBER, ast->name_span, 2, owner, ast->text);
    bg_sema_nearest(s, d, ast->text, names, n);
    return s->error;
}

static bg_val *scope_member(bg_sema *s, const bg_scope *scope, bg_str owner, const bg_ast *ast)
{
    bg_bind *bind = bg_scope_own(scope, ast->text);
    if (bind != NULL)
        return bg_val_at(s, bg_eval_bind(s, bind, ast->span), ast->span);
    BG_LIST(bg_str) names = {0};
    for (uint32_t i = 0; i < scope->binds.n; i++)
        BG_PUSH(s, &names, scope->binds.at[i]->name);
    return no_member(s, owner, ast, names.at, names.n);
}

static bg_val *map_member(bg_sema *s, const bg_val *map, bg_str key, const bg_ast *ast)
{
    for (uint32_t i = 0; i < map->n; i++)
        if (bg_str_eq(map->keys[i], key))
            return bg_val_at(s, map->kids[i], ast->span);
    bg_diag *d = bg_diag_push(s->diags, BG_D_NO_MEMBER, ast->name_span.file == 0 ? ast->span : ast->name_span, 2,
                              BG_STR("the map"), key);
    bg_sema_nearest(s, d, key, map->keys, map->n);
    return s->error;
}

static bg_val *machine(bg_sema *s, const bg_ast *ast)
{
    static const bg_str names[BG_MACHINE_COUNT] = {{"arch", 4}, {"os", 2}, {"jobs", 4}};
    for (uint32_t i = 0; i < BG_MACHINE_COUNT; i++)
        if (bg_str_eq(ast->text, names[i])) {
            bg_val *v = bg_val_new(s, BG_VAL_FACT, i == BG_MACHINE_JOBS ? BG_TYPE_INT : BG_TYPE_STR, ast->span);
            v->i = (int64_t)i;
            return v;
        }
    return no_member(s, BG_STR("`machine`"), ast, names, BG_MACHINE_COUNT);
}

static bg_val *own_out(bg_sema *s, bg_node *node, const bg_ast *ast)
{
    bg_node_prepare(s, node);
    bg_out *out = bg_node_out(node, ast->text);
    if (out != NULL)
        return bg_node_member(s, node, ast->text, ast->span);
    BG_LIST(bg_str) names = {0};
    for (uint32_t i = 0; i < node->outs.n; i++)
        BG_PUSH(s, &names, node->outs.at[i]->name);
    bg_diag *d = bg_diag_push(s->diags, BG_D_NO_PRODUCT, ast->name_span, 2, node->path, ast->text);
    bg_sema_nearest(s, d, ast->text, names.at, names.n);
    return s->error;
}

static bg_val *own_work(bg_sema *s, bg_node *node, const bg_ast *ast)
{
    bg_node_prepare(s, node);
    BG_LIST(bg_str) names = {0};
    for (uint32_t i = 0; i < node->works.n; i++) {
        if (bg_str_eq(node->works.at[i]->name, ast->text))
            return bg_val_path(s, BG_ROOT_WORK, node->works.at[i], NULL, (bg_str){"", 0}, ast->span);
        BG_PUSH(s, &names, node->works.at[i]->name);
    }
    return no_member(s, BG_STR("`work`"), ast, names.at, names.n);
}

/* `out.x`, `work.x`, `machine.x`: names with a meaning of their own, unless the file gives them another. NULL: not one. */
static bg_val *special(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    const bg_ast *base = ast->kids[0];
    if (base == NULL || base->kind != BG_AST_NAME)
        return NULL;
    bool is_out = bg_str_is(base->text, "out"), is_work = bg_str_is(base->text, "work");
    if (!is_out && !is_work && !bg_str_is(base->text, "machine"))
        return NULL;
    if (bg_scope_find(scope, base->text) != NULL)
        return NULL;
    if (!is_out && !is_work)
        return machine(s, ast);
    if (scope->node == NULL) {
        bg_diag_push(s->diags, BG_D_OUTSIDE_NODE, base->span, 1, base->text);
        return s->error;
    }
    return is_out ? own_out(s, scope->node, ast) : own_work(s, scope->node, ast);
}

bg_val *bg_eval_field(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    bg_val *v = special(s, scope, ast);
    if (v != NULL)
        return v;
    v = bg_eval(s, scope, ast->kids[0]);
    switch ((int)v->kind) {
    case BG_VAL_ERROR:
        return v;
    case BG_VAL_MODULE: {
        const bg_unit *unit = v->ref;
        return scope_member(s, unit->scope, bg_sema_printf(s, "the module `%.*s`", BG_FMT(unit->name)), ast);
    }
    case BG_VAL_GROUP: {
        const bg_group *group = v->ref;
        return scope_member(s, group->scope, bg_sema_printf(s, "the group `%.*s`", BG_FMT(group->name)), ast);
    }
    case BG_VAL_NODE:
        return bg_node_member(s, v->ref, ast->text, ast->span);
    case BG_VAL_MAP:
        return map_member(s, v, ast->text, ast);
    default:
        break;
    }
    bg_diag_push(s->diags, BG_D_NO_MEMBER, ast->name_span, 2, bg_val_describe(v), ast->text);
    return s->error;
}

static bg_val *list_index(bg_sema *s, bg_val *list, bg_val *index, const bg_ast *ast)
{
    list = bg_known_list(s, list, "a list that is indexed");
    index = bg_known(s, bg_type_want(s, index, BG_TYPE_INT, "the index"), "an index");
    if (list->kind == BG_VAL_ERROR || index->kind == BG_VAL_ERROR)
        return s->error;
    if (index->i >= 0 && index->i < (int64_t)list->n)
        return bg_val_at(s, list->kids[index->i], ast->span);
    bg_diag_push(s->diags, BG_D_INDEX, index->span, 2, bg_sema_printf(s, "%lld", (long long)index->i),
                 bg_sema_printf(s, "%u item%s", list->n, list->n == 1 ? "" : "s"));
    return s->error;
}

bg_val *bg_eval_index(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    bg_val *v = bg_eval(s, scope, ast->kids[0]);
    bg_val *index = bg_eval(s, scope, ast->kids[1]);
    if (v->kind == BG_VAL_ERROR || index->kind == BG_VAL_ERROR)
        return s->error;
    if (v->type == BG_TYPE_LIST)
        return list_index(s, v, index, ast);
    if (v->kind == BG_VAL_MAP) {
        index = bg_known(s, bg_type_want(s, index, BG_TYPE_STR, "the key"), "a key");
        return index->kind == BG_VAL_ERROR ? index : map_member(s, v, index->str, ast);
    }
    bg_diag_push(s->diags, BG_D_TYPE, v->span, 3, BG_STR("what is indexed"), BG_STR("a list or a map"), bg_val_describe(v));
    return s->error;
}
