/* bands.c: memory of a level, and its rows cut into bands that threads can work on side by side. */
#include "base/parallel.h"
#include "linear/amg/level.h"

enum { BAND_ROWS = 512 }; /* at least */

drape_status drape_i_fblocks_alloc(drape_context *ctx, int32_t rows, int32_t cols, int32_t r, int32_t c,
                                   int64_t count, drape_i_fblocks *out) {
    *out = (drape_i_fblocks){.rows = rows, .cols = cols, .r = r, .c = c, .count = count};
    if (!DRAPE_NEW(ctx, out->start, (int64_t)rows + 1) || !DRAPE_NEW(ctx, out->col, count) ||
        !DRAPE_NEW(ctx, out->val, count * r * c + DRAPE_I_PADDING)) {
        drape_i_fblocks_free(ctx, out);
        return DRAPE_ERROR_MEMORY;
    }
    return DRAPE_OK;
}

void drape_i_fblocks_free(drape_context *ctx, drape_i_fblocks *m) {
    if (!m->borrowed) {
        DRAPE_FREE(ctx, m->start, (int64_t)m->rows + 1);
        DRAPE_FREE(ctx, m->col, m->count);
    }
    DRAPE_FREE(ctx, m->val, m->count * m->r * m->c + DRAPE_I_PADDING);
    *m = (drape_i_fblocks){0};
}

float *drape_i_fvector(drape_context *ctx, int64_t n) {
    float *v;
    return DRAPE_NEW(ctx, v, n + DRAPE_I_PADDING) ? v : NULL;
}

void drape_i_fvector_free(drape_context *ctx, float *v, int64_t n) { DRAPE_FREE(ctx, v, n + DRAPE_I_PADDING); }

/* ---- Bands ---- */

typedef struct coupling {
    const drape_i_fblocks *A;
    const drape_i_bands *bands;
    int32_t length;
    uint32_t mask[DRAPE_I_BANDS]; /* bit j: band i has an entry in a column of band j */
} coupling;

static void find_coupling(void *data, int32_t band) {
    coupling *c = data;
    int32_t begin = c->bands->first[band], end = c->bands->first[band + 1];
    uint32_t mask = 0;
    for (int64_t k = c->A->start[begin]; k < c->A->start[end]; k++) {
        int32_t j = c->A->col[k];
        if (j < begin || j >= end) mask |= 1u << (j / c->length);
    }
    c->mask[band] = mask;
}

/* The first colour that no coupled band before has. */
static void colour_bands(coupling *c, drape_i_bands *b) {
    for (int32_t i = 0; i < b->count; i++)
        for (int32_t j = 0; j < b->count; j++)
            if (c->mask[i] >> j & 1) c->mask[j] |= 1u << i;
    b->colours = 0;
    for (int32_t i = 0; i < b->count; i++) {
        uint32_t taken = 0;
        for (int32_t j = 0; j < i; j++)
            if (c->mask[i] >> j & 1) taken |= 1u << b->colour[j];
        while (taken >> b->colour[i] & 1) b->colour[i]++;
        if (b->colour[i] >= b->colours) b->colours = b->colour[i] + 1;
    }
    int32_t at = 0;
    for (int32_t colour = 0; colour < b->colours; colour++) {
        b->colour_first[colour] = at;
        for (int32_t i = 0; i < b->count; i++)
            if (b->colour[i] == colour) b->order[at++] = i;
    }
    b->colour_first[b->colours] = at;
}

void drape_i_bands_make(drape_context *ctx, const drape_i_fblocks *A, drape_i_bands *out) {
    int32_t length = (A->rows + DRAPE_I_BANDS - 1) / DRAPE_I_BANDS;
    if (length < BAND_ROWS) length = BAND_ROWS;
    *out = (drape_i_bands){.count = (A->rows + length - 1) / length};
    for (int32_t i = 0; i < out->count; i++) out->first[i] = i * length;
    out->first[out->count] = A->rows;
    coupling c = {A, out, length, {0}};
    drape_i_tasks(ctx, out->count, find_coupling, &c);
    colour_bands(&c, out);
}

/* scratch: a number a column, which becomes the mask of the bands that have it. */
void drape_i_bands_by_reach(const drape_i_bands *of, const drape_i_fblocks *P, uint32_t *scratch,
                            drape_i_bands *out) {
    coupling c = {P, of, 0, {0}};
    *out = *of;
    for (int32_t b = 0; b < of->count; b++) out->colour[b] = 0;
    for (int32_t b = 0; b < of->count; b++)
        for (int64_t k = P->start[of->first[b]]; k < P->start[of->first[b + 1]]; k++) scratch[P->col[k]] |= 1u << b;
    for (int32_t J = 0; J < P->cols; J++)
        for (int32_t b = 0; b < of->count && scratch[J] >> b; b++)
            if (scratch[J] >> b & 1) c.mask[b] |= scratch[J] & ~(1u << b);
    colour_bands(&c, out);
}

void drape_i_bands_all(drape_context *ctx, const drape_i_bands *bands, void (*task)(void *data, int32_t band),
                       void *data) {
    drape_i_tasks(ctx, bands->count, task, data);
}

typedef struct coloured {
    const int32_t *order;
    void (*task)(void *data, int32_t band);
    void *data;
} coloured;

static void run_coloured(void *data, int32_t index) {
    const coloured *c = data;
    c->task(c->data, c->order[index]);
}

void drape_i_bands_coloured(drape_context *ctx, const drape_i_bands *b, bool backward,
                            void (*task)(void *data, int32_t band), void *data) {
    for (int32_t k = 0; k < b->colours; k++) {
        int32_t colour = backward ? b->colours - 1 - k : k;
        coloured c = {b->order + b->colour_first[colour], task, data};
        drape_i_tasks(ctx, b->colour_first[colour + 1] - b->colour_first[colour], run_coloured, &c);
    }
}
