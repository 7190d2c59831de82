/* multiply.c: cuts the rows into chunks for the kernel of multiply_simd.c. */
#include "sparse/multiply.h"

#include "base/parallel.h"
#include "sparse/bounds.h"
#include "sparse/matrix.h"

enum { ROW_GRAIN = 128 }; /* some 100 KB of matrix: worth a thread's while */

typedef struct product {
    const drape_bsr3 *A;
    const double *x;
    double *y;
    drape_simd simd;
} product;

static void multiply_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    product *p = data;
    sums[0] = drape_i_multiply_rows_at[p->simd](p->A, p->x, p->y, begin, end);
}

double drape_i_multiply(drape_context *ctx, const drape_bsr3 *A, const double *x, double *y) {
    DRAPE_ASSERT(x != y || A->rows == 0);
    DRAPE_ASSERT(ctx->simd != DRAPE_SIMD_BEST); /* its place in the tables of kernels is empty */
    product p = {A, x, y, ctx->simd};
    double dot;
    drape_i_sum(ctx, A->rows, ROW_GRAIN, multiply_chunk, &p, 1, &dot);
    return dot;
}

/* ---- For others: a matrix that need not be sound ---- */

static void multiply_checked_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    product *p = data;
    sums[0] = !drape_i_multiply_rows_checked_at[p->simd](p->A, p->x, p->y, begin, end);
}

drape_status drape_multiply(drape_context *ctx, const drape_bsr3 *A, const double *x, double *y) {
    if (!ctx || !A) return drape_i_missing(ctx, "multiply", "A");
    if (!x || !y || (A->rows > 0 && x == y))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "multiply: x or y is missing, or they are the same");
    drape_status status = drape_i_bounds_begin(ctx, "multiply", A);
    if (status) return status;
    product p = {A, x, y, ctx->simd};
    double outside;
    drape_i_sum(ctx, A->rows, ROW_GRAIN, multiply_checked_chunk, &p, 1, &outside);
    return outside > 0 ? drape_i_bounds_explain(ctx, "multiply", A) : DRAPE_OK;
}
