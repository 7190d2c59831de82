/* The step as a host sees it: the certificate's parts, zeros as defaults, setting the state and the forces, and what
 * a step that fails leaves behind. */
#include "drape/io.h"
#include "sim/sim.h"
#include "support/strips.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 9, NUMBERS = 3 * SIDE * SIDE };

static drape_loaded_scene *load(drape_context *ctx, const char *method) {
    drape_loaded_scene *loaded;
    ASSERT_OK(ctx, drape_scene_builtin(ctx, "drooping", SIDE, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    scene->integration = (drape_integration){.ode = {.method = method}};
    if (method && !drape_ode_method_implicit(method) && drape_ode_method_order(method) > 0) scene->step = 2e-4;
    return loaded;
}

static drape_sim *create(drape_context *ctx, const drape_scene *scene) {
    drape_sim *sim;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    return sim;
}

static void assert_same_state(const drape_sim *a, const drape_sim *b) {
    assert_memory_equal(drape_sim_positions(a), drape_sim_positions(b), NUMBERS * sizeof(double));
    assert_memory_equal(drape_sim_velocities(a), drape_sim_velocities(b), NUMBERS * sizeof(double));
}

static bool is_zero(const uint64_t *reserved, int32_t count) {
    for (int32_t i = 0; i < count; i++)
        if (reserved[i]) return false;
    return true;
}

/* ---- The certificate ---- */

static void certificates_hold_their_parts(void **state) {
    static const char *const methods[] = {DRAPE_LINEARISED_EULER, "implicit-euler", "bdf2", "verlet"};
    drape_context *ctx = *state;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        drape_loaded_scene *loaded = load(ctx, methods[m]);
        drape_scene *scene = drape_loaded_scene_edit(loaded);
        drape_sim *sim = create(ctx, scene);
        drape_certificate c;
        memset(&c, 0xff, sizeof c);
        for (int32_t i = 0; i < 4; i++) ASSERT_OK(ctx, drape_sim_step(sim, &c));
        assert_int_equal(c.step, 4);
        ASSERT_NEAR(c.time, 4 * scene->step, 1e-15);
        assert_int_equal(c.linear.reason, DRAPE_CONVERGED);
        assert_int_equal(c.ode.reason, DRAPE_ODE_DONE);
        assert_int_equal(c.ode.substeps, 1);
        assert_int_equal(c.contact.count, 0);
        assert_true(c.energy.kinetic > 0 && c.energy.weight < 0 && c.stretch >= 1);
        assert_true(c.seconds.assemble >= 0 && c.seconds.solve >= 0 && c.seconds.update >= 0);
        assert_true(is_zero(c.reserved, 8));
        bool linearised = strcmp(methods[m], DRAPE_LINEARISED_EULER) == 0;
        bool is_explicit = !linearised && !drape_ode_method_implicit(methods[m]);
        if (is_explicit) {
            assert_string_equal(c.linear.method, "none");
            assert_string_equal(c.linear.precond, "none");
            assert_true(c.linear.iterations == 0 && c.linear.constraint_force == NULL);
            assert_int_equal(c.ode.newton_iterations, 0);
        } else {
            assert_true(c.linear.iterations > 0 && c.linear.true_residual > 0 && c.linear.bytes > 0);
            assert_non_null(c.linear.constraint_force);
            assert_true(c.ode.newton_iterations >= 1);
        }
        if (linearised) /* the pointer is good until the next step */
            assert_memory_equal(c.linear.constraint_force, drape_sim_constraint_forces(sim),
                                NUMBERS * sizeof(double));
        drape_sim_destroy(sim);
        drape_loaded_scene_destroy(loaded);
    }
}

/* Iterations of all solves, the rest of the last one: one solve less, by one correction less, has fewer. */
static void iterations_are_summed(void **state) {
    drape_context *ctx = *state;
    int32_t iterations[2], corrections[2];
    for (int32_t i = 0; i < 2; i++) {
        drape_loaded_scene *loaded = load(ctx, "implicit-euler");
        drape_scene *scene = drape_loaded_scene_edit(loaded);
        drape_certificate c;
        scene->integration.ode.newton.max_iterations = i + 1;
        scene->integration.ode.newton.rtol = 1e-6;
        scene->integration.ode.newton.keep_unconverged = true;
        drape_sim *sim = create(ctx, scene);
        ASSERT_OK(ctx, drape_sim_step(sim, &c));
        iterations[i] = c.linear.iterations;
        corrections[i] = c.ode.newton_iterations;
        assert_int_equal(c.ode.unconverged, 1);
        assert_int_equal(c.ode.reason, DRAPE_ODE_NEWTON_LIMIT);
        drape_sim_destroy(sim);
        drape_loaded_scene_destroy(loaded);
    }
    assert_true(corrections[0] == 1 && corrections[1] == 2);
    assert_true(iterations[0] > 0 && iterations[1] > iterations[0]);
}

/* ---- Zeros ---- */

/* Scenes of zeros and of written-out defaults are the same scene: the same bits, and checkpoints of each other. */
static void zeros_are_the_defaults_of_scenes(void **state) {
    static const char *const methods[] = {NULL, "implicit-euler", "bdf3"};
    drape_context *ctx = *state;
    char folder[] = "/tmp/drape-step-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/zeros.ckpt", folder);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (int32_t control = DRAPE_ODE_FIXED; control <= (methods[m] ? DRAPE_ODE_ERROR : DRAPE_ODE_FIXED);
             control++) {
            drape_loaded_scene *loaded_zeros = load(ctx, methods[m]), *loaded_usual = load(ctx, methods[m]);
            drape_scene *zeros = drape_loaded_scene_edit(loaded_zeros),
                        *usual = drape_loaded_scene_edit(loaded_usual);
            usual->integration = drape_integration_defaults();
            if (methods[m]) usual->integration.ode.method = methods[m];
            usual->integration.ode.control = zeros->integration.ode.control = (drape_ode_control)control;
            drape_sim *a = create(ctx, zeros), *b = create(ctx, usual);
            for (int32_t i = 0; i < 4; i++) {
                ASSERT_OK(ctx, drape_sim_step(a, NULL));
                ASSERT_OK(ctx, drape_sim_step(b, NULL));
            }
            assert_same_state(a, b);
            ASSERT_OK(ctx, drape_sim_save(a, path));
            ASSERT_OK(ctx, drape_sim_restore(b, path));
            drape_sim_destroy(a), drape_sim_destroy(b);
            drape_loaded_scene_destroy(loaded_zeros), drape_loaded_scene_destroy(loaded_usual);
        }
    remove(path);
    rmdir(folder);
}

static void room_for_later_is_zero(void **state) {
    drape_context *ctx = *state;
    drape_loaded_scene *loaded = load(ctx, NULL);
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    drape_sim *sim;
    scene->reserved[1] = 1;
    assert_int_equal(drape_sim_create(ctx, scene, &sim), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "drape_scene.reserved"));
    assert_null(sim);
    scene->reserved[1] = 0, scene->integration.reserved[0] = 1;
    assert_int_equal(drape_sim_create(ctx, scene, &sim), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "drape_integration.reserved"));
    scene->integration.reserved[0] = 0;
    struct {
        uint64_t *reserved;
        const char *message;
    } const others[] = {{scene->pieces[0].reserved, "drape_piece.reserved"},
                        {scene->pieces[0].material.reserved, "drape_material.reserved"},
                        {scene->pins[0].reserved, "drape_pin.reserved"},
                        {scene->forces.reserved, "drape_forces.reserved"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        others[i].reserved[0] = 1;
        assert_int_equal(drape_sim_create(ctx, scene, &sim), DRAPE_ERROR_ARGUMENT);
        assert_non_null(strstr(drape_message(ctx), others[i].message));
        others[i].reserved[0] = 0;
    }
    scene->integration.ode.method = "leap-dog";
    assert_int_equal(drape_sim_create(ctx, scene, &sim), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "known: linearised-euler, preview, explicit-euler, "));
    drape_loaded_scene_destroy(loaded);
}

/* ---- Setting the state ---- */

static int32_t newton_of_step(drape_context *ctx, drape_sim *sim) {
    drape_certificate c;
    ASSERT_OK(ctx, drape_sim_step(sim, &c));
    return c.ode.newton_iterations;
}

/* bdf3 begins with six implicit Euler steps: at least as many corrections. The same numbers restart it, too. */
static void set_state_restarts_multistep_methods(void **state) {
    drape_context *ctx = *state;
    drape_loaded_scene *loaded = load(ctx, "bdf3");
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    scene->integration.ode.newton.rtol = scene->integration.ode.newton.atol = 1e-4;
    drape_sim *sim = create(ctx, scene);
    for (int32_t i = 0; i < 6; i++) ASSERT_OK(ctx, drape_sim_step(sim, NULL));
    assert_true(newton_of_step(ctx, sim) < 6);
    ASSERT_OK(ctx, drape_sim_set_state(sim, drape_sim_positions(sim), drape_sim_velocities(sim)));
    assert_true(newton_of_step(ctx, sim) >= 6);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
}

/* Either part may stay; what is not finite changes neither. */
static void set_state_takes_what_it_is_given(void **state) {
    static const char *const methods[] = {NULL, "bdf2", "verlet"};
    drape_context *ctx = *state;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        drape_loaded_scene *loaded = load(ctx, methods[m]);
        drape_scene *scene = drape_loaded_scene_edit(loaded);
        drape_sim *sim = create(ctx, scene);
        ASSERT_OK(ctx, drape_sim_step(sim, NULL));
        double *x = test_positions(sim), *v = test_velocities(sim);
        for (int32_t i = 0; i < NUMBERS; i++) x[i] += 1e-3, v[i] *= 2;
        ASSERT_OK(ctx, drape_sim_set_state(sim, x, NULL));
        assert_memory_equal(drape_sim_positions(sim), x, NUMBERS * sizeof *x);
        assert_true(memcmp(drape_sim_velocities(sim), v, NUMBERS * sizeof *v) != 0);
        ASSERT_OK(ctx, drape_sim_set_state(sim, NULL, v));
        assert_memory_equal(drape_sim_velocities(sim), v, NUMBERS * sizeof *v);
        double kept = v[40];
        v[40] = NAN, x[0] = 7;
        assert_int_equal(drape_sim_set_state(sim, x, v), DRAPE_ERROR_ARGUMENT);
        assert_non_null(strstr(drape_message(ctx), "velocity of vertex 13"));
        assert_true(drape_sim_velocities(sim)[40] == kept && drape_sim_positions(sim)[0] != 7);
        assert_int_equal(drape_sim_steps(sim), 1);
        ASSERT_OK(ctx, drape_sim_step(sim, NULL)); /* from the state that was set */
        assert_true(fabs(drape_sim_velocities(sim)[3 * 40 + 2] - v[3 * 40 + 2]) < 10 * 9.81 * scene->step);
        free(x), free(v);
        drape_sim_destroy(sim);
        drape_loaded_scene_destroy(loaded);
    }
}

/* Without forces a sheet at rest stays; with a load it moves. */
static void set_forces_acts_from_the_next_step(void **state) {
    drape_context *ctx = *state;
    drape_loaded_scene *loaded = load(ctx, "implicit-euler");
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    scene->forces = (drape_forces){0};
    drape_sim *sim = create(ctx, scene);
    drape_certificate c;
    ASSERT_OK(ctx, drape_sim_step(sim, &c));
    ASSERT_NEAR(c.energy.kinetic, 0, 1e-20);
    ASSERT_OK(ctx, drape_sim_set_forces(sim, &(drape_forces){.gravity = {0, 0, -9.81}}));
    ASSERT_OK(ctx, drape_sim_step(sim, &c));
    assert_true(c.energy.kinetic > 1e-6 && c.energy.weight < 0);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
}

/* ---- The response ---- */

/* A stiff limit on a soft sheet. bdf2 restarts if the limit moved it by more than its error, and keeps its past
 * states in steps in which the limit did nothing. */
static void strain_limit_restarts_where_it_acts(void **state) {
    drape_context *ctx = *state;
    for (int32_t limited = 0; limited < 2; limited++) {
        test_strip *s = test_strip_create(ctx, 8, 8, 1, 1);
        s->scene.cloth.model = "provot";
        s->material->stretch[0] = s->material->stretch[1] = 20;
        s->material->strain_limit = limited ? 0.05 : 10; /* a limit that is never met */
        s->scene.integration.ode.method = "bdf2";
        test_strip_pin(s, 0, 0, 0, 0), test_strip_pin(s, 0, 0, 8, 8);
        drape_sim *sim = test_strip_sim(s);
        for (int32_t i = 0; i < 60; i++) ASSERT_OK(ctx, drape_sim_step(sim, NULL));
        drape_ode_counts counts = drape_ode_count(sim->integrator->ode);
        printf("limit %g: %lld of %lld steps projected, %lld restarts\n", s->material->strain_limit,
               (long long)counts.projected, (long long)counts.steps, (long long)counts.restarts);
        if (limited) assert_true(counts.projected > 0 && counts.restarts > 0 && counts.projected < counts.steps);
        else assert_true(counts.projected == 0 && counts.restarts == 0);
        drape_sim_destroy(sim);
        test_strip_destroy(s);
    }
}

/* ---- Failures ---- */

/* The state of before, to the bit; and a later step goes on from it, also of methods with a past. */
static void failed_steps_are_taken_back(void **state) {
    static const char *const methods[] = {"bdf2", "implicit-euler"};
    drape_context *ctx = *state;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (int32_t control = DRAPE_ODE_FIXED; control <= DRAPE_ODE_ERROR; control++) {
            drape_loaded_scene *loaded = load(ctx, methods[m]);
            drape_scene *scene = drape_loaded_scene_edit(loaded);
            scene->integration.ode.control = (drape_ode_control)control;
            drape_sim *sim = create(ctx, scene), *other = create(ctx, scene);
            double load[NUMBERS] = {0};
            for (int32_t i = 0; i < 3; i++) {
                ASSERT_OK(ctx, drape_sim_step(sim, NULL));
                ASSERT_OK(ctx, drape_sim_step(other, NULL));
            }
            drape_forces broken = scene->forces;
            load[3 * 40] = INFINITY;
            broken.vertex = load;
            ASSERT_OK(ctx, drape_sim_set_forces(sim, &broken));
            assert_int_equal(drape_sim_step(sim, NULL), DRAPE_ERROR_NUMBER);
            assert_int_equal(drape_sim_steps(sim), 3);
            assert_null(drape_sim_constraint_forces(sim));
            assert_same_state(sim, other);
            ASSERT_OK(ctx, drape_sim_set_forces(sim, &scene->forces));
            ASSERT_OK(ctx, drape_sim_step(sim, NULL));
            assert_int_equal(drape_sim_steps(sim), 4);
            drape_sim_destroy(sim), drape_sim_destroy(other);
            drape_loaded_scene_destroy(loaded);
        }
}

/* Iterations of the linearised steps of a sheet that swings from two corners. */
static int32_t iterations_with(drape_context *ctx, drape_reuse reuse) {
    static const char text[] = "drape: 1\n"
                               "cloth: [{grid: {width: 1 m, resolution: 71}, material: cotton, "
                               "pins: [{where: [top-left, top-right]}]}]\n"
                               "time: {step: 6 ms, duration: 1 s}\n"
                               "integrator: preview\n"
                               "solver: {precond: amg, tolerance: 1e-3}\n";
    drape_loaded_scene *loaded;
    int32_t sum = 0;
    ASSERT_OK(ctx, drape_scene_parse(ctx, "sheet.yaml", text, sizeof text - 1, NULL, &loaded));
    drape_loaded_scene_edit(loaded)->solve.amg.reuse = reuse;
    drape_sim *sim = create(ctx, drape_loaded_scene_data(loaded));
    for (int32_t i = 0; i < 40; i++) {
        drape_certificate c;
        ASSERT_OK(ctx, drape_sim_step(sim, &c));
        sum += c.linear.iterations;
    }
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    return sum;
}

/* In long steps multigrid's levels are soon those of another matrix. Keeping them is tried, but not every other time.
 */
static void long_steps_do_not_keep_levels(void **state) {
    drape_context *ctx = *state;
    int32_t kept = iterations_with(ctx, DRAPE_REUSE_EVERYTHING), fresh = iterations_with(ctx, DRAPE_REUSE_PATTERNS);
    print_message("iterations: %d, with new levels in each step %d\n", kept, fresh);
    assert_true(kept <= 1.2 * fresh);
}

static void nothing_is_an_argument_error(void **state) {
    drape_context *ctx = *state;
    drape_loaded_scene *loaded = load(ctx, NULL);
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    drape_sim *sim;
    assert_int_equal(drape_sim_create(NULL, scene, &sim), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_create(ctx, NULL, &sim), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_create(ctx, scene, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_step(NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_set_state(NULL, NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_set_forces(NULL, &scene->forces), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_save(NULL, "x"), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_restore(NULL, "x"), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_export_system(NULL, "x"), DRAPE_ERROR_ARGUMENT);
    assert_null(drape_sim_positions(NULL));
    assert_null(drape_sim_cloth(NULL));
    sim = create(ctx, scene);
    assert_int_equal(drape_sim_set_forces(sim, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_save(sim, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_restore(sim, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_export_system(sim, NULL), DRAPE_ERROR_ARGUMENT);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    assert_null(drape_unknowns_name((drape_unknowns)2));
    assert_string_equal(drape_unknowns_name(DRAPE_UNKNOWN_POSITION), "position");
    assert_null(drape_mass_matrix_name((drape_mass_matrix)2));
    assert_string_equal(drape_mass_matrix_name(DRAPE_MASS_LUMPED), "lumped");
}

int main(void) {
    drape_context *ctx = test_context(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(certificates_hold_their_parts, ctx),
        cmocka_unit_test_prestate(iterations_are_summed, ctx),
        cmocka_unit_test_prestate(zeros_are_the_defaults_of_scenes, ctx),
        cmocka_unit_test_prestate(room_for_later_is_zero, ctx),
        cmocka_unit_test_prestate(set_state_restarts_multistep_methods, ctx),
        cmocka_unit_test_prestate(set_state_takes_what_it_is_given, ctx),
        cmocka_unit_test_prestate(set_forces_acts_from_the_next_step, ctx),
        cmocka_unit_test_prestate(strain_limit_restarts_where_it_acts, ctx),
        cmocka_unit_test_prestate(failed_steps_are_taken_back, ctx),
        cmocka_unit_test_prestate(long_steps_do_not_keep_levels, ctx),
        cmocka_unit_test_prestate(nothing_is_an_argument_error, ctx),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    drape_context_destroy(ctx);
    return failed;
}
