/** The stack discipline of one program: what makes the machine safe to run without checks of depth, operands or jumps.
 *  The scratch is reused from program to program; one owner. */
#ifndef BG_IMAGE_DEPTH_H
#define BG_IMAGE_DEPTH_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/** `{0}` is valid; grows to the longest program seen. */
typedef struct {
    uint16_t *at; /* a mark for every byte of code: 0, or 1 + the depth with which a jump arrives */
    size_t cap;
} bg_depth_scratch;
void bg_depth_scratch_clear(bg_depth_scratch *scratch);

/** Check one program's instructions: known opcodes, whole operands, jumps that land on an instruction of it, one stack depth at
 *  every place, nothing unreachable, a RET at its end and only there with one value left. Fills the deepest stack (at most
 *  BG_IMAGE_MAX_STACK).
 *  limits  the first invalid id of every section (0 and 1: none is valid), by which references are checked; NULL: they are not.
 *  Returns BG_OK, BG_E_CORRUPT (err->offset counts from the program's start), BG_E_LIMIT (stack), BG_E_NOMEM. */
BG_MUST_USE bg_status bg_depth_check(bg_depth_scratch *scratch, const unsigned char *code, uint32_t len,
                                     const uint32_t *limits, uint32_t *max_stack, bg_error *err);

#endif
