/* bounds.c: see bounds.h. */
#include "sparse/bounds.h"

#include "base/parallel.h"
#include "sparse/matrix.h"

enum { CHECK_GRAIN = 2048 };

drape_status drape_i_bounds_begin(drape_context *ctx, const char *who, const drape_bsr3 *A) {
    if (A->rows < 0) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: the matrix has %d rows", who, A->rows);
    if (!A->rowptr) return drape_i_missing(ctx, who, "rowptr of the matrix");
    if (A->rowptr[0] != 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%s: rowptr of the matrix starts with %lld, not with 0", who,
                            (long long)A->rowptr[0]);
    if (A->rowptr[A->rows] > 0 && !A->col) return drape_i_missing(ctx, who, "col of the matrix");
    if (A->rowptr[A->rows] > 0 && !A->val) return drape_i_missing(ctx, who, "val of the matrix");
    return DRAPE_OK;
}

static bool offsets_inside(const drape_bsr3 *A, int32_t i) {
    return A->rowptr[i] >= 0 && A->rowptr[i] <= A->rowptr[i + 1] && A->rowptr[i + 1] <= A->rowptr[A->rows];
}

/* The first block of a row whose column is outside, or the end of the row. */
static int64_t first_outside(const drape_bsr3 *A, int32_t i) {
    int64_t k = A->rowptr[i];
    while (k < A->rowptr[i + 1] && A->col[k] >= 0 && A->col[k] < A->rows) k++;
    return k;
}

drape_status drape_i_bounds_explain(drape_context *ctx, const char *who, const drape_bsr3 *A) {
    int32_t i = 0;
    while (i < A->rows - 1 && offsets_inside(A, i) && first_outside(A, i) == A->rowptr[i + 1]) i++;
    if (!offsets_inside(A, i))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "%s: row %d of the matrix goes from block %lld to %lld of %lld", who, i,
                            (long long)A->rowptr[i], (long long)A->rowptr[i + 1], (long long)A->rowptr[A->rows]);
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                        "%s: row %d of the matrix has a block in column %d; columns are 0 to %d", who, i,
                        A->col[first_outside(A, i)], A->rows - 1);
}

typedef struct check {
    const drape_bsr3 *A;
    drape_simd simd;
} check;

static void check_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    const check *c = data;
    sums[0] = !drape_i_rows_inside_at[c->simd](c->A, begin, end);
}

drape_status drape_i_bounds_check(drape_context *ctx, const char *who, const drape_bsr3 *A) {
    drape_status status = drape_i_bounds_begin(ctx, who, A);
    if (status) return status;
    check c = {A, ctx->simd};
    double outside;
    drape_i_sum(ctx, A->rows, CHECK_GRAIN, check_chunk, &c, 1, &outside);
    return outside > 0 ? drape_i_bounds_explain(ctx, who, A) : DRAPE_OK;
}
