/* nodes.h: weights of interpolation on points that need not be equidistant. */
#ifndef DRAPE_ODE_NODES_H
#define DRAPE_ODE_NODES_H

#include <stdint.h>

/* weight[j] = l_j(at): the polynomial through (x_j, Y_j) has the value sum weight[j] Y_j there. */
void drape_i_ode_value_weights(int32_t count, const double *x, double at, double *weight);
/* weight[j] = l_j'(x_e): its derivative at the node e is sum weight[j] Y_j. */
void drape_i_ode_slope_weights(int32_t count, const double *x, int32_t e, double *weight);
/* The same as the first, for the polynomial that also has the derivative S at the last node: sum weight[j] Y_j +
 * (what is returned) S. */
double drape_i_ode_hermite_weights(int32_t count, const double *x, double at, double *weight);

#endif
