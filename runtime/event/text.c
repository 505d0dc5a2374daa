#include "event/text.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/utf8.h"

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)
#define REPLACEMENT 0xfffdu

typedef struct {
    uint32_t first, last;
} range;

static const range zero_width[] = {
    {0x0300, 0x036f}, {0x200b, 0x200d}, {0x20d0, 0x20f0}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff},
};
static const range double_width[] = {
    {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xac00, 0xd7a3},
    {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
    {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};
static const range reordering[] = {
    {0x061c, 0x061c},
    {0x200e, 0x200f},
    {0x2028, 0x202e},
    {0x2066, 0x2069},
};

static bool is_in(uint32_t c, const range *ranges, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    }
    return false;
}
#define IN(c, ranges) is_in((c), (ranges), sizeof(ranges) / sizeof *(ranges))

uint32_t bg_text_decode(const char *s, size_t len, size_t *n)
{
    size_t k = bg_utf8_len(s, len);
    *n = k == 0 ? 1 : k;
    unsigned char b = (unsigned char)s[0];
    if (k == 0)
        return REPLACEMENT;
    uint32_t c = k == 1 ? b : k == 2 ? b & 0x1fu : k == 3 ? b & 0x0fu : b & 0x07u;
    for (size_t i = 1; i < k; i++)
        c = c << 6 | ((unsigned char)s[i] & 0x3fu);
    return c;
}

static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

static size_t columns_of(uint32_t c)
{
    if (c < 0x300)
        return 1;
    return IN(c, zero_width) ? 0 : IN(c, double_width) ? 2 : 1;
}

size_t bg_text_width(bg_str s)
{
    size_t columns = 0;
    for (size_t i = 0, n; i < s.len; i += n) {
        uint32_t c = bg_text_decode(s.ptr + i, s.len - i, &n);
        columns += IN(c, reordering) ? 0 : columns_of(c);
    }
    return columns;
}

static void put_point(bg_buf *out, uint32_t c, const char *bytes, size_t n)
{
    if (is_control(c))
        bg_buf_putc(out, ' ');
    else if (c == REPLACEMENT)
        bg_buf_puts(out, "\xef\xbf\xbd");
    else if (!IN(c, reordering))
        bg_buf_put(out, bytes, n);
}

void bg_text_line(bg_buf *out, bg_str s)
{
    for (size_t i = 0, n; i < s.len; i += n) {
        uint32_t c = bg_text_decode(s.ptr + i, s.len - i, &n);
        put_point(out, c, s.ptr + i, n);
    }
}

void bg_text_cut(bg_buf *out, bg_str s, size_t columns)
{
    if (bg_text_width(s) <= columns) {
        bg_text_line(out, s);
        return;
    }
    size_t used = 0;
    for (size_t i = 0, n; i < s.len && columns != 0; i += n) {
        uint32_t c = bg_text_decode(s.ptr + i, s.len - i, &n);
        used += columns_of(c);
        if (used >= columns)
            break;
        put_point(out, c, s.ptr + i, n);
    }
    if (columns != 0)
        bg_buf_puts(out, "\xe2\x80\xa6");
}

void bg_text_pad(bg_buf *out, size_t n_spaces)
{
    for (size_t i = 0; i < n_spaces; i++)
        bg_buf_putc(out, ' ');
}

void bg_text_seconds(bg_buf *out, uint64_t ns)
{
    uint64_t hundredths = ns / (10 * NS_PER_MS) + (ns % (10 * NS_PER_MS) >= 5 * NS_PER_MS);
    bg_buf_printf(out, "%" PRIu64 ".%02u", hundredths / 100, (unsigned)(hundredths % 100));
}

void bg_text_duration(bg_buf *out, uint64_t ns)
{
    if (ns < NS_PER_S) {
        bg_buf_printf(out, "%" PRIu64 " ms", ns / NS_PER_MS);
        return;
    }
    uint64_t s = ns / NS_PER_S;
    unsigned seconds = (unsigned)(s % 60), minutes = (unsigned)(s / 60 % 60);
    if (s < 60)
        bg_buf_printf(out, "%u.%us", seconds, (unsigned)(ns % NS_PER_S / (100 * NS_PER_MS)));
    else if (s < 3600)
        bg_buf_printf(out, "%um %us", minutes, seconds);
    else
        bg_buf_printf(out, "%" PRIu64 "h %um %us", s / 3600, minutes, seconds);
}

void bg_text_size(bg_buf *out, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    uint64_t whole = bytes, rest = 0;
    while (whole >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        rest = whole % 1024;
        whole /= 1024;
        unit++;
    }
    if (unit == 0)
        bg_buf_printf(out, "%" PRIu64 " B", whole);
    else
        bg_buf_printf(out, "%" PRIu64 ".%u %s", whole, (unsigned)(rest * 10 / 1024), units[unit]);
}
