/* What programs of an image give, and the records around them: text -> image -> loaded graph -> machine. */
#include "compile_util.h"

/* ---- a host that shows where things come from ---- */

static const bg_graph *graph;

static bg_status host_param(void *self, uint32_t param, bg_value *out, bg_error *err)
{
    const bg_session_define *defines = self;
    const bg_img_params *rec = &graph->params[param];
    bg_str name = bg_graph_str(graph, rec->name);
    if (defines != NULL && bg_str_eq(defines->name, name)) {
        if (rec->type == BG_PARAM_BOOL)
            *out = (bg_value){.kind = BG_V_BOOL, .i = bg_str_is(defines->value, "true")};
        else
            *out = (bg_value){.kind = BG_V_STR, .str = defines->value};
        return BG_OK;
    }
    static bg_arena arena;
    bg_vm_host host = {.self = self, .param = host_param};
    return bg_vm_run(graph, rec->prog, &host, &arena, out, err);
}

static bg_status host_env(void *self, uint32_t env, bg_value *out, bg_error *err)
{
    (void)self;
    (void)err;
    *out = (bg_value){.kind = BG_V_STR, .str = bg_graph_str(graph, graph->envs[env].fallback)};
    return BG_OK;
}

static bg_status host_machine(void *self, bg_machine fact, bg_value *out, bg_error *err)
{
    (void)self;
    (void)err;
    *out = fact == BG_MACHINE_JOBS ? (bg_value){.kind = BG_V_INT, .i = 8} : (bg_value){.kind = BG_V_STR, .str = BG_STR("m")};
    return BG_OK;
}

static bg_status host_path(void *self, const bg_value *path, bg_buf *out, bg_error *err)
{
    (void)self;
    (void)err;
    static const char *const roots[] = {"tool", "file", "source", "out", "prod", "work"};
    uint32_t node = path->root == BG_ROOT_PROD  ? graph->prods[path->id].node
                    : path->root == BG_ROOT_OUT ? graph->prods[graph->outs[path->id].prod].node
                    : path->root == BG_ROOT_WORK ? graph->works[path->id].node
                                                 : 0;
    uint32_t name = path->root == BG_ROOT_TOOL     ? graph->tools[path->id].program
                    : path->root == BG_ROOT_FILE   ? graph->files[path->id].path
                    : path->root == BG_ROOT_SOURCE ? graph->sources[path->id].name
                    : path->root == BG_ROOT_OUT    ? graph->outs[path->id].name
                    : path->root == BG_ROOT_PROD   ? graph->prods[path->id].name
                                                   : graph->works[path->id].name;
    bg_buf_printf(out, "<%s ", roots[path->root]);
    if (node != 0)
        bg_buf_printf(out, "%s.", bg_graph_str(graph, graph->nodes[node].name).ptr);
    bg_buf_printf(out, "%s>%s%.*s", bg_graph_str(graph, name).ptr, path->str.len != 0 ? "/" : "", BG_FMT(path->str));
    return BG_OK;
}

static void show_value(const bg_value *v, bg_buf *out)
{
    bg_error err;
    switch (v->kind) {
    case BG_V_NONE:
        break;
    case BG_V_STR:
        bg_buf_str(out, v->str);
        break;
    case BG_V_INT:
        bg_buf_printf(out, "%lld", (long long)v->i);
        break;
    case BG_V_BOOL:
        bg_buf_puts(out, v->i != 0 ? "true" : "false");
        break;
    case BG_V_PATH:
        assert_int_equal(host_path(NULL, v, out, &err), BG_OK);
        break;
    case BG_V_LIST:
        for (uint32_t i = 0; i < v->n; i++) {
            bg_buf_puts(out, i == 0 ? "" : " ");
            show_value(&v->items[i], out);
        }
        break;
    }
}

static void show_prog(const char *label, uint32_t prog, void *defines, bg_buf *out)
{
    if (prog == 0)
        return;
    bg_vm_host host = {defines, host_param, host_env, host_machine, host_path};
    bg_arena arena = {0};
    bg_value v;
    bg_error err = {0};
    bg_status status = bg_vm_run(graph, prog, &host, &arena, &v, &err);
    bg_buf_printf(out, "%s: ", label);
    if (status == BG_OK)
        show_value(&v, out);
    else
        bg_buf_printf(out, "%s", bg_status_name(status));
    bg_buf_putc(out, '\n');
    bg_arena_clear(&arena);
}

static void show_node(const bg_img_nodes *n, void *defines, bg_buf *out)
{
    bg_buf_printf(out, "%s %s", n->kind == BG_NODE_CRATE ? "crate" : "stage", bg_graph_str(graph, n->name).ptr);
    if (!bg_str_eq(bg_graph_str(graph, n->label), bg_graph_str(graph, n->name)))
        bg_buf_printf(out, " \"%s\"", bg_graph_str(graph, n->label).ptr);
    if (n->group != 0)
        bg_buf_printf(out, " in %s", bg_graph_str(graph, graph->groups[n->group].name).ptr);
    if (n->cpus != 1 || n->retry != 0 || n->timeout_ns != 0 || n->no_cache != 0 || n->signal != 0)
        bg_buf_printf(out, " cpus=%u retry=%u timeout=%lld no_cache=%u signal=%u", n->cpus, n->retry,
                      (long long)(n->timeout_ns == 0 ? 0 : bg_graph_int(graph, n->timeout_ns)), n->no_cache, n->signal);
    if (n->rule != 0)
        bg_buf_printf(out, " rule=%s", bg_graph_str(graph, graph->rules[n->rule].name).ptr);
    bg_buf_putc(out, '\n');
    for (uint32_t i = n->prods; i < n->prods + n->n_prods; i++)
        if (graph->prods[i].is_early)
            bg_buf_printf(out, "early %s\n", bg_graph_str(graph, graph->prods[i].name).ptr);
    for (uint32_t i = n->outs; i < n->outs + n->n_outs; i++)
        bg_buf_printf(out, "%s %s=%s\n", graph->outs[i].is_dir ? "dir" : "file", bg_graph_str(graph, graph->outs[i].name).ptr,
                      bg_graph_str(graph, graph->outs[i].path).ptr);
    show_prog("when", n->when, defines, out);
    show_prog("in", n->inputs, defines, out);
    show_prog("env", n->env, defines, out);
    show_prog("cwd", n->cwd, defines, out);
    show_prog("depfile", n->depfile, defines, out);
    for (uint32_t i = n->cmds; i < n->cmds + n->n_cmds; i++) {
        show_prog("run", graph->cmds[i].argv, defines, out);
        show_prog("stdout", graph->cmds[i].out, defines, out);
    }
    for (uint32_t i = n->edges; i < n->edges + n->n_edges; i++) {
        const bg_img_prods *p = &graph->prods[graph->edges[i].prod];
        bg_buf_printf(out, "edge %s.%s\n", bg_graph_str(graph, graph->nodes[p->node].name).ptr, bg_graph_str(graph, p->name).ptr);
    }
}

typedef struct {
    const char *name, *text;
    bg_session_define define; /* at run time only if `late` */
    bool late;
    const char *shown;
} emit_case;

#define B "bgraph 1\n"
#define NONE {{NULL, 0}, {NULL, 0}}, false
static const emit_case cases[] = {
    {"words", B "tool cc { program = \"gcc-12\" }\nsource v { git = \"..\" }\nstage s \"Label\" { run = [cc, \"-c\", src(\"a.c\"), v / \"x\" / \"y\", out.o, 2, true] run = [\"ld\"] out o : file = \"p/q\" }", NONE,
     "stage s \"Label\"\nfile o=p/q\nrun: <tool gcc-12> -c <file main.bgraph>/a.c <source v>/x/y <out s.o> 2 true\nrun: <tool ld>\n"},
    {"a path as the program", B "stage a { run = [\"./configure\"] out d : dir }\nstage b { run = [a.d / \"bin/x\", \"{a.d}/y\"] }", NONE,
     "stage a\ndir d=d\nrun: ./configure\nstage b\nrun: <out a.d>/bin/x <out a.d>/y\nedge a.link\n"},
    {"params are read late", B "param p : str = \"d\"\nstage s { run = [\"x\", p, \"-{p}-\", if p == \"d\" then \"yes\" else \"no\", \"z\" if p == \"d\", ..[\"1\", \"2\" if p != \"d\"]] }", {{"p", 1}, {"e", 1}}, true,
     "stage s\nrun: <tool x> e -e- no 1 2\n"},
    {"their defaults", B "param p : str = \"d\"\nparam q : str = \"{p}{p}\"\nstage s { run = [\"x\", p, q, if p == \"d\" then \"yes\" else \"no\", \"z\" if p == \"d\", ..[\"1\", \"2\" if p != \"d\"]] }", NONE,
     "stage s\nrun: <tool x> d dd yes z 1\n"},
    {"lists chosen late", B "param b : bool = false\nlet l = if b then [\"1\", \"2\"] else [\"3\", src(\"4\")]\nstage s { run = [\"x\", ..l, ..l + [\"5\"]] }", NONE,
     "stage s\nrun: <tool x> 3 <file main.bgraph>/4 3 <file main.bgraph>/4 5\n"},
    {"list params", B "param l : list[str] = [\"1\", \"2\"]\nstage s { run = [\"x\", ..l] }", NONE, "stage s\nrun: <tool x> 1 2\n"},
    {"logic", B "env A : str = \"1\"\nenv E : str = \"2\"\nstage s { run = [\"x\", A == \"1\" and E == \"1\", A == \"1\" or E == \"1\", not (A == \"1\"), machine.jobs * 2 <= 16, machine.jobs > 8] }", NONE,
     "stage s\nrun: <tool x> false true false true false\n"},
    {"settings", B "relocate r { }\nstage s { run = [\"x\"] cpus = 2 retry = 3 timeout = 2m cache = false signal = fd relocate = r out early e : file }", NONE,
     "stage s cpus=2 retry=3 timeout=120000000000 no_cache=1 signal=2 rule=r\nearly e\nfile e=e\nrun: <tool x>\n"},
    {"env, cwd, depfile, stdout", B "stage s { env { A = out.o B = \"{1}\" } env { C = work.w } cwd = src(\"d\") depfile = work.w / \"x.d\" work w out o : file run { argv = [\"x\"] stdout = out.o } }", NONE,
     "stage s\nfile o=o\nenv: A <out s.o> B 1 C <work s.w>\ncwd: <file main.bgraph>/d\ndepfile: <work s.w>/x.d\nrun: <tool x>\nstdout: <out s.o>\n"},
    {"groups", B "param b : bool = true\ngroup g { when = b group h { stage a { when = not b run = [\"x\"] } } }", NONE,
     "stage g/h/a \"a\" in g/h\nwhen: false\nrun: <tool x>\n"},
    {"inputs and edges", B "source v { dir = \"v\" }\nstage a { run = [\"x\"] signal = fd out early e : file out o : file }\nstage b { in = [v, a, a.e, a.o, a.link, src(\"f\")] run = [\"y\", a.e] }", NONE,
     "stage a cpus=1 retry=0 timeout=0 no_cache=0 signal=2\nearly e\nfile e=e\nfile o=o\nrun: <tool x>\n"
     "stage b\nin: <source v> <prod a.link> <out a.e> <out a.o> <prod a.link> <file main.bgraph>/f\nrun: <tool y> <out a.e>\nedge a.link\nedge a.e\n"},
    {"untaken branches have edges", B "env E : str = \"\"\nstage a { run = [\"x\"] out o : file }\nstage b { run = [\"y\", if E == \"\" then \"n\" else \"{a.o}\"] }", NONE,
     "stage a\nfile o=o\nrun: <tool x>\nstage b\nrun: <tool y> n\nedge a.link\n"},
    {"baked", B "param n : int = 2\nstage s { run = [\"x\", n] cpus = n }", {{"n", 1}, {"3", 1}}, false,
     "stage s cpus=3 retry=0 timeout=0 no_cache=0 signal=0\nrun: <tool x> 3\n"},
    {"paths", B "stage s { out o : file = \"a/b.c\" run = [\"x\", dir(out.o / \"c\"), base(out.o), base(src(\"x/y\")), dir(src(\"x/y\"))] }", NONE,
     "stage s\nfile o=a/b.c\nrun: <tool x> <out s.o> b.c y <file main.bgraph>/x\n"},
    {"functions", B "stage s { run = [\"x\", ..unique([\"a\", \"b\", \"a\"]), len([1, 2]), replace(\"a-b-c\", \"-\", \"_\"), str(90s), str(3), has(s, \"o\"), has(s, \"p\")] out o : file }", NONE,
     "stage s\nfile o=o\nrun: <tool x> a b 2 a_b_c 90s 3 true false\n"},
    {"templates", B "template t(a: str, b: str = \"{a}!\") { env { A = b } run = [\"one\", a, self.name] }\ntemplate u() { run = [\"two\"] cpus = 2 }\n"
     "stage s : t(\"x\") + u() { run = [\"three\"] override cpus = 3 }\nstage z : t(a = \"y\", b = \"z\") { override run = [\"four\"] }", NONE,
     "stage s cpus=3 retry=0 timeout=0 no_cache=0 signal=0\nenv: A x!\nrun: <tool one> x s\nrun: <tool two>\nrun: <tool three>\n"
     "stage z\nenv: A z\nrun: <tool four>\n"},
    {"crates", B "crate my-lib { root = src(\"l.rs\") }\ncrate mac { root = src(\"m.rs\") kind = proc-macro deps = [my-lib] }\ncrate b { root = src(\"b.rs\") deps = [my-lib] }\ncrate app { root = src(\"a.rs\") kind = bin deps = [b, mac] }", NONE,
     "crate my-lib cpus=1 retry=0 timeout=0 no_cache=0 signal=1\nearly meta\nfile meta=libmy-lib.rmeta\nfile lib=libmy-lib.rlib\n"
     "run: <tool rustc> --crate-name my_lib <file main.bgraph>/l.rs --crate-type lib -o <out my-lib.lib>\n"
     "crate mac cpus=1 retry=0 timeout=0 no_cache=0 signal=1\nfile lib=mac\nin: <prod my-lib.link>\n"
     "run: <tool rustc> --crate-name mac <file main.bgraph>/m.rs --crate-type proc-macro --extern my-lib=<out my-lib.lib> -o <out mac.lib>\nedge my-lib.link\n"
     "crate b cpus=1 retry=0 timeout=0 no_cache=0 signal=1\nearly meta\nfile meta=libb.rmeta\nfile lib=libb.rlib\nin: <out my-lib.meta>\n"
     "run: <tool rustc> --crate-name b <file main.bgraph>/b.rs --crate-type lib --extern my-lib=<out my-lib.lib> -o <out b.lib>\nedge my-lib.meta\nedge my-lib.link\n"
     "crate app cpus=1 retry=0 timeout=0 no_cache=0 signal=1\nfile lib=app\nin: <prod my-lib.link> <prod b.link> <prod mac.link>\n"
     "run: <tool rustc> --crate-name app <file main.bgraph>/a.rs --crate-type bin --extern b=<out b.lib> --extern mac=<out mac.lib> -o <out app.lib>\n"
     "edge my-lib.link\nedge b.link\nedge mac.link\n"},
};

static void compile(const char *text, const bg_session_define *define, bg_buf *image)
{
    const test_file files[] = {{"/w/main.bgraph", text}, {NULL, NULL}};
    bg_session *session = test_session(files, define, define == NULL ? 0 : 1);
    bg_error err = {0};
    bg_status status = bg_session_compile(session, BG_STR("/w/main.bgraph"), image, &err);
    if (status != BG_OK) {
        print_error("%s: %s\n", bg_status_name(status), err.text);
        test_show(session, text);
    }
    assert_int_equal(status, BG_OK);
    bg_session_free(session);
}

static void check_case(const emit_case *c)
{
    union {
        const bg_session_define *in;
        void *out;
    } define = {c->define.name.ptr != NULL ? &c->define : NULL};
    bg_buf image = {0}, again = {0}, shown = {0};
    compile(c->text, c->late ? NULL : define.in, &image);
    compile(c->text, c->late ? NULL : define.in, &again);
    assert_int_equal(image.len, again.len);
    assert_memory_equal(image.data, again.data, image.len);
    bg_graph g;
    bg_error err = {0};
    if (bg_graph_load(&g, image.data, image.len, &err) != BG_OK)
        fail_msg("case `%s`: the image is refused: %s", c->name, err.text);
    graph = &g;
    for (uint32_t i = 1; i < g.n_nodes; i++)
        show_node(&g.nodes[i], define.out, &shown);
    if (strcmp(bg_buf_cstr(&shown), c->shown) != 0)
        print_error("case `%s`\n", c->name);
    assert_string_equal(bg_buf_cstr(&shown), c->shown);
    bg_buf_clear(&image);
    bg_buf_clear(&again);
    bg_buf_clear(&shown);
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
}

/* Declarations as records. */
static void test_records(void **state)
{
    (void)state;
    static const char text[] = B "## how many\nparam n : int = 2\nparam l : list[str]\nparam t : duration = 90s\nparam k : enum[\"a\", \"b\"] = \"b\"\n"
                                 "tool cc { program = \"gcc\" version = [\"--version\"] root = [\"-r\"] bin = \"bin/gcc\" }\n"
                                 "source v { git = \"../x\" paths = [\"a\", \"b/c\"] }\n"
                                 "relocate r { pad = 7 elf = [interp] text = none links = false exclude = [\"q\"] longer = deny survivors = warn }\n"
                                 "## does it\nstage s { run = [cc, ..l, k] cpus = n timeout = t in = [v] relocate = r }\ndefault s\n";
    bg_buf image = {0};
    compile(text, NULL, &image);
    bg_graph g;
    bg_error err = {0};
    assert_int_equal(bg_graph_load(&g, image.data, image.len, &err), BG_OK);
    assert_int_equal(g.n_params, 5);
    assert_string_equal(bg_graph_str(&g, g.params[1].doc).ptr, "how many");
    assert_int_equal(g.params[1].is_baked, 1);
    assert_string_equal(bg_graph_str(&g, g.params[1].baked).ptr, "2");
    assert_int_equal(g.params[2].type, BG_PARAM_STR_LIST);
    assert_int_equal(g.params[2].prog, 0);
    assert_int_equal(g.params[2].is_baked, 0);
    assert_string_equal(bg_graph_str(&g, g.params[3].baked).ptr, "90s");
    assert_int_equal(g.params[4].n_choices, 2);
    assert_int_equal(g.tools[1].n_version, 1);
    assert_string_equal(bg_graph_str(&g, g.tools[1].bin).ptr, "bin/gcc");
    assert_string_equal(bg_graph_str(&g, g.sources[1].dir).ptr, "../x");
    assert_int_equal(g.sources[1].is_git, 1);
    assert_string_equal(bg_graph_str(&g, g.words[g.sources[1].paths + 1].str).ptr, "b/c");
    const bg_img_rules *r = &g.rules[1];
    assert_true(r->pad == 7 && r->elf == BG_ELF_INTERP && r->text == 0 && r->links == 0 && r->longer == BG_LONGER_DENY &&
                r->survivors == BG_SURVIVORS_WARN && r->n_exclude == 1);
    assert_string_equal(bg_graph_str(&g, g.nodes[1].doc).ptr, "does it");
    assert_int_equal(g.spans[g.nodes[1].span].line, 11);
    assert_int_equal(g.spans[g.nodes[1].span].column, 7);
    assert_int_equal(g.defaults[1].node, 1);
    assert_string_equal(bg_graph_str(&g, g.files[1].path).ptr, "main.bgraph");
    bg_buf_clear(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
