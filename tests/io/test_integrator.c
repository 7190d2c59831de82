/* The section `integrator` of a scene: what each key sets, and what goes before what. */
#include "drape/io.h"
#include "support/testing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static drape_status parse(drape_context *ctx, const char *section, const char *option, drape_loaded_scene **out) {
    char text[1000];
    int size = snprintf(text, sizeof text, "drape: 1\ncloth: [{grid: {width: 1 m, resolution: 3}}]\n%s\n", section);
    return drape_scene_parse(ctx, "test.yaml", text, size, &(drape_scene_options){.integrator = option}, out);
}

static drape_integration read_section(drape_context *ctx, const char *section, const char *option) {
    drape_loaded_scene *loaded;
    ASSERT_OK(ctx, parse(ctx, section, option, &loaded));
    drape_integration s =
        drape_loaded_scene_data(loaded)->integration; /* its names are those of the library's tables */
    drape_loaded_scene_destroy(loaded);
    return s;
}

static void test_nothing_is_the_default(void **state) {
    drape_integration s = read_section(*state, "", NULL), usual = drape_integration_defaults();
    assert_string_equal(s.ode.method, "bdf2");
    assert_int_equal(s.ode.newton.kind, usual.ode.newton.kind);
    assert_true(s.ode.newton.rtol == usual.ode.newton.rtol && s.ode.newton.atol == usual.ode.newton.atol);
    assert_int_equal(s.ode.newton.line_search, usual.ode.newton.line_search);
    assert_int_equal(s.ode.control, DRAPE_ODE_FIXED);
    assert_int_equal(s.unknowns, DRAPE_UNKNOWN_VELOCITY);
    assert_int_equal(s.mass, DRAPE_MASS_LUMPED);
}

static void test_every_name_is_a_word(void **state) {
    for (int32_t i = 0; drape_integrator_name(i); i++) {
        char section[64];
        snprintf(section, sizeof section, "integrator: %s", drape_integrator_name(i));
        assert_string_equal(read_section(*state, section, NULL).ode.method, drape_integrator_name(i));
        assert_string_equal(read_section(*state, "integrator: bdf3", drape_integrator_name(i)).ode.method,
                            drape_integrator_name(i));
    }
}

static void test_every_key(void **state) {
    drape_integration s = read_section(
        *state,
        "integrator:\n"
        "  method: bdf2\n"
        "  newton: {kind: simplified, eta: 0.1, max_iterations: 7, rtol: 1e-5, atol: 1 mm/s, line_search: descent, "
        "guess: state}\n"
        "  control: {by: error, rtol: 1e-4, atol: 1 mm, atol_v: 2 mm/s, min_step: 1 us, max_step: 3 ms, few: 3, "
        "many: "
        "9}\n"
        "  unknowns: position\n"
        "  mass: consistent\n"
        "  on_failure: continue\n",
        NULL);
    const drape_ode_newton *n = &s.ode.newton;
    assert_string_equal(s.ode.method, "bdf2");
    assert_int_equal(n->kind, DRAPE_ODE_SIMPLIFIED);
    ASSERT_NEAR(n->eta, 0.1, 1e-15);
    assert_int_equal(n->max_iterations, 7);
    ASSERT_NEAR(n->rtol, 1e-5, 1e-18);
    ASSERT_NEAR(n->atol, 1e-3, 1e-16);
    assert_int_equal(n->line_search, DRAPE_ODE_SEARCH_DESCENT);
    assert_int_equal(n->guess_from_state, 1);
    assert_int_equal(n->keep_unconverged, 1);
    assert_int_equal(s.ode.control, DRAPE_ODE_ERROR);
    ASSERT_NEAR(s.ode.rtol, 1e-4, 1e-17);
    ASSERT_NEAR(s.ode.atol, 1e-3, 1e-16);
    ASSERT_NEAR(s.ode.atol_v, 2e-3, 1e-16);
    ASSERT_NEAR(s.ode.min_step, 1e-6, 1e-18);
    ASSERT_NEAR(s.ode.max_step, 3e-3, 1e-16);
    assert_int_equal(s.ode.few, 3);
    assert_int_equal(s.ode.many, 9);
    assert_int_equal(s.unknowns, DRAPE_UNKNOWN_POSITION);
    assert_int_equal(s.mass, DRAPE_MASS_CONSISTENT);
}

static void test_kinds_are_words_too(void **state) {
    drape_integration s = read_section(
        *state, "integrator: {method: implicit-euler, newton: eisenstat-walker, control: newtons}", NULL);
    assert_int_equal(s.ode.newton.kind, DRAPE_ODE_EISENSTAT_WALKER);
    assert_int_equal(s.ode.control, DRAPE_ODE_NEWTONS);
    assert_int_equal(s.ode.newton.max_iterations, drape_integration_defaults().ode.newton.max_iterations);
}

static void test_what_does_not_go_together(void **state) {
    drape_context *ctx = *state;
    static const char *const sections[] = {
        "integrator: {method: bdf2, newton: {rtol: 0, atol: 0}}",
        "integrator: {method: bdf2, newton: matrix-free}",
        "integrator: {method: bdf2, control: {by: error, rtol: 0, atol: 0}}",
        "integrator: {method: bdf2, control: {by: newtons, few: 5, many: 5}}",
        "integrator: {method: verlet, control: newtons}",
        "integrator: [bdf2]",
    };
    drape_loaded_scene *loaded;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        assert_int_equal(parse(ctx, sections[i], NULL, &loaded), DRAPE_ERROR_FORMAT);
        assert_null(loaded);
        assert_non_null(strstr(drape_message(ctx), "test.yaml:3:"));
    }
    assert_int_equal(parse(ctx, "", "bdf9", &loaded), DRAPE_ERROR_FORMAT);
    assert_non_null(strstr(drape_message(ctx), "bdf9"));
}

static drape_scene read_time(drape_context *ctx, const char *section) {
    drape_loaded_scene *loaded;
    ASSERT_OK(ctx, parse(ctx, section, NULL, &loaded));
    drape_scene s = *drape_loaded_scene_data(loaded); /* only its numbers are looked at */
    drape_loaded_scene_destroy(loaded);
    return s;
}

static void test_accuracy_chooses_steps(void **state) {
    drape_scene s = read_time(*state, "time: {accuracy: 2 mm, fps: 24, frames: 5}");
    const drape_ode_settings *o = &s.integration.ode;
    assert_int_equal(s.steps_per_frame, 1);
    assert_int_equal(s.frames, 5);
    assert_true(s.step == 1.0 / 24);
    assert_int_equal(o->control, DRAPE_ODE_ERROR);
    assert_string_equal(o->method, "bdf2");
    assert_true(o->rtol < 0 && isinf(o->atol_v) && o->largest);
    ASSERT_NEAR(o->atol, 2e-3, 1e-17);
    ASSERT_NEAR(o->per, 1.0 / 24, 1e-17);
    s = read_time(*state, "time: {accuracy: 2 mm, step: 5 ms, fps: 24}\nintegrator: implicit-midpoint");
    assert_int_equal(s.steps_per_frame, 9);
    assert_true(s.step <= 5e-3);
    ASSERT_NEAR(o->per, 1.0 / 24, 1e-16);
    assert_string_equal(o->method, "implicit-midpoint");
    s = read_time(*state, "time: {fps: 24}");
    assert_int_equal(o->control, DRAPE_ODE_FIXED);
    assert_true(o->per == 0 && !o->largest);
}

static void test_what_does_not_go_with_accuracy(void **state) {
    drape_context *ctx = *state;
    static const struct {
        const char *section, *option, *where, *says;
    } cases[] = {
        {"time: {accuracy: 1 mm}\nintegrator: preview", NULL, "test.yaml:3:8:", "preview takes fixed steps"},
        {"time: {accuracy: 1 mm}\nintegrator: linearised-euler", NULL, "test.yaml:3:8:", "such as bdf2"},
        {"time: {accuracy: 1 mm}", "preview", "test.yaml:3:8:", "preview takes fixed steps"},
        {"time: {accuracy: 1 mm}\nintegrator: {control: error}", NULL, "test.yaml:4:14:", "time.accuracy"},
        {"time: {accuracy: 1 mm}\nintegrator:\n  control: {by: fixed}", NULL, "test.yaml:5:3:", "time.accuracy"},
        {"time: {accuracy: 0}", NULL, "test.yaml:3:18:", "accuracy"},
        {"time: {accuracy: -1 mm}", NULL, "test.yaml:3:18:", "accuracy"},
        {"time: {accuracy: 1 ms}", NULL, "test.yaml:3:18:", "accuracy"},
    };
    drape_loaded_scene *loaded;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(parse(ctx, cases[i].section, cases[i].option, &loaded), DRAPE_ERROR_FORMAT);
        const char *message = drape_message(ctx);
        if (!strstr(message, cases[i].where) || !strstr(message, cases[i].says)) fail_msg("case %zu: %s", i, message);
    }
}

int main(void) {
    drape_context *ctx = test_context(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_nothing_is_the_default, ctx),
        cmocka_unit_test_prestate(test_every_name_is_a_word, ctx),
        cmocka_unit_test_prestate(test_every_key, ctx),
        cmocka_unit_test_prestate(test_kinds_are_words_too, ctx),
        cmocka_unit_test_prestate(test_what_does_not_go_together, ctx),
        cmocka_unit_test_prestate(test_accuracy_chooses_steps, ctx),
        cmocka_unit_test_prestate(test_what_does_not_go_with_accuracy, ctx),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    drape_context_destroy(ctx);
    return failed;
}
