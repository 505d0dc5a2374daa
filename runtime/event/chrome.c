/* A trace in Chrome's JSON array form, for Perfetto and chrome://tracing: one row a job slot that
 * is really in use, nodes as slices, early products as instants, arrows from an early product to
 * those who started on it, the cache's work in rows of its own. Written as it happens: both viewers
 * also take a file that breaks off. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/vec.h"
#include "bgraph/event.h"
#include "event/names.h"
#include "event/writer.h"

#define PID 1
#define CACHE_LANE 1000 /* rows from here on are the cache's */

typedef struct {
    uint32_t lane; /* from 1 while it runs; 0 otherwise */
    uint64_t begin_ns;
    bg_buf reason, key;
} running;

typedef struct {
    bg_sink sink;
    bg_writer writer;
    bg_buf line;
    bool began;              /* something is in the array */
    BG_VEC(bool) lanes;      /* in use? lane n is at [n - 1] */
    BG_VEC(uint64_t) cached; /* end of the last slice of each cache row */
    running *nodes;          /* by node id */
    uint64_t *announced_ns;  /* by product id, time + 1; 0: not in this run */
    uint32_t *announcer;     /* by product id: lane */
    uint32_t n_nodes, n_prods;
    uint64_t n_flows;
    bool failed;
} chrome;

static void put_us(bg_buf *out, uint64_t ns)
{
    bg_buf_printf(out, "%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
}

/* Opens an object with what every event has. */
static bg_buf *begin(chrome *self, const char *phase, uint32_t lane, uint64_t t_ns, bg_str name)
{
    bg_buf *out = &self->line;
    bg_buf_reset(out);
    bg_buf_puts(out, self->began ? ",\n" : "[\n");
    self->began = true;
    bg_buf_printf(out, "{\"ph\":\"%s\",\"pid\":%d,\"tid\":%" PRIu32 ",\"ts\":", phase, PID, lane);
    put_us(out, t_ns);
    bg_buf_puts(out, ",\"name\":");
    bg_buf_json(out, name);
    return out;
}

static void end(chrome *self)
{
    bg_buf_putc(&self->line, '}');
    bg_writer_put(&self->writer, &self->line);
}

static void put_arg(bg_buf *out, const char *before, const char *key, bg_str value)
{
    bg_buf_printf(out, "%s\"%s\":", before, key);
    bg_buf_json(out, value);
}

static void put_duration(bg_buf *out, uint64_t ns)
{
    bg_buf_puts(out, ",\"dur\":");
    put_us(out, ns);
}

static void name_lane(chrome *self, uint32_t lane, const char *what, uint32_t n)
{
    bg_buf *out = begin(self, "M", lane, 0, BG_STR("thread_name"));
    bg_buf_printf(out, ",\"args\":{\"name\":\"%s %" PRIu32 "\"}", what, n);
    end(self);
    out = begin(self, "M", lane, 0, BG_STR("thread_sort_index"));
    bg_buf_printf(out, ",\"args\":{\"sort_index\":%" PRIu32 "}", lane);
    end(self);
}

/* Tables by id, made when the graph is first seen. False: no memory, nothing is written any more.
 */
static bool prepare(chrome *self, const bg_graph *graph)
{
    if (self->nodes != NULL || self->failed)
        return !self->failed;
    self->n_nodes = graph->n_nodes;
    self->n_prods = graph->n_prods;
    self->nodes = calloc((size_t)graph->n_nodes + 1, sizeof *self->nodes);
    self->announced_ns = calloc((size_t)graph->n_prods + 1, sizeof *self->announced_ns);
    self->announcer = calloc((size_t)graph->n_prods + 1, sizeof *self->announcer);
    self->failed = self->nodes == NULL || self->announced_ns == NULL || self->announcer == NULL;
    return !self->failed;
}

static uint32_t take_lane(chrome *self)
{
    for (size_t i = 0; i < self->lanes.n; i++) {
        if (!self->lanes.at[i]) {
            self->lanes.at[i] = true;
            return (uint32_t)i + 1;
        }
    }
    if (self->lanes.n + 1 >= CACHE_LANE || !BG_VEC_PUSH(&self->lanes, true))
        return CACHE_LANE - 1; /* one crowded row rather than none */
    name_lane(self, (uint32_t)self->lanes.n, "slot", (uint32_t)self->lanes.n);
    return (uint32_t)self->lanes.n;
}

static void drop_lane(chrome *self, uint32_t lane)
{
    if (lane != 0 && lane <= self->lanes.n)
        self->lanes.at[lane - 1] = false;
}

static void run_begin(chrome *self, const bg_event *event)
{
    bg_buf *out = begin(self, "M", 0, 0, BG_STR("process_name"));
    bg_buf_puts(out, ",\"args\":{");
    bg_buf name = {0};
    bg_buf_puts(&name, "bgc run ");
    bg_buf_str(&name, event->text);
    put_arg(out, "", "name", bg_buf_view(&name));
    bg_buf_clear(&name);
    bg_buf_putc(out, '}');
    end(self);
}

/* One arrow: from where the product was announced to the start of its consumer. */
static void arrow(chrome *self, const bg_graph *graph, uint32_t prod, uint32_t lane, uint64_t t_ns)
{
    bg_str name = bg_graph_str(graph, graph->prods[prod].name);
    uint64_t id = ++self->n_flows;
    bg_buf *out = begin(self, "s", self->announcer[prod], self->announced_ns[prod] - 1, name);
    bg_buf_printf(out, ",\"cat\":\"product\",\"id\":%" PRIu64, id);
    end(self);
    out = begin(self, "f", lane, t_ns, name);
    bg_buf_printf(out, ",\"cat\":\"product\",\"id\":%" PRIu64 ",\"bp\":\"e\"", id);
    end(self);
}

/* A consumer that starts after its producer has ended would have started without the early product.
 */
static void arrows(chrome *self, const bg_graph *graph, uint32_t node, const bg_event *event)
{
    const bg_img_nodes *n = &graph->nodes[node];
    for (uint32_t i = 0; i < n->n_edges && n->edges + i < graph->n_edges; i++) {
        uint32_t prod = graph->edges[n->edges + i].prod;
        if (prod >= self->n_prods || self->announced_ns[prod] == 0)
            continue;
        uint32_t producer = graph->prods[prod].node;
        if (producer < self->n_nodes && self->nodes[producer].lane != 0)
            arrow(self, graph, prod, self->nodes[node].lane, event->t_ns);
    }
}

static void node_begin(chrome *self, const bg_graph *graph, const bg_event *event)
{
    running *r = &self->nodes[event->node];
    bg_buf_reset(&r->reason);
    bg_buf_reset(&r->key);
    bg_buf_str(&r->reason, event->text);
    bg_buf_str(&r->key, event->text2);
    if (r->lane != 0) { /* a further attempt */
        bg_buf *out = begin(self, "i", r->lane, event->t_ns, BG_STR("attempt"));
        bg_buf_printf(out, ",\"s\":\"t\",\"args\":{\"attempt\":%" PRIu64 "}", event->count);
        end(self);
        return;
    }
    r->lane = take_lane(self);
    r->begin_ns = event->t_ns;
    arrows(self, graph, event->node, event);
}

static void node_end(chrome *self, const bg_graph *graph, const bg_event *event)
{
    running *r = &self->nodes[event->node];
    if (r->lane == 0)
        return;
    bg_buf *out = begin(self, "X", r->lane, r->begin_ns, bg_names_node(graph, event->node));
    put_duration(out, event->t_ns > r->begin_ns ? event->t_ns - r->begin_ns : 0);
    bg_buf_puts(out, ",\"cat\":\"node\",\"args\":{");
    put_arg(out, "", "outcome", bg_str_of(bg_outcome_word(event->outcome)));
    put_arg(out, ",", "key", bg_buf_view(&r->key));
    put_arg(out, ",", "reason", bg_buf_view(&r->reason));
    put_arg(out, ",", "label", bg_names_label(graph, event->node));
    if (event->text.len != 0)
        put_arg(out, ",", "ended", event->text);
    bg_buf_printf(out,
                  ",\"user_ms\":%" PRIu64 ",\"sys_ms\":%" PRIu64 ",\"max_rss_bytes\":%" PRIu64 "}",
                  event->user_ns / 1000000, event->sys_ns / 1000000, event->bytes);
    end(self);
    drop_lane(self, r->lane);
    r->lane = 0;
}

static uint32_t find_product(const bg_graph *graph, uint32_t node, bg_str name)
{
    const bg_img_nodes *n = &graph->nodes[node];
    for (uint32_t i = 0; i < n->n_prods && n->prods + i < graph->n_prods; i++) {
        if (bg_str_eq(bg_graph_str(graph, graph->prods[n->prods + i].name), name))
            return n->prods + i;
    }
    return 0;
}

static void product(chrome *self, const bg_graph *graph, const bg_event *event)
{
    uint32_t lane = self->nodes[event->node].lane;
    uint32_t prod = find_product(graph, event->node, event->text);
    if (lane == 0)
        return;
    if (prod != 0 && prod < self->n_prods) {
        self->announced_ns[prod] = event->t_ns + 1;
        self->announcer[prod] = lane;
    }
    bg_buf *out = begin(self, "i", lane, event->t_ns, event->text);
    bg_buf_puts(out, ",\"s\":\"t\",\"cat\":\"product\",\"args\":{");
    put_arg(out, "", "node", bg_names_node(graph, event->node));
    put_arg(out, ",", "digest", event->text2);
    bg_buf_putc(out, '}');
    end(self);
}

/* The event comes when the work is done; rows are found backwards from there. */
static void cache_work(chrome *self, const bg_graph *graph, const bg_event *event, const char *what)
{
    uint64_t d = event->duration_ns < event->t_ns ? event->duration_ns : event->t_ns;
    uint64_t start_ns = event->t_ns - d;
    size_t row = 0;
    while (row < self->cached.n && self->cached.at[row] > start_ns)
        row++;
    if (row == self->cached.n) {
        if (!BG_VEC_PUSH(&self->cached, 0))
            return;
        name_lane(self, CACHE_LANE + (uint32_t)row, "cache", (uint32_t)row + 1);
    }
    self->cached.at[row] = event->t_ns;
    bg_buf name = {0};
    bg_buf_printf(&name, "%s ", what);
    bg_buf_str(&name, bg_names_node(graph, event->node));
    bg_buf *out = begin(self, "X", CACHE_LANE + (uint32_t)row, start_ns, bg_buf_view(&name));
    bg_buf_clear(&name);
    put_duration(out, d);
    bg_buf_printf(out, ",\"cat\":\"cache\",\"args\":{\"bytes\":%" PRIu64 "}", event->bytes);
    end(self);
}

static void chrome_event(bg_sink *sink, const bg_graph *graph, const bg_event *event)
{
    chrome *self = (chrome *)sink;
    if (!prepare(self, graph))
        return;
    if (event->kind == BG_EVENT_RUN_BEGIN)
        run_begin(self, event);
    if (!bg_names_has(graph, event->node) || event->node >= self->n_nodes)
        return;
    if (event->kind == BG_EVENT_NODE_BEGIN)
        node_begin(self, graph, event);
    else if (event->kind == BG_EVENT_NODE_END)
        node_end(self, graph, event);
    else if (event->kind == BG_EVENT_PRODUCT)
        product(self, graph, event);
    else if (event->kind == BG_EVENT_STORE)
        cache_work(self, graph, event, "store");
    else if (event->kind == BG_EVENT_RESTORE)
        cache_work(self, graph, event, "restore");
}

static bg_status chrome_close(bg_sink *sink, bg_error *err)
{
    chrome *self = (chrome *)sink;
    bg_buf_reset(&self->line);
    bg_buf_puts(&self->line, self->began ? "\n]\n" : "[\n]\n");
    self->line.failed |= self->failed;
    bg_writer_put(&self->writer, &self->line);
    bg_status status = bg_writer_close(&self->writer, err);
    for (uint32_t i = 0; self->nodes != NULL && i < self->n_nodes; i++) {
        bg_buf_clear(&self->nodes[i].reason);
        bg_buf_clear(&self->nodes[i].key);
    }
    free(self->nodes);
    free(self->announced_ns);
    free(self->announcer);
    BG_VEC_CLEAR(&self->lanes);
    BG_VEC_CLEAR(&self->cached);
    bg_buf_clear(&self->line);
    free(self);
    return status;
}

bg_sink *bg_sink_chrome(const char *path, bg_error *err)
{
    chrome *self = calloc(1, sizeof *self);
    if (self == NULL) {
        bg_error_set(err, BG_E_NOMEM, "Out of memory for the trace %s.", path);
        return NULL;
    }
    if (bg_writer_open(&self->writer, path, false, err) != BG_OK) {
        free(self);
        return NULL;
    }
    self->sink = (bg_sink){chrome_event, chrome_close};
    return &self->sink;
}
