#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/tree.h"

bg_status bg_mapped_open(bg_mapped *m, const char *path, bg_error *err)
{
    *m = (bg_mapped){.bytes = ""};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return bg_error_os(err, errno, "can't open %s", path);
    struct stat st;
    bg_status status = BG_OK;
    if (fstat(fd, &st) != 0) {
        status = bg_error_os(err, errno, "can't stat %s", path);
    } else if (!S_ISREG(st.st_mode)) {
        status = bg_error_set(err, BG_E_CHANGED, "%s is no regular file any more", path);
    } else if (st.st_size > 0) {
        m->map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (m->map == MAP_FAILED) {
            m->map = NULL;
            status = bg_error_os(err, errno, "can't map %s", path);
        } else {
            m->bytes = m->map;
            m->n = (size_t)st.st_size;
        }
    }
    close(fd);
    return status;
}

void bg_mapped_close(bg_mapped *m)
{
    if (m->map != NULL)
        munmap(m->map, m->n);
    *m = (bg_mapped){.bytes = ""};
}
