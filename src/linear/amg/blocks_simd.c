/* blocks_simd.c: see kernels.h. The bodies stand in blocks_body.h, once a block size. */
#include "base/attributes.h"
#include "base/simd.h"
#include "linear/amg/kernels.h"

#include <string.h>

#define R 3
#define C 3
#include "linear/amg/blocks_body.h"
#undef C
#define C 6
#include "linear/amg/blocks_body.h"
#undef R
#define R 6
#include "linear/amg/blocks_body.h"
#undef R
#undef C

/* Square levels have r = 3 or 6; the bodies for 3x6 have no use for those that want a square matrix. */
#define SQUARE(call, ...)                                                                                            \
    do {                                                                                                             \
        if (s->level->A.r == 3) call##_33(__VA_ARGS__);                                                              \
        else call##_66(__VA_ARGS__);                                                                                 \
    } while (0)

void DRAPE_NAME(drape_i_gs_first)(const drape_i_gs_sweep *s) { SQUARE(gs_first, s); }
void DRAPE_NAME(drape_i_gs_residual)(const drape_i_gs_sweep *s) { SQUARE(gs_residual, s); }
void DRAPE_NAME(drape_i_gs_last)(const drape_i_gs_sweep *s) { SQUARE(gs_last, s); }

void DRAPE_NAME(drape_i_fmultiply)(const drape_i_fblocks *A, const float *x, float *y, int32_t begin, int32_t end) {
    if (A->r == 3) fmultiply_33(A, x, y, begin, end);
    else fmultiply_66(A, x, y, begin, end);
}

double DRAPE_NAME(drape_i_finverse)(const drape_i_level *level, const float *w, float *q, int32_t begin,
                                    int32_t end) {
    return level->A.r == 3 ? finverse_33(level, w, q, begin, end) : finverse_66(level, w, q, begin, end);
}

#define BY_P(call, ...)                                                                                              \
    do {                                                                                                             \
        if (fine->P.c == 3) call##_33(__VA_ARGS__);                                                                  \
        else if (fine->P.r == 3) call##_36(__VA_ARGS__);                                                             \
        else call##_66(__VA_ARGS__);                                                                                 \
    } while (0)

void DRAPE_NAME(drape_i_prolong)(const drape_i_level *fine, const float *e, int32_t begin, int32_t end) {
    BY_P(prolong, fine, e, begin, end);
}
void DRAPE_NAME(drape_i_restrict)(const drape_i_level *fine, float *b, int32_t begin, int32_t end) {
    BY_P(restrict_to, fine, b, begin, end);
}
void DRAPE_NAME(drape_i_product_make)(const drape_i_level *fine, int32_t i, drape_i_product_row *row) {
    BY_P(product_make, fine, i, row);
}
void DRAPE_NAME(drape_i_product_add)(const drape_i_level *fine, int32_t i, const drape_i_product_row *row,
                                     drape_i_fblocks *coarse) {
    BY_P(product_add, fine, i, row, coarse);
}
void DRAPE_NAME(drape_i_smooth_rows)(const drape_i_smoothing *s, int32_t begin, int32_t end) {
    const drape_i_level *fine = s->level;
    BY_P(smooth_rows, s, begin, end);
}
