/* The builder against a dense matrix, in every order of adding. */
#include "drape/sparse.h"
#include "sparse/counting_allocator.h"

#include <math.h>
#include <string.h>

/* The scalar (i, j) of block rows; a block that is not there is zero. */
static double value_at(const drape_bsr3 *A, int64_t i, int64_t j) {
    for (int64_t k = A->rowptr[i / 3]; k < A->rowptr[i / 3 + 1]; k++)
        if (A->col[k] == j / 3) return A->val[9 * k + 3 * (i % 3) + j % 3];
    return 0;
}

static bool has_block(const drape_bsr3 *A, int32_t i, int32_t j) {
    for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
        if (A->col[k] == j) return true;
    return false;
}

/* Random entries, many repeated; the dense sum is made in the same order, so equality is to the bit. */
static void check_random(int64_t rows, int adds, uint64_t seed) {
    drape_context *ctx = test_context(1);
    test_random random = {seed};
    drape_builder *b;
    drape_matrix *m;
    double *dense = calloc((size_t)(rows * rows) + 1, sizeof *dense);
    bool *there = calloc((size_t)(rows * rows) + 1, sizeof *there);
    int64_t entries = 0;
    ASSERT_OK(ctx, drape_builder_create(ctx, rows, &b));
    for (int k = 0; k < adds; k++) {
        int64_t i = test_random_below(&random, (int32_t)rows), j = test_random_below(&random, (int32_t)rows);
        double value = test_random_between(&random, -1, 1);
        ASSERT_OK(ctx, drape_builder_add(b, i, j, value));
        dense[i * rows + j] += value;
        entries += !there[i * rows + j];
        there[i * rows + j] = true;
    }
    assert_int_equal(drape_builder_rows(b), rows);
    assert_int_equal(drape_builder_entries(b), entries);
    ASSERT_OK(ctx, drape_builder_finish(b, &m));
    drape_bsr3 A = drape_matrix_view(m);
    ASSERT_OK(ctx, drape_bsr3_check(ctx, &A));
    assert_int_equal(A.rows, (rows + 2) / 3);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < rows; j++) assert_true(value_at(&A, i, j) == dense[i * rows + j]);
    for (int32_t i = 0; i < A.rows; i++)
        for (int32_t j = 0; j < A.rows; j++) {
            bool wanted = i == j;
            for (int k = 0; k < 9; k++) {
                int64_t r = 3 * i + k / 3, c = 3 * j + k % 3;
                wanted |= r < rows && c < rows && there[r * rows + c];
            }
            assert_int_equal(has_block(&A, i, j), wanted);
        }
    drape_matrix_destroy(m);
    drape_builder_destroy(b);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
    free(there);
    free(dense);
}

static void random_entries(void **state) {
    (void)state;
    for (int rows = 1; rows <= 10; rows++) check_random(rows, 3 * rows, (uint64_t)rows);
    check_random(100, 4000, 1);
    check_random(99, 60000, 2);
    check_random(4, 0, 3);
}

static void no_rows(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_builder *b;
    drape_matrix *m;
    ASSERT_OK(ctx, drape_builder_create(ctx, 0, &b));
    assert_int_equal(drape_builder_add(b, 0, 0, 1), DRAPE_ERROR_ARGUMENT);
    ASSERT_OK(ctx, drape_builder_finish(b, &m));
    drape_bsr3 A = drape_matrix_view(m);
    ASSERT_OK(ctx, drape_bsr3_check(ctx, &A));
    assert_int_equal(A.rows, 0);
    drape_matrix_destroy(m);
    drape_builder_destroy(b);
    drape_builder_destroy(NULL);
    drape_context_destroy(ctx);
}

/* Rows that are no multiple of three end with ones on the diagonal, and nothing beside them. */
static void continued_with_ones(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    for (int rows = 1; rows <= 9; rows++) {
        drape_builder *b;
        drape_matrix *m;
        ASSERT_OK(ctx, drape_builder_create(ctx, rows, &b));
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < rows; j++) ASSERT_OK(ctx, drape_builder_add(b, i, j, 7));
        ASSERT_OK(ctx, drape_builder_finish(b, &m));
        drape_bsr3 A = drape_matrix_view(m);
        for (int i = 0; i < 3 * A.rows; i++)
            for (int j = 0; j < 3 * A.rows; j++)
                assert_true(value_at(&A, i, j) == (i < rows && j < rows ? 7 : i == j ? 1 : 0));
        drape_matrix_destroy(m);
        drape_builder_destroy(b);
    }
    drape_context_destroy(ctx);
}

/* 1e16 + 1 - 1e16 is 0 in this order and 1 in the other. */
static void sums_in_order_of_calls(void **state) {
    (void)state;
    static const double orders[2][3] = {{1e16, 1, -1e16}, {1e16, -1e16, 1}};
    drape_context *ctx = test_context(1);
    for (int k = 0; k < 2; k++) {
        drape_builder *b;
        drape_matrix *m;
        ASSERT_OK(ctx, drape_builder_create(ctx, 3, &b));
        for (int i = 0; i < 3; i++) ASSERT_OK(ctx, drape_builder_add(b, 1, 2, orders[k][i]));
        ASSERT_OK(ctx, drape_builder_add(b, 0, 0, -0.0));
        ASSERT_OK(ctx, drape_builder_finish(b, &m));
        drape_bsr3 A = drape_matrix_view(m);
        assert_true(value_at(&A, 1, 2) == k);
        assert_true(signbit(value_at(&A, 0, 0)));
        assert_int_equal(drape_builder_entries(b), 2);
        drape_matrix_destroy(m);
        drape_builder_destroy(b);
    }
    drape_context_destroy(ctx);
}

/* A dense row, downwards and shuffled: the same as upwards, and quick (a quadratic way would take minutes). */
static drape_matrix *dense_row(drape_context *ctx, int32_t n, uint64_t stride) {
    drape_builder *b;
    drape_matrix *m;
    ASSERT_OK(ctx, drape_builder_create(ctx, n, &b));
    for (int64_t k = 0; k < n; k++) {
        int64_t j = (int64_t)((uint64_t)k * stride % (uint64_t)n);
        ASSERT_OK(ctx, drape_builder_add(b, 1, j, (double)j));
    }
    assert_int_equal(drape_builder_entries(b), n);
    ASSERT_OK(ctx, drape_builder_finish(b, &m));
    drape_builder_destroy(b);
    return m;
}

static void any_order_is_cheap(void **state) {
    (void)state;
    enum { N = 200001 }; /* coprime with the stride 77773 */
    drape_context *ctx = test_context(1);
    drape_matrix *up = dense_row(ctx, N, 1);
    drape_bsr3 A = drape_matrix_view(up);
    for (int which = 0; which < 2; which++) {
        drape_matrix *other = dense_row(ctx, N, which ? N - 1 : 77773);
        drape_bsr3 B = drape_matrix_view(other);
        int64_t blocks = A.rowptr[A.rows];
        assert_int_equal(blocks, B.rowptr[B.rows]);
        assert_memory_equal(A.col, B.col, (size_t)blocks * sizeof *A.col);
        assert_memory_equal(A.val, B.val, 9 * (size_t)blocks * sizeof *A.val);
        drape_matrix_destroy(other);
    }
    for (int64_t j = 0; j < N; j++) assert_true(A.val[9 * (j / 3) + 3 + j % 3] == (double)j);
    drape_matrix_destroy(up);
    drape_context_destroy(ctx);
}

static void expect_refusal(drape_context *ctx, drape_status status, const char *fragment) {
    assert_int_equal(status, DRAPE_ERROR_ARGUMENT);
    if (!strstr(drape_message(ctx), fragment)) fail_msg("'%s' lacks '%s'", drape_message(ctx), fragment);
}

static void refusals(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_builder *b;
    expect_refusal(ctx, drape_builder_create(ctx, -1, &b), "-1 rows");
    assert_null(b);
    expect_refusal(ctx, drape_builder_create(ctx, INT64_C(3) * INT32_MAX + 1, &b), "6442450942 rows");
    ASSERT_OK(ctx, drape_builder_create(ctx, 5, &b));
    expect_refusal(ctx, drape_builder_add(b, 5, 2, 1), "row 5, column 2: outside a matrix of 5");
    expect_refusal(ctx, drape_builder_add(b, -1, 2, 1), "row -1, column 2");
    expect_refusal(ctx, drape_builder_add(b, 2, 5, 1), "row 2, column 5");
    expect_refusal(ctx, drape_builder_add(b, 2, INT64_MIN, 1), "row 2, column -9223372036854775808");
    expect_refusal(ctx, drape_builder_add(b, 3, 4, NAN), "row 3, column 4: the value is not finite");
    expect_refusal(ctx, drape_builder_add(b, 3, 4, -INFINITY), "row 3, column 4: the value is not finite");
    assert_int_equal(drape_builder_entries(b), 0);
    ASSERT_OK(ctx, drape_builder_add(b, 3, 4, 1e308));
    expect_refusal(ctx, drape_builder_add(b, 3, 4, 1e308), "row 3, column 4: the sum is not finite");
    ASSERT_OK(ctx, drape_builder_add(b, 3, 4, -1e308));
    drape_matrix *m;
    ASSERT_OK(ctx, drape_builder_finish(b, &m));
    drape_bsr3 A = drape_matrix_view(m);
    assert_true(value_at(&A, 3, 4) == 0);
    drape_matrix_destroy(m);
    drape_builder_destroy(b);
    drape_context_destroy(ctx);
}

/* Downwards, so that tails are merged. */
static drape_status build(drape_context *ctx) {
    drape_builder *b;
    drape_matrix *m = NULL;
    drape_status status = drape_builder_create(ctx, 100, &b);
    if (status) return status;
    for (int64_t i = 0; !status && i < 4; i++)
        for (int64_t j = 99; !status && j >= 0; j--) status = drape_builder_add(b, i, j, 1);
    if (!status) status = drape_builder_finish(b, &m);
    drape_matrix_destroy(m);
    drape_builder_destroy(b);
    return status;
}

static void failing_allocations(void **state) {
    (void)state;
    for (int64_t n = 0;; n++) {
        counting_allocator memory = {.left = n};
        drape_context *ctx = counting_context(&memory);
        drape_status status = build(ctx);
        assert_int_equal(status, memory.failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
        assert_int_equal(drape_context_bytes(ctx), 0);
        drape_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
        if (!memory.failed) {
            assert_true(n > 20);
            return;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_entries),      cmocka_unit_test(no_rows),
        cmocka_unit_test(continued_with_ones), cmocka_unit_test(sums_in_order_of_calls),
        cmocka_unit_test(any_order_is_cheap),  cmocka_unit_test(refusals),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
