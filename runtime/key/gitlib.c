#include "key/gitlib.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <git2.h>

#include "base/digest.h"
#include "key/real.h"

/* name in libgit2 -> member of the table */
#define FUNCTIONS(F)                                                                                                   \
    F(git_libgit2_init, init)                                                                                          \
    F(git_libgit2_opts, opts)                                                                                          \
    F(git_libgit2_version, version)                                                                                    \
    F(git_error_last, error_last)                                                                                      \
    F(git_odb_hash, hash)                                                                                              \
    F(git_odb_hashfile, hash_file)                                                                                     \
    F(git_repository_open_ext, repo_open)                                                                              \
    F(git_repository_free, repo_free)                                                                                  \
    F(git_repository_workdir, repo_workdir)                                                                            \
    F(git_repository_config_snapshot, repo_config)                                                                     \
    F(git_config_open_ondisk, config_open)                                                                             \
    F(git_config_snapshot, config_snapshot)                                                                            \
    F(git_config_free, config_free)                                                                                    \
    F(git_config_get_string, config_string)                                                                            \
    F(git_config_get_bool, config_bool)                                                                                \
    F(git_config_get_path, config_path)                                                                                \
    F(git_reference_name_to_id, ref_id)                                                                                \
    F(git_oid_tostr, oid_str)                                                                                          \
    F(git_buf_dispose, buf_dispose)

static struct {
#define F(name, member) __typeof__(&name) member;
    FUNCTIONS(F)
#undef F
    bool is_ready;
} git;
static bg_error git_error_;
static pthread_once_t git_once = PTHREAD_ONCE_INIT;

static void load(void)
{
    static const char *const sonames[] = {"libgit2.so.1.5", "libgit2.so.1.6", "libgit2.so.1.7", "libgit2.so.1.8",
                                          "libgit2.so.1.9", "libgit2.so.1.4", "libgit2.so",     NULL};
#define F(name, member) #name,
    static const char *const names[] = {FUNCTIONS(F)};
#undef F
    void (*slots[sizeof names / sizeof *names])(void);
    if (bg_dynlib_load(sonames, names, slots, sizeof names / sizeof *names, &git_error_) != BG_OK)
        return;
    size_t i = 0;
#define F(name, member) git.member = (__typeof__(&name))slots[i++];
    FUNCTIONS(F)
#undef F
    if (git.init() < 0) {
        bg_error_set(&git_error_, BG_E_LIBRARY, "libgit2 can't be started; is its installation whole?");
        return;
    }
    /* A key runs nothing that a repository asks for and writes nothing, so whose it is does not matter. */
    git.opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
    static const char *harmless[] = {"worktreeconfig", "partialclone", "relativeworktrees", "preciousobjects"};
    git.opts(GIT_OPT_SET_EXTENSIONS, harmless, sizeof harmless / sizeof *harmless);
    git.is_ready = true;
}

static bg_status ready(bg_error *err)
{
    pthread_once(&git_once, load);
    if (git.is_ready)
        return BG_OK;
    if (err != NULL)
        *err = git_error_;
    return BG_E_LIBRARY;
}

static const char *last_text(void)
{
    const git_error *e = git.error_last();
    return e == NULL || e->message == NULL ? "it does not say why" : e->message;
}

bg_status bg_gitlib_hash(const void *bytes, size_t n, bg_git_type type, uint8_t id[20], bg_error *err)
{
    git_oid oid;
    BG_TRY(ready(err));
    if (git.hash(&oid, n == 0 ? "" : bytes, n, type == BG_GIT_TREE ? GIT_OBJECT_TREE : GIT_OBJECT_BLOB) != 0)
        return bg_error_set(err, BG_E_LIBRARY, "libgit2 can't hash: %s", last_text());
    memcpy(id, oid.id, 20);
    return BG_OK;
}

bg_status bg_gitlib_hash_file(const char *path, uint8_t id[20], bg_error *err)
{
    git_oid oid;
    BG_TRY(ready(err));
    if (git.hash_file(&oid, path, GIT_OBJECT_BLOB) != 0)
        return bg_error_set(err, BG_E_IO, "can't read %s: %s", path, last_text());
    memcpy(id, oid.id, 20);
    return BG_OK;
}

/* Some versions leave out the trailing slash, some paths have links in them. */
static bool is_same_dir(const char *a, const char *b)
{
    bg_buf ra = {0}, rb = {0};
    bool same = bg_real_path(&ra, a, NULL) == BG_OK && bg_real_path(&rb, b, NULL) == BG_OK &&
                strcmp(bg_buf_cstr(&ra), bg_buf_cstr(&rb)) == 0;
    bg_buf_clear(&ra);
    bg_buf_clear(&rb);
    return same;
}

/* The repository's whole configuration; of one that libgit2 does not open (sha256, reftable) its own file alone. */
static bg_status open_config(git_config **config, const char *top, const char *common_dir, bg_error *err)
{
    git_repository *repo = NULL;
    if (git.repo_open(&repo, top, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL) == 0) {
        const char *work = git.repo_workdir(repo);
        bg_status status = BG_OK;
        if (work == NULL)
            status = bg_error_set(err, BG_E_USAGE, "the git repository in %s is bare: it has no work tree to take sources from; "
                                                   "use a clone of it, or `dir =`", top);
        else if (!is_same_dir(work, top))
            status = bg_error_set(err, BG_E_USAGE, "the git repository in %s has its work tree in %s (core.worktree); name that "
                                                   "directory as the source, or use `dir =`", top, work);
        else if (git.repo_config(config, repo) != 0)
            status = bg_error_set(err, BG_E_CORRUPT, "can't read the git configuration of %s: %s", top, last_text());
        git.repo_free(repo);
        return status;
    }
    bg_buf path = {0};
    git_config *live = NULL;
    bg_status status = BG_OK;
    char why[300];
    strncpy(why, last_text(), sizeof why - 1);
    why[sizeof why - 1] = '\0';
    bg_buf_printf(&path, "%s/config", common_dir);
    if (path.failed || git.config_open(&live, path.data) != 0 || git.config_snapshot(config, live) != 0)
        status = bg_error_set(err, BG_E_CORRUPT, "can't open the git repository in %s: %s", top, why);
    if (live != NULL)
        git.config_free(live);
    bg_buf_clear(&path);
    return status;
}

static bool config_bool(git_config *config, const char *name, bool otherwise)
{
    int value;
    return git.config_bool(&value, config, name) == 0 ? value != 0 : otherwise;
}

static void append_file(bg_buf *out, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char room[4096];
    ssize_t n;
    if (fd < 0)
        return; /* usually there is none */
    while ((n = read(fd, room, sizeof room)) > 0)
        bg_buf_put(out, room, (size_t)n);
    bg_buf_putc(out, '\n');
    close(fd);
}

/* `name` in the directories that libgit2 searches at this level. */
static void append_from_level(bg_buf *out, git_config_level_t level, const char *name)
{
    git_buf dirs = {0};
    if (git.opts(GIT_OPT_GET_SEARCH_PATH, level, &dirs) != 0 || dirs.ptr == NULL)
        return;
    for (const char *p = dirs.ptr; *p != '\0';) {
        size_t n = strcspn(p, ":");
        bg_buf path = {0};
        bg_buf_printf(&path, "%.*s/%s", (int)n, p, name);
        if (n != 0 && !path.failed)
            append_file(out, path.data);
        bg_buf_clear(&path);
        p += n + (p[n] == ':');
    }
    git.buf_dispose(&dirs);
}

static void outer_attributes(git_config *config, bg_buf *out)
{
    git_buf path = {0};
    append_from_level(out, GIT_CONFIG_LEVEL_SYSTEM, "gitattributes");
    if (git.config_path(&path, config, "core.attributesfile") == 0 && path.ptr != NULL)
        append_file(out, path.ptr);
    else
        append_from_level(out, GIT_CONFIG_LEVEL_XDG, "attributes");
    git.buf_dispose(&path);
}

bg_status bg_gitlib_settings(const char *top, const char *common_dir, bg_git_settings *out, bg_buf *attributes,
                             bg_error *err)
{
    git_config *config = NULL;
    BG_TRY(ready(err));
    bg_status status = open_config(&config, top, common_dir, err);
    if (status == BG_OK) {
        const char *text = NULL;
        *out = (bg_git_settings){
            .file_mode = config_bool(config, "core.filemode", true),
            .symlinks = config_bool(config, "core.symlinks", true),
            .converts = config_bool(config, "core.autocrlf", true), /* "input" is no bool, but converts */
        };
        if (git.config_string(&text, config, "core.autocrlf") != 0)
            out->converts = false; /* not set */
        if (git.config_string(&text, config, "extensions.objectformat") == 0)
            out->is_sha256 = strcmp(text, "sha256") == 0;
        outer_attributes(config, attributes);
        if (attributes->failed)
            status = bg_error_set(err, BG_E_NOMEM, "out of memory while the git configuration of %s was read", top);
    }
    if (config != NULL)
        git.config_free(config);
    return status;
}

bg_status bg_gitlib_commit(const char *top, char hex[41], bg_error *err)
{
    git_repository *repo = NULL;
    git_oid oid;
    hex[0] = '\0';
    BG_TRY(ready(err));
    int rc = git.repo_open(&repo, top, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);
    if (rc == 0)
        rc = git.ref_id(&oid, repo, "HEAD");
    bg_status status = BG_OK;
    if (rc == 0)
        git.oid_str(hex, 41, &oid);
    else if (repo == NULL || rc != GIT_ENOTFOUND) /* unborn and dangling are no error: the key does not need a commit */
        status = bg_error_set(err, BG_E_CORRUPT, "can't tell the commit of %s: %s", top, last_text());
    if (repo != NULL)
        git.repo_free(repo);
    return status;
}
