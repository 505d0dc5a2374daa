#include "event/names.h"

#include <stddef.h>

#include "bgraph/event.h"
#include "event/text.h"

/* Deeper nesting than this is shown from the inside. */
#define MAX_SHOWN_GROUPS 16

const char *bg_outcome_word(bg_outcome outcome)
{
    static const char *const words[] = {
#define BG_EVENT(name, json, doc)
#define BG_EVENT_FIELD(name, member, key, kind, doc)
#define BG_EVENT_END(name)
#define BG_OUTCOME(name, word, doc) [BG_OUTCOME_##name] = word,
#include "event/event.def"
#undef BG_EVENT
#undef BG_EVENT_FIELD
#undef BG_EVENT_END
#undef BG_OUTCOME
    };
    return (size_t)outcome < sizeof words / sizeof *words ? words[outcome] : "unknown";
}

bool bg_names_has(const bg_graph *graph, uint32_t node)
{
    return node != 0 && node < graph->n_nodes;
}

bg_str bg_names_node(const bg_graph *graph, uint32_t node)
{
    return bg_names_has(graph, node) ? bg_graph_str(graph, graph->nodes[node].name) : BG_STR("");
}

bg_str bg_names_label(const bg_graph *graph, uint32_t node)
{
    if (!bg_names_has(graph, node))
        return BG_STR("");
    bg_str label = bg_graph_str(graph, graph->nodes[node].label);
    return label.len != 0 ? label : bg_names_node(graph, node);
}

bg_str bg_names_group(const bg_graph *graph, uint32_t group)
{
    if (group == 0 || group >= graph->n_groups)
        return BG_STR("");
    bg_str label = bg_graph_str(graph, graph->groups[group].label);
    return label.len != 0 ? label : bg_graph_str(graph, graph->groups[group].name);
}

void bg_names_section(const bg_graph *graph, uint32_t node, bg_buf *out)
{
    uint32_t chain[MAX_SHOWN_GROUPS];
    size_t n = 0;
    uint32_t group = bg_names_has(graph, node) ? graph->nodes[node].group : 0;
    for (; group != 0 && group < graph->n_groups && n < MAX_SHOWN_GROUPS;
         group = graph->groups[group].parent)
        chain[n++] = group;
    if (group != 0)
        bg_buf_puts(out, "\xe2\x80\xa6 > ");
    while (n > 0) {
        bg_text_line(out, bg_names_group(graph, chain[--n]));
        bg_buf_puts(out, " > ");
    }
    bg_text_line(out, bg_names_label(graph, node));
}
