/* amg_scaling.c: how multigrid grows with the mesh.
 *
 * - One configuration, the same for every size and scene: iterations to a preconditioned residual of 1e-5, and the
 *   convergence rate, the mean factor by which an iteration shrinks that residual. No clock in these.
 * - The set-up of a new solver with one thread and with several. */
#include "amg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { REFERENCE_SIDE = 101 };

static const char *const scenes[] = {"drooping", "pinned", "reentrant", "oblique"};
enum { DROOPING, SCENES = sizeof scenes / sizeof *scenes };

/* ---- One configuration ---- */

typedef struct growth {
    int32_t iterations;
    double rate; /* 1 where it did not converge */
} growth;

static const struct configuration {
    const char *name;
    int32_t racer;
    drape_cycle cycle;
} configurations[] = {{"3 modes", RACE_THREE, DRAPE_CYCLE_V},
                      {"6 modes", RACE_SIX, DRAPE_CYCLE_V},
                      {"6 modes, W-cycle", RACE_SIX, DRAPE_CYCLE_W}};
enum { CONFIGURATIONS = sizeof configurations / sizeof *configurations, STEADY = 2 /* the one that hardly grows */ };

typedef struct growths {
    growth at[SCENES][CONFIGURATIONS][BENCH_MOST_SIZES];
} growths;

static growth solve_one(bench_system *s, const struct configuration *how) {
    drape_solve_settings settings = race_settings(how->racer, RACE_TOLERANCE);
    drape_solve_result result;
    drape_solver *solver;
    settings.amg.cycle = how->cycle;
    bench_check(s->ctx, drape_solver_create(s->ctx, &settings, &solver));
    double *x = bench_vector(bench_system_length(s));
    bench_check(s->ctx, drape_solver_solve(solver, &s->problem, x, &result));
    free(x);
    drape_solver_destroy(solver);
    if (result.reason != DRAPE_CONVERGED || result.iterations == 0) return (growth){result.iterations, 1};
    return (growth){result.iterations, pow(result.residual, 1.0 / result.iterations)};
}

static void solve_all(const bench_options *options, const int32_t *sides, int32_t count, growths *g) {
    for (int32_t k = 0; k < SCENES; k++)
        for (int32_t i = 0; i < count; i++) {
            bench_system *s = bench_system_create(
                &(bench_request){.scene = scenes[k], .resolution = sides[i], .threads = options->threads});
            for (int32_t m = 0; m < CONFIGURATIONS; m++) g->at[k][m][i] = solve_one(s, &configurations[m]);
            bench_system_destroy(s);
        }
}

static void print_growth(int32_t side, const growth *g) {
    char column[32];
    snprintf(column, sizeof column, "%d^2, iterations", side);
    bench_count(column, "  %3d", g->iterations);
    snprintf(column, sizeof column, "%d^2, rate", side);
    bench_number(column, "", " %.2f", g->rate);
}

static void print_growths(const int32_t *sides, int32_t count, const growths *g) {
    bench_keys();
    bench_end("");
    bench_table("scaling");
    printf("\nOne configuration for all: iterations and convergence rate to 1e-5, regular meshes, the sheet, 2 ms\n");
    printf("  %-10s %-16s", "scene", "amg");
    for (int32_t i = 0; i < count; i++) printf("   %5d^2", sides[i]);
    putchar('\n');
    for (int32_t k = 0; k < SCENES; k++)
        for (int32_t m = 0; m < CONFIGURATIONS; m++) {
            bench_row();
            bench_text("scene", "  %-10s", scenes[k]);
            bench_text("amg", " %-16s", configurations[m].name);
            for (int32_t i = 0; i < count; i++) print_growth(sides[i], &g->at[k][m][i]);
            bench_end("\n");
        }
}

/* -1: that size was not asked for. */
static int32_t index_of(const int32_t *sides, int32_t count, int32_t side) {
    for (int32_t i = 0; i < count; i++)
        if (sides[i] == side) return i;
    return -1;
}

static int32_t index_of_largest(const int32_t *sides, int32_t count) {
    int32_t largest = 0;
    for (int32_t i = 1; i < count; i++)
        if (sides[i] > sides[largest]) largest = i;
    return largest;
}

static void claim_growth(const int32_t *sides, int32_t count, const growths *g) {
    int32_t from = index_of(sides, count, REFERENCE_SIDE), to = index_of_largest(sides, count);
    if (from < 0 || sides[to] <= REFERENCE_SIDE) return;
    for (int32_t k = 0; k < SCENES; k++) {
        const growth *at = g->at[k][STEADY];
        char text[96];
        snprintf(text, sizeof text, "%s, %s: iterations at %d^2 / at %d^2", scenes[k], configurations[STEADY].name,
                 sides[to], REFERENCE_SIDE);
        bench_claim_count(text, (double)at[to].iterations / at[from].iterations, 0, 1.6);
    }
}

static void claim_rate(int32_t count, const growths *g) {
    for (int32_t m = 1; m < CONFIGURATIONS; m++) {
        double worst = 0;
        char text[96];
        for (int32_t i = 0; i < count; i++) worst = fmax(worst, g->at[DROOPING][m][i].rate);
        snprintf(text, sizeof text, "drooping, %s: convergence rate, the worst", configurations[m].name);
        bench_claim_count(text, worst, 0, 0.45);
    }
}

void bench_amg_scaling(const bench_options *options, const int32_t *sides, int32_t count) {
    growths g;
    solve_all(options, sides, count, &g);
    print_growths(sides, count, &g);
    claim_growth(sides, count, &g);
    claim_rate(count, &g);
}

/* ---- Threads ---- */

enum { SETUP_REPEATS = 15, ALONE = 0, TOGETHER = 1 };

static const double SETUP_GAIN = 1.7; /* what two threads are to gain over one */

typedef struct setup_times {
    double setup[2][SETUP_REPEATS], solve[2][SETUP_REPEATS]; /* s, with one thread and with several */
} setup_times;

static void time_setup(bench_system *s, drape_context *ctx, int32_t who, double *x, double *setup, double *seconds) {
    drape_solve_result result;
    bench_rest();
    drape_solver *solver = race_solver(ctx, who, RACE_TOLERANCE);
    bench_check(ctx, drape_solver_solve(solver, &s->problem, x, &result));
    drape_solver_destroy(solver);
    *setup = result.setup_seconds;
    *seconds = result.solve_seconds;
}

/* How many times faster the threads read a cache than one does: nothing but processors is needed for that, so it is
 * what the machine gives at the moment. */
typedef struct yardstick {
    sweeper *sweepers[2];
    double *data, seconds[2][SETUP_REPEATS];
} yardstick;

enum { YARD_BYTES = 1 << 20, YARD_TIMES = 500 };

static yardstick open_yardstick(int32_t threads) {
    return (yardstick){{sweeper_create(1), sweeper_create(threads)}, bench_vector(YARD_BYTES / 8), {{0}}};
}

static void measure_yardstick(yardstick *y, int32_t who, int32_t repeat) {
    const sweep_range range = {y->data, YARD_BYTES};
    double begin = bench_seconds();
    for (int32_t t = 0; t < YARD_TIMES; t++) sweeper_run(y->sweepers[who], &range, 1);
    y->seconds[who][repeat] = bench_seconds() - begin;
}

static double close_yardstick(yardstick *y, int32_t repeats) {
    for (int32_t k = ALONE; k <= TOGETHER; k++) sweeper_destroy(y->sweepers[k]);
    free(y->data);
    return bench_median(y->seconds[ALONE], repeats) / bench_median(y->seconds[TOGETHER], repeats);
}

/* It is asked of two threads, where there is enough to share. */
static bool is_claimed(const bench_options *options, int32_t vertices) {
    return options->threads == 2 && vertices >= REFERENCE_SIDE * REFERENCE_SIDE;
}

/* At the end of its row. */
static void print_setup_claim(int32_t vertices, int32_t who, double ratio) {
    char what[80];
    snprintf(what, sizeof what, "%d vertices, %s: set-up, one thread / two", vertices, race_name(who));
    printf(" >= %g %s", SETUP_GAIN, bench_holds(what, ratio, 1, SETUP_GAIN) ? "reached" : "MISSED");
}

static void print_setup(const bench_options *options, int32_t vertices, int32_t who, setup_times *t, double yard,
                        int32_t repeats) {
    double setup[2], seconds[2];
    for (int32_t i = ALONE; i <= TOGETHER; i++) {
        setup[i] = bench_median(t->setup[i], repeats);
        seconds[i] = bench_median(t->solve[i], repeats);
    }
    double ratio = setup[ALONE] / setup[TOGETHER];
    bench_row();
    bench_count("vertices", "  %8d", vertices);
    bench_text("preconditioner", " %-14s |", race_name(who));
    bench_number("set-up, one thread", "ms", " %10.1f", 1e3 * setup[ALONE]);
    bench_number("set-up, threads", "ms", " %10.1f", 1e3 * setup[TOGETHER]);
    bench_number("set-up, ratio", "", " %7.2f", ratio);
    bench_number("set-up, ratio, best", "", " %8.2f |", t->setup[ALONE][0] / t->setup[TOGETHER][0]);
    bench_number("solve, one thread", "ms", " %10.1f", 1e3 * seconds[ALONE]);
    bench_number("solve, threads", "ms", " %10.1f", 1e3 * seconds[TOGETHER]);
    bench_number("solve, ratio", "", " %7.2f |", seconds[ALONE] / seconds[TOGETHER]);
    bench_number("machine, ratio", "", " %7.2f |", yard);
    if (is_claimed(options, vertices)) print_setup_claim(vertices, who, ratio);
    bench_end("\n");
}

static void compare_setups(const bench_options *options, int32_t side) {
    setup_times times[2];
    drape_context *alone = bench_context(1);
    bench_system *s =
        bench_system_create(&(bench_request){.scene = "drooping", .resolution = side, .threads = options->threads});
    drape_context *in[2] = {alone, s->ctx};
    int32_t repeats = options->quick || s->A.rows > 100000 ? 3 : SETUP_REPEATS;
    double *x = bench_vector(bench_system_length(s));
    yardstick y = open_yardstick(options->threads);
    for (int32_t i = 0; i < repeats; i++)
        for (int32_t k = ALONE; k <= TOGETHER; k++) {
            for (int32_t m = 0; m < 2; m++)
                time_setup(s, in[k], RACE_THREE + m, x, &times[m].setup[k][i], &times[m].solve[k][i]);
            measure_yardstick(&y, k, i);
        }
    double yard = close_yardstick(&y, repeats);
    for (int32_t m = 0; m < 2; m++) print_setup(options, s->A.rows, RACE_THREE + m, &times[m], yard, repeats);
    free(x);
    bench_system_destroy(s);
    drape_context_destroy(alone);
}

void bench_amg_setup(const bench_options *options, const int32_t *sides, int32_t count) {
    if (options->threads == 1) return;
    bench_keys();
    bench_end("");
    bench_table("set-up");
    printf("\nThe set-up of a new solver with one thread and with %d, and its solve; `best`: of the shortest times;\n"
           "`machine`: what reading a cache gained meanwhile, which needs nothing but processors.\n",
           options->threads);
    printf("  %-23s | %-38s | %-29s | %7s |\n", "", "set-up", "solve", "machine");
    printf("  %8s %-14s | %10s %10s %7s %8s | %10s %10s %7s | %7s |\n", "vertices", "", "one, ms", "more, ms",
           "ratio", "best", "one, ms", "more, ms", "ratio", "ratio");
    for (int32_t i = 0; i < count; i++) compare_setups(options, sides[i]);
}
