/** Typed growable array as a macro over one function. `{0}` is empty; failed growth returns false and
 *  leaves the vector as it was. One owner.
 *      BG_VEC(uint32_t) ids = {0};  if (!BG_VEC_PUSH(&ids, 7)) ...;  BG_VEC_CLEAR(&ids); */
#ifndef BG_BASE_VEC_H
#define BG_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define BG_VEC(type)                                                                               \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t n, cap;                                                                             \
    }

/** Make room for one more item of `size` bytes. */
bool bg_vec_grow(void **at, size_t *cap, size_t n, size_t size);

#define BG_VEC_PUSH(v, item)                                                                       \
    (((v)->n < (v)->cap || bg_vec_grow((void **)&(v)->at, &(v)->cap, (v)->n, sizeof *(v)->at))     \
         ? ((v)->at[(v)->n++] = (item), true)                                                      \
         : false)
#define BG_VEC_CLEAR(v) (free((v)->at), (v)->at = NULL, (v)->n = 0, (v)->cap = 0)

#endif
