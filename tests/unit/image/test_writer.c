/* The writer: interning, same calls same bytes, what is written is what is read, failures that stick. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample.h"

static void test_reads_back(void **state)
{
    (void)state;
    bg_buf image = {0};
    bg_error err = {0};
    bg_graph g;
    assert_int_equal(sample_image(&image, &err), BG_OK);
    if (bg_graph_load(&g, image.data, image.len, &err) != BG_OK)
        fail_msg("%s", err.text);
    assert_int_equal(g.n_nodes, 4);
    assert_int_equal(g.n_edges, 4);
    assert_int_equal(g.n_files, 3);
    assert_true(bg_str_is(bg_graph_str(&g, g.nodes[1].name), "llvm/pgo/instr"));
    assert_true(bg_str_is(bg_graph_str(&g, g.outs[1].path), "usr/bin/clang"));
    assert_true(bg_str_is(bg_graph_str(&g, g.words[g.params[1].choices + 1].str), "slow"));
    assert_int_equal(bg_graph_int(&g, g.nodes[1].timeout_ns), 7200000000000);
    assert_int_equal(bg_graph_int(&g, 0), 0);
    assert_int_equal(bg_graph_str(&g, 0).len, 0);
    assert_int_equal(bg_graph_find_node(&g, BG_STR("gather")), 2);
    assert_int_equal(bg_graph_find_node(&g, BG_STR("gathe")), 0);
    bg_buf_clear(&image);
}

static void test_same_bytes(void **state)
{
    (void)state;
    bg_buf a = {0}, b = {0};
    bg_error err = {0};
    bg_buf_puts(&b, "in front");
    assert_int_equal(sample_image(&a, &err), BG_OK);
    assert_int_equal(sample_image(&b, &err), BG_OK);
    assert_int_equal(a.len + 8, b.len);
    assert_memory_equal(a.data, b.data + 8, a.len);
    bg_buf_clear(&a);
    bg_buf_clear(&b);
}

static void test_interning(void **state)
{
    (void)state;
    bg_image_writer *w = bg_image_writer_new();
    const bg_str ab[] = {BG_STR("a"), BG_STR("b")}, ba[] = {BG_STR("b"), BG_STR("a")};
    assert_non_null(w);
    assert_int_equal(bg_image_str(w, BG_STR("a")), 1);
    assert_int_equal(bg_image_str(w, BG_STR("")), 2);
    assert_int_equal(bg_image_str(w, BG_STR("a")), 1);
    assert_int_equal(bg_image_int(w, -1), 1);
    assert_int_equal(bg_image_int(w, 0), 2);
    assert_int_equal(bg_image_int(w, -1), 1);
    assert_int_equal(bg_image_words(w, ab, 2), 1);
    assert_int_equal(bg_image_words(w, ba, 2), 3);
    assert_int_equal(bg_image_words(w, ab, 2), 1);
    assert_int_equal(bg_image_words(w, ab, 1), 5);
    assert_int_equal(bg_image_words(w, ab, 0), 0);
    assert_int_equal(sample_span(w, 1), 1);
    assert_int_equal(sample_span(w, 2), 2);
    assert_int_equal(sample_span(w, 1), 1);
    assert_int_equal(bg_image_count(w, BG_SEC_SPAN), 2);
    assert_int_equal(bg_image_count(w, BG_SEC_NODE), 0);
    bg_image_writer_free(w);
    bg_image_writer_free(NULL);
}

static void test_set(void **state)
{
    (void)state;
    bg_image_writer *w = bg_image_writer_new();
    bg_buf image = {0};
    bg_error err = {0};
    bg_graph g;
    assert_non_null(w);
    uint32_t id = bg_image_add(w, BG_SEC_FILE, &(bg_img_files){0});
    bg_image_set(w, BG_SEC_FILE, id, &(bg_img_files){bg_image_str(w, BG_STR("x")), 1});
    assert_int_equal(bg_image_finish(w, &image, &err), BG_OK);
    assert_int_equal(bg_graph_load(&g, image.data, image.len, &err), BG_OK);
    assert_int_equal(g.files[1].is_std, 1);
    bg_image_writer_free(w);
    bg_buf_clear(&image);
}

/* Programs that the compiler must never make: the writer says so instead of writing them. */
static const struct {
    bg_op ops[4];
    uint32_t n;
    const char *error;
} unbalanced[] = {
    {{BG_OP_RET}, 0, "the stack is too short"},
    {{BG_OP_LIST, BG_OP_LIST}, 2, "ret leaves values behind"},
    {{BG_OP_APPEND}, 1, "the stack is too short"},
    {{BG_OP_LIST, BG_OP_RET, BG_OP_LIST}, 3, "ret before the end"},
};

static void test_unbalanced(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof unbalanced / sizeof unbalanced[0]; i++) {
        bg_image_writer *w = bg_image_writer_new();
        bg_buf image = {0};
        bg_error err = {0};
        assert_non_null(w);
        bg_image_prog_begin(w);
        for (uint32_t k = 0; k < unbalanced[i].n; k++)
            bg_image_op(w, unbalanced[i].ops[k], 0);
        bg_image_prog_end(w, 0);
        assert_int_equal(bg_image_str(w, BG_STR("goes on")), 1);
        assert_int_equal(bg_image_finish(w, &image, &err), BG_E_CORRUPT);
        if (strstr(err.text, unbalanced[i].error) == NULL)
            fail_msg("case %zu: %s", i, err.text);
        assert_int_equal(image.len, 0);
        bg_image_writer_free(w);
    }
}

static void test_too_deep(void **state)
{
    (void)state;
    bg_image_writer *w = bg_image_writer_new();
    bg_buf image = {0};
    bg_error err = {0};
    assert_non_null(w);
    bg_image_prog_begin(w);
    for (uint32_t k = 0; k < 4097; k++)
        bg_image_op(w, BG_OP_LIST, 0);
    bg_image_op(w, BG_OP_CONCAT, 4097);
    bg_image_prog_end(w, 0);
    assert_int_equal(bg_image_finish(w, &image, &err), BG_E_LIMIT);
    bg_image_writer_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reads_back), cmocka_unit_test(test_same_bytes),
                                       cmocka_unit_test(test_interning),  cmocka_unit_test(test_set),
                                       cmocka_unit_test(test_unbalanced), cmocka_unit_test(test_too_deep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
