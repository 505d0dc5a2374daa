/** Git's view of a work tree as a policy of the walk: what `git add -A` would take, with the object ids that it would get.
 *  Differences, all on purpose: only rules inside of the work tree ignore files (the user's own differ between machines); bytes
 *  are taken as they lie there, never converted or filtered; a repository in the tree stands for its own key, not for its commit;
 *  files that are hidden from git (assume-unchanged) are looked at; untracked directories named .bgraph are bgc's own. */
#ifndef BG_KEY_GITPOLICY_H
#define BG_KEY_GITPOLICY_H

#include "key/gitcontext.h"
#include "key/gitrules.h"
#include "key/walk.h"

/** Rules in force in a directory: lengths of both stacks before it was entered. */
typedef struct {
    size_t n_ignore, n_attributes;
    bool is_ignored; /* only what is tracked counts */
} bg_git_frame;

typedef bg_status (*bg_git_nested)(void *self, const bg_git_repo *repo, uint8_t id[32], bg_error *err);

typedef struct {
    bg_walk_policy base;
    bg_walk *walk;
    bg_git_context *context;
    bg_str prefix;   /* the walk's root in the work tree, "" for its top */
    bg_git_rules ignore, attributes;
    BG_VEC(bg_git_frame) frames;
    bool is_ignored; /* of the directory that was last asked for: enter takes it */
    bool saw_ignored, saw_absent, saw_nested; /* then the index decides, too */
    bg_buf path;     /* scratch: path in the work tree */
    bg_buf guards;   /* manifest of the rules' files */
    bg_buf absent;   /* paths that are tracked, but not checked out */
    bg_buf tree;     /* scratch: a tree object */
    char *room;      /* scratch: a file */
    size_t room_size;
    bg_git_nested nested;
    void *nested_self;
} bg_git_policy;

/** Begin: rules of the directories above the root. `is_dir`: of the root. BG_E_USAGE: the root is ignored. */
BG_MUST_USE bg_status bg_git_policy_init(bg_git_policy *policy, bg_git_context *context, bg_str prefix, bool is_dir,
                                         bg_walk *walk, bg_error *err);
void bg_git_policy_clear(bg_git_policy *policy);
bool bg_git_is_empty_dir(const char *path);
/** Mode of a tree's entry, as git writes it. */
uint32_t bg_git_mode(const bg_walk_child *child);

#endif
