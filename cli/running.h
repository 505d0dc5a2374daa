/** What `run` and `plan` share: from a command line to bg_run_options. One thread. */
#ifndef BGC_RUNNING_H
#define BGC_RUNNING_H

#include "bgraph/run.h"
#include "input.h"

/** Options that both commands take; a table that begins with them is closed by BG_OPTIONS_END. */
#define BG_OPTIONS_RUNNING                                                                                         \
    {BG_OPTION_NUMBER, 'j', "jobs", "N", NULL, "job slots (default: the CPUs this process may use)"}, BG_OPTION_D, \
        {BG_OPTION_FLAG, 0, "no-cache", NULL, NULL, "neither read nor fill the cache"}, BG_OPTION_CACHE, BG_OPTION_COLOR

/** Find and load the graph that args->rest begins with, the remaining arguments are targets, and fill `out`. What `out` points at
 *  lives in input->arena. */
BG_MUST_USE bg_status bg_running_begin(bg_input *input, const bg_args *args, bg_run_options *out, bg_error *err);

#endif
