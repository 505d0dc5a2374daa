/* What a run says: events to the sinks, log files, places in source files. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exec/exec.h"

enum { LOGS_KEPT = 20 };

uint64_t bg_exec_now(const bg_exec *x)
{
    return x->host->now_ns(x->host) - x->began_ns;
}

void bg_exec_emit(bg_exec *x, bg_event event)
{
    event.t_ns = bg_exec_now(x);
    for (size_t i = 0; i < x->options->n_sinks; i++)
        x->options->sinks[i]->event(x->options->sinks[i], x->graph, &event);
}

void bg_exec_message(bg_exec *x, uint32_t node, bool warning, const char *fmt, ...)
{
    bg_buf text = {0};
    va_list ap;
    va_start(ap, fmt);
    bg_buf_vprintf(&text, fmt, ap);
    va_end(ap);
    bg_exec_emit(x, (bg_event){.kind = BG_EVENT_MESSAGE, .node = node, .is_warning = warning, .text = bg_buf_view(&text)});
    bg_buf_clear(&text);
}

const char *bg_exec_place(bg_exec *x, uint32_t span)
{
    if (span == 0 || span >= x->graph->n_spans) {
        const char *file = bg_arena_strdup(&x->arena, x->options->file.ptr, x->options->file.len);
        return file == NULL ? "" : file;
    }
    const bg_img_spans *s = &x->graph->spans[span];
    bg_str path = s->file == 1 ? x->options->file : bg_graph_str(x->graph, x->graph->files[s->file].path);
    const char *text = bg_arena_printf(&x->arena, "%.*s:%u:%u", BG_FMT(path), s->line, s->column);
    return text == NULL ? "" : text;
}

static void count(bg_exec *x, bg_outcome outcome)
{
    bg_run_result *r = x->result;
    switch (outcome) {
    case BG_OUTCOME_RAN:
        r->n_ran++;
        break;
    case BG_OUTCOME_UP_TO_DATE:
        r->n_up_to_date++;
        break;
    case BG_OUTCOME_CACHED:
        r->n_cached++;
        break;
    case BG_OUTCOME_RESTORED:
        r->n_restored++;
        break;
    case BG_OUTCOME_FAILED:
        r->n_failed++;
        break;
    case BG_OUTCOME_CANCELLED:
    case BG_OUTCOME_SKIPPED:
    case BG_OUTCOME_OFF:
    case BG_OUTCOME_COUNT:
        r->n_other++;
        break;
    }
}

void bg_exec_report_end(bg_exec *x, bg_exec_node *n, bg_outcome outcome, bg_str reason)
{
    if (n->is_reported)
        return;
    n->is_reported = true;
    x->n_finished++;
    count(x, outcome);
    bg_exec_log_close(n);
    bg_event e = {.kind = BG_EVENT_NODE_END, .node = n->id, .outcome = outcome, .text = reason, .text2 = n->log_path};
    if (n->began_ns != 0) {
        e.duration_ns = n->ended_ns > n->began_ns ? n->ended_ns - n->began_ns : 0;
        e.user_ns = n->user_ns;
        e.sys_ns = n->sys_ns;
        e.bytes = n->max_rss_bytes;
    }
    if (outcome == BG_OUTCOME_FAILED)
        e.count = (uint64_t)n->fail_exit;
    bg_exec_emit(x, e);
}

static uint64_t spent(const bg_exec_node *n)
{
    return n->ended_ns > n->began_ns ? n->ended_ns - n->began_ns : 0;
}

/* Longest chain by the time that was spent in this run. */
static void critical_path(bg_exec *x, bg_buf *out)
{
    uint64_t *longest = calloc(x->graph->n_nodes + 1u, sizeof *longest);
    uint32_t *from = calloc(x->graph->n_nodes + 1u, sizeof *from);
    BG_VEC(uint32_t) chain = {0};
    uint32_t end = 0;
    for (size_t i = 0; longest != NULL && from != NULL && i < x->n_order; i++) {
        const bg_exec_node *n = &x->nodes[x->order[i]];
        for (size_t u = 0; u < n->n_uses; u++) {
            uint32_t p = x->graph->prods[n->uses[u].prod].node;
            if (longest[p] > longest[n->id]) {
                longest[n->id] = longest[p];
                from[n->id] = p;
            }
        }
        longest[n->id] += spent(n);
        if (longest[n->id] > longest[end])
            end = n->id;
    }
    while (end != 0 && from != NULL) {
        if (spent(&x->nodes[end]) > 0 && !BG_VEC_PUSH(&chain, end))
            break;
        end = from[end];
    }
    for (size_t i = chain.n; i-- > 0;) {
        bg_buf_str(out, x->nodes[chain.at[i]].name);
        bg_buf_puts(out, i > 0 ? " > " : "");
    }
    BG_VEC_CLEAR(&chain);
    free(longest);
    free(from);
}

void bg_exec_report_run_end(bg_exec *x, int exit_code)
{
    bg_buf path = {0};
    if (x->nodes != NULL)
        critical_path(x, &path);
    bg_exec_emit(x, (bg_event){.kind = BG_EVENT_RUN_END,
                               .count = (uint64_t)exit_code,
                               .duration_ns = bg_exec_now(x),
                               .text = bg_buf_view(&path)});
    bg_buf_clear(&path);
}

static bool is_plain(bg_str word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%^{}";
    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] == '\0' || strchr(safe, word.ptr[i]) == NULL)
            return false;
    }
    return word.len > 0;
}

void bg_exec_quote(bg_buf *out, const bg_str *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            bg_buf_putc(out, ' ');
        if (is_plain(words[i])) {
            bg_buf_str(out, words[i]);
            continue;
        }
        bg_buf_putc(out, '\'');
        for (size_t k = 0; k < words[i].len; k++) {
            if (words[i].ptr[k] == '\'')
                bg_buf_puts(out, "'\\''");
            else
                bg_buf_putc(out, words[i].ptr[k]);
        }
        bg_buf_putc(out, '\'');
    }
}

void bg_exec_show(bg_buf *out, bg_str s)
{
    for (size_t i = 0; i < s.len; i++)
        bg_buf_putc(out, s.ptr[i] == '\1' ? '{' : s.ptr[i] == '\2' ? '}' : s.ptr[i]);
}

/* Directories of log/ are numbered; others are left alone. */
static unsigned long run_number(const char *name)
{
    char *end;
    if (name[0] < '0' || name[0] > '9')
        return 0;
    unsigned long v = strtoul(name, &end, 10);
    return *end == '\0' ? v : 0;
}

static void remove_old(const char *root, unsigned long newest, unsigned long keep)
{
    DIR *d = opendir(root);
    if (d == NULL)
        return;
    struct dirent *e;
    while ((e = readdir(d)) != NULL) {
        unsigned long number = run_number(e->d_name);
        if (number == 0 || number + keep > newest)
            continue;
        bg_buf path = {0};
        bg_buf_printf(&path, "%s/%s", root, e->d_name);
        if (!path.failed && bg_fs_remove(path.data, NULL) != BG_OK) {
            /* An old log that stays harms nobody. */
        }
        bg_buf_clear(&path);
    }
    closedir(d);
}

static unsigned long last_number(const char *root)
{
    unsigned long last = 0;
    DIR *d = opendir(root);
    if (d == NULL)
        return 0;
    struct dirent *e;
    while ((e = readdir(d)) != NULL) {
        unsigned long number = run_number(e->d_name);
        last = number > last ? number : last;
    }
    closedir(d);
    return last;
}

static bg_status make_log_dir(bg_exec *x, bg_error *err)
{
    BG_TRY(bg_fs_mkdirs(x->log_root.ptr, err));
    unsigned long number = last_number(x->log_root.ptr) + 1;
    remove_old(x->log_root.ptr, number, x->options->fresh_log ? 1 : LOGS_KEPT);
    char *dir = bg_arena_printf(&x->arena, "%s/%06lu", x->log_root.ptr, number);
    if (dir == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory");
    BG_TRY(bg_fs_mkdirs(dir, err));
    x->log_dir = bg_str_of(dir);
    return BG_OK;
}

bg_status bg_exec_log_open(bg_exec *x, bg_exec_node *n, bg_error *err)
{
    if (n->log != NULL)
        return BG_OK;
    if (x->log_dir.len == 0)
        BG_TRY(make_log_dir(x, err));
    char *path = bg_arena_printf(&x->arena, "%s/%.*s.log", x->log_dir.ptr, BG_FMT(n->name));
    if (path == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory");
    for (char *c = path + x->log_dir.len + 1; *c != '\0'; c++)
        *c = *c == '/' ? '+' : *c;
    n->log = fopen(path, "ae");
    if (n->log == NULL)
        return bg_error_os(err, errno, "cannot write the log %s", path);
    n->log_path = bg_str_of(path);
    return BG_OK;
}

void bg_exec_log_close(bg_exec_node *n)
{
    if (n->log != NULL)
        fclose(n->log);
    n->log = NULL;
}
