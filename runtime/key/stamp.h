/** Stamps: what lstat says of a path, enough to tell that it was not touched since. Plain values, any thread. */
#ifndef BG_KEY_STAMP_H
#define BG_KEY_STAMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/** No padding: stored as it is in the local state. */
typedef struct {
    int64_t mtime_ns, ctime_ns;
    uint64_t size_bytes, ino;
    uint32_t mode;
    uint32_t pad;
} bg_stamp;

bg_stamp bg_stamp_of(const struct stat *st);
/** lstat; 0 or an errno. */
int bg_stamp_read(bg_stamp *out, int dir_fd, const char *path);
bool bg_stamp_eq(const bg_stamp *a, const bg_stamp *b);
/** Wall clock, to be taken before content is read. */
int64_t bg_stamp_now_ns(void);
/** Could the path have been written again after `read_ns` without its stamp changing? File systems tick coarsely. */
bool bg_stamp_is_racy(const bg_stamp *stamp, int64_t read_ns);

#endif
