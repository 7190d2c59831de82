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
} drape_i_hierarchy;

/* A smoothing step on a level: x from b, and the residual in t where it started from zero. */
void drape_i_chebyshev(drape_context *ctx, const drape_i_level *level, int32_t degree, bool from_zero);
/* coarsest.c: factors the coarsest level's matrix; x from b there. */
void drape_i_coarse_factor(drape_i_hierarchy *h);
void drape_i_coarse_solve(const drape_i_hierarchy *h);
/* level[0].x = M^-1 level[0].b */
void drape_i_cycle(drape_context *ctx, drape_i_hierarchy *h);

#endif
