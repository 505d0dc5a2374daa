/* Results on their way out of and into the cache: restoring, publishing, and taking back what turned out to be unusable. */
#include "exec/exec.h"

/* ---- results that turned out to be unusable ---- */

/* What was decided on this node's digests is decided again. Nodes that run go on: they are checked when they end. */
static void forget_consumers(bg_exec *x, const bg_exec_node *first)
{
    BG_VEC(uint32_t) todo = {0};
    bool ok = BG_VEC_PUSH(&todo, first->id);
    while (ok && todo.n > 0) {
        const bg_exec_node *n = &x->nodes[todo.at[--todo.n]];
        for (size_t i = 0; i < n->n_consumers && ok; i++) {
            bg_exec_node *c = &x->nodes[n->consumers[i]];
            bool early = c->state == BG_NODE_NEED || c->state == BG_NODE_READY || c->state == BG_NODE_HAVE;
            if (!early || c->is_reported)
                continue;
            const bg_img_nodes *image = bg_exec_image(x, c);
            for (uint32_t p = 0; p < image->n_prods; p++)
                x->products[image->prods + p].known = false;
            c->state = BG_NODE_WAIT;
            c->has_result = c->is_cached = c->from_state = c->on_disk = false;
            bg_exec_touch(x, c->id);
            ok = BG_VEC_PUSH(&todo, c->id);
        }
    }
    BG_VEC_CLEAR(&todo);
    if (!ok)
        x->fatal = bg_error_set(&x->fatal_error, BG_E_NOMEM, "out of memory");
}

void bg_exec_run_again(bg_exec *x, bg_exec_node *n, bg_exec_state state, bg_str reason)
{
    const bg_img_nodes *image = bg_exec_image(x, n);
    for (uint32_t p = 0; p < image->n_prods; p++)
        x->products[image->prods + p].known = false;
    n->state = state;
    n->reason = reason;
    n->has_result = n->is_cached = n->from_state = n->on_disk = false;
    forget_consumers(x, n);
    bg_exec_touch(x, n->id);
}

/* ---- restoring ---- */

void bg_exec_request_restore(bg_exec *x, bg_exec_node *n)
{
    bg_error why = {0};
    if (n->is_restoring || x->stop)
        return;
    if (!n->is_cached && !bg_exec_find_cached(x, n)) {
        bg_exec_run_again(x, n, BG_NODE_NEED, BG_STR("its outputs are neither here nor in the cache"));
        return;
    }
    if (bg_fs_mkdirs_parent(n->out_dir.ptr, &why) != BG_OK || bg_exec_submit_restore(x, n, &why) != BG_OK)
        bg_exec_world_failed(x, n, &why);
    else
        n->is_restoring = true;
}

static bool is_miss(bg_status status)
{
    return status == BG_E_CORRUPT || status == BG_E_RELOCATE || status == BG_E_UNSAFE || status == BG_E_NOENT ||
           status == BG_E_VERSION;
}

static void restore_failed(bg_exec *x, bg_exec_node *n, const bg_exec_job *job)
{
    if (!is_miss(job->status)) {
        bg_exec_world_failed(x, n, &job->error);
        return;
    }
    bg_exec_message(x, n->id, true, "%.*s: its cached output can't be used, so it runs: %s", BG_FMT(n->name),
                    job->error.text);
    n->cache_failed = true;
    bg_exec_run_again(x, n, BG_NODE_NEED, BG_STR("its cached output can't be used"));
}

void bg_exec_restored(bg_exec *x, bg_exec_job *job)
{
    bg_exec_node *n = job->node;
    bg_error why = {0};
    n->is_restoring = false;
    if (n->state != BG_NODE_HAVE) {
        bg_exec_touch(x, n->id);
        return;
    }
    if (job->status != BG_OK) {
        restore_failed(x, n, job);
        return;
    }
    n->on_disk = n->was_restored = true;
    bg_exec_emit(x, (bg_event){.kind = BG_EVENT_RESTORE,
                               .node = n->id,
                               .duration_ns = job->took_ns,
                               .bytes = job->entry.size_bytes});
    if (bg_exec_link_out(x, n, &why) != BG_OK || bg_exec_record_save(x, n, &why) != BG_OK) {
        bg_exec_world_failed(x, n, &why);
        return;
    }
    bg_exec_touch(x, n->id);
    bg_exec_touch_consumers(x, n);
}

/* ---- publishing ---- */

/* An input that changed while the node ran: nobody knows which content its outputs are of. */
static const bg_exec_input *changed_input(bg_exec *x, const bg_exec_node *n)
{
    for (size_t i = 0; i < n->n_inputs; i++) {
        const bg_exec_input *in = &n->inputs[i];
        bool same = false;
        if (bg_key_unchanged(x->keyer, in->is_git, in->abs_dir, in->rel, &in->digest, &same, NULL) != BG_OK || !same)
            return in;
    }
    return NULL;
}

static void store(bg_exec *x, bg_exec_node *n)
{
    bg_error why = {0};
    if (!x->cache_write || bg_exec_image(x, n)->no_cache != 0)
        return;
    n->is_storing = bg_exec_submit_store(x, n, &why) == BG_OK;
    if (!n->is_storing)
        bg_exec_message(x, n->id, true, "%.*s: not stored in the cache: %s", BG_FMT(n->name), why.text);
}

static void done(bg_exec *x, bg_exec_node *n)
{
    n->state = BG_NODE_DONE;
    bg_exec_report_end(x, n, BG_OUTCOME_RAN, (bg_str){"", 0});
    bg_exec_touch_consumers(x, n);
}

/* Rules that forbid what they do not cover make storing part of succeeding. */
static bool must_store(const bg_exec_node *n)
{
    return n->is_storing && (n->rule.survivors == BG_SURVIVORS_DENY || n->rule.longer == BG_LONGER_DENY);
}

void bg_exec_finish(bg_exec *x, bg_exec_node *n)
{
    bg_error why = {0};
    const bg_exec_input *changed = changed_input(x, n);
    n->is_stored = true;
    if (bg_fs_remove(n->work_dir.ptr, &why) != BG_OK)
        bg_exec_message(x, n->id, true, "%.*s: cannot clean up its work directory: %s", BG_FMT(n->name), why.text);
    bg_exec_duration_save(x, n);
    if (changed != NULL) {
        bg_keyer_forget(x->keyer, changed->path);
        bg_exec_message(x, n->id, true,
                        "%.*s: %.*s changed while it ran, so its outputs are not stored and it runs again next time",
                        BG_FMT(n->name), BG_FMT(changed->path));
    } else if (bg_exec_record_save(x, n, &why) != BG_OK) {
        bg_exec_world_failed(x, n, &why);
        return;
    } else {
        store(x, n);
    }
    if (!must_store(n))
        done(x, n);
}

void bg_exec_stored(bg_exec *x, bg_exec_job *job)
{
    bg_exec_node *n = job->node;
    bool deny = must_store(n) && n->state == BG_NODE_PROVISIONAL;
    n->is_storing = false;
    if (job->status == BG_OK)
        bg_exec_emit(x, (bg_event){.kind = BG_EVENT_STORE,
                                   .node = n->id,
                                   .duration_ns = job->took_ns,
                                   .bytes = job->entry.packed_bytes});
    if (deny && job->status == BG_E_RELOCATE) {
        if (bg_exec_record_drop(x, n, NULL) != BG_OK)
            x->world_failed = true;
        bg_exec_discard(x, n);
        bg_exec_bad(x, n, BG_OUTCOME_FAILED, bg_exec_text(x, "%s", job->error.text));
        return;
    }
    if (job->status != BG_OK)
        bg_exec_message(x, n->id, true, "%.*s: not stored in the cache: %s", BG_FMT(n->name), job->error.text);
    if (job->status == BG_E_NOSPACE || job->status == BG_E_ACCESS)
        x->cache_write = false;
    if (deny)
        done(x, n);
}
