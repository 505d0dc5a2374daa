/* The option parser: what each command line gives, and what it says to a wrong one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "options.h"

static const bg_option options[] = {
    {BG_OPTION_FLAG, 'k', "keep-going", NULL, NULL, ""},
    {BG_OPTION_FLAG, 'n', "dry-run", NULL, NULL, ""},
    {BG_OPTION_NUMBER, 'j', "jobs", "N", NULL, ""},
    {BG_OPTION_DEFINE, 'D', "define", "NAME=VALUE", NULL, ""},
    {BG_OPTION_TEXT, 'o', "output", "FILE", NULL, ""},
    {BG_OPTION_CHOICE, 0, "color", "WHEN", "auto|always|never", ""},
    {BG_OPTION_END, 0, NULL, NULL, NULL, NULL},
};

/* `line` is split at blanks; `want` is what it parses to ("k j=4 [a b]"), or, with '!', a part of the message. */
static const struct {
    const char *line, *want;
} cases[] = {
    {"", "[]"},
    {"a b", "[a b]"},
    {"-k", "keep-going []"},
    {"-kn x", "keep-going dry-run [x]"},
    {"-kkkkkkkkkkkkkkkkkkkk", "keep-going []"},
    {"-j4", "jobs=4 []"},
    {"-j 4", "jobs=4 []"},
    {"--jobs=4 --jobs 5", "jobs=4 jobs=5 []"},
    {"-knj4 f", "keep-going dry-run jobs=4 [f]"},
    {"-Da=b -D c=d=e --define x=", "define=a=b define=c=d=e define=x= []"},
    {"f -o g h", "output=g [f h]"},
    {"-o -", "output=- []"},
    {"- x", "[- x]"},
    {"-- -k --jobs", "[-k --jobs]"},
    {"--color=never", "color=never []"},
    {"--help", "help []"},
    {"-h x", "help [x]"},
    {"-kh", "keep-going help []"},
    {"--jbos 4", "!did you mean `--jobs`"},
    {"--keepgoing", "!did you mean `--keep-going`"},
    {"--something-else", "!unknown option `--something-else`"},
    {"-x", "!unknown option `-x`"},
    {"-j", "!needs a value"},
    {"--output", "!needs a value"},
    {"-j0", "!from 1 to 65536"},
    {"-j-1", "!from 1 to 65536"},
    {"-j99999999999999999999", "!from 1 to 65536"},
    {"-j4x", "!from 1 to 65536"},
    {"--jobs=", "!from 1 to 65536"},
    {"--keep-going=yes", "!takes no value"},
    {"--color=aut", "!one of auto|always|never"},
    {"--color=", "!one of auto|always|never"},
    {"--color=auto|always", "!one of auto|always|never"},
    {"-Dnothing", "!name=value"},
    {"-D=v", "!name=value"},
};

static void render(const bg_args *args, char *out, size_t size)
{
    size_t at = 0;
    out[0] = 0;
    for (size_t i = 0; i < args->n_given; i++) {
        const char *value = args->given[i].value;
        at += (size_t)snprintf(out + at, size - at, "%s%s%s ", args->given[i].option->name, value == NULL ? "" : "=",
                               value == NULL ? "" : value);
    }
    at += (size_t)snprintf(out + at, size - at, "%s[", args->help ? "help " : "");
    for (size_t i = 0; i < args->n_rest; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%s", i == 0 ? "" : " ", args->rest[i]);
    snprintf(out + at, size - at, "]");
}

static int split(char *line, char **argv, int max)
{
    int n = 0;
    for (char *word = strtok(line, " "); word != NULL && n < max; word = strtok(NULL, " "))
        argv[n++] = word;
    return n;
}

static void test_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[200], got[400];
        char *argv[20];
        bg_args args;
        bg_error err = {0};
        snprintf(line, sizeof line, "%s", cases[i].line);
        int argc = split(line, argv, 20);
        bg_status status = bg_args_parse(&args, options, argc, argv, &err);
        if (cases[i].want[0] == '!') {
            if (status != BG_E_USAGE || strstr(err.text, cases[i].want + 1) == NULL)
                fail_msg("`%s`: status %d, \"%s\" instead of \"%s\"", cases[i].line, (int)status, err.text, cases[i].want + 1);
        } else {
            render(&args, got, sizeof got);
            if (status != BG_OK || strcmp(got, cases[i].want) != 0)
                fail_msg("`%s` gives %s %s, not %s", cases[i].line, got, err.text, cases[i].want);
        }
        bg_args_clear(&args);
        bg_args_clear(&args);
    }
}

static void test_queries(void **state)
{
    (void)state;
    char a[] = "-j3", b[] = "--jobs=7", c[] = "-n", d[] = "--output=x";
    char *argv[] = {a, b, c, d};
    bg_args args;
    bg_error err = {0};
    assert_int_equal(bg_args_parse(&args, options, 4, argv, &err), BG_OK);
    assert_int_equal(bg_args_number(&args, "jobs", 1), 7);
    assert_int_equal(bg_args_number(&args, "other", 9), 9);
    assert_true(bg_args_flag(&args, "dry-run"));
    assert_false(bg_args_flag(&args, "keep-going"));
    assert_string_equal(bg_args_text(&args, "output"), "x");
    assert_null(bg_args_text(&args, "color"));
    bg_args_clear(&args);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_queries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
