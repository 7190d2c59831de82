/* precond.h: what a preconditioner P is: an approximation of A that is symmetric, positive definite, easy to solve.
 *
 * To add one: a file in precond/ that fills a drape_i_precond, one line in registry.c. */
#ifndef DRAPE_LINEAR_PRECOND_H
#define DRAPE_LINEAR_PRECOND_H

#include "base/context.h"
#include "drape/solve.h"

typedef struct drape_i_precond {
    const char *name;
    /* Memory for matrices with this pattern; values are not looked at. */
    drape_status (*create)(drape_context *ctx, const drape_bsr3 *A, void **state);
    void (*destroy)(drape_context *ctx, void *state);
    /* Takes in A's values; allocates nothing. */
    void (*refresh)(drape_context *ctx, void *state, const drape_bsr3 *A);
    /* h = P^-1 r; returns r'h */
    double (*apply)(drape_context *ctx, const void *state, const double *r, double *h);
    /* r'P r, which only the printed form of MPCG wants */
    double (*norm2)(drape_context *ctx, const void *state, const double *r);
} drape_i_precond;

const drape_i_precond *drape_i_precond_find(const char *name);

extern const drape_i_precond drape_i_precond_none, drape_i_precond_diagonal, drape_i_precond_block_diagonal;

#endif
