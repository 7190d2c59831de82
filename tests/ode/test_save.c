/* An integrator that was saved and one that was restored continue with the same bits. This covers every method, every
 * control, every kind of Newton's iteration, and any number of past states. Bytes that are wrong are refused. */
#include "ode/chain.h"

#include <stdlib.h>

enum { MOST_BEFORE = 9, AFTER = 6 };

static drape_ode_settings settings_of(int32_t method, int32_t control, int32_t kind) {
    drape_ode_settings s = drape_ode_defaults();
    s.method = drape_ode_method_name(method);
    s.control = (drape_ode_control)control;
    if (control == DRAPE_ODE_NEWTONS && !drape_ode_method_implicit(s.method)) s.control = DRAPE_ODE_FIXED;
    s.step = control == DRAPE_ODE_ERROR ? 0 : 0.002;
    s.newton.kind = (drape_ode_newton_kind)kind;
    return s;
}

/* One step under the control; both are to end at the same time. */
static void next(drape_context *ctx, chain_run *run) {
    drape_ode_result result;
    ASSERT_OK(ctx, drape_ode_next(run->ode, 10, &result));
    assert_int_equal(result.reason, DRAPE_ODE_DONE);
}

static void assert_same(const drape_ode *a, const drape_ode *b) {
    drape_ode_counts left = drape_ode_count(a), right = drape_ode_count(b);
    assert_true(drape_ode_time(a) == drape_ode_time(b));
    assert_memory_equal(drape_ode_x(a), drape_ode_x(b), CHAIN_SIZE * sizeof(double));
    assert_memory_equal(drape_ode_v(a), drape_ode_v(b), CHAIN_SIZE * sizeof(double));
    assert_memory_equal(&left, &right, sizeof left);
}

/* Saves `from`, restores into `to`, and lets both go on. */
static void hand_over(drape_context *ctx, chain_run *from, chain_run *to) {
    int64_t bytes = drape_ode_save_size(from->ode);
    void *data = malloc((size_t)bytes);
    assert_non_null(data);
    assert_int_equal(bytes % 8, 0);
    drape_ode_save(from->ode, data);
    ASSERT_OK(ctx, drape_ode_restore(to->ode, data, bytes));
    free(data);
    assert_same(from->ode, to->ode);
    for (int32_t i = 0; i < AFTER; i++) {
        next(ctx, from);
        next(ctx, to);
        assert_same(from->ode, to->ode);
    }
}

static void compare(drape_context *ctx, const drape_ode_settings *s, int32_t before) {
    chain_run from = {.c = chain_make(100, 0.1)}, to = {.c = chain_make(100, 0.1)};
    chain_begin(ctx, s, &from);
    chain_begin(ctx, s, &to);
    for (int32_t i = 0; i < before; i++) next(ctx, &from);
    next(ctx, &to);
    hand_over(ctx, &from, &to);
    chain_finish(&from);
    chain_finish(&to);
}

static void every_method_goes_on_with_the_same_bits(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t m = 0; drape_ode_method_name(m); m++)
        for (int32_t control = 0; control < 3; control++)
            for (int32_t before = 0; before <= MOST_BEFORE; before++) {
                drape_ode_settings s = settings_of(m, control, DRAPE_ODE_NEWTON);
                compare(ctx, &s, before);
            }
    drape_context_destroy(ctx);
}

static void every_newton_goes_on_with_the_same_bits(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t m = 0; drape_ode_method_name(m); m++)
        for (int32_t kind = DRAPE_ODE_NEWTON; drape_ode_method_implicit(drape_ode_method_name(m)) &&
                                              drape_ode_newton_kind_name((drape_ode_newton_kind)kind);
             kind++) {
            drape_ode_settings s = settings_of(m, DRAPE_ODE_FIXED, kind);
            compare(ctx, &s, 1);
            compare(ctx, &s, MOST_BEFORE);
        }
    drape_context_destroy(ctx);
}

/* The matrix is all that saving takes away, and only one kind keeps it. */
static void saving_changes_nothing_but_the_matrix(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t kind = DRAPE_ODE_NEWTON; drape_ode_newton_kind_name((drape_ode_newton_kind)kind); kind++) {
        drape_ode_settings s = settings_of(0, DRAPE_ODE_FIXED, kind);
        s.method = "bdf3";
        chain_run saved = {.c = chain_make(100, 0.1)}, other = {.c = chain_make(100, 0.1)};
        chain_begin(ctx, &s, &saved);
        chain_begin(ctx, &s, &other);
        for (int32_t i = 0; i < MOST_BEFORE; i++) {
            void *data = malloc((size_t)drape_ode_save_size(saved.ode));
            next(ctx, &saved);
            next(ctx, &other);
            drape_ode_save(saved.ode, data);
            free(data);
        }
        if (kind == DRAPE_ODE_SIMPLIFIED)
            assert_true(drape_ode_count(saved.ode).jacobians > drape_ode_count(other.ode).jacobians);
        else assert_same(saved.ode, other.ode);
        chain_finish(&saved);
        chain_finish(&other);
    }
    drape_context_destroy(ctx);
}

/* ---- What is refused ---- */

static void assert_refused(drape_context *ctx, chain_run *to, const void *data, int64_t bytes) {
    double t = drape_ode_time(to->ode), x = drape_ode_x(to->ode)[0];
    assert_int_equal(drape_ode_restore(to->ode, data, bytes), DRAPE_ERROR_FORMAT);
    assert_non_null(strstr(drape_message(ctx), "ode: the saved state"));
    assert_true(drape_ode_time(to->ode) == t && drape_ode_x(to->ode)[0] == x);
}

static void other_methods_and_sizes_are_refused(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    drape_ode_settings two = settings_of(0, DRAPE_ODE_FIXED, 0), three = two;
    two.method = "bdf2";
    three.method = "bdf3";
    chain_run from = {.c = chain_make(100, 0.1)}, to = {.c = chain_make(100, 0.1)},
              other = {.c = chain_make(100, 0.1)};
    chain_begin(ctx, &two, &from);
    chain_begin(ctx, &two, &to);
    chain_begin(ctx, &three, &other);
    int64_t bytes = drape_ode_save_size(from.ode);
    char *data = malloc((size_t)bytes + 8);
    next(ctx, &from);
    drape_ode_save(from.ode, data);
    assert_refused(ctx, &other, data, bytes);
    for (int64_t cut = 0; cut < bytes; cut++) assert_refused(ctx, &to, data, cut);
    assert_refused(ctx, &to, data, bytes + 8);
    free(data);
    chain_finish(&from);
    chain_finish(&to);
    chain_finish(&other);
    drape_context_destroy(ctx);
}

/* Any eight bytes become a number that is not one, or a count beyond all bounds: refused, or ignored. */
static void wrong_bytes_do_no_harm(void **state) {
    static const uint64_t wrong[] = {UINT64_C(0x7ff8000000000000), UINT64_C(0x7fffffff7fffffff), UINT64_MAX};
    drape_context *ctx = test_context(1);
    (void)state;
    drape_ode_settings s = settings_of(0, DRAPE_ODE_FIXED, 0);
    s.method = "bdf4";
    chain_run from = {.c = chain_make(100, 0.1)}, to = {.c = chain_make(100, 0.1)};
    chain_begin(ctx, &s, &from);
    chain_begin(ctx, &s, &to);
    int64_t bytes = drape_ode_save_size(from.ode), refused = 0;
    char *data = malloc((size_t)bytes), *spoilt = malloc((size_t)bytes);
    for (int32_t i = 0; i < MOST_BEFORE; i++) next(ctx, &from);
    drape_ode_save(from.ode, data);
    for (int64_t at = 0; at < bytes; at += 8)
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            memcpy(spoilt, data, (size_t)bytes);
            memcpy(spoilt + at, &wrong[k], sizeof wrong[k]);
            refused += drape_ode_restore(to.ode, spoilt, bytes) == DRAPE_ERROR_FORMAT;
            assert_true(isfinite(drape_ode_time(to.ode)) && isfinite(drape_ode_x(to.ode)[0]));
        }
    assert_true(refused > 2 * bytes / 8); /* all but the counts, and the slope, which is not known here */
    free(data);
    free(spoilt);
    chain_finish(&from);
    chain_finish(&to);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_goes_on_with_the_same_bits),
        cmocka_unit_test(every_newton_goes_on_with_the_same_bits),
        cmocka_unit_test(saving_changes_nothing_but_the_matrix),
        cmocka_unit_test(other_methods_and_sizes_are_refused),
        cmocka_unit_test(wrong_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
