/** What goes into action keys: digests of inputs and identities of tools, each found with as few system calls as the
 *  stamps in the state allow. Nothing here loads libgit2 or libcrypto while every stamp still matches.
 *  One bg_keyer a run, owned by the scheduler's thread. */
#ifndef BG_KEY_KEY_H
#define BG_KEY_KEY_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/digest.h"
#include "state/state.h"

typedef struct bg_keyer bg_keyer;

/** `state` may be NULL (nothing is remembered) and must outlive the keyer. */
bg_keyer *bg_keyer_new(bg_state *state);
void bg_keyer_free(bg_keyer *keyer);
/** Forget what was seen in this run about paths at or below `abs_path` (they have been written). */
void bg_keyer_forget(bg_keyer *keyer, bg_str abs_path);

/** Digest of a file, a symbolic link or a whole directory outside git, by content: names, executable bits, link texts
 *  and bytes; special files are ignored; nested .git and .bgraph directories too. A missing path is BG_E_NOENT.
 *  Remembers a stamp (mtime, ctime, size, inode, mode) a file, and a directory's own, so that an unchanged tree costs one
 *  lstat an entry; files whose stamp is too young to be trusted (racy) are read again. */
BG_MUST_USE bg_status bg_key_path(bg_keyer *keyer, bg_str abs_path, bg_digest *out, bg_error *err);

/** Key of `rel` (may be "") in the git work tree that holds abs_dir: SHA-256 over a domain, the virtual tree id (what
 *  `git add -A && git write-tree` would give for that path, nothing written; ignored files left out by the in-tree rules) and the
 *  conversion settings that change bytes. Equal for: committed, staged, or just lying there. Independent of where the
 *  checkout lies. Falls back to bg_key_path's way of hashing, in another domain, where git can't tell (not a work tree: error
 *  BG_E_USAGE). */
BG_MUST_USE bg_status bg_key_git(bg_keyer *keyer, bg_str abs_dir, bg_str rel, bg_digest *out, bg_error *err);

/** True in *same if a path that was keyed in this run still has its digest (read again: stat, then content). */
BG_MUST_USE bg_status bg_key_recheck(bg_keyer *keyer, bool *same, bg_str *changed_path, bg_error *err);
/** The same for one input. `is_git` says by which of the two calls it was keyed; `rel` as given then. */
BG_MUST_USE bg_status bg_key_unchanged(bg_keyer *keyer, bool is_git, bg_str abs_dir, bg_str rel, const bg_digest *was,
                                       bool *same, bg_error *err);

/** Top directory of the git work tree that holds abs_dir. */
BG_MUST_USE bg_status bg_key_git_root(bg_keyer *keyer, bg_str abs_dir, bg_arena *arena, bg_str *root, bg_error *err);
/** HEAD's commit id, 40 hex digits, and whether the tree is dirty; empty for an unborn HEAD. Loads libgit2. */
BG_MUST_USE bg_status bg_key_git_commit(bg_keyer *keyer, bg_str abs_dir, bg_arena *arena, bg_str *commit, bg_error *err);

/** A tool as it is on this machine. */
typedef struct {
    bg_str program;     /* absolute path of what is executed */
    bg_digest identity; /* SHA-256 of a domain and its version output, or of the program's content */
} bg_tool_identity;

/** Look `program` up in `path` (a PATH value), follow `root`/`bin` if given (see sections.def), and identify it. Runs the
 *  program only if its stamp is new. BG_E_NOENT: err->text says where it was looked for, and what to do.
 *  All strings of *out live in `arena`. */
BG_MUST_USE bg_status bg_key_tool(bg_keyer *keyer, bg_str program, const bg_str *version, size_t n_version,
                                  const bg_str *root, size_t n_root, bg_str bin, bg_str path, bg_arena *arena,
                                  bg_tool_identity *out, bg_error *err);

#endif
