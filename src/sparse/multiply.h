/* multiply.h: products with block rows inside the library, and the kernel that computes them. */
#ifndef DRAPE_SPARSE_MULTIPLY_H
#define DRAPE_SPARSE_MULTIPLY_H

#include "base/context.h"
#include "base/simd_level.h"
#include "drape/sparse.h"

/* y = A x; returns x'Ax, which costs nothing more. */
double drape_i_multiply(drape_context *ctx, const drape_bsr3 *A, const double *x, double *y);

/* ---- Kernel: multiply_simd.c ---- */

/* y = A x for the rows [begin, end); returns the sum of x_i . y_i over them, in the order of the rows. */
DRAPE_I_KERNEL(double, drape_i_multiply_rows,
               (const drape_bsr3 *A, const double *x, double *y, int64_t begin, int64_t end));
/* The same, added to `dot` row by row, so that rows in between may be left out. */
DRAPE_I_KERNEL(double, drape_i_multiply_rows_onto,
               (const drape_bsr3 *A, const double *x, double *y, int64_t begin, int64_t end, double dot));

/* y = A x for a matrix that need not be sound: false where an offset or a column leads outside (bounds.h). Rows are
 * checked right before they are multiplied, so that their columns come out of memory once. */
DRAPE_I_KERNEL(bool, drape_i_multiply_rows_checked,
               (const drape_bsr3 *A, const double *x, double *y, int64_t begin, int64_t end));

#endif
