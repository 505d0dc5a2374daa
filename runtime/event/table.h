/** The timer table: rows in the graph's order, groups nested with their sums, shares of the summed
 * time. Text for a terminal, a log and, fenced, a CI summary. */
#ifndef BG_EVENT_TABLE_H
#define BG_EVENT_TABLE_H

#include "base/buf.h"
#include "bgraph/image.h"
#include "event/tally.h"

/** Append the table and what follows it (wall time, counts, cache, critical path). A node has a row
 * if it was settled; after the share stands what became of it unless it ran: `cached`, `restored`,
 * `up to date`, `skipped`, `off`, `cancelled`, `FAILED`. Crates of a group share one row where they
 * are many. A failed allocation is in out->failed. */
void bg_table_print(const bg_tally *tally, const bg_graph *graph, bg_buf *out);

#endif
