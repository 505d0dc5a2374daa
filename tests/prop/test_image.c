/* For every .bgraph file of the tree: it compiles to the same bytes twice, from another working directory too, and its image survives the
 * disassembler and the assembler byte for byte. */
#include <dirent.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "bgraph/image.h"
#include "bgraph/session.h"

static bg_status compile(const char *path, bg_buf *image)
{
    bg_session_options options = {.std_dir = BG_STR(BGC_TEST_SOURCE_DIR "/stdlib")};
    bg_session *session = bg_session_new(&options);
    bg_error err = {0};
    assert_non_null(session);
    bg_status status = bg_session_compile(session, bg_str_of(path), image, &err);
    bg_session_free(session);
    return status;
}

static int n_files;

static void check_image(const char *path, const bg_buf *image)
{
    bg_graph graph;
    bg_error err = {0};
    void *aligned = aligned_alloc(8, (image->len + 7) & ~(size_t)7);
    assert_non_null(aligned);
    memcpy(aligned, image->data, image->len);
    if (bg_graph_load(&graph, aligned, image->len, &err) != BG_OK)
        fail_msg("%s: %s", path, err.text);
    bg_buf text = {0}, again = {0};
    assert_int_equal(bg_image_disasm(&graph, &text), BG_OK);
    if (bg_image_asm(bg_buf_view(&text), &again, &err) != BG_OK)
        fail_msg("%s: %s", path, err.text);
    if (again.len != image->len || memcmp(again.data, image->data, again.len) != 0)
        fail_msg("%s: asm(disasm(x)) is not x", path);
    bg_buf_clear(&text);
    bg_buf_clear(&again);
    free(aligned);
}

static void check_file(const char *path)
{
    bg_buf one = {0}, two = {0};
    bg_status status = compile(path, &one);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(compile(path, &two), status);
    if (status == BG_OK) {
        if (one.len != two.len || memcmp(one.data, two.data, one.len) != 0)
            fail_msg("%s: two compilations differ", path);
        check_image(path, &one);
        n_files++;
    } else {
        assert_int_equal(status, BG_E_DIAGNOSED);
    }
    bg_buf_clear(&one);
    bg_buf_clear(&two);
}

static void walk(const char *path)
{
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char child[PATH_MAX];
        struct stat st;
        if (e->d_name[0] == '.' || snprintf(child, sizeof child, "%s/%s", path, e->d_name) >= (int)sizeof child ||
            lstat(child, &st) != 0)
            continue;
        size_t n = strlen(child);
        if (S_ISDIR(st.st_mode))
            walk(child);
        else if (n > 7 && strcmp(child + n - 7, ".bgraph") == 0)
            check_file(child);
    }
    closedir(dir);
}

static void test_every_file(void **state)
{
    (void)state;
    static const char *const places[] = {"/examples", "/stdlib", "/tests/golden"};
    for (size_t i = 0; i < 3; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s%s", BGC_TEST_SOURCE_DIR, places[i]);
        walk(path);
    }
    assert_true(n_files >= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
