#include "event/capture.h"

#include <stdbool.h>
#include <string.h>

#include "event/text.h"

void bg_capture_clear(bg_capture *capture)
{
    bg_buf_clear(&capture->head);
    bg_buf_clear(&capture->tail);
    capture->n_dropped = 0;
}

void bg_capture_reset(bg_capture *capture)
{
    bg_buf_reset(&capture->head);
    bg_buf_reset(&capture->tail);
    capture->n_dropped = 0;
}

static void cut_tail(bg_capture *capture)
{
    size_t drop = capture->tail.len - capture->max_tail;
    memmove(capture->tail.data, capture->tail.data + drop, capture->max_tail);
    capture->tail.len = capture->max_tail;
    capture->tail.data[capture->tail.len] = '\0';
    capture->n_dropped += drop;
}

void bg_capture_put(bg_capture *capture, bg_str bytes)
{
    if (bytes.len == 0)
        return;
    size_t room = capture->max_head - capture->head.len;
    size_t n = bytes.len < room ? bytes.len : room;
    if (capture->tail.len == 0 && capture->n_dropped == 0) {
        bg_buf_put(&capture->head, bytes.ptr, n);
        bytes = (bg_str){bytes.ptr + n, bytes.len - n};
    }
    while (bytes.len != 0) {
        n = bytes.len < capture->max_tail ? bytes.len : capture->max_tail;
        bg_buf_put(&capture->tail, bytes.ptr, n);
        bytes = (bg_str){bytes.ptr + n, bytes.len - n};
        if (capture->tail.failed)
            return;
        if (capture->tail.len >= 2 * capture->max_tail)
            cut_tail(capture);
    }
}

/* The part of `s` after its first line end, if there is one. */
static bg_str after_line(bg_str s)
{
    const char *end = s.len == 0 ? NULL : memchr(s.ptr, '\n', s.len);
    return end == NULL ? s : (bg_str){end + 1, s.len - (size_t)(end + 1 - s.ptr)};
}

static bg_str up_to_line(bg_str s)
{
    size_t n = s.len;
    while (n != 0 && s.ptr[n - 1] != '\n')
        n--;
    return n == 0 ? s : (bg_str){s.ptr, n};
}

void bg_capture_get(const bg_capture *capture, bg_buf *out)
{
    bg_str head = bg_buf_view(&capture->head), tail = bg_buf_view(&capture->tail);
    if (capture->n_dropped == 0) {
        bg_buf_str(out, head);
        bg_buf_str(out, tail);
        return;
    }
    bg_str first = up_to_line(head), last = after_line(tail);
    bg_buf_str(out, first);
    if (first.len != 0 && first.ptr[first.len - 1] != '\n')
        bg_buf_putc(out, '\n');
    bg_buf_puts(out, "[ ");
    bg_text_size(out, capture->n_dropped + (head.len - first.len) + (tail.len - last.len));
    bg_buf_puts(out, " left out; the log has them ]\n");
    bg_buf_str(out, last);
}

/* Last lines of `s`; *n_lines becomes how many are still missing. */
static bg_str last_lines(bg_str s, size_t *n_lines)
{
    size_t at = s.len;
    while (at != 0 && *n_lines != 0) {
        at--;
        while (at != 0 && s.ptr[at - 1] != '\n')
            at--;
        (*n_lines)--;
    }
    return (bg_str){s.len == 0 ? "" : s.ptr + at, s.len - at};
}

void bg_capture_last(const bg_capture *capture, size_t n_lines, bg_buf *out)
{
    bg_str head = bg_buf_view(&capture->head), tail = bg_buf_view(&capture->tail);
    bool joined = capture->n_dropped == 0;
    bg_str last = last_lines(joined ? tail : after_line(tail), &n_lines);
    /* A line that lies across the border counts twice; one line more or less does no harm. */
    if (joined && n_lines != 0)
        bg_buf_str(out, last_lines(head, &n_lines));
    bg_buf_str(out, last);
}
