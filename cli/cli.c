/* What the commands share: see cli.h. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int bg_cli_exit_code(bg_status status)
{
    static const int classes[] = {
#define BG_STATUS(name, cls, doc) cls,
#include "base/status.def"
#undef BG_STATUS
    };
    if (status == BG_E_INTERRUPTED)
        return 130;
    return (unsigned)status < sizeof classes / sizeof classes[0] ? classes[status] : 3;
}

int bg_cli_fail(bg_status status, const bg_error *err)
{
    fflush(stdout);
    if (status != BG_E_DIAGNOSED)
        fprintf(stderr, "bgc: error: %s\n", err->text[0] != 0 ? err->text : bg_status_text(status));
    return bg_cli_exit_code(status);
}

int bg_cli_usage(const char *command, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fflush(stdout);
    fprintf(stderr, "bgc%s%s: ", command == NULL ? "" : " ", command == NULL ? "" : command);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    if (command == NULL)
        fputs("\nSee `bgc help` for all commands.\n", stderr);
    else
        fprintf(stderr, "\nSee `bgc help %s`.\n", command);
    return 2;
}

void bg_cli_warn(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("bgc: warning: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
}

int bg_cli_flush(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    bg_error err = {0};
    bg_status status = bg_error_os(&err, errno != 0 ? errno : EIO, "can't write to standard output");
    if (err.os_error != EPIPE)
        return bg_cli_fail(status, &err);
    return 3; /* whoever read has gone; nobody is there to be told */
}

int bg_cli_put(const bg_buf *text)
{
    if (text->failed) {
        bg_error err = {0};
        return bg_cli_fail(bg_error_set(&err, BG_E_NOMEM, "out of memory"), &err);
    }
    if (text->len > 0)
        fwrite(text->data, 1, text->len, stdout);
    return bg_cli_flush();
}

int bg_cli_put_to(const char *path, const bg_buf *text)
{
    if (path == NULL || strcmp(path, "-") == 0)
        return bg_cli_put(text);
    bg_error err = {0};
    bg_status status;
    if (path[0] == 0)
        status = bg_error_set(&err, BG_E_USAGE, "`--output` names no file");
    else if (text->failed)
        status = bg_error_set(&err, BG_E_NOMEM, "out of memory");
    else
        status = bg_cli_write_file(path, bg_buf_view(text), &err);
    return status == BG_OK ? 0 : bg_cli_fail(status, &err);
}

const char *bg_cli_env(const char *name)
{
    const char *value = getenv(name);
    return value == NULL || value[0] == 0 ? NULL : value;
}

bool bg_cli_color(const bg_args *args, FILE *stream)
{
    const char *when = bg_args_text(args, "color");
    if (when != NULL && strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    const char *term = bg_cli_env("TERM");
    if (bg_cli_env("NO_COLOR") != NULL || term == NULL || strcmp(term, "dumb") == 0)
        return false;
    return isatty(fileno(stream)) == 1;
}

const char *bg_cli_absolute(bg_arena *arena, const char *path)
{
    if (path[0] == '/')
        return bg_arena_strdup(arena, path, strlen(path));
    char *cwd = NULL;
    for (size_t size = 256; size <= 65536; size *= 2) {
        cwd = bg_arena_alloc(arena, size);
        if (cwd == NULL)
            return NULL;
        if (getcwd(cwd, size) != NULL)
            return bg_arena_printf(arena, "%s/%s", strcmp(cwd, "/") == 0 ? "" : cwd, path);
        if (errno != ERANGE)
            return NULL;
    }
    return NULL;
}

static bool is_directory(const char *path)
{
    struct stat st;
    return path != NULL && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* <directory of the program>/../share/bgc/stdlib, NULL if that can't be told. */
static const char *beside_program(bg_arena *arena)
{
    const char *self = bg_cli_self(arena);
    const char *slash = self == NULL ? NULL : strrchr(self, '/');
    if (slash == NULL)
        return NULL;
    return bg_arena_printf(arena, "%.*s/../share/bgc/stdlib", (int)(slash - self), self);
}

bg_status bg_cli_std_dir(bg_arena *arena, bg_str *out, bg_error *err)
{
    const char *dir = bg_cli_env("BGC_STDLIB");
    if (dir != NULL) {
        const char *real = bg_cli_realpath(arena, dir);
        if (real == NULL)
            return bg_error_os(err, errno, "BGC_STDLIB names %s, which can't be used", dir);
        *out = bg_str_of(real);
        return BG_OK;
    }
    const char *beside = beside_program(arena);
    dir = is_directory(beside) ? bg_cli_realpath(arena, beside) : NULL;
    if (dir == NULL)
        dir = BGC_STDLIB_DIR;
    /* where it should be: a file that uses a std module is told that name */
    *out = bg_str_of(dir[0] == 0 && beside != NULL ? beside : dir);
    return BG_OK;
}

bg_status bg_cli_cache_dir(const bg_args *args, bg_arena *arena, const char **out, bg_error *err)
{
    const char *dir = bg_args_text(args, "cache");
    const char *below = "";
    if (dir != NULL && dir[0] == 0)
        return bg_error_set(err, BG_E_USAGE, "`--cache` names no directory");
    if (dir == NULL)
        dir = bg_cli_env("BGRAPH_CACHE");
    if (dir == NULL && (dir = bg_cli_env("XDG_CACHE_HOME")) != NULL)
        below = "/bgraph";
    if (dir == NULL && (dir = bg_cli_env("HOME")) != NULL)
        below = "/.cache/bgraph";
    *out = NULL;
    if (dir == NULL)
        return BG_OK;
    const char *absolute = bg_cli_absolute(arena, dir);
    if (absolute != NULL)
        *out = bg_arena_printf(arena, "%s%s", absolute, below);
    if (*out == NULL)
        return bg_error_set(err, BG_E_NOENT, "can't tell where the cache directory %s is: the current directory is gone", dir);
    return BG_OK;
}

static bg_status write_all(int fd, bg_str bytes)
{
    while (bytes.len > 0) {
        ssize_t n = write(fd, bytes.ptr, bytes.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return BG_E_IO;
        bytes.ptr += n;
        bytes.len -= (size_t)n;
    }
    return BG_OK;
}

static int write_open(int fd, bg_str bytes)
{
    int error = 0;
    mode_t mask = umask(0);
    umask(mask);
    if (write_all(fd, bytes) != BG_OK || fchmod(fd, 0666 & ~mask) != 0)
        error = errno;
    if (close(fd) != 0 && error == 0)
        error = errno;
    return error;
}

/* Devices and pipes can't be renamed over. */
static bool is_special(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

bg_status bg_cli_write_file(const char *path, bg_str bytes, bg_error *err)
{
    if (is_special(path)) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        bg_status status = fd < 0 ? BG_E_IO : write_all(fd, bytes);
        int error = errno;
        if (fd >= 0)
            close(fd);
        return status == BG_OK ? BG_OK : bg_error_os(err, error, "can't write %s", path);
    }
    bg_arena arena = {0};
    char *temp = bg_arena_printf(&arena, "%s.XXXXXX", path);
    if (temp == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory");
    int error = 0;
    int fd = mkstemp(temp);
    if (fd < 0) {
        error = errno;
    } else {
        error = write_open(fd, bytes);
        if (error == 0 && rename(temp, path) != 0)
            error = errno;
        if (error != 0)
            unlink(temp);
    }
    bg_arena_clear(&arena);
    return error == 0 ? BG_OK : bg_error_os(err, error, "can't write %s", path);
}

bg_status bg_cli_read_fd(int fd, size_t limit, bg_buf *out)
{
    while (out->len < limit) {
        size_t want = limit - out->len < 65536 ? limit - out->len : 65536;
        char *to = bg_buf_reserve(out, want);
        if (to == NULL)
            return BG_E_NOMEM;
        ssize_t n = read(fd, to, want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return BG_E_IO;
        if (n == 0)
            break;
        out->len += (size_t)n;
    }
    if (out->data != NULL)
        out->data[out->len] = 0;
    return BG_OK;
}
