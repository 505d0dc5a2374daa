/* Comprehensions: loops over lists whose shape is known when compiled. */
#include "sema/sema.h"

enum { MAX_CLAUSES = 32 };

typedef struct {
    const bg_ast *ast;
    BG_LIST(bg_val *) items;
    bool bad;
} comp;

static void step(bg_sema *s, bg_scope *scope, comp *c, uint32_t clause);

static void step_for(bg_sema *s, bg_scope *scope, comp *c, uint32_t clause)
{
    const bg_ast *ast = c->ast->kids[clause];
    bg_val *list = bg_type_want(s, bg_eval(s, scope, ast->kids[0]), BG_TYPE_LIST, "what a comprehension runs over");
    list = bg_known_list(s, list, "the list of a comprehension");
    c->bad = c->bad || list->kind == BG_VAL_ERROR;
    for (uint32_t i = 0; i < list->n && !c->bad; i++) {
        bg_scope *inner = bg_scope_new(s, scope, scope->unit, scope->node);
        bg_bind *bind = bg_scope_add(s, inner, BG_BIND_VAR, ast->text, ast->name_span, ast);
        bind->state = BG_STATE_DONE;
        bind->val = list->kids[i];
        bg_sema_step(s, ast->span, 1);
        step(s, inner, c, clause + 1);
    }
}

static void step_if(bg_sema *s, bg_scope *scope, comp *c, uint32_t clause)
{
    const bg_ast *ast = c->ast->kids[clause];
    bg_val *v = bg_type_want(s, bg_eval(s, scope, ast->kids[0]), BG_TYPE_BOOL, "the condition of a comprehension");
    v = bg_known(s, v, "the condition of a comprehension");
    if (v->kind == BG_VAL_ERROR)
        c->bad = true;
    else if (v->i != 0)
        step(s, scope, c, clause + 1);
}

static void step(bg_sema *s, bg_scope *scope, comp *c, uint32_t clause)
{
    if (clause < c->ast->n_kids) {
        const bg_ast *ast = c->ast->kids[clause];
        if (ast->kind == BG_AST_FOR)
            step_for(s, scope, c, clause);
        else if (ast->kind == BG_AST_IF_CLAUSE)
            step_if(s, scope, c, clause);
        else
            c->bad = true;
        return;
    }
    bg_val *v = bg_eval(s, scope, c->ast->kids[0]);
    c->bad = c->bad || v->kind == BG_VAL_ERROR;
    BG_PUSH(s, &c->items, v);
    if (c->items.n > BG_LIMIT_ITEMS)
        bg_sema_limit(s, c->ast->span, "items of a list", BG_LIMIT_ITEMS);
}

bg_val *bg_eval_comp(bg_sema *s, bg_scope *scope, const bg_ast *ast)
{
    comp c = {.ast = ast};
    if (ast->n_kids > MAX_CLAUSES)
        bg_sema_limit(s, ast->span, "clauses of a comprehension", MAX_CLAUSES);
    step(s, scope, &c, 1);
    return c.bad ? s->error : bg_eval_list(s, c.items.at, c.items.n, ast->span);
}
