/** 64-bit hash for tables in memory (FNV-1a with a final mix); never for keys or digests. Pure. */
#ifndef BG_BASE_HASH_H
#define BG_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t bg_hash_bytes(const void *bytes, size_t n);

#endif
