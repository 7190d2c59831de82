/* vector.h: threaded operations on vectors of n doubles, for all modules above. Sums go over fixed chunks and eight
 * lanes, so the bits depend on neither threads nor vector width. Memory bandwidth limits all of them. */
#ifndef DRAPE_BASE_VECTOR_H
#define DRAPE_BASE_VECTOR_H

#include "base/context.h"
#include "base/simd_level.h"

double drape_i_dot(drape_context *ctx, int64_t n, const double *x, const double *y);
void drape_i_advance(drape_context *ctx, int64_t n, double a, const double *p, const double *s, double *x,
                     double *r);                                                         /* x += a p, r -= a s */
void drape_i_axpy(drape_context *ctx, int64_t n, double a, const double *x, double *y);  /* y += a x */
void drape_i_xpby(drape_context *ctx, int64_t n, double b, const double *h, double *p);  /* p = h + b p */
void drape_i_scale(drape_context *ctx, int64_t n, double a, const double *x, double *y); /* y = a x; y may be x */
void drape_i_vector_copy(drape_context *ctx, int64_t n, const double *x, double *y);     /* y = x; y may be x */

/* ---- Kernels, over the components [begin, end) ---- */

/* In eight lanes, component i into lane i - begin modulo 8. */
DRAPE_I_KERNEL(double, drape_i_dot_range, (const double *x, const double *y, int64_t begin, int64_t end));
DRAPE_I_KERNEL(void, drape_i_advance_range,
               (double a, const double *p, const double *s, double *x, double *r, int64_t begin, int64_t end));
DRAPE_I_KERNEL(void, drape_i_axpy_range, (double a, const double *x, double *y, int64_t begin, int64_t end));
DRAPE_I_KERNEL(void, drape_i_xpby_range, (double b, const double *h, double *p, int64_t begin, int64_t end));

#endif
