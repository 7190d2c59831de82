/* multiply.h: products with block rows inside the library. */
#ifndef DRAPE_SPARSE_MULTIPLY_H
#define DRAPE_SPARSE_MULTIPLY_H

#include "base/context.h"
#include "drape/sparse.h"

/* y = A x; returns x'Ax, which costs nothing more. */
double drape_i_multiply(drape_context *ctx, const drape_bsr3 *A, const double *x, double *y);

#endif
