/* Where energy comes from and goes to. The balance closes in every built-in scene, and each share is right where it
 * is known. The integrator's share vanishes with the step, and checkpoints keep the sums. */
#include "support/strips.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- every scene ---- */

static double largest_of(const drape_certificate_energy *e) {
    const double all[] = {e->kinetic, e->elastic, e->weight, e->fabric, e->wind, e->pins, e->integrator};
    double most = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) most = fmax(most, fabs(all[i]));
    return most;
}

/* The sum that drape_certificate_energy promises, less what it should be. */
static double gap_of(const drape_certificate_energy *e) {
    double now = e->kinetic;
    for (int32_t i = 0; i < e->force_count; i++) now += isnan(e->force[i].energy) ? 0 : e->force[i].energy;
    return now - (e->start + e->wind + e->pins - e->fabric - e->integrator);
}

typedef struct outcome {
    double unbalanced;           /* the most of all steps, over the largest energy up to then */
    int32_t steps, checked, cut; /* a step in parts is not checked */
} outcome;

static outcome run(drape_context *ctx, const drape_scene *scene, int32_t steps) {
    drape_sim *sim;
    outcome out = {.steps = steps};
    double most = 0;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    ASSERT_OK(ctx, drape_sim_check_energy(sim, true));
    for (int32_t i = 0; i < steps; i++) {
        drape_certificate c;
        ASSERT_OK(ctx, drape_sim_step(sim, &c));
        most = fmax(most, largest_of(&c.energy));
        out.checked += c.energy.checked;
        out.cut += !c.energy.checked && c.contact.cuts > 0;
        out.unbalanced = fmax(out.unbalanced, fabs(c.energy.unbalanced) / most);
        assert_true(fabs(gap_of(&c.energy)) <= 1e-12 * most);
        assert_true(c.energy.fabric >= 0);
    }
    drape_sim_destroy(sim);
    return out;
}

static void tighten(drape_scene *scene) {
    scene->integration.ode.newton.kind = DRAPE_ODE_NEWTON;
    scene->integration.ode.newton.rtol = 1e-10;
    scene->integration.ode.newton.atol = 1e-12;
    scene->solve.tol = 1e-12;
}

static void balance_scene(drape_context *ctx, const char *name, const char *method) {
    enum { STEPS = 40 };
    drape_scene_options options = {.resolution = test_scene_resolution(name, 7)};
    drape_loaded_scene *loaded;
    ASSERT_OK(ctx, drape_scene_load(ctx, name, &options, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    scene->integration.ode.method = method;
    scene->integration.max_stretch = INFINITY; /* a mesh so coarse need not look like cloth */
    outcome usual = run(ctx, scene, STEPS);
    tighten(scene);
    outcome tight = run(ctx, scene, STEPS);
    print_message("%-12s %-17s unbalanced, of the largest energy: %.1e; with usual tolerances %.1e\n", name, method,
                  tight.unbalanced, usual.unbalanced);
    assert_int_equal(tight.checked + tight.cut,
                     strcmp(method, "bdf2") == 0 ? STEPS - 1 : STEPS); /* bdf2 begins with more */
    assert_true(tight.unbalanced < 1e-6);
    assert_true(tight.unbalanced < usual.unbalanced || usual.unbalanced < 1e-12);
    drape_loaded_scene_destroy(loaded);
}

static void the_balance_closes_in_every_scene(void **state) {
    const char *const methods[] = {"bdf2", "implicit-euler", "implicit-midpoint", DRAPE_LINEARISED_EULER};
    for (int32_t i = 0; drape_scene_name(i); i++)
        if (i % TEST_EACH_SCENE == 0)
            for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
                balance_scene(*state, drape_scene_name(i), methods[m]);
}

/* ---- what is known ---- */

/* A sheet that is held everywhere, and driven from rest to a velocity: all of its kinetic energy is the pins'. */
static void pins_give_kinetic_energy(void **state) {
    test_strip *s = test_strip_create(*state, 4, 4, 1, 1);
    drape_certificate c;
    drape_pin *pin = test_strip_pin(s, 0, 4, 0, 4);
    pin->motion = (drape_motion){.kind = DRAPE_MOTION_LINEAR, .velocity = {2, 0, 0}};
    s->scene.integration.ode.method = "implicit-euler";
    drape_sim *sim = test_strip_sim(s);
    ASSERT_OK(*state, drape_sim_step(sim, &c));
    assert_true(c.energy.kinetic > 0);
    ASSERT_NEAR(c.energy.pins, c.energy.kinetic, 1e-9 * c.energy.kinetic);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

/* A sheet that falls in still air until its drag carries it: from then on the air takes all that the weight gives. */
static void air_takes_what_weight_gives(void **state) {
    test_strip *s = test_strip_create(*state, 4, 4, 1, 1);
    drape_certificate before, after;
    s->scene.forces.air_drag = 1;
    s->scene.integration.ode.method = "implicit-midpoint";
    tighten(&s->scene);
    drape_sim *sim = test_strip_sim(s);
    test_run(*state, sim, 1000);
    ASSERT_OK(*state, drape_sim_step(sim, &before));
    test_run(*state, sim, 20);
    ASSERT_OK(*state, drape_sim_step(sim, &after));
    double lost = before.energy.weight - after.energy.weight;
    assert_true(lost > 0);
    ASSERT_NEAR(before.energy.wind - after.energy.wind, lost, 1e-6 * lost);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

/* A hanging strip with damping, from the horizontal: what the integrator takes in 0.2 s. */
static drape_certificate_energy swing(drape_context *ctx, const char *method, double step) {
    test_strip *s = test_strip_create(ctx, 6, 2, 0.6, 0.2);
    drape_certificate c = {0};
    test_strip_pin(s, 0, 0, 0, 2);
    s->material->damping_stretch = s->material->damping_shear = 2e-3;
    s->material->damping_bend = 1e-2;
    s->scene.forces.drag = 1;
    s->scene.forces.wind[0] = 1;
    s->scene.step = step;
    s->scene.integration.ode.method = method;
    tighten(&s->scene);
    drape_sim *sim = test_strip_sim(s);
    for (int32_t i = 0; i < lround(0.2 / step); i++) ASSERT_OK(ctx, drape_sim_step(sim, &c));
    drape_sim_destroy(sim);
    test_strip_destroy(s);
    c.energy.force = NULL;
    return c.energy;
}

/* A share that was wrong or missing would be left to the integrator at any step. */
static void the_share_of_the_integrator_vanishes_with_the_step(void **state) {
    const char *const methods[] = {"implicit-euler", "bdf2", "implicit-midpoint"};
    const double most[] = {0.6, 0.35, 0.35}; /* of what was left at twice the step: of order 1, 2, 2 */
    for (int32_t m = 0; m < 3; m++) {
        drape_certificate_energy coarse = swing(*state, methods[m], 0.5e-3),
                                 fine = swing(*state, methods[m], 0.25e-3);
        print_message("%-17s takes %.2e J at 0.5 ms, %.2e J at 0.25 ms; fabric %.2e J, wind %.2e J\n", methods[m],
                      coarse.integrator, fine.integrator, fine.fabric, fine.wind);
        assert_true(fine.fabric > 0 && fabs(fine.wind) > 0);
        assert_true(fabs(fine.integrator) < most[m] * fabs(coarse.integrator));
    }
}

/* ---- changes from outside, checkpoints ---- */

static void changes_from_outside_are_no_part_of_it(void **state) {
    test_strip *s = test_strip_create(*state, 4, 4, 1, 1);
    drape_certificate c;
    drape_certificate_energy before, after;
    test_strip_pin(s, 0, 0, 0, 4);
    drape_sim *sim = test_strip_sim(s);
    test_run(*state, sim, 5);
    ASSERT_OK(*state, drape_sim_energy(sim, &before));
    double *v = test_velocities(sim);
    for (int32_t i = 0; i < 3 * s->mesh.vertices; i++) v[i] += 1;
    test_set_state(*state, sim, NULL, v);
    drape_forces forces = drape_forces_defaults();
    forces.gravity[2] = -5;
    ASSERT_OK(*state, drape_sim_set_forces(sim, &forces));
    ASSERT_OK(*state, drape_sim_energy(sim, &after));
    assert_true(after.kinetic > 2 * before.kinetic && after.weight != before.weight);
    ASSERT_NEAR(after.integrator, before.integrator, 1e-12 * after.kinetic);
    ASSERT_OK(*state, drape_sim_step(sim, &c));
    assert_true(fabs(gap_of(&c.energy)) <= 1e-12 * largest_of(&c.energy));
    assert_int_equal(drape_sim_energy(NULL, &after), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_energy(sim, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_sim_check_energy(NULL, true), DRAPE_ERROR_ARGUMENT);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

static void checkpoints_keep_the_sums(void **state) {
    char path[] = "/tmp/drape-energy-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    drape_loaded_scene *loaded;
    drape_sim *sim, *other;
    drape_certificate c, d;
    ASSERT_OK(*state, drape_scene_builtin(*state, "four-corners", 6, &loaded));
    ASSERT_OK(*state, drape_sim_create(*state, drape_loaded_scene_data(loaded), &sim));
    ASSERT_OK(*state, drape_sim_create(*state, drape_loaded_scene_data(loaded), &other));
    ASSERT_OK(*state, drape_sim_check_energy(sim, true));
    ASSERT_OK(*state, drape_sim_check_energy(other, true));
    test_run(*state, sim, 5);
    ASSERT_OK(*state, drape_sim_save(sim, path));
    ASSERT_OK(*state, drape_sim_restore(other, path));
    for (int32_t i = 0; i < 5; i++) {
        ASSERT_OK(*state, drape_sim_step(sim, &c));
        ASSERT_OK(*state, drape_sim_step(other, &d));
        d.energy.force = c.energy.force;
        assert_true(c.energy.pins != 0 && c.energy.unbalanced != 0);
        assert_memory_equal(&c.energy, &d.energy, sizeof c.energy);
    }
    drape_sim_destroy(sim), drape_sim_destroy(other);
    drape_loaded_scene_destroy(loaded);
    unlink(path);
}

int main(void) {
    drape_context *ctx = test_context(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(the_balance_closes_in_every_scene, ctx),
        cmocka_unit_test_prestate(pins_give_kinetic_energy, ctx),
        cmocka_unit_test_prestate(air_takes_what_weight_gives, ctx),
        cmocka_unit_test_prestate(the_share_of_the_integrator_vanishes_with_the_step, ctx),
        cmocka_unit_test_prestate(changes_from_outside_are_no_part_of_it, ctx),
        cmocka_unit_test_prestate(checkpoints_keep_the_sums, ctx),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    drape_context_destroy(ctx);
    return failed;
}
