/* An image as text: one record a line, programs as blocks of mnemonics. Everything that is not in the text (offsets, sizes,
 * the checksum) follows from it.
 *
 *   image 1
 *   section "STRI"
 *   stri 1 "llvm/instr"                     escapes: \" \\ \n \t \r \xHH
 *   section "NODE"
 *   node 1 name="llvm/instr" prods=1+2 …    fields that are zero are left out; #id refers to a record, a quoted string to the
 *                                           first string with these bytes; first+count is a run
 *   section "PROG"
 *   prog 1 max_stack=2 span=#3              its instructions follow, up to ret
 *       unless L12
 *   L12:
 *   section "XYZW"                          a section that this version does not know
 *   hex 00112233
 *
 * A ; begins a comment, up to the line's end. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/strpool.h"
#include "base/utf8.h"
#include "image/layout.h"
#include "image/tables.h"

/* Longer strings are referred to by id: a long one that is used often would make the text much larger than the image. */
enum { MAX_QUOTED = 64, HEX_BYTES_A_LINE = 32 };

typedef struct {
    const bg_graph *g;
    bg_buf *out;
    bool *is_quoted; /* by string id: short, and the first of its bytes */
} dis;

static char escape_of(char c)
{
    switch (c) {
    case '"':
    case '\\':
        return c;
    case '\n':
        return 'n';
    case '\t':
        return 't';
    case '\r':
        return 'r';
    default:
        return '\0';
    }
}

static void put_quoted(bg_buf *out, bg_str s)
{
    bg_buf_putc(out, '"');
    for (size_t i = 0; i < s.len;) {
        char c = s.ptr[i];
        size_t n = bg_utf8_len(s.ptr + i, s.len - i);
        if (escape_of(c) != '\0')
            bg_buf_printf(out, "\\%c", escape_of(c));
        else if (n == 0 || (unsigned char)c < 0x20 || c == 0x7F)
            bg_buf_printf(out, "\\x%02x", (unsigned char)c);
        else
            bg_buf_put(out, s.ptr + i, n);
        i += n == 0 ? 1 : n;
    }
    bg_buf_putc(out, '"');
}

/* Take back what was appended after `len`. */
static void cut(bg_buf *out, size_t len)
{
    if (out->failed)
        return;
    out->len = len;
    out->data[len] = '\0';
}

static void put_keyword(bg_buf *out, const char *tag)
{
    for (; *tag != '\0'; tag++)
        bg_buf_putc(out, *tag >= 'A' && *tag <= 'Z' ? (char)(*tag - 'A' + 'a') : *tag);
}

static void put_ref(dis *d, uint32_t section, uint32_t id)
{
    if (section == BG_SEC_STRI && d->is_quoted[id])
        put_quoted(d->out, bg_graph_str(d->g, id));
    else
        bg_buf_printf(d->out, "#%u", id);
}

/* What a person would call a record, for a comment: its number, or its first string. False: it has no such name. */
static bool put_name(dis *d, uint32_t section, uint32_t id)
{
    const bg_section_info *info = &bg_section_table[section];
    const uint32_t *rec = bg_graph_section(d->g, (bg_section_id)section).at;
    rec += (size_t)id * info->n_fields;
    if (section == BG_SEC_INTS) {
        bg_buf_printf(d->out, "%lld", (long long)bg_graph_int(d->g, id));
        return true;
    }
    for (uint32_t i = 0; i < info->n_fields; i++) {
        if (info->fields[i].shape == BG_SHAPE_REF && info->fields[i].target == BG_SEC_STRI && d->is_quoted[rec[i]]) {
            put_quoted(d->out, bg_graph_str(d->g, rec[i]));
            return true;
        }
    }
    return false;
}

static void put_comment(dis *d, const bg_section_info *info, const uint32_t *rec)
{
    bool any = false;
    for (uint32_t i = 0; i < info->n_fields; i++) {
        const bg_field_info *f = &info->fields[i];
        if ((f->shape != BG_SHAPE_REF && f->shape != BG_SHAPE_REF0) || f->target == BG_SEC_STRI || rec[i] == 0)
            continue;
        size_t before = d->out->len;
        bg_buf_printf(d->out, "%s%s ", any ? ", " : " ; ", f->name);
        if (put_name(d, f->target, rec[i]))
            any = true;
        else
            cut(d->out, before);
    }
}

static void put_field(dis *d, const bg_field_info *f, const uint32_t *v)
{
    if (*v == 0 || f->shape == BG_SHAPE_COUNT)
        return;
    bg_buf_printf(d->out, " %s=", f->name);
    if (f->shape == BG_SHAPE_REF || f->shape == BG_SHAPE_REF0)
        put_ref(d, f->target, *v);
    else if (f->shape == BG_SHAPE_FIRST)
        bg_buf_printf(d->out, "%u+%u", v[0], v[1]);
    else
        bg_buf_printf(d->out, "%u", *v);
}

static void put_op(dis *d, bg_op op, uint32_t v, uint32_t next)
{
    const bg_op_info *info = &bg_op_table[op];
    bg_buf_printf(d->out, "    %s", info->mnemonic);
    switch (info->shape) {
    case BG_OPERAND_NONE:
        break;
    case BG_OPERAND_U32:
    case BG_OPERAND_ENUM:
        bg_buf_printf(d->out, " %u", v);
        break;
    case BG_OPERAND_REF:
        bg_buf_putc(d->out, ' ');
        put_ref(d, info->target, v);
        if (info->target != BG_SEC_STRI) {
            size_t before = d->out->len;
            bg_buf_puts(d->out, " ; ");
            if (!put_name(d, info->target, v))
                cut(d->out, before);
        }
        break;
    case BG_OPERAND_JUMP:
        bg_buf_printf(d->out, " L%u", next + v);
        break;
    }
    bg_buf_putc(d->out, '\n');
}

/* Labels are offsets in the program. */
static bg_status put_program(dis *d, const bg_img_progs *p)
{
    const unsigned char *code = d->g->code + p->code;
    bool *is_target = calloc(p->len, sizeof *is_target);
    if (is_target == NULL)
        return BG_E_NOMEM;
    for (uint32_t pc = 0; pc < p->len;) {
        bg_op op = (bg_op)code[pc];
        uint32_t size = bg_op_size(op), v = size == 1 ? 0 : bg_get_u32(code + pc + 1);
        if (is_target[pc])
            bg_buf_printf(d->out, "  L%u:\n", pc);
        pc += size;
        if (bg_op_table[op].shape == BG_OPERAND_JUMP)
            is_target[pc + v] = true;
        put_op(d, op, v, pc);
    }
    free(is_target);
    return BG_OK;
}

static bg_status put_records(dis *d, bg_section_id section)
{
    const bg_section_info *info = &bg_section_table[section];
    bg_section_view view = bg_graph_section(d->g, section);
    const uint32_t *rec = view.at;
    for (uint32_t id = 1; id < view.n && !d->out->failed; id++) {
        rec += info->n_fields;
        put_keyword(d->out, info->tag);
        bg_buf_printf(d->out, " %u", id);
        if (section == BG_SEC_STRI) {
            bg_buf_putc(d->out, ' ');
            put_quoted(d->out, bg_graph_str(d->g, id));
        }
        for (uint32_t i = info->n_derived; i < info->n_fields; i++)
            put_field(d, &info->fields[i], &rec[i]);
        if (section == BG_SEC_INTS)
            bg_buf_printf(d->out, " ; %lld", (long long)bg_graph_int(d->g, id));
        put_comment(d, info, rec);
        bg_buf_putc(d->out, '\n');
        if (section == BG_SEC_PROG)
            BG_TRY(put_program(d, &d->g->progs[id]));
    }
    return BG_OK;
}

static void put_hex(bg_buf *out, bg_str bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        bg_buf_printf(out, "%s%02x", i % HEX_BYTES_A_LINE == 0 ? "hex " : "", (unsigned char)bytes.ptr[i]);
        if ((i + 1) % HEX_BYTES_A_LINE == 0 || i + 1 == bytes.len)
            bg_buf_putc(out, '\n');
    }
}

static bg_status put_sections(dis *d)
{
    bg_buf_printf(d->out, "image %u\n", BG_IMAGE_VERSION);
    uint32_t n = bg_get_u32(d->g->bytes + BG_IMAGE_COUNT_AT);
    for (uint32_t i = 0; i < n; i++) {
        bg_image_part part = bg_layout_at(d->g->bytes, i);
        bg_section_id section = bg_section_by_tag(part.tag);
        bg_buf_puts(d->out, "section ");
        put_quoted(d->out, (bg_str){part.tag, sizeof part.tag});
        bg_buf_putc(d->out, '\n');
        if (section == BG_SEC_NONE)
            put_hex(d->out, part.bytes);
        else if (!bg_section_table[section].is_bytes)
            BG_TRY(put_records(d, section));
    }
    return BG_OK;
}

static bg_status find_quoted(dis *d, bg_strpool *pool)
{
    d->is_quoted = calloc((size_t)d->g->n_strs + 1, sizeof *d->is_quoted);
    if (d->is_quoted == NULL)
        return BG_E_NOMEM;
    for (uint32_t id = 1; id < d->g->n_strs; id++) {
        bg_str s = bg_graph_str(d->g, id);
        uint32_t before = pool->n;
        if (s.len > MAX_QUOTED)
            continue;
        uint32_t at = bg_strpool_intern(pool, s);
        if (at == 0)
            return BG_E_NOMEM;
        d->is_quoted[id] = at > before;
    }
    return BG_OK;
}

bg_status bg_image_disasm(const bg_graph *graph, bg_buf *out)
{
    dis d = {.g = graph, .out = out};
    bg_strpool pool = {0};
    bg_status status = find_quoted(&d, &pool);
    bg_strpool_clear(&pool);
    if (status == BG_OK)
        status = put_sections(&d);
    free(d.is_quoted);
    return status == BG_OK && out->failed ? BG_E_NOMEM : status;
}
