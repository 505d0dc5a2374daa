/** 64-bit hash for tables in memory and for checksums against accidents (words of 8 bytes, in the style of FNV); never for keys or digests. Pure. */
#ifndef BG_BASE_HASH_H
#define BG_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t bg_hash_bytes(const void *bytes, size_t n);

#endif
