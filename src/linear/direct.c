/* direct.c: the method "direct": hands the prefiltered system to a solver from outside (drape_direct), which keeps
 * its analysis while the pattern stays, and its factor while the matrix does. Couplings are merged into a matrix
 * whose pattern holds them; its analysis is kept beside that of the plain pattern, while couplings between the same
 * vertices come again. Outside the arithmetic contract: what it computes is its own. */
#include "linear/method.h"
#include "linear/prefilter.h"
#include "sparse/matrix.h"

/* What the solver from outside keeps for one pattern. */
typedef struct analysis {
    void *inner;
    drape_i_pattern_key pattern;
    int64_t numbers; /* in val */
    double *val;     /* of the prefiltered matrix */
} analysis;

typedef struct state {
    const drape_direct *solver;
    analysis plain, merged; /* without couplings, with some */
    const analysis *last;   /* which of them holds the factor of the last solve; NULL: neither */
} state;

static void clear(drape_context *ctx, const drape_direct *solver, analysis *a) {
    if (a->inner) solver->destroy(a->inner);
    DRAPE_FREE(ctx, a->val, a->numbers);
    *a = (analysis){.pattern.rows = -1};
}

static void destroy(drape_context *ctx, void *data) {
    state *d = data;
    if (!d) return;
    clear(ctx, d->solver, &d->plain);
    clear(ctx, d->solver, &d->merged);
    DRAPE_FREE(ctx, d, 1);
}

/* Of A's pattern, unless it is there. */
static drape_status analyse(drape_context *ctx, const drape_direct *solver, const drape_bsr3 *A, analysis *a) {
    if (a->inner && drape_i_pattern_is(ctx, A, &a->pattern)) return DRAPE_OK;
    clear(ctx, solver, a);
    a->numbers = 9 * A->rowptr[A->rows];
    if (!DRAPE_NEW(ctx, a->val, a->numbers)) return DRAPE_ERROR_MEMORY;
    if (!(a->inner = solver->analyse(A)))
        return drape_i_fail(ctx, DRAPE_ERROR_MEMORY, "solve: %s is out of memory", solver->name);
    a->pattern = drape_i_pattern_key_of(ctx, A);
    return DRAPE_OK;
}

static drape_status create(drape_context *ctx, const drape_bsr3 *A, const drape_solve_settings *settings,
                           void **out) {
    state *d;
    *out = NULL;
    if (!settings->direct)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "solve: the method direct needs a direct solver (drape/cholmod.h); set settings.direct");
    if (!DRAPE_NEW(ctx, d, 1)) return DRAPE_ERROR_MEMORY;
    d->solver = settings->direct;
    d->plain.pattern.rows = d->merged.pattern.rows = -1;
    drape_status status = analyse(ctx, d->solver, A, &d->plain);
    if (status) destroy(ctx, d);
    else *out = d;
    return status;
}

/* Factors the prefiltered matrix of a problem without couplings. *failed: as drape_direct's factor. */
static drape_status factor(drape_i_solve *s, state *d, const drape_problem *problem, analysis *a, int *failed) {
    drape_bsr3 filtered = *problem->A;
    drape_status status = analyse(s->ctx, d->solver, problem->A, a);
    if (status) return status;
    filtered.val = a->val;
    drape_i_prefilter(s->ctx, problem, a->val, NULL);
    *failed = d->solver->factor(a->inner, &filtered);
    d->last = *failed == 0 ? a : NULL;
    return DRAPE_OK;
}

static drape_status factor_merged(drape_i_solve *s, state *d, int *failed) {
    drape_matrix *matrix;
    drape_problem problem = *s->problem;
    drape_status status = drape_i_couplings_merge(s->ctx, problem.A, s->couplings, NULL, &matrix);
    if (status) return status;
    const drape_bsr3 sum = drape_matrix_view(matrix);
    problem.A = &sum;
    problem.couplings = (drape_couplings){0};
    status = factor(s, d, &problem, &d->merged, failed);
    drape_matrix_destroy(matrix);
    return status;
}

static drape_status solve(drape_i_solve *s) {
    state *d = s->method_state;
    analysis *a = drape_i_any_couplings(s->couplings) ? &d->merged : &d->plain;
    double *r = s->work[0], *y = s->work[1];
    int failed = 0;
    drape_status status = DRAPE_OK;
    drape_i_begin_unpreconditioned(s, NULL, r, y); /* r = b^ */
    if (!s->problem->same_matrix || d->last != a) {
        d->last = NULL;
        status = a == &d->merged ? factor_merged(s, d, &failed) : factor(s, d, s->problem, a, &failed);
    }
    if (status) return status;
    s->result->residual = -1;
    s->result->reason = failed == 1 ? DRAPE_INDEFINITE : DRAPE_CONVERGED;
    if (failed == 0) failed = d->solver->solve(a->inner, r, y);
    if (failed > 1) return drape_i_fail(s->ctx, DRAPE_ERROR_MEMORY, "solve: %s is out of memory", d->solver->name);
    s->result->bytes = d->solver->bytes(a->inner);
    s->result->bytes_moved += s->result->bytes;
    if (failed == 0) drape_i_blend(s->problem->constraints, s->problem->A->rows, y, s->x);
    return DRAPE_OK;
}

const drape_i_method drape_i_method_direct = {.name = "direct",
                                              .about = "sparse Cholesky factorisation by another library (CHOLMOD)",
                                              .vectors = 3,
                                              .solve = solve,
                                              .create = create,
                                              .destroy = destroy};
