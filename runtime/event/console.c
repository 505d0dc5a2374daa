/* What a person reads of a run. One section is open at a time: while a node runs alone its output
 * goes straight to the screen; where several run each one's output waits and comes in one piece
 * when the node has ended. On a terminal the bottom line says what runs. */
#include "event/console.h"

#include <stdlib.h>

#include "event/names.h"
#include "event/text.h"

#define HEARTBEAT_NS                                                                               \
    UINT64_C(60000000000) /* a log that is not a terminal grows at least so often */
#define SLOW_RESTORE_NS                                                                            \
    UINT64_C(1000000000) /* a restore that took longer gets a line of its own                      \
                          */
#define DEFAULT_COLUMNS 80

static bg_section *find(const bg_console *c, uint32_t node)
{
    for (size_t i = 0; i < c->sections.n; i++) {
        if (c->sections.at[i]->node == node && !c->sections.at[i]->is_ended)
            return c->sections.at[i];
    }
    return NULL;
}

static bg_section *opened(const bg_console *c)
{
    for (size_t i = 0; i < c->sections.n; i++) {
        if (c->sections.at[i]->is_open)
            return c->sections.at[i];
    }
    return NULL;
}

/* The one that runs when there is just one. */
static bg_section *alone(const bg_console *c)
{
    bg_section *only = NULL;
    for (size_t i = 0; i < c->sections.n; i++) {
        if (c->sections.at[i]->is_ended)
            continue;
        if (only != NULL)
            return NULL;
        only = c->sections.at[i];
    }
    return only;
}

/* Start line and what has gathered; from here on output follows directly. */
static void open_section(bg_console *c, bg_section *s)
{
    bg_console_start_line(c, s);
    s->is_open = true;
    bg_buf_reset(&c->scratch);
    bg_capture_get(&s->unseen, &c->scratch);
    bg_console_output(c, s, bg_buf_view(&c->scratch));
    bg_capture_clear(&s->unseen);
}

static void show_or_keep(bg_console *c, bg_section *s, const bg_buf *lines)
{
    if (s->is_open)
        bg_console_output(c, s, bg_buf_view(lines));
    else
        bg_capture_put(&s->unseen, bg_buf_view(lines));
}

static void take_output(bg_console *c, bg_section *s, bg_str bytes)
{
    bg_buf_reset(&c->scratch);
    bg_section_take(s, bytes, c->style.color, &c->scratch);
    show_or_keep(c, s, &c->scratch);
}

static void forget(bg_console *c, bg_section *s)
{
    size_t to = 0;
    for (size_t i = 0; i < c->sections.n; i++) {
        if (c->sections.at[i] != s)
            c->sections.at[to++] = c->sections.at[i];
    }
    c->sections.n = to;
    if (s->outcome != BG_OUTCOME_FAILED || !BG_VEC_PUSH(&c->failed, s)) {
        c->last = NULL;
        bg_section_free(s);
    } else {
        c->last = s;
    }
}

/* The whole of a section that has ended, or the rest of an open one. */
static void close_section(bg_console *c, bg_section *s)
{
    bool is_shown = !c->style.quiet || s->outcome == BG_OUTCOME_FAILED;
    if (is_shown && !s->is_open)
        open_section(c, s);
    bg_buf_reset(&c->scratch);
    bg_section_finish(s, &c->scratch);
    if (is_shown) {
        bg_console_output(c, s, bg_buf_view(&c->scratch));
        bg_console_output_end(c, s);
        bg_console_end_lines(c, s);
    }
    s->is_open = false;
    forget(c, s);
}

static void flush_later(bg_console *c)
{
    bg_buf_str(&c->out, bg_buf_view(&c->later));
    c->out.failed |= c->later.failed;
    bg_buf_reset(&c->later);
}

/* When nothing is open: those that ended meanwhile, in the order they began, then the one that is
 * left, if it is alone. */
static void go_on(bg_console *c)
{
    if (opened(c) != NULL)
        return;
    flush_later(c);
    for (size_t i = 0; i < c->sections.n;) {
        if (c->sections.at[i]->is_ended)
            close_section(c, c->sections.at[i]);
        else
            i++;
    }
    bg_section *only = alone(c);
    if (only != NULL && !c->style.quiet)
        open_section(c, only);
}

static bg_section *add_section(bg_console *c, const bg_graph *graph, const bg_event *event)
{
    bg_section *s = bg_section_new(graph, event->node, event->t_ns);
    if (s == NULL || !BG_VEC_PUSH(&c->sections, s)) {
        bg_section_free(s);
        c->out.failed = true;
        return NULL;
    }
    s->order = c->n_settled;
    for (size_t i = 0; i < c->sections.n; i++)
        s->order += !c->sections.at[i]->is_ended;
    return s;
}

static void node_begin(bg_console *c, const bg_graph *graph, const bg_event *event)
{
    bg_section *s = find(c, event->node);
    if (s != NULL) {
        bg_buf line = {0};
        bg_buf_printf(&line, "Attempt %llu: ", (unsigned long long)event->count);
        bg_console_safe(c, event->text, &line);
        bg_buf_putc(&line, '\n');
        take_output(c, s, bg_buf_view(&line));
        bg_buf_clear(&line);
        return;
    }
    s = add_section(c, graph, event);
    if (s == NULL)
        return;
    c->n_begun++;
    go_on(c);
    if (c->style.verbose && event->text.len != 0) {
        bg_buf line = {0};
        bg_buf_puts(&line, "because: ");
        bg_console_safe(c, event->text, &line);
        bg_buf_putc(&line, '\n');
        take_output(c, s, bg_buf_view(&line));
        bg_buf_clear(&line);
    }
}

/* A line about a node that has no section: at once, or when the open section is over. */
static void put_short(bg_console *c, const bg_graph *graph, uint32_t node, const char *what)
{
    bg_buf title = {0};
    bg_buf *to = opened(c) == NULL ? &c->out : &c->later;
    bg_names_section(graph, node, &title);
    bg_buf_puts(to, "Section `");
    bg_console_safe(c, bg_buf_view(&title), to);
    bg_buf_printf(to, "` %s\n", what);
    bg_buf_clear(&title);
}

static void put_work(bg_console *c, const bg_graph *graph, const bg_event *event, const char *verb)
{
    bg_buf what = {0};
    bg_buf_printf(&what, "%s (", verb);
    bg_text_seconds(&what, event->duration_ns);
    bg_buf_puts(&what, "s, ");
    bg_text_size(&what, event->bytes);
    bg_buf_putc(&what, ')');
    put_short(c, graph, event->node, bg_buf_cstr(&what));
    bg_buf_clear(&what);
}

/* It ended while another's output is on the screen: say so now, show it after that. */
static void note_failure(bg_console *c, const bg_section *s)
{
    bg_buf_puts(&c->out, "Section `");
    bg_console_safe(c, bg_buf_view(&s->title), &c->out);
    bg_buf_puts(&c->out, "` failed; its output follows after this section\n");
}

/* Settled without having begun. */
static void node_settled(bg_console *c, const bg_graph *graph, const bg_event *event)
{
    if (event->outcome == BG_OUTCOME_FAILED) {
        bg_section *s = add_section(c, graph, event);
        if (s == NULL)
            return;
        s->order = c->n_settled;
        bg_section_end(s, event);
        if (opened(c) != NULL)
            note_failure(c, s);
        go_on(c);
    } else if (c->style.verbose) {
        put_short(c, graph, event->node, bg_outcome_word(event->outcome));
    }
}

static void node_end(bg_console *c, const bg_graph *graph, const bg_event *event)
{
    c->n_settled++;
    if ((unsigned)event->outcome < BG_OUTCOME_COUNT)
        c->n_outcome[event->outcome]++;
    bg_section *s = find(c, event->node);
    if (s == NULL) {
        node_settled(c, graph, event);
        return;
    }
    bg_section_end(s, event);
    if (s->is_open)
        close_section(c, s);
    else if (opened(c) != NULL && s->outcome == BG_OUTCOME_FAILED)
        note_failure(c, s);
    go_on(c);
}

/* With no section it is a dry run. */
static void command(bg_console *c, const bg_graph *graph, const bg_event *event)
{
    bg_section *s = find(c, event->node);
    c->n_commands++;
    bg_buf line = {0};
    if (s == NULL) {
        bg_buf_puts(&line, "would run: ");
        bg_console_safe(c, event->text, &line);
        put_short(c, graph, event->node, bg_buf_cstr(&line));
    } else if (c->style.verbose) {
        bg_buf_puts(&line, "$ ");
        bg_text_line(&line, event->text);
        bg_buf_putc(&line, '\n');
        take_output(c, s, bg_buf_view(&line));
    }
    bg_buf_clear(&line);
}

static void product(bg_console *c, const bg_graph *graph, const bg_event *event)
{
    bg_buf what = {0};
    bg_buf_puts(&what, "has made ");
    bg_console_safe(c, event->text, &what);
    put_short(c, graph, event->node, bg_buf_cstr(&what));
    bg_buf_clear(&what);
}

static void heartbeat(bg_console *c, uint64_t t_ns)
{
    if (c->style.is_terminal || c->style.quiet || c->sections.n == 0 ||
        t_ns < c->shown_ns + HEARTBEAT_NS)
        return;
    bg_buf line = {0};
    bg_console_running(c, t_ns, 0, &line);
    bg_buf_puts(&c->out, "Still running: ");
    bg_console_safe(c, bg_buf_view(&line), &c->out);
    bg_buf_putc(&c->out, '\n');
    bg_buf_clear(&line);
}

static void run_end(bg_console *c, const bg_event *event)
{
    for (size_t i = 0; i < c->sections.n; i++) { /* a run that broke off */
        bg_section *s = c->sections.at[i];
        if (!s->is_ended) {
            s->is_ended = true;
            s->outcome = BG_OUTCOME_CANCELLED;
            s->duration_ns = event->t_ns > s->begin_ns ? event->t_ns - s->begin_ns : 0;
        }
    }
    bg_section *s = opened(c);
    if (s != NULL)
        close_section(c, s);
    go_on(c);
    bg_console_finish(c, event);
    c->is_over = true;
}

static void take_event(bg_console *c, const bg_graph *graph, const bg_event *event)
{
    bool tells = c->style.verbose && !c->style.quiet;
    switch (event->kind) {
    case BG_EVENT_RUN_BEGIN:
        c->n_total = event->bytes > UINT32_MAX ? 0 : (uint32_t)event->bytes;
        break;
    case BG_EVENT_NODE_BEGIN:
        node_begin(c, graph, event);
        break;
    case BG_EVENT_COMMAND:
        command(c, graph, event);
        break;
    case BG_EVENT_OUTPUT: {
        bg_section *s = find(c, event->node);
        if (s != NULL)
            take_output(c, s, event->text);
        break;
    }
    case BG_EVENT_PRODUCT:
        if (tells)
            product(c, graph, event);
        break;
    case BG_EVENT_STORE:
        if (tells)
            put_work(c, graph, event, "stored");
        break;
    case BG_EVENT_RESTORE:
        if (tells || (event->duration_ns >= SLOW_RESTORE_NS && !c->style.quiet))
            put_work(c, graph, event, "restored");
        break;
    case BG_EVENT_NODE_END:
        node_end(c, graph, event);
        break;
    case BG_EVENT_MESSAGE:
        if (event->is_warning || !c->style.quiet)
            bg_console_message(c, graph, event);
        break;
    case BG_EVENT_TICK:
        heartbeat(c, event->t_ns);
        break;
    case BG_EVENT_RUN_END:
        run_end(c, event);
        break;
    case BG_EVENT_COUNT:
        break;
    }
}

static bool has_bottom_line(const bg_console *c)
{
    return c->style.is_terminal && !c->style.quiet && !c->is_over && c->sections.n != 0;
}

/* What is on the bottom line goes away before anything else is written, and comes back below it. */
static void show(bg_console *c, uint64_t t_ns)
{
    bg_buf bottom = {0}, text = {0};
    size_t columns = c->style.width > 1 ? (size_t)c->style.width - 1 : DEFAULT_COLUMNS - 1;
    if (has_bottom_line(c))
        bg_console_running(c, t_ns, columns, &bottom);
    bool is_same = bg_str_eq(bg_buf_view(&bottom), bg_buf_view(&c->status));
    if (c->out.len != 0 || c->out.failed || !is_same) {
        if (c->status.len != 0)
            bg_buf_puts(&text, "\r\x1b[K");
        bg_buf_str(&text, bg_buf_view(&c->out));
        bg_buf_str(&text, bg_buf_view(&bottom));
        text.failed |= c->out.failed;
        bg_writer_put(&c->writer, &text);
        bg_writer_flush(&c->writer);
    }
    if (c->out.len != 0)
        c->shown_ns = t_ns;
    bg_buf_reset(&c->status);
    bg_buf_str(&c->status, bg_buf_view(&bottom));
    bg_buf_clear(&text);
    bg_buf_clear(&bottom);
}

static void console_event(bg_sink *sink, const bg_graph *graph, const bg_event *event)
{
    bg_console *c = (bg_console *)sink;
    if (c->is_over)
        return;
    bg_buf_reset(&c->out);
    take_event(c, graph, event);
    show(c, event->t_ns);
}

static void drop_sections(bg_console *c)
{
    for (size_t i = 0; i < c->sections.n; i++)
        bg_section_free(c->sections.at[i]);
    for (size_t i = 0; i < c->failed.n; i++)
        bg_section_free(c->failed.at[i]);
    BG_VEC_CLEAR(&c->sections);
    BG_VEC_CLEAR(&c->failed);
}

static bg_status console_close(bg_sink *sink, bg_error *err)
{
    bg_console *c = (bg_console *)sink;
    if (!c->is_over && c->sections.n != 0) {
        static const bg_event broken = {.kind = BG_EVENT_RUN_END, .count = 3};
        console_event(sink, NULL, &broken);
    }
    bg_status status = bg_writer_close(&c->writer, err);
    drop_sections(c);
    bg_buf_clear(&c->out);
    bg_buf_clear(&c->later);
    bg_buf_clear(&c->scratch);
    bg_buf_clear(&c->status);
    free(c);
    return status;
}

bg_sink *bg_sink_console(FILE *out, bg_console_style style, bg_error *err)
{
    bg_console *c = calloc(1, sizeof *c);
    if (c == NULL) {
        bg_error_set(err, BG_E_NOMEM, "Out of memory for the console.");
        return NULL;
    }
    c->sink = (bg_sink){console_event, console_close};
    c->style = style;
    bg_writer_borrow(&c->writer, out);
    return &c->sink;
}
