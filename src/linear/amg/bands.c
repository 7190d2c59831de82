/* bands.c: the rows of a level cut into bands that threads can work on side by side. */
#include "base/parallel.h"
#include "linear/amg/level.h"

/* Rows near a band's bounds are coupled with other bands, which costs more. In a sheet some sqrt(rows) at either end
 * are, so a band has WIDTH times as many. */
enum { WIDTH = 12, LEAST_BANDS = 4, LEAST_ROWS = 256 /* of a band */ };

typedef struct coupling {
    const drape_i_upper *A;
    const drape_i_bands *bands;
    uint32_t mask[DRAPE_I_BANDS]; /* bit j: band i has an entry in a column of band j */
} coupling;

static void find_coupling(void *data, int32_t band) {
    coupling *c = data;
    const int32_t end = c->bands->first[band + 1];
    uint32_t mask = 0;
    for (int64_t k = c->A->start[c->bands->first[band]]; k < c->A->start[end]; k++)
        if (c->A->col[k] >= end) mask |= 1u << (c->A->col[k] / c->bands->length); /* few leave their band */
    c->mask[band] = mask;
}

/* The first color that no coupled band before has. */
void drape_i_bands_colour(uint32_t mask[DRAPE_I_BANDS], drape_i_bands *b) {
    for (int32_t i = 0; i < b->count; i++)
        for (int32_t j = 0; j < b->count; j++)
            if (mask[i] >> j & 1) mask[j] |= 1u << i;
    b->colours = 0;
    for (int32_t i = 0; i < b->count; i++) {
        uint32_t taken = 0;
        for (int32_t j = 0; j < i; j++)
            if (mask[i] >> j & 1) taken |= 1u << b->colour[j];
        b->colour[i] = 0;
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

/* A power of two: it is shared out evenly among two threads, or four. Two bands would take turns. */
static int32_t bands_for(int32_t rows) {
    int32_t count = DRAPE_I_BANDS;
    if (rows < LEAST_BANDS * LEAST_ROWS) return 1;
    while (count > LEAST_BANDS && (int64_t)count * count * WIDTH * WIDTH > rows) count /= 2;
    return count;
}

void drape_i_bands_make(drape_context *ctx, const drape_i_upper *A, drape_i_bands *out) {
    int32_t wanted = bands_for(A->rows);
    *out = (drape_i_bands){.length = A->rows > 0 ? (A->rows + wanted - 1) / wanted : 1};
    out->count = (A->rows + out->length - 1) / out->length;
    for (int32_t i = 0; i < out->count; i++) out->first[i] = i * out->length;
    out->first[out->count] = A->rows;
    coupling c = {A, out, {0}};
    drape_i_tasks(ctx, out->count, find_coupling, &c);
    drape_i_bands_colour(c.mask, out);
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
