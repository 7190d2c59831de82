/* solver.c: from a problem to x: memory, preconditioner, method, and the certificate at the end. */
#include "base/parallel.h"
#include "base/timer.h"
#include "linear/method.h"
#include "sparse/pattern_key.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double DRIFT = 10;          /* how many times the residual computed afresh may be the iteration's own */
static const double ROUNDED_OFF = 1e-10; /* and what it may be in any case, relative to b^ */
static const double ROUNDINGS = 100;     /* or what it may be over the rounding of b - A x */
static const double LOST = 1e-4;         /* but not that much */
static const double ASYMMETRY = 1e-8;    /* A_ij - A_ji' that is no rounding, relative to the largest of their row */

struct drape_solver {
    drape_context *ctx;
    drape_solve_settings settings;
    const drape_i_method *method;
    const drape_i_precond *precond;
    drape_i_pattern_key pattern; /* of what everything below was made for; rows -1: nothing */
    int64_t bytes;               /* held */
    void *precond_state, *method_state;
    double *work[DRAPE_I_WORK_VECTORS];
    double *force;
    drape_i_stopping stopping;
};

drape_solve_settings drape_solve_defaults(void) {
    return (drape_solve_settings){.method = "ppcg", .tol = 1e-5, .max_iterations = 10000, .omega = 1};
}

const char *drape_reason_name(drape_reason reason) {
    switch (reason) {
    case DRAPE_CONVERGED: return "converged";
    case DRAPE_ITERATION_LIMIT: return "iteration limit";
    case DRAPE_INDEFINITE: return "not positive definite";
    case DRAPE_NOT_FINITE: return "not finite";
    case DRAPE_SINGULAR: return "singular";
    case DRAPE_UNSYMMETRIC: return "not symmetric";
    case DRAPE_BREAKDOWN: return "breakdown";
    case DRAPE_INACCURATE: return "inaccurate";
    }
    return "unknown reason";
}

const char *drape_stop_name(int32_t stop) {
    switch (stop) {
    case DRAPE_STOP_PRECONDITIONED: return "preconditioned";
    case DRAPE_STOP_RESIDUAL: return "residual";
    case DRAPE_STOP_ENERGY: return "energy";
    }
    return NULL;
}

/* ---- Settings ---- */

static const char *const reuses[] = {"nothing", "patterns", "everything"};
enum { REUSES = sizeof reuses / sizeof *reuses, MOST_LEVELS = 16 };

const char *drape_amg_reuse_name(int32_t index) { return index >= 0 && index < REUSES ? reuses[index] : NULL; }

static const char *or_empty(const char *text) { return text ? text : ""; }

static drape_status find_names(drape_context *ctx, const drape_solve_settings *s, const drape_i_method **method,
                               const drape_i_precond **precond) {
    *method = drape_i_method_find(s->method);
    if (!*method)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: there is no method \"%s\"", or_empty(s->method));
    const char *name = s->precond ? s->precond : drape_method_default_precond(s->method);
    *precond = drape_i_precond_find(name);
    if (!*precond) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: there is no preconditioner \"%s\"", name);
    if (!drape_i_method_takes(*method, *precond))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: the method %s does not go with the preconditioner %s",
                            (*method)->name, (*precond)->name);
    return DRAPE_OK;
}

static drape_status check_numbers(drape_context *ctx, const drape_solve_settings *s, const drape_i_method *method) {
    if (!(s->tol > 0 && s->tol < 1))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: tol is %g; it must lie between 0 and 1", s->tol);
    if (s->max_iterations < 1)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: max_iterations is %d; it must be 1 or more",
                            s->max_iterations);
    if (!drape_stop_name((int32_t)s->stop))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: stop is %d; there is no such thing", (int)s->stop);
    if (s->stop == DRAPE_STOP_ENERGY && method->unsymmetric)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: the method %s has no energy norm to stop by",
                            method->name);
    if (method == &drape_i_method_direct && !s->direct)
        return drape_i_fail(
            ctx, DRAPE_ERROR_ARGUMENT,
            "solve: the method direct needs a direct solver (drape/cholmod.h), and there is none here");
    if (!(s->floor >= 0) || !isfinite(s->floor))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: floor is %g; it must be 0 or more", s->floor);
    if (!(s->omega >= 0 && s->omega < 2))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: omega is %g; it must lie between 0 and 2", s->omega);
    if (s->history < 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: history is %d; it must be 0 or more", s->history);
    return DRAPE_OK;
}

static drape_status check_amg(drape_context *ctx, const drape_amg_settings *s) {
    if (!(s->theta >= 0 && s->theta < 1))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: amg.theta is %g; it must lie between 0 and 1",
                            s->theta);
    if (s->modes != 0 && s->modes != 3 && s->modes != 6)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: amg.modes is %d; it must be 3 or 6", s->modes);
    if (s->levels < 0 || s->levels > MOST_LEVELS)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: amg.levels is %d; it must lie in 1..%d", s->levels,
                            MOST_LEVELS);
    if (s->reuse < 0 || s->reuse > REUSES)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: amg.reuse is %d; it must lie in 1..%d", s->reuse,
                            REUSES);
    if (s->smoother != DRAPE_SMOOTHER_GAUSS_SEIDEL && s->smoother != DRAPE_SMOOTHER_CHEBYSHEV)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: amg.smoother is %d; there is no such thing",
                            (int)s->smoother);
    if (s->degree < 0 || s->degree > 8)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: amg.degree is %d; it must lie in 1..8", s->degree);
    return DRAPE_OK;
}

drape_status drape_solver_create(drape_context *ctx, const drape_solve_settings *settings, drape_solver **out) {
    drape_solve_settings s = settings ? *settings : drape_solve_defaults();
    drape_solver *solver;
    const drape_i_method *method = NULL;
    const drape_i_precond *precond = NULL;
    *out = NULL;
    drape_status status = find_names(ctx, &s, &method, &precond);
    if (!status) status = check_numbers(ctx, &s, method);
    if (!status) status = check_amg(ctx, &s.amg);
    if (status) return status;
    if (!DRAPE_NEW(ctx, solver, 1)) return DRAPE_ERROR_MEMORY;
    if (s.omega == 0) s.omega = 1;
    s.method = method->name;
    s.precond = precond->name;
    solver->ctx = ctx;
    solver->bytes = (int64_t)sizeof *solver;
    solver->method = method;
    solver->precond = precond;
    solver->settings = s;
    solver->pattern.rows = -1;
    *out = solver;
    return DRAPE_OK;
}

/* ---- Memory ---- */

static void release(drape_solver *solver) {
    drape_context *ctx = solver->ctx;
    if (solver->pattern.rows < 0) return;
    int64_t n = 3 * (int64_t)solver->pattern.rows;
    if (solver->precond_state) solver->precond->destroy(ctx, solver->precond_state);
    if (solver->method_state) solver->method->destroy(ctx, solver->method_state);
    for (int32_t i = 0; i < solver->method->vectors; i++) {
        DRAPE_FREE(ctx, solver->work[i], n);
        solver->work[i] = NULL;
    }
    DRAPE_FREE(ctx, solver->force, n);
    DRAPE_FREE(ctx, solver->stopping.history, solver->stopping.capacity);
    solver->force = NULL;
    solver->stopping.history = NULL;
    solver->precond_state = solver->method_state = NULL;
    solver->pattern.rows = -1;
}

void drape_solver_destroy(drape_solver *solver) {
    if (!solver) return;
    release(solver);
    DRAPE_FREE(solver->ctx, solver, 1);
}

static drape_status allocate(drape_solver *solver, const drape_bsr3 *A) {
    drape_context *ctx = solver->ctx;
    const drape_solve_settings *want = &solver->settings;
    int64_t n = 3 * (int64_t)A->rows;
    int32_t most = want->max_iterations < INT32_MAX ? want->max_iterations + 1 : INT32_MAX;
    for (int32_t i = 0; i < solver->method->vectors; i++)
        if (!DRAPE_NEW(ctx, solver->work[i], n)) return DRAPE_ERROR_MEMORY;
    if (!DRAPE_NEW(ctx, solver->force, n)) return DRAPE_ERROR_MEMORY;
    solver->stopping.capacity = want->history < most ? want->history : most;
    if (!DRAPE_NEW(ctx, solver->stopping.history, solver->stopping.capacity)) return DRAPE_ERROR_MEMORY;
    drape_status status = solver->precond->create(ctx, A, want, &solver->precond_state);
    if (!status && solver->method->create) status = solver->method->create(ctx, A, want, &solver->method_state);
    return status;
}

/* Everything that depends on the pattern alone is kept while that stays the same. */
static drape_status prepare(drape_solver *solver, const drape_bsr3 *A) {
    drape_context *ctx = solver->ctx;
    if (drape_i_pattern_is(ctx, A, &solver->pattern)) return DRAPE_OK;
    release(solver);
    drape_status status = drape_bsr3_check(ctx, A);
    if (status) return status;
    solver->pattern = drape_i_pattern_key_of(ctx, A);
    status = allocate(solver, A);
    if (status) release(solver);
    return status;
}

/* ---- Solving ---- */

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

typedef struct forces {
    const double *b;
    double *Ax, *force, *r;
} forces;

static void force_chunk(void *data, int64_t begin, int64_t end) {
    const forces *f = data;
    for (int64_t i = begin; i < end; i++) {
        f->r[i] = f->b[i] - f->Ax[i];
        f->force[i] = f->Ax[i] - f->b[i];
    }
}

/* |S (|A| |x| + |b|)| times the rounding of a number: what b - A x cannot be brought below for sure. */
static double rounding_level(const drape_i_solve *s) {
    const drape_bsr3 *A = s->problem->A;
    double sum2 = 0;
    for (int32_t i = 0; i < A->rows; i++)
        for (int32_t r = 0; r < 3; r++) {
            double sum = fabs(s->problem->b[3 * (int64_t)i + r]);
            for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
                for (int32_t c = 0; c < 3; c++)
                    sum += fabs(A->val[9 * k + 3 * r + c] * s->x[3 * (int64_t)A->col[k] + c]);
            sum2 += sum * sum;
        }
    return DBL_EPSILON * sqrt(sum2);
}

/* The iteration's own residual is far below the one computed afresh, and rounding does not explain it. */
static bool drifted(const drape_i_solve *s, double own, double size, double scale) {
    bool direct = s->result->residual < 0; /* has none of its own */
    double enough = direct ? s->settings->tol * scale : DRIFT * own;
    if (!(size > enough + ROUNDED_OFF * scale)) return false;
    return size > LOST * scale || size > ROUNDINGS * rounding_level(s);
}

/* True residual and constraint forces from A x computed afresh; the method's work vectors are free by now but for
 * the residual it came to, in work[0]. */
static void certify(drape_i_solve *s, double *force) {
    drape_solve_result *result = s->result;
    double scale = sqrt(s->stopping->rhs_norm2), own = sqrt(drape_i_norm2(s, s->work[0]));
    double *r = s->work[0], *Ax = s->work[1];
    drape_i_times(s, s->x, Ax);
    drape_i_loop(s->ctx, drape_i_length(s), DRAPE_I_GRAIN, force_chunk, &(forces){s->problem->b, Ax, force, r});
    drape_i_project(s, r);
    drape_i_project_out(s, force);
    double size = sqrt(drape_i_norm2(s, r));
    result->true_residual = scale > 0 ? size / scale : size;
    if (result->reason != DRAPE_CONVERGED) return;
    if (!isfinite(size)) result->reason = DRAPE_NOT_FINITE;
    else if (drifted(s, own, size, scale)) result->reason = DRAPE_INACCURATE;
}

/* The energy estimate and the history of the way there. */
static void conclude(drape_i_solve *s) {
    drape_i_stopping *t = s->stopping;
    drape_solve_result *result = s->result;
    bool known = t->has_energy && result->iterations > 0;
    double tail = known ? drape_i_energy_error2(t, result->iterations) : 0,
           all = t->start_energy + t->total_gain + tail;
    result->energy_error = known && all > 0 ? sqrt(tail / all) : -1;
    drape_i_finish_history(t, known ? tail : -1);
    result->history = t->history;
    result->history_count = t->count;
}

/* Why a method that needs symmetry failed. A P that is not symmetric has no norm, and what looks like one may vanish
 * while r does not. */
static void explain_failure(drape_solver *solver, const drape_problem *problem, drape_solve_result *result) {
    bool failed = result->reason == DRAPE_ITERATION_LIMIT || result->reason == DRAPE_INDEFINITE ||
                  result->reason == DRAPE_SINGULAR || result->reason == DRAPE_INACCURATE;
    bool doubtful = result->reason == DRAPE_CONVERGED && result->true_residual > sqrt(solver->settings.tol);
    if ((failed || doubtful) && !solver->method->unsymmetric &&
        drape_bsr3_asymmetry(problem->A, NULL, NULL) > ASYMMETRY)
        result->reason = DRAPE_UNSYMMETRIC;
}

static void reset(drape_solver *solver) {
    drape_i_stopping *t = &solver->stopping;
    const drape_i_stopping fresh = {.capacity = t->capacity, .history = t->history};
    *t = fresh;
    t->has_energy = !solver->method->unsymmetric && solver->method != &drape_i_method_direct;
    t->wants_norm2 = solver->settings.stop == DRAPE_STOP_RESIDUAL || t->capacity > 0;
}

drape_status drape_solver_solve(drape_solver *solver, const drape_problem *problem, double *x,
                                drape_solve_result *result) {
    drape_solve_result local = {.method = solver->method->name, .precond = solver->precond->name};
    double begin = drape_i_seconds();
    int64_t bytes = solver->ctx->bytes;
    drape_status status = check_problem(solver, problem, x);
    if (!status) status = prepare(solver, problem->A);
    if (!status)
        status = solver->precond->refresh(solver->ctx, solver->precond_state, problem,
                                          solver->method->prefiltered ? problem->constraints : NULL, &local.shift);
    solver->bytes += solver->ctx->bytes - bytes;
    if (status) return status;
    reset(solver);
    drape_i_solve s = {.ctx = solver->ctx,
                       .problem = problem,
                       .settings = &solver->settings,
                       .precond = solver->precond,
                       .precond_state = solver->precond_state,
                       .x = x,
                       .method_state = solver->method_state,
                       .stopping = &solver->stopping,
                       .result = &local};
    memcpy(s.work, solver->work, sizeof s.work);
    double ready = drape_i_seconds();
    status = solver->method->solve(&s);
    if (status) return status;
    drape_i_blend(problem->constraints, problem->A->rows, x, x); /* takes off what rounding left of the constraints */
    certify(&s, solver->force);
    conclude(&s);
    explain_failure(solver, problem, &local);
    if (solver->precond->learn) solver->precond->learn(solver->precond_state, local.iterations);
    local.bytes += solver->bytes; /* to what the method holds outside the context */
    local.constraint_force = solver->force;
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
    if (!status && result) {
        result->constraint_force = NULL;
        result->history = NULL;
        result->history_count = 0;
    }
    drape_solver_destroy(solver);
    return status;
}

/* ---- Levels ---- */

int32_t drape_solver_levels(const drape_solver *solver) {
    bool has = solver->pattern.rows >= 0 && solver->precond->describe;
    return has ? solver->precond->describe(solver->precond_state, -1, NULL) : 0;
}

drape_status drape_solver_level(const drape_solver *solver, int32_t index, drape_amg_level *out) {
    int32_t levels = drape_solver_levels(solver);
    *out = (drape_amg_level){0};
    if (index < 0 || index >= levels)
        return drape_i_fail(solver->ctx, DRAPE_ERROR_ARGUMENT, "solve: level %d of %d is asked for", index, levels);
    solver->precond->describe(solver->precond_state, index, out);
    return DRAPE_OK;
}
