/* bgc run: the main job. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bgraph/event.h"
#include "bgraph/run.h"
#include "running.h"

#define N_SINKS_MAX 5

typedef struct {
    bg_sink *at[N_SINKS_MAX];
    size_t n;
} sinks;

static bg_status add(sinks *all, bg_sink *sink, const bg_error *err)
{
    if (sink == NULL)
        return err->status != BG_OK ? err->status : BG_E_NOMEM;
    all->at[all->n++] = sink;
    return BG_OK;
}

static bg_console_style console_style(const bg_args *args)
{
    const char *github = bg_cli_env("GITHUB_ACTIONS");
    bool is_github = github != NULL && strcmp(github, "true") == 0;
    return (bg_console_style){
        .is_terminal = !is_github && isatty(STDOUT_FILENO) == 1,
        .color = bg_cli_color(args, stdout),
        .github = is_github,
        .quiet = bg_args_flag(args, "quiet"),
        .verbose = bg_args_flag(args, "verbose"),
        .width = bg_cli_columns(STDOUT_FILENO),
    };
}

/* The order is the order in which a person reads: what happened, then the table. */
static bg_status open_sinks(sinks *all, const bg_args *args, bg_error *err)
{
    BG_TRY(add(all, bg_sink_console(stdout, console_style(args), err), err));
    if (bg_args_flag(args, "dry-run"))
        return BG_OK;
    BG_TRY(add(all, bg_sink_timer(stdout, err), err));
    const char *events = bg_args_text(args, "events");
    if (events != NULL)
        BG_TRY(add(all, bg_sink_jsonl(events, err), err));
    const char *trace = bg_args_text(args, "trace");
    if (trace != NULL)
        BG_TRY(add(all, bg_sink_chrome(trace, err), err));
    const char *summary = bg_args_text(args, "summary");
    if (summary == NULL)
        summary = bg_cli_env("GITHUB_STEP_SUMMARY");
    if (summary != NULL && summary[0] != 0)
        BG_TRY(add(all, bg_sink_summary(summary, err), err));
    return BG_OK;
}

/* A report that could not be written makes a run that went well end with 3. Two sinks write to standard output: what went wrong
 * there is said once, and not at all where the reader has gone away. */
static int close_sinks(sinks *all, int code)
{
    char told[sizeof(bg_error)] = "";
    for (size_t i = 0; i < all->n; i++) {
        bg_error err = {0};
        bg_status status = all->at[i]->close(all->at[i], &err);
        if (status == BG_OK)
            continue;
        if (err.os_error != EPIPE && strcmp(told, err.text) != 0)
            bg_cli_fail(status, &err);
        memcpy(told, err.text, sizeof err.text);
        code = code == 0 ? bg_cli_exit_code(status) : code;
    }
    all->n = 0;
    clearerr(stdout);
    return code;
}

static int list(const bg_input *input)
{
    const bg_graph *graph = &input->graph;
    bg_buf text = {0};
    for (uint32_t i = 1; i < graph->n_nodes; i++) {
        const bg_img_nodes *node = &graph->nodes[i];
        bg_buf_printf(&text, "%-28.*s %.*s\n", BG_FMT(bg_graph_str(graph, node->name)), BG_FMT(bg_graph_str(graph, node->label)));
        bg_str doc = bg_graph_str(graph, node->doc);
        for (size_t at = 0; at < doc.len;) {
            size_t n = strcspn(doc.ptr + at, "\n");
            bg_buf_printf(&text, "%-28s   %.*s\n", "", (int)n, doc.ptr + at);
            at += n + 1;
        }
    }
    int code = bg_cli_put(&text);
    bg_buf_clear(&text);
    return code;
}

static int run_graph(const bg_input *input, const bg_args *args, bg_run_options *options)
{
    sinks all = {0};
    bg_run_result result = {0};
    bg_error err = {0};
    int code;
    bg_status status = open_sinks(&all, args, &err);
    if (status != BG_OK) {
        code = bg_cli_fail(status, &err);
    } else {
        options->sinks = all.at;
        options->n_sinks = all.n;
        status = bg_run(&input->graph, options, &result, &err);
        code = result.exit_code;
        if (status != BG_OK) {
            int told = bg_cli_fail(status, &err);
            code = code == 0 ? told : code;
        }
    }
    return close_sinks(&all, code);
}

static int run(const bg_args *args)
{
    bg_input input = {0};
    bg_error err = {0};
    bg_run_options options = {
        .keep_going = bg_args_flag(args, "keep-going"),
        .dry_run = bg_args_flag(args, "dry-run"),
    };
    int code;
    bg_status status = bg_running_begin(&input, args, &options, &err);
    if (status != BG_OK)
        code = bg_cli_fail(status, &err);
    else if (bg_args_flag(args, "list"))
        code = list(&input);
    else
        code = run_graph(&input, args, &options);
    bg_input_clear(&input);
    int flushed = bg_cli_flush();
    return code == 0 ? flushed : code;
}

static const bg_option options[] = {
    BG_OPTIONS_RUNNING,
    {BG_OPTION_FLAG, 'k', "keep-going", NULL, NULL, "after a failure go on with what does not depend on it"},
    {BG_OPTION_FLAG, 'n', "dry-run", NULL, NULL, "print the commands that would run, run none"},
    {BG_OPTION_FLAG, 0, "list", NULL, NULL, "print the nodes with their labels and doc comments, run none"},
    {BG_OPTION_TEXT, 0, "trace", "FILE", NULL, "write a trace for chrome://tracing or Perfetto"},
    {BG_OPTION_TEXT, 0, "events", "FILE", NULL, "write every event as a line of JSON"},
    {BG_OPTION_TEXT, 0, "summary", "FILE", NULL, "append the table as Markdown (default: $GITHUB_STEP_SUMMARY if set)"},
    {BG_OPTION_FLAG, 'q', "quiet", NULL, NULL, "print failures and the table only"},
    {BG_OPTION_FLAG, 'v', "verbose", NULL, NULL, "print every command and why it runs"},
    BG_OPTIONS_END,
};

const bg_command bg_command_run = {
    .name = "run",
    .doc = "make the targets of a graph",
    .usage = "[OPTION…] [FILE] [TARGET…]",
    .about = "Brings the targets up to date: what is already made stays, what the cache has is restored, the rest runs.\n"
             "FILE is a .bgraph file or a compiled .bgb image; without it, the only .bgraph file of the current directory.\n"
             "TARGET is a node or a group by its qualified name; without one, the file's defaults.\n"
             "State, logs and outputs go to .bgraph/ beside FILE. A table of times ends every run, also a failed one.\n",
    .example = "bgc run\n"
               "bgc run release.bgraph -j8 -D opt=3\n"
               "bgc run release.bgraph llvm-pgo/final --trace trace.json\n"
               "bgc run -k -n ci.bgraph\n",
    .options = options,
    .max_rest = (size_t)-1,
    .run = run,
};
