/* vector.h: what integrators alone do with vectors; the rest is in base/vector.h. */
#ifndef DRAPE_ODE_VECTOR_H
#define DRAPE_ODE_VECTOR_H

#include "base/vector.h"

enum { DRAPE_I_ODE_MOST_TERMS = 24 };

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

#endif
