/* amg_race.c: what multigrid gains over the block diagonal on one system and on the steps that follow.
 *
 * - Once: a solver is made, gets its memory, is set up, and solves one system.
 * - Running: a solver is kept for 20 consecutive steps of the animation. The mean step counts, the first with all
 *   of its set-up among them; the mean of the others stands beside it.
 * - At equal energy error: the preconditioned residual is another norm for each preconditioner. So the block diagonal
 *   is run on until its true energy error is that of the faster amg, and both are timed once more, in turn.
 *
 * In each step all contestants solve the same system, one after the other, before the sheet moves on; so no matrix
 * but the current one need be kept, and whatever disturbs the machine disturbs all. */
#include "amg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 50000 /* vertices */, PATIENCE = 100000 /* iterations */ };

static const double NEVER = 1e-15; /* a tolerance that is not met */

static const struct contestant {
    const char *name, *precond;
    int32_t modes;
} contestants[RACERS] = {
    {"block_diagonal", "block_diagonal", 0}, {"amg, 3 modes", "amg", 3}, {"amg, 6 modes", "amg", 6}};

/* What is measured of a contestant, before it is made medians of. */
typedef struct lane {
    int32_t index;
    drape_solver *solver;              /* while it runs */
    double once[RACE_MOST_REPEATS];    /* s */
    double setup[RACE_MOST_REPEATS];   /* s, of these */
    double running[RACE_MOST_REPEATS]; /* s, the mean of a step */
    double later[RACE_MOST_REPEATS];   /* s, the mean of a step but the first */
    double step[RACE_STEPS];           /* s, of the run at work; -1: left out */
    int64_t iterations, solves;        /* of all runs */
    drape_solve_result first;
    double error;
    int32_t failures;
} lane;

const char *race_name(int32_t r) { return contestants[r].name; }

/* ---- Solving ---- */

static drape_solve_settings settings_of(int32_t r, double tol, int32_t most) {
    drape_solve_settings settings = drape_solve_defaults();
    settings.precond = contestants[r].precond;
    settings.amg.modes = contestants[r].modes;
    settings.tol = tol;
    settings.max_iterations = most;
    return settings;
}

drape_solver *race_solver(drape_context *ctx, int32_t r, double tol, int32_t most) {
    drape_solve_settings settings = settings_of(r, tol, most);
    drape_solver *solver;
    bench_check(ctx, drape_solver_create(ctx, &settings, &solver));
    return solver;
}

static drape_solve_result solve(bench_system *s, drape_solver *solver, double *x) {
    drape_solve_result result;
    bench_check(s->ctx, drape_solver_solve(solver, &s->problem, x, &result));
    return result;
}

static drape_solve_result solve_in(bench_system *s, lane *l, drape_solver *solver, double *x) {
    drape_solve_result result = solve(s, solver, x);
    l->failures += result.reason != DRAPE_CONVERGED;
    return result;
}

/* By the block diagonal, which has no part in what is measured; on large sheets that would take minutes. */
static void solve_exactly(bench_system *s, double *exact) {
    drape_solver *solver = race_solver(s->ctx, s->A.rows > LARGE ? RACE_SIX : RACE_BASE, 1e-11, PATIENCE);
    drape_solve_result result = solve(s, solver, exact);
    if (result.reason != DRAPE_CONVERGED)
        printf("  the solution to compare with: %s, true residual %.1e\n", drape_reason_name(result.reason),
               result.true_residual);
    drape_solver_destroy(solver);
}

/* Of x against the exact solution, relative, in the energy norm. x is lost. */
static double error_of(bench_system *s, const double *exact, double *x, double *w) {
    for (int64_t i = 0; i < bench_system_length(s); i++) x[i] -= exact[i];
    return bench_energy_norm(s, x, w) / bench_energy_norm(s, exact, w);
}

/* ---- Once ---- */

/* Seconds of a new solver's life. */
static double solve_once(bench_system *s, int32_t r, double tol, int32_t most, double *x,
                         drape_solve_result *result) {
    bench_rest();
    double begin = bench_seconds();
    drape_solver *solver = race_solver(s->ctx, r, tol, most);
    *result = solve(s, solver, x);
    double seconds = bench_seconds() - begin;
    drape_solver_destroy(solver);
    return seconds;
}

static void run_once(bench_system *s, lane *l, int32_t repeat, double *x) {
    l->once[repeat] = solve_once(s, l->index, RACE_TOLERANCE, PATIENCE, x, &l->first);
    l->setup[repeat] = l->first.setup_seconds;
    l->failures += l->first.reason != DRAPE_CONVERGED;
}

/* exact NULL: no errors */
static void run_all_once(bench_system *s, lane lanes[RACERS], int32_t repeats, const double *exact) {
    double *x = bench_vector(bench_system_length(s)), *w = bench_vector(bench_system_length(s));
    for (int32_t i = 0; i < repeats; i++)
        for (int32_t k = 0; k < RACERS; k++) {
            run_once(s, &lanes[k], i, x);
            if (i == 0 && exact) lanes[k].error = error_of(s, exact, x, w);
        }
    free(x), free(w);
}

/* ---- At equal energy error ---- */

/* Iterates of the block diagonal by their number: the same every time. */
typedef struct trail {
    bench_system *system;
    const double *exact;
    double *x, *w;
    double rate;    /* the error's mean factor from one iterate to the next, near the end */
    double seconds; /* of the last solve that stopped at a number of iterations; 0: there was none */
} trail;

/* The iteration at which its own estimate of the energy error meets the error wanted; also finds the rate there. */
static int32_t estimate(trail *t, double wanted, double *error) {
    enum { BACK = 50 };
    drape_solve_settings settings = settings_of(RACE_BASE, wanted, PATIENCE);
    drape_solver *solver;
    settings.stop = DRAPE_STOP_ENERGY;
    settings.history = PATIENCE;
    bench_check(t->system->ctx, drape_solver_create(t->system->ctx, &settings, &solver));
    drape_solve_result result = solve(t->system, solver, t->x);
    int32_t last = result.history_count - 1, from = last > BACK ? last - BACK : 0;
    t->rate = pow(result.history[last].preconditioned / result.history[from].preconditioned, 1.0 / (last - from));
    drape_solver_destroy(solver);
    *error = error_of(t->system, t->exact, t->x, t->w);
    return result.iterations;
}

static double error_after(trail *t, int32_t iterations) {
    drape_solve_result result;
    t->seconds = solve_once(t->system, RACE_BASE, NEVER, iterations, t->x, &result);
    return error_of(t->system, t->exact, t->x, t->w);
}

/* So many iterations as bring the true error of the block diagonal to what is wanted or just below: by the estimate,
 * then by Newton's method on the error's logarithm, then one by one; the error falls with every iterate. */
static void find_equal(trail *t, double wanted, race_equal *out) {
    enum { TRIES = 4, STEPS = 8 };
    const double close = 0.97;
    double error;
    int32_t n = estimate(t, wanted, &error);
    for (int32_t i = 0; i < TRIES + STEPS && (error > wanted || (error < close * wanted && i < TRIES)); i++) {
        double more = i < TRIES ? log(wanted / error) / log(t->rate) : 1; /* < 0: fewer */
        if (!(fabs(more) < PATIENCE)) break;
        n += (int32_t)ceil(more > 0 ? more : 0.9 * more);
        if (n < 1) n = 1;
        error = error_after(t, n);
    }
    out->iterations = n;
    out->error = error;
}

/* One repeat: the block diagonal was just timed, and to run it again may take minutes. */
static void time_equal(trail *t, int32_t repeats, race_equal *out) {
    double base[RACE_MOST_REPEATS], amg[RACE_MOST_REPEATS];
    drape_solve_result result;
    for (int32_t i = 0; i < repeats; i++) {
        if (repeats == 1 && t->seconds > 0) base[i] = t->seconds;
        else base[i] = solve_once(t->system, RACE_BASE, NEVER, out->iterations, t->x, &result);
        amg[i] = solve_once(t->system, out->against, RACE_TOLERANCE, PATIENCE, t->x, &result);
    }
    out->gain = bench_median(base, repeats) / bench_median(amg, repeats);
    out->least_gain = base[0] / amg[0]; /* they are sorted now */
}

static void compare_at_equal_error(bench_system *s, const race_plan *plan, const double *exact, race_result *out) {
    int64_t n = bench_system_length(s);
    trail t = {.system = s, .exact = exact, .x = bench_vector(n), .w = bench_vector(n)};
    out->equal.against = race_faster_once(out);
    find_equal(&t, out->racer[out->equal.against].error, &out->equal);
    time_equal(&t, plan->equal, &out->equal);
    free(t.x), free(t.w);
}

/* ---- Running ---- */

static void run_step(bench_system *s, lane *l, int32_t step, double *x) {
    double begin = bench_seconds();
    if (!l->solver) l->solver = race_solver(s->ctx, l->index, RACE_TOLERANCE, PATIENCE);
    drape_solve_result result = solve_in(s, l, l->solver, x);
    l->step[step] = bench_seconds() - begin;
    l->iterations += result.iterations;
    l->solves++;
}

/* Over all steps but the first that were not left out. */
static double mean_later(const lane *l) {
    double sum = 0;
    int32_t count = 0;
    for (int32_t i = 1; i < RACE_STEPS; i++)
        if (l->step[i] >= 0) sum += l->step[i], count++;
    return sum / count;
}

static void run_animation(bench_system *s, lane lanes[RACERS], const race_plan *plan, int32_t repeat, double *x) {
    for (int32_t i = 0; i < RACE_STEPS; i++) {
        for (int32_t k = 0; k < RACERS; k++)
            if (k == RACE_BASE && i % plan->rarely != 0) lanes[k].step[i] = -1;
            else run_step(s, &lanes[k], i, x);
        bench_system_advance(s, x); /* all of them found the same, as far as the tolerance goes */
    }
    for (int32_t k = 0; k < RACERS; k++) {
        lanes[k].later[repeat] = mean_later(&lanes[k]);
        lanes[k].running[repeat] = (lanes[k].step[0] + (RACE_STEPS - 1) * lanes[k].later[repeat]) / RACE_STEPS;
        drape_solver_destroy(lanes[k].solver);
        lanes[k].solver = NULL;
    }
}

/* Every run starts from the same state. */
static void run_all_running(bench_system *s, lane lanes[RACERS], const race_plan *plan) {
    int64_t n = bench_system_length(s);
    double *x0 = bench_vector(n), *v0 = bench_vector(n), *x = bench_vector(n);
    size_t bytes = (size_t)n * sizeof *x;
    memcpy(x0, drape_sim_positions(s->sim), bytes);
    memcpy(v0, drape_sim_velocities(s->sim), bytes);
    for (int32_t i = 0; i < plan->running; i++) {
        memcpy(drape_sim_positions(s->sim), x0, bytes);
        memcpy(drape_sim_velocities(s->sim), v0, bytes);
        bench_system_assemble(s);
        run_animation(s, lanes, plan, i, x);
    }
    free(x0), free(v0), free(x);
}

/* ---- The race ---- */

static void sum_up_once(lane *l, const race_plan *plan, racer *out) {
    out->first = l->first;
    out->error = l->error;
    out->times.once = bench_median(l->once, plan->once);
    out->times.setup = bench_median(l->setup, plan->once);
    out->times.least_once = l->once[0]; /* sorted by now */
}

static void sum_up_running(lane *l, const race_plan *plan, racer *out) {
    out->mean_iterations = (double)l->iterations / (double)l->solves;
    out->failures = l->failures;
    out->times.running = bench_median(l->running, plan->running);
    out->times.later = bench_median(l->later, plan->running);
    out->times.least_running = l->running[0];
}

void race_run(bench_system *s, const race_plan *plan, race_result *out) {
    lane lanes[RACERS] = {{.index = RACE_BASE}, {.index = RACE_THREE}, {.index = RACE_SIX}};
    double *exact = plan->equal ? bench_vector(bench_system_length(s)) : NULL;
    *out = (race_result){0};
    if (exact) solve_exactly(s, exact);
    run_all_once(s, lanes, plan->once, exact);
    for (int32_t k = 0; k < RACERS; k++) sum_up_once(&lanes[k], plan, &out->racer[k]);
    if (plan->equal) compare_at_equal_error(s, plan, exact, out);
    free(exact);
    run_all_running(s, lanes, plan);
    for (int32_t k = 0; k < RACERS; k++) sum_up_running(&lanes[k], plan, &out->racer[k]);
}

/* Whoever did not converge is not fast. */
static double counted(const racer *r, double seconds) {
    return r->failures > 0 || r->first.reason != DRAPE_CONVERGED ? HUGE_VAL : seconds;
}

int32_t race_faster_once(const race_result *r) {
    const racer *three = &r->racer[RACE_THREE], *six = &r->racer[RACE_SIX];
    return counted(six, six->times.once) < counted(three, three->times.once) ? RACE_SIX : RACE_THREE;
}

int32_t race_faster_running(const race_result *r) {
    const racer *three = &r->racer[RACE_THREE], *six = &r->racer[RACE_SIX];
    return counted(six, six->times.running) < counted(three, three->times.running) ? RACE_SIX : RACE_THREE;
}
