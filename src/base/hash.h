/* hash.h: a number of 64 bits that tells bytes from other bytes: checksums of files, and whether two things are the
 * same. Not against somebody who wants to deceive. */
#ifndef DRAPE_BASE_HASH_H
#define DRAPE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define DRAPE_I_HASH_SEED UINT64_C(0xcbf29ce484222325)

/* Goes on from `hash` with these bytes. Any change within one word of 8 bytes, counted from `data`, changes the
 * result. The same on every little-endian machine. */
uint64_t drape_i_hash(uint64_t hash, const void *data, size_t bytes);

#endif
