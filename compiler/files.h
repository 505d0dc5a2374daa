/** The files of a session: read once, parsed once, numbered in the order of first use. Lives in the session's arena. */
#ifndef BG_FILES_H
#define BG_FILES_H

#include "bgraph/session.h"
#include "sema/sema.h"
#include "syntax/ast.h"

typedef struct {
    bg_source source;
    bg_ast *ast;
    uint32_t number; /* of spans, from 1; 0: could not be read */
    bool busy;       /* its declarations are being read */
    bg_str key;      /* normalised path */
    bg_status status;
} bg_file;

typedef struct {
    bg_arena *arena;
    bg_diags *diags;
    const bg_session_options *options;
    bg_file **all; /* those that could not be read too */
    uint32_t n_all, cap;
    const bg_source **sources;
    uint32_t n;
    bg_file *open[BG_LIMIT_USE_DEPTH]; /* being declared, outermost first */
    uint32_t n_open;
    uint32_t n_parse_diags;
} bg_files;

bg_file *bg_files_find(const bg_files *files, bg_str path);
/** Read and parse, or give what is there already. The first file read is the root. */
BG_MUST_USE bg_status bg_files_read(bg_files *files, bg_str path, bg_file **out, bg_error *err);
/** `rel` beside the file `path`; {NULL, 0} when memory is out. */
bg_str bg_files_beside(bg_files *files, bg_str path, bg_str rel);

#endif
