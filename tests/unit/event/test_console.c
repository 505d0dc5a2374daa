/* What a person reads: sections in one piece, nothing a child prints can act on the terminal or the
 * CI. */
#include "made.h"

#include "event/capture.h"
#include "event/clean.h"

typedef struct {
    made m;
    char *text;
    size_t size;
    FILE *out;
    feed f;
    uint32_t a, b, c;
} fixture;

static void begin(fixture *x, bg_console_style style)
{
    memset(x, 0, sizeof *x);
    made_begin(&x->m);
    uint32_t g = made_group(&x->m, "Build", 0);
    x->a = made_node(&x->m, "build/a", "A", g);
    x->b = made_node(&x->m, "b", "B", 0);
    x->c = made_node(&x->m, "c", "C\n::error::no", 0);
    x->out = open_memstream(&x->text, &x->size);
    assert_non_null(x->out);
    x->f = (feed){bg_sink_console(x->out, style, NULL), made_end(&x->m)};
    assert_non_null(x->f.sink);
}

static void finish(fixture *x)
{
    feed_close(&x->f);
    fclose(x->out);
}

static void clear(fixture *x)
{
    free(x->text);
    made_clear(&x->m);
}

static void test_alone_streams(void **state)
{
    (void)state;
    fixture x;
    begin(&x, (bg_console_style){0});
    feed_event(&x.f, (bg_event){.kind = BG_EVENT_RUN_BEGIN, .count = 1, .bytes = 3});
    feed_begin(&x.f, x.a, 0);
    feed_output(&x.f, x.a, "one\ntw");
    fflush(x.out);
    assert_string_equal(x.text, "Section `Build > A` starts [1/3]\none\n");
    feed_output(&x.f, x.a, "o");
    feed_end(&x.f, x.a, BG_OUTCOME_RAN, MS(12340), MS(12340));
    feed_end(&x.f, x.b, BG_OUTCOME_CACHED, 0, 0);
    feed_end(&x.f, x.c, BG_OUTCOME_UP_TO_DATE, 0, 0);
    feed_run_end(&x.f, 0, MS(12400), "");
    finish(&x);
    assert_string_equal(x.text, "Section `Build > A` starts [1/3]\none\ntwo\n"
                                "Section `Build > A` ended: OK (12.34s)\n"
                                "Not run: 1 up to date, 1 cached\n");
    clear(&x);
}

static void test_together_in_pieces(void **state)
{
    (void)state;
    fixture x;
    begin(&x, (bg_console_style){0});
    feed_begin(&x.f, x.a, 0);
    feed_begin(&x.f, x.b, 0);
    feed_output(&x.f, x.b, "from b\n");
    feed_output(&x.f, x.a, "from a\n");
    feed_end(&x.f, x.b, BG_OUTCOME_RAN, MS(10), MS(10));
    feed_begin(&x.f, x.c, MS(10));
    feed_output(&x.f, x.a, "more of a\n");
    feed_output(&x.f, x.c, "from c\n");
    feed_end(&x.f, x.a, BG_OUTCOME_RAN, MS(20), MS(20));
    feed_output(&x.f, x.c, "more of c\n");
    feed_end(&x.f, x.c, BG_OUTCOME_RAN, MS(30), MS(20));
    feed_run_end(&x.f, 0, MS(30), "");
    finish(&x);
    assert_string_equal(x.text, "Section `Build > A` starts\nfrom a\nmore of a\n"
                                "Section `Build > A` ended: OK (0.02s)\n"
                                "Section `B` starts\nfrom b\nSection `B` ended: OK (0.01s)\n"
                                "Section `C ::error::no` starts\nfrom c\nmore of c\n"
                                "Section `C ::error::no` ended: OK (0.02s)\n");
    clear(&x);
}

static void test_failure_again_at_end(void **state)
{
    (void)state;
    fixture x;
    begin(&x, (bg_console_style){0});
    feed_begin(&x.f, x.a, 0);
    feed_output(&x.f, x.a, "boom\n");
    feed_end(&x.f, x.a, BG_OUTCOME_FAILED, MS(10), MS(10));
    feed_begin(&x.f, x.b, MS(10));
    feed_end(&x.f, x.b, BG_OUTCOME_RAN, MS(20), MS(10));
    feed_end(&x.f, x.c, BG_OUTCOME_SKIPPED, MS(20), 0);
    feed_run_end(&x.f, 1, MS(30), "");
    finish(&x);
    assert_string_equal(x.text, "Section `Build > A` starts\nboom\n"
                                "Section `Build > A` ended: FAILED (0.01s)\n"
                                "  | command 1 exited with 3\n  log: .bgraph/x/log/a.log\n"
                                "Section `B` starts\nSection `B` ended: OK (0.01s)\n"
                                "\n1 node failed\n"
                                "Section `Build > A` failed: command 1 exited with 3\n"
                                "  log: .bgraph/x/log/a.log\nboom\n"
                                "Not run: 1 skipped\n");
    clear(&x);
}

/* The failure is what stands last already: it is not shown twice. */
static void test_failure_stands_last(void **state)
{
    (void)state;
    fixture x;
    begin(&x, (bg_console_style){0});
    feed_begin(&x.f, x.a, 0);
    feed_output(&x.f, x.a, "boom\n");
    feed_end(&x.f, x.a, BG_OUTCOME_FAILED, MS(10), MS(10));
    feed_run_end(&x.f, 1, MS(30), "");
    finish(&x);
    assert_null(strstr(x.text, "node failed"));
    assert_non_null(strstr(x.text, "ended: FAILED (0.01s)"));
    clear(&x);
}

static void test_idle(void **state)
{
    (void)state;
    fixture x;
    begin(&x, (bg_console_style){0});
    feed_event(&x.f, (bg_event){.kind = BG_EVENT_RUN_BEGIN, .count = 1});
    feed_end(&x.f, x.a, BG_OUTCOME_UP_TO_DATE, 0, 0);
    feed_end(&x.f, x.b, BG_OUTCOME_UP_TO_DATE, 0, 0);
    feed_run_end(&x.f, 0, MS(3), "");
    finish(&x);
    assert_string_equal(x.text, "everything is up to date (2 nodes, 3 ms)\n");
    clear(&x);
}

static void test_verbose_and_dry(void **state)
{
    (void)state;
    fixture x;
    begin(&x, (bg_console_style){.verbose = true});
    feed_event(&x.f, (bg_event){.kind = BG_EVENT_COMMAND,
                                .node = x.a,
                                .count = 1,
                                .text = BG_STR("cc -c 'a b.c'")});
    feed_end(&x.f, x.b, BG_OUTCOME_CACHED, 0, 0);
    feed_begin(&x.f, x.c, 0);
    feed_event(&x.f, (bg_event){.kind = BG_EVENT_COMMAND,
                                .node = x.c,
                                .count = 1,
                                .text = BG_STR("true\x1b[2J")});
    feed_end(&x.f, x.c, BG_OUTCOME_RAN, 0, 0);
    feed_run_end(&x.f, 0, MS(3), "");
    finish(&x);
    assert_string_equal(x.text, "Section `Build > A` would run: cc -c 'a b.c'\n"
                                "Section `B` cached\n"
                                "Section `C ::error::no` starts\nbecause: never run\n$ true [2J\n"
                                "Section `C ::error::no` ended: OK (0.00s)\n"
                                "Not run: 1 cached\n");
    clear(&x);
}

static void test_quiet(void **state)
{
    (void)state;
    fixture x;
    begin(&x, (bg_console_style){.quiet = true});
    feed_begin(&x.f, x.a, 0);
    feed_output(&x.f, x.a, "chatter\n");
    feed_end(&x.f, x.a, BG_OUTCOME_RAN, 0, 0);
    feed_begin(&x.f, x.b, 0);
    feed_output(&x.f, x.b, "boom\n");
    feed_event(&x.f, (bg_event){.kind = BG_EVENT_MESSAGE, .text = BG_STR("a note")});
    feed_end(&x.f, x.b, BG_OUTCOME_FAILED, 0, 0);
    feed_run_end(&x.f, 1, MS(3), "");
    finish(&x);
    assert_string_equal(x.text, "Section `B` starts\nboom\nSection `B` ended: FAILED (0.00s)\n"
                                "  | command 1 exited with 3\n  log: .bgraph/x/log/a.log\n");
    clear(&x);
}

/* Every command the runner would obey, outside the fences, is one of ours. */
static void check_commands(const char *text)
{
    char token[420] = "";
    for (const char *line = text; *line != '\0';) {
        size_t n = strcspn(line, "\r\n");
        char one[400];
        snprintf(one, sizeof one, "%.*s", (int)n, line);
        if (token[0] != '\0') {
            if (strcmp(one, token) == 0)
                token[0] = '\0';
        } else if (strncmp(one, "::stop-commands::", 17) == 0) {
            snprintf(token, sizeof token, "::%s::", one + 17);
        } else if (strncmp(one, "::", 2) == 0) {
            assert_true(strncmp(one, "::group::", 9) == 0 || strcmp(one, "::endgroup::") == 0 ||
                        strncmp(one, "::error::Build > A failed", 25) == 0 ||
                        strncmp(one, "::warning::half 50%25%0Aback", 28) == 0);
        } else {
            assert_null(strstr(one, "##["));
            assert_false(strncmp(one + strspn(one, " \t"), "::", 2) == 0);
        }
        line += n + (line[n] != '\0');
    }
    assert_string_equal(token, "");
}

static void test_github(void **state)
{
    (void)state;
    fixture x;
    begin(&x, (bg_console_style){.github = true});
    feed_event(
        &x.f,
        (bg_event){.kind = BG_EVENT_MESSAGE, .is_warning = true, .text = BG_STR("half 50%\nback")});
    feed_event(&x.f, (bg_event){.kind = BG_EVENT_MESSAGE,
                                .text = BG_STR("x\n::set-env name=A::b\n##[error]c")});
    feed_begin(&x.f, x.a, 0);
    feed_output(&x.f, x.a, "::add-mask::x\n::stop-commands::t\n::t::\n\r::error::y\n##[group]z");
    feed_end(&x.f, x.a, BG_OUTCOME_FAILED, 0, 0);
    feed_begin(&x.f, x.c, 0);
    feed_output(&x.f, x.c, "ok\n");
    feed_end(&x.f, x.c, BG_OUTCOME_RAN, 0, 0);
    feed_run_end(&x.f, 1, 0, "");
    finish(&x);
    check_commands(x.text);
    assert_non_null(strstr(x.text, "::group::Build > A\n::stop-commands::"));
    assert_non_null(strstr(x.text, "::\n::endgroup::\nSection `Build > A` ended: FAILED"));
    clear(&x);
}

static void test_terminal(void **state)
{
    (void)state;
    fixture x;
    begin(&x, (bg_console_style){.is_terminal = true, .width = 29});
    feed_event(&x.f, (bg_event){.kind = BG_EVENT_RUN_BEGIN, .count = 2, .bytes = 3});
    feed_begin(&x.f, x.a, 0);
    fflush(x.out);
    assert_string_equal(x.text, "Section `Build > A` starts [1/3]\n[0/3] Build > A 0 ms");
    feed_event(&x.f, (bg_event){.kind = BG_EVENT_TICK, .t_ns = MS(61000)});
    feed_begin(&x.f, x.b, MS(61000));
    feed_end(&x.f, x.a, BG_OUTCOME_RAN, MS(62000), MS(62000));
    feed_end(&x.f, x.b, BG_OUTCOME_RAN, MS(63000), MS(2000));
    feed_run_end(&x.f, 0, MS(63000), "");
    finish(&x);
    assert_string_equal(x.text, "Section `Build > A` starts [1/3]\n[0/3] Build > A 0 ms"
                                "\r\x1b[K[0/3] Build > A 1m 1s"
                                "\r\x1b[K[0/3] Build > A 1m 1s, B 0 \xe2\x80\xa6"
                                "\r\x1b[KSection `Build > A` ended: OK (62.00s)\n"
                                "Section `B` starts [2/3]\n[1/3] B 1.0s"
                                "\r\x1b[KSection `B` ended: OK (2.00s)\n");
    clear(&x);
}

static void test_heartbeat(void **state)
{
    (void)state;
    fixture x;
    begin(&x, (bg_console_style){0});
    feed_begin(&x.f, x.a, 0);
    feed_event(&x.f, (bg_event){.kind = BG_EVENT_TICK, .t_ns = MS(59000)});
    feed_event(&x.f, (bg_event){.kind = BG_EVENT_TICK, .t_ns = MS(61000)});
    feed_event(&x.f, (bg_event){.kind = BG_EVENT_TICK, .t_ns = MS(62000)});
    finish(&x); /* and a run that breaks off */
    assert_ptr_equal(strstr(x.text, "Section `Build > A` starts\n"
                                    "Still running: Build > A 1m 1s\n"
                                    "Section `Build > A` ended: CANCELLED"),
                     x.text);
    clear(&x);
}

/* A stage without a beginning can fail (a tool is missing), while another one has the screen. */
static void test_failed_before_begin(void **state)
{
    (void)state;
    fixture x;
    begin(&x, (bg_console_style){0});
    feed_begin(&x.f, x.a, 0);
    feed_end(&x.f, x.b, BG_OUTCOME_FAILED, 0, 0);
    feed_output(&x.f, x.a, "still a\n");
    feed_end(&x.f, x.a, BG_OUTCOME_RAN, 0, 0);
    feed_end(&x.f, 99, BG_OUTCOME_RAN, 0, 0); /* no such node: no crash */
    feed_begin(&x.f, 99, 0);
    feed_run_end(&x.f, 1, 0, "");
    finish(&x);
    assert_ptr_equal(strstr(x.text, "Section `Build > A` starts\n"
                                    "Section `B` failed; its output follows after this section\n"
                                    "still a\n"
                                    "Section `Build > A` ended: OK (0.00s)\n"
                                    "Section `B` starts\nSection `B` ended: FAILED (0.00s)\n"),
                     x.text);
    clear(&x);
}

static void test_clean(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        bool color;
        const char *expect;
    } cases[] = {
        {"plain\n", false, "plain\n"},
        {"a\r\nb\rc\n", false, "a\nb\nc\n"},
        {"\x1b[31mred\x1b[0m", true, "\x1b[31mred\x1b[0m"},
        {"\x1b[31mred", true, "\x1b[31mred\x1b[0m"},
        {"\x1b[31mred\x1b[0m", false, "red"},
        {"\x1b[2J\x1b[1;1H\x1b[?25lx", true, "x"},
        {"\x1b]0;title\x07x\x1b]8;;http://a\x1b\\y", true, "xy"},
        {"\x1bP1$r\x1b\\z\x1b(Bw", true, "zw"},
        {"never ends \x1b]0;x\nnext", true, "never ends \nnext"},
        {"\xc2\x9b"
         "2Jx\x07\x08\x7f",
         true, "2Jx"},
        {"b\xff"
         "d \xc3\xa9 \xe2\x82",
         false,
         "b\xef\xbf\xbd"
         "d \xc3\xa9 \xef\xbf\xbd"},
        {"cut \xe2\x82z \xed\xa0\x80", false, "cut \xef\xbf\xbdz \xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t piece = 1; piece < 8; piece++) { /* however it is cut */
            bg_clean clean = {0};
            bg_buf out = {0};
            size_t n = strlen(cases[i].in);
            for (size_t at = 0; at < n; at += piece) {
                size_t k = n - at < piece ? n - at : piece;
                bg_clean_put(&clean, (bg_str){cases[i].in + at, k}, cases[i].color, &out);
            }
            bg_clean_end(&clean, &out);
            if (strcmp(bg_buf_cstr(&out), cases[i].expect) != 0)
                print_message("case %zu, pieces of %zu\n", i, piece);
            assert_string_equal(bg_buf_cstr(&out), cases[i].expect);
            bg_buf_clear(&out);
        }
    }
}

static void test_capture(void **state)
{
    (void)state;
    bg_capture capture = {.max_head = 10, .max_tail = 12};
    bg_buf out = {0};
    for (int i = 0; i < 100; i++) {
        char line[16];
        snprintf(line, sizeof line, "l%02d\n", i);
        bg_capture_put(&capture, bg_str_of(line));
    }
    bg_capture_get(&capture, &out);
    assert_ptr_equal(strstr(bg_buf_cstr(&out), "l00\nl01\n[ "), out.data);
    assert_non_null(strstr(bg_buf_cstr(&out), " left out; the log has them ]\n"));
    assert_string_equal(out.data + out.len - 8, "l98\nl99\n");
    bg_buf_reset(&out);
    bg_capture_last(&capture, 2, &out);
    assert_string_equal(bg_buf_cstr(&out), "l98\nl99\n");
    bg_buf_clear(&out);
    bg_capture_clear(&capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone_streams),
        cmocka_unit_test(test_together_in_pieces),
        cmocka_unit_test(test_failure_again_at_end),
        cmocka_unit_test(test_failure_stands_last),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_verbose_and_dry),
        cmocka_unit_test(test_quiet),
        cmocka_unit_test(test_github),
        cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_heartbeat),
        cmocka_unit_test(test_failed_before_begin),
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_capture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
