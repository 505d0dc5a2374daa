#include "files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "syntax/syntax.h"

enum { FILE_BYTES_MAX = 64 * 1024 * 1024 };

static bg_str dir_of(bg_str path)
{
    size_t n = path.len;
    while (n != 0 && path.ptr[n - 1] != '/')
        n--;
    return (bg_str){path.ptr, n > 1 ? n - 1 : n};
}

/* Without `.`, empty and, where something precedes them, `..` parts. */
static bg_str normal(bg_arena *arena, bg_str path)
{
    char *p = bg_arena_alloc(arena, path.len + 2);
    if (p == NULL)
        return (bg_str){NULL, 0};
    size_t n = 0, root = path.len != 0 && path.ptr[0] == '/';
    if (root != 0)
        p[n++] = '/';
    for (size_t i = 0; i < path.len;) {
        size_t end = i;
        while (end < path.len && path.ptr[end] != '/')
            end++;
        bg_str part = {path.ptr + i, end - i};
        size_t last = n;
        while (last > root && p[last - 1] != '/')
            last--;
        bool up = bg_str_is(part, "..");
        bool can_pop = n > root && !bg_str_is((bg_str){p + last, n - last}, "..");
        if (up && can_pop) {
            n = last > root ? last - 1 : root;
        } else if (part.len != 0 && !bg_str_is(part, ".") && !(up && root != 0)) {
            if (n > root)
                p[n++] = '/';
            memcpy(p + n, part.ptr, part.len);
            n += part.len;
        }
        i = end + 1;
    }
    return (bg_str){p, n};
}

/* `path` as seen from `dir`, both normal. */
static bg_str relative(bg_arena *arena, bg_str dir, bg_str path)
{
    size_t same = 0;
    for (size_t i = 0; i <= dir.len && i < path.len; i++) {
        bool dir_ends = i == dir.len || dir.ptr[i] == '/';
        if (dir_ends && path.ptr[i] == '/')
            same = i + 1;
        if (i == dir.len || dir.ptr[i] != path.ptr[i])
            break;
    }
    bg_buf buf = {0};
    bg_str rest = {dir.ptr + (same > dir.len ? dir.len : same), dir.len - (same > dir.len ? dir.len : same)};
    for (size_t i = 0; i < rest.len; i++)
        if (i == 0 || rest.ptr[i] == '/')
            bg_buf_puts(&buf, "../");
    bg_buf_put(&buf, path.ptr + same, path.len - same);
    bg_str out = {bg_arena_strdup(arena, bg_buf_cstr(&buf), buf.len), buf.len};
    bg_buf_clear(&buf);
    return out;
}

bg_str bg_files_beside(bg_files *files, bg_str path, bg_str rel)
{
    bg_str dir = dir_of(path);
    if (dir.len == 0 || (rel.len != 0 && rel.ptr[0] == '/'))
        return normal(files->arena, rel);
    char *p = bg_arena_printf(files->arena, "%.*s/%.*s", BG_FMT(dir), BG_FMT(rel));
    return p == NULL ? (bg_str){NULL, 0} : normal(files->arena, bg_str_of(p));
}

bg_file *bg_files_find(const bg_files *files, bg_str path)
{
    for (uint32_t i = 0; i < files->n_all; i++)
        if (bg_str_eq(files->all[i]->key, path))
            return files->all[i];
    return NULL;
}

static bg_status read_disk(bg_str path, bg_buf *out, bg_error *err)
{
    char name[4097];
    if (path.len >= sizeof name || memchr(path.ptr, 0, path.len) != NULL)
        return bg_error_set(err, BG_E_NOENT, "The path of a file is too long, or holds a NUL byte.");
    memcpy(name, path.ptr, path.len);
    name[path.len] = '\0';
    FILE *f = fopen(name, "rb");
    if (f == NULL)
        return bg_error_os(err, errno, "Can't open %s", name);
    size_t n = 1;
    while (n != 0 && out->len <= FILE_BYTES_MAX) {
        char *p = bg_buf_reserve(out, 65536);
        if (p == NULL)
            break;
        n = fread(p, 1, 65536, f);
        out->len += n;
    }
    bg_status status = BG_OK;
    if (out->failed)
        status = bg_error_set(err, BG_E_NOMEM, "Out of memory while reading %s.", name);
    else if (ferror(f) != 0)
        status = bg_error_os(err, errno, "Can't read %s", name);
    if (fclose(f) != 0 && status == BG_OK)
        status = bg_error_os(err, errno, "Can't read %s", name);
    return status;
}

static bg_status read_text(bg_files *files, bg_str path, bg_buf *out, bg_error *err)
{
    if (files->options->read != NULL)
        return files->options->read(files->options->read_self, path, out, err);
    return read_disk(path, out, err);
}

static bg_str absolute_dir(bg_files *files, bg_str path)
{
    bg_str dir = dir_of(path);
    char cwd[4096];
    bool known = (dir.len != 0 && dir.ptr[0] == '/') || files->options->read != NULL || getcwd(cwd, sizeof cwd) == NULL;
    if (known)
        return dir;
    char *p = bg_arena_printf(files->arena, "%s/%.*s", cwd, BG_FMT(dir));
    return p == NULL ? dir : normal(files->arena, bg_str_of(p));
}

static bool is_std(const bg_files *files, bg_str path)
{
    bg_str dir = files->options->std_dir;
    return dir.len != 0 && bg_str_starts(path, dir) && path.len > dir.len && path.ptr[dir.len] == '/';
}

static bg_status place(bg_files *files, bg_file *file)
{
    bg_source *source = &file->source;
    source->path = file->key;
    source->dir = absolute_dir(files, file->key);
    source->is_std = is_std(files, file->key);
    if (source->is_std) {
        size_t skip = files->options->std_dir.len + 1, end = file->key.len;
        if (end > skip + 7 && bg_str_is((bg_str){file->key.ptr + end - 7, 7}, ".bgraph"))
            end -= 7;
        char *p = bg_arena_printf(files->arena, "std/%.*s", (int)(end - skip), file->key.ptr + skip);
        source->image_path = bg_str_of(p);
    } else {
        bg_str root = files->n == 0 ? file->key : files->sources[0]->path;
        source->image_path = relative(files->arena, dir_of(root), file->key);
    }
    return source->image_path.ptr == NULL ? BG_E_NOMEM : BG_OK;
}

static bool grow(bg_files *files)
{
    if (files->n_all < files->cap)
        return true;
    uint32_t cap = files->cap == 0 ? 8 : files->cap * 2;
    bg_file **all = BG_ARENA_ARRAY(files->arena, cap, bg_file *);
    const bg_source **sources = BG_ARENA_ARRAY(files->arena, cap, const bg_source *);
    if (all == NULL || sources == NULL)
        return false;
    if (files->cap != 0) {
        memcpy(all, files->all, files->n_all * sizeof *all);
        memcpy(sources, files->sources, files->n * sizeof *sources);
    }
    files->all = all;
    files->sources = sources;
    files->cap = cap;
    return true;
}

static bg_status parse(bg_files *files, bg_file *file, bg_str text)
{
    uint32_t before = files->diags->n;
    BG_TRY(place(files, file));
    file->number = files->n + 1;
    files->sources[files->n++] = &file->source;
    BG_TRY(bg_source_init(&file->source, files->arena, text.ptr == NULL ? BG_STR("") : text, file->number, files->diags));
    BG_TRY(bg_parse(files->arena, &file->source, file->number, files->diags, &file->ast));
    files->n_parse_diags += files->diags->n - before;
    return BG_OK;
}

static bg_status read_new(bg_files *files, bg_str key, bg_file **out, bg_error *err)
{
    bg_file *file = BG_ARENA_NEW(files->arena, bg_file);
    if (file == NULL || !grow(files))
        return BG_E_NOMEM;
    if (files->n_all == BG_LIMIT_FILES)
        return bg_error_set(err, BG_E_LIMIT, "More than %d files are used.", BG_LIMIT_FILES);
    file->key = key;
    bg_buf text = {0};
    file->status = read_text(files, key, &text, err);
    if (file->status == BG_OK)
        file->status = parse(files, file, bg_buf_view(&text));
    bg_buf_clear(&text);
    files->all[files->n_all++] = file;
    *out = file;
    return file->status;
}

bg_status bg_files_read(bg_files *files, bg_str path, bg_file **out, bg_error *err)
{
    bg_str key = normal(files->arena, path);
    if (key.ptr == NULL)
        return bg_error_set(err, BG_E_NOMEM, "Out of memory.");
    bg_file *file = bg_files_find(files, key);
    bg_status status = BG_OK;
    if (file == NULL)
        status = read_new(files, key, &file, err);
    else
        status = file->status;
    if (status == BG_E_NOMEM)
        return bg_error_set(err, BG_E_NOMEM, "Out of memory while reading a file.");
    *out = file;
    return status;
}
