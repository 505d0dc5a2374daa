/** Words of the text form of an image, read from left to right, with the place for an error. No allocation but the buffer of
 *  a string. One owner. */
#ifndef BG_IMAGE_LEX_H
#define BG_IMAGE_LEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

typedef struct {
    bg_str text;
    size_t at;
    bg_error *err;
} bg_lex;

/** BG_E_USAGE with line:column of byte `at` in front of what the arguments say. */
bg_status bg_lex_bad(const bg_lex *lex, size_t at, const char *fmt, ...) BG_PRINTF(3, 4);
/** Go to the first word of the next line that has one; false at the end of the text. */
bool bg_lex_line(bg_lex *lex);
/** True if nothing but blanks and a comment is left on this line. */
bool bg_lex_eol(bg_lex *lex);
/** The error if something is left on this line. */
BG_MUST_USE bg_status bg_lex_end(bg_lex *lex);
/** Letters, digits and _ at this place, after blanks; empty if there are none. */
bg_str bg_lex_word(bg_lex *lex);
/** Take character `c` if it comes next, without blanks before it. */
bool bg_lex_take(bg_lex *lex, char c);
/** The same, or the error that it is missing. */
BG_MUST_USE bg_status bg_lex_need(bg_lex *lex, char c);
/** A decimal number without blanks before it. */
BG_MUST_USE bg_status bg_lex_u32(bg_lex *lex, uint32_t *out);
/** A quoted string, after blanks; its bytes replace those of `out`. BG_E_NOMEM. */
BG_MUST_USE bg_status bg_lex_quoted(bg_lex *lex, bg_buf *out);
void bg_lex_blanks(bg_lex *lex);
/** Value of a hex digit, -1 if it is none. */
int bg_lex_hex(char c);

#endif
