/* Whole runs with real processes: nothing to do, what changed, padding, the environment of a child, stray grandchildren. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <jansson.h>

#include "exec/run.h"

static const test_node chain[] = {
    {.name = "a", .script = "cat \"$2\" > \"$1\"; echo made a", .outs = {"x"}, .inputs = {"in.txt"}},
    {.name = "b", .script = "tr a-z A-Z < \"$2\" > \"$1\"", .outs = {"y"}, .uses = {"a:x"}},
    {0}};

static void expect(const test_run *r, int exit_code, const char *text, const char *reason)
{
    bool ok = r->result.exit_code == exit_code && strcmp(bg_buf_cstr(&r->text), text) == 0 &&
              (reason == NULL || strstr(bg_buf_cstr(&r->reasons), reason) != NULL);
    if (!ok)
        print_error("exit %d %s\n%s-- wanted %d\n%s-- reasons\n%s-- wanted %s\n", r->result.exit_code, r->error.text,
                    bg_buf_cstr(&r->text), exit_code, text, bg_buf_cstr(&r->reasons), reason == NULL ? "" : reason);
    assert_true(ok);
}

static void test_changes(void **state)
{
    (void)state;
    test_run r = {.jobs = 2};
    test_graph g;
    test_make_root(&r);
    test_build(&g, chain);
    test_write(&r, "in.txt", "hello\n");
    test_go(&r, &g.graph, NULL);
    expect(&r, 0, "begin a\nran a\nbegin b\nran b\n", "a: first run");
    test_go(&r, &g.graph, NULL);
    expect(&r, 0, "up to date a\nup to date b\n", NULL);
    test_write(&r, "in.txt", "other\n");
    test_go(&r, &g.graph, NULL);
    expect(&r, 0, "begin a\nran a\nbegin b\nran b\n", "a: input in.txt changed");
    assert_non_null(strstr(r.reasons.data, "b: product a:link changed"));
    test_write(&r, ".bgraph/test/out/b/y", "edited\n");
    test_go(&r, &g.graph, NULL);
    expect(&r, 0, "up to date a\nbegin b\nran b\n", "b: output missing or changed");
    r.dry_run = true;
    test_write(&r, "in.txt", "third\n");
    test_go(&r, &g.graph, NULL);
    expect(&r, 0, "ran a\nran b\n", NULL); /* nothing begins */
    r.dry_run = false;
    test_write(&r, "in.txt", "other\n");
    test_go(&r, &g.graph, NULL);
    expect(&r, 0, "up to date a\nup to date b\n", NULL);
    test_graph_clear(&g);
    test_remove_root(&r);
}

static void test_early_cutoff(void **state)
{
    (void)state;
    static const test_node nodes[] = {
        {.name = "a", .script = "wc -l < \"$2\" > \"$1\"", .outs = {"x"}, .inputs = {"in.txt"}},
        {.name = "b", .script = "cat \"$2\" > \"$1\"", .outs = {"y"}, .uses = {"a:x"}},
        {0}};
    test_run r = {.jobs = 2};
    test_graph g;
    test_make_root(&r);
    test_build(&g, nodes);
    test_write(&r, "in.txt", "hello\n");
    test_go(&r, &g.graph, NULL);
    test_write(&r, "in.txt", "hallo\n");
    test_go(&r, &g.graph, NULL);
    expect(&r, 0, "begin a\nran a\nup to date b\n", NULL);
    test_graph_clear(&g);
    test_remove_root(&r);
}

static void test_failures(void **state)
{
    (void)state;
    static const test_node nodes[] = {{.name = "a", .script = "echo x > \"$1\"; kill -9 $$", .outs = {"x"}}, {0}};
    test_run r = {.jobs = 2};
    test_graph g;
    test_make_root(&r);
    test_build(&g, nodes);
    test_go(&r, &g.graph, NULL);
    expect(&r, 1, "begin a\nfailed a\n", "was killed by signal 9");
    assert_false(test_exists(&r, ".bgraph/test/out/a/x"));
    assert_true(test_exists(&r, ".bgraph/test/log/000001/a.log"));
    test_graph_clear(&g);

    test_build(&g, chain);
    test_go(&r, &g.graph, NULL);
    expect(&r, 2, "failed a\nskipped b\n", "test.bgraph:3:7: `a` needs ");
    r.targets[0] = "bb";
    test_go(&r, &g.graph, NULL);
    assert_int_equal(r.status, BG_E_USAGE);
    assert_int_equal(r.result.exit_code, 2);
    assert_non_null(strstr(r.error.text, "did you mean `b`?"));
    test_graph_clear(&g);
    test_remove_root(&r);
}

static void test_off(void **state)
{
    (void)state;
    static const test_node nodes[] = {{.name = "a", .script = "echo x > \"$1\"", .outs = {"x"}, .off = true},
                                      {.name = "b", .script = "cat \"$2\" > \"$1\"", .outs = {"y"}, .uses = {"a:x"}},
                                      {0}};
    test_run r = {.jobs = 2};
    test_graph g;
    test_make_root(&r);
    test_build(&g, nodes);
    test_go(&r, &g.graph, NULL);
    assert_int_equal(r.status, BG_E_USAGE);
    assert_int_equal(r.result.exit_code, 2);
    assert_non_null(strstr(r.error.text, "`b` consumes `a`"));
    test_graph_clear(&g);
    test_remove_root(&r);
}

static void test_child(void **state)
{
    (void)state;
    /* Its environment, its descriptors, its work directory; a grandchild that keeps the pipe open. */
    static const test_node nodes[] = {
        {.name = "env", .script = "env | cut -d= -f1 | grep -v -e _ -e PWD -e SHLVL | sort; echo x > \"$1\"", .outs = {"x"}},
        {.name = "fds", .script = "ls /proc/self/fd; echo x > \"$1\"", .outs = {"x"}, .uses = {"env:x"}},
        {.name = "tmp", .script = "test -d \"$TMPDIR\" && echo tmp; echo x > \"$1\"", .outs = {"x"}, .uses = {"fds:x"}},
        {.name = "stray", .script = "sleep 30 & echo x > \"$1\"; printf 'no newline'", .outs = {"x"}, .uses = {"tmp:x"}},
        {0}};
    test_run r = {.jobs = 1, .verbose = true};
    test_graph g;
    test_make_root(&r);
    test_build(&g, nodes);
    test_go(&r, &g.graph, NULL);
    expect(&r, 0,
           "begin env\n| LANG\nPATH\nTMPDIR\nTZ\nran env\n"
           "begin fds\n| 0\n1\n2\n3\nran fds\n"
           "begin tmp\n| tmp\nran tmp\n"
           "begin stray\n| no newlineran stray\n",
           NULL);
    assert_false(test_exists(&r, ".bgraph/test/work/tmp"));
    test_graph_clear(&g);
    test_remove_root(&r);
}

static void test_padding(void **state)
{
    (void)state;
    static const test_node nodes[] = {{.name = "g/a", .script = "printf %s \"$1\" > \"$1\"", .outs = {"x"}, .pad = true},
                                      {0}};
    test_run r = {.jobs = 1};
    test_graph g;
    char path[PATH_MAX + 64], text[1024] = "";
    test_make_root(&r);
    test_build(&g, nodes);
    test_go(&r, &g.graph, NULL);
    expect(&r, 0, "begin g/a\nran g/a\n", NULL);
    snprintf(path, sizeof path, "%s/.bgraph/test/out/g/a/x", r.root);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    assert_int_equal(strlen(text), 200 + strlen("/g/a/x"));
    test_go(&r, &g.graph, NULL);
    expect(&r, 0, "up to date g/a\n", NULL);
    test_graph_clear(&g);
    test_remove_root(&r);
}

static void test_signal_pipe(void **state)
{
    (void)state;
    /* b starts while a waits for what b makes. */
    static const test_node nodes[] = {
        {.name = "a",
         .script = "echo m > \"$1\"; echo meta >&$BGC_SIGNAL_FD; for i in $(seq 200); do test -e ../../go && exit 0; "
                   "test -e \"$2\" && exit 0; sleep 0.05; done; exit 1",
         .outs = {"early:meta"},
         .inputs = {"go"},
         .signal = BG_SIGNAL_FD},
        {.name = "b", .script = "cat \"$2\" > \"$1\"; echo > \"$3\"", .outs = {"y"}, .uses = {"a:meta"}, .inputs = {"in.txt"}},
        {0}};
    test_run r = {.jobs = 2};
    test_graph g;
    test_make_root(&r);
    test_write(&r, "in.txt", "x");
    test_write(&r, "go", "x");
    test_build(&g, nodes);
    test_go(&r, &g.graph, NULL);
    /* b wrote over its own input: said, not recorded. */
    assert_int_equal(r.result.exit_code, 0);
    assert_non_null(strstr(r.text.data, "product a:meta\n"));
    assert_non_null(strstr(r.reasons.data, "in.txt changed while it ran"));
    test_graph_clear(&g);
    test_remove_root(&r);
}

static void test_depfile_says(void **state)
{
    (void)state;
    static const test_node nodes[] = {
        {.name = "a",
         .script = "cp in.txt \"$1\"; printf 'x: in.txt \\\n /usr/include/stdio.h %s\nin.txt:\n' $(cat list.txt) > \"$2\"",
         .outs = {"x", "d"},
         .inputs = {"in.txt", "list.txt"},
         .depfile = "d"},
        {0}};
    test_run r = {.jobs = 1};
    test_graph g;
    test_make_root(&r);
    test_write(&r, "in.txt", "x");
    test_write(&r, "list.txt", "list.txt");
    test_build(&g, nodes);
    test_go(&r, &g.graph, NULL);
    expect(&r, 0, "begin a\nran a\n", NULL);
    test_write(&r, "list.txt", "./secret.h");
    test_go(&r, &g.graph, NULL);
    expect(&r, 1, "begin a\nfailed a\n", "/secret.h (listed in its dependency file), which is not declared");
    test_graph_clear(&g);
    test_remove_root(&r);
}

static void test_bad_cache(void **state)
{
    (void)state;
    test_run r = {.jobs = 1, .with_cache = true};
    test_graph g;
    test_make_root(&r);
    test_write(&r, "in.txt", "x");
    test_write(&r, "cache", "a file");
    test_build(&g, chain);
    test_go(&r, &g.graph, NULL);
    assert_int_equal(r.result.exit_code, 3);
    assert_non_null(strstr(r.error.text, "/cache: "));
    test_graph_clear(&g);
    test_remove_root(&r);
}

static void test_interrupt_real(void **state)
{
    (void)state;
    static const test_node nodes[] = {{.name = "a", .script = "echo x > \"$1\"; kill -INT $PPID; sleep 20", .outs = {"x"}},
                                      {.name = "b", .script = "cat \"$2\" > \"$1\"", .outs = {"y"}, .uses = {"a:x"}},
                                      {0}};
    test_run r = {.jobs = 1};
    test_graph g;
    test_make_root(&r);
    test_build(&g, nodes);
    test_go(&r, &g.graph, NULL);
    expect(&r, 130, "begin a\ncancelled a\nskipped b\n", "interrupted");
    assert_false(test_exists(&r, ".bgraph/test/out/a"));
    test_graph_clear(&g);
    test_remove_root(&r);
}

static void test_plan(void **state)
{
    (void)state;
    test_run r = {.jobs = 1};
    test_graph g;
    bg_buf json = {0};
    char text[PATH_MAX + 64];
    test_make_root(&r);
    test_write(&r, "in.txt", "x");
    test_build(&g, chain);
    snprintf(text, sizeof text, "%s/.bgraph/test", r.root);
    bg_run_options o = {.file = BG_STR("test.bgraph"),
                        .root_dir = bg_str_of(r.root),
                        .state_dir = bg_str_of(text),
                        .environ_ = environ,
                        .jobs = 1};
    bg_error err = {0};
    assert_int_equal(bg_plan_json(&g.graph, &o, &json, &err), BG_OK);
    json_error_t why;
    json_t *root = json_loadb(json.data, json.len, 0, &why);
    if (root == NULL)
        print_error("%s\n%s", why.text, json.data);
    assert_non_null(root);
    json_t *nodes = json_object_get(root, "nodes");
    assert_int_equal(json_array_size(nodes), 2);
    const json_t *b = json_array_get(nodes, 1);
    assert_string_equal(json_string_value(json_object_get(b, "state")), "run");
    assert_true(json_is_null(json_object_get(b, "key")));
    json_decref(root);
    bg_buf_clear(&json);
    test_graph_clear(&g);
    test_remove_root(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes), cmocka_unit_test(test_early_cutoff), cmocka_unit_test(test_failures),
        cmocka_unit_test(test_off),     cmocka_unit_test(test_child),        cmocka_unit_test(test_padding),
        cmocka_unit_test(test_signal_pipe), cmocka_unit_test(test_depfile_says), cmocka_unit_test(test_bad_cache),
        cmocka_unit_test(test_interrupt_real), cmocka_unit_test(test_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
