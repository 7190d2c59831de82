/* finest.c: the pattern of the finest level, from the caller's matrix.
 *
 * The caller's order of the rows is kept where neighbours are near each other in it. Where it says nothing about
 * which are near each other, the rows get a breadth-first order: then sweeps can be shared by threads, and memory is
 * met in order. */
#include "linear/amg/setup.h"

#include "base/parallel.h"
#include "linear/precond/triangular.h"
#include "sparse/breadth_first.h"

enum { FEW_COLOURS = 4 /* of bands, with which the caller's order is good enough */, ROW_GRAIN = 256 };

typedef struct copying {
    const drape_bsr3 *A;
    drape_i_level *level;
    const int32_t *place; /* of the caller's rows; NULL: their own */
} copying;

static void count_rows(void *data, int64_t begin, int64_t end) {
    const copying *c = data;
    for (int64_t i = begin; i < end; i++) {
        int64_t row = c->place ? c->level->user[i] : i, count = 0;
        if (!c->place) count = c->A->rowptr[row + 1] - drape_i_first_upper(c->A, (int32_t)row);
        else
            for (int64_t k = c->A->rowptr[row]; k < c->A->rowptr[row + 1]; k++) count += c->place[c->A->col[k]] > i;
        c->level->A.start[i + 1] = count;
    }
}

/* Columns by their places, ascending. */
static void copy_row(const copying *c, int64_t i) {
    const int64_t row = c->level->user[i], first = c->A->rowptr[row];
    int32_t *col = c->level->A.col + c->level->A.start[i], *source = c->level->source + c->level->A.start[i];
    int64_t count = 0;
    for (int64_t k = first; k < c->A->rowptr[row + 1]; k++) {
        int32_t place = c->place[c->A->col[k]];
        int64_t at = count;
        if (place <= i) continue;
        for (; at > 0 && col[at - 1] > place; at--) col[at] = col[at - 1], source[at] = source[at - 1];
        col[at] = place;
        source[at] = (int32_t)(k - first);
        count++;
    }
}

static void copy_rows(void *data, int64_t begin, int64_t end) {
    const copying *c = data;
    drape_i_upper *to = &c->level->A;
    for (int64_t i = begin; i < end; i++) {
        int64_t k = c->place ? 0 : drape_i_first_upper(c->A, (int32_t)i);
        if (c->place) copy_row(c, i);
        else
            for (int64_t at = to->start[i]; at < to->start[i + 1]; at++) to->col[at] = c->A->col[k++];
    }
}

static drape_status copy_pattern(drape_context *ctx, const copying *c) {
    drape_i_level *l = c->level;
    int32_t rows = c->A->rows;
    int64_t *start, count = 0;
    if (!DRAPE_NEW_RAW(ctx, start, (int64_t)rows + 1)) return DRAPE_ERROR_MEMORY;
    l->A.start = start;
    drape_i_loop(ctx, rows, ROW_GRAIN, count_rows, (void *)c);
    for (int32_t i = 0; i < rows; i++) count += start[i + 1];
    drape_status status = drape_i_upper_alloc(ctx, rows, 3, count, &l->A);
    for (int32_t i = 0; i < rows && !status; i++) l->A.start[i + 1] = l->A.start[i] + start[i + 1];
    DRAPE_FREE(ctx, start, (int64_t)rows + 1);
    if (!status && c->place && !DRAPE_NEW_RAW(ctx, l->source, count)) status = DRAPE_ERROR_MEMORY;
    if (!status) drape_i_loop(ctx, rows, ROW_GRAIN, copy_rows, (void *)c);
    return status;
}

static drape_status find_order(drape_context *ctx, const drape_bsr3 *A, drape_i_level *l, int32_t *place) {
    drape_i_columns columns = {0}; /* a pattern need not be symmetric */
    if (!DRAPE_NEW_RAW(ctx, l->user, A->rows)) return DRAPE_ERROR_MEMORY;
    drape_status status = drape_i_columns_create(ctx, A, &columns);
    if (!status) status = drape_i_breadth_first(ctx, A, columns.first, columns.row, l->user);
    drape_i_columns_destroy(ctx, &columns);
    for (int32_t i = 0; i < A->rows && !status; i++) place[l->user[i]] = i;
    return status;
}

static drape_status reorder(drape_context *ctx, const drape_bsr3 *A, drape_i_level *l) {
    drape_i_upper_free(ctx, &l->A);
    l->A.rows = A->rows; /* so that all is given back where something fails */
    if (!DRAPE_NEW_RAW(ctx, l->place, A->rows)) return DRAPE_ERROR_MEMORY;
    drape_status status = find_order(ctx, A, l, l->place);
    return status ? status : copy_pattern(ctx, &(copying){A, l, l->place});
}

drape_status drape_i_finest_pattern(drape_context *ctx, const drape_bsr3 *A, drape_i_level *l) {
    drape_i_bands bands;
    drape_status status = copy_pattern(ctx, &(copying){A, l, NULL});
    if (status) return status;
    drape_i_bands_make(ctx, &l->A, &bands);
    bool far = bands.colours > FEW_COLOURS || (bands.count > 2 && bands.colours == bands.count);
    if (far) status = reorder(ctx, A, l);
    return status ? status : drape_i_upper_finish_pattern(ctx, &l->A);
}
