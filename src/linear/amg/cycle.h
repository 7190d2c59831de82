/* cycle.h: a hierarchy, and one V-cycle through it. */
#ifndef DRAPE_LINEAR_AMG_CYCLE_H
#define DRAPE_LINEAR_AMG_CYCLE_H

#include "linear/amg/level.h"

typedef struct drape_i_hierarchy {
    int32_t levels;
    int32_t degree; /* of Chebyshev's smoother; 0: Gauss and Seidel's */
    drape_i_level level[DRAPE_I_AMG_LEVELS];
    int32_t coarse; /* unknowns of the coarsest level */
    double *factor; /* its Cholesky factor and the transpose of that in one, dense, row by row */
    double *column; /* a vector of it */
    int64_t cycles; /* since the last set-up */
    /* With couplings: the levels in place of level[1] and those below it (coupled.c); NULL: none */
    struct drape_i_hierarchy *coupled;
    struct drape_i_region *region; /* where those have their memory; NULL: nothing was coupled yet */
} drape_i_hierarchy;

/* A smoothing step on a level: x from b, and the residual in t where it started from zero. */
void drape_i_chebyshev(drape_context *ctx, const drape_i_level *level, int32_t degree, bool from_zero);
/* coarsest.c: factors the coarsest level's matrix; x from b there. */
void drape_i_coarse_factor(drape_i_hierarchy *h);
void drape_i_coarse_solve(const drape_i_hierarchy *h);
/* terms.c: y += C x; y -= (C - D) x. The first goes without terms, too. */
void drape_i_terms_add(drape_context *ctx, const drape_i_level *level, const float *x, float *y);
void drape_i_terms_subtract_rest(drape_context *ctx, const drape_i_level *level, const float *x, float *y);
/* Keeps the touched rows of a vector, and puts them back. */
void drape_i_terms_keep(const drape_i_level *level, const float *from);
void drape_i_terms_restore(const drape_i_level *level, float *to);
/* coupled.c: out = W'in or W in, row by row */
void drape_i_scale_vector(drape_context *ctx, const drape_i_level *level, bool transposed, const float *in,
                          float *out);
/* level[0].x = M^-1 level[0].b */
void drape_i_cycle(drape_context *ctx, drape_i_hierarchy *h);

#endif
