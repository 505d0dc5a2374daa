#include "image/path.h"

#include <string.h>

/* Take the last component off the first *n bytes of p, but nothing of the first `floor` bytes. */
static bool climb(const char *p, size_t *n, size_t floor)
{
    if (*n <= floor)
        return false;
    while (*n > floor && p[*n - 1] != '/')
        (*n)--;
    if (*n != 0 && p[*n - 1] == '/' && *n > 1)
        (*n)--; /* the slash in front goes too, unless it is the root directory itself */
    return true;
}

static bool add_part(char *p, size_t *n, size_t floor, bg_str part)
{
    if (part.len == 0 || bg_str_is(part, "."))
        return true;
    if (bg_str_is(part, ".."))
        return climb(p, n, floor);
    if (*n != 0 && p[*n - 1] != '/')
        p[(*n)++] = '/';
    memcpy(p + *n, part.ptr, part.len);
    *n += part.len;
    return true;
}

static bg_status join(bg_arena *arena, bg_str base, bg_str rel, size_t floor, bg_str *out, bg_error *err)
{
    if (rel.len != 0 && (rel.ptr[0] == '/' || memchr(rel.ptr, 0, rel.len) != NULL))
        return bg_error_set(err, BG_E_USAGE, "the path \"%.*s\" %s; give one below its root", BG_FMT(rel),
                            rel.ptr[0] == '/' ? "is absolute" : "holds a NUL byte");
    char *p = bg_arena_alloc(arena, base.len + rel.len + 2);
    if (p == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory while joining paths");
    size_t n = base.len;
    if (n != 0)
        memcpy(p, base.ptr, n);
    for (size_t i = 0; i < rel.len;) {
        const char *slash = memchr(rel.ptr + i, '/', rel.len - i);
        size_t len = slash == NULL ? rel.len - i : (size_t)(slash - (rel.ptr + i));
        if (!add_part(p, &n, floor, (bg_str){rel.ptr + i, len}))
            return bg_error_set(err, BG_E_USAGE, "the path \"%.*s\" climbs out of its root; give one below it", BG_FMT(rel));
        i += len + 1;
    }
    p[n] = '\0';
    *out = (bg_str){p, n};
    return BG_OK;
}

bg_status bg_path_join(bg_arena *arena, bg_str base, bg_str rel, bg_str *out, bg_error *err)
{
    return join(arena, base, rel, base.len, out, err);
}

bg_status bg_path_resolve(bg_arena *arena, bg_str base, bg_str rel, bg_str *out, bg_error *err)
{
    return join(arena, base, rel, 0, out, err);
}

bg_str bg_path_parent(bg_str path)
{
    size_t n = path.len;
    while (n != 0 && path.ptr[n - 1] != '/')
        n--;
    return (bg_str){path.ptr, n == 0 ? 0 : n - 1};
}

bg_str bg_path_last(bg_str path)
{
    size_t skip = path.len;
    while (skip != 0 && path.ptr[skip - 1] != '/')
        skip--;
    return (bg_str){path.len == 0 ? "" : path.ptr + skip, path.len - skip};
}
