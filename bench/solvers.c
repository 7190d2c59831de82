/* solvers.c: the benchmarks `solvers` and `sheets`.
 *
 * What solving costs, in multiplies by the same matrix:
 *
 * - An iteration: time of a block-diagonal iteration over that of a multiply: (60 iterations - 20) / 40, so that what
 *   a solve does once is left out.
 * - Prefiltering: forming S A S + C (I-S) for others (drape_prefilter), and what PPCG, which does not form it, takes
 *   to get ready (setup_seconds).
 * - All pairs: every method with every preconditioner it takes, to a preconditioned residual of 1e-5; the energy
 *   error is the true one, against a solution of 1e-11.
 * - Against Eigen: against_eigen.c.
 *
 * Sheet and scene: `drooping`, docs/notes/benchmarks.md.
 *
 * How hard the shared systems are: iterations of block-diagonal PPCG to 1e-5 and what an iteration takes, by scene,
 * mesh and fabric. Shuffled vertices need as many iterations as regular ones; what they cost is the memory. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 2,
    SHORT = 20,
    LONG = 60,
    MOST_PAIRS = 100,
    MOST_ITERATIONS = 5000,
    PAIR_REPEATS = 3,
    MOST_REPEATS = 61
};

static drape_solver *make_solver(bench_system *s, const char *method, const char *precond, double tol, int32_t most) {
    drape_solve_settings settings = drape_solve_defaults();
    drape_solver *solver;
    settings.method = method;
    settings.precond = precond;
    settings.tol = tol;
    settings.max_iterations = most;
    bench_check(s->ctx, drape_solver_create(s->ctx, &settings, &solver));
    return solver;
}

static drape_solve_result solve(bench_system *s, drape_solver *solver, double *x) {
    drape_solve_result result;
    bench_check(s->ctx, drape_solver_solve(solver, &s->problem, x, &result));
    return result;
}

static double time_multiplies(bench_system *s, const double *x, double *y) {
    double begin = bench_seconds();
    for (int i = 0; i < LONG - SHORT; i++) bench_check(s->ctx, drape_multiply(s->ctx, &s->A, x, y));
    return (bench_seconds() - begin) / (LONG - SHORT);
}

/* ---- An iteration and prefiltering ---- */

/* A block-diagonal method that is stopped early and late. */
typedef struct runner {
    const char *method;
    drape_solver *brief, *whole;
    double iteration[MOST_REPEATS], setup[MOST_REPEATS];
} runner;

static runner make_runner(bench_system *s, const char *method) {
    const double never = 1e-15;
    return (runner){.method = method,
                    .brief = make_solver(s, method, "block_diagonal", never, SHORT),
                    .whole = make_solver(s, method, "block_diagonal", never, LONG)};
}

static void run_once(bench_system *s, runner *r, int repeat, double *x) {
    drape_solve_result brief = solve(s, r->brief, x), whole = solve(s, r->whole, x);
    r->iteration[repeat] = (whole.solve_seconds - brief.solve_seconds) / (LONG - SHORT);
    r->setup[repeat] = whole.setup_seconds;
}

/* Differences have no useful minimum: a disturbed short run makes them small. */
static double lower_quartile(const double *sorted, int count) { return sorted[count / 4]; }

static void print_iterations(runner *runners, int count, int repeats, double multiply, double low_multiply) {
    bench_table("multiply");
    printf("  an iteration                   ms    in multiplies   of lower quartiles   (");
    bench_row();
    bench_number("multiply", "ms", "multiply: %.3f ms", 1e3 * multiply);
    bench_end(")\n");
    bench_table("iterations");
    for (int i = 0; i < count; i++) {
        double median = bench_median(runners[i].iteration, repeats);
        double low = lower_quartile(runners[i].iteration, repeats);
        bench_row();
        bench_text("method", "  %-24s", runners[i].method);
        bench_number("iteration", "ms", " %8.3f", 1e3 * median);
        bench_number("in multiplies", "", " %16.2f", median / multiply);
        bench_number("in multiplies, lower quartiles", "", " %20.2f", low / low_multiply);
        bench_end("\n");
        if (i == 0) bench_claim("ppcg iteration / multiply", median / multiply, low / low_multiply, 0, 1.35);
    }
}

static void print_prefiltering(runner *ppcg, double *prefilter, int repeats, double multiply, double least) {
    double formed = bench_median(prefilter, repeats), setup = bench_median(ppcg->setup, repeats);
    bench_claim("drape_prefilter / multiply", formed / multiply, prefilter[0] / least, 0, 3);
    bench_claim("ppcg's own set-up / multiply", setup / multiply, ppcg->setup[0] / least, 0, 3);
}

static double time_prefilter(bench_system *s, double *val, double *rhs) {
    double begin = bench_seconds();
    bench_check(s->ctx, drape_prefilter(s->ctx, &s->problem, val, rhs));
    return bench_seconds() - begin;
}

/* What is short is disturbed more, and can be repeated more. */
static int repeats_for(const bench_system *s) {
    return s->A.rows > 100000 ? 7 : s->A.rows > 20000 ? 21 : MOST_REPEATS;
}

static void count_in_multiplies(bench_system *s) {
    enum { METHODS = 3 };
    runner runners[METHODS] = {make_runner(s, "ppcg"), make_runner(s, "mpcg"), make_runner(s, "pcg")};
    int64_t n = bench_system_length(s);
    int repeats = repeats_for(s);
    double multiply[MOST_REPEATS], prefilter[MOST_REPEATS];
    double *x = bench_vector(n), *rhs = bench_vector(n), *val = bench_vector(9 * s->A.rowptr[s->A.rows]);
    for (int i = -1; i < repeats; i++) { /* -1: for the memory and the caches */
        int to = i < 0 ? 0 : i;
        for (int k = 0; k < METHODS; k++) run_once(s, &runners[k], to, x);
        multiply[to] = time_multiplies(s, x, rhs);
        prefilter[to] = time_prefilter(s, val, rhs);
    }
    double median = bench_median(multiply, repeats);
    print_iterations(runners, METHODS, repeats, median, lower_quartile(multiply, repeats));
    print_prefiltering(&runners[0], prefilter, repeats, median, multiply[0]);
    for (int k = 0; k < METHODS; k++) drape_solver_destroy(runners[k].brief), drape_solver_destroy(runners[k].whole);
    free(x), free(rhs), free(val);
}

/* ---- All pairs ---- */

typedef struct pair {
    const char *method, *precond;
    drape_solve_result result;
    double error; /* in the energy norm, relative */
    drape_solver *solver;
    int repeats; /* after the first */
    double setup[PAIR_REPEATS], solve[PAIR_REPEATS];
} pair;

static int list_pairs(pair *pairs) {
    int count = 0;
    for (int32_t m = 0; drape_method_name(m); m++)
        for (int32_t p = 0; drape_precond_name(p) && count < MOST_PAIRS; p++)
            if (strcmp(drape_method_name(m), "direct") != 0 && /* has no solver here */
                drape_method_takes(drape_method_name(m), drape_precond_name(p)))
                pairs[count++] = (pair){.method = drape_method_name(m), .precond = drape_precond_name(p)};
    return count;
}

/* The first solve of a pair allocates, and counts only where it is so slow that there is no second. */
static void run_pair(bench_system *s, pair *p, const double *exact, double *x, double *w) {
    const double patience = 1; /* s */
    if (p->solver && p->result.solve_seconds > patience) return;
    if (!p->solver) p->solver = make_solver(s, p->method, p->precond, 1e-5, MOST_ITERATIONS);
    else p->repeats++;
    p->result = solve(s, p->solver, x);
    int to = p->repeats > 0 ? p->repeats - 1 : 0;
    p->setup[to] = p->result.setup_seconds;
    p->solve[to] = p->result.solve_seconds;
    p->error = bench_energy_error(s, exact, x, w);
}

static void print_pair(pair *p) {
    int count = p->repeats > 0 ? p->repeats : 1;
    double setup = bench_median(p->setup, count), seconds = bench_median(p->solve, count);
    bench_row();
    bench_text("method", "  %-17s", p->method);
    bench_text("preconditioner", " %-15s", p->precond);
    bench_count("iterations", " %10d", p->result.iterations);
    bench_number("set-up", "ms", " %9.2f", 1e3 * setup);
    bench_number("solve", "ms", " %9.1f", 1e3 * seconds);
    bench_number("solve, least", "ms", " %9.1f", 1e3 * p->solve[0]);
    bench_number("energy error", "", " %13.1e", p->error);
    bench_number("moved", "GB", " %9.3f", 1e-9 * (double)p->result.bytes_moved);
    bench_number("speed", "GB/s", " %6.1f", 1e-9 * (double)p->result.bytes_moved / seconds);
    bench_text("reason", "  %s", drape_reason_name(p->result.reason));
    bench_end("\n");
}

static void compare_pairs(bench_system *s) {
    pair pairs[MOST_PAIRS];
    int count = list_pairs(pairs);
    int64_t n = bench_system_length(s);
    double *exact = bench_vector(n), *x = bench_vector(n), *w = bench_vector(n);
    bench_solve_exactly(s, exact);
    for (int repeat = -1; repeat < PAIR_REPEATS; repeat++)
        for (int i = 0; i < count; i++) run_pair(s, &pairs[i], exact, x, w);
    bench_table("pairs");
    printf("  %-17s %-15s %10s %9s %9s %9s %13s %9s %6s\n", "method", "preconditioner", "iterations", "set-up ms",
           "solve ms", "least", "energy error", "GB moved", "GB/s");
    for (int i = 0; i < count; i++) {
        print_pair(&pairs[i]);
        drape_solver_destroy(pairs[i].solver);
    }
    free(exact), free(x), free(w);
}

void bench_solvers(const bench_options *options) {
    static const int32_t usual[] = {101, 201, 601}, small[] = {31};
    const int32_t *resolutions = options->quick ? small : usual;
    for (int i = 0; i < (options->quick ? 1 : 3); i++) {
        bench_system *s = bench_system_create(
            &(bench_request){.scene = "drooping", .resolution = resolutions[i], .threads = THREADS});
        int large = resolutions[i] > 201;
        bench_keys();
        bench_count("vertices", "\n%d vertices", s->A.rows);
        bench_text("state", ", %s", bench_system_about(s));
        bench_count("threads", "; %d threads", THREADS);
        bench_end("\n");
        count_in_multiplies(s);
        if (!large) compare_pairs(s);
        bench_against_eigen(s, large ? 1e-2 : 1e-6, !large);
        bench_system_destroy(s);
    }
}

/* ---- Sheets ---- */

static void solve_sheet(const bench_request *want) {
    bench_system *s = bench_system_create(want);
    double seconds[REPEATS], *x = bench_vector(bench_system_length(s));
    drape_solve_result result = {0};
    drape_solver *solver;
    bench_check(s->ctx, drape_solver_create(s->ctx, NULL, &solver));
    for (int i = -1; i < REPEATS; i++) {
        bench_check(s->ctx, drape_solver_solve(solver, &s->problem, x, &result));
        if (i >= 0) seconds[i] = result.solve_seconds / (result.iterations + 1);
    }
    double median = bench_median(seconds, REPEATS);
    bench_row();
    bench_text("scene", "%-10s", want->scene);
    bench_text("mesh", " %-10s", bench_mesh_name(want->mesh));
    bench_text("fabric", " %-8s", want->fabric ? want->fabric : "sheet");
    bench_count("vertices", " %8d", s->A.rows);
    bench_count("iterations", " %10d", result.iterations);
    bench_number("iteration", "us", " %14.1f", 1e6 * median);
    bench_number("iteration, least", "us", " %8.1f", 1e6 * seconds[0]);
    bench_number("true residual", "", " %14.1e", result.true_residual);
    bench_text("reason", "  %s", drape_reason_name(result.reason));
    bench_end("\n");
    free(x);
    drape_solver_destroy(solver);
    bench_system_destroy(s);
}

void bench_sheets(const bench_options *options) {
    static const char *const scenes[] = {"drooping", "pinned", "reentrant", "oblique"};
    const int32_t side = options->quick ? 21 : 61;
    bench_table("sheets");
    printf("%-10s %-10s %-8s %8s %10s %14s %8s %14s\n", "scene", "mesh", "fabric", "vertices", "iterations",
           "us/iteration", "least", "true residual");
    for (int i = 0; i < (options->quick ? 1 : 4); i++) {
        for (bench_mesh mesh = BENCH_REGULAR; mesh <= BENCH_SHUFFLED; mesh++)
            solve_sheet(
                &(bench_request){.scene = scenes[i], .resolution = side, .mesh = mesh, .threads = options->threads});
        solve_sheet(&(bench_request){
            .scene = scenes[i], .resolution = side, .fabric = "cotton", .threads = options->threads});
    }
    for (bench_mesh mesh = BENCH_REGULAR; mesh <= BENCH_SHUFFLED; mesh++)
        solve_sheet(
            &(bench_request){.scene = "drooping", .resolution = 201, .mesh = mesh, .threads = options->threads});
}
