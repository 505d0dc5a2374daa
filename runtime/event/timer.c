/* The timer table, printed once when the run is over, or when the sink is closed if the run broke
 * off. */
#include <stdlib.h>

#include "bgraph/event.h"
#include "event/table.h"
#include "event/tally.h"
#include "event/writer.h"

typedef struct {
    bg_sink sink;
    bg_writer writer;
    bg_tally tally;
    const bg_graph *graph;
    bool printed;
} timer;

static void print(timer *self)
{
    self->printed = true;
    if (self->graph == NULL || bg_tally_is_idle(&self->tally))
        return;
    bg_buf text = {0};
    bg_buf_putc(&text, '\n');
    bg_table_print(&self->tally, self->graph, &text);
    bg_writer_put(&self->writer, &text);
    bg_writer_flush(&self->writer);
    bg_buf_clear(&text);
}

static void timer_event(bg_sink *sink, const bg_graph *graph, const bg_event *event)
{
    timer *self = (timer *)sink;
    self->graph = graph;
    bg_tally_event(&self->tally, graph, event);
    if (event->kind == BG_EVENT_RUN_END && !self->printed)
        print(self);
}

static bg_status timer_close(bg_sink *sink, bg_error *err)
{
    timer *self = (timer *)sink;
    if (!self->printed)
        print(self);
    bg_status status = bg_writer_close(&self->writer, err);
    bg_tally_clear(&self->tally);
    free(self);
    return status;
}

bg_sink *bg_sink_timer(FILE *out, bg_error *err)
{
    timer *self = calloc(1, sizeof *self);
    if (self == NULL) {
        bg_error_set(err, BG_E_NOMEM, "Out of memory for the timer table.");
        return NULL;
    }
    self->sink = (bg_sink){timer_event, timer_close};
    bg_writer_borrow(&self->writer, out);
    return &self->sink;
}
