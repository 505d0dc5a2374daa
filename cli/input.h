/** The graph that a command works on: finding the file, compiling it or mapping what an earlier run compiled. One thread. */
#ifndef BGC_INPUT_H
#define BGC_INPUT_H

#include "bgraph/image.h"
#include "bgraph/session.h"
#include "cli.h"

/** Names and places; strings live in `arena`. `{0}` is valid and empty. */
typedef struct {
    bg_arena arena;
    const char *file;      /* as the person named it */
    const char *stem;      /* file name without .bgraph or .bgb */
    const char *root_dir;  /* real absolute directory of the file */
    const char *state_dir; /* <root_dir>/.bgraph/<stem>; need not be there */
    bg_str std_dir;
    bool is_image; /* the file is a compiled image */
    bool is_stdin; /* … that comes on standard input */
    bg_session_define *defines;
    size_t n_defines;

    bg_graph graph; /* after bg_input_load; borrows what follows */
    bg_buf image;   /* compiled here, or read */
    void *map;      /* mapped from a file */
    size_t map_bytes;
} bg_input;

void bg_input_clear(bg_input *input);
/** Find the file (NULL: the only *.bgraph of the current directory; "-": an image on standard input) and fill everything but the graph. Takes -D from `args`.
 *  BG_E_NOENT, BG_E_USAGE with a sentence. */
BG_MUST_USE bg_status bg_input_find(bg_input *input, const char *file, const bg_args *args, bg_error *err);
/** Whether an argument names a graph file rather than a target. */
bool bg_input_is_file(const char *argument);

/** Make the graph: load an image, or compile the text; with `keep` take and leave the compiled image in state_dir. Diagnostics
 *  and warnings go to standard error, `color`ed. BG_E_DIAGNOSED: they said why. */
BG_MUST_USE bg_status bg_input_load(bg_input *input, bool keep, bool color, bg_error *err);
/** Map or read a file as an image and verify it. */
BG_MUST_USE bg_status bg_input_load_image(bg_input *input, const char *path, bg_error *err);

/** Print a session's diagnostics to standard error. */
void bg_input_print_diags(const bg_session *session, bool color);

#endif
