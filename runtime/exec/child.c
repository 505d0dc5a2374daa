/* Starting one command: its words, and an environment that holds only what is declared. */
#include <string.h>

#include "exec/exec.h"

typedef struct {
    BG_VEC(char *) at;
    bool failed;
} words;

static void add_word(bg_exec *x, words *w, const char *word)
{
    (void)x;
    union {
        const char *in;
        char *out; /* argv's type has no const, though nobody writes to it */
    } cast = {word};
    if (word == NULL || !BG_VEC_PUSH(&w->at, cast.out))
        w->failed = true;
}

static void add_end(words *w)
{
    if (!BG_VEC_PUSH(&w->at, NULL))
        w->failed = true;
}

static bg_str dir_of(bg_str path)
{
    while (path.len > 1 && path.ptr[path.len - 1] != '/')
        path.len--;
    return path.len > 1 ? (bg_str){path.ptr, path.len - 1} : path;
}

static const char *path_variable(bg_exec *x, const bg_exec_node *n)
{
    bg_buf path = {0};
    bg_buf_puts(&path, "PATH=");
    for (size_t i = 0; i < n->n_tools; i++) {
        bg_str dir = dir_of(n->tools[i].identity.program);
        bool again = false;
        for (size_t k = 0; k < i && !again; k++)
            again = bg_str_eq(dir, dir_of(n->tools[k].identity.program));
        if (!again)
            bg_buf_printf(&path, "%.*s:", BG_FMT(dir));
    }
    bg_buf_puts(&path, "/usr/local/bin:/usr/bin:/bin");
    const char *copy = bg_arena_strdup(&x->arena, bg_buf_cstr(&path), path.len);
    bg_buf_clear(&path);
    return copy;
}

static bool is_declared(const bg_exec_form *f, bg_str name)
{
    for (size_t i = 0; i + 1 < f->n_env; i += 2) {
        if (bg_str_eq(f->env[i], name))
            return true;
    }
    return false;
}

static void add_default(bg_exec *x, words *w, const bg_exec_form *f, const char *variable)
{
    size_t name = variable == NULL ? 0 : strcspn(variable, "=");
    if (variable == NULL || !is_declared(f, (bg_str){variable, name}))
        add_word(x, w, variable);
}

static void build_env(bg_exec *x, const bg_exec_node *n, words *w)
{
    const bg_exec_form *f = &n->form[BG_MODE_RUN];
    add_default(x, w, f, path_variable(x, n));
    add_default(x, w, f, "LANG=C.UTF-8");
    add_default(x, w, f, "TZ=UTC");
    add_default(x, w, f, bg_arena_printf(&x->arena, "TMPDIR=%s/tmp", n->work_dir.ptr));
    for (size_t i = 0; i + 1 < f->n_env; i += 2)
        add_word(x, w, bg_arena_printf(&x->arena, "%.*s=%.*s", BG_FMT(f->env[i]), BG_FMT(f->env[i + 1])));
    if (bg_exec_image(x, n)->signal == BG_SIGNAL_FD)
        add_word(x, w, bg_arena_printf(&x->arena, "BGC_SIGNAL_FD=%d", BG_HOST_SIGNAL_FD));
    add_end(w);
}

static void tell_command(bg_exec *x, bg_exec_node *n, const bg_exec_cmd *cmd)
{
    bg_buf text = {0};
    bg_exec_quote(&text, cmd->argv, cmd->n_argv);
    if (n->log != NULL)
        fprintf(n->log, "$ %s\n", bg_buf_cstr(&text));
    bg_exec_emit(x, (bg_event){.kind = BG_EVENT_COMMAND, .node = n->id, .count = n->cmd + 1, .text = bg_buf_view(&text)});
    bg_buf_clear(&text);
}

bg_status bg_exec_spawn(bg_exec *x, bg_exec_node *n, bg_error *err)
{
    const bg_exec_form *f = &n->form[BG_MODE_RUN];
    const bg_exec_cmd *cmd = &f->cmds[n->cmd];
    words argv = {0}, envp = {0};
    for (size_t i = 0; i < cmd->n_argv; i++)
        add_word(x, &argv, bg_arena_strdup(&x->arena, cmd->argv[i].ptr, cmd->argv[i].len));
    add_end(&argv);
    build_env(x, n, &envp);
    char *cwd = bg_arena_strdup(&x->arena, f->cwd.ptr, f->cwd.len);
    char *out = cmd->out.len == 0 ? NULL : bg_arena_strdup(&x->arena, cmd->out.ptr, cmd->out.len);
    bg_status status = BG_OK;
    if (argv.failed || envp.failed || cwd == NULL || (out == NULL && cmd->out.len > 0))
        status = bg_error_set(err, BG_E_NOMEM, "out of memory");
    if (status == BG_OK) {
        bg_signal signal = (bg_signal)bg_exec_image(x, n)->signal;
        bg_host_command c = {.argv = argv.at.at,
                             .envp = envp.at.at,
                             .cwd = cwd,
                             .stdout_path = out,
                             .split_stderr = signal == BG_SIGNAL_RUSTC_JSON,
                             .signal_pipe = signal == BG_SIGNAL_FD};
        tell_command(x, n, cmd);
        status = x->host->spawn(x->host, &c, n, &n->proc, err);
    }
    BG_VEC_CLEAR(&argv.at);
    BG_VEC_CLEAR(&envp.at);
    return status;
}
