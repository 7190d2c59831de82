/* hauth.c: Hauth's survey (2004): work-precision diagrams (figures 3, 5 and 7) with the order of every curve, and
 * trajectories (figures 1 and 2). The examples are those of `drape ode`, with their exact solutions.
 *
 * Steps beyond the limit of stability are taken here, as in the survey: the examples are not asked for their stiffest
 * eigenvalue. Operations are those of the survey's count: what f, the matrix of Newton's iteration and its solution
 * take for one unknown, times how often they were called. */
#include "hauth.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *const hauth_method[HAUTH_METHODS] = {"explicit-euler", "explicit-midpoint", "rk4",   "implicit-euler",
                                                 "bdf2",           "implicit-midpoint", "verlet"};

enum {
    FIRST = 3,
    LAST = 17,
    QUICK_RUNS = 13,
    RUNS = LAST - FIRST + 1
};                                    /* steps: 2^FIRST .. 2^LAST in the whole time */
static const double ROUNDING = 2e-12; /* relative errors below say nothing about the order */
/* Of f and its update (first and second order), of the matrix, of a solve: counted by hand. */
static const double FLOPS_F[2] = {3, 9}, FLOPS_MATRIX = 5, FLOPS_SOLVE = 3;

typedef struct run_result {
    double error, evaluations, operations, seconds;
} run_result;

/* ---- A run ---- */

/* As ode_example_begin, but without the stiffest eigenvalue. */
static void begin(drape_context *ctx, const ode_example *e, const char *method, double step, ode_example_run *run) {
    drape_ode_system system = ode_example_system(e);
    drape_ode_dense_settings dense = ode_example_dense(e);
    drape_ode_settings settings = drape_ode_defaults();
    settings.method = method;
    settings.step = step;
    bench_check(ctx, drape_ode_dense_create(ctx, &dense, &run->dense));
    system.linear = drape_ode_dense_linear(run->dense);
    system.stiffest = NULL;
    bench_check(ctx, drape_ode_create(ctx, &system, &settings, &run->ode));
    bench_check(ctx, drape_ode_start(run->ode, 0, e->start, e->order == 2 ? e->start + 1 : NULL));
}

static run_result run_once(drape_context *ctx, const ode_example *e, const char *method, double steps) {
    ode_example_run run;
    drape_ode_result result = {0};
    begin(ctx, e, method, e->end / steps, &run);
    double began = bench_seconds();
    bench_check(ctx, drape_ode_advance(run.ode, e->end, &result));
    double seconds = bench_seconds() - began;
    drape_ode_counts c = drape_ode_count(run.ode);
    run_result out = {result.reason ? INFINITY : ode_example_error(e, &run), (double)c.f,
                      FLOPS_F[e->order - 1] * (double)c.f + FLOPS_MATRIX * (double)c.jacobians +
                          FLOPS_SOLVE * (double)c.linear_solves,
                      seconds};
    ode_example_end(&run);
    return out;
}

/* ---- Orders ---- */

/* How large the solution is at the end. */
static double size_of(const ode_example *e) {
    double at[2];
    ode_example_exact(e, e->end, at);
    return fmax(fabs(at[0]), fabs(at[1]));
}

/* From the last three runs whose errors are not mere rounding. */
static double slope(const ode_example *e, const run_result *runs, int32_t count) {
    int32_t last = -1;
    for (int32_t i = 0; i < count; i++)
        if (isfinite(runs[i].error) && runs[i].error > ROUNDING * size_of(e)) last = i;
        else if (last >= 2) break;
    return last < 2 ? NAN : log2(runs[last - 2].error / runs[last].error) / 2;
}

/* Verlet's damping is that of the half step before. */
static double expected_order(const ode_example *e, int32_t method) {
    if (method == HAUTH_VERLET && e->damping > 0) return 1;
    return drape_ode_method_order(hauth_method[method]);
}

/* ---- Work against precision ---- */

typedef struct diagram {
    const ode_example *example;
    run_result run[HAUTH_METHODS][RUNS];
    int32_t runs;
} diagram;

static bool applies(const ode_example *e, int32_t method) { return method != HAUTH_VERLET || e->order == 2; }

static void draw_work(const diagram *d, const char *figure, const char *what, size_t offset, const char *unit) {
    char name[48], title[128];
    snprintf(name, sizeof name, "%s-%s-%s", figure, d->example->name, what);
    snprintf(title, sizeof title, "Figures 3, 5, 7: example %s, error against %s", d->example->name, what);
    bench_plot(name, title);
    bench_plot_caption(d->example->about);
    bench_plot_axis('x', what, unit, BENCH_LOG);
    bench_plot_axis('y', "error at the end", "", BENCH_LOG);
    for (int32_t m = 0; m < HAUTH_METHODS; m++) {
        if (!applies(d->example, m)) continue;
        bench_curve(hauth_method[m], m, BENCH_OURS);
        for (int32_t i = 0; i < d->runs; i++) {
            const run_result *r = &d->run[m][i];
            double error = r->error > 1e-15 && r->error < 1e3 ? r->error : NAN;
            bench_point(*(const double *)((const char *)r + offset), error);
        }
    }
}

static void measure(drape_context *ctx, diagram *d) {
    for (int32_t m = 0; m < HAUTH_METHODS; m++)
        for (int32_t i = 0; applies(d->example, m) && i < d->runs; i++)
            d->run[m][i] = run_once(ctx, d->example, hauth_method[m], ldexp(1, FIRST + i));
}

static void print_orders(const diagram *d) {
    for (int32_t m = 0; m < HAUTH_METHODS; m++) {
        if (!applies(d->example, m)) continue;
        double order = expected_order(d->example, m), found = slope(d->example, d->run[m], d->runs);
        bench_row();
        bench_text("example", "  %-11s", d->example->name);
        bench_text("method", " %-18s", hauth_method[m]);
        bench_number("order", "", " %5.0f", order);
        bench_number("slope", "", " %7.3f", found);
        bench_number("error", "", " %10.2e", d->run[m][d->runs - 1].error);
        bench_number("evaluations", "", " %9.0f", d->run[m][d->runs - 1].evaluations);
        bench_number("operations", "", " %9.0f", d->run[m][d->runs - 1].operations);
        bench_number("seconds", "ms", " %8.2f", 1e3 * d->run[m][d->runs - 1].seconds);
        bench_end("\n");
    }
}

static double worst_slope(const diagram *d) {
    double worst = 0;
    for (int32_t m = 0; m < HAUTH_METHODS; m++) {
        if (!applies(d->example, m)) continue;
        double away = fabs(slope(d->example, d->run[m], d->runs) - expected_order(d->example, m));
        worst = fmax(worst, isnan(away) ? INFINITY : away);
    }
    return worst;
}

static void work_precision(drape_context *ctx, bool quick) {
    double worst = 0;
    bench_table("Orders: slopes of error over step, and the last run");
    printf("\n  %-11s %-18s %5s %7s %10s %9s %9s %8s\n", "example", "method", "order", "slope", "error", "f", "flops",
           "ms");
    for (int32_t k = 0; ode_example_at(k); k++) {
        diagram d = {.example = ode_example_at(k), .runs = RUNS};
        measure(ctx, &d);
        print_orders(&d);
        worst = fmax(worst, worst_slope(&d));
        draw_work(&d, "work", "evaluations", offsetof(run_result, evaluations), "");
        draw_work(&d, "work", "operations", offsetof(run_result, operations), "");
        if (!quick) draw_work(&d, "work", "seconds", offsetof(run_result, seconds), "s");
    }
    bench_claim_count("most that a slope differs from its order", worst, 0, 0.1);
}

/* ---- Trajectories ---- */

static void draw_exact(const ode_example *e, int color) {
    enum { POINTS = 400 };
    char name[48];
    snprintf(name, sizeof name, "%s, exact", e->name);
    bench_curve(name, color, BENCH_LINE);
    for (int32_t i = 0; i <= POINTS; i++) {
        double at[2];
        ode_example_exact(e, e->end * i / POINTS, at);
        bench_point(e->end * i / POINTS, at[0]);
    }
}

static void draw_run(drape_context *ctx, const ode_example *e, const char *method, int32_t steps, int color) {
    char name[64];
    ode_example_run run;
    drape_ode_result result = {0};
    begin(ctx, e, method, e->end / steps, &run);
    snprintf(name, sizeof name, "%s, h = %g", method, e->end / steps);
    bench_curve(name, color, BENCH_OURS);
    bench_point(0, e->start[0]);
    for (int32_t i = 1; i <= steps && !result.reason; i++) {
        bench_check(ctx, drape_ode_advance(run.ode, i * e->end / steps, &result));
        double x = drape_ode_x(run.ode)[0];
        bench_point(drape_ode_time(run.ode), fabs(x) < 10 ? x : NAN);
    }
    ode_example_end(&run);
}

static void trajectories(drape_context *ctx) {
    const ode_example *third = ode_example_find("3");
    bench_plot("fig1", "Figure 1: example 1");
    bench_plot_axis('x', "t", "s", BENCH_LINEAR);
    bench_plot_axis('y', "y", "", BENCH_LINEAR);
    draw_exact(ode_example_find("1a"), 0);
    draw_exact(ode_example_find("1b"), 1);
    bench_plot("fig2", "Figure 2: example 3, a mass on a spring");
    bench_plot_caption(
        "Implicit methods stay near the solution with steps for which explicit Euler has left the picture.");
    bench_plot_axis('x', "t", "s", BENCH_LINEAR);
    bench_plot_axis('y', "z", "m", BENCH_LINEAR);
    draw_exact(third, 6);
    draw_run(ctx, third, "implicit-euler", 100, 1);
    draw_run(ctx, third, "bdf2", 100, 2);
    draw_run(ctx, third, "verlet", 100, 3);
}

void bench_hauth(const bench_options *options) {
    drape_context *ctx = bench_context(1);
    bench_note(
        "The examples of the survey's section 2, with steps from an eighth of the time on, halved again and again. "
        "The slope is that of the last three runs whose error is above rounding.");
    trajectories(ctx);
    work_precision(ctx, options->quick);
    hauth_stability(ctx, options->quick);
    drape_context_destroy(ctx);
    hauth_cloth(options);
}
