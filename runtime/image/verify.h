/** The trust boundary: after bg_image_verify everything that a graph's arrays say can be followed without a check. Pure. */
#ifndef BG_IMAGE_VERIFY_H
#define BG_IMAGE_VERIFY_H

#include "bgraph/image.h"

/** `graph` has its arrays placed within its bytes, nothing more. Returns BG_OK, BG_E_CORRUPT with the offset, BG_E_NOMEM. */
BG_MUST_USE bg_status bg_image_verify(const bg_graph *graph, bg_error *err);

#endif
