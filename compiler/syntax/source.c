/* Source texts: checked, copied with a NUL behind them (what re2c's scanners stop at), cut into lines. */
#include "bgraph/source.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "syntax/syntax.h"

enum { TEXT_BYTES_MAX = 64 * 1024 * 1024 };

static bg_str without_bom(bg_str text)
{
    bool bom = bg_str_starts(text, BG_STR("\xef\xbb\xbf"));
    return bom ? (bg_str){text.ptr + 3, text.len - 3} : text;
}

static void diagnose_utf8(bg_diags *diags, bg_str text, size_t offset, uint32_t file)
{
    char byte[8], place[24];
    snprintf(byte, sizeof byte, "0x%02x", (unsigned)(unsigned char)text.ptr[offset]);
    snprintf(place, sizeof place, "%zu", offset);
    bg_diag *diag = bg_diag_push(diags, BG_D_NOT_UTF8, (bg_span){file, (uint32_t)offset, 0}, 2, bg_str_of(byte),
                                 bg_str_of(place));
    bg_diag_help(diags, diag, "save the file as UTF-8; what follows was not read");
}

/* Length of the text before the first fault. */
static size_t sound_len(bg_str text, uint32_t file, bg_diags *diags)
{
    if (text.len > TEXT_BYTES_MAX) {
        char size[24], most[24];
        snprintf(size, sizeof size, "%zu", text.len);
        snprintf(most, sizeof most, "%d", TEXT_BYTES_MAX);
        bg_diag_push(diags, BG_D_TOO_LARGE, (bg_span){file, 0, 0}, 2, bg_str_of(size), bg_str_of(most));
        return 0;
    }
    if (text.len == 0)
        return 0;
    size_t len = bg_utf8_check(text.ptr, text.len);
    const char *nul = memchr(text.ptr, 0, len);
    if (nul != NULL) {
        len = (size_t)(nul - text.ptr);
        bg_diag *diag = bg_diag_push(diags, BG_D_NUL_BYTE, (bg_span){file, (uint32_t)len, 0}, 0);
        bg_diag_help(diags, diag, "what follows was not read");
    } else if (len < text.len) {
        diagnose_utf8(diags, text, len, file);
    }
    return len;
}

static bg_status find_lines(bg_source *source, bg_arena *arena)
{
    const char *text = source->text.ptr, *end = text + source->text.len;
    uint32_t n = 1;
    for (const char *p = text; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
        n++;
    source->lines = BG_ARENA_ARRAY(arena, n, uint32_t);
    if (source->lines == NULL)
        return BG_E_NOMEM;
    source->n_lines = n;
    uint32_t i = 1;
    for (const char *p = text; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
        source->lines[i++] = (uint32_t)(p - text) + 1;
    return BG_OK;
}

bg_status bg_source_init(bg_source *source, bg_arena *arena, bg_str text, uint32_t file, bg_diags *diags)
{
    text = without_bom(text);
    size_t len = sound_len(text, file, diags);
    char *copy = bg_arena_strdup(arena, text.ptr, len);
    if (copy == NULL)
        return BG_E_NOMEM;
    source->text = (bg_str){copy, len};
    return find_lines(source, arena);
}

void bg_source_locate(const bg_source *source, uint32_t offset, uint32_t *line, uint32_t *column)
{
    uint32_t lo = 0, hi = source->n_lines;
    if (offset > source->text.len)
        offset = (uint32_t)source->text.len;
    while (hi - lo > 1) { /* the last line that starts at or before offset */
        uint32_t middle = lo + (hi - lo) / 2;
        if (source->lines[middle] <= offset)
            lo = middle;
        else
            hi = middle;
    }
    *line = lo + 1;
    uint32_t chars = 0;
    for (uint32_t i = source->n_lines == 0 ? offset : source->lines[lo]; i < offset; i++)
        chars += ((unsigned char)source->text.ptr[i] & 0xc0) != 0x80;
    *column = chars + 1;
}
