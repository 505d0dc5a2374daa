/** The bytecode image: what the compiler writes and the runtime trusts after one verification.
 *
 *  File: magic (16 bytes) | u32 format version | u32 number of sections | u64 file size |
 *  32 bytes SHA-256-free checksum area (u64 bg_hash_bytes of all that follows the header, rest zero) |
 *  section table: {char tag[4]; u32 align; u64 offset; u64 size} each | sections, 8-aligned, zero padding.
 *  All little-endian; offsets count from the file's start. Unknown sections are skipped; a missing one is empty.
 *  The layout is strict, so that one content has one file: align is 8, sections follow each other in the table's order, known ones in
 *  the order of sections.def, never empty; strings follow each other in STRB and programs in CODE in the order of their ids; the
 *  products, outputs, work directories, commands and edges of nodes follow each other in the order of nodes.
 *
 *  A bg_graph borrows the bytes it was loaded from, is immutable and may be shared by threads. */
#ifndef BGRAPH_IMAGE_H
#define BGRAPH_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

#define BG_IMAGE_MAGIC "\x89" "bgraph\r\n\x1a\n\0\0\0\0" /* 16 bytes with the final NUL */
#define BG_IMAGE_VERSION 1u

typedef enum { BG_NODE_STAGE, BG_NODE_CRATE, BG_NODE_KIND_COUNT } bg_node_kind;
typedef enum { BG_SIGNAL_NONE, BG_SIGNAL_RUSTC_JSON, BG_SIGNAL_FD, BG_SIGNAL_COUNT } bg_signal;
typedef enum { BG_LONGER_REBUILD, BG_LONGER_REWRITE_ELF, BG_LONGER_DENY, BG_LONGER_COUNT } bg_longer;
typedef enum { BG_SURVIVORS_DENY, BG_SURVIVORS_WARN, BG_SURVIVORS_PIN, BG_SURVIVORS_COUNT } bg_survivors;
enum bg_elf_bit { BG_ELF_RPATH = 1, BG_ELF_INTERP = 2, BG_ELF_STRINGS = 4, BG_ELF_ALL = 7 };
typedef enum {
    BG_PARAM_STR,
    BG_PARAM_INT,
    BG_PARAM_BOOL,
    BG_PARAM_DURATION, /* nanoseconds */
    BG_PARAM_SIZE,     /* bytes */
    BG_PARAM_ENUM,
    BG_PARAM_STR_LIST,
    BG_PARAM_TYPE_COUNT
} bg_param_type;
typedef enum { BG_RENDER_TOML, BG_RENDER_JSON, BG_RENDER_MAKE, BG_RENDER_COUNT } bg_render;
typedef enum {
    BG_MACHINE_ARCH, /* uname's machine, a string */
    BG_MACHINE_OS,   /* "linux" */
    BG_MACHINE_JOBS, /* job slots of the node; never part of a key */
    BG_MACHINE_COUNT
} bg_machine;

/* Section ids, in the order of the table. */
typedef enum {
    BG_SEC_NONE,
#define BG_BYTES(tag, member, doc) BG_SEC_##tag,
#define BG_SECTION(tag, member, doc) BG_SEC_##tag,
#define BG_FIELD(tag, member, field, shape, target, doc)
#define BG_SECTION_END(tag, member)
#include "image/sections.def"
#undef BG_BYTES
#undef BG_SECTION
#undef BG_FIELD
#undef BG_SECTION_END
    BG_SEC_COUNT
} bg_section_id;

/* One struct a record section: bg_img_nodes, bg_img_prods, … */
#define BG_BYTES(tag, member, doc)
#define BG_SECTION(tag, member, doc) typedef struct {
#define BG_FIELD(tag, member, field, shape, target, doc) uint32_t field;
#define BG_SECTION_END(tag, member) } bg_img_##member;
#include "image/sections.def"
#undef BG_BYTES
#undef BG_SECTION
#undef BG_FIELD
#undef BG_SECTION_END

typedef enum {
#define BG_OP(name, mnemonic, shape, target, pops, pushes, doc) BG_OP_##name,
#include "image/ops.def"
#undef BG_OP
    BG_OP_COUNT
} bg_op;

/** A loaded graph: `member` points at the records (slot 0 included), `n_member` counts them with slot 0
 *  (0 when the section is missing). */
typedef struct bg_graph {
    const unsigned char *bytes;
    size_t size_bytes;
#define BG_BYTES(tag, member, doc) const unsigned char *member; uint32_t n_##member;
#define BG_SECTION(tag, member, doc) const bg_img_##member *member; uint32_t n_##member;
#define BG_FIELD(tag, member, field, shape, target, doc)
#define BG_SECTION_END(tag, member)
#include "image/sections.def"
#undef BG_BYTES
#undef BG_SECTION
#undef BG_FIELD
#undef BG_SECTION_END
} bg_graph;

/** Verify `n` bytes (8-aligned, must outlive *out) and fill *out. err->offset is the byte at fault.
 *  Returns BG_OK, BG_E_VERSION (treat as a cache miss), BG_E_CORRUPT, BG_E_LIMIT, BG_E_NOMEM, BG_E_USAGE (not 8-aligned).
 *  Checks: header, checksum, table bounds and overlap, every field's shape, string bounds, sorted edges,
 *  products/outputs/works that point back to their node, acyclic edges, and every program's opcodes, operands, stack and
 *  forward jumps. */
BG_MUST_USE bg_status bg_graph_load(bg_graph *out, const void *bytes, size_t n, bg_error *err);

/** String of an id; the empty string for 0. NUL-terminated. */
bg_str bg_graph_str(const bg_graph *graph, uint32_t str);
int64_t bg_graph_int(const bg_graph *graph, uint32_t id);
/** Node by qualified name, 0 if none. */
uint32_t bg_graph_find_node(const bg_graph *graph, bg_str name);

/** Builds an image in memory. Records are appended in any order of sections; strings, words runs, ints and
 *  spans are interned. All calls return ids; a failure (memory, limits) is sticky and comes out of _finish. */
typedef struct bg_image_writer bg_image_writer;
bg_image_writer *bg_image_writer_new(void);
void bg_image_writer_free(bg_image_writer *w);
uint32_t bg_image_str(bg_image_writer *w, bg_str s);
uint32_t bg_image_int(bg_image_writer *w, int64_t v);
/** A run of strings; returns the FIRST id and `n` is the COUNT; 0 for n == 0. */
uint32_t bg_image_words(bg_image_writer *w, const bg_str *strs, size_t n);
/** Append a record to a record section (`rec` points at that section's struct); returns its id, from 1. */
uint32_t bg_image_add(bg_image_writer *w, bg_section_id section, const void *rec);
/** Overwrite a record that was added. */
void bg_image_set(bg_image_writer *w, bg_section_id section, uint32_t id, const void *rec);
uint32_t bg_image_count(const bg_image_writer *w, bg_section_id section); /* records, slot 0 excluded */
/** Programs: begin, emit, end -> id in PROG. One at a time. `max_stack` is computed. */
void bg_image_prog_begin(bg_image_writer *w);
void bg_image_op(bg_image_writer *w, bg_op op, uint32_t operand); /* operand ignored for shape NONE */
/** Emit a jump and return a label to patch; the target is where bg_image_land is called. */
uint32_t bg_image_jump(bg_image_writer *w, bg_op op);
void bg_image_land(bg_image_writer *w, uint32_t label);
uint32_t bg_image_prog_end(bg_image_writer *w, uint32_t span); /* adds the RET */
/** Append the finished image to `out`. Same calls, same bytes. */
BG_MUST_USE bg_status bg_image_finish(bg_image_writer *w, bg_buf *out, bg_error *err);

/** Text form that bg_image_asm reads back: asm(disasm(x)) == x, byte for byte. */
BG_MUST_USE bg_status bg_image_disasm(const bg_graph *graph, bg_buf *out);
/** err->offset is the byte offset in `text`; err->text starts with line:column. */
BG_MUST_USE bg_status bg_image_asm(bg_str text, bg_buf *out, bg_error *err);

/* ---- values and the machine ---- */

typedef enum { BG_V_NONE, BG_V_STR, BG_V_INT, BG_V_BOOL, BG_V_PATH, BG_V_LIST } bg_value_kind;
/** Roots that a path can have; `id` is in the section said. */
typedef enum {
    BG_ROOT_TOOL,   /* TOOL: rel is empty or below the tool's program's directory is an error */
    BG_ROOT_FILE,   /* FILE: directory of a .bgraph file */
    BG_ROOT_SOURCE, /* SRCE */
    BG_ROOT_OUT,    /* OUTP: the output itself, or below it */
    BG_ROOT_PROD,   /* PROD: output directory of the product's node, or below it */
    BG_ROOT_WORK    /* WORK */
} bg_root_kind;

typedef struct bg_value bg_value;
struct bg_value {
    bg_value_kind kind;
    bg_root_kind root; /* BG_V_PATH */
    uint32_t id;       /* BG_V_PATH */
    uint32_t n;        /* BG_V_LIST: items */
    union {
        bg_str str; /* BG_V_STR; BG_V_PATH: rel, normalised, no leading or trailing '/', "" is the root */
        int64_t i;  /* BG_V_INT, BG_V_BOOL */
        const bg_value *items;
    };
};

/** What the machine asks of its surroundings. All strings it gets live until the arena is cleared. */
typedef struct {
    void *self;
    bg_status (*param)(void *self, uint32_t param, bg_value *out, bg_error *err);
    bg_status (*env)(void *self, uint32_t env, bg_value *out, bg_error *err);
    bg_status (*machine)(void *self, bg_machine fact, bg_value *out, bg_error *err);
    /** Append a path's bytes to `out` as this evaluation shows it (a token for keys, absolute for running).
     *  Called for every path that becomes part of a string by CONCAT or RENDER; the caller of bg_vm_run calls it itself for
     *  paths in results. This is also where inputs and consumed products are noticed. */
    bg_status (*path)(void *self, const bg_value *path, bg_buf *out, bg_error *err);
} bg_vm_host;

/** Run a program of a verified graph. *out and all it refers to live in `arena` or in the graph. Always ends.
 *  Returns BG_OK, what the host returned, BG_E_CORRUPT (type mismatch), BG_E_USAGE (overflow, division by zero,
 *  a path that leaves its root, text that has no form in its format: err->text says it), BG_E_LIMIT (more than 256 MiB made,
 *  copied or compared), BG_E_NOMEM. err->offset is the instruction's byte in the image. */
BG_MUST_USE bg_status bg_vm_run(const bg_graph *graph, uint32_t prog, const bg_vm_host *host,
                                bg_arena *arena, bg_value *out, bg_error *err);
/** Append `base`/`rel` normalised; BG_E_USAGE if rel is absolute, holds NUL, or climbs above base. */
BG_MUST_USE bg_status bg_path_join(bg_arena *arena, bg_str base, bg_str rel, bg_str *out, bg_error *err);

#endif
