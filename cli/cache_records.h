/** All entries of a cache as a list that outlives the reading. One owner. */
#ifndef BGC_CACHE_RECORDS_H
#define BGC_CACHE_RECORDS_H

#include "base/arena.h"
#include "base/vec.h"
#include "bgraph/cache.h"

typedef struct {
    bg_status status;     /* BG_E_CORRUPT: only `file` is set */
    bg_cache_entry entry;
    const char *file;     /* of the record */
} bg_cache_record;

/** `{0}` is valid and empty; what the records point at lives in the arena. */
typedef struct {
    bg_arena arena;
    BG_VEC(bg_cache_record) records;
    bool failed;
} bg_cache_records;

void bg_cache_records_clear(bg_cache_records *all);
/** Every entry, sorted by node then key. */
BG_MUST_USE bg_status bg_cache_records_read(bg_cache_records *all, bg_cache *cache, bg_error *err);

#endif
