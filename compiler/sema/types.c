/* Types: from their syntax, their names, and checking a value against one. */
#include "base/buf.h"
#include "sema/sema.h"

static const char *const kind_names[BG_TYPE_COUNT] = {"error", "any",  "str",  "int",     "bool", "duration", "size",
                                                   "path",  "list", "map",  "enum",    "node", "product",  "tool",
                                                   "source", "group", "module", "template", "rule"};

static bg_type *bad_type(bg_sema *s, const bg_ast *ast, const char *what)
{
    bg_diag *d = bg_diag_push(s->diags, BG_D_BAD_TYPE, ast->span, 2, bg_str_of(what), ast->text);
    bg_str names[BG_TYPE_SOURCE];
    for (uint32_t i = BG_TYPE_ANY; i <= BG_TYPE_SOURCE; i++)
        names[i - 1] = bg_str_of(kind_names[i]);
    bg_sema_nearest(s, d, ast->text, names, BG_TYPE_SOURCE);
    return NULL;
}

static bool enum_choices(bg_sema *s, const bg_ast *ast, bg_type *type)
{
    BG_LIST(bg_str) choices = {0};
    for (uint32_t i = 0; i < ast->n_kids; i++) {
        const bg_ast *kid = ast->kids[i];
        if (kid == NULL || kid->kind == BG_AST_ERROR)
            return false;
        if (kid->kind == BG_AST_STRING && kid->n_kids == 1 && kid->kids[0]->kind == BG_AST_STRING_TEXT)
            kid = kid->kids[0];
        else if (kid->kind != BG_AST_STRING_TEXT && kid->kind != BG_AST_NAME)
            return bad_type(s, ast, "an enum's choice") != NULL;
        for (uint32_t k = 0; k < choices.n; k++)
            if (bg_str_eq(choices.at[k], kid->text)) {
                bg_diag_push(s->diags, BG_D_DUPLICATE_NAME, kid->span, 1, kid->text);
                return false;
            }
        BG_PUSH(s, &choices, kid->text);
    }
    type->choices = choices.at;
    type->n_choices = choices.n;
    return choices.n != 0 || bad_type(s, ast, "an enum without choices") != NULL;
}

const bg_type *bg_type_of_ast(bg_sema *s, const bg_ast *ast)
{
    if (ast == NULL || ast->kind != BG_AST_TYPE)
        return NULL;
    bg_type *type = BG_NEW(s, bg_type);
    for (uint32_t i = BG_TYPE_ANY; i <= BG_TYPE_SOURCE; i++)
        if (bg_str_is(ast->text, kind_names[i]))
            type->kind = (bg_type_kind)i;
    if (type->kind == BG_TYPE_ERROR)
        return bad_type(s, ast, "this");
    if (type->kind == BG_TYPE_ENUM)
        return enum_choices(s, ast, type) ? type : NULL;
    if (type->kind == BG_TYPE_LIST || type->kind == BG_TYPE_MAP) {
        static const bg_type any = {BG_TYPE_ANY, NULL, NULL, 0};
        if (ast->n_kids > 1)
            return bad_type(s, ast, "this");
        type->elem = ast->n_kids == 0 ? &any : bg_type_of_ast(s, ast->kids[0]);
        return type->elem == NULL ? NULL : type;
    }
    return ast->n_kids == 0 ? type : bad_type(s, ast, "this");
}

static void type_write(bg_buf *buf, const bg_type *type)
{
    bg_buf_puts(buf, kind_names[type->kind]);
    if (type->elem == NULL && type->n_choices == 0)
        return;
    bg_buf_putc(buf, '[');
    if (type->elem != NULL)
        type_write(buf, type->elem);
    for (uint32_t i = 0; i < type->n_choices; i++)
        bg_buf_printf(buf, "%s\"%.*s\"", i == 0 ? "" : ", ", BG_FMT(type->choices[i]));
    bg_buf_putc(buf, ']');
}

bg_str bg_type_name(bg_sema *s, const bg_type *type)
{
    bg_buf buf = {0};
    type_write(&buf, type);
    bg_str copy = bg_sema_printf(s, "%s", bg_buf_cstr(&buf));
    bg_buf_clear(&buf);
    return copy;
}

static bg_val *mismatch(bg_sema *s, const bg_val *v, const bg_type *type, bg_str what)
{
    bg_str wanted;
    if (type->elem == NULL && type->kind != BG_TYPE_ENUM) {
        bg_val like = {.type = type->kind};
        wanted = bg_val_describe(&like);
    } else {
        wanted = bg_type_name(s, type);
    }
    bg_diag *d = bg_diag_push(s->diags, BG_D_TYPE, v->span, 3, what, wanted, bg_val_describe(v));
    if (type->kind == BG_TYPE_STR && (v->type == BG_TYPE_PATH || v->type == BG_TYPE_INT || v->type == BG_TYPE_BOOL))
        bg_diag_help(s->diags, d, "write \"{…}\" to make a string of it");
    if (type->kind == BG_TYPE_PRODUCT && v->type == BG_TYPE_NODE)
        bg_diag_help(s->diags, d, "`node.link` is all that a node makes");
    if (type->kind == BG_TYPE_LIST && v->type != BG_TYPE_LIST && v->type != BG_TYPE_MAP)
        bg_diag_help(s->diags, d, "a list of one is written [x]");
    return s->error;
}

static bool has_choice(const bg_type *type, bg_str str)
{
    for (uint32_t i = 0; i < type->n_choices; i++)
        if (bg_str_eq(type->choices[i], str))
            return true;
    return false;
}

static bg_val *assign_enum(bg_sema *s, bg_val *v, const bg_type *type, bg_str what)
{
    if (v->type == BG_TYPE_ENUM && v->full != NULL) {
        bool all = true;
        for (uint32_t i = 0; i < v->full->n_choices; i++)
            all = all && has_choice(type, v->full->choices[i]);
        if (all)
            return v;
    } else if (v->type != BG_TYPE_STR) {
        return mismatch(s, v, type, what);
    }
    bg_val *known = bg_known(s, v, "the value of an enum");
    if (known->kind == BG_VAL_ERROR || has_choice(type, known->str))
        return known;
    bg_diag *d = bg_diag_push(s->diags, BG_D_NOT_A_CHOICE, v->span, 2, what, known->str);
    bg_str near = bg_diag_nearest(known->str, type->choices, type->n_choices);
    bg_str all = bg_type_name(s, type);
    if (near.len != 0)
        bg_diag_help(s->diags, d, "did you mean `%.*s`? It is %.*s", BG_FMT(near), BG_FMT(all));
    else
        bg_diag_help(s->diags, d, "it is %.*s", BG_FMT(all));
    return s->error;
}

static bg_val *assign_kids(bg_sema *s, bg_val *v, const bg_type *elem, bg_str what)
{
    if (elem->kind == BG_TYPE_ANY)
        return v;
    bg_val **kids = BG_ARRAY(s, v->n, bg_val *);
    bool same = true, bad = false;
    for (uint32_t i = 0; i < v->n; i++) {
        kids[i] = bg_type_assign(s, v->kids[i], elem, what);
        same = same && kids[i] == v->kids[i];
        bad = bad || kids[i]->kind == BG_VAL_ERROR;
    }
    if (bad)
        return s->error;
    if (same)
        return v;
    bg_val *copy = bg_val_op(s, v->kind, v->type, kids, v->n, v->span);
    copy->keys = v->keys;
    return copy;
}

static bg_val *assign_list(bg_sema *s, bg_val *v, const bg_type *type, bg_str what)
{
    if (v->kind == BG_VAL_PARAM) /* list[str] */
        return type->elem->kind == BG_TYPE_ANY || type->elem->kind == BG_TYPE_STR
                   ? v
                   : bg_type_assign(s, bg_known(s, v, "this list"), type, what);
    bg_str item = bg_sema_printf(s, "an item of %.*s", BG_FMT(what));
    return assign_kids(s, v, type->elem, item);
}

/* SPLICE holds a list, ITEM_IF a condition and an item, COND a condition and two values. */
static bg_val *assign_through(bg_sema *s, bg_val *v, const bg_type *type, bg_str what)
{
    const bg_type list = {BG_TYPE_LIST, type, NULL, 0};
    bg_val **kids = BG_ARRAY(s, v->n, bg_val *);
    for (uint32_t i = 0; i < v->n; i++) {
        bool is_condition = i == 0 && v->kind != BG_VAL_SPLICE;
        kids[i] = is_condition ? v->kids[i] : bg_type_assign(s, v->kids[i], v->kind == BG_VAL_SPLICE ? &list : type, what);
    }
    bg_val *copy = bg_val_op(s, v->kind, v->type, kids, v->n, v->span);
    if (copy->kind != BG_VAL_ERROR)
        copy->full = v->full;
    return copy;
}

bg_val *bg_type_assign(bg_sema *s, bg_val *v, const bg_type *type, bg_str what)
{
    bg_sema_step(s, v->span, 1);
    if (v->kind == BG_VAL_ERROR || type->kind == BG_TYPE_ANY)
        return v;
    if (v->kind == BG_VAL_COND || v->kind == BG_VAL_SPLICE || v->kind == BG_VAL_ITEM_IF)
        return assign_through(s, v, type, what);
    if (type->kind == BG_TYPE_ENUM)
        return assign_enum(s, v, type, what);
    if (type->kind == BG_TYPE_PATH && (v->type == BG_TYPE_PRODUCT || v->type == BG_TYPE_SOURCE))
        return bg_pathval_of(s, v);
    if (type->kind == BG_TYPE_PRODUCT && v->kind == BG_VAL_PATH && v->i == BG_ROOT_OUT && v->str.len == 0)
        return v;
    if (type->kind == BG_TYPE_STR && v->type == BG_TYPE_ENUM)
        return v;
    if (v->type != type->kind)
        return mismatch(s, v, type, what);
    if (type->kind == BG_TYPE_LIST)
        return assign_list(s, v, type, what);
    if (type->kind == BG_TYPE_MAP)
        return assign_kids(s, v, type->elem, bg_sema_printf(s, "a value of %.*s", BG_FMT(what)));
    return v;
}

bg_val *bg_type_want(bg_sema *s, bg_val *v, bg_type_kind kind, const char *what)
{
    static const bg_type any = {BG_TYPE_ANY, NULL, NULL, 0};
    const bg_type type = {kind, kind == BG_TYPE_LIST || kind == BG_TYPE_MAP ? &any : NULL, NULL, 0};
    if (v->type == kind && v->kind != BG_VAL_ERROR)
        return v;
    if (kind == BG_TYPE_LIST && v->kind != BG_VAL_ERROR) {
        bg_diag *d = bg_diag_push(s->diags, BG_D_TYPE, v->span, 3, bg_str_of(what), BG_STR("a list"), bg_val_describe(v));
        bg_diag_help(s->diags, d, "a list of one is written [x]");
        return s->error;
    }
    return bg_type_assign(s, v, &type, bg_str_of(what));
}
