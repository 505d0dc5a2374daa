/* The mode stack around the scanners: strings, interpolations, and the repair of those that are not closed. */
#include "syntax/lex.h"

enum { MODE_STRING, MODE_BLOCK, MODE_INTERP };

void bg_lexer_init(bg_lexer *lexer, const bg_source *source, uint32_t file, bg_diags *diags)
{
    lexer->source = source;
    lexer->diags = diags;
    lexer->file = file;
    lexer->offset = 0;
    lexer->n_modes = lexer->n_closing = lexer->n_pending = 0;
    lexer->too_deep = false;
}

static bg_diag *push(bg_lexer *lexer, bg_diag_code code, uint32_t offset, uint32_t len, const char *with)
{
    if (lexer->diags == NULL)
        return NULL;
    bg_str text = {lexer->source->text.ptr + offset, len};
    if (text.len > 60) { /* cut between characters */
        text.len = 60;
        while (((unsigned char)text.ptr[text.len] & 0xc0) == 0x80)
            text.len--;
    }
    bg_str other = bg_str_of(with);
    return bg_diag_push(lexer->diags, code, (bg_span){lexer->file, offset, len}, 2, text, other);
}

static void help(bg_lexer *lexer, bg_diag *diag, const char *text)
{
    if (diag != NULL)
        bg_diag_help(lexer->diags, diag, "%s", text);
}

static bool enter(bg_lexer *lexer, uint8_t kind, uint32_t offset)
{
    if (lexer->n_modes == BG_LEX_MODES_MAX) {
        help(lexer, push(lexer, BG_D_TOO_DEEP, offset, 1, ""), "name parts of it with `let`");
        lexer->too_deep = true;
        return false;
    }
    lexer->modes[lexer->n_modes++] = (bg_lex_mode){kind, offset, 0};
    return true;
}

/* A newline (block strings may hold one) or the end came: close the outermost string that can't go on and all in it. */
static bool unterminated(bg_lexer *lexer, bool at_end)
{
    uint32_t first = lexer->n_modes;
    for (uint32_t i = lexer->n_modes; i-- > 0;) {
        if (lexer->modes[i].kind == MODE_BLOCK && !at_end)
            break;
        if (lexer->modes[i].kind != MODE_INTERP)
            first = i;
    }
    if (first == lexer->n_modes)
        return false;
    uint32_t from = lexer->modes[first].offset, len = lexer->offset - from;
    bool block = lexer->modes[first].kind == MODE_BLOCK;
    bool interp = lexer->modes[lexer->n_modes - 1].kind == MODE_INTERP || lexer->n_modes - first > 1;
    bg_diag *diag = push(lexer, BG_D_UNTERMINATED_STRING, from, block ? 3 : len, "");
    if (interp)
        help(lexer, diag, "close the interpolation with `}` and the string with `\"`; a plain brace is written `{{`");
    else
        help(lexer, diag, block ? "close it with `\"\"\"`" : "close it with `\"`; text of several lines is written in `\"\"\"`");
    lexer->n_closing = lexer->n_modes - first;
    return true;
}

static bg_token synthetic(const bg_lexer *lexer, int kind)
{
    return (bg_token){.kind = kind, .synthetic = true, .offset = lexer->offset};
}

static bg_token close_mode(bg_lexer *lexer)
{
    lexer->n_closing--;
    lexer->n_modes--;
    return synthetic(lexer, lexer->modes[lexer->n_modes].kind == MODE_INTERP ? BG_T_INTERP_END : BG_T_STR_END);
}

static const unsigned char *bytes_at(const bg_lexer *lexer, uint32_t offset)
{
    return (const unsigned char *)lexer->source->text.ptr + offset;
}

/* In a string. Pieces of text are given as one token. */
static bg_token next_in_string(bg_lexer *lexer)
{
    const bg_str text = lexer->source->text;
    bg_lex_mode *mode = &lexer->modes[lexer->n_modes - 1];
    bg_token t = {.kind = BG_T_STR_TEXT, .offset = lexer->offset};
    for (;;) {
        size_t len = 0;
        int kind = (mode->kind == MODE_BLOCK ? bg_lex_block : bg_lex_string)(bytes_at(lexer, lexer->offset),
                                                                            bytes_at(lexer, (uint32_t)text.len), &len);
        if (kind == BG_LEX_LONE_BRACE)
            push(lexer, BG_D_LONE_BRACE, lexer->offset, 1, "");
        if (kind == BG_LEX_LONE_BRACE || kind == BG_T_STR_TEXT) {
            lexer->offset += (uint32_t)len;
            continue;
        }
        t.len = lexer->offset - t.offset;
        if (t.len != 0)
            return t;
        if (kind == BG_LEX_NEWLINE || kind == BG_LEX_END) {
            unterminated(lexer, kind == BG_LEX_END);
            return close_mode(lexer);
        }
        t.kind = kind;
        t.len = (uint32_t)len;
        lexer->offset += t.len;
        if (kind == BG_T_STR_END)
            lexer->n_modes--;
        else if (!enter(lexer, MODE_INTERP, t.offset))
            t = synthetic(lexer, BG_T_END);
        return t;
    }
}

/* Something the language does not have: diagnose it; true if a token stands in for it. */
static bool foreign(bg_lexer *lexer, bg_token *t)
{
    switch (t->kind) {
    case BG_LEX_SEMICOLON:
        help(lexer, push(lexer, BG_D_STRAY_SEPARATOR, t->offset, t->len, ""), "take it out");
        return false;
    case BG_LEX_AND_AND:
        push(lexer, BG_D_FOREIGN_OPERATOR, t->offset, t->len, "and");
        t->kind = BG_T_AND;
        return true;
    case BG_LEX_OR_OR:
        push(lexer, BG_D_FOREIGN_OPERATOR, t->offset, t->len, "or");
        t->kind = BG_T_OR;
        return true;
    case BG_LEX_BANG:
        push(lexer, BG_D_FOREIGN_OPERATOR, t->offset, t->len, "not");
        t->kind = BG_T_NOT;
        return true;
    case BG_LEX_FRACTION:
        help(lexer, push(lexer, BG_D_BAD_NUMBER, t->offset, t->len, ""),
             "use a smaller unit: 1500ms instead of 1.5s, 512MiB instead of 0.5GiB");
        t->kind = BG_T_INT;
        t->synthetic = true; /* its value was diagnosed */
        return true;
    case BG_LEX_RAW_OPEN:
        help(lexer, push(lexer, BG_D_UNTERMINATED_STRING, t->offset, t->len, ""), "close it with `\"`");
        t->kind = BG_T_RAW;
        return true;
    case BG_LEX_SINGLE_QUOTED: {
        bg_diag *diag = push(lexer, BG_D_SINGLE_QUOTES, t->offset, t->len, "");
        help(lexer, diag, "write \"…\"");
        t->kind = BG_T_STR_BEGIN;
        lexer->pending[0] = (bg_token){.kind = BG_T_STR_END, .synthetic = true, .offset = t->offset + t->len};
        lexer->n_pending = 1;
        return true;
    }
    default:
        push(lexer, BG_D_BAD_CHAR, t->offset, t->len, "");
        return false;
    }
}

/* Strings and interpolations change the mode; braces are counted in an interpolation. */
static void change_mode(bg_lexer *lexer, bg_token *t)
{
    bg_lex_mode *interp = lexer->n_modes != 0 ? &lexer->modes[lexer->n_modes - 1] : NULL;
    bool entered = true;
    if (t->kind == BG_LEX_BLOCK_BEGIN) {
        t->kind = BG_T_STR_BEGIN;
        entered = enter(lexer, MODE_BLOCK, t->offset);
    } else if (t->kind == BG_T_STR_BEGIN) {
        entered = enter(lexer, MODE_STRING, t->offset);
    } else if (t->kind == BG_T_LBRACE && interp != NULL) {
        interp->braces++;
    } else if (t->kind == BG_T_RBRACE && interp != NULL) {
        if (interp->braces == 0) {
            t->kind = BG_T_INTERP_END;
            lexer->n_modes--;
        } else {
            interp->braces--;
        }
    }
    if (!entered)
        *t = synthetic(lexer, BG_T_END);
}

static void gather_doc(bg_token *t, uint32_t offset, uint32_t len)
{
    if (t->doc_len == 0)
        t->doc_offset = offset;
    t->doc_len = offset + len - t->doc_offset;
}

static bg_token next_in_code(bg_lexer *lexer)
{
    bg_token t = {.first = lexer->offset == 0};
    for (;;) {
        size_t len = 0;
        t.kind = bg_lex_code(bytes_at(lexer, lexer->offset), bytes_at(lexer, (uint32_t)lexer->source->text.len), &len);
        t.offset = lexer->offset;
        t.len = (uint32_t)len;
        if ((t.kind == BG_LEX_NEWLINE || t.kind == BG_LEX_END) && lexer->n_modes != 0 &&
            unterminated(lexer, t.kind == BG_LEX_END))
            return close_mode(lexer);
        lexer->offset += t.len;
        if (t.kind == BG_LEX_END) {
            t.kind = BG_T_END;
            return t;
        }
        if (t.kind == BG_LEX_NEWLINE) {
            t.first = true;
        } else if (t.kind == BG_LEX_DOC) {
            if (t.first)
                gather_doc(&t, t.offset, t.len);
        } else if (t.kind == BG_T_STR_BEGIN || t.kind == BG_LEX_BLOCK_BEGIN || t.kind < BG_TOKEN_COUNT) {
            change_mode(lexer, &t);
            return t;
        } else if (t.kind != BG_LEX_SPACE && t.kind != BG_LEX_COMMENT && foreign(lexer, &t)) {
            return t;
        }
    }
}

bg_token bg_lexer_next(bg_lexer *lexer)
{
    if (lexer->too_deep)
        return synthetic(lexer, BG_T_END);
    if (lexer->n_pending != 0)
        return lexer->pending[--lexer->n_pending];
    if (lexer->n_closing != 0)
        return close_mode(lexer);
    if (lexer->n_modes != 0 && lexer->modes[lexer->n_modes - 1].kind != MODE_INTERP)
        return next_in_string(lexer);
    return next_in_code(lexer);
}
