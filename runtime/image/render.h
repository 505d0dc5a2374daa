/** Text escaped for where it goes. Pure. */
#ifndef BG_IMAGE_RENDER_H
#define BG_IMAGE_RENDER_H

#include "bgraph/image.h"

/** Append `text` as the inside of a TOML basic string or of a JSON string (without the quotes), or as a word of a make
 *  dependency list (white space, #, : and $ escaped). BG_E_USAGE: it has no form there (not UTF-8; a newline for make).
 *  A failed buffer is left to the caller. */
BG_MUST_USE bg_status bg_render_text(bg_render format, bg_str text, bg_buf *out, bg_error *err);

#endif
