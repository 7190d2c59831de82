/* roots.h: zeros of small polynomials with complex coefficients. */
#ifndef DRAPE_ODE_ROOTS_H
#define DRAPE_ODE_ROOTS_H

#include <stdint.h>

/* Largest modulus among the zeros of z^degree + sum_{j < degree} coefficient[j] z^j; degree 1..6. */
double drape_i_ode_largest_root(int32_t degree, const double (*coefficient)[2]);

#endif
