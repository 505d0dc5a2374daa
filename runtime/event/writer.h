/** The file side of a sink: a buffered, close-on-exec output whose first failure is kept and
 * reported once, when it is closed. One owner, one thread. */
#ifndef BG_EVENT_WRITER_H
#define BG_EVENT_WRITER_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/status.h"

typedef struct {
    FILE *file;
    bool owned;   /* opened here */
    int os_error; /* first failure, errno */
    char *path;   /* for messages; NULL if borrowed */
} bg_writer;

/** Open `path` (truncated, or at its end if `append`). On failure err says which file and why. */
BG_MUST_USE bg_status bg_writer_open(bg_writer *writer, const char *path, bool append,
                                     bg_error *err);
/** Write to a stream that stays the caller's. */
void bg_writer_borrow(bg_writer *writer, FILE *file);
void bg_writer_put(bg_writer *writer, const bg_buf *bytes);
void bg_writer_flush(bg_writer *writer);
/** Flush and close; BG_E_IO, BG_E_NOSPACE … if anything could not be written. */
bg_status bg_writer_close(bg_writer *writer, bg_error *err);

#endif
