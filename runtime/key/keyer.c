#include "key/keyer.h"

#include <stdlib.h>
#include <string.h>

bg_keyer *bg_keyer_new(bg_state *state)
{
    bg_keyer *keyer = calloc(1, sizeof *keyer);
    if (keyer != NULL)
        keyer->state = state;
    return keyer;
}

void bg_keyer_free(bg_keyer *keyer)
{
    if (keyer == NULL)
        return;
    bg_git_contexts_free(keyer->git);
    bg_strpool_clear(&keyer->pool);
    bg_arena_clear(&keyer->arena);
    free(keyer->seen);
    free(keyer);
}

static bg_status no_memory(bg_error *err)
{
    return bg_error_set(err, BG_E_NOMEM, "out of memory while keys were made");
}

static bg_str trim_slashes(bg_str path)
{
    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    return path;
}

/* `path` at or below `dir`. */
static bool is_at_or_below(bg_str path, bg_str dir)
{
    if (!bg_str_starts(path, dir))
        return false;
    return path.len == dir.len || path.ptr[dir.len] == '/' || bg_str_is(dir, "/");
}

void bg_keyer_forget(bg_keyer *keyer, bg_str abs_path)
{
    bg_str path = trim_slashes(abs_path);
    for (uint32_t i = 1; i < keyer->n_seen; i++) {
        bg_seen *s = &keyer->seen[i];
        /* Above it counts too: a directory's digest covers what is below. For git, rel narrows abs; abs alone may only
         * forget too much, which costs an lstat an entry. */
        if (s->is_valid && (is_at_or_below(s->abs, path) || is_at_or_below(path, s->abs)))
            s->is_valid = false;
    }
}

/* Place of (is_git, abs, rel) in `seen`; 0: memory is out. */
static uint32_t place_of(bg_keyer *keyer, bool is_git, bg_str abs, bg_str rel)
{
    bg_buf name = {0};
    bg_buf_putc(&name, is_git ? 'g' : 'p');
    bg_buf_str(&name, abs);
    bg_buf_putc(&name, '\0');
    bg_buf_str(&name, rel);
    uint32_t id = name.failed ? 0 : bg_strpool_intern(&keyer->pool, bg_buf_view(&name));
    bg_buf_clear(&name);
    if (id == 0)
        return 0;
    if (id >= keyer->cap_seen) {
        uint32_t cap = id < 32 ? 64 : id * 2;
        bg_seen *at = realloc(keyer->seen, cap * sizeof *at);
        if (at == NULL)
            return 0;
        memset(at + keyer->cap_seen, 0, (cap - keyer->cap_seen) * sizeof *at);
        keyer->seen = at;
        keyer->cap_seen = cap;
    }
    if (id >= keyer->n_seen)
        keyer->n_seen = id + 1;
    bg_seen *s = &keyer->seen[id];
    if (s->abs.ptr == NULL) {
        *s = (bg_seen){.is_git = is_git};
        s->abs = (bg_str){bg_arena_strdup(&keyer->arena, abs.ptr, abs.len), abs.len};
        s->rel = (bg_str){bg_arena_strdup(&keyer->arena, rel.len == 0 ? "" : rel.ptr, rel.len), rel.len};
        if (s->rel.ptr == NULL)
            s->abs.ptr = NULL;
    }
    return s->abs.ptr == NULL ? 0 : id;
}

static bg_status compute(bg_keyer *keyer, const bg_seen *s, bg_digest *out, bg_error *err)
{
    return s->is_git ? bg_git_digest(keyer, s->abs.ptr, s->rel, out, err) : bg_tree_digest(keyer, s->abs.ptr, out, err);
}

static bg_status key_of(bg_keyer *keyer, bool is_git, bg_str abs, bg_str rel, bg_digest *out, bg_error *err)
{
    abs = trim_slashes(abs);
    if (abs.len == 0 || abs.ptr[0] != '/' || memchr(abs.ptr, '\0', abs.len) != NULL)
        return bg_error_set(err, BG_E_USAGE, "\"%.*s\" is not an absolute path", BG_FMT(abs));
    uint32_t id = place_of(keyer, is_git, abs, rel);
    if (id == 0)
        return no_memory(err);
    if (!keyer->seen[id].is_valid) {
        bg_seen s = keyer->seen[id];
        BG_TRY(compute(keyer, &s, &s.digest, err));
        s.is_valid = true;
        keyer->seen[id] = s;
    }
    *out = keyer->seen[id].digest;
    return BG_OK;
}

bg_status bg_key_path(bg_keyer *keyer, bg_str abs_path, bg_digest *out, bg_error *err)
{
    return key_of(keyer, false, abs_path, BG_STR(""), out, err);
}

bg_status bg_key_git(bg_keyer *keyer, bg_str abs_dir, bg_str rel, bg_digest *out, bg_error *err)
{
    return key_of(keyer, true, abs_dir, rel, out, err);
}

/* Gone, or being written just now: both mean that it is not what it was. */
static bg_status compare(bg_keyer *keyer, const bg_seen *s, const bg_digest *was, bool *same, bg_error *err)
{
    bg_digest now;
    bg_status status = compute(keyer, s, &now, err);
    *same = status == BG_OK && bg_digest_eq(&now, was);
    return status == BG_E_NOENT || status == BG_E_CHANGED ? BG_OK : status;
}

bg_status bg_key_unchanged(bg_keyer *keyer, bool is_git, bg_str abs_dir, bg_str rel, const bg_digest *was, bool *same,
                           bg_error *err)
{
    *same = false;
    uint32_t id = place_of(keyer, is_git, trim_slashes(abs_dir), rel);
    if (id == 0)
        return no_memory(err);
    bg_seen s = keyer->seen[id];
    BG_TRY(compare(keyer, &s, was, same, err));
    if (!*same)
        keyer->seen[id].is_valid = false;
    return BG_OK;
}

bg_status bg_key_recheck(bg_keyer *keyer, bool *same, bg_str *changed_path, bg_error *err)
{
    *same = true;
    *changed_path = (bg_str){NULL, 0};
    for (uint32_t i = 1; i < keyer->n_seen && *same; i++) {
        bg_seen s = keyer->seen[i];
        if (!s.is_valid)
            continue;
        BG_TRY(compare(keyer, &s, &s.digest, same, err));
        if (!*same) {
            keyer->seen[i].is_valid = false;
            *changed_path = s.abs;
        }
    }
    return BG_OK;
}

bg_status bg_keyer_manifest(bg_keyer *keyer, bg_str name, bg_buf *copy, bg_error *err)
{
    bg_str value;
    bg_buf_reset(copy);
    if (keyer->state == NULL || bg_state_get(keyer->state, BG_STATE_STAMP, name, &value) != BG_OK)
        return BG_OK; /* a state that can't be read only costs time here */
    bg_buf_str(copy, value);
    return copy->failed ? no_memory(err) : BG_OK;
}

bg_status bg_keyer_remember(bg_keyer *keyer, bg_str name, const bg_buf *manifest, bg_error *err)
{
    if (keyer->state == NULL)
        return BG_OK;
    return bg_state_put(keyer->state, BG_STATE_STAMP, name, bg_buf_view(manifest), err);
}
