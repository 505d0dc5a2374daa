/** What the grammar's actions call: tokens and finished parts in, tree out. A builder serves one parse; nodes live in the arena. When
 *  memory runs out the calls hand back a spare node and set `nomem`; the token loop stops then. */
#ifndef BG_SYNTAX_BUILD_H
#define BG_SYNTAX_BUILD_H

#include "syntax/ast.h"
#include "syntax/lex.h"

enum { BG_AST_DEPTH_MAX = 1000 };

typedef struct {
    bg_ast **at;
    uint32_t n, cap, depth; /* depth: of the deepest */
} bg_ast_list;

typedef struct {
    bg_token token;
    bool block;      /* a `{` that holds items */
    uint32_t indent; /* of its line */
} bg_open;

typedef struct {
    bg_arena *arena;
    const bg_source *source;
    uint32_t file;
    bg_diags *diags;
    bg_token at, prev;   /* being fed; fed before it */
    bg_open open[BG_NESTING_MAX];
    uint32_t n_open;     /* brackets open before `at` */
    bg_ast_list items;   /* finished items of the file */
    bool error;          /* the parser met a mistake at `at` */
    bool too_deep, nomem; /* stop */
    bg_ast spare;
    bg_ast_list spare_list;
} bg_builder;

/* Shared by build.c, literal.c and expect.c. */
bg_span bg_build_span(const bg_builder *b, bg_token t);
bg_str bg_build_token_text(const bg_builder *b, bg_token t);
bg_ast *bg_build_node(bg_builder *b, bg_ast_kind kind, bg_span span, bg_ast *x, bg_ast *y, bg_ast *z);
/** Text of a string without interpolation; diagnosed otherwise ("{what} must be plain text"), then empty. */
bg_str bg_build_plain(bg_builder *b, const bg_ast *string, const char *what);
void bg_build_too_deep(bg_builder *b, bg_token at);

bg_ast_list *bg_build_no_items(bg_builder *b);
/** `list` may be NULL. */
bg_ast_list *bg_build_append(bg_builder *b, bg_ast_list *list, bg_ast *item);
void bg_build_file_add(bg_builder *b, bg_ast *item);
void bg_build_stray(bg_builder *b, bg_token comma);
bg_ast *bg_build_error(bg_builder *b, bg_token at, bg_ast *block);
/** A node whose kids are the list's; from `open` to `close`. */
bg_ast *bg_build_list(bg_builder *b, bg_ast_kind kind, bg_token open, bg_ast_list *list, bg_token close);

/** A named node with its fixed kids in order (NULL: not there). */
bg_ast *bg_build_decl(bg_builder *b, bg_ast_kind kind, bg_token lead, bg_token name, bg_ast *x, bg_ast *y, bg_ast *z);
bg_ast *bg_build_settings(bg_builder *b, bg_ast_kind kind, bg_token lead, bg_token name, bg_ast *body);
bg_ast *bg_build_default(bg_builder *b, bg_token lead, bg_ast_list *list);
bg_ast *bg_build_uses(bg_builder *b, bg_token lead, bg_ast_list *list);
bg_ast *bg_build_use(bg_builder *b, bg_token module, bg_ast *path, bg_token alias);
bg_ast *bg_build_type(bg_builder *b, bg_token name, bg_ast_list *arguments, bg_token close);
bg_ast *bg_build_set(bg_builder *b, bg_token lead, bg_token key, bg_ast *value, uint32_t flags);
bg_ast *bg_build_pair(bg_builder *b, bg_ast *key, bg_ast *value);
bg_ast *bg_build_run(bg_builder *b, bg_token lead, bg_token name, bg_ast *argv, uint32_t flags);
bg_ast *bg_build_run_block(bg_builder *b, bg_token lead, bg_token name, bg_ast *body, uint32_t flags);
bg_ast *bg_build_env_block(bg_builder *b, bg_token lead, bg_ast_list *list, bg_token close);
bg_ast *bg_build_out(bg_builder *b, bg_token lead, bg_token early, bg_token name, bg_ast *type, bg_ast *path,
                     bg_ast *when);
bg_ast *bg_build_allow(bg_builder *b, bg_token lead, bg_token code, bg_ast *code_string, bg_ast *reason,
                       bg_token close);

bg_ast *bg_build_name(bg_builder *b, bg_token t);
bg_ast *bg_build_field(bg_builder *b, bg_ast *value, bg_token name);
bg_ast *bg_build_index(bg_builder *b, bg_ast *value, bg_ast *index, bg_token close);
bg_ast *bg_build_call(bg_builder *b, bg_ast *callee, bg_ast_list *arguments, bg_token close);
bg_ast *bg_build_parens(bg_builder *b, bg_token open, bg_ast *value, bg_token close);
bg_ast *bg_build_cond(bg_builder *b, bg_token lead, bg_ast *condition, bg_ast *yes, bg_ast *no);
bg_ast *bg_build_binary(bg_builder *b, bg_ast *left, bg_token op, bg_ast *right);
bg_ast *bg_build_unary(bg_builder *b, bg_token op, bg_ast *value);
bg_ast *bg_build_splice(bg_builder *b, bg_token dots, bg_ast *value);
bg_ast *bg_build_item_if(bg_builder *b, bg_ast *value, bg_ast *condition);
bg_ast *bg_build_if_clause(bg_builder *b, bg_token lead, bg_ast *condition);
bg_ast *bg_build_comp(bg_builder *b, bg_token open, bg_ast *value, bg_ast *first, bg_ast_list *clauses,
                      bg_token close);

bg_ast *bg_build_int(bg_builder *b, bg_token t);
bg_ast *bg_build_unit(bg_builder *b, bg_token t);
bg_ast *bg_build_bool(bg_builder *b, bg_token t, int value);
bg_ast *bg_build_raw(bg_builder *b, bg_token t);
bg_ast *bg_build_text(bg_builder *b, bg_token t);
/** `format`: a NAME, anything else for none. */
bg_ast *bg_build_interp(bg_builder *b, bg_token open, bg_ast *value, bg_token format, bg_token close);
bg_ast *bg_build_string(bg_builder *b, bg_token open, bg_ast_list *parts, bg_token close);

/** False where a syntax error only follows from a repair, or nobody would see it. */
bool bg_build_wants_report(const bg_builder *b, bg_token found);
/** Sets `error`; diagnoses if it is wanted. `expected[kind]`: the grammar would go on with it. */
void bg_build_syntax_error(bg_builder *b, bg_token found, const bool *expected);

/* Of the generated parser (parse.y). */
void *bg_lemon_Alloc(void *(*allocate)(size_t));
void bg_lemon_Free(void *parser, void (*release)(void *));
void bg_lemon_(void *parser, int kind, bg_token token, bg_builder *b);
void bg_lemon_recovered(void *parser);

#endif
