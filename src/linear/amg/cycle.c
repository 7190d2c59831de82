/* cycle.c: the V-cycle. There is one Gauss-Seidel sweep before the coarse correction, and the opposite one after it,
 * which makes the cycle symmetric. It reads each level's matrix twice, because the first sweep starts from zero and
 * leaves a residual that involves only half of the matrix. Chebyshev of degree 2 reads it four times. */
#include "linear/amg/cycle.h"

#include "base/parallel.h"
#include "base/timer.h"
#include "linear/amg/kernels.h"

#include <string.h>

enum { COARSE_GRAIN = 4096, ROW_GRAIN = 512 };

typedef struct sweeping {
    drape_simd simd;
    const drape_i_level *level;
    void (*const *kernel)(const drape_i_level *level, int32_t band);
} sweeping;

static void sweep_band(void *data, int32_t band) {
    const sweeping *s = data;
    s->kernel[s->simd](s->level, band);
}

typedef struct transfer {
    drape_simd simd;
    const drape_i_level *fine, *coarse;
} transfer;

static void clear_chunk(void *data, int64_t begin, int64_t end) {
    const drape_i_level *coarse = ((const transfer *)data)->coarse;
    const int64_t stride = DRAPE_I_STRIDE(coarse->A.r);
    memset(coarse->b + stride * begin, 0, (size_t)(stride * (end - begin)) * sizeof *coarse->b);
}

static void restrict_band(void *data, int32_t band) {
    const transfer *t = data;
    drape_i_restrict_at[t->simd](t->fine, t->coarse->b, band);
}

/* b of the coarse level = P't. Bands that reach a common coarse row have different colors (recipe.c). */
static void restrict_residual(drape_context *ctx, transfer *t) {
    drape_i_loop(ctx, t->coarse->A.rows, COARSE_GRAIN, clear_chunk, t);
    drape_i_bands_coloured(ctx, &t->fine->recipe.reach, false, restrict_band, t);
}

static void prolong_chunk(void *data, int64_t begin, int64_t end) {
    const transfer *t = data;
    drape_i_prolong_at[t->simd](t->fine, t->coarse->x, (int32_t)begin, (int32_t)end);
}

/* From zero; t becomes the residual. */
static void smooth_first(drape_context *ctx, const drape_i_hierarchy *h, const drape_i_level *level) {
    if (h->degree > 0) {
        drape_i_chebyshev(ctx, level, h->degree, true);
        return;
    }
    sweeping first = {ctx->simd, level, drape_i_gs_first_at}, border = {ctx->simd, level, drape_i_gs_border_at};
    drape_i_bands_coloured(ctx, &level->A.bands, false, sweep_band, &first);
    if (level->A.borders > 0) drape_i_bands_all(ctx, &level->A.bands, sweep_band, &border);
    if (level->terms.count > 0) drape_i_terms_subtract_rest(ctx, level, level->x, level->t);
}

/* The transpose of the first: what the terms leave to the residual comes from the x before it. */
static void sweep_back(drape_context *ctx, const drape_i_level *level) {
    sweeping s = {ctx->simd, level, drape_i_gs_last_at};
    const bool terms = level->terms.count > 0;
    if (terms) {
        drape_i_terms_keep(level, level->b);
        drape_i_terms_subtract_rest(ctx, level, level->x, level->b);
    }
    drape_i_bands_coloured(ctx, &level->A.bands, true, sweep_band, &s);
    if (terms) drape_i_terms_restore(level, level->b);
}

static void smooth_last(drape_context *ctx, const drape_i_hierarchy *h, const drape_i_level *level) {
    if (h->degree > 0) drape_i_chebyshev(ctx, level, h->degree, false);
    else sweep_back(ctx, level);
}

/* ---- The cycle ---- */

typedef struct visit {
    const drape_i_level *level;
} visit;

/* Keeps x and b, and makes b the residual; t holds A x. */
static void between_chunk(void *data, int64_t begin, int64_t end) {
    const drape_i_level *l = ((const visit *)data)->level;
    const int64_t stride = DRAPE_I_STRIDE(l->A.r);
    for (int64_t i = stride * begin; i < stride * end; i++) {
        l->first_x[i] = l->x[i];
        l->first_b[i] = l->b[i];
        l->b[i] -= l->t[i];
    }
}

static void join_chunk(void *data, int64_t begin, int64_t end) {
    const drape_i_level *l = ((const visit *)data)->level;
    const int64_t stride = DRAPE_I_STRIDE(l->A.r);
    for (int64_t i = stride * begin; i < stride * end; i++) {
        l->x[i] += l->first_x[i];
        l->b[i] = l->first_b[i];
    }
}

static void descend(drape_context *ctx, drape_i_hierarchy *h, int32_t l);

/* Level l, once, or in a W-cycle twice: the second time for the residual that the first one left. That is symmetric
 * as the single visit B is, B (2 I - A B), and positive definite where B A has no eigenvalue of 2 or more. The
 * coarsest level is solved, so once is enough. */
static void correct(drape_context *ctx, drape_i_hierarchy *h, int32_t l) {
    visit v = {&h->level[l]};
    descend(ctx, h, l);
    if (!v.level->first_x || (l + 1 == h->levels && h->coarse > 0)) return;
    drape_i_upper_multiply(ctx, &v.level->A, v.level->x, v.level->t);
    drape_i_loop(ctx, v.level->A.rows, ROW_GRAIN, between_chunk, &v);
    descend(ctx, h, l);
    drape_i_loop(ctx, v.level->A.rows, ROW_GRAIN, join_chunk, &v);
}

/* The same by the levels that take the place of level 1 and those below it: from its unknowns to theirs, and back. */
static void correct_coupled(drape_context *ctx, drape_i_hierarchy *h) {
    const drape_i_level *plain = &h->level[1], *coupled = &h->coupled->level[0];
    drape_i_scale_vector(ctx, coupled, true, plain->b, coupled->b);
    correct(ctx, h->coupled, 0);
    drape_i_scale_vector(ctx, coupled, false, coupled->x, plain->x);
}

static void descend(drape_context *ctx, drape_i_hierarchy *h, int32_t l) {
    drape_i_level *level = &h->level[l];
    double since = drape_i_seconds();
    bool last = l + 1 == h->levels;
    if (last && h->coarse > 0) {
        drape_i_coarse_solve(h);
        drape_i_level_lap(level, DRAPE_AMG_FIRST, &since);
        return;
    }
    smooth_first(ctx, h, level);
    drape_i_level_lap(level, DRAPE_AMG_FIRST, &since);
    if (!last) {
        transfer t = {ctx->simd, level, &h->level[l + 1]};
        restrict_residual(ctx, &t);
        drape_i_level_lap(level, DRAPE_AMG_RESTRICT, &since);
        if (l == 0 && h->coupled) correct_coupled(ctx, h);
        else correct(ctx, h, l + 1);
        since = drape_i_seconds();
        drape_i_loop(ctx, level->A.rows, ROW_GRAIN, prolong_chunk, &t);
        drape_i_level_lap(level, DRAPE_AMG_PROLONG, &since);
    }
    smooth_last(ctx, h, level);
    drape_i_level_lap(level, DRAPE_AMG_LAST, &since);
}

void drape_i_cycle(drape_context *ctx, drape_i_hierarchy *h) {
    descend(ctx, h, 0);
    h->cycles++;
}
