#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16, BLOCK_BYTES = 64 * 1024 };

struct bg_arena_block {
    bg_arena_block *next;
    size_t used, size;
    _Alignas(16) unsigned char data[];
};

void bg_arena_clear(bg_arena *arena)
{
    bg_arena_block *b = arena->head;
    while (b != NULL) {
        bg_arena_block *next = b->next;
        free(b);
        b = next;
    }
    arena->head = NULL;
    arena->used_bytes = 0;
}

static bg_arena_block *add_block(bg_arena *arena, size_t need)
{
#ifdef BG_DEBUG_ARENA
    size_t size = need;
#else
    size_t size = need > BLOCK_BYTES ? need : BLOCK_BYTES;
#endif
    bg_arena_block *b = malloc(sizeof *b + size);
    if (b == NULL)
        return NULL;
    b->used = 0;
    b->size = size;
    if (need > BLOCK_BYTES && arena->head != NULL) { /* keep filling the current block */
        b->next = arena->head->next;
        arena->head->next = b;
    } else {
        b->next = arena->head;
        arena->head = b;
    }
    return b;
}

void *bg_arena_alloc(bg_arena *arena, size_t size_bytes)
{
    if (size_bytes > SIZE_MAX / 2)
        return NULL;
    size_t need = (size_bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (need == 0)
        need = ALIGN;
    bg_arena_block *b = arena->head;
    if (b == NULL || b->size - b->used < need) {
        b = add_block(arena, need);
        if (b == NULL)
            return NULL;
    }
    void *p = b->data + b->used;
    b->used += need;
    arena->used_bytes += need;
    memset(p, 0, need);
    return p;
}

void *bg_arena_array(bg_arena *arena, size_t n, size_t size_bytes)
{
    if (size_bytes != 0 && n > SIZE_MAX / 2 / size_bytes)
        return NULL;
    return bg_arena_alloc(arena, n * size_bytes);
}

char *bg_arena_strdup(bg_arena *arena, const char *bytes, size_t n)
{
    char *s = bg_arena_alloc(arena, n + 1);
    if (s != NULL && n != 0)
        memcpy(s, bytes, n);
    return s;
}

char *bg_arena_printf(bg_arena *arena, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *s = n < 0 ? NULL : bg_arena_alloc(arena, (size_t)n + 1);
    if (s != NULL)
        vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    return s;
}
