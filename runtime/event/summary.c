/* The timer table as Markdown, appended to a CI job summary that other steps write to as well. */
#include <stdlib.h>

#include "bgraph/event.h"
#include "event/table.h"
#include "event/tally.h"
#include "event/writer.h"

#define MIN_FENCE 3

typedef struct {
    bg_sink sink;
    bg_writer writer;
    bg_tally tally;
    const bg_graph *graph;
    bool printed;
} summary;

/* A fence is longer than every run of backticks inside it: labels are other people's text. */
static size_t fence_length(bg_str text)
{
    size_t longest = MIN_FENCE - 1, run = 0;
    for (size_t i = 0; i < text.len; i++) {
        run = text.ptr[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest + 1;
}

static void put_fence(bg_buf *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bg_buf_putc(out, '`');
    bg_buf_putc(out, '\n');
}

static void print(summary *self)
{
    self->printed = true;
    if (self->graph == NULL)
        return;
    bg_buf table = {0}, text = {0};
    bg_table_print(&self->tally, self->graph, &table);
    size_t fence = fence_length(bg_buf_view(&table));
    bg_buf_puts(&text, "# Step durations\n\n");
    put_fence(&text, fence);
    bg_buf_str(&text, bg_buf_view(&table));
    put_fence(&text, fence);
    bg_buf_putc(&text, '\n');
    text.failed |= table.failed;
    bg_writer_put(&self->writer, &text);
    bg_writer_flush(&self->writer);
    bg_buf_clear(&table);
    bg_buf_clear(&text);
}

static void summary_event(bg_sink *sink, const bg_graph *graph, const bg_event *event)
{
    summary *self = (summary *)sink;
    self->graph = graph;
    bg_tally_event(&self->tally, graph, event);
    if (event->kind == BG_EVENT_RUN_END && !self->printed)
        print(self);
}

static bg_status summary_close(bg_sink *sink, bg_error *err)
{
    summary *self = (summary *)sink;
    if (!self->printed)
        print(self);
    bg_status status = bg_writer_close(&self->writer, err);
    bg_tally_clear(&self->tally);
    free(self);
    return status;
}

bg_sink *bg_sink_summary(const char *path, bg_error *err)
{
    summary *self = calloc(1, sizeof *self);
    if (self == NULL) {
        bg_error_set(err, BG_E_NOMEM, "Out of memory for the summary %s.", path);
        return NULL;
    }
    if (bg_writer_open(&self->writer, path, true, err) != BG_OK) {
        free(self);
        return NULL;
    }
    self->sink = (bg_sink){summary_event, summary_close};
    return &self->sink;
}
