#include "cache/record.h"

#include <jansson.h>
#include <stdio.h>

static const char head[] = "bgc-entry 1 ";
enum { HEAD = sizeof head - 1, LINE = HEAD + 64 + 1 };

/* Names and paths may hold any byte but NUL; JSON holds Unicode. Bytes that are no UTF-8, and '%', are written as %XX. */
static void put_bytes(bg_buf *out, bg_str s)
{
    bg_buf plain = {0};
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c == '%' || c >= 0x80 || c < 0x20)
            bg_buf_printf(&plain, "%%%02X", c);
        else
            bg_buf_putc(&plain, (char)c);
    }
    out->failed |= plain.failed;
    bg_buf_json(out, bg_buf_view(&plain));
    bg_buf_clear(&plain);
}

static void put_digest(bg_buf *out, const char *key, const bg_digest *d)
{
    char hex[65];
    bg_digest_hex(d, hex);
    bg_buf_printf(out, "\"%s\":\"%s\",", key, hex);
}

static void put_key(bg_buf *out, const char *key, bg_str value)
{
    bg_buf_printf(out, "\"%s\":", key);
    put_bytes(out, value);
    bg_buf_putc(out, ',');
}

bg_status bg_record_write(bg_buf *out, const bg_cache_entry *e, bg_error *err)
{
    bg_buf body = {0};
    bg_buf_putc(&body, '{');
    put_digest(&body, "key", &e->key);
    put_digest(&body, "artifact", &e->artifact);
    put_key(&body, "node", e->node);
    put_key(&body, "label", e->label);
    put_key(&body, "commit", e->commit);
    bg_buf_printf(&body, "\"made\":%lld,\"wall_ns\":%llu,\"size\":%llu,\"packed\":%llu,\"pinned\":%s,\"prefixes\":[",
                  (long long)e->made_unix_s, (unsigned long long)e->wall_ns, (unsigned long long)e->size_bytes,
                  (unsigned long long)e->packed_bytes, e->pinned ? "true" : "false");
    for (size_t i = 0; i < e->n_prefixes; i++) {
        bg_buf_puts(&body, i == 0 ? "[" : ",[");
        put_bytes(&body, e->prefixes[i].token);
        bg_buf_putc(&body, ',');
        put_bytes(&body, e->prefixes[i].path);
        bg_buf_putc(&body, ']');
    }
    bg_buf_puts(&body, "],\"outputs\":[");
    for (size_t i = 0; i < e->n_outputs; i++) {
        bg_buf_puts(&body, i == 0 ? "{" : ",{");
        put_digest(&body, "digest", &e->outputs[i].digest);
        put_key(&body, "name", e->outputs[i].name);
        put_key(&body, "path", e->outputs[i].path);
        bg_buf_printf(&body, "\"dir\":%s}", e->outputs[i].is_dir ? "true" : "false");
    }
    bg_buf_puts(&body, "]}\n");
    bg_digest sum = {{0}};
    bg_status status = body.failed ? bg_error_set(err, BG_E_NOMEM, "out of memory while writing a record")
                                   : bg_sha256_of(body.data, body.len, &sum, err);
    if (status == BG_OK) {
        char hex[65];
        bg_digest_hex(&sum, hex);
        bg_buf_printf(out, "%s%s\n", head, hex);
        bg_buf_put(out, body.data, body.len);
    }
    bg_buf_clear(&body);
    return status;
}

static bool get_bytes(const json_t *v, bg_arena *arena, bg_str *out)
{
    if (!json_is_string(v))
        return false;
    const char *s = json_string_value(v);
    size_t len = json_string_length(v), n = 0;
    char *copy = bg_arena_strdup(arena, s, len);
    for (size_t i = 0; copy != NULL && i < len; i++) {
        unsigned c = (unsigned char)s[i];
        if (c == '%') {
            if (i + 2 >= len || sscanf(s + i + 1, "%2X", &c) != 1 || c == 0)
                return false;
            i += 2;
        }
        copy[n++] = (char)c;
    }
    if (copy == NULL)
        return false;
    copy[n] = '\0';
    *out = (bg_str){copy, n};
    return true;
}

static bool get_digest(const json_t *v, bg_digest *out)
{
    return json_is_string(v) && bg_digest_parse(out, json_string_value(v), json_string_length(v));
}

static bool get_number(const json_t *v, uint64_t *out)
{
    *out = json_is_integer(v) ? (uint64_t)json_integer_value(v) : 0;
    return json_is_integer(v) && json_integer_value(v) >= 0;
}

static bool get_prefixes(const json_t *list, bg_arena *arena, bg_cache_entry *e)
{
    size_t n = json_array_size(list);
    bg_prefix *prefixes = BG_ARENA_ARRAY(arena, n + 1, bg_prefix);
    if (!json_is_array(list) || prefixes == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        const json_t *pair = json_array_get(list, i);
        if (!get_bytes(json_array_get(pair, 0), arena, &prefixes[i].token) ||
            !get_bytes(json_array_get(pair, 1), arena, &prefixes[i].path))
            return false;
    }
    e->prefixes = prefixes;
    e->n_prefixes = n;
    return true;
}

static bool get_outputs(const json_t *list, bg_arena *arena, bg_cache_entry *e)
{
    size_t n = json_array_size(list);
    e->outputs = BG_ARENA_ARRAY(arena, n + 1, bg_cache_output);
    if (!json_is_array(list) || e->outputs == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        const json_t *o = json_array_get(list, i);
        bg_cache_output *out = &e->outputs[i];
        if (!get_digest(json_object_get(o, "digest"), &out->digest) || !get_bytes(json_object_get(o, "name"), arena, &out->name) ||
            !get_bytes(json_object_get(o, "path"), arena, &out->path) || !json_is_boolean(json_object_get(o, "dir")))
            return false;
        out->is_dir = json_is_true(json_object_get(o, "dir"));
    }
    e->n_outputs = n;
    return true;
}

static bool get_entry(const json_t *v, bg_arena *arena, bg_cache_entry *e)
{
    uint64_t made = 0;
    bool ok = get_digest(json_object_get(v, "key"), &e->key) && get_digest(json_object_get(v, "artifact"), &e->artifact) &&
              get_bytes(json_object_get(v, "node"), arena, &e->node) &&
              get_bytes(json_object_get(v, "label"), arena, &e->label) &&
              get_bytes(json_object_get(v, "commit"), arena, &e->commit) && get_number(json_object_get(v, "made"), &made) &&
              get_number(json_object_get(v, "wall_ns"), &e->wall_ns) &&
              get_number(json_object_get(v, "size"), &e->size_bytes) &&
              get_number(json_object_get(v, "packed"), &e->packed_bytes) && json_is_boolean(json_object_get(v, "pinned")) &&
              get_prefixes(json_object_get(v, "prefixes"), arena, e) &&
              get_outputs(json_object_get(v, "outputs"), arena, e);
    e->made_unix_s = (int64_t)made;
    e->pinned = json_is_true(json_object_get(v, "pinned"));
    return ok;
}

bg_status bg_record_read(bg_cache_entry *out, bg_str text, bg_arena *arena, bg_error *err)
{
    *out = (bg_cache_entry){0};
    bg_digest said, sum;
    if (text.len < LINE || memcmp(text.ptr, head, HEAD) != 0)
        return bg_error_set(err, BG_E_CORRUPT, "it does not begin as a record does");
    if (!bg_digest_parse(&said, text.ptr + HEAD, 64) || text.ptr[LINE - 1] != '\n')
        return bg_error_set(err, BG_E_CORRUPT, "its first line is damaged");
    BG_TRY(bg_sha256_of(text.ptr + LINE, text.len - LINE, &sum, err));
    if (!bg_digest_eq(&said, &sum))
        return bg_error_set(err, BG_E_CORRUPT, "its checksum is wrong");
    json_t *v = json_loadb(text.ptr + LINE, text.len - LINE, JSON_REJECT_DUPLICATES, NULL);
    bool ok = json_is_object(v) && get_entry(v, arena, out);
    json_decref(v);
    return ok ? BG_OK : bg_error_set(err, BG_E_CORRUPT, "a field is missing or has another type");
}
