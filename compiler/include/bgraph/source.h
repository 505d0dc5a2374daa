/** Source texts of a session and places in them. A span is bytes; line and column are computed when rendering. */
#ifndef BGRAPH_SOURCE_H
#define BGRAPH_SOURCE_H

#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

/** `file` is 1-based; {0} is "no place". */
typedef struct {
    uint32_t file, offset, len;
} bg_span;

static inline bg_span bg_span_join(bg_span a, bg_span b)
{
    if (a.file == 0)
        return b;
    if (b.file == 0 || b.file != a.file || b.offset + b.len <= a.offset)
        return a;
    return (bg_span){a.file, a.offset, b.offset + b.len - a.offset};
}

typedef struct {
    bg_str path;  /* as shown to people */
    bg_str image_path; /* relative to the root file's directory, or std/NAME */
    bg_str dir;   /* absolute directory */
    bg_str text;  /* whole, without a BOM */
    int is_std;
    uint32_t *lines; /* offset of each line's first byte */
    uint32_t n_lines;
} bg_source;

/** Line and column (code points), both from 1. */
void bg_source_locate(const bg_source *source, uint32_t offset, uint32_t *line, uint32_t *column);

#endif
