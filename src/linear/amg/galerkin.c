/* galerkin.c: the coarse matrix P'A P (Tamstorf, Jones and McCormick 2015, section 5), pattern and values apart, so
 * that the values can be made again while the pattern stays.
 *
 * With A = I + U + U', P'A P = Z + Z' for Z = P'(I/2 + U) P, which takes half of the products. Row i of (I/2 + U) P
 * is made in a small buffer and added at once, block by block, to the coarse rows that row i reaches: block (J, K) of
 * Z to block (J, K) of the coarse matrix, or transposed to block (K, J), whichever lies above the diagonal.
 *
 * Where each product goes is found out once, and written down as a recipe: for each row the number of its columns and
 * the place among them of each block that is met (`make`), and the place in its coarse row of each block that is
 * added to (`add`); mostly bytes. Bands of fine rows that touch a common coarse column have different colours, so
 * they do not meet, and each coarse block sums in an order that depends on the matrix alone. */
#include "linear/amg/setup.h"

#include "base/parallel.h"
#include "linear/amg/kernels.h"
#include "sparse/by_column.h"

#include <string.h>

/* While a pattern is made. */
typedef struct patterning {
    drape_i_level *fine;
    drape_i_upper *coarse;
    int64_t *row_start; /* of each fine row: where its columns stand in row_col, with room for the most it may have */
    int32_t *row_col, *row_count;
    int64_t *near_start; /* of each coarse row: the columns that it meets in Z, ascending, itself left out, */
    int32_t *near_col, *near_count, *near_below; /*   how many, and how many of them below the diagonal, */
    int64_t *in_start;                           /*   and the rows that meet it from above, ascending */
    int32_t *in_col;
    int32_t *merged; /* blocks of each coarse row */
    int64_t row_room, near_room;
    int32_t longest;                                                                /* most blocks of a coarse row */
    int32_t span_first[DRAPE_I_BANDS], span[DRAPE_I_BANDS], *number[DRAPE_I_BANDS]; /* see find_span */
    uint32_t meets[DRAPE_I_BANDS]; /* bit j: the band and band j touch a common column */
} patterning;

/* ---- Sets of columns ---- */

/* Columns from `first` on as bits: no branch depends on who is in, and they come out in order. The bits between its
 * uses are zero; those that may be set are in the words [low, high]. */
enum { WINDOW = 16384 };

typedef struct window {
    int32_t first, low, high;
    uint64_t bits[WINDOW / 64];
} window;

/* An ascending list. */
static void put_in(window *w, const int32_t *col, int32_t count) {
    if (count == 0) return;
    const int32_t low = (col[0] - w->first) / 64, high = (col[count - 1] - w->first) / 64;
    w->low = low < w->low ? low : w->low;
    w->high = high > w->high ? high : w->high;
    for (int32_t n = 0; n < count; n++) {
        const uint32_t at = (uint32_t)(col[n] - w->first);
        w->bits[at / 64] |= UINT64_C(1) << (at % 64);
    }
}

/* Takes all out again; returns how many they were. */
static int32_t take_out(window *w, int32_t *list) {
    int32_t count = 0;
    for (int32_t k = w->low; k <= w->high; k++) {
        for (uint64_t rest = w->bits[k]; rest; rest &= rest - 1)
            list[count++] = w->first + 64 * k + (int32_t)DRAPE_LOWEST_BIT(rest);
        w->bits[k] = 0;
    }
    w->low = WINDOW / 64;
    w->high = -1;
    return count;
}

static void open_window(window *w, int32_t first) { *w = (window){.first = first, .low = WINDOW / 64, .high = -1}; }

/* ---- Rows of (I/2 + U) P ---- */

static int32_t blocks_of(const drape_i_fblocks *P, int32_t i) { return (int32_t)(P->start[i + 1] - P->start[i]); }

/* The most columns that row i can have. */
static int64_t room_of(const drape_i_level *f, int32_t i) {
    int64_t room = blocks_of(&f->P, i);
    if (room == 0) return 0;
    for (int64_t k = f->A.start[i]; k < f->A.start[i + 1]; k++) room += blocks_of(&f->P, f->A.col[k]);
    return room;
}

static void find_room(void *data, int64_t begin, int64_t end) {
    const patterning *p = data;
    for (int64_t i = begin; i < end; i++) p->row_start[i + 1] = room_of(p->fine, (int32_t)i);
}

/* Coarse columns that a band touches: from, and how many. Each band has a number for each of these, for its own use.
 */
static void find_span(void *data, int32_t band) {
    patterning *p = data;
    const drape_i_level *f = p->fine;
    int32_t low = INT32_MAX, high = -1;
    for (int32_t i = f->A.bands.first[band]; i < f->A.bands.first[band + 1]; i++) {
        if (blocks_of(&f->P, i) == 0) continue;
        for (int64_t k = f->A.start[i] - 1; k < f->A.start[i + 1]; k++) {
            int32_t j = k < f->A.start[i] ? i : f->A.col[k];
            if (blocks_of(&f->P, j) == 0) continue;
            if (f->P.col[f->P.start[j]] < low) low = f->P.col[f->P.start[j]];
            if (f->P.col[f->P.start[j + 1] - 1] > high) high = f->P.col[f->P.start[j + 1] - 1];
        }
    }
    p->span_first[band] = high >= low ? low : 0;
    p->span[band] = high >= low ? high - low + 1 : 0;
}

static void sort(int32_t *list, int32_t count) { /* short lists, partly in order */
    for (int32_t i = 1; i < count; i++) {
        int32_t value = list[i], k = i;
        for (; k > 0 && list[k - 1] > value; k--) list[k] = list[k - 1];
        list[k] = value;
    }
}

/* seen: who met a column last, from column `first` on; all of its numbers are below i */
static int32_t list_wide_row(const drape_i_level *f, int32_t i, int32_t first, int32_t *seen, int32_t *list) {
    const int64_t *start = f->P.start;
    const int32_t *col = f->P.col;
    int32_t count = blocks_of(&f->P, i);
    for (int32_t n = 0; n < count; n++) list[n] = col[start[i] + n], seen[list[n] - first] = i;
    for (int64_t k = f->A.start[i]; k < f->A.start[i + 1]; k++)
        for (int64_t q = start[f->A.col[k]]; q < start[f->A.col[k] + 1]; q++) {
            list[count] = col[q];
            count += seen[col[q] - first] != i;
            seen[col[q] - first] = i;
        }
    sort(list, count);
    return count;
}

static int32_t list_row(const drape_i_level *f, int32_t i, window *w, int32_t *list) {
    const drape_i_fblocks *P = &f->P;
    put_in(w, P->col + P->start[i], blocks_of(P, i));
    for (int64_t k = f->A.start[i]; k < f->A.start[i + 1]; k++)
        put_in(w, P->col + P->start[f->A.col[k]], blocks_of(P, f->A.col[k]));
    return take_out(w, list);
}

static void list_band_rows(void *data, int32_t band) {
    const patterning *p = data;
    const drape_i_level *f = p->fine;
    const int32_t first = p->span_first[band];
    const bool wide = p->span[band] > WINDOW;
    window w;
    open_window(&w, first);
    for (int32_t n = 0; n < p->span[band]; n++) p->number[band][n] = -1;
    for (int32_t i = f->A.bands.first[band]; i < f->A.bands.first[band + 1]; i++) {
        int32_t *list = p->row_col + p->row_start[i];
        if (blocks_of(&f->P, i) == 0) p->row_count[i] = 0;
        else if (wide) p->row_count[i] = list_wide_row(f, i, first, p->number[band], list);
        else p->row_count[i] = list_row(f, i, &w, list);
    }
}

static void add_up(int64_t *start, int32_t rows) {
    start[0] = 0;
    for (int32_t i = 0; i < rows; i++) start[i + 1] += start[i];
}

static drape_status make_rows(drape_context *ctx, patterning *p) {
    int32_t rows = p->fine->A.rows;
    if (!DRAPE_NEW_RAW(ctx, p->row_start, (int64_t)rows + 1) || !DRAPE_NEW_RAW(ctx, p->row_count, rows))
        return DRAPE_ERROR_MEMORY;
    drape_i_loop(ctx, rows, DRAPE_I_GRAIN, find_room, p);
    add_up(p->row_start, rows);
    p->row_room = p->row_start[rows];
    if (!DRAPE_NEW_RAW(ctx, p->row_col, p->row_room + 1)) return DRAPE_ERROR_MEMORY;
    drape_i_bands_all(ctx, &p->fine->A.bands, find_span, p);
    for (int32_t band = 0; band < p->fine->A.bands.count; band++)
        if (!DRAPE_NEW_RAW(ctx, p->number[band], p->span[band])) return DRAPE_ERROR_MEMORY;
    drape_i_bands_all(ctx, &p->fine->A.bands, list_band_rows, p);
    return DRAPE_OK;
}

/* ---- The coarse pattern ---- */

enum { COARSE_GRAIN = 128 };

static void find_near_room(void *data, int64_t begin, int64_t end) {
    const patterning *p = data;
    const drape_i_level *f = p->fine;
    for (int64_t J = begin; J < end; J++) {
        int64_t room = 0;
        for (int64_t b = f->back_start[J]; b < f->back_start[J + 1]; b++) room += p->row_count[f->back_row[b]] - 1;
        p->near_start[J + 1] = room;
    }
}

/* Coarse row J meets in Z all columns of the rows that it reaches. These lists are short and much alike: a column is
 * mostly where the one before it was found, and one further. */
static int32_t list_near_wide(const patterning *p, int64_t J, int32_t *list) {
    const drape_i_level *f = p->fine;
    int32_t count = 0;
    for (int64_t b = f->back_start[J]; b < f->back_start[J + 1]; b++) {
        const int32_t i = f->back_row[b], *col = p->row_col + p->row_start[i];
        for (int32_t n = 0, at = 0; n < p->row_count[i]; n++) {
            if (col[n] == J) continue;
            while (at < count && list[at] < col[n]) at++;
            if (at < count && list[at] == col[n]) continue;
            memmove(list + at + 1, list + at, (size_t)(count - at) * sizeof *list);
            list[at] = col[n];
            count++;
        }
    }
    return count;
}

/* The columns that the rows that J reaches have, from the first to the last. */
static void find_reach(const patterning *p, int64_t J, int32_t *low, int32_t *high) {
    const drape_i_level *f = p->fine;
    for (int64_t b = f->back_start[J]; b < f->back_start[J + 1]; b++) {
        const int32_t i = f->back_row[b], *col = p->row_col + p->row_start[i], last = col[p->row_count[i] - 1];
        *low = col[0] < *low ? col[0] : *low;
        *high = last > *high ? last : *high;
    }
}

static int32_t list_near_row(const patterning *p, int64_t J, window *w, int32_t *list) {
    const drape_i_level *f = p->fine;
    int32_t low = (int32_t)J, high = (int32_t)J;
    find_reach(p, J, &low, &high);
    if (high - low >= WINDOW) return list_near_wide(p, J, list);
    w->first = low;
    for (int64_t b = f->back_start[J]; b < f->back_start[J + 1]; b++)
        put_in(w, p->row_col + p->row_start[f->back_row[b]], p->row_count[f->back_row[b]]);
    w->bits[(J - low) / 64] &= ~(UINT64_C(1) << ((J - low) % 64));
    return take_out(w, list);
}

static void list_near(void *data, int64_t begin, int64_t end) {
    const patterning *p = data;
    window w;
    open_window(&w, 0);
    for (int64_t J = begin; J < end; J++) {
        int32_t *list = p->near_col + p->near_start[J], below = 0;
        p->near_count[J] = list_near_row(p, J, &w, list);
        for (int32_t n = 0; n < p->near_count[J]; n++) below += list[n] < J;
        p->near_below[J] = below;
    }
}

static drape_status make_near(drape_context *ctx, patterning *p) {
    int32_t cols = p->fine->P.cols;
    if (!DRAPE_NEW_RAW(ctx, p->near_start, (int64_t)cols + 1) || !DRAPE_NEW_RAW(ctx, p->near_count, cols) ||
        !DRAPE_NEW_RAW(ctx, p->near_below, cols))
        return DRAPE_ERROR_MEMORY;
    drape_i_loop(ctx, cols, COARSE_GRAIN, find_near_room, p);
    add_up(p->near_start, cols);
    p->near_room = p->near_start[cols];
    if (!DRAPE_NEW_RAW(ctx, p->near_col, p->near_room)) return DRAPE_ERROR_MEMORY;
    drape_i_loop(ctx, cols, COARSE_GRAIN, list_near, p);
    return DRAPE_OK;
}

/* Z's blocks below the diagonal, by columns. */
static drape_status make_in(drape_context *ctx, patterning *p) {
    int32_t cols = p->fine->P.cols;
    drape_i_by_column by;
    const drape_i_entries below = {cols, cols, p->near_start, p->near_below, p->near_col};
    if (!DRAPE_NEW_RAW(ctx, p->in_start, (int64_t)cols + 1)) return DRAPE_ERROR_MEMORY;
    drape_status status = drape_i_by_column_count(ctx, &below, p->in_start, &by);
    if (status) return status;
    if (!DRAPE_NEW_RAW(ctx, p->in_col, p->in_start[cols])) {
        drape_i_by_column_free(ctx, &by);
        return DRAPE_ERROR_MEMORY;
    }
    drape_i_by_column_sort(ctx, &by, false, p->in_col, NULL);
    return DRAPE_OK;
}

/* The union of what row J meets right of the diagonal and what meets it from below. */
static int32_t merge(const patterning *p, int32_t J, int32_t *out) {
    const int32_t *near = p->near_col + p->near_start[J], *a = near + p->near_below[J],
                  *a_end = near + p->near_count[J];
    const int32_t *b = p->in_col + p->in_start[J], *b_end = p->in_col + p->in_start[J + 1];
    int32_t count = 0;
    while (a < a_end || b < b_end) {
        int32_t next = b == b_end || (a < a_end && *a <= *b) ? *a : *b;
        if (a < a_end && *a == next) a++;
        if (b < b_end && *b == next) b++;
        if (out) out[count] = next;
        count++;
    }
    return count;
}

static void count_merged(void *data, int64_t begin, int64_t end) {
    const patterning *p = data;
    for (int64_t J = begin; J < end; J++) p->merged[J] = merge(p, (int32_t)J, NULL);
}

static void merge_rows(void *data, int64_t begin, int64_t end) {
    const patterning *p = data;
    for (int64_t J = begin; J < end; J++) merge(p, (int32_t)J, p->coarse->col + p->coarse->start[J]);
}

static drape_status make_coarse(drape_context *ctx, patterning *p) {
    int32_t cols = p->fine->P.cols;
    int64_t total = 0;
    if (!DRAPE_NEW_RAW(ctx, p->merged, cols)) return DRAPE_ERROR_MEMORY;
    drape_i_loop(ctx, cols, COARSE_GRAIN, count_merged, p);
    for (int32_t J = 0; J < cols; J++) total += p->merged[J];
    drape_status status = drape_i_upper_alloc(ctx, cols, p->fine->P.c, total, p->coarse);
    if (status) return status;
    for (int32_t J = 0; J < cols; J++) p->coarse->start[J + 1] = p->coarse->start[J] + p->merged[J];
    drape_i_loop(ctx, cols, COARSE_GRAIN, merge_rows, p);
    return drape_i_upper_finish_pattern(ctx, p->coarse);
}

/* ---- The recipe ---- */

/* Most bytes that each of `count` places takes where the largest is `largest`. */
static int64_t bytes_of(int64_t count, int64_t largest) {
    return largest < DRAPE_I_FAR ? count : count * (1 + (int64_t)sizeof(int32_t));
}

static void find_bytes(void *data, int32_t band) {
    const patterning *p = data;
    const drape_i_bands *bands = &p->fine->A.bands;
    int64_t make = 0, add = 0;
    for (int32_t i = bands->first[band]; i < bands->first[band + 1]; i++) {
        int64_t count = p->row_count[i];
        if (count == 0) continue;
        make += bytes_of(p->row_start[i + 1] - p->row_start[i] + 1, count);
        add += bytes_of(blocks_of(&p->fine->P, i) * (count - 1), p->longest);
    }
    p->fine->recipe.make_first[band + 1] = make;
    p->fine->recipe.add_first[band + 1] = add;
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
static uint8_t *write_blocks(const patterning *p, int32_t j, int32_t first, const int32_t *place, uint8_t *to) {
    const drape_i_fblocks *P = &p->fine->P;
    for (int64_t q = P->start[j]; q < P->start[j + 1]; q++) to = write_place(to, place[P->col[q] - first]);
    return to;
}

static uint8_t *write_make(const patterning *p, int32_t i, int32_t first, int32_t *place, uint8_t *to) {
    const drape_i_upper *A = &p->fine->A;
    const int32_t *col = p->row_col + p->row_start[i];
    for (int32_t n = 0; n < p->row_count[i]; n++) place[col[n] - first] = n;
    to = write_place(to, p->row_count[i]);
    to = write_blocks(p, i, first, place, to);
    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) to = write_blocks(p, A->col[k], first, place, to);
    return to;
}

static int32_t place_in_row(const drape_i_upper *coarse, int32_t J, int32_t K) {
    const int32_t *col = coarse->col + coarse->start[J];
    int32_t at = 0;
    while (col[at] != K) at++;
    return at;
}

/* The columns of a row right of J are met in the order in which coarse row J has them. */
static uint8_t *write_add(const patterning *p, int32_t i, uint8_t *to) {
    const drape_i_fblocks *P = &p->fine->P;
    const int32_t *col = p->row_col + p->row_start[i], count = p->row_count[i];
    for (int64_t q = P->start[i]; q < P->start[i + 1]; q++) {
        const int32_t J = P->col[q], *mine = p->coarse->col + p->coarse->start[J];
        int32_t n = 0, at = 0;
        for (; col[n] < J; n++) to = write_place(to, place_in_row(p->coarse, col[n], J));
        for (n++; n < count; n++, at++) {
            while (mine[at] != col[n]) at++;
            to = write_place(to, at);
        }
    }
    return to;
}

static void write_band(void *data, int32_t band) {
    const patterning *p = data;
    const drape_i_recipe *recipe = &p->fine->recipe;
    const drape_i_bands *bands = &p->fine->A.bands;
    uint8_t *make = recipe->make + recipe->make_first[band], *add = recipe->add + recipe->add_first[band];
    for (int32_t i = bands->first[band]; i < bands->first[band + 1]; i++) {
        if (p->row_count[i] == 0) continue;
        make = write_make(p, i, p->span_first[band], p->number[band], make);
        add = write_add(p, i, add);
    }
}

static drape_status write_recipe(drape_context *ctx, patterning *p) {
    drape_i_recipe *recipe = &p->fine->recipe;
    const drape_i_bands *bands = &p->fine->A.bands;
    p->longest = 0;
    for (int32_t J = 0; J < p->coarse->rows; J++)
        if (p->merged[J] > p->longest) p->longest = p->merged[J];
    drape_i_bands_all(ctx, bands, find_bytes, p);
    add_up(recipe->make_first, bands->count);
    add_up(recipe->add_first, bands->count);
    recipe->make_bytes = recipe->make_first[bands->count];
    recipe->add_bytes = recipe->add_first[bands->count];
    if (!DRAPE_NEW_RAW(ctx, recipe->make, recipe->make_bytes) || !DRAPE_NEW_RAW(ctx, recipe->add, recipe->add_bytes))
        return DRAPE_ERROR_MEMORY;
    drape_i_bands_all(ctx, bands, write_band, p);
    return DRAPE_OK;
}

/* Bands with a product in a common block have a common column, so those that touch no common one do not meet. A band
 * touches those columns for which list_row or write_make left it a number. */
static void find_meetings(void *data, int32_t band) {
    patterning *p = data;
    const int32_t bands = p->fine->A.bands.count, first = p->span_first[band], last = first + p->span[band];
    p->meets[band] = 0;
    for (int32_t other = band + 1; other < bands; other++) {
        const int32_t from = p->span_first[other] > first ? p->span_first[other] : first;
        const int32_t end = p->span_first[other] + p->span[other], to = end < last ? end : last;
        for (int32_t J = from; J < to; J++)
            if (p->number[band][J - first] >= 0 && p->number[other][J - p->span_first[other]] >= 0) {
                p->meets[band] |= 1u << other;
                break;
            }
    }
}

static void colour_bands(drape_context *ctx, patterning *p) {
    drape_i_bands_all(ctx, &p->fine->A.bands, find_meetings, p);
    p->fine->recipe.reach = p->fine->A.bands;
    drape_i_bands_colour(p->meets, &p->fine->recipe.reach);
}

/* Numbers of a block of a product row, with those that kernels read past its end. */
static int64_t product_block(const drape_i_level *fine) { return DRAPE_I_PADDING * fine->P.c + DRAPE_I_PADDING; }

static drape_status allocate_rows(drape_context *ctx, patterning *p) {
    drape_i_recipe *recipe = &p->fine->recipe;
    recipe->widest = 1;
    for (int32_t i = 0; i < p->fine->A.rows; i++)
        if (p->row_count[i] > recipe->widest) recipe->widest = p->row_count[i];
    for (int32_t b = 0; b < p->fine->A.bands.count; b++)
        if (!DRAPE_NEW(ctx, recipe->row[b].col, recipe->widest) ||
            !DRAPE_NEW(ctx, recipe->row[b].val, recipe->widest * product_block(p->fine)))
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

static void free_scratch(drape_context *ctx, patterning *p) {
    int64_t rows = p->fine->A.rows, cols = p->fine->P.cols;
    if (p->in_col) DRAPE_FREE(ctx, p->in_col, p->in_start[cols]);
    DRAPE_FREE(ctx, p->in_start, cols + 1);
    DRAPE_FREE(ctx, p->merged, cols);
    DRAPE_FREE(ctx, p->near_col, p->near_room);
    DRAPE_FREE(ctx, p->near_count, cols);
    DRAPE_FREE(ctx, p->near_below, cols);
    DRAPE_FREE(ctx, p->near_start, cols + 1);
    for (int32_t band = 0; band < p->fine->A.bands.count; band++) DRAPE_FREE(ctx, p->number[band], p->span[band]);
    DRAPE_FREE(ctx, p->row_col, p->row_room + 1);
    DRAPE_FREE(ctx, p->row_count, rows);
    DRAPE_FREE(ctx, p->row_start, rows + 1);
}

drape_status drape_i_galerkin_pattern(drape_context *ctx, drape_i_level *fine, drape_i_level *coarse) {
    patterning p = {.fine = fine, .coarse = &coarse->A};
    drape_status status = make_rows(ctx, &p);
    if (!status) status = make_near(ctx, &p);
    if (!status) status = make_in(ctx, &p);
    if (!status) status = make_coarse(ctx, &p);
    if (!status) status = write_recipe(ctx, &p);
    if (!status) {
        colour_bands(ctx, &p);
        status = allocate_rows(ctx, &p);
    }
    free_scratch(ctx, &p);
    return status;
}

/* ---- The values ---- */

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
