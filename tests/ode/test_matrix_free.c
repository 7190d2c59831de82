/* Newton's method without a matrix. It gives the same solutions as with the exact Jacobian, on every example by every
 * implicit method, on stiff and nonlinear systems and with constraints. Also 10,000 unknowns in bounded memory, and
 * the preconditioner.
 */
#include "ode/chain.h"
#include "ode_examples.h"

#include <stdio.h>

static drape_ode_settings settings_of(const char *method, drape_ode_newton_kind kind, double step) {
    drape_ode_settings s = drape_ode_defaults();
    s.method = method;
    s.step = step;
    s.newton.kind = kind;
    s.newton.rtol = 1e-12;
    s.newton.atol = 1e-13;
    return s;
}

/* The example without a Jacobian. */
static drape_ode *begin_example(drape_context *ctx, const ode_example *e, const drape_ode_settings *s) {
    drape_ode_system system = ode_example_system(e);
    drape_ode *ode;
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, s, &ode));
    ASSERT_OK(ctx, drape_ode_start(ode, 0, e->start, e->order == 2 ? e->start + 1 : NULL));
    return ode;
}

static void examples_are_solved_without_a_jacobian(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t m = 0; drape_ode_method_name(m); m++)
        for (int32_t i = 0; ode_example_at(i); i++) {
            const char *method = drape_ode_method_name(m);
            const ode_example *e = ode_example_at(i);
            if (!drape_ode_method_implicit(method)) continue;
            drape_ode_settings s = settings_of(method, DRAPE_ODE_MATRIX_FREE, e->end / 400);
            drape_ode_result result;
            ode_example_run exact;
            drape_ode *ode = begin_example(ctx, e, &s);
            ASSERT_OK(ctx, drape_ode_advance(ode, e->end, &result));
            assert_int_equal(result.reason, DRAPE_ODE_DONE);
            assert_int_equal(drape_ode_count(ode).jacobians, 0);
            assert_true(drape_ode_count(ode).linear_iterations > 0);
            s.newton.kind = DRAPE_ODE_NEWTON;
            ASSERT_OK(ctx, ode_example_begin(ctx, e, &s, &exact));
            ASSERT_OK(ctx, drape_ode_advance(exact.ode, e->end, &result));
            ASSERT_NEAR(drape_ode_x(ode)[0], drape_ode_x(exact.ode)[0], 1e-9 * fmax(1, fabs(drape_ode_x(ode)[0])));
            if (e->order == 2) ASSERT_NEAR(drape_ode_v(ode)[0], drape_ode_v(exact.ode)[0], 1e-9);
            drape_ode_destroy(ode);
            ode_example_end(&exact);
        }
    drape_context_destroy(ctx);
}

/* ---- Van der Pol's equation, y'' = mu (1 - y^2) y' - y, stiff from mu = 10 on ---- */

static drape_status van_der_pol(void *user, double t, const double *y, const double *v, double *out) {
    double mu = *(const double *)user;
    (void)t, (void)v;
    out[0] = y[1];
    out[1] = mu * (1 - y[0] * y[0]) * y[1] - y[0];
    return DRAPE_OK;
}

static drape_status van_der_pol_jacobian(void *user, double t, const double *y, const double *v, double *K,
                                         double *D) {
    double mu = *(const double *)user;
    (void)t, (void)v, (void)D;
    K[1] = 1;
    K[2] = -2 * mu * y[0] * y[1] - 1;
    K[3] = mu * (1 - y[0] * y[0]);
    return DRAPE_OK;
}

static double run_van_der_pol(drape_context *ctx, double mu, const char *method, bool exact,
                              drape_ode_counts *counts) {
    drape_ode_settings s = settings_of(method, exact ? DRAPE_ODE_NEWTON : DRAPE_ODE_MATRIX_FREE, 0);
    drape_ode_dense_settings d = {.order = 1, .size = 2, .user = &mu, .jacobian = van_der_pol_jacobian};
    drape_ode_system system = {.order = 1, .size = 2, .user = &mu, .f = van_der_pol};
    const double start[2] = {2, 0};
    drape_ode_dense *dense;
    drape_ode_result result;
    drape_ode *ode;
    s.control = DRAPE_ODE_ERROR;
    s.rtol = s.atol = 1e-8;
    ASSERT_OK(ctx, drape_ode_dense_create(ctx, &d, &dense));
    if (exact) system.linear = drape_ode_dense_linear(dense);
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
    ASSERT_OK(ctx, drape_ode_start(ode, 0, start, NULL));
    ASSERT_OK(ctx, drape_ode_advance(ode, 0.5 * mu, &result));
    assert_int_equal(result.reason, DRAPE_ODE_DONE);
    *counts = drape_ode_count(ode);
    double y = drape_ode_x(ode)[0];
    drape_ode_destroy(ode);
    drape_ode_dense_destroy(dense);
    return y;
}

static void stiff_steps_stay_as_long(void **state) {
    static const char *const methods[] = {"bdf2", "bdf5", "tr-bdf2"};
    drape_context *ctx = test_context(1);
    (void)state;
    for (double mu = 10; mu <= 1000; mu *= 10)
        for (int32_t m = 0; m < 3; m++) {
            drape_ode_counts with, without;
            double a = run_van_der_pol(ctx, mu, methods[m], true, &with);
            double b = run_van_der_pol(ctx, mu, methods[m], false, &without);
            printf("van der Pol, mu %4g, %-8s steps %lld and %lld, f %lld and %lld, difference %.1g\n", mu,
                   methods[m], (long long)with.steps, (long long)without.steps, (long long)with.f,
                   (long long)without.f, fabs(a - b));
            ASSERT_NEAR(a, b, 1e-6);
            assert_true(without.steps < with.steps + with.steps / 4 + 10);
        }
    drape_context_destroy(ctx);
}

/* ---- A chain of masses, the first of which is held ---- */

static void hold_first(void *user, drape_ode_filtered what, double *r) {
    const chain *c = user;
    (void)what;
    if (c->nailed) r[0] = r[1] = 0;
}

static void constraints_are_kept(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t potential = 0; potential < 2; potential++) {
        chain c = chain_make(500, 0.2);
        drape_ode_settings s = settings_of("bdf2", DRAPE_ODE_MATRIX_FREE, 0.005);
        drape_ode_system system = chain_system(&c);
        drape_ode_result result;
        drape_ode *ode;
        double x[CHAIN_SIZE], v[CHAIN_SIZE];
        c.nailed = true;
        system.filter = hold_first;
        if (potential) system.potential = chain_potential;
        ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
        chain_start(&c, x, v);
        ASSERT_OK(ctx, drape_ode_start(ode, 0, x, v));
        ASSERT_OK(ctx, drape_ode_advance(ode, 0.3, &result));
        assert_int_equal(result.reason, DRAPE_ODE_DONE);
        assert_true(drape_ode_x(ode)[0] == x[0] && drape_ode_x(ode)[1] == x[1]);
        assert_true(fabs(drape_ode_x(ode)[3] - x[3]) > 1e-3);
        drape_ode_destroy(ode);
    }
    drape_context_destroy(ctx);
}

/* ---- Diffusion on a square of SIDE x SIDE points: u' = (sum of the four neighbours - 4 u) / d^2, zero around ----
 */

enum { SIDE = 100, POINTS = SIDE * SIDE };

typedef struct diffusion {
    bool cubic; /* and - u^3 */
    double diagonal;
    int64_t asked, renewed;
} diffusion;

static drape_status diffuse(void *user, double t, const double *u, const double *v, double *out) {
    const diffusion *d = user;
    const double scale = (SIDE + 1.0) * (SIDE + 1.0);
    (void)t, (void)v;
    for (int32_t i = 0; i < SIDE; i++)
        for (int32_t j = 0; j < SIDE; j++) {
            int32_t p = i * SIDE + j;
            double sum = (i ? u[p - SIDE] : 0) + (i < SIDE - 1 ? u[p + SIDE] : 0) + (j ? u[p - 1] : 0) +
                         (j < SIDE - 1 ? u[p + 1] : 0);
            out[p] = scale * (sum - 4 * u[p]) - (d->cubic ? u[p] * u[p] * u[p] : 0);
        }
    return DRAPE_OK;
}

/* Symmetric Gauss-Seidel on I - c times the difference operator. */
static drape_status sweep(void *user, const drape_ode_point *at, bool moved, const double *r, double *d) {
    diffusion *it = user;
    const double k = at->c * (SIDE + 1.0) * (SIDE + 1.0), diagonal = 1 + 4 * k;
    it->asked++;
    it->renewed += moved;
    for (int32_t p = 0; p < POINTS; p++)
        d[p] = (r[p] + k * ((p >= SIDE ? d[p - SIDE] : 0) + (p % SIDE ? d[p - 1] : 0))) / diagonal;
    for (int32_t p = POINTS - 1; p >= 0; p--)
        d[p] += k * ((p < POINTS - SIDE ? d[p + SIDE] : 0) + (p % SIDE < SIDE - 1 ? d[p + 1] : 0)) / diagonal;
    return DRAPE_OK;
}

static drape_ode_counts diffuse_until(drape_context *ctx, const drape_ode_settings *s, diffusion *d,
                                      bool preconditioned, double end, double *u) {
    drape_ode_system system = {.order = 1, .size = POINTS, .user = d, .f = diffuse};
    drape_ode_result result;
    drape_ode *ode;
    const double pi = 3.14159265358979323846;
    int64_t before = (int64_t)drape_context_bytes(ctx);
    for (int32_t p = 0; p < POINTS; p++)
        u[p] = sin(pi * (p / SIDE + 1) / (SIDE + 1)) * sin(pi * (p % SIDE + 1) / (SIDE + 1));
    if (preconditioned) system.precondition = sweep;
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, s, &ode));
    int64_t vectors = ((int64_t)drape_context_bytes(ctx) - before) / (POINTS * (int64_t)sizeof(double));
    printf("10,000 unknowns: memory of %lld vectors\n", (long long)vectors);
    assert_in_range(vectors, s->newton.restart, s->newton.restart + 25); /* and no matrix */
    ASSERT_OK(ctx, drape_ode_start(ode, 0, u, NULL));
    ASSERT_OK(ctx, drape_ode_advance(ode, end, &result));
    assert_int_equal(result.reason, DRAPE_ODE_DONE);
    memcpy(u, drape_ode_x(ode), POINTS * sizeof *u);
    drape_ode_counts counts = drape_ode_count(ode);
    drape_ode_destroy(ode);
    return counts;
}

/* The start is an eigenvector, whose eigenvalue is -2 pi^2 except for the grid. A whole step of bdf2 is 800 times
 * what an explicit method could take. */
static void diffusion_of_ten_thousand_unknowns(void **state) {
    static double u[POINTS], start[POINTS];
    drape_context *ctx = test_context(1);
    diffusion d = {0};
    drape_ode_settings s = settings_of("bdf2", DRAPE_ODE_MATRIX_FREE, 0.01);
    const double pi = 3.14159265358979323846, scale = (SIDE + 1.0) * (SIDE + 1.0);
    double sine = sin(0.5 * pi / (SIDE + 1)), rate = -8 * scale * sine * sine, worst = 0;
    (void)state;
    s.newton.restart = 20;
    s.newton.rtol = 1e-8;
    s.control = DRAPE_ODE_ERROR;
    s.rtol = 1e-5;
    s.atol = 1e-7;
    diffuse_until(ctx, &s, &d, false, 0.1, u);
    for (int32_t p = 0; p < POINTS; p++) {
        start[p] = sin(pi * (p / SIDE + 1) / (SIDE + 1)) * sin(pi * (p % SIDE + 1) / (SIDE + 1));
        worst = fmax(worst, fabs(u[p] - exp(rate * 0.1) * start[p]));
    }
    printf("diffusion: wrong by %.2g\n", worst);
    assert_true(worst < 1e-4);
    drape_context_destroy(ctx);
}

static void a_preconditioner_saves_products(void **state) {
    static double a[POINTS], b[POINTS];
    drape_context *ctx = test_context(1);
    diffusion plain = {.cubic = true}, swept = {.cubic = true};
    drape_ode_settings s = settings_of("implicit-euler", DRAPE_ODE_MATRIX_FREE, 0.005);
    double worst = 0;
    (void)state;
    s.newton.rtol = 1e-8;
    s.newton.restart = 60;
    drape_ode_counts without = diffuse_until(ctx, &s, &plain, false, 0.05, a);
    drape_ode_counts with = diffuse_until(ctx, &s, &swept, true, 0.05, b);
    for (int32_t p = 0; p < POINTS; p++) worst = fmax(worst, fabs(a[p] - b[p]));
    printf("products %lld, preconditioned %lld\n", (long long)without.linear_iterations,
           (long long)with.linear_iterations);
    assert_true(worst < 1e-7);
    assert_true(with.linear_iterations < without.linear_iterations);
    assert_true(plain.asked == 0 && swept.asked > 0 && swept.renewed == with.linear_solves);
    drape_context_destroy(ctx);
}

static void bits_do_not_depend_on_threads(void **state) {
    static double u[2][POINTS];
    (void)state;
    for (int32_t k = 0; k < 2; k++) {
        drape_context *ctx = test_context(k ? 3 : 1);
        diffusion d = {.cubic = true};
        drape_ode_settings s = settings_of("bdf2", DRAPE_ODE_MATRIX_FREE, 0.01);
        diffuse_until(ctx, &s, &d, false, 0.03, u[k]);
        drape_context_destroy(ctx);
    }
    assert_memory_equal(u[0], u[1], sizeof u[0]);
}

/* ---- What is refused, what stops it ---- */

static void bad_settings_are_refused(void **state) {
    drape_context *ctx = test_context(1);
    const ode_example *e = ode_example_find("1b");
    drape_ode_system system = ode_example_system(e);
    drape_ode *ode;
    (void)state;
    drape_ode_settings s = settings_of("bdf2", DRAPE_ODE_NEWTON, 0.1);
    assert_int_equal(drape_ode_create(ctx, &system, &s, &ode), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "DRAPE_ODE_MATRIX_FREE"));
    s.newton.kind = DRAPE_ODE_MATRIX_FREE;
    s.newton.restart = DRAPE_ODE_MOST_RESTART + 1;
    assert_int_equal(drape_ode_create(ctx, &system, &s, &ode), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "newton.restart is 257"));
    s.newton.restart = 0;
    s.newton.max_products = -1;
    assert_int_equal(drape_ode_create(ctx, &system, &s, &ode), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "max_products"));
    drape_context_destroy(ctx);
}

/* y' = 8 y with c = 1/8: A is zero. */
static drape_status grow(void *user, double t, const double *y, const double *v, double *out) {
    (void)user, (void)t, (void)v;
    out[0] = 8 * y[0];
    return DRAPE_OK;
}

static void singular_systems_are_a_reason(void **state) {
    drape_context *ctx = test_context(1);
    drape_ode_system system = {.order = 1, .size = 1, .f = grow};
    drape_ode_settings s = settings_of("implicit-euler", DRAPE_ODE_MATRIX_FREE, 0.125);
    const double one = 1;
    drape_ode_result result;
    drape_ode *ode;
    (void)state;
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
    ASSERT_OK(ctx, drape_ode_start(ode, 0, &one, NULL));
    ASSERT_OK(ctx, drape_ode_step(ode, 0.125, &result));
    assert_int_not_equal(result.reason, DRAPE_ODE_DONE);
    assert_true(strlen(drape_ode_explain(ode)) > 0);
    drape_ode_destroy(ode);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_are_solved_without_a_jacobian),
        cmocka_unit_test(stiff_steps_stay_as_long),
        cmocka_unit_test(constraints_are_kept),
        cmocka_unit_test(diffusion_of_ten_thousand_unknowns),
        cmocka_unit_test(a_preconditioner_saves_products),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(singular_systems_are_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
