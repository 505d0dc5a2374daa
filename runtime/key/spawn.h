/** Run a program and take what it prints: for asking tools who they are. No shell; standard input is empty; standard error is
 *  kept apart for messages; the caller's environment is inherited. Blocks, with a time limit. */
#ifndef BG_KEY_SPAWN_H
#define BG_KEY_SPAWN_H

#include "base/buf.h"
#include "base/status.h"

/** argv[0] is the path that is executed; argv ends with NULL. *out and *diag receive both outputs (up to 1 MiB each is kept).
 *  BG_E_ACTION: it failed, with its exit status and output in err. */
BG_MUST_USE bg_status bg_spawn_capture(char *const *argv, bg_buf *out, bg_buf *diag, bg_error *err);

#endif
