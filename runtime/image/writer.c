/* Builds an image in memory and lays it out. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/strpool.h"
#include "base/vec.h"
#include "image/tables.h"

struct bg_image_writer {
    bg_status status; /* sticky */
    bg_buf sections[BG_SEC_COUNT];
    bg_strpool strs;
    bg_strpool ints;  /* the 8 bytes of each constant */
    bg_strpool words; /* the bytes of each run -> the id of its first word is in word_first */
    BG_VEC(uint32_t) word_first;
    bg_strpool spans; /* bytes of SPAN records */
    size_t prog_start;
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
    free(w);
}

static void fail(bg_image_writer *w, bg_status status)
{
    if (w->status == BG_OK)
        w->status = status;
}

static uint32_t record_bytes(bg_section_id section)
{
    return bg_section_table[section].n_fields * 4;
}

uint32_t bg_image_count(const bg_image_writer *w, bg_section_id section)
{
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
    assert(id != 0 && section != BG_SEC_SPAN);
    if (w->status != BG_OK)
        return;
    assert(id <= bg_image_count(w, section));
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
    if (n == 0)
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
    bg_image_op(w, op, 0);
    return (uint32_t)w->sections[BG_SEC_CODE].len;
}

void bg_image_land(bg_image_writer *w, uint32_t label)
{
    bg_buf *code = &w->sections[BG_SEC_CODE];
    if (w->status != BG_OK)
        return;
    uint32_t skip = (uint32_t)code->len - label;
    for (unsigned i = 0; i < 4; i++)
        code->data[label - 4 + i] = (char)(skip >> (8 * i));
}

uint32_t bg_image_prog_end(bg_image_writer *w, uint32_t span)
{
    assert(w->in_prog);
    w->in_prog = false;
    bg_image_op(w, BG_OP_RET, 0);
    if (w->status != BG_OK)
        return 0;
    bg_buf *code = &w->sections[BG_SEC_CODE];
    bg_img_progs rec = {(uint32_t)w->prog_start, (uint32_t)(code->len - w->prog_start), 0, span};
    bg_error err;
    bg_status status = bg_prog_depth((const unsigned char *)code->data + w->prog_start, rec.len, &rec.max_stack, &err);
    if (status != BG_OK)
        fail(w, status);
    return append(w, BG_SEC_PROG, &rec);
}

static void pad8(bg_buf *out)
{
    while (out->len % 8 != 0)
        bg_buf_putc(out, '\0');
}

static void put_table(const bg_image_writer *w, bg_buf *out, uint32_t n_sections)
{
    uint64_t at = BG_IMAGE_HEADER_BYTES + (uint64_t)n_sections * BG_IMAGE_ENTRY_BYTES;
    for (uint32_t s = 1; s < BG_SEC_COUNT; s++) {
        if (w->sections[s].len == 0)
            continue;
        at = (at + 7) & ~(uint64_t)7;
        bg_buf_put(out, bg_section_table[s].tag, 4);
        bg_buf_u32(out, 8);
        bg_buf_u64(out, at);
        bg_buf_u64(out, w->sections[s].len);
        at += w->sections[s].len;
    }
}

bg_status bg_image_finish(bg_image_writer *w, bg_buf *out, bg_error *err)
{
    assert(!w->in_prog);
    if (w->status != BG_OK)
        return bg_error_set(err, w->status, "the image could not be built: %s", bg_status_text(w->status));
    bg_buf file = {0};
    uint32_t n_sections = 0;
    for (uint32_t s = 1; s < BG_SEC_COUNT; s++)
        n_sections += w->sections[s].len != 0;
    bg_buf_put(&file, BG_IMAGE_MAGIC, 16);
    bg_buf_u32(&file, BG_IMAGE_VERSION);
    bg_buf_u32(&file, n_sections);
    while (file.len < BG_IMAGE_HEADER_BYTES && !file.failed)
        bg_buf_putc(&file, '\0');
    put_table(w, &file, n_sections);
    for (uint32_t s = 1; s < BG_SEC_COUNT; s++) {
        if (w->sections[s].len == 0)
            continue;
        pad8(&file);
        bg_buf_put(&file, w->sections[s].data, w->sections[s].len);
    }
    pad8(&file);
    bg_status status = BG_OK;
    if (file.failed)
        status = bg_error_set(err, BG_E_NOMEM, "out of memory while building the image");
    else if (file.len > UINT32_MAX)
        status = bg_error_set(err, BG_E_LIMIT, "the image would be larger than 4 GiB");
    if (status == BG_OK) {
        bg_image_seal(file.data, file.len);
        bg_buf_put(out, file.data, file.len);
        if (out->failed)
            status = bg_error_set(err, BG_E_NOMEM, "out of memory while building the image");
    }
    bg_buf_clear(&file);
    return status;
}

static void put_u64(char *p, uint64_t v)
{
    for (unsigned i = 0; i < 8; i++)
        p[i] = (char)(v >> (8 * i));
}

void bg_image_seal(char *bytes, size_t n)
{
    put_u64(bytes + 24, n);
    put_u64(bytes + BG_IMAGE_CHECKSUM_AT, bg_hash_bytes(bytes + BG_IMAGE_HEADER_BYTES, n - BG_IMAGE_HEADER_BYTES));
}
