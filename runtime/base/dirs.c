#include "base/dirs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

static bg_status make_one(const char *path, bg_error *err)
{
    if (mkdir(path, 0777) == 0)
        return BG_OK;
    int failed = errno;
    struct stat st;
    if (failed == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return BG_OK;
    return bg_error_os(err, failed, "cannot make the directory %s", path);
}

bg_status bg_fs_mkdirs(const char *path, bg_error *err)
{
    if (mkdir(path, 0777) == 0)
        return BG_OK;
    bg_buf buf = {0};
    bg_buf_puts(&buf, path);
    if (buf.failed) {
        bg_buf_clear(&buf);
        return bg_error_set(err, BG_E_NOMEM, "out of memory");
    }
    bg_status status = BG_OK;
    for (size_t i = 1; i < buf.len && status == BG_OK; i++) {
        if (buf.data[i] != '/')
            continue;
        buf.data[i] = '\0';
        status = make_one(buf.data, err);
        buf.data[i] = '/';
    }
    if (status == BG_OK)
        status = make_one(path, err);
    bg_buf_clear(&buf);
    return status;
}

bg_status bg_fs_mkdirs_parent(const char *path, bg_error *err)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path)
        return BG_OK;
    bg_buf buf = {0};
    bg_buf_put(&buf, path, (size_t)(slash - path));
    bg_status status = buf.failed ? bg_error_set(err, BG_E_NOMEM, "out of memory") : bg_fs_mkdirs(buf.data, err);
    bg_buf_clear(&buf);
    return status;
}

static bg_status remove_at(int dir, const char *name, int depth, bg_error *err);

/* A directory that its owner may not write (a read-only output) is opened up first. */
static bg_status remove_children(int fd, int depth, bg_error *err)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && (st.st_mode & S_IRWXU) != S_IRWXU && fchmod(fd, 0700) != 0) {
        /* The unlink below says it better. */
    }
    DIR *d = fdopendir(fd);
    if (d == NULL) {
        int failed = errno;
        close(fd);
        return bg_error_os(err, failed, "cannot read a directory that is to be removed");
    }
    bg_status status = BG_OK;
    for (;;) {
        errno = 0;
        struct dirent *e = readdir(d);
        if (e == NULL || status != BG_OK)
            break;
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            status = remove_at(fd, e->d_name, depth + 1, err);
    }
    closedir(d);
    return status;
}

static bg_status remove_at(int dir, const char *name, int depth, bg_error *err)
{
    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT || errno == ENOTDIR)
        return BG_OK;
    if (errno != EISDIR && errno != EPERM && errno != EACCES)
        return bg_error_os(err, errno, "cannot remove %s", name);
    if (depth > 500)
        return bg_error_set(err, BG_E_LIMIT, "directories are nested too deeply at %s", name);
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir, name, flags);
    if (fd < 0 && errno == EACCES && fchmodat(dir, name, 0700, 0) == 0)
        fd = openat(dir, name, flags);
    if (fd < 0)
        return bg_error_os(err, errno, "cannot remove %s", name);
    BG_TRY(remove_children(fd, depth, err));
    if (unlinkat(dir, name, AT_REMOVEDIR) != 0 && errno != ENOENT)
        return bg_error_os(err, errno, "cannot remove the directory %s", name);
    return BG_OK;
}

bg_status bg_fs_remove(const char *path, bg_error *err)
{
    return remove_at(AT_FDCWD, path, 0, err);
}
