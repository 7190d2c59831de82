/* Models of springs in whole simulations: closed forms, the limit of strain, every shipped scene. */
#include "support/strips.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double G = 9.81; /* m/s^2 */
static const char *const models[] = {"choi_ko", "provot"};
enum { MODELS = 2 };

static void set_stiffness(test_strip *s, const char *model, double density, double stretch, double shear,
                          double bend) {
    drape_material *m = s->material;
    m->density = density, m->stretch[0] = m->stretch[1] = stretch, m->shear = shear, m->bend = bend;
    s->scene.cloth.model = model;
}

static double report(const char *what, double got, double want) {
    printf("%s: %.6g, wanted %.6g: %+.3f %%\n", what, got, want, 100 * (got / want - 1));
    return got / want - 1;
}

/* ---- statics ---- */

static double hang(drape_context *ctx, const char *model, int32_t n) {
    const double L = 1, w = 0.2, rho = 0.3, k = 200;
    test_strip *s = test_strip_create(ctx, n, n / 5, L, w);
    set_stiffness(s, model, rho, k, 2, 0); /* little shear: the pinned edge cannot narrow */
    test_strip_pin(s, 0, 0, 0, s->ny);
    s->scene.forces.gravity[0] = G, s->scene.forces.gravity[2] = 0;
    s->scene.step = 0.02;
    s->scene.forces.air_drag = 3;
    drape_sim *sim = test_strip_sim(s);
    test_run(ctx, sim, 600);
    double off = report(model, test_strip_mean(s, sim, n, 0) - L, rho * G * L * L / (2 * k));
    drape_sim_destroy(sim);
    test_strip_destroy(s);
    return off;
}

static void test_hanging_strip(void **state) {
    for (int32_t i = 0; i < MODELS; i++)
        for (int32_t n = 5; n <= 20; n *= 2) ASSERT_NEAR(hang(*state, models[i], n), 0, 0.005);
}

/* A clamped strip under its own weight, rho g L^3/B = 5; the elastica's tip is that of test_physics.c. Both ends of
 * the first cell are held, so the clamp is in its middle. The cells are so large that arcs are bent by more than the
 * angle below which straight springs stand in for them. */
static double droop(drape_context *ctx, int32_t n, int32_t rows) {
    const double load = 5, L = 1, rho = 0.2, B = rho * G * L * L * L / load, cell = L / (n - 0.5);
    test_strip *s = test_strip_create(ctx, n, rows, n * cell, rows * cell);
    set_stiffness(s, "choi_ko", rho, 1e6, 1e3, B);
    test_strip_pin(s, 0, 1, 0, rows);
    s->scene.step = 0.01;
    s->scene.forces.air_drag = 3;
    drape_sim *sim = test_strip_sim(s);
    test_run(ctx, sim, 1500);
    drape_certificate c;
    ASSERT_OK(ctx, drape_sim_step(sim, &c));
    printf("%d x %d cells, kinetic energy %.2g J, ", n, rows, c.energy.kinetic);
    double off = report("tip's z", test_strip_mean(s, sim, n, 2), -0.495905);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
    return off;
}

static void test_cantilever_of_choi_ko(void **state) {
    for (int32_t rows = 1; rows <= 2; rows++) ASSERT_NEAR(droop(*state, 8, rows), 0, 0.03);
}

/* ---- the limit of strain ---- */

static double longest_edge(const test_strip *s, const double *x) {
    double most = 0;
    for (int32_t t = 0; t < 3 * s->mesh.triangles; t++) {
        int32_t a = s->mesh.triangle[t], b = s->mesh.triangle[t / 3 * 3 + (t + 1) % 3];
        double now = 0, rest = 0;
        for (int32_t k = 0; k < 3; k++) {
            now += pow(x[3 * b + k] - x[3 * a + k], 2);
            rest += pow(s->mesh.rest[3 * b + k] - s->mesh.rest[3 * a + k], 2);
        }
        most = fmax(most, sqrt(now / rest));
    }
    return most;
}

/* A soft sheet on two corners: without the limit it stretches by much more than 10 %. */
static double hang_soft(drape_context *ctx, const char *model, const char *method, double limit) {
    test_strip *s = test_strip_create(ctx, 12, 12, 1, 1);
    set_stiffness(s, model, 0.3, 20, 5, 0);
    s->material->strain_limit = limit;
    s->scene.integration.ode.method = method;
    test_strip_pin(s, 0, 0, 0, 0), test_strip_pin(s, 0, 0, 12, 12);
    drape_sim *sim = test_strip_sim(s);
    double most = 0;
    for (int32_t i = 0; i < 100; i++) {
        ASSERT_OK(ctx, drape_sim_step(sim, NULL));
        most = fmax(most, longest_edge(s, drape_sim_positions(sim)));
    }
    for (int32_t j = 0; j <= 12; j += 12)
        for (int32_t k = 0; k < 3; k++) {
            int32_t at = 3 * test_strip_vertex(s, 0, j) + k;
            ASSERT_NEAR(drape_sim_positions(sim)[at], s->mesh.rest[at], 1e-12);
        }
    drape_sim_destroy(sim);
    test_strip_destroy(s);
    return most;
}

static void test_limit_of_strain(void **state) {
    static const char *const methods[] = {DRAPE_LINEARISED_EULER, "implicit-euler", "implicit-midpoint", "bdf2"};
    for (int32_t i = 0; i < MODELS; i++)
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            double without = hang_soft(*state, models[i], methods[m], 0);
            double with = hang_soft(*state, models[i], methods[m], 0.1);
            printf("%s, %s: longest edge %.4f, with the limit %.4f\n", models[i], methods[m], without, with);
            assert_true(without > 1.3);
            assert_true(with < 1.1 + 0.02);
        }
}

/* ---- scenes ---- */

static void run_scene(drape_context *ctx, const char *name, const char *model, const char *jacobian) {
    char set_model[64], set_jacobian[64];
    const char *set[] = {set_model, set_jacobian, "integrator=preview"};
    bool linear =
        strcmp(jacobian, "linear") == 0; /* Newton's method does not get far with it: docs/notes/integrators.md */
    snprintf(set_model, sizeof set_model, "model=%s", model);
    snprintf(set_jacobian, sizeof set_jacobian, "jacobian=%s", jacobian);
    drape_loaded_scene *loaded;
    drape_sim *sim;
    drape_scene_options options = {
        .resolution = test_scene_resolution(name, 21), .set = set, .set_count = linear ? 3 : 2};
    ASSERT_OK(ctx, drape_scene_load(ctx, name, &options, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    for (int32_t i = 0; i < 5 * scene->steps_per_frame; i++) {
        drape_certificate c;
        ASSERT_OK(ctx, drape_sim_step(sim, &c));
        assert_true(c.linear.reason == DRAPE_CONVERGED);
        assert_true(c.stretch < 1.5);
    }
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
}

/* A pocket cuts the panel below into triangles of all sizes, where springs along edges are no cloth. At 21 vertices
 * along the width single ones stretch to twice their length. */
static bool is_sewn(const char *name) { return strcmp(name, "apron") == 0; }

static void test_every_scene_runs_with_every_model(void **state) {
    for (int32_t s = 0; drape_scene_name(s); s++)
        if (s % TEST_EACH_SCENE == 0 && !is_sewn(drape_scene_name(s)))
            for (int32_t i = 0; i < MODELS; i++) run_scene(*state, drape_scene_name(s), models[i], "psd");
}

static void test_linear_jacobian_steps(void **state) {
    for (int32_t i = 0; i < MODELS; i++) run_scene(*state, "drooping", models[i], "linear");
}

int main(void) {
    drape_context *ctx = test_context(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_hanging_strip, ctx),
        cmocka_unit_test_prestate(test_cantilever_of_choi_ko, ctx),
        cmocka_unit_test_prestate(test_limit_of_strain, ctx),
        cmocka_unit_test_prestate(test_every_scene_runs_with_every_model, ctx),
        cmocka_unit_test_prestate(test_linear_jacobian_steps, ctx),
    };
    int failed = cmocka_run_group_tests_name("sim.models", tests, NULL, NULL);
    drape_context_destroy(ctx);
    return failed;
}
