/* The machine: what programs give, what they are refused, and that hostile ones end soon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "sample.h"

static void show(const bg_value *v, bg_buf *out)
{
    static const char roots[] = "TFSOPW";
    switch (v->kind) {
    case BG_V_NONE:
        bg_buf_puts(out, "none");
        break;
    case BG_V_STR:
        bg_buf_printf(out, "'%.*s'", BG_FMT(v->str));
        break;
    case BG_V_INT:
        bg_buf_printf(out, "%lld", (long long)v->i);
        break;
    case BG_V_BOOL:
        bg_buf_puts(out, v->i ? "true" : "false");
        break;
    case BG_V_PATH:
        bg_buf_printf(out, "%c%u:%.*s", roots[v->root], v->id, BG_FMT(v->str));
        break;
    case BG_V_LIST:
        bg_buf_putc(out, '[');
        for (uint32_t i = 0; i < v->n; i++) {
            bg_buf_puts(out, i == 0 ? "" : " ");
            show(&v->items[i], out);
        }
        bg_buf_putc(out, ']');
        break;
    }
}

/* Everything around a program: strings and integers that the cases name, one node with two outputs. */
/* clang-format off */
#define AROUND \
    "image 1\nsection \"STRB\"\nsection \"CODE\"\nsection \"STRI\"\n" \
    "stri 1 \"a\"\nstri 2 \"b/c.d\"\nstri 3 \"\"\nstri 4 \"..\"\nstri 5 \"../..\"\nstri 6 \"/x\"\nstri 7 \"n\\x00\"\n" \
    "stri 8 \"q\\\"\\\\\\n\\x01\"\nstri 9 \"a b\\\\ $#:\\\\z\"\nstri 10 \"\\xff\"\nstri 11 \"./a//b/../c/\"\nstri 12 \"usr/bin/cc\"\nstri 13 \"link\"\n" \
    "stri 14 \"top\"\nstri 15 \"/opt/gcc-12\"\nstri 16 \"../../..\"\n" \
    "section \"INTS\"\nints 1 lo=7\nints 2 lo=4294967293 hi=4294967295\nints 3 lo=4294967295 hi=2147483647\nints 4 hi=2147483648\n" \
    "ints 5\nints 6 lo=4294967295 hi=4294967295\nints 7 hi=1\n" \
    "section \"FILE\"\nfile 1 path=\"a\"\nsection \"PROG\"\nprog 1 max_stack=%u\n%s\nret\n" \
    "section \"PARM\"\nparm 1 name=\"a\"\nsection \"ENVV\"\nenvv 1 name=\"a\"\nsection \"TOOL\"\ntool 1 name=\"a\" program=\"/opt/gcc-12\"\n" \
    "section \"SRCE\"\nsrce 1 name=\"a\" dir=\"a\"\n" \
    "section \"NODE\"\nnode 1 name=\"a\" label=\"a\" prods=1+1 outs=1+2 works=1+1 cpus=1\nsection \"PROD\"\nprod 1 node=#1 name=\"link\"\n" \
    "section \"OUTP\"\noutp 1 prod=#1 name=\"a\" path=\"usr/bin/cc\"\noutp 2 prod=#1 name=\"top\" path=\"top\"\n" \
    "section \"WORK\"\nwork 1 node=#1 name=\"a\"\n"
/* clang-format on */

static const struct {
    uint32_t max_stack;
    const char *code;
    const char *result; /* or what the error says */
    bg_status status;
} cases[] = {
    {1, "str \"a\"", "'a'", BG_OK},
    {1, "int #2", "-3", BG_OK},
    {1, "bool 1\nnot", "false", BG_OK},
    {2, "list\nstr \"a\"\nappend\nint #1\nappend", "['a' 7]", BG_OK},
    {3, "list\nlist\nstr \"a\"\nappend\nappend", "[['a']]", BG_OK},
    {3, "list\nstr \"a\"\nappend\nlist\nbool 0\nappend\nsplice", "['a' false]", BG_OK},
    {2, "list\nlist\nsplice", "[]", BG_OK},
    {1, "param #1", "'fast'", BG_OK},
    {1, "env #1", "'/home/x'", BG_OK},
    {1, "machine 2", "8", BG_OK},
    /* roots, and paths below them */
    {1, "tool #1", "T1:", BG_OK},
    {2, "file #1\nstr \"./a//b/../c/\"\njoin", "F1:a/c", BG_OK},
    {2, "source #1\nstr \"b/c.d\"\njoin\nstr \"..\"\njoin", "S1:b", BG_OK},
    {2, "source #1\nstr \"b/c.d\"\njoin\nstr \"../..\"\njoin", "S1:", BG_OK},
    {2, "source #1\nstr \"b/c.d\"\njoin\nstr \"../../..\"\njoin", "climbs out of its root", BG_E_USAGE},
    {2, "work #1\nstr \"..\"\njoin", "climbs out of its root", BG_E_USAGE},
    {2, "work #1\nstr \"/x\"\njoin", "is absolute", BG_E_USAGE},
    {2, "work #1\nstr \"n\\x00\"\njoin", "holds a NUL", BG_E_USAGE},
    {2, "tool #1\nstr \"a\"\njoin", "below a tool", BG_E_USAGE},
    {2, "tool #1\nstr \"\"\njoin", "T1:", BG_OK},
    {2, "work #1\nwork #1\njoin", "join got a path", BG_E_CORRUPT},
    {2, "str \"a\"\nstr \"a\"\njoin", "join got a string", BG_E_CORRUPT},
    {2, "prod #1\nstr \"b/c.d\"\njoin\ndir", "P1:b", BG_OK},
    {2, "prod #1\nstr \"b/c.d\"\njoin\ndir\ndir", "P1:", BG_OK},
    {2, "prod #1\nstr \"b/c.d\"\njoin\ndir\ndir\ndir", "no directory above", BG_E_USAGE},
    {1, "out #1\ndir", "P1:usr/bin", BG_OK},
    {1, "out #2\ndir", "P1:", BG_OK},
    {2, "out #1\nstr \"a\"\njoin\ndir", "O1:", BG_OK},
    {1, "file #1\ndir", "no directory above", BG_E_USAGE},
    {1, "str \"a\"\ndir", "dir got a string", BG_E_CORRUPT},
    {2, "file #1\nstr \"b/c.d\"\njoin\nbase", "'c.d'", BG_OK},
    {1, "out #1\nbase", "'cc'", BG_OK},
    {1, "tool #1\nbase", "'gcc-12'", BG_OK},
    {1, "work #1\nbase", "'a'", BG_OK},
    {1, "source #1\nbase", "no name of its own", BG_E_USAGE},
    /* text */
    {4, "str \"a\"\nwork #1\nint #4\nbool 1\nconcat 4", "'a/5.1-9223372036854775808true'", BG_OK},
    {1, "concat 0", "''", BG_OK},
    {1, "list\nconcat 1", "concat got a list", BG_E_CORRUPT},
    {1, "str #8\nrender 0", "'q\\\"\\\\\\u000a\\u0001'", BG_OK},
    {1, "str #8\nrender 1", "'q\\\"\\\\\\u000a\\u0001'", BG_OK},
    {1, "str #9\nrender 2", "'a\\ b\\\\\\ $$\\#\\:\\z'", BG_OK},
    {1, "str #8\nrender 2", "has no form in a makefile", BG_E_USAGE},
    {1, "str #10\nrender 0", "is not UTF-8", BG_E_USAGE},
    {1, "str #10\nrender 2", "'\xff'", BG_OK},
    {1, "work #1\nrender 1", "'/5.1'", BG_OK},
    {1, "int #1\nrender 1", "render got an integer", BG_E_CORRUPT},
    /* comparing */
    {2, "str \"a\"\nstr \"a\"\neq", "true", BG_OK},
    {2, "str \"a\"\nstr \"\"\neq", "false", BG_OK},
    {2, "str \"a\"\nwork #1\neq", "eq got a path", BG_E_CORRUPT},
    {2, "work #1\nwork #1\neq", "true", BG_OK},
    {2, "out #1\nout #2\neq", "false", BG_OK},
    {2, "out #1\nprod #1\neq", "false", BG_OK},
    {2, "work #1\nstr \"a\"\njoin\nwork #1\neq", "false", BG_OK},
    {3, "list\nint #1\nappend\nlist\nint #1\nappend\neq", "true", BG_OK},
    {3, "list\nint #1\nappend\nlist\nint #2\nappend\neq", "false", BG_OK},
    {2, "list\nint #1\nappend\nlist\neq", "false", BG_OK},
    {2, "int #2\nint #1\nlt", "true", BG_OK},
    {2, "int #1\nint #1\nlt", "false", BG_OK},
    {2, "str \"a\"\nint #1\nlt", "lt got a string", BG_E_CORRUPT},
    /* arithmetic: #1 7, #2 -3, #3 largest, #4 smallest, #5 0, #6 -1, #7 2^32 */
    {2, "int #1\nint #2\nadd", "4", BG_OK},
    {2, "int #1\nint #2\nsub", "10", BG_OK},
    {2, "int #1\nint #2\nmul", "-21", BG_OK},
    {2, "int #1\nint #2\ndiv", "-2", BG_OK},
    {2, "int #3\nint #4\nadd", "-1", BG_OK},
    {2, "int #3\nint #1\nadd", "does not fit", BG_E_USAGE},
    {2, "int #4\nint #2\nadd", "does not fit", BG_E_USAGE},
    {2, "int #4\nint #1\nsub", "does not fit", BG_E_USAGE},
    {2, "int #3\nint #2\nsub", "does not fit", BG_E_USAGE},
    {2, "int #5\nint #4\nsub", "does not fit", BG_E_USAGE},
    {2, "int #6\nint #4\nsub", "9223372036854775807", BG_OK},
    {2, "int #4\nint #6\nmul", "does not fit", BG_E_USAGE},
    {2, "int #6\nint #4\nmul", "does not fit", BG_E_USAGE},
    {2, "int #3\nint #6\nmul", "-9223372036854775807", BG_OK},
    {2, "int #7\nint #7\nmul", "does not fit", BG_E_USAGE},
    {2, "int #5\nint #4\nmul", "0", BG_OK},
    {2, "int #4\nint #6\ndiv", "does not fit", BG_E_USAGE},
    {2, "int #1\nint #5\ndiv", "division by zero", BG_E_USAGE},
    {2, "int #1\nbool 1\nadd", "add got a bool", BG_E_CORRUPT},
    /* jumps */
    {1, "bool 1\nunless L1\nstr \"a\"\njump L2\nL1:\nstr \"\"\nL2:", "'a'", BG_OK},
    {1, "bool 0\nunless L1\nstr \"a\"\njump L2\nL1:\nstr \"\"\nL2:", "''", BG_OK},
    {1, "int #1\nunless L1\nL1:\nbool 0", "unless got an integer", BG_E_CORRUPT},
    {1, "str \"a\"\nnot", "not got a string", BG_E_CORRUPT},
    {2, "str \"a\"\nstr \"a\"\nappend", "append got a string", BG_E_CORRUPT},
    {2, "list\nstr \"a\"\nsplice", "splice got a string", BG_E_CORRUPT},
};

static void load(bg_graph *g, bg_buf *image, const char *text)
{
    bg_error err = {0};
    if (bg_image_asm(bg_str_of(text), image, &err) != BG_OK || bg_graph_load(g, image->data, image->len, &err) != BG_OK)
        fail_msg("%s in\n%s", err.text, text);
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static char text[8192];
        bg_buf image = {0}, got = {0};
        bg_arena arena = {0};
        bg_graph g;
        bg_value v = {0};
        bg_error err = {0};
        snprintf(text, sizeof text, AROUND, cases[i].max_stack, cases[i].code);
        load(&g, &image, text);
        bg_status status = bg_vm_run(&g, 1, &sample_host, &arena, &v, &err);
        show(&v, &got);
        bool ok = status == cases[i].status &&
                  (status == BG_OK ? strcmp(bg_buf_cstr(&got), cases[i].result) == 0 : strstr(err.text, cases[i].result) != NULL);
        if (!ok)
            fail_msg("case %zu: %s\ngave %s %s %s", i, cases[i].code, bg_status_name(status), bg_buf_cstr(&got), err.text);
        if (status != BG_OK)
            assert_true(err.offset > 64 && err.offset < image.len);
        bg_arena_clear(&arena);
        bg_buf_clear(&image);
        bg_buf_clear(&got);
    }
}

static void test_sample_programs(void **state)
{
    (void)state;
    bg_buf image = {0}, got = {0};
    bg_arena arena = {0};
    bg_error err = {0};
    bg_graph g;
    bg_value v = {0};
    assert_int_equal(sample_image(&image, &err), BG_OK);
    assert_int_equal(bg_graph_load(&g, image.data, image.len, &err), BG_OK);
    assert_int_equal(bg_vm_run(&g, g.nodes[1].inputs, &sample_host, &arena, &v, &err), BG_OK);
    show(&v, &got);
    assert_string_equal(bg_buf_cstr(&got), "['-O2' O1:]");
    bg_arena_clear(&arena);
    bg_buf_clear(&image);
    bg_buf_clear(&got);
}

static bg_status refuse(void *self, uint32_t env, bg_value *out, bg_error *err)
{
    (void)self, (void)out;
    return bg_error_set(err, BG_E_NOENT, "variable %u is not set", env);
}

static bg_status give_nothing(void *self, uint32_t param, bg_value *out, bg_error *err)
{
    (void)self, (void)param, (void)out, (void)err;
    return BG_OK;
}

static void test_host_errors(void **state)
{
    (void)state;
    static const struct {
        const char *code, *error;
        bg_status status;
    } rows[] = {{"env #1", "variable 1 is not set", BG_E_NOENT}, {"param #1", "param got nothing", BG_E_CORRUPT}};
    for (size_t i = 0; i < 2; i++) {
        static char text[8192];
        bg_vm_host host = sample_host;
        bg_buf image = {0};
        bg_arena arena = {0};
        bg_graph g;
        bg_value v;
        bg_error err = {0};
        host.env = refuse;
        host.param = give_nothing;
        snprintf(text, sizeof text, AROUND, 1u, rows[i].code);
        load(&g, &image, text);
        assert_int_equal(bg_vm_run(&g, 1, &host, &arena, &v, &err), rows[i].status);
        assert_non_null(strstr(err.text, rows[i].error));
        bg_arena_clear(&arena);
        bg_buf_clear(&image);
    }
}

/* A program of `n` times `each` after `first`, run: its status. */
static bg_status run_long(const char *first, const char *each, size_t n, const char *last, uint32_t max_stack,
                          const bg_vm_host *host, bg_value *v, bg_arena *arena, bg_buf *image)
{
    bg_buf code = {0}, text = {0};
    bg_graph g;
    bg_error err = {0};
    bg_buf_puts(&code, first);
    for (size_t i = 0; i < n; i++)
        bg_buf_puts(&code, each);
    bg_buf_puts(&code, last);
    bg_buf_printf(&text, AROUND, max_stack, bg_buf_cstr(&code));
    load(&g, image, bg_buf_cstr(&text));
    bg_status status = bg_vm_run(&g, 1, host, arena, v, &err);
    bg_buf_clear(&code);
    bg_buf_clear(&text);
    return status;
}

static bg_str megabyte;

static bg_status long_env(void *self, uint32_t env, bg_value *out, bg_error *err)
{
    (void)self, (void)env, (void)err;
    *out = (bg_value){.kind = BG_V_STR, .str = megabyte};
    return BG_OK;
}

static bg_value thousand[1000];

static bg_status long_list(void *self, uint32_t param, bg_value *out, bg_error *err)
{
    (void)self, (void)param, (void)err;
    for (size_t i = 0; i < 1000; i++)
        thousand[i] = (bg_value){.kind = BG_V_INT, .i = (int64_t)i};
    *out = (bg_value){.kind = BG_V_LIST, .items = thousand, .n = 1000};
    return BG_OK;
}

static void test_long(void **state)
{
    (void)state;
    bg_vm_host host = sample_host;
    char *bytes = calloc(1, 1 << 20);
    assert_non_null(bytes);
    memset(bytes, 'x', 1 << 20);
    megabyte = (bg_str){bytes, 1 << 20};
    host.env = long_env;
    host.param = long_list;
    static const struct {
        const char *first, *each, *last;
        size_t n;
        uint32_t max_stack;
        bg_status status;
        uint32_t items;
    } rows[] = {
        {"list\n", "bool 1\nappend\n", "", 100000, 2, BG_OK, 100000},
        {"list\n", "param #1\nsplice\n", "", 100, 2, BG_OK, 100000},
        {"list\n", "param #1\nsplice\n", "", 50000, 2, BG_E_LIMIT, 0},
        {"", "env #1\n", "concat 4000\n", 4000, 4000, BG_E_LIMIT, 0},
        {"env #1\n", "env #1\nconcat 2\n", "", 100, 2, BG_E_LIMIT, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bg_arena arena = {0};
        bg_buf image = {0};
        bg_value v = {0};
        bg_status status = run_long(rows[i].first, rows[i].each, rows[i].n, rows[i].last, rows[i].max_stack, &host, &v, &arena, &image);
        if (status != rows[i].status || (status == BG_OK && v.n != rows[i].items))
            fail_msg("case %zu: %s, %u items", i, bg_status_name(status), v.n);
        assert_true(arena.used_bytes < 600u << 20);
        bg_arena_clear(&arena);
        bg_buf_clear(&image);
    }
    assert_int_equal(thousand[999].i, 999); /* the host's list is not written to */
    free(bytes);
}

/* 70 lists within each other: more than eq follows. */
static void test_nested(void **state)
{
    (void)state;
    bg_buf code = {0};
    bg_arena arena = {0};
    bg_buf image = {0};
    bg_value v = {0};
    for (int twice = 0; twice < 2; twice++) {
        for (int i = 0; i < 70; i++)
            bg_buf_puts(&code, "list\n");
        for (int i = 0; i < 69; i++)
            bg_buf_puts(&code, "append\n");
    }
    bg_buf_puts(&code, "eq\n");
    assert_int_equal(run_long(bg_buf_cstr(&code), "", 0, "", 71, &sample_host, &v, &arena, &image), BG_E_LIMIT);
    bg_buf_clear(&code);
    bg_buf_clear(&image);
    bg_arena_clear(&arena);
}

static const struct {
    const char *base, *rel, *result; /* NULL: refused */
} joins[] = {
    {"", "", ""},          {"", "a", "a"},        {"a", "", "a"},        {"a", "b", "a/b"},  {"a/b", "./c//d/", "a/b/c/d"},
    {"a", "b/..", "a"},    {"a", "..", NULL},     {"a", "b/../..", NULL}, {"", "..", NULL},   {"", "a/..", ""},
    {"/", "a", "/a"},      {"/x", "a/../b", "/x/b"}, {"/", "a/..", "/"},  {"/", "..", NULL},  {"a", "/b", NULL},
    {"", "a/b/../../c", "c"}, {"a", "...", "a/..."}, {"a", "..b", "a/..b"}, {"/x", "..", NULL},
};

static void test_join(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof joins / sizeof joins[0]; i++) {
        bg_arena arena = {0};
        bg_str out = {0};
        bg_error err = {0};
        bg_status status = bg_path_join(&arena, bg_str_of(joins[i].base), bg_str_of(joins[i].rel), &out, &err);
        if (status != (joins[i].result == NULL ? BG_E_USAGE : BG_OK) || (status == BG_OK && !bg_str_is(out, joins[i].result)))
            fail_msg("case %zu: %s + %s gave %s '%.*s'", i, joins[i].base, joins[i].rel, bg_status_name(status), BG_FMT(out));
        bg_arena_clear(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases),  cmocka_unit_test(test_sample_programs),
                                       cmocka_unit_test(test_host_errors), cmocka_unit_test(test_long),
                                       cmocka_unit_test(test_nested), cmocka_unit_test(test_join)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
