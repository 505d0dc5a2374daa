/* Keys from git: every directory counts as outside of git for now, which is an error that says what to do. */
#include "key/keyer.h"
bg_status bg_git_digest(bg_keyer *keyer, const char *abs_dir, bg_str rel, bg_digest *out, bg_error *err)
{
    (void)keyer; (void)rel; (void)out;
    return bg_error_set(err, BG_E_USAGE, "%s is not in a git work tree; use `dir =` instead of `git =`", abs_dir);
}
bg_status bg_key_git_root(bg_keyer *keyer, bg_str abs_dir, bg_arena *arena, bg_str *root, bg_error *err)
{
    (void)keyer; (void)arena; (void)root;
    return bg_error_set(err, BG_E_USAGE, "%.*s is not in a git work tree; use `dir =` instead of `git =`", BG_FMT(abs_dir));
}
bg_status bg_key_git_commit(bg_keyer *keyer, bg_str abs_dir, bg_arena *arena, bg_str *commit, bg_error *err)
{
    (void)keyer; (void)arena; (void)commit;
    return bg_error_set(err, BG_E_USAGE, "%.*s is not in a git work tree; use `dir =` instead of `git =`", BG_FMT(abs_dir));
}
