/* ppcg.c: prefiltered PCG (Tamstorf, Jones and McCormick 2015, section 8): PCG on their eq. (7),
 *
 *     (S A S + C (I-S)) y = b^,   b^ = S (b - A (I-S) z),   x = y + (I-S) z,
 *
 * C scaling I - S into the spectrum of A. The preconditioner is that of this matrix, so constraints cost it nothing.
 * y and all directions stay in the range of S, where the matrix is S A, so it is never formed.
 *
 * Memory is the limit, so the vector work is done in two passes, with P^-1 on the way where it is one block per
 * vertex (G; drape_i_blocks_*). x lags behind by one step, so that p is read once less:
 *
 *     q = S A p                        reads A except for rows that are held in all directions, and p, writes q
 *     r -= alpha q; r'G r, r'r         reads q, r, G, writes r
 *     x += alpha p; p = G r + beta p   reads r, G, x, p, writes x, p
 *
 * 12 passes over a vector per iteration, where PCG (cg.c) has 18. With other preconditioners it is PCG. Where an
 * iteration costs much more than a product with A, a guess that is worse than none is improved. */
#include "base/parallel.h"
#include "linear/method.h"
#include "linear/precond/block_diagonal.h"

enum { GRAIN = 1024 };
static const double COSTLY = 2; /* passes of an iteration: multigrid and incomplete Cholesky */

typedef struct fused {
    drape_simd simd;
    const drape_constraints *set;
    const double *G;
    double alpha, beta;
    double *q, *r, *x, *p;
} fused;

/* r is filtered on the way, or what rounding leaves outside the range of S outlives the rest of it. */
static void residual_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    const fused *f = data;
    drape_i_filter_rows(f->set, f->r, begin, end);
    drape_i_blocks_residual_at[f->simd](f->G, f->alpha, f->q, f->r, begin, end, sums);
}

static void direction_chunk(void *data, int64_t begin, int64_t end) {
    const fused *f = data;
    drape_i_blocks_direction_at[f->simd](f->G, f->alpha, f->beta, f->r, f->x, f->p, begin, end);
}

/* Two passes of 5 and 7 vectors, G being two long. */
static void count_passes(drape_i_solve *s) {
    s->result->bytes_moved += 12 * (int64_t)sizeof(double) * drape_i_length(s);
}

static drape_status solve_fused(drape_i_solve *s, const double *G) {
    int32_t rows = s->problem->A->rows;
    fused f = {s->ctx->simd, s->problem->constraints, G, 0, 0, s->work[2], s->work[0], s->x, s->work[1]};
    double sums[2];
    sums[0] = drape_i_begin(s, s->problem->guess, f.r, f.p, f.q);
    sums[1] = drape_i_norm2(s, f.r);
    while (drape_i_go_on(s, sums[0], sums[1])) {
        double before = sums[0], curvature = drape_i_times_prefiltered(s, f.p, f.q);
        if (!drape_i_step_length(s, before, f.beta, curvature, &f.alpha)) return DRAPE_OK;
        drape_i_sum(s->ctx, rows, GRAIN, residual_chunk, &f, 2, sums);
        f.beta = sums[0] / before;
        drape_i_loop(s->ctx, rows, GRAIN, direction_chunk, &f);
        count_passes(s);
    }
    return DRAPE_OK;
}

static drape_status solve(drape_i_solve *s) {
    if (s->precond->blocks) return solve_fused(s, s->precond->blocks(s->precond_state));
    return drape_i_solve_pcg(s, s->precond->variant[0].iteration >= COSTLY);
}

const drape_i_method drape_i_method_ppcg = {.name = "ppcg",
                                            .about =
                                                "prefiltered PCG of Tamstorf and others, in few passes over memory",
                                            .preconditioned = true,
                                            .prefiltered = true,
                                            .vectors = 4,
                                            .solve = solve};
