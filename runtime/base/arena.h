/** Bump allocator: one arena a lifetime, everything in it dies together. Not thread-safe; one owner.
 *  With BG_DEBUG_ARENA each allocation is separate, so that ASan sees overruns. */
#ifndef BG_BASE_ARENA_H
#define BG_BASE_ARENA_H

#include <stddef.h>

typedef struct bg_arena_block bg_arena_block;
typedef struct {
    bg_arena_block *head;
    size_t used_bytes; /* handed out in all */
} bg_arena;

/** `{0}` is a valid empty arena. Clearing twice is fine. */
void bg_arena_clear(bg_arena *arena);
/** 16-byte aligned, zeroed; NULL when memory is out. Valid until the arena is cleared. */
void *bg_arena_alloc(bg_arena *arena, size_t size_bytes);
/** n * size with an overflow check. */
void *bg_arena_array(bg_arena *arena, size_t n, size_t size_bytes);
/** NUL-terminated copy of n bytes. */
char *bg_arena_strdup(bg_arena *arena, const char *bytes, size_t n);
char *bg_arena_printf(bg_arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define BG_ARENA_NEW(arena, type) ((type *)bg_arena_alloc((arena), sizeof(type)))
#define BG_ARENA_ARRAY(arena, n, type) ((type *)bg_arena_array((arena), (n), sizeof(type)))

#endif
