/* Scopes: small hash tables of bindings, chained outwards. */
#include "base/hash.h"
#include "sema/sema.h"

bg_scope *bg_scope_new(bg_sema *s, bg_scope *parent, bg_unit *unit, bg_node *node)
{
    bg_scope *scope = BG_NEW(s, bg_scope);
    scope->parent = parent;
    scope->unit = unit;
    scope->node = node;
    return scope;
}

static uint32_t slot_of(const bg_scope *scope, bg_str name)
{
    return (uint32_t)(bg_hash_bytes(name.ptr, name.len) & (scope->n_slots - 1));
}

bg_bind *bg_scope_own(const bg_scope *scope, bg_str name)
{
    if (scope->n_slots == 0)
        return NULL;
    for (bg_bind *b = scope->slots[slot_of(scope, name)]; b != NULL; b = b->next)
        if (bg_str_eq(b->name, name))
            return b;
    return NULL;
}

bg_bind *bg_scope_find(const bg_scope *scope, bg_str name)
{
    for (; scope != NULL; scope = scope->parent) {
        bg_bind *b = bg_scope_own(scope, name);
        if (b != NULL)
            return b;
    }
    return NULL;
}

static void rehash(bg_sema *s, bg_scope *scope)
{
    scope->n_slots = scope->n_slots == 0 ? 4 : scope->n_slots * 4;
    scope->slots = BG_ARRAY(s, scope->n_slots, bg_bind *);
    for (uint32_t i = 0; i < scope->binds.n; i++) {
        bg_bind *b = scope->binds.at[i];
        uint32_t slot = slot_of(scope, b->name);
        b->next = scope->slots[slot];
        scope->slots[slot] = b;
    }
}

bg_bind *bg_scope_add(bg_sema *s, bg_scope *scope, bg_bind_kind kind, bg_str name, bg_span span, const bg_ast *ast)
{
    bg_bind *old = bg_scope_own(scope, name);
    if (old != NULL) {
        bg_diag *d = bg_diag_push(s->diags, BG_D_DUPLICATE_NAME, span, 1, name);
        bg_diag_label_add(s->diags, d, old->span, "first declared here");
        return NULL;
    }
    bg_bind *b = BG_NEW(s, bg_bind);
    b->kind = kind;
    b->name = name;
    b->span = span;
    b->ast = ast;
    b->scope = scope;
    BG_PUSH(s, &scope->binds, b);
    if (scope->binds.n > scope->n_slots) {
        rehash(s, scope);
    } else {
        uint32_t slot = slot_of(scope, name);
        b->next = scope->slots[slot];
        scope->slots[slot] = b;
    }
    return b;
}

void bg_sema_nearest(bg_sema *s, bg_diag *diag, bg_str name, const bg_str *names, uint32_t n)
{
    bg_str near = bg_diag_nearest(name, names, n);
    if (near.len != 0)
        bg_diag_help(s->diags, diag, "did you mean `%.*s`?", BG_FMT(near));
}

void bg_scope_undefined(bg_sema *s, const bg_scope *scope, bg_str name, bg_span span)
{
    BG_LIST(bg_str) names = {0};
    for (const bg_scope *at = scope; at != NULL; at = at->parent)
        for (uint32_t i = 0; i < at->binds.n && names.n < 5000; i++)
            BG_PUSH(s, &names, at->binds.at[i]->name);
    static const char *const builtin[] = {"src", "dir", "base", "unique", "len", "has", "replace", "str", "machine"};
    for (size_t i = 0; i < sizeof builtin / sizeof *builtin; i++)
        BG_PUSH(s, &names, bg_str_of(builtin[i]));
    static const char *const in_node[] = {"out", "work", "self"};
    for (size_t i = 0; scope->node != NULL && i < sizeof in_node / sizeof *in_node; i++)
        BG_PUSH(s, &names, bg_str_of(in_node[i]));
    bg_diag *d = bg_diag_push(s->diags, BG_D_UNDEFINED_NAME, span, 1, name);
    bg_sema_nearest(s, d, name, names.at, names.n);
}
