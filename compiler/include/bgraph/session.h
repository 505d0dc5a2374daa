/** One compilation: .bgraph text in, image out. parse -> resolve -> check -> expand -> emit touch only text; nothing is run.
 *  A session owns its sources and diagnostics; the image goes to the caller's buffer. */
#ifndef BGRAPH_SESSION_H
#define BGRAPH_SESSION_H

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"
#include "bgraph/diag.h"
#include "bgraph/source.h"

typedef struct bg_session bg_session;

typedef struct {
    bg_str name, value;
} bg_session_define;

typedef struct {
    bg_str std_dir; /* absolute directory of the std modules */
    const bg_session_define *defines; /* -D name=value, used for params that decide the shape, type-checked for all */
    size_t n_defines;
    /** Read a whole file; NULL: from disk. Returns BG_E_NOENT, … */
    bg_status (*read)(void *self, bg_str path, bg_buf *out, bg_error *err);
    void *read_self;
} bg_session_options;

bg_session *bg_session_new(const bg_session_options *options);
void bg_session_free(bg_session *session);

/** Compile the file at `path` and everything it uses. On BG_OK `image` holds a whole image and there were no errors (maybe
 *  warnings). BG_E_DIAGNOSED: see bg_session_diags. Anything else: the world failed, see err. */
BG_MUST_USE bg_status bg_session_compile(bg_session *session, bg_str path, bg_buf *image, bg_error *err);
/** Parse only `path`, print the tree. */
BG_MUST_USE bg_status bg_session_parse(bg_session *session, bg_str path, bg_buf *tree, bg_error *err);
/** Tokens, a line each: "line:column NAME text". */
BG_MUST_USE bg_status bg_session_tokens(bg_session *session, bg_str path, bg_buf *tokens, bg_error *err);

const bg_diags *bg_session_diags(const bg_session *session);
/** All files read, in the order of first use; file n of a span is at [n - 1]. */
const bg_source *const *bg_session_sources(const bg_session *session, uint32_t *n);

#endif
