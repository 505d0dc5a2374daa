/* The scheduler against scripted processes on a virtual clock: what starts when, and what becomes of it. */
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "exec/run.h"

#define S 1000000000ull
#define OK_AFTER(s) {{0, BG_FAKE_WRITE, 2, 0, "x"}, {(s) * S, BG_FAKE_EXIT, 0, 0, NULL}}

typedef struct {
    const char *name;
    test_node nodes[6];
    bg_fake_script scripts[6];
    int jobs;
    bool keep_going;
    uint64_t interrupt_s[2];
    int exit_code;
    const char *text;
    const char *reason; /* part of the reasons, or NULL */
} run_case;

static const run_case cases[] = {
    {"a chain runs in order",
     {{.name = "a", .word = "a", .outs = {"x"}}, {.name = "b", .word = "b", .outs = {"y"}, .uses = {"a:link"}}},
     {{"a", 0, false, OK_AFTER(1)}, {"b", 0, false, OK_AFTER(1)}},
     4, false, {0}, 0, "begin a\nran a\nbegin b\nran b\n", "a: first run"},
    {"independent nodes run at once",
     {{.name = "a", .word = "a", .outs = {"x"}}, {.name = "b", .word = "b", .outs = {"y"}}},
     {{"a", 0, false, OK_AFTER(2)}, {"b", 0, false, OK_AFTER(1)}},
     2, false, {0}, 0, "begin a\nbegin b\nran b\nran a\n", NULL},
    {"one slot, one at a time",
     {{.name = "a", .word = "a", .outs = {"x"}}, {.name = "b", .word = "b", .outs = {"y"}}},
     {{"a", 0, false, OK_AFTER(2)}, {"b", 0, false, OK_AFTER(1)}},
     1, false, {0}, 0, "begin a\nran a\nbegin b\nran b\n", NULL},
    {"the longer path goes first",
     {{.name = "a", .word = "a", .outs = {"x"}},
      {.name = "b", .word = "b", .outs = {"y"}},
      {.name = "c", .word = "c", .outs = {"z"}, .uses = {"b:link"}}},
     {{"a", 0, false, OK_AFTER(1)}, {"b", 0, false, OK_AFTER(1)}, {"c", 0, false, OK_AFTER(1)}},
     1, false, {0}, 0, "begin b\nran b\nbegin a\nran a\nbegin c\nran c\n", NULL},
    {"a node that takes all slots waits for them",
     {{.name = "a", .word = "a", .outs = {"x"}},
      {.name = "b", .word = "b", .outs = {"y"}, .cpus = 8},
      {.name = "c", .word = "c", .outs = {"z"}}},
     {{"a", 0, false, OK_AFTER(1)}, {"b", 0, false, OK_AFTER(1)}, {"c", 0, false, OK_AFTER(1)}},
     2, false, {0}, 0, "begin a\nran a\nbegin b\nran b\nbegin c\nran c\n", NULL},
    {"a failure skips what needs it and starts nothing more",
     {{.name = "a", .word = "a", .outs = {"x"}},
      {.name = "b", .word = "b", .outs = {"y"}, .uses = {"a:link"}},
      {.name = "c", .word = "c", .outs = {"z"}}},
     {{"a", 0, false, {{0, BG_FAKE_EXIT, 0, 3, NULL}}}, {"c", 0, false, OK_AFTER(1)}},
     1, false, {0}, 1, "begin a\nfailed a\nskipped b\nskipped c\n", "exited with status 3"},
    {"keep going does what does not depend on the failure",
     {{.name = "a", .word = "a", .outs = {"x"}},
      {.name = "b", .word = "b", .outs = {"y"}, .uses = {"a:link"}},
      {.name = "c", .word = "c", .outs = {"z"}}},
     {{"a", 0, false, {{0, BG_FAKE_EXIT, 0, 3, NULL}}}, {"c", 0, false, OK_AFTER(1)}},
     1, true, {0}, 1, "begin a\nfailed a\nskipped b\nbegin c\nran c\n", "b: because `a` did not succeed"},
    {"a failure lets what runs end",
     {{.name = "a", .word = "a", .outs = {"x"}}, {.name = "b", .word = "b", .outs = {"y"}}},
     {{"a", 0, false, {{1 * S, BG_FAKE_EXIT, 0, 1, NULL}}}, {"b", 0, false, OK_AFTER(5)}},
     2, false, {0}, 1, "begin a\nbegin b\nfailed a\nran b\n", NULL},
    {"a missing output is a failure",
     {{.name = "a", .word = "a", .outs = {"x"}}},
     {{"a", 0, false, {{1 * S, BG_FAKE_EXIT, 0, 0, NULL}}}},
     1, false, {0}, 1, "begin a\nfailed a\n", "its output `x` is missing"},
    {"an early product starts its consumer before its producer ends",
     {{.name = "a", .word = "a", .outs = {"early:meta", "lib"}, .signal = BG_SIGNAL_RUSTC_JSON},
      {.name = "b", .word = "b", .outs = {"y"}, .uses = {"a:meta"}}},
     {{"a", 0, false,
       {{0, BG_FAKE_WRITE, 2, 0, "m"}, {1 * S, BG_FAKE_ARTIFACT, 2, 0, NULL}, {8 * S, BG_FAKE_WRITE, 3, 0, "l"},
        {9 * S, BG_FAKE_EXIT, 0, 0, NULL}}},
      {"b", 0, false, OK_AFTER(2)}},
     2, false, {0}, 0, "begin a\nproduct a:meta\nbegin b\nran a\nran b\n", NULL},
    {"an early product announced on the pipe",
     {{.name = "a", .word = "a", .outs = {"early:meta"}, .signal = BG_SIGNAL_FD},
      {.name = "b", .word = "b", .outs = {"y"}, .uses = {"a:meta"}}},
     {{"a", 0, false,
       {{0, BG_FAKE_WRITE, 2, 0, "m"}, {1 * S, BG_FAKE_SIGNAL, 0, 0, "me"}, {2 * S, BG_FAKE_SIGNAL, 0, 0, "ta\n"},
        {3 * S, BG_FAKE_EXIT, 0, 0, NULL}}},
      {"b", 0, false, OK_AFTER(9)}},
     2, false, {0}, 0, "begin a\nproduct a:meta\nbegin b\nran a\nran b\n", NULL},
    {"a consumer of link waits for the end",
     {{.name = "a", .word = "a", .outs = {"early:meta", "lib"}, .signal = BG_SIGNAL_RUSTC_JSON},
      {.name = "b", .word = "b", .outs = {"y"}, .uses = {"a:lib"}}},
     {{"a", 0, false,
       {{0, BG_FAKE_WRITE, 2, 0, "m"}, {1 * S, BG_FAKE_ARTIFACT, 2, 0, NULL}, {8 * S, BG_FAKE_WRITE, 3, 0, "l"},
        {9 * S, BG_FAKE_EXIT, 0, 0, NULL}}},
      {"b", 0, false, OK_AFTER(2)}},
     2, false, {0}, 0, "begin a\nproduct a:meta\nran a\nbegin b\nran b\n", NULL},
    {"failure after metadata: the running consumer is cancelled, the producer is told first",
     {{.name = "a", .word = "a", .outs = {"early:meta", "lib"}, .signal = BG_SIGNAL_RUSTC_JSON},
      {.name = "b", .word = "b", .outs = {"y"}, .uses = {"a:meta"}}},
     {{"a", 0, false,
       {{0, BG_FAKE_WRITE, 2, 0, "m"}, {1 * S, BG_FAKE_ARTIFACT, 2, 0, NULL}, {3 * S, BG_FAKE_EXIT, 0, 101, NULL}}},
      {"b", 0, false, OK_AFTER(60)}},
     2, false, {0}, 1, "begin a\nproduct a:meta\nbegin b\nfailed a\ncancelled b\n", "b: because `a` did not succeed"},
    {"failure after metadata: a consumer that has ended is taken back",
     {{.name = "a", .word = "a", .outs = {"early:meta", "lib"}, .signal = BG_SIGNAL_RUSTC_JSON},
      {.name = "b", .word = "b", .outs = {"y"}, .uses = {"a:meta"}},
      {.name = "c", .word = "c", .outs = {"z"}, .uses = {"b:link"}}},
     {{"a", 0, false,
       {{0, BG_FAKE_WRITE, 2, 0, "m"}, {1 * S, BG_FAKE_ARTIFACT, 2, 0, NULL}, {9 * S, BG_FAKE_EXIT, 0, 101, NULL}}},
      {"b", 0, false, OK_AFTER(2)},
      {"c", 0, false, OK_AFTER(60)}},
     2, true, {0}, 1, "begin a\nproduct a:meta\nbegin b\nbegin c\nfailed a\ncancelled b\ncancelled c\n", NULL},
    {"an early product that changes after it was announced",
     {{.name = "a", .word = "a", .outs = {"early:meta"}, .signal = BG_SIGNAL_RUSTC_JSON}},
     {{"a", 0, false,
       {{0, BG_FAKE_WRITE, 2, 0, "m"}, {1 * S, BG_FAKE_ARTIFACT, 2, 0, NULL}, {2 * S, BG_FAKE_WRITE, 2, 0, "n"},
        {3 * S, BG_FAKE_EXIT, 0, 0, NULL}}}},
     1, false, {0}, 1, "begin a\nproduct a:meta\nfailed a\n", "changed after it had been announced"},
    {"retry",
     {{.name = "a", .word = "a", .outs = {"x"}, .retry = 1}},
     {{"a", 1, false, {{1 * S, BG_FAKE_EXIT, 0, 1, NULL}}}, {"a", 2, false, OK_AFTER(1)}},
     1, false, {0}, 0, "begin a\nbegin a\nran a\n", "attempt 1 of 2 failed"},
    {"retry does not go on for ever",
     {{.name = "a", .word = "a", .outs = {"x"}, .retry = 2}},
     {{"a", 0, false, {{1 * S, BG_FAKE_EXIT, 0, 1, NULL}}}},
     1, false, {0}, 1, "begin a\nbegin a\nbegin a\nfailed a\n", NULL},
    {"timeout",
     {{.name = "a", .word = "a", .outs = {"x"}, .timeout_s = 5}},
     {{"a", 0, false, OK_AFTER(60)}},
     1, false, {0}, 1, "begin a\nfailed a\n", "timed out after 5.00s"},
    {"timeout of one that ignores SIGTERM",
     {{.name = "a", .word = "a", .outs = {"x"}, .timeout_s = 5}},
     {{"a", 0, true, OK_AFTER(60)}},
     1, false, {0}, 1, "begin a\nfailed a\n", "timed out after 5.00s"},
    {"interrupt",
     {{.name = "a", .word = "a", .outs = {"x"}}, {.name = "b", .word = "b", .outs = {"y"}, .uses = {"a:link"}}},
     {{"a", 0, false, OK_AFTER(60)}},
     1, false, {3}, 130, "begin a\ncancelled a\nskipped b\n", "a: the run was interrupted"},
    {"a second interrupt kills",
     {{.name = "a", .word = "a", .outs = {"x"}}},
     {{"a", 0, true, OK_AFTER(60)}},
     1, false, {3, 4}, 130, "begin a\ncancelled a\n", NULL},
    {"switched off",
     {{.name = "a", .word = "a", .outs = {"x"}, .off = true}, {.name = "b", .word = "b", .outs = {"y"}}},
     {{"b", 0, false, OK_AFTER(1)}},
     1, false, {0}, 0, "off a\nbegin b\nran b\n", NULL},
    {"a program that can't be started",
     {{.name = "a", .word = "nobody", .outs = {"x"}}},
     {{"b", 0, false, OK_AFTER(1)}},
     1, false, {0}, 1, "begin a\nfailed a\n", "no script for nobody"},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const run_case *c = &cases[i];
        test_run r = {.jobs = c->jobs, .keep_going = c->keep_going};
        test_graph g;
        test_make_root(&r);
        test_build(&g, c->nodes);
        bg_host *host = bg_host_fake_new(c->scripts);
        assert_non_null(host);
        for (int k = 0; k < 2 && c->interrupt_s[k] > 0; k++)
            bg_host_fake_interrupt(host, c->interrupt_s[k] * S, SIGINT);
        test_go(&r, &g.graph, host);
        bool ok = r.status == BG_OK && r.result.exit_code == c->exit_code && strcmp(r.text.data, c->text) == 0 &&
                  (c->reason == NULL || strstr(bg_buf_cstr(&r.reasons), c->reason) != NULL);
        if (!ok)
            print_error("%s: exit %d (wanted %d) %s\n%s-- wanted\n%s-- reasons\n%s", c->name, r.result.exit_code,
                        c->exit_code, r.error.text, r.text.data, c->text, bg_buf_cstr(&r.reasons));
        test_graph_clear(&g);
        test_remove_root(&r);
        assert_true(ok);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
