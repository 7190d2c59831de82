/* galerkin.c: the values of the coarse matrix P'A P (Tamstorf, Jones and McCormick 2015, section 5). Its pattern is
 * made once, in galerkin_pattern.c.
 *
 * With A = I + U + U', P'A P = Z + Z' for Z = P'(I/2 + U) P, which takes half of the products. Row i of (I/2 + U) P
 * is made in a small buffer and added at once, block by block, to the coarse rows that row i reaches. Block (J, K) of
 * Z goes to block (J, K) of the coarse matrix or, transposed, to block (K, J), whichever lies above the diagonal.
 * Where each product goes is in a recipe (recipe.c). */
#include "linear/amg/setup.h"

#include "base/parallel.h"
#include "linear/amg/kernels.h"

#include <string.h>

typedef struct multiplying {
    drape_simd simd;
    drape_i_level *fine, *coarse;
} multiplying;

static void multiply_band(void *data, int32_t band) {
    const multiplying *m = data;
    drape_i_product_band_at[m->simd](m->fine, band, &m->coarse->A, m->coarse->scale);
}

static void clear_rows(void *data, int64_t begin, int64_t end) {
    drape_i_level *l = ((const multiplying *)data)->coarse;
    const int64_t size = l->A.r * l->A.r, first = l->A.start[begin], last = l->A.start[end];
    memset(l->A.val + size * first, 0, (size_t)(size * (last - first)) * sizeof *l->A.val);
    memset(l->scale + size * begin, 0, (size_t)(size * (end - begin)) * sizeof *l->scale);
}

void drape_i_galerkin_values(drape_context *ctx, drape_i_level *fine, drape_i_level *coarse) {
    multiplying m = {ctx->simd, fine, coarse};
    drape_i_loop(ctx, coarse->A.rows, DRAPE_I_GRAIN, clear_rows, &m);
    drape_i_bands_coloured(ctx, &fine->recipe.reach, false, multiply_band, &m);
}
