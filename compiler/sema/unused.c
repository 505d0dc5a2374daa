/* Declarations that no name refers to: found in the text, so that what a branch not taken uses counts as used. */
#include "sema/sema.h"

static void collect(bg_sema *s, bg_scope *names, const bg_ast *ast)
{
    if (ast == NULL)
        return;
    if ((ast->kind == BG_AST_NAME || ast->kind == BG_AST_FIELD) && bg_scope_own(names, ast->text) == NULL)
        bg_scope_add(s, names, BG_BIND_VAR, ast->text, ast->span, ast);
    for (uint32_t i = 0; i < ast->n_kids; i++)
        collect(s, names, ast->kids[i]);
}

static const char *kind_of(const bg_ast *ast, bool is_root_file)
{
    if (ast->kind == BG_AST_LET)
        return "the value";
    if (!is_root_file)
        return NULL;
    switch ((int)ast->kind) {
    case BG_AST_PARAM:
        return "the param";
    case BG_AST_ENV:
        return "the env";
    case BG_AST_TOOL:
        return "the tool";
    case BG_AST_SOURCE:
        return "the source";
    case BG_AST_TEMPLATE:
        return "the template";
    case BG_AST_RELOCATE:
        return "the relocation rule";
    default:
        return NULL;
    }
}

static bool allowed(const bg_ast *body)
{
    for (uint32_t i = 0; i < body->n_kids; i++)
        if (body->kids[i] != NULL && body->kids[i]->kind == BG_AST_ALLOW && bg_str_is(body->kids[i]->text, "BG0310"))
            return true;
    return false;
}

static void check(bg_sema *s, const bg_scope *names, const bg_ast *body, bool is_file, bool is_root)
{
    bool silent = allowed(body) || (is_file && !is_root);
    for (uint32_t i = 0; i < body->n_kids; i++) {
        const bg_ast *kid = body->kids[i];
        if (kid == NULL)
            continue;
        const char *kind = kind_of(kid, is_file);
        if (kind != NULL && !silent && bg_scope_own(names, kid->text) == NULL)
            bg_diag_push(s->diags, BG_D_UNUSED, kid->name_span, 2, bg_str_of(kind), kid->text);
        bool has_body = kid->kind == BG_AST_GROUP || kid->kind == BG_AST_STAGE || kid->kind == BG_AST_CRATE ||
                        kid->kind == BG_AST_TEMPLATE;
        const bg_ast *inner = has_body ? kid->kids[kid->n_kids - 1] : NULL;
        if (inner != NULL && inner->kind == BG_AST_BODY)
            check(s, names, inner, false, is_root);
    }
}

void bg_unused_check(bg_sema *s, const bg_unit *unit)
{
    bg_scope *names = bg_scope_new(s, NULL, NULL, NULL);
    collect(s, names, unit->ast);
    check(s, names, unit->ast, true, unit == s->root);
}
