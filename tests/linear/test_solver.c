/* The solver around the methods: its memory, its messages, and the bits of x. */
#include "sparse/counting_allocator.h"
#include "support/random_systems.h"

#include <math.h>
#include <string.h>

static random_system small_system(drape_context *ctx, int32_t rows, uint64_t seed) {
    random_settings make = {rows, 50, 0.3, RANDOM_DIRECTIONS, true, 0, seed};
    return random_system_create(ctx, &make);
}

static drape_problem problem_of(const random_system *s) {
    return (drape_problem){.A = &s->A, .b = s->b, .constraints = s->set};
}

/* ---- Memory ---- */

/* One solver for several sizes, to and fro: each answer is the one of a fresh solver, to the bit. */
static void other_sizes(void **state) {
    (void)state;
    static const int32_t sizes[] = {20, 5, 0, 20, 40, 1, 40};
    drape_context *ctx = test_context(1);
    for (int32_t p = 0; drape_precond_name(p); p++) {
        drape_solve_settings settings = drape_solve_defaults();
        drape_solver *solver;
        settings.precond = drape_precond_name(p);
        ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
        for (int k = 0; k < 7; k++) {
            random_system s = small_system(ctx, sizes[k], (uint64_t)k);
            double x[120] = {0}, fresh[120] = {0};
            drape_problem problem = problem_of(&s);
            drape_solve_result a, b;
            ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &a));
            ASSERT_OK(ctx, drape_solve(ctx, &problem, &settings, fresh, &b));
            assert_int_equal(a.reason, DRAPE_CONVERGED);
            assert_int_equal(a.iterations, b.iterations);
            assert_memory_equal(x, fresh, sizeof x);
            random_system_destroy(&s);
        }
        drape_solver_destroy(solver);
    }
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

/* Another matrix of the same size, with another pattern: not allocated, and right. */
static void warm_solves_allocate_nothing(void **state) {
    (void)state;
    for (int32_t m = 0; drape_method_name(m); m++)
        for (int32_t p = 0; drape_precond_name(p); p++) {
            counting_allocator memory = {.left = -1};
            drape_context *ctx = counting_context(&memory);
            drape_solve_settings settings = {drape_method_name(m), drape_precond_name(p), 1e-12, 1000};
            drape_solver *solver;
            random_system first = small_system(ctx, 30, 1), second = small_system(ctx, 30, 2);
            double x[90], want[90];
            drape_problem problems[2] = {problem_of(&first), problem_of(&second)};
            ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
            ASSERT_OK(ctx, drape_solver_solve(solver, &problems[0], x, NULL));
            int64_t bytes = drape_context_bytes(ctx);
            memory.left = 0; /* the next request fails */
            for (int k = 1; k <= 6; k++) ASSERT_OK(ctx, drape_solver_solve(solver, &problems[k % 2], x, NULL));
            ASSERT_OK(ctx, drape_solver_solve(solver, &problems[1], x, NULL));
            assert_false(memory.failed);
            assert_int_equal(drape_context_bytes(ctx), bytes);
            random_reference(&second, want);
            ASSERT_NEAR(distance_of(90, x, want), 0, 1e-9 * norm_of(90, want));
            memory.left = -1;
            drape_solver_destroy(solver);
            random_system_destroy(&first);
            random_system_destroy(&second);
            drape_context_destroy(ctx);
            assert_int_equal(memory.live, 0);
        }
}

/* Creates a solver, solves with one size, then with another. */
static drape_status create_and_solve(drape_context *ctx, const random_system *s, const random_system *other,
                                     const drape_solve_settings *settings) {
    drape_solver *solver;
    double x[60];
    drape_problem problem = problem_of(s), second = problem_of(other);
    drape_status status = drape_solver_create(ctx, settings, &solver);
    if (status) {
        assert_null(solver);
        return status;
    }
    status = drape_solver_solve(solver, &problem, x, NULL);
    if (!status) status = drape_solver_solve(solver, &second, x, NULL);
    drape_solver_destroy(solver);
    return status;
}

static void failing_allocations(void **state) {
    (void)state;
    for (int32_t p = 0; drape_precond_name(p); p++) {
        counting_allocator memory = {.left = -1};
        drape_context *ctx = counting_context(&memory);
        drape_solve_settings settings = drape_solve_defaults();
        random_system s = small_system(ctx, 10, 1), other = small_system(ctx, 20, 1);
        settings.precond = drape_precond_name(p);
        int64_t bytes = drape_context_bytes(ctx), live = memory.live;
        for (int64_t n = 0;; n++) {
            memory.left = n;
            memory.failed = false;
            drape_status status = create_and_solve(ctx, &s, &other, &settings);
            assert_int_equal(status, memory.failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
            assert_int_equal(drape_context_bytes(ctx), bytes);
            assert_int_equal(memory.live, live);
            if (memory.failed) continue;
            assert_true(n > 5);
            break;
        }
        memory.left = -1;
        random_system_destroy(&s);
        random_system_destroy(&other);
        drape_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
    }
}

/* A solver that ran out of memory works again when there is some. */
static void memory_comes_back(void **state) {
    (void)state;
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    random_system s = small_system(ctx, 10, 1);
    drape_solver *solver;
    double x[30], want[30];
    drape_problem problem = problem_of(&s);
    ASSERT_OK(ctx, drape_solver_create(ctx, NULL, &solver));
    memory.left = 3;
    assert_int_equal(drape_solver_solve(solver, &problem, x, NULL), DRAPE_ERROR_MEMORY);
    memory.left = -1;
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, NULL));
    random_reference(&s, want);
    ASSERT_NEAR(distance_of(30, x, want), 0, 1e-3 * norm_of(30, want));
    drape_solver_destroy(solver);
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

/* ---- Messages ---- */

static void expect_refusal(drape_context *ctx, drape_status status, const char *fragment) {
    assert_int_equal(status, DRAPE_ERROR_ARGUMENT);
    if (!strstr(drape_message(ctx), fragment)) fail_msg("'%s' lacks '%s'", drape_message(ctx), fragment);
}

static void refused_settings(void **state) {
    (void)state;
    const drape_solve_settings good = drape_solve_defaults();
    drape_context *ctx = test_context(1);
    drape_solver *solver;
    const struct {
        drape_solve_settings settings;
        const char *fragment;
    } bad[] = {
        {{"gauss", good.precond, good.tol, 1}, "\"gauss\""},
        {{NULL, good.precond, good.tol, 1}, "method"},
        {{"", good.precond, good.tol, 1}, "method"},
        {{good.method, "amgx", good.tol, 1}, "\"amgx\""},
        {{good.method, NULL, good.tol, 1}, "preconditioner"},
        {{good.method, good.precond, 0, 1}, "tol is 0"},
        {{good.method, good.precond, 1, 1}, "tol is 1"},
        {{good.method, good.precond, -1e-5, 1}, "tol is -1e-05"},
        {{good.method, good.precond, NAN, 1}, "tol"},
        {{good.method, good.precond, good.tol, 0}, "max_iterations is 0"},
        {{good.method, good.precond, good.tol, -7}, "max_iterations is -7"},
    };
    for (int k = 0; k < (int)(sizeof bad / sizeof *bad); k++) {
        expect_refusal(ctx, drape_solver_create(ctx, &bad[k].settings, &solver), bad[k].fragment);
        assert_null(solver);
    }
    assert_int_equal(drape_context_bytes(ctx), 0);
    ASSERT_OK(ctx, drape_solver_create(ctx, NULL, &solver));
    drape_solver_destroy(solver);
    drape_solver_destroy(NULL);
    drape_context_destroy(ctx);
}

static void refused_problems(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    random_system s = small_system(ctx, 4, 1), other = small_system(ctx, 5, 1);
    drape_solver *solver;
    double x[12], want[12];
    const drape_problem good = problem_of(&s);
    drape_problem p = good;
    drape_bsr3 A = s.A;
    int64_t rowptr[5] = {0, 1, 2, 3, 4};
    int32_t col[4] = {0, 1, 4, 3};
    ASSERT_OK(ctx, drape_solver_create(ctx, NULL, &solver));
    ASSERT_OK(ctx, drape_solver_solve(solver, &good, want, NULL));
    expect_refusal(ctx, drape_solver_solve(solver, &good, NULL, NULL), "missing");
    p.A = NULL;
    expect_refusal(ctx, drape_solver_solve(solver, &p, x, NULL), "missing");
    p = good;
    p.b = NULL;
    expect_refusal(ctx, drape_solver_solve(solver, &p, x, NULL), "missing");
    p = good;
    p.constraints = other.set;
    expect_refusal(ctx, drape_solver_solve(solver, &p, x, NULL), "constraints for 5 vertices, matrix of 4");
    p = good;
    p.A = &A;
    p.constraints = NULL;
    A.val = NULL;
    expect_refusal(ctx, drape_solver_solve(solver, &p, x, NULL), "missing");
    A = s.A;
    A.rowptr = NULL;
    expect_refusal(ctx, drape_solver_solve(solver, &p, x, NULL), "missing");
    A = s.A;
    A.rows = -1;
    expect_refusal(ctx, drape_solver_solve(solver, &p, x, NULL), "-1 rows");
    expect_refusal(ctx, drape_solve(ctx, &p, NULL, x, NULL), "-1 rows");
    A = (drape_bsr3){4, rowptr, col, s.A.val};
    expect_refusal(ctx, drape_solve(ctx, &p, NULL, x, NULL), "row 2");
    ASSERT_OK(ctx, drape_solver_solve(solver, &good, x, NULL)); /* none of this spoiled it */
    assert_memory_equal(x, want, sizeof x);
    drape_solver_destroy(solver);
    random_system_destroy(&s);
    random_system_destroy(&other);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

/* ---- Once, without keeping anything ---- */

static void one_shot(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    random_system s = small_system(ctx, 15, 3);
    drape_problem problem = problem_of(&s), plain = {.A = &s.A, .b = s.b};
    drape_solve_result result;
    double x[45], y[45], want[45];
    int64_t bytes = drape_context_bytes(ctx);
    random_reference(&s, want);
    ASSERT_OK(ctx, drape_solve(ctx, &problem, NULL, x, &result));
    assert_int_equal(result.reason, DRAPE_CONVERGED);
    assert_null(result.constraint_force);
    assert_true(result.setup_seconds >= 0 && result.solve_seconds >= 0);
    ASSERT_NEAR(distance_of(45, x, want), 0, 1e-3 * norm_of(45, want));
    ASSERT_OK(ctx, drape_solve(ctx, &plain, NULL, x, NULL));
    ASSERT_OK(ctx, drape_multiply(ctx, &s.A, x, y));
    ASSERT_NEAR(distance_of(45, y, s.b), 0, 1e-3 * norm_of(45, s.b));
    assert_int_equal(drape_context_bytes(ctx), bytes);
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

static void names(void **state) {
    (void)state;
    drape_solve_settings settings = drape_solve_defaults();
    bool method = false, precond = false;
    for (int32_t k = 0; drape_method_name(k); k++) method |= strcmp(drape_method_name(k), settings.method) == 0;
    for (int32_t k = 0; drape_precond_name(k); k++) precond |= strcmp(drape_precond_name(k), settings.precond) == 0;
    assert_true(method && precond);
    assert_null(drape_method_name(-1));
    assert_null(drape_precond_name(-1));
    assert_null(drape_method_name(INT32_MAX));
    for (int reason = DRAPE_CONVERGED; reason <= DRAPE_NOT_FINITE; reason++)
        for (int other = reason + 1; other <= DRAPE_NOT_FINITE + 1; other++)
            assert_string_not_equal(drape_reason_name((drape_reason)reason), drape_reason_name((drape_reason)other));
}

/* ---- Bits ---- */

/* A context of so many threads and this level, or NULL where the processor lacks it. */
static drape_context *context_at(int32_t threads, drape_simd simd) {
    drape_context_settings settings = drape_context_defaults();
    drape_context *ctx;
    settings.threads = threads;
    settings.simd = simd;
    return drape_context_create(&settings, &ctx) == DRAPE_OK ? ctx : NULL;
}

enum { MANY = 3001 };

static void solve_in(drape_context *ctx, const random_system *s, const drape_solve_settings *settings, double *x,
                     double *force, drape_solve_result *result) {
    drape_solver *solver;
    drape_constraints *set; /* of this context */
    drape_problem problem = problem_of(s);
    ASSERT_OK(ctx, drape_constraints_create(ctx, s->rows, &set));
    ASSERT_OK(ctx, drape_constraints_set(set, s->list, s->held));
    problem.constraints = set;
    ASSERT_OK(ctx, drape_solver_create(ctx, settings, &solver));
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, result));
    memcpy(force, result->constraint_force, 3 * MANY * sizeof *force);
    drape_solver_destroy(solver);
    drape_constraints_destroy(set);
}

static void same_bits(const random_system *s, const drape_solve_settings *settings) {
    static const int32_t threads[] = {1, 2, 3, 7};
    double *want = calloc(12 * MANY, sizeof *want), *want_force = want + 3 * MANY, *x = want + 6 * MANY,
           *force = want + 9 * MANY;
    drape_solve_result expected, result;
    drape_context *first = context_at(1, DRAPE_SIMD_BASELINE);
    solve_in(first, s, settings, want, want_force, &expected);
    drape_context_destroy(first);
    for (int simd = DRAPE_SIMD_BASELINE; simd < DRAPE_SIMD_BEST; simd++)
        for (int k = 0; k < 4; k++) {
            drape_context *ctx = context_at(threads[k], (drape_simd)simd);
            if (!ctx) {
                if (k == 0) print_message("no %s here: skipped\n", drape_simd_name((drape_simd)simd));
                continue;
            }
            solve_in(ctx, s, settings, x, force, &result);
            assert_int_equal(result.iterations, expected.iterations);
            assert_int_equal(result.reason, expected.reason);
            assert_memory_equal(&result.residual, &expected.residual, sizeof(double));
            assert_memory_equal(&result.true_residual, &expected.true_residual, sizeof(double));
            assert_memory_equal(x, want, 3 * MANY * sizeof *x);
            assert_memory_equal(force, want_force, 3 * MANY * sizeof *x);
            drape_context_destroy(ctx);
        }
    free(want);
}

static void threads_and_levels_change_no_bit(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    random_settings make = {MANY, 1e4, 0.1, RANDOM_DIRECTIONS, true, 0.01, 11};
    random_system s = random_system_create(ctx, &make);
    drape_solve_settings settings = drape_solve_defaults();
    settings.max_iterations = 40;
    for (int32_t m = 0; (settings.method = drape_method_name(m)); m++) same_bits(&s, &settings);
    settings = drape_solve_defaults();
    settings.max_iterations = 40;
    for (int32_t p = 0; (settings.precond = drape_precond_name(p)); p++) same_bits(&s, &settings);
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_sizes),
        cmocka_unit_test(warm_solves_allocate_nothing),
        cmocka_unit_test(failing_allocations),
        cmocka_unit_test(memory_comes_back),
        cmocka_unit_test(refused_settings),
        cmocka_unit_test(refused_problems),
        cmocka_unit_test(one_shot),
        cmocka_unit_test(names),
        cmocka_unit_test(threads_and_levels_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
