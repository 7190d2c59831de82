/* What a program with its own simulator needs of the solvers: A as a function, several right-hand sides, progress, a
 * way to stop, and a log of what was chosen. */
#include "drape/solve.h"
#include "sparse/counting_allocator.h"
#include "support/pairs.h"
#include "support/random_systems.h"
#include "support/sheets.h"
#include "support/testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 20, ROWS = SIDE * SIDE, N = 3 * ROWS };

static sheet make_sheet(drape_context *ctx, bool held) {
    sheet s = sheet_create(ctx, &(sheet_settings){.nx = SIDE, .ny = SIDE, .mass = 1e-2, .seed = 9});
    if (held) sheet_hold_some(ctx, &s, 0.2);
    return s;
}

/* ---- A as a function ---- */

typedef struct user {
    drape_context *ctx;
    const drape_bsr3 *A;
    drape_precond *P;
    int32_t products, applications;
} user;

static void multiply(void *data, const double *x, double *y) {
    user *u = data;
    u->products++;
    ASSERT_OK(u->ctx, drape_multiply(u->ctx, u->A, x, y));
}

static void precondition(void *data, const double *r, double *z) {
    user *u = data;
    u->applications++;
    ASSERT_OK(u->ctx, drape_precond_apply(u->P, r, z));
}

/* With the product of the matrix the function gives what the matrix gives; with P = I, and with one of its own. The
 * preconditioner is made as each method has it made: from A, or with the constraints. */
static void check_operator(drape_context *ctx, const sheet *s, const char *method, const char *precond,
                           bool prefiltered) {
    static double x[N], want[N];
    user u = {.ctx = ctx, .A = &s->A};
    drape_operator op = {.rows = ROWS, .multiply = multiply, .user = &u};
    drape_problem matrix = {.A = &s->A, .b = s->b, .constraints = s->set};
    drape_problem function = {.op = &op, .b = s->b, .constraints = s->set};
    drape_solve_settings settings = {.method = method, .precond = precond, .tol = 1e-8, .history = 20000};
    drape_solve_result a, b;
    ASSERT_OK(ctx, drape_solve(ctx, &matrix, &settings, want, &a));
    if (strcmp(precond, "none") != 0) {
        ASSERT_OK(ctx, drape_precond_create(ctx, precond, &s->A, NULL, &u.P));
        ASSERT_OK(ctx, drape_precond_refresh(
                           u.P, &(drape_problem){.A = &s->A, .constraints = prefiltered ? s->set : NULL}));
        op.precondition = precondition;
        settings.precond = NULL;
    }
    ASSERT_OK(ctx, drape_solve(ctx, &function, &settings, x, &b));
    drape_precond_destroy(u.P);
    if (a.reason != b.reason || a.iterations != b.iterations)
        fail_msg("%s, %s: %s after %d, with the matrix %s after %d", method, precond, drape_reason_name(b.reason),
                 b.iterations, drape_reason_name(a.reason), a.iterations);
    assert_true(a.reason == DRAPE_CONVERGED || strcmp(method, "sd") == 0);
    ASSERT_NEAR(distance_of(N, x, want) / norm_of(N, want), 0, 1e-9);
    ASSERT_NEAR(b.true_residual / a.true_residual, 1, 0.1);
    assert_true(u.products > b.iterations && (strcmp(precond, "none") == 0) == (u.applications == 0));
}

static void operators_are_solved(void **state) {
    const char *const with[] = {"cg", "pcg", "mpcg", "mpcg-original", "filtered-cg", "ppcg"};
    drape_context *ctx = test_context(2);
    (void)state;
    for (int held = 0; held < 2; held++) {
        sheet s = make_sheet(ctx, held);
        for (int32_t i = 0; drape_method_name(i); i++) {
            const char *m = drape_method_name(i);
            if (strcmp(m, "direct") != 0 && strcmp(m, "mpcg-printed") != 0 && strncmp(m, "bicgstab", 8) != 0)
                check_operator(ctx, &s, m, "none", true);
        }
        for (int m = 1; m < 6; m++) check_operator(ctx, &s, with[m], "ichol", m == 1 || m == 5);
        sheet_destroy(&s);
    }
    drape_context_destroy(ctx);
}

/* BiCGStab, whose path rounding changes, gets to the same x; so does "auto". */
static void operators_that_are_not_symmetric(void **state) {
    drape_context *ctx = test_context(1);
    random_system s = random_system_create(
        ctx,
        &(random_settings){.rows = 60, .condition = 50, .held = 0.2, .directions = -1, .moving = true, .seed = 4});
    test_random random = {1};
    const char *const methods[] = {"bicgstab", "bicgstab-filtered"};
    double x[180], want[180];
    (void)state;
    random_add_skew(&s.A, &random, 0.05);
    random_reference_unsymmetric(&s, want);
    for (int m = 0; m < 2; m++) {
        user u = {.ctx = ctx, .A = &s.A};
        const drape_operator op = {.rows = 60, .multiply = multiply, .user = &u};
        drape_solve_result result;
        ASSERT_OK(ctx, drape_solve(ctx, &(drape_problem){.op = &op, .b = s.b, .constraints = s.set},
                                   &(drape_solve_settings){.method = methods[m], .tol = 1e-12}, x, &result));
        assert_int_equal(result.reason, DRAPE_CONVERGED);
        ASSERT_NEAR(distance_of(180, x, want) / norm_of(180, want), 0, 1e-8);
    }
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

static void put_nan(void *data, const double *x, double *y) {
    (void)data;
    for (int i = 0; i < N; i++) y[i] = x[i];
    y[7] = NAN;
}

static void bad_operators(void **state) {
    drape_context *ctx = test_context(1);
    sheet s = make_sheet(ctx, false);
    user u = {.ctx = ctx, .A = &s.A};
    drape_operator op = {.rows = ROWS, .multiply = multiply, .user = &u}, bad = op;
    double x[N];
    drape_solve_result result;
    const struct {
        drape_problem problem;
        drape_solve_settings settings;
        const char *fragment;
    } cases[] = {
        {{.op = &op, .A = &s.A, .b = s.b}, {0}, "matrix and as an operator"},
        {{.op = &op}, {0}, "b is missing"},
        {{.op = &op, .b = s.b}, {.method = "direct", .direct = &dense_direct}, "direct needs a matrix"},
        {{.op = &op, .b = s.b}, {.method = "mpcg-printed"}, "mpcg-printed needs a matrix"},
        {{.op = &op, .b = s.b}, {.precond = "amg"}, "amg needs a matrix"},
        {{.op = &bad, .b = s.b}, {0}, "multiply of the operator is missing"},
    };
    (void)state;
    bad.multiply = NULL;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_int_equal(drape_solve(ctx, &cases[k].problem, &cases[k].settings, x, NULL), DRAPE_ERROR_ARGUMENT);
        if (!strstr(drape_message(ctx), cases[k].fragment))
            fail_msg("'%s' lacks '%s'", drape_message(ctx), cases[k].fragment);
    }
    bad.multiply = put_nan;
    ASSERT_OK(ctx, drape_solve(ctx, &(drape_problem){.op = &bad, .b = s.b}, NULL, x, &result));
    assert_int_equal(result.reason, DRAPE_NOT_FINITE);
    assert_non_null(strstr(result.detail, "operator"));
    bad = (drape_operator){.rows = 0, .multiply = multiply};
    ASSERT_OK(ctx, drape_solve(ctx, &(drape_problem){.op = &bad}, NULL, NULL, &result));
    assert_true(result.reason == DRAPE_CONVERGED && result.iterations == 0);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

/* One solver for matrix and function in turn; once warm nothing is allocated for the same kind again. */
static void operator_and_matrix_in_turn(void **state) {
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    sheet s = make_sheet(ctx, true);
    user u = {.ctx = ctx, .A = &s.A};
    const drape_operator op = {.rows = ROWS, .multiply = multiply, .user = &u};
    const drape_problem function = {.op = &op, .b = s.b, .constraints = s.set},
                        matrix = {.A = &s.A, .b = s.b, .constraints = s.set};
    static double x[3][N];
    drape_solver *solver;
    (void)state;
    ASSERT_OK(ctx, drape_solver_create(ctx, &(drape_solve_settings){.tol = 1e-10}, &solver));
    ASSERT_OK(ctx, drape_solver_solve(solver, &function, x[0], NULL));
    memory.left = 0;
    ASSERT_OK(ctx, drape_solver_solve(solver, &function, x[1], NULL));
    memory.left = -1;
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    ASSERT_OK(ctx, drape_solver_solve(solver, &matrix, x[2], NULL));
    ASSERT_NEAR(distance_of(N, x[2], x[0]) / norm_of(N, x[0]), 0, 1e-6);
    ASSERT_OK(ctx, drape_solver_solve(solver, &function, x[1], NULL));
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    drape_solver_destroy(solver);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
}

/* ---- Several right-hand sides ---- */

enum { COLUMNS = 4 };

/* Each is what a solver finds that goes through them one by one with the same matrix. */
static void check_many(drape_context *ctx, const drape_solve_settings *settings) {
    static double b[COLUMNS * N], x[COLUMNS * N], want[N];
    sheet s = make_sheet(ctx, true);
    drape_problem problem = {.A = &s.A, .constraints = s.set, .positions = s.x};
    drape_solve_result results[COLUMNS];
    drape_solver *many, *one;
    test_random random = {5};
    for (int64_t i = 0; i < COLUMNS * N; i++) b[i] = test_random_between(&random, -1, 1);
    if (strcmp(settings->method, "sd") == 0) return sheet_destroy(&s);
    ASSERT_OK(ctx, drape_solver_create(ctx, settings, &many));
    ASSERT_OK(ctx, drape_solver_create(ctx, settings, &one));
    ASSERT_OK(ctx, drape_solver_solve_many(many, &problem, COLUMNS, b, x, results));
    for (int k = 0; k < COLUMNS; k++) {
        drape_solve_result result;
        problem.b = b + N * k;
        problem.same_matrix = k > 0;
        ASSERT_OK(ctx, drape_solver_solve(one, &problem, want, &result));
        PAIR_TRUE(settings, memcmp(x + N * k, want, sizeof want) == 0);
        PAIR_TRUE(settings, results[k].reason == result.reason && results[k].iterations == result.iterations);
        PAIR_TRUE(settings, (results[k].constraint_force != NULL) == (k + 1 == COLUMNS));
    }
    drape_solver_destroy(many);
    drape_solver_destroy(one);
    sheet_destroy(&s);
}

static void several_right_hand_sides(void **state) {
    (void)state;
    for_every_pair(check_many);
    drape_context *ctx = test_context(1);
    check_many(ctx, &(drape_solve_settings){.method = "auto", .precond = "auto"});
    drape_context_destroy(ctx);
}

static void bad_right_hand_sides(void **state) {
    drape_context *ctx = test_context(1);
    sheet s = make_sheet(ctx, false);
    const drape_problem problem = {.A = &s.A};
    drape_solver *solver;
    double x[N];
    (void)state;
    ASSERT_OK(ctx, drape_solver_create(ctx, NULL, &solver));
    assert_int_equal(drape_solver_solve_many(NULL, &problem, 1, s.b, x, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_solver_solve_many(solver, NULL, 1, s.b, x, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_solver_solve_many(solver, &problem, 1, NULL, x, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_solver_solve_many(solver, &problem, 1, s.b, NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_solver_solve_many(solver, &problem, -1, s.b, x, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_solver_solve_many(solver, &(drape_problem){0}, 1, s.b, x, NULL), DRAPE_ERROR_ARGUMENT);
    ASSERT_OK(ctx, drape_solver_solve_many(solver, &problem, 0, NULL, NULL, NULL));
    ASSERT_OK(ctx, drape_solver_solve_many(solver, &problem, 1, s.b, x, NULL));
    drape_solver_destroy(solver);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

/* ---- Progress ---- */

typedef struct watch {
    int32_t calls, last, most; /* most: iterations after which to stop */
    double residual;
    const drape_solve_settings *settings;
} watch;

static bool look(void *data, const drape_progress *p) {
    watch *w = data;
    w->calls++;
    w->last = p->iterations;
    w->residual = p->residual;
    assert_true(p->method && p->precond && p->tol == 1e-7);
    assert_true(isfinite(p->residual) && p->residual > p->tol);
    return p->iterations < w->most;
}

/* Called in every iteration; where it says no, x is that of so many iterations. Other results are those without it.
 */
static void check_progress(drape_context *ctx, const drape_solve_settings *pair) {
    static double x[N], want[N];
    if (pair_is_direct(pair)) return;
    sheet s = make_sheet(ctx, true);
    const drape_problem problem = {.A = &s.A, .b = s.b, .constraints = s.set, .positions = s.x};
    drape_solve_settings settings = *pair, plain;
    watch w = {.most = INT32_MAX};
    drape_solve_result a, b;
    settings.tol = 1e-7;
    settings.max_iterations = 60;
    plain = settings;
    settings.progress = look;
    settings.progress_user = &w;
    ASSERT_OK(ctx, drape_solve(ctx, &problem, &plain, want, &a));
    ASSERT_OK(ctx, drape_solve(ctx, &problem, &settings, x, &b));
    PAIR_TRUE(pair, a.reason == b.reason && a.iterations == b.iterations && memcmp(x, want, sizeof x) == 0);
    PAIR_TRUE(pair, w.calls >= b.iterations && w.last == b.iterations - 1);
    for (int32_t most = 0; most < 4; most += 3) {
        plain.max_iterations = most > 0 ? most : 1;
        w = (watch){.most = most};
        ASSERT_OK(ctx, drape_solve(ctx, &problem, &settings, x, &b));
        if (b.reason == DRAPE_CONVERGED) continue;
        PAIR_REASON(pair, b.reason, DRAPE_INTERRUPTED);
        PAIR_TRUE(pair, b.iterations == most && w.last == most && b.residual == w.residual);
        if (most == 0) continue;
        ASSERT_OK(ctx, drape_solve(ctx, &problem, &plain, want, &a));
        PAIR_TRUE(pair, a.reason == DRAPE_ITERATION_LIMIT && memcmp(x, want, sizeof x) == 0);
    }
    sheet_destroy(&s);
}

static void progress_is_told(void **state) {
    (void)state;
    for_every_pair(check_progress);
}

/* "auto" does not take it for a failure, and what follows is left alone. */
static void interruption_ends_all(void **state) {
    static double b[2 * N], x[2 * N];
    drape_context *ctx = test_context(1);
    sheet s = make_sheet(ctx, false);
    watch w = {.most = 2};
    drape_solve_settings settings = {.tol = 1e-7, .progress = look, .progress_user = &w};
    drape_solve_result results[2];
    drape_solver *solver;
    (void)state;
    memcpy(b, s.b, sizeof b / 2), memcpy(b + N, s.b, sizeof b / 2);
    x[N] = 17;
    ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
    ASSERT_OK(ctx, drape_solver_solve_many(solver, &(drape_problem){.A = &s.A}, 2, b, x, results));
    assert_true(results[0].reason == DRAPE_INTERRUPTED && results[1].reason == DRAPE_INTERRUPTED);
    assert_true(results[0].fallbacks == 0 && results[0].iterations == 2 && w.calls == 3 && x[N] == 17);
    assert_string_equal(drape_reason_name(DRAPE_INTERRUPTED), "interrupted");
    drape_solver_destroy(solver);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

/* ---- Log ---- */

typedef struct journal {
    int32_t lines;
    char text[2000];
} journal;

static void keep(void *data, drape_log_level level, const char *message) {
    journal *j = data;
    if (level != DRAPE_LOG_INFO) return;
    j->lines++;
    strncat(j->text, message, sizeof j->text - strlen(j->text) - 2);
    strcat(j->text, "\n");
}

static void choices_are_logged(void **state) {
    static double x[N];
    journal j = {0};
    drape_context *ctx;
    drape_context_settings settings = drape_context_defaults();
    drape_solver *solver;
    drape_solve_result result;
    test_random random = {3};
    (void)state;
    settings.threads = 1;
    settings.log = keep;
    settings.log_user = &j;
    assert_int_equal(drape_context_create(&settings, &ctx), DRAPE_OK);
    sheet s = make_sheet(ctx, false);
    const drape_problem problem = {.A = &s.A, .b = s.b};
    ASSERT_OK(ctx, drape_solver_create(ctx, &(drape_solve_settings){.method = "auto"}, &solver));
    int32_t changes = 0;
    const char *before = "";
    for (int k = 0; k < 6; k++) { /* told where it is another than before */
        char line[100];
        ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &result));
        changes += strcmp(before, result.precond) != 0;
        before = result.precond;
        assert_int_equal(j.lines, changes);
        snprintf(line, sizeof line, "solve: ppcg with %s", result.precond);
        assert_non_null(strstr(j.text, line));
    }
    assert_true(changes < 4);
    j.lines = 0;
    random_add_skew(&s.A, &random, 0.5);
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &result));
    assert_string_equal(result.method, "bicgstab");
    assert_non_null(strstr(j.text, "solve: bicgstab with block_diagonal, 400 rows\n"));
    assert_int_equal(j.lines, 1 + 2 * result.fallbacks);
    for (int32_t k = 0; k < result.fallbacks; k++) assert_non_null(strstr(j.text, "was abandoned after"));
    drape_solver_destroy(solver);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_are_solved),
        cmocka_unit_test(operators_that_are_not_symmetric),
        cmocka_unit_test(bad_operators),
        cmocka_unit_test(operator_and_matrix_in_turn),
        cmocka_unit_test(several_right_hand_sides),
        cmocka_unit_test(bad_right_hand_sides),
        cmocka_unit_test(progress_is_told),
        cmocka_unit_test(interruption_ends_all),
        cmocka_unit_test(choices_are_logged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
