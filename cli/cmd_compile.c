/* bgc compile: text to image. */
#include "input.h"

static int run(const bg_args *args)
{
    bg_input input = {0};
    bg_error err = {0};
    bg_status status = bg_input_find(&input, args->n_rest > 0 ? args->rest[0] : NULL, args, &err);
    if (status == BG_OK && input.is_image)
        status = bg_error_set(&err, BG_E_USAGE, "%s is compiled already", input.file);
    if (status == BG_OK)
        status = bg_input_load(&input, false, bg_cli_color(args, stderr), &err);
    const char *path = bg_args_text(args, "output");
    if (status == BG_OK && path == NULL) {
        path = bg_arena_printf(&input.arena, "%s/%s.bgb", input.root_dir, input.stem);
        if (path == NULL)
            status = bg_error_set(&err, BG_E_NOMEM, "out of memory");
    }
    int code = status == BG_OK ? bg_cli_put_to(path, &input.image) : bg_cli_fail(status, &err);
    bg_input_clear(&input);
    return code;
}

static const bg_option options[] = {
    BG_OPTION_O("the image (default: FILE with .bgb for .bgraph; -: standard output)"),
    BG_OPTION_D,
    BG_OPTION_COLOR,
    BG_OPTIONS_END,
};

const bg_command bg_command_compile = {
    .name = "compile",
    .doc = "compile a .bgraph file into a .bgb image",
    .usage = "[OPTION…] [FILE] [-o IMAGE]",
    .about = "Writes the bytecode image that `bgc run` takes instead of the text. The same text gives the same bytes. Paths in the\n"
             "image are relative to the directory of the image, so leave it beside the file it was made from.\n"
             "Params that decide the graph's shape are fixed by the -D given here; all others are read when it runs.\n",
    .example = "bgc compile release.bgraph\n"
               "bgc compile release.bgraph -o release.bgb -D bolt=false\n",
    .options = options,
    .max_rest = 1,
    .run = run,
};
