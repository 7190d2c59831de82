/* row_sum.h: the sum of A_ij x_j over the blocks of a row, for kernels.
 *
 * A block's nine values a00 a01 a02 a10 ... a22 are each multiplied by its own of x0 x1 x2 x0 ... x2 and added to its
 * own of nine running sums; at the end of the row component r is the sum of three of them. Nine sums that never mix:
 * the bits depend on no vector width. */
#ifndef DRAPE_SPARSE_ROW_SUM_H
#define DRAPE_SPARSE_ROW_SUM_H

#include "base/simd.h"

enum { ROW_SUM_VECTORS = 8 / DRAPE_W };

typedef struct row_sum {
    vd part[ROW_SUM_VECTORS]; /* the first eight */
    double last;
} row_sum;

/* The first eight of x0 x1 x2 x0 x1 x2 x0 x1 x2. */
DRAPE_INLINE void row_sum_repeat(const double *x, vd out[ROW_SUM_VECTORS]) {
#if DRAPE_W == 8
    vd v = vd_load3(x);
    out[0] = VD_SHUFFLE(v, v, 0, 1, 2, 0, 1, 2, 0, 1);
#elif DRAPE_W == 4
    vd v = vd_load3(x);
    out[0] = VD_SHUFFLE(v, v, 0, 1, 2, 0);
    out[1] = VD_SHUFFLE(v, v, 1, 2, 0, 1);
#else
    vd low = vd_load(x), high = vd_set1(x[2]);
    out[0] = low;
    out[1] = VD_SHUFFLE(high, low, 0, 2);
    out[2] = VD_SHUFFLE(low, high, 1, 2);
    out[3] = low;
#endif
}

DRAPE_INLINE row_sum row_sum_zero(void) {
    row_sum s = {.last = 0};
    for (int v = 0; v < ROW_SUM_VECTORS; v++) s.part[v] = vd_set1(0);
    return s;
}

/* s += a x, a of nine values and x of three */
DRAPE_INLINE void row_sum_add(row_sum *s, const double *a, const double *x) {
    vd xs[ROW_SUM_VECTORS];
    row_sum_repeat(x, xs);
    for (int v = 0; v < ROW_SUM_VECTORS; v++) s->part[v] += vd_load(a + v * DRAPE_W) * xs[v];
    s->last += a[8] * x[2];
}

DRAPE_INLINE void row_sum_total(const row_sum *s, double out[3]) {
    double n[9];
    for (int v = 0; v < ROW_SUM_VECTORS; v++) vd_store(n + v * DRAPE_W, s->part[v]);
    n[8] = s->last;
    for (int r = 0; r < 3; r++) out[r] = (n[3 * r] + n[3 * r + 1]) + n[3 * r + 2];
}

#endif
