/* What is in the cache, read at once: see cache_records.h. */
#include "cache_records.h"

#include <string.h>

static bg_str copy_str(bg_arena *arena, bg_str s)
{
    const char *copy = bg_arena_strdup(arena, s.len == 0 ? "" : s.ptr, s.len);
    return (bg_str){copy, copy == NULL ? 0 : s.len};
}

static bool copy_arrays(bg_arena *arena, bg_cache_entry *to, const bg_cache_entry *from)
{
    bg_prefix *prefixes = BG_ARENA_ARRAY(arena, from->n_prefixes + 1, bg_prefix);
    to->outputs = BG_ARENA_ARRAY(arena, from->n_outputs + 1, bg_cache_output);
    if (prefixes == NULL || to->outputs == NULL)
        return false;
    for (size_t i = 0; i < from->n_prefixes; i++)
        prefixes[i] = (bg_prefix){copy_str(arena, from->prefixes[i].token), copy_str(arena, from->prefixes[i].path)};
    for (size_t i = 0; i < from->n_outputs; i++) {
        to->outputs[i] = from->outputs[i];
        to->outputs[i].name = copy_str(arena, from->outputs[i].name);
        to->outputs[i].path = copy_str(arena, from->outputs[i].path);
    }
    to->prefixes = prefixes;
    return true;
}

static bool collect(void *self, bg_status status, const bg_cache_entry *entry, const char *file)
{
    bg_cache_records *all = self;
    bg_cache_record one = {.status = status};
    one.file = bg_arena_strdup(&all->arena, file, strlen(file));
    if (status == BG_OK) {
        one.entry = *entry;
        one.entry.node = copy_str(&all->arena, entry->node);
        one.entry.label = copy_str(&all->arena, entry->label);
        one.entry.commit = copy_str(&all->arena, entry->commit);
        if (!copy_arrays(&all->arena, &one.entry, entry))
            all->failed = true;
    }
    if (one.file == NULL || !BG_VEC_PUSH(&all->records, one))
        all->failed = true;
    return !all->failed;
}

void bg_cache_records_clear(bg_cache_records *all)
{
    BG_VEC_CLEAR(&all->records);
    bg_arena_clear(&all->arena);
}

bg_status bg_cache_records_read(bg_cache_records *all, bg_cache *cache, bg_error *err)
{
    BG_TRY(bg_cache_list(cache, collect, all, err));
    return all->failed ? bg_error_set(err, BG_E_NOMEM, "out of memory while listing the cache") : BG_OK;
}
