/** Makes a child's output fit to be shown among ours: no cursor movement, titles or other escape
 * sequences, no stray control characters, no invalid UTF-8. Colour (SGR) is kept where colour is
 * wanted. Line ends are '\n'. Keeps its place between pieces, so that a sequence cut in two is
 * still seen. Logs hold the bytes as they came; this is for screens. One a node. */
#ifndef BG_EVENT_CLEAN_H
#define BG_EVENT_CLEAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

typedef struct {
    uint8_t state;
    uint8_t n_held;  /* bytes of a sequence that is not whole yet */
    bool is_colored; /* a colour was switched on and not off again */
    bool after_cr;
    char held[48];
} bg_clean;

/** `{0}` is a fresh one. */
void bg_clean_put(bg_clean *clean, bg_str bytes, bool keep_color, bg_buf *out);
/** End of the output: what is held is given up, colour is switched off. */
void bg_clean_end(bg_clean *clean, bg_buf *out);

#endif
