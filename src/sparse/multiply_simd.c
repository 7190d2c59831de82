/* multiply_simd.c: y = A x for 3x3 block rows.
 *
 * Block k of row i stands in column col[k], nine values a00 a01 a02 a10 ... a22 at val + 9k. Each of the nine is
 * multiplied by its own of x0 x1 x2 x0 ... x2 and added to its own of nine running sums; at the end of the row
 * y_r is the sum of three of them. Nine sums that never mix: the bits depend on no vector width, and one
 * thread sums one row in order, so on no thread count either.
 *
 * Cost: 18 flops for 76 bytes a block, so memory bandwidth is the limit. */
#include "base/simd.h"
#include "sparse/kernels.h"

#if DRAPE_W == 8
enum { VECTORS = 1 };
#elif DRAPE_W == 4
enum { VECTORS = 2 };
#else
enum { VECTORS = 4 };
#endif

/* The first eight of x0 x1 x2 x0 x1 x2 x0 x1 x2. */
DRAPE_INLINE void repeat_x(const double *x, vd out[VECTORS]) {
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

double DRAPE_NAME(drape_i_multiply_rows)(const drape_bsr3 *A, const double *x, double *y, int64_t begin,
                                         int64_t end) {
    const int64_t *rowptr = A->rowptr;
    const int32_t *col = A->col;
    const double *val = A->val;
    double dot = 0;
    for (int64_t i = begin; i < end; i++) {
        vd sum[VECTORS], xs[VECTORS];
        double last = 0, s[9];
        for (int v = 0; v < VECTORS; v++) sum[v] = vd_set1(0);
        for (int64_t k = rowptr[i]; k < rowptr[i + 1]; k++) {
            const double *a = val + 9 * k, *xk = x + 3 * (int64_t)col[k];
            repeat_x(xk, xs);
            for (int v = 0; v < VECTORS; v++) sum[v] += vd_load(a + v * DRAPE_W) * xs[v];
            last += a[8] * xk[2];
        }
        for (int v = 0; v < VECTORS; v++) vd_store(s + v * DRAPE_W, sum[v]);
        s[8] = last;
        for (int r = 0; r < 3; r++) y[3 * i + r] = (s[3 * r] + s[3 * r + 1]) + s[3 * r + 2];
        dot += (x[3 * i] * y[3 * i] + x[3 * i + 1] * y[3 * i + 1]) + x[3 * i + 2] * y[3 * i + 2];
    }
    return dot;
}
