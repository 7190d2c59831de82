/* upper.c: memory and patterns of a symmetric matrix of which the upper half is kept (level.h). */
#include "base/parallel.h"
#include "linear/amg/kernels.h"

drape_status drape_i_upper_alloc(drape_context *ctx, int32_t rows, int32_t r, int64_t count, drape_i_upper *out) {
    *out = (drape_i_upper){.rows = rows, .r = r, .count = count};
    if (!DRAPE_NEW_RAW(ctx, out->start, (int64_t)rows + 1) || !DRAPE_NEW_RAW(ctx, out->col, count) ||
        !DRAPE_NEW_RAW(ctx, out->val, count * r * r + DRAPE_I_PADDING) || !DRAPE_NEW_RAW(ctx, out->inner, rows)) {
        drape_i_upper_free(ctx, out);
        return DRAPE_ERROR_MEMORY;
    }
    for (int32_t k = 0; k < DRAPE_I_PADDING; k++) out->val[count * r * r + k] = 0;
    out->start[0] = 0;
    return DRAPE_OK;
}

void drape_i_upper_free(drape_context *ctx, drape_i_upper *A) {
    DRAPE_FREE(ctx, A->start, (int64_t)A->rows + 1);
    DRAPE_FREE(ctx, A->col, A->count);
    DRAPE_FREE(ctx, A->val, A->count * A->r * A->r + DRAPE_I_PADDING);
    DRAPE_FREE(ctx, A->inner, A->rows);
    DRAPE_FREE(ctx, A->border, A->borders);
    DRAPE_FREE(ctx, A->lower_start, (int64_t)A->borders + 2);
    DRAPE_FREE(ctx, A->lower_col, A->lowers);
    DRAPE_FREE(ctx, A->lower_block, A->lowers);
    *A = (drape_i_upper){0};
}

void drape_i_fblocks_free(drape_context *ctx, drape_i_fblocks *m) {
    DRAPE_FREE(ctx, m->start, (int64_t)m->rows + 1);
    DRAPE_FREE(ctx, m->col, m->count);
    DRAPE_FREE(ctx, m->val, m->count * m->r * m->c + DRAPE_I_PADDING);
    *m = (drape_i_fblocks){0};
}

float *drape_i_fvector(drape_context *ctx, int64_t n) {
    float *v;
    if (!DRAPE_NEW_RAW(ctx, v, n + DRAPE_I_PADDING)) return NULL;
    for (int32_t k = 0; k < DRAPE_I_PADDING; k++) v[n + k] = 0;
    return v;
}

void drape_i_fvector_free(drape_context *ctx, float *v, int64_t n) { DRAPE_FREE(ctx, v, n + DRAPE_I_PADDING); }

/* ---- Inner blocks and borders ---- */

static void split_band(void *data, int32_t band) {
    drape_i_upper *A = data;
    const int32_t end = A->bands.first[band + 1];
    for (int32_t i = A->bands.first[band]; i < end; i++) {
        int64_t k = A->start[i];
        while (k < A->start[i + 1] && A->col[k] < end) k++;
        A->inner[i] = (int32_t)(k - A->start[i]);
    }
}

static int64_t outer_first(const drape_i_upper *A, int32_t i) { return A->start[i] + A->inner[i]; }

/* lowers[i]: how many blocks of other bands are in column i; -1: none, and none in the row. */
static int64_t count_borders(drape_i_upper *A, int32_t *lowers) {
    int64_t total = 0;
    for (int32_t i = 0; i < A->rows; i++) lowers[i] = -1;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = outer_first(A, i); k < A->start[i + 1]; k++, total++) {
            int32_t j = A->col[k];
            lowers[j] = lowers[j] < 0 ? 1 : lowers[j] + 1;
            if (lowers[i] < 0) lowers[i] = 0;
        }
    for (int32_t i = 0; i < A->rows; i++) A->borders += lowers[i] >= 0;
    return total;
}

/* Numbers the borders; lowers[i] becomes the number of border i. */
static void list_borders(drape_i_upper *A, int32_t *lowers) {
    int32_t n = 0;
    for (int32_t i = 0, band = 0; i < A->rows; i++) {
        if (i == A->bands.first[band]) A->border_first[band++] = n;
        if (lowers[i] < 0) continue;
        A->border[n] = i;
        A->lower_start[n + 2] = A->lower_start[n + 1] + lowers[i];
        lowers[i] = n++;
    }
    for (int32_t band = A->bands.count; band <= DRAPE_I_BANDS; band++) A->border_first[band] = n;
}

static void list_lowers(drape_i_upper *A, const int32_t *number) {
    int64_t *next = A->lower_start + 1;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = outer_first(A, i); k < A->start[i + 1]; k++) {
            int64_t at = next[number[A->col[k]]]++;
            A->lower_col[at] = i;
            A->lower_block[at] = k;
        }
}

drape_status drape_i_upper_finish_pattern(drape_context *ctx, drape_i_upper *A) {
    int32_t *number;
    drape_i_bands_make(ctx, A, &A->bands);
    drape_i_bands_all(ctx, &A->bands, split_band, A);
    if (!DRAPE_NEW_RAW(ctx, number, A->rows)) return DRAPE_ERROR_MEMORY;
    A->lowers = count_borders(A, number);
    bool good = DRAPE_NEW(ctx, A->border, A->borders) && DRAPE_NEW(ctx, A->lower_start, (int64_t)A->borders + 2) &&
                DRAPE_NEW(ctx, A->lower_col, A->lowers) && DRAPE_NEW(ctx, A->lower_block, A->lowers);
    if (good) {
        list_borders(A, number);
        list_lowers(A, number);
    }
    DRAPE_FREE(ctx, number, A->rows);
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

/* ---- Multiplying ---- */

typedef struct multiplying {
    drape_simd simd;
    const drape_i_upper *A;
    const float *x;
    float *y;
} multiplying;

static void multiply_band(void *data, int32_t band) {
    const multiplying *m = data;
    drape_i_fmultiply_at[m->simd](m->A, m->x, m->y, band);
}

void drape_i_upper_multiply(drape_context *ctx, const drape_i_upper *A, const float *x, float *y) {
    drape_i_bands_all(ctx, &A->bands, multiply_band, &(multiplying){ctx->simd, A, x, y});
}
