/* What worker threads do for a run: digest outputs, store them in the cache, restore them. A job is filled on the scheduler's
 * thread, touched by one worker, and read again when it comes back. */
#include <stdlib.h>
#include <string.h>

#include "exec/exec.h"

bg_cache *bg_exec_cache(bg_exec *x, unsigned worker, bg_error *err)
{
    if (!x->cache_on) {
        bg_error_set(err, BG_E_USAGE, "no cache is used");
        return NULL;
    }
    if (x->caches[worker] == NULL && bg_cache_open(&x->caches[worker], x->options->cache_dir, err) != BG_OK)
        return NULL;
    return x->caches[worker];
}

static void restore(bg_exec_job *j, unsigned worker)
{
    bg_cache *cache = bg_exec_cache(j->x, worker, &j->error);
    j->status = cache == NULL ? j->error.status
                              : bg_cache_restore(cache, &j->entry, j->node->out_dir, j->x->prefixes, j->x->n_prefixes,
                                                 &j->error);
}

static void store(bg_exec_job *j, unsigned worker)
{
    bg_cache *cache = bg_exec_cache(j->x, worker, &j->error);
    j->status = cache == NULL ? j->error.status : bg_cache_store(cache, &j->store, &j->arena, &j->entry, &j->error);
}

static void run(void *arg, unsigned worker)
{
    bg_exec_job *j = arg;
    uint64_t began = j->x->host->now_ns(j->x->host);
    switch (j->kind) {
    case BG_JOB_DIGEST:
    case BG_JOB_EARLY:
        j->status = bg_cache_digest(j->node->out_dir, j->x->prefixes, j->x->n_prefixes, &j->node->rule, j->outputs,
                                    j->n_outputs, &j->error);
        break;
    case BG_JOB_STORE:
        store(j, worker);
        break;
    case BG_JOB_RESTORE:
        restore(j, worker);
        break;
    }
    j->took_ns = j->x->host->now_ns(j->x->host) - began;
}

void bg_exec_job_free(bg_exec_job *job)
{
    if (job == NULL)
        return;
    bg_arena_clear(&job->arena);
    free(job->outputs);
    free(job);
}

static bg_exec_job *new_job(bg_exec *x, bg_exec_node *n, bg_exec_job_kind kind, const bg_cache_output *outputs,
                            size_t n_outputs, bg_error *err)
{
    bg_exec_job *j = calloc(1, sizeof *j);
    bg_cache_output *copy = calloc(n_outputs + 1, sizeof *copy);
    if (j == NULL || copy == NULL) {
        free(j);
        free(copy);
        bg_error_set(err, BG_E_NOMEM, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < n_outputs; i++)
        copy[i] = outputs[i];
    *j = (bg_exec_job){
        .kind = kind, .x = x, .node = n, .attempt = n->attempt, .outputs = copy, .n_outputs = n_outputs};
    return j;
}

static bg_status submit(bg_exec *x, bg_exec_job *j, bg_error *err)
{
    bg_status status = x->host->submit(x->host, run, j, err);
    if (status != BG_OK)
        bg_exec_job_free(j);
    else
        x->n_jobs++;
    return status;
}

bg_status bg_exec_submit_digest(bg_exec *x, bg_exec_node *n, bg_error *err)
{
    bg_exec_job *j = new_job(x, n, BG_JOB_DIGEST, n->outputs, n->n_outputs, err);
    if (j == NULL)
        return BG_E_NOMEM;
    BG_TRY(submit(x, j, err));
    n->n_jobs++;
    return BG_OK;
}

bg_status bg_exec_submit_early(bg_exec *x, bg_exec_node *n, size_t output, bg_error *err)
{
    bg_exec_job *j = new_job(x, n, BG_JOB_EARLY, &n->outputs[output], 1, err);
    if (j == NULL)
        return BG_E_NOMEM;
    j->product = x->graph->outs[bg_exec_image(x, n)->outs + output].prod;
    BG_TRY(submit(x, j, err));
    n->n_jobs++;
    return BG_OK;
}

/* HEAD of the first git source that the node reads, for `cache ls --commit`. */
static bg_str commit_of(bg_exec *x, const bg_exec_node *n)
{
    for (size_t i = 0; i < n->n_inputs; i++) {
        bg_str commit = {0};
        if (n->inputs[i].is_git &&
            bg_key_git_commit(x->keyer, n->inputs[i].abs_dir, &x->arena, &commit, NULL) == BG_OK)
            return commit;
    }
    return (bg_str){"", 0};
}

bg_status bg_exec_submit_store(bg_exec *x, bg_exec_node *n, bg_error *err)
{
    bg_exec_job *j = new_job(x, n, BG_JOB_STORE, n->outputs, n->n_outputs, err);
    if (j == NULL)
        return BG_E_NOMEM;
    j->store = (bg_cache_store_request){.key = n->key,
                                        .node = n->name,
                                        .label = bg_graph_str(x->graph, bg_exec_image(x, n)->label),
                                        .commit = commit_of(x, n),
                                        .wall_ns = n->ended_ns - n->began_ns,
                                        .dir = n->out_dir,
                                        .prefixes = x->prefixes,
                                        .n_prefixes = x->n_prefixes,
                                        .rule = &n->rule,
                                        .outputs = j->outputs,
                                        .n_outputs = j->n_outputs,
                                        .has_digests = true};
    return submit(x, j, err);
}

bg_status bg_exec_submit_restore(bg_exec *x, bg_exec_node *n, bg_error *err)
{
    bg_exec_job *j = new_job(x, n, BG_JOB_RESTORE, NULL, 0, err);
    if (j == NULL)
        return BG_E_NOMEM;
    j->entry = n->entry;
    return submit(x, j, err);
}

bg_status bg_exec_product_digest(bg_exec *x, const bg_exec_node *n, uint32_t prod, bg_digest *out, bg_error *err)
{
    const bg_img_nodes *image = bg_exec_image(x, n);
    bool is_link = prod == image->prods;
    bg_sha256 sha = {0};
    BG_TRY(bg_sha256_init(&sha, err));
    bg_sha256_update(&sha, "bgraph product 1", 17);
    for (size_t i = 0; i < n->n_outputs; i++) {
        if (!is_link && x->graph->outs[image->outs + i].prod != prod)
            continue;
        const bg_cache_output *o = &n->outputs[i];
        bg_sha256_update(&sha, o->name.ptr, o->name.len);
        bg_sha256_update(&sha, o->is_dir ? "\0d" : "\0f", 2);
        bg_sha256_update(&sha, o->path.ptr, o->path.len);
        bg_sha256_update(&sha, "", 1);
        bg_sha256_update(&sha, o->digest.b, sizeof o->digest.b);
    }
    *out = bg_sha256_final(&sha);
    return BG_OK;
}

bg_status bg_exec_set_products(bg_exec *x, bg_exec_node *n, bg_error *err)
{
    const bg_img_nodes *image = bg_exec_image(x, n);
    for (uint32_t i = 0; i < image->n_prods; i++) {
        bg_exec_product *p = &x->products[image->prods + i];
        BG_TRY(bg_exec_product_digest(x, n, image->prods + i, &p->digest, err));
        p->known = true;
    }
    n->has_result = true;
    return BG_OK;
}
