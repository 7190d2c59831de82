/* solver.c: from a problem to x: memory, what to take, a try, and another one where that fails. */
#include "linear/solver.h"

#include "base/parallel.h"
#include "base/timer.h"
#include "linear/matrix_estimate.h"

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
    solver->rows = solver->pattern.rows = solver->turned.rows = -1;
    drape_status status = drape_i_solver_resolve(solver, settings ? settings : &usual);
    if (status) DRAPE_FREE(ctx, solver, 1);
    else *out = solver;
    return status;
}

/* ---- Memory ---- */

void drape_i_solver_leave(drape_solver *solver, int32_t index) {
    drape_i_slot *slot = &solver->slot[index];
    if (slot->state) slot->is.precond->destroy(solver->ctx, slot->state);
    slot->state = NULL;
    slot->ready = false;
    if (index < DRAPE_I_MOST_CANDIDATES) solver->choice.built[index] = false;
}

/* What was made for a pattern. */
static void release_pattern(drape_solver *solver) {
    for (int32_t k = 0; k < DRAPE_I_SLOTS; k++) drape_i_solver_leave(solver, k);
    if (solver->method_state) solver->method->destroy(solver->ctx, solver->method_state);
    solver->method_state = NULL;
    solver->pattern.rows = -1;
}

/* What was made for a number of rows. */
static void release_rows(drape_solver *solver) {
    drape_context *ctx = solver->ctx;
    int64_t n = 3 * (int64_t)solver->rows;
    if (solver->rows < 0) return;
    for (int32_t i = 0; i < solver->vectors; i++) DRAPE_FREE(ctx, solver->work[i], n);
    DRAPE_FREE(ctx, solver->start, n);
    DRAPE_FREE(ctx, solver->force, n);
    DRAPE_FREE(ctx, solver->recall, n);
    for (int32_t i = 0; i < DRAPE_I_RECALL; i++) DRAPE_FREE(ctx, solver->earlier[i], n);
    memset(solver->earlier, 0, sizeof solver->earlier);
    solver->recall = NULL;
    solver->recalled = 0;
    DRAPE_FREE(ctx, solver->stopping.history, solver->stopping.capacity);
    drape_i_couplings_free(ctx, &solver->couplings);
    memset(solver->work, 0, sizeof solver->work);
    solver->vectors = 0;
    solver->force = solver->start = NULL;
    solver->stopping.history = NULL;
    solver->rows = -1;
}

void drape_solver_destroy(drape_solver *solver) {
    if (!solver) return;
    release_pattern(solver);
    release_rows(solver);
    drape_i_operator_release(solver);
    drape_i_turned_free(solver->ctx, &solver->turned);
    DRAPE_FREE(solver->ctx, solver, 1);
}

enum { VECTOR_GRAIN = 4096 };

static void clear_chunk(void *data, int64_t begin, int64_t end) {
    memset((double *)data + begin, 0, (size_t)(end - begin) * sizeof(double));
}

/* Touched first by the threads that will work on it. */
static drape_status take_vector(drape_solver *solver, double **out) {
    int64_t n = 3 * (int64_t)solver->rows;
    if (!DRAPE_NEW_RAW(solver->ctx, *out, n)) return DRAPE_ERROR_MEMORY;
    drape_i_loop(solver->ctx, n, VECTOR_GRAIN, clear_chunk, *out);
    return DRAPE_OK;
}

static drape_status take_vectors(drape_solver *solver, int32_t count) {
    for (; solver->vectors < count; solver->vectors++)
        if (take_vector(solver, &solver->work[solver->vectors])) return DRAPE_ERROR_MEMORY;
    return DRAPE_OK;
}

/* Variants of one preconditioner are never kept side by side: they may be large. */
static drape_status take_slot(drape_solver *solver, int32_t index, const drape_bsr3 *A) {
    drape_i_slot *slot = &solver->slot[index];
    const drape_i_precond *precond = slot->is.precond;
    drape_solve_settings want = solver->settings;
    if (slot->state) return DRAPE_OK;
    for (int32_t k = 0; k < solver->choice.known; k++)
        if (k != index && solver->slot[k].is.precond == precond) drape_i_solver_leave(solver, k);
    if (index != DRAPE_I_NAMED && precond->select) precond->select(slot->is.variant, &want);
    return precond->create(solver->ctx, A, &want, &slot->state);
}

static drape_status allocate_rows(drape_solver *solver) {
    const drape_solve_settings *want = &solver->settings;
    int32_t most = want->max_iterations < INT32_MAX ? want->max_iterations + 1 : INT32_MAX;
    if (take_vectors(solver, solver->method->vectors)) return DRAPE_ERROR_MEMORY;
    if (solver->auto_precond && take_vector(solver, &solver->start)) return DRAPE_ERROR_MEMORY;
    if (take_vector(solver, &solver->force)) return DRAPE_ERROR_MEMORY;
    if (want->recall > 0 && take_vector(solver, &solver->recall)) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < want->recall; i++)
        if (take_vector(solver, &solver->earlier[i])) return DRAPE_ERROR_MEMORY;
    solver->stopping.capacity = want->history < most ? want->history : most;
    bool good = DRAPE_NEW(solver->ctx, solver->stopping.history, solver->stopping.capacity);
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

static int32_t slot_to_begin_with(const drape_solver *solver) {
    return solver->auto_precond ? solver->choice.plain : DRAPE_I_NAMED;
}

static drape_status allocate_pattern(drape_solver *solver, const drape_bsr3 *A) {
    /* Where the solver chooses, the plain one may be tried at any time, also when nothing is to be allocated. */
    drape_status status = take_slot(solver, slot_to_begin_with(solver), A);
    if (!status && solver->method->create)
        status = solver->method->create(solver->ctx, A, &solver->settings, &solver->method_state);
    return status;
}

/* As one that has solved nothing yet. */
static void begin_history(drape_solver *solver, double pass) {
    drape_i_choice_begin(&solver->choice, pass, solver->settings.tol);
    solver->unsymmetric = false;
}

/* Work vectors, forces and a direct solver's analysis stay: they hold nothing of the solves before. */
void drape_solver_forget(drape_solver *solver) {
    if (!solver || solver->pattern.rows < 0) return;
    int64_t bytes = solver->ctx->bytes;
    for (int32_t k = 0; k < DRAPE_I_SLOTS; k++) drape_i_solver_leave(solver, k);
    begin_history(solver, solver->choice.pass);
    solver->used = slot_to_begin_with(solver);
    solver->fixed = -1;
    solver->recalled = 0;
    solver->matrix_solved = false;
    solver->bytes += solver->ctx->bytes - bytes;
}

static drape_status prepare_rows(drape_solver *solver, const drape_bsr3 *A) {
    if (A->rows == solver->rows) {
        drape_i_choice_move(&solver->choice, drape_i_pass(A));
        return DRAPE_OK;
    }
    release_rows(solver);
    begin_history(solver, drape_i_pass(A));
    solver->rows = A->rows;
    drape_status status = allocate_rows(solver);
    if (status) release_rows(solver);
    return status;
}

/* Everything is kept as long as that stays which it depends on. */
static drape_status prepare(drape_solver *solver, const drape_bsr3 *A) {
    drape_context *ctx = solver->ctx;
    if (drape_i_pattern_is(ctx, A, &solver->pattern)) return DRAPE_OK;
    release_pattern(solver);
    drape_status status = drape_bsr3_check(ctx, A);
    if (!status && (solver->auto_method || !solver->method->unsymmetric))
        status = drape_i_check_halves(ctx, "solve", A);
    if (!status) status = prepare_rows(solver, A);
    if (status) return status;
    solver->pattern = drape_i_pattern_key_of(ctx, A);
    solver->tuned = solver->settings.tune ? -1 : 0;
    solver->used = slot_to_begin_with(solver);
    solver->fixed = -1;
    status = allocate_pattern(solver, A);
    if (!status) return DRAPE_OK;
    release_pattern(solver); /* when memory runs out, all of it is freed */
    release_rows(solver);
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
static drape_status refresh(const drape_solver *solver, drape_i_slot *slot, const drape_i_try *t,
                            drape_i_outcome *outcome) {
    const drape_i_precond *precond = slot->is.precond;
    const drape_constraints *set = t->method->prefiltered ? t->problem.constraints : NULL;
    outcome->prepared = DRAPE_I_KEPT;
    outcome->setup = 0;
    outcome->spared = t->problem.same_matrix && slot->ready && slot->made_for == solver->matrix_number &&
                      slot->set == set && t->slot != DRAPE_I_GIVEN;
    if (outcome->spared) return DRAPE_OK;
    slot->shift = 0;
    drape_problem problem = t->problem;
    problem.released &= slot->ready && slot->set == set && t->slot == solver->used; /* it knows the last solve */
    drape_status status = precond->refresh(solver->ctx, slot->state, &problem, set, &solver->couplings, &slot->shift);
    if (status) return status;
    if (precond->prepared) outcome->prepared = precond->prepared(slot->state);
    else outcome->prepared = slot->ready ? DRAPE_I_REFRESHED : DRAPE_I_BUILT;
    outcome->setup = drape_i_setup_bytes(&slot->is, outcome->prepared, solver->choice.pass);
    slot->made_for = outcome->prepared == DRAPE_I_KEPT ? -1 : solver->matrix_number;
    slot->set = set;
    slot->ready = true;
    return DRAPE_OK;
}

/* Memory and values of the preconditioner; a slot that fails in it is left. */
static drape_status set_up(drape_solver *solver, drape_i_try *t) {
    drape_i_slot *slot = &solver->slot[t->slot];
    drape_status status = take_vectors(solver, t->method->vectors);
    if (!status) status = take_slot(solver, t->slot, t->problem.A);
    if (!status) status = refresh(solver, slot, t, &t->outcome);
    if (status) {
        if (t->slot != DRAPE_I_NAMED) drape_i_solver_leave(solver, t->slot);
        return status;
    }
    t->result.shift = slot->shift;
    if (slot->is.precond->modes) t->result.modes = slot->is.precond->modes(slot->state);
    return DRAPE_OK;
}

static drape_status run(drape_solver *solver, drape_i_try *t) {
    const drape_i_slot *slot = &solver->slot[t->slot];
    drape_solve_settings settings = solver->settings;
    settings.max_iterations = t->limit;
    if (t->problem.tol > 0) settings.tol = t->problem.tol;
    drape_i_solve s = {.ctx = solver->ctx,
                       .problem = &t->problem,
                       .couplings = &solver->couplings,
                       .settings = &settings,
                       .precond = slot->is.precond,
                       .precond_state = slot->state,
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
    if (slot->is.precond->learn) slot->is.precond->learn(slot->state, t->result.iterations);
    return DRAPE_OK;
}

drape_status drape_i_solver_try(drape_solver *solver, drape_i_try *t) {
    const drape_i_candidate *is = &solver->slot[t->slot].is;
    double begin = drape_i_seconds();
    int64_t bytes = solver->ctx->bytes;
    t->result = (drape_solve_result){.method = t->method->name, .precond = is->precond->name};
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
    const drape_i_precond *named = solver->slot[DRAPE_I_NAMED].is.precond;
    return solver->auto_method && solver->settings.stop != DRAPE_STOP_ENERGY &&
           (!named || drape_i_method_takes(&drape_i_method_bicgstab, named));
}

static void find_candidates(const drape_solver *solver, const drape_i_try *t, bool may[DRAPE_I_MOST_CANDIDATES]) {
    const drape_i_choice *c = &solver->choice;
    for (int32_t k = 0; k < c->count; k++) {
        const drape_i_candidate *is = &c->candidate[k];
        may[k] = drape_i_method_takes(t->method, is->precond) &&
                 (!is->precond->suits || is->precond->suits(is->variant, &solver->settings, &t->problem));
    }
}

/* The depth takes a walk over the whole pattern: only where it may matter, which it does not where the plain
 * candidate is the best even if nothing were held. */
static void look(drape_solver *solver, const drape_problem *p, const bool may[DRAPE_I_MOST_CANDIDATES]) {
    drape_i_choice *c = &solver->choice;
    c->stiffness = drape_i_stiffness(p->A, &solver->couplings);
    if (solver->fixed < 0 && drape_i_choose_once(c, may) == c->plain) return;
    int32_t fixed = drape_i_count_fixed(p->constraints);
    if (solver->fixed >= 0 && 100 * (int64_t)abs(fixed - solver->fixed) <= CHANGED * (int64_t)solver->fixed) return;
    solver->fixed = fixed;
    c->depth = drape_i_depth(p->A, p->constraints, (int32_t *)solver->work[0]); /* which is free now */
}

static int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }

/* What to begin with. */
static drape_status choose(drape_solver *solver, drape_i_try *t) {
    const drape_problem *p = &t->problem;
    bool may[DRAPE_I_MOST_CANDIDATES];
    if (p->op) {
        t->slot = DRAPE_I_GIVEN;
        return DRAPE_OK;
    }
    if (bicgstab_goes(solver) && (solver->unsymmetric || !drape_i_looks_symmetric(p->A)))
        t->method = &drape_i_method_bicgstab;
    if (!solver->auto_precond) return DRAPE_OK;
    if (p->released && solver->slot[solver->used].ready) { /* the rest of the last solve, as it were */
        t->slot = solver->used;
        return DRAPE_OK;
    }
    find_candidates(solver, t, may);
    if (solver->tuned < 0) {
        drape_status status = drape_i_solver_tune(solver, t, may);
        if (status) return status;
    }
    if (solver->tuned > 0 && may[solver->fastest]) {
        t->slot = solver->fastest;
        return DRAPE_OK;
    }
    t->slot = solver->choice.plain;
    if (p->A->rows < TINY || t->method->unsymmetric) return DRAPE_OK;
    solver->choice.tol = p->tol > 0 ? p->tol : solver->settings.tol;
    look(solver, p, may);
    t->slot = drape_i_choose(&solver->choice, may);
    t->limit = least(t->limit, drape_i_patience_for(&solver->choice, t->slot, may));
    return DRAPE_OK;
}

/* ---- When it fails ---- */

/* The tries of one solve, one candidate after the other. */
typedef struct path {
    drape_i_try now;
    drape_status status;
    const double *guess;                /* to start from again */
    bool given_up[DRAPE_I_SLOTS], slow; /* slow: only because of the limit that was set here */
    int32_t steps;
    drape_fallback step[DRAPE_MOST_FALLBACKS];
    drape_solve_result sum; /* iterations, bytes, seconds of those that were given up */
} path;

/* The one after this, where the fault may lie with the preconditioner; -1: none. Where one that is certain to be
 * positive definite meets p'Ap <= 0, A is not. */
static int32_t next_of(const drape_solver *solver, int32_t slot, drape_reason reason) {
    bool certain = solver->slot[slot].is.precond->certain;
    return certain && reason == DRAPE_INDEFINITE ? -1 : drape_i_choice_fallback(&solver->choice, slot);
}

/* If it took far longer than estimated. */
static int32_t faster_than(const drape_solver *solver, const path *j) {
    const drape_i_choice *c = &solver->choice;
    const drape_i_candidate *now = &c->candidate[j->now.slot];
    bool may[DRAPE_I_MOST_CANDIDATES];
    if (now->precond->variant[now->variant].most > 0) return c->plain; /* more than it should ever take */
    find_candidates(solver, &j->now, may);
    for (int32_t k = 0; k < c->count; k++) may[k] &= !j->given_up[k] && k != j->now.slot;
    int32_t best = drape_i_choose_once(c, may);
    return best >= 0 ? best : c->plain;
}

static void give_up(drape_solver *solver, path *j, const char *why) {
    const drape_solve_result *r = &j->now.result;
    drape_i_log(solver->ctx, DRAPE_LOG_INFO, "solve: %s with %s was abandoned after %d iterations: %s", r->method,
                r->precond, r->iterations, why);
    j->step[j->steps++] =
        (drape_fallback){.method = r->method, .precond = r->precond, .why = why, .iterations = r->iterations};
    j->given_up[j->now.slot] = !j->slow;
    j->sum.iterations += r->iterations;
    j->sum.bytes_moved += r->bytes_moved;
    j->sum.setup_seconds += r->setup_seconds;
    j->sum.solve_seconds += r->solve_seconds;
    if (j->slow) drape_i_choice_learn_slow(&solver->choice, j->now.slot, &j->now.outcome);
    j->now.problem.guess = j->slow ? j->now.x : j->guess;
    j->now.limit = solver->settings.max_iterations - j->sum.iterations;
}

static bool turn_to_bicgstab(drape_solver *solver, path *j) {
    if (j->now.result.reason != DRAPE_UNSYMMETRIC || !bicgstab_goes(solver)) return false;
    give_up(solver, j, drape_reason_name(DRAPE_UNSYMMETRIC));
    memset(j->given_up, 0, sizeof j->given_up);
    solver->unsymmetric = true;
    j->now.method = &drape_i_method_bicgstab;
    j->now.limit = solver->settings.max_iterations; /* the work so far is lost */
    if (solver->auto_precond) j->now.slot = solver->choice.plain;
    return true;
}

/* Whether there is something else to try, and what. */
static bool go_on(drape_solver *solver, path *j) {
    drape_reason reason = j->now.result.reason;
    bool at_limit = !j->status && reason == DRAPE_ITERATION_LIMIT;
    int32_t next;
    if (j->steps == DRAPE_MOST_FALLBACKS) return false;
    if (!j->status && (reason == DRAPE_CONVERGED || reason == DRAPE_INTERRUPTED)) return false;
    j->slow = at_limit && j->now.limit + j->sum.iterations < solver->settings.max_iterations;
    if (at_limit && !j->slow) return false;
    if (!j->status && reason == DRAPE_UNSYMMETRIC) return turn_to_bicgstab(solver, j);
    if (!solver->auto_precond || j->now.slot == DRAPE_I_GIVEN) return false;
    next = j->slow ? faster_than(solver, j) : next_of(solver, j->now.slot, j->status ? DRAPE_SINGULAR : reason);
    if (next >= 0 && j->now.slot == solver->choice.trial) next = solver->choice.now;
    if (next < 0 || j->given_up[next]) return false;
    give_up(solver, j, j->slow ? "slow" : j->status ? "no memory" : drape_reason_name(reason));
    j->now.slot = next;
    return true;
}

/* What there is to learn for the next solve. */
static void learn(drape_solver *solver, const path *j) {
    const drape_i_try *t = &j->now;
    if (!solver->auto_precond || t->method->unsymmetric || t->result.reason != DRAPE_CONVERGED) return;
    if (t->problem.released) return;
    for (int32_t k = 0; k < solver->choice.count; k++)
        if (j->given_up[k]) drape_i_choice_dismiss(&solver->choice, k);
    if (t->slot < solver->choice.count) drape_i_choice_learn(&solver->choice, t->slot, &t->outcome);
}

static void report(const drape_solver *solver, const path *j, drape_solve_result *out) {
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
    const drape_i_candidate *is = &solver->slot[t->slot].is;
    int32_t modes = is->precond->variant[is->variant].modes;
    if (!solver->ctx->log || (solver->told_method == t->method->name && solver->told_precond == is->precond->name &&
                              solver->told_modes == modes))
        return;
    solver->told_method = t->method->name;
    solver->told_precond = is->precond->name;
    solver->told_modes = modes;
    if (modes > 0)
        drape_i_log(solver->ctx, DRAPE_LOG_INFO, "solve: %s with %s (%d modes), %d rows", t->method->name,
                    is->precond->name, t->problem.near_kernel ? t->problem.near_kernel_count : modes,
                    t->problem.A->rows);
    else
        drape_i_log(solver->ctx, DRAPE_LOG_INFO, "solve: %s with %s, %d rows", t->method->name, is->precond->name,
                    t->problem.A->rows);
}

/* Where x is the guess as well, that is gone after the first try. */
static void keep_guess(drape_solver *solver, path *j) {
    j->guess = j->now.problem.guess;
    if (!solver->auto_precond || j->guess != j->now.x) return;
    memcpy(solver->start, j->guess, 3 * (size_t)solver->rows * sizeof *solver->start);
    j->now.problem.guess = j->guess = solver->start;
}

/* Without unknowns there is nothing to do, and nothing to look at. */
static drape_status solve_empty(const drape_solver *solver, drape_solve_result *result) {
    const drape_i_precond *precond =
        solver->slot[solver->auto_precond ? solver->choice.plain : DRAPE_I_NAMED].is.precond;
    if (result)
        *result = (drape_solve_result){.reason = DRAPE_CONVERGED,
                                       .residual = solver->method == &drape_i_method_direct ? -1 : 0,
                                       .energy_error = -1,
                                       .bytes = solver->bytes,
                                       .method = solver->method->name,
                                       .precond = precond->name};
    return DRAPE_OK;
}

/* A problem whose constraints have no groups. */
static drape_status solve_plain(drape_solver *solver, const drape_problem *given, double *x,
                                drape_solve_result *result) {
    double begin = drape_i_seconds();
    drape_problem stated = *given, *problem = &stated;
    int64_t bytes = solver->ctx->bytes;
    bool same = problem->same_matrix && solver->matrix_solved;
    problem->released &= solver->matrix_solved;
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
    path j = {.now = {.method = solver->method, .slot = DRAPE_I_NAMED, .limit = solver->settings.max_iterations}};
    j.now.problem = *problem;
    j.now.problem.same_matrix = same;
    j.now.x = x;
    if (!solver->method->unsymmetric && solver->method != &drape_i_method_direct)
        drape_i_recall(solver, &j.now.problem, &j.sum);
    keep_guess(solver, &j);
    status = choose(solver, &j.now);
    if (status) return status;
    j.sum.setup_seconds = drape_i_seconds() - begin;
    do {
        tell_choice(solver, &j.now);
        j.status = drape_i_solver_try(solver, &j.now);
    } while (go_on(solver, &j));
    if (j.status) return j.status;
    solver->used = j.now.slot;
    solver->matrix_solved = true;
    learn(solver, &j);
    if (j.now.result.reason == DRAPE_CONVERGED) drape_i_remember(solver, x, problem->released);
    if (result) report(solver, &j, result);
    return DRAPE_OK;
}

/* What the turned problem would be asked for later, and A's rows, which must fit the groups. */
static drape_status check_coupled(const drape_solver *solver, const drape_problem *given, const double *x) {
    drape_context *ctx = solver->ctx;
    if (given->op && given->op->rows != given->constraints->vertices)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: constraints for %d vertices, an operator of %d rows",
                            given->constraints->vertices, given->op->rows);
    if (given->op && !given->op->multiply) return drape_i_missing(ctx, "solve", "multiply of the operator");
    drape_status status = given->op ? DRAPE_OK : drape_i_check_problem(ctx, "solve", given);
    if (!status && (!given->b || !x)) status = drape_i_missing(ctx, "solve", x ? "b" : "x");
    return status;
}

/* With equalities the solve is one for turned unknowns (turned.h). */
static drape_status solve_coupled(drape_solver *solver, const drape_problem *given, double *x,
                                  drape_solve_result *result) {
    drape_i_turned *t = &solver->turned;
    drape_solve_result own;
    int64_t bytes = solver->ctx->bytes;
    drape_status status = check_coupled(solver, given, x);
    bool keep = given->same_matrix && solver->matrix_solved && t->G == given->constraints->groups;
    if (!status) status = drape_i_turned_pose(solver->ctx, given, keep, true, t);
    t->problem.released = false; /* less that is held turns other unknowns */
    solver->bytes += solver->ctx->bytes - bytes;
    if (status) solver->matrix_solved = false;
    if (!status) status = solve_plain(solver, &t->problem, t->y, &own);
    if (status) return status;
    drape_i_turned_finish(solver->ctx, given, t, x, solver->force);
    if (result) *result = own;
    return DRAPE_OK;
}

drape_status drape_solver_solve(drape_solver *solver, const drape_problem *given, double *x,
                                drape_solve_result *result) {
    if (!solver || !given) return drape_i_missing(solver ? solver->ctx : NULL, "solve", "problem");
    if (drape_i_any_groups(given->constraints)) return solve_coupled(solver, given, x, result);
    return solve_plain(solver, given, x, result);
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
    const drape_i_slot *slot = &solver->slot[solver->used];
    bool has = solver->pattern.rows >= 0 && slot->state && slot->is.precond->describe;
    return has ? slot->is.precond->describe(slot->state, -1, NULL) : 0;
}

drape_status drape_solver_level(const drape_solver *solver, int32_t index, drape_amg_level *out) {
    if (!solver || !out) return drape_i_missing(solver ? solver->ctx : NULL, "solve", "out");
    const drape_i_slot *slot = &solver->slot[solver->used];
    int32_t levels = drape_solver_levels(solver);
    *out = (drape_amg_level){0};
    if (index < 0 || index >= levels)
        return drape_i_fail(solver->ctx, DRAPE_ERROR_ARGUMENT, "solve: level %d of %d does not exist", index, levels);
    slot->is.precond->describe(slot->state, index, out);
    return DRAPE_OK;
}
