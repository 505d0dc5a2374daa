/** libgit2, loaded when it is first needed (its start-up costs 8 ms): a table of typed pointers, and the three things that are
 *  asked of it here: object ids, settings, the commit. Nothing is ever written to a repository. Thread-safe once loaded. */
#ifndef BG_KEY_GITLIB_H
#define BG_KEY_GITLIB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

typedef enum { BG_GIT_BLOB, BG_GIT_TREE } bg_git_type;

/** SHA-1 object id of the bytes. */
BG_MUST_USE bg_status bg_gitlib_hash(const void *bytes, size_t n, bg_git_type type, uint8_t id[20], bg_error *err);
/** The same of a regular file as a blob, read in pieces. */
BG_MUST_USE bg_status bg_gitlib_hash_file(const char *path, uint8_t id[20], bg_error *err);

/** Settings of a repository that decide how its work tree is read. */
typedef struct {
    bool file_mode, symlinks; /* core.fileMode, core.symlinks */
    bool converts;            /* core.autocrlf is not false */
    bool is_sha256;
} bg_git_settings;
/** `top`: work tree, `common_dir`: where its config lies. `attributes` receives the text of attribute files outside of the
 *  work tree (the user's and the system's). BG_E_USAGE: its work tree is elsewhere, or it has none. */
BG_MUST_USE bg_status bg_gitlib_settings(const char *top, const char *common_dir, bg_git_settings *out, bg_buf *attributes,
                                         bg_error *err);
/** HEAD's commit, 40 hex digits; empty if HEAD is unborn or dangling. */
BG_MUST_USE bg_status bg_gitlib_commit(const char *top, char hex[41], bg_error *err);

#endif
