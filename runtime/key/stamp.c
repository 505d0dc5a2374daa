#include "key/stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

enum { NS_A_SECOND = 1000000000, TICK_FINE_NS = 20000000 };

static int64_t ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * NS_A_SECOND + t.tv_nsec;
}

bg_stamp bg_stamp_of(const struct stat *st)
{
    return (bg_stamp){
        .mtime_ns = ns_of(st->st_mtim),
        .ctime_ns = ns_of(st->st_ctim),
        .size_bytes = (uint64_t)st->st_size,
        .ino = (uint64_t)st->st_ino,
        .mode = (uint32_t)st->st_mode,
    };
}

int bg_stamp_read(bg_stamp *out, int dir_fd, const char *path)
{
    struct stat st;
    if (fstatat(dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno;
    *out = bg_stamp_of(&st);
    return 0;
}

bool bg_stamp_eq(const bg_stamp *a, const bg_stamp *b)
{
    return a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns && a->size_bytes == b->size_bytes &&
           a->ino == b->ino && a->mode == b->mode;
}

int64_t bg_stamp_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return ns_of(t);
}

bool bg_stamp_is_racy(const bg_stamp *stamp, int64_t read_ns)
{
    int64_t last = stamp->mtime_ns > stamp->ctime_ns ? stamp->mtime_ns : stamp->ctime_ns;
    /* Whole seconds in both: perhaps a file system that knows nothing finer (FAT: two seconds). */
    bool is_coarse = stamp->mtime_ns % NS_A_SECOND == 0 && stamp->ctime_ns % NS_A_SECOND == 0;
    return last + (is_coarse ? (int64_t)2 * NS_A_SECOND : TICK_FINE_NS) >= read_ns;
}
