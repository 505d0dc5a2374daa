#include "state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lmdb.h>

#include "base/hash.h"
#include "state/lock.h"

/* One LMDB environment, one named database a table. Puts go into one open write transaction; a log of them is kept beside it,
 * because a full map loses the transaction: then the map is made larger and the log is played again. */

enum {
    MAP_START_MIB = 1024, /* address space, not memory: the file is as long as what is in it */
    MAP_SMALL_MIB = 64,   /* where address space is limited */
    MAP_GROWTHS_MAX = 10,
    KEY_PLAIN_MAX = 500, /* LMDB's own limit is 511 */
    KEY_HEAD = 480,      /* of a longer key that much, then a hash; the whole key stands before the value */
    BAD_NAMES_MAX = 1000
};
static const char *const table_names[BG_STATE_TABLE_COUNT] = {"node", "stamp", "tool", "meta"};

struct bg_state {
    char *path;
    int lock_fd;
    MDB_env *env;
    MDB_txn *reader; /* NULL or open; never beside a writer */
    MDB_txn *writer; /* NULL: nothing is pending */
    MDB_dbi tables[BG_STATE_TABLE_COUNT];
    bool has_tables;
    bool is_damaged; /* seen while running: set aside when closed */
    size_t map_bytes;
    bg_buf log; /* pending puts and deletes, see log_append */
};

static bg_status from_mdb(bg_error *err, const bg_state *state, int rc, const char *doing)
{
    if (rc == ENOSPC || rc == EDQUOT)
        return bg_error_os(err, rc, "can't %s in %s; make room on its disk", doing, state->path);
    if (rc > 0)
        return bg_error_os(err, rc, "can't %s in %s", doing, state->path);
    bg_status status = rc == MDB_MAP_FULL ? BG_E_LIMIT : BG_E_CORRUPT;
    return bg_error_set(err, status, "can't %s in %s: %s. Remove the file: only what earlier runs remembered is lost.",
                        doing, state->path, mdb_strerror(rc));
}

static bool is_damage(int rc)
{
    return rc == MDB_INVALID || rc == MDB_CORRUPTED || rc == MDB_PAGE_NOTFOUND || rc == MDB_VERSION_MISMATCH ||
           rc == MDB_INCOMPATIBLE || rc == MDB_PANIC || rc == MDB_BAD_TXN || rc == MDB_BAD_DBI;
}

/* A file that is shorter than its last page would be a SIGBUS later. */
static int check_length(const bg_state *state)
{
    MDB_envinfo info;
    MDB_stat stat_;
    mdb_filehandle_t fd;
    struct stat st;
    int rc = mdb_env_info(state->env, &info);
    if (rc == 0)
        rc = mdb_env_stat(state->env, &stat_);
    if (rc == 0)
        rc = mdb_env_get_fd(state->env, &fd);
    if (rc != 0)
        return rc;
    if (fstat(fd, &st) != 0)
        return errno;
    if (st.st_size < 0 || (uint64_t)st.st_size / stat_.ms_psize < (uint64_t)info.me_last_pgno + 1)
        return MDB_CORRUPTED;
    return 0;
}

/* Handles of the four tables; MDB_NOTFOUND if the file is new. */
static int open_tables(bg_state *state, MDB_txn *txn, unsigned flags)
{
    for (int i = 0; i < BG_STATE_TABLE_COUNT; i++) {
        int rc = mdb_dbi_open(txn, table_names[i], flags, &state->tables[i]);
        if (rc != 0)
            return rc;
    }
    state->has_tables = true;
    return 0;
}

static int env_open_sized(bg_state *state, size_t map_bytes)
{
    state->map_bytes = map_bytes;
    int rc = mdb_env_create(&state->env);
    if (rc != 0)
        return rc;
    mdb_env_set_maxdbs(state->env, BG_STATE_TABLE_COUNT);
    rc = mdb_env_set_mapsize(state->env, map_bytes);
    if (rc == 0) /* our own lock stands for LMDB's, which would need a second file and a robust mutex */
        rc = mdb_env_open(state->env, state->path, MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOTLS, 0666);
    if (rc == 0)
        rc = check_length(state);
    MDB_txn *txn = NULL;
    if (rc == 0)
        rc = mdb_txn_begin(state->env, NULL, MDB_RDONLY, &txn);
    if (rc == 0) {
        rc = open_tables(state, txn, 0);
        if (rc == 0)
            rc = mdb_txn_commit(txn); /* keeps the handles */
        else
            mdb_txn_abort(txn);
        if (rc == MDB_NOTFOUND)
            rc = 0; /* new: the first put makes the tables */
    }
    return rc;
}

static void env_close(bg_state *state)
{
    if (state->reader != NULL)
        mdb_txn_abort(state->reader);
    if (state->writer != NULL)
        mdb_txn_abort(state->writer);
    if (state->env != NULL)
        mdb_env_close(state->env);
    state->reader = state->writer = NULL;
    state->env = NULL;
    state->has_tables = false;
}

static int env_open(bg_state *state)
{
    int rc = env_open_sized(state, (size_t)MAP_START_MIB << 20);
    if (rc != ENOMEM)
        return rc;
    env_close(state);
    return env_open_sized(state, (size_t)MAP_SMALL_MIB << 20);
}

/* Move a damaged database out of the way, to the first free name. */
static bg_status set_aside(const bg_state *state, char *bad, size_t bad_size, bg_error *err)
{
    for (int i = 1; i <= BAD_NAMES_MAX; i++) {
        struct stat st;
        int n = snprintf(bad, bad_size, "%s.bad-%d", state->path, i);
        if (n < 0 || (size_t)n >= bad_size)
            break;
        if (lstat(bad, &st) == 0 && i < BAD_NAMES_MAX)
            continue;
        if (rename(state->path, bad) != 0)
            return bg_error_os(err, errno, "can't set the damaged %s aside; remove it by hand", state->path);
        return BG_OK;
    }
    return bg_error_set(err, BG_E_LIMIT, "can't set the damaged %s aside: its name is too long; remove it by hand",
                        state->path);
}

static bg_status open_or_renew(bg_state *state, bg_error *err)
{
    int rc = env_open(state);
    if (rc == 0)
        return BG_OK;
    env_close(state);
    if (!is_damage(rc))
        return from_mdb(err, state, rc, "open the state");
    char bad[4200];
    BG_TRY(set_aside(state, bad, sizeof bad, err));
    int again = env_open(state);
    if (again != 0)
        return from_mdb(err, state, again, "begin the state anew");
    bg_error_set(err, BG_OK, "The state %s was damaged (%s); it was set aside as %s and begun anew, so this run remembers "
                             "nothing of earlier ones.", state->path, mdb_strerror(rc), bad);
    return BG_OK;
}

static char *join(const char *dir, const char *name)
{
    size_t n = strlen(dir) + strlen(name) + 2;
    char *path = malloc(n);
    if (path != NULL)
        snprintf(path, n, "%s/%s", dir, name);
    return path;
}

static void state_free(bg_state *state)
{
    env_close(state);
    bg_state_unlock(state->lock_fd);
    bg_buf_clear(&state->log);
    free(state->path);
    free(state);
}

bg_status bg_state_open(bg_state **out, const char *dir, void (*waiting)(void *self, long pid), void *self, bg_error *err)
{
    *out = NULL;
    if (err != NULL)
        *err = (bg_error){0};
    bg_state *state = calloc(1, sizeof *state);
    char *lock_path = join(dir, "state.lock");
    if (state != NULL)
        state->path = join(dir, "state.mdb");
    if (state == NULL || lock_path == NULL || state->path == NULL) {
        free(lock_path);
        if (state != NULL)
            free(state->path);
        free(state);
        return bg_error_set(err, BG_E_NOMEM, "out of memory while the state in %s was opened", dir);
    }
    state->lock_fd = -1;
    bg_status status = bg_state_lock(&state->lock_fd, lock_path, waiting, self, err);
    free(lock_path);
    if (status == BG_OK)
        status = open_or_renew(state, err);
    if (status != BG_OK) {
        state_free(state);
        return status;
    }
    *out = state;
    return BG_OK;
}

bg_status bg_state_close(bg_state *state, bg_error *err)
{
    if (state == NULL)
        return BG_OK;
    bg_status status = state->is_damaged ? BG_OK : bg_state_commit(state, err);
    if (state->is_damaged || status == BG_E_CORRUPT) {
        char bad[4200];
        env_close(state);
        status = set_aside(state, bad, sizeof bad, err);
    }
    state_free(state);
    return status;
}

/* LMDB's keys are short and not empty: one byte in front, and a long one is cut and hashed. */
static MDB_val encode_key(bg_str key, char room[KEY_PLAIN_MAX + 1])
{
    if (key.len <= KEY_PLAIN_MAX) {
        room[0] = 'k';
        if (key.len != 0)
            memcpy(room + 1, key.ptr, key.len);
        return (MDB_val){key.len + 1, room};
    }
    uint64_t h = bg_hash_bytes(key.ptr, key.len);
    room[0] = 'l';
    memcpy(room + 1, key.ptr, KEY_HEAD);
    memcpy(room + 1 + KEY_HEAD, &h, sizeof h);
    return (MDB_val){1 + KEY_HEAD + sizeof h, room};
}

/* A long key's value opens with the whole key. */
static bool strip_long_key(bg_str key, bg_str *value)
{
    if (key.len <= KEY_PLAIN_MAX)
        return true;
    if (!bg_str_starts(*value, key))
        return false;
    value->ptr += key.len;
    value->len -= key.len;
    return true;
}

bg_status bg_state_get(bg_state *state, bg_state_table table, bg_str key, bg_str *value)
{
    char room[KEY_PLAIN_MAX + 1];
    *value = (bg_str){NULL, 0};
    if (!state->has_tables)
        return BG_E_NOENT;
    if (state->writer == NULL && state->reader == NULL) {
        int rc = mdb_txn_begin(state->env, NULL, MDB_RDONLY, &state->reader);
        if (rc != 0) {
            state->reader = NULL;
            return from_mdb(NULL, state, rc, "read");
        }
    }
    MDB_val k = encode_key(key, room), v;
    int rc = mdb_get(state->writer != NULL ? state->writer : state->reader, state->tables[table], &k, &v);
    if (rc == MDB_NOTFOUND)
        return BG_E_NOENT;
    if (rc != 0) {
        state->is_damaged |= is_damage(rc);
        return from_mdb(NULL, state, rc, "read");
    }
    *value = (bg_str){v.mv_data, v.mv_size};
    return strip_long_key(key, value) ? BG_OK : BG_E_NOENT;
}

static int begin_write(bg_state *state)
{
    if (state->writer != NULL)
        return 0;
    if (state->reader != NULL) {
        mdb_txn_abort(state->reader);
        state->reader = NULL;
    }
    int rc = mdb_txn_begin(state->env, NULL, 0, &state->writer);
    if (rc == 0 && !state->has_tables)
        rc = open_tables(state, state->writer, MDB_CREATE);
    if (rc != 0 && state->writer != NULL) {
        mdb_txn_abort(state->writer);
        state->has_tables = false;
    }
    if (rc != 0)
        state->writer = NULL;
    return rc;
}

/* value.ptr == NULL: delete. */
static int apply(bg_state *state, bg_state_table table, bg_str key, bg_str value)
{
    char room[KEY_PLAIN_MAX + 1];
    int rc = begin_write(state);
    if (rc != 0)
        return rc;
    MDB_val k = encode_key(key, room), v = {0};
    if (value.ptr == NULL) {
        rc = mdb_del(state->writer, state->tables[table], &k, NULL);
        return rc == MDB_NOTFOUND ? 0 : rc;
    }
    size_t front = key.len > KEY_PLAIN_MAX ? key.len : 0;
    v.mv_size = front + value.len;
    rc = mdb_put(state->writer, state->tables[table], &k, &v, MDB_RESERVE);
    if (rc != 0)
        return rc;
    if (front != 0)
        memcpy(v.mv_data, key.ptr, front);
    if (value.len != 0)
        memcpy((char *)v.mv_data + front, value.ptr, value.len);
    return 0;
}

/* A record: table, key length, value length + 1 (0: delete), key, value. */
static void log_append(bg_buf *log, bg_state_table table, bg_str key, bg_str value)
{
    bg_buf_u32(log, (uint32_t)table);
    bg_buf_u64(log, key.len);
    bg_buf_u64(log, value.ptr == NULL ? 0 : value.len + 1);
    bg_buf_str(log, key);
    bg_buf_str(log, value);
}

static uint64_t read_u64(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--)
        v = v << 8 | b[i];
    return v;
}

static int replay(bg_state *state)
{
    const char *p = bg_buf_cstr(&state->log), *end = p + state->log.len;
    while (p != end) {
        bg_state_table table = (bg_state_table)p[0];
        uint64_t n_key = read_u64(p + 4), n_value = read_u64(p + 12);
        bg_str key = {p + 20, (size_t)n_key};
        bg_str value = {n_value == 0 ? NULL : key.ptr + n_key, n_value == 0 ? 0 : (size_t)n_value - 1};
        int rc = apply(state, table, key, value);
        if (rc != 0)
            return rc;
        p = key.ptr + key.len + value.len;
    }
    return 0;
}

static void drop_writer(bg_state *state, bool made_tables)
{
    if (state->writer != NULL)
        mdb_txn_abort(state->writer);
    state->writer = NULL;
    if (made_tables)
        state->has_tables = false; /* handles made in a transaction end with it */
}

/* Double the map and play the log, until it fits. */
static int grow_and_replay(bg_state *state, bool made_tables)
{
    int rc = MDB_MAP_FULL;
    for (int i = 0; i < MAP_GROWTHS_MAX && rc == MDB_MAP_FULL; i++) {
        drop_writer(state, made_tables);
        if (state->map_bytes > SIZE_MAX / 4)
            return MDB_MAP_FULL;
        rc = mdb_env_set_mapsize(state->env, state->map_bytes * 2);
        if (rc != 0)
            return rc;
        state->map_bytes *= 2;
        rc = replay(state);
    }
    return rc;
}

/* Have the tables been made in the pending transaction? They are committed apart, so that this is never so. */
static int ensure_tables(bg_state *state)
{
    if (state->has_tables)
        return 0;
    int rc = begin_write(state);
    if (rc != 0)
        return rc;
    rc = mdb_txn_commit(state->writer);
    state->writer = NULL;
    if (rc != 0)
        state->has_tables = false;
    return rc;
}

static bg_status change(bg_state *state, bg_state_table table, bg_str key, bg_str value, bg_error *err)
{
    int rc = ensure_tables(state);
    if (rc != 0)
        return from_mdb(err, state, rc, "make tables");
    size_t mark = state->log.len;
    log_append(&state->log, table, key, value);
    if (state->log.failed) {
        state->log.failed = false;
        state->log.len = mark;
        return bg_error_set(err, BG_E_NOMEM, "out of memory while the state was written");
    }
    rc = apply(state, table, key, value);
    if (rc == MDB_MAP_FULL)
        rc = grow_and_replay(state, false);
    if (rc == 0)
        return BG_OK;
    state->is_damaged |= is_damage(rc);
    drop_writer(state, false); /* what was pending is lost with a transaction that failed */
    bg_buf_reset(&state->log);
    return from_mdb(err, state, rc, "write");
}

bg_status bg_state_put(bg_state *state, bg_state_table table, bg_str key, bg_str value, bg_error *err)
{
    if (value.ptr == NULL)
        value = (bg_str){"", 0};
    return change(state, table, key, value, err);
}

bg_status bg_state_delete(bg_state *state, bg_state_table table, bg_str key, bg_error *err)
{
    bg_str value;
    if (bg_state_get(state, table, key, &value) == BG_E_NOENT)
        return BG_OK;
    return change(state, table, key, (bg_str){NULL, 0}, err);
}

bg_status bg_state_commit(bg_state *state, bg_error *err)
{
    if (state->writer == NULL)
        return BG_OK;
    int rc = mdb_txn_commit(state->writer);
    state->writer = NULL;
    while (rc == MDB_MAP_FULL) {
        rc = grow_and_replay(state, false);
        if (rc == 0) {
            rc = mdb_txn_commit(state->writer);
            state->writer = NULL;
        }
    }
    bg_buf_reset(&state->log);
    if (rc == 0)
        return BG_OK;
    state->is_damaged |= is_damage(rc);
    return from_mdb(err, state, rc, "commit");
}
