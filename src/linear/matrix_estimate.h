/* matrix_estimate.h: what a look at a matrix tells about how hard it is to solve. */
#ifndef DRAPE_LINEAR_MATRIX_ESTIMATE_H
#define DRAPE_LINEAR_MATRIX_ESTIMATE_H

#include "linear/constraints.h"
#include "linear/couplings.h"

/* The diagonal of A, with its couplings, over what resists a translation, which of a cloth is mass alone: about the
 * condition number of A scaled by its block diagonal. Of some rows; at least 1, and DBL_MAX where nothing resists. */
double drape_i_stiffness(const drape_bsr3 *A, const drape_i_couplings *couplings);

/* Whether A_ij = A_ji' in some rows. */
bool drape_i_looks_symmetric(const drape_bsr3 *A);

/* Most connections of A from any vertex to the nearest that is held in all directions; DBL_MAX where none is within
 * reach. scratch: 2 numbers per row. */
double drape_i_depth(const drape_bsr3 *A, const drape_constraints *set, int32_t *scratch);

/* Vertices that are held in all directions. */
int32_t drape_i_count_fixed(const drape_constraints *set);

#endif
