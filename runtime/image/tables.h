/** sections.def and ops.def as tables, so that writer, verifier, disassembler and assembler walk them instead of having a case a
 *  section or an opcode. Constant data; any thread. */
#ifndef BG_IMAGE_TABLES_H
#define BG_IMAGE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "bgraph/image.h"

typedef enum { BG_SHAPE_U32, BG_SHAPE_ENUM, BG_SHAPE_REF, BG_SHAPE_REF0, BG_SHAPE_FIRST, BG_SHAPE_COUNT } bg_field_shape;
typedef enum { BG_OPERAND_NONE, BG_OPERAND_U32, BG_OPERAND_REF, BG_OPERAND_JUMP } bg_operand_shape;

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
    const bg_field_info *fields;
} bg_section_info;

typedef struct {
    const char *mnemonic;
    bg_operand_shape shape;
    uint32_t target; /* REF: a section */
    int pops, pushes; /* pops -1: as many as the operand says */
} bg_op_info;

/* Indexed by bg_section_id (entry 0 is empty) and by bg_op. */
extern const bg_section_info bg_section_table[BG_SEC_COUNT];
extern const bg_op_info bg_op_table[BG_OP_COUNT];

enum {
    BG_IMAGE_HEADER_BYTES = 64,
    BG_IMAGE_ENTRY_BYTES = 24,
    BG_IMAGE_CHECKSUM_AT = 32,
    BG_IMAGE_MAX_STACK = 4096,
    BG_IMAGE_MAX_FIELDS = 32
};

/** Check one program's instructions: known opcodes, whole operands, jumps that land on an instruction of it, one stack depth at every
 *  place, RET at its end with one value left. Fills the deepest stack. err->offset counts from the program's start. References
 *  are not checked. */
BG_MUST_USE bg_status bg_prog_depth(const unsigned char *code, uint32_t len, uint32_t *max_stack, bg_error *err);

/** Write size and checksum into the header of a whole image of n bytes. */
void bg_image_seal(char *bytes, size_t n);

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
