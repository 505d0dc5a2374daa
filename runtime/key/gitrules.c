#include "key/gitrules.h"

#include <string.h>

#include "key/wildmatch.h"

void bg_git_rules_clear(bg_git_rules *rules)
{
    BG_VEC_CLEAR(&rules->at);
    bg_arena_clear(&rules->arena);
}

static size_t literal_len(const char *text)
{
    return strcspn(text, "*?[\\");
}

/* `text` without '!'. */
static bool add_rule(bg_git_rules *rules, bg_str text, bg_str dir, bool is_negative)
{
    bg_git_rule r = {.is_negative = is_negative, .base = dir.len == 0 ? 0 : dir.len + 1};
    if (text.len != 0 && text.ptr[text.len - 1] == '/') {
        r.is_dir_only = true;
        text.len--;
    }
    r.is_name_only = text.len == 0 || memchr(text.ptr, '/', text.len) == NULL;
    if (text.len != 0 && text.ptr[0] == '/')
        text = (bg_str){text.ptr + 1, text.len - 1};
    if (text.len == 0)
        return true;
    r.text = bg_arena_strdup(&rules->arena, text.ptr, text.len);
    if (r.text == NULL)
        return false;
    r.len = text.len;
    r.literal = literal_len(r.text);
    return BG_VEC_PUSH(&rules->at, r);
}

/* Trailing blanks go, unless a backslash stands before them. */
static bg_str trim_blanks(bg_str s)
{
    size_t keep = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '\\') {
            i++;
            if (i >= s.len)
                return s;
            keep = i + 1;
        } else if (s.ptr[i] != ' ') {
            keep = i + 1;
        }
    }
    return (bg_str){s.ptr, keep};
}

static bool next_line(bg_str *text, bg_str *line)
{
    if (text->len == 0)
        return false;
    const char *nl = memchr(text->ptr, '\n', text->len);
    size_t n = nl == NULL ? text->len : (size_t)(nl - text->ptr);
    *line = (bg_str){text->ptr, n};
    size_t step = nl == NULL ? n : n + 1;
    *text = (bg_str){text->ptr + step, text->len - step};
    if (line->len != 0 && line->ptr[line->len - 1] == '\r')
        line->len--;
    const char *nul = line->len == 0 ? NULL : memchr(line->ptr, '\0', line->len);
    if (nul != NULL)
        line->len = (size_t)(nul - line->ptr);
    return true;
}

static bg_str skip_bom(bg_str text)
{
    return bg_str_starts(text, BG_STR("\xef\xbb\xbf")) ? (bg_str){text.ptr + 3, text.len - 3} : text;
}

bool bg_git_rules_ignore(bg_git_rules *rules, bg_str text, bg_str dir)
{
    bg_str line;
    text = skip_bom(text);
    while (next_line(&text, &line)) {
        if (line.len == 0 || line.ptr[0] == '#')
            continue;
        line = trim_blanks(line);
        bool is_negative = line.len != 0 && line.ptr[0] == '!';
        if (is_negative)
            line = (bg_str){line.ptr + 1, line.len - 1};
        if (line.len != 0 && !add_rule(rules, line, dir, is_negative))
            return false;
    }
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bg_str next_word(bg_str *line)
{
    size_t i = 0, n;
    while (i < line->len && is_blank(line->ptr[i]))
        i++;
    for (n = i; n < line->len && !is_blank(line->ptr[n]);)
        n++;
    bg_str word = {line->ptr + i, n - i};
    *line = (bg_str){line->ptr + n, line->len - n};
    return word;
}

/* Set, or set to a value, to something that may change bytes. '-' and '!' can't. */
static bool converts(bg_str attr)
{
    static const char *const names[] = {"text", "crlf", "eol", "ident", "filter", "working-tree-encoding"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bg_str name = bg_str_of(names[i]);
        if (bg_str_starts(attr, name) && (attr.len == name.len || attr.ptr[name.len] == '='))
            return true;
    }
    return false;
}

static bool any_converts(bg_str attrs)
{
    for (bg_str word; (word = next_word(&attrs)).len != 0;)
        if (converts(word))
            return true;
    return false;
}

bool bg_git_rules_attributes(bg_git_rules *rules, bg_str text, bg_str dir)
{
    bg_str line;
    text = skip_bom(text);
    while (next_line(&text, &line)) {
        bg_str attrs = line, pattern = next_word(&attrs);
        if (pattern.len == 0 || pattern.ptr[0] == '#')
            continue;
        /* A macro may be set anywhere by its name, and a quoted pattern is rare: both count for every file below. */
        bool is_wide = bg_str_starts(pattern, BG_STR("[attr]")) || pattern.ptr[0] == '"';
        if (!any_converts(attrs) || pattern.ptr[pattern.len - 1] == '/')
            continue;
        if (!add_rule(rules, is_wide ? BG_STR("*") : pattern, dir, false))
            return false;
    }
    return true;
}

static bool rule_matches(const bg_git_rule *r, const char *path, size_t path_len, const char *name)
{
    if (r->is_name_only) {
        if (r->literal == r->len)
            return strcmp(r->text, name) == 0;
        return bg_wildmatch(r->text, name);
    }
    if (path_len < r->base)
        return false;
    const char *below = path + r->base;
    if (strncmp(r->text, below, r->literal) != 0)
        return false;
    if (r->literal == r->len)
        return below[r->literal] == '\0';
    return bg_wildmatch(r->text + r->literal, below + r->literal); /* git cuts the literal part too */
}

int bg_git_rules_match(const bg_git_rules *rules, const char *path, bool is_dir)
{
    size_t len = strlen(path);
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    for (size_t i = rules->at.n; i-- > 0;) {
        const bg_git_rule *r = &rules->at.at[i];
        if ((is_dir || !r->is_dir_only) && rule_matches(r, path, len, name))
            return r->is_negative ? 0 : 1;
    }
    return -1;
}
