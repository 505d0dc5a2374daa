/* The text that disasm.c describes -> an image. What the text says is put down as it stands; whether it makes sense is for
 * bg_graph_load to find out. */
#include <stdlib.h>
#include <string.h>

#include "base/strpool.h"
#include "base/vec.h"
#include "image/layout.h"
#include "image/lex.h"
#include "image/tables.h"

typedef struct {
    char tag[4];
    bg_section_id id;
    bg_buf bytes; /* of STRB and CODE: empty, see `strb` and `code` */
    uint32_t n;   /* records, slot 0 excluded */
} part;

/* A jump whose label has not come yet. */
typedef struct {
    uint32_t end;    /* in `code`: behind the operand */
    uint32_t next;   /* of the same label, 1-based; 0 ends */
    size_t at;       /* in the text */
    bool has_landed;
} pending;

typedef struct {
    uint32_t prog;   /* the program that used it last */
    uint32_t waiting; /* 1-based */
    bool is_here;
} label;

typedef struct {
    bg_lex lex;
    BG_VEC(part) parts;
    bg_buf strb, code, scratch;
    bg_strpool strs;
    BG_VEC(uint32_t) str_ids; /* by id in `strs`, from 0: the first STRI record with these bytes */
    bg_strpool names;
    BG_VEC(label) labels; /* by id in `names`, from 0 */
    BG_VEC(pending) jumps; /* of this program */
    uint32_t n_progs;      /* begun so far, over all sections */
} as;

static bg_status nomem(as *a)
{
    return bg_error_set(a->lex.err, BG_E_NOMEM, "out of memory while assembling an image");
}

static part *current(as *a)
{
    return &a->parts.at[a->parts.n - 1];
}

static bg_status check_size(as *a, const bg_buf *buf)
{
    return buf->len > UINT32_MAX / 2
               ? bg_error_set(a->lex.err, BG_E_LIMIT, "a section would be larger than 2 GiB")
               : BG_OK;
}

static bg_status section(as *a)
{
    size_t at = a->lex.at;
    BG_TRY(bg_lex_quoted(&a->lex, &a->scratch));
    if (a->scratch.len != 4)
        return bg_lex_bad(&a->lex, at, "the tag of a section has 4 bytes");
    part p = {.id = BG_SEC_NONE};
    memcpy(p.tag, a->scratch.data, 4);
    p.id = bg_section_by_tag(p.tag);
    const bg_section_info *info = &bg_section_table[p.id];
    for (uint32_t i = 0; i < info->n_fields; i++)
        bg_buf_u32(&p.bytes, 0);
    if (p.bytes.failed || !BG_VEC_PUSH(&a->parts, p)) {
        bg_buf_clear(&p.bytes);
        return nomem(a);
    }
    return bg_lex_end(&a->lex);
}

static bg_status hex(as *a)
{
    if (a->parts.n == 0 || current(a)->id != BG_SEC_NONE)
        return bg_lex_bad(&a->lex, a->lex.at, "hex stands in sections that have no other form");
    bg_lex_blanks(&a->lex);
    while (!bg_lex_eol(&a->lex)) {
        size_t left = a->lex.text.len - a->lex.at;
        const char *p = a->lex.text.ptr + a->lex.at;
        int hi = left < 2 ? -1 : bg_lex_hex(p[0]), lo = left < 2 ? -1 : bg_lex_hex(p[1]);
        if (hi < 0 || lo < 0)
            return bg_lex_bad(&a->lex, a->lex.at, "expected two hex digits");
        bg_buf_putc(&current(a)->bytes, (char)(hi * 16 + lo));
        a->lex.at += 2;
    }
    return BG_OK;
}

/* #id, or for strings the string itself. */
static bg_status ref(as *a, uint32_t target, uint32_t *out)
{
    if (bg_lex_take(&a->lex, '#'))
        return bg_lex_u32(&a->lex, out);
    size_t at = a->lex.at;
    if (target != BG_SEC_STRI)
        return bg_lex_bad(&a->lex, at, "expected # and a number of section %s", bg_section_table[target].tag);
    BG_TRY(bg_lex_quoted(&a->lex, &a->scratch));
    uint32_t id = bg_strpool_find(&a->strs, bg_buf_view(&a->scratch));
    if (id == 0)
        return bg_lex_bad(&a->lex, at, "there is no such string in section STRI above");
    *out = a->str_ids.at[id - 1];
    return BG_OK;
}

/* One name=value; the value goes into rec. */
static bg_status field(as *a, const bg_section_info *info, uint32_t *rec, uint32_t *seen)
{
    bg_lex_blanks(&a->lex);
    size_t at = a->lex.at;
    bg_str name = bg_lex_word(&a->lex);
    for (uint32_t i = info->n_derived; i < info->n_fields; i++) {
        const bg_field_info *f = &info->fields[i];
        if (!bg_str_is(name, f->name) || f->shape == BG_SHAPE_COUNT)
            continue;
        if (*seen >> i & 1)
            return bg_lex_bad(&a->lex, at, "%s is given twice", f->name);
        *seen |= 1u << i;
        BG_TRY(bg_lex_need(&a->lex, '='));
        if (f->shape == BG_SHAPE_REF || f->shape == BG_SHAPE_REF0)
            return ref(a, f->target, &rec[i]);
        BG_TRY(bg_lex_u32(&a->lex, &rec[i]));
        if (f->shape != BG_SHAPE_FIRST)
            return BG_OK;
        BG_TRY(bg_lex_need(&a->lex, '+'));
        return bg_lex_u32(&a->lex, &rec[i + 1]);
    }
    return bg_lex_bad(&a->lex, at, "section %s has no field \"%.*s\"", info->tag, name.len > 40 ? 40 : (int)name.len,
                      name.ptr);
}

static bg_status string(as *a, uint32_t id, uint32_t *rec)
{
    BG_TRY(bg_lex_quoted(&a->lex, &a->scratch));
    bg_str s = bg_buf_view(&a->scratch);
    rec[0] = (uint32_t)a->strb.len;
    rec[1] = (uint32_t)s.len;
    bg_buf_str(&a->strb, s);
    bg_buf_putc(&a->strb, '\0');
    uint32_t before = a->strs.n, at = bg_strpool_intern(&a->strs, s);
    if (at == 0 || (at > before && !BG_VEC_PUSH(&a->str_ids, id)))
        return nomem(a);
    return check_size(a, &a->strb);
}

/* The label that `name` stands for in this program. */
static bg_status find_label(as *a, bg_str name, label **out)
{
    uint32_t before = a->names.n, at = bg_strpool_intern(&a->names, name);
    if (at == 0 || (at > before && !BG_VEC_PUSH(&a->labels, (label){0})))
        return nomem(a);
    label *l = &a->labels.at[at - 1];
    if (l->prog != a->n_progs)
        *l = (label){.prog = a->n_progs};
    *out = l;
    return BG_OK;
}

static bg_status land(as *a, size_t at, bg_str name)
{
    label *l = NULL;
    BG_TRY(find_label(a, name, &l));
    if (l->is_here)
        return bg_lex_bad(&a->lex, at, "the label is there twice");
    l->is_here = true;
    for (uint32_t i = l->waiting; i != 0; i = a->jumps.at[i - 1].next) {
        pending *j = &a->jumps.at[i - 1];
        uint32_t skip = (uint32_t)a->code.len - j->end;
        for (unsigned b = 0; b < 4; b++)
            a->code.data[j->end - 4 + b] = (char)(skip >> (8 * b));
        j->has_landed = true;
    }
    return bg_lex_end(&a->lex);
}

static bg_status jump(as *a)
{
    bg_lex_blanks(&a->lex);
    size_t at = a->lex.at;
    bg_str name = bg_lex_word(&a->lex);
    label *l = NULL;
    if (name.len == 0)
        return bg_lex_bad(&a->lex, at, "expected a label");
    BG_TRY(find_label(a, name, &l));
    if (l->is_here)
        return bg_lex_bad(&a->lex, at, "jumps lead forward only");
    bg_buf_u32(&a->code, 0);
    if (a->code.failed || !BG_VEC_PUSH(&a->jumps, ((pending){(uint32_t)a->code.len, l->waiting, at, false})))
        return nomem(a);
    l->waiting = (uint32_t)a->jumps.n;
    return BG_OK;
}

static bg_status instruction(as *a, size_t at, bg_str mnemonic, bg_op *out)
{
    unsigned op = 0;
    while (op < BG_OP_COUNT && !bg_str_is(mnemonic, bg_op_table[op].mnemonic))
        op++;
    if (op == BG_OP_COUNT)
        return bg_lex_bad(&a->lex, at, "there is no instruction \"%.*s\"; a program ends with ret",
                          mnemonic.len > 40 ? 40 : (int)mnemonic.len, mnemonic.ptr);
    *out = (bg_op)op;
    const bg_op_info *info = &bg_op_table[op];
    bg_buf_putc(&a->code, (char)op);
    if (info->shape == BG_OPERAND_JUMP) {
        BG_TRY(jump(a));
    } else if (info->shape != BG_OPERAND_NONE) {
        uint32_t v = 0;
        bg_lex_blanks(&a->lex);
        if (info->shape == BG_OPERAND_REF)
            BG_TRY(ref(a, info->target, &v));
        else
            BG_TRY(bg_lex_u32(&a->lex, &v));
        bg_buf_u32(&a->code, v);
    }
    BG_TRY(check_size(a, &a->code));
    return bg_lex_end(&a->lex);
}

static bg_status program(as *a, uint32_t *rec)
{
    size_t start = a->lex.at;
    rec[0] = (uint32_t)a->code.len;
    a->jumps.n = 0;
    a->n_progs++;
    bg_op op = BG_OP_COUNT;
    while (op != BG_OP_RET) {
        if (!bg_lex_line(&a->lex))
            return bg_lex_bad(&a->lex, start, "the program does not end with ret");
        size_t at = a->lex.at;
        bg_str word = bg_lex_word(&a->lex);
        if (word.len != 0 && bg_lex_take(&a->lex, ':'))
            BG_TRY(land(a, at, word));
        else
            BG_TRY(instruction(a, at, word, &op));
    }
    for (size_t i = 0; i < a->jumps.n; i++) {
        if (!a->jumps.at[i].has_landed)
            return bg_lex_bad(&a->lex, a->jumps.at[i].at, "the label is not in this program");
    }
    rec[1] = (uint32_t)a->code.len - rec[0];
    return BG_OK;
}

/* Does `word` say the section that we are in? Keywords are tags in lower case. */
static bool is_keyword(const part *p, bg_str word)
{
    if (bg_section_table[p->id].n_fields == 0 || word.len != 4)
        return false;
    for (size_t i = 0; i < 4; i++) {
        char c = word.ptr[i];
        if (c < 'a' || c > 'z' || (char)(c - 'a' + 'A') != p->tag[i])
            return false;
    }
    return true;
}

static bg_status record(as *a, size_t at, bg_str word)
{
    if (a->parts.n == 0 || !is_keyword(current(a), word))
        return bg_lex_bad(&a->lex, at, "expected `section`, or a record of the section begun above");
    const bg_section_info *info = &bg_section_table[current(a)->id];
    uint32_t rec[BG_IMAGE_MAX_FIELDS] = {0}, seen = 0, id = 0;
    bg_lex_blanks(&a->lex);
    at = a->lex.at;
    BG_TRY(bg_lex_u32(&a->lex, &id));
    if (id != ++current(a)->n)
        return bg_lex_bad(&a->lex, at, "records count up from 1; this one is %u", current(a)->n);
    if (current(a)->id == BG_SEC_STRI)
        BG_TRY(string(a, id, rec));
    while (!bg_lex_eol(&a->lex))
        BG_TRY(field(a, info, rec, &seen));
    if (current(a)->id == BG_SEC_PROG)
        BG_TRY(program(a, rec));
    for (uint32_t i = 0; i < info->n_fields; i++)
        bg_buf_u32(&current(a)->bytes, rec[i]);
    return check_size(a, &current(a)->bytes);
}

static bg_status first_line(as *a)
{
    uint32_t version = 0;
    bg_str word = bg_lex_line(&a->lex) ? bg_lex_word(&a->lex) : BG_STR("");
    if (!bg_str_is(word, "image"))
        return bg_lex_bad(&a->lex, 0, "the text of an image begins with `image %u`", BG_IMAGE_VERSION);
    bg_lex_blanks(&a->lex);
    size_t at = a->lex.at;
    BG_TRY(bg_lex_u32(&a->lex, &version));
    if (version != BG_IMAGE_VERSION)
        return bg_lex_bad(&a->lex, at, "this bgc assembles version %u only", BG_IMAGE_VERSION);
    return bg_lex_end(&a->lex);
}

static bg_status lines(as *a)
{
    BG_TRY(first_line(a));
    while (bg_lex_line(&a->lex)) {
        size_t at = a->lex.at;
        bg_str word = bg_lex_word(&a->lex);
        if (bg_str_is(word, "section"))
            BG_TRY(section(a));
        else if (bg_str_is(word, "hex"))
            BG_TRY(hex(a));
        else
            BG_TRY(record(a, at, word));
    }
    return BG_OK;
}

static bg_status write_parts(as *a, bg_buf *out)
{
    bool failed = a->strb.failed || a->code.failed, has_strb = a->strb.len == 0, has_code = a->code.len == 0;
    bg_image_part *parts = calloc(a->parts.n + 1, sizeof *parts);
    for (size_t i = 0; i < a->parts.n && parts != NULL; i++) {
        const part *p = &a->parts.at[i];
        const bg_buf *bytes = p->id == BG_SEC_STRB ? &a->strb : p->id == BG_SEC_CODE ? &a->code : &p->bytes;
        has_strb |= p->id == BG_SEC_STRB;
        has_code |= p->id == BG_SEC_CODE;
        failed |= bytes->failed;
        memcpy(parts[i].tag, p->tag, sizeof p->tag);
        parts[i].bytes = bg_buf_view(bytes);
    }
    bg_status status = BG_OK;
    if (parts == NULL || failed)
        status = nomem(a);
    else if (!has_strb || !has_code)
        status = bg_lex_bad(&a->lex, a->lex.at, "section \"%s\" is missing", has_strb ? "CODE" : "STRB");
    else
        status = bg_layout_write(parts, a->parts.n, out, a->lex.err);
    free(parts);
    return status;
}

bg_status bg_image_asm(bg_str text, bg_buf *out, bg_error *err)
{
    as a = {.lex = {text, 0, err}};
    bg_status status = lines(&a);
    if (status == BG_OK)
        status = write_parts(&a, out);
    for (size_t i = 0; i < a.parts.n; i++)
        bg_buf_clear(&a.parts.at[i].bytes);
    BG_VEC_CLEAR(&a.parts);
    BG_VEC_CLEAR(&a.str_ids);
    BG_VEC_CLEAR(&a.labels);
    BG_VEC_CLEAR(&a.jumps);
    bg_buf_clear(&a.strb);
    bg_buf_clear(&a.code);
    bg_buf_clear(&a.scratch);
    bg_strpool_clear(&a.strs);
    bg_strpool_clear(&a.names);
    return status;
}
