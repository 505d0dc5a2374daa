#include <assert.h>

#include "syntax/lex.h"
#include "syntax/syntax.h"

static const bg_token_info infos[BG_TOKEN_COUNT] = {
#define BG_TOKEN(name, spelling, cls, doc) [BG_T_##name] = {#name, spelling, BG_TOKEN_##cls, doc},
#include "tokens.def"
#undef BG_TOKEN
};

const bg_token_info *bg_token_at(int kind)
{
    assert(kind > 0 && kind < BG_TOKEN_COUNT);
    return &infos[kind];
}

bg_status bg_tokens_print(const bg_source *source, bg_buf *out)
{
    bg_lexer lexer;
    bg_lexer_init(&lexer, source, 1, NULL);
    uint32_t line = 1, column = 1, seen = 0;
    for (;;) {
        bg_token t = bg_lexer_next(&lexer);
        if (t.kind == BG_T_END)
            break;
        for (; seen < t.offset; seen++) {
            unsigned char c = (unsigned char)source->text.ptr[seen];
            column = c == '\n' ? 1 : column + ((c & 0xc0) != 0x80);
            line += c == '\n';
        }
        bg_buf_printf(out, "%u:%u %s ", line, column, infos[t.kind].name);
        bg_buf_json(out, (bg_str){source->text.ptr + t.offset, t.len});
        bg_buf_putc(out, '\n');
    }
    return out->failed ? BG_E_NOMEM : BG_OK;
}
