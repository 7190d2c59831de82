/* dense.h: Cholesky's factors of small symmetric matrices, n x n row by row, in doubles. Where n is known to the
 * compiler the loops unroll. */
#ifndef DRAPE_LINEAR_AMG_DENSE_H
#define DRAPE_LINEAR_AMG_DENSE_H

#include "base/attributes.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Upper triangular R with R'R = a. A pivot that is no more than `nothing` times its diagonal number belongs to a
 * column that depends on those before it: it gets no row. */
DRAPE_INLINE void drape_i_factor_upper(int32_t n, const double *a, double nothing, double *R) {
    memset(R, 0, (size_t)(n * n) * sizeof *R);
    for (int32_t i = 0; i < n; i++) {
        double pivot = a[n * i + i];
        for (int32_t k = 0; k < i; k++) pivot -= R[n * k + i] * R[n * k + i];
        if (!(pivot > nothing * a[n * i + i])) continue;
        R[n * i + i] = sqrt(pivot);
        for (int32_t j = i + 1; j < n; j++) {
            double sum = a[n * i + j];
            for (int32_t k = 0; k < i; k++) sum -= R[n * k + i] * R[n * k + j];
            R[n * i + j] = sum / R[n * i + i];
        }
    }
}

/* Its inverse; a column without a row in R is zero. */
DRAPE_INLINE void drape_i_invert_upper(int32_t n, const double *R, double *inverse) {
    memset(inverse, 0, (size_t)(n * n) * sizeof *inverse);
    for (int32_t j = 0; j < n; j++) {
        if (R[n * j + j] == 0) continue;
        inverse[n * j + j] = 1 / R[n * j + j];
        for (int32_t i = j - 1; i >= 0; i--) {
            double sum = 0;
            if (R[n * i + i] == 0) continue;
            for (int32_t k = i + 1; k <= j; k++) sum -= R[n * i + k] * inverse[n * k + j];
            inverse[n * i + j] = sum / R[n * i + i];
        }
    }
}

#endif
