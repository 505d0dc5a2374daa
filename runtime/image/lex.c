#include "image/lex.h"

#include <stdio.h>
#include <string.h>

bg_status bg_lex_bad(const bg_lex *lex, size_t at, const char *fmt, ...)
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at && i < lex->text.len; i++) {
        column = lex->text.ptr[i] == '\n' ? 1 : column + 1;
        line += lex->text.ptr[i] == '\n';
    }
    char what[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    bg_status s = bg_error_set(lex->err, BG_E_USAGE, "%zu:%zu: %s", line, column, what);
    if (lex->err != NULL)
        lex->err->offset = at;
    return s;
}

static char peek(const bg_lex *lex)
{
    return lex->at < lex->text.len ? lex->text.ptr[lex->at] : '\n';
}

void bg_lex_blanks(bg_lex *lex)
{
    while (peek(lex) == ' ' || peek(lex) == '\t' || peek(lex) == '\r')
        lex->at++;
}

bool bg_lex_eol(bg_lex *lex)
{
    bg_lex_blanks(lex);
    if (peek(lex) != ';')
        return peek(lex) == '\n';
    const char *nl = memchr(lex->text.ptr + lex->at, '\n', lex->text.len - lex->at);
    lex->at = nl == NULL ? lex->text.len : (size_t)(nl - lex->text.ptr);
    return true;
}

bool bg_lex_line(bg_lex *lex)
{
    while (bg_lex_eol(lex)) {
        if (lex->at >= lex->text.len)
            return false;
        lex->at++;
    }
    return true;
}

bg_status bg_lex_end(bg_lex *lex)
{
    return bg_lex_eol(lex) ? BG_OK : bg_lex_bad(lex, lex->at, "something is left over on this line");
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bg_str bg_lex_word(bg_lex *lex)
{
    bg_lex_blanks(lex);
    size_t start = lex->at;
    while (is_word(peek(lex)))
        lex->at++;
    return (bg_str){lex->text.ptr + start, lex->at - start};
}

bool bg_lex_take(bg_lex *lex, char c)
{
    if (lex->at >= lex->text.len || lex->text.ptr[lex->at] != c)
        return false;
    lex->at++;
    return true;
}

bg_status bg_lex_need(bg_lex *lex, char c)
{
    return bg_lex_take(lex, c) ? BG_OK : bg_lex_bad(lex, lex->at, "expected %c", c);
}

bg_status bg_lex_u32(bg_lex *lex, uint32_t *out)
{
    size_t start = lex->at;
    uint64_t v = 0;
    for (char c = peek(lex); c >= '0' && c <= '9'; c = peek(lex)) {
        v = v * 10 + (uint64_t)(c - '0');
        if (v > UINT32_MAX)
            return bg_lex_bad(lex, start, "the number is larger than %u", UINT32_MAX);
        lex->at++;
    }
    *out = (uint32_t)v;
    return lex->at == start ? bg_lex_bad(lex, start, "expected a number") : BG_OK;
}

int bg_lex_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bg_status escape(bg_lex *lex, bg_buf *out)
{
    static const char plain[] = "\"\"\\\\n\nt\tr\r"; /* pairs: letter, byte */
    char c = peek(lex);
    for (size_t i = 0; i + 1 < sizeof plain; i += 2) {
        if (plain[i] == c) {
            lex->at++;
            bg_buf_putc(out, plain[i + 1]);
            return BG_OK;
        }
    }
    if (c == 'x' && lex->text.len - lex->at > 2) {
        int hi = bg_lex_hex(lex->text.ptr[lex->at + 1]), lo = bg_lex_hex(lex->text.ptr[lex->at + 2]);
        if (hi >= 0 && lo >= 0) {
            lex->at += 3;
            bg_buf_putc(out, (char)(hi * 16 + lo));
            return BG_OK;
        }
    }
    return bg_lex_bad(lex, lex->at, "unknown escape; there are \\\" \\\\ \\n \\t \\r \\xHH");
}

bg_status bg_lex_quoted(bg_lex *lex, bg_buf *out)
{
    bg_lex_blanks(lex);
    size_t start = lex->at;
    bg_buf_reset(out);
    if (!bg_lex_take(lex, '"'))
        return bg_lex_bad(lex, start, "expected a string in double quotes");
    while (!bg_lex_take(lex, '"')) {
        char c = peek(lex);
        if (c == '\n')
            return bg_lex_bad(lex, start, "the string does not end on its line");
        lex->at++;
        if (c == '\\')
            BG_TRY(escape(lex, out));
        else
            bg_buf_putc(out, c);
    }
    return out->failed ? bg_error_set(lex->err, BG_E_NOMEM, "out of memory while reading a string") : BG_OK;
}
