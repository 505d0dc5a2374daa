/** Git's index file, versions 2 to 4, read without libgit2: entries in order, looked up by path. The file's checksum is not
 *  checked (git itself may leave it out); every bound is. Immutable once read. */
#ifndef BG_KEY_GITINDEX_H
#define BG_KEY_GITINDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "key/stamp.h"

typedef struct {
    bg_str path; /* NUL-terminated; a sparse directory's ends with '/' */
    const uint8_t *id;
    uint32_t mtime_s, mtime_ns, ctime_s, ctime_ns, ino, size, mode;
    bool is_trusted; /* a plain entry: stage 0, not intent-to-add */
    bool is_skipped; /* skip-worktree: not checked out on purpose */
} bg_git_entry;

typedef struct {
    bg_git_entry *at; /* sorted by path, bytewise; conflicting stages are folded into one entry */
    uint32_t n;
    int64_t mtime_ns; /* of the file: later entries than that are racy */
    size_t n_id;
    bool has_skipped, has_links; /* skip-worktree entries; submodules */
    char *bytes;
    bg_arena arena;
} bg_git_index;

/** A missing file is an empty index. `n_id`: 20 for SHA-1, 32 for SHA-256. BG_E_CORRUPT, BG_E_VERSION (an extension that must be
 *  understood: a split index). *stamp (mode 0: missing) belongs to what was read. */
BG_MUST_USE bg_status bg_git_index_read(bg_git_index *out, bg_stamp *stamp, const char *path, size_t n_id, bg_error *err);
/** The same from memory; takes `bytes` (malloc). */
BG_MUST_USE bg_status bg_git_index_parse(bg_git_index *out, char *bytes, size_t n, size_t n_id, const char *path,
                                         bg_error *err);
void bg_git_index_clear(bg_git_index *index);
/** NULL if it is not tracked. */
const bg_git_entry *bg_git_index_find(const bg_git_index *index, bg_str path);
/** First entry that is not before `path`. */
uint32_t bg_git_index_from(const bg_git_index *index, bg_str path);
/** Is anything tracked below the directory `path` ("": the top)? */
bool bg_git_index_has_below(const bg_git_index *index, bg_str path);
/** Does lstat say that the file is what the entry's id names? */
bool bg_git_entry_is_clean(const bg_git_index *index, const bg_git_entry *entry, const bg_stamp *stamp);

#endif
