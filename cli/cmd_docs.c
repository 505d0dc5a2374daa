/* bgc docs: every table of the program, as JSON or as the reference part of the manual. */
#include <string.h>

#include "bgraph/diag.h"
#include "cli.h"

/* A row of a flat table: what a reader looks for, then columns that differ from table to table. */
typedef struct {
    const char *name;
    const char *column[5];
} row;

typedef struct {
    const char *key, *title, *about;
    const char *headings[6]; /* of name and columns, ended by NULL */
    const row *rows;
    size_t n_rows;
} table;

static const row statuses[] = {
#define BG_STATUS(name, cls, doc) {#name, {#cls, doc, NULL, NULL, NULL}},
#include "base/status.def"
#undef BG_STATUS
};

static const row ops[] = {
#define BG_OP(name, mnemonic, shape, target, pops, pushes, doc) {#mnemonic, {#shape, #target, #pops, #pushes, doc}},
#include "image/ops.def"
#undef BG_OP
};

static const row nodes[] = {
#define BG_AST(name, printed, n_fixed, children, doc) {printed, {children, doc, NULL, NULL, NULL}},
#include "nodes.def"
#undef BG_AST
};

#if __has_include("tokens.def")
static const row tokens[] = {
#define BG_TOKEN(name, spelling, class, doc) {#name, {spelling, #class, doc, NULL, NULL}},
#include "tokens.def"
#undef BG_TOKEN
};
#endif

/* Sections and events nest: a row with an empty first column opens one. */
static const row sections[] = {
#define BG_BYTES(tag, member, doc) {#tag, {"", "bytes", "", doc, NULL}},
#define BG_SECTION(tag, member, doc) {#tag, {"", "records", "", doc, NULL}},
#define BG_FIELD(tag, member, field, shape, target, doc) {#tag, {#field, #shape, #target, doc, NULL}},
#define BG_SECTION_END(tag, member)
#include "image/sections.def"
#undef BG_BYTES
#undef BG_SECTION
#undef BG_FIELD
#undef BG_SECTION_END
};

static const row events[] = {
#define BG_EVENT(name, json, doc) {json, {"", "", doc, NULL, NULL}},
#define BG_EVENT_FIELD(name, member, key, kind, doc) {#name, {key, #kind, doc, NULL, NULL}},
#define BG_EVENT_END(name)
#define BG_OUTCOME(name, word, doc)
#include "event/event.def"
#undef BG_EVENT
#undef BG_EVENT_FIELD
#undef BG_EVENT_END
#undef BG_OUTCOME
};

static const row outcomes[] = {
#define BG_EVENT(name, json, doc)
#define BG_EVENT_FIELD(name, member, key, kind, doc)
#define BG_EVENT_END(name)
#define BG_OUTCOME(name, word, doc) {word, {doc, NULL, NULL, NULL, NULL}},
#include "event/event.def"
#undef BG_EVENT
#undef BG_EVENT_FIELD
#undef BG_EVENT_END
#undef BG_OUTCOME
};

#define ROWS(rows) rows, sizeof rows / sizeof rows[0]
static const table tables[] = {
#if __has_include("tokens.def")
    {"tokens", "Tokens", "What the text is made of.", {"token", "spelling", "class", "doc", NULL, NULL}, ROWS(tokens)},
#endif
    {"nodes", "Syntax tree", "Nodes of `bgc check --dump ast`.", {"node", "children", "doc", NULL, NULL, NULL}, ROWS(nodes)},
    {"outcomes", "Outcomes", "What became of a node in a run.", {"outcome", "doc", NULL, NULL, NULL, NULL}, ROWS(outcomes)},
    {"events", "Events", "Lines of `bgc run --events`; a row without a field opens an event. Every event also has `t`, in\n"
     "nanoseconds since the run began.", {"event", "field", "kind", "doc", NULL, NULL}, ROWS(events)},
    {"statuses", "Statuses", "How a call can fail, and the exit code of bgc that goes with it.",
     {"status", "exit", "doc", NULL, NULL, NULL}, ROWS(statuses)},
    {"sections", "Sections of an image", "A row without a field opens a section. Every field is a little-endian 32-bit number.",
     {"section", "field", "shape", "target", "doc", NULL}, ROWS(sections)},
    {"ops", "Instructions", "Programs of an image.", {"op", "shape", "target", "pops", "pushes", "doc"}, ROWS(ops)},
};
#define N_TABLES (sizeof tables / sizeof tables[0])

/* ---- json ---- */

static void json_pair(bg_buf *out, bool first, const char *key, const char *value)
{
    bg_buf_puts(out, first ? "" : ", ");
    bg_buf_json(out, bg_str_of(key));
    bg_buf_puts(out, ": ");
    bg_buf_json(out, bg_str_of(value == NULL ? "" : value));
}

static void json_table(const table *t, bg_buf *out)
{
    bg_buf_printf(out, " \"%s\": [", t->key);
    for (size_t i = 0; i < t->n_rows; i++) {
        bg_buf_puts(out, i == 0 ? "\n  {" : ",\n  {");
        json_pair(out, true, t->headings[0], t->rows[i].name);
        for (size_t c = 0; c < 5 && t->headings[c + 1] != NULL; c++)
            json_pair(out, false, t->headings[c + 1], t->rows[i].column[c]);
        bg_buf_putc(out, '}');
    }
    bg_buf_puts(out, "],\n");
}

static void json_diags(bg_buf *out)
{
    bg_buf_puts(out, " \"diags\": [");
    for (uint32_t i = 0; bg_diag_at(i) != NULL; i++) {
        const bg_diag_info *info = bg_diag_at(i);
        bg_buf_printf(out, "%s{\"code\": \"BG%04u\"", i == 0 ? "\n  " : ",\n  ", (unsigned)info->number);
        json_pair(out, false, "name", info->name);
        json_pair(out, false, "severity", info->severity == BG_SEVERITY_WARNING ? "warning" : "error");
        json_pair(out, false, "text", info->text);
        json_pair(out, false, "explanation", info->explanation);
        json_pair(out, false, "example", info->example);
        bg_buf_putc(out, '}');
    }
    bg_buf_puts(out, "],\n");
}

static void json_command(const bg_command *command, bg_buf *out)
{
    bg_buf_putc(out, '{');
    json_pair(out, true, "name", command->name);
    json_pair(out, false, "doc", command->doc);
    json_pair(out, false, "usage", command->usage);
    json_pair(out, false, "about", command->about);
    json_pair(out, false, "example", command->example);
    bg_buf_puts(out, ", \"options\": [");
    for (const bg_option *option = command->options; option->kind != BG_OPTION_END; option++) {
        char letter[2] = {option->letter, 0};
        bg_buf_puts(out, option == command->options ? "{" : ", {");
        json_pair(out, true, "name", option->name);
        json_pair(out, false, "letter", letter);
        json_pair(out, false, "value", option->value);
        json_pair(out, false, "choices", option->choices);
        json_pair(out, false, "doc", option->doc);
        bg_buf_putc(out, '}');
    }
    bg_buf_puts(out, "]}");
}

static void put_json(bg_buf *out)
{
    bg_buf_puts(out, "{\"version\": \"" BGC_VERSION "\",\n");
    for (size_t i = 0; i < N_TABLES; i++)
        json_table(&tables[i], out);
    json_diags(out);
    bg_buf_puts(out, " \"commands\": [");
    for (size_t i = 0; bg_command_at(i) != NULL; i++) {
        bg_buf_puts(out, i == 0 ? "\n  " : ",\n  ");
        json_command(bg_command_at(i), out);
    }
    bg_buf_puts(out, "]}\n");
}

/* ---- markdown ---- */

/* A cell: bars and line ends would end it. */
static void cell(bg_buf *out, const char *text, bool code)
{
    bg_buf_putc(out, ' ');
    if (text == NULL || text[0] == 0)
        code = false;
    bg_buf_puts(out, code ? "`" : "");
    for (; text != NULL && *text != 0; text++) {
        if (*text == '|')
            bg_buf_putc(out, '\\');
        bg_buf_putc(out, *text == '\n' ? ' ' : *text);
    }
    bg_buf_puts(out, code ? "` |" : " |");
}

static void markdown_table(const table *t, bg_buf *out)
{
    size_t n = 0;
    bg_buf_printf(out, "\n## %s\n\n%s\n\n|", t->title, t->about);
    for (; n < 6 && t->headings[n] != NULL; n++)
        cell(out, t->headings[n], false);
    bg_buf_puts(out, "\n|");
    for (size_t c = 0; c < n; c++)
        bg_buf_puts(out, "---|");
    for (size_t i = 0; i < t->n_rows; i++) {
        bg_buf_puts(out, "\n|");
        cell(out, t->rows[i].name, true);
        for (size_t c = 1; c < n; c++)
            cell(out, t->rows[i].column[c - 1], strcmp(t->headings[c], "field") == 0);
    }
    bg_buf_putc(out, '\n');
}

static void markdown_command(const bg_command *command, bg_buf *out)
{
    bg_buf_printf(out, "\n### bgc %s\n\n%s", command->name, command->about);
    bg_buf_puts(out, "\n```sh\n");
    const char *line = command->usage;
    while (line != NULL) {
        size_t n = strcspn(line, "\n");
        bg_buf_printf(out, "bgc %s%s%.*s\n", command->name, n > 0 ? " " : "", (int)n, line);
        line = line[n] == '\n' ? line + n + 1 : NULL;
    }
    bg_buf_printf(out, "# for example\n%s```\n", command->example);
    if (command->options->kind == BG_OPTION_END)
        return;
    bg_buf_puts(out, "\n| option | doc |\n|---|---|\n");
    for (const bg_option *option = command->options; option->kind != BG_OPTION_END; option++) {
        bg_buf_puts(out, "| `");
        if (option->letter != 0)
            bg_buf_printf(out, "-%c`, `", option->letter);
        bg_buf_printf(out, "--%s%s%s` |", option->name, option->value == NULL ? "" : " ", option->value == NULL ? "" : option->value);
        cell(out, option->doc, false);
        bg_buf_putc(out, '\n');
    }
}

static void markdown_diags(bg_buf *out)
{
    bg_buf_puts(out, "\n## Diagnostics\n");
    for (uint32_t i = 0; bg_diag_at(i) != NULL; i++) {
        const bg_diag_info *info = bg_diag_at(i);
        bg_buf_printf(out, "\n### BG%04u (%s): %s\n\n%s\n", (unsigned)info->number,
                      info->severity == BG_SEVERITY_WARNING ? "warning" : "error", info->text, info->explanation);
        if (info->example[0] == 0)
            continue;
        bg_buf_puts(out, "\n```\n");
        bg_buf_puts(out, info->example);
        bg_buf_puts(out, info->example[strlen(info->example) - 1] == '\n' ? "```\n" : "\n```\n");
    }
}

static void put_markdown(bg_buf *out)
{
    bg_buf_puts(out, "# Reference\n\nGenerated by `bgc docs --markdown`; the tables in the source are what the program itself uses.\n"
                     "\n## Commands\n");
    for (size_t i = 0; bg_command_at(i) != NULL; i++)
        markdown_command(bg_command_at(i), out);
    markdown_diags(out);
    for (size_t i = 0; i < N_TABLES; i++)
        markdown_table(&tables[i], out);
}

/* ---- the command ---- */

static int run(const bg_args *args)
{
    bg_buf text = {0};
    if (bg_args_flag(args, "json") == bg_args_flag(args, "markdown"))
        return bg_cli_usage("docs", "say which: --json or --markdown");
    if (bg_args_flag(args, "json"))
        put_json(&text);
    else
        put_markdown(&text);
    int code = bg_cli_put(&text);
    bg_buf_clear(&text);
    return code;
}

static const bg_option options[] = {
    {BG_OPTION_FLAG, 0, "json", NULL, NULL, "every table as JSON"},
    {BG_OPTION_FLAG, 0, "markdown", NULL, NULL, "the reference part of the manual"},
    BG_OPTIONS_END,
};

const bg_command bg_command_docs = {
    .name = "docs",
    .doc = "print the program's tables",
    .usage = "--json | --markdown",
    .about = "Prints commands, diagnostics, tokens, events, statuses, sections and instructions, from the tables that the program\n"
             "itself is made from.\n",
    .example = "bgc docs --json | jq '.diags[].code'\n",
    .options = options,
    .run = run,
};
