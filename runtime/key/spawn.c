#include "key/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ; /* handed on as it is, never read */

enum { KEEP_BYTES = 1 << 20, LIMIT_S = 60, ERROR_TAIL = 500 };

static int make_pipe(int fds[2])
{
    if (pipe(fds) != 0)
        return errno;
    for (int i = 0; i < 2; i++)
        if (fcntl(fds[i], F_SETFD, FD_CLOEXEC) != 0)
            return errno;
    return 0;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int spawn(pid_t *pid, char *const *argv, int out, int diag)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none, usual;
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0)
        return rc;
    rc = posix_spawnattr_init(&attr);
    if (rc != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return rc;
    }
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGTERM);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &usual);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    rc = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&actions, out, 1);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&actions, diag, 2);
    if (rc == 0)
        rc = posix_spawn(pid, argv[0], &actions, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* One read into `buf`, or past its limit into nothing. Closes *fd at the end. */
static void take(int *fd, bg_buf *buf)
{
    char room[8192];
    ssize_t n = read(*fd, room, sizeof room);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0)
        close_fd(fd);
    else if (buf->len < KEEP_BYTES)
        bg_buf_put(buf, room, (size_t)n);
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Until both ends are closed; false when time is up. */
static bool collect(int fds[2], bg_buf *out, bg_buf *diag)
{
    int64_t end_ms = now_ms() + (int64_t)LIMIT_S * 1000;
    while (fds[0] >= 0 || fds[1] >= 0) {
        struct pollfd p[2] = {{fds[0], POLLIN, 0}, {fds[1], POLLIN, 0}};
        int64_t left_ms = end_ms - now_ms();
        if (left_ms <= 0)
            return false;
        if (poll(p, 2, (int)left_ms) <= 0)
            continue;
        if (fds[0] >= 0 && p[0].revents != 0)
            take(&fds[0], out);
        if (fds[1] >= 0 && p[1].revents != 0)
            take(&fds[1], diag);
    }
    return true;
}

static int wait_for(pid_t pid)
{
    int status;
    pid_t rc;
    do
        rc = waitpid(pid, &status, 0);
    while (rc < 0 && errno == EINTR);
    return rc < 0 ? -1 : status;
}

static bg_status judge(int status, char *const *argv, const bg_buf *out, const bg_buf *diag, bg_error *err)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return BG_OK;
    const bg_buf *said = diag->len != 0 ? diag : out;
    bg_str tail = bg_buf_view(said);
    if (tail.len > ERROR_TAIL)
        tail = (bg_str){tail.ptr + tail.len - ERROR_TAIL, ERROR_TAIL};
    const char *second = argv[1] == NULL ? "" : argv[1];
    if (WIFEXITED(status))
        return bg_error_set(err, BG_E_ACTION, "`%s %s` failed with exit status %d; it said: %.*s", argv[0], second,
                            WEXITSTATUS(status), BG_FMT(tail));
    return bg_error_set(err, BG_E_ACTION, "`%s %s` was ended by signal %d; it said: %.*s", argv[0], second,
                        WIFSIGNALED(status) ? WTERMSIG(status) : 0, BG_FMT(tail));
}

bg_status bg_spawn_capture(char *const *argv, bg_buf *out, bg_buf *diag, bg_error *err)
{
    int o[2] = {-1, -1}, d[2] = {-1, -1};
    pid_t pid = -1;
    bg_buf_reset(out);
    bg_buf_reset(diag);
    int rc = make_pipe(o);
    if (rc == 0)
        rc = make_pipe(d);
    if (rc == 0)
        rc = spawn(&pid, argv, o[1], d[1]);
    close_fd(&o[1]);
    close_fd(&d[1]);
    bool in_time = true;
    int status = 0;
    if (rc == 0) {
        int fds[2] = {o[0], d[0]};
        in_time = collect(fds, out, diag);
        o[0] = fds[0];
        d[0] = fds[1];
        if (!in_time)
            kill(pid, SIGKILL);
        status = wait_for(pid);
    }
    close_fd(&o[0]);
    close_fd(&d[0]);
    if (rc != 0)
        return bg_error_os(err, rc, "can't start %s", argv[0]);
    if (!in_time)
        return bg_error_set(err, BG_E_ACTION, "`%s %s` did not end within %d s and was killed; is its version command right?",
                            argv[0], argv[1] == NULL ? "" : argv[1], LIMIT_S);
    if (out->failed || diag->failed)
        return bg_error_set(err, BG_E_NOMEM, "out of memory while %s was run", argv[0]);
    return judge(status, argv, out, diag, err);
}
