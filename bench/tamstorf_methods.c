/* tamstorf_methods.c: see tamstorf.h. Every method solves each sampled system from zero to a relative preconditioned
 * residual of 1e-5, in turn and repeatedly. Times are medians, and include set-up and solve of a new solver.
 * Block-diagonal PCG and drape's default also solve the steps up to the sample, in turn, each with one solver that is
 * kept, as in a simulation. The means of those steps include the cost of a hierarchy that is refreshed now and then.
 */
#include "tamstorf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef DRAPE_HAS_CHOLMOD
#include "drape/cholmod.h"
#endif

enum { MOST_SAMPLES = 16, MOST_REPEATS = 7, CHOLMOD_LARGEST = 700000 /* vertices: more needs more than 16 GB */ };
static const double TOLERANCE = 1e-5, EXACT = 1e-11, PATIENCE = 1200; /* PATIENCE: s a solve */

const char *const tamstorf_method_name[T_METHODS] = {"block-diagonal PCG",
                                                     "block-diagonal PPCG",
                                                     "SA without prefiltering",
                                                     "SA+PPCG, the paper's recipe",
                                                     "drape",
                                                     "CHOLMOD"};

/* Those whose solvers are kept over the steps of a window. */
enum { KEPT = 2 };
static const tamstorf_method kept_method[KEPT] = {T_DIAGONAL, T_DRAPE};

typedef struct measuring {
    const tamstorf_cell *cell;
    tamstorf_results *out;
    int32_t repeats, sample;
    double seconds[T_METHODS][MOST_SAMPLES], setup[T_METHODS][MOST_SAMPLES], analysed[MOST_SAMPLES];
    double prefilter[MOST_SAMPLES], equal[MOST_SAMPLES];
    double error[T_METHODS];                           /* of this sample */
    drape_solver *solver[KEPT];                        /* NULL: none yet */
    double kept[KEPT], solves[KEPT], iterations[KEPT]; /* sums over the steps that count */
} measuring;

/* ---- A solve ---- */

typedef struct stopwatch {
    int32_t threads;
    double began;
} stopwatch;

static double time_of(const stopwatch *w) { return bench_work_seconds(w->threads) - w->began; }

static bool is_patient(void *user, const drape_progress *progress) {
    (void)progress;
    return time_of(user) < PATIENCE;
}

static bool is_there(tamstorf_method method, const drape_problem *problem) {
#ifdef DRAPE_HAS_CHOLMOD
    return method != T_CHOLMOD || problem->A->rows <= CHOLMOD_LARGEST;
#else
    (void)problem;
    return method != T_CHOLMOD;
#endif
}

static drape_solve_settings settings_of(tamstorf_method method, double tol, stopwatch *watch) {
    drape_solve_settings s = drape_solve_defaults();
    s.tol = tol;
    s.max_iterations = 100000;
    s.progress = is_patient;
    s.progress_user = watch;
    switch (method) {
    case T_DIAGONAL: s.method = "mpcg", s.precond = "block_diagonal"; break;
    case T_DIAGONAL_PPCG: s.method = "ppcg", s.precond = "block_diagonal"; break;
    case T_SA_UNFILTERED: s.method = "mpcg", s.precond = "amg", s.amg.recipe = DRAPE_RECIPE_TAMSTORF; break;
    case T_SA: s.method = "ppcg", s.precond = "amg", s.amg.recipe = DRAPE_RECIPE_TAMSTORF; break;
#ifdef DRAPE_HAS_CHOLMOD
    case T_CHOLMOD: s.method = "direct", s.direct = drape_cholmod(); break;
#endif
    default: break;
    }
    return s;
}

typedef struct solved {
    double seconds, setup; /* s */
    drape_solve_result result;
} solved;

static solved solve_with(drape_context *ctx, drape_solver *solver, const tamstorf_system *system, stopwatch *watch,
                         double *x) {
    solved out;
    watch->began = bench_work_seconds(watch->threads);
    bench_check(ctx, drape_solver_solve(solver, &system->problem, x, &out.result));
    out.seconds = time_of(watch);
    const drape_solve_result *r = &out.result;
    out.setup = out.seconds * r->setup_seconds / (r->setup_seconds + r->solve_seconds);
    return out;
}

/* again: time of a second solve of the same solver, NULL: not wanted. */
static solved solve(measuring *m, drape_context *ctx, tamstorf_method method, double tol,
                    const tamstorf_system *system, double *again, double *x) {
    stopwatch watch = {m->cell->threads, bench_work_seconds(m->cell->threads)};
    drape_solve_settings settings = settings_of(method, tol, &watch);
    drape_solver *solver;
    bench_check(ctx, drape_solver_create(ctx, &settings, &solver));
    solved out = solve_with(ctx, solver, system, &watch, x);
    if (again) *again = solve_with(ctx, solver, system, &watch, x).seconds;
    drape_solver_destroy(solver);
    return out;
}

/* ---- Errors ---- */

static double energy_norm(drape_context *ctx, const drape_bsr3 *A, const double *v, double *w) {
    double sum = 0;
    bench_check(ctx, drape_multiply(ctx, A, v, w));
    for (int64_t i = 0; i < 3 * (int64_t)A->rows; i++) sum += v[i] * w[i];
    return sqrt(sum);
}

/* x is lost. */
static double energy_error(drape_context *ctx, const drape_bsr3 *A, const double *exact, double *x, double *w) {
    for (int64_t i = 0; i < 3 * (int64_t)A->rows; i++) x[i] -= exact[i];
    return energy_norm(ctx, A, x, w) / energy_norm(ctx, A, exact, w);
}

/* ---- Solvers that are kept ---- */

/* Both solve this step in turn; above T_LARGEST_RUN the block diagonal, which keeps next to nothing, only the last.
 */
static void run_kept(measuring *m, drape_context *ctx, const tamstorf_system *system, int32_t left) {
    double *x = bench_vector(3 * (int64_t)system->file.A.rows);
    for (int32_t k = 0; k < KEPT; k++) {
        bool seldom = kept_method[k] == T_DIAGONAL && m->cell->side > T_LARGEST_RUN;
        stopwatch watch = {m->cell->threads, 0};
        drape_solve_settings settings = settings_of(kept_method[k], TOLERANCE, &watch);
        settings.progress = NULL; /* its watch would have to live as long as the solver */
        if (seldom && left > 0) continue;
        if (!m->solver[k]) bench_check(ctx, drape_solver_create(ctx, &settings, &m->solver[k]));
        solved s = solve_with(ctx, m->solver[k], system, &watch, x);
        if (left >= m->cell->counted) continue;
        m->kept[k] += s.seconds;
        m->iterations[k] += s.result.iterations;
        m->solves[k]++;
    }
    free(x);
}

static void end_kept(measuring *m) {
    for (int32_t k = 0; k < KEPT; k++) {
        drape_solver_destroy(m->solver[k]);
        m->solver[k] = NULL;
    }
}

/* ---- A sample ---- */

static void note(measuring *m, tamstorf_method method, const solved *s, double error) {
    tamstorf_result *r = &m->out->of[method];
    const drape_solve_result *result = &s->result;
    bool good = result->reason == DRAPE_CONVERGED;
    r->iterations += result->iterations;
    r->rate += result->iterations > 0 && result->residual > 0 ? pow(result->residual, 1.0 / result->iterations) : 0;
    r->bytes = fmax(r->bytes, (double)result->bytes);
    r->error = fmax(r->error, error);
    r->failed += !good;
    m->error[method] = error;
}

/* All methods in turn, over again. */
static void time_methods(measuring *m, drape_context *ctx, const tamstorf_system *system, const double *exact,
                         double *x, double *w) {
    double seconds[T_METHODS][MOST_REPEATS], setup[T_METHODS][MOST_REPEATS], again[MOST_REPEATS];
    for (int32_t k = 0; k < m->repeats; k++)
        for (tamstorf_method i = 0; i < T_METHODS; i++) {
            if (!is_there(i, &system->problem)) continue;
            solved s = solve(m, ctx, i, TOLERANCE, system, i == T_CHOLMOD ? &again[k] : NULL, x);
            seconds[i][k] = s.seconds;
            setup[i][k] = s.setup;
            if (k == 0) note(m, i, &s, energy_error(ctx, &system->file.A, exact, x, w));
        }
    for (tamstorf_method i = 0; i < T_METHODS; i++) {
        bool there = is_there(i, &system->problem);
        m->seconds[i][m->sample] = there ? bench_median(seconds[i], m->repeats) : NAN;
        m->setup[i][m->sample] = there ? bench_median(setup[i], m->repeats) : NAN;
        if (i == T_CHOLMOD) m->analysed[m->sample] = there ? bench_median(again, m->repeats) : NAN;
    }
}

static void time_prefilter(measuring *m, drape_context *ctx, const tamstorf_system *system) {
    const drape_bsr3 *A = &system->file.A;
    double *val = bench_vector(9 * A->rowptr[A->rows]), *rhs = bench_vector(3 * (int64_t)A->rows),
           times[MOST_REPEATS];
    for (int32_t k = 0; k < m->repeats; k++) {
        double began = bench_work_seconds(m->cell->threads);
        bench_check(ctx, drape_prefilter(ctx, &system->problem, val, rhs));
        times[k] = bench_work_seconds(m->cell->threads) - began;
    }
    m->prefilter[m->sample] = bench_median(times, m->repeats);
    free(val), free(rhs);
}

/* Block-diagonal PCG, with the tolerance that brings its error to about that of drape's default. */
static void time_equal(measuring *m, drape_context *ctx, const tamstorf_system *system, const double *exact,
                       double *x, double *w) {
    double times[MOST_REPEATS], wanted = m->error[T_DRAPE];
    double tol = fmin(0.5, TOLERANCE * wanted / m->error[T_DIAGONAL]);
    for (int32_t k = 0; k < m->repeats; k++) times[k] = solve(m, ctx, T_DIAGONAL, tol, system, NULL, x).seconds;
    m->equal[m->sample] = bench_median(times, m->repeats);
    m->out->equal_error = fmax(m->out->equal_error, energy_error(ctx, &system->file.A, exact, x, w) / wanted);
}

static void solve_exactly(drape_context *ctx, const tamstorf_system *system, double *exact) {
    drape_solve_settings settings = drape_solve_defaults();
    settings.tol = EXACT;
    settings.max_iterations = 100000;
    bench_check(ctx, drape_solve(ctx, &system->problem, &settings, exact, NULL));
}

static void measure_step(void *user, drape_context *ctx, const tamstorf_system *system, int32_t left) {
    measuring *m = user;
    int64_t length = 3 * (int64_t)system->file.A.rows;
    run_kept(m, ctx, system, left);
    if (left > 0) return;
    /* A refined sheet starts again for each sample. */
    if (m->cell->side > T_LARGEST_RUN || m->sample + 1 == m->cell->samples) end_kept(m);
    double *exact = bench_vector(length), *x = bench_vector(length), *w = bench_vector(length);
    m->out->vertices = system->file.A.rows;
    m->out->held = (double)system->file.constrained;
    m->out->matrix = 76.0 * (double)system->file.A.rowptr[system->file.A.rows] + 8.0 * (m->out->vertices + 1);
    solve_exactly(ctx, system, exact);
    time_methods(m, ctx, system, exact, x, w);
    time_prefilter(m, ctx, system);
    time_equal(m, ctx, system, exact, x, w);
    m->sample++;
    free(exact), free(x), free(w);
}

/* ---- A cell ---- */

static void summarise(measuring *m, tamstorf_method method) {
    tamstorf_result *r = &m->out->of[method];
    double least = m->seconds[method][0], most = least;
    for (int32_t k = 0; k < m->sample; k++) {
        least = fmin(least, m->seconds[method][k]);
        most = fmax(most, m->seconds[method][k]);
    }
    r->iterations /= m->sample;
    r->rate /= m->sample;
    r->spread = most / least;
    r->seconds = bench_median(m->seconds[method], m->sample);
    r->setup = bench_median(m->setup[method], m->sample);
    r->kept = method == T_CHOLMOD ? bench_median(m->analysed, m->sample) : NAN;
    for (int32_t k = 0; k < KEPT; k++)
        if (method == kept_method[k]) r->kept = m->kept[k] / m->solves[k];
}

static void name_cell(const tamstorf_cell *c, char key[BENCH_LONGEST_KEY]) {
    snprintf(key, BENCH_LONGEST_KEY, "tamstorf %s %s %d, %d samples of %g, %d of %d steps", tamstorf_scene[c->scene],
             c->irregular ? "irregular" : "regular", c->side, c->samples, c->share, c->counted, c->window);
}

static int32_t repeats_for(int32_t side) { return side <= 41 ? MOST_REPEATS : side <= 101 ? 3 : 1; }

tamstorf_results tamstorf_measure(const tamstorf_cell *cell, bool *kept) {
    tamstorf_results out = {0};
    char key[BENCH_LONGEST_KEY];
    measuring m = {.cell = cell, .out = &out, .repeats = repeats_for(cell->side)};
    name_cell(cell, key);
    *kept = bench_cell_find(key, (double *)&out, T_NUMBERS);
    if (*kept) return out;
    tamstorf_animate(cell, measure_step, &m);
    for (tamstorf_method i = 0; i < T_METHODS && m.sample > 0; i++) summarise(&m, i);
    out.samples = m.sample;
    if (m.sample > 0) {
        for (int32_t k = 0; k < KEPT; k++) out.kept_iterations[k] = m.iterations[k] / m.solves[k];
        out.prefilter = bench_median(m.prefilter, m.sample);
        out.equal_seconds = bench_median(m.equal, m.sample);
    }
    bench_cell_keep(key, (const double *)&out, T_NUMBERS);
    return out;
}
