/** The cache of relocatable outputs: action key -> entry (small record) -> artifact (.tar.zst, anyone's tar opens it).
 *  Shared by processes; everything is published by an atomic rename after fsync; a bad entry is a miss with a warning and is set
 *  aside. Handles are for one thread; several may be open on one directory.
 *
 *  Layout below the cache's directory:  v1/ac/<2 hex>/<key hex>   v1/cas/<2 hex>/<artifact sha256 hex>.tar.zst
 *  v1/tmp/  v1/bad/   */
#ifndef BGRAPH_CACHE_H
#define BGRAPH_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/digest.h"
#include "base/status.h"
#include "base/str.h"
#include "bgraph/image.h"

typedef struct bg_cache bg_cache;

/** A directory whose name may occur in outputs. `token` is its name in normalised content and in the table ("out",
 *  "work", "src", "source.llvm"); `path` is absolute, without a trailing '/'. At most 64, tokens distinct. */
typedef struct {
    bg_str token, path;
} bg_prefix;

/** How to treat what is found: a flat copy of a RULE record. */
typedef struct {
    uint32_t pad, elf;
    bool text, links;
    bg_longer longer;
    bg_survivors survivors;
    const bg_str *exclude;
    size_t n_exclude;
} bg_relocate_rule;
/** What a node without a rule gets: everything is patched, longer = rebuild, survivors = pin. */
extern const bg_relocate_rule bg_relocate_default;

/** One declared output. */
typedef struct {
    bg_str name;      /* as in the image */
    bg_str path;      /* below the node's output directory */
    bool is_dir;
    bg_digest digest; /* filled by store, find and bg_cache_digest: over relocation-normalised content */
    bg_digest salt;   /* part of the digest where a link leads out of the output, to content that nothing here covers: the key
                         of the action that made it, so that no consumer takes that content for unchanged */
} bg_cache_output;

typedef struct {
    bg_digest key;
    bg_digest artifact;
    bg_str node, label;   /* qualified name, label */
    bg_str commit;        /* HEAD when it was made, 40 hex, or empty */
    int64_t made_unix_s;
    uint64_t wall_ns;     /* how long the action took */
    uint64_t size_bytes, packed_bytes;
    bool pinned;          /* usable at these prefixes only */
    const bg_prefix *prefixes;
    size_t n_prefixes;
    bg_cache_output *outputs;
    size_t n_outputs;
} bg_cache_entry;

/** Makes what is missing. BG_E_ACCESS, BG_E_NOSPACE … with the directory's name in err. */
BG_MUST_USE bg_status bg_cache_open(bg_cache **out, const char *dir, bg_error *err);
void bg_cache_close(bg_cache *cache);

/** BG_E_NOENT: a miss (also for a damaged record: it is set aside; err->text then says so, else it is empty).
 *  *out and all it holds live in `arena`. A pinned entry made at other prefixes is a miss. */
BG_MUST_USE bg_status bg_cache_find(bg_cache *cache, const bg_digest *key, const bg_prefix *prefixes, size_t n_prefixes,
                                    bg_arena *arena, bg_cache_entry *out, bg_error *err);

typedef struct {
    bg_digest key;
    bg_str node, label, commit;
    uint64_t wall_ns;
    bg_str dir; /* the node's output directory, absolute */
    const bg_prefix *prefixes;
    size_t n_prefixes;
    const bg_relocate_rule *rule;
    bg_cache_output *outputs; /* digests are checked against what is packed when `has_digests` */
    size_t n_outputs;
    bool has_digests;
} bg_cache_store_request;

/** Pack the outputs and publish artifact and record. Deterministic: same content, same bytes.
 *  survivors = deny and a place no rule covers: BG_E_RELOCATE naming file and offset, nothing is published.
 *  On BG_E_NOSPACE or any failure nothing is left but, at most, a file in tmp/ that the next open removes. */
BG_MUST_USE bg_status bg_cache_store(bg_cache *cache, const bg_cache_store_request *request, bg_arena *arena,
                                     bg_cache_entry *out, bg_error *err);

/** Digest outputs in place, without storing: fills each output's digest. A missing output is BG_E_NOENT naming it;
 *  a file where a directory was declared, or the other way round, is BG_E_USAGE. `rule` may be NULL. */
BG_MUST_USE bg_status bg_cache_digest(bg_str dir, const bg_prefix *prefixes, size_t n_prefixes,
                                      const bg_relocate_rule *rule, bg_cache_output *outputs, size_t n_outputs,
                                      bg_error *err);

/** Restore an entry's outputs as `dir` (what is there is replaced, by rename of the whole), with old prefixes exchanged
 *  for `prefixes` (matched by token). Digests are verified on the way. `longer` says what a string that can't grow means.
 *  BG_E_CORRUPT: set aside, treat as a miss. BG_E_RELOCATE: told before anything is written; file, string, both lengths.
 *  BG_E_UNSAFE: the artifact names a path outside the target; set aside. */
BG_MUST_USE bg_status bg_cache_restore(bg_cache *cache, const bg_cache_entry *entry, bg_str dir, const bg_prefix *prefixes,
                                       size_t n_prefixes, bg_error *err);

/** Every entry, sorted by node then key; `each` returns false to stop. Damaged records come with status BG_E_CORRUPT. */
typedef bool (*bg_cache_visit)(void *self, bg_status status, const bg_cache_entry *entry, const char *file);
BG_MUST_USE bg_status bg_cache_list(bg_cache *cache, bg_cache_visit each, void *self, bg_error *err);
/** Read the artifact whole and check every digest; BG_E_CORRUPT says what is wrong. */
BG_MUST_USE bg_status bg_cache_verify(bg_cache *cache, const bg_cache_entry *entry, bg_error *err);
/** Move entry and artifact to bad/. */
void bg_cache_set_aside(bg_cache *cache, const bg_cache_entry *entry);

/** Index of an artifact, for `cache show`: one call a member and one a place in it. */
typedef struct {
    bg_str path;
    uint32_t mode; /* S_IFMT bits included */
    uint64_t size_bytes;
    bg_str link; /* target of a symbolic link, else empty */
} bg_cache_member;
typedef struct {
    uint64_t offset, length, capacity; /* bytes; capacity: what fits at this place, string end included */
    const char *kind;                  /* "text", "string", "rpath", "interp", "link", "shebang" */
    bg_str token;
} bg_cache_place;
typedef struct {
    void (*member)(void *self, const bg_cache_member *member);
    void (*place)(void *self, const bg_cache_member *member, const bg_cache_place *place);
} bg_cache_index_visit;
BG_MUST_USE bg_status bg_cache_index(bg_cache *cache, const bg_cache_entry *entry, const bg_cache_index_visit *visit,
                                     void *self, bg_error *err);

/** Entry points for tests and fuzzers: the same code on a file descriptor instead of a cache. */
BG_MUST_USE bg_status bg_artifact_restore_fd(int fd, const bg_cache_entry *entry, bg_str dir, const bg_prefix *prefixes,
                                             size_t n_prefixes, bg_error *err);

#endif
