/* Values to programs. */
#include "emit/emit.h"

static void put(bg_emit *e, const bg_val *v);

static void op(bg_emit *e, bg_op code, uint32_t operand)
{
    bg_image_op(e->w, code, operand);
}

static void put_str(bg_emit *e, bg_str str)
{
    op(e, BG_OP_STR, bg_image_str(e->w, str));
}

static void put_path(bg_emit *e, const bg_val *v)
{
    switch ((bg_root_kind)v->i) {
    case BG_ROOT_TOOL:
        op(e, BG_OP_TOOL, bg_emit_tool(e, v->ref));
        break;
    case BG_ROOT_FILE:
        op(e, BG_OP_FILE, ((const bg_unit *)v->ref)->file);
        break;
    case BG_ROOT_SOURCE:
        op(e, BG_OP_SOURCE, bg_emit_source(e, v->ref));
        break;
    case BG_ROOT_OUT:
        op(e, BG_OP_OUT, ((const bg_out *)v->ref)->id);
        break;
    case BG_ROOT_PROD:
        op(e, BG_OP_PROD, v->early != NULL ? v->early->prod_id : ((const bg_node *)v->ref)->link_id);
        break;
    case BG_ROOT_WORK:
        op(e, BG_OP_WORK, ((const bg_work *)v->ref)->id);
        break;
    }
    if (v->str.len == 0)
        return;
    put_str(e, v->str);
    op(e, BG_OP_JOIN, 0);
}

/* The list under construction stays on the stack; a branch adds to it or leaves it. */
static void put_item(bg_emit *e, const bg_val *v)
{
    if (v->kind == BG_VAL_ITEM_IF) {
        put(e, v->kids[0]);
        uint32_t skip = bg_image_jump(e->w, BG_OP_UNLESS);
        put_item(e, v->kids[1]);
        bg_image_land(e->w, skip);
    } else if (v->kind == BG_VAL_SPLICE) {
        put(e, v->kids[0]);
        op(e, BG_OP_SPLICE, 0);
    } else {
        put(e, v);
        op(e, BG_OP_APPEND, 0);
    }
}

static void put_cond(bg_emit *e, const bg_val *v)
{
    put(e, v->kids[0]);
    uint32_t otherwise = bg_image_jump(e->w, BG_OP_UNLESS);
    put(e, v->kids[1]);
    uint32_t end = bg_image_jump(e->w, BG_OP_JUMP);
    bg_image_land(e->w, otherwise);
    put(e, v->kids[2]);
    bg_image_land(e->w, end);
}

/* Operators whose kids are their operands; `operand`: count, format or nothing. */
static void put_op(bg_emit *e, const bg_val *v, bg_op code, uint32_t operand)
{
    for (uint32_t i = 0; i < v->n; i++)
        put(e, v->kids[i]);
    op(e, code, operand);
}

static void put_constant(bg_emit *e, const bg_val *v)
{
    switch ((int)v->kind) {
    case BG_VAL_STR:
        put_str(e, v->str);
        break;
    case BG_VAL_INT:
        op(e, BG_OP_INT, bg_image_int(e->w, v->i));
        break;
    case BG_VAL_BOOL:
        op(e, BG_OP_BOOL, v->i != 0);
        break;
    case BG_VAL_PATH:
        put_path(e, v);
        break;
    case BG_VAL_TOOL:
        op(e, BG_OP_TOOL, bg_emit_tool(e, v->ref));
        break;
    case BG_VAL_LIST:
        op(e, BG_OP_LIST, 0);
        for (uint32_t i = 0; i < v->n; i++)
            put_item(e, v->kids[i]);
        break;
    default:
        put_str(e, (bg_str){"", 0}); /* not reached: no other value waits for the run */
        break;
    }
}

static void put(bg_emit *e, const bg_val *v)
{
    static const bg_op operators[BG_VAL_COUNT] = {
        [BG_VAL_JOIN] = BG_OP_JOIN, [BG_VAL_DIR] = BG_OP_DIR, [BG_VAL_BASE] = BG_OP_BASE, [BG_VAL_EQ] = BG_OP_EQ,
        [BG_VAL_LT] = BG_OP_LT,     [BG_VAL_NOT] = BG_OP_NOT, [BG_VAL_ADD] = BG_OP_ADD,   [BG_VAL_SUB] = BG_OP_SUB,
        [BG_VAL_MUL] = BG_OP_MUL,   [BG_VAL_DIV] = BG_OP_DIV,
    };
    switch ((int)v->kind) {
    case BG_VAL_PARAM:
        op(e, BG_OP_PARAM, ((const bg_param *)v->ref)->id);
        break;
    case BG_VAL_ENV:
        op(e, BG_OP_ENV, bg_emit_env(e, v->ref));
        break;
    case BG_VAL_FACT:
        op(e, BG_OP_MACHINE, (uint32_t)v->i);
        break;
    case BG_VAL_CONCAT:
        put_op(e, v, BG_OP_CONCAT, v->n);
        break;
    case BG_VAL_RENDER:
        put_op(e, v, BG_OP_RENDER, (uint32_t)v->i);
        break;
    case BG_VAL_COND:
        put_cond(e, v);
        break;
    default:
        if (v->kind >= BG_VAL_JOIN && v->kind <= BG_VAL_DIV)
            put_op(e, v, operators[v->kind], 0);
        else
            put_constant(e, v);
        break;
    }
}

uint32_t bg_emit_span(bg_emit *e, bg_span span)
{
    if (span.file == 0 || span.file > e->n_sources)
        return 0;
    bg_img_spans rec = {span.file, span.offset, span.len, 0, 0};
    bg_source_locate(e->sources[span.file - 1], span.offset, &rec.line, &rec.column);
    return bg_image_add(e->w, BG_SEC_SPAN, &rec);
}

/* Records that a program refers to may be made meanwhile, programs may not: the params' are made before. */
uint32_t bg_emit_prog(bg_emit *e, const bg_val *v)
{
    if (v == NULL)
        return 0;
    uint32_t span = bg_emit_span(e, v->span);
    bg_image_prog_begin(e->w);
    put(e, v);
    return bg_image_prog_end(e->w, span);
}
