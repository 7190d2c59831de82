/* Near-kernel vectors of the caller's for multigrid: 3 to 12 of them, in blocks of 3, 6 or 12. */
#include "drape/solve.h"
#include "support/amg_levels.h"
#include "support/random_systems.h"
#include "support/sheets.h"
#include "support/testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12 };

/* Translations, rotations about the first vertex, then strains: the linear motions of a body. To be freed. */
static double *linear_motions(const sheet *s) {
    const int64_t rows = s->A.rows;
    double *K = calloc((size_t)(MOST * 3 * rows), sizeof *K);
    assert_non_null(K);
    for (int64_t i = 0; i < rows; i++) {
        double at[3];
        for (int c = 0; c < 3; c++) at[c] = s->x[3 * i + c] - s->x[c];
        for (int c = 0; c < 3; c++) {
            const int next = (c + 1) % 3, last = (c + 2) % 3;
            double *to[4];
            for (int kind = 0; kind < 4; kind++) to[kind] = K + 3 * rows * (3 * kind + c) + 3 * i;
            to[0][c] = 1;
            to[1][next] = -at[last], to[1][last] = at[next]; /* a rotation about axis c */
            to[2][next] = at[last], to[2][last] = at[next];  /* shear */
            to[3][c] = at[c];                                /* stretch */
        }
    }
    return K;
}

static sheet make_sheet(drape_context *ctx, int32_t side, bool shuffled) {
    sheet s =
        sheet_create(ctx, &(sheet_settings){.nx = side, .ny = side, .mass = 1e-5, .shuffled = shuffled, .seed = 8});
    sheet_hold_some(ctx, &s, 0.02);
    return s;
}

static drape_solve_result solve(drape_context *ctx, const sheet *s, const double *K, int32_t count, double *x) {
    const drape_problem problem = {.A = &s->A,
                                   .b = s->b,
                                   .constraints = s->set,
                                   .positions = s->x,
                                   .near_kernel = K,
                                   .near_kernel_count = count};
    const drape_solve_settings settings = {.method = "ppcg", .precond = "amg", .amg.modes = 6, .tol = 1e-8};
    drape_solve_result result;
    ASSERT_OK(ctx, drape_solve(ctx, &problem, &settings, x, &result));
    assert_int_equal(result.reason, DRAPE_CONVERGED);
    return result;
}

/* The motions of a rigid body, given as vectors, do what the built-in ones do. Further ones do no harm. */
static void rigid_motions_repeat_the_built_in_ones(void **state) {
    drape_context *ctx = test_context(2);
    (void)state;
    for (int k = 0; k < 4; k++) {
        sheet s = make_sheet(ctx, k / 2 ? 90 : 40, k % 2);
        const int64_t n = 3 * (int64_t)s.A.rows;
        double *K = linear_motions(&s), *x = calloc((size_t)n, sizeof *x), *want = calloc((size_t)n, sizeof *want);
        drape_solve_result built_in = solve(ctx, &s, NULL, 0, want), own = solve(ctx, &s, K, 6, x),
                           all = solve(ctx, &s, K, 12, x);
        print_message("%d rows: %d iterations, own %d, twelve %d\n", s.A.rows, built_in.iterations, own.iterations,
                      all.iterations);
        assert_int_equal(own.iterations, built_in.iterations);
        assert_true(built_in.modes == 6 && own.modes == 6 && all.modes == 12);
        assert_true(all.iterations <= built_in.iterations);
        for (int32_t count = 3; count <= MOST; count++) {
            assert_true(solve(ctx, &s, K, count, x).modes == count);
            ASSERT_NEAR(distance_of(n, x, want) / norm_of(n, want), 0, 1e-4);
        }
        free(K), free(x), free(want);
        sheet_destroy(&s);
    }
    drape_context_destroy(ctx);
}

/* Three translations of the caller's are bit by bit the built-in ones except for the order of a product. */
static void translations_repeat_the_built_in_ones(void **state) {
    drape_context *ctx = test_context(1);
    sheet s = make_sheet(ctx, 50, false);
    double *K = linear_motions(&s), x[7500], want[7500];
    drape_solve_result result;
    (void)state;
    const drape_problem problem = {.A = &s.A, .b = s.b, .constraints = s.set};
    const drape_solve_settings settings = {.method = "ppcg", .precond = "amg", .tol = 1e-8};
    ASSERT_OK(ctx, drape_solve(ctx, &problem, &settings, want, &result));
    assert_int_equal(result.modes, 3);
    assert_int_equal(solve(ctx, &s, K, 3, x).iterations, result.iterations);
    ASSERT_NEAR(distance_of(7500, x, want) / norm_of(7500, want), 0, 1e-5);
    free(K);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

/* Symmetric and positive definite with every number of vectors, smoother and cycle. */
static void is_symmetric_and_positive_definite(void **state) {
    drape_context *ctx = test_context(1);
    sheet s = make_sheet(ctx, 30, false);
    const int64_t n = 3 * (int64_t)s.A.rows;
    double *K = linear_motions(&s), *a = calloc((size_t)n, 8), *b = calloc((size_t)n, 8), *Pa = calloc((size_t)n, 8),
           *Pb = calloc((size_t)n, 8);
    test_random random = {2};
    (void)state;
    for (int32_t count = 3; count <= MOST; count += TEST_CASES(12) == 12 ? 1 : 3) /* all block sizes */
        for (int how = 0; how < 3; how++) {
            const drape_solve_settings settings = {
                .amg = {.smoother = how == 1 ? DRAPE_SMOOTHER_CHEBYSHEV : DRAPE_SMOOTHER_GAUSS_SEIDEL,
                        .cycle = how == 2 ? DRAPE_CYCLE_W : DRAPE_CYCLE_V}};
            const drape_problem problem = {
                .A = &s.A, .constraints = s.set, .near_kernel = K, .near_kernel_count = count};
            drape_precond *P;
            double ab = 0, ba = 0, aa = 0, bb = 0;
            for (int64_t i = 0; i < n; i++) {
                a[i] = test_random_between(&random, -1, 1);
                b[i] = test_random_between(&random, -1, 1);
            }
            ASSERT_OK(ctx, drape_precond_create(ctx, "amg", &s.A, &settings, &P));
            ASSERT_OK(ctx, drape_precond_refresh(P, &problem));
            ASSERT_OK(ctx, drape_precond_apply(P, a, Pa));
            ASSERT_OK(ctx, drape_precond_apply(P, b, Pb));
            for (int64_t i = 0; i < n; i++)
                ab += a[i] * Pb[i], ba += b[i] * Pa[i], aa += a[i] * Pa[i], bb += b[i] * Pb[i];
            assert_true(aa > 0 && bb > 0);
            ASSERT_NEAR((ab - ba) / sqrt(aa * bb), 0, 1e-4);
            drape_precond_destroy(P);
        }
    free(K), free(a), free(b), free(Pa), free(Pb);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

/* The same bits with every number of threads and every vector width. */
static void bits_are_the_same(void **state) {
    const int32_t counts[] = {4, 6, 9, 12};
    static double x[4][12288], got[12288];
    (void)state;
    for (int32_t threads = 1; threads <= 3; threads++)
        for (int level = DRAPE_SIMD_BASELINE; level <= DRAPE_SIMD_AVX512; level++) {
            drape_context *ctx = amg_context(threads, (drape_simd)level);
            if (!ctx) continue;
            sheet s = make_sheet(ctx, 64, false);
            double *K = linear_motions(&s);
            for (int k = 0; k < 4; k++) {
                bool first = threads == 1 && level == DRAPE_SIMD_BASELINE;
                solve(ctx, &s, K, counts[k], first ? x[k] : got);
                if (!first) assert_memory_equal(got, x[k], sizeof got);
            }
            free(K);
            sheet_destroy(&s);
            drape_context_destroy(ctx);
        }
}

/* Other vectors, more of them, or none again: a kept solver follows. */
static void solver_follows(void **state) {
    drape_context *ctx = test_context(1);
    sheet s = make_sheet(ctx, 40, false);
    double *K = linear_motions(&s), x[4800];
    drape_problem problem = {.A = &s.A, .b = s.b, .constraints = s.set, .positions = s.x};
    const drape_solve_settings settings = {.precond = "amg", .amg.modes = 6};
    drape_solver *solver;
    drape_amg_level level;
    drape_solve_result result;
    (void)state;
    ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
    const int32_t counts[] = {0, 6, 12, 12, 3, 5, 0}, sizes[] = {6, 6, 12, 12, 3, 6, 6};
    for (int k = 0; k < 7; k++) {
        problem.near_kernel = counts[k] ? K : NULL;
        problem.near_kernel_count = counts[k];
        ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &result));
        assert_int_equal(result.reason, DRAPE_CONVERGED);
        assert_int_equal(result.modes, counts[k] ? counts[k] : 6);
        ASSERT_OK(ctx, drape_solver_level(solver, 1, &level));
        assert_int_equal(level.size, sizes[k]);
    }
    K[3 * 700 + 1] = NAN;
    problem.near_kernel = K;
    problem.near_kernel_count = 6;
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &result));
    assert_int_equal(result.reason, DRAPE_NOT_FINITE);
    assert_string_equal(result.detail, "solve: near_kernel of row 700 is nan");
    problem.near_kernel_count = 13;
    assert_int_equal(drape_solver_solve(solver, &problem, x, &result), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "near_kernel_count is 13; it must lie in 3..12"));
    problem.near_kernel = NULL;
    assert_int_equal(drape_solver_solve(solver, &problem, x, &result), DRAPE_ERROR_ARGUMENT);
    free(K);
    drape_solver_destroy(solver);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rigid_motions_repeat_the_built_in_ones),
        cmocka_unit_test(translations_repeat_the_built_in_ones),
        cmocka_unit_test(is_symmetric_and_positive_definite),
        cmocka_unit_test(bits_are_the_same),
        cmocka_unit_test(solver_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
