/** Text escaped for where it goes. Pure. */
#ifndef BG_IMAGE_RENDER_H
#define BG_IMAGE_RENDER_H

#include "bgraph/image.h"

/** Append `text` as the inside of a TOML basic string or of a JSON string (without the quotes), or as a word of a make
 *  dependency list (spaces, #, $ and \ escaped). */
void bg_render_text(bg_render format, bg_str text, bg_buf *out);

#endif
