#include "diag/window.h"

#include "base/utf8.h"

enum { CELLS_MAX = 100, CELLS_BEFORE = 40, BYTES_BEFORE = 400, TAB = 4 };

typedef struct {
    uint32_t first, last;
} range;

/* Zero width: combining marks, joiners, variation selectors. */
static const range zero[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
                             {0x6d6, 0x6dc},   {0x93c, 0x93c},   {0x941, 0x948},   {0x94d, 0x94d},   {0xe31, 0xe31},
                             {0xe34, 0xe3a},   {0xe47, 0xe4e},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
                             {0x202a, 0x202e}, {0x2060, 0x2069}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
                             {0xfeff, 0xfeff}, {0xe0100, 0xe01ef}};
/* Two cells: East Asian wide and emoji. */
static const range wide[] = {{0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},
                             {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26aa, 0x26ab},
                             {0x26bd, 0x26be},   {0x26c4, 0x26c5},   {0x2705, 0x2705},   {0x270a, 0x270b},
                             {0x2728, 0x2728},   {0x274c, 0x274c},   {0x2753, 0x2757},   {0x2795, 0x2797},
                             {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2e80, 0x303e},   {0x3041, 0x33ff},
                             {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xa960, 0xa97f},
                             {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                             {0xffe0, 0xffe6},   {0x16fe0, 0x18cff}, {0x1b000, 0x1b2ff}, {0x1f004, 0x1f004},
                             {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320},
                             {0x1f32d, 0x1f335}, {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca},
                             {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f43e},
                             {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f567},
                             {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f},
                             {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d7}, {0x1f6eb, 0x1f6ec},
                             {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7eb}, {0x1f90c, 0x1f9ff}, {0x1fa70, 0x1faff},
                             {0x20000, 0x3fffd}};

static int is_in(const range *ranges, size_t n, uint32_t c)
{
    for (size_t i = 0; i < n && ranges[i].first <= c; i++)
        if (c <= ranges[i].last)
            return 1;
    return 0;
}

static uint32_t decode(const char *s, size_t n)
{
    const unsigned char *p = (const unsigned char *)s;
    uint32_t c = n == 1 ? p[0] : p[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++)
        c = c << 6 | (p[i] & 0x3fu);
    return c;
}

/* Put one character; returns its cells. Bidirectional and other invisible controls would let the line show something else. */
static uint32_t put_char(const char *s, size_t n, uint32_t cell, bg_buf *out)
{
    uint32_t c = decode(s, n);
    if (c == '\t') {
        uint32_t cells = TAB - cell % TAB;
        bg_buf_put(out, "    ", cells);
        return cells;
    }
    int hidden = c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
    if (hidden) {
        bg_buf_puts(out, "\xef\xbf\xbd"); /* U+FFFD */
        return 1;
    }
    bg_buf_put(out, s, n);
    if (c < 0x300)
        return 1;
    if (is_in(zero, sizeof zero / sizeof zero[0], c))
        return 0;
    return is_in(wide, sizeof wide / sizeof wide[0], c) ? 2 : 1;
}

static size_t char_len(bg_str line, size_t i)
{
    size_t n = bg_utf8_len(line.ptr + i, line.len - i);
    return n == 0 ? 1 : n;
}

static int continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Where to start so that about CELLS_BEFORE characters come before `offset`; 0 if the whole line fits. */
static size_t window_start(bg_str line, size_t offset)
{
    if (line.len <= CELLS_MAX || offset <= CELLS_BEFORE)
        return 0;
    size_t start = offset, chars = 0;
    while (start > 0 && chars < CELLS_BEFORE && offset - start < BYTES_BEFORE) {
        start--;
        chars += !continues(line.ptr[start]);
    }
    while (start > 0 && start < line.len && continues(line.ptr[start]))
        start--;
    return start;
}

bg_window bg_window_put(bg_str line, uint32_t offset, uint32_t len, bg_buf *out)
{
    if (line.len > 0 && line.ptr[line.len - 1] == '\r')
        line.len--;
    size_t at = offset < line.len ? offset : line.len, end = len < line.len - at ? at + len : line.len;
    size_t i = window_start(line, at);
    uint32_t cell = 0;
    if (i > 0) {
        bg_buf_puts(out, "…");
        cell = 1;
    }
    bg_window window = {cell, 0};
    uint32_t caret_end = cell;
    for (; i < line.len && cell < CELLS_MAX; i += char_len(line, i)) {
        if (i <= at)
            window.caret = cell;
        cell += put_char(line.ptr + i, char_len(line, i), cell, out);
        if (i < end)
            caret_end = cell;
    }
    if (i >= line.len && at == line.len)
        window.caret = cell;
    if (i < line.len)
        bg_buf_puts(out, "…");
    window.caret_len = caret_end > window.caret ? caret_end - window.caret : 1;
    return window;
}
