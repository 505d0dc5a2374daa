/* Diagnostics: the table, the sink, suggestions, and both renderings, byte by byte. */
#include "front.h"

#include "diag/window.h"

static void rows_explain_themselves(void **state)
{
    (void)state;
    const bg_diag_info *info;
    for (uint32_t i = 0; (info = bg_diag_at(i)) != NULL; i++) {
        assert_ptr_equal(bg_diag_find(info->number), info); /* numbers are unique */
        assert_true(info->text[0] != 0 && info->explanation[0] != 0);
        if (info->number >= 300 || info->example[0] == 0)
            continue;
        front f;
        front_parse(&f, bg_str_of(info->example));
        bool given = false;
        for (uint32_t j = 0; j < f.diags.n; j++)
            given |= f.diags.at[j]->info == info;
        if (!given)
            fail_msg("the example of BG%04u gives %s", info->number, front_codes(&f));
        front_clear(&f);
    }
    assert_null(bg_diag_find(99));
}

static const struct {
    const char *name, *nearest;
} names[] = {
    {"stge", "stage"},  {"STAGE", "stage"},   {"satge", "stage"},       {"timeot", "timeout"}, {"x", ""},
    {"zzzzz", ""},      {"", ""},             {"depsx", "deps"},        {"rn", "run"},         {"ab", ""},
    {"llvm_pgo", "llvm-pgo"},
};

static void nearest(void **state)
{
    (void)state;
    const bg_str known[] = {BG_STR("stage"), BG_STR("timeout"), BG_STR("deps"), BG_STR("run"), BG_STR("llvm-pgo"), BG_STR("y")};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        bg_str got = bg_diag_nearest(bg_str_of(names[i].name), known, 6);
        if (!bg_str_is(got, names[i].nearest))
            fail_msg("%s: got `%.*s`, expected `%s`", names[i].name, BG_FMT(got), names[i].nearest);
    }
}

static const struct {
    const char *text, *shown;
} texts[] = {
    {"bgraph 1\nlet a = [1 2]\n",
     "error[BG0203]: expected `]` or `,`, found `2`\n"
     " --> dir/x.bgraph:2:12\n"
     "  |\n"
     "2 | let a = [1 2]\n"
     "  |            ^\n"
     "  = help: items of a list are separated by `,`\n\n"},
    {"bgraph 1\n\tlet a =\t\"日本\" 12345\n",
     "error[BG0203]: expected an item, found `12345`\n"
     " --> dir/x.bgraph:2:15\n"
     "  |\n"
     "2 |     let a = \"日本\" 12345\n"
     "  |                    ^^^^^\n\n"},
    {"bgraph 1\n\n\nlet a = [\n  1\n\n\n\n\nlet b = 2\n",
     "error[BG0204]: `[` is not closed before `let`\n"
     "  --> dir/x.bgraph:10:1\n"
     "   |\n"
     " 4 | let a = [\n"
     "   |         - opened here\n"
     "...\n"
     "10 | let b = 2\n"
     "   | ^^^\n"
     "   = help: add `]`\n\n"},
    {"bgraph 1\nlet a = 1 \xe2\x80\xae x",
     "error[BG0104]: `\xe2\x80\xae` is not part of the language here\n"
     " --> dir/x.bgraph:2:11\n"
     "  |\n"
     "2 | let a = 1 \xef\xbf\xbd x\n"
     "  |           ^\n\n"
     "error[BG0203]: expected `=`, found the end of the file\n"
     " --> dir/x.bgraph:2:14\n"
     "  |\n"
     "2 | let a = 1 \xef\xbf\xbd x\n"
     "  |              ^\n\n"},
    {"",
     "error[BG0201]: the file does not start with `bgraph 1`\n"
     " --> dir/x.bgraph:1:1\n"
     "  |\n"
     "1 | \n"
     "  | ^\n"
     "  = help: write `bgraph 1` on the first line\n\n"},
};

static void text(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        front f;
        front_parse(&f, bg_str_of(texts[i].text));
        assert_string_equal(front_text(&f, false), texts[i].shown);
        assert_non_null(strstr(front_text(&f, true), "\033[1;31merror[BG0"));
        front_clear(&f);
    }
}

static const struct {
    const char *line;
    uint32_t offset, len;
    const char *shown;
    uint32_t caret, caret_len;
} windows[] = {
    {"abc", 1, 1, "abc", 1, 1},
    {"abc", 1, 0, "abc", 1, 1},
    {"abc", 3, 0, "abc", 3, 1},
    {"abc", 9, 9, "abc", 3, 1},
    {"abc\r", 3, 1, "abc", 3, 1},
    {"", 0, 0, "", 0, 1},
    {"\ta\tb", 3, 1, "    a   b", 8, 1},
    {"日本語", 3, 3, "日本語", 2, 2},
    {"e\xcc\x81x", 3, 1, "e\xcc\x81x", 1, 1},
    {"a\x1b[31mb", 6, 1, "a\xef\xbf\xbd[31mb", 6, 1},
    {"abc", 1, 100, "abc", 1, 2},
};

static void window(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        bg_buf out = {0};
        bg_window w = bg_window_put(bg_str_of(windows[i].line), windows[i].offset, windows[i].len, &out);
        if (strcmp(bg_buf_cstr(&out), windows[i].shown) != 0 || w.caret != windows[i].caret || w.caret_len != windows[i].caret_len)
            fail_msg("case %zu: `%s` caret %u+%u", i, bg_buf_cstr(&out), w.caret, w.caret_len);
        bg_buf_clear(&out);
    }
}

/* A long line is cut on both sides and the caret stays under its place. */
static void long_line(void **state)
{
    (void)state;
    enum { LINE = 10 * 1000 * 1000, AT = 5 * 1000 * 1000 };
    char *line = malloc(LINE);
    assert_non_null(line);
    memset(line, 'x', LINE);
    memcpy(line + AT, "HERE", 4);
    bg_buf out = {0};
    bg_window w = bg_window_put((bg_str){line, LINE}, AT, 4, &out);
    assert_true(out.len < 200);
    assert_int_equal(w.caret_len, 4);
    assert_memory_equal(out.data, "…x", 4);
    assert_memory_equal(out.data + w.caret + 2, "HERE", 4); /* "…" is three bytes and one cell */
    assert_string_equal(out.data + out.len - 4, "x…");
    bg_buf_clear(&out);
    free(line);
}

static void json(void **state)
{
    (void)state;
    front f;
    bg_buf out = {0};
    const bg_source *sources[1];
    front_parse(&f, BG_STR("bgraph 1\nlet a = [\"é\"\nlet b = 2"));
    sources[0] = &f.source;
    bg_diags_render_json(&f.diags, sources, 1, &out);
    assert_string_equal(
        bg_buf_cstr(&out),
        "[\n{\"code\":\"BG0204\",\"severity\":\"error\",\"message\":\"`[` is not closed before `let`\",\"file\":\"dir/x.bgraph\","
        "\"line\":3,\"column\":1,\"offset\":23,\"length\":3,\"labels\":[{\"text\":\"opened here\",\"file\":\"dir/x.bgraph\",\"line\":2,"
        "\"column\":9,\"offset\":17,\"length\":1}],\"help\":\"add `]`\"}\n]\n");
    bg_buf_reset(&out);
    bg_diags_clear(&f.diags);
    bg_diags_render_json(&f.diags, sources, 1, &out);
    assert_string_equal(bg_buf_cstr(&out), "[]\n");
    bg_buf_clear(&out);
    front_clear(&f);
}

static void at_most_a_hundred(void **state)
{
    (void)state;
    front f;
    bg_buf src = {0};
    bg_buf_puts(&src, "bgraph 1\n");
    for (int i = 0; i < 250; i++)
        bg_buf_puts(&src, "let a = )\n");
    front_parse(&f, bg_buf_view(&src));
    assert_int_equal(f.diags.n, 100);
    assert_int_equal(f.diags.n_errors, 250);
    assert_true(f.diags.too_many);
    assert_non_null(strstr(front_text(&f, false), "\nand 150 more errors\n"));
    bg_buf_clear(&src);
    front_clear(&f);
}

static void sorted_stably(void **state)
{
    (void)state;
    static const struct {
        uint32_t file, offset;
        bg_diag_code code;
    } pushed[] = {{2, 1, BG_D_SYNTAX}, {1, 9, BG_D_UNCLOSED}, {1, 9, BG_D_SYNTAX}, {1, 2, BG_D_SYNTAX}, {1, 9, BG_D_SYNTAX}};
    static const size_t order[] = {3, 2, 4, 1, 0};
    bg_diags diags = {0};
    bg_diag *at[5];
    for (size_t i = 0; i < 5; i++)
        at[i] = bg_diag_push(&diags, pushed[i].code, (bg_span){pushed[i].file, pushed[i].offset, 1}, 2, BG_STR("a"), BG_STR("{0}"));
    bg_diags_sort(&diags);
    for (size_t i = 0; i < 5; i++)
        assert_ptr_equal(diags.at[i], at[order[i]]);
    assert_true(bg_str_is(at[0]->message, "expected a, found {0}"));
    bg_diags_clear(&diags);
    bg_diags_clear(&diags);
}

/* A place in a file that is not there, and a label in another file. */
static void places(void **state)
{
    (void)state;
    front f;
    front_parse(&f, BG_STR("bgraph 1\nlet a = 1\n"));
    bg_diag *diag = bg_diag_push(&f.diags, BG_D_SYNTAX, (bg_span){0}, 2, BG_STR("a"), BG_STR("b"));
    bg_diag_label_add(&f.diags, diag, (bg_span){1, 9, 3}, "see %s", "here");
    for (int i = 0; i < 9; i++)
        bg_diag_label_add(&f.diags, diag, (bg_span){7, 9, 3}, "nowhere");
    assert_int_equal(diag->n_labels, 4);
    assert_string_equal(front_text(&f, false), "error[BG0203]: expected a, found b\n ::: dir/x.bgraph:2:1\n  |\n2 | let a = 1\n"
                                               "  | --- see here\n\n");
    front_clear(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_explain_themselves), cmocka_unit_test(nearest), cmocka_unit_test(text),
        cmocka_unit_test(window),                  cmocka_unit_test(long_line), cmocka_unit_test(json),
        cmocka_unit_test(at_most_a_hundred),       cmocka_unit_test(sorted_stably), cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
