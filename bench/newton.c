/* newton.c: kinds of Newton's method and Jacobians on mass-spring cloth (the model provot): what a step takes.
 *
 * Hauth's F_lin (survey, eq. 50) has k I for every spring in place of k n n'. So the matrix M + c D + c^2 K_lin
 * depends on c alone and is made once. But it is as stiff across a spring as along it. Where cloth is hardly
 * stretched it has next to no stiffness across, and an iteration takes off from such an error no more than
 *
 *     1 / (1 + sigma),   sigma an eigenvalue of M^-1 (c D_lin + c^2 K_lin);
 *
 * the largest sigma stands in the table. All contestants step in turn, each in a simulation of its own and to the
 * same tolerance. `apart` says how far from the first one they are at the end. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 10, QUICK_STEPS = 3, CORRECTIONS = 300, POWER_ITERATIONS = 60 };

static const struct racer {
    const char *name;
    drape_jacobian jacobian;
    drape_ode_newton_kind kind;
} racers[] = {{"psd, inexact", DRAPE_JACOBIAN_PSD, DRAPE_ODE_INEXACT},
              {"psd, simplified", DRAPE_JACOBIAN_PSD, DRAPE_ODE_SIMPLIFIED},
              {"linear, simplified", DRAPE_JACOBIAN_LINEAR, DRAPE_ODE_SIMPLIFIED}};
enum { FULL = 0, LINEAR = 2, RACERS = sizeof racers / sizeof *racers };

static const struct course {
    const char *scene, *method;
    double step;    /* s */
    double soft;    /* times the stiffness of the scene's fabric */
    double damping; /* s, in place of the fabric's; 0: the fabric's */
} courses[] = {
    {"drooping", "implicit-euler", 0.1e-3, 1, 0},
    {"drooping", "implicit-euler", 0.5e-3, 1, 0},
    {"drooping", "implicit-euler", 5e-3, 1, 0},
    {"drooping", "implicit-euler", 20e-3, 1, 0},
    {"drooping", "implicit-euler", 5e-3, 1, 5e-3},
    {"drooping", "implicit-euler", 5e-3, 0.01, 0},
    {"drooping", "implicit-euler", 5e-3, 0.001, 0},
    {"drooping", "bdf2", 0.5e-3, 1, 0},
    {"drooping", "bdf2", 5e-3, 1, 0},
    {"drooping", "implicit-midpoint", 5e-3, 1, 0},
    {"flag", "implicit-euler", 0.1e-3, 1, 0},
    {"flag", "implicit-euler", 5e-3, 1, 0},
    {"flag", "bdf2", 5e-3, 1, 0},
};
enum { COURSES = sizeof courses / sizeof *courses };

typedef struct entrant {
    drape_sim *sim;
    bool failed;
    double newton, linear;         /* iterations, in all */
    double assemble, setup, solve; /* s, in all */
    double seconds;                /* of steps with all that is besides */
    int32_t steps;
} entrant;

/* ---- What a course is like ---- */

static void soften(drape_material *m, const struct course *c) {
    m->stretch[0] *= c->soft;
    m->stretch[1] *= c->soft;
    m->shear *= c->soft;
    m->bend *= c->soft;
    if (c->damping > 0) m->damping_stretch = m->damping_shear = m->damping_bend = c->damping;
}

static drape_sim *begin(drape_context *ctx, const struct course *c, const struct racer *r, int32_t side) {
    drape_loaded_scene *loaded;
    drape_sim *sim;
    bench_check(ctx, drape_scene_builtin(ctx, c->scene, side, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    for (int32_t p = 0; p < scene->piece_count; p++) soften(&scene->pieces[p].material, c);
    scene->cloth.model = "provot";
    scene->cloth.jacobian = r->jacobian;
    scene->step = c->step;
    scene->integration.ode.method = c->method;
    scene->integration.ode.newton.kind = r->kind;
    scene->integration.ode.newton.max_iterations = CORRECTIONS;
    scene->integration.ode.newton.rtol = 1e-6;
    scene->integration.ode.newton.tolerance = -1;
    scene->integration.stop_on_failure = true;
    bench_check(ctx, drape_sim_create(ctx, scene, &sim));
    drape_loaded_scene_destroy(loaded);
    return sim;
}

/* The largest sigma, by the power method; what is held counts as free. */
static double stiffest(drape_context *ctx, drape_sim *sim, double c) {
    const drape_cloth *cloth = drape_sim_cloth(sim);
    int64_t n = 3 * (int64_t)drape_cloth_vertices(cloth);
    double *x = bench_vector(n), *y = bench_vector(n), sigma = 0;
    drape_matrix *matrix;
    bench_check(ctx, drape_assembler_matrix(drape_sim_assembler(sim), &matrix));
    drape_assembly what = {
        .x = drape_sim_positions(sim), .v = drape_sim_velocities(sim), .damping = c, .stiffness = c * c};
    bench_check(ctx, drape_assembler_run(drape_sim_assembler(sim), &what, matrix));
    drape_bsr3 K = drape_matrix_view(matrix);
    for (int64_t i = 0; i < n; i++) x[i] = (double)(i * 7919 % 1000) / 1000 - 0.5;
    for (int32_t k = 0; k < POWER_ITERATIONS; k++) {
        double before = 0, after = 0;
        bench_check(ctx, drape_multiply(ctx, &K, x, y));
        for (int64_t i = 0; i < n; i++) {
            y[i] /= drape_cloth_mass(cloth)[i / 3];
            before += x[i] * x[i];
            after += y[i] * y[i];
        }
        sigma = sqrt(after / before);
        for (int64_t i = 0; i < n; i++) x[i] = y[i] / sqrt(after);
    }
    drape_matrix_destroy(matrix);
    free(x);
    free(y);
    return sigma;
}

/* c of the method's stages over the step. */
static double share_of_step(const char *method) {
    return strcmp(method, "bdf2") == 0 ? 2.0 / 3 : strcmp(method, "implicit-midpoint") == 0 ? 0.5 : 1;
}

/* ---- The race ---- */

static void step(entrant *e) {
    drape_certificate c;
    if (e->failed) return;
    double start = bench_seconds();
    e->failed = drape_sim_step(e->sim, &c) != DRAPE_OK;
    if (e->failed) return;
    e->seconds += bench_seconds() - start;
    e->steps++;
    e->newton += c.ode.newton_iterations;
    e->linear += c.linear.iterations;
    e->assemble += c.seconds.assemble;
    e->setup += c.seconds.precondition;
    e->solve += c.seconds.solve;
}

/* The largest distance of a vertex, m. */
static double apart(drape_sim *a, drape_sim *b) {
    int32_t vertices = drape_cloth_vertices(drape_sim_cloth(a));
    const double *x = drape_sim_positions(a), *y = drape_sim_positions(b);
    double most = 0;
    for (int64_t i = 0; i < vertices; i++) {
        double d[3] = {x[3 * i] - y[3 * i], x[3 * i + 1] - y[3 * i + 1], x[3 * i + 2] - y[3 * i + 2]};
        most = fmax(most, sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
    }
    return most;
}

/* Of a step, s. Steps are no repeats of each other: no median. */
static double mean_of(const entrant *e) { return e->seconds / e->steps; }

static void print_entrant(const char *name, const entrant *e, const entrant *first) {
    double n = e->steps;
    bench_row();
    bench_text("jacobian, newton", "    %-18s", name);
    if (e->failed) {
        bench_count("does not converge, step", " step %d does not converge", e->steps + 1);
        printf(" in %d corrections", CORRECTIONS);
        bench_end("\n");
        return;
    }
    bench_number("newton", "", " %7.1f", e->newton / n);
    bench_number("linear", "", " %8.1f |", e->linear / n);
    bench_number("assemble", "ms", " %8.2f", 1e3 * e->assemble / n);
    bench_number("set-up", "ms", " %8.2f", 1e3 * e->setup / n);
    bench_number("solve", "ms", " %8.2f", 1e3 * e->solve / n);
    bench_number("step", "ms", " %8.2f |", 1e3 * mean_of(e));
    if (!first->failed) {
        bench_number("ratio", "", " %7.2f", mean_of(e) / mean_of(first));
        bench_number("apart", "m", " %8.0e", e == first ? 0 : apart(e->sim, first->sim));
    }
    bench_end(first->failed ? "       -        -\n" : "\n");
}

static void print_course(const struct course *c, int32_t side, double sigma) {
    bench_keys();
    bench_text("scene", "  %s", c->scene);
    bench_count("side", ", %d vertices a side", side);
    bench_text("method", ", %s", c->method);
    bench_number("time step", "ms", ", %g ms", 1e3 * c->step);
    if (c->soft != 1) bench_number("stiffness", "", ", stiffness times %g", c->soft);
    if (c->damping > 0) bench_number("damping", "ms", ", damping %g ms", 1e3 * c->damping);
    bench_number("sigma", "", ": sigma %.3g", sigma);
    bench_number("left", "", ", which leaves %.4g", sigma / (1 + sigma));
    bench_end("\n");
}

/* True where F_lin takes at most half the time. */
static bool race(drape_context *ctx, const struct course *c, int32_t side, int32_t steps) {
    entrant entrants[RACERS] = {0};
    for (int32_t k = 0; k < RACERS; k++) entrants[k].sim = begin(ctx, c, &racers[k], side);
    print_course(c, side, stiffest(ctx, entrants[LINEAR].sim, share_of_step(c->method) * c->step));
    for (int32_t i = 0; i < steps; i++)
        for (int32_t k = 0; k < RACERS; k++) step(&entrants[k]);
    for (int32_t k = 0; k < RACERS; k++) print_entrant(racers[k].name, &entrants[k], &entrants[FULL]);
    const entrant *full = &entrants[FULL], *linear = &entrants[LINEAR];
    bool halves = !full->failed && !linear->failed && mean_of(linear) <= 0.5 * mean_of(full);
    for (int32_t k = 0; k < RACERS; k++) drape_sim_destroy(entrants[k].sim);
    return halves;
}

void bench_newton(const bench_options *options) {
    const int32_t own[] = {31, 61, 101}, quick[] = {15};
    int32_t sides[BENCH_MOST_SIZES], halved = 0;
    int32_t count = bench_sizes(options, options->quick ? quick : own, options->quick ? 1 : 3, sides);
    drape_context *ctx = bench_context(options->threads);
    bench_table("steps");
    printf("Means over %d steps, taken in turn; milliseconds; `ratio`: a step's over that of the first line.\n",
           options->quick ? QUICK_STEPS : STEPS);
    printf("    %-18s %7s %8s | %8s %8s %8s %8s | %7s %8s\n", "jacobian, newton", "newton", "linear", "assemble",
           "set-up", "solve", "step", "ratio", "apart, m");
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < COURSES; k++)
            halved += race(ctx, &courses[k], sides[i], options->quick ? QUICK_STEPS : STEPS);
    printf("  the linear Jacobian halves the time of a step in %d of %d\n", halved, count * COURSES);
    drape_context_destroy(ctx);
}
