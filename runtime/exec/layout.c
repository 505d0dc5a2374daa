/* Where things lie: output, work and log directories, the directories of files and sources, and the token of each. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "exec/exec.h"

static bg_status out_of_memory(bg_error *err)
{
    return bg_error_set(err, BG_E_NOMEM, "out of memory");
}

/* Names become directories that are cleared: nothing in an image may lead outside. */
static bool is_safe(bg_str name)
{
    size_t begin = 0;
    if (name.len == 0 || name.len > 1000 || memchr(name.ptr, '\0', name.len) != NULL)
        return false;
    for (size_t i = 0; i <= name.len; i++) {
        if (i < name.len && name.ptr[i] != '/')
            continue;
        bg_str part = {name.ptr + begin, i - begin};
        if (part.len == 0 || bg_str_is(part, ".") || bg_str_is(part, ".."))
            return false;
        begin = i + 1;
    }
    return true;
}

static bg_status add_prefix(bg_exec *x, bg_str token, bg_str path)
{
    for (size_t i = 0; i < x->n_prefixes; i++) {
        if (bg_str_eq(x->prefixes[i].path, path) || bg_str_eq(x->prefixes[i].token, token))
            return BG_OK;
    }
    x->prefixes[x->n_prefixes++] = (bg_prefix){token, path};
    return BG_OK;
}

static bg_str in_arena(bg_exec *x, const char *text)
{
    return text == NULL ? (bg_str){NULL, 0} : bg_str_of(bg_arena_strdup(&x->arena, text, strlen(text)));
}

/* Real path of `base`/`rel` (or of an absolute rel); as written where it does not exist. */
static bg_str real_path(bg_exec *x, bg_str base, bg_str rel)
{
    char *joined = rel.len > 0 && rel.ptr[0] == '/'
                       ? bg_arena_strdup(&x->arena, rel.ptr, rel.len)
                       : bg_arena_printf(&x->arena, "%.*s/%.*s", BG_FMT(base), BG_FMT(rel));
    if (joined == NULL)
        return (bg_str){NULL, 0};
    char *resolved = realpath(joined, NULL);
    bg_str s = in_arena(x, resolved == NULL ? joined : resolved);
    free(resolved);
    while (s.len > 1 && s.ptr[s.len - 1] == '/')
        s.len--;
    return s;
}

static bg_str dir_of(bg_str path)
{
    while (path.len > 0 && path.ptr[path.len - 1] != '/')
        path.len--;
    return path.len == 0 ? path : (bg_str){path.ptr, path.len - 1};
}

static bool leaves_root(bg_str rel)
{
    return rel.len > 0 && !is_safe(rel);
}

static bg_status token_path(bg_exec *x, const char *token, bg_str rest, bg_str *out, bg_error *err)
{
    const char *s = rest.len == 0 ? bg_arena_printf(&x->arena, "\1%s\2", token)
                                  : bg_arena_printf(&x->arena, "\1%s\2/%.*s", token, BG_FMT(rest));
    *out = bg_str_of(s);
    return s == NULL ? out_of_memory(err) : BG_OK;
}

/* Files below the root file's directory are named from there; one outside has a token of its own. */
static bg_status outside_dir(bg_exec *x, bg_str path, bg_exec_mode mode, bg_str *out, bg_error *err)
{
    if (mode == BG_MODE_RUN) {
        *out = real_path(x, x->options->root_dir, dir_of(path));
        return out->ptr == NULL ? out_of_memory(err) : BG_OK;
    }
    const char *token = bg_arena_printf(&x->arena, "src.%.*s", BG_FMT(path));
    return token == NULL ? out_of_memory(err) : token_path(x, token, (bg_str){"", 0}, out, err);
}

static bg_status below_dir(bg_exec *x, const char *token, bg_str root, bg_str rel, bg_exec_mode mode, bg_str *out,
                           bg_error *err)
{
    if (mode == BG_MODE_KEY)
        return token_path(x, token, rel, out, err);
    *out = root;
    if (rel.len == 0)
        return BG_OK;
    *out = bg_str_of(bg_arena_printf(&x->arena, "%.*s/%.*s", BG_FMT(root), BG_FMT(rel)));
    return out->ptr == NULL ? out_of_memory(err) : BG_OK;
}

bg_status bg_exec_file_dir(bg_exec *x, uint32_t file, bg_exec_mode mode, bg_str *out, bg_error *err)
{
    const bg_img_files *f = &x->graph->files[file];
    bg_str path = bg_graph_str(x->graph, f->path);
    if (f->is_std != 0) {
        bg_str rel = bg_str_starts(path, BG_STR("std/")) ? (bg_str){path.ptr + 4, path.len - 4} : path;
        return below_dir(x, "std", x->options->std_dir, dir_of(rel), mode, out, err);
    }
    bg_str dir = file == 1 ? (bg_str){"", 0} : dir_of(path);
    if ((dir.len == 0 && path.len > 0 && path.ptr[0] == '/') || leaves_root(dir))
        return outside_dir(x, path, mode, out, err);
    return below_dir(x, "src", x->options->root_dir, dir, mode, out, err);
}

bg_status bg_exec_source_dir(bg_exec *x, uint32_t source, bg_exec_mode mode, bg_str *out, bg_error *err)
{
    const bg_img_sources *s = &x->graph->sources[source];
    if (mode == BG_MODE_RUN) {
        *out = real_path(x, x->options->root_dir, bg_graph_str(x->graph, s->dir));
        return out->ptr == NULL ? out_of_memory(err) : BG_OK;
    }
    const char *token = bg_arena_printf(&x->arena, "source.%.*s", BG_FMT(bg_graph_str(x->graph, s->name)));
    return token == NULL ? out_of_memory(err) : token_path(x, token, (bg_str){"", 0}, out, err);
}

static bg_status add_sources(bg_exec *x, bg_error *err)
{
    for (uint32_t i = 1; i < x->graph->n_files; i++) {
        bg_str token = {0}, dir = {0};
        BG_TRY(bg_exec_file_dir(x, i, BG_MODE_KEY, &token, err));
        if (!bg_str_starts(token, BG_STR("\1src.")))
            continue;
        BG_TRY(bg_exec_file_dir(x, i, BG_MODE_RUN, &dir, err));
        BG_TRY(add_prefix(x, (bg_str){token.ptr + 1, token.len - 2}, dir));
    }
    for (uint32_t i = 1; i < x->graph->n_sources; i++) {
        bg_str token = {0}, dir = {0};
        BG_TRY(bg_exec_source_dir(x, i, BG_MODE_KEY, &token, err));
        BG_TRY(bg_exec_source_dir(x, i, BG_MODE_RUN, &dir, err));
        BG_TRY(add_prefix(x, (bg_str){token.ptr + 1, token.len - 2}, dir));
    }
    return BG_OK;
}

/* `<state>/p/____`, exactly `pad` bytes; without padding where the state directory is too long for that. */
static bg_status padded_root(bg_exec *x, uint32_t pad, bg_str *root, bg_error *err)
{
    bg_str state = x->options->state_dir;
    if (pad > PATH_MAX / 2)
        return bg_error_set(err, BG_E_USAGE, "a pad of %u bytes is too long: at most %d", pad, PATH_MAX / 2);
    bool fits = state.len + 4 <= pad;
    char *s = fits ? bg_arena_alloc(&x->arena, (size_t)pad + 1)
                   : bg_arena_printf(&x->arena, "%.*s/p/_%u", BG_FMT(state), pad);
    if (s == NULL)
        return out_of_memory(err);
    if (fits) {
        memcpy(s, state.ptr, state.len);
        memcpy(s + state.len, "/p/", 3);
        memset(s + state.len + 3, '_', pad - state.len - 3);
    }
    *root = bg_str_of(s);
    return BG_OK;
}

static void warn_pad(bg_exec *x, uint32_t rule, bg_str root)
{
    const bg_img_rules *r = &x->graph->rules[rule];
    if (root.len == r->pad)
        return;
    bg_exec_message(x, 0, true,
                    "rule %.*s: the state directory %.*s is too long for pad = %u; outputs made here are not padded "
                    "and may not be relocatable to a longer place",
                    BG_FMT(bg_graph_str(x->graph, r->name)), BG_FMT(x->options->state_dir), r->pad);
}

static bg_status add_rules(bg_exec *x, bg_error *err)
{
    for (uint32_t i = 1; i < x->graph->n_rules; i++) {
        uint32_t pad = x->graph->rules[i].pad;
        if (pad == 0)
            continue;
        bg_str root;
        BG_TRY(padded_root(x, pad, &root, err));
        const char *token = bg_arena_printf(&x->arena, "pout%u", pad);
        if (token == NULL)
            return out_of_memory(err);
        size_t before = x->n_prefixes;
        BG_TRY(add_prefix(x, bg_str_of(token), root));
        if (x->n_prefixes > before)
            warn_pad(x, i, root);
    }
    return BG_OK;
}

static int longer_first(const void *a, const void *b)
{
    const bg_prefix *p = a, *q = b;
    if (p->path.len != q->path.len)
        return p->path.len > q->path.len ? -1 : 1;
    return bg_str_cmp(p->token, q->token);
}

static bg_status fill_rule(bg_exec *x, bg_exec_node *n, bg_error *err)
{
    n->rule = bg_relocate_default;
    uint32_t id = bg_exec_image(x, n)->rule;
    if (id == 0)
        return BG_OK;
    const bg_img_rules *r = &x->graph->rules[id];
    bg_str *exclude = BG_ARENA_ARRAY(&x->arena, r->n_exclude + 1u, bg_str);
    if (exclude == NULL)
        return out_of_memory(err);
    for (uint32_t i = 0; i < r->n_exclude; i++)
        exclude[i] = bg_graph_str(x->graph, x->graph->words[r->exclude + i].str);
    n->rule = (bg_relocate_rule){.pad = r->pad,
                                 .elf = r->elf,
                                 .text = r->text != 0,
                                 .links = r->links != 0,
                                 .longer = (bg_longer)r->longer,
                                 .survivors = (bg_survivors)r->survivors,
                                 .exclude = exclude,
                                 .n_exclude = r->n_exclude};
    return BG_OK;
}

static bg_status fill_outputs(bg_exec *x, bg_exec_node *n, bg_error *err)
{
    const bg_img_nodes *image = bg_exec_image(x, n);
    n->n_outputs = image->n_outs;
    n->outputs = BG_ARENA_ARRAY(&x->arena, n->n_outputs + 1, bg_cache_output);
    if (n->outputs == NULL)
        return out_of_memory(err);
    for (uint32_t i = 0; i < image->n_outs; i++) {
        const bg_img_outs *o = &x->graph->outs[image->outs + i];
        bg_str path = bg_graph_str(x->graph, o->path);
        if (!is_safe(path))
            return bg_error_set(err, BG_E_CORRUPT, "%s: output path `%.*s` leaves its directory",
                                bg_exec_place(x, o->span), BG_FMT(path));
        n->outputs[i] =
            (bg_cache_output){.name = bg_graph_str(x->graph, o->name), .path = path, .is_dir = o->is_dir != 0};
    }
    return BG_OK;
}

static bg_status place_node(bg_exec *x, bg_exec_node *n, bg_error *err)
{
    if (!is_safe(n->name))
        return bg_error_set(err, BG_E_CORRUPT, "`%.*s` can't be the name of a node", BG_FMT(n->name));
    for (uint32_t i = 0; i < bg_exec_image(x, n)->n_works; i++) {
        bg_str name = bg_graph_str(x->graph, x->graph->works[bg_exec_image(x, n)->works + i].name);
        if (!is_safe(name) || memchr(name.ptr, '/', name.len) != NULL)
            return bg_error_set(err, BG_E_CORRUPT, "`%.*s` can't be the name of a work directory", BG_FMT(name));
    }
    BG_TRY(fill_rule(x, n, err));
    BG_TRY(fill_outputs(x, n, err));
    const char *out = bg_arena_printf(&x->arena, "%s/%.*s", x->out_root.ptr, BG_FMT(n->name));
    const char *work = bg_arena_printf(&x->arena, "%s/%.*s", x->work_root.ptr, BG_FMT(n->name));
    const char *token = bg_arena_printf(&x->arena, "\1out\2/%.*s", BG_FMT(n->name));
    if (out != NULL && n->rule.pad > 0) {
        bg_str root;
        BG_TRY(padded_root(x, n->rule.pad, &root, err));
        n->out_link = bg_str_of(out);
        out = bg_arena_printf(&x->arena, "%s/%.*s", root.ptr, BG_FMT(n->name));
        token = bg_arena_printf(&x->arena, "\1pout%u\2/%.*s", n->rule.pad, BG_FMT(n->name));
    }
    if (out == NULL || work == NULL || token == NULL)
        return out_of_memory(err);
    n->out_dir = bg_str_of(out);
    n->work_dir = bg_str_of(work);
    n->out_token = bg_str_of(token);
    return BG_OK;
}

static bg_status set_roots(bg_exec *x, bg_error *err)
{
    const bg_run_options *o = x->options;
    x->out_root = bg_str_of(bg_arena_printf(&x->arena, "%.*s/out", BG_FMT(o->state_dir)));
    x->work_root = bg_str_of(bg_arena_printf(&x->arena, "%.*s/work", BG_FMT(o->state_dir)));
    x->log_root = bg_str_of(bg_arena_printf(&x->arena, "%.*s/log", BG_FMT(o->state_dir)));
    size_t most = 4u + x->graph->n_files + x->graph->n_sources + x->graph->n_rules;
    x->prefixes = BG_ARENA_ARRAY(&x->arena, most, bg_prefix);
    x->longest = BG_ARENA_ARRAY(&x->arena, most, bg_prefix);
    if (x->out_root.ptr == NULL || x->work_root.ptr == NULL || x->log_root.ptr == NULL || x->prefixes == NULL ||
        x->longest == NULL)
        return out_of_memory(err);
    BG_TRY(add_prefix(x, BG_STR("out"), x->out_root));
    BG_TRY(add_prefix(x, BG_STR("work"), x->work_root));
    BG_TRY(add_prefix(x, BG_STR("src"), o->root_dir));
    if (o->std_dir.len > 0)
        BG_TRY(add_prefix(x, BG_STR("std"), o->std_dir));
    BG_TRY(add_rules(x, err));
    return add_sources(x, err);
}

bg_status bg_exec_layout(bg_exec *x, bg_error *err)
{
    BG_TRY(set_roots(x, err));
    if (x->n_prefixes > 64)
        return bg_error_set(err, BG_E_LIMIT, "%.*s: too many sources, files outside its directory and pads: %zu, at most 64",
                            BG_FMT(x->options->file), x->n_prefixes);
    memcpy(x->longest, x->prefixes, x->n_prefixes * sizeof *x->prefixes);
    qsort(x->longest, x->n_prefixes, sizeof *x->longest, longer_first);
    for (uint32_t i = 1; i < x->graph->n_nodes; i++)
        BG_TRY(place_node(x, &x->nodes[i], err));
    return BG_OK;
}

static bool ends_name(char c)
{
    return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.');
}

static const bg_prefix *prefix_at(const bg_exec *x, bg_str s, size_t at)
{
    bg_str rest = {s.ptr + at, s.len - at};
    for (size_t i = 0; i < x->n_prefixes; i++) {
        const bg_prefix *p = &x->longest[i];
        if (bg_str_starts(rest, p->path) && (rest.len == p->path.len || ends_name(rest.ptr[p->path.len])))
            return p;
    }
    return NULL;
}

bg_status bg_exec_tokenise(bg_exec *x, bg_str s, bg_str *out, bg_error *err)
{
    if (s.len == 0 || memchr(s.ptr, '/', s.len) == NULL) {
        *out = s;
        return BG_OK;
    }
    bg_buf text = {0};
    for (size_t i = 0; i < s.len;) {
        const bg_prefix *p = s.ptr[i] == '/' ? prefix_at(x, s, i) : NULL;
        if (p == NULL) {
            bg_buf_putc(&text, s.ptr[i++]);
            continue;
        }
        bg_buf_printf(&text, "\1%.*s\2", BG_FMT(p->token));
        i += p->path.len;
    }
    char *copy = text.failed ? NULL : bg_arena_strdup(&x->arena, bg_buf_cstr(&text), text.len);
    *out = (bg_str){copy, text.len};
    bg_buf_clear(&text);
    return copy == NULL ? out_of_memory(err) : BG_OK;
}
