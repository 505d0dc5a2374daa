/* What a syntax error says: the tokens that could follow, as few words as possible, and help for common mistakes. */
#include "syntax/build.h"

enum { WORDS_MAX = 5 };

typedef struct {
    const char *at[WORDS_MAX];
    bool quoted[WORDS_MAX];
    uint32_t n;
    bool more;
} words;

static void add(words *w, const char *word, bool quoted)
{
    if (w->n == WORDS_MAX) {
        w->more = true;
        return;
    }
    w->at[w->n] = word;
    w->quoted[w->n++] = quoted;
}

static void drop(bool *expected, const int *kinds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        expected[kinds[i]] = false;
}

/* Sets of tokens that have a name of their own. */
static void add_groups(words *w, bool *expected)
{
    static const int expr[] = {BG_T_NAME, BG_T_INT, BG_T_UNIT, BG_T_RAW, BG_T_STR_BEGIN, BG_T_TRUE, BG_T_FALSE, BG_T_NOT,
                               BG_T_MINUS, BG_T_LPAREN, BG_T_LBRACK, BG_T_LBRACE, BG_T_IF, BG_T_IN, BG_T_DOTDOT};
    static const int operators[] = {BG_T_PLUS, BG_T_MINUS, BG_T_STAR, BG_T_SLASH, BG_T_EQEQ, BG_T_NE, BG_T_LT, BG_T_LE,
                                    BG_T_GT, BG_T_GE, BG_T_AND, BG_T_OR};
    static const int item[] = {BG_T_NAME, BG_T_IN, BG_T_COMMA};
    static const int string[] = {BG_T_STR_BEGIN, BG_T_RAW};
    if (expected[BG_T_INT] && expected[BG_T_LPAREN]) {
        add(w, expected[BG_T_DOTDOT] ? "a list item" : "an expression", false);
        drop(expected, expr, sizeof expr / sizeof expr[0]);
    }
    if (expected[BG_T_STAGE] && expected[BG_T_OVERRIDE]) {
        add(w, "an item", false);
        drop(expected, item, sizeof item / sizeof item[0]);
        for (int i = 1; i < BG_TOKEN_COUNT; i++)
            if (bg_token_at(i)->cls == BG_TOKEN_WORD)
                expected[i] = false;
    }
    if (expected[BG_T_PLUS] && expected[BG_T_STAR]) {
        add(w, "an operator", false);
        drop(expected, operators, sizeof operators / sizeof operators[0]);
    }
    if (expected[BG_T_STR_BEGIN]) {
        add(w, "a string", false);
        drop(expected, string, sizeof string / sizeof string[0]);
    }
    if (expected[BG_T_NAME]) {
        add(w, "a name", false);
        expected[BG_T_NAME] = expected[BG_T_IN] = false;
    }
}

static bg_str expected_text(bg_builder *b, const bool *given)
{
    bool expected[BG_TOKEN_COUNT];
    words w = {0};
    bg_buf text = {0};
    memcpy(expected, given, sizeof expected);
    add_groups(&w, expected);
    for (int i = 1; i < BG_TOKEN_COUNT; i++)
        if (expected[i] && bg_token_at(i)->cls != BG_TOKEN_INTERNAL)
            add(&w, bg_token_at(i)->spelling, true);
    for (uint32_t i = 0; i < w.n; i++) {
        if (i != 0)
            bg_buf_puts(&text, i + 1 < w.n || w.more ? ", " : " or ");
        bg_buf_printf(&text, w.quoted[i] ? "`%s`" : "%s", w.at[i]);
    }
    bg_buf_puts(&text, w.n == 0 ? "the end of the file" : w.more ? " or something else" : "");
    char *copy = bg_arena_strdup(b->arena, bg_buf_cstr(&text), text.len);
    bg_str result = {copy == NULL ? "" : copy, copy == NULL ? 0 : text.len};
    bg_buf_clear(&text);
    return result;
}

static bg_str found_text(bg_builder *b, bg_token t)
{
    if (t.kind == BG_T_END)
        return BG_STR("the end of the file");
    if (t.kind == BG_T_STR_BEGIN || t.kind == BG_T_RAW)
        return BG_STR("a string");
    bg_str text = bg_build_token_text(b, t);
    bool cut = text.len > 40;
    const char *found = bg_arena_printf(b->arena, "`%.*s%s`", cut ? 40 : (int)text.len, text.ptr, cut ? "…" : "");
    return bg_str_of(found == NULL ? "something else" : found);
}

static bool starts_value(int kind)
{
    return kind == BG_T_STR_BEGIN || kind == BG_T_RAW || kind == BG_T_INT || kind == BG_T_UNIT || kind == BG_T_LBRACK ||
           kind == BG_T_TRUE || kind == BG_T_FALSE || kind == BG_T_COLON || kind == BG_T_NAME || kind == BG_T_NOT ||
           kind == BG_T_LPAREN;
}

static bool is_name(int kind)
{
    return kind == BG_T_NAME || kind == BG_T_IN || kind == BG_T_RUN;
}

/* The word an item starts with that `name` may have been meant to be; empty if none is near. */
static bg_str nearest_item(bg_str name)
{
    enum { CLASS_RESERVED, CLASS_WORD, CLASS_PUNCT, CLASS_LITERAL, CLASS_PART, CLASS_INTERNAL };
    static const struct {
        const char *spelling;
        int class;
    } tokens[] = {
#define BG_TOKEN(name, spelling, class, doc) {spelling, CLASS_##class},
#include "tokens.def"
#undef BG_TOKEN
    };
    enum { N = sizeof tokens / sizeof tokens[0] };
    bg_str spellings[N];
    uint32_t n = 0;
    for (size_t i = 0; i < N; i++) {
        if (tokens[i].class == CLASS_WORD)
            spellings[n++] = bg_str_of(tokens[i].spelling);
    }
    return bg_diag_nearest(name, spellings, n);
}

static bool missing_equals(bg_builder *b, bg_token found, const bool *expected)
{
    if (!expected[BG_T_EQ] || expected[BG_T_COLON] || !is_name(b->prev.kind) || !starts_value(found.kind))
        return false;
    bg_str name = bg_build_token_text(b, b->prev);
    bg_diag *diag = bg_diag_push(b->diags, BG_D_MISSING_EQUALS, bg_build_span(b, found), 1, name);
    if (found.kind == BG_T_COLON)
        bg_diag_help(b->diags, diag, "write `=` instead of `:`");
    else if (found.kind == BG_T_NAME && nearest_item(name).len != 0)
        bg_diag_help(b->diags, diag, "did you mean `%.*s`?", BG_FMT(nearest_item(name)));
    else if (found.kind == BG_T_NAME)
        bg_diag_help(b->diags, diag, "an item is `key = value`; is something missing before `%.*s`?", (int)(name.len < 60 ? name.len : 60),
                     name.ptr);
    else
        bg_diag_help(b->diags, diag, "write `%.*s = …`", (int)(name.len < 60 ? name.len : 60), name.ptr);
    return true;
}

static void add_help(bg_builder *b, bg_diag *diag, bg_token found, const bool *expected)
{
    if (found.kind > 0 && expected[BG_T_NAME] && !expected[BG_T_INT] && bg_token_at(found.kind)->cls == BG_TOKEN_RESERVED)
        bg_diag_help(b->diags, diag, "`%s` is a reserved word; choose another name", bg_token_at(found.kind)->spelling);
    else if (found.kind == BG_T_EQ && expected[BG_T_COLON])
        bg_diag_help(b->diags, diag, "its type comes first: `name : str = …`");
    else if (found.kind == BG_T_EQ && (expected[BG_T_THEN] || expected[BG_T_RBRACK]))
        bg_diag_help(b->diags, diag, "`==` compares");
    else if (found.kind >= BG_T_EQEQ && found.kind <= BG_T_GE)
        bg_diag_help(b->diags, diag, "comparisons don't chain: write `a < b and b < c`");
    else if (found.kind == BG_T_LBRACE && expected[BG_T_LPAREN] && expected[BG_T_DOT])
        bg_diag_help(b->diags, diag, "a template is called with its arguments, `name()` if there are none");
    else if (expected[BG_T_ELSE])
        bg_diag_help(b->diags, diag, "`if … then … else …` always has all three parts");
    else if (expected[BG_T_COMMA] && expected[BG_T_RBRACK])
        bg_diag_help(b->diags, diag, "items of a list are separated by `,`");
}

static void label_opening(bg_builder *b, bg_diag *diag, const bool *expected)
{
    if (b->n_open == 0)
        return;
    bg_token open = b->open[b->n_open - 1].token;
    bool wanted = (open.kind == BG_T_LBRACK && expected[BG_T_RBRACK]) || (open.kind == BG_T_LPAREN && expected[BG_T_RPAREN]) ||
                  (open.kind == BG_T_LBRACE && expected[BG_T_RBRACE] && !expected[BG_T_STAGE]);
    uint32_t len = diag->span.offset - open.offset;
    if (wanted && memchr(b->source->text.ptr + open.offset, '\n', len) != NULL)
        bg_diag_label_add(b->diags, diag, bg_build_span(b, open), "opened here");
}

bool bg_build_wants_report(const bg_builder *b, bg_token found)
{
    return !found.synthetic && !b->too_deep && !b->nomem && !b->diags->too_many;
}

void bg_build_syntax_error(bg_builder *b, bg_token found, const bool *expected)
{
    b->error = true;
    if (b->diags->too_many && !found.synthetic)
        bg_diag_push(b->diags, BG_D_SYNTAX, bg_build_span(b, found), 0); /* counted */
    if (!bg_build_wants_report(b, found) || missing_equals(b, found, expected))
        return;
    bg_diag *diag =
        bg_diag_push(b->diags, BG_D_SYNTAX, bg_build_span(b, found), 2, expected_text(b, expected), found_text(b, found));
    label_opening(b, diag, expected);
    add_help(b, diag, found, expected);
}
