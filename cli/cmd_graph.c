/* bgc graph: the graph as a drawing or as data. */
#include <string.h>

#include "input.h"

/* ---- what both forms ask ---- */

static bg_status no_value(void *self, uint32_t id, bg_value *out, bg_error *err)
{
    (void)self, (void)id, (void)out;
    return bg_error_set(err, BG_E_NOENT, "known only when it runs");
}
static bg_status no_fact(void *self, bg_machine fact, bg_value *out, bg_error *err)
{
    (void)self, (void)fact, (void)out;
    return bg_error_set(err, BG_E_NOENT, "known only when it runs");
}
static bg_status no_path(void *self, const bg_value *path, bg_buf *out, bg_error *err)
{
    (void)self, (void)path, (void)out;
    return bg_error_set(err, BG_E_NOENT, "known only when it runs");
}

/* Does `when` switch the node off whatever the run is given? Evaluated with nothing to ask. */
static bool is_off(const bg_graph *graph, const bg_img_nodes *node)
{
    const bg_vm_host host = {NULL, no_value, no_value, no_fact, no_path};
    bg_arena arena = {0};
    bg_value value = {0};
    bg_error unused = {0};
    bool off = node->when != 0 && bg_vm_run(graph, node->when, &host, &arena, &value, &unused) == BG_OK &&
               value.kind == BG_V_BOOL && value.i == 0;
    bg_arena_clear(&arena);
    return off;
}

static bool is_default(const bg_graph *graph, uint32_t node)
{
    for (uint32_t i = 1; i < graph->n_defaults; i++) {
        if (graph->defaults[i].node == node)
            return true;
    }
    return false;
}

/* ---- dot ---- */

/* A DOT string: quotes and backslashes escaped, so that no label can end it or be read as an escape. */
static void dot_text(bg_buf *out, bg_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '"' || c == '\\')
            bg_buf_putc(out, '\\');
        if (c == '\n')
            bg_buf_puts(out, "\\n");
        else if ((unsigned char)c >= ' ')
            bg_buf_putc(out, c);
    }
}

static void indent(bg_buf *out, uint32_t depth)
{
    for (uint32_t i = 0; i <= depth; i++)
        bg_buf_puts(out, "  ");
}

static void dot_node(const bg_graph *graph, uint32_t id, uint32_t depth, bg_buf *out)
{
    const bg_img_nodes *node = &graph->nodes[id];
    indent(out, depth);
    bg_buf_printf(out, "n%u [label=\"", (unsigned)id);
    dot_text(out, bg_graph_str(graph, node->label));
    bg_buf_puts(out, "\", tooltip=\"");
    dot_text(out, bg_graph_str(graph, node->name));
    bg_buf_puts(out, "\"");
    if (node->kind == BG_NODE_CRATE)
        bg_buf_puts(out, ", shape=component");
    if (is_default(graph, id))
        bg_buf_puts(out, ", penwidth=2");
    if (is_off(graph, node))
        bg_buf_puts(out, ", style=filled, color=gray, fillcolor=gray95, fontcolor=gray50");
    bg_buf_puts(out, "];\n");
}

static void dot_members(const bg_graph *graph, uint32_t group, uint32_t depth, bg_buf *out)
{
    for (uint32_t i = 1; i < graph->n_nodes; i++) {
        if (graph->nodes[i].group == group)
            dot_node(graph, i, depth, out);
    }
}

static uint32_t n_parents(const bg_graph *graph, uint32_t group)
{
    uint32_t n = 0;
    while ((group = graph->groups[group].parent) != 0)
        n++;
    return n;
}

static void dot_close(uint32_t depth, bg_buf *out)
{
    indent(out, depth);
    bg_buf_puts(out, "}\n");
}

/* Clusters nest as groups do. A parent has a lower id but its children need not follow it, so each level looks for its own; the
 * walk is a loop with the path in `parent`, not a recursion. */
static void dot_groups(const bg_graph *graph, bg_buf *out)
{
    uint32_t open = 0, next = 1;
    for (;;) {
        uint32_t child = next;
        while (child < graph->n_groups && graph->groups[child].parent != open)
            child++;
        if (child < graph->n_groups) {
            uint32_t depth = n_parents(graph, child);
            indent(out, depth);
            bg_buf_printf(out, "subgraph cluster_g%u {\n", (unsigned)child);
            indent(out, depth + 1);
            bg_buf_puts(out, "label=\"");
            dot_text(out, bg_graph_str(graph, graph->groups[child].label));
            bg_buf_puts(out, "\";\n");
            dot_members(graph, child, depth + 1, out);
            open = child;
            next = child + 1;
            continue;
        }
        if (open == 0)
            break;
        dot_close(n_parents(graph, open), out);
        next = open + 1;
        open = graph->groups[open].parent;
    }
}

static void dot_edge(const bg_graph *graph, const bg_img_edges *edge, bg_buf *out)
{
    const bg_img_prods *prod = &graph->prods[edge->prod];
    bg_buf_printf(out, "  n%u -> n%u", (unsigned)prod->node, (unsigned)edge->node);
    if (prod->is_early != 0) {
        bg_buf_puts(out, " [style=dashed, label=\"");
        dot_text(out, bg_graph_str(graph, prod->name));
        bg_buf_puts(out, "\"]");
    }
    bg_buf_puts(out, ";\n");
}

static void put_dot(const bg_input *input, bg_buf *out)
{
    const bg_graph *graph = &input->graph;
    bg_buf_puts(out, "digraph \"");
    dot_text(out, bg_str_of(input->stem));
    bg_buf_puts(out, "\" {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n"
                     "  edge [fontname=\"sans-serif\", fontsize=10];\n");
    dot_members(graph, 0, 0, out);
    dot_groups(graph, out);
    for (uint32_t i = 1; i < graph->n_edges; i++)
        dot_edge(graph, &graph->edges[i], out);
    bg_buf_puts(out, "}\n");
}

/* ---- json ---- */

static void json_field(bg_buf *out, const char *key, bg_str value)
{
    bg_buf_printf(out, "\"%s\": ", key);
    bg_buf_json(out, value);
}

static void json_node(const bg_graph *graph, uint32_t id, bg_buf *out)
{
    const bg_img_nodes *node = &graph->nodes[id];
    bg_buf_puts(out, "{");
    json_field(out, "name", bg_graph_str(graph, node->name));
    bg_buf_puts(out, ", ");
    json_field(out, "label", bg_graph_str(graph, node->label));
    bg_buf_printf(out, ", \"kind\": \"%s\", ", node->kind == BG_NODE_CRATE ? "crate" : "stage");
    if (node->group != 0) {
        json_field(out, "group", bg_graph_str(graph, graph->groups[node->group].name));
        bg_buf_puts(out, ", ");
    }
    bg_buf_printf(out, "\"off\": %s, \"default\": %s, \"outputs\": [", is_off(graph, node) ? "true" : "false",
                  is_default(graph, id) ? "true" : "false");
    for (uint32_t i = 0; i < node->n_outs; i++) {
        const bg_img_outs *output = &graph->outs[node->outs + i];
        bg_buf_puts(out, i == 0 ? "{" : ", {");
        json_field(out, "name", bg_graph_str(graph, output->name));
        bg_buf_puts(out, ", ");
        json_field(out, "path", bg_graph_str(graph, output->path));
        bg_buf_printf(out, ", \"dir\": %s, \"early\": %s}", output->is_dir != 0 ? "true" : "false",
                      graph->prods[output->prod].is_early != 0 ? "true" : "false");
    }
    bg_buf_puts(out, "]");
    if (node->span != 0) {
        const bg_img_spans *span = &graph->spans[node->span];
        bg_buf_puts(out, ", ");
        json_field(out, "file", bg_graph_str(graph, graph->files[span->file].path));
        bg_buf_printf(out, ", \"line\": %u", (unsigned)span->line);
    }
    bg_buf_puts(out, "}");
}

static void json_group(const bg_graph *graph, uint32_t id, bg_buf *out)
{
    const bg_img_groups *group = &graph->groups[id];
    bg_buf_puts(out, "{");
    json_field(out, "name", bg_graph_str(graph, group->name));
    bg_buf_puts(out, ", ");
    json_field(out, "label", bg_graph_str(graph, group->label));
    if (group->parent != 0) {
        bg_buf_puts(out, ", ");
        json_field(out, "parent", bg_graph_str(graph, graph->groups[group->parent].name));
    }
    bg_buf_puts(out, "}");
}

static void json_edge(const bg_graph *graph, uint32_t id, bg_buf *out)
{
    const bg_img_edges *edge = &graph->edges[id];
    const bg_img_prods *prod = &graph->prods[edge->prod];
    bg_buf_puts(out, "{");
    json_field(out, "from", bg_graph_str(graph, graph->nodes[prod->node].name));
    bg_buf_puts(out, ", ");
    json_field(out, "product", bg_graph_str(graph, prod->name));
    bg_buf_printf(out, ", \"early\": %s, ", prod->is_early != 0 ? "true" : "false");
    json_field(out, "to", bg_graph_str(graph, graph->nodes[edge->node].name));
    bg_buf_puts(out, "}");
}

static void json_list(const bg_graph *graph, const char *key, uint32_t n,
                      void (*item)(const bg_graph *graph, uint32_t id, bg_buf *out), bg_buf *out)
{
    bg_buf_printf(out, ",\n \"%s\": [", key);
    for (uint32_t i = 1; i < n; i++) {
        bg_buf_puts(out, i == 1 ? "\n  " : ",\n  ");
        item(graph, i, out);
    }
    bg_buf_puts(out, "]");
}

static void put_json(const bg_input *input, bg_buf *out)
{
    const bg_graph *graph = &input->graph;
    bg_buf_puts(out, "{\"graph\": ");
    bg_buf_json(out, bg_str_of(input->stem));
    json_list(graph, "groups", graph->n_groups, json_group, out);
    json_list(graph, "nodes", graph->n_nodes, json_node, out);
    json_list(graph, "edges", graph->n_edges, json_edge, out);
    bg_buf_puts(out, "}\n");
}

/* ---- the command ---- */

static int run(const bg_args *args)
{
    bg_input input = {0};
    bg_error err = {0};
    bg_buf text = {0};
    bg_status status = bg_input_find(&input, args->n_rest > 0 ? args->rest[0] : NULL, args, &err);
    if (status == BG_OK)
        status = bg_input_load(&input, false, bg_cli_color(args, stderr), &err);
    int code;
    if (status == BG_OK) {
        const char *format = bg_args_text(args, "format");
        if (format != NULL && strcmp(format, "json") == 0)
            put_json(&input, &text);
        else
            put_dot(&input, &text);
        code = bg_cli_put_to(bg_args_text(args, "output"), &text);
    } else {
        code = bg_cli_fail(status, &err);
    }
    bg_buf_clear(&text);
    bg_input_clear(&input);
    return code;
}

static const bg_option options[] = {
    {BG_OPTION_CHOICE, 0, "format", "FORM", "dot|json", "dot for Graphviz (the default), or json"},
    BG_OPTION_O("write there instead of standard output"),
    BG_OPTION_D,
    BG_OPTION_COLOR,
    BG_OPTIONS_END,
};

const bg_command bg_command_graph = {
    .name = "graph",
    .doc = "draw the graph",
    .usage = "[OPTION…] [FILE]",
    .about = "Prints every node and edge, without running anything. Groups are boxes, edges of early products are dashed, nodes\n"
             "that `when` switches off are grey, default targets have a thick border.\n",
    .example = "bgc graph release.bgraph | dot -Tsvg > release.svg\n"
               "bgc graph --format json release.bgraph\n",
    .options = options,
    .max_rest = 1,
    .run = run,
};
