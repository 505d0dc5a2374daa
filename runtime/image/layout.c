#include "image/layout.h"

#include <string.h>

#include "base/hash.h"
#include "image/tables.h"

bg_status bg_layout_bad(bg_error *err, uint64_t offset, const char *what)
{
    bg_status s = bg_error_set(err, BG_E_CORRUPT, "the image is damaged: %s (byte %llu). Compile it again.", what,
                               (unsigned long long)offset);
    if (err != NULL)
        err->offset = offset;
    return s;
}

static uint64_t aligned(uint64_t n)
{
    return (n + BG_IMAGE_ALIGN - 1) & ~(uint64_t)(BG_IMAGE_ALIGN - 1);
}

size_t bg_layout_entry(uint32_t i)
{
    return BG_IMAGE_HEADER_BYTES + (size_t)i * BG_IMAGE_ENTRY_BYTES;
}

bg_image_part bg_layout_at(const unsigned char *bytes, uint32_t i)
{
    const unsigned char *e = bytes + bg_layout_entry(i);
    bg_image_part part = {.bytes = {(const char *)bytes + bg_get_u64(e + 8), (size_t)bg_get_u64(e + 16)}};
    memcpy(part.tag, e, 4);
    return part;
}

static void put_u64(unsigned char *p, uint64_t v)
{
    for (unsigned i = 0; i < 8; i++)
        p[i] = (unsigned char)(v >> (8 * i));
}

void bg_layout_seal(unsigned char *bytes, size_t n)
{
    put_u64(bytes + BG_IMAGE_SIZE_AT, n);
    put_u64(bytes + BG_IMAGE_CHECKSUM_AT,
            bg_hash_bytes(bytes + BG_IMAGE_HEADER_BYTES, n - BG_IMAGE_HEADER_BYTES));
}

static void put_zeros(bg_buf *out, size_t n)
{
    static const char zero[BG_IMAGE_HEADER_BYTES];
    bg_buf_put(out, zero, n);
}

static void put_parts(const bg_image_part *parts, size_t n, bg_buf *out)
{
    bg_buf_put(out, BG_IMAGE_MAGIC, 16);
    bg_buf_u32(out, BG_IMAGE_VERSION);
    bg_buf_u32(out, (uint32_t)n);
    put_zeros(out, BG_IMAGE_HEADER_BYTES - BG_IMAGE_SIZE_AT);
    uint64_t at = BG_IMAGE_HEADER_BYTES + n * BG_IMAGE_ENTRY_BYTES;
    for (size_t i = 0; i < n; i++) {
        bg_buf_put(out, parts[i].tag, 4);
        bg_buf_u32(out, BG_IMAGE_ALIGN);
        bg_buf_u64(out, at);
        bg_buf_u64(out, parts[i].bytes.len);
        at = aligned(at + parts[i].bytes.len);
    }
    for (size_t i = 0; i < n; i++) {
        bg_buf_str(out, parts[i].bytes);
        put_zeros(out, (size_t)(aligned(parts[i].bytes.len) - parts[i].bytes.len));
    }
}

bg_status bg_layout_write(const bg_image_part *parts, size_t n, bg_buf *out, bg_error *err)
{
    uint64_t size = BG_IMAGE_HEADER_BYTES + n * BG_IMAGE_ENTRY_BYTES;
    for (size_t i = 0; i < n && size <= UINT32_MAX; i++)
        size += aligned(parts[i].bytes.len);
    if (size > UINT32_MAX)
        return bg_error_set(err, BG_E_LIMIT, "the image would be larger than 4 GiB");
    size_t start = out->len;
    if (bg_buf_reserve(out, (size_t)size) != NULL)
        put_parts(parts, n, out);
    if (out->failed)
        return bg_error_set(err, BG_E_NOMEM, "out of memory while building the image");
    bg_layout_seal((unsigned char *)out->data + start, out->len - start);
    return BG_OK;
}

static bg_status check_header(const unsigned char *p, size_t n, bg_error *err)
{
    if (n < BG_IMAGE_HEADER_BYTES)
        return bg_layout_bad(err, n, "it is too short");
    if (memcmp(p, BG_IMAGE_MAGIC, 16) != 0)
        return bg_layout_bad(err, 0, "it does not begin as an image does");
    uint32_t version = bg_get_u32(p + BG_IMAGE_VERSION_AT);
    if (version != BG_IMAGE_VERSION) {
        bg_status s = bg_error_set(err, BG_E_VERSION, "the image has format version %u, this bgc reads %u. Compile it again.",
                                   version, BG_IMAGE_VERSION);
        if (err != NULL)
            err->offset = BG_IMAGE_VERSION_AT;
        return s;
    }
    if (bg_get_u64(p + BG_IMAGE_SIZE_AT) != n)
        return bg_layout_bad(err, BG_IMAGE_SIZE_AT, "its size is not the one it was written with");
    for (size_t i = BG_IMAGE_CHECKSUM_AT + 8; i < BG_IMAGE_HEADER_BYTES; i++) {
        if (p[i] != 0)
            return bg_layout_bad(err, i, "a reserved byte is set");
    }
    if (bg_hash_bytes(p + BG_IMAGE_HEADER_BYTES, n - BG_IMAGE_HEADER_BYTES) != bg_get_u64(p + BG_IMAGE_CHECKSUM_AT))
        return bg_layout_bad(err, BG_IMAGE_CHECKSUM_AT, "its checksum is wrong");
    return BG_OK;
}

bg_status bg_layout_check(const unsigned char *bytes, size_t n, uint32_t *n_parts, bg_error *err)
{
    BG_TRY(check_header(bytes, n, err));
    uint64_t count = bg_get_u32(bytes + BG_IMAGE_COUNT_AT);
    uint64_t at = BG_IMAGE_HEADER_BYTES + count * BG_IMAGE_ENTRY_BYTES;
    if (at > n)
        return bg_layout_bad(err, BG_IMAGE_COUNT_AT, "the section table is cut off");
    for (uint32_t i = 0; i < count; i++) {
        size_t entry = bg_layout_entry(i);
        uint64_t offset = bg_get_u64(bytes + entry + 8), size = bg_get_u64(bytes + entry + 16);
        if (bg_get_u32(bytes + entry + 4) != BG_IMAGE_ALIGN || offset != at)
            return bg_layout_bad(err, entry, "a section is not where the one before it ends, or not aligned");
        if (size > n - offset || aligned(size) > n - offset)
            return bg_layout_bad(err, entry, "a section is cut off");
        at = offset + aligned(size);
        for (uint64_t pad = offset + size; pad < at; pad++) {
            if (bytes[pad] != 0)
                return bg_layout_bad(err, pad, "the space between sections is not empty");
        }
    }
    if (at != n)
        return bg_layout_bad(err, at, "there is something behind the last section");
    *n_parts = (uint32_t)count;
    return BG_OK;
}
