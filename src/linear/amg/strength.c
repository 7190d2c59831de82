/* strength.c: which connections count (Tamstorf, Jones and McCormick 2015, section 5):
 *
 *     s_ij = |A_ij| / sqrt(|A_ii| |A_jj|) > theta max_k s_ik,   in Frobenius norms,
 *
 * where the paper has the spectral radius of A_ii^-1/2 A_ij A_jj^-1/2. It is relative to a row, so not symmetric: i
 * and j are strongly connected where either of them says so. */
#include "base/parallel.h"
#include "linear/amg/setup.h"

#include <math.h>

typedef struct weighing {
    const drape_i_fblocks *A;
    const drape_i_bands *bands;
    float *norm, *scale, *most; /* |A_ij|^2 a block; 1/|A_ii| and the largest s_ij^2 a row */
    double theta2;
    uint8_t *strong;
} weighing;

static float norm2_of(const float *block, int32_t n) {
    float sum = 0;
    for (int32_t k = 0; k < n; k++) sum += block[k] * block[k];
    return sum;
}

static void weigh_band(void *data, int32_t band) {
    weighing *w = data;
    const drape_i_fblocks *A = w->A;
    int32_t size = A->r * A->c;
    for (int32_t i = w->bands->first[band]; i < w->bands->first[band + 1]; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            w->norm[k] = norm2_of(A->val + size * k, size);
            if (A->col[k] == i) w->scale[i] = w->norm[k] > 0 ? 1 / sqrtf(w->norm[k]) : 0;
        }
}

static float strength2(const weighing *w, int32_t i, int64_t k) {
    return w->norm[k] * w->scale[i] * w->scale[w->A->col[k]];
}

static void find_most(void *data, int32_t band) {
    weighing *w = data;
    for (int32_t i = w->bands->first[band]; i < w->bands->first[band + 1]; i++) {
        float most = 0;
        for (int64_t k = w->A->start[i]; k < w->A->start[i + 1]; k++) {
            float s = w->A->col[k] == i ? 0 : strength2(w, i, k);
            if (s > most) most = s;
        }
        w->most[i] = most;
    }
}

static void decide_band(void *data, int32_t band) {
    weighing *w = data;
    const float theta2 = (float)w->theta2;
    for (int32_t i = w->bands->first[band]; i < w->bands->first[band + 1]; i++)
        for (int64_t k = w->A->start[i]; k < w->A->start[i + 1]; k++) {
            int32_t j = w->A->col[k];
            float least = w->most[i] < w->most[j] ? w->most[i] : w->most[j], s = strength2(w, i, k);
            w->strong[k] = j != i && s > 0 && s >= theta2 * least;
        }
}

drape_status drape_i_strength(drape_context *ctx, drape_i_level *level, double theta) {
    const drape_i_fblocks *A = &level->A;
    weighing w = {.A = A, .bands = &level->bands, .theta2 = theta * theta};
    bool good = DRAPE_NEW(ctx, w.norm, A->count) && DRAPE_NEW(ctx, w.scale, A->rows) &&
                DRAPE_NEW(ctx, w.most, A->rows) && DRAPE_NEW(ctx, level->strong, A->count);
    if (good) {
        w.strong = level->strong;
        drape_i_bands_all(ctx, w.bands, weigh_band, &w);
        drape_i_bands_all(ctx, w.bands, find_most, &w);
        drape_i_bands_all(ctx, w.bands, decide_band, &w);
    }
    DRAPE_FREE(ctx, w.norm, A->count);
    DRAPE_FREE(ctx, w.scale, A->rows);
    DRAPE_FREE(ctx, w.most, A->rows);
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}
