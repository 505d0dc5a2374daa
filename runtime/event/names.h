/** What nodes are called in reports. Pure functions of the graph; ids that the graph does not have
 * give an empty name. */
#ifndef BG_EVENT_NAMES_H
#define BG_EVENT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "bgraph/image.h"

/** Whether the graph has that node. */
bool bg_names_has(const bg_graph *graph, uint32_t node);
/** Qualified name; empty for 0. */
bg_str bg_names_node(const bg_graph *graph, uint32_t node);
/** The label, or the name where it is empty. */
bg_str bg_names_label(const bg_graph *graph, uint32_t node);
bg_str bg_names_group(const bg_graph *graph, uint32_t group);
/** Append the labels of its groups and its own joined by " > ", as one safe line. */
void bg_names_section(const bg_graph *graph, uint32_t node, bg_buf *out);

#endif
