/* vector.h: threaded operations on vectors of n doubles. */
#ifndef DRAPE_LINEAR_VECTOR_H
#define DRAPE_LINEAR_VECTOR_H

#include "base/context.h"

double drape_i_dot(drape_context *ctx, int64_t n, const double *x, const double *y);
void drape_i_advance(drape_context *ctx, int64_t n, double a, const double *p, const double *s, double *x,
                     double *r);                                                        /* x += a p, r -= a s */
void drape_i_axpy(drape_context *ctx, int64_t n, double a, const double *x, double *y); /* y += a x */
void drape_i_xpby(drape_context *ctx, int64_t n, double b, const double *h, double *p); /* p = h + b p */

#endif
