/** What is checked when the whole graph is there. */
#ifndef BG_GRAPH_GRAPH_H
#define BG_GRAPH_GRAPH_H

#include "sema/sema.h"

/** Diagnose circles of nodes that wait for each other. */
void bg_graph_check_cycles(bg_sema *s);

#endif
