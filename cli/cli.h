/** What the commands of bgc share: the shape of a command, how failures are told, what the environment says. Only this room
 *  prints, exits and reads the environment. One thread. */
#ifndef BGC_CLI_H
#define BGC_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"
#include "options.h"

typedef struct {
    const char *name;
    const char *doc;          /* one line */
    const char *usage;        /* what follows `bgc NAME`; several lines: several forms */
    const char *about;        /* paragraphs for --help, each line ended by \n */
    const char *example;      /* lines, each ended by \n */
    const bg_option *options; /* ended by BG_OPTION_END */
    const char *const *words; /* what the first argument may be, ended by NULL; NULL: anything */
    size_t min_rest, max_rest; /* how many arguments that are not options */
    int (*run)(const bg_args *args); /* gives the exit code */
} bg_command;

/** By index, NULL past the end; in the order of `bgc help`. */
const bg_command *bg_command_at(size_t index);
const bg_command *bg_command_find(const char *name);

extern const bg_command bg_command_run, bg_command_check, bg_command_plan, bg_command_graph, bg_command_compile,
    bg_command_disasm, bg_command_asm, bg_command_cache, bg_command_explain, bg_command_init, bg_command_docs,
    bg_command_completion, bg_command_help;

#define BG_OPTIONS_END {BG_OPTION_END, 0, NULL, NULL, NULL, NULL}
#define BG_OPTION_D \
    {BG_OPTION_DEFINE, 'D', "define", "NAME=VALUE", NULL, "give a param of the file a value (may be repeated)"}
#define BG_OPTION_COLOR \
    {BG_OPTION_CHOICE, 0, "color", "WHEN", "auto|always|never", "colours: auto (the default), always or never"}
#define BG_OPTION_CACHE {BG_OPTION_TEXT, 0, "cache", "DIR", NULL, "the cache's directory instead of $BGRAPH_CACHE or ~/.cache/bgraph"}
#define BG_OPTION_O(text) {BG_OPTION_TEXT, 'o', "output", "FILE", NULL, text}

/** Exit code that goes with a status: the classes of status.def, 130 when interrupted. */
int bg_cli_exit_code(bg_status status);
/** `bgc: error: …` on standard error; returns the exit code. Says nothing for BG_E_DIAGNOSED, which was said already. */
int bg_cli_fail(bg_status status, const bg_error *err);
/** The command line is wrong: says so, points at --help, returns 2. */
int bg_cli_usage(const char *command, const char *fmt, ...) BG_PRINTF(2, 3);
/** `bgc: warning: …` on standard error. */
void bg_cli_warn(const char *fmt, ...) BG_PRINTF(1, 2);
/** Write to standard output and flush; the exit code: 0, or 3 with a message if it could not be written. */
int bg_cli_put(const bg_buf *text);
/** Write to the file at `path`, or to standard output if it is NULL or "-"; the exit code. */
int bg_cli_put_to(const char *path, const bg_buf *text);
/** Flush standard output: as bg_cli_put. */
int bg_cli_flush(void);
/** Whether to colour what goes to `stream`: --color, else NO_COLOR, TERM and whether it is a terminal. */
bool bg_cli_color(const bg_args *args, FILE *stream);
/** An environment variable, NULL if unset or empty. */
const char *bg_cli_env(const char *name);

/** Absolute directory of the std modules: $BGC_STDLIB, else beside the installed program, else where it was built. */
BG_MUST_USE bg_status bg_cli_std_dir(bg_arena *arena, bg_str *out, bg_error *err);
/** Absolute directory of the cache: --cache, else $BGRAPH_CACHE, $XDG_CACHE_HOME/bgraph, $HOME/.cache/bgraph. NULL in *out if
 *  nothing says where. */
BG_MUST_USE bg_status bg_cli_cache_dir(const bg_args *args, bg_arena *arena, const char **out, bg_error *err);

/** Write a whole file beside its place and rename it there; a reader sees the old one or the new one. */
BG_MUST_USE bg_status bg_cli_write_file(const char *path, bg_str bytes, bg_error *err);
/** Read at most `limit` bytes of a file into `out`; a longer one is cut. */
BG_MUST_USE bg_status bg_cli_read_fd(int fd, size_t limit, bg_buf *out);
/** The path made absolute with the current directory; NULL when memory is out or there is no current directory. */
const char *bg_cli_absolute(bg_arena *arena, const char *path);

/* host_linux.c */
/** CPUs that this process may use, at least 1. */
int bg_cli_n_cpus(void);
/** Columns of the terminal on `fd`, 0 if unknown. */
int bg_cli_columns(int fd);
/** Real absolute path, or NULL with errno. */
const char *bg_cli_realpath(bg_arena *arena, const char *path);
/** This program's file, or NULL. */
const char *bg_cli_self(bg_arena *arena);

#endif
