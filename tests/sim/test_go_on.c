/* Simulations that go on where others have got to (drape_sim_set_time), and the linear system of the last step in
 * memory (drape_sim_system). */
#include "support/strips.h"
#include "support/testing.h"

#include "drape/io.h"

#include <math.h>
#include <string.h>

/* One edge swings all the time, one corner of the other is taken at 0.03 s and let go at 0.3 s. */
static const char SCENE[] = "drape: 1\n"
                            "cloth:\n"
                            "  - grid: {width: 1 m, resolution: 7}\n"
                            "    pins:\n"
                            "      - {where: left-edge, move: {sine: {amplitude: [0, 0, 10 cm], frequency: 2 Hz}}}\n"
                            "      - where: top-right\n"
                            "        from: 0.03 s\n"
                            "        until: 0.3 s\n"
                            "        move: {linear: {velocity: [0, 20 cm/s, 0]}}\n"
                            "time: {step: 10 ms, duration: 1 s}\n"
                            "solver: {tolerance: 1e-11}\n";
#define SAME 1e-7 /* m: what the tolerances of the solvers leave */

static drape_sim *make(drape_context *ctx, const char *text, const char *integrator, drape_loaded_scene **scene) {
    drape_sim *sim = NULL;
    const drape_scene_options options = {.integrator = integrator};
    ASSERT_OK(ctx, drape_scene_parse(ctx, "swing.yaml", text, (int64_t)strlen(text), &options, scene));
    ASSERT_OK(ctx, drape_sim_create(ctx, drape_loaded_scene_data(*scene), &sim));
    return sim;
}

static double apart(const drape_sim *a, const drape_sim *b) {
    double most = 0;
    for (int32_t i = 0; i < 3 * drape_cloth_vertices(drape_sim_cloth(a)); i++)
        most = fmax(most, fabs(drape_sim_positions(a)[i] - drape_sim_positions(b)[i]));
    return most;
}

/* The other simulation does the same from there on, while pins
 * move, one takes hold and lets go. */
static void another_simulation_goes_on_the_same_way(void **state) {
    static const char *const integrators[] = {"linearised-euler", "implicit-euler"};
    static const double allowed[] = {SAME, 0.002}; /* m: a restart changes where Newton's iteration begins, */
    static const int32_t steps[] = {30, 1};        /*   and what differs grows */
    static const int32_t from[] = {0, 2, 8, 40};
    for (int32_t k = 0; k < 8; k++) {
        drape_loaded_scene *scenes[2];
        drape_sim *first = make(*state, SCENE, integrators[k % 2], &scenes[0]);
        drape_sim *second = make(*state, SCENE, integrators[k % 2], &scenes[1]);
        test_run(*state, first, from[k / 2]);
        ASSERT_OK(*state, drape_sim_set_state(second, drape_sim_positions(first), drape_sim_velocities(first)));
        ASSERT_OK(*state, drape_sim_set_time(second, drape_sim_time(first)));
        assert_int_equal(drape_sim_steps(second), from[k / 2]);
        for (int32_t i = 0; i < steps[k % 2]; i++) {
            test_run(*state, first, 1);
            test_run(*state, second, 1);
            assert_true(apart(first, second) < allowed[k % 2]);
        }
        drape_sim_destroy(first);
        drape_sim_destroy(second);
        drape_loaded_scene_destroy(scenes[0]);
        drape_loaded_scene_destroy(scenes[1]);
    }
}

static void the_time_is_a_whole_number_of_steps(void **state) {
    drape_loaded_scene *scene;
    drape_sim *sim = make(*state, SCENE, NULL, &scene);
    ASSERT_OK(*state, drape_sim_set_time(sim, 0.1049));
    assert_int_equal(drape_sim_steps(sim), 10);
    test_run(*state, sim, 1);
    assert_true(fabs(drape_sim_time(sim) - 0.11) < 1e-12);
    assert_int_equal(drape_sim_set_time(sim, -1), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_set_time(sim, NAN), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_set_time(sim, 1e300), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_set_time(NULL, 0), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_steps(sim), 11);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(scene);
}

/* x = x_old + h (v_old + dv) with the dv that another solver finds. */
static void the_system_of_a_step_gives_that_step(void **state) {
    drape_loaded_scene *scene;
    drape_sim *sim = make(*state, SCENE, "linearised-euler", &scene);
    drape_solve_settings settings = {.method = "mpcg", .precond = "block_diagonal", .tol = 1e-11};
    drape_problem problem;
    double x[3 * 49], v[3 * 49], dv[3 * 49];
    assert_int_equal(drape_cloth_vertices(drape_sim_cloth(sim)), 49);
    assert_int_equal(drape_sim_system(sim, &problem), DRAPE_ERROR_ARGUMENT);
    for (int32_t k = 0; k < 10; k++) {
        memcpy(x, drape_sim_positions(sim), sizeof x);
        memcpy(v, drape_sim_velocities(sim), sizeof v);
        test_run(*state, sim, 1);
        ASSERT_OK(*state, drape_sim_system(sim, &problem));
        ASSERT_OK(*state, drape_solve(*state, &problem, &settings, dv, NULL));
        for (int32_t i = 0; i < 3 * 49; i++)
            assert_true(fabs(x[i] + 0.01 * (v[i] + dv[i]) - drape_sim_positions(sim)[i]) < SAME);
    }
    assert_int_equal(drape_sim_system(sim, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_system(NULL, &problem), DRAPE_ERROR_ARGUMENT);
    ASSERT_OK(*state, drape_sim_set_time(sim, 0));
    assert_int_equal(drape_sim_system(sim, &problem), DRAPE_ERROR_ARGUMENT);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(scene);
}

static void explicit_steps_have_no_system(void **state) {
    drape_loaded_scene *scene;
    drape_scene_options options = {.integrator = "rk4", .set = (const char *[]){"time.step=0.05 ms"}, .set_count = 1};
    drape_sim *sim = NULL;
    drape_problem problem;
    ASSERT_OK(*state, drape_scene_parse(*state, "swing.yaml", SCENE, (int64_t)strlen(SCENE), &options, &scene));
    ASSERT_OK(*state, drape_sim_create(*state, drape_loaded_scene_data(scene), &sim));
    test_run(*state, sim, 1);
    assert_int_equal(drape_sim_system(sim, &problem), DRAPE_ERROR_ARGUMENT);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_simulation_goes_on_the_same_way),
        cmocka_unit_test(the_time_is_a_whole_number_of_steps),
        cmocka_unit_test(the_system_of_a_step_gives_that_step),
        cmocka_unit_test(explicit_steps_have_no_system),
    };
    return cmocka_run_group_tests(tests, test_set_up, test_tear_down);
}
