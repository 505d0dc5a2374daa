/* The stack discipline of one program: what makes the machine safe to run without checks of depth or of jumps. */
#include <stdlib.h>
#include <string.h>

#include "image/tables.h"

typedef struct {
    const unsigned char *code;
    uint32_t len, max;
    int32_t *at; /* depth on entry of each byte that a jump leads to; -1 unknown */
    bg_error *err;
} walk;

static bg_status bad(walk *w, uint32_t offset, const char *what)
{
    bg_status s = bg_error_set(w->err, BG_E_CORRUPT, "bad program: %s at byte %u", what, offset);
    if (w->err != NULL)
        w->err->offset = offset;
    return s;
}

/* One instruction at *pc with *depth values on the stack (-1: unreachable so far). */
static bg_status step(walk *w, uint32_t *pc, int32_t *depth)
{
    uint32_t at = *pc;
    if (w->at[at] >= 0) {
        if (*depth >= 0 && *depth != w->at[at])
            return bad(w, at, "two stack depths meet");
        *depth = w->at[at];
    }
    if (*depth < 0)
        return bad(w, at, "an instruction that is never reached");
    if (w->code[at] >= BG_OP_COUNT)
        return bad(w, at, "unknown opcode");
    bg_op op = (bg_op)w->code[at];
    const bg_op_info *info = &bg_op_table[op];
    uint32_t size = bg_op_size(op);
    if (w->len - at < size)
        return bad(w, at, "an instruction is cut off");
    uint32_t operand = size == 5 ? bg_get_u32(w->code + at + 1) : 0;
    if (info->pops < 0 && operand > BG_IMAGE_MAX_STACK)
        return bad(w, at, "too many values");
    int32_t pops = info->pops < 0 ? (int32_t)operand : info->pops;
    if (*depth < pops)
        return bad(w, at, "the stack is too short");
    *depth += info->pushes - pops;
    if (*depth > BG_IMAGE_MAX_STACK)
        return bad(w, at, "the stack is too deep");
    if ((uint32_t)*depth > w->max)
        w->max = (uint32_t)*depth;
    *pc = at + size;
    if (op == BG_OP_RET) {
        if (*depth != 0 || *pc != w->len)
            return bad(w, at, *depth != 0 ? "ret leaves values behind" : "ret before the end");
    } else if (info->shape == BG_OPERAND_JUMP) {
        if (operand >= w->len - *pc)
            return bad(w, at, "a jump leads out of the program");
        int32_t *target = &w->at[*pc + operand];
        if (*target >= 0 && *target != *depth)
            return bad(w, at, "two stack depths meet");
        *target = *depth;
        if (op == BG_OP_JUMP)
            *depth = operand == 0 ? *depth : -1;
    }
    return BG_OK;
}

bg_status bg_prog_depth(const unsigned char *code, uint32_t len, uint32_t *max_stack, bg_error *err)
{
    walk w = {code, len, 0, NULL, err};
    if (len == 0)
        return bad(&w, 0, "it is empty");
    w.at = malloc((size_t)len * sizeof *w.at);
    if (w.at == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory while checking a program");
    memset(w.at, 0xFF, (size_t)len * sizeof *w.at);
    bg_status status = BG_OK;
    int32_t depth = 0;
    uint32_t pc = 0, n_targets = 0, n_landed = 0;
    bg_op last = BG_OP_COUNT;
    while (pc < len && status == BG_OK) {
        uint32_t at = pc;
        n_landed += w.at[at] >= 0;
        status = step(&w, &pc, &depth);
        if (status == BG_OK)
            last = (bg_op)code[at];
    }
    if (status == BG_OK && last != BG_OP_RET)
        status = bad(&w, len, "it does not end in ret");
    for (uint32_t i = 0; i < len && status == BG_OK; i++)
        n_targets += w.at[i] >= 0;
    if (status == BG_OK && n_targets != n_landed)
        status = bad(&w, 0, "a jump leads into the middle of an instruction");
    free(w.at);
    *max_stack = w.max;
    return status;
}
