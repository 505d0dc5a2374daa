/* Values of literals: numbers with units, and strings with escapes, interpolation and the indent of block strings. */
#include "syntax/build.h"

enum { TAIL_MAX = 24 };

static bg_ast *leaf(bg_builder *b, bg_ast_kind kind, bg_span span)
{
    return bg_build_node(b, kind, span, NULL, NULL, NULL);
}

/* Digits at the start of `text`; *end gets their number. False: past INT64_MAX. */
static bool read_digits(bg_str text, int64_t *value, size_t *end)
{
    bool fits = true;
    size_t i = 0;
    *value = 0;
    for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++) {
        int digit = text.ptr[i] - '0';
        if (*value > (INT64_MAX - digit) / 10)
            fits = false;
        if (fits)
            *value = *value * 10 + digit;
    }
    *end = i;
    return fits;
}

static void overflow(bg_builder *b, bg_token t)
{
    bg_str text = bg_build_token_text(b, t);
    if (text.len > 2 * TAIL_MAX)
        text.len = 2 * TAIL_MAX;
    bg_diag *diag = bg_diag_push(b->diags, BG_D_INT_OVERFLOW, bg_build_span(b, t), 1, text);
    bg_diag_help(b->diags, diag, "integers are at most 9223372036854775807, also as nanoseconds or bytes");
}

bg_ast *bg_build_int(bg_builder *b, bg_token t)
{
    bg_ast *node = leaf(b, BG_AST_INT, bg_build_span(b, t));
    size_t end;
    if (!t.synthetic && !read_digits(bg_build_token_text(b, t), &node->ival, &end))
        overflow(b, t);
    return node;
}

static const struct {
    bg_str name;
    bg_ast_kind kind;
    int64_t scale;
} units[] = {
    {{"ms", 2}, BG_AST_DURATION, 1000000},
    {{"s", 1}, BG_AST_DURATION, 1000000000},
    {{"m", 1}, BG_AST_DURATION, 60 * 1000000000LL},
    {{"h", 1}, BG_AST_DURATION, 3600 * 1000000000LL},
    {{"B", 1}, BG_AST_SIZE, 1},
    {{"KiB", 3}, BG_AST_SIZE, 1LL << 10},
    {{"MiB", 3}, BG_AST_SIZE, 1LL << 20},
    {{"GiB", 3}, BG_AST_SIZE, 1LL << 30},
    {{"TiB", 3}, BG_AST_SIZE, 1LL << 40},
};
enum { N_UNITS = sizeof units / sizeof units[0] };

static void unknown_unit(bg_builder *b, bg_token t, bg_str unit, size_t n_digits)
{
    bg_str names[N_UNITS];
    for (uint32_t i = 0; i < N_UNITS; i++)
        names[i] = units[i].name;
    bg_span span = {b->file, t.offset + (uint32_t)n_digits, t.len - (uint32_t)n_digits};
    if (unit.len > 2 * TAIL_MAX)
        unit.len = 2 * TAIL_MAX;
    bg_diag *diag = bg_diag_push(b->diags, BG_D_UNKNOWN_UNIT, span, 1, unit);
    bg_str near = {0};
    if (unit.len == 2 && (unit.ptr[1] | 0x20) == 'b') /* GB */
        for (uint32_t i = 0; i < N_UNITS; i++)
            if (names[i].len == 3 && (names[i].ptr[0] | 0x20) == (unit.ptr[0] | 0x20))
                near = names[i];
    if (near.len == 0)
        near = bg_diag_nearest(unit, names, N_UNITS);
    if (near.len != 0)
        bg_diag_help(b->diags, diag, "did you mean `%.*s%.*s`?", (int)(n_digits < 40 ? n_digits : 40),
                     b->source->text.ptr + t.offset, BG_FMT(near));
    else
        bg_diag_help(b->diags, diag, "durations: ms s m h; sizes: B KiB MiB GiB TiB; a name can't start with a digit");
}

bg_ast *bg_build_unit(bg_builder *b, bg_token t)
{
    bg_str text = bg_build_token_text(b, t);
    int64_t value;
    size_t end;
    bool fits = read_digits(text, &value, &end);
    bg_str unit = {text.ptr + end, text.len - end};
    for (uint32_t i = 0; i < N_UNITS; i++) {
        if (!bg_str_eq(units[i].name, unit))
            continue;
        bg_ast *node = leaf(b, units[i].kind, bg_build_span(b, t));
        if (fits && value <= INT64_MAX / units[i].scale)
            node->ival = value * units[i].scale;
        else
            overflow(b, t);
        return node;
    }
    unknown_unit(b, t, unit, end);
    return leaf(b, BG_AST_ERROR, bg_build_span(b, t));
}

/* A list of at most one part. */
static bg_ast *string_of(bg_builder *b, bg_span span, bg_ast *part)
{
    bg_token none = {.offset = span.offset, .len = span.len};
    bg_ast_list *list = part != NULL ? bg_build_append(b, NULL, part) : NULL;
    return bg_build_list(b, BG_AST_STRING, none, list, none);
}

bg_ast *bg_build_raw(bg_builder *b, bg_token t)
{
    bg_str text = bg_build_token_text(b, t); /* r"…", the last quote missing if that was diagnosed */
    bool closed = text.len >= 3 && text.ptr[text.len - 1] == '"';
    bg_span span = {b->file, t.offset + 2, t.len - (closed ? 3 : 2)};
    bg_ast *part = NULL;
    if (span.len != 0) {
        part = leaf(b, BG_AST_STRING_TEXT, span);
        part->text = (bg_str){text.ptr + 2, span.len};
    }
    return string_of(b, bg_build_span(b, t), part);
}

bg_ast *bg_build_text(bg_builder *b, bg_token t)
{
    bg_ast *node = leaf(b, BG_AST_STRING_TEXT, bg_build_span(b, t));
    node->text = bg_build_token_text(b, t);
    return node;
}

bg_ast *bg_build_interp(bg_builder *b, bg_token open, bg_ast *value, bg_token format, bg_token close)
{
    bg_ast *node = bg_build_node(b, BG_AST_INTERP, bg_build_span(b, open), value, NULL, NULL);
    if (format.kind == BG_T_NAME || bg_build_token_text(b, format).len > 1) {
        node->text = bg_build_token_text(b, format);
        node->name_span = bg_build_span(b, format);
    }
    node->span = bg_span_join(node->span, bg_build_span(b, close));
    return node;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `s` starts behind "\u"; *used gets the bytes of "{hex}". Returns the scalar value or -1. */
static int32_t read_scalar(const char *s, const char *end, size_t *used)
{
    const char *p = s;
    int32_t value = 0;
    *used = 0;
    if (p == end || *p++ != '{')
        return -1;
    const char *digits = p;
    for (; p < end && hex_digit(*p) >= 0; p++)
        value = value > 0x10ffff ? value : value * 16 + hex_digit(*p);
    bool sound = p > digits && p < end && *p == '}' && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff) && value != 0;
    while (p < end && *p != '}')
        p++;
    *used = (size_t)(p - s) + (p < end);
    return sound ? value : -1;
}

static char *put_utf8(char *out, int32_t c)
{
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xc0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *out++ = (char)(0xe0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    } else {
        *out++ = (char)(0xf0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 0x3f));
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    }
    return out;
}

static char simple_escape(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case '\\':
    case '"':
    case '{':
        return c;
    default:
        return 0;
    }
}

static void bad_escape(bg_builder *b, const char *at, size_t len)
{
    bg_span span = {b->file, (uint32_t)(at - b->source->text.ptr), (uint32_t)len};
    bg_str text = {at, len < TAIL_MAX ? len : TAIL_MAX};
    while (text.len < len && ((unsigned char)at[text.len] & 0xc0) == 0x80)
        text.len--; /* between characters */
    bg_diag *diag = bg_diag_push(b->diags, BG_D_BAD_ESCAPE, span, 1, text);
    bg_diag_help(b->diags, diag, "escapes: \\n \\t \\\\ \\\" \\{ \\u{1F600}; a backslash is `\\\\`, or write r\"…\"");
}

/* Diagnose escapes in text that is still the source's. */
static void check_escapes(bg_builder *b, bg_str text)
{
    const char *end = text.ptr + text.len;
    for (const char *p = text.ptr; (p = memchr(p, '\\', (size_t)(end - p))) != NULL;) {
        size_t len = 2, used = 0;
        bool sound = end - p >= 2 && simple_escape(p[1]) != 0;
        if (end - p >= 2 && p[1] == 'u') {
            sound = read_scalar(p + 2, end, &used) >= 0;
            len += used;
        } else if (end - p >= 2) {
            while (p + len < end && ((unsigned char)p[len] & 0xc0) == 0x80)
                len++;
        } else {
            len = 1;
        }
        if (!sound)
            bad_escape(b, p, len);
        p += len;
    }
}

/* Never longer than `text`; out may be text.ptr. Bad escapes stay as they are. */
static size_t unescape(bg_str text, char *out)
{
    const char *p = text.ptr, *end = p + text.len;
    char *start = out;
    while (p < end) {
        if (p + 1 < end && *p == '\\' && simple_escape(p[1]) != 0) {
            *out++ = simple_escape(p[1]);
            p += 2;
        } else if (p + 1 < end && *p == '\\' && p[1] == 'u') {
            size_t used;
            int32_t c = read_scalar(p + 2, end, &used);
            if (c >= 0) {
                out = put_utf8(out, c);
            } else {
                memmove(out, p, used + 2);
                out += used + 2;
            }
            p += used + 2;
        } else {
            bool twice = p + 1 < end && (*p == '{' || *p == '}') && p[1] == *p;
            *out++ = *p;
            p += twice ? 2 : 1;
        }
    }
    return (size_t)(out - start);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Smallest indent of the lines that start in `text`; blank ones don't count, the line of the closing quotes does. */
static size_t indent_of(bg_str text, size_t indent)
{
    const char *end = text.ptr + text.len;
    for (const char *p = text.ptr; (p = memchr(p, '\n', (size_t)(end - p))) != NULL;) {
        const char *start = ++p;
        while (p < end && is_blank(*p))
            p++;
        bool blank = p < end && *p == '\n';
        if (!blank && (size_t)(p - start) < indent)
            indent = (size_t)(p - start);
    }
    return indent;
}

/* Copy without the indent, without what is in front of the newline that follows the opening quotes, without blanks on blank lines. */
static size_t strip(bg_str text, size_t indent, bool first, bool last, char *out)
{
    const char *p = text.ptr, *end = p + text.len;
    char *start = out;
    if (first) {
        while (p < end && is_blank(*p))
            p++;
        if (p < end && *p == '\n')
            goto line;
        p = text.ptr;
    }
    for (; p < end; p++) {
        if (*p == '\r' && p + 1 < end && p[1] == '\n')
            continue;
        *out++ = *p;
        if (*p != '\n')
            continue;
    line:;
        const char *word = p + 1;
        while (word < end && is_blank(*word))
            word++;
        if (word < end ? *word == '\n' : last)
            p = word - 1;
        else
            p += (size_t)(word - p - 1) < indent ? (size_t)(word - p - 1) : indent;
    }
    return (size_t)(out - start);
}

static void strip_block(bg_builder *b, bg_ast_list *parts)
{
    size_t indent = SIZE_MAX;
    for (uint32_t i = 0; i < parts->n; i++)
        if (parts->at[i]->kind == BG_AST_STRING_TEXT)
            indent = indent_of(parts->at[i]->text, indent);
    for (uint32_t i = 0; i < parts->n; i++) {
        bg_ast *part = parts->at[i];
        if (part->kind != BG_AST_STRING_TEXT || part->text.len == 0)
            continue;
        char *copy = bg_arena_alloc(b->arena, part->text.len);
        if (copy == NULL) {
            b->nomem = true;
            return;
        }
        size_t n = strip(part->text, indent, i == 0, i + 1 == parts->n, copy);
        part->text = (bg_str){copy, n};
    }
}

static void unescape_part(bg_builder *b, bg_ast *part)
{
    bg_str text = part->text;
    bool plain = true;
    for (size_t i = 0; i < text.len && plain; i++)
        plain = text.ptr[i] != '\\' && text.ptr[i] != '{' && text.ptr[i] != '}';
    if (plain)
        return;
    char *copy = bg_arena_alloc(b->arena, text.len);
    if (copy == NULL)
        b->nomem = true;
    else
        part->text = (bg_str){copy, unescape(text, copy)};
}

bg_ast *bg_build_string(bg_builder *b, bg_token open, bg_ast_list *parts, bg_token close)
{
    bg_ast_list none = {0};
    if (parts == NULL)
        parts = &none;
    for (uint32_t i = 0; i < parts->n; i++)
        if (parts->at[i]->kind == BG_AST_STRING_TEXT && parts->at[i]->text.len != 0)
            check_escapes(b, parts->at[i]->text);
    if (open.len == 3 && b->source->text.ptr[open.offset] == '"')
        strip_block(b, parts);
    uint32_t n = 0;
    for (uint32_t i = 0; i < parts->n; i++) {
        bg_ast *part = parts->at[i];
        if (part->kind == BG_AST_STRING_TEXT)
            unescape_part(b, part);
        if (part->kind != BG_AST_STRING_TEXT || part->text.len != 0)
            parts->at[n++] = part;
    }
    parts->n = n;
    return bg_build_list(b, BG_AST_STRING, open, n == 0 ? NULL : parts, close);
}

bg_str bg_build_plain(bg_builder *b, const bg_ast *string, const char *what)
{
    if (string->n_kids == 1 && string->kids[0]->kind == BG_AST_STRING_TEXT)
        return string->kids[0]->text;
    if (string->n_kids != 0)
        bg_diag_push(b->diags, BG_D_PLAIN_STRING, string->span, 1, bg_str_of(what));
    return (bg_str){"", 0};
}
