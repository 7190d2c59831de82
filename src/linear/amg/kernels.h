/* kernels.h: inner loops over small dense float blocks, compiled once per instruction set.
 *
 * A block of r x c is a vector of r lanes a column. Lanes never mix, so the bits depend on no vector width. Sizes are
 * 3x3, 3x6 and 6x6. */
#ifndef DRAPE_LINEAR_AMG_KERNELS_H
#define DRAPE_LINEAR_AMG_KERNELS_H

#include "base/simd_level.h"
#include "linear/amg/level.h"

/* Rows [begin, end) of a square level, in ascending order (forward) or descending. colour: of each band; length: of a
 * band; mine: the colour of the band at work. "Before" a row are the rows of this band with lower numbers, and those
 * of bands of lower colours. */
typedef struct drape_i_gs_sweep {
    const drape_i_level *level;
    int32_t begin, end, length, mine;
} drape_i_gs_sweep;

/* x_i = G_i (b_i - sum of A_ij x_j over j before i): Gauss and Seidel's forward sweep from x = 0. */
DRAPE_I_KERNEL(void, drape_i_gs_first, (const drape_i_gs_sweep *s));
/* t_i = - sum of A_ij x_j over j after i: the residual that such a sweep leaves. */
DRAPE_I_KERNEL(void, drape_i_gs_residual, (const drape_i_gs_sweep *s));
/* x_i = x_i + G_i (b_i - sum of A_ij x_j): the backward sweep. */
DRAPE_I_KERNEL(void, drape_i_gs_last, (const drape_i_gs_sweep *s));
/* y = A x for the rows [begin, end) */
DRAPE_I_KERNEL(void, drape_i_fmultiply,
               (const drape_i_fblocks *A, const float *x, float *y, int32_t begin, int32_t end));
/* x_i += sum of P_iJ e_J */
DRAPE_I_KERNEL(void, drape_i_prolong, (const drape_i_level *fine, const float *e, int32_t begin, int32_t end));
/* b_J = sum of P_iJ' t_i, for the coarse rows [begin, end) */
DRAPE_I_KERNEL(void, drape_i_restrict, (const drape_i_level *fine, float *b, int32_t begin, int32_t end));

/* q = D^-1 w for the rows [begin, end); returns w'q. */
DRAPE_I_KERNEL(double, drape_i_finverse,
               (const drape_i_level *level, const float *w, float *q, int32_t begin, int32_t end));

enum { DRAPE_I_REACH = 32 }; /* most aggregates a row interpolates from; connections to further ones count as weak */

typedef struct drape_i_smoothing {
    drape_i_level *level;
    const float *tentative; /* r x modes a row */
    float omega;
} drape_i_smoothing;

/* P_i = Q_i - omega D^-1 (A_F Q)_i, weak connections lumped into A_F's diagonal. D is that of A: lumping changes it
 * little, and its inverse is known to be positive definite and to respect the constraints. */
DRAPE_I_KERNEL(void, drape_i_smooth_rows, (const drape_i_smoothing *s, int32_t begin, int32_t end));

/* row = row i of A P */
DRAPE_I_KERNEL(void, drape_i_product_make, (const drape_i_level *fine, int32_t i, drape_i_product_row *row));
/* Adds P_iJ' (row) to the rows J of the coarse matrix, for all J that row i reaches. */
DRAPE_I_KERNEL(void, drape_i_product_add,
               (const drape_i_level *fine, int32_t i, const drape_i_product_row *row, drape_i_fblocks *coarse));

#endif
