/* Targets -> the nodes of this run with all they consume, producers first; critical-path priorities. */
#include <string.h>

#include "exec/exec.h"

enum { ASSUMED_NS = 1000000000 }; /* of a node that never ran */

typedef struct {
    uint32_t node;
    size_t next; /* use that is looked at next */
} frame;

typedef BG_VEC(frame) frames;

static bg_status out_of_memory(bg_error *err)
{
    return bg_error_set(err, BG_E_NOMEM, "out of memory");
}

static bool in_group(const bg_exec *x, uint32_t node, bg_str name)
{
    for (uint32_t g = x->graph->nodes[node].group; g != 0; g = x->graph->groups[g].parent) {
        if (bg_str_eq(bg_graph_str(x->graph, x->graph->groups[g].name), name))
            return true;
    }
    return false;
}

static bg_status unknown_target(bg_exec *x, bg_str name, bg_error *err)
{
    size_t n = 0;
    bg_str *names = BG_ARENA_ARRAY(&x->arena, (size_t)x->graph->n_nodes + x->graph->n_groups + 1, bg_str);
    if (names == NULL)
        return out_of_memory(err);
    for (uint32_t i = 1; i < x->graph->n_groups; i++)
        names[n++] = bg_graph_str(x->graph, x->graph->groups[i].name);
    for (uint32_t i = 1; i < x->graph->n_nodes; i++)
        names[n++] = x->nodes[i].name;
    return bg_error_set(err, BG_E_USAGE, "%.*s has no stage or group `%.*s`%s", BG_FMT(x->options->file), BG_FMT(name),
                        bg_exec_suggest(x, name, names, n));
}

static bg_status mark_target(bg_exec *x, bg_str name, bg_error *err)
{
    uint32_t id = bg_graph_find_node(x->graph, name);
    bool any = id != 0;
    if (id != 0)
        x->nodes[id].is_target = true;
    for (uint32_t i = 1; id == 0 && i < x->graph->n_nodes; i++) {
        if (in_group(x, i, name)) {
            x->nodes[i].is_target = true;
            any = true;
        }
    }
    return any ? BG_OK : unknown_target(x, name, err);
}

static bg_status mark_targets(bg_exec *x, bg_error *err)
{
    const bg_run_options *o = x->options;
    for (size_t i = 0; i < o->n_targets; i++)
        BG_TRY(mark_target(x, o->targets[i], err));
    if (o->n_targets > 0)
        return BG_OK;
    for (uint32_t i = 1; i < x->graph->n_defaults; i++)
        x->nodes[x->graph->defaults[i].node].is_target = true;
    for (uint32_t i = 1; x->graph->n_defaults < 2 && i < x->graph->n_nodes; i++)
        x->nodes[i].is_target = true;
    return BG_OK;
}

/* Evaluate a node the first time it is met. */
static bg_status meet(bg_exec *x, bg_exec_node *n, frames *stack, bg_error *err)
{
    if (n->is_planned)
        return BG_OK;
    n->is_planned = true;
    bool on = true;
    BG_TRY(bg_exec_when(x, n, &on, err));
    n->state = on ? BG_NODE_WAIT : BG_NODE_SWITCHED_OFF;
    if (on)
        BG_TRY(bg_exec_plan_node(x, n, err));
    return BG_VEC_PUSH(stack, ((frame){n->id, 0})) ? BG_OK : out_of_memory(err);
}

static bg_status consumed_off(bg_exec *x, const bg_exec_node *n, const bg_exec_node *producer, uint32_t span,
                              bg_error *err)
{
    const char *place = bg_exec_place(x, span);
    const char *when = bg_exec_place(x, bg_exec_image(x, producer)->span);
    return bg_error_set(err, BG_E_USAGE,
                        "%s: `%.*s` consumes `%.*s` (%s), which its `when` switches off; switch off `%.*s` too, or "
                        "choose with `if … then … else`",
                        place, BG_FMT(n->name), BG_FMT(producer->name), when, BG_FMT(n->name));
}

static bg_status step(bg_exec *x, frames *stack, bg_error *err)
{
    frame *top = &stack->at[stack->n - 1];
    bg_exec_node *n = &x->nodes[top->node];
    if (top->next == n->n_uses) {
        x->order[x->n_order++] = n->id;
        stack->n--;
        return BG_OK;
    }
    const bg_exec_use *use = &n->uses[top->next++];
    bg_exec_node *producer = &x->nodes[x->graph->prods[use->prod].node];
    BG_TRY(meet(x, producer, stack, err));
    if (producer->state == BG_NODE_SWITCHED_OFF)
        return consumed_off(x, n, producer, use->span, err);
    return BG_OK;
}

static bg_status visit(bg_exec *x, bg_error *err)
{
    frames stack = {0};
    bg_status status = BG_OK;
    for (uint32_t i = 1; i < x->graph->n_nodes && status == BG_OK; i++) {
        if (x->nodes[i].is_target)
            status = meet(x, &x->nodes[i], &stack, err);
        while (stack.n > 0 && status == BG_OK)
            status = step(x, &stack, err);
    }
    BG_VEC_CLEAR(&stack);
    return status;
}

/* A node that uses two products of one producer is its consumer once; uses are sorted, and so are products by node. */
static bool is_repeat(const bg_exec *x, const bg_exec_node *n, size_t use)
{
    return use > 0 && x->graph->prods[n->uses[use - 1].prod].node == x->graph->prods[n->uses[use].prod].node;
}

static bg_status link_consumers(bg_exec *x, bg_error *err)
{
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 1; i < x->graph->n_nodes; i++) {
            const bg_exec_node *n = &x->nodes[i];
            for (size_t u = 0; u < n->n_uses; u++) {
                bg_exec_node *p = &x->nodes[x->graph->prods[n->uses[u].prod].node];
                if (is_repeat(x, n, u))
                    continue;
                if (pass == 1)
                    p->consumers[p->n_consumers] = i;
                p->n_consumers++;
            }
        }
        for (uint32_t i = 1; pass == 0 && i < x->graph->n_nodes; i++) {
            bg_exec_node *n = &x->nodes[i];
            n->consumers = BG_ARENA_ARRAY(&x->arena, n->n_consumers + 1, uint32_t);
            if (n->consumers == NULL)
                return out_of_memory(err);
            n->n_consumers = 0;
        }
    }
    return BG_OK;
}

static void set_priorities(bg_exec *x)
{
    for (size_t i = x->n_order; i-- > 0;) {
        bg_exec_node *n = &x->nodes[x->order[i]];
        uint64_t after = 0;
        for (size_t c = 0; c < n->n_consumers; c++) {
            uint64_t p = x->nodes[n->consumers[c]].priority_ns;
            after = p > after ? p : after;
        }
        n->duration_ns = bg_exec_duration_load(x, n);
        n->priority_ns = after + (n->duration_ns == 0 ? ASSUMED_NS : n->duration_ns);
    }
}

bg_status bg_exec_load(bg_exec *x, bg_error *err)
{
    x->order = BG_ARENA_ARRAY(&x->arena, (size_t)x->graph->n_nodes + 1, uint32_t);
    if (x->order == NULL)
        return out_of_memory(err);
    BG_TRY(mark_targets(x, err));
    BG_TRY(visit(x, err));
    BG_TRY(link_consumers(x, err));
    set_priorities(x);
    return BG_OK;
}
