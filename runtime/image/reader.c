/* Header, checksum and section table of an image -> the arrays of a bg_graph. */
#include <string.h>

#include "base/hash.h"
#include "image/tables.h"
#include "image/verify.h"

_Static_assert(sizeof(bg_img_nodes) % 4 == 0, "records are arrays of uint32");

static bg_status bad(bg_error *err, uint64_t offset, const char *what)
{
    bg_status s = bg_error_set(err, BG_E_CORRUPT, "the image is damaged: %s (byte %llu). Compile it again.", what,
                               (unsigned long long)offset);
    if (err != NULL)
        err->offset = offset;
    return s;
}

static bg_status check_header(const unsigned char *p, size_t n, bg_error *err)
{
    if (n < BG_IMAGE_HEADER_BYTES || memcmp(p, BG_IMAGE_MAGIC, 16) != 0)
        return bad(err, 0, n < BG_IMAGE_HEADER_BYTES ? "it is too short" : "it does not begin as an image does");
    if (bg_get_u32(p + 16) != BG_IMAGE_VERSION)
        return bg_error_set(err, BG_E_VERSION, "the image has format version %u, this bgc reads %u. Compile it again.",
                            bg_get_u32(p + 16), BG_IMAGE_VERSION);
    if (bg_get_u64(p + 24) != n)
        return bad(err, 24, "its size is not the one it was written with");
    for (size_t i = BG_IMAGE_CHECKSUM_AT + 8; i < BG_IMAGE_HEADER_BYTES; i++) {
        if (p[i] != 0)
            return bad(err, i, "a reserved byte is set");
    }
    if (bg_hash_bytes(p + BG_IMAGE_HEADER_BYTES, n - BG_IMAGE_HEADER_BYTES) != bg_get_u64(p + BG_IMAGE_CHECKSUM_AT))
        return bad(err, BG_IMAGE_CHECKSUM_AT, "its checksum is wrong");
    return BG_OK;
}

static bg_section_id section_by_tag(const unsigned char *tag)
{
    for (uint32_t s = 1; s < BG_SEC_COUNT; s++) {
        if (memcmp(bg_section_table[s].tag, tag, 4) == 0)
            return (bg_section_id)s;
    }
    return BG_SEC_NONE;
}

static void place(bg_graph *g, bg_section_id section, const unsigned char *at, uint32_t n)
{
    switch (section) {
#define BG_BYTES(tag, member, doc)                                                                 \
    case BG_SEC_##tag:                                                                             \
        g->member = at;                                                                            \
        g->n_##member = n;                                                                         \
        break;
#define BG_SECTION(tag, member, doc)                                                               \
    case BG_SEC_##tag:                                                                             \
        g->member = (const void *)at;                                                              \
        g->n_##member = n / (uint32_t)sizeof(bg_img_##member);                                     \
        break;
#define BG_FIELD(tag, member, field, shape, target, doc)
#define BG_SECTION_END(tag, member)
#include "image/sections.def"
#undef BG_BYTES
#undef BG_SECTION
#undef BG_FIELD
#undef BG_SECTION_END
    case BG_SEC_NONE:
    case BG_SEC_COUNT:
        break;
    }
}

static bg_status read_table(bg_graph *g, bg_error *err)
{
    const unsigned char *p = g->bytes;
    uint64_t n = bg_get_u32(p + 20), seen = 0;
    uint64_t end = BG_IMAGE_HEADER_BYTES + n * BG_IMAGE_ENTRY_BYTES;
    if (end > g->size_bytes)
        return bad(err, 20, "the section table is cut off");
    for (uint64_t i = 0; i < n; i++) {
        const unsigned char *e = p + BG_IMAGE_HEADER_BYTES + i * BG_IMAGE_ENTRY_BYTES;
        uint64_t offset = bg_get_u64(e + 8), size = bg_get_u64(e + 16);
        if (offset % 8 != 0 || offset < end || offset > g->size_bytes || size > g->size_bytes - offset)
            return bad(err, (uint64_t)(e - p), "a section lies outside, overlaps or is not aligned");
        end = offset + size;
        bg_section_id s = section_by_tag(e);
        if (s == BG_SEC_NONE)
            continue;
        const bg_section_info *info = &bg_section_table[s];
        if (seen >> s & 1)
            return bad(err, (uint64_t)(e - p), "a section is there twice");
        if (!info->is_bytes && size % (info->n_fields * 4) != 0)
            return bad(err, (uint64_t)(e - p), "a section holds half a record");
        seen |= (uint64_t)1 << s;
        place(g, s, p + offset, (uint32_t)size);
    }
    return BG_OK;
}

bg_status bg_graph_load(bg_graph *out, const void *bytes, size_t n, bg_error *err)
{
    const union {
        uint32_t word;
        unsigned char byte;
    } order = {1};
    *out = (bg_graph){0};
    if (order.byte != 1)
        return bg_error_set(err, BG_E_VERSION, "images are read on little-endian machines only");
    if ((uintptr_t)bytes % 8 != 0)
        return bg_error_set(err, BG_E_USAGE, "an image must lie at an address that is a multiple of 8");
    if (n > UINT32_MAX)
        return bg_error_set(err, BG_E_LIMIT, "an image holds at most 4 GiB");
    BG_TRY(check_header(bytes, n, err));
    bg_graph g = {.bytes = bytes, .size_bytes = n};
    BG_TRY(read_table(&g, err));
    BG_TRY(bg_image_verify(&g, err));
    *out = g;
    return BG_OK;
}

bg_str bg_graph_str(const bg_graph *graph, uint32_t str)
{
    if (str == 0)
        return (bg_str){"", 0};
    const bg_img_strs *s = &graph->strs[str];
    return (bg_str){(const char *)graph->str_bytes + s->offset, s->len};
}

int64_t bg_graph_int(const bg_graph *graph, uint32_t id)
{
    if (id == 0)
        return 0;
    return (int64_t)((uint64_t)graph->ints[id].lo | (uint64_t)graph->ints[id].hi << 32);
}

uint32_t bg_graph_find_node(const bg_graph *graph, bg_str name)
{
    for (uint32_t i = 1; i < graph->n_nodes; i++) {
        if (bg_str_eq(bg_graph_str(graph, graph->nodes[i].name), name))
            return i;
    }
    return 0;
}
