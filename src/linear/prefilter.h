/* prefilter.h: blocks of the prefiltered matrix A^ = S A S + C (I-S) (Tamstorf, Jones and McCormick 2015, eq. 7).
 *
 * C is a number per vertex, the mean of |the diagonal of A_ii|. The paper has 1, which wants 1 to lie in A's
 * spectrum; in SI units it does not. */
#ifndef DRAPE_LINEAR_PREFILTER_H
#define DRAPE_LINEAR_PREFILTER_H

#include "linear/constraints.h"

/* drape_prefilter for a matrix that is known to be sound. Without couplings and with rhs NULL it does not fail. */
drape_status drape_i_prefilter(drape_context *ctx, const drape_problem *p, double *val, double *rhs);

/* out = A^_ij from a = A_ij. set may be NULL. */
void drape_i_prefiltered_block(const drape_constraints *set, int32_t i, int32_t j, const double a[9], double out[9]);

/* G = S_i G S_i: folds the filter of vertex i into an inverse block, 9 numbers. */
void drape_i_fold_filter(const drape_constraints *set, int32_t i, double G[9]);

#endif
