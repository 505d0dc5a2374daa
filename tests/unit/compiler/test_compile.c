/* Texts and the diagnostics that they give. */
#include "compile_util.h"

typedef struct {
    const char *name, *text;
    uint32_t codes[6]; /* in the order of their places; {0}: it compiles without a word */
} compile_case;

#define B "bgraph 1\n"
#define S "stage s { run = [\"true\"] "
static const compile_case cases[] = {
    {"empty", B, {0}},
    {"stage", B S "}", {0}},
    {"names before they are declared", B "stage s { cpus = n run = [\"true\"] }\nlet n = 2", {0}},
    {"stages in groups", B "group g { stage a { run = [\"true\"] out x : file } }\n" S "in = [g.a.x] }", {0}},
    {"nested groups", B "group g { group h { stage a { run = [\"true\"] } } }\ndefault g.h.a, g", {0}},
    {"group lets", B "group g { let n = 2 stage a { run = [\"true\"] cpus = n } }", {0}},
    {"template", B "template t(a: int = 1, b: list[str] = []) { run = [\"x\", a, ..b] }\nstage s : t(2, b = [\"y\"])", {0}},
    {"templates add up", B "template t() { run = [\"x\"] out a : file }\ntemplate u() { run = [\"y\"] out b : file }\nstage s : t() + u() { run = [\"z\", out.a, out.b] }", {0}},
    {"override", B "template t() { run = [\"x\"] cpus = 2 }\nstage s : t() { override cpus = 3 override run = [\"y\"] }", {0}},
    {"arguments see the block", B "template t(p: path) { run = [\"x\", p] }\nstage s : t(out.o) { out o : file }", {0}},
    {"comprehension", B "let xs = [1, 2]\n" "stage s { run = [\"x\", ..[\"{a}{b}\" for a in xs for b in xs if a != b]] }", {0}},
    {"param decides shape", B "param n : int = 2\n" S "cpus = n }", {0}},
    {"param list at run time", B "param f : list[str] = [\"a\"]\nstage s { run = [\"x\", ..f] }", {0}},
    {"one param guards an output", B "param b : bool = false\nstage s { run = [\"x\", if b then out.o else \"n\"] out o : file when b }", {0}},
    {"enum choice as a name", B "template t(k: enum[\"a\", \"b\"]) { run = [\"x\", k] }\nstage s : t(k = b)", {0}},
    {"crate", B "crate a { root = src(\"a.rs\") }\ncrate b { root = src(\"b.rs\") kind = bin deps = [a] cpus = 2 }", {0}},
    {"relocate", B "relocate r { from = out pad = 200 elf = [rpath, interp] text = none longer = rewrite-elf survivors = pin exclude = [\"a/**\"] }\n" S "relocate = r }", {0}},
    {"maps", B "let m = { a: 1, \"b c\": 2 }\n" S "cpus = m.a retry = m[\"b c\"] }", {0}},
    {"provide", B "stage a { run = [\"true\"] out o : file provide v = [out.o] }\nstage b { run = [\"x\", ..a.v] }", {0}},
    {"self", B "stage a { run = [\"x\", self.name, self.path] }", {0}},
    {"work", B "stage a { work w run = [\"x\", work.w / \"f\"] cwd = work.w }", {0}},
    {"depfile and stdout", B "stage a { out o : file out d : file run { argv = [\"x\"] stdout = out.o } depfile = out.d }", {0}},
    {"early", B "stage a { run = [\"x\"] signal = fd out early o : file }\nstage b { run = [\"x\", a.o] }", {0}},
    {"times and sizes", B "let t = 2 * 45s\nlet m = 1GiB / 2\n" S "timeout = t env { M = str(m) } }", {0}},
    {"tool", B "tool cc { program = \"gcc\" version = [\"--version\"] }\nstage s { run = [cc, \"-c\"] }", {0}},
    {"source", B "source v { git = \"..\" paths = [\"a/b\"] }\nstage s { run = [\"x\", v / \"a\", v / \"a/b/c\"] in = [v] }", {0}},
    {"allow unused", B S "let a = 1 allow(\"BG0310\", \"kept for later\") }", {0}},
    {"default list", B S "}\ndefault [s]", {0}},
    {"in adds up", B "template t() { in = [src(\"a\")] }\nstage s : t() { in = [src(\"b\")] run = [\"x\"] }", {0}},
    {"when of templates and block", B "template t() { when = true }\nstage s : t() { override when = false run = [\"x\"] }", {0}},

    {"undefined", B S "cpus = m }", {301}},
    {"undefined in two places", B S "cpus = m retry = k }", {301, 301}},
    {"one mistake, one error", B "let a = b\nlet c = a + 1\n" S "cpus = c }", {301}},
    {"function as a name", B "let a = [src, 1]\n" S "cpus = len(a) }", {301}},
    {"out without a name", B "stage s { run = [\"x\", out] out o : file }", {301}},
    {"declared twice", B "let a = 1\nlet a = 2\n" S "cpus = a }", {302}},
    {"stage twice", B S "}\n" S "}", {302}},
    {"output twice", B S "out a : file out a : file }", {302}},
    {"output and provide", B S "out a : file provide a = 1 }", {302}},
    {"output called link", B S "out link : file }", {302}},
    {"map key twice", B "let m = { a: 1, a: 2 }\n" S "cpus = m.a }", {302}},
    {"unknown key of a stage", B S "cpu = 2 }", {303}},
    {"unknown key of a tool", B "tool t { programm = \"x\" }\nstage s { run = [t] }", {303}},
    {"unknown key of a source", B "source v { dir = \"v\" path = [] }\n" S "in = [v] }", {303}},
    {"key twice", B S "cpus = 1 cpus = 2 }", {304}},
    {"template and block set one key", B "template t() { cpus = 2 }\nstage s : t() { cpus = 3 run = [\"x\"] }", {304}},
    {"in twice in a block", B S "in = [] in = [] }", {304}},
    {"variable twice", B S "env { A = \"1\" } env { A = \"2\" } }", {304}},
    {"missing module", B "use \"no.bgraph\" as n\n" S "cpus = n.x }", {305}},
    {"missing std module", B "use std.no\n" S "cpus = no.x }", {305}},
    {"value cycle", B "let a = b\nlet b = a\n" S "cpus = a }", {307}},
    {"provide cycle", B "stage a { run = [\"x\"] provide v = b.v }\nstage b { run = [\"x\"] provide v = a.v }", {307}},
    {"no member of a map", B "let m = { aa: 1 }\n" S "cpus = m.ab }", {308}},
    {"no member of a group", B "group g { stage a { run = [\"x\"] } }\n" S "in = [g.b] }", {308}},
    {"no member of a list", B S "cpus = [1].x }", {308}},
    {"no work directory", B S "work w cwd = work.v }", {308}},
    {"not a template", B S "}\nstage t : s()", {309}},
    {"unused", B "let a = 1", {310}},
    {"unused of all kinds", B "param p : int = 1\nenv E : str\ntool t { }\nsource v { dir = \"v\" }\ntemplate u() { }", {310, 310, 310, 310, 310}},
    {"unused in a block", B S "let a = 1 }", {310}},
    {"unknown argument", B "template t(a: int = 1) { cpus = a }\nstage s : t(b = 1)", {311}},
    {"missing argument", B "template t(a: int) { cpus = a }\nstage s : t()", {312}},
    {"missing argument of a function", B S "cpus = len() }", {312}},
    {"argument twice", B "template t(a: int) { cpus = a }\nstage s : t(1, a = 2)", {313}},
    {"too many arguments", B "template t(a: int) { cpus = a }\nstage s : t(1, 2)", {314}},
    {"module without a name", B "use \"1.bgraph\"", {316}},
    {"nothing to override", B S "override cpus = 2 }", {317}},
    {"unknown code", B S "allow(\"BG1234\", \"x\") }", {318}},
    {"error code", B S "allow(\"BG0301\", \"x\") }", {318}},

    {"type of a key", B S "cpus = \"2\" }", {401}},
    {"type of an argument", B "template t(a: list[int]) { cpus = a[0] }\nstage s : t([1, \"b\"])", {401}},
    {"path is not a str", B "template t(a: str) { run = [a] }\nstage s : t(src(\"x\"))", {401}},
    {"when is a bool", B S "when = 1 }", {401}},
    {"in of a string", B S "in = [\"a\"] }", {401}},
    {"default is a node", B S "}\ndefault 1", {401}},
    {"condition", B S "cpus = if 1 then 2 else 3 }", {401}},
    {"nested list", B "stage s { run = [\"x\", [\"a\"]] }", {402}},
    {"nested list in a spliced one", B "stage s { run = [\"x\", ..[[\"a\"]]] }", {402}},
    {"operands", B S "cpus = 1 + \"a\" }", {403}},
    {"units", B S "timeout = 1s + 1KiB }", {403}},
    {"equality of types", B S "when = 1 == \"1\" }", {403}},
    {"branches", B "param b : bool = true\nstage s { run = [\"x\", if b then 1 else \"a\"] }", {403}},
    {"overflow", B S "cpus = 9223372036854775807 * 2 }", {404}},
    {"division", B S "cpus = 1 / 0 }", {405}},
    {"env decides shape", B "env E : str = \"\"\n" S "out o : file when E == \"\" }", {406}},
    {"path decides shape", B S "cpus = len(\"{src(\"a\")}\") }", {406}},
    {"machine decides shape", B S "cpus = machine.jobs }", {406}},
    {"format", B "stage s { run = [\"{1:yaml}\"] }", {407}},
    {"path above its root", B S "in = [src(\"../x\")] }", {408}},
    {"absolute path", B S "in = [src(\"/x\")] }", {408}},
    {"path above an output", B "stage a { run = [\"x\"] out o : dir }\n" S "in = [a.o / \"b\" / \"../../c\"] }", {408}},
    {"outside the source", B "source v { dir = \"v\" paths = [\"a\"] }\n" S "in = [v / \"ab\"] }", {409}},
    {"signal", B S "signal = smoke }", {410}},
    {"enum", B "template t(k: enum[\"a\"]) { run = [k] }\nstage s : t(\"b\")", {410}},
    {"index", B S "cpus = [1][1] }", {411}},
    {"not callable", B "let f = 1\n" S "cpus = f() }", {412}},
    {"empty command", B "stage s { run = [] }", {413}},
    {"empty program", B "stage s { run = [\"\"] }", {413}},
    {"param without a value", B "param n : int\n" S "cpus = n }", {414}},
    {"node as a word", B S "}\nstage t { run = [\"cat\", s] }", {417}},
    {"duration as a word", B "stage t { run = [\"sleep\", 2s] }", {417}},
    {"source as a word", B "source v { dir = \"v\" }\nstage t { run = [\"ls\", v, \"{v}\"] }", {0}},
    {"out outside of a node", B "let a = out.x\n" S "in = [a] }", {418}},
    {"self outside of a node", B "let a = self.name\nstage s { run = [a] }", {418}},
    {"type of a param", B "param p : path\nstage s { run = [p] }", {419}},
    {"unknown type", B "param p : strr\nstage s { run = [p] }", {419}},
    {"type of an env", B "env E : int\nstage s { run = [\"x\", E] }", {419}},
    {"param order", B "param a : int = b\nparam b : int = 1\nstage s { run = [\"x\", a] }", {420}},
    {"param order through a let", B "param a : int = c\nparam b : int = 1\nlet c = b\nstage s { run = [\"x\", a] }", {420}},
    {"cpus", B S "cpus = 0 }", {421}},
    {"retry", B S "retry = -1 }", {421}},
    {"pad", B "relocate r { pad = 10000 }\n" S "relocate = r }", {421}},

    {"cycle of two", B "stage a { in = [b] run = [\"x\"] }\nstage b { in = [a] run = [\"x\"] }", {501}},
    {"cycle of three", B "stage a { in = [b] run = [\"x\"] }\nstage b { in = [c] run = [\"x\"] }\nstage c { in = [a] run = [\"x\"] }", {501}},
    {"cycle of one", B "stage a { in = [self] run = [\"x\"] }", {501}},
    {"no product", B "stage a { run = [\"x\"] out o : file }\n" S "in = [a.p] }", {502}},
    {"metadata of a program", B "crate a { root = src(\"a\") kind = bin }\n" S "in = [a.meta] }", {507}},
    {"no output of its own", B "stage a { run = [\"x\", out.p] out o : file }", {502}},
    {"output above", B S "out o : file = \"../o\" }", {503}},
    {"output absolute", B S "out o : file = \"/o\" }", {503}},
    {"output empty", B S "out o : file = \"\" }", {503}},
    {"output dot", B S "out o : file = \"a/./b\" }", {503}},
    {"outputs at one path", B S "out a : file = \"x\" out b : file = \"x\" }", {504}},
    {"output in output", B S "out a : dir = \"x\" out b : file = \"x/y\" }", {504}},
    {"early without signal", B S "out early a : file }", {505}},
    {"foreign work", B "stage a { run = [\"x\"] work w provide v = work.w }\nstage b { run = [\"x\", a.v] }", {506}},
    {"output off", B "stage a { run = [\"x\"] out o : file when false }\n" S "in = [a.o] }", {507}},
    {"stdout elsewhere", B "stage a { run { argv = [\"x\"] stdout = src(\"o\") } }", {508}},
    {"as many as there are", B "stage a { run = [\"x\"] cpus = 0 retry = \"a\" timeout = 1 out o : file = \"..\" }", {421, 401, 401, 503}},
};

static void check_case(const compile_case *c)
{
    const test_file files[] = {{"/w/main.bgraph", c->text}, {NULL, NULL}};
    bg_session *session = test_session(files, NULL, 0);
    bg_buf image = {0};
    bg_error err = {0};
    bg_status status = bg_session_compile(session, BG_STR("/w/main.bgraph"), &image, &err);
    const bg_diags *diags = bg_session_diags(session);
    uint32_t n = 0;
    while (n < 6 && c->codes[n] != 0)
        n++;
    bool ok = diags->n == n && (status == BG_OK) == (diags->n_errors == 0);
    for (uint32_t i = 0; i < n && ok; i++)
        ok = diags->at[i]->info->number == c->codes[i];
    if (!ok) {
        print_error("case `%s`: %s\n", c->name, bg_status_name(status));
        test_show(session, c->text);
    }
    assert_true(ok);
    bg_buf_clear(&image);
    bg_session_free(session);
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
}

/* Every row of 03xx to 05xx shows in its example what it is about. */
static void test_examples(void **state)
{
    (void)state;
    for (uint32_t i = 0; bg_diag_at(i) != NULL; i++) {
        const bg_diag_info *info = bg_diag_at(i);
        if (info->number < 300 || info->number >= 600 || info->example[0] == '\0')
            continue;
        const test_file files[] = {{"/w/main.bgraph", info->example}, {NULL, NULL}};
        bg_session *session = test_session(files, NULL, 0);
        bg_buf image = {0};
        bg_error err = {0};
        bg_status status = bg_session_compile(session, BG_STR("/w/main.bgraph"), &image, &err);
        const bg_diags *diags = bg_session_diags(session);
        bool found = false;
        for (uint32_t k = 0; k < diags->n; k++)
            found = found || diags->at[k]->info == info;
        if (!found) {
            print_error("BG%04u %s: %s\n", info->number, info->name, bg_status_name(status));
            test_show(session, info->example);
        }
        assert_true(found);
        bg_buf_clear(&image);
        bg_session_free(session);
    }
}

typedef struct {
    const char *name;
    test_file files[5];
    bg_session_define defines[2];
    size_t n_defines;
    uint32_t code;
    const char *message; /* part of it */
} files_case;

static const files_case files_cases[] = {
    {"module", {{"/w/main.bgraph", B "use \"sub/m.bgraph\"\n" S "in = [m.a.o] cpus = m.n }"},
                {"/w/sub/m.bgraph", B "let n = 2\nstage a { run = [\"x\", src(\"f\")] out o : file }"}}, {{{0}, {0}}}, 0, 0, NULL},
    {"modules that share one", {{"/w/main.bgraph", B "use \"a.bgraph\", \"b.bgraph\"\n" S "in = [a.x, b.x] }"},
                {"/w/a.bgraph", B "use \"c.bgraph\"\nlet x = c.s"}, {"/w/b.bgraph", B "use \"c.bgraph\"\nlet x = c.s"},
                {"/w/c.bgraph", B S "}"}}, {{{0}, {0}}}, 0, 0, NULL},
    {"use cycle", {{"/w/main.bgraph", B "use \"a.bgraph\"\n" S "cpus = a.n }"}, {"/w/a.bgraph", B "use \"b.bgraph\"\nlet n = b.n"},
                {"/w/b.bgraph", B "use \"a.bgraph\"\nlet n = a.n"}}, {{{0}, {0}}}, 0, 306, "/w/a.bgraph -> /w/b.bgraph -> /w/a.bgraph"},
    {"use of itself", {{"/w/main.bgraph", B "use \"main.bgraph\" as m\n" S "cpus = m.n }"}}, {{{0}, {0}}}, 0, 306, "main.bgraph -> "},
    {"error in a module", {{"/w/main.bgraph", B "use \"a.bgraph\"\n" S "cpus = a.n }"}, {"/w/a.bgraph", B "let n = m"}},
                {{{0}, {0}}}, 0, 301, "`m`"},
    {"define", {{"/w/main.bgraph", B "param n : int\n" S "cpus = n }"}}, {{{"n", 1}, {"3", 1}}}, 1, 0, NULL},
    {"define of a module's param", {{"/w/main.bgraph", B "use \"a.bgraph\"\n" S "cpus = a.n }"}, {"/w/a.bgraph", B "param n : int"}},
                {{{"a.n", 3}, {"3", 1}}}, 1, 0, NULL},
    {"define of a duration", {{"/w/main.bgraph", B "param n : duration\n" S "timeout = n }"}}, {{{"n", 1}, {"1_000ms", 7}}}, 1, 0, NULL},
    {"define of a list", {{"/w/main.bgraph", B "param n : list[str]\n" S "cpus = len(n) retry = len(n[2]) }"}}, {{{"n", 1}, {"a,b,", 4}}}, 1, 0, NULL},
    {"define of the wrong type", {{"/w/main.bgraph", B "param n : duration = 1s\n" S "timeout = n }"}}, {{{"n", 1}, {"3", 1}}}, 1, 415, "duration"},
    {"define of no choice", {{"/w/main.bgraph", B "param n : enum[\"a\", \"b\"] = \"a\"\nstage s { run = [n] }"}}, {{{"n", 1}, {"c", 1}}}, 1, 415, NULL},
    {"define of nothing", {{"/w/main.bgraph", B S "}"}}, {{{"n", 1}, {"c", 1}}}, 1, 315, NULL},
    {"cycle is named whole", {{"/w/main.bgraph", B "stage a { in = [b] run = [\"x\"] }\nstage b { in = [c] run = [\"x\"] }\nstage c { in = [a] run = [\"x\"] }"}},
                {{{0}, {0}}}, 0, 501, "a -> b -> c -> a"},
};

static void test_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof files_cases / sizeof *files_cases; i++) {
        const files_case *c = &files_cases[i];
        bg_session *session = test_session(c->files, c->defines, c->n_defines);
        bg_buf image = {0};
        bg_error err = {0};
        bg_status status = bg_session_compile(session, BG_STR("/w/main.bgraph"), &image, &err);
        const bg_diags *diags = bg_session_diags(session);
        bool ok = c->code == 0 ? status == BG_OK && diags->n == 0
                               : diags->n == 1 && diags->at[0]->info->number == c->code &&
                                     (c->message == NULL || strstr(diags->at[0]->message.ptr, c->message) != NULL);
        if (!ok) {
            print_error("case `%s`: %s\n", c->name, bg_status_name(status));
            test_show(session, c->files[0].text);
        }
        assert_true(ok);
        bg_buf_clear(&image);
        bg_session_free(session);
    }
}

typedef struct {
    const char *name, *head, *item, *tail;
    int n;
} limit_case;
/* %d counts from 1 in `item`, which may name the one before (%d - 1) first. */
static const limit_case limits[] = {
    {"doubling strings", B "let a0 = \"aaaaaaaaaaaaaaaa\"\n", "let a%d = a%d + a%d\n", "stage s { run = [a60] }", 60},
    {"doubling lists", B "let a0 = [1]\n", "let a%d = a%d + a%d\n", S "cpus = len(a60) }", 60},
    {"long chain", B "let a0 = 1\n", "let a%d = a%d + 0 * a%d\n", S "cpus = a20000 }", 20000},
    {"long chain, last first", B "let z = a20000\nlet a0 = 1\n", "let a%d = [a%d][0]\n", S "cpus = z }", 20000},
    {"long chain of stages, last first", B "let z = a3000.v\nstage a0 { run = [\"x\"] provide v = [1] }\n",
     "stage a%d { run = [\"x\"] provide v = unique([..a%d.v for i in [1]]) }\n", S "cpus = len(z) }", 3000},
    {"long chain of what is not known", B "env E : str = \"\"\nlet a0 = [E]\n", "let a%d = [if E == \"\" then a%d[0] else a%d[0]]\n",
     "stage s { run = [..a3000] }", 3000},
};

static void test_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        bg_buf text = {0};
        bg_buf_puts(&text, limits[i].head);
        for (int k = 1; k <= limits[i].n; k++) {
            char line[200];
            const char *item = limits[i].item;
            size_t len = 0;
            for (int place = 0; *item != '\0'; item++) {
                if (item[0] == '%' && item[1] == 'd') {
                    len += (size_t)snprintf(line + len, sizeof line - len, "%d", place++ == 0 ? k : k - 1);
                    item++;
                } else {
                    line[len++] = *item;
                }
            }
            bg_buf_put(&text, line, len);
        }
        bg_buf_puts(&text, limits[i].tail);
        const test_file files[] = {{"/w/main.bgraph", bg_buf_cstr(&text)}, {NULL, NULL}};
        bg_session *session = test_session(files, NULL, 0);
        bg_buf image = {0};
        bg_error err = {0};
        bg_status status = bg_session_compile(session, BG_STR("/w/main.bgraph"), &image, &err);
        const bg_diags *diags = bg_session_diags(session);
        bool found = false;
        for (uint32_t k = 0; k < diags->n; k++)
            found = found || diags->at[k]->info->number == BG_D_LIMIT;
        if (!found && status != BG_OK)
            test_show(session, limits[i].name);
        assert_true(found || status == BG_OK);
        bg_buf_clear(&image);
        bg_session_free(session);
        bg_buf_clear(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
