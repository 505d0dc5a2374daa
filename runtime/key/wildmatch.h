/** Git's glob language: `?`, `*`, `**`, `[…]` with classes, backslash. Pure. */
#ifndef BG_KEY_WILDMATCH_H
#define BG_KEY_WILDMATCH_H

#include <stdbool.h>

/** Both NUL-terminated. `*` and `?` and classes never match '/'; `**` between slashes matches any directories. */
bool bg_wildmatch(const char *pattern, const char *text);

#endif
