/* Store, find, restore at other places, refuse what is damaged or hostile. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/dirs.h"
#include "bgraph/cache.h"
#include "cache/pack.h"
#include "cache/restore.h"

static char root[64];

static int setup(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/bgc-cache-XXXXXX");
    return mkdtemp(root) == NULL;
}

static int teardown(void **state)
{
    (void)state;
    return bg_fs_remove(root, NULL) != BG_OK;
}

static char *at(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static char *at(const char *fmt, ...)
{
    static char paths[16][4096];
    static unsigned next;
    char *p = paths[next++ % 16];
    int n = snprintf(p, 4096, "%s/", root);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(p + n, 4096 - (size_t)n, fmt, ap);
    va_end(ap);
    return p;
}

static void put(const char *path, const void *bytes, size_t n, mode_t mode)
{
    assert_int_equal(bg_fs_mkdirs_parent(path, NULL), BG_OK);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
    chmod(path, mode);
}

static char *get(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        fail_msg("%s is missing", path);
    char *bytes = calloc(1, 1 << 20);
    *n = fread(bytes, 1, (1 << 20) - 1, f);
    fclose(f);
    return bytes;
}

/* A place: its output directory and its prefixes. */
typedef struct {
    char *out, *src;
    bg_prefix prefixes[2];
} place;

static place make_place(const char *name)
{
    place p = {.out = strdup(at("%s/state/out", name)), .src = strdup(at("%s", name))};
    p.prefixes[0] = (bg_prefix){BG_STR("out"), bg_str_of(p.out)};
    p.prefixes[1] = (bg_prefix){BG_STR("src"), bg_str_of(p.src)};
    return p;
}

static void free_place(place *p)
{
    free(p->out);
    free(p->src);
}

static bg_cache_output outputs[] = {
    {.name = {"prefix", 6}, .path = {"prefix", 6}, .is_dir = true},
    {.name = {"log", 3}, .path = {"sub/log.txt", 11}, .is_dir = false},
};

static void fill(const place *p)
{
    char text[4096], binary[4096];
    int n = snprintf(text, sizeof text, "a=%s/lib\nb=-I%s/include:%s/x\nnot %s-other, not /x%s\n", p->out, p->src, p->out, p->src,
                     p->src);
    put(at("%s/node/prefix/text", p->out + strlen(root) + 1), text, (size_t)n, 0644);
    n = snprintf(text, sizeof text, "#!%s/bin/sh\necho %s\n", p->out, p->out);
    put(at("%s/node/prefix/bin/script", p->out + strlen(root) + 1), text, (size_t)n, 0755);
    memset(binary, 7, sizeof binary);
    binary[9] = 0;
    n = snprintf(binary + 10, 1000, "%s/lib:%s/share", p->out, p->src);
    binary[10 + n + 1] = 42;
    put(at("%s/node/prefix/binary", p->out + strlen(root) + 1), binary, sizeof binary, 0444);
    put(at("%s/node/prefix/empty", p->out + strlen(root) + 1), "", 0, 0600);
    put(at("%s/node/sub/log.txt", p->out + strlen(root) + 1), "log\n", 4, 0644);
    char base[4096], target[4200];
    snprintf(base, sizeof base, "%s/node/prefix", p->out);
    snprintf(target, sizeof target, "%s/text", base);
    assert_int_equal(symlink(target, at("%s/node/prefix/absolute", p->out + strlen(root) + 1)), 0);
    assert_int_equal(symlink("../text", at("%s/node/prefix/bin/relative", p->out + strlen(root) + 1)), 0);
    assert_int_equal(link(target, at("%s/node/prefix/hard", p->out + strlen(root) + 1)), 0);
    assert_int_equal(mkdir(at("%s/node/prefix/nothing", p->out + strlen(root) + 1), 0700), 0);
}

static bg_status store(bg_cache *cache, const place *p, uint8_t key, const bg_relocate_rule *rule, bg_arena *arena,
                       bg_cache_entry *entry, bg_error *err)
{
    char dir[4096];
    snprintf(dir, sizeof dir, "%s/node", p->out);
    bg_cache_store_request q = {.key = {{key}},
                                .node = BG_STR("group/node"),
                                .label = BG_STR("A node \xff%"),
                                .commit = BG_STR("0123456789012345678901234567890123456789"),
                                .wall_ns = 12,
                                .dir = bg_str_of(dir),
                                .prefixes = p->prefixes,
                                .n_prefixes = 2,
                                .rule = rule,
                                .outputs = outputs,
                                .n_outputs = 2};
    bg_status status = bg_cache_store(cache, &q, arena, entry, err);
    return status;
}

static void expect_restored(const place *p)
{
    size_t n, len;
    char want[4096];
    char *text = get(at("%s/node/prefix/text", p->out + strlen(root) + 1), &n);
    assert_non_null(strstr(text, p->out));
    snprintf(want, sizeof want, "-I%s/include:%s/x\n", p->src, p->out);
    assert_non_null(strstr(text, want));
    free(text);
    text = get(at("%s/node/prefix/binary", p->out + strlen(root) + 1), &n);
    assert_int_equal(n, 4096);
    snprintf(want, sizeof want, "%s/lib:", p->out);
    len = strlen(want);
    assert_non_null(memmem(text, n, want, len));
    snprintf(want, sizeof want, "%s/share", p->src);
    assert_non_null(memmem(text, n, want, strlen(want) + 1));
    free(text);
    char link[4096] = {0};
    assert_true(readlink(at("%s/node/prefix/absolute", p->out + strlen(root) + 1), link, sizeof link) > 0);
    assert_int_equal(strncmp(link, p->out, strlen(p->out)), 0);
    struct stat a, b;
    assert_int_equal(stat(at("%s/node/prefix/hard", p->out + strlen(root) + 1), &a), 0);
    assert_int_equal(stat(at("%s/node/prefix/text", p->out + strlen(root) + 1), &b), 0);
    assert_int_equal(a.st_ino, b.st_ino);
    assert_int_equal(stat(at("%s/node/prefix/bin/script", p->out + strlen(root) + 1), &a), 0);
    assert_int_equal(a.st_mode & 0777, 0755);
    assert_int_equal(stat(at("%s/node/prefix/nothing", p->out + strlen(root) + 1), &a), 0);
    assert_int_equal(a.st_mode & 0777, 0700);
}

static void test_moves(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
        bg_status status;
    } cases[] = {
        {"place-one", "place-two", BG_OK},          {"place-one", "place", BG_OK},
        {"place-one", "p", BG_OK},                  {"place", "place-one", BG_E_RELOCATE},
        {"place-one", "place-one", BG_OK},          {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaa", BG_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bg_arena arena = {0};
        bg_error err = {0};
        bg_cache *cache;
        bg_cache_entry entry, found;
        place a = make_place(cases[i].from), b = make_place(cases[i].to);
        fill(&a);
        assert_int_equal(bg_cache_open(&cache, at("cache"), &err), BG_OK);
        if (store(cache, &a, (uint8_t)i, NULL, &arena, &entry, &err) != BG_OK)
            fail_msg("case %zu: %s", i, err.text);
        bg_digest key = {{(uint8_t)i}};
        assert_int_equal(bg_cache_find(cache, &key, b.prefixes, 2, &arena, &found, &err), BG_OK);
        assert_true(bg_str_eq(found.label, BG_STR("A node \xff%")));
        assert_true(bg_digest_eq(&found.outputs[0].digest, &entry.outputs[0].digest));
        char dir[4096];
        snprintf(dir, sizeof dir, "%s/node", b.out);
        bg_status status = bg_cache_restore(cache, &found, bg_str_of(dir), b.prefixes, 2, &err);
        if (status != cases[i].status)
            fail_msg("case %zu: %s: %s", i, bg_status_name(status), err.text);
        if (status == BG_OK) {
            expect_restored(&b);
            bg_cache_output again[2];
            memcpy(again, outputs, sizeof again);
            assert_int_equal(bg_cache_digest(bg_str_of(dir), b.prefixes, 2, NULL, again, 2, &err), BG_OK);
            assert_true(bg_digest_eq(&again[0].digest, &entry.outputs[0].digest));
            assert_true(bg_digest_eq(&again[1].digest, &entry.outputs[1].digest));
        } else {
            assert_non_null(strstr(err.text, "binary"));
            assert_int_not_equal(access(dir, F_OK), 0);
        }
        assert_int_equal(bg_cache_verify(cache, &found, &err), BG_OK);
        bg_cache_close(cache);
        bg_arena_clear(&arena);
        assert_int_equal(bg_fs_remove(a.src, NULL), BG_OK);
        assert_int_equal(bg_fs_remove(b.src, NULL), BG_OK);
        free_place(&a);
        free_place(&b);
    }
}

static void test_tar_opens_it(void **state)
{
    (void)state;
    bg_arena arena = {0};
    bg_error err = {0};
    bg_cache *cache;
    bg_cache_entry entry;
    place a = make_place("tar");
    fill(&a);
    assert_int_equal(bg_cache_open(&cache, at("cache-tar"), &err), BG_OK);
    assert_int_equal(store(cache, &a, 1, NULL, &arena, &entry, &err), BG_OK);
    char command[8192];
    snprintf(command, sizeof command,
             "cd %s && mkdir x && zstd -qdc cache-tar/v1/cas/*/*.tar.zst | tar -x -C x && cmp x/prefix/text %s/node/prefix/text && "
             "cmp x/sub/log.txt %s/node/sub/log.txt && test -L x/prefix/absolute && test -d x/prefix/nothing",
             root, a.out, a.out);
    if (system("command -v zstd >/dev/null") == 0)
        assert_int_equal(system(command), 0);
    bg_cache_close(cache);
    bg_arena_clear(&arena);
    free_place(&a);
}

static void test_same_bytes(void **state)
{
    (void)state;
    bg_arena arena = {0};
    bg_error err = {0};
    bg_cache *cache;
    bg_cache_entry one, two;
    place a = make_place("same");
    fill(&a);
    assert_int_equal(bg_cache_open(&cache, at("cache-same"), &err), BG_OK);
    assert_int_equal(store(cache, &a, 1, NULL, &arena, &one, &err), BG_OK);
    assert_int_equal(store(cache, &a, 2, NULL, &arena, &two, &err), BG_OK);
    assert_true(bg_digest_eq(&one.artifact, &two.artifact));
    bg_cache_close(cache);
    bg_arena_clear(&arena);
    free_place(&a);
}

static void test_damage(void **state)
{
    (void)state;
    bg_arena arena = {0};
    bg_error err = {0};
    bg_cache *cache;
    bg_cache_entry entry;
    place a = make_place("damage");
    fill(&a);
    assert_int_equal(bg_cache_open(&cache, at("cache-damage"), &err), BG_OK);
    assert_int_equal(store(cache, &a, 1, NULL, &arena, &entry, &err), BG_OK);
    char hex[65], file[4096], dir[4096];
    bg_digest_hex(&entry.artifact, hex);
    snprintf(file, sizeof file, "%s", at("cache-damage/v1/cas/%.2s/%s.tar.zst", hex, hex));
    snprintf(dir, sizeof dir, "%s", at("damage-target"));
    size_t n;
    char *bytes = get(file, &n);
    for (size_t i = 0; i < n; i += 1 + n / 400) { /* without the outer digest: the parser has to be safe by itself */
        bytes[i] ^= 0x40;
        bg_status status = bg_restore(bytes, n, &entry, bg_str_of(dir), a.prefixes, 2, &err);
        assert_int_not_equal(status, BG_E_NOMEM);
        bytes[i] ^= 0x40;
        status = bg_restore(bytes, i, &entry, bg_str_of(dir), a.prefixes, 2, &err);
        assert_int_equal(status, BG_E_CORRUPT);
    }
    bytes[n / 2] ^= 1;
    put(file, bytes, n, 0644);
    assert_int_equal(bg_cache_verify(cache, &entry, &err), BG_E_CORRUPT);
    assert_int_equal(bg_cache_restore(cache, &entry, bg_str_of(dir), a.prefixes, 2, &err), BG_E_CORRUPT);
    bg_cache_entry found;
    assert_int_equal(bg_cache_find(cache, &entry.key, a.prefixes, 2, &arena, &found, &err), BG_E_NOENT);
    /* a damaged record */
    assert_int_equal(store(cache, &a, 1, NULL, &arena, &entry, &err), BG_OK);
    bg_digest_hex(&entry.key, hex);
    char *text = get(at("cache-damage/v1/ac/%.2s/%s", hex, hex), &n);
    text[n / 2] ^= 1;
    put(at("cache-damage/v1/ac/%.2s/%s", hex, hex), text, n, 0644);
    assert_int_equal(bg_cache_find(cache, &entry.key, a.prefixes, 2, &arena, &found, &err), BG_E_NOENT);
    assert_non_null(strstr(err.text, "set aside"));
    free(text);
    free(bytes);
    bg_cache_close(cache);
    bg_arena_clear(&arena);
    free_place(&a);
}

/* Packs a tree made by hand, as somebody hostile would, and restores it. */
static bg_status hostile(bg_member *members, size_t n, bg_error *err)
{
    bg_prefix prefix = {BG_STR("out"), BG_STR("/nowhere/at-all")};
    bg_scanner scanner;
    bg_tree tree = {.scanner = &scanner, .rule = &bg_relocate_default};
    assert_int_equal(bg_scanner_init(&scanner, &prefix, 1, err), BG_OK);
    tree.members.at = members;
    tree.members.n = n;
    char *file = at("hostile.tar.zst"), *target = at("hostile/deep/target"), *files = at("files");
    put(at("files/evil"), "evil", 4, 0644);
    int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0644);
    bg_packed packed;
    char *saved_path = NULL;
    (void)saved_path;
    assert_int_equal(bg_pack(fd, &tree, bg_str_of(files), &packed, err), BG_OK);
    bg_cache_entry entry = {0};
    bg_status status = bg_artifact_restore_fd(fd, &entry, bg_str_of(target), &prefix, 1, err);
    close(fd);
    return status;
}

static void test_hostile(void **state)
{
    (void)state;
    static const struct {
        const char *path, *link;
        uint32_t mode;
        bg_status status;
    } cases[] = {
        {"good", "sub/x", S_IFLNK | 0777, BG_OK},
        {"../evil", "x", S_IFLNK | 0777, BG_E_UNSAFE},
        {"a/../../evil", NULL, S_IFDIR | 0755, BG_E_UNSAFE},
        {"/tmp/evil", NULL, S_IFDIR | 0755, BG_E_UNSAFE},
        {"a//b", NULL, S_IFDIR | 0755, BG_E_UNSAFE},
        {".", NULL, S_IFDIR | 0755, BG_E_UNSAFE},
        {"out", "../../../../etc/passwd", S_IFLNK | 0777, BG_E_UNSAFE},
        {"out", "/etc/passwd", S_IFLNK | 0777, BG_E_UNSAFE},
        {"a/out", "b/../../ok", S_IFLNK | 0777, BG_E_UNSAFE}, /* `b` may be a link to anywhere */
        {"a/out", "../ok", S_IFLNK | 0777, BG_E_IO}, /* its directory is missing */
        {"device", NULL, S_IFCHR | 0666, BG_E_UNSAFE},
        {"pipe", NULL, S_IFIFO | 0666, BG_E_UNSAFE},
        {"setuid", NULL, S_IFDIR | S_ISUID | 0755, BG_E_UNSAFE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bg_error err = {0};
        bg_member m = {.path = bg_str_of(cases[i].path), .mode = cases[i].mode,
                       .link = cases[i].link != NULL ? bg_str_of(cases[i].link) : (bg_str){"", 0}};
        bg_status status = hostile(&m, 1, &err);
        if (cases[i].status == BG_E_IO ? status == BG_OK : status != cases[i].status)
            fail_msg("case %zu (%s): %s: %s", i, cases[i].path, bg_status_name(status), err.text);
        assert_int_not_equal(access("/tmp/evil", F_OK), 0);
        assert_int_not_equal(access(at("hostile/deep/evil"), F_OK), 0);
    }
    /* through a link of its own */
    bg_error err = {0};
    bg_member two[2] = {{.path = BG_STR("a"), .mode = S_IFLNK | 0777, .link = BG_STR(".")},
                        {.path = BG_STR("a/evil-dir"), .mode = S_IFDIR | 0755, .link = {"", 0}}};
    assert_int_not_equal(hostile(two, 2, &err), BG_OK);
    assert_int_not_equal(access(at("hostile/deep/target/evil-dir"), F_OK), 0);
}

static void test_rules(void **state)
{
    (void)state;
    bg_arena arena = {0};
    bg_error err = {0};
    bg_cache *cache;
    bg_cache_entry entry, found;
    place a = make_place("rules"), b = make_place("elsewhere");
    fill(&a);
    assert_int_equal(bg_cache_open(&cache, at("cache-rules"), &err), BG_OK);
    bg_relocate_rule rule = bg_relocate_default;
    rule.elf = BG_ELF_RPATH;
    rule.survivors = BG_SURVIVORS_DENY;
    assert_int_equal(store(cache, &a, 1, &rule, &arena, &entry, &err), BG_E_RELOCATE);
    assert_non_null(strstr(err.text, "prefix/binary"));
    rule.survivors = BG_SURVIVORS_PIN;
    assert_int_equal(store(cache, &a, 1, &rule, &arena, &entry, &err), BG_OK);
    assert_true(entry.pinned);
    assert_int_equal(bg_cache_find(cache, &entry.key, a.prefixes, 2, &arena, &found, &err), BG_OK);
    assert_int_equal(bg_cache_find(cache, &entry.key, b.prefixes, 2, &arena, &found, &err), BG_E_NOENT);
    bg_str exclude[] = {BG_STR("**/binary")};
    rule.exclude = exclude;
    rule.n_exclude = 1;
    rule.survivors = BG_SURVIVORS_DENY;
    assert_int_equal(store(cache, &a, 2, &rule, &arena, &entry, &err), BG_OK);
    bg_cache_output missing = {.name = BG_STR("gone"), .path = BG_STR("gone"), .is_dir = false};
    assert_int_equal(bg_cache_digest(bg_str_of(a.out), a.prefixes, 2, NULL, &missing, 1, &err), BG_E_NOENT);
    assert_int_equal(symlink("/etc/passwd", at("rules/state/out/node/prefix/leaves")), 0);
    assert_int_equal(store(cache, &a, 3, NULL, &arena, &entry, &err), BG_E_UNSAFE);
    bg_cache_close(cache);
    bg_arena_clear(&arena);
    free_place(&a);
    free_place(&b);
}

/* A real program whose RPATH names its place, moved. */
static void test_rpath(void **state)
{
    (void)state;
    bg_arena arena = {0};
    bg_error err = {0};
    bg_cache *cache;
    bg_cache_entry entry;
    place a = make_place("rpath-from-here"), b = make_place("to");
    char command[32768];
    put(at("main.c"), "int main(void){return 0;}\n", 26, 0644);
    snprintf(command, sizeof command, "mkdir -p %s/node/prefix %s/node/sub && touch %s/node/sub/log.txt && cc -o %s/node/prefix/p %s "
             "-Wl,-rpath,%s/node/lib:%s/other", a.out, a.out, a.out, a.out, at("main.c"), a.out, a.src);
    assert_int_equal(system(command), 0);
    assert_int_equal(bg_cache_open(&cache, at("cache-rpath"), &err), BG_OK);
    assert_int_equal(store(cache, &a, 1, NULL, &arena, &entry, &err), BG_OK);
    char dir[4096];
    snprintf(dir, sizeof dir, "%s/node", b.out);
    if (bg_cache_restore(cache, &entry, bg_str_of(dir), b.prefixes, 2, &err) != BG_OK)
        fail_msg("%s", err.text);
    assert_true(strlen(dir) < 1000);
    snprintf(command, sizeof command, "%s/prefix/p && readelf -d %s/prefix/p | grep -qF '[%s/lib:%s/other]' && ! grep -qF %s %s/prefix/p",
             dir, dir, dir, b.src, a.src, dir);
    assert_int_equal(system(command), 0);
    bg_cache_close(cache);
    bg_arena_clear(&arena);
    free_place(&a);
    free_place(&b);
}

static void test_glob(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *path;
        bool match;
    } cases[] = {
        {"*.txt", "a.txt", true},      {"*.txt", "a/b.txt", false},      {"**/*.txt", "a/b.txt", true},
        {"**/*.txt", "b.txt", true},   {"share/doc/**", "share/doc/x/y", true}, {"share/doc/**", "share/docs", false},
        {"a?c", "abc", true},          {"a?c", "a/c", false},            {"*", "", true},
        {"**", "a/b/c", true},         {"a*b*c", "aXbYc", true},         {"a*b*c", "aXbY", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (bg_glob_match(bg_str_of(cases[i].pattern), bg_str_of(cases[i].path)) != cases[i].match)
            fail_msg("%s against %s", cases[i].pattern, cases[i].path);
    }
}

static void test_scan(void **state)
{
    (void)state;
    bg_prefix prefixes[] = {{BG_STR("src"), BG_STR("/ws")}, {BG_STR("out"), BG_STR("/ws/out")}, {BG_STR("p"), BG_STR("/p")}};
    static const struct {
        const char *text;
        int n;
        int first; /* prefix of the first hit */
    } cases[] = {
        {"/ws", 1, 0},          {"/ws/out/x", 1, 1},   {"/ws/outer", 1, 0},  {"/wsx", 0, 0},        {"-I/ws/a -L/p", 2, 0},
        {"/home/ws/x", 0, 0},   {"file:///ws/a", 1, 0}, {"/ws.", 1, 0},      {"/ws.old", 0, 0},     {"/ws-2", 0, 0},
        {"/ws:/ws/out:/p", 3, 0}, {"////ws", 1, 0},    {"a=/p;b='/ws'", 2, 2}, {"../ws", 0, 0},     {"/p/ws/x", 1, 2},
    };
    bg_scanner s;
    bg_error err;
    assert_int_equal(bg_scanner_init(&s, prefixes, 3, &err), BG_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bg_hits hits = {0};
        assert_int_equal(bg_scan_bytes(&s, cases[i].text, strlen(cases[i].text), &hits, &err), BG_OK);
        if ((int)hits.n != cases[i].n || (hits.n != 0 && (int)hits.at[0].prefix != cases[i].first))
            fail_msg("%s: %zu hits, first %u", cases[i].text, hits.n, hits.n ? hits.at[0].prefix : 0);
        BG_VEC_CLEAR(&hits);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_glob),      cmocka_unit_test(test_scan),
        cmocka_unit_test(test_moves),     cmocka_unit_test(test_tar_opens_it),
        cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_hostile),   cmocka_unit_test(test_rules),
        cmocka_unit_test(test_rpath),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
