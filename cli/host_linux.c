/* What only the kernel can say: processors, terminal, paths. */
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

int bg_cli_n_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 && n < INT_MAX ? (int)n : 1;
}

int bg_cli_columns(int fd)
{
    struct winsize size;
    memset(&size, 0, sizeof size);
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

const char *bg_cli_realpath(bg_arena *arena, const char *path)
{
    char *real = realpath(path, NULL);
    if (real == NULL)
        return NULL;
    const char *out = bg_arena_strdup(arena, real, strlen(real));
    free(real);
    return out;
}

const char *bg_cli_self(bg_arena *arena)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    if (n <= 0 || (size_t)n >= sizeof path)
        return NULL;
    return bg_arena_strdup(arena, path, (size_t)n);
}
