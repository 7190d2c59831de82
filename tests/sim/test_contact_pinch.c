/* Cloth that two colliders leave no room for: the step fails and names both, or the cloth yields until they are
 * apart. */
#include "sim/sim.h"
#include "support/contacts.h"
#include "support/folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS = 15, VERTICES = (CELLS + 1) * (CELLS + 1), STEPS = 70, NUMBERS = 6 * VERTICES };

static const double STEP = 4e-3, OPEN = 0.24; /* s; from then on nothing may cross any more */

/* ---- Jaws ---- */

#define RADIUS 0.05

/* Down to 3 mm below z = 0 at 0.1 s, and up again at 0.2 s. */
static const drape_collider_key DOWN[] = {{.position = {0, 0, RADIUS + 0.025}},
                                          {.time = 0.1, .position = {0, 0, RADIUS - 0.003}},
                                          {.time = 0.2, .position = {0, 0, RADIUS + 0.025}}};
static const drape_collider_key UP[] = {{.position = {0, 0, -RADIUS - 0.025}},
                                        {.time = 0.1, .position = {0, 0, -RADIUS + 0.003}},
                                        {.time = 0.2, .position = {0, 0, -RADIUS - 0.025}}};
static const drape_collider_key BELOW = {.position = {0, 0, -0.02}}, JUST_BELOW = {.position = {0, 0, -0.002}};
static const drape_collider_key FALLING[] = {{.position = {0, 0, 0.02}}, {.time = 0.1, .position = {0, 0, -0.01}}};
static const double PLATE[12] = {-0.3, -0.3, -0.002, 0.3, -0.3, -0.002, 0.3, 0.3, -0.002, -0.3, 0.3, -0.002};
static const int32_t PLATE_TRIANGLES[6] = {0, 1, 2, 0, 2, 3};

#define UPPER                                                                                                        \
    {                                                                                                                \
        .name = "upper", .shape = DRAPE_COLLIDER_SPHERE, .radius = RADIUS, .friction = 0.3, .key_count = 3,          \
        .key = DOWN                                                                                                  \
    }

static const drape_collider BALLS[] = {
    UPPER,
    {.name = "lower", .shape = DRAPE_COLLIDER_SPHERE, .radius = RADIUS, .friction = 0.3, .key_count = 3, .key = UP}};
static const drape_collider ON_PLANE[] = {
    UPPER, {.name = "lower", .shape = DRAPE_COLLIDER_PLANE, .friction = 0.3, .key_count = 1, .key = &JUST_BELOW}};
static const drape_collider ON_BOX[] = {UPPER,
                                        {.name = "lower",
                                         .shape = DRAPE_COLLIDER_BOX,
                                         .size = {0.2, 0.2, 0.036},
                                         .friction = 0.3,
                                         .key_count = 1,
                                         .key = &BELOW}};
static const drape_collider CAPSULES[] = {UPPER,
                                          {.name = "lower",
                                           .shape = DRAPE_COLLIDER_CAPSULE,
                                           .radius = RADIUS,
                                           .length = 0.2,
                                           .rotation = {0, 1.57, 0},
                                           .friction = 0.3,
                                           .key_count = 3,
                                           .key = UP}};
#define OPEN_PLATE(title, keys, motion)                                                                              \
    {                                                                                                                \
        .name = title, .shape = DRAPE_COLLIDER_MESH, .vertices = 4, .positions = PLATE, .triangles = 2,              \
        .triangle = PLATE_TRIANGLES, .key_count = keys, .key = motion                                                \
    }

static const drape_collider ON_OPEN_MESH[] = {UPPER, OPEN_PLATE("lower", 0, NULL)};
static const drape_collider OPEN_MESHES[] = {OPEN_PLATE("upper", 2, FALLING), OPEN_PLATE("lower", 0, NULL)};

static test_drop start(drape_context *ctx, const drape_collider jaws[2], const char *method, drape_pinch pinch) {
    test_drop d = {.cells = CELLS,
                   .width = 0.3,
                   .friction = 0.3,
                   .step = STEP,
                   .method = method,
                   .self = true,
                   .colliders = jaws,
                   .collider_count = 2};
    test_drop_scene(ctx, &d);
    d.contact.pinch = pinch;
    d.strip->scene.contact = &d.contact;
    memset(d.strip->scene.forces.gravity, 0, sizeof d.strip->scene.forces.gravity);
    return d;
}

/* test_drop_start keeps the address of the settings. */
static void set_off(test_drop *d) {
    d->strip->scene.contact = &d->contact;
    test_drop_start(d);
}

/* ---- Yielding ---- */

/* A sheet at rest without gravity has nothing to solve for, so that nothing is asked of the solver. */
static drape_crossings_result step_and_count(test_drop *d) {
    drape_crossings_result found;
    ASSERT_OK(d->strip->ctx, drape_sim_step(d->sim, &d->last));
    for (int32_t i = 0; i < d->collider_count; i++)
        ASSERT_OK(d->strip->ctx, drape_collider_surface_at(d->surface[i], d->last.time, d->at[i]));
    ASSERT_OK(d->strip->ctx,
              drape_crossings_count(d->search, drape_sim_positions(d->sim), (const double *const *)d->at, &found));
    return found;
}

/* Of cloth with cloth never one, of cloth with colliders none once they are apart. */
static void watch(test_drop *d) {
    const drape_crossings_result found = step_and_count(d);
    assert_int_equal(found.self.edges + found.self.triangles, 0);
    if (d->last.time >= OPEN) assert_int_equal(found.others.edges + found.others.triangles, 0);
    if (d->last.time >= OPEN) assert_int_equal(d->last.contact.pinched, 0);
}

static int64_t run_and_watch(test_drop *d) {
    int64_t most = 0;
    double stretch = 1;
    for (int32_t i = 0; i < STEPS; i++) {
        watch(d);
        if (d->last.contact.pinched > most) most = d->last.contact.pinched;
        stretch = fmax(stretch, d->last.stretch);
    }
    assert_true(stretch < 1.1);
    return most;
}

static void yields(drape_context *ctx, const drape_collider jaws[2], const char *method) {
    test_drop d = start(ctx, jaws, method, DRAPE_PINCH_YIELD);
    set_off(&d);
    int64_t most = run_and_watch(&d);
    print_message("%s and %s, %s: up to %d vertices pinched\n", drape_collider_shape_name(jaws[0].shape),
                  drape_collider_shape_name(jaws[1].shape), method, (int)most);
    assert_true(most > 0 && most < VERTICES / 2);
    for (int32_t v = 0; jaws[1].shape == DRAPE_COLLIDER_PLANE && v < VERTICES; v++)
        assert_true(drape_sim_positions(d.sim)[3 * v + 2] > -0.002);
    test_drop_destroy(&d);
}

static void test_cloth_yields_until_they_are_apart(void **state) {
    static const char *const methods[] = {DRAPE_LINEARISED_EULER, "bdf2"};
    const drape_collider *const jaws[] = {BALLS, ON_PLANE, ON_BOX, CAPSULES};
    drape_context *ctx = test_context(2);
    (void)state;
    for (size_t j = 0; j < sizeof jaws / sizeof *jaws; j++)
        for (size_t m = 0; m < 2; m++) yields(ctx, jaws[j], methods[m]);
    drape_context_destroy(ctx);
}

/* ---- Failing ---- */

static void fails(drape_context *ctx, const drape_collider jaws[2], const char *method, drape_pinch pinch) {
    static double before[3 * VERTICES];
    test_drop d = start(ctx, jaws, method, pinch);
    set_off(&d);
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < STEPS && !status; i++) {
        memcpy(before, drape_sim_positions(d.sim), sizeof before);
        status = drape_sim_step(d.sim, &d.last);
    }
    assert_int_equal(status, DRAPE_ERROR_NUMBER);
    const char *message = drape_message(ctx);
    if (!strstr(message, "no space") || !strstr(message, "(upper)") || !strstr(message, "(lower)"))
        fail_msg("\"%s\" does not name both", message);
    assert_memory_equal(before, drape_sim_positions(d.sim), sizeof before);
    test_drop_destroy(&d);
}

static void test_failing_names_both(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    fails(ctx, BALLS, DRAPE_LINEARISED_EULER, DRAPE_PINCH_FAIL);
    fails(ctx, BALLS, "bdf2", DRAPE_PINCH_FAIL);
    fails(ctx, ON_PLANE, DRAPE_LINEARISED_EULER, DRAPE_PINCH_FAIL);
    fails(ctx, ON_BOX, DRAPE_LINEARISED_EULER, DRAPE_PINCH_FAIL);
    drape_context_destroy(ctx);
}

/* Of a mesh without an inside nobody could tell on which side the cloth comes out: only the ball is set aside. */
static void test_open_meshes_are_never_set_aside(void **state) {
    drape_context *ctx = test_context(1);
    test_drop d = start(ctx, ON_OPEN_MESH, DRAPE_LINEARISED_EULER, DRAPE_PINCH_YIELD);
    int64_t pinched = 0;
    (void)state;
    set_off(&d);
    for (int32_t i = 0; i < STEPS; i++) {
        const drape_crossings_result found = step_and_count(&d);
        for (int64_t k = 0; k < found.count; k++)
            assert_true(found.crossings[k].body[0] != 2 && found.crossings[k].body[1] != 2);
        pinched += d.last.contact.pinched;
    }
    assert_true(pinched > 0);
    test_drop_destroy(&d);
    fails(ctx, ON_OPEN_MESH, DRAPE_LINEARISED_EULER, DRAPE_PINCH_FAIL);
    fails(ctx, OPEN_MESHES, DRAPE_LINEARISED_EULER, DRAPE_PINCH_YIELD);
    drape_context_destroy(ctx);
}

/* ---- Bits and checkpoints ---- */

static void go_on(test_drop *d, int32_t steps, double *out) {
    for (int32_t i = 0; i < steps; i++) ASSERT_OK(d->strip->ctx, drape_sim_step(d->sim, &d->last));
    memcpy(out, drape_sim_positions(d->sim), 3 * VERTICES * sizeof *out);
    memcpy(out + 3 * VERTICES, drape_sim_velocities(d->sim), 3 * VERTICES * sizeof *out);
}

static void check_bits(const char *method) {
    static double want[NUMBERS], got[NUMBERS];
    for (int32_t threads = 1; threads <= 3; threads += 2) {
        drape_context *ctx = test_context(threads);
        test_drop d = start(ctx, ON_BOX, method, DRAPE_PINCH_YIELD);
        set_off(&d);
        go_on(&d, STEPS, threads == 1 ? want : got);
        test_drop_destroy(&d);
        drape_context_destroy(ctx);
    }
    assert_memory_equal(got, want, sizeof want);
}

static void test_bits_do_not_depend_on_threads(void **state) {
    (void)state;
    check_bits(DRAPE_LINEARISED_EULER);
    check_bits("bdf2");
}

static void check_resume(drape_context *ctx, const char *method) {
    static double want[NUMBERS], got[NUMBERS];
    char folder[] = "/tmp/drape-pinch-XXXXXX";
    enum { BEFORE = 25 };
    test_drop first = start(ctx, BALLS, method, DRAPE_PINCH_YIELD),
              second = start(ctx, BALLS, method, DRAPE_PINCH_YIELD);
    assert_non_null(mkdtemp(folder));
    const char *path = test_path_in(folder, "pinch.ckpt");
    set_off(&first);
    set_off(&second);
    go_on(&first, BEFORE, want);
    assert_true(first.last.contact.pinched > 0);
    ASSERT_OK(ctx, drape_sim_save(first.sim, path));
    go_on(&first, STEPS - BEFORE, want);
    ASSERT_OK(ctx, drape_sim_restore(second.sim, path));
    go_on(&second, STEPS - BEFORE, got);
    assert_memory_equal(got, want, sizeof want);
    test_drop_destroy(&first);
    test_drop_destroy(&second);
    test_folder_entries(folder, true);
    rmdir(folder);
}

static void test_checkpoints_hold_what_is_set_aside(void **state) {
    drape_context *ctx = test_context(2);
    (void)state;
    check_resume(ctx, DRAPE_LINEARISED_EULER);
    check_resume(ctx, "bdf2");
    drape_context_destroy(ctx);
}

/* Scenes that differ in how cloth yields, or in what follows the solve, are other scenes. */
static void test_checkpoints_of_other_settings(void **state) {
    static const drape_pinch pinch[] = {DRAPE_PINCH_FAIL, DRAPE_PINCH_YIELD, DRAPE_PINCH_FAIL};
    static const drape_contact_preset preset[] = {DRAPE_CONTACT_ROBUST, DRAPE_CONTACT_ROBUST, DRAPE_CONTACT_PAPER};
    drape_context *ctx = test_context(1);
    uint64_t scene[3];
    (void)state;
    for (int32_t i = 0; i < 3; i++) {
        test_drop d = start(ctx, BALLS, DRAPE_LINEARISED_EULER, pinch[i]);
        d.contact.preset = preset[i];
        set_off(&d);
        scene[i] = d.sim->scene;
        test_drop_destroy(&d);
    }
    assert_true(scene[0] != scene[1] && scene[0] != scene[2] && scene[1] != scene[2]);
    drape_context_destroy(ctx);
}

static char *find_section(char *data, int64_t size, const char *name) {
    for (int64_t i = 0; i + 16 < size; i++)
        if (memcmp(data + i, name, strlen(name) + 1) == 0) return data + i + 16;
    fail_msg("there is no section %s", name);
    return NULL;
}

static void test_checkpoints_that_are_wrong(void **state) {
    static const double wrong[][4] = {{3}, {0.5}, {-1}, {2, 1}, {0, 1}, {1, 1}};
    drape_context *ctx = test_context(1);
    test_drop d = start(ctx, BALLS, DRAPE_LINEARISED_EULER, DRAPE_PINCH_YIELD);
    (void)state;
    set_off(&d);
    int64_t size = drape_i_checkpoint_size(d.sim);
    char *data = malloc((size_t)size);
    assert_non_null(data);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        drape_i_checkpoint_make(d.sim, data);
        memcpy(find_section(data, size, "aside"), wrong[i], sizeof wrong[i]);
        drape_i_checkpoint_seal(data, size);
        assert_int_equal(drape_i_checkpoint_take(d.sim, "test", data, size, size), DRAPE_ERROR_FORMAT);
        assert_non_null(strstr(drape_message(ctx), "pinched by colliders that do not exist"));
    }
    drape_i_checkpoint_make(d.sim, data);
    memcpy(find_section(data, size, "aside"), (const double[4]){1, 2}, 4 * sizeof(double));
    drape_i_checkpoint_seal(data, size);
    ASSERT_OK(ctx, drape_i_checkpoint_take(d.sim, "test", data, size, size));
    free(data);
    test_drop_destroy(&d);
    drape_context_destroy(ctx);
}

/* ---- The preset of the paper ---- */

/* Without truncation, and without crossings all the same. */
static void test_paper_is_safe_too(void **state) {
    static const drape_collider_key key = {.position = {0, 0, -0.06}};
    static const drape_collider ball = {.shape = DRAPE_COLLIDER_SPHERE, .radius = 0.05, .key_count = 1, .key = &key};
    drape_context *ctx = test_context(2);
    test_drop d = {.cells = CELLS, .width = 0.3, .step = STEP, .method = DRAPE_LINEARISED_EULER, .self = true};
    (void)state;
    d.colliders = &ball, d.collider_count = 1;
    test_drop_scene(ctx, &d);
    d.contact.preset = DRAPE_CONTACT_PAPER;
    test_drop_start(&d);
    for (int32_t i = 0; i < 100; i++) {
        test_drop_step(&d);
        assert_int_equal(d.last.contact.truncated, 0);
    }
    test_drop_destroy(&d);
    drape_context_destroy(ctx);
}

static void test_names(void **state) {
    (void)state;
    assert_string_equal(drape_pinch_name(DRAPE_PINCH_FAIL), "fail");
    assert_string_equal(drape_pinch_name(DRAPE_PINCH_YIELD), "yield");
    assert_null(drape_pinch_name((drape_pinch)2));
    assert_string_equal(drape_contact_preset_name(DRAPE_CONTACT_ROBUST), "robust");
    assert_string_equal(drape_contact_preset_name(DRAPE_CONTACT_PAPER), "paper");
    assert_null(drape_contact_preset_name((drape_contact_preset)-1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cloth_yields_until_they_are_apart),
        cmocka_unit_test(test_failing_names_both),
        cmocka_unit_test(test_open_meshes_are_never_set_aside),
        cmocka_unit_test(test_bits_do_not_depend_on_threads),
        cmocka_unit_test(test_checkpoints_hold_what_is_set_aside),
        cmocka_unit_test(test_checkpoints_of_other_settings),
        cmocka_unit_test(test_checkpoints_that_are_wrong),
        cmocka_unit_test(test_paper_is_safe_too),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
