/* Processes by posix_spawn, their ends by pidfd, all waiting in one epoll set, signals through a pipe, jobs on a small pool of
 * threads that answer through an eventfd. */
#include "host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READ_SIZE = 65536, LOW_FDS = 10, LINGER_MS = 500 };

typedef struct proc proc;
typedef struct {
    proc *owner; /* NULL: an fd of the host itself */
    int fd;      /* -1: closed */
    int what;    /* bg_stream, or WHAT_* */
} source;
enum { WHAT_PID = BG_STREAM_COUNT, WHAT_SIGNAL, WHAT_JOBS };

struct proc {
    proc *next;
    uint64_t id;
    pid_t pid;
    void *tag;
    source streams[BG_STREAM_COUNT], pidfd;
    bool ended;
    bool is_zombie; /* ended and not yet reaped */
    uint64_t ended_ns;
    int exit_code;
    struct rusage usage;
};

typedef struct job job;
struct job {
    job *next;
    bg_host_job run;
    void *arg;
};

typedef struct {
    struct posix_host *host;
    unsigned index;
    pthread_t thread;
    bool started;
} worker;

typedef struct posix_host {
    bg_host base;
    int epoll, signal_pipe[2];
    source signal_source, job_source;
    struct sigaction old[3];
    proc *procs;
    uint64_t next_id;
    char *buffer;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    job *todo, **todo_end, *done, **done_end;
    bool stopping;
    worker *workers;
} posix_host;

static const int handled[3] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t signal_write_fd = -1;

static void on_signal(int number)
{
    int saved = errno;
    unsigned char byte = (unsigned char)number;
    if (signal_write_fd >= 0 && write(signal_write_fd, &byte, 1) < 0) {
        /* A full pipe already says enough. */
    }
    errno = saved;
}

static uint64_t now_ns(bg_host *host)
{
    (void)host;
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int64_t unix_s(bg_host *host)
{
    (void)host;
    return (int64_t)time(NULL);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bg_status watch(posix_host *h, source *s, bg_error *err)
{
    struct epoll_event ev = {.events = EPOLLIN, .data = {.ptr = s}};
    if (epoll_ctl(h->epoll, EPOLL_CTL_ADD, s->fd, &ev) != 0)
        return bg_error_os(err, errno, "cannot watch a descriptor");
    return BG_OK;
}

static void unwatch(posix_host *h, source *s)
{
    if (s->fd < 0)
        return;
    epoll_ctl(h->epoll, EPOLL_CTL_DEL, s->fd, NULL);
    close_fd(&s->fd);
}

/* A descriptor that can't be one of those a child is given. */
static bg_status lift(int *fd, bg_error *err)
{
    if (*fd >= LOW_FDS)
        return BG_OK;
    int high = fcntl(*fd, F_DUPFD_CLOEXEC, LOW_FDS);
    if (high < 0)
        return bg_error_os(err, errno, "cannot duplicate a descriptor");
    close(*fd);
    *fd = high;
    return BG_OK;
}

static bg_status open_pipe(int *read_end, int *write_end, bg_error *err)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0)
        return bg_error_os(err, errno, "cannot make a pipe");
    *read_end = fds[0];
    *write_end = fds[1];
    if (fcntl(fds[0], F_SETFL, O_NONBLOCK) != 0)
        return bg_error_os(err, errno, "cannot set up a pipe");
    BG_TRY(lift(read_end, err));
    return lift(write_end, err);
}

static bg_status check_action(int failed, bg_error *err)
{
    return failed == 0 ? BG_OK : bg_error_os(err, failed, "cannot set up a process");
}

static bg_status add_actions(posix_spawn_file_actions_t *acts, const bg_host_command *c, const int *child, bg_error *err)
{
    BG_TRY(check_action(posix_spawn_file_actions_addopen(acts, 0, "/dev/null", O_RDONLY, 0), err));
    BG_TRY(check_action(posix_spawn_file_actions_adddup2(acts, child[BG_STREAM_OUT], 1), err));
    int to_err = c->split_stderr ? child[BG_STREAM_ERR] : child[BG_STREAM_OUT];
    BG_TRY(check_action(posix_spawn_file_actions_adddup2(acts, to_err, 2), err));
    if (c->stdout_path != NULL)
        BG_TRY(check_action(
            posix_spawn_file_actions_addopen(acts, 1, c->stdout_path, O_WRONLY | O_CREAT | O_TRUNC, 0666), err));
    if (c->signal_pipe)
        BG_TRY(check_action(
            posix_spawn_file_actions_adddup2(acts, child[BG_STREAM_SIGNAL], BG_HOST_SIGNAL_FD), err));
    int first_closed = c->signal_pipe ? BG_HOST_SIGNAL_FD + 1 : 3;
    BG_TRY(check_action(posix_spawn_file_actions_addclosefrom_np(acts, first_closed), err));
    return check_action(posix_spawn_file_actions_addchdir_np(acts, c->cwd), err);
}

/* Default dispositions, but a hang-up that was ignored (nohup) stays so. */
static void set_signals(const posix_host *h, posix_spawnattr_t *attr)
{
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    if (h->old[2].sa_handler == SIG_IGN)
        sigdelset(&all, SIGHUP);
    posix_spawnattr_setsigdefault(attr, &all);
    posix_spawnattr_setsigmask(attr, &none);
    posix_spawnattr_setpgroup(attr, 0);
    posix_spawnattr_setflags(attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

/* posix_spawn reports one errno for all its steps: look which one it was. */
static bg_status spawn_error(const bg_host_command *c, int failed, bg_error *err)
{
    if (access(c->cwd, X_OK) != 0)
        return bg_error_os(err, errno, "cannot work in the directory %s", c->cwd);
    if (access(c->argv[0], X_OK) != 0)
        return bg_error_os(err, errno, "cannot run %s", c->argv[0]);
    if (c->stdout_path != NULL && access(c->stdout_path, W_OK) != 0 && errno != ENOENT)
        return bg_error_os(err, errno, "cannot write standard output to %s", c->stdout_path);
    if (failed == ENOENT)
        return bg_error_os(err, failed, "cannot run %s (its interpreter, or the directory of its standard output, is missing)",
                           c->argv[0]);
    return bg_error_os(err, failed, "cannot run %s", c->argv[0]);
}

static bg_status start(posix_host *h, const bg_host_command *c, const int *child, pid_t *pid, bg_error *err)
{
    posix_spawn_file_actions_t acts;
    posix_spawnattr_t attr;
    BG_TRY(check_action(posix_spawn_file_actions_init(&acts), err));
    int failed = posix_spawnattr_init(&attr);
    if (failed != 0) {
        posix_spawn_file_actions_destroy(&acts);
        return check_action(failed, err);
    }
    set_signals(h, &attr);
    bg_status status = add_actions(&acts, c, child, err);
    if (status == BG_OK) {
        failed = posix_spawn(pid, c->argv[0], &acts, &attr, c->argv, c->envp);
        if (failed != 0)
            status = spawn_error(c, failed, err);
    }
    posix_spawn_file_actions_destroy(&acts);
    posix_spawnattr_destroy(&attr);
    return status;
}

/* What a command leaves in its group could write to outputs that have been hashed: it ends with the command, and is killed before
 * the command is reaped, while the group's number can't belong to somebody else. */
static void end_group(proc *p)
{
    if (!p->is_zombie)
        return;
    p->is_zombie = false;
    kill(-p->pid, SIGKILL);
    while (wait4(p->pid, NULL, 0, &p->usage) < 0 && errno == EINTR) {
    }
}

static void proc_free(posix_host *h, proc *p)
{
    end_group(p);
    for (int i = 0; i < BG_STREAM_COUNT; i++)
        unwatch(h, &p->streams[i]);
    unwatch(h, &p->pidfd);
    for (proc **at = &h->procs; *at != NULL; at = &(*at)->next) {
        if (*at == p) {
            *at = p->next;
            break;
        }
    }
    free(p);
}

static bg_status open_streams(posix_host *h, proc *p, const bg_host_command *c, int *child, bg_error *err)
{
    const bool wanted[BG_STREAM_COUNT] = {true, c->split_stderr, c->signal_pipe};
    for (int i = 0; i < BG_STREAM_COUNT; i++) {
        if (!wanted[i])
            continue;
        BG_TRY(open_pipe(&p->streams[i].fd, &child[i], err));
        BG_TRY(watch(h, &p->streams[i], err));
    }
    return BG_OK;
}

static bg_status watch_pid(posix_host *h, proc *p, bg_error *err)
{
    p->pidfd.fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
    if (p->pidfd.fd < 0)
        return bg_error_os(err, errno, "cannot watch process %ld", (long)p->pid);
    fcntl(p->pidfd.fd, F_SETFD, FD_CLOEXEC);
    return watch(h, &p->pidfd, err);
}

static bg_status spawn(bg_host *base, const bg_host_command *c, void *tag, uint64_t *id, bg_error *err)
{
    posix_host *h = (posix_host *)base;
    proc *p = calloc(1, sizeof *p);
    if (p == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory when starting %s", c->argv[0]);
    int child[BG_STREAM_COUNT] = {-1, -1, -1};
    p->tag = tag;
    p->id = ++h->next_id;
    for (int i = 0; i < BG_STREAM_COUNT; i++)
        p->streams[i] = (source){p, -1, i};
    p->pidfd = (source){p, -1, WHAT_PID};
    p->next = h->procs;
    h->procs = p;
    bg_status status = open_streams(h, p, c, child, err);
    if (status == BG_OK)
        status = start(h, c, child, &p->pid, err);
    for (int i = 0; i < BG_STREAM_COUNT; i++)
        close_fd(&child[i]);
    if (status == BG_OK) {
        status = watch_pid(h, p, err);
        if (status != BG_OK) {
            kill(-p->pid, SIGKILL);
            waitpid(p->pid, NULL, 0);
        }
    }
    if (status != BG_OK) {
        proc_free(h, p);
        return status;
    }
    *id = p->id;
    return BG_OK;
}

static void kill_group(bg_host *base, uint64_t id, int number)
{
    posix_host *h = (posix_host *)base;
    for (proc *p = h->procs; p != NULL; p = p->next) {
        if (p->id == id && (!p->ended || p->is_zombie))
            kill(-p->pid, number);
    }
}

static void *work(void *arg)
{
    worker *w = arg;
    posix_host *h = w->host;
    pthread_mutex_lock(&h->lock);
    for (;;) {
        while (h->todo == NULL && !h->stopping)
            pthread_cond_wait(&h->wake, &h->lock);
        job *j = h->todo;
        if (j == NULL)
            break;
        h->todo = j->next;
        if (h->todo == NULL)
            h->todo_end = &h->todo;
        pthread_mutex_unlock(&h->lock);
        j->run(j->arg, w->index);
        pthread_mutex_lock(&h->lock);
        j->next = NULL;
        *h->done_end = j;
        h->done_end = &j->next;
        uint64_t one = 1;
        if (write(h->job_source.fd, &one, sizeof one) < 0) {
            /* The counter is full: the reader is awake already. */
        }
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

/* Workers take no signals: those are for the scheduler's thread. */
static bg_status start_worker(posix_host *h, bg_error *err)
{
    for (unsigned i = 0; i < h->base.n_workers; i++) {
        worker *w = &h->workers[i];
        if (w->started)
            continue;
        sigset_t all, old;
        sigfillset(&all);
        *w = (worker){.host = h, .index = i};
        pthread_sigmask(SIG_SETMASK, &all, &old);
        int failed = pthread_create(&w->thread, NULL, work, w);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        w->started = failed == 0;
        if (failed != 0 && i == 0)
            return bg_error_os(err, failed, "cannot start a thread");
        return BG_OK;
    }
    return BG_OK;
}

static bg_status submit(bg_host *base, bg_host_job run, void *arg, bg_error *err)
{
    posix_host *h = (posix_host *)base;
    job *j = malloc(sizeof *j);
    if (j == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory");
    *j = (job){.run = run, .arg = arg};
    bg_status status = start_worker(h, err);
    if (status != BG_OK) {
        free(j);
        return status;
    }
    pthread_mutex_lock(&h->lock);
    *h->todo_end = j;
    h->todo_end = &j->next;
    pthread_cond_signal(&h->wake);
    pthread_mutex_unlock(&h->lock);
    return BG_OK;
}

static bool take_done(posix_host *h, bg_host_event *out)
{
    pthread_mutex_lock(&h->lock);
    job *j = h->done;
    if (j != NULL) {
        h->done = j->next;
        if (h->done == NULL)
            h->done_end = &h->done;
    }
    pthread_mutex_unlock(&h->lock);
    if (j == NULL)
        return false;
    *out = (bg_host_event){.kind = BG_HOST_JOB, .tag = j->arg};
    free(j);
    return true;
}

static bool streams_open(const proc *p)
{
    for (int i = 0; i < BG_STREAM_COUNT; i++) {
        if (p->streams[i].fd >= 0)
            return true;
    }
    return false;
}

static uint64_t timeval_ns(struct timeval tv)
{
    return (uint64_t)tv.tv_sec * 1000000000u + (uint64_t)tv.tv_usec * 1000u;
}

/* A process counts as ended once its pipes are dry, or a while after, since a grandchild may hold them. */
static bool take_ended(posix_host *h, uint64_t now, bg_host_event *out)
{
    for (proc *p = h->procs; p != NULL; p = p->next) {
        if (!p->ended || (streams_open(p) && now < p->ended_ns + LINGER_MS * 1000000u))
            continue;
        end_group(p);
        *out = (bg_host_event){.kind = BG_HOST_EXIT,
                               .tag = p->tag,
                               .exit_code = p->exit_code,
                               .user_ns = timeval_ns(p->usage.ru_utime),
                               .sys_ns = timeval_ns(p->usage.ru_stime),
                               .max_rss_bytes = (uint64_t)p->usage.ru_maxrss * 1024};
        proc_free(h, p);
        return true;
    }
    return false;
}

static uint64_t linger_deadline(const posix_host *h, uint64_t deadline)
{
    for (const proc *p = h->procs; p != NULL; p = p->next) {
        uint64_t at = p->ended_ns + LINGER_MS * 1000000u;
        if (p->ended && at < deadline)
            deadline = at;
    }
    return deadline;
}

static void reap(posix_host *h, proc *p)
{
    siginfo_t info = {0};
    int rc = waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    if ((rc == 0 && info.si_pid == 0) || (rc < 0 && errno == EINTR))
        return;
    p->ended = true;
    p->is_zombie = rc == 0;
    p->ended_ns = now_ns(&h->base);
    if (rc < 0)
        p->exit_code = 127;
    else
        p->exit_code = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
    unwatch(h, &p->pidfd);
}

static bool read_stream(posix_host *h, source *s, bg_host_event *out)
{
    ssize_t n = read(s->fd, h->buffer, READ_SIZE);
    if (n > 0) {
        *out = (bg_host_event){.kind = BG_HOST_OUTPUT,
                               .tag = s->owner->tag,
                               .stream = (bg_stream)s->what,
                               .bytes = h->buffer,
                               .n = (size_t)n};
        return true;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR))
        unwatch(h, s);
    return false;
}

static bool read_signal(posix_host *h, bg_host_event *out)
{
    unsigned char number;
    if (read(h->signal_pipe[0], &number, 1) != 1)
        return false;
    *out = (bg_host_event){.kind = BG_HOST_INTERRUPT, .signal = number};
    return true;
}

/* One ready source; true if it made an event. */
static bool handle(posix_host *h, source *s, bg_host_event *out)
{
    uint64_t count;
    switch (s->what) {
    case WHAT_PID:
        reap(h, s->owner);
        return false;
    case WHAT_SIGNAL:
        return read_signal(h, out);
    case WHAT_JOBS:
        if (read(s->fd, &count, sizeof count) < 0) {
            /* Somebody emptied it; the list says the truth. */
        }
        return take_done(h, out);
    default:
        return read_stream(h, s, out);
    }
}

static int timeout_ms(uint64_t now, uint64_t deadline)
{
    if (deadline == UINT64_MAX)
        return -1;
    if (deadline <= now)
        return 0;
    uint64_t ms = (deadline - now + 999999u) / 1000000u;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

static bg_status wait_event(bg_host *base, uint64_t deadline_ns, bg_host_event *out, bg_error *err)
{
    posix_host *h = (posix_host *)base;
    for (;;) {
        uint64_t now = now_ns(base);
        if (take_done(h, out) || take_ended(h, now, out))
            return BG_OK;
        uint64_t until = linger_deadline(h, deadline_ns);
        struct epoll_event ev;
        int n = epoll_wait(h->epoll, &ev, 1, timeout_ms(now, until));
        if (n < 0 && errno != EINTR)
            return bg_error_os(err, errno, "cannot wait for processes");
        if (n > 0 && handle(h, ev.data.ptr, out))
            return BG_OK;
        if (n == 0 && deadline_ns != UINT64_MAX && now_ns(base) >= deadline_ns) {
            *out = (bg_host_event){.kind = BG_HOST_TIMER};
            return BG_OK;
        }
    }
}

static void stop_workers(posix_host *h)
{
    pthread_mutex_lock(&h->lock);
    h->stopping = true;
    pthread_cond_broadcast(&h->wake);
    pthread_mutex_unlock(&h->lock);
    for (unsigned i = 0; h->workers != NULL && i < h->base.n_workers; i++) {
        if (h->workers[i].started)
            pthread_join(h->workers[i].thread, NULL);
    }
    bg_host_event ignored;
    while (take_done(h, &ignored)) {
    }
}

static void host_free(bg_host *base)
{
    if (base == NULL)
        return;
    posix_host *h = (posix_host *)base;
    stop_workers(h);
    if (signal_write_fd >= 0) {
        for (int i = 0; i < 3; i++)
            sigaction(handled[i], &h->old[i], NULL);
        signal_write_fd = -1;
    }
    while (h->procs != NULL)
        proc_free(h, h->procs);
    close_fd(&h->job_source.fd);
    close_fd(&h->signal_pipe[0]);
    close_fd(&h->signal_pipe[1]);
    close_fd(&h->epoll);
    pthread_cond_destroy(&h->wake);
    pthread_mutex_destroy(&h->lock);
    free(h->workers);
    free(h->buffer);
    free(h);
}

/* What was ignored when we were started stays ignored. */
static bg_status take_signals(posix_host *h, bg_error *err)
{
    BG_TRY(open_pipe(&h->signal_pipe[0], &h->signal_pipe[1], err));
    if (fcntl(h->signal_pipe[1], F_SETFL, O_NONBLOCK) != 0)
        return bg_error_os(err, errno, "cannot set up a pipe");
    h->signal_source = (source){NULL, h->signal_pipe[0], WHAT_SIGNAL};
    BG_TRY(watch(h, &h->signal_source, err));
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&act.sa_mask);
    signal_write_fd = h->signal_pipe[1];
    for (int i = 0; i < 3; i++) {
        sigaction(handled[i], NULL, &h->old[i]);
        if (h->old[i].sa_handler != SIG_IGN)
            sigaction(handled[i], &act, NULL);
    }
    return BG_OK;
}

static bg_status set_up(posix_host *h, bg_error *err)
{
    h->buffer = malloc(READ_SIZE);
    h->workers = calloc(h->base.n_workers, sizeof *h->workers);
    if (h->buffer == NULL || h->workers == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory");
    h->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (h->epoll < 0)
        return bg_error_os(err, errno, "cannot make an epoll set");
    h->job_source = (source){NULL, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), WHAT_JOBS};
    if (h->job_source.fd < 0)
        return bg_error_os(err, errno, "cannot make an eventfd");
    BG_TRY(watch(h, &h->job_source, err));
    return take_signals(h, err);
}

bg_host *bg_host_posix_new(unsigned n_workers, bg_error *err)
{
    posix_host *h = calloc(1, sizeof *h);
    if (h == NULL) {
        bg_error_set(err, BG_E_NOMEM, "out of memory");
        return NULL;
    }
    h->base = (bg_host){.n_workers = n_workers,
                        .now_ns = now_ns,
                        .unix_s = unix_s,
                        .spawn = spawn,
                        .kill_group = kill_group,
                        .submit = submit,
                        .wait = wait_event,
                        .free = host_free};
    h->epoll = h->job_source.fd = h->signal_pipe[0] = h->signal_pipe[1] = -1;
    h->todo_end = &h->todo;
    h->done_end = &h->done;
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->wake, NULL);
    if (set_up(h, err) != BG_OK) {
        host_free(&h->base);
        return NULL;
    }
    return &h->base;
}
