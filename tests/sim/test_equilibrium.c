/* Static equilibrium: that of drape_sim_find_equilibrium is where a cloth comes to lie still, and little force is
 * left there.
 */
#include "support/strips.h"
#include "support/testing.h"

#include "drape/io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static drape_loaded_scene *load(drape_context *ctx, const char *name, int32_t resolution) {
    drape_loaded_scene *loaded;
    ASSERT_OK(ctx, drape_scene_builtin(ctx, name, resolution, &loaded));
    return loaded;
}

/* Evaluates the forces again: only vertices that pins hold may carry any. */
static double largest_free_force(drape_context *ctx, drape_sim *sim, const bool *pinned) {
    int32_t n = drape_cloth_vertices(drape_sim_cloth(sim));
    double *f = malloc(3 * (size_t)n * sizeof *f), most = 0;
    assert_non_null(f);
    ASSERT_OK(ctx, drape_assembler_run(
                       drape_sim_assembler(sim),
                       &(drape_assembly){.x = drape_sim_positions(sim), .v = drape_sim_velocities(sim), .force = f},
                       NULL));
    for (int32_t i = 0; i < 3 * n; i++)
        if (!pinned[i / 3]) most = fmax(most, fabs(f[i]));
    free(f);
    return most;
}

static void little_force_is_left(void **state) {
    static const char *const scenes[] = {"drooping", "pinned", "chen"};
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        drape_loaded_scene *loaded = load(*state, scenes[k], k < 2 ? 21 : 0);
        const drape_scene *scene = drape_loaded_scene_data(loaded);
        drape_equilibrium_result r;
        drape_sim *sim;
        ASSERT_OK(*state, drape_sim_create(*state, scene, &sim));
        ASSERT_OK(*state, drape_sim_find_equilibrium(sim, NULL, &r));
        int32_t n = drape_cloth_vertices(drape_sim_cloth(sim));
        bool *pinned = calloc((size_t)n, sizeof *pinned);
        assert_non_null(pinned);
        for (int32_t p = 0; p < scene->pin_count; p++)
            for (int32_t i = 0; i < scene->pins[p].count; i++) pinned[scene->pins[p].vertices[i]] = true;
        assert_true(r.at_rest && r.residual <= 1e-7 && r.iterations > 0 && r.iterations < 100);
        assert_true(r.moved > 1e-3);
        assert_true(largest_free_force(*state, sim, pinned) <= 1e-7 * r.weight);
        for (int32_t i = 0; i < 3 * n; i++) assert_true(drape_sim_velocities(sim)[i] == 0);
        assert_true(drape_sim_time(sim) == 0);
        free(pinned);
        drape_sim_destroy(sim);
        drape_loaded_scene_destroy(loaded);
    }
}

/* A cloth at rest does not move in steps, and a swinging cloth ends where it hangs. */
static void swinging_ends_in_the_equilibrium(void **state) {
    test_strip *s = test_strip_create(*state, 6, 2, 0.6, 0.2);
    test_strip_pin(s, 0, 0, 0, 2), test_strip_pin(s, 6, 6, 0, 2);
    for (int64_t i = 0; i < s->mesh.vertices; i++) s->mesh.rest[3 * i] *= 0.9; /* slack */
    s->material->damping_stretch = s->material->damping_shear = s->material->damping_bend = 0.01;
    s->scene.forces.air_drag = 1;
    s->scene.integration.ode.newton.rtol = s->scene.integration.ode.newton.atol = 1e-10;
    drape_sim *still = test_strip_sim(s), *swung = test_strip_sim(s);
    drape_equilibrium_result r;
    ASSERT_OK(*state, drape_sim_find_equilibrium(still, &(drape_equilibrium_settings){.tolerance = 1e-9}, &r));
    assert_true(r.at_rest);
    double *x = test_positions(still), off = 0, sag = 0;
    test_run(*state, still, 20);
    for (int32_t i = 0; i < 3 * s->mesh.vertices; i++) ASSERT_NEAR(drape_sim_positions(still)[i], x[i], 1e-7);
    test_run_to_rest(*state, swung, 1e-9, 50000);
    for (int32_t i = 0; i < 3 * s->mesh.vertices; i++) {
        off = fmax(off, fabs(drape_sim_positions(swung)[i] - x[i]));
        sag = fmax(sag, -x[i]);
    }
    assert_true(sag > 0.1);
    assert_true(off < 1e-4);
    free(x);
    drape_sim_destroy(still), drape_sim_destroy(swung);
    test_strip_destroy(s);
}

/* Soft pins and a wind that does not change are forces like others. */
static void springs_and_wind_are_balanced(void **state) {
    test_strip *s = test_strip_create(*state, 4, 2, 0.4, 0.2);
    drape_equilibrium_result r;
    test_strip_pin(s, 0, 0, 0, 2);
    test_strip_pin(s, 4, 4, 0, 2)->stiffness = 20;
    s->scene.forces.wind[2] = 1.5;
    s->scene.forces.drag = 1.2;
    drape_sim *sim = test_strip_sim(s);
    ASSERT_OK(*state, drape_sim_find_equilibrium(sim, NULL, &r));
    assert_true(r.at_rest);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

static void bits_do_not_depend_on_threads(void **state) {
    double *x[2];
    size_t bytes = 0;
    (void)state;
    for (int32_t k = 0; k < 2; k++) {
        drape_context *ctx = test_context(k ? 7 : 1);
        drape_loaded_scene *loaded = load(ctx, "drooping", 40);
        drape_sim *sim;
        ASSERT_OK(ctx, drape_sim_create(ctx, drape_loaded_scene_data(loaded), &sim));
        ASSERT_OK(ctx, drape_sim_find_equilibrium(sim, NULL, NULL));
        bytes = 3 * (size_t)drape_cloth_vertices(drape_sim_cloth(sim)) * sizeof(double);
        x[k] = test_positions(sim);
        drape_sim_destroy(sim);
        drape_loaded_scene_destroy(loaded);
        drape_context_destroy(ctx);
    }
    assert_memory_equal(x[0], x[1], bytes);
    free(x[0]), free(x[1]);
}

/* Looking changes nothing: the next steps have the bits that they would have had. */
static void looking_leaves_the_state(void **state) {
    drape_loaded_scene *loaded = load(*state, "drooping", 11);
    drape_equilibrium_result r;
    drape_sim *sim, *other;
    ASSERT_OK(*state, drape_sim_create(*state, drape_loaded_scene_data(loaded), &sim));
    ASSERT_OK(*state, drape_sim_create(*state, drape_loaded_scene_data(loaded), &other));
    ASSERT_OK(*state, drape_sim_find_equilibrium(sim, &(drape_equilibrium_settings){.max_iterations = -1}, &r));
    assert_true(!r.at_rest && r.iterations == 0 && r.moved == 0);
    double held = 2.0 / 11; /* the share of the pinned vertices, whose masses are about half */
    assert_true(r.residual > 1 - held && r.residual < 1); /* nothing carries the weight yet */
    test_run(*state, sim, 3), test_run(*state, other, 3);
    assert_memory_equal(drape_sim_positions(sim), drape_sim_positions(other), 3 * 121 * sizeof(double));
    drape_sim_destroy(sim), drape_sim_destroy(other);
    drape_loaded_scene_destroy(loaded);
}

static void too_few_corrections_are_told(void **state) {
    drape_loaded_scene *loaded = load(*state, "drooping", 11);
    drape_equilibrium_result r;
    drape_sim *sim;
    ASSERT_OK(*state, drape_sim_create(*state, drape_loaded_scene_data(loaded), &sim));
    ASSERT_OK(*state, drape_sim_find_equilibrium(sim, &(drape_equilibrium_settings){.max_iterations = 2}, &r));
    assert_true(!r.at_rest && r.iterations == 2 && r.residual > 1e-7);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
}

static void refuse(drape_context *ctx, drape_sim *sim, const drape_equilibrium_settings *how, const char *message) {
    size_t bytes = 3 * (size_t)drape_cloth_vertices(drape_sim_cloth(sim)) * sizeof(double);
    double *x = test_positions(sim);
    assert_int_equal(drape_sim_find_equilibrium(sim, how, NULL), DRAPE_ERROR_ARGUMENT);
    if (!strstr(drape_message(ctx), message)) fail_msg("%s: no \"%s\"", drape_message(ctx), message);
    assert_memory_equal(drape_sim_positions(sim), x, bytes);
    free(x);
}

static void what_has_no_rest_is_refused(void **state) {
    drape_loaded_scene *loaded = load(*state, "sphere", 11);
    drape_sim *sim;
    ASSERT_OK(*state, drape_sim_create(*state, drape_loaded_scene_data(loaded), &sim));
    refuse(*state, sim, NULL, "the scene has contact");
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    test_strip *s = test_strip_create(*state, 2, 2, 1, 1);
    sim = test_strip_sim(s);
    refuse(*state, sim, NULL, "nothing holds '");
    refuse(*state, sim, &(drape_equilibrium_settings){.tolerance = 2}, "tolerance is 2");
    refuse(*state, sim, &(drape_equilibrium_settings){.reserved = {1}}, "drape_equilibrium_settings.reserved");
    drape_sim_destroy(sim);
    test_strip_destroy(s);
    assert_int_equal(drape_sim_find_equilibrium(NULL, NULL, NULL), DRAPE_ERROR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_force_is_left),          cmocka_unit_test(swinging_ends_in_the_equilibrium),
        cmocka_unit_test(springs_and_wind_are_balanced), cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(looking_leaves_the_state),      cmocka_unit_test(too_few_corrections_are_told),
        cmocka_unit_test(what_has_no_rest_is_refused),
    };
    return cmocka_run_group_tests(tests, test_set_up, test_tear_down);
}
