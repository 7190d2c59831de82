/* Memory that runs out at any point of a simulation: an error, no leak, and a sim that still works afterwards. */
#include "support/testing.h"

#include "drape/io.h"
#include "sparse/counting_allocator.h"

#include <string.h>

/* A small sheet asks for the same things as a large one, but its lists grow less often: so some scenes are finer. */
enum { RESOLUTION = 12, FINE = 24, STEPS = 2, LEAST_REQUESTS = 30, MOST_REQUESTS = 5000 };

/* A scene that ships, and how it is stepped. */
typedef struct run {
    const char *name, *method;
    drape_mass_matrix mass;
    double step; /* s; 0: the scene's */
} run;

static int32_t resolution_of(const char *scene) {
    static const char *const fine[] = {"curtain", "slope", "twist"};
    int32_t wanted = RESOLUTION;
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        if (strcmp(scene, fine[i]) == 0) wanted = FINE;
    return test_scene_resolution(scene, wanted);
}

/* A simulation from its scene to two steps; stops at the first failure, and the caller destroys what there is. */
static drape_status live(drape_context *ctx, const run *what, drape_loaded_scene **loaded, drape_sim **sim) {
    *sim = NULL;
    drape_status status = drape_scene_builtin(ctx, what->name, resolution_of(what->name), loaded);
    drape_scene *scene = drape_loaded_scene_edit(*loaded);
    if (!status) {
        scene->solve.precond = "block_diagonal"; /* "auto" would do with less, and end with other bits */
        scene->integration.ode.method = what->method;
        scene->integration.mass = what->mass;
        if (what->step > 0) scene->step = what->step;
    }
    if (!status) status = drape_sim_create(ctx, scene, sim);
    for (int k = 0; k < STEPS && !status; k++) status = drape_sim_step(*sim, NULL);
    return status;
}

static void assert_same_positions(drape_sim *a, drape_sim *b) {
    int64_t count = 3 * (int64_t)drape_cloth_vertices(drape_sim_cloth(a));
    assert_int_equal(drape_sim_steps(a), drape_sim_steps(b));
    for (int64_t i = 0; i < count; i++) assert_true(drape_sim_positions(a)[i] == drape_sim_positions(b)[i]);
}

/* Whether request n was reached. `want` is the same simulation with memory enough. */
static bool fail_request(const run *what, int64_t n, drape_sim *want) {
    counting_allocator memory = {.left = n};
    drape_loaded_scene *loaded;
    drape_sim *sim;
    drape_context *ctx = counting_context(&memory);
    drape_status status = live(ctx, what, &loaded, &sim);
    assert_int_equal(status, memory.failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
    if (memory.failed) assert_non_null(strstr(drape_message(ctx), "memory"));
    if (!loaded) assert_int_equal(drape_context_bytes(ctx), 0);
    if (sim) { /* a step that found no memory can be done again */
        while (drape_sim_steps(sim) < STEPS) ASSERT_OK(ctx, drape_sim_step(sim, NULL));
        assert_same_positions(sim, want);
    }
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
    return memory.failed;
}

static void fail_every_request(const run *what) {
    drape_loaded_scene *loaded;
    drape_sim *want;
    drape_context *ctx = test_context(1);
    ASSERT_OK(ctx, live(ctx, what, &loaded, &want));
    int64_t n = 0;
    while (n < MOST_REQUESTS && fail_request(what, n, want)) n++;
    print_message("%s, %s: %d requests\n", what->name, what->method, (int)n);
    assert_in_range(n, LEAST_REQUESTS, MOST_REQUESTS - 1);
    drape_sim_destroy(want);
    drape_loaded_scene_destroy(loaded);
    drape_context_destroy(ctx);
}

static void test_every_request_may_fail(void **state) {
    (void)state;
    for (int32_t i = 0; drape_scene_name(i); i++)
        if (i % TEST_EACH_SCENE == 0)
            fail_every_request(&(run){drape_scene_name(i), DRAPE_LINEARISED_EULER, DRAPE_MASS_LUMPED, 0});
}

static void test_every_request_of_integrators_may_fail(void **state) {
    (void)state;
    fail_every_request(&(run){"drooping", "bdf2", DRAPE_MASS_CONSISTENT, 0});
    fail_every_request(&(run){"drooping", "rk4", DRAPE_MASS_CONSISTENT, 2e-5});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_request_may_fail),
        cmocka_unit_test(test_every_request_of_integrators_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
