#include "base/utf8.h"

size_t bg_utf8_len(const char *s, size_t n)
{
    const unsigned char *u = (const unsigned char *)s;
    unsigned c = u[0];
    size_t len;
    unsigned lo = 0x80, hi = 0xBF; /* bounds of the second byte */
    if (c < 0x80)
        return 1;
    if (c >= 0xC2 && c <= 0xDF) {
        len = 2;
    } else if (c >= 0xE0 && c <= 0xEF) {
        len = 3;
        if (c == 0xE0)
            lo = 0xA0;
        if (c == 0xED)
            hi = 0x9F;
    } else if (c >= 0xF0 && c <= 0xF4) {
        len = 4;
        if (c == 0xF0)
            lo = 0x90;
        if (c == 0xF4)
            hi = 0x8F;
    } else {
        return 0;
    }
    if (n < len || u[1] < lo || u[1] > hi)
        return 0;
    for (size_t i = 2; i < len; i++) {
        if (u[i] < 0x80 || u[i] > 0xBF)
            return 0;
    }
    return len;
}

size_t bg_utf8_check(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n) {
        size_t len = bg_utf8_len(s + i, n - i);
        if (len == 0)
            return i;
        i += len;
    }
    return n;
}
