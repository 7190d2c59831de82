/* peers.c: drape's multigrid beside what others offer, one system solved once, from nothing and from zero.
 *
 * All get the prefiltered system, free of charge, in a form of their own, and stop at a relative preconditioned
 * residual of 1e-5 or at what is nearest to it. That norm is another for everyone, so the true residual |b^ - A^x| /
 * |b^| and the true error in the energy norm, against a solution of 1e-11, stand beside the times.
 *
 * In the table "running" those that can keep what they made solve the systems of 20 steps of an animation.
 *
 * Times are medians of repeats in turn; "times" is how many times as long as drape's default it took. Who does not
 * converge the first time does not get a second. */
#include "peers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 20, QUICK_STEPS = 3 };
enum { MOST_ENTRANTS = 24, MOST_RUNS = 5, FEW_RUNS = 3, SCENES_SIDE = 201, QUICK_SIDE = 61 };
enum { SMALL = 20000, CLAIMED = 10000 /* vertices */ };
static const double TOLERANCE = 1e-5, REQUIRED = 4;
static const double REQUIRED_SMALL = 2.5, REQUIRED_LARGE = 3, REQUIRED_RUNNING = 6; /* of AMGCL */
static const double LONG_STEP = 0.01;                                               /* s */
static const double WRONG = 1e-2; /* energy error of one that says that it converged, and did not */

static const peer_library *const libraries[] = {&bench_peers_drape, &bench_peers_petsc, &bench_peers_cholmod,
                                                &bench_peers_eigen, &bench_peers_amgcl};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

typedef struct entrant {
    const peer_library *library;
    void *state; /* of its library */
    int32_t member, workers;
    char name[64];
    bool failed; /* gave no answer at all */
    peer_result result;
    double once[MOST_RUNS], setup[MOST_RUNS]; /* s */
    double residual, error;
} entrant;

typedef struct contest {
    peer_problem problem;
    void *state[LIBRARIES];
    entrant entrants[MOST_ENTRANTS]; /* drape's default is the first */
    int32_t count, repeats;
    double *exact, *x, *w;
} contest;

/* ---- Who takes part ---- */

static void enter(contest *c, int32_t index, int32_t member, int32_t workers) {
    const peer_library *library = libraries[index];
    if (c->count == MOST_ENTRANTS) abort();
    entrant *e = &c->entrants[c->count++];
    *e = (entrant){.library = library, .state = c->state[index], .member = member, .workers = workers};
    if (library->workers)
        snprintf(e->name, sizeof e->name, "%s, %d %s", library->members[member], workers,
                 workers == 1 ? library->worker : library->workers);
    else snprintf(e->name, sizeof e->name, "%s", library->members[member]);
}

static void invite(contest *c, int32_t index) {
    const peer_library *library = libraries[index];
    if (!library->create) {
        printf("  %s: not there\n", library->name);
        return;
    }
    c->state[index] = library->create(&c->problem);
    if (!c->state[index]) {
        printf("  %s: not there\n", library->name);
        return;
    }
    for (int32_t m = 0; library->members[m]; m++) {
        enter(c, index, m, c->problem.threads);
        if (library->workers && c->problem.threads > 1) enter(c, index, m, 1);
    }
}

static int32_t repeats_for(const bench_options *options, int32_t vertices) {
    if (options->quick) return 1;
    return vertices > SMALL ? FEW_RUNS : MOST_RUNS;
}

static void open_contest(contest *c, const bench_options *options, bench_system *s) {
    int64_t n = bench_system_length(s);
    *c = (contest){.problem = {s, s->A, bench_vector(n), TOLERANCE, options->threads},
                   .repeats = repeats_for(options, s->A.rows),
                   .exact = bench_vector(n),
                   .x = bench_vector(n),
                   .w = bench_vector(n)};
    c->problem.A.val = bench_vector(9 * s->A.rowptr[s->A.rows]);
    bench_check(s->ctx, drape_prefilter(s->ctx, &s->problem, c->problem.A.val, c->problem.rhs));
    bench_solve_exactly(s, c->exact);
    for (int32_t i = 0; i < LIBRARIES; i++)
        if (!(libraries[i]->bit & options->without)) invite(c, i);
}

static void close_contest(contest *c) {
    for (int32_t i = 0; i < LIBRARIES; i++)
        if (c->state[i]) libraries[i]->destroy(c->state[i]);
    free(c->problem.A.val), free(c->problem.rhs);
    free(c->exact), free(c->x), free(c->w);
}

/* ---- Runs ---- */

/* Of the prefiltered system, which drape's x solves too: it is zero in the directions that are held. */
static double residual_of(contest *c) {
    const peer_problem *p = &c->problem;
    double rr = 0, bb = 0;
    bench_check(p->system->ctx, drape_multiply(p->system->ctx, &p->A, c->x, c->w));
    for (int64_t i = 0; i < bench_system_length(p->system); i++) {
        rr += (p->rhs[i] - c->w[i]) * (p->rhs[i] - c->w[i]);
        bb += p->rhs[i] * p->rhs[i];
    }
    return sqrt(rr / bb);
}

static bool counts(const entrant *e) { return !e->failed && e->result.converged && e->error < WRONG; }

static void compete(contest *c, entrant *e, int32_t repeat) {
    bench_rest();
    e->failed = !e->library->run(e->state, e->member, e->workers, c->x, &e->result);
    if (e->failed) return;
    e->setup[repeat] = e->result.setup;
    e->once[repeat] = e->result.setup + e->result.solve;
    e->residual = residual_of(c);
    e->error = bench_energy_error(c->problem.system, c->exact, c->x, c->w);
}

static void run_all(contest *c) {
    peer_result warm;
    c->entrants[0].library->run(c->entrants[0].state, 0, c->problem.threads, c->x, &warm);
    for (int32_t i = 0; i < c->repeats; i++)
        for (int32_t k = 0; k < c->count; k++)
            if (i == 0 || counts(&c->entrants[k])) compete(c, &c->entrants[k], i);
}

/* ---- Tables ---- */

/* once and setup are sorted by it, so that once[0] is the least. */
static double median_of(const contest *c, entrant *e) { return bench_median(e->once, counts(e) ? c->repeats : 1); }

static void print_entrant(contest *c, entrant *e, double ours) {
    bench_row();
    bench_text("solver", "  %-34s", e->name);
    if (e->failed) {
        bench_text("remark", " %s", "failed");
        bench_end("\n");
        return;
    }
    double once = median_of(c, e), setup = bench_median(e->setup, counts(e) ? c->repeats : 1);
    bench_number("once", "ms", " %9.1f", 1e3 * once);
    bench_number("set-up", "ms", " %9.1f", 1e3 * setup);
    bench_count("iterations", " %10d", e->result.iterations);
    bench_number("true residual", "", " %14.1e", e->residual);
    bench_number("energy error", "", " %13.1e", e->error);
    if (!e->result.converged) bench_text("remark", "  %s", "did not converge");
    else if (!counts(e)) bench_text("remark", "  %s", "says that it converged");
    else bench_number("times", "", " %7.2f", once / ours);
    bench_end("\n");
}

/* The fastest of AMGCL, or of all others, by medians, and by shortest times. */
static void claim(contest *c, double ours, bool amgcl, double required) {
    double median = INFINITY, least = INFINITY;
    const char *best = NULL;
    char text[80];
    for (int32_t k = 0; k < c->count; k++) {
        entrant *e = &c->entrants[k];
        if (e->library == &bench_peers_drape || (e->library == &bench_peers_amgcl) != amgcl || !counts(e)) continue;
        least = fmin(least, e->once[0]);
        if (median_of(c, e) >= median) continue;
        median = median_of(c, e);
        best = e->name;
    }
    if (!best) return;
    snprintf(text, sizeof text, "%s / drape amg", best);
    bench_claim(text, median / ours, least / c->entrants[0].once[0], 1, required);
}

/* For the plot: the time of the fastest of each library that converged, by size; NaN: none did. */
static struct {
    int32_t count;
    double vertices[BENCH_MOST_SIZES], once[BENCH_MOST_SIZES][LIBRARIES];
} fastest;

static bool is_plotted(const bench_request *r) {
    return strcmp(r->scene, "drooping") == 0 && r->mesh == BENCH_REGULAR && r->step == 0;
}

static void keep_fastest(contest *c, double vertices) {
    if (fastest.count == BENCH_MOST_SIZES) return;
    double *once = fastest.once[fastest.count];
    fastest.vertices[fastest.count++] = vertices;
    for (int32_t i = 0; i < LIBRARIES; i++) once[i] = NAN;
    for (int32_t k = 0; k < c->count; k++) {
        entrant *e = &c->entrants[k];
        for (int32_t i = 0; i < LIBRARIES; i++)
            if (libraries[i] == e->library && counts(e))
                once[i] = fmin(median_of(c, e), once[i]); /* fmin ignores NaN */
    }
}

static void plot_fastest(void) {
    char name[32];
    bench_plot("once", "One system of `drooping`, solved once: the fastest of each library");
    bench_plot_caption("Set-up and solve. Those that did not converge are left out.");
    bench_plot_axis('x', "vertices", "", BENCH_LOG);
    bench_plot_axis('y', "time", "ms", BENCH_LOG);
    for (int32_t i = 0; i < LIBRARIES; i++) {
        int32_t there = 0;
        for (int32_t k = 0; k < fastest.count; k++) there += isfinite(fastest.once[k][i]);
        if (there == 0) continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(libraries[i]->name, " "), libraries[i]->name);
        bench_curve(name, i, BENCH_OURS);
        for (int32_t k = 0; k < fastest.count; k++) bench_point(fastest.vertices[k], 1e3 * fastest.once[k][i]);
    }
}

static void compare(const bench_options *options, const bench_request *request) {
    bench_system *s = bench_system_create(request);
    contest c;
    bench_table("solvers");
    bench_system_print(request, s);
    open_contest(&c, options, s);
    run_all(&c);
    printf("  %-34s %9s %9s %10s %14s %13s %7s\n", "solver", "once ms", "set-up", "iterations", "true residual",
           "energy error", "times");
    double ours = median_of(&c, &c.entrants[0]);
    for (int32_t k = 0; k < c.count; k++) print_entrant(&c, &c.entrants[k], ours);
    if (s->A.rows >= CLAIMED) {
        claim(&c, ours, false, REQUIRED);
        claim(&c, ours, true, s->A.rows > SMALL ? REQUIRED_LARGE : REQUIRED_SMALL);
    }
    if (is_plotted(request)) keep_fastest(&c, s->A.rows);
    close_contest(&c);
    bench_system_destroy(s);
}

/* ---- Running ---- */

/* One that keeps what it made from step to step. */
typedef struct stepper {
    const peer_library *library;
    void *state;
    const char *name;
    int32_t member;
    bool failed;
    double seconds, setup; /* of all steps */
    int32_t iterations, solves;
} stepper;

static int32_t list_steppers(const contest *c, stepper *out) {
    int32_t count = 0;
    for (int32_t i = 0; i < LIBRARIES; i++)
        for (int32_t m = 0; c->state[i] && libraries[i]->steppers && libraries[i]->steppers[m]; m++) {
            if (count == MOST_ENTRANTS) abort();
            out[count++] = (stepper){
                .library = libraries[i], .state = c->state[i], .name = libraries[i]->steppers[m], .member = m};
        }
    return count;
}

static void take_step(contest *c, stepper *s, int32_t number) {
    peer_result result;
    if (s->failed) return;
    bench_rest();
    s->failed =
        !s->library->step(s->state, s->member, c->problem.threads, number, c->x, &result) || !result.converged;
    if (s->failed) return;
    s->seconds += result.setup + result.solve;
    s->setup += result.setup;
    s->iterations += result.iterations;
    s->solves++;
}

/* All solve the system of a step before the sheet moves on by what drape found. */
static void take_steps(contest *c, stepper *steppers, int32_t count, int32_t steps) {
    bench_system *s = c->problem.system;
    for (int32_t number = 0; number < steps; number++) {
        for (int32_t k = count - 1; k >= 0; k--) take_step(c, &steppers[k], number); /* drape's x remains */
        bench_system_advance(s, c->x);
        bench_check(s->ctx, drape_prefilter(s->ctx, &s->problem, c->problem.A.val, c->problem.rhs));
    }
}

static void print_stepper(const stepper *s, const stepper *ours, int32_t steps) {
    bench_row();
    bench_text("solver", "  %-34s", s->name);
    if (s->failed) bench_text("remark", " %s", "did not converge");
    else {
        bench_number("per step", "ms", " %9.2f", 1e3 * s->seconds / steps);
        bench_number("set-up", "ms", " %9.2f", 1e3 * s->setup / steps);
        bench_number("iterations", "", " %10.1f", (double)s->iterations / s->solves);
        bench_number("times", "", " %7.2f", s->seconds / ours->seconds);
    }
    bench_end("\n");
}

static void claim_running(const stepper *steppers, int32_t count) {
    const stepper *best = NULL;
    char text[80];
    for (int32_t k = 0; k < count; k++)
        if (steppers[k].library == &bench_peers_amgcl && !steppers[k].failed &&
            (!best || steppers[k].seconds < best->seconds))
            best = &steppers[k];
    if (!best) return;
    double ratio = best->seconds / steppers[0].seconds;
    snprintf(text, sizeof text, "%s / drape amg", best->name);
    bench_claim(text, ratio, ratio, 1, REQUIRED_RUNNING);
}

static void compare_running(const bench_options *options, const bench_request *request) {
    bench_system *s = bench_system_create(request);
    const int32_t steps = options->quick ? QUICK_STEPS : STEPS;
    stepper steppers[MOST_ENTRANTS];
    contest c;
    bench_table("running");
    bench_system_print(request, s);
    open_contest(&c, options, s);
    int32_t count = list_steppers(&c, steppers);
    take_steps(&c, steppers, count, steps);
    printf("  mean of %d steps\n  %-34s %9s %9s %10s %7s\n", steps, "solver", "per step ms", "set-up", "iterations",
           "times");
    for (int32_t k = 0; k < count; k++) print_stepper(&steppers[k], &steppers[0], steps);
    if (s->A.rows >= CLAIMED && !steppers[0].failed) claim_running(steppers, count);
    close_contest(&c);
    bench_system_destroy(s);
}

/* ---- The tables ---- */

static void compare_sizes(const bench_options *options,
                          void (*go)(const bench_options *options, const bench_request *request)) {
    static const int32_t own[] = {101, 201, 301}, small[] = {QUICK_SIDE};
    int32_t sides[BENCH_MOST_SIZES];
    int32_t count = options->quick ? bench_sizes(options, small, 1, sides) : bench_sizes(options, own, 3, sides);
    for (int32_t i = 0; i < count; i++)
        go(options, &(bench_request){.scene = "drooping", .resolution = sides[i], .threads = options->threads});
}

static void compare_scenes(const bench_options *options) {
    int32_t side = options->scenes_side ? options->scenes_side : options->quick ? QUICK_SIDE : SCENES_SIDE;
    bench_request requests[] = {{.scene = "pinned"},
                                {.scene = "reentrant"},
                                {.scene = "oblique"},
                                {.scene = "drooping", .mesh = BENCH_IRREGULAR},
                                {.scene = "drooping", .step = LONG_STEP}};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        requests[i].resolution = side;
        requests[i].threads = options->threads;
        compare(options, &requests[i]);
    }
}

/* --quick leaves the scenes out unless they are named: mpiexec takes a second to start, ten times per scene. */
static bool wants_scenes(const bench_options *options) {
    bool asked = options->given & (BENCH_TABLES | BENCH_SCENES_SIDE);
    return options->tables & BENCH_TABLE_SCENES && (asked || !options->quick);
}

void bench_peers(const bench_options *options) {
    if (options->amgcl && !(options->without & BENCH_AMGCL) && !bench_amgcl_prepare(options->amgcl))
        printf("  AMGCL: not compiled; this needs a C++ compiler with OpenMP (CXX=...)\n");
    if (options->tables & BENCH_TABLE_SHEET) {
        compare_sizes(options, compare);
        plot_fastest();
    }
    if (wants_scenes(options)) compare_scenes(options);
    if (options->amgcl && options->tables & BENCH_TABLE_RUNNING) compare_sizes(options, compare_running);
}
