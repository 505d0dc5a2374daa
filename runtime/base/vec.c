#include "base/vec.h"

#include <stdint.h>

bool bg_vec_grow(void **at, size_t *cap, size_t n, size_t size)
{
    size_t want = *cap == 0 ? 8 : *cap * 2;
    (void)n;
    if (want > SIZE_MAX / size)
        return false;
    void *p = realloc(*at, want * size);
    if (p == NULL)
        return false;
    *at = p;
    *cap = want;
    return true;
}
