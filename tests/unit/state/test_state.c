/* The local state: tables, pending puts, growth, damage, the lock. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "state/state.h"

static char dir[64];

static int setup(void **unused)
{
    (void)unused;
    strcpy(dir, "/tmp/bgc-state-XXXXXX");
    return mkdtemp(dir) == NULL;
}

static int teardown(void **unused)
{
    (void)unused;
    char cmd[128];
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    return system(cmd);
}

static bg_state *open_state(bg_error *err)
{
    bg_state *s;
    bg_status status = bg_state_open(&s, dir, NULL, NULL, err);
    if (status != BG_OK)
        fail_msg("open: %s", err->text);
    return s;
}

static void expect(bg_state *s, bg_state_table t, bg_str key, const char *want)
{
    bg_str v;
    bg_status status = bg_state_get(s, t, key, &v);
    if (want == NULL) {
        assert_int_equal(status, BG_E_NOENT);
        return;
    }
    assert_int_equal(status, BG_OK);
    assert_true(bg_str_is(v, want));
}

static void test_round_trip(void **unused)
{
    (void)unused;
    bg_error err;
    static char longer[3000];
    memset(longer, 'x', sizeof longer);
    const struct {
        bg_state_table table;
        bg_str key;
        const char *value;
    } rows[] = {
        {BG_STATE_NODE, BG_STR("a"), "1"},
        {BG_STATE_STAMP, BG_STR("a"), "2"}, /* tables are apart */
        {BG_STATE_TOOL, BG_STR(""), "empty key"},
        {BG_STATE_META, BG_STR("empty value"), ""},
        {BG_STATE_STAMP, {longer, 500}, "at the limit"},
        {BG_STATE_STAMP, {longer, 501}, "past it"},
        {BG_STATE_STAMP, {longer, 2999}, "far past it"},
        {BG_STATE_STAMP, {longer, 3000}, "same head"},
    };
    for (int round = 0; round < 3; round++) {
        bg_state *s = open_state(&err);
        assert_string_equal(err.text, "");
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            expect(s, rows[i].table, rows[i].key, round == 0 ? NULL : rows[i].value);
            if (round == 0)
                assert_int_equal(bg_state_put(s, rows[i].table, rows[i].key, bg_str_of(rows[i].value), &err), BG_OK);
        }
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            expect(s, rows[i].table, rows[i].key, rows[i].value);
        if (round == 1)
            assert_int_equal(bg_state_commit(s, &err), BG_OK);
        if (round == 2) {
            assert_int_equal(bg_state_delete(s, BG_STATE_NODE, BG_STR("a"), &err), BG_OK);
            assert_int_equal(bg_state_delete(s, BG_STATE_NODE, BG_STR("never"), &err), BG_OK);
            expect(s, BG_STATE_NODE, BG_STR("a"), NULL);
            expect(s, BG_STATE_STAMP, BG_STR("a"), "2");
        }
        assert_int_equal(bg_state_close(s, &err), BG_OK);
    }
    bg_state *s = open_state(&err);
    expect(s, BG_STATE_NODE, BG_STR("a"), NULL);
    assert_int_equal(bg_state_close(s, &err), BG_OK);
    assert_int_equal(bg_state_close(NULL, NULL), BG_OK);
}

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#define HAS_ASAN __has_feature(address_sanitizer)
#else
#define HAS_ASAN 0
#endif

static void test_grows_past_the_map(void **unused)
{
    (void)unused;
    /* 1.2 GB is too much for a test's disk, so the address space is cut: then the map starts small. */
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        bg_error err;
        bg_state *s;
#if !HAS_ASAN /* ASan's shadow doesn't fit into a cut address space; there the puts alone are tried */
        struct rlimit room = {(rlim_t)700 << 20, (rlim_t)700 << 20};
        if (setrlimit(RLIMIT_AS, &room) != 0)
            _exit(6);
#endif
        if (bg_state_open(&s, dir, NULL, NULL, &err) != BG_OK)
            _exit(1);
        size_t n = (size_t)24 << 20;
        char *big = malloc(n);
        if (big == NULL)
            _exit(2);
        for (int i = 0; i < 4; i++) {
            char key[16];
            snprintf(key, sizeof key, "k%d", i);
            memset(big, 'a' + i, n);
            if (bg_state_put(s, BG_STATE_NODE, bg_str_of(key), (bg_str){big, n}, &err) != BG_OK)
                _exit(3);
        }
        for (int i = 0; i < 4; i++) {
            char key[16];
            bg_str v;
            snprintf(key, sizeof key, "k%d", i);
            if (bg_state_get(s, BG_STATE_NODE, bg_str_of(key), &v) != BG_OK || v.len != n || v.ptr[n - 1] != 'a' + i)
                _exit(4);
        }
        free(big);
        _exit(bg_state_close(s, &err) == BG_OK ? 0 : 5);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void damage(const char *how)
{
    char path[128];
    struct stat st;
    snprintf(path, sizeof path, "%s/state.mdb", dir);
    assert_int_equal(stat(path, &st), 0);
    if (strcmp(how, "cut") == 0) {
        assert_int_equal(truncate(path, st.st_size - 5000), 0);
    } else if (strcmp(how, "tiny") == 0) {
        assert_int_equal(truncate(path, 10), 0);
    } else {
        int fd = open(path, O_WRONLY);
        char junk[8192];
        memset(junk, 0xa5, sizeof junk);
        assert_int_equal(pwrite(fd, junk, sizeof junk, 0), sizeof junk);
        close(fd);
    }
}

static void test_damage_is_set_aside(void **unused)
{
    (void)unused;
    const char *const hows[] = {"cut", "tiny", "junk"};
    for (int i = 0; i < 3; i++) {
        bg_error err;
        char bad[128];
        bg_state *s = open_state(&err);
        assert_int_equal(bg_state_put(s, BG_STATE_NODE, BG_STR("a"), BG_STR("1"), &err), BG_OK);
        assert_int_equal(bg_state_close(s, &err), BG_OK);
        damage(hows[i]);
        s = open_state(&err);
        snprintf(bad, sizeof bad, "%s/state.mdb.bad-%d", dir, i + 1);
        if (strstr(err.text, bad) == NULL)
            fail_msg("%s: message is \"%s\"", hows[i], err.text);
        assert_int_equal(access(bad, F_OK), 0);
        expect(s, BG_STATE_NODE, BG_STR("a"), NULL);
        assert_int_equal(bg_state_close(s, &err), BG_OK);
    }
}

static long waited_for;
static int release_fd;
static void on_waiting(void *self, long pid)
{
    (void)self;
    waited_for = pid;
    (void)!write(release_fd, "x", 1);
}

static void test_waits_for_the_holder(void **unused)
{
    (void)unused;
    int ready[2], release[2];
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(release), 0);
    pid_t pid = fork();
    if (pid == 0) {
        bg_error err;
        bg_state *s;
        char c;
        if (bg_state_open(&s, dir, NULL, NULL, &err) != BG_OK)
            _exit(1);
        if (bg_state_put(s, BG_STATE_NODE, BG_STR("from"), BG_STR("holder"), &err) != BG_OK)
            _exit(2);
        (void)!write(ready[1], "x", 1);
        (void)!read(release[0], &c, 1);
        _exit(bg_state_close(s, &err) == BG_OK ? 0 : 3);
    }
    char c;
    bg_error err;
    bg_state *s;
    assert_int_equal(read(ready[0], &c, 1), 1);
    release_fd = release[1];
    assert_int_equal(bg_state_open(&s, dir, on_waiting, NULL, &err), BG_OK);
    assert_int_equal(waited_for, pid);
    expect(s, BG_STATE_NODE, BG_STR("from"), "holder");
    assert_int_equal(bg_state_close(s, &err), BG_OK);
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_killed_writer_leaves_the_last_commit(void **unused)
{
    (void)unused;
    pid_t pid = fork();
    if (pid == 0) {
        bg_error err;
        bg_state *s;
        if (bg_state_open(&s, dir, NULL, NULL, &err) != BG_OK ||
            bg_state_put(s, BG_STATE_NODE, BG_STR("a"), BG_STR("committed"), &err) != BG_OK ||
            bg_state_commit(s, &err) != BG_OK ||
            bg_state_put(s, BG_STATE_NODE, BG_STR("a"), BG_STR("pending"), &err) != BG_OK)
            _exit(1);
        raise(SIGKILL);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status));
    bg_error err;
    bg_state *s = open_state(&err);
    expect(s, BG_STATE_NODE, BG_STR("a"), "committed");
    assert_int_equal(bg_state_close(s, &err), BG_OK);
}

static void test_unusable_directories(void **unused)
{
    (void)unused;
    bg_error err;
    bg_state *s;
    char path[128];
    snprintf(path, sizeof path, "%s/none", dir);
    assert_int_equal(bg_state_open(&s, path, NULL, NULL, &err), BG_E_NOENT);
    assert_non_null(strstr(err.text, path));
    assert_null(s);
    if (geteuid() == 0)
        skip(); /* root may write anywhere */
    assert_int_equal(chmod(dir, 0500), 0);
    assert_int_equal(bg_state_open(&s, dir, NULL, NULL, &err), BG_E_ACCESS);
    assert_non_null(strstr(err.text, dir));
    assert_int_equal(chmod(dir, 0700), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(test_grows_past_the_map, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damage_is_set_aside, setup, teardown),
        cmocka_unit_test_setup_teardown(test_waits_for_the_holder, setup, teardown),
        cmocka_unit_test_setup_teardown(test_killed_writer_leaves_the_last_commit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unusable_directories, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
