/* JSON lines: each row of event.def comes out with its keys, whatever bytes are in it. */
#include "made.h"

static void test_lines(void **state)
{
    (void)state;
    char path[64];
    temp_file(path);
    made m;
    made_begin(&m);
    uint32_t a = made_node(&m, "g/a", "A", 0);
    feed f = {bg_sink_jsonl(path, NULL), made_end(&m)};
    assert_non_null(f.sink);
    feed_event(
        &f,
        (bg_event){.kind = BG_EVENT_RUN_BEGIN, .text = BG_STR("x.bgraph"), .count = 2, .bytes = 1});
    feed_begin(&f, a, 1500);
    feed_output(&f, a, "tab\t \"quoted\" bad\xff end\n");
    feed_event(&f, (bg_event){.kind = BG_EVENT_TICK, .t_ns = 2000});
    feed_event(&f, (bg_event){.kind = BG_EVENT_PRODUCT,
                              .t_ns = 2500,
                              .node = a,
                              .text = BG_STR("rmeta"),
                              .text2 = BG_STR("00ff")});
    feed_end(&f, a, BG_OUTCOME_UP_TO_DATE, UINT64_MAX, 7);
    feed_event(
        &f,
        (bg_event){.kind = BG_EVENT_MESSAGE, .node = 0, .is_warning = true, .text = BG_STR("m")});
    feed_event(&f, (bg_event){.kind = BG_EVENT_MESSAGE, .node = 77}); /* no such node, no text */
    feed_event(&f, (bg_event){.kind = BG_EVENT_COUNT});               /* no such event */
    feed_run_end(&f, 130, 9, "g/a");
    feed_close(&f);
    char *text = read_file(path);
    assert_string_equal(
        text,
        "{\"event\":\"run_begin\",\"t\":0,\"file\":\"x.bgraph\",\"jobs\":2,\"nodes\":1}\n"
        "{\"event\":\"node_begin\",\"t\":1500,\"node\":\"g/a\",\"attempt\":1,"
        "\"reason\":\"never run\",\"key\":\"ab12\"}\n"
        "{\"event\":\"output\",\"t\":0,\"node\":\"g/a\","
        "\"text\":\"tab\\u0009 \\\"quoted\\\" bad\\ufffd end\\u000a\"}\n"
        "{\"event\":\"product\",\"t\":2500,\"node\":\"g/a\",\"product\":\"rmeta\","
        "\"digest\":\"00ff\"}\n"
        "{\"event\":\"node_end\",\"t\":18446744073709551615,\"node\":\"g/a\","
        "\"outcome\":\"up to date\",\"wall_ns\":7,\"user_ns\":0,\"sys_ns\":0,"
        "\"max_rss_bytes\":0,\"exit\":0,\"reason\":\"\",\"log\":\"\"}\n"
        "{\"event\":\"message\",\"t\":0,\"node\":null,\"text\":\"m\",\"warning\":true}\n"
        "{\"event\":\"message\",\"t\":0,\"node\":null,\"text\":\"\",\"warning\":false}\n"
        "{\"event\":\"run_end\",\"t\":9,\"exit\":130,\"wall_ns\":9,\"critical_path\":\"g/a\"}\n");
    free(text);
    unlink(path);
    made_clear(&m);
}

static void test_failures(void **state)
{
    (void)state;
    bg_error err = {0};
    assert_null(bg_sink_jsonl("/nonexistent/dir/ev.jsonl", &err));
    assert_non_null(strstr(err.text, "/nonexistent/dir/ev.jsonl"));
    assert_int_equal(err.status, BG_E_NOENT);
    if (access("/dev/full", W_OK) != 0)
        skip();
    made m;
    made_begin(&m);
    feed f = {bg_sink_jsonl("/dev/full", NULL), made_end(&m)};
    assert_non_null(f.sink);
    feed_run_end(&f, 0, 0, "");
    assert_int_equal(f.sink->close(f.sink, &err), BG_E_NOSPACE);
    assert_non_null(strstr(err.text, "/dev/full"));
    made_clear(&m);
}

static void test_outcome_words(void **state)
{
    (void)state;
    for (unsigned i = 0; i < BG_OUTCOME_COUNT; i++)
        assert_true(strlen(bg_outcome_word((bg_outcome)i)) > 0);
    assert_string_equal(bg_outcome_word(BG_OUTCOME_RAN), "ran");
    assert_string_equal(bg_outcome_word(BG_OUTCOME_OFF), "off");
    assert_string_equal(bg_outcome_word((bg_outcome)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_outcome_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
