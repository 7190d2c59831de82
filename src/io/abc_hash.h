/* abc_hash.h: the two checksums of Alembic's files: MurmurHash3 of the bytes of a sample, SpookyHash V2 of everything
 * above samples. Both are the same on every machine: words are read from bytes, the lowest first. */
#ifndef DRAPE_IO_ABC_HASH_H
#define DRAPE_IO_ABC_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct drape_i_digest {
    uint64_t word[2];
} drape_i_digest;

/* MurmurHash3, the variant of 128 bits for 64-bit machines, with seed 0 (Austin Appleby, 2011). */
drape_i_digest drape_i_murmur3(const void *data, size_t bytes);

enum { DRAPE_I_SPOOKY_WORDS = 12, DRAPE_I_SPOOKY_BLOCK = 8 * DRAPE_I_SPOOKY_WORDS };

/* SpookyHash V2 of 128 bits with seeds 0 (Bob Jenkins, 2012), of a message that comes in parts. All zero: no bytes
 * yet. */
typedef struct drape_i_spooky {
    uint64_t state[DRAPE_I_SPOOKY_WORDS];
    uint64_t bytes;                                 /* of the message so far */
    size_t waiting;                                 /* of them below */
    unsigned char buffer[2 * DRAPE_I_SPOOKY_BLOCK]; /* short messages are hashed in another way */
} drape_i_spooky;

void drape_i_spooky_add(drape_i_spooky *h, const void *data, size_t bytes);
/* Of the message so far, which may go on. */
drape_i_digest drape_i_spooky_end(const drape_i_spooky *h);
/* The last step of SpookyHash by itself, which folds the digest of one more sample into the sum of those before. */
void drape_i_spooky_fold(drape_i_digest *sum, drape_i_digest next);

/* Numbers as bytes, the lowest first. */
void drape_i_little_u32(unsigned char out[4], uint32_t value);
void drape_i_little_u64(unsigned char out[8], uint64_t value);
void drape_i_little_f32(unsigned char out[4], float value);
void drape_i_little_f64(unsigned char out[8], double value);

#endif
