/* The built-in scenes, pins and their motions, what is refused, what stops a run. */
#include "base/elementary.h"
#include "support/strips.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static drape_loaded_scene *make_scene(drape_context *ctx, const char *name, int32_t resolution) {
    drape_loaded_scene *loaded;
    ASSERT_OK(ctx, drape_scene_builtin(ctx, name, resolution, &loaded));
    return loaded;
}

static drape_sim *make_sim(drape_context *ctx, const drape_scene *scene) {
    drape_sim *sim;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    return sim;
}

/* ---- built-in scenes ---- */

/* n vertices a side make m^2 cells, m = n - 1, less r^2 where an L-shape lacks a corner of r x r cells. That takes
 * r^2 vertices too and leaves the outline's length of 4m edges as it was, and every triangle has three edges. */
static void check_counts(const drape_cloth *cloth, int32_t n, bool cut) {
    int32_t m = n - 1, r = cut ? m - m / 2 : 0, cells = m * m - r * r;
    assert_int_equal(drape_cloth_vertices(cloth), n * n - r * r);
    assert_int_equal(drape_cloth_triangles(cloth), 2 * cells);
    assert_int_equal(drape_cloth_hinges(cloth), (3 * 2 * cells - 4 * m) / 2);
}

static int32_t count_pinned(const drape_scene *scene) {
    int32_t count = 0;
    for (int32_t p = 0; p < scene->pin_count; p++) count += scene->pins[p].count;
    return count;
}

static int32_t expected_pins(const char *name, int32_t n) {
    int32_t m = n - 1;
    if (strcmp(name, "pinned") == 0) return 4 * m;
    if (strcmp(name, "drooping") == 0) return 2 * n;
    if (strcmp(name, "reentrant") == 0) return 2 * (m - m / 2) + 1;
    return 4;
}

static void run_scene(drape_context *ctx, const char *name, int32_t n) {
    drape_loaded_scene *loaded = make_scene(ctx, name, n);
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    drape_sim *sim = make_sim(ctx, scene);
    check_counts(drape_sim_cloth(sim), n, strcmp(name, "reentrant") == 0);
    assert_int_equal(count_pinned(scene), expected_pins(name, n));
    assert_string_equal(scene->name, name);
    test_run(ctx, sim, 5);
    assert_int_equal(drape_sim_steps(sim), 5);
    ASSERT_NEAR(drape_sim_time(sim), 5 * scene->step, 1e-15);
    for (int32_t i = 0; i < 3 * drape_cloth_vertices(drape_sim_cloth(sim)); i++)
        assert_true(fabs(drape_sim_positions(sim)[i]) < 2);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
}

static void test_builtin_scenes(void **state) {
    const char *const papers[] = {"pinned", "drooping", "reentrant", "four-corners", "chen"};
    const int32_t resolutions[] = {2, 3, 5, 10, 17};
    for (size_t i = 0; i < sizeof papers / sizeof *papers; i++)
        for (size_t k = 0; k < sizeof resolutions / sizeof *resolutions; k++)
            if (resolutions[k] > 2 || strcmp(papers[i], "reentrant") != 0) /* no L of one cell */
                run_scene(*state, papers[i], resolutions[k]);
}

/* Every scene that ships, small, with and without irregular meshes, a few steps. */
static void test_shipped_scenes(void **state) {
    for (int32_t i = 0; drape_scene_name(i); i++)
        for (int32_t irregular = 0; irregular < 2; irregular++) {
            drape_scene_options options = {.resolution = test_scene_resolution(drape_scene_name(i), 17),
                                           .irregular = irregular};
            drape_loaded_scene *loaded;
            ASSERT_OK(*state, drape_scene_load(*state, drape_scene_name(i), &options, &loaded));
            drape_scene *scene = drape_loaded_scene_edit(loaded);
            drape_sim *sim = make_sim(*state, scene);
            test_run(*state, sim, 5);
            drape_sim_destroy(sim);
            drape_loaded_scene_destroy(loaded);
        }
}

/* ---- pins ---- */

/* Largest distance of a pinned vertex from where its motion has it, m. */
static double farthest_pin(const drape_scene *scene, drape_sim *sim) {
    const double turn = 6.283185307179586, *x = drape_sim_positions(sim), *rest = scene->pieces[0].rest;
    double t = drape_sim_time(sim), most = 0;
    for (int32_t p = 0; p < scene->pin_count; p++)
        for (int32_t i = 0; i < 3 * scene->pins[p].count; i++) {
            const drape_pin *pin = &scene->pins[p];
            int32_t at = 3 * pin->vertices[i / 3] + i % 3;
            double sine = pin->motion.kind == DRAPE_MOTION_SINE ? sin(turn * pin->motion.frequency * t) : 0;
            most = fmax(most, fabs(x[at] - (rest[at] + pin->motion.amplitude[i % 3] * sine)));
        }
    return most;
}

static void test_fixed_pins_do_not_move(void **state) {
    drape_context *ctx = *state;
    const char *names[] = {"pinned", "drooping", "reentrant"};
    for (int32_t k = 0; k < 3; k++) {
        drape_loaded_scene *loaded = make_scene(ctx, names[k], 6);
        drape_scene *scene = drape_loaded_scene_edit(loaded);
        drape_sim *sim = make_sim(ctx, scene);
        for (int32_t i = 0; i < 100; i++) {
            test_run(ctx, sim, 1);
            assert_true(farthest_pin(scene, sim) == 0);
        }
        drape_sim_destroy(sim);
        drape_loaded_scene_destroy(loaded);
    }
}

static void test_sine_pins_do_not_drift(void **state) {
    drape_context *ctx = *state;
    drape_loaded_scene *loaded = make_scene(ctx, "four-corners", 5);
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    drape_sim *sim = make_sim(ctx, scene);
    double amplitude = scene->pins[0].motion.amplitude[2], early = 0, late = 0;
    for (int32_t i = 0; i < 1000; i++) {
        test_run(ctx, sim, 1);
        double *worst = i < 100 ? &early : &late;
        *worst = fmax(*worst, farthest_pin(scene, sim) / amplitude);
    }
    printf("sine pins: off by at most %.2g of the amplitude in steps 1..100, %.2g in 101..1000\n", early, late);
    ASSERT_NEAR(early, 0, 1e-15);
    ASSERT_NEAR(late, 0, 1e-15);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
}

static const double OBLIQUE[3] = {1, -2, 3}, SLIDE[3] = {0.4, 0.1, -0.2}; /* direction; m/s */

static double along(const double *a) { /* the component in the oblique direction */
    return (a[0] * OBLIQUE[0] + a[1] * OBLIQUE[1] + a[2] * OBLIQUE[2]) / sqrt(14);
}

static void slide(drape_pin *pin) {
    pin->directions = 1;
    memcpy(pin->direction[0], OBLIQUE, sizeof OBLIQUE);
    pin->motion.kind = DRAPE_MOTION_LINEAR;
    memcpy(pin->motion.velocity, SLIDE, sizeof SLIDE);
}

/* Every vertex held in one direction: the sheet stays flat, slides along the direction as told, and falls freely
 * across it. */
static void test_oblique_pins_of_a_whole_sheet(void **state) {
    drape_context *ctx = *state;
    test_strip *s = test_strip_create(ctx, 4, 3, 1, 1);
    slide(test_strip_pin(s, 0, 4, 0, 3));
    s->scene.solve.tol = 1e-13;
    drape_sim *sim = test_strip_sim(s);
    const double *x = drape_sim_positions(sim), h = s->scene.step;
    double held = 0, free_error = 0;
    for (int32_t i = 0; i < 100; i++) {
        test_run(ctx, sim, 1);
        double t = drape_sim_time(sim), fall[3] = {0, 0, -9.81 * t * (t + h) / 2};
        for (int32_t v = 0; v < s->mesh.vertices; v++) {
            double moved[3];
            for (int32_t k = 0; k < 3; k++) moved[k] = x[3 * v + k] - s->mesh.rest[3 * v + k];
            held = fmax(held, fabs(along(moved) - along(SLIDE) * t));
            for (int32_t k = 0; k < 3; k++) {
                double across = (moved[k] - fall[k]) - (along(moved) - along(fall)) * OBLIQUE[k] / sqrt(14);
                free_error = fmax(free_error, fabs(across));
            }
        }
    }
    printf("oblique pins: held direction off by %.2g m, free ones by %.2g m\n", held, free_error);
    ASSERT_NEAR(held, 0, 1e-14);
    ASSERT_NEAR(free_error, 0, 1e-10);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

/* One corner held in one direction: it follows, the force on it points that way, no other vertex feels one. */
static void test_oblique_pin_of_a_corner(void **state) {
    drape_context *ctx = *state;
    test_strip *s = test_strip_create(ctx, 4, 3, 1, 1);
    slide(test_strip_pin(s, 0, 0, 0, 0));
    drape_sim *sim = test_strip_sim(s);
    const double *x = drape_sim_positions(sim);
    assert_null(drape_sim_constraint_forces(sim));
    for (int32_t i = 0; i < 200; i++) {
        test_run(ctx, sim, 1);
        const double *f = drape_sim_constraint_forces(sim);
        double size = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
        ASSERT_NEAR(along(x), along(SLIDE) * drape_sim_time(sim), 1e-13);
        ASSERT_NEAR(fabs(along(f)), size, 1e-12 * size);
        for (int32_t k = 3; k < 3 * s->mesh.vertices; k++) assert_true(f[k] == 0);
    }
    double across = fabs(x[2] - along(x) * OBLIQUE[2] / sqrt(14));
    assert_true(across > 1); /* it fell */
    drape_sim_destroy(sim);
    test_strip_destroy(s);
}

static void test_constraint_forces_carry_the_weight(void **state) {
    drape_context *ctx = *state;
    const char *names[] = {"pinned", "drooping", "reentrant"};
    for (int32_t k = 0; k < 3; k++) {
        drape_loaded_scene *loaded = make_scene(ctx, names[k], 9);
        drape_scene *scene = drape_loaded_scene_edit(loaded);
        scene->step = 0.1;                         /* a long step: backward Euler stops all motion soon */
        scene->integration.max_stretch = INFINITY; /* and stretches the cloth on the way */
        scene->solve.tol = 1e-10;
        drape_sim *sim = make_sim(ctx, scene);
        int32_t steps = test_run_to_rest(ctx, sim, 1e-9, 5000), n = drape_cloth_vertices(drape_sim_cloth(sim));
        const double *force = drape_sim_constraint_forces(sim), *mass = drape_cloth_mass(drape_sim_cloth(sim));
        double sum[3] = {0}, weight = 0;
        for (int32_t i = 0; i < 3 * n; i++) sum[i % 3] += force[i] / scene->step;
        for (int32_t i = 0; i < n; i++) weight += 9.81 * mass[i];
        printf("%s after %d steps: pins carry (%.2g, %.2g, %.9g) N of %.9g N\n", names[k], steps, sum[0], sum[1],
               sum[2], weight);
        ASSERT_NEAR(weight, 9.81 * 0.15 * (k == 2 ? 0.75 : 1), 1e-12);
        for (int32_t d = 0; d < 3; d++) ASSERT_NEAR(sum[d], d == 2 ? weight : 0, 1e-6 * weight);
        drape_sim_destroy(sim);
        drape_loaded_scene_destroy(loaded);
    }
}

/* ---- several pins on a vertex ---- */

static void assert_message(drape_context *ctx, const char *part) {
    if (!strstr(drape_message(ctx), part)) fail_msg("\"%s\" does not say \"%s\"", drape_message(ctx), part);
}

typedef struct warnings {
    int32_t count;
    char last[512];
} warnings;

static void note_warning(void *user, drape_log_level level, const char *message) {
    warnings *w = user;
    if (level != DRAPE_LOG_WARNING) return;
    w->count++;
    snprintf(w->last, sizeof w->last, "%s", message);
}

static drape_context *listening_context(warnings *w) {
    drape_context_settings settings = {.threads = 1, .log = note_warning, .log_user = w};
    drape_context *ctx;
    assert_int_equal(drape_context_create(&settings, &ctx), DRAPE_OK);
    return ctx;
}

/* Three pins of one direction each hold as one in all directions does, whatever they move along. */
static void test_pins_of_a_vertex_are_merged(void **state) {
    static const double across[3][3] = {{1, 0, 0}, {1, 1, 0}, {0, 1, 3}};
    static const char *const methods[] = {DRAPE_LINEARISED_EULER, "implicit-euler", "bdf2", "verlet"};
    (void)state;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        warnings w = {0};
        drape_context *ctx = listening_context(&w);
        test_strip *one = test_strip_create(ctx, 4, 3, 1, 1), *three = test_strip_create(ctx, 4, 3, 1, 1);
        for (int k = 0; k < 4; k++) {
            drape_pin *pin = test_strip_pin(k == 0 ? one : three, 0, 0, 0, 3);
            pin->motion = (drape_motion){.kind = DRAPE_MOTION_LINEAR, .velocity = {0.1, -0.2, 0.3}};
            if (k > 0) pin->directions = 1, memcpy(pin->direction[0], across[k - 1], sizeof across[0]);
        }
        one->scene.integration = drape_integration_defaults();
        one->scene.integration.ode.method = methods[m];
        three->scene.integration = one->scene.integration;
        one->scene.step = three->scene.step = 1e-4;
        drape_sim *a = test_strip_sim(one), *b = test_strip_sim(three);
        test_run(ctx, a, 20), test_run(ctx, b, 20);
        for (int32_t i = 0; i < 3 * one->mesh.vertices; i++)
            ASSERT_NEAR(drape_sim_positions(a)[i], drape_sim_positions(b)[i], 1e-11);
        assert_int_equal(w.count, 0);
        drape_sim_destroy(a), drape_sim_destroy(b);
        test_strip_destroy(one), test_strip_destroy(three);
        drape_context_destroy(ctx);
    }
}

/* Pins that pull a vertex to two places: it goes to the middle, and the log says so once, not in every step. */
static void test_contradicting_pins_meet_in_the_middle(void **state) {
    (void)state;
    warnings w = {0};
    drape_context *ctx = listening_context(&w);
    test_strip *s = test_strip_create(ctx, 4, 3, 1, 1);
    for (int k = 0; k < 2; k++) {
        drape_pin *pin = test_strip_pin(s, 2, 2, 1, 1);
        pin->motion = (drape_motion){.kind = DRAPE_MOTION_LINEAR, .velocity = {k, 0, 0}};
        pin->until = k ? 10.5 * s->scene.step : 0;
    }
    drape_sim *sim = test_strip_sim(s);
    const double *x = drape_sim_positions(sim) + 3 * test_strip_vertex(s, 2, 1);
    double start = x[0];
    for (int32_t i = 0; i < 10; i++) {
        test_run(ctx, sim, 1);
        ASSERT_NEAR(x[0], start + 0.5 * drape_sim_time(sim), 1e-14);
    }
    assert_int_equal(w.count, 1);
    assert_non_null(strstr(w.last, "pins 0 and 1"));
    test_run(ctx, sim, 5); /* the second has let go */
    ASSERT_NEAR(x[0], start, 1e-14);
    assert_int_equal(w.count, 1);
    drape_sim_destroy(sim);
    test_strip_destroy(s);
    drape_context_destroy(ctx);
}

/* ---- motions by callback ---- */

static const drape_motion SINE = {
    .kind = DRAPE_MOTION_SINE, .amplitude = {0.01, 0.02, -0.03}, .frequency = 3, .phase = 0.125};

/* What pins.c computes for a sine. */
static void sine(void *user, int32_t vertex, double time, const double start[3], double d[3]) {
    const double two_pi = 6.28318530717958647692;
    const drape_motion *m = user;
    (void)vertex, (void)start;
    for (int k = 0; k < 3; k++)
        d[k] = m->amplitude[k] *
               (drape_i_sin(two_pi * m->frequency * time + two_pi * m->phase) - drape_i_sin(two_pi * m->phase));
}

static void test_a_callback_gives_the_bits_of_what_is_built_in(void **state) {
    drape_context *ctx = *state;
    static const char *const methods[] = {DRAPE_LINEARISED_EULER, "implicit-euler", "bdf3", "rk4"};
    for (size_t m = 0; m < 2 * sizeof methods / sizeof *methods; m++) {
        drape_sim *sim[2];
        test_strip *s[2];
        for (int k = 0; k < 2; k++) {
            s[k] = test_strip_create(ctx, 4, 3, 1, 1);
            drape_pin *pin = test_strip_pin(s[k], 0, 0, 0, 3);
            pin->motion = SINE;
            if (k)
                pin->motion = (drape_motion){.kind = DRAPE_MOTION_CALLBACK, .function = sine, .user = (void *)&SINE};
            s[k]->scene.step = 1e-4;
            pin->from = m % 2 ? 3.5e-4 : 0; /* it takes hold on the way */
            s[k]->scene.integration = drape_integration_defaults();
            s[k]->scene.integration.ode.method = methods[m / 2];
            sim[k] = test_strip_sim(s[k]);
            test_run(ctx, sim[k], 20);
        }
        for (int32_t i = 0; i < 3 * s[0]->mesh.vertices; i++)
            assert_true(drape_sim_positions(sim[0])[i] == drape_sim_positions(sim[1])[i]);
        for (int k = 0; k < 2; k++) drape_sim_destroy(sim[k]), test_strip_destroy(s[k]);
    }
}

typedef struct breaking {
    double from;   /* s: not finite from then on */
    bool nothing;  /* it writes nothing instead */
    double low[3]; /* where vertices started, at least */
} breaking;

static void break_down(void *user, int32_t vertex, double time, const double start[3], double d[3]) {
    breaking *b = user;
    for (int k = 0; k < 3; k++) b->low[k] = fmin(b->low[k], start[k]);
    if (time > b->from && b->nothing) return;
    for (int k = 0; k < 3; k++) d[k] = time > b->from && vertex == 5 ? INFINITY : time;
}

static void test_a_callback_that_is_not_finite_fails_the_step(void **state) {
    drape_context *ctx = *state;
    for (int nothing = 0; nothing < 2; nothing++) {
        test_strip *s = test_strip_create(ctx, 4, 3, 1, 1);
        breaking b = {.from = 3.5 * s->scene.step, .nothing = nothing, .low = {1, 1, 1}};
        test_strip_pin(s, 4, 4, 3, 3);
        drape_pin *pin = test_strip_pin(s, 0, 0, 0, 3);
        pin->motion = (drape_motion){.kind = DRAPE_MOTION_CALLBACK, .function = break_down, .user = &b};
        assert_int_equal(test_strip_vertex(s, 0, 1), 5);
        drape_sim *sim = test_strip_sim(s);
        test_run(ctx, sim, 3);
        double before = drape_sim_positions(sim)[3], message_time = 4 * s->scene.step;
        assert_int_equal(drape_sim_step(sim, NULL), DRAPE_ERROR_NUMBER);
        char want[64];
        snprintf(want, sizeof want, "at t = %g s", message_time);
        assert_message(ctx, "pin 1");
        assert_message(ctx, nothing ? "vertex 0" : "vertex 5");
        assert_message(ctx, want);
        assert_int_equal(drape_sim_steps(sim), 3);
        assert_true(drape_sim_positions(sim)[3] == before);
        assert_true(b.low[0] == 0 && b.low[1] == 0 && b.low[2] == 0);
        b.from = 1; /* mended: the run goes on */
        test_run(ctx, sim, 2);
        drape_sim_destroy(sim);
        test_strip_destroy(s);
    }
}

/* ---- what is refused ---- */

static void test_unknown_scenes(void **state) {
    const struct {
        const char *name;
        int32_t resolution;
        const char *message;
    } wrong[] = {{"no-such-scene", 0, "no-such-scene"},
                 {"pinned", 1, "resolution is 1"},
                 {"pinned", -1, "resolution is -1"},
                 {"drooping", 8193, "resolution is 8193"},
                 {"", 0, "unknown scene"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        drape_loaded_scene *loaded = (drape_loaded_scene *)1;
        int64_t bytes = drape_context_bytes(*state);
        assert_int_equal(drape_scene_builtin(*state, wrong[i].name, wrong[i].resolution, &loaded),
                         DRAPE_ERROR_ARGUMENT);
        assert_null(loaded);
        assert_message(*state, wrong[i].message);
        assert_int_equal(drape_context_bytes(*state), bytes);
    }
}

static void refuse(test_strip *s, const char *message) {
    drape_sim *sim = (drape_sim *)1;
    int64_t bytes = drape_context_bytes(s->ctx);
    assert_int_equal(drape_sim_create(s->ctx, &s->scene, &sim), DRAPE_ERROR_ARGUMENT);
    assert_null(sim);
    assert_message(s->ctx, message);
    assert_int_equal(drape_context_bytes(s->ctx), bytes);
}

static void test_wrong_steps(void **state) {
    const double steps[] = {0, -0.01, NAN, INFINITY};
    test_strip *s = test_strip_create(*state, 2, 2, 1, 1);
    for (int32_t i = 0; i < 4; i++) {
        s->scene.step = steps[i];
        refuse(s, "time step");
    }
    s->scene.step = 0.01;
    s->scene.steps_per_frame = 0;
    refuse(s, "0 steps per frame");
    s->scene.steps_per_frame = 1, s->scene.frames = -1;
    refuse(s, "-1 frames");
    test_strip_destroy(s);
}

static void test_wrong_pins(void **state) {
    int32_t vertices[] = {3, 5};
    test_strip *s = test_strip_create(*state, 2, 2, 1, 1);
    drape_pin good = {.count = 2, .vertices = vertices, .directions = 2, .direction = {{1, 0, 0}, {0, 0, 4}}};
    s->scene.pin_count = 1;
#define REFUSE(change, message)                                                                                      \
    do {                                                                                                             \
        s->pins[0] = good;                                                                                           \
        change;                                                                                                      \
        refuse(s, message);                                                                                          \
        vertices[0] = 3, vertices[1] = 5;                                                                            \
    } while (0)
    REFUSE(vertices[1] = 9, "vertex 9");
    REFUSE(vertices[1] = -1, "vertex -1");
    REFUSE(s->pins[0].direction[1][2] = 0, "vertex 3: direction 1");
    REFUSE(s->pins[0].direction[0][0] = 0, "vertex 3: direction 0");
    REFUSE(s->pins[0].direction[1][2] = NAN, "vertex 3: direction 1");
    REFUSE((s->pins[0].direction[1][0] = -7, s->pins[0].direction[1][2] = 0), "vertex 3: direction 1");
    REFUSE(s->pins[0].directions = 0, "pin 0");
    REFUSE(s->pins[0].directions = 4, "pin 0");
    REFUSE(s->pins[0].count = -1, "pin 0");
    REFUSE(s->pins[0].vertices = NULL, "pin 0");
    REFUSE(s->pins[0].motion.velocity[1] = INFINITY, "pin 0");
    REFUSE(s->pins[0].motion.frequency = NAN, "pin 0");
    REFUSE(s->pins[0].motion.kind = DRAPE_MOTION_CALLBACK, "pin 0: a motion by callback without a function");
    REFUSE(s->pins[0].motion.centre[2] = NAN, "pin 0");
    REFUSE(s->pins[0].motion.kind = (drape_motion_kind)9, "pin 0: unknown kind of motion 9");
    s->scene.pin_count = 2;
    REFUSE((s->pins[1] = good, s->pins[1].count = -1), "pin 1"); /* the sum alone would look right */
#undef REFUSE
    s->scene.pin_count = 1;
    s->pins[0] = good;
    drape_sim_destroy(test_strip_sim(s));
    s->scene.pin_count = 0;
    test_strip_destroy(s);
}

/* ---- numbers that are not finite ---- */

/* Runs until it fails; then the state must be that of before the step, to the bit, and finite. */
static void run_to_failure(drape_context *ctx, drape_sim *sim, const char *vertex) {
    int32_t n = 3 * drape_cloth_vertices(drape_sim_cloth(sim));
    size_t bytes = (size_t)n * sizeof(double);
    double *x = malloc(bytes), *v = malloc(bytes);
    assert_true(x && v);
    drape_status status = DRAPE_OK;
    char step[64];
    int64_t done = 0;
    while (!status && done < 2000) {
        done = drape_sim_steps(sim);
        memcpy(x, drape_sim_positions(sim), bytes), memcpy(v, drape_sim_velocities(sim), bytes);
        status = drape_sim_step(sim, NULL);
    }
    printf("%s\n", drape_message(ctx));
    assert_int_equal(status, DRAPE_ERROR_NUMBER);
    snprintf(step, sizeof step, "step %lld ", (long long)done + 1);
    assert_message(ctx, step);
    assert_message(ctx, vertex);
    assert_int_equal(drape_sim_steps(sim), done);
    assert_memory_equal(x, drape_sim_positions(sim), bytes);
    assert_memory_equal(v, drape_sim_velocities(sim), bytes);
    for (int32_t i = 0; i < n; i++) assert_true(isfinite(x[i]) && isfinite(v[i]));
    free(x), free(v);
}

static void test_huge_forces_stop_the_run(void **state) {
    const double sizes[] = {1e308, 1e200, 1e154, 1e100, 1e60}; /* N */
    for (int32_t i = 0; i < 5; i++) {
        test_strip *s = test_strip_create(*state, 3, 3, 1, 1);
        double force[3 * 16] = {0};
        force[3 * 6 + 2] = sizes[i];
        s->scene.forces.vertex = force;
        drape_sim *sim = test_strip_sim(s);
        run_to_failure(*state, sim, i < 2 ? "vertex 6 " : "vertex ");
        drape_sim_destroy(sim);
        test_strip_destroy(s);
    }
}

/* What went wrong can be put right: the run goes on from the state before. */
static void test_run_goes_on_after_a_failure(void **state) {
    drape_context *ctx = *state;
    test_strip *s = test_strip_create(ctx, 3, 3, 1, 1), *calm = test_strip_create(ctx, 3, 3, 1, 1);
    double force[3 * 16] = {0};
    s->scene.forces.vertex = force;
    drape_sim *sim = test_strip_sim(s), *other = test_strip_sim(calm);
    test_run(ctx, sim, 3);
    force[2] = 1e308;
    run_to_failure(ctx, sim, "step 4 ");
    force[2] = 0;
    test_run(ctx, sim, 3);
    test_run(ctx, other, 6);
    for (int32_t i = 0; i < 3 * s->mesh.vertices; i++)
        ASSERT_NEAR(drape_sim_positions(sim)[i], drape_sim_positions(other)[i], 1e-12);
    drape_sim_destroy(sim), drape_sim_destroy(other);
    test_strip_destroy(s), test_strip_destroy(calm);
}

int main(void) {
    drape_context *ctx = test_context(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_builtin_scenes, ctx),
        cmocka_unit_test_prestate(test_shipped_scenes, ctx),
        cmocka_unit_test_prestate(test_fixed_pins_do_not_move, ctx),
        cmocka_unit_test_prestate(test_sine_pins_do_not_drift, ctx),
        cmocka_unit_test_prestate(test_oblique_pins_of_a_whole_sheet, ctx),
        cmocka_unit_test_prestate(test_oblique_pin_of_a_corner, ctx),
        cmocka_unit_test_prestate(test_constraint_forces_carry_the_weight, ctx),
        cmocka_unit_test_prestate(test_pins_of_a_vertex_are_merged, ctx),
        cmocka_unit_test_prestate(test_contradicting_pins_meet_in_the_middle, ctx),
        cmocka_unit_test_prestate(test_a_callback_gives_the_bits_of_what_is_built_in, ctx),
        cmocka_unit_test_prestate(test_a_callback_that_is_not_finite_fails_the_step, ctx),
        cmocka_unit_test_prestate(test_unknown_scenes, ctx),
        cmocka_unit_test_prestate(test_wrong_steps, ctx),
        cmocka_unit_test_prestate(test_wrong_pins, ctx),
        cmocka_unit_test_prestate(test_huge_forces_stop_the_run, ctx),
        cmocka_unit_test_prestate(test_run_goes_on_after_a_failure, ctx),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    drape_context_destroy(ctx);
    return failed;
}
