/* The preimage of an action key: records `tag | name | value`, strings with their length in front, so that no two different
 * actions have the same bytes; and what differs between two of them, for people. */
#include <assert.h>
#include <string.h>

#include "exec/exec.h"

enum { FORMAT = 1 };
enum tag {
    TAG_FORMAT = 'v',
    TAG_COMMAND = 'c',
    TAG_ENV = 'e',
    TAG_CWD = 'd',
    TAG_DEPFILE = 'f',
    TAG_TOOL = 't',
    TAG_OUTPUT = 'o',
    TAG_SIGNAL = 's',
    TAG_RULE = 'r',
    TAG_PRODUCT = 'p',
    TAG_INPUT = 'i'
};

static void put_str(bg_buf *out, bg_str s)
{
    bg_buf_u32(out, (uint32_t)s.len);
    bg_buf_str(out, s);
}

static void put(bg_buf *out, enum tag tag, bg_str name, bg_str value)
{
    bg_buf_putc(out, (char)tag);
    put_str(out, name);
    put_str(out, value);
}

static bg_str bytes_of(const bg_digest *d)
{
    return (bg_str){(const char *)d->b, sizeof d->b};
}

static void put_commands(bg_buf *out, bg_buf *value, const bg_exec_form *f)
{
    for (size_t i = 0; i < f->n_cmds; i++) {
        bg_buf_reset(value);
        for (size_t k = 0; k < f->cmds[i].n_argv; k++)
            put_str(value, f->cmds[i].argv[k]);
        bg_buf_puts(value, "\xff\xff\xff\xff");
        put_str(value, f->cmds[i].out);
        put(out, TAG_COMMAND, (bg_str){"", 0}, bg_buf_view(value));
    }
}

static void put_outputs(const bg_exec *x, bg_buf *out, bg_buf *value, const bg_exec_node *n)
{
    for (size_t i = 0; i < n->n_outputs; i++) {
        const bg_img_outs *o = &x->graph->outs[bg_exec_image(x, n)->outs + i];
        bg_buf_reset(value);
        put_str(value, n->outputs[i].path);
        bg_buf_putc(value, n->outputs[i].is_dir ? 'd' : 'f');
        bg_buf_putc(value, x->graph->prods[o->prod].is_early != 0 ? 'e' : 'l');
        put(out, TAG_OUTPUT, n->outputs[i].name, bg_buf_view(value));
    }
}

static void put_rule(bg_buf *out, bg_buf *value, const bg_relocate_rule *r)
{
    bg_buf_reset(value);
    bg_buf_u32(value, r->pad);
    bg_buf_u32(value, r->elf);
    bg_buf_u32(value, r->text);
    bg_buf_u32(value, r->links);
    bg_buf_u32(value, (uint32_t)r->longer);
    bg_buf_u32(value, (uint32_t)r->survivors);
    for (size_t i = 0; i < r->n_exclude; i++)
        put_str(value, r->exclude[i]);
    put(out, TAG_RULE, (bg_str){"", 0}, bg_buf_view(value));
}

static bg_status put_products(bg_exec *x, bg_buf *out, bg_buf *value, bg_exec_node *n, bg_error *err)
{
    bg_buf name = {0};
    for (size_t i = 0; i < n->n_uses; i++) {
        const bg_img_prods *p = &x->graph->prods[n->uses[i].prod];
        assert(x->products[n->uses[i].prod].known);
        n->uses[i].digest = x->products[n->uses[i].prod].digest;
        bg_buf_reset(&name);
        bg_buf_printf(&name, "%.*s:%.*s", BG_FMT(x->nodes[p->node].name), BG_FMT(bg_graph_str(x->graph, p->name)));
        bg_buf_reset(value);
        bg_buf_str(value, bytes_of(&n->uses[i].digest));
        put_str(value, x->nodes[p->node].out_token);
        put(out, TAG_PRODUCT, bg_buf_view(&name), bg_buf_view(value));
    }
    bool failed = name.failed;
    bg_buf_clear(&name);
    return failed ? bg_error_set(err, BG_E_NOMEM, "out of memory") : BG_OK;
}

static bg_status digest_input(bg_exec *x, const bg_exec_node *n, bg_exec_input *in, bg_error *err)
{
    bg_error why = {0};
    bg_status status = in->is_git ? bg_key_git(x->keyer, in->abs_dir, in->rel, &in->digest, &why)
                                  : bg_key_path(x->keyer, in->abs_dir, &in->digest, &why);
    if (status == BG_OK)
        return BG_OK;
    if (status == BG_E_NOENT)
        return bg_error_set(err, BG_E_USAGE, "%s: `%.*s` needs %.*s, which does not exist",
                            bg_exec_place(x, in->span), BG_FMT(n->name), BG_FMT(in->path));
    return bg_error_set(err, status, "%s: `%.*s`: %s", bg_exec_place(x, in->span), BG_FMT(n->name), why.text);
}

static bg_status put_inputs(bg_exec *x, bg_buf *out, bg_exec_node *n, bg_error *err)
{
    for (size_t i = 0; i < n->n_inputs; i++) {
        BG_TRY(digest_input(x, n, &n->inputs[i], err));
        put(out, TAG_INPUT, n->inputs[i].token, bytes_of(&n->inputs[i].digest));
    }
    return BG_OK;
}

static bg_status build(bg_exec *x, bg_exec_node *n, bg_buf *out, bg_buf *value, bg_error *err)
{
    static const char *const signals[] = {"none", "rustc-json", "fd"};
    const bg_exec_form *f = &n->form[BG_MODE_KEY];
    bg_buf_u32(value, FORMAT);
#if defined(__x86_64__)
    put(out, TAG_FORMAT, BG_STR("linux x86_64"), bg_buf_view(value));
#elif defined(__aarch64__)
    put(out, TAG_FORMAT, BG_STR("linux aarch64"), bg_buf_view(value));
#else
    put(out, TAG_FORMAT, BG_STR("linux other"), bg_buf_view(value));
#endif
    put_commands(out, value, f);
    for (size_t i = 0; i + 1 < f->n_env; i += 2)
        put(out, TAG_ENV, f->env[i], f->env[i + 1]);
    put(out, TAG_CWD, (bg_str){"", 0}, f->cwd);
    put(out, TAG_DEPFILE, (bg_str){"", 0}, f->depfile);
    for (size_t i = 0; i < n->n_tools; i++)
        put(out, TAG_TOOL, n->tools[i].name, bytes_of(&n->tools[i].identity.identity));
    put_outputs(x, out, value, n);
    put(out, TAG_SIGNAL, (bg_str){"", 0}, bg_str_of(signals[bg_exec_image(x, n)->signal % BG_SIGNAL_COUNT]));
    put_rule(out, value, &n->rule);
    BG_TRY(put_products(x, out, value, n, err));
    return put_inputs(x, out, n, err);
}

bg_status bg_exec_preimage(bg_exec *x, bg_exec_node *n, bg_error *err)
{
    bg_buf out = {0}, value = {0};
    n->has_key = false;
    bg_status status = build(x, n, &out, &value, err);
    if (status == BG_OK) {
        char *copy = out.failed || value.failed ? NULL : bg_arena_strdup(&x->arena, out.data, out.len);
        n->preimage = (bg_str){copy, out.len};
        status = copy == NULL ? bg_error_set(err, BG_E_NOMEM, "out of memory") : BG_OK;
    }
    bg_buf_clear(&out);
    bg_buf_clear(&value);
    return status;
}

bg_status bg_exec_key(bg_exec_node *n, bg_error *err)
{
    if (n->has_key)
        return BG_OK;
    BG_TRY(bg_sha256_of(n->preimage.ptr, n->preimage.len, &n->key, err));
    n->has_key = true;
    return BG_OK;
}

/* ---- differences ---- */

typedef struct {
    char tag;
    bg_str name, value;
} record;

static bool take_str(bg_str *rest, bg_str *out)
{
    if (rest->len < 4)
        return false;
    const unsigned char *p = (const unsigned char *)rest->ptr;
    uint32_t n = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    if (n > rest->len - 4)
        return false;
    *out = (bg_str){rest->ptr + 4, n};
    *rest = (bg_str){rest->ptr + 4 + n, rest->len - 4 - n};
    return true;
}

static bool take(bg_str *rest, record *out)
{
    if (rest->len == 0)
        return false;
    out->tag = rest->ptr[0];
    *rest = (bg_str){rest->ptr + 1, rest->len - 1};
    return take_str(rest, &out->name) && take_str(rest, &out->value);
}

static bool find(bg_str all, char tag, bg_str name, bg_str *value)
{
    record r;
    while (take(&all, &r)) {
        if (r.tag == tag && bg_str_eq(r.name, name)) {
            *value = r.value;
            return true;
        }
    }
    return false;
}

static const char *noun(char tag)
{
    switch ((enum tag)tag) {
    case TAG_FORMAT:
        return "format or platform";
    case TAG_COMMAND:
        return "command";
    case TAG_ENV:
        return "environment";
    case TAG_CWD:
        return "working directory";
    case TAG_DEPFILE:
        return "dependency file";
    case TAG_TOOL:
        return "tool";
    case TAG_OUTPUT:
        return "output";
    case TAG_SIGNAL:
        return "signal";
    case TAG_RULE:
        return "relocation rule";
    case TAG_PRODUCT:
        return "product";
    case TAG_INPUT:
        return "input";
    }
    return "something";
}

static void describe(bg_buf *text, const record *r, const char *what)
{
    bg_str name = r->name;
    if (bg_str_starts(name, BG_STR("\1src\2/")))
        name = (bg_str){name.ptr + 6, name.len - 6};
    bg_buf_puts(text, noun(r->tag));
    if (name.len > 0 && r->tag != TAG_FORMAT) {
        bg_buf_putc(text, ' ');
        bg_exec_show(text, name);
    }
    bg_buf_printf(text, " %s", what);
}

/* The first record of `a` that `b` has not, or has with another value. Commands have no names: they are compared in turn. */
static bool first_difference(bg_buf *text, bg_str a, bg_str b, const char *absent)
{
    record r, other;
    bg_str rest = a, in_turn = b, value;
    while (take(&rest, &r)) {
        if (r.tag == TAG_COMMAND) {
            bool found = false;
            while (!found && take(&in_turn, &other))
                found = other.tag == TAG_COMMAND;
            if (found && bg_str_eq(other.value, r.value))
                continue;
            describe(text, &r, found ? "changed" : absent);
            return true;
        }
        bool found = find(b, r.tag, r.name, &value);
        if (found && bg_str_eq(value, r.value))
            continue;
        describe(text, &r, found ? "changed" : absent);
        return true;
    }
    return false;
}

bg_str bg_exec_difference(bg_exec *x, bg_str was, bg_str is)
{
    bg_buf text = {0};
    if (!first_difference(&text, is, was, "is new") && !first_difference(&text, was, is, "is gone"))
        bg_buf_puts(&text, "the order of its parts changed");
    char *copy = bg_arena_strdup(&x->arena, bg_buf_cstr(&text), text.len);
    bg_str s = {copy, copy == NULL ? 0 : text.len};
    bg_buf_clear(&text);
    return s;
}
