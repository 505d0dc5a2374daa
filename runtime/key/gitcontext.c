#include "key/gitcontext.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* Name of the note that holds settings; no absolute path is like it. */
static const char note_name[] = "settings";

static void context_free(bg_git_context *c)
{
    bg_git_repo_clear(&c->repo);
    bg_git_index_clear(&c->index);
    bg_buf_clear(&c->index_path);
    bg_buf_clear(&c->lock_path);
    bg_buf_clear(&c->config_path);
    bg_buf_clear(&c->worktree_config_path);
    bg_buf_clear(&c->info_attributes_path);
    bg_buf_clear(&c->attributes);
    free(c);
}

bg_git_context *bg_git_context_of(bg_git_context **list, bg_git_repo *repo)
{
    for (bg_git_context *c = *list; c != NULL; c = c->next) {
        if (strcmp(c->repo.dir.data, repo->dir.data) == 0 && strcmp(c->repo.top.data, repo->top.data) == 0) {
            bg_git_repo_clear(repo);
            return c;
        }
    }
    bg_git_context *c = calloc(1, sizeof *c);
    if (c == NULL) {
        bg_git_repo_clear(repo);
        return NULL;
    }
    c->repo = *repo;
    *repo = (bg_git_repo){0};
    const char *dir = c->repo.dir.data, *common = c->repo.common.data;
    bg_buf_printf(&c->index_path, "%s/index", dir);
    bg_buf_printf(&c->lock_path, "%s/index.lock", dir);
    bg_buf_printf(&c->config_path, "%s/config", common);
    bg_buf_printf(&c->worktree_config_path, "%s/config.worktree", dir);
    bg_buf_printf(&c->info_attributes_path, "%s/info/attributes", common);
    if (c->index_path.failed || c->lock_path.failed || c->config_path.failed || c->worktree_config_path.failed ||
        c->info_attributes_path.failed) {
        context_free(c);
        return NULL;
    }
    c->next = *list;
    *list = c;
    return c;
}

void bg_git_contexts_free(bg_git_context *list)
{
    while (list != NULL) {
        bg_git_context *next = list->next;
        context_free(list);
        list = next;
    }
}

void bg_git_guard(bg_buf *guards, const char *path, const bg_stamp *stamp, unsigned flags)
{
    bg_entry e = {.stamp = *stamp, .kind = BG_ENTRY_GUARD, .flags = (uint8_t)flags};
    bg_manifest_add(guards, &e, bg_str_of(path));
}

void bg_git_guard_now(bg_buf *guards, const char *path)
{
    bg_stamp stamp;
    if (bg_stamp_read(&stamp, AT_FDCWD, path) != 0)
        stamp = (bg_stamp){0};
    bool is_racy = stamp.mode != 0 && bg_stamp_is_racy(&stamp, bg_stamp_now_ns());
    bg_git_guard(guards, path, &stamp, is_racy ? BG_ENTRY_RACY : 0);
}

void bg_git_context_note(const bg_git_context *c, bg_buf *guards)
{
    bg_entry e = {.kind = BG_ENTRY_GUARD, .flags = BG_ENTRY_WEAK};
    e.id[0] = c->settings.file_mode;
    e.id[1] = c->settings.symlinks;
    e.id[2] = c->settings.converts;
    e.id[3] = c->settings.is_sha256;
    bg_manifest_add(guards, &e, bg_str_of(note_name));
    bg_git_guard_now(guards, c->config_path.data);
    bg_git_guard_now(guards, c->worktree_config_path.data);
}

static bool guard_matches(const bg_entry *e, const char *path)
{
    bg_stamp now;
    if (bg_stamp_read(&now, AT_FDCWD, path) != 0)
        return e->stamp.mode == 0;
    return (e->flags & BG_ENTRY_RACY) == 0 && bg_stamp_eq(&now, &e->stamp);
}

void bg_git_context_recall(bg_git_context *c, const bg_manifest *old)
{
    if (c->has_settings)
        return;
    const bg_entry *note = NULL;
    int n_same = 0;
    for (uint32_t i = 0; i < old->root; i++) {
        const bg_manifest_node *node = &old->nodes[i];
        if (bg_str_is(node->name, note_name))
            note = &node->e;
        else if (bg_str_is(node->name, c->config_path.data))
            n_same += guard_matches(&node->e, c->config_path.data);
        else if (bg_str_is(node->name, c->worktree_config_path.data))
            n_same += guard_matches(&node->e, c->worktree_config_path.data);
    }
    if (note == NULL || n_same != 2)
        return;
    c->settings = (bg_git_settings){
        .file_mode = note->id[0] != 0,
        .symlinks = note->id[1] != 0,
        .converts = note->id[2] != 0,
        .is_sha256 = note->id[3] != 0,
    };
    c->has_settings = true;
}

bg_status bg_git_context_attributes(bg_git_context *c, bg_error *err)
{
    if (c->has_attributes)
        return BG_OK;
    bg_buf_reset(&c->attributes);
    BG_TRY(bg_gitlib_settings(c->repo.top.data, c->repo.common.data, &c->settings, &c->attributes, err));
    c->has_settings = c->has_attributes = true;
    return BG_OK;
}

bg_status bg_git_context_refresh(bg_git_context *c, bg_error *err)
{
    if (!c->has_settings)
        BG_TRY(bg_git_context_attributes(c, err));
    bg_stamp now;
    if (bg_stamp_read(&now, AT_FDCWD, c->index_path.data) != 0)
        now = (bg_stamp){0};
    if (c->has_index && bg_stamp_eq(&now, &c->index_stamp))
        return BG_OK;
    bg_git_index_clear(&c->index);
    c->has_index = false;
    BG_TRY(bg_git_index_read(&c->index, &c->index_stamp, c->index_path.data, c->settings.is_sha256 ? 32 : 20, err));
    c->has_index = true;
    return BG_OK;
}
