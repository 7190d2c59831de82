/* inverse.c: inverses of diagonal blocks.
 *
 * On the finest level by cofactors; a block that is not positive definite is replaced by one that is, so that a
 * failing A shows in p'Ap and not here. On coarse levels by Cholesky: a pivot that is nothing against its diagonal
 * number belongs to a direction that is not there, because an aggregate has too few vertices for all modes, or none
 * that are free; row and column are left out, and the direction is never touched. */
#include "linear/amg/setup.h"
#include "linear/prefilter.h"

#include <math.h>

static const double NOTHING = 1e-6; /* single precision leaves no more of a pivot */
static const double MORE = 4e-6;    /* of its trace makes a semidefinite block pass that */

typedef struct inverting {
    drape_i_level *level;
    const drape_constraints *set;
} inverting;

/* out = the inverse of the symmetric a, n x n, on the directions that it has. */
static void invert(int32_t n, const double *a, double *out) {
    double L[DRAPE_I_MODES][DRAPE_I_MODES] = {{0}}, inverse[DRAPE_I_MODES][DRAPE_I_MODES] = {{0}};
    for (int32_t j = 0; j < n; j++) {
        double pivot = a[j * n + j];
        for (int32_t k = 0; k < j; k++) pivot -= L[j][k] * L[j][k];
        if (!(pivot > NOTHING * a[j * n + j])) continue; /* column j of L stays zero */
        L[j][j] = sqrt(pivot);
        for (int32_t i = j + 1; i < n; i++) {
            double sum = (a[i * n + j] + a[j * n + i]) / 2;
            for (int32_t k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
            L[i][j] = sum / L[j][j];
        }
    }
    for (int32_t c = 0; c < n; c++) { /* columns of L^-1, rows and columns without a pivot left out */
        if (L[c][c] == 0) continue;
        inverse[c][c] = 1 / L[c][c];
        for (int32_t i = c + 1; i < n; i++) {
            double sum = 0;
            if (L[i][i] == 0) continue;
            for (int32_t k = c; k < i; k++) sum -= L[i][k] * inverse[k][c];
            inverse[i][c] = sum / L[i][i];
        }
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            out[i * n + j] = 0;
            for (int32_t k = i > j ? i : j; k < n; k++) out[i * n + j] += inverse[k][i] * inverse[k][j];
        }
}

/* The usual case by cofactors: false where it is too near to singular for that. */
static bool invert3(const double *a, double *out) {
    double xx = a[4] * a[8] - a[5] * a[7], xy = a[2] * a[7] - a[1] * a[8], xz = a[1] * a[5] - a[2] * a[4];
    double yy = a[0] * a[8] - a[2] * a[6], zz = a[0] * a[4] - a[1] * a[3], yz = a[2] * a[3] - a[0] * a[5];
    double determinant = (a[0] * xx + a[3] * xy) + a[6] * xz;
    if (!(determinant > NOTHING * a[0] * a[4] * a[8]) || !(a[0] > 0 && a[4] > 0 && zz > 0)) return false;
    double scale = 1 / determinant;
    out[0] = xx * scale, out[4] = yy * scale, out[8] = zz * scale;
    out[1] = out[3] = xy * scale, out[2] = out[6] = xz * scale, out[5] = out[7] = yz * scale;
    return true;
}

/* For a block that is too near to singular: a little more than it, so that a sweep still goes down. For one that is
 * not positive definite: a multiple of I that is at least as large as it. */
static void replace(const double *a, double *out) {
    double trace = (fabs(a[0]) + fabs(a[4])) + fabs(a[8]), more[9];
    if (!(trace > 0) || !isfinite(trace)) trace = 1;
    for (int32_t m = 0; m < 9; m++) more[m] = a[m] + (m % 4 == 0 ? MORE * trace : 0);
    invert(3, more, out);
    if (out[0] > 0 && out[4] > 0 && out[8] > 0) return; /* no pivot was left out */
    for (int32_t m = 0; m < 9; m++) out[m] = m % 4 == 0 ? 1 / trace : 0;
}

static void invert_band(void *data, int32_t band) {
    const inverting *v = data;
    const drape_i_fblocks *A = &v->level->A;
    int32_t n = A->r;
    for (int32_t i = v->level->bands.first[band]; i < v->level->bands.first[band + 1]; i++) {
        double a[DRAPE_I_MODES * DRAPE_I_MODES] = {0}, G[DRAPE_I_MODES * DRAPE_I_MODES];
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
            for (int32_t m = 0; m < n * n && A->col[k] == i; m++) a[m] = A->val[n * n * k + m];
        if (v->level->kernel) invert(n, a, G); /* a coarse level */
        else if (!invert3(a, G)) replace(a, G);
        if (v->set) drape_i_fold_filter(v->set, drape_i_user_row(v->level, i), G);
        for (int32_t m = 0; m < n * n; m++) v->level->inverse[(int64_t)n * n * i + m] = (float)G[m];
    }
}

void drape_i_invert_diagonal(drape_context *ctx, drape_i_level *level, const drape_constraints *set) {
    drape_i_bands_all(ctx, &level->bands, invert_band, &(inverting){level, set});
}
