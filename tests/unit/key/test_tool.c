/* Tools: where they are found, what they are, when they are run again, and what is said when they can't be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "key/key.h"

static char dir[64], cwd[4096];
static bg_state *state;
static bg_arena arena;
static bg_error last_error;

static void sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void sh(const char *fmt, ...)
{
    char body[1500], cmd[1700];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(body, sizeof body, fmt, ap);
    va_end(ap);
    snprintf(cmd, sizeof cmd, "cd %s && { %s; }", dir, body);
    if (system(cmd) != 0)
        fail_msg("failed: %s", cmd);
}

/* A script that says `says`, and notes that it ran. */
static void script(const char *path, const char *says)
{
    sh("mkdir -p $(dirname %s); { echo '#!/bin/sh'; echo 'echo \"$0 $*\" >>%s/ran'; echo '%s'; } >%s; chmod +x %s; sleep 0.05", path, dir,
       says, path, path);
}

static int n_ran(void)
{
    char path[128], line[300];
    int n = 0;
    snprintf(path, sizeof path, "%s/ran", dir);
    FILE *f = fopen(path, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        n++;
    if (f != NULL)
        fclose(f);
    return n;
}

static int setup(void **unused)
{
    (void)unused;
    strcpy(dir, "/tmp/bgc-tool-XXXXXX");
    if (mkdtemp(dir) == NULL || getcwd(cwd, sizeof cwd) == NULL || chdir(dir) != 0)
        return 1;
    sh("mkdir s a b");
    char path[128];
    snprintf(path, sizeof path, "%s/s", dir);
    return bg_state_open(&state, path, NULL, NULL, &last_error) != BG_OK;
}

static int teardown(void **unused)
{
    (void)unused;
    bg_arena_clear(&arena);
    int bad = bg_state_close(state, &last_error) != BG_OK;
    sh("rm -rf %s", dir);
    return chdir(cwd) != 0 || bad;
}

typedef struct {
    const char *program, *version, *root, *bin;
} ask;

static bg_status look(ask a, bg_tool_identity *out)
{
    char path[300];
    bg_str version = bg_str_of(a.version), root = bg_str_of(a.root);
    snprintf(path, sizeof path, ":relative:/nonexistent:%s/a:%s/b/", dir, dir);
    bg_keyer *keyer = bg_keyer_new(state);
    last_error = (bg_error){0};
    bg_status status = bg_key_tool(keyer, bg_str_of(a.program), &version, a.version != NULL, &root, a.root != NULL, bg_str_of(a.bin),
                                   bg_str_of(path), &arena, out, &last_error);
    bg_keyer_free(keyer);
    return status;
}

static bg_tool_identity must(ask a)
{
    bg_tool_identity t;
    if (look(a, &t) != BG_OK)
        fail_msg("%s: %s", a.program, last_error.text);
    return t;
}

static void expect_program(bg_tool_identity t, const char *rel)
{
    char want[200];
    snprintf(want, sizeof want, "%s/%s", dir, rel);
    if (!bg_str_is(t.program, want))
        fail_msg("program is %.*s, not %s", BG_FMT(t.program), want);
}

static void test_found_in_path(void **unused)
{
    (void)unused;
    script("b/cc", "echo version 1");
    expect_program(must((ask){.program = "cc"}), "b/cc");
    sh("mkdir a/cc"); /* a directory is no program, a file that may not run neither */
    expect_program(must((ask){.program = "cc"}), "b/cc");
    sh("rmdir a/cc; echo >a/cc");
    expect_program(must((ask){.program = "cc"}), "b/cc");
    script("a/cc", "echo version 1");
    expect_program(must((ask){.program = "cc"}), "a/cc");
    expect_program(must((ask){.program = "b/cc"}), "b/cc");
}

static void test_version_is_asked_once(void **unused)
{
    (void)unused;
    ask a = {.program = "cc", .version = "--version"};
    script("a/cc", "echo version 1");
    bg_tool_identity one = must(a);
    assert_int_equal(n_ran(), 1);
    bg_tool_identity two = must(a);
    assert_int_equal(n_ran(), 1);
    assert_true(bg_digest_eq(&one.identity, &two.identity));
    script("a/cc", "echo version 2");
    two = must(a);
    assert_int_equal(n_ran(), 2);
    assert_false(bg_digest_eq(&one.identity, &two.identity));
    script("a/cc", "echo version 1 # rebuilt, and says the same");
    two = must(a);
    assert_true(bg_digest_eq(&one.identity, &two.identity));
    bg_tool_identity content = must((ask){.program = "cc"});
    assert_false(bg_digest_eq(&one.identity, &content.identity));
    script("a/ccc", "echo version 1 >&2"); /* on standard error */
    (void)must((ask){.program = "ccc", .version = "--version"});
}

static void test_content_and_links(void **unused)
{
    (void)unused;
    script("real/cc", "echo 1");
    sh("ln -s ../real/cc a/cc; cp real/cc b/gcc; sleep 0.05");
    bg_tool_identity link = must((ask){.program = "cc"}), copy = must((ask){.program = "gcc"});
    expect_program(link, "a/cc"); /* its name may matter to it */
    assert_true(bg_digest_eq(&link.identity, &copy.identity));
    script("real/cc", "echo 2");
    bg_tool_identity now = must((ask){.program = "cc"});
    assert_false(bg_digest_eq(&link.identity, &now.identity));
    script("real2/cc", "echo 1");
    sh("ln -sfn ../real2/cc a/cc");
    now = must((ask){.program = "cc"});
    assert_true(bg_digest_eq(&link.identity, &now.identity));
    assert_int_equal(n_ran(), 0);
}

static void test_root(void **unused)
{
    (void)unused;
    ask a = {.program = "rustc", .version = "-V", .root = "--print-root", .bin = "bin/rustc"};
    script("up/chains/one/bin/rustc", "echo one");
    script("up/chains/two/bin/rustc", "echo two");
    char launcher[300];
    snprintf(launcher, sizeof launcher, "echo %s/up/chains/$(cat %s/up/settings)", dir, dir);
    script("a/rustc", launcher);
    sh("echo one >up/settings; sleep 0.05");
    bg_tool_identity one = must(a);
    expect_program(one, "up/chains/one/bin/rustc");
    int n = n_ran();
    one = must(a);
    assert_int_equal(n_ran(), n);
    sh("echo two >up/settings; sleep 0.05"); /* what `rustup default` does */
    bg_tool_identity two = must(a);
    expect_program(two, "up/chains/two/bin/rustc");
    assert_false(bg_digest_eq(&one.identity, &two.identity));
    n = n_ran();
    sh("touch rust-toolchain.toml; sleep 0.05"); /* may choose another one */
    (void)must(a);
    assert_int_equal(n_ran(), n + 2);
}

static void test_errors(void **unused)
{
    (void)unused;
    script("a/fails", "echo reason why >&2; exit 3");
    script("a/silent", "true");
    script("a/odd", "echo not a directory");
    script("a/empty", "echo /nowhere");
    script("a/killed", "kill -9 $$");
    static const struct {
        ask a;
        bg_status status;
        const char *says;
    } rows[] = {
        {{.program = "none"}, BG_E_NOENT, "none"},
        {{.program = "/none/at/all"}, BG_E_NOENT, "/none/at/all"},
        {{.program = ""}, BG_E_USAGE, "program"},
        {{.program = "fails", .version = "-v"}, BG_E_ACTION, "reason why"},
        {{.program = "fails", .version = "-v"}, BG_E_ACTION, "status 3"},
        {{.program = "killed", .version = "-v"}, BG_E_ACTION, "signal 9"},
        {{.program = "silent", .version = "-v"}, BG_E_USAGE, "nothing"},
        {{.program = "odd", .root = "-r", .bin = "b"}, BG_E_USAGE, "not a directory"},
        {{.program = "empty", .root = "-r", .bin = "bin/x"}, BG_E_NOENT, "/nowhere/bin/x"},
        {{.program = "fails", .root = "-r", .bin = "b"}, BG_E_ACTION, "reason why"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bg_tool_identity t;
        bg_status status = look(rows[i].a, &t);
        if (status != rows[i].status || strstr(last_error.text, rows[i].says) == NULL)
            fail_msg("row %zu: %s, \"%s\"", i, bg_status_name(status), last_error.text);
    }
}

/* More output than a pipe holds, on both ends. */
static void test_much_output(void **unused)
{
    (void)unused;
    script("a/loud", "head -c 300000 /dev/zero | tr \"\\\\0\" x; head -c 300000 /dev/zero >&2");
    (void)must((ask){.program = "loud", .version = "-v"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_found_in_path, setup, teardown),
        cmocka_unit_test_setup_teardown(test_version_is_asked_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_content_and_links, setup, teardown),
        cmocka_unit_test_setup_teardown(test_root, setup, teardown),
        cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_much_output, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
