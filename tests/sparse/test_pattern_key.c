/* The key that tells patterns apart, and the measure of asymmetry. */
#include "sparse/matrix.h"
#include "support/testing.h"

#include <string.h>

enum { ROWS = 5, MOST = ROWS * ROWS };

typedef struct pattern {
    int64_t rowptr[ROWS + 1];
    int32_t col[MOST];
    double val[9 * MOST];
    drape_bsr3 A;
} pattern;

/* Row i has the columns whose bits are set in mask[i]. */
static void make_pattern(pattern *p, const uint32_t mask[ROWS]) {
    memset(p, 0, sizeof *p);
    for (int i = 0; i < ROWS; i++) {
        p->rowptr[i + 1] = p->rowptr[i];
        for (int32_t j = 0; j < ROWS; j++)
            if (mask[i] >> j & 1) p->col[p->rowptr[i + 1]++] = j;
    }
    p->A = (drape_bsr3){ROWS, p->rowptr, p->col, p->val};
}

static void random_masks(test_random *r, uint32_t mask[ROWS]) {
    for (int i = 0; i < ROWS; i++) mask[i] = (uint32_t)test_random_below(r, 1 << ROWS);
}

static bool same_key(drape_i_pattern_key a, drape_i_pattern_key b) {
    return a.rows == b.rows && a.blocks == b.blocks && a.rowptr == b.rowptr && a.col == b.col;
}

/* Every block moved to every free column of its row: as many blocks, the same rowptr, other columns. Every block
 * moved to another row. Odd and even numbers of blocks come up alike. */
static void different_patterns(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    test_random r = {1};
    static pattern p, q;
    for (int trial = 0; trial < 300; trial++) {
        uint32_t mask[ROWS], other[ROWS];
        random_masks(&r, mask);
        make_pattern(&p, mask);
        drape_i_pattern_key key = drape_i_pattern_key_of(ctx, &p.A);
        assert_true(drape_i_pattern_is(ctx, &p.A, &key));
        for (int from = 0; from < MOST; from++)
            for (int to = 0; to < MOST; to++) {
                if (!(mask[from / ROWS] >> from % ROWS & 1) || mask[to / ROWS] >> to % ROWS & 1) continue;
                memcpy(other, mask, sizeof other);
                other[from / ROWS] &= ~(1u << from % ROWS);
                other[to / ROWS] |= 1u << to % ROWS;
                make_pattern(&q, other);
                assert_false(drape_i_pattern_is(ctx, &q.A, &key));
                assert_false(same_key(drape_i_pattern_key_of(ctx, &q.A), key));
            }
    }
    drape_context_destroy(ctx);
}

/* One block more or less, one row more or less, no columns: all are seen. */
static void other_sizes(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    static pattern p;
    const uint32_t mask[ROWS] = {3, 7, 6, 8, 16};
    make_pattern(&p, mask);
    drape_i_pattern_key key = drape_i_pattern_key_of(ctx, &p.A), none = {.rows = -1};
    assert_false(drape_i_pattern_is(ctx, &p.A, &none));
    p.A.rows--;
    assert_false(drape_i_pattern_is(ctx, &p.A, &key));
    p.A.rows++;
    p.rowptr[ROWS]++;
    assert_false(drape_i_pattern_is(ctx, &p.A, &key));
    p.rowptr[ROWS]--;
    p.A.col = NULL;
    assert_false(drape_i_pattern_is(ctx, &p.A, &key));
    p.A.col = p.col;
    assert_true(drape_i_pattern_is(ctx, &p.A, &key));
    drape_context_destroy(ctx);
}

/* Long enough to be cut in pieces: any number of threads, and every place counts. */
static void threads_and_places(void **state) {
    (void)state;
    enum { LONG = 100001 };
    static int64_t rowptr[LONG + 1];
    static int32_t col[LONG];
    drape_context *one = test_context(1), *three = test_context(3);
    drape_bsr3 A = {LONG, rowptr, col, NULL};
    test_random r = {3};
    for (int i = 0; i < LONG; i++) rowptr[i + 1] = i + 1, col[i] = i;
    drape_i_pattern_key key = drape_i_pattern_key_of(one, &A);
    assert_true(same_key(key, drape_i_pattern_key_of(three, &A)));
    for (int trial = 0; trial < 200; trial++) {
        int32_t at = trial == 0 ? LONG - 1 : trial == 1 ? 0 : test_random_below(&r, LONG), before = col[at];
        col[at] = (before + 1 + test_random_below(&r, LONG - 1)) % LONG;
        assert_false(drape_i_pattern_is(three, &A, &key));
        col[at] = before;
        if (at == 0) continue;
        rowptr[at]--;
        assert_false(drape_i_pattern_is(three, &A, &key));
        rowptr[at]++;
    }
    assert_true(drape_i_pattern_is(three, &A, &key));
    drape_context_destroy(one);
    drape_context_destroy(three);
}

/* ---- Asymmetry ---- */

/* 0 of a symmetric matrix; one entry off by d counts as d over the larger of the two diagonal blocks, and is found.
 */
static void asymmetry(void **state) {
    (void)state;
    static pattern p;
    const uint32_t mask[ROWS] = {3, 7, 6, 8, 16};
    int32_t row = -7, column = -7;
    make_pattern(&p, mask);
    for (int32_t i = 0; i < ROWS; i++)
        for (int64_t k = p.rowptr[i]; k < p.rowptr[i + 1]; k++)
            for (int e = 0; e < 9; e++) /* symmetric in (3i + row, 3j + column) */
                p.val[9 * k + e] =
                    p.col[k] == i && e % 4 == 0 ? 10 * (i + 1) : 1.0 / (3 * i + e / 3 + 3 * p.col[k] + e % 3 + 1);
    assert_true(drape_bsr3_asymmetry(&p.A, &row, &column) == 0);
    assert_true(drape_bsr3_asymmetry(&p.A, NULL, NULL) == 0);
    assert_int_equal(row, -7);
    p.val[9 * 3 + 1] += 0.5; /* block (1, 1): its own diagonal is 20 */
    ASSERT_NEAR(drape_bsr3_asymmetry(&p.A, &row, &column), 0.5 / 20, 1e-15);
    assert_true(row == 1 && column == 1);
    p.val[9 * 4 + 2] += 3; /* block (1, 2): the larger diagonal is 30 */
    ASSERT_NEAR(drape_bsr3_asymmetry(&p.A, &row, &column), 3.0 / 30, 1e-15);
    assert_true((row == 1 && column == 2) || (row == 2 && column == 1));
}

/* A block whose mirror image is not there counts whole; without diagonal blocks it is relative to itself. */
static void asymmetric_pattern(void **state) {
    (void)state;
    static pattern p;
    const uint32_t mask[ROWS] = {3, 2, 4, 8, 16}, none[ROWS] = {2, 0, 0, 0, 0};
    int32_t row, column;
    make_pattern(&p, mask);
    for (int k = 0; k < 6; k++)
        for (int d = 0; d < 3; d++) p.val[9 * k + 4 * d] = 8;
    ASSERT_NEAR(drape_bsr3_asymmetry(&p.A, &row, &column), 1, 0);
    assert_true(row == 0 && column == 1);
    make_pattern(&p, none);
    p.val[5] = 1e-30;
    ASSERT_NEAR(drape_bsr3_asymmetry(&p.A, NULL, NULL), 1, 0);
    p.val[5] = 0;
    ASSERT_NEAR(drape_bsr3_asymmetry(&p.A, NULL, NULL), 0, 0);
    p.A.rows = 0;
    ASSERT_NEAR(drape_bsr3_asymmetry(&p.A, NULL, NULL), 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(different_patterns), cmocka_unit_test(other_sizes),
        cmocka_unit_test(threads_and_places), cmocka_unit_test(asymmetry),
        cmocka_unit_test(asymmetric_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
