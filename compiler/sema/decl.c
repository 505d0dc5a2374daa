/* Tools, sources and relocation rules: blocks of keys with constant values. */
#include "sema/sema.h"

static bg_str known_str(bg_sema *s, bg_scope *scope, const bg_ast *value, const char *what)
{
    bg_val *v = bg_known(s, bg_type_want(s, bg_eval(s, scope, value), BG_TYPE_STR, what), what);
    return v->kind == BG_VAL_STR ? v->str : (bg_str){NULL, 0};
}

bg_str bg_decl_word(bg_sema *s, bg_scope *scope, const bg_ast *value, const char *what)
{
    return value != NULL && value->kind == BG_AST_NAME ? value->text : known_str(s, scope, value, what);
}

static void strs(bg_sema *s, bg_scope *scope, const bg_ast *value, const char *what, bg_str **at, uint32_t *n)
{
    static const bg_type str = {BG_TYPE_STR, NULL, NULL, 0}, list = {BG_TYPE_LIST, &str, NULL, 0};
    bg_val *v = bg_known(s, bg_eval_as(s, scope, value, &list, bg_str_of(what)), what);
    *at = BG_ARRAY(s, v->n, bg_str);
    *n = v->n;
    for (uint32_t i = 0; i < v->n; i++)
        (*at)[i] = v->kids[i]->str;
}

/* Values of the keys of a block, by index in `keys`; NULL where it is not set. */
static void read_keys(bg_sema *s, const bg_ast *ast, const char *owner, const bg_str *keys, uint32_t n, const bg_ast **values)
{
    for (uint32_t i = 0; i < ast->n_kids; i++) {
        const bg_ast *kid = ast->kids[i];
        if (kid == NULL || kid->kind != BG_AST_SET)
            continue;
        uint32_t k = 0;
        while (k < n && !bg_str_eq(keys[k], kid->text))
            k++;
        if (k == n) {
            bg_diag *d = bg_diag_push(s->diags, BG_D_UNKNOWN_KEY, kid->name_span, 2, bg_str_of(owner), kid->text);
            bg_sema_nearest(s, d, kid->text, keys, n);
        } else if (values[k] != NULL) {
            bg_diag *d = bg_diag_push(s->diags, BG_D_KEY_TWICE, kid->name_span, 1, kid->text);
            bg_diag_label_add(s->diags, d, values[k]->span, "first set here");
        } else {
            values[k] = kid->kids[0];
        }
    }
}

bg_tool *bg_decl_tool(bg_sema *s, bg_bind *bind)
{
    static const bg_str keys[] = {{"program", 7}, {"version", 7}, {"root", 4}, {"bin", 3}, {"places", 6}};
    const bg_ast *v[5] = {NULL, NULL, NULL, NULL, NULL};
    bg_tool *tool = BG_NEW(s, bg_tool);
    read_keys(s, bind->ast, "a tool", keys, 5, v);
    tool->span = bind->ast->span;
    tool->name = bind->name;
    tool->declared = true;
    tool->program = v[0] == NULL ? bind->name : known_str(s, bind->scope, v[0], "`program`");
    if (v[0] != NULL && tool->program.ptr != NULL && tool->program.len == 0)
        bg_diag_push(s->diags, BG_D_RANGE, v[0]->span, 2, BG_STR("`program`"), BG_STR("a file name or an absolute path"));
    if (v[1] != NULL)
        strs(s, bind->scope, v[1], "`version`", &tool->version.at, &tool->version.n);
    if (v[2] != NULL)
        strs(s, bind->scope, v[2], "`root`", &tool->root.at, &tool->root.n);
    if (v[3] != NULL)
        tool->bin = known_str(s, bind->scope, v[3], "`bin`");
    if (v[4] != NULL)
        strs(s, bind->scope, v[4], "`places`", &tool->places.at, &tool->places.n);
    return tool;
}

/* A path relative to the directory of the root file. */
static bg_str from_root(bg_sema *s, const bg_unit *unit, bg_str dir)
{
    bg_str file = unit->source->image_path;
    size_t n = file.len;
    while (n != 0 && file.ptr[n - 1] != '/')
        n--;
    if (n == 0 || unit->is_std || (dir.len != 0 && dir.ptr[0] == '/'))
        return dir.len == 0 ? BG_STR(".") : dir;
    return bg_sema_printf(s, "%.*s%.*s", (int)n, file.ptr, BG_FMT(dir));
}

static void source_paths(bg_sema *s, bg_src *src, const bg_ast *value)
{
    for (uint32_t i = 0; i < src->paths.n; i++) {
        bg_val *root = bg_val_path(s, BG_ROOT_FILE, NULL, NULL, (bg_str){"", 0}, value->span);
        bg_val *v = bg_pathval_slash(s, root, bg_val_str(s, src->paths.at[i], value->span), value->span);
        src->paths.at[i] = v->str;
    }
}

bg_src *bg_decl_source(bg_sema *s, bg_bind *bind)
{
    static const bg_str keys[] = {{"git", 3}, {"dir", 3}, {"paths", 5}};
    const bg_ast *v[3] = {NULL, NULL, NULL};
    bg_src *src = BG_NEW(s, bg_src);
    read_keys(s, bind->ast, "a source", keys, 3, v);
    src->span = bind->ast->span;
    src->name = bind->name;
    src->is_git = v[0] != NULL;
    if (v[0] != NULL && v[1] != NULL)
        bg_diag_push(s->diags, BG_D_KEY_TWICE, v[1]->span, 1, BG_STR("the directory"));
    else if (v[0] == NULL && v[1] == NULL)
        bg_diag_push(s->diags, BG_D_MISSING_ARGUMENT, bind->span, 2, bg_sema_printf(s, "the source `%.*s`", BG_FMT(bind->name)),
                     BG_STR("git"));
    else
        src->dir = from_root(s, bind->scope->unit,
                             v[0] != NULL ? known_str(s, bind->scope, v[0], "`git`") : known_str(s, bind->scope, v[1], "`dir`"));
    if (v[2] != NULL) {
        strs(s, bind->scope, v[2], "`paths`", &src->paths.at, &src->paths.n);
        source_paths(s, src, v[2]);
    }
    return src;
}

/* ---- relocate ---- */

static uint32_t choice(bg_sema *s, bg_scope *scope, const bg_ast *value, const char *what, const bg_str *choices, uint32_t n)
{
    bg_str word = bg_decl_word(s, scope, value, what);
    for (uint32_t i = 0; i < n; i++)
        if (bg_str_eq(choices[i], word))
            return i;
    if (word.ptr == NULL)
        return 0;
    bg_diag *d = bg_diag_push(s->diags, BG_D_NOT_A_CHOICE, value->span, 2, bg_str_of(what), word);
    bg_str all = {"", 0};
    for (uint32_t i = 0; i < n; i++)
        all = bg_sema_printf(s, "%.*s%s`%.*s`", BG_FMT(all), i == 0 ? "" : ", ", BG_FMT(choices[i]));
    bg_diag_help(s->diags, d, "it is one of %.*s", BG_FMT(all));
    return 0;
}

static uint32_t elf_bits(bg_sema *s, bg_scope *scope, const bg_ast *value)
{
    static const bg_str names[] = {{"rpath", 5}, {"interp", 6}, {"strings", 7}};
    if (value->kind != BG_AST_LIST) {
        bg_diag_push(s->diags, BG_D_TYPE, value->span, 3, BG_STR("`elf`"), BG_STR("a list"), BG_STR("something else"));
        return 0;
    }
    uint32_t bits = 0;
    for (uint32_t i = 0; i < value->n_kids; i++)
        bits |= 1u << choice(s, scope, value->kids[i], "an item of `elf`", names, 3);
    return bits;
}

static uint32_t padding(bg_sema *s, bg_scope *scope, const bg_ast *value)
{
    bg_val *v = bg_known(s, bg_type_want(s, bg_eval(s, scope, value), BG_TYPE_INT, "`pad`"), "`pad`");
    if (v->kind == BG_VAL_INT && v->i >= 0 && v->i <= 4096)
        return (uint32_t)v->i;
    if (v->kind == BG_VAL_INT)
        bg_diag_push(s->diags, BG_D_RANGE, value->span, 2, BG_STR("`pad`"), BG_STR("from 0 to 4096"));
    return 0;
}

static bool links(bg_sema *s, bg_scope *scope, const bg_ast *value)
{
    bg_val *v = bg_known(s, bg_type_want(s, bg_eval(s, scope, value), BG_TYPE_BOOL, "`links`"), "`links`");
    return v->kind == BG_VAL_BOOL && v->i != 0;
}

bg_rule *bg_decl_rule(bg_sema *s, bg_bind *bind)
{
    static const bg_str keys[] = {{"from", 4}, {"pad", 3},     {"elf", 3},    {"text", 4},
                                  {"links", 5}, {"exclude", 7}, {"longer", 6}, {"survivors", 9}};
    static const bg_str from[] = {{"out", 3}};
    static const bg_str text[] = {{"none", 4}, {"auto", 4}};
    static const bg_str longer[] = {{"rebuild", 7}, {"rewrite-elf", 11}, {"deny", 4}};
    static const bg_str survivors[] = {{"deny", 4}, {"warn", 4}, {"pin", 3}};
    const bg_ast *v[8] = {NULL};
    bg_scope *scope = bind->scope;
    bg_rule *rule = BG_NEW(s, bg_rule);
    read_keys(s, bind->ast, "a relocation rule", keys, 8, v);
    rule->span = bind->ast->span;
    rule->name = bind->name;
    if (v[0] != NULL)
        choice(s, scope, v[0], "`from`", from, 1);
    rule->pad = v[1] == NULL ? 0 : padding(s, scope, v[1]);
    rule->elf = v[2] == NULL ? BG_ELF_ALL : elf_bits(s, scope, v[2]);
    rule->text = v[3] == NULL || choice(s, scope, v[3], "`text`", text, 2) == 1;
    rule->links = v[4] == NULL || links(s, scope, v[4]);
    if (v[5] != NULL)
        strs(s, scope, v[5], "`exclude`", &rule->exclude.at, &rule->exclude.n);
    rule->longer = v[6] == NULL ? BG_LONGER_REBUILD : choice(s, scope, v[6], "`longer`", longer, 3);
    rule->survivors = v[7] == NULL ? BG_SURVIVORS_DENY : choice(s, scope, v[7], "`survivors`", survivors, 3);
    return rule;
}
