/* The whole pipeline on arbitrary text: no crash, an image that the verifier takes, the same bytes twice. A line `#file NAME` starts
 * another file that the first may use. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bgraph/image.h"
#include "bgraph/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char rust[] = "bgraph 1\n"
                           "tool rustc { program = \"rustc\" version = [\"-vV\"] }\n"
                           "template crate(root: path, kind: enum[\"lib\", \"bin\"] = \"lib\", deps: list[node] = []) {\n"
                           "  provide closure = unique([..d.closure for d in deps] + deps)\n"
                           "  run = [rustc, root, \"--crate-type\", kind, ..[..[\"--extern\", \"{d.name}={d.lib}\"] for d in deps]]\n"
                           "  in = [if has(d, \"meta\") then d.meta else d.link for d in self.closure]\n"
                           "  signal = rustc-json\n"
                           "  out early meta : file = \"{self.name}.rmeta\" when kind == \"lib\"\n"
                           "  out lib : file\n"
                           "}\n";
static const char pgo[] = "bgraph 1\nparam level : int = 2\nlet flag = \"-O{level}\"\n"
                          "template generate(dir: path) { env { CFLAGS = \"{flag} -fprofile-generate={dir}\" } }\n"
                          "stage probe { run = [\"cc\", flag] out log : file }\n";

static bg_str file_of(bg_str all, bg_str name)
{
    static const char mark[] = "#file ";
    for (size_t i = 0; i + sizeof mark + name.len <= all.len; i++) {
        bg_str rest = {all.ptr + i, all.len - i};
        if (!bg_str_starts(rest, BG_STR(mark)) || !bg_str_starts((bg_str){rest.ptr + sizeof mark - 1, rest.len - sizeof mark + 1}, name))
            continue;
        size_t at = i + sizeof mark - 1 + name.len;
        if (all.ptr[at] == '\n')
            return (bg_str){all.ptr + at + 1, all.len - at - 1};
    }
    return (bg_str){NULL, 0};
}

static bg_status read_file(void *self, bg_str path, bg_buf *out, bg_error *err)
{
    const bg_str *all = self;
    bg_str text = bg_str_is(path, "/w/main.bgraph")    ? *all
                  : bg_str_is(path, "/std/rust.bgraph") ? BG_STR(rust)
                  : bg_str_is(path, "/std/pgo.bgraph")  ? BG_STR(pgo)
                  : bg_str_starts(path, BG_STR("/w/"))  ? file_of(*all, (bg_str){path.ptr + 3, path.len - 3})
                                                        : (bg_str){NULL, 0};
    if (text.ptr == NULL)
        return bg_error_set(err, BG_E_NOENT, "There is no such file.");
    bg_buf_str(out, text);
    return BG_OK;
}

static bg_status compile(const bg_str *text, bg_buf *image)
{
    static const bg_session_define define = {{"fuzz", 4}, {"1", 1}};
    union {
        const bg_str *in;
        void *out;
    } self = {text};
    bool defines = text->len % 2 != 0;
    bg_session_options options = {BG_STR("/std"), &define, defines, read_file, self.out};
    bg_session *session = bg_session_new(&options);
    bg_error err = {0};
    bg_status status = bg_session_compile(session, BG_STR("/w/main.bgraph"), image, &err);
    uint32_t n;
    const bg_source *const *sources = bg_session_sources(session, &n);
    const bg_diags *diags = bg_session_diags(session);
    if (status != BG_OK && status != BG_E_DIAGNOSED && status != BG_E_LIMIT) {
        fprintf(stderr, "%s: %s\n", bg_status_name(status), err.text);
        abort();
    }
    if ((status == BG_E_DIAGNOSED) != (diags->n_errors != 0))
        abort();
    bg_buf shown = {0};
    bg_diags_render_text(diags, sources, n, (bg_diag_style){0}, &shown);
    bg_buf_clear(&shown);
    bg_session_free(session);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bg_str text = {(const char *)data, size};
    bg_buf image = {0}, again = {0};
    bg_status status = compile(&text, &image);
    if (status == BG_OK) {
        if (compile(&text, &again) != BG_OK || again.len != image.len || memcmp(again.data, image.data, image.len) != 0)
            abort();
        bg_graph graph;
        bg_error err = {0};
        if (bg_graph_load(&graph, image.data, image.len, &err) != BG_OK) {
            fprintf(stderr, "refused: %s\n", err.text);
            abort();
        }
    }
    bg_buf_clear(&image);
    bg_buf_clear(&again);
    return 0;
}
