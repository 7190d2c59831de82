/* bounds.h: whether the offsets and columns of block rows filled by the caller stay inside their arrays.
 *
 * drape_bsr3_check asks for more, that columns increase within a row, and goes column by column. This is
 * what a product needs so as not to read elsewhere. */
#ifndef DRAPE_SPARSE_BOUNDS_H
#define DRAPE_SPARSE_BOUNDS_H

#include "base/context.h"
#include "base/simd_level.h"
#include "drape/sparse.h"

/* Refuses negative rows, an array that is missing and a rowptr that does not start with 0: all that can be checked
 * without going through the rows. `who` begins the message. */
drape_status drape_i_bounds_begin(drape_context *ctx, const char *who, const drape_bsr3 *A);

/* Goes through all rows. */
drape_status drape_i_bounds_check(drape_context *ctx, const char *who, const drape_bsr3 *A);

/* The message about the first row that is not inside, of a matrix that has one. */
drape_status drape_i_bounds_explain(drape_context *ctx, const char *who, const drape_bsr3 *A);

/* ---- Kernel: bounds_simd.c ---- */

/* Whether the offsets of the rows [begin, end) do not decrease and lie in 0 .. rowptr[rows], and their columns in
 * 0 .. rows - 1 (bounds_lanes.h). */
DRAPE_I_KERNEL(bool, drape_i_rows_inside, (const drape_bsr3 *A, int64_t begin, int64_t end));

#endif
