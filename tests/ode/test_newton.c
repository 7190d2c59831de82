/* Newton's variants on a nonlinear system: they agree, count, solve as tightly as they should, keep or remake their
 * matrix, search along lines, and stop with a reason. */
#include "ode/chain.h"

#include <stdio.h>

static drape_ode_settings implicit(const char *method, drape_ode_newton_kind kind) {
    drape_ode_settings s = drape_ode_defaults();
    s.method = method;
    s.step = 0.01;
    s.newton.kind = kind;
    s.newton.rtol = 1e-11;
    s.newton.atol = 1e-12;
    s.newton.max_iterations = 60;
    return s;
}

/* ---- An iterative solver: CG on the chain's matrix, to the tolerance asked for ---- */

typedef struct iterative {
    chain *c;
    double A[CHAIN_SIZE * CHAIN_SIZE];
    double tightest, loosest;     /* tolerances asked for */
    int64_t prepares, fails_from; /* solves that fail, counted from this one on; 0: none */
    int64_t solves;
} iterative;

static drape_status cg_prepare(void *user, const drape_ode_point *at) {
    iterative *it = user;
    double K[CHAIN_SIZE * CHAIN_SIZE] = {0}, D[CHAIN_SIZE * CHAIN_SIZE] = {0};
    chain_jacobian(it->c, at->t, at->x, at->v, K, D);
    for (int32_t i = 0; i < CHAIN_SIZE * CHAIN_SIZE; i++)
        it->A[i] =
            (i % (CHAIN_SIZE + 1) == 0 ? it->c->mass[i / CHAIN_SIZE / 2] : 0) - at->c * D[i] - at->c * at->c * K[i];
    if (it->c->nailed)
        for (int32_t i = 0; i < 2; i++)
            for (int32_t j = 0; j < CHAIN_SIZE; j++) it->A[i * CHAIN_SIZE + j] = it->A[j * CHAIN_SIZE + i] = i == j;
    it->prepares++;
    return DRAPE_OK;
}

static double dot(const double *a, const double *b) {
    double sum = 0;
    for (int32_t i = 0; i < CHAIN_SIZE; i++) sum += a[i] * b[i];
    return sum;
}

static void multiply(const double *A, const double *x, double *out) {
    for (int32_t i = 0; i < CHAIN_SIZE; i++) out[i] = dot(A + i * CHAIN_SIZE, x);
}

static drape_status cg_solve(void *user, const drape_ode_request *q, double *d, drape_ode_answer *answer) {
    iterative *it = user;
    double r[CHAIN_SIZE], p[CHAIN_SIZE], Ap[CHAIN_SIZE];
    memcpy(r, q->r, sizeof r);
    if (it->c->nailed) r[0] = r[1] = 0;
    memcpy(p, r, sizeof p);
    memset(d, 0, sizeof r);
    it->tightest = fmin(it->tightest, q->tol);
    it->loosest = fmax(it->loosest, q->tol);
    it->solves++;
    answer->failed = it->fails_from && it->solves >= it->fails_from;
    double rr = dot(r, r), stop = q->tol * q->tol * rr;
    for (answer->iterations = 0; rr > stop && answer->iterations < 200; answer->iterations++) {
        multiply(it->A, p, Ap);
        double alpha = rr / dot(p, Ap), before = rr;
        for (int32_t i = 0; i < CHAIN_SIZE; i++) d[i] += alpha * p[i], r[i] -= alpha * Ap[i];
        rr = dot(r, r);
        for (int32_t i = 0; i < CHAIN_SIZE; i++) p[i] = r[i] + rr / before * p[i];
    }
    return DRAPE_OK;
}

static drape_ode *begin_iterative(drape_context *ctx, const drape_ode_settings *s, chain *c, iterative *it) {
    double x[CHAIN_SIZE], v[CHAIN_SIZE];
    drape_ode *ode;
    drape_ode_system system = chain_system(c);
    *it = (iterative){.c = c, .tightest = INFINITY};
    system.linear = (drape_ode_linear){it, cg_prepare, cg_solve, NULL};
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, s, &ode));
    chain_start(c, x, v);
    ASSERT_OK(ctx, drape_ode_start(ode, 0, x, v));
    return ode;
}

/* ---- Agreement ---- */

static void variants_find_the_same_solution(void **state) {
    drape_context *ctx = test_context(1);
    double x[DRAPE_ODE_MATRIX_FREE + 1][CHAIN_SIZE];
    drape_ode_counts counts[DRAPE_ODE_MATRIX_FREE + 1];
    iterative it;
    (void)state;
    for (int32_t kind = DRAPE_ODE_NEWTON; drape_ode_newton_kind_name((drape_ode_newton_kind)kind); kind++) {
        if (kind == DRAPE_ODE_LINEARISED) continue;
        chain c = chain_make(500, 0.2);
        drape_ode_settings s = implicit("bdf2", (drape_ode_newton_kind)kind);
        drape_ode_result result;
        drape_ode *ode = begin_iterative(ctx, &s, &c, &it);
        ASSERT_OK(ctx, drape_ode_advance(ode, 0.5, &result));
        assert_int_equal(result.reason, DRAPE_ODE_DONE);
        memcpy(x[kind], drape_ode_x(ode), sizeof x[kind]);
        counts[kind] = drape_ode_count(ode);
        printf("%-17s %4lld f, %4lld newton, %4lld jacobians, %5lld linear iterations\n",
               drape_ode_newton_kind_name((drape_ode_newton_kind)kind), (long long)counts[kind].f,
               (long long)counts[kind].newton, (long long)counts[kind].jacobians,
               (long long)counts[kind].linear_iterations);
        assert_true(chain_distance(x[kind], x[DRAPE_ODE_NEWTON]) < 1e-9);
        assert_true(counts[kind].linear_solves == counts[kind].newton);
        assert_true(it.solves == (kind == DRAPE_ODE_MATRIX_FREE ? 0 : counts[kind].linear_solves));
        assert_true(it.prepares == counts[kind].jacobians);
        drape_ode_destroy(ode);
    }
    assert_true(counts[DRAPE_ODE_INEXACT].newton > counts[DRAPE_ODE_NEWTON].newton);
    assert_true(counts[DRAPE_ODE_SIMPLIFIED].jacobians < counts[DRAPE_ODE_NEWTON].jacobians / 4);
    for (int32_t kind = DRAPE_ODE_INEXACT; kind <= DRAPE_ODE_EISENSTAT_WALKER; kind++) /* each solve is cheaper */
        assert_true(counts[kind].linear_iterations * counts[DRAPE_ODE_NEWTON].newton <
                    counts[DRAPE_ODE_NEWTON].linear_iterations * counts[kind].newton * 3 / 4);
    drape_context_destroy(ctx);
}

static void linear_solves_are_as_tight_as_asked(void **state) {
    static const struct {
        drape_ode_newton_kind kind;
        double eta, tightest, loosest;
    } cases[] = {{DRAPE_ODE_NEWTON, 0, 1e-10, 1e-10},
                 {DRAPE_ODE_INEXACT, 0, 0.02, 0.02},
                 {DRAPE_ODE_INEXACT, 0.3, 0.3, 0.3},
                 {DRAPE_ODE_SIMPLIFIED, 0, 0.02, 0.02},
                 {DRAPE_ODE_LINEARISED, 0, 1e-10, 1e-10}};
    drape_context *ctx = test_context(1);
    iterative it;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        chain c = chain_make(500, 0.2);
        drape_ode_settings s = implicit("implicit-euler", cases[i].kind);
        s.newton.eta = cases[i].eta;
        drape_ode *ode = begin_iterative(ctx, &s, &c, &it);
        ASSERT_OK(ctx, drape_ode_advance(ode, 0.1, NULL));
        assert_true(it.tightest == cases[i].tightest && it.loosest == cases[i].loosest);
        drape_ode_destroy(ode);
    }
    chain c = chain_make(500, 0.2);
    drape_ode_settings s = implicit("implicit-euler", DRAPE_ODE_EISENSTAT_WALKER);
    drape_ode *ode = begin_iterative(ctx, &s, &c, &it);
    ASSERT_OK(ctx, drape_ode_advance(ode, 0.1, NULL));
    assert_true(it.tightest >= 1e-6 && it.tightest < 1e-3 && it.loosest <= 0.9); /* it follows the residual */
    drape_ode_destroy(ode);
    drape_context_destroy(ctx);
}

/* Newton's corrections shrink quadratically: from a guess that is right to 1e-3, four iterations give 1e-12. */
static void newton_converges_fast(void **state) {
    drape_context *ctx = test_context(1);
    chain_run run = {.c = chain_make(2000, 0)};
    drape_ode_settings s = implicit("implicit-euler", DRAPE_ODE_NEWTON);
    (void)state;
    chain_begin(ctx, &s, &run);
    for (int32_t i = 0; i < 50; i++) {
        drape_ode_result result;
        ASSERT_OK(ctx, drape_ode_step(run.ode, 0.005, &result));
        assert_int_equal(result.reason, DRAPE_ODE_DONE);
        assert_in_range(result.newton, 1, 6);
    }
    chain_finish(&run);
    drape_context_destroy(ctx);
}

/* ---- One linearised step ---- */

/* (M - h D - h^2 K) dv = h (f + h K v) at the state before, Baraff and Witkin 1998, (6). */
static void one_iteration_is_baraff_and_witkin(void **state) {
    drape_context *ctx = test_context(1);
    chain c = chain_make(300, 0.4);
    double x[CHAIN_SIZE], v[CHAIN_SIZE], f[CHAIN_SIZE], Kv[CHAIN_SIZE], left[CHAIN_SIZE], dv[CHAIN_SIZE], h = 0.02;
    double K[CHAIN_SIZE * CHAIN_SIZE] = {0}, D[CHAIN_SIZE * CHAIN_SIZE] = {0};
    drape_ode_settings s = implicit("implicit-euler", DRAPE_ODE_LINEARISED);
    drape_ode_dense *dense = chain_dense(ctx, &c);
    drape_ode_system system = chain_system(&c);
    drape_ode *ode;
    drape_ode_result result;
    (void)state;
    system.linear = drape_ode_dense_linear(dense);
    system.stiffness_times = chain_stiffness_times;
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
    chain_start(&c, x, v);
    for (int32_t i = 0; i < CHAIN_SIZE; i++) v[i] += 0.3 * i; /* so that h K v matters */
    ASSERT_OK(ctx, drape_ode_start(ode, 0, x, v));
    ASSERT_OK(ctx, drape_ode_step(ode, h, &result));
    assert_int_equal(result.newton, 1);
    assert_int_equal(drape_ode_count(ode).f, 1);
    chain_f(&c, 0, x, v, f);
    chain_jacobian(&c, 0, x, v, K, D);
    multiply(K, v, Kv);
    for (int32_t i = 0; i < CHAIN_SIZE; i++) dv[i] = drape_ode_v(ode)[i] - v[i];
    for (int32_t i = 0; i < CHAIN_SIZE; i++) {
        left[i] = c.mass[i / 2] * dv[i];
        for (int32_t j = 0; j < CHAIN_SIZE; j++)
            left[i] -= (h * D[i * CHAIN_SIZE + j] + h * h * K[i * CHAIN_SIZE + j]) * dv[j];
        ASSERT_NEAR(left[i], h * (f[i] + h * Kv[i]), 1e-12);
        ASSERT_NEAR(drape_ode_x(ode)[i], x[i] + h * drape_ode_v(ode)[i], 1e-14);
    }
    drape_ode_destroy(ode);
    drape_ode_dense_destroy(dense);
    drape_context_destroy(ctx);
}

/* ---- The frozen matrix ---- */

static void frozen_matrix_is_kept_and_remade(void **state) {
    drape_context *ctx = test_context(1);
    chain_run run = {.c = chain_make(200, 0.2)};
    drape_ode_settings s = implicit("implicit-euler", DRAPE_ODE_SIMPLIFIED);
    drape_ode_result result;
    (void)state;
    run.c.linear_springs = true;
    chain_begin(ctx, &s, &run);
    ASSERT_OK(ctx, drape_ode_advance(run.ode, 0.1, &result)); /* ten steps */
    assert_int_equal(result.reason, DRAPE_ODE_DONE);
    assert_int_equal(drape_ode_count(run.ode).jacobians, 1);
    run.c.stamp++; /* another material */
    ASSERT_OK(ctx, drape_ode_step(run.ode, 0.01, &result));
    assert_int_equal(drape_ode_count(run.ode).jacobians, 2);
    ASSERT_OK(ctx, drape_ode_step(run.ode, 0.005, &result)); /* another step */
    ASSERT_OK(ctx, drape_ode_step(run.ode, 0.005, &result));
    assert_int_equal(drape_ode_count(run.ode).jacobians, 3);
    chain_finish(&run);
    drape_context_destroy(ctx);
}

/* A matrix that no longer serves is recomputed before the step is given up, though nobody changed the stamp. */
static void frozen_matrix_that_fails_is_remade(void **state) {
    drape_context *ctx = test_context(1);
    chain_run run = {.c = chain_make(50, 0)};
    drape_ode_settings s = implicit("implicit-euler", DRAPE_ODE_SIMPLIFIED);
    drape_ode_result result;
    (void)state;
    s.newton.line_search = DRAPE_ODE_SEARCH_OFF;
    chain_begin(ctx, &s, &run);
    ASSERT_OK(ctx, drape_ode_step(run.ode, 0.01, &result));
    assert_int_equal(drape_ode_count(run.ode).jacobians, 1);
    run.c.k *= 1000;
    ASSERT_OK(ctx, drape_ode_step(run.ode, 0.01, &result));
    assert_int_equal(result.reason, DRAPE_ODE_DONE);
    assert_int_equal(drape_ode_count(run.ode).jacobians, 2);
    chain_finish(&run);
    drape_context_destroy(ctx);
}

/* F_lin of (50) is another matrix, not another solution. */
static void linear_springs_give_the_same_solution(void **state) {
    drape_context *ctx = test_context(1);
    chain_run exact = {.c = chain_make(200, 0.2)}, cheap = {.c = chain_make(200, 0.2)};
    drape_ode_settings s = implicit("bdf2", DRAPE_ODE_SIMPLIFIED);
    drape_ode_result result;
    (void)state;
    cheap.c.linear_springs = true;
    chain_begin(ctx, &s, &exact);
    chain_begin(ctx, &s, &cheap);
    ASSERT_OK(ctx, drape_ode_advance(exact.ode, 0.2, &result));
    ASSERT_OK(ctx, drape_ode_advance(cheap.ode, 0.2, &result));
    assert_int_equal(result.reason, DRAPE_ODE_DONE);
    assert_true(chain_distance(drape_ode_x(exact.ode), drape_ode_x(cheap.ode)) < 1e-9);
    assert_true(chain_distance(drape_ode_x(exact.ode), drape_ode_x(cheap.ode)) > 0);
    chain_finish(&exact);
    chain_finish(&cheap);
    drape_context_destroy(ctx);
}

static void extrapolation_saves_iterations(void **state) {
    drape_context *ctx = test_context(1);
    int64_t newton[2];
    (void)state;
    for (int32_t from_state = 0; from_state < 2; from_state++) {
        chain_run run = {.c = chain_make(500, 0.2)};
        drape_ode_settings s = implicit("bdf2", DRAPE_ODE_INEXACT);
        s.newton.guess_from_state = from_state;
        s.step = 0.002;
        chain_begin(ctx, &s, &run);
        ASSERT_OK(ctx, drape_ode_advance(run.ode, 0.2, NULL));
        newton[from_state] = drape_ode_count(run.ode).newton;
        chain_finish(&run);
    }
    assert_true(newton[0] < newton[1]);
    drape_context_destroy(ctx);
}

/* ---- Line search ---- */

/* y' = -k atan(y - 1): Newton's iteration for a long step runs away from a distant guess. */
static drape_status arc(void *user, double t, const double *y, const double *v, double *out) {
    (void)t, (void)v;
    out[0] = -*(double *)user * atan(y[0] - 1);
    return DRAPE_OK;
}

static drape_status arc_jacobian(void *user, double t, const double *y, const double *v, double *K, double *D) {
    (void)t, (void)v, (void)D;
    K[0] = -*(double *)user / (1 + (y[0] - 1) * (y[0] - 1));
    return DRAPE_OK;
}

static drape_status arc_potential(void *user, const drape_ode_point *at, double *out) {
    double u = at->x[0] - 1;
    *out = at->c * *(double *)user * (u * atan(u) - 0.5 * log(1 + u * u));
    return DRAPE_OK;
}

typedef struct arc_run {
    double k;
    drape_ode_dense *dense;
    drape_ode *ode;
} arc_run;

static void begin_arc(drape_context *ctx, const drape_ode_settings *s, bool potential, arc_run *run) {
    const double y0 = 40;
    drape_ode_dense_settings d = {.order = 1, .size = 1, .user = &run->k, .jacobian = arc_jacobian};
    drape_ode_system system = {.order = 1, .size = 1, .user = &run->k, .f = arc};
    run->k = 1e4;
    ASSERT_OK(ctx, drape_ode_dense_create(ctx, &d, &run->dense));
    system.linear = drape_ode_dense_linear(run->dense);
    if (potential) system.potential = arc_potential;
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, s, &run->ode));
    ASSERT_OK(ctx, drape_ode_start(run->ode, 0, &y0, NULL));
}

static void end_arc(arc_run *run) {
    drape_ode_destroy(run->ode);
    drape_ode_dense_destroy(run->dense);
}

static void line_search_saves_a_diverging_iteration(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t potential = 0; potential < 2; potential++) {
        arc_run run;
        drape_ode_settings s = implicit("implicit-euler", DRAPE_ODE_NEWTON);
        drape_ode_result result;
        s.newton.line_search = DRAPE_ODE_SEARCH_OFF;
        begin_arc(ctx, &s, potential, &run);
        ASSERT_OK(ctx, drape_ode_step(run.ode, 1, &result));
        assert_true(result.reason == DRAPE_ODE_NEWTON_DIVERGED || result.reason == DRAPE_ODE_NEWTON_LIMIT);
        assert_true(drape_ode_x(run.ode)[0] == 40 && drape_ode_time(run.ode) == 0); /* taken back */
        assert_non_null(strstr(drape_ode_explain(run.ode), "t = 1 s"));
        end_arc(&run);
        s.newton.line_search = DRAPE_ODE_SEARCH_DESCENT;
        begin_arc(ctx, &s, potential, &run);
        ASSERT_OK(ctx, drape_ode_step(run.ode, 1, &result));
        assert_int_equal(result.reason, DRAPE_ODE_DONE);
        double y = drape_ode_x(run.ode)[0];
        ASSERT_NEAR(y + 1e4 * atan(y - 1), 40, 1e-6);
        drape_ode_counts counts = drape_ode_count(run.ode);
        assert_true(counts.cuts > 0 && (counts.potentials > 0) == (potential == 1));
        end_arc(&run);
    }
    drape_context_destroy(ctx);
}

/* The potential as given must be one: the residual is its gradient (central differences). */
static void chain_goes_down_in_its_potential(void **state) {
    drape_context *ctx = test_context(1);
    chain c = chain_make(5000, 0.1);
    drape_ode_settings s = implicit("implicit-euler", DRAPE_ODE_NEWTON);
    drape_ode_dense *dense = chain_dense(ctx, &c);
    drape_ode_system system = chain_system(&c);
    drape_ode *ode;
    drape_ode_result result;
    double x[CHAIN_SIZE], v[CHAIN_SIZE];
    (void)state;
    system.linear = drape_ode_dense_linear(dense);
    system.potential = chain_potential;
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
    chain_start(&c, x, v);
    for (int32_t i = 0; i < CHAIN_SIZE; i++) v[i] += i % 3 ? 20 : -15;
    ASSERT_OK(ctx, drape_ode_start(ode, 0, x, v));
    ASSERT_OK(ctx, drape_ode_step(ode, 0.02, &result));
    assert_int_equal(result.reason, DRAPE_ODE_DONE);
    /* The step's equation holds. */
    double f[CHAIN_SIZE];
    chain_f(&c, 0, drape_ode_x(ode), drape_ode_v(ode), f);
    for (int32_t i = 0; i < CHAIN_SIZE; i++)
        ASSERT_NEAR(c.mass[i / 2] * (drape_ode_v(ode)[i] - v[i]), 0.02 * f[i], 1e-9);
    assert_true(drape_ode_count(ode).potentials > 0);
    drape_ode_destroy(ode);
    drape_ode_dense_destroy(dense);
    drape_context_destroy(ctx);
}

/* ---- Constraints ---- */

static void nail_filter(void *user, drape_ode_filtered what, double *r) {
    (void)user, (void)what;
    r[0] = r[1] = 0;
}

static void held_masses_stay_and_the_rest_converges(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t filtered = 0; filtered < 2; filtered++) {
        chain c = chain_make(300, 0.2);
        iterative it = {.c = &c, .tightest = INFINITY};
        drape_ode_settings s = implicit("bdf2", DRAPE_ODE_NEWTON);
        drape_ode_system system = chain_system(&c);
        drape_ode_result result;
        drape_ode *ode;
        double x[CHAIN_SIZE], v[CHAIN_SIZE];
        c.nailed = true;
        system.linear = (drape_ode_linear){&it, cg_prepare, cg_solve, NULL};
        if (filtered) system.filter = nail_filter;
        ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
        chain_start(&c, x, v);
        ASSERT_OK(ctx, drape_ode_start(ode, 0, x, v));
        ASSERT_OK(ctx, drape_ode_advance(ode, 0.3, &result));
        if (filtered) {
            assert_int_equal(result.reason, DRAPE_ODE_DONE);
            assert_true(drape_ode_x(ode)[0] == x[0] && drape_ode_x(ode)[1] == x[1]);
            assert_true(fabs(drape_ode_x(ode)[7] - x[7]) > 0.01);
        } else { /* the line search finds that the force at the nail does not go down */
            assert_true(result.reason == DRAPE_ODE_SEARCH_FAILED);
        }
        drape_ode_destroy(ode);
    }
    drape_context_destroy(ctx);
}

/* ---- Failures ---- */

static void failing_linear_solver_is_a_reason(void **state) {
    drape_context *ctx = test_context(1);
    chain c = chain_make(500, 0.2);
    iterative it;
    drape_ode_settings s = implicit("implicit-euler", DRAPE_ODE_INEXACT);
    drape_ode_result result;
    drape_ode *ode = begin_iterative(ctx, &s, &c, &it);
    (void)state;
    it.fails_from = 20;
    ASSERT_OK(ctx, drape_ode_advance(ode, 1, &result));
    assert_int_equal(result.reason, DRAPE_ODE_LINEAR_FAILED);
    assert_true(result.t > 0 && result.t < 1 && result.t == drape_ode_time(ode));
    drape_ode_destroy(ode);
    drape_context_destroy(ctx);
}

/* y' = y / h: I - h J = 0. */
static drape_status grow(void *user, double t, const double *y, const double *v, double *out) {
    (void)user, (void)t, (void)v;
    out[0] = 4 * y[0];
    return DRAPE_OK;
}

static drape_status grow_jacobian(void *user, double t, const double *y, const double *v, double *K, double *D) {
    (void)user, (void)t, (void)y, (void)v, (void)D;
    K[0] = 4;
    return DRAPE_OK;
}

static void singular_matrix_is_a_reason(void **state) {
    drape_context *ctx = test_context(1);
    drape_ode_dense_settings d = {.order = 1, .size = 1, .jacobian = grow_jacobian};
    drape_ode_system system = {.order = 1, .size = 1, .f = grow};
    drape_ode_settings s = implicit("implicit-euler", DRAPE_ODE_NEWTON);
    drape_ode_dense *dense;
    drape_ode *ode;
    drape_ode_result result;
    double y = 1;
    (void)state;
    ASSERT_OK(ctx, drape_ode_dense_create(ctx, &d, &dense));
    system.linear = drape_ode_dense_linear(dense);
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
    ASSERT_OK(ctx, drape_ode_start(ode, 0, &y, NULL));
    ASSERT_OK(ctx, drape_ode_step(ode, 0.25, &result));
    assert_int_equal(result.reason, DRAPE_ODE_LINEAR_FAILED);
    assert_non_null(strstr(drape_ode_explain(ode), "singular"));
    drape_ode_destroy(ode);
    drape_ode_dense_destroy(dense);
    drape_context_destroy(ctx);
}

static void iteration_limit_is_a_reason_or_a_shorter_step(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t controlled = 0; controlled < 2; controlled++) {
        arc_run run;
        drape_ode_settings s = implicit("implicit-euler", DRAPE_ODE_NEWTON);
        drape_ode_result result;
        s.newton.line_search = DRAPE_ODE_SEARCH_OFF;
        s.newton.max_iterations = 4;
        s.control = controlled ? DRAPE_ODE_NEWTONS : DRAPE_ODE_FIXED;
        s.step = 1;
        begin_arc(ctx, &s, false, &run);
        ASSERT_OK(ctx, drape_ode_advance(run.ode, 1, &result));
        if (controlled) {
            assert_int_equal(result.reason, DRAPE_ODE_DONE);
            assert_true(drape_ode_count(run.ode).rejected > 0);
            ASSERT_NEAR(drape_ode_x(run.ode)[0], 1, 1e-6);
        } else {
            assert_true(result.reason == DRAPE_ODE_NEWTON_LIMIT || result.reason == DRAPE_ODE_NEWTON_DIVERGED);
        }
        end_arc(&run);
    }
    drape_context_destroy(ctx);
}

/* ---- A matrix that is kept while c changes ---- */

static drape_status van_der_pol(void *user, double t, const double *y, const double *v, double *out) {
    (void)user, (void)t, (void)v;
    out[0] = y[1];
    out[1] = 10 * (1 - y[0] * y[0]) * y[1] - y[0];
    return DRAPE_OK;
}

static drape_status van_der_pol_jacobian(void *user, double t, const double *y, const double *v, double *K,
                                         double *D) {
    (void)user, (void)t, (void)v, (void)D;
    K[1] = 1;
    K[2] = -20 * y[0] * y[1] - 1;
    K[3] = 10 * (1 - y[0] * y[0]);
    return DRAPE_OK;
}

static drape_ode_counts run_van_der_pol(drape_context *ctx, drape_ode_newton_kind kind) {
    const double start[] = {2, 0};
    drape_ode_dense_settings matrix = {.order = 1, .size = 2, .jacobian = van_der_pol_jacobian};
    drape_ode_system system = {.order = 1, .size = 2, .f = van_der_pol};
    drape_ode_settings s = drape_ode_defaults();
    drape_ode_dense *dense;
    drape_ode *ode;
    drape_ode_result result;
    s.method = "bdf2";
    s.control = DRAPE_ODE_ERROR;
    s.rtol = 1e-4;
    s.newton.kind = kind;
    ASSERT_OK(ctx, drape_ode_dense_create(ctx, &matrix, &dense));
    system.linear = drape_ode_dense_linear(dense);
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
    ASSERT_OK(ctx, drape_ode_start(ode, 0, start, NULL));
    ASSERT_OK(ctx, drape_ode_advance(ode, 20, &result));
    assert_int_equal(result.reason, DRAPE_ODE_DONE);
    drape_ode_counts counts = drape_ode_count(ode);
    drape_ode_destroy(ode);
    drape_ode_dense_destroy(dense);
    return counts;
}

/* Far fewer matrices than steps, for less than twice the evaluations with a new one every time. */
static void kept_matrices_serve_steps_of_other_lengths(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    drape_ode_counts kept = run_van_der_pol(ctx, DRAPE_ODE_SIMPLIFIED),
                     fresh = run_van_der_pol(ctx, DRAPE_ODE_NEWTON);
    printf("kept: %lld steps, %lld matrices, %lld evaluations; fresh: %lld, %lld, %lld\n", (long long)kept.steps,
           (long long)kept.jacobians, (long long)kept.f, (long long)fresh.steps, (long long)fresh.jacobians,
           (long long)fresh.f);
    assert_true(5 * kept.jacobians < kept.steps);
    assert_true(kept.f < 2 * fresh.f);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variants_find_the_same_solution),
        cmocka_unit_test(linear_solves_are_as_tight_as_asked),
        cmocka_unit_test(newton_converges_fast),
        cmocka_unit_test(one_iteration_is_baraff_and_witkin),
        cmocka_unit_test(frozen_matrix_is_kept_and_remade),
        cmocka_unit_test(frozen_matrix_that_fails_is_remade),
        cmocka_unit_test(linear_springs_give_the_same_solution),
        cmocka_unit_test(extrapolation_saves_iterations),
        cmocka_unit_test(line_search_saves_a_diverging_iteration),
        cmocka_unit_test(kept_matrices_serve_steps_of_other_lengths),
        cmocka_unit_test(chain_goes_down_in_its_potential),
        cmocka_unit_test(held_masses_stay_and_the_rest_converges),
        cmocka_unit_test(failing_linear_solver_is_a_reason),
        cmocka_unit_test(singular_matrix_is_a_reason),
        cmocka_unit_test(iteration_limit_is_a_reason_or_a_shorter_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
