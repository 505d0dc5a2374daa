/* Small graphs made by hand, and events for them: what the sinks' tests share. */
#ifndef TESTS_EVENT_MADE_H
#define TESTS_EVENT_MADE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bgraph/event.h"

#define MS(n) ((uint64_t)(n)*1000000)

typedef struct {
    bg_graph graph;
    bg_buf bytes;
    bg_img_strs strs[400];
    bg_img_groups groups[16];
    bg_img_nodes nodes[64];
    bg_img_prods prods[64];
    bg_img_edges edges[64];
} made;

static inline void made_begin(made *m)
{
    memset(m, 0, sizeof *m);
    m->graph.n_strs = m->graph.n_groups = m->graph.n_nodes = 1;
    m->graph.n_prods = m->graph.n_edges = 1;
    bg_buf_putc(&m->bytes, '\0');
}

static inline uint32_t made_str(made *m, const char *s)
{
    uint32_t id = m->graph.n_strs++;
    assert_true(id < 400);
    m->strs[id] = (bg_img_strs){.offset = (uint32_t)m->bytes.len, .len = (uint32_t)strlen(s)};
    bg_buf_put(&m->bytes, s, strlen(s) + 1);
    return id;
}

static inline uint32_t made_group(made *m, const char *label, uint32_t parent)
{
    uint32_t id = m->graph.n_groups++;
    assert_true(id < 16);
    m->groups[id] =
        (bg_img_groups){.name = made_str(m, label), .label = made_str(m, label), .parent = parent};
    return id;
}

static inline uint32_t made_node(made *m, const char *name, const char *label, uint32_t group)
{
    uint32_t id = m->graph.n_nodes++;
    assert_true(id < 64);
    m->nodes[id] = (bg_img_nodes){
        .name = made_str(m, name), .label = made_str(m, label), .group = group, .cpus = 1};
    return id;
}

static inline uint32_t made_prod(made *m, uint32_t node, const char *name, bool is_early)
{
    uint32_t id = m->graph.n_prods++;
    m->prods[id] = (bg_img_prods){.node = node, .name = made_str(m, name), .is_early = is_early};
    if (m->nodes[node].n_prods++ == 0)
        m->nodes[node].prods = id;
    return id;
}

static inline void made_edge(made *m, uint32_t node, uint32_t prod)
{
    uint32_t id = m->graph.n_edges++;
    m->edges[id] = (bg_img_edges){.node = node, .prod = prod};
    if (m->nodes[node].n_edges++ == 0)
        m->nodes[node].edges = id;
}

static inline const bg_graph *made_end(made *m)
{
    m->graph.str_bytes = (const unsigned char *)m->bytes.data;
    m->graph.n_str_bytes = (uint32_t)m->bytes.len;
    m->graph.strs = m->strs;
    m->graph.groups = m->groups;
    m->graph.nodes = m->nodes;
    m->graph.prods = m->prods;
    m->graph.edges = m->edges;
    return &m->graph;
}

static inline void made_clear(made *m)
{
    bg_buf_clear(&m->bytes);
}

/* A sink, fed from one place. */
typedef struct {
    bg_sink *sink;
    const bg_graph *graph;
} feed;

static inline void feed_event(const feed *f, bg_event event)
{
    f->sink->event(f->sink, f->graph, &event);
}

static inline void feed_begin(const feed *f, uint32_t node, uint64_t t_ns)
{
    feed_event(f, (bg_event){.kind = BG_EVENT_NODE_BEGIN,
                             .t_ns = t_ns,
                             .node = node,
                             .count = 1,
                             .text = BG_STR("never run"),
                             .text2 = BG_STR("ab12")});
}

static inline void feed_output(const feed *f, uint32_t node, const char *text)
{
    feed_event(f, (bg_event){.kind = BG_EVENT_OUTPUT, .node = node, .text = bg_str_of(text)});
}

static inline void feed_end(const feed *f, uint32_t node, bg_outcome outcome, uint64_t t_ns,
                            uint64_t duration_ns)
{
    bg_event e = {.kind = BG_EVENT_NODE_END,
                  .t_ns = t_ns,
                  .node = node,
                  .outcome = outcome,
                  .duration_ns = duration_ns};
    if (outcome == BG_OUTCOME_FAILED) {
        e.count = 3;
        e.text = BG_STR("command 1 exited with 3");
        e.text2 = BG_STR(".bgraph/x/log/a.log");
    }
    feed_event(f, e);
}

static inline void feed_run_end(const feed *f, uint64_t exit, uint64_t wall_ns, const char *path)
{
    feed_event(f, (bg_event){.kind = BG_EVENT_RUN_END,
                             .t_ns = wall_ns,
                             .count = exit,
                             .duration_ns = wall_ns,
                             .text = bg_str_of(path)});
}

static inline void feed_close(const feed *f)
{
    bg_error err = {0};
    assert_int_equal(f->sink->close(f->sink, &err), BG_OK);
}

/* Name of a fresh empty file; the caller unlinks it. */
static inline void temp_file(char path[64])
{
    strcpy(path, "/tmp/bgc-event-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
}

static inline char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    size_t n = fread(text, 1, (1 << 20) - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

#endif
