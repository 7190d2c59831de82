/* setup.h: the parts that a level's set-up is made of, in the order in which they are called. */
#ifndef DRAPE_LINEAR_AMG_SETUP_H
#define DRAPE_LINEAR_AMG_SETUP_H

#include "linear/amg/level.h"

/* inverse.c: fills level->inverse from the diagonal blocks; those that are not positive definite, or singular in some
 * directions (aggregates without enough vertices), are inverted where they can be. set: constraints to fold in, or
 * NULL. */
void drape_i_invert_diagonal(drape_context *ctx, drape_i_level *level, const drape_constraints *set);

/* strength.c: makes level->strong. theta: share of a row's largest connection above which one is strong. */
drape_status drape_i_strength(drape_context *ctx, drape_i_level *level, double theta);

/* aggregate.c: makes level->aggregate; vertices that are held in all directions stay out. */
drape_status drape_i_aggregate(drape_context *ctx, drape_i_level *level, const drape_constraints *set,
                               int32_t *aggregates);

/* lanczos.c: estimate of the largest eigenvalue of D^-1 A from so many iterations; uses the level's vectors. */
drape_status drape_i_lanczos(drape_context *ctx, drape_i_level *level, int32_t iterations, double *rho);

/* interpolate.c: the patterns of P, of its transpose, and the members of aggregates. */
drape_status drape_i_interpolation_pattern(drape_context *ctx, drape_i_level *level, int32_t aggregates,
                                           int32_t modes);
/* The near-kernel made orthonormal aggregate by aggregate: Q, a block of r x modes a row, in `tentative`; the coarse
 * near-kernel in `coarse`. */
void drape_i_tentative(drape_context *ctx, const drape_i_level *level, const drape_i_near_kernel *near, int32_t modes,
                       float *tentative, double *coarse);
/* P = (I - omega D^-1 A) Q, weak connections lumped into the diagonal. */
void drape_i_interpolation_values(drape_context *ctx, drape_i_level *level, const float *tentative, double omega);

/* galerkin.c: the pattern of P'A P and the memory to make it in; its values. */
drape_status drape_i_galerkin_pattern(drape_context *ctx, drape_i_level *fine, drape_i_fblocks *out);
void drape_i_galerkin_values(drape_context *ctx, drape_i_level *fine, drape_i_fblocks *coarse);

#endif
