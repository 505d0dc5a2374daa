/** A small graph that has something in every section, for the tests of the image. */
#ifndef TEST_IMAGE_SAMPLE_H
#define TEST_IMAGE_SAMPLE_H

#include <stdlib.h>
#include <string.h>

#include "bgraph/image.h"

#define S(text) bg_image_str(w, BG_STR(text))

static inline uint32_t sample_span(bg_image_writer *w, uint32_t line)
{
    return bg_image_add(w, BG_SEC_SPAN, &(bg_img_spans){1, line * 40, 12, line, 3});
}

/* if param 1 == "fast" then ["-O2", out 1] else ["-O0"]  */
static inline uint32_t sample_branch(bg_image_writer *w)
{
    bg_image_prog_begin(w);
    bg_image_op(w, BG_OP_PARAM, 1);
    bg_image_op(w, BG_OP_STR, S("fast"));
    bg_image_op(w, BG_OP_EQ, 0);
    uint32_t otherwise = bg_image_jump(w, BG_OP_UNLESS);
    bg_image_op(w, BG_OP_LIST, 0);
    bg_image_op(w, BG_OP_STR, S("-O2"));
    bg_image_op(w, BG_OP_APPEND, 0);
    bg_image_op(w, BG_OP_OUT, 1);
    bg_image_op(w, BG_OP_APPEND, 0);
    uint32_t end = bg_image_jump(w, BG_OP_JUMP);
    bg_image_land(w, otherwise);
    bg_image_op(w, BG_OP_LIST, 0);
    bg_image_op(w, BG_OP_STR, S("-O0"));
    bg_image_op(w, BG_OP_APPEND, 0);
    bg_image_land(w, end);
    return bg_image_prog_end(w, sample_span(w, 9));
}

/* A list with a value of every instruction that makes one. */
static inline uint32_t sample_all(bg_image_writer *w)
{
    static const struct {
        bg_op op;
        uint32_t operand, then;
    } roots[] = {{BG_OP_TOOL, 1, 0},   {BG_OP_FILE, 1, 0}, {BG_OP_SOURCE, 1, 0}, {BG_OP_OUT, 2, 0},
                 {BG_OP_PROD, 1, 0},   {BG_OP_WORK, 1, 0}, {BG_OP_ENV, 1, 0},    {BG_OP_MACHINE, 2, 0},
                 {BG_OP_MACHINE, 0, 0}, {BG_OP_BOOL, 1, 0}, {BG_OP_BOOL, 0, 0}};
    bg_image_prog_begin(w);
    bg_image_op(w, BG_OP_LIST, 0);
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        bg_image_op(w, roots[i].op, roots[i].operand);
        bg_image_op(w, BG_OP_APPEND, 0);
    }
    bg_image_op(w, BG_OP_LIST, 0);
    bg_image_op(w, BG_OP_SOURCE, 1);
    bg_image_op(w, BG_OP_STR, S("a b/c.c"));
    bg_image_op(w, BG_OP_JOIN, 0);
    bg_image_op(w, BG_OP_RENDER, BG_RENDER_MAKE);
    bg_image_op(w, BG_OP_APPEND, 0);
    bg_image_op(w, BG_OP_INT, bg_image_int(w, 7));
    bg_image_op(w, BG_OP_INT, bg_image_int(w, -3));
    bg_image_op(w, BG_OP_MUL, 0);
    bg_image_op(w, BG_OP_INT, bg_image_int(w, INT64_MAX));
    bg_image_op(w, BG_OP_ADD, 0);
    bg_image_op(w, BG_OP_STR, S(""));
    bg_image_op(w, BG_OP_CONCAT, 2);
    bg_image_op(w, BG_OP_APPEND, 0);
    bg_image_op(w, BG_OP_SPLICE, 0);
    return bg_image_prog_end(w, 0);
}

static inline uint32_t sample_constant(bg_image_writer *w, bg_op op, uint32_t operand)
{
    bg_image_prog_begin(w);
    bg_image_op(w, op, operand);
    return bg_image_prog_end(w, sample_span(w, 2));
}

static inline void sample_tables(bg_image_writer *w)
{
    bg_image_add(w, BG_SEC_FILE, &(bg_img_files){S("release.bgraph"), 0});
    bg_image_add(w, BG_SEC_FILE, &(bg_img_files){S("std/pgo"), 1});
    bg_img_params param = {.name = S("mode"), .type = BG_PARAM_ENUM, .doc = S("how it is\n\"built\" \\ \x01\xFF é")};
    const bg_str choices[] = {BG_STR("fast"), BG_STR("slow")};
    param.choices = bg_image_words(w, choices, 2);
    param.n_choices = 2;
    param.prog = sample_constant(w, BG_OP_STR, S("slow"));
    bg_image_add(w, BG_SEC_PARM, &param);
    bg_image_add(w, BG_SEC_ENVV, &(bg_img_envs){S("HOME"), S(""), sample_span(w, 3)});
    bg_img_tools tool = {.name = S("clang"), .program = S("clang-14"), .n_version = 1};
    const bg_str version[] = {BG_STR("--version")};
    tool.version = bg_image_words(w, version, 1);
    bg_image_add(w, BG_SEC_TOOL, &tool);
    bg_image_add(w, BG_SEC_SRCE, &(bg_img_sources){.name = S("llvm"), .dir = S(".."), .is_git = 1});
    bg_image_add(w, BG_SEC_RULE, &(bg_img_rules){.name = S("all"), .pad = 200, .elf = BG_ELF_ALL, .text = 1});
    bg_image_add(w, BG_SEC_GRUP, &(bg_img_groups){S("llvm"), S("LLVM"), 0, sample_span(w, 4)});
    bg_image_add(w, BG_SEC_GRUP, &(bg_img_groups){S("llvm/pgo"), S("PGO"), 1, sample_span(w, 5)});
}

static inline void sample_nodes(bg_image_writer *w)
{
    uint32_t all = sample_all(w), branch = sample_branch(w);
    bg_img_nodes a = {.name = S("llvm/pgo/instr"), .label = S("Build (LLVM PGO)"), .group = 2, .inputs = branch,
                      .cmds = 1, .n_cmds = 2, .prods = 1, .n_prods = 2, .outs = 1, .n_outs = 2, .works = 1, .n_works = 1,
                      .signal = BG_SIGNAL_FD, .rule = 1, .timeout_ns = bg_image_int(w, 7200000000000), .cpus = 1,
                      .span = sample_span(w, 6)};
    bg_img_nodes b = {.name = S("gather"), .label = S("Gather"), .cmds = 3, .n_cmds = 1, .prods = 3, .n_prods = 1,
                      .edges = 1, .n_edges = 2, .cpus = 4, .when = sample_constant(w, BG_OP_BOOL, 1)};
    bg_img_nodes c = {.name = S("pack"), .label = S("Pack"), .kind = BG_NODE_CRATE, .prods = 4, .n_prods = 1, .edges = 3,
                      .n_edges = 1, .cpus = 1, .no_cache = 1, .doc = S("the end")};
    bg_image_add(w, BG_SEC_NODE, &a);
    bg_image_add(w, BG_SEC_NODE, &b);
    bg_image_add(w, BG_SEC_NODE, &c);
    bg_image_add(w, BG_SEC_CMND, &(bg_img_cmds){all, 0, sample_span(w, 7)});
    bg_image_add(w, BG_SEC_CMND, &(bg_img_cmds){branch, sample_constant(w, BG_OP_OUT, 2), 0});
    bg_image_add(w, BG_SEC_CMND, &(bg_img_cmds){branch, 0, 0});
    bg_image_add(w, BG_SEC_PROD, &(bg_img_prods){1, S("link"), 0});
    bg_image_add(w, BG_SEC_PROD, &(bg_img_prods){1, S("meta"), 1});
    bg_image_add(w, BG_SEC_PROD, &(bg_img_prods){2, S("link"), 0});
    bg_image_add(w, BG_SEC_PROD, &(bg_img_prods){3, S("link"), 0});
    bg_image_add(w, BG_SEC_OUTP, &(bg_img_outs){1, S("bin"), S("usr/bin/clang"), 0, sample_span(w, 6)});
    bg_image_add(w, BG_SEC_OUTP, &(bg_img_outs){2, S("meta"), S("meta.d"), 1, 0});
    bg_image_add(w, BG_SEC_WORK, &(bg_img_works){1, S("tmp")});
    bg_image_add(w, BG_SEC_EDGE, &(bg_img_edges){2, 1, sample_span(w, 8)});
    bg_image_add(w, BG_SEC_EDGE, &(bg_img_edges){2, 2, sample_span(w, 8)});
    bg_image_add(w, BG_SEC_EDGE, &(bg_img_edges){3, 3, 0});
    bg_image_add(w, BG_SEC_DFLT, &(bg_img_defaults){3});
}

/** Append the sample to an empty buffer. */
static inline bg_status sample_image(bg_buf *out, bg_error *err)
{
    bg_image_writer *w = bg_image_writer_new();
    if (w == NULL)
        return BG_E_NOMEM;
    sample_tables(w);
    sample_nodes(w);
    bg_status status = bg_image_finish(w, out, err);
    bg_image_writer_free(w);
    return status;
}

#undef S

/* ---- a host that answers everything ---- */

static inline bg_status sample_param(void *self, uint32_t param, bg_value *out, bg_error *err)
{
    (void)self, (void)param, (void)err;
    *out = (bg_value){.kind = BG_V_STR, .str = BG_STR("fast")};
    return BG_OK;
}

static inline bg_status sample_env(void *self, uint32_t env, bg_value *out, bg_error *err)
{
    (void)self, (void)env, (void)err;
    *out = (bg_value){.kind = BG_V_STR, .str = BG_STR("/home/x")};
    return BG_OK;
}

static inline bg_status sample_machine(void *self, bg_machine fact, bg_value *out, bg_error *err)
{
    (void)self, (void)err;
    *out = fact == BG_MACHINE_JOBS ? (bg_value){.kind = BG_V_INT, .i = 8}
                                   : (bg_value){.kind = BG_V_STR, .str = BG_STR("linux")};
    return BG_OK;
}

static inline bg_status sample_path(void *self, const bg_value *path, bg_buf *out, bg_error *err)
{
    (void)self, (void)err;
    bg_buf_printf(out, "/%d.%u", (int)path->root, path->id);
    if (path->str.len != 0)
        bg_buf_putc(out, '/');
    bg_buf_str(out, path->str);
    return BG_OK;
}

static const bg_vm_host sample_host = {NULL, sample_param, sample_env, sample_machine, sample_path};

#endif
