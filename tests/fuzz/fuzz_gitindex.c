/* Git's index file, rules files and a remembered manifest are bytes that others wrote: none may crash. The first byte chooses. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "key/gitindex.h"
#include "key/gitrules.h"
#include "key/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_index(const uint8_t *data, size_t size, size_t n_id)
{
    bg_git_index index;
    bg_error err;
    char *bytes = malloc(size + 1);
    if (bytes == NULL)
        return;
    memcpy(bytes, data, size);
    if (bg_git_index_parse(&index, bytes, size, n_id, "fuzz", &err) == BG_OK)
        for (uint32_t i = 0; i < index.n; i++)
            if (bg_git_index_find(&index, index.at[i].path) == NULL)
                abort();
    bg_git_index_clear(&index);
}

static void try_rules(const uint8_t *data, size_t size)
{
    bg_git_rules rules = {0};
    bg_str text = {(const char *)data, size};
    (void)bg_git_rules_ignore(&rules, text, BG_STR("a"));
    (void)bg_git_rules_attributes(&rules, text, BG_STR(""));
    (void)bg_git_rules_match(&rules, "a/b/c.d", false);
    (void)bg_git_rules_match(&rules, "a", true);
    bg_git_rules_clear(&rules);
}

static void try_manifest(const uint8_t *data, size_t size)
{
    bg_manifest m;
    bg_digest d;
    bg_str bytes = {(const char *)data, size};
    if (bg_manifest_load(&m, bytes))
        bg_manifest_clear(&m);
    (void)bg_manifest_holds(bytes, "/nowhere/at/all", true, NULL, NULL, &d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    switch (data[0] % 4) {
    case 0:
        try_index(data + 1, size - 1, 20);
        break;
    case 1:
        try_index(data + 1, size - 1, 32);
        break;
    case 2:
        try_rules(data + 1, size - 1);
        break;
    default:
        try_manifest(data + 1, size - 1);
    }
    return 0;
}
