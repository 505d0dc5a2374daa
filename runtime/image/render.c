#include "image/render.h"

static void quoted_inside(bg_str text, bg_buf *out)
{
    bg_buf json = {0};
    bg_buf_json(&json, text); /* TOML 1.0's basic strings take every JSON escape */
    if (json.failed || json.len < 2)
        out->failed = true;
    else
        bg_buf_put(out, json.data + 1, json.len - 2);
    bg_buf_clear(&json);
}

static void make_word(bg_str text, bg_buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '$')
            bg_buf_putc(out, '$');
        else if (c == ' ' || c == '\t' || c == '#' || c == '\\' || c == ':')
            bg_buf_putc(out, '\\');
        bg_buf_putc(out, c);
    }
}

void bg_render_text(bg_render format, bg_str text, bg_buf *out)
{
    if (format == BG_RENDER_MAKE)
        make_word(text, out);
    else
        quoted_inside(text, out);
}
