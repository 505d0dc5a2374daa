/* re2c can't read tokens.def: each spelling must lex to its own row. Then whole texts. */
#include "front.h"

typedef int scanner(const unsigned char *start, const unsigned char *limit, size_t *len);

static int scan(scanner *with, const char *text, size_t *len)
{
    const unsigned char *bytes = (const unsigned char *)text;
    return with(bytes, bytes + strlen(text), len);
}

static void spelling_is_its_own_row(void **state)
{
    (void)state;
    for (int kind = 1; kind < BG_TOKEN_COUNT; kind++) {
        const bg_token_info *info = bg_token_at(kind);
        bool in_string = kind == BG_T_STR_TEXT || kind == BG_T_STR_END || kind == BG_T_INTERP_BEGIN;
        size_t len = 0;
        if (info->cls == BG_TOKEN_INTERNAL || kind == BG_T_INTERP_END) /* the end of an interpolation is a mode's */
            continue;
        int found = scan(in_string ? bg_lex_string : bg_lex_code, info->spelling, &len);
        if (found != kind || len != strlen(info->spelling))
            fail_msg("%s: `%s` lexed to %d, %zu bytes", info->name, info->spelling, found, len);
        assert_true(info->doc[0] != 0);
    }
}

static const struct {
    const char *text, *tokens;
} cases[] = {
    {"", ""},
    {" \t\r\n# c\n## d\n", ""},
    {"llvm-pgo a - b a -1 a-1", "NAME llvm-pgo|NAME a|MINUS -|NAME b|NAME a|MINUS -|INT 1|NAME a-1|"},
    {"a--b x- y", "NAME a|MINUS -|MINUS -|NAME b|NAME x|MINUS -|NAME y|"},
    {"stages _x if-x in", "NAME stages|NAME _x|NAME if-x|IN in|"},
    {"90s 2h 512MiB 42 1..2", "UNIT 90s|UNIT 2h|UNIT 512MiB|INT 42|INT 1|DOTDOT ..|INT 2|"},
    {"x[0].y", "NAME x|LBRACK [|INT 0|RBRACK ]|DOT .|NAME y|"},
    {"\"a{b}c\"", "STR_BEGIN \"|STR_TEXT a|INTERP_BEGIN {|NAME b|INTERP_END }|STR_TEXT c|STR_END \"|"},
    {"\"{f(\"{x}\")}\"", "STR_BEGIN \"|INTERP_BEGIN {|NAME f|LPAREN (|STR_BEGIN \"|INTERP_BEGIN {|NAME x|INTERP_END }|"
                         "STR_END \"|RPAREN )|INTERP_END }|STR_END \"|"},
    {"\"{ {a: 1}[b] }\"", "STR_BEGIN \"|INTERP_BEGIN {|LBRACE {|NAME a|COLON :|INT 1|RBRACE }|LBRACK [|NAME b|RBRACK ]|"
                          "INTERP_END }|STR_END \"|"},
    {"\"{{x}}\\{ \\u{41}\"", "STR_BEGIN \"|STR_TEXT {{x}}\\{ \\u{41}|STR_END \"|"},
    {"\"\"\"a \"q\"\n{b}\"\"\"", "STR_BEGIN \"\"\"|STR_TEXT a \"q\"\n|INTERP_BEGIN {|NAME b|INTERP_END }|STR_END \"\"\"|"},
    {"r\"a\\{b\"", "RAW r\"a\\{b\"|"},
    {"\"open\nx", "STR_BEGIN \"|STR_TEXT open|STR_END |NAME x|"},
    {"\"{a\nx", "STR_BEGIN \"|INTERP_BEGIN {|NAME a|INTERP_END |STR_END |NAME x|"},
    {"\"\"\"{\"a\nb\"\"\"", "STR_BEGIN \"\"\"|INTERP_BEGIN {|STR_BEGIN \"|STR_TEXT a|STR_END |NAME b|STR_BEGIN \"\"\"|STR_END |"
                             "INTERP_END |STR_END |"},
    {"a;b", "NAME a|NAME b|"},
    {"== = != <= < .. .", "EQEQ ==|EQ =|NE !=|LE <=|LT <|DOTDOT ..|DOT .|"},
};

static void texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bg_arena arena = {0};
        bg_diags diags = {0};
        bg_source source = {0};
        bg_buf out = {0};
        bg_lexer lexer;
        assert_int_equal(bg_source_init(&source, &arena, bg_str_of(cases[i].text), 1, &diags), BG_OK);
        bg_lexer_init(&lexer, &source, 1, NULL);
        for (bg_token t; (t = bg_lexer_next(&lexer)).kind != BG_T_END;)
            bg_buf_printf(&out, "%s %.*s|", bg_token_at(t.kind)->name, (int)t.len, source.text.ptr + t.offset);
        if (strcmp(bg_buf_cstr(&out), cases[i].tokens) != 0)
            fail_msg("case %zu:\n%s\n%s\nexpected\n%s", i, cases[i].text, bg_buf_cstr(&out), cases[i].tokens);
        bg_buf_clear(&out);
        bg_diags_clear(&diags);
        bg_arena_clear(&arena);
    }
}

static void printed(void **state)
{
    (void)state;
    bg_arena arena = {0};
    bg_diags diags = {0};
    bg_source source = {0};
    bg_buf out = {0};
    assert_int_equal(bg_source_init(&source, &arena, BG_STR("bgraph 1\n let \"é\" x"), 1, &diags), BG_OK);
    assert_int_equal(bg_tokens_print(&source, &out), BG_OK);
    assert_string_equal(bg_buf_cstr(&out), "1:1 NAME \"bgraph\"\n1:8 INT \"1\"\n2:2 LET \"let\"\n2:6 STR_BEGIN \"\\\"\"\n"
                                           "2:7 STR_TEXT \"é\"\n2:8 STR_END \"\\\"\"\n2:10 NAME \"x\"\n");
    bg_buf_clear(&out);
    bg_diags_clear(&diags);
    bg_arena_clear(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spelling_is_its_own_row),
        cmocka_unit_test(texts),
        cmocka_unit_test(printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
