/* multiply_simd.c: y = A x for 3x3 block rows (row_sum.h). One thread sums one row in order, so the bits do not
 * depend on the number of threads either.
 *
 * Cost: 18 flops for 76 bytes per block, so memory bandwidth is the limit. */
#include "sparse/bounds_lanes.h"
#include "sparse/multiply.h"
#include "sparse/row_sum.h"

DRAPE_INLINE double multiply_rows(const drape_bsr3 *A, const double *x, double *y, int64_t begin, int64_t end,
                                  double dot) {
    const int64_t *rowptr = A->rowptr;
    const int32_t *col = A->col;
    const double *val = A->val;
    for (int64_t i = begin; i < end; i++) {
        row_sum sum = row_sum_zero();
        for (int64_t k = rowptr[i]; k < rowptr[i + 1]; k++) row_sum_add(&sum, val + 9 * k, x + 3 * (int64_t)col[k]);
        row_sum_total(&sum, y + 3 * i);
        dot += (x[3 * i] * y[3 * i] + x[3 * i + 1] * y[3 * i + 1]) + x[3 * i + 2] * y[3 * i + 2];
    }
    return dot;
}

double DRAPE_NAME(drape_i_multiply_rows)(const drape_bsr3 *A, const double *x, double *y, int64_t begin,
                                         int64_t end) {
    return multiply_rows(A, x, y, begin, end, 0);
}

double DRAPE_NAME(drape_i_multiply_rows_onto)(const drape_bsr3 *A, const double *x, double *y, int64_t begin,
                                              int64_t end, double dot) {
    return multiply_rows(A, x, y, begin, end, dot);
}

/* ---- For a matrix that need not be sound ---- */

/* Rows that are checked, then multiplied while their columns are in the nearest cache: enough to be worth the check's
 * beginning and end. */
enum { ROWS_AT_ONCE = 32 };

bool DRAPE_NAME(drape_i_multiply_rows_checked)(const drape_bsr3 *A, const double *x, double *y, int64_t begin,
                                               int64_t end) {
    int64_t i = begin;
    for (; i + ROWS_AT_ONCE <= end; i += ROWS_AT_ONCE) {
        if (!rows_inside(A, i, ROWS_AT_ONCE)) return false;
        multiply_rows(A, x, y, i, i + ROWS_AT_ONCE, 0);
    }
    if (!rows_inside(A, i, end - i)) return false;
    multiply_rows(A, x, y, i, end, 0);
    return true;
}
