/** The syntax tree: one node type, shapes in nodes.def. Immutable once parsed; lives in the unit's arena. Texts point into the
 *  source or the arena. */
#ifndef BG_SYNTAX_AST_H
#define BG_SYNTAX_AST_H

#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "bgraph/source.h"

typedef enum {
#define BG_AST(name, printed, n_fixed, children, doc) BG_AST_##name,
#include "nodes.def"
#undef BG_AST
    BG_AST_COUNT
} bg_ast_kind;

enum bg_ast_flag { BG_AST_QUOTED = 1, BG_AST_OVERRIDE = 2, BG_AST_EARLY = 4 };

typedef struct bg_ast bg_ast;
struct bg_ast {
    bg_ast_kind kind;
    uint32_t flags;
    bg_span span;      /* all of it */
    bg_span name_span; /* of `text` where it is a name that was declared or used, else as span */
    bg_str text, text2;
    bg_str doc;        /* doc comment before a declaration: lines without "## ", joined by '\n' */
    int64_t ival;
    uint32_t n_kids;
    uint32_t depth;    /* levels below and with this one: bounded, so walkers may recurse */
    bg_ast **kids;
};

/** Kids that follow the fixed ones. */
uint32_t bg_ast_n_fixed(bg_ast_kind kind);
const char *bg_ast_kind_name(bg_ast_kind kind);
/** S-expression with spans, a line a node: what goldens hold. */
void bg_ast_print(const bg_ast *ast, bg_buf *out);

#endif
