/* abc_hash.c: MurmurHash3 and SpookyHash V2, written from the descriptions of their authors, who gave both to the
 * public domain. Shifts and constants are theirs. */
#include "io/abc_hash.h"

#include <string.h>

/* ---- bytes and words ---- */

void drape_i_little_u32(unsigned char out[4], uint32_t value) {
    for (int k = 0; k < 4; k++) out[k] = (unsigned char)(value >> 8 * k & 255);
}

void drape_i_little_u64(unsigned char out[8], uint64_t value) {
    for (int k = 0; k < 8; k++) out[k] = (unsigned char)(value >> 8 * k & 255);
}

void drape_i_little_f32(unsigned char out[4], float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    drape_i_little_u32(out, bits);
}

void drape_i_little_f64(unsigned char out[8], double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    drape_i_little_u64(out, bits);
}

/* The word of the first `bytes` bytes, at most 8; 0 for none. */
static uint64_t load_part(const unsigned char *from, size_t bytes) {
    uint64_t word = 0;
    for (size_t k = 0; k < bytes && k < 8; k++) word |= (uint64_t)from[k] << 8 * k;
    return word;
}

static uint64_t load(const unsigned char *from) { return load_part(from, 8); }

static uint64_t rotate(uint64_t word, unsigned bits) { return word << bits | word >> (64 - bits); }

/* ---- MurmurHash3 ---- */

static const uint64_t MURMUR_1 = UINT64_C(0x87c37b91114253d5), MURMUR_2 = UINT64_C(0x4cf5ad432745937f);

static uint64_t scramble_low(uint64_t k) { return rotate(k * MURMUR_1, 31) * MURMUR_2; }
static uint64_t scramble_high(uint64_t k) { return rotate(k * MURMUR_2, 33) * MURMUR_1; }

static uint64_t avalanche(uint64_t h) {
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

drape_i_digest drape_i_murmur3(const void *data, size_t bytes) {
    const unsigned char *from = data;
    uint64_t low = 0, high = 0;
    size_t left = bytes;
    for (; left >= 16; left -= 16, from += 16) {
        low = (rotate(low ^ scramble_low(load(from)), 27) + high) * 5 + 0x52dce729;
        high = (rotate(high ^ scramble_high(load(from + 8)), 31) + low) * 5 + 0x38495ab5;
    }
    if (left > 8) high ^= scramble_high(load_part(from + 8, left - 8));
    if (left > 0) low ^= scramble_low(load_part(from, left));
    low ^= bytes;
    high ^= bytes;
    low += high;
    high += low;
    low = avalanche(low);
    high = avalanche(high);
    low += high;
    high += low;
    return (drape_i_digest){{low, high}};
}

/* ---- SpookyHash: messages of less than two blocks ---- */

static const uint64_t SPOOKY = UINT64_C(0xdeadbeefdeadbeef);

/* In a circle of four words, each is turned, added to by the next and put into the one after that. */
static void mix_short(uint64_t h[4]) {
    static const unsigned turn[12] = {50, 52, 30, 41, 54, 48, 38, 37, 62, 34, 5, 36};
    for (unsigned k = 0; k < 12; k++) {
        uint64_t *word = &h[(k + 2) % 4];
        *word = rotate(*word, turn[k]) + h[(k + 3) % 4];
        h[k % 4] ^= *word;
    }
}

static void end_short(uint64_t h[4]) {
    static const unsigned turn[11] = {15, 52, 26, 51, 28, 9, 47, 54, 32, 25, 63};
    for (unsigned k = 0; k < 11; k++) {
        uint64_t *word = &h[(k + 3) % 4], *before = &h[(k + 2) % 4];
        *word ^= *before;
        *before = rotate(*before, turn[k]);
        *word += *before;
    }
}

static drape_i_digest hash_short(const unsigned char *from, size_t bytes) {
    uint64_t h[4] = {0, 0, SPOOKY, SPOOKY};
    size_t left = bytes;
    for (; left >= 16; left -= 16, from += 16) {
        h[2] += load(from);
        h[3] += load(from + 8);
        mix_short(h);
        if (left < 32) continue;
        left -= 16;
        from += 16;
        h[0] += load(from);
        h[1] += load(from + 8);
    }
    h[3] += (uint64_t)bytes << 56;
    h[2] += left ? load_part(from, left) : SPOOKY;
    if (left > 8) h[3] += load_part(from + 8, left - 8);
    if (left == 0) h[3] += SPOOKY;
    end_short(h);
    return (drape_i_digest){{h[0], h[1]}};
}

void drape_i_spooky_fold(drape_i_digest *sum, drape_i_digest next) {
    uint64_t h[4] = {sum->word[0], sum->word[1], next.word[0], next.word[1]};
    end_short(h);
    *sum = (drape_i_digest){{h[0], h[1]}};
}

/* ---- SpookyHash: longer ones, block by block ---- */

enum { WORDS = DRAPE_I_SPOOKY_WORDS, BLOCK = DRAPE_I_SPOOKY_BLOCK };

static void mix_block(uint64_t s[WORDS], const unsigned char *block) {
    static const unsigned turn[WORDS] = {11, 32, 43, 31, 17, 28, 39, 57, 55, 54, 22, 46};
    for (unsigned k = 0; k < WORDS; k++) {
        uint64_t *before = &s[(k + WORDS - 1) % WORDS];
        s[k] += load(block + 8 * k);
        s[(k + 2) % WORDS] ^= s[(k + WORDS - 2) % WORDS];
        *before ^= s[k];
        s[k] = rotate(s[k], turn[k]);
        *before += s[(k + 1) % WORDS];
    }
}

static void end_blocks(uint64_t s[WORDS]) {
    static const unsigned turn[WORDS] = {44, 15, 34, 21, 38, 33, 10, 13, 38, 53, 42, 54};
    for (unsigned k = 0; k < WORDS; k++) {
        uint64_t *first = &s[(k + WORDS - 1) % WORDS], *word = &s[(k + 1) % WORDS];
        *first += *word;
        s[(k + 2) % WORDS] ^= *first;
        *word = rotate(*word, turn[k]);
    }
}

void drape_i_spooky_add(drape_i_spooky *h, const void *data, size_t bytes) {
    const unsigned char *from = data;
    h->bytes += bytes;
    while (bytes > 0) {
        size_t part = sizeof h->buffer - h->waiting < bytes ? sizeof h->buffer - h->waiting : bytes;
        memcpy(h->buffer + h->waiting, from, part);
        h->waiting += part;
        from += part;
        bytes -= part;
        if (h->waiting < sizeof h->buffer) return;
        if (h->bytes - bytes == sizeof h->buffer) /* the first time */
            for (unsigned k = 2; k < WORDS; k += 3) h->state[k] = SPOOKY;
        mix_block(h->state, h->buffer);
        mix_block(h->state, h->buffer + BLOCK);
        h->waiting = 0;
    }
}

drape_i_digest drape_i_spooky_end(const drape_i_spooky *h) {
    if (h->bytes < sizeof h->buffer) return hash_short(h->buffer, h->waiting);
    drape_i_spooky last = *h;
    const unsigned char *from = h->buffer;
    if (last.waiting >= BLOCK) {
        mix_block(last.state, from);
        from += BLOCK;
        last.waiting -= BLOCK;
    }
    unsigned char block[BLOCK] = {0};
    memcpy(block, from, last.waiting);
    block[BLOCK - 1] = (unsigned char)last.waiting;
    for (unsigned k = 0; k < WORDS; k++) last.state[k] += load(block + 8 * k);
    for (int pass = 0; pass < 3; pass++) end_blocks(last.state);
    return (drape_i_digest){{last.state[0], last.state[1]}};
}
