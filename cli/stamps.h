/** Stamps of the files that an image was compiled from, kept beside it as text, so that a later run can tell by a stat a file
 *  whether the image still holds. Anything odd means: compile again. One thread. */
#ifndef BGC_STAMPS_H
#define BGC_STAMPS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "bgraph/image.h"
#include "bgraph/session.h"

typedef struct {
    bg_arena arena;
    BG_VEC(const char *) lines; /* one a file, as written */
    int64_t youngest_ns;        /* latest change of any file, wall clock */
    bool failed;
} bg_stamps;

void bg_stamps_clear(bg_stamps *stamps);
/** For bg_session_options.read, with `self` a bg_stamps: read the file and note its stamp, both from one open file. */
bg_status bg_stamps_read(void *self, bg_str path, bg_buf *out, bg_error *err);

typedef struct {
    bg_str std_dir;
    const bg_session_define *defines;
    size_t n_defines;
} bg_stamps_context;

/** Keep `image` as <state_dir>/image.bgb with its stamps in image.stamp. Best effort: where it fails, or a file is so young that
 *  its stamp can't be trusted, nothing usable is left and the next run compiles again. */
void bg_stamps_save(const bg_stamps *stamps, const char *state_dir, const bg_graph *graph, bg_str image,
                    const bg_stamps_context *context);
/** Do the stamps in state_dir hold for the image that `graph` was loaded from? `path` is that image's file. */
bool bg_stamps_hold(const char *state_dir, const char *path, const bg_graph *graph, const bg_stamps_context *context);

#endif
