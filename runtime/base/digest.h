/** SHA-256 through OpenSSL's EVP. libcrypto is loaded on the first use (so that a run with nothing to do never pays
 *  for it); a machine without it gets BG_E_LIBRARY from the first call. Contexts are not shared between threads. */
#ifndef BG_BASE_DIGEST_H
#define BG_BASE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"

typedef struct {
    uint8_t b[32];
} bg_digest;

typedef struct {
    void *ctx; /* EVP_MD_CTX */
} bg_sha256;

BG_MUST_USE bg_status bg_sha256_init(bg_sha256 *sha, bg_error *err);
void bg_sha256_update(bg_sha256 *sha, const void *bytes, size_t n);
/** Finish, release, and give the digest. */
bg_digest bg_sha256_final(bg_sha256 *sha);
/** Release without a digest. `{0}` is fine, twice is fine. */
void bg_sha256_clear(bg_sha256 *sha);
BG_MUST_USE bg_status bg_sha256_of(const void *bytes, size_t n, bg_digest *out, bg_error *err);

/** 64 lower-case hex digits and NUL. */
void bg_digest_hex(const bg_digest *d, char out[65]);
bool bg_digest_parse(bg_digest *out, const char *hex, size_t n); /* n must be 64 */
static inline bool bg_digest_eq(const bg_digest *a, const bg_digest *b)
{
    return memcmp(a->b, b->b, sizeof a->b) == 0;
}

/** Load a shared library once and fill a table of function pointers; thread-safe when guarded by the caller's
 *  pthread_once. `names[i]` is looked up into `slots[i]`. */
BG_MUST_USE bg_status bg_dynlib_load(const char *const *sonames, const char *const *names, void (**slots)(void), size_t n,
                                     bg_error *err);

#endif
