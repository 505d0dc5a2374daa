/* Any bytes as a source: parsed, the tree walked and printed, the diagnostics rendered. */
#include <stdint.h>
#include <stdlib.h>

#include "syntax/build.h"
#include "syntax/syntax.h"

/* Also where NDEBUG is set. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Fixed kids may be missing only where the shape says so; spans lie in the text; depth is what it says. */
static void walk(const bg_ast *ast, const bg_source *source, uint32_t level)
{
    CHECK(level <= BG_AST_DEPTH_MAX + 16);
    CHECK((size_t)ast->span.offset + ast->span.len <= source->text.len);
    CHECK((size_t)ast->name_span.offset + ast->name_span.len <= source->text.len);
    CHECK(ast->n_kids >= bg_ast_n_fixed(ast->kind));
    for (uint32_t i = 0; i < ast->n_kids; i++) {
        const bg_ast *kid = ast->kids[i];
        CHECK(kid != NULL || i < bg_ast_n_fixed(ast->kind));
        if (kid == NULL)
            continue;
        CHECK(kid->depth < ast->depth);
        walk(kid, source, level + 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bg_arena arena = {0};
    bg_diags diags = {0};
    bg_buf out = {0};
    bg_ast *file = NULL;
    bg_source source = {.path = BG_STR("fuzz.bgraph")};
    const bg_source *sources[1] = {&source};
    bg_str text = {(const char *)data, size};
    bg_status status = bg_source_init(&source, &arena, text, 1, &diags);
    CHECK(status == BG_OK);
    status = bg_parse(&arena, &source, 1, &diags, &file);
    CHECK(status == BG_OK && file != NULL && file->kind == BG_AST_FILE);
    walk(file, &source, 0);
    bg_ast_print(file, &out);
    bg_diags_sort(&diags);
    bg_diags_render_text(&diags, sources, 1, (bg_diag_style){true}, &out);
    bg_diags_render_json(&diags, sources, 1, &out);
    status = bg_tokens_print(&source, &out);
    CHECK(status == BG_OK && !out.failed);
    bg_buf_clear(&out);
    bg_diags_clear(&diags);
    bg_arena_clear(&arena);
    return 0;
}
