/* Keys from git against the real git: the key must be the one of the tree that `git add -A && git write-tree` makes in a scratch
 * index, whatever state the work tree and the index are in; and it must be the same with and without remembered stamps. */
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

#include "key/key.h"

/* Debian's libgit2 leaks a regular expression's match data each time a repository is opened. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpcre2";
}

static char dir[64]; /* scratch; repositories lie below it */
static bg_state *state;
static char last_error[1000];
static char trail[4000]; /* the steps that led here */

static int run(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
static int run(const char *fmt, va_list ap)
{
    char body[3000], cmd[3500];
    vsnprintf(body, sizeof body, fmt, ap);
    snprintf(cmd, sizeof cmd, "cd %s && { %s\n} >%s/log 2>&1", dir, body, dir);
    return system(cmd);
}

static void sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void sh(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int rc = run(fmt, ap);
    va_end(ap);
    if (rc != 0) {
        char log[200];
        snprintf(log, sizeof log, "cat %s/log >&2", dir);
        (void)!system(log);
        fail_msg("failed: %s", fmt);
    }
}

static void try_sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void try_sh(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)!run(fmt, ap);
    va_end(ap);
}

static void text_of(const char *file, char *out, size_t size)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(out, 1, size - 1, f);
    fclose(f);
    out[n] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

static int setup(void **unused)
{
    (void)unused;
    bg_error err;
    strcpy(dir, "/tmp/bgc-git-XXXXXX");
    if (mkdtemp(dir) == NULL)
        return 1;
    setenv("HOME", dir, 1);
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    unsetenv("XDG_CONFIG_HOME");
    sh("mkdir state; git config --global user.name T; git config --global user.email t@example.org; "
       "git config --global init.defaultBranch main; git config --global protocol.file.allow always; "
       "git config --global core.excludesFile /dev/null; git config --global advice.detachedHead false");
    char path[128];
    snprintf(path, sizeof path, "%s/state", dir);
    return bg_state_open(&state, path, NULL, NULL, &err) != BG_OK;
}

static int teardown(void **unused)
{
    (void)unused;
    bg_error err;
    int bad = bg_state_close(state, &err) != BG_OK;
    char cmd[200];
    snprintf(cmd, sizeof cmd, "chmod -R u+rwx %s; rm -rf %s", dir, dir);
    return system(cmd) != 0 || bad;
}

static bg_status try_key(const char *repo, const char *rel, bool remembers, bg_digest *out)
{
    char path[256];
    bg_error err = {0};
    snprintf(path, sizeof path, "%s/%s", dir, repo);
    bg_keyer *keyer = bg_keyer_new(remembers ? state : NULL);
    bg_status status = bg_key_git(keyer, bg_str_of(path), bg_str_of(rel), out, &err);
    bg_keyer_free(keyer);
    snprintf(last_error, sizeof last_error, "%s", status == BG_OK ? "" : err.text);
    return status;
}

/* With memory and without, it must be the same. */
static bg_digest key(const char *repo, const char *rel)
{
    bg_digest a, b;
    if (try_key(repo, rel, true, &a) != BG_OK)
        fail_msg("%s %s: %s", repo, rel, last_error);
    if (try_key(repo, rel, false, &b) != BG_OK)
        fail_msg("%s %s: %s", repo, rel, last_error);
    if (!bg_digest_eq(&a, &b)) {
        char cmd[200];
        snprintf(cmd, sizeof cmd, "cd %s/%s && git status -s >&2", dir, repo);
        (void)!system(cmd);
        fail_msg("%s %s: the key with remembered stamps differs from the one without; steps%s", repo, rel, trail);
    }
    return a;
}

static bg_digest key_of_object(unsigned mode, const char *hex)
{
    bg_buf buf = {0};
    bg_error err;
    bg_digest d;
    bg_buf_puts(&buf, "bgraph git 1\n");
    bg_buf_u32(&buf, mode);
    for (int i = 0; i < 20; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        bg_buf_putc(&buf, (char)byte);
    }
    assert_int_equal(bg_sha256_of(buf.data, buf.len, &d, &err), BG_OK);
    bg_buf_clear(&buf);
    return d;
}

/* What git itself would write for the directory `rel`. */
static void expect_as_git(const char *repo, const char *rel, const char *why)
{
    char hex[64];
    sh("cd %s && cp -p \"$(git rev-parse --git-path index)\" %s/tmpindex 2>/dev/null || rm -f %s/tmpindex\n"
       "export GIT_INDEX_FILE=%s/tmpindex; git add -A && git write-tree >%s/tree\n"
       "git rev-parse \"$(cat %s/tree):%s\" >%s/sub || git hash-object -t tree /dev/null >%s/sub",
       repo, dir, dir, dir, dir, dir, rel, dir, dir);
    text_of("sub", hex, sizeof hex);
    bg_digest want = key_of_object(040000, hex), got = key(repo, rel);
    if (!bg_digest_eq(&want, &got)) {
        char cmd[300];
        snprintf(cmd, sizeof cmd, "cd %s/%s && git status -s --ignored >&2; git ls-tree -r $(cat %s/tree) >&2; cp -r . /tmp/bgc-git-failed",
                 dir, repo, dir);
        (void)!system(cmd);
        fail_msg("%s %s, %s: git says %s", repo, rel, why, hex);
    }
}

static void make_repo(const char *repo)
{
    sh("git init -q %s && cd %s && mkdir -p src/a/b src/c other doc && for i in 1 2 3 4 5 6 7 8; do echo $i >src/f$i; echo a$i "
       ">src/a/g$i; echo b$i >src/a/b/h$i; echo $i >other/o$i; done; echo x >src/c/x; echo s >src/a.b; echo s >src/a-b; ln -s f1 "
       "src/link; chmod +x src/f2; printf '*.o\\n/build/\\n!keep.o\\n' >.gitignore; printf 'gen-*\\n' >src/a/.gitignore",
       repo, repo);
    sh("cd %s && git add -A && git commit -qm one", repo);
}

/* Random states: a chain of steps, the key checked after each. */
static const char *const steps[] = {
    "echo $R >src/f1",
    "echo $R >src/a/g$N",
    "echo $R >src/a/b/h$N; git add -A",
    "echo $R >src/new$N",
    "echo $R >src/a/new$N; git add src/a/new$N",
    "rm -f src/f$N",
    "rm -f src/a/g$N; git add -A",
    "git rm -q --cached src/a/b/h$N",
    "git mv src/f$N src/a/moved$N",
    "mv src/a/b src/a/b$N",
    "chmod +x src/a/g$N",
    "chmod -x src/f2",
    "git add -A; git commit -qm $R",
    "git commit -qam $R",
    "git stash -q",
    "git stash pop -q",
    "git reset -q --hard",
    "git reset -q",
    "git checkout -q HEAD~1",
    "git checkout -q main",
    "echo obj >src/x$N.o",
    "echo obj >src/keep.o",
    "echo obj >src/forced.o; git add -f src/forced.o",
    "echo $R >src/forced.o",
    "mkdir -p build && echo $R >build/out",
    "mkdir -p src/build && echo $R >src/build/out",
    "git add -f build; true",
    "echo gen >src/a/gen-$N",
    "echo \"f$N\" >>src/.gitignore",
    "rm -f src/.gitignore",
    "printf 'b*/\\n!b3/\\n' >src/a/.gitignore",
    "printf '**/h1\\n/b/h2\\nh[3-5]\\n' >>src/a/.gitignore",
    "git checkout -q -- src/a/.gitignore",
    "echo '.gitignore' >src/c/.gitignore; echo 'y*' >>src/c/.gitignore; echo 1 >src/c/yy",
    "ln -sfn f$N src/link",
    "rm -f src/link; echo plain >src/link",
    "rm -rf src/c; ln -s a src/c",
    "rm -f src/c; mkdir -p src/c; echo $R >src/c/x",
    "mkdir -p src/empty/deeper",
    "mkfifo src/fifo$N",
    "rm -f src/a-b; mkdir -p src/a-b; echo 1 >src/a-b/z",
    "touch src/f$N",
    "git update-index -q --refresh",
    "git add -N src/new$N",
    "git update-index --index-version $((2 + N % 3))",
    "echo $R >other/o$N",
    "git branch -f side; git checkout -q side; echo s$R >src/f1; git commit -qam s; git checkout -q main",
    "git checkout -q main; echo m$R >src/f1; git commit -qam m; git merge -q side",
    "git merge --abort",
    "git gc -q",
    "touch -d @1000000000 src/f$N",
};

static unsigned seed;
static unsigned next_random(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static void test_random_states(void **unused)
{
    (void)unused;
    const char *count = getenv("BGC_TEST_ROUNDS");
    int rounds = count == NULL ? 3 : atoi(count);
    for (int r = 0; r < rounds; r++) {
        char *end = trail;
        *end = '\0';
        seed = (unsigned)r + 1;
        sh("rm -rf r");
        make_repo("r");
        for (int i = 0; i < 12; i++) {
            const char *step = steps[next_random() % (sizeof steps / sizeof *steps)];
            unsigned n = next_random() % 8 + 1, value = next_random();
            try_sh("cd r; N=%u; R=%u; %s", n, value, step);
            end += snprintf(end, (size_t)(trail + sizeof trail - end), "; N=%u R=%u %s", n, value, step);
            if (next_random() % 3 == 0)
                expect_as_git("r", "", trail);
            expect_as_git("r", "src", trail);
            if (next_random() % 4 == 0)
                expect_as_git("r", "src/a", trail);
        }
    }
}

static void test_same_bytes_same_key(void **unused)
{
    (void)unused;
    make_repo("r");
    sh("cd r && echo new >src/n && echo changed >src/f1");
    bg_digest lying = key("r", "src");
    sh("cd r && git add -A");
    bg_digest staged = key("r", "src");
    sh("cd r && git commit -qm two");
    bg_digest committed = key("r", "src");
    sh("cd r && echo else >other/z && git add -A && git commit -qm three");
    bg_digest later = key("r", "src");
    sh("git clone -q r clone && git -C r worktree add -q ../linked");
    bg_digest cloned = key("clone", "src"), linked = key("linked", "src"), below = key("clone/src", ""), dotted = key("clone", "./src/");
    assert_true(bg_digest_eq(&lying, &staged));
    assert_true(bg_digest_eq(&lying, &committed));
    assert_true(bg_digest_eq(&lying, &later));
    assert_true(bg_digest_eq(&lying, &cloned));
    assert_true(bg_digest_eq(&lying, &linked));
    assert_true(bg_digest_eq(&lying, &below));
    assert_true(bg_digest_eq(&lying, &dotted));
    bg_digest file = key("r", "src/f1"), file2 = key("clone", "src/f1"), other = key("r", "src/f2"), link = key("r", "src/link");
    assert_true(bg_digest_eq(&file, &file2));
    assert_false(bg_digest_eq(&file, &other));
    assert_false(bg_digest_eq(&file, &link));
    sh("cd r && echo more >>src/f1");
    bg_digest edited = key("r", "src");
    assert_false(bg_digest_eq(&lying, &edited));
}

/* Shapes that have bitten others; each starts from a fresh repository `r` and must agree with git. */
static void test_traps_agree_with_git(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *does, *repo, *rel;
    } rows[] = {
        {"unborn HEAD", "rm -rf u; git init -q u; mkdir u/src; echo 1 >u/src/f", "u", "src"},
        {"unborn and empty", "rm -rf u; git init -q u; mkdir u/src", "u", "src"},
        {"dangling HEAD", "cd r; git symbolic-ref HEAD refs/heads/none", "r", "src"},
        {"detached HEAD", "cd r; git checkout -q --detach", "r", "src"},
        {"linked work tree", "git -C r worktree add -q ../w; echo 1 >w/src/n; rm w/src/f1", "w", "src"},
        {"shallow clone", "git clone -q --depth 1 file://$PWD/r s; echo 1 >s/src/n", "s", "src"},
        {"index.lock held", "echo 1 >r/src/n; touch r/.git/index.lock; sleep 0.05", "r", "src"},
        {"index version 4", "cd r; git update-index --index-version 4; echo 1 >src/f1", "r", "src"},
        {"skipHash", "cd r; git config index.skipHash true; touch src/f1; git add -A; echo 2 >src/f2", "r", "src"},
        {"no index file", "cd r; rm .git/index", "r", "src"},
        {"intent to add", "cd r; echo 1 >src/n; git add -N src/n", "r", "src"},
        {"a path like a glob", "cd r; mkdir 's[1]' s1; echo 1 >'s[1]/f'; echo 2 >s1/f; git add -A", "r", "s[1]"},
        {"a FIFO", "mkfifo r/src/fifo", "r", "src"},
        {"unusual names", "cd r/src; echo 1 >'with space'; echo 2 >'ta\tb'; echo 3 >'new\nline'; echo 4 >$(printf '\\377\\376'); "
                          "mkdir -- -dash; echo 5 >-dash/x; echo 6 >'#h'; echo 7 >'!b'", "r", "src"},
        {"ignore rules", "cd r/src; printf '# c\\n\\\\#h\\n\\\\!b\\ntrail  \\nkeep\\\\ \\n/top\\nmid/dle\\n**/deep\\nall/**\\n!all/not\\nx/**/y\\n*.[ch]\\n"
                         "[!a-f]z\\n[[:digit:]]d\\n\\r\\nd/\\r\\nfoo**bar\\n' >.gitignore; mkdir -p mid all x/1/2 q/mid d e/d all/sub;"
                         "for f in '#h' '!b' trail 'keep ' top q/top mid/dle q/mid/dle deep q/deep all/one all/not x/y x/1/2/y a.c a.h a.d "
                         "az gz 1d xd d/in e/d/in fooxbar foo1 all/sub/t; do echo $f >\"$f\"; done", "r", "src"},
        {"BOM in .gitignore", "cd r/src; printf '\\357\\273\\277f9\\n' >.gitignore; echo 1 >f9", "r", "src"},
        {".gitignore as a link", "cd r/src; echo f9 >rules; ln -s rules .gitignore; echo 1 >f9", "r", "src"},
        {"ignored inside untracked", "cd r; mkdir -p src/n/m; echo 1 >src/n/m/a.o; echo 1 >src/n/m/a.c", "r", "src"},
        {"conflict", "cd r; git checkout -qb side; echo s >src/f1; git commit -qam s; git checkout -q main; echo m >src/f1; git commit -qam "
                     "m; git merge -q side; true", "r", "src"},
        {"fileMode false", "cd r; git config core.fileMode false; chmod -x src/f2; chmod +x src/f3; echo 1 >src/n; chmod +x src/n", "r", "src"},
        {"symlinks false", "cd r; git config core.symlinks false; rm src/link; printf f1 >src/link", "r", "src"},
        {"alternates", "git clone -q --shared r s; echo 1 >s/src/n", "s", "src"},
        {"v1 extensions", "cd r; git config core.repositoryFormatVersion 1; git config extensions.worktreeConfig true; git config "
                          "extensions.partialClone origin; echo 1 >src/n", "r", "src"},
        {"moved index", "cd r; cp -r .git/index i; sleep 0.02; echo 9 >src/f1; touch -d @1 src/f1; cp i .git/index; rm i", "r", "src"},
        {"same size, mtime set back", "cd r; touch -r src/f1 ref; echo 7 >src/f1; touch -r ref src/f1; rm ref", "r", "src"},
        {"core.quotePath and long names", "cd r/src; d=$(printf 'd%.0s' $(seq 200)); mkdir -p $d/$d/$d; echo 1 >$d/$d/$d/f; git add -A", "r", "src"},
        {"sub-directory like a file's prefix", "cd r/src; mkdir a0 a.c; echo 1 >a0/f; echo 1 >a.c/f; echo 1 >a.d", "r", "src"},
        {"sparse cone", "cd r; git sparse-checkout set other; git sparse-checkout reapply", "r", "other"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sh("rm -rf r w s u");
        make_repo("r");
        sh("%s", rows[i].does);
        bool is_locked = strstr(rows[i].name, "lock") != NULL;
        expect_as_git(rows[i].repo, rows[i].rel, rows[i].name);
        if (!is_locked) {
            try_sh("cd %s && git add -A && git commit -qm x", rows[i].repo);
            if (strstr(rows[i].name, "sparse") == NULL)
                expect_as_git(rows[i].repo, rows[i].rel, rows[i].name);
        }
    }
}

/* Each pair of states, and whether their keys must be equal. */
static void test_pairs(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *before, *then, *rel;
        bool same;
    } rows[] = {
        {"another user's excludes don't matter", "echo 1 >r/src/n", "cd r; echo n >.git/info/exclude; git config core.excludesFile "
                                                 "/tmp/none", "src", true},
        {"assume-unchanged hides nothing", "cd r; git update-index --assume-unchanged src/f1", "echo edit >r/src/f1", "src", false},
        {"skip-worktree hides no edit", "cd r; git update-index --skip-worktree src/f1", "echo edit >r/src/f1", "src", false},
        {"a sparse check-out is not a full one", "true", "cd r; git sparse-checkout set --no-cone '/*' '!/src/a/'", "src", false},
        {"sparse elsewhere", "true", "cd r; git sparse-checkout set src", "src", true},
        {"CRLF in the work tree is other bytes", "cd r; echo '* text=auto' >.gitattributes; git add -A; git commit -qm a",
         "cd r; printf '1\\r\\n' >src/f1; git add -A", "src", false},
        {"autocrlf setting alone changes nothing", "true", "cd r; git config core.autocrlf true", "src", true},
        {"eol conversion at check-out shows", "cd r; printf 'f3 text eol=crlf\\n' >src/.gitattributes; git add -A; git commit -qm a; "
                                              "rm src/f3; git checkout -q src/f3", "cd r; printf '3\\n' >src/f3", "src", false},
        {"a filter isn't run", "cd r; echo '*.bin filter=x' >.gitattributes; git config filter.x.clean 'echo never'; echo 1 >src/a.bin",
         "cd r; git add -A; echo 2 >src/a.bin; git add -A", "src", false},
        {"state directory of a build", "true", "mkdir -p r/src/.bgraph; date >r/src/.bgraph/x", "src", true},
        {"ignored files", "true", "echo 1 >r/src/x.o", "src", true},
        {"ignored directory", "true", "mkdir r/build; echo 1 >r/build/f", "", true},
        {"tracking an ignored file", "echo 1 >r/src/x.o", "cd r; git add -f src/x.o", "src", false},
        {"edit of a tracked ignored file", "cd r; echo 1 >src/x.o; git add -f src/x.o", "echo 2 >r/src/x.o", "src", false},
        {"new .gitignore above", "echo 1 >r/src/n", "echo n >>r/.gitignore", "src", false},
        {"new .gitignore beside", "echo 1 >r/src/a/b/n", "echo n >r/src/.gitignore; sleep 0.1", "src/a", false},
        {"empty directories", "true", "mkdir -p r/src/e/f", "src", true},
        {"moved file system times", "true", "find r/src -exec touch -h -d @5 {} +", "src", true},
        {"replaced index", "true", "cd r; rm .git/index; git reset -q", "src", true},
        {"gc and pack", "true", "git -C r gc -q --prune=now", "src", true},
        {"nested repository, edit in it", "git init -q r/src/n; echo 1 >r/src/n/f", "echo 2 >r/src/n/f", "src", false},
        {"nested repository, commit in it", "git init -q r/src/n; echo 1 >r/src/n/f", "cd r/src/n; git add -A; git commit -qm n", "src", true},
        {"submodule, edit", "make_sub", "echo 2 >r/src/sub/f", "src", false},
        {"submodule, commit of the edit", "make_sub; echo 2 >r/src/sub/f", "cd r/src/sub; git commit -qam 2", "src", true},
        {"submodule, not populated", "make_sub", "cd r; git submodule --quiet deinit -f src/sub", "src", false},
        {"submodule, untracked file", "make_sub", "echo 1 >r/src/sub/new", "src", false},
        /* git 2.39 itself needs minutes for this one */
        {"many stars", "printf 'a*a*a*a*a*a*a*a*a*a*a*a*a*a*b\\n' >r/src/.gitignore; touch r/src/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac",
         "rm r/src/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", "src", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static const char functions[] = "make_sub() { git init -q m; echo 1 >m/f; git -C m add -A; git -C m commit -qm m; git -C r submodule "
                                        "--quiet add ../m src/sub; git -C r commit -qm sub; };";
        sh("rm -rf r m");
        make_repo("r");
        sh("%s %s", functions, rows[i].before);
        bg_digest a = key("r", rows[i].rel);
        sh("%s %s", functions, rows[i].then);
        bg_digest b = key("r", rows[i].rel);
        if (bg_digest_eq(&a, &b) != rows[i].same)
            fail_msg("%s: keys are %s", rows[i].name, rows[i].same ? "different" : "the same");
    }
}

static void test_errors(void **unused)
{
    (void)unused;
    static const struct {
        const char *does, *repo, *rel;
        bg_status status;
        const char *says;
    } rows[] = {
        {"mkdir plain", "plain", "", BG_E_USAGE, "dir ="},
        {"true", "r", "none", BG_E_NOENT, "none"},
        {"true", "r/none", "", BG_E_NOENT, "none"},
        {"true", "r", "../r", BG_E_USAGE, ".."},
        {"true", "r", "/etc", BG_E_USAGE, "/etc"},
        {"true", "r", ".git/refs", BG_E_USAGE, ".git"},
        {"mkdir -p r/build; touch r/build/f", "r", "build", BG_E_USAGE, "ignored"},
        {"touch r/src/x.o", "r", "src/x.o", BG_E_USAGE, "ignored"},
        {"ln -s src r/l", "r", "l/a", BG_E_USAGE, "symbolic link"},
        {"true", "r", "src/f1/x", BG_E_NOENT, "f1/x"},
        {"cd r; git update-index --split-index", "r", "src", BG_E_VERSION, "split"},
        {"echo junk >r/.git/index", "r", "src", BG_E_CORRUPT, "index"},
        {"git clone -q --bare r bare; rm -rf odd; mkdir odd; cp -r bare odd/.git", "odd", "", BG_E_USAGE, "bare"},
        {"mkdir gone; echo 'gitdir: /nowhere/x' >gone/.git", "gone", "", BG_E_CORRUPT, "/nowhere/x"},
        {"echo '[core' >>r/.git/config", "r", "src", BG_E_CORRUPT, "r"},
        {"mkfifo r/p", "r", "p", BG_E_USAGE, "neither"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bg_digest d;
        sh("rm -rf r");
        make_repo("r");
        sh("%s", rows[i].does);
        bg_status status = try_key(rows[i].repo, rows[i].rel, true, &d);
        if (status != rows[i].status || strstr(last_error, rows[i].says) == NULL)
            fail_msg("`%s`: %s, \"%s\"", rows[i].does, bg_status_name(status), last_error);
    }
}

static void test_sha256_repository(void **unused)
{
    (void)unused;
    sh("rm -rf h p; git init -q --object-format=sha256 h; mkdir h/src; echo 1 >h/src/f; echo 1 >h/src/x.o; echo '*.o' >h/.gitignore; "
       "cd h; git add -A; git commit -qm 1; cd ..; git init -q p; mkdir p/src; echo 1 >p/src/f");
    bg_digest a = key("h", "src"), b = key("p", "src");
    assert_true(bg_digest_eq(&a, &b)); /* both are of the bytes as they lie there */
    sh("echo 2 >h/src/f");
    b = key("h", "src");
    assert_false(bg_digest_eq(&a, &b));
}

static void test_environment_is_ignored(void **unused)
{
    (void)unused;
    sh("rm -rf r");
    make_repo("r");
    bg_digest a = key("r", "src");
    setenv("GIT_DIR", "/nowhere", 1);
    setenv("GIT_INDEX_FILE", "/nowhere/index", 1);
    setenv("GIT_WORK_TREE", "/", 1);
    bg_digest b = key("r", "src");
    unsetenv("GIT_DIR");
    unsetenv("GIT_INDEX_FILE");
    unsetenv("GIT_WORK_TREE");
    assert_true(bg_digest_eq(&a, &b));
}

static void test_root_and_commit(void **unused)
{
    (void)unused;
    bg_error err;
    bg_arena arena = {0};
    bg_str s;
    char path[128], want[128];
    bg_keyer *keyer = bg_keyer_new(state);
    sh("rm -rf r u");
    make_repo("r");
    sh("git init -q u; git -C r rev-parse HEAD >head; cd r; pwd -P >../top");
    snprintf(path, sizeof path, "%s/r/src/a", dir);
    assert_int_equal(bg_key_git_root(keyer, bg_str_of(path), &arena, &s, &err), BG_OK);
    text_of("top", want, sizeof want);
    assert_true(bg_str_is(s, want));
    assert_int_equal(bg_key_git_commit(keyer, bg_str_of(path), &arena, &s, &err), BG_OK);
    text_of("head", want, sizeof want);
    assert_true(bg_str_is(s, want));
    snprintf(path, sizeof path, "%s/u", dir);
    assert_int_equal(bg_key_git_commit(keyer, bg_str_of(path), &arena, &s, &err), BG_OK);
    assert_int_equal(s.len, 0);
    sh("echo junk >r/.git/HEAD");
    snprintf(path, sizeof path, "%s/r", dir);
    assert_int_not_equal(bg_key_git_commit(keyer, bg_str_of(path), &arena, &s, &err), BG_OK);
    bg_keyer_free(keyer);
    bg_arena_clear(&arena);
}

static void test_unchanged(void **unused)
{
    (void)unused;
    bg_error err;
    bg_digest d;
    bool same;
    char path[128];
    bg_keyer *keyer = bg_keyer_new(state);
    sh("rm -rf r");
    make_repo("r");
    snprintf(path, sizeof path, "%s/r", dir);
    assert_int_equal(bg_key_git(keyer, bg_str_of(path), BG_STR("src"), &d, &err), BG_OK);
    assert_int_equal(bg_key_unchanged(keyer, true, bg_str_of(path), BG_STR("src"), &d, &same, &err), BG_OK);
    assert_true(same);
    sh("touch r/src/f1");
    assert_int_equal(bg_key_unchanged(keyer, true, bg_str_of(path), BG_STR("src"), &d, &same, &err), BG_OK);
    assert_true(same); /* the stamp differs, the content does not */
    sh("echo z >r/src/f1");
    assert_int_equal(bg_key_unchanged(keyer, true, bg_str_of(path), BG_STR("src"), &d, &same, &err), BG_OK);
    assert_false(same);
    bg_keyer_free(keyer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes_same_key),
        cmocka_unit_test(test_traps_agree_with_git),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_sha256_repository),
        cmocka_unit_test(test_environment_is_ignored),
        cmocka_unit_test(test_root_and_commit),
        cmocka_unit_test(test_unchanged),
        cmocka_unit_test(test_random_states),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
