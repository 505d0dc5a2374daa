#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zstd.h>

#include "base/dirs.h"
#include "cache/restore.h"

enum { WRITE_BYTES = 1 << 20 };

typedef struct {
    bg_edit *at;
    uint32_t n;
} edits;

typedef struct {
    const char *bytes;
    bg_index index;
    edits *edits; /* one a member */
    bg_arena arena;
    bg_error *err;
    int root; /* the directory that is being filled */
    ZSTD_DCtx *zstd;
    char *plain; /* one frame */
    uint32_t frame;      /* that is in `plain`; n_frames: none */
    uint64_t frame_from; /* offset of frame `frame` in the tar stream */
    bg_buf out;
    int fd;
} restorer;

static bg_status nomem(bg_error *err)
{
    return bg_error_set(err, BG_E_NOMEM, "out of memory while restoring");
}

static bg_status damaged(bg_error *err, const char *what)
{
    return bg_error_set(err, BG_E_CORRUPT, "the artifact is damaged: %s", what);
}

/* ---- below the root, and nowhere else ---- */

static int open_below(int root, const char *path, int flags, mode_t mode)
{
    struct open_how how = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC | O_NOFOLLOW),
                           .mode = (flags & O_CREAT) != 0 ? mode : 0,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    long fd = syscall(SYS_openat2, root, path, &how, sizeof how);
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
        return (int)fd;
    /* An old kernel or a strict sandbox: component by component. Paths were checked: no "..", not absolute. */
    int dir = dup(root);
    const char *at = path;
    for (const char *slash; dir >= 0 && (slash = strchr(at, '/')) != NULL; at = slash + 1) {
        char name[256];
        size_t n = (size_t)(slash - at);
        memcpy(name, at, n);
        name[n] = '\0';
        int next = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int failed = errno;
        close(dir);
        errno = failed;
        dir = next;
    }
    if (dir < 0)
        return -1;
    int file = openat(dir, at, flags | O_CLOEXEC | O_NOFOLLOW, mode);
    int failed = errno;
    close(dir);
    errno = failed;
    return file;
}

/* The directory that holds `path`; *name is the last component. */
static int open_parent(restorer *r, bg_str path, const char **name)
{
    const char *slash = memrchr(path.ptr, '/', path.len);
    *name = slash == NULL ? path.ptr : slash + 1;
    if (slash == NULL)
        return dup(r->root);
    char *dir = bg_arena_strdup(&r->arena, path.ptr, (size_t)(slash - path.ptr));
    if (dir == NULL) {
        errno = ENOMEM;
        return -1;
    }
    return open_below(r->root, dir, O_PATH | O_DIRECTORY, 0);
}

static bg_status cant(restorer *r, bg_str path)
{
    return bg_error_os(r->err, errno, "can't restore %.*s", BG_FMT(path));
}

static bg_status make_dir(restorer *r, bg_str path)
{
    const char *name;
    int parent = open_parent(r, path, &name);
    bool ok = parent >= 0 && (mkdirat(parent, name, 0777) == 0 || errno == EEXIST);
    int failed = errno;
    if (parent >= 0)
        close(parent);
    errno = failed;
    return ok ? BG_OK : cant(r, path);
}

/* Directories above an output that no member names. */
static bg_status make_parents(restorer *r, bg_str path)
{
    for (size_t i = 1; i < path.len; i++) {
        if (path.ptr[i] != '/')
            continue;
        char *dir = bg_arena_strdup(&r->arena, path.ptr, i);
        if (dir == NULL)
            return nomem(r->err);
        BG_TRY(make_dir(r, (bg_str){dir, i}));
    }
    return BG_OK;
}

/* ---- the tar stream ---- */

static bg_status load_frame(restorer *r, uint32_t frame)
{
    const bg_index_frame *f = &r->index.frames[frame];
    size_t n = ZSTD_decompressDCtx(r->zstd, r->plain, BG_FRAME_BYTES, r->bytes + f->at, f->packed);
    if (ZSTD_isError(n))
        return damaged(r->err, ZSTD_getErrorName(n));
    if (n != f->plain)
        return damaged(r->err, "a frame has another size than the seek table says");
    r->frame = frame;
    return BG_OK;
}

/* The longest piece of the stream at `offset`, at most n bytes. Offsets only grow from call to call. */
static bg_status piece_at(restorer *r, uint64_t offset, uint64_t n, const char **bytes, size_t *got)
{
    uint32_t frame = r->frame == r->index.n_frames ? 0 : r->frame;
    while (frame < r->index.n_frames && offset >= r->frame_from + r->index.frames[frame].plain) {
        r->frame_from += r->index.frames[frame].plain;
        frame++;
    }
    if (frame == r->index.n_frames || offset < r->frame_from)
        return damaged(r->err, "a file lies outside its data");
    if (frame != r->frame)
        BG_TRY(load_frame(r, frame));
    size_t skip = (size_t)(offset - r->frame_from);
    size_t left = (size_t)r->index.frames[frame].plain - skip;
    *bytes = r->plain + skip;
    *got = n < left ? (size_t)n : left;
    return BG_OK;
}

/* ---- one file ---- */

static bg_status write_all(restorer *r, const char *bytes, size_t n)
{
    while (n != 0) {
        ssize_t w = write(r->fd, bytes, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0)
            return bg_error_os(r->err, errno, "can't write a restored file");
        bytes += w;
        n -= (size_t)w;
    }
    return BG_OK;
}

static bg_status flush(restorer *r)
{
    bg_status status = r->out.failed ? nomem(r->err) : write_all(r, bg_buf_cstr(&r->out), r->out.len);
    bg_buf_reset(&r->out);
    return status;
}

static bg_status emit(restorer *r, const char *bytes, size_t n)
{
    if (n >= WRITE_BYTES) {
        BG_TRY(flush(r));
        return write_all(r, bytes, n);
    }
    bg_buf_put(&r->out, bytes, n);
    return r->out.len >= WRITE_BYTES ? flush(r) : BG_OK;
}

static bg_status copy_range(restorer *r, const bg_index_member *m, uint64_t from, uint64_t to)
{
    while (from < to) {
        const char *bytes = NULL; /* gcc 12 does not see that piece_at sets both */
        size_t n = 0;
        BG_TRY(piece_at(r, m->data + from, to - from, &bytes, &n));
        BG_TRY(emit(r, bytes, n));
        from += n;
    }
    return BG_OK;
}

static bg_status write_edit(restorer *r, const bg_edit *e)
{
    for (uint64_t i = 0; i < e->n_pad; i++)
        bg_buf_putc(&r->out, e->pad);
    bg_buf_str(&r->out, e->text);
    return r->out.failed ? nomem(r->err) : BG_OK;
}

static bg_status write_content(restorer *r, const bg_index_member *m, const edits *e)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < e->n; i++) {
        BG_TRY(copy_range(r, m, at, e->at[i].offset));
        BG_TRY(write_edit(r, &e->at[i]));
        at = e->at[i].offset + e->at[i].skip;
    }
    BG_TRY(copy_range(r, m, at, m->size));
    return flush(r);
}

static bg_status restore_file(restorer *r, const bg_index_member *m, const edits *e)
{
    r->fd = open_below(r->root, m->path.ptr, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (r->fd < 0)
        return cant(r, m->path);
    bg_status status = write_content(r, m, e);
    if (status == BG_OK && fchmod(r->fd, (mode_t)(m->mode & 0777)) != 0)
        status = cant(r, m->path);
    if (close(r->fd) != 0 && status == BG_OK)
        status = cant(r, m->path);
    return status;
}

static bg_status restore_hard_link(restorer *r, const bg_index_member *m)
{
    const char *from, *to;
    int a = open_parent(r, r->index.members[m->same - 1].path, &from), b = open_parent(r, m->path, &to);
    bg_status status = a >= 0 && b >= 0 && linkat(a, from, b, to, 0) == 0 ? BG_OK : cant(r, m->path);
    if (a >= 0)
        close(a);
    if (b >= 0)
        close(b);
    return status;
}

static bg_status restore_link(restorer *r, const bg_index_member *m, const edits *e)
{
    bg_buf target = {0};
    uint64_t at = 0;
    for (uint32_t i = 0; i < e->n; i++) {
        bg_buf_put(&target, m->link.ptr + at, (size_t)(e->at[i].offset - at));
        bg_buf_str(&target, e->at[i].text);
        at = e->at[i].offset + e->at[i].skip;
    }
    bg_buf_put(&target, m->link.ptr + at, m->link.len - (size_t)at);
    const char *name;
    int parent = target.failed ? -1 : open_parent(r, m->path, &name);
    bg_status status = parent >= 0 && symlinkat(target.data, parent, name) == 0 ? BG_OK : cant(r, m->path);
    if (parent >= 0)
        close(parent);
    bg_buf_clear(&target);
    return status;
}

static bg_status restore_members(restorer *r, const bg_cache_entry *entry)
{
    for (size_t i = 0; i < entry->n_outputs; i++)
        BG_TRY(make_parents(r, entry->outputs[i].path));
    for (uint32_t i = 0; i < r->index.n_members; i++) {
        const bg_index_member *m = &r->index.members[i];
        if (S_ISDIR(m->mode))
            BG_TRY(make_dir(r, m->path));
        else if (S_ISLNK(m->mode))
            BG_TRY(restore_link(r, m, &r->edits[i]));
        else if (m->same != 0)
            BG_TRY(restore_hard_link(r, m));
        else
            BG_TRY(restore_file(r, m, &r->edits[i]));
    }
    for (uint32_t i = r->index.n_members; i-- > 0;) { /* inner ones first: a read-only directory takes nothing more */
        const bg_index_member *m = &r->index.members[i];
        if (!S_ISDIR(m->mode))
            continue;
        int fd = open_below(r->root, m->path.ptr, O_RDONLY | O_DIRECTORY, 0);
        bool ok = fd >= 0 && fchmod(fd, (mode_t)(m->mode & 0777)) == 0;
        if (fd >= 0)
            close(fd);
        if (!ok)
            return cant(r, m->path);
    }
    return BG_OK;
}

/* ---- the whole ---- */

static bg_status plan_edits(restorer *r, const bg_prefix *prefixes, size_t n_prefixes)
{
    const bg_move *moves;
    BG_TRY(bg_moves(&r->index, prefixes, n_prefixes, &r->arena, &moves, r->err));
    r->edits = BG_ARENA_ARRAY(&r->arena, r->index.n_members + 1u, edits);
    if (r->edits == NULL)
        return nomem(r->err);
    for (uint32_t i = 0; i < r->index.n_members; i++) {
        edits *e = &r->edits[i];
        const bg_index_member *m = &r->index.members[i];
        BG_TRY(bg_edits(m, moves, &r->arena, &e->at, &e->n, r->err));
        uint64_t at = 0, size = S_ISLNK(m->mode) ? m->link.len : m->size;
        for (uint32_t k = 0; k < e->n; k++) {
            if (e->at[k].offset < at || e->at[k].offset > size || e->at[k].skip > size - e->at[k].offset)
                return damaged(r->err, "two places overlap");
            at = e->at[k].offset + e->at[k].skip;
        }
    }
    return BG_OK;
}

static bg_status check_outputs(const restorer *r, const bg_cache_entry *entry)
{
    for (size_t i = 0; i < entry->n_outputs; i++) {
        bool found = false;
        for (uint32_t k = 0; k < r->index.n_members && !found; k++) {
            const bg_index_member *m = &r->index.members[k];
            found = bg_str_eq(m->path, entry->outputs[i].path) && (S_ISDIR(m->mode) != 0) == entry->outputs[i].is_dir;
        }
        if (!found)
            return damaged(r->err, "an output is not in it");
    }
    return BG_OK;
}

/* Put the finished tree in the place of what is there. */
static bg_status exchange(const char *fresh, const char *dir, bg_error *err)
{
    if (renameat2(AT_FDCWD, fresh, AT_FDCWD, dir, RENAME_EXCHANGE) == 0)
        return bg_fs_remove(fresh, err);
    if (errno != ENOENT) {
        BG_TRY(bg_fs_remove(dir, err));
    }
    if (rename(fresh, dir) != 0)
        return bg_error_os(err, errno, "can't move the restored tree to %s", dir);
    return BG_OK;
}

static bg_status fill(restorer *r, const char *fresh, const bg_cache_entry *entry)
{
    if (mkdir(fresh, 0777) != 0)
        return bg_error_os(r->err, errno, "can't make the directory %s", fresh);
    r->root = open(fresh, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->root < 0)
        return bg_error_os(r->err, errno, "can't open the directory %s", fresh);
    r->zstd = ZSTD_createDCtx();
    r->plain = malloc(BG_FRAME_BYTES);
    bg_status status = r->zstd == NULL || r->plain == NULL ? nomem(r->err) : restore_members(r, entry);
    close(r->root);
    return status;
}

static bg_status restore_as(restorer *r, const bg_cache_entry *entry, bg_str dir)
{
    static atomic_uint counter;
    char *to = bg_arena_strdup(&r->arena, dir.ptr, dir.len);
    char *fresh = bg_arena_printf(&r->arena, "%.*s.new-%ld-%u", BG_FMT(dir), (long)getpid(),
                                  atomic_fetch_add(&counter, 1));
    if (to == NULL || fresh == NULL)
        return nomem(r->err);
    BG_TRY(bg_fs_mkdirs_parent(to, r->err));
    BG_TRY(bg_fs_remove(fresh, r->err));
    bg_status status = fill(r, fresh, entry);
    if (status == BG_OK)
        status = exchange(fresh, to, r->err);
    if (status != BG_OK && bg_fs_remove(fresh, NULL) != BG_OK) {
        /* What is left has a name that the next restore removes. */
    }
    return status;
}

bg_status bg_restore(const char *bytes, size_t n, const bg_cache_entry *entry, bg_str dir, const bg_prefix *prefixes,
                     size_t n_prefixes, bg_error *err)
{
    restorer r = {.bytes = bytes, .err = err, .root = -1, .fd = -1};
    bg_status status = bg_index_read(&r.index, bytes, n, &r.arena, err);
    r.frame = r.index.n_frames;
    if (status == BG_OK)
        status = check_outputs(&r, entry);
    if (status == BG_OK)
        status = plan_edits(&r, prefixes, n_prefixes);
    if (status == BG_OK)
        status = restore_as(&r, entry, dir);
    ZSTD_freeDCtx(r.zstd);
    free(r.plain);
    bg_buf_clear(&r.out);
    bg_arena_clear(&r.arena);
    return status;
}
