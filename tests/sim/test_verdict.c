/* Steps that cannot be believed fail, and what a run is said to have done is true. */
#include "drape/io.h"
#include "support/testing.h"

#include <math.h>
#include <string.h>

enum { SIDE = 11 };

typedef struct course {
    drape_verdict verdict;
    double energy; /* J, at the end: kinetic and all potentials */
} course;

static double total(const drape_certificate_energy *e) {
    double sum = e->kinetic;
    for (int32_t i = 0; i < e->force_count; i++) sum += isnan(e->force[i].energy) ? 0 : e->force[i].energy;
    return sum;
}

/* A scene that ships for so long, s. Fabrics do not damp: what is gone, the steps took. */
static course run(drape_context *ctx, const char *name, const char *method, double step, double until) {
    drape_loaded_scene *loaded;
    drape_sim *sim;
    drape_certificate c = {0};
    course out = {0};
    ASSERT_OK(ctx, drape_scene_builtin(ctx, name, SIDE, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    drape_material *m = &scene->pieces[0].material;
    m->damping_stretch = m->damping_shear = m->damping_bend = 0;
    scene->integration.ode.method = method;
    scene->integration.ode.newton.tolerance = 1e-6;
    scene->step = step;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    while (drape_sim_time(sim) < until - 0.5 * step) {
        ASSERT_OK(ctx, drape_sim_step(sim, &c));
        drape_verdict_add(&out.verdict, &c);
    }
    out.energy = total(&c.energy);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    return out;
}

/* The same motion in steps of a tenth, by a method of second order, loses hardly anything: how much more energy is
 * left there is what the long steps took. */
static void damping_agrees_with_short_steps(void **state) {
    drape_context *ctx = *state;
    const struct {
        const char *scene, *method;
        double step, until;
    } cases[] = {{"drooping", "bdf2", 4e-3, 0.2},
                 {"drooping", DRAPE_LINEARISED_EULER, 2e-3, 0.2},
                 {"reentrant", "implicit-euler", 2e-3, 0.2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        course lossy = run(ctx, cases[i].scene, cases[i].method, cases[i].step, cases[i].until);
        course fine = run(ctx, cases[i].scene, "bdf2", 0.1 * cases[i].step, cases[i].until);
        double gone = fine.energy - lossy.energy;
        print_message("%s, %s: %.3g J by the verdict (%.3g of the energy), %.3g J less than in short steps\n",
                      cases[i].scene, cases[i].method, lossy.verdict.integrator, lossy.verdict.share, gone);
        ASSERT_NEAR(lossy.verdict.integrator, gone, 0.2 * fabs(gone));
        assert_true(lossy.verdict.share > 0 && lossy.verdict.share < 1);
        assert_int_equal(lossy.verdict.unconverged, 0);
        assert_false(lossy.verdict.touched);
    }
}

static void largest_stretch_and_when(void **state) {
    (void)state;
    drape_certificate c = {.linear = {.reason = DRAPE_CONVERGED}};
    drape_verdict v = {0};
    const double stretch[] = {1.01, 1.3, 1.2};
    for (int32_t i = 0; i < 3; i++) {
        c.time = 0.1 * (i + 1);
        c.stretch = stretch[i];
        c.linear.reason = i == 2 ? DRAPE_ITERATION_LIMIT : DRAPE_CONVERGED;
        drape_verdict_add(&v, &c);
    }
    drape_verdict_add(NULL, &c);
    drape_verdict_add(&v, NULL);
    assert_true(v.stretch == 1.3 && v.stretch_time == 0.2);
    assert_true(v.steps == 3 && v.unconverged == 1 && v.share == 0);
}

/* ---- max_stretch ---- */

static drape_loaded_scene *pulled(drape_context *ctx, double most) {
    static const char text[] =
        "drape: 1\n"
        "cloth:\n"
        "  - {name: other, grid: {resolution: 3}}\n"
        "  - name: sheet\n"
        "    grid: {width: 1 m, resolution: 5}\n"
        "    pins: [{where: left-edge}, {where: right-edge, move: {linear: {velocity: [4, 0, 0]}}}]\n";
    drape_loaded_scene *loaded;
    ASSERT_OK(ctx, drape_scene_parse(ctx, "pulled", text, (int64_t)strlen(text), NULL, &loaded));
    drape_loaded_scene_edit(loaded)->integration.max_stretch = most;
    return loaded;
}

/* The step fails, names piece and vertex, and leaves the state as it was. */
static void stretch_is_limited(void **state) {
    drape_context *ctx = *state;
    const double limits[] = {0, 2, 1.25, 3};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        drape_loaded_scene *loaded = pulled(ctx, limits[i]);
        drape_sim *sim;
        drape_status status = DRAPE_OK;
        double most = limits[i] > 0 ? limits[i] : 2;
        ASSERT_OK(ctx, drape_sim_create(ctx, drape_loaded_scene_data(loaded), &sim));
        while (!status && drape_sim_time(sim) < 1) status = drape_sim_step(sim, NULL);
        assert_int_equal(status, DRAPE_ERROR_NUMBER);
        assert_non_null(strstr(drape_message(ctx), "of sheet, and max_stretch is"));
        assert_non_null(strstr(drape_message(ctx), "pins hold sheet"));
        double reached = drape_cloth_stretch(drape_sim_cloth(sim), drape_sim_positions(sim));
        assert_true(reached <= most && reached > 0.97 * most);
        drape_sim_destroy(sim);
        drape_loaded_scene_destroy(loaded);
    }
}

static void no_limit(void **state) {
    drape_context *ctx = *state;
    drape_loaded_scene *loaded = pulled(ctx, INFINITY);
    drape_sim *sim;
    ASSERT_OK(ctx, drape_sim_create(ctx, drape_loaded_scene_data(loaded), &sim));
    while (drape_sim_time(sim) < 0.5) ASSERT_OK(ctx, drape_sim_step(sim, NULL));
    assert_true(drape_cloth_stretch(drape_sim_cloth(sim), drape_sim_positions(sim)) > 2.5);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
}

/* Cloth that starts beyond the limit may come back. */
static void on_its_way_back(void **state) {
    drape_context *ctx = *state;
    drape_loaded_scene *loaded;
    drape_sim *sim;
    double x[3 * SIDE * SIDE];
    ASSERT_OK(ctx, drape_scene_builtin(ctx, "drooping", SIDE, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    scene->pin_count = 0;
    scene->integration.ode.method = "implicit-euler";
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    for (int32_t i = 0; i < 3 * SIDE * SIDE; i++) x[i] = 3 * drape_sim_positions(sim)[i];
    ASSERT_OK(ctx, drape_sim_set_state(sim, x, NULL));
    ASSERT_OK(ctx, drape_sim_step(sim, NULL));
    assert_true(drape_cloth_stretch(drape_sim_cloth(sim), drape_sim_positions(sim)) < 3);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
}

static void nonsense_is_refused(void **state) {
    drape_context *ctx = *state;
    const double bad[] = {1, 0.5, -2, NAN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        drape_loaded_scene *loaded = pulled(ctx, bad[i]);
        drape_sim *sim;
        assert_int_equal(drape_sim_create(ctx, drape_loaded_scene_data(loaded), &sim), DRAPE_ERROR_ARGUMENT);
        assert_non_null(strstr(drape_message(ctx), "max_stretch"));
        drape_loaded_scene_destroy(loaded);
    }
}

/* ---- what can be foreseen ---- */

typedef struct heard {
    int32_t count;
    char code[4][32];
} heard;

static void hear(void *user, const drape_finding *f) {
    heard *h = user;
    assert_true(h->count < 4 && strlen(f->code) < 32);
    strcpy(h->code[h->count++], f->code);
    assert_true(f->severity == DRAPE_SEVERITY_WARNING && f->advice);
}

static void mishaps_are_foreseen(void **state) {
    drape_context *ctx = *state;
    drape_loaded_scene *loaded = pulled(ctx, 0);
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    heard h = {0};
    const drape_check_options how = {.finding = hear, .user = &h};
    ASSERT_OK(ctx, drape_check_scene(ctx, scene, &how, NULL));
    assert_true(h.count == 1 && strcmp(h.code[0], "pins-apart") == 0);
    scene->frames = 2; /* the pins do not get as far: 1.32 times the length */
    h.count = 0;
    ASSERT_OK(ctx, drape_check_scene(ctx, scene, &how, NULL));
    assert_int_equal(h.count, 1);
    scene->frames = 0;
    scene->forces.wind[0] = 300;
    scene->forces.drag = 1.2;
    scene->step = 3;
    h.count = 0;
    ASSERT_OK(ctx, drape_check_scene(ctx, scene, &how, NULL));
    assert_true(h.count == 2 && strcmp(h.code[0], "large-step") == 0 && strcmp(h.code[1], "odd-wind") == 0);
    drape_check_summary summary;
    ASSERT_OK(ctx, drape_check_scene(ctx, scene, &how, &summary));
    assert_true(summary.residual == -1 && !summary.at_rest); /* nobody looked */
    assert_int_equal(drape_check_scene(ctx, NULL, &how, NULL), DRAPE_ERROR_ARGUMENT);
    drape_loaded_scene_destroy(loaded);
}

static void no_scene_that_ships_warns(void **state) {
    drape_context *ctx = *state;
    for (int32_t i = 0; drape_scene_name(i); i++) {
        drape_loaded_scene *loaded;
        drape_check_summary sum;
        ASSERT_OK(ctx, drape_scene_load(ctx, drape_scene_name(i), NULL, &loaded));
        ASSERT_OK(ctx, drape_check_scene(ctx, drape_loaded_scene_data(loaded), NULL, &sum));
        assert_int_equal(sum.warnings, 0);
        assert_true(sum.pieces > 0 && sum.swing_loss >= 0 && sum.swing_loss < 0.9);
        drape_loaded_scene_destroy(loaded);
    }
}

int main(void) {
    drape_context *ctx = test_context(2);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(damping_agrees_with_short_steps, ctx),
        cmocka_unit_test_prestate(largest_stretch_and_when, ctx),
        cmocka_unit_test_prestate(stretch_is_limited, ctx),
        cmocka_unit_test_prestate(no_limit, ctx),
        cmocka_unit_test_prestate(on_its_way_back, ctx),
        cmocka_unit_test_prestate(nonsense_is_refused, ctx),
        cmocka_unit_test_prestate(mishaps_are_foreseen, ctx),
        cmocka_unit_test_prestate(no_scene_that_ships_warns, ctx),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    drape_context_destroy(ctx);
    return failed;
}
