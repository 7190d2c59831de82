/* nodes.c: Lagrange's polynomials l_j(x) = prod_{i != j} (x - x_i) / (x_j - x_i), and their derivatives
 *
 *   l_j'(x_e) = prod_{i != j, e} (x_e - x_i) / prod_{i != j} (x_j - x_i),   l_e'(x_e) = sum_{i != e} 1 / (x_e - x_i).
 *
 * On equidistant nodes the latter are the coefficients of Hauth's table 3. A derivative S at the last node L adds
 * w(x) (S - p'(x_L)) / w'(x_L) with w(x) = prod (x - x_i). */
#include "ode/nodes.h"

#include "ode/ode.h"

/* prod over i of (from - x_i), without i = skip and i = skip_too */
static double product(int32_t count, const double *x, double from, int32_t skip, int32_t skip_too) {
    double p = 1;
    for (int32_t i = 0; i < count; i++)
        if (i != skip && i != skip_too) p *= from - x[i];
    return p;
}

void drape_i_ode_value_weights(int32_t count, const double *x, double at, double *weight) {
    DRAPE_ASSERT(count >= 1 && count <= DRAPE_I_ODE_MOST_PAST + 1);
    for (int32_t j = 0; j < count; j++) weight[j] = product(count, x, at, j, j) / product(count, x, x[j], j, j);
}

void drape_i_ode_slope_weights(int32_t count, const double *x, int32_t e, double *weight) {
    DRAPE_ASSERT(e >= 0 && e < count);
    weight[e] = 0;
    for (int32_t i = 0; i < count; i++)
        if (i != e) weight[e] += 1 / (x[e] - x[i]);
    for (int32_t j = 0; j < count; j++)
        if (j != e) weight[j] = product(count, x, x[e], j, e) / product(count, x, x[j], j, j);
}

double drape_i_ode_hermite_weights(int32_t count, const double *x, double at, double *weight) {
    double slope[DRAPE_I_ODE_MOST_PAST + 1];
    int32_t last = count - 1;
    DRAPE_ASSERT(count >= 1 && count <= DRAPE_I_ODE_MOST_PAST + 1);
    double share = product(count, x, at, -1, -1) / product(count, x, x[last], last, last);
    drape_i_ode_value_weights(count, x, at, weight);
    drape_i_ode_slope_weights(count, x, last, slope);
    for (int32_t j = 0; j < count; j++) weight[j] -= share * slope[j];
    return share;
}
