/** Local state of one graph file (LMDB, mapped; nothing is parsed at start-up): durations, stamps, last keys.
 *  Values are opaque bytes with a format version of their own in front. A damaged database is set aside and begun anew, with a
 *  message in err->text and BG_OK. A torn or unsynced write is never seen (LMDB's copy on write).
 *  One process writes at a time: _open takes a lock file; if another run holds it, it waits and says who.
 *  Owned by one thread. */
#ifndef BG_STATE_STATE_H
#define BG_STATE_STATE_H

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

typedef struct bg_state bg_state;

typedef enum {
    BG_STATE_NODE,  /* node name -> exec/: what the last run knew of it */
    BG_STATE_STAMP, /* absolute path -> key/: trees, file digests */
    BG_STATE_TOOL,  /* program path + arguments -> key/: identity */
    BG_STATE_META,  /* anything else of the file, e.g. the compiled image's stamp */
    BG_STATE_TABLE_COUNT
} bg_state_table;

/** `dir` exists. `waiting` is called once with the holder's pid if the lock is held; may be NULL. */
BG_MUST_USE bg_status bg_state_open(bg_state **out, const char *dir, void (*waiting)(void *self, long pid), void *self,
                                    bg_error *err);
/** Commits what is pending. NULL is fine. */
BG_MUST_USE bg_status bg_state_close(bg_state *state, bg_error *err);
/** Borrowed until the next put, commit or close. BG_E_NOENT if absent. */
BG_MUST_USE bg_status bg_state_get(bg_state *state, bg_state_table table, bg_str key, bg_str *value);
BG_MUST_USE bg_status bg_state_put(bg_state *state, bg_state_table table, bg_str key, bg_str value, bg_error *err);
BG_MUST_USE bg_status bg_state_delete(bg_state *state, bg_state_table table, bg_str key, bg_error *err);
/** Make everything put so far durable. Nothing pending: costs nothing. */
BG_MUST_USE bg_status bg_state_commit(bg_state *state, bg_error *err);

#endif
