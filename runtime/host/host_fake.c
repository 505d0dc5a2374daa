#include "host/host_fake.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

enum { PROCS_MAX = 64, JOBS_MAX = 256, INTERRUPTS_MAX = 4 };
#define START_NS 1000000000ull

typedef struct {
    bool used;
    uint64_t id, began_ns, killed_ns; /* killed_ns 0: not killed */
    void *tag;
    const bg_fake_script *script;
    size_t step;
    int killed_by;
    char *args[16]; /* copies */
} proc;

typedef struct {
    bg_host base;
    const bg_fake_script *scripts;
    uint64_t now, next_id;
    proc procs[PROCS_MAX];
    const char *started[1024]; /* words, in the order of starts */
    unsigned n_started, n_running, most;
    void *jobs[JOBS_MAX];
    size_t n_jobs;
    struct {
        uint64_t at;
        int signal;
    } interrupts[INTERRUPTS_MAX];
    size_t n_interrupts;
    bg_buf text;
} fake;

static uint64_t now_ns(bg_host *host)
{
    return ((fake *)host)->now;
}

static int64_t unix_s(bg_host *host)
{
    return (int64_t)(((fake *)host)->now / 1000000000u);
}

static const bg_fake_script *find_script(fake *f, const char *word)
{
    unsigned start = 1;
    for (unsigned i = 0; i < f->n_started; i++)
        start += strcmp(f->started[i], word) == 0;
    for (const bg_fake_script *s = f->scripts; s->word != NULL; s++) {
        if (strcmp(s->word, word) == 0 && (s->start == 0 || s->start == start))
            return s;
    }
    return NULL;
}

static bg_status spawn(bg_host *host, const bg_host_command *c, void *tag, uint64_t *id, bg_error *err)
{
    fake *f = (fake *)host;
    const bg_fake_script *s = c->argv[1] == NULL ? NULL : find_script(f, c->argv[1]);
    if (s == NULL || f->n_started == 1024)
        return bg_error_set(err, BG_E_NOENT, "no script for %s", c->argv[1] == NULL ? c->argv[0] : c->argv[1]);
    f->started[f->n_started++] = s->word;
    for (size_t i = 0; i < PROCS_MAX; i++) {
        proc *p = &f->procs[i];
        if (p->used)
            continue;
        *p = (proc){.used = true, .id = ++f->next_id, .began_ns = f->now, .tag = tag, .script = s};
        for (size_t k = 0; k < 15 && c->argv[k] != NULL; k++)
            p->args[k] = strdup(c->argv[k]);
        f->n_running++;
        f->most = f->n_running > f->most ? f->n_running : f->most;
        *id = p->id;
        return BG_OK;
    }
    return bg_error_set(err, BG_E_LIMIT, "too many processes");
}

static void kill_group(bg_host *host, uint64_t id, int number)
{
    fake *f = (fake *)host;
    for (size_t i = 0; i < PROCS_MAX; i++) {
        proc *p = &f->procs[i];
        if (p->used && p->id == id && p->killed_ns == 0 && (!p->script->stubborn || number == SIGKILL)) {
            p->killed_ns = f->now;
            p->killed_by = number;
        }
    }
}

static bg_status submit(bg_host *host, bg_host_job job, void *arg, bg_error *err)
{
    fake *f = (fake *)host;
    if (f->n_jobs == JOBS_MAX)
        return bg_error_set(err, BG_E_LIMIT, "too many jobs");
    job(arg, 0);
    f->jobs[f->n_jobs++] = arg;
    return BG_OK;
}

static bg_host_event end(fake *f, proc *p, int code)
{
    bg_host_event e = {.kind = BG_HOST_EXIT, .tag = p->tag, .exit_code = code, .user_ns = f->now - p->began_ns};
    for (size_t i = 0; i < 16; i++)
        free(p->args[i]);
    p->used = false;
    f->n_running--;
    return e;
}

static void write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    assert(out != NULL);
    fputs(text == NULL ? "" : text, out);
    fclose(out);
}

static bool output(fake *f, const proc *p, bg_stream stream, const char *text, bg_host_event *out)
{
    bg_buf_reset(&f->text);
    bg_buf_puts(&f->text, text);
    *out = (bg_host_event){
        .kind = BG_HOST_OUTPUT, .tag = p->tag, .stream = stream, .bytes = f->text.data, .n = f->text.len};
    return true;
}

static bool artifact(fake *f, const proc *p, const char *path, bg_host_event *out)
{
    char line[4096];
    snprintf(line, sizeof line, "{\"$message_type\":\"artifact\",\"artifact\":\"%s\",\"emit\":\"metadata\"}\n", path);
    return output(f, p, BG_STREAM_ERR, line, out);
}

/* True if it made an event. */
static bool take_step(fake *f, proc *p, bg_host_event *out)
{
    if (p->killed_ns != 0) {
        *out = end(f, p, 128 + p->killed_by);
        return true;
    }
    const bg_fake_step *s = &p->script->steps[p->step++];
    switch (s->kind) {
    case BG_FAKE_OUT:
        return output(f, p, BG_STREAM_OUT, s->text, out);
    case BG_FAKE_ERR:
        return output(f, p, BG_STREAM_ERR, s->text, out);
    case BG_FAKE_SIGNAL:
        return output(f, p, BG_STREAM_SIGNAL, s->text, out);
    case BG_FAKE_WRITE:
        write_file(p->args[s->arg], s->text);
        return false;
    case BG_FAKE_ARTIFACT:
        return artifact(f, p, p->args[s->arg], out);
    case BG_FAKE_EXIT:
        *out = end(f, p, s->code);
        return true;
    }
    return false;
}

static uint64_t next_time(const proc *p)
{
    return p->killed_ns != 0 ? p->killed_ns : p->began_ns + p->script->steps[p->step].at_ns;
}

static proc *earliest(fake *f)
{
    proc *best = NULL;
    for (size_t i = 0; i < PROCS_MAX; i++) {
        proc *p = &f->procs[i];
        if (!p->used)
            continue;
        if (best == NULL || next_time(p) < next_time(best) || (next_time(p) == next_time(best) && p->id < best->id))
            best = p;
    }
    return best;
}

static bool take_job(fake *f, bg_host_event *out)
{
    if (f->n_jobs == 0)
        return false;
    *out = (bg_host_event){.kind = BG_HOST_JOB, .tag = f->jobs[0]};
    memmove(f->jobs, f->jobs + 1, --f->n_jobs * sizeof *f->jobs);
    return true;
}

static bool take_interrupt(fake *f, uint64_t until, bg_host_event *out)
{
    if (f->n_interrupts == 0 || f->interrupts[0].at > until)
        return false;
    f->now = f->interrupts[0].at > f->now ? f->interrupts[0].at : f->now;
    *out = (bg_host_event){.kind = BG_HOST_INTERRUPT, .signal = f->interrupts[0].signal};
    memmove(f->interrupts, f->interrupts + 1, --f->n_interrupts * sizeof f->interrupts[0]);
    return true;
}

static bg_status wait_event(bg_host *host, uint64_t deadline_ns, bg_host_event *out, bg_error *err)
{
    fake *f = (fake *)host;
    for (;;) {
        if (take_job(f, out))
            return BG_OK;
        proc *p = earliest(f);
        uint64_t at = p == NULL ? UINT64_MAX : next_time(p);
        if (take_interrupt(f, at < deadline_ns ? at : deadline_ns, out))
            return BG_OK;
        if (at == UINT64_MAX && deadline_ns == UINT64_MAX)
            return bg_error_set(err, BG_E_USAGE, "nothing to wait for");
        if (deadline_ns < at) {
            f->now = deadline_ns > f->now ? deadline_ns : f->now;
            *out = (bg_host_event){.kind = BG_HOST_TIMER};
            return BG_OK;
        }
        f->now = at > f->now ? at : f->now;
        if (take_step(f, p, out))
            return BG_OK;
    }
}

static void host_free(bg_host *host)
{
    fake *f = (fake *)host;
    for (size_t i = 0; i < PROCS_MAX; i++) {
        if (f->procs[i].used)
            end(f, &f->procs[i], 0);
    }
    bg_buf_clear(&f->text);
    free(f);
}

bg_host *bg_host_fake_new(const bg_fake_script *scripts)
{
    fake *f = calloc(1, sizeof *f);
    if (f == NULL)
        return NULL;
    f->base = (bg_host){.n_workers = 1,
                        .now_ns = now_ns,
                        .unix_s = unix_s,
                        .spawn = spawn,
                        .kill_group = kill_group,
                        .submit = submit,
                        .wait = wait_event,
                        .free = host_free};
    f->scripts = scripts;
    f->now = START_NS;
    return &f->base;
}

void bg_host_fake_interrupt(bg_host *host, uint64_t at_ns, int number)
{
    fake *f = (fake *)host;
    assert(f->n_interrupts < INTERRUPTS_MAX);
    f->interrupts[f->n_interrupts].at = START_NS + at_ns;
    f->interrupts[f->n_interrupts++].signal = number;
}

unsigned bg_host_fake_most(const bg_host *host)
{
    const union {
        const bg_host *base;
        const fake *self;
    } cast = {host};
    return cast.self->most;
}
