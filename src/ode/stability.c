/* stability.c: what a method makes of the test equations, found by stepping them: there is no second copy of any
 * formula that could be right where the method is wrong.
 *
 * y' = z y, z complex, as the real system (a, b)' = (re a - im b, im a + re b), one step of h = 1. By linearity the
 * step is Y_1 = sum_j m_j Y_-j; a past that is one at -j and zero elsewhere gives m_j: R(z) of Hauth's (28) for
 * one-step methods. The powers of the companion matrix of zeta^k - sum m_j zeta^(k-1-j) stay bounded where its zeros
 * stay in the unit disc.
 *
 * x'' = -k x - d v likewise from unit states (x, v), which Verlet's acceleration, its velocity lagging, makes three.
 */
#include "ode/ode.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- Zeros of small polynomials with complex coefficients ----
 *
 * All at once by Weierstrass' iteration (Durand and Kerner), z_i -= p(z_i) / prod_{j != i} (z_i - z_j), from points
 * that no symmetry holds. Zeros that fall together come out to half the digits only, as they must. */

enum { MOST_ROOTS = 6, MOST_ITERATIONS = 500 };

typedef struct number {
    double re, im;
} number;

static number times(number a, number b) { return (number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
static number minus(number a, number b) { return (number){a.re - b.re, a.im - b.im}; }
static double modulus(number a) { return sqrt(a.re * a.re + a.im * a.im); }

static number divided(number a, number b) {
    double d = b.re * b.re + b.im * b.im;
    number conjugate = {b.re, -b.im}, product = times(a, conjugate);
    return (number){product.re / d, product.im / d};
}

static number evaluate(int32_t degree, const double (*c)[2], number z) {
    number p = {1, 0};
    for (int32_t j = degree - 1; j >= 0; j--) {
        p = times(p, z);
        p.re += c[j][0];
        p.im += c[j][1];
    }
    return p;
}

/* One pass; the largest change. */
static double improve(int32_t degree, const double (*c)[2], number *z) {
    double largest = 0;
    for (int32_t i = 0; i < degree; i++) {
        number others = {1, 0};
        for (int32_t j = 0; j < degree; j++)
            if (j != i) others = times(others, minus(z[i], z[j]));
        if (others.re == 0 && others.im == 0) continue; /* already together */
        number change = divided(evaluate(degree, c, z[i]), others);
        z[i] = minus(z[i], change);
        if (modulus(change) > largest) largest = modulus(change);
    }
    return largest;
}

/* Largest modulus among the zeros of z^degree + sum_{j < degree} c[j] z^j; degree 1..6. */
static double largest_root(int32_t degree, const double (*c)[2]) {
    number z[MOST_ROOTS], turn = {0.4, 0.9};
    double scale = 1, largest = 0; /* all zeros lie within 1 + the largest coefficient */
    for (int32_t j = 0; j < degree; j++) {
        double size = 1 + modulus((number){c[j][0], c[j][1]});
        if (size > scale) scale = size;
    }
    z[0] = (number){0.5 * scale, 0.1 * scale};
    for (int32_t i = 1; i < degree; i++) z[i] = times(z[i - 1], turn);
    for (int32_t k = 0; k < MOST_ITERATIONS; k++)
        if (improve(degree, c, z) <= DBL_EPSILON) break;
    for (int32_t i = 0; i < degree; i++)
        if (modulus(z[i]) > largest) largest = modulus(z[i]);
    return largest;
}

/* ---- The test equations ---- */

static drape_status dahlquist(void *user, double t, const double *y, const double *v, double *out) {
    const drape_i_ode_test *e = user;
    (void)t, (void)v;
    out[0] = e->re * y[0] - e->im * y[1];
    out[1] = e->im * y[0] + e->re * y[1];
    return DRAPE_OK;
}

static drape_status dahlquist_jacobian(void *user, double t, const double *y, const double *v, double *K, double *D) {
    const drape_i_ode_test *e = user;
    (void)t, (void)y, (void)v, (void)D;
    K[0] = K[3] = e->re;
    K[1] = -e->im;
    K[2] = e->im;
    return DRAPE_OK;
}

static drape_status oscillator(void *user, double t, const double *x, const double *v, double *out) {
    const drape_i_ode_test *e = user;
    (void)t;
    out[0] = -e->stiffness * x[0] - e->damping * v[0];
    return DRAPE_OK;
}

static drape_status oscillator_jacobian(void *user, double t, const double *x, const double *v, double *K,
                                        double *D) {
    const drape_i_ode_test *e = user;
    (void)t, (void)x, (void)v;
    K[0] = -e->stiffness;
    D[0] = -e->damping;
    return DRAPE_OK;
}

static drape_ode_system test_system(int32_t order, drape_i_ode_test *test) {
    return (drape_ode_system){
        .order = order, .size = order == 1 ? 2 : 1, .user = test, .f = order == 1 ? dahlquist : oscillator};
}

typedef struct tester {
    drape_context *ctx;
    drape_ode *ode;
    drape_ode_dense *dense;
    drape_i_ode_test equation;
} tester;

static drape_ode_settings tester_settings(const drape_ode_settings *asked) {
    drape_ode_settings s = drape_ode_defaults();
    s.method = asked->method;
    s.tableau = asked->tableau;
    s.step = 1;
    s.newton.rtol = s.newton.atol = 1e-14;
    s.newton.line_search = DRAPE_ODE_SEARCH_OFF;
    return s;
}

static drape_status tester_create(tester *T, const drape_ode_settings *asked, int32_t order) {
    drape_ode_settings s = tester_settings(asked);
    drape_ode_dense_settings dense = {.order = order,
                                      .size = order == 1 ? 2 : 1,
                                      .user = &T->equation,
                                      .jacobian = order == 1 ? dahlquist_jacobian : oscillator_jacobian};
    drape_ode_system system = test_system(order, &T->equation);
    drape_status status = drape_ode_dense_create(T->ctx, &dense, &T->dense);
    if (status) return status;
    system.linear = drape_ode_dense_linear(T->dense);
    return drape_ode_create(T->ctx, &system, &s, &T->ode);
}

static void tester_destroy(tester *T) {
    drape_ode_destroy(T->ode);
    drape_ode_dense_destroy(T->dense);
}

/* One step of h = 1 from a past in which only the number `one` of the state number j is one. */
static drape_status step_unit(drape_ode *ode, int32_t j, int32_t one) {
    const double zero[2] = {0, 0};
    drape_ode_reason reason;
    drape_status status = drape_ode_start(ode, 0, zero, drape_i_ode_is_second(ode) ? zero : NULL);
    if (status) return status;
    ode->past_count = ode->method.steps;
    for (int32_t i = 0; i < ode->past_count; i++) {
        memset(ode->past[i], 0, (size_t)ode->length * sizeof(double));
        ode->past_step[i] = 1;
    }
    ode->past[j][one] = 1;
    ode->wants_error = ode->ramps = false;
    status = drape_i_ode_try(ode, 1, &reason);
    if (status || !reason) return status;
    return drape_i_fail(ode->ctx, DRAPE_ERROR_NUMBER, "ode: the test equation cannot be stepped: %s", ode->text);
}

/* ---- y' = z y ---- */

static double companion_radius(const drape_ode_stability *s) {
    double coefficient[DRAPE_ODE_MOST_STEPS][2];
    for (int32_t j = 0; j < s->steps; j++)
        for (int32_t k = 0; k < 2; k++) coefficient[s->steps - 1 - j][k] = -s->factor[j][k];
    return largest_root(s->steps, (const double(*)[2])coefficient);
}

static drape_status measure(drape_ode *ode, drape_ode_stability *out) {
    *out = (drape_ode_stability){.steps = ode->method.steps};
    for (int32_t j = 0; j < out->steps; j++) {
        drape_status status = step_unit(ode, j, 0);
        if (status) return status;
        memcpy(out->factor[j], ode->next, sizeof out->factor[j]);
    }
    if (out->steps > 1) out->radius = companion_radius(out);
    else out->radius = sqrt(out->factor[0][0] * out->factor[0][0] + out->factor[0][1] * out->factor[0][1]);
    return DRAPE_OK;
}

drape_status drape_ode_stability_at(drape_context *ctx, const drape_ode_settings *settings, double re, double im,
                                    drape_ode_stability *out) {
    tester T = {.ctx = ctx, .equation = {.re = re, .im = im}};
    if (!ctx) return DRAPE_ERROR_ARGUMENT;
    if (!settings || !out)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "ode: stability needs settings and a result");
    if (!isfinite(re) || !isfinite(im))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "ode: z = %g%+gi is not finite", re, im);
    drape_status status = tester_create(&T, settings, 1);
    if (!status) status = measure(T.ode, out);
    tester_destroy(&T);
    return status;
}

/* ---- x'' = -k x - d v ---- */

enum { MOST_STATES = 3 };

/* Characteristic polynomial by Faddeev and Le Verrier: M_1 = A, c = -tr M / k, M = A (M + c I). */
static double matrix_radius(int32_t n, const double (*A)[MOST_STATES]) {
    double M[MOST_STATES][MOST_STATES], coefficient[MOST_STATES][2] = {{0}};
    memcpy(M, A, sizeof M);
    for (int32_t k = 1; k <= n; k++) {
        double trace = 0, P[MOST_STATES][MOST_STATES] = {{0}};
        for (int32_t i = 0; i < n; i++) trace += M[i][i];
        coefficient[n - k][0] = -trace / k;
        for (int32_t i = 0; i < n; i++) M[i][i] -= trace / k;
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++)
                for (int32_t l = 0; l < n; l++) P[i][j] += A[i][l] * M[l][j];
        memcpy(M, P, sizeof M);
    }
    return largest_root(n, (const double(*)[2])coefficient);
}

static bool lags(const drape_ode *ode) { return ode->method.second_order_only; }

/* One step from the unit state j of (x, v, a): its column. */
static drape_status oscillator_column(drape_ode *ode, int32_t j, double (*A)[MOST_STATES]) {
    drape_ode_reason reason;
    double unit[MOST_STATES] = {j == 0, j == 1, j == 2};
    drape_status status = drape_ode_start(ode, 0, unit, unit + 1);
    if (status) return status;
    ode->wants_error = ode->ramps = false;
    if (lags(ode)) {
        ode->slope[0] = unit[1];
        ode->slope[1] = unit[2];
        ode->slope_known = true;
    }
    status = drape_i_ode_try(ode, 1, &reason);
    if (status) return status;
    if (reason)
        return drape_i_fail(ode->ctx, DRAPE_ERROR_NUMBER, "ode: the oscillator cannot be stepped: %s", ode->text);
    A[0][j] = ode->next[0];
    A[1][j] = ode->next[1];
    A[2][j] = lags(ode) ? ode->next_slope[1] : 0;
    return DRAPE_OK;
}

static drape_status measure_oscillator(drape_ode *ode, double *radius) {
    double A[MOST_STATES][MOST_STATES] = {{0}};
    int32_t n = lags(ode) ? 3 : 2;
    for (int32_t j = 0; j < n; j++) {
        drape_status status = oscillator_column(ode, j, A);
        if (status) return status;
    }
    *radius = matrix_radius(n, (const double(*)[MOST_STATES])A);
    return DRAPE_OK;
}

drape_status drape_ode_stability_oscillator(drape_context *ctx, const drape_ode_settings *settings, double stiffness,
                                            double damping, double *radius) {
    tester T = {.ctx = ctx, .equation = {.stiffness = stiffness, .damping = damping}};
    if (!ctx) return DRAPE_ERROR_ARGUMENT;
    if (!settings || !radius)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "ode: stability needs settings and a result");
    if (!isfinite(stiffness) || !isfinite(damping))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "ode: stiffness %g, damping %g are not finite", stiffness,
                            damping);
    drape_status status = tester_create(&T, settings, 2);
    if (!status && T.ode->method.steps > 1)
        status = drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                              "ode: %s is not a one-step method; use drape_ode_stability_at", T.ode->method.name);
    if (!status) status = measure_oscillator(T.ode, radius);
    tester_destroy(&T);
    return status;
}

/* ---- Judging explicit steps ---- */

/* Growth beyond this is growth: near a double zero the radius has half its digits only. */
static const double BOUNDED = 1 + 1e-7;
static const double SHORT = 0.05; /* |z| where a method that is ever stable in this direction is */
enum { HALVINGS = 40 };

drape_status drape_i_ode_shadow_create(drape_ode *ode) {
    int32_t order = ode->method.second_order_only ? 2 : 1;
    drape_ode_settings s = tester_settings(&ode->settings);
    drape_ode_system system = test_system(order, &ode->shadow_test);
    return drape_ode_create(ode->ctx, &system, &s, &ode->shadow);
}

/* Whether the method stays bounded at z = s lambda. */
static drape_status is_bounded(drape_ode *ode, double s, bool *bounded) {
    double re = s * ode->stiffest[0], im = s * ode->stiffest[1], radius;
    drape_ode_stability stability;
    ode->shadow_test = (drape_i_ode_test){re, im, re * re + im * im, -2 * re};
    drape_status status = lags(ode) ? measure_oscillator(ode->shadow, &radius) : measure(ode->shadow, &stability);
    *bounded = !status && (lags(ode) ? radius : stability.radius) <= BOUNDED;
    return status;
}

drape_status drape_i_ode_stable_step(drape_ode *ode, double h, double *longest) {
    const drape_ode_system *system = &ode->system;
    double *lambda = ode->stiffest;
    bool bounded = true;
    *longest = h;
    if (!ode->shadow) return DRAPE_OK;
    system->stiffest(system->user, ode->t, ode->past[0], drape_i_ode_velocity(ode, ode->past[0]), lambda);
    double size = sqrt(lambda[0] * lambda[0] + lambda[1] * lambda[1]);
    if (!(h * size > SHORT) || lambda[0] > 0) return DRAPE_OK;
    drape_status status = is_bounded(ode, h, &bounded);
    if (status || bounded) return status;
    double low = SHORT / size, high = h;
    status = is_bounded(ode, low, &bounded);
    if (status || !bounded) return status; /* no step is stable in this direction: a matter of accuracy then */
    for (int32_t i = 0; i < HALVINGS && !status; i++) {
        double middle = 0.5 * (low + high);
        status = is_bounded(ode, middle, &bounded);
        if (bounded) low = middle;
        else high = middle;
    }
    *longest = low;
    return status;
}
