/* The machine: one program, one value. Verified programs can't leave the stack or the code, so only types are checked here. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "image/path.h"
#include "image/render.h"
#include "image/tables.h"

enum { MAX_BYTES = 256 * 1024 * 1024, MAX_COMPARE_DEPTH = 64, FEW_SLOTS = 24 };

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
    size_t spent_bytes; /* made, copied or compared so far */
    bg_buf scratch, plain;
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

/* Everything that costs more than a step is paid for here, so that a hostile program ends soon and small. */
static bg_status spend(vm *m, size_t n_bytes)
{
    if (n_bytes > MAX_BYTES - m->spent_bytes)
        return bg_error_set(m->err, BG_E_LIMIT, "computing a value takes more than %d MiB; make less of it", MAX_BYTES >> 20);
    m->spent_bytes += n_bytes;
    return BG_OK;
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
    BG_TRY(spend(m, n));
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

/* Room for `more` items behind those of the list in `s`; the room doubles, so that appending is linear. */
static bg_status grow(vm *m, slot *s, uint32_t more)
{
    if (s->cap != 0 && s->cap - s->v.n >= more)
        return BG_OK;
    if (more > MAX_BYTES / sizeof(bg_value) || s->v.n > MAX_BYTES / sizeof(bg_value))
        return spend(m, SIZE_MAX);
    uint32_t cap = s->v.n + more;
    cap = cap < 4 ? 8 : cap * 2;
    BG_TRY(spend(m, cap * sizeof(bg_value)));
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
    if (n == 0) {
        m->n--;
        return BG_OK;
    }
    BG_TRY(spend(m, n * sizeof *items));
    BG_TRY(grow(m, list, n));
    /* The items were allocated by grow for this slot alone. */
    bg_value *end = (bg_value *)(uintptr_t)list->v.items + list->v.n;
    memcpy(end, items, n * sizeof *end);
    list->v.n += n;
    m->n--;
    return BG_OK;
}

static bg_status put_text(vm *m, const char *op, const bg_value *v, bg_buf *out)
{
    switch (v->kind) {
    case BG_V_STR:
        BG_TRY(spend(m, v->str.len));
        bg_buf_str(out, v->str);
        return BG_OK;
    case BG_V_PATH: {
        size_t before = out->len;
        BG_TRY(m->host->path(m->host->self, v, out, m->err));
        return spend(m, out->len < before ? 0 : out->len - before);
    }
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
        BG_TRY(put_text(m, "concat", top(m, i), out));
    m->n -= n;
    return out->failed ? nomem(m) : push_str(m, bg_buf_cstr(out), out->len);
}

static bg_status render(vm *m, uint32_t format)
{
    bg_value *v = top(m, 0);
    if (v->kind != BG_V_STR && v->kind != BG_V_PATH)
        return mismatch(m, "render", v);
    bg_buf_reset(&m->plain);
    bg_buf_reset(&m->scratch);
    BG_TRY(put_text(m, "render", v, &m->plain));
    BG_TRY(bg_render_text((bg_render)format, bg_buf_view(&m->plain), &m->scratch, m->err));
    if (m->plain.failed || m->scratch.failed)
        return nomem(m);
    m->n--;
    return push_str(m, bg_buf_cstr(&m->scratch), m->scratch.len);
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
    BG_TRY(spend(m, base->str.len + rel->str.len));
    BG_TRY(bg_path_resolve(m->arena, base->str, rel->str, &base->str, m->err));
    m->n--;
    return BG_OK;
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
    bg_str part = bg_path_parent(from);
    BG_TRY(spend(m, part.len));
    char *copy = bg_arena_strdup(m->arena, part.ptr, part.len);
    if (copy == NULL)
        return nomem(m);
    v->str = (bg_str){copy, part.len};
    return BG_OK;
}

/* A root's own name, where it has one that does not depend on the machine; "" otherwise. */
static bg_str root_name(const bg_graph *g, const bg_value *path)
{
    switch (path->root) {
    case BG_ROOT_TOOL:
        return bg_graph_str(g, g->tools[path->id].program);
    case BG_ROOT_OUT:
        return bg_graph_str(g, g->outs[path->id].path);
    case BG_ROOT_WORK:
        return bg_graph_str(g, g->works[path->id].name);
    case BG_ROOT_FILE:
    case BG_ROOT_SOURCE:
    case BG_ROOT_PROD:
        break;
    }
    return BG_STR("");
}

static bg_status base(vm *m)
{
    bg_value *v = top(m, 0);
    if (v->kind != BG_V_PATH)
        return mismatch(m, "base", v);
    bg_str part = bg_path_last(v->str.len != 0 ? v->str : root_name(m->g, v));
    if (part.len == 0)
        return bg_error_set(m->err, BG_E_USAGE, "a root has no name of its own; use a path below it");
    m->n--;
    return push_str(m, part.ptr, part.len);
}

static bg_status equal(vm *m, const bg_value *a, const bg_value *b, int depth, bool *same)
{
    if (a->kind != b->kind)
        return mismatch(m, "eq", b);
    if (depth > MAX_COMPARE_DEPTH)
        return bg_error_set(m->err, BG_E_LIMIT, "lists nested deeper than %d are not compared", MAX_COMPARE_DEPTH);
    switch (a->kind) {
    case BG_V_STR:
        *same = bg_str_eq(a->str, b->str);
        return spend(m, a->str.len);
    case BG_V_INT:
    case BG_V_BOOL:
        *same = a->i == b->i;
        return BG_OK;
    case BG_V_PATH:
        *same = a->root == b->root && a->id == b->id && bg_str_eq(a->str, b->str);
        return spend(m, a->str.len);
    case BG_V_LIST:
        *same = a->n == b->n;
        BG_TRY(spend(m, a->n * sizeof *a));
        for (uint32_t i = 0; i < a->n && *same; i++)
            BG_TRY(equal(m, &a->items[i], &b->items[i], depth + 1, same));
        return BG_OK;
    case BG_V_NONE:
        break;
    }
    return mismatch(m, "eq", a);
}

static bg_status compare(vm *m, bg_op op)
{
    bg_value *a = top(m, 1), *b = top(m, 0);
    bool result = false;
    if (op == BG_OP_EQ) {
        BG_TRY(equal(m, a, b, 0, &result));
    } else {
        if (a->kind != BG_V_INT || b->kind != BG_V_INT)
            return mismatch(m, "lt", a->kind != BG_V_INT ? a : b);
        result = a->i < b->i;
    }
    m->n -= 2;
    push(m, (bg_value){.kind = BG_V_BOOL, .i = result});
    return BG_OK;
}

static bool multiply(int64_t a, int64_t b, int64_t *r)
{
    if (a != 0 && b != 0) {
        bool negative = (a < 0) != (b < 0);
        int64_t bound = negative ? INT64_MIN : INT64_MAX;
        /* bound / a truncates to the largest |b| that fits; -1 is the one divisor that itself overflows */
        if (a == -1 ? b == INT64_MIN : (b > 0 ? b > bound / a : b < bound / a))
            return false;
    }
    *r = a * b;
    return true;
}

/* False: the result does not fit 64 bits. */
static bool calculate(bg_op op, int64_t a, int64_t b, int64_t *r)
{
    if (op == BG_OP_MUL)
        return multiply(a, b, r);
    if (op == BG_OP_DIV) {
        if (b == 0 || (a == INT64_MIN && b == -1))
            return false;
        *r = a / b;
        return true;
    }
    bool is_sub = op == BG_OP_SUB;
    if ((b < 0) != is_sub ? a < (is_sub ? INT64_MIN + b : INT64_MIN - b) : a > (is_sub ? INT64_MAX + b : INT64_MAX - b))
        return false;
    *r = is_sub ? a - b : a + b;
    return true;
}

static bg_status arithmetic(vm *m, bg_op op)
{
    bg_value *a = top(m, 1), *b = top(m, 0);
    int64_t r = 0;
    if (a->kind != BG_V_INT || b->kind != BG_V_INT)
        return mismatch(m, bg_op_table[op].mnemonic, a->kind != BG_V_INT ? a : b);
    if (!calculate(op, a->i, b->i, &r))
        return bg_error_set(m->err, BG_E_USAGE, op == BG_OP_DIV && b->i == 0 ? "%lld %c %lld: division by zero"
                                                                             : "%lld %c %lld does not fit 64 bits",
                            (long long)a->i, "+-*/"[op - BG_OP_ADD], (long long)b->i);
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

static bg_status pushed(vm *m, const char *op, bg_status status, const bg_value *v)
{
    BG_TRY(status);
    if (v->kind == BG_V_NONE)
        return mismatch(m, op, v);
    push(m, *v);
    return BG_OK;
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
        return pushed(m, bg_op_table[op].mnemonic, m->host->param(self, v, &value, m->err), &value);
    case BG_OP_ENV:
        return pushed(m, bg_op_table[op].mnemonic, m->host->env(self, v, &value, m->err), &value);
    case BG_OP_MACHINE:
        return pushed(m, bg_op_table[op].mnemonic, m->host->machine(self, (bg_machine)v, &value, m->err), &value);
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

static bg_status run(vm *m, const bg_img_progs *p)
{
    const unsigned char *code = m->g->code + p->code;
    for (uint32_t pc = 0; pc < p->len;) {
        bg_op op = (bg_op)code[pc];
        uint32_t skip = 0, size = bg_op_size(op);
        uint32_t operand = size == 1 ? 0 : bg_get_u32(code + pc + 1);
        bg_status status = execute(m, op, operand, &skip);
        if (status != BG_OK) {
            if (m->err != NULL)
                m->err->offset = (uint64_t)(code - m->g->bytes) + pc;
            return status;
        }
        pc += size + skip;
    }
    return BG_OK;
}

bg_status bg_vm_run(const bg_graph *graph, uint32_t prog, const bg_vm_host *host, bg_arena *arena, bg_value *out,
                    bg_error *err)
{
    assert(prog != 0 && prog < graph->n_progs);
    const bg_img_progs *p = &graph->progs[prog];
    slot few[FEW_SLOTS];
    vm m = {.g = graph, .host = host, .arena = arena, .err = err, .stack = few};
    if (p->max_stack > FEW_SLOTS)
        m.stack = malloc(p->max_stack * sizeof *m.stack);
    if (m.stack == NULL)
        return nomem(&m);
    bg_status status = run(&m, p);
    if (status == BG_OK)
        *out = m.stack[0].v;
    if (m.stack != few)
        free(m.stack);
    bg_buf_clear(&m.scratch);
    bg_buf_clear(&m.plain);
    return status;
}
