/* The pipeline: read -> parse -> declare -> expand -> emit. */
#include "bgraph/session.h"

#include <setjmp.h>
#include <stdlib.h>

#include "emit/emit.h"
#include "files.h"
#include "syntax/syntax.h"

struct bg_session {
    bg_arena arena;
    bg_diags diags;
    bg_session_options options;
    bg_files files;
    bg_sema sema;
    bg_image_writer *writer;
    bg_error error; /* of reading */
};

bg_session *bg_session_new(const bg_session_options *options)
{
    bg_session *session = calloc(1, sizeof *session);
    if (session == NULL)
        return NULL;
    session->options = *options;
    return session;
}

void bg_session_free(bg_session *session)
{
    if (session == NULL)
        return;
    bg_image_writer_free(session->writer);
    bg_diags_clear(&session->diags);
    bg_arena_clear(&session->arena);
    free(session);
}

const bg_diags *bg_session_diags(const bg_session *session)
{
    return &session->diags;
}

const bg_source *const *bg_session_sources(const bg_session *session, uint32_t *n)
{
    *n = session->files.n;
    return session->files.sources;
}

/* ---- units ---- */

static bg_str std_path(bg_session *session, bg_str name)
{
    char *p = bg_arena_printf(&session->arena, "%.*s/%.*s.bgraph", BG_FMT(session->options.std_dir), BG_FMT(name));
    if (p == NULL) {
        session->sema.status = BG_E_NOMEM;
        longjmp(session->sema.escape, 1);
    }
    for (size_t i = session->options.std_dir.len + 1; i < session->options.std_dir.len + 1 + name.len; i++)
        p[i] = p[i] == '.' ? '/' : p[i];
    return bg_str_of(p);
}

static bg_unit *find_unit(bg_sema *s, const bg_file *file)
{
    for (uint32_t i = 0; i < s->units.n; i++)
        if (s->units.at[i]->file == file->number)
            return s->units.at[i];
    return NULL;
}

/* "a.bgraph -> b.bgraph -> a.bgraph" */
static void report_cycle(bg_sema *s, const bg_unit *from, const bg_file *file, bg_span span)
{
    bg_session *session = s->load_self;
    bg_str names = {"", 0};
    for (uint32_t i = 0; i < session->files.n_open; i++)
        if (names.len != 0 || session->files.open[i] == file)
            names = bg_sema_printf(s, "%.*s%.*s -> ", BG_FMT(names), BG_FMT(session->files.open[i]->source.path));
    (void)from;
    bg_diag_push(s->diags, BG_D_USE_CYCLE, span, 1, bg_sema_printf(s, "%.*s%.*s", BG_FMT(names), BG_FMT(file->source.path)));
}

static bg_unit *new_unit(bg_sema *s, bg_file *file)
{
    bg_session *session = s->load_self;
    bg_unit *unit = BG_NEW(s, bg_unit);
    unit->file = file->number;
    unit->source = &file->source;
    unit->ast = file->ast;
    unit->is_std = file->source.is_std != 0;
    file->busy = true;
    if (session->files.n_open == BG_LIMIT_USE_DEPTH)
        bg_sema_limit(s, (bg_span){file->number, 0, 0}, "files that use each other", BG_LIMIT_USE_DEPTH);
    session->files.open[session->files.n_open++] = file;
    return unit;
}

static void declare_unit(bg_sema *s, bg_unit *unit, bg_file *file)
{
    bg_session *session = s->load_self;
    bg_unit_declare(s, unit);
    session->files.n_open--;
    file->busy = false;
    BG_PUSH(s, &s->units, unit);
}

static bg_file *read_file(bg_sema *s, bg_str path, bg_span span, bg_str shown)
{
    bg_session *session = s->load_self;
    bg_file *file = NULL;
    bg_error err = {0};
    bool first = bg_files_find(&session->files, path) == NULL;
    bg_status status = bg_files_read(&session->files, path, &file, &err);
    if (status == BG_OK)
        return file;
    if (status == BG_E_NOMEM) {
        s->status = status;
        longjmp(s->escape, 1);
    }
    if (first)
        bg_diag_push(s->diags, BG_D_MODULE_READ, span, 2, shown, bg_str_of(bg_status_text(status)));
    return NULL;
}

static void name_unit(bg_sema *s, bg_unit *unit, const bg_unit *from, bg_str name)
{
    if (unit->is_std) {
        unit->name = unit->source->image_path;
        unit->prefix = bg_sema_printf(s, "%.*s/", BG_FMT(unit->source->image_path));
        return;
    }
    unit->prefix = bg_sema_printf(s, "%.*s%.*s/", BG_FMT(from->prefix), BG_FMT(name));
    unit->name = from->name.len == 0 ? name : bg_sema_printf(s, "%.*s.%.*s", BG_FMT(from->name), BG_FMT(name));
}

/* `use` is NULL for a std module that the language itself needs. */
static bg_unit *load(bg_sema *s, bg_unit *from, const bg_ast *use, bg_str name)
{
    bg_session *session = s->load_self;
    bool quoted = use != NULL && (use->flags & BG_AST_QUOTED) != 0;
    bg_span span = use != NULL ? use->span : (bg_span){from->file, 0, 0};
    bg_str path, shown = use != NULL ? use->text : bg_sema_printf(s, "std.%.*s", BG_FMT(name));
    if (quoted) {
        path = bg_files_beside(&session->files, from->source->path, use->text);
    } else if (bg_str_starts(shown, BG_STR("std."))) {
        path = std_path(session, (bg_str){shown.ptr + 4, shown.len - 4});
    } else {
        bg_diag *d = bg_diag_push(s->diags, BG_D_MODULE_READ, span, 2, shown, BG_STR("it is neither std.NAME nor a file"));
        bg_diag_help(s->diags, d, "a file is named in quotes: use \"%.*s.bgraph\" as %.*s", BG_FMT(shown), BG_FMT(name));
        return NULL;
    }
    if (path.ptr == NULL) {
        s->status = BG_E_NOMEM;
        longjmp(s->escape, 1);
    }
    bg_file *file = read_file(s, path, span, shown);
    if (file == NULL)
        return NULL;
    if (file->busy) {
        report_cycle(s, from, file, span);
        return NULL;
    }
    bg_unit *unit = find_unit(s, file);
    if (unit != NULL)
        return unit;
    unit = new_unit(s, file);
    name_unit(s, unit, from, name);
    declare_unit(s, unit, file);
    return unit;
}

/* ---- compile ---- */

static void reset_sema(bg_session *session)
{
    bg_sema *s = &session->sema, old = *s;
    memset(s, 0, sizeof *s);
    s->baked.at = old.baked.at;
    s->baked.n = old.baked.n;
    s->baked.cap = old.baked.cap;
    s->arena = &session->arena;
    s->diags = &session->diags;
    s->options = &session->options;
    s->load = load;
    s->load_self = session;
    session->files.n_open = 0;
    for (uint32_t i = 0; i < session->files.n_all; i++)
        session->files.all[i]->busy = false;
}

static void pass(bg_session *session, bg_file *root)
{
    bg_sema *s = &session->sema;
    s->error = bg_val_new(s, BG_VAL_ERROR, BG_TYPE_ERROR, (bg_span){0, 0, 0});
    s->error->known = true;
    s->root = new_unit(s, root);
    s->root->name = (bg_str){"", 0};
    s->root->prefix = (bg_str){"", 0};
    declare_unit(s, s->root, root);
    bg_sema_expand(s);
}

static bg_status emit(bg_session *session, bg_buf *image, bg_error *err)
{
    session->writer = bg_image_writer_new();
    if (session->writer == NULL)
        return bg_error_set(err, BG_E_NOMEM, "Out of memory.");
    bg_emit e = {&session->sema, session->writer, session->files.sources, session->files.n};
    return bg_emit_image(&e, image, err);
}

/* One pass over everything. A param found to decide the shape starts another, in which it is a constant everywhere. */
static bg_status run_pass(bg_session *session, bg_file *root, bg_buf *image, bool *again, bg_error *err)
{
    bg_sema *s = &session->sema;
    reset_sema(session);
    *again = false;
    if (setjmp(s->escape) != 0)
        return s->status == BG_E_NOMEM ? bg_error_set(err, BG_E_NOMEM, "Out of memory while compiling.") : s->status;
    pass(session, root);
    if (s->baked_more) {
        *again = true;
        return BG_OK;
    }
    if (session->diags.failed)
        return bg_error_set(err, BG_E_NOMEM, "Out of memory while compiling.");
    return session->diags.n_errors != 0 ? BG_E_DIAGNOSED : emit(session, image, err);
}

typedef struct {
    uint32_t n, n_errors, n_warnings;
    bool too_many;
} mark;

static bg_status read_root(bg_session *session, bg_str path, bg_file **out, bg_error *err)
{
    session->files.arena = &session->arena;
    session->files.diags = &session->diags;
    session->files.options = &session->options;
    session->files.n_parse_diags = 0;
    return bg_files_read(&session->files, path, out, err);
}

bg_status bg_session_compile(bg_session *session, bg_str path, bg_buf *image, bg_error *err)
{
    bg_file *root = NULL;
    bg_status status = read_root(session, path, &root, err);
    session->sema.baked.n = 0;
    bool again = status == BG_OK;
    while (again) {
        bg_diags *d = &session->diags;
        mark before = {d->n, d->n_errors, d->n_warnings, d->too_many};
        status = run_pass(session, root, image, &again, err);
        if (again && session->files.n_parse_diags != 0) {
            status = BG_E_DIAGNOSED;
            break;
        }
        if (again) {
            d->n = before.n;
            d->n_errors = before.n_errors;
            d->n_warnings = before.n_warnings;
            d->too_many = before.too_many;
        }
    }
    bg_image_writer_free(session->writer);
    session->writer = NULL;
    bg_diags_sort(&session->diags);
    return status == BG_OK && session->diags.n_errors != 0 ? BG_E_DIAGNOSED : status;
}

bg_status bg_session_parse(bg_session *session, bg_str path, bg_buf *tree, bg_error *err)
{
    bg_file *root = NULL;
    BG_TRY(read_root(session, path, &root, err));
    bg_ast_print(root->ast, tree);
    bg_diags_sort(&session->diags);
    if (tree->failed)
        return bg_error_set(err, BG_E_NOMEM, "Out of memory while printing the tree.");
    return session->diags.n_errors != 0 ? BG_E_DIAGNOSED : BG_OK;
}

bg_status bg_session_tokens(bg_session *session, bg_str path, bg_buf *tokens, bg_error *err)
{
    bg_file *root = NULL;
    BG_TRY(read_root(session, path, &root, err));
    BG_TRY(bg_tokens_print(&root->source, tokens));
    bg_diags_sort(&session->diags);
    return session->diags.n_errors != 0 ? BG_E_DIAGNOSED : BG_OK;
}
