#include "event/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "event/names.h"
#include "event/text.h"

/* Columns: a label is padded to this at least, so that a table of short labels looks as it always
 * did. */
#define MIN_LABEL 36
#define SECONDS_DIGITS 11 /* columns of the number before its `s` */
#define INDENT 2
#define MAX_INDENT 16  /* levels; deeper ones stay there */
#define MANY_CRATES 16 /* more than this many in a group are summed */

typedef enum { ITEM_ROOT, ITEM_GROUP, ITEM_NODE, ITEM_CRATES } item_kind;

/* A row to be, in a tree threaded through arrays: item 0 is the root, 0 as a link is none. */
typedef struct {
    item_kind kind;
    uint32_t id; /* group or node; for crates the number of them */
    uint32_t parent, first, last, next;
    uint64_t ns;
    uint32_t n_outcome[BG_OUTCOME_COUNT];
} item;

typedef struct {
    const bg_tally *tally;
    const bg_graph *graph;
    item *items;
    uint32_t n;
    uint32_t *group_item;  /* by group id: its item, 0 if it has none yet */
    uint32_t *n_crates;    /* by group id: crates that settled well in it */
    uint32_t *crates_item; /* by group id: the row they share */
} layout;

static uint32_t group_of(const layout *l, uint32_t node)
{
    uint32_t group = l->graph->nodes[node].group;
    return group < l->graph->n_groups ? group : 0;
}

static uint32_t append(layout *l, item_kind kind, uint32_t id, uint32_t parent)
{
    uint32_t at = l->n++;
    l->items[at] = (item){.kind = kind, .id = id, .parent = parent};
    if (l->items[parent].last != 0)
        l->items[l->items[parent].last].next = at;
    else
        l->items[parent].first = at;
    l->items[parent].last = at;
    return at;
}

/* The item of a group, made together with those around it. Groups around have lower ids, so this
 * ends. */
static uint32_t open_group(layout *l, uint32_t group)
{
    while (group != 0 && l->group_item[group] == 0) {
        uint32_t top = group;
        while (l->graph->groups[top].parent < top && l->graph->groups[top].parent != 0 &&
               l->group_item[l->graph->groups[top].parent] == 0)
            top = l->graph->groups[top].parent;
        uint32_t around = l->graph->groups[top].parent;
        around = around < top ? l->group_item[around] : 0;
        l->group_item[top] = append(l, ITEM_GROUP, top, around);
    }
    return group == 0 ? 0 : l->group_item[group];
}

static bool is_quiet_crate(const layout *l, uint32_t node)
{
    return l->graph->nodes[node].kind == BG_NODE_CRATE &&
           l->tally->nodes[node].outcome != BG_OUTCOME_FAILED;
}

static void add_node(layout *l, uint32_t node)
{
    uint32_t group = group_of(l, node);
    uint32_t parent = open_group(l, group);
    uint32_t at = 0;
    if (is_quiet_crate(l, node) && l->n_crates[group] > MANY_CRATES) {
        if (l->crates_item[group] == 0)
            l->crates_item[group] = append(l, ITEM_CRATES, l->n_crates[group], parent);
        at = l->crates_item[group];
    } else {
        at = append(l, ITEM_NODE, node, parent);
    }
    const bg_tally_node *t = &l->tally->nodes[node];
    l->items[at].ns += t->spent_ns;
    l->items[at].n_outcome[t->outcome]++;
}

/* Children have higher numbers than what holds them, so one pass from the end adds everything up.
 */
static void sum_up(layout *l)
{
    for (uint32_t i = l->n; i-- > 1;) {
        item *child = &l->items[i], *parent = &l->items[child->parent];
        parent->ns += child->ns;
        for (unsigned k = 0; k < BG_OUTCOME_COUNT; k++)
            parent->n_outcome[k] += child->n_outcome[k];
    }
}

static void layout_clear(layout *l)
{
    free(l->items);
    free(l->group_item);
    free(l->n_crates);
    free(l->crates_item);
}

static bool layout_init(layout *l, const bg_tally *tally, const bg_graph *graph)
{
    size_t n_groups = (size_t)graph->n_groups + 1;
    *l = (layout){.tally = tally, .graph = graph, .n = 1};
    l->items = calloc(n_groups * 2 + graph->n_nodes + 1, sizeof *l->items);
    l->group_item = calloc(n_groups, sizeof *l->group_item);
    l->n_crates = calloc(n_groups, sizeof *l->n_crates);
    l->crates_item = calloc(n_groups, sizeof *l->crates_item);
    return l->items != NULL && l->group_item != NULL && l->n_crates != NULL &&
           l->crates_item != NULL;
}

static bool lay_out(layout *l, const bg_tally *tally, const bg_graph *graph)
{
    if (!layout_init(l, tally, graph))
        return false;
    for (uint32_t node = 1; node < tally->n_nodes; node++) {
        if (tally->nodes[node].settled && is_quiet_crate(l, node))
            l->n_crates[group_of(l, node)]++;
    }
    for (uint32_t node = 1; node < tally->n_nodes; node++) {
        if (tally->nodes[node].settled)
            add_node(l, node);
    }
    sum_up(l);
    return true;
}

/* The item after `at` in reading order, 0 at the end; keeps count of the depth. */
static uint32_t step(const layout *l, uint32_t at, uint32_t *depth)
{
    if (l->items[at].first != 0) {
        *depth += at != 0;
        return l->items[at].first;
    }
    while (at != 0 && l->items[at].next == 0) {
        at = l->items[at].parent;
        *depth -= *depth != 0;
    }
    return l->items[at].next;
}

static void put_label(const layout *l, const item *it, uint32_t depth, bg_buf *out)
{
    bg_text_pad(out, INDENT * (depth < MAX_INDENT ? depth : MAX_INDENT));
    if (it->kind == ITEM_CRATES)
        bg_buf_printf(out, "%" PRIu32 " crates", it->id);
    else
        bg_text_line(out, it->kind == ITEM_GROUP ? bg_names_group(l->graph, it->id)
                                                 : bg_names_label(l->graph, it->id));
    bg_buf_putc(out, ':');
}

/* What became of a row: a word if all in it fared the same, nothing if it ran. */
static const char *status_of(const item *it)
{
    uint32_t n = 0;
    bg_outcome only = BG_OUTCOME_RAN;
    if (it->n_outcome[BG_OUTCOME_FAILED] != 0)
        return "FAILED";
    for (unsigned i = 0; i < BG_OUTCOME_COUNT; i++) {
        n += it->n_outcome[i] != 0;
        if (it->n_outcome[i] != 0)
            only = (bg_outcome)i;
    }
    return n != 1 || only == BG_OUTCOME_RAN ? "" : bg_outcome_word(only);
}

/* Share in hundredths of a percent. */
static unsigned share_of(uint64_t ns, uint64_t total_ns)
{
    return total_ns == 0 ? 0 : (unsigned)((double)ns / (double)total_ns * 10000.0 + 0.5);
}

static void put_padded(bg_buf *out, bg_str left, size_t width)
{
    size_t used = bg_text_width(left);
    bg_buf_str(out, left);
    bg_text_pad(out, used < width ? width - used : 0);
}

/* label, padding, right-aligned seconds. */
static void put_time(bg_buf *out, bg_str label, size_t label_width, uint64_t ns)
{
    bg_buf number = {0};
    bg_text_seconds(&number, ns);
    put_padded(out, label, label_width);
    bg_text_pad(out, number.len < SECONDS_DIGITS ? SECONDS_DIGITS - number.len : 0);
    bg_buf_str(out, bg_buf_view(&number));
    bg_buf_putc(out, 's');
    out->failed |= number.failed;
    bg_buf_clear(&number);
}

typedef struct {
    size_t label, share; /* columns: the label; the percentage's number */
    size_t whole;        /* the widest row */
} widths;

static widths measure(const layout *l)
{
    widths w = {MIN_LABEL, 5, 0};
    size_t status = 0;
    bg_buf label = {0};
    uint32_t depth = 0;
    for (uint32_t at = step(l, 0, &depth); at != 0; at = step(l, at, &depth)) {
        bg_buf_reset(&label);
        put_label(l, &l->items[at], depth, &label);
        size_t n = bg_text_width(bg_buf_view(&label)) + 1;
        w.label = n > w.label ? n : w.label;
        w.share = share_of(l->items[at].ns, l->items[0].ns) >= 10000 ? 6 : w.share;
        n = strlen(status_of(&l->items[at]));
        status = n > status ? n : status;
    }
    bg_buf_clear(&label);
    w.whole = w.label + SECONDS_DIGITS + w.share + 5 + (status == 0 ? 0 : status + 1);
    return w;
}

static void put_row(const layout *l, const item *it, uint32_t depth, const widths *w, bg_buf *out)
{
    bg_buf label = {0};
    put_label(l, it, depth, &label);
    put_time(out, bg_buf_view(&label), w->label, it->ns);
    out->failed |= label.failed;
    bg_buf_clear(&label);
    unsigned share = share_of(it->ns, l->items[0].ns);
    bg_buf_printf(out, " (%*u.%02u%%)", (int)w->share - 3, share / 100, share % 100);
    const char *status = status_of(it);
    if (*status != '\0')
        bg_buf_printf(out, " %s", status);
    bg_buf_putc(out, '\n');
}

static void put_rule(bg_buf *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bg_buf_putc(out, '-');
    bg_buf_putc(out, '\n');
}

static void put_cache_line(bg_buf *out, const char *label, size_t label_width, uint64_t ns,
                           uint64_t bytes)
{
    put_time(out, bg_str_of(label), label_width, ns);
    bg_buf_puts(out, " (");
    bg_text_size(out, bytes);
    bg_buf_puts(out, ")\n");
}

static void put_footer(const bg_tally *tally, size_t label_width, bg_buf *out)
{
    if (tally->is_over) {
        put_time(out, BG_STR("Wall time:"), label_width, tally->wall_ns);
        bg_buf_putc(out, '\n');
    }
    if (tally->n_stored != 0)
        put_cache_line(out, "Stored in the cache:", label_width, tally->store_ns,
                       tally->stored_bytes);
    if (tally->restore_ns != 0)
        put_cache_line(out, "Restored from the cache:", label_width, tally->restore_ns,
                       tally->restored_bytes);
    bg_buf_puts(out, "Nodes: ");
    bg_tally_counts(tally, out);
    bg_buf_putc(out, '\n');
    if (tally->critical_path.len != 0)
        bg_buf_printf(out, "Critical path: %s\n", bg_buf_cstr(&tally->critical_path));
}

void bg_table_print(const bg_tally *tally, const bg_graph *graph, bg_buf *out)
{
    layout l;
    if (!lay_out(&l, tally, graph)) {
        layout_clear(&l);
        out->failed = true;
        return;
    }
    widths w = measure(&l);
    bg_buf_puts(out, "Timer results\n");
    put_rule(out, w.whole);
    uint32_t depth = 0;
    for (uint32_t at = step(&l, 0, &depth); at != 0; at = step(&l, at, &depth))
        put_row(&l, &l.items[at], depth, &w, out);
    put_time(out, BG_STR("Total duration:"), w.label, l.items[0].ns);
    bg_buf_putc(out, '\n');
    put_rule(out, w.whole);
    put_footer(tally, w.label, out);
    out->failed |= tally->failed;
    layout_clear(&l);
}
