/** The real path behind all symbolic links (realpath is an X/Open extension, so it has a room of its own). Any thread. */
#ifndef BG_KEY_REAL_H
#define BG_KEY_REAL_H

#include "base/buf.h"
#include "base/status.h"

/** Appends the real path of `path`; BG_E_NOENT and the like name it. */
BG_MUST_USE bg_status bg_real_path(bg_buf *out, const char *path, bg_error *err);

#endif
