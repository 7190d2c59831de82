/* amg.c: what multigrid gains over the block diagonal, in PPCG to a preconditioned residual of 1e-5, from zero.
 *
 * - Once: a solver is made, gets its memory, is set up, and solves one system.
 * - Running: a solver is kept for 20 consecutive steps of the animation. The mean step counts, the first with all
 *   of its set-up among them; the mean of the others stands beside it.
 *
 * In each step all contestants solve the same system, one after the other, before the sheet moves on; so no matrix
 * but the current one need be kept, and whatever disturbs the machine disturbs all. On large sheets the block
 * diagonal, which keeps nothing from step to step, solves every fifth system only.
 *
 * The energy error is the true one, against a solution of 1e-11.
 *
 * DRAPE_BENCH_SIDES="61 601 1001" asks for other sizes: vertices along a side. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 2,
    STEPS = 20,
    MOST_SIZES = 16,
    SCENES_SIDE = 201,
    LARGE = 100000, /* vertices: fewer repeats, and the block diagonal now and then only */
    RARELY = 5,
    MOST_RUNS = 15
};

/* How many times faster than the block diagonal it has to be. */
typedef struct requirement {
    int32_t side;
    double once, running;
} requirement;

static const requirement requirements[] = {{61, 1, 1.5},  {101, 2, 3},   {201, 3.5, 6},
                                           {301, 5.5, 9}, {601, 12, 16}, {1001, 13, 18}};
enum { REQUIREMENTS = sizeof requirements / sizeof *requirements, BY_DEFAULT = 4 /* of them */ };

/* ---- Contestants ---- */

typedef struct contestant {
    const char *name, *precond;
    int32_t modes;
    drape_solver *solver;       /* while it runs */
    drape_solve_result first;   /* of the first system */
    double error;               /* there, in the energy norm, relative */
    double once[MOST_RUNS];     /* s */
    double setup[MOST_RUNS];    /* s, of these */
    double running[MOST_RUNS];  /* s, the mean of a step */
    double later[MOST_RUNS];    /* s, the mean of a step but the first */
    double step[STEPS];         /* s, of the run at work; -1: left out */
    int64_t iterations, solves; /* of all runs */
    int32_t failures;           /* solves that did not converge */
} contestant;

enum { BASE, THREE, SIX, CONTESTANTS };

static void introduce(contestant c[CONTESTANTS]) {
    c[BASE] = (contestant){.name = "block_diagonal", .precond = "block_diagonal"};
    c[THREE] = (contestant){.name = "amg, 3 modes", .precond = "amg", .modes = 3};
    c[SIX] = (contestant){.name = "amg, 6 modes", .precond = "amg", .modes = 6};
}

static drape_solver *make_solver(bench_system *s, const contestant *c, double tol) {
    drape_solve_settings settings = drape_solve_defaults();
    drape_solver *solver;
    settings.precond = c->precond;
    settings.amg.modes = c->modes;
    settings.tol = tol;
    settings.max_iterations = 100000;
    bench_check(s->ctx, drape_solver_create(s->ctx, &settings, &solver));
    return solver;
}

static drape_solve_result solve(bench_system *s, contestant *c, drape_solver *solver, double *x) {
    drape_solve_result result;
    bench_check(s->ctx, drape_solver_solve(solver, &s->problem, x, &result));
    c->failures += result.reason != DRAPE_CONVERGED;
    return result;
}

/* ---- Once ---- */

static void run_once(bench_system *s, contestant *c, int repeat, double *x) {
    bench_rest();
    double begin = bench_seconds();
    drape_solver *solver = make_solver(s, c, 1e-5);
    c->first = solve(s, c, solver, x);
    c->once[repeat] = bench_seconds() - begin;
    c->setup[repeat] = c->first.setup_seconds;
    drape_solver_destroy(solver);
}

/* sqrt(v'A v); w: another vector */
static double energy_norm(bench_system *s, const double *v, double *w) {
    double sum = 0;
    bench_check(s->ctx, drape_multiply(s->ctx, &s->A, v, w));
    for (int64_t i = 0; i < bench_system_length(s); i++) sum += v[i] * w[i];
    return sqrt(sum);
}

/* By the block diagonal, which has no part in what is measured; on large sheets that would take minutes. */
static void solve_exactly(bench_system *s, const contestant c[CONTESTANTS], double *exact) {
    contestant judge = c[s->A.rows > LARGE ? SIX : BASE];
    drape_solver *solver = make_solver(s, &judge, 1e-11);
    drape_solve_result result = solve(s, &judge, solver, exact);
    if (result.reason != DRAPE_CONVERGED)
        printf("  the solution to compare with: %s, true residual %.1e\n", drape_reason_name(result.reason),
               result.true_residual);
    drape_solver_destroy(solver);
}

static void find_error(bench_system *s, contestant *c, const double *exact, double *x, double *w) {
    for (int64_t i = 0; i < bench_system_length(s); i++) x[i] -= exact[i];
    c->error = energy_norm(s, x, w) / energy_norm(s, exact, w);
}

static void run_all_once(bench_system *s, contestant c[CONTESTANTS], int repeats) {
    int64_t n = bench_system_length(s);
    double *exact = bench_vector(n), *x = bench_vector(n), *w = bench_vector(n);
    solve_exactly(s, c, exact); /* warms up, too */
    for (int i = 0; i < repeats; i++)
        for (int k = 0; k < CONTESTANTS; k++) {
            run_once(s, &c[k], i, x);
            if (i == 0) find_error(s, &c[k], exact, x, w);
        }
    free(exact), free(x), free(w);
}

/* ---- Running ---- */

static bool sits_out(const bench_system *s, int k, int step) {
    return k == BASE && s->A.rows > LARGE && step % RARELY != 0;
}

static void run_step(bench_system *s, contestant *c, int step, double *x) {
    double begin = bench_seconds();
    if (!c->solver) c->solver = make_solver(s, c, 1e-5);
    drape_solve_result result = solve(s, c, c->solver, x);
    c->step[step] = bench_seconds() - begin;
    c->iterations += result.iterations;
    c->solves++;
}

/* Over the steps [from, STEPS) that were not left out. */
static double mean_step(const contestant *c, int from) {
    double sum = 0;
    int count = 0;
    for (int i = from; i < STEPS; i++)
        if (c->step[i] >= 0) sum += c->step[i], count++;
    return sum / count;
}

static void run_animation(bench_system *s, contestant c[CONTESTANTS], int repeat, double *x) {
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < CONTESTANTS; k++)
            if (sits_out(s, k, i)) c[k].step[i] = -1;
            else run_step(s, &c[k], i, x);
        bench_system_advance(s, x); /* all of them found the same, as far as 1e-5 goes */
    }
    for (int k = 0; k < CONTESTANTS; k++) {
        c[k].running[repeat] = mean_step(&c[k], 0);
        c[k].later[repeat] = mean_step(&c[k], 1);
        drape_solver_destroy(c[k].solver);
        c[k].solver = NULL;
    }
}

/* Every run starts from the same state. */
static void run_all_running(bench_system *s, contestant c[CONTESTANTS], int repeats) {
    int64_t n = bench_system_length(s);
    double *x0 = bench_vector(n), *v0 = bench_vector(n), *x = bench_vector(n);
    size_t bytes = (size_t)n * sizeof *x;
    memcpy(x0, drape_sim_positions(s->sim), bytes);
    memcpy(v0, drape_sim_velocities(s->sim), bytes);
    for (int i = 0; i < repeats; i++) {
        memcpy(drape_sim_positions(s->sim), x0, bytes);
        memcpy(drape_sim_velocities(s->sim), v0, bytes);
        bench_system_assemble(s);
        run_animation(s, c, i, x);
    }
    free(x0), free(v0), free(x);
}

/* ---- Tables ---- */

typedef struct repeats {
    int once, running;
} repeats;

static repeats repeats_for(int32_t vertices) {
    return vertices > LARGE ? (repeats){3, 1} : vertices > 20000 ? (repeats){5, 3} : (repeats){MOST_RUNS, 5};
}

/* Medians, and the least. */
typedef struct figures {
    double once, setup, running, later, least_once, least_running;
} figures;

static figures figures_of(contestant *c, repeats r) {
    figures f = {.once = bench_median(c->once, r.once),
                 .setup = bench_median(c->setup, r.once),
                 .running = bench_median(c->running, r.running),
                 .later = bench_median(c->later, r.running)};
    f.least_once = c->once[0], f.least_running = c->running[0]; /* they are sorted now */
    return f;
}

static void print_head(void) {
    printf("  %-15s %9s %9s %7s %10s %9s %7s %9s %7s %10s %9s %13s\n", "preconditioner", "once ms", "set-up", "gain",
           "iterations", "step ms", "gain", "later ms", "gain", "iterations", "MB held", "energy error");
}

static void print_contestant(const contestant *c, const figures *f, const figures *base) {
    printf("  %-15s %9.1f %9.1f %7.2f %10d %9.1f %7.2f %9.1f %7.2f %10.1f %9.1f %13.1e", c->name, 1e3 * f->once,
           1e3 * f->setup, base->once / f->once, c->first.iterations, 1e3 * f->running, base->running / f->running,
           1e3 * f->later, base->later / f->later, (double)c->iterations / (double)c->solves,
           1e-6 * (double)c->first.bytes, c->error);
    if (c->failures) printf("  %d did not converge", c->failures);
    putchar('\n');
}

static void claim(const contestant *c, const figures *f, const figures *base, const requirement *want) {
    char text[80];
    snprintf(text, sizeof text, "block_diagonal / %s, once", c->name);
    bench_claim(text, base->once / f->once, base->least_once / f->least_once, 1, want->once);
    snprintf(text, sizeof text, "block_diagonal / %s, running", c->name);
    bench_claim(text, base->running / f->running, base->least_running / f->least_running, 1, want->running);
}

/* want NULL: nothing is claimed. */
static void compare(const bench_request *request, const requirement *want) {
    static const char *const meshes[] = {"regular", "irregular", "shuffled"};
    contestant c[CONTESTANTS];
    figures f[CONTESTANTS];
    bench_system *s = bench_system_create(request);
    repeats r = repeats_for(s->A.rows);
    printf("\n%s, %s, %d vertices, %s; %d threads\n", request->scene, meshes[request->mesh], s->A.rows,
           bench_system_about(s), THREADS);
    introduce(c);
    run_all_once(s, c, r.once);
    run_all_running(s, c, r.running);
    print_head();
    for (int k = 0; k < CONTESTANTS; k++) {
        f[k] = figures_of(&c[k], r);
        print_contestant(&c[k], &f[k], &f[BASE]);
    }
    for (int k = THREE; k < CONTESTANTS && want; k++) claim(&c[k], &f[k], &f[BASE], want);
    bench_system_destroy(s);
}

static const requirement *requirement_for(int32_t side) {
    for (int i = 0; i < REQUIREMENTS; i++)
        if (requirements[i].side == side) return &requirements[i];
    return NULL;
}

/* From the environment, else the first of those that something is required of. */
static int list_sizes(int32_t *sides) {
    const char *text = getenv("DRAPE_BENCH_SIDES");
    int count = 0;
    for (char *end; text && count < MOST_SIZES; text = end) {
        long side = strtol(text, &end, 10);
        if (end == text) break;
        if (side >= 2 && side <= 8192) sides[count++] = (int32_t)side;
    }
    for (int i = 0; i < BY_DEFAULT && !text; i++) sides[count++] = requirements[i].side;
    return count;
}

/* Other scenes and meshes, at SCENES_SIDE or the largest size below it that was asked for. */
static void compare_scenes(const int32_t *sides, int count) {
    int32_t side = 0;
    for (int i = 0; i < count; i++)
        if (sides[i] <= SCENES_SIDE && sides[i] > side) side = sides[i];
    if (side == 0) return;
    const bench_request requests[] = {
        {.scene = "drooping", .resolution = side, .mesh = BENCH_IRREGULAR, .threads = THREADS},
        {.scene = "drooping", .resolution = side, .mesh = BENCH_SHUFFLED, .threads = THREADS},
        {.scene = "pinned", .resolution = side, .threads = THREADS},
        {.scene = "reentrant", .resolution = side, .threads = THREADS}};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) compare(&requests[i], NULL);
}

void bench_amg(void) {
    int32_t sides[MOST_SIZES];
    int count = list_sizes(sides);
    for (int i = 0; i < count; i++)
        compare(&(bench_request){.scene = "drooping", .resolution = sides[i], .threads = THREADS},
                requirement_for(sides[i]));
    compare_scenes(sides, count);
}
