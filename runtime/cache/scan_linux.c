#include "cache/scan.h"

#include <string.h>

const char *const bg_place_names[BG_PLACE_COUNT] = {"text", "shebang", "string", "rpath", "interp", "link"};

bg_status bg_scanner_init(bg_scanner *s, const bg_prefix *prefixes, size_t n, bg_error *err)
{
    *s = (bg_scanner){.at = prefixes, .n = n};
    if (n > sizeof s->order / sizeof s->order[0])
        return bg_error_set(err, BG_E_LIMIT, "%zu prefixes are too many; at most 64", n);
    for (size_t i = 0; i < n; i++) {
        bg_str p = prefixes[i].path;
        if (p.len < 2 || p.ptr[0] != '/' || p.ptr[p.len - 1] == '/')
            return bg_error_set(err, BG_E_USAGE, "the prefix \"%.*s\" is not an absolute path below /", BG_FMT(p));
        size_t at = i;
        while (at != 0 && prefixes[s->order[at - 1]].path.len < p.len) {
            s->order[at] = s->order[at - 1];
            at--;
        }
        s->order[at] = i;
    }
    for (size_t i = 0; i < n; i++) {
        bool covered = false;
        for (size_t j = 0; j < n && !covered; j++) {
            bg_str a = prefixes[j].path, b = prefixes[i].path;
            covered = j != i && bg_str_starts(b, a) && (a.len < b.len || j < i);
        }
        if (!covered)
            s->roots[s->n_roots++] = i;
    }
    return BG_OK;
}

static bool is_word(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
}

static bool is_name(unsigned char c)
{
    return is_word(c) || c == '.' || c == '-' || c == '+' || c == '@' || c == '~' || c == '%';
}

/* A component ends at `end`: nothing there continues the name. "/p." at the end of a sentence does, "/p.old" does not. */
static bool ends_well(const char *bytes, size_t n, size_t end)
{
    while (end < n && !is_word((unsigned char)bytes[end]) && is_name((unsigned char)bytes[end]))
        end++;
    return end >= n || !is_word((unsigned char)bytes[end]);
}

/* The path does not begin earlier: "-I/p" and "file:///p" are occurrences of /p, "/home/p" is none. */
static bool begins_well(const char *bytes, size_t at)
{
    size_t i = at;
    while (i != 0 && bytes[i - 1] == '/')
        i--;
    if (i != 0 && bytes[i - 1] == '.')
        return false; /* "../p" */
    size_t limit = i > 4096 ? i - 4096 : 0;
    while (i > limit && is_name((unsigned char)bytes[i - 1]))
        i--;
    return i == 0 || bytes[i - 1] != '/';
}

static const bg_prefix *match_at(const bg_scanner *s, const char *bytes, size_t n, size_t at, uint32_t *index)
{
    for (size_t k = 0; k < s->n; k++) {
        const bg_prefix *p = &s->at[s->order[k]];
        if (p->path.len <= n - at && memcmp(bytes + at, p->path.ptr, p->path.len) == 0 &&
            ends_well(bytes, n, at + p->path.len)) {
            *index = (uint32_t)s->order[k];
            return p;
        }
    }
    return NULL;
}

static int by_offset(const void *a, const void *b)
{
    const bg_hit *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static bg_status nomem(bg_error *err)
{
    return bg_error_set(err, BG_E_NOMEM, "out of memory while looking for prefixes");
}

static bg_status scan_root(const bg_scanner *s, bg_str root, const char *bytes, size_t n, bg_hits *out, bg_error *err)
{
    size_t at = 0;
    while (at < n) {
        const char *p = memmem(bytes + at, n - at, root.ptr, root.len);
        if (p == NULL)
            return BG_OK;
        at = (size_t)(p - bytes);
        uint32_t index = 0;
        const bg_prefix *prefix = begins_well(bytes, at) ? match_at(s, bytes, n, at, &index) : NULL;
        if (prefix == NULL) {
            at++;
            continue;
        }
        bg_hit hit = {at, at, at + prefix->path.len, (uint32_t)prefix->path.len, index, BG_PLACE_TEXT};
        if (!BG_VEC_PUSH(out, hit))
            return nomem(err);
        at += prefix->path.len;
    }
    return BG_OK;
}

static void find_strings(const char *bytes, size_t n, bg_hits *hits)
{
    for (size_t i = 0; i < hits->n; i++) {
        bg_hit *h = &hits->at[i];
        const char *end = memchr(bytes + h->offset, 0, n - h->offset);
        size_t start = h->offset;
        size_t low = i != 0 && hits->at[i - 1].end > 0 ? hits->at[i - 1].offset : 0;
        while (start > low && bytes[start - 1] != '\0')
            start--;
        h->start = i != 0 && start == low && low != 0 ? hits->at[i - 1].start : start;
        h->end = end == NULL ? n : (size_t)(end - bytes);
        h->kind = BG_PLACE_STRING;
    }
}

bg_status bg_scan_bytes(const bg_scanner *s, const char *bytes, size_t n, bg_hits *out, bg_error *err)
{
    for (size_t r = 0; r < s->n_roots; r++)
        BG_TRY(scan_root(s, s->at[s->roots[r]].path, bytes, n, out, err));
    if (s->n_roots > 1 && out->n > 1)
        qsort(out->at, out->n, sizeof *out->at, by_offset);
    if (out->n != 0 && memchr(bytes, 0, n) != NULL)
        find_strings(bytes, n, out);
    return BG_OK;
}

static void mark_shebang(const char *bytes, size_t n, bg_hits *hits)
{
    if (n < 3 || bytes[0] != '#' || bytes[1] != '!')
        return;
    const char *eol = memchr(bytes, '\n', n);
    size_t end = eol == NULL ? n : (size_t)(eol - bytes);
    for (size_t i = 0; i < hits->n && hits->at[i].offset < end; i++) {
        if (hits->at[i].kind == BG_PLACE_TEXT) {
            hits->at[i].kind = BG_PLACE_SHEBANG;
            hits->at[i].start = 0;
            hits->at[i].end = end;
        }
    }
}

static void mark_elf(const char *bytes, size_t n, bg_hits *hits)
{
    bg_elf_string strings[16];
    size_t n_strings = bg_elf_strings(bytes, n, strings, 16);
    for (size_t k = 0; k < n_strings; k++) {
        const bg_elf_string *s = &strings[k];
        for (size_t i = 0; i < hits->n; i++) {
            bg_hit *h = &hits->at[i];
            if (h->offset < s->offset || h->offset + h->len > s->offset + s->len)
                continue;
            if (s->kind == BG_PLACE_INTERP) {
                h->kind = BG_PLACE_INTERP;
            } else if (!s->shared) {
                h->kind = BG_PLACE_RPATH;
                h->start = s->offset;
                h->end = s->offset + s->len;
            }
        }
    }
}

/* UTF-16, either order: found, told, not patched. */
static bg_status find_wide(const bg_scanner *s, const char *bytes, size_t n, uint64_t *opaque, bg_error *err)
{
    for (size_t r = 0; r < s->n_roots && *opaque == 0; r++) {
        bg_str p = s->at[s->roots[r]].path;
        char *wide = calloc(p.len, 2);
        if (wide == NULL)
            return nomem(err);
        for (size_t i = 0; i < p.len; i++)
            wide[2 * i] = p.ptr[i];
        const char *hit = memmem(bytes, n, wide, 2 * p.len - 1);
        if (hit != NULL)
            *opaque = (uint64_t)(hit - bytes) + 1;
        free(wide);
    }
    return BG_OK;
}

bg_status bg_scan_file(const bg_scanner *s, const char *bytes, size_t n, bg_hits *out, uint64_t *opaque, bg_error *err)
{
    *opaque = 0;
    out->n = 0;
    BG_TRY(bg_scan_bytes(s, bytes, n, out, err));
    if (out->n != 0) {
        mark_shebang(bytes, n, out);
        if (n > 4 && memcmp(bytes, "\177ELF", 4) == 0)
            mark_elf(bytes, n, out);
    }
    if (n != 0 && memchr(bytes, 0, n) != NULL)
        return find_wide(s, bytes, n, opaque, err);
    return BG_OK;
}

/* Where matching goes on when it fails: pattern position behind the last star, and text position that it may be moved on from. */
typedef struct {
    size_t p, t;
    bool there, whole_names; /* whole_names: a double star with a slash, which stands for directories */
} retry;

static bool try_deep(retry *deep, bg_str path, size_t *p, size_t *t)
{
    if (!deep->there || deep->t >= path.len)
        return false;
    if (deep->whole_names) {
        const char *slash = memchr(path.ptr + deep->t, '/', path.len - deep->t);
        if (slash == NULL)
            return false;
        deep->t = (size_t)(slash - path.ptr) + 1;
    } else {
        deep->t++;
    }
    *p = deep->p;
    *t = deep->t;
    return true;
}

bool bg_glob_match(bg_str pattern, bg_str path)
{
    size_t p = 0, t = 0;
    retry star = {0}, deep = {0};
    while (t < path.len || p < pattern.len) {
        if (p + 1 < pattern.len && pattern.ptr[p] == '*' && pattern.ptr[p + 1] == '*') {
            p += 2;
            bool names = p < pattern.len && pattern.ptr[p] == '/' && (t == 0 || path.ptr[t - 1] == '/');
            p += names;
            deep = (retry){p, t, true, names};
            star.there = false;
        } else if (p < pattern.len && pattern.ptr[p] == '*') {
            star = (retry){++p, t, true, false};
        } else if (p < pattern.len && t < path.len &&
                   (pattern.ptr[p] == path.ptr[t] || (pattern.ptr[p] == '?' && path.ptr[t] != '/'))) {
            p++;
            t++;
        } else if (star.there && star.t < path.len && path.ptr[star.t] != '/') {
            p = star.p;
            t = ++star.t;
        } else {
            star.there = false;
            if (!try_deep(&deep, path, &p, &t))
                return false;
        }
    }
    return true;
}
