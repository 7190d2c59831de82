/* Orders of convergence: every method on every example where it is stable, with theory beside it; variable steps;
 * Newton's variants, which must not change the order. */
#include "support/testing.h"

#include "ode_examples.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HALVINGS = 3, SIZES = HALVINGS + 1, MOST_STEPS = 400 };
enum { SEEDS = 6, FIRST_RANDOM = 1024, MOST_RANDOM = FIRST_RANDOM << (HALVINGS + 4) };

static const double HIGHEST = 1e-4, LOWEST = 1e-11, GROWTH = 1.1;

static drape_ode_settings settings_of(const char *method, double step) {
    drape_ode_settings s = drape_ode_defaults();
    s.method = method;
    s.step = step;
    s.newton.rtol = 1e-14;
    s.newton.atol = 1e-15;
    return s;
}

/* Largest error over all steps; infinity where the run stopped. */
static double worst_error(drape_context *ctx, const ode_example *e, const drape_ode_settings *s, double end) {
    ode_example_run run;
    drape_ode_result result;
    double worst = 0, count = ceil(end / s->step - 1e-9);
    ASSERT_OK(ctx, ode_example_begin(ctx, e, s, &run));
    for (double i = 1; i <= count && isfinite(worst); i++) {
        ASSERT_OK(ctx, drape_ode_step(run.ode, end / count, &result));
        double error = result.reason ? INFINITY : ode_example_error(e, &run);
        if (!(error <= worst)) worst = error;
    }
    ode_example_end(&run);
    return worst;
}

/* Slope of log error over log step, by least squares. */
static double slope_of(const double *error, int32_t count) {
    double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
    for (int32_t i = 0; i < count; i++) {
        double x = -(double)i, y = log2(error[i]);
        sum_x += x, sum_y += y, sum_xx += x * x, sum_xy += x * y;
    }
    return (count * sum_xy - sum_x * sum_y) / (count * sum_xx - sum_x * sum_x);
}

/* Over steps that are halved three times: the shortest such window with all errors above LOWEST (and not too many
 * steps), where what is left of higher orders disturbs least. */
static double measured_order(drape_context *ctx, const ode_example *e, drape_ode_settings s, double end,
                             int32_t theory, double *last) {
    double error[SIZES], count = 8;
    for (double growth = GROWTH;; count = ceil(growth * count)) {
        s.step = end / count;
        error[0] = worst_error(ctx, e, &s, end);
        growth = error[0] > 4 * HIGHEST ? 1.5 : GROWTH;
        if (error[0] >= HIGHEST) continue;
        if (error[0] / pow(8 * GROWTH, theory) > 6 * LOWEST && count <= MOST_STEPS) continue; /* far from there */
        for (int32_t i = 1; i < SIZES; i++) {
            s.step = end / (count * (1 << i));
            error[i] = worst_error(ctx, e, &s, end);
        }
        if (error[HALVINGS] / pow(GROWTH, theory) < 1.2 * LOWEST || count > MOST_STEPS) break;
    }
    *last = error[HALVINGS];
    return slope_of(error, SIZES);
}

/* The survey's interval; for order 1, where errors below 1e-4 would take millions of steps, the beginning of it. */
static double end_for(const ode_example *e, int32_t order) {
    if (order > 1) return e->end;
    return strcmp(e->name, "3") == 0 ? 0.005 : strcmp(e->name, "1b") == 0 ? 0.05 : 0.2;
}

static void check_order(drape_context *ctx, const char *method, const ode_example *e) {
    bool lagging = drape_ode_method_second_order(method) && e->damping > 0;
    int32_t theory = lagging ? 1 : drape_ode_method_order(method);
    double last, order = measured_order(ctx, e, settings_of(method, 1), end_for(e, theory), theory, &last);
    printf("%-18s example %-10s order %.3f, theory %d, last error %.2g\n", method, e->name, order, theory, last);
    assert_true(last > LOWEST);
    ASSERT_NEAR(order, theory, 0.3);
}

static void every_method_has_its_order(void **state) {
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

/* ---- Steps of random lengths ---- */

/* n steps whose ratios are random in [0.5, 2], all within a factor 16, scaled to end at `end`. */
static void random_lengths(uint64_t seed, int32_t n, double end, double *length) {
    test_random random = {seed};
    double sum = 0;
    for (int32_t i = 0; i < n; i++) {
        double before = i ? length[i - 1] : 1, ratio = exp2(test_random_between(&random, -1, 1));
        if (before * ratio > 4 || before * ratio < 0.25) ratio = 1 / ratio;
        length[i] = before * ratio;
        sum += length[i];
    }
    for (int32_t i = 0; i < n; i++) length[i] *= end / sum;
}

static double random_steps_error(drape_context *ctx, const ode_example *e, uint64_t seed, int32_t n) {
    static double length[MOST_RANDOM];
    double worst = 0;
    ode_example_run run;
    drape_ode_result result;
    drape_ode_settings s = settings_of("bdf2", e->end);
    random_lengths(seed, n, e->end, length);
    ASSERT_OK(ctx, ode_example_begin(ctx, e, &s, &run));
    for (int32_t i = 0; i < n; i++) {
        ASSERT_OK(ctx, drape_ode_step(run.ode, length[i], &result));
        assert_int_equal(result.reason, DRAPE_ODE_DONE);
        worst = fmax(worst, ode_example_error(e, &run));
    }
    ode_example_end(&run);
    return worst;
}

/* The error is largest where the solution changes fastest, and steps there may be long or short by chance, which
 * changes it by a factor of up to 16^2. So it is the geometric mean over several sequences. */
static double mean_random_error(drape_context *ctx, const ode_example *e, int32_t n) {
    double sum = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        sum += log(random_steps_error(ctx, e, seed * 1000003 + (uint64_t)n, n));
    return exp(sum / SEEDS);
}

static void bdf2_keeps_its_order_on_random_steps(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t i = 0; ode_example_at(i); i++) {
        const ode_example *e = ode_example_at(i);
        int32_t first = FIRST_RANDOM * (e->order == 1 ? 1 : e->damping == 5 ? 4 : 16); /* errors from 1e-4 down */
        double error[SIZES];
        for (int32_t k = 0; k < SIZES; k++) error[k] = mean_random_error(ctx, e, first << k);
        double order = slope_of(error, SIZES);
        printf("bdf2, random steps, example %-10s order %.3f, errors %.2g to %.2g\n", e->name, order, error[0],
               error[HALVINGS]);
        ASSERT_NEAR(order, 2, 0.3);
    }
    drape_context_destroy(ctx);
}

/* With the coefficients for equal steps, as a careless program has them, order 2 would be lost: so the test can see
 * it. Here by hand: Y_1 = 4/3 Y_0 - 1/3 Y_-1 + 2/3 h f on random steps. */
static void constant_coefficients_would_lose_it(void **state) {
    double error[3];
    (void)state;
    for (int32_t k = 0; k < 3; k++) {
        int32_t n = 1024 << k;
        test_random random = {7};
        double before = exp(2.0 / n), Y = before * before, past = before, t = 2.0 / n, sum = t;
        for (int32_t i = 2; sum < 0.9; i++) {
            double h = (0.5 + 1.5 * test_random_unit(&random)) / n;
            double next = (4.0 / 3 * Y - 1.0 / 3 * past) / (1 - 2.0 / 3 * h * 2);
            past = Y, Y = next, sum += h;
        }
        (void)t;
        error[k] = fabs(log(Y) / 2 - sum); /* time of the state against the time gone by */
    }
    assert_true(slope_of(error, 3) < 1.5);
}

/* ---- Newton's variants ---- */

static void newton_variants_keep_the_order(void **state) {
    drape_context *ctx = test_context(1);
    const ode_example *e = ode_example_find("3");
    (void)state;
    for (int32_t kind = DRAPE_ODE_NEWTON; drape_ode_newton_kind_name((drape_ode_newton_kind)kind); kind++) {
        drape_ode_settings s = settings_of("bdf2", 1);
        double last;
        s.newton.kind = (drape_ode_newton_kind)kind;
        double order = measured_order(ctx, e, s, 0.02, 2, &last);
        printf("bdf2 with %-18s order %.3f\n", drape_ode_newton_kind_name((drape_ode_newton_kind)kind), order);
        ASSERT_NEAR(order, 2, 0.3); /* the examples are linear: one linearised iteration is exact */
    }
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_has_its_order),
        cmocka_unit_test(bdf2_keeps_its_order_on_random_steps),
        cmocka_unit_test(constant_coefficients_would_lose_it),
        cmocka_unit_test(newton_variants_keep_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
