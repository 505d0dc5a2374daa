/* Nodes with their products, outputs, commands and edges. Ids of products, outputs and work directories are given first, because
 * programs of any node may mention them. */
#include "emit/emit.h"

static uint32_t prod_of(bg_emit *e, const bg_node *node, bg_str name, bool is_early)
{
    bg_img_prods rec = {node->id, bg_image_str(e->w, name), is_early};
    return bg_image_add(e->w, BG_SEC_PROD, &rec);
}

static void emit_products(bg_emit *e, bg_node *node, bg_img_nodes *rec)
{
    node->link_id = prod_of(e, node, BG_STR("link"), false);
    rec->prods = node->link_id;
    rec->n_prods = 1;
    for (uint32_t i = 0; i < node->live.n; i++) {
        bg_out *out = node->live.at[i];
        out->prod_id = out->is_early ? prod_of(e, node, out->name, true) : node->link_id;
        rec->n_prods += out->is_early;
    }
    for (uint32_t i = 0; i < node->live.n; i++) {
        bg_out *out = node->live.at[i];
        bg_img_outs o = {.prod = out->prod_id, .name = bg_image_str(e->w, out->name), .path = bg_image_str(e->w, out->path)};
        o.is_dir = out->is_dir;
        o.span = bg_emit_span(e, out->span);
        out->id = bg_image_add(e->w, BG_SEC_OUTP, &o);
        rec->outs = i == 0 ? out->id : rec->outs;
    }
    for (uint32_t i = 0; i < node->works.n; i++) {
        bg_img_works k = {node->id, bg_image_str(e->w, node->works.at[i]->name)};
        node->works.at[i]->id = bg_image_add(e->w, BG_SEC_WORK, &k);
        rec->works = i == 0 ? node->works.at[i]->id : rec->works;
    }
    rec->n_outs = node->live.n;
    rec->n_works = node->works.n;
}

static void emit_commands(bg_emit *e, const bg_node *node, bg_img_nodes *rec)
{
    for (uint32_t i = 0; i < node->cmds.n; i++) {
        const bg_cmd *cmd = &node->cmds.at[i];
        bg_img_cmds c = {.argv = bg_emit_prog(e, cmd->argv)};
        c.out = bg_emit_prog(e, cmd->out);
        c.span = bg_emit_span(e, cmd->span);
        uint32_t id = bg_image_add(e->w, BG_SEC_CMND, &c);
        rec->cmds = i == 0 ? id : rec->cmds;
    }
    rec->n_cmds = node->cmds.n;
}

static void emit_edges(bg_emit *e, const bg_node *node, bg_img_nodes *rec)
{
    for (uint32_t i = 0; i < node->edges.n; i++) {
        const bg_edge *edge = &node->edges.at[i];
        bg_img_edges g = {node->id, edge->early != NULL ? edge->early->prod_id : edge->node->link_id,
                          bg_emit_span(e, edge->span)};
        uint32_t id = bg_image_add(e->w, BG_SEC_EDGE, &g);
        rec->edges = i == 0 ? id : rec->edges;
    }
    rec->n_edges = node->edges.n;
}

static void emit_values(bg_emit *e, const bg_node *node, bg_img_nodes *rec)
{
    rec->name = bg_image_str(e->w, node->path);
    rec->label = bg_image_str(e->w, node->label);
    rec->kind = node->is_crate ? BG_NODE_CRATE : BG_NODE_STAGE;
    rec->group = node->group == NULL ? 0 : node->group->id;
    rec->when = bg_emit_prog(e, node->when);
    rec->inputs = bg_emit_prog(e, node->inputs);
    rec->env = bg_emit_prog(e, node->env);
    rec->cwd = bg_emit_prog(e, node->cwd);
    rec->depfile = bg_emit_prog(e, node->depfile);
    emit_commands(e, node, rec);
    emit_edges(e, node, rec);
    rec->signal = node->signal;
    rec->rule = node->rule == NULL ? 0 : bg_emit_rule(e, node->rule);
    rec->timeout_ns = node->timeout_ns == 0 ? 0 : bg_image_int(e->w, node->timeout_ns);
    rec->retry = node->retry;
    rec->cpus = node->cpus;
    rec->no_cache = node->no_cache;
    rec->doc = node->ast->doc.len == 0 ? 0 : bg_image_str(e->w, node->ast->doc);
    rec->span = bg_emit_span(e, node->bind->span);
}

static void emit_all(bg_emit *e)
{
    bg_sema *s = e->s;
    bg_emit_declarations(e);
    bg_img_nodes *recs = BG_ARRAY(s, s->nodes.n, bg_img_nodes);
    for (uint32_t i = 0; i < s->nodes.n; i++)
        s->nodes.at[i]->id = i + 1;
    for (uint32_t i = 0; i < s->nodes.n; i++)
        emit_products(e, s->nodes.at[i], &recs[i]);
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        emit_values(e, s->nodes.at[i], &recs[i]);
        bg_image_add(e->w, BG_SEC_NODE, &recs[i]);
    }
    for (uint32_t i = 0; i < s->defaults.n; i++) {
        bg_img_defaults rec = {s->defaults.at[i]->id};
        bg_image_add(e->w, BG_SEC_DFLT, &rec);
    }
}

bg_status bg_emit_image(bg_emit *e, bg_buf *out, bg_error *err)
{
    emit_all(e);
    return bg_image_finish(e->w, out, err);
}
