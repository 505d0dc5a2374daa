/* Digests of plain trees: what changes them, what does not, and what is read again. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "key/key.h"
#include "key/keyer.h"
#include "key/manifest.h"

static char dir[64];
static bg_state *state;
static bg_keyer *keyer;

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

static int setup(void **unused)
{
    (void)unused;
    bg_error err;
    strcpy(dir, "/tmp/bgc-tree-XXXXXX");
    if (mkdtemp(dir) == NULL)
        return 1;
    sh("mkdir s t && mkdir -p t/a/b && echo one >t/one && echo two >t/a/two && ln -s two t/a/link && mkdir t/empty");
    char path[128];
    snprintf(path, sizeof path, "%s/s", dir);
    if (bg_state_open(&state, path, NULL, NULL, &err) != BG_OK)
        return 1;
    keyer = bg_keyer_new(state);
    return keyer == NULL;
}

static int teardown(void **unused)
{
    (void)unused;
    bg_error err;
    bg_keyer_free(keyer);
    int bad = bg_state_close(state, &err) != BG_OK;
    sh("chmod -R u+rwx . ; rm -rf %s", dir);
    return bad;
}

/* Next run: nothing is known but the state. */
static void again(void)
{
    bg_keyer_free(keyer);
    keyer = bg_keyer_new(state);
}

static bg_digest key(const char *rel)
{
    char path[256];
    bg_error err;
    bg_digest d, fresh;
    snprintf(path, sizeof path, "%s/%s", dir, rel);
    again();
    if (bg_key_path(keyer, bg_str_of(path), &d, &err) != BG_OK)
        fail_msg("%s: %s", rel, err.text);
    bg_keyer *other = bg_keyer_new(NULL); /* without any memory it must say the same */
    if (bg_key_path(other, bg_str_of(path), &fresh, &err) != BG_OK)
        fail_msg("%s: %s", rel, err.text);
    bg_keyer_free(other);
    assert_true(bg_digest_eq(&d, &fresh));
    return d;
}

static void test_what_changes_it(void **unused)
{
    (void)unused;
    static const struct {
        const char *does;
        bool changes;
    } rows[] = {
        {"true", false},
        {"touch t/one", false},
        {"echo One >t/one", true},
        {"echo one >t/one", true},
        {"chmod +x t/one", true},
        {"chmod g+w t/one", false},
        {"ln -sfn one t/a/link", true},
        {"mv t/one t/uno", true},
        {"mv t/a t/z", true},
        {"mkdir t/z/new", true},
        {"rmdir t/empty", true},
        {"echo x >t/z/b/deep", true},
        {"rm t/z/b/deep", true},
        {"rm t/z/link && echo -n one >t/z/link", true}, /* a file with a link's text */
        {"mkfifo t/pipe", false},
        {"mkdir t/.git t/.bgraph t/z/.git && touch t/.git/x", false},
        {"rm t/uno && mkdir t/uno", true},
        {"cp -a t t2 && rm -rf t && mv t2 t", false},
    };
    bg_digest was = key("t");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sh("%s", rows[i].does);
        bg_digest now = key("t");
        if (bg_digest_eq(&was, &now) == rows[i].changes)
            fail_msg("`%s` %s", rows[i].does, rows[i].changes ? "changed nothing" : "changed it");
        was = now;
    }
}

static void test_place_does_not_matter(void **unused)
{
    (void)unused;
    sh("mkdir elsewhere && cp -r t elsewhere/u");
    bg_digest a = key("t"), b = key("elsewhere/u"), f = key("t/one"), g = key("elsewhere/u/one"), l = key("t/a/link");
    assert_true(bg_digest_eq(&a, &b));
    assert_true(bg_digest_eq(&f, &g));
    assert_false(bg_digest_eq(&f, &l));
}

/* Written twice within a tick, same size, mtime set back: only being young tells. */
static void test_racy_is_read_again(void **unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++) {
        sh("echo -n aaa >t/racy");
        bg_digest a = key("t");
        char path[128];
        snprintf(path, sizeof path, "%s/t/racy", dir);
        int fd = open(path, O_WRONLY);
        assert_int_equal(pwrite(fd, "bbb", 3, 0), 3);
        close(fd);
        bg_digest b = key("t");
        assert_false(bg_digest_eq(&a, &b));
    }
}

static void test_mtime_set_back(void **unused)
{
    (void)unused;
    sh("echo -n aaa >t/f && touch -d 2001-01-01 t/f && sleep 0.05");
    bg_digest a = key("t");
    sh("echo -n bbb >t/f && touch -d 2001-01-01 t/f");
    bg_digest b = key("t");
    assert_false(bg_digest_eq(&a, &b));
}

static void test_seen_and_forgotten(void **unused)
{
    (void)unused;
    char path[128], one[128];
    bg_error err;
    bg_digest a, b, c;
    bool same;
    bg_str changed;
    snprintf(path, sizeof path, "%s/t/", dir);
    snprintf(one, sizeof one, "%s/t/one", dir);
    assert_int_equal(bg_key_path(keyer, bg_str_of(path), &a, &err), BG_OK);
    assert_int_equal(bg_key_recheck(keyer, &same, &changed, &err), BG_OK);
    assert_true(same);
    sh("echo other >t/one");
    assert_int_equal(bg_key_path(keyer, bg_str_of(path), &b, &err), BG_OK);
    assert_true(bg_digest_eq(&a, &b)); /* seen */
    assert_int_equal(bg_key_unchanged(keyer, false, bg_str_of(path), BG_STR(""), &a, &same, &err), BG_OK);
    assert_false(same);
    assert_int_equal(bg_key_path(keyer, bg_str_of(path), &b, &err), BG_OK);
    assert_false(bg_digest_eq(&a, &b));
    sh("echo third >t/one");
    bg_keyer_forget(keyer, bg_str_of(one));
    assert_int_equal(bg_key_path(keyer, bg_str_of(path), &c, &err), BG_OK);
    assert_false(bg_digest_eq(&c, &b));
    sh("echo fourth >t/one");
    assert_int_equal(bg_key_recheck(keyer, &same, &changed, &err), BG_OK);
    assert_false(same);
    assert_true(bg_str_eq(changed, (bg_str){path, strlen(path) - 1}));
    sh("rm -r t");
    assert_int_equal(bg_key_unchanged(keyer, false, bg_str_of(path), BG_STR(""), &c, &same, &err), BG_OK);
    assert_false(same);
}

static void test_errors(void **unused)
{
    (void)unused;
    static const struct {
        const char *does, *path;
        bg_status status;
    } rows[] = {
        {"true", "none", BG_E_NOENT},
        {"true", "t/one/below", BG_E_NOENT},
        {"mkfifo p", "p", BG_E_USAGE},
    };
    bg_error err;
    bg_digest d;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", dir, rows[i].path);
        sh("%s", rows[i].does);
        assert_int_equal(bg_key_path(keyer, bg_str_of(path), &d, &err), rows[i].status);
        assert_non_null(strstr(err.text, path));
    }
    assert_int_equal(bg_key_path(keyer, BG_STR("relative"), &d, &err), BG_E_USAGE);
    assert_int_equal(bg_key_path(keyer, BG_STR(""), &d, &err), BG_E_USAGE);
}

/* Bytes of the state are not trusted: cut, flipped, whatever. */
static void test_damaged_manifest(void **unused)
{
    (void)unused;
    char path[128], name[160];
    bg_error err;
    bg_str v;
    snprintf(path, sizeof path, "%s/t", dir);
    snprintf(name, sizeof name, "path %s", path);
    bg_digest good = key("t");
    assert_int_equal(bg_state_get(state, BG_STATE_STAMP, bg_str_of(name), &v), BG_OK);
    char *bytes = malloc(v.len), *bad = malloc(v.len);
    size_t n = v.len;
    memcpy(bytes, v.ptr, n);
    unsigned seed = 1;
    for (int i = 0; i < 2000; i++) {
        memcpy(bad, bytes, n);
        size_t cut = n;
        seed = seed * 1103515245 + 12345;
        if (i % 3 == 0)
            cut = seed % n;
        else /* never the digest or an id: those are believed when all else holds */
            bad[(seed >> 4) % n] ^= (char)(1u << (seed >> 28) % 8);
        bg_manifest m;
        bg_digest d;
        char *exact = malloc(cut == 0 ? 1 : cut); /* so that ASan sees a read past the end */
        memcpy(exact, bad, cut);
        if (bg_manifest_load(&m, (bg_str){exact, cut}))
            bg_manifest_clear(&m);
        (void)bg_manifest_holds((bg_str){exact, cut}, path, false, NULL, NULL, &d);
        if (i % 3 == 0) {
            assert_int_equal(bg_state_put(state, BG_STATE_STAMP, bg_str_of(name), (bg_str){exact, cut}, &err), BG_OK);
            bg_digest now = key("t");
            assert_true(bg_digest_eq(&now, &good));
        }
        free(exact);
    }
    free(bytes);
    free(bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_changes_it, setup, teardown),
        cmocka_unit_test_setup_teardown(test_place_does_not_matter, setup, teardown),
        cmocka_unit_test_setup_teardown(test_racy_is_read_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mtime_set_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_seen_and_forgotten, setup, teardown),
        cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damaged_manifest, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
