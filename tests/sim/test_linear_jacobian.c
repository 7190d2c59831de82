/* Newton's method with Hauth's constant Jacobian of springs. It converges to the same solution as with the true one,
 * and its matrix, made once for each c, is the one that would be computed again. */
#include "drape/io.h"
#include "sim/sim.h"
#include "support/testing.h"

#include <math.h>
#include <string.h>

enum { SIDE = 11, STEPS = 12 };

/* Short enough for the constant Jacobian to converge in some ten iterations (bench/newton.c says why). */
static const double STEP = 0.2e-3;

static drape_loaded_scene *load(drape_context *ctx, const char *model, const char *method, drape_jacobian jacobian) {
    drape_loaded_scene *loaded;
    ASSERT_OK(ctx, drape_scene_builtin(ctx, "drooping", SIDE, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    drape_ode_newton *newton = &scene->integration.ode.newton;
    scene->cloth.model = model;
    scene->cloth.jacobian = jacobian;
    scene->step = STEP;
    scene->integration.ode.method = method;
    newton->kind = jacobian == DRAPE_JACOBIAN_LINEAR ? DRAPE_ODE_SIMPLIFIED : DRAPE_ODE_NEWTON;
    newton->rtol = 1e-10;
    newton->atol = 1e-12;
    newton->max_iterations = 500;
    return loaded;
}

static drape_sim *begin(drape_context *ctx, const drape_scene *scene) {
    drape_sim *sim;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    return sim;
}

static double apart(drape_sim *a, drape_sim *b) {
    const double *x = drape_sim_positions(a), *y = drape_sim_positions(b);
    double most = 0;
    for (int32_t i = 0; i < 3 * SIDE * SIDE; i++) most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

/* ---- The same answer ---- */

/* One pin lets go on the way, so that the constraints behind what is kept change. */
static void check_same_answer(drape_context *ctx, const char *model, const char *method) {
    drape_loaded_scene *exact = load(ctx, model, method, DRAPE_JACOBIAN_FULL);
    drape_loaded_scene *linear = load(ctx, model, method, DRAPE_JACOBIAN_LINEAR);
    drape_loaded_scene_edit(exact)->pins[0].until = (STEPS / 2 + 0.5) * STEP;
    drape_loaded_scene_edit(linear)->pins[0].until = (STEPS / 2 + 0.5) * STEP;
    drape_sim *a = begin(ctx, drape_loaded_scene_data(exact)), *b = begin(ctx, drape_loaded_scene_data(linear));
    double fallen = 0.5 * 9.81 * (STEPS * STEP) * (STEPS * STEP);
    for (int32_t i = 0; i < STEPS; i++) {
        ASSERT_OK(ctx, drape_sim_step(a, NULL));
        ASSERT_OK(ctx, drape_sim_step(b, NULL));
    }
    print_message("%s, %s: %.1e m apart, fallen by %.1e m\n", model, method, apart(a, b), fallen);
    ASSERT_NEAR(apart(a, b), 0, 1e-6 * fallen);
    drape_sim_destroy(a);
    drape_sim_destroy(b);
    drape_loaded_scene_destroy(exact);
    drape_loaded_scene_destroy(linear);
}

static void converges_to_the_same(void **state) {
    static const char *const methods[] = {"implicit-euler", "bdf2", "implicit-midpoint"};
    (void)state;
    drape_context *ctx = test_context(1);
    for (int32_t m = 0; m < 3; m++) {
        check_same_answer(ctx, "provot", methods[m]);
        check_same_answer(ctx, "choi_ko", methods[m]);
    }
    drape_context_destroy(ctx);
}

/* ---- The kept matrix ---- */

static void assert_matrix_is_current(drape_context *ctx, drape_sim *sim) {
    drape_matrix *fresh;
    double c = sim->matrix_c;
    drape_assembly what = {.x = sim->x, .v = sim->v, .mass = 1, .damping = c, .stiffness = c * c};
    ASSERT_OK(ctx, drape_assembler_matrix(sim->forces, &fresh));
    ASSERT_OK(ctx, drape_assembler_run(sim->forces, &what, fresh));
    drape_bsr3 want = drape_matrix_view(fresh), A = drape_matrix_view(sim->A);
    assert_memory_equal(A.val, want.val, 9 * (size_t)A.rowptr[A.rows] * sizeof *A.val);
    drape_matrix_destroy(fresh);
}

/* Also where a host changes the air between steps: the drag of vertices is in the matrix. Newton's own kind, too,
 * which asks for a matrix in every iteration. */
static void kept_matrix_is_current(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    for (int32_t kind = DRAPE_ODE_NEWTON; kind <= DRAPE_ODE_INEXACT; kind++) {
        drape_loaded_scene *loaded = load(ctx, "provot", "implicit-euler", DRAPE_JACOBIAN_LINEAR);
        drape_scene *scene = drape_loaded_scene_edit(loaded);
        scene->integration.ode.newton.kind = (drape_ode_newton_kind)kind;
        drape_sim *sim = begin(ctx, scene);
        drape_forces forces = scene->forces;
        for (int32_t i = 0; i < STEPS; i++) {
            if (i == STEPS / 2) forces.air_drag = 0.5;
            ASSERT_OK(ctx, drape_sim_set_forces(sim, &forces));
            ASSERT_OK(ctx, drape_sim_step(sim, NULL));
            assert_true(sim->integrator->constant_c > 0 && sim->integrator->same_matrix);
            assert_matrix_is_current(ctx, sim);
        }
        drape_sim_destroy(sim);
        drape_loaded_scene_destroy(loaded);
    }
    drape_context_destroy(ctx);
}

/* The wind's part of D depends on the state, and so does the matrix then. */
static void wind_is_not_constant(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_loaded_scene *loaded = load(ctx, "provot", "implicit-euler", DRAPE_JACOBIAN_LINEAR);
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    scene->forces.drag = 1.2;
    scene->forces.wind[2] = 3;
    drape_sim *sim = begin(ctx, scene);
    ASSERT_OK(ctx, drape_sim_step(sim, NULL));
    assert_true(sim->integrator->constant_c == 0);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converges_to_the_same),
        cmocka_unit_test(kept_matrix_is_current),
        cmocka_unit_test(wind_is_not_constant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
