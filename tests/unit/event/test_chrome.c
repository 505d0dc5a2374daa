/* The Chrome trace: rows are job slots, early products point at who started on them. */
#include "made.h"

static void test_trace(void **state)
{
    (void)state;
    char path[64];
    temp_file(path);
    made m;
    made_begin(&m);
    uint32_t a = made_node(&m, "a", "A", 0), b = made_node(&m, "b", "B", 0);
    uint32_t c = made_node(&m, "c", "C", 0);
    made_prod(&m, a, "link", false);
    uint32_t early = made_prod(&m, a, "rmeta", true);
    made_edge(&m, b, early);
    made_edge(&m, c, early);
    feed f = {bg_sink_chrome(path, NULL), made_end(&m)};
    assert_non_null(f.sink);
    feed_event(&f, (bg_event){.kind = BG_EVENT_RUN_BEGIN, .text = BG_STR("x.bgraph")});
    feed_begin(&f, a, 1000);
    feed_event(&f, (bg_event){.kind = BG_EVENT_PRODUCT,
                              .t_ns = 2500,
                              .node = a,
                              .text = BG_STR("rmeta"),
                              .text2 = BG_STR("00ff")});
    feed_begin(&f, b, 3000);
    feed_end(&f, a, BG_OUTCOME_RAN, 5000, 4000);
    feed_begin(&f, c, 6000); /* the producer has ended: no arrow; its row is free again */
    feed_end(&f, b, BG_OUTCOME_RAN, 7000, 4000);
    feed_event(
        &f, (bg_event){
                .kind = BG_EVENT_STORE, .t_ns = 9000, .node = b, .duration_ns = 1500, .bytes = 10});
    feed_end(&f, c, BG_OUTCOME_FAILED, 8000, 2000);
    feed_end(&f, 99, BG_OUTCOME_RAN, 0, 0);
    feed_close(&f);
    char *text = read_file(path);
#define X(lane, ts, dur, name, outcome, label, ended)                                              \
    "{\"ph\":\"X\",\"pid\":1,\"tid\":" lane ",\"ts\":" ts ",\"name\":\"" name "\",\"dur\":" dur    \
    ",\"cat\":\"node\",\"args\":{\"outcome\":\"" outcome                                           \
    "\",\"key\":\"ab12\",\"reason\":\"never run\",\"label\":\"" label "\"" ended                   \
    ",\"user_ms\":0,\"sys_ms\":0,\"max_rss_bytes\":0}}"
#define LANE(tid, name)                                                                            \
    "{\"ph\":\"M\",\"pid\":1,\"tid\":" tid ",\"ts\":0.000,\"name\":\"thread_name\","               \
    "\"args\":{\"name\":\"" name "\"}},\n"                                                         \
    "{\"ph\":\"M\",\"pid\":1,\"tid\":" tid ",\"ts\":0.000,\"name\":\"thread_sort_index\","         \
    "\"args\":{\"sort_index\":" tid "}},\n"
    assert_string_equal(
        text,
        "[\n{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"ts\":0.000,\"name\":\"process_name\","
        "\"args\":{\"name\":\"bgc run x.bgraph\"}},\n" LANE(
            "1",
            "slot 1") "{\"ph\":\"i\",\"pid\":1,\"tid\":1,\"ts\":2.500,\"name\":\"rmeta\",\"s\":"
                      "\"t\","
                      "\"cat\":\"product\",\"args\":{\"node\":\"a\",\"digest\":\"00ff\"}},\n" LANE(
                          "2",
                          "slot 2") "{\"ph\":\"s\",\"pid\":1,\"tid\":1,\"ts\":2.500,\"name\":"
                                    "\"rmeta\",\"cat\":\"product\","
                                    "\"id\":1},\n"
                                    "{\"ph\":\"f\",\"pid\":1,\"tid\":2,\"ts\":3.000,\"name\":"
                                    "\"rmeta\",\"cat\":\"product\","
                                    "\"id\":1,\"bp\":\"e\"},\n" X(
                                        "1", "1.000", "4.000", "a", "ran", "A",
                                        "") ",\n" X("2", "3.000", "4.000", "b", "ran", "B",
                                                    "") ",\n" LANE("1000",
                                                                   "cache 1") "{\"ph\":\"X\","
                                                                              "\"pid\":1,\"tid\":"
                                                                              "1000,\"ts\":7.500,"
                                                                              "\"name\":\"store "
                                                                              "b\",\"dur\":1.500,"
                                                                              "\"cat\":\"cache\","
                                                                              "\"args\":{\"bytes\":"
                                                                              "10}},\n" X(
                                                                                  "1", "6.000",
                                                                                  "2.000", "c",
                                                                                  "failed", "C",
                                                                                  ",\"ended"
                                                                                  "\":"
                                                                                  "\"comman"
                                                                                  "d 1 "
                                                                                  "exited "
                                                                                  "with "
                                                                                  "3\"") "\n]\n");
    free(text);
    unlink(path);
    made_clear(&m);
}

static void test_empty(void **state)
{
    (void)state;
    char path[64];
    temp_file(path);
    feed f = {bg_sink_chrome(path, NULL), NULL};
    feed_close(&f);
    char *text = read_file(path);
    assert_string_equal(text, "[\n]\n");
    free(text);
    unlink(path);
    bg_error err = {0};
    assert_null(bg_sink_chrome("/nonexistent/dir/t.json", &err));
    assert_non_null(strstr(err.text, "/nonexistent/dir/t.json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
