/* What a system can do between and inside steps: change the state (project), filter, have a potential at times, see
 * psi_x. Also what is reported of stages that were kept unconverged. */
#include "ode/chain.h"

#include <stdio.h>

/* The chain with what is asked of it. */
typedef struct rig {
    chain c;              /* first: it is the user of the chain's own functions */
    int32_t calls, at;    /* of project; the one that changes something, 0: every one */
    double change[2];     /* by which it moves x[0] and v[0] */
    double longest;       /* steps beyond this cannot be projected, s; 0: all can */
    drape_status refuses; /* what project returns then */
    int32_t filtered[3];
    const double *last_filtered;
    bool has_potential;
    int32_t joint;                 /* calls of f_with_potential */
    const drape_ode_linear *dense; /* behind checked_solve */
    int32_t solves;
} rig;

static drape_status project(void *user, drape_ode_projection *s) {
    rig *r = user;
    r->calls++;
    if (r->longest > 0 && s->h > r->longest) return r->refuses;
    if (r->at && r->calls != r->at) return DRAPE_OK;
    s->x[0] += r->change[0];
    s->v[0] += r->change[1];
    for (int32_t k = 0; k < 2; k++) s->change[k] = fabs(r->change[k]);
    return DRAPE_OK;
}

static void filter(void *user, drape_ode_filtered what, double *r) {
    rig *g = user;
    g->filtered[what]++;
    g->last_filtered = r;
}

static rig rig_make(double dx, double dv) { return (rig){.c = chain_make(300, 0.2), .change = {dx, dv}}; }

static drape_ode_settings settings(const char *method, drape_ode_control control) {
    drape_ode_settings s = drape_ode_defaults();
    s.method = method;
    s.control = control;
    s.step = 0.002;
    s.newton.rtol = 1e-12;
    s.newton.atol = 1e-13;
    return s;
}

/* An integrator of the rig, started as all of them are. */
typedef struct runner {
    drape_ode_dense *dense;
    drape_ode *ode;
} runner;

static runner begin(drape_context *ctx, const drape_ode_settings *s, rig *r, drape_ode_system system) {
    runner run = {.dense = chain_dense(ctx, &r->c)};
    double x[CHAIN_SIZE], v[CHAIN_SIZE];
    if (!system.linear.solve) system.linear = drape_ode_dense_linear(run.dense);
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, s, &run.ode));
    chain_start(&r->c, x, v);
    ASSERT_OK(ctx, drape_ode_start(run.ode, 0, x, v));
    return run;
}

static runner begin_projected(drape_context *ctx, const drape_ode_settings *s, rig *r) {
    drape_ode_system system = chain_system(&r->c);
    system.project = project;
    return begin(ctx, s, r, system);
}

static void finish(runner *run) {
    drape_ode_destroy(run->ode);
    drape_ode_dense_destroy(run->dense);
}

static void step(drape_context *ctx, drape_ode *ode, double h) {
    drape_ode_result result;
    ASSERT_OK(ctx, drape_ode_step(ode, h, &result));
    assert_int_equal(result.reason, DRAPE_ODE_DONE);
}

static void assert_same_state(const drape_ode *a, const drape_ode *b) {
    assert_memory_equal(drape_ode_x(a), drape_ode_x(b), CHAIN_SIZE * sizeof(double));
    assert_memory_equal(drape_ode_v(a), drape_ode_v(b), CHAIN_SIZE * sizeof(double));
}

/* ---- project ---- */

/* A projection that changes nothing changes no bit of any method, fixed or controlled. */
static void idle_projection_is_invisible(void **state) {
    drape_context *ctx = *state;
    for (int32_t m = 0; drape_ode_method_name(m); m++)
        for (int32_t control = DRAPE_ODE_FIXED; control <= DRAPE_ODE_ERROR; control++) {
            drape_ode_settings s = settings(drape_ode_method_name(m), (drape_ode_control)control);
            rig r = rig_make(0, 0), plain = r;
            runner with = begin_projected(ctx, &s, &r), without = begin(ctx, &s, &plain, chain_system(&plain.c));
            ASSERT_OK(ctx, drape_ode_advance(with.ode, 0.05, NULL));
            ASSERT_OK(ctx, drape_ode_advance(without.ode, 0.05, NULL));
            assert_same_state(with.ode, without.ode);
            assert_int_equal(r.calls, drape_ode_count(with.ode).steps); /* once for each step that was kept */
            assert_int_equal(drape_ode_count(with.ode).projected, 0);
            finish(&with), finish(&without);
        }
}

/* One-step methods do what somebody does who changes the state by hand and starts again. */
static void one_step_methods_go_on_from_the_projected_state(void **state) {
    static const char *const methods[] = {
        "explicit-euler", "rk4", "bogacki-shampine", "dormand-prince", "verlet", "implicit-midpoint", "tr-bdf2"};
    drape_context *ctx = *state;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        drape_ode_settings s = settings(methods[m], DRAPE_ODE_FIXED);
        rig r = rig_make(1e-3, -0.05), plain = rig_make(0, 0);
        runner projected = begin_projected(ctx, &s, &r), by_hand = begin(ctx, &s, &plain, chain_system(&plain.c));
        double x[CHAIN_SIZE], v[CHAIN_SIZE];
        for (int32_t i = 0; i < 10; i++) {
            step(ctx, projected.ode, 0.002), step(ctx, by_hand.ode, 0.002);
            memcpy(x, drape_ode_x(by_hand.ode), sizeof x), memcpy(v, drape_ode_v(by_hand.ode), sizeof v);
            x[0] += 1e-3, v[0] += -0.05;
            ASSERT_OK(ctx, drape_ode_start(by_hand.ode, drape_ode_time(by_hand.ode), x, v));
            if (drape_ode_method_implicit(methods[m])) /* another guess for Newton's iteration */
                assert_true(chain_distance(drape_ode_x(projected.ode), x) < 1e-10);
            else assert_same_state(projected.ode, by_hand.ode);
        }
        assert_int_equal(drape_ode_count(projected.ode).projected, 10);
        assert_int_equal(drape_ode_count(projected.ode).restarts, 0);
        finish(&projected), finish(&by_hand);
    }
}

/* A change that is larger than the error: from there on the bits are those of a method that starts there. */
static void large_changes_restart_multistep_methods(void **state) {
    static const char *const methods[] = {"implicit-euler", "bdf2", "bdf3", "bdf5"};
    drape_context *ctx = *state;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (int32_t control = DRAPE_ODE_FIXED; control <= DRAPE_ODE_ERROR; control++) {
            drape_ode_settings s = settings(methods[m], (drape_ode_control)control);
            rig r = rig_make(0, 0.5), plain = rig_make(0, 0);
            r.at = 12;
            runner projected = begin_projected(ctx, &s, &r), fresh = begin(ctx, &s, &plain, chain_system(&plain.c));
            while (r.calls < r.at) ASSERT_OK(ctx, drape_ode_next(projected.ode, 1, NULL));
            assert_int_equal(drape_ode_count(projected.ode).restarts, 1);
            ASSERT_OK(ctx, drape_ode_start(fresh.ode, drape_ode_time(projected.ode), drape_ode_x(projected.ode),
                                           drape_ode_v(projected.ode)));
            for (int32_t i = 0; i < 10; i++) {
                ASSERT_OK(ctx, drape_ode_next(projected.ode, 1, NULL));
                ASSERT_OK(ctx, drape_ode_next(fresh.ode, 1, NULL));
                assert_true(drape_ode_time(projected.ode) == drape_ode_time(fresh.ode));
                assert_same_state(projected.ode, fresh.ode);
            }
            assert_int_equal(drape_ode_count(projected.ode).projected, 1);
            assert_int_equal(drape_ode_count(projected.ode).restarts, 1);
            finish(&projected), finish(&fresh);
        }
}

/* Changes that are smaller than the error, in every step from the first on: the method keeps its past. */
static void small_changes_keep_the_past(void **state) {
    static const char *const methods[] = {"bdf2", "bdf3", "bdf4"};
    drape_context *ctx = *state;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (int32_t control = DRAPE_ODE_FIXED; control <= DRAPE_ODE_ERROR; control++) {
            drape_ode_settings s = settings(methods[m], (drape_ode_control)control);
            rig r = rig_make(1e-13, -1e-12), plain = rig_make(0, 0);
            runner projected = begin_projected(ctx, &s, &r), without = begin(ctx, &s, &plain, chain_system(&plain.c));
            ASSERT_OK(ctx, drape_ode_advance(projected.ode, 0.1, NULL));
            ASSERT_OK(ctx, drape_ode_advance(without.ode, 0.1, NULL));
            drape_ode_counts counts = drape_ode_count(projected.ode);
            assert_true(counts.steps >= 20 && counts.projected == counts.steps);
            assert_int_equal(counts.restarts, 0);
            assert_true(chain_distance(drape_ode_x(projected.ode), drape_ode_x(without.ode)) < 1e-7);
            finish(&projected), finish(&without);
        }
}

/* Which part of the state changed is not all the same: x is compared with the error of x, v with that of v. */
static void each_part_has_its_own_error(void **state) {
    drape_context *ctx = *state;
    for (int32_t part = 0; part < 2; part++) {
        drape_ode_settings s = settings("bdf2", DRAPE_ODE_FIXED);
        /* Here the estimated error of positions is below 1e-5 m, and that of velocities is above 1e-5 m/s. */
        rig r = part ? rig_make(0, 1e-5) : rig_make(1e-5, 0);
        r.at = 20;
        runner run = begin_projected(ctx, &s, &r);
        for (int32_t i = 0; i < 25; i++) step(ctx, run.ode, 0.002);
        assert_int_equal(drape_ode_count(run.ode).projected, 1);
        assert_int_equal(drape_ode_count(run.ode).restarts, part ? 0 : 1);
        finish(&run);
    }
}

static void failing_projections_fail_the_step(void **state) {
    drape_context *ctx = *state;
    drape_ode_result result;
    drape_ode_settings s = settings("bdf2", DRAPE_ODE_FIXED);
    rig r = rig_make(0, 0);
    r.longest = 0.0015, r.refuses = DRAPE_ERROR_NUMBER;
    runner run = begin_projected(ctx, &s, &r);
    double before = drape_ode_x(run.ode)[3];
    ASSERT_OK(ctx, drape_ode_step(run.ode, 0.002, &result));
    assert_int_equal(result.reason, DRAPE_ODE_NOT_FINITE);
    assert_non_null(strstr(drape_ode_explain(run.ode), "projection"));
    assert_true(drape_ode_time(run.ode) == 0 && drape_ode_x(run.ode)[3] == before);
    step(ctx, run.ode, 0.001);
    r.longest = 1e-9, r.refuses = DRAPE_ERROR_IO;
    assert_int_equal(drape_ode_step(run.ode, 0.001, &result), DRAPE_ERROR_IO);
    assert_true(drape_ode_time(run.ode) == 0.001);
    r = rig_make(INFINITY, 0);
    ASSERT_OK(ctx, drape_ode_step(run.ode, 0.001, &result));
    assert_int_equal(result.reason, DRAPE_ODE_NOT_FINITE);
    finish(&run);
    /* Under a control shorter steps are tried. */
    s.control = DRAPE_ODE_ERROR;
    s.rtol = s.atol = 1;
    r = rig_make(0, 0);
    r.longest = 0.0015, r.refuses = DRAPE_ERROR_NUMBER;
    run = begin_projected(ctx, &s, &r);
    ASSERT_OK(ctx, drape_ode_next(run.ode, 1, &result));
    assert_int_equal(result.reason, DRAPE_ODE_DONE);
    assert_true(result.step <= 0.0015 && drape_ode_count(run.ode).rejected > 0);
    finish(&run);
}

/* ---- filter, has_potential, psi_x ---- */

static void filters_know_what_they_get(void **state) {
    drape_context *ctx = *state;
    for (drape_ode_newton_kind kind = DRAPE_ODE_NEWTON; kind <= DRAPE_ODE_LINEARISED;
         kind += DRAPE_ODE_LINEARISED - 1)
        for (int32_t control = DRAPE_ODE_FIXED; control <= DRAPE_ODE_ERROR; control++) {
            drape_ode_settings s = settings("bdf2", (drape_ode_control)control);
            rig r = rig_make(0, 0);
            drape_ode_system system = chain_system(&r.c);
            system.filter = filter;
            system.stiffness_times = chain_stiffness_times;
            s.newton.kind = kind;
            runner run = begin(ctx, &s, &r, system);
            ASSERT_OK(ctx, drape_ode_advance(run.ode, 0.02, NULL));
            drape_ode_counts counts = drape_ode_count(run.ode);
            /* Each residual is one evaluation; the control has others, for its first step. */
            if (control == DRAPE_ODE_FIXED) assert_int_equal(r.filtered[DRAPE_ODE_FILTER_RESIDUAL], counts.f);
            else assert_true(r.filtered[DRAPE_ODE_FILTER_RESIDUAL] >= counts.newton);
            int64_t estimates = control == DRAPE_ODE_FIXED ? 0 : counts.steps + counts.rejected;
            assert_int_equal(r.filtered[DRAPE_ODE_FILTER_ERROR_X], estimates);
            assert_int_equal(r.filtered[DRAPE_ODE_FILTER_ERROR_V], estimates);
            finish(&run);
        }
}

static bool has_potential(void *user) { return ((rig *)user)->has_potential; }

static void potentials_come_and_go(void **state) {
    drape_context *ctx = *state;
    drape_ode_settings s = settings("implicit-euler", DRAPE_ODE_FIXED);
    rig r = rig_make(0, 0);
    drape_ode_system system = chain_system(&r.c);
    system.potential = chain_potential;
    system.has_potential = has_potential;
    runner run = begin(ctx, &s, &r, system);
    for (int32_t i = 0; i < 4; i++) {
        int64_t before = drape_ode_count(run.ode).potentials;
        r.has_potential = i % 2 == 1;
        step(ctx, run.ode, 0.02);
        assert_int_equal(drape_ode_count(run.ode).potentials > before, r.has_potential);
    }
    finish(&run);
}

static drape_status f_with_potential(void *user, const drape_ode_point *at, double *out, double *potential) {
    drape_status status = chain_f(user, at->t, at->x, at->v, out);
    ((rig *)user)->joint++;
    return status ? status : chain_potential(user, at, potential);
}

/* The same iteration with f and the potential in one call or in two, also where there is no line search. */
static void potentials_come_with_f(void **state) {
    drape_context *ctx = *state;
    for (int32_t search = DRAPE_ODE_SEARCH_OFF; search <= DRAPE_ODE_SEARCH_SLOPE; search++) {
        double x[2][CHAIN_SIZE];
        drape_ode_counts counts[2];
        rig r[2] = {rig_make(0, 0), rig_make(0, 0)};
        for (int32_t joint = 0; joint < 2; joint++) {
            drape_ode_settings s = settings("bdf2", DRAPE_ODE_FIXED);
            drape_ode_system system = chain_system(&r[joint].c);
            s.newton.line_search = (drape_ode_search)search;
            system.potential = chain_potential;
            system.f_with_potential = joint ? f_with_potential : NULL;
            runner run = begin(ctx, &s, &r[joint], system);
            ASSERT_OK(ctx, drape_ode_advance(run.ode, 0.1, NULL));
            counts[joint] = drape_ode_count(run.ode);
            memcpy(x[joint], drape_ode_x(run.ode), sizeof x[joint]);
            finish(&run);
        }
        assert_memory_equal(x[0], x[1], sizeof x[0]);
        assert_int_equal(counts[0].newton, counts[1].newton);
        assert_int_equal(counts[0].f, counts[1].f);
        assert_int_equal(r[1].joint, search == DRAPE_ODE_SEARCH_OFF ? 0 : counts[1].f);
    }
}

static drape_status checked_prepare(void *user, const drape_ode_point *at) {
    rig *r = user;
    return r->dense->prepare(r->dense->user, at);
}

/* psi_x is where the stage begins: x = psi_x + c v, wherever Newton's iteration is. */
static drape_status checked_solve(void *user, const drape_ode_request *q, double *d, drape_ode_answer *answer) {
    rig *r = user;
    r->solves++;
    for (int32_t i = 0; i < CHAIN_SIZE; i++) ASSERT_NEAR(q->at.x[i], q->psi_x[i] + q->at.c * q->at.v[i], 1e-13);
    return r->dense->solve(r->dense->user, q, d, answer);
}

static void requests_know_their_stage(void **state) {
    static const char *const methods[] = {"implicit-euler", "implicit-midpoint", "tr-bdf2", "bdf3"};
    drape_context *ctx = *state;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        drape_ode_settings s = settings(methods[m], DRAPE_ODE_FIXED);
        rig r = rig_make(0, 0);
        drape_ode_dense *dense = chain_dense(ctx, &r.c);
        drape_ode_linear linear = drape_ode_dense_linear(dense);
        drape_ode_system system = chain_system(&r.c);
        system.linear = (drape_ode_linear){.user = &r, .prepare = checked_prepare, .solve = checked_solve};
        r.dense = &linear;
        runner run = begin(ctx, &s, &r, system);
        for (int32_t i = 0; i < 5; i++) step(ctx, run.ode, 0.005);
        assert_true(r.solves >= 5);
        finish(&run);
        drape_ode_dense_destroy(dense);
    }
}

/* ---- Forgiven stages ---- */

static void forgiven_stages_are_told(void **state) {
    drape_context *ctx = *state;
    drape_ode_settings s = settings("implicit-euler", DRAPE_ODE_FIXED);
    rig r = rig_make(0, 0);
    drape_ode_result result;
    s.step = 0.05;
    s.newton.rtol = s.newton.atol = 1e-3;
    s.newton.max_iterations = 1;
    s.newton.keep_unconverged = true;
    runner run = begin(ctx, &s, &r, chain_system(&r.c));
    ASSERT_OK(ctx, drape_ode_advance(run.ode, 0.15, &result));
    assert_int_equal(result.reason, DRAPE_ODE_DONE);
    assert_int_equal(result.forgiven, DRAPE_ODE_NEWTON_LIMIT);
    assert_int_equal(result.unconverged, 3); /* of all steps of the call */
    assert_int_equal(drape_ode_count(run.ode).unconverged, 3);
    /* A step so short that one correction will do: nothing is left of the call before. */
    ASSERT_OK(ctx, drape_ode_step(run.ode, 1e-9, &result));
    assert_int_equal(result.forgiven, DRAPE_ODE_DONE);
    assert_int_equal(result.unconverged, 0);
    ASSERT_OK(ctx, drape_ode_step(run.ode, 0.05, &result));
    assert_int_equal(result.unconverged, 1);
    finish(&run);
}

/* ---- Zeros, names, NULL ---- */

static void zeros_are_defaults(void **state) {
    static const char *const methods[] = {NULL, "bdf2", "dormand-prince"};
    drape_context *ctx = *state;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (int32_t control = DRAPE_ODE_FIXED; control <= DRAPE_ODE_ERROR; control++) {
            drape_ode_settings zeros = {.method = methods[m], .control = (drape_ode_control)control, .step = 0.002};
            drape_ode_settings usual = drape_ode_defaults();
            rig r = rig_make(0, 0), q = r;
            usual.control = zeros.control;
            usual.step = zeros.step;
            if (methods[m]) usual.method = methods[m];
            runner a = begin(ctx, &zeros, &r, chain_system(&r.c)), b = begin(ctx, &usual, &q, chain_system(&q.c));
            ASSERT_OK(ctx, drape_ode_advance(a.ode, 0.1, NULL));
            ASSERT_OK(ctx, drape_ode_advance(b.ode, 0.1, NULL));
            assert_same_state(a.ode, b.ode);
            assert_int_equal(drape_ode_count(a.ode).f, drape_ode_count(b.ode).f);
            finish(&a), finish(&b);
        }
}

/* A negative tolerance is none: with atol alone the chain is stepped more finely than with the default rtol added. */
static void negative_tolerances_are_none(void **state) {
    drape_context *ctx = *state;
    int64_t steps[2];
    for (int32_t i = 0; i < 2; i++) {
        drape_ode_settings s = {.method = "bogacki-shampine", .control = DRAPE_ODE_ERROR, .atol = 1e-6};
        rig r = rig_make(0, 0);
        if (i) s.rtol = -1;
        runner run = begin(ctx, &s, &r, chain_system(&r.c));
        ASSERT_OK(ctx, drape_ode_advance(run.ode, 0.2, NULL));
        steps[i] = drape_ode_count(run.ode).steps;
        finish(&run);
    }
    assert_true(steps[1] > 2 * steps[0]);
}

static void room_for_later_is_zero(void **state) {
    drape_context *ctx = *state;
    chain c = chain_make(1, 1);
    drape_ode_system system = chain_system(&c);
    drape_ode_settings s = {.method = "rk4", .step = 0.1};
    drape_ode *ode;
    s.newton.reserved[1] = 1;
    assert_int_equal(drape_ode_create(ctx, &system, &s, &ode), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "drape_ode_newton.reserved"));
    s.newton.reserved[1] = 0, s.reserved[0] = 1;
    assert_int_equal(drape_ode_create(ctx, &system, &s, &ode), DRAPE_ERROR_ARGUMENT);
    s.reserved[0] = 0, system.reserved[2] = 1;
    assert_int_equal(drape_ode_create(ctx, &system, &s, &ode), DRAPE_ERROR_ARGUMENT);
    system.reserved[2] = 0;
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
    drape_ode_destroy(ode);
}

static void nothing_is_an_argument_error(void **state) {
    drape_context *ctx = *state;
    chain c = chain_make(1, 1);
    drape_ode_system system = chain_system(&c);
    drape_ode_settings s = {.method = "rk4", .step = 0.1};
    drape_ode_stability stability;
    drape_ode_dense *dense;
    drape_ode *ode;
    double x[CHAIN_SIZE] = {0};
    assert_int_equal(drape_ode_create(NULL, &system, &s, &ode), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_create(ctx, NULL, &s, &ode), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_create(ctx, &system, &s, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_start(NULL, 0, x, x), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_step(NULL, 1, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_next(NULL, 1, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_advance(NULL, 1, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_restore(NULL, x, 8), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_stability_at(ctx, NULL, 0, 0, &stability), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_stability_oscillator(ctx, &s, 1, 0, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_ode_dense_create(ctx, NULL, &dense), DRAPE_ERROR_ARGUMENT);
    assert_null(drape_ode_dense_linear(NULL).solve);
    assert_null(drape_ode_x(NULL));
    assert_string_equal(drape_ode_explain(NULL), "");
    assert_int_equal(drape_ode_method_order(NULL), 0);
}

static void names_end(void **state) {
    (void)state;
    assert_string_equal(drape_ode_newton_kind_name(DRAPE_ODE_NEWTON_DEFAULT), "default");
    assert_string_equal(drape_ode_newton_kind_name(DRAPE_ODE_LINEARISED), "linearised");
    assert_string_equal(drape_ode_newton_kind_name(DRAPE_ODE_MATRIX_FREE), "matrix-free");
    assert_null(drape_ode_newton_kind_name((drape_ode_newton_kind)(DRAPE_ODE_MATRIX_FREE + 1)));
    assert_string_equal(drape_ode_search_name(DRAPE_ODE_SEARCH_SLOPE), "slope");
    assert_null(drape_ode_search_name((drape_ode_search)-1));
    assert_string_equal(drape_ode_control_name(DRAPE_ODE_NEWTONS), "newtons");
    assert_null(drape_ode_control_name((drape_ode_control)3));
    assert_string_equal(drape_ode_filtered_name(DRAPE_ODE_FILTER_ERROR_V), "error of v");
    assert_null(drape_ode_filtered_name((drape_ode_filtered)3));
    assert_string_equal(drape_ode_reason_name(DRAPE_ODE_EVENT), "event");
    assert_null(drape_ode_reason_name((drape_ode_reason)(DRAPE_ODE_EVENT + 1)));
}

int main(void) {
    drape_context *ctx = test_context(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(idle_projection_is_invisible, ctx),
        cmocka_unit_test_prestate(one_step_methods_go_on_from_the_projected_state, ctx),
        cmocka_unit_test_prestate(large_changes_restart_multistep_methods, ctx),
        cmocka_unit_test_prestate(small_changes_keep_the_past, ctx),
        cmocka_unit_test_prestate(each_part_has_its_own_error, ctx),
        cmocka_unit_test_prestate(failing_projections_fail_the_step, ctx),
        cmocka_unit_test_prestate(filters_know_what_they_get, ctx),
        cmocka_unit_test_prestate(potentials_come_and_go, ctx),
        cmocka_unit_test_prestate(potentials_come_with_f, ctx),
        cmocka_unit_test_prestate(requests_know_their_stage, ctx),
        cmocka_unit_test_prestate(forgiven_stages_are_told, ctx),
        cmocka_unit_test_prestate(zeros_are_defaults, ctx),
        cmocka_unit_test_prestate(negative_tolerances_are_none, ctx),
        cmocka_unit_test_prestate(room_for_later_is_zero, ctx),
        cmocka_unit_test_prestate(nothing_is_an_argument_error, ctx),
        cmocka_unit_test(names_end),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    drape_context_destroy(ctx);
    return failed;
}
