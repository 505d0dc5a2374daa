/** Diagnostics: pushed with a code, a place and arguments; collected, sorted by place, rendered later. One sink a session. */
#ifndef BGRAPH_DIAG_H
#define BGRAPH_DIAG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "bgraph/source.h"

typedef enum { BG_SEVERITY_ERROR, BG_SEVERITY_WARNING } bg_severity;

/* Codes are pinned: BG_DIAG(number, NAME, SEVERITY, "template with {0} {1}", "explanation", "example") */
typedef enum {
#define BG_DIAG(number, name, severity, text, explanation, example) BG_D_##name = number,
#include "diags.def"
#undef BG_DIAG
} bg_diag_code;

typedef struct {
    uint32_t number;
    const char *name;
    bg_severity severity;
    const char *text, *explanation, *example;
} bg_diag_info;
/** By number, NULL if there is none; the table itself by index, NULL past its end. */
const bg_diag_info *bg_diag_find(uint32_t number);
const bg_diag_info *bg_diag_at(uint32_t index);

typedef struct {
    bg_span span;
    bg_str text;
} bg_diag_label;

typedef struct {
    const bg_diag_info *info;
    bg_span span;
    bg_str message;
    bg_diag_label labels[4]; /* secondary places: "first declared here" */
    uint32_t n_labels;
    bg_str help; /* what to do: "did you mean `x`?", may be empty */
} bg_diag;

typedef struct bg_diags bg_diags;
struct bg_diags {
    bg_arena arena;
    bg_diag **at;
    uint32_t n, cap;
    uint32_t n_errors, n_warnings;
    bg_diag spare; /* handed out when one can't be kept; never rendered */
    bool failed; /* memory ran out */
    bool too_many; /* the limit (100 errors) was passed; later ones are counted only */
};

void bg_diags_clear(bg_diags *diags);
/** Add one. Arguments after `n_args` are bg_str. The result may be given labels and help; never NULL (a dummy when memory is out). */
bg_diag *bg_diag_push(bg_diags *diags, bg_diag_code code, bg_span span, uint32_t n_args, ...);
void bg_diag_label_add(bg_diags *diags, bg_diag *diag, bg_span span, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void bg_diag_help(bg_diags *diags, bg_diag *diag, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/** Nearest of `names` to `name` within a third of its length (Damerau-Levenshtein, case ignored); empty if none is near. */
bg_str bg_diag_nearest(bg_str name, const bg_str *names, uint32_t n);

typedef struct {
    bool color;
} bg_diag_style;
/** `error[BG0203]: …` with `--> file:line:column`, the line and a caret (tabs, wide characters, long lines windowed).
 *  `sources[file - 1]`. */
void bg_diags_render_text(const bg_diags *diags, const bg_source *const *sources, uint32_t n_sources, bg_diag_style style,
                          bg_buf *out);
void bg_diags_render_json(const bg_diags *diags, const bg_source *const *sources, uint32_t n_sources, bg_buf *out);
/** Sort by file, offset, code; stable. */
void bg_diags_sort(bg_diags *diags);

#endif
