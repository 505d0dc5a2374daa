/** From the expanded graph to an image. */
#ifndef BG_EMIT_EMIT_H
#define BG_EMIT_EMIT_H

#include "bgraph/image.h"
#include "sema/sema.h"

typedef struct {
    bg_sema *s;
    bg_image_writer *w;
    const bg_source *const *sources;
    uint32_t n_sources;
} bg_emit;

/** Append the image of a graph without errors to `out`. */
BG_MUST_USE bg_status bg_emit_image(bg_emit *e, bg_buf *out, bg_error *err);

/* code.c */
/** A program that gives `v`; 0 for NULL. */
uint32_t bg_emit_prog(bg_emit *e, const bg_val *v);
uint32_t bg_emit_span(bg_emit *e, bg_span span);
/* records.c: declarations, made when first used */
uint32_t bg_emit_tool(bg_emit *e, bg_tool *tool);
uint32_t bg_emit_source(bg_emit *e, bg_src *src);
uint32_t bg_emit_rule(bg_emit *e, bg_rule *rule);
uint32_t bg_emit_env(bg_emit *e, bg_env *env);
void bg_emit_declarations(bg_emit *e);

#endif
