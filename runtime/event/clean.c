#include "event/clean.h"

#include "base/utf8.h"

enum { TEXT, UTF8, ESCAPE, INTERMEDIATE, CSI, STRING, STRING_ESCAPE };

#define ESC 0x1b

static void reset(bg_clean *c)
{
    c->state = TEXT;
    c->n_held = 0;
}

static void hold(bg_clean *c, char b)
{
    if (c->n_held < sizeof c->held)
        c->held[c->n_held++] = b;
}

static void put_invalid(bg_buf *out)
{
    bg_buf_puts(out, "\xef\xbf\xbd");
}

/* Bytes that a sequence with this first byte must have, 0 if none starts so. */
static size_t utf8_need(unsigned char b)
{
    return b >= 0xc2 && b < 0xe0 ? 2 : b >= 0xe0 && b < 0xf0 ? 3 : b >= 0xf0 && b < 0xf5 ? 4 : 0;
}

static void put_text(bg_clean *c, unsigned char b, bg_buf *out)
{
    bool after_cr = c->after_cr;
    c->after_cr = false;
    if (b == ESC) {
        c->state = ESCAPE;
    } else if (b == '\r') {
        /* A line that overwrites itself (a progress bar) becomes lines. */
        bg_buf_putc(out, '\n');
        c->after_cr = true;
    } else if (b == '\n') {
        if (!after_cr)
            bg_buf_putc(out, '\n');
    } else if (b == '\t' || (b >= 0x20 && b < 0x7f)) {
        bg_buf_putc(out, (char)b);
    } else if (b >= 0x80) {
        if (utf8_need(b) == 0) {
            put_invalid(out);
            return;
        }
        c->state = UTF8;
        hold(c, (char)b);
    }
}

/* C1 controls, encoded: some terminals obey them like ESC sequences. */
static bool is_c1(const bg_clean *c)
{
    return c->n_held == 2 && (unsigned char)c->held[0] == 0xc2 && (unsigned char)c->held[1] < 0xa0;
}

static bool put_utf8(bg_clean *c, unsigned char b, bg_buf *out)
{
    if ((b & 0xc0) != 0x80) { /* cut off: the byte starts something else */
        put_invalid(out);
        reset(c);
        return false;
    }
    hold(c, (char)b);
    if (c->n_held < utf8_need((unsigned char)c->held[0]))
        return true;
    if (bg_utf8_len(c->held, c->n_held) != c->n_held)
        put_invalid(out);
    else if (!is_c1(c))
        bg_buf_put(out, c->held, c->n_held);
    reset(c);
    return true;
}

static void put_escape(bg_clean *c, unsigned char b)
{
    if (b == '[')
        c->state = CSI;
    else if (b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_')
        c->state = STRING;
    else if (b >= 0x20 && b < 0x30)
        c->state = INTERMEDIATE;
    else if (b != ESC)
        reset(c);
}

/* A colour: digits, ';' and ':' up to an 'm'. Longer than we hold is none we know. */
static void end_csi(bg_clean *c, unsigned char final, bool keep_color, bg_buf *out)
{
    bool is_sgr = final == 'm' && c->n_held < sizeof c->held;
    bool is_off = c->n_held == 0 || (c->n_held == 1 && c->held[0] == '0');
    for (size_t i = 0; i < c->n_held; i++) {
        char h = c->held[i];
        is_sgr &= (h >= '0' && h <= '9') || h == ';' || h == ':';
    }
    if (is_sgr && keep_color) {
        bg_buf_puts(out, "\x1b[");
        bg_buf_put(out, c->held, c->n_held);
        bg_buf_putc(out, 'm');
        c->is_colored = !is_off;
    }
    reset(c);
}

/* A sequence that never ends must not swallow the rest of a log: a line end breaks it off. */
static bool put_sequence(bg_clean *c, unsigned char b, bool keep_color, bg_buf *out)
{
    if (b == '\n') {
        reset(c);
        return false;
    }
    if (c->state == ESCAPE) {
        put_escape(c, b);
    } else if (c->state == INTERMEDIATE) {
        if (b < 0x20 || b >= 0x30)
            reset(c);
    } else if (c->state == CSI) {
        if (b >= 0x40 && b < 0x7f)
            end_csi(c, b, keep_color, out);
        else
            hold(c, (char)b);
    } else if (c->state == STRING_ESCAPE && b == '\\') {
        reset(c);
    } else if (b == 0x07) {
        reset(c);
    } else {
        c->state = b == ESC ? STRING_ESCAPE : STRING;
    }
    return true;
}

void bg_clean_put(bg_clean *c, bg_str bytes, bool keep_color, bg_buf *out)
{
    for (size_t i = 0; i < bytes.len;) {
        unsigned char b = (unsigned char)bytes.ptr[i];
        bool used = true;
        if (c->state == TEXT)
            put_text(c, b, out);
        else if (c->state == UTF8)
            used = put_utf8(c, b, out);
        else
            used = put_sequence(c, b, keep_color, out);
        i += used;
    }
}

void bg_clean_end(bg_clean *c, bg_buf *out)
{
    if (c->state == UTF8)
        put_invalid(out);
    if (c->is_colored)
        bg_buf_puts(out, "\x1b[0m");
    *c = (bg_clean){0};
}
