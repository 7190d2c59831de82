/* Bad input: a status and one line that says what is wrong, with numbers; the state stays. */
#include "ode/chain.h"

#include "ode_examples.h"

#include <stdio.h>
#include <stdlib.h>

/* The run is refused with this in the message. */
static void refused(drape_context *ctx, const drape_ode_settings *s, const char *text) {
    ode_example_run run;
    assert_int_equal(ode_example_begin(ctx, ode_example_find("oscillator"), s, &run), DRAPE_ERROR_ARGUMENT);
    assert_null(run.ode);
    if (!strstr(drape_message(ctx), text)) fail_msg("'%s' does not say '%s'", drape_message(ctx), text);
    assert_null(strchr(drape_message(ctx), '\n'));
}

static drape_ode_settings good(void) {
    drape_ode_settings s = drape_ode_defaults();
    s.step = 0.1;
    return s;
}

#define REFUSED(field, value, text)                                                                                  \
    do {                                                                                                             \
        drape_ode_settings s = good();                                                                               \
        s.field = (value);                                                                                           \
        refused(ctx, &s, text);                                                                                      \
    } while (0)

static void bad_settings_are_refused(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    REFUSED(method, "euler", "unknown method \"euler\"; known: explicit-euler, explicit-midpoint, rk4, ");
    REFUSED(step, 0, "step is 0");
    REFUSED(step, -0.1, "step is -0.1");
    REFUSED(step, NAN, "step is");
    REFUSED(step, INFINITY, "step is inf");
    REFUSED(rtol, INFINITY, "rtol inf");
    REFUSED(atol, NAN, "atol");
    REFUSED(atol_v, NAN, "atol_v");
    REFUSED(per, -1, "per is -1");
    REFUSED(per, INFINITY, "per is inf");
    REFUSED(min_step, -1, "min_step -1");
    REFUSED(max_steps, -1, "max_steps is -1");
    REFUSED(newton.eta, 1, "newton.eta is 1");
    REFUSED(newton.max_iterations, -1, "newton.max_iterations is -1");
    REFUSED(newton.rtol, NAN, "newton.rtol");
    REFUSED(newton.line_search, (drape_ode_search)4, "newton.line_search is 4");
    REFUSED(newton.kind, (drape_ode_newton_kind)9, "newton.kind is 9");
    REFUSED(control, (drape_ode_control)7, "control is 7");
    drape_ode_settings s = good();
    s.control = DRAPE_ODE_NEWTONS;
    s.method = "rk4";
    refused(ctx, &s, "rk4 has no Newton iterations");
    s.method = "bdf2";
    s.few = 3, s.many = 3;
    refused(ctx, &s, "few 3");
    s = good();
    s.rtol = s.atol = -1;
    refused(ctx, &s, "rtol or atol above 0");
    s = good();
    s.newton.rtol = s.newton.atol = -1;
    refused(ctx, &s, "one of them above 0");
    s = good();
    s.min_step = 2, s.max_step = 1;
    refused(ctx, &s, "wrong order");
    drape_context_destroy(ctx);
}

static void bad_systems_are_refused(void **state) {
    drape_context *ctx = test_context(1);
    drape_ode_settings s = good();
    chain c = chain_make(1, 1);
    drape_ode *ode;
    (void)state;
    drape_ode_system system = chain_system(&c);
    assert_int_equal(drape_ode_create(ctx, &system, &s, &ode), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "linear.prepare"));
    s.method = "rk4";
    system.mass_solve = NULL;
    assert_int_equal(drape_ode_create(ctx, &system, &s, &ode), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "mass_solve"));
    s.method = "tr-bdf2";
    s.newton.kind = DRAPE_ODE_MATRIX_FREE;
    assert_int_equal(drape_ode_create(ctx, &system, &s, &ode), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "tr-bdf2 needs the system's mass_solve"));
    s.method = "rk4";
    system.order = 3;
    assert_int_equal(drape_ode_create(ctx, &system, &s, &ode), DRAPE_ERROR_ARGUMENT);
    system.order = 1;
    assert_int_equal(drape_ode_create(ctx, &system, &s, &ode), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "no mass"));
    system.mass_times = NULL;
    s.method = "verlet";
    assert_int_equal(drape_ode_create(ctx, &system, &s, &ode), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "second order"));
    s.method = "rk4";
    system.size = 0;
    assert_int_equal(drape_ode_create(ctx, &system, &s, &ode), DRAPE_ERROR_ARGUMENT);
    system.size = CHAIN_SIZE;
    system.f = NULL;
    assert_int_equal(drape_ode_create(ctx, &system, &s, &ode), DRAPE_ERROR_ARGUMENT);
    drape_ode_dense_settings d = {.order = 1, .size = 3000, .jacobian = chain_jacobian};
    drape_ode_dense *dense;
    assert_int_equal(drape_ode_dense_create(ctx, &d, &dense), DRAPE_ERROR_ARGUMENT);
    drape_context_destroy(ctx);
}

static void bad_steps_and_starts_are_refused(void **state) {
    static const double steps[] = {0, -1, NAN, INFINITY, 1e-30};
    drape_context *ctx = test_context(1);
    drape_ode_settings s = good();
    ode_example_run run;
    drape_ode_result result;
    const double x = NAN, v = 0;
    (void)state;
    ASSERT_OK(ctx, ode_example_begin(ctx, ode_example_find("oscillator"), &s, &run));
    ASSERT_OK(ctx, drape_ode_step(run.ode, 0.5, &result));
    double before = *drape_ode_x(run.ode);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        assert_int_equal(drape_ode_step(run.ode, steps[i], &result), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_advance(run.ode, 0.4, &result), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "0.4"));
    assert_int_equal(drape_ode_advance(run.ode, NAN, &result), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_start(run.ode, 0, &x, &v), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "x[0]"));
    assert_int_equal(drape_ode_start(run.ode, 0, &v, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_start(run.ode, INFINITY, &v, &v), DRAPE_ERROR_ARGUMENT);
    assert_true(*drape_ode_x(run.ode) == before && drape_ode_time(run.ode) == 0.5);
    ode_example_end(&run);
    drape_context_destroy(ctx);
}

static void nothing_before_the_start(void **state) {
    drape_context *ctx = test_context(1);
    drape_ode_settings s = good();
    drape_ode_system system = ode_example_system(ode_example_find("1a"));
    drape_ode *ode;
    (void)state;
    s.method = "rk4";
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
    assert_int_equal(drape_ode_step(ode, 0.1, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_next(ode, 1, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_advance(ode, 1, NULL), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "drape_ode_start"));
    drape_ode_destroy(ode);
    drape_context_destroy(ctx);
}

/* ---- Butcher tables ---- */

static void tables_of_ones_own_are_checked_and_used(void **state) {
    static const double a[] = {0, 0, 2.0 / 3, 0}, b[] = {0.25, 0.75}, c[] = {0, 2.0 / 3}; /* Ralston */
    static const double wrong_b[] = {0.25, 0.5}, wrong_c[] = {0, 0.5}, upper[] = {0, 1, 2.0 / 3, 0};
    drape_context *ctx = test_context(1);
    drape_ode_tableau T = {"ralston", 2, 2, a, b, c, NULL, 0};
    drape_ode_settings s = good();
    double error[2];
    (void)state;
    for (int32_t i = 0; i < 2; i++) {
        const ode_example *e = ode_example_find("1a");
        ode_example_run run;
        s.tableau = &T;
        s.step = 0.01 / (1 << i);
        ASSERT_OK(ctx, ode_example_begin(ctx, e, &s, &run));
        ASSERT_OK(ctx, drape_ode_advance(run.ode, 1, NULL));
        error[i] = ode_example_error(e, &run);
        ode_example_end(&run);
    }
    ASSERT_NEAR(log2(error[0] / error[1]), 2, 0.1);
    T.b = wrong_b;
    refused(ctx, &s, "do not sum to 1");
    T.b = b, T.c = wrong_c;
    refused(ctx, &s, "row 1");
    T.c = c, T.a = upper;
    refused(ctx, &s, "a[0][1] = 1");
    T.a = a, T.stages = 17;
    refused(ctx, &s, "17 stages");
    T.stages = 2, T.order = 3;
    refused(ctx, &s, "order 3");
    T.order = 2, T.a = NULL;
    refused(ctx, &s, "missing");
    drape_context_destroy(ctx);
}

/* ---- The dense solver ---- */

enum { ROWS = 12 };

static drape_status given_matrix(void *user, double t, const double *y, const double *v, double *K, double *D) {
    (void)t, (void)y, (void)v, (void)D;
    memcpy(K, user, ROWS * ROWS * sizeof *K);
    return DRAPE_OK;
}

/* A d = r with A = I - c J: unsymmetric, and with zeros on the diagonal, which only pivoting survives. */
static void dense_systems_are_solved(void **state) {
    drape_context *ctx = test_context(1);
    test_random random = {17};
    (void)state;
    for (int32_t trial = 0; trial < 50; trial++) {
        double J[ROWS * ROWS], r[ROWS], d[ROWS], c = 0.5;
        drape_ode_dense_settings s = {.order = 1, .size = ROWS, .user = J, .jacobian = given_matrix};
        drape_ode_dense *dense;
        drape_ode_answer answer;
        for (int32_t i = 0; i < ROWS * ROWS; i++)
            J[i] = i % (ROWS + 1) == 0 ? 1 / c : test_random_between(&random, -1, 1); /* zeros on A's diagonal */
        for (int32_t i = 0; i < ROWS; i++) r[i] = test_random_between(&random, -1, 1);
        ASSERT_OK(ctx, drape_ode_dense_create(ctx, &s, &dense));
        drape_ode_linear linear = drape_ode_dense_linear(dense);
        drape_ode_point at = {0, c, r, NULL};
        ASSERT_OK(ctx, linear.prepare(linear.user, &at));
        ASSERT_OK(ctx, linear.solve(linear.user, &(drape_ode_request){.at = at, .r = r, .tol = 1e-10}, d, &answer));
        for (int32_t i = 0; i < ROWS; i++) {
            double left = d[i];
            for (int32_t j = 0; j < ROWS; j++) left -= c * J[i * ROWS + j] * d[j];
            ASSERT_NEAR(left, r[i], 1e-10);
        }
        drape_ode_dense_destroy(dense);
    }
    drape_context_destroy(ctx);
}

/* ---- What a system's functions say ---- */

typedef struct touchy {
    drape_status says;
    int64_t calls, from; /* says it from this call on */
    double below;        /* or where y is above this */
} touchy;

static drape_status touchy_f(void *user, double t, const double *y, const double *v, double *out) {
    touchy *q = user;
    (void)t, (void)v;
    out[0] = y[0];
    q->calls++;
    return (q->from && q->calls >= q->from) || y[0] > q->below ? q->says : DRAPE_OK;
}

static void statuses_of_the_system_come_through(void **state) {
    drape_context *ctx = test_context(1);
    touchy q = {DRAPE_ERROR_IO, 0, 3, INFINITY};
    drape_ode_system system = {.order = 1, .size = 1, .user = &q, .f = touchy_f};
    drape_ode_settings s = good();
    drape_ode *ode;
    drape_ode_result result;
    double y = 1;
    (void)state;
    s.method = "rk4";
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
    ASSERT_OK(ctx, drape_ode_start(ode, 0, &y, NULL));
    assert_int_equal(drape_ode_step(ode, 0.1, &result), DRAPE_ERROR_IO);
    assert_true(drape_ode_time(ode) == 0 && *drape_ode_x(ode) == 1);
    q = (touchy){DRAPE_ERROR_NUMBER, 0, 3, INFINITY};
    ASSERT_OK(ctx, drape_ode_step(ode, 0.1, &result));
    assert_int_equal(result.reason, DRAPE_ODE_NOT_FINITE);
    assert_true(drape_ode_time(ode) == 0 && *drape_ode_x(ode) == 1);
    drape_ode_destroy(ode);
    drape_context_destroy(ctx);
}

/* Where f ends, controlled steps come close and then give up. */
static void controlled_steps_come_close_to_where_f_ends(void **state) {
    drape_context *ctx = test_context(1);
    touchy q = {DRAPE_ERROR_NUMBER, 0, 0, 2};
    drape_ode_system system = {.order = 1, .size = 1, .user = &q, .f = touchy_f};
    drape_ode_settings s = good();
    drape_ode *ode;
    drape_ode_result result;
    double y = 1;
    (void)state;
    s.method = "dormand-prince";
    s.control = DRAPE_ODE_ERROR;
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
    ASSERT_OK(ctx, drape_ode_start(ode, 0, &y, NULL));
    ASSERT_OK(ctx, drape_ode_advance(ode, 1, &result));
    assert_int_equal(result.reason, DRAPE_ODE_STEP_TOO_SMALL);
    ASSERT_NEAR(*drape_ode_x(ode), 2, 1e-6);
    drape_ode_destroy(ode);
    drape_context_destroy(ctx);
}

/* Without a hint from the system an unstable run ends where numbers end. */
static void overflow_is_a_reason(void **state) {
    drape_context *ctx = test_context(1);
    drape_ode_system system = ode_example_system(ode_example_find("1b"));
    drape_ode_settings s = good();
    drape_ode *ode;
    drape_ode_result result;
    double y = 1;
    (void)state;
    s.method = "explicit-euler";
    s.step = 10;
    system.stiffest = NULL;
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
    ASSERT_OK(ctx, drape_ode_start(ode, 0, &y, NULL));
    ASSERT_OK(ctx, drape_ode_advance(ode, 1e5, &result));
    assert_int_equal(result.reason, DRAPE_ODE_NOT_FINITE);
    assert_true(isfinite(*drape_ode_x(ode)) && result.t < 1e5);
    drape_ode_destroy(ode);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(bad_systems_are_refused),
        cmocka_unit_test(bad_steps_and_starts_are_refused),
        cmocka_unit_test(nothing_before_the_start),
        cmocka_unit_test(tables_of_ones_own_are_checked_and_used),
        cmocka_unit_test(dense_systems_are_solved),
        cmocka_unit_test(statuses_of_the_system_come_through),
        cmocka_unit_test(controlled_steps_come_close_to_where_f_ends),
        cmocka_unit_test(overflow_is_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
