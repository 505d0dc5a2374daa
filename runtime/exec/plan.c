/* The values of a node: its programs run by the machine, once with tokens for the plan (where inputs, consumed products and tools
 * are noticed), once with absolute paths when it starts. */
#include <pwd.h>
#include <unistd.h>
#include <stdlib.h>
#include <string.h>

#include "exec/exec.h"

enum { KEY_JOBS = 1000003 };

typedef struct {
    bg_exec *x;
    bg_exec_node *n;
    bg_exec_mode mode;
    uint32_t span;    /* of the program that is evaluated */
    bool silent;      /* paths are rendered, but are not inputs (cwd, depfile, stdout) */
    bg_vm_host host;
    /* collected in KEY mode */
    BG_VEC(bg_exec_input) inputs;
    BG_VEC(bg_exec_use) uses;
    BG_VEC(bg_exec_tool) tools;
    bg_strpool seen;
} context;

static bg_status out_of_memory(bg_error *err)
{
    return bg_error_set(err, BG_E_NOMEM, "out of memory");
}

/* ---- what paths mean ---- */

static bg_status note_use(context *c, uint32_t prod, bg_error *err)
{
    if (c->mode != BG_MODE_KEY || c->x->graph->prods[prod].node == c->n->id)
        return BG_OK;
    for (size_t i = 0; i < c->uses.n; i++) {
        if (c->uses.at[i].prod == prod)
            return BG_OK;
    }
    return BG_VEC_PUSH(&c->uses, ((bg_exec_use){.prod = prod, .span = c->span})) ? BG_OK : out_of_memory(err);
}

static bg_status join(context *c, bg_str dir, bg_str rel, bg_str *out, bg_error *err)
{
    if (rel.len == 0) {
        *out = dir;
        return BG_OK;
    }
    *out = bg_str_of(bg_arena_printf(&c->x->arena, "%.*s/%.*s", BG_FMT(dir), BG_FMT(rel)));
    return out->ptr == NULL ? out_of_memory(err) : BG_OK;
}

/* Inputs are told apart by their tokens, `\1source.llvm\2/clang`. */
static bg_status note_input(context *c, bg_exec_input input, bg_error *err)
{
    uint32_t before = c->seen.n;
    uint32_t id = bg_strpool_intern(&c->seen, input.token);
    if (id == 0)
        return out_of_memory(err);
    if (c->seen.n == before)
        return BG_OK;
    input.span = c->span;
    return BG_VEC_PUSH(&c->inputs, input) ? BG_OK : out_of_memory(err);
}

static bg_status file_input(context *c, uint32_t file, bg_str rel, bg_error *err)
{
    bg_exec_input input = {0};
    bg_str token, dir;
    BG_TRY(bg_exec_file_dir(c->x, file, BG_MODE_KEY, &token, err));
    BG_TRY(bg_exec_file_dir(c->x, file, BG_MODE_RUN, &dir, err));
    BG_TRY(join(c, token, rel, &input.token, err));
    BG_TRY(join(c, dir, rel, &input.path, err));
    input.abs_dir = input.path;
    input.rel = (bg_str){"", 0};
    return note_input(c, input, err);
}

static bg_status one_source_input(context *c, uint32_t source, bg_str rel, bg_error *err)
{
    bg_exec_input input = {.is_git = c->x->graph->sources[source].is_git != 0};
    bg_str token, dir;
    BG_TRY(bg_exec_source_dir(c->x, source, BG_MODE_KEY, &token, err));
    BG_TRY(bg_exec_source_dir(c->x, source, BG_MODE_RUN, &dir, err));
    BG_TRY(join(c, token, rel, &input.token, err));
    BG_TRY(join(c, dir, rel, &input.path, err));
    input.abs_dir = input.is_git ? dir : input.path;
    input.rel = input.is_git ? rel : (bg_str){"", 0};
    return note_input(c, input, err);
}

static bool is_below(bg_str path, bg_str top)
{
    return top.len == 0 || bg_str_is(top, ".") || bg_str_eq(path, top) ||
           (path.len > top.len && bg_str_starts(path, top) && path.ptr[top.len] == '/');
}

/* A path above the declared ones stands for all of them that are below it. */
static bg_status source_input(context *c, uint32_t source, bg_str rel, bg_error *err)
{
    const bg_img_sources *s = &c->x->graph->sources[source];
    bool any = s->n_paths == 0;
    for (uint32_t i = 0; i < s->n_paths && !any; i++)
        any = is_below(rel, bg_graph_str(c->x->graph, c->x->graph->words[s->paths + i].str));
    if (any)
        return one_source_input(c, source, rel, err);
    for (uint32_t i = 0; i < s->n_paths; i++) {
        bg_str declared = bg_graph_str(c->x->graph, c->x->graph->words[s->paths + i].str);
        if (!is_below(declared, rel))
            continue;
        any = true;
        BG_TRY(one_source_input(c, source, declared, err));
    }
    if (any)
        return BG_OK;
    return bg_error_set(err, BG_E_USAGE, "`%.*s` is not among the declared paths of source `%.*s`", BG_FMT(rel),
                        BG_FMT(bg_graph_str(c->x->graph, s->name)));
}

/* The caller's PATH, then the tool's own places. */
static bg_status search_path(bg_exec *x, const bg_img_tools *t, bg_str *out, bg_error *err)
{
    *out = x->path_env;
    if (t->n_places == 0)
        return BG_OK;
    bool found = false;
    bg_str home = bg_exec_getenv(x, BG_STR("HOME"), &found);
    const struct passwd *user = found && home.len != 0 ? NULL : getpwuid(getuid());
    if (user != NULL)
        home = bg_str_of(user->pw_dir);
    for (uint32_t i = 0; i < t->n_places; i++) {
        bg_str place = bg_graph_str(x->graph, x->graph->words[t->places + i].str);
        bool below_home = bg_str_is(place, "~") || bg_str_starts(place, BG_STR("~/"));
        const char *joined = below_home ? bg_arena_printf(&x->arena, "%.*s:%.*s%.*s", BG_FMT(*out), BG_FMT(home),
                                                          (int)(place.len - 1), place.ptr + 1)
                                        : bg_arena_printf(&x->arena, "%.*s:%.*s", BG_FMT(*out), BG_FMT(place));
        if (joined == NULL)
            return out_of_memory(err);
        *out = bg_str_of(joined);
    }
    return BG_OK;
}

/* Look it up and identify it: once a run, however many nodes use it. */
static bg_status identify(bg_exec *x, bg_exec_tool *tool, bg_error *err)
{
    for (size_t i = 0; i < x->tools.n; i++) {
        if (x->tools.at[i].id == tool->id && bg_str_eq(x->tools.at[i].name, tool->name)) {
            *tool = x->tools.at[i];
            return BG_OK;
        }
    }
    const bg_img_tools none = {0};
    const bg_img_tools *t = tool->id == 0 ? &none : &x->graph->tools[tool->id];
    bg_str *words = BG_ARENA_ARRAY(&x->arena, (size_t)t->n_version + t->n_root + 1, bg_str);
    if (words == NULL)
        return out_of_memory(err);
    for (uint32_t i = 0; i < t->n_version; i++)
        words[i] = bg_graph_str(x->graph, x->graph->words[t->version + i].str);
    for (uint32_t i = 0; i < t->n_root; i++)
        words[t->n_version + i] = bg_graph_str(x->graph, x->graph->words[t->root + i].str);
    bg_str path = {0};
    BG_TRY(search_path(x, t, &path, err));
    BG_TRY(bg_key_tool(x->keyer, tool->name, words, t->n_version, words + t->n_version, t->n_root,
                       bg_graph_str(x->graph, t->bin), path, &x->arena, &tool->identity, err));
    return BG_VEC_PUSH(&x->tools, *tool) ? BG_OK : out_of_memory(err);
}

/* A tool becomes part of the node that mentions it. */
static bg_status find_tool(context *c, bg_str program, uint32_t id, bg_exec_tool *out, bg_error *err)
{
    *out = (bg_exec_tool){.name = program, .id = id};
    BG_TRY(identify(c->x, out, err));
    for (size_t i = 0; i < c->tools.n; i++) {
        if (c->tools.at[i].id == id && bg_str_eq(c->tools.at[i].name, program))
            return BG_OK;
    }
    return BG_VEC_PUSH(&c->tools, *out) ? BG_OK : out_of_memory(err);
}

static bg_status tool_path(context *c, const bg_value *v, bg_buf *out, bg_error *err)
{
    const bg_img_tools *t = &c->x->graph->tools[v->id];
    bg_str program = bg_graph_str(c->x->graph, t->program);
    if (v->str.len > 0)
        return bg_error_set(err, BG_E_USAGE, "tool `%.*s` is a program: nothing is below it",
                            BG_FMT(bg_graph_str(c->x->graph, t->name)));
    bg_exec_tool tool;
    BG_TRY(find_tool(c, program, v->id, &tool, err));
    if (c->mode == BG_MODE_KEY)
        bg_buf_printf(out, "\1tool\2%.*s", BG_FMT(program));
    else
        bg_buf_str(out, tool.identity.program);
    return BG_OK;
}

static void put_below(bg_buf *out, bg_str dir, bg_str rel)
{
    bg_buf_str(out, dir);
    if (rel.len > 0) {
        bg_buf_putc(out, '/');
        bg_buf_str(out, rel);
    }
}

static bg_status node_path(context *c, uint32_t prod, bg_str rel1, bg_str rel2, bg_buf *out, bg_error *err)
{
    const bg_exec_node *owner = &c->x->nodes[c->x->graph->prods[prod].node];
    put_below(out, c->mode == BG_MODE_KEY ? owner->out_token : owner->out_dir, rel1);
    if (rel2.len > 0)
        put_below(out, (bg_str){"", 0}, rel2);
    return note_use(c, prod, err);
}

static bg_status work_path(context *c, const bg_value *v, bg_buf *out, bg_error *err)
{
    const bg_img_works *w = &c->x->graph->works[v->id];
    if (w->node != c->n->id)
        return bg_error_set(err, BG_E_USAGE, "the work directory `%.*s` belongs to another node",
                            BG_FMT(bg_graph_str(c->x->graph, w->name)));
    if (c->mode == BG_MODE_KEY)
        bg_buf_printf(out, "\1work\2/%.*s", BG_FMT(c->n->name));
    else
        bg_buf_str(out, c->n->work_dir);
    put_below(out, (bg_str){"", 0}, bg_graph_str(c->x->graph, w->name));
    if (v->str.len > 0)
        put_below(out, (bg_str){"", 0}, v->str);
    return BG_OK;
}

static bg_status outside_path(context *c, const bg_value *v, bg_buf *out, bg_error *err)
{
    bg_str dir;
    bool is_file = v->root == BG_ROOT_FILE;
    BG_TRY(is_file ? bg_exec_file_dir(c->x, v->id, c->mode, &dir, err)
                   : bg_exec_source_dir(c->x, v->id, c->mode, &dir, err));
    put_below(out, dir, v->str);
    if (c->mode != BG_MODE_KEY || c->silent)
        return BG_OK;
    return is_file ? file_input(c, v->id, v->str, err) : source_input(c, v->id, v->str, err);
}

static bg_status path(void *self, const bg_value *v, bg_buf *out, bg_error *err)
{
    context *c = self;
    const bg_graph *g = c->x->graph;
    switch (v->root) {
    case BG_ROOT_TOOL:
        return tool_path(c, v, out, err);
    case BG_ROOT_FILE:
    case BG_ROOT_SOURCE:
        return outside_path(c, v, out, err);
    case BG_ROOT_OUT:
        return node_path(c, g->outs[v->id].prod, bg_graph_str(g, g->outs[v->id].path), v->str, out, err);
    case BG_ROOT_PROD:
        return node_path(c, v->id, v->str, (bg_str){"", 0}, out, err);
    case BG_ROOT_WORK:
        return work_path(c, v, out, err);
    }
    return bg_error_set(err, BG_E_CORRUPT, "a path with an unknown root");
}

static bg_status param(void *self, uint32_t id, bg_value *out, bg_error *err)
{
    context *c = self;
    return bg_exec_param(c->x, c->mode, id, out, err);
}

static bg_status env(void *self, uint32_t id, bg_value *out, bg_error *err)
{
    context *c = self;
    return bg_exec_env(c->x, c->mode, id, out, err);
}

static uint32_t slots_of(const bg_exec *x, const bg_exec_node *n)
{
    uint32_t jobs = (uint32_t)x->options->jobs, cpus = bg_exec_image(x, n)->cpus;
    return cpus < 1 ? 1 : cpus > jobs ? jobs : cpus;
}

static bg_status machine(void *self, bg_machine fact, bg_value *out, bg_error *err)
{
    context *c = self;
    bg_str arch = BG_STR("unknown");
#if defined(__x86_64__)
    arch = BG_STR("x86_64");
#elif defined(__aarch64__)
    arch = BG_STR("aarch64");
#elif defined(__riscv)
    arch = BG_STR("riscv64");
#elif defined(__powerpc64__)
    arch = BG_STR("ppc64le");
#elif defined(__s390x__)
    arch = BG_STR("s390x");
#elif defined(__i386__)
    arch = BG_STR("i686");
#endif
    *out = (bg_value){.kind = BG_V_STR};
    switch (fact) {
    case BG_MACHINE_ARCH:
        out->str = arch;
        return BG_OK;
    case BG_MACHINE_OS:
        out->str = BG_STR("linux");
        return BG_OK;
    case BG_MACHINE_JOBS:
        /* How many slots a machine has decides no output: keys see one number, which arithmetic still works on. */
        *out = (bg_value){.kind = BG_V_INT, .i = c->mode == BG_MODE_KEY ? KEY_JOBS : slots_of(c->x, c->n)};
        return BG_OK;
    case BG_MACHINE_COUNT:
        break;
    }
    return bg_error_set(err, BG_E_CORRUPT, "an unknown fact of the machine is asked for");
}

/* ---- programs to strings ---- */

static bg_status at_place(context *c, bg_status status, const bg_error *why, bg_error *err)
{
    if (status == BG_OK)
        return BG_OK;
    return bg_error_set(err, status, "%s: `%.*s`: %s", bg_exec_place(c->x, c->span), BG_FMT(c->n->name),
                        why->text[0] != '\0' ? why->text : bg_status_text(status));
}

static bg_status eval(context *c, uint32_t prog, bg_value *out, bg_error *err)
{
    bg_error why = {0};
    c->span = c->x->graph->progs[prog].span;
    if (c->span == 0)
        c->span = bg_exec_image(c->x, c->n)->span;
    bg_status status = bg_vm_run(c->x->graph, prog, &c->host, &c->x->arena, out, &why);
    return at_place(c, status, &why, err);
}

static bg_status to_text(context *c, const bg_value *v, bg_str *out, bg_error *err)
{
    bg_buf text = {0};
    bg_error why = {0};
    bg_status status = BG_OK;
    switch (v->kind) {
    case BG_V_STR:
        *out = v->str;
        break;
    case BG_V_PATH:
        status = path(c, v, &text, &why);
        break;
    case BG_V_INT:
        bg_buf_printf(&text, "%lld", (long long)v->i);
        break;
    case BG_V_BOOL:
        bg_buf_puts(&text, v->i != 0 ? "true" : "false");
        break;
    case BG_V_NONE:
    case BG_V_LIST:
        status = bg_error_set(&why, BG_E_CORRUPT, "a word is neither a string, a path, a number nor a bool");
        break;
    }
    if (status == BG_OK && v->kind != BG_V_STR) {
        *out = (bg_str){text.failed ? NULL : bg_arena_strdup(&c->x->arena, bg_buf_cstr(&text), text.len), text.len};
        if (out->ptr == NULL)
            status = out_of_memory(&why);
    }
    bg_buf_clear(&text);
    if (status == BG_OK && out->len > 0 && memchr(out->ptr, '\0', out->len) != NULL)
        status = bg_error_set(&why, BG_E_USAGE, "a word holds a NUL byte");
    return at_place(c, status, &why, err);
}

static bg_status eval_text(context *c, uint32_t prog, bool silent, bg_str *out, bg_error *err)
{
    bg_value v;
    *out = (bg_str){"", 0};
    if (prog == 0)
        return BG_OK;
    c->silent = silent;
    bg_status status = eval(c, prog, &v, err);
    if (status == BG_OK)
        status = to_text(c, &v, out, err);
    c->silent = false;
    return status;
}

static bg_status eval_list(context *c, uint32_t prog, bg_value *out, bg_error *err)
{
    BG_TRY(eval(c, prog, out, err));
    if (out->kind == BG_V_LIST)
        return BG_OK;
    const bg_error why = {.text = "a list was expected"};
    return at_place(c, BG_E_CORRUPT, &why, err);
}

static bg_status eval_strs(context *c, uint32_t prog, bg_str **strs, size_t *n, bg_error *err)
{
    bg_value list = {0};
    if (prog != 0)
        BG_TRY(eval_list(c, prog, &list, err));
    *n = list.n;
    *strs = BG_ARENA_ARRAY(&c->x->arena, (size_t)list.n + 1, bg_str);
    if (*strs == NULL)
        return out_of_memory(err);
    for (uint32_t i = 0; i < list.n; i++)
        BG_TRY(to_text(c, &list.items[i], &(*strs)[i], err));
    return BG_OK;
}

/* The first word may be a bare name: a tool that nobody declared, looked up in PATH. */
static bg_status resolve_program(context *c, bg_str *word, bg_error *err)
{
    if (memchr(word->ptr, '/', word->len) != NULL || memchr(word->ptr, '\1', word->len) != NULL)
        return BG_OK;
    bg_error why = {0};
    bg_exec_tool tool;
    bg_status status = find_tool(c, *word, 0, &tool, &why);
    if (status == BG_OK && c->mode == BG_MODE_RUN)
        *word = tool.identity.program;
    return at_place(c, status, &why, err);
}

static bg_status eval_cmd(context *c, const bg_img_cmds *image, bg_exec_cmd *cmd, bg_error *err)
{
    BG_TRY(eval_strs(c, image->argv, &cmd->argv, &cmd->n_argv, err));
    bg_error why = {0};
    if (cmd->n_argv == 0 || cmd->argv[0].len == 0) {
        bg_error_set(&why, BG_E_USAGE, "the command is empty");
        return at_place(c, BG_E_USAGE, &why, err);
    }
    BG_TRY(resolve_program(c, &cmd->argv[0], err));
    return eval_text(c, image->out, true, &cmd->out, err);
}

static bool is_env_name(bg_str s)
{
    return s.len > 0 && memchr(s.ptr, '=', s.len) == NULL;
}

static bg_status eval_env(context *c, bg_exec_form *f, bg_error *err)
{
    BG_TRY(eval_strs(c, bg_exec_image(c->x, c->n)->env, &f->env, &f->n_env, err));
    bg_error why = {0};
    if (f->n_env % 2 != 0) {
        bg_error_set(&why, BG_E_CORRUPT, "the environment is not made of pairs");
        return at_place(c, BG_E_CORRUPT, &why, err);
    }
    for (size_t i = 0; i < f->n_env; i += 2) {
        if (is_env_name(f->env[i]))
            continue;
        bg_error_set(&why, BG_E_USAGE, "`%.*s` can't be the name of an environment variable", BG_FMT(f->env[i]));
        return at_place(c, BG_E_USAGE, &why, err);
    }
    return BG_OK;
}

static bg_status eval_form(context *c, bg_exec_form *f, bg_error *err)
{
    const bg_img_nodes *image = bg_exec_image(c->x, c->n);
    f->n_cmds = image->n_cmds;
    f->cmds = BG_ARENA_ARRAY(&c->x->arena, f->n_cmds + 1, bg_exec_cmd);
    if (f->cmds == NULL)
        return out_of_memory(err);
    for (uint32_t i = 0; i < image->n_cmds; i++)
        BG_TRY(eval_cmd(c, &c->x->graph->cmds[image->cmds + i], &f->cmds[i], err));
    BG_TRY(eval_env(c, f, err));
    bg_str *ignored;
    size_t n_ignored;
    if (c->mode == BG_MODE_KEY)
        BG_TRY(eval_strs(c, image->inputs, &ignored, &n_ignored, err));
    BG_TRY(eval_text(c, image->depfile, true, &f->depfile, err));
    BG_TRY(eval_text(c, image->cwd, true, &f->cwd, err));
    if (image->cwd == 0)
        f->cwd = c->mode == BG_MODE_KEY ? BG_STR("\1src\2") : c->x->options->root_dir;
    return BG_OK;
}

static context begin(bg_exec *x, bg_exec_node *n, bg_exec_mode mode)
{
    return (context){.x = x, .n = n, .mode = mode, .host = {NULL, param, env, machine, path}};
}

static int by_product(const void *a, const void *b)
{
    const bg_exec_use *p = a, *q = b;
    return (p->prod > q->prod) - (p->prod < q->prod);
}

/* Move what was collected into the run's arena. */
static bg_status keep(context *c, bg_error *err)
{
    bg_exec_node *n = c->n;
    n->inputs = BG_ARENA_ARRAY(&c->x->arena, c->inputs.n + 1, bg_exec_input);
    n->uses = BG_ARENA_ARRAY(&c->x->arena, c->uses.n + 1, bg_exec_use);
    n->tools = BG_ARENA_ARRAY(&c->x->arena, c->tools.n + 1, bg_exec_tool);
    if (n->inputs == NULL || n->uses == NULL || n->tools == NULL)
        return out_of_memory(err);
    for (size_t i = 0; i < c->inputs.n; i++)
        n->inputs[i] = c->inputs.at[i];
    for (size_t i = 0; i < c->uses.n; i++)
        n->uses[i] = c->uses.at[i];
    for (size_t i = 0; i < c->tools.n; i++)
        n->tools[i] = c->tools.at[i];
    n->n_inputs = c->inputs.n;
    n->n_uses = c->uses.n;
    n->n_tools = c->tools.n;
    if (n->n_uses > 1)
        qsort(n->uses, n->n_uses, sizeof *n->uses, by_product);
    return BG_OK;
}

static void end(context *c)
{
    BG_VEC_CLEAR(&c->inputs);
    BG_VEC_CLEAR(&c->uses);
    BG_VEC_CLEAR(&c->tools);
    bg_strpool_clear(&c->seen);
}

bg_status bg_exec_plan_node(bg_exec *x, bg_exec_node *n, bg_error *err)
{
    context c = begin(x, n, BG_MODE_KEY);
    c.host.self = &c;
    bg_status status = eval_form(&c, &n->form[BG_MODE_KEY], err);
    if (status == BG_OK)
        status = keep(&c, err);
    end(&c);
    return status;
}

bg_status bg_exec_run_form(bg_exec *x, bg_exec_node *n, bg_error *err)
{
    if (n->has_run_form)
        return BG_OK;
    context c = begin(x, n, BG_MODE_RUN);
    c.host.self = &c;
    bg_status status = eval_form(&c, &n->form[BG_MODE_RUN], err);
    n->has_run_form = status == BG_OK;
    end(&c);
    return status;
}

bg_status bg_exec_when(bg_exec *x, bg_exec_node *n, bool *on, bg_error *err)
{
    uint32_t prog = bg_exec_image(x, n)->when;
    if (prog == 0)
        return BG_OK;
    context c = begin(x, n, BG_MODE_RUN); /* true values: a comparison must not see tokens */
    c.host.self = &c;
    bg_value v = {0};
    bg_status status = eval(&c, prog, &v, err);
    bg_error why = {.text = "`when` is not a bool"};
    if (status == BG_OK && v.kind != BG_V_BOOL)
        status = at_place(&c, BG_E_CORRUPT, &why, err);
    *on = v.i != 0;
    end(&c);
    return status;
}
