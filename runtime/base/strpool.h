/** Interned strings: equal bytes get one id, ids count up from 1 in order of first use (0 is "none"), so
 *  output order never depends on hashing. Strings live as long as the pool. One owner. */
#ifndef BG_BASE_STRPOOL_H
#define BG_BASE_STRPOOL_H

#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

typedef struct {
    bg_arena arena;
    bg_str *strs;    /* strs[0] is empty; ids index it */
    uint32_t *slots; /* open addressing, ids */
    uint32_t n, cap, n_slots;
} bg_strpool;

void bg_strpool_clear(bg_strpool *pool);
/** Id of the bytes, made if new; 0 when memory is out. The empty string gets an id of its own, not 0. */
uint32_t bg_strpool_intern(bg_strpool *pool, bg_str s);
/** Id if it is there, else 0. */
uint32_t bg_strpool_find(const bg_strpool *pool, bg_str s);
/** Asserts a valid id. NUL-terminated. */
bg_str bg_strpool_at(const bg_strpool *pool, uint32_t id);

#endif
