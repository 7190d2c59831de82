/* Cloth on objects, by the laws that it must keep: weight and its reaction, Coulomb's friction, objects that move. */
#include "support/contacts.h"

#include <math.h>
#include <string.h>

static const char *const METHODS[] = {DRAPE_LINEARISED_EULER, "implicit-euler", "bdf2"};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };
static const double G = 9.81; /* m/s^2, the default */

/* ---- At rest ---- */

static double weight_of(const test_drop *d) {
    const double *mass = drape_cloth_mass(drape_sim_cloth(d->sim));
    double sum = 0;
    for (int32_t i = 0; i < d->strip->mesh.vertices; i++) sum += mass[i];
    return sum * G;
}

static void rest_on_a_plane(drape_context *ctx, const char *method) {
    static const drape_collider plane = {.shape = DRAPE_COLLIDER_PLANE, .friction = 0.3};
    test_drop d = {.cells = 8,
                   .width = 0.4,
                   .height = 2e-3,
                   .friction = 0.3,
                   .step = 4e-3,
                   .method = method,
                   .colliders = &plane,
                   .collider_count = 1};
    double force[3];
    test_drop_create(ctx, &d);
    for (int step = 0; step < 500; step++) test_drop_step(&d);
    test_drop_force(&d, force);
    ASSERT_NEAR(force[2], weight_of(&d), 1e-6 * weight_of(&d));
    ASSERT_NEAR(force[0], 0, 1e-6 * weight_of(&d));
    ASSERT_NEAR(force[1], 0, 1e-6 * weight_of(&d));
    assert_true(test_drop_speed(&d) < 1e-4);
    const double *x = drape_sim_positions(d.sim);
    for (int32_t i = 0; i < d.strip->mesh.vertices; i++) ASSERT_NEAR(x[3 * i + 2], 0.5e-3, 1e-6);
    assert_int_equal(d.last.contact.count, d.strip->mesh.vertices);
    assert_int_equal(d.last.contact.held, d.strip->mesh.vertices);
    assert_int_equal(d.last.contact.sliding, 0);
    test_drop_destroy(&d);
}

static void test_plane_carries_the_weight(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int i = 0; i < METHOD_COUNT; i++) rest_on_a_plane(ctx, METHODS[i]);
    drape_context_destroy(ctx);
}

/* ---- The inclined plane ---- */

static const double ANGLE = 0.35; /* rad, about y: x points downhill */

/* How far the middle of a sheet goes downhill in `steps` steps, m, with so much friction. */
static double slide(drape_context *ctx, const char *method, double friction, double step, int steps) {
    const drape_collider plane = {.shape = DRAPE_COLLIDER_PLANE, .friction = friction, .rotation = {0, ANGLE, 0}};
    test_drop d = {.cells = 12,
                   .width = 0.3,
                   .height = 0.5e-3,
                   .friction = friction,
                   .step = step,
                   .method = method,
                   .tolerance = friction > 0 ? 0 : 1e-8, /* what is left of the solves pushes it aside */
                   .rotation = {0, ANGLE, 0},
                   .colliders = &plane,
                   .collider_count = 1};
    double before[3], after[3];
    test_drop_create(ctx, &d);
    test_drop_mean(&d, before);
    for (int i = 0; i < steps; i++) test_drop_step_unwatched(&d);
    test_drop_mean(&d, after);
    test_drop_destroy(&d);
    ASSERT_NEAR(after[1], before[1], 1e-6);
    return (after[0] - before[0]) * cos(ANGLE) - (after[2] - before[2]) * sin(ANGLE);
}

static void test_sheet_stays_on_a_slope_below_the_angle_of_friction(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int i = 0; i < METHOD_COUNT; i++) ASSERT_NEAR(slide(ctx, METHODS[i], tan(ANGLE) / 0.95, 0.01, 500), 0, 1e-6);
    drape_context_destroy(ctx);
}

static void test_sheet_slides_down_a_slope_above_it(void **state) {
    drape_context *ctx = test_context(1);
    double friction = tan(ANGLE) / 1.05, step = 4e-3;
    (void)state;
    for (int i = 0; i < METHOD_COUNT; i++)
        for (int steps = 200; steps <= 400; steps += 200) {
            double t = steps * step, want = G * (sin(ANGLE) - friction * cos(ANGLE)) * t * t / 2;
            ASSERT_NEAR(slide(ctx, METHODS[i], friction, step, steps), want, 0.05 * want);
        }
    drape_context_destroy(ctx);
}

static void test_no_friction_is_free_fall_along_the_slope(void **state) {
    drape_context *ctx = test_context(1);
    double t = 0.4, want = G * sin(ANGLE) * t * t / 2;
    (void)state;
    for (int i = 0; i < METHOD_COUNT; i++) ASSERT_NEAR(slide(ctx, METHODS[i], 0, 4e-3, 100), want, 0.02 * want);
    drape_context_destroy(ctx);
}

/* m: how far a sheet slides downhill on another one, which is held, in `steps` steps of 2 ms. */
static double slide_on_cloth(drape_context *ctx, double friction, int steps) {
    test_strip *lower = test_strip_create(ctx, 17, 17, 0.5, 0.5), *upper = test_strip_create(ctx, 12, 12, 0.25, 0.25);
    const test_strip *both[] = {lower, upper};
    drape_contact_settings contact = {.self = true};
    drape_piece pieces[2];
    double moved = 0;
    for (int p = 0; p < 2; p++) {
        for (int32_t i = 0; i < both[p]->mesh.vertices; i++) {
            double *x = both[p]->mesh.rest + 3 * (int64_t)i, along = x[0] + 0.1 * p, up = 1e-3 * p;
            x[0] = along * cos(ANGLE) + up * sin(ANGLE);
            x[1] += 0.1 * p;
            x[2] = up * cos(ANGLE) - along * sin(ANGLE);
        }
        pieces[p] = both[p]->piece;
        pieces[p].thickness = 1e-3;
        pieces[p].friction = friction;
    }
    test_strip_pin(lower, 0, 17, 0, 17);
    lower->scene.pieces = pieces;
    lower->scene.piece_count = 2;
    lower->scene.step = 2e-3;
    lower->scene.integration = (drape_integration){0};
    lower->scene.contact = &contact;
    drape_sim *sim = test_strip_sim(lower);
    int32_t first = lower->mesh.vertices, count = upper->mesh.vertices;
    double *before = test_positions(sim);
    test_run(ctx, sim, steps);
    const double *x = drape_sim_positions(sim);
    for (int32_t i = 3 * first; i < 3 * (first + count); i += 3)
        moved += ((x[i] - before[i]) * cos(ANGLE) - (x[i + 2] - before[i + 2]) * sin(ANGLE)) / count;
    test_set_state(ctx, sim, before, NULL);
    drape_sim_destroy(sim);
    test_strip_destroy(upper);
    test_strip_destroy(lower);
    return moved;
}

static void test_friction_between_sheets(void **state) {
    drape_context *ctx = test_context(1);
    double t = 0.8, want = G * (sin(ANGLE) - tan(ANGLE) / 1.05 * cos(ANGLE)) * t * t / 2;
    (void)state;
    double at_first = slide_on_cloth(ctx, tan(ANGLE) / 0.95, 250),
           later = slide_on_cloth(ctx, tan(ANGLE) / 0.95, 2500);
    assert_true(later < 1e-3);
    ASSERT_NEAR(later, at_first, 1e-8); /* it does not creep */
    ASSERT_NEAR(slide_on_cloth(ctx, tan(ANGLE) / 1.05, 400), want, 0.1 * want);
    ASSERT_NEAR(slide_on_cloth(ctx, 0, 125), G * sin(ANGLE) * 0.25 * 0.25 / 2,
                0.1 * G * sin(ANGLE) * 0.25 * 0.25 / 2);
    drape_context_destroy(ctx);
}

/* ---- Objects that move ---- */

static void ride(drape_context *ctx, const char *method, const drape_collider *collider, double top) {
    test_drop d = {.cells = 10,
                   .width = 0.3,
                   .height = top + 1e-3,
                   .friction = 0.8,
                   .step = 4e-3,
                   .method = method,
                   .colliders = collider,
                   .collider_count = 1};
    const int32_t middle = 5 * 11 + 5;
    test_drop_create(ctx, &d);
    for (int step = 0; step < 150; step++) test_drop_step(&d);
    const double *x = drape_sim_positions(d.sim) + 3 * middle, *v = drape_sim_velocities(d.sim) + 3 * middle;
    ASSERT_NEAR(x[2], top + 0.5e-3 + 0.5 * d.last.time, 2e-3);
    ASSERT_NEAR(v[2], 0.5, 0.1); /* over a ball it flutters */
    test_drop_destroy(&d);
}

static const drape_collider_key UPWARD[] = {{.time = 0}, {.time = 1, .position = {0, 0, 0.5}}};

static void test_objects_that_rise_carry_cloth(void **state) {
    drape_context *ctx = test_context(1);
    const drape_collider plane = {.shape = DRAPE_COLLIDER_PLANE, .friction = 0.8, .key_count = 2, .key = UPWARD};
    const drape_collider ball = {
        .shape = DRAPE_COLLIDER_SPHERE, .radius = 0.2, .friction = 0.8, .key_count = 2, .key = UPWARD};
    (void)state;
    for (int i = 0; i < METHOD_COUNT; i++) {
        ride(ctx, METHODS[i], &plane, 0);
        ride(ctx, METHODS[i], &ball, 0.2);
    }
    drape_context_destroy(ctx);
}

/* A plate that begins to turn by 1 rad/s^2, which friction can pass on. */
static void turn_with_a_plate(drape_context *ctx, const char *method) {
    enum { STEPS = 200 };
    static drape_collider_key keys[STEPS + 1];
    const double step = 4e-3;
    for (int i = 0; i <= STEPS; i++)
        keys[i] = (drape_collider_key){.time = i * step, .rotation = {0, 0, 0.5 * (i * step) * (i * step)}};
    const drape_collider plate = {
        .shape = DRAPE_COLLIDER_BOX, .size = {0.5, 0.5, 0.04}, .friction = 0.8, .key_count = STEPS + 1, .key = keys};
    test_drop d = {.cells = 6,
                   .width = 0.3,
                   .height = 0.0205,
                   .friction = 0.8,
                   .step = step,
                   .method = method,
                   .colliders = &plate,
                   .collider_count = 1};
    test_drop_create(ctx, &d);
    double *before = test_positions(d.sim), angle = keys[STEPS].rotation[2];
    for (int i = 0; i < STEPS; i++) test_drop_step(&d);
    const double *x = drape_sim_positions(d.sim);
    for (int32_t i = 0; i < d.strip->mesh.vertices; i++) {
        const double *from = before + 3 * i;
        ASSERT_NEAR(x[3 * i], cos(angle) * from[0] - sin(angle) * from[1], 2e-4);
        ASSERT_NEAR(x[3 * i + 1], sin(angle) * from[0] + cos(angle) * from[1], 2e-4);
    }
    test_set_state(ctx, d.sim, before, NULL);
    test_drop_destroy(&d);
}

static void test_cloth_sticks_to_a_plate_that_turns(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int i = 0; i < METHOD_COUNT; i++) turn_with_a_plate(ctx, METHODS[i]);
    drape_context_destroy(ctx);
}

/* ---- Pins that are led into an object ---- */

static void downward(void *user, int32_t vertex, double t, const double start[3], double displacement[3]) {
    (void)user, (void)vertex, (void)start;
    displacement[0] = displacement[1] = 0;
    displacement[2] = -t;
}

/* A sheet 1 cm above the ground, one corner of which is led down at 1 m/s. */
static test_drop led_down(drape_context *ctx, const drape_collider *plane) {
    test_drop d = {.cells = 3,
                   .width = 0.3,
                   .height = 0.01,
                   .step = 4e-3,
                   .method = DRAPE_LINEARISED_EULER,
                   .colliders = plane,
                   .collider_count = 1};
    test_drop_scene(ctx, &d);
    test_strip_pin(d.strip, 0, 0, 0, 0);
    d.strip->scene.frames = 10;
    d.strip->scene.steps_per_frame = 1;
    return d;
}

static void test_pin_into_an_object_is_refused_where_its_path_is_known(void **state) {
    drape_context *ctx = test_context(1);
    static const drape_collider plane = {.name = "ground", .shape = DRAPE_COLLIDER_PLANE};
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        test_drop d = led_down(ctx, &plane);
        drape_scene *scene = &d.strip->scene;
        drape_motion *m = &d.strip->pins[0].motion;
        scene->contact = &d.contact; /* d has moved */
        *m = (drape_motion){.kind = DRAPE_MOTION_LINEAR, .velocity = {0, 0, -1}};
        if (kind == 1) *m = (drape_motion){.kind = DRAPE_MOTION_CALLBACK, .function = downward};
        if (kind == 2) scene->frames = 2; /* it ends before */
        if (kind == 3) d.contact.allow_crossings = true;
        drape_sim *sim;
        drape_status status = drape_sim_create(ctx, scene, &sim);
        if (kind == 0) {
            assert_int_equal(status, DRAPE_ERROR_ARGUMENT);
            assert_non_null(strstr(drape_message(ctx), "pin 0 moves vertex 0 of"));
            assert_non_null(strstr(drape_message(ctx), "into the collider 'ground' at t = 0.01 s"));
        } else {
            ASSERT_OK(ctx, status);
            for (int step = 0; step < 4 && !status; step++) status = drape_sim_step(sim, NULL);
            assert_int_equal(status, DRAPE_ERROR_NUMBER);
            assert_non_null(strstr(drape_message(ctx), "no space between vertex 0 of the cloth and the plane"));
        }
        drape_sim_destroy(sim);
        test_strip_destroy(d.strip);
    }
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plane_carries_the_weight),
        cmocka_unit_test(test_sheet_stays_on_a_slope_below_the_angle_of_friction),
        cmocka_unit_test(test_sheet_slides_down_a_slope_above_it),
        cmocka_unit_test(test_no_friction_is_free_fall_along_the_slope),
        cmocka_unit_test(test_friction_between_sheets),
        cmocka_unit_test(test_objects_that_rise_carry_cloth),
        cmocka_unit_test(test_cloth_sticks_to_a_plate_that_turns),
        cmocka_unit_test(test_pin_into_an_object_is_refused_where_its_path_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
