/* operator.c: A as a function of the caller's (drape_operator). A matrix of as many rows, without a block, stands in
 * for it wherever only the number of unknowns is asked for; products go to the function (operations.c). Its
 * preconditioner is one more row of functions, which is in no table, as it has no name that could be asked for. */
#include "linear/solver.h"

#include "base/vector.h"

#include <string.h>

/* ---- The stand-in ---- */

void drape_i_operator_release(drape_solver *solver) {
    if (solver->no_blocks) DRAPE_FREE(solver->ctx, solver->no_blocks, (int64_t)solver->stand_in.rows + 1);
    solver->no_blocks = NULL;
    solver->stand_in = (drape_bsr3){0};
}

static drape_status check(const drape_solver *solver, const drape_problem *p) {
    drape_context *ctx = solver->ctx;
    const drape_i_method *method = solver->method;
    if (p->A)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "solve: A is given both as a matrix and as an operator; leave one out");
    if (p->couplings.count != 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "solve: couplings need a matrix; an operator multiplies with its own");
    if (!p->op->multiply) return drape_i_missing(ctx, "solve", "multiply of the operator");
    if (p->op->rows < 0) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: an operator of %d rows", p->op->rows);
    if (method == &drape_i_method_direct || method->wants_norm2)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "solve: the method %s needs a matrix; use another method with an operator", method->name);
    if (!solver->takes_operator)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "solve: the preconditioner %s needs a matrix; with an operator use \"auto\" or \"none\", "
                            "or its own precondition function",
                            solver->slot[DRAPE_I_NAMED].is.precond->name);
    return drape_i_check_reserved(ctx, "drape_operator", p->op->reserved, 4);
}

drape_status drape_i_operator_prepare(drape_solver *solver, drape_problem *p) {
    drape_status status = check(solver, p);
    if (status) return status;
    if (!solver->no_blocks || solver->stand_in.rows != p->op->rows) {
        drape_i_operator_release(solver);
        if (!DRAPE_NEW(solver->ctx, solver->no_blocks, (int64_t)p->op->rows + 1)) return DRAPE_ERROR_MEMORY;
        solver->stand_in = (drape_bsr3){.rows = p->op->rows, .rowptr = solver->no_blocks};
    }
    p->A = &solver->stand_in;
    return DRAPE_OK;
}

/* ---- The preconditioner ---- */

typedef struct state {
    int64_t n;
    const drape_operator *op;
    const drape_constraints *set; /* to be filtered by; NULL: none */
} state;

static drape_status create(drape_context *ctx, const drape_bsr3 *A, const drape_solve_settings *settings,
                           void **out) {
    state *s;
    (void)settings;
    *out = NULL;
    if (!DRAPE_NEW(ctx, s, 1)) return DRAPE_ERROR_MEMORY;
    s->n = 3 * (int64_t)A->rows;
    *out = s;
    return DRAPE_OK;
}

static void destroy(drape_context *ctx, void *data) { DRAPE_FREE(ctx, (state *)data, 1); }

static drape_status refresh(drape_context *ctx, void *data, const drape_problem *problem,
                            const drape_constraints *set, const drape_i_couplings *couplings, double *shift) {
    state *s = data;
    (void)ctx, (void)couplings, (void)shift;
    s->op = problem->op;
    s->set = set;
    return DRAPE_OK;
}

static double apply(drape_context *ctx, void *data, const double *r, double *h) {
    const state *s = data;
    if (s->op->precondition) s->op->precondition(s->op->user, r, h);
    else memcpy(h, r, (size_t)s->n * sizeof *h);
    drape_i_filter(s->set, h);
    return drape_i_dot(ctx, s->n, r, h);
}

/* What the caller's function reads and writes nobody knows. */
static int64_t traffic(const void *data) { return 4 * (int64_t)sizeof(double) * ((const state *)data)->n; }

static const drape_i_variant variant = {0}; /* setting it up costs nothing here */

const drape_i_precond drape_i_precond_given = {.name = "operator",
                                               .about = "that of the operator",
                                               .variant = &variant,
                                               .variants = 1,
                                               .create = create,
                                               .destroy = destroy,
                                               .refresh = refresh,
                                               .apply = apply,
                                               .traffic = traffic};
