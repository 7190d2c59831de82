/* ssor.c: symmetric successive over-relaxation, M = w/(2-w) (D/w + L) D^-1 (D/w + U), A = L + D + U in 3x3 blocks
 * (Hauth 2004, eq. 54, where (D-L) D^-1 (D-L') is meant; Saad 2003, section 10.2).
 *
 * L and U are copies of A's blocks. When each sweep read its half of every row in A itself, an application took 2.4
 * to 2.9 products with A, not 1.5, since memory is read in whole lines and ahead. M is symmetric and positive
 * definite where A is symmetric and w lies in (0, 2), since diagonal blocks that are not positive definite are
 * replaced. */
#include "base/parallel.h"
#include "linear/precond/triangular.h"
#include "linear/prefilter.h"

enum { ROW_GRAIN = 1024 };

static void destroy(drape_context *ctx, void *data) {
    drape_i_triangular *t = data;
    if (!t) return;
    drape_i_triangular_destroy(ctx, t);
    DRAPE_FREE(ctx, t, 1);
}

static drape_status create(drape_context *ctx, const drape_bsr3 *A, const drape_solve_settings *settings,
                           void **out) {
    drape_i_triangular *t;
    *out = NULL;
    if (!DRAPE_NEW(ctx, t, 1)) return DRAPE_ERROR_MEMORY;
    drape_status status = drape_i_triangular_create(ctx, A, 0, t);
    if (status) {
        DRAPE_FREE(ctx, t, 1);
        return status;
    }
    t->omega = settings->omega;
    *out = t;
    return DRAPE_OK;
}

static drape_status check(drape_context *ctx, const drape_solve_settings *s) {
    if (!(s->omega >= 0 && s->omega < 2))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: omega is %g; it must lie between 0 and 2", s->omega);
    return DRAPE_OK;
}

typedef struct refreshing {
    drape_i_triangular *t;
    const drape_bsr3 *A;
    const drape_constraints *set;
    const drape_i_couplings *couplings;
} refreshing;

static void refresh_places(void *data, int64_t begin, int64_t end) {
    const refreshing *f = data;
    for (int64_t p = begin; p < end; p++) {
        int32_t i = f->t->order.row[p];
        double D[9], *G = f->t->G + 9 * p;
        drape_i_half_copy(f->A, f->t, &f->t->before, p, f->t->L);
        drape_i_half_copy(f->A, f->t, &f->t->after, p, f->t->U);
        drape_i_usable_diagonal(f->A, f->set, f->couplings, i, DRAPE_I_PIVOTS_POSITIVE, D);
        drape_i_block_inverse(D, G);
        drape_i_fold_filter(f->set, i, G);
        for (int32_t k = 0; k < 9; k++) G[k] *= f->t->omega;
    }
}

static drape_status refresh(drape_context *ctx, void *data, const drape_problem *problem,
                            const drape_constraints *set, const drape_i_couplings *couplings, double *shift) {
    drape_i_triangular *t = data;
    (void)shift;
    drape_i_loop(ctx, problem->A->rows, ROW_GRAIN, refresh_places, &(refreshing){t, problem->A, set, couplings});
    return DRAPE_OK;
}

static double apply(drape_context *ctx, void *data, const double *r, double *h) {
    return drape_i_triangular_apply(ctx, data, r, h);
}

static int64_t traffic(const void *data) { return drape_i_triangular_traffic(data); }

const drape_i_precond drape_i_precond_ssor = {.name = "ssor",
                                              .about = "symmetric successive over-relaxation, 3x3 blocks",
                                              .variant = &(const drape_i_variant){.setup = {3, 3, 10}},
                                              .variants = 1,
                                              .check = check,
                                              .create = create,
                                              .destroy = destroy,
                                              .refresh = refresh,
                                              .apply = apply,
                                              .traffic = traffic};
