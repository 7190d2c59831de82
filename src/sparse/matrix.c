/* matrix.c: owning block rows, and the check of a view filled by the caller. */
#include "sparse/matrix.h"

#include "base/parallel.h"

#include <math.h>
#include <string.h>

drape_status drape_i_missing(drape_context *ctx, const char *who, const char *what) {
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: %s is missing (NULL)", who, what);
}

/* ---- Checking ---- */

enum { CHECK_GRAIN = 512 };

static bool row_is_placed(const drape_bsr3 *A, int64_t i) {
    const int64_t first = A->rowptr[i], end = A->rowptr[i + 1];
    return first >= 0 && end >= first && end - first <= A->rows && end <= A->rowptr[A->rows];
}

/* The first block of a row that is placed whose column is wrong, and the column before it; or the end of the row. */
static int64_t first_wrong(const drape_bsr3 *A, int64_t i, int32_t *before) {
    int64_t k = A->rowptr[i];
    for (*before = -1; k < A->rowptr[i + 1] && A->col[k] > *before && A->col[k] < A->rows; k++) *before = A->col[k];
    return k;
}

static void count_wrong(void *data, int64_t begin, int64_t end, double *sums) {
    const drape_bsr3 *A = data;
    int32_t before;
    for (int64_t i = begin; i < end; i++)
        sums[0] += !row_is_placed(A, i) || first_wrong(A, i, &before) < A->rowptr[i + 1];
}

/* About the first row with something wrong. */
static drape_status explain_wrong(drape_context *ctx, const drape_bsr3 *A) {
    int32_t i = 0, before = -1;
    while (i < A->rows && row_is_placed(A, i) && first_wrong(A, i, &before) == A->rowptr[i + 1]) i++;
    if (!row_is_placed(A, i))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "matrix: row %d goes from block %lld to %lld of %lld", i,
                            (long long)A->rowptr[i], (long long)A->rowptr[i + 1], (long long)A->rowptr[A->rows]);
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                        "matrix: row %d has column %d after %d; columns must increase and be below %d", i,
                        A->col[first_wrong(A, i, &before)], before, A->rows);
}

drape_status drape_bsr3_check(drape_context *ctx, const drape_bsr3 *A) {
    double wrong;
    if (!ctx || !A) return drape_i_missing(ctx, "matrix", "A");
    if (A->rows < 0 || !A->rowptr || A->rowptr[0] != 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "matrix: %d rows, or rowptr does not start with 0", A->rows);
    if (!A->col && A->rowptr[A->rows] != 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "matrix: the columns are missing");
    drape_i_sum(ctx, A->rows, CHECK_GRAIN, count_wrong, (void *)A, 1, &wrong);
    return wrong > 0 ? explain_wrong(ctx, A) : DRAPE_OK;
}

/* ---- Memory ---- */

drape_status drape_i_pattern_alloc(drape_context *ctx, int32_t rows, int64_t blocks, drape_matrix **out) {
    drape_matrix *m;
    DRAPE_ASSERT(rows >= 0 && blocks >= 0);
    *out = NULL;
    if (!DRAPE_NEW(ctx, m, 1)) return DRAPE_ERROR_MEMORY;
    m->ctx = ctx;
    m->users = 1;
    m->rows = rows;
    m->blocks = blocks;
    if (!DRAPE_NEW(ctx, m->rowptr, (int64_t)rows + 1) || !DRAPE_NEW(ctx, m->col, blocks)) {
        drape_matrix_destroy(m);
        return DRAPE_ERROR_MEMORY;
    }
    *out = m;
    return DRAPE_OK;
}

static drape_status alloc_values(drape_matrix *m) {
    if (m->blocks > INT64_MAX / 9)
        return drape_i_fail(m->ctx, DRAPE_ERROR_MEMORY, "matrix: %lld blocks are too many", (long long)m->blocks);
    return DRAPE_NEW(m->ctx, m->val, 9 * m->blocks) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

drape_status drape_i_matrix_alloc(drape_context *ctx, int32_t rows, int64_t blocks, drape_matrix **out) {
    drape_status status = drape_i_pattern_alloc(ctx, rows, blocks, out);
    if (!status) status = alloc_values(*out);
    if (status) {
        drape_matrix_destroy(*out);
        *out = NULL;
    }
    return status;
}

drape_status drape_i_matrix_on_pattern(drape_matrix *pattern, drape_matrix **out) {
    drape_context *ctx = pattern->ctx;
    drape_matrix *m;
    DRAPE_ASSERT(pattern->users > 0);
    DRAPE_ASSERT(!pattern->pattern); /* else a chain, whose end would never be freed */
    DRAPE_ASSERT(pattern->rowptr[0] == 0 && pattern->rowptr[pattern->rows] == pattern->blocks);
    *out = NULL;
    if (!DRAPE_NEW(ctx, m, 1)) return DRAPE_ERROR_MEMORY;
    *m = *pattern;
    m->val = NULL;
    m->users = 1;
    m->pattern = pattern;
    pattern->users++;
    if (alloc_values(m)) {
        drape_matrix_destroy(m);
        return DRAPE_ERROR_MEMORY;
    }
    *out = m;
    return DRAPE_OK;
}

drape_status drape_matrix_copy(drape_context *ctx, const drape_bsr3 *A, drape_matrix **out) {
    if (out) *out = NULL;
    if (!ctx || !out) return drape_i_missing(ctx, "matrix", "out");
    drape_status status = drape_bsr3_check(ctx, A);
    if (!status) status = drape_i_matrix_alloc(ctx, A->rows, A->rowptr[A->rows], out);
    if (status) return status;
    drape_matrix *m = *out;
    memcpy(m->rowptr, A->rowptr, ((size_t)A->rows + 1) * sizeof *m->rowptr);
    if (m->blocks) memcpy(m->col, A->col, (size_t)m->blocks * sizeof *m->col);
    if (m->blocks && A->val) memcpy(m->val, A->val, 9 * (size_t)m->blocks * sizeof *m->val);
    return DRAPE_OK;
}

void drape_matrix_destroy(drape_matrix *m) {
    DRAPE_ASSERT(!m || m->users > 0);
    if (!m || --m->users > 0) return;
    drape_context *ctx = m->ctx;
    DRAPE_FREE(ctx, m->val, 9 * m->blocks);
    if (m->pattern) {
        drape_matrix_destroy(m->pattern);
    } else {
        DRAPE_FREE(ctx, m->col, m->blocks);
        DRAPE_FREE(ctx, m->rowptr, (int64_t)m->rows + 1);
    }
    DRAPE_FREE(ctx, m, 1);
}

drape_bsr3 drape_matrix_view(const drape_matrix *m) {
    if (!m) return (drape_bsr3){0};
    return (drape_bsr3){.rows = m->rows, .rowptr = m->rowptr, .col = m->col, .val = m->val};
}

int64_t drape_i_matrix_find(const drape_bsr3 *A, int32_t row, int32_t column) {
    DRAPE_ASSERT(row >= 0 && row < A->rows && column >= 0 && column < A->rows);
    int64_t low = A->rowptr[row], high = A->rowptr[row + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (A->col[middle] < column) low = middle + 1;
        else high = middle;
    }
    return low < A->rowptr[row + 1] && A->col[low] == column ? low : -1;
}

static double largest(const double *block) {
    double most = 0;
    for (int32_t k = 0; block && k < 9; k++) most = fmax(most, fabs(block[k]));
    return most;
}

static const double *block_at(const drape_bsr3 *A, int32_t row, int32_t column) {
    int64_t k = drape_i_matrix_find(A, row, column);
    return k < 0 ? NULL : A->val + 9 * k;
}

/* The largest of |A_ij - A_ji'|, relative to the larger of the diagonal blocks (or to themselves, where those are 0).
 */
static double block_asymmetry(const drape_bsr3 *A, int32_t i, int32_t j, const double *a) {
    const double *b = block_at(A, j, i);
    double difference = 0;
    for (int32_t r = 0; r < 3; r++)
        for (int32_t c = 0; c < 3; c++) difference = fmax(difference, fabs(a[3 * r + c] - (b ? b[3 * c + r] : 0)));
    double scale = fmax(largest(block_at(A, i, i)), largest(block_at(A, j, j)));
    if (!(scale > 0)) scale = fmax(largest(a), largest(b));
    return difference > 0 ? difference / scale : 0;
}

double drape_bsr3_asymmetry(const drape_bsr3 *A, int32_t *row, int32_t *column) {
    double most = 0;
    for (int32_t i = 0; A && i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            double here = block_asymmetry(A, i, A->col[k], A->val + 9 * k);
            if (!(here > most)) continue;
            most = here;
            if (row) *row = i;
            if (column) *column = A->col[k];
        }
    return most;
}
