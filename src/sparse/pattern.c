/* pattern.c: patterns of block rows: made from elements, and recognised again.
 *
 * Row i has a block for every node that shares an element with i, and for i. First the elements around each node are
 * listed (two counting passes), then each row collects the nodes of its elements, each once, and sorts them. Cost:
 * proportional to the sum of nodes_per_element^2 over the elements. */
#include "sparse/matrix.h"

#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 8 };

/* Elements around each node, over all sets: incident[first[i] .. first[i+1]-1], packed as set and element. */
typedef struct incidence {
    int64_t total;
    int64_t *first;
    struct pair {
        int32_t set, element;
    } * incident;
} incidence;

static drape_status check_sets(drape_context *ctx, int32_t rows, const drape_elements *sets, int32_t set_count) {
    if (rows < 0) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "matrix: %d rows", rows);
    if (set_count > 0 && !sets) return drape_i_missing(ctx, "matrix", "sets");
    for (int32_t s = 0; s < set_count; s++) {
        int32_t k = sets[s].nodes_per_element;
        if (k < 1 || k > MAX_NODES || sets[s].count < 0)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "element set %d: %d elements of %d nodes; expected 1 to 8",
                                s, sets[s].count, k);
        if (sets[s].count > 0 && !sets[s].nodes) return drape_i_missing(ctx, "matrix", "sets[].nodes");
        for (int64_t i = 0; i < (int64_t)k * sets[s].count; i++)
            if (sets[s].nodes[i] < 0 || sets[s].nodes[i] >= rows)
                return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "element %lld of set %d names node %d of %d",
                                    (long long)(i / k), s, sets[s].nodes[i], rows);
    }
    return DRAPE_OK;
}

static void free_incidence(drape_context *ctx, int32_t rows, incidence *inc) {
    DRAPE_FREE(ctx, inc->incident, inc->total);
    DRAPE_FREE(ctx, inc->first, (int64_t)rows + 2);
}

static drape_status find_incidence(drape_context *ctx, int32_t rows, const drape_elements *sets, int32_t set_count,
                                   incidence *inc) {
    *inc = (incidence){0};
    if (!DRAPE_NEW(ctx, inc->first, (int64_t)rows + 2)) return DRAPE_ERROR_MEMORY;
    int64_t *next = inc->first + 1; /* next[i]: where node i's next element goes; ends as first[i + 1] */
    for (int32_t s = 0; s < set_count; s++)
        for (int64_t i = 0; i < (int64_t)sets[s].nodes_per_element * sets[s].count; i++) next[sets[s].nodes[i] + 1]++;
    for (int32_t i = 0; i < rows; i++) next[i + 1] += next[i];
    inc->total = next[rows];
    if (!DRAPE_NEW(ctx, inc->incident, inc->total)) {
        inc->total = 0;
        free_incidence(ctx, rows, inc);
        return DRAPE_ERROR_MEMORY;
    }
    for (int32_t s = 0; s < set_count; s++)
        for (int64_t i = 0; i < (int64_t)sets[s].nodes_per_element * sets[s].count; i++)
            inc->incident[next[sets[s].nodes[i]]++] = (struct pair){s, (int32_t)(i / sets[s].nodes_per_element)};
    DRAPE_ASSERT(inc->first[0] == 0 && inc->first[rows] == inc->total);
    return DRAPE_OK;
}

/* The nodes of row i's elements, each once, unsorted; seen[j] == i marks those that were met. */
static int64_t collect_row(int32_t i, const drape_elements *sets, const incidence *inc, int32_t *seen, int32_t *col) {
    int64_t count = 0;
    seen[i] = i;
    if (col) col[count] = i;
    count++;
    for (int64_t e = inc->first[i]; e < inc->first[i + 1]; e++) {
        const drape_elements *set = &sets[inc->incident[e].set];
        int32_t k = set->nodes_per_element;
        const int32_t *nodes = set->nodes + (int64_t)k * inc->incident[e].element;
        for (int32_t a = 0; a < k; a++) {
            if (seen[nodes[a]] == i) continue;
            seen[nodes[a]] = i;
            if (col) col[count] = nodes[a];
            count++;
        }
    }
    return count;
}

static int ascending(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static drape_status fill_pattern(drape_context *ctx, int32_t rows, const drape_elements *sets, const incidence *inc,
                                 int32_t *seen, drape_matrix **out) {
    int64_t blocks = 0;
    memset(seen, 0xff, (size_t)rows * sizeof *seen);
    for (int32_t i = 0; i < rows; i++) blocks += collect_row(i, sets, inc, seen, NULL);
    drape_status status = drape_i_pattern_alloc(ctx, rows, blocks, out);
    if (status) return status;
    memset(seen, 0xff, (size_t)rows * sizeof *seen);
    for (int32_t i = 0; i < rows; i++) {
        int32_t *col = (*out)->col + (*out)->rowptr[i];
        int64_t count = collect_row(i, sets, inc, seen, col);
        qsort(col, (size_t)count, sizeof *col, ascending);
        (*out)->rowptr[i + 1] = (*out)->rowptr[i] + count;
    }
    DRAPE_ASSERT((*out)->rowptr[rows] == blocks);
    return DRAPE_OK;
}

drape_status drape_i_pattern_from_elements(drape_context *ctx, int32_t rows, const drape_elements *sets,
                                           int32_t set_count, drape_matrix **out) {
    incidence inc;
    int32_t *seen;
    *out = NULL;
    drape_status status = check_sets(ctx, rows, sets, set_count);
    if (!status) status = find_incidence(ctx, rows, sets, set_count, &inc);
    if (status) return status;
    if (DRAPE_NEW(ctx, seen, rows)) status = fill_pattern(ctx, rows, sets, &inc, seen, out);
    else status = DRAPE_ERROR_MEMORY;
    DRAPE_FREE(ctx, seen, rows);
    free_incidence(ctx, rows, &inc);
    return status;
}

drape_status drape_matrix_from_elements(drape_context *ctx, int32_t rows, const drape_elements *sets,
                                        int32_t set_count, drape_matrix **out) {
    drape_matrix *pattern;
    if (out) *out = NULL;
    if (!ctx || !out) return drape_i_missing(ctx, "matrix", "out");
    drape_status status = drape_i_pattern_from_elements(ctx, rows, sets, set_count, &pattern);
    if (status) return status;
    status = drape_i_matrix_on_pattern(pattern, out);
    drape_matrix_destroy(pattern); /* the matrix holds on to it */
    return status;
}

/* ---- Keys ---- */

/* A hash of 64 bits over rowptr and col: the sum over k of (a_k + c_k)(b_k + d_k) modulo 2^64. a_k and b_k are pairs
 * of 32-bit words. This is the NH hash of Black and others (1999) with a Weyl sequence as its key. Sums do not depend
 * on their order, and the loop runs at the speed of memory. */
enum { KEY_GRAIN = 1 << 14 };

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
    hashing h = {data, drape_i_chunk_length(count, KEY_GRAIN), {0}};
    uint64_t sum = 0;
    drape_i_loop(ctx, count, KEY_GRAIN, hash_chunk, &h);
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
