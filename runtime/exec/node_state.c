/* What the state remembers of a node: preimage, digests, and the stamps of the files it left. A record of another version, or a
 * damaged one, counts as none. Durations are kept apart, since they outlive a record. */
#include <string.h>

#include "exec/exec.h"

enum { RECORD_VERSION = 2, IS_MATERIALIZED = 1 };

static void put_str(bg_buf *out, bg_str s)
{
    bg_buf_u32(out, (uint32_t)s.len);
    bg_buf_str(out, s);
}

typedef struct {
    bg_str rest;
    bool bad;
} reader;

static bg_str take(reader *r, size_t n)
{
    if (r->bad || n > r->rest.len) {
        r->bad = true;
        return (bg_str){"", 0};
    }
    bg_str s = {r->rest.ptr, n};
    r->rest = (bg_str){r->rest.ptr + n, r->rest.len - n};
    return s;
}

static uint64_t take_uint(reader *r, size_t n)
{
    bg_str s = take(r, n);
    uint64_t v = 0;
    for (size_t i = s.len; i-- > 0;)
        v = v << 8 | (unsigned char)s.ptr[i];
    return v;
}

static uint32_t take_u32(reader *r)
{
    return (uint32_t)take_uint(r, 4);
}

static bg_str take_str(reader *r)
{
    return take(r, take_u32(r));
}

static void take_digest(reader *r, bg_digest *d)
{
    bg_str s = take(r, sizeof d->b);
    if (s.len == sizeof d->b)
        memcpy(d->b, s.ptr, sizeof d->b);
}

static bg_digest *take_digests(bg_exec *x, reader *r, size_t *n)
{
    *n = take_u32(r);
    if (r->bad || *n > r->rest.len / sizeof(bg_digest)) {
        r->bad = true;
        *n = 0;
    }
    bg_digest *all = BG_ARENA_ARRAY(&x->arena, *n + 1, bg_digest);
    for (size_t i = 0; all != NULL && i < *n; i++)
        take_digest(r, &all[i]);
    return all;
}

static void take_stamps(bg_exec *x, reader *r, bg_exec_record *out)
{
    out->n_stamps = take_u32(r);
    if (r->bad || out->n_stamps > r->rest.len / 40) {
        r->bad = true;
        out->n_stamps = 0;
    }
    out->stamps = BG_ARENA_ARRAY(&x->arena, out->n_stamps + 1, bg_exec_stamp);
    for (size_t i = 0; out->stamps != NULL && i < out->n_stamps; i++) {
        bg_exec_stamp *s = &out->stamps[i];
        s->path = take_str(r);
        s->mode = take_u32(r);
        s->size = take_uint(r, 8);
        s->mtime_ns = take_uint(r, 8);
        s->ctime_ns = take_uint(r, 8);
        s->ino = take_uint(r, 8);
    }
}

bg_status bg_exec_record_load(bg_exec *x, bg_exec_node *n)
{
    bg_str value;
    n->record = (bg_exec_record){0};
    if (x->state == NULL || bg_state_get(x->state, BG_STATE_NODE, n->name, &value) != BG_OK)
        return BG_OK;
    /* The state's bytes are borrowed until the next put. */
    char *copy = bg_arena_strdup(&x->arena, value.ptr, value.len);
    if (copy == NULL)
        return BG_E_NOMEM;
    reader r = {{copy, value.len}, false};
    bg_exec_record out = {.present = true};
    if (take_u32(&r) != RECORD_VERSION)
        return BG_OK;
    out.materialized = (take_u32(&r) & IS_MATERIALIZED) != 0;
    take_digest(&r, &out.key);
    out.preimage = take_str(&r);
    out.outputs = take_digests(x, &r, &out.n_outputs);
    out.products = take_digests(x, &r, &out.n_products);
    take_stamps(x, &r, &out);
    if (out.outputs == NULL || out.products == NULL || out.stamps == NULL)
        return BG_E_NOMEM;
    if (!r.bad && r.rest.len == 0 && out.n_outputs == n->n_outputs && out.n_products == bg_exec_image(x, n)->n_prods)
        n->record = out;
    return BG_OK;
}

typedef struct {
    const bg_exec_record *record;
    size_t next;
} comparison;

static bool compare_stamp(void *self, bg_str rel, const bg_exec_stamp *is)
{
    comparison *c = self;
    if (c->next == c->record->n_stamps)
        return false;
    const bg_exec_stamp *was = &c->record->stamps[c->next++];
    return bg_str_eq(was->path, rel) && was->mode == is->mode && was->size == is->size &&
           was->mtime_ns == is->mtime_ns && was->ctime_ns == is->ctime_ns && was->ino == is->ino;
}

bool bg_exec_record_fresh(bg_exec *x, const bg_exec_node *n)
{
    (void)x;
    comparison c = {&n->record, 0};
    for (size_t i = 0; i < n->n_outputs; i++) {
        if (bg_fs_stamps(n->out_dir.ptr, n->outputs[i].path, compare_stamp, &c, NULL) != BG_OK)
            return false;
    }
    return c.next == n->record.n_stamps;
}

typedef struct {
    bg_buf bytes;
    uint32_t n;
} collection;

static bool collect_stamp(void *self, bg_str rel, const bg_exec_stamp *s)
{
    collection *c = self;
    put_str(&c->bytes, rel);
    bg_buf_u32(&c->bytes, s->mode);
    bg_buf_u64(&c->bytes, s->size);
    bg_buf_u64(&c->bytes, s->mtime_ns);
    bg_buf_u64(&c->bytes, s->ctime_ns);
    bg_buf_u64(&c->bytes, s->ino);
    c->n++;
    return true;
}

static void put_digests(bg_exec *x, bg_buf *out, const bg_exec_node *n)
{
    const bg_img_nodes *image = bg_exec_image(x, n);
    bg_buf_u32(out, (uint32_t)n->n_outputs);
    for (size_t i = 0; i < n->n_outputs; i++)
        bg_buf_put(out, n->outputs[i].digest.b, sizeof n->outputs[i].digest.b);
    bg_buf_u32(out, image->n_prods);
    for (uint32_t i = 0; i < image->n_prods; i++)
        bg_buf_put(out, x->products[image->prods + i].digest.b, sizeof(bg_digest));
}

bg_status bg_exec_record_save(bg_exec *x, bg_exec_node *n, bg_error *err)
{
    collection c = {0};
    bg_buf out = {0};
    bg_status status = BG_OK;
    for (size_t i = 0; n->on_disk && i < n->n_outputs && status == BG_OK; i++)
        status = bg_fs_stamps(n->out_dir.ptr, n->outputs[i].path, collect_stamp, &c, err);
    bg_buf_u32(&out, RECORD_VERSION);
    bg_buf_u32(&out, n->on_disk ? IS_MATERIALIZED : 0);
    bg_buf_put(&out, n->key.b, sizeof n->key.b);
    put_str(&out, n->preimage);
    put_digests(x, &out, n);
    bg_buf_u32(&out, c.n);
    bg_buf_str(&out, bg_buf_view(&c.bytes));
    if (status == BG_OK && (out.failed || c.bytes.failed))
        status = bg_error_set(err, BG_E_NOMEM, "out of memory");
    if (status == BG_OK)
        status = bg_state_put(x->state, BG_STATE_NODE, n->name, bg_buf_view(&out), err);
    bg_buf_clear(&out);
    bg_buf_clear(&c.bytes);
    return status;
}

bg_status bg_exec_record_drop(bg_exec *x, bg_exec_node *n, bg_error *err)
{
    n->record.present = false;
    bg_status status = bg_state_delete(x->state, BG_STATE_NODE, n->name, err);
    if (status != BG_OK && status != BG_E_NOENT)
        return status;
    return bg_state_commit(x->state, err);
}

static bg_str duration_key(bg_exec *x, const bg_exec_node *n)
{
    return bg_str_of(bg_arena_printf(&x->arena, "duration:%.*s", BG_FMT(n->name)));
}

uint64_t bg_exec_duration_load(bg_exec *x, const bg_exec_node *n)
{
    bg_str key = duration_key(x, n), value;
    if (x->state == NULL || key.ptr == NULL || bg_state_get(x->state, BG_STATE_META, key, &value) != BG_OK)
        return 0;
    reader r = {value, false};
    uint32_t version = take_u32(&r);
    uint64_t ns = take_uint(&r, 8);
    return version == 1 && !r.bad ? ns : 0;
}

/* A duration that can't be kept costs a worse order in the next run, nothing else. */
void bg_exec_duration_save(bg_exec *x, const bg_exec_node *n)
{
    bg_buf out = {0};
    bg_str key = duration_key(x, n);
    bg_buf_u32(&out, 1);
    bg_buf_u64(&out, n->ended_ns > n->began_ns ? n->ended_ns - n->began_ns : 1);
    if (key.ptr != NULL && !out.failed && bg_state_put(x->state, BG_STATE_META, key, bg_buf_view(&out), NULL) != BG_OK) {
        /* See above. */
    }
    bg_buf_clear(&out);
}
