/** Lexical paths: parts joined by '/', never leaving the place they count from. Pure. */
#ifndef BG_IMAGE_PATH_H
#define BG_IMAGE_PATH_H

#include "bgraph/image.h"

/** bg_path_join, but `rel` may climb within `base` as far as the root that `base` counts from. */
BG_MUST_USE bg_status bg_path_resolve(bg_arena *arena, bg_str base, bg_str rel, bg_str *out, bg_error *err);
/** Without its last component, no slash at the end; "" if there is one only. */
bg_str bg_path_parent(bg_str path);
/** Its last component. */
bg_str bg_path_last(bg_str path);

#endif
