/* The timer table and the CI summary, letter by letter. */
#include "made.h"

#include "event/text.h"

typedef struct {
    const char *label;
    unsigned group; /* index into the case's groups, 0 none */
    bg_outcome outcome;
    uint64_t ms;
    unsigned n; /* that many crates instead of one stage, if not 0 */
} row;

typedef struct {
    const char *name;
    const char *groups[4]; /* from 1 on in `row` */
    unsigned parents[4];
    row rows[8];
    uint64_t exit, wall_ms;
    const char *path;
    const char *expect;
} test_case;

static const test_case cases[] = {
    {"as the script it replaces prints it",
     {0},
     {0},
     {{"Build rustc (LLVM PGO)", 0, BG_OUTCOME_RAN, 1815670, 0},
      {"Gather profiles (LLVM PGO)", 0, BG_OUTCOME_RAN, 418730, 0},
      {"Final build", 0, BG_OUTCOME_RAN, 6222870, 0}},
     0,
     8460000,
     "llvm > gather > final",
     "\n"
     "Timer results\n"
     "---------------------------------------------------------\n"
     "Build rustc (LLVM PGO):                 1815.67s (21.47%)\n"
     "Gather profiles (LLVM PGO):              418.73s ( 4.95%)\n"
     "Final build:                            6222.87s (73.58%)\n"
     "Total duration:                         8457.27s\n"
     "---------------------------------------------------------\n"
     "Wall time:                              8460.00s\n"
     "Nodes: 3 ran\n"
     "Critical path: llvm > gather > final\n"},
    {"groups nested, with sums and what was not run",
     {"LLVM", "PGO"},
     {0, 1},
     {{"configure", 0, BG_OUTCOME_UP_TO_DATE, 0, 0},
      {"instrument", 1, BG_OUTCOME_CACHED, 0, 0},
      {"gather", 2, BG_OUTCOME_RAN, 30000, 0},
      {"merge", 2, BG_OUTCOME_FAILED, 10000, 0},
      {"package", 0, BG_OUTCOME_SKIPPED, 0, 0},
      {"publish", 0, BG_OUTCOME_OFF, 0, 0}},
     1,
     40000,
     "",
     "\n"
     "Timer results\n"
     "---------------------------------------------------------------------\n"
     "configure:                                 0.00s (  0.00%) up to date\n"
     "LLVM:                                     40.00s (100.00%) FAILED\n"
     "  instrument:                              0.00s (  0.00%) cached\n"
     "  PGO:                                    40.00s (100.00%) FAILED\n"
     "    gather:                               30.00s ( 75.00%)\n"
     "    merge:                                10.00s ( 25.00%) FAILED\n"
     "package:                                   0.00s (  0.00%) skipped\n"
     "publish:                                   0.00s (  0.00%) off\n"
     "Total duration:                           40.00s\n"
     "---------------------------------------------------------------------\n"
     "Wall time:                                40.00s\n"
     "Nodes: 1 ran, 1 up to date, 1 cached, 1 failed, 1 skipped, 1 off\n"},
    {"wide labels",
     {0},
     {0},
     {{"a label that is wider than the column is", 0, BG_OUTCOME_RAN, 1000, 0},
      {"漢字", 0, BG_OUTCOME_RAN, 1000, 0}},
     0,
     2000,
     "",
     "\n"
     "Timer results\n"
     "---------------------------------------------------------------\n"
     "a label that is wider than the column is:        1.00s (50.00%)\n"
     "漢字:                                            1.00s (50.00%)\n"
     "Total duration:                                  2.00s\n"
     "---------------------------------------------------------------\n"
     "Wall time:                                       2.00s\n"
     "Nodes: 2 ran\n"},
    {"many crates in one row, a failed one beside it",
     {"crates"},
     {0},
     {{"crate", 1, BG_OUTCOME_RAN, 2000, 17},
      {"broken", 1, BG_OUTCOME_FAILED, 1000, 1},
      {"end", 0, BG_OUTCOME_RAN, 1000, 0}},
     1,
     4000,
     "",
     "\n"
     "Timer results\n"
     "----------------------------------------------------------------\n"
     "crates:                                    3.00s (75.00%) FAILED\n"
     "  17 crates:                               2.00s (50.00%)\n"
     "  broken:                                  1.00s (25.00%) FAILED\n"
     "end:                                       1.00s (25.00%)\n"
     "Total duration:                            4.00s\n"
     "----------------------------------------------------------------\n"
     "Wall time:                                 4.00s\n"
     "Nodes: 18 ran, 1 failed\n"},
    {"nothing was done, nothing is printed",
     {0},
     {0},
     {{"a", 0, BG_OUTCOME_UP_TO_DATE, 0, 0}, {"b", 0, BG_OUTCOME_OFF, 0, 0}},
     0,
     3,
     "",
     ""},
};

static void set_up(made *m, const test_case *t)
{
    made_begin(m);
    for (size_t i = 0; i < 4 && t->groups[i] != NULL; i++)
        made_group(m, t->groups[i], t->parents[i]);
    for (const row *r = t->rows; r->label != NULL; r++) {
        for (unsigned k = 0; k < (r->n == 0 ? 1 : r->n); k++) {
            uint32_t node = made_node(m, r->label, r->label, r->group);
            m->nodes[node].kind = r->n == 0 ? BG_NODE_STAGE : BG_NODE_CRATE;
        }
    }
}

static void play(const feed *f, const test_case *t)
{
    uint32_t node = 1;
    for (const row *r = t->rows; r->label != NULL; r++) {
        unsigned n = r->n == 0 ? 1 : r->n;
        for (unsigned k = 0; k < n; k++)
            feed_end(f, node++, r->outcome, 0, k == 0 ? MS(r->ms) : 0);
    }
    feed_run_end(f, t->exit, MS(t->wall_ms), t->path);
}

static void test_tables(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const test_case *t = &cases[i];
        made m;
        set_up(&m, t);
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        feed f = {bg_sink_timer(out, NULL), made_end(&m)};
        assert_non_null(f.sink);
        play(&f, t);
        feed_close(&f);
        fclose(out);
        if (strcmp(text, t->expect) != 0)
            print_message("case: %s\n", t->name);
        assert_string_equal(text, t->expect);
        free(text);
        made_clear(&m);
    }
}

/* Time spent on restoring counts for the node; storing is told apart. */
static void test_cache_lines(void **state)
{
    (void)state;
    made m;
    made_begin(&m);
    uint32_t a = made_node(&m, "a", "A", 0), b = made_node(&m, "b", "B", 0);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    feed f = {bg_sink_timer(out, NULL), made_end(&m)};
    feed_event(
        &f,
        (bg_event){.kind = BG_EVENT_RESTORE, .node = a, .duration_ns = MS(1500), .bytes = 3 << 20});
    feed_end(&f, a, BG_OUTCOME_RESTORED, 0, 0);
    feed_event(
        &f, (bg_event){.kind = BG_EVENT_STORE, .node = b, .duration_ns = MS(250), .bytes = 1536});
    feed_end(&f, b, BG_OUTCOME_RAN, 0, MS(500));
    feed_run_end(&f, 0, MS(2000), "");
    feed_close(&f);
    fclose(out);
    assert_non_null(
        strstr(text, "A:                                         1.50s (75.00%) restored\n"));
    assert_non_null(strstr(text, "Stored in the cache:                       0.25s (1.5 KiB)\n"));
    assert_non_null(strstr(text, "Restored from the cache:                   1.50s (3.0 MiB)\n"));
    free(text);
    made_clear(&m);
}

/* A run that breaks off without an end still has its table, once. */
static void test_broken_run(void **state)
{
    (void)state;
    made m;
    made_begin(&m);
    uint32_t a = made_node(&m, "a", "A", 0);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    feed f = {bg_sink_timer(out, NULL), made_end(&m)};
    feed_end(&f, a, BG_OUTCOME_RAN, 0, MS(500));
    feed_end(&f, 99, BG_OUTCOME_RAN, 0, MS(500)); /* no such node */
    feed_close(&f);
    fclose(out);
    assert_non_null(strstr(text, "A:                                         0.50s (100.00%)\n"));
    assert_null(strstr(text, "Wall time"));
    free(text);
    made_clear(&m);
}

static void test_summary(void **state)
{
    (void)state;
    char path[64];
    temp_file(path);
    FILE *before = fopen(path, "w");
    fputs("earlier step\n", before);
    fclose(before);
    made m;
    made_begin(&m);
    uint32_t a = made_node(&m, "a", "uses ``` fences", 0);
    feed f = {bg_sink_summary(path, NULL), made_end(&m)};
    assert_non_null(f.sink);
    feed_end(&f, a, BG_OUTCOME_RAN, 0, MS(500));
    feed_run_end(&f, 0, MS(600), "a");
    feed_close(&f);
    char *text = read_file(path);
    assert_ptr_equal(strstr(text, "earlier step\n# Step durations\n\n````\nTimer results\n---"),
                     text);
    assert_non_null(strstr(text, "Critical path: a\n````\n"));
    free(text);
    unlink(path);
    made_clear(&m);
}

static void test_unwritable(void **state)
{
    (void)state;
    bg_error err = {0};
    assert_null(bg_sink_summary("/nonexistent/dir/summary.md", &err));
    assert_non_null(strstr(err.text, "/nonexistent/dir/summary.md"));
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL)
        skip();
    made m;
    made_begin(&m);
    made_node(&m, "a", "A", 0);
    feed f = {bg_sink_timer(full, NULL), made_end(&m)};
    feed_end(&f, 1, BG_OUTCOME_RAN, 0, MS(500));
    feed_run_end(&f, 0, MS(600), "");
    assert_int_equal(f.sink->close(f.sink, &err), BG_E_NOSPACE);
    fclose(full);
    made_clear(&m);
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        void (*put)(bg_buf *, uint64_t);
        uint64_t v;
        const char *expect;
    } numbers[] = {
        {bg_text_seconds, 0, "0.00"},
        {bg_text_seconds, MS(4), "0.00"},
        {bg_text_seconds, MS(5), "0.01"},
        {bg_text_seconds, MS(59999), "60.00"},
        {bg_text_seconds, UINT64_MAX, "18446744073.71"},
        {bg_text_duration, MS(3), "3 ms"},
        {bg_text_duration, MS(12345), "12.3s"},
        {bg_text_duration, MS(245000), "4m 5s"},
        {bg_text_duration, MS(4082000), "1h 8m 2s"},
        {bg_text_size, 512, "512 B"},
        {bg_text_size, 1536, "1.5 KiB"},
        {bg_text_size, UINT64_MAX, "16777215.9 TiB"},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        bg_buf out = {0};
        numbers[i].put(&out, numbers[i].v);
        assert_string_equal(bg_buf_cstr(&out), numbers[i].expect);
        bg_buf_clear(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),     cmocka_unit_test(test_cache_lines),
        cmocka_unit_test(test_broken_run), cmocka_unit_test(test_summary),
        cmocka_unit_test(test_unwritable), cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
