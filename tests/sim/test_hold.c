/* Vertices that a program holds and lets go while a simulation runs. */
#include "support/strips.h"
#include "support/testing.h"

#include "drape/io.h"

#include <math.h>
#include <string.h>

static const double TOLERANCE = 1e-12; /* m */
static const char *const INTEGRATORS[] = {"linearised-euler", "bdf2", "implicit-euler", "tr-bdf2"};
enum { INTEGRATOR_COUNT = sizeof INTEGRATORS / sizeof *INTEGRATORS };

static drape_sim *load(drape_context *ctx, const char *name, const char *integrator, drape_loaded_scene **scene) {
    drape_sim *sim = NULL;
    const drape_scene_options options = {.resolution = 9, .integrator = integrator};
    ASSERT_OK(ctx, drape_scene_load(ctx, name, &options, scene));
    ASSERT_OK(ctx, drape_sim_create(ctx, drape_loaded_scene_data(*scene), &sim));
    return sim;
}

/* The last two vertices, led to where they are plus `by`. */
static drape_hold corner(const drape_sim *sim, const double by[3], int32_t vertices[2], double target[6]) {
    int32_t n = drape_cloth_vertices(drape_sim_cloth(sim));
    for (int32_t i = 0; i < 2; i++) {
        vertices[i] = n - 2 + i;
        for (int32_t k = 0; k < 3; k++) target[3 * i + k] = drape_sim_positions(sim)[3 * (n - 2 + i) + k] + by[k];
    }
    return (drape_hold){.count = 2, .vertices = vertices, .target = target};
}

static double distance(const double *a, const double *b) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* They arrive exactly and stay, whatever the integrator; no step moves them faster than the speed. */
static void held_vertices_go_to_their_target(void **state) {
    const double by[3] = {0.03, -0.02, 0.05};
    for (int32_t i = 0; i < INTEGRATOR_COUNT; i++) {
        drape_loaded_scene *scene = NULL;
        drape_sim *sim = load(*state, "drooping", INTEGRATORS[i], &scene);
        double h = drape_loaded_scene_data(scene)->step, target[6], before[3];
        int32_t vertices[2];
        test_run(*state, sim, 3);
        drape_hold hold = corner(sim, by, vertices, target);
        hold.speed = 0.5;
        ASSERT_OK(*state, drape_sim_hold(sim, &hold));
        assert_int_equal(drape_sim_held(sim), 2);
        int32_t steps = (int32_t)(0.07 / (hold.speed * h)) + 2;
        const double *x = drape_sim_positions(sim) + 3 * (int64_t)vertices[0];
        for (int32_t k = 0; k < steps; k++) {
            memcpy(before, x, sizeof before);
            test_run(*state, sim, 1);
            assert_true(distance(before, x) <= hold.speed * h * (1 + 1e-9));
        }
        assert_true(distance(x, target) < TOLERANCE);
        test_run(*state, sim, 2);
        assert_true(distance(x, target) < TOLERANCE);
        drape_sim_destroy(sim);
        drape_loaded_scene_destroy(scene);
    }
}

static void what_is_let_go_falls(void **state) {
    const double by[3] = {0, 0, 0};
    drape_loaded_scene *scene = NULL;
    drape_sim *sim = load(*state, "drooping", NULL, &scene);
    double target[6];
    int32_t vertices[2];
    drape_hold hold = corner(sim, by, vertices, target);
    ASSERT_OK(*state, drape_sim_hold(sim, &hold));
    test_run(*state, sim, 5);
    assert_true(distance(drape_sim_positions(sim) + 3 * (int64_t)vertices[0], target) < TOLERANCE);
    ASSERT_OK(*state, drape_sim_hold(sim, NULL));
    assert_int_equal(drape_sim_held(sim), 0);
    test_run(*state, sim, 5);
    assert_true(drape_sim_positions(sim)[3 * (int64_t)vertices[0] + 2] < target[2] - 1e-6);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(scene);
}

/* A hold that is let go before any step leaves the bits of a simulation that never had one. */
static void holding_nothing_changes_no_bit(void **state) {
    const double by[3] = {0.1, 0, 0};
    drape_loaded_scene *scenes[2];
    drape_sim *sims[2];
    double target[6];
    int32_t vertices[2];
    for (int32_t i = 0; i < 2; i++) sims[i] = load(*state, "drooping", "linearised-euler", &scenes[i]);
    drape_hold hold = corner(sims[0], by, vertices, target);
    ASSERT_OK(*state, drape_sim_hold(sims[0], &hold));
    ASSERT_OK(*state, drape_sim_hold(sims[0], NULL));
    for (int32_t i = 0; i < 2; i++) test_run(*state, sims[i], 4);
    size_t bytes = 3 * (size_t)drape_cloth_vertices(drape_sim_cloth(sims[0])) * sizeof(double);
    assert_memory_equal(drape_sim_positions(sims[0]), drape_sim_positions(sims[1]), bytes);
    for (int32_t i = 0; i < 2; i++) drape_sim_destroy(sims[i]);
    for (int32_t i = 0; i < 2; i++) drape_loaded_scene_destroy(scenes[i]);
}

static void pinned_vertices_stay_with_their_pins(void **state) {
    test_strip *s = test_strip_create(*state, 2, 1, 1, 1);
    test_strip_pin(s, 0, 0, 0, 1);
    drape_sim *sim = test_strip_sim(s);
    const int32_t vertex = 0;
    const double target[3] = {0.2, 0.1, 0.3};
    double before[3];
    memcpy(before, drape_sim_positions(sim), sizeof before);
    ASSERT_OK(*state, drape_sim_hold(sim, &(drape_hold){.count = 1, .vertices = &vertex, .target = target}));
    test_run(*state, sim, 3);
    assert_true(distance(drape_sim_positions(sim), before) < TOLERANCE);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

/* Cloth that is held into a ball: the step fails, the state stays, and after the hold is let go it goes on. */
static void a_hold_that_leads_into_a_collider_is_told(void **state) {
    drape_loaded_scene *scene = NULL;
    drape_sim *sim = load(*state, "sphere", "linearised-euler", &scene);
    int32_t n = drape_cloth_vertices(drape_sim_cloth(sim)), middle = n / 2;
    double target[3];
    memcpy(target, drape_sim_positions(sim) + 3 * (int64_t)middle, sizeof target);
    target[2] -= 0.6;
    ASSERT_OK(*state, drape_sim_hold(sim, &(drape_hold){.count = 1, .vertices = &middle, .target = target}));
    drape_status status = DRAPE_OK;
    for (int32_t k = 0; k < 400 && !status; k++) status = drape_sim_step(sim, NULL);
    assert_int_equal(status, DRAPE_ERROR_NUMBER);
    for (int64_t i = 0; i < 3 * (int64_t)n; i++) assert_true(isfinite(drape_sim_positions(sim)[i]));
    ASSERT_OK(*state, drape_sim_hold(sim, NULL));
    test_run(*state, sim, 2);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(scene);
}

static void bad_holds_are_refused(void **state) {
    drape_loaded_scene *scene = NULL;
    drape_sim *sim = load(*state, "drooping", NULL, &scene);
    int32_t n = drape_cloth_vertices(drape_sim_cloth(sim));
    const double good[6] = {0}, bad[6] = {0, 0, 0, 0, NAN, 0};
    const int32_t pair[2] = {n - 1, n - 2}, twice[2] = {3, 3}, beyond[2] = {0, n}, below[2] = {-1, 0};
    const struct {
        drape_hold hold;
        const char *message;
    } cases[] = {
        {{.count = -1, .vertices = pair, .target = good}, "no list of -1"},
        {{.count = 2, .target = good}, "no list of 2"},
        {{.count = 2, .vertices = pair}, "no list of 2"},
        {{.count = 2, .vertices = twice, .target = good}, "vertex 3 is in the list twice"},
        {{.count = 2, .vertices = beyond, .target = good}, "entry 1 is vertex"},
        {{.count = 2, .vertices = below, .target = good}, "entry 0 is vertex -1"},
        {{.count = 2, .vertices = pair, .target = bad}, "is not finite"},
        {{.count = 2, .vertices = pair, .target = good, .speed = -1}, "speed"},
        {{.count = 2, .vertices = pair, .target = good, .speed = INFINITY}, "speed"},
        {{.count = 2, .vertices = pair, .target = good, .reserved = {1}}, "reserved"},
    };
    assert_int_equal(drape_sim_hold(NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_held(NULL), 0);
    ASSERT_OK(*state, drape_sim_hold(sim, &(drape_hold){.count = 2, .vertices = pair, .target = good}));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(drape_sim_hold(sim, &cases[i].hold), DRAPE_ERROR_ARGUMENT);
        assert_non_null(strstr(drape_message(*state), cases[i].message));
        assert_int_equal(drape_sim_held(sim), 2);
    }
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(held_vertices_go_to_their_target),
        cmocka_unit_test(what_is_let_go_falls),
        cmocka_unit_test(holding_nothing_changes_no_bit),
        cmocka_unit_test(pinned_vertices_stay_with_their_pins),
        cmocka_unit_test(a_hold_that_leads_into_a_collider_is_told),
        cmocka_unit_test(bad_holds_are_refused),
    };
    return cmocka_run_group_tests(tests, test_set_up, test_tear_down);
}
