/* solver.c: from a problem to x: memory, what to take, a try, and another one where that fails. */
#include "linear/solver.h"

#include "base/parallel.h"
#include "base/timer.h"
#include "linear/sight.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TINY = 64,   /* rows up to which a choice is not worth a look */
    CHANGED = 10 /* per cent of the fixed vertices: time to find the depth again */
};

drape_status drape_solver_create(drape_context *ctx, const drape_solve_settings *settings, drape_solver **out) {
    const drape_solve_settings usual = drape_solve_defaults();
    drape_solver *solver;
    if (out) *out = NULL;
    if (!ctx || !out) return drape_i_missing(ctx, "solve", "out");
    if (!DRAPE_NEW(ctx, solver, 1)) return DRAPE_ERROR_MEMORY;
    solver->ctx = ctx;
    solver->bytes = (int64_t)sizeof *solver;
    solver->pattern.rows = -1;
    drape_status status = drape_i_solver_settle(solver, settings ? settings : &usual);
    if (status) DRAPE_FREE(ctx, solver, 1);
    else *out = solver;
    return status;
}

/* ---- Memory ---- */

void drape_i_solver_leave(drape_solver *solver, int32_t index) {
    drape_i_seat *seat = &solver->seat[index];
    if (seat->state) seat->is.precond->destroy(solver->ctx, seat->state);
    seat->state = NULL;
    seat->ready = false;
    if (index < DRAPE_I_CANDIDATES) solver->choice.built[index] = false;
}

static void release(drape_solver *solver) {
    drape_context *ctx = solver->ctx;
    if (solver->pattern.rows < 0) return;
    int64_t n = 3 * (int64_t)solver->pattern.rows;
    for (int32_t k = 0; k < DRAPE_I_SEATS; k++) drape_i_solver_leave(solver, k);
    if (solver->method_state) solver->method->destroy(ctx, solver->method_state);
    for (int32_t i = 0; i < solver->vectors; i++) DRAPE_FREE(ctx, solver->work[i], n);
    if (solver->auto_precond) DRAPE_FREE(ctx, solver->start, n);
    DRAPE_FREE(ctx, solver->force, n);
    DRAPE_FREE(ctx, solver->stopping.history, solver->stopping.capacity);
    drape_i_couplings_free(ctx, &solver->couplings);
    memset(solver->work, 0, sizeof solver->work);
    solver->vectors = 0;
    solver->force = solver->start = NULL;
    solver->stopping.history = NULL;
    solver->method_state = NULL;
    solver->pattern.rows = -1;
}

void drape_solver_destroy(drape_solver *solver) {
    if (!solver) return;
    release(solver);
    drape_i_operator_release(solver);
    DRAPE_FREE(solver->ctx, solver, 1);
}

enum { VECTOR_GRAIN = 4096 };

static void clear_chunk(void *data, int64_t begin, int64_t end) {
    memset((double *)data + begin, 0, (size_t)(end - begin) * sizeof(double));
}

/* Touched first by the threads that will work on it. */
static drape_status take_vector(drape_solver *solver, double **out) {
    int64_t n = 3 * (int64_t)solver->pattern.rows;
    if (!DRAPE_NEW_RAW(solver->ctx, *out, n)) return DRAPE_ERROR_MEMORY;
    drape_i_loop(solver->ctx, n, VECTOR_GRAIN, clear_chunk, *out);
    return DRAPE_OK;
}

static drape_status take_vectors(drape_solver *solver, int32_t count) {
    for (; solver->vectors < count; solver->vectors++)
        if (take_vector(solver, &solver->work[solver->vectors])) return DRAPE_ERROR_MEMORY;
    return DRAPE_OK;
}

/* Three and six modes are never kept both: they are large. */
static drape_status take_seat(drape_solver *solver, int32_t index, const drape_bsr3 *A) {
    drape_i_seat *seat = &solver->seat[index];
    drape_solve_settings want = solver->settings;
    if (seat->state) return DRAPE_OK;
    if (index == DRAPE_I_AMG_3) drape_i_solver_leave(solver, DRAPE_I_AMG_6);
    if (index == DRAPE_I_AMG_6) drape_i_solver_leave(solver, DRAPE_I_AMG_3);
    if (index < DRAPE_I_KNOWN && seat->is.modes) want.amg.modes = seat->is.modes;
    return seat->is.precond->create(solver->ctx, A, &want, &seat->state);
}

static drape_status allocate(drape_solver *solver, const drape_bsr3 *A) {
    drape_context *ctx = solver->ctx;
    const drape_solve_settings *want = &solver->settings;
    int32_t most = want->max_iterations < INT32_MAX ? want->max_iterations + 1 : INT32_MAX;
    if (take_vectors(solver, solver->method->vectors)) return DRAPE_ERROR_MEMORY;
    if (solver->auto_precond && take_vector(solver, &solver->start)) return DRAPE_ERROR_MEMORY;
    if (take_vector(solver, &solver->force)) return DRAPE_ERROR_MEMORY;
    solver->stopping.capacity = want->history < most ? want->history : most;
    if (!DRAPE_NEW(ctx, solver->stopping.history, solver->stopping.capacity)) return DRAPE_ERROR_MEMORY;
    drape_status status = solver->auto_precond ? DRAPE_OK : take_seat(solver, DRAPE_I_NAMED, A);
    if (!status && solver->method->create) status = solver->method->create(ctx, A, want, &solver->method_state);
    return status;
}

/* As one that has solved nothing yet. */
static void begin_learning(drape_solver *solver, double pass) {
    solver->used = solver->auto_precond ? DRAPE_I_BLOCK_DIAGONAL : DRAPE_I_NAMED;
    solver->unsymmetric = false;
    solver->fixed = -1;
    drape_i_choice_begin(&solver->choice, pass, solver->settings.tol);
}

/* Work vectors, forces and a direct solver's analysis stay: they hold nothing of the solves before. */
void drape_solver_forget(drape_solver *solver) {
    if (!solver || solver->pattern.rows < 0) return;
    int64_t bytes = solver->ctx->bytes;
    for (int32_t k = 0; k < DRAPE_I_SEATS; k++) drape_i_solver_leave(solver, k);
    begin_learning(solver, solver->choice.pass);
    solver->bytes += solver->ctx->bytes - bytes;
}

/* Everything that depends on the pattern alone is kept while that stays the same. */
static drape_status prepare(drape_solver *solver, const drape_bsr3 *A) {
    drape_context *ctx = solver->ctx;
    if (drape_i_pattern_is(ctx, A, &solver->pattern)) return DRAPE_OK;
    release(solver);
    drape_status status = drape_bsr3_check(ctx, A);
    if (!status && (solver->auto_method || !solver->method->unsymmetric))
        status = drape_i_check_halves(ctx, "solve", A);
    if (status) return status;
    solver->pattern = drape_i_pattern_key_of(ctx, A);
    solver->tuned = solver->settings.tune ? -1 : 0;
    begin_learning(solver, drape_i_pass(A));
    status = allocate(solver, A);
    if (status) release(solver);
    return status;
}

/* ---- A try ---- */

static void reset(drape_solver *solver, const drape_i_method *method) {
    drape_i_stopping *t = &solver->stopping;
    const drape_i_stopping fresh = {.capacity = t->capacity, .history = t->history};
    *t = fresh;
    t->has_energy = !method->unsymmetric && method != &drape_i_method_direct;
    t->wants_norm2 = solver->settings.stop == DRAPE_STOP_RESIDUAL || t->capacity > 0;
}

/* Gives the preconditioner its values, unless it has them. */
static drape_status refresh(const drape_solver *solver, drape_i_seat *seat, const drape_i_try *t,
                            drape_i_outcome *outcome) {
    const drape_i_precond *precond = seat->is.precond;
    const drape_constraints *set = t->method->prefiltered ? t->problem.constraints : NULL;
    outcome->prepared = DRAPE_I_KEPT;
    outcome->setup = 0;
    outcome->spared = t->problem.same_matrix && seat->ready && seat->made_for == solver->matrix_number &&
                      seat->set == set && t->seat != DRAPE_I_GIVEN;
    if (outcome->spared) return DRAPE_OK;
    seat->shift = 0;
    drape_status status =
        precond->refresh(solver->ctx, seat->state, &t->problem, set, &solver->couplings, &seat->shift);
    if (status) return status;
    if (precond->prepared) outcome->prepared = precond->prepared(seat->state);
    else outcome->prepared = seat->ready ? DRAPE_I_REFRESHED : DRAPE_I_BUILT;
    outcome->setup = drape_i_setup_bytes(precond, seat->is.modes, outcome->prepared, solver->choice.pass);
    seat->made_for = outcome->prepared == DRAPE_I_KEPT ? -1 : solver->matrix_number;
    seat->set = set;
    seat->ready = true;
    return DRAPE_OK;
}

/* Memory and values of the preconditioner; a seat that fails in it is left. */
static drape_status set_up(drape_solver *solver, drape_i_try *t) {
    drape_i_seat *seat = &solver->seat[t->seat];
    drape_status status = take_vectors(solver, t->method->vectors);
    if (!status) status = take_seat(solver, t->seat, t->problem.A);
    if (!status) status = refresh(solver, seat, t, &t->outcome);
    if (status) {
        if (t->seat != DRAPE_I_NAMED) drape_i_solver_leave(solver, t->seat);
        return status;
    }
    t->result.shift = seat->shift;
    return DRAPE_OK;
}

static drape_status run(drape_solver *solver, drape_i_try *t) {
    const drape_i_seat *seat = &solver->seat[t->seat];
    drape_solve_settings settings = solver->settings;
    settings.max_iterations = t->limit;
    if (t->problem.tol > 0) settings.tol = t->problem.tol;
    drape_i_solve s = {.ctx = solver->ctx,
                       .problem = &t->problem,
                       .couplings = &solver->couplings,
                       .settings = &settings,
                       .precond = seat->is.precond,
                       .precond_state = seat->state,
                       .x = t->x,
                       .method_state = solver->method_state,
                       .stopping = &solver->stopping,
                       .result = &t->result};
    reset(solver, t->method);
    memcpy(s.work, solver->work, sizeof s.work);
    drape_status status = t->method->solve(&s);
    if (status) return status;
    drape_i_blend(t->problem.constraints, t->problem.A->rows, t->x, t->x); /* takes off what rounding left */
    drape_i_certify(&s, solver->force);
    drape_i_conclude(&s);
    drape_i_explain_failure(&s, t->method);
    if (seat->is.precond->learn) seat->is.precond->learn(seat->state, t->result.iterations);
    return DRAPE_OK;
}

/* Of the near-kernel of "amg". */
static int32_t modes_of(const drape_i_try *t, const drape_i_candidate *is) {
    if (t->problem.near_kernel) return t->problem.near_kernel_count;
    return t->problem.positions ? is->modes : 3;
}

drape_status drape_i_solver_try(drape_solver *solver, drape_i_try *t) {
    const drape_i_candidate *is = &solver->seat[t->seat].is;
    double begin = drape_i_seconds();
    int64_t bytes = solver->ctx->bytes;
    t->result = (drape_solve_result){.method = t->method->name, .precond = is->precond->name};
    if (is->precond == &drape_i_precond_amg) t->result.modes = modes_of(t, is);
    drape_status status = set_up(solver, t);
    double ready = drape_i_seconds();
    if (!status) status = run(solver, t); /* in which a direct solver may allocate */
    solver->bytes += solver->ctx->bytes - bytes;
    if (status) return status;
    t->outcome.iterations = t->result.iterations;
    t->outcome.start = solver->stopping.start;
    t->result.bytes_moved += (int64_t)t->outcome.setup;
    t->result.setup_seconds = ready - begin;
    t->result.solve_seconds = drape_i_seconds() - ready;
    return DRAPE_OK;
}

/* ---- What to take ---- */

static bool bicgstab_goes(const drape_solver *solver) {
    const drape_i_precond *named = solver->seat[DRAPE_I_NAMED].is.precond;
    return solver->auto_method && solver->settings.stop != DRAPE_STOP_ENERGY &&
           (!named || drape_i_method_takes(&drape_i_method_bicgstab, named));
}

static void find_candidates(const drape_solver *solver, const drape_i_try *t, bool may[DRAPE_I_CANDIDATES]) {
    int32_t modes = t->problem.near_kernel ? (t->problem.near_kernel_count > 3 ? 6 : 3) : solver->settings.amg.modes;
    for (int32_t k = 0; k < DRAPE_I_CANDIDATES; k++)
        may[k] = drape_i_method_takes(t->method, drape_i_candidates[k].precond);
    may[DRAPE_I_AMG_3] &= modes != 6;
    may[DRAPE_I_AMG_6] &= modes == 6 || (modes == 0 && t->problem.positions);
}

/* The depth takes a walk over the whole pattern: only where it may matter, which it does not where the block diagonal
 * is the best even if nothing were held. */
static void look(drape_solver *solver, const drape_problem *p, const bool may[DRAPE_I_CANDIDATES]) {
    drape_i_choice *c = &solver->choice;
    c->stiffness = drape_i_stiffness(p->A, &solver->couplings);
    if (solver->fixed < 0 && drape_i_choose_once(c, may) == DRAPE_I_BLOCK_DIAGONAL) return;
    int32_t fixed = drape_i_count_fixed(p->constraints);
    if (solver->fixed >= 0 && 100 * (int64_t)abs(fixed - solver->fixed) <= CHANGED * (int64_t)solver->fixed) return;
    solver->fixed = fixed;
    c->depth = drape_i_depth(p->A, p->constraints, (int32_t *)solver->work[0]); /* which is free now */
}

static int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }

/* What to begin with. */
static drape_status choose(drape_solver *solver, drape_i_try *t) {
    const drape_problem *p = &t->problem;
    bool may[DRAPE_I_CANDIDATES];
    if (p->op) {
        t->seat = DRAPE_I_GIVEN;
        return DRAPE_OK;
    }
    if (bicgstab_goes(solver) && (solver->unsymmetric || !drape_i_looks_symmetric(p->A)))
        t->method = &drape_i_method_bicgstab;
    if (!solver->auto_precond) return DRAPE_OK;
    find_candidates(solver, t, may);
    if (solver->tuned < 0) {
        drape_status status = drape_i_solver_tune(solver, t, may);
        if (status) return status;
    }
    if (solver->tuned > 0 && may[solver->fastest]) {
        t->seat = solver->fastest;
        return DRAPE_OK;
    }
    t->seat = DRAPE_I_BLOCK_DIAGONAL;
    if (p->A->rows < TINY || t->method->unsymmetric) return DRAPE_OK;
    look(solver, p, may);
    t->seat = drape_i_choose(&solver->choice, may);
    t->limit = least(t->limit, drape_i_patience_for(&solver->choice, t->seat, may));
    return DRAPE_OK;
}

/* ---- When it fails ---- */

/* A way through the candidates. */
typedef struct journey {
    drape_i_try now;
    drape_status status;
    const double *guess;                /* to start from again */
    bool given_up[DRAPE_I_SEATS], slow; /* slow: only because of the limit that was set here */
    int32_t steps;
    drape_fallback step[DRAPE_MOST_FALLBACKS];
    drape_solve_result sum; /* iterations, bytes, seconds of those that were given up */
} journey;

static bool is_amg(int32_t seat) { return seat == DRAPE_I_AMG_3 || seat == DRAPE_I_AMG_6; }

/* The one after this, where the fault may lie with the preconditioner; -1: none. That the block diagonal is not
 * positive definite cannot be, so where it meets p'Ap <= 0, A is not. */
static int32_t next_of(int32_t seat, drape_reason reason) {
    if (seat == DRAPE_I_ICHOL || is_amg(seat)) return DRAPE_I_BLOCK_DIAGONAL;
    if (seat != DRAPE_I_BLOCK_DIAGONAL || reason == DRAPE_INDEFINITE) return -1;
    return DRAPE_I_DIAGONAL;
}

/* Where it took far longer than foreseen. */
static int32_t faster_than(const drape_solver *solver, const journey *j) {
    bool may[DRAPE_I_CANDIDATES];
    if (is_amg(j->now.seat)) return DRAPE_I_BLOCK_DIAGONAL;
    find_candidates(solver, &j->now, may);
    for (int32_t k = 0; k < DRAPE_I_CANDIDATES; k++) may[k] &= !j->given_up[k] && k != j->now.seat;
    int32_t best = drape_i_choose_once(&solver->choice, may);
    return best >= 0 ? best : DRAPE_I_BLOCK_DIAGONAL;
}

static void give_up(drape_solver *solver, journey *j, const char *why) {
    const drape_solve_result *r = &j->now.result;
    drape_i_log(solver->ctx, DRAPE_LOG_INFO, "solve: %s with %s is given up after %d iterations: %s", r->method,
                r->precond, r->iterations, why);
    j->step[j->steps++] =
        (drape_fallback){.method = r->method, .precond = r->precond, .why = why, .iterations = r->iterations};
    j->given_up[j->now.seat] = !j->slow;
    j->sum.iterations += r->iterations;
    j->sum.bytes_moved += r->bytes_moved;
    j->sum.setup_seconds += r->setup_seconds;
    j->sum.solve_seconds += r->solve_seconds;
    if (j->slow) drape_i_choice_learn(&solver->choice, j->now.seat, &j->now.outcome);
    j->now.problem.guess = j->slow ? j->now.x : j->guess;
    j->now.limit = solver->settings.max_iterations - j->sum.iterations;
}

static bool turn_to_bicgstab(drape_solver *solver, journey *j) {
    if (j->now.result.reason != DRAPE_UNSYMMETRIC || !bicgstab_goes(solver)) return false;
    give_up(solver, j, drape_reason_name(DRAPE_UNSYMMETRIC));
    memset(j->given_up, 0, sizeof j->given_up);
    solver->unsymmetric = true;
    j->now.method = &drape_i_method_bicgstab;
    j->now.limit = solver->settings.max_iterations; /* what was done so far was in vain */
    if (solver->auto_precond) j->now.seat = DRAPE_I_BLOCK_DIAGONAL;
    return true;
}

/* Whether there is something else to try, and what. */
static bool go_on(drape_solver *solver, journey *j) {
    drape_reason reason = j->now.result.reason;
    bool at_limit = !j->status && reason == DRAPE_ITERATION_LIMIT;
    int32_t next;
    if (j->steps == DRAPE_MOST_FALLBACKS) return false;
    if (!j->status && (reason == DRAPE_CONVERGED || reason == DRAPE_INTERRUPTED)) return false;
    j->slow = at_limit && j->now.limit + j->sum.iterations < solver->settings.max_iterations;
    if (at_limit && !j->slow) return false;
    if (!j->status && reason == DRAPE_UNSYMMETRIC) return turn_to_bicgstab(solver, j);
    if (!solver->auto_precond) return false;
    next = j->slow ? faster_than(solver, j) : next_of(j->now.seat, j->status ? DRAPE_SINGULAR : reason);
    if (next < 0 || j->given_up[next]) return false;
    give_up(solver, j, j->slow ? "slow" : j->status ? "no memory" : drape_reason_name(reason));
    j->now.seat = next;
    return true;
}

/* What there is to learn for the next solve. */
static void learn(drape_solver *solver, const journey *j) {
    const drape_i_try *t = &j->now;
    if (!solver->auto_precond || t->method->unsymmetric || t->result.reason != DRAPE_CONVERGED) return;
    for (int32_t k = 0; k < DRAPE_I_CANDIDATES; k++)
        if (j->given_up[k]) drape_i_choice_dismiss(&solver->choice, k);
    if (t->seat < DRAPE_I_CANDIDATES) drape_i_choice_learn(&solver->choice, t->seat, &t->outcome);
}

static void report(const drape_solver *solver, const journey *j, drape_solve_result *out) {
    *out = j->now.result;
    out->iterations += j->sum.iterations;
    out->bytes_moved += j->sum.bytes_moved;
    out->setup_seconds += j->sum.setup_seconds;
    out->solve_seconds += j->sum.solve_seconds;
    out->bytes += solver->bytes; /* to what the method holds outside the context */
    out->constraint_force = solver->force;
    out->detail = drape_i_find_fault(solver->ctx, &j->now.problem, out->reason);
    out->fallbacks = j->steps;
    memcpy(out->fallback, j->step, sizeof out->fallback);
}

/* ---- Solving ---- */

/* To the log, where it is another than before. */
static void tell_choice(drape_solver *solver, const drape_i_try *t) {
    const drape_i_candidate *is = &solver->seat[t->seat].is;
    if (!solver->ctx->log || (solver->told_method == t->method->name && solver->told_precond == is->precond->name &&
                              solver->told_modes == is->modes))
        return;
    solver->told_method = t->method->name;
    solver->told_precond = is->precond->name;
    solver->told_modes = is->modes;
    if (is->precond == &drape_i_precond_amg)
        drape_i_log(solver->ctx, DRAPE_LOG_INFO, "solve: %s with %s (%d modes), %d rows", t->method->name,
                    is->precond->name, modes_of(t, is), t->problem.A->rows);
    else
        drape_i_log(solver->ctx, DRAPE_LOG_INFO, "solve: %s with %s, %d rows", t->method->name, is->precond->name,
                    t->problem.A->rows);
}

/* Where x is the guess as well, that is gone after the first try. */
static void keep_guess(drape_solver *solver, journey *j) {
    j->guess = j->now.problem.guess;
    if (!solver->auto_precond || j->guess != j->now.x) return;
    memcpy(solver->start, j->guess, 3 * (size_t)solver->pattern.rows * sizeof *solver->start);
    j->now.problem.guess = j->guess = solver->start;
}

/* Without unknowns there is nothing to do, and nothing to look at. */
static drape_status solve_empty(const drape_solver *solver, drape_solve_result *result) {
    const drape_i_precond *precond =
        solver->seat[solver->auto_precond ? DRAPE_I_BLOCK_DIAGONAL : DRAPE_I_NAMED].is.precond;
    if (result)
        *result = (drape_solve_result){.reason = DRAPE_CONVERGED,
                                       .residual = solver->method == &drape_i_method_direct ? -1 : 0,
                                       .energy_error = -1,
                                       .bytes = solver->bytes,
                                       .method = solver->method->name,
                                       .precond = precond->name};
    return DRAPE_OK;
}

drape_status drape_solver_solve(drape_solver *solver, const drape_problem *given, double *x,
                                drape_solve_result *result) {
    double begin = drape_i_seconds();
    if (!solver || !given) return drape_i_missing(solver ? solver->ctx : NULL, "solve", "problem");
    drape_problem stated = *given, *problem = &stated;
    int64_t bytes = solver->ctx->bytes;
    bool same = problem->same_matrix && solver->matrix_solved;
    if (!same) solver->matrix_number++;
    solver->matrix_solved = false;
    drape_status status = problem->op ? drape_i_operator_prepare(solver, problem) : DRAPE_OK;
    if (!status) status = drape_i_check_problem(solver->ctx, "solve", problem);
    if (!status && problem->A->rows > 0 && (!problem->b || !x))
        status = drape_i_missing(solver->ctx, "solve", x ? "b" : "x");
    if (!status && problem->A->rows == 0) return solve_empty(solver, result);
    if (!status) status = prepare(solver, problem->A);
    if (!status)
        status = drape_i_couplings_set(solver->ctx, problem->A->rows, &problem->couplings, &solver->couplings);
    solver->bytes += solver->ctx->bytes - bytes;
    if (status) return status;
    journey j = {.now = {.method = solver->method, .seat = DRAPE_I_NAMED, .limit = solver->settings.max_iterations}};
    j.now.problem = *problem;
    j.now.problem.same_matrix = same;
    j.now.x = x;
    keep_guess(solver, &j);
    status = choose(solver, &j.now);
    if (status) return status;
    j.sum.setup_seconds = drape_i_seconds() - begin;
    do {
        tell_choice(solver, &j.now);
        j.status = drape_i_solver_try(solver, &j.now);
    } while (go_on(solver, &j));
    if (j.status) return j.status;
    solver->used = j.now.seat;
    solver->matrix_solved = true;
    learn(solver, &j);
    if (result) report(solver, &j, result);
    return DRAPE_OK;
}

/* The columns from `first` on are not solved. */
static void leave_columns(drape_solve_result *results, int32_t first, int32_t count) {
    for (int32_t k = first; results && k < count; k++)
        results[k] = (drape_solve_result){.reason = DRAPE_INTERRUPTED, .residual = -1, .energy_error = -1};
}

drape_status drape_solver_solve_many(drape_solver *solver, const drape_problem *problem, int32_t count,
                                     const double *b, double *x, drape_solve_result *results) {
    if (!solver || !problem) return drape_i_missing(solver ? solver->ctx : NULL, "solve", "problem");
    if (count < 0) return drape_i_fail(solver->ctx, DRAPE_ERROR_ARGUMENT, "solve: %d right-hand sides", count);
    drape_problem one = *problem;
    int64_t n = problem->op ? 3 * (int64_t)problem->op->rows : problem->A ? 3 * (int64_t)problem->A->rows : 0;
    for (int32_t k = 0; k < count; k++) {
        drape_solve_result own, *result = results ? &results[k] : &own;
        one.b = b ? b + n * k : NULL;
        one.guess = problem->guess ? problem->guess + n * k : NULL;
        drape_status status = drape_solver_solve(solver, &one, x ? x + n * k : NULL, result);
        if (status) return status;
        one.same_matrix = true;
        if (result->reason == DRAPE_INTERRUPTED) {
            leave_columns(results, k + 1, count);
            return DRAPE_OK;
        }
        if (k + 1 == count) break;
        result->constraint_force = NULL; /* the next solve will use their memory */
        result->history = NULL;
        result->history_count = 0;
    }
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
    if (!solver) return 0;
    const drape_i_seat *seat = &solver->seat[solver->used];
    bool has = solver->pattern.rows >= 0 && seat->state && seat->is.precond->describe;
    return has ? seat->is.precond->describe(seat->state, -1, NULL) : 0;
}

drape_status drape_solver_level(const drape_solver *solver, int32_t index, drape_amg_level *out) {
    if (!solver || !out) return drape_i_missing(solver ? solver->ctx : NULL, "solve", "out");
    const drape_i_seat *seat = &solver->seat[solver->used];
    int32_t levels = drape_solver_levels(solver);
    *out = (drape_amg_level){0};
    if (index < 0 || index >= levels)
        return drape_i_fail(solver->ctx, DRAPE_ERROR_ARGUMENT, "solve: level %d of %d is asked for", index, levels);
    seat->is.precond->describe(seat->state, index, out);
    return DRAPE_OK;
}
