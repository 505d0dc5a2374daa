/* Nodes of declarations and expressions. Strings and numbers are in literal.c. */
#include "syntax/build.h"

bg_span bg_build_span(const bg_builder *b, bg_token t)
{
    return (bg_span){b->file, t.offset, t.len};
}

bg_str bg_build_token_text(const bg_builder *b, bg_token t)
{
    return (bg_str){b->source->text.ptr + t.offset, t.len};
}

void bg_build_too_deep(bg_builder *b, bg_token at)
{
    if (b->too_deep)
        return;
    b->too_deep = true;
    bg_diag *diag = bg_diag_push(b->diags, BG_D_TOO_DEEP, bg_build_span(b, at), 0);
    bg_diag_help(b->diags, diag, "name parts of it with `let`");
}

static bg_ast *new_node(bg_builder *b, bg_ast_kind kind, bg_span span, uint32_t n_kids)
{
    bg_ast *node = BG_ARENA_NEW(b->arena, bg_ast);
    bg_ast **kids = n_kids != 0 && node != NULL ? BG_ARENA_ARRAY(b->arena, n_kids, bg_ast *) : NULL;
    if (node == NULL || (n_kids != 0 && kids == NULL)) {
        b->nomem = true;
        b->spare = (bg_ast){.kind = BG_AST_ERROR, .span = span};
        return &b->spare;
    }
    node->kind = kind;
    node->span = node->name_span = span;
    node->kids = kids;
    node->n_kids = n_kids;
    node->depth = 1;
    return node;
}

static void set_depth(bg_builder *b, bg_ast *node, uint32_t below)
{
    node->depth = below + 1;
    if (node->depth > BG_AST_DEPTH_MAX && node != &b->spare)
        bg_build_too_deep(b, b->at);
}

/* Kids [0, n_kids) of x, y, z; the span grows over them. */
bg_ast *bg_build_node(bg_builder *b, bg_ast_kind kind, bg_span span, bg_ast *x, bg_ast *y, bg_ast *z)
{
    bg_ast *const kids[3] = {x, y, z};
    bg_ast *node = new_node(b, kind, span, bg_ast_n_fixed(kind));
    uint32_t depth = 0;
    for (uint32_t i = 0; i < node->n_kids; i++) {
        node->kids[i] = kids[i];
        if (kids[i] == NULL)
            continue;
        if (kids[i]->span.offset >= span.offset)
            node->span = bg_span_join(node->span, kids[i]->span);
        if (kids[i]->depth > depth)
            depth = kids[i]->depth;
    }
    set_depth(b, node, depth);
    return node;
}

bg_ast_list *bg_build_no_items(bg_builder *b)
{
    bg_ast_list *list = BG_ARENA_NEW(b->arena, bg_ast_list);
    if (list != NULL)
        return list;
    b->nomem = true;
    b->spare_list = (bg_ast_list){0};
    return &b->spare_list;
}

static void append(bg_builder *b, bg_ast_list *list, bg_ast *item)
{
    if (list == &b->spare_list)
        return;
    if (list->n == list->cap) {
        uint32_t cap = list->cap == 0 ? 2 : list->cap * 2;
        bg_ast **at = BG_ARENA_ARRAY(b->arena, cap, bg_ast *);
        if (at == NULL) {
            b->nomem = true;
            return;
        }
        if (list->n != 0)
            memcpy(at, list->at, list->n * sizeof *at);
        list->at = at;
        list->cap = cap;
    }
    list->at[list->n++] = item;
    if (item->depth > list->depth)
        list->depth = item->depth;
}

/* A FILE node among items is a bundle: one `use` with several modules. */
static void append_item(bg_builder *b, bg_ast_list *list, bg_ast *item)
{
    if (item->kind != BG_AST_FILE) {
        append(b, list, item);
        return;
    }
    for (uint32_t i = 0; i < item->n_kids; i++)
        append(b, list, item->kids[i]);
}

bg_ast_list *bg_build_append(bg_builder *b, bg_ast_list *list, bg_ast *item)
{
    if (list == NULL)
        list = bg_build_no_items(b);
    append_item(b, list, item);
    return list;
}

bg_ast *bg_build_list(bg_builder *b, bg_ast_kind kind, bg_token open, bg_ast_list *list, bg_token close)
{
    bg_span span = bg_span_join(bg_build_span(b, open), bg_build_span(b, close));
    bg_ast *node = new_node(b, kind, span, 0);
    if (list == NULL || list->n == 0 || node == &b->spare)
        return node;
    node->kids = list->at;
    node->n_kids = list->n;
    node->span = bg_span_join(span, list->at[list->n - 1]->span);
    set_depth(b, node, list->depth);
    return node;
}

/* Fixed kids first, then the list's. */
static bg_ast *with_list(bg_builder *b, bg_ast_kind kind, bg_span span, bg_ast *first, bg_ast *second,
                         const bg_ast_list *list)
{
    uint32_t n_first = second == NULL ? 1 : 2, n = list == NULL ? 0 : list->n;
    bg_ast *node = new_node(b, kind, span, n_first + n);
    if (node == &b->spare)
        return node;
    uint32_t depth = list == NULL ? 0 : list->depth;
    node->kids[0] = first;
    if (second != NULL)
        node->kids[1] = second;
    for (uint32_t i = 0; i < n_first; i++)
        if (node->kids[i]->depth > depth)
            depth = node->kids[i]->depth;
    if (n != 0)
        memcpy(node->kids + n_first, list->at, n * sizeof(bg_ast *));
    set_depth(b, node, depth);
    return node;
}

/* Lines that start with "##", without it and one space. */
static bg_str doc_text(bg_builder *b, bg_token t)
{
    if (t.doc_len == 0)
        return (bg_str){0};
    const char *p = b->source->text.ptr + t.doc_offset, *end = p + t.doc_len;
    char *out = bg_arena_strdup(b->arena, p, t.doc_len);
    size_t n = 0;
    if (out == NULL) {
        b->nomem = true;
        return (bg_str){0};
    }
    bool any = false;
    while (p < end) {
        const char *eol = memchr(p, '\n', (size_t)(end - p)), *next = eol == NULL ? end : eol + 1;
        if (eol == NULL)
            eol = end;
        while (p < eol && (*p == ' ' || *p == '\t' || *p == '\r'))
            p++;
        if (eol - p >= 2 && p[0] == '#' && p[1] == '#' && (eol - p == 2 || p[2] != '#')) {
            p += 2;
            p += p < eol && *p == ' ';
            while (eol > p && eol[-1] == '\r')
                eol--;
            if (any)
                out[n++] = '\n';
            any = true;
            memmove(out + n, p, (size_t)(eol - p));
            n += (size_t)(eol - p);
        }
        p = next;
    }
    return (bg_str){out, n};
}

static void name_it(bg_builder *b, bg_ast *node, bg_token lead, bg_token name)
{
    node->text = bg_build_token_text(b, name);
    node->name_span = bg_build_span(b, name);
    node->doc = doc_text(b, lead);
}

_Static_assert(BG_AST_COUNT <= 64, "may_hold keeps kinds as bits");

/* Which kinds of item a place may hold. */
static bool may_hold(bg_ast_kind place, bg_ast_kind item)
{
    static const uint64_t anywhere = 1ull << BG_AST_ERROR;
    static const uint64_t graph = 1ull << BG_AST_LET | 1ull << BG_AST_GROUP | 1ull << BG_AST_STAGE | 1ull << BG_AST_CRATE |
                                  1ull << BG_AST_ALLOW;
    static const uint64_t file = 1ull << BG_AST_USE | 1ull << BG_AST_PARAM | 1ull << BG_AST_ENV | 1ull << BG_AST_TOOL |
                                 1ull << BG_AST_SOURCE | 1ull << BG_AST_RELOCATE | 1ull << BG_AST_DEFAULT |
                                 1ull << BG_AST_TEMPLATE;
    static const uint64_t stage = 1ull << BG_AST_SET | 1ull << BG_AST_ENV_BLOCK | 1ull << BG_AST_RUN | 1ull << BG_AST_OUT |
                                  1ull << BG_AST_WORK | 1ull << BG_AST_LET | 1ull << BG_AST_PROVIDE | 1ull << BG_AST_ALLOW;
    uint64_t held = 1ull << BG_AST_SET;
    if (place == BG_AST_FILE)
        held = file | graph;
    else if (place == BG_AST_GROUP)
        held = graph | 1ull << BG_AST_SET;
    else if (place == BG_AST_STAGE || place == BG_AST_CRATE || place == BG_AST_TEMPLATE)
        held = stage;
    return (((held | anywhere) >> item) & 1) != 0;
}

static const char *place_name(bg_ast_kind place)
{
    static const struct {
        bg_ast_kind kind;
        const char *name;
    } names[] = {{BG_AST_FILE, "a file, outside of every block"}, {BG_AST_GROUP, "a group"}, {BG_AST_STAGE, "a stage"},
                 {BG_AST_CRATE, "a crate"}, {BG_AST_TEMPLATE, "a template"}, {BG_AST_TOOL, "a tool"},
                 {BG_AST_SOURCE, "a source"}, {BG_AST_RELOCATE, "a relocate rule"}, {BG_AST_RUN, "a `run` block"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].kind == place)
            return names[i].name;
    return "this block";
}

static void diagnose_place(bg_builder *b, bg_ast_kind place, const bg_ast *item)
{
    if (b->diags->too_many) { /* only counted */
        bg_diag_push(b->diags, BG_D_MISPLACED_ITEM, item->span, 0);
        return;
    }
    const char *word = item->kind == BG_AST_ENV_BLOCK ? "env {" : bg_ast_kind_name(item->kind);
    bg_str name = item->kind == BG_AST_SET ? item->text : bg_str_of(word);
    const char *what = bg_arena_printf(b->arena, item->kind == BG_AST_SET ? "the key `%.*s`" : "`%.*s`", BG_FMT(name));
    bg_span span = item->kind == BG_AST_SET ? item->name_span : (bg_span){b->file, item->span.offset, (uint32_t)name.len};
    bg_diag *diag = bg_diag_push(b->diags, BG_D_MISPLACED_ITEM, span, 2, bg_str_of(what), bg_str_of(place_name(place)));
    if (may_hold(BG_AST_STAGE, item->kind))
        bg_diag_help(b->diags, diag, "it belongs in a stage, crate or template");
    else if (may_hold(BG_AST_GROUP, item->kind))
        bg_diag_help(b->diags, diag, "it belongs at the top of the file or in a group; is a `}` missing before it?");
    else
        bg_diag_help(b->diags, diag, "it belongs at the top of the file; is a `}` missing before it?");
}

/* An item that does not belong becomes an ERROR. */
static void check_place(bg_builder *b, bg_ast_kind place, bg_ast *item)
{
    if (may_hold(place, item->kind))
        return;
    diagnose_place(b, place, item);
    item->kind = BG_AST_ERROR;
    item->n_kids = 0; /* some may be NULL, which an ERROR's are not */
}

static void check_body(bg_builder *b, bg_ast_kind place, bg_ast *body)
{
    for (uint32_t i = 0; body != NULL && i < body->n_kids; i++)
        check_place(b, place, body->kids[i]);
}

void bg_build_file_add(bg_builder *b, bg_ast *item)
{
    uint32_t n = b->items.n;
    append_item(b, &b->items, item);
    for (; n < b->items.n; n++)
        check_place(b, BG_AST_FILE, b->items.at[n]);
}

void bg_build_stray(bg_builder *b, bg_token comma)
{
    bg_diag *diag = bg_diag_push(b->diags, BG_D_STRAY_SEPARATOR, bg_build_span(b, comma), 1, BG_STR(","));
    bg_diag_help(b->diags, diag, "take it out");
}

bg_ast *bg_build_error(bg_builder *b, bg_token at, bg_ast *block)
{
    bg_ast *node = new_node(b, BG_AST_ERROR, bg_build_span(b, at), block == NULL ? 0 : 1);
    if (node == &b->spare || block == NULL)
        return node;
    node->kids[0] = block;
    node->span = block->span;
    set_depth(b, node, block->depth);
    return node;
}

bg_ast *bg_build_decl(bg_builder *b, bg_ast_kind kind, bg_token lead, bg_token name, bg_ast *x, bg_ast *y, bg_ast *z)
{
    bg_span span = bg_span_join(bg_build_span(b, lead), bg_build_span(b, name));
    bg_ast *node = bg_build_node(b, kind, span, x, y, z);
    name_it(b, node, lead, name);
    if (kind == BG_AST_STAGE && y == NULL && z == NULL) {
        bg_diag *diag = bg_diag_push(b->diags, BG_D_EMPTY_STAGE, node->name_span, 1, node->text);
        bg_diag_help(b->diags, diag, "add `: template(…)` or a block `{ run = [\"…\"] }`");
    }
    if (kind == BG_AST_GROUP || kind == BG_AST_CRATE || kind == BG_AST_TEMPLATE)
        check_body(b, kind, y);
    else if (kind == BG_AST_STAGE)
        check_body(b, kind, z);
    return node;
}

/* Without the errors: they were diagnosed, and every kid left is a SET. */
static void take_sets(bg_ast *node, const bg_ast *body)
{
    node->kids = body->kids;
    node->depth = body->depth;
    for (uint32_t i = 0; i < body->n_kids; i++)
        if (body->kids[i]->kind == BG_AST_SET)
            node->kids[node->n_kids++] = body->kids[i];
}

bg_ast *bg_build_settings(bg_builder *b, bg_ast_kind kind, bg_token lead, bg_token name, bg_ast *body)
{
    bg_ast *node = new_node(b, kind, bg_span_join(bg_build_span(b, lead), body->span), 0);
    name_it(b, node, lead, name);
    check_body(b, kind, body);
    if (node != &b->spare)
        take_sets(node, body);
    return node;
}

bg_ast *bg_build_default(bg_builder *b, bg_token lead, bg_ast_list *list)
{
    return bg_build_list(b, BG_AST_DEFAULT, lead, list, lead);
}

bg_ast *bg_build_uses(bg_builder *b, bg_token lead, bg_ast_list *list)
{
    if (list->n != 0)
        list->at[0]->doc = doc_text(b, lead);
    return bg_build_list(b, BG_AST_FILE, lead, list, lead);
}

bg_ast *bg_build_use(bg_builder *b, bg_token module, bg_ast *path, bg_token alias)
{
    bg_ast *node = new_node(b, BG_AST_USE, path != NULL ? path->span : bg_build_span(b, module), 0);
    if (path != NULL) {
        node->flags = BG_AST_QUOTED;
        node->text = bg_build_plain(b, path, "the path of a module");
    } else {
        node->text = bg_build_token_text(b, module);
    }
    if (alias.kind != BG_T_END) {
        node->text2 = bg_build_token_text(b, alias);
        node->span = bg_span_join(node->span, bg_build_span(b, alias));
    }
    return node;
}

bg_ast *bg_build_type(bg_builder *b, bg_token name, bg_ast_list *arguments, bg_token close)
{
    bg_ast *node = bg_build_list(b, BG_AST_TYPE, name, arguments, close);
    node->text = bg_build_token_text(b, name);
    node->name_span = bg_build_span(b, name);
    return node;
}

bg_ast *bg_build_set(bg_builder *b, bg_token lead, bg_token key, bg_ast *value, uint32_t flags)
{
    bg_ast *node = bg_build_decl(b, BG_AST_SET, lead, key, value, NULL, NULL);
    node->flags = flags;
    return node;
}

bg_ast *bg_build_pair(bg_builder *b, bg_ast *key, bg_ast *value)
{
    bg_ast *node = bg_build_node(b, BG_AST_SET, key->span, value, NULL, NULL);
    node->text = bg_build_plain(b, key, "the key of a map");
    node->name_span = key->span;
    return node;
}

bg_ast *bg_build_run(bg_builder *b, bg_token lead, bg_token name, bg_ast *argv, uint32_t flags)
{
    bg_ast *node = bg_build_node(b, BG_AST_RUN, bg_build_span(b, lead), argv, NULL, NULL);
    node->flags = flags;
    node->name_span = bg_build_span(b, name);
    node->doc = doc_text(b, lead);
    return node;
}

static void run_mistake(bg_builder *b, bg_span span, const char *before, bg_str key, const char *after)
{
    const char *text = bg_arena_printf(b->arena, "%s`%.*s`%s", before, BG_FMT(key), after);
    bg_diag *diag = bg_diag_push(b->diags, BG_D_RUN_BLOCK, span, 1, bg_str_of(text));
    bg_diag_help(b->diags, diag, "its keys are `argv` and `stdout`");
}

bg_ast *bg_build_run_block(bg_builder *b, bg_token lead, bg_token name, bg_ast *body, uint32_t flags)
{
    bg_ast *argv = NULL, *output = NULL;
    bool broken = false;
    check_body(b, BG_AST_RUN, body);
    for (uint32_t i = 0; i < body->n_kids; i++) {
        bg_ast *set = body->kids[i];
        bg_ast **slot = bg_str_is(set->text, "argv") ? &argv : &output;
        if (set->kind != BG_AST_SET) {
            broken = true;
        } else if (!bg_str_is(set->text, "argv") && !bg_str_is(set->text, "stdout")) {
            run_mistake(b, set->name_span, "a `run` block has no key ", set->text, "");
        } else if (*slot != NULL) {
            run_mistake(b, set->name_span, "", set->text, " is set twice");
        } else {
            *slot = set->kids[0];
        }
    }
    if (argv == NULL && !broken)
        run_mistake(b, bg_build_span(b, name), "a `run` block needs the key ", BG_STR("argv"), "");
    bg_span span = bg_span_join(bg_build_span(b, lead), body->span);
    if (argv == NULL)
        return new_node(b, BG_AST_ERROR, span, 0);
    bg_ast *node = bg_build_run(b, lead, name, argv, flags);
    if (node != &b->spare) {
        node->kids[1] = output;
        set_depth(b, node, body->depth);
    }
    node->span = span;
    return node;
}

bg_ast *bg_build_env_block(bg_builder *b, bg_token lead, bg_ast_list *list, bg_token close)
{
    bg_ast *body = bg_build_list(b, BG_AST_BODY, lead, list, close);
    bg_ast *node = new_node(b, BG_AST_ENV_BLOCK, body->span, 0);
    node->name_span = bg_build_span(b, lead);
    node->doc = doc_text(b, lead);
    if (node != &b->spare && body != &b->spare)
        take_sets(node, body);
    return node;
}

bg_ast *bg_build_out(bg_builder *b, bg_token lead, bg_token early, bg_token name, bg_ast *type, bg_ast *path,
                     bg_ast *when)
{
    bg_ast *node = bg_build_decl(b, BG_AST_OUT, lead, name, type, path, when);
    node->flags = early.kind == BG_T_EARLY ? BG_AST_EARLY : 0;
    return node;
}

bg_ast *bg_build_allow(bg_builder *b, bg_token lead, bg_token code, bg_ast *code_string, bg_ast *reason,
                       bg_token close)
{
    bg_ast *node = bg_build_decl(b, BG_AST_ALLOW, lead, code, reason, NULL, NULL);
    if (code_string != NULL) {
        node->text = bg_build_plain(b, code_string, "the code of an `allow`");
        node->name_span = code_string->span;
    }
    node->span = bg_span_join(node->span, bg_build_span(b, close));
    return node;
}

bg_ast *bg_build_name(bg_builder *b, bg_token t)
{
    bg_ast *node = new_node(b, BG_AST_NAME, bg_build_span(b, t), 0);
    node->text = bg_build_token_text(b, t);
    return node;
}

bg_ast *bg_build_field(bg_builder *b, bg_ast *value, bg_token name)
{
    bg_ast *node = bg_build_node(b, BG_AST_FIELD, value->span, value, NULL, NULL);
    node->text = bg_build_token_text(b, name);
    node->name_span = bg_build_span(b, name);
    node->span = bg_span_join(node->span, node->name_span);
    return node;
}

bg_ast *bg_build_index(bg_builder *b, bg_ast *value, bg_ast *index, bg_token close)
{
    bg_span span = bg_span_join(value->span, bg_build_span(b, close));
    return bg_build_node(b, BG_AST_INDEX, span, value, index, NULL);
}

bg_ast *bg_build_call(bg_builder *b, bg_ast *callee, bg_ast_list *arguments, bg_token close)
{
    bg_span span = bg_span_join(callee->span, bg_build_span(b, close));
    return with_list(b, BG_AST_CALL, span, callee, NULL, arguments);
}

bg_ast *bg_build_parens(bg_builder *b, bg_token open, bg_ast *value, bg_token close)
{
    value->span = bg_span_join(bg_build_span(b, open), bg_build_span(b, close));
    return value;
}

bg_ast *bg_build_cond(bg_builder *b, bg_token lead, bg_ast *condition, bg_ast *yes, bg_ast *no)
{
    return bg_build_node(b, BG_AST_COND, bg_build_span(b, lead), condition, yes, no);
}

bg_ast *bg_build_binary(bg_builder *b, bg_ast *left, bg_token op, bg_ast *right)
{
    bg_ast *node = bg_build_node(b, BG_AST_BINARY, left->span, left, right, NULL);
    node->text = bg_str_of(bg_token_at(op.kind)->spelling);
    node->name_span = bg_build_span(b, op);
    return node;
}

bg_ast *bg_build_unary(bg_builder *b, bg_token op, bg_ast *value)
{
    bg_ast *node = bg_build_node(b, BG_AST_UNARY, bg_build_span(b, op), value, NULL, NULL);
    node->text = bg_str_of(bg_token_at(op.kind)->spelling);
    return node;
}

bg_ast *bg_build_splice(bg_builder *b, bg_token dots, bg_ast *value)
{
    return bg_build_node(b, BG_AST_SPLICE, bg_build_span(b, dots), value, NULL, NULL);
}

bg_ast *bg_build_item_if(bg_builder *b, bg_ast *value, bg_ast *condition)
{
    return bg_build_node(b, BG_AST_ITEM_IF, value->span, value, condition, NULL);
}

bg_ast *bg_build_if_clause(bg_builder *b, bg_token lead, bg_ast *condition)
{
    return bg_build_node(b, BG_AST_IF_CLAUSE, bg_build_span(b, lead), condition, NULL, NULL);
}

bg_ast *bg_build_comp(bg_builder *b, bg_token open, bg_ast *value, bg_ast *first, bg_ast_list *clauses, bg_token close)
{
    bg_span span = bg_span_join(bg_build_span(b, open), bg_build_span(b, close));
    return with_list(b, BG_AST_COMP, span, value, first, clauses);
}

bg_ast *bg_build_bool(bg_builder *b, bg_token t, int value)
{
    bg_ast *node = new_node(b, BG_AST_BOOL, bg_build_span(b, t), 0);
    node->ival = value;
    return node;
}
