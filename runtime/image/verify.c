#include "image/verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "image/tables.h"

typedef struct {
    const bg_graph *g;
    const unsigned char *at[BG_SEC_COUNT];
    uint32_t n[BG_SEC_COUNT]; /* records with slot 0, or bytes */
    bg_error *err;
} ctx;

static bg_status bad(const ctx *c, const void *where, const char *what)
{
    uint64_t offset = where == NULL ? 0 : (uint64_t)((const unsigned char *)where - c->g->bytes);
    bg_status s = bg_error_set(c->err, BG_E_CORRUPT, "the image is damaged: %s (byte %llu). Compile it again.", what,
                               (unsigned long long)offset);
    if (c->err != NULL)
        c->err->offset = offset;
    return s;
}

/* Every field of every record against its shape. */
static bg_status check_record(const ctx *c, const bg_section_info *info, const unsigned char *rec)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < info->n_fields; i++) {
        const bg_field_info *f = &info->fields[i];
        const unsigned char *p = rec + 4 * (size_t)i;
        uint32_t v = bg_get_u32(p);
        uint32_t limit = f->shape == BG_SHAPE_U32 || f->shape == BG_SHAPE_ENUM ? 0 : c->n[f->target];
        switch (f->shape) {
        case BG_SHAPE_U32:
            break;
        case BG_SHAPE_ENUM:
            if (v >= f->target)
                return bad(c, p, "a field has a value that does not exist");
            break;
        case BG_SHAPE_REF:
            if (v == 0 || v >= limit)
                return bad(c, p, "a reference leads nowhere");
            break;
        case BG_SHAPE_REF0:
            if (v != 0 && v >= limit)
                return bad(c, p, "a reference leads nowhere");
            break;
        case BG_SHAPE_FIRST:
            first = v;
            break;
        case BG_SHAPE_COUNT:
            if (v == 0 ? first != 0 : (first == 0 || first >= limit || v > limit - first))
                return bad(c, p, "a run lies outside its section");
            break;
        }
    }
    return BG_OK;
}

static bg_status check_fields(const ctx *c)
{
    for (uint32_t s = 1; s < BG_SEC_COUNT; s++) {
        const bg_section_info *info = &bg_section_table[s];
        if (info->is_bytes || c->n[s] == 0)
            continue;
        size_t size = (size_t)info->n_fields * 4;
        for (size_t i = 0; i < size; i++) {
            if (c->at[s][i] != 0)
                return bad(c, c->at[s] + i, "the empty slot of a section is not empty");
        }
        for (uint32_t r = 1; r < c->n[s]; r++)
            BG_TRY(check_record(c, info, c->at[s] + r * size));
    }
    return BG_OK;
}

static bg_status check_strings(const ctx *c)
{
    const bg_graph *g = c->g;
    for (uint32_t i = 1; i < g->n_strs; i++) {
        const bg_img_strs *s = &g->strs[i];
        if (s->offset >= g->n_str_bytes || s->len >= g->n_str_bytes - s->offset ||
            g->str_bytes[s->offset + s->len] != 0)
            return bad(c, s, "a string lies outside or does not end");
    }
    return BG_OK;
}

static bg_status check_program(const ctx *c, const bg_img_progs *p)
{
    const bg_graph *g = c->g;
    if (p->code > g->n_code || p->len > g->n_code - p->code)
        return bad(c, p, "a program lies outside the code");
    const unsigned char *code = g->code + p->code;
    uint32_t depth = 0;
    bg_error err = {0};
    bg_status status = bg_prog_depth(code, p->len, &depth, &err);
    if (status == BG_E_CORRUPT)
        return bad(c, p->len == 0 ? (const void *)p : code + (err.offset < p->len ? err.offset : 0), err.text);
    BG_TRY(status);
    if (depth != p->max_stack)
        return bad(c, p, "a program needs another stack than it says");
    for (uint32_t pc = 0; pc < p->len;) {
        bg_op op = (bg_op)code[pc];
        const bg_op_info *info = &bg_op_table[op];
        uint32_t v = info->shape == BG_OPERAND_NONE ? 0 : bg_get_u32(code + pc + 1);
        if (info->shape == BG_OPERAND_REF && (v == 0 || v >= c->n[info->target]))
            return bad(c, code + pc, "an operand leads nowhere");
        if ((op == BG_OP_BOOL && v > 1) || (op == BG_OP_RENDER && v >= BG_RENDER_COUNT) ||
            (op == BG_OP_MACHINE && v >= BG_MACHINE_COUNT))
            return bad(c, code + pc, "an operand has a value that does not exist");
        pc += bg_op_size(op);
    }
    return BG_OK;
}

static bg_status check_programs(const ctx *c)
{
    for (uint32_t i = 1; i < c->g->n_progs; i++)
        BG_TRY(check_program(c, &c->g->progs[i]));
    return BG_OK;
}

/* Relative, no empty part, no "." or "..": it stays below any directory that it is joined to. */
static bool is_safe_path(bg_str s)
{
    if (s.len == 0 || memchr(s.ptr, 0, s.len) != NULL)
        return false;
    for (size_t i = 0; i <= s.len;) {
        const char *slash = i < s.len ? memchr(s.ptr + i, '/', s.len - i) : NULL;
        size_t n = slash == NULL ? s.len - i : (size_t)(slash - (s.ptr + i));
        if (n == 0 || (n == 1 && s.ptr[i] == '.') || (n == 2 && s.ptr[i] == '.' && s.ptr[i + 1] == '.'))
            return false;
        i += n + 1;
    }
    return true;
}

/* Names become directories: the same rule. All different. */
static bg_status check_names(const ctx *c)
{
    const bg_graph *g = c->g;
    uint32_t n_slots = 16;
    while (n_slots / 2 < g->n_nodes)
        n_slots *= 2;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (slots == NULL)
        return bg_error_set(c->err, BG_E_NOMEM, "out of memory while checking an image");
    bg_status status = BG_OK;
    for (uint32_t i = 1; i < g->n_nodes && status == BG_OK; i++) {
        bg_str name = bg_graph_str(g, g->nodes[i].name);
        uint32_t at = (uint32_t)bg_hash_bytes(name.ptr, name.len) & (n_slots - 1);
        while (slots[at] != 0 && !bg_str_eq(name, bg_graph_str(g, g->nodes[slots[at]].name)))
            at = (at + 1) & (n_slots - 1);
        if (slots[at] != 0)
            status = bad(c, &g->nodes[i], "two nodes have one name");
        else if (!is_safe_path(name))
            status = bad(c, &g->nodes[i], "a node's name is not a relative path");
        slots[at] = i;
    }
    free(slots);
    return status;
}

/* Runs of products, outputs, work directories, commands and edges: each record belongs to exactly one node. The nodes' runs follow each
 * other in the order of nodes, so adding them up is enough. */
static bg_status check_owners(const ctx *c)
{
    const bg_graph *g = c->g;
    uint32_t next_prod = 1, next_out = 1, next_work = 1, next_cmd = 1, next_edge = 1;
    for (uint32_t i = 1; i < g->n_nodes; i++) {
        const bg_img_nodes *n = &g->nodes[i];
        if (n->n_prods == 0 || n->prods != next_prod || (n->n_outs != 0 && n->outs != next_out) ||
            (n->n_works != 0 && n->works != next_work) || (n->n_cmds != 0 && n->cmds != next_cmd) ||
            (n->n_edges != 0 && n->edges != next_edge))
            return bad(c, n, "what a node owns is not in the order of nodes");
        if (n->cpus == 0)
            return bad(c, n, "a node takes no job slot");
        for (uint32_t p = n->prods; p < n->prods + n->n_prods; p++) {
            if (g->prods[p].node != i || (g->prods[p].is_early != 0) != (p != n->prods))
                return bad(c, &g->prods[p], "a product is not its node's, or not in order");
        }
        for (uint32_t o = n->outs; o < n->outs + n->n_outs; o++) {
            if (g->prods[g->outs[o].prod].node != i)
                return bad(c, &g->outs[o], "an output is not its node's");
            if (!is_safe_path(bg_graph_str(g, g->outs[o].path)))
                return bad(c, &g->outs[o], "an output's path leaves its directory");
        }
        for (uint32_t w = n->works; w < n->works + n->n_works; w++) {
            if (g->works[w].node != i || !is_safe_path(bg_graph_str(g, g->works[w].name)))
                return bad(c, &g->works[w], "a work directory is not its node's, or leaves its place");
        }
        for (uint32_t e = n->edges; e < n->edges + n->n_edges; e++) {
            if (g->edges[e].node != i || g->prods[g->edges[e].prod].node == i)
                return bad(c, &g->edges[e], "an edge is not its node's, or leads to itself");
        }
        next_prod += n->n_prods;
        next_out += n->n_outs;
        next_work += n->n_works;
        next_cmd += n->n_cmds;
        next_edge += n->n_edges;
    }
#define ALL(next, count) ((count) == 0 ? (next) == 1 : (next) == (count))
    if (!ALL(next_prod, g->n_prods) || !ALL(next_out, g->n_outs) || !ALL(next_work, g->n_works) ||
        !ALL(next_cmd, g->n_cmds) || !ALL(next_edge, g->n_edges))
        return bad(c, NULL, "a record belongs to no node");
#undef ALL
    return BG_OK;
}

static bg_status check_groups(const ctx *c)
{
    for (uint32_t i = 1; i < c->g->n_groups; i++) {
        if (c->g->groups[i].parent >= i)
            return bad(c, &c->g->groups[i], "a group lies in a later one");
    }
    return BG_OK;
}

/* Every node after what it consumes, by counting; what is left over is a cycle. */
static bg_status check_acyclic(const ctx *c)
{
    const bg_graph *g = c->g;
    if (g->n_nodes == 0 || g->n_edges == 0)
        return BG_OK;
    size_t n = g->n_nodes, n_edges = g->n_edges;
    uint32_t *missing = calloc(n, sizeof *missing), *first = calloc(n + 1, sizeof *first);
    uint32_t *users = malloc(n_edges * sizeof *users), *ready = malloc(n * sizeof *ready);
    bg_status status = BG_OK;
    if (missing == NULL || first == NULL || users == NULL || ready == NULL) {
        status = bg_error_set(c->err, BG_E_NOMEM, "out of memory while checking an image");
        goto out;
    }
    for (size_t e = 1; e < n_edges; e++) {
        missing[g->edges[e].node]++;
        first[g->prods[g->edges[e].prod].node + 1]++;
    }
    for (size_t i = 1; i <= n; i++)
        first[i] += first[i - 1];
    for (size_t e = n_edges; e-- > 1;) /* fills each producer's run from its end; first[p + 1] moves to its start */
        users[--first[g->prods[g->edges[e].prod].node + 1]] = g->edges[e].node;
    size_t n_ready = 0, n_done = 0;
    for (uint32_t i = 1; i < n; i++) {
        if (missing[i] == 0)
            ready[n_ready++] = i;
    }
    while (n_done < n_ready) {
        uint32_t p = ready[n_done++];
        size_t end = p + 2 <= n ? first[p + 2] : n_edges - 1;
        for (size_t u = first[p + 1]; u < end; u++) {
            if (--missing[users[u]] == 0)
                ready[n_ready++] = users[u];
        }
    }
    if (n_done != n - 1)
        status = bad(c, g->edges, "its edges lead in a cycle");
out:
    free(missing);
    free(first);
    free(users);
    free(ready);
    return status;
}

bg_status bg_image_verify(const bg_graph *graph, bg_error *err)
{
    ctx c = {.g = graph, .err = err};
#define BG_BYTES(tag, member, doc)                                                                 \
    c.at[BG_SEC_##tag] = graph->member;                                                            \
    c.n[BG_SEC_##tag] = graph->n_##member;
#define BG_SECTION(tag, member, doc)                                                               \
    c.at[BG_SEC_##tag] = (const unsigned char *)graph->member;                                     \
    c.n[BG_SEC_##tag] = graph->n_##member;
#define BG_FIELD(tag, member, field, shape, target, doc)
#define BG_SECTION_END(tag, member)
#include "image/sections.def"
#undef BG_BYTES
#undef BG_SECTION
#undef BG_FIELD
#undef BG_SECTION_END
    if (graph->n_files < 2)
        return bad(&c, NULL, "it names no source file");
    BG_TRY(check_fields(&c));
    BG_TRY(check_strings(&c));
    BG_TRY(check_groups(&c));
    BG_TRY(check_owners(&c));
    BG_TRY(check_names(&c));
    BG_TRY(check_programs(&c));
    return check_acyclic(&c);
}
