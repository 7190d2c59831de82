/* What a caller may get wrong in drape/sparse.h and drape/solve.h: handles, arrays and outputs that are NULL, unknown
 * names, numbers that are not finite, half a matrix. Each gets a status or a reason with a message that says what and
 * where, and never a crash. */
#include "drape/solve.h"
#include "support/random_systems.h"
#include "support/sheets.h"
#include "support/testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void says(drape_context *ctx, const char *fragment) {
    if (!strstr(drape_message(ctx), fragment)) fail_msg("'%s' lacks '%s'", drape_message(ctx), fragment);
}

#define REFUSED(call) assert_int_equal((call), DRAPE_ERROR_ARGUMENT)

/* ---- NULL ---- */

static void sparse_takes_null(void **state) {
    drape_context *ctx = test_context(1);
    drape_matrix *matrix, *other;
    drape_builder *builder, *no_builder;
    drape_system system = {0};
    const int32_t nodes[2] = {0, 1};
    const drape_elements set = {2, 1, nodes}, no_nodes = {2, 1, NULL};
    double x[6] = {0}, y[6];
    (void)state;
    ASSERT_OK(ctx, drape_matrix_from_elements(ctx, 2, &set, 1, &matrix));
    ASSERT_OK(ctx, drape_builder_create(ctx, 3, &builder));
    drape_bsr3 A = drape_matrix_view(matrix);
    REFUSED(drape_bsr3_check(NULL, &A));
    REFUSED(drape_bsr3_check(ctx, NULL));
    says(ctx, "A is missing");
    assert_true(drape_bsr3_asymmetry(NULL, NULL, NULL) == 0);
    REFUSED(drape_multiply(NULL, &A, x, y));
    REFUSED(drape_multiply(ctx, NULL, x, y));
    REFUSED(drape_multiply(ctx, &A, NULL, y));
    REFUSED(drape_multiply(ctx, &A, x, NULL));
    REFUSED(drape_matrix_from_elements(NULL, 2, &set, 1, &other));
    REFUSED(drape_matrix_from_elements(ctx, 2, NULL, 1, &other));
    REFUSED(drape_matrix_from_elements(ctx, 2, &no_nodes, 1, &other));
    REFUSED(drape_matrix_from_elements(ctx, 2, &set, 1, NULL));
    REFUSED(drape_matrix_copy(NULL, &A, &other));
    REFUSED(drape_matrix_copy(ctx, NULL, &other));
    REFUSED(drape_matrix_copy(ctx, &A, NULL));
    assert_int_equal(drape_matrix_view(NULL).rows, 0);
    REFUSED(drape_builder_create(NULL, 3, &no_builder));
    assert_null(no_builder);
    REFUSED(drape_builder_create(ctx, 3, NULL));
    REFUSED(drape_builder_add(NULL, 0, 0, 1));
    REFUSED(drape_builder_finish(NULL, &other));
    REFUSED(drape_builder_finish(builder, NULL));
    assert_true(drape_builder_rows(NULL) == 0 && drape_builder_entries(NULL) == 0);
    drape_builder_destroy(builder);
    REFUSED(drape_matrix_market_read(NULL, "x", &builder));
    REFUSED(drape_matrix_market_read(ctx, NULL, &builder));
    REFUSED(drape_matrix_market_read(ctx, "x", NULL));
    REFUSED(drape_matrix_market_parse(NULL, "x", "", 0, &builder));
    REFUSED(drape_matrix_market_parse(ctx, NULL, "", 0, &builder));
    REFUSED(drape_matrix_market_parse(ctx, "x", "", 0, NULL));
    assert_int_not_equal(drape_matrix_market_parse(ctx, "x", NULL, 1, &builder), DRAPE_OK);
    REFUSED(drape_matrix_market_write(NULL, "x", &A, false));
    REFUSED(drape_matrix_market_write(ctx, NULL, &A, false));
    REFUSED(drape_matrix_market_write(ctx, "x", NULL, false));
    REFUSED(drape_vector_read(NULL, "x", 6, x));
    REFUSED(drape_vector_read(ctx, NULL, 6, x));
    REFUSED(drape_vector_parse(NULL, "x", x, sizeof x, 6, x));
    REFUSED(drape_vector_parse(ctx, NULL, x, sizeof x, 6, x));
    REFUSED(drape_vector_parse(ctx, "x", x, sizeof x, 6, NULL));
    assert_int_not_equal(drape_vector_parse(ctx, "x", NULL, 48, 6, x), DRAPE_OK);
    REFUSED(drape_system_write(NULL, "x", &system));
    REFUSED(drape_system_write(ctx, NULL, &system));
    REFUSED(drape_system_write(ctx, "x", NULL));
    REFUSED(drape_system_read(NULL, "x", &system));
    REFUSED(drape_system_read(ctx, NULL, &system));
    REFUSED(drape_system_read(ctx, "x", NULL));
    REFUSED(drape_system_parse(NULL, "x", x, 8, &system));
    REFUSED(drape_system_parse(ctx, NULL, x, 8, &system));
    REFUSED(drape_system_parse(ctx, "x", NULL, 8, &system));
    REFUSED(drape_system_parse(ctx, "x", x, 8, NULL));
    drape_system_clear(NULL, &system);
    drape_system_clear(ctx, NULL);
    drape_builder_destroy(NULL);
    drape_matrix_destroy(NULL);
    drape_matrix_destroy(matrix);
    drape_context_destroy(ctx);
}

static void solve_takes_null(void **state) {
    drape_context *ctx = test_context(1);
    random_system s = random_system_create(ctx, &(random_settings){.rows = 4, .condition = 10, .seed = 1});
    const drape_problem problem = {.A = &s.A, .b = s.b};
    drape_constraints *set, *no_set;
    drape_solver *solver, *no_solver;
    drape_amg_level level;
    drape_tuned tuned;
    double x[12], S[36], z[12], val[9 * 16];
    (void)state;
    ASSERT_OK(ctx, drape_constraints_create(ctx, 4, &set));
    ASSERT_OK(ctx, drape_solver_create(ctx, NULL, &solver));
    REFUSED(drape_constraints_create(NULL, 4, &no_set));
    assert_null(no_set);
    REFUSED(drape_constraints_create(ctx, 4, NULL));
    REFUSED(drape_constraints_set(NULL, NULL, 0));
    REFUSED(drape_constraints_set(set, NULL, 1));
    REFUSED(drape_constraints_set_filter(NULL, S, z));
    REFUSED(drape_constraints_set_filter(set, NULL, z));
    REFUSED(drape_constraints_set_filter(set, S, NULL));
    assert_int_equal(drape_constraints_count(NULL), 0);
    drape_constraints_filter(NULL, S, z);
    drape_constraints_filter(set, NULL, z);
    drape_constraints_filter(set, S, NULL);
    REFUSED(drape_solver_create(NULL, NULL, &no_solver));
    REFUSED(drape_solver_create(ctx, NULL, NULL));
    assert_null(no_solver);
    REFUSED(drape_solver_solve(NULL, &problem, x, NULL));
    REFUSED(drape_solver_solve(solver, NULL, x, NULL));
    says(ctx, "problem is missing");
    REFUSED(drape_solver_solve(solver, &problem, NULL, NULL));
    says(ctx, "x is missing");
    REFUSED(drape_solver_solve(solver, &(drape_problem){.b = s.b}, x, NULL));
    says(ctx, "A is missing");
    REFUSED(drape_solver_solve(solver, &(drape_problem){.A = &s.A}, x, NULL));
    says(ctx, "b is missing");
    REFUSED(drape_solver_solve(solver, &(drape_problem){.A = &s.A, .b = s.b, .reserved = {1}}, x, NULL));
    says(ctx, "drape_problem.reserved");
    drape_solver_forget(NULL);
    assert_true(drape_solver_levels(NULL) == 0 && drape_solver_tuned_count(NULL) == 0);
    REFUSED(drape_solver_level(NULL, 0, &level));
    REFUSED(drape_solver_level(solver, 0, NULL));
    REFUSED(drape_solver_tuned(NULL, 0, &tuned));
    REFUSED(drape_solver_tuned(solver, 0, NULL));
    REFUSED(drape_solve(NULL, &problem, NULL, x, NULL));
    REFUSED(drape_solve(ctx, NULL, NULL, x, NULL));
    REFUSED(drape_prefilter(NULL, &problem, val, NULL));
    REFUSED(drape_prefilter(ctx, NULL, val, NULL));
    REFUSED(drape_prefilter(ctx, &problem, NULL, NULL));
    drape_postfilter(NULL, x);
    drape_postfilter(set, NULL);
    assert_false(drape_method_takes(NULL, NULL) || drape_method_needs_symmetry(NULL));
    assert_null(drape_method_default_precond(NULL));
    drape_solver_destroy(solver);
    drape_constraints_destroy(set);
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

/* ---- Names ---- */

static void unknown_names_list_the_known(void **state) {
    drape_context *ctx = test_context(1);
    drape_solver *solver;
    (void)state;
    REFUSED(drape_solver_create(ctx, &(drape_solve_settings){.method = "gauss"}, &solver));
    says(ctx, "\"gauss\"; known: auto, ");
    for (int32_t i = 0; drape_method_name(i); i++) says(ctx, drape_method_name(i));
    REFUSED(drape_solver_create(ctx, &(drape_solve_settings){.precond = "amgx"}, &solver));
    says(ctx, "\"amgx\"; known: auto, ");
    for (int32_t i = 0; drape_precond_name(i); i++) says(ctx, drape_precond_name(i));
    drape_context_destroy(ctx);
}

/* ---- Numbers that are not finite, and rows without a diagonal ---- */

static drape_solve_result solve_badly(drape_context *ctx, const drape_problem *problem, const char *precond,
                                      double *x) {
    drape_solve_result result;
    ASSERT_OK(ctx, drape_solve(ctx, problem, &(drape_solve_settings){.precond = precond}, x, &result));
    assert_int_not_equal(result.reason, DRAPE_CONVERGED);
    return result;
}

static void expect_detail(const drape_solve_result *result, const char *want) {
    if (!result->detail || strcmp(result->detail, want) != 0)
        fail_msg("'%s', wanted '%s'", result->detail ? result->detail : "(NULL)", want);
}

static void what_is_not_finite_is_named(void **state) {
    const double bad[] = {NAN, INFINITY};
    const char *const words[] = {"nan", "inf"};
    drape_context *ctx = test_context(1);
    sheet s = sheet_create(ctx, &(sheet_settings){.nx = 20, .ny = 20, .mass = 1e-3, .seed = 2});
    double *x = calloc(1200, sizeof *x), *guess = calloc(1200, sizeof *guess);
    char want[200];
    (void)state;
    for (int k = 0; k < 2; k++) {
        drape_problem problem = {.A = &s.A, .b = s.b, .guess = guess, .positions = s.x};
        double *const place[] = {s.b + 3 * 17 + 1, guess + 3 * 18, s.x + 3 * 19 + 2};
        const char *const names[] = {"b", "the guess", "positions"};
        for (int a = 0; a < 3; a++) {
            double keep = *place[a];
            *place[a] = bad[k];
            drape_solve_result result;
            drape_solve_settings amg = {.method = "ppcg", .precond = "amg", .amg.modes = 6};
            ASSERT_OK(ctx, drape_solve(ctx, &problem, &amg, x, &result));
            *place[a] = keep;
            assert_int_equal(result.reason, DRAPE_NOT_FINITE);
            snprintf(want, sizeof want, "solve: %s of row %d is %s", names[a], 17 + a, words[k]);
            expect_detail(&result, want);
        }
        int64_t at = 9 * s.A.rowptr[30] + 4;
        double keep = s.A.val[at];
        s.A.val[at] = bad[k];
        drape_solve_result result = solve_badly(ctx, &problem, "block_diagonal", x);
        s.A.val[at] = keep;
        snprintf(want, sizeof want, "solve: the block of A in row 30, column %d holds %s", s.A.col[s.A.rowptr[30]],
                 words[k]);
        expect_detail(&result, want);
        memcpy(x, guess, 1200 * sizeof *x); /* a guess in the place of x */
        problem.guess = x;
        x[3 * 40] = bad[k];
        result = solve_badly(ctx, &problem, "none", x);
        snprintf(want, sizeof want, "solve: the guess of row 40 is %s", words[k]);
        expect_detail(&result, want);
    }
    s.b[0] = 1e200; /* which has no square */
    drape_solve_result result = solve_badly(ctx, &(drape_problem){.A = &s.A, .b = s.b}, "none", x);
    if (!strstr(result.detail, "overflow")) fail_msg("'%s'", result.detail);
    free(x), free(guess);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

static void missing_diagonals_are_named(void **state) {
    /* Vertex 1 has no diagonal block. */
    int64_t rowptr[] = {0, 2, 4, 6};
    int32_t col[] = {0, 1, 0, 2, 1, 2};
    double val[54] = {0}, b[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, x[9];
    const drape_bsr3 A = {3, rowptr, col, val};
    drape_context *ctx = test_context(1);
    drape_constraints *set;
    (void)state;
    for (int k = 0; k < 6; k++)
        for (int c = 0; c < 9; c += 4) val[9 * k + c] = k == 0 || k == 5 ? 2 : -1;
    drape_problem problem = {.A = &A, .b = b};
    drape_solve_result result = solve_badly(ctx, &problem, "block_diagonal", x);
    expect_detail(&result, "solve: row 1 of A has no diagonal block");
    ASSERT_OK(ctx, drape_constraints_create(ctx, 3, &set));
    ASSERT_OK(ctx, drape_constraints_set(set, &(drape_constraint){.vertex = 1, .directions = 3}, 1));
    problem.constraints = set;
    ASSERT_OK(ctx, drape_solve(ctx, &problem, NULL, x, &result)); /* held, it needs none */
    assert_int_equal(result.reason, DRAPE_CONVERGED);
    assert_null(result.detail);
    drape_constraints_destroy(set);
    drape_context_destroy(ctx);
}

/* ---- Half a matrix ---- */

static void half_a_matrix_is_refused(void **state) {
    int64_t both[] = {0, 2, 4}, above[] = {0, 2, 3}, below[] = {0, 1, 3}, diagonal[] = {0, 1, 2};
    int32_t both_col[] = {0, 1, 0, 1}, above_col[] = {0, 1, 1}, below_col[] = {0, 0, 1}, diagonal_col[] = {0, 1};
    double val[36], b[6] = {1, 2, 3, 4, 5, 6}, x[6];
    const drape_bsr3 A[] = {{2, above, above_col, val}, {2, below, below_col, val}};
    const drape_bsr3 whole = {2, both, both_col, val}, alone = {2, diagonal, diagonal_col, val};
    const char *const symmetric[] = {NULL, "auto", "cg", "ppcg", "mpcg", "sd"};
    drape_context *ctx = test_context(1);
    drape_solve_result result;
    (void)state;
    for (int k = 0; k < 36; k++) val[k] = k % 9 % 4 == 0 ? 3 : 0.25;
    for (int h = 0; h < 2; h++) {
        for (int m = 0; m < 6; m++) {
            REFUSED(drape_solve(ctx, &(drape_problem){.A = &A[h], .b = b},
                                &(drape_solve_settings){.method = symmetric[m]}, x, NULL));
            says(ctx, "A has blocks in one triangle only");
            says(ctx,
                 h ? "row 1, column 0, but none in row 0, column 1" : "row 0, column 1, but none in row 1, column 0");
        }
        ASSERT_OK(ctx, drape_solve(ctx, &(drape_problem){.A = &A[h], .b = b}, /* for which it may be what is meant */
                                   &(drape_solve_settings){.method = "bicgstab", .tol = 1e-10}, x, &result));
        assert_true(result.reason == DRAPE_CONVERGED && result.true_residual < 1e-9);
    }
    ASSERT_OK(ctx, drape_solve(ctx, &(drape_problem){.A = &alone, .b = b}, NULL, x, &result));
    assert_int_equal(result.reason, DRAPE_CONVERGED);
    ASSERT_OK(ctx, drape_solve(ctx, &(drape_problem){.A = &whole, .b = b}, NULL, x, &result));
    drape_context_destroy(ctx);
}

/* ---- No rows ---- */

static void no_rows_are_solved(void **state) {
    const int64_t rowptr[] = {0};
    const drape_bsr3 empty = {0, rowptr, NULL, NULL}, bare = {0};
    drape_context *ctx = test_context(1);
    drape_solver *solver;
    drape_constraints *none;
    (void)state;
    ASSERT_OK(ctx, drape_constraints_create(ctx, 0, &none));
    for (int32_t i = -1; i < 0 || drape_method_name(i); i++) {
        const char *name = i < 0 ? "auto" : drape_method_name(i);
        if (strcmp(name, "direct") == 0) continue;
        ASSERT_OK(ctx, drape_solver_create(ctx, &(drape_solve_settings){.method = name}, &solver));
        for (int k = 0; k < 4; k++) {
            drape_solve_result result = {.iterations = 7};
            double x = 5;
            const drape_problem problem = {.A = k % 2 ? &empty : &bare, .constraints = k < 2 ? NULL : none};
            ASSERT_OK(ctx, drape_solver_solve(solver, &problem, k < 2 ? NULL : &x, &result));
            assert_true(result.reason == DRAPE_CONVERGED && result.iterations == 0 && x == 5);
            assert_true(result.residual == 0 && result.true_residual == 0 && result.method && result.precond);
            ASSERT_OK(ctx, drape_solver_solve(solver, &problem, NULL, NULL));
        }
        drape_solver_destroy(solver);
    }
    drape_constraints_destroy(none);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_takes_null),
        cmocka_unit_test(solve_takes_null),
        cmocka_unit_test(unknown_names_list_the_known),
        cmocka_unit_test(what_is_not_finite_is_named),
        cmocka_unit_test(missing_diagonals_are_named),
        cmocka_unit_test(half_a_matrix_is_refused),
        cmocka_unit_test(no_rows_are_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
