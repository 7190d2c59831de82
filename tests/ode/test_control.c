/* Steps whose length is controlled: by the local error for every method, by Newton's iterations; output times are
 * hit; what cannot be done ends with a reason. */
#include "ode/chain.h"
#include "ode/ode.h"

#include "ode_examples.h"

#include <stdio.h>
#include <stdlib.h>

static drape_ode_settings controlled(const char *method, double tol) {
    drape_ode_settings s = drape_ode_defaults();
    s.method = method;
    s.control = DRAPE_ODE_ERROR;
    s.rtol = tol;
    s.atol = 0.1 * tol;
    return s;
}

static double achieved(drape_context *ctx, const ode_example *e, const drape_ode_settings *s, double end,
                       drape_ode_counts *counts) {
    ode_example_run run;
    drape_ode_result result;
    double worst = 0;
    ASSERT_OK(ctx, ode_example_begin(ctx, e, s, &run));
    while (drape_ode_time(run.ode) < end) {
        ASSERT_OK(ctx, drape_ode_next(run.ode, end, &result));
        assert_int_equal(result.reason, DRAPE_ODE_DONE);
        assert_true(result.error >= 0 && result.error < 1); /* 1 would stand for no estimate */
        worst = fmax(worst, ode_example_error(e, &run));
    }
    assert_true(drape_ode_time(run.ode) == end);
    *counts = drape_ode_count(run.ode);
    ode_example_end(&run);
    return worst;
}

/* The error follows the tolerance, and shrinking it costs no more than the order says (with some slack). */
static void errors_follow_the_tolerance(void **state) {
    static const char *const examples[] = {"1b", "2", "oscillator"};
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t m = 0; drape_ode_method_name(m); m++)
        for (int32_t i = 0; i < 3; i++) {
            const char *method = drape_ode_method_name(m);
            const ode_example *e = ode_example_find(examples[i]);
            drape_ode_counts loose_counts, tight_counts;
            if (e->order == 1 && drape_ode_method_second_order(method)) continue;
            drape_ode_settings loose = controlled(method, 1e-3), tight = controlled(method, 1e-5);
            double a = achieved(ctx, e, &loose, 1, &loose_counts), b = achieved(ctx, e, &tight, 1, &tight_counts);
            int32_t order = drape_ode_method_order(method);
            if (drape_ode_method_second_order(method) && e->damping > 0) order = 1;
            double growth = (double)tight_counts.steps / (double)loose_counts.steps;
            printf("%-18s %-10s %.1e with %4lld steps, %.1e with %5lld\n", method, e->name, a,
                   (long long)loose_counts.steps, b, (long long)tight_counts.steps);
            assert_true(a < 5e-2 && b < a / 3);
            assert_true(growth < 2 * pow(100, 1.0 / (order + 1)));
        }
    drape_context_destroy(ctx);
}

/* ---- Error per time ---- */

/* Where a step may have a share of the tolerance, the sum of the errors is in proportion to it; with
 * high orders and few steps, about. */
static void errors_per_time_are_in_proportion(void **state) {
    static const char *const examples[] = {"1b", "2", "oscillator"};
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t m = 0; drape_ode_method_name(m); m++)
        for (int32_t i = 0; i < 3; i++) {
            const char *method = drape_ode_method_name(m);
            const ode_example *e = ode_example_find(examples[i]);
            drape_ode_counts counts[2];
            double error[2], tol[2] = {1e-2, 1e-3};
            if (drape_ode_method_second_order(method) && (e->order == 1 || e->damping > 0)) continue;
            for (int32_t k = 0; k < 2; k++) {
                drape_ode_settings s = controlled(method, tol[k]);
                s.per = 1;
                error[k] = achieved(ctx, e, &s, 1, &counts[k]);
            }
            printf("%-18s %-10s %.1e with %4lld steps, %.1e with %5lld\n", method, e->name, error[0],
                   (long long)counts[0].steps, error[1], (long long)counts[1].steps);
            assert_true(error[0] < 5 * tol[0] && error[1] < 5 * tol[1]);
            /* With error per step it would be 4.6 times less with order 2. */
            bool low = drape_ode_method_order(method) <= 2;
            assert_true(error[1] < error[0] / (low ? 6 : 2) && error[1] > error[0] / (low ? 15 : 40));
        }
    drape_context_destroy(ctx);
}

/* The share of a step is of its length: twice the time for the same tolerance is half the tolerance. */
static void the_time_scales_the_tolerance(void **state) {
    drape_context *ctx = test_context(1);
    const ode_example *e = ode_example_find("2");
    drape_ode_counts a, b;
    (void)state;
    drape_ode_settings s = controlled("bdf2", 1e-3);
    s.step = 1e-3;
    s.per = 2;
    double first = achieved(ctx, e, &s, 1, &a);
    s = controlled("bdf2", 0.5e-3);
    s.step = 1e-3;
    s.per = 1;
    double second = achieved(ctx, e, &s, 1, &b);
    ASSERT_NEAR(first / second, 1, 1e-6);
    assert_int_equal(a.steps, b.steps);
    drape_context_destroy(ctx);
}

/* ---- What of the error is judged ---- */

static int64_t chain_steps(drape_context *ctx, double k, double atol_v, bool largest, double *x) {
    chain_run run = {.c = chain_make(k, 0.5)};
    drape_ode_settings s = drape_ode_defaults();
    drape_ode_result result;
    s.method = "bdf2";
    s.control = DRAPE_ODE_ERROR;
    s.rtol = -1;
    s.atol = 1e-4;
    s.atol_v = atol_v;
    s.largest = largest;
    chain_begin(ctx, &s, &run);
    ASSERT_OK(ctx, drape_ode_advance(run.ode, 1, &result));
    assert_int_equal(result.reason, DRAPE_ODE_DONE);
    memcpy(x, drape_ode_x(run.ode), CHAIN_SIZE * sizeof *x);
    int64_t steps = drape_ode_count(run.ode).steps;
    chain_finish(&run);
    return steps;
}

/* A tolerance of v that is so large that v never counts is like none, except that the mean goes over twice as many
 * numbers. The largest number of an error is above the mean, and at most sqrt n times it. */
static void velocities_need_not_be_judged(void **state) {
    drape_context *ctx = test_context(1);
    double x[5][CHAIN_SIZE];
    (void)state;
    int64_t judged = chain_steps(ctx, 500, 0, false, x[0]), none = chain_steps(ctx, 500, INFINITY, false, x[1]);
    int64_t vast = chain_steps(ctx, 500, 1e30, false, x[2]), most = chain_steps(ctx, 500, INFINITY, true, x[3]);
    int64_t vast_most = chain_steps(ctx, 500, 1e30, true, x[4]);
    printf("steps: %lld with v, %lld without, %lld by the largest\n", (long long)judged, (long long)none,
           (long long)most);
    assert_true(vast < none && none < most && none < judged / 2);
    assert_int_equal(most, vast_most);
    assert_memory_equal(x[3], x[4], sizeof x[3]);
    drape_context_destroy(ctx);
}

/* In a system of equal parts the largest number is the mean. */
static void the_largest_of_equal_numbers_is_their_mean(void **state) {
    drape_context *ctx = test_context(2);
    enum { N = 40000 }; /* loops are cut */
    double *e = malloc(N * sizeof *e), *y = malloc(N * sizeof *y);
    (void)state;
    assert_true(e && y);
    for (int32_t i = 0; i < N; i++) e[i] = i % 2 ? 0.5 : -0.5, y[i] = i % 3 ? 3 : -3;
    ASSERT_NEAR(drape_i_ode_weighted_largest(ctx, N, 2, e, y, 0.5, 0.5), 0.5, 1e-15);
    ASSERT_NEAR(sqrt(drape_i_ode_weighted(ctx, N, 2, e, y, 0.5, 0.5) / N), 0.5, 1e-12);
    for (int32_t at = 0; at < N; at += N / 7) {
        e[at] = -4;
        ASSERT_NEAR(drape_i_ode_weighted_largest(ctx, N, 2, e, y, 0.5, 0.5), 4, 1e-15);
        e[at] = NAN;
        assert_true(isnan(drape_i_ode_weighted_largest(ctx, N, 2, e, y, 0.5, 0.5)));
        e[at] = 0.5;
    }
    free(e), free(y);
    drape_context_destroy(ctx);
}

/* ---- The estimates themselves ---- */

/* Sets an integrator of example 1a up as if its past, of steps of h, had been exact; room for one more than it needs.
 */
static void exact_past(drape_ode *ode, const ode_example *e, int32_t count, double h, double ratio) {
    double t = 0, y[2];
    ode->past_count = count;
    for (int32_t j = 0; j < count; j++) {
        ode_example_exact(e, t, y);
        ode->past[j][0] = y[0];
        ode->past_step[j] = h;
        t -= h;
        h *= ratio;
    }
}

/* From exact past states the error of a step is its local error, and the estimate must be near it. This holds with
 * enough past states, and at the beginning with the slope of the start instead. */
static void estimates_are_near_the_error(void **state) {
    static const char *const methods[] = {"implicit-euler", "bdf2", "bdf3", "bdf4", "implicit-midpoint", "rk4"};
    drape_context *ctx = test_context(1);
    const ode_example *e = ode_example_find("1a");
    (void)state;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (int32_t beginning = 0; beginning < 2; beginning++)
            for (double ratio = 0.7; ratio < 1.5; ratio += 0.3) {
                drape_ode_settings s = controlled(methods[m], 1e-11);
                double h = 0.005, error, y[2];
                drape_ode_reason reason;
                ode_example_run run;
                ASSERT_OK(ctx, ode_example_begin(ctx, e, &s, &run));
                drape_ode *ode = run.ode;
                int32_t steps = ode->method.steps;
                if (ode->method.implicit) exact_past(ode, e, steps + !beginning, h, ratio);
                double start = 0;
                for (int32_t j = 0; j + 1 < ode->past_count; j++) start -= ode->past_step[j];
                ode_example_exact(e, start, y);
                ode->slope[0] = e->rate * y[0];
                ode->slope_known = true;
                ode->wants_error = ode->ramps = true;
                ASSERT_OK(ctx, drape_i_ode_try_with_error(ode, h, &error, &reason));
                assert_int_equal(reason, DRAPE_ODE_DONE);
                ode_example_exact(e, h, y);
                double truth = ode->next[0] - y[0];
                ASSERT_NEAR(fabs(ode->error[0] / truth), 1, 0.1);
                ode_example_end(&run);
            }
    drape_context_destroy(ctx);
}

/* ---- Output times ---- */

static int64_t steps_with_outputs(drape_context *ctx, const char *method, int32_t outputs) {
    drape_ode_settings s = controlled(method, 1e-5);
    ode_example_run run;
    drape_ode_result result;
    ASSERT_OK(ctx, ode_example_begin(ctx, ode_example_find("2"), &s, &run));
    for (int32_t i = 1; i <= outputs; i++) {
        ASSERT_OK(ctx, drape_ode_advance(run.ode, 10.0 * i / outputs, &result));
        assert_int_equal(result.reason, DRAPE_ODE_DONE);
    }
    int64_t steps = drape_ode_count(run.ode).steps;
    ode_example_end(&run);
    return steps;
}

/* A step that is cut for an output time is no reason for the next to be short: each costs a step or two. */
static void outputs_cost_little(void **state) {
    static const char *const methods[] = {"dormand-prince", "rk4", "implicit-midpoint"};
    enum { OUTPUTS = 7 };
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t m = 0; m < 3; m++) {
        int64_t few = steps_with_outputs(ctx, methods[m], 1), more = steps_with_outputs(ctx, methods[m], OUTPUTS);
        printf("%s: %lld steps, %lld with %d outputs\n", methods[m], (long long)few, (long long)more, OUTPUTS);
        assert_true(more <= few + 2 * OUTPUTS);
    }
    drape_context_destroy(ctx);
}

/* Output times are hit to the bit. */
static void output_times_are_hit(void **state) {
    drape_context *ctx = test_context(1);
    const ode_example *e = ode_example_find("2");
    (void)state;
    for (int32_t m = 0; drape_ode_method_name(m); m++)
        for (int32_t control = 0; control < 3; control++) {
            drape_ode_settings s = controlled(drape_ode_method_name(m), 1e-4);
            ode_example_run run;
            drape_ode_result result;
            if (control == DRAPE_ODE_NEWTONS && !drape_ode_method_implicit(s.method)) continue;
            s.control = (drape_ode_control)control;
            s.step = 0.007;
            ASSERT_OK(ctx, ode_example_begin(ctx, e, &s, &run));
            for (int32_t i = 1; i <= 30; i++) {
                ASSERT_OK(ctx, drape_ode_advance(run.ode, i / 30.0, &result));
                assert_int_equal(result.reason, DRAPE_ODE_DONE);
                assert_true(drape_ode_time(run.ode) == i / 30.0 && result.t == i / 30.0);
            }
            ode_example_end(&run);
        }
    drape_context_destroy(ctx);
}

static void fixed_steps_are_equal_and_no_longer(void **state) {
    drape_context *ctx = test_context(1);
    drape_ode_settings s = drape_ode_defaults();
    ode_example_run run;
    drape_ode_result result;
    (void)state;
    s.method = "bdf3";
    s.step = 0.3;
    ASSERT_OK(ctx, ode_example_begin(ctx, ode_example_find("2"), &s, &run));
    ASSERT_OK(ctx, drape_ode_advance(run.ode, 1, &result));
    assert_int_equal(drape_ode_count(run.ode).steps, 4);
    ASSERT_NEAR(result.step, 0.25, 1e-15);
    ASSERT_OK(ctx, drape_ode_next(run.ode, 1.1, &result)); /* cut at the limit */
    assert_true(result.t == 1.1);
    ASSERT_OK(ctx, drape_ode_next(run.ode, 1.5, &result));
    ASSERT_NEAR(result.step, 0.3, 1e-15);
    ode_example_end(&run);
    drape_context_destroy(ctx);
}

/* ---- A sudden change ---- */

static drape_status switched(void *user, double t, const double *y, const double *v, double *out) {
    (void)user, (void)v;
    out[0] = t < 0.5 ? -0.1 * y[0] : 300 * (cos(20 * t) - y[0]);
    return DRAPE_OK;
}

static drape_status switched_jacobian(void *user, double t, const double *y, const double *v, double *K, double *D) {
    (void)user, (void)y, (void)v, (void)D;
    K[0] = t < 0.5 ? -0.1 : -300;
    return DRAPE_OK;
}

static void sudden_changes_are_rejected_and_retried(void **state) {
    static const char *const methods[] = {"bdf2", "implicit-midpoint", "dormand-prince", "rk4", "bdf4"};
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t m = 0; m < 5; m++) {
        drape_ode_dense_settings d = {.order = 1, .size = 1, .jacobian = switched_jacobian};
        drape_ode_system system = {.order = 1, .size = 1, .f = switched};
        drape_ode_settings s = controlled(methods[m], 1e-5);
        drape_ode_dense *dense;
        drape_ode *ode;
        drape_ode_result result;
        double y = 1, k = 300, w = 20;
        ASSERT_OK(ctx, drape_ode_dense_create(ctx, &d, &dense));
        system.linear = drape_ode_dense_linear(dense);
        ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
        ASSERT_OK(ctx, drape_ode_start(ode, 0, &y, NULL));
        ASSERT_OK(ctx, drape_ode_advance(ode, 1, &result));
        assert_int_equal(result.reason, DRAPE_ODE_DONE);
        assert_true(drape_ode_count(ode).rejected > 0);
        /* What is left of the past has decayed: k (k cos wt + w sin wt) / (k^2 + w^2) */
        ASSERT_NEAR(drape_ode_x(ode)[0], k * (k * cos(w) + w * sin(w)) / (k * k + w * w), 2e-4);
        drape_ode_destroy(ode);
        drape_ode_dense_destroy(dense);
    }
    drape_context_destroy(ctx);
}

/* ---- By Newton's iterations ---- */

static void easy_steps_grow_and_hard_ones_shrink(void **state) {
    drape_context *ctx = test_context(1);
    chain_run run = {.c = chain_make(500, 0.5)};
    drape_ode_settings s = drape_ode_defaults();
    drape_ode_result result;
    double longest = 0;
    (void)state;
    s.method = "implicit-euler";
    s.control = DRAPE_ODE_NEWTONS;
    s.step = 1e-4;
    s.max_step = 0.05;
    s.newton.rtol = 1e-6;
    s.newton.atol = 1e-6;
    chain_begin(ctx, &s, &run);
    while (drape_ode_time(run.ode) < 2) {
        ASSERT_OK(ctx, drape_ode_next(run.ode, 2, &result));
        assert_int_equal(result.reason, DRAPE_ODE_DONE);
        assert_true(result.step <= 0.05);
        longest = fmax(longest, result.step);
    }
    assert_true(longest > 20e-4);
    assert_true(drape_ode_count(run.ode).steps < 5000);
    chain_finish(&run);
    /* Wanting more iterations than `many` shortens. */
    run.c = chain_make(500, 0.5);
    s.step = 0.02;
    s.few = 1;
    s.many = 2;
    s.newton.rtol = s.newton.atol = 1e-12;
    chain_begin(ctx, &s, &run);
    ASSERT_OK(ctx, drape_ode_next(run.ode, 1, &result));
    double first = result.step;
    for (int32_t i = 0; i < 5; i++) ASSERT_OK(ctx, drape_ode_next(run.ode, 1, &result));
    assert_true(result.step < first / 4);
    chain_finish(&run);
    drape_context_destroy(ctx);
}

/* ---- What cannot be done ---- */

static drape_status explode(void *user, double t, const double *y, const double *v, double *out) {
    (void)user, (void)t, (void)v;
    out[0] = y[0] * y[0];
    return isfinite(out[0]) ? DRAPE_OK : DRAPE_ERROR_NUMBER;
}

/* y' = y^2 ends at t = 1. */
static void steps_do_not_shrink_forever(void **state) {
    drape_context *ctx = test_context(1);
    drape_ode_system system = {.order = 1, .size = 1, .f = explode};
    drape_ode_settings s = controlled("dormand-prince", 1e-6);
    drape_ode_result result;
    drape_ode *ode;
    double y = 1;
    (void)state;
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
    ASSERT_OK(ctx, drape_ode_start(ode, 0, &y, NULL));
    ASSERT_OK(ctx, drape_ode_advance(ode, 2, &result));
    assert_int_equal(result.reason, DRAPE_ODE_STEP_TOO_SMALL);
    ASSERT_NEAR(result.t, 1, 1e-3);
    assert_true(isfinite(drape_ode_x(ode)[0]) && strlen(drape_ode_explain(ode)) > 10);
    drape_ode_destroy(ode);
    s.min_step = 1e-2;
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
    ASSERT_OK(ctx, drape_ode_start(ode, 0, &y, NULL));
    ASSERT_OK(ctx, drape_ode_advance(ode, 2, &result));
    assert_int_equal(result.reason, DRAPE_ODE_STEP_TOO_SMALL);
    assert_true(result.t < 0.999);
    drape_ode_destroy(ode);
    drape_context_destroy(ctx);
}

static void step_limits_are_reasons(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t control = 0; control < 2; control++) {
        drape_ode_settings s = controlled("rk4", 1e-8);
        ode_example_run run;
        drape_ode_result result;
        s.control = (drape_ode_control)control;
        s.step = 1e-3;
        s.max_steps = 10;
        ASSERT_OK(ctx, ode_example_begin(ctx, ode_example_find("oscillator"), &s, &run));
        ASSERT_OK(ctx, drape_ode_advance(run.ode, 10, &result));
        assert_int_equal(result.reason, DRAPE_ODE_STEP_LIMIT);
        assert_non_null(strstr(drape_ode_explain(run.ode), "10"));
        ode_example_end(&run);
    }
    drape_context_destroy(ctx);
}

static void roots_are_roots(void **state) {
    test_random random = {11};
    (void)state;
    for (int32_t i = 0; i < 2000; i++) {
        double x = exp(test_random_between(&random, -300, 300));
        int32_t degree = 1 + test_random_below(&random, 35);
        double root = drape_i_ode_root(x, degree);
        ASSERT_NEAR(root / pow(x, 1.0 / degree), 1, 1e-13);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_follow_the_tolerance),
        cmocka_unit_test(errors_per_time_are_in_proportion),
        cmocka_unit_test(the_time_scales_the_tolerance),
        cmocka_unit_test(velocities_need_not_be_judged),
        cmocka_unit_test(the_largest_of_equal_numbers_is_their_mean),
        cmocka_unit_test(estimates_are_near_the_error),
        cmocka_unit_test(outputs_cost_little),
        cmocka_unit_test(output_times_are_hit),
        cmocka_unit_test(fixed_steps_are_equal_and_no_longer),
        cmocka_unit_test(sudden_changes_are_rejected_and_retried),
        cmocka_unit_test(easy_steps_grow_and_hard_ones_shrink),
        cmocka_unit_test(steps_do_not_shrink_forever),
        cmocka_unit_test(step_limits_are_reasons),
        cmocka_unit_test(roots_are_roots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
