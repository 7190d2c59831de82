/* Sheets fall on every shape of colliders, and on themselves: nothing crosses in any step. */
#include "support/contacts.h"

#include <math.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STEPS = 40 }; /* sanitizers are slow, and their subject is not the motion */
#else
enum { STEPS = 120 };
#endif

static const char *const METHODS[] = {DRAPE_LINEARISED_EULER, "bdf2"};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

/* A sheet of 15 x 15 vertices that starts 5 mm above the top of the shape. */
static void fall_on(const drape_collider *collider, double top) {
    drape_context *ctx = test_context(1);
    for (int i = 0; i < METHOD_COUNT; i++) {
        test_drop d = {.cells = 14,
                       .width = 0.5,
                       .height = top + 5e-3,
                       .friction = 0.3,
                       .step = 4e-3,
                       .method = METHODS[i],
                       .colliders = collider,
                       .collider_count = 1};
        int64_t touched = 0;
        test_drop_create(ctx, &d);
        for (int step = 0; step < STEPS; step++) {
            test_drop_step(&d);
            touched += d.last.contact.count + d.last.contact.springs + d.last.contact.hits;
        }
        assert_true(touched > 0);
        test_drop_destroy(&d);
    }
    drape_context_destroy(ctx);
}

static void test_sphere(void **state) {
    (void)state;
    fall_on(&(drape_collider){.shape = DRAPE_COLLIDER_SPHERE, .radius = 0.15, .friction = 0.3}, 0.15);
}

static void test_capsule(void **state) {
    (void)state;
    fall_on(&(drape_collider){.shape = DRAPE_COLLIDER_CAPSULE,
                              .radius = 0.05,
                              .length = 0.25,
                              .rotation = {0, 1.5707963267948966, 0},
                              .friction = 0.3},
            0.05);
}

static void test_box(void **state) {
    (void)state;
    fall_on(&(drape_collider){.shape = DRAPE_COLLIDER_BOX, .size = {0.2, 0.3, 0.1}, .friction = 0.3}, 0.05);
}

/* On a corner. */
static void test_box_on_its_corner(void **state) {
    (void)state;
    fall_on(&(drape_collider){.shape = DRAPE_COLLIDER_BOX,
                              .size = {0.2, 0.2, 0.2},
                              .rotation = {0.9553166181245093 * 0.70710678118654752,
                                           -0.9553166181245093 * 0.70710678118654752, 0},
                              .friction = 0.3},
            0.17320508075688773);
}

static void test_cylinder(void **state) {
    (void)state;
    fall_on(
        &(drape_collider){
            .shape = DRAPE_COLLIDER_CYLINDER, .radius = 0.12, .length = 0.1, .sides = 24, .friction = 0.3},
        0.05);
}

static void test_box_with_hole(void **state) {
    (void)state;
    fall_on(
        &(drape_collider){
            .shape = DRAPE_COLLIDER_BOX_WITH_HOLE, .size = {0.4, 0.4, 0.1}, .hole = {0.2, 0.2}, .friction = 0.3},
        0.05);
}

/* ---- Meshes ---- */

static const double TENT[] = {-0.2, -0.2, 0, 0.2, -0.2, 0, 0.2, 0.2, 0, -0.2, 0.2, 0, 0.03, 0.01, 0.15};
static const int32_t TENT_TRIANGLE[] = {0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4}; /* open below */

static void test_mesh_at_rest(void **state) {
    (void)state;
    fall_on(&(drape_collider){.shape = DRAPE_COLLIDER_MESH,
                              .vertices = 5,
                              .positions = TENT,
                              .triangles = 4,
                              .triangle = TENT_TRIANGLE,
                              .friction = 0.3},
            0.15);
}

/* The tent sinks and rises again, and leans. */
static void test_mesh_that_deforms(void **state) {
    static const double time[] = {0, 0.25, 0.5};
    static double frame[3][15];
    (void)state;
    for (int f = 0; f < 3; f++)
        for (int i = 0; i < 15; i++) frame[f][i] = TENT[i];
    frame[1][12] = -0.08;
    frame[1][14] = 0.08;
    frame[2][13] = 0.1;
    frame[2][14] = 0.18;
    fall_on(&(drape_collider){.shape = DRAPE_COLLIDER_MESH,
                              .vertices = 5,
                              .triangles = 4,
                              .triangle = TENT_TRIANGLE,
                              .frames = 3,
                              .frame_time = time,
                              .frame = frame[0],
                              .friction = 0.3},
            0.15);
}

/* A ball that comes up through the middle of the sheet, and turns. */
static void test_sphere_that_moves(void **state) {
    static const drape_collider_key keys[] = {{.time = 0, .position = {0, 0, -0.2}},
                                              {.time = 0.3, .position = {0.1, 0, 0.1}, .rotation = {0, 2, 1}},
                                              {.time = 0.6, .position = {-0.1, 0.1, 0.1}, .rotation = {1, 3, 2}}};
    (void)state;
    fall_on(
        &(drape_collider){
            .shape = DRAPE_COLLIDER_SPHERE, .radius = 0.1, .friction = 0.5, .key_count = 3, .key = keys},
        -0.08);
}

/* ---- Cloth on itself ---- */

static void fall_on_itself(void (*shape)(double x[3]), double height) {
    static const drape_collider plane = {.shape = DRAPE_COLLIDER_PLANE, .friction = 0.3};
    drape_context *ctx = test_context(1);
    for (int i = 0; i < METHOD_COUNT; i++) {
        test_drop d = {.cells = 14,
                       .width = 0.3,
                       .height = height,
                       .friction = 0.3,
                       .step = 4e-3,
                       .method = METHODS[i],
                       .self = true,
                       .shape = shape,
                       .colliders = &plane,
                       .collider_count = 1};
        int64_t hits = 0;
        test_drop_create(ctx, &d);
        for (int step = 0; step < STEPS; step++) {
            test_drop_step(&d);
            hits += d.last.contact.hits + d.last.contact.springs;
        }
        assert_true(hits > 0 || STEPS < 100); /* a sanitizer does not wait for that */
        test_drop_destroy(&d);
    }
    drape_context_destroy(ctx);
}

/* The plane through x and z, with a wave that decides which way it buckles. */
static void stand_up(double x[3]) {
    double y = x[1];
    x[1] = 2e-3 * sin(40 * y) + 1e-3 * cos(30 * x[0]);
    x[2] = y + 0.16;
}

static void test_sheet_that_stands_collapses_on_itself(void **state) {
    (void)state;
    fall_on_itself(stand_up, 0);
}

/* Half a turn of radius 1 cm between two layers, the upper one longer. */
static void fold(double x[3]) {
    const double r = 0.01, pi = 3.14159265358979324;
    double s = x[0] + 0.02; /* along the sheet */
    if (s <= 0) return;
    double angle = fmin(s / r, pi);
    x[0] = -0.02 + r * sin(angle) - fmax(0, s - pi * r);
    x[2] = r * (1 - cos(angle));
}

static void test_folded_sheet_falls_on_itself(void **state) {
    (void)state;
    fall_on_itself(fold, 5e-3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sphere),
        cmocka_unit_test(test_capsule),
        cmocka_unit_test(test_box),
        cmocka_unit_test(test_box_on_its_corner),
        cmocka_unit_test(test_cylinder),
        cmocka_unit_test(test_box_with_hole),
        cmocka_unit_test(test_mesh_at_rest),
        cmocka_unit_test(test_mesh_that_deforms),
        cmocka_unit_test(test_sphere_that_moves),
        cmocka_unit_test(test_sheet_that_stands_collapses_on_itself),
        cmocka_unit_test(test_folded_sheet_falls_on_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
