/** Lexing and parsing of one file. Pure functions of the text; diagnostics go to the sink, and the tree is always whole (broken items
 *  are ERROR nodes). */
#ifndef BG_SYNTAX_SYNTAX_H
#define BG_SYNTAX_SYNTAX_H

#include "bgraph/diag.h"
#include "syntax/ast.h"

/** Fill lines, drop a BOM, demand UTF-8 and a sane size (diagnosed otherwise; then source->text is cut before the fault).
 *  `text` must outlive the source. */
BG_MUST_USE bg_status bg_source_init(bg_source *source, bg_arena *arena, bg_str text, uint32_t file, bg_diags *diags);
/** Always gives a FILE node in *out unless memory is out. Nesting is bounded; past it one diagnostic and the rest is dropped. */
BG_MUST_USE bg_status bg_parse(bg_arena *arena, const bg_source *source, uint32_t file, bg_diags *diags, bg_ast **out);
/** Goldens: a line a token. */
BG_MUST_USE bg_status bg_tokens_print(const bg_source *source, bg_buf *out);

#endif
