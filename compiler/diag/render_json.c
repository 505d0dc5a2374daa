/* Diagnostics for programs: one JSON array, an object a diagnostic. */
#include "bgraph/diag.h"

static void member(bg_buf *out, const char *name, bg_str value)
{
    bg_buf_printf(out, "\"%s\":", name);
    bg_buf_json(out, value);
    bg_buf_putc(out, ',');
}

/* "file", "line", "column", "offset", "length"; without a place only an empty file. */
static void place(bg_buf *out, bg_span span, const bg_source *const *sources, uint32_t n_sources)
{
    const bg_source *source = span.file > 0 && span.file <= n_sources ? sources[span.file - 1] : NULL;
    uint32_t line = 0, column = 0;
    if (source != NULL)
        bg_source_locate(source, span.offset, &line, &column);
    member(out, "file", source == NULL ? BG_STR("") : source->path);
    bg_buf_printf(out, "\"line\":%u,\"column\":%u,\"offset\":%u,\"length\":%u", line, column, span.offset, span.len);
}

static void render(bg_buf *out, const bg_diag *diag, const bg_source *const *sources, uint32_t n_sources)
{
    bg_buf_printf(out, "{\"code\":\"BG%04u\",", diag->info->number);
    member(out, "severity", diag->info->severity == BG_SEVERITY_ERROR ? BG_STR("error") : BG_STR("warning"));
    member(out, "message", diag->message);
    place(out, diag->span, sources, n_sources);
    bg_buf_puts(out, ",\"labels\":[");
    for (uint32_t i = 0; i < diag->n_labels; i++) {
        bg_buf_puts(out, i == 0 ? "{" : ",{");
        member(out, "text", diag->labels[i].text);
        place(out, diag->labels[i].span, sources, n_sources);
        bg_buf_putc(out, '}');
    }
    bg_buf_puts(out, "],\"help\":");
    bg_buf_json(out, diag->help);
    bg_buf_putc(out, '}');
}

void bg_diags_render_json(const bg_diags *diags, const bg_source *const *sources, uint32_t n_sources, bg_buf *out)
{
    bg_buf_putc(out, '[');
    for (uint32_t i = 0; i < diags->n; i++) {
        bg_buf_puts(out, i == 0 ? "\n" : ",\n");
        render(out, diags->at[i], sources, n_sources);
    }
    bg_buf_puts(out, diags->n == 0 ? "]\n" : "\n]\n");
}
