/** A line of source as a terminal shows it: tabs expanded, control characters made visible, and cut to a window around a place where
 *  the line is long. Pure; columns are terminal cells from 0. */
#ifndef BG_DIAG_WINDOW_H
#define BG_DIAG_WINDOW_H

#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

typedef struct {
    uint32_t caret, caret_len; /* cells within what was put, caret_len >= 1 */
} bg_window;

/** Put the part of `line` (no newline) around [offset, offset + len) into `out`, at most about 100 cells; "…" where it is cut. */
bg_window bg_window_put(bg_str line, uint32_t offset, uint32_t len, bg_buf *out);

#endif
