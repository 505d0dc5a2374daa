#include "key/gitpolicy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RULES_BYTES_MAX = 16 << 20,
    WHOLE_BYTES_MAX = 64 << 20, /* larger files are hashed in pieces */
    MODE_DIR = 040000,
    MODE_FILE = 0100644,
    MODE_EXEC = 0100755,
    MODE_LINK = 0120000,
    MODE_REPO = 0160000
};

static bg_git_policy *of(bg_walk_policy *self)
{
    return (bg_git_policy *)(void *)self;
}

static bg_status no_memory(bg_error *err)
{
    return bg_error_set(err, BG_E_NOMEM, "out of memory while a git work tree was keyed");
}

/* Path in the work tree of an entry below the walk's root; NULL when memory is out. */
static const char *path_of(bg_git_policy *p, bg_str rel)
{
    bg_buf_reset(&p->path);
    bg_buf_str(&p->path, p->prefix);
    if (p->prefix.len != 0 && rel.len != 0)
        bg_buf_putc(&p->path, '/');
    bg_buf_str(&p->path, rel);
    return p->path.failed ? NULL : bg_buf_cstr(&p->path);
}

/* Whole text of a rules file; absent (or no regular file, as git has it): empty, and `stamp` has mode 0. */
static bg_status read_rules(const char *path, bg_buf *text, bg_stamp *stamp, bg_error *err)
{
    struct stat st;
    bg_buf_reset(text);
    *stamp = (bg_stamp){0};
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return BG_OK;
    if (fd < 0 && errno == ELOOP) { /* a link: git does not follow it; that it is one must stay so */
        (void)bg_stamp_read(stamp, AT_FDCWD, path);
        return BG_OK;
    }
    if (fd < 0)
        return bg_error_os(err, errno, "can't read %s", path);
    bg_status status = BG_OK;
    if (fstat(fd, &st) != 0)
        status = bg_error_os(err, errno, "can't read %s", path);
    else
        *stamp = bg_stamp_of(&st);
    while (status == BG_OK && S_ISREG(st.st_mode)) {
        char *room = bg_buf_reserve(text, 4096);
        ssize_t n = room == NULL ? 0 : read(fd, room, 4096);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            status = bg_error_os(err, errno, "can't read %s", path);
        else
            text->len += (size_t)n;
        if (n <= 0)
            break;
        if (text->len > RULES_BYTES_MAX)
            status = bg_error_set(err, BG_E_LIMIT, "%s is larger than 16 MiB; is it really a file of rules?", path);
    }
    close(fd);
    return status == BG_OK && text->failed ? no_memory(err) : status;
}

static bool old_has_guard(const bg_manifest *old, const char *path)
{
    for (uint32_t i = 0; old != NULL && i < old->root; i++)
        if (bg_str_is(old->nodes[i].name, path))
            return true;
    return false;
}

/* Push the rules of one directory. `abs_dir` and `dir` (in the work tree) name it. `even_absent`: guard a file that is not
 * there, too (nothing else watches the directory). */
static bg_status push_rules(bg_git_policy *p, const char *abs_dir, bg_str dir, bool even_absent, bg_error *err)
{
    bg_buf path = {0}, text = {0};
    bg_stamp stamp;
    int64_t now_ns = bg_stamp_now_ns();
    bg_buf_printf(&path, "%s/.gitignore", abs_dir);
    bg_status status = path.failed ? no_memory(err) : read_rules(path.data, &text, &stamp, err);
    if (status == BG_OK && (stamp.mode != 0 || even_absent)) {
        bool is_racy = stamp.mode != 0 && bg_stamp_is_racy(&stamp, now_ns);
        bg_git_guard(&p->guards, path.data, &stamp, is_racy ? BG_ENTRY_RACY : 0);
        if (stamp.mode != 0 && p->walk->old != NULL && !old_has_guard(p->walk->old, path.data))
            p->walk->relist = true; /* new rules: what lies below is to be chosen anew */
        if (!bg_git_rules_ignore(&p->ignore, bg_buf_view(&text), dir))
            status = no_memory(err);
    }
    bg_buf_reset(&path);
    bg_buf_printf(&path, "%s/.gitattributes", abs_dir);
    if (status == BG_OK)
        status = path.failed ? no_memory(err) : read_rules(path.data, &text, &stamp, err);
    if (status == BG_OK && !bg_git_rules_attributes(&p->attributes, bg_buf_view(&text), dir))
        status = no_memory(err);
    bg_buf_clear(&path);
    bg_buf_clear(&text);
    return status;
}

static bool frame_is_ignored(const bg_git_policy *p)
{
    return p->frames.n != 0 && p->frames.at[p->frames.n - 1].is_ignored;
}

static bg_status enter(bg_walk_policy *self, const bg_walk_place *dir, bg_error *err)
{
    bg_git_policy *p = of(self);
    bg_git_frame frame = {p->ignore.at.n, p->attributes.at.n, p->is_ignored};
    const char *path = path_of(p, dir->rel);
    if (path == NULL || !BG_VEC_PUSH(&p->frames, frame))
        return no_memory(err);
    bg_buf name = {0};
    bg_buf_puts(&name, path);
    bg_status status = name.failed ? no_memory(err) : push_rules(p, dir->abs, bg_buf_view(&name), false, err);
    bg_buf_clear(&name);
    return status;
}

static void leave(bg_walk_policy *self, const bg_walk_place *dir)
{
    (void)dir;
    bg_git_policy *p = of(self);
    bg_git_frame frame = p->frames.at[--p->frames.n];
    p->ignore.at.n = frame.n_ignore;
    p->attributes.at.n = frame.n_attributes;
}

static bool wants(bg_walk_policy *self, const bg_walk_place *place)
{
    bg_git_policy *p = of(self);
    bool is_dir = S_ISDIR(place->stamp.mode);
    const char *path = path_of(p, place->rel);
    if (bg_str_is(place->name, ".git") || path == NULL)
        return false; /* fold tells when the scratch buffer has failed */
    const bg_git_index *index = &p->context->index;
    bool is_ignored = frame_is_ignored(p) || bg_git_rules_match(&p->ignore, path, is_dir) == 1;
    bg_str view = bg_buf_view(&p->path);
    p->is_ignored = is_ignored;
    if (is_dir && bg_str_is(place->name, ".bgraph"))
        return bg_git_index_has_below(index, view);
    if (!is_ignored)
        return true;
    p->saw_ignored = true;
    return bg_git_index_find(index, view) != NULL || (is_dir && bg_git_index_has_below(index, view));
}

bool bg_git_is_empty_dir(const char *path)
{
    DIR *dir = opendir(path);
    int n = 0;
    while (dir != NULL && n < 3 && readdir(dir) != NULL)
        n++;
    if (dir != NULL)
        closedir(dir);
    return n == 2;
}

/* A repository of its own, or the empty place of a submodule that is not populated. */
static bg_status nested(bg_walk_policy *self, const bg_walk_place *place, bool *is_nested, uint8_t id[32], bg_error *err)
{
    bg_git_policy *p = of(self);
    bg_git_repo repo;
    bg_status status = bg_git_repo_at(&repo, bg_str_of(place->abs), err);
    *is_nested = status == BG_OK;
    if (status == BG_OK) {
        p->saw_nested = true;
        status = p->nested(p->nested_self, &repo, id, err);
        bg_git_repo_clear(&repo);
        return status;
    }
    if (status != BG_E_NOENT)
        return status;
    if (!p->context->index.has_links)
        return BG_OK;
    if (path_of(p, place->rel) == NULL)
        return no_memory(err);
    const bg_git_entry *e = bg_git_index_find(&p->context->index, bg_buf_view(&p->path));
    if (e != NULL && e->mode == MODE_REPO && bg_git_is_empty_dir(place->abs)) {
        memset(id, 0, 32);
        *is_nested = p->saw_nested = true;
    }
    return BG_OK;
}

/* Attributes of the user and the system stand for every file; pushed below all others, once they are needed. */
static bool may_convert(bg_git_policy *p, const char *path)
{
    if (!p->context->has_attributes && bg_git_context_attributes(p->context, NULL) != BG_OK)
        return true;
    if (p->context->settings.converts || p->context->settings.is_sha256)
        return true;
    if (bg_git_rules_match(&p->attributes, path, false) == 1)
        return true;
    bg_git_rules outer = {0};
    bool ok = bg_git_rules_attributes(&outer, bg_buf_view(&p->context->attributes), BG_STR(""));
    bool yes = !ok || bg_git_rules_match(&outer, path, false) == 1;
    bg_git_rules_clear(&outer);
    return yes;
}

static bool known(bg_walk_policy *self, const bg_walk_place *place, uint8_t id[32])
{
    bg_git_policy *p = of(self);
    const char *path = path_of(p, place->rel);
    if (path == NULL)
        return false;
    const bg_git_entry *e = bg_git_index_find(&p->context->index, bg_buf_view(&p->path));
    if (e == NULL || !bg_git_entry_is_clean(&p->context->index, e, &place->stamp) ||
        (S_ISREG(place->stamp.mode) && may_convert(p, path)))
        return false;
    memcpy(id, e->id, 20);
    return true;
}

static bg_status file(bg_walk_policy *self, const bg_walk_place *place, int fd, uint8_t id[32], bg_error *err)
{
    bg_git_policy *p = of(self);
    if (place->stamp.size_bytes > WHOLE_BYTES_MAX)
        return bg_gitlib_hash_file(place->abs, id, err);
    size_t size = (size_t)place->stamp.size_bytes, n = 0;
    if (p->room_size < size + 1) {
        free(p->room);
        p->room_size = size + 4096;
        p->room = malloc(p->room_size);
        if (p->room == NULL) {
            p->room_size = 0;
            return no_memory(err);
        }
    }
    while (n <= size) {
        ssize_t got = read(fd, p->room + n, size + 1 - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return bg_error_os(err, errno, "can't read %s", place->abs);
        if (got == 0)
            break;
        n += (size_t)got;
    }
    if (n != size)
        return bg_error_set(err, BG_E_CHANGED, "%s changed while it was read; run again when nothing writes there", place->abs);
    return bg_gitlib_hash(p->room, n, BG_GIT_BLOB, id, err);
}

static bg_status link_text(bg_walk_policy *self, const bg_walk_place *place, bg_str text, uint8_t id[32], bool *unsure,
                           bg_error *err)
{
    (void)self;
    (void)place;
    (void)unsure;
    return bg_gitlib_hash(text.ptr, text.len, BG_GIT_BLOB, id, err);
}

/* Where the file system has no executable bits or no links, the index tells. */
static void mode(bg_walk_policy *self, const bg_walk_place *place, bg_walk_child *child)
{
    bg_git_policy *p = of(self);
    const bg_git_settings *s = &p->context->settings;
    if (child->kind != BG_ENTRY_FILE || (s->file_mode && s->symlinks) || path_of(p, place->rel) == NULL)
        return;
    const bg_git_entry *e = bg_git_index_find(&p->context->index, bg_buf_view(&p->path));
    if (!s->symlinks && e != NULL && e->mode == MODE_LINK)
        child->git_mode = MODE_LINK;
    else if (!s->file_mode)
        child->git_mode = e != NULL && e->mode == MODE_EXEC ? MODE_EXEC : MODE_FILE;
}

uint32_t bg_git_mode(const bg_walk_child *c)
{
    if (c->git_mode != 0)
        return c->git_mode;
    switch (c->kind) {
    case BG_ENTRY_DIR:
        return MODE_DIR;
    case BG_ENTRY_LINK:
        return MODE_LINK;
    case BG_ENTRY_NESTED:
        return MODE_REPO;
    case BG_ENTRY_FILE:
    case BG_ENTRY_ABSENT:
    case BG_ENTRY_GUARD:
    case BG_ENTRY_KIND_COUNT:
        break;
    }
    return c->is_exec ? MODE_EXEC : MODE_FILE;
}

/* Git sorts a directory as if its name ended in '/'. */
static int by_git_order(const void *a_, const void *b_)
{
    const bg_walk_child *a = a_, *b = b_;
    size_t n = a->name.len < b->name.len ? a->name.len : b->name.len;
    int c = memcmp(a->name.ptr, b->name.ptr, n);
    if (c != 0)
        return c;
    unsigned ca = a->name.len > n ? (unsigned char)a->name.ptr[n] : bg_git_mode(a) == MODE_DIR ? '/' : 0;
    unsigned cb = b->name.len > n ? (unsigned char)b->name.ptr[n] : bg_git_mode(b) == MODE_DIR ? '/' : 0;
    return (ca > cb) - (ca < cb);
}

static bg_status fold(bg_walk_policy *self, bg_walk_child *children, size_t n, uint8_t id[32], bool *is_empty, bg_error *err)
{
    bg_git_policy *p = of(self);
    bg_buf_reset(&p->tree);
    if (n > 1)
        qsort(children, n, sizeof *children, by_git_order);
    for (size_t i = 0; i < n; i++) {
        bg_buf_printf(&p->tree, "%o ", bg_git_mode(&children[i]));
        bg_buf_str(&p->tree, children[i].name);
        bg_buf_putc(&p->tree, '\0');
        bg_buf_put(&p->tree, children[i].id, 20);
    }
    *is_empty = n == 0;
    if (p->tree.failed || p->path.failed)
        return no_memory(err);
    return bg_gitlib_hash(bg_buf_cstr(&p->tree), p->tree.len, BG_GIT_TREE, id, err);
}

/* Entries lo..hi of the index lie below one directory whose path has `skip` bytes with its slash. The children that are there
 * only in the index; each directory among them is folded. `there`: what is on the disk, sorted by name. */
typedef struct {
    bg_git_policy *p;
    const bg_walk_child *there;
    size_t n_there;
    bg_status (*add)(void *to, const bg_walk_child *child);
    void *to;
    bg_error *err;
} absent_walk;

static bool is_there(const absent_walk *a, bg_str name)
{
    size_t lo = 0, hi = a->n_there;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = bg_str_cmp(a->there[mid].name, name);
        if (c == 0)
            return true;
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return false;
}

typedef struct {
    BG_VEC(bg_walk_child) at;
} child_list;

static bg_status collect(void *to, const bg_walk_child *child)
{
    child_list *list = to;
    return BG_VEC_PUSH(&list->at, *child) ? BG_OK : BG_E_NOMEM;
}

static bg_status absent_below(const absent_walk *a, uint32_t lo, uint32_t hi, size_t skip);

/* The directory `name` is not on the disk: the tree of its skipped entries. */
static bg_status absent_dir(const absent_walk *a, bg_str name, uint32_t lo, uint32_t hi, size_t skip)
{
    child_list list = {0};
    absent_walk inner = {.p = a->p, .add = collect, .to = &list, .err = a->err};
    bg_walk_child dir = {.name = name, .kind = BG_ENTRY_ABSENT, .git_mode = MODE_DIR};
    bool is_empty = true;
    bg_status status = absent_below(&inner, lo, hi, skip + name.len + 1);
    if (status == BG_OK)
        status = fold(&a->p->base, list.at.at, list.at.n, dir.id, &is_empty, a->err);
    BG_VEC_CLEAR(&list.at);
    if (status == BG_OK && !is_empty)
        status = a->add(a->to, &dir);
    return status;
}

static bg_status absent_entry(const absent_walk *a, const bg_git_entry *e, bg_str name)
{
    bg_walk_child child = {.name = name, .kind = BG_ENTRY_ABSENT, .git_mode = e->mode};
    memcpy(child.id, e->id, 20);
    a->p->saw_absent = true;
    bg_buf_str(&a->p->absent, e->path);
    bg_buf_putc(&a->p->absent, '\0');
    return a->add(a->to, &child);
}

static bg_status absent_below(const absent_walk *a, uint32_t lo, uint32_t hi, size_t skip)
{
    const bg_git_index *index = &a->p->context->index;
    while (lo < hi) {
        const bg_git_entry *e = &index->at[lo];
        bg_str rest = {e->path.ptr + skip, e->path.len - skip};
        const char *slash = rest.len == 0 ? NULL : memchr(rest.ptr, '/', rest.len);
        size_t n = slash == NULL ? rest.len : (size_t)(slash - rest.ptr);
        bg_str name = {rest.ptr, n};
        uint32_t next = lo + 1;
        bool is_dir = slash != NULL && n + 1 != rest.len; /* a sparse directory is one entry that ends in '/' */
        while (is_dir && next < hi && bg_str_starts(index->at[next].path, (bg_str){e->path.ptr, skip + n + 1}))
            next++;
        if (!is_there(a, name)) {
            if (is_dir)
                BG_TRY(absent_dir(a, name, lo, next, skip));
            else if (e->is_skipped)
                BG_TRY(absent_entry(a, e, name));
        } else if (slash != NULL && !is_dir) {
            return bg_error_set(a->err, BG_E_VERSION, "%s is on the disk, but the sparse index does not list what is in it; "
                                                      "`git sparse-checkout reapply` or `git status` sets that right", e->path.ptr);
        }
        lo = next;
    }
    return BG_OK;
}

static bg_status absent(bg_walk_policy *self, const bg_walk_place *dir, const bg_walk_child *there, size_t n,
                        bg_status (*add)(void *to, const bg_walk_child *child), void *to, bg_error *err)
{
    bg_git_policy *p = of(self);
    const bg_git_index *index = &p->context->index;
    if (!index->has_skipped)
        return BG_OK;
    if (path_of(p, dir->rel) == NULL)
        return no_memory(err);
    size_t skip = 0;
    uint32_t lo = 0, hi = index->n;
    if (p->path.len != 0) {
        bg_buf_putc(&p->path, '/');
        if (p->path.failed)
            return no_memory(err);
        skip = p->path.len;
        lo = bg_git_index_from(index, bg_buf_view(&p->path));
        p->path.data[skip - 1] = '/' + 1; /* the first path that is no longer below */
        hi = bg_git_index_from(index, bg_buf_view(&p->path));
    }
    absent_walk a = {p, there, n, add, to, err};
    return absent_below(&a, lo, hi, skip);
}

/* Rules of every directory from the top down to the one above the root, and whether one of them is ignored. */
static bg_status push_above(bg_git_policy *p, bool is_dir, bg_error *err)
{
    const char *top = p->context->repo.top.data;
    bg_buf abs = {0};
    bg_status status = BG_OK;
    bg_buf_puts(&abs, strcmp(top, "/") == 0 ? "" : top);
    for (size_t at = 0; status == BG_OK && at < p->prefix.len;) {
        bg_str dir = {p->prefix.ptr, at == 0 ? 0 : at - 1};
        status = abs.failed ? no_memory(err) : push_rules(p, bg_buf_cstr(&abs), dir, true, err);
        const char *slash = memchr(p->prefix.ptr + at, '/', p->prefix.len - at);
        size_t end = slash == NULL ? p->prefix.len : (size_t)(slash - p->prefix.ptr);
        bg_buf_reset(&p->path);
        bg_buf_put(&p->path, p->prefix.ptr, end);
        bg_buf_putc(&abs, '/');
        bg_buf_put(&abs, p->prefix.ptr + at, end - at);
        if (status == BG_OK && p->path.failed)
            status = no_memory(err);
        if (status == BG_OK && bg_git_rules_match(&p->ignore, p->path.data, slash != NULL || is_dir) == 1)
            p->is_ignored = true;
        at = end + 1;
    }
    bg_buf_clear(&abs);
    return status;
}

bg_status bg_git_policy_init(bg_git_policy *p, bg_git_context *context, bg_str prefix, bool is_dir, bg_walk *walk, bg_error *err)
{
    *p = (bg_git_policy){
        .base = {.enter = enter, .leave = leave, .wants = wants, .nested = nested, .known = known, .file = file,
                 .link = link_text, .mode = mode, .absent = absent, .fold = fold},
        .walk = walk,
        .context = context,
        .prefix = prefix,
    };
    bg_manifest_begin(&p->guards);
    bg_buf text = {0};
    bg_stamp stamp;
    bg_status status = read_rules(context->info_attributes_path.data, &text, &stamp, err);
    if (status == BG_OK && !bg_git_rules_attributes(&p->attributes, bg_buf_view(&text), BG_STR("")))
        status = no_memory(err);
    bg_buf_clear(&text);
    if (status == BG_OK)
        status = push_above(p, is_dir, err);
    if (status == BG_OK && p->is_ignored) {
        p->saw_ignored = true;
        if (bg_git_index_find(&context->index, prefix) == NULL && !(is_dir && bg_git_index_has_below(&context->index, prefix)))
            status = bg_error_set(err, BG_E_USAGE, "%.*s in %s is ignored by git (.gitignore) and not tracked, so git can't key it. "
                                                   "Declare it as a source with `dir =`.", BG_FMT(prefix), context->repo.top.data);
    }
    return status;
}

void bg_git_policy_clear(bg_git_policy *p)
{
    bg_git_rules_clear(&p->ignore);
    bg_git_rules_clear(&p->attributes);
    BG_VEC_CLEAR(&p->frames);
    bg_buf_clear(&p->path);
    bg_buf_clear(&p->guards);
    bg_buf_clear(&p->absent);
    bg_buf_clear(&p->tree);
    free(p->room);
    p->room = NULL;
}
