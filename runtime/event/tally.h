/** What a run spent and where, gathered from the events: the state behind the timer table and the
 * CI summary. One owner, one thread. */
#ifndef BG_EVENT_TALLY_H
#define BG_EVENT_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "bgraph/event.h"

typedef struct {
    bool settled;
    bg_outcome outcome;
    uint64_t spent_ns; /* commands, or unpacking if it was restored */
} bg_tally_node;

typedef struct {
    bg_tally_node *nodes; /* by id; n_nodes of the graph */
    uint32_t n_nodes;
    uint32_t n_outcome[BG_OUTCOME_COUNT];
    uint32_t n_settled;
    uint64_t wall_ns;
    uint32_t n_stored;
    uint64_t store_ns, stored_bytes;
    uint64_t restore_ns, restored_bytes;
    bg_buf critical_path;
    bool is_over; /* the run's end was seen */
    bool failed;  /* memory ran out */
} bg_tally;

void bg_tally_clear(bg_tally *tally);
/** Take one event in. */
void bg_tally_event(bg_tally *tally, const bg_graph *graph, const bg_event *event);
/** Nothing was done in this run: all is up to date or off. */
bool bg_tally_is_idle(const bg_tally *tally);
/** Append "3 ran, 5 cached, 1 failed"; only what there is. */
void bg_tally_counts(const bg_tally *tally, bg_buf *out);

#endif
