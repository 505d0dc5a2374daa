#include "image/verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/paths.h"
#include "image/depth.h"
#include "image/layout.h"
#include "image/tables.h"

typedef struct {
    const bg_graph *g;
    const void *at[BG_SEC_COUNT];
    uint32_t n[BG_SEC_COUNT]; /* records with slot 0, or bytes */
    bg_error *err;
} ctx;

static bg_status bad(const ctx *c, const void *where, const char *what)
{
    return bg_layout_bad(c->err, where == NULL ? 0 : (uint64_t)((const unsigned char *)where - c->g->bytes), what);
}

/* The values that a field may have: `n` of them from `lo`. */
typedef struct {
    uint64_t n;
    uint32_t lo;
} range;

static range range_of(const ctx *c, const bg_field_info *f)
{
    switch (f->shape) {
    case BG_SHAPE_U32:
        return (range){(uint64_t)UINT32_MAX + 1, 0};
    case BG_SHAPE_ENUM:
        return (range){f->target, 0};
    case BG_SHAPE_REF:
        return (range){c->n[f->target] == 0 ? 0 : c->n[f->target] - 1, 1};
    case BG_SHAPE_REF0:
    case BG_SHAPE_FIRST:
    case BG_SHAPE_COUNT:
        break;
    }
    return (range){c->n[f->target] == 0 ? 1 : c->n[f->target], 0};
}

static bg_status check_runs(const ctx *c, const bg_section_info *info, const uint32_t *rec)
{
    for (uint32_t i = 1; i < info->n_fields; i++) {
        if (info->fields[i].shape != BG_SHAPE_COUNT)
            continue;
        uint32_t first = rec[i - 1], n = rec[i];
        if ((n == 0) != (first == 0) || (n != 0 && n > c->n[info->fields[i].target] - first))
            return bad(c, &rec[i - 1], "a run lies outside its section");
    }
    return BG_OK;
}

static bg_status check_section(const ctx *c, const bg_section_info *info, const uint32_t *rec, uint32_t n)
{
    range ranges[BG_IMAGE_MAX_FIELDS];
    bool has_runs = false;
    for (uint32_t i = 0; i < info->n_fields; i++) {
        ranges[i] = range_of(c, &info->fields[i]);
        has_runs |= info->fields[i].shape == BG_SHAPE_COUNT;
        if (rec[i] != 0)
            return bad(c, &rec[i], "the empty slot of a section is not empty");
    }
    for (uint32_t r = 1; r < n; r++) {
        rec += info->n_fields;
        for (uint32_t i = 0; i < info->n_fields; i++) {
            if (rec[i] - ranges[i].lo >= ranges[i].n)
                return bad(c, &rec[i], "a field has a value that does not exist, or leads nowhere");
        }
        if (has_runs)
            BG_TRY(check_runs(c, info, rec));
    }
    return BG_OK;
}

/* Every field of every record against its shape. */
static bg_status check_fields(const ctx *c)
{
    for (uint32_t s = 1; s < BG_SEC_COUNT; s++) {
        const bg_section_info *info = &bg_section_table[s];
        if (!info->is_bytes && c->n[s] != 0)
            BG_TRY(check_section(c, info, c->at[s], c->n[s]));
    }
    return BG_OK;
}

/* The bytes of strings follow each other in the order of ids, with nothing else between. */
static bg_status check_strings(const ctx *c)
{
    const bg_graph *g = c->g;
    uint64_t next = 0;
    for (uint32_t i = 1; i < g->n_strs; i++) {
        const bg_img_strs *s = &g->strs[i];
        if (s->offset != next || next >= g->n_str_bytes || s->len >= g->n_str_bytes - next)
            return bad(c, s, "a string lies outside or is not where the one before it ends");
        if (g->str_bytes[next + s->len] != 0)
            return bad(c, &g->str_bytes[next + s->len], "a string does not end in NUL");
        next += (uint64_t)s->len + 1;
    }
    return next == g->n_str_bytes ? BG_OK : bad(c, g->str_bytes, "there are bytes that belong to no string");
}

/* One program, which begins at `next` in the code. */
static bg_status check_program(const ctx *c, bg_depth_scratch *scratch, const bg_img_progs *p, uint32_t next)
{
    const bg_graph *g = c->g;
    if (p->code != next || p->len > g->n_code - next)
        return bad(c, p, "a program lies outside the code or is not where the one before it ends");
    if (p->len == 0)
        return bad(c, p, "a program is empty");
    const unsigned char *code = g->code + next;
    uint32_t depth = 0;
    bg_error err = {0};
    bg_status status = bg_depth_check(scratch, code, p->len, c->n, &depth, &err);
    if (status == BG_E_CORRUPT)
        return bad(c, code + err.offset, err.text);
    if (status != BG_OK)
        return bg_error_set(c->err, status, "%s", err.text);
    return depth == p->max_stack ? BG_OK : bad(c, &p->max_stack, "a program needs another stack than it says");
}

static bg_status check_programs(const ctx *c)
{
    bg_depth_scratch scratch = {0};
    bg_status status = BG_OK;
    uint32_t next = 0;
    for (uint32_t i = 1; i < c->g->n_progs && status == BG_OK; i++) {
        status = check_program(c, &scratch, &c->g->progs[i], next);
        next += c->g->progs[i].len;
    }
    bg_depth_scratch_clear(&scratch);
    if (status == BG_OK && next != c->g->n_code)
        status = bad(c, c->g->code + next, "there is code that belongs to no program");
    return status;
}

/* A slot of a hash table keeps the hash too, so that a collision is seen without looking at the name. */
typedef struct {
    uint32_t hash, node;
} name_slot;

static bg_status add_name(const ctx *c, name_slot *slots, uint32_t mask, uint32_t node)
{
    const bg_graph *g = c->g;
    bg_str name = bg_graph_str(g, g->nodes[node].name);
    uint32_t hash = (uint32_t)bg_hash_bytes(name.ptr, name.len), at = hash & mask;
    if (!bg_path_is_safe(name, SIZE_MAX))
        return bad(c, &g->nodes[node], "a node's name is not a relative path");
    for (; slots[at].node != 0; at = (at + 1) & mask) {
        if (slots[at].hash == hash && bg_str_eq(name, bg_graph_str(g, g->nodes[slots[at].node].name)))
            return bad(c, &g->nodes[node], "two nodes have one name");
    }
    slots[at] = (name_slot){hash, node};
    return BG_OK;
}

/* Names become directories: the same rule. All different. */
static bg_status check_names(const ctx *c)
{
    size_t n_slots = 16;
    while (n_slots / 2 < c->g->n_nodes)
        n_slots *= 2;
    name_slot *slots = calloc(n_slots, sizeof *slots);
    if (slots == NULL)
        return bg_error_set(c->err, BG_E_NOMEM, "out of memory while checking an image");
    bg_status status = BG_OK;
    for (uint32_t i = 1; i < c->g->n_nodes && status == BG_OK; i++)
        status = add_name(c, slots, (uint32_t)(n_slots - 1), i);
    free(slots);
    return status;
}

static bg_status check_prods(const ctx *c, uint32_t node, const bg_img_nodes *n)
{
    const bg_graph *g = c->g;
    if (!bg_str_is(bg_graph_str(g, g->prods[n->prods].name), "link"))
        return bad(c, &g->prods[n->prods], "the first product of a node is not `link`");
    for (uint32_t p = n->prods; p < n->prods + n->n_prods; p++) {
        if (g->prods[p].node != node || (g->prods[p].is_early != 0) != (p != n->prods))
            return bad(c, &g->prods[p], "a product is not its node's, or not in order");
    }
    return BG_OK;
}

static bg_status check_outs(const ctx *c, uint32_t node, const bg_img_nodes *n)
{
    const bg_graph *g = c->g;
    for (uint32_t o = n->outs; o < n->outs + n->n_outs; o++) {
        if (g->prods[g->outs[o].prod].node != node)
            return bad(c, &g->outs[o], "an output is not its node's");
        if (!bg_path_is_safe(bg_graph_str(g, g->outs[o].path), SIZE_MAX))
            return bad(c, &g->outs[o], "an output's path leaves its directory");
    }
    for (uint32_t w = n->works; w < n->works + n->n_works; w++) {
        if (g->works[w].node != node || !bg_path_is_safe(bg_graph_str(g, g->works[w].name), SIZE_MAX))
            return bad(c, &g->works[w], "a work directory is not its node's, or leaves its place");
    }
    return BG_OK;
}

static bg_status check_edges(const ctx *c, uint32_t node, const bg_img_nodes *n)
{
    const bg_graph *g = c->g;
    for (uint32_t e = n->edges; e < n->edges + n->n_edges; e++) {
        if (g->edges[e].node != node || g->prods[g->edges[e].prod].node == node)
            return bad(c, &g->edges[e], "an edge is not its node's, or leads to itself");
    }
    return BG_OK;
}

/* A run that begins where the node's before it ended. */
static bool follows(uint32_t first, uint32_t n, uint32_t *next)
{
    bool ok = n == 0 || first == *next;
    *next += n;
    return ok;
}

static bool is_whole(uint32_t next, uint32_t n)
{
    return n == 0 ? next == 1 : next == n;
}

/* Runs of products, outputs, work directories, commands and edges: each record belongs to exactly one node. The nodes' runs follow each
 * other in the order of nodes, so adding them up is enough. */
static bg_status check_owners(const ctx *c)
{
    const bg_graph *g = c->g;
    uint32_t prods = 1, outs = 1, works = 1, cmds = 1, edges = 1; /* where the next run begins */
    for (uint32_t i = 1; i < g->n_nodes; i++) {
        const bg_img_nodes *n = &g->nodes[i];
        if (n->n_prods == 0 || !follows(n->prods, n->n_prods, &prods) || !follows(n->outs, n->n_outs, &outs) ||
            !follows(n->works, n->n_works, &works) || !follows(n->cmds, n->n_cmds, &cmds) ||
            !follows(n->edges, n->n_edges, &edges))
            return bad(c, n, "what a node owns is not in the order of nodes");
        if (n->cpus == 0)
            return bad(c, n, "a node takes no job slot");
        BG_TRY(check_prods(c, i, n));
        BG_TRY(check_outs(c, i, n));
        BG_TRY(check_edges(c, i, n));
    }
    if (!is_whole(prods, g->n_prods) || !is_whole(outs, g->n_outs) || !is_whole(works, g->n_works) ||
        !is_whole(cmds, g->n_cmds) || !is_whole(edges, g->n_edges))
        return bad(c, NULL, "a record belongs to no node");
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
    for (uint32_t i = 1; i < BG_SEC_COUNT; i++) {
        bg_section_view view = bg_graph_section(graph, (bg_section_id)i);
        c.at[i] = view.at;
        c.n[i] = view.n;
    }
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
