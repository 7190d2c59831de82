/* Dense output. Every method has its order at random times inside its steps, on every example. Steps keep their bits,
 * and ends are the states. Also controlled steps, their halves, own tables, restarts and projections. */
#include "ode/chain.h"
#include "ode/ode.h"
#include "ode_examples.h"

#include <stdio.h>

enum { SIZES = 4, SAMPLES = 8, DAMPED_VERLET = 1 };
static const double HIGHEST = 1e-3, LOWEST = 1e-11, GROWTH = 1.2;

static drape_ode_settings settings_of(const char *method, double step) {
    drape_ode_settings s = drape_ode_defaults();
    s.method = method;
    s.step = step;
    s.newton.rtol = 1e-14;
    s.newton.atol = 1e-15;
    s.dense_output = true;
    return s;
}

static double error_at(const ode_example *e, double t, double x, double v) {
    double exact[2];
    ode_example_exact(e, t, exact);
    return e->order == 1 ? fabs(x - exact[0]) : fmax(fabs(x - exact[0]), fabs(v - exact[1]));
}

/* The largest error at random times in the last step. */
static double step_error(drape_context *ctx, const ode_example *e, drape_ode *ode, test_random *random) {
    double begin, end, x, v = 0, worst = 0;
    assert_true(drape_ode_last_step(ode, &begin, &end));
    assert_true(end == drape_ode_time(ode) && begin < end);
    for (int32_t k = 0; k < SAMPLES; k++) {
        double theta = (k + test_random_unit(random)) / SAMPLES, t = fmin(begin + theta * (end - begin), end);
        ASSERT_OK(ctx, drape_ode_interpolate(ode, t, &x, e->order == 2 ? &v : NULL));
        worst = fmax(worst, error_at(e, t, x, v));
    }
    return worst;
}

/* The same over a run of `count` steps, except for the first `skip`. */
static double run_error(drape_context *ctx, const ode_example *e, const char *method, double end, int32_t count,
                        int32_t skip) {
    drape_ode_settings s = settings_of(method, end);
    ode_example_run run;
    drape_ode_result result;
    test_random random = {(uint64_t)count};
    double worst = 0;
    ASSERT_OK(ctx, ode_example_begin(ctx, e, &s, &run));
    for (int32_t i = 0; i < count && isfinite(worst); i++) {
        ASSERT_OK(ctx, drape_ode_step(run.ode, end / count, &result));
        if (result.reason) worst = INFINITY;
        else if (i >= skip) worst = fmax(worst, step_error(ctx, e, run.ode, &random));
    }
    ode_example_end(&run);
    return worst;
}

static double slope_of(const double *error) {
    return (3 * log2(error[0]) + log2(error[1]) - log2(error[2]) - 3 * log2(error[3])) / 10;
}

/* Over three halvings, as low as rounding and patience allow. */
static double measured_order(drape_context *ctx, const ode_example *e, const char *method, double end, int32_t theory,
                             int32_t skip) {
    double error[SIZES];
    int32_t count = 16;
    while (run_error(ctx, e, method, end, count, skip) > HIGHEST) count = count * 5 / 4 + 1;
    for (;; count = (int32_t)(GROWTH * count)) {
        for (int32_t k = 0; k < SIZES; k++) error[k] = run_error(ctx, e, method, end, count << k, skip);
        if (error[3] / pow(GROWTH, theory) < LOWEST || count > 250) break;
    }
    return slope_of(error);
}

/* In the first step of a run BDF has two states and one slope to go by. */
static void check_order(drape_context *ctx, const char *method, const ode_example *e) {
    bool lagging = drape_ode_method_second_order(method) && e->damping > 0;
    int32_t order = lagging ? DAMPED_VERLET : drape_ode_method_order(method);
    bool many_steps = strncmp(method, "bdf", 3) == 0 && order > 3;
    double end = order > 1 ? e->end : strcmp(e->name, "3") == 0 ? 0.02 : 0.1 * e->end;
    double measured = measured_order(ctx, e, method, end, order, many_steps);
    printf("%-18s example %-10s order %.3f, theory %d\n", method, e->name, measured, order);
    assert_true(measured > order - 0.35);
    if (many_steps) assert_true(measured_order(ctx, e, method, 0.3 * end, 3, 0) > 2.7);
}

static void every_method_has_its_order_inside_of_steps(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t m = 0; drape_ode_method_name(m); m++)
        for (int32_t i = 0; ode_example_at(i); i++) {
            const ode_example *e = ode_example_at(i);
            if (e->order == 1 && drape_ode_method_second_order(drape_ode_method_name(m))) continue;
            check_order(ctx, drape_ode_method_name(m), e);
        }
    drape_context_destroy(ctx);
}

/* The conditions in the head of interpolate.c. */
static void the_extension_meets_its_conditions(void **state) {
    const drape_ode_tableau *T = drape_ode_method_tableau("dormand-prince");
    const double want[8] = {0, 0, 0, 0, 1.0 / 4, 1.0 / 8, 1.0 / 12, 1.0 / 24};
    double sum[8] = {0}, ac[7] = {0}, acc[7] = {0}, aac[7] = {0};
    (void)state;
    for (int32_t i = 0; i < 7; i++)
        for (int32_t j = 0; j < i; j++) {
            double a = T->a[7 * i + j];
            ac[i] += a * T->c[j], acc[i] += a * T->c[j] * T->c[j], aac[i] += a * ac[j];
        }
    for (int32_t i = 0; i < 7; i++) {
        double d = drape_i_ode_dormand_prince_extension[i], c = T->c[i];
        const double tree[8] = {1, c, c * c, ac[i], c * c * c, c * ac[i], acc[i], aac[i]};
        for (int32_t k = 0; k < 8; k++) sum[k] += d * tree[k];
    }
    for (int32_t k = 0; k < 8; k++) ASSERT_NEAR(sum[k], want[k], 1e-13);
}

/* ---- A nonlinear system with masses ---- */

static void advance_chain(drape_context *ctx, const drape_ode_settings *s, bool ask, double *x, double *v) {
    chain_run run = {.c = chain_make(100, 0.1)};
    drape_ode_result result;
    double inside[CHAIN_SIZE], speed[CHAIN_SIZE], begin, end;
    chain_begin(ctx, s, &run);
    for (int32_t i = 1; i <= 10; i++) {
        ASSERT_OK(ctx, drape_ode_advance(run.ode, 0.01 * i, &result));
        assert_int_equal(result.reason, DRAPE_ODE_DONE);
        if (!ask) continue;
        assert_true(drape_ode_last_step(run.ode, &begin, &end));
        ASSERT_OK(ctx, drape_ode_interpolate(run.ode, 0.5 * (begin + end), inside, speed));
        ASSERT_OK(ctx, drape_ode_interpolate(run.ode, end, inside, speed));
        assert_memory_equal(inside, drape_ode_x(run.ode), sizeof inside);
        assert_memory_equal(speed, drape_ode_v(run.ode), sizeof speed);
    }
    memcpy(x, drape_ode_x(run.ode), CHAIN_SIZE * sizeof *x);
    memcpy(v, drape_ode_v(run.ode), CHAIN_SIZE * sizeof *v);
    chain_finish(&run);
}

static void asking_changes_no_bit(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t m = 0; drape_ode_method_name(m); m++)
        for (int32_t control = 0; control < 2; control++) {
            drape_ode_settings s = settings_of(drape_ode_method_name(m), 0.002);
            double x[2][CHAIN_SIZE], v[2][CHAIN_SIZE];
            s.control = (drape_ode_control)control;
            advance_chain(ctx, &s, true, x[0], v[0]);
            s.dense_output = false;
            advance_chain(ctx, &s, false, x[1], v[1]);
            assert_memory_equal(x[0], x[1], sizeof x[0]);
            assert_memory_equal(v[0], v[1], sizeof v[0]);
        }
    drape_context_destroy(ctx);
}

/* x of one step after the other is continuous, and v is its derivative, up to the order of both. */
static void x_and_v_belong_together(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t m = 0; drape_ode_method_name(m); m++) {
        drape_ode_settings s = settings_of(drape_ode_method_name(m), 0.001);
        chain_run run = {.c = chain_make(100, 0.1)};
        double a[CHAIN_SIZE], b[CHAIN_SIZE], v[CHAIN_SIZE], before[CHAIN_SIZE], begin, end;
        chain_begin(ctx, &s, &run);
        for (int32_t i = 0; i < 20; i++) {
            memcpy(before, drape_ode_x(run.ode), sizeof before);
            ASSERT_OK(ctx, drape_ode_step(run.ode, s.step, NULL));
            assert_true(drape_ode_last_step(run.ode, &begin, &end));
            ASSERT_OK(ctx, drape_ode_interpolate(run.ode, begin, a, v));
            assert_memory_equal(a, before, sizeof a);
            double t = begin + 0.37 * (end - begin), d = 0.01 * s.step;
            ASSERT_OK(ctx, drape_ode_interpolate(run.ode, t - d, a, NULL));
            ASSERT_OK(ctx, drape_ode_interpolate(run.ode, t + d, b, NULL));
            ASSERT_OK(ctx, drape_ode_interpolate(run.ode, t, NULL, v));
            for (int32_t k = 0; k < CHAIN_SIZE; k++)
                ASSERT_NEAR((b[k] - a[k]) / (2 * d), v[k], drape_ode_method_order(s.method) > 1 ? 2e-3 : 0.2);
        }
        chain_finish(&run);
    }
    drape_context_destroy(ctx);
}

/* Under the control of the error, what is inside of steps is as good as their ends, except for a factor. */
static void controlled_steps_are_good_inside(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t m = 0; drape_ode_method_name(m); m++) {
        const ode_example *e = ode_example_find("oscillator");
        drape_ode_settings s = settings_of(drape_ode_method_name(m), 0);
        ode_example_run run;
        test_random random = {(uint64_t)m + 1};
        double ends = 0, inside = 0;
        s.control = DRAPE_ODE_ERROR;
        s.rtol = -1;
        s.atol = drape_ode_method_order(s.method) > 1 ? 1e-7 : 1e-5;
        ASSERT_OK(ctx, ode_example_begin(ctx, e, &s, &run));
        while (drape_ode_time(run.ode) < 1) {
            ASSERT_OK(ctx, drape_ode_next(run.ode, 1, NULL));
            ends = fmax(ends, ode_example_error(e, &run));
            inside = fmax(inside, step_error(ctx, e, run.ode, &random));
        }
        printf("%-18s controlled: %.2g at the ends of steps, %.2g inside\n", s.method, ends, inside);
        assert_true(inside < 20 * fmax(ends, s.atol));
        ode_example_end(&run);
    }
    drape_context_destroy(ctx);
}

/* ---- What is refused ---- */

static void what_is_not_there_is_refused(void **state) {
    drape_context *ctx = test_context(1);
    const ode_example *e = ode_example_find("1a");
    drape_ode_settings s = settings_of("rk4", 0.1);
    ode_example_run run;
    double x, v;
    (void)state;
    ASSERT_OK(ctx, ode_example_begin(ctx, e, &s, &run));
    assert_false(drape_ode_last_step(run.ode, NULL, NULL));
    assert_int_equal(drape_ode_interpolate(run.ode, 0, &x, NULL), DRAPE_ERROR_ARGUMENT);
    ASSERT_OK(ctx, drape_ode_step(run.ode, 0.1, NULL));
    assert_int_equal(drape_ode_interpolate(run.ode, 0.2, &x, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_interpolate(run.ode, -1e-9, &x, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_interpolate(run.ode, NAN, &x, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_interpolate(run.ode, 0.05, &x, &v), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_interpolate(NULL, 0.05, &x, NULL), DRAPE_ERROR_ARGUMENT);
    ASSERT_OK(ctx, drape_ode_interpolate(run.ode, 0.05, NULL, NULL));
    ASSERT_OK(ctx, drape_ode_start(run.ode, 0, e->start, NULL));
    assert_false(drape_ode_last_step(run.ode, NULL, NULL));
    ode_example_end(&run);
    s.dense_output = false;
    ASSERT_OK(ctx, ode_example_begin(ctx, e, &s, &run));
    ASSERT_OK(ctx, drape_ode_step(run.ode, 0.1, NULL));
    assert_false(drape_ode_last_step(run.ode, NULL, NULL));
    assert_int_equal(drape_ode_interpolate(run.ode, 0.05, &x, NULL), DRAPE_ERROR_ARGUMENT);
    ode_example_end(&run);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_has_its_order_inside_of_steps),
        cmocka_unit_test(the_extension_meets_its_conditions),
        cmocka_unit_test(asking_changes_no_bit),
        cmocka_unit_test(x_and_v_belong_together),
        cmocka_unit_test(controlled_steps_are_good_inside),
        cmocka_unit_test(what_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
