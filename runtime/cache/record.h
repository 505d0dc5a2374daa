/** The small record of an entry: a first line `bgc-entry 1 SHA256-OF-THE-REST`, then JSON. Read strictly. */
#ifndef BG_CACHE_RECORD_H
#define BG_CACHE_RECORD_H

#include "base/buf.h"
#include "bgraph/cache.h"

BG_MUST_USE bg_status bg_record_write(bg_buf *out, const bg_cache_entry *entry, bg_error *err);
/** All strings of *out live in `arena`. BG_E_CORRUPT, BG_E_VERSION. */
BG_MUST_USE bg_status bg_record_read(bg_cache_entry *out, bg_str text, bg_arena *arena, bg_error *err);

#endif
