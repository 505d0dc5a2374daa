/** Text for people: column widths, one-line forms that can't break a terminal or a CI log, and
 * numbers with units. Pure functions that append to a buffer; nothing depends on the locale. */
#ifndef BG_EVENT_TEXT_H
#define BG_EVENT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/** Columns that `s` takes on a terminal: 0 for combining marks, 2 for wide characters, 1 for an
 * invalid byte. */
size_t bg_text_width(bg_str s);
/** Append `s` as part of one line: control characters and line ends become a space, invalid bytes
 * U+FFFD; what would reorder the line (bidirectional controls) is dropped. */
void bg_text_line(bg_buf *out, bg_str s);
/** The same, cut to `columns` with "…" where it was longer. */
void bg_text_cut(bg_buf *out, bg_str s, size_t columns);
void bg_text_pad(bg_buf *out, size_t n_spaces);

/** "12.34": seconds, rounded to hundredths. */
void bg_text_seconds(bg_buf *out, uint64_t ns);
/** "3 ms", "12.3s", "4m 5s", "1h 8m 2s". */
void bg_text_duration(bg_buf *out, uint64_t ns);
/** "512 B", "12.3 MiB". */
void bg_text_size(bg_buf *out, uint64_t bytes);

/** Decode one code point: its length in *n (at least 1), U+FFFD for an invalid byte. len > 0. */
uint32_t bg_text_decode(const char *s, size_t len, size_t *n);

#endif
