#include "event/section.h"

#include <stdlib.h>
#include <string.h>

#include "event/names.h"
#include "event/text.h"

/* Bytes of output that wait for the screen, and that are shown again after a failure. */
#define MAX_HEAD ((size_t)1 << 20)
#define MAX_TAIL ((size_t)1 << 20)
#define MAX_RECENT ((size_t)32 << 10)
/* A line longer than this is broken, so that a child without line ends is still seen. */
#define MAX_PARTIAL ((size_t)64 << 10)

bg_section *bg_section_new(const bg_graph *graph, uint32_t node, uint64_t begin_ns)
{
    bg_section *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->node = node;
    s->begin_ns = begin_ns;
    s->unseen.max_head = MAX_HEAD;
    s->unseen.max_tail = MAX_TAIL;
    s->recent.max_tail = MAX_RECENT;
    bg_names_section(graph, node, &s->title);
    return s;
}

void bg_section_free(bg_section *s)
{
    if (s == NULL)
        return;
    bg_buf_clear(&s->title);
    bg_buf_clear(&s->partial);
    bg_capture_clear(&s->unseen);
    bg_capture_clear(&s->recent);
    bg_buf_clear(&s->reason);
    bg_buf_clear(&s->log);
    free(s);
}

static size_t whole_lines(const bg_buf *partial)
{
    size_t n = partial->len;
    while (n != 0 && partial->data[n - 1] != '\n')
        n--;
    return n;
}

static void drop_front(bg_buf *buf, size_t n)
{
    memmove(buf->data, buf->data + n, buf->len - n);
    buf->len -= n;
    buf->data[buf->len] = '\0';
}

void bg_section_take(bg_section *s, bg_str bytes, bool keep_color, bg_buf *lines)
{
    bg_clean_put(&s->clean, bytes, keep_color, &s->partial);
    size_t n = whole_lines(&s->partial);
    if (n == 0 && s->partial.len > MAX_PARTIAL) {
        bg_buf_putc(&s->partial, '\n');
        n = s->partial.len;
    }
    if (n == 0)
        return;
    bg_str whole = {s->partial.data, n};
    bg_capture_put(&s->recent, whole);
    bg_buf_str(lines, whole);
    drop_front(&s->partial, n);
}

void bg_section_finish(bg_section *s, bg_buf *lines)
{
    bg_clean_end(&s->clean, &s->partial);
    if (s->partial.len == 0)
        return;
    bg_buf_putc(&s->partial, '\n'); /* a fence closes at the start of a line only */
    bg_capture_put(&s->recent, bg_buf_view(&s->partial));
    bg_buf_str(lines, bg_buf_view(&s->partial));
    bg_buf_reset(&s->partial);
}

void bg_section_end(bg_section *s, const bg_event *event)
{
    s->is_ended = true;
    s->outcome = event->outcome;
    s->duration_ns = event->duration_ns;
    s->exit = event->count;
    bg_buf_reset(&s->reason);
    bg_buf_reset(&s->log);
    bg_buf_str(&s->reason, event->text);
    bg_text_line(&s->log, event->text2);
}
