/** Unpacking an artifact at another place: decompress a frame, patch it in memory, write it. One owner, any thread. */
#ifndef BG_CACHE_RESTORE_H
#define BG_CACHE_RESTORE_H

#include "cache/relocate.h"

/** Restore the artifact in `bytes` as `dir`. All that can be refused is refused before `dir` or anything beside it is touched; `dir` is
 *  exchanged as a whole at the end. `entry`'s outputs must be there. */
BG_MUST_USE bg_status bg_restore(const char *bytes, size_t n, const bg_cache_entry *entry, bg_str dir,
                                 const bg_prefix *prefixes, size_t n_prefixes, bg_error *err);

#endif
