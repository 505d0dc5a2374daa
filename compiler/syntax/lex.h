/** Tokens and the lexer: bytes -> a stream of tokens with string modes kept on a bounded stack. The scanners are pure and come from
 *  grammar/lex.re; the lexer skips space and comments, gathers doc comments and repairs what is broken (with a diagnostic), so that
 *  the parser sees well-formed strings only. The text must end with a NUL byte that is not part of it (bg_source_init does that). */
#ifndef BG_SYNTAX_LEX_H
#define BG_SYNTAX_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bgraph/diag.h"
#include "bgraph/source.h"

/* 1, 2, … in the order of tokens.def, which are lemon's numbers too (asserted in parse.y); 0 is the end of the file. */
typedef enum {
    BG_T_END,
#define BG_TOKEN(name, spelling, cls, doc) BG_T_##name,
#include "tokens.def"
#undef BG_TOKEN
    BG_TOKEN_COUNT
} bg_token_kind;
/* The same numbers under names that lemon does not define as macros. */
enum {
    BG_TOKEN_ROW_END_,
#define BG_TOKEN(name, spelling, cls, doc) BG_TOKEN_ROW_##name,
#include "tokens.def"
#undef BG_TOKEN
};

typedef enum {
    BG_TOKEN_RESERVED,
    BG_TOKEN_WORD,
    BG_TOKEN_PUNCT,
    BG_TOKEN_LITERAL,
    BG_TOKEN_PART,
    BG_TOKEN_INTERNAL
} bg_token_class;

typedef struct {
    const char *name, *spelling;
    bg_token_class cls;
    const char *doc;
} bg_token_info;
/** Row of a kind from 1 to BG_TOKEN_COUNT - 1; asserts. */
const bg_token_info *bg_token_at(int kind);

/** Offsets are bytes of the source. `doc_len` > 0: doc comments before it lie in [doc_offset, doc_offset + doc_len). */
typedef struct {
    int kind;
    bool first;     /* first on its line */
    bool synthetic; /* made by a repair that was diagnosed; its `len` is 0 */
    uint32_t offset, len;
    uint32_t doc_offset, doc_len;
} bg_token;

static inline bg_token bg_token_join(bg_token a, bg_token b)
{
    a.len = b.offset + b.len - a.offset;
    return a;
}

/* What the scanners find beside tokens. */
enum {
    BG_LEX_END = 200,
    BG_LEX_BAD,
    BG_LEX_SPACE,
    BG_LEX_NEWLINE,
    BG_LEX_COMMENT,
    BG_LEX_DOC,
    BG_LEX_SEMICOLON,
    BG_LEX_AND_AND,
    BG_LEX_OR_OR,
    BG_LEX_BANG,
    BG_LEX_SINGLE_QUOTED,
    BG_LEX_FRACTION,
    BG_LEX_BLOCK_BEGIN,
    BG_LEX_RAW_OPEN,
    BG_LEX_LONE_BRACE
};
/** Scan one token at `start`; *limit must be NUL. *len gets its bytes (0 at the end). Outside strings, in "…", in a block string. */
int bg_lex_code(const unsigned char *start, const unsigned char *limit, size_t *len);
int bg_lex_string(const unsigned char *start, const unsigned char *limit, size_t *len);
int bg_lex_block(const unsigned char *start, const unsigned char *limit, size_t *len);

enum { BG_LEX_MODES_MAX = 128, BG_NESTING_MAX = 200 };
typedef struct {
    uint8_t kind;
    uint32_t offset; /* of the opening quote or brace */
    uint32_t braces; /* open in an interpolation */
} bg_lex_mode;
/** Plain value: a copy is a snapshot. */
typedef struct {
    const bg_source *source;
    bg_diags *diags; /* NULL: silent */
    uint32_t file, offset;
    uint32_t n_modes, n_closing; /* modes that a repair is closing */
    uint32_t n_pending;          /* of `pending`, given before anything else, last first */
    bg_token pending[2];
    bg_lex_mode modes[BG_LEX_MODES_MAX];
    bool too_deep; /* strings nest past the limit: only BG_T_END follows; at `offset` */
} bg_lexer;

void bg_lexer_init(bg_lexer *lexer, const bg_source *source, uint32_t file, bg_diags *diags);
/** The next token; BG_T_END again and again at the end. */
bg_token bg_lexer_next(bg_lexer *lexer);

#endif
