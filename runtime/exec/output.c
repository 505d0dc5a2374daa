/* What a node's processes print: shown in whole lines, logged, and searched for announcements of early products. */
#include <string.h>

#include "exec/exec.h"

enum { LINE_MAX_BYTES = 65536, MESSAGE_MAX_BYTES = 16 << 20 };

static void show(bg_exec *x, bg_exec_node *n, bg_str bytes)
{
    if (bytes.len == 0)
        return;
    if (n->log != NULL)
        fwrite(bytes.ptr, 1, bytes.len, n->log);
    bg_exec_emit(x, (bg_event){.kind = BG_EVENT_OUTPUT, .node = n->id, .text = bytes});
}

static bool is_early(const bg_exec *x, const bg_exec_node *n, size_t output)
{
    return x->graph->prods[x->graph->outs[bg_exec_image(x, n)->outs + output].prod].is_early != 0;
}

static void announce(bg_exec *x, bg_exec_node *n, size_t output)
{
    bg_error why = {0};
    if (output == SIZE_MAX || !is_early(x, n, output) || n->is_doomed)
        return;
    n->announced = true;
    if (bg_exec_submit_early(x, n, output, &why) != BG_OK)
        bg_exec_message(x, n->id, true, "%.*s: an early product can't be used: %s", BG_FMT(n->name), why.text);
}

static void signal_line(bg_exec *x, bg_exec_node *n, bg_str line)
{
    size_t output = bg_signal_fd_line(line, n->outputs, n->n_outputs);
    if (output == SIZE_MAX)
        bg_exec_message(x, n->id, true, "%.*s: announced `%.*s`, which is not one of its outputs", BG_FMT(n->name),
                        BG_FMT(line));
    announce(x, n, output);
}

static void rustc_line(bg_exec *x, bg_exec_node *n, bg_str line)
{
    bg_buf shown = {0};
    size_t output = SIZE_MAX;
    if (bg_signal_rustc_line(line, n->form[BG_MODE_RUN].cwd, n->out_dir, n->outputs, n->n_outputs, &shown, &output) ==
        BG_OK)
        show(x, n, bg_buf_view(&shown));
    bg_buf_clear(&shown);
    announce(x, n, output);
}

static void take_line(bg_exec *x, bg_exec_node *n, bg_stream stream, bg_str line)
{
    switch (stream) {
    case BG_STREAM_SIGNAL:
        signal_line(x, n, line);
        break;
    case BG_STREAM_ERR:
        rustc_line(x, n, line);
        break;
    case BG_STREAM_OUT:
    case BG_STREAM_COUNT:
        break;
    }
}

/* Plain output: all whole lines in one piece. */
static void take_plain(bg_exec *x, bg_exec_node *n, bg_buf *rest)
{
    size_t whole = rest->len;
    while (whole > 0 && rest->data[whole - 1] != '\n')
        whole--;
    if (whole == 0 && rest->len >= LINE_MAX_BYTES)
        whole = rest->len;
    if (whole == 0)
        return;
    show(x, n, (bg_str){rest->data, whole});
    memmove(rest->data, rest->data + whole, rest->len - whole + 1);
    rest->len -= whole;
}

/* `seen` bytes of `rest` are known to hold no newline. What is longer than any message is no message: it is taken in pieces. */
static void take_lines(bg_exec *x, bg_exec_node *n, bg_stream stream, bg_buf *rest, size_t seen)
{
    size_t begin = 0, limit = stream == BG_STREAM_ERR ? MESSAGE_MAX_BYTES : LINE_MAX_BYTES;
    for (size_t i = seen; i < rest->len; i++) {
        if (rest->data[i] != '\n')
            continue;
        take_line(x, n, stream, (bg_str){rest->data + begin, i - begin});
        begin = i + 1;
    }
    if (rest->len - begin >= limit) {
        if (stream == BG_STREAM_ERR)
            show(x, n, (bg_str){rest->data + begin, rest->len - begin});
        begin = rest->len;
    }
    if (begin == 0)
        return;
    memmove(rest->data, rest->data + begin, rest->len - begin + 1);
    rest->len -= begin;
}

void bg_exec_output(bg_exec *x, bg_exec_node *n, bg_stream stream, const char *bytes, size_t len)
{
    bg_buf *rest = &n->line[stream];
    size_t seen = rest->len;
    bg_buf_put(rest, bytes, len);
    if (rest->failed)
        bg_buf_clear(rest);
    else if (stream == BG_STREAM_OUT)
        take_plain(x, n, rest);
    else
        take_lines(x, n, stream, rest, seen);
}

void bg_exec_flush_output(bg_exec *x, bg_exec_node *n)
{
    for (int i = 0; i < BG_STREAM_COUNT; i++) {
        bg_buf *rest = &n->line[i];
        if (rest->len > 0 && i == BG_STREAM_OUT)
            show(x, n, bg_buf_view(rest));
        else if (rest->len > 0)
            take_line(x, n, (bg_stream)i, bg_buf_view(rest));
        bg_buf_clear(rest);
    }
}
