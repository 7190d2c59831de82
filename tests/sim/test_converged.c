/* What converged integrators do on cloth: known digits, energy, momentum, free fall, exact pins. */
#include "drape/io.h"
#include "support/dense.h"
#include "support/strips.h"
#include "support/testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CENTRE = 12 };

static double *copy_of(int64_t count, const double *from) {
    double *to = dense_new(count);
    memcpy(to, from, (size_t)count * sizeof *to);
    return to;
}

static void step(drape_context *ctx, drape_sim *sim, drape_certificate *c) {
    ASSERT_OK(ctx, drape_sim_step(sim, c));
    if (c->ode.newton_error > 1 || c->ode.unconverged)
        fail_msg("step %lld: Newton's iteration left %g", (long long)c->step, c->ode.newton_error);
}

/* ---- Chen's sheet ---- */

static drape_loaded_scene *load_chen(drape_context *ctx, const char *method) {
    drape_loaded_scene *loaded;
    ASSERT_OK(ctx, drape_scene_builtin(ctx, "chen", 0, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    scene->integration.ode.method = method;
    scene->integration.ode.newton.rtol = 1e-11;
    scene->integration.ode.newton.atol = 1e-13;
    return loaded;
}

/* The centre's z at 0.2 s and 0.4 s; steps of 20 ms, each cut into `parts`. */
static void chen_centre(drape_context *ctx, drape_scene *scene, int32_t parts, double z[2]) {
    drape_sim *sim;
    drape_certificate c;
    scene->step = 0.02 / parts;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    for (int32_t i = 0; i < 20 * parts; i++) {
        step(ctx, sim, &c);
        if (i + 1 == 10 * parts) z[0] = drape_sim_positions(sim)[3 * CENTRE + 2];
    }
    z[1] = drape_sim_positions(sim)[3 * CENTRE + 2];
    drape_sim_destroy(sim);
}

static void test_converged_euler_has_the_digits(void **state) {
    drape_context *ctx = *state;
    const double want[] = {-0.040500900, -0.089733564};
    for (int32_t kind = DRAPE_ODE_NEWTON; kind <= DRAPE_ODE_SIMPLIFIED; kind++)
        for (int32_t unknowns = 0; unknowns < 2; unknowns++) {
            double z[2];
            drape_loaded_scene *loaded = load_chen(ctx, "implicit-euler");
            drape_scene *scene = drape_loaded_scene_edit(loaded);
            scene->integration.ode.newton.kind = (drape_ode_newton_kind)kind;
            scene->integration.unknowns = (drape_unknowns)unknowns;
            chen_centre(ctx, scene, 1, z);
            printf("%s: %.12f, %.12f\n", drape_ode_newton_kind_name((drape_ode_newton_kind)kind), z[0], z[1]);
            for (int32_t k = 0; k < 2; k++) ASSERT_NEAR(z[k], want[k], 5e-10 * 1.001);
            drape_loaded_scene_destroy(loaded);
        }
}

/* One linearised iteration through the ode module is the step of step.c, whatever is solved for. */
static void test_linearised_steps_are_one(void **state) {
    drape_context *ctx = *state;
    const double want[] = {-0.040497894, -0.089729484};
    static const char *const methods[] = {DRAPE_LINEARISED_EULER, "implicit-euler"};
    for (int32_t m = 0; m < 2; m++)
        for (int32_t unknowns = 0; unknowns < 2; unknowns++) {
            double z[2];
            drape_loaded_scene *loaded = load_chen(ctx, methods[m]);
            drape_scene *scene = drape_loaded_scene_edit(loaded);
            scene->integration.ode.newton.kind = DRAPE_ODE_LINEARISED;
            scene->integration.unknowns = (drape_unknowns)unknowns;
            chen_centre(ctx, scene, 1, z);
            for (int32_t k = 0; k < 2; k++) ASSERT_NEAR(z[k], want[k], 5e-10 * 1.001);
            drape_loaded_scene_destroy(loaded);
        }
}

/* Richardson's extrapolation of the order that the method has. */
static void test_all_tend_to_the_same(void **state) {
    drape_context *ctx = *state;
    const double want[] = {-0.039847260, -0.086076221};
    static const char *const methods[] = {"implicit-midpoint", "bdf2", "bdf4", "rk4", "verlet", "dormand-prince"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        double coarse[2], fine[2], power = (double)(1 << drape_ode_method_order(methods[m]));
        drape_loaded_scene *loaded = load_chen(ctx, methods[m]);
        drape_scene *scene = drape_loaded_scene_edit(loaded);
        chen_centre(ctx, scene, 32, coarse);
        chen_centre(ctx, scene, 64, fine);
        for (int32_t k = 0; k < 2; k++) {
            double limit = (power * fine[k] - coarse[k]) / (power - 1);
            printf("%s: %.9f, to %.9f; reference %.9f\n", methods[m], fine[k], limit, want[k]);
            ASSERT_NEAR(limit, want[k], 1e-7);
        }
        drape_loaded_scene_destroy(loaded);
    }
}

/* ---- Energy ---- */

/* sum m |a - b|^2 / 2 */
static double half_square(const drape_cloth *cloth, const double *a, const double *b) {
    double sum = 0;
    for (int32_t i = 0; i < 3 * drape_cloth_vertices(cloth); i++)
        sum += 0.5 * drape_cloth_mass(cloth)[i / 3] * (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/* |v1 - v0|^2/2 + V1 <= |v0|^2/2 + V0 in every step, and every step converges. */
static void check_energy(drape_context *ctx, const drape_scene *scene, int32_t steps) {
    drape_sim *sim;
    drape_certificate c;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    const drape_cloth *cloth = drape_sim_cloth(sim);
    int32_t n = 3 * drape_cloth_vertices(cloth), newton = 0, cuts = 0;
    double V0 = drape_cloth_energy(drape_sim_cloth(sim), drape_sim_positions(sim)), worst = -INFINITY, scale = V0;
    double *v0 = copy_of(n, drape_sim_velocities(sim)), *zero = dense_new(n);
    for (int32_t i = 0; i < steps; i++) {
        step(ctx, sim, &c);
        double V1 = c.energy.elastic + c.energy.weight, change = half_square(cloth, drape_sim_velocities(sim), v0);
        double before = half_square(cloth, v0, zero) + V0;
        scale = fmax(scale, c.energy.kinetic + c.energy.elastic);
        worst = fmax(worst, change + V1 - before);
        V0 = V1;
        memcpy(v0, drape_sim_velocities(sim), (size_t)n * sizeof *v0);
        newton += c.ode.newton_iterations, cuts += c.ode.cuts;
    }
    printf("%d steps: %d Newton iterations, %d cuts; energy inequality missed by at most %.3g of %.3g J\n", steps,
           newton, cuts, worst, scale);
    assert_true(worst <= 1e-6 * scale);
    free(v0), free(zero);
    drape_sim_destroy(sim);
}

/* Steps as long as a frame of film, cotton with its damping: there is no potential, the line search goes by slope. */
static void test_drooping_at_frames(void **state) {
    drape_context *ctx = *state;
    drape_loaded_scene *loaded;
    ASSERT_OK(ctx, drape_scene_builtin(ctx, "drooping", 21, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    scene->integration.ode.method = "implicit-euler";
    scene->step = 1.0 / 24;
    check_energy(ctx, scene, 120);
    drape_loaded_scene_destroy(loaded);
}

/* Two pins, no damping: the line search goes by the potential. The rest shape is smaller than the sheet by a
 * twentieth, so that it begins stretched. */
static void test_stretched_sheet(void **state) {
    drape_context *ctx = *state;
    drape_loaded_scene *loaded;
    ASSERT_OK(ctx, drape_scene_builtin(ctx, "drooping", 11, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    drape_piece *piece = &scene->pieces[0];
    drape_material *m = &piece->material;
    double *uv = copy_of(242, piece->uv);
    const int32_t corners[] = {0, 10};
    for (int32_t i = 0; i < 242; i++) uv[i] /= 1.05;
    piece->uv = uv;
    m->damping_stretch = m->damping_shear = m->damping_bend = 0;
    scene->pins[0].count = 2;
    scene->pins[0].vertices = corners;
    scene->integration.ode.method = "implicit-euler";
    scene->integration.ode.newton.max_iterations =
        2000; /* it shrinks and is compressed: Jacobians are clamped then */
    scene->step = 0.005;
    check_energy(ctx, scene, 40);
    free(uv);
    drape_loaded_scene_destroy(loaded);
}

/* ---- Inexact Newton ---- */

typedef struct newton_record {
    int64_t linear;
    double residual; /* the largest |S (M (v1 - v0) - h f)| over |h f| of the weight alone */
} newton_record;

static double residual_of(drape_context *ctx, drape_sim *sim, const double *v0, double h) {
    const drape_cloth *cloth = drape_sim_cloth(sim);
    int32_t side = 31, n = 3 * drape_cloth_vertices(cloth);
    double *f = dense_new(n), sum = 0, weight = 0;
    ASSERT_OK(ctx, drape_assembler_run(
                       drape_sim_assembler(sim),
                       &(drape_assembly){.x = drape_sim_positions(sim), .v = drape_sim_velocities(sim), .force = f},
                       NULL));
    for (int32_t i = 0; i < n; i++) {
        int32_t column = i / 3 % side;
        double m = drape_cloth_mass(cloth)[i / 3], G = m * (drape_sim_velocities(sim)[i] - v0[i]) - h * f[i];
        if (column != 0 && column != side - 1) sum += G * G;
        weight += (h * m * 9.81) * (h * m * 9.81) / 3;
    }
    free(f);
    return sqrt(sum / weight);
}

static newton_record run_newton(drape_context *ctx, drape_ode_newton_kind kind, double eta) {
    drape_loaded_scene *loaded;
    drape_sim *sim;
    drape_certificate c;
    newton_record record = {0, 0};
    ASSERT_OK(ctx, drape_scene_builtin(ctx, "drooping", 31, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    scene->integration.ode.method = "implicit-euler";
    scene->integration.ode.newton.kind = kind;
    scene->integration.ode.newton.eta = eta;
    scene->integration.ode.newton.rtol = 1e-6;
    drape_material *m = &scene->pieces[0].material; /* the residual below is that of forces that do not lag */
    m->damping_stretch = m->damping_shear = m->damping_bend = 0;
    scene->solve.precond = "block_diagonal";
    scene->step = 1.0 / 24;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    int32_t n = 3 * drape_cloth_vertices(drape_sim_cloth(sim));
    double *v0 = dense_new(n);
    for (int32_t i = 0; i < 24; i++) {
        memcpy(v0, drape_sim_velocities(sim), (size_t)n * sizeof *v0);
        step(ctx, sim, &c);
        record.linear += c.linear.iterations;
        record.residual = fmax(record.residual, residual_of(ctx, sim, v0, scene->step));
    }
    free(v0);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    return record;
}

static void test_inexact_newton_is_cheaper(void **state) {
    drape_context *ctx = *state;
    newton_record tight = run_newton(ctx, DRAPE_ODE_NEWTON, 1e-8);
    newton_record loose[] = {run_newton(ctx, DRAPE_ODE_INEXACT, 0.02),
                             run_newton(ctx, DRAPE_ODE_EISENSTAT_WALKER, 0)};
    printf("newton: %lld iterations, residual %.2g\n", (long long)tight.linear, tight.residual);
    for (int32_t k = 0; k < 2; k++) {
        printf("%s: %lld iterations, residual %.2g\n", k ? "eisenstat-walker" : "inexact", (long long)loose[k].linear,
               loose[k].residual);
        assert_true((double)loose[k].linear <= 0.6 * (double)tight.linear);
        assert_true(loose[k].residual <= fmax(tight.residual, 1e-4));
    }
}

/* ---- Free cloth ---- */

/* Without pins and gravity; drooping's sheet. */
static drape_loaded_scene *load_free(drape_context *ctx, const char *method) {
    drape_loaded_scene *loaded;
    ASSERT_OK(ctx, drape_scene_builtin(ctx, "drooping", 11, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    scene->pin_count = 0;
    scene->integration.ode.method = method;
    scene->integration.ode.newton.rtol = 1e-12;
    scene->integration.ode.newton.atol = 1e-13;
    return loaded;
}

static void momentum(drape_sim *sim, double p[6]) {
    const drape_cloth *cloth = drape_sim_cloth(sim);
    const double *x = drape_sim_positions(sim), *v = drape_sim_velocities(sim);
    memset(p, 0, 6 * sizeof *p);
    for (int32_t i = 0; i < drape_cloth_vertices(cloth); i++)
        for (int32_t k = 0; k < 3; k++) {
            int32_t a = 3 * i + (k + 1) % 3, b = 3 * i + (k + 2) % 3;
            p[k] += drape_cloth_mass(cloth)[i] * v[3 * i + k];
            p[3 + k] += drape_cloth_mass(cloth)[i] * (x[a] * v[b] - x[b] * v[a]);
        }
}

static void test_midpoint_keeps_momentum(void **state) {
    drape_context *ctx = *state;
    drape_loaded_scene *loaded = load_free(ctx, "implicit-midpoint");
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    test_random r = {7};
    drape_sim *sim;
    drape_certificate c;
    double before[6], after[6];
    memset(scene->forces.gravity, 0, sizeof scene->forces.gravity);
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    const double *x = drape_sim_positions(sim);
    double *v = test_velocities(sim);
    for (int32_t i = 0; i < 121; i++) {
        const double w[3] = {1, -2, 3};
        for (int32_t k = 0; k < 3; k++)
            v[3 * i + k] = 0.3 + w[(k + 1) % 3] * x[3 * i + (k + 2) % 3] - w[(k + 2) % 3] * x[3 * i + (k + 1) % 3] +
                           test_random_between(&r, -0.05, 0.05);
    }
    test_set_state(ctx, sim, NULL, v);
    momentum(sim, before);
    for (int32_t i = 0; i < 50; i++) step(ctx, sim, &c);
    momentum(sim, after);
    for (int32_t k = 0; k < 6; k++) {
        printf("momentum %d: %.15g, then %.3g more\n", k, before[k], after[k] - before[k]);
        /* Damping acts along directions that lag behind, so of the angular momentum a little is lost. */
        ASSERT_NEAR(after[k], before[k], k < 3 ? 1e-11 : 1e-7);
    }
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
}

/* x0 + v0 t - g t^2/2 for implicit midpoint and what is of higher order; - g t (t + h)/2 for implicit Euler. */
static void test_free_fall(void **state) {
    drape_context *ctx = *state;
    static const char *const methods[] = {"implicit-midpoint", "bdf2", "rk4", "verlet", "implicit-euler"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        drape_loaded_scene *loaded = load_free(ctx, methods[m]);
        drape_scene *scene = drape_loaded_scene_edit(loaded);
        drape_sim *sim;
        drape_certificate c;
        bool is_explicit = !drape_ode_method_implicit(methods[m]), euler = strcmp(methods[m], "implicit-euler") == 0;
        scene->step = is_explicit ? 2e-4 : 0.02;
        ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
        double x0 = drape_sim_positions(sim)[0], z0 = drape_sim_positions(sim)[2], *v = test_velocities(sim);
        for (int32_t i = 0; i < 121; i++) v[3 * i] = 0.3, v[3 * i + 2] = 1;
        test_set_state(ctx, sim, NULL, v);
        while (drape_sim_time(sim) < 1 - 1e-9) step(ctx, sim, &c);
        double h = euler ? scene->step : 0;
        ASSERT_NEAR(drape_sim_positions(sim)[0], x0 + 0.3, 1e-9);
        ASSERT_NEAR(drape_sim_positions(sim)[2], z0 + 1 - 9.81 * (1 + h) / 2, 1e-9);
        drape_sim_destroy(sim);
        drape_loaded_scene_destroy(loaded);
    }
}

/* ---- Pins ---- */

/* All methods: what is held is on its target after every step, also where a pin takes hold and lets go on the way. */
static void check_pins(drape_context *ctx, const char *method, drape_ode_control control) {
    drape_loaded_scene *loaded;
    drape_sim *sim;
    drape_certificate c;
    const int32_t left[] = {0}, right[] = {8}, far[] = {80};
    ASSERT_OK(ctx, drape_scene_builtin(ctx, "drooping", 9, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    bool implicit = strcmp(method, DRAPE_LINEARISED_EULER) == 0 || drape_ode_method_implicit(method);
    scene->step = implicit ? 0.004 : 2e-4;
    double begin = 4.5 * scene->step, end = 12.5 * scene->step, u = 0.4;
    drape_pin pins[] = {
        {.count = 1,
         .vertices = left,
         .directions = 3,
         .motion = {.kind = DRAPE_MOTION_SINE, .amplitude = {0, 0, 0.02}, .frequency = 3}},
        {.count = 1,
         .vertices = right,
         .directions = 1,
         .direction = {{0, 1, 1}},
         .motion = {.kind = DRAPE_MOTION_LINEAR, .velocity = {0, 0, u}}},
        {.count = 1, .vertices = far, .directions = 3, .from = begin, .until = end},
    };
    scene->pins = pins;
    scene->pin_count = 3;
    scene->integration.ode.method = method;
    scene->integration.ode.control = control;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    const double *x = drape_sim_positions(sim);
    double *start = copy_of(243, x), kept[3] = {0};
    for (int32_t i = 1; i <= 20; i++) {
        if (i == 5) memcpy(kept, x + 240, sizeof kept);
        step(ctx, sim, &c);
        double t = i * scene->step, sine = 0.02 * sin(6 * 3.14159265358979323846 * t);
        ASSERT_NEAR(x[2], start[2] + sine, 1e-13);
        ASSERT_NEAR(x[0], start[0], 1e-13);
        ASSERT_NEAR(x[25] - start[25] + x[26] - start[26], u * t, 1e-13);
        for (int32_t k = 0; k < 3 && i >= 5 && i <= 12; k++) ASSERT_NEAR(x[240 + k], kept[k], 1e-13);
    }
    assert_true(fabs(x[242] - kept[2]) > 1e-9); /* it fell again */
    free(start);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
}

static void test_pins_are_exact(void **state) {
    drape_context *ctx = *state;
    for (int32_t m = 0; drape_integrator_name(m); m++) {
        const char *method = drape_integrator_name(m);
        check_pins(ctx, method, DRAPE_ODE_FIXED);
        if (m > 0) check_pins(ctx, method, DRAPE_ODE_ERROR);
    }
}

/* What holds a sheet that hangs at rest is its weight. */
static void test_constraint_forces(void **state) {
    drape_context *ctx = *state;
    static const struct {
        const char *method;
        drape_ode_newton_kind kind;
    } cases[] = {{DRAPE_LINEARISED_EULER, DRAPE_ODE_NEWTON_DEFAULT},
                 {"implicit-euler", DRAPE_ODE_NEWTON_DEFAULT},
                 {"implicit-euler", DRAPE_ODE_LINEARISED},
                 {"bdf2", DRAPE_ODE_NEWTON_DEFAULT}};
    for (size_t m = 0; m < sizeof cases / sizeof *cases; m++)
        for (int32_t unknowns = 0; unknowns < 2; unknowns++) {
            drape_loaded_scene *loaded;
            drape_sim *sim;
            drape_certificate c;
            double impulse = 0, mass = 0;
            ASSERT_OK(ctx, drape_scene_builtin(ctx, "drooping", 9, &loaded));
            drape_scene *scene = drape_loaded_scene_edit(loaded);
            scene->step = 0.05;
            scene->solve.tol = 1e-10;
            scene->integration.ode.method = cases[m].method;
            scene->integration.ode.newton.kind = cases[m].kind;
            scene->integration.unknowns = (drape_unknowns)unknowns;
            ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
            for (int32_t i = 0; i < 200; i++) step(ctx, sim, &c);
            for (int32_t i = 0; i < 81; i++) {
                impulse += drape_sim_constraint_forces(sim)[3 * i + 2];
                mass += drape_cloth_mass(drape_sim_cloth(sim))[i];
            }
            ASSERT_NEAR(impulse / scene->step, mass * 9.81, 1e-5);
            drape_sim_destroy(sim);
            drape_loaded_scene_destroy(loaded);
        }
}

/* ---- The state and the mass ---- */

/* A host that changes the state between steps gets what a simulation from that state would do. */
static void test_changed_state_restarts(void **state) {
    drape_context *ctx = *state;
    drape_loaded_scene *loaded;
    drape_sim *first, *second;
    drape_certificate c;
    ASSERT_OK(ctx, drape_scene_builtin(ctx, "drooping", 9, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    scene->integration.ode.method = "bdf3";
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &first));
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &second));
    for (int32_t i = 0; i < 8; i++) step(ctx, first, &c), ASSERT_OK(ctx, drape_sim_step(second, NULL));
    assert_memory_equal(drape_sim_positions(first), drape_sim_positions(second), 243 * sizeof(double));
    double *v = test_velocities(first);
    v[3 * 40] += 0.1;
    test_set_state(ctx, first, NULL, v);
    step(ctx, first, &c);
    assert_true(c.ode.newton_iterations >= 6); /* the beginning of bdf3 is six implicit Euler steps */
    step(ctx, second, &c);
    assert_true(memcmp(drape_sim_positions(first), drape_sim_positions(second), 243 * sizeof(double)) != 0);
    drape_sim_destroy(first), drape_sim_destroy(second);
    drape_loaded_scene_destroy(loaded);
}

/* Falls as the lumped one does, weighs as much; the stiffest wave is faster, as finite elements have it. */
static void test_consistent_mass(void **state) {
    drape_context *ctx = *state;
    static const char *const methods[] = {DRAPE_LINEARISED_EULER, "implicit-midpoint", "rk4"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        drape_loaded_scene *loaded = load_free(ctx, methods[m]);
        drape_scene *scene = drape_loaded_scene_edit(loaded);
        drape_sim *sim;
        drape_certificate c;
        scene->integration.mass = DRAPE_MASS_CONSISTENT;
        scene->step = 1e-4;
        scene->solve.tol = 1e-12;
        ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
        double *v = test_velocities(sim);
        for (int32_t i = 0; i < 121; i++) v[3 * i] = 0.3;
        test_set_state(ctx, sim, NULL, v);
        for (int32_t i = 0; i < 10; i++) step(ctx, sim, &c);
        double mass = 0, vz = -9.81 * 1e-3;
        for (int32_t i = 0; i < 121; i++) mass += drape_cloth_mass(drape_sim_cloth(sim))[i];
        for (int32_t i = 0; i < 121; i++) ASSERT_NEAR(drape_sim_velocities(sim)[3 * i + 2], vz, 1e-9);
        ASSERT_NEAR(c.energy.kinetic, 0.5 * mass * (0.09 + vz * vz), 1e-10);
        drape_sim_destroy(sim);
        drape_loaded_scene_destroy(loaded);
    }
}

static void test_masses_of_their_own_are_refused(void **state) {
    drape_context *ctx = *state;
    drape_loaded_scene *loaded = load_chen(ctx, DRAPE_LINEARISED_EULER);
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    drape_sim *sim;
    scene->integration.mass = DRAPE_MASS_CONSISTENT;
    assert_int_equal(drape_sim_create(ctx, scene, &sim), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "masses of their own"));
    scene->integration.mass = DRAPE_MASS_LUMPED;
    scene->integration.ode.method = "leap-dog";
    assert_int_equal(drape_sim_create(ctx, scene, &sim), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "leap-dog"));
    drape_loaded_scene_destroy(loaded);
}

/* ---- What fails ---- */

/* One Newton iteration is not enough: the run stops with the state of before, or goes on and says so, or divides the
 * step. */
static void test_failure_stops_is_told_or_divides(void **state) {
    drape_context *ctx = *state;
    drape_loaded_scene *loaded;
    drape_sim *sim;
    drape_certificate c;
    ASSERT_OK(ctx, drape_scene_builtin(ctx, "drooping", 9, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    scene->integration.ode.method = "implicit-euler";
    scene->integration.ode.newton.max_iterations = 1;
    scene->integration.ode.newton.tolerance = 4e-3;
    scene->integration.stop_on_failure = true;
    scene->step = 1.0 / 24;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    double *start = copy_of(243, drape_sim_positions(sim));
    assert_int_equal(drape_sim_step(sim, &c), DRAPE_ERROR_NUMBER);
    assert_non_null(strstr(drape_message(ctx), "has not converged after 1 corrections"));
    assert_non_null(strstr(drape_message(ctx), ", most at vertex "));
    assert_memory_equal(drape_sim_positions(sim), start, 243 * sizeof *start);
    assert_int_equal(drape_sim_steps(sim), 0);
    assert_null(drape_sim_constraint_forces(sim));
    drape_sim_destroy(sim);
    scene->integration.ode.newton.keep_unconverged = 1;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    ASSERT_OK(ctx, drape_sim_step(sim, &c));
    assert_int_equal(c.ode.unconverged, 1);
    assert_int_equal(c.ode.reason, DRAPE_ODE_NEWTON_LIMIT);
    assert_true(c.ode.newton_error > 1);
    assert_int_equal(drape_sim_steps(sim), 1);
    drape_sim_destroy(sim);
    scene->integration.stop_on_failure = scene->integration.ode.newton.keep_unconverged = false;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim)); /* divided, until one iteration is enough */
    ASSERT_OK(ctx, drape_sim_step(sim, &c));
    assert_true(c.ode.unconverged == 0 && c.ode.substeps > 1);
    ASSERT_NEAR(c.time, scene->step, 1e-15);
    drape_sim_destroy(sim);
    free(start);
    drape_loaded_scene_destroy(loaded);
}

/* ---- The stiffest eigenvalue ---- */

/* The step that Verlet's method is said to take at most is 2/omega, omega^2 the largest eigenvalue of M^-1 K among
 * what is free. */
static void test_named_step_is_the_right_one(void **state) {
    drape_context *ctx = *state;
    enum { SIDE = 6, N = 3 * SIDE * SIDE };
    drape_loaded_scene *loaded;
    drape_sim *sim;
    drape_matrix *K;
    ASSERT_OK(ctx, drape_scene_builtin(ctx, "drooping", SIDE, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    drape_material *m = &scene->pieces[0].material;
    m->damping_stretch = m->damping_shear = m->damping_bend = 0;
    scene->integration.ode.method = "verlet";
    scene->step = 0.1;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    assert_int_equal(drape_sim_step(sim, NULL), DRAPE_ERROR_NUMBER);
    const char *at = strstr(drape_message(ctx), "takes at most ");
    assert_non_null(at);
    double named = strtod(at + strlen("takes at most "), NULL);
    const drape_cloth *cloth = drape_sim_cloth(sim);
    ASSERT_OK(ctx, drape_assembler_matrix(drape_sim_assembler(sim), &K));
    drape_assembly what = {.x = drape_sim_positions(sim), .v = drape_sim_velocities(sim), .stiffness = 1};
    ASSERT_OK(ctx, drape_assembler_run(drape_sim_assembler(sim), &what, K));
    double *A = dense_new((int64_t)N * N), *values = dense_new(N);
    drape_bsr3 view = drape_matrix_view(K);
    dense_from_bsr3(&view, A);
    for (int32_t i = 0; i < N; i++)
        for (int32_t j = 0; j < N; j++) {
            bool held = i / 3 % SIDE % (SIDE - 1) == 0 || j / 3 % SIDE % (SIDE - 1) == 0;
            A[i * N + j] *= held ? 0 : 1 / sqrt(drape_cloth_mass(cloth)[i / 3] * drape_cloth_mass(cloth)[j / 3]);
        }
    dense_eigen(N, A, values, NULL);
    double exact = 2 / sqrt(values[N - 1]);
    printf("named %.6g s, exact %.6g s\n", named, exact);
    assert_true(named <= exact && named >= 0.97 * exact);
    free(A), free(values);
    drape_matrix_destroy(K);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
}

int main(void) {
    drape_context *ctx = test_context(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_converged_euler_has_the_digits, ctx),
        cmocka_unit_test_prestate(test_linearised_steps_are_one, ctx),
        cmocka_unit_test_prestate(test_all_tend_to_the_same, ctx),
        cmocka_unit_test_prestate(test_drooping_at_frames, ctx),
        cmocka_unit_test_prestate(test_stretched_sheet, ctx),
        cmocka_unit_test_prestate(test_inexact_newton_is_cheaper, ctx),
        cmocka_unit_test_prestate(test_midpoint_keeps_momentum, ctx),
        cmocka_unit_test_prestate(test_free_fall, ctx),
        cmocka_unit_test_prestate(test_pins_are_exact, ctx),
        cmocka_unit_test_prestate(test_constraint_forces, ctx),
        cmocka_unit_test_prestate(test_changed_state_restarts, ctx),
        cmocka_unit_test_prestate(test_consistent_mass, ctx),
        cmocka_unit_test_prestate(test_masses_of_their_own_are_refused, ctx),
        cmocka_unit_test_prestate(test_failure_stops_is_told_or_divides, ctx),
        cmocka_unit_test_prestate(test_named_step_is_the_right_one, ctx),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    drape_context_destroy(ctx);
    return failed;
}
