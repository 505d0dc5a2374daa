/* One run from options to result: opening what it needs, in an order that lets a run with nothing to do stay cheap. */
#include <stdlib.h>
#include <string.h>

#include "exec/exec.h"

static int exit_class(bg_status status)
{
    static const int classes[] = {
#define BG_STATUS(name, cls, doc) cls,
#include "base/status.def"
#undef BG_STATUS
    };
    return (unsigned)status < BG_STATUS_COUNT ? classes[status] : 3;
}

static void waiting(void *self, long pid)
{
    bg_exec_message(self, 0, false, "waiting for another run of this file (process %ld) to end", pid);
}

static bg_status check_options(const bg_exec *x, bg_error *err)
{
    const bg_run_options *o = x->options;
    if (o->jobs < 1 || o->root_dir.len == 0 || o->root_dir.ptr[0] != '/' || o->state_dir.len == 0 ||
        o->state_dir.ptr[0] != '/')
        return bg_error_set(err, BG_E_USAGE, "a run needs at least one job slot and absolute directories");
    return BG_OK;
}

static bg_status make_tables(bg_exec *x, bg_error *err)
{
    const bg_graph *g = x->graph;
    x->nodes = BG_ARENA_ARRAY(&x->arena, (size_t)g->n_nodes + 1, bg_exec_node);
    x->products = BG_ARENA_ARRAY(&x->arena, (size_t)g->n_prods + 1, bg_exec_product);
    x->caches = BG_ARENA_ARRAY(&x->arena, (size_t)x->host->n_workers + 1, bg_cache *);
    bool ok = x->nodes != NULL && x->products != NULL && x->caches != NULL;
    for (int m = 0; m < BG_MODE_COUNT; m++) {
        x->param_values[m] = BG_ARENA_ARRAY(&x->arena, (size_t)g->n_params + 1, bg_value);
        x->env_values[m] = BG_ARENA_ARRAY(&x->arena, (size_t)g->n_envs + 1, bg_value);
        ok = ok && x->param_values[m] != NULL && x->env_values[m] != NULL;
    }
    if (!ok)
        return bg_error_set(err, BG_E_NOMEM, "out of memory");
    for (uint32_t i = 1; i < g->n_nodes; i++) {
        bg_exec_node *n = &x->nodes[i];
        n->id = i;
        n->name = bg_graph_str(g, g->nodes[i].name);
        n->deadline_ns = n->kill_ns = UINT64_MAX;
    }
    return BG_OK;
}

static bg_status open_state(bg_exec *x, bg_error *err)
{
    bg_error note = {0};
    char *dir = bg_arena_strdup(&x->arena, x->options->state_dir.ptr, x->options->state_dir.len);
    if (dir == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory");
    BG_TRY(bg_fs_mkdirs(dir, err));
    bg_status status = bg_state_open(&x->state, dir, waiting, x, &note);
    if (status != BG_OK) {
        if (err != NULL)
            *err = note;
        return status;
    }
    if (note.text[0] != '\0')
        bg_exec_message(x, 0, true, "%s", note.text);
    x->keyer = bg_keyer_new(x->state);
    return x->keyer == NULL ? bg_error_set(err, BG_E_NOMEM, "out of memory") : BG_OK;
}

static bg_status open_cache(bg_exec *x, bg_error *err)
{
    const bg_run_options *o = x->options;
    x->cache_on = o->cache_dir != NULL && !(o->no_cache_read && o->no_cache_write);
    x->cache_read = x->cache_on && !o->no_cache_read;
    x->cache_write = x->cache_on && !o->no_cache_write && !o->dry_run;
    bg_error why = {0};
    if (!x->cache_on || bg_exec_cache(x, x->host->n_workers, &why) != NULL)
        return BG_OK;
    return bg_error_set(err, why.status == BG_OK ? BG_E_IO : why.status, "cannot use the cache %s: %s", o->cache_dir,
                        why.text);
}

bg_status bg_exec_open(bg_exec *x, bg_error *err)
{
    bool found;
    BG_TRY(check_options(x, err));
    BG_TRY(make_tables(x, err));
    x->path_env = bg_exec_getenv(x, BG_STR("PATH"), &found);
    if (!found)
        x->path_env = BG_STR("/usr/local/bin:/usr/bin:/bin");
    BG_TRY(bg_exec_check_defines(x, err));
    BG_TRY(open_state(x, err));
    BG_TRY(open_cache(x, err));
    BG_TRY(bg_exec_layout(x, err));
    return bg_exec_load(x, err);
}

static void clear_nodes(bg_exec *x)
{
    for (uint32_t i = 1; x->nodes != NULL && i < x->graph->n_nodes; i++) {
        bg_exec_log_close(&x->nodes[i]);
        bg_exec_job_free(x->nodes[i].held);
        for (int s = 0; s < BG_STREAM_COUNT; s++)
            bg_buf_clear(&x->nodes[i].line[s]);
    }
}

bg_status bg_exec_close(bg_exec *x, bg_error *err)
{
    unsigned n_caches = x->host->n_workers + 1;
    x->host->free(x->host); /* first: workers may still use what follows */
    for (unsigned i = 0; x->caches != NULL && i < n_caches; i++) {
        if (x->caches[i] != NULL)
            bg_cache_close(x->caches[i]);
    }
    clear_nodes(x);
    bg_keyer_free(x->keyer);
    bg_status status = bg_state_close(x->state, err);
    BG_VEC_CLEAR(&x->touched);
    BG_VEC_CLEAR(&x->ready);
    BG_VEC_CLEAR(&x->running);
    BG_VEC_CLEAR(&x->tools);
    bg_arena_clear(&x->arena);
    return status;
}

static int exit_code(const bg_exec *x, bg_status status)
{
    if (x->interrupted || status == BG_E_INTERRUPTED)
        return 130;
    if (status != BG_OK)
        return exit_class(status);
    if (x->world_failed)
        return 3;
    if (x->usage_failed)
        return 2;
    return x->result->n_failed > 0 ? 1 : 0;
}

bg_status bg_exec_run(const bg_graph *graph, const bg_run_options *options, bg_host *host, bg_run_result *result,
                      bg_error *err)
{
    bg_exec x = {.graph = graph, .options = options, .host = host, .result = result};
    bg_error why = {0};
    *result = (bg_run_result){0};
    x.began_ns = host->now_ns(host);
    bg_exec_emit(&x, (bg_event){.kind = BG_EVENT_RUN_BEGIN, .text = options->file, .count = (uint64_t)options->jobs});
    bg_status status = bg_exec_open(&x, &why);
    if (status == BG_OK)
        status = options->dry_run ? bg_exec_dry_run(&x, &why) : bg_exec_schedule(&x, &why);
    result->exit_code = exit_code(&x, status);
    bg_exec_report_run_end(&x, result->exit_code);
    bg_error late = {0};
    bg_status closed = bg_exec_close(&x, &late);
    if (status == BG_OK && closed != BG_OK) {
        status = closed;
        why = late;
        result->exit_code = exit_class(closed);
    }
    if (status != BG_OK && err != NULL) {
        *err = why;
        err->status = status;
    }
    return status;
}

static unsigned worker_count(int jobs)
{
    return jobs < 1 ? 1 : jobs > 8 ? 8 : (unsigned)jobs;
}

bg_status bg_run(const bg_graph *graph, const bg_run_options *options, bg_run_result *result, bg_error *err)
{
    bg_error why = {0};
    *result = (bg_run_result){.exit_code = 3};
    bg_host *host = bg_host_posix_new(worker_count(options->jobs), &why);
    bg_run_options limited = *options;
    if (limited.jobs > 1 && (unsigned)limited.jobs > bg_host_posix_max_procs())
        limited.jobs = (int)bg_host_posix_max_procs(); /* else processes fail for want of pipes */
    if (host != NULL)
        return bg_exec_run(graph, &limited, host, result, err);
    if (err != NULL)
        *err = why;
    return why.status;
}
