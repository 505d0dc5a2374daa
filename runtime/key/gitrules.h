/** The rules that lie in a work tree: .gitignore (what does not count) and, of .gitattributes, which files' bytes git may change
 *  between the work tree and its database. A stack: rules of a directory are pushed when it is entered. One thread. */
#ifndef BG_KEY_GITRULES_H
#define BG_KEY_GITRULES_H

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "base/vec.h"

typedef struct {
    const char *text; /* NUL-terminated, without '!', leading and trailing '/' */
    size_t len, literal; /* bytes before the first special character */
    size_t base;      /* length of the directory's path, with its slash, that it counts from */
    bool is_negative, is_dir_only, is_name_only;
} bg_git_rule;

typedef struct {
    bg_arena arena; /* texts; freed with the whole */
    BG_VEC(bg_git_rule) at;
} bg_git_rules;

void bg_git_rules_clear(bg_git_rules *rules);
/** Add the lines of a .gitignore. `dir`: path of its directory in the work tree, "" for the top. False: memory is out. */
bool bg_git_rules_ignore(bg_git_rules *rules, bg_str text, bg_str dir);
/** Add those lines of a .gitattributes that may lead to a conversion (text, eol, crlf, ident, filter, working-tree-encoding). */
bool bg_git_rules_attributes(bg_git_rules *rules, bg_str text, bg_str dir);
/** What the last rule that matches says of `path` (in the work tree, NUL-terminated): 1 yes, 0 no ('!'), -1 none does. */
int bg_git_rules_match(const bg_git_rules *rules, const char *path, bool is_dir);

#endif
