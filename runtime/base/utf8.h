/** UTF-8 validation, per RFC 3629 (no surrogates, no overlong forms, at most U+10FFFF). Pure. */
#ifndef BG_BASE_UTF8_H
#define BG_BASE_UTF8_H

#include <stddef.h>

/** Bytes of the valid sequence at s (1-4), or 0 if it is invalid or cut off. n > 0. */
size_t bg_utf8_len(const char *s, size_t n);
/** Offset of the first invalid byte, or n if all is valid. */
size_t bg_utf8_check(const char *s, size_t n);

#endif
