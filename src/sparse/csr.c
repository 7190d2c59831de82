/* csr.c: scalar compressed rows or columns, as other libraries store them, turned into block rows.
 *
 * Each entry of the caller's goes to one place among the blocks' values, or to two where one triangle stands for
 * both. Those places, sorted by block row, are the map: block row i sums the entries entry[first[i] .. first[i+1]-1]
 * at at[...], so that threads share the rows, and entries that are there several times are summed in their order. New
 * values go the same way without a search. Cost of a map: 8 bytes per entry, 16 where entries change their order. */
#include "base/parallel.h"
#include "sparse/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_GRAIN = 256 };
static const int64_t MAX_ROWS = INT64_C(3) * INT32_MAX;

struct drape_csr_map {
    drape_context *ctx;
    int64_t scalar_rows;
    int32_t rows;   /* in blocks */
    int64_t blocks; /* of the matrix */
    int64_t places; /* length of entry and at */
    int64_t *first; /* rows + 1 */
    int64_t *entry; /* NULL: the place's own number */
    int64_t *at;    /* in the values of the matrix */
};

static int64_t start_of(const drape_csr *A, int64_t i) { return A->start32 ? A->start32[i] : A->start64[i]; }
static int64_t index_of(const drape_csr *A, int64_t k) { return A->index32 ? A->index32[k] : A->index64[k]; }

/* ---- Checks ---- */

static const char *line_name(bool columns) { return columns ? "column" : "row"; }

static drape_status check_arrays(drape_context *ctx, const drape_csr *A) {
    drape_status status = drape_i_check_reserved(ctx, "drape_csr", A->reserved, 4);
    if (status) return status;
    if (A->rows < 0 || A->rows > MAX_ROWS)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "csr: %lld rows are not in 0 .. %lld", (long long)A->rows,
                            (long long)MAX_ROWS);
    if (!A->start32 == !A->start64)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "csr: exactly one of start32 and start64 must be given");
    if (start_of(A, 0) != 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "csr: start begins with %lld, not 0",
                            (long long)start_of(A, 0));
    if (start_of(A, A->rows) == 0) return DRAPE_OK;
    if (!A->index32 == !A->index64)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "csr: exactly one of index32 and index64 must be given");
    return A->val ? DRAPE_OK : drape_i_missing(ctx, "csr", "val");
}

static drape_status check_indices(drape_context *ctx, const drape_csr *A, bool columns) {
    const int64_t all = start_of(A, A->rows);
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t first = start_of(A, i), end = start_of(A, i + 1);
        if (end < first || end > all)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "csr: %s %lld goes from entry %lld to %lld of %lld",
                                line_name(columns), (long long)i, (long long)first, (long long)end, (long long)all);
        for (int64_t k = first; k < end; k++)
            if (index_of(A, k) < 0 || index_of(A, k) >= A->rows)
                return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "csr: %s %lld has %s %lld, outside 0 .. %lld",
                                    line_name(columns), (long long)i, line_name(!columns), (long long)index_of(A, k),
                                    (long long)A->rows - 1);
    }
    return DRAPE_OK;
}

/* Where the first entry on either side of the diagonal is: (row, column), or -1. */
typedef struct sides {
    int64_t below[2], above[2];
} sides;

static sides find_sides(const drape_csr *A, bool columns) {
    sides s = {{-1, -1}, {-1, -1}};
    for (int64_t i = 0; i < A->rows && (s.below[0] < 0 || s.above[0] < 0); i++)
        for (int64_t k = start_of(A, i); k < start_of(A, i + 1); k++) {
            int64_t row = columns ? index_of(A, k) : i, column = columns ? i : index_of(A, k);
            int64_t *side = column < row ? s.below : s.above;
            if (row != column && side[0] < 0) side[0] = row, side[1] = column;
        }
    return s;
}

static drape_status check_sides(drape_context *ctx, const drape_csr *A, bool columns) {
    const sides s = find_sides(A, columns);
    const bool below = s.below[0] >= 0, above = s.above[0] >= 0;
    const int64_t *one = below ? s.below : s.above;
    if (A->stored < DRAPE_CSR_WHOLE || A->stored > DRAPE_CSR_TRIANGULAR)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "csr: stored is %d, which is not a known value",
                            (int)A->stored);
    if (A->stored == DRAPE_CSR_WHOLE && below != above)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "csr: A has entries in one triangle only: there is one in row %lld, column %lld, but "
                            "none on the other side of the diagonal; set stored to DRAPE_CSR_MIRROR if it represents "
                            "both, or to DRAPE_CSR_TRIANGULAR if A is meant to be triangular",
                            (long long)one[0], (long long)one[1]);
    if (A->stored == DRAPE_CSR_MIRROR && below && above)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "csr: one triangle is to be mirrored, but there are entries in both: row %lld, column "
                            "%lld and row %lld, column %lld",
                            (long long)s.below[0], (long long)s.below[1], (long long)s.above[0],
                            (long long)s.above[1]);
    return DRAPE_OK;
}

/* ---- The map ---- */

void drape_csr_map_destroy(drape_csr_map *map) {
    if (!map) return;
    drape_context *ctx = map->ctx;
    DRAPE_FREE(ctx, map->first, (int64_t)map->rows + 1);
    DRAPE_FREE(ctx, map->entry, map->places);
    DRAPE_FREE(ctx, map->at, map->places);
    DRAPE_FREE(ctx, map, 1);
}

typedef struct converting {
    const drape_csr *A;
    bool columns;
    drape_csr_map *map;
} converting;

/* Where an entry goes, until the pattern is known: column * 3 + row % 3. */
static int64_t code_of(int64_t row, int64_t column) { return 3 * column + row % 3; }

static void put(drape_csr_map *map, int64_t row, int64_t column, int64_t k) {
    int64_t place = map->first[row / 3]++;
    map->at[place] = code_of(row, column);
    if (map->entry) map->entry[place] = k;
}

/* Counts the places of each block row, or puts each entry into its own. */
static void visit_entries(const converting *c, bool counting) {
    const drape_csr *A = c->A;
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = start_of(A, i); k < start_of(A, i + 1); k++) {
            int64_t row = c->columns ? index_of(A, k) : i, column = c->columns ? i : index_of(A, k);
            bool twice = A->stored == DRAPE_CSR_MIRROR && row != column;
            if (counting) {
                c->map->first[row / 3 + 1]++;
                if (twice) c->map->first[column / 3 + 1]++;
            } else {
                put(c->map, row, column, k);
                if (twice) put(c->map, column, row, k);
            }
        }
}

/* Places by block row, still as codes. */
static drape_status sort_places(const converting *c) {
    drape_csr_map *map = c->map;
    bool ordered = !c->columns && c->A->stored != DRAPE_CSR_MIRROR;
    if (!DRAPE_NEW(map->ctx, map->first, (int64_t)map->rows + 1)) return DRAPE_ERROR_MEMORY;
    visit_entries(c, true);
    for (int32_t i = 0; i < map->rows; i++) map->first[i + 1] += map->first[i];
    map->places = map->first[map->rows];
    if (!DRAPE_NEW_RAW(map->ctx, map->at, map->places) ||
        (!ordered && !DRAPE_NEW_RAW(map->ctx, map->entry, map->places)))
        return DRAPE_ERROR_MEMORY;
    visit_entries(c, false);
    for (int32_t i = map->rows; i > 0; i--) map->first[i] = map->first[i - 1];
    map->first[0] = 0;
    return DRAPE_OK;
}

static int ascending(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The block columns of row i, the diagonal among them, each once; seen[j] == i marks those that were met. */
static int64_t collect_row(const drape_csr_map *map, int32_t i, int32_t *seen, int32_t *col) {
    int64_t count = 1;
    seen[i] = i;
    if (col) col[0] = i;
    for (int64_t p = map->first[i]; p < map->first[i + 1]; p++) {
        int32_t j = (int32_t)(map->at[p] / 9);
        if (seen[j] == i) continue;
        seen[j] = i;
        if (col) col[count] = j;
        count++;
    }
    return count;
}

static drape_status make_pattern(drape_csr_map *map, int32_t *seen, drape_matrix **out) {
    int64_t blocks = 0;
    memset(seen, 0xff, (size_t)map->rows * sizeof *seen);
    for (int32_t i = 0; i < map->rows; i++) blocks += collect_row(map, i, seen, NULL);
    drape_status status = drape_i_matrix_alloc(map->ctx, map->rows, blocks, out);
    if (status) return status;
    drape_matrix *m = *out;
    map->blocks = blocks;
    memset(seen, 0xff, (size_t)map->rows * sizeof *seen);
    for (int32_t i = 0; i < map->rows; i++) {
        int32_t *col = m->col + m->rowptr[i];
        int64_t count = collect_row(map, i, seen, col);
        qsort(col, (size_t)count, sizeof *col, ascending);
        m->rowptr[i + 1] = m->rowptr[i] + count;
    }
    return DRAPE_OK;
}

/* Codes become places in the values. */
static void find_places(drape_csr_map *map, const drape_matrix *m) {
    const drape_bsr3 A = drape_matrix_view(m);
    for (int32_t i = 0; i < map->rows; i++)
        for (int64_t p = map->first[i]; p < map->first[i + 1]; p++) {
            int64_t code = map->at[p], block = drape_i_matrix_find(&A, i, (int32_t)(code / 9));
            DRAPE_ASSERT(block >= 0);
            map->at[p] = 9 * block + 3 * (code % 3) + code / 3 % 3;
        }
}

static drape_status make_map(const converting *c, drape_matrix **out) {
    int32_t *seen;
    drape_status status = sort_places(c);
    if (status) return status;
    if (!DRAPE_NEW_RAW(c->map->ctx, seen, c->map->rows)) return DRAPE_ERROR_MEMORY;
    status = make_pattern(c->map, seen, out);
    if (!status) find_places(c->map, *out);
    DRAPE_FREE(c->map->ctx, seen, c->map->rows);
    return status;
}

/* ---- Values ---- */

typedef struct filling {
    const drape_csr_map *map;
    const double *from;
    drape_matrix *to;
} filling;

/* Sums up how many values are not finite. */
static void fill_rows(void *data, int64_t begin, int64_t end, double *sums) {
    const filling *f = data;
    const drape_csr_map *map = f->map;
    int64_t bad = 0, first = f->to->rowptr[begin], last = f->to->rowptr[end];
    memset(f->to->val + 9 * first, 0, 9 * (size_t)(last - first) * sizeof *f->to->val);
    for (int64_t p = map->first[begin]; p < map->first[end]; p++) {
        double value = f->from[map->entry ? map->entry[p] : p];
        bad += !isfinite(value);
        f->to->val[map->at[p]] += value;
    }
    sums[0] += (double)bad;
}

static drape_status name_bad_value(const filling *f) {
    const drape_csr_map *map = f->map;
    int64_t p = 0;
    int32_t i = 0;
    while (isfinite(f->from[map->entry ? map->entry[p] : p])) p++;
    while (map->first[i + 1] <= p) i++;
    int64_t at = map->at[p];
    return drape_i_fail(map->ctx, DRAPE_ERROR_ARGUMENT, "csr: the value in row %lld, column %lld is %g",
                        (long long)(3 * (int64_t)i + at % 9 / 3),
                        (long long)(3 * (int64_t)f->to->col[at / 9] + at % 3),
                        f->from[map->entry ? map->entry[p] : p]);
}

/* Rows beyond the caller's have a one on the diagonal. */
static void continue_diagonal(const filling *f) {
    const drape_bsr3 A = drape_matrix_view(f->to);
    for (int64_t i = f->map->scalar_rows; i < 3 * (int64_t)f->map->rows; i++)
        f->to->val[9 * drape_i_matrix_find(&A, A.rows - 1, A.rows - 1) + 4 * (i % 3)] = 1;
}

drape_status drape_csr_map_refresh(const drape_csr_map *map, const double *val, drape_matrix *matrix) {
    double bad;
    if (!map || !matrix || (!val && map->places > 0))
        return drape_i_missing(map ? map->ctx : NULL, "csr", matrix ? "val" : "matrix");
    if (matrix->rows != map->rows || matrix->blocks != map->blocks || !matrix->val)
        return drape_i_fail(map->ctx, DRAPE_ERROR_ARGUMENT,
                            "csr: the map is for %d block rows with %lld blocks, the matrix has %d with %lld",
                            map->rows, (long long)map->blocks, matrix->rows, (long long)matrix->blocks);
    filling f = {map, val, matrix};
    drape_i_sum(map->ctx, map->rows, ROW_GRAIN, fill_rows, &f, 1, &bad);
    continue_diagonal(&f);
    return bad > 0 ? name_bad_value(&f) : DRAPE_OK;
}

static drape_status convert(drape_context *ctx, const drape_csr *A, bool columns, drape_matrix **out,
                            drape_csr_map **map) {
    drape_csr_map *made;
    if (out) *out = NULL;
    if (map) *map = NULL;
    if (!ctx || !A || !out) return drape_i_missing(ctx, "csr", A ? "out" : "A");
    drape_status status = check_arrays(ctx, A);
    if (!status) status = check_indices(ctx, A, columns);
    if (!status) status = check_sides(ctx, A, columns);
    if (status) return status;
    if (!DRAPE_NEW(ctx, made, 1)) return DRAPE_ERROR_MEMORY;
    made->ctx = ctx;
    made->scalar_rows = A->rows;
    made->rows = (int32_t)((A->rows + 2) / 3);
    status = make_map(&(converting){A, columns, made}, out);
    if (!status) status = drape_csr_map_refresh(made, A->val, *out);
    if (status) {
        drape_matrix_destroy(*out);
        *out = NULL;
    }
    if (status || !map) drape_csr_map_destroy(made);
    else *map = made;
    return status;
}

drape_status drape_bsr3_from_csr(drape_context *ctx, const drape_csr *A, drape_matrix **out, drape_csr_map **map) {
    return convert(ctx, A, false, out, map);
}

drape_status drape_bsr3_from_csc(drape_context *ctx, const drape_csr *A, drape_matrix **out, drape_csr_map **map) {
    return convert(ctx, A, true, out, map);
}
