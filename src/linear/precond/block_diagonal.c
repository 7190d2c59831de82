/* block_diagonal.c: P = diag(A_ii), 3x3 blocks (Ascher and Boxerman 2003, section 5), and its scalar diagonal.
 *
 * The inverse of each block is kept, 6 numbers (it is symmetric): 48 bytes a vertex to read in an application. A
 * block that is not positive definite (possible where A is not) is replaced by the identity times the mean of its
 * diagonal's absolute values, so that P stays positive definite and a failing A shows in p'Ap. The scalar
 * diagonal is the same with the off-diagonal numbers left out. */
#include "base/parallel.h"
#include "linear/precond.h"

#include <math.h>

enum { ROW_GRAIN = 1024, NUMBERS = 6 };

typedef struct state {
    int32_t rows;
    double (*inverse)[NUMBERS]; /* xx xy xz yy yz zz of P_i^-1 */
    double (*block)[NUMBERS];   /* the same of P_i */
} state;

static void destroy(drape_context *ctx, void *data) {
    state *s = data;
    if (!s) return;
    DRAPE_FREE(ctx, s->inverse, s->rows);
    DRAPE_FREE(ctx, s->block, s->rows);
    DRAPE_FREE(ctx, s, 1);
}

static drape_status create(drape_context *ctx, const drape_bsr3 *A, void **out) {
    state *s;
    *out = NULL;
    if (!DRAPE_NEW(ctx, s, 1)) return DRAPE_ERROR_MEMORY;
    s->rows = A->rows;
    if (!DRAPE_NEW(ctx, s->inverse, s->rows) || !DRAPE_NEW(ctx, s->block, s->rows)) {
        destroy(ctx, s);
        return DRAPE_ERROR_MEMORY;
    }
    *out = s;
    return DRAPE_OK;
}

/* The inverse by cofactors of b over its largest number, so that no determinant overflows or vanishes; false where
 * the block is not positive definite. */
static bool invert(const double b[NUMBERS], double inverse[NUMBERS]) {
    double size = fmax(fmax(b[0], b[3]), b[5]), a[NUMBERS];
    for (int32_t k = 0; k < NUMBERS; k++) a[k] = b[k] / size;
    double xx = a[3] * a[5] - a[4] * a[4], xy = a[2] * a[4] - a[1] * a[5], xz = a[1] * a[4] - a[2] * a[3];
    double minor = a[0] * a[3] - a[1] * a[1], determinant = a[0] * xx + a[1] * xy + a[2] * xz;
    if (!(size > 0 && a[0] > 0 && minor > 0 && determinant > 0)) return false;
    double scale = 1 / determinant / size;
    if (!(scale > 0) || !isfinite(scale)) return false;
    inverse[0] = xx * scale;
    inverse[1] = xy * scale;
    inverse[2] = xz * scale;
    inverse[3] = (a[0] * a[5] - a[2] * a[2]) * scale;
    inverse[4] = (a[1] * a[2] - a[0] * a[4]) * scale;
    inverse[5] = minor * scale;
    return true;
}

static void replace(double b[NUMBERS], double inverse[NUMBERS]) {
    double mean = (fabs(b[0]) + fabs(b[3]) + fabs(b[5])) / 3;
    if (!(mean > 0) || !isfinite(mean)) mean = 1;
    for (int32_t k = 0; k < NUMBERS; k++) {
        bool diagonal = k == 0 || k == 3 || k == 5;
        b[k] = diagonal ? mean : 0;
        inverse[k] = diagonal ? 1 / mean : 0;
    }
}

typedef struct refreshing {
    state *s;
    const drape_bsr3 *A;
    bool scalar;
} refreshing;

static void refresh_rows(void *data, int64_t begin, int64_t end) {
    refreshing *r = data;
    for (int64_t i = begin; i < end; i++) {
        double *b = r->s->block[i];
        for (int32_t k = 0; k < NUMBERS; k++) b[k] = 0;
        for (int64_t k = r->A->rowptr[i]; k < r->A->rowptr[i + 1]; k++) {
            if (r->A->col[k] != i) continue;
            const double *a = r->A->val + 9 * k;
            b[0] = a[0], b[3] = a[4], b[5] = a[8];
            if (!r->scalar) b[1] = a[1], b[2] = a[2], b[4] = a[5];
        }
        if (!invert(b, r->s->inverse[i])) replace(b, r->s->inverse[i]);
    }
}

static void refresh(drape_context *ctx, void *data, const drape_bsr3 *A) {
    drape_i_loop(ctx, A->rows, ROW_GRAIN, refresh_rows, &(refreshing){data, A, false});
}

static void refresh_scalar(drape_context *ctx, void *data, const drape_bsr3 *A) {
    drape_i_loop(ctx, A->rows, ROW_GRAIN, refresh_rows, &(refreshing){data, A, true});
}

typedef struct product {
    const double (*block)[NUMBERS];
    const double *r;
    double *h; /* NULL: only the sum */
} product;

/* h = B r, block by block; sums r'B r in the order of the rows. */
static void multiply_rows(void *data, int64_t begin, int64_t end, double *sums) {
    const product *p = data;
    double sum = 0;
    for (int64_t i = begin; i < end; i++) {
        const double *b = p->block[i], *r = p->r + 3 * i;
        double x = (b[0] * r[0] + b[1] * r[1]) + b[2] * r[2];
        double y = (b[1] * r[0] + b[3] * r[1]) + b[4] * r[2];
        double z = (b[2] * r[0] + b[4] * r[1]) + b[5] * r[2];
        if (p->h) p->h[3 * i] = x, p->h[3 * i + 1] = y, p->h[3 * i + 2] = z;
        sum += (r[0] * x + r[1] * y) + r[2] * z;
    }
    sums[0] = sum;
}

static double apply(drape_context *ctx, const void *data, const double *r, double *h) {
    const state *s = data;
    double sum;
    drape_i_sum(ctx, s->rows, ROW_GRAIN, multiply_rows, &(product){(const double(*)[NUMBERS])s->inverse, r, h}, 1,
                &sum);
    return sum;
}

static double norm2(drape_context *ctx, const void *data, const double *r) {
    const state *s = data;
    double sum;
    drape_i_sum(ctx, s->rows, ROW_GRAIN, multiply_rows, &(product){(const double(*)[NUMBERS])s->block, r, NULL}, 1,
                &sum);
    return sum;
}

const drape_i_precond drape_i_precond_block_diagonal = {"block_diagonal", create, destroy, refresh, apply, norm2};
const drape_i_precond drape_i_precond_diagonal = {"diagonal", create, destroy, refresh_scalar, apply, norm2};
