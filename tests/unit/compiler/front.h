/** Shared by the tests of the front end: parse a text and keep everything until front_clear. */
#ifndef TESTS_FRONT_H
#define TESTS_FRONT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "syntax/lex.h"
#include "syntax/syntax.h"

typedef struct {
    bg_arena arena;
    bg_diags diags;
    bg_source source;
    bg_ast *file;
    bg_buf out;
} front;

static inline void front_parse(front *f, bg_str text)
{
    *f = (front){.source.path = BG_STR("dir/x.bgraph")};
    assert_int_equal(bg_source_init(&f->source, &f->arena, text, 1, &f->diags), BG_OK);
    assert_int_equal(bg_parse(&f->arena, &f->source, 1, &f->diags, &f->file), BG_OK);
    assert_non_null(f->file);
    bg_diags_sort(&f->diags);
}

/* "204@12 206@30": code and offset of each diagnostic. */
static inline const char *front_codes(front *f)
{
    bg_buf_reset(&f->out);
    for (uint32_t i = 0; i < f->diags.n; i++)
        bg_buf_printf(&f->out, "%s%u@%u", i == 0 ? "" : " ", f->diags.at[i]->info->number, f->diags.at[i]->span.offset);
    return bg_buf_cstr(&f->out);
}

static inline const char *front_text(front *f, bool color)
{
    const bg_source *sources[1] = {&f->source};
    bg_buf_reset(&f->out);
    bg_diags_render_text(&f->diags, sources, 1, (bg_diag_style){color}, &f->out);
    return bg_buf_cstr(&f->out);
}

static inline void front_clear(front *f)
{
    bg_buf_clear(&f->out);
    bg_diags_clear(&f->diags);
    bg_arena_clear(&f->arena);
}

#endif
