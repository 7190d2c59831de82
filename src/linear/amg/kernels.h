/* kernels.h: inner loops over small dense float blocks, compiled once per instruction set.
 *
 * A block is stored row by row. Lanes never mix but in sums of fixed order, so the bits depend on no vector width.
 * Sizes are 3x3, 3x6, 6x6, 3x12 and 12x12. */
#ifndef DRAPE_LINEAR_AMG_KERNELS_H
#define DRAPE_LINEAR_AMG_KERNELS_H

#include "base/simd_level.h"
#include "linear/amg/level.h"

/* ---- Gauss-Seidel sweeps over one band of a level: bands by rising color, the rows of a band from the last to the
 * first; and back in the opposite order ---- */

/* The first sweep, from x = 0: x = (I + F)^-1 b for the rows of the band, where F holds what comes before in that
 * order. t = what is left of the residual, except for the share of bands to come. */
DRAPE_I_KERNEL(void, drape_i_gs_first, (const drape_i_level *level, int32_t band));
/* t -= the share of bands that were swept after this one. */
DRAPE_I_KERNEL(void, drape_i_gs_border, (const drape_i_level *level, int32_t band));
/* The way back: x = (I + F')^-1 (b - F x); t is lost. */
DRAPE_I_KERNEL(void, drape_i_gs_last, (const drape_i_level *level, int32_t band));
/* y = (I + U + U') x for the rows of a band */
DRAPE_I_KERNEL(void, drape_i_fmultiply, (const drape_i_upper *A, const float *x, float *y, int32_t band));

/* ---- Between levels ---- */

/* x_i += sum of P_iJ e_J for the rows [begin, end) */
DRAPE_I_KERNEL(void, drape_i_prolong, (const drape_i_level *fine, const float *e, int32_t begin, int32_t end));
/* b_J += sum of P_iJ' t_i, for the rows i of a band */
DRAPE_I_KERNEL(void, drape_i_restrict, (const drape_i_level *fine, float *b, int32_t band));

/* ---- Setting up ---- */

/* U_ij = W_i' A_ij W_j from the caller's matrix, times `scale`, for the rows [begin, end) of the finest level */
DRAPE_I_KERNEL(void, drape_i_scale_finest,
               (drape_i_level * level, const drape_bsr3 *A, double scale, int32_t begin, int32_t end));
/* The same in place */
DRAPE_I_KERNEL(void, drape_i_scale_rows, (drape_i_level * level, int32_t begin, int32_t end));
/* P_iJ = P_iJ W_J */
DRAPE_I_KERNEL(void, drape_i_scale_columns, (drape_i_level * fine, const float *W, int32_t begin, int32_t end));

enum {
    DRAPE_I_REACH = 32,  /* most aggregates a row interpolates from; connections to further ones count as weak */
    DRAPE_I_WEAK = 0x40, /* a slot of P with this bit is that of the row's own aggregate, see interpolate.c */
    DRAPE_I_NO_SLOT = 0xff
};

typedef struct drape_i_smoothing {
    drape_i_level *level;
    drape_i_tentative_parts parts;
    float omega;
} drape_i_smoothing;

/* P_i = Q_i - omega (A_F Q)_i for the rows of a band */
DRAPE_I_KERNEL(void, drape_i_smooth_band, (const drape_i_smoothing *s, int32_t band));

enum { DRAPE_I_FAR = 0xff }; /* in a recipe: the place is too large for a byte, four follow */

/* P'(I/2 + U) P for the rows of a band. What belongs to coarse blocks above the diagonal is added to coarse->val, and
 * so is what belongs below it, transposed. What belongs to the diagonal is added to `diagonal`. */
DRAPE_I_KERNEL(void, drape_i_product_band,
               (drape_i_level * fine, int32_t band, drape_i_upper *coarse, float *diagonal));

#endif
