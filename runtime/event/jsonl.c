/* One JSON object a line an event. Names and fields come from event.def; an event or a field that
 * is added there is written here without a further edit. */
#include <inttypes.h>
#include <stdlib.h>

#include "bgraph/event.h"
#include "event/names.h"
#include "event/writer.h"

/* A reader that follows the file is at most this far behind. */
#define FLUSH_AFTER_NS UINT64_C(100000000)

typedef struct {
    bg_sink sink;
    bg_writer writer;
    bg_buf line;
    uint64_t flushed_ns;
} jsonl;

static void put_key(bg_buf *out, const char *key)
{
    bg_buf_printf(out, ",\"%s\":", key);
}

static void put_STR(bg_buf *out, const bg_graph *graph, bg_str s)
{
    (void)graph;
    bg_buf_json(out, s);
}

static void put_U64(bg_buf *out, const bg_graph *graph, uint64_t v)
{
    (void)graph;
    bg_buf_printf(out, "%" PRIu64, v);
}

static void put_NS(bg_buf *out, const bg_graph *graph, uint64_t v)
{
    put_U64(out, graph, v);
}

static void put_BYTES(bg_buf *out, const bg_graph *graph, uint64_t v)
{
    put_U64(out, graph, v);
}

static void put_BOOL(bg_buf *out, const bg_graph *graph, bool v)
{
    (void)graph;
    bg_buf_puts(out, v ? "true" : "false");
}

static void put_OUTCOME(bg_buf *out, const bg_graph *graph, bg_outcome v)
{
    (void)graph;
    bg_buf_json(out, bg_str_of(bg_outcome_word(v)));
}

static void put_NODE(bg_buf *out, const bg_graph *graph, uint32_t node)
{
    if (bg_names_has(graph, node))
        bg_buf_json(out, bg_names_node(graph, node));
    else
        bg_buf_puts(out, "null");
}

static const char *const event_names[] = {
#define BG_EVENT(name, json, doc) [BG_EVENT_##name] = json,
#define BG_EVENT_FIELD(name, member, key, kind, doc)
#define BG_EVENT_END(name)
#define BG_OUTCOME(name, word, doc)
#include "event/event.def"
#undef BG_EVENT
#undef BG_EVENT_FIELD
#undef BG_EVENT_END
#undef BG_OUTCOME
};

static void put_fields(bg_buf *out, const bg_graph *graph, const bg_event *event)
{
    switch (event->kind) {
#define BG_EVENT(name, json, doc) case BG_EVENT_##name:
#define BG_EVENT_FIELD(name, member, key, kind, doc)                                               \
    put_key(out, key);                                                                             \
    put_##kind(out, graph, event->member);
#define BG_EVENT_END(name) break;
#define BG_OUTCOME(name, word, doc)
#include "event/event.def"
#undef BG_EVENT
#undef BG_EVENT_FIELD
#undef BG_EVENT_END
#undef BG_OUTCOME
    case BG_EVENT_COUNT:
        break;
    }
}

static void jsonl_event(bg_sink *sink, const bg_graph *graph, const bg_event *event)
{
    jsonl *self = (jsonl *)sink;
    if ((unsigned)event->kind >= BG_EVENT_COUNT)
        return;
    if (event->kind != BG_EVENT_TICK) {
        bg_buf_reset(&self->line);
        bg_buf_printf(&self->line, "{\"event\":\"%s\",\"t\":%" PRIu64, event_names[event->kind],
                      event->t_ns);
        put_fields(&self->line, graph, event);
        bg_buf_puts(&self->line, "}\n");
        bg_writer_put(&self->writer, &self->line);
    }
    if (event->t_ns - self->flushed_ns >= FLUSH_AFTER_NS || event->kind == BG_EVENT_RUN_END) {
        bg_writer_flush(&self->writer);
        self->flushed_ns = event->t_ns;
    }
}

static bg_status jsonl_close(bg_sink *sink, bg_error *err)
{
    jsonl *self = (jsonl *)sink;
    bg_status status = bg_writer_close(&self->writer, err);
    bg_buf_clear(&self->line);
    free(self);
    return status;
}

bg_sink *bg_sink_jsonl(const char *path, bg_error *err)
{
    jsonl *self = calloc(1, sizeof *self);
    if (self == NULL) {
        bg_error_set(err, BG_E_NOMEM, "Out of memory for the events file %s.", path);
        return NULL;
    }
    if (bg_writer_open(&self->writer, path, false, err) != BG_OK) {
        free(self);
        return NULL;
    }
    self->sink = (bg_sink){jsonl_event, jsonl_close};
    return &self->sink;
}
