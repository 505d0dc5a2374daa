/* Declarations of a file and of its groups: every name gets its binding before anything is evaluated. */
#include "sema/sema.h"

typedef struct {
    bg_sema *s;
    bg_unit *unit;
    bg_scope *scope;
    bg_group *group; /* NULL at the top */
} place;

static void declare_param(place p, const bg_ast *ast)
{
    bg_bind *bind = bg_scope_add(p.s, p.scope, BG_BIND_PARAM, ast->text, ast->name_span, ast);
    if (bind == NULL)
        return;
    bg_param *param = BG_NEW(p.s, bg_param);
    param->bind = bind;
    param->unit = p.unit;
    param->default_ast = ast->kids[1];
    param->order = p.s->n_params++;
    param->name = p.unit == p.s->root ? ast->text
                                      : bg_sema_printf(p.s, "%.*s.%.*s", BG_FMT(p.unit->name), BG_FMT(ast->text));
    param->type = bg_type_of_ast(p.s, ast->kids[0]);
    bool ok = param->type != NULL &&
              ((param->type->kind >= BG_TYPE_STR && param->type->kind <= BG_TYPE_SIZE) || param->type->kind == BG_TYPE_ENUM ||
               (param->type->kind == BG_TYPE_LIST && param->type->elem->kind == BG_TYPE_STR));
    if (param->type != NULL && !ok) {
        bg_diag_push(p.s->diags, BG_D_BAD_TYPE, ast->kids[0]->span, 2, BG_STR("a param"), bg_type_name(p.s, param->type));
        param->type = NULL;
    }
    bind->ref = param;
    BG_PUSH(p.s, &p.unit->params, param);
}

static void declare_env(place p, const bg_ast *ast)
{
    bg_bind *bind = bg_scope_add(p.s, p.scope, BG_BIND_ENV, ast->text, ast->name_span, ast);
    if (bind == NULL)
        return;
    bg_env *env = BG_NEW(p.s, bg_env);
    env->bind = bind;
    env->unit = p.unit;
    const bg_type *type = ast->kids[0] == NULL ? NULL : bg_type_of_ast(p.s, ast->kids[0]);
    if (type != NULL && type->kind != BG_TYPE_STR)
        bg_diag_push(p.s->diags, BG_D_BAD_TYPE, ast->kids[0]->span, 2, BG_STR("an environment variable"), bg_type_name(p.s, type));
    bind->ref = env;
    BG_PUSH(p.s, &p.unit->envs, env);
}

static bg_str qualified(place p, bg_str name)
{
    bg_str before = p.group != NULL ? p.group->name : p.unit->prefix;
    return bg_sema_printf(p.s, "%.*s%s%.*s", BG_FMT(before), p.group != NULL ? "/" : "", BG_FMT(name));
}

static bg_str label_of(const bg_ast *label, bg_str name)
{
    if (label != NULL && label->kind == BG_AST_STRING && label->n_kids == 1 && label->kids[0]->kind == BG_AST_STRING_TEXT)
        return label->kids[0]->text;
    return label != NULL && label->kind == BG_AST_STRING_TEXT ? label->text : name;
}

static void declare_node(place p, const bg_ast *ast)
{
    bg_bind *bind = bg_scope_add(p.s, p.scope, BG_BIND_NODE, ast->text, ast->name_span, ast);
    if (bind == NULL)
        return;
    if (++p.s->n_nodes > BG_LIMIT_NODES)
        bg_sema_limit(p.s, ast->span, "nodes", BG_LIMIT_NODES);
    bg_node *node = BG_NEW(p.s, bg_node);
    node->bind = bind;
    node->name = ast->text;
    node->path = qualified(p, ast->text);
    node->label = label_of(ast->kids[0], ast->text);
    node->unit = p.unit;
    node->group = p.group;
    node->ast = ast;
    node->is_crate = ast->kind == BG_AST_CRATE;
    if (node->is_crate)
        p.s->load(p.s, p.unit, NULL, BG_STR("rust"));
    node->scope = bg_scope_new(p.s, p.scope, p.unit, node);
    bind->ref = node;
    BG_PUSH(p.s, &p.unit->nodes, node);
    for (bg_group *g = p.group; g != NULL; g = g->parent)
        BG_PUSH(p.s, &g->nodes, node);
}

static void declare_items(place p, const bg_ast *body);

static void declare_group(place p, const bg_ast *ast)
{
    bg_bind *bind = bg_scope_add(p.s, p.scope, BG_BIND_GROUP, ast->text, ast->name_span, ast);
    if (bind == NULL)
        return;
    bg_group *group = BG_NEW(p.s, bg_group);
    group->bind = bind;
    group->name = qualified(p, ast->text);
    group->label = label_of(ast->kids[0], ast->text);
    group->parent = p.group;
    group->unit = p.unit;
    group->scope = bg_scope_new(p.s, p.scope, p.unit, NULL);
    bind->ref = group;
    BG_PUSH(p.s, &p.unit->groups, group);
    if (ast->kids[1] != NULL)
        declare_items((place){p.s, p.unit, group->scope, group}, ast->kids[1]);
}

static void declare_set(place p, const bg_ast *ast)
{
    static const bg_str keys[] = {{"when", 4}};
    if (p.group == NULL || !bg_str_is(ast->text, "when")) {
        bg_diag *d = bg_diag_push(p.s->diags, BG_D_UNKNOWN_KEY, ast->name_span, 2,
                                  p.group == NULL ? BG_STR("a file") : BG_STR("a group"), ast->text);
        bg_sema_nearest(p.s, d, ast->text, keys, p.group == NULL ? 0 : 1);
    } else if (p.group->when_ast != NULL) {
        bg_diag *d = bg_diag_push(p.s->diags, BG_D_KEY_TWICE, ast->name_span, 1, ast->text);
        bg_diag_label_add(p.s->diags, d, p.group->when_ast->span, "first set here");
    } else {
        p.group->when_ast = ast->kids[0];
    }
}

static bool is_name(bg_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || (c == '-' && i + 1 < s.len))))
            return false;
    }
    return s.len != 0;
}

/* The name that a `use` binds: alias, last part of a std module, or the stem of a file. */
static bg_str use_name(const bg_ast *ast)
{
    if (ast->text2.len != 0)
        return ast->text2;
    bg_str name = ast->text;
    char cut = (ast->flags & BG_AST_QUOTED) != 0 ? '/' : '.';
    for (size_t i = name.len; i > 0; i--)
        if (name.ptr[i - 1] == cut) {
            name = (bg_str){name.ptr + i, name.len - i};
            break;
        }
    if (cut == '/')
        for (size_t i = 0; i < name.len; i++)
            if (name.ptr[i] == '.')
                name.len = i;
    return name;
}

static void declare_use(place p, const bg_ast *ast)
{
    bg_str name = use_name(ast);
    if (!is_name(name)) {
        bg_diag_push(p.s->diags, BG_D_MODULE_NAME, ast->span, 1, ast->text);
        return;
    }
    bg_bind *bind = bg_scope_add(p.s, p.scope, BG_BIND_MODULE, name, ast->name_span.file == 0 ? ast->span : ast->name_span, ast);
    if (bind != NULL)
        bind->ref = p.s->load(p.s, p.unit, ast, name);
}

static void declare(place p, const bg_ast *ast)
{
    switch ((int)ast->kind) {
    case BG_AST_USE:
        declare_use(p, ast);
        break;
    case BG_AST_LET: {
        bg_bind *bind = bg_scope_add(p.s, p.scope, BG_BIND_LET, ast->text, ast->name_span, ast);
        if (bind != NULL)
            bind->ast = ast->kids[0];
        break;
    }
    case BG_AST_PARAM:
        declare_param(p, ast);
        break;
    case BG_AST_ENV:
        declare_env(p, ast);
        break;
    case BG_AST_TOOL:
        bg_scope_add(p.s, p.scope, BG_BIND_TOOL, ast->text, ast->name_span, ast);
        break;
    case BG_AST_SOURCE:
        bg_scope_add(p.s, p.scope, BG_BIND_SOURCE, ast->text, ast->name_span, ast);
        break;
    case BG_AST_RELOCATE:
        bg_scope_add(p.s, p.scope, BG_BIND_RULE, ast->text, ast->name_span, ast);
        break;
    case BG_AST_TEMPLATE:
        bg_scope_add(p.s, p.scope, BG_BIND_TEMPLATE, ast->text, ast->name_span, ast);
        break;
    case BG_AST_GROUP:
        declare_group(p, ast);
        break;
    case BG_AST_STAGE:
    case BG_AST_CRATE:
        declare_node(p, ast);
        break;
    case BG_AST_SET:
        declare_set(p, ast);
        break;
    default:
        break; /* DEFAULT and ALLOW are read later; ERROR was diagnosed */
    }
}

static void declare_items(place p, const bg_ast *body)
{
    for (uint32_t i = 0; i < body->n_kids; i++)
        if (body->kids[i] != NULL)
            declare(p, body->kids[i]);
}

void bg_unit_declare(bg_sema *s, bg_unit *unit)
{
    unit->scope = bg_scope_new(s, NULL, unit, NULL);
    declare_items((place){s, unit, unit->scope, NULL}, unit->ast);
}

void bg_unit_envs(bg_sema *s, bg_unit *unit)
{
    for (uint32_t i = 0; i < unit->envs.n; i++) {
        bg_env *env = unit->envs.at[i];
        if (env->bind->ast->kids[1] == NULL)
            continue;
        bg_val *v = bg_eval(s, unit->scope, env->bind->ast->kids[1]);
        v = bg_known(s, bg_type_want(s, v, BG_TYPE_STR, "the fallback of an env"), "the fallback of an env");
        env->has_fallback = v->kind == BG_VAL_STR;
        env->fallback = v->str;
    }
}

bg_val *bg_group_when(bg_sema *s, bg_group *group)
{
    if (group->when_state == BG_STATE_BUSY) {
        bg_diag_push(s->diags, BG_D_VALUE_CYCLE, group->bind->span, 1, BG_STR("when"));
        return s->error;
    }
    if (group->when_state == BG_STATE_DONE)
        return group->when;
    group->when_state = BG_STATE_BUSY;
    bg_val *outer = group->parent == NULL ? NULL : bg_group_when(s, group->parent);
    bg_val *own = group->when_ast == NULL
                      ? NULL
                      : bg_type_want(s, bg_eval(s, group->scope, group->when_ast), BG_TYPE_BOOL, "`when`");
    if (outer != NULL && own != NULL)
        own = bg_eval_cond(s, outer, own, bg_val_bool(s, false, own->span), own->span);
    group->when = own != NULL ? own : outer;
    group->when_state = BG_STATE_DONE;
    return group->when;
}
