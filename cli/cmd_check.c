/* bgc check: diagnostics of files, nothing run. */
#include <string.h>

#include "input.h"
#include "stamps.h"

/* Diagnostics in the form asked for: text for people on standard error, JSON for programs on standard output. */
static int print_diags(const bg_session *session, const bg_args *args)
{
    const char *format = bg_args_text(args, "format");
    if (format == NULL || strcmp(format, "json") != 0) {
        bg_input_print_diags(session, bg_cli_color(args, stderr));
        return 0;
    }
    uint32_t n_sources;
    const bg_source *const *sources = bg_session_sources(session, &n_sources);
    bg_buf text = {0};
    bg_diags_render_json(bg_session_diags(session), sources, n_sources, &text);
    if (!text.failed && text.len > 0 && text.data[text.len - 1] != '\n')
        bg_buf_putc(&text, '\n');
    int code = bg_cli_put(&text);
    bg_buf_clear(&text);
    return code;
}

static int print_success(const bg_input *input, const bg_buf *image, uint32_t n_warnings, const bg_args *args, bg_error *err)
{
    bg_graph graph;
    bg_status status = bg_graph_load(&graph, bg_buf_cstr(image), image->len, err);
    if (status != BG_OK)
        return bg_cli_fail(status, err);
    const char *format = bg_args_text(args, "format");
    if (format != NULL && strcmp(format, "json") == 0)
        return 0;
    unsigned n = graph.n_nodes == 0 ? 0 : graph.n_nodes - 1;
    printf("%s: %u node%s, no errors", input->file, n, n == 1 ? "" : "s");
    if (n_warnings > 0)
        printf(", %u warning%s", (unsigned)n_warnings, n_warnings == 1 ? "" : "s");
    printf("\n");
    return bg_cli_flush();
}

static bg_status dump_or_compile(bg_session *session, const bg_input *input, const char *dump, bg_buf *out, bg_error *err)
{
    bg_str path = bg_str_of(input->file);
    if (dump == NULL)
        return bg_session_compile(session, path, out, err);
    if (strcmp(dump, "tokens") == 0)
        return bg_session_tokens(session, path, out, err);
    return bg_session_parse(session, path, out, err);
}

static int check_text(const bg_input *input, const bg_args *args, bg_stamps *reader)
{
    const char *dump = bg_args_text(args, "dump");
    bg_error err = {0};
    bg_session *session = bg_session_new(&(bg_session_options){
        .std_dir = input->std_dir,
        .defines = input->defines,
        .n_defines = input->n_defines,
        .read = bg_stamps_read,
        .read_self = reader,
    });
    if (session == NULL)
        return bg_cli_fail(bg_error_set(&err, BG_E_NOMEM, "out of memory"), &err);
    bg_buf out = {0};
    bg_status status = dump_or_compile(session, input, dump, &out, &err);
    int code = dump == NULL ? 0 : bg_cli_put(&out);
    int printed = print_diags(session, args);
    uint32_t n_errors = bg_session_diags(session)->n_errors, n_warnings = bg_session_diags(session)->n_warnings;
    if (code == 0)
        code = printed;
    if (status != BG_OK)
        code = bg_cli_fail(status, &err);
    else if (n_errors > 0)
        code = 2;
    else if (dump == NULL && code == 0)
        code = print_success(input, &out, n_warnings, args, &err);
    bg_buf_clear(&out);
    bg_session_free(session);
    return code;
}

static int check_file(const char *file, const bg_args *args)
{
    bg_input input = {0};
    bg_stamps reader = {0};
    bg_error err = {0};
    int code;
    bg_status status = bg_input_find(&input, file, args, &err);
    if (status == BG_OK && input.is_image)
        status = bg_error_set(&err, BG_E_USAGE, "%s is a compiled image: `bgc disasm` shows it", file);
    if (status != BG_OK)
        code = bg_cli_fail(status, &err);
    else
        code = check_text(&input, args, &reader);
    bg_stamps_clear(&reader);
    bg_input_clear(&input);
    return code;
}

static int run(const bg_args *args)
{
    if (args->n_rest == 0)
        return check_file(NULL, args);
    int code = 0;
    for (size_t i = 0; i < args->n_rest; i++) {
        int one = check_file(args->rest[i], args);
        code = one > code ? one : code;
    }
    return code;
}

static const bg_option options[] = {
    BG_OPTION_D,
    {BG_OPTION_CHOICE, 0, "format", "FORM", "text|json", "text on standard error (the default), or json on standard output"},
    {BG_OPTION_CHOICE, 0, "dump", "WHAT", "tokens|ast", "print the tokens or the syntax tree instead of compiling"},
    BG_OPTION_COLOR,
    BG_OPTIONS_END,
};

const bg_command bg_command_check = {
    .name = "check",
    .doc = "look for errors, run nothing",
    .usage = "[OPTION…] [FILE…]",
    .about = "Compiles in memory and reports every error and warning at its place. Exits with 2 if there is an error.\n"
             "`bgc explain CODE` tells more about one.\n",
    .example = "bgc check release.bgraph\n"
               "bgc check --format json *.bgraph\n",
    .options = options,
    .max_rest = (size_t)-1,
    .run = run,
};
