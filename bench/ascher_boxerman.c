/* ascher_boxerman.c: the experiment of Ascher and Boxerman (2003), section 5: four corners of a sheet move up and
 * down; mean iterations of a step with MPCG as Baraff and Witkin have it and as corrected. By model, integrator and
 * unknowns; the paper's own are Choi and Ko's model, backward Euler or BDF2, and changes of positions. Then the share
 * of iterations that is saved where one thing or another is changed, as it comes out.
 *
 * Runs that are solved loosely go different ways, most of all with Choi and Ko's threads, which are taut or slack. So
 * there are tables, too, in which both methods begin each step in the state of a third run that is solved tightly. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 100, CASES = 5 };

static const double TIGHT = 1e-10; /* tolerance of the run that lends its states */

/* What differs from the scene `four-corners`; 0: nothing. */
typedef struct variation {
    const char *name;
    double density, tol, stiffness, amplitude, frequency, step, gravity;
    int32_t resolution;
    bool irregular;
    const char *precond;
    const char *model, *integrator; /* the integrator linearised */
    drape_unknowns unknowns;
    bool same_states; /* begins each step in the state of a run that is solved tightly; one-step integrators only */
} variation;

/* The scene's moduli, taken for the constants of every spring as papers state them; damping is 1e-3 N s/m so, too. */
static void take_springs(drape_material *m) {
    m->spring_stretch = m->stretch[0];
    m->spring_shear = m->shear;
    m->spring_bend = m->bend;
}

static void vary_dynamics(drape_scene *scene, const variation *v) {
    if (v->model) {
        scene->cloth.model = v->model;
        take_springs(&scene->pieces[0].material);
    }
    if (v->integrator) scene->integration.ode.method = v->integrator;
    scene->integration.ode.newton.kind = DRAPE_ODE_LINEARISED;
    scene->integration.unknowns = v->unknowns;
    if (v->step > 0) scene->step = v->step;
    scene->forces.gravity[2] = -v->gravity;
}

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
    if (v->tol > 0) scene->solve.tol = v->tol;
    scene->solve.precond = v->precond ? v->precond : "block_diagonal";
    vary_dynamics(scene, v);
}

static drape_sim *begin(drape_context *ctx, const char *method, const variation *v) {
    drape_scene_options options = {.resolution = v->resolution, .irregular = v->irregular};
    drape_loaded_scene *loaded;
    drape_sim *sim;
    bench_check(ctx, drape_scene_load(ctx, "four-corners", &options, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    vary(scene, v);
    scene->solve.method = method;
    bench_check(ctx, drape_sim_create(ctx, scene, &sim));
    drape_loaded_scene_destroy(loaded);
    return sim;
}

static drape_sim *begin_tightly(drape_context *ctx, variation v) {
    v.tol = TIGHT;
    return begin(ctx, "mpcg", &v);
}

/* Steps the lender after its state has been taken over. */
static void borrow_state(drape_context *ctx, drape_sim *lender, drape_sim *sim) {
    bench_check(ctx, drape_sim_set_state(sim, drape_sim_positions(lender), drape_sim_velocities(lender)));
    bench_check(ctx, drape_sim_step(lender, NULL));
}

/* NaN where a step failed or a solve did not converge. */
static double mean_iterations(drape_context *ctx, const char *method, const variation *v) {
    drape_sim *sim = begin(ctx, method, v), *lender = v->same_states ? begin_tightly(ctx, *v) : NULL;
    double sum = 0;
    for (int32_t i = 0; i < STEPS; i++) {
        drape_certificate c;
        if (lender) borrow_state(ctx, lender, sim);
        if (drape_sim_step(sim, &c) || c.linear.reason != DRAPE_CONVERGED) sum = NAN;
        sum += c.linear.iterations;
    }
    drape_sim_destroy(lender);
    drape_sim_destroy(sim);
    return sum / STEPS;
}

/* ---- The paper's tables ---- */

typedef struct published {
    const char *name;
    double density, tol; /* kg/m^2; 1 */
    double paper[2];     /* mean iterations, original and corrected */
    double other[2];     /* of another program with these parameters, Choi and Ko's model and gravity */
} published;

static const published over_density[CASES] = {{"0.01", .01, .01, {27, 19}, {26.5, 19.3}},
                                              {"0.1", .1, .01, {22, 15}, {25.7, 18.2}},
                                              {"1", 1, .01, {16, 10}, {16.4, 11.4}},
                                              {"10", 10, .01, {11, 6}, {9.9, 7.7}},
                                              {"100", 100, .01, {6, 3}, {4.7, 3.0}}};
static const published over_tolerance[CASES] = {{"0.1", .1, .1, {22, 15}, {18.0, 9.1}},
                                                {"0.01", .1, .01, {22, 15}, {25.7, 18.2}},
                                                {"0.001", .1, .001, {30, 22}, {33.3, 26.0}},
                                                {"1e-4", .1, 1e-4, {45, 31}, {40.2, 33.3}},
                                                {"1e-5", .1, 1e-5, {60, 43}, {46.1, 39.8}}};

#define POSITIONS .model = "choi_ko", .unknowns = DRAPE_UNKNOWN_POSITION
static const variation experiments[] = {
    {.name = "Baraff and Witkin, velocities, backward Euler"},
    {.name = "Choi and Ko, positions, backward Euler", POSITIONS},
    {.name = "the same with gravity", POSITIONS, .gravity = 9.81},
    {.name = "Choi and Ko, positions, backward Euler, from the same states", POSITIONS, .same_states = true},
    {.name = "the same with gravity", POSITIONS, .same_states = true, .gravity = 9.81},
    {.name = "Choi and Ko, positions, BDF2", POSITIONS, .integrator = "bdf2"},
    {.name = "the same with gravity", POSITIONS, .integrator = "bdf2", .gravity = 9.81},
};
#undef POSITIONS

enum { EXPERIMENTS = sizeof experiments / sizeof *experiments };

/* Original / corrected = corrected over original. */
static void print_pair(const char *who, const char *const formats[3], double original, double corrected) {
    char column[48];
    snprintf(column, sizeof column, "%s, original", who);
    bench_number(column, "iterations", formats[0], original);
    snprintf(column, sizeof column, "%s, corrected", who);
    bench_number(column, "iterations", formats[1], corrected);
    snprintf(column, sizeof column, "%s, ratio", who);
    bench_number(column, "", formats[2], corrected / original);
}

static void print_table(drape_context *ctx, const char *title, const published cases[CASES],
                        const variation *experiment) {
    printf("%-9s %20s %24s %26s\n", title, "paper", "another program", "here, original/corrected");
    for (int i = 0; i < CASES; i++) {
        const published *p = &cases[i];
        variation v = *experiment;
        v.density = p->density, v.tol = p->tol;
        double original = mean_iterations(ctx, "mpcg-original", &v), corrected = mean_iterations(ctx, "mpcg", &v);
        bench_row();
        bench_text(title, "%-9s", p->name);
        print_pair("paper", (const char *const[]){" %5.0f", " / %5.0f", " = %.2f"}, p->paper[0], p->paper[1]);
        print_pair("another program", (const char *const[]){" %9.1f", " / %5.1f", " = %.2f"}, p->other[0],
                   p->other[1]);
        print_pair("here", (const char *const[]){" %11.2f", " / %5.2f", " = %.2f"}, original, corrected);
        bench_end("\n");
    }
}

static void print_tables(drape_context *ctx, int experiments_wanted) {
    for (int i = 0; i < experiments_wanted; i++) {
        bench_keys();
        bench_count("experiment", i > 0 ? "\n%d. " : "%d. ", i + 1);
        bench_text("name", "%s", experiments[i].name);
        bench_end("\n");
        bench_table("over density");
        print_table(ctx, "kg/m^2", over_density, &experiments[i]);
        bench_table("over tolerance");
        print_table(ctx, "tolerance", over_tolerance, &experiments[i]);
    }
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

static void print_sweep(drape_context *ctx, int variations) {
    double all[VARIATIONS * PRECONDS];
    int count = 0;
    printf("\n%-20s", "saved, %");
    for (int p = 0; p < PRECONDS; p++) printf(" %15s", preconds[p]);
    putchar('\n');
    bench_keys();
    bench_end("");
    bench_table("saved");
    for (int v = 0; v < variations; v++) {
        bench_row();
        bench_text("variation", "%-20s", sweep[v].name);
        for (int p = 0; p < PRECONDS; p++) {
            double saved = share_saved(ctx, sweep[v], preconds[p]);
            if (isfinite(saved)) all[count++] = saved, bench_number(preconds[p], "%", " %15.1f", saved);
            else printf(" %15s", "failed");
        }
        bench_end("\n");
    }
    double median = bench_median(all, count);
    bench_table("saved, of all");
    bench_row();
    bench_count("count", "of %d:", count);
    bench_number("least", "%", " least %.1f", all[0]);
    bench_number("median", "%", ", median %.1f", median);
    bench_number("most", "%", ", most %.1f", all[count - 1]);
    bench_end(" (the paper: 25 to 55, generally)\n");
}

void bench_ascher_boxerman(const bench_options *options) {
    drape_context *ctx = bench_context(1);
    print_tables(ctx, options->quick ? 1 : EXPERIMENTS);
    print_sweep(ctx, options->quick ? 2 : VARIATIONS);
    drape_context_destroy(ctx);
}
