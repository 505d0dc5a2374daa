#define _XOPEN_SOURCE 700
#include "cache/pack.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { LEVEL = 3 };

typedef struct {
    int fd;
    bg_error *err;
    ZSTD_CCtx *zstd;
    bg_sha256 sha;
    bg_buf plain, packed; /* the frame that is being filled; one compressed frame */
    BG_VEC(bg_index_frame) frames;
    uint64_t tar_bytes, file_bytes;
} packer;

static bg_status nomem(bg_error *err)
{
    return bg_error_set(err, BG_E_NOMEM, "out of memory while packing");
}

static bg_status put_file(packer *p, const char *bytes, size_t n)
{
    bg_sha256_update(&p->sha, bytes, n);
    p->file_bytes += n;
    while (n != 0) {
        ssize_t w = write(p->fd, bytes, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0)
            return bg_error_os(p->err, errno, "can't write to the cache");
        bytes += w;
        n -= (size_t)w;
    }
    return BG_OK;
}

static bg_status flush_frame(packer *p)
{
    if (p->plain.len == 0)
        return BG_OK;
    size_t bound = ZSTD_compressBound(p->plain.len);
    bg_buf_reset(&p->packed);
    char *to = bg_buf_reserve(&p->packed, bound);
    if (to == NULL)
        return nomem(p->err);
    size_t n = ZSTD_compress2(p->zstd, to, bound, p->plain.data, p->plain.len);
    if (ZSTD_isError(n))
        return bg_error_set(p->err, BG_E_LIBRARY, "zstd can't compress: %s", ZSTD_getErrorName(n));
    bg_index_frame frame = {p->file_bytes, n, p->plain.len};
    if (!BG_VEC_PUSH(&p->frames, frame))
        return nomem(p->err);
    bg_buf_reset(&p->plain);
    return put_file(p, to, n);
}

static bg_status put_tar(packer *p, const char *bytes, size_t n)
{
    while (n != 0) {
        size_t room = BG_FRAME_BYTES - p->plain.len;
        size_t take = n < room ? n : room;
        bg_buf_put(&p->plain, bytes, take);
        if (p->plain.failed)
            return nomem(p->err);
        bytes += take;
        n -= take;
        p->tar_bytes += take;
        if (p->plain.len == BG_FRAME_BYTES)
            BG_TRY(flush_frame(p));
    }
    return BG_OK;
}

static bg_status put_zeros(packer *p, size_t n)
{
    static const char zero[1024];
    return put_tar(p, zero, n);
}

static bg_status put_content(packer *p, const bg_member *m, bg_str dir)
{
    bg_buf full = {0};
    bg_buf_printf(&full, "%.*s/%.*s", BG_FMT(dir), BG_FMT(m->path));
    bg_mapped map;
    bg_status status = full.failed ? nomem(p->err) : bg_mapped_open(&map, full.data, p->err);
    if (status == BG_OK) {
        status = map.n != m->size ? bg_error_set(p->err, BG_E_CHANGED, "%s changed while it was packed", full.data)
                                  : put_tar(p, map.bytes, map.n);
        bg_mapped_close(&map);
    }
    bg_buf_clear(&full);
    if (status == BG_OK)
        status = put_zeros(p, (512 - m->size % 512) % 512);
    return status;
}

static bg_status put_members(packer *p, const bg_tree *tree, bg_str dir, uint64_t *data)
{
    bg_buf header = {0};
    bg_status status = BG_OK;
    for (size_t i = 0; i < tree->members.n && status == BG_OK; i++) {
        const bg_member *m = &tree->members.at[i];
        bg_buf_reset(&header);
        bg_tar_header(&header, m, m->same != 0 ? &tree->members.at[m->same - 1] : NULL);
        status = header.failed ? nomem(p->err) : put_tar(p, header.data, header.len);
        data[i] = p->tar_bytes;
        if (status == BG_OK && S_ISREG(m->mode) && m->same == 0)
            status = put_content(p, m, dir);
    }
    bg_buf_clear(&header);
    if (status == BG_OK)
        status = put_zeros(p, 1024); /* the end of a tar */
    return status == BG_OK ? flush_frame(p) : status;
}

static bg_status put_tail(packer *p, const bg_tree *tree, const uint64_t *data)
{
    bg_buf tail = {0};
    bg_status status = bg_index_write(&tail, tree, data, p->err);
    if (status == BG_OK) {
        bg_index_write_seek(&tail, p->frames.at, p->frames.n, tail.len);
        status = tail.failed ? nomem(p->err) : put_file(p, tail.data, tail.len);
    }
    bg_buf_clear(&tail);
    return status;
}

bg_status bg_pack(int fd, const bg_tree *tree, bg_str dir, bg_packed *out, bg_error *err)
{
    packer p = {.fd = fd, .err = err, .zstd = ZSTD_createCCtx()};
    uint64_t *data = calloc(tree->members.n + 1, sizeof *data);
    bg_status status = p.zstd == NULL || data == NULL ? nomem(err) : bg_sha256_init(&p.sha, err);
    if (status == BG_OK) {
        ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_checksumFlag, 1);
        status = put_members(&p, tree, dir, data);
    }
    if (status == BG_OK)
        status = put_tail(&p, tree, data);
    if (status == BG_OK)
        *out = (bg_packed){bg_sha256_final(&p.sha), p.file_bytes};
    bg_sha256_clear(&p.sha);
    ZSTD_freeCCtx(p.zstd);
    BG_VEC_CLEAR(&p.frames);
    bg_buf_clear(&p.plain);
    bg_buf_clear(&p.packed);
    free(data);
    return status;
}
