/* closest.h: the closest points of a vertex and a triangle, and of two edges. */
#ifndef DRAPE_CONTACT_CLOSEST_H
#define DRAPE_CONTACT_CLOSEST_H

#include "base/context.h"
#include "drape/contact.h"

DRAPE_INLINE double drape_i_dot3(const double a[3], const double b[3]) {
    return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

/* Weights of the four vertices in e = sum w_i x_i, the vector between the closest points, from the second part to the
 * first. They are (1, -b0, -b1, -b2) for a vertex and a triangle, and (1-s, s, -(1-t), -t) for two edges. Each weight
 * is in [-1, 1], and those of a part sum up to 1 or -1, to rounding. vertex: 4 numbers of vertices of x. */
void drape_i_closest(drape_ccd_kind kind, const double *x, const int32_t vertex[4], double w[4]);

/* e = sum w_i x_i */
void drape_i_between(const double *x, const int32_t vertex[4], const double w[4], double e[3]);

#endif
