/* Runs against a cache: what is unpacked and what is not, clean checkouts, damaged artifacts. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <dirent.h>

#include "exec/run.h"

static const test_node chain[] = {
    {.name = "a", .script = "cat \"$2\" > \"$1\"", .outs = {"x"}, .inputs = {"in.txt"}},
    {.name = "b", .script = "tr a-z A-Z < \"$2\" > \"$1\"", .outs = {"y"}, .uses = {"a:x"}},
    {.name = "c", .script = "cat \"$2\" \"$3\" > \"$1\"", .outs = {"z"}, .uses = {"b:y"}, .inputs = {"other.txt"}},
    {0}};

static void expect(const test_run *r, int exit_code, const char *text, const char *reason)
{
    bool ok = r->status == BG_OK && r->result.exit_code == exit_code && strcmp(bg_buf_cstr(&r->text), text) == 0 &&
              (reason == NULL || strstr(bg_buf_cstr(&r->reasons), reason) != NULL);
    if (!ok)
        print_error("exit %d %s\n%s-- wanted %d\n%s-- reasons\n%s-- wanted %s\n", r->result.exit_code, r->error.text,
                    bg_buf_cstr(&r->text), exit_code, text, bg_buf_cstr(&r->reasons), reason == NULL ? "" : reason);
    assert_true(ok);
}

static void forget(const test_run *r)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/.bgraph", r->root);
    assert_int_equal(bg_fs_remove(path, NULL), BG_OK);
}

static void set_up(test_run *r, test_graph *g)
{
    test_make_root(r);
    test_build(g, chain);
    test_write(r, "in.txt", "hello\n");
    test_write(r, "other.txt", "other\n");
    r->targets[0] = "c";
    test_go(r, &g->graph, NULL);
    expect(r, 0, "begin a\nran a\nbegin b\nran b\nbegin c\nran c\n", NULL);
}

static void tear_down(test_run *r, test_graph *g)
{
    test_graph_clear(g);
    test_remove_root(r);
}

static void test_clean(void **state)
{
    (void)state;
    test_run r = {.jobs = 1, .with_cache = true};
    test_graph g;
    set_up(&r, &g);
    forget(&r);
    test_go(&r, &g.graph, NULL);
    expect(&r, 0, "cached a\ncached b\nrestored c\n", NULL);
    assert_false(test_exists(&r, ".bgraph/test/out/a"));
    assert_true(test_exists(&r, ".bgraph/test/out/c/z"));
    test_go(&r, &g.graph, NULL);
    expect(&r, 0, "up to date a\nup to date b\nup to date c\n", NULL);
    /* Only what really runs has its inputs unpacked. */
    test_write(&r, "other.txt", "changed\n");
    test_go(&r, &g.graph, NULL);
    expect(&r, 0, "begin c\nran c\nup to date a\nrestored b\n", "c: input other.txt changed");
    assert_false(test_exists(&r, ".bgraph/test/out/a"));
    /* Back again: known, and another key. */
    test_write(&r, "other.txt", "other\n");
    test_go(&r, &g.graph, NULL);
    expect(&r, 0, "up to date a\nup to date b\nrestored c\n", NULL);
    tear_down(&r, &g);
}

static void spoil(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    assert_non_null(d);
    while ((e = readdir(d)) != NULL) {
        char path[PATH_MAX * 2];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (e->d_name[0] == '.' || lstat(path, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode)) {
            spoil(path);
            continue;
        }
        FILE *f = fopen(path, "r+");
        assert_non_null(f);
        fputs("junk", f);
        fclose(f);
    }
    closedir(d);
}

static void test_damaged(void **state)
{
    (void)state;
    test_run r = {.jobs = 1, .with_cache = true};
    test_graph g;
    char cas[PATH_MAX + 64];
    set_up(&r, &g);
    forget(&r);
    snprintf(cas, sizeof cas, "%s/cache/v1/cas", r.root);
    spoil(cas);
    test_go(&r, &g.graph, NULL);
    /* c can't be restored, so it needs b, which can't be restored, so it needs a … */
    expect(&r, 0, "begin a\nran a\nbegin b\nran b\nbegin c\nran c\n", "its cached output can't be used");
    test_go(&r, &g.graph, NULL);
    expect(&r, 0, "up to date a\nup to date b\nup to date c\n", NULL);
    tear_down(&r, &g);
}

static void test_moved(void **state)
{
    (void)state;
    /* Another checkout of the same sources, the same cache: nothing runs. */
    test_run r = {.jobs = 1, .with_cache = true};
    test_graph g;
    char old[PATH_MAX];
    set_up(&r, &g);
    forget(&r);
    snprintf(old, sizeof old, "%s", r.root);
    snprintf(r.root + strlen(r.root), 10, "-moved");
    assert_int_equal(rename(old, r.root), 0);
    test_go(&r, &g.graph, NULL);
    expect(&r, 0, "cached a\ncached b\nrestored c\n", NULL);
    tear_down(&r, &g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_clean), cmocka_unit_test(test_damaged),
                                       cmocka_unit_test(test_moved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
