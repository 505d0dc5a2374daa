/* What a process says about itself while it runs: rustc's JSON lines and names on the signal pipe. */
#include <jansson.h>
#include <string.h>

#include "exec/exec.h"

static bg_str json_str(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    if (!json_is_string(v))
        return (bg_str){"", 0};
    return (bg_str){json_string_value(v), json_string_length(v)};
}

/* dir '/' rel == path, without making the joined string. */
static bool joins_to(bg_str dir, bg_str rel, bg_str path)
{
    if (dir.len > 0 && dir.ptr[dir.len - 1] == '/')
        dir.len--;
    return path.len == dir.len + 1 + rel.len && bg_str_starts(path, dir) && path.ptr[dir.len] == '/' &&
           bg_str_eq((bg_str){path.ptr + dir.len + 1, rel.len}, rel);
}

static bool is_output(bg_str artifact, bg_str cwd, bg_str out_dir, bg_str rel)
{
    if (artifact.len > 0 && artifact.ptr[0] == '/')
        return joins_to(out_dir, rel, artifact);
    while (bg_str_starts(artifact, BG_STR("./")))
        artifact = (bg_str){artifact.ptr + 2, artifact.len - 2};
    bg_buf whole = {0};
    bg_buf_str(&whole, cwd);
    bg_buf_putc(&whole, '/');
    bg_buf_str(&whole, artifact);
    bool same = !whole.failed && joins_to(out_dir, rel, bg_buf_view(&whole));
    bg_buf_clear(&whole);
    return same;
}

static size_t find_artifact(const json_t *line, bg_str cwd, bg_str out_dir, const bg_cache_output *outputs, size_t n)
{
    bg_str artifact = json_str(line, "artifact");
    for (size_t i = 0; artifact.len > 0 && i < n; i++) {
        if (is_output(artifact, cwd, out_dir, outputs[i].path))
            return i;
    }
    return SIZE_MAX;
}

bg_status bg_signal_rustc_line(bg_str line, bg_str cwd, bg_str out_dir, const bg_cache_output *outputs,
                               size_t n_outputs, bg_buf *shown, size_t *output)
{
    *output = SIZE_MAX;
    json_t *root = line.len > 0 && line.ptr[0] == '{' ? json_loadb(line.ptr, line.len, JSON_ALLOW_NUL, NULL) : NULL;
    bool is_message = json_object_get(root, "$message_type") != NULL || json_object_get(root, "artifact") != NULL ||
                      json_object_get(root, "rendered") != NULL;
    if (!json_is_object(root) || !is_message) {
        bg_buf_str(shown, line);
        bg_buf_putc(shown, '\n');
    } else {
        *output = find_artifact(root, cwd, out_dir, outputs, n_outputs);
        bg_str rendered = json_str(root, "rendered");
        bg_buf_str(shown, rendered);
        if (rendered.len > 0 && rendered.ptr[rendered.len - 1] != '\n')
            bg_buf_putc(shown, '\n');
    }
    json_decref(root);
    return shown->failed ? BG_E_NOMEM : BG_OK;
}

size_t bg_signal_fd_line(bg_str line, const bg_cache_output *outputs, size_t n_outputs)
{
    if (line.len > 0 && line.ptr[line.len - 1] == '\r')
        line.len--;
    for (size_t i = 0; i < n_outputs; i++) {
        if (bg_str_eq(line, outputs[i].name))
            return i;
    }
    return SIZE_MAX;
}
