/** The index of an artifact: what is in it and where old prefixes stand. Written when packing, read strictly when restoring: after
 *  bg_index_read every path is relative and stays below the target, every reference is in range, and members are sorted.
 *
 *  An artifact is:  zstd frames of a tar stream | skippable frame 0x184D2A50: index, u64 its length | skippable frame 0x184D2A5E: the seek
 *  table of zstd's seekable format. Numbers are little-endian. */
#ifndef BG_CACHE_INDEX_H
#define BG_CACHE_INDEX_H

#include "cache/tree.h"

typedef struct {
    bg_str path;
    uint32_t mode;
    uint64_t size;
    uint64_t data; /* offset of its bytes in the tar stream */
    uint32_t same; /* as in bg_member */
    bg_str link;
    const bg_hit *hits;
    uint32_t n_hits;
} bg_index_member;

typedef struct {
    uint64_t at, packed, plain; /* offset in the file, bytes there, bytes of tar */
} bg_index_frame;

typedef struct {
    const bg_prefix *prefixes;
    uint32_t n_prefixes;
    const bg_index_member *members;
    uint32_t n_members;
    const bg_index_frame *frames;
    uint32_t n_frames;
    uint64_t tar_bytes;
} bg_index;

enum {
    BG_FRAME_BYTES = 4 * 1024 * 1024, /* of tar in one frame, at most */
    BG_SKIPPABLE_INDEX = 0x184D2A50,
    BG_SKIPPABLE_SEEK = 0x184D2A5E
};
#define BG_SEEK_MAGIC 0x8F92EAB1u

/** Append the index frame (skippable, whole). `data[i]` is the offset of member i's bytes. */
BG_MUST_USE bg_status bg_index_write(bg_buf *out, const bg_tree *tree, const uint64_t *data, bg_error *err);
/** Append the seek table; `frames` are the data frames, then one entry for the index frame of `index_bytes`. */
void bg_index_write_seek(bg_buf *out, const bg_index_frame *frames, size_t n, size_t index_bytes);
/** Parse and check the end of a whole artifact. Everything lives in `arena`; strings are copied. BG_E_CORRUPT, BG_E_UNSAFE, BG_E_LIMIT. */
BG_MUST_USE bg_status bg_index_read(bg_index *out, const char *bytes, size_t n, bg_arena *arena, bg_error *err);

#endif
