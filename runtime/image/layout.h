/** Where the parts of an image lie in the file: header, section table, sections. What they mean is not known here.
 *  The layout is strict (sections follow each other in the table's order, 8-aligned, zero between), so that one list of
 *  sections has one file. Pure. */
#ifndef BG_IMAGE_LAYOUT_H
#define BG_IMAGE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

enum {
    BG_IMAGE_VERSION_AT = 16,
    BG_IMAGE_COUNT_AT = 20,
    BG_IMAGE_SIZE_AT = 24,
    BG_IMAGE_CHECKSUM_AT = 32,
    BG_IMAGE_HEADER_BYTES = 64,
    BG_IMAGE_ENTRY_BYTES = 24,
    BG_IMAGE_ALIGN = 8
};

typedef struct {
    char tag[4];
    bg_str bytes;
} bg_image_part;

/** Append a whole image of `n` parts. BG_E_LIMIT past 4 GiB, BG_E_NOMEM; `out` is then as it was, or failed. */
BG_MUST_USE bg_status bg_layout_write(const bg_image_part *parts, size_t n, bg_buf *out, bg_error *err);
/** Check header, checksum, bounds, order and padding of `n` bytes; *n_parts receives the number of sections. */
BG_MUST_USE bg_status bg_layout_check(const unsigned char *bytes, size_t n, uint32_t *n_parts, bg_error *err);
/** Section `i` (from 0) of bytes that were checked. */
bg_image_part bg_layout_at(const unsigned char *bytes, uint32_t i);
/** Offset of that section's entry in the table. */
size_t bg_layout_entry(uint32_t i);
/** Write size and checksum into the header of n bytes (at least a header). */
void bg_layout_seal(unsigned char *bytes, size_t n);
/** The error of a damaged image: sets err->offset, returns BG_E_CORRUPT. */
bg_status bg_layout_bad(bg_error *err, uint64_t offset, const char *what);

#endif
