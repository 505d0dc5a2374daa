/** Compiling texts that exist in memory only. */
#ifndef BG_TEST_COMPILE_UTIL_H
#define BG_TEST_COMPILE_UTIL_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bgraph/image.h"
#include "bgraph/session.h"

typedef struct {
    const char *path, *text;
} test_file;

/* A small std, enough for the language's own needs. */
static const char test_rust[] =
    "bgraph 1\n"
    "tool rustc { program = \"rustc\" version = [\"-vV\"] }\n"
    "template crate(root: path, kind: enum[\"lib\", \"proc-macro\", \"bin\"] = \"lib\", deps: list[node] = []) {\n"
    "  provide kind = kind\n"
    "  provide closure = unique([..d.closure for d in deps] + deps)\n"
    "  let is-lib = kind == \"lib\"\n"
    "  run = [rustc, \"--crate-name\", replace(self.name, \"-\", \"_\"), root, \"--crate-type\", kind,\n"
    "         ..[..[\"--extern\", \"{d.name}={d.lib}\"] for d in deps], \"-o\", out.lib]\n"
    "  in = [if is-lib and has(d, \"meta\") then d.meta else d.link for d in self.closure]\n"
    "  signal = rustc-json\n"
    "  out early meta : file = \"lib{self.name}.rmeta\" when is-lib\n"
    "  out lib : file = if is-lib then \"lib{self.name}.rlib\" else self.name\n"
    "}\n";

static bg_status test_read(void *self, bg_str path, bg_buf *out, bg_error *err)
{
    for (const test_file *f = self; f != NULL && f->path != NULL; f++)
        if (bg_str_is(path, f->path)) {
            bg_buf_puts(out, f->text);
            return BG_OK;
        }
    if (bg_str_is(path, "/std/rust.bgraph")) {
        bg_buf_puts(out, test_rust);
        return BG_OK;
    }
    return bg_error_set(err, BG_E_NOENT, "There is no such file.");
}

/* Compile `text` as /w/main.bgraph; free the session with bg_session_free. */
static inline bg_session *test_session(const test_file *files, const bg_session_define *defines, size_t n_defines)
{
    union {
        const test_file *in;
        void *out;
    } self = {files};
    bg_session_options options = {BG_STR("/std"), defines, n_defines, test_read, self.out};
    bg_session *session = bg_session_new(&options);
    assert_non_null(session);
    return session;
}

static inline void test_show(const bg_session *session, const char *text)
{
    uint32_t n;
    const bg_source *const *sources = bg_session_sources(session, &n);
    bg_buf buf = {0};
    bg_diags_render_text(bg_session_diags(session), sources, n, (bg_diag_style){0}, &buf);
    print_error("of:\n%s\n%s\n", text, bg_buf_cstr(&buf));
    bg_buf_clear(&buf);
}

#endif
