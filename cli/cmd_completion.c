/* bgc completion: scripts for shells, from the command table. */
#include <string.h>

#include "cli.h"

static void put_words(const bg_command *command, const char *separator, bg_buf *out)
{
    for (const char *const *word = command->words; word != NULL && *word != NULL; word++)
        bg_buf_printf(out, "%s%s", *word, separator);
}

/* Choices separated by '|' as words separated by blanks. */
static void put_choices(const bg_option *option, bg_buf *out)
{
    for (const char *c = option->choices; *c != 0; c++)
        bg_buf_putc(out, *c == '|' ? ' ' : *c);
}

/* Inside '…' for zsh and fish. */
static void put_quoted(bg_buf *out, const char *text, const char *also)
{
    for (; *text != 0; text++) {
        if (*text == '\'')
            bg_buf_puts(out, "'\\''");
        else if (strchr(also, *text) != NULL)
            bg_buf_printf(out, "\\%c", *text);
        else
            bg_buf_putc(out, *text);
    }
}

static void put_commands(bg_buf *out)
{
    for (size_t i = 0; bg_command_at(i) != NULL; i++)
        bg_buf_printf(out, "%s%s", i == 0 ? "" : " ", bg_command_at(i)->name);
}

/* ---- bash ---- */

static void bash_choices(const bg_command *command, bg_buf *out)
{
    for (const bg_option *option = command->options; option->kind != BG_OPTION_END; option++) {
        if (option->kind != BG_OPTION_CHOICE)
            continue;
        bg_buf_printf(out, "      [[ $prev == --%s ]] && choices=\"", option->name);
        put_choices(option, out);
        bg_buf_puts(out, "\"\n");
    }
}

static void put_bash(bg_buf *out)
{
    bg_buf_puts(out, "# bash completion for bgc: eval \"$(bgc completion bash)\"\n"
                     "_bgc() {\n"
                     "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options= words= choices=\n"
                     "  COMPREPLY=()\n"
                     "  if ((COMP_CWORD == 1)); then\n"
                     "    mapfile -t COMPREPLY < <(compgen -W \"");
    put_commands(out);
    bg_buf_puts(out, " --help --version\" -- \"$cur\")\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; bg_command_at(i) != NULL; i++) {
        const bg_command *command = bg_command_at(i);
        bg_buf_printf(out, "    %s)\n      options=\"", command->name);
        for (const bg_option *option = command->options; option->kind != BG_OPTION_END; option++)
            bg_buf_printf(out, "--%s ", option->name);
        bg_buf_puts(out, "--help\"\n");
        if (command == &bg_command_help) {
            bg_buf_puts(out, "      words=\"");
            put_commands(out);
            bg_buf_puts(out, "\"\n");
        } else if (command->words != NULL) {
            bg_buf_puts(out, "      words=\"");
            put_words(command, " ", out);
            bg_buf_puts(out, "\"\n");
        }
        bash_choices(command, out);
        bg_buf_puts(out, "      ;;\n");
    }
    bg_buf_puts(out, "  esac\n"
                     "  if [[ -n $choices ]]; then mapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$cur\")\n"
                     "  elif [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
                     "  elif [[ -n $words ]] && ((COMP_CWORD == 2)); then mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                     "  else mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); fi\n"
                     "}\n"
                     "complete -o filenames -F _bgc bgc\n");
}

/* ---- zsh ---- */

static void zsh_option(const bg_option *option, bg_buf *out)
{
    bool again = option->kind == BG_OPTION_DEFINE;
    for (int form = option->letter != 0 ? 0 : 1; form < 2; form++) {
        bg_buf_printf(out, " \\\n        '%s", again ? "*" : "");
        if (form == 0)
            bg_buf_printf(out, "-%c%s[", option->letter, option->kind == BG_OPTION_FLAG ? "" : "+");
        else
            bg_buf_printf(out, "--%s%s[", option->name, option->kind == BG_OPTION_FLAG ? "" : "=");
        put_quoted(out, option->doc, "[]:");
        bg_buf_puts(out, "]");
        if (option->kind == BG_OPTION_CHOICE) {
            bg_buf_puts(out, ":choice:(");
            put_choices(option, out);
            bg_buf_puts(out, ")");
        } else if (option->kind != BG_OPTION_FLAG) {
            bg_buf_printf(out, ":%s:%s", option->kind == BG_OPTION_TEXT ? "file" : "value",
                          option->kind == BG_OPTION_TEXT ? "_files" : "");
        }
        bg_buf_puts(out, "'");
    }
}

static void put_zsh(bg_buf *out)
{
    bg_buf_puts(out, "#compdef bgc\n"
                     "# zsh completion for bgc: bgc completion zsh > \"${fpath[1]}/_bgc\"\n"
                     "_bgc() {\n  local -a commands\n  commands=(\n");
    for (size_t i = 0; bg_command_at(i) != NULL; i++) {
        bg_buf_printf(out, "    '%s:", bg_command_at(i)->name);
        put_quoted(out, bg_command_at(i)->doc, ":");
        bg_buf_puts(out, "'\n");
    }
    bg_buf_puts(out, "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n"
                     "  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n");
    for (size_t i = 0; bg_command_at(i) != NULL; i++) {
        const bg_command *command = bg_command_at(i);
        bg_buf_printf(out, "    %s)\n      _arguments -s", command->name);
        for (const bg_option *option = command->options; option->kind != BG_OPTION_END; option++)
            zsh_option(option, out);
        if (command->words != NULL) {
            bg_buf_puts(out, " \\\n        '1:word:(");
            put_words(command, " ", out);
            bg_buf_puts(out, ")'");
        }
        bg_buf_puts(out, " \\\n        '--help[print help]' '*:file:_files' ;;\n");
    }
    bg_buf_puts(out, "  esac\n}\nif [[ $funcstack[1] == _bgc ]]; then _bgc \"$@\"; else compdef _bgc bgc; fi\n");
}

/* ---- fish ---- */

static void fish_option(const bg_command *command, const bg_option *option, bg_buf *out)
{
    bg_buf_printf(out, "complete -c bgc -n '__fish_seen_subcommand_from %s' -l %s", command->name, option->name);
    if (option->letter != 0)
        bg_buf_printf(out, " -s %c", option->letter);
    if (option->kind == BG_OPTION_CHOICE) {
        bg_buf_puts(out, " -x -a '");
        put_choices(option, out);
        bg_buf_puts(out, "'");
    } else if (option->kind == BG_OPTION_TEXT) {
        bg_buf_puts(out, " -r");
    } else if (option->kind != BG_OPTION_FLAG) {
        bg_buf_puts(out, " -x");
    }
    bg_buf_puts(out, " -d '");
    put_quoted(out, option->doc, "");
    bg_buf_puts(out, "'\n");
}

static void put_fish(bg_buf *out)
{
    bg_buf_puts(out, "# fish completion for bgc: bgc completion fish > ~/.config/fish/completions/bgc.fish\n");
    for (size_t i = 0; bg_command_at(i) != NULL; i++) {
        const bg_command *command = bg_command_at(i);
        bg_buf_printf(out, "complete -c bgc -n __fish_use_subcommand -f -a %s -d '", command->name);
        put_quoted(out, command->doc, "");
        bg_buf_puts(out, "'\n");
        for (const bg_option *option = command->options; option->kind != BG_OPTION_END; option++)
            fish_option(command, option, out);
        if (command->words != NULL) {
            bg_buf_printf(out, "complete -c bgc -n '__fish_seen_subcommand_from %s' -f -a '", command->name);
            put_words(command, " ", out);
            bg_buf_puts(out, "'\n");
        }
    }
}

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static int run(const bg_args *args)
{
    bg_buf text = {0};
    const char *shell = args->rest[0];
    if (strcmp(shell, "bash") == 0)
        put_bash(&text);
    else if (strcmp(shell, "zsh") == 0)
        put_zsh(&text);
    else if (strcmp(shell, "fish") == 0)
        put_fish(&text);
    else
        return bg_cli_usage("completion", "there is no completion for `%.80s`: bash, zsh or fish", shell);
    int code = bg_cli_put(&text);
    bg_buf_clear(&text);
    return code;
}

static const bg_option options[] = {BG_OPTIONS_END};
const bg_command bg_command_completion = {
    .name = "completion",
    .doc = "print a completion script for a shell",
    .usage = "bash|zsh|fish",
    .about = "Prints a script that teaches a shell the commands and options of this bgc.\n",
    .example = "eval \"$(bgc completion bash)\"\n"
               "bgc completion fish > ~/.config/fish/completions/bgc.fish\n",
    .options = options,
    .words = shells,
    .min_rest = 1,
    .max_rest = 1,
    .run = run,
};
