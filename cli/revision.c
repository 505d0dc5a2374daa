/* A commit as a person names it: see revision.h. */
#include "revision.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

extern char **environ;

static bool is_hex(const char *text)
{
    size_t n = strspn(text, "0123456789abcdefABCDEF");
    return text[n] == 0 && n >= 4 && n <= 64;
}

/* Runs git with its standard output in *fd; false if there is no git. */
static bool start_git(const char *rev, int *fd, pid_t *pid)
{
    char name[512];
    int ends[2];
    int n = snprintf(name, sizeof name, "%s^{commit}", rev);
    if (n < 0 || (size_t)n >= sizeof name || pipe(ends) != 0)
        return false;
    char git[] = "git", parse[] = "rev-parse", verify[] = "--verify", quiet[] = "--quiet", end[] = "--end-of-options";
    char *argv[] = {git, parse, verify, quiet, end, name, NULL};
    posix_spawn_file_actions_t actions;
    bool started = false;
    if (posix_spawn_file_actions_init(&actions) == 0) {
        started = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) == 0 &&
                  posix_spawn_file_actions_addclose(&actions, ends[0]) == 0 &&
                  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                  posix_spawnp(pid, git, &actions, NULL, argv, environ) == 0;
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    *fd = ends[0];
    if (!started)
        close(ends[0]);
    return started;
}

static bool ask_git(const char *rev, char out[65])
{
    bg_buf text = {0};
    int fd, status = 0;
    pid_t pid;
    if (!start_git(rev, &fd, &pid))
        return false;
    bool read_all = bg_cli_read_fd(fd, 4096, &text) == BG_OK;
    close(fd);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    size_t n = text.len == 0 ? 0 : strcspn(text.data, "\n");
    bool good = read_all && WIFEXITED(status) && WEXITSTATUS(status) == 0 && (n == 40 || n == 64);
    if (good) {
        memcpy(out, text.data, n);
        out[n] = 0;
    }
    bg_buf_clear(&text);
    return good;
}

bg_status bg_revision_resolve(const char *rev, char out[65], bg_error *err)
{
    if (ask_git(rev, out))
        return BG_OK;
    if (!is_hex(rev))
        return bg_error_set(err, BG_E_USAGE, "git knows no commit `%.200s` here, and it is not the beginning of a commit's id", rev);
    size_t i = 0;
    for (; rev[i] != 0; i++)
        out[i] = (char)tolower((unsigned char)rev[i]);
    out[i] = 0;
    return BG_OK;
}
