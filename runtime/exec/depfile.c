/* Dependency files as make and compilers write them: what they list must be declared. System headers and the like, outside
 * every known directory, belong to the tool. */
#include <errno.h>
#include <string.h>

#include "exec/exec.h"

enum { DEPFILE_MAX = 64 << 20 };

static bg_status read_all(const char *path, bg_buf *out, bg_error *err)
{
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return bg_error_os(err, errno, "cannot read the dependency file %s", path);
    char *room;
    size_t n = 0;
    while ((room = bg_buf_reserve(out, 65536)) != NULL && out->len < DEPFILE_MAX && (n = fread(room, 1, 65536, f)) > 0)
        out->len += n;
    bool failed = ferror(f) != 0 || room == NULL || out->len >= DEPFILE_MAX;
    fclose(f);
    return failed ? bg_error_set(err, BG_E_IO, "cannot read the dependency file %s", path) : BG_OK;
}

/* The next word; `\ ` and `\#` are escapes, `$$` a dollar, a backslash before a newline is white space. */
static bool next_word(bg_str *rest, bg_buf *word)
{
    const char *p = rest->ptr, *end = p + rest->len;
    bg_buf_reset(word);
    for (; p < end; p++) {
        char c = *p;
        if (c == '\\' && p + 1 < end && (p[1] == ' ' || p[1] == '#' || p[1] == '\\')) {
            bg_buf_putc(word, *++p);
        } else if (c == '$' && p + 1 < end && p[1] == '$') {
            bg_buf_putc(word, *++p);
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\') {
            if (word->len > 0)
                break;
        } else {
            bg_buf_putc(word, c);
        }
    }
    *rest = (bg_str){p, (size_t)(end - p)};
    return word->len > 0 && !word->failed;
}

static bool is_below(bg_str path, bg_str top)
{
    return bg_str_starts(path, top) && (path.len == top.len || path.ptr[top.len] == '/');
}

static bool is_declared(bg_exec *x, const bg_exec_node *n, bg_str path)
{
    for (size_t i = 0; i < n->n_inputs; i++) {
        if (is_below(path, n->inputs[i].path))
            return true;
    }
    for (size_t i = 0; i < n->n_uses; i++) {
        if (is_below(path, x->nodes[x->graph->prods[n->uses[i].prod].node].out_dir))
            return true;
    }
    return is_below(path, n->out_dir) || is_below(path, n->work_dir);
}

static bool is_ours(const bg_exec *x, bg_str path)
{
    for (size_t i = 0; i < x->n_prefixes; i++) {
        if (!bg_str_is(x->prefixes[i].token, "std") && is_below(path, x->prefixes[i].path))
            return true;
    }
    return false;
}

static bg_status check_word(bg_exec *x, bg_exec_node *n, bg_buf *word, bg_error *err)
{
    bg_buf whole = {0};
    if (word->data[0] != '/') {
        bg_buf_str(&whole, n->form[BG_MODE_RUN].cwd);
        bg_buf_putc(&whole, '/');
        if (word->len > 2 && word->data[0] == '.' && word->data[1] == '/')
            bg_buf_puts(&whole, word->data + 2);
        else
            bg_buf_puts(&whole, word->data);
    } else {
        bg_buf_puts(&whole, word->data);
    }
    bg_str path = bg_buf_view(&whole);
    bg_status status = BG_OK;
    /* `..` inside would need the file system to resolve: such a path is left alone. */
    bool plain = !whole.failed && strstr(whole.data, "/../") == NULL;
    if (plain && is_ours(x, path) && !is_declared(x, n, path))
        status = bg_error_set(err, BG_E_ACTION, "it reads %s (listed in its dependency file), which is not declared: add it to `in`",
                              whole.data);
    bg_buf_clear(&whole);
    return status;
}

bg_status bg_exec_check_depfile(bg_exec *x, bg_exec_node *n, bg_error *err)
{
    bg_str path = n->form[BG_MODE_RUN].depfile;
    bg_buf text = {0}, word = {0};
    if (path.len == 0)
        return BG_OK;
    const char *file = bg_arena_strdup(&x->arena, path.ptr, path.len);
    bg_status status = file == NULL ? bg_error_set(err, BG_E_NOMEM, "out of memory") : read_all(file, &text, err);
    bg_str rest = bg_buf_view(&text);
    while (status == BG_OK && next_word(&rest, &word)) {
        if (word.data[word.len - 1] != ':')
            status = check_word(x, n, &word, err);
    }
    bg_buf_clear(&text);
    bg_buf_clear(&word);
    return status;
}
