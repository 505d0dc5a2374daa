/** From the places of a file to the edits that move it: computed, and refused where something does not fit, before a byte is written. */
#ifndef BG_CACHE_RELOCATE_H
#define BG_CACHE_RELOCATE_H

#include "cache/index.h"

/** At `offset`: leave out `skip` old bytes, write `n_pad` times `pad`, then `text`. Sorted; never overlapping. */
typedef struct {
    uint64_t offset, skip, n_pad;
    char pad;
    bg_str text;
} bg_edit;

/** Old prefix i of the artifact -> its new path; `path.ptr` NULL where the new place has none of that token. */
typedef struct {
    bg_str from, to;
} bg_move;

/** Match an artifact's prefixes with the new ones by token. */
BG_MUST_USE bg_status bg_moves(const bg_index *index, const bg_prefix *prefixes, size_t n_prefixes, bg_arena *arena,
                               const bg_move **out, bg_error *err);
/** Edits of one member (file or link). *n_edits 0: it stays as it is. BG_E_RELOCATE names file, place and both lengths. */
BG_MUST_USE bg_status bg_edits(const bg_index_member *member, const bg_move *moves, bg_arena *arena, bg_edit **out,
                               uint32_t *n_edits, bg_error *err);
/** Size of the member with the edits made. */
uint64_t bg_edited_size(uint64_t size, const bg_edit *edits, uint32_t n_edits);

#endif
