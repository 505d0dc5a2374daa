/* asm(disasm(x)) == x, and texts that are no image. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample.h"

static void round_trip(const bg_buf *image)
{
    bg_error err = {0};
    bg_graph g;
    bg_buf text = {0}, again = {0}, text2 = {0};
    bg_status status = bg_graph_load(&g, image->data, image->len, &err);
    if (status != BG_OK)
        fail_msg("load: %s", err.text);
    assert_int_equal(bg_image_disasm(&g, &text), BG_OK);
    status = bg_image_asm(bg_buf_view(&text), &again, &err);
    if (status != BG_OK)
        fail_msg("asm: %s\n%s", err.text, bg_buf_cstr(&text));
    assert_int_equal(again.len, image->len);
    assert_memory_equal(again.data, image->data, image->len);
    bg_graph g2;
    assert_int_equal(bg_graph_load(&g2, again.data, again.len, &err), BG_OK);
    assert_int_equal(bg_image_disasm(&g2, &text2), BG_OK);
    assert_string_equal(bg_buf_cstr(&text), bg_buf_cstr(&text2));
    bg_buf_clear(&text);
    bg_buf_clear(&text2);
    bg_buf_clear(&again);
}

static void test_sample(void **state)
{
    (void)state;
    bg_buf image = {0};
    bg_error err = {0};
    assert_int_equal(sample_image(&image, &err), BG_OK);
    round_trip(&image);
    bg_buf_clear(&image);
}

/* Texts that the writer never makes but that are valid: equal strings twice, sections of later versions, odd labels. */
static const char *const valid[] = {
    "image 1\nsection \"STRB\"\nsection \"STRI\"\nstri 1 \"a\"\nstri 2 \"a\"\nstri 3 \"\\x00\\xff\"\nsection \"FILE\"\nfile 1 path=#2\n",
    "image 1\nsection \"\\x00x\\\"\\n\"\nhex 00 1122 ; a comment\nhex ff\nsection \"STRB\"\nsection \"NEW1\"\nsection \"STRI\"\n"
    "stri 1 \"x\" ; \"y\"\nsection \"FILE\"\n\n  file 1 path=\"x\" is_std=1\r\nsection \"NEW1\"\nhex 0102030405060708",
    "image 1\nsection \"STRB\"\nsection \"CODE\"\nsection \"STRI\"\nstri 1 \"x\"\nsection \"FILE\"\nfile 1 path=\"x\"\nsection \"PROG\"\n"
    "prog 1 max_stack=1\nbool 1\nunless b\njump b\na_label_that_nobody_uses:\nb:\nbool 0\nunless c\nc:\nbool 1\nret\n"
    "prog 2 max_stack=1\nbool 1\nunless b\nb:\nbool 0\nret\n",
};

static void test_valid(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof valid / sizeof valid[0]; i++) {
        bg_buf image = {0};
        bg_error err = {0};
        bg_status status = bg_image_asm(bg_str_of(valid[i]), &image, &err);
        if (status != BG_OK)
            fail_msg("case %zu: %s", i, err.text);
        round_trip(&image);
        bg_buf_clear(&image);
    }
}

static const struct {
    const char *text, *error;
} wrong[] = {
    {"", "1:1: the text of an image begins"},
    {"; image 1", "1:1: the text of an image begins"},
    {"image 2", "1:7: this bgc assembles version 1"},
    {"image 1 1", "1:9: something is left over"},
    {"image 99999999999", "1:7: the number is larger"},
    {"image 1\nsection STRI", "2:9: expected a string"},
    {"image 1\nsection \"STR\"", "2:8: the tag of a section has 4 bytes"},
    {"image 1\nsection \"STRI", "2:9: the string does not end"},
    {"image 1\nsection \"ST\\q", "2:13: unknown escape"},
    {"image 1\nsection \"ST\\x0", "2:13: unknown escape"},
    {"image 1\nstri 1 \"\"", "2:1: expected `section`"},
    {"image 1\nsection \"STRI\"\nnode 1", "3:1: expected `section`"},
    {"image 1\nsection \"STRI\"\nstri 2 \"\"", "3:6: records count up from 1; this one is 1"},
    {"image 1\nsection \"STRI\"\nstri 1 \"\" offset=3", "3:11: section STRI has no field \"offset\""},
    {"image 1\nsection \"STRI\"\nhex 00", "3:4: hex stands in"},
    {"image 1\nsection \"QQQQ\"\nhex 0", "3:5: expected two hex digits"},
    {"image 1\nsection \"QQQQ\"\nqqqq 1", "3:1: expected `section`"},
    {"image 1\nsection \"STRI\"\nstri 1 \"\"", "3:10: section \"STRB\" is missing"},
    {"image 1\nsection \"NODE\"\nnode 1 name=\"a\"", "3:13: there is no such string"},
    {"image 1\nsection \"NODE\"\nnode 1 name=#1 name=#1", "3:16: name is given twice"},
    {"image 1\nsection \"NODE\"\nnode 1 cmds=1", "3:14: expected +"},
    {"image 1\nsection \"NODE\"\nnode 1 n_cmds=1", "3:8: section NODE has no field"},
    {"image 1\nsection \"NODE\"\nnode 1 group=3", "3:14: expected # and a number of section GRUP"},
    {"image 1\nsection \"PROG\"\nprog 1\nbool 1", "3:7: the program does not end with ret"},
    {"image 1\nsection \"PROG\"\nprog 1\nfly", "4:1: there is no instruction \"fly\""},
    {"image 1\nsection \"PROG\"\nprog 1\nbool", "4:5: expected a number"},
    {"image 1\nsection \"PROG\"\nprog 1\njump L1\nret", "4:6: the label is not in this program"},
    {"image 1\nsection \"PROG\"\nprog 1\nL1:\njump L1\nret", "5:6: jumps lead forward only"},
    {"image 1\nsection \"PROG\"\nprog 1\nL1:\nL1:\nret", "5:1: the label is there twice"},
    {"image 1\nsection \"PROG\"\nprog 1\nret\nprog 2\nret 1", "6:5: something is left over"},
    {"image 1\nsection \"PROG\"\nprog 1\nret\n", "5:1: section \"CODE\" is missing"},
};

static void test_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        bg_buf image = {0};
        bg_error err = {0};
        bg_status status = bg_image_asm(bg_str_of(wrong[i].text), &image, &err);
        if (status != BG_E_USAGE || strncmp(err.text, wrong[i].error, strlen(wrong[i].error)) != 0)
            fail_msg("case %zu: got %s \"%s\", not \"%s\"", i, bg_status_name(status), err.text, wrong[i].error);
        assert_int_equal(image.len, 0);
        assert_int_equal(bg_image_asm(bg_str_of(wrong[i].text), &image, NULL), BG_E_USAGE);
        bg_buf_clear(&image);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sample), cmocka_unit_test(test_valid), cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
