/** A walk over a file, a link or a directory that gives every entry an id, reusing what a manifest remembers and writing the next
 *  one. What counts, and how ids are made, is the policy's: plain content (tree.c) or git (git.c). One thread. */
#ifndef BG_KEY_WALK_H
#define BG_KEY_WALK_H

#include "base/arena.h"
#include "base/status.h"
#include "key/manifest.h"

/** What a directory holds, for folding; sorted by name, bytewise. */
typedef struct {
    bg_str name;
    bg_entry_kind kind;
    bool is_exec;
    uint32_t git_mode; /* policy's own, 0 if it does not care */
    uint8_t id[32];
} bg_walk_child;

typedef struct {
    bg_str rel;         /* below the walk's root, "" for the root itself; NUL-terminated */
    const char *abs;    /* the same, absolute */
    bg_str name;        /* last component */
    bg_stamp stamp;
} bg_walk_place;

typedef struct bg_walk_policy bg_walk_policy;
struct bg_walk_policy {
    /** May be NULL. Before a directory's entries are looked at. */
    bg_status (*enter)(bg_walk_policy *self, const bg_walk_place *dir, bg_error *err);
    void (*leave)(bg_walk_policy *self, const bg_walk_place *dir); /* may be NULL; pairs with a successful enter */
    /** Does the entry count? Called for regular files, links and directories. */
    bool (*wants)(bg_walk_policy *self, const bg_walk_place *place);
    /** May be NULL. Turn the entry into something else than its file type says: NESTED with an id. */
    bg_status (*nested)(bg_walk_policy *self, const bg_walk_place *place, bool *is_nested, uint8_t id[32], bg_error *err);
    /** Id known without reading (from git's index)? May be NULL. */
    bool (*known)(bg_walk_policy *self, const bg_walk_place *place, uint8_t id[32]);
    /** Id of a file's content. `fd` is at its start; BG_E_CHANGED if it ends early or late. */
    bg_status (*file)(bg_walk_policy *self, const bg_walk_place *place, int fd, uint8_t id[32], bg_error *err);
    /** *unsure: the id hangs on more than the link's stamp, so that it is asked for again at every walk. */
    bg_status (*link)(bg_walk_policy *self, const bg_walk_place *place, bg_str text, uint8_t id[32], bool *unsure,
                      bg_error *err);
    /** After an entry's id is known: last word on the executable bit and git_mode. May be NULL. */
    void (*mode)(bg_walk_policy *self, const bg_walk_place *place, bg_walk_child *child);
    /** May be NULL. Children that are not on the disk: call `add` for each. */
    bg_status (*absent)(bg_walk_policy *self, const bg_walk_place *dir, const bg_walk_child *there, size_t n,
                        bg_status (*add)(void *to, const bg_walk_child *child), void *to, bg_error *err);
    /** *is_empty: the directory does not count. */
    bg_status (*fold)(bg_walk_policy *self, bg_walk_child *children, size_t n, uint8_t id[32], bool *is_empty,
                      bg_error *err);
};

typedef struct {
    bg_walk_policy *policy;
    const char *root;        /* absolute, no trailing '/' */
    const bg_manifest *old;  /* may be NULL */
    bool always_fold;        /* ids of directories hang on more than what the manifest remembers */
    bool relist;             /* the rules changed: names that the old manifest has are not the ones that count now */
    bg_buf *manifest;        /* begun; guards already in it; the walk appends */
    bg_walk_child root_child; /* result: kind, bit and id of the root */
    bool root_is_empty;
} bg_walk;

/** BG_E_NOENT: the root is missing. BG_E_CHANGED: something was written meanwhile; try again. */
BG_MUST_USE bg_status bg_walk_run(bg_walk *walk, bg_error *err);

#endif
