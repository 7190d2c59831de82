/* triangular_block.c: see triangular_block.h. */
#include "linear/precond/triangular_block.h"

#include "linear/prefilter.h"
#include "sparse/matrix.h"

#include <math.h>

static const double SINGULAR = 1e14; /* |a| |a^-1| of a block that has no inverse but for rounding */

static double largest(const double a[9]) {
    double size = 0;
    for (int32_t k = 0; k < 9; k++) size = fmax(size, fabs(a[k]));
    return size;
}

static bool all_finite(const double a[9]) {
    for (int32_t k = 0; k < 9; k++)
        if (!isfinite(a[k])) return false;
    return true;
}

/* Cofactors of a over its largest number, so that no determinant overflows or vanishes. */
bool drape_i_block_inverse(const double a[9], double out[9]) {
    double size = largest(a), b[9];
    if (!(size > 0) || !all_finite(a)) return false;
    for (int32_t k = 0; k < 9; k++) b[k] = a[k] / size;
    out[0] = b[4] * b[8] - b[5] * b[7], out[1] = b[2] * b[7] - b[1] * b[8], out[2] = b[1] * b[5] - b[2] * b[4];
    out[3] = b[5] * b[6] - b[3] * b[8], out[4] = b[0] * b[8] - b[2] * b[6], out[5] = b[2] * b[3] - b[0] * b[5];
    out[6] = b[3] * b[7] - b[4] * b[6], out[7] = b[1] * b[6] - b[0] * b[7], out[8] = b[0] * b[4] - b[1] * b[3];
    double determinant = (b[0] * out[0] + b[1] * out[3]) + b[2] * out[6];
    if (!(largest(out) < SINGULAR * fabs(determinant))) return false;
    double scale = 1 / determinant / size;
    for (int32_t k = 0; k < 9; k++) out[k] *= scale;
    return all_finite(out);
}

bool drape_i_block_positive(const double a[9]) {
    double size = fmax(fmax(a[0], a[4]), a[8]), b[9];
    if (!(size > 0) || !all_finite(a)) return false;
    for (int32_t k = 0; k < 9; k++) b[k] = a[k] / size;
    drape_i_block_symmetrise(b);
    double xx = b[4] * b[8] - b[5] * b[5], xy = b[2] * b[5] - b[1] * b[8], xz = b[1] * b[5] - b[2] * b[4];
    return b[0] > 0 && b[0] * b[4] - b[1] * b[1] > 0 && (b[0] * xx + b[1] * xy) + b[2] * xz > 0;
}

void drape_i_block_symmetrise(double a[9]) {
    a[1] = a[3] = (a[1] + a[3]) / 2;
    a[2] = a[6] = (a[2] + a[6]) / 2;
    a[5] = a[7] = (a[5] + a[7]) / 2;
}

static void replace(double a[9]) {
    double mean = (fabs(a[0]) + fabs(a[4]) + fabs(a[8])) / 3;
    if (!(mean > 0) || !isfinite(mean) || !isfinite(1 / mean)) mean = 1;
    for (int32_t k = 0; k < 9; k++) a[k] = k % 4 == 0 ? mean : 0;
}

void drape_i_usable_diagonal(const drape_bsr3 *A, const drape_constraints *set, const drape_i_couplings *couplings,
                             int32_t i, drape_i_pivots kind, double out[9]) {
    double inverse[9], sum[9];
    int64_t k = drape_i_matrix_find(A, i, i);
    const double *block = drape_i_coupled_block(couplings, i, k >= 0 ? A->val + 9 * k : NULL, sum);
    for (int32_t c = 0; c < 9; c++) out[c] = 0;
    if (block) drape_i_prefiltered_block(set, i, i, block, out);
    if (kind == DRAPE_I_PIVOTS_SYMMETRIC) drape_i_block_symmetrise(out);
    if (kind != DRAPE_I_PIVOTS_REGULAR && !drape_i_block_positive(out)) replace(out);
    else if (!drape_i_block_inverse(out, inverse)) replace(out);
}
