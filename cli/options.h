/** Command lines: options as a table, one parser for all commands. Knows nothing of what they mean. Arguments borrow from argv.
 *  Pure but for memory; any thread. */
#ifndef BGC_OPTIONS_H
#define BGC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef enum {
    BG_OPTION_END,    /* closes a table */
    BG_OPTION_FLAG,   /* no value */
    BG_OPTION_TEXT,   /* any value */
    BG_OPTION_NUMBER, /* a whole number from 1 to 65536 */
    BG_OPTION_CHOICE, /* one of `choices` */
    BG_OPTION_DEFINE, /* name=value; may be given again */
} bg_option_kind;

typedef struct {
    bg_option_kind kind;
    char letter;         /* 0: none */
    const char *name;    /* without dashes, never NULL */
    const char *value;   /* what help calls the value: "FILE"; NULL for flags */
    const char *choices; /* BG_OPTION_CHOICE: "auto|always|never" */
    const char *doc;     /* one line */
} bg_option;

typedef struct {
    const bg_option *option;
    const char *value; /* NULL for flags */
} bg_arg;

typedef struct {
    bg_arg *given; /* in the order of the command line */
    size_t n_given;
    char **rest; /* what is not an option */
    size_t n_rest;
    bool help; /* -h or --help was there */
} bg_args;

/** Parse `argv[0 … argc)`. Accepts --name value, --name=value, -x value, -xvalue, flags in a cluster, and `--` before what only
 *  looks like an option. BG_E_USAGE: err->text says what is wrong, with the nearest option there is. Release with bg_args_clear
 *  in either case. */
BG_MUST_USE bg_status bg_args_parse(bg_args *out, const bg_option *options, int argc, char **argv, bg_error *err);
void bg_args_clear(bg_args *args);

/** Was it given? */
bool bg_args_flag(const bg_args *args, const char *name);
/** The last value given, NULL if none. */
const char *bg_args_text(const bg_args *args, const char *name);
/** The last number given, or `fallback`. */
long bg_args_number(const bg_args *args, const char *name, long fallback);

#endif
