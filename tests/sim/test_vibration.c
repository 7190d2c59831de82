/* Damping by ratio: a strip's vibration shows the requested ratio, on every mesh and at every small step. The damping
 * that an integrator adds is as predicted. */
#include "support/strips.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static void assert_within(const char *what, double got, double want, double part) {
    printf("%-60s %.6g, wanted %.6g: %+.3g %%\n", what, got, want, 100 * (got / want - 1));
    assert_near(got, want, part * fabs(want), what);
}

/* ---- conversions ---- */

static void test_frequencies(void **state) {
    drape_material m = {.density = 0.2, .stretch = {800, 50}, .shear = 20, .bend = 5e-3};
    (void)state;
    ASSERT_NEAR(drape_vibration_frequency(&m, DRAPE_VIBRATION_STRETCH, 0.5), PI * sqrt(4000), 1e-10);
    ASSERT_NEAR(drape_vibration_frequency(&m, DRAPE_VIBRATION_SHEAR, 0.5), PI * 10, 1e-11);
    double bend = drape_vibration_frequency(&m, DRAPE_VIBRATION_BEND, 0.5), q = sqrt(bend * 0.25 / sqrt(0.025));
    ASSERT_NEAR(1 + cos(q) * cosh(q), 0, 1e-12);
    ASSERT_NEAR(q, 1.875, 1e-3); /* the least root */
}

static double *damping_of(drape_material *m, drape_vibration v) {
    return v == DRAPE_VIBRATION_STRETCH ? &m->damping_stretch
           : v == DRAPE_VIBRATION_SHEAR ? &m->damping_shear
                                        : &m->damping_bend;
}

static void test_conversions_are_inverse(void **state) {
    (void)state;
    for (int32_t i = 0; drape_vibration_name((drape_vibration)i); i++) {
        drape_material m = drape_material_defaults();
        drape_vibration v = (drape_vibration)i;
        m.damping_stretch = m.damping_shear = m.damping_bend = 0;
        assert_true(drape_damping_ratio(&m, v, 0.3) == 0);
        double time = drape_damping_time(&m, v, 0.3, 0.05), w = drape_vibration_frequency(&m, v, 0.3);
        ASSERT_NEAR(time * w / 2, 0.05, 1e-15);
        *damping_of(&m, v) = time;
        ASSERT_NEAR(drape_damping_ratio(&m, v, 0.3), 0.05, 1e-15);
        /* half as long: twice the frequency, or four times in bending, and so is the ratio */
        ASSERT_NEAR(drape_damping_ratio(&m, v, 0.15), v == DRAPE_VIBRATION_BEND ? 0.2 : 0.1, 1e-15);
    }
}

static void test_what_has_no_frequency(void **state) {
    const drape_material good = drape_material_defaults();
    const drape_vibration stretch = DRAPE_VIBRATION_STRETCH, bend = DRAPE_VIBRATION_BEND;
    drape_material m = good;
    (void)state;
    assert_null(drape_vibration_name((drape_vibration)3));
    assert_null(drape_vibration_name((drape_vibration)-1));
    assert_true(drape_vibration_frequency(NULL, stretch, 1) == 0);
    assert_true(drape_damping_ratio(NULL, stretch, 1) == 0 && drape_damping_time(NULL, stretch, 1, 1) == 0);
    assert_true(drape_vibration_frequency(&good, (drape_vibration)3, 1) == 0);
    assert_true(drape_vibration_frequency(&good, stretch, 0) == 0);
    assert_true(drape_vibration_frequency(&good, stretch, -1) == 0);
    assert_true(drape_vibration_frequency(&good, stretch, NAN) == 0);
    assert_true(drape_damping_time(&good, stretch, 1, 0) == 0);
    assert_true(drape_damping_time(&good, stretch, 1, -1) == 0);
    m.stretch[0] = 0;
    assert_true(drape_vibration_frequency(&m, stretch, 1) == 0 && drape_damping_ratio(&m, stretch, 1) == 0);
    m = good, m.bend_hinge = 1e-5;
    assert_true(drape_vibration_frequency(&m, bend, 1) == 0 && drape_vibration_frequency(&m, stretch, 1) > 0);
    m = good, m.spring_bend = 1e-5, m.spring_stretch = 1;
    assert_true(drape_vibration_frequency(&m, bend, 1) == 0 && drape_vibration_frequency(&m, stretch, 1) == 0);
    m = good, m.density = 0;
    assert_true(drape_vibration_frequency(&m, bend, 1) == 0);
}

/* ---- measured ---- */

enum { PERIODS = 4 };

/* Values at the tops of a swing, by a parabola through three of its values. */
typedef struct tops {
    double last[2];
    int32_t seen, count;
    double value[PERIODS], time[PERIODS]; /* time in steps */
} tops;

static void tops_add(tops *t, double value) {
    double a = t->last[0], b = t->last[1];
    if (t->seen >= 2 && b >= a && b > value && b > 0 && t->count < PERIODS) {
        double slope = (value - a) / 2, bow = a - 2 * b + value;
        t->time[t->count] = t->seen - 1 - slope / bow;
        t->value[t->count++] = b - slope * slope / (2 * bow);
    }
    t->last[0] = b, t->last[1] = value, t->seen++;
}

typedef struct measurement {
    drape_vibration vibration;
    const char *method;
    int32_t cells, steps; /* steps in a period */
    double ratio;         /* of the fabric */
} measurement;

static const double LENGTH = 0.4;

/* Held at column 0; for bending the whole first cell is, and the strip begins in its middle (test_physics.c). */
static test_strip *make_strip(drape_context *ctx, const measurement *m, double *w) {
    bool bend = m->vibration == DRAPE_VIBRATION_BEND;
    double cell = LENGTH / (bend ? m->cells - 0.5 : m->cells);
    test_strip *s = test_strip_create(ctx, m->cells, 1, m->cells * cell, cell);
    s->material->density = 0.2;
    s->material->stretch[0] = s->material->stretch[1] = bend ? 2000 : 500;
    s->material->shear = 500, s->material->bend = 2e-3;
    *w = drape_vibration_frequency(s->material, m->vibration, LENGTH);
    if (m->ratio > 0)
        *damping_of(s->material, m->vibration) = drape_damping_time(s->material, m->vibration, LENGTH, m->ratio);
    test_strip_pin(s, 0, bend ? 1 : 0, 0, 1);
    if (m->vibration == DRAPE_VIBRATION_SHEAR) { /* by shear alone: a narrow strip would bend in its plane */
        drape_pin *rails = test_strip_pin(s, 1, s->nx, 0, 1);
        rails->directions = 2;
        rails->direction[0][0] = rails->direction[1][2] = 1;
    }
    s->scene.forces = (drape_forces){0};
    s->scene.step = 2 * PI / *w / m->steps;
    s->scene.integration = (drape_integration){.ode = {.method = m->method, .newton = {.tolerance = 1e-10}}};
    return s;
}

/* Of the motion: x, y or z. */
static int32_t direction(drape_vibration v) {
    return v == DRAPE_VIBRATION_STRETCH ? 0 : v == DRAPE_VIBRATION_SHEAR ? 1 : 2;
}

/* The mode of a rod, or the shape of a cantilever under a load at its tip, which is nearly that of its mode. */
static void deflect(const test_strip *s, drape_sim *sim, drape_vibration vibration) {
    bool bend = vibration == DRAPE_VIBRATION_BEND;
    double *x = test_positions(sim), start = bend ? s->nx * LENGTH / (s->nx - 0.5) - LENGTH : 0;
    for (int32_t i = 0; i < s->mesh.vertices; i++) {
        double p = (s->mesh.uv[2 * i] - start) / LENGTH;
        if (bend && p > start / LENGTH * 1.01) x[3 * i + 2] += 5e-4 * (3 - p) * p * p;
        if (!bend) x[3 * i + direction(vibration)] += 1e-4 * sin(PI / 2 * p);
    }
    test_set_state(s->ctx, sim, x, NULL);
}

/* From the first top on, when faster vibrations are over. In terms of the frequency that theory gives. */
static double measured_ratio(drape_context *ctx, const measurement *m) {
    double w;
    test_strip *s = make_strip(ctx, m, &w);
    int32_t k = direction(m->vibration);
    drape_sim *sim = test_strip_sim(s);
    tops t = {0};
    double rest = test_strip_mean(s, sim, s->nx, k);
    deflect(s, sim, m->vibration);
    for (int32_t i = 0; t.count < PERIODS && i < (PERIODS + 1) * m->steps; i++) {
        test_run(ctx, sim, 1);
        tops_add(&t, test_strip_mean(s, sim, s->nx, k) - rest);
    }
    assert_int_equal(t.count, PERIODS);
    double seconds = (t.time[PERIODS - 1] - t.time[0]) * s->scene.step;
    drape_sim_destroy(sim);
    test_strip_destroy(s);
    return log(t.value[0] / t.value[PERIODS - 1]) / (w * seconds);
}

static void check_measured(drape_context *ctx, measurement m, double part) {
    double w, added;
    char what[200];
    test_strip *s = make_strip(ctx, &m, &w);
    ASSERT_OK(ctx, drape_integration_damping(ctx, &s->scene.integration, s->scene.step, w, &added));
    test_strip_destroy(s);
    snprintf(what, sizeof what, "%s, %s, %d cells, %d steps, %g by fabric:", drape_vibration_name(m.vibration),
             m.method ? m.method : "default", m.cells, m.steps, m.ratio);
    assert_within(what, measured_ratio(ctx, &m), m.ratio + added, part);
}

static void check_all(drape_context *ctx, drape_vibration vibration, int32_t cells, double part) {
    for (int32_t fine = 1; fine <= 2; fine++)
        for (int32_t steps = 60; steps <= 120; steps += 60) {
            check_measured(ctx, (measurement){vibration, NULL, fine * cells, steps, 0.05}, part);
            check_measured(ctx, (measurement){vibration, "implicit-midpoint", fine * cells, steps, 0.02}, part);
        }
}

static void test_measured_stretch(void **state) { check_all(*state, DRAPE_VIBRATION_STRETCH, 10, 0.02); }
static void test_measured_shear(void **state) { check_all(*state, DRAPE_VIBRATION_SHEAR, 10, 0.02); }
static void test_measured_bending(void **state) { check_all(*state, DRAPE_VIBRATION_BEND, 12, 0.05); }

/* ---- integrators ---- */

/* No damping but theirs. */
static void test_measured_integrators(void **state) {
    static const char *const methods[] = {NULL, "implicit-euler", DRAPE_LINEARISED_EULER};
    for (int32_t i = 0; i < 3; i++)
        check_measured(*state, (measurement){DRAPE_VIBRATION_STRETCH, methods[i], 20, 20, 0}, 0.05);
}

static double added(drape_context *ctx, const char *method, double angle) {
    drape_integration how = {.ode.method = method};
    double ratio = NAN;
    ASSERT_OK(ctx, drape_integration_damping(ctx, &how, 1e-3, 1e3 * angle, &ratio));
    return ratio;
}

static void test_known_integrators(void **state) {
    for (double z = 1e-4; z < 100; z *= 10) {
        double euler = log(1 + z * z) / (2 * z);
        ASSERT_NEAR(added(*state, "implicit-euler", z) / euler, 1, 1e-7);
        assert_true(added(*state, "preview", z) == added(*state, "implicit-euler", z));
        assert_true(added(*state, DRAPE_LINEARISED_EULER, z) == added(*state, "implicit-euler", z));
        ASSERT_NEAR(added(*state, "implicit-midpoint", z), 0, 1e-8);
        if (z < 2) ASSERT_NEAR(added(*state, "verlet", z), 0, 1e-6);
        if (z < 1) ASSERT_NEAR(added(*state, "explicit-euler", z) / -euler, 1, 1e-7);
        assert_true(added(*state, NULL, z) == added(*state, "bdf2", z));
        if (z < 0.2) ASSERT_NEAR(added(*state, "bdf2", z), z * z * z / 4, 0.1 * z * z * z + 1e-6);
    }
}

static void test_every_integrator_has_one(void **state) {
    const char *name;
    for (int32_t i = 0; (name = drape_integrator_name(i)); i++) {
        double ratio = added(*state, name, 0.05);
        printf("%-24s %.3g\n", name, ratio);
        assert_true(fabs(ratio) < 0.03);
    }
}

static void test_integrators_refused(void **state) {
    drape_context *ctx = *state;
    drape_integration how = {.ode.method = "none"};
    double ratio = 7;
    assert_int_equal(drape_integration_damping(NULL, NULL, 1, 1, &ratio), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_integration_damping(ctx, NULL, 1, 1, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_integration_damping(ctx, NULL, 0, 1, &ratio), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_integration_damping(ctx, NULL, 1, -1, &ratio), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_integration_damping(ctx, NULL, 1, INFINITY, &ratio), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_integration_damping(ctx, NULL, NAN, 1, &ratio), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_integration_damping(ctx, &how, 1, 1, &ratio), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "\"none\""));
    how = (drape_integration){.reserved = {1}};
    assert_int_equal(drape_integration_damping(ctx, &how, 1, 1, &ratio), DRAPE_ERROR_ARGUMENT);
    assert_true(ratio == 7);
}

int main(void) {
    drape_context *ctx = test_context(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frequencies),
        cmocka_unit_test(test_conversions_are_inverse),
        cmocka_unit_test(test_what_has_no_frequency),
        cmocka_unit_test_prestate(test_measured_stretch, ctx),
        cmocka_unit_test_prestate(test_measured_shear, ctx),
        cmocka_unit_test_prestate(test_measured_bending, ctx),
        cmocka_unit_test_prestate(test_measured_integrators, ctx),
        cmocka_unit_test_prestate(test_known_integrators, ctx),
        cmocka_unit_test_prestate(test_every_integrator_has_one, ctx),
        cmocka_unit_test_prestate(test_integrators_refused, ctx),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    drape_context_destroy(ctx);
    return failed;
}
