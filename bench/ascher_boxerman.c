/* ascher_boxerman.c: the experiment of Ascher and Boxerman (2003), section 5. Four corners of a sheet move up and
 * down. It counts the mean iterations per step of MPCG as Baraff and Witkin have it and as corrected. By model,
 * integrator and unknowns; the paper's own are Choi and Ko's model, backward Euler or BDF2, and changes of positions.
 * Then the share of iterations that is saved where one thing or another is changed, as it comes out, and both forms
 * of BiCGStab.
 *
 * Runs that are solved loosely go different ways, most of all with Choi and Ko's threads, which are taut or slack. So
 * there are tables, too, in which both methods begin each step in the state of a third run that is solved tightly. */
#include "ascher_boxerman.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 100, CASES = 5 };

static const double MOST_STRETCH = 1e3;
static const double TIGHT = 1e-10; /* tolerance of the run that lends its states */

static const double TABLE = 0.35; /* m: radius of the table, and half of its side */

/* The scene's moduli, taken for the constants of every spring as papers state them; damping is 1e-3 N s/m so, too. */
static void take_springs(drape_material *m) {
    m->spring_stretch = m->stretch[0];
    m->spring_shear = m->shear;
    m->spring_bend = m->bend;
}

/* The vertices that lie on the table, held where they are; the rest hangs down. */
static void lay_on_table(drape_scene *scene, bool round) {
    static int32_t on_table[128 * 128];
    const drape_piece *piece = &scene->pieces[0];
    drape_pin *pin = &scene->pins[0];
    pin->vertices = on_table;
    pin->count = 0;
    pin->motion = (drape_motion){0};
    for (int32_t i = 0; i < piece->vertices && i < 128 * 128; i++) {
        double x = fabs(piece->rest[3 * (int64_t)i]), y = fabs(piece->rest[3 * (int64_t)i + 1]);
        if (round ? hypot(x, y) <= TABLE : fmax(x, y) <= TABLE) on_table[pin->count++] = i;
    }
}

static void vary_held(drape_scene *scene, const ab_variation *v) {
    if (v->held == TWO_CORNERS) scene->pins[0].count = 2;
    if (v->held == SQUARE_TABLE || v->held == ROUND_TABLE) lay_on_table(scene, v->held == ROUND_TABLE);
}

static void vary_damping(drape_scene *scene, const ab_variation *v) {
    drape_material *m = &scene->pieces[0].material;
    if (!(v->damping > 0)) return;
    m->damping_stretch = m->damping_shear = v->damping;
    scene->cloth.damping_jacobian = DRAPE_DAMPING_FULL;
}

static void vary_dynamics(drape_scene *scene, const ab_variation *v) {
    if (v->model) {
        scene->cloth.model = v->model;
        take_springs(&scene->pieces[0].material);
    }
    if (v->integrator) scene->integration.ode.method = v->integrator;
    scene->integration.ode.newton.kind = DRAPE_ODE_LINEARISED;
    scene->integration.unknowns = v->unknowns;
    if (v->step > 0) scene->step = v->step;
    scene->integration.max_stretch = MOST_STRETCH; /* heavy sheets on four corners, springs as soft as the paper's */
    scene->forces.gravity[2] = -v->gravity;
}

static void vary(drape_scene *scene, const ab_variation *v) {
    drape_material *m = &scene->pieces[0].material;
    drape_motion *motion = &scene->pins[0].motion;
    if (v->density > 0) m->density = v->density;
    if (v->stiffness > 0) { /* the damping stays: it is a time times the stiffness */
        m->stretch[0] *= v->stiffness, m->stretch[1] *= v->stiffness, m->shear *= v->stiffness;
        m->damping_stretch /= v->stiffness, m->damping_shear /= v->stiffness;
    }
    if (v->bending > 0) m->bend *= v->bending;
    if (v->amplitude > 0) motion->amplitude[2] = v->amplitude;
    if (v->frequency > 0) motion->frequency = v->frequency;
    if (v->tol > 0) scene->solve.tol = v->tol;
    scene->solve.precond = v->precond ? v->precond : "block_diagonal";
    vary_dynamics(scene, v);
    vary_damping(scene, v);
    vary_held(scene, v);
}

drape_sim *ab_begin(drape_context *ctx, const char *method, const ab_variation *v) {
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

static drape_sim *begin_tightly(drape_context *ctx, ab_variation v) {
    v.tol = TIGHT;
    return ab_begin(ctx, "mpcg", &v);
}

/* Steps the lender after its state has been taken over. */
static bool borrow_state(drape_sim *lender, drape_sim *sim) {
    return drape_sim_set_state(sim, drape_sim_positions(lender), drape_sim_velocities(lender)) == DRAPE_OK &&
           drape_sim_step(lender, NULL) == DRAPE_OK;
}

/* NaN where a step failed or a solve did not converge. */
static double mean_iterations(drape_context *ctx, const char *method, const ab_variation *v) {
    drape_sim *sim = ab_begin(ctx, method, v), *lender = v->same_states ? begin_tightly(ctx, *v) : NULL;
    double sum = 0;
    for (int32_t i = 0; i < STEPS; i++) {
        drape_certificate c = {0};
        if ((lender && !borrow_state(lender, sim)) || drape_sim_step(sim, &c) || c.linear.reason != DRAPE_CONVERGED)
            sum = NAN;
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
static const ab_variation experiments[] = {
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

/* What was found in all cells of the paper's tables. */
typedef struct findings {
    int32_t no_gain;       /* cells in which the corrected form takes as many iterations, or more */
    double worst_at_usual; /* largest corrected / original at a tolerance of 0.01 */
} findings;

/* The paper's two curves and ours. */
static void draw_table(const char *title, const published cases[CASES], const ab_variation *experiment,
                       int32_t number, const double here[CASES][2], bool tolerance) {
    char name[48], head[160];
    snprintf(name, sizeof name, "table%d-%d", tolerance ? 2 : 1, number);
    snprintf(head, sizeof head, "Table %d: %s", tolerance ? 2 : 1, experiment->name);
    bench_plot(name, head);
    bench_plot_axis('x', tolerance ? "tolerance" : "density", tolerance ? "" : title, BENCH_LOG);
    bench_plot_axis('y', "mean iterations", "", BENCH_LINEAR);
    for (int32_t ours = 0; ours < 2; ours++)
        for (int32_t form = 0; form < 2; form++) {
            snprintf(head, sizeof head, "%s, %s", form ? "corrected" : "original", ours ? "here" : "paper");
            bench_curve(head, form, ours ? BENCH_OURS : BENCH_PAPER);
            for (int32_t i = 0; i < CASES; i++)
                bench_point(tolerance ? cases[i].tol : cases[i].density, ours ? here[i][form] : cases[i].paper[form]);
        }
}

static void print_table(drape_context *ctx, const char *title, const published cases[CASES],
                        const ab_variation *experiment, int32_t number, findings *f) {
    double here[CASES][2];
    bool tolerance = cases == over_tolerance;
    printf("%-9s %20s %24s %26s\n", title, "paper", "another program", "here, original/corrected");
    for (int i = 0; i < CASES; i++) {
        const published *p = &cases[i];
        ab_variation v = *experiment;
        v.density = p->density, v.tol = p->tol;
        double original = mean_iterations(ctx, "mpcg-original", &v), corrected = mean_iterations(ctx, "mpcg", &v);
        here[i][0] = original, here[i][1] = corrected;
        f->no_gain += !(corrected < original);
        if (p->tol == 0.01) f->worst_at_usual = fmax(f->worst_at_usual, corrected / original);
        bench_row();
        bench_text(title, "%-9s", p->name);
        print_pair("paper", (const char *const[]){" %5.0f", " / %5.0f", " = %.2f"}, p->paper[0], p->paper[1]);
        print_pair("another program", (const char *const[]){" %9.1f", " / %5.1f", " = %.2f"}, p->other[0],
                   p->other[1]);
        print_pair("here", (const char *const[]){" %11.2f", " / %5.2f", " = %.2f"}, original, corrected);
        bench_end("\n");
    }
    draw_table(title, cases, experiment, number, here, tolerance);
}

static void print_tables(drape_context *ctx, int experiments_wanted, findings *f) {
    for (int i = 0; i < experiments_wanted; i++) {
        bench_keys();
        bench_count("experiment", i > 0 ? "\n%d. " : "%d. ", i + 1);
        bench_text("name", "%s", experiments[i].name);
        bench_end("\n");
        bench_table("over density");
        print_table(ctx, "kg/m^2", over_density, &experiments[i], i + 1, f);
        bench_table("over tolerance");
        print_table(ctx, "tolerance", over_tolerance, &experiments[i], i + 1, f);
    }
}

/* ---- The sweep ---- */

static const ab_variation sweep[] = {
    {.name = "as in the tables"},
    {.name = "stiffness / 10", .stiffness = .1},
    {.name = "stiffness x 10", .stiffness = 10},
    {.name = "stiffness x 100", .stiffness = 100},
    {.name = "bending x 10", .bending = 10},
    {.name = "bending x 100", .bending = 100},
    {.name = "density 1 kg/m^2", .density = 1},
    {.name = "density 10 kg/m^2", .density = 10},
    {.name = "amplitude 1 cm", .amplitude = .01},
    {.name = "amplitude 30 cm", .amplitude = .3},
    {.name = "frequency 0.05 Hz", .frequency = .05},
    {.name = "frequency 1 Hz", .frequency = 1},
    {.name = "step 10 ms", .step = .01},
    {.name = "step 2 ms", .step = .002},
    {.name = "gravity", .gravity = 9.81},
    {.name = "two corners", .held = TWO_CORNERS},
    {.name = "square table, gravity", .held = SQUARE_TABLE, .gravity = 9.81},
    {.name = "round table, gravity", .held = ROUND_TABLE, .gravity = 9.81},
    {.name = "Choi-Ko, positions", .model = "choi_ko", .unknowns = DRAPE_UNKNOWN_POSITION},
    {.name = "the same, BDF2", .model = "choi_ko", .unknowns = DRAPE_UNKNOWN_POSITION, .integrator = "bdf2"},
    {.name = "9 x 9", .resolution = 9},
    {.name = "33 x 33", .resolution = 33},
    {.name = "65 x 65", .resolution = 65},
    {.name = "irregular", .irregular = true},
    {.name = "tolerance 1e-5", .tol = 1e-5},
};
static const char *const preconds[] = {"none", "diagonal", "block_diagonal", "ssor", "ichol"};

enum { VARIATIONS = sizeof sweep / sizeof *sweep, PRECONDS = sizeof preconds / sizeof *preconds };

/* Per cent of the iterations; NaN where either failed. */
static double share_saved(drape_context *ctx, ab_variation v, const char *precond) {
    v.precond = precond;
    double original = mean_iterations(ctx, "mpcg-original", &v);
    return 100 * (1 - mean_iterations(ctx, "mpcg", &v) / original);
}

/* Corrected over original of each variation, and the bounds that the paper gives. */
static void draw_sweep(double saved[VARIATIONS][PRECONDS], int variations) {
    bench_plot("sweep", "Section 5: iterations of the corrected form over the original's");
    bench_plot_caption("One number per row of the table `saved`. The paper says generally 45 to 75 %.");
    bench_plot_axis('x', "variation", "", BENCH_LINEAR);
    bench_plot_axis('y', "corrected / original", "%", BENCH_LINEAR);
    for (int p = 0; p < PRECONDS; p++) {
        bench_curve(preconds[p], p, BENCH_DOTS);
        for (int v = 0; v < variations; v++) bench_point(v + 1, 100 - saved[v][p]);
    }
    bench_curve("the paper's bounds", 6, BENCH_LINE);
    for (int k = 0; k < 2; k++) {
        bench_point(0.5, k ? 75 : 45), bench_point(variations + 0.5, k ? 75 : 45), bench_point(NAN, NAN);
    }
}

static void sum_up(double *all, int count) {
    int inside = 0;
    for (int i = 0; i < count; i++) inside += all[i] >= 25 && all[i] <= 55;
    double median = bench_median(all, count);
    bench_table("saved, of all");
    bench_row();
    bench_count("count", "of %d:", count);
    bench_number("least", "%", " least %.1f", all[0]);
    bench_number("median", "%", ", median %.1f", median);
    bench_number("most", "%", ", most %.1f", all[count - 1]);
    bench_count("inside the paper's bounds", ", inside 25 to 55: %d", inside);
    bench_end(" (the paper: 25 to 55, generally)\n");
}

static void print_sweep(drape_context *ctx, int variations) {
    double all[VARIATIONS * PRECONDS], saved[VARIATIONS][PRECONDS];
    int count = 0;
    printf("\n%-22s", "saved, %");
    for (int p = 0; p < PRECONDS; p++) printf(" %15s", preconds[p]);
    putchar('\n');
    bench_keys();
    bench_end("");
    bench_table("saved");
    for (int v = 0; v < variations; v++) {
        bench_row();
        bench_text("variation", "%-22s", sweep[v].name);
        for (int p = 0; p < PRECONDS; p++) {
            saved[v][p] = share_saved(ctx, sweep[v], preconds[p]);
            if (isfinite(saved[v][p]))
                all[count++] = saved[v][p], bench_number(preconds[p], "%", " %15.1f", saved[v][p]);
            else printf(" %15s", "failed");
        }
        bench_end("\n");
    }
    sum_up(all, count);
    draw_sweep(saved, variations);
}

/* ---- BiCGStab, section 6, remark 2 ---- */

static const ab_variation unsymmetric[] = {
    {.name = "damping 1 ms", .damping = 1e-3},
    {.name = "damping 1 s, 1 Hz, 30 cm", .damping = 1, .frequency = 1, .amplitude = .3},
    {.name = "damping 10 ms", .damping = 1e-2},
    {.name = "10 ms, gravity", .damping = 1e-2, .gravity = 9.81},
    {.name = "10 ms, tolerance 1e-5", .damping = 1e-2, .tol = 1e-5}};
enum { UNSYMMETRIC = sizeof unsymmetric / sizeof *unsymmetric };

static void print_bicgstab(drape_context *ctx, int variations) {
    bench_table("BiCGStab on matrices that are not symmetric");
    printf("\n%-24s %20s %20s\n", "mean iterations", "bicgstab", "bicgstab-filtered");
    for (int v = 0; v < variations; v++) {
        bench_row();
        bench_text("variation", "%-24s", unsymmetric[v].name);
        bench_number("iterations, bicgstab", "", " %20.2f", mean_iterations(ctx, "bicgstab", &unsymmetric[v]));
        bench_number("iterations, bicgstab-filtered", "", " %20.2f",
                     mean_iterations(ctx, "bicgstab-filtered", &unsymmetric[v]));
        bench_end("\n");
    }
}

void bench_ascher_boxerman(const bench_options *options) {
    drape_context *ctx = bench_context(1);
    findings f = {0};
    print_tables(ctx, options->quick ? 1 : EXPERIMENTS, &f);
    print_sweep(ctx, options->quick ? 2 : VARIATIONS);
    print_bicgstab(ctx, options->quick ? 2 : UNSYMMETRIC);
    ab_parts(ctx, options->quick);
    ab_spectra(ctx);
    bench_claim_count("cells in which the corrected form gains nothing", f.no_gain, 0, 0);
    bench_claim_count("largest corrected / original at tolerance 0.01", f.worst_at_usual, 0, 0.85);
    drape_context_destroy(ctx);
}
