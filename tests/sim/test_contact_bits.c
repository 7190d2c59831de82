/* The bits of cloth in contact do not depend on threads and vector width, and what contact cannot use is refused. */
#include "support/contacts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STEPS = 4 };
#else
enum { STEPS = 20 };
#endif

/* ---- Bits ---- */

/* Positions, velocities and constraint forces of 1,600 vertices, so many that loops are cut. */
enum { CELLS = 39, VERTICES = (CELLS + 1) * (CELLS + 1), NUMBERS = 9 * VERTICES };

typedef struct outcome {
    double numbers[NUMBERS];
    drape_certificate_contact contact[STEPS]; /* without times */
} outcome;

static drape_context *create(int32_t threads, drape_simd simd) {
    drape_context_settings settings = drape_context_defaults();
    drape_context *ctx = NULL;
    settings.threads = threads;
    settings.simd = simd;
    drape_status status = drape_context_create(&settings, &ctx);
    if (status) assert_int_equal(status, DRAPE_ERROR_ARGUMENT); /* the processor has no such vectors */
    return ctx;
}

/* Two layers, 6 mm apart. */
static void fold(double x[3]) {
    const double r = 3e-3, pi = 3.14159265358979324;
    double s = x[0] + 0.02; /* along the sheet */
    if (s <= 0) return;
    double angle = fmin(s / r, pi);
    x[0] = -0.02 + r * sin(angle) - fmax(0, s - pi * r);
    x[2] = r * (1 - cos(angle));
}

/* A sheet that falls on a ball and a plate, and with its upper half on itself. */
static void simulate(drape_context *ctx, const char *method, outcome *out) {
    static const drape_collider_key beside = {.position = {-0.1, 0, 0}}, below = {.position = {0, 0, -0.08}};
    static const drape_collider things[] = {
        {.shape = DRAPE_COLLIDER_SPHERE, .radius = 0.06, .friction = 0.4, .key_count = 1, .key = &beside},
        {.shape = DRAPE_COLLIDER_BOX, .size = {0.2, 0.2, 0.04}, .friction = 0.4, .key_count = 1, .key = &below}};
    test_drop d = {.cells = CELLS,
                   .width = 0.4,
                   .height = 0.061,
                   .friction = 0.4,
                   .step = 5e-3,
                   .method = method,
                   .self = true,
                   .shape = fold,
                   .colliders = things,
                   .collider_count = 2};
    test_drop_create(ctx, &d);
    for (int i = 0; i < STEPS; i++) {
        test_drop_step_unwatched(&d);
        out->contact[i] = d.last.contact;
        out->contact[i].broad = out->contact[i].narrow = out->contact[i].response = 0;
        out->contact[i].touch = out->contact[i].gate = 0;
    }
    memcpy(out->numbers, drape_sim_positions(d.sim), 3 * VERTICES * sizeof(double));
    memcpy(out->numbers + 3 * VERTICES, drape_sim_velocities(d.sim), 3 * VERTICES * sizeof(double));
    memcpy(out->numbers + 6 * VERTICES, drape_sim_constraint_forces(d.sim), 3 * VERTICES * sizeof(double));
    test_drop_destroy(&d);
}

static void compare(const char *method) {
    static const int32_t threads[] = {1, 2, 7};
    static const drape_simd levels[] = {DRAPE_SIMD_BASELINE, DRAPE_SIMD_AVX2, DRAPE_SIMD_AVX512};
    static outcome want, got;
    drape_context *ctx = create(1, DRAPE_SIMD_BASELINE);
    simulate(ctx, method, &want);
    drape_context_destroy(ctx);
    int64_t held = 0, met = 0;
    for (int i = 0; i < STEPS; i++) {
        held += want.contact[i].count;
        met += want.contact[i].hits + want.contact[i].springs;
    }
    assert_true(held > 0 && met > 0);
    for (int l = 0; l < 3; l++)
        for (int t = 0; t < 3; t++) {
            if (l == 0 && t == 0) continue;
            ctx = create(threads[t], levels[l]);
            if (!ctx) continue;
            simulate(ctx, method, &got);
            drape_context_destroy(ctx);
            for (int i = 0; i < NUMBERS; i++)
                if (memcmp(&got.numbers[i], &want.numbers[i], sizeof(double)) != 0)
                    fail_msg("%s, %d threads, %s: number %d of the state is %.17g, not %.17g", method, threads[t],
                             drape_simd_name(levels[l]), i, got.numbers[i], want.numbers[i]);
            assert_memory_equal(got.contact, want.contact, sizeof want.contact);
        }
}

static void test_bits_of_linearised_steps(void **state) {
    (void)state;
    compare(DRAPE_LINEARISED_EULER);
}

static void test_bits_of_bdf2(void **state) {
    (void)state;
    compare("bdf2");
}

/* ---- Bad input ---- */

static const drape_collider FLOOR = {.name = "floor", .shape = DRAPE_COLLIDER_PLANE};

/* A scene that is good until it is spoiled. */
static test_drop good_scene(drape_context *ctx) {
    test_drop d = {.cells = 4,
                   .width = 0.2,
                   .height = 1e-3,
                   .step = 4e-3,
                   .method = DRAPE_LINEARISED_EULER,
                   .colliders = &FLOOR,
                   .collider_count = 1};
    test_drop_scene(ctx, &d);
    d.contact = (drape_contact_settings){0};
    return d;
}

/* Refused, with a message that holds both texts. Destroys the scene. */
static void refuse(drape_context *ctx, test_drop *d, const char *text, const char *other) {
    drape_sim *sim;
    d->strip->scene.contact = &d->contact;
    assert_int_equal(drape_sim_create(ctx, &d->strip->scene, &sim), DRAPE_ERROR_ARGUMENT);
    assert_null(sim);
    if (!strstr(drape_message(ctx), text) || !strstr(drape_message(ctx), other))
        fail_msg("it says \"%s\", not \"%s\" and \"%s\"", drape_message(ctx), text, other);
    test_strip_destroy(d->strip);
}

static void test_good_scene_is_taken(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    test_drop d = good_scene(ctx);
    d.strip->scene.contact = &d.contact;
    drape_sim_destroy(test_strip_sim(d.strip));
    test_strip_destroy(d.strip);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void test_bad_pieces(void **state) {
    static const double bad[] = {-1e-3, NAN, INFINITY};
    drape_context *ctx = test_context(1);
    (void)state;
    for (int i = 0; i < 3; i++) {
        test_drop d = good_scene(ctx);
        d.strip->piece.thickness = bad[i];
        refuse(ctx, &d, "piece 0", "thickness");
        d = good_scene(ctx);
        d.strip->piece.friction = bad[i];
        refuse(ctx, &d, "piece 0", "friction");
    }
    test_drop d = good_scene(ctx);
    d.strip->piece.thickness = 0.051; /* the shortest edge has 0.05 m */
    refuse(ctx, &d, "0.051 m thick", "0.05 m");
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void test_bad_settings(void **state) {
    static const double bad[] = {-1e-3, NAN, INFINITY};
    drape_context *ctx = test_context(1);
    (void)state;
    for (int i = 0; i < 3; i++) {
        test_drop d = good_scene(ctx);
        d.contact.distance = bad[i];
        refuse(ctx, &d, "contact", "distance");
    }
    test_drop d = good_scene(ctx);
    d.contact.reserved[3] = 1;
    refuse(ctx, &d, "drape_contact_settings.reserved", "zero");
    d = good_scene(ctx);
    d.contact.pinch = (drape_pinch)2;
    refuse(ctx, &d, "contact", "pinch is 2");
    d = good_scene(ctx);
    d.contact.preset = (drape_contact_preset)-1;
    refuse(ctx, &d, "contact", "preset is -1");
    d = good_scene(ctx);
    d.contact.law = (drape_contact_law)2;
    refuse(ctx, &d, "contact", "law is 2");
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void test_bad_colliders(void **state) {
    drape_context *ctx = test_context(1);
    drape_collider ball = {.name = "ball", .shape = DRAPE_COLLIDER_SPHERE};
    (void)state;
    test_drop d = good_scene(ctx);
    d.strip->scene.colliders = &ball;
    refuse(ctx, &d, "ball", "radius");
    ball.radius = 0.1;
    ball.friction = -1;
    d = good_scene(ctx);
    d.strip->scene.colliders = &ball;
    refuse(ctx, &d, "ball", "friction");
    ball.friction = 0;
    ball.thickness = NAN;
    d = good_scene(ctx);
    d.strip->scene.colliders = &ball;
    refuse(ctx, &d, "ball", "thickness");
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void test_start_in_contact(void **state) {
    static const drape_collider ball = {.name = "ball", .shape = DRAPE_COLLIDER_SPHERE, .radius = 0.1};
    static const drape_collider box = {.name = "table", .shape = DRAPE_COLLIDER_BOX, .size = {0.1, 0.1, 0.1}};
    drape_context *ctx = test_context(1);
    (void)state;
    test_drop d = good_scene(ctx);
    for (int32_t i = 0; i < d.strip->mesh.vertices; i++) d.strip->mesh.rest[3 * i + 2] = -1e-3;
    refuse(ctx, &d, "vertex 0", "floor");
    d = good_scene(ctx);
    d.strip->scene.colliders = &ball;
    refuse(ctx, &d, "start", "ball");
    d = good_scene(ctx);
    d.strip->scene.colliders = &box;
    refuse(ctx, &d, "start", "table");
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

/* Two corners that lie on each other. */
static void test_start_in_contact_with_itself(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    test_drop d = good_scene(ctx);
    double *x = d.strip->mesh.rest;
    memcpy(x, x + 3 * 24, 3 * sizeof *x);
    d.contact.self = true;
    refuse(ctx, &d, "vertex", "of the cloth");
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits_of_linearised_steps),
        cmocka_unit_test(test_bits_of_bdf2),
        cmocka_unit_test(test_good_scene_is_taken),
        cmocka_unit_test(test_bad_pieces),
        cmocka_unit_test(test_bad_settings),
        cmocka_unit_test(test_bad_colliders),
        cmocka_unit_test(test_start_in_contact),
        cmocka_unit_test(test_start_in_contact_with_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
