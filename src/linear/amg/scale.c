/* scale.c: W, with W_i' A_ii W_i = I: from Cholesky's A_ii = L L', W_i = L^-T (see level.h).
 *
 * On the finest level A_ii is that of the prefiltered matrix, and W_i = S_i L^-T keeps to the directions that are
 * free. A block that is not positive definite is replaced by one that is, so that a failing A shows in p'Ap and not
 * here. On coarse levels a pivot that is tiny compared with its diagonal number belongs to a direction that does not
 * exist. The aggregate has too few vertices for all modes, or none that are free. Its column of W is zero. */
#include "linear/amg/setup.h"

#include "base/parallel.h"
#include "linear/amg/dense.h"
#include "linear/amg/kernels.h"
#include "linear/prefilter.h"

#include <math.h>
#include <string.h>

enum { ROW_GRAIN = 256 };
static const double NOTHING = 1e-6; /* single precision leaves no more of a pivot */
static const double MORE = 4e-6;    /* of its trace makes a semidefinite block pass that */

/* ---- The finest level ---- */

/* W = L^-T, 3x3 row by row; false: F is not positive definite, or too near to that. */
static bool factor3(const double F[9], double W[9]) {
    double l10, l20, l21, second, third;
    if (!(F[0] > 0)) return false;
    double m0 = 1 / sqrt(F[0]);
    l10 = F[3] * m0, l20 = F[6] * m0;
    second = F[4] - l10 * l10;
    if (!(second > NOTHING * F[4])) return false;
    double m1 = 1 / sqrt(second);
    l21 = (F[7] - l20 * l10) * m1;
    third = (F[8] - l20 * l20) - l21 * l21;
    if (!(third > NOTHING * F[8])) return false;
    double m2 = 1 / sqrt(third), m10 = -l10 * m0 * m1, m21 = -l21 * m1 * m2;
    W[0] = m0, W[1] = m10, W[2] = -(m21 * l10 + m2 * l20) * m0;
    W[3] = 0, W[4] = m1, W[5] = m21;
    W[6] = 0, W[7] = 0, W[8] = m2;
    return true;
}

/* For a block that is too near to singular: a little more than it, so that a sweep still goes down. For one that is
 * not positive definite: a multiple of I that is at least as large as it. F becomes that. */
static void replace(double F[9], double W[9]) {
    double trace = (fabs(F[0]) + fabs(F[4])) + fabs(F[8]);
    if (!(trace > 0) || !isfinite(trace)) trace = 1;
    for (int32_t m = 0; m < 9; m += 4) F[m] += MORE * trace;
    if (factor3(F, W)) return;
    for (int32_t m = 0; m < 9; m++) F[m] = m % 4 == 0 ? trace : 0;
    factor3(F, W);
}

/* The diagonal block of row i as it is used, F, and L^-T of it. */
static void finest_block(const drape_i_amg_input *in, const drape_i_level *l, int32_t i, double F[9], double W[9]) {
    int32_t row = drape_i_user_row(l, i);
    const double *block = drape_i_diagonal_block(in->A, row);
    memset(F, 0, 9 * sizeof *F);
    if (block) {
        drape_i_prefiltered_block(in->near.set, row, row, block, F);
        for (int32_t m = 0; m < 9; m++) F[m] *= in->scale;
    }
    if (!factor3(F, W)) replace(F, W);
}

static const double *filter_of(const drape_i_amg_input *in, const drape_i_level *l, int32_t i) {
    const drape_constraints *set = in->near.set;
    int32_t index = set ? set->index[drape_i_user_row(l, i)] : -1;
    return index < 0 ? NULL : set->held[index].S;
}

/* out = a b, 3x3 */
static void multiply3(const double *a, const double *b, double *out) {
    for (int32_t m = 0; m < 9; m++)
        out[m] = (a[m / 3 * 3] * b[m % 3] + a[m / 3 * 3 + 1] * b[m % 3 + 3]) + a[m / 3 * 3 + 2] * b[m % 3 + 6];
}

typedef struct scaling {
    const drape_i_amg_input *in;
    drape_i_level *level;
    drape_simd simd;
} scaling;

static void finest_factor(const scaling *s, int32_t i) {
    double F[9], W[9], SW[9];
    finest_block(s->in, s->level, i, F, W);
    const double *S = filter_of(s->in, s->level, i), *from = S ? SW : W;
    if (S) multiply3(S, W, SW);
    for (int32_t m = 0; m < 9; m++) s->level->scale[9 * (int64_t)i + m] = (float)from[m];
}

static void finest_factors(void *data, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) finest_factor(data, (int32_t)i);
}

/* P_i becomes (W_i)^-1 W_i(before) P_i. */
static void follow_factor(const scaling *s, int32_t i, const float before[9]) {
    drape_i_level *l = s->level;
    const int32_t n = l->P.c;
    double unscale[9], old[9], T[9];
    for (int32_t m = 0; m < 9; m++) old[m] = before[m];
    drape_i_unscale_finest(s->in, l, i, unscale);
    multiply3(unscale, old, T);
    for (int64_t q = l->P.start[i]; q < l->P.start[i + 1]; q++) {
        float *p = l->P.val + 3 * n * q;
        for (int32_t k = 0; k < n; k++) {
            double x = p[k], y = p[n + k], z = p[2 * n + k];
            for (int32_t r = 0; r < 3; r++)
                p[n * r + k] = (float)((T[3 * r] * x + T[3 * r + 1] * y) + T[3 * r + 2] * z);
        }
    }
}

static void refactor(void *data, int64_t begin, int64_t end) {
    const scaling *s = data;
    for (int64_t i = begin; i < end; i++) {
        float *W = s->level->scale + 9 * i, before[9];
        memcpy(before, W, sizeof before);
        finest_factor(s, (int32_t)i);
        if (memcmp(before, W, sizeof before) != 0) follow_factor(s, (int32_t)i, before);
    }
}

static void finest_blocks(void *data, int64_t begin, int64_t end) {
    const scaling *s = data;
    drape_i_scale_finest_at[s->simd](s->level, s->in->A, s->in->scale, (int32_t)begin, (int32_t)end);
}

void drape_i_scale_finest(drape_context *ctx, const drape_i_amg_input *in, drape_i_level *l) {
    scaling s = {in, l, ctx->simd};
    drape_i_loop(ctx, l->A.rows, ROW_GRAIN, finest_factors, &s);
    drape_i_loop(ctx, l->A.rows, ROW_GRAIN, finest_blocks, &s);
}

void drape_i_rescale_finest(drape_context *ctx, const drape_i_amg_input *in, drape_i_level *l) {
    scaling s = {in, l, ctx->simd};
    drape_i_loop(ctx, l->A.rows, ROW_GRAIN, refactor, &s);
    drape_i_loop(ctx, l->A.rows, ROW_GRAIN, finest_blocks, &s);
}

void drape_i_unscale_finest(const drape_i_amg_input *in, const drape_i_level *l, int32_t i, double out[9]) {
    const double *S = filter_of(in, l, i);
    double F[9], W[9], FS[9], SFS[9], inverse[9];
    if (!S) {
        for (int32_t m = 0; m < 9; m++) W[m] = l->scale[9 * (int64_t)i + m];
        drape_i_invert_upper(3, W, out);
        return;
    }
    finest_block(in, l, i, F, W);
    multiply3(F, S, FS);
    multiply3(S, FS, SFS);
    for (int32_t m = 0; m < 9; m++) inverse[m] = W[m % 3 * 3 + m / 3]; /* L^-1 */
    multiply3(inverse, SFS, out);
}

/* ---- Coarse levels ---- */

/* K becomes W'A K: what it is for the scaled unknowns. */
static void scale_kernel(int32_t n, const double *a, const double *W, float *K) {
    double AK[DRAPE_I_MODES * DRAPE_I_MODES];
    for (int32_t m = 0; m < n * n; m++) {
        AK[m] = 0;
        for (int32_t k = 0; k < n; k++) AK[m] += a[m / n * n + k] * K[n * k + m % n];
    }
    for (int32_t m = 0; m < n * n; m++) {
        double sum = 0;
        for (int32_t k = 0; k < n; k++) sum += W[n * k + m / n] * AK[n * k + m % n];
        K[m] = (float)sum;
    }
}

/* level->scale holds the diagonal blocks without their transposes, which are to be added, and gets W. */
static void coarse_factors(void *data, int64_t begin, int64_t end) {
    drape_i_level *l = ((const scaling *)data)->level;
    const int32_t n = l->A.r;
    for (int64_t i = begin; i < end; i++) {
        double a[DRAPE_I_MODES * DRAPE_I_MODES], R[DRAPE_I_MODES * DRAPE_I_MODES], W[DRAPE_I_MODES * DRAPE_I_MODES];
        float *block = l->scale + n * n * i;
        for (int32_t m = 0; m < n * n; m++) a[m] = (double)block[m] + block[m % n * n + m / n];
        drape_i_factor_upper(n, a, NOTHING, R);
        drape_i_invert_upper(n, R, W);
        scale_kernel(n, a, W, l->kernel + n * n * i);
        for (int32_t m = 0; m < n * n; m++) block[m] = (float)W[m];
    }
}

static void coarse_blocks(void *data, int64_t begin, int64_t end) {
    const scaling *s = data;
    drape_i_scale_rows_at[s->simd](s->level, (int32_t)begin, (int32_t)end);
}

typedef struct following {
    drape_simd simd;
    drape_i_level *fine;
    const float *scale;
} following;

static void follow_rows(void *data, int64_t begin, int64_t end) {
    const following *f = data;
    drape_i_scale_columns_at[f->simd](f->fine, f->scale, (int32_t)begin, (int32_t)end);
}

void drape_i_scale_coarse(drape_context *ctx, drape_i_level *fine, drape_i_level *coarse) {
    scaling s = {.level = coarse, .simd = ctx->simd};
    drape_i_loop(ctx, coarse->A.rows, ROW_GRAIN, coarse_factors, &s);
    drape_i_loop(ctx, coarse->A.rows, ROW_GRAIN, coarse_blocks, &s);
    if (!fine) return;
    drape_i_loop(ctx, fine->A.rows, ROW_GRAIN, follow_rows, &(following){ctx->simd, fine, coarse->scale});
}
