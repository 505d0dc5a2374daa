/* Paths: a root and a rest that never leaves it. */
#include "sema/sema.h"

bg_val *bg_pathval_of(bg_sema *s, bg_val *v)
{
    if (v->type == BG_TYPE_SOURCE && v->kind == BG_VAL_SOURCE)
        return bg_val_path(s, BG_ROOT_SOURCE, v->ref, NULL, (bg_str){"", 0}, v->span);
    return v->type == BG_TYPE_PATH || v->type == BG_TYPE_PRODUCT ? v : NULL;
}

/* base/rel without `.`, `..` and empty parts; false if it is absolute, holds NUL or climbs above the root. */
static bool join(bg_sema *s, bg_str base, bg_str rel, bg_str *out)
{
    if ((rel.len != 0 && rel.ptr[0] == '/') || (rel.len != 0 && memchr(rel.ptr, 0, rel.len) != NULL))
        return false;
    char *p = bg_sema_new(s, base.len + rel.len + 2, 1);
    size_t n = base.len;
    if (n != 0)
        memcpy(p, base.ptr, n);
    for (size_t i = 0; i < rel.len;) {
        size_t end = i;
        while (end < rel.len && rel.ptr[end] != '/')
            end++;
        size_t len = end - i;
        if (len == 2 && rel.ptr[i] == '.' && rel.ptr[i + 1] == '.') {
            if (n == 0)
                return false;
            while (n != 0 && p[n - 1] != '/')
                n--;
            n -= n != 0;
        } else if (len != 0 && !(len == 1 && rel.ptr[i] == '.')) {
            if (n != 0)
                p[n++] = '/';
            memcpy(p + n, rel.ptr + i, len);
            n += len;
        }
        i = end + 1;
    }
    p[n] = '\0';
    *out = (bg_str){p, n};
    return true;
}

static bool at_or_below(bg_str path, bg_str dir)
{
    return dir.len == 0 || (bg_str_starts(path, dir) && (path.len == dir.len || path.ptr[dir.len] == '/'));
}

static bool in_source(const bg_src *src, bg_str rel)
{
    for (uint32_t i = 0; i < src->paths.n; i++)
        if (at_or_below(rel, src->paths.at[i]) || at_or_below(src->paths.at[i], rel))
            return true;
    return src->paths.n == 0;
}

static bg_val *slash_source(bg_sema *s, bg_src *src, bg_str rel, bg_span span)
{
    if (src == NULL)
        return s->error;
    if (!in_source(src, rel)) {
        bg_diag *d = bg_diag_push(s->diags, BG_D_OUTSIDE_SOURCE, span, 2, rel, src->name);
        bg_diag_label_add(s->diags, d, src->span, "its `paths` are declared here");
        return s->error;
    }
    return bg_val_path(s, BG_ROOT_SOURCE, src, NULL, rel, span);
}

bg_val *bg_pathval_slash(bg_sema *s, bg_val *base, bg_val *rel, bg_span span)
{
    if (base->kind == BG_VAL_ERROR || rel->kind == BG_VAL_ERROR)
        return s->error;
    if (rel->kind != BG_VAL_STR || base->kind != BG_VAL_PATH)
        return bg_val_op2(s, BG_VAL_JOIN, BG_TYPE_PATH, base, rel, span);
    bg_str joined;
    if (!join(s, base->str, rel->str, &joined)) {
        bg_diag *d = bg_diag_push(s->diags, BG_D_PATH_LEAVES, rel->span, 1, rel->str);
        if (rel->str.len != 0 && rel->str.ptr[0] == '/')
            bg_diag_help(s->diags, d, "an absolute path is a plain string, and not an input");
        return s->error;
    }
    if (base->i == BG_ROOT_SOURCE)
        return slash_source(s, base->ref, joined, span);
    return bg_val_path(s, (bg_root_kind)base->i, base->ref, base->early, joined, span);
}

static size_t last_slash(bg_str str)
{
    size_t n = str.len;
    while (n != 0 && str.ptr[n - 1] != '/')
        n--;
    return n;
}

bg_val *bg_pathval_dir(bg_sema *s, bg_val *path, bg_span span)
{
    if (path->kind == BG_VAL_ERROR)
        return path;
    if (path->kind != BG_VAL_PATH || (path->str.len == 0 && path->i == BG_ROOT_OUT))
        return bg_val_op1(s, BG_VAL_DIR, BG_TYPE_PATH, path, span);
    if (path->str.len == 0) {
        bg_diag_push(s->diags, BG_D_PATH_LEAVES, span, 1, BG_STR(".."));
        return s->error;
    }
    size_t n = last_slash(path->str);
    return bg_val_path(s, (bg_root_kind)path->i, path->ref, path->early, (bg_str){path->str.ptr, n == 0 ? 0 : n - 1}, span);
}

bg_val *bg_pathval_base(bg_sema *s, bg_val *path, bg_span span)
{
    if (path->kind == BG_VAL_ERROR)
        return path;
    bg_str str = path->str;
    if (path->kind == BG_VAL_PATH && str.len == 0 && path->i == BG_ROOT_OUT)
        str = bg_out_path(s, path->ref);
    if (path->kind != BG_VAL_PATH || str.len == 0)
        return bg_val_op1(s, BG_VAL_BASE, BG_TYPE_STR, path, span);
    size_t n = last_slash(str);
    return bg_val_str(s, (bg_str){str.ptr + n, str.len - n}, span);
}
