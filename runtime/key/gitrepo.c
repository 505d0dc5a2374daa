#include "key/gitrepo.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void bg_git_repo_clear(bg_git_repo *repo)
{
    bg_buf_clear(&repo->top);
    bg_buf_clear(&repo->dir);
    bg_buf_clear(&repo->common);
}

static bg_status no_memory(bg_error *err)
{
    return bg_error_set(err, BG_E_NOMEM, "out of memory while a git repository was looked for");
}

/* First line of a small file, without its end; false if it is not there. */
static bool first_line(const char *path, char *line, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, line, size - 1);
    close(fd);
    if (n <= 0)
        return false;
    line[n] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    return true;
}

/* `path`, taken from `base` if it is relative. */
static void put_path(bg_buf *out, const char *base, const char *path)
{
    bg_buf_reset(out);
    if (path[0] != '/')
        bg_buf_printf(out, "%s/", base);
    bg_buf_puts(out, path);
    while (out->len > 1 && out->data[out->len - 1] == '/')
        out->data[--out->len] = '\0';
}

static bool has(const bg_buf *dir, const char *name)
{
    bg_buf path = {0};
    bg_buf_printf(&path, "%s/%s", bg_buf_cstr(dir), name);
    bool is_there = !path.failed && access(path.data, F_OK) == 0;
    bg_buf_clear(&path);
    return is_there;
}

/* HEAD may be a symbolic link to a branch that is not born yet, so it is not followed. */
static bool has_head(const bg_buf *dir)
{
    bg_buf path = {0};
    struct stat st;
    bg_buf_printf(&path, "%s/HEAD", bg_buf_cstr(dir));
    bool is_there = !path.failed && lstat(path.data, &st) == 0;
    bg_buf_clear(&path);
    return is_there;
}

static void find_common(bg_git_repo *repo)
{
    char line[4096];
    bg_buf path = {0};
    bg_buf_printf(&path, "%s/commondir", repo->dir.data);
    if (!path.failed && first_line(path.data, line, sizeof line))
        put_path(&repo->common, repo->dir.data, line);
    else
        bg_buf_puts(&repo->common, repo->dir.data);
    bg_buf_clear(&path);
}

bg_status bg_git_repo_at(bg_git_repo *out, bg_str dir, bg_error *err)
{
    bg_buf link = {0};
    struct stat st;
    char line[4096];
    *out = (bg_git_repo){0};
    bg_buf_str(&out->top, dir);
    bg_buf_printf(&link, "%.*s/.git", (int)(bg_str_is(dir, "/") ? 0 : dir.len), dir.ptr);
    bg_status status = BG_E_NOENT;
    if (out->top.failed || link.failed) {
        status = no_memory(err);
    } else if (stat(link.data, &st) == 0 && S_ISDIR(st.st_mode)) {
        bg_buf_puts(&out->dir, link.data);
        status = BG_OK;
    } else if (lstat(link.data, &st) == 0 && S_ISREG(st.st_mode) && first_line(link.data, line, sizeof line) &&
               strncmp(line, "gitdir: ", 8) == 0) {
        put_path(&out->dir, out->top.data, line + 8);
        status = BG_OK;
        if (!has_head(&out->dir))
            status = bg_error_set(err, BG_E_CORRUPT, "%s names the git directory %s, which is not there; if the repository was "
                                                     "moved, `git worktree repair` corrects it", link.data, out->dir.data);
    }
    bg_buf_clear(&link);
    if (status == BG_OK)
        find_common(out);
    if (status == BG_OK && (out->dir.failed || out->common.failed))
        status = no_memory(err);
    if (status == BG_OK && (!has_head(&out->dir) || !has(&out->common, "objects")))
        status = BG_E_NOENT; /* a .git that is no repository: git looks further up, too */
    if (status != BG_OK)
        bg_git_repo_clear(out);
    return status;
}

bg_status bg_git_repo_find(bg_git_repo *out, bg_str dir, bg_error *err)
{
    for (bg_str at = dir;;) {
        bg_status status = bg_git_repo_at(out, at, err);
        if (status != BG_E_NOENT)
            return status;
        if (at.len <= 1)
            break;
        while (at.len > 1 && at.ptr[at.len - 1] != '/')
            at.len--;
        if (at.len > 1)
            at.len--;
    }
    return bg_error_set(err, BG_E_USAGE, "%.*s is not in a git work tree. Write `dir =` instead of `git =` to key it by its content, "
                                         "or `git init` there.", BG_FMT(dir));
}
