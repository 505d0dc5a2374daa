/* Circles of nodes, found by a depth-first walk with a stack of its own (chains of nodes can be long). */
#include "graph/graph.h"

enum { WHITE, GREY, BLACK };

typedef struct {
    bg_node *node;
    uint32_t edge; /* the next one to follow */
} frame;

typedef BG_LIST(frame) stack;

static void report(bg_sema *s, const stack *path, const bg_node *back, bg_span last)
{
    uint32_t from = path->n;
    while (from > 0 && path->at[from - 1].node != back)
        from--;
    from -= from > 0;
    bg_str names = {"", 0};
    for (uint32_t i = from; i < path->n; i++)
        names = bg_sema_printf(s, "%.*s%.*s -> ", BG_FMT(names), BG_FMT(path->at[i].node->path));
    names = bg_sema_printf(s, "%.*s%.*s", BG_FMT(names), BG_FMT(back->path));
    bg_diag *d = bg_diag_push(s->diags, BG_D_NODE_CYCLE, last, 1, names);
    for (uint32_t i = from; i < path->n; i++) {
        const bg_node *node = path->at[i].node;
        const bg_edge *edge = &node->edges.at[path->at[i].edge - 1];
        bg_diag_label_add(s->diags, d, edge->span, "`%.*s` needs `%.*s` here", BG_FMT(node->path), BG_FMT(edge->node->path));
    }
}

static void walk(bg_sema *s, bg_node *root)
{
    stack path = {0};
    root->color = GREY;
    frame first = {root, 0};
    BG_PUSH(s, &path, first);
    while (path.n != 0) {
        frame *top = &path.at[path.n - 1];
        if (top->edge == top->node->edges.n) {
            top->node->color = BLACK;
            path.n--;
            continue;
        }
        const bg_edge *edge = &top->node->edges.at[top->edge++];
        if (edge->node->color == GREY) {
            report(s, &path, edge->node, edge->span);
        } else if (edge->node->color == WHITE) {
            edge->node->color = GREY;
            frame next = {edge->node, 0};
            BG_PUSH(s, &path, next);
        }
    }
}

void bg_graph_check_cycles(bg_sema *s)
{
    for (uint32_t i = 0; i < s->nodes.n; i++)
        s->nodes.at[i]->color = WHITE;
    for (uint32_t i = 0; i < s->nodes.n; i++)
        if (s->nodes.at[i]->color == WHITE)
            walk(s, s->nodes.at[i]);
}
