/* Every implicit stage ends, and ends lower. On the built-in scenes, in short and long steps, no stage is left
 * unconverged, and each accepted correction goes down in the incremental potential. With exact Jacobians and tight
 * solves the corrections shrink quadratically. */
#include "drape/io.h"
#include "ode/ode.h"
#include "sim/sim.h"
#include "support/testing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- A look into the iteration ---- */

enum { MOST = 64, STEPS = 8 };
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { EVERY = 3 }; /* scene of the list */
#else
enum { EVERY = 1 };
#endif

static struct {
    drape_ode *ode;
    drape_ode_system real;
    double E; /* the potential where the last correction led */
    bool known;
    int64_t falls;
    double move[MOST]; /* norms of the stage's corrections */
    int32_t moves;
} seen;

static void look_at_potential(void) {
    const drape_i_ode_newton_memory *m = &seen.ode->newton;
    if (!m->E_known) return;
    if (seen.known && m->E > seen.E + 1e-11 * (fabs(seen.E) + 1))
        fail_msg("t = %g s: the potential rises by %g from %g", seen.ode->t, m->E - seen.E, seen.E);
    seen.falls += seen.known && m->E < seen.E;
    seen.E = m->E;
    seen.known = true;
}

static void seen_lag(void *user, const drape_ode_point *at) {
    if (!at) look_at_potential();
    else seen.known = false, seen.moves = 0;
    seen.real.lag(user, at);
}

static drape_status seen_solve(void *user, const drape_ode_request *request, double *d, drape_ode_answer *answer) {
    look_at_potential(); /* where the correction before led */
    drape_status status = seen.real.linear.solve(user, request, d, answer);
    double square = 0;
    for (int64_t i = 0; i < seen.ode->size; i++) square += d[i] * d[i];
    if (seen.moves < MOST) seen.move[seen.moves++] = sqrt(square);
    return status;
}

static void watch(drape_sim *sim) {
    memset(&seen, 0, sizeof seen);
    seen.ode = sim->integrator->ode;
    seen.real = seen.ode->system;
    seen.ode->system.lag = seen_lag;
    seen.ode->system.linear.solve = seen_solve;
}

/* ---- Scenes ---- */

enum { MOST_STEPS_TO_CONTACT = 400, STEPS_IN_CONTACT = 10 };

/* Whether the guess is exact and there is nothing to correct. */
static bool falls_freely(const drape_scene *scene) {
    for (int32_t p = 0; p < scene->pin_count; p++)
        if (scene->pins[p].from <= 0) return false;
    return scene->collider_count > 0;
}

/* The state of a scene that has been in contact for some steps. Colliders that move are back where they start. */
static void start_in_contact(drape_context *ctx, const char *name, bool irregular, drape_sim *sim) {
    const drape_scene_options options = {
        .resolution = 13, .irregular = irregular, .integrator = DRAPE_LINEARISED_EULER};
    drape_loaded_scene *loaded;
    drape_sim *first;
    drape_certificate c;
    int32_t touched = 0;
    ASSERT_OK(ctx, drape_scene_load(ctx, name, &options, &loaded));
    drape_loaded_scene_edit(loaded)->step = 0.004;
    ASSERT_OK(ctx, drape_sim_create(ctx, drape_loaded_scene_data(loaded), &first));
    for (int32_t i = 0; i < MOST_STEPS_TO_CONTACT && touched < STEPS_IN_CONTACT; i++) {
        ASSERT_OK(ctx, drape_sim_step(first, &c));
        touched += c.contact.count + c.contact.springs > 0;
    }
    assert_true(touched == STEPS_IN_CONTACT);
    ASSERT_OK(ctx, drape_sim_set_state(sim, drape_sim_positions(first), drape_sim_velocities(first)));
    drape_sim_destroy(first);
    drape_loaded_scene_destroy(loaded);
}

/* The scene must outlive the simulation: its loads are not copied. */
static drape_sim *begin(drape_context *ctx, const char *name, const char *integrator, bool irregular, double step,
                        drape_loaded_scene **loaded) {
    const drape_scene_options options = {
        .resolution = test_scene_resolution(name, 13), .irregular = irregular, .integrator = integrator};
    drape_sim *sim;
    ASSERT_OK(ctx, drape_scene_load(ctx, name, &options, loaded));
    drape_scene *scene = drape_loaded_scene_edit(*loaded);
    scene->step = step;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    if (falls_freely(scene)) start_in_contact(ctx, name, irregular, sim);
    return sim;
}

static void run(drape_context *ctx, const char *name, const char *integrator, bool irregular, double step) {
    drape_loaded_scene *loaded;
    drape_sim *sim = begin(ctx, name, integrator, irregular, step, &loaded);
    drape_certificate c;
    int64_t newton = 0;
    watch(sim);
    for (int32_t i = 0; i < 40; i++) {
        ASSERT_OK(ctx, drape_sim_step(sim, &c));
        assert_int_equal(c.ode.unconverged, 0);
        assert_true(c.ode.newton_error <= 1);
        newton += c.ode.newton_iterations;
    }
    if (!(seen.falls > 0)) print_message("%s: nothing to correct\n", name);
    assert_true(seen.falls > 0 || strcmp(name, "slope") == 0); /* which rests where it is */
    printf("%s, %s, %s, %g s: %.1f corrections per step\n", name, integrator, irregular ? "irregular" : "regular",
           step, (double)newton / 40);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
}

/* Implicit midpoint does not damp: in long steps on rough motion its energy grows, which no iteration can mend. */
static void test_every_stage_ends_lower(void **state) {
    static const double steps[] = {0.0005, 0.004, 0.01};
    for (int32_t s = 0; drape_scene_name(s); s++) {
        if (s % EVERY != 0) continue;
        for (int32_t h = 0; h < 3; h++) {
            run(*state, drape_scene_name(s), "bdf2", (s + h) % 2, steps[h]);
            run(*state, drape_scene_name(s), "implicit-euler", (s + h + 1) % 2, steps[h]);
        }
        run(*state, drape_scene_name(s), "implicit-midpoint", s % 2, steps[0]);
    }
}

/* ---- Order ---- */

static void test_exact_jacobians_converge_quadratically(void **state) {
    drape_context *ctx = *state;
    drape_loaded_scene *loaded;
    drape_sim *sim;
    ASSERT_OK(ctx, drape_scene_builtin(ctx, "drooping", 13, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    scene->integration.ode.newton.kind = DRAPE_ODE_NEWTON;
    scene->integration.ode.newton.rtol = 1e-13;
    scene->integration.ode.newton.guess_from_state = true;
    scene->step = 0.04;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    double sum = 0;
    watch(sim);
    for (int32_t i = 0; i < STEPS; i++) {
        double order = 0;
        ASSERT_OK(ctx, drape_sim_step(sim, NULL));
        for (int32_t k = 2; k < seen.moves && seen.move[k] > 1e-11; k++) {
            order = log(seen.move[k] / seen.move[k - 1]) / log(seen.move[k - 1] / seen.move[k - 2]);
            printf("step %d, correction %d: %.2e m/s, order %.2f\n", i + 1, k + 1, seen.move[k], order);
        }
        sum += order;
    }
    printf("order of the last corrections, mean of %d steps: %.2f\n", STEPS, sum / STEPS);
    assert_true(sum / STEPS > 1.8 && sum / STEPS < 2.3);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
}

int main(void) {
    drape_context *ctx = test_context(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_every_stage_ends_lower, ctx),
        cmocka_unit_test_prestate(test_exact_jacobians_converge_quadratically, ctx),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    drape_context_destroy(ctx);
    return failed;
}
