/** The outputs of a node on disk: a sorted list of members, each with what was found in it. One owner, any thread. */
#ifndef BG_CACHE_TREE_H
#define BG_CACHE_TREE_H

#include "cache/scan.h"

typedef struct {
    bg_str path;    /* below the output directory */
    uint32_t mode;  /* S_IFMT bits included; permissions normalised */
    uint64_t size;  /* bytes of a regular file, else 0 */
    bg_str link;    /* target of a symbolic link */
    uint32_t same;  /* 1 + index of the member that is the same file (a hard link), 0 if none */
    uint32_t output; /* index of the output that it belongs to */
    bg_hit *hits;   /* in arena */
    uint32_t n_hits;
    bool excluded;
    bg_digest digest; /* normalised: content, executable bit, link target */
} bg_member;

typedef struct {
    bg_arena arena;
    BG_VEC(bg_member) members; /* sorted by path, bytewise; a directory before what is in it */
    const bg_scanner *scanner;
    const bg_relocate_rule *rule;
    bool pinned;       /* a place was found that can't be patched, and the rule says pin */
    bg_str warning;    /* one was found and the rule says warn; empty if none */
    uint64_t size_bytes;
} bg_tree;

/** Walk the outputs below `dir`, scan and digest every file, and fill each output's digest. Clear with bg_tree_clear, also after a
 *  failure. BG_E_NOENT: an output is missing; BG_E_USAGE: it is no file, or no directory; BG_E_RELOCATE: survivors = deny. */
BG_MUST_USE bg_status bg_tree_read(bg_tree *tree, bg_str dir, const bg_scanner *scanner, const bg_relocate_rule *rule,
                                   bg_cache_output *outputs, size_t n_outputs, bg_error *err);
void bg_tree_clear(bg_tree *tree);

/** Map a regular file for reading; an empty one gives a valid pointer. */
typedef struct {
    const char *bytes;
    size_t n;
    void *map;
} bg_mapped;
BG_MUST_USE bg_status bg_mapped_open(bg_mapped *m, const char *path, bg_error *err);
void bg_mapped_close(bg_mapped *m);

/** True if a link at `path` with this relative target stays below the tree's root. */
bool bg_link_stays(bg_str path, bg_str target);

#endif
