/** Growable byte buffer, always NUL-terminated once it holds anything. A failed growth is sticky: later
 *  appends do nothing and `failed` stays set, so a caller checks once at the end. One owner. */
#ifndef BG_BASE_BUF_H
#define BG_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

typedef struct {
    char *data; /* NULL or NUL-terminated at data[len] */
    size_t len, cap;
    bool failed;
} bg_buf;

void bg_buf_clear(bg_buf *buf);             /* frees */
void bg_buf_reset(bg_buf *buf);             /* keeps the memory, empties, clears `failed` */
char *bg_buf_reserve(bg_buf *buf, size_t n); /* room for n more bytes, or NULL; does not change len */
void bg_buf_put(bg_buf *buf, const void *bytes, size_t n);
void bg_buf_puts(bg_buf *buf, const char *s);
void bg_buf_putc(bg_buf *buf, char c);
void bg_buf_str(bg_buf *buf, bg_str s);
void bg_buf_u32(bg_buf *buf, uint32_t v); /* little-endian */
void bg_buf_u64(bg_buf *buf, uint64_t v);
void bg_buf_printf(bg_buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void bg_buf_vprintf(bg_buf *buf, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/** JSON string literal with quotes; invalid UTF-8 bytes become U+FFFD. */
void bg_buf_json(bg_buf *buf, bg_str s);
bg_str bg_buf_view(const bg_buf *buf);
/** Never NULL: "" when empty. */
const char *bg_buf_cstr(const bg_buf *buf);

#endif
