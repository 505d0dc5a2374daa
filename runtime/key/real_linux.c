#include "key/real.h"

#include <errno.h>
#include <stdlib.h>

bg_status bg_real_path(bg_buf *out, const char *path, bg_error *err)
{
    char *real = realpath(path, NULL);
    if (real == NULL)
        return bg_error_os(err, errno, "can't follow the links of %s", path);
    bg_buf_puts(out, real);
    free(real);
    return out->failed ? bg_error_set(err, BG_E_NOMEM, "out of memory while %s was looked up", path) : BG_OK;
}
