/* scatter_simd.c: adds the element matrices of a batch to block rows.
 *
 * A batch has one lane per element. So the nine numbers of one element's block are far from each other, while those
 * of the matrix are together. The first eight of each block are transposed for all lanes at once, after which they
 * are added as vectors; the ninth is added by itself. Each number of the matrix gets the same single addition as from
 * a plain loop, so the bits do not depend on the width. */
#include "base/simd.h"
#include "sparse/assembly.h"

enum { MAIN = 8 }; /* of the nine numbers of a block: those that are transposed */

typedef struct transposed {
    double DRAPE_ALIGNED block[DRAPE_I_LANES][DRAPE_I_ELEMENT_PAIRS][MAIN];
} transposed;

/* out[l] = {row[0][l], row[1][l], ...}: W rows of W lanes. */
DRAPE_INLINE void transpose(const vd row[DRAPE_W], vd out[DRAPE_W]) {
#if DRAPE_W == 8
    vd a[8], b[8];
    for (int i = 0; i < 8; i += 2) { /* a[i]: even lanes, a[i + 1]: odd lanes of rows i and i + 1 */
        a[i] = VD_SHUFFLE(row[i], row[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        a[i + 1] = VD_SHUFFLE(row[i], row[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int i = 0; i < 8; i += 4) /* b[i + l]: lanes l and l + 4 of rows i to i + 3 */
        for (int p = 0; p < 2; p++) {
            b[i + p] = VD_SHUFFLE(a[i + p], a[i + 2 + p], 0, 1, 8, 9, 4, 5, 12, 13);
            b[i + 2 + p] = VD_SHUFFLE(a[i + p], a[i + 2 + p], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int l = 0; l < 4; l++) {
        out[l] = VD_SHUFFLE(b[l], b[4 + l], 0, 1, 2, 3, 8, 9, 10, 11);
        out[4 + l] = VD_SHUFFLE(b[l], b[4 + l], 4, 5, 6, 7, 12, 13, 14, 15);
    }
#elif DRAPE_W == 4
    vd a[4];
    for (int i = 0; i < 4; i += 2) {
        a[i] = VD_SHUFFLE(row[i], row[i + 1], 0, 4, 2, 6);
        a[i + 1] = VD_SHUFFLE(row[i], row[i + 1], 1, 5, 3, 7);
    }
    for (int p = 0; p < 2; p++) {
        out[p] = VD_SHUFFLE(a[p], a[2 + p], 0, 1, 4, 5);
        out[2 + p] = VD_SHUFFLE(a[p], a[2 + p], 2, 3, 6, 7);
    }
#else
    out[0] = VD_SHUFFLE(row[0], row[1], 0, 2);
    out[1] = VD_SHUFFLE(row[0], row[1], 1, 3);
#endif
}

DRAPE_INLINE void transpose_blocks(const double (*from)[DRAPE_I_LANES], int pairs, transposed *to) {
    for (int pair = 0; pair < pairs; pair++, from += 9)
        for (int first = 0; first < MAIN; first += DRAPE_W)
            for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W) {
                vd row[DRAPE_W], out[DRAPE_W];
                for (int i = 0; i < DRAPE_W; i++) row[i] = vd_load(&from[first + i][lane]);
                transpose(row, out);
                for (int l = 0; l < DRAPE_W; l++) vd_store(&to->block[lane + l][pair][first], out[l]);
            }
}

DRAPE_INLINE void add_block(double *to, const double *from, double last) {
    for (int i = 0; i < MAIN; i += DRAPE_W) vd_store(to + i, vd_load(to + i) + vd_load(from + i));
    to[8] += last;
}

DRAPE_INLINE void add_transposed(double *to, const double *from, double last) {
#if DRAPE_W == 8
    vd a = vd_load(from);
    vd_store(to, vd_load(to) + VD_SHUFFLE(a, a, 0, 3, 6, 1, 4, 7, 2, 5));
#elif DRAPE_W == 4
    vd a = vd_load(from), b = vd_load(from + 4);
    vd_store(to, vd_load(to) + VD_SHUFFLE(a, b, 0, 3, 6, 1));
    vd_store(to + 4, vd_load(to + 4) + VD_SHUFFLE(a, b, 4, 7, 2, 5));
#else
    vd a = vd_load(from), b = vd_load(from + 2), c = vd_load(from + 4), d = vd_load(from + 6);
    vd_store(to, vd_load(to) + VD_SHUFFLE(a, b, 0, 3));
    vd_store(to + 2, vd_load(to + 2) + VD_SHUFFLE(d, a, 0, 3));
    vd_store(to + 4, vd_load(to + 4) + VD_SHUFFLE(c, d, 0, 3));
    vd_store(to + 6, vd_load(to + 6) + VD_SHUFFLE(b, c, 0, 3));
#endif
    to[8] += last;
}

/* One element's blocks on and above the diagonal, to the rows [begin, end) of the matrix; `all`: the rows of all its
 * nodes are among them. */
DRAPE_INLINE void scatter_upper(const drape_i_scatter *s, const int32_t k, const bool all, int32_t element, int lane,
                                const drape_i_batch *batch, const transposed *upper) {
    const int32_t *nodes = s->nodes + (int64_t)k * element, *slot = s->slot + (int64_t)(k * (k + 1) / 2) * element;
    double *row[DRAPE_I_ELEMENT_NODES];
    int pair = 0;
    for (int32_t a = 0; a < k; a++)
        row[a] = all || (nodes[a] >= s->begin && nodes[a] < s->end) ? s->val + 9 * s->rowptr[nodes[a]] : NULL;
#pragma GCC unroll 4
    for (int32_t a = 0; a < k; a++)
#pragma GCC unroll 4
        for (int32_t b = a; b < k; b++, pair++) {
            const double *from = upper->block[lane][pair], last = batch->blocks[9 * pair + 8][lane];
            const int32_t place = slot[pair];
            if (b == a || place >= 0) {
                if (all || row[a]) add_block(row[a] + 9 * (int64_t)place, from, last);
            } else if (all || row[b]) add_transposed(row[b] + 9 * (int64_t)~place, from, last);
        }
}

/* All blocks of one element, node by node; `unsymmetric`: those of (b, a) are in `lower`. */
DRAPE_INLINE void scatter(const drape_i_scatter *s, const int32_t k, const bool unsymmetric, int32_t element,
                          int lane, const drape_i_batch *batch, const transposed *upper, const transposed *lower) {
    const int32_t *nodes = s->nodes + (int64_t)k * element, *slot = s->slot + (int64_t)(k * (k + 1) / 2) * element;
    int pair = 0;
    for (int32_t a = 0; a < k; a++)
        for (int32_t b = a; b < k; b++, pair++) {
            const bool swapped = slot[pair] < 0, has_a = nodes[a] >= s->begin && nodes[a] < s->end;
            const bool has_b = nodes[b] >= s->begin && nodes[b] < s->end;
            const int32_t i = swapped ? nodes[b] : nodes[a], j = swapped ? nodes[a] : nodes[b];
            const int64_t right = s->rowptr[i] + (swapped ? ~slot[pair] : slot[pair]);
            const int64_t left = i == j ? right : s->rowptr[j] + s->mirror[right];
            double *to = s->val + 9 * (swapped ? left : right), *mirror = s->val + 9 * (swapped ? right : left);
            const double *from = upper->block[lane][pair], last = batch->blocks[9 * pair + 8][lane];
            if (has_a) add_block(to, from, last);
            if (b == a || !has_b) continue;
            if (unsymmetric) add_block(mirror, lower->block[lane][pair], batch->lower[9 * pair + 8][lane]);
            else add_transposed(mirror, from, last);
        }
}

/* Whether a part has all rows of an element. */
DRAPE_INLINE bool has_all(const drape_i_scatter *s, const int32_t k, int32_t element) {
    const int32_t *nodes = s->nodes + (int64_t)k * element;
    bool all = true;
    for (int32_t a = 0; a < k; a++) all &= nodes[a] >= s->begin && nodes[a] < s->end;
    return all;
}

DRAPE_INLINE void scatter_all_upper(const drape_i_scatter *s, const int32_t k, const int32_t *elements, int32_t count,
                                    const drape_i_batch *batch) {
    transposed upper;
    transpose_blocks(batch->blocks, k * (k + 1) / 2, &upper);
    for (int32_t l = 0; l < count; l++)
        if (has_all(s, k, elements[l])) scatter_upper(s, k, true, elements[l], l, batch, &upper);
        else scatter_upper(s, k, false, elements[l], l, batch, &upper);
}

static void scatter_both(const drape_i_scatter *s, const int32_t *elements, int32_t count,
                         const drape_i_batch *batch) {
    transposed upper, lower;
    const int32_t pairs = s->k * (s->k + 1) / 2;
    transpose_blocks(batch->blocks, pairs, &upper);
    if (s->unsymmetric) transpose_blocks(batch->lower, pairs, &lower);
    for (int32_t l = 0; l < count; l++) scatter(s, s->k, s->unsymmetric, elements[l], l, batch, &upper, &lower);
}

void DRAPE_NAME(drape_i_scatter_blocks)(const drape_i_scatter *s, const int32_t *elements, int32_t count,
                                        const drape_i_batch *batch) {
    switch (s->upper ? s->k : 0) { /* as much known as can be */
    case 0: scatter_both(s, elements, count, batch); break;
    case 2: scatter_all_upper(s, 2, elements, count, batch); break;
    case 3: scatter_all_upper(s, 3, elements, count, batch); break;
    case 4: scatter_all_upper(s, 4, elements, count, batch); break;
    default: scatter_all_upper(s, s->k, elements, count, batch);
    }
}

DRAPE_INLINE void add_triple(double *to, const double *from) {
    *(vd2_unaligned *)to += *(const vd2_unaligned *)from;
    to[2] += from[2];
}

/* Triples together, a lane after the other; then as with blocks. */
DRAPE_INLINE void scatter_triples(const drape_i_scatter *s, const int32_t k, const int32_t *elements, int32_t count,
                                  const double (*from)[DRAPE_I_LANES], double *vector) {
    double DRAPE_ALIGNED triple[DRAPE_I_ELEMENT_NODES][3 * DRAPE_I_LANES];
    for (int32_t a = 0; a < k; a++)
        for (int lane = 0; lane < DRAPE_I_LANES; lane += DRAPE_W)
            vd3_store(triple[a] + 3 * lane, (vd3){vd_load(&from[3 * a][lane]), vd_load(&from[3 * a + 1][lane]),
                                                  vd_load(&from[3 * a + 2][lane])});
    for (int32_t l = 0; l < count; l++) {
        const int32_t *nodes = s->nodes + (int64_t)k * elements[l];
        for (int32_t a = 0; a < k; a++)
            if (nodes[a] >= s->begin && nodes[a] < s->end)
                add_triple(vector + 3 * (int64_t)nodes[a], triple[a] + 3 * l);
    }
}

void DRAPE_NAME(drape_i_scatter_vector)(const drape_i_scatter *s, const int32_t *elements, int32_t count,
                                        const double (*from)[DRAPE_I_LANES], double *vector) {
    switch (s->k) {
    case 2: scatter_triples(s, 2, elements, count, from, vector); break;
    case 3: scatter_triples(s, 3, elements, count, from, vector); break;
    case 4: scatter_triples(s, 4, elements, count, from, vector); break;
    default: scatter_triples(s, s->k, elements, count, from, vector);
    }
}

DRAPE_INLINE void store_transposed(double *to, const double *from) {
#if DRAPE_W == 8
    vd a = vd_load(from);
    vd_store(to, VD_SHUFFLE(a, a, 0, 3, 6, 1, 4, 7, 2, 5));
    to[8] = from[8];
#else
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) to[3 * i + j] = from[3 * j + i];
#endif
}

void DRAPE_NAME(drape_i_scatter_mirror)(const drape_bsr3 *A, const int32_t *mirror, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++)
        for (int64_t k = A->rowptr[i + 1] - 1; k >= A->rowptr[i] && A->col[k] > i; k--)
            store_transposed(A->val + 9 * (A->rowptr[A->col[k]] + mirror[k]), A->val + 9 * k);
}
