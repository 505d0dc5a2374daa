/** Status codes of every fallible call, the detail that goes with a failure (bg_error), and the
 *  forwarding macro. Plain values; no allocation; any thread. */
#ifndef BG_BASE_STATUS_H
#define BG_BASE_STATUS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
#define BG_STATUS(name, cls, doc) BG_##name,
#include "base/status.def"
#undef BG_STATUS
    BG_STATUS_COUNT
} bg_status;

#define BG_MUST_USE __attribute__((warn_unused_result))
#define BG_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/** Where and why a call failed. `offset` is a byte offset where that has a meaning, else 0.
 *  `text` is one or more complete sentences: what happened, where, what to do. */
typedef struct {
    bg_status status;
    int os_error; /* errno, 0 if none */
    uint64_t offset;
    char text[1000];
} bg_error;

/** Short text of a status ("out of memory"). Never NULL. */
const char *bg_status_text(bg_status status);
/** Name as in status.def ("E_NOMEM"). Never NULL. */
const char *bg_status_name(bg_status status);

/** Fill `err` (may be NULL) and return `status`. */
bg_status bg_error_set(bg_error *err, bg_status status, const char *fmt, ...) BG_PRINTF(3, 4);
/** The same for a failed system call: maps `os_error` (an errno) to a status and appends its text. */
bg_status bg_error_os(bg_error *err, int os_error, const char *fmt, ...) BG_PRINTF(3, 4);

#define BG_TRY(expr)                                                                               \
    do {                                                                                           \
        bg_status bg_try_status_ = (expr);                                                         \
        if (bg_try_status_ != BG_OK)                                                               \
            return bg_try_status_;                                                                 \
    } while (0)

#endif
