#include "image/render.h"

#include <string.h>

#include "base/utf8.h"

static bg_status quoted_inside(bg_str text, bg_buf *out, bg_error *err)
{
    size_t bad = bg_utf8_check(text.ptr, text.len);
    if (bad != text.len)
        return bg_error_set(err, BG_E_USAGE, "\"%.*s\" is not UTF-8 (byte %zu) and has no form in TOML or JSON", BG_FMT(text), bad);
    bg_buf json = {0};
    bg_buf_json(&json, text); /* TOML 1.0's basic strings take every JSON escape */
    if (json.failed || json.len < 2)
        out->failed = true;
    else
        bg_buf_put(out, json.data + 1, json.len - 2);
    bg_buf_clear(&json);
    return BG_OK;
}

/* As gcc -M writes: 2N+1 backslashes in front of white space are N backslashes and the white space; elsewhere a backslash
 * is itself. */
static bg_status make_word(bg_str text, bg_buf *out, bg_error *err)
{
    if (memchr(text.ptr, '\n', text.len) != NULL || memchr(text.ptr, 0, text.len) != NULL)
        return bg_error_set(err, BG_E_USAGE, "\"%.*s\" holds a newline or NUL and has no form in a makefile", BG_FMT(text));
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == ' ' || c == '\t') {
            for (size_t back = i; back != 0 && text.ptr[back - 1] == '\\'; back--)
                bg_buf_putc(out, '\\');
            bg_buf_putc(out, '\\');
        } else if (c == '$') {
            bg_buf_putc(out, '$');
        } else if (c == '#' || c == ':') {
            bg_buf_putc(out, '\\');
        }
        bg_buf_putc(out, c);
    }
    return BG_OK;
}

bg_status bg_render_text(bg_render format, bg_str text, bg_buf *out, bg_error *err)
{
    if (text.len == 0)
        return BG_OK;
    return format == BG_RENDER_MAKE ? make_word(text, out, err) : quoted_inside(text, out, err);
}
