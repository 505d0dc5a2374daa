/* Operators on values: folded where both sides are known, else residual. */
#include "sema/sema.h"

static bg_val *bad(bg_sema *s, bg_str op, const bg_val *a, const bg_val *b, bg_span span)
{
    bg_diag *d = bg_diag_push(s->diags, BG_D_OPERANDS, span, 3, op, bg_val_describe(a), bg_val_describe(b));
    if (bg_str_is(op, "+") && a->type == BG_TYPE_PATH)
        bg_diag_help(s->diags, d, "paths are joined with `/`");
    if (bg_str_is(op, "+") && (a->type == BG_TYPE_STR || b->type == BG_TYPE_STR))
        bg_diag_help(s->diags, d, "write \"{…}\" to make a string of a value");
    if (bg_str_is(op, "/") && a->type == BG_TYPE_NODE)
        bg_diag_help(s->diags, d, "name one of the node's outputs, or `.link` for all");
    return s->error;
}

static bool is_number(const bg_val *v)
{
    return v->type == BG_TYPE_INT || v->type == BG_TYPE_DURATION || v->type == BG_TYPE_SIZE;
}

static bool is_str(const bg_val *v)
{
    return v->type == BG_TYPE_STR || v->type == BG_TYPE_ENUM;
}

/* Type of a op b, ERROR if there is none. */
static bg_type_kind number_type(char op, const bg_val *a, const bg_val *b)
{
    if (!is_number(a) || !is_number(b))
        return BG_TYPE_ERROR;
    if (op == '+' || op == '-')
        return a->type == b->type ? a->type : BG_TYPE_ERROR;
    if (b->type == BG_TYPE_INT)
        return a->type;
    if (op == '*')
        return a->type == BG_TYPE_INT ? b->type : BG_TYPE_ERROR;
    return a->type == b->type ? BG_TYPE_INT : BG_TYPE_ERROR;
}

static bg_val *fold_number(bg_sema *s, char op, int64_t a, int64_t b, bg_type_kind type, bg_span span)
{
    int64_t r = 0;
    bool over = false;
    if (op == '+')
        over = __builtin_add_overflow(a, b, &r);
    else if (op == '-')
        over = __builtin_sub_overflow(a, b, &r);
    else if (op == '*')
        over = __builtin_mul_overflow(a, b, &r);
    else if (b == 0)
        bg_diag_push(s->diags, BG_D_DIVISION, span, 0);
    else if (a == INT64_MIN && b == -1)
        over = true;
    else
        r = a / b;
    if (over)
        bg_diag_push(s->diags, BG_D_OVERFLOW, span, 1, (bg_str){&op, 1});
    return over || (op == '/' && b == 0) ? s->error : bg_val_int(s, r, type, span);
}

static bg_val *number(bg_sema *s, char op, bg_val *a, bg_val *b, bg_span span)
{
    bg_type_kind type = number_type(op, a, b);
    if (type == BG_TYPE_ERROR)
        return bad(s, (bg_str){&op, 1}, a, b, span);
    if (a->kind == BG_VAL_INT && b->kind == BG_VAL_INT)
        return fold_number(s, op, a->i, b->i, type, span);
    bg_val_kind kind = op == '+' ? BG_VAL_ADD : op == '-' ? BG_VAL_SUB : op == '*' ? BG_VAL_MUL : BG_VAL_DIV;
    return bg_val_op2(s, kind, type, a, b, span);
}

static bg_val *plus(bg_sema *s, bg_val *a, bg_val *b, bg_span span)
{
    if (is_str(a) && is_str(b)) {
        bg_val *parts[2] = {a, b};
        return bg_eval_concat(s, parts, 2, span);
    }
    if (a->type == BG_TYPE_LIST && b->type == BG_TYPE_LIST) {
        bg_val *items[2] = {bg_val_op1(s, BG_VAL_SPLICE, BG_TYPE_LIST, a, a->span),
                            bg_val_op1(s, BG_VAL_SPLICE, BG_TYPE_LIST, b, b->span)};
        return bg_eval_list(s, items, 2, span);
    }
    return number(s, '+', a, b, span);
}

static bg_val *slash(bg_sema *s, bg_val *a, bg_val *b, bg_span span)
{
    bg_val *path = bg_pathval_of(s, a);
    if (path == NULL)
        return number(s, '/', a, b, span);
    return is_str(b) ? bg_pathval_slash(s, path, b, span) : bad(s, BG_STR("/"), a, b, span);
}

static bg_val *less(bg_sema *s, bg_str op, bg_val *a, bg_val *b, bg_span span)
{
    if (!is_number(a) || a->type != b->type)
        return bad(s, op, a, b, span);
    bool swap = op.ptr[0] == '>', or_equal = op.len == 2;
    bg_val *l = swap != or_equal ? b : a, *r = swap != or_equal ? a : b;
    bg_val *v = l->kind == BG_VAL_INT && r->kind == BG_VAL_INT ? bg_val_bool(s, l->i < r->i, span)
                                                              : bg_val_op2(s, BG_VAL_LT, BG_TYPE_BOOL, l, r, span);
    return or_equal ? bg_oper_not(s, v, span) : v;
}

static bg_val *equal(bg_sema *s, bg_str op, bg_val *a, bg_val *b, bg_span span)
{
    if (a->type != b->type && !(is_str(a) && is_str(b)))
        return bad(s, op, a, b, span);
    if (a->type == BG_TYPE_LIST || a->type == BG_TYPE_MAP) {
        a = bg_known(s, a, "a list or map that is compared");
        b = bg_known(s, b, "a list or map that is compared");
        if (a->kind == BG_VAL_ERROR || b->kind == BG_VAL_ERROR)
            return s->error;
    }
    bool fold = a->known && b->known && a->type != BG_TYPE_PATH && a->type != BG_TYPE_PRODUCT;
    bg_val *v = fold ? bg_val_bool(s, bg_val_same(a, b), span) : bg_val_op2(s, BG_VAL_EQ, BG_TYPE_BOOL, a, b, span);
    return op.ptr[0] == '!' ? bg_oper_not(s, v, span) : v;
}

bg_val *bg_oper_binary(bg_sema *s, bg_str op, bg_val *a, bg_val *b, bg_span span)
{
    if (a->kind == BG_VAL_ERROR || b->kind == BG_VAL_ERROR)
        return s->error;
    switch (op.ptr[0]) {
    case '=':
    case '!':
        return equal(s, op, a, b, span);
    case '<':
    case '>':
        return less(s, op, a, b, span);
    case '+':
        return plus(s, a, b, span);
    case '/':
        return slash(s, a, b, span);
    default:
        return number(s, op.ptr[0], a, b, span);
    }
}

bg_val *bg_oper_not(bg_sema *s, bg_val *a, bg_span span)
{
    a = bg_type_want(s, a, BG_TYPE_BOOL, "what `not` applies to");
    if (a->kind == BG_VAL_ERROR)
        return a;
    if (a->kind == BG_VAL_BOOL)
        return bg_val_bool(s, a->i == 0, span);
    return a->kind == BG_VAL_NOT ? a->kids[0] : bg_val_op1(s, BG_VAL_NOT, BG_TYPE_BOOL, a, span);
}

bg_val *bg_oper_negate(bg_sema *s, bg_val *a, bg_span span)
{
    if (a->kind == BG_VAL_ERROR)
        return a;
    bg_val *zero = bg_val_int(s, 0, is_number(a) ? a->type : BG_TYPE_INT, span);
    return number(s, '-', zero, a, span);
}
