/** Finding prefixes in bytes, and what kind of place each hit is. Pure but for libelf's reading of the bytes given. Any thread. */
#ifndef BG_CACHE_SCAN_H
#define BG_CACHE_SCAN_H

#include "base/vec.h"
#include "bgraph/cache.h"

typedef enum {
    BG_PLACE_TEXT,    /* in a file without NUL bytes: any length fits */
    BG_PLACE_SHEBANG, /* the same, in the first line of a script: the kernel reads 127 bytes of it */
    BG_PLACE_STRING,  /* in a NUL-terminated string: the same length or shorter, '/' in front */
    BG_PLACE_RPATH,   /* in an RPATH or RUNPATH whose bytes nothing else uses: rewritten cleanly */
    BG_PLACE_INTERP,  /* in the program interpreter: as STRING */
    BG_PLACE_LINK,    /* in the target of a symbolic link: any length fits */
    BG_PLACE_COUNT
} bg_place_kind;

extern const char *const bg_place_names[BG_PLACE_COUNT];

/** One occurrence. [start, end) is the string that holds it (for texts: the occurrence), all in bytes of the file. */
typedef struct {
    uint64_t offset, start, end;
    uint32_t len; /* of the old prefix */
    uint32_t prefix;
    uint32_t kind;
} bg_hit;

typedef BG_VEC(bg_hit) bg_hits;

/** Prefixes made ready for searching. `order` lists them longest first; borrows the array. */
typedef struct {
    const bg_prefix *at;
    size_t n;
    size_t order[64], roots[64]; /* roots: those that no other one is a prefix of */
    size_t n_roots;
} bg_scanner;

/** BG_E_LIMIT for more than 64, BG_E_USAGE for one that is empty, not absolute, or "/". */
BG_MUST_USE bg_status bg_scanner_init(bg_scanner *s, const bg_prefix *prefixes, size_t n, bg_error *err);

/** Every occurrence in order of offset; longest prefix first; a prefix inside a longer name, or inside a longer absolute path, is
 *  none. Kinds are TEXT or STRING. */
BG_MUST_USE bg_status bg_scan_bytes(const bg_scanner *s, const char *bytes, size_t n, bg_hits *out, bg_error *err);
/** The same for a whole file, with kinds told apart (shebang, RPATH, interpreter). *opaque receives the offset + 1 of a hit that can't be
 *  patched (UTF-16), 0 if none. */
BG_MUST_USE bg_status bg_scan_file(const bg_scanner *s, const char *bytes, size_t n, bg_hits *out, uint64_t *opaque,
                                   bg_error *err);

/** A string of an ELF file that the loader reads. */
typedef struct {
    uint64_t offset, len;
    bg_place_kind kind; /* RPATH or INTERP */
    bool shared;        /* other names use bytes of it */
} bg_elf_string;
/** At most `max` of them; 0 for anything that is not ELF or too odd to read. */
size_t bg_elf_strings(const char *bytes, size_t n, bg_elf_string *out, size_t max);

/** Shell-like globs: `*` within a name, `**` across names, `?`. A pattern without `/` is matched like any other. */
bool bg_glob_match(bg_str pattern, bg_str path);

#endif
