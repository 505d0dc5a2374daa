/** sections.def and ops.def as tables, so that writer, verifier, disassembler and assembler walk them instead of having a case a
 *  section or an opcode. Constant data; any thread. */
#ifndef BG_IMAGE_TABLES_H
#define BG_IMAGE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "bgraph/image.h"

typedef enum { BG_SHAPE_U32, BG_SHAPE_ENUM, BG_SHAPE_REF, BG_SHAPE_REF0, BG_SHAPE_FIRST, BG_SHAPE_COUNT } bg_field_shape;
typedef enum { BG_OPERAND_NONE, BG_OPERAND_U32, BG_OPERAND_ENUM, BG_OPERAND_REF, BG_OPERAND_JUMP } bg_operand_shape;

typedef struct {
    const char *name;
    bg_field_shape shape;
    uint32_t target; /* REF, FIRST, COUNT: a section; ENUM: the first value that is not allowed */
} bg_field_info;

typedef struct {
    char tag[5];
    const char *name;
    bool is_bytes;
    uint32_t n_fields;
    uint32_t n_derived; /* leading fields that say where the contents lie: they follow from the contents */
    const bg_field_info *fields; /* NULL for bytes */
} bg_section_info;

typedef struct {
    const char *mnemonic;
    bg_operand_shape shape;
    uint32_t target; /* REF: a section; ENUM: the first value that is not allowed */
    int pops, pushes; /* pops -1: as many as the operand says */
} bg_op_info;

/* Indexed by bg_section_id (entry 0 is empty) and by bg_op. */
extern const bg_section_info bg_section_table[BG_SEC_COUNT];
extern const bg_op_info bg_op_table[BG_OP_COUNT];

/** Section of a tag, BG_SEC_NONE if there is none. */
bg_section_id bg_section_by_tag(const char tag[4]);

/** A section of a loaded graph: `n` records (slot 0 included; an array of uint32, n_fields a record), or `n` bytes. */
typedef struct {
    const void *at;
    uint32_t n;
} bg_section_view;
bg_section_view bg_graph_section(const bg_graph *graph, bg_section_id section);

enum { BG_IMAGE_MAX_STACK = 4096, BG_IMAGE_MAX_FIELDS = 32 };

static inline uint32_t bg_op_size(bg_op op)
{
    return bg_op_table[op].shape == BG_OPERAND_NONE ? 1u : 5u;
}
static inline uint32_t bg_get_u32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t bg_get_u64(const unsigned char *p)
{
    return (uint64_t)bg_get_u32(p) | (uint64_t)bg_get_u32(p + 4) << 32;
}

#endif
