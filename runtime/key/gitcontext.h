/** What one run knows of one repository: its index and its settings, read once and again when they changed. Contexts are
 *  kept in the keyer. One thread. */
#ifndef BG_KEY_GITCONTEXT_H
#define BG_KEY_GITCONTEXT_H

#include "key/gitindex.h"
#include "key/gitlib.h"
#include "key/gitrepo.h"
#include "key/manifest.h"

typedef struct bg_git_context bg_git_context;
struct bg_git_context {
    bg_git_context *next;
    bg_git_repo repo;
    bg_buf index_path, lock_path, config_path, worktree_config_path, info_attributes_path;
    bg_git_index index;
    bg_stamp index_stamp; /* mode 0: there is none */
    bool has_index;
    bg_git_settings settings;
    bool has_settings;
    bg_buf attributes;   /* text of attribute files outside of the work tree */
    bool has_attributes; /* then the settings come from libgit2, too */
    bool is_busy;        /* a walk is using it */
};

/** The context of `repo`, whose contents it takes; NULL when memory is out. */
bg_git_context *bg_git_context_of(bg_git_context **list, bg_git_repo *repo);
void bg_git_contexts_free(bg_git_context *list);

/** Note the settings and the stamps of the files that they come from as guards of a manifest. */
void bg_git_context_note(const bg_git_context *context, bg_buf *guards);
/** Take settings from a manifest's notes, if the files that they come from have not changed since. */
void bg_git_context_recall(bg_git_context *context, const bg_manifest *old);
/** Settings and index, as they are now. */
BG_MUST_USE bg_status bg_git_context_refresh(bg_git_context *context, bg_error *err);
/** Attributes as well; loads libgit2. */
BG_MUST_USE bg_status bg_git_context_attributes(bg_git_context *context, bg_error *err);

/** Append a guard for `path` as it is now (mode 0: absent). */
void bg_git_guard(bg_buf *guards, const char *path, const bg_stamp *stamp, unsigned flags);
/** Append a guard with a stamp taken now. */
void bg_git_guard_now(bg_buf *guards, const char *path);

#endif
