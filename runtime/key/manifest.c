#include "key/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VERSION = 1, DEPTH_MAX = 4096 };

typedef struct {
    uint32_t version, n;
    bg_digest digest;
} header;

void bg_manifest_begin(bg_buf *buf)
{
    header h = {.version = VERSION};
    bg_buf_reset(buf);
    bg_buf_put(buf, &h, sizeof h);
}

size_t bg_manifest_add(bg_buf *buf, const bg_entry *entry, bg_str name)
{
    size_t offset = buf->len;
    bg_entry e = *entry;
    e.name_len = (uint16_t)name.len;
    bg_buf_put(buf, &e, sizeof e);
    bg_buf_str(buf, name);
    if (!buf->failed) {
        header h;
        memcpy(&h, buf->data, sizeof h);
        h.n++;
        memcpy(buf->data, &h, sizeof h);
    }
    return offset;
}

void bg_manifest_set(bg_buf *buf, size_t offset, const bg_entry *entry)
{
    if (buf->failed)
        return;
    bg_entry e = *entry, was;
    memcpy(&was, buf->data + offset, sizeof was);
    e.name_len = was.name_len;
    memcpy(buf->data + offset, &e, sizeof e);
}

void bg_manifest_join(bg_buf *buf, const bg_buf *more)
{
    header a, b;
    if (more->failed)
        buf->failed = true;
    if (buf->failed)
        return;
    memcpy(&b, more->data, sizeof b);
    bg_buf_put(buf, more->data + sizeof b, more->len - sizeof b);
    if (buf->failed)
        return;
    memcpy(&a, buf->data, sizeof a);
    a.n += b.n;
    memcpy(buf->data, &a, sizeof a);
}

void bg_manifest_finish(bg_buf *buf, const bg_digest *digest)
{
    header h;
    if (buf->failed)
        return;
    memcpy(&h, buf->data, sizeof h);
    h.digest = *digest;
    memcpy(buf->data, &h, sizeof h);
}

/* Reads entries one after the other. */
typedef struct {
    const char *p, *end;
    uint32_t left;
} reader;

static bool reader_begin(reader *r, bg_str bytes, header *h)
{
    if (bytes.len < sizeof *h)
        return false;
    memcpy(h, bytes.ptr, sizeof *h);
    *r = (reader){bytes.ptr + sizeof *h, bytes.ptr + bytes.len, h->n};
    return h->version == VERSION && h->n != 0;
}

/* False at the end and on damage; the end is where left == 0 and p == end. */
static bool reader_next(reader *r, bg_entry *e, bg_str *name)
{
    if (r->left == 0 || (size_t)(r->end - r->p) < sizeof *e)
        return false;
    memcpy(e, r->p, sizeof *e);
    r->p += sizeof *e;
    if ((size_t)(r->end - r->p) < e->name_len || e->kind >= BG_ENTRY_KIND_COUNT || e->depth > DEPTH_MAX)
        return false;
    *name = (bg_str){r->p, e->name_len};
    r->p += e->name_len;
    r->left--;
    return true;
}

static bool reader_is_done(const reader *r)
{
    return r->left == 0 && r->p == r->end;
}

/* Give each node the index after its subtree. False if depths jump. */
static bool link_nodes(bg_manifest *m)
{
    uint32_t *open = calloc(DEPTH_MAX + 2, sizeof *open); /* node that is open at each depth */
    if (open == NULL)
        return false;
    bool ok = true;
    uint32_t depth = 0; /* of the node before */
    for (uint32_t i = m->root; i < m->n && ok; i++) {
        uint32_t d = m->nodes[i].e.depth;
        if (i == m->root ? d != 0 : d == 0 || d > depth + 1 || (d == depth + 1 && m->nodes[i - 1].e.kind != BG_ENTRY_DIR))
            ok = false;
        for (uint32_t k = d; ok && i != m->root && k <= depth; k++)
            m->nodes[open[k]].next = i;
        if (ok)
            open[d] = i;
        depth = d;
    }
    for (uint32_t k = 0; ok && k <= depth; k++)
        m->nodes[open[k]].next = m->n;
    free(open);
    return ok;
}

bool bg_manifest_load(bg_manifest *out, bg_str bytes)
{
    header h;
    reader r;
    *out = (bg_manifest){0};
    if (!reader_begin(&r, bytes, &h) || h.n > bytes.len / sizeof(bg_entry))
        return false;
    out->nodes = calloc(h.n, sizeof *out->nodes);
    if (out->nodes == NULL)
        return false;
    out->digest = h.digest;
    while (out->n < h.n && reader_next(&r, &out->nodes[out->n].e, &out->nodes[out->n].name))
        out->n++;
    while (out->root < out->n && out->nodes[out->root].e.kind == BG_ENTRY_GUARD)
        out->root++;
    if (!reader_is_done(&r) || out->root == out->n || !link_nodes(out)) {
        bg_manifest_clear(out);
        return false;
    }
    return true;
}

void bg_manifest_clear(bg_manifest *manifest)
{
    free(manifest->nodes);
    *manifest = (bg_manifest){0};
}

static bool guard_holds(const bg_entry *e, bg_str name, bg_buf *path)
{
    bg_stamp now;
    bg_buf_reset(path);
    bg_buf_str(path, name);
    if (path->failed)
        return false;
    int rc = bg_stamp_read(&now, AT_FDCWD, bg_buf_cstr(path));
    if (e->stamp.mode == 0)
        return rc == ENOENT || rc == ENOTDIR;
    return rc == 0 && bg_stamp_eq(&now, &e->stamp);
}

/* State of one comparison: the path below the root, and where each directory's name begins in it. */
typedef struct {
    const char *root_path;
    int root_fd;
    bg_buf path;
    uint32_t *lens; /* by depth: length of the path of the directory at that depth */
    uint32_t depth;
    bg_manifest_nested nested;
    void *self;
} checker;

static bool nested_holds(checker *c, const bg_entry *e)
{
    uint8_t id[32] = {0};
    bg_buf abs = {0};
    bg_buf_printf(&abs, "%s/%s", c->root_path, bg_buf_cstr(&c->path));
    bool ok = !abs.failed && c->nested != NULL && c->nested(c->self, bg_buf_cstr(&abs), id) &&
              memcmp(id, e->id, sizeof id) == 0;
    bg_buf_clear(&abs);
    return ok;
}

static bool entry_holds(checker *c, const bg_entry *e, bg_str name)
{
    if (e->depth == 0) {
        bg_stamp now;
        if (bg_stamp_read(&now, AT_FDCWD, c->root_path) != 0 || !bg_stamp_eq(&now, &e->stamp))
            return false;
        if (e->kind == BG_ENTRY_DIR)
            c->root_fd = open(c->root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        return e->kind != BG_ENTRY_DIR || c->root_fd >= 0;
    }
    if (e->depth > c->depth + 1)
        return false;
    c->path.len = c->lens[e->depth - 1];
    if (c->path.len != 0)
        bg_buf_putc(&c->path, '/');
    bg_buf_str(&c->path, name);
    if (c->path.failed)
        return false;
    if (e->kind == BG_ENTRY_DIR) {
        c->depth = e->depth;
        c->lens[e->depth] = (uint32_t)c->path.len;
    } else {
        c->depth = e->depth - 1;
    }
    if (e->kind == BG_ENTRY_NESTED)
        return nested_holds(c, e);
    bg_stamp now;
    int rc = bg_stamp_read(&now, c->root_fd, bg_buf_cstr(&c->path));
    if (e->kind == BG_ENTRY_ABSENT)
        return rc == ENOENT || rc == ENOTDIR;
    return rc == 0 && bg_stamp_eq(&now, &e->stamp);
}

bool bg_manifest_holds(bg_str bytes, const char *root_path, bool even_racy, bg_manifest_nested nested, void *self,
                       bg_digest *digest)
{
    header h;
    reader r;
    if (!reader_begin(&r, bytes, &h))
        return false;
    checker c = {.root_path = root_path, .root_fd = -1, .nested = nested, .self = self};
    bg_buf guard = {0};
    c.lens = calloc(DEPTH_MAX + 1, sizeof *c.lens);
    bool ok = c.lens != NULL;
    bg_entry e;
    bg_str name;
    while (ok && reader_next(&r, &e, &name)) {
        if ((e.flags & BG_ENTRY_RACY) != 0 && !even_racy)
            ok = false;
        else if ((e.flags & BG_ENTRY_WEAK) == 0)
            ok = e.kind == BG_ENTRY_GUARD ? guard_holds(&e, name, &guard) : entry_holds(&c, &e, name);
    }
    ok = ok && reader_is_done(&r);
    if (c.root_fd >= 0)
        close(c.root_fd);
    free(c.lens);
    bg_buf_clear(&c.path);
    bg_buf_clear(&guard);
    *digest = h.digest;
    return ok;
}
