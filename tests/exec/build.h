/** Small graphs for tests of the scheduler, written as rows: name, what it runs, outputs, what it uses. A row's command is
 *  `sh WORD OUT… USED… INPUT…`, or with a script `sh -c SCRIPT sh OUT… USED… INPUT…`. */
#ifndef BG_TESTS_EXEC_BUILD_H
#define BG_TESTS_EXEC_BUILD_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "bgraph/image.h"

#ifndef TEST_ROWS
#define TEST_ROWS 32
#endif

typedef struct {
    const char *name; /* NULL ends the rows */
    const char *word, *script;
    const char *outs[4];   /* "x", "dir:x", "early:x" */
    const char *uses[4];   /* "node:link", "node:early" */
    const char *inputs[4]; /* below the root file's directory */
    const char *depfile;   /* name of an output */
    uint32_t retry, cpus, timeout_s, signal;
    bool off, pad;
} test_node;

typedef struct {
    bg_buf image;
    bg_graph graph;
} test_graph;

typedef struct {
    bg_image_writer *w;
    const test_node *rows;
    uint32_t span, tool, file, rule;
    uint32_t first_out[TEST_ROWS], first_prod[TEST_ROWS], first_edge[TEST_ROWS], cmd[TEST_ROWS], n_outs[TEST_ROWS],
        n_prods[TEST_ROWS], n_edges[TEST_ROWS];
} test_builder;

static inline uint32_t test_str(bg_image_writer *w, const char *s)
{
    return bg_image_str(w, bg_str_of(s));
}

static inline const char *test_after(const char *s)
{
    const char *colon = strchr(s, ':');
    return colon == NULL ? s : colon + 1;
}

static inline uint32_t test_row(const test_builder *b, const char *use)
{
    size_t n = strcspn(use, ":");
    for (uint32_t i = 0; b->rows[i].name != NULL; i++) {
        if (strlen(b->rows[i].name) == n && strncmp(b->rows[i].name, use, n) == 0)
            return i;
    }
    abort(); /* a use names no row */
}

static inline uint32_t test_find_out(const test_builder *b, uint32_t row, const char *name)
{
    for (uint32_t i = 0; i < b->n_outs[row]; i++) {
        if (strcmp(test_after(b->rows[row].outs[i]), name) == 0)
            return i;
    }
    return UINT32_MAX;
}

/* Product of an output: its own if it is early, else link. */
static inline uint32_t test_product(const test_builder *b, uint32_t row, uint32_t out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < out; i++)
        n += strncmp(b->rows[row].outs[i], "early:", 6) == 0;
    bool early = strncmp(b->rows[row].outs[out], "early:", 6) == 0;
    return b->first_prod[row] + (early ? n + 1 : 0);
}

static inline void test_number(test_builder *b)
{
    uint32_t out = 1, prod = 1, edge = 1;
    for (uint32_t i = 0; b->rows[i].name != NULL; i++) {
        b->first_out[i] = out;
        b->first_prod[i] = prod++;
        b->first_edge[i] = edge;
        for (uint32_t k = 0; k < 4 && b->rows[i].outs[k] != NULL; k++, out++, b->n_outs[i]++)
            prod += strncmp(b->rows[i].outs[k], "early:", 6) == 0;
        for (uint32_t k = 0; k < 4 && b->rows[i].uses[k] != NULL; k++, edge++, b->n_edges[i]++) {
        }
        b->n_prods[i] = prod - b->first_prod[i];
    }
}

static inline void test_add_products(test_builder *b, uint32_t row)
{
    bg_img_prods link = {.node = row + 1, .name = test_str(b->w, "link")};
    bg_image_add(b->w, BG_SEC_PROD, &link);
    for (uint32_t i = 0; i < b->n_outs[row]; i++) {
        const char *out = b->rows[row].outs[i];
        bg_img_prods early = {.node = row + 1, .name = test_str(b->w, test_after(out)), .is_early = 1};
        if (strncmp(out, "early:", 6) == 0)
            bg_image_add(b->w, BG_SEC_PROD, &early);
    }
    for (uint32_t i = 0; i < b->n_outs[row]; i++) {
        const char *out = b->rows[row].outs[i];
        bg_img_outs o = {.prod = test_product(b, row, i),
                         .name = test_str(b->w, test_after(out)),
                         .path = test_str(b->w, test_after(out)),
                         .is_dir = strncmp(out, "dir:", 4) == 0,
                         .span = b->span};
        bg_image_add(b->w, BG_SEC_OUTP, &o);
    }
}

static inline void test_push_use(test_builder *b, const char *use, uint32_t *prod)
{
    uint32_t row = test_row(b, use), out = test_find_out(b, row, test_after(use));
    if (out == UINT32_MAX) {
        *prod = b->first_prod[row];
        bg_image_op(b->w, BG_OP_PROD, *prod);
    } else {
        *prod = test_product(b, row, out);
        bg_image_op(b->w, BG_OP_OUT, b->first_out[row] + out);
    }
    bg_image_op(b->w, BG_OP_APPEND, 0);
}

static inline void test_push_str(test_builder *b, const char *s)
{
    bg_image_op(b->w, BG_OP_STR, test_str(b->w, s));
    bg_image_op(b->w, BG_OP_APPEND, 0);
}

static inline void test_add_command(test_builder *b, uint32_t row)
{
    const test_node *n = &b->rows[row];
    bg_image_prog_begin(b->w);
    bg_image_op(b->w, BG_OP_LIST, 0);
    bg_image_op(b->w, BG_OP_TOOL, b->tool);
    bg_image_op(b->w, BG_OP_APPEND, 0);
    test_push_str(b, n->script != NULL ? "-c" : n->word);
    if (n->script != NULL) {
        test_push_str(b, n->script);
        test_push_str(b, "sh");
    }
    for (uint32_t i = 0; i < b->n_outs[row]; i++) {
        bg_image_op(b->w, BG_OP_OUT, b->first_out[row] + i);
        bg_image_op(b->w, BG_OP_APPEND, 0);
    }
    for (uint32_t i = 0; i < b->n_edges[row]; i++) {
        bg_img_edges e = {.node = row + 1, .span = b->span};
        test_push_use(b, n->uses[i], &e.prod);
        bg_image_add(b->w, BG_SEC_EDGE, &e);
    }
    for (uint32_t i = 0; i < 4 && n->inputs[i] != NULL; i++) {
        bg_image_op(b->w, BG_OP_FILE, b->file);
        bg_image_op(b->w, BG_OP_STR, test_str(b->w, n->inputs[i]));
        bg_image_op(b->w, BG_OP_JOIN, 0);
        bg_image_op(b->w, BG_OP_APPEND, 0);
    }
    bg_img_cmds c = {.argv = bg_image_prog_end(b->w, b->span), .span = b->span};
    b->cmd[row] = bg_image_add(b->w, BG_SEC_CMND, &c);
}

static inline uint32_t test_false(test_builder *b)
{
    bg_image_prog_begin(b->w);
    bg_image_op(b->w, BG_OP_BOOL, 0);
    return bg_image_prog_end(b->w, b->span);
}

static inline uint32_t test_depfile(test_builder *b, uint32_t row)
{
    if (b->rows[row].depfile == NULL)
        return 0;
    bg_image_prog_begin(b->w);
    bg_image_op(b->w, BG_OP_OUT, b->first_out[row] + test_find_out(b, row, b->rows[row].depfile));
    return bg_image_prog_end(b->w, b->span);
}

static inline void test_add_node(test_builder *b, uint32_t row)
{
    const test_node *n = &b->rows[row];
    bg_img_nodes node = {.name = test_str(b->w, n->name),
                         .label = test_str(b->w, n->name),
                         .when = n->off ? test_false(b) : 0,
                         .depfile = test_depfile(b, row),
                         .cmds = b->cmd[row],
                         .n_cmds = 1,
                         .prods = b->first_prod[row],
                         .n_prods = b->n_prods[row],
                         .outs = b->n_outs[row] > 0 ? b->first_out[row] : 0,
                         .n_outs = b->n_outs[row],
                         .edges = b->n_edges[row] > 0 ? b->first_edge[row] : 0,
                         .n_edges = b->n_edges[row],
                         .signal = n->signal,
                         .rule = n->pad ? b->rule : 0,
                         .timeout_ns = n->timeout_s > 0 ? bg_image_int(b->w, (int64_t)n->timeout_s * 1000000000) : 0,
                         .retry = n->retry,
                         .cpus = n->cpus > 0 ? n->cpus : 1,
                         .span = b->span};
    bg_image_add(b->w, BG_SEC_NODE, &node);
}

static inline void test_build(test_graph *g, const test_node *rows)
{
    test_builder b = {.w = bg_image_writer_new(), .rows = rows};
    assert(b.w != NULL);
    bg_img_files file = {.path = test_str(b.w, "test.bgraph")};
    b.file = bg_image_add(b.w, BG_SEC_FILE, &file);
    bg_img_spans span = {.file = b.file, .offset = 10, .len = 1, .line = 3, .column = 7};
    b.span = bg_image_add(b.w, BG_SEC_SPAN, &span);
    bg_img_tools tool = {.name = test_str(b.w, "sh"), .program = test_str(b.w, "sh"), .span = b.span};
    b.tool = bg_image_add(b.w, BG_SEC_TOOL, &tool);
    bg_img_rules rule = {.name = test_str(b.w, "wide"),
                         .pad = 200,
                         .elf = BG_ELF_ALL,
                         .text = 1,
                         .links = 1,
                         .survivors = BG_SURVIVORS_WARN,
                         .span = b.span};
    b.rule = bg_image_add(b.w, BG_SEC_RULE, &rule);
    test_number(&b);
    for (uint32_t i = 0; rows[i].name != NULL; i++)
        test_add_products(&b, i);
    for (uint32_t i = 0; rows[i].name != NULL; i++)
        test_add_command(&b, i);
    for (uint32_t i = 0; rows[i].name != NULL; i++)
        test_add_node(&b, i);
    bg_error err = {0};
    *g = (test_graph){0};
    bg_status status = bg_image_finish(b.w, &g->image, &err);
    bg_image_writer_free(b.w);
    if (status == BG_OK)
        status = bg_graph_load(&g->graph, g->image.data, g->image.len, &err);
    if (status != BG_OK)
        fprintf(stderr, "image: %s: %s\n", bg_status_name(status), err.text);
    assert(status == BG_OK);
}

static inline void test_graph_clear(test_graph *g)
{
    bg_buf_clear(&g->image);
}

#endif
