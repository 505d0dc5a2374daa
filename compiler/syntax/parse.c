/* The token loop around lemon's parser: words that depend on what follows, brackets that don't match, and where to go on after a
 * mistake. */
#include <stdlib.h>

#include "syntax/build.h"
#include "syntax/syntax.h"

typedef struct {
    bg_builder b;
    bg_lexer lexer;
    bg_token next;      /* the one after the token in hand */
    void *lemon;
    uint32_t indent;    /* of the line of the token in hand */
    bool header;        /* in the head of an item that has a block */
    uint32_t mistake;   /* 1 + offset of the last one; 0: none yet */
    uint32_t n_missing; /* `{` without a `}` in the whole file; UINT32_MAX: not counted yet */
} parser;

static bool is_word(int kind)
{
    return kind == BG_T_NAME || (kind > 0 && bg_token_at(kind)->cls == BG_TOKEN_WORD);
}

/* Words are keys before `=`, and `early` only means something before a name. */
static void settle(parser *p, bg_token *t)
{
    bool word = t->kind > 0 && bg_token_at(t->kind)->cls == BG_TOKEN_WORD;
    if (word && t->kind != BG_T_RUN && p->next.kind == BG_T_EQ)
        t->kind = BG_T_NAME;
    else if (t->kind == BG_T_EARLY && !is_word(p->next.kind))
        t->kind = BG_T_NAME;
}

/* Blanks before a token that is the first on its line. */
static uint32_t indent_before(const parser *p, uint32_t offset)
{
    const char *text = p->b.source->text.ptr;
    uint32_t start = offset;
    while (start > 0 && (text[start - 1] == ' ' || text[start - 1] == '\t'))
        start--;
    return offset - start;
}

static bg_token advance(parser *p)
{
    bg_token t = p->next;
    p->next = bg_lexer_next(&p->lexer);
    if (p->lexer.too_deep)
        p->b.too_deep = true;
    settle(p, &t);
    if (t.first)
        p->indent = indent_before(p, t.offset);
    return t;
}

static void feed(parser *p, bg_token t)
{
    p->b.at = t;
    bg_lemon_(p->lemon, t.kind, t, &p->b);
    p->b.prev = t;
}

static bool stopped(const parser *p)
{
    return p->b.nomem || p->b.too_deep;
}

/* Brackets. */

static int closer_of(int opener)
{
    switch (opener) {
    case BG_T_LBRACE:
        return BG_T_RBRACE;
    case BG_T_LBRACK:
        return BG_T_RBRACK;
    case BG_T_LPAREN:
        return BG_T_RPAREN;
    case BG_T_STR_BEGIN:
        return BG_T_STR_END;
    case BG_T_INTERP_BEGIN:
        return BG_T_INTERP_END;
    default:
        return 0;
    }
}

static bool is_closer(int kind)
{
    return kind == BG_T_RBRACE || kind == BG_T_RBRACK || kind == BG_T_RPAREN || kind == BG_T_STR_END ||
           kind == BG_T_INTERP_END;
}

/* A `{` after these starts a map, after anything else a block. */
static bool map_follows(int kind)
{
    switch (kind) {
    case BG_T_NAME:
    case BG_T_RUN:
    case BG_T_ENV:
    case BG_T_STR_END:
    case BG_T_RAW:
    case BG_T_RPAREN:
    case BG_T_SYNC_BLOCK:
        return false;
    default:
        return kind <= 0 || bg_token_at(kind)->cls != BG_TOKEN_WORD || kind == BG_T_DEFAULT;
    }
}

static void open_bracket(parser *p, bg_token t, int before)
{
    bg_builder *b = &p->b;
    if (b->n_open == BG_NESTING_MAX) {
        bg_build_too_deep(b, t);
        return;
    }
    b->open[b->n_open++] = (bg_open){t, t.kind == BG_T_LBRACE && !map_follows(before), p->indent};
}

/* Number of brackets open up to and with the innermost block. */
static uint32_t base_of(const bg_builder *b)
{
    uint32_t n = b->n_open;
    while (n > 0 && !b->open[n - 1].block)
        n--;
    return n;
}

static bool has_open(const bg_builder *b, uint32_t from, int kind)
{
    for (uint32_t i = from; i < b->n_open; i++)
        if (b->open[i].token.kind == kind)
            return true;
    return false;
}

/* Items. */

/* Does an item start at `t`? In brackets that can only be seen at the start of a line. */
static bool starts_item(const parser *p, bg_token t, uint32_t base)
{
    const bg_builder *b = &p->b;
    int next = p->next.kind;
    bool deep = b->n_open > base;
    if (t.synthetic || (deep && (!t.first || has_open(b, base, BG_T_STR_BEGIN))))
        return false;
    switch (t.kind) {
    case BG_T_NAME:
    case BG_T_IN:
        return next == BG_T_EQ && !(deep && has_open(b, base, BG_T_LPAREN));
    case BG_T_RUN:
        return (next == BG_T_EQ && !(deep && has_open(b, base, BG_T_LPAREN))) || next == BG_T_LBRACE;
    case BG_T_ENV:
        return is_word(next) || next == BG_T_LBRACE;
    case BG_T_USE:
        return is_word(next) || next == BG_T_STR_BEGIN;
    case BG_T_DEFAULT:
        return is_word(next);
    case BG_T_ALLOW:
        return !deep && next == BG_T_LPAREN;
    case BG_T_AS:
    case BG_T_EARLY:
    case BG_T_WHEN:
        return false;
    default:
        if (t.kind <= 0 || bg_token_at(t.kind)->cls != BG_TOKEN_WORD)
            return false;
        return is_word(next) || (!deep && t.first && next > 0 && bg_token_at(next)->cls == BG_TOKEN_RESERVED);
    }
}

/* A line that looks like an item without its `=`. Good enough to go on at, after a mistake. */
static bool looks_like_item(const parser *p, bg_token t, uint32_t base)
{
    int next = p->next.kind;
    bool value = next == BG_T_COLON || next == BG_T_STR_BEGIN || next == BG_T_INT || next == BG_T_UNIT;
    return t.first && t.kind == BG_T_NAME && p->b.n_open == base && value;
}

static bool has_block(int kind)
{
    return kind == BG_T_TOOL || kind == BG_T_SOURCE || kind == BG_T_TEMPLATE || kind == BG_T_GROUP || kind == BG_T_STAGE ||
           kind == BG_T_CRATE || kind == BG_T_RELOCATE;
}

static bool is_declaration(int kind)
{
    return has_block(kind) || kind == BG_T_USE || kind == BG_T_PARAM || kind == BG_T_DEFAULT;
}

/* Recovery. */

static bg_token made(bg_token at, int kind)
{
    return (bg_token){.kind = kind, .synthetic = true, .offset = at.offset};
}

/* The parser waits for SYNC: give it, and count mistakes anew. */
static void sync_at(parser *p, bg_token t, uint32_t base)
{
    p->b.n_open = base;
    p->b.error = false;
    p->header = false;
    feed(p, made(t, BG_T_SYNC));
    bg_lemon_recovered(p->lemon);
}

/* Skip from `t`, where the mistake was seen, to where the parser can go on; that token is returned, not fed. */
static bg_token recover(parser *p, bg_token t)
{
    bg_builder *b = &p->b;
    if (p->mistake == t.offset + 1 && t.kind != BG_T_END) /* going on there did not help: every recovery makes way */
        t = advance(p);
    uint32_t mistake = t.offset;
    p->mistake = mistake + 1;
    for (;; t = advance(p)) {
        uint32_t base = base_of(b);
        bool item = (t.offset != mistake || t.first) && (starts_item(p, t, base) || looks_like_item(p, t, base));
        if (t.kind == BG_T_END || stopped(p) || item) {
            sync_at(p, t, base);
            return t;
        }
        if (t.kind == BG_T_LBRACE && p->header && b->n_open == base) {
            b->error = p->header = false;
            feed(p, made(t, BG_T_SYNC_BLOCK));
            bg_lemon_recovered(p->lemon);
            return t;
        }
        if (closer_of(t.kind) != 0) {
            open_bracket(p, t, BG_T_EQ);
            continue;
        }
        if (!is_closer(t.kind))
            continue;
        uint32_t n = b->n_open;
        while (n > base && closer_of(b->open[n - 1].token.kind) != t.kind)
            n--;
        if (n > base) {
            b->n_open = n - 1;
        } else if (t.kind == BG_T_RBRACE && base > 0) {
            sync_at(p, t, base);
            return t;
        }
    }
}

/* Close the innermost bracket by a token of our own; a mistake that follows from that is silent. */
static void close_one(parser *p, bg_token at)
{
    bg_builder *b = &p->b;
    uint32_t n = --b->n_open;
    feed(p, made(at, closer_of(b->open[n].token.kind)));
    if (b->error) {
        b->n_open = n;
        sync_at(p, at, b->open[n].block ? n : base_of(b));
    }
}

static void diagnose_unclosed(parser *p, bg_token open, bg_token at)
{
    bg_builder *b = &p->b;
    bg_str text = bg_build_token_text(b, at);
    const char *before = at.kind == BG_T_END ? "the end of the file" : bg_arena_printf(b->arena, "`%.*s`", BG_FMT(text));
    bg_str spelling = bg_build_token_text(b, open);
    bg_diag *diag = bg_diag_push(b->diags, BG_D_UNCLOSED, bg_build_span(b, at), 2, spelling, bg_str_of(before));
    bg_diag_label_add(b->diags, diag, bg_build_span(b, open), "opened here");
    bg_diag_help(b->diags, diag, "add `%s`", bg_token_at(closer_of(open.kind))->spelling);
}

/* Close what is open above `keep`; the innermost is diagnosed. */
static void close_to(parser *p, uint32_t keep, bg_token at)
{
    diagnose_unclosed(p, p->b.open[p->b.n_open - 1].token, at);
    while (p->b.n_open > keep && !stopped(p))
        close_one(p, at);
}

static uint32_t count_missing(const parser *p)
{
    bg_lexer lexer;
    uint32_t opened = 0, closed = 0;
    bg_lexer_init(&lexer, p->b.source, p->b.file, NULL);
    for (bg_token t = bg_lexer_next(&lexer); t.kind != BG_T_END; t = bg_lexer_next(&lexer)) {
        opened += t.kind == BG_T_LBRACE;
        closed += t.kind == BG_T_RBRACE;
    }
    return opened > closed ? opened - closed : 0;
}

/* A declaration that is not indented deeper than an open block: if the file lacks a `}`, it is that block's. */
static void check_indent(parser *p, bg_token t)
{
    bg_builder *b = &p->b;
    if (!t.first || b->n_open == 0 || !is_declaration(t.kind) || !starts_item(p, t, b->n_open) || p->n_missing == 0)
        return;
    uint32_t n = b->n_open;
    while (n > 0 && !(b->open[n - 1].block && b->open[n - 1].indent >= p->indent))
        n--;
    if (n == 0)
        return;
    if (p->n_missing == UINT32_MAX)
        p->n_missing = count_missing(p);
    while (n > 1 && b->open[n - 2].block && b->open[n - 2].indent >= p->indent)
        n--;
    while (b->n_open >= n && p->n_missing > 0 && !stopped(p)) {
        bool brace = b->open[b->n_open - 1].token.kind == BG_T_LBRACE;
        close_to(p, b->n_open - 1, t);
        p->n_missing -= brace;
    }
}

/* Brackets that `t` shows to be unclosed are diagnosed and closed. */
static void check_brackets(parser *p, bg_token t)
{
    bg_builder *b = &p->b;
    if (b->n_open == 0)
        return;
    uint32_t base = base_of(b);
    if (b->n_open > base && starts_item(p, t, base))
        close_to(p, base, t);
    check_indent(p, t);
    if (b->n_open == 0 || !is_closer(t.kind) || closer_of(b->open[b->n_open - 1].token.kind) == t.kind)
        return;
    base = base_of(b);
    uint32_t n = b->n_open;
    while (n > base && closer_of(b->open[n - 1].token.kind) != t.kind)
        n--;
    if (n > base || (t.kind == BG_T_RBRACE && base > 0))
        close_to(p, n, t);
}

static void close_all(parser *p, bg_token end)
{
    bg_builder *b = &p->b;
    if (b->n_open == 0)
        return;
    diagnose_unclosed(p, b->open[b->n_open - 1].token, end);
    while (b->n_open > 0 && !stopped(p))
        close_one(p, end);
}

/* Feed one token; after a mistake *t is where to go on and true is returned. */
static bool step(parser *p, bg_token *t)
{
    bg_builder *b = &p->b;
    int before = b->prev.kind;
    if (has_block(t->kind) && b->n_open == base_of(b) && starts_item(p, *t, b->n_open))
        p->header = true;
    else if (p->header && starts_item(p, *t, base_of(b)))
        p->header = false;
    feed(p, *t);
    if (stopped(p))
        return false;
    if (b->error) {
        *t = recover(p, *t);
        return true;
    }
    if (closer_of(t->kind) != 0) {
        if (t->kind == BG_T_LBRACE)
            p->header = false;
        open_bracket(p, *t, before);
    } else if (is_closer(t->kind) && b->n_open > 0) {
        b->n_open--;
    }
    return false;
}

/* `bgraph 1`; returns the first token behind it. */
static bg_token edition(parser *p, int64_t *number)
{
    bg_builder *b = &p->b;
    bg_token t = advance(p);
    *number = 1;
    if (t.kind != BG_T_NAME || !bg_str_is(bg_build_token_text(b, t), "bgraph")) {
        bg_diag *diag = bg_diag_push(b->diags, BG_D_NO_EDITION, bg_build_span(b, t), 0);
        bg_diag_help(b->diags, diag, "write `bgraph 1` on the first line");
        return t;
    }
    bg_token version = advance(p);
    bg_str text = bg_build_token_text(b, version);
    bool number_follows = (version.kind == BG_T_INT || version.kind == BG_T_UNIT) && !version.first;
    if (number_follows && bg_str_is(text, "1"))
        return advance(p);
    if (number_follows) {
        bg_diag *diag = bg_diag_push(b->diags, BG_D_UNKNOWN_EDITION, bg_build_span(b, version), 1,
                                     (bg_str){text.ptr, text.len < 40 ? text.len : 40});
        bg_diag_help(b->diags, diag, "this version of bgc knows `bgraph 1`");
        return advance(p);
    }
    bg_diag *diag = bg_diag_push(b->diags, BG_D_NO_EDITION, bg_build_span(b, t), 0);
    bg_diag_help(b->diags, diag, "the number of the edition is missing: `bgraph 1`");
    return version;
}

static void run(parser *p, bg_token t)
{
    bg_builder *b = &p->b;
    while (!stopped(p)) {
        if (t.kind == BG_T_END) {
            close_all(p, t);
            if (stopped(p))
                return;
            feed(p, t);
            if (b->error)
                bg_build_file_add(b, bg_build_error(b, t, NULL));
            return;
        }
        check_brackets(p, t);
        if (!stopped(p) && !step(p, &t))
            t = advance(p);
    }
}

bg_status bg_parse(bg_arena *arena, const bg_source *source, uint32_t file, bg_diags *diags, bg_ast **out)
{
    bg_status status = BG_E_NOMEM;
    parser *p = calloc(1, sizeof *p);
    *out = NULL;
    if (p == NULL)
        return BG_E_NOMEM;
    p->lemon = bg_lemon_Alloc(malloc);
    if (p->lemon == NULL)
        goto out;
    p->b = (bg_builder){.arena = arena, .source = source, .file = file, .diags = diags};
    p->n_missing = UINT32_MAX;
    bg_lexer_init(&p->lexer, source, file, diags);
    p->next = bg_lexer_next(&p->lexer);
    int64_t number;
    run(p, edition(p, &number));
    if (!p->b.nomem && !diags->failed) {
        bg_token all = {.len = (uint32_t)source->text.len};
        *out = bg_build_list(&p->b, BG_AST_FILE, all, &p->b.items, all);
        (*out)->ival = number;
        status = p->b.nomem ? BG_E_NOMEM : BG_OK;
    }
out:
    if (p->lemon != NULL)
        bg_lemon_Free(p->lemon, free);
    if (status != BG_OK)
        *out = NULL;
    free(p);
    return status;
}
