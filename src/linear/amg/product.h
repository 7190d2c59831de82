/* product.h: what galerkin_pattern.c finds out about the products of P'A P, and recipe.c writes down for the kernels.
 */
#ifndef DRAPE_LINEAR_AMG_PRODUCT_H
#define DRAPE_LINEAR_AMG_PRODUCT_H

#include "linear/amg/setup.h"

/* The columns of each row i of (I/2 + U) P, ascending, are in row_col from row_start[i] on, with room for the most
 * that it may have. */
typedef struct drape_i_product_rows {
    drape_i_level *fine;
    drape_i_upper *coarse; /* whose pattern is made */
    int64_t *row_start;
    int32_t *row_col, *row_count;
} drape_i_product_rows;

DRAPE_INLINE int32_t drape_i_blocks_in(const drape_i_fblocks *P, int32_t i) {
    return (int32_t)(P->start[i + 1] - P->start[i]);
}

/* start[i + 1], a length, becomes where row i ends. */
DRAPE_INLINE void drape_i_add_up(int64_t *start, int32_t rows) {
    start[0] = 0;
    for (int32_t i = 0; i < rows; i++) start[i + 1] += start[i];
}

/* recipe.c: makes rows->fine->recipe. */
drape_status drape_i_recipe_write(drape_context *ctx, const drape_i_product_rows *rows);

#endif
