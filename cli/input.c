/* From an argument to a loaded graph: see input.h. */
#include "input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stamps.h"

#define IMAGE_LIMIT ((size_t)1 << 31)

void bg_input_clear(bg_input *input)
{
    if (input->map != NULL)
        munmap(input->map, input->map_bytes);
    bg_buf_clear(&input->image);
    bg_arena_clear(&input->arena);
    *input = (bg_input){0};
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

bool bg_input_is_file(const char *argument)
{
    struct stat st;
    return ends_with(argument, ".bgraph") || ends_with(argument, ".bgb") ||
           (stat(argument, &st) == 0 && !S_ISDIR(st.st_mode));
}

/* The only *.bgraph of the current directory. */
static bg_status find_only(bg_arena *arena, const char **out, bg_error *err)
{
    DIR *dir = opendir(".");
    if (dir == NULL)
        return bg_error_os(err, errno, "can't read the current directory");
    const char *found = NULL;
    bool several = false;
    bg_status status = BG_OK;
    for (struct dirent *entry; !several && (entry = readdir(dir)) != NULL;) {
        if (!ends_with(entry->d_name, ".bgraph") || entry->d_name[0] == '.')
            continue;
        if (found != NULL) {
            /* named in the order of their names, whatever the directory's is */
            bool less = strcmp(found, entry->d_name) < 0;
            status = bg_error_set(err, BG_E_USAGE, "there are several .bgraph files here (%s, %s): name one",
                                  less ? found : entry->d_name, less ? entry->d_name : found);
            several = true;
        } else if ((found = bg_arena_strdup(arena, entry->d_name, strlen(entry->d_name))) == NULL) {
            status = bg_error_set(err, BG_E_NOMEM, "out of memory");
            several = true;
        }
    }
    closedir(dir);
    if (status == BG_OK && found == NULL)
        status = bg_error_set(err, BG_E_USAGE, "there is no .bgraph file here: name one, or make one with `bgc init`");
    *out = found;
    return status;
}

static bool has_magic(const char *file)
{
    char bytes[16] = {0};
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    struct stat st;
    bool is = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && read(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes &&
              memcmp(bytes, BG_IMAGE_MAGIC, sizeof bytes) == 0;
    close(fd);
    return is;
}

static bg_status fill_places(bg_input *input, bg_error *err)
{
    bg_arena *arena = &input->arena;
    const char *slash = strrchr(input->file, '/');
    const char *name = slash == NULL ? input->file : slash + 1;
    const char *dir = slash == NULL       ? "."
                      : slash == input->file ? "/"
                                             : bg_arena_strdup(arena, input->file, (size_t)(slash - input->file));
    input->root_dir = dir == NULL ? NULL : bg_cli_realpath(arena, dir);
    if (input->root_dir == NULL)
        return bg_error_os(err, errno, "can't find the directory of %s", input->file);
    size_t n = strlen(name);
    if (ends_with(name, ".bgraph"))
        n -= strlen(".bgraph");
    else if (ends_with(name, ".bgb"))
        n -= strlen(".bgb");
    input->stem = bg_arena_strdup(arena, name, n);
    input->state_dir = input->stem == NULL ? NULL
                                           : bg_arena_printf(arena, "%s/.bgraph/%s",
                                                             strcmp(input->root_dir, "/") == 0 ? "" : input->root_dir, input->stem);
    if (input->state_dir == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory");
    return BG_OK;
}

static bg_status fill_defines(bg_input *input, const bg_args *args, bg_error *err)
{
    input->defines = BG_ARENA_ARRAY(&input->arena, args->n_given + 1, bg_session_define);
    if (input->defines == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory");
    for (size_t i = 0; i < args->n_given; i++) {
        if (args->given[i].option->kind != BG_OPTION_DEFINE)
            continue;
        const char *text = args->given[i].value;
        size_t n = strcspn(text, "=");
        bg_session_define define = {{text, n}, bg_str_of(text + n + 1)};
        size_t at = 0; /* the last one of a name counts */
        while (at < input->n_defines && !bg_str_eq(input->defines[at].name, define.name))
            at++;
        input->defines[at] = define;
        if (at == input->n_defines)
            input->n_defines++;
    }
    return BG_OK;
}

bg_status bg_input_find(bg_input *input, const char *file, const bg_args *args, bg_error *err)
{
    if (file == NULL)
        BG_TRY(find_only(&input->arena, &file, err));
    if (strcmp(file, "-") == 0) {
        /* only an image can come that way: text would have no directory to be relative to */
        input->file = "standard input";
        input->is_image = input->is_stdin = true;
        return fill_places(input, err);
    }
    struct stat st;
    if (stat(file, &st) != 0) {
        int error = errno;
        bg_status status = bg_error_os(err, error, "can't read %s", file);
        return status == BG_E_NOENT ? bg_error_set(err, BG_E_USAGE, "there is no file %s", file) : status;
    }
    if (S_ISDIR(st.st_mode))
        return bg_error_set(err, BG_E_USAGE, "%s is a directory: name a .bgraph file", file);
    input->file = file;
    input->is_image = ends_with(file, ".bgb") || has_magic(file);
    BG_TRY(fill_places(input, err));
    BG_TRY(bg_cli_std_dir(&input->arena, &input->std_dir, err));
    return fill_defines(input, args, err);
}

static bg_status map_image(bg_input *input, int fd, const struct stat *st, const char *path, bg_error *err)
{
    input->map_bytes = (size_t)st->st_size;
    void *map = mmap(NULL, input->map_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return bg_error_os(err, errno, "can't map %s", path);
    input->map = map;
    return bg_graph_load(&input->graph, map, input->map_bytes, err);
}

static bg_status read_image(bg_input *input, int fd, const char *path, bg_error *err)
{
    bg_status status = bg_cli_read_fd(fd, IMAGE_LIMIT, &input->image);
    if (status == BG_E_IO)
        return bg_error_os(err, errno, "can't read %s", path);
    if (status != BG_OK)
        return bg_error_set(err, status, "out of memory while reading %s", path);
    return bg_graph_load(&input->graph, bg_buf_cstr(&input->image), input->image.len, err);
}

bg_status bg_input_load_image(bg_input *input, const char *path, bg_error *err)
{
    int fd = input->is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return bg_error_os(err, errno, "can't read %s", path);
    struct stat st;
    bg_status status;
    if (fstat(fd, &st) != 0)
        status = bg_error_os(err, errno, "can't read %s", path);
    else if (S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size <= IMAGE_LIMIT)
        status = map_image(input, fd, &st, path, err);
    else
        status = read_image(input, fd, path, err);
    close(fd);
    if (status == BG_E_CORRUPT || status == BG_E_VERSION || status == BG_E_LIMIT) {
        bg_error detail = *err;
        bg_error_set(err, status, "%s: %.900s", path, detail.text);
    }
    return status;
}

void bg_input_print_diags(const bg_session *session, bool color)
{
    const bg_diags *diags = bg_session_diags(session);
    if (diags->n == 0)
        return;
    uint32_t n_sources;
    const bg_source *const *sources = bg_session_sources(session, &n_sources);
    bg_buf text = {0};
    bg_diags_render_text(diags, sources, n_sources, (bg_diag_style){.color = color}, &text);
    if (text.failed)
        fputs("bgc: error: out of memory while printing the diagnostics\n", stderr);
    fwrite(bg_buf_cstr(&text), 1, text.len, stderr);
    bg_buf_clear(&text);
}

static bg_status load_kept(bg_input *input, const bg_stamps_context *context)
{
    char path[4096];
    bg_error unused = {0};
    int n = snprintf(path, sizeof path, "%s/image.bgb", input->state_dir);
    if (n < 0 || (size_t)n >= sizeof path)
        return BG_E_NOENT;
    bg_status status = bg_input_load_image(input, path, &unused);
    if (status == BG_OK && !bg_stamps_hold(input->state_dir, path, &input->graph, context))
        status = BG_E_CHANGED;
    if (status != BG_OK && input->map != NULL) {
        munmap(input->map, input->map_bytes);
        input->map = NULL;
    }
    if (status != BG_OK)
        bg_buf_clear(&input->image);
    return status;
}

static bg_status compile(bg_input *input, bg_stamps *stamps, bool *warned, bool color, bg_error *err)
{
    bg_session_options options = {
        .std_dir = input->std_dir,
        .defines = input->defines,
        .n_defines = input->n_defines,
        .read = bg_stamps_read,
        .read_self = stamps,
    };
    bg_session *session = bg_session_new(&options);
    if (session == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory");
    bg_status status = bg_session_compile(session, bg_str_of(input->file), &input->image, err);
    *warned = bg_session_diags(session)->n > 0;
    bg_input_print_diags(session, color);
    bg_session_free(session);
    return status;
}

bg_status bg_input_load(bg_input *input, bool keep, bool color, bg_error *err)
{
    if (input->is_image)
        return bg_input_load_image(input, input->file, err);
    bg_stamps_context context = {input->std_dir, input->defines, input->n_defines};
    if (keep && load_kept(input, &context) == BG_OK)
        return BG_OK;
    bg_stamps stamps = {0};
    bool warned = false;
    bg_status status = compile(input, &stamps, &warned, color, err);
    if (status == BG_OK)
        status = bg_graph_load(&input->graph, bg_buf_cstr(&input->image), input->image.len, err);
    /* a warning is said at every run, so what warns is compiled at every run */
    if (status == BG_OK && keep && !warned)
        bg_stamps_save(&stamps, input->state_dir, &input->graph, bg_buf_view(&input->image), &context);
    bg_stamps_clear(&stamps);
    return status;
}
