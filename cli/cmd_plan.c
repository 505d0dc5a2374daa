/* bgc plan: what a run would do, for programs. */
#include "running.h"

static int run(const bg_args *args)
{
    bg_input input = {0};
    bg_error err = {0};
    bg_run_options options = {.dry_run = true};
    bg_buf text = {0};
    int code = 0;
    bg_status status = bg_running_begin(&input, args, &options, &err);
    if (status == BG_OK)
        status = bg_plan_json(&input.graph, &options, &text, &err);
    if (status != BG_OK) {
        code = bg_cli_fail(status, &err);
    } else {
        if (text.len > 0 && text.data[text.len - 1] != '\n')
            bg_buf_putc(&text, '\n');
        code = bg_cli_put(&text);
    }
    bg_buf_clear(&text);
    bg_input_clear(&input);
    return code;
}

static const bg_option options[] = {
    {BG_OPTION_FLAG, 0, "json", NULL, NULL, "as JSON (the only form there is)"},
    BG_OPTIONS_RUNNING,
    BG_OPTIONS_END,
};

const bg_command bg_command_plan = {
    .name = "plan",
    .doc = "print what a run would do, as JSON",
    .usage = "[--json] [OPTION…] [FILE] [TARGET…]",
    .about = "Prints every node of the run with its key, state, commands, environment, inputs and products. Starts nothing but\n"
             "what tells the tools' versions.\n",
    .example = "bgc plan --json release.bgraph\n",
    .options = options,
    .max_rest = (size_t)-1,
    .run = run,
};
