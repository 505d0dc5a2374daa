/* -D values by type, defaults, environment variables, tokens for this machine's directories. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "exec/exec.h"

typedef struct {
    bg_param_type type;
    const char *given; /* NULL: wrong values below */
    bg_value_kind kind;
    int64_t i;
    const char *str;
} value_case;

static const value_case values[] = {
    {BG_PARAM_INT, "42", BG_V_INT, 42, NULL},
    {BG_PARAM_INT, "-7", BG_V_INT, -7, NULL},
    {BG_PARAM_INT, "1_000", BG_V_INT, 1000, NULL},
    {BG_PARAM_INT, "9223372036854775808", BG_V_NONE, 0, NULL},
    {BG_PARAM_INT, "", BG_V_NONE, 0, NULL},
    {BG_PARAM_INT, "4x", BG_V_NONE, 0, NULL},
    {BG_PARAM_BOOL, "true", BG_V_BOOL, 1, NULL},
    {BG_PARAM_BOOL, "false", BG_V_BOOL, 0, NULL},
    {BG_PARAM_BOOL, "yes", BG_V_NONE, 0, NULL},
    {BG_PARAM_DURATION, "2h", BG_V_INT, 7200000000000, NULL},
    {BG_PARAM_DURATION, "100ms", BG_V_INT, 100000000, NULL},
    {BG_PARAM_DURATION, "5", BG_V_NONE, 0, NULL},
    {BG_PARAM_DURATION, "9999999999999h", BG_V_NONE, 0, NULL},
    {BG_PARAM_SIZE, "4KiB", BG_V_INT, 4096, NULL},
    {BG_PARAM_SIZE, "2GiB", BG_V_INT, 2147483648, NULL},
    {BG_PARAM_SIZE, "2GB", BG_V_NONE, 0, NULL},
    {BG_PARAM_ENUM, "thin", BG_V_STR, 0, "thin"},
    {BG_PARAM_ENUM, "full", BG_V_NONE, 0, NULL},
    {BG_PARAM_STR, "any = thing", BG_V_STR, 0, "any = thing"},
    {BG_PARAM_STR_LIST, "a,b,,c", BG_V_LIST, 4, NULL},
    {BG_PARAM_STR_LIST, "", BG_V_LIST, 0, NULL},
};

static void build(bg_param_type type, bg_buf *image, bg_graph *graph)
{
    bg_image_writer *w = bg_image_writer_new();
    bg_error err = {0};
    const bg_str choices[] = {BG_STR("off"), BG_STR("thin")};
    bg_img_files file = {.path = bg_image_str(w, BG_STR("t.bgraph"))};
    bg_image_add(w, BG_SEC_FILE, &file);
    bg_img_params p = {.name = bg_image_str(w, BG_STR("lto")), .type = (uint32_t)type};
    if (type == BG_PARAM_ENUM) {
        p.choices = bg_image_words(w, choices, 2);
        p.n_choices = 2;
    }
    bg_image_add(w, BG_SEC_PARM, &p);
    bg_img_params baked = {.name = bg_image_str(w, BG_STR("shape")),
                           .type = BG_PARAM_INT,
                           .is_baked = 1,
                           .baked = bg_image_str(w, BG_STR("3"))};
    bg_image_add(w, BG_SEC_PARM, &baked);
    assert_int_equal(bg_image_finish(w, image, &err), BG_OK);
    bg_image_writer_free(w);
    bg_status status = bg_graph_load(graph, image->data, image->len, &err);
    if (status != BG_OK)
        print_error("%s\n", err.text);
    assert_int_equal(status, BG_OK);
}

typedef struct {
    bg_exec x;
    bg_run_options options;
    bg_define define;
    bg_buf image;
    bg_graph graph;
    bg_value slots[BG_MODE_COUNT][4];
} fixture;

static void set_up(fixture *f, bg_param_type type, const char *name, const char *value)
{
    *f = (fixture){0};
    build(type, &f->image, &f->graph);
    f->define = (bg_define){bg_str_of(name), bg_str_of(value)};
    f->options = (bg_run_options){.file = BG_STR("t.bgraph"), .defines = &f->define, .n_defines = 1};
    f->x.graph = &f->graph;
    f->x.options = &f->options;
    for (int m = 0; m < BG_MODE_COUNT; m++)
        f->x.param_values[m] = f->slots[m];
}

static void tear_down(fixture *f)
{
    bg_arena_clear(&f->x.arena);
    bg_buf_clear(&f->image);
}

static bool value_is(const bg_value *v, const value_case *c)
{
    if (v->kind != c->kind)
        return false;
    if (v->kind == BG_V_STR)
        return bg_str_is(v->str, c->str);
    return v->kind == BG_V_LIST ? v->n == (uint32_t)c->i : v->i == c->i;
}

static void test_types(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const value_case *c = &values[i];
        fixture f;
        bg_error err = {0};
        bg_value v = {0};
        set_up(&f, c->type, "lto", c->given);
        bg_status status = bg_exec_check_defines(&f.x, &err);
        if (status == BG_OK)
            status = bg_exec_param(&f.x, BG_MODE_RUN, 1, &v, &err);
        bool ok = c->kind == BG_V_NONE ? status == BG_E_USAGE && strstr(err.text, "expected") != NULL
                                       : status == BG_OK && value_is(&v, c);
        if (!ok)
            print_error("row %zu (%s): %s %s\n", i, c->given, bg_status_name(status), err.text);
        tear_down(&f);
        assert_true(ok);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *text;
    } cases[] = {{"lot", "1", "did you mean `lto`?"},
                 {"zzzzzzz", "1", "there are: lto, shape"},
                 {"shape", "4", "decided the shape of this graph when it was compiled with `3`"},
                 {"shape", "3", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        bg_error err = {0};
        set_up(&f, BG_PARAM_INT, cases[i].name, cases[i].value);
        bg_status status = bg_exec_check_defines(&f.x, &err);
        bool ok = cases[i].text == NULL ? status == BG_OK : status == BG_E_USAGE && strstr(err.text, cases[i].text) != NULL;
        if (!ok)
            print_error("row %zu: %s\n", i, err.text);
        tear_down(&f);
        assert_true(ok);
    }
}

static void test_no_default(void **state)
{
    (void)state;
    fixture f;
    bg_error err = {0};
    bg_value v;
    set_up(&f, BG_PARAM_SIZE, "shape", "3");
    assert_int_equal(bg_exec_param(&f.x, BG_MODE_RUN, 1, &v, &err), BG_E_USAGE);
    assert_non_null(strstr(err.text, "give it with -D lto=VALUE (a size such as"));
    tear_down(&f);
}

static void test_tokens(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {{"plain", "plain"},
                 {"/w/src/x", "\1src\2/x"},
                 {"-I/w/src:/w/src/.b/out/a", "-I\1src\2:\1out\2/a"},
                 {"/w/src2", "/w/src2"},
                 {"/w/src", "\1src\2"},
                 {"/w", "/w"}};
    bg_prefix prefixes[] = {{BG_STR("out"), BG_STR("/w/src/.b/out")}, {BG_STR("src"), BG_STR("/w/src")}};
    bg_exec x = {.longest = prefixes, .n_prefixes = 2};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bg_str out;
        bg_error err;
        assert_int_equal(bg_exec_tokenise(&x, bg_str_of(cases[i].in), &out, &err), BG_OK);
        assert_string_equal(out.ptr, cases[i].out);
    }
    bg_arena_clear(&x.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types), cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_no_default), cmocka_unit_test(test_tokens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
