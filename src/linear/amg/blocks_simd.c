/* blocks_simd.c: see kernels.h. The bodies are in blocks_body.h, once per block size. */
#include "base/attributes.h"
#include "base/simd.h"
#include "linear/amg/kernels.h"

#include <string.h>

/* The next number of a recipe: a byte, or DRAPE_I_FAR and then four. */
DRAPE_INLINE int32_t next_place(const uint8_t **recipe) {
    int32_t place = *(*recipe)++;
    if (place == DRAPE_I_FAR) {
        memcpy(&place, *recipe, sizeof place);
        *recipe += sizeof place;
    }
    return place;
}

enum { SHEET_BLOCKS = 6, AHEAD = 4096 }; /* blocks of U in a row of a sheet; bytes */

/* A matrix while it is worked on: a copy, so that the compiler knows that no store into a vector changes it. */
typedef struct upper_view {
    const int64_t *start;
    const int32_t *col, *inner;
    float *val;
} upper_view;

DRAPE_INLINE upper_view view_upper(const drape_i_upper *A) {
    return (upper_view){A->start, A->col, A->inner, A->val};
}

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
#define R 3
#define C 12
#include "linear/amg/blocks_body.h"
#undef R
#define R 12
#include "linear/amg/blocks_body.h"
#undef R
#undef C

/* Square levels have r = 3, 6 or 12. */
#define SQUARE(matrix, call, ...)                                                                                    \
    do {                                                                                                             \
        if ((matrix).r == 3) call##_33(__VA_ARGS__);                                                                 \
        else if ((matrix).r == 6) call##_66(__VA_ARGS__);                                                            \
        else call##_1212(__VA_ARGS__);                                                                               \
    } while (0)

void DRAPE_NAME(drape_i_gs_first)(const drape_i_level *level, int32_t band) {
    if (level->terms.count > 0) gs_first_33(level, band, true); /* on the finest level */
    else SQUARE(level->A, gs_first, level, band, false);
}
void DRAPE_NAME(drape_i_gs_border)(const drape_i_level *level, int32_t band) {
    SQUARE(level->A, gs_border, level, band);
}
void DRAPE_NAME(drape_i_gs_last)(const drape_i_level *level, int32_t band) {
    if (level->terms.count > 0) gs_last_33(level, band, true);
    else SQUARE(level->A, gs_last, level, band, false);
}
void DRAPE_NAME(drape_i_fmultiply)(const drape_i_upper *A, const float *x, float *y, int32_t band) {
    SQUARE(*A, fmultiply, A, x, y, band);
}
void DRAPE_NAME(drape_i_scale_rows)(drape_i_level *level, int32_t begin, int32_t end) {
    SQUARE(level->A, scale_rows, level, begin, end);
}

/* P is 3x3, 3x6, 6x6, 3x12 or 12x12. */
#define BY_P(call, ...)                                                                                              \
    do {                                                                                                             \
        if (fine->P.c == 3) call##_33(__VA_ARGS__);                                                                  \
        else if (fine->P.c == 6 && fine->P.r == 3) call##_36(__VA_ARGS__);                                           \
        else if (fine->P.c == 6) call##_66(__VA_ARGS__);                                                             \
        else if (fine->P.r == 3) call##_312(__VA_ARGS__);                                                            \
        else call##_1212(__VA_ARGS__);                                                                               \
    } while (0)

void DRAPE_NAME(drape_i_prolong)(const drape_i_level *fine, const float *e, int32_t begin, int32_t end) {
    BY_P(prolong, fine, e, begin, end);
}
void DRAPE_NAME(drape_i_restrict)(const drape_i_level *fine, float *b, int32_t band) {
    BY_P(restrict_to, fine, b, band);
}
void DRAPE_NAME(drape_i_product_band)(drape_i_level *fine, int32_t band, drape_i_upper *coarse, float *diagonal) {
    BY_P(product_band, fine, band, coarse, diagonal);
}
void DRAPE_NAME(drape_i_smooth_band)(const drape_i_smoothing *s, int32_t band) {
    const drape_i_level *fine = s->level;
    BY_P(smooth_band, s, band);
}
void DRAPE_NAME(drape_i_scale_columns)(drape_i_level *fine, const float *W, int32_t begin, int32_t end) {
    BY_P(scale_columns, fine, W, begin, end);
}

/* ---- The finest level ---- */

enum { ROWS_AHEAD = 2 * 9 * 13 }; /* numbers: some two rows of a sheet */

/* The rows of a 3x3 block of floats, as doubles. */
DRAPE_INLINE void widen(const float *p, vd4 row[3]) {
    for (int k = 0; k < 3; k++) row[k] = VF4_TO_VD4(load_r_33(p + 3 * k));
}

/* out = Wi' a Wj, in doubles: stiff directions would leave of the soft ones in single precision no more than noise */
DRAPE_INLINE void scale_wide(const float *Wi, const double *a, double scale, const vd4 Wj[3], float *out) {
    vd4 t[3];
    vf4 row[3];
    for (int r = 0; r < 3; r++)
        t[r] = ((scale * a[3 * r]) * Wj[0] + (scale * a[3 * r + 1]) * Wj[1]) + (scale * a[3 * r + 2]) * Wj[2];
    for (int r = 0; r < 3; r++)
        row[r] = VD4_TO_VF4(((double)Wi[r] * t[0] + (double)Wi[3 + r] * t[1]) + (double)Wi[6 + r] * t[2]);
    memcpy(out, &row[0], sizeof row[0]); /* its last lane is overwritten by the next row */
    memcpy(out + 3, &row[1], sizeof row[1]);
    memcpy(out + 6, &row[2], 3 * sizeof *out);
}

void DRAPE_NAME(drape_i_scale_finest)(drape_i_level *l, const drape_bsr3 *A, double scale, int32_t begin,
                                      int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        int32_t row = drape_i_user_row(l, i);
        int64_t from = l->source ? A->rowptr[row] : drape_i_first_upper(A, row) - l->A.start[i];
        const int32_t *source = l->source;
        for (int64_t k = l->A.start[i]; k < l->A.start[i + 1]; k++) {
            const double *block = A->val + 9 * (from + (source ? source[k] : k));
            DRAPE_PREFETCH(block + ROWS_AHEAD); /* half of each row is left out, which hardware does not foresee */
            DRAPE_PREFETCH(block + ROWS_AHEAD + 8);
            vd4 Wj[3];
            widen(l->scale + 9 * (int64_t)l->A.col[k], Wj);
            scale_wide(l->scale + 9 * (int64_t)i, block, scale, Wj, l->A.val + 9 * k);
        }
    }
}
