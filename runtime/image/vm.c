/* The machine: one program, one value. Verified programs can't leave the stack or the code, so only types are checked here. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "image/render.h"
#include "image/tables.h"

enum { MAX_BYTES = 256 * 1024 * 1024, MAX_COMPARE_DEPTH = 64 };

/* A value on the stack. A list that is being built has room to grow: `cap` items are there, `n` are used, and nobody else sees it
 * before it is consumed. */
typedef struct {
    bg_value v;
    uint32_t cap;
} slot;

typedef struct {
    const bg_graph *g;
    const bg_vm_host *host;
    bg_arena *arena;
    bg_error *err;
    slot *stack;
    uint32_t n;
    size_t start_bytes; /* of the arena */
    bg_buf scratch;
} vm;

static const char *const kind_names[] = {"nothing", "a string", "an integer", "a bool", "a path", "a list"};

static bg_status nomem(vm *m)
{
    return bg_error_set(m->err, BG_E_NOMEM, "out of memory while computing a value");
}

static bg_status mismatch(vm *m, const char *op, const bg_value *v)
{
    return bg_error_set(m->err, BG_E_CORRUPT, "type mismatch: %s got %s", op, kind_names[v->kind]);
}

static void push(vm *m, bg_value v)
{
    m->stack[m->n++] = (slot){v, 0};
}

static bg_value *top(vm *m, uint32_t below)
{
    return &m->stack[m->n - 1 - below].v;
}

static bg_status push_str(vm *m, const char *bytes, size_t n)
{
    if (m->arena->used_bytes - m->start_bytes > MAX_BYTES)
        return bg_error_set(m->err, BG_E_LIMIT, "a value grows past %d MiB", MAX_BYTES >> 20);
    char *copy = bg_arena_strdup(m->arena, bytes, n);
    if (copy == NULL)
        return nomem(m);
    push(m, (bg_value){.kind = BG_V_STR, .str = {copy, n}});
    return BG_OK;
}

static void push_path(vm *m, bg_root_kind root, uint32_t id)
{
    push(m, (bg_value){.kind = BG_V_PATH, .root = root, .id = id, .str = {"", 0}});
}

/* Room for `more` items behind those of the list in `s`. */
static bg_status grow(vm *m, slot *s, uint32_t more)
{
    if (more > UINT32_MAX / 4 - s->v.n)
        return bg_error_set(m->err, BG_E_LIMIT, "a list has too many items");
    if (s->cap != 0 && s->cap - s->v.n >= more)
        return BG_OK;
    uint32_t cap = s->v.n + more;
    cap = cap < 8 ? 8 : cap + cap / 2;
    if (m->arena->used_bytes - m->start_bytes > MAX_BYTES)
        return bg_error_set(m->err, BG_E_LIMIT, "a value grows past %d MiB", MAX_BYTES >> 20);
    bg_value *items = BG_ARENA_ARRAY(m->arena, cap, bg_value);
    if (items == NULL)
        return nomem(m);
    if (s->v.n != 0)
        memcpy(items, s->v.items, s->v.n * sizeof *items);
    s->v.items = items;
    s->cap = cap;
    return BG_OK;
}

static bg_status add_items(vm *m, const char *op, const bg_value *items, uint32_t n)
{
    slot *list = &m->stack[m->n - 2];
    if (list->v.kind != BG_V_LIST)
        return mismatch(m, op, &list->v);
    BG_TRY(grow(m, list, n));
    /* The items were allocated by grow for this slot alone. */
    bg_value *end = (bg_value *)(uintptr_t)list->v.items + list->v.n;
    if (n != 0)
        memcpy(end, items, n * sizeof *end);
    list->v.n += n;
    m->n--;
    return BG_OK;
}

static bg_status text_of(vm *m, const char *op, const bg_value *v, bg_buf *out)
{
    switch (v->kind) {
    case BG_V_STR:
        bg_buf_str(out, v->str);
        return BG_OK;
    case BG_V_PATH:
        return m->host->path(m->host->self, v, out, m->err);
    case BG_V_INT:
        bg_buf_printf(out, "%lld", (long long)v->i);
        return BG_OK;
    case BG_V_BOOL:
        bg_buf_puts(out, v->i ? "true" : "false");
        return BG_OK;
    case BG_V_NONE:
    case BG_V_LIST:
        break;
    }
    return mismatch(m, op, v);
}

static bg_status concat(vm *m, uint32_t n)
{
    bg_buf *out = &m->scratch;
    bg_buf_reset(out);
    for (uint32_t i = n; i-- > 0;)
        BG_TRY(text_of(m, "concat", top(m, i), out));
    m->n -= n;
    return out->failed ? nomem(m) : push_str(m, bg_buf_cstr(out), out->len);
}

static bg_status render(vm *m, uint32_t format)
{
    bg_buf plain = {0};
    bg_status status = text_of(m, "render", top(m, 0), &plain);
    if (status == BG_OK) {
        bg_buf_reset(&m->scratch);
        bg_render_text((bg_render)format, bg_buf_view(&plain), &m->scratch);
        m->n--;
        status = plain.failed || m->scratch.failed ? nomem(m)
                                                   : push_str(m, bg_buf_cstr(&m->scratch), m->scratch.len);
    }
    bg_buf_clear(&plain);
    return status;
}

static bg_status join(vm *m)
{
    bg_value *base = top(m, 1), *rel = top(m, 0);
    if (base->kind != BG_V_PATH)
        return mismatch(m, "join", base);
    if (rel->kind != BG_V_STR)
        return mismatch(m, "join", rel);
    if (base->root == BG_ROOT_TOOL && rel->str.len != 0)
        return bg_error_set(m->err, BG_E_USAGE, "nothing lies below a tool's program");
    BG_TRY(bg_path_join(m->arena, base->str, rel->str, &base->str, m->err));
    m->n--;
    return BG_OK;
}

static size_t last_slash(bg_str s) /* length of the directory part, without the slash */
{
    size_t n = s.len;
    while (n != 0 && s.ptr[n - 1] != '/')
        n--;
    return n == 0 ? 0 : n - 1;
}

static bg_status dir(vm *m)
{
    bg_value *v = top(m, 0);
    if (v->kind != BG_V_PATH)
        return mismatch(m, "dir", v);
    bg_str from = v->str;
    if (from.len == 0) {
        if (v->root != BG_ROOT_OUT)
            return bg_error_set(m->err, BG_E_USAGE, "a root has no directory above it; use a path below it");
        const bg_img_outs *out = &m->g->outs[v->id];
        v->root = BG_ROOT_PROD;
        v->id = out->prod;
        from = bg_graph_str(m->g, out->path);
    }
    char *copy = bg_arena_strdup(m->arena, from.ptr, last_slash(from));
    if (copy == NULL)
        return nomem(m);
    v->str = (bg_str){copy, last_slash(from)};
    return BG_OK;
}

static bg_status base(vm *m)
{
    bg_value *v = top(m, 0);
    if (v->kind != BG_V_PATH)
        return mismatch(m, "base", v);
    bg_str from = v->str;
    if (from.len == 0) {
        if (v->root != BG_ROOT_OUT)
            return bg_error_set(m->err, BG_E_USAGE, "a root has no name of its own; use a path below it");
        from = bg_graph_str(m->g, m->g->outs[v->id].path);
    }
    size_t skip = from.len;
    while (skip != 0 && from.ptr[skip - 1] != '/')
        skip--;
    m->n--;
    return push_str(m, from.ptr + skip, from.len - skip);
}

static bool equal(const bg_value *a, const bg_value *b, int depth, bool *ok)
{
    if (a->kind != b->kind || depth > MAX_COMPARE_DEPTH) {
        *ok = false;
        return false;
    }
    switch (a->kind) {
    case BG_V_STR:
        return bg_str_eq(a->str, b->str);
    case BG_V_INT:
    case BG_V_BOOL:
        return a->i == b->i;
    case BG_V_PATH:
        return a->root == b->root && a->id == b->id && bg_str_eq(a->str, b->str);
    case BG_V_LIST:
        if (a->n != b->n)
            return false;
        for (uint32_t i = 0; i < a->n; i++) {
            if (!equal(&a->items[i], &b->items[i], depth + 1, ok))
                return false;
        }
        return true;
    case BG_V_NONE:
        break;
    }
    return true;
}

static bg_status compare(vm *m, bg_op op)
{
    bg_value *a = top(m, 1), *b = top(m, 0);
    bool ok = true;
    if (op == BG_OP_LT && (a->kind != BG_V_INT || b->kind != BG_V_INT))
        return mismatch(m, "lt", a->kind != BG_V_INT ? a : b);
    bool result = op == BG_OP_LT ? a->i < b->i : equal(a, b, 0, &ok);
    if (!ok)
        return mismatch(m, "eq", b);
    m->n -= 2;
    push(m, (bg_value){.kind = BG_V_BOOL, .i = result});
    return BG_OK;
}

static bool checked(bg_op op, int64_t a, int64_t b, int64_t *r)
{
    if (op == BG_OP_ADD)
        return !__builtin_add_overflow(a, b, r);
    if (op == BG_OP_SUB)
        return !__builtin_sub_overflow(a, b, r);
    if (op == BG_OP_MUL)
        return !__builtin_mul_overflow(a, b, r);
    if (b == 0 || (a == INT64_MIN && b == -1))
        return false;
    *r = a / b;
    return true;
}

static bg_status arithmetic(vm *m, bg_op op)
{
    bg_value *a = top(m, 1), *b = top(m, 0);
    int64_t r = 0;
    if (a->kind != BG_V_INT || b->kind != BG_V_INT)
        return mismatch(m, bg_op_table[op].mnemonic, a->kind != BG_V_INT ? a : b);
    if (!checked(op, a->i, b->i, &r))
        return bg_error_set(m->err, BG_E_USAGE, "%s: %lld %s %lld does not fit 64 bits or divides by zero",
                            bg_op_table[op].mnemonic, (long long)a->i, bg_op_table[op].mnemonic, (long long)b->i);
    m->n -= 2;
    push(m, (bg_value){.kind = BG_V_INT, .i = r});
    return BG_OK;
}

static bg_status pop_bool(vm *m, const char *op, bool *out)
{
    if (top(m, 0)->kind != BG_V_BOOL)
        return mismatch(m, op, top(m, 0));
    *out = top(m, 0)->i != 0;
    m->n--;
    return BG_OK;
}

static bg_status pushed(vm *m, bg_status status, const bg_value *v)
{
    if (status == BG_OK)
        push(m, *v);
    return status;
}

/* One instruction; `skip` receives how far a taken jump goes. */
static bg_status execute(vm *m, bg_op op, uint32_t v, uint32_t *skip)
{
    void *self = m->host->self;
    bg_value value = {0};
    bool yes = false;
    switch (op) {
    case BG_OP_RET:
        return BG_OK;
    case BG_OP_STR:
        push(m, (bg_value){.kind = BG_V_STR, .str = bg_graph_str(m->g, v)});
        return BG_OK;
    case BG_OP_INT:
        push(m, (bg_value){.kind = BG_V_INT, .i = bg_graph_int(m->g, v)});
        return BG_OK;
    case BG_OP_BOOL:
        push(m, (bg_value){.kind = BG_V_BOOL, .i = v});
        return BG_OK;
    case BG_OP_LIST:
        push(m, (bg_value){.kind = BG_V_LIST});
        return BG_OK;
    case BG_OP_APPEND:
        value = *top(m, 0);
        return add_items(m, "append", &value, 1);
    case BG_OP_SPLICE:
        value = *top(m, 0);
        if (value.kind != BG_V_LIST)
            return mismatch(m, "splice", &value);
        return add_items(m, "splice", value.items, value.n);
    case BG_OP_PARAM:
        return pushed(m, m->host->param(self, v, &value, m->err), &value);
    case BG_OP_ENV:
        return pushed(m, m->host->env(self, v, &value, m->err), &value);
    case BG_OP_MACHINE:
        return pushed(m, m->host->machine(self, (bg_machine)v, &value, m->err), &value);
    case BG_OP_TOOL:
        push_path(m, BG_ROOT_TOOL, v);
        return BG_OK;
    case BG_OP_FILE:
        push_path(m, BG_ROOT_FILE, v);
        return BG_OK;
    case BG_OP_SOURCE:
        push_path(m, BG_ROOT_SOURCE, v);
        return BG_OK;
    case BG_OP_OUT:
        push_path(m, BG_ROOT_OUT, v);
        return BG_OK;
    case BG_OP_PROD:
        push_path(m, BG_ROOT_PROD, v);
        return BG_OK;
    case BG_OP_WORK:
        push_path(m, BG_ROOT_WORK, v);
        return BG_OK;
    case BG_OP_JOIN:
        return join(m);
    case BG_OP_DIR:
        return dir(m);
    case BG_OP_BASE:
        return base(m);
    case BG_OP_CONCAT:
        return concat(m, v);
    case BG_OP_RENDER:
        return render(m, v);
    case BG_OP_EQ:
    case BG_OP_LT:
        return compare(m, op);
    case BG_OP_NOT:
        BG_TRY(pop_bool(m, "not", &yes));
        push(m, (bg_value){.kind = BG_V_BOOL, .i = !yes});
        return BG_OK;
    case BG_OP_ADD:
    case BG_OP_SUB:
    case BG_OP_MUL:
    case BG_OP_DIV:
        return arithmetic(m, op);
    case BG_OP_JUMP:
        *skip = v;
        return BG_OK;
    case BG_OP_UNLESS:
        BG_TRY(pop_bool(m, "unless", &yes));
        *skip = yes ? 0 : v;
        return BG_OK;
    case BG_OP_COUNT:
        break;
    }
    return bg_error_set(m->err, BG_E_CORRUPT, "unknown opcode %d", (int)op);
}

bg_status bg_vm_run(const bg_graph *graph, uint32_t prog, const bg_vm_host *host, bg_arena *arena, bg_value *out,
                    bg_error *err)
{
    const bg_img_progs *p = &graph->progs[prog];
    vm m = {.g = graph, .host = host, .arena = arena, .err = err, .start_bytes = arena->used_bytes};
    m.stack = malloc((p->max_stack + 1u) * sizeof *m.stack);
    if (m.stack == NULL)
        return nomem(&m);
    bg_status status = BG_OK;
    const unsigned char *code = graph->code + p->code;
    for (uint32_t pc = 0; pc < p->len && status == BG_OK;) {
        bg_op op = (bg_op)code[pc];
        uint32_t skip = 0;
        uint32_t operand = bg_op_table[op].shape == BG_OPERAND_NONE ? 0 : bg_get_u32(code + pc + 1);
        status = execute(&m, op, operand, &skip);
        pc += bg_op_size(op) + skip;
    }
    if (status == BG_OK)
        *out = m.stack[0].v;
    free(m.stack);
    bg_buf_clear(&m.scratch);
    return status;
}
