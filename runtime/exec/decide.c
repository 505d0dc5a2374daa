/* Whether a node must run: its preimage against the state's, its outputs' stamps, the cache. */
#include <string.h>

#include "exec/exec.h"

static bg_status outputs_from_entry(bg_exec_node *n)
{
    if (n->entry.n_outputs != n->n_outputs)
        return BG_E_CORRUPT;
    for (size_t i = 0; i < n->n_outputs; i++) {
        bool found = false;
        for (size_t k = 0; k < n->entry.n_outputs && !found; k++) {
            found = bg_str_eq(n->entry.outputs[k].name, n->outputs[i].name);
            if (found)
                n->outputs[i].digest = n->entry.outputs[k].digest;
        }
        if (!found)
            return BG_E_CORRUPT;
    }
    return BG_OK;
}

bool bg_exec_find_cached(bg_exec *x, bg_exec_node *n)
{
    bg_error why = {0};
    if (!x->cache_read || n->cache_failed || bg_exec_image(x, n)->no_cache != 0)
        return false;
    bg_cache *cache = bg_exec_cache(x, x->host->n_workers, &why);
    if (cache == NULL)
        return false;
    bg_status status =
        bg_cache_find(cache, &n->key, x->prefixes, x->n_prefixes, &x->arena, &n->entry, &why);
    if (status != BG_OK && (status != BG_E_NOENT || why.text[0] != '\0'))
        bg_exec_message(x, n->id, true, "%.*s: the cache could not be read, which counts as a miss: %s", BG_FMT(n->name),
                        why.text);
    n->is_cached = status == BG_OK && outputs_from_entry(n) == BG_OK;
    return n->is_cached;
}

static void have(bg_exec *x, bg_exec_node *n)
{
    n->state = BG_NODE_HAVE;
    n->has_result = true;
    bg_exec_touch(x, n->id);
    bg_exec_touch_consumers(x, n);
}

static void take_record(bg_exec *x, bg_exec_node *n)
{
    const bg_img_nodes *image = bg_exec_image(x, n);
    n->key = n->record.key;
    n->has_key = true;
    for (size_t i = 0; i < n->n_outputs; i++)
        n->outputs[i].digest = n->record.outputs[i];
    for (uint32_t i = 0; i < image->n_prods; i++)
        x->products[image->prods + i] = (bg_exec_product){true, n->record.products[i]};
    n->from_state = true;
    n->on_disk = n->record.materialized;
    have(x, n);
}

/* Another key, but the same outputs as those that lie here: nothing to unpack. */
static bool lies_here(bg_exec *x, const bg_exec_node *n)
{
    if (!n->record.present || !n->record.materialized)
        return false;
    for (size_t i = 0; i < n->n_outputs; i++) {
        if (!bg_digest_eq(&n->record.outputs[i], &n->outputs[i].digest))
            return false;
    }
    return bg_exec_record_fresh(x, n);
}

static bg_status take_cached(bg_exec *x, bg_exec_node *n, bg_error *err)
{
    n->on_disk = lies_here(x, n);
    /* What lies here is of another key: nobody must take it for this one's. */
    if (!n->on_disk && n->record.present && n->record.materialized && !x->options->dry_run) {
        const char *dir = bg_exec_text(x, "%.*s", BG_FMT(n->out_dir)).ptr;
        BG_TRY(bg_fs_remove(dir, err));
    }
    BG_TRY(bg_exec_set_products(x, n, err));
    BG_TRY(bg_exec_record_save(x, n, err));
    have(x, n);
    return BG_OK;
}

static bg_status decide(bg_exec *x, bg_exec_node *n, bg_error *err)
{
    BG_TRY(bg_exec_preimage(x, n, err));
    BG_TRY(bg_exec_record_load(x, n));
    bool same = n->record.present && bg_str_eq(n->record.preimage, n->preimage);
    if (same && (!n->record.materialized ? n->reason.len == 0 : bg_exec_record_fresh(x, n))) {
        take_record(x, n);
        return BG_OK;
    }
    if (n->reason.len == 0) {
        if (!n->record.present)
            n->reason = BG_STR("first run");
        else if (same)
            n->reason = BG_STR("output missing or changed");
        else
            n->reason = bg_exec_difference(x, n->record.preimage, n->preimage);
    }
    BG_TRY(bg_exec_key(n, err));
    if (bg_exec_find_cached(x, n))
        return take_cached(x, n, err);
    n->state = BG_NODE_NEED;
    bg_exec_touch(x, n->id);
    return BG_OK;
}

void bg_exec_decide(bg_exec *x, bg_exec_node *n)
{
    bg_error why = {0};
    bg_status status = decide(x, n, &why);
    if (status == BG_OK)
        return;
    why.status = status;
    bg_exec_world_failed(x, n, &why);
}
