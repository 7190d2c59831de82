/* patch.h: bending from second derivatives: a quadratic energy from fits around each vertex. */
#ifndef DRAPE_CLOTH_PATCH_H
#define DRAPE_CLOTH_PATCH_H

#include "cloth/quadratic.h"

/* The bending energy of all pieces that are flat at rest and have no bend_hinge. covered, one per hinge: those whose
 * bending it contains; the others, at seams of the pattern and in curved pieces, are left to hinges. *out is NULL
 * where there is nothing to cover. */
drape_status drape_i_patch_create(drape_context *ctx, const drape_i_model_input *input, bool *covered,
                                  drape_i_quadratic **out);

/* A fit around the first of n points y (2 doubles each, m): second derivatives at that point from values at all.
 *     f,11 = sum_k C[k] f_k,  f,22 = sum_k C[n + k] f_k,  f,12 = sum_k C[2n + k] f_k   (1/m^2)
 * Returns the smallest singular value of the scaled problem: below DRAPE_I_PATCH_SOUND the points hardly determine
 * all three, and what they do not determine is 0. residual, n x n: the part of the values that no quadratic function
 * fits, which is 0 for quadratic functions. *scale is the root mean square distance h of the points, m. work: 9 n
 * doubles. */
double drape_i_patch_fit(int32_t n, const double *y, double *C, double *residual, double *scale, double *work);

#endif
