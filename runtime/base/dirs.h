/** Making and removing directories. No state; any thread. */
#ifndef BG_BASE_DIRS_H
#define BG_BASE_DIRS_H

#include "base/status.h"

/** Make a directory and what is missing above it; one that is there is fine. */
BG_MUST_USE bg_status bg_fs_mkdirs(const char *path, bg_error *err);
/** The same for the directory that holds `path`. */
BG_MUST_USE bg_status bg_fs_mkdirs_parent(const char *path, bg_error *err);
/** Remove a file or a whole tree, never following links; a missing one is fine. */
BG_MUST_USE bg_status bg_fs_remove(const char *path, bg_error *err);

#endif
