/* Restores arbitrary bytes as an artifact: whatever they are, nothing outside the target is touched and nothing crashes. The checksum of the
 * index is repaired, so that what lies behind it is reached. */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/dirs.h"
#include "bgraph/cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char root[] = "/tmp/bgc-fuzz-XXXXXX";

static void remove_root(void)
{
    if (bg_fs_remove(root, NULL) != BG_OK)
        perror(root);
}

static uint64_t get(const uint8_t *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

/* Find the index frame by the seek table and write the digest that its body has. */
static void repair(uint8_t *d, size_t n)
{
    if (n < 17)
        return;
    uint64_t count = get(d + n - 9, 4);
    if (count == 0 || count > (n - 17) / 8)
        return;
    size_t table_end = n - 9, index_bytes = (size_t)get(d + table_end - 8, 4), seek = n - 17 - (size_t)count * 8;
    if (index_bytes > seek || index_bytes < 8 + 8 + 32 + 8)
        return;
    uint8_t *index = d + seek - index_bytes + 8;
    size_t body = index_bytes - 8 - 32 - 8;
    bg_digest sum;
    if (bg_sha256_of(index, body, &sum, NULL) == BG_OK)
        memcpy(index + body, sum.b, 32);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char outside[64];
    if (fd < 0) {
        if (mkdtemp(root) == NULL)
            return 0;
        atexit(remove_root);
        snprintf(outside, sizeof outside, "%s/outside", root);
        fd = memfd_create("artifact", MFD_CLOEXEC);
        if (fd < 0)
            return 0;
    }
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL)
        return 0;
    memcpy(copy, data, size);
    repair(copy, size);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, copy, size, 0) != (ssize_t)size)
        abort();
    free(copy);
    char target[64];
    snprintf(target, sizeof target, "%s/deep/deeper/target", root);
    bg_prefix prefixes[] = {{BG_STR("out"), BG_STR("/o")}, {BG_STR("src"), BG_STR("/a/rather/long/source/directory")}};
    bg_cache_entry entry = {0};
    bg_error err = {0};
    bg_status status = bg_artifact_restore_fd(fd, &entry, bg_str_of(target), prefixes, 2, &err);
    if (status != BG_OK && err.text[0] == '\0')
        abort();
    if (access(outside, F_OK) == 0)
        abort();
    if (status != BG_OK && access(target, F_OK) == 0)
        abort(); /* a refused artifact leaves nothing */
    if (bg_fs_remove(target, NULL) != BG_OK)
        abort();
    return 0;
}
