/* galerkin_pattern.c: the pattern of the coarse matrix P'A P; see galerkin.c.
 *
 * First the columns of each row of (I/2 + U) P. Coarse row J meets, in Z = P'(I/2 + U) P, the columns of all rows
 * that it reaches; what it meets left of the diagonal belongs to other rows, transposed. */
#include "linear/amg/product.h"

#include "base/parallel.h"
#include "sparse/by_column.h"

enum { COARSE_GRAIN = 128 };

/* Columns as bits: no branch depends on which are set, and they come out in order. Between uses all are zero; while
 * in use those that may be set are in the words [low, high]. */
typedef struct column_set {
    int32_t low, high;
    uint64_t *bits;
} column_set;

/* While a pattern is made. */
typedef struct patterning {
    drape_i_product_rows rows;
    uint64_t *bits;      /* a column set for each band */
    int64_t words;       /* of one of these */
    int64_t *back_start; /* of each coarse row: the fine rows that it reaches, ascending */
    int32_t *back_row;
    int64_t *near_start; /* of each coarse row: the columns that it meets in Z, ascending, itself left out, */
    int32_t *near_col, *near_count, *near_below; /*   how many, and how many of them below the diagonal, */
    int64_t *in_start;                           /*   and the rows that meet it from above, ascending */
    int32_t *in_col;
    int32_t *merged; /* blocks of each coarse row */
    int64_t row_room, near_room;
} patterning;

/* ---- Sets of columns ---- */

static column_set set_of_band(const patterning *p, int32_t band) {
    return (column_set){INT32_MAX, -1, p->bits + p->words * band};
}

/* An ascending list. */
static void put_in(column_set *c, const int32_t *col, int32_t count) {
    if (count == 0) return;
    const int32_t low = col[0] / 64, high = col[count - 1] / 64;
    c->low = low < c->low ? low : c->low;
    c->high = high > c->high ? high : c->high;
    for (int32_t n = 0; n < count; n++) c->bits[(uint32_t)col[n] / 64] |= UINT64_C(1) << ((uint32_t)col[n] % 64);
}

/* Takes all out again; returns how many they were. */
static int32_t take_out(column_set *c, int32_t *list) {
    int32_t count = 0;
    for (int32_t k = c->low; k <= c->high; k++) {
        for (uint64_t rest = c->bits[k]; rest; rest &= rest - 1)
            list[count++] = 64 * k + (int32_t)DRAPE_LOWEST_BIT(rest);
        c->bits[k] = 0;
    }
    c->low = INT32_MAX;
    c->high = -1;
    return count;
}

/* ---- Rows of (I/2 + U) P ---- */

/* The most columns that row i can have. */
static int64_t room_of(const drape_i_level *f, int32_t i) {
    int64_t room = drape_i_blocks_in(&f->P, i);
    if (room == 0) return 0;
    for (int64_t k = f->A.start[i]; k < f->A.start[i + 1]; k++) room += drape_i_blocks_in(&f->P, f->A.col[k]);
    return room;
}

static void find_room(void *data, int64_t begin, int64_t end) {
    const drape_i_product_rows *r = &((const patterning *)data)->rows;
    for (int64_t i = begin; i < end; i++) r->row_start[i + 1] = room_of(r->fine, (int32_t)i);
}

static int32_t list_row(const drape_i_level *f, int32_t i, column_set *set, int32_t *list) {
    const drape_i_fblocks *P = &f->P;
    if (drape_i_blocks_in(P, i) == 0) return 0;
    put_in(set, P->col + P->start[i], drape_i_blocks_in(P, i));
    for (int64_t k = f->A.start[i]; k < f->A.start[i + 1]; k++)
        put_in(set, P->col + P->start[f->A.col[k]], drape_i_blocks_in(P, f->A.col[k]));
    return take_out(set, list);
}

static void list_band_rows(void *data, int32_t band) {
    const patterning *p = data;
    const drape_i_product_rows *r = &p->rows;
    column_set set = set_of_band(p, band);
    for (int32_t i = r->fine->A.bands.first[band]; i < r->fine->A.bands.first[band + 1]; i++)
        r->row_count[i] = list_row(r->fine, i, &set, r->row_col + r->row_start[i]);
}

static drape_status make_rows(drape_context *ctx, patterning *p) {
    drape_i_product_rows *r = &p->rows;
    int32_t rows = r->fine->A.rows;
    if (!DRAPE_NEW_RAW(ctx, r->row_start, (int64_t)rows + 1) || !DRAPE_NEW_RAW(ctx, r->row_count, rows))
        return DRAPE_ERROR_MEMORY;
    drape_i_loop(ctx, rows, DRAPE_I_GRAIN, find_room, p);
    drape_i_add_up(r->row_start, rows);
    p->row_room = r->row_start[rows];
    if (!DRAPE_NEW_RAW(ctx, r->row_col, p->row_room + 1)) return DRAPE_ERROR_MEMORY;
    drape_i_bands_all(ctx, &r->fine->A.bands, list_band_rows, p);
    return DRAPE_OK;
}

/* ---- The coarse pattern ---- */

static void find_near_room(void *data, int64_t begin, int64_t end) {
    const patterning *p = data;
    for (int64_t J = begin; J < end; J++) {
        int64_t room = 0;
        for (int64_t b = p->back_start[J]; b < p->back_start[J + 1]; b++)
            room += p->rows.row_count[p->back_row[b]] - 1;
        p->near_start[J + 1] = room;
    }
}

static void list_near(const patterning *p, int32_t J, column_set *set) {
    const drape_i_product_rows *r = &p->rows;
    int32_t *list = p->near_col + p->near_start[J], below = 0;
    for (int64_t b = p->back_start[J]; b < p->back_start[J + 1]; b++)
        put_in(set, r->row_col + r->row_start[p->back_row[b]], r->row_count[p->back_row[b]]);
    set->bits[J / 64] &= ~(UINT64_C(1) << (J % 64));
    p->near_count[J] = take_out(set, list);
    for (int32_t n = 0; n < p->near_count[J]; n++) below += list[n] < J;
    p->near_below[J] = below;
}

/* As many parts of the coarse rows as there are bands, whose column sets are free again. */
static void list_near_part(void *data, int32_t part) {
    const patterning *p = data;
    const int64_t cols = p->rows.fine->P.cols, parts = p->rows.fine->A.bands.count;
    column_set set = set_of_band(p, part);
    for (int64_t J = cols * part / parts; J < cols * (part + 1) / parts; J++) list_near(p, (int32_t)J, &set);
}

/* P by columns. */
static drape_status make_back(drape_context *ctx, patterning *p) {
    const drape_i_fblocks *P = &p->rows.fine->P;
    const drape_i_entries blocks = {.rows = P->rows, .cols = P->cols, .start = P->start, .col = P->col};
    drape_i_by_column by;
    if (!DRAPE_NEW_RAW(ctx, p->back_start, (int64_t)P->cols + 1) || !DRAPE_NEW_RAW(ctx, p->back_row, P->count))
        return DRAPE_ERROR_MEMORY;
    drape_status status = drape_i_by_column_count(ctx, &blocks, p->back_start, &by);
    if (!status) drape_i_by_column_sort(ctx, &by, false, p->back_row, NULL);
    return status;
}

static drape_status make_near(drape_context *ctx, patterning *p) {
    int32_t cols = p->rows.fine->P.cols;
    if (!DRAPE_NEW_RAW(ctx, p->near_start, (int64_t)cols + 1) || !DRAPE_NEW_RAW(ctx, p->near_count, cols) ||
        !DRAPE_NEW_RAW(ctx, p->near_below, cols))
        return DRAPE_ERROR_MEMORY;
    drape_i_loop(ctx, cols, COARSE_GRAIN, find_near_room, p);
    drape_i_add_up(p->near_start, cols);
    p->near_room = p->near_start[cols];
    if (!DRAPE_NEW_RAW(ctx, p->near_col, p->near_room)) return DRAPE_ERROR_MEMORY;
    drape_i_bands_all(ctx, &p->rows.fine->A.bands, list_near_part, p);
    return DRAPE_OK;
}

/* Z's blocks below the diagonal, by columns. */
static drape_status make_in(drape_context *ctx, patterning *p) {
    int32_t cols = p->rows.fine->P.cols;
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
    for (int64_t J = begin; J < end; J++) merge(p, (int32_t)J, p->rows.coarse->col + p->rows.coarse->start[J]);
}

static drape_status make_coarse(drape_context *ctx, patterning *p) {
    int32_t cols = p->rows.fine->P.cols;
    int64_t total = 0;
    if (!DRAPE_NEW_RAW(ctx, p->merged, cols)) return DRAPE_ERROR_MEMORY;
    drape_i_loop(ctx, cols, COARSE_GRAIN, count_merged, p);
    for (int32_t J = 0; J < cols; J++) total += p->merged[J];
    drape_status status = drape_i_upper_alloc(ctx, cols, p->rows.fine->P.c, total, p->rows.coarse);
    if (status) return status;
    for (int32_t J = 0; J < cols; J++) p->rows.coarse->start[J + 1] = p->rows.coarse->start[J] + p->merged[J];
    drape_i_loop(ctx, cols, COARSE_GRAIN, merge_rows, p);
    return drape_i_upper_finish_pattern(ctx, p->rows.coarse);
}

static void free_scratch(drape_context *ctx, patterning *p) {
    int64_t rows = p->rows.fine->A.rows, cols = p->rows.fine->P.cols;
    if (p->in_col) DRAPE_FREE(ctx, p->in_col, p->in_start[cols]);
    DRAPE_FREE(ctx, p->in_start, cols + 1);
    DRAPE_FREE(ctx, p->merged, cols);
    DRAPE_FREE(ctx, p->near_col, p->near_room);
    DRAPE_FREE(ctx, p->near_count, cols);
    DRAPE_FREE(ctx, p->near_below, cols);
    DRAPE_FREE(ctx, p->near_start, cols + 1);
    DRAPE_FREE(ctx, p->back_row, p->rows.fine->P.count);
    DRAPE_FREE(ctx, p->back_start, cols + 1);
    DRAPE_FREE(ctx, p->bits, p->words * p->rows.fine->A.bands.count);
    DRAPE_FREE(ctx, p->rows.row_col, p->row_room + 1);
    DRAPE_FREE(ctx, p->rows.row_count, rows);
    DRAPE_FREE(ctx, p->rows.row_start, rows + 1);
}

drape_status drape_i_galerkin_pattern(drape_context *ctx, drape_i_level *fine, drape_i_level *coarse) {
    patterning p = {.rows = {.fine = fine, .coarse = &coarse->A}};
    p.words = fine->P.cols / 64 + 1;
    if (!DRAPE_NEW(ctx, p.bits, p.words * fine->A.bands.count)) return DRAPE_ERROR_MEMORY;
    drape_status status = make_rows(ctx, &p);
    if (!status) status = make_back(ctx, &p);
    if (!status) status = make_near(ctx, &p);
    if (!status) status = make_in(ctx, &p);
    if (!status) status = make_coarse(ctx, &p);
    if (!status) status = drape_i_recipe_write(ctx, &p.rows);
    free_scratch(ctx, &p);
    return status;
}
