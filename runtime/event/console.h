/** The console's parts that are shared by its files: console.c takes the events, console_text.c
 * writes. */
#ifndef BG_EVENT_CONSOLE_H
#define BG_EVENT_CONSOLE_H

#include "base/vec.h"
#include "bgraph/event.h"
#include "event/section.h"
#include "event/writer.h"

typedef struct {
    bg_sink sink;
    bg_writer writer;
    bg_console_style style;
    bg_buf out;                    /* what this event adds to the log */
    bg_buf later;                  /* short lines that wait until no section is open */
    bg_buf scratch, status;        /* status: what stands on the bottom line now */
    BG_VEC(bg_section *) sections; /* in the order they began; ended ones wait for their turn */
    BG_VEC(bg_section *) failed;   /* shown again at the end */
    const bg_section *last;        /* the failed section that ends the log so far, if it does */
    uint32_t n_total;              /* nodes of the run, 0 if unknown */
    uint32_t n_settled, n_begun, n_commands;
    uint32_t n_outcome[BG_OUTCOME_COUNT];
    uint64_t shown_ns; /* when the log last grew */
    bool is_over;
} bg_console;

typedef enum { BG_PAINT_PLAIN, BG_PAINT_BOLD, BG_PAINT_GOOD, BG_PAINT_BAD, BG_PAINT_WARN } bg_paint;

/** Every call appends to console->out. */
void bg_console_paint(bg_console *c, bg_paint paint, const char *text);
void bg_console_start_line(bg_console *c, const bg_section *s);
/** The end line, and after a failure why and where the log is. */
void bg_console_end_lines(bg_console *c, const bg_section *s);
/** Whole lines of a section's output; opens its group under GitHub Actions when it is the first of
 * it. */
void bg_console_output(bg_console *c, bg_section *s, bg_str lines);
void bg_console_output_end(bg_console *c, bg_section *s);
/** A message of the run; plain inside a fence. */
void bg_console_message(bg_console *c, const bg_graph *graph, const bg_event *event);
/** Failed nodes again, what did not run, or that there was nothing to do. */
void bg_console_finish(bg_console *c, const bg_event *event);
/** "Still running: …" into `out`, or the bottom line, cut to `columns` (0: not cut). */
void bg_console_running(const bg_console *c, uint64_t t_ns, size_t columns, bg_buf *out);
/** A title or another text that is not ours, as part of a line of `to`. */
void bg_console_safe(bg_console *c, bg_str text, bg_buf *to);

#endif
