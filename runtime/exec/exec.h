/** The inside of a run, shared by the files of this room. One bg_exec a run, owned by the scheduler's thread; worker threads see
 *  only bg_exec_job and what it points at, which nobody changes while it runs. Everything that lives as long as the run is in
 *  x->arena.
 *
 *  Two ways to see a value: in KEY mode every path is a token ("\1out\2/llvm/bin/clang"), so that the same work at another place
 *  has the same key; in RUN mode it is absolute. */
#ifndef BG_EXEC_EXEC_H
#define BG_EXEC_EXEC_H

#include <stdio.h>

#include "base/arena.h"
#include "base/dirs.h"
#include "base/buf.h"
#include "base/strpool.h"
#include "base/vec.h"
#include "bgraph/cache.h"
#include "bgraph/event.h"
#include "bgraph/image.h"
#include "bgraph/run.h"
#include "host/host.h"
#include "key/key.h"
#include "state/state.h"

typedef enum { BG_MODE_KEY, BG_MODE_RUN, BG_MODE_COUNT } bg_exec_mode;

typedef BG_VEC(bg_str) bg_exec_strs;

/** A declared input that the programs of a node mention, once each. */
typedef struct {
    bg_str token;   /* as it stands in keys */
    bg_str abs_dir; /* git: the source's directory; else the path itself */
    bg_str rel;     /* git: below abs_dir */
    bg_str path;    /* absolute, for messages and dependency files */
    bool is_git;
    uint32_t span;
    bg_digest digest;
} bg_exec_input;

/** A consumed product of another node. */
typedef struct {
    uint32_t prod, span;
    bg_digest digest; /* the one that is in the node's key */
} bg_exec_use;

typedef struct {
    bg_str name; /* what is looked up: program of the TOOL record, or a command's first word */
    uint32_t id; /* TOOL record, 0: a first word */
    bg_tool_identity identity;
} bg_exec_tool;

typedef struct {
    bg_str *argv;
    size_t n_argv;
    bg_str out; /* empty: none */
} bg_exec_cmd;

/** A node's values in one mode. */
typedef struct {
    bg_exec_cmd *cmds;
    size_t n_cmds;
    bg_str *env; /* name, value, name, value … */
    size_t n_env;
    bg_str cwd, depfile;
} bg_exec_form;

typedef enum {
    BG_NODE_IDLE,        /* not part of this run */
    BG_NODE_WAIT,        /* a product it consumes is not known yet */
    BG_NODE_NEED,        /* must run; waits for the files of what it consumes */
    BG_NODE_READY,       /* in the queue */
    BG_NODE_RUNNING,     /* commands run */
    BG_NODE_CHECKING,    /* commands are done, outputs are being digested */
    BG_NODE_PROVISIONAL, /* outputs are good, but something it used may still fail */
    BG_NODE_HAVE,        /* result known without running: state or cache */
    BG_NODE_DONE,        /* ran, and all it used succeeded */
    BG_NODE_BAD,         /* failed, cancelled or skipped */
    BG_NODE_SWITCHED_OFF
} bg_exec_state;

/** What the state remembers of one output file. */
typedef struct {
    bg_str path; /* below the output directory */
    uint32_t mode;
    uint64_t size, mtime_ns, ctime_ns, ino;
} bg_exec_stamp;

/** A node's record in the state, see node_state.c. */
typedef struct {
    bool present, materialized;
    bg_digest key;
    bg_str preimage;
    bg_digest *outputs; /* in the order of the graph */
    size_t n_outputs;
    bg_digest *products;
    size_t n_products;
    bg_exec_stamp *stamps;
    size_t n_stamps;
} bg_exec_record;

typedef struct bg_exec_job bg_exec_job;

typedef struct {
    uint32_t id;
    bg_exec_state state;
    bool is_target, is_planned, is_queued, is_reported, is_firm;
    bg_str name;
    /* plan */
    bg_exec_form form[BG_MODE_COUNT]; /* KEY from the plan on, RUN once it is needed */
    bool has_run_form;
    bg_exec_input *inputs;
    size_t n_inputs;
    bg_exec_use *uses; /* sorted by product */
    size_t n_uses;
    bg_exec_tool *tools; /* in the order of use */
    size_t n_tools;
    uint32_t *consumers; /* nodes, ascending */
    size_t n_consumers;
    uint64_t duration_ns, priority_ns; /* recorded or assumed; longest path to an end */
    /* place */
    bg_str out_dir; /* absolute, as commands see it */
    bg_str out_link; /* where people look; empty if the same */
    bg_str out_token; /* of out_dir */
    bg_str work_dir;
    bg_relocate_rule rule;
    bg_cache_output *outputs; /* in the order of the graph; digests valid once has_result */
    size_t n_outputs;
    /* key */
    bg_str preimage;
    bg_digest key;
    bool has_key;
    bg_exec_record record;
    bg_str reason; /* why it runs */
    /* result */
    bool has_result, on_disk, is_cached, from_state, was_restored, is_restoring, cache_failed;
    bg_cache_entry entry; /* if is_cached */
    /* attempt */
    uint32_t attempt;
    size_t cmd;
    uint64_t proc; /* 0: none runs */
    uint32_t slots;
    uint64_t began_ns, ended_ns, user_ns, sys_ns, max_rss_bytes;
    uint64_t deadline_ns, kill_ns; /* of the timeout; of the next, harder signal; UINT64_MAX: none */
    uint32_t n_jobs;               /* digests in flight */
    bg_exec_job *held;             /* the last digest, until those of early outputs are back */
    bool announced, timed_out, is_doomed, is_storing, is_stored;
    int next_signal, fail_exit;
    bg_str fail_reason;
    bg_buf line[BG_STREAM_COUNT];
    FILE *log;
    bg_str log_path;
} bg_exec_node;

typedef struct {
    bool known;
    bg_digest digest;
} bg_exec_product;

typedef struct bg_exec {
    const bg_graph *graph;
    const bg_run_options *options;
    bg_host *host;
    bg_arena arena;
    uint64_t began_ns;
    bg_state *state;
    bg_keyer *keyer;
    bg_cache **caches; /* [0..n_workers): one a worker; [n_workers]: the scheduler's */
    bool cache_on, cache_read, cache_write;
    bg_exec_node *nodes;       /* by node id */
    bg_exec_product *products; /* by product id */
    uint32_t *order;           /* planned nodes, producers first */
    size_t n_order;
    bg_value *param_values[BG_MODE_COUNT], *env_values[BG_MODE_COUNT]; /* NONE: not asked for yet */
    unsigned param_depth; /* defaults that are being computed: a hostile image could make a ring */
    BG_VEC(bg_exec_tool) tools; /* every tool that was asked for */
    bg_prefix *prefixes, *longest; /* as given to the cache; sorted, longest path first */
    size_t n_prefixes;
    bg_str out_root, work_root, log_root, path_env;
    /* schedule */
    BG_VEC(uint32_t) touched, ready, running;
    uint32_t slots_free, n_jobs, n_finished;
    bool stop, interrupted;
    int n_interrupts;
    uint32_t first_failed;
    bool world_failed, usage_failed;
    bg_str log_dir; /* of this run; empty until a node runs */
    bg_run_result *result;
    bg_status fatal;
    bg_error fatal_error;
} bg_exec;

static inline const bg_img_nodes *bg_exec_image(const bg_exec *x, const bg_exec_node *n)
{
    return &x->graph->nodes[n->id];
}

/* run.c */
/** bg_run on a host of the caller's choice (tests), which is freed. */
BG_MUST_USE bg_status bg_exec_run(const bg_graph *graph, const bg_run_options *options, bg_host *host,
                                  bg_run_result *result, bg_error *err);
/** All up to the plan: x is ready to be scheduled. bg_exec_close also after a failure. */
BG_MUST_USE bg_status bg_exec_open(bg_exec *x, bg_error *err);
BG_MUST_USE bg_status bg_exec_close(bg_exec *x, bg_error *err);

/* dry.c */
/** Decide every node without running anything: HAVE or NEED. */
void bg_exec_assess(bg_exec *x);
/** Assess, and tell the commands of what would run. */
BG_MUST_USE bg_status bg_exec_dry_run(bg_exec *x, bg_error *err);

/* report.c */
uint64_t bg_exec_now(const bg_exec *x); /* since the run began */
void bg_exec_emit(bg_exec *x, bg_event event);
void bg_exec_message(bg_exec *x, uint32_t node, bool warning, const char *fmt, ...) BG_PRINTF(4, 5);
/** "file:line:column" of a span, in x->arena. */
const char *bg_exec_place(bg_exec *x, uint32_t span);
/** Emit NODE_END once and count it. */
void bg_exec_report_end(bg_exec *x, bg_exec_node *n, bg_outcome outcome, bg_str reason);
void bg_exec_report_run_end(bg_exec *x, int exit_code);
/** Words quoted for a shell. */
void bg_exec_quote(bg_buf *out, const bg_str *words, size_t n);
/** Exchange \1token\2 for {token}. */
void bg_exec_show(bg_buf *out, bg_str s);
BG_MUST_USE bg_status bg_exec_log_open(bg_exec *x, bg_exec_node *n, bg_error *err);
void bg_exec_log_close(bg_exec_node *n);

/* values.c */
/** Check -D values against the graph; fills nothing. */
BG_MUST_USE bg_status bg_exec_check_defines(bg_exec *x, bg_error *err);
BG_MUST_USE bg_status bg_exec_param(bg_exec *x, bg_exec_mode mode, uint32_t param, bg_value *out, bg_error *err);
BG_MUST_USE bg_status bg_exec_env(bg_exec *x, bg_exec_mode mode, uint32_t env, bg_value *out, bg_error *err);
bg_str bg_exec_getenv(const bg_exec *x, bg_str name, bool *found);
/** "did you mean" among `names`; empty if nothing is near. In x->arena. */
const char *bg_exec_suggest(bg_exec *x, bg_str name, const bg_str *names, size_t n);

/* layout.c */
BG_MUST_USE bg_status bg_exec_layout(bg_exec *x, bg_error *err);
/** Directory of a .bgraph file, of a source: absolute and as a token. */
BG_MUST_USE bg_status bg_exec_file_dir(bg_exec *x, uint32_t file, bg_exec_mode mode, bg_str *out, bg_error *err);
BG_MUST_USE bg_status bg_exec_source_dir(bg_exec *x, uint32_t source, bg_exec_mode mode, bg_str *out, bg_error *err);
/** Every known directory in `s` exchanged for its token. */
BG_MUST_USE bg_status bg_exec_tokenise(bg_exec *x, bg_str s, bg_str *out, bg_error *err);

/* load.c */
/** Targets to planned nodes with their producers, in x->order. */
BG_MUST_USE bg_status bg_exec_load(bg_exec *x, bg_error *err);

/* plan.c */
/** Evaluate in KEY mode: form, inputs, uses, tools. */
BG_MUST_USE bg_status bg_exec_plan_node(bg_exec *x, bg_exec_node *n, bg_error *err);
BG_MUST_USE bg_status bg_exec_when(bg_exec *x, bg_exec_node *n, bool *on, bg_error *err);
/** Evaluate in RUN mode, once. */
BG_MUST_USE bg_status bg_exec_run_form(bg_exec *x, bg_exec_node *n, bg_error *err);

/* preimage.c */
/** All products known: digest inputs, identify tools, build the preimage. The key itself only when needed: bg_exec_key. */
BG_MUST_USE bg_status bg_exec_preimage(bg_exec *x, bg_exec_node *n, bg_error *err);
BG_MUST_USE bg_status bg_exec_key(bg_exec_node *n, bg_error *err);
/** What differs, for people. In x->arena. */
bg_str bg_exec_difference(bg_exec *x, bg_str was, bg_str is);

/* node_state.c */
BG_MUST_USE bg_status bg_exec_record_load(bg_exec *x, bg_exec_node *n);
/** Outputs on disk are those that the record remembers. */
bool bg_exec_record_fresh(bg_exec *x, const bg_exec_node *n);
BG_MUST_USE bg_status bg_exec_record_save(bg_exec *x, bg_exec_node *n, bg_error *err);
BG_MUST_USE bg_status bg_exec_record_drop(bg_exec *x, bg_exec_node *n, bg_error *err);
uint64_t bg_exec_duration_load(bg_exec *x, const bg_exec_node *n);
void bg_exec_duration_save(bg_exec *x, const bg_exec_node *n);

/* publish.c: what worker threads do */
typedef enum { BG_JOB_DIGEST, BG_JOB_EARLY, BG_JOB_STORE, BG_JOB_RESTORE } bg_exec_job_kind;
struct bg_exec_job {
    bg_exec_job_kind kind;
    bg_exec *x;
    bg_exec_node *node;
    uint32_t attempt;
    bg_arena arena;
    bg_cache_output *outputs;
    size_t n_outputs;
    uint32_t product; /* EARLY */
    bg_cache_store_request store;
    bg_cache_entry entry; /* RESTORE: in; STORE: out */
    uint64_t took_ns;
    bg_status status;
    bg_error error;
};
BG_MUST_USE bg_status bg_exec_submit_digest(bg_exec *x, bg_exec_node *n, bg_error *err);
BG_MUST_USE bg_status bg_exec_submit_early(bg_exec *x, bg_exec_node *n, size_t output, bg_error *err);
BG_MUST_USE bg_status bg_exec_submit_store(bg_exec *x, bg_exec_node *n, bg_error *err);
BG_MUST_USE bg_status bg_exec_submit_restore(bg_exec *x, bg_exec_node *n, bg_error *err);
void bg_exec_job_free(bg_exec_job *job);
/** Fill a node's products from its outputs' digests. */
BG_MUST_USE bg_status bg_exec_set_products(bg_exec *x, bg_exec_node *n, bg_error *err);
BG_MUST_USE bg_status bg_exec_product_digest(bg_exec *x, const bg_exec_node *n, uint32_t prod, bg_digest *out,
                                             bg_error *err);
/** The cache handle of a worker, opened when first asked for; NULL with err if that fails. */
bg_cache *bg_exec_cache(bg_exec *x, unsigned worker, bg_error *err);

/* schedule.c */
BG_MUST_USE bg_status bg_exec_schedule(bg_exec *x, bg_error *err);
void bg_exec_touch(bg_exec *x, uint32_t node);
void bg_exec_touch_consumers(bg_exec *x, const bg_exec_node *n);
/** Settle a node as failed, cancelled or skipped, at once; it must not be running. */
void bg_exec_bad(bg_exec *x, bg_exec_node *n, bg_outcome outcome, bg_str reason);
/** The world (not an action) failed for this node. */
void bg_exec_world_failed(bg_exec *x, bg_exec_node *n, const bg_error *err);

/* finish.c */
/** Unpack a node's cached outputs on a worker; a miss makes it run. */
void bg_exec_request_restore(bg_exec *x, bg_exec_node *n);
void bg_exec_restored(bg_exec *x, bg_exec_job *job);
/** All that a provisional node used has succeeded: record it, store it, tell it. */
void bg_exec_finish(bg_exec *x, bg_exec_node *n);
void bg_exec_stored(bg_exec *x, bg_exec_job *job);
/** Forget a result, and what was decided on it; `state` is WAIT or NEED. */
void bg_exec_run_again(bg_exec *x, bg_exec_node *n, bg_exec_state state, bg_str reason);

/* decide.c */
/** All products it consumes are known: find out whether the node must run. HAVE, NEED, or BAD. */
void bg_exec_decide(bg_exec *x, bg_exec_node *n);
BG_MUST_USE bool bg_exec_find_cached(bg_exec *x, bg_exec_node *n);

/* process.c: one attempt of a node */
void bg_exec_start(bg_exec *x, bg_exec_node *n);
void bg_exec_exited(bg_exec *x, bg_exec_node *n, const bg_host_event *event);
void bg_exec_digested(bg_exec *x, bg_exec_job *job);
/** Signal a running node's group; harder after a while (bg_exec_kill_harder, at n->kill_ns). */
void bg_exec_kill(bg_exec *x, bg_exec_node *n, int signal);
void bg_exec_kill_harder(bg_exec *x, bg_exec_node *n);
void bg_exec_time_out(bg_exec *x, bg_exec_node *n);
/** Remove what a node left, work directories included. */
void bg_exec_discard(bg_exec *x, bg_exec_node *n);
/** The link from out/NAME to a padded output directory. */
BG_MUST_USE bg_status bg_exec_link_out(const bg_exec *x, const bg_exec_node *n, bg_error *err);
/** A sentence in x->arena. */
bg_str bg_exec_text(bg_exec *x, const char *fmt, ...) BG_PRINTF(2, 3);

/* depfile.c */
/** BG_E_ACTION if the node's dependency file lists something undeclared; BG_OK if it has none. */
BG_MUST_USE bg_status bg_exec_check_depfile(bg_exec *x, bg_exec_node *n, bg_error *err);

/* child.c */
/** Start the node's next command (n->cmd); n->proc on success. */
BG_MUST_USE bg_status bg_exec_spawn(bg_exec *x, bg_exec_node *n, bg_error *err);

/* output.c */
void bg_exec_output(bg_exec *x, bg_exec_node *n, bg_stream stream, const char *bytes, size_t len);
/** The last line, which may lack its newline. */
void bg_exec_flush_output(bg_exec *x, bg_exec_node *n);

/* signal.c: what a process says about itself */
/** One line of standard error of a node with signal = rustc-json: bytes to show are appended to `shown`, an announced output's
 *  index is put in *output (SIZE_MAX: none). `cwd` makes relative artifact paths absolute. */
BG_MUST_USE bg_status bg_signal_rustc_line(bg_str line, bg_str cwd, bg_str out_dir, const bg_cache_output *outputs,
                                           size_t n_outputs, bg_buf *shown, size_t *output);
/** One line of the signal pipe: an output's name. */
size_t bg_signal_fd_line(bg_str line, const bg_cache_output *outputs, size_t n_outputs);

/* fs.c */
/** Every file, link and directory below `path`, itself included, sorted. BG_E_NOENT if it is not there. */
typedef bool (*bg_fs_visit)(void *self, bg_str rel, const bg_exec_stamp *stamp);
BG_MUST_USE bg_status bg_fs_stamps(const char *base, bg_str rel, bg_fs_visit each, void *self, bg_error *err);

#endif
