/* Any stream of events, in any order and with any bytes, into every sink that writes text: no
 * crash, and under GitHub Actions no line outside a fence that the runner would take for a command,
 * but ours. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bgraph/event.h"

#define N_NODES 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char strings[] = "\0a\0Label\0::error::x\0##[group]\nb";
static const bg_img_strs strs[] = {{0, 0}, {1, 1}, {3, 5}, {9, 10}, {20, 11}};
static const bg_img_groups groups[] = {
    {.name = 0}, {.name = 1, .label = 4}, {.name = 2, .parent = 1}};
static const bg_img_nodes nodes[N_NODES] = {
    {.name = 0},
    {.name = 1, .label = 2},
    {.name = 1, .label = 3, .group = 1},
    {.name = 2, .label = 4, .group = 2, .kind = BG_NODE_CRATE},
    {.name = 3, .group = 1, .kind = BG_NODE_CRATE},
};
static const bg_graph graph = {
    .str_bytes = (const unsigned char *)strings,
    .n_str_bytes = sizeof strings,
    .strs = strs,
    .n_strs = sizeof strs / sizeof *strs,
    .groups = groups,
    .n_groups = sizeof groups / sizeof *groups,
    .nodes = nodes,
    .n_nodes = N_NODES,
};

/* What the runner acts on, at the start of a line (blanks skipped) or anywhere. */
static bool is_command(const char *line, size_t n)
{
    size_t blanks = 0;
    while (blanks < n && (line[blanks] == ' ' || line[blanks] == '\t'))
        blanks++;
    if (n - blanks >= 2 && memcmp(line + blanks, "::", 2) == 0)
        return true;
    for (size_t i = 0; i + 3 <= n; i++) {
        if (memcmp(line + i, "##[", 3) == 0)
            return true;
    }
    return false;
}

static bool starts(const char *line, size_t n, const char *with)
{
    size_t k = strlen(with);
    return n >= k && memcmp(line, with, k) == 0;
}

static void check_github(const char *text, size_t size)
{
    static const char stop[] = "::stop-commands::";
    const char *token = NULL;
    size_t n_token = 0;
    for (size_t at = 0, n; at < size; at += n + 1) {
        const char *line = text + at;
        for (n = 0; at + n < size && line[n] != '\n' && line[n] != '\r'; n++)
            continue;
        if (token != NULL) {
            if (n == n_token + 4 && starts(line, n, "::") && memcmp(line + 2, token, n_token) == 0)
                token = NULL;
        } else if (starts(line, n, stop)) {
            token = line + sizeof stop - 1;
            n_token = n - (sizeof stop - 1);
        } else if (is_command(line, n) && !starts(line, n, "::group::") &&
                   !starts(line, n, "::endgroup::") && !starts(line, n, "::error::") &&
                   !starts(line, n, "::warning::")) {
            abort();
        }
    }
    if (token != NULL)
        abort();
}

/* Each event takes four bytes of head and as much text as its length byte says. */
static void play(bg_sink *sink, const uint8_t *data, size_t size)
{
    uint64_t t_ns = 0;
    while (size >= 4) {
        size_t n = data[3] < size - 4 ? data[3] : size - 4;
        bg_str text = {(const char *)data + 4, n};
        t_ns += (uint64_t)data[2] << 27;
        bg_event event = {
            .kind = (bg_event_kind)(data[0] % (BG_EVENT_COUNT + 1)),
            .t_ns = t_ns,
            .node = data[1] % (N_NODES + 1),
            .outcome = (bg_outcome)(data[1] / 8 % (BG_OUTCOME_COUNT + 1)),
            .duration_ns = t_ns,
            .bytes = (uint64_t)data[2] << 20,
            .count = data[2],
            .is_warning = data[2] & 1,
            .text = text,
            .text2 = {text.ptr, n / 2},
        };
        sink->event(sink, &graph, &event);
        data += 4 + n;
        size -= 4 + n;
    }
}

static void try_console(const uint8_t *data, size_t size, bg_console_style style)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    bg_sink *sink = out == NULL ? NULL : bg_sink_console(out, style, NULL);
    if (sink == NULL)
        abort();
    play(sink, data, size);
    if (sink->close(sink, NULL) != BG_OK || fclose(out) != 0)
        abort();
    if (style.github)
        check_github(text, n);
    free(text);
}

static void try_file(const uint8_t *data, size_t size, bg_sink *sink)
{
    if (sink == NULL)
        abort();
    play(sink, data, size);
    if (sink->close(sink, NULL) != BG_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    uint8_t style = data[0];
    try_console(data + 1, size - 1,
                (bg_console_style){
                    .github = true, .quiet = style & 1, .verbose = style & 2, .color = style & 4});
    try_console(data + 1, size - 1,
                (bg_console_style){.is_terminal = true, .color = style & 1, .width = style});
    try_file(data + 1, size - 1, bg_sink_jsonl("/dev/null", NULL));
    try_file(data + 1, size - 1, bg_sink_chrome("/dev/null", NULL));
    try_file(data + 1, size - 1, bg_sink_summary("/dev/null", NULL));
    return 0;
}
