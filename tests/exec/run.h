/** A run in a directory of its own, with a sink that writes what happened as lines: "begin a", "ran a", "product a:meta" …. */
#ifndef BG_TESTS_EXEC_RUN_H
#define BG_TESTS_EXEC_RUN_H

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec/build.h"
#include "exec/exec.h"
#include "host/host_fake.h"

extern char **environ;

typedef struct {
    char root[PATH_MAX];
    bg_buf text, reasons;
    bg_run_result result;
    bg_status status;
    bg_error error;
    bool with_cache, keep_going, dry_run, verbose;
    int jobs;
    const char *targets[4];
} test_run;

typedef struct {
    bg_sink base;
    test_run *run;
} test_sink;

static inline void test_event(bg_sink *base, const bg_graph *graph, const bg_event *e)
{
    test_run *r = ((test_sink *)base)->run;
    static const char *const words[] = {
#define BG_EVENT(name, json, doc)
#define BG_EVENT_FIELD(name, member, key, kind, doc)
#define BG_EVENT_END(name)
#define BG_OUTCOME(name, word, doc) word,
#include "event/event.def"
#undef BG_EVENT
#undef BG_EVENT_FIELD
#undef BG_EVENT_END
#undef BG_OUTCOME
    };
    bg_str node = e->node == 0 ? (bg_str){"", 0} : bg_graph_str(graph, graph->nodes[e->node].name);
    if (e->kind == BG_EVENT_NODE_BEGIN)
        bg_buf_printf(&r->text, "begin %.*s\n", BG_FMT(node));
    if (e->kind == BG_EVENT_NODE_BEGIN)
        bg_buf_printf(&r->reasons, "%.*s: %.*s\n", BG_FMT(node), BG_FMT(e->text));
    if (e->kind == BG_EVENT_NODE_END)
        bg_buf_printf(&r->text, "%s %.*s\n", words[e->outcome], BG_FMT(node));
    if (e->kind == BG_EVENT_NODE_END && e->text.len > 0)
        bg_buf_printf(&r->reasons, "%.*s: %.*s\n", BG_FMT(node), BG_FMT(e->text));
    if (e->kind == BG_EVENT_PRODUCT)
        bg_buf_printf(&r->text, "product %.*s:%.*s\n", BG_FMT(node), BG_FMT(e->text));
    if (e->kind == BG_EVENT_MESSAGE)
        bg_buf_printf(&r->reasons, "! %.*s\n", BG_FMT(e->text));
    if (e->kind == BG_EVENT_OUTPUT && r->verbose)
        bg_buf_printf(&r->text, "| %.*s", BG_FMT(e->text));
    if (e->kind == BG_EVENT_STORE && r->verbose)
        bg_buf_printf(&r->text, "store %.*s\n", BG_FMT(node));
}

static inline void test_make_root(test_run *r)
{
    char real[PATH_MAX];
    snprintf(real, sizeof real, "%s/bgc-exec-XXXXXX", getenv("TMPDIR") == NULL ? "/tmp" : getenv("TMPDIR"));
    char *dir = mkdtemp(real);
    assert(dir != NULL);
    if (realpath(dir, r->root) == NULL)
        abort();
}

static inline void test_remove_root(test_run *r)
{
    if (bg_fs_remove(r->root, NULL) != BG_OK)
        fprintf(stderr, "cannot remove %s\n", r->root);
    bg_buf_clear(&r->text);
    bg_buf_clear(&r->reasons);
}

static inline void test_write(const test_run *r, const char *name, const char *text)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", r->root, name);
    FILE *f = fopen(path, "w");
    assert(f != NULL);
    fputs(text, f);
    fclose(f);
}

static inline bool test_exists(const test_run *r, const char *name)
{
    char path[PATH_MAX + 64];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", r->root, name);
    return lstat(path, &st) == 0;
}

/** One run; `host` NULL: the real one. r->text and r->reasons hold what happened. */
static inline void test_go(test_run *r, const bg_graph *graph, bg_host *host)
{
    char state[PATH_MAX + 64], cache[PATH_MAX + 64];
    snprintf(state, sizeof state, "%s/.bgraph/test", r->root);
    snprintf(cache, sizeof cache, "%s/cache", r->root);
    bg_buf_reset(&r->text);
    bg_buf_reset(&r->reasons);
    test_sink sink = {{test_event, NULL}, r};
    bg_sink *sinks[] = {&sink.base};
    bg_str targets[4];
    size_t n = 0;
    for (; n < 4 && r->targets[n] != NULL; n++)
        targets[n] = bg_str_of(r->targets[n]);
    bg_run_options o = {.file = BG_STR("test.bgraph"),
                        .root_dir = bg_str_of(r->root),
                        .state_dir = bg_str_of(state),
                        .cache_dir = r->with_cache ? cache : NULL,
                        .targets = targets,
                        .n_targets = n,
                        .environ_ = environ,
                        .jobs = r->jobs > 0 ? r->jobs : 1,
                        .keep_going = r->keep_going,
                        .dry_run = r->dry_run,
                        .sinks = sinks,
                        .n_sinks = 1};
    r->error = (bg_error){0};
    r->status = host != NULL ? bg_exec_run(graph, &o, host, &r->result, &r->error)
                             : bg_run(graph, &o, &r->result, &r->error);
    if (r->text.data == NULL)
        bg_buf_puts(&r->text, "");
}

#endif
