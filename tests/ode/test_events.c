/* Events: their times against exact ones, with tight tolerances and in their order in h; the order in which they are
 * reported. Also terminal ones, and how runs continue; what is not found, not reported or refused. */
#include "ode/chain.h"
#include "ode_examples.h"

#include <stdio.h>

enum { MOST = 64 };

typedef struct seen {
    const ode_example *example;
    int32_t count, index[MOST];
    double t[MOST], x[MOST];
    bool rising[MOST], terminal[MOST];
} seen;

static drape_status note(void *user, const drape_ode_event *event) {
    seen *s = user;
    assert_true(s->count < MOST);
    s->index[s->count] = event->index;
    s->t[s->count] = event->t;
    s->x[s->count] = event->x[0];
    s->rising[s->count] = event->rising;
    s->terminal[s->count++] = event->terminal;
    return DRAPE_OK;
}

static drape_status example_event(void *user, double t, const double *x, const double *v, double *g) {
    const seen *s = user;
    (void)t;
    g[0] = ode_example_event(s->example, x[0], v ? v[0] : 0);
    return DRAPE_OK;
}

static drape_ode_settings settings_of(const char *method, double step) {
    drape_ode_settings s = drape_ode_defaults();
    s.method = method;
    s.step = step;
    s.newton.rtol = 1e-14;
    s.newton.atol = 1e-15;
    s.dense_output = true;
    return s;
}

static void begin(drape_context *ctx, const ode_example *e, const drape_ode_settings *s,
                  const drape_ode_events *events, ode_example_run *run) {
    ASSERT_OK(ctx, ode_example_begin(ctx, e, s, run));
    ASSERT_OK(ctx, drape_ode_watch(run->ode, events));
}

static int32_t events_until(const ode_example *e, double end) {
    int32_t count = 0;
    while (ode_example_event_time(e, count) < end) count++;
    return count;
}

/* Runs it to its end; the largest error of an event's time, all of which must be there. */
static double worst_time(drape_context *ctx, const ode_example *e, const drape_ode_settings *s) {
    seen found = {.example = e};
    drape_ode_events events = {.count = 1, .user = &found, .g = example_event, .report = note, .tolerance = 1e-14};
    ode_example_run run;
    drape_ode_result result;
    double worst = 0;
    begin(ctx, e, s, &events, &run);
    ASSERT_OK(ctx, drape_ode_advance(run.ode, e->end, &result));
    assert_int_equal(result.reason, DRAPE_ODE_DONE);
    assert_int_equal(result.event, -1);
    assert_int_equal(found.count, events_until(e, e->end));
    for (int32_t k = 0; k < found.count; k++) worst = fmax(worst, fabs(found.t[k] - ode_example_event_time(e, k)));
    ode_example_end(&run);
    return worst;
}

static void times_are_exact_with_tight_tolerances(void **state) {
    static const char *const methods[] = {"dormand-prince", "rk4", "bdf6"};
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t m = 0; m < 3; m++)
        for (int32_t i = 0; ode_example_at(i); i++) {
            drape_ode_settings s = settings_of(methods[m], 0);
            s.control = DRAPE_ODE_ERROR;
            s.rtol = 1e-12;
            s.atol = 1e-14;
            double worst = worst_time(ctx, ode_example_at(i), &s);
            printf("%-18s example %-10s times of events wrong by %.2g s\n", methods[m], ode_example_at(i)->name,
                   worst);
            assert_true(worst < 1e-9);
        }
    drape_context_destroy(ctx);
}

static void times_have_the_order_of_the_method(void **state) {
    drape_context *ctx = test_context(1);
    const ode_example *e = ode_example_find("oscillator");
    (void)state;
    for (int32_t m = 0; drape_ode_method_name(m); m++) {
        const char *method = drape_ode_method_name(m);
        int32_t order = drape_ode_method_order(method), count = order > 4 ? 200 : order > 1 ? 800 : 4000;
        drape_ode_settings coarse = settings_of(method, e->end / count),
                           fine = settings_of(method, e->end / (4 * count));
        double a = worst_time(ctx, e, &coarse), b = worst_time(ctx, e, &fine), measured = log2(a / b) / 2;
        printf("%-18s events wrong by %.2g and %.2g s: order %.2f, theory %d\n", method, a, b, measured, order);
        assert_true(measured > order - 0.35);
    }
    drape_context_destroy(ctx);
}

/* ---- Several events ---- */

/* Zeros of t - 0.3, t - 0.1 twice, 0.2 - t, and (t - 0.15)^2, which does not change its sign. */
static drape_status lines(void *user, double t, const double *x, const double *v, double *g) {
    (void)user, (void)x, (void)v;
    g[0] = t - 0.3, g[1] = t - 0.1, g[2] = 0.2 - t, g[3] = t - 0.1;
    g[4] = (t - 0.15) * (t - 0.15), g[5] = NAN;
    return DRAPE_OK;
}

static void several_come_in_the_order_of_time(void **state) {
    drape_context *ctx = test_context(1);
    const ode_example *e = ode_example_find("1a");
    (void)state;
    for (int32_t m = 0; drape_ode_method_name(m); m++) {
        if (drape_ode_method_second_order(drape_ode_method_name(m))) continue;
        drape_ode_settings s = settings_of(drape_ode_method_name(m), 0.4);
        seen found = {0};
        drape_ode_events events = {.count = 6, .user = &found, .g = lines, .report = note};
        ode_example_run run;
        begin(ctx, e, &s, &events, &run);
        ASSERT_OK(ctx, drape_ode_step(run.ode, 0.4, NULL));
        assert_int_equal(found.count, 4);
        const int32_t order[4] = {1, 3, 2, 0};
        const double t[4] = {0.1, 0.1, 0.2, 0.3};
        for (int32_t k = 0; k < 4; k++) {
            assert_int_equal(found.index[k], order[k]);
            ASSERT_NEAR(found.t[k], t[k], 1e-10);
            assert_true(found.rising[k] == (order[k] != 2));
            assert_false(found.terminal[k]);
        }
        ode_example_end(&run);
    }
    drape_context_destroy(ctx);
}

static void directions_choose(void **state) {
    drape_context *ctx = test_context(1);
    const ode_example *e = ode_example_find("oscillator");
    (void)state;
    for (int32_t d = DRAPE_ODE_BOTH; d <= DRAPE_ODE_FALLING; d++) {
        const drape_ode_direction direction = (drape_ode_direction)d;
        drape_ode_settings s = settings_of("rk4", 0.01);
        seen found = {.example = e};
        drape_ode_events events = {
            .count = 1, .user = &found, .g = example_event, .direction = &direction, .report = note};
        ode_example_run run;
        begin(ctx, e, &s, &events, &run);
        ASSERT_OK(ctx, drape_ode_advance(run.ode, e->end, NULL));
        int32_t all = events_until(e, e->end), falling = (all + 1) / 2; /* the first goes down */
        assert_int_equal(found.count, d == DRAPE_ODE_BOTH ? all : d == DRAPE_ODE_FALLING ? falling : all - falling);
        for (int32_t k = 0; k < found.count; k++)
            if (d != DRAPE_ODE_BOTH) assert_true(found.rising[k] == (d == DRAPE_ODE_RISING));
        ode_example_end(&run);
    }
    drape_context_destroy(ctx);
}

/* ---- Terminal events ---- */

/* The run ends at each event, goes on, and is no less exact for it. */
static void terminal_events_end_a_run_which_goes_on(void **state) {
    drape_context *ctx = test_context(1);
    const ode_example *e = ode_example_find("oscillator");
    const bool terminal = true;
    (void)state;
    for (int32_t m = 0; drape_ode_method_name(m); m++)
        for (int32_t control = 0; control < 2; control++) {
            drape_ode_settings s = settings_of(drape_ode_method_name(m), 0.001);
            seen found = {.example = e};
            drape_ode_events events = {
                .count = 1, .user = &found, .g = example_event, .terminal = &terminal, .report = note};
            ode_example_run run;
            drape_ode_result result = {0};
            double end = 5, rough = drape_ode_method_order(s.method) > 1 ? 5e-4 : 0.1, x, v, from, to;
            s.control = (drape_ode_control)control;
            s.rtol = s.atol = drape_ode_method_order(s.method) > 1 ? 1e-7 : 1e-5;
            begin(ctx, e, &s, &events, &run);
            int32_t all = events_until(e, end);
            for (int32_t k = 0; k < all; k++) {
                ASSERT_OK(ctx, drape_ode_advance(run.ode, end, &result));
                assert_int_equal(result.reason, DRAPE_ODE_EVENT);
                assert_int_equal(result.event, 0);
                assert_int_equal(found.count, k + 1);
                assert_true(result.t == drape_ode_time(run.ode) && result.t == found.t[k] && found.terminal[k]);
                assert_true(drape_ode_x(run.ode)[0] == found.x[k]);
                ASSERT_NEAR(result.t, ode_example_event_time(e, k), rough);
                assert_non_null(strstr(drape_ode_explain(run.ode), "event 0 at t = "));
                assert_true(drape_ode_last_step(run.ode, &from, &to) && to == result.t);
                ASSERT_OK(ctx, drape_ode_interpolate(run.ode, to, &x, &v));
                assert_true(x == drape_ode_x(run.ode)[0] && v == drape_ode_v(run.ode)[0]);
                ASSERT_OK(ctx, drape_ode_interpolate(run.ode, from + 0.5 * (to - from), &x, &v));
            }
            ASSERT_OK(ctx, drape_ode_advance(run.ode, end, &result));
            assert_int_equal(result.reason, DRAPE_ODE_DONE);
            assert_int_equal(found.count, all);
            assert_true(ode_example_error(e, &run) < rough);
            ode_example_end(&run);
        }
    drape_context_destroy(ctx);
}

static const double GRAVITY = 9.81, BOUNCE = 0.8;

static drape_status falls(void *user, double t, const double *x, const double *v, double *out) {
    (void)user, (void)t, (void)x, (void)v;
    out[0] = -GRAVITY;
    return DRAPE_OK;
}

static drape_status height(void *user, double t, const double *x, const double *v, double *g) {
    (void)user, (void)t, (void)v;
    g[0] = x[0];
    return DRAPE_OK;
}

/* A ball from one metre; any change of sign counts, so that the bounce itself could be seen again. */
static void a_ball_bounces(void **state) {
    static const char *const methods[] = {"verlet", "dormand-prince", "rk4", "explicit-midpoint"};
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t m = 0; m < 4; m++) {
        drape_ode_settings s = settings_of(methods[m], 0.05);
        drape_ode_system system = {.order = 2, .size = 1, .f = falls};
        const bool terminal = true;
        seen found = {0};
        drape_ode *ode;
        drape_ode_result result;
        double x = 1, v = 0, t = sqrt(2 / GRAVITY), speed = GRAVITY * t;
        ASSERT_OK(ctx, drape_ode_create(ctx, &system, &s, &ode));
        ASSERT_OK(ctx, drape_ode_watch(ode, &(drape_ode_events){.count = 1,
                                                                .user = &found,
                                                                .g = height,
                                                                .terminal = &terminal,
                                                                .report = note,
                                                                .tolerance = 1e-13}));
        ASSERT_OK(ctx, drape_ode_start(ode, 0, &x, &v));
        for (int32_t k = 0; k < 12; k++) {
            ASSERT_OK(ctx, drape_ode_advance(ode, 10, &result));
            assert_int_equal(result.reason, DRAPE_ODE_EVENT);
            assert_int_equal(found.count, k + 1);
            assert_false(found.rising[k]);
            ASSERT_NEAR(result.t, t, 1e-11);
            speed *= BOUNCE;
            t += 2 * speed / GRAVITY;
            x = drape_ode_x(ode)[0];
            v = -BOUNCE * drape_ode_v(ode)[0];
            ASSERT_OK(ctx, drape_ode_start(ode, result.t, &x, &v));
        }
        drape_ode_destroy(ode);
    }
    drape_context_destroy(ctx);
}

/* ---- What stops it, what is refused ---- */

static drape_status stops(void *user, const drape_ode_event *event) {
    (void)user, (void)event;
    return DRAPE_ERROR_IO;
}

static drape_status cannot(void *user, double t, const double *x, const double *v, double *g) {
    (void)user, (void)x, (void)v;
    g[0] = 1;
    return t > 0.05 ? DRAPE_ERROR_NUMBER : DRAPE_OK;
}

static void what_they_say_is_heard(void **state) {
    drape_context *ctx = test_context(1);
    const ode_example *e = ode_example_find("1a");
    (void)state;
    for (int32_t control = 0; control < 2; control++) {
        drape_ode_settings s = settings_of("rk4", 0.02);
        ode_example_run run;
        drape_ode_result result;
        s.control = (drape_ode_control)control;
        begin(ctx, e, &s, &(drape_ode_events){.count = 6, .g = lines, .report = stops}, &run);
        assert_int_equal(drape_ode_advance(run.ode, 1, &result), DRAPE_ERROR_IO);
        ASSERT_OK(ctx, drape_ode_watch(run.ode, &(drape_ode_events){.count = 1, .g = cannot}));
        ASSERT_OK(ctx, drape_ode_start(run.ode, 0, e->start, NULL));
        ASSERT_OK(ctx, drape_ode_advance(run.ode, 1, &result));
        assert_int_equal(result.reason, DRAPE_ODE_NOT_FINITE);
        ASSERT_OK(ctx, drape_ode_watch(run.ode, NULL));
        ASSERT_OK(ctx, drape_ode_advance(run.ode, 1, &result));
        assert_int_equal(result.reason, DRAPE_ODE_DONE);
        ode_example_end(&run);
    }
    drape_context_destroy(ctx);
}

static void refused(drape_context *ctx, drape_ode *ode, drape_ode_events events, const char *text) {
    assert_int_equal(drape_ode_watch(ode, &events), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), text));
}

static void bad_events_are_refused(void **state) {
    drape_context *ctx = test_context(1);
    const ode_example *e = ode_example_find("1a");
    const drape_ode_direction sideways = (drape_ode_direction)7;
    drape_ode_settings s = settings_of("rk4", 0.02);
    ode_example_run run;
    (void)state;
    ASSERT_OK(ctx, ode_example_begin(ctx, e, &s, &run));
    refused(ctx, run.ode, (drape_ode_events){.count = 0, .g = lines}, "count is 0");
    refused(ctx, run.ode, (drape_ode_events){.count = DRAPE_ODE_MOST_EVENTS + 1, .g = lines}, "count is 1025");
    refused(ctx, run.ode, (drape_ode_events){.count = 1}, "no g");
    refused(ctx, run.ode, (drape_ode_events){.count = 1, .g = lines, .tolerance = -1}, "tolerance");
    refused(ctx, run.ode, (drape_ode_events){.count = 1, .g = lines, .tolerance = NAN}, "tolerance");
    refused(ctx, run.ode, (drape_ode_events){.count = 1, .g = lines, .direction = &sideways}, "direction[0] is 7");
    refused(ctx, run.ode, (drape_ode_events){.count = 1, .g = lines, .reserved = {1}}, "reserved");
    assert_int_equal(drape_ode_watch(NULL, NULL), DRAPE_ERROR_ARGUMENT);
    ode_example_end(&run);
    s.dense_output = false;
    ASSERT_OK(ctx, ode_example_begin(ctx, e, &s, &run));
    refused(ctx, run.ode, (drape_ode_events){.count = 1, .g = lines}, "dense_output");
    ode_example_end(&run);
    drape_context_destroy(ctx);
}

/* ---- A save in between ---- */

static void a_save_changes_no_event(void **state) {
    drape_context *ctx = test_context(1);
    const ode_example *e = ode_example_find("3");
    (void)state;
    for (int32_t m = 0; drape_ode_method_name(m); m++)
        for (int32_t control = 0; control < 2; control++) {
            drape_ode_settings s = settings_of(drape_ode_method_name(m), 0.002);
            seen through = {.example = e}, resumed = {.example = e};
            drape_ode_events events = {.count = 1, .user = &through, .g = example_event, .report = note};
            ode_example_run a, b;
            unsigned char bytes[4096];
            s.control = (drape_ode_control)control;
            begin(ctx, e, &s, &events, &a);
            ASSERT_OK(ctx, drape_ode_advance(a.ode, 0.004, NULL)); /* BDF still begins */
            int64_t size = drape_ode_save_size(a.ode);
            assert_true(size <= (int64_t)sizeof bytes);
            drape_ode_save(a.ode, bytes);
            int32_t before = through.count;
            ASSERT_OK(ctx, drape_ode_advance(a.ode, 0.5, NULL));
            events.user = &resumed;
            begin(ctx, e, &s, &events, &b);
            ASSERT_OK(ctx, drape_ode_restore(b.ode, bytes, size));
            ASSERT_OK(ctx, drape_ode_advance(b.ode, 0.5, NULL));
            assert_true(resumed.count == through.count - before && resumed.count > 3);
            assert_memory_equal(resumed.t, through.t + before, (size_t)resumed.count * sizeof(double));
            ode_example_end(&a);
            ode_example_end(&b);
        }
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_exact_with_tight_tolerances),
        cmocka_unit_test(times_have_the_order_of_the_method),
        cmocka_unit_test(several_come_in_the_order_of_time),
        cmocka_unit_test(directions_choose),
        cmocka_unit_test(terminal_events_end_a_run_which_goes_on),
        cmocka_unit_test(a_ball_bounces),
        cmocka_unit_test(what_they_say_is_heard),
        cmocka_unit_test(bad_events_are_refused),
        cmocka_unit_test(a_save_changes_no_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
