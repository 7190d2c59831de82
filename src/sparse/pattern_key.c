/* pattern_key.c: a hash of 64 bits over rowptr and col: the sum over k of (a_k + c_k)(b_k + d_k) modulo 2^64, a_k and
 * b_k the words of 32 bits two by two (the NH hash of Black and others 1999 with a Weyl sequence as its key). Sums do
 * not depend on their order, and the loop runs at the speed of memory. */
#include "sparse/pattern_key.h"

#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 1 << 14 };

typedef struct hashing {
    const char *data;
    int64_t length; /* of a chunk */
    uint64_t sums[DRAPE_I_CHUNKS];
} hashing;

static void hash_chunk(void *data, int64_t begin, int64_t end) {
    hashing *h = data;
    uint64_t sum = 0;
    for (int64_t k = begin; k < end; k++) {
        uint32_t pair[2];
        memcpy(pair, h->data + 8 * k, sizeof pair);
        uint32_t a = pair[0] + (uint32_t)k * 0x9e3779b1u + 0x27d4eb2fu; /* not 0 for k = 0 and column 0 */
        uint32_t b = pair[1] + (uint32_t)k * 0x85ebca77u + 0x165667b1u;
        sum += (uint64_t)a * b;
    }
    DRAPE_ASSERT(begin % h->length == 0 && begin / h->length < DRAPE_I_CHUNKS);
    h->sums[begin / h->length] = sum;
}

/* Of count words of 64 bits. */
static uint64_t hash_words(drape_context *ctx, const void *data, int64_t count) {
    hashing h = {data, drape_i_chunk_length(count, GRAIN), {0}};
    uint64_t sum = 0;
    drape_i_loop(ctx, count, GRAIN, hash_chunk, &h);
    for (int32_t i = 0; i < DRAPE_I_CHUNKS; i++) sum += h.sums[i];
    return sum;
}

static uint64_t hash_rowptr(drape_context *ctx, const drape_bsr3 *A) {
    return hash_words(ctx, A->rowptr, (int64_t)A->rows + 1);
}

static uint64_t hash_col(drape_context *ctx, const drape_bsr3 *A, int64_t blocks) {
    uint64_t sum = hash_words(ctx, A->col, blocks / 2);
    return blocks % 2 ? sum * 31 + (uint64_t)A->col[blocks - 1] : sum;
}

drape_i_pattern_key drape_i_pattern_key_of(drape_context *ctx, const drape_bsr3 *A) {
    int64_t blocks = A->rowptr[A->rows];
    return (drape_i_pattern_key){A->rows, blocks, hash_rowptr(ctx, A), hash_col(ctx, A, blocks)};
}

bool drape_i_pattern_is(drape_context *ctx, const drape_bsr3 *A, const drape_i_pattern_key *key) {
    if (A->rows != key->rows || A->rowptr[A->rows] != key->blocks) return false;
    if (key->blocks > 0 && !A->col) return false;
    return hash_rowptr(ctx, A) == key->rowptr && hash_col(ctx, A, key->blocks) == key->col;
}
