/* Plans without running: what would run and why, as events (a dry run) or as JSON. */
#include <string.h>

#include "exec/exec.h"

static const bg_exec_node *unknown_producer(bg_exec *x, const bg_exec_node *n)
{
    for (size_t i = 0; i < n->n_uses; i++) {
        if (!x->products[n->uses[i].prod].known)
            return &x->nodes[x->graph->prods[n->uses[i].prod].node];
    }
    return NULL;
}

void bg_exec_assess(bg_exec *x)
{
    for (size_t i = 0; i < x->n_order; i++) {
        bg_exec_node *n = &x->nodes[x->order[i]];
        if (n->state != BG_NODE_WAIT)
            continue;
        const bg_exec_node *p = unknown_producer(x, n);
        if (p == NULL) {
            bg_exec_decide(x, n);
            continue;
        }
        n->state = BG_NODE_NEED;
        n->reason = bg_exec_text(x, "`%.*s`, which it uses, runs", BG_FMT(p->name));
    }
    x->touched.n = 0;
}

static bg_status tell(bg_exec *x, bg_exec_node *n, bg_error *err)
{
    /* no NODE_BEGIN: nothing starts */
    BG_TRY(bg_exec_run_form(x, n, err));
    for (size_t i = 0; i < n->form[BG_MODE_RUN].n_cmds; i++) {
        bg_buf text = {0};
        bg_exec_quote(&text, n->form[BG_MODE_RUN].cmds[i].argv, n->form[BG_MODE_RUN].cmds[i].n_argv);
        bg_exec_emit(x, (bg_event){.kind = BG_EVENT_COMMAND, .node = n->id, .count = i + 1, .text = bg_buf_view(&text)});
        bg_buf_clear(&text);
    }
    bg_exec_report_end(x, n, BG_OUTCOME_RAN, n->reason);
    return BG_OK;
}

bg_status bg_exec_dry_run(bg_exec *x, bg_error *err)
{
    bg_exec_assess(x);
    for (size_t i = 0; i < x->n_order; i++) {
        bg_exec_node *n = &x->nodes[x->order[i]];
        if (n->state == BG_NODE_NEED)
            BG_TRY(tell(x, n, err));
        else if (n->state == BG_NODE_HAVE)
            bg_exec_report_end(x, n, n->from_state ? BG_OUTCOME_UP_TO_DATE : BG_OUTCOME_CACHED, (bg_str){"", 0});
        else if (n->state == BG_NODE_SWITCHED_OFF)
            bg_exec_report_end(x, n, BG_OUTCOME_OFF, (bg_str){"", 0});
    }
    return BG_OK;
}

/* ---- JSON ---- */

static void json_key(bg_buf *out, const char *key)
{
    bg_buf_printf(out, ",\"%s\":", key);
}

static void json_strs(bg_buf *out, const bg_str *strs, size_t n)
{
    bg_buf_putc(out, '[');
    for (size_t i = 0; i < n; i++) {
        bg_buf_puts(out, i > 0 ? "," : "");
        bg_buf_json(out, strs[i]);
    }
    bg_buf_putc(out, ']');
}

static void json_commands(bg_buf *out, const bg_exec_form *f)
{
    json_key(out, "commands");
    bg_buf_putc(out, '[');
    for (size_t i = 0; i < f->n_cmds; i++) {
        bg_buf_puts(out, i > 0 ? ",{\"argv\":" : "{\"argv\":");
        json_strs(out, f->cmds[i].argv, f->cmds[i].n_argv);
        if (f->cmds[i].out.len > 0) {
            json_key(out, "stdout");
            bg_buf_json(out, f->cmds[i].out);
        }
        bg_buf_putc(out, '}');
    }
    bg_buf_putc(out, ']');
    json_key(out, "env");
    bg_buf_putc(out, '{');
    for (size_t i = 0; i + 1 < f->n_env; i += 2) {
        bg_buf_puts(out, i > 0 ? "," : "");
        bg_buf_json(out, f->env[i]);
        bg_buf_putc(out, ':');
        bg_buf_json(out, f->env[i + 1]);
    }
    bg_buf_putc(out, '}');
    json_key(out, "cwd");
    bg_buf_json(out, f->cwd);
}

static void json_digest(bg_buf *out, const bg_digest *d)
{
    char hex[65];
    bg_digest_hex(d, hex);
    bg_buf_printf(out, "\"%s\"", hex);
}

static void json_inputs(bg_buf *out, const bg_exec_node *n)
{
    json_key(out, "inputs");
    bg_buf_putc(out, '[');
    for (size_t i = 0; i < n->n_inputs; i++) {
        bg_buf_puts(out, i > 0 ? ",{\"path\":" : "{\"path\":");
        bg_buf_json(out, n->inputs[i].path);
        json_key(out, "git");
        bg_buf_puts(out, n->inputs[i].is_git ? "true" : "false");
        if (n->preimage.len > 0) {
            json_key(out, "digest");
            json_digest(out, &n->inputs[i].digest);
        }
        bg_buf_putc(out, '}');
    }
    bg_buf_putc(out, ']');
    json_key(out, "tools");
    bg_buf_putc(out, '[');
    for (size_t i = 0; i < n->n_tools; i++) {
        bg_buf_puts(out, i > 0 ? ",{\"name\":" : "{\"name\":");
        bg_buf_json(out, n->tools[i].name);
        json_key(out, "program");
        bg_buf_json(out, n->tools[i].identity.program);
        json_key(out, "identity");
        json_digest(out, &n->tools[i].identity.identity);
        bg_buf_putc(out, '}');
    }
    bg_buf_putc(out, ']');
}

static void json_products(bg_exec *x, bg_buf *out, const bg_exec_node *n)
{
    const bg_img_nodes *image = bg_exec_image(x, n);
    json_key(out, "consumes");
    bg_buf_putc(out, '[');
    for (size_t i = 0; i < n->n_uses; i++) {
        const bg_img_prods *p = &x->graph->prods[n->uses[i].prod];
        bg_buf_puts(out, i > 0 ? ",{\"node\":" : "{\"node\":");
        bg_buf_json(out, x->nodes[p->node].name);
        json_key(out, "product");
        bg_buf_json(out, bg_graph_str(x->graph, p->name));
        bg_buf_putc(out, '}');
    }
    bg_buf_putc(out, ']');
    json_key(out, "products");
    bg_buf_putc(out, '{');
    for (uint32_t i = 0; i < image->n_prods; i++) {
        const bg_exec_product *p = &x->products[image->prods + i];
        bg_buf_puts(out, i > 0 ? "," : "");
        bg_buf_json(out, bg_graph_str(x->graph, x->graph->prods[image->prods + i].name));
        bg_buf_putc(out, ':');
        if (p->known)
            json_digest(out, &p->digest);
        else
            bg_buf_puts(out, "null");
    }
    bg_buf_putc(out, '}');
}

static const char *state_word(const bg_exec_node *n)
{
    if (n->state == BG_NODE_SWITCHED_OFF)
        return "off";
    if (n->state == BG_NODE_HAVE)
        return n->from_state ? "up to date" : "cached";
    return n->state == BG_NODE_NEED ? "run" : "failed";
}

static bg_status json_node(bg_exec *x, bg_buf *out, bg_exec_node *n, bg_error *err)
{
    bg_buf_puts(out, "{\"name\":");
    bg_buf_json(out, n->name);
    json_key(out, "label");
    bg_buf_json(out, bg_graph_str(x->graph, bg_exec_image(x, n)->label));
    json_key(out, "state");
    bg_buf_printf(out, "\"%s\"", state_word(n));
    if (n->state != BG_NODE_SWITCHED_OFF) {
        BG_TRY(bg_exec_run_form(x, n, err));
        json_key(out, "reason");
        bg_buf_json(out, n->state == BG_NODE_NEED ? n->reason : (bg_str){"", 0});
        json_key(out, "key");
        if (n->has_key)
            json_digest(out, &n->key);
        else
            bg_buf_puts(out, "null");
        json_key(out, "duration_ns");
        bg_buf_printf(out, "%llu", (unsigned long long)n->duration_ns);
        json_key(out, "output");
        bg_buf_json(out, n->out_dir);
        json_commands(out, &n->form[BG_MODE_RUN]);
        json_inputs(out, n);
        json_products(x, out, n);
    }
    bg_buf_putc(out, '}');
    return BG_OK;
}

static bg_status json(bg_exec *x, bg_buf *out, bg_error *err)
{
    bg_exec_assess(x);
    bg_buf_puts(out, "{\"version\":1,\"file\":");
    bg_buf_json(out, x->options->file);
    json_key(out, "nodes");
    bg_buf_putc(out, '[');
    for (size_t i = 0; i < x->n_order; i++) {
        bg_buf_puts(out, i > 0 ? ",\n" : "\n");
        BG_TRY(json_node(x, out, &x->nodes[x->order[i]], err));
    }
    bg_buf_puts(out, "\n]}\n");
    return out->failed ? bg_error_set(err, BG_E_NOMEM, "out of memory") : BG_OK;
}

bg_status bg_plan_json(const bg_graph *graph, const bg_run_options *options, bg_buf *out, bg_error *err)
{
    bg_run_result ignored = {0};
    bg_host *host = bg_host_posix_new(1, err);
    if (host == NULL)
        return BG_E_IO;
    bg_exec x = {.graph = graph, .options = options, .host = host, .result = &ignored};
    x.began_ns = host->now_ns(host);
    bg_status status = bg_exec_open(&x, err);
    if (status == BG_OK)
        status = json(&x, out, err);
    bg_error late = {0};
    bg_status closed = bg_exec_close(&x, &late);
    if (status == BG_OK && closed != BG_OK && err != NULL)
        *err = late;
    return status == BG_OK ? closed : status;
}
