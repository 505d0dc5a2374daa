/** Running a graph: plan (keys), schedule, execute, publish. One call a run; not reentrant within a process (it owns SIGINT,
 *  SIGTERM and SIGCHLD handling while it runs). */
#ifndef BGRAPH_RUN_H
#define BGRAPH_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/str.h"
#include "bgraph/event.h"
#include "bgraph/image.h"

typedef struct {
    bg_str name, value;
} bg_define;

typedef struct {
    bg_str file;      /* the graph's file as the person named it, for messages */
    bg_str root_dir;  /* absolute real path: directory of the root file */
    bg_str std_dir;   /* absolute: directory that holds std modules (std/NAME -> std_dir/NAME.bgraph) */
    bg_str state_dir; /* absolute: <root_dir>/.bgraph/<stem>; made if missing. Below it: out/ work/ log/ state.mdb */
    const char *cache_dir; /* NULL: no cache */
    const bg_str *targets; /* qualified node or group names; none: the file's defaults, else all nodes */
    size_t n_targets;
    const bg_define *defines; /* -D; baked ones were already handled by the compiler and are checked again */
    size_t n_defines;
    char *const *environ_;    /* NAME=value …, ended by NULL: the caller's environment */
    int jobs;                 /* at least 1 */
    bool keep_going, dry_run, fresh_log;
    bool no_cache_read, no_cache_write;
    bg_sink *const *sinks;
    size_t n_sinks;
} bg_run_options;

typedef struct {
    int exit_code; /* 0 done, 1 an action failed, 2 wrong use, 3 the world failed, 130 interrupted */
    uint32_t n_ran, n_up_to_date, n_cached, n_restored, n_failed, n_other;
} bg_run_result;

/** Returns BG_OK when the run came to its end, whatever the outcome (result->exit_code tells); otherwise why it could not
 *  start or go on, and result->exit_code is set to match. dry_run: reports each command through COMMAND events, starts
 *  nothing but tools' version commands, writes nothing but state. */
BG_MUST_USE bg_status bg_run(const bg_graph *graph, const bg_run_options *options, bg_run_result *result, bg_error *err);

/** The plan only: what would run, as JSON (nodes with key, state, argv, env, inputs, products). */
BG_MUST_USE bg_status bg_plan_json(const bg_graph *graph, const bg_run_options *options, bg_buf *out, bg_error *err);

#endif
