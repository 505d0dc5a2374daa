/** A commit as a person names it. */
#ifndef BGC_REVISION_H
#define BGC_REVISION_H

#include "base/status.h"

/** Resolve `rev` with the `git` program in the current directory into full lower-case hex digits; where git does not know it,
 *  4 to 64 hex digits stand for themselves. BG_E_USAGE otherwise. */
BG_MUST_USE bg_status bg_revision_resolve(const char *rev, char out[65], bg_error *err);

#endif
