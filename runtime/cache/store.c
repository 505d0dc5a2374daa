/* The cache's directory: records, artifacts, publishing, setting aside. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/dirs.h"
#include "cache/pack.h"
#include "cache/record.h"
#include "cache/restore.h"

struct bg_cache {
    bg_str dir; /* …/v1 */
    bg_arena arena;
    unsigned n_temporary;
};

static bg_status nomem(bg_error *err)
{
    return bg_error_set(err, BG_E_NOMEM, "out of memory in the cache");
}

static const char *file_of(bg_cache *c, bg_arena *arena, const char *room, const bg_digest *d, const char *suffix)
{
    char hex[65];
    bg_digest_hex(d, hex);
    return bg_arena_printf(arena, "%s/%s/%.2s/%s%s", c->dir.ptr, room, hex, hex, suffix);
}

/* Files of runs that died: their process is gone and they are not fresh, or they are a day old. */
static void clean_temporary(bg_cache *c)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/tmp", c->dir.ptr) >= sizeof path)
        return;
    DIR *dir = opendir(path);
    if (dir == NULL)
        return;
    time_t now = time(NULL);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        long pid = 0;
        struct stat st;
        if (e->d_name[0] == '.' || sscanf(e->d_name, "%ld-", &pid) != 1 || pid <= 0 ||
            fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        bool gone = kill((pid_t)pid, 0) != 0 && errno == ESRCH;
        if ((gone && now - st.st_mtime > 60) || now - st.st_mtime > 24 * 3600)
            unlinkat(dirfd(dir), e->d_name, 0);
    }
    closedir(dir);
}

bg_status bg_cache_open(bg_cache **out, const char *dir, bg_error *err)
{
    *out = NULL;
    bg_cache *c = calloc(1, sizeof *c);
    if (c == NULL)
        return nomem(err);
    c->dir = bg_str_of(bg_arena_printf(&c->arena, "%s/v1", dir));
    static const char *const rooms[] = {"ac", "cas", "tmp", "bad"};
    bg_status status = c->dir.ptr == NULL ? nomem(err) : BG_OK;
    for (size_t i = 0; i < 4 && status == BG_OK; i++) {
        const char *room = bg_arena_printf(&c->arena, "%s/%s", c->dir.ptr, rooms[i]);
        status = room == NULL ? nomem(err) : bg_fs_mkdirs(room, err);
        if (status == BG_OK && access(room, W_OK | X_OK) != 0)
            status = bg_error_os(err, errno, "the cache's directory %s can't be written to", room);
    }
    if (status != BG_OK) {
        bg_cache_close(c);
        return status;
    }
    clean_temporary(c);
    *out = c;
    return BG_OK;
}

void bg_cache_close(bg_cache *cache)
{
    if (cache == NULL)
        return;
    bg_arena_clear(&cache->arena);
    free(cache);
}

static void move_aside(bg_cache *c, const char *path)
{
    const char *name = strrchr(path, '/');
    char to[PATH_MAX];
    if (name != NULL && (size_t)snprintf(to, sizeof to, "%s/bad%s", c->dir.ptr, name) < sizeof to &&
        rename(path, to) != 0 && errno != ENOENT)
        unlink(path);
}

void bg_cache_set_aside(bg_cache *cache, const bg_cache_entry *entry)
{
    bg_arena scratch = {0};
    const char *record = file_of(cache, &scratch, "ac", &entry->key, "");
    const char *artifact = file_of(cache, &scratch, "cas", &entry->artifact, ".tar.zst");
    if (record != NULL)
        move_aside(cache, record);
    if (artifact != NULL)
        move_aside(cache, artifact);
    bg_arena_clear(&scratch);
}

static bool same_place(const bg_cache_entry *e, const bg_prefix *prefixes, size_t n)
{
    for (size_t i = 0; i < e->n_prefixes; i++) {
        bool found = false;
        for (size_t k = 0; k < n && !found; k++)
            found = bg_str_eq(e->prefixes[i].token, prefixes[k].token) && bg_str_eq(e->prefixes[i].path, prefixes[k].path);
        if (!found)
            return false;
    }
    return true;
}

bg_status bg_cache_find(bg_cache *cache, const bg_digest *key, const bg_prefix *prefixes, size_t n_prefixes,
                        bg_arena *arena, bg_cache_entry *out, bg_error *err)
{
    if (err != NULL)
        err->text[0] = '\0';
    const char *path = file_of(cache, arena, "ac", key, "");
    if (path == NULL)
        return nomem(err);
    bg_mapped map;
    bg_error why = {0};
    if (bg_mapped_open(&map, path, &why) != BG_OK)
        return why.os_error == ENOENT ? BG_E_NOENT : bg_error_set(err, BG_E_NOENT, "%s", why.text);
    bg_status status = bg_record_read(out, (bg_str){map.bytes, map.n}, arena, &why);
    bg_mapped_close(&map);
    if (status == BG_OK && !bg_digest_eq(&out->key, key))
        status = bg_error_set(&why, BG_E_CORRUPT, "it is the record of another key");
    if (status == BG_E_NOMEM)
        return nomem(err);
    if (status != BG_OK) {
        move_aside(cache, path);
        return bg_error_set(err, BG_E_NOENT, "the cache's record %s was set aside: %s", path, why.text);
    }
    const char *artifact = file_of(cache, arena, "cas", &out->artifact, ".tar.zst");
    struct stat st;
    if (artifact == NULL)
        return nomem(err);
    if (stat(artifact, &st) != 0 || (uint64_t)st.st_size != out->packed_bytes) {
        bool missing = errno == ENOENT && access(artifact, F_OK) != 0;
        bg_cache_set_aside(cache, out);
        return bg_error_set(err, BG_E_NOENT, "the cache's artifact %s %s; the entry was set aside", artifact,
                            missing ? "is missing" : "has another size than when it was stored");
    }
    return out->pinned && !same_place(out, prefixes, n_prefixes) ? BG_E_NOENT : BG_OK;
}

/* ---- publishing ---- */

static int open_temporary(bg_cache *c, bg_arena *arena, const char **path, bg_error *err)
{
    for (int tries = 0; tries < 1000; tries++) {
        *path = bg_arena_printf(arena, "%s/tmp/%ld-%p-%u", c->dir.ptr, (long)getpid(), (void *)c, c->n_temporary++);
        if (*path == NULL) {
            bg_status status = nomem(err);
            (void)status;
            return -1;
        }
        int fd = open(*path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) {
            if (fd < 0)
                bg_error_os(err, errno, "can't make the file %s in the cache", *path);
            return fd;
        }
    }
    bg_error_set(err, BG_E_IO, "the cache's directory %s/tmp is full of leftovers; remove them", c->dir.ptr);
    return -1;
}

static bg_status sync_parent(const char *path, bg_error *err)
{
    char dir[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (slash == NULL || (size_t)snprintf(dir, sizeof dir, "%.*s", (int)(slash - path), path) >= sizeof dir)
        return BG_OK;
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return bg_error_os(err, errno, "can't open %s", dir);
    int bad = fsync(fd) != 0 && errno != EINVAL ? errno : 0;
    close(fd);
    return bad != 0 ? bg_error_os(err, bad, "can't sync %s", dir) : BG_OK;
}

/* Close, sync and rename a finished temporary file; it is removed if that fails. */
static bg_status publish(int fd, const char *temporary, const char *path, bg_error *err)
{
    bg_status status = BG_OK;
    if (fsync(fd) != 0)
        status = bg_error_os(err, errno, "can't sync %s", temporary);
    if (close(fd) != 0 && status == BG_OK)
        status = bg_error_os(err, errno, "can't write %s", temporary);
    if (status == BG_OK)
        status = bg_fs_mkdirs_parent(path, err);
    if (status == BG_OK && rename(temporary, path) != 0)
        status = bg_error_os(err, errno, "can't publish %s", path);
    if (status == BG_OK)
        return sync_parent(path, err);
    unlink(temporary);
    return status;
}

static bg_status put_record(bg_cache *c, const bg_cache_entry *entry, bg_arena *arena, bg_error *err)
{
    bg_buf text = {0};
    const char *temporary = NULL;
    bg_status status = bg_record_write(&text, entry, err);
    int fd = status == BG_OK ? open_temporary(c, arena, &temporary, err) : -1;
    const char *path = file_of(c, arena, "ac", &entry->key, "");
    if (status == BG_OK && (fd < 0 || path == NULL))
        status = fd < 0 ? (err != NULL ? err->status : BG_E_IO) : nomem(err);
    for (size_t at = 0; status == BG_OK && at < text.len;) {
        ssize_t n = write(fd, text.data + at, text.len - at);
        if (n < 0 && errno != EINTR) {
            status = bg_error_os(err, errno, "can't write %s", temporary);
            close(fd);
            unlink(temporary);
            fd = -1;
        }
        at += n > 0 ? (size_t)n : 0;
    }
    if (status == BG_OK)
        status = publish(fd, temporary, path, err);
    bg_buf_clear(&text);
    return status;
}

/* A link that leads out of the output would be refused when restoring: say so while the person can still mend it. */
static bg_status check_links(const bg_tree *tree, bg_error *err)
{
    for (size_t i = 0; i < tree->members.n; i++) {
        const bg_member *m = &tree->members.at[i];
        bool moved = m->n_hits != 0 && m->hits[0].offset == 0;
        if (S_ISLNK(m->mode) && !moved && !bg_link_stays(m->path, m->link))
            return bg_error_set(err, BG_E_UNSAFE,
                                "the output's link %.*s leads to \"%.*s\", out of the output; it can't be cached. Copy the file, "
                                "or mark the node `cache = false`.",
                                BG_FMT(m->path), BG_FMT(m->link));
    }
    return BG_OK;
}

static bg_status put_artifact(bg_cache *c, const bg_tree *tree, bg_str dir, bg_packed *packed, bg_arena *arena,
                              bg_error *err)
{
    const char *temporary = NULL;
    bg_error local = {0};
    int fd = open_temporary(c, arena, &temporary, &local);
    if (fd < 0) {
        if (err != NULL)
            *err = local;
        return local.status;
    }
    bg_status status = bg_pack(fd, tree, dir, packed, err);
    if (status != BG_OK) {
        close(fd);
        unlink(temporary);
        return status;
    }
    const char *path = file_of(c, arena, "cas", &packed->artifact, ".tar.zst");
    if (path == NULL) {
        close(fd);
        unlink(temporary);
        return nomem(err);
    }
    return publish(fd, temporary, path, err);
}

static bg_status check_digests(const bg_cache_store_request *q, const bg_cache_output *found, bg_error *err)
{
    for (size_t i = 0; i < q->n_outputs && q->has_digests; i++) {
        if (!bg_digest_eq(&q->outputs[i].digest, &found[i].digest))
            return bg_error_set(err, BG_E_CHANGED, "the output %.*s changed after its node ended; it is not stored",
                                BG_FMT(q->outputs[i].name));
    }
    return BG_OK;
}

static bg_status store_tree(bg_cache *c, const bg_cache_store_request *q, const bg_tree *tree, bg_cache_output *outputs,
                            bg_arena *arena, bg_cache_entry *out, bg_error *err)
{
    bg_packed packed;
    BG_TRY(check_digests(q, outputs, err));
    BG_TRY(check_links(tree, err));
    BG_TRY(put_artifact(c, tree, q->dir, &packed, arena, err));
    *out = (bg_cache_entry){.key = q->key,
                            .artifact = packed.artifact,
                            .node = q->node,
                            .label = q->label,
                            .commit = q->commit,
                            .made_unix_s = (int64_t)time(NULL),
                            .wall_ns = q->wall_ns,
                            .size_bytes = tree->size_bytes,
                            .packed_bytes = packed.packed_bytes,
                            .pinned = tree->pinned,
                            .prefixes = q->prefixes,
                            .n_prefixes = q->n_prefixes,
                            .outputs = outputs,
                            .n_outputs = q->n_outputs};
    return put_record(c, out, arena, err);
}

bg_status bg_cache_store(bg_cache *cache, const bg_cache_store_request *request, bg_arena *arena, bg_cache_entry *out,
                         bg_error *err)
{
    bg_scanner scanner;
    bg_tree tree;
    if (err != NULL)
        err->text[0] = '\0';
    BG_TRY(bg_scanner_init(&scanner, request->prefixes, request->n_prefixes, err));
    bg_cache_output *outputs = BG_ARENA_ARRAY(arena, request->n_outputs + 1, bg_cache_output);
    if (outputs == NULL)
        return nomem(err);
    for (size_t i = 0; i < request->n_outputs; i++)
        outputs[i] = request->outputs[i];
    const bg_relocate_rule *rule = request->rule != NULL ? request->rule : &bg_relocate_default;
    bg_status status = bg_tree_read(&tree, request->dir, &scanner, rule, outputs, request->n_outputs, err);
    if (status == BG_OK)
        status = store_tree(cache, request, &tree, outputs, arena, out, err);
    if (status == BG_OK && tree.warning.len != 0)
        bg_error_set(err, BG_OK, "%.*s", BG_FMT(tree.warning));
    bg_tree_clear(&tree);
    return status;
}

/* ---- using ---- */

static bg_status map_artifact(bg_cache *c, const bg_cache_entry *entry, bg_arena *arena, bg_mapped *map, bg_error *err)
{
    const char *path = file_of(c, arena, "cas", &entry->artifact, ".tar.zst");
    if (path == NULL)
        return nomem(err);
    BG_TRY(bg_mapped_open(map, path, err));
    bg_digest sum;
    bg_status status = bg_sha256_of(map->bytes, map->n, &sum, err);
    if (status == BG_OK && !bg_digest_eq(&sum, &entry->artifact))
        status = bg_error_set(err, BG_E_CORRUPT, "the artifact %s is damaged: its bytes have another digest than its name", path);
    if (status != BG_OK)
        bg_mapped_close(map);
    return status;
}

bg_status bg_cache_restore(bg_cache *cache, const bg_cache_entry *entry, bg_str dir, const bg_prefix *prefixes,
                           size_t n_prefixes, bg_error *err)
{
    bg_arena arena = {0};
    bg_mapped map = {0};
    bg_status status = map_artifact(cache, entry, &arena, &map, err);
    if (status == BG_OK) {
        status = bg_restore(map.bytes, map.n, entry, dir, prefixes, n_prefixes, err);
        bg_mapped_close(&map);
    }
    if (status == BG_E_CORRUPT || status == BG_E_UNSAFE)
        bg_cache_set_aside(cache, entry);
    bg_arena_clear(&arena);
    return status;
}

bg_status bg_cache_verify(bg_cache *cache, const bg_cache_entry *entry, bg_error *err)
{
    bg_arena arena = {0};
    bg_mapped map = {0};
    bg_index index;
    bg_status status = map_artifact(cache, entry, &arena, &map, err);
    if (status == BG_OK) {
        status = bg_index_read(&index, map.bytes, map.n, &arena, err);
        bg_mapped_close(&map);
    }
    bg_arena_clear(&arena);
    return status;
}

bg_status bg_cache_index(bg_cache *cache, const bg_cache_entry *entry, const bg_cache_index_visit *visit, void *self,
                         bg_error *err)
{
    bg_arena arena = {0};
    bg_mapped map = {0};
    bg_index index = {0};
    bg_status status = map_artifact(cache, entry, &arena, &map, err);
    if (status == BG_OK) {
        status = bg_index_read(&index, map.bytes, map.n, &arena, err);
        bg_mapped_close(&map);
    }
    for (uint32_t i = 0; status == BG_OK && i < index.n_members; i++) {
        const bg_index_member *m = &index.members[i];
        bg_cache_member member = {m->path, m->mode, m->size, m->link};
        if (visit->member != NULL)
            visit->member(self, &member);
        for (uint32_t k = 0; k < m->n_hits && visit->place != NULL; k++) {
            const bg_hit *h = &m->hits[k];
            bool whole = h->kind == BG_PLACE_RPATH;
            bg_cache_place place = {h->offset, h->len, whole ? h->end - h->start : h->len, bg_place_names[h->kind],
                                    index.prefixes[h->prefix].token};
            visit->place(self, &member, &place);
        }
    }
    bg_arena_clear(&arena);
    return status;
}

bg_status bg_artifact_restore_fd(int fd, const bg_cache_entry *entry, bg_str dir, const bg_prefix *prefixes,
                                 size_t n_prefixes, bg_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return bg_error_os(err, errno, "can't stat the artifact");
    if (st.st_size <= 0)
        return bg_error_set(err, BG_E_CORRUPT, "the artifact is damaged: it is empty");
    void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return bg_error_os(err, errno, "can't map the artifact");
    bg_status status = bg_restore(map, (size_t)st.st_size, entry, dir, prefixes, n_prefixes, err);
    munmap(map, (size_t)st.st_size);
    return status;
}

/* ---- listing ---- */

typedef struct {
    bg_status status;
    bg_cache_entry entry;
    const char *file;
} listed;

static int by_node(const void *a, const void *b)
{
    const listed *x = a, *y = b;
    int c = bg_str_cmp(x->entry.node, y->entry.node);
    return c != 0 ? c : strcmp(x->file, y->file);
}

typedef BG_VEC(listed) listing;

static bg_status list_room(const char *path, listing *all, bg_arena *arena, bg_error *err)
{
    DIR *dir = opendir(path);
    if (dir == NULL)
        return errno == ENOTDIR ? BG_OK : bg_error_os(err, errno, "can't read the cache's directory %s", path);
    bg_status status = BG_OK;
    for (struct dirent *e; status == BG_OK && (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        listed l = {.file = bg_arena_printf(arena, "%s/%s", path, e->d_name)};
        bg_mapped map;
        if (l.file == NULL) {
            status = nomem(err);
        } else if (bg_mapped_open(&map, l.file, NULL) == BG_OK) { /* gone meanwhile: not listed */
            l.status = bg_record_read(&l.entry, (bg_str){map.bytes, map.n}, arena, NULL);
            bg_mapped_close(&map);
            if (!BG_VEC_PUSH(all, l))
                status = nomem(err);
        }
    }
    closedir(dir);
    return status;
}

bg_status bg_cache_list(bg_cache *cache, bg_cache_visit each, void *self, bg_error *err)
{
    bg_arena arena = {0};
    listing all = {0};
    char path[PATH_MAX];
    bg_status status = BG_OK;
    for (unsigned i = 0; i < 256 && status == BG_OK; i++) {
        snprintf(path, sizeof path, "%s/ac/%02x", cache->dir.ptr, i);
        if (access(path, F_OK) == 0)
            status = list_room(path, &all, &arena, err);
    }
    if (all.n > 1)
        qsort(all.at, all.n, sizeof *all.at, by_node);
    for (size_t i = 0; i < all.n && status == BG_OK; i++) {
        if (!each(self, all.at[i].status, &all.at[i].entry, all.at[i].file))
            break;
    }
    BG_VEC_CLEAR(&all);
    bg_arena_clear(&arena);
    return status;
}
