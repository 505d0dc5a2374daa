/** Packing a tree into an artifact: one deterministic stream, written to a file descriptor and hashed on the way. One owner. */
#ifndef BG_CACHE_PACK_H
#define BG_CACHE_PACK_H

#include "cache/index.h"

typedef struct {
    bg_digest artifact;
    uint64_t packed_bytes;
} bg_packed;

/** Write the tree's members, whose files lie below `dir`, as an artifact to `fd`. A file that is no longer what the tree read is
 *  BG_E_CHANGED. */
BG_MUST_USE bg_status bg_pack(int fd, const bg_tree *tree, bg_str dir, bg_packed *out, bg_error *err);

/** Append the header(s) of one member to `out` in tar's ustar form, with a pax header where names, links or sizes don't fit. */
void bg_tar_header(bg_buf *out, const bg_member *member, const bg_member *first_of_link);

#endif
