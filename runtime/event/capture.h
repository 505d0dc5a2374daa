/** Output that waits to be shown: its beginning and its end, bounded, so that a child that writes
 * gigabytes costs a log file and no memory. One owner. */
#ifndef BG_EVENT_CAPTURE_H
#define BG_EVENT_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

typedef struct {
    size_t max_head, max_tail; /* bytes kept of each, set by the owner */
    bg_buf head, tail;         /* tail holds up to twice max_tail before it is cut */
    uint64_t n_dropped;        /* bytes between the two */
} bg_capture;

void bg_capture_clear(bg_capture *capture);
void bg_capture_reset(bg_capture *capture);
void bg_capture_put(bg_capture *capture, bg_str bytes);
/** Append what was kept; where bytes were dropped, whole lines are left out and a line says how
 * much. */
void bg_capture_get(const bg_capture *capture, bg_buf *out);
/** Append at most the last `n_lines` lines. */
void bg_capture_last(const bg_capture *capture, size_t n_lines, bg_buf *out);

#endif
