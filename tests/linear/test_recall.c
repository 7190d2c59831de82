/* drape_solve_settings.recall: starts from the solutions of the solves before. */
#include "drape/solve.h"
#include "support/pairs.h"
#include "support/random_systems.h"
#include "support/testing.h"

#include <math.h>
#include <string.h>

enum { ROWS = 60, N = 3 * ROWS, STEPS = 6 };

static random_system make_system(drape_context *ctx, double condition, bool moving) {
    return random_system_create(ctx, &(random_settings){ROWS, condition, 0.2, RANDOM_DIRECTIONS, moving, 0, 5});
}

static drape_solve_settings settings_with(int32_t recall) {
    drape_solve_settings settings = drape_solve_defaults();
    settings.method = "ppcg", settings.precond = "block_diagonal";
    settings.tol = 1e-9;
    settings.recall = recall;
    return settings;
}

/* The right-hand side of a step: smooth in time. */
static void right_hand_side(int32_t step, double *b) {
    for (int32_t i = 0; i < N; i++)
        b[i] = sin(0.7 * i) + 0.05 * step * cos(0.3 * i) + 0.01 * step * step * sin(0.2 * i);
}

static drape_problem problem_of(const random_system *s, const double *b) {
    return (drape_problem){.A = &s->A, .b = b, .constraints = s->set};
}

static void answers_are_those_without_it(drape_context *ctx, const drape_solve_settings *given, bool moving) {
    random_system s = make_system(ctx, 20, moving);
    drape_solve_settings settings = *given, plain = *given;
    drape_solver *solver;
    double b[N], x[N], want[N];
    settings.recall = 3;
    settings.tol = plain.tol = 1e-12;
    ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
    for (int32_t step = 0; step < STEPS; step++) {
        drape_solve_result r;
        right_hand_side(step, b);
        drape_problem problem = problem_of(&s, b);
        ASSERT_OK(ctx, drape_solve(ctx, &problem, &plain, want, NULL));
        if (step > 0) problem.guess = x; /* which is the memory of the answer too */
        ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &r));
        PAIR_TRUE(&settings, r.reason == DRAPE_CONVERGED);
        for (int32_t i = 0; i < N; i++) PAIR_NEAR(&settings, x[i], want[i], 1e-7);
    }
    drape_solver_destroy(solver);
    random_system_destroy(&s);
}

static void check_pair(drape_context *ctx, const drape_solve_settings *given) {
    for (int32_t moving = 0; moving < 2; moving++) answers_are_those_without_it(ctx, given, moving);
}

static void answers_are_the_same(void **state) {
    (void)state;
    for_every_pair(check_pair);
}

/* A right-hand side that is quadratic in time: after three steps of one matrix all is known. */
static void what_is_known_takes_no_iterations(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    for (int32_t moving = 0; moving < 2; moving++) {
        random_system s = make_system(ctx, 1e4, moving);
        drape_solve_settings settings = settings_with(3);
        drape_solver *solver;
        double b[N], x[N];
        settings.tol = 1e-12;
        ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
        for (int32_t step = 0; step < STEPS; step++) {
            drape_solve_result r;
            right_hand_side(step, b);
            drape_problem problem = problem_of(&s, b);
            problem.tol = step < 3 ? 0 : 1e-6;
            ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &r));
            if (step < 3) assert_true(r.iterations > 5);
            else assert_int_equal(r.iterations, 0);
        }
        drape_solver_destroy(solver);
        random_system_destroy(&s);
    }
    drape_context_destroy(ctx);
}

/* Iterations of all steps, and the last answer. A is another in every step. */
static int32_t run(drape_context *ctx, int32_t recall, bool guess, bool forget, double last[N]) {
    random_system s = make_system(ctx, 1e4, false);
    drape_solve_settings settings = settings_with(recall);
    drape_solver *solver;
    double b[N], x[N] = {0};
    int32_t sum = 0;
    ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
    for (int32_t step = 0; step < STEPS; step++) {
        const int64_t held = drape_context_bytes(ctx);
        drape_solve_result r;
        right_hand_side(step, b);
        for (int32_t i = 0; i < ROWS; i++)
            for (int64_t k = s.A.rowptr[i]; k < s.A.rowptr[i + 1]; k++)
                if (s.A.col[k] == i) ((double *)s.A.val)[9 * k] *= 1.01;
        drape_problem problem = problem_of(&s, b);
        if (guess) problem.guess = x;
        if (forget && step == 3) drape_solver_forget(solver);
        ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &r));
        if (step > 0 && !forget) assert_int_equal(drape_context_bytes(ctx), held);
        sum += r.iterations;
    }
    memcpy(last, x, sizeof x);
    drape_solver_destroy(solver);
    random_system_destroy(&s);
    return sum;
}

static void fewer_iterations_than_from_the_last(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    double x[N];
    int32_t last = run(ctx, 0, true, false, x), two = run(ctx, 2, true, false, x),
            three = run(ctx, 3, true, false, x);
    assert_true(two < last);
    assert_true(three < two);
    drape_context_destroy(ctx);
}

static void bits_do_not_depend_on_threads(void **state) {
    (void)state;
    double x[2][N];
    for (int32_t k = 0; k < 2; k++) {
        drape_context_settings settings = drape_context_defaults();
        drape_context *ctx;
        settings.threads = 1 + 2 * k;
        assert_int_equal(drape_context_create(&settings, &ctx), DRAPE_OK);
        run(ctx, 3, false, false, x[k]);
        drape_context_destroy(ctx);
    }
    assert_memory_equal(x[0], x[1], sizeof x[0]);
}

/* Without a guess nothing of the steps before is left. */
static void it_can_forget(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    double x[N], never[N];
    int32_t forgetful = run(ctx, 3, false, true, x), kept = run(ctx, 3, false, false, never);
    assert_true(forgetful > kept);
    drape_context_destroy(ctx);
}

/* A guess that points the wrong way costs multigrid no more iterations than none, and the answer is the same. */
static void a_bad_guess_does_no_harm(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    for (int32_t moving = 0; moving < 2; moving++) {
        random_system s = make_system(ctx, 1e4, moving);
        drape_solve_settings settings = settings_with(0);
        double b[N], x[N], want[N], guess[N];
        drape_solve_result none, bad, other;
        settings.precond = "amg";
        right_hand_side(0, b);
        drape_problem problem = problem_of(&s, b);
        ASSERT_OK(ctx, drape_solve(ctx, &problem, &settings, want, &none));
        for (int32_t i = 0; i < N; i++) guess[i] = -20 * want[i];
        problem.guess = guess;
        ASSERT_OK(ctx, drape_solve(ctx, &problem, &settings, x, &bad));
        for (int32_t i = 0; i < N; i++) ASSERT_NEAR(x[i], want[i], 1e-6 * (1 + fabs(want[i])));
        assert_true(bad.iterations <= 2); /* the direction was right */
        for (int32_t i = 0; i < N; i++) guess[i] = -20 * want[i] + (i % 2 ? 30 : -30) * want[(i + 7) % N];
        ASSERT_OK(ctx, drape_solve(ctx, &problem, &settings, x, &other));
        for (int32_t i = 0; i < N; i++) ASSERT_NEAR(x[i], want[i], 1e-6 * (1 + fabs(want[i])));
        assert_true(other.iterations <= none.iterations + 2);
        random_system_destroy(&s);
    }
    drape_context_destroy(ctx);
}

static void bad_numbers_are_refused(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    for (int32_t recall = -1; recall <= 5; recall += 6) {
        drape_solve_settings settings = settings_with(recall);
        drape_solver *solver;
        assert_int_equal(drape_solver_create(ctx, &settings, &solver), DRAPE_ERROR_ARGUMENT);
        assert_non_null(strstr(drape_message(ctx), "recall"));
    }
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_the_same),
        cmocka_unit_test(what_is_known_takes_no_iterations),
        cmocka_unit_test(fewer_iterations_than_from_the_last),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(it_can_forget),
        cmocka_unit_test(a_bad_guess_does_no_harm),
        cmocka_unit_test(bad_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
