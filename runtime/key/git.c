/* Keys from git: SHA-256 over the virtual tree id of a path in its work tree, and what of it is not checked out. */
#include "key/gitpolicy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "key/keyer.h"
#include "key/real.h"

enum { ATTEMPTS_MAX = 6, PAUSE_NS = 20000000 };

static bg_status no_memory(bg_error *err)
{
    return bg_error_set(err, BG_E_NOMEM, "out of memory while a git work tree was keyed");
}

/* One path to key: where it really lies, in which repository, and its path there. */
typedef struct {
    bg_keyer *keyer;
    bg_git_repo repo;
    bg_buf abs;  /* the path itself */
    bg_buf name; /* key of its manifest in the state */
    bg_stamp stamp;
    bg_str prefix; /* into abs */
} target;

static void target_clear(target *t)
{
    bg_git_repo_clear(&t->repo);
    bg_buf_clear(&t->abs);
    bg_buf_clear(&t->name);
}

/* Append `rel` to t->abs, a component at a time: none may be a link but the last. */
static bg_status descend(target *t, bg_str rel, bg_error *err)
{
    if (rel.len != 0 && (rel.ptr[0] == '/' || memchr(rel.ptr, '\0', rel.len) != NULL))
        return bg_error_set(err, BG_E_USAGE, "\"%.*s\" must be a path below its source's directory", BG_FMT(rel));
    for (size_t at = 0; at < rel.len;) {
        const char *slash = memchr(rel.ptr + at, '/', rel.len - at);
        size_t n = slash == NULL ? rel.len - at : (size_t)(slash - rel.ptr) - at;
        bg_str part = {rel.ptr + at, n};
        at += n + 1;
        if (n == 0 || bg_str_is(part, "."))
            continue;
        if (bg_str_is(part, "..") || bg_str_is(part, ".git"))
            return bg_error_set(err, BG_E_USAGE, "\"%.*s\" can't be a part of a source's path", BG_FMT(part));
        if (S_ISLNK(t->stamp.mode))
            return bg_error_set(err, BG_E_USAGE, "%s is a symbolic link, and git does not look behind it; name the directory that it "
                                                 "leads to", t->abs.data);
        if (bg_buf_view(&t->abs).len != 1)
            bg_buf_putc(&t->abs, '/');
        bg_buf_str(&t->abs, part);
        if (t->abs.failed)
            return no_memory(err);
        int rc = bg_stamp_read(&t->stamp, AT_FDCWD, t->abs.data);
        if (rc == ENOENT || rc == ENOTDIR)
            return bg_error_set(err, BG_E_NOENT, "%s is not there; make it, or correct the source's paths", t->abs.data);
        if (rc != 0)
            return bg_error_os(err, rc, "can't look at %s", t->abs.data);
    }
    return BG_OK;
}

static bool may_be_input(uint32_t mode)
{
    return S_ISDIR(mode) || S_ISREG(mode) || S_ISLNK(mode);
}

static bg_status name_target(target *t, bg_error *err)
{
    size_t n = t->repo.top.len;
    bg_str abs = bg_buf_view(&t->abs);
    if (abs.len > n && n > 1)
        n++;
    t->prefix = (bg_str){abs.ptr + n, abs.len - n};
    bg_buf_printf(&t->name, "git %s%c%.*s", t->repo.top.data, 0, BG_FMT(t->prefix));
    return t->name.failed ? no_memory(err) : BG_OK;
}

static bg_status find_target(target *t, const char *abs_dir, bg_str rel, bg_error *err)
{
    BG_TRY(bg_real_path(&t->abs, abs_dir, err));
    int rc = bg_stamp_read(&t->stamp, AT_FDCWD, t->abs.data);
    if (rc != 0)
        return bg_error_os(err, rc, "can't look at %s", t->abs.data);
    BG_TRY(descend(t, rel, err));
    if (!may_be_input(t->stamp.mode))
        return bg_error_set(err, BG_E_USAGE, "%s is neither a file, a directory nor a link; only those can be inputs",
                            t->abs.data);
    bg_str dir = bg_buf_view(&t->abs);
    while (!S_ISDIR(t->stamp.mode) && dir.len > 1 && dir.ptr[dir.len - 1] != '/')
        dir.len--;
    if (!S_ISDIR(t->stamp.mode) && dir.len > 1)
        dir.len--;
    BG_TRY(bg_git_repo_find(&t->repo, dir, err));
    return name_target(t, err);
}

static bg_status key_target(target *t, bg_digest *out, bg_error *err);

/* A repository inside of another: its top's key stands for it. */
static bg_status key_nested(void *self, const bg_git_repo *repo, uint8_t id[32], bg_error *err)
{
    target t = {.keyer = self};
    bg_digest d;
    bg_buf_str(&t.repo.top, bg_buf_view(&repo->top));
    bg_buf_str(&t.repo.dir, bg_buf_view(&repo->dir));
    bg_buf_str(&t.repo.common, bg_buf_view(&repo->common));
    bg_buf_str(&t.abs, bg_buf_view(&repo->top));
    bg_status status = BG_OK;
    if (t.repo.top.failed || t.repo.dir.failed || t.repo.common.failed || t.abs.failed)
        status = no_memory(err);
    int rc = status == BG_OK ? bg_stamp_read(&t.stamp, AT_FDCWD, t.abs.data) : 0;
    if (rc != 0)
        status = bg_error_os(err, rc, "can't look at %s", t.abs.data);
    if (status == BG_OK)
        status = name_target(&t, err);
    if (status == BG_OK)
        status = key_target(&t, &d, err);
    if (status == BG_OK)
        memcpy(id, d.b, sizeof d.b);
    target_clear(&t);
    return status;
}

/* For bg_manifest_holds: what stands for a nested repository now. */
static bool nested_now(void *self, const char *abs_path, uint8_t id[32])
{
    bg_git_repo repo;
    bg_status status = bg_git_repo_at(&repo, bg_str_of(abs_path), NULL);
    if (status == BG_E_NOENT) { /* a submodule that is not populated, if it still is empty */
        bg_stamp stamp;
        memset(id, 0, 32);
        return bg_stamp_read(&stamp, AT_FDCWD, abs_path) == 0 && S_ISDIR(stamp.mode) && bg_git_is_empty_dir(abs_path);
    }
    if (status != BG_OK)
        return false;
    status = key_nested(self, &repo, id, NULL);
    bg_git_repo_clear(&repo);
    return status == BG_OK;
}

/* Do all files of rules, the settings and the index look as they did? */
static bool rules_hold(const bg_manifest *old)
{
    for (uint32_t i = 0; i < old->root; i++) {
        const bg_entry *e = &old->nodes[i].e;
        char path[4097];
        if (old->nodes[i].name.len == 0 || old->nodes[i].name.ptr[0] != '/')
            continue; /* a note */
        if (old->nodes[i].name.len >= sizeof path || (e->flags & BG_ENTRY_RACY) != 0)
            return false;
        memcpy(path, old->nodes[i].name.ptr, old->nodes[i].name.len);
        path[old->nodes[i].name.len] = '\0';
        bg_stamp now;
        int rc = bg_stamp_read(&now, AT_FDCWD, path);
        if (e->stamp.mode == 0 ? rc == 0 : rc != 0 || !bg_stamp_eq(&now, &e->stamp))
            return false;
    }
    return true;
}

/* Did something that a listing showed depend on the index? Directories that are not listed again don't show it again. */
static bool index_mattered(const bg_manifest *old, const bg_git_context *c)
{
    for (uint32_t i = 0; i < old->root; i++)
        if (bg_str_is(old->nodes[i].name, c->index_path.data))
            return (old->nodes[i].e.flags & BG_ENTRY_WEAK) == 0;
    return true;
}

static bg_status digest_of(const bg_walk_child *root, const bg_buf *absent, bg_digest *out, bg_error *err)
{
    bg_buf buf = {0};
    bg_buf_puts(&buf, "bgraph git 1\n");
    bg_buf_u32(&buf, bg_git_mode(root));
    bg_buf_put(&buf, root->id, 20);
    bg_buf_str(&buf, bg_buf_view(absent));
    bg_status status = buf.failed || absent->failed ? no_memory(err) : bg_sha256_of(buf.data, buf.len, out, err);
    bg_buf_clear(&buf);
    return status;
}

/* Settings, the index (only a note where it could not have changed the outcome), rules, then the tree. */
static bg_status assemble(const bg_git_policy *p, bg_buf *tree, bg_buf *out, const bg_digest *digest, bg_error *err)
{
    const bg_git_context *c = p->context;
    bool index_matters = p->saw_ignored || p->saw_absent || p->saw_nested || !c->settings.file_mode || !c->settings.symlinks;
    bg_manifest_begin(out);
    bg_git_context_note(c, out);
    bg_git_guard(out, c->index_path.data, &c->index_stamp, index_matters ? 0 : BG_ENTRY_WEAK);
    bg_manifest_join(out, &p->guards);
    bg_manifest_join(out, tree);
    bg_manifest_finish(out, digest);
    return out->failed ? no_memory(err) : BG_OK;
}

static bool is_locked(const bg_git_context *c)
{
    bg_stamp stamp;
    return bg_stamp_read(&stamp, AT_FDCWD, c->lock_path.data) == 0;
}

static bool index_is(const bg_git_context *c)
{
    bg_stamp now;
    if (bg_stamp_read(&now, AT_FDCWD, c->index_path.data) != 0)
        return c->index_stamp.mode == 0;
    return bg_stamp_eq(&now, &c->index_stamp);
}

static void pause_a_moment(void)
{
    struct timespec t = {0, PAUSE_NS};
    nanosleep(&t, NULL);
}

/* One walk. BG_E_CHANGED: git or somebody else was writing. */
static bg_status attempt(target *t, bg_git_context *c, const bg_manifest *old, bg_buf *manifest, bg_digest *out, bg_error *err)
{
    bg_git_policy policy;
    bg_buf tree = {0};
    bg_walk walk = {.policy = &policy.base, .root = t->abs.data, .old = old, .manifest = &tree};
    bool was_locked = is_locked(c);
    BG_TRY(bg_git_context_refresh(c, err));
    walk.relist = old != NULL && !rules_hold(old);
    walk.always_fold = c->index.has_skipped || !c->settings.file_mode || !c->settings.symlinks;
    bg_manifest_begin(&tree);
    bg_status status = bg_git_policy_init(&policy, c, t->prefix, S_ISDIR(t->stamp.mode), &walk, err);
    policy.nested = key_nested;
    policy.nested_self = t->keyer;
    if (old != NULL && !walk.relist && index_mattered(old, c))
        policy.saw_ignored = true;
    if (status == BG_OK)
        status = bg_walk_run(&walk, err);
    if (status == BG_OK)
        status = digest_of(&walk.root_child, &policy.absent, out, err);
    if (status == BG_OK)
        status = assemble(&policy, &tree, manifest, out, err);
    if (status == BG_OK && !index_is(c))
        status = bg_error_set(err, BG_E_CHANGED, "git changed %s while %s was read; run again when it is done", c->index_path.data,
                              t->abs.data);
    if (status == BG_OK && (was_locked || is_locked(c))) { /* a stale lock must not stop anything: nothing may move for a moment */
        bg_digest again;
        pause_a_moment();
        if (!bg_manifest_holds(bg_buf_view(manifest), t->abs.data, true, nested_now, t->keyer, &again) || !index_is(c))
            status = bg_error_set(err, BG_E_CHANGED, "git is working in %s (there is %s); run again when it is done",
                                  t->repo.top.data, c->lock_path.data);
    }
    bg_git_policy_clear(&policy);
    bg_buf_clear(&tree);
    return status;
}

static bg_status walk_target(target *t, const bg_manifest *old, bg_digest *out, bg_error *err)
{
    bg_git_repo copy = {0};
    bg_buf_str(&copy.top, bg_buf_view(&t->repo.top));
    bg_buf_str(&copy.dir, bg_buf_view(&t->repo.dir));
    bg_buf_str(&copy.common, bg_buf_view(&t->repo.common));
    if (copy.top.failed || copy.dir.failed || copy.common.failed) {
        bg_git_repo_clear(&copy);
        return no_memory(err);
    }
    bg_git_context *c = bg_git_context_of(&t->keyer->git, &copy);
    if (c == NULL)
        return no_memory(err);
    if (c->is_busy)
        return bg_error_set(err, BG_E_USAGE, "the git repository %s holds itself as a nested repository; correct the .git files in "
                                             "it", t->repo.top.data);
    if (old != NULL)
        bg_git_context_recall(c, old);
    bg_buf manifest = {0};
    bg_status status = BG_E_CHANGED;
    c->is_busy = true;
    for (int i = 0; i < ATTEMPTS_MAX && status == BG_E_CHANGED; i++) {
        if (i != 0)
            pause_a_moment();
        status = attempt(t, c, old, &manifest, out, err);
    }
    c->is_busy = false;
    if (status == BG_OK)
        status = bg_keyer_remember(t->keyer, bg_buf_view(&t->name), &manifest, err);
    bg_buf_clear(&manifest);
    return status;
}

static bg_status key_target(target *t, bg_digest *out, bg_error *err)
{
    bg_buf copy = {0};
    bg_manifest old = {0};
    bg_status status = bg_keyer_manifest(t->keyer, bg_buf_view(&t->name), &copy, err);
    if (status == BG_OK &&
        (copy.len == 0 || !bg_manifest_holds(bg_buf_view(&copy), t->abs.data, false, nested_now, t->keyer, out))) {
        bool has_old = copy.len != 0 && bg_manifest_load(&old, bg_buf_view(&copy));
        status = walk_target(t, has_old ? &old : NULL, out, err);
    }
    bg_manifest_clear(&old);
    bg_buf_clear(&copy);
    return status;
}

static bg_status digest_real(target *t, const char *real, bg_digest *out, bg_error *err)
{
    size_t n = t->repo.top.len;
    if (strncmp(real, t->repo.top.data, n) != 0 || real[n] != '/')
        return bg_tree_digest(t->keyer, real, out, err);
    return bg_git_digest(t->keyer, t->repo.top.data, bg_str_of(real + n + 1), out, err);
}

/* Whoever is given a link reads what is behind it: a path which is itself a link is both. One that leads nowhere is its text. */
static bg_status add_behind(target *t, bg_digest *io, bg_error *err)
{
    bg_buf real = {0};
    bg_digest both[2] = {*io};
    bg_status status = bg_real_path(&real, t->abs.data, err);
    if (status == BG_OK) {
        status = digest_real(t, real.data, &both[1], err);
        if (status == BG_OK)
            status = bg_sha256_of(both, sizeof both, io, err);
    } else if (status == BG_E_NOENT) {
        status = BG_OK;
    }
    bg_buf_clear(&real);
    return status;
}

bg_status bg_git_digest(bg_keyer *keyer, const char *abs_dir, bg_str rel, bg_digest *out, bg_error *err)
{
    target t = {.keyer = keyer};
    bg_status status = find_target(&t, abs_dir, rel, err);
    if (status == BG_OK)
        status = key_target(&t, out, err);
    if (status == BG_OK && S_ISLNK(t.stamp.mode))
        status = add_behind(&t, out, err);
    target_clear(&t);
    return status;
}

static bg_status find_repo(bg_git_repo *repo, bg_str abs_dir, bg_error *err)
{
    bg_buf path = {0}, real = {0};
    bg_buf_str(&path, abs_dir);
    bg_status status = path.failed ? no_memory(err) : bg_real_path(&real, bg_buf_cstr(&path), err);
    if (status == BG_OK)
        status = bg_git_repo_find(repo, bg_buf_view(&real), err);
    bg_buf_clear(&path);
    bg_buf_clear(&real);
    return status;
}

bg_status bg_key_git_root(bg_keyer *keyer, bg_str abs_dir, bg_arena *arena, bg_str *root, bg_error *err)
{
    (void)keyer;
    bg_git_repo repo = {0};
    BG_TRY(find_repo(&repo, abs_dir, err));
    *root = (bg_str){bg_arena_strdup(arena, repo.top.data, repo.top.len), repo.top.len};
    bg_git_repo_clear(&repo);
    return root->ptr == NULL ? no_memory(err) : BG_OK;
}

bg_status bg_key_git_commit(bg_keyer *keyer, bg_str abs_dir, bg_arena *arena, bg_str *commit, bg_error *err)
{
    (void)keyer;
    bg_git_repo repo = {0};
    char hex[41];
    BG_TRY(find_repo(&repo, abs_dir, err));
    bg_status status = bg_gitlib_commit(repo.top.data, hex, err);
    bg_git_repo_clear(&repo);
    BG_TRY(status);
    *commit = (bg_str){bg_arena_strdup(arena, hex, strlen(hex)), strlen(hex)};
    return commit->ptr == NULL ? no_memory(err) : BG_OK;
}
