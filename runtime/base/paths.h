/** The one rule for paths that come from a file and are joined to a directory of ours. Pure. */
#ifndef BG_BASE_PATHS_H
#define BG_BASE_PATHS_H

#include "base/str.h"

/** Relative, not empty, no NUL, no empty part, no "." or "..", no part longer than `max_part` bytes: it stays below any directory that it
 *  is joined to (as long as no link stands in between). */
bool bg_path_is_safe(bg_str path, size_t max_part);

#endif
