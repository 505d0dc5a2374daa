/* Builds an image in memory and lays it out. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/strpool.h"
#include "base/vec.h"
#include "image/depth.h"
#include "image/layout.h"
#include "image/tables.h"

struct bg_image_writer {
    bg_status status; /* sticky, with */
    bg_error why;     /* what failed first */
    bg_buf sections[BG_SEC_COUNT];
    bg_strpool strs;
    bg_strpool ints;  /* the 8 bytes of each constant */
    bg_strpool words; /* the bytes of each run -> the id of its first word is in word_first */
    BG_VEC(uint32_t) word_first;
    bg_strpool spans; /* bytes of SPAN records */
    bg_depth_scratch depth;
    size_t prog_start;
    uint32_t n_open; /* labels of the program that have not landed */
    bool in_prog;
};

bg_image_writer *bg_image_writer_new(void)
{
    return calloc(1, sizeof(bg_image_writer));
}

void bg_image_writer_free(bg_image_writer *w)
{
    if (w == NULL)
        return;
    for (size_t i = 0; i < BG_SEC_COUNT; i++)
        bg_buf_clear(&w->sections[i]);
    bg_strpool_clear(&w->strs);
    bg_strpool_clear(&w->ints);
    bg_strpool_clear(&w->words);
    bg_strpool_clear(&w->spans);
    BG_VEC_CLEAR(&w->word_first);
    bg_depth_scratch_clear(&w->depth);
    free(w);
}

static void fail_with(bg_image_writer *w, bg_status status, const char *why)
{
    if (w->status != BG_OK)
        return;
    w->status = bg_error_set(&w->why, status, "%s", why);
}

static void fail(bg_image_writer *w, bg_status status)
{
    fail_with(w, status, bg_status_text(status));
}

static uint32_t record_bytes(bg_section_id section)
{
    return bg_section_table[section].n_fields * 4;
}

uint32_t bg_image_count(const bg_image_writer *w, bg_section_id section)
{
    assert(!bg_section_table[section].is_bytes);
    size_t n = w->sections[section].len / record_bytes(section);
    return n == 0 ? 0 : (uint32_t)(n - 1);
}

static uint32_t append(bg_image_writer *w, bg_section_id section, const void *rec)
{
    static const uint32_t zero[BG_IMAGE_MAX_FIELDS];
    bg_buf *buf = &w->sections[section];
    uint32_t n = bg_section_table[section].n_fields;
    assert(n != 0 && n <= BG_IMAGE_MAX_FIELDS);
    if (buf->len > UINT32_MAX / 2) {
        fail(w, BG_E_LIMIT);
        return 0;
    }
    if (buf->len == 0)
        bg_buf_put(buf, zero, n * 4);
    const uint32_t *fields = rec;
    for (uint32_t i = 0; i < n; i++)
        bg_buf_u32(buf, fields[i]);
    if (buf->failed)
        fail(w, BG_E_NOMEM);
    return bg_image_count(w, section);
}

uint32_t bg_image_add(bg_image_writer *w, bg_section_id section, const void *rec)
{
    /* Interned ones have calls of their own; a record of them made here would never be found. */
    assert(section != BG_SEC_STRI && section != BG_SEC_INTS && section != BG_SEC_WORD && section != BG_SEC_PROG);
    if (section != BG_SEC_SPAN)
        return append(w, section, rec);
    uint32_t before = w->spans.n;
    uint32_t id = bg_strpool_intern(&w->spans, (bg_str){rec, record_bytes(section)});
    if (id == 0)
        fail(w, BG_E_NOMEM);
    else if (id > before)
        append(w, section, rec);
    return id;
}

void bg_image_set(bg_image_writer *w, bg_section_id section, uint32_t id, const void *rec)
{
    assert(section != BG_SEC_SPAN);
    if (w->status != BG_OK)
        return;
    assert(id != 0 && id <= bg_image_count(w, section));
    uint32_t size = record_bytes(section);
    bg_buf tmp = {0};
    const uint32_t *fields = rec;
    for (uint32_t i = 0; i < size / 4; i++)
        bg_buf_u32(&tmp, fields[i]);
    if (tmp.failed)
        fail(w, BG_E_NOMEM);
    else
        memcpy(w->sections[section].data + (size_t)id * size, tmp.data, size);
    bg_buf_clear(&tmp);
}

uint32_t bg_image_str(bg_image_writer *w, bg_str s)
{
    uint32_t before = w->strs.n;
    uint32_t id = bg_strpool_intern(&w->strs, s);
    if (id == 0) {
        fail(w, BG_E_NOMEM);
        return 0;
    }
    if (id > before) {
        bg_buf *bytes = &w->sections[BG_SEC_STRB];
        if (bytes->len + s.len > UINT32_MAX / 2) {
            fail(w, BG_E_LIMIT);
            return 0;
        }
        bg_img_strs rec = {(uint32_t)bytes->len, (uint32_t)s.len};
        bg_buf_str(bytes, s);
        bg_buf_putc(bytes, '\0');
        append(w, BG_SEC_STRI, &rec);
    }
    return id;
}

uint32_t bg_image_int(bg_image_writer *w, int64_t v)
{
    uint32_t before = w->ints.n;
    uint32_t id = bg_strpool_intern(&w->ints, (bg_str){(const char *)&v, sizeof v});
    if (id == 0)
        fail(w, BG_E_NOMEM);
    else if (id > before)
        append(w, BG_SEC_INTS, &(bg_img_ints){(uint32_t)(uint64_t)v, (uint32_t)((uint64_t)v >> 32)});
    return id;
}

uint32_t bg_image_words(bg_image_writer *w, const bg_str *strs, size_t n)
{
    if (n == 0 || w->status != BG_OK)
        return 0;
    bg_buf key = {0};
    for (size_t i = 0; i < n; i++)
        bg_buf_u32(&key, bg_image_str(w, strs[i]));
    uint32_t before = w->words.n;
    uint32_t id = key.failed ? 0 : bg_strpool_intern(&w->words, bg_buf_view(&key));
    uint32_t first = 0;
    if (id == 0) {
        fail(w, BG_E_NOMEM);
    } else if (id <= before) {
        first = w->word_first.at[id - 1];
    } else {
        first = bg_image_count(w, BG_SEC_WORD) + 1;
        for (size_t i = 0; i < n; i++)
            append(w, BG_SEC_WORD, &(bg_img_words){bg_image_str(w, strs[i])});
        if (!BG_VEC_PUSH(&w->word_first, first))
            fail(w, BG_E_NOMEM);
    }
    bg_buf_clear(&key);
    return first;
}

void bg_image_prog_begin(bg_image_writer *w)
{
    assert(!w->in_prog);
    w->in_prog = true;
    w->n_open = 0;
    w->prog_start = w->sections[BG_SEC_CODE].len;
}

void bg_image_op(bg_image_writer *w, bg_op op, uint32_t operand)
{
    bg_buf *code = &w->sections[BG_SEC_CODE];
    bg_buf_putc(code, (char)op);
    if (bg_op_table[op].shape != BG_OPERAND_NONE)
        bg_buf_u32(code, operand);
    if (code->failed)
        fail(w, BG_E_NOMEM);
    if (code->len > UINT32_MAX / 2)
        fail(w, BG_E_LIMIT);
}

uint32_t bg_image_jump(bg_image_writer *w, bg_op op)
{
    assert(bg_op_table[op].shape == BG_OPERAND_JUMP);
    bg_image_op(w, op, 0);
    w->n_open++;
    return (uint32_t)w->sections[BG_SEC_CODE].len;
}

void bg_image_land(bg_image_writer *w, uint32_t label)
{
    bg_buf *code = &w->sections[BG_SEC_CODE];
    w->n_open--;
    if (w->status != BG_OK)
        return;
    assert(label > w->prog_start && label <= code->len);
    uint32_t skip = (uint32_t)code->len - label;
    for (unsigned i = 0; i < 4; i++)
        code->data[label - 4 + i] = (char)(skip >> (8 * i));
}

uint32_t bg_image_prog_end(bg_image_writer *w, uint32_t span)
{
    assert(w->in_prog && w->n_open == 0);
    w->in_prog = false;
    bg_image_op(w, BG_OP_RET, 0);
    if (w->status != BG_OK)
        return 0;
    bg_buf *code = &w->sections[BG_SEC_CODE];
    bg_img_progs rec = {(uint32_t)w->prog_start, (uint32_t)(code->len - w->prog_start), 0, span};
    bg_error err = {0};
    const unsigned char *bytes = (const unsigned char *)code->data + w->prog_start;
    bg_status status = bg_depth_check(&w->depth, bytes, rec.len, NULL, &rec.max_stack, &err);
    if (status != BG_OK)
        fail_with(w, status, err.text);
    return append(w, BG_SEC_PROG, &rec);
}

bg_status bg_image_finish(bg_image_writer *w, bg_buf *out, bg_error *err)
{
    assert(!w->in_prog);
    if (w->status != BG_OK)
        return bg_error_set(err, w->status, "the image could not be built: %s", w->why.text);
    bg_image_part parts[BG_SEC_COUNT];
    size_t n = 0;
    for (uint32_t s = 1; s < BG_SEC_COUNT; s++) {
        if (w->sections[s].len == 0)
            continue;
        memcpy(parts[n].tag, bg_section_table[s].tag, 4);
        parts[n++].bytes = bg_buf_view(&w->sections[s]);
    }
    return bg_layout_write(parts, n, out, err);
}
