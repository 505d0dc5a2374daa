/* Names and shapes of the tree's nodes, and how a tree is printed. */
#include "syntax/ast.h"

#include <assert.h>
#include <inttypes.h>

static const struct {
    const char *printed;
    uint32_t n_fixed;
} kinds[BG_AST_COUNT] = {
#define BG_AST(name, printed, n_fixed, children, doc) [BG_AST_##name] = {printed, n_fixed},
#include "nodes.def"
#undef BG_AST
};

uint32_t bg_ast_n_fixed(bg_ast_kind kind)
{
    assert(kind < BG_AST_COUNT);
    return kinds[kind].n_fixed;
}

const char *bg_ast_kind_name(bg_ast_kind kind)
{
    assert(kind < BG_AST_COUNT);
    return kinds[kind].printed;
}

static bool has_text(const bg_ast *ast)
{
    return ast->text.len != 0 || ast->kind == BG_AST_STRING_TEXT;
}

static bool has_value(bg_ast_kind kind)
{
    return kind == BG_AST_FILE || kind == BG_AST_INT || kind == BG_AST_DURATION || kind == BG_AST_SIZE ||
           kind == BG_AST_BOOL;
}

static void print_text(const char *name, bg_str text, bg_buf *out)
{
    bg_buf_puts(out, name);
    bg_buf_json(out, text);
}

static void print(const bg_ast *ast, uint32_t level, bg_buf *out)
{
    for (uint32_t i = 0; i < level; i++)
        bg_buf_puts(out, "  ");
    if (ast == NULL) {
        bg_buf_puts(out, "()");
        return;
    }
    bg_buf_printf(out, "(%s %" PRIu32 "+%" PRIu32, kinds[ast->kind].printed, ast->span.offset, ast->span.len);
    if (has_text(ast))
        print_text(" ", ast->text, out);
    if (has_value(ast->kind))
        bg_buf_printf(out, " %" PRId64, ast->ival);
    if (ast->text2.len != 0)
        print_text(" as=", ast->text2, out);
    if (ast->doc.len != 0)
        print_text(" doc=", ast->doc, out);
    bg_buf_puts(out, (ast->flags & BG_AST_QUOTED) != 0 ? " quoted" : "");
    bg_buf_puts(out, (ast->flags & BG_AST_OVERRIDE) != 0 ? " override" : "");
    bg_buf_puts(out, (ast->flags & BG_AST_EARLY) != 0 ? " early" : "");
    for (uint32_t i = 0; i < ast->n_kids; i++) {
        bg_buf_putc(out, '\n');
        print(ast->kids[i], level + 1, out);
    }
    bg_buf_putc(out, ')');
}

void bg_ast_print(const bg_ast *ast, bg_buf *out)
{
    print(ast, 0, out);
    bg_buf_putc(out, '\n');
}
