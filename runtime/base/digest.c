#include "base/digest.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include <openssl/evp.h>

/* Typed pointers to the functions of libcrypto that are used; filled on first use. */
static struct {
    __typeof__(&EVP_MD_CTX_new) ctx_new;
    __typeof__(&EVP_MD_CTX_free) ctx_free;
    __typeof__(&EVP_DigestInit_ex) init;
    __typeof__(&EVP_DigestUpdate) update;
    __typeof__(&EVP_DigestFinal_ex) final;
    const EVP_MD *md;
} crypto;
static bg_error crypto_error;
static pthread_once_t crypto_once = PTHREAD_ONCE_INIT;

bg_status bg_dynlib_load(const char *const *sonames, const char *const *names, void (**slots)(void), size_t n,
                         bg_error *err)
{
    void *lib = NULL;
    for (size_t i = 0; sonames[i] != NULL && lib == NULL; i++)
        lib = dlopen(sonames[i], RTLD_NOW | RTLD_LOCAL);
    if (lib == NULL)
        return bg_error_set(err, BG_E_LIBRARY, "can't load %s: %s. Install the package that holds it.", sonames[0],
                            dlerror());
    for (size_t i = 0; i < n; i++) {
        void *sym = dlsym(lib, names[i]);
        if (sym == NULL)
            return bg_error_set(err, BG_E_LIBRARY, "%s has no function %s; a newer version is needed.", sonames[0],
                                names[i]);
        memcpy(&slots[i], &sym, sizeof sym); /* POSIX: an object pointer from dlsym may hold a function */
    }
    return BG_OK;
}

static void crypto_load(void)
{
    static const char *const sonames[] = {"libcrypto.so.3", "libcrypto.so", NULL};
    static const char *const names[] = {"EVP_MD_CTX_new",   "EVP_MD_CTX_free",    "EVP_DigestInit_ex",
                                        "EVP_DigestUpdate", "EVP_DigestFinal_ex", "EVP_sha256"};
    void (*slots[6])(void);
    if (bg_dynlib_load(sonames, names, slots, 6, &crypto_error) != BG_OK)
        return;
    crypto.ctx_new = (__typeof__(&EVP_MD_CTX_new))slots[0];
    crypto.ctx_free = (__typeof__(&EVP_MD_CTX_free))slots[1];
    crypto.init = (__typeof__(&EVP_DigestInit_ex))slots[2];
    crypto.update = (__typeof__(&EVP_DigestUpdate))slots[3];
    crypto.final = (__typeof__(&EVP_DigestFinal_ex))slots[4];
    crypto.md = ((__typeof__(&EVP_sha256))slots[5])();
}

bg_status bg_sha256_init(bg_sha256 *sha, bg_error *err)
{
    sha->ctx = NULL;
    pthread_once(&crypto_once, crypto_load);
    if (crypto.md == NULL) {
        if (err != NULL)
            *err = crypto_error;
        return BG_E_LIBRARY;
    }
    EVP_MD_CTX *ctx = crypto.ctx_new();
    if (ctx == NULL)
        return bg_error_set(err, BG_E_NOMEM, "out of memory while hashing");
    if (crypto.init(ctx, crypto.md, NULL) != 1) {
        crypto.ctx_free(ctx);
        return bg_error_set(err, BG_E_LIBRARY, "libcrypto refuses SHA-256; check its configuration");
    }
    sha->ctx = ctx;
    return BG_OK;
}

void bg_sha256_update(bg_sha256 *sha, const void *bytes, size_t n)
{
    if (crypto.update(sha->ctx, bytes, n) != 1)
        abort(); /* only misuse can fail here */
}

bg_digest bg_sha256_final(bg_sha256 *sha)
{
    bg_digest d;
    unsigned n = 0;
    if (crypto.final(sha->ctx, d.b, &n) != 1 || n != sizeof d.b)
        abort();
    bg_sha256_clear(sha);
    return d;
}

void bg_sha256_clear(bg_sha256 *sha)
{
    if (sha->ctx != NULL)
        crypto.ctx_free(sha->ctx);
    sha->ctx = NULL;
}

bg_status bg_sha256_of(const void *bytes, size_t n, bg_digest *out, bg_error *err)
{
    bg_sha256 sha;
    BG_TRY(bg_sha256_init(&sha, err));
    bg_sha256_update(&sha, bytes, n);
    *out = bg_sha256_final(&sha);
    return BG_OK;
}

void bg_digest_hex(const bg_digest *d, char out[65])
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < 32; i++) {
        out[2 * i] = hex[d->b[i] >> 4];
        out[2 * i + 1] = hex[d->b[i] & 15];
    }
    out[64] = '\0';
}

static int nibble(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

bool bg_digest_parse(bg_digest *out, const char *hex, size_t n)
{
    if (n != 64)
        return false;
    for (size_t i = 0; i < 32; i++) {
        int hi = nibble(hex[2 * i]), lo = nibble(hex[2 * i + 1]);
        if (hi < 0 || lo < 0)
            return false;
        out->b[i] = (uint8_t)(hi * 16 + lo);
    }
    return true;
}
