/* The prefiltered system for solvers of other libraries, against its definition, dense. */
#include "support/dense.h"
#include "support/random_systems.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 20, UNKNOWNS = 3 * ROWS };

/* S, dense, from the library's filter. */
static void dense_filter(const drape_constraints *set, double *S) {
    double blocks[9 * ROWS], z[UNKNOWNS];
    drape_constraints_filter(set, blocks, z);
    memset(S, 0, UNKNOWNS * UNKNOWNS * sizeof *S);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < 9; k++) S[(3 * i + k / 3) * UNKNOWNS + 3 * i + k % 3] = blocks[9 * i + k];
}

/* S A S + C (I-S), C the mean of |the diagonal of A_ii|. */
static void dense_prefiltered(const random_system *s, double *out) {
    static double A[UNKNOWNS * UNKNOWNS], S[UNKNOWNS * UNKNOWNS], SA[UNKNOWNS * UNKNOWNS];
    dense_from_bsr3(&s->A, A);
    dense_filter(s->set, S);
    dense_multiply(UNKNOWNS, UNKNOWNS, UNKNOWNS, S, A, SA);
    dense_multiply(UNKNOWNS, UNKNOWNS, UNKNOWNS, SA, S, out);
    for (int i = 0; i < UNKNOWNS; i++) {
        double C = 0;
        for (int k = 0; k < 3; k++) C += fabs(A[(i / 3 * 3 + k) * (UNKNOWNS + 1)]) / 3;
        for (int j = 0; j < UNKNOWNS; j++) out[i * UNKNOWNS + j] += C * ((i == j) - S[i * UNKNOWNS + j]);
    }
}

/* S (b - A (I-S) z) */
static void dense_rhs(const random_system *s, double *out) {
    static double S[UNKNOWNS * UNKNOWNS];
    double fixed[UNKNOWNS], r[UNKNOWNS];
    long double defect[UNKNOWNS];
    dense_filter(s->set, S);
    for (int i = 0; i < UNKNOWNS; i++) fixed[i] = (double)s->fixed[i];
    random_defect(s, fixed, defect);
    for (int i = 0; i < UNKNOWNS; i++) r[i] = (double)-defect[i];
    dense_multiply(UNKNOWNS, UNKNOWNS, 1, S, r, out);
}

static void check_system(drape_context *ctx, const random_system *s, bool symmetric) {
    static double got[UNKNOWNS * UNKNOWNS], want[UNKNOWNS * UNKNOWNS];
    double rhs[UNKNOWNS], want_rhs[UNKNOWNS], x[UNKNOWNS], want_x[UNKNOWNS];
    double *val = dense_new(9 * s->A.rowptr[s->rows]);
    drape_problem problem = {.A = &s->A, .b = s->b, .constraints = s->set};
    ASSERT_OK(ctx, drape_prefilter(ctx, &problem, val, rhs));
    drape_bsr3 filtered = s->A;
    filtered.val = val;
    dense_from_bsr3(&filtered, got);
    dense_prefiltered(s, want);
    dense_rhs(s, want_rhs);
    for (int k = 0; k < UNKNOWNS * UNKNOWNS; k++) ASSERT_NEAR(got[k], want[k], 1e-14);
    for (int k = 0; k < UNKNOWNS; k++) ASSERT_NEAR(rhs[k], want_rhs[k], 1e-14);
    assert_true((drape_bsr3_asymmetry(&filtered, NULL, NULL) < 1e-14) == symmetric);
    memcpy(x, rhs, sizeof x);
    assert_true(dense_solve(UNKNOWNS, got, 1, x)); /* as a user of the system would */
    drape_postfilter(s->set, x);
    random_reference_unsymmetric(s, want_x);
    ASSERT_NEAR(distance_of(UNKNOWNS, x, want_x), 0, 1e-11 * norm_of(UNKNOWNS, want_x));
    free(val);
}

static void is_as_defined(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    for (int32_t directions = RANDOM_DIRECTIONS; directions <= 3; directions++)
        for (int k = 0; k < 4; k++) {
            random_settings make = {ROWS, 50, 0.4, directions, k % 2, 0.1, (uint64_t)(directions + 10 * k)};
            random_system s = random_system_create(ctx, &make);
            test_random r = {1};
            if (k >= 2) random_add_skew(&s.A, &r, 0.05);
            check_system(ctx, &s, k < 2);
            random_system_destroy(&s);
        }
    drape_context_destroy(ctx);
}

/* Without constraints it is A and b, to the bit; rhs may be left out; y is left alone. */
static void without_constraints(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    random_settings make = {ROWS, 50, 0, 0, false, 0, 1};
    random_system s = random_system_create(ctx, &make);
    size_t bytes = 9 * (size_t)s.A.rowptr[ROWS] * sizeof(double);
    double *val = dense_new(9 * s.A.rowptr[ROWS]), rhs[UNKNOWNS];
    for (int k = 0; k < 2; k++) {
        drape_problem problem = {.A = &s.A, .b = s.b, .constraints = k ? s.set : NULL};
        ASSERT_OK(ctx, drape_prefilter(ctx, &problem, val, rhs));
        assert_memory_equal(val, s.A.val, bytes);
        assert_memory_equal(rhs, s.b, sizeof rhs);
        drape_postfilter(problem.constraints, rhs);
        assert_memory_equal(rhs, s.b, sizeof rhs);
        problem.b = NULL;
        ASSERT_OK(ctx, drape_prefilter(ctx, &problem, val, NULL));
    }
    free(val);
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

static void refusals(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    random_settings make = {ROWS, 50, 0.5, 1, true, 0, 1}, small = {3, 50, 0.5, 1, true, 0, 1};
    random_system s = random_system_create(ctx, &make), other = random_system_create(ctx, &small);
    double *val = dense_new(9 * s.A.rowptr[ROWS]), rhs[UNKNOWNS];
    drape_problem problem = {.A = &s.A, .b = s.b, .constraints = other.set}, missing = {.A = &s.A};
    assert_int_equal(drape_prefilter(ctx, &problem, val, rhs), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "3 vertices"));
    assert_int_equal(drape_prefilter(ctx, &missing, val, rhs), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_prefilter(ctx, &missing, NULL, NULL), DRAPE_ERROR_ARGUMENT);
    missing.A = NULL;
    assert_int_equal(drape_prefilter(ctx, &missing, val, NULL), DRAPE_ERROR_ARGUMENT);
    free(val);
    random_system_destroy(&s);
    random_system_destroy(&other);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

/* Row and column are named, the outputs stay as they were. */
static void matrices_that_lead_outside(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    int64_t rowptr[] = {0, 1, 2, 4};
    int32_t col[] = {0, 1, 0, 2};
    double A_val[36], val[36], rhs[9], b[9] = {0};
    for (int k = 0; k < 36; k++) A_val[k] = identity[k % 9];
    const drape_bsr3 A = {.rows = 3, .rowptr = rowptr, .col = col, .val = A_val};
    const drape_problem problem = {.A = &A, .b = b};
    memset(val, 0x11, sizeof val);
    const double before = val[0];
    static const int32_t wrong[] = {-1, 3, INT32_MIN, INT32_MAX};
    for (int k = 0; k < 4; k++) {
        char words[80];
        col[3] = wrong[k];
        snprintf(words, sizeof words, "row 2 of the matrix has a block in column %d;", wrong[k]);
        assert_int_equal(drape_prefilter(ctx, &problem, val, rhs), DRAPE_ERROR_ARGUMENT);
        assert_non_null(strstr(drape_message(ctx), words));
    }
    col[3] = 2;
    rowptr[2] = 1000000;
    assert_int_equal(drape_prefilter(ctx, &problem, val, rhs), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "row 1 of the matrix goes from block 1 to 1000000 of 4"));
    rowptr[2] = 0;
    assert_int_equal(drape_prefilter(ctx, &problem, val, rhs), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "row 1"));
    for (int k = 0; k < 36; k++) assert_true(val[k] == before);
    rowptr[2] = 2;
    ASSERT_OK(ctx, drape_prefilter(ctx, &problem, val, rhs));
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_as_defined),
        cmocka_unit_test(without_constraints),
        cmocka_unit_test(refusals),
        cmocka_unit_test(matrices_that_lead_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
