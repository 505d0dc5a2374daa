/* Collecting diagnostics: templates filled, kept up to a limit, sorted. */
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>

#include "bgraph/diag.h"

enum { ERRORS_MAX = 100, WARNINGS_MAX = 1000, ARGS_MAX = 10 };

void bg_diags_clear(bg_diags *diags)
{
    bg_arena_clear(&diags->arena);
    free(diags->at);
    *diags = (bg_diags){0};
}

/* "{0}" to "{9}" are arguments; every other brace is itself. */
static bg_str fill(bg_arena *arena, const char *text, const bg_str *args, uint32_t n_args)
{
    bg_buf out = {0};
    for (const char *p = text; *p != 0; p++) {
        if (p[0] == '{' && p[1] >= '0' && p[1] <= '9' && p[2] == '}') {
            uint32_t i = (uint32_t)(p[1] - '0');
            if (i < n_args)
                bg_buf_str(&out, args[i]);
            p += 2;
        } else {
            bg_buf_putc(&out, *p);
        }
    }
    char *copy = out.failed ? NULL : bg_arena_strdup(arena, bg_buf_cstr(&out), out.len);
    bg_str message = {copy, copy == NULL ? 0 : out.len};
    bg_buf_clear(&out);
    return message;
}

/* Counted; false if it is past the limit. */
static bool count(bg_diags *diags, bg_severity severity)
{
    uint32_t *n = severity == BG_SEVERITY_ERROR ? &diags->n_errors : &diags->n_warnings;
    if (*n < UINT32_MAX)
        ++*n;
    if (severity == BG_SEVERITY_WARNING)
        return *n <= WARNINGS_MAX;
    if (*n > ERRORS_MAX)
        diags->too_many = true;
    return *n <= ERRORS_MAX;
}

static bool make_room(bg_diags *diags)
{
    if (diags->n < diags->cap)
        return true;
    uint32_t cap = diags->cap == 0 ? 16 : diags->cap * 2;
    bg_diag **at = realloc(diags->at, cap * sizeof(bg_diag *));
    if (at == NULL)
        return false;
    diags->at = at;
    diags->cap = cap;
    return true;
}

static bg_diag *spare(bg_diags *diags, const bg_diag_info *info, bg_span span)
{
    diags->spare = (bg_diag){.info = info, .span = span};
    return &diags->spare;
}

bg_diag *bg_diag_push(bg_diags *diags, bg_diag_code code, bg_span span, uint32_t n_args, ...)
{
    const bg_diag_info *info = bg_diag_find((uint32_t)code);
    assert(info != NULL && n_args <= ARGS_MAX);
    if (!count(diags, info->severity))
        return spare(diags, info, span);
    bg_str args[ARGS_MAX];
    va_list ap;
    va_start(ap, n_args);
    for (uint32_t i = 0; i < n_args; i++)
        args[i] = va_arg(ap, bg_str);
    va_end(ap);
    bg_diag *diag = BG_ARENA_NEW(&diags->arena, bg_diag);
    if (diag != NULL)
        *diag = (bg_diag){.info = info, .span = span, .message = fill(&diags->arena, info->text, args, n_args)};
    if (diag == NULL || diag->message.ptr == NULL || !make_room(diags)) {
        diags->failed = true;
        return spare(diags, info, span);
    }
    diags->at[diags->n++] = diag;
    return diag;
}

static bg_str format(bg_diags *diags, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
static bg_str format(bg_diags *diags, const char *fmt, va_list ap)
{
    bg_buf out = {0};
    bg_buf_vprintf(&out, fmt, ap);
    char *copy = out.failed ? NULL : bg_arena_strdup(&diags->arena, bg_buf_cstr(&out), out.len);
    bg_str text = {copy, copy == NULL ? 0 : out.len};
    if (copy == NULL)
        diags->failed = true;
    bg_buf_clear(&out);
    return text;
}

void bg_diag_label_add(bg_diags *diags, bg_diag *diag, bg_span span, const char *fmt, ...)
{
    if (diag == &diags->spare || diag->n_labels == sizeof diag->labels / sizeof diag->labels[0])
        return;
    va_list ap;
    va_start(ap, fmt);
    diag->labels[diag->n_labels++] = (bg_diag_label){span, format(diags, fmt, ap)};
    va_end(ap);
}

void bg_diag_help(bg_diags *diags, bg_diag *diag, const char *fmt, ...)
{
    if (diag == &diags->spare)
        return;
    va_list ap;
    va_start(ap, fmt);
    diag->help = format(diags, fmt, ap);
    va_end(ap);
}

static int compare(const bg_diag *x, const bg_diag *y)
{
    if (x->span.file != y->span.file)
        return x->span.file < y->span.file ? -1 : 1;
    if (x->span.offset != y->span.offset)
        return x->span.offset < y->span.offset ? -1 : 1;
    return (x->info->number > y->info->number) - (x->info->number < y->info->number);
}

/* By insertion: stable, and at most some hundred. */
void bg_diags_sort(bg_diags *diags)
{
    for (uint32_t i = 1; i < diags->n; i++) {
        bg_diag *diag = diags->at[i];
        uint32_t to = i;
        for (; to > 0 && compare(diags->at[to - 1], diag) > 0; to--)
            diags->at[to] = diags->at[to - 1];
        diags->at[to] = diag;
    }
}
