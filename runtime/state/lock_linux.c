#include "state/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static long holder(int fd)
{
    char text[32];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    long pid = strtol(text, NULL, 10);
    return pid > 0 ? pid : 0;
}

static int flock_again(int fd, int how)
{
    int rc;
    do
        rc = flock(fd, how);
    while (rc != 0 && errno == EINTR);
    return rc == 0 ? 0 : errno;
}

static void sign(int fd)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    /* The pid is a courtesy to who waits; a full disk must not stop the run here. */
    if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)n, 0) != n)
        (void)ftruncate(fd, 0);
}

bg_status bg_state_lock(int *fd_out, const char *path, void (*waiting)(void *self, long pid), void *self, bg_error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return bg_error_os(err, errno, "can't open the lock file %s; make its directory writable, or choose another place "
                                       "for the state", path);
    int rc = flock_again(fd, LOCK_EX | LOCK_NB);
    if (rc == EWOULDBLOCK) {
        if (waiting != NULL)
            waiting(self, holder(fd));
        rc = flock_again(fd, LOCK_EX);
    }
    if (rc != 0) {
        close(fd);
        return bg_error_os(err, rc, "can't lock %s; if the file system has no locks, put the state on one that has", path);
    }
    sign(fd);
    *fd_out = fd;
    return BG_OK;
}

void bg_state_unlock(int fd)
{
    if (fd < 0)
        return;
    (void)ftruncate(fd, 0);
    close(fd);
}
