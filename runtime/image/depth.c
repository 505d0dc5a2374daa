#include "image/depth.h"

#include <stdlib.h>
#include <string.h>

#include "image/tables.h"

enum { UNREACHABLE = -1 };

typedef struct {
    const unsigned char *code;
    const uint32_t *limits;
    uint16_t *at;
    uint32_t len, n_targets, n_landed; /* different places that jumps lead to, and that were met as an instruction */
    int32_t depth, max;
    bg_error *err;
} walk;

void bg_depth_scratch_clear(bg_depth_scratch *scratch)
{
    free(scratch->at);
    *scratch = (bg_depth_scratch){0};
}

static bg_status bad(const walk *w, uint32_t offset, const char *what)
{
    bg_status s = bg_error_set(w->err, BG_E_CORRUPT, "bad program: %s at byte %u", what, offset);
    if (w->err != NULL)
        w->err->offset = offset;
    return s;
}

static bg_status check_operand(const walk *w, uint32_t at, const bg_op_info *info, uint32_t v)
{
    if (info->shape == BG_OPERAND_ENUM && v >= info->target)
        return bad(w, at, "an operand has a value that does not exist");
    if (info->shape == BG_OPERAND_REF && w->limits != NULL && (v == 0 || v >= w->limits[info->target]))
        return bad(w, at, "an operand leads nowhere");
    return BG_OK;
}

/* What arrives at an instruction: from the one before it, from jumps, or from both with one depth. */
static bg_status arrive(walk *w, uint32_t at)
{
    if (w->at[at] != 0) {
        int32_t landed = w->at[at] - 1;
        if (w->depth != UNREACHABLE && w->depth != landed)
            return bad(w, at, "two stack depths meet");
        w->depth = landed;
        w->n_landed++;
    }
    return w->depth == UNREACHABLE ? bad(w, at, "an instruction that is never reached") : BG_OK;
}

static bg_status apply(walk *w, uint32_t at, const bg_op_info *info, uint32_t operand)
{
    if (info->pops < 0 && operand > BG_IMAGE_MAX_STACK)
        return bad(w, at, "the stack is too short");
    int32_t pops = info->pops < 0 ? (int32_t)operand : info->pops;
    if (w->depth < pops)
        return bad(w, at, "the stack is too short");
    w->depth += info->pushes - pops;
    if (w->depth > BG_IMAGE_MAX_STACK) {
        bg_status s = bg_error_set(w->err, BG_E_LIMIT, "a program needs more than %d values on its stack; split the "
                                                       "expression, for example with let", BG_IMAGE_MAX_STACK);
        if (w->err != NULL)
            w->err->offset = at;
        return s;
    }
    if (w->depth > w->max)
        w->max = w->depth;
    return BG_OK;
}

static bg_status jump(walk *w, uint32_t at, uint32_t next, bg_op op, uint32_t skip)
{
    if (skip >= w->len - next)
        return bad(w, at, "a jump leads out of the program");
    uint16_t *target = &w->at[next + skip];
    uint16_t mark = (uint16_t)(w->depth + 1);
    if (*target != 0 && *target != mark)
        return bad(w, at, "two stack depths meet");
    w->n_targets += *target == 0;
    *target = mark;
    if (op == BG_OP_JUMP)
        w->depth = UNREACHABLE;
    return BG_OK;
}

static bg_status step(walk *w, uint32_t *pc)
{
    uint32_t at = *pc;
    BG_TRY(arrive(w, at));
    if (w->code[at] >= BG_OP_COUNT)
        return bad(w, at, "unknown opcode");
    bg_op op = (bg_op)w->code[at];
    const bg_op_info *info = &bg_op_table[op];
    uint32_t size = bg_op_size(op);
    if (w->len - at < size)
        return bad(w, at, "an instruction is cut off");
    uint32_t operand = size == 1 ? 0 : bg_get_u32(w->code + at + 1);
    *pc = at + size;
    BG_TRY(check_operand(w, at, info, operand));
    BG_TRY(apply(w, at, info, operand));
    if (op == BG_OP_RET && w->depth != 0)
        return bad(w, at, "ret leaves values behind");
    if ((op == BG_OP_RET) != (*pc == w->len))
        return bad(w, at, op == BG_OP_RET ? "ret before the end" : "it does not end in ret");
    return info->shape == BG_OPERAND_JUMP ? jump(w, at, *pc, op, operand) : BG_OK;
}

bg_status bg_depth_check(bg_depth_scratch *scratch, const unsigned char *code, uint32_t len, const uint32_t *limits,
                         uint32_t *max_stack, bg_error *err)
{
    walk w = {.code = code, .limits = limits, .len = len, .err = err};
    if (len == 0)
        return bad(&w, 0, "it is empty");
    if (scratch->cap < len) {
        size_t cap = len < 1024 ? 1024 : (size_t)len * 2;
        uint16_t *at = realloc(scratch->at, cap * sizeof *at);
        if (at == NULL)
            return bg_error_set(err, BG_E_NOMEM, "out of memory while checking a program");
        scratch->at = at;
        scratch->cap = cap;
    }
    w.at = scratch->at;
    memset(w.at, 0, len * sizeof *w.at);
    for (uint32_t pc = 0; pc < len;)
        BG_TRY(step(&w, &pc));
    if (w.n_targets != w.n_landed)
        return bad(&w, 0, "a jump leads into the middle of an instruction");
    *max_stack = (uint32_t)w.max;
    return BG_OK;
}
