/* The scheduler: every node is a small state machine (bg_exec_state), `advance` takes it as far as it can go, and whatever may
 * let another node go further touches that one. Among nodes that are ready the one with the longest path to an end starts first.
 *
 * A node whose result was read from the state or the cache may still have to run (its artifact is damaged, or can't be relocated
 * here). Then it, and what was decided on its digests, is decided again; so NODE_END of such nodes is told late, when nothing they
 * stand on can change (`is_firm`) or at the end. */
#include <signal.h>
#include <stdlib.h>

#include "exec/exec.h"

void bg_exec_touch(bg_exec *x, uint32_t node)
{
    if (x->nodes[node].is_queued)
        return;
    x->nodes[node].is_queued = BG_VEC_PUSH(&x->touched, node);
    if (!x->nodes[node].is_queued)
        x->fatal = bg_error_set(&x->fatal_error, BG_E_NOMEM, "out of memory");
}

void bg_exec_touch_consumers(bg_exec *x, const bg_exec_node *n)
{
    for (size_t i = 0; i < n->n_consumers; i++)
        bg_exec_touch(x, n->consumers[i]);
}

static bg_exec_node *producer(bg_exec *x, const bg_exec_node *n, size_t use)
{
    return &x->nodes[x->graph->prods[n->uses[use].prod].node];
}

/* ---- failure ---- */

void bg_exec_bad(bg_exec *x, bg_exec_node *n, bg_outcome outcome, bg_str reason)
{
    n->state = BG_NODE_BAD;
    n->has_result = false;
    if (outcome == BG_OUTCOME_FAILED && x->first_failed == 0)
        x->first_failed = n->id;
    if (outcome == BG_OUTCOME_FAILED && !x->options->keep_going)
        x->stop = true;
    bg_exec_report_end(x, n, outcome, reason);
    bg_exec_touch_consumers(x, n);
}

void bg_exec_world_failed(bg_exec *x, bg_exec_node *n, const bg_error *err)
{
    if (err->status == BG_E_USAGE || err->status == BG_E_LIMIT || err->status == BG_E_DIAGNOSED)
        x->usage_failed = true;
    else
        x->world_failed = true;
    bg_exec_bad(x, n, BG_OUTCOME_FAILED,
                bg_exec_text(x, "%s", err->text[0] != '\0' ? err->text : bg_status_text(err->status)));
}

static const bg_exec_node *bad_producer(bg_exec *x, const bg_exec_node *n)
{
    for (size_t i = 0; i < n->n_uses; i++) {
        if (producer(x, n, i)->state == BG_NODE_BAD)
            return producer(x, n, i);
    }
    return NULL;
}

static bg_str because(bg_exec *x, const bg_exec_node *bad)
{
    return bg_exec_text(x, "because `%.*s` did not succeed", BG_FMT(bad->name));
}

/* ---- the state machine ---- */

static bool is_good(const bg_exec_node *n)
{
    return n->state == BG_NODE_DONE || n->state == BG_NODE_HAVE;
}

static bool has_files(const bg_exec_node *n)
{
    return n->state == BG_NODE_HAVE ? n->on_disk : true;
}

static void advance_wait(bg_exec *x, bg_exec_node *n)
{
    for (size_t i = 0; i < n->n_uses; i++) {
        if (!x->products[n->uses[i].prod].known)
            return;
    }
    bg_exec_decide(x, n);
}

static void advance_need(bg_exec *x, bg_exec_node *n)
{
    bool ready = !n->is_restoring;
    for (size_t i = 0; i < n->n_uses && n->state == BG_NODE_NEED; i++) {
        bg_exec_node *p = producer(x, n, i);
        if (has_files(p))
            continue;
        ready = false;
        bg_exec_request_restore(x, p);
    }
    if (!ready || n->state != BG_NODE_NEED)
        return;
    n->state = BG_NODE_READY;
    if (!BG_VEC_PUSH(&x->ready, n->id))
        x->fatal = bg_error_set(&x->fatal_error, BG_E_NOMEM, "out of memory");
}

static void advance_provisional(bg_exec *x, bg_exec_node *n)
{
    if (n->is_stored)
        return;
    for (size_t i = 0; i < n->n_uses; i++) {
        if (!is_good(producer(x, n, i)))
            return;
    }
    for (size_t i = 0; i < n->n_uses; i++) {
        const bg_exec_product *p = &x->products[n->uses[i].prod];
        if (p->known && bg_digest_eq(&p->digest, &n->uses[i].digest))
            continue;
        bg_exec_discard(x, n);
        bg_exec_run_again(x, n, BG_NODE_WAIT, BG_STR("a product that it used was made again and differs"));
        return;
    }
    bg_exec_finish(x, n);
}

static void advance_firm(bg_exec *x, bg_exec_node *n)
{
    if (n->is_firm || !has_files(n))
        return;
    for (size_t i = 0; i < n->n_uses; i++) {
        if (!producer(x, n, i)->is_firm)
            return;
    }
    n->is_firm = true;
    if (n->state == BG_NODE_HAVE)
        bg_exec_report_end(x, n, n->was_restored ? BG_OUTCOME_RESTORED : n->from_state ? BG_OUTCOME_UP_TO_DATE : BG_OUTCOME_CACHED,
                           (bg_str){"", 0});
    bg_exec_touch_consumers(x, n);
}

/* Already at work: stop it, and say why when it has ended. */
static void doom(bg_exec *x, bg_exec_node *n, bg_str reason)
{
    if (n->is_doomed)
        return;
    n->is_doomed = true;
    n->fail_reason = reason;
    bg_exec_kill(x, n, SIGTERM);
}

static void advance_blocked(bg_exec *x, bg_exec_node *n, const bg_exec_node *bad)
{
    switch (n->state) {
    case BG_NODE_WAIT:
    case BG_NODE_NEED:
    case BG_NODE_READY:
        bg_exec_bad(x, n, BG_OUTCOME_SKIPPED, because(x, bad));
        break;
    case BG_NODE_RUNNING:
    case BG_NODE_CHECKING:
        doom(x, n, because(x, bad));
        break;
    case BG_NODE_PROVISIONAL:
        bg_exec_discard(x, n);
        bg_exec_bad(x, n, BG_OUTCOME_CANCELLED, because(x, bad));
        break;
    case BG_NODE_IDLE:
    case BG_NODE_HAVE:
    case BG_NODE_DONE:
    case BG_NODE_BAD:
    case BG_NODE_SWITCHED_OFF:
        break;
    }
}

static void advance(bg_exec *x, bg_exec_node *n)
{
    const bg_exec_node *bad = bad_producer(x, n);
    if (bad != NULL && n->state != BG_NODE_HAVE) {
        advance_blocked(x, n, bad);
        return;
    }
    switch (n->state) {
    case BG_NODE_WAIT:
        advance_wait(x, n);
        break;
    case BG_NODE_NEED:
        advance_need(x, n);
        break;
    case BG_NODE_PROVISIONAL:
        advance_provisional(x, n);
        break;
    case BG_NODE_HAVE:
        if (n->is_target && !n->on_disk)
            bg_exec_request_restore(x, n);
        else
            advance_firm(x, n);
        break;
    case BG_NODE_DONE:
        advance_firm(x, n);
        break;
    case BG_NODE_SWITCHED_OFF:
        bg_exec_report_end(x, n, BG_OUTCOME_OFF, (bg_str){"", 0});
        break;
    case BG_NODE_IDLE:
    case BG_NODE_READY:
    case BG_NODE_RUNNING:
    case BG_NODE_CHECKING:
    case BG_NODE_BAD:
        break;
    }
}

/* Oldest first, so that producers are told of before their consumers. */
static void drain(bg_exec *x)
{
    for (size_t i = 0; i < x->touched.n && x->fatal == BG_OK; i++) {
        bg_exec_node *n = &x->nodes[x->touched.at[i]];
        n->is_queued = false;
        advance(x, n);
    }
    x->touched.n = 0;
}

/* ---- starting ---- */

static bool goes_first(const bg_exec_node *a, const bg_exec_node *b)
{
    return a->priority_ns != b->priority_ns ? a->priority_ns > b->priority_ns : a->id < b->id;
}

static bg_exec_node *best_ready(bg_exec *x, size_t *at)
{
    bg_exec_node *best = NULL;
    for (size_t i = 0; i < x->ready.n;) {
        bg_exec_node *n = &x->nodes[x->ready.at[i]];
        if (n->state != BG_NODE_READY) {
            x->ready.at[i] = x->ready.at[--x->ready.n];
            continue;
        }
        if (best == NULL || goes_first(n, best)) {
            best = n;
            *at = i;
        }
        i++;
    }
    return best;
}

static uint32_t slots_of(const bg_exec *x, const bg_exec_node *n)
{
    uint32_t cpus = bg_exec_image(x, n)->cpus, jobs = (uint32_t)x->options->jobs;
    return cpus < 1 ? 1 : cpus > jobs ? jobs : cpus;
}

/* In strict order: a node that needs many slots is not starved by small ones. */
static void start_ready(bg_exec *x)
{
    while (!x->stop && x->slots_free > 0 && x->fatal == BG_OK) {
        size_t at = 0;
        bg_exec_node *n = best_ready(x, &at);
        if (n == NULL || slots_of(x, n) > x->slots_free)
            return;
        x->ready.at[at] = x->ready.at[--x->ready.n];
        bg_exec_start(x, n);
        drain(x);
    }
}

/* ---- waiting ---- */

static uint64_t next_deadline(const bg_exec *x)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < x->running.n; i++) {
        const bg_exec_node *n = &x->nodes[x->running.at[i]];
        least = n->deadline_ns < least ? n->deadline_ns : least;
        least = n->kill_ns < least ? n->kill_ns : least;
    }
    return least;
}

static void check_timers(bg_exec *x)
{
    uint64_t now = x->host->now_ns(x->host);
    for (size_t i = 0; i < x->running.n; i++) {
        bg_exec_node *n = &x->nodes[x->running.at[i]];
        if (n->proc != 0 && n->kill_ns <= now)
            bg_exec_kill_harder(x, n);
        if (n->proc != 0 && n->deadline_ns <= now)
            bg_exec_time_out(x, n);
    }
}

static void interrupt(bg_exec *x, int number)
{
    x->stop = x->interrupted = true;
    x->n_interrupts++;
    if (x->n_interrupts == 1)
        bg_exec_message(x, 0, true, "interrupted: waiting for what runs to stop; interrupt again to kill it");
    for (size_t i = 0; i < x->running.n; i++) {
        bg_exec_node *n = &x->nodes[x->running.at[i]];
        n->is_doomed = true;
        n->fail_reason = BG_STR("the run was interrupted");
        bg_exec_kill(x, n, x->n_interrupts > 1 ? SIGKILL : number == SIGINT ? SIGINT : SIGTERM);
    }
}

static void job_done(bg_exec *x, bg_exec_job *job)
{
    x->n_jobs--;
    switch (job->kind) {
    case BG_JOB_DIGEST:
    case BG_JOB_EARLY:
        bg_exec_digested(x, job);
        return;
    case BG_JOB_STORE:
        bg_exec_stored(x, job);
        break;
    case BG_JOB_RESTORE:
        bg_exec_restored(x, job);
        break;
    }
    bg_exec_job_free(job);
}

static void handle(bg_exec *x, const bg_host_event *e)
{
    switch (e->kind) {
    case BG_HOST_TIMER:
        break;
    case BG_HOST_OUTPUT:
        bg_exec_output(x, e->tag, e->stream, e->bytes, e->n);
        break;
    case BG_HOST_EXIT:
        bg_exec_exited(x, e->tag, e);
        break;
    case BG_HOST_JOB:
        job_done(x, e->tag);
        break;
    case BG_HOST_INTERRUPT:
        interrupt(x, e->signal);
        break;
    }
}

static void settle_rest(bg_exec *x)
{
    bg_str why = x->interrupted ? BG_STR("the run was interrupted")
                 : x->first_failed != 0
                     ? bg_exec_text(x, "not started, because `%.*s` failed", BG_FMT(x->nodes[x->first_failed].name))
                     : BG_STR("not started");
    for (size_t i = 0; i < x->n_order; i++) {
        bg_exec_node *n = &x->nodes[x->order[i]];
        if (n->is_reported)
            continue;
        if (n->state == BG_NODE_HAVE) {
            bg_exec_report_end(x, n,
                               n->was_restored ? BG_OUTCOME_RESTORED
                               : n->from_state ? BG_OUTCOME_UP_TO_DATE
                                               : BG_OUTCOME_CACHED,
                               (bg_str){"", 0});
        } else if (n->state == BG_NODE_PROVISIONAL) {
            bg_exec_discard(x, n);
            bg_exec_report_end(x, n, BG_OUTCOME_CANCELLED, why);
        } else {
            bg_exec_report_end(x, n, BG_OUTCOME_SKIPPED, why);
        }
    }
}

/* A failure of ours: kill everything and wait for it, so that nothing is left behind. */
static void abandon(bg_exec *x)
{
    x->stop = true;
    for (size_t i = 0; i < x->running.n; i++) {
        bg_exec_node *n = &x->nodes[x->running.at[i]];
        n->is_doomed = true;
        n->fail_reason = BG_STR("the run could not go on");
        bg_exec_kill(x, n, SIGKILL);
    }
}

static bool is_busy(const bg_exec *x)
{
    return x->running.n > 0 || x->n_jobs > 0;
}

/* Hashing sources may have taken a while: an interrupt of that time counts before anything starts. */
static bg_status look_up(bg_exec *x, bg_error *err)
{
    bg_host_event e;
    drain(x);
    BG_TRY(x->host->wait(x->host, 0, &e, err));
    handle(x, &e);
    return BG_OK;
}

bg_status bg_exec_schedule(bg_exec *x, bg_error *err)
{
    x->slots_free = (uint32_t)x->options->jobs;
    for (size_t i = 0; i < x->n_order; i++)
        bg_exec_touch(x, x->order[i]);
    BG_TRY(look_up(x, err));
    for (;;) {
        drain(x);
        start_ready(x);
        if (x->fatal != BG_OK)
            abandon(x);
        if (!is_busy(x) && (x->touched.n == 0 || x->fatal != BG_OK))
            break;
        if (x->touched.n > 0 && x->fatal == BG_OK)
            continue;
        bg_host_event e;
        BG_TRY(x->host->wait(x->host, next_deadline(x), &e, err));
        handle(x, &e);
        check_timers(x);
    }
    settle_rest(x);
    if (x->fatal != BG_OK && err != NULL)
        *err = x->fatal_error;
    return x->fatal;
}
