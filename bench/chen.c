/* chen.c: Chen's report on MPCG for a 4 x 4 sheet (2021): the pattern of its matrix (figure 1); the paths of steepest
 * descent, conjugate directions and CG on a plane (figure 2). Then the sheet that is pushed in the middle (figure 3),
 * and what the report leaves for later: a direct solver against MPCG as the sheet grows.
 *
 * The report's own run falls apart by mistakes in its program; what the centre must do with its parameters was
 * computed apart from drape. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef DRAPE_HAS_CHOLMOD
#include "drape/cholmod.h"
#endif

enum { CENTRE = 12, STEPS = 20 };                                /* of 5 x 5 vertices; steps of 20 ms */
static const double CENTRE_AT[2] = {-0.040497894, -0.089729484}; /* m, at 0.2 s and at 0.4 s */

static const char *const methods[2] = {"mpcg", "direct"};

static int method_count(void) {
#ifdef DRAPE_HAS_CHOLMOD
    return 2;
#else
    return 1;
#endif
}

static void choose_direct(drape_solve_settings *s, int method) {
    s->method = methods[method];
#ifdef DRAPE_HAS_CHOLMOD
    if (method == 1) s->direct = drape_cholmod();
#endif
}

/* The scene holds the load, so it lives as long as the simulation. */
typedef struct sheet {
    drape_loaded_scene *loaded;
    drape_sim *sim;
} sheet;

static sheet begin(drape_context *ctx, int method) {
    sheet s;
    bench_check(ctx, drape_scene_load(ctx, "chen", NULL, &s.loaded));
    drape_scene *scene = drape_loaded_scene_edit(s.loaded);
    choose_direct(&scene->solve, method);
    if (method == 0) scene->solve.precond = "block_diagonal";
    bench_check(ctx, drape_sim_create(ctx, scene, &s.sim));
    return s;
}

static void end(sheet *s) {
    drape_sim_destroy(s->sim);
    drape_loaded_scene_destroy(s->loaded);
}

/* ---- Figure 1: the pattern of A ---- */

static void draw_pattern(drape_context *ctx) {
    sheet s = begin(ctx, 0);
    drape_system system;
    char path[256];
    snprintf(path, sizeof path, "/tmp/drape-bench-%ld.sys", (long)getpid());
    bench_check(ctx, drape_sim_step(s.sim, NULL));
    bench_check(ctx, drape_sim_export_system(s.sim, path));
    bench_check(ctx, drape_system_read(ctx, path, &system));
    unlink(path);
    bench_plot("fig1", "Figure 1: entries of A that are not zero, 25 vertices");
    bench_plot_axis('x', "column", "", BENCH_LINEAR);
    bench_plot_axis('y', "row", "", BENCH_LINEAR);
    bench_plot_equal(1);
    bench_curve("not zero", 1, BENCH_SQUARES);
    int64_t entries = 0;
    for (int32_t i = 0; i < system.A.rows; i++)
        for (int64_t k = system.A.rowptr[i]; k < system.A.rowptr[i + 1]; k++)
            for (int32_t m = 0; m < 9; m++) {
                if (system.A.val[9 * k + m] == 0) continue;
                bench_point(3 * system.A.col[k] + m % 3, 3 * i + m / 3);
                entries++;
            }
    bench_table("The matrix of figure 1");
    bench_row();
    bench_count("rows", "  A has %d rows", 3 * system.A.rows);
    bench_count("entries that are not zero", " and %d entries that are not zero", entries);
    bench_end("\n");
    drape_system_clear(ctx, &system);
    end(&s);
}

/* ---- Figure 2: paths on the plane ---- */

static const double PLANE[2][2] = {{3, 2}, {2, 6}}, PLANE_B[2] = {2, -8}, PLANE_START[2] = {-2, -2},
                    PLANE_END[2] = {2, -2};

/* x after so many iterations; the plane is the first two unknowns of one vertex. */
static void iterate(drape_context *ctx, const char *method, int32_t iterations, double x[3]) {
    const int64_t rowptr[2] = {0, 1};
    const int32_t col[1] = {0};
    double val[9] = {PLANE[0][0], PLANE[0][1], 0, PLANE[1][0], PLANE[1][1], 0, 0, 0, 1};
    const double b[3] = {PLANE_B[0], PLANE_B[1], 0}, start[3] = {PLANE_START[0], PLANE_START[1], 0};
    const drape_bsr3 A = {1, rowptr, col, val};
    drape_problem problem = {.A = &A, .b = b, .guess = start};
    drape_solve_settings settings = drape_solve_defaults();
    memcpy(x, start, sizeof start);
    if (iterations == 0) return;
    settings.method = method;
    settings.tol = 1e-12;
    settings.max_iterations = iterations;
    bench_check(ctx, drape_solve(ctx, &problem, &settings, x, NULL));
}

/* Ellipses on which x'Ax/2 - b'x is the same. */
static void draw_contours(void) {
    const double pi = 3.14159265358979323846;
    bench_curve("levels of the energy", 6, BENCH_LINE);
    for (int32_t level = 1; level <= 5; level++) {
        for (int32_t i = 0; i <= 90; i++) {
            double angle = 2 * pi * i / 90, c = cos(angle), s = sin(angle);
            double size =
                0.55 * level * sqrt(6 / (PLANE[0][0] * c * c + 2 * PLANE[0][1] * c * s + PLANE[1][1] * s * s));
            bench_point(PLANE_END[0] + 0.7 * size * c, PLANE_END[1] + 0.7 * size * s);
        }
        bench_point(NAN, NAN);
    }
}

static int32_t draw_path(drape_context *ctx, const char *method, const char *name, int color) {
    double x[3];
    int32_t steps = 0;
    bench_curve(name, color, BENCH_OURS);
    for (; steps < 60; steps++) {
        iterate(ctx, method, steps, x);
        bench_point(x[0], x[1]);
        if (hypot(x[0] - PLANE_END[0], x[1] - PLANE_END[1]) < 1e-6) break;
    }
    return steps;
}

/* The axes, made conjugate: d1 = e1, d2 = e2 - (e2'A d1 / d1'A d1) d1. */
static void draw_conjugate_directions(void) {
    double x[2] = {PLANE_START[0], PLANE_START[1]};
    const double d[2][2] = {{1, 0}, {-PLANE[0][1] / PLANE[0][0], 1}};
    bench_curve("conjugate directions", 3, BENCH_OURS);
    bench_point(x[0], x[1]);
    for (int32_t k = 0; k < 2; k++) {
        double Ad[2] = {PLANE[0][0] * d[k][0] + PLANE[0][1] * d[k][1], PLANE[1][0] * d[k][0] + PLANE[1][1] * d[k][1]};
        double r[2] = {PLANE_B[0] - PLANE[0][0] * x[0] - PLANE[0][1] * x[1],
                       PLANE_B[1] - PLANE[1][0] * x[0] - PLANE[1][1] * x[1]};
        double alpha = (d[k][0] * r[0] + d[k][1] * r[1]) / (d[k][0] * Ad[0] + d[k][1] * Ad[1]);
        for (int32_t i = 0; i < 2; i++) x[i] += alpha * d[k][i];
        bench_point(x[0], x[1]);
    }
}

static void draw_plane(drape_context *ctx) {
    bench_plot("fig2", "Figure 2: paths to the minimum, A = [3 2; 2 6], b = [2, -8]");
    bench_plot_axis('x', "x1", "", BENCH_LINEAR);
    bench_plot_axis('y', "x2", "", BENCH_LINEAR);
    bench_plot_equal(0);
    draw_contours();
    int32_t descent = draw_path(ctx, "sd", "steepest descent", 0);
    draw_conjugate_directions();
    int32_t conjugate = draw_path(ctx, "cg", "conjugate gradients", 1);
    bench_table("Steps of figure 2");
    bench_row();
    bench_count("steepest descent", "  to 1e-6: %d steps of steepest descent", descent);
    bench_count("conjugate gradients", ", %d of conjugate gradients", conjugate);
    bench_end("\n");
    bench_claim_count("steps of CG on a plane", conjugate, 0, 2);
}

/* ---- Figure 3: the sheet ---- */

static void run_sheet(drape_context *ctx, int method, double z[STEPS + 1]) {
    sheet s = begin(ctx, method);
    z[0] = drape_sim_positions(s.sim)[3 * CENTRE + 2];
    for (int32_t i = 1; i <= STEPS; i++) {
        bench_check(ctx, drape_sim_step(s.sim, NULL));
        z[i] = drape_sim_positions(s.sim)[3 * CENTRE + 2];
    }
    end(&s);
}

static void draw_sheet(drape_context *ctx) {
    double z[2][STEPS + 1] = {{0}}, apart = 0, wrong = 0;
    bench_plot("fig3", "Figure 3: the centre of the sheet");
    bench_plot_axis('x', "t", "s", BENCH_LINEAR);
    bench_plot_axis('y', "z", "m", BENCH_LINEAR);
    for (int m = 0; m < method_count(); m++) {
        run_sheet(ctx, m, z[m]);
        bench_curve(m ? "direct" : "MPCG", m, BENCH_OURS);
        for (int32_t i = 0; i <= STEPS; i++) bench_point(0.02 * i, z[m][i]);
        for (int32_t i = 0; m > 0 && i <= STEPS; i++) apart = fmax(apart, fabs(z[1][i] - z[0][i]));
    }
    bench_curve("computed apart", 6, BENCH_PAPER);
    bench_table("The centre's z");
    for (int32_t k = 0; k < 2; k++) {
        bench_point(0.2 * (k + 1), CENTRE_AT[k]);
        wrong = fmax(wrong, fabs(z[0][10 * (k + 1)] / CENTRE_AT[k] - 1));
        bench_row();
        bench_number("t", "s", "  t = %.1f s:", 0.2 * (k + 1));
        bench_number("must be", "m", " must be %.9f", CENTRE_AT[k]);
        bench_number("MPCG", "m", ", MPCG %.9f", z[0][10 * (k + 1)]);
        if (method_count() > 1) bench_number("direct", "m", ", direct %.9f", z[1][10 * (k + 1)]);
        bench_end("\n");
    }
    bench_claim_count("centre's z: digits that agree", -log10(wrong), 1, 7);
    if (method_count() > 1)
        bench_claim_count("digits after the point in which direct and MPCG agree, m", -log10(fmax(apart, 1e-16)), 1,
                          9);
}

/* ---- Larger sheets ---- */

typedef struct growth {
    double seconds[2], apart; /* s a step; m */
} growth;

/* Both on the system of the same step, to 1e-12. */
static growth grow(int32_t side, int32_t repeats) {
    bench_request request = {.scene = "drooping", .resolution = side, .threads = 1};
    bench_system *s = bench_system_create(&request);
    double *x[2] = {bench_vector(bench_system_length(s)), bench_vector(bench_system_length(s))}, most = 0, times[16];
    growth out = {{NAN, NAN}, 0};
    for (int m = 0; m < method_count(); m++) {
        drape_solve_settings settings = drape_solve_defaults();
        settings.tol = 1e-12;
        choose_direct(&settings, m);
        for (int32_t k = 0; k < repeats; k++) {
            double began = bench_seconds();
            bench_check(s->ctx, drape_solve(s->ctx, &s->problem, &settings, x[m], NULL));
            times[k] = bench_seconds() - began;
        }
        out.seconds[m] = bench_median(times, repeats);
    }
    for (int64_t i = 0; i < bench_system_length(s); i++) {
        most = fmax(most, fabs(x[0][i]));
        out.apart = fmax(out.apart, fabs(x[0][i] - x[1][i]));
    }
    out.apart = method_count() > 1 ? out.apart / most : NAN;
    free(x[0]), free(x[1]);
    bench_system_destroy(s);
    return out;
}

static void print_growth(const bench_options *o) {
    static const int32_t usual[] = {5, 9, 17, 31, 61, 101}, quick[] = {5, 9, 17, 31};
    int32_t side[BENCH_MOST_SIZES], count = bench_sizes(o, o->quick ? quick : usual, o->quick ? 4 : 6, side);
    growth g[BENCH_MOST_SIZES];
    bench_table("Direct against MPCG as the sheet grows");
    printf("\n  one solve to 1e-12, one thread\n  %8s %12s %12s %12s\n", "vertices", "MPCG, ms", "direct, ms",
           "apart");
    for (int32_t i = 0; i < count; i++) {
        g[i] = grow(side[i], o->quick ? 1 : 5);
        bench_row();
        bench_count("vertices", "  %8d", (int64_t)side[i] * side[i]);
        bench_number("MPCG", "ms", " %12.3f", 1e3 * g[i].seconds[0]);
        bench_number("direct", "ms", " %12.3f", 1e3 * g[i].seconds[1]);
        bench_number("apart, relative", "", " %12.2e", g[i].apart);
        bench_end("\n");
    }
    bench_plot("growth", "Direct against MPCG as the sheet grows");
    bench_plot_axis('x', "vertices", "", BENCH_LOG);
    bench_plot_axis('y', "time of one solve", "ms", BENCH_LOG);
    for (int m = 0; m < method_count(); m++) {
        bench_curve(m ? "direct (CHOLMOD)" : "MPCG, block diagonal", m, BENCH_OURS);
        for (int32_t i = 0; i < count; i++) bench_point((double)side[i] * side[i], 1e3 * g[i].seconds[m]);
    }
}

void bench_chen(const bench_options *o) {
    drape_context *ctx = bench_context(1);
    draw_pattern(ctx);
    draw_plane(ctx);
    draw_sheet(ctx);
    print_growth(o);
    drape_context_destroy(ctx);
}
