/* Stability, measured by stepping, against closed forms: R(z), the companion matrix, the limits of explicit methods,
 * A-stability, the sectors of BDF. Also what a run does with a step beyond the limit. */
#include "support/testing.h"

#include "ode_examples.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

typedef double complex number;

static drape_ode_stability stability(drape_context *ctx, const char *method, number z) {
    drape_ode_settings s = drape_ode_defaults();
    drape_ode_stability out;
    s.method = method;
    ASSERT_OK(ctx, drape_ode_stability_at(ctx, &s, creal(z), cimag(z), &out));
    return out;
}

static double oscillator_radius(drape_context *ctx, const char *method, double stiffness, double damping) {
    drape_ode_settings s = drape_ode_defaults();
    double radius;
    s.method = method;
    ASSERT_OK(ctx, drape_ode_stability_oscillator(ctx, &s, stiffness, damping, &radius));
    return radius;
}

/* ---- Closed forms ---- */

/* 1 + z + ... + z^n / n! */
static number exponential(number z, int32_t n) {
    number sum = 1, term = 1;
    for (int32_t k = 1; k <= n; k++) sum += term *= z / k;
    return sum;
}

static number euler(number z) { return exponential(z, 1); }
static number midpoint(number z) { return exponential(z, 2); }
static number third(number z) { return exponential(z, 3); }
static number fourth(number z) { return exponential(z, 4); }
static number dormand_prince(number z) { return exponential(z, 5) + cpow(z, 6) / 600; }
static number implicit_euler(number z) { return 1 / (1 - z); }
static number implicit_midpoint(number z) { return (1 + z / 2) / (1 - z / 2); }

/* Hosea and Shampine 1996: R of TR-BDF2 as one fraction, with d = 1 - 1/sqrt 2. */
static number tr_bdf2(number z) {
    const double d = 1 - sqrt(0.5);
    return (1 + (1 - 2 * d) * z) / ((1 - d * z) * (1 - d * z));
}

static const struct one_step {
    const char *method;
    number (*R)(number z);
} one_step[] = {{"explicit-euler", euler},
                {"explicit-midpoint", midpoint},
                {"rk4", fourth},
                {"bogacki-shampine", third},
                {"dormand-prince", dormand_prince},
                {"implicit-euler", implicit_euler},
                {"implicit-midpoint", implicit_midpoint},
                {"tr-bdf2", tr_bdf2}};

enum { ONE_STEP = sizeof one_step / sizeof *one_step, GRID = 25 };

/* Points of a grid that has no pole of any method on it. */
static number grid_point(int32_t i, int32_t j) {
    return -7.03 + 10.1 * i / (GRID - 1) + I * (-5.07 + 10.2 * j / (GRID - 1));
}

static void assert_number(const double got[2], number want, const char *what) {
    double scale = cabs(want) > 1 ? cabs(want) : 1;
    assert_near(got[0], creal(want), 1e-10 * scale, what);
    assert_near(got[1], cimag(want), 1e-10 * scale, what);
}

static void one_step_methods_match_their_functions(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t m = 0; m < ONE_STEP; m++)
        for (int32_t i = 0; i < GRID; i++)
            for (int32_t j = 0; j < GRID; j++) {
                number R = one_step[m].R(grid_point(i, j));
                drape_ode_stability s = stability(ctx, one_step[m].method, grid_point(i, j));
                assert_int_equal(s.steps, 1);
                assert_number(s.factor[0], R, one_step[m].method);
                assert_near(s.radius, cabs(R), 1e-10 * (1 + cabs(R)), one_step[m].method);
            }
    drape_context_destroy(ctx);
}

/* Table 3 of the survey: alpha_0 is the newest. */
static const double table3[7][7] = {
    [2] = {3.0 / 2, -2, 1.0 / 2},
    [3] = {11.0 / 6, -3, 3.0 / 2, -1.0 / 3},
    [4] = {25.0 / 12, -4, 3, -4.0 / 3, 1.0 / 4},
    [5] = {137.0 / 60, -5, 5, -10.0 / 3, 5.0 / 4, -1.0 / 5},
    [6] = {147.0 / 60, -6, 15.0 / 2, -20.0 / 3, 15.0 / 4, -6.0 / 5, 1.0 / 6},
};

static const char *bdf_name(int32_t k) {
    static const char *const names[] = {"implicit-euler", "implicit-euler", "bdf2", "bdf3", "bdf4", "bdf5", "bdf6"};
    return names[k];
}

static void bdf_matches_table_3(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t k = 2; k <= 6; k++)
        for (int32_t i = 0; i < GRID; i++)
            for (int32_t j = 0; j < GRID; j++) {
                number z = grid_point(i, j);
                drape_ode_stability s = stability(ctx, bdf_name(k), z);
                assert_int_equal(s.steps, k);
                for (int32_t l = 0; l < k; l++)
                    assert_number(s.factor[l], -table3[k][l + 1] / (table3[k][0] - z), bdf_name(k));
            }
    drape_context_destroy(ctx);
}

/* Every zero of the companion polynomial is within the radius, and one is on it. This counts the turns of the
 * polynomial around circles just inside and outside (the argument principle), without deflation. */
static int32_t zeros_within(int32_t k, const number *factor, double radius) {
    enum { POINTS = 4096 };
    double turns = 0;
    number before = 0;
    for (int32_t i = 0; i <= POINTS; i++) {
        number zeta = radius * cexp(2 * PI * I * i / POINTS), p = cpow(zeta, k);
        for (int32_t j = 0; j < k; j++) p -= factor[j] * cpow(zeta, k - 1 - j);
        if (i) turns += carg(p / before);
        before = p;
    }
    return (int32_t)lround(turns / (2 * PI));
}

static void spectral_radii_are_right(void **state) {
    drape_context *ctx = test_context(1);
    test_random random = {5};
    (void)state;
    for (int32_t i = 0; i < GRID * GRID; i++) {
        number z = grid_point(i / GRID, i % GRID), root = csqrt(1 + 2 * z);
        double a = cabs((2 + root) / (3 - 2 * z)), b = cabs((2 - root) / (3 - 2 * z)), want = a > b ? a : b;
        assert_near(stability(ctx, "bdf2", z).radius, want, 1e-10 * (1 + want), "bdf2");
    }
    for (int32_t k = 3; k <= 6; k++)
        for (int32_t trial = 0; trial < 20; trial++) {
            number z = test_random_between(&random, -5, 1) + I * test_random_between(&random, -5, 5), factor[6];
            drape_ode_stability s = stability(ctx, bdf_name(k), z);
            for (int32_t j = 0; j < k; j++) factor[j] = s.factor[j][0] + I * s.factor[j][1];
            assert_int_equal(zeros_within(k, factor, 1.02 * s.radius), k);
            assert_true(zeros_within(k, factor, 0.98 * s.radius) < k);
        }
    drape_context_destroy(ctx);
}

static void oscillators_match_closed_forms(void **state) {
    drape_context *ctx = test_context(1);
    test_random random = {3};
    (void)state;
    for (int32_t i = 0; i < 400; i++) {
        double k = test_random_between(&random, 0.01, 6), d = test_random_between(&random, 0, 2);
        /* Lagging leapfrog: zeta^2 - (2 - k - d) zeta + 1 - d */
        number half = (2 - k - d) / 2, root = csqrt(half * half - (1 - d));
        double want = fmax(cabs(half + root), cabs(half - root));
        if (cabs(root) > 1e-2) assert_near(oscillator_radius(ctx, "verlet", k, d), want, 1e-10, "verlet");
        number lambda = -d / 2 + csqrt(d * d / 4 - k), other = -d / 2 - csqrt(d * d / 4 - k);
        for (int32_t m = 0; m < ONE_STEP; m++) {
            want = fmax(cabs(one_step[m].R(lambda)), cabs(one_step[m].R(other)));
            if (cabs(lambda - other) > 1e-1)
                assert_near(oscillator_radius(ctx, one_step[m].method, k, d), want, 1e-9 * (1 + want * want),
                            one_step[m].method);
        }
    }
    drape_context_destroy(ctx);
}

/* ---- A-stability, sectors, limits ---- */

/* Largest radius on the ray at so many degrees from the negative real axis. */
static double worst_on_ray(drape_context *ctx, const char *method, double degrees) {
    double worst = 0;
    for (double size = 1e-3; size < 1e6; size *= 1.1) {
        number z = -size * cexp(I * degrees * PI / 180);
        double radius = stability(ctx, method, z).radius;
        if (radius > worst) worst = radius;
    }
    return worst;
}

static void a_stable_methods_are(void **state) {
    static const char *const methods[] = {"implicit-euler", "implicit-midpoint", "tr-bdf2", "bdf2"};
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t m = 0; m < 3; m++)
        for (double degrees = -90; degrees <= 90; degrees += 5)
            assert_true(worst_on_ray(ctx, methods[m], degrees) <= 1 + 1e-10);
    drape_context_destroy(ctx);
}

/* Hairer and Wanner II, table V.2.1 */
static void bdf_sectors_are_those_of_the_books(void **state) {
    static const double alpha[] = {[3] = 86.03, [4] = 73.35, [5] = 51.84, [6] = 17.84};
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t k = 3; k <= 6; k++) {
        assert_true(worst_on_ray(ctx, bdf_name(k), alpha[k] - 0.1) <= 1 + 1e-9);
        assert_true(worst_on_ray(ctx, bdf_name(k), alpha[k] + 0.5) > 1 + 1e-5);
    }
    drape_context_destroy(ctx);
}

/* Where |R| leaves 1 along a direction, between low (stable) and high. */
static double limit_of(drape_context *ctx, const char *method, number direction, double low, double high) {
    for (int32_t i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        if (stability(ctx, method, middle * direction).radius <= 1) low = middle;
        else high = middle;
    }
    return low;
}

static void explicit_limits_are_where_theory_puts_them(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    ASSERT_NEAR(limit_of(ctx, "explicit-euler", -1, 0.5, 9), 2, 1e-9);
    ASSERT_NEAR(limit_of(ctx, "explicit-midpoint", -1, 0.5, 9), 2, 1e-9);
    ASSERT_NEAR(limit_of(ctx, "bogacki-shampine", -1, 0.5, 9), 2.512745326618329, 1e-9);
    ASSERT_NEAR(limit_of(ctx, "rk4", -1, 0.5, 9), 2.785293563405282, 1e-9);
    ASSERT_NEAR(limit_of(ctx, "bogacki-shampine", I, 0.5, 9), sqrt(3), 1e-7);
    ASSERT_NEAR(limit_of(ctx, "rk4", I, 0.5, 9), sqrt(8), 1e-7);
    assert_true(stability(ctx, "explicit-euler", 0.01 * I).radius > 1); /* never on the imaginary axis */
    /* Verlet: h omega = 2, that is stiffness 4 with h = 1. */
    assert_true(oscillator_radius(ctx, "verlet", 3.999, 0) <= 1 + 1e-10);
    assert_true(oscillator_radius(ctx, "verlet", 4.001, 0) > 1.01);
    drape_context_destroy(ctx);
}

static void verlet_has_no_test_equation(void **state) {
    drape_context *ctx = test_context(1);
    drape_ode_settings s = drape_ode_defaults();
    drape_ode_stability out;
    double radius;
    (void)state;
    s.method = "verlet";
    assert_int_equal(drape_ode_stability_at(ctx, &s, -1, 0, &out), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "second order"));
    s.method = "bdf3";
    assert_int_equal(drape_ode_stability_oscillator(ctx, &s, 1, 0, &radius), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_stability_at(ctx, &s, NAN, 0, &out), DRAPE_ERROR_ARGUMENT);
    drape_context_destroy(ctx);
}

/* ---- Runs beyond the limit ---- */

static void fixed_steps_beyond_the_limit_are_refused(void **state) {
    static const struct {
        const char *method, *example;
        double limit;
    } cases[] = {{"explicit-euler", "1b", 2.0 / 15},
                 {"rk4", "1b", 2.785293563 / 15},
                 {"verlet", "oscillator", 2 / 2.2360679775},
                 {"explicit-euler", "2", 2 / 4.4364916731}};
    drape_context *ctx = test_context(1);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        drape_ode_settings s = drape_ode_defaults();
        ode_example_run run;
        drape_ode_result result;
        s.method = cases[i].method;
        s.step = 1;
        ASSERT_OK(ctx, ode_example_begin(ctx, ode_example_find(cases[i].example), &s, &run));
        ASSERT_OK(ctx, drape_ode_step(run.ode, 1.001 * cases[i].limit, &result));
        assert_int_equal(result.reason, DRAPE_ODE_UNSTABLE);
        assert_true(result.t == 0);
        const char *words = strstr(drape_ode_explain(run.ode), "at most ");
        assert_non_null(words);
        ASSERT_NEAR(strtod(words + 8, NULL), cases[i].limit, 1e-3 * cases[i].limit);
        ASSERT_OK(ctx, drape_ode_step(run.ode, 0.999 * cases[i].limit, &result));
        assert_int_equal(result.reason, DRAPE_ODE_DONE);
        ode_example_end(&run);
    }
    drape_context_destroy(ctx);
}

/* Explicit Euler is unstable for oscillations at any step: short ones are a matter of accuracy, and are let through.
 */
static void steps_without_any_limit_are_let_through(void **state) {
    drape_context *ctx = test_context(1);
    drape_ode_settings s = drape_ode_defaults();
    ode_example_run run;
    drape_ode_result result;
    (void)state;
    s.method = "explicit-euler";
    s.step = 0.1;
    ASSERT_OK(ctx, ode_example_begin(ctx, ode_example_find("oscillator"), &s, &run));
    ASSERT_OK(ctx, drape_ode_step(run.ode, 0.1, &result));
    assert_int_equal(result.reason, DRAPE_ODE_DONE);
    ode_example_end(&run);
    drape_context_destroy(ctx);
}

static void controlled_steps_stay_below_the_limit(void **state) {
    drape_context *ctx = test_context(1);
    drape_ode_settings s = drape_ode_defaults();
    ode_example_run run;
    drape_ode_result result;
    (void)state;
    s.method = "explicit-euler";
    s.control = DRAPE_ODE_ERROR;
    s.step = 1;
    s.rtol = s.atol = 1e3; /* the error would allow anything */
    ASSERT_OK(ctx, ode_example_begin(ctx, ode_example_find("1b"), &s, &run));
    while (drape_ode_time(run.ode) < 5) {
        ASSERT_OK(ctx, drape_ode_next(run.ode, 5, &result));
        assert_int_equal(result.reason, DRAPE_ODE_DONE);
        assert_true(result.step <= 2.0 / 15 * (1 + 1e-6));
    }
    ode_example_end(&run);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_step_methods_match_their_functions),
        cmocka_unit_test(bdf_matches_table_3),
        cmocka_unit_test(spectral_radii_are_right),
        cmocka_unit_test(oscillators_match_closed_forms),
        cmocka_unit_test(a_stable_methods_are),
        cmocka_unit_test(bdf_sectors_are_those_of_the_books),
        cmocka_unit_test(explicit_limits_are_where_theory_puts_them),
        cmocka_unit_test(verlet_has_no_test_equation),
        cmocka_unit_test(fixed_steps_beyond_the_limit_are_refused),
        cmocka_unit_test(steps_without_any_limit_are_let_through),
        cmocka_unit_test(controlled_steps_stay_below_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
