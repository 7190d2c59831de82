/* What methods conserve, and what must not depend on how a system is written or on the number of threads. */
#include "ode/chain.h"

#include "ode_examples.h"

#include <stdio.h>
#include <stdlib.h>

static drape_ode_settings settings_of(const char *method, double step) {
    drape_ode_settings s = drape_ode_defaults();
    s.method = method;
    s.step = step;
    s.newton.rtol = 1e-13;
    s.newton.atol = 1e-14;
    return s;
}

/* ---- Verlet ---- */

static double oscillator_energy(const drape_ode *ode) {
    double x = *drape_ode_x(ode), v = *drape_ode_v(ode);
    return 0.5 * v * v + 2.5 * x * x;
}

/* 100,000 steps: the energy swings by O(h^2) and does not drift; what the method conserves exactly, v^2/2 + omega^2
 * x^2/2 (1 - (h omega)^2/4), is left as it was except for rounding. */
static void verlet_does_not_drift(void **state) {
    enum { STEPS = 100000 };
    drape_context *ctx = test_context(1);
    const ode_example *e = ode_example_find("oscillator");
    drape_ode_settings s = settings_of("verlet", 0.05);
    ode_example_run run;
    double low = INFINITY, high = 0, drift = 0, share = 0.25 * s.step * s.step * e->stiffness;
    (void)state;
    ASSERT_OK(ctx, ode_example_begin(ctx, e, &s, &run));
    for (int32_t i = 0; i < STEPS; i++) {
        ASSERT_OK(ctx, drape_ode_step(run.ode, s.step, NULL));
        double E = oscillator_energy(run.ode), x = *drape_ode_x(run.ode);
        low = fmin(low, E), high = fmax(high, E);
        drift = fmax(drift, fabs(E - share * e->stiffness / 2 * x * x - 0.5));
    }
    printf("energy of 0.5: between %.6f and %.6f; what is conserved changes by %.2g\n", low, high, drift);
    assert_true(high - low < 0.5 * 0.05 * 0.05 * 5); /* (h omega)^2 */
    assert_true(drift < 1e-11);
    assert_int_equal(drape_ode_count(run.ode).f, STEPS + 1);
    ode_example_end(&run);
    drape_context_destroy(ctx);
}

/* The same measurement sees the drift of others. */
static void others_do_drift(void **state) {
    static const char *const methods[] = {"rk4", "implicit-euler", "bdf2"};
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t m = 0; m < 3; m++) {
        drape_ode_settings s = settings_of(methods[m], 0.05);
        ode_example_run run;
        ASSERT_OK(ctx, ode_example_begin(ctx, ode_example_find("oscillator"), &s, &run));
        ASSERT_OK(ctx, drape_ode_advance(run.ode, 5000, NULL));
        assert_true(oscillator_energy(run.ode) < 0.499);
        ode_example_end(&run);
    }
    drape_context_destroy(ctx);
}

/* Steps forwards, velocity turned round, as many steps: back at the start. */
static void verlet_is_reversible(void **state) {
    drape_context *ctx = test_context(1);
    chain_run run = {.c = chain_make(500, 0)};
    drape_ode_settings s = settings_of("verlet", 0.001);
    double x[CHAIN_SIZE], v[CHAIN_SIZE];
    (void)state;
    chain_begin(ctx, &s, &run);
    ASSERT_OK(ctx, drape_ode_advance(run.ode, 0.5, NULL));
    memcpy(x, drape_ode_x(run.ode), sizeof x);
    for (int32_t i = 0; i < CHAIN_SIZE; i++) v[i] = -drape_ode_v(run.ode)[i];
    ASSERT_OK(ctx, drape_ode_start(run.ode, 0, x, v));
    ASSERT_OK(ctx, drape_ode_advance(run.ode, 0.5, NULL));
    chain_start(&run.c, x, v);
    assert_true(chain_distance(drape_ode_x(run.ode), x) < 1e-9);
    chain_finish(&run);
    drape_context_destroy(ctx);
}

/* ---- Implicit midpoint ---- */

/* Euler's equations of a free rigid body: y' = y x (y / inertia), quadratic invariants |y|^2 and sum y^2 / inertia.
 */
static const double inverse_inertia[3] = {1, 1.0 / 2, 1.0 / 3.5};

static drape_status spin(void *user, double t, const double *y, const double *v, double *out) {
    const double *w = inverse_inertia;
    (void)user, (void)t, (void)v;
    out[0] = y[1] * y[2] * (w[2] - w[1]);
    out[1] = y[2] * y[0] * (w[0] - w[2]);
    out[2] = y[0] * y[1] * (w[1] - w[0]);
    return DRAPE_OK;
}

static drape_status spin_jacobian(void *user, double t, const double *y, const double *v, double *K, double *D) {
    const double *w = inverse_inertia, a = w[2] - w[1], b = w[0] - w[2], c = w[1] - w[0];
    const double J[9] = {0, a * y[2], a * y[1], b * y[2], 0, b * y[0], c * y[1], c * y[0], 0};
    (void)user, (void)t, (void)v, (void)D;
    memcpy(K, J, sizeof J);
    return DRAPE_OK;
}

/* Largest change of the two invariants over 2000 steps of 0.1 s. */
static double invariant_change(drape_context *ctx, const char *method) {
    drape_ode_dense_settings d = {.order = 1, .size = 3, .jacobian = spin_jacobian};
    drape_ode_system system = {.order = 1, .size = 3, .f = spin};
    drape_ode_settings s = settings_of(method, 0.1);
    drape_ode_dense *dense;
    drape_ode *ode;
    double y[3] = {0.4, 1.1, 0.3}, change = 0, before[2] = {0, 0};
    ASSERT_OK(ctx, drape_ode_dense_create(ctx, &d, &dense));
    system.linear = drape_ode_dense_linear(dense);
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
    ASSERT_OK(ctx, drape_ode_start(ode, 0, y, NULL));
    for (int32_t i = 0; i < 2000; i++) {
        double now[2] = {0, 0};
        const double *Y = drape_ode_x(ode);
        for (int32_t a = 0; a < 3; a++) now[0] += Y[a] * Y[a], now[1] += Y[a] * Y[a] * inverse_inertia[a];
        if (i == 0) memcpy(before, now, sizeof now);
        change = fmax(change, fmax(fabs(now[0] - before[0]), fabs(now[1] - before[1])));
        ASSERT_OK(ctx, drape_ode_step(ode, 0.1, NULL));
    }
    drape_ode_destroy(ode);
    drape_ode_dense_destroy(dense);
    return change;
}

static void implicit_midpoint_keeps_quadratic_invariants(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    double kept = invariant_change(ctx, "implicit-midpoint");
    printf("quadratic invariants change by %.2g\n", kept);
    assert_true(kept < 1e-11);
    assert_true(invariant_change(ctx, "bdf2") > 1e-3); /* so that it can be seen */
    assert_true(invariant_change(ctx, "rk4") > 1e-9);
    drape_context_destroy(ctx);
}

/* ---- Written as first or as second order ---- */

static drape_status first_order_f(void *user, double t, const double *y, const double *v, double *out) {
    chain *c = user;
    (void)v;
    memcpy(out, y + CHAIN_SIZE, CHAIN_SIZE * sizeof *out);
    chain_f(c, t, y, y + CHAIN_SIZE, out + CHAIN_SIZE);
    return chain_mass_solve(c, out + CHAIN_SIZE);
}

static drape_status first_order_jacobian(void *user, double t, const double *y, const double *v, double *J,
                                         double *D) {
    chain *c = user;
    enum { N = CHAIN_SIZE };
    (void)v, (void)D;
    memset(c->K, 0, sizeof c->K);
    memset(c->D, 0, sizeof c->D);
    chain_jacobian(c, t, y, y + N, c->K, c->D);
    for (int32_t i = 0; i < N; i++) {
        J[i * 2 * N + N + i] = 1;
        for (int32_t j = 0; j < N; j++) {
            J[(N + i) * 2 * N + j] = c->K[i * N + j] / c->mass[i / 2];
            J[(N + i) * 2 * N + N + j] = c->D[i * N + j] / c->mass[i / 2];
        }
    }
    return DRAPE_OK;
}

static void both_forms_give_the_same(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t m = 0; drape_ode_method_name(m); m++) {
        if (drape_ode_method_second_order(drape_ode_method_name(m))) continue;
        drape_ode_settings s = settings_of(drape_ode_method_name(m), 0.002);
        chain_run run = {.c = chain_make(200, 0.3)};
        drape_ode_dense_settings d = {
            .order = 1, .size = 2 * CHAIN_SIZE, .user = &run.c, .jacobian = first_order_jacobian};
        drape_ode_system system = {.order = 1, .size = 2 * CHAIN_SIZE, .user = &run.c, .f = first_order_f};
        drape_ode_dense *dense;
        drape_ode *ode;
        double y[2 * CHAIN_SIZE];
        chain_begin(ctx, &s, &run);
        chain_start(&run.c, y, y + CHAIN_SIZE);
        ASSERT_OK(ctx, drape_ode_dense_create(ctx, &d, &dense));
        system.linear = drape_ode_dense_linear(dense);
        ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
        ASSERT_OK(ctx, drape_ode_start(ode, 0, y, NULL));
        ASSERT_OK(ctx, drape_ode_advance(ode, 0.1, NULL));
        ASSERT_OK(ctx, drape_ode_advance(run.ode, 0.1, NULL));
        assert_true(chain_distance(drape_ode_x(ode), drape_ode_x(run.ode)) < 1e-11);
        assert_true(chain_distance(drape_ode_x(ode) + CHAIN_SIZE, drape_ode_v(run.ode)) < 1e-9);
        drape_ode_destroy(ode);
        drape_ode_dense_destroy(dense);
        chain_finish(&run);
    }
    drape_context_destroy(ctx);
}

/* ---- Threads ---- */

enum { MANY = 30000 };

/* Masses on springs in a row, each solved by one Jacobi sweep of its own: large, and cheap. */
static drape_status row_f(void *user, double t, const double *x, const double *v, double *out) {
    (void)user, (void)t;
    for (int32_t i = 0; i < MANY; i++) {
        double left = i ? x[i - 1] : 0, right = i < MANY - 1 ? x[i + 1] : 0;
        out[i] = 50 * (left - 2 * x[i] + right) - 0.1 * v[i] - x[i] * x[i] * x[i];
    }
    return DRAPE_OK;
}

static drape_status row_prepare(void *user, const drape_ode_point *at) {
    *(double *)user = 1 + 0.1 * at->c + 200 * at->c * at->c;
    return DRAPE_OK;
}

static drape_status row_solve(void *user, const drape_ode_request *q, double *d, drape_ode_answer *answer) {
    for (int32_t i = 0; i < MANY; i++) d[i] = q->r[i] / *(double *)user;
    answer->iterations = 1;
    return DRAPE_OK;
}

static void run_row(int32_t threads, const char *method, double *x) {
    static double start[MANY], still[MANY];
    drape_context *ctx = test_context(threads);
    double diagonal;
    drape_ode_system system = {
        .order = 2, .size = MANY, .f = row_f, .linear = {&diagonal, row_prepare, row_solve, NULL}};
    drape_ode_settings s = settings_of(method, 0);
    drape_ode *ode;
    drape_ode_result result;
    s.control = DRAPE_ODE_ERROR;
    s.newton.kind = DRAPE_ODE_SIMPLIFIED;
    s.newton.max_iterations = 200;
    s.newton.line_search = DRAPE_ODE_SEARCH_OFF;
    for (int32_t i = 0; i < MANY; i++) start[i] = (i * 7919 % 1000) / 1000.0;
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
    ASSERT_OK(ctx, drape_ode_start(ode, 0, start, still));
    ASSERT_OK(ctx, drape_ode_advance(ode, 0.1, &result));
    assert_int_equal(result.reason, DRAPE_ODE_DONE);
    memcpy(x, drape_ode_x(ode), MANY * sizeof *x);
    drape_ode_destroy(ode);
    drape_context_destroy(ctx);
}

static void threads_change_no_bit(void **state) {
    static const char *const methods[] = {"dormand-prince", "verlet", "bdf2"};
    static double one[MANY], three[MANY];
    (void)state;
    for (int32_t m = 0; m < 3; m++) {
        run_row(1, methods[m], one);
        run_row(3, methods[m], three);
        assert_memory_equal(one, three, sizeof one);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verlet_does_not_drift),    cmocka_unit_test(others_do_drift),
        cmocka_unit_test(verlet_is_reversible),     cmocka_unit_test(implicit_midpoint_keeps_quadratic_invariants),
        cmocka_unit_test(both_forms_give_the_same), cmocka_unit_test(threads_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
