#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void bg_buf_clear(bg_buf *buf)
{
    free(buf->data);
    *buf = (bg_buf){0};
}

void bg_buf_reset(bg_buf *buf)
{
    buf->len = 0;
    buf->failed = false;
    if (buf->data != NULL)
        buf->data[0] = '\0';
}

char *bg_buf_reserve(bg_buf *buf, size_t n)
{
    if (buf->failed)
        return NULL;
    if (buf->data == NULL || buf->cap - buf->len < n + 1) {
        size_t need = buf->len + n + 1;
        size_t cap = buf->cap < 64 ? 64 : buf->cap;
        if (n > SIZE_MAX / 4 || need < n) {
            buf->failed = true;
            return NULL;
        }
        while (cap < need)
            cap *= 2;
        char *p = realloc(buf->data, cap);
        if (p == NULL) {
            buf->failed = true;
            return NULL;
        }
        buf->data = p;
        buf->cap = cap;
    }
    return buf->data + buf->len;
}

void bg_buf_put(bg_buf *buf, const void *bytes, size_t n)
{
    char *p = bg_buf_reserve(buf, n);
    if (p == NULL)
        return;
    if (n != 0)
        memcpy(p, bytes, n);
    buf->len += n;
    buf->data[buf->len] = '\0';
}

void bg_buf_puts(bg_buf *buf, const char *s)
{
    bg_buf_put(buf, s, strlen(s));
}

void bg_buf_putc(bg_buf *buf, char c)
{
    bg_buf_put(buf, &c, 1);
}

void bg_buf_str(bg_buf *buf, bg_str s)
{
    bg_buf_put(buf, s.ptr, s.len);
}

void bg_buf_u32(bg_buf *buf, uint32_t v)
{
    unsigned char b[4] = {(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16),
                          (unsigned char)(v >> 24)};
    bg_buf_put(buf, b, sizeof b);
}

void bg_buf_u64(bg_buf *buf, uint64_t v)
{
    bg_buf_u32(buf, (uint32_t)v);
    bg_buf_u32(buf, (uint32_t)(v >> 32));
}

void bg_buf_vprintf(bg_buf *buf, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *p = n < 0 ? NULL : bg_buf_reserve(buf, (size_t)n);
    if (p != NULL) {
        vsnprintf(p, (size_t)n + 1, fmt, again);
        buf->len += (size_t)n;
    }
    va_end(again);
}

void bg_buf_printf(bg_buf *buf, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    bg_buf_vprintf(buf, fmt, ap);
    va_end(ap);
}

void bg_buf_json(bg_buf *buf, bg_str s)
{
    bg_buf_putc(buf, '"');
    for (size_t i = 0; i < s.len;) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c == '"' || c == '\\') {
            bg_buf_printf(buf, "\\%c", c);
            i++;
        } else if (c < 0x20 || c == 0x7f) {
            bg_buf_printf(buf, "\\u%04x", c);
            i++;
        } else {
            size_t n = bg_utf8_len(s.ptr + i, s.len - i);
            if (n == 0) {
                bg_buf_puts(buf, "\\ufffd");
                n = 1;
            } else {
                bg_buf_put(buf, s.ptr + i, n);
            }
            i += n;
        }
    }
    bg_buf_putc(buf, '"');
}

bg_str bg_buf_view(const bg_buf *buf)
{
    return (bg_str){bg_buf_cstr(buf), buf->len};
}

const char *bg_buf_cstr(const bg_buf *buf)
{
    return buf->data == NULL ? "" : buf->data;
}
