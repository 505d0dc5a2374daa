/** One node as the console shows it: its title, its output on the way to the screen, what became of
 * it. One owner, the console. */
#ifndef BG_EVENT_SECTION_H
#define BG_EVENT_SECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "bgraph/event.h"
#include "event/capture.h"
#include "event/clean.h"
#include "event/github.h"

typedef struct {
    uint32_t node;
    uint64_t begin_ns;
    uint32_t order; /* how many nodes had been begun or settled, this one included */
    bg_buf title;   /* one safe line */
    bg_clean clean;
    bg_buf partial;    /* cleaned output without its line end */
    bg_capture unseen; /* whole lines that wait */
    bg_capture recent; /* the last lines, for the end of the run */
    bg_fence fence;
    bool is_open;  /* its start line stands last in the log: output goes straight on */
    bool is_ended; /* what follows is valid */
    bg_outcome outcome;
    uint64_t duration_ns, exit;
    bg_buf reason, log;
} bg_section;

/** NULL when memory is out. */
bg_section *bg_section_new(const bg_graph *graph, uint32_t node, uint64_t begin_ns);
void bg_section_free(bg_section *section);
/** Take output in; appends to `lines` the whole lines there are now. */
void bg_section_take(bg_section *section, bg_str bytes, bool keep_color, bg_buf *lines);
/** The output is over: appends what was held, ended by a line end. */
void bg_section_finish(bg_section *section, bg_buf *lines);
/** Remember how it ended. */
void bg_section_end(bg_section *section, const bg_event *event);

#endif
