/* Diagnostics for people: a headline, the place, the line with a caret below it, secondary places, help. */
#include "bgraph/diag.h"
#include "diag/window.h"

typedef struct {
    const bg_source *const *sources;
    uint32_t n_sources;
    bg_buf *out;
    const char *bold, *blue, *primary, *reset;
} renderer;

static const bg_source *source_of(const renderer *r, bg_span span)
{
    return span.file > 0 && span.file <= r->n_sources ? r->sources[span.file - 1] : NULL;
}

/* From 1; 0 without a place. The column is not wanted: counting it takes as long as the line. */
static uint32_t line_of(const renderer *r, bg_span span)
{
    const bg_source *source = source_of(r, span);
    uint32_t low = 0, high = source == NULL ? 0 : source->n_lines;
    while (low < high) { /* the first line that starts behind the offset */
        uint32_t middle = low + (high - low) / 2;
        if (source->lines[middle] <= span.offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Cells of the widest line number of a diagnostic. */
static int gutter_of(const renderer *r, const bg_diag *diag)
{
    uint32_t most = line_of(r, diag->span);
    for (uint32_t i = 0; i < diag->n_labels; i++) {
        uint32_t line = line_of(r, diag->labels[i].span);
        most = line > most ? line : most;
    }
    int n = 1;
    for (; most >= 10; most /= 10)
        n++;
    return n;
}

static void repeat(bg_buf *out, char c, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        bg_buf_putc(out, c);
}

static bg_str line_text(const bg_source *source, uint32_t line)
{
    uint32_t start = source->lines[line - 1];
    size_t end = line < source->n_lines ? source->lines[line] - 1 : source->text.len;
    return (bg_str){source->text.ptr + start, end - start};
}

/* The line of a span, and below it `mark`s and the label. */
static void snippet(const renderer *r, bg_span span, int gutter, char mark, const char *color, bg_str label)
{
    const bg_source *source = source_of(r, span);
    uint32_t line = line_of(r, span);
    if (source == NULL || line == 0 || line > source->n_lines)
        return;
    bg_str text = line_text(source, line);
    bg_buf_printf(r->out, "%s%*u |%s ", r->blue, gutter, line, r->reset);
    bg_window w = bg_window_put(text, span.offset - source->lines[line - 1], span.len, r->out);
    bg_buf_printf(r->out, "\n%s%*s |%s ", r->blue, gutter, "", r->reset);
    repeat(r->out, ' ', w.caret);
    bg_buf_puts(r->out, color);
    repeat(r->out, mark, w.caret_len);
    if (label.len != 0) {
        bg_buf_putc(r->out, ' ');
        bg_buf_str(r->out, label);
    }
    bg_buf_printf(r->out, "%s\n", r->reset);
}

static void arrow(const renderer *r, bg_span span, int gutter, const char *sign)
{
    const bg_source *source = source_of(r, span);
    uint32_t line = 0, column = 0;
    if (source == NULL)
        return;
    bg_source_locate(source, span.offset, &line, &column);
    bg_buf_printf(r->out, "%*s%s%s%s ", gutter, "", r->blue, sign, r->reset);
    bg_buf_str(r->out, source->path);
    bg_buf_printf(r->out, ":%u:%u\n", line, column);
}

static void bar(const renderer *r, int gutter)
{
    bg_buf_printf(r->out, "%s%*s |%s\n", r->blue, gutter, "", r->reset);
}

/* Between two snippets of one file. */
static void gap(const renderer *r, bg_span from, bg_span to)
{
    uint32_t a = line_of(r, from), b = line_of(r, to);
    if (b > a + 1 || a > b + 1)
        bg_buf_printf(r->out, "%s...%s\n", r->blue, r->reset);
}

static bool is_before(const bg_diag *diag, const bg_diag_label *label)
{
    return label->span.file == diag->span.file && label->span.offset < diag->span.offset;
}

/* Secondary places, before or behind the primary one; those in another file with its name. */
static void labels(const renderer *r, const bg_diag *diag, int gutter, bool before)
{
    for (uint32_t i = 0; i < diag->n_labels; i++) {
        const bg_diag_label *label = &diag->labels[i];
        if (source_of(r, label->span) == NULL || is_before(diag, label) != before)
            continue;
        if (label->span.file != diag->span.file) {
            arrow(r, label->span, gutter, ":::");
            bar(r, gutter);
        } else if (!before) {
            gap(r, diag->span, label->span);
        }
        snippet(r, label->span, gutter, '-', r->blue, label->text);
        if (before)
            gap(r, label->span, diag->span);
    }
}

static void render(const renderer *r, const bg_diag *diag)
{
    int gutter = gutter_of(r, diag);
    const char *word = diag->info->severity == BG_SEVERITY_ERROR ? "error" : "warning";
    bg_buf_printf(r->out, "%s%s[BG%04u]%s%s: ", r->primary, word, diag->info->number, r->reset, r->bold);
    bg_buf_str(r->out, diag->message);
    bg_buf_printf(r->out, "%s\n", r->reset);
    if (source_of(r, diag->span) != NULL) {
        arrow(r, diag->span, gutter, "-->");
        bar(r, gutter);
        labels(r, diag, gutter, true);
        snippet(r, diag->span, gutter, '^', r->primary, (bg_str){0});
    }
    labels(r, diag, gutter, false);
    if (diag->help.len != 0) {
        bg_buf_printf(r->out, "%s%*s =%s help: ", r->blue, gutter, "", r->reset);
        bg_buf_str(r->out, diag->help);
        bg_buf_putc(r->out, '\n');
    }
    bg_buf_putc(r->out, '\n');
}

static void left_out(const renderer *r, const bg_diags *diags)
{
    uint32_t errors = 0, warnings = 0;
    for (uint32_t i = 0; i < diags->n; i++)
        *(diags->at[i]->info->severity == BG_SEVERITY_ERROR ? &errors : &warnings) += 1;
    if (diags->n_errors > errors)
        bg_buf_printf(r->out, "and %u more error%s\n", diags->n_errors - errors, diags->n_errors - errors == 1 ? "" : "s");
    if (diags->n_warnings > warnings)
        bg_buf_printf(r->out, "and %u more warning%s\n", diags->n_warnings - warnings,
                      diags->n_warnings - warnings == 1 ? "" : "s");
}

void bg_diags_render_text(const bg_diags *diags, const bg_source *const *sources, uint32_t n_sources, bg_diag_style style,
                          bg_buf *out)
{
    renderer r = {sources, n_sources, out, "", "", "", ""};
    if (style.color) {
        r.bold = "\033[1m";
        r.blue = "\033[1;34m";
        r.reset = "\033[0m";
    }
    for (uint32_t i = 0; i < diags->n; i++) {
        if (style.color)
            r.primary = diags->at[i]->info->severity == BG_SEVERITY_ERROR ? "\033[1;31m" : "\033[1;33m";
        render(&r, diags->at[i]);
    }
    left_out(&r, diags);
}
