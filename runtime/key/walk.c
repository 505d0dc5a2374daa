#include "key/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"

typedef BG_VEC(bg_walk_child) child_vec;
typedef BG_VEC(bg_str) name_vec;

/* A walk under way. `path` holds the absolute path of the entry at hand; `prefix` of it is the root and its slash. */
typedef struct {
    bg_walk *w;
    bg_buf path;
    size_t prefix;
} walker;

static bg_status no_memory(bg_error *err)
{
    return bg_error_set(err, BG_E_NOMEM, "out of memory while a tree was walked");
}

static bg_status changed(bg_error *err, const char *path)
{
    return bg_error_set(err, BG_E_CHANGED, "%s changed while it was read; run again when nothing writes there", path);
}

static bg_walk_place place_at(const walker *k, bg_str name, const bg_stamp *stamp)
{
    const char *abs = bg_buf_cstr(&k->path);
    bool is_root = k->path.len < k->prefix;
    bg_str rel = {abs + (is_root ? k->path.len : k->prefix), is_root ? 0 : k->path.len - k->prefix};
    return (bg_walk_place){rel, abs, name, *stamp};
}

static int by_name(const void *a, const void *b)
{
    return bg_str_cmp(*(const bg_str *)a, *(const bg_str *)b);
}

static bg_status read_names(const char *path, bg_arena *arena, name_vec *names, bg_error *err)
{
    DIR *dir = opendir(path);
    if (dir == NULL)
        return bg_error_os(err, errno, "can't list the directory %s", path);
    bg_status status = BG_OK;
    for (;;) {
        errno = 0;
        const struct dirent *d = readdir(dir);
        if (d == NULL)
            break;
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        size_t n = strlen(d->d_name);
        bg_str name = {bg_arena_strdup(arena, d->d_name, n), n};
        if (name.ptr == NULL || !BG_VEC_PUSH(names, name)) {
            status = no_memory(err);
            break;
        }
    }
    if (status == BG_OK && errno != 0)
        status = bg_error_os(err, errno, "can't list the directory %s", path);
    closedir(dir);
    if (names->n > 1)
        qsort(names->at, names->n, sizeof *names->at, by_name);
    return status;
}

static const bg_manifest_node *node_at(const bg_manifest *m, uint32_t i)
{
    return m == NULL || i == UINT32_MAX ? NULL : &m->nodes[i];
}

/* Old child of that name; `*cursor` runs along the children, which are sorted as the names are. */
static uint32_t old_child(const bg_manifest *m, uint32_t parent, uint32_t *cursor, bg_str name)
{
    if (parent == UINT32_MAX)
        return UINT32_MAX;
    while (*cursor < m->nodes[parent].next) {
        int c = bg_str_cmp(m->nodes[*cursor].name, name);
        if (c == 0)
            return *cursor;
        if (c > 0)
            break;
        *cursor = m->nodes[*cursor].next;
    }
    return UINT32_MAX;
}

static bool is_same(const bg_manifest_node *old, const bg_stamp *stamp, bg_entry_kind kind)
{
    return old != NULL && old->e.kind == kind && (old->e.flags & BG_ENTRY_RACY) == 0 && bg_stamp_eq(&old->e.stamp, stamp);
}

static bg_status read_file(walker *k, const bg_walk_place *place, uint8_t id[32], bg_error *err)
{
    int fd = open(place->abs, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 && (errno == ENOENT || errno == ELOOP || errno == ENOTDIR))
        return changed(err, place->abs);
    if (fd < 0)
        return bg_error_os(err, errno, "can't read %s", place->abs);
    struct stat st;
    bg_status status = BG_OK;
    for (int i = 0; i < 2 && status == BG_OK; i++) {
        if (fstat(fd, &st) != 0)
            status = bg_error_os(err, errno, "can't read %s", place->abs);
        bg_stamp now = bg_stamp_of(&st);
        if (status == BG_OK && !bg_stamp_eq(&now, &place->stamp))
            status = changed(err, place->abs);
        if (status == BG_OK && i == 0)
            status = k->w->policy->file(k->w->policy, place, fd, id, err);
    }
    close(fd);
    return status;
}

static bg_status read_link(walker *k, const bg_walk_place *place, uint8_t id[32], bool *unsure, bg_error *err)
{
    size_t room = place->stamp.size_bytes + 1;
    if (place->stamp.size_bytes == 0 || place->stamp.size_bytes > 65536)
        room = 65537; /* some file systems say 0 */
    char *text = malloc(room);
    if (text == NULL)
        return no_memory(err);
    ssize_t n = readlink(place->abs, text, room);
    bg_status status;
    if (n < 0 && (errno == EINVAL || errno == ENOENT))
        status = changed(err, place->abs);
    else if (n < 0)
        status = bg_error_os(err, errno, "can't read the link %s", place->abs);
    else if ((size_t)n == room)
        status = changed(err, place->abs);
    else
        status = k->w->policy->link(k->w->policy, place, (bg_str){text, (size_t)n}, id, unsure, err);
    free(text);
    return status;
}

/* Id of a file or a link: remembered, known, or read. */
static bg_status leaf_id(walker *k, const bg_walk_place *place, const bg_manifest_node *old, bg_entry *e, bg_error *err)
{
    if (is_same(old, &place->stamp, (bg_entry_kind)e->kind)) {
        memcpy(e->id, old->e.id, sizeof e->id);
        return BG_OK;
    }
    bg_walk_policy *p = k->w->policy;
    if (p->known != NULL && p->known(p, place, e->id))
        return BG_OK;
    int64_t now_ns = bg_stamp_now_ns();
    if (bg_stamp_is_racy(&place->stamp, now_ns))
        e->flags |= BG_ENTRY_RACY;
    if (e->kind != BG_ENTRY_LINK)
        return read_file(k, place, e->id, err);
    bool unsure = false;
    BG_TRY(read_link(k, place, e->id, &unsure, err));
    if (unsure)
        e->flags |= BG_ENTRY_RACY;
    return BG_OK;
}

static bg_status walk_one(walker *k, bg_str name, const bg_stamp *stamp, uint32_t depth, uint32_t old, bg_walk_child *out,
                          bool *counts, bool *same, bg_error *err);

/* Children of an old directory that were on the disk. */
static uint32_t count_present(const bg_manifest *m, uint32_t dir)
{
    uint32_t n = 0;
    for (uint32_t i = dir + 1; i < m->nodes[dir].next; i = m->nodes[i].next)
        n += m->nodes[i].e.kind != BG_ENTRY_ABSENT;
    return n;
}

/* lstat and walk every name; those that count become children. */
static bg_status walk_names(walker *k, const name_vec *names, uint32_t depth, uint32_t old, child_vec *children, bool *same,
                            bg_error *err)
{
    size_t len = k->path.len;
    uint32_t cursor = old + 1, n_found = 0;
    for (size_t i = 0; i < names->n; i++) {
        bg_stamp stamp;
        bg_walk_child child = {0};
        bool counts = false, is_old;
        k->path.len = len;
        bg_buf_putc(&k->path, '/');
        bg_buf_str(&k->path, names->at[i]);
        if (k->path.failed)
            return no_memory(err);
        int rc = bg_stamp_read(&stamp, AT_FDCWD, k->path.data);
        if (rc == ENOENT || rc == ENOTDIR) /* gone since it was listed */
            return changed(err, k->path.data);
        if (rc != 0)
            return bg_error_os(err, rc, "can't look at %s", k->path.data);
        uint32_t was = k->w->old == NULL ? UINT32_MAX : old_child(k->w->old, old, &cursor, names->at[i]);
        BG_TRY(walk_one(k, names->at[i], &stamp, depth + 1, was, &child, &counts, &is_old, err));
        *same = *same && is_old;
        n_found += was != UINT32_MAX;
        if (counts && !BG_VEC_PUSH(children, child))
            return no_memory(err);
    }
    *same = *same && old != UINT32_MAX && n_found == count_present(k->w->old, old);
    k->path.len = len;
    k->path.data[len] = '\0';
    return BG_OK;
}

/* For what is tracked and not on the disk. */
typedef struct {
    walker *k;
    child_vec *children;
    uint32_t depth;
    bg_error *err;
} absent_sink;

static bg_status add_absent(void *to, const bg_walk_child *child)
{
    absent_sink *s = to;
    bg_entry e = {.depth = s->depth + 1, .kind = BG_ENTRY_ABSENT};
    memcpy(e.id, child->id, sizeof e.id);
    bg_manifest_add(s->k->w->manifest, &e, child->name);
    if (!BG_VEC_PUSH(s->children, *child))
        return no_memory(s->err);
    return BG_OK;
}

static int by_child(const void *a, const void *b)
{
    return bg_str_cmp(((const bg_walk_child *)a)->name, ((const bg_walk_child *)b)->name);
}

static bg_status names_of(walker *k, bool is_listed, uint32_t old, bg_arena *arena, name_vec *names, bg_error *err)
{
    if (!is_listed)
        return read_names(k->path.data, arena, names, err);
    const bg_manifest *m = k->w->old;
    for (uint32_t i = old + 1; i < m->nodes[old].next; i = m->nodes[i].next)
        if (m->nodes[i].e.kind != BG_ENTRY_ABSENT && !BG_VEC_PUSH(names, m->nodes[i].name))
            return no_memory(err);
    return BG_OK;
}

static bg_status walk_inside(walker *k, const bg_walk_place *dir, bg_entry *e, uint32_t old,
                             const name_vec *names, bool *same, bg_error *err)
{
    bg_walk_policy *p = k->w->policy;
    child_vec children = {0};
    size_t len = k->path.len;
    bool inside_same = !k->w->always_fold;
    bg_status status = walk_names(k, names, e->depth, old, &children, &inside_same, err);
    k->path.len = len;
    if (k->path.data != NULL)
        k->path.data[len] = '\0';
    bg_walk_place here = place_at(k, dir->name, &dir->stamp);
    if (status == BG_OK && p->absent != NULL) {
        absent_sink sink = {k, &children, e->depth, err};
        size_t n = children.n;
        status = p->absent(p, &here, children.at, n, add_absent, &sink, err);
        inside_same = inside_same && n == children.n;
        if (children.n > 1)
            qsort(children.at, children.n, sizeof *children.at, by_child);
    }
    const bg_manifest_node *was = node_at(k->w->old, old);
    bool is_empty = false;
    if (status == BG_OK && inside_same && was != NULL) {
        memcpy(e->id, was->e.id, sizeof e->id);
        is_empty = (was->e.flags & BG_ENTRY_EMPTY) != 0;
    } else if (status == BG_OK) {
        status = p->fold(p, children.at, children.n, e->id, &is_empty, err);
    }
    if (is_empty)
        e->flags |= BG_ENTRY_EMPTY;
    *same = inside_same;
    BG_VEC_CLEAR(&children);
    return status;
}

static bg_status walk_dir(walker *k, const bg_walk_place *dir, bg_entry *e, uint32_t old, bool *same, bg_error *err)
{
    bg_walk_policy *p = k->w->policy;
    bg_arena arena = {0};
    name_vec names = {0};
    bg_status status = p->enter == NULL ? BG_OK : p->enter(p, dir, err); /* it may ask for new listings */
    bool entered = p->enter != NULL && status == BG_OK;
    bool is_listed = !k->w->relist && is_same(node_at(k->w->old, old), &dir->stamp, BG_ENTRY_DIR);
    int64_t now_ns = bg_stamp_now_ns();
    if (!is_listed && bg_stamp_is_racy(&dir->stamp, now_ns))
        e->flags |= BG_ENTRY_RACY;
    if (status == BG_OK)
        status = names_of(k, is_listed, old, &arena, &names, err);
    if (status == BG_OK)
        status = walk_inside(k, dir, e, old, &names, same, err);
    if (entered && p->leave != NULL) {
        bg_walk_place here = place_at(k, dir->name, &dir->stamp);
        p->leave(p, &here);
    }
    bg_stamp now;
    if (status == BG_OK && (bg_stamp_read(&now, AT_FDCWD, k->path.data) != 0 || !bg_stamp_eq(&now, &dir->stamp)))
        status = changed(err, k->path.data);
    BG_VEC_CLEAR(&names);
    bg_arena_clear(&arena);
    return status;
}

static bool kind_of(uint32_t mode, bg_entry_kind *kind)
{
    *kind = S_ISREG(mode) ? BG_ENTRY_FILE : S_ISLNK(mode) ? BG_ENTRY_LINK : BG_ENTRY_DIR;
    return S_ISREG(mode) || S_ISLNK(mode) || S_ISDIR(mode);
}

/* *same: nothing differs from the old manifest, as far as its directory's id goes. */
static bg_status walk_one(walker *k, bg_str name, const bg_stamp *stamp, uint32_t depth, uint32_t old, bg_walk_child *out,
                          bool *counts, bool *same, bg_error *err)
{
    bg_walk_policy *p = k->w->policy;
    bg_entry_kind kind;
    bg_walk_place place = place_at(k, name, stamp);
    *counts = false;
    *same = old == UINT32_MAX;
    if (!kind_of(stamp->mode, &kind) || (depth != 0 && p->wants != NULL && !p->wants(p, &place)))
        return BG_OK;
    bg_entry e = {.stamp = *stamp, .depth = depth, .kind = (uint8_t)kind};
    if (kind == BG_ENTRY_FILE && (stamp->mode & S_IXUSR) != 0)
        e.flags |= BG_ENTRY_EXEC;
    bool is_nested = false;
    if (kind == BG_ENTRY_DIR && depth != 0 && p->nested != NULL)
        BG_TRY(p->nested(p, &place, &is_nested, e.id, err));
    if (is_nested)
        e.kind = BG_ENTRY_NESTED;
    size_t offset = bg_manifest_add(k->w->manifest, &e, name);
    const bg_manifest_node *was = node_at(k->w->old, old);
    bool below_same = true;
    if (e.kind == BG_ENTRY_DIR)
        BG_TRY(walk_dir(k, &place, &e, was != NULL && was->e.kind == BG_ENTRY_DIR ? old : UINT32_MAX, &below_same, err));
    else if (e.kind != BG_ENTRY_NESTED)
        BG_TRY(leaf_id(k, &place, was, &e, err));
    *out = (bg_walk_child){.name = name, .kind = (bg_entry_kind)e.kind, .is_exec = (e.flags & BG_ENTRY_EXEC) != 0};
    memcpy(out->id, e.id, sizeof out->id);
    place = place_at(k, name, stamp);
    if (p->mode != NULL)
        p->mode(p, &place, out);
    bg_manifest_set(k->w->manifest, offset, &e);
    *counts = (e.flags & BG_ENTRY_EMPTY) == 0;
    *same = below_same && was != NULL && was->e.kind == e.kind &&
            ((was->e.flags ^ e.flags) & (BG_ENTRY_EXEC | BG_ENTRY_EMPTY)) == 0 &&
            memcmp(was->e.id, e.id, sizeof e.id) == 0;
    return BG_OK;
}

bg_status bg_walk_run(bg_walk *walk, bg_error *err)
{
    walker k = {.w = walk};
    bg_buf_puts(&k.path, walk->root);
    k.prefix = k.path.len + 1;
    bg_stamp stamp;
    bool counts = false, same;
    int rc = bg_stamp_read(&stamp, AT_FDCWD, walk->root);
    bg_status status = BG_OK;
    if (k.path.failed)
        status = no_memory(err);
    else if (rc == ENOENT || rc == ENOTDIR)
        status = bg_error_set(err, BG_E_NOENT, "%s is not there; make it, or correct the path", walk->root);
    else if (rc != 0)
        status = bg_error_os(err, rc, "can't look at %s", walk->root);
    if (status == BG_OK) {
        uint32_t old = walk->old == NULL ? UINT32_MAX : walk->old->root;
        status = walk_one(&k, BG_STR(""), &stamp, 0, old, &walk->root_child, &counts, &same, err);
    }
    if (status == BG_OK && walk->manifest->failed)
        status = no_memory(err);
    walk->root_is_empty = !counts;
    bg_buf_clear(&k.path);
    return status;
}
