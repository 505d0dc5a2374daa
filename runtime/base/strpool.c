#include "base/strpool.h"

#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"

void bg_strpool_clear(bg_strpool *pool)
{
    bg_arena_clear(&pool->arena);
    free(pool->strs);
    free(pool->slots);
    *pool = (bg_strpool){0};
}

static uint32_t *slot_of(const bg_strpool *pool, bg_str s)
{
    uint32_t mask = pool->n_slots - 1;
    uint32_t i = (uint32_t)bg_hash_bytes(s.ptr, s.len) & mask;
    while (pool->slots[i] != 0 && !bg_str_eq(pool->strs[pool->slots[i]], s))
        i = (i + 1) & mask;
    return &pool->slots[i];
}

static bool rehash(bg_strpool *pool, uint32_t n_slots)
{
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (slots == NULL)
        return false;
    free(pool->slots);
    pool->slots = slots;
    pool->n_slots = n_slots;
    for (uint32_t id = 1; id <= pool->n; id++)
        *slot_of(pool, pool->strs[id]) = id;
    return true;
}

uint32_t bg_strpool_intern(bg_strpool *pool, bg_str s)
{
    if ((pool->n + 1) * 2 > pool->n_slots && !rehash(pool, pool->n_slots ? pool->n_slots * 2 : 64))
        return 0;
    uint32_t *slot = slot_of(pool, s);
    if (*slot != 0)
        return *slot;
    if (pool->n + 2 > pool->cap) {
        uint32_t cap = pool->cap ? pool->cap * 2 : 64;
        bg_str *strs = realloc(pool->strs, cap * sizeof *strs);
        if (strs == NULL)
            return 0;
        pool->strs = strs;
        pool->cap = cap;
        pool->strs[0] = (bg_str){"", 0};
    }
    char *copy = bg_arena_strdup(&pool->arena, s.ptr, s.len);
    if (copy == NULL)
        return 0;
    pool->strs[++pool->n] = (bg_str){copy, s.len};
    *slot = pool->n;
    return pool->n;
}

uint32_t bg_strpool_find(const bg_strpool *pool, bg_str s)
{
    return pool->n_slots == 0 ? 0 : *slot_of(pool, s);
}

bg_str bg_strpool_at(const bg_strpool *pool, uint32_t id)
{
    assert(id != 0 && id <= pool->n);
    return pool->strs[id];
}
