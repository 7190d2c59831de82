/* solver.c: from a problem to x: memory, preconditioner, method, and the certificate at the end. */
#include "base/timer.h"
#include "linear/method.h"
#include "linear/vector.h"
#include "sparse/multiply.h"

#include <math.h>
#include <string.h>

struct drape_solver {
    drape_context *ctx;
    drape_solve_settings settings;
    const drape_i_method *method;
    const drape_i_precond *precond;
    int32_t rows; /* -1: nothing allocated */
    void *precond_state;
    double *work[DRAPE_I_WORK_VECTORS];
    double *force;
};

drape_solve_settings drape_solve_defaults(void) {
    return (drape_solve_settings){
        .method = "mpcg", .precond = "block_diagonal", .tol = 1e-5, .max_iterations = 10000};
}

const char *drape_reason_name(drape_reason reason) {
    switch (reason) {
    case DRAPE_CONVERGED: return "converged";
    case DRAPE_ITERATION_LIMIT: return "iteration limit";
    case DRAPE_INDEFINITE: return "not positive definite";
    case DRAPE_NOT_FINITE: return "not finite";
    }
    return "unknown reason";
}

static drape_status check_settings(drape_context *ctx, const drape_solve_settings *s) {
    if (!s->method || !drape_i_method_find(s->method))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: there is no method \"%s\"",
                            s->method ? s->method : "");
    if (!s->precond || !drape_i_precond_find(s->precond))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: there is no preconditioner \"%s\"",
                            s->precond ? s->precond : "");
    if (!(s->tol > 0 && s->tol < 1))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: tol is %g; it must lie between 0 and 1", s->tol);
    if (s->max_iterations < 1)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: max_iterations is %d; it must be 1 or more",
                            s->max_iterations);
    return DRAPE_OK;
}

drape_status drape_solver_create(drape_context *ctx, const drape_solve_settings *settings, drape_solver **out) {
    drape_solve_settings s = settings ? *settings : drape_solve_defaults();
    drape_solver *solver;
    *out = NULL;
    drape_status status = check_settings(ctx, &s);
    if (status) return status;
    if (!DRAPE_NEW(ctx, solver, 1)) return DRAPE_ERROR_MEMORY;
    solver->ctx = ctx;
    solver->method = drape_i_method_find(s.method);
    solver->precond = drape_i_precond_find(s.precond);
    s.method = solver->method->name;
    s.precond = solver->precond->name;
    solver->settings = s;
    solver->rows = -1;
    *out = solver;
    return DRAPE_OK;
}

static void release(drape_solver *solver) {
    drape_context *ctx = solver->ctx;
    if (solver->rows < 0) return;
    int64_t n = 3 * (int64_t)solver->rows;
    if (solver->precond_state) solver->precond->destroy(ctx, solver->precond_state);
    for (int32_t i = 0; i < DRAPE_I_WORK_VECTORS; i++) {
        DRAPE_FREE(ctx, solver->work[i], n);
        solver->work[i] = NULL;
    }
    DRAPE_FREE(ctx, solver->force, n);
    solver->force = NULL;
    solver->precond_state = NULL;
    solver->rows = -1;
}

void drape_solver_destroy(drape_solver *solver) {
    if (!solver) return;
    release(solver);
    DRAPE_FREE(solver->ctx, solver, 1);
}

static drape_status prepare(drape_solver *solver, const drape_bsr3 *A) {
    drape_context *ctx = solver->ctx;
    if (solver->rows == A->rows) return DRAPE_OK;
    release(solver);
    drape_status status = drape_bsr3_check(ctx, A);
    if (status) return status;
    solver->rows = A->rows;
    int64_t n = 3 * (int64_t)A->rows;
    for (int32_t i = 0; i < DRAPE_I_WORK_VECTORS && !status; i++)
        if (!DRAPE_NEW(ctx, solver->work[i], n)) status = DRAPE_ERROR_MEMORY;
    if (!status && !DRAPE_NEW(ctx, solver->force, n)) status = DRAPE_ERROR_MEMORY;
    if (!status) status = solver->precond->create(ctx, A, &solver->precond_state);
    if (status) release(solver);
    return status;
}

static drape_status check_problem(drape_solver *solver, const drape_problem *p, const double *x) {
    drape_context *ctx = solver->ctx;
    if (!p->A || !p->A->rowptr || !p->A->val || !p->b || !x)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: A, b or x is missing");
    if (p->A->rows < 0) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: a matrix of %d rows", p->A->rows);
    if (p->constraints && p->constraints->vertices != p->A->rows)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: constraints for %d vertices, matrix of %d rows",
                            p->constraints->vertices, p->A->rows);
    return DRAPE_OK;
}

/* True residual and constraint forces from A x computed afresh; the method's work vectors are free by now. */
static void certify(drape_solver *solver, const drape_problem *p, const double *x, drape_solve_result *result) {
    drape_context *ctx = solver->ctx;
    int64_t n = 3 * (int64_t)p->A->rows;
    double *r = solver->work[0], *rhs = solver->work[1], *Ax = solver->work[2];
    drape_i_blend(p->constraints, p->A->rows, NULL, r);
    drape_i_multiply(ctx, p->A, r, Ax);
    for (int64_t i = 0; i < n; i++) rhs[i] = p->b[i] - Ax[i];
    drape_i_filter(p->constraints, rhs);
    drape_i_multiply(ctx, p->A, x, Ax);
    for (int64_t i = 0; i < n; i++) {
        r[i] = p->b[i] - Ax[i];
        solver->force[i] = Ax[i] - p->b[i];
    }
    drape_i_filter(p->constraints, r);
    drape_i_filter_complement(p->constraints, p->A->rows, solver->force);
    double scale = sqrt(drape_i_dot(ctx, n, rhs, rhs)), size = sqrt(drape_i_dot(ctx, n, r, r));
    result->true_residual = scale > 0 ? size / scale : size;
    result->constraint_force = solver->force;
}

drape_status drape_solver_solve(drape_solver *solver, const drape_problem *problem, double *x,
                                drape_solve_result *result) {
    drape_solve_result local = {0};
    double begin = drape_i_seconds();
    drape_status status = check_problem(solver, problem, x);
    if (!status) status = prepare(solver, problem->A);
    if (status) return status;
    solver->precond->refresh(solver->ctx, solver->precond_state, problem->A);
    drape_i_solve s = {solver->ctx, problem, &solver->settings, solver->precond, solver->precond_state, {0},
                       x,           &local};
    memcpy(s.work, solver->work, sizeof s.work);
    double ready = drape_i_seconds();
    solver->method->solve(&s);
    certify(solver, problem, x, &local);
    local.setup_seconds = ready - begin;
    local.solve_seconds = drape_i_seconds() - ready;
    if (result) *result = local;
    return DRAPE_OK;
}

drape_status drape_solve(drape_context *ctx, const drape_problem *problem, const drape_solve_settings *settings,
                         double *x, drape_solve_result *result) {
    drape_solver *solver;
    drape_status status = drape_solver_create(ctx, settings, &solver);
    if (status) return status;
    status = drape_solver_solve(solver, problem, x, result);
    if (!status && result) result->constraint_force = NULL;
    drape_solver_destroy(solver);
    return status;
}
