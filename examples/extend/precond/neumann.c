/* neumann.c: two terms of Neumann's series around the block diagonal D: with G = D^-1 and a factor w,
 *
 *     P^-1 = w G + (I - w G A) w G = w G (2 D - w A) G
 *
 * which is two steps of damped block Jacobi. It is symmetric where A is, and positive definite where w times the
 * largest eigenvalue of G A is below 2. So w is the inverse of a bound of that eigenvalue, the largest sum over a row
 * of |G A|. Of couplings the blocks on the diagonal count. D comes from block_diagonal.c, constraints included: G is
 * then S G S, and needs no filter around it. Cost of an application: two of the block diagonal's and a multiply. */
#include "base/parallel.h"
#include "base/vector.h"
#include "linear/precond.h"
#include "linear/precond/block_diagonal.h"
#include "sparse/multiply.h"

#include <math.h>

enum { ROW_GRAIN = 256 };

extern const drape_i_precond drape_i_precond_block_diagonal;

typedef struct state {
    void *diagonal; /* of block_diagonal.c */
    drape_bsr3 A;
    const drape_i_couplings *couplings;
    int64_t n;
    double factor;           /* w */
    double *product, *again; /* n each */
} state;

static void destroy(drape_context *ctx, void *data) {
    state *s = data;
    if (!s) return;
    drape_i_precond_block_diagonal.destroy(ctx, s->diagonal);
    DRAPE_FREE(ctx, s->product, s->n);
    DRAPE_FREE(ctx, s->again, s->n);
    DRAPE_FREE(ctx, s, 1);
}

static drape_status create(drape_context *ctx, const drape_bsr3 *A, const drape_solve_settings *settings,
                           void **out) {
    state *s;
    *out = NULL;
    if (!DRAPE_NEW(ctx, s, 1)) return DRAPE_ERROR_MEMORY;
    s->n = 3 * (int64_t)A->rows;
    drape_status status = drape_i_precond_block_diagonal.create(ctx, A, settings, &s->diagonal);
    if (!status && (!DRAPE_NEW(ctx, s->product, s->n) || !DRAPE_NEW(ctx, s->again, s->n)))
        status = DRAPE_ERROR_MEMORY;
    if (status) destroy(ctx, s);
    else *out = s;
    return status;
}

/* The largest sum of |G_i A_ij| over the three rows of vertex i. */
static double row_sum(const state *s, const double *blocks, int64_t i) {
    static const int32_t number[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5}; /* of xx xy xz yy yz zz */
    const double *group = blocks + DRAPE_I_GROUP_NUMBERS * (i / DRAPE_I_GROUP) + i % DRAPE_I_GROUP;
    double sum[3] = {0}, coupled[9];
    for (int64_t k = s->A.rowptr[i]; k < s->A.rowptr[i + 1]; k++) {
        const double *block = s->A.val + 9 * k;
        if (s->A.col[k] == i) block = drape_i_coupled_block(s->couplings, (int32_t)i, block, coupled);
        for (int32_t r = 0; r < 9; r++) {
            double entry = 0;
            for (int32_t m = 0; m < 3; m++)
                entry += group[DRAPE_I_GROUP * number[3 * (r / 3) + m]] * block[3 * m + r % 3];
            sum[r / 3] += fabs(entry);
        }
    }
    return fmax(sum[0], fmax(sum[1], sum[2]));
}

typedef struct bounding {
    const state *s;
    const double *blocks;
    int64_t length;
    double largest[DRAPE_I_CHUNKS]; /* of each chunk; the order of a maximum does not matter */
} bounding;

static void bound_rows(void *data, int64_t begin, int64_t end) {
    bounding *b = data;
    double largest = 0;
    for (int64_t i = begin; i < end; i++) largest = fmax(largest, row_sum(b->s, b->blocks, i));
    b->largest[begin / b->length] = largest;
}

static drape_status refresh(drape_context *ctx, void *data, const drape_problem *problem,
                            const drape_constraints *set, const drape_i_couplings *couplings, double *shift) {
    state *s = data;
    drape_status status = drape_i_precond_block_diagonal.refresh(ctx, s->diagonal, problem, set, couplings, shift);
    if (status) return status;
    s->A = *problem->A;
    s->couplings = couplings;
    bounding b = {.s = s,
                  .blocks = drape_i_precond_block_diagonal.blocks(s->diagonal),
                  .length = drape_i_chunk_length(s->A.rows, ROW_GRAIN)};
    drape_i_loop(ctx, s->A.rows, ROW_GRAIN, bound_rows, &b);
    double largest = 0;
    for (int64_t k = 0; k * b.length < s->A.rows; k++) largest = fmax(largest, b.largest[k]);
    s->factor = largest > 0 && isfinite(largest) ? 1 / largest : 1;
    return DRAPE_OK;
}

/* y += the diagonal blocks of the couplings times x. */
static void add_coupled(const drape_i_couplings *C, const double *x, double *y) {
    for (int32_t v = 0; drape_i_any_couplings(C) && v < C->vertices; v++) {
        const double *block = C->diagonal + 9 * (int64_t)v, *from = x + 3 * (int64_t)C->vertex[v];
        double *to = y + 3 * (int64_t)C->vertex[v];
        for (int32_t k = 0; k < 9; k++) to[k / 3] += block[k] * from[k % 3];
    }
}

/* h = w G (2 r - w A G r) */
static double apply(drape_context *ctx, void *data, const double *r, double *h) {
    state *s = data;
    drape_i_precond_block_diagonal.apply(ctx, s->diagonal, r, s->again);
    drape_i_multiply(ctx, &s->A, s->again, s->product);
    add_coupled(s->couplings, s->again, s->product);
    drape_i_scale(ctx, s->n, -s->factor, s->product, s->product);
    drape_i_axpy(ctx, s->n, 2, r, s->product);
    drape_i_precond_block_diagonal.apply(ctx, s->diagonal, s->product, h);
    drape_i_scale(ctx, s->n, s->factor, h, h);
    return drape_i_dot(ctx, s->n, r, h);
}

static int64_t traffic(const void *data) {
    const state *s = data;
    int64_t matrix = s->A.rows > 0 ? 76 * s->A.rowptr[s->A.rows] : 0; /* 9 doubles and a column per block */
    return 2 * drape_i_precond_block_diagonal.traffic(s->diagonal) + matrix + 11 * (int64_t)sizeof(double) * s->n;
}

/* "auto" does not take it: `share` and the like are missing. Setting up reads A twice, once more than the block
 * diagonal does. */
const drape_i_precond drape_i_precond_neumann = {.name = "neumann",
                                                 .about = "two terms of Neumann's series around the block diagonal",
                                                 .variant = &(const drape_i_variant){.setup = {2, 2, 2}},
                                                 .variants = 1,
                                                 .symmetric = true,
                                                 .create = create,
                                                 .destroy = destroy,
                                                 .refresh = refresh,
                                                 .apply = apply,
                                                 .traffic = traffic};
