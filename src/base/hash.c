/* hash.c: FNV-1a by words of 8 bytes: hash = (hash xor word) times an odd number, then the high half is mixed into
 * the low one. Each of these is one to one in hash and in word, so a single wrong word is never missed. The last word
 * is filled up with zeros, and the length is hashed too, so that zeros at the end count. */
#include "base/hash.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

uint64_t drape_i_hash(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *from = data;
    uint64_t word;
    size_t left = bytes;
    for (; left >= sizeof word; left -= sizeof word, from += sizeof word) {
        memcpy(&word, from, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    if (left) memcpy(&word, from, left);
    return mix(mix(hash, word), bytes);
}
