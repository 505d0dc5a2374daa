#include "cache/tree.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DEPTH = 256 };

typedef struct {
    uint64_t dev, ino;
    bg_str path;
} inode;

typedef struct {
    bg_tree *t;
    bg_str dir;
    bg_error *err;
    const bg_cache_output *outputs;
    BG_VEC(inode) inodes; /* of files with several names */
} walker;

static bg_status nomem(bg_error *err)
{
    return bg_error_set(err, BG_E_NOMEM, "out of memory while reading outputs");
}

void bg_tree_clear(bg_tree *tree)
{
    BG_VEC_CLEAR(&tree->members);
    bg_arena_clear(&tree->arena);
    *tree = (bg_tree){0};
}

bool bg_link_stays(bg_str path, bg_str target)
{
    long depth = 0;
    bool went_down = false;
    for (size_t i = 0; i < path.len; i++)
        depth += path.ptr[i] == '/';
    if (target.len == 0 || target.ptr[0] == '/')
        return false;
    for (size_t i = 0; i <= target.len;) {
        const char *slash = i < target.len ? memchr(target.ptr + i, '/', target.len - i) : NULL;
        size_t n = slash == NULL ? target.len - i : (size_t)(slash - (target.ptr + i));
        if (n == 2 && target.ptr[i] == '.' && target.ptr[i + 1] == '.') {
            /* What was gone into may be a link itself, so that its `..` is anywhere. */
            if (went_down || --depth < 0)
                return false;
        } else if (n != 0 && !(n == 1 && target.ptr[i] == '.')) {
            went_down = true;
            depth++;
        }
        i += n + 1;
    }
    return true;
}

static char *full_path(walker *w, bg_str path)
{
    return bg_arena_printf(&w->t->arena, "%.*s/%.*s", BG_FMT(w->dir), BG_FMT(path));
}

static bg_status add_member(walker *w, bg_str path, uint32_t output, const struct stat *st, const char *full)
{
    bg_member m = {.path = path, .output = output};
    uint32_t type = (uint32_t)(st->st_mode & S_IFMT);
    if (S_ISLNK(st->st_mode)) {
        char target[4097];
        ssize_t n = readlink(full, target, sizeof target);
        if (n < 0)
            return bg_error_os(w->err, errno, "can't read the link %s", full);
        if ((size_t)n == sizeof target)
            return bg_error_set(w->err, BG_E_LIMIT, "the target of the link %s is too long", full);
        m.link = (bg_str){bg_arena_strdup(&w->t->arena, target, (size_t)n), (size_t)n};
        if (m.link.ptr == NULL)
            return nomem(w->err);
        m.mode = type | 0777;
    } else if (S_ISDIR(st->st_mode)) {
        m.mode = type | (uint32_t)(st->st_mode & 0777);
    } else if (S_ISREG(st->st_mode)) {
        m.mode = type | (uint32_t)(st->st_mode & 0777);
        m.size = (uint64_t)st->st_size;
        w->t->size_bytes += m.size;
        if (st->st_nlink > 1) {
            inode n = {(uint64_t)st->st_dev, (uint64_t)st->st_ino, path};
            if (!BG_VEC_PUSH(&w->inodes, n))
                return nomem(w->err);
        }
    } else {
        return bg_error_set(w->err, BG_E_USAGE,
                            "the output %s is a device, a pipe or a socket; only files, directories and links are kept", full);
    }
    return BG_VEC_PUSH(&w->t->members, m) ? BG_OK : nomem(w->err);
}

static bg_status walk(walker *w, bg_str path, uint32_t output, int depth);

static bg_status walk_dir(walker *w, bg_str path, uint32_t output, const char *full, int depth)
{
    DIR *dir = opendir(full);
    if (dir == NULL)
        return bg_error_os(w->err, errno, "can't open the directory %s", full);
    bg_status status = BG_OK;
    errno = 0;
    for (struct dirent *e; status == BG_OK && (e = readdir(dir)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        char *child = bg_arena_printf(&w->t->arena, "%.*s/%s", BG_FMT(path), e->d_name);
        status = child == NULL ? nomem(w->err) : walk(w, bg_str_of(child), output, depth + 1);
        errno = 0;
    }
    if (status == BG_OK && errno != 0)
        status = bg_error_os(w->err, errno, "can't read the directory %s", full);
    closedir(dir);
    return status;
}

static bg_status walk(walker *w, bg_str path, uint32_t output, int depth)
{
    char *full = full_path(w, path);
    struct stat st;
    if (full == NULL)
        return nomem(w->err);
    if (depth > MAX_DEPTH)
        return bg_error_set(w->err, BG_E_LIMIT, "the directories of %s are nested more than %d deep", full, MAX_DEPTH);
    if (lstat(full, &st) != 0)
        return bg_error_os(w->err, errno, "can't stat %s", full);
    BG_TRY(add_member(w, path, output, &st, full));
    return S_ISDIR(st.st_mode) ? walk_dir(w, path, output, full, depth) : BG_OK;
}

static bg_status walk_output(walker *w, const bg_cache_output *o, uint32_t index)
{
    char *full = full_path(w, o->path);
    struct stat st;
    if (full == NULL)
        return nomem(w->err);
    if (lstat(full, &st) != 0 || stat(full, &st) != 0)
        return bg_error_os(w->err, errno, "the output %.*s (%s) is missing", BG_FMT(o->name), full);
    if (o->is_dir ? !S_ISDIR(st.st_mode) : S_ISDIR(st.st_mode))
        return bg_error_set(w->err, BG_E_USAGE, "the output %.*s (%s) was declared as a %s and is a %s", BG_FMT(o->name),
                            full, o->is_dir ? "directory" : "file", o->is_dir ? "file" : "directory");
    return walk(w, o->path, index, 0);
}

static int by_path(const void *a, const void *b)
{
    return bg_str_cmp(((const bg_member *)a)->path, ((const bg_member *)b)->path);
}

static int by_inode(const void *a, const void *b)
{
    const inode *x = a, *y = b;
    if (x->dev != y->dev)
        return x->dev < y->dev ? -1 : 1;
    if (x->ino != y->ino)
        return x->ino < y->ino ? -1 : 1;
    return bg_str_cmp(x->path, y->path);
}

static bg_member *find_member(bg_tree *t, bg_str path)
{
    bg_member key = {.path = path};
    return bsearch(&key, t->members.at, t->members.n, sizeof key, by_path);
}

/* Names of one file point at the first of them. */
static void join_hard_links(walker *w)
{
    if (w->inodes.n < 2)
        return;
    qsort(w->inodes.at, w->inodes.n, sizeof *w->inodes.at, by_inode);
    size_t first = 0;
    for (size_t i = 1; i < w->inodes.n; i++) {
        const inode *a = &w->inodes.at[first], *b = &w->inodes.at[i];
        if (a->dev != b->dev || a->ino != b->ino)
            first = i;
        else
            find_member(w->t, b->path)->same = (uint32_t)(find_member(w->t, a->path) - w->t->members.at) + 1;
    }
}

/* ---- what a file holds ---- */

static void put_len(bg_sha256 *sha, uint64_t n)
{
    uint8_t b[8];
    for (int i = 0; i < 8; i++)
        b[i] = (uint8_t)(n >> (8 * i));
    bg_sha256_update(sha, b, 8);
}

static void put_str(bg_sha256 *sha, bg_str s)
{
    put_len(sha, s.len);
    bg_sha256_update(sha, s.ptr, s.len);
}

/* Content with each occurrence replaced by its token. In binaries an occurrence counts the '/' in front of it and its length in all, so
 * that one that was patched in place (padded with '/') gives the digest of the one that was packed. */
static void hash_normalised(const bg_tree *t, bg_sha256 *sha, const char *bytes, size_t n, const bg_hit *hits, uint32_t n_hits)
{
    size_t at = 0;
    for (uint32_t i = 0; i < n_hits; i++) {
        const bg_hit *h = &hits[i];
        bool in_binary = h->kind == BG_PLACE_STRING || h->kind == BG_PLACE_RPATH || h->kind == BG_PLACE_INTERP;
        size_t from = h->offset;
        while (in_binary && from > at && bytes[from - 1] == '/')
            from--;
        put_len(sha, from - at);
        bg_sha256_update(sha, bytes + at, from - at);
        put_str(sha, t->scanner->at[h->prefix].token);
        put_len(sha, in_binary ? h->offset + h->len - from : 0);
        at = h->offset + h->len;
    }
    put_len(sha, n - at);
    bg_sha256_update(sha, bytes + at, n - at);
}

static bg_status survivor(bg_tree *t, const bg_member *m, uint64_t offset, const char *why, bg_error *err)
{
    if (t->rule->survivors == BG_SURVIVORS_DENY)
        return bg_error_set(err, BG_E_RELOCATE,
                            "the output file %.*s holds an absolute path of this place at byte %llu that no rule covers (%s). "
                            "Cover it in `relocate`, exclude the file, or say `survivors = pin`.",
                            BG_FMT(m->path), (unsigned long long)offset, why);
    if (t->rule->survivors == BG_SURVIVORS_PIN)
        t->pinned = true;
    else if (t->warning.len == 0)
        t->warning = bg_str_of(bg_arena_printf(&t->arena, "%.*s holds an absolute path of this place at byte %llu that no "
                                                          "rule covers (%s); it is cached as it is",
                                               BG_FMT(m->path), (unsigned long long)offset, why));
    return BG_OK;
}

static bool covered(const bg_relocate_rule *r, const bg_hit *h)
{
    switch ((bg_place_kind)h->kind) {
    case BG_PLACE_TEXT:
    case BG_PLACE_SHEBANG:
        return r->text;
    case BG_PLACE_STRING:
        return (r->elf & BG_ELF_STRINGS) != 0;
    case BG_PLACE_RPATH:
        return (r->elf & BG_ELF_RPATH) != 0;
    case BG_PLACE_INTERP:
        return (r->elf & BG_ELF_INTERP) != 0;
    case BG_PLACE_LINK:
        return r->links;
    case BG_PLACE_COUNT:
        break;
    }
    return false;
}

/* Keep the hits that the rule covers; the others are survivors. */
static bg_status keep_hits(bg_tree *t, bg_member *m, const bg_hits *hits, uint64_t opaque, bg_error *err)
{
    if (opaque != 0)
        BG_TRY(survivor(t, m, opaque - 1, "it is UTF-16", err));
    if (hits->n == 0)
        return BG_OK;
    m->hits = BG_ARENA_ARRAY(&t->arena, hits->n, bg_hit);
    if (m->hits == NULL)
        return nomem(err);
    for (size_t i = 0; i < hits->n; i++) {
        if (covered(t->rule, &hits->at[i]))
            m->hits[m->n_hits++] = hits->at[i];
        else
            BG_TRY(survivor(t, m, hits->at[i].offset, bg_place_names[hits->at[i].kind], err));
    }
    return BG_OK;
}

/* Globs match the path below the node's directory, or below its output, or a name alone. */
static bool is_excluded(const bg_relocate_rule *r, bg_str path, bg_str output)
{
    bg_str below = path.len > output.len ? (bg_str){path.ptr + output.len + 1, path.len - output.len - 1} : path;
    for (size_t i = 0; i < r->n_exclude; i++) {
        if (bg_glob_match(r->exclude[i], path) || bg_glob_match(r->exclude[i], below))
            return true;
    }
    return false;
}

static bg_status read_content(bg_tree *t, bg_member *m, const char *full, bg_hits *hits, bg_sha256 *sha, bg_error *err)
{
    bg_mapped map;
    uint64_t opaque = 0;
    hits->n = 0;
    bg_status status = bg_mapped_open(&map, full, err);
    if (status == BG_OK && map.n != m->size)
        status = bg_error_set(err, BG_E_CHANGED, "%s changed while it was read", full);
    if (status == BG_OK && !m->excluded)
        status = bg_scan_file(t->scanner, map.bytes, map.n, hits, &opaque, err);
    if (status == BG_OK)
        status = keep_hits(t, m, hits, opaque, err);
    if (status == BG_OK)
        hash_normalised(t, sha, map.bytes, map.n, m->hits, m->n_hits);
    bg_mapped_close(&map);
    return status;
}

static bg_status read_link(bg_tree *t, bg_member *m, bg_hits *hits, bg_sha256 *sha, bg_error *err)
{
    hits->n = 0;
    if (!m->excluded)
        BG_TRY(bg_scan_bytes(t->scanner, m->link.ptr, m->link.len, hits, err));
    for (size_t i = 0; i < hits->n; i++)
        hits->at[i].kind = BG_PLACE_LINK;
    BG_TRY(keep_hits(t, m, hits, 0, err));
    hash_normalised(t, sha, m->link.ptr, m->link.len, m->hits, m->n_hits);
    return BG_OK;
}

static bg_status read_member(walker *w, bg_member *m, bg_hits *hits)
{
    bg_tree *t = w->t;
    if (m->same != 0) { /* the digest of a hard link is that of its file */
        m->digest = t->members.at[m->same - 1].digest;
        return BG_OK;
    }
    m->excluded = is_excluded(t->rule, m->path, w->outputs[m->output].path);
    bg_sha256 sha;
    BG_TRY(bg_sha256_init(&sha, w->err));
    const char *tag = S_ISDIR(m->mode) ? "dir" : S_ISLNK(m->mode) ? "link" : (m->mode & 0111) != 0 ? "program" : "file";
    put_str(&sha, bg_str_of(tag));
    bg_status status = BG_OK;
    if (S_ISREG(m->mode)) {
        char *full = full_path(w, m->path);
        status = full == NULL ? nomem(w->err) : read_content(t, m, full, hits, &sha, w->err);
    } else if (S_ISLNK(m->mode)) {
        status = read_link(t, m, hits, &sha, w->err);
    }
    if (status == BG_OK)
        m->digest = bg_sha256_final(&sha);
    bg_sha256_clear(&sha);
    return status;
}

/* Does a link lead out of its output? Whoever reads through it reads what no digest here covers. */
static bool leads_out(const bg_member *m, const bg_cache_output *o)
{
    if (!S_ISLNK(m->mode))
        return false;
    if (m->path.len <= o->path.len)
        return true;
    return !bg_link_stays((bg_str){m->path.ptr + o->path.len + 1, m->path.len - o->path.len - 1}, m->link);
}

/* An output's digest: names below it and their digests; the salt, if there are links that lead out of it. */
static bg_status digest_output(const bg_tree *t, bg_cache_output *o, uint32_t index, bg_error *err)
{
    bg_sha256 sha;
    BG_TRY(bg_sha256_init(&sha, err));
    bool salted = false;
    put_str(&sha, BG_STR("bgc output 1"));
    for (size_t i = 0; i < t->members.n; i++) {
        const bg_member *m = &t->members.at[i];
        if (m->output != index)
            continue;
        put_str(&sha, (bg_str){m->path.ptr + o->path.len, m->path.len - o->path.len});
        bg_sha256_update(&sha, m->digest.b, sizeof m->digest.b);
        salted = salted || leads_out(m, o);
    }
    if (salted)
        bg_sha256_update(&sha, o->salt.b, sizeof o->salt.b);
    o->digest = bg_sha256_final(&sha);
    return BG_OK;
}

bg_status bg_tree_read(bg_tree *tree, bg_str dir, const bg_scanner *scanner, const bg_relocate_rule *rule,
                       bg_cache_output *outputs, size_t n_outputs, bg_error *err)
{
    *tree = (bg_tree){.scanner = scanner, .rule = rule};
    walker w = {.t = tree, .dir = dir, .err = err, .outputs = outputs};
    bg_hits hits = {0};
    bg_status status = BG_OK;
    for (size_t i = 0; i < n_outputs && status == BG_OK; i++)
        status = walk_output(&w, &outputs[i], (uint32_t)i);
    if (status == BG_OK && tree->members.n > 1)
        qsort(tree->members.at, tree->members.n, sizeof *tree->members.at, by_path);
    join_hard_links(&w);
    for (size_t i = 0; i < tree->members.n && status == BG_OK; i++)
        status = read_member(&w, &tree->members.at[i], &hits);
    for (size_t i = 0; i < n_outputs && status == BG_OK; i++)
        status = digest_output(tree, &outputs[i], (uint32_t)i, err);
    BG_VEC_CLEAR(&hits);
    BG_VEC_CLEAR(&w.inodes);
    return status;
}

const bg_relocate_rule bg_relocate_default = {
    .elf = BG_ELF_ALL,
    .text = true,
    .links = true,
    .longer = BG_LONGER_REBUILD,
    .survivors = BG_SURVIVORS_PIN,
};

bg_status bg_cache_digest(bg_str dir, const bg_prefix *prefixes, size_t n_prefixes, const bg_relocate_rule *rule,
                          bg_cache_output *outputs, size_t n_outputs, bg_error *err)
{
    bg_scanner scanner;
    bg_tree tree;
    BG_TRY(bg_scanner_init(&scanner, prefixes, n_prefixes, err));
    /* Whether a survivor is allowed is decided when packing. */
    bg_relocate_rule lenient = rule != NULL ? *rule : bg_relocate_default;
    lenient.survivors = BG_SURVIVORS_PIN;
    bg_status status = bg_tree_read(&tree, dir, &scanner, &lenient, outputs, n_outputs, err);
    bg_tree_clear(&tree);
    return status;
}
