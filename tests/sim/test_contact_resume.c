/* Cloth in contact goes on from a checkpoint with the same bits; and what crosses at the start, where that is
 * allowed, may do so until it is apart. */
#include "support/contacts.h"
#include "support/folder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS = 19, VERTICES = (CELLS + 1) * (CELLS + 1), BEFORE = 30, AFTER = 15 };

/* ---- Checkpoints ---- */

static test_drop drop_on_things(const char *method) {
    static const drape_collider_key turning[2] = {{.position = {-0.1, 0, 0}},
                                                  {.time = 1, .position = {-0.1, 0, 0.05}, .rotation = {0, 0, 3}}};
    static const drape_collider_key below = {.position = {0.1, 0, 0}};
    static const drape_collider things[] = {
        {.shape = DRAPE_COLLIDER_SPHERE, .radius = 0.06, .friction = 0.4, .key_count = 2, .key = turning},
        {.shape = DRAPE_COLLIDER_BOX, .size = {0.2, 0.2, 0.1}, .friction = 0.4, .key_count = 1, .key = &below}};
    return (test_drop){.cells = CELLS,
                       .width = 0.4,
                       .height = 0.063,
                       .friction = 0.4,
                       .step = 5e-3,
                       .method = method,
                       .self = true,
                       .colliders = things,
                       .collider_count = 2};
}

static void go_on(test_drop *d, int steps, double *x) {
    for (int i = 0; i < steps; i++) test_drop_step_unwatched(d);
    memcpy(x, drape_sim_positions(d->sim), 3 * VERTICES * sizeof *x);
    memcpy(x + 3 * VERTICES, drape_sim_velocities(d->sim), 3 * VERTICES * sizeof *x);
}

static void check_resume(drape_context *ctx, const char *method) {
    static double want[6 * VERTICES], got[6 * VERTICES];
    char folder[] = "/tmp/drape-contact-XXXXXX";
    test_drop first = drop_on_things(method), second = drop_on_things(method);
    assert_non_null(mkdtemp(folder));
    const char *path = test_path_in(folder, "contact.ckpt");
    test_drop_create(ctx, &first);
    go_on(&first, BEFORE, want);
    assert_true(first.last.contact.count > 0);
    ASSERT_OK(ctx, drape_sim_save(first.sim, path));
    go_on(&first, AFTER, want);
    test_drop_create(ctx, &second);
    ASSERT_OK(ctx, drape_sim_restore(second.sim, path));
    go_on(&second, AFTER, got);
    assert_memory_equal(got, want, sizeof want);
    test_drop_destroy(&first);
    test_drop_destroy(&second);
    test_folder_entries(folder, true);
    rmdir(folder);
}

static void test_checkpoints_hold_contact(void **state) {
    drape_context *ctx = test_context(2);
    (void)state;
    check_resume(ctx, DRAPE_LINEARISED_EULER);
    check_resume(ctx, "bdf2");
    drape_context_destroy(ctx);
}

/* ---- Crossings at the start ---- */

static const drape_collider BALL = {.name = "ball", .shape = DRAPE_COLLIDER_SPHERE, .radius = 0.05};

static test_drop drop_through_ball(void) {
    return (test_drop){.cells = CELLS,
                       .width = 0.4,
                       .height = -0.04,
                       .step = 4e-3,
                       .method = DRAPE_LINEARISED_EULER,
                       .colliders = &BALL,
                       .collider_count = 1};
}

static void test_crossings_are_refused_or_left_until_apart(void **state) {
    drape_context *ctx = test_context(1);
    drape_sim *sim;
    test_drop d = drop_through_ball();
    (void)state;
    test_drop_scene(ctx, &d);
    d.contact = (drape_contact_settings){0};
    d.strip->scene.contact = &d.contact;
    assert_int_equal(drape_sim_create(ctx, &d.strip->scene, &sim), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "cross"));
    assert_non_null(strstr(drape_message(ctx), "ball"));
    d.contact.allow_crossings = true;
    ASSERT_OK(ctx, drape_sim_create(ctx, &d.strip->scene, &sim));
    /* It falls out of the ball below, without a push: faster than it fell it never gets. */
    for (int i = 0; i < 50; i++) ASSERT_OK(ctx, drape_sim_step(sim, NULL));
    for (int i = 0; i < VERTICES; i++) {
        const double *v = drape_sim_velocities(sim) + 3 * i;
        assert_true(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] < 2.5 * 2.5);
    }
    drape_sim_destroy(sim);
    test_drop_destroy(&d);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checkpoints_hold_contact),
        cmocka_unit_test(test_crossings_are_refused_or_left_until_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
