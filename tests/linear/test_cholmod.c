/* CHOLMOD behind the method "direct": against the dense reference, with a kept analysis, on matrices that have no
 * factor. */
#include "sparse/counting_allocator.h"
#include "support/random_systems.h"

#include <math.h>
#include <string.h>

#ifdef DRAPE_HAS_CHOLMOD
#include "drape/cholmod.h"

static drape_solver *direct_solver(drape_context *ctx) {
    drape_solve_settings settings = drape_solve_defaults();
    drape_solver *solver;
    settings.method = "direct";
    settings.direct = drape_cholmod();
    ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
    return solver;
}

static drape_problem problem_of(const random_system *s) {
    return (drape_problem){.A = &s->A, .b = s->b, .constraints = s->set};
}

static void check_solve(drape_context *ctx, drape_solver *solver, const random_system *s) {
    int64_t n = 3 * (int64_t)s->rows;
    double *x = calloc((size_t)n + 1, sizeof *x), *want = calloc((size_t)n + 1, sizeof *want);
    drape_problem problem = problem_of(s);
    drape_solve_result result;
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &result));
    assert_int_equal(result.reason, DRAPE_CONVERGED);
    assert_int_equal(result.iterations, 0);
    assert_string_equal(result.method, "direct");
    assert_true(result.residual == -1);
    assert_true(result.true_residual < 1e-10);
    random_reference(s, want);
    ASSERT_NEAR(distance_of(n, x, want), 0, 1e-10 * (1e-30 + norm_of(n, want)));
    free(x);
    free(want);
}

/* Sizes from nothing to where the factor is supernodal; free, held, sliding and isolated vertices. */
static void against_dense(void **state) {
    (void)state;
    static const int32_t sizes[] = {0, 1, 2, 5, 17, 60, 150};
    static const double held[] = {0, 0.3, 1};
    drape_context *ctx = test_context(1);
    drape_solver *solver = direct_solver(ctx);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof held / sizeof *held; k++)
            for (uint64_t seed = 0; seed < 3; seed++) {
                random_settings make = {sizes[i], 1e3, held[k], RANDOM_DIRECTIONS, true, 0.1, 10 * i + seed};
                random_system s = random_system_create(ctx, &make);
                check_solve(ctx, solver, &s); /* the same solver: patterns change under it */
                random_system_destroy(&s);
            }
    drape_solver_destroy(solver);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

/* ---- The analysis is kept: a table around CHOLMOD's that counts ---- */

static int32_t analyses, factors;

static void *count_analyse(const drape_bsr3 *A) {
    analyses++;
    return drape_cholmod()->analyse(A);
}

static int count_factor(void *state, const drape_bsr3 *A) {
    factors++;
    return drape_cholmod()->factor(state, A);
}

static void analysis_is_kept(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_direct counting = *drape_cholmod();
    counting.analyse = count_analyse;
    counting.factor = count_factor;
    drape_solve_settings settings = drape_solve_defaults();
    drape_solver *solver;
    settings.method = "direct";
    settings.direct = &counting;
    analyses = factors = 0;
    ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
    random_settings make = {40, 1e2, 0.2, RANDOM_DIRECTIONS, true, 0, 5};
    random_system s = random_system_create(ctx, &make);
    for (int k = 0; k < 4; k++) {
        check_solve(ctx, solver, &s);
        int64_t numbers = 9 * s.A.rowptr[s.rows];
        for (int64_t i = 0; i < numbers; i++) s.A.val[i] *= 1.5; /* other values, other numbers of everything */
        s.b[k] += 1;
    }
    assert_int_equal(analyses, 1);
    assert_int_equal(factors, 4);
    random_system_destroy(&s);
    drape_solver_destroy(solver);
    drape_context_destroy(ctx);
}

/* ---- No factor ---- */

/* Not positive definite in one number; then good again: the factor is none the worse. */
static void indefinite(void **state) {
    (void)state;
    static const int32_t sizes[] = {1, 8, 150};
    drape_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        random_settings make = {sizes[i], 1e2, 0, 0, false, 0, i};
        random_system s = random_system_create(ctx, &make);
        drape_solver *solver = direct_solver(ctx);
        drape_problem problem = problem_of(&s);
        drape_solve_result result;
        double x[450];
        int64_t k = s.A.rowptr[s.rows - 1];
        while (s.A.col[k] != s.rows - 1) k++;
        double *last = &s.A.val[9 * k + 8], good = *last;
        for (int bad = 0; bad < 3; bad++) {
            *last = bad == 0 ? -good : bad == 1 ? 0 : -1e30;
            ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &result));
            assert_int_equal(result.reason, DRAPE_INDEFINITE);
            *last = good;
            check_solve(ctx, solver, &s);
        }
        drape_solver_destroy(solver);
        random_system_destroy(&s);
    }
    drape_context_destroy(ctx);
}

static void not_finite(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    random_settings make = {8, 1e2, 0, 0, false, 0, 1};
    random_system s = random_system_create(ctx, &make);
    drape_solver *solver = direct_solver(ctx);
    drape_problem problem = problem_of(&s);
    drape_solve_result result;
    double x[24], good = s.A.val[0];
    s.A.val[0] = NAN;
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &result));
    assert_int_not_equal(result.reason, DRAPE_CONVERGED);
    s.A.val[0] = good;
    check_solve(ctx, solver, &s);
    drape_solver_destroy(solver);
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

/* ---- Memory ---- */

static void memory_is_told(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    random_settings make = {100, 1e2, 0.1, RANDOM_DIRECTIONS, true, 0, 3};
    random_system s = random_system_create(ctx, &make);
    drape_solver *solver = direct_solver(ctx);
    drape_problem problem = problem_of(&s);
    drape_solve_result result;
    double x[300];
    int64_t before = drape_context_bytes(ctx);
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &result));
    int64_t inside = drape_context_bytes(ctx) - before;
    /* The factor is outside the context, and has at least the lower triangle's numbers: 9 of 2 off-diagonal blocks */
    assert_true(result.bytes > inside + (int64_t)sizeof(double) * 9 * s.A.rowptr[s.rows] / 2);
    assert_true(result.bytes_moved > 0);
    drape_solver_destroy(solver);
    random_system_destroy(&s);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void failing_allocations(void **state) {
    (void)state;
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    random_settings make = {10, 50, 0.3, RANDOM_DIRECTIONS, true, 0, 1};
    random_system s = random_system_create(ctx, &make);
    drape_solver *solver = direct_solver(ctx);
    drape_problem problem = problem_of(&s);
    double x[30];
    int64_t live = memory.live;
    for (int64_t n = 0;; n++) {
        memory.left = n;
        memory.failed = false;
        drape_status status = drape_solver_solve(solver, &problem, x, NULL);
        assert_int_equal(status, memory.failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
        if (!memory.failed) break;
        assert_int_equal(memory.live, live);
    }
    memory.left = -1;
    check_solve(ctx, solver, &s);
    drape_solver_destroy(solver);
    random_system_destroy(&s);
    drape_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_dense), cmocka_unit_test(analysis_is_kept), cmocka_unit_test(indefinite),
        cmocka_unit_test(not_finite),    cmocka_unit_test(memory_is_told),   cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
static void cholmod_is_absent(void **state) {
    (void)state;
    print_message("built without CHOLMOD: skipped\n");
    skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cholmod_is_absent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
