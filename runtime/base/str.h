/** Borrowed byte string: pointer and length, not necessarily NUL-terminated. Plain value. */
#ifndef BG_BASE_STR_H
#define BG_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct {
    const char *ptr;
    size_t len;
} bg_str;

#define BG_STR(literal) ((bg_str){(literal), sizeof(literal) - 1})
/** For printf's "%.*s". */
#define BG_FMT(s) (int)(s).len, (s).ptr == NULL ? "" : (s).ptr

static inline bg_str bg_str_of(const char *c)
{
    return (bg_str){c, c == NULL ? 0 : strlen(c)};
}
static inline bool bg_str_eq(bg_str a, bg_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}
static inline bool bg_str_is(bg_str a, const char *c)
{
    return bg_str_eq(a, bg_str_of(c));
}
static inline int bg_str_cmp(bg_str a, bg_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int c = n == 0 ? 0 : memcmp(a.ptr, b.ptr, n);
    return c != 0 ? c : (a.len > b.len) - (a.len < b.len);
}
static inline bool bg_str_starts(bg_str s, bg_str prefix)
{
    return s.len >= prefix.len && (prefix.len == 0 || memcmp(s.ptr, prefix.ptr, prefix.len) == 0);
}

#endif
