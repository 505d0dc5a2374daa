/* bgc: the command table and what chooses from it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "bgraph/diag.h"
#include "cli.h"

static const bg_command *const commands[] = {
    &bg_command_run,  &bg_command_check,  &bg_command_plan,  &bg_command_graph,   &bg_command_compile,
    &bg_command_disasm, &bg_command_asm,  &bg_command_cache, &bg_command_explain, &bg_command_init,
    &bg_command_docs, &bg_command_completion, &bg_command_help,
};
#define N_COMMANDS (sizeof commands / sizeof commands[0])

const bg_command *bg_command_at(size_t index)
{
    return index < N_COMMANDS ? commands[index] : NULL;
}

const bg_command *bg_command_find(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

static int unknown_command(const char *name)
{
    bg_str names[N_COMMANDS];
    for (size_t i = 0; i < N_COMMANDS; i++)
        names[i] = bg_str_of(commands[i]->name);
    bg_str near = bg_diag_nearest(bg_str_of(name), names, N_COMMANDS);
    if (near.len > 0)
        return bg_cli_usage(NULL, "unknown command `%.80s`; did you mean `%.*s`?", name, BG_FMT(near));
    return bg_cli_usage(NULL, "unknown command `%.80s`", name);
}

static void print_overview(FILE *out)
{
    fputs("bgc: build graphs that are timed, cached and relocatable\n\nUsage: bgc COMMAND [OPTION…] [ARGUMENT…]\n\n", out);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-11s %s\n", commands[i]->name, commands[i]->doc);
    fputs("\n  bgc COMMAND --help   tells all about one, with examples\n"
          "  bgc --version        prints the version\n\n"
          "Exit codes: 0 done; 1 an action failed; 2 the .bgraph file or the command line is wrong;\n"
          "3 the world failed (disk, cache, permissions); 130 interrupted.\n\n"
          "Examples:\n  bgc init && bgc run\n  bgc run release.bgraph -j8 -D opt=3\n",
          out);
}

static void print_usage(const bg_command *command, FILE *out)
{
    const char *line = command->usage;
    const char *head = "Usage:";
    while (line != NULL) {
        size_t n = strcspn(line, "\n");
        fprintf(out, "%s bgc %s%s%.*s\n", head, command->name, n > 0 ? " " : "", (int)n, line);
        head = "      ";
        line = line[n] == '\n' ? line + n + 1 : NULL;
    }
}

static void print_option(const bg_option *option, FILE *out)
{
    char letter[5] = "    ";
    char text[60];
    if (option->letter != 0)
        letter[0] = '-', letter[1] = option->letter, letter[2] = ',';
    snprintf(text, sizeof text, "%s--%s%s%s", letter, option->name, option->value == NULL ? "" : " ",
             option->value == NULL ? "" : option->value);
    fprintf(out, "  %-26s %s\n", text, option->doc);
}

static void print_help(const bg_command *command, FILE *out)
{
    print_usage(command, out);
    fprintf(out, "\n%s\nOptions:\n", command->about);
    for (const bg_option *option = command->options; option->kind != BG_OPTION_END; option++)
        print_option(option, out);
    fputs("  -h, --help                 print this\n\nExamples:\n", out);
    for (const char *line = command->example; *line != 0;) {
        size_t n = strcspn(line, "\n");
        fprintf(out, "  %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

static int run_help(const bg_args *args)
{
    if (args->n_rest == 0) {
        print_overview(stdout);
        return bg_cli_flush();
    }
    const bg_command *command = bg_command_find(args->rest[0]);
    if (command == NULL)
        return unknown_command(args->rest[0]);
    print_help(command, stdout);
    return bg_cli_flush();
}

static const bg_option no_options[] = {BG_OPTIONS_END};
const bg_command bg_command_help = {
    .name = "help",
    .doc = "tell about a command",
    .usage = "[COMMAND]",
    .about = "Tells about one command, or lists all.\n",
    .example = "bgc help run\n",
    .options = no_options,
    .max_rest = 1,
    .run = run_help,
};

static int check_rest(const bg_command *command, const bg_args *args)
{
    if (args->n_rest < command->min_rest)
        return bg_cli_usage(command->name, "an argument is missing");
    if (args->n_rest > command->max_rest)
        return bg_cli_usage(command->name, "unexpected argument `%.200s`", args->rest[command->max_rest]);
    return 0;
}

static int run_command(const bg_command *command, int argc, char **argv)
{
    bg_args args;
    bg_error err = {0};
    int code;
    bg_status status = bg_args_parse(&args, command->options, argc, argv, &err);
    if (args.help) {
        print_help(command, stdout);
        code = bg_cli_flush();
    } else if (status == BG_E_USAGE) {
        code = bg_cli_usage(command->name, "%s", err.text);
    } else if (status != BG_OK) {
        code = bg_cli_fail(status, &err);
    } else {
        code = check_rest(command, &args);
        if (code == 0)
            code = command->run(&args);
    }
    bg_args_clear(&args);
    return code;
}

/* A file opened later must not become standard output. */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF && open("/dev/null", O_RDWR) != fd)
            break;
    }
}

/* A handler instead of SIG_IGN: children get the default back by exec, and a reader that goes away is a failed write to us. */
static void ignore(int number)
{
    (void)number;
}

int main(int argc, char **argv)
{
    struct sigaction action = {0};
    action.sa_handler = ignore;
    sigaction(SIGPIPE, &action, NULL);
    hold_standard_streams();
    if (argc < 2) {
        print_overview(stderr);
        return 2;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts("bgc " BGC_VERSION);
        return bg_cli_flush();
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (name[0] == '-')
        return bg_cli_usage(NULL, "unknown option `%.80s` before the command", name);
    const bg_command *command = bg_command_find(name);
    if (command == NULL)
        return unknown_command(name);
    return run_command(command, argc - 2, argv + 2);
}
