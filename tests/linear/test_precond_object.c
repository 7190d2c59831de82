/* The preconditioner as an object of its own: inside a textbook CG that is written here it does what it does inside
 * the method "ppcg". */
#include "drape/solve.h"
#include "sparse/counting_allocator.h"
#include "support/random_systems.h"
#include "support/sheets.h"
#include "support/testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *numbers(int64_t n) {
    double *x = calloc((size_t)n + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static double dot(int64_t n, const double *a, const double *b) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* v = S v, from the filter that a set writes down. */
static void filter(int32_t rows, const double *S, double *v) {
    for (int64_t i = 0; i < rows; i++) {
        double w[3];
        for (int a = 0; a < 3; a++) w[a] = dot(3, S + 9 * i + 3 * a, v + 3 * i);
        memcpy(v + 3 * i, w, sizeof w);
    }
}

/* Preconditioned CG as in the textbooks on S A y = b^, from y = 0 to x = y + (I-S) z; returns the iterations. */
static int32_t textbook_cg(drape_context *ctx, const sheet *s, drape_precond *P, double tol, int32_t most,
                           double *x) {
    const int64_t n = 3 * (int64_t)s->A.rows;
    double *S = numbers(3 * n), *z = numbers(n), *r = numbers(n), *h = numbers(n), *p = numbers(n), *q = numbers(n);
    int32_t iterations = 0;
    drape_constraints_filter(s->set, S, z);
    memcpy(x, z, (size_t)n * sizeof *x);
    ASSERT_OK(ctx, drape_multiply(ctx, &s->A, x, q));
    for (int64_t i = 0; i < n; i++) r[i] = s->b[i] - q[i];
    filter(s->A.rows, S, r);
    ASSERT_OK(ctx, drape_precond_apply(P, r, h));
    memcpy(p, h, (size_t)n * sizeof *p);
    double delta = dot(n, r, h), scale = delta;
    while (sqrt(delta / scale) > tol && iterations < most) {
        ASSERT_OK(ctx, drape_multiply(ctx, &s->A, p, q));
        filter(s->A.rows, S, q);
        double alpha = delta / dot(n, p, q), before = delta;
        for (int64_t i = 0; i < n; i++) x[i] += alpha * p[i], r[i] -= alpha * q[i];
        filter(s->A.rows, S, r);
        ASSERT_OK(ctx, drape_precond_apply(P, r, h));
        delta = dot(n, r, h);
        for (int64_t i = 0; i < n; i++) p[i] = h[i] + delta / before * p[i];
        iterations++;
    }
    free(S), free(z), free(r), free(h), free(p), free(q);
    return iterations;
}

static double relative_distance(int64_t n, const double *x, const double *y) {
    return distance_of(n, x, y) / norm_of(n, y);
}

static void compare_with_ppcg(drape_context *ctx, const sheet *s, const drape_problem *problem, const char *name,
                              const drape_amg_settings *amg) {
    const int32_t few[] = {1, 2, 3, 6, 100000};
    const int64_t n = 3 * (int64_t)s->A.rows;
    drape_solve_settings settings = {.method = "ppcg", .precond = name, .tol = 1e-9, .amg = *amg};
    double *x = numbers(n), *want = numbers(n), rounding = strcmp(name, "amg") == 0 ? 1e-5 : 1e-10;
    drape_precond *P;
    ASSERT_OK(ctx, drape_precond_create(ctx, name, &s->A, &settings, &P));
    ASSERT_OK(ctx, drape_precond_refresh(P, problem));
    for (int k = 0; k < 5; k++) {
        drape_solve_result result;
        settings.max_iterations = few[k];
        ASSERT_OK(ctx, drape_solve(ctx, problem, &settings, want, &result));
        int32_t iterations = textbook_cg(ctx, s, P, settings.tol, few[k], x);
        if (iterations != result.iterations)
            fail_msg("%s: %d iterations, ppcg took %d", name, iterations, result.iterations);
        ASSERT_NEAR(relative_distance(n, x, want), 0, k < 4 ? rounding : 1e-6);
        assert_true(k < 4 || result.reason == DRAPE_CONVERGED);
    }
    drape_precond_destroy(P);
    free(x), free(want);
}

static void repeats_ppcg(void **state) {
    drape_context *ctx = test_context(2);
    sheet s = sheet_create(ctx, &(sheet_settings){.nx = 33, .ny = 30, .mass = 1e-3, .seed = 5});
    const drape_amg_settings six = {.modes = 6, .smoother = DRAPE_SMOOTHER_CHEBYSHEV, .cycle = DRAPE_CYCLE_W};
    int32_t compared = 0;
    (void)state;
    for (int held = 0; held < 2; held++) {
        if (held) sheet_hold_some(ctx, &s, 0.15);
        const drape_problem problem = {.A = &s.A, .b = s.b, .constraints = s.set, .positions = s.x};
        for (int32_t i = 0; drape_precond_name(i); i++) {
            if (!drape_method_takes("ppcg", drape_precond_name(i))) continue;
            compare_with_ppcg(ctx, &s, &problem, drape_precond_name(i), &(drape_amg_settings){0});
            compared++;
        }
        compare_with_ppcg(ctx, &s, &problem, "amg", &six);
    }
    assert_true(compared >= 12);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

/* Symmetric, positive definite, the same twice, and unlike itself after other values; for "amg" too, which a solver
 * would keep. Once warm nothing is allocated. */
static void follows_the_values(void **state) {
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    sheet s = sheet_create(ctx, &(sheet_settings){.nx = 20, .ny = 20, .mass = 1e-2, .seed = 6});
    const int64_t n = 3 * (int64_t)s.A.rows, blocks = s.A.rowptr[s.A.rows];
    double *a = numbers(n), *b = numbers(n), *other = numbers(n), *Pa = numbers(n), *Pb = numbers(n),
           *again = numbers(n);
    test_random random = {7};
    (void)state;
    for (int64_t i = 0; i < n; i++) {
        a[i] = test_random_between(&random, -1, 1);
        b[i] = test_random_between(&random, -1, 1);
    }
    const drape_problem problem = {.A = &s.A, .positions = s.x};
    for (int32_t k = 0; drape_precond_name(k); k++) {
        const char *name = drape_precond_name(k);
        const double rounding = strcmp(name, "amg") == 0 ? 1e-4 : 1e-12;
        drape_precond *P;
        ASSERT_OK(ctx, drape_precond_create(ctx, name, &s.A, NULL, &P));
        assert_int_equal(drape_precond_apply(P, a, Pa), DRAPE_ERROR_ARGUMENT);
        assert_non_null(strstr(drape_message(ctx), "refresh"));
        ASSERT_OK(ctx, drape_precond_refresh(P, &problem));
        ASSERT_OK(ctx, drape_precond_apply(P, a, Pa));
        ASSERT_OK(ctx, drape_precond_apply(P, b, Pb));
        ASSERT_OK(ctx, drape_precond_apply(P, a, again));
        assert_memory_equal(Pa, again, (size_t)n * sizeof *Pa);
        assert_true(dot(n, a, Pa) > 0 && dot(n, b, Pb) > 0);
        if (strcmp(name, "ilu") != 0) ASSERT_NEAR(dot(n, a, Pb) / dot(n, b, Pa), 1, rounding);
        memory.left = 0;
        for (int64_t i = 0; i < 9 * blocks; i++) s.A.val[i] *= 1.05; /* too little for a solver to mind */
        ASSERT_OK(ctx, drape_precond_refresh(P, &problem));
        ASSERT_OK(ctx, drape_precond_apply(P, a, other));
        memory.left = -1;
        double factor = strcmp(name, "none") == 0 ? 1 : 1 / 1.05;
        for (int64_t i = 0; i < n; i++) again[i] *= factor;
        ASSERT_NEAR(relative_distance(n, other, again), 0, rounding);
        for (int64_t i = 0; i < 9 * blocks; i++) s.A.val[i] /= 1.05;
        drape_precond_destroy(P);
    }
    free(a), free(b), free(other), free(Pa), free(Pb), free(again);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
}

/* Another pattern is noticed. */
static void follows_the_pattern(void **state) {
    drape_context *ctx = test_context(1);
    sheet s[] = {sheet_create(ctx, &(sheet_settings){.nx = 20, .ny = 20, .mass = 1e-2, .seed = 1}),
                 sheet_create(ctx, &(sheet_settings){.nx = 20, .ny = 20, .mass = 1e-2, .seed = 1, .springs = 30})};
    double r[1200], z[1200], want[1200];
    test_random random = {3};
    (void)state;
    for (int i = 0; i < 1200; i++) r[i] = test_random_between(&random, -1, 1);
    for (int32_t k = 0; drape_precond_name(k); k++) {
        drape_precond *P, *fresh;
        ASSERT_OK(ctx, drape_precond_create(ctx, drape_precond_name(k), &s[0].A, NULL, &P));
        ASSERT_OK(ctx, drape_precond_refresh(P, &(drape_problem){.A = &s[0].A}));
        ASSERT_OK(ctx, drape_precond_refresh(P, &(drape_problem){.A = &s[1].A}));
        ASSERT_OK(ctx, drape_precond_create(ctx, drape_precond_name(k), &s[1].A, NULL, &fresh));
        ASSERT_OK(ctx, drape_precond_refresh(fresh, &(drape_problem){.A = &s[1].A}));
        ASSERT_OK(ctx, drape_precond_apply(P, r, z));
        ASSERT_OK(ctx, drape_precond_apply(fresh, r, want));
        assert_memory_equal(z, want, sizeof z);
        drape_precond_destroy(P);
        drape_precond_destroy(fresh);
    }
    sheet_destroy(&s[0]);
    sheet_destroy(&s[1]);
    drape_context_destroy(ctx);
}

static void refused(drape_context *ctx, drape_status status, const char *fragment) {
    assert_int_equal(status, DRAPE_ERROR_ARGUMENT);
    if (!strstr(drape_message(ctx), fragment)) fail_msg("'%s' lacks '%s'", drape_message(ctx), fragment);
}

static void bad_arguments(void **state) {
    int64_t rowptr[] = {0, 2, 3};
    int32_t col[] = {0, 1, 1};
    double val[27] = {[0] = 1, [4] = 1, [8] = 1, [18] = 1, [22] = 1, [26] = 1}, r[6] = {0}, z[6];
    const drape_bsr3 half = {2, rowptr, col, val}, none = {0, (const int64_t[]){0}, NULL, NULL};
    drape_context *ctx = test_context(1);
    drape_precond *P = NULL;
    (void)state;
    assert_int_equal(drape_precond_create(NULL, "none", &half, NULL, &P), DRAPE_ERROR_ARGUMENT);
    refused(ctx, drape_precond_create(ctx, "none", NULL, NULL, &P), "A is missing");
    refused(ctx, drape_precond_create(ctx, "none", &half, NULL, NULL), "out is missing");
    refused(ctx, drape_precond_create(ctx, "auto", &half, NULL, &P), "known: none, diagonal");
    refused(ctx, drape_precond_create(ctx, NULL, &half, NULL, &P), "known: none, diagonal");
    refused(ctx, drape_precond_create(ctx, "amg", &half, NULL, &P), "one triangle only");
    refused(ctx, drape_precond_create(ctx, "ssor", &half, &(drape_solve_settings){.omega = 3}, &P), "omega is 3");
    assert_null(P);
    ASSERT_OK(ctx, drape_precond_create(ctx, "ilu", &half, NULL, &P));
    refused(ctx, drape_precond_refresh(P, NULL), "problem is missing");
    refused(ctx, drape_precond_refresh(P, &(drape_problem){0}), "A is missing");
    assert_int_equal(drape_precond_refresh(NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_precond_apply(NULL, r, z), DRAPE_ERROR_ARGUMENT);
    ASSERT_OK(ctx, drape_precond_refresh(P, &(drape_problem){.A = &half}));
    refused(ctx, drape_precond_apply(P, NULL, z), "r is missing");
    refused(ctx, drape_precond_apply(P, r, NULL), "z is missing");
    refused(ctx, drape_precond_apply(P, r, r), "same array");
    ASSERT_OK(ctx, drape_precond_apply(P, r, z));
    drape_precond_destroy(P);
    drape_precond_destroy(NULL);
    for (int32_t k = 0; drape_precond_name(k); k++) {
        ASSERT_OK(ctx, drape_precond_create(ctx, drape_precond_name(k), &none, NULL, &P));
        ASSERT_OK(ctx, drape_precond_refresh(P, &(drape_problem){.A = &none}));
        ASSERT_OK(ctx, drape_precond_apply(P, NULL, NULL));
        drape_precond_destroy(P);
    }
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

/* P of every level: rows as many as the level has, columns as many as the next; vertices in no aggregate have none.
 */
static void tells_its_interpolations(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    sheet s = sheet_create(ctx, &(sheet_settings){.nx = 40, .ny = 40, .mass = 1e-3, .seed = 7});
    drape_precond *P;
    drape_amg_level level;
    drape_precond_work work;
    sheet_hold_some(ctx, &s, 0.05);
    drape_problem problem = {.A = &s.A, .constraints = s.set};
    ASSERT_OK(ctx, drape_precond_create(ctx, "amg", &s.A, NULL, &P));
    assert_int_equal(drape_precond_levels(P), 0);
    ASSERT_OK(ctx, drape_precond_due(P, &problem, &work));
    assert_int_equal(work, DRAPE_PRECOND_REBUILD);
    ASSERT_OK(ctx, drape_precond_refresh(P, &problem));
    assert_true(drape_precond_levels(P) >= 2);
    for (int32_t l = 0; l + 1 < drape_precond_levels(P); l++) {
        drape_interpolation I = {0};
        ASSERT_OK(ctx, drape_precond_interpolation(P, l, &I));
        ASSERT_OK(ctx, drape_precond_level(P, l, &level));
        assert_int_equal(I.rows, level.rows);
        ASSERT_OK(ctx, drape_precond_level(P, l + 1, &level));
        assert_int_equal(I.columns, level.rows);
        I.rowptr = calloc((size_t)I.rows + 1, sizeof *I.rowptr);
        I.col = calloc((size_t)I.blocks + 1, sizeof *I.col);
        I.val = numbers(I.blocks * I.row_size * I.column_size);
        I.aggregate = calloc((size_t)I.rows, sizeof *I.aggregate);
        ASSERT_OK(ctx, drape_precond_interpolation(P, l, &I));
        assert_int_equal(I.rowptr[I.rows], I.blocks);
        for (int32_t i = 0; i < I.rows; i++) {
            assert_int_equal(I.aggregate[i] < 0, I.rowptr[i] == I.rowptr[i + 1]);
            for (int64_t k = I.rowptr[i]; k < I.rowptr[i + 1]; k++)
                assert_true(I.col[k] >= 0 && I.col[k] < I.columns);
        }
        free(I.rowptr), free(I.col), free(I.val), free(I.aggregate);
    }
    assert_int_equal(drape_precond_interpolation(P, drape_precond_levels(P) - 1, &(drape_interpolation){0}),
                     DRAPE_ERROR_ARGUMENT);
    drape_precond_learn(P, 10);
    ASSERT_OK(ctx, drape_precond_due(P, &problem, &work));
    assert_int_equal(work, DRAPE_PRECOND_KEEP);
    drape_precond_learn(P, 30); /* much worse than the first: time for new values */
    ASSERT_OK(ctx, drape_precond_due(P, &problem, &work));
    assert_int_equal(work, DRAPE_PRECOND_REFRESH);
    drape_precond_destroy(P);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

/* Follows the rule for so many solves that take 10 iterations with new values, and others with kept ones; how many
 * kept them. */
static int32_t follow_rule(drape_context *ctx, drape_precond *P, const drape_problem *problem, int32_t solves,
                           int32_t with_kept) {
    int32_t kept = 0;
    for (int32_t k = 0; k < solves; k++) {
        drape_precond_work work;
        ASSERT_OK(ctx, drape_precond_due(P, problem, &work));
        if (work == DRAPE_PRECOND_KEEP) kept++;
        else ASSERT_OK(ctx, drape_precond_refresh(P, problem));
        drape_precond_learn(P, work == DRAPE_PRECOND_KEEP ? with_kept : 10);
    }
    return kept;
}

/* Values are kept where that costs little, hardly ever tried where it costs more than new ones, and kept again soon
 * after it has become cheap. */
static void keeps_what_pays(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    sheet s = sheet_create(ctx, &(sheet_settings){.nx = 20, .ny = 20, .mass = 1e-3, .seed = 7});
    drape_precond *P;
    sheet_hold_some(ctx, &s, 0.05);
    drape_problem problem = {.A = &s.A, .constraints = s.set};
    ASSERT_OK(ctx, drape_precond_create(ctx, "amg", &s.A, NULL, &P));
    assert_in_range(follow_rule(ctx, P, &problem, 64, 11), 48, 63); /* one refresh for four lost iterations */
    assert_in_range(follow_rule(ctx, P, &problem, 64, 30), 1, 8);
    follow_rule(ctx, P, &problem, 16, 11); /* until it is tried again */
    assert_in_range(follow_rule(ctx, P, &problem, 64, 11), 48, 64);
    drape_precond_destroy(P);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeats_ppcg),
        cmocka_unit_test(follows_the_values),
        cmocka_unit_test(follows_the_pattern),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(tells_its_interpolations),
        cmocka_unit_test(keeps_what_pays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
