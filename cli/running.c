/* From a command line to bg_run_options: see running.h. */
#include "running.h"

extern char **environ;

static bg_status fill_targets(bg_input *input, const bg_args *args, size_t first, bg_run_options *out, bg_error *err)
{
    size_t n = args->n_rest - first;
    bg_str *targets = BG_ARENA_ARRAY(&input->arena, n + 1, bg_str);
    if (targets == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory");
    for (size_t i = 0; i < n; i++)
        targets[i] = bg_str_of(args->rest[first + i]);
    out->targets = targets;
    out->n_targets = n;
    return BG_OK;
}

static bg_status fill_defines(bg_input *input, bg_run_options *out, bg_error *err)
{
    bg_define *defines = BG_ARENA_ARRAY(&input->arena, input->n_defines + 1, bg_define);
    if (defines == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory");
    for (size_t i = 0; i < input->n_defines; i++)
        defines[i] = (bg_define){input->defines[i].name, input->defines[i].value};
    out->defines = defines;
    out->n_defines = input->n_defines;
    return BG_OK;
}

static bg_status fill_cache(bg_input *input, const bg_args *args, bg_run_options *out, bg_error *err)
{
    if (bg_args_flag(args, "no-cache"))
        return BG_OK;
    BG_TRY(bg_cli_cache_dir(args, &input->arena, &out->cache_dir, err));
    if (out->cache_dir == NULL)
        bg_cli_warn("running without a cache: neither --cache, BGRAPH_CACHE, XDG_CACHE_HOME, HOME nor the user database says where it is");
    return BG_OK;
}

bg_status bg_running_begin(bg_input *input, const bg_args *args, bg_run_options *out, bg_error *err)
{
    size_t first = args->n_rest > 0 && bg_input_is_file(args->rest[0]) ? 1 : 0;
    BG_TRY(bg_input_find(input, first == 1 ? args->rest[0] : NULL, args, err));
    BG_TRY(bg_input_load(input, true, bg_cli_color(args, stderr), err));
    out->file = bg_str_of(input->file);
    out->root_dir = bg_str_of(input->root_dir);
    out->std_dir = input->std_dir;
    out->state_dir = bg_str_of(input->state_dir);
    out->environ_ = environ;
    out->jobs = (int)bg_args_number(args, "jobs", 0);
    if (out->jobs == 0)
        out->jobs = bg_cli_n_cpus();
    BG_TRY(fill_targets(input, args, first, out, err));
    BG_TRY(fill_defines(input, out, err));
    return fill_cache(input, args, out, err);
}
