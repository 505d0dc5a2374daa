/* bgc cache: what is in the cache, whether it is whole, and taking things out. */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "bgraph/cache.h"
#include "bgraph/diag.h"
#include "cache_records.h"
#include "cli.h"
#include "revision.h"

/* ---- what a person reads ---- */

static const char *human_size(uint64_t bytes, char out[16])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)bytes;
    size_t unit = 0;
    while (v >= 1024 && unit < 4) {
        v /= 1024;
        unit++;
    }
    snprintf(out, 16, unit == 0 ? "%.0f %s" : "%.1f %s", v, units[unit]);
    return out;
}

static const char *iso_time(int64_t unix_s, char out[32])
{
    time_t t = (time_t)unix_s;
    struct tm tm;
    if (gmtime_r(&t, &tm) == NULL || strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        snprintf(out, 32, "?");
    return out;
}

static bool commit_matches(bg_str commit, const char *wanted)
{
    return wanted == NULL || bg_str_starts(commit, bg_str_of(wanted));
}

static void json_entry(const bg_cache_record *one, bg_buf *out)
{
    const bg_cache_entry *e = &one->entry;
    char key[65], artifact[65], made[32];
    bg_digest_hex(&e->key, key);
    bg_digest_hex(&e->artifact, artifact);
    bg_buf_printf(out, "{\"key\": \"%s\", \"artifact\": \"%s\", \"node\": ", key, artifact);
    bg_buf_json(out, e->node);
    bg_buf_puts(out, ", \"label\": ");
    bg_buf_json(out, e->label);
    bg_buf_puts(out, ", \"commit\": ");
    bg_buf_json(out, e->commit);
    bg_buf_printf(out, ", \"made\": \"%s\", \"wall_ns\": %llu, \"size_bytes\": %llu, \"packed_bytes\": %llu, \"pinned\": %s, \"outputs\": [",
                  iso_time(e->made_unix_s, made), (unsigned long long)e->wall_ns, (unsigned long long)e->size_bytes,
                  (unsigned long long)e->packed_bytes, e->pinned ? "true" : "false");
    for (size_t i = 0; i < e->n_outputs; i++) {
        char digest[65];
        bg_digest_hex(&e->outputs[i].digest, digest);
        bg_buf_puts(out, i == 0 ? "{\"name\": " : ", {\"name\": ");
        bg_buf_json(out, e->outputs[i].name);
        bg_buf_puts(out, ", \"path\": ");
        bg_buf_json(out, e->outputs[i].path);
        bg_buf_printf(out, ", \"digest\": \"%s\"}", digest);
    }
    bg_buf_puts(out, "]}");
}

static int list_json(const bg_cache_records *all, const char *commit)
{
    bg_buf text = {0};
    bg_buf_puts(&text, "[");
    bool first = true;
    for (size_t i = 0; i < all->records.n; i++) {
        const bg_cache_record *one = &all->records.at[i];
        if (one->status != BG_OK || !commit_matches(one->entry.commit, commit))
            continue;
        bg_buf_puts(&text, first ? "\n " : ",\n ");
        json_entry(one, &text);
        first = false;
    }
    bg_buf_puts(&text, "]\n");
    int code = bg_cli_put(&text);
    bg_buf_clear(&text);
    return code;
}

static void warn_damaged(const bg_cache_record *one)
{
    bg_cli_warn("the record %s is damaged; `bgc cache verify --all` sets it aside", one->file);
}

static int list_text(const bg_cache_records *all, const char *commit)
{
    uint64_t packed = 0;
    size_t n = 0;
    printf("%-12s  %-28s  %10s  %10s  %-20s  %s\n", "KEY", "NODE", "SIZE", "PACKED", "MADE", "COMMIT");
    for (size_t i = 0; i < all->records.n; i++) {
        const bg_cache_record *one = &all->records.at[i];
        const bg_cache_entry *e = &one->entry;
        char key[65], size[16], small[16], made[32];
        if (one->status != BG_OK) {
            warn_damaged(one);
            continue;
        }
        if (!commit_matches(e->commit, commit))
            continue;
        bg_digest_hex(&e->key, key);
        printf("%.12s  %-28.*s  %10s  %10s  %-20s  %.12s%s\n", key, BG_FMT(e->node), human_size(e->size_bytes, size),
               human_size(e->packed_bytes, small), iso_time(e->made_unix_s, made), e->commit.len == 0 ? "-" : e->commit.ptr,
               e->pinned ? "  pinned" : "");
        packed += e->packed_bytes;
        n++;
    }
    char total[16];
    printf("%zu entr%s, %s packed\n", n, n == 1 ? "y" : "ies", human_size(packed, total));
    return bg_cli_flush();
}

static int do_ls(bg_cache *cache, const bg_cache_records *all, const bg_args *args)
{
    (void)cache;
    bg_error err = {0};
    char commit[65];
    const char *rev = bg_args_text(args, "commit");
    if (args->n_rest > 1)
        return bg_cli_usage("cache", "unexpected argument `%.200s`", args->rest[1]);
    if (rev != NULL) {
        bg_status status = bg_revision_resolve(rev, commit, &err);
        if (status != BG_OK)
            return bg_cli_fail(status, &err);
    }
    const char *format = bg_args_text(args, "format");
    bool json = format != NULL && strcmp(format, "json") == 0;
    return (json ? list_json : list_text)(all, rev == NULL ? NULL : commit);
}

/* ---- choosing ---- */

/* Does a word of the command line (a key's beginning, at least 4 digits, or a node) mean this entry? */
static bool chosen(const bg_cache_record *one, const char *word)
{
    char key[65];
    if (one->status != BG_OK)
        return false;
    bg_digest_hex(&one->entry.key, key);
    size_t n = strlen(word);
    return (n >= 4 && n <= 64 && strncasecmp(key, word, n) == 0) || bg_str_is(one->entry.node, word);
}

static bool any_chosen(const bg_cache_record *one, const bg_args *args)
{
    for (size_t i = 1; i < args->n_rest; i++) {
        if (chosen(one, args->rest[i]))
            return true;
    }
    return false;
}

/* 0, or 2 with a message if a word of the command line means no entry. */
static int check_words(const bg_cache_records *all, const bg_args *args)
{
    for (size_t w = 1; w < args->n_rest; w++) {
        bool found = false;
        for (size_t i = 0; i < all->records.n && !found; i++)
            found = chosen(&all->records.at[i], args->rest[w]);
        if (!found)
            return bg_cli_usage("cache", "no entry has a key that begins with `%.80s`, or is of a node of that name", args->rest[w]);
    }
    return 0;
}

/* ---- show ---- */

typedef struct {
    bool places;
    size_t n_members, n_places;
} shown;

static void show_member(void *self, const bg_cache_member *member)
{
    shown *state = self;
    state->n_members++;
    printf("  %06o  %12llu  %.*s", (unsigned)member->mode, (unsigned long long)member->size_bytes, BG_FMT(member->path));
    if (member->link.len > 0)
        printf(" -> %.*s", BG_FMT(member->link));
    putchar('\n');
}

static void show_place(void *self, const bg_cache_member *member, const bg_cache_place *place)
{
    shown *state = self;
    (void)member;
    state->n_places++;
    if (state->places)
        printf("            %-8s at %llu, %llu of %llu bytes: {%.*s}\n", place->kind, (unsigned long long)place->offset,
               (unsigned long long)place->length, (unsigned long long)place->capacity, BG_FMT(place->token));
}

static int show_entry(bg_cache *cache, const bg_cache_record *one, bool places)
{
    const bg_cache_entry *e = &one->entry;
    char hex[65], size[16], small[16], made[32];
    bg_error err = {0};
    bg_digest_hex(&e->key, hex);
    printf("key       %s\n", hex);
    bg_digest_hex(&e->artifact, hex);
    printf("artifact  %s\nnode      %.*s (%.*s)\ncommit    %.*s\n", hex, BG_FMT(e->node), BG_FMT(e->label),
           e->commit.len == 0 ? 1 : (int)e->commit.len, e->commit.len == 0 ? "-" : e->commit.ptr);
    printf("made      %s in %.2fs\nsize      %s, packed %s\nrecord    %s\n", iso_time(e->made_unix_s, made),
           (double)e->wall_ns / 1e9, human_size(e->size_bytes, size), human_size(e->packed_bytes, small), one->file);
    if (e->pinned)
        printf("pinned    usable at these places only\n");
    for (size_t i = 0; i < e->n_prefixes; i++)
        printf("prefix    {%.*s} was %.*s\n", BG_FMT(e->prefixes[i].token), BG_FMT(e->prefixes[i].path));
    for (size_t i = 0; i < e->n_outputs; i++) {
        bg_digest_hex(&e->outputs[i].digest, hex);
        printf("output    %.*s: %.*s%s %.16s\n", BG_FMT(e->outputs[i].name), BG_FMT(e->outputs[i].path),
               e->outputs[i].is_dir ? "/" : "", hex);
    }
    shown state = {.places = places};
    const bg_cache_index_visit visit = {show_member, show_place};
    bg_status status = bg_cache_index(cache, e, &visit, &state, &err);
    if (status != BG_OK)
        return bg_cli_fail(status, &err);
    printf("%zu files, %zu places to relocate\n", state.n_members, state.n_places);
    return bg_cli_flush();
}

static int do_show(bg_cache *cache, const bg_cache_records *all, const bg_args *args)
{
    if (args->n_rest < 2)
        return bg_cli_usage("cache", "say which entry: bgc cache show KEY");
    int code = check_words(all, args);
    bool first = true;
    for (size_t i = 0; i < all->records.n && code == 0; i++) {
        if (!any_chosen(&all->records.at[i], args))
            continue;
        if (!first)
            putchar('\n');
        first = false;
        code = show_entry(cache, &all->records.at[i], bg_args_flag(args, "places"));
    }
    return code;
}

/* ---- verify ---- */

static bool verify_one(bg_cache *cache, const bg_cache_record *one)
{
    bg_error err = {0};
    if (one->status != BG_OK) {
        fprintf(stderr, "bgc: error: the record %s is damaged\n", one->file);
        if (unlink(one->file) == 0)
            fprintf(stderr, "  it was removed: the next run makes it again\n");
        return false;
    }
    if (bg_cache_verify(cache, &one->entry, &err) == BG_OK)
        return true;
    char key[65];
    bg_digest_hex(&one->entry.key, key);
    fprintf(stderr, "bgc: error: %.12s (%.*s): %s\n", key, BG_FMT(one->entry.node), err.text);
    /* only damage: a disk that can't be read now may be read later */
    if (err.status == BG_E_CORRUPT || err.status == BG_E_UNSAFE || err.status == BG_E_NOENT) {
        bg_cache_set_aside(cache, &one->entry);
        fprintf(stderr, "  it was set aside: the next run makes it again\n");
    }
    return false;
}

static int do_verify(bg_cache *cache, const bg_cache_records *all, const bg_args *args)
{
    bool every = bg_args_flag(args, "all");
    if (!every && args->n_rest < 2)
        return bg_cli_usage("cache", "say what to verify: --all, or keys or nodes");
    if (every && args->n_rest > 1)
        return bg_cli_usage("cache", "`--all` and `%.80s` exclude each other", args->rest[1]);
    int code = check_words(all, args);
    if (code != 0)
        return code;
    size_t n_good = 0, n_bad = 0;
    for (size_t i = 0; i < all->records.n; i++) {
        const bg_cache_record *one = &all->records.at[i];
        if (!every && !any_chosen(one, args))
            continue;
        if (verify_one(cache, one))
            n_good++;
        else
            n_bad++;
    }
    printf("%zu whole, %zu damaged\n", n_good, n_bad);
    code = bg_cli_flush();
    return n_bad > 0 ? 3 : code;
}

/* ---- clear ---- */

/* Is the artifact of `gone` also that of an entry that stays? */
static bool is_shared(const bg_cache_records *all, const bg_args *args, const bg_digest *artifact)
{
    for (size_t i = 0; i < all->records.n; i++) {
        const bg_cache_record *one = &all->records.at[i];
        if (one->status == BG_OK && args->n_rest > 1 && !any_chosen(one, args) && bg_digest_eq(&one->entry.artifact, artifact))
            return true;
    }
    return false;
}

static bg_status remove_file(const char *path, bg_error *err)
{
    if (unlink(path) == 0 || errno == ENOENT)
        return BG_OK;
    return bg_error_os(err, errno, "can't remove %s", path);
}

static bg_status remove_entry(const char *dir, const bg_cache_records *all, const bg_args *args, const bg_cache_record *one, bg_error *err)
{
    /* the record first: nobody is to find one whose artifact has gone */
    BG_TRY(remove_file(one->file, err));
    if (one->status != BG_OK || is_shared(all, args, &one->entry.artifact))
        return BG_OK;
    char hex[65], path[4096];
    bg_digest_hex(&one->entry.artifact, hex);
    int n = snprintf(path, sizeof path, "%s/v1/cas/%.2s/%s.tar.zst", dir, hex, hex);
    return n > 0 && (size_t)n < sizeof path ? remove_file(path, err) : BG_OK;
}

/* What was set aside is of no use to anyone who empties the cache. */
static void sweep_bad(const char *dir)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/v1/bad", dir);
    DIR *bad = n > 0 && (size_t)n < sizeof path ? opendir(path) : NULL;
    if (bad == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(bad)) != NULL;) {
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(bad), entry->d_name, 0);
    }
    closedir(bad);
}

static int do_clear(const char *dir, const bg_cache_records *all, const bg_args *args)
{
    int code = check_words(all, args);
    if (code != 0)
        return code;
    size_t n = 0;
    uint64_t packed = 0;
    for (size_t i = 0; i < all->records.n; i++) {
        const bg_cache_record *one = &all->records.at[i];
        bg_error err = {0};
        if (args->n_rest > 1 && !any_chosen(one, args))
            continue;
        bg_status status = remove_entry(dir, all, args, one, &err);
        if (status != BG_OK)
            return bg_cli_fail(status, &err);
        packed += one->status == BG_OK ? one->entry.packed_bytes : 0;
        n++;
    }
    if (args->n_rest == 1)
        sweep_bad(dir);
    char size[16];
    printf("%zu entr%s removed, %s packed\n", n, n == 1 ? "y" : "ies", human_size(packed, size));
    return bg_cli_flush();
}

/* ---- the command ---- */

static const char *const words[] = {"ls", "show", "verify", "clear", "dir", NULL};

static int unknown_word(const char *word)
{
    bg_str names[sizeof words / sizeof words[0]];
    uint32_t n = 0;
    for (; words[n] != NULL; n++)
        names[n] = bg_str_of(words[n]);
    bg_str near = bg_diag_nearest(bg_str_of(word), names, n);
    if (near.len > 0)
        return bg_cli_usage("cache", "unknown `%.80s`; did you mean `%.*s`?", word, BG_FMT(near));
    return bg_cli_usage("cache", "unknown `%.80s`", word);
}

static int dispatch(const char *what, const char *dir, bg_cache *cache, const bg_cache_records *all, const bg_args *args)
{
    if (strcmp(what, "ls") == 0)
        return do_ls(cache, all, args);
    if (strcmp(what, "show") == 0)
        return do_show(cache, all, args);
    if (strcmp(what, "verify") == 0)
        return do_verify(cache, all, args);
    return do_clear(dir, all, args);
}

static int with_cache(const char *what, const char *dir, const bg_args *args)
{
    bg_cache *cache = NULL;
    bg_cache_records all = {0};
    bg_error err = {0};
    bg_status status = bg_cache_open(&cache, dir, &err);
    if (status == BG_OK)
        status = bg_cache_records_read(&all, cache, &err);
    int code = status == BG_OK ? dispatch(what, dir, cache, &all, args) : bg_cli_fail(status, &err);
    bg_cache_records_clear(&all);
    if (cache != NULL)
        bg_cache_close(cache);
    return code;
}

static int run(const bg_args *args)
{
    const char *what = args->rest[0];
    size_t i = 0;
    while (words[i] != NULL && strcmp(words[i], what) != 0)
        i++;
    if (words[i] == NULL)
        return unknown_word(what);
    bg_arena arena = {0};
    bg_error err = {0};
    const char *dir = NULL;
    int code;
    bg_status status = bg_cli_cache_dir(args, &arena, &dir, &err);
    if (status == BG_OK && dir == NULL)
        status = bg_error_set(&err, BG_E_USAGE, "where is the cache? Say it with --cache DIR or BGRAPH_CACHE");
    if (status != BG_OK) {
        code = bg_cli_fail(status, &err);
    } else if (strcmp(what, "dir") == 0) {
        puts(dir);
        code = bg_cli_flush();
    } else {
        code = with_cache(what, dir, args);
    }
    bg_arena_clear(&arena);
    return code;
}

static const bg_option options[] = {
    BG_OPTION_CACHE,
    {BG_OPTION_TEXT, 0, "commit", "REV", NULL, "ls: only what was made at this commit (a name git knows, or its first digits)"},
    {BG_OPTION_CHOICE, 0, "format", "FORM", "text|json", "ls: text (the default) or json"},
    {BG_OPTION_FLAG, 0, "places", NULL, NULL, "show: every place that is relocated"},
    {BG_OPTION_FLAG, 0, "all", NULL, NULL, "verify: every entry"},
    BG_OPTIONS_END,
};

const bg_command bg_command_cache = {
    .name = "cache",
    .doc = "look into the cache, verify it, clear it",
    .usage = "ls [--commit REV] [--format json]\nshow KEY… [--places]\nverify --all | KEY…\nclear [KEY…]\ndir",
    .about = "KEY is the beginning of a key (at least 4 digits) or the name of a node.\n"
             "ls lists the entries; show prints one with its files; verify reads artifacts whole and sets damaged ones aside;\n"
             "clear removes entries, without KEY all of them; dir prints where the cache is.\n",
    .example = "bgc cache ls --commit HEAD\n"
               "bgc cache show 3fa9c1\n"
               "bgc cache verify --all\n",
    .options = options,
    .words = words,
    .min_rest = 1,
    .max_rest = (size_t)-1,
    .run = run,
};
