/* Tools: where a program is, and what it is. An answer is remembered with the stamps of all that it hangs on. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "key/keyer.h"
#include "key/manifest.h"
#include "key/real.h"
#include "key/spawn.h"

enum { BESIDE_MAX = 64 };

/* Files by which launchers (rustup, asdf, pyenv) choose an installation, looked for from the working directory upwards. */
static const char *const choosers[] = {"rust-toolchain", "rust-toolchain.toml", ".tool-versions", ".python-version"};

typedef struct {
    const bg_str *version, *root;
    size_t n_version, n_root;
    bg_str bin;
    bg_buf found;  /* absolute path of the program that was looked up */
    bg_buf real;   /* absolute path of the one that is executed: `found`, or below the installation */
    bg_buf guards; /* manifest of what the answer hangs on */
    int64_t now_ns;
} query;

static bg_status no_memory(bg_error *err)
{
    return bg_error_set(err, BG_E_NOMEM, "out of memory while a tool was looked up");
}

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bg_status put_cwd(bg_buf *buf, bg_error *err)
{
    char *cwd = getcwd(NULL, 0);
    if (cwd == NULL)
        return bg_error_os(err, errno, "can't tell the working directory");
    bg_buf_puts(buf, cwd);
    free(cwd);
    return BG_OK;
}

/* A name with '/' is used as it is, from the working directory. */
static bg_status look_at_path(query *q, bg_str program, bg_error *err)
{
    if (program.ptr[0] != '/') {
        BG_TRY(put_cwd(&q->found, err));
        bg_buf_putc(&q->found, '/');
    }
    bg_buf_str(&q->found, program);
    if (q->found.failed)
        return no_memory(err);
    if (is_program(bg_buf_cstr(&q->found)))
        return BG_OK;
    return bg_error_set(err, BG_E_NOENT, "there is no program %s (or it may not be executed). Correct `program`, or install it.",
                        bg_buf_cstr(&q->found));
}

/* Empty and relative parts of PATH would mean the working directory: they are skipped. */
static bg_status look_in_path(query *q, bg_str program, bg_str path, bg_error *err)
{
    for (size_t at = 0; at < path.len;) {
        const char *colon = memchr(path.ptr + at, ':', path.len - at);
        size_t n = colon == NULL ? path.len - at : (size_t)(colon - (path.ptr + at));
        bg_str dir = {path.ptr + at, n};
        at += n + 1;
        if (dir.len == 0 || dir.ptr[0] != '/')
            continue;
        bg_buf_reset(&q->found);
        bg_buf_str(&q->found, dir);
        if (dir.ptr[dir.len - 1] != '/')
            bg_buf_putc(&q->found, '/');
        bg_buf_str(&q->found, program);
        if (q->found.failed)
            return no_memory(err);
        if (is_program(bg_buf_cstr(&q->found)))
            return BG_OK;
    }
    return bg_error_set(err, BG_E_NOENT, "there is no program \"%.*s\" in PATH (%.*s). Install it, extend PATH, or give its "
                                         "path in `program`.", BG_FMT(program), BG_FMT(path));
}

static bg_status look_up(query *q, bg_str program, bg_str path, bg_error *err)
{
    if (program.len == 0 || memchr(program.ptr, '\0', program.len) != NULL)
        return bg_error_set(err, BG_E_USAGE, "a tool's `program` must be the name or the path of a program, not \"%.*s\"",
                            BG_FMT(program));
    if (memchr(program.ptr, '/', program.len) != NULL)
        return look_at_path(q, program, err);
    return look_in_path(q, program, path, err);
}

/* Remember how `path` looks now; a missing one must stay missing. */
static void guard(query *q, const char *path)
{
    bg_entry e = {.kind = BG_ENTRY_GUARD};
    if (bg_stamp_read(&e.stamp, AT_FDCWD, path) != 0)
        e.stamp = (bg_stamp){0};
    else if (bg_stamp_is_racy(&e.stamp, q->now_ns))
        e.flags = BG_ENTRY_RACY;
    bg_manifest_add(&q->guards, &e, bg_str_of(path));
}

/* The file itself, behind all links. */
static bg_status guard_program(query *q, const char *path, bg_error *err)
{
    bg_buf real = {0};
    bg_status status = bg_real_path(&real, path, err);
    if (status == BG_OK)
        guard(q, real.data);
    bg_buf_clear(&real);
    return status;
}

static void cut_component(bg_buf *path)
{
    while (path->len > 1 && path->data[path->len - 1] != '/')
        path->len--;
    while (path->len > 1 && path->data[path->len - 1] == '/')
        path->len--;
    path->data[path->len] = '\0';
}

static bg_status guard_choosers(query *q, bg_error *err)
{
    bg_buf dir = {0}, file = {0};
    bg_status status = put_cwd(&dir, err);
    while (status == BG_OK && !dir.failed && !file.failed) {
        for (size_t i = 0; i < sizeof choosers / sizeof *choosers; i++) {
            bg_buf_reset(&file);
            bg_buf_printf(&file, "%s/%s", dir.len == 1 ? "" : bg_buf_cstr(&dir), choosers[i]);
            guard(q, bg_buf_cstr(&file));
        }
        if (dir.len <= 1)
            break;
        cut_component(&dir);
    }
    if (status == BG_OK && (dir.failed || file.failed))
        status = no_memory(err);
    bg_buf_clear(&dir);
    bg_buf_clear(&file);
    return status;
}

/* Files two levels above the installation (~/.rustup/settings.toml) say which one a launcher takes; a new installation
 * changes the directory above it. */
static bg_status guard_beside(query *q, const char *root, bg_error *err)
{
    bg_buf above = {0}, file = {0};
    bg_buf_puts(&above, root);
    if (above.failed)
        return no_memory(err);
    guard(q, root);
    cut_component(&above);
    guard(q, bg_buf_cstr(&above));
    cut_component(&above);
    DIR *dir = opendir(bg_buf_cstr(&above));
    struct stat st;
    int n = 0;
    for (const struct dirent *d; dir != NULL && n < BESIDE_MAX && (d = readdir(dir)) != NULL;) {
        bg_buf_reset(&file);
        bg_buf_printf(&file, "%s/%s", bg_buf_cstr(&above), d->d_name);
        if (file.failed || lstat(file.data, &st) != 0 || !S_ISREG(st.st_mode))
            continue;
        guard(q, file.data);
        n++;
    }
    if (dir != NULL)
        closedir(dir);
    bool failed = above.failed || file.failed;
    bg_buf_clear(&above);
    bg_buf_clear(&file);
    return failed ? no_memory(err) : BG_OK;
}

/* NUL-terminated copies of the program and its arguments; free with free_argv. */
static char **make_argv(const char *program, const bg_str *args, size_t n)
{
    char **argv = calloc(n + 2, sizeof *argv);
    if (argv == NULL)
        return NULL;
    for (size_t i = 0; i <= n; i++) {
        bg_str s = i == 0 ? bg_str_of(program) : args[i - 1];
        argv[i] = malloc(s.len + 1);
        if (argv[i] == NULL)
            return argv; /* the caller sees the early end */
        if (s.len != 0)
            memcpy(argv[i], s.ptr, s.len);
        argv[i][s.len] = '\0';
    }
    return argv;
}

static void free_argv(char **argv)
{
    for (size_t i = 0; argv != NULL && argv[i] != NULL; i++)
        free(argv[i]);
    free(argv);
}

static bg_status ask(const char *program, const bg_str *args, size_t n, bg_buf *out, bg_buf *diag, bg_error *err)
{
    char **argv = make_argv(program, args, n);
    bg_status status = argv == NULL || argv[n] == NULL ? no_memory(err) : bg_spawn_capture(argv, out, diag, err);
    free_argv(argv);
    return status;
}

/* `root` prints the installation's directory; `bin` is the program below it. */
static bg_status follow_root(query *q, bg_error *err)
{
    bg_buf out = {0}, diag = {0};
    const char *found = bg_buf_cstr(&q->found);
    bg_status status = ask(found, q->root, q->n_root, &out, &diag, err);
    while (status == BG_OK && out.len != 0 && strchr("\r\n/ ", out.data[out.len - 1]) != NULL && out.len > 1)
        out.data[--out.len] = '\0';
    if (status == BG_OK && (out.len == 0 || out.data[0] != '/' || memchr(out.data, '\n', out.len) != NULL))
        status = bg_error_set(err, BG_E_USAGE, "%s: its `root` arguments must print one absolute directory, but it printed \"%s\"",
                              found, bg_buf_cstr(&out));
    if (status == BG_OK)
        status = guard_beside(q, out.data, err);
    if (status == BG_OK && q->bin.len != 0)
        bg_buf_printf(&q->real, "%s/%.*s", out.data, BG_FMT(q->bin));
    else if (status == BG_OK)
        bg_buf_puts(&q->real, found);
    if (status == BG_OK && q->real.failed)
        status = no_memory(err);
    if (status == BG_OK && !is_program(q->real.data))
        status = bg_error_set(err, BG_E_NOENT, "%s says that it is installed in %s, but there is no program %s; correct `bin`.",
                              found, out.data, q->real.data);
    bg_buf_clear(&out);
    bg_buf_clear(&diag);
    return status;
}

static bg_status identity_by_version(query *q, bg_digest *out, bg_error *err)
{
    bg_buf said = {0}, diag = {0}, text = {0};
    bg_status status = ask(q->real.data, q->version, q->n_version, &said, &diag, err);
    if (status == BG_OK && said.len == 0 && diag.len == 0)
        status = bg_error_set(err, BG_E_USAGE, "`%s %.*s` printed nothing, so it can't tell versions apart; correct `version`, "
                                               "or leave it out to have the program's content taken.", q->real.data,
                              BG_FMT(q->version[0]));
    bg_buf_puts(&text, "bgraph tool version 1\n");
    bg_buf_u64(&text, said.len);
    bg_buf_str(&text, bg_buf_view(&said));
    bg_buf_str(&text, bg_buf_view(&diag)); /* some print their version there */
    if (status == BG_OK)
        status = text.failed ? no_memory(err) : bg_sha256_of(text.data, text.len, out, err);
    bg_buf_clear(&said);
    bg_buf_clear(&diag);
    bg_buf_clear(&text);
    return status;
}

static bg_status identity_by_content(query *q, bg_keyer *keyer, bg_digest *out, bg_error *err)
{
    bg_buf real = {0};
    bg_digest content;
    bg_status status = bg_real_path(&real, q->real.data, err);
    if (status == BG_OK)
        status = bg_tree_digest(keyer, real.data, &content, err);
    bg_buf_clear(&real);
    BG_TRY(status);
    bg_buf text = {0};
    bg_buf_puts(&text, "bgraph tool content 1\n");
    bg_buf_put(&text, content.b, sizeof content.b);
    status = text.failed ? no_memory(err) : bg_sha256_of(text.data, text.len, out, err);
    bg_buf_clear(&text);
    return status;
}

/* Key in the state: everything that decides the answer but stamps. */
static bg_status name_of(const query *q, bg_buf *name, bg_error *err)
{
    bg_buf_printf(name, "%s%c", bg_buf_cstr(&q->found), 0);
    BG_TRY(bg_real_path(name, bg_buf_cstr(&q->found), err));
    bg_buf_printf(name, "%c%zu", 0, q->n_version);
    for (size_t i = 0; i < q->n_version + q->n_root; i++) {
        bg_buf_putc(name, '\0');
        bg_buf_str(name, i < q->n_version ? q->version[i] : q->root[i - q->n_version]);
    }
    bg_buf_putc(name, '\0');
    bg_buf_str(name, q->bin);
    bg_buf_putc(name, '\0');
    if (q->n_root != 0) /* launchers look around */
        BG_TRY(put_cwd(name, err));
    return name->failed ? no_memory(err) : BG_OK;
}

/* Value in the state: length of the real program's path, the path, the guards with the identity. */
static bool recall(bg_keyer *keyer, query *q, const bg_buf *name, bg_digest *identity)
{
    bg_str v;
    uint32_t n;
    if (keyer->state == NULL || bg_state_get(keyer->state, BG_STATE_TOOL, bg_buf_view(name), &v) != BG_OK ||
        v.len < sizeof n)
        return false;
    memcpy(&n, v.ptr, sizeof n);
    if (n > v.len - sizeof n)
        return false;
    if (!bg_manifest_holds((bg_str){v.ptr + sizeof n + n, v.len - sizeof n - n}, "/", false, NULL, NULL, identity))
        return false;
    bg_buf_reset(&q->real);
    bg_buf_put(&q->real, v.ptr + sizeof n, n);
    return !q->real.failed;
}

static bg_status remember(bg_keyer *keyer, query *q, const bg_buf *name, const bg_digest *identity, bg_error *err)
{
    if (keyer->state == NULL)
        return BG_OK;
    bg_manifest_finish(&q->guards, identity);
    bg_buf value = {0};
    uint32_t n = (uint32_t)q->real.len;
    bg_buf_put(&value, &n, sizeof n);
    bg_buf_str(&value, bg_buf_view(&q->real));
    bg_buf_str(&value, bg_buf_view(&q->guards));
    bg_status status = value.failed || q->guards.failed
                           ? no_memory(err)
                           : bg_state_put(keyer->state, BG_STATE_TOOL, bg_buf_view(name), bg_buf_view(&value), err);
    bg_buf_clear(&value);
    return status;
}

static bg_status identify(bg_keyer *keyer, query *q, bg_digest *identity, bg_error *err)
{
    q->now_ns = bg_stamp_now_ns();
    bg_manifest_begin(&q->guards);
    BG_TRY(guard_program(q, q->found.data, err)); /* before it runs: a change meanwhile is then seen next time */
    if (q->n_root != 0) {
        BG_TRY(guard_choosers(q, err));
        BG_TRY(follow_root(q, err));
        BG_TRY(guard_program(q, q->real.data, err));
    } else {
        bg_buf_str(&q->real, bg_buf_view(&q->found));
    }
    if (q->real.failed)
        return no_memory(err);
    return q->n_version != 0 ? identity_by_version(q, identity, err) : identity_by_content(q, keyer, identity, err);
}

bg_status bg_key_tool(bg_keyer *keyer, bg_str program, const bg_str *version, size_t n_version, const bg_str *root,
                      size_t n_root, bg_str bin, bg_str path, bg_arena *arena, bg_tool_identity *out, bg_error *err)
{
    query q = {.version = version, .root = root, .n_version = n_version, .n_root = n_root, .bin = bin};
    bg_buf name = {0};
    bg_digest identity;
    bg_status status = look_up(&q, program, path, err);
    if (status == BG_OK)
        status = name_of(&q, &name, err);
    if (status == BG_OK && !recall(keyer, &q, &name, &identity)) {
        bg_buf_reset(&q.real);
        status = identify(keyer, &q, &identity, err);
        if (status == BG_OK)
            status = remember(keyer, &q, &name, &identity, err);
    }
    if (status == BG_OK) {
        out->identity = identity;
        out->program = (bg_str){bg_arena_strdup(arena, q.real.data, q.real.len), q.real.len};
        if (out->program.ptr == NULL)
            status = no_memory(err);
    }
    bg_buf_clear(&q.found);
    bg_buf_clear(&q.real);
    bg_buf_clear(&q.guards);
    bg_buf_clear(&name);
    return status;
}
