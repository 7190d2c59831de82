/* recipe.c: where each product of P'A P goes, written down once, mostly as bytes. For each row of (I/2 + U) P, `make`
 * has the number of its columns, and the place among them of each block that is met. `add` has the place in its
 * coarse row of each block that is added to. Bands of fine rows that touch a common coarse column get different
 * colors, so they are never added at the same time. Each coarse block sums in an order that depends on the matrix
 * alone. */
#include "linear/amg/product.h"

#include "linear/amg/kernels.h"

#include <string.h>

/* While a recipe is written. */
typedef struct writing {
    const drape_i_product_rows *rows;
    int32_t longest; /* most blocks of a coarse row */
    /* Coarse columns that a band touches: from, and how many; and for each of them its place in the row that is
     * written; -1: the band does not touch it */
    int32_t span_first[DRAPE_I_BANDS], span[DRAPE_I_BANDS], *place[DRAPE_I_BANDS];
    uint32_t meets[DRAPE_I_BANDS]; /* bit j: the band and band j touch a common column */
} writing;

static void find_span(void *data, int32_t band) {
    writing *w = data;
    const drape_i_product_rows *r = w->rows;
    int32_t low = INT32_MAX, high = -1;
    for (int32_t i = r->fine->A.bands.first[band]; i < r->fine->A.bands.first[band + 1]; i++) {
        const int32_t *col = r->row_col + r->row_start[i], count = r->row_count[i];
        if (count == 0) continue;
        low = col[0] < low ? col[0] : low;
        high = col[count - 1] > high ? col[count - 1] : high;
    }
    w->span_first[band] = high >= low ? low : 0;
    w->span[band] = high >= low ? high - low + 1 : 0;
}

/* Most bytes that each of `count` places takes where the largest is `largest`. */
static int64_t bytes_of(int64_t count, int64_t largest) {
    return largest < DRAPE_I_FAR ? count : count * (1 + (int64_t)sizeof(int32_t));
}

static void find_bytes(void *data, int32_t band) {
    const writing *w = data;
    const drape_i_product_rows *r = w->rows;
    const drape_i_bands *bands = &r->fine->A.bands;
    int64_t make = 0, add = 0;
    for (int32_t i = bands->first[band]; i < bands->first[band + 1]; i++) {
        int64_t count = r->row_count[i];
        if (count == 0) continue;
        make += bytes_of(r->row_start[i + 1] - r->row_start[i] + 1, count);
        add += bytes_of(drape_i_blocks_in(&r->fine->P, i) * (count - 1), w->longest);
    }
    r->fine->recipe.make_first[band + 1] = make;
    r->fine->recipe.add_first[band + 1] = add;
}

/* Writes a place and returns where the next one goes. */
static uint8_t *write_place(uint8_t *to, int32_t place) {
    if (place < DRAPE_I_FAR) {
        *to = (uint8_t)place;
        return to + 1;
    }
    *to = DRAPE_I_FAR;
    memcpy(to + 1, &place, sizeof place);
    return to + 1 + sizeof place;
}

/* place: of each column in row i, from column `first` on */
static uint8_t *write_blocks(const drape_i_fblocks *P, int32_t j, int32_t first, const int32_t *place, uint8_t *to) {
    for (int64_t q = P->start[j]; q < P->start[j + 1]; q++) to = write_place(to, place[P->col[q] - first]);
    return to;
}

static uint8_t *write_make(const drape_i_product_rows *r, int32_t i, int32_t first, int32_t *place, uint8_t *to) {
    const drape_i_upper *A = &r->fine->A;
    const int32_t *col = r->row_col + r->row_start[i];
    for (int32_t n = 0; n < r->row_count[i]; n++) place[col[n] - first] = n;
    to = write_place(to, r->row_count[i]);
    to = write_blocks(&r->fine->P, i, first, place, to);
    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
        to = write_blocks(&r->fine->P, A->col[k], first, place, to);
    return to;
}

static int32_t place_in_row(const drape_i_upper *coarse, int32_t J, int32_t K) {
    const int32_t *col = coarse->col + coarse->start[J];
    int32_t at = 0;
    while (col[at] != K) at++;
    return at;
}

/* The columns of a row right of J are met in the order in which coarse row J has them. */
static uint8_t *write_add(const drape_i_product_rows *r, int32_t i, uint8_t *to) {
    const drape_i_fblocks *P = &r->fine->P;
    const int32_t *col = r->row_col + r->row_start[i], count = r->row_count[i];
    for (int64_t q = P->start[i]; q < P->start[i + 1]; q++) {
        const int32_t J = P->col[q], *mine = r->coarse->col + r->coarse->start[J];
        int32_t n = 0, at = 0;
        for (; col[n] < J; n++) to = write_place(to, place_in_row(r->coarse, col[n], J));
        for (n++; n < count; n++, at++) {
            while (mine[at] != col[n]) at++;
            to = write_place(to, at);
        }
    }
    return to;
}

static void write_band(void *data, int32_t band) {
    const writing *w = data;
    const drape_i_product_rows *r = w->rows;
    const drape_i_recipe *recipe = &r->fine->recipe;
    const drape_i_bands *bands = &r->fine->A.bands;
    uint8_t *make = recipe->make + recipe->make_first[band], *add = recipe->add + recipe->add_first[band];
    for (int32_t n = 0; n < w->span[band]; n++) w->place[band][n] = -1;
    for (int32_t i = bands->first[band]; i < bands->first[band + 1]; i++) {
        if (r->row_count[i] == 0) continue;
        make = write_make(r, i, w->span_first[band], w->place[band], make);
        add = write_add(r, i, add);
    }
}

static drape_status write_bands(drape_context *ctx, writing *w) {
    const drape_i_product_rows *r = w->rows;
    drape_i_recipe *recipe = &r->fine->recipe;
    const drape_i_bands *bands = &r->fine->A.bands;
    for (int32_t J = 0; J < r->coarse->rows; J++) {
        const int32_t blocks = (int32_t)(r->coarse->start[J + 1] - r->coarse->start[J]);
        if (blocks > w->longest) w->longest = blocks;
    }
    drape_i_bands_all(ctx, bands, find_bytes, w);
    drape_i_add_up(recipe->make_first, bands->count);
    drape_i_add_up(recipe->add_first, bands->count);
    recipe->make_bytes = recipe->make_first[bands->count];
    recipe->add_bytes = recipe->add_first[bands->count];
    if (!DRAPE_NEW_RAW(ctx, recipe->make, recipe->make_bytes) || !DRAPE_NEW_RAW(ctx, recipe->add, recipe->add_bytes))
        return DRAPE_ERROR_MEMORY;
    drape_i_bands_all(ctx, bands, find_span, w);
    for (int32_t band = 0; band < bands->count; band++)
        if (!DRAPE_NEW_RAW(ctx, w->place[band], w->span[band])) return DRAPE_ERROR_MEMORY;
    drape_i_bands_all(ctx, bands, write_band, w);
    return DRAPE_OK;
}

/* Bands with a product in a common block have a common column, so those that touch no common one do not meet. */
static void find_meetings(void *data, int32_t band) {
    writing *w = data;
    const int32_t bands = w->rows->fine->A.bands.count, first = w->span_first[band], last = first + w->span[band];
    w->meets[band] = 0;
    for (int32_t other = band + 1; other < bands; other++) {
        const int32_t from = w->span_first[other] > first ? w->span_first[other] : first;
        const int32_t end = w->span_first[other] + w->span[other], to = end < last ? end : last;
        for (int32_t J = from; J < to; J++)
            if (w->place[band][J - first] >= 0 && w->place[other][J - w->span_first[other]] >= 0) {
                w->meets[band] |= 1u << other;
                break;
            }
    }
}

static void colour_bands(drape_context *ctx, writing *w) {
    drape_i_level *fine = w->rows->fine;
    drape_i_bands_all(ctx, &fine->A.bands, find_meetings, w);
    fine->recipe.reach = fine->A.bands;
    drape_i_bands_colour(w->meets, &fine->recipe.reach);
}

/* Numbers of a block of a product row, with those that kernels read past its end. */
static int64_t product_block(const drape_i_level *fine) {
    const int32_t c = fine->P.c, pitch = c == DRAPE_I_MODES ? DRAPE_I_STRIDE(c) : DRAPE_I_PADDING;
    return pitch * c + DRAPE_I_PADDING;
}

static drape_status allocate_rows(drape_context *ctx, const drape_i_product_rows *r) {
    drape_i_recipe *recipe = &r->fine->recipe;
    recipe->widest = 1;
    for (int32_t i = 0; i < r->fine->A.rows; i++)
        if (r->row_count[i] > recipe->widest) recipe->widest = r->row_count[i];
    for (int32_t b = 0; b < r->fine->A.bands.count; b++)
        if (!DRAPE_NEW(ctx, recipe->row[b].col, recipe->widest) ||
            !DRAPE_NEW(ctx, recipe->row[b].val, recipe->widest * product_block(r->fine)))
            return DRAPE_ERROR_MEMORY;
    return DRAPE_OK;
}

void drape_i_recipe_free(drape_context *ctx, drape_i_level *fine) {
    drape_i_recipe *recipe = &fine->recipe;
    for (int32_t b = 0; b < fine->A.bands.count; b++) {
        DRAPE_FREE(ctx, recipe->row[b].col, recipe->widest);
        DRAPE_FREE(ctx, recipe->row[b].val, recipe->widest * product_block(fine));
    }
    DRAPE_FREE(ctx, recipe->make, recipe->make_bytes);
    DRAPE_FREE(ctx, recipe->add, recipe->add_bytes);
    *recipe = (drape_i_recipe){0};
}

int64_t drape_i_recipe_bytes(const drape_i_level *fine) {
    const drape_i_recipe *r = &fine->recipe;
    int64_t row = (int64_t)sizeof *r->row[0].col + product_block(fine) * (int64_t)sizeof *r->row[0].val;
    return r->make_bytes + r->add_bytes + fine->A.bands.count * (int64_t)r->widest * row;
}

drape_status drape_i_recipe_write(drape_context *ctx, const drape_i_product_rows *rows) {
    writing w = {.rows = rows};
    drape_status status = write_bands(ctx, &w);
    if (!status) {
        colour_bands(ctx, &w);
        status = allocate_rows(ctx, rows);
    }
    for (int32_t band = 0; band < rows->fine->A.bands.count; band++) DRAPE_FREE(ctx, w.place[band], w.span[band]);
    return status;
}
