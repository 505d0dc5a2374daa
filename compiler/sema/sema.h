/** The middle of the compiler: names, values, expansion. Values are evaluated lazily and partially: an expression becomes a
 *  constant, or a residual tree of what is known only when the graph runs. Everything lives in the session's arena; running out
 *  of memory or past a limit leaves by longjmp to the one bg_sema_run, so no caller checks for NULL. One thread. */
#ifndef BG_SEMA_SEMA_H
#define BG_SEMA_SEMA_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "bgraph/diag.h"
#include "bgraph/image.h"
#include "bgraph/session.h"
#include "syntax/ast.h"

/* ---- growable arrays in the arena ---- */
#define BG_LIST(type)                                                                              \
    struct {                                                                                       \
        type *at;                                                                                  \
        uint32_t n, cap;                                                                           \
    }
#define BG_PUSH(s, list, item)                                                                     \
    ((list)->n == (list)->cap                                                                      \
         ? (void)((list)->at = bg_sema_grow((s), (list)->at, &(list)->cap, sizeof *(list)->at))    \
         : (void)0,                                                                                \
     (list)->at[(list)->n++] = (item))

/* ---- types ---- */
typedef enum {
    BG_TYPE_ERROR,
    BG_TYPE_ANY,
    BG_TYPE_STR,
    BG_TYPE_INT,
    BG_TYPE_BOOL,
    BG_TYPE_DURATION,
    BG_TYPE_SIZE,
    BG_TYPE_PATH,
    BG_TYPE_LIST,
    BG_TYPE_MAP,
    BG_TYPE_ENUM,
    BG_TYPE_NODE,
    BG_TYPE_PRODUCT,
    BG_TYPE_TOOL,
    BG_TYPE_SOURCE,
    BG_TYPE_GROUP,
    BG_TYPE_MODULE,
    BG_TYPE_TEMPLATE,
    BG_TYPE_RULE,
    BG_TYPE_COUNT
} bg_type_kind;

typedef struct bg_type bg_type;
struct bg_type {
    bg_type_kind kind;
    const bg_type *elem; /* LIST, MAP */
    const bg_str *choices; /* ENUM */
    uint32_t n_choices;
};

/* ---- values ---- */
typedef enum {
    BG_VAL_ERROR, /* a diagnostic was given; silences what follows */
    BG_VAL_STR,
    BG_VAL_INT, /* type says int, duration or size */
    BG_VAL_BOOL,
    BG_VAL_LIST, /* items may be SPLICE and ITEM_IF */
    BG_VAL_MAP,
    BG_VAL_PATH, /* root and constant rest */
    BG_VAL_NODE,
    BG_VAL_TOOL,
    BG_VAL_SOURCE,
    BG_VAL_GROUP,
    BG_VAL_MODULE,
    BG_VAL_TEMPLATE,
    BG_VAL_RULE,
    /* known only when it runs */
    BG_VAL_PARAM,
    BG_VAL_ENV,
    BG_VAL_FACT,
    BG_VAL_CONCAT,
    BG_VAL_RENDER,
    BG_VAL_JOIN,
    BG_VAL_DIR,
    BG_VAL_BASE,
    BG_VAL_EQ,
    BG_VAL_LT,
    BG_VAL_NOT,
    BG_VAL_ADD,
    BG_VAL_SUB,
    BG_VAL_MUL,
    BG_VAL_DIV,
    BG_VAL_COND,
    /* items of a list */
    BG_VAL_SPLICE,
    BG_VAL_ITEM_IF, /* condition, value */
    BG_VAL_COUNT
} bg_val_kind;

typedef struct bg_val bg_val;
typedef struct bg_node bg_node;
typedef struct bg_out bg_out;
typedef struct bg_unit bg_unit;
typedef struct bg_scope bg_scope;
typedef struct bg_bind bg_bind;
typedef struct bg_sema bg_sema;

struct bg_val {
    bg_val_kind kind;
    bg_type_kind type;
    const bg_type *full; /* residual ENUM and LIST: the declared type; else NULL */
    bool known;          /* nothing in it waits for the run (a path counts as known: its root and rest are) */
    uint32_t depth, weight;
    bg_span span;
    uint32_t n; /* kids */
    bg_val *const *kids;
    bg_str str;        /* STR; PATH: the rest, normalised */
    const bg_str *keys; /* MAP */
    int64_t i;          /* INT, BOOL; FACT: bg_machine; RENDER: bg_render; PATH: bg_root_kind */
    void *ref;          /* NODE TOOL SOURCE GROUP MODULE TEMPLATE RULE PARAM ENV; PATH: what the root is of */
    bg_out *early;      /* PATH below a PROD: the early product, NULL for link */
};

/* ---- declarations ---- */
typedef struct {
    bg_bind *bind;
    bg_unit *unit;
    bg_str name; /* as given by -D */
    const bg_type *type;
    const bg_ast *default_ast;
    bg_val *value;  /* of -D, NULL if none was given */
    bg_str given;   /* its text */
    bg_val *preset; /* default, evaluated; NULL if there is none */
    uint8_t preset_state;
    bool baked, touched;
    uint32_t order, id;
} bg_param;

typedef struct {
    bg_bind *bind;
    bg_unit *unit;
    bool has_fallback, touched;
    bg_str fallback;
    uint32_t id;
} bg_env;

typedef struct {
    bg_span span;
    bg_str name, program, bin;
    BG_LIST(bg_str) version, root, places;
    bool declared;
    uint32_t id;
} bg_tool;

typedef struct {
    bg_span span;
    bg_str name, dir;
    bool is_git;
    BG_LIST(bg_str) paths;
    uint32_t id;
} bg_src;

typedef struct {
    bg_span span;
    bg_str name;
    uint32_t pad, elf, longer, survivors;
    bool text, links;
    BG_LIST(bg_str) exclude;
    uint32_t id;
} bg_rule;

typedef struct bg_group bg_group;
struct bg_group {
    bg_bind *bind;
    bg_str name, label; /* qualified */
    bg_group *parent;
    bg_unit *unit;
    bg_scope *scope;
    const bg_ast *when_ast;
    bg_val *when; /* with its parents'; NULL for always */
    uint8_t when_state;
    BG_LIST(bg_node *) nodes; /* with those of inner groups */
    bool used;
    uint32_t id;
};

typedef enum {
    BG_BIND_LET,
    BG_BIND_PARAM,
    BG_BIND_ENV,
    BG_BIND_TOOL,
    BG_BIND_SOURCE,
    BG_BIND_RULE,
    BG_BIND_TEMPLATE,
    BG_BIND_GROUP,
    BG_BIND_NODE,
    BG_BIND_MODULE,
    BG_BIND_ARG, /* parameter of a template: a LET with a type, evaluated where it was given */
    BG_BIND_VAR, /* variable of a comprehension */
    BG_BIND_PROVIDE
} bg_bind_kind;

enum bg_state { BG_STATE_NEW, BG_STATE_BUSY, BG_STATE_DONE };

struct bg_bind {
    bg_bind_kind kind;
    uint8_t state;
    bg_str name;
    bg_span span; /* of the name */
    const bg_ast *ast; /* LET, ARG, PROVIDE: the value; else the declaration */
    bg_scope *scope; /* where the value is evaluated */
    const bg_type *type; /* ARG */
    void *ref;
    bg_val *val;
    bg_bind *next; /* same hash slot */
};

/** Names of one file, group, template use, stage block or comprehension step. */
struct bg_scope {
    bg_scope *parent;
    bg_unit *unit;
    bg_node *node; /* whose `out`, `work` and `self` are meant; NULL outside of stages */
    bg_bind **slots;
    uint32_t n_slots;
    BG_LIST(bg_bind *) binds;
};

struct bg_unit {
    uint32_t file; /* of spans, from 1 */
    bg_str path; /* as opened, normalised: its identity */
    bg_str prefix; /* "" or "alias/" …: before the names of its nodes */
    bg_str name; /* alias as people see it */
    const bg_source *source;
    const bg_ast *ast;
    bg_scope *scope;
    bool is_std;
    uint8_t state;
    BG_LIST(bg_node *) nodes; /* order of text */
    BG_LIST(bg_group *) groups;
    BG_LIST(bg_param *) params;
    BG_LIST(bg_env *) envs;
};

/* ---- nodes ---- */
struct bg_out {
    bg_node *node;
    bg_str name, path;
    bg_span span;
    const bg_ast *ast;
    bg_scope *scope;
    bool is_dir, is_early, exists;
    uint8_t state, path_state;
    const bg_node *asked_by; /* the last node that got an edge to it */
    uint32_t prod_id, id;
};

typedef struct {
    bg_node *node;
    bg_str name;
    bg_span span;
    uint32_t id;
} bg_work;

/* One key of a node, as written. */
typedef struct {
    const bg_ast *ast; /* SET, RUN, ENV_BLOCK */
    bg_scope *scope;
    bool dropped; /* overridden */
} bg_item;

typedef struct {
    bg_val *argv, *out;
    bg_span span;
} bg_cmd;

typedef struct {
    bg_node *node; /* producer */
    bg_out *early; /* NULL: link */
    bg_span span;
} bg_edge;

struct bg_node {
    bg_bind *bind;
    bg_str name, path, label; /* last part, qualified */
    bg_unit *unit;
    bg_group *group;
    bg_scope *scope; /* of the block */
    const bg_ast *ast;
    bool is_crate;
    uint8_t state, finish_state;
    BG_LIST(bg_item) items;
    BG_LIST(bg_out *) outs;
    BG_LIST(bg_work *) works;
    BG_LIST(bg_bind *) provides;
    BG_LIST(bg_bind *) checks; /* lets and arguments, evaluated at the end for their errors */
    /* finished */
    BG_LIST(bg_out *) live; /* outputs that exist */
    BG_LIST(bg_cmd) cmds;
    BG_LIST(bg_edge) edges;
    bg_val *when, *inputs, *env, *cwd, *depfile;
    uint32_t signal, retry, cpus;
    bool no_cache;
    int64_t timeout_ns;
    bg_rule *rule;
    const bg_node *asked_by; /* the last node that got an edge to its link */
    uint32_t id, link_id, color;
};

/* ---- the compilation ---- */
enum {
    BG_LIMIT_STEPS = 100 * 1000 * 1000,
    BG_LIMIT_DEPTH = 4000,
    BG_LIMIT_NODES = 1000 * 1000,
    BG_LIMIT_ITEMS = 1000 * 1000,
    BG_LIMIT_WEIGHT = 1 << 21,
    BG_LIMIT_VALUE_DEPTH = 1000,
    BG_LIMIT_FILES = 1000,
    BG_LIMIT_USE_DEPTH = 64
};
#define BG_LIMIT_BYTES ((size_t)2 << 30)

struct bg_sema {
    bg_arena *arena;
    bg_diags *diags;
    const bg_session_options *options;
    jmp_buf escape;
    bg_status status; /* why it left */
    /* gives a unit for a std module or a path; NULL after a diagnostic */
    bg_unit *(*load)(bg_sema *s, bg_unit *from, const bg_ast *use, bg_str std_name);
    void *load_self;
    BG_LIST(bg_unit *) units; /* used files before those that use them */
    bg_unit *root;
    BG_LIST(bg_node *) nodes; /* of the graph, order of emission */
    BG_LIST(bg_node *) defaults;
    BG_LIST(bg_tool *) implied;
    BG_LIST(bg_str) baked; /* params found to decide the shape, by name; kept between passes */
    bool baked_more;
    uint64_t steps;
    uint32_t depth, n_nodes, n_params, use_depth;
    bg_param *default_of; /* whose default is being evaluated */
    bg_val *error;
};

/* sema.c: memory, limits, values */
void *bg_sema_new(bg_sema *s, size_t n, size_t size);
void *bg_sema_grow(bg_sema *s, void *at, uint32_t *cap, size_t size);
#define BG_NEW(s, type) ((type *)bg_sema_new((s), 1, sizeof(type)))
#define BG_ARRAY(s, n, type) ((type *)bg_sema_new((s), (n), sizeof(type)))
bg_str bg_sema_printf(bg_sema *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void bg_sema_limit(bg_sema *s, bg_span span, const char *what, uint64_t limit);
void bg_sema_step(bg_sema *s, bg_span span, uint64_t n);
bg_val *bg_val_new(bg_sema *s, bg_val_kind kind, bg_type_kind type, bg_span span);
bg_val *bg_val_str(bg_sema *s, bg_str str, bg_span span);
bg_val *bg_val_int(bg_sema *s, int64_t i, bg_type_kind type, bg_span span);
bg_val *bg_val_bool(bg_sema *s, bool b, bg_span span);
bg_val *bg_val_path(bg_sema *s, bg_root_kind root, void *of, bg_out *early, bg_str rel, bg_span span);
bg_val *bg_val_ref(bg_sema *s, bg_val_kind kind, bg_type_kind type, void *ref, bg_span span);
/** A value with kids: depth, weight and whether it is known follow from theirs. ERROR if a kid is. */
bg_val *bg_val_op(bg_sema *s, bg_val_kind kind, bg_type_kind type, bg_val *const *kids, uint32_t n, bg_span span);
bg_val *bg_val_op1(bg_sema *s, bg_val_kind kind, bg_type_kind type, bg_val *a, bg_span span);
bg_val *bg_val_op2(bg_sema *s, bg_val_kind kind, bg_type_kind type, bg_val *a, bg_val *b, bg_span span);
/** The same value at another place. */
bg_val *bg_val_at(bg_sema *s, const bg_val *v, bg_span span);
/** "a string", "a list", … for messages. */
bg_str bg_val_describe(const bg_val *v);
bool bg_val_same(const bg_val *a, const bg_val *b); /* both known */
uint64_t bg_val_hash(const bg_val *v);

/* scope.c */
bg_scope *bg_scope_new(bg_sema *s, bg_scope *parent, bg_unit *unit, bg_node *node);
bg_bind *bg_scope_own(const bg_scope *scope, bg_str name);
bg_bind *bg_scope_find(const bg_scope *scope, bg_str name);
/** NULL after a diagnostic when the name is taken. */
bg_bind *bg_scope_add(bg_sema *s, bg_scope *scope, bg_bind_kind kind, bg_str name, bg_span span, const bg_ast *ast);
/** Undefined-name error with the nearest visible name. */
void bg_scope_undefined(bg_sema *s, const bg_scope *scope, bg_str name, bg_span span);
void bg_sema_nearest(bg_sema *s, bg_diag *diag, bg_str name, const bg_str *names, uint32_t n);

/* types.c */
const bg_type *bg_type_of_ast(bg_sema *s, const bg_ast *ast); /* NULL after a diagnostic */
bg_str bg_type_name(bg_sema *s, const bg_type *type);
/** The value as one of `type`; ERROR after a diagnostic. `what` opens the message. */
bg_val *bg_type_assign(bg_sema *s, bg_val *v, const bg_type *type, bg_str what);
bg_val *bg_type_want(bg_sema *s, bg_val *v, bg_type_kind kind, const char *what);

/* eval.c */
bg_val *bg_eval(bg_sema *s, bg_scope *scope, const bg_ast *ast);
/** With the type that is expected: a bare name may be a choice of an enum. */
bg_val *bg_eval_as(bg_sema *s, bg_scope *scope, const bg_ast *ast, const bg_type *type, bg_str what);
bg_val *bg_eval_bind(bg_sema *s, bg_bind *bind, bg_span span);
bg_val *bg_eval_cond(bg_sema *s, bg_val *c, bg_val *a, bg_val *b, bg_span span);
/** Sum of list values; splices and conditions are resolved where they can be. */
bg_val *bg_eval_list(bg_sema *s, bg_val *const *items, uint32_t n, bg_span span);
bg_val *bg_eval_concat(bg_sema *s, bg_val *const *parts, uint32_t n, bg_span span);
/** A string, path, tool, int or bool as it is rendered in a string; `what` for the message. */
bg_val *bg_eval_word(bg_sema *s, bg_val *v, const char *what);

/* comp.c */
bg_val *bg_eval_comp(bg_sema *s, bg_scope *scope, const bg_ast *ast);

/* member.c */
bg_val *bg_eval_field(bg_sema *s, bg_scope *scope, const bg_ast *ast);
bg_val *bg_eval_index(bg_sema *s, bg_scope *scope, const bg_ast *ast);

/* oper.c */
bg_val *bg_oper_binary(bg_sema *s, bg_str op, bg_val *a, bg_val *b, bg_span span);
bg_val *bg_oper_not(bg_sema *s, bg_val *a, bg_span span);
bg_val *bg_oper_negate(bg_sema *s, bg_val *a, bg_span span);

/* paths.c */
bg_val *bg_pathval_of(bg_sema *s, bg_val *v); /* source -> its root; paths as they are; NULL: not a path */
bg_val *bg_pathval_slash(bg_sema *s, bg_val *base, bg_val *rel, bg_span span);
bg_val *bg_pathval_dir(bg_sema *s, bg_val *path, bg_span span);
bg_val *bg_pathval_base(bg_sema *s, bg_val *path, bg_span span);

/* known.c: params decide the shape */
/** The value with every param in it replaced by what it was given; ERROR after a diagnostic if something else remains. */
bg_val *bg_known(bg_sema *s, bg_val *v, const char *what);
/** A list whose items are all there: conditions and splices resolved; the items themselves may wait. */
bg_val *bg_known_list(bg_sema *s, bg_val *v, const char *what);
bg_val *bg_param_value(bg_sema *s, bg_param *param, bg_span span, const char *what);
bg_val *bg_param_preset(bg_sema *s, bg_param *param);
/** Text form of -D. */
bg_str bg_param_text(bg_sema *s, const bg_val *v);
void bg_params_define(bg_sema *s);

/* call.c */
bg_val *bg_eval_call(bg_sema *s, bg_scope *scope, const bg_ast *ast);
bool bg_is_function(bg_str name);

/* decl.c: tools, sources, rules */
bg_tool *bg_decl_tool(bg_sema *s, bg_bind *bind);
bg_src *bg_decl_source(bg_sema *s, bg_bind *bind);
bg_rule *bg_decl_rule(bg_sema *s, bg_bind *bind);
bg_str bg_decl_word(bg_sema *s, bg_scope *scope, const bg_ast *value, const char *what); /* keyword or string */

/* unit.c: declarations of files and groups */
void bg_unit_declare(bg_sema *s, bg_unit *unit);
void bg_unit_envs(bg_sema *s, bg_unit *unit); /* fallbacks of its environment variables */
bg_val *bg_group_when(bg_sema *s, bg_group *group);

/* node.c: what a node is made of */
void bg_node_prepare(bg_sema *s, bg_node *node);
bg_out *bg_node_out(const bg_node *node, bg_str name);
bg_bind *bg_node_provide(const bg_node *node, bg_str name);
bool bg_out_exists(bg_sema *s, bg_out *out);
bg_str bg_out_path(bg_sema *s, bg_out *out);
bg_val *bg_node_member(bg_sema *s, bg_node *node, bg_str name, bg_span span);

/* finish.c: values of a node */
void bg_node_finish(bg_sema *s, bg_node *node);

/* unused.c */
void bg_unused_check(bg_sema *s, const bg_unit *unit);

/* expand.c: everything, to s->nodes and s->defaults */
void bg_sema_expand(bg_sema *s);

#endif
