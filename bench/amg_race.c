/* amg_race.c: what multigrid gains over the block diagonal on one system and on the steps that follow.
 *
 * - Once: a solver is made, gets its memory, is set up, and solves one system.
 * - Running: a solver is kept for 20 consecutive steps of the animation. The mean step counts, the first with all
 *   of its set-up among them; the mean of the others stands beside it.
 * - At equal energy error: the preconditioned residual is another norm for each preconditioner. So the block diagonal
 *   runs until its true energy error is that of the faster amg, and both are timed once more, in turn.
 *
 * In each step all contestants solve the same system, one after the other, before the sheet moves on. So only the
 * current matrix need be kept, and whatever disturbs the machine disturbs all. */
#include "amg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct contestant {
    const char *name, *precond;
    int32_t modes;
} contestants[RACERS] = {[RACE_BASE] = {"block_diagonal", "block_diagonal", 0},
                         [RACE_THREE] = {"amg, 3 modes", "amg", 3},
                         [RACE_SIX] = {"amg, 6 modes", "amg", 6},
                         [RACE_ICHOL] = {"ichol", "ichol", 0},
                         [RACE_AUTO] = {"auto", "auto", 0}};

/* What is measured of a contestant, before it is made medians of. */
typedef struct lane {
    int32_t index;
    bool runs;                           /* or only watches */
    drape_solver *solver;                /* while it runs */
    double once[RACE_MOST_REPEATS];      /* s */
    double setup[RACE_MOST_REPEATS];     /* s, of these */
    double iteration[RACE_MOST_REPEATS]; /* s, of these */
    double running[RACE_MOST_REPEATS];   /* s, the mean of a step */
    double later[RACE_MOST_REPEATS];     /* s, the mean of a step but the first */
    double step[RACE_STEPS];             /* s, of the run at work; -1: left out */
    double bytes[RACE_STEPS];            /* the same */
    int64_t iterations, solves;          /* of all runs */
    drape_solve_result first, last;
    double error;
    int32_t failures;
} lane;

const char *race_name(int32_t r) { return contestants[r].name; }

/* ---- Solving ---- */

drape_solve_settings race_settings(int32_t r, double tol) {
    drape_solve_settings settings = drape_solve_defaults();
    settings.precond = contestants[r].precond;
    settings.amg.modes = contestants[r].modes;
    settings.tol = tol;
    settings.max_iterations = 100000;
    return settings;
}

drape_solver *race_solver(drape_context *ctx, int32_t r, double tol) {
    drape_solve_settings settings = race_settings(r, tol);
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

/* ---- Once ---- */

/* Seconds of a new solver's life. */
static double solve_once(bench_system *s, int32_t r, double tol, double *x, drape_solve_result *result) {
    bench_rest();
    double begin = bench_seconds();
    drape_solver *solver = race_solver(s->ctx, r, tol);
    *result = solve(s, solver, x);
    double seconds = bench_seconds() - begin;
    drape_solver_destroy(solver);
    return seconds;
}

static void run_once(bench_system *s, lane *l, int32_t repeat, double *x) {
    l->once[repeat] = solve_once(s, l->index, RACE_TOLERANCE, x, &l->first);
    l->setup[repeat] = l->first.setup_seconds;
    l->iteration[repeat] = l->first.solve_seconds / (l->first.iterations + 1);
    l->failures += l->first.reason != DRAPE_CONVERGED;
}

/* exact NULL: no errors */
static void run_all_once(bench_system *s, lane lanes[RACERS], int32_t repeats, const double *exact) {
    double *x = bench_vector(bench_system_length(s)), *w = bench_vector(bench_system_length(s));
    for (int32_t i = 0; i < repeats; i++)
        for (int32_t k = 0; k < RACERS; k++) {
            if (!lanes[k].runs) continue;
            run_once(s, &lanes[k], i, x);
            if (i == 0 && exact) lanes[k].error = bench_energy_error(s, exact, x, w);
        }
    free(x), free(w);
}

/* ---- At equal energy error ---- */

/* The block diagonal on its way to an error. */
typedef struct chase {
    bench_system *system;
    const double *exact;
    double *x, *w;
    double tol, error; /* of the last solve: asked for, and true */
    double seconds;    /* it took */
    int32_t iterations;
} chase;

static void solve_to(chase *c, double tol) {
    drape_solve_result result;
    c->tol = tol;
    c->seconds = solve_once(c->system, RACE_BASE, tol, c->x, &result);
    c->iterations = result.iterations;
    c->error = bench_energy_error(c->system, c->exact, c->x, c->w);
}

/* Tightens (or loosens) the tolerance until the true error is what is wanted or just below: the error goes with the
 * tolerance, by and large. On small sheets an iteration is a large step, and one below has to do. */
static void find_equal(chase *c, const racer *base, double wanted) {
    enum { TRIES = 4, MOST = 12 };
    const double close = 0.97, margin = 0.99;
    c->tol = RACE_TOLERANCE;
    c->error = base->error;
    for (int32_t i = 0; i < MOST && (i == 0 || c->error > wanted || (c->error < close * wanted && i < TRIES)); i++)
        solve_to(c, c->tol * margin * wanted / c->error);
}

/* One repeat: the block diagonal was just timed, and to run it again may take minutes. */
static void time_equal(chase *c, int32_t repeats, race_equal *out) {
    double base[RACE_MOST_REPEATS], amg[RACE_MOST_REPEATS];
    drape_solve_result result;
    for (int32_t i = 0; i < repeats; i++) {
        if (repeats > 1) solve_to(c, c->tol);
        base[i] = c->seconds;
        amg[i] = solve_once(c->system, out->against, RACE_TOLERANCE, c->x, &result);
    }
    out->gain = bench_median(base, repeats) / bench_median(amg, repeats);
    out->least_gain = base[0] / amg[0]; /* they are sorted now */
}

static void compare_at_equal_error(bench_system *s, const race_plan *plan, const double *exact, race_result *out) {
    int64_t n = bench_system_length(s);
    chase c = {.system = s, .exact = exact, .x = bench_vector(n), .w = bench_vector(n)};
    out->equal.against = race_faster_once(out);
    find_equal(&c, &out->racer[RACE_BASE], out->racer[out->equal.against].error);
    out->equal.iterations = c.iterations;
    out->equal.error = c.error;
    time_equal(&c, plan->equal, &out->equal);
    free(c.x), free(c.w);
}

/* ---- Running ---- */

static void run_step(bench_system *s, lane *l, int32_t step, double *x) {
    double begin = bench_seconds();
    if (!l->solver) l->solver = race_solver(s->ctx, l->index, RACE_TOLERANCE);
    l->last = solve_in(s, l, l->solver, x);
    l->step[step] = bench_seconds() - begin;
    l->bytes[step] = (double)l->last.bytes_moved;
    l->iterations += l->last.iterations;
    l->solves++;
}

/* Over all steps but the first that were not left out. */
static double mean_later(const double step[RACE_STEPS]) {
    double sum = 0;
    int32_t count = 0;
    for (int32_t i = 1; i < RACE_STEPS; i++)
        if (step[i] >= 0) sum += step[i], count++;
    return sum / count;
}

/* Over all, those that were left out being like the others but the first. */
static double mean_step(const double step[RACE_STEPS]) {
    return (step[0] + (RACE_STEPS - 1) * mean_later(step)) / RACE_STEPS;
}

/* The first finds the matrix in the caches of the threads that assembled it, so they take turns. */
static void run_all_steps(bench_system *s, lane lanes[RACERS], int32_t rarely, int32_t step, double *x) {
    for (int32_t i = 0; i < RACERS; i++) {
        int32_t k = step % 2 ? RACERS - 1 - i : i;
        if (!lanes[k].runs) continue;
        if (k == RACE_BASE && step % rarely != 0) lanes[k].step[step] = lanes[k].bytes[step] = -1;
        else run_step(s, &lanes[k], step, x);
    }
}

static void run_animation(bench_system *s, lane lanes[RACERS], const race_plan *plan, int32_t repeat, double *x) {
    for (int32_t i = 0; i < RACE_STEPS; i++) {
        run_all_steps(s, lanes, plan->rarely, i, x);
        bench_system_advance(s, x); /* all of them found the same, as far as the tolerance goes */
    }
    for (int32_t k = 0; k < RACERS; k++) {
        if (!lanes[k].runs) continue;
        lanes[k].later[repeat] = mean_later(lanes[k].step);
        lanes[k].running[repeat] = mean_step(lanes[k].step);
        drape_solver_destroy(lanes[k].solver);
        lanes[k].solver = NULL;
    }
}

/* Every run starts from the same state, and the system is left in it. */
static void run_all_running(bench_system *s, lane lanes[RACERS], const race_plan *plan) {
    int64_t n = bench_system_length(s);
    double *x0 = bench_vector(n), *v0 = bench_vector(n), *x = bench_vector(n);
    size_t bytes = (size_t)n * sizeof *x;
    memcpy(x0, drape_sim_positions(s->sim), bytes);
    memcpy(v0, drape_sim_velocities(s->sim), bytes);
    for (int32_t i = 0; i < plan->running; i++) {
        run_animation(s, lanes, plan, i, x);
        bench_check(s->ctx, drape_sim_set_state(s->sim, x0, v0));
        bench_system_assemble(s);
    }
    free(x0), free(v0), free(x);
}

/* ---- The race ---- */

/* Median of the ratios to the block diagonal's; before anything is sorted. */
static double pairs(const double *own, const double *base, int32_t count) {
    double ratio[RACE_MOST_REPEATS];
    for (int32_t i = 0; i < count; i++) ratio[i] = own[i] / base[i];
    return bench_median(ratio, count);
}

static void sum_up_once(lane *l, const race_plan *plan, racer *out) {
    if (!l->runs) return;
    out->first = l->first;
    out->error = l->error;
    out->times.once = bench_median(l->once, plan->once);
    out->times.setup = bench_median(l->setup, plan->once);
    out->times.iteration = bench_median(l->iteration, plan->once);
    out->times.least_once = l->once[0]; /* sorted by now */
}

static void sum_up_running(lane *l, const race_plan *plan, racer *out) {
    if (!l->runs) return;
    out->last = l->last;
    out->mean_bytes = mean_step(l->bytes);
    out->mean_iterations = (double)l->iterations / (double)l->solves;
    out->failures = l->failures;
    out->times.running = bench_median(l->running, plan->running);
    out->times.later = bench_median(l->later, plan->running);
    out->times.least_running = l->running[0];
}

void race_run(bench_system *s, uint32_t set, const race_plan *plan, race_result *out) {
    lane lanes[RACERS] = {0}, *base = &lanes[RACE_BASE];
    for (int32_t k = 0; k < RACERS; k++) lanes[k].index = k, lanes[k].runs = set >> k & 1;
    double *exact = plan->equal ? bench_vector(bench_system_length(s)) : NULL;
    *out = (race_result){0};
    if (exact) bench_solve_exactly(s, exact);
    run_all_once(s, lanes, plan->once, exact);
    for (int32_t k = 0; k < RACERS; k++)
        out->racer[k].times.pairs_once = pairs(lanes[k].once, base->once, plan->once);
    for (int32_t k = 0; k < RACERS; k++) sum_up_once(&lanes[k], plan, &out->racer[k]);
    if (plan->equal) compare_at_equal_error(s, plan, exact, out);
    free(exact);
    run_all_running(s, lanes, plan);
    for (int32_t k = 0; k < RACERS; k++)
        out->racer[k].times.pairs_running = pairs(lanes[k].running, base->running, plan->running);
    for (int32_t k = 0; k < RACERS; k++) sum_up_running(&lanes[k], plan, &out->racer[k]);
}

/* A solver that did not converge is not fast. */
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
