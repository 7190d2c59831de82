/* ascher_boxerman.c: the experiment of Ascher and Boxerman (2003), section 5: four corners of a sheet move up and
 * down; mean iterations of a step with MPCG as Baraff and Witkin have it and as corrected. Then the share of
 * iterations that is saved where one thing or another is changed, as it comes out. */
#include "bench.h"

#include <math.h>
#include <stdio.h>

enum { STEPS = 100, CASES = 5 };

/* What differs from the scene `four-corners`; 0: nothing. */
typedef struct variation {
    const char *name;
    double density, tol, stiffness, amplitude, frequency, step, gravity;
    int32_t resolution;
    bool irregular;
    const char *precond;
} variation;

static void vary(drape_scene *scene, const variation *v) {
    drape_material *m = &scene->pieces[0].material;
    drape_motion *motion = &scene->pins[0].motion;
    if (v->density > 0) m->density = v->density;
    if (v->stiffness > 0) { /* the damping stays: it is a time times the stiffness */
        m->stretch[0] *= v->stiffness, m->stretch[1] *= v->stiffness, m->shear *= v->stiffness;
        m->damping_stretch /= v->stiffness, m->damping_shear /= v->stiffness;
    }
    if (v->amplitude > 0) motion->amplitude[2] = v->amplitude;
    if (v->frequency > 0) motion->frequency = v->frequency;
    if (v->step > 0) scene->step = v->step;
    scene->forces.gravity[2] = -v->gravity;
    if (v->tol > 0) scene->solve.tol = v->tol;
    scene->solve.precond = v->precond ? v->precond : "block_diagonal";
}

/* NaN where a step failed or a solve did not converge. */
static double mean_iterations(drape_context *ctx, const char *method, const variation *v) {
    drape_scene_options options = {.resolution = v->resolution, .irregular = v->irregular};
    drape_scene *scene;
    drape_sim *sim;
    double sum = 0;
    bench_check(ctx, drape_scene_load(ctx, "four-corners", &options, &scene));
    vary(scene, v);
    scene->solve.method = method;
    bench_check(ctx, drape_sim_create(ctx, scene, &sim));
    for (int32_t i = 0; i < STEPS; i++) {
        drape_certificate c;
        if (drape_sim_step(sim, &c) || c.reason != DRAPE_CONVERGED) sum = NAN;
        sum += c.iterations;
    }
    drape_sim_destroy(sim);
    drape_scene_destroy(ctx, scene);
    return sum / STEPS;
}

static void print_table(drape_context *ctx, const char *title, const variation cases[CASES],
                        const double paper[CASES][2]) {
    printf("%-12s %28s %34s\n", title, "paper, original/corrected", "here, original/corrected");
    for (int i = 0; i < CASES; i++) {
        double original = mean_iterations(ctx, "mpcg-original", &cases[i]);
        double corrected = mean_iterations(ctx, "mpcg", &cases[i]);
        printf("%-12s %14.0f / %2.0f = %.2f %20.2f / %5.2f = %.2f\n", cases[i].name, paper[i][0], paper[i][1],
               paper[i][1] / paper[i][0], original, corrected, corrected / original);
    }
}

static void print_tables(drape_context *ctx) {
    static const variation density[CASES] = {{.name = "0.01", .density = .01},
                                             {.name = "0.1", .density = .1},
                                             {.name = "1", .density = 1},
                                             {.name = "10", .density = 10},
                                             {.name = "100", .density = 100}};
    static const variation tolerance[CASES] = {{.name = "0.1", .tol = .1},
                                               {.name = "0.01", .tol = .01},
                                               {.name = "0.001", .tol = .001},
                                               {.name = "1e-4", .tol = 1e-4},
                                               {.name = "1e-5", .tol = 1e-5}};
    static const double over_density[CASES][2] = {{27, 19}, {22, 15}, {16, 10}, {11, 6}, {6, 3}};
    static const double over_tolerance[CASES][2] = {{22, 15}, {22, 15}, {30, 22}, {45, 31}, {60, 43}};
    print_table(ctx, "kg/m^2", density, over_density);
    print_table(ctx, "tolerance", tolerance, over_tolerance);
}

/* ---- The sweep ---- */

static const variation sweep[] = {
    {.name = "as in the tables"},
    {.name = "stiffness / 10", .stiffness = .1},
    {.name = "stiffness x 10", .stiffness = 10},
    {.name = "stiffness x 100", .stiffness = 100},
    {.name = "density 1 kg/m^2", .density = 1},
    {.name = "density 10 kg/m^2", .density = 10},
    {.name = "amplitude 1 cm", .amplitude = .01},
    {.name = "amplitude 30 cm", .amplitude = .3},
    {.name = "frequency 0.05 Hz", .frequency = .05},
    {.name = "frequency 1 Hz", .frequency = 1},
    {.name = "step 10 ms", .step = .01},
    {.name = "step 2 ms", .step = .002},
    {.name = "gravity", .gravity = 9.81},
    {.name = "9 x 9", .resolution = 9},
    {.name = "33 x 33", .resolution = 33},
    {.name = "65 x 65", .resolution = 65},
    {.name = "irregular", .irregular = true},
    {.name = "tolerance 1e-5", .tol = 1e-5},
};
static const char *const preconds[] = {"none", "diagonal", "block_diagonal", "ssor", "ichol"};

enum { VARIATIONS = sizeof sweep / sizeof *sweep, PRECONDS = sizeof preconds / sizeof *preconds };

/* Per cent of the iterations; NaN where either failed. */
static double share_saved(drape_context *ctx, variation v, const char *precond) {
    v.precond = precond;
    double original = mean_iterations(ctx, "mpcg-original", &v);
    return 100 * (1 - mean_iterations(ctx, "mpcg", &v) / original);
}

static void print_sweep(drape_context *ctx) {
    double all[VARIATIONS * PRECONDS];
    int count = 0;
    printf("\n%-20s", "saved, %");
    for (int p = 0; p < PRECONDS; p++) printf(" %15s", preconds[p]);
    for (int v = 0; v < VARIATIONS; v++) {
        printf("\n%-20s", sweep[v].name);
        for (int p = 0; p < PRECONDS; p++) {
            double saved = share_saved(ctx, sweep[v], preconds[p]);
            if (isfinite(saved)) all[count++] = saved, printf(" %15.1f", saved);
            else printf(" %15s", "failed");
        }
    }
    double median = bench_median(all, count);
    printf("\nof %d: least %.1f, median %.1f, most %.1f (the paper: 25 to 55, generally)\n", count, all[0], median,
           all[count - 1]);
}

void bench_ascher_boxerman(const bench_options *options) {
    (void)options;
    drape_context *ctx = bench_context(1);
    print_tables(ctx);
    print_sweep(ctx);
    drape_context_destroy(ctx);
}
