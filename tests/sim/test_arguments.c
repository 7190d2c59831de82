/* Arguments that cannot be meant: a status and a message that says what is wrong, never a crash, and not "out of
 * memory". */
#include "support/testing.h"

#include "drape/io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct subject {
    drape_context *ctx;
    drape_loaded_scene *loaded;
    drape_scene scene;
} subject;

static subject make(void) {
    subject s = {.ctx = test_context(1)};
    ASSERT_OK(s.ctx, drape_scene_builtin(s.ctx, "drooping", 4, &s.loaded));
    s.scene = *drape_loaded_scene_data(s.loaded);
    return s;
}

static void end(subject *s) {
    drape_loaded_scene_destroy(s->loaded);
    drape_context_destroy(s->ctx);
}

static void refuses(subject *s, drape_status wanted, const char *words) {
    drape_sim *sim = NULL;
    drape_status status = drape_sim_create(s->ctx, &s->scene, &sim);
    if (status != wanted || !strstr(drape_message(s->ctx), words))
        fail_msg("status %d with \"%s\", wanted %d with \"%s\"", status, drape_message(s->ctx), wanted, words);
    assert_null(sim);
}

static void scenes_with_bad_counts_and_arrays(void **state) {
    (void)state;
    subject s = make();
    const drape_scene good = s.scene;
    s.scene.pin_count = -1;
    refuses(&s, DRAPE_ERROR_ARGUMENT, "pins");
    s.scene = good, s.scene.pins = NULL;
    refuses(&s, DRAPE_ERROR_ARGUMENT, "pins");
    s.scene = good, s.scene.piece_count = -1;
    refuses(&s, DRAPE_ERROR_ARGUMENT, "piece");
    s.scene = good, s.scene.pieces = NULL;
    refuses(&s, DRAPE_ERROR_ARGUMENT, "piece");
    s.scene = good, s.scene.collider_count = -1;
    refuses(&s, DRAPE_ERROR_ARGUMENT, "collider");
    s.scene = good, s.scene.collider_count = 1, s.scene.colliders = NULL;
    refuses(&s, DRAPE_ERROR_ARGUMENT, "collider");
    drape_pin pin = good.pins[0];
    s.scene = good, s.scene.pins = &pin, s.scene.pin_count = 1;
    pin.vertices = NULL;
    refuses(&s, DRAPE_ERROR_ARGUMENT, "pin");
    pin = good.pins[0], pin.count = -1;
    refuses(&s, DRAPE_ERROR_ARGUMENT, "pin");
    end(&s);
}

static void enums_out_of_range(void **state) {
    (void)state;
    subject s = make();
    const drape_scene good = s.scene;
    s.scene.cloth.jacobian = (drape_jacobian)99;
    refuses(&s, DRAPE_ERROR_ARGUMENT, "jacobian");
    s.scene = good, s.scene.cloth.damping_jacobian = (drape_damping_jacobian)99;
    refuses(&s, DRAPE_ERROR_ARGUMENT, "jacobian");
    s.scene = good, s.scene.integration.unknowns = (drape_unknowns)99;
    refuses(&s, DRAPE_ERROR_ARGUMENT, "unknowns");
    s.scene = good, s.scene.integration.mass = (drape_mass_matrix)99;
    refuses(&s, DRAPE_ERROR_ARGUMENT, "mass");
    s.scene = good, s.scene.solve.stop = (drape_stop)99;
    refuses(&s, DRAPE_ERROR_ARGUMENT, "stop");
    drape_pin pin = good.pins[0];
    s.scene = good, s.scene.pins = &pin, s.scene.pin_count = 1;
    pin.motion.kind = (drape_motion_kind)99;
    refuses(&s, DRAPE_ERROR_ARGUMENT, "motion");
    end(&s);
}

static void velocities_that_are_not_finite(void **state) {
    (void)state;
    subject s = make();
    double velocity[3 * 16] = {0};
    velocity[3 * 5 + 1] = NAN;
    s.scene.velocity = velocity;
    refuses(&s, DRAPE_ERROR_ARGUMENT, "velocity");
    assert_non_null(strstr(drape_message(s.ctx), "vertex 5"));
    end(&s);
}

static void a_scene_without_a_name_has_a_report(void **state) {
    (void)state;
    subject s = make();
    drape_sim *sim;
    drape_report *report = NULL;
    s.scene.name = NULL;
    ASSERT_OK(s.ctx, drape_sim_create(s.ctx, &s.scene, &sim));
    ASSERT_OK(s.ctx, drape_report_create(s.ctx, &s.scene, sim, &report));
    drape_report_destroy(report);
    drape_sim_destroy(sim);
    end(&s);
}

static void matrices_with_bad_columns(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    const int64_t rowptr[] = {0, 1, 2};
    int32_t col[] = {0, 1000000};
    double val[18] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}, b[6] = {0}, out[18], rhs[6];
    const drape_bsr3 A = {.rows = 2, .rowptr = rowptr, .col = col, .val = val};
    drape_problem problem = {.A = &A, .b = b};
    assert_int_equal(drape_prefilter(ctx, &problem, out, rhs), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "column"));
    col[1] = -1;
    assert_int_equal(drape_prefilter(ctx, &problem, out, rhs), DRAPE_ERROR_ARGUMENT);
    col[1] = 1;
    ASSERT_OK(ctx, drape_prefilter(ctx, &problem, out, rhs));
    drape_context_destroy(ctx);
}

static void missing_arrays(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    const drape_elements elements = {.nodes_per_element = 3, .count = 2, .nodes = NULL};
    drape_matrix *matrix = NULL;
    assert_int_equal(drape_matrix_from_elements(ctx, 4, &elements, 1, &matrix), DRAPE_ERROR_ARGUMENT);
    drape_solver *solver = NULL;
    const drape_solve_settings settings = drape_solve_defaults();
    ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
    double x[3] = {0};
    drape_solve_result result;
    assert_int_equal(drape_solver_solve(solver, NULL, x, &result), DRAPE_ERROR_ARGUMENT);
    drape_solver_destroy(solver);
    assert_null(drape_cloth_piece(NULL, 0));
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_with_bad_counts_and_arrays), cmocka_unit_test(enums_out_of_range),
        cmocka_unit_test(velocities_that_are_not_finite),    cmocka_unit_test(a_scene_without_a_name_has_a_report),
        cmocka_unit_test(matrices_with_bad_columns),         cmocka_unit_test(missing_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
