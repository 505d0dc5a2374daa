#include "event/console.h"

#include <inttypes.h>
#include <string.h>

#include "event/names.h"
#include "event/text.h"

/* How much of a failure is shown again. */
#define RECAP_LINES 40
#define RECAP_OUTPUTS 10

void bg_console_paint(bg_console *c, bg_paint paint, const char *text)
{
    static const char *const codes[] = {"", "1", "1;32", "1;31", "1;33"};
    if (!c->style.color || paint == BG_PAINT_PLAIN)
        bg_buf_puts(&c->out, text);
    else
        bg_buf_printf(&c->out, "\x1b[%sm%s\x1b[0m", codes[paint], text);
}

void bg_console_safe(bg_console *c, bg_str text, bg_buf *to)
{
    bg_buf line = {0};
    bg_text_line(&line, text);
    if (c->style.github)
        bg_github_defuse(&line);
    bg_buf_str(to, bg_buf_view(&line));
    to->failed |= line.failed;
    bg_buf_clear(&line);
}

/* A text of several lines: each line indented behind a bar, so that none of them starts a line of
 * the log. */
static void put_block(bg_console *c, bg_str text)
{
    while (text.len != 0) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t n = end == NULL ? text.len : (size_t)(end - text.ptr);
        bg_buf_puts(&c->out, "  | ");
        bg_console_safe(c, (bg_str){text.ptr, n}, &c->out);
        bg_buf_putc(&c->out, '\n');
        n += end != NULL;
        text = (bg_str){text.ptr + n, text.len - n};
    }
}

static bool has_line_end(bg_str text)
{
    return text.len != 0 && memchr(text.ptr, '\n', text.len) != NULL;
}

/* ": text", or a block below when it is long. Ends the line. */
static void put_explanation(bg_console *c, bg_str text)
{
    if (text.len != 0 && !has_line_end(text)) {
        bg_buf_puts(&c->out, ": ");
        bg_console_safe(c, text, &c->out);
        text = BG_STR("");
    }
    bg_buf_putc(&c->out, '\n');
    put_block(c, text);
}

static void put_section(bg_console *c, const bg_section *s)
{
    bg_buf_puts(&c->out, "Section `");
    bg_console_safe(c, bg_buf_view(&s->title), &c->out);
    bg_buf_putc(&c->out, '`');
}

void bg_console_start_line(bg_console *c, const bg_section *s)
{
    put_section(c, s);
    bg_buf_puts(&c->out, " starts");
    if (c->n_total != 0)
        bg_buf_printf(&c->out, " [%" PRIu32 "/%" PRIu32 "]", s->order, c->n_total);
    bg_buf_putc(&c->out, '\n');
}

static void put_verdict(bg_console *c, bg_outcome outcome)
{
    if (outcome == BG_OUTCOME_RAN)
        bg_console_paint(c, BG_PAINT_GOOD, "OK");
    else if (outcome == BG_OUTCOME_FAILED)
        bg_console_paint(c, BG_PAINT_BAD, "FAILED");
    else if (outcome == BG_OUTCOME_CANCELLED)
        bg_console_paint(c, BG_PAINT_WARN, "CANCELLED");
    else
        bg_console_paint(c, BG_PAINT_BOLD, bg_outcome_word(outcome));
}

static void put_log_path(bg_console *c, const bg_section *s)
{
    if (s->log.len == 0)
        return;
    bg_buf_puts(&c->out, "  log: ");
    bg_console_safe(c, bg_buf_view(&s->log), &c->out);
    bg_buf_putc(&c->out, '\n');
}

static void annotate(bg_console *c, const bg_section *s)
{
    bg_buf text = {0};
    bg_buf_str(&text, bg_buf_view(&s->title));
    bg_buf_puts(&text, " failed");
    if (s->reason.len != 0)
        bg_buf_puts(&text, ": ");
    bg_text_line(&text, bg_buf_view(&s->reason));
    bg_github_note("error", bg_buf_view(&text), &c->out);
    bg_buf_clear(&text);
}

void bg_console_end_lines(bg_console *c, const bg_section *s)
{
    put_section(c, s);
    bg_buf_puts(&c->out, " ended: ");
    put_verdict(c, s->outcome);
    bg_buf_puts(&c->out, " (");
    bg_text_seconds(&c->out, s->duration_ns);
    bg_buf_puts(&c->out, "s)\n");
    if (s->outcome == BG_OUTCOME_RAN)
        return;
    put_block(c, bg_buf_view(&s->reason));
    if (s->outcome != BG_OUTCOME_FAILED)
        return;
    put_log_path(c, s);
    if (c->style.github)
        annotate(c, s);
}

void bg_console_output(bg_console *c, bg_section *s, bg_str lines)
{
    bool ok = true;
    if (lines.len == 0)
        return;
    if (c->style.github && s->fence.token[0] == '\0')
        bg_github_open(&s->fence, bg_buf_view(&s->title), &c->out, &ok);
    if (ok)
        bg_buf_str(&c->out, lines);
    else
        put_block(c, lines); /* no fence to be had: behind bars instead */
}

void bg_console_output_end(bg_console *c, bg_section *s)
{
    bg_github_close(&s->fence, &c->out);
}

static bool in_fence(const bg_console *c)
{
    for (size_t i = 0; i < c->sections.n; i++) {
        if (c->sections.at[i]->fence.token[0] != '\0')
            return true;
    }
    return false;
}

void bg_console_message(bg_console *c, const bg_graph *graph, const bg_event *event)
{
    bg_buf *title = &c->scratch;
    bg_buf_reset(title);
    if (bg_names_has(graph, event->node))
        bg_names_section(graph, event->node, title);
    if (event->is_warning && c->style.github && !in_fence(c)) {
        bg_buf_puts(title, title->len == 0 ? "" : ": ");
        bg_buf_str(title, event->text);
        bg_github_note("warning", bg_buf_view(title), &c->out);
        return;
    }
    bg_console_paint(c, event->is_warning ? BG_PAINT_WARN : BG_PAINT_BOLD,
                     event->is_warning ? "warning" : "note");
    if (title->len != 0) {
        bg_buf_puts(&c->out, ": `");
        bg_console_safe(c, bg_buf_view(title), &c->out);
        bg_buf_putc(&c->out, '`');
    }
    put_explanation(c, event->text);
}

static void put_recap(bg_console *c, bg_section *s, bool with_output)
{
    put_section(c, s);
    bg_buf_putc(&c->out, ' ');
    bg_console_paint(c, BG_PAINT_BAD, "failed");
    put_explanation(c, bg_buf_view(&s->reason));
    put_log_path(c, s);
    if (!with_output)
        return;
    bg_buf_reset(&c->scratch);
    bg_capture_last(&s->recent, RECAP_LINES, &c->scratch);
    if (c->style.color && c->scratch.len != 0) { /* it may begin in the middle of a colour */
        c->scratch.len--;
        bg_buf_puts(&c->scratch, "\x1b[0m\n");
    }
    bg_console_output(c, s, bg_buf_view(&c->scratch));
    bg_console_output_end(c, s);
}

static void put_recaps(bg_console *c)
{
    size_t n = c->failed.n;
    if (n == 0 || (n == 1 && c->last == c->failed.at[0]))
        return;
    bg_buf_printf(&c->out, "\n%zu %s failed\n", n, n == 1 ? "node" : "nodes");
    for (size_t i = 0; i < n; i++)
        put_recap(c, c->failed.at[i], i < RECAP_OUTPUTS);
}

static void put_not_run(bg_console *c)
{
    const char *before = "Not run: ";
    for (unsigned i = 0; i < BG_OUTCOME_COUNT; i++) {
        if (c->n_outcome[i] == 0 || i == BG_OUTCOME_RAN || i == BG_OUTCOME_FAILED)
            continue;
        bg_buf_printf(&c->out, "%s%" PRIu32 " %s", before, c->n_outcome[i],
                      bg_outcome_word((bg_outcome)i));
        before = ", ";
    }
    if (*before == ',')
        bg_buf_putc(&c->out, '\n');
}

static bool is_idle(const bg_console *c)
{
    return c->n_begun == 0 && c->n_commands == 0 &&
           c->n_settled == c->n_outcome[BG_OUTCOME_UP_TO_DATE] + c->n_outcome[BG_OUTCOME_OFF];
}

void bg_console_finish(bg_console *c, const bg_event *event)
{
    if (event->count == 0 && is_idle(c)) {
        if (c->style.quiet)
            return;
        bg_buf_printf(&c->out, "everything is up to date (%" PRIu32 " %s, ", c->n_settled,
                      c->n_settled == 1 ? "node" : "nodes");
        bg_text_duration(&c->out, event->duration_ns);
        bg_buf_puts(&c->out, ")\n");
        return;
    }
    put_recaps(c);
    if (!c->style.quiet)
        put_not_run(c);
    if (event->count == 130)
        bg_buf_puts(&c->out, "Interrupted.\n");
}

static void put_one_running(const bg_section *s, uint64_t t_ns, const char *before, bg_buf *out)
{
    bg_buf_puts(out, before);
    bg_buf_str(out, bg_buf_view(&s->title));
    bg_buf_putc(out, ' ');
    bg_text_duration(out, t_ns > s->begin_ns ? t_ns - s->begin_ns : 0);
}

void bg_console_running(const bg_console *c, uint64_t t_ns, size_t columns, bg_buf *out)
{
    bg_buf line = {0};
    const char *before = "";
    if (c->n_total != 0)
        bg_buf_printf(&line, "[%" PRIu32 "/%" PRIu32 "] ", c->n_settled, c->n_total);
    for (size_t i = 0; i < c->sections.n; i++) {
        if (c->sections.at[i]->is_ended)
            continue;
        put_one_running(c->sections.at[i], t_ns, before, &line);
        before = ", ";
        if (columns != 0 && line.len > 4 * columns) /* more than fits, whatever is cut */
            break;
    }
    if (columns == 0)
        bg_text_line(out, bg_buf_view(&line));
    else
        bg_text_cut(out, bg_buf_view(&line), columns);
    bg_buf_clear(&line);
}
