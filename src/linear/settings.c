/* settings.c: what a solver is asked for: names, checks, and what "auto" leaves open. */
#include "linear/solver.h"

#include "linear/amg/level.h"

#include <math.h>
#include <string.h>

static const double TOLERANCE = 1e-5, OMEGA = 1, THETA = 0.32;
enum { ITERATIONS = 10000, DEGREE = 2 };

/* Of the paper (2015, section 11), except for "very diagonally dominant", which it has no number for. */
static const double PAPER_THETA = 0.48, PAPER_DOMINANCE = 0.1;
enum { PAPER_MODES = 6, PAPER_LANCZOS = 10 };

/* amg.modes stays 0: "auto" may choose it. */
drape_solve_settings drape_solve_defaults(void) {
    return (drape_solve_settings){.method = DRAPE_I_AUTO,
                                  .precond = DRAPE_I_AUTO,
                                  .tol = TOLERANCE,
                                  .max_iterations = ITERATIONS,
                                  .omega = OMEGA,
                                  .amg = {.theta = THETA, .levels = DRAPE_I_AMG_LEVELS, .degree = DEGREE}};
}

/* Fields at their defaults become the recipe's. */
static void follow_recipe(drape_amg_settings *s) {
    if (s->recipe != DRAPE_RECIPE_TAMSTORF) return;
    if (s->theta == 0 || s->theta == THETA) s->theta = PAPER_THETA;
    if (s->modes == 0) s->modes = PAPER_MODES;
    if (s->lanczos == 0) s->lanczos = PAPER_LANCZOS;
    if (s->dominance == 0) s->dominance = PAPER_DOMINANCE;
    if (s->reuse == DRAPE_REUSE_EVERYTHING) s->reuse = DRAPE_REUSE_NOTHING;
    s->smoother = DRAPE_SMOOTHER_CHEBYSHEV;
    s->unfiltered = s->relax_kernel = true;
}

/* Zeros become the default. */
static void fill_in(drape_solve_settings *s) {
    const drape_solve_settings usual = drape_solve_defaults();
    follow_recipe(&s->amg);
    if (s->tol == 0) s->tol = usual.tol;
    if (s->max_iterations == 0) s->max_iterations = usual.max_iterations;
    if (s->omega == 0) s->omega = usual.omega;
    if (s->amg.theta == 0) s->amg.theta = usual.amg.theta;
    if (s->amg.levels == 0) s->amg.levels = usual.amg.levels;
    if (s->amg.degree == 0) s->amg.degree = usual.amg.degree;
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
    case DRAPE_INTERRUPTED: return "interrupted";
    }
    return NULL;
}

const char *drape_stop_name(drape_stop stop) {
    switch (stop) {
    case DRAPE_STOP_PRECONDITIONED: return "preconditioned";
    case DRAPE_STOP_RESIDUAL: return "residual";
    case DRAPE_STOP_ENERGY: return "energy";
    }
    return NULL;
}

const char *drape_reuse_name(drape_reuse reuse) {
    switch (reuse) {
    case DRAPE_REUSE_EVERYTHING: return "everything";
    case DRAPE_REUSE_PATTERNS: return "patterns";
    case DRAPE_REUSE_NOTHING: return "nothing";
    }
    return NULL;
}

const char *drape_smoother_name(drape_smoother smoother) {
    switch (smoother) {
    case DRAPE_SMOOTHER_GAUSS_SEIDEL: return "gauss-seidel";
    case DRAPE_SMOOTHER_CHEBYSHEV: return "chebyshev";
    }
    return NULL;
}

const char *drape_cycle_name(drape_cycle cycle) {
    switch (cycle) {
    case DRAPE_CYCLE_V: return "v";
    case DRAPE_CYCLE_W: return "w";
    }
    return NULL;
}

const char *drape_recipe_name(drape_recipe recipe) {
    switch (recipe) {
    case DRAPE_RECIPE_DRAPE: return "drape";
    case DRAPE_RECIPE_TAMSTORF: return "tamstorf";
    }
    return NULL;
}

/* ---- Names ---- */

static bool is_auto(const char *name) { return !name || strcmp(name, DRAPE_I_AUTO) == 0; }

/* Of "auto": PPCG, but where the preconditioner that was named is for BiCGStab only. */
static const drape_i_method *method_to_begin_with(const drape_i_precond *named) {
    bool takes = !named || drape_i_method_takes(&drape_i_method_ppcg, named);
    return takes ? &drape_i_method_ppcg : &drape_i_method_bicgstab;
}

enum { KNOWN_SIZE = 400 };

static drape_status find_names(drape_solver *solver, const drape_solve_settings *s) {
    drape_context *ctx = solver->ctx;
    const drape_i_precond *named = is_auto(s->precond) ? NULL : drape_i_precond_find(s->precond);
    char known[KNOWN_SIZE];
    if (!is_auto(s->precond) && !named) {
        drape_i_list_names(DRAPE_I_AUTO, drape_precond_name, known, sizeof known);
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: unknown preconditioner \"%s\"; known: %s", s->precond,
                            known);
    }
    solver->auto_method = is_auto(s->method);
    solver->method = solver->auto_method ? method_to_begin_with(named) : drape_i_method_find(s->method);
    if (!solver->method) {
        drape_i_list_names(DRAPE_I_AUTO, drape_method_name, known, sizeof known);
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: unknown method \"%s\"; known: %s", s->method, known);
    }
    const char *usual = drape_method_default_precond(solver->method->name);
    solver->auto_precond = !named && is_auto(usual);
    if (!named && !solver->auto_precond) named = drape_i_precond_find(usual);
    if (named && !drape_i_method_takes(solver->method, named))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "solve: the method %s cannot be used with the preconditioner %s", solver->method->name,
                            named->name);
    drape_i_choice_begin(&solver->choice, 0, 0);
    for (int32_t k = 0; k < DRAPE_I_SLOTS; k++) solver->slot[k] = (drape_i_slot){0};
    for (int32_t k = 0; k < solver->choice.known; k++) solver->slot[k].is = solver->choice.candidate[k];
    solver->slot[DRAPE_I_NAMED].is =
        (drape_i_candidate){named, named && named->variant_of ? named->variant_of(s) : 0};
    solver->slot[DRAPE_I_GIVEN].is = (drape_i_candidate){&drape_i_precond_given, 0};
    solver->takes_operator = is_auto(s->precond) || (named && strcmp(named->name, "none") == 0);
    return DRAPE_OK;
}

static drape_status check_numbers(drape_context *ctx, const drape_solve_settings *s, const drape_i_method *method) {
    if (!(s->tol > 0 && s->tol < 1))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: tol is %g; it must lie between 0 and 1", s->tol);
    if (s->max_iterations < 1)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: max_iterations is %d; it must be 1 or more",
                            s->max_iterations);
    if (!drape_stop_name(s->stop))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: stop is %d, which is not a known value", (int)s->stop);
    if (s->stop == DRAPE_STOP_ENERGY && method->unsymmetric)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: the method %s has no energy norm to stop on",
                            method->name);
    if (method == &drape_i_method_direct && !s->direct)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "solve: the method direct needs a direct solver (drape/cholmod.h); set settings.direct");
    if (!(s->floor >= 0) || !isfinite(s->floor))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: floor is %g; it must be 0 or more", s->floor);
    if (s->recall < 0 || s->recall > DRAPE_I_RECALL)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: recall is %d; it must lie in 0..%d", s->recall,
                            DRAPE_I_RECALL);
    if (s->history < 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "solve: history is %d; it must be 0 or more", s->history);
    return DRAPE_OK;
}

static drape_status check_preconditioners(drape_context *ctx, const drape_solve_settings *s) {
    const drape_i_precond *precond;
    for (int32_t i = 0; (precond = drape_i_precond_at(i)); i++) {
        drape_status status = precond->check ? precond->check(ctx, s) : DRAPE_OK;
        if (status) return status;
    }
    return DRAPE_OK;
}

static drape_status check_tune(const drape_solver *solver, const drape_solve_settings *s) {
    if (s->tune < DRAPE_TUNE_OFF || s->tune > DRAPE_TUNE_MANY)
        return drape_i_fail(solver->ctx, DRAPE_ERROR_ARGUMENT, "solve: tune is %d, which is not a known value",
                            (int)s->tune);
    if (s->tune && !solver->auto_precond)
        return drape_i_fail(solver->ctx, DRAPE_ERROR_ARGUMENT,
                            "solve: there is nothing to tune, because the preconditioner is %s; set it to \"auto\"",
                            solver->slot[DRAPE_I_NAMED].is.precond->name);
    return DRAPE_OK;
}

drape_status drape_i_settings_resolve(drape_context *ctx, drape_solve_settings *s) {
    drape_status status = drape_i_check_reserved(ctx, "drape_solve_settings", s->reserved, 7);
    if (!status) status = drape_i_check_reserved(ctx, "drape_amg_settings", s->amg.reserved, 2);
    if (status) return status;
    fill_in(s);
    return check_preconditioners(ctx, s);
}

drape_status drape_i_solver_resolve(drape_solver *solver, const drape_solve_settings *settings) {
    drape_solve_settings s = *settings;
    drape_status status = drape_i_settings_resolve(solver->ctx, &s);
    if (!status) status = find_names(solver, &s);
    if (!status) status = check_numbers(solver->ctx, &s, solver->method);
    if (!status) status = check_tune(solver, &s);
    if (status) return status;
    s.method = solver->auto_method ? DRAPE_I_AUTO : solver->method->name;
    s.precond = solver->auto_precond ? DRAPE_I_AUTO : solver->slot[DRAPE_I_NAMED].is.precond->name;
    solver->settings = s;
    return DRAPE_OK;
}
