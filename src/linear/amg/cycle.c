/* cycle.c: the V-cycle. A forward sweep of Gauss and Seidel before the coarse correction, a backward one after it:
 * that makes it symmetric, and costs two passes over each level's matrix, because the first sweep starts from zero
 * (half of the matrix) and leaves a residual that only the other half knows of. Chebyshev of degree 2 takes four. */
#include "linear/amg/cycle.h"

#include "base/parallel.h"
#include "linear/amg/kernels.h"

#include <math.h>
#include <string.h>

enum { COARSE_GRAIN = 64, ROW_GRAIN = 512 };
static const double NOTHING = 1e-7; /* single precision leaves no more of a pivot */

/* ---- The coarsest level ---- */

static void copy_matrix(const drape_i_fblocks *A, int32_t n, double *to) {
    const int32_t r = A->r;
    memset(to, 0, (size_t)n * (size_t)n * sizeof *to);
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
            for (int32_t a = 0; a < r; a++)
                for (int32_t c = 0; c < r; c++)
                    to[(int64_t)(r * i + a) * n + r * A->col[k] + c] = A->val[r * r * k + r * c + a];
}

/* In place, by rows. A diagonal number of zero stands for a direction that is not there (an aggregate with too few
 * vertices), in which no right-hand side has a part: any pivot serves. False: not positive definite. */
static bool cholesky(int32_t n, double *L) {
    for (int32_t j = 0; j < n; j++) {
        double *row = L + (int64_t)j * n, diagonal = row[j];
        for (int32_t k = 0; k < j; k++) {
            const double *other = L + (int64_t)k * n;
            double sum = row[k];
            for (int32_t m = 0; m < k; m++) sum -= row[m] * other[m];
            row[k] = sum / other[k];
        }
        for (int32_t k = 0; k < j; k++) row[j] -= row[k] * row[k];
        if (diagonal == 0) row[j] = 1;
        if (!(row[j] > NOTHING * diagonal)) return false;
        row[j] = sqrt(row[j]);
    }
    return true;
}

void drape_i_coarse_factor(drape_i_hierarchy *h) {
    const drape_i_fblocks *A = &h->level[h->levels - 1].A;
    const int32_t n = h->coarse;
    copy_matrix(A, n, h->factor);
    if (cholesky(n, h->factor)) return;
    copy_matrix(A, n, h->factor); /* its diagonal alone, so that what is wrong with A shows in p'Ap and not here */
    for (int64_t i = 0; i < n; i++) {
        double diagonal = fabs(h->factor[i * n + i]);
        memset(h->factor + i * n, 0, (size_t)n * sizeof *h->factor);
        h->factor[i * n + i] = diagonal > 0 && isfinite(diagonal) ? sqrt(diagonal) : 1;
    }
}

static void coarse_solve(const drape_i_hierarchy *h) {
    const drape_i_level *l = &h->level[h->levels - 1];
    const int32_t n = h->coarse;
    const int32_t r = l->A.r, stride = DRAPE_I_STRIDE(r);
    double *y = h->column;
    for (int32_t i = 0; i < n; i++) {
        const double *row = h->factor + (int64_t)i * n;
        double sum = l->b[i / r * stride + i % r];
        for (int32_t k = 0; k < i; k++) sum -= row[k] * y[k];
        y[i] = sum / row[i];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        const double *row = h->factor + (int64_t)i * n;
        y[i] /= row[i];
        for (int32_t k = 0; k < i; k++) y[k] -= row[k] * y[i];
        l->x[i / r * stride + i % r] = (float)y[i];
    }
}

/* ---- Between ---- */

typedef struct sweeping {
    drape_simd simd;
    const drape_i_level *level;
    void (*const *kernel)(const drape_i_gs_sweep *s);
} sweeping;

static void sweep_band(void *data, int32_t band) {
    const sweeping *s = data;
    const drape_i_bands *b = &s->level->bands;
    drape_i_gs_sweep sweep = {s->level, b->first[band], b->first[band + 1], b->first[1], b->colour[band]};
    s->kernel[s->simd](&sweep);
}

typedef struct transfer {
    drape_simd simd;
    const drape_i_level *fine, *coarse;
} transfer;

static void restrict_chunk(void *data, int64_t begin, int64_t end) {
    const transfer *t = data;
    drape_i_restrict_at[t->simd](t->fine, t->coarse->b, (int32_t)begin, (int32_t)end);
}

static void prolong_chunk(void *data, int64_t begin, int64_t end) {
    const transfer *t = data;
    drape_i_prolong_at[t->simd](t->fine, t->coarse->x, (int32_t)begin, (int32_t)end);
}

/* Gauss and Seidel: t is the residual where there is a level below to hand it to. */
static void smooth_first(drape_context *ctx, const drape_i_hierarchy *h, const drape_i_level *level, bool residual) {
    if (h->degree > 0) {
        drape_i_chebyshev(ctx, level, h->degree, true);
        return;
    }
    drape_i_bands_coloured(ctx, &level->bands, false, sweep_band, &(sweeping){ctx->simd, level, drape_i_gs_first_at});
    if (!residual) return;
    drape_i_bands_all(ctx, &level->bands, sweep_band, &(sweeping){ctx->simd, level, drape_i_gs_residual_at});
}

static void smooth_last(drape_context *ctx, const drape_i_hierarchy *h, const drape_i_level *level) {
    sweeping s = {ctx->simd, level, drape_i_gs_last_at};
    if (h->degree > 0) drape_i_chebyshev(ctx, level, h->degree, false);
    else drape_i_bands_coloured(ctx, &level->bands, true, sweep_band, &s);
}

static void descend(drape_context *ctx, const drape_i_hierarchy *h, int32_t l) {
    const drape_i_level *level = &h->level[l];
    bool last = l + 1 == h->levels;
    if (last && h->coarse > 0) {
        coarse_solve(h);
        return;
    }
    smooth_first(ctx, h, level, !last);
    if (!last) {
        transfer t = {ctx->simd, level, &h->level[l + 1]};
        drape_i_loop(ctx, level->P.cols, COARSE_GRAIN, restrict_chunk, &t);
        descend(ctx, h, l + 1);
        drape_i_loop(ctx, level->A.rows, ROW_GRAIN, prolong_chunk, &t);
    }
    smooth_last(ctx, h, level);
}

void drape_i_cycle(drape_context *ctx, const drape_i_hierarchy *h) { descend(ctx, h, 0); }
