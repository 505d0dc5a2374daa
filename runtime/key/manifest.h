/** What a walk saw of a tree, remembered in the state: for each entry its stamp and id, directories before what is in them.
 *  While every stamp matches, the tree's digest is known from one lstat an entry. Values are of this machine and this program
 *  (native byte order, version in front); anything that does not parse counts as not there. */
#ifndef BG_KEY_MANIFEST_H
#define BG_KEY_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/digest.h"
#include "key/stamp.h"

typedef enum {
    BG_ENTRY_FILE,
    BG_ENTRY_LINK,
    BG_ENTRY_DIR,
    BG_ENTRY_NESTED, /* a repository of its own; its id is asked for again */
    BG_ENTRY_ABSENT, /* tracked by git, but not checked out */
    BG_ENTRY_GUARD,  /* a file that rules the walk, by absolute path; mode 0: it must not be there */
    BG_ENTRY_KIND_COUNT
} bg_entry_kind;

enum bg_entry_flag {
    BG_ENTRY_RACY = 1,  /* its stamp was too young: read again */
    BG_ENTRY_EXEC = 2,  /* executable */
    BG_ENTRY_EMPTY = 4, /* a directory with nothing that counts in it */
    BG_ENTRY_WEAK = 8,  /* a guard that is only a note: bg_manifest_holds does not look at it */
};

/** Followed by `name_len` bytes of name. */
typedef struct {
    bg_stamp stamp;
    uint8_t id[32];
    uint32_t depth; /* 0: the root, or a guard */
    uint16_t name_len;
    uint8_t kind, flags;
} bg_entry;

/** Start a manifest: header with an empty digest. */
void bg_manifest_begin(bg_buf *buf);
/** Append; returns the offset for bg_manifest_set. */
size_t bg_manifest_add(bg_buf *buf, const bg_entry *entry, bg_str name);
void bg_manifest_set(bg_buf *buf, size_t offset, const bg_entry *entry);
/** Put the entries of `more` behind those of `buf`. */
void bg_manifest_join(bg_buf *buf, const bg_buf *more);
void bg_manifest_finish(bg_buf *buf, const bg_digest *digest);

/** One entry of a manifest in memory. */
typedef struct {
    bg_entry e;
    bg_str name;   /* into the manifest's bytes */
    uint32_t next; /* index after it and all below it */
} bg_manifest_node;

typedef struct {
    bg_digest digest;
    bg_manifest_node *nodes;
    uint32_t n;
    uint32_t root; /* index of the root entry; guards stand before it */
} bg_manifest;

/** Parse bytes that must outlive *out; false if they are no manifest, or memory is out. */
bool bg_manifest_load(bg_manifest *out, bg_str bytes);
void bg_manifest_clear(bg_manifest *manifest);

/** Asked for the present id of a NESTED entry; false if it can't be told. */
typedef bool (*bg_manifest_nested)(void *self, const char *abs_path, uint8_t id[32]);
/** True if every stamp matches below `root_path` and nothing is racy (`even_racy`: stamps alone are asked): *digest is the tree's
 *  digest. Reads the bytes in place, which must stay while it runs. */
bool bg_manifest_holds(bg_str bytes, const char *root_path, bool even_racy, bg_manifest_nested nested, void *self,
                       bg_digest *digest);

#endif
