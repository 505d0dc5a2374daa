#include "key/wildmatch.h"

#include <string.h>

/* ABORT_ALL: the text is used up, no longer run of a star can help. ABORT_TO_STARSTAR: only a `**` further out can.
 * Without the two a pattern of many stars would take exponential time. */
typedef enum { MATCH, NO_MATCH, ABORT_ALL, ABORT_TO_STARSTAR } verdict;

typedef unsigned char uchar;

static bool is_lower(uchar c)
{
    return c >= 'a' && c <= 'z';
}
static bool is_upper(uchar c)
{
    return c >= 'A' && c <= 'Z';
}
static bool is_digit(uchar c)
{
    return c >= '0' && c <= '9';
}
static bool is_alnum(uchar c)
{
    return is_lower(c) || is_upper(c) || is_digit(c);
}
static bool is_graph(uchar c)
{
    return c > 0x20 && c < 0x7f;
}

static bool in_named_class(const uchar *name, size_t n, uchar c, bool *known)
{
    static const char *const names[] = {"alnum", "alpha", "blank", "cntrl", "digit", "graph",
                                        "lower", "print", "punct", "space", "upper", "xdigit"};
    size_t i = 0;
    while (i < sizeof names / sizeof *names && (strlen(names[i]) != n || memcmp(names[i], name, n) != 0))
        i++;
    *known = true;
    switch (i) {
    case 0:
        return is_alnum(c);
    case 1:
        return is_lower(c) || is_upper(c);
    case 2:
        return c == ' ' || c == '\t';
    case 3:
        return c < 0x20 || c == 0x7f;
    case 4:
        return is_digit(c);
    case 5:
        return is_graph(c);
    case 6:
        return is_lower(c);
    case 7:
        return c == ' ' || is_graph(c);
    case 8:
        return is_graph(c) && !is_alnum(c);
    case 9:
        return c == ' ' || (c >= '\t' && c <= '\r');
    case 10:
        return is_upper(c);
    case 11:
        return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    default:
        *known = false;
        return false;
    }
}

/* `*pp` is behind '['; on return at the closing ']'. False in *ok: the bracket is broken. */
static bool in_bracket(const uchar **pp, uchar c, bool *ok)
{
    const uchar *p = *pp;
    bool negate = *p == '!' || *p == '^', hit = false;
    uchar prev = 0;
    *ok = false;
    if (negate)
        p++;
    for (bool first = true; first || *p != ']'; first = false, p++) {
        uchar ch = *p;
        if (ch == '\0')
            return false;
        if (ch == '[' && p[1] == ':') {
            const uchar *name = p + 2, *end = name;
            while (*end != '\0' && *end != ']')
                end++;
            if (*end == '\0')
                return false;
            if (end > name && end[-1] == ':') {
                bool known;
                hit |= in_named_class(name, (size_t)(end - 1 - name), c, &known);
                if (!known)
                    return false;
                p = end;
                prev = 0;
                continue;
            }
        }
        if (ch == '-' && prev != 0 && p[1] != '\0' && p[1] != ']') {
            ch = *++p;
            if (ch == '\\' && (ch = *++p) == '\0')
                return false;
            hit |= c >= prev && c <= ch;
            prev = 0;
            continue;
        }
        if (ch == '\\' && (ch = *++p) == '\0')
            return false;
        hit |= c == ch;
        prev = ch;
    }
    *pp = p;
    *ok = true;
    return hit != negate && c != '/';
}

static verdict match(const uchar *begin, const uchar *p, const uchar *t);

/* `p` is at a '*'. `*done`: the verdict is the answer; else go on with *pp and *tt. */
static verdict match_star(const uchar *begin, const uchar **pp, const uchar **tt, bool *done)
{
    const uchar *p = *pp, *t = *tt, *star = p;
    bool crosses = false;
    *done = true;
    p++;
    if (*p == '*') {
        while (*p == '*')
            p++;
        bool opens = star == begin || star[-1] == '/';
        bool closes = *p == '\0' || *p == '/' || (p[0] == '\\' && p[1] == '/');
        if (opens && closes) {
            if (*p == '/' && match(begin, p + 1, t) == MATCH)
                return MATCH;
            crosses = true;
        }
    }
    const uchar *slash = (const uchar *)strchr((const char *)t, '/');
    if (*p == '\0')
        return crosses || slash == NULL ? MATCH : ABORT_TO_STARSTAR;
    if (!crosses && *p == '/') {
        if (slash == NULL)
            return ABORT_ALL;
        *pp = p + 1;
        *tt = slash + 1;
        *done = false;
        return NO_MATCH;
    }
    for (; *t != '\0'; t++) {
        verdict v = match(begin, p, t);
        if (v != NO_MATCH && (!crosses || v != ABORT_TO_STARSTAR))
            return v;
        if (v == NO_MATCH && !crosses && *t == '/')
            return ABORT_TO_STARSTAR;
    }
    return ABORT_ALL;
}

static verdict match(const uchar *begin, const uchar *p, const uchar *t)
{
    while (*p != '\0') {
        if (*t == '\0' && *p != '*')
            return ABORT_ALL;
        if (*p == '*') {
            bool done;
            verdict v = match_star(begin, &p, &t, &done);
            if (done)
                return v;
            continue;
        }
        if (*p == '[') {
            bool ok;
            p++;
            if (!in_bracket(&p, *t, &ok))
                return ok ? NO_MATCH : ABORT_ALL;
        } else if (*p == '?') {
            if (*t == '/')
                return NO_MATCH;
        } else {
            if (*p == '\\')
                p++;
            if (*p != *t)
                return NO_MATCH;
        }
        p++;
        t++;
    }
    return *t == '\0' ? MATCH : NO_MATCH;
}

bool bg_wildmatch(const char *pattern, const char *text)
{
    const uchar *p = (const uchar *)pattern;
    return match(p, p, (const uchar *)text) == MATCH;
}
