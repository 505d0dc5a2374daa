/* Header, checksum and section table of an image -> the arrays of a bg_graph. */
#include <string.h>

#include "image/layout.h"
#include "image/tables.h"
#include "image/verify.h"

_Static_assert(sizeof(bg_img_nodes) % 4 == 0, "records are arrays of uint32");

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

/* Known sections come once each, in the order of sections.def; others may lie between them and are skipped. */
static bg_status read_table(bg_graph *g, bg_error *err)
{
    uint32_t n = 0;
    bg_section_id last = BG_SEC_NONE;
    BG_TRY(bg_layout_check(g->bytes, g->size_bytes, &n, err));
    for (uint32_t i = 0; i < n; i++) {
        bg_image_part part = bg_layout_at(g->bytes, i);
        bg_section_id s = bg_section_by_tag(part.tag);
        if (s == BG_SEC_NONE)
            continue;
        size_t record = bg_section_table[s].n_fields * 4;
        if (s <= last)
            return bg_layout_bad(err, bg_layout_entry(i), "a section is there twice, or not in order");
        if (part.bytes.len == 0 || (record != 0 && (part.bytes.len % record != 0 || part.bytes.len == record)))
            return bg_layout_bad(err, bg_layout_entry(i), "a section is empty or holds half a record");
        last = s;
        place(g, s, (const unsigned char *)part.bytes.ptr, (uint32_t)part.bytes.len);
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
    bg_graph g = {.bytes = bytes, .size_bytes = n};
    BG_TRY(read_table(&g, err));
    BG_TRY(bg_image_verify(&g, err));
    *out = g;
    return BG_OK;
}

bg_section_view bg_graph_section(const bg_graph *graph, bg_section_id section)
{
    switch (section) {
#define BG_BYTES(tag, member, doc)                                                                 \
    case BG_SEC_##tag:                                                                             \
        return (bg_section_view){graph->member, graph->n_##member};
#define BG_SECTION(tag, member, doc)                                                               \
    case BG_SEC_##tag:                                                                             \
        return (bg_section_view){graph->member, graph->n_##member};
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
    return (bg_section_view){NULL, 0};
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
