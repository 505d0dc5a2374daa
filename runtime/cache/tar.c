/* ustar headers with pax extensions (POSIX.1-2001, "ustar Interchange Format" and "pax Interchange Format"). */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cache/pack.h"

enum { BLOCK = 512, MTIME = 315532800 /* 1980-01-01: the earliest that zip, too, can hold */ };

static void octal(char *field, size_t n, uint64_t v)
{
    field[n - 1] = '\0';
    for (size_t i = n - 1; i-- > 0; v >>= 3)
        field[i] = (char)('0' + (v & 7));
}

static void block(bg_buf *out, bg_str name, char type, uint32_t mode, uint64_t size, bg_str link)
{
    char h[BLOCK] = {0};
    memcpy(h, name.ptr, name.len < 100 ? name.len : 100);
    octal(h + 100, 8, mode);
    octal(h + 108, 8, 0);
    octal(h + 116, 8, 0);
    octal(h + 124, 12, size);
    octal(h + 136, 12, MTIME);
    memset(h + 148, ' ', 8);
    h[156] = type;
    if (link.len != 0)
        memcpy(h + 157, link.ptr, link.len < 100 ? link.len : 100);
    memcpy(h + 257, "ustar\00000", 8);
    unsigned sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        sum += (unsigned char)h[i];
    octal(h + 148, 7, sum);
    h[155] = ' ';
    bg_buf_put(out, h, BLOCK);
}

/* "LENGTH key=value\n", where LENGTH counts itself. */
static void record(bg_buf *out, const char *key, bg_str value)
{
    size_t rest = 1 + strlen(key) + 1 + value.len + 1, n = rest + 1, digits;
    do {
        digits = (size_t)snprintf(NULL, 0, "%zu", n);
        if (rest + digits == n)
            break;
        n = rest + digits;
    } while (true);
    bg_buf_printf(out, "%zu %s=", n, key);
    bg_buf_str(out, value);
    bg_buf_putc(out, '\n');
}

static void pad(bg_buf *out, size_t n)
{
    static const char zero[BLOCK];
    bg_buf_put(out, zero, (BLOCK - n % BLOCK) % BLOCK);
}

void bg_tar_header(bg_buf *out, const bg_member *member, const bg_member *first_of_link)
{
    bool is_dir = S_ISDIR(member->mode), is_link = S_ISLNK(member->mode);
    bg_str link = first_of_link != NULL ? first_of_link->path : is_link ? member->link : (bg_str){"", 0};
    uint64_t size = first_of_link != NULL ? 0 : member->size;
    bg_buf pax = {0}, name = {0};
    bg_buf_str(&name, member->path);
    if (is_dir)
        bg_buf_putc(&name, '/');
    if (name.len > 100)
        record(&pax, "path", bg_buf_view(&name));
    if (link.len > 100)
        record(&pax, "linkpath", link);
    if (size >> 33 != 0) {
        char digits[24];
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)size);
        record(&pax, "size", bg_str_of(digits));
    }
    if (pax.len != 0) {
        block(out, BG_STR("pax"), 'x', 0644, pax.len, (bg_str){"", 0});
        bg_buf_put(out, pax.data, pax.len);
        pad(out, pax.len);
    }
    char type = first_of_link != NULL ? '1' : is_link ? '2' : is_dir ? '5' : '0';
    block(out, bg_buf_view(&name), type, member->mode & 0777, size >> 33 != 0 ? 0 : size, link);
    out->failed |= pax.failed || name.failed;
    bg_buf_clear(&pax);
    bg_buf_clear(&name);
}
