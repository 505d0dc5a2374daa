/** The event stream of a run. Everything a person sees of a run is a sink on it. Events are made and delivered on the scheduler's
 *  thread, in order; strings are borrowed for the call. */
#ifndef BGRAPH_EVENT_H
#define BGRAPH_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "base/str.h"
#include "bgraph/image.h"

typedef enum {
#define BG_EVENT(name, json, doc) BG_EVENT_##name,
#define BG_EVENT_FIELD(name, member, key, kind, doc)
#define BG_EVENT_END(name)
#define BG_OUTCOME(name, word, doc)
#include "event/event.def"
#undef BG_EVENT
#undef BG_EVENT_FIELD
#undef BG_EVENT_END
#undef BG_OUTCOME
    BG_EVENT_COUNT
} bg_event_kind;

typedef enum {
#define BG_EVENT(name, json, doc)
#define BG_EVENT_FIELD(name, member, key, kind, doc)
#define BG_EVENT_END(name)
#define BG_OUTCOME(name, word, doc) BG_OUTCOME_##name,
#include "event/event.def"
#undef BG_EVENT
#undef BG_EVENT_FIELD
#undef BG_EVENT_END
#undef BG_OUTCOME
    BG_OUTCOME_COUNT
} bg_outcome;

/** The word in event.def. */
const char *bg_outcome_word(bg_outcome outcome);

typedef struct {
    bg_event_kind kind;
    uint64_t t_ns; /* since the run began */
    uint32_t node; /* 0: none */
    bg_outcome outcome;
    uint64_t duration_ns, user_ns, sys_ns, bytes, count;
    bool is_warning;
    bg_str text, text2;
} bg_event;

typedef struct bg_sink bg_sink;
struct bg_sink {
    void (*event)(bg_sink *self, const bg_graph *graph, const bg_event *event);
    /** Flush and free; BG_E_IO if something could not be written. */
    bg_status (*close)(bg_sink *self, bg_error *err);
};

/** Sinks. `out` is borrowed and not closed, paths are opened by the sink. NULL (with err) on failure.
 *  console: what a person reads: a start and an end line a node (`[3/12] Label …`, ``Section `A > B` ended: OK (12.34s)``),
 *           its output in one piece between them, messages, failed output again at the end; flat ::group:: lines under
 *           GitHub Actions with child output fenced.
 *  timer:   the table at the end, in the graph's order, groups nested; see docs.
 *  jsonl:   one JSON object a line, keys from event.def.
 *  chrome:  trace file for chrome://tracing and Perfetto: one row a job slot, early products as instants and flow arrows.
 *  summary: the table appended as Markdown to a CI job summary. */
typedef struct {
    bool is_terminal, color, github, quiet, verbose;
    int width; /* columns, 0 unknown */
} bg_console_style;
bg_sink *bg_sink_console(FILE *out, bg_console_style style, bg_error *err);
bg_sink *bg_sink_timer(FILE *out, bg_error *err);
bg_sink *bg_sink_jsonl(const char *path, bg_error *err);
bg_sink *bg_sink_chrome(const char *path, bg_error *err);
bg_sink *bg_sink_summary(const char *path, bg_error *err);

#endif
