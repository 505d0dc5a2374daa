#define _XOPEN_SOURCE 700
#include "cache/index.h"

#include "base/paths.h"

#include <string.h>
#include <sys/stat.h>

enum { MAX_PATH_BYTES = 65535, MAX_NAME_BYTES = 255 };

static const char magic[8] = "bgcidx1\n";

static void put_str(bg_buf *b, bg_str s)
{
    bg_buf_u32(b, (uint32_t)s.len);
    bg_buf_str(b, s);
}

static void put_member(bg_buf *b, const bg_member *m, uint64_t data)
{
    put_str(b, m->path);
    bg_buf_u32(b, m->mode);
    bg_buf_u64(b, m->size);
    bg_buf_u64(b, data);
    bg_buf_u32(b, m->same);
    put_str(b, m->link);
    bg_buf_u32(b, m->n_hits);
    for (uint32_t i = 0; i < m->n_hits; i++) {
        const bg_hit *h = &m->hits[i];
        bg_buf_u64(b, h->offset);
        bg_buf_u64(b, h->start);
        bg_buf_u64(b, h->end);
        bg_buf_u32(b, h->len);
        bg_buf_u32(b, h->prefix);
        bg_buf_u32(b, h->kind);
    }
}

bg_status bg_index_write(bg_buf *out, const bg_tree *tree, const uint64_t *data, bg_error *err)
{
    bg_buf body = {0};
    bg_buf_put(&body, magic, sizeof magic);
    bg_buf_u32(&body, (uint32_t)tree->scanner->n);
    for (size_t i = 0; i < tree->scanner->n; i++) {
        put_str(&body, tree->scanner->at[i].token);
        put_str(&body, tree->scanner->at[i].path);
    }
    bg_buf_u32(&body, (uint32_t)tree->members.n);
    for (size_t i = 0; i < tree->members.n; i++)
        put_member(&body, &tree->members.at[i], data[i]);
    bg_digest sum = {{0}};
    bg_status status = body.failed ? bg_error_set(err, BG_E_NOMEM, "out of memory while indexing outputs")
                                   : bg_sha256_of(body.data, body.len, &sum, err);
    if (status == BG_OK && body.len > UINT32_MAX - 64)
        status = bg_error_set(err, BG_E_LIMIT, "the outputs have too many files for one artifact");
    if (status == BG_OK) {
        bg_buf_u32(out, BG_SKIPPABLE_INDEX);
        bg_buf_u32(out, (uint32_t)(body.len + sizeof sum.b + 8));
        bg_buf_put(out, body.data, body.len);
        bg_buf_put(out, sum.b, sizeof sum.b);
        bg_buf_u64(out, body.len);
        if (out->failed)
            status = bg_error_set(err, BG_E_NOMEM, "out of memory while indexing outputs");
    }
    bg_buf_clear(&body);
    return status;
}

void bg_index_write_seek(bg_buf *out, const bg_index_frame *frames, size_t n, size_t index_bytes)
{
    bg_buf_u32(out, BG_SKIPPABLE_SEEK);
    bg_buf_u32(out, (uint32_t)((n + 1) * 8 + 9));
    for (size_t i = 0; i < n; i++) {
        bg_buf_u32(out, (uint32_t)frames[i].packed);
        bg_buf_u32(out, (uint32_t)frames[i].plain);
    }
    bg_buf_u32(out, (uint32_t)index_bytes);
    bg_buf_u32(out, 0);
    bg_buf_u32(out, (uint32_t)(n + 1));
    bg_buf_putc(out, '\0');
    bg_buf_u32(out, BG_SEEK_MAGIC);
}

/* ---- reading: every step checks what is left ---- */

typedef struct {
    const unsigned char *at, *end;
    bool short_read;
    bg_arena *arena;
    bg_error *err;
} reader;

static bg_status bad(bg_error *err, const char *what)
{
    return bg_error_set(err, BG_E_CORRUPT, "the artifact is damaged: %s", what);
}

static uint64_t get(reader *r, size_t n)
{
    uint64_t v = 0;
    if ((size_t)(r->end - r->at) < n) {
        r->short_read = true;
        r->at = r->end;
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        v |= (uint64_t)r->at[i] << (8 * i);
    r->at += n;
    return v;
}

static bg_str get_str(reader *r)
{
    size_t n = (size_t)get(r, 4);
    if ((size_t)(r->end - r->at) < n) {
        r->short_read = true;
        return (bg_str){"", 0};
    }
    char *copy = bg_arena_strdup(r->arena, (const char *)r->at, n);
    r->at += n;
    if (copy == NULL)
        r->short_read = true;
    return (bg_str){copy == NULL ? "" : copy, copy == NULL ? 0 : n};
}

static bg_status read_hits(reader *r, bg_index_member *m, uint32_t n_prefixes)
{
    uint64_t n = get(r, 4), size = S_ISLNK(m->mode) ? m->link.len : m->size, at = 0;
    if (n > (uint64_t)(r->end - r->at) / 36)
        return bad(r->err, "its table of places is cut off");
    bg_hit *hits = BG_ARENA_ARRAY(r->arena, n, bg_hit);
    if (hits == NULL)
        return bg_error_set(r->err, BG_E_NOMEM, "out of memory while reading an artifact");
    for (uint64_t i = 0; i < n; i++) {
        bg_hit *h = &hits[i];
        h->offset = get(r, 8);
        h->start = get(r, 8);
        h->end = get(r, 8);
        h->len = (uint32_t)get(r, 4);
        h->prefix = (uint32_t)get(r, 4);
        h->kind = (uint32_t)get(r, 4);
        if (h->prefix >= n_prefixes || h->kind >= BG_PLACE_COUNT || (h->kind == BG_PLACE_LINK) != (S_ISLNK(m->mode) != 0))
            return bad(r->err, "a place is of no known kind");
        if (h->offset < at || h->offset > size || h->len > size - h->offset || h->start > h->offset || h->end > size ||
            h->end < h->offset + h->len)
            return bad(r->err, "a place lies outside its file");
        if (h->kind == BG_PLACE_RPATH && i != 0 && hits[i - 1].kind == BG_PLACE_RPATH && h->start < hits[i - 1].end &&
            (h->start != hits[i - 1].start || h->end != hits[i - 1].end))
            return bad(r->err, "two strings overlap");
        at = h->offset + h->len;
    }
    m->hits = hits;
    m->n_hits = (uint32_t)n;
    return BG_OK;
}

static bg_status check_member(reader *r, const bg_index_member *all, const bg_index_member *m, bool absolute_ok)
{
    uint32_t index = (uint32_t)(m - all);
    if (m->path.len > MAX_PATH_BYTES || !bg_path_is_safe(m->path, MAX_NAME_BYTES))
        return bg_error_set(r->err, BG_E_UNSAFE, "the artifact names the path \"%.*s\", which leaves its target",
                            BG_FMT(m->path));
    if (index != 0 && bg_str_cmp(all[index - 1].path, m->path) >= 0)
        return bad(r->err, "its files are not sorted");
    if (!S_ISREG(m->mode) && !S_ISDIR(m->mode) && !S_ISLNK(m->mode))
        return bg_error_set(r->err, BG_E_UNSAFE, "the artifact's \"%.*s\" is neither file, directory nor link", BG_FMT(m->path));
    if ((m->mode & ~(uint32_t)(S_IFMT | 0777)) != 0)
        return bg_error_set(r->err, BG_E_UNSAFE, "the artifact's \"%.*s\" has special mode bits", BG_FMT(m->path));
    if (m->same != 0 && (m->same > index || !S_ISREG(m->mode) || !S_ISREG(all[m->same - 1].mode) || all[m->same - 1].same != 0))
        return bad(r->err, "a hard link leads nowhere");
    if (m->same != 0 && m->n_hits != 0)
        return bad(r->err, "a hard link has places of its own");
    if (S_ISLNK(m->mode) && !absolute_ok && !bg_link_stays(m->path, m->link))
        return bg_error_set(r->err, BG_E_UNSAFE, "the artifact's link \"%.*s\" leads to \"%.*s\", out of its target",
                            BG_FMT(m->path), BG_FMT(m->link));
    return BG_OK;
}

static bg_status read_member(reader *r, bg_index_member *all, uint32_t index, uint32_t n_prefixes, uint64_t tar_bytes)
{
    bg_index_member *m = &all[index];
    m->path = get_str(r);
    m->mode = (uint32_t)get(r, 4);
    m->size = get(r, 8);
    m->data = get(r, 8);
    m->same = (uint32_t)get(r, 4);
    m->link = get_str(r);
    if (r->short_read)
        return bad(r->err, "its index is cut off");
    if (S_ISREG(m->mode) && m->same == 0 && (m->data > tar_bytes || m->size > tar_bytes - m->data))
        return bad(r->err, "a file lies outside its data");
    if (S_ISREG(m->mode) && m->same == 0) {
        for (uint32_t i = index; i-- > 0;) {
            if (S_ISREG(all[i].mode) && all[i].same == 0) {
                if (all[i].data + all[i].size > m->data)
                    return bad(r->err, "two files overlap");
                break;
            }
        }
    }
    if (!S_ISREG(m->mode) && m->size != 0)
        return bad(r->err, "something that is no file has a size");
    if (S_ISLNK(m->mode) && (m->link.len == 0 || m->link.len > 4096 || memchr(m->link.ptr, 0, m->link.len) != NULL))
        return bad(r->err, "a link has no proper target");
    BG_TRY(read_hits(r, m, n_prefixes));
    if (r->short_read)
        return bad(r->err, "its index is cut off");
    /* An absolute link is fine where its beginning is exchanged for a prefix of the new place. */
    bool relocated = S_ISLNK(m->mode) && m->n_hits != 0 && m->hits[0].offset == 0;
    return check_member(r, all, m, relocated);
}

static bg_status read_frames(bg_index *out, const char *bytes, size_t n, size_t *index_at, reader *r)
{
    const unsigned char *u = (const unsigned char *)bytes;
    if (n < 17)
        return bad(r->err, "it is too short");
    reader foot = {.at = u + n - 9, .end = u + n};
    uint64_t count = get(&foot, 4), descriptor = get(&foot, 1), seek_magic = get(&foot, 4);
    if (seek_magic != BG_SEEK_MAGIC || descriptor != 0)
        return bad(r->err, "its seek table is missing");
    if (count == 0 || count > (n - 17) / 8)
        return bad(r->err, "its seek table is cut off");
    size_t table = n - 17 - (size_t)count * 8;
    reader t = {.at = u + table, .end = u + n - 9};
    if (get(&t, 4) != BG_SKIPPABLE_SEEK || get(&t, 4) != count * 8 + 9)
        return bad(r->err, "its seek table has no beginning");
    bg_index_frame *frames = BG_ARENA_ARRAY(r->arena, count, bg_index_frame);
    if (frames == NULL)
        return bg_error_set(r->err, BG_E_NOMEM, "out of memory while reading an artifact");
    uint64_t at = 0;
    for (uint64_t i = 0; i < count; i++) {
        frames[i] = (bg_index_frame){at, get(&t, 4), 0};
        frames[i].plain = get(&t, 4);
        at += frames[i].packed;
        if (i + 1 < count) {
            if (frames[i].plain > BG_FRAME_BYTES || frames[i].plain == 0)
                return bad(r->err, "a frame has an impossible size");
            out->tar_bytes += frames[i].plain;
        }
    }
    if (at != table)
        return bad(r->err, "its frames do not fill it");
    out->frames = frames;
    out->n_frames = (uint32_t)count - 1;
    *index_at = (size_t)frames[count - 1].at;
    return BG_OK;
}

static bg_status open_index(reader *r, const char *bytes, size_t at, size_t end)
{
    reader h = {.at = (const unsigned char *)bytes + at, .end = (const unsigned char *)bytes + end};
    if (end - at < 8 + sizeof magic + 32 + 8 || get(&h, 4) != BG_SKIPPABLE_INDEX || get(&h, 4) != end - at - 8)
        return bad(r->err, "its index is missing");
    size_t body = end - at - 8 - 32 - 8;
    reader tail = {.at = h.end - 8, .end = h.end};
    if (get(&tail, 8) != body || memcmp(h.at, magic, sizeof magic) != 0)
        return bad(r->err, "its index has no beginning");
    bg_digest sum;
    BG_TRY(bg_sha256_of(h.at, body, &sum, r->err));
    if (memcmp(sum.b, h.at + body, 32) != 0)
        return bad(r->err, "the checksum of its index is wrong");
    r->at = h.at + sizeof magic;
    r->end = h.at + body;
    return BG_OK;
}

bg_status bg_index_read(bg_index *out, const char *bytes, size_t n, bg_arena *arena, bg_error *err)
{
    *out = (bg_index){0};
    reader r = {.arena = arena, .err = err};
    size_t index_at = 0;
    BG_TRY(read_frames(out, bytes, n, &index_at, &r));
    BG_TRY(open_index(&r, bytes, index_at, n - 17 - ((size_t)out->n_frames + 1) * 8));
    uint64_t n_prefixes = get(&r, 4);
    if (n_prefixes > 64)
        return bad(err, "it has too many prefixes");
    bg_prefix *prefixes = BG_ARENA_ARRAY(arena, n_prefixes, bg_prefix);
    if (prefixes == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory while reading an artifact");
    for (uint64_t i = 0; i < n_prefixes; i++) {
        prefixes[i].token = get_str(&r);
        prefixes[i].path = get_str(&r);
    }
    uint64_t n_members = get(&r, 4);
    if (r.short_read || n_members > (uint64_t)(r.end - r.at) / 36)
        return bad(err, "its index is cut off");
    bg_index_member *members = BG_ARENA_ARRAY(arena, n_members, bg_index_member);
    if (members == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory while reading an artifact");
    for (uint64_t i = 0; i < n_members; i++)
        BG_TRY(read_member(&r, members, (uint32_t)i, (uint32_t)n_prefixes, out->tar_bytes));
    if (r.at != r.end)
        return bad(err, "something follows its index");
    out->prefixes = prefixes;
    out->n_prefixes = (uint32_t)n_prefixes;
    out->members = members;
    out->n_members = (uint32_t)n_members;
    return BG_OK;
}
