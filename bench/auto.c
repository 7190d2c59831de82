/* auto.c: what "auto" takes, and what that costs, against what it chooses from.
 *
 * - By bytes: the counted bytes that it moved, relative to the best fixed choice on the same systems: the block
 * diagonal, incomplete Cholesky, or amg with 3 or 6 modes. No clock in these.
 * - By time: its own over the block diagonal's, which is what one has who does not choose: the median over pairs of
 *   neighbours in time.
 * - The parts: what src/linear/choice.c has constants for, in iterations of the block diagonal on the same system.
 *
 * Once, by a new solver, and running, 20 steps by one solver; amg_race.c does the measuring. */
#include "amg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SCENES_SIDE = 61 };
enum { PAIR = 1 << RACE_BASE | 1 << RACE_AUTO };

static const double MOST_BYTES = 1.2, MOST_TIME = 1.1;
static const int32_t fixed[] = {RACE_BASE, RACE_ICHOL, RACE_THREE, RACE_SIX};
enum { FIXED = sizeof fixed / sizeof *fixed };

/* ---- How often ---- */

static int32_t pairs_for(const bench_options *options, int32_t vertices) {
    return options->quick || vertices >= 300000 ? 3 : vertices >= BENCH_LARGE ? 7 : RACE_MOST_REPEATS;
}

/* A run has 20 pairs, or where the block diagonal is slow seven or three. */
static race_plan times_plan(const bench_options *options, int32_t vertices) {
    race_plan plan = {.once = pairs_for(options, vertices), .rarely = 1};
    plan.running = options->quick || vertices >= 300000 ? 1 : vertices >= 5000 ? 2 : plan.once;
    if (vertices >= BENCH_LARGE) plan.rarely = vertices >= 300000 ? 8 : 3;
    return plan;
}

static race_plan bytes_plan(const bench_options *options, int32_t vertices) {
    race_plan plan = times_plan(options, vertices);
    plan.once = options->quick || vertices >= 300000 ? 1 : 3;
    plan.running = 1;
    return plan;
}

/* ---- The choice ---- */

/* Once or running. */
typedef struct outcome {
    const drape_solve_result *taken; /* the last */
    double iterations;               /* mean of a solve */
    double bytes, time;              /* over the best's, over the block diagonal's */
    int32_t best;                    /* by bytes, of those that converged */
    bool failed;
} outcome;

static double bytes_of(const racer *r, bool running) {
    if (r->failures) return HUGE_VAL;
    return running ? r->mean_bytes : (double)r->first.bytes_moved;
}

static int32_t find_best(const race_result *all, bool running) {
    int32_t best = RACE_BASE;
    for (int32_t i = 1; i < FIXED; i++)
        if (bytes_of(&all->racer[fixed[i]], running) < bytes_of(&all->racer[best], running)) best = fixed[i];
    return best;
}

static outcome judge(const race_result *all, const race_result *pair, bool running) {
    const racer *own = &all->racer[RACE_AUTO];
    outcome o = {.taken = running ? &own->last : &own->first,
                 .iterations = running ? own->mean_iterations : own->first.iterations,
                 .time =
                     running ? pair->racer[RACE_AUTO].times.pairs_running : pair->racer[RACE_AUTO].times.pairs_once,
                 .best = find_best(all, running),
                 .failed = own->failures + pair->racer[RACE_AUTO].failures > 0};
    o.bytes = bytes_of(own, running) / bytes_of(&all->racer[o.best], running);
    return o;
}

/* ---- The table ---- */

typedef struct tally {
    int32_t reached, claims;
    double bytes, time; /* the worst */
} tally;

static void print_head(void) {
    for (int32_t i = 0; i < 2; i++)
        printf("%*s | %-61s", i ? 0 : 25, "", i ? "20 steps, by one solver" : "one system, by a new solver");
    printf(" |\n  %-10s %3s %8s", "scene", "ms", "vertices");
    for (int32_t i = 0; i < 2; i++)
        printf(" | %-16s %9s %9s %-16s %6s", i ? "took, at last" : "took", "iteration", "bytes of", "the best",
               "time");
    printf(" |\n");
}

static const char *const occasions[] = {"once", "running"};

/* The column of an occasion; lasts until the next one. */
static const char *column_of(int32_t when, const char *what) {
    static char column[64];
    snprintf(column, sizeof column, "%s, %s", occasions[when], what);
    return column;
}

static void print_outcome(int32_t when, const outcome *o) {
    char took[40];
    snprintf(took, sizeof took, "%s%s%s", o->taken->precond,
             o->taken->modes ? (o->taken->modes == 6 ? ", 6" : ", 3") : "",
             o->taken->fallbacks ? " (fell back)" : "");
    bench_text(column_of(when, "took"), " | %-16s", took);
    bench_number(column_of(when, "iterations"), "", " %9.1f", o->iterations);
    bench_number(column_of(when, "bytes of the best"), "", " %9.2f", o->bytes);
    bench_text(column_of(when, "the best"), " %-16s", race_name(o->best));
    bench_number(column_of(when, "time"), "", " %6.2f", o->time);
}

static void count(const outcome *o, tally *t) {
    t->reached += (o->bytes <= MOST_BYTES) + (o->time <= MOST_TIME);
    t->claims += 2;
    t->bytes = fmax(t->bytes, o->bytes);
    t->time = fmax(t->time, o->time);
}

static void print_misses(const outcome o[2]) {
    for (int32_t i = 0; i < 2; i++) {
        if (o[i].bytes > MOST_BYTES) printf(" MISSED bytes %s", occasions[i]);
        if (o[i].time > MOST_TIME) printf(" MISSED time %s", occasions[i]);
        if (o[i].failed) bench_text(column_of(i, "remark"), " %s", "did not converge");
    }
}

static void compare(const bench_options *options, const bench_request *request, tally *t) {
    race_result all, pair;
    bench_system *s = bench_system_create(request);
    race_plan bytes = bytes_plan(options, s->A.rows), times = times_plan(options, s->A.rows);
    race_run(s, RACE_ALL, &bytes, &all);
    race_run(s, PAIR, &times, &pair);
    bench_row();
    bench_text("scene", "  %-10s", request->scene);
    bench_number("step", "ms", " %3g", 1e3 * s->step);
    bench_count("vertices", " %8d", s->A.rows);
    bench_system_destroy(s);
    outcome o[2] = {judge(&all, &pair, false), judge(&all, &pair, true)};
    for (int32_t i = 0; i < 2; i++) {
        print_outcome(i, &o[i]);
        count(&o[i], t);
    }
    printf(" |");
    print_misses(o);
    bench_end("\n");
}

static void compare_all(const bench_options *options, const int32_t *sides, int32_t sizes) {
    static const double steps[] = {0.002, 0.01};
    tally t = {0};
    bench_table("choices");
    print_head();
    for (int32_t h = 0; h < 2; h++)
        for (int32_t i = 0; i < sizes; i++)
            compare(options,
                    &(bench_request){
                        .scene = "drooping", .resolution = sides[i], .step = steps[h], .threads = options->threads},
                    &t);
    for (int32_t h = 0; h < 2; h++)
        compare(options,
                &(bench_request){.scene = "reentrant",
                                 .resolution = options->quick ? sides[0] : SCENES_SIDE,
                                 .step = steps[h],
                                 .threads = options->threads},
                &t);
    printf("  %d of %d reached\n", t.reached, t.claims);
    bench_claim_count("bytes of auto / of the best, the worst of all", t.bytes, 0, MOST_BYTES);
    bench_claim_count("time of auto / of block_diagonal, the worst of all", t.time, 0, MOST_TIME);
}

/* ---- The parts ---- */

enum { PART_REPEATS = 7 };
enum { BUILD, REFRESH, KEEP, ITERATION, PARTS };

static const char *const part_names[PARTS] = {"build", "refresh", "keep", "iteration"};

typedef struct part_times {
    double seconds[PARTS][PART_REPEATS];
    int32_t iterations;
} part_times;

/* By a new solver, whose second solve is set up as `reuse` of drape_amg_settings says; x is lost. */
static void time_parts(bench_system *s, int32_t who, drape_reuse reuse, int32_t repeat, double *x, part_times *out) {
    drape_solve_settings settings = race_settings(who, RACE_TOLERANCE);
    drape_solve_result first, second;
    drape_solver *solver;
    settings.amg.reuse = reuse;
    bench_rest();
    bench_check(s->ctx, drape_solver_create(s->ctx, &settings, &solver));
    bench_check(s->ctx, drape_solver_solve(solver, &s->problem, x, &first));
    bench_check(s->ctx, drape_solver_solve(solver, &s->problem, x, &second));
    drape_solver_destroy(solver);
    out->iterations = second.iterations;
    out->seconds[BUILD][repeat] = first.setup_seconds;
    out->seconds[reuse == DRAPE_REUSE_PATTERNS ? REFRESH : KEEP][repeat] = second.setup_seconds;
    out->seconds[ITERATION][repeat] = second.solve_seconds / (second.iterations + 1); /* and once to begin */
}

static void print_parts(const bench_system *s, part_times times[FIXED], int32_t repeats) {
    double pass = bench_median(times[0].seconds[ITERATION], repeats);
    for (int32_t k = 0; k < FIXED; k++) {
        bench_row();
        bench_count("vertices", "  %8d", s->A.rows);
        bench_text("preconditioner", " %-14s", race_name(fixed[k]));
        bench_count("iterations", " %10d", times[k].iterations);
        for (int32_t part = 0; part < PARTS; part++)
            bench_number(part_names[part], "iterations of the block diagonal", " %9.2f",
                         bench_median(times[k].seconds[part], repeats) / pass);
        bench_end("\n");
    }
}

static void measure_parts(const bench_options *options, int32_t side) {
    part_times times[FIXED];
    bench_system *s =
        bench_system_create(&(bench_request){.scene = "drooping", .resolution = side, .threads = options->threads});
    int32_t repeats = options->quick || s->A.rows >= BENCH_LARGE ? 1 : PART_REPEATS;
    double *x = bench_vector(bench_system_length(s));
    for (int32_t i = 0; i < repeats; i++)
        for (int32_t k = 0; k < FIXED; k++)
            for (int32_t keep = 0; keep < 2; keep++)
                time_parts(s, fixed[k], keep ? DRAPE_REUSE_EVERYTHING : DRAPE_REUSE_PATTERNS, i, x, &times[k]);
    print_parts(s, times, repeats);
    free(x);
    bench_system_destroy(s);
}

static void measure_all_parts(const bench_options *options, const int32_t *sides, int32_t sizes) {
    printf("\nThe parts, in iterations of PPCG with the block diagonal on the same system; drooping, 2 ms\n"
           "  %8s %-14s %10s",
           "vertices", "preconditioner", "iterations");
    for (int32_t part = 0; part < PARTS; part++) printf(" %9s", part_names[part]);
    putchar('\n');
    bench_table("parts");
    for (int32_t i = 0; i < sizes; i++) measure_parts(options, sides[i]);
}

void bench_auto(const bench_options *options) {
    static const int32_t own[] = {11, 16, 23, 31, 45, 61, 81, 101, 151, 201, 301}, few[] = {11, 31};
    int32_t sides[BENCH_MOST_SIZES],
        sizes = options->quick ? bench_sizes(options, few, 2, sides) : bench_sizes(options, own, 11, sides);
    compare_all(options, sides, sizes);
    measure_all_parts(options, sides, sizes);
}
