/* block_diagonal.c: preconditioners that treat each vertex by itself: P = diag(A_ii), 3x3 blocks (Ascher and Boxerman
 * 2003, section 5), its scalar diagonal, and P = I.
 *
 * The inverse of each block is kept, 6 numbers (it is symmetric): 48 bytes per vertex to read in an application. A
 * block that is not positive definite (possible where A is not) is replaced by the identity times the mean of its
 * diagonal's absolute values. So P stays positive definite, and a failing A shows in p'Ap. The scalar diagonal is the
 * same with the off-diagonal numbers left out; with S folded into it (precond.h) it has them again. Of a block that
 * is not symmetric the symmetric part counts. */
#include "linear/precond/block_diagonal.h"

#include "base/parallel.h"
#include "base/vector.h"
#include "linear/constraints.h"
#include "linear/precond.h"
#include "linear/prefilter.h"

#include <math.h>
#include <string.h>

enum { ROW_GRAIN = 1024, NUMBERS = 6 };

typedef struct state {
    int32_t rows;
    int64_t size;    /* numbers in each of these, in groups (block_diagonal.h) */
    double *inverse; /* of P_i */
    double *block;   /* P_i itself */
} state;

static void destroy(drape_context *ctx, void *data) {
    state *s = data;
    if (!s) return;
    DRAPE_FREE(ctx, s->inverse, s->size);
    DRAPE_FREE(ctx, s->block, s->size);
    DRAPE_FREE(ctx, s, 1);
}

static drape_status create(drape_context *ctx, const drape_bsr3 *A, const drape_solve_settings *settings,
                           void **out) {
    state *s;
    (void)settings;
    *out = NULL;
    if (!DRAPE_NEW(ctx, s, 1)) return DRAPE_ERROR_MEMORY;
    s->rows = A->rows;
    s->size = ((int64_t)A->rows + DRAPE_I_GROUP - 1) / DRAPE_I_GROUP * DRAPE_I_GROUP_NUMBERS;
    if (!DRAPE_NEW(ctx, s->inverse, s->size) || !DRAPE_NEW(ctx, s->block, s->size)) {
        destroy(ctx, s);
        return DRAPE_ERROR_MEMORY;
    }
    *out = s;
    return DRAPE_OK;
}

static void put(double *to, int64_t i, const double b[NUMBERS]) {
    double *at = to + i / DRAPE_I_GROUP * DRAPE_I_GROUP_NUMBERS + i % DRAPE_I_GROUP;
    for (int32_t k = 0; k < NUMBERS; k++) at[DRAPE_I_GROUP * k] = b[k];
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
    const drape_constraints *set;
    const drape_i_couplings *couplings;
    bool scalar;
} refreshing;

/* b = the diagonal block of row i of A or A^, its scalar diagonal where that is wanted; 0 if there is none. */
static void diagonal_block(const refreshing *r, int64_t i, double b[NUMBERS]) {
    double a[9] = {0}, sum[9];
    const double *block = NULL;
    for (int64_t k = r->A->rowptr[i]; k < r->A->rowptr[i + 1] && !block; k++)
        if (r->A->col[k] == i) block = r->A->val + 9 * k;
    block = drape_i_coupled_block(r->couplings, (int32_t)i, block, sum);
    if (block) drape_i_prefiltered_block(r->set, (int32_t)i, (int32_t)i, block, a);
    b[0] = a[0], b[3] = a[4], b[5] = a[8];
    b[1] = r->scalar ? 0 : (a[1] + a[3]) / 2;
    b[2] = r->scalar ? 0 : (a[2] + a[6]) / 2;
    b[4] = r->scalar ? 0 : (a[5] + a[7]) / 2;
}

static void fold(const drape_constraints *set, int64_t i, double b[NUMBERS]) {
    double full[9] = {b[0], b[1], b[2], b[1], b[3], b[4], b[2], b[4], b[5]};
    drape_i_fold_filter(set, (int32_t)i, full);
    b[0] = full[0], b[1] = full[1], b[2] = full[2], b[3] = full[4], b[4] = full[5], b[5] = full[8];
}

static void refresh_rows(void *data, int64_t begin, int64_t end) {
    refreshing *r = data;
    for (int64_t i = begin; i < end; i++) {
        double b[NUMBERS], inverse[NUMBERS];
        diagonal_block(r, i, b);
        if (!invert(b, inverse)) replace(b, inverse);
        if (r->set) fold(r->set, i, inverse);
        put(r->s->block, i, b);
        put(r->s->inverse, i, inverse);
    }
}

static drape_status refresh(drape_context *ctx, void *data, const drape_problem *problem,
                            const drape_constraints *set, const drape_i_couplings *couplings, double *shift) {
    (void)shift;
    drape_i_loop(ctx, problem->A->rows, ROW_GRAIN, refresh_rows,
                 &(refreshing){data, problem->A, set, couplings, false});
    return DRAPE_OK;
}

static drape_status refresh_scalar(drape_context *ctx, void *data, const drape_problem *problem,
                                   const drape_constraints *set, const drape_i_couplings *couplings, double *shift) {
    (void)shift;
    drape_i_loop(ctx, problem->A->rows, ROW_GRAIN, refresh_rows,
                 &(refreshing){data, problem->A, set, couplings, true});
    return DRAPE_OK;
}

typedef struct product {
    drape_simd simd;
    const double *block, *r;
    double *h; /* NULL: only the sum */
} product;

static void multiply_rows(void *data, int64_t begin, int64_t end, double *sums) {
    const product *p = data;
    sums[0] = drape_i_blocks_apply_at[p->simd](p->block, p->r, p->h, begin, end);
}

static double multiply(drape_context *ctx, int32_t rows, const double *block, const double *r, double *h) {
    double sum;
    drape_i_sum(ctx, rows, ROW_GRAIN, multiply_rows, &(product){ctx->simd, block, r, h}, 1, &sum);
    return sum;
}

static double apply(drape_context *ctx, void *data, const double *r, double *h) {
    const state *s = data;
    return multiply(ctx, s->rows, s->inverse, r, h);
}

static double norm2(drape_context *ctx, const void *data, const double *r) {
    const state *s = data;
    return multiply(ctx, s->rows, s->block, r, NULL);
}

static int64_t traffic(const void *data) {
    return (int64_t)(NUMBERS + 6) * (int64_t)sizeof(double) * ((const state *)data)->rows;
}

static const double *blocks(const void *data) { return ((const state *)data)->inverse; }

const drape_i_precond drape_i_precond_block_diagonal = {
    .name = "block_diagonal",
    .about = "the 3x3 blocks of A's diagonal",
    .variant = &(const drape_i_variant){.setup = {1, 1, 1}, .iteration = 1, .share = 1},
    .variants = 1,
    .automatic = true,
    .certain = true,
    .fallback = 1,
    .create = create,
    .destroy = destroy,
    .refresh = refresh,
    .apply = apply,
    .traffic = traffic,
    .norm2 = norm2,
    .blocks = blocks};
const drape_i_precond drape_i_precond_diagonal = {.name = "diagonal",
                                                  .about = "A's diagonal",
                                                  .variant = &(const drape_i_variant){.setup = {1, 1, 1}},
                                                  .variants = 1,
                                                  .certain = true,
                                                  .fallback = 2,
                                                  .create = create,
                                                  .destroy = destroy,
                                                  .refresh = refresh_scalar,
                                                  .apply = apply,
                                                  .traffic = traffic,
                                                  .norm2 = norm2,
                                                  .blocks = blocks};

/* ---- P = I ---- */

typedef struct identity {
    int64_t n;
    const drape_constraints *set; /* to be filtered by; NULL: none */
} identity;

static drape_status none_create(drape_context *ctx, const drape_bsr3 *A, const drape_solve_settings *settings,
                                void **out) {
    identity *s;
    (void)settings;
    *out = NULL;
    if (!DRAPE_NEW(ctx, s, 1)) return DRAPE_ERROR_MEMORY;
    s->n = 3 * (int64_t)A->rows;
    *out = s;
    return DRAPE_OK;
}

static void none_destroy(drape_context *ctx, void *data) { DRAPE_FREE(ctx, (identity *)data, 1); }

static drape_status none_refresh(drape_context *ctx, void *data, const drape_problem *problem,
                                 const drape_constraints *set, const drape_i_couplings *couplings, double *shift) {
    (void)ctx, (void)problem, (void)couplings, (void)shift;
    ((identity *)data)->set = set;
    return DRAPE_OK;
}

static double none_norm2(drape_context *ctx, const void *data, const double *r) {
    return drape_i_dot(ctx, ((const identity *)data)->n, r, r);
}

static double none_apply(drape_context *ctx, void *data, const double *r, double *h) {
    const identity *s = data;
    memcpy(h, r, (size_t)s->n * sizeof *h);
    drape_i_filter(s->set, h);
    return drape_i_dot(ctx, s->n, r, h);
}

static int64_t none_traffic(const void *data) { return 4 * (int64_t)sizeof(double) * ((const identity *)data)->n; }

const drape_i_precond drape_i_precond_none = {.name = "none",
                                              .about = "no preconditioner",
                                              .variant = &(const drape_i_variant){.setup = {0, 0, 0}},
                                              .variants = 1,
                                              .create = none_create,
                                              .destroy = none_destroy,
                                              .refresh = none_refresh,
                                              .apply = none_apply,
                                              .traffic = none_traffic,
                                              .norm2 = none_norm2};
