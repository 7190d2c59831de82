/* kernels.h: loops over long vectors, compiled once per instruction set. */
#ifndef DRAPE_LINEAR_KERNELS_H
#define DRAPE_LINEAR_KERNELS_H

#include "base/simd_level.h"

#include <stdint.h>

/* Over the components [begin, end); sums go in eight lanes, component i into lane i - begin modulo 8. */
DRAPE_I_KERNEL(double, drape_i_dot_range, (const double *x, const double *y, int64_t begin, int64_t end));
/* x += a p, r -= a s */
DRAPE_I_KERNEL(void, drape_i_advance_range,
               (double a, const double *p, const double *s, double *x, double *r, int64_t begin, int64_t end));
/* y += a x */
DRAPE_I_KERNEL(void, drape_i_axpy_range, (double a, const double *x, double *y, int64_t begin, int64_t end));
/* p = h + b p */
DRAPE_I_KERNEL(void, drape_i_xpby_range, (double b, const double *h, double *p, int64_t begin, int64_t end));

#endif
