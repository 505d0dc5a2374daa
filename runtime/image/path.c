#include <string.h>

#include "bgraph/image.h"

bg_status bg_path_join(bg_arena *arena, bg_str base, bg_str rel, bg_str *out, bg_error *err)
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
        const char *part = rel.ptr + i;
        i += len + 1;
        if (len == 0 || (len == 1 && part[0] == '.'))
            continue;
        if (len == 2 && part[0] == '.' && part[1] == '.') {
            if (n == 0)
                return bg_error_set(err, BG_E_USAGE, "the path \"%.*s\" climbs out of its root", BG_FMT(rel));
            while (n != 0 && p[n - 1] != '/')
                n--;
            n -= n != 0;
            continue;
        }
        if (n != 0)
            p[n++] = '/';
        memcpy(p + n, part, len);
        n += len;
    }
    p[n] = '\0';
    *out = (bg_str){p, n};
    return BG_OK;
}
