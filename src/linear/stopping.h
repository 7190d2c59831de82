/* stopping.h: when an iteration has done enough, and the record of how it went. */
#ifndef DRAPE_LINEAR_STOPPING_H
#define DRAPE_LINEAR_STOPPING_H

#include "drape/solve.h"

#include <stdbool.h>

enum { DRAPE_I_GAINS = 1024 }; /* iterations that the energy estimate looks back on */

typedef struct drape_i_stopping {
    double rhs_norm2;        /* b^'b^ */
    double b_delta, b_norm2; /* what delta and r'r are compared with: b^'P^-1 b^ and b^'b^ except for the older forms
                                of MPCG */
    bool has_energy;         /* the method minimises the energy norm along its directions */
    bool wants_norm2;        /* r'r is asked for in every iteration */

    /* CG takes alpha delta off the squared energy norm of the error in each iteration (Hestenes and Stiefel 1952). */
    double gain[DRAPE_I_GAINS];     /* of the last iterations, iteration k at k modulo DRAPE_I_GAINS */
    double delta_at[DRAPE_I_GAINS]; /* delta before that iteration */
    double start_energy;            /* y'Ay of the solution less e'Ae of the start, e its error */
    double total_gain;
    double delta; /* now */
    double start; /* sqrt of delta at the start, relative to b_delta */

    double direction2, largest; /* p'P p of the last direction; the largest p'Ap / p'P p so far */

    int32_t count, capacity; /* records kept, and room for them */
    drape_iteration *history;
    double gain_behind; /* what was taken off after the last record */
} drape_i_stopping;

#endif
