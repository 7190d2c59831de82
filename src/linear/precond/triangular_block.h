/* triangular_block.h: 3x3 blocks, row by row, for those who make triangular preconditioners. */
#ifndef DRAPE_LINEAR_TRIANGULAR_BLOCK_H
#define DRAPE_LINEAR_TRIANGULAR_BLOCK_H

#include "linear/constraints.h"
#include "linear/couplings.h"

/* out = a b */
DRAPE_INLINE void drape_i_block_product(const double *a, const double *b, double *out) {
    for (int32_t i = 0; i < 9; i += 3)
        for (int32_t j = 0; j < 3; j++) out[i + j] = (a[i] * b[j] + a[i + 1] * b[3 + j]) + a[i + 2] * b[6 + j];
}

/* out = a^-1, symmetric to the bit where a is; false: a is singular, or as good as. */
bool drape_i_block_inverse(const double a[9], double out[9]);
/* Whether the symmetric part of a is positive definite. */
bool drape_i_block_positive(const double a[9]);

/* Which blocks may stand on the diagonal of M. */
typedef enum drape_i_pivots {
    DRAPE_I_PIVOTS_SYMMETRIC, /* of the block the symmetric part is taken, which must be positive definite */
    DRAPE_I_PIVOTS_POSITIVE,  /* the symmetric part must be, the block may have another as well */
    DRAPE_I_PIVOTS_REGULAR    /* any that has an inverse */
} drape_i_pivots;

/* out = the diagonal block of row i of A with its couplings, or of A^ with set. One that may not stand there, or is
 * missing, is replaced by the identity times the mean of its diagonal's absolute values (1 if that is 0), as in
 * block_diagonal.c. */
void drape_i_usable_diagonal(const drape_bsr3 *A, const drape_constraints *set, const drape_i_couplings *couplings,
                             int32_t i, drape_i_pivots kind, double out[9]);

/* a = (a + a') / 2 */
void drape_i_block_symmetrise(double a[9]);

#endif
