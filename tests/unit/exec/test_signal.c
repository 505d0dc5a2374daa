/* Lines that processes say about themselves. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "exec/exec.h"

static const bg_cache_output outputs[] = {{.name = {"meta", 4}, .path = {"libx.rmeta", 10}},
                                          {.name = {"lib", 3}, .path = {"deps/libx.rlib", 14}}};

typedef struct {
    const char *line, *shown;
    size_t output;
} line_case;

static const line_case lines[] = {
    {"plain text", "plain text\n", SIZE_MAX},
    {"", "\n", SIZE_MAX},
    {"{ not json", "{ not json\n", SIZE_MAX},
    {"{\"some\":\"json of its own\"}", "{\"some\":\"json of its own\"}\n", SIZE_MAX},
    {"[1]", "[1]\n", SIZE_MAX},
    {"{\"$message_type\":\"artifact\",\"artifact\":\"/o/x/libx.rmeta\",\"emit\":\"metadata\"}", "", 0},
    {"{\"artifact\":\"/o/x/libx.rmeta\",\"emit\":\"metadata\"}", "", 0},
    {"{\"$message_type\":\"artifact\",\"artifact\":\"/o/x/deps/libx.rlib\",\"emit\":\"link\"}", "", 1},
    {"{\"$message_type\":\"artifact\",\"artifact\":\"x/libx.rmeta\",\"emit\":\"metadata\"}", "", 0},
    {"{\"$message_type\":\"artifact\",\"artifact\":\"./x/libx.rmeta\",\"emit\":\"metadata\"}", "", 0},
    {"{\"$message_type\":\"artifact\",\"artifact\":\"/o/x/libx.d\",\"emit\":\"dep-info\"}", "", SIZE_MAX},
    {"{\"$message_type\":\"artifact\",\"artifact\":\"/o/xlibx.rmeta\",\"emit\":\"metadata\"}", "", SIZE_MAX},
    {"{\"$message_type\":\"artifact\",\"artifact\":7}", "", SIZE_MAX},
    {"{\"$message_type\":\"diagnostic\",\"message\":\"m\",\"rendered\":\"error: m\\n\"}", "error: m\n", SIZE_MAX},
    {"{\"$message_type\":\"diagnostic\",\"rendered\":\"error: m\"}", "error: m\n", SIZE_MAX},
    {"{\"$message_type\":\"diagnostic\",\"rendered\":null}", "", SIZE_MAX},
    {"{\"$message_type\":\"future_incompat\",\"future_incompat_report\":[]}", "", SIZE_MAX},
};

static void test_rustc(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        bg_buf shown = {0};
        size_t output = 99;
        bg_status status = bg_signal_rustc_line(bg_str_of(lines[i].line), BG_STR("/o"), BG_STR("/o/x"), outputs, 2,
                                                &shown, &output);
        bool ok = status == BG_OK && output == lines[i].output && strcmp(bg_buf_cstr(&shown), lines[i].shown) == 0;
        if (!ok)
            print_error("row %zu: %s: output %zu, shown %s\n", i, lines[i].line, output, bg_buf_cstr(&shown));
        bg_buf_clear(&shown);
        assert_true(ok);
    }
}

static void test_fd(void **state)
{
    (void)state;
    assert_int_equal(bg_signal_fd_line(BG_STR("meta"), outputs, 2), 0);
    assert_int_equal(bg_signal_fd_line(BG_STR("lib\r"), outputs, 2), 1);
    assert_int_equal(bg_signal_fd_line(BG_STR(""), outputs, 2), SIZE_MAX);
    assert_int_equal(bg_signal_fd_line(BG_STR("met"), outputs, 2), SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rustc), cmocka_unit_test(test_fd)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
