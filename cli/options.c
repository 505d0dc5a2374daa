/* The option parser: see options.h. */
#include "options.h"

#include <stdlib.h>
#include <string.h>

#include "bgraph/diag.h"

#define N_NAMES_MAX 64

static const bg_option *find_name(const bg_option *options, const char *name, size_t n)
{
    for (; options->kind != BG_OPTION_END; options++) {
        if (strlen(options->name) == n && memcmp(options->name, name, n) == 0)
            return options;
    }
    return NULL;
}

static const bg_option *find_letter(const bg_option *options, char letter)
{
    for (; options->kind != BG_OPTION_END; options++) {
        if (options->letter == letter)
            return options;
    }
    return NULL;
}

static bg_status unknown_name(const bg_option *options, const char *name, size_t n, bg_error *err)
{
    bg_str names[N_NAMES_MAX];
    uint32_t n_names = 0;
    for (; options->kind != BG_OPTION_END && n_names < N_NAMES_MAX - 1; options++)
        names[n_names++] = bg_str_of(options->name);
    names[n_names++] = BG_STR("help");
    bg_str near = bg_diag_nearest((bg_str){name, n}, names, n_names);
    int shown = n < 80 ? (int)n : 80;
    if (near.len > 0)
        return bg_error_set(err, BG_E_USAGE, "unknown option `--%.*s`; did you mean `--%.*s`?", shown, name, BG_FMT(near));
    return bg_error_set(err, BG_E_USAGE, "unknown option `--%.*s`", shown, name);
}

static bool is_number(const char *text)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    unsigned long v = strtoul(text, &end, 10);
    return *end == 0 && v >= 1 && v <= 65536;
}

static bool is_choice(const char *choices, const char *text)
{
    size_t n = strlen(text);
    while (n > 0) {
        size_t word = strcspn(choices, "|");
        if (word == n && memcmp(choices, text, n) == 0)
            return true;
        if (choices[word] == 0)
            break;
        choices += word + 1;
    }
    return false;
}

static bg_status check_value(const bg_option *option, const char *value, bg_error *err)
{
    switch (option->kind) {
    case BG_OPTION_NUMBER:
        if (!is_number(value))
            return bg_error_set(err, BG_E_USAGE, "`--%s` takes a whole number from 1 to 65536, not `%.80s`", option->name, value);
        break;
    case BG_OPTION_CHOICE:
        if (!is_choice(option->choices, value))
            return bg_error_set(err, BG_E_USAGE, "`--%s` takes one of %s, not `%.80s`", option->name, option->choices, value);
        break;
    case BG_OPTION_DEFINE:
        if (value[0] == '=' || strchr(value, '=') == NULL)
            return bg_error_set(err, BG_E_USAGE, "`-%c` takes name=value, not `%.80s`", option->letter, value);
        break;
    case BG_OPTION_TEXT:
    case BG_OPTION_FLAG:
    case BG_OPTION_END:
        break;
    }
    return BG_OK;
}

static bg_status add(bg_args *out, const bg_option *option, const char *value, bg_error *err)
{
    if (value != NULL)
        BG_TRY(check_value(option, value, err));
    out->given[out->n_given++] = (bg_arg){option, value};
    return BG_OK;
}

/* --name, --name=value or --name value; `*i` moves past a value that is a word of its own. */
static bg_status parse_long(bg_args *out, const bg_option *options, int argc, char **argv, int *i, bg_error *err)
{
    const char *name = argv[*i] + 2;
    size_t n = strcspn(name, "=");
    if (n == 4 && memcmp(name, "help", 4) == 0) {
        out->help = true;
        return BG_OK;
    }
    const bg_option *option = find_name(options, name, n);
    if (option == NULL)
        return unknown_name(options, name, n, err);
    const char *value = name[n] == '=' ? name + n + 1 : NULL;
    if (option->kind == BG_OPTION_FLAG) {
        if (value != NULL)
            return bg_error_set(err, BG_E_USAGE, "`--%s` takes no value", option->name);
        return add(out, option, NULL, err);
    }
    if (value == NULL) {
        if (*i + 1 >= argc)
            return bg_error_set(err, BG_E_USAGE, "`--%s` needs a value: --%s %s", option->name, option->name, option->value);
        value = argv[++*i];
    }
    return add(out, option, value, err);
}

/* -x, -xy, -xvalue or -x value. */
static bg_status parse_short(bg_args *out, const bg_option *options, int argc, char **argv, int *i, bg_error *err)
{
    for (const char *c = argv[*i] + 1; *c != 0; c++) {
        if (*c == 'h' && find_letter(options, 'h') == NULL) {
            out->help = true;
            continue;
        }
        const bg_option *option = find_letter(options, *c);
        if (option == NULL)
            return bg_error_set(err, BG_E_USAGE, "unknown option `%.80s`", argv[*i]);
        if (option->kind == BG_OPTION_FLAG) {
            /* a flag given twice counts once, so that `given` never outgrows argc */
            if (!bg_args_flag(out, option->name))
                BG_TRY(add(out, option, NULL, err));
            continue;
        }
        if (c[1] != 0)
            return add(out, option, c + 1, err);
        if (*i + 1 >= argc)
            return bg_error_set(err, BG_E_USAGE, "`-%c` needs a value: -%c %s", *c, *c, option->value);
        return add(out, option, argv[++*i], err);
    }
    return BG_OK;
}

static size_t n_options(const bg_option *options)
{
    size_t n = 0;
    while (options[n].kind != BG_OPTION_END)
        n++;
    return n;
}

bg_status bg_args_parse(bg_args *out, const bg_option *options, int argc, char **argv, bg_error *err)
{
    *out = (bg_args){0};
    size_t n = argc > 0 ? (size_t)argc : 0;
    out->given = calloc(n + n_options(options) + 1, sizeof *out->given);
    out->rest = calloc(n + 1, sizeof *out->rest);
    if (out->given == NULL || out->rest == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory");
    bool ended = false;
    for (int i = 0; i < argc; i++) {
        if (ended || argv[i][0] != '-' || argv[i][1] == 0)
            out->rest[out->n_rest++] = argv[i];
        else if (strcmp(argv[i], "--") == 0)
            ended = true;
        else if (argv[i][1] == '-')
            BG_TRY(parse_long(out, options, argc, argv, &i, err));
        else
            BG_TRY(parse_short(out, options, argc, argv, &i, err));
    }
    return BG_OK;
}

void bg_args_clear(bg_args *args)
{
    free(args->given);
    free(args->rest);
    *args = (bg_args){0};
}

static const bg_arg *last(const bg_args *args, const char *name)
{
    for (size_t i = args->n_given; i > 0; i--) {
        if (strcmp(args->given[i - 1].option->name, name) == 0)
            return &args->given[i - 1];
    }
    return NULL;
}

bool bg_args_flag(const bg_args *args, const char *name)
{
    return last(args, name) != NULL;
}

const char *bg_args_text(const bg_args *args, const char *name)
{
    const bg_arg *arg = last(args, name);
    return arg == NULL ? NULL : arg->value;
}

long bg_args_number(const bg_args *args, const char *name, long fallback)
{
    const char *text = bg_args_text(args, name);
    return text == NULL ? fallback : strtol(text, NULL, 10);
}
