/* kernels.h: the inner loops of this room, compiled once per instruction set. */
#ifndef DRAPE_SPARSE_KERNELS_H
#define DRAPE_SPARSE_KERNELS_H

#include "base/simd_level.h"
#include "drape/sparse.h"

/* y = A x for the rows [begin, end); returns the sum of x_i . y_i over them, in the order of the rows. */
DRAPE_I_KERNEL(double, drape_i_multiply_rows,
               (const drape_bsr3 *A, const double *x, double *y, int64_t begin, int64_t end));

#endif
