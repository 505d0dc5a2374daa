#include "cache/relocate.h"

enum { MAX_SHEBANG = 127 /* what Linux reads of a script's first line, "#!" included */ };

static bg_status nomem(bg_error *err)
{
    return bg_error_set(err, BG_E_NOMEM, "out of memory while relocating");
}

bg_status bg_moves(const bg_index *index, const bg_prefix *prefixes, size_t n_prefixes, bg_arena *arena,
                   const bg_move **out, bg_error *err)
{
    bg_move *moves = BG_ARENA_ARRAY(arena, index->n_prefixes + 1u, bg_move);
    if (moves == NULL)
        return nomem(err);
    for (uint32_t i = 0; i < index->n_prefixes; i++) {
        moves[i].from = index->prefixes[i].path;
        for (size_t k = 0; k < n_prefixes; k++) {
            if (bg_str_eq(prefixes[k].token, index->prefixes[i].token))
                moves[i].to = prefixes[k].path;
        }
    }
    *out = moves;
    return BG_OK;
}

static bg_status too_long(const bg_index_member *m, const bg_hit *h, const bg_move *move, bg_error *err)
{
    return bg_error_set(err, BG_E_RELOCATE,
                        "%.*s can't be moved here: the %s at byte %llu has room for %u bytes of \"%.*s\", and \"%.*s\" needs "
                        "%zu. Build below a longer prefix (`pad` in `relocate`), or restore to a shorter path.",
                        BG_FMT(m->path), bg_place_names[h->kind], (unsigned long long)h->offset, h->len,
                        (int)(move->from.len > 120 ? 120 : move->from.len), move->from.ptr,
                        (int)(move->to.len > 120 ? 120 : move->to.len), move->to.ptr, move->to.len);
}

static bg_status check_shebang(const bg_index_member *m, const bg_hit *h, uint64_t grown, uint64_t shrunk, bg_error *err)
{
    uint64_t line = h->end - h->start + grown - shrunk;
    if (line <= MAX_SHEBANG || grown <= shrunk)
        return BG_OK;
    return bg_error_set(err, BG_E_RELOCATE,
                        "%.*s can't be moved here: its first line (#!) would have %llu bytes, and the kernel reads %d. Restore to a "
                        "shorter path.",
                        BG_FMT(m->path), (unsigned long long)line, MAX_SHEBANG);
}

/* The RPATH whose last place is hits[i]: the whole string may be used; what is saved becomes NULs at its end. */
static bg_status end_rpath(const bg_index_member *m, const bg_hit *h, const bg_move *move, uint64_t grown, uint64_t shrunk,
                           bg_edit *out, uint32_t *n, bg_error *err)
{
    if (grown > shrunk)
        return too_long(m, h, move, err);
    if (shrunk > grown)
        out[(*n)++] = (bg_edit){h->end, 0, shrunk - grown, '\0', {"", 0}};
    return BG_OK;
}

static bool same_string(const bg_hit *a, const bg_hit *b)
{
    return a->kind == b->kind && a->start == b->start && a->end == b->end;
}

bg_status bg_edits(const bg_index_member *member, const bg_move *moves, bg_arena *arena, bg_edit **out, uint32_t *n_edits,
                   bg_error *err)
{
    *n_edits = 0;
    *out = NULL;
    bool any = false;
    for (uint32_t i = 0; i < member->n_hits && !any; i++)
        any = !bg_str_eq(moves[member->hits[i].prefix].from, moves[member->hits[i].prefix].to);
    if (!any)
        return BG_OK;
    bg_edit *edits = BG_ARENA_ARRAY(arena, (size_t)member->n_hits * 2 + 1, bg_edit);
    if (edits == NULL)
        return nomem(err);
    uint32_t n = 0;
    uint64_t grown = 0, shrunk = 0; /* within the string that is at work */
    for (uint32_t i = 0; i < member->n_hits; i++) {
        const bg_hit *h = &member->hits[i];
        const bg_move *move = &moves[h->prefix];
        if (move->to.ptr == NULL)
            return bg_error_set(err, BG_E_RELOCATE, "%.*s holds the path \"%.*s\", for which this place has no counterpart",
                                BG_FMT(member->path), BG_FMT(move->from));
        if (i == 0 || !same_string(h, h - 1))
            grown = shrunk = 0;
        if (move->to.len > h->len)
            grown += move->to.len - h->len;
        else
            shrunk += h->len - move->to.len;
        bool last = i + 1 == member->n_hits || !same_string(h, h + 1);
        bool fixed = h->kind == BG_PLACE_STRING || h->kind == BG_PLACE_INTERP;
        if (fixed && move->to.len > h->len)
            return too_long(member, h, move, err);
        edits[n++] = (bg_edit){h->offset, h->len, fixed ? h->len - move->to.len : 0, '/', move->to};
        if (last && h->kind == BG_PLACE_SHEBANG)
            BG_TRY(check_shebang(member, h, grown, shrunk, err));
        if (last && h->kind == BG_PLACE_RPATH)
            BG_TRY(end_rpath(member, h, move, grown, shrunk, edits, &n, err));
    }
    *out = edits;
    *n_edits = n;
    return BG_OK;
}

uint64_t bg_edited_size(uint64_t size, const bg_edit *edits, uint32_t n_edits)
{
    for (uint32_t i = 0; i < n_edits; i++)
        size = size - edits[i].skip + edits[i].n_pad + edits[i].text.len;
    return size;
}
