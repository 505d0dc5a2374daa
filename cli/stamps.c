/* Stamps beside a kept image: see stamps.h. The text, every line ended by \n:
 *   bgc VERSION | program STAMP PATH | image STAMP PATH | std DIR | define NAME=VALUE … | file STAMP PATH …
 * where STAMP is mtime, ctime (both ns), size and inode. */
#include "stamps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

/* A file changed less than this before it was read may change again with the same stamp. */
#define RACY_NS 50000000
#define SOURCE_LIMIT ((size_t)64 << 20)
#define STAMP_LIMIT ((size_t)16 << 20)

void bg_stamps_clear(bg_stamps *stamps)
{
    BG_VEC_CLEAR(&stamps->lines);
    bg_arena_clear(&stamps->arena);
    *stamps = (bg_stamps){0};
}

static int64_t ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static const char *stamp_line(bg_arena *arena, const char *word, const struct stat *st, const char *path)
{
    return bg_arena_printf(arena, "%s %lld %lld %lld %llu %s", word, (long long)ns_of(st->st_mtim), (long long)ns_of(st->st_ctim),
                           (long long)st->st_size, (unsigned long long)st->st_ino, path);
}

static void note(bg_stamps *stamps, const struct stat *st, const char *path)
{
    const char *absolute = bg_cli_absolute(&stamps->arena, path);
    const char *line = absolute == NULL ? NULL : stamp_line(&stamps->arena, "file", st, absolute);
    if (line == NULL || strchr(line, '\n') != NULL || !S_ISREG(st->st_mode) || !BG_VEC_PUSH(&stamps->lines, line))
        stamps->failed = true;
    if (ns_of(st->st_ctim) > stamps->youngest_ns)
        stamps->youngest_ns = ns_of(st->st_ctim);
    if (ns_of(st->st_mtim) > stamps->youngest_ns)
        stamps->youngest_ns = ns_of(st->st_mtim);
}

bg_status bg_stamps_read(void *self, bg_str path, bg_buf *out, bg_error *err)
{
    bg_stamps *stamps = self;
    const char *name = bg_arena_strdup(&stamps->arena, path.ptr, path.len);
    if (name == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory");
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return bg_error_os(err, errno, "can't read %s", name);
    struct stat st;
    bg_status status = BG_OK;
    if (fstat(fd, &st) != 0)
        status = bg_error_os(err, errno, "can't read %s", name);
    else if (S_ISDIR(st.st_mode))
        status = bg_error_os(err, EISDIR, "can't read %s", name);
    if (status == BG_OK) {
        note(stamps, &st, name);
        /* one byte more, so that the compiler sees that it is too large */
        status = bg_cli_read_fd(fd, SOURCE_LIMIT + 1, out);
        if (status == BG_E_IO)
            status = bg_error_os(err, errno, "can't read %s", name);
        else if (status != BG_OK)
            bg_error_set(err, status, "out of memory while reading %s", name);
    }
    close(fd);
    return status;
}

static bool is_baked(const bg_graph *graph, bg_str name, bool *known)
{
    for (uint32_t i = 1; i < graph->n_params; i++) {
        if (bg_str_eq(bg_graph_str(graph, graph->params[i].name), name)) {
            *known = true;
            return graph->params[i].is_baked != 0;
        }
    }
    *known = false;
    return false;
}

/* All of the text but the files; false where it can't be written down or a -D names nothing. */
static bool put_head(bg_buf *text, bg_arena *arena, const char *image_path, const bg_graph *graph,
                     const bg_stamps_context *context)
{
    struct stat program, image;
    const char *self = bg_cli_self(arena);
    if (self == NULL || stat(self, &program) != 0 || stat(image_path, &image) != 0)
        return false;
    bg_buf_printf(text, "bgc %s\n", BGC_VERSION);
    const char *program_line = stamp_line(arena, "program", &program, self);
    const char *image_line = stamp_line(arena, "image", &image, "image.bgb");
    if (program_line == NULL || image_line == NULL)
        return false;
    bg_buf_printf(text, "%s\n%s\nstd %.*s\n", program_line, image_line, BG_FMT(context->std_dir));
    for (size_t i = 0; i < context->n_defines; i++) {
        const bg_session_define *define = &context->defines[i];
        bool known;
        bool baked = is_baked(graph, define->name, &known);
        if (!known || memchr(define->value.ptr, '\n', define->value.len) != NULL)
            return false;
        if (baked)
            bg_buf_printf(text, "define %.*s=%.*s\n", BG_FMT(define->name), BG_FMT(define->value));
    }
    return !text->failed;
}

static bool join(char *out, size_t size, const char *dir, const char *name)
{
    int n = snprintf(out, size, "%s/%s", dir, name);
    return n > 0 && (size_t)n < size;
}

static bool make_dir(const char *dir)
{
    return mkdir(dir, 0777) == 0 || errno == EEXIST;
}

/* <root>/.bgraph with a .gitignore of its own, and <root>/.bgraph/<stem>. */
static bool make_state_dir(const char *state_dir)
{
    char top[4096], ignore[4096];
    const char *slash = strrchr(state_dir, '/');
    if (slash == NULL || (size_t)(slash - state_dir) >= sizeof top)
        return false;
    memcpy(top, state_dir, (size_t)(slash - state_dir));
    top[slash - state_dir] = 0;
    if (make_dir(top) && join(ignore, sizeof ignore, top, ".gitignore") && access(ignore, F_OK) != 0) {
        bg_error unused;
        (void)!bg_cli_write_file(ignore, BG_STR("*\n"), &unused);
    }
    return make_dir(state_dir);
}

void bg_stamps_save(const bg_stamps *stamps, const char *state_dir, const bg_graph *graph, bg_str image,
                    const bg_stamps_context *context)
{
    char image_path[4096], stamp_path[4096];
    struct timespec now;
    bg_error err = {0};
    if (stamps->failed || !make_state_dir(state_dir) || !join(image_path, sizeof image_path, state_dir, "image.bgb") ||
        !join(stamp_path, sizeof stamp_path, state_dir, "image.stamp"))
        return;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0 || ns_of(now) - stamps->youngest_ns < RACY_NS)
        return;
    if (bg_cli_write_file(image_path, image, &err) != BG_OK)
        return;
    bg_buf text = {0};
    bg_arena arena = {0};
    if (put_head(&text, &arena, image_path, graph, context)) {
        for (size_t i = 0; i < stamps->lines.n; i++)
            bg_buf_printf(&text, "%s\n", stamps->lines.at[i]);
        if (!text.failed)
            (void)!bg_cli_write_file(stamp_path, bg_buf_view(&text), &err);
    }
    bg_buf_clear(&text);
    bg_arena_clear(&arena);
}

/* Is the line what a stat of its path gives now? */
static bool line_holds(bg_arena *arena, const char *line)
{
    const char *path = line;
    for (int i = 0; i < 5; i++) {
        path = strchr(path, ' ');
        if (path == NULL)
            return false;
        path++;
    }
    struct stat st;
    if (strncmp(line, "file ", 5) != 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    const char *now = stamp_line(arena, "file", &st, path);
    return now != NULL && strcmp(now, line) == 0;
}

static bool lines_hold(char *text)
{
    bg_arena arena = {0};
    bool holds = *text != 0;
    while (holds && *text != 0) {
        char *end = strchr(text, '\n');
        if (end == NULL) {
            holds = false;
            break;
        }
        *end = 0;
        holds = line_holds(&arena, text);
        text = end + 1;
    }
    bg_arena_clear(&arena);
    return holds;
}

bool bg_stamps_hold(const char *state_dir, const char *path, const bg_graph *graph, const bg_stamps_context *context)
{
    char stamp_path[4096];
    if (!join(stamp_path, sizeof stamp_path, state_dir, "image.stamp"))
        return false;
    int fd = open(stamp_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bg_buf text = {0}, head = {0};
    bg_arena arena = {0};
    bool holds = bg_cli_read_fd(fd, STAMP_LIMIT, &text) == BG_OK && text.len > 0 && strlen(text.data) == text.len &&
                 put_head(&head, &arena, path, graph, context) && text.len > head.len &&
                 memcmp(text.data, head.data, head.len) == 0 && lines_hold(text.data + head.len);
    close(fd);
    bg_buf_clear(&text);
    bg_buf_clear(&head);
    bg_arena_clear(&arena);
    return holds;
}
