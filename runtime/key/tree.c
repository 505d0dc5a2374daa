/* Digests of plain files and directories: SHA-256 of a file's bytes, of a link's text, of a directory's sorted entries. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "key/keyer.h"
#include "key/real.h"
#include "key/walk.h"

enum { READ_BYTES = 1 << 17, ATTEMPTS_MAX = 4 };

typedef struct {
    bg_walk_policy base;
    char *room; /* READ_BYTES, made on first use */
} tree_policy;

/* What belongs to git or to bgc itself is no content. */
static bool wants(bg_walk_policy *self, const bg_walk_place *place)
{
    (void)self;
    return !(bg_str_is(place->name, ".git") || bg_str_is(place->name, ".bgraph"));
}

static bg_status hash_fd(bg_sha256 *sha, const bg_walk_place *place, int fd, char *room, bg_error *err)
{
    for (;;) {
        ssize_t n = read(fd, room, READ_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return bg_error_os(err, errno, "can't read %s", place->abs);
        if (n == 0)
            return BG_OK;
        bg_sha256_update(sha, room, (size_t)n);
    }
}

static bg_status file(bg_walk_policy *self, const bg_walk_place *place, int fd, uint8_t id[32], bg_error *err)
{
    tree_policy *p = (tree_policy *)(void *)self;
    bg_sha256 sha;
    if (p->room == NULL)
        p->room = malloc(READ_BYTES);
    if (p->room == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory while %s was read", place->abs);
    BG_TRY(bg_sha256_init(&sha, err));
    bg_status status = hash_fd(&sha, place, fd, p->room, err);
    if (status != BG_OK) {
        bg_sha256_clear(&sha);
        return status;
    }
    bg_digest d = bg_sha256_final(&sha);
    memcpy(id, d.b, sizeof d.b);
    return BG_OK;
}

static bg_status link_text(bg_walk_policy *self, bg_str text, uint8_t id[32], bg_error *err)
{
    (void)self;
    bg_digest d;
    BG_TRY(bg_sha256_of(text.ptr, text.len, &d, err));
    memcpy(id, d.b, sizeof d.b);
    return BG_OK;
}

static void put_child(bg_buf *buf, const bg_walk_child *c)
{
    bg_buf_putc(buf, c->kind == BG_ENTRY_DIR ? 'd' : c->kind == BG_ENTRY_LINK ? 'l' : c->is_exec ? 'x' : 'f');
    bg_buf_u32(buf, (uint32_t)c->name.len);
    bg_buf_str(buf, c->name);
    bg_buf_put(buf, c->id, sizeof c->id);
}

static bg_status fold(bg_walk_policy *self, bg_walk_child *children, size_t n, uint8_t id[32], bool *is_empty, bg_error *err)
{
    (void)self;
    bg_buf buf = {0};
    bg_digest d;
    *is_empty = false; /* an empty directory counts by its name */
    bg_buf_puts(&buf, "bgraph directory 1\n");
    for (size_t i = 0; i < n; i++)
        put_child(&buf, &children[i]);
    bg_status status = buf.failed ? bg_error_set(err, BG_E_NOMEM, "out of memory while a directory was hashed")
                                  : bg_sha256_of(buf.data, buf.len, &d, err);
    bg_buf_clear(&buf);
    if (status == BG_OK)
        memcpy(id, d.b, sizeof d.b);
    return status;
}

static bg_status root_digest(const bg_walk_child *root, bg_digest *out, bg_error *err)
{
    bg_buf buf = {0};
    bg_buf_puts(&buf, "bgraph path 1\n");
    put_child(&buf, root);
    bg_status status = buf.failed ? bg_error_set(err, BG_E_NOMEM, "out of memory while a path was hashed")
                                  : bg_sha256_of(buf.data, buf.len, out, err);
    bg_buf_clear(&buf);
    return status;
}

static bg_status walk_tree(const char *abs_path, const bg_manifest *old, bg_buf *manifest, bg_digest *out, bg_error *err)
{
    tree_policy policy = {
        .base = {.wants = wants, .file = file, .link = link_text, .fold = fold},
    };
    bg_walk walk = {.policy = &policy.base, .root = abs_path, .old = old, .manifest = manifest};
    bg_status status = BG_E_CHANGED;
    for (int i = 0; i < ATTEMPTS_MAX && status == BG_E_CHANGED; i++) {
        bg_manifest_begin(manifest);
        status = bg_walk_run(&walk, err);
    }
    free(policy.room);
    BG_TRY(status);
    if (walk.root_is_empty)
        return bg_error_set(err, BG_E_USAGE, "%s is neither a file, a directory nor a link; only those can be inputs", abs_path);
    return root_digest(&walk.root_child, out, err);
}

static bg_status digest_at(bg_keyer *keyer, const char *abs_path, bg_digest *out, bg_error *err)
{
    bg_buf name = {0}, copy = {0}, manifest = {0};
    bg_manifest old = {0};
    bg_buf_printf(&name, "path %s", abs_path);
    bg_status status = name.failed ? bg_error_set(err, BG_E_NOMEM, "out of memory while %s was keyed", abs_path)
                                   : bg_keyer_manifest(keyer, bg_buf_view(&name), &copy, err);
    if (status == BG_OK && copy.len != 0 && bg_manifest_holds(bg_buf_view(&copy), abs_path, false, NULL, NULL, out))
        goto out;
    if (status != BG_OK)
        goto out;
    bool has_old = copy.len != 0 && bg_manifest_load(&old, bg_buf_view(&copy));
    status = walk_tree(abs_path, has_old ? &old : NULL, &manifest, out, err);
    if (status == BG_OK) {
        bg_manifest_finish(&manifest, out);
        status = bg_keyer_remember(keyer, bg_buf_view(&name), &manifest, err);
    }
out:
    bg_manifest_clear(&old);
    bg_buf_clear(&manifest);
    bg_buf_clear(&copy);
    bg_buf_clear(&name);
    return status;
}

/* Whoever is given a link reads what is behind it: that is the content of a path which is itself a link. One that leads nowhere is
 * its text. */
bg_status bg_tree_digest(bg_keyer *keyer, const char *abs_path, bg_digest *out, bg_error *err)
{
    bg_stamp stamp;
    if (bg_stamp_read(&stamp, AT_FDCWD, abs_path) != 0 || !S_ISLNK(stamp.mode))
        return digest_at(keyer, abs_path, out, err);
    bg_buf real = {0};
    bg_status status = bg_real_path(&real, abs_path, err);
    if (status == BG_OK || status == BG_E_NOENT)
        status = digest_at(keyer, status == BG_OK ? real.data : abs_path, out, err);
    bg_buf_clear(&real);
    return status;
}
