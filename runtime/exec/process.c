/* One node's attempts: directories, commands in order, the check of what they left. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec/exec.h"

enum { RETRY_MAX = 100 };
#define SECOND_NS 1000000000ull

bg_str bg_exec_text(bg_exec *x, const char *fmt, ...)
{
    bg_buf text = {0};
    va_list ap;
    va_start(ap, fmt);
    bg_buf_vprintf(&text, fmt, ap);
    va_end(ap);
    char *copy = bg_arena_strdup(&x->arena, bg_buf_cstr(&text), text.len);
    bg_str s = {copy, copy == NULL ? 0 : text.len};
    bg_buf_clear(&text);
    return s;
}

static uint64_t now(const bg_exec *x)
{
    return x->host->now_ns(x->host);
}

/* ---- directories ---- */

static bg_status join_path(bg_buf *out, bg_str dir, bg_str rel, bg_error *err)
{
    bg_buf_reset(out);
    bg_buf_str(out, dir);
    bg_buf_putc(out, '/');
    bg_buf_str(out, rel);
    return out->failed ? bg_error_set(err, BG_E_NOMEM, "out of memory") : BG_OK;
}

static bg_status make_outputs(const bg_exec_node *n, bg_buf *path, bg_error *err)
{
    BG_TRY(bg_fs_mkdirs(n->out_dir.ptr, err));
    for (size_t i = 0; i < n->n_outputs; i++) {
        BG_TRY(join_path(path, n->out_dir, n->outputs[i].path, err));
        BG_TRY(n->outputs[i].is_dir ? bg_fs_mkdirs(path->data, err) : bg_fs_mkdirs_parent(path->data, err));
    }
    return BG_OK;
}

static bg_status make_works(const bg_exec *x, const bg_exec_node *n, bg_buf *path, bg_error *err)
{
    const bg_img_nodes *image = bg_exec_image(x, n);
    BG_TRY(join_path(path, n->work_dir, BG_STR("tmp"), err));
    BG_TRY(bg_fs_mkdirs(path->data, err));
    for (uint32_t i = 0; i < image->n_works; i++) {
        BG_TRY(join_path(path, n->work_dir, bg_graph_str(x->graph, x->graph->works[image->works + i].name), err));
        BG_TRY(bg_fs_mkdirs(path->data, err));
    }
    return BG_OK;
}

bg_status bg_exec_link_out(const bg_exec *x, const bg_exec_node *n, bg_error *err)
{
    if (n->out_link.len == 0)
        return BG_OK;
    bg_buf to = {0};
    for (const char *c = n->out_link.ptr + x->options->state_dir.len + 1; *c != '\0'; c++)
        bg_buf_puts(&to, *c == '/' ? "../" : "");
    bg_buf_puts(&to, n->out_dir.ptr + x->options->state_dir.len + 1);
    bg_status status = to.failed ? bg_error_set(err, BG_E_NOMEM, "out of memory") : BG_OK;
    if (status == BG_OK)
        status = bg_fs_mkdirs_parent(n->out_link.ptr, err);
    if (status == BG_OK)
        status = bg_fs_remove(n->out_link.ptr, err);
    if (status == BG_OK && symlink(to.data, n->out_link.ptr) != 0)
        status = bg_error_os(err, errno, "cannot make the link %s", n->out_link.ptr);
    bg_buf_clear(&to);
    return status;
}

static bg_status prepare(bg_exec *x, bg_exec_node *n, bg_error *err)
{
    bg_buf path = {0};
    bg_status status = bg_fs_remove(n->out_dir.ptr, err);
    if (status == BG_OK)
        status = bg_fs_remove(n->work_dir.ptr, err);
    if (status == BG_OK)
        status = make_outputs(n, &path, err);
    if (status == BG_OK)
        status = make_works(x, n, &path, err);
    if (status == BG_OK)
        status = bg_exec_link_out(x, n, err);
    bg_buf_clear(&path);
    return status;
}

static void remove_quietly(bg_exec *x, const bg_exec_node *n, bg_str path)
{
    bg_error why = {0};
    if (bg_fs_remove(path.ptr, &why) != BG_OK)
        bg_exec_message(x, n->id, true, "%.*s: cannot clean up %.*s: %s", BG_FMT(n->name), BG_FMT(path), why.text);
}

void bg_exec_discard(bg_exec *x, bg_exec_node *n)
{
    remove_quietly(x, n, n->out_dir);
    if (n->out_link.len > 0)
        remove_quietly(x, n, n->out_link);
    remove_quietly(x, n, n->work_dir);
    n->on_disk = false;
}

/* ---- the end of an attempt ---- */

static void leave_running(bg_exec *x, const bg_exec_node *n)
{
    for (size_t i = 0; i < x->running.n; i++) {
        if (x->running.at[i] == n->id)
            x->running.at[i] = x->running.at[--x->running.n];
    }
}

static void leave_slots(bg_exec *x, bg_exec_node *n)
{
    leave_running(x, n);
    x->slots_free += n->slots;
    n->slots = 0;
}

static void stop_clock(bg_exec *x, bg_exec_node *n)
{
    n->ended_ns = now(x);
    n->deadline_ns = n->kill_ns = UINT64_MAX;
}

static void fail(bg_exec *x, bg_exec_node *n, bg_str reason)
{
    leave_slots(x, n);
    bg_exec_discard(x, n);
    bg_exec_bad(x, n, BG_OUTCOME_FAILED, reason);
}

static void cancel(bg_exec *x, bg_exec_node *n)
{
    leave_slots(x, n);
    bg_exec_discard(x, n);
    bg_exec_bad(x, n, BG_OUTCOME_CANCELLED, n->fail_reason);
}

static void world_failed(bg_exec *x, bg_exec_node *n, const bg_error *why)
{
    leave_slots(x, n);
    bg_exec_world_failed(x, n, why);
}

static void begin_attempt(bg_exec *x, bg_exec_node *n);

/* Consumers of an announced product may have used it: such an attempt can't be taken back quietly. */
static void attempt_failed(bg_exec *x, bg_exec_node *n, int exit_code, bg_str reason)
{
    stop_clock(x, n);
    n->fail_exit = exit_code;
    if (n->is_doomed) {
        cancel(x, n);
        return;
    }
    uint32_t retry = bg_exec_image(x, n)->retry;
    retry = retry > RETRY_MAX ? RETRY_MAX : retry;
    if (n->attempt <= retry && !n->announced && !x->interrupted) {
        bg_exec_message(x, n->id, true, "%.*s: attempt %u of %u failed (%.*s); trying again", BG_FMT(n->name),
                        n->attempt, retry + 1, BG_FMT(reason));
        begin_attempt(x, n);
        return;
    }
    fail(x, n, reason);
}

/* ---- the check of what commands left ---- */

static bool output_there(bg_exec *x, bg_exec_node *n, const bg_cache_output *o, bg_str *reason)
{
    bg_buf path = {0};
    struct stat st;
    bg_error ignored;
    if (join_path(&path, n->out_dir, o->path, &ignored) != BG_OK || lstat(path.data, &st) != 0)
        *reason = bg_exec_text(x, "its commands succeeded, but its output `%.*s` is missing: %s was not made",
                               BG_FMT(o->name), bg_buf_cstr(&path));
    else if (o->is_dir && !S_ISDIR(st.st_mode))
        *reason = bg_exec_text(x, "its output `%.*s` is declared `dir`, but %s is a file", BG_FMT(o->name), path.data);
    else if (!o->is_dir && S_ISDIR(st.st_mode))
        *reason = bg_exec_text(x, "its output `%.*s` is declared `file`, but %s is a directory", BG_FMT(o->name),
                               path.data);
    bg_buf_clear(&path);
    return reason->len == 0;
}

static bool check_outputs(bg_exec *x, bg_exec_node *n)
{
    bg_str reason = {0};
    bg_error why = {0};
    for (size_t i = 0; i < n->n_outputs; i++) {
        if (output_there(x, n, &n->outputs[i], &reason))
            continue;
        attempt_failed(x, n, 0, reason);
        return false;
    }
    if (bg_exec_check_depfile(x, n, &why) != BG_OK) {
        attempt_failed(x, n, 0, bg_exec_text(x, "%s", why.text));
        return false;
    }
    return true;
}

static void commands_done(bg_exec *x, bg_exec_node *n)
{
    bg_error why = {0};
    stop_clock(x, n);
    if (!check_outputs(x, n))
        return;
    /* Its slots stay taken while its outputs are hashed: that is work too. */
    leave_running(x, n);
    n->state = BG_NODE_CHECKING;
    if (bg_exec_submit_digest(x, n, &why) != BG_OK)
        world_failed(x, n, &why);
}

static void next_command(bg_exec *x, bg_exec_node *n)
{
    bg_error why = {0};
    if (n->cmd == n->form[BG_MODE_RUN].n_cmds) {
        commands_done(x, n);
        return;
    }
    if (bg_exec_spawn(x, n, &why) == BG_OK)
        return;
    n->proc = 0;
    attempt_failed(x, n, 127, bg_exec_text(x, "%s", why.text));
}

static void begin_attempt(bg_exec *x, bg_exec_node *n)
{
    bg_error why = {0};
    char hex[65];
    n->attempt++;
    n->cmd = 0;
    n->timed_out = false;
    n->fail_exit = 0;
    n->kill_ns = UINT64_MAX;
    if (prepare(x, n, &why) != BG_OK || bg_exec_log_open(x, n, &why) != BG_OK) {
        world_failed(x, n, &why);
        return;
    }
    bg_digest_hex(&n->key, hex);
    bg_exec_emit(x, (bg_event){.kind = BG_EVENT_NODE_BEGIN,
                               .node = n->id,
                               .count = n->attempt,
                               .text = n->reason,
                               .text2 = bg_str_of(hex)});
    uint64_t t = now(x);
    uint32_t timeout = bg_exec_image(x, n)->timeout_ns;
    if (n->began_ns == 0)
        n->began_ns = t;
    n->deadline_ns = timeout == 0 ? UINT64_MAX : t + (uint64_t)bg_graph_int(x->graph, timeout);
    next_command(x, n);
}

void bg_exec_start(bg_exec *x, bg_exec_node *n)
{
    bg_error why = {0};
    n->state = BG_NODE_RUNNING;
    n->slots = bg_exec_image(x, n)->cpus < 1 ? 1 : bg_exec_image(x, n)->cpus;
    if (n->slots > (uint32_t)x->options->jobs)
        n->slots = (uint32_t)x->options->jobs;
    x->slots_free -= n->slots;
    if (!BG_VEC_PUSH(&x->running, n->id)) {
        bg_error_set(&why, BG_E_NOMEM, "out of memory");
        world_failed(x, n, &why);
        return;
    }
    for (size_t i = 0; i < n->n_outputs; i++)
        n->outputs[i].salt = n->key;
    n->began_ns = 0;
    n->announced = n->is_doomed = false;
    n->fail_reason = (bg_str){0};
    bg_status status = bg_exec_run_form(x, n, &why);
    /* Nothing may trust what is on disk from here on, even if we are killed. */
    if (status == BG_OK)
        status = bg_exec_record_drop(x, n, &why);
    if (status != BG_OK)
        world_failed(x, n, &why);
    else
        begin_attempt(x, n);
}

static bg_str exit_reason(bg_exec *x, const bg_exec_node *n, int code)
{
    const bg_exec_cmd *cmd = &n->form[BG_MODE_RUN].cmds[n->cmd];
    size_t total = n->form[BG_MODE_RUN].n_cmds;
    bg_str which = total > 1 ? bg_exec_text(x, " (command %zu of %zu)", n->cmd + 1, total) : (bg_str){"", 0};
    if (code > 128)
        return bg_exec_text(x, "%.*s was killed by signal %d (%s)%.*s", BG_FMT(cmd->argv[0]), code - 128,
                            strsignal(code - 128), BG_FMT(which));
    return bg_exec_text(x, "%.*s exited with status %d%.*s", BG_FMT(cmd->argv[0]), code, BG_FMT(which));
}

void bg_exec_exited(bg_exec *x, bg_exec_node *n, const bg_host_event *event)
{
    n->proc = 0;
    n->user_ns += event->user_ns;
    n->sys_ns += event->sys_ns;
    n->max_rss_bytes = event->max_rss_bytes > n->max_rss_bytes ? event->max_rss_bytes : n->max_rss_bytes;
    bg_exec_flush_output(x, n);
    if (n->timed_out) {
        double limit = (double)bg_graph_int(x->graph, bg_exec_image(x, n)->timeout_ns) / 1e9;
        attempt_failed(x, n, event->exit_code, bg_exec_text(x, "timed out after %.2fs", limit));
    } else if (n->is_doomed) {
        attempt_failed(x, n, event->exit_code, n->fail_reason);
    } else if (n->fail_reason.len > 0) {
        attempt_failed(x, n, event->exit_code, n->fail_reason);
    } else if (event->exit_code != 0) {
        attempt_failed(x, n, event->exit_code, exit_reason(x, n, event->exit_code));
    } else {
        n->cmd++;
        next_command(x, n);
    }
}

/* ---- digests come back ---- */

static void early_digested(bg_exec *x, bg_exec_node *n, const bg_exec_job *job)
{
    bg_exec_product *p = &x->products[job->product];
    bg_error why = job->error;
    bg_status status = job->status;
    for (size_t i = 0; i < n->n_outputs; i++) {
        if (bg_str_eq(n->outputs[i].name, job->outputs[0].name))
            n->outputs[i].digest = job->outputs[0].digest;
    }
    bg_digest digest;
    if (status == BG_OK)
        status = bg_exec_product_digest(x, n, job->product, &digest, &why);
    if (status == BG_OK && p->known && !bg_digest_eq(&p->digest, &digest))
        status = bg_error_set(&why, BG_E_CHANGED, "it was announced twice with different content");
    if (status != BG_OK) {
        bg_str name = bg_graph_str(x->graph, x->graph->prods[job->product].name);
        n->fail_reason = bg_exec_text(x, "its early output `%.*s` can't be used: %s", BG_FMT(name), why.text);
        if (n->proc != 0)
            bg_exec_kill(x, n, SIGTERM);
        return;
    }
    if (p->known)
        return;
    *p = (bg_exec_product){true, digest};
    char hex[65];
    bg_digest_hex(&digest, hex);
    bg_exec_emit(x, (bg_event){.kind = BG_EVENT_PRODUCT,
                               .node = n->id,
                               .text = bg_graph_str(x->graph, x->graph->prods[job->product].name),
                               .text2 = bg_str_of(hex)});
    bg_exec_touch_consumers(x, n);
}

static bool early_kept(bg_exec *x, bg_exec_node *n)
{
    const bg_img_nodes *image = bg_exec_image(x, n);
    for (uint32_t i = 0; i < image->n_prods; i++) {
        const bg_exec_product *p = &x->products[image->prods + i];
        bg_digest digest;
        bg_error why = {0};
        if (!p->known)
            continue;
        if (bg_exec_product_digest(x, n, image->prods + i, &digest, &why) == BG_OK && bg_digest_eq(&digest, &p->digest))
            continue;
        n->fail_reason = bg_exec_text(x, "its early output `%.*s` was changed after it had been announced",
                                      BG_FMT(bg_graph_str(x->graph, x->graph->prods[image->prods + i].name)));
        return false;
    }
    return true;
}

static void all_digested(bg_exec *x, bg_exec_node *n, const bg_exec_job *job)
{
    bg_error why = job->error;
    if (n->is_doomed) {
        cancel(x, n);
        return;
    }
    if (n->fail_reason.len == 0 && job->status == BG_E_USAGE)
        n->fail_reason = bg_exec_text(x, "%s", why.text);
    if (n->fail_reason.len == 0 && job->status != BG_OK) {
        bg_exec_discard(x, n);
        world_failed(x, n, &why);
        return;
    }
    for (size_t i = 0; i < n->n_outputs && n->fail_reason.len == 0; i++)
        n->outputs[i].digest = job->outputs[i].digest;
    if (n->fail_reason.len > 0 || !early_kept(x, n)) {
        fail(x, n, n->fail_reason);
        return;
    }
    leave_slots(x, n);
    n->state = BG_NODE_PROVISIONAL;
    n->on_disk = true;
    if (bg_exec_set_products(x, n, &why) != BG_OK) {
        world_failed(x, n, &why);
        return;
    }
    bg_exec_touch(x, n->id);
    bg_exec_touch_consumers(x, n);
}

void bg_exec_digested(bg_exec *x, bg_exec_job *job)
{
    bg_exec_node *n = job->node;
    n->n_jobs--;
    bool current = job->attempt == n->attempt && (n->state == BG_NODE_RUNNING || n->state == BG_NODE_CHECKING);
    if (!current) {
        bg_exec_job_free(job);
        return;
    }
    if (job->kind == BG_JOB_EARLY) {
        if (!n->is_doomed)
            early_digested(x, n, job);
        bg_exec_job_free(job);
    } else {
        n->held = job;
    }
    if (n->held == NULL || n->n_jobs > 0)
        return;
    job = n->held;
    n->held = NULL;
    all_digested(x, n, job);
    bg_exec_job_free(job);
}

/* ---- signals ---- */

void bg_exec_kill(bg_exec *x, bg_exec_node *n, int number)
{
    if (n->proc == 0)
        return;
    x->host->kill_group(x->host, n->proc, number);
    n->next_signal = number == SIGINT ? SIGTERM : SIGKILL;
    uint64_t grace = number == SIGINT ? 3 * SECOND_NS : 2 * SECOND_NS;
    n->kill_ns = number == SIGKILL ? UINT64_MAX : now(x) + grace;
}

void bg_exec_kill_harder(bg_exec *x, bg_exec_node *n)
{
    n->kill_ns = UINT64_MAX;
    bg_exec_kill(x, n, n->next_signal);
}

void bg_exec_time_out(bg_exec *x, bg_exec_node *n)
{
    n->deadline_ns = UINT64_MAX;
    n->timed_out = true;
    bg_exec_kill(x, n, SIGTERM);
}
