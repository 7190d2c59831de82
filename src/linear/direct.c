/* direct.c: the method "direct": hands the prefiltered system to a solver from outside (drape_direct), which keeps
 * its analysis while the pattern stays, and its factor while the matrix does. Outside the arithmetic contract: what
 * it computes is its own. */
#include "linear/method.h"

typedef struct state {
    const drape_direct *solver;
    void *inner;
    int64_t numbers; /* in val */
    double *val;     /* of the prefiltered matrix */
    bool factored;   /* the matrix of the last solve */
} state;

static void destroy(drape_context *ctx, void *data) {
    state *d = data;
    if (!d) return;
    if (d->inner) d->solver->destroy(d->inner);
    DRAPE_FREE(ctx, d->val, d->numbers);
    DRAPE_FREE(ctx, d, 1);
}

static drape_status create(drape_context *ctx, const drape_bsr3 *A, const drape_solve_settings *settings,
                           void **out) {
    state *d;
    *out = NULL;
    if (!settings->direct)
        return drape_i_fail(
            ctx, DRAPE_ERROR_ARGUMENT,
            "solve: the method direct needs a direct solver (drape/cholmod.h), and there is none here");
    if (!DRAPE_NEW(ctx, d, 1)) return DRAPE_ERROR_MEMORY;
    d->solver = settings->direct;
    d->numbers = 9 * A->rowptr[A->rows];
    drape_status status = DRAPE_NEW(ctx, d->val, d->numbers) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
    if (!status && !(d->inner = d->solver->analyse(A)))
        status = drape_i_fail(ctx, DRAPE_ERROR_MEMORY, "solve: %s is out of memory", d->solver->name);
    if (status) destroy(ctx, d);
    else *out = d;
    return status;
}

/* As drape_direct's factor. */
static int factor(drape_i_solve *s, state *d) {
    drape_bsr3 filtered = *s->problem->A;
    if (s->problem->same_matrix && d->factored) return 0;
    filtered.val = d->val;
    drape_prefilter(s->ctx, s->problem, d->val, NULL); /* what it checks was checked */
    int failed = d->solver->factor(d->inner, &filtered);
    d->factored = failed == 0;
    return failed;
}

static drape_status solve(drape_i_solve *s) {
    state *d = s->method_state;
    double *r = s->work[0], *y = s->work[1];
    drape_i_begin_unpreconditioned(s, NULL, r, y); /* r = b^ */
    int failed = factor(s, d);
    s->result->residual = -1;
    s->result->reason = failed == 1 ? DRAPE_INDEFINITE : DRAPE_CONVERGED;
    if (failed == 0) failed = d->solver->solve(d->inner, r, y);
    if (failed > 1) return drape_i_fail(s->ctx, DRAPE_ERROR_MEMORY, "solve: %s is out of memory", d->solver->name);
    s->result->bytes = d->solver->bytes(d->inner);
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
