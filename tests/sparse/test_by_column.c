/* Sorting by columns: against one plain pass, whatever the threads and the parts. */
#include "support/testing.h"

#include "sparse/by_column.h"

#include <stdlib.h>

enum { MOST_IN_A_ROW = 5 };

typedef struct sample {
    drape_i_entries entries;
    int64_t *start;
    int32_t *count, *col;
} sample;

/* Rows of 0 to 5 entries, some of them left out; where `short_rows`, the last ones of a row do not count. */
static sample make_sample(int32_t rows, int32_t cols, bool short_rows, uint64_t seed) {
    test_random random = {seed};
    sample s = {.start = test_calloc((size_t)rows + 1, sizeof *s.start),
                .count = test_calloc((size_t)rows + 1, sizeof *s.count),
                .col = test_calloc((size_t)rows * MOST_IN_A_ROW + 1, sizeof *s.col)};
    for (int32_t i = 0; i < rows; i++) {
        int32_t here = test_random_below(&random, MOST_IN_A_ROW + 1);
        s.start[i + 1] = s.start[i] + here;
        s.count[i] = test_random_below(&random, here + 1);
        for (int64_t k = s.start[i]; k < s.start[i + 1]; k++)
            s.col[k] = test_random_below(&random, 7) == 0 ? -1 : test_random_below(&random, cols);
    }
    s.entries = (drape_i_entries){rows, cols, s.start, short_rows ? s.count : NULL, s.col};
    return s;
}

static void free_sample(sample *s) {
    test_free(s->start);
    test_free(s->count);
    test_free(s->col);
}

/* Each column in turn looks for its entries. */
static void check_sorted(const drape_i_entries *e, bool within, const int64_t *first, const int32_t *row,
                         const int32_t *entry) {
    int64_t at = 0;
    for (int32_t j = 0; j < e->cols; j++) {
        assert_int_equal(first[j], at);
        for (int32_t i = 0; i < e->rows; i++) {
            int64_t begin = e->start ? e->start[i] : i;
            int64_t end = e->count ? begin + e->count[i] : e->start ? e->start[i + 1] : i + 1;
            for (int64_t k = begin; k < end; k++) {
                if (e->col[k] != j) continue;
                assert_int_equal(row[at], i);
                assert_int_equal(entry[at], within ? k - begin : k);
                at++;
            }
        }
    }
    assert_int_equal(first[e->cols], at);
}

static void sort_and_check(drape_context *ctx, const drape_i_entries *e, bool within) {
    drape_i_by_column by;
    int64_t *first = test_calloc((size_t)e->cols + 1, sizeof *first);
    assert_int_equal(drape_i_by_column_count(ctx, e, first, &by), DRAPE_OK);
    int32_t *row = test_calloc((size_t)first[e->cols] + 1, sizeof *row);
    int32_t *entry = test_calloc((size_t)first[e->cols] + 1, sizeof *entry);
    drape_i_by_column_sort(ctx, &by, within, row, entry);
    check_sorted(e, within, first, row, entry);
    test_free(first);
    test_free(row);
    test_free(entry);
}

static void test_equals_one_plain_pass(void **state) {
    (void)state;
    static const int32_t rows[] = {0, 1, 7, 1023, 2048, 4097, 9001};
    for (int32_t threads = 1; threads <= 3; threads++) {
        drape_context *ctx = test_context(threads);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            for (int32_t form = 0; form < 4; form++) {
                sample s = make_sample(rows[i], 1 + rows[i] / 300, form % 2 == 1, 17 * i + 5);
                sort_and_check(ctx, &s.entries, form >= 2);
                free_sample(&s);
            }
        drape_context_destroy(ctx);
    }
}

static void test_one_entry_a_row(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    sample s = make_sample(3000, 11, false, 3);
    for (int32_t i = 0; i < 3000; i++) s.col[i] = i % 13 == 0 ? -1 : i % 11;
    s.entries.start = NULL;
    sort_and_check(ctx, &s.entries, false);
    free_sample(&s);
    drape_context_destroy(ctx);
}

static void test_nothing_stays_after_giving_up(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    sample s = make_sample(50, 4, false, 9);
    int64_t first[5], before = ctx->bytes;
    drape_i_by_column by;
    assert_int_equal(drape_i_by_column_count(ctx, &s.entries, first, &by), DRAPE_OK);
    drape_i_by_column_free(ctx, &by);
    assert_int_equal(ctx->bytes, before);
    free_sample(&s);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equals_one_plain_pass),
        cmocka_unit_test(test_one_entry_a_row),
        cmocka_unit_test(test_nothing_stays_after_giving_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
