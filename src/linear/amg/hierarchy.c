/* hierarchy.c: level by level from fine to coarse (Tamstorf, Jones and McCormick 2015, algorithm 3).
 *
 * Aggregates and patterns are made once, from the values of the first matrix; then values alone. Everything that
 * depends on the constraints (which may come and go) is among the values. */
#include "linear/amg/hierarchy.h"

#include "base/timer.h"

#include <string.h>

enum { SMALL = 150 };                   /* unknowns of a level that is factored */
static const double SMOOTHING = 4. / 3; /* omega = SMOOTHING / rho */
static const double SAFETY = 1.05;      /* Lanczos comes from below */
static const double WORTH = 0.8;        /* a level with more rows than this share of the one above gains nothing */

/* ---- Values ---- */

static void finest_values(drape_context *ctx, const drape_i_amg_input *in, drape_i_level *finest) {
    double since = drape_i_seconds();
    drape_i_scale_finest(ctx, in, finest);
    drape_i_level_lap(finest, DRAPE_AMG_SCALE, &since);
}

/* P, from the near-kernel and A, and the coarse matrix. */
static void coarse_values(drape_context *ctx, const drape_i_amg_input *in, drape_i_level *fine,
                          drape_i_level *coarse) {
    double since = drape_i_seconds();
    drape_i_tentative_parts parts = {fine->vectors, coarse->kernel,
                                     coarse->scale}; /* memory that is not yet in use */
    if (fine->sweep && fine->kernel) drape_i_relax_kernel(ctx, fine, SMOOTHING / fine->rho);
    drape_i_tentative(ctx, in, fine, fine->vectors, coarse->kernel, coarse->scale);
    drape_i_interpolation_values(ctx, fine, &parts, SMOOTHING / fine->rho);
    drape_i_level_lap(fine, DRAPE_AMG_INTERPOLATE, &since);
    drape_i_galerkin_values(ctx, fine, coarse);
    drape_i_level_lap(fine, DRAPE_AMG_PRODUCT, &since);
    drape_i_scale_coarse(ctx, fine, coarse);
    if (coarse->kept_kernel)
        memcpy(coarse->kept_kernel, coarse->kernel,
               (size_t)coarse->A.rows * (size_t)(coarse->A.r * coarse->modes) * sizeof *coarse->kernel);
    drape_i_level_lap(coarse, DRAPE_AMG_SCALE, &since);
}

static void forget_costs(drape_i_hierarchy *h) {
    for (int32_t l = 0; l < h->levels; l++) memset(h->level[l].seconds, 0, sizeof h->level[l].seconds);
    h->cycles = 0;
}

void drape_i_hierarchy_refresh(drape_context *ctx, const drape_i_amg_input *in, drape_i_hierarchy *h) {
    forget_costs(h);
    finest_values(ctx, in, &h->level[0]);
    for (int32_t l = 0; l + 1 < h->levels; l++) coarse_values(ctx, in, &h->level[l], &h->level[l + 1]);
    if (h->coarse > 0) drape_i_coarse_factor(h);
}

void drape_i_hierarchy_release(drape_context *ctx, const drape_i_amg_input *in, drape_i_hierarchy *h) {
    double since = drape_i_seconds();
    forget_costs(h);
    drape_i_rescale_finest(ctx, in, &h->level[0]);
    drape_i_level_lap(&h->level[0], DRAPE_AMG_SCALE, &since);
}

/* ---- Memory and patterns ---- */

drape_status drape_i_level_allocate(drape_context *ctx, drape_i_level *l, const drape_i_amg_settings *want,
                                    bool finest) {
    const int64_t n = (int64_t)l->A.rows * l->A.r, length = (int64_t)l->A.rows * DRAPE_I_STRIDE(l->A.r);
    const bool chebyshev = want->degree > 0, twice = want->twice && !finest;
    l->modes = want->modes;
    l->numbers = (3 + (chebyshev ? 2 : 0) + (twice ? 2 : 0)) * length;
    if (l->numbers < n * l->modes) l->numbers = n * l->modes; /* Q is larger than they are together */
    l->scale = drape_i_fvector(ctx, n * l->A.r);
    l->vectors = drape_i_fvector(ctx, l->numbers);
    if (!l->scale || !l->vectors) return DRAPE_ERROR_MEMORY;
    if (want->relax && !finest && !(l->sweep = drape_i_fvector(ctx, 2 * length))) return DRAPE_ERROR_MEMORY;
    l->x = l->vectors;
    l->b = l->x + length;
    l->t = l->b + length;
    l->d = chebyshev ? l->t + length : NULL;
    l->q = chebyshev ? l->d + length : NULL;
    l->first_x = twice ? l->vectors + l->numbers - 2 * length : NULL;
    l->first_b = twice ? l->first_x + length : NULL;
    return DRAPE_OK;
}

static void free_level(drape_context *ctx, drape_i_level *l) {
    int64_t n = (int64_t)l->A.rows * l->A.r, cols = l->P.cols;
    drape_i_recipe_free(ctx, l);
    drape_i_terms_free(ctx, &l->terms);
    DRAPE_FREE(ctx, l->place, l->A.rows);
    DRAPE_FREE(ctx, l->kept_kernel, n * l->modes);
    drape_i_fvector_free(ctx, l->scale, n * l->A.r);
    drape_i_fvector_free(ctx, l->vectors, l->numbers);
    if (l->sweep) drape_i_fvector_free(ctx, l->sweep, 2 * (int64_t)l->A.rows * DRAPE_I_STRIDE(l->A.r));
    DRAPE_FREE(ctx, l->user, l->A.rows);
    DRAPE_FREE(ctx, l->source, l->A.count);
    DRAPE_FREE(ctx, l->aggregate, l->A.rows);
    DRAPE_FREE(ctx, l->row_slot, l->A.count);
    DRAPE_FREE(ctx, l->col_slot, l->A.count);
    DRAPE_FREE(ctx, l->low_slot, l->A.lowers);
    DRAPE_FREE(ctx, l->member_first, cols + 1);
    DRAPE_FREE(ctx, l->member, l->A.rows);
    drape_i_fblocks_free(ctx, &l->P);
    drape_i_upper_free(ctx, &l->A);
}

void drape_i_hierarchy_free(drape_context *ctx, drape_i_hierarchy *h) {
    drape_i_hierarchy_uncouple(h);
    for (int32_t l = 0; l < DRAPE_I_AMG_LEVELS; l++) free_level(ctx, &h->level[l]);
    DRAPE_FREE(ctx, h->factor, (int64_t)h->coarse * h->coarse);
    DRAPE_FREE(ctx, h->column, h->coarse);
    *h = (drape_i_hierarchy){0};
}

static drape_status estimate_rho(drape_context *ctx, drape_i_level *l, const drape_i_amg_settings *want) {
    double since = drape_i_seconds();
    drape_status status = drape_i_lanczos(ctx, &l->A, want->lanczos, &l->rho);
    l->rho *= SAFETY;
    drape_i_level_lap(l, DRAPE_AMG_LANCZOS, &since);
    return status;
}

static drape_status make_finest(drape_context *ctx, const drape_i_amg_input *in, const drape_i_amg_settings *want,
                                drape_i_level *l) {
    drape_status status = drape_i_finest_pattern(ctx, in->A, l);
    if (!status) status = drape_i_level_allocate(ctx, l, want, true);
    if (status) return status;
    finest_values(ctx, in, l);
    return DRAPE_OK;
}

/* Aggregates and the pattern of P. */
static drape_status make_interpolation(drape_context *ctx, const drape_i_amg_input *in,
                                       const drape_i_amg_settings *want, drape_i_level *fine) {
    drape_i_graph graph;
    int32_t aggregates = 0;
    bool finest = !fine->kernel;
    drape_status status = drape_i_strength(ctx, &fine->A, want->theta, &graph);
    if (status) return status;
    if (want->dominance > 0) status = drape_i_drop_dominant(ctx, &fine->A, want->dominance, &graph);
    if (!status) status = drape_i_aggregate(ctx, fine, &graph, finest ? in->near.set : NULL, &aggregates);
    if (!status && want->unfiltered) { /* now that the aggregates are made, all connections count */
        drape_i_graph_free(ctx, &graph);
        status = drape_i_strength(ctx, &fine->A, 0, &graph);
    }
    if (!status && aggregates > 0 && aggregates < WORTH * fine->A.rows)
        status = drape_i_interpolation_pattern(ctx, fine, &graph, aggregates, want->modes);
    drape_i_graph_free(ctx, &graph);
    return status;
}

static bool keep_kernel(drape_context *ctx, drape_i_level *l) {
    return DRAPE_NEW_RAW(ctx, l->kept_kernel, (int64_t)l->A.rows * l->A.r * l->modes);
}

/* The next level. *grew false: there was nothing to gain, and there is none. */
static drape_status coarsen(drape_context *ctx, const drape_i_amg_input *in, const drape_i_amg_settings *want,
                            drape_i_level *fine, drape_i_level *coarse, bool *grew) {
    double since = drape_i_seconds();
    drape_status status = make_interpolation(ctx, in, want, fine);
    drape_i_level_lap(fine, DRAPE_AMG_AGGREGATE, &since);
    *grew = !status && fine->P.cols > 0;
    if (!*grew) return status;
    status = drape_i_galerkin_pattern(ctx, fine, coarse);
    if (!status) status = drape_i_level_allocate(ctx, coarse, want, false);
    if (!status && !fine->kernel && !keep_kernel(ctx, coarse)) status = DRAPE_ERROR_MEMORY;
    drape_i_level_lap(fine, DRAPE_AMG_PATTERN, &since);
    if (!status) status = estimate_rho(ctx, fine, want);
    if (status) return status;
    coarse->kernel = coarse->vectors;
    coarse_values(ctx, in, fine, coarse);
    return DRAPE_OK;
}

static drape_status make_coarsest(drape_context *ctx, const drape_i_amg_settings *want, drape_i_hierarchy *h) {
    drape_i_level *last = &h->level[h->levels - 1];
    int32_t n = last->A.rows * last->A.r;
    if (n > 4 * SMALL) { /* coarsening came to a standstill: smoothing has to do */
        return estimate_rho(ctx, last, want);
    }
    h->coarse = n;
    if (!DRAPE_NEW(ctx, h->factor, (int64_t)n * n) || !DRAPE_NEW(ctx, h->column, n)) return DRAPE_ERROR_MEMORY;
    drape_i_coarse_factor(h);
    return DRAPE_OK;
}

drape_status drape_i_hierarchy_continue(drape_context *ctx, const drape_i_amg_input *in,
                                        const drape_i_amg_settings *want, drape_i_hierarchy *h) {
    bool grew = true;
    drape_status status = DRAPE_OK;
    while (!status && grew && h->levels < want->levels) {
        drape_i_level *fine = &h->level[h->levels - 1];
        if (fine->A.rows * fine->A.r <= SMALL) break;
        status = coarsen(ctx, in, want, fine, fine + 1, &grew);
        if (!status && grew) h->levels++;
    }
    return status ? status : make_coarsest(ctx, want, h);
}

drape_status drape_i_hierarchy_build(drape_context *ctx, const drape_i_amg_input *in,
                                     const drape_i_amg_settings *want, drape_i_hierarchy *h) {
    *h = (drape_i_hierarchy){.levels = 1, .degree = want->degree};
    drape_status status = make_finest(ctx, in, want, &h->level[0]);
    if (!status) status = drape_i_hierarchy_continue(ctx, in, want, h);
    if (status) drape_i_hierarchy_free(ctx, h);
    return status;
}
