#include "event/tally.h"

#include <inttypes.h>
#include <stdlib.h>

#include "event/names.h"
#include "event/text.h"

void bg_tally_clear(bg_tally *tally)
{
    free(tally->nodes);
    bg_buf_clear(&tally->critical_path);
    *tally = (bg_tally){0};
}

/* The node's entry, or NULL if the graph has no such node or memory is out. */
static bg_tally_node *entry(bg_tally *tally, const bg_graph *graph, uint32_t node)
{
    if (!bg_names_has(graph, node))
        return NULL;
    if (tally->nodes == NULL) {
        tally->nodes = calloc(graph->n_nodes, sizeof *tally->nodes);
        tally->n_nodes = tally->nodes == NULL ? 0 : graph->n_nodes;
        tally->failed |= tally->nodes == NULL;
    }
    return node < tally->n_nodes ? &tally->nodes[node] : NULL;
}

static void node_end(bg_tally *tally, bg_tally_node *node, const bg_event *event)
{
    if (node == NULL || node->settled || (unsigned)event->outcome >= BG_OUTCOME_COUNT)
        return;
    node->settled = true;
    node->outcome = event->outcome;
    node->spent_ns += event->duration_ns;
    tally->n_settled++;
    tally->n_outcome[event->outcome]++;
}

static void restored(bg_tally *tally, bg_tally_node *node, const bg_event *event)
{
    if (node != NULL)
        node->spent_ns += event->duration_ns;
    tally->restore_ns += event->duration_ns;
    tally->restored_bytes += event->bytes;
}

static void stored(bg_tally *tally, const bg_event *event)
{
    tally->n_stored++;
    tally->store_ns += event->duration_ns;
    tally->stored_bytes += event->bytes;
}

static void run_end(bg_tally *tally, const bg_event *event)
{
    tally->is_over = true;
    tally->wall_ns = event->duration_ns;
    bg_buf_reset(&tally->critical_path);
    bg_text_line(&tally->critical_path, event->text);
}

void bg_tally_event(bg_tally *tally, const bg_graph *graph, const bg_event *event)
{
    switch (event->kind) {
    case BG_EVENT_NODE_END:
        node_end(tally, entry(tally, graph, event->node), event);
        break;
    case BG_EVENT_RESTORE:
        restored(tally, entry(tally, graph, event->node), event);
        break;
    case BG_EVENT_STORE:
        stored(tally, event);
        break;
    case BG_EVENT_RUN_END:
        run_end(tally, event);
        break;
    case BG_EVENT_RUN_BEGIN:
    case BG_EVENT_NODE_BEGIN:
    case BG_EVENT_COMMAND:
    case BG_EVENT_OUTPUT:
    case BG_EVENT_PRODUCT:
    case BG_EVENT_MESSAGE:
    case BG_EVENT_TICK:
    case BG_EVENT_COUNT:
        break;
    }
}

bool bg_tally_is_idle(const bg_tally *tally)
{
    return tally->n_settled ==
           tally->n_outcome[BG_OUTCOME_UP_TO_DATE] + tally->n_outcome[BG_OUTCOME_OFF];
}

void bg_tally_counts(const bg_tally *tally, bg_buf *out)
{
    const char *comma = "";
    for (unsigned i = 0; i < BG_OUTCOME_COUNT; i++) {
        if (tally->n_outcome[i] == 0)
            continue;
        bg_buf_printf(out, "%s%" PRIu32 " %s", comma, tally->n_outcome[i],
                      bg_outcome_word((bg_outcome)i));
        comma = ", ";
    }
    if (*comma == '\0')
        bg_buf_puts(out, "none");
}
