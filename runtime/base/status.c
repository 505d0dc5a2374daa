#include "base/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *bg_status_text(bg_status status)
{
    static const char *const texts[] = {
#define BG_STATUS(name, cls, doc) doc,
#include "base/status.def"
#undef BG_STATUS
    };
    return (unsigned)status < BG_STATUS_COUNT ? texts[status] : "unknown status";
}

const char *bg_status_name(bg_status status)
{
    static const char *const names[] = {
#define BG_STATUS(name, cls, doc) #name,
#include "base/status.def"
#undef BG_STATUS
    };
    return (unsigned)status < BG_STATUS_COUNT ? names[status] : "UNKNOWN";
}

bg_status bg_error_set(bg_error *err, bg_status status, const char *fmt, ...)
{
    if (err == NULL)
        return status;
    err->status = status;
    err->os_error = 0;
    err->offset = 0;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    return status;
}

static bg_status from_errno(int os_error)
{
    switch (os_error) {
    case ENOMEM:
        return BG_E_NOMEM;
    case ENOENT:
    case ENOTDIR:
        return BG_E_NOENT;
    case EEXIST:
        return BG_E_EXISTS;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return BG_E_NOSPACE;
    case EACCES:
    case EPERM:
    case EROFS:
        return BG_E_ACCESS;
    case ELOOP:
    case EXDEV:
        return BG_E_UNSAFE;
    default:
        return BG_E_IO;
    }
}

bg_status bg_error_os(bg_error *err, int os_error, const char *fmt, ...)
{
    bg_status status = from_errno(os_error);
    if (err == NULL)
        return status;
    err->status = status;
    err->os_error = os_error;
    err->offset = 0;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof err->text)
        snprintf(err->text + n, sizeof err->text - (size_t)n, ": %s", strerror(os_error));
    return status;
}
