/** What GitHub Actions reads out of a log: workflow commands. Ours are written here; those of
 * children are kept from being read by a fence (`::stop-commands::TOKEN` … `::TOKEN::`) whose token
 * they can't know. One owner. */
#ifndef BG_EVENT_GITHUB_H
#define BG_EVENT_GITHUB_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

typedef struct {
    char token[40]; /* of the open fence, NUL-terminated; empty: none is open */
} bg_fence;

/** Append the start of a flat group and of a fence with a fresh token. If there is no randomness to
 * be had the fence stays closed and *ok is false: then nothing that is not ours may be shown. */
void bg_github_open(bg_fence *fence, bg_str label, bg_buf *out, bool *ok);
/** Append the end of both; the log must be at the start of a line. */
void bg_github_close(bg_fence *fence, bg_buf *out);
/** Append `::kind::text`, escaped. Only outside a fence. */
void bg_github_note(const char *kind, bg_str text, bg_buf *out);
/** Take away what the runner would read as a command in the middle of a line ("##["). Works in
 * place. */
void bg_github_defuse(bg_buf *line);

#endif
