/* vector.h: what integrators alone do with vectors, sums and interpolation; the rest is in base/vector.h. */
#ifndef DRAPE_ODE_VECTOR_H
#define DRAPE_ODE_VECTOR_H

#include "base/vector.h"
#include "drape/ode.h"

enum { DRAPE_I_ODE_MOST_TERMS = 24, DRAPE_I_ODE_MOST_DATA = 2 * (DRAPE_ODE_MOST_STEPS + 2) };

/* A sum of vectors with factors, made term by term. */
typedef struct drape_i_ode_sum {
    int32_t count;
    double factor[DRAPE_I_ODE_MOST_TERMS];
    const double *vector[DRAPE_I_ODE_MOST_TERMS];
} drape_i_ode_sum;

/* A factor of zero adds nothing, whatever the vector holds. */
void drape_i_ode_sum_add(drape_i_ode_sum *sum, double factor, const double *vector);
/* out = the sum; out may be one of its vectors. */
void drape_i_ode_sum_form(drape_context *ctx, const drape_i_ode_sum *sum, int64_t n, double *out);

/* sum over i of (factor e_i / (atol + rtol |y_i|))^2 */
double drape_i_ode_weighted(drape_context *ctx, int64_t n, double factor, const double *e, const double *y,
                            double rtol, double atol);
/* The largest |factor e_i| / (atol + rtol |y_i|), NaN where one is. */
double drape_i_ode_weighted_largest(drape_context *ctx, int64_t n, double factor, const double *e, const double *y,
                                    double rtol, double atol);

/* The largest |e_i|, NaN where one is; *where is the first such i. */
double drape_i_ode_largest(drape_context *ctx, int64_t n, const double *e, int64_t *where);

/* ---- Weights of interpolation on points that need not be equidistant ---- */

/* weight[j] = l_j(at): the polynomial through (x_j, Y_j) has the value sum weight[j] Y_j there. */
void drape_i_ode_value_weights(int32_t count, const double *x, double at, double *weight);
/* weight[j] = l_j'(x_e): its derivative at the node e is sum weight[j] Y_j. */
void drape_i_ode_slope_weights(int32_t count, const double *x, int32_t e, double *weight);
/* The same as the first, for the polynomial that also has the derivative S at the last node: sum weight[j] Y_j +
 * (what is returned) S. */
double drape_i_ode_hermite_weights(int32_t count, const double *x, double at, double *weight);
/* The same for values and slopes at any nodes: where slope[j], datum j is the derivative at x_j = x_{j-1}. Nodes with
 * and without a slope come in any order, but a slope right after its value. */
void drape_i_ode_confluent_weights(int32_t count, const double *x, const bool *slope, double at, double *weight);

#endif
