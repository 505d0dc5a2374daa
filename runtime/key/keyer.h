/** Inside of the keyer, shared by the files of this room: what was keyed in this run, and the two ways to key a path. One thread. */
#ifndef BG_KEY_KEYER_H
#define BG_KEY_KEYER_H

#include "base/strpool.h"
#include "key/gitcontext.h"
#include "key/key.h"

/** One path that was keyed in this run. */
typedef struct {
    bg_digest digest;
    bool is_git, is_valid; /* false: forgotten */
    bg_str abs, rel;       /* in the arena */
} bg_seen;

struct bg_keyer {
    bg_state *state;
    bg_arena arena;
    bg_strpool pool; /* names of `seen`; ids index it */
    bg_seen *seen;   /* seen[0] is unused */
    uint32_t n_seen, cap_seen;
    bg_git_context *git;
};

/** Key without looking at what was seen in this run: stamps, then content. */
BG_MUST_USE bg_status bg_tree_digest(bg_keyer *keyer, const char *abs_path, bg_digest *out, bg_error *err);
BG_MUST_USE bg_status bg_git_digest(bg_keyer *keyer, const char *abs_dir, bg_str rel, bg_digest *out, bg_error *err);

/** Remember and recall a manifest. `name` is the key in the state's stamp table. The copy is the caller's. */
BG_MUST_USE bg_status bg_keyer_manifest(bg_keyer *keyer, bg_str name, bg_buf *copy, bg_error *err);
BG_MUST_USE bg_status bg_keyer_remember(bg_keyer *keyer, bg_str name, const bg_buf *manifest, bg_error *err);

#endif
