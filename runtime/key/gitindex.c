#include "key/gitindex.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADER = 12, STAT_PART = 40, NS_A_SECOND = 1000000000, MODE_LINK = 0160000 };

static uint32_t be32(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static uint32_t be16(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;
    return (uint32_t)b[0] << 8 | b[1];
}

typedef struct {
    bg_git_index *index;
    const char *begin, *p, *end; /* end: before the trailing checksum */
    uint32_t version;
    bg_str last; /* path before, for version 4 */
    bool is_split; /* an entry without a name stands for one of another file */
} parser;

static void read_stat(bg_git_entry *e, const char *p)
{
    e->ctime_s = be32(p);
    e->ctime_ns = be32(p + 4);
    e->mtime_s = be32(p + 8);
    e->mtime_ns = be32(p + 12);
    e->ino = be32(p + 20);
    e->mode = be32(p + 24);
    e->size = be32(p + 36);
}

/* Version 4: how much of the path before goes, then what comes after it. */
static bool read_packed_path(parser *k, bg_str *path)
{
    size_t cut = 0;
    for (int i = 0;; i++) {
        if (k->p == k->end || i == 8)
            return false;
        unsigned char c = (unsigned char)*k->p++;
        cut = (cut << 7) + (c & 127u);
        if ((c & 128u) == 0)
            break;
        cut++;
    }
    const char *nul = memchr(k->p, '\0', (size_t)(k->end - k->p));
    if (nul == NULL || cut > k->last.len)
        return false;
    size_t keep = k->last.len - cut, n = (size_t)(nul - k->p);
    char *text = bg_arena_alloc(&k->index->arena, keep + n + 1);
    if (text == NULL)
        return false;
    if (keep != 0)
        memcpy(text, k->last.ptr, keep);
    if (n != 0)
        memcpy(text + keep, k->p, n);
    *path = (bg_str){text, keep + n};
    k->p = nul + 1;
    return true;
}

/* Versions 2 and 3: NUL-terminated, the entry padded to 8 bytes. */
static bool read_plain_path(parser *k, const char *entry, bg_str *path)
{
    const char *nul = memchr(k->p, '\0', (size_t)(k->end - k->p));
    if (nul == NULL)
        return false;
    *path = (bg_str){k->p, (size_t)(nul - k->p)};
    size_t len = ((size_t)(nul - entry) + 8) & ~(size_t)7;
    if (len > (size_t)(k->end - entry))
        return false;
    k->p = entry + len;
    return true;
}

static bool is_sane_path(bg_str path)
{
    if (path.len == 0 || path.ptr[0] == '/')
        return false;
    for (size_t i = 0; i < path.len;) {
        const char *slash = memchr(path.ptr + i, '/', path.len - i);
        size_t n = slash == NULL ? path.len - i : (size_t)(slash - path.ptr) - i;
        bg_str part = {path.ptr + i, n};
        if (n == 0 || bg_str_is(part, ".") || bg_str_is(part, "..") || bg_str_is(part, ".git"))
            return false;
        i += n + 1;
    }
    return true;
}

/* False on damage. Stages of one path become one entry without trust. */
static bool read_entry(parser *k)
{
    size_t fixed = STAT_PART + k->index->n_id + 2;
    const char *entry = k->p;
    if ((size_t)(k->end - k->p) < fixed + 2)
        return false;
    bg_git_entry e = {.id = (const uint8_t *)(entry + STAT_PART)};
    read_stat(&e, entry);
    uint32_t flags = be16(entry + fixed - 2), more = 0;
    k->p += fixed;
    if ((flags & 0x4000u) != 0) {
        if (k->version < 3)
            return false;
        more = be16(k->p);
        k->p += 2;
    }
    if (k->version == 4 ? !read_packed_path(k, &e.path) : !read_plain_path(k, entry, &e.path))
        return false;
    uint32_t stage = flags >> 12 & 3;
    e.is_trusted = stage == 0 && (more & 0x2000u) == 0;
    e.is_skipped = (more & 0x4000u) != 0 && e.is_trusted;
    k->is_split = e.path.len == 0;
    int order = k->last.ptr == NULL ? -1 : bg_str_cmp(k->last, e.path);
    if (!is_sane_path(e.path) || order > 0 || (order == 0 && stage == 0))
        return false;
    k->last = e.path;
    k->index->has_skipped |= e.is_skipped;
    k->index->has_links |= e.mode == MODE_LINK;
    if (order != 0)
        k->index->at[k->index->n++] = e;
    return true;
}

static bg_status split_index(const char *path, bg_error *err)
{
    return bg_error_set(err, BG_E_VERSION, "the index %s is split into several files, which can't be read; `git update-index "
                                           "--no-split-index` makes it whole", path);
}

/* Extensions: an upper-case name may be skipped, a lower-case one changes what the entries mean. */
static bg_status check_extensions(parser *k, const char *path, bg_error *err)
{
    while (k->end - k->p >= 8) {
        uint32_t size = be32(k->p + 4);
        if (size > (size_t)(k->end - k->p) - 8)
            return bg_error_set(err, BG_E_CORRUPT, "the index %s is damaged in its extensions; `git reset` writes a new one",
                                path);
        bool is_optional = k->p[0] >= 'A' && k->p[0] <= 'Z';
        if (memcmp(k->p, "link", 4) == 0)
            return split_index(path, err);
        if (!is_optional && memcmp(k->p, "sdir", 4) != 0)
            return bg_error_set(err, BG_E_VERSION, "the index %s has the extension \"%.4s\", which can't be read; use `dir =` instead of "
                                                   "`git =`.", path, k->p);
        k->p += 8 + size;
    }
    return BG_OK;
}

bg_status bg_git_index_parse(bg_git_index *out, char *bytes, size_t n, size_t n_id, const char *path, bg_error *err)
{
    *out = (bg_git_index){.bytes = bytes, .n_id = n_id};
    if (n < HEADER + n_id || memcmp(bytes, "DIRC", 4) != 0)
        return bg_error_set(err, BG_E_CORRUPT, "%s is no git index, or it is cut off; `git reset` writes a new one", path);
    parser k = {out, bytes, bytes + HEADER, bytes + n - n_id, be32(bytes + 4), {NULL, 0}, false};
    uint32_t count = be32(bytes + 8);
    if (k.version < 2 || k.version > 4)
        return bg_error_set(err, BG_E_VERSION, "the index %s has version %u; versions 2 to 4 can be read. `git update-index "
                                               "--index-version 4` converts it.", path, k.version);
    if (count > n / (STAT_PART + n_id))
        return bg_error_set(err, BG_E_CORRUPT, "the index %s is damaged: it claims %u entries; `git reset` writes a new one",
                            path, count);
    out->at = calloc((size_t)count + 1, sizeof *out->at);
    if (out->at == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory while the index %s was read", path);
    for (uint32_t i = 0; i < count; i++) {
        if (read_entry(&k))
            continue;
        if (k.is_split)
            return split_index(path, err);
        return bg_error_set(err, BG_E_CORRUPT, "the index %s is damaged at entry %u (or memory is out); `git reset` writes "
                                               "a new one", path, i);
    }
    return check_extensions(&k, path, err);
}

static bg_status slurp(int fd, char **bytes, size_t n, const char *path, bg_error *err)
{
    *bytes = malloc(n + 1);
    if (*bytes == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory while %s was read", path);
    for (size_t at = 0; at < n;) {
        ssize_t got = read(fd, *bytes + at, n - at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return bg_error_os(err, errno, "can't read %s", path);
        if (got == 0)
            return bg_error_set(err, BG_E_CHANGED, "%s was cut while it was read; run again", path);
        at += (size_t)got;
    }
    return BG_OK;
}

bg_status bg_git_index_read(bg_git_index *out, bg_stamp *stamp, const char *path, size_t n_id, bg_error *err)
{
    *out = (bg_git_index){.n_id = n_id};
    *stamp = (bg_stamp){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return BG_OK;
    if (fd < 0)
        return bg_error_os(err, errno, "can't read the index %s", path);
    struct stat st;
    char *bytes = NULL;
    bg_status status = BG_OK;
    if (fstat(fd, &st) != 0)
        status = bg_error_os(err, errno, "can't read the index %s", path);
    if (status == BG_OK)
        status = slurp(fd, &bytes, (size_t)st.st_size, path, err);
    close(fd);
    if (status != BG_OK) {
        free(bytes);
        return status;
    }
    *stamp = bg_stamp_of(&st);
    status = bg_git_index_parse(out, bytes, (size_t)st.st_size, n_id, path, err);
    out->mtime_ns = stamp->mtime_ns;
    if (status != BG_OK)
        bg_git_index_clear(out);
    return status;
}

void bg_git_index_clear(bg_git_index *index)
{
    free(index->at);
    free(index->bytes);
    bg_arena_clear(&index->arena);
    *index = (bg_git_index){0};
}

uint32_t bg_git_index_from(const bg_git_index *index, bg_str path)
{
    uint32_t lo = 0, hi = index->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (bg_str_cmp(index->at[mid].path, path) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

const bg_git_entry *bg_git_index_find(const bg_git_index *index, bg_str path)
{
    uint32_t i = bg_git_index_from(index, path);
    return i < index->n && bg_str_eq(index->at[i].path, path) ? &index->at[i] : NULL;
}

bool bg_git_index_has_below(const bg_git_index *index, bg_str path)
{
    if (path.len == 0)
        return index->n != 0;
    char room[512];
    char *dir = path.len + 1 <= sizeof room ? room : malloc(path.len + 1);
    if (dir == NULL)
        return true; /* looking inside is never wrong */
    memcpy(dir, path.ptr, path.len);
    dir[path.len] = '/';
    bg_str prefix = {dir, path.len + 1};
    uint32_t i = bg_git_index_from(index, prefix);
    bool has = i < index->n && bg_str_starts(index->at[i].path, prefix);
    if (dir != room)
        free(dir);
    return has;
}

bool bg_git_entry_is_clean(const bg_git_index *index, const bg_git_entry *e, const bg_stamp *s)
{
    int64_t mtime_ns = (int64_t)e->mtime_s * NS_A_SECOND + e->mtime_ns;
    if (!e->is_trusted || index->mtime_ns <= mtime_ns)
        return false;
    bool same_type = S_ISREG(s->mode) ? (e->mode & 0170000u) == 0100000u
                                      : S_ISLNK(s->mode) && (e->mode & 0170000u) == 0120000u;
    return same_type && s->size_bytes <= UINT32_MAX && e->size == (uint32_t)s->size_bytes && e->ino == (uint32_t)s->ino &&
           e->mtime_s == (uint32_t)(s->mtime_ns / NS_A_SECOND) && e->mtime_ns == (uint32_t)(s->mtime_ns % NS_A_SECOND) &&
           e->ctime_s == (uint32_t)(s->ctime_ns / NS_A_SECOND) && e->ctime_ns == (uint32_t)(s->ctime_ns % NS_A_SECOND);
}
