/* Memory, limits and values of the middle of the compiler. */
#include "sema/sema.h"

#include <stdio.h>

#include "base/hash.h"

static void check_memory(bg_sema *s)
{
    if (s->arena->used_bytes > BG_LIMIT_BYTES)
        bg_sema_limit(s, (bg_span){0, 0, 0}, "bytes of memory", BG_LIMIT_BYTES);
}

void *bg_sema_new(bg_sema *s, size_t n, size_t size)
{
    check_memory(s);
    void *p = bg_arena_array(s->arena, n == 0 ? 1 : n, size);
    if (p == NULL) {
        s->status = BG_E_NOMEM;
        longjmp(s->escape, 1);
    }
    return p;
}

void *bg_sema_grow(bg_sema *s, void *at, uint32_t *cap, size_t size)
{
    uint32_t bigger = *cap == 0 ? 4 : *cap + *cap / 2 + 1;
    if (bigger < *cap)
        bg_sema_limit(s, (bg_span){0, 0, 0}, "items", UINT32_MAX);
    void *p = bg_sema_new(s, bigger, size);
    if (*cap != 0)
        memcpy(p, at, *cap * size);
    *cap = bigger;
    return p;
}

bg_str bg_sema_printf(bg_sema *s, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        n = 0;
    char *p = bg_sema_new(s, (size_t)n + 1, 1);
    (void)vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return (bg_str){p, (size_t)n};
}

_Noreturn void bg_sema_limit(bg_sema *s, bg_span span, const char *what, uint64_t limit)
{
    char number[32];
    (void)snprintf(number, sizeof number, "%llu", (unsigned long long)limit);
    bg_diag_push(s->diags, BG_D_LIMIT, span, 2, bg_str_of(what), bg_str_of(number));
    s->status = BG_E_DIAGNOSED;
    longjmp(s->escape, 1);
}

void bg_sema_step(bg_sema *s, bg_span span, uint64_t n)
{
    s->steps += n;
    if (s->steps > BG_LIMIT_STEPS)
        bg_sema_limit(s, span, "steps of evaluation", BG_LIMIT_STEPS);
}

bg_val *bg_val_new(bg_sema *s, bg_val_kind kind, bg_type_kind type, bg_span span)
{
    bg_val *v = BG_NEW(s, bg_val);
    v->kind = kind;
    v->type = type;
    v->span = span;
    v->known = kind < BG_VAL_PARAM;
    v->depth = 1;
    v->weight = 1;
    return v;
}

bg_val *bg_val_str(bg_sema *s, bg_str str, bg_span span)
{
    bg_val *v = bg_val_new(s, BG_VAL_STR, BG_TYPE_STR, span);
    v->str = str;
    if (str.len / 16 > BG_LIMIT_WEIGHT)
        bg_sema_limit(s, span, "size of a value", BG_LIMIT_WEIGHT);
    v->weight += (uint32_t)(str.len / 16);
    return v;
}

bg_val *bg_val_int(bg_sema *s, int64_t i, bg_type_kind type, bg_span span)
{
    bg_val *v = bg_val_new(s, BG_VAL_INT, type, span);
    v->i = i;
    return v;
}

bg_val *bg_val_bool(bg_sema *s, bool b, bg_span span)
{
    bg_val *v = bg_val_new(s, BG_VAL_BOOL, BG_TYPE_BOOL, span);
    v->i = b;
    return v;
}

bg_val *bg_val_path(bg_sema *s, bg_root_kind root, void *of, bg_out *early, bg_str rel, bg_span span)
{
    bg_type_kind type = root == BG_ROOT_PROD && rel.len == 0 ? BG_TYPE_PRODUCT : BG_TYPE_PATH;
    bg_val *v = bg_val_new(s, BG_VAL_PATH, type, span);
    v->i = (int64_t)root;
    v->ref = of;
    v->early = early;
    v->str = rel;
    return v;
}

bg_val *bg_val_ref(bg_sema *s, bg_val_kind kind, bg_type_kind type, void *ref, bg_span span)
{
    bg_val *v = bg_val_new(s, kind, type, span);
    v->ref = ref;
    return v;
}

bg_val *bg_val_op(bg_sema *s, bg_val_kind kind, bg_type_kind type, bg_val *const *kids, uint32_t n, bg_span span)
{
    bg_val *v = bg_val_new(s, kind, type, span);
    uint64_t weight = 1;
    for (uint32_t i = 0; i < n; i++) {
        if (kids[i]->kind == BG_VAL_ERROR && kind != BG_VAL_MAP)
            return s->error;
        weight += kids[i]->weight;
        if (kids[i]->depth >= v->depth)
            v->depth = kids[i]->depth + 1;
        v->known = v->known && kids[i]->known;
    }
    if (weight > BG_LIMIT_WEIGHT)
        bg_sema_limit(s, span, "size of a value", BG_LIMIT_WEIGHT);
    if (v->depth > BG_LIMIT_VALUE_DEPTH)
        bg_sema_limit(s, span, "nesting of a value", BG_LIMIT_VALUE_DEPTH);
    v->weight = (uint32_t)weight;
    v->n = n;
    v->kids = kids;
    return v;
}

bg_val *bg_val_op1(bg_sema *s, bg_val_kind kind, bg_type_kind type, bg_val *a, bg_span span)
{
    bg_val **kids = BG_ARRAY(s, 1, bg_val *);
    kids[0] = a;
    return bg_val_op(s, kind, type, kids, 1, span);
}

bg_val *bg_val_op2(bg_sema *s, bg_val_kind kind, bg_type_kind type, bg_val *a, bg_val *b, bg_span span)
{
    bg_val **kids = BG_ARRAY(s, 2, bg_val *);
    kids[0] = a;
    kids[1] = b;
    return bg_val_op(s, kind, type, kids, 2, span);
}

bg_val *bg_val_at(bg_sema *s, const bg_val *v, bg_span span)
{
    if (v->kind == BG_VAL_ERROR)
        return s->error;
    bg_val *copy = BG_NEW(s, bg_val);
    *copy = *v;
    copy->span = span;
    return copy;
}

bg_str bg_val_describe(const bg_val *v)
{
    static const char *const names[BG_TYPE_COUNT] = {
        "an error",  "any value", "a string", "an integer", "a bool", "a duration", "a size", "a path",  "a list",    "a map",
        "an enum value", "a node", "a product", "a tool",   "a source", "a group",  "a module", "a template", "a relocation rule"};
    return bg_str_of(names[v->type]);
}

bool bg_val_same(const bg_val *a, const bg_val *b)
{
    if (a->kind != b->kind || a->n != b->n || a->ref != b->ref || a->i != b->i || a->early != b->early ||
        !bg_str_eq(a->str, b->str))
        return false;
    if (a->kind == BG_VAL_INT && a->type != b->type)
        return false;
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->keys != NULL && !bg_str_eq(a->keys[i], b->keys[i]))
            return false;
        if (!bg_val_same(a->kids[i], b->kids[i]))
            return false;
    }
    return true;
}

uint64_t bg_val_hash(const bg_val *v)
{
    uint64_t h[5] = {(uint64_t)v->kind, (uint64_t)v->i, v->str.len == 0 ? 0 : bg_hash_bytes(v->str.ptr, v->str.len),
                     (uint64_t)(uintptr_t)v->ref, v->n};
    uint64_t sum = bg_hash_bytes(h, sizeof h);
    for (uint32_t i = 0; i < v->n; i++)
        sum = sum * 31 + bg_val_hash(v->kids[i]);
    return sum;
}
