/* Texts and the trees they give; mistakes and the diagnostics they give; bounds. */
#include "front.h"

/* The tree on one line, without spans: "(let x (int 1))". */
static void put(const bg_ast *ast, bg_buf *out)
{
    if (ast == NULL) {
        bg_buf_puts(out, " ()");
        return;
    }
    bg_buf_printf(out, " (%s", bg_ast_kind_name(ast->kind));
    if (ast->text.len != 0)
        bg_buf_printf(out, " %.*s", BG_FMT(ast->text));
    if (ast->text2.len != 0)
        bg_buf_printf(out, " as %.*s", BG_FMT(ast->text2));
    if (ast->ival != 0)
        bg_buf_printf(out, " %lld", (long long)ast->ival);
    if (ast->doc.len != 0)
        bg_buf_printf(out, " ##%.*s##", BG_FMT(ast->doc));
    if ((ast->flags & BG_AST_QUOTED) != 0)
        bg_buf_puts(out, " quoted");
    if ((ast->flags & BG_AST_OVERRIDE) != 0)
        bg_buf_puts(out, " override");
    if ((ast->flags & BG_AST_EARLY) != 0)
        bg_buf_puts(out, " early");
    for (uint32_t i = 0; i < ast->n_kids; i++)
        put(ast->kids[i], out);
    bg_buf_putc(out, ')');
}

static const struct {
    const char *text, *tree;
} exprs[] = {
    {"1", "(int 1)"},
    {"9223372036854775807", "(int 9223372036854775807)"},
    {"90s", "(duration 90000000000)"},
    {"100ms", "(duration 100000000)"},
    {"4KiB", "(size 4096)"},
    {"true", "(bool 1)"},
    {"out.build", "(field build (name out))"},
    {"work / run", "(binary / (name work) (name run))"},
    {"[rpath, in-x, strings,]", "(list (name rpath) (name in-x) (name strings))"},
    {"1 + 2 * 3 - 4", "(binary - (binary + (int 1) (binary * (int 2) (int 3))) (int 4))"},
    {"a or b and not c == d", "(binary or (name a) (binary and (name b) (unary not (binary == (name c) (name d)))))"},
    {"-x.y[1](2)", "(unary - (call (index (field y (name x)) (int 1)) (int 2)))"},
    {"if a then b else if c then d else e + 1",
     "(cond (name a) (name b) (cond (name c) (name d) (binary + (name e) (int 1))))"},
    {"(if a then b else c) + d", "(binary + (cond (name a) (name b) (name c)) (name d))"},
    {"[a, ..b, c if d, ..e if f]",
     "(list (name a) (splice (name b)) (item-if (name c) (name d)) (item-if (splice (name e)) (name f)))"},
    {"[e for x in xs for y in x.ys if c]",
     "(comp (name e) (for x (name xs)) (for y (field ys (name x))) (if (name c)))"},
    {"[..e for x in xs]", "(comp (splice (name e)) (for x (name xs)))"},
    {"[]", "(list)"},
    {"{}", "(map)"},
    {"{ cpu: 8, \"a b\": [1], in: 2 }", "(map (set cpu (int 8)) (set a b (list (int 1))) (set in (int 2)))"},
    {"f()", "(call (name f))"},
    {"f(a, stage, run = 1, in = 2, x = 3,)",
     "(call (name f) (name a) (name stage) (arg run (int 1)) (arg in (int 2)) (arg x (int 3)))"},
    {"\"\"", "(string)"},
    {"\"a\\n\\t\\\\\\\"\\{{{}}\"", "(string (text a\n\t\\\"{{}))"},
    {"\"\\u{e9}\\u{1F600}\"", "(string (text é😀))"},
    {"\"{p:toml}x{a + \"{b}\"}\"",
     "(string (interp toml (name p)) (text x) (interp (binary + (name a) (string (interp (name b))))))"},
    {"r\"a\\n{b}\"", "(string (text a\\n{b}))"},
    {"\"\"\"one\"\"\"", "(string (text one))"},
    {"\"\"\"\n    a\n      b\n\n    c\n    \"\"\"", "(string (text a\n  b\n\nc\n))"},
    {"\"\"\"\r\n  a\r\n  b\\n\"\"\"", "(string (text a\nb\n))"},
    {"\"\"\"\n  {a}\n  b \"q\"\n\"\"\"", "(string (text   ) (interp (name a)) (text \n  b \"q\"\n))"},
    {"\"\"\"\n   \n  x\n  \"\"\"", "(string (text \nx\n))"},
};

static const struct {
    const char *text, *tree;
} items[] = {
    {"use std.pgo, std.rust as rs, \"a/b.bgraph\" as b", "(use std.pgo) (use std.rust as rs) (use a/b.bgraph as b quoted)"},
    {"## one\n# not\n##two\n  ##   three\nlet x = 1 ## no\nlet y = 2", "(let x ##one\ntwo\n  three## (int 1)) (let y (int 2))"},
    {"param a : int param b : enum[\"x\", \"y\"] = \"x\"",
     "(param a (type int) ()) (param b (type enum (string (text x)) (string (text y))) (string (text x)))"},
    {"param a : tool\nlet tool = a", "(param a (type tool) ()) (let tool (name a))"},
    {"env CC : str = \"cc\"", "(env CC (type str) (string (text cc)))"},
    {"tool c { program = \"c\" root = [\"a\"] }", "(tool c (set program (string (text c))) (set root (list (string (text a)))))"},
    {"relocate p { from = out text = auto elf = [rpath, interp] }",
     "(relocate p (set from (name out)) (set text (name auto)) (set elf (list (name rpath) (name interp))))"},
    {"default a, b.c let x = 1", "(default (name a) (field c (name b))) (let x (int 1))"},
    {"template t(a: list[str], b: int = 1,) { }",
     "(template t (params (parameter a (type list (type str)) ()) (parameter b (type int) (int 1))) (body))"},
    {"group g \"G\" { when = c stage s { } }", "(group g (string (text G)) (body (set when (name c)) (stage s () () (body))))"},
    {"stage s \"S\" : t(1) + a.u() { }",
     "(stage s (string (text S)) (templates (call (name t) (int 1)) (call (field u (name a)))) (body))"},
    {"stage s : t()\nstage u { }", "(stage s () (templates (call (name t))) ()) (stage u () () (body))"},
    {"crate c { kind = proc-macro }", "(crate c () (body (set kind (name proc-macro))))"},
    {"stage s { in = [a] run = [b] run { argv = [c] stdout = out.d } override run = [e] override in = [] override x = 1 }",
     "(stage s () () (body (set in (list (name a))) (run (list (name b)) ()) (run (list (name c)) (field d (name out))) (run "
     "override (list (name e)) ()) (set in override (list)) (set x override (int 1))))"},
    {"stage s { env { A = 1, out = 2\n in = 3 } }", "(stage s () () (body (env-block (set A (int 1)) (set out (int 2)) (set in (int 3)))))"},
    {"stage s { out a : file out early b : dir = \"x\" when c out early : file when = d }",
     "(stage s () () (body (out a (type file) () ()) (out b early (type dir) (string (text x)) (name c)) (out early (type file) () "
     "()) (set when (name d))))"},
    {"stage s { work raw provide p = work.raw allow(BG0601, \"r\") allow(\"BG0602\", \"q\") let stage = 1 default = 2 }",
     "(stage s () () (body (work raw) (provide p (field raw (name work))) (allow BG0601 (string (text r))) (allow BG0602 (string "
     "(text q))) (let stage (int 1)) (set default (int 2))))"},
    {"", ""},
};

static void check_tree(const char *text, const char *tree)
{
    front f;
    bg_buf out = {0};
    front_parse(&f, bg_str_of(text));
    for (uint32_t i = 0; i < f.file->n_kids; i++)
        put(f.file->kids[i], &out);
    const char *got = bg_buf_cstr(&out);
    got += *got == ' ';
    if (strcmp(got, tree) != 0 || f.diags.n != 0)
        fail_msg("%s\n%s\nexpected\n%s\n%s", text, got, tree, front_text(&f, false));
    assert_int_equal(f.file->ival, 1);
    bg_buf_clear(&out);
    front_clear(&f);
}

static void expressions(void **state)
{
    (void)state;
    char text[1000], tree[1000];
    for (size_t i = 0; i < sizeof exprs / sizeof exprs[0]; i++) {
        snprintf(text, sizeof text, "bgraph 1\nlet v = %s\nlet w = 2", exprs[i].text);
        snprintf(tree, sizeof tree, "(let v %s) (let w (int 2))", exprs[i].tree);
        check_tree(text, tree);
    }
}

static void declarations(void **state)
{
    (void)state;
    char text[1000];
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        snprintf(text, sizeof text, "# first\n\nbgraph 1\n%s", items[i].text);
        check_tree(text, items[i].tree);
    }
}

static const struct {
    const char *text, *codes;
} mistakes[] = {
    {"", "201@0"},
    {"let a = 1", "201@0"},
    {"bgraph\nlet a = 1", "201@0"},
    {"bgraph 2\nlet a = 1", "202@7"},
    {"bgraph 1\r\nlet\ta = 1\r\n", ""},
    {"\xef\xbb\xbf" "bgraph 1 let a = 1", ""},
    {"bgraph 1 let a = \"x", "105@17"},
    {"bgraph 1 let a = \"{x\nlet b = \"y\n", "105@17 105@29"},
    {"bgraph 1 let a = \"\"\"x\n", "105@17"},
    {"bgraph 1 let a = r\"x\nlet b = 1", "105@17"},
    {"bgraph 1 let a = \"\\q \\u{d800} \\u{zz} \\u{110000} \\u41 }\"", "106@18 106@21 106@30 106@37 106@48 111@53"},
    {"bgraph 1 let a = 5parsecs let b = 1.5 let c = 9223372036854775808 let d = 9999999999999h", "107@18 109@34 108@46 108@74"},
    {"bgraph 1 let a = 'x' let b = c && !d let e = 1 @ 2", "110@17 112@31 112@34 104@47 203@49"},
    {"bgraph 1\nlet a = 1;\nlet b = 2,\nlet c = 3", "206@18 206@29"},
    {"bgraph 1\nstage s { cwd \"x\"\ntimeout: 2h\nretry 1 }", "207@23 207@34 207@45"},
    {"bgraph 1\nstage s {\n run = [a, b\n out x : file\n}\nlet y = [1\n", "204@33 204@59"},
    {"bgraph 1\nstage s {\n run = [a\n}\nstage t { run = (b }\n", "204@29 204@50"},
    {"bgraph 1\nstage s {\n run = [a]\n\nstage t {\n run = [b]\n}\n", "204@31"},
    {"bgraph 1\nstage s {\n run = [a]", "204@29"},
    {"bgraph 1\nstage s {} }\nlet x = 1\nlet = 2", "203@20 208@32"},
    {"bgraph 1\nlet in = 5\nlet b = 1", "203@13"},
    {"bgraph 1\nparam x = 5\nstage t : u { run = ] }\nlet z = )", "203@17 203@33 203@41 203@53"},
    {"bgraph 1\nlet x = if a then b\nlet y = (a < b < c)\nlet z = [1 2]\nlet w = {a: 1 b: 2}", "203@29 203@44 203@60 203@77"},
    {"bgraph 1\nrun = [a]\ncwd = b\ngroup g { tool t { } out x : dir }\nstage s { stage u { } }", "208@9 208@19 208@37 208@48 208@72"},
    {"bgraph 1\ntool t { run = [a] x = 1 }", "208@18"},
    {"bgraph 1\nstage s", "209@15"},
    {"bgraph 1\nstage s { run { } run { argv = a argv = b c = d } }", "210@19 210@42 210@51"},
    {"bgraph 1\nuse \"{a}\"\nlet m = {\"{b}\": 1}", "211@13 211@28"},
    {"bgraph 1\nlet a = \xff", "101@17 203@17"},
    {"bgraph 1\nlet a = [1\n", "204@20"},
    {"bgraph 1\nstage s { env { stage x { } A = 1 B 2 } }", "203@31 207@45"},
    {"bgraph 1\nstage s { env { A = ] B = 1 } run = 1 }", "203@29"},
};

static void diagnostics(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        front f;
        front_parse(&f, bg_str_of(mistakes[i].text));
        if (strcmp(front_codes(&f), mistakes[i].codes) != 0) {
            char got[1000];
            snprintf(got, sizeof got, "%s", front_codes(&f));
            fail_msg("case %zu:\n%s\n%s\nexpected\n%s\n%s", i, mistakes[i].text, got, mistakes[i].codes, front_text(&f, false));
        }
        front_clear(&f);
    }
}

/* What is sound around a mistake is in the tree. */
static void only_the_broken_item_is_lost(void **state)
{
    (void)state;
    front f;
    front_parse(&f, BG_STR("bgraph 1\nlet a = 1\nstage s { cwd = ) out x : dir }\nlet b = ]\nstage t : { run = [c] }\nlet d = 2"));
    bg_buf out = {0};
    for (uint32_t i = 0; i < f.file->n_kids; i++)
        put(f.file->kids[i], &out);
    assert_string_equal(bg_buf_cstr(&out), " (let a (int 1)) (stage s () () (body (error) (out x (type dir) () ()))) (error) (error (body "
                                           "(run (list (name c)) ()))) (let d (int 2))");
    assert_int_equal(f.diags.n, 3);
    bg_buf_clear(&out);
    front_clear(&f);
}

static const struct {
    const char *before, *unit, *after;
    uint32_t n;
    const char *code; /* NULL: fine */
} bounds[] = {
    {"let a = ", "[", "", 10000, "BG0205"},
    {"let a = ", "(", "x", 10000, "BG0205"},
    {"let a = ", "{a:", "", 10000, "BG0205"},
    {"let a = ", "\"{", "", 10000, "BG0205"},
    {"let a = ", "not ", "x", 10000, "BG0205"},
    {"let a = ", "-", "x", 10000, "BG0205"},
    {"let a = ", "if a then b else ", "c", 10000, "BG0205"},
    {"let a = x", " + x", "", 10000, "BG0205"},
    {"let a = x", ".x", "", 10000, "BG0205"},
    {"let a = x", "()", "", 10000, "BG0205"},
    {"", "group g { ", "", 10000, "BG0205"},
    {"param a : ", "list[", "", 10000, "BG0205"},
    {"let a = ", "[", "", 150, "BG0204"},
    {"let a = [", "[1], ", "]", 10000, NULL},
    {"", "stage s { run = [\"a\"] }\n", "", 10000, NULL},
    {"let a = x", " + x", "", 300, NULL},
};

static void nesting_is_bounded(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        front f;
        bg_buf text = {0};
        bg_buf_printf(&text, "bgraph 1\n%s", bounds[i].before);
        for (uint32_t j = 0; j < bounds[i].n; j++)
            bg_buf_puts(&text, bounds[i].unit);
        bg_buf_puts(&text, bounds[i].after);
        front_parse(&f, bg_buf_view(&text));
        const char *shown = front_text(&f, false);
        if (f.diags.n != (bounds[i].code != NULL) || (bounds[i].code != NULL && strstr(shown, bounds[i].code) == NULL))
            fail_msg("case %zu: %s…: %s", i, bounds[i].unit, shown);
        assert_true(f.file->depth < 1100);
        bg_buf_clear(&text);
        front_clear(&f);
    }
}

static void source_is_checked(void **state)
{
    (void)state;
    front f;
    front_parse(&f, (bg_str){"bgraph 1\nlet a = 1\n\0let", 23});
    assert_string_equal(front_codes(&f), "103@19");
    assert_int_equal(f.source.text.len, 19);
    assert_int_equal(f.source.n_lines, 3);
    uint32_t line, column;
    bg_source_locate(&f.source, 13, &line, &column);
    assert_int_equal(line, 2);
    assert_int_equal(column, 5);
    bg_source_locate(&f.source, 1000, &line, &column);
    assert_int_equal(line, 3);
    front_clear(&f);

    bg_arena arena = {0};
    bg_diags diags = {0};
    bg_source source = {0};
    char *big = calloc(1, (64u << 20) + 1);
    assert_non_null(big);
    assert_int_equal(bg_source_init(&source, &arena, (bg_str){big, (64u << 20) + 1}, 1, &diags), BG_OK);
    assert_int_equal(diags.n, 1);
    assert_int_equal(diags.at[0]->info->number, BG_D_TOO_LARGE);
    assert_int_equal(source.text.len, 0);
    free(big);
    bg_diags_clear(&diags);
    bg_arena_clear(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions),
        cmocka_unit_test(declarations),
        cmocka_unit_test(diagnostics),
        cmocka_unit_test(only_the_broken_item_is_lost),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(source_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
