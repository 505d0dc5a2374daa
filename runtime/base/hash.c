#include "base/hash.h"

/* One step takes a word into a lane. It is a bijection of the lane, so that a changed word always changes it; the rotation
 * brings what happened in high bits back to the low ones, where a multiplication reaches on. */
#define K UINT64_C(0x9E3779B97F4A7C15)

static uint64_t load(const unsigned char *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
           (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

static uint64_t step(uint64_t lane, uint64_t word)
{
    lane = (lane ^ word) * K;
    return lane << 29 | lane >> 35;
}

/* Four lanes at once: an image of 30 MB is to be checked in a few milliseconds. */
static uint64_t long_run(const unsigned char *p, size_t n_blocks, uint64_t h)
{
    uint64_t a = h, b = ~h, c = h ^ K, d = ~h ^ K;
    for (; n_blocks != 0; n_blocks--, p += 32) {
        a = step(a, load(p));
        b = step(b, load(p + 8));
        c = step(c, load(p + 16));
        d = step(d, load(p + 24));
    }
    return step(step(step(a, b), c), d);
}

uint64_t bg_hash_bytes(const void *bytes, size_t n)
{
    const unsigned char *p = n == 0 ? (const unsigned char *)"" : bytes; /* NULL has no end */
    const unsigned char *end = p + n;
    uint64_t h = 0xCBF29CE484222325u ^ n, tail = 0;
    if (n >= 32) {
        h = long_run(p, n / 32, h);
        p += n / 32 * 32;
    }
    for (; end - p >= 8; p += 8)
        h = step(h, load(p));
    for (unsigned shift = 0; p < end; p++, shift += 8)
        tail |= (uint64_t)*p << shift;
    h = step(h, tail);
    h ^= h >> 32;
    h *= K;
    return h ^ (h >> 29);
}
