/* method.h: what a Krylov method is.
 *
 * To add one: a file in krylov/ that fills a drape_i_method, one line in registry.c. */
#ifndef DRAPE_LINEAR_METHOD_H
#define DRAPE_LINEAR_METHOD_H

#include "linear/constraints.h"
#include "linear/precond.h"

enum { DRAPE_I_WORK_VECTORS = 4 };

/* A solve under way. */
typedef struct drape_i_solve {
    drape_context *ctx;
    const drape_problem *problem;
    const drape_solve_settings *settings;
    const drape_i_precond *precond;
    const void *precond_state;          /* refreshed with A's values */
    double *work[DRAPE_I_WORK_VECTORS]; /* 3 rows each */
    double *x;
    drape_solve_result *result; /* reason, iterations, residual: the method fills these */
} drape_i_solve;

typedef struct drape_i_method {
    const char *name;
    void (*solve)(drape_i_solve *s);
} drape_i_method;

const drape_i_method *drape_i_method_find(const char *name);

extern const drape_i_method drape_i_method_mpcg, drape_i_method_mpcg_original, drape_i_method_mpcg_printed;

#endif
