/** Finding the git repository that holds a directory, by looking at files alone: no library, no environment. */
#ifndef BG_KEY_GITREPO_H
#define BG_KEY_GITREPO_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/status.h"

/** Absolute paths, without a trailing '/'. */
typedef struct {
    bg_buf top;    /* the work tree's directory */
    bg_buf dir;    /* its own git directory: HEAD, index */
    bg_buf common; /* what linked work trees share: config, objects; often the same */
} bg_git_repo;

void bg_git_repo_clear(bg_git_repo *repo);
/** The repository whose work tree's top is `dir` itself; BG_E_NOENT if it is none. */
BG_MUST_USE bg_status bg_git_repo_at(bg_git_repo *out, bg_str dir, bg_error *err);
/** The innermost one that holds `dir` (absolute, real). BG_E_USAGE: none does. */
BG_MUST_USE bg_status bg_git_repo_find(bg_git_repo *out, bg_str dir, bg_error *err);

#endif
