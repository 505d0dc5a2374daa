#include "base/paths.h"

bool bg_path_is_safe(bg_str path, size_t max_part)
{
    if (path.len == 0 || memchr(path.ptr, 0, path.len) != NULL)
        return false;
    for (size_t i = 0; i <= path.len;) {
        const char *slash = i < path.len ? memchr(path.ptr + i, '/', path.len - i) : NULL;
        bg_str part = {path.ptr + i, slash == NULL ? path.len - i : (size_t)(slash - (path.ptr + i))};
        if (part.len == 0 || part.len > max_part || bg_str_is(part, ".") || bg_str_is(part, ".."))
            return false;
        i += part.len + 1;
    }
    return true;
}
