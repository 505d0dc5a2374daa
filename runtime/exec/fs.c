/* Directories: stamps of everything below one. */
#include "exec/exec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t time_ns(struct timespec ts)
{
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names of a directory, sorted; each is the caller's to free. */
static bg_status list_names(const char *path, char ***names, size_t *n, bg_error *err)
{
    BG_VEC(char *) all = {0};
    DIR *d = opendir(path);
    if (d == NULL)
        return bg_error_os(err, errno, "cannot read the directory %s", path);
    bg_status status = BG_OK;
    struct dirent *e;
    while (status == BG_OK && (e = readdir(d)) != NULL) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        char *copy = strdup(e->d_name);
        if (copy == NULL || !BG_VEC_PUSH(&all, copy)) {
            free(copy);
            status = bg_error_set(err, BG_E_NOMEM, "out of memory");
        }
    }
    closedir(d);
    if (all.n > 1)
        qsort(all.at, all.n, sizeof *all.at, by_name);
    *names = all.at;
    *n = all.n;
    return status;
}

static bg_status walk(bg_buf *path, size_t base_len, int depth, bg_fs_visit each, void *self, bg_error *err)
{
    struct stat st;
    if (path->failed || depth > 500)
        return bg_error_set(err, BG_E_LIMIT, "directories are nested too deeply at %s", bg_buf_cstr(path));
    if (lstat(path->data, &st) != 0)
        return bg_error_os(err, errno, "cannot find %s", path->data);
    bg_exec_stamp stamp = {.mode = (uint32_t)st.st_mode,
                           .size = S_ISDIR(st.st_mode) ? 0 : (uint64_t)st.st_size,
                           .mtime_ns = time_ns(st.st_mtim),
                           .ctime_ns = time_ns(st.st_ctim),
                           .ino = (uint64_t)st.st_ino};
    bg_str rel = {path->data + base_len + 1, path->len - base_len - 1};
    if (!each(self, rel, &stamp))
        return BG_E_CHANGED;
    if (!S_ISDIR(st.st_mode))
        return BG_OK;
    char **names = NULL;
    size_t n = 0;
    bg_status status = list_names(path->data, &names, &n, err);
    size_t len = path->len;
    for (size_t i = 0; i < n; i++) {
        if (status == BG_OK) {
            bg_buf_putc(path, '/');
            bg_buf_puts(path, names[i]);
            status = walk(path, base_len, depth + 1, each, self, err);
            path->len = len;
            path->data[len] = '\0';
        }
        free(names[i]);
    }
    free(names);
    return status;
}

bg_status bg_fs_stamps(const char *base, bg_str rel, bg_fs_visit each, void *self, bg_error *err)
{
    bg_buf path = {0};
    bg_buf_puts(&path, base);
    size_t base_len = path.len;
    bg_buf_putc(&path, '/');
    bg_buf_str(&path, rel);
    bg_status status = walk(&path, base_len, 0, each, self, err);
    bg_buf_clear(&path);
    return status;
}
