/* y = A x against a sum in long double; the same bits always; and not a byte read past the end of an array. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "sparse/multiply.h"
#include "support/testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LONGEST_ROW = 40 };

static const double ROUNDING = 0x1p-53;

typedef struct product {
    drape_bsr3 A;
    int64_t *rowptr;
    int32_t *col;
    double *x, *y;
} product;

/* Of so many different columns, in increasing order, the last one always among them: it has the last x. */
static void random_columns(test_random *r, int32_t rows, int32_t count, int32_t *col) {
    int32_t wanted = count;
    for (int32_t j = 0; j < rows && wanted > 0; j++)
        if (j == rows - 1 || test_random_below(r, rows - 1 - j) < wanted - 1) {
            *col++ = j;
            wanted--;
        }
    assert_int_equal(wanted, 0);
}

/* Row i has i modulo 41 blocks. The arrays come from `take`; numbers of many magnitudes. */
static product random_product(test_random *r, int32_t rows, void *(*take)(size_t bytes)) {
    product p = {.rowptr = take(((size_t)rows + 1) * sizeof *p.rowptr)};
    p.rowptr[0] = 0;
    for (int32_t i = 0; i < rows; i++) {
        int32_t count = (rows - 1 - i) % (LONGEST_ROW + 1) + (i == rows - 1);
        p.rowptr[i + 1] = p.rowptr[i] + (count < rows ? count : rows);
    }
    int64_t blocks = p.rowptr[rows];
    p.col = take((size_t)blocks * sizeof *p.col);
    p.A = (drape_bsr3){rows, p.rowptr, p.col, take(9 * (size_t)blocks * sizeof(double))};
    p.x = take(3 * (size_t)rows * sizeof *p.x);
    p.y = take(3 * (size_t)rows * sizeof *p.y);
    for (int32_t i = 0; i < rows; i++)
        random_columns(r, rows, (int32_t)(p.rowptr[i + 1] - p.rowptr[i]), p.col + p.rowptr[i]);
    for (int64_t k = 0; k < 9 * blocks; k++)
        p.A.val[k] = ldexp(test_random_between(r, -1, 1), test_random_below(r, 40) - 20);
    for (int64_t i = 0; i < 3 * (int64_t)rows; i++)
        p.x[i] = ldexp(test_random_between(r, -1, 1), test_random_below(r, 40) - 20);
    return p;
}

static void *from_heap(size_t bytes) {
    void *memory = calloc(bytes + 1, 1);
    assert_non_null(memory);
    return memory;
}

static void free_product(product *p) {
    free(p->rowptr);
    free(p->col);
    free(p->A.val);
    free(p->x);
    free(p->y);
}

/* A sum of k products and two more additions: |error| <= (k + 2) u sum |a| |x|, and a bit for u^2. */
static void check_product(const product *p) {
    for (int32_t i = 0; i < p->A.rows; i++)
        for (int r = 0; r < 3; r++) {
            long double sum = 0, size = 0;
            for (int64_t k = p->rowptr[i]; k < p->rowptr[i + 1]; k++)
                for (int c = 0; c < 3; c++) {
                    long double term = (long double)p->A.val[9 * k + 3 * r + c] * p->x[3 * p->col[k] + c];
                    sum += term;
                    size += fabsl(term);
                }
            double blocks = (double)(p->rowptr[i + 1] - p->rowptr[i]);
            ASSERT_NEAR(p->y[3 * i + r], (double)sum, (blocks + 3) * ROUNDING * 1.001 * (double)size);
        }
}

/* A context of so many threads and this level, or NULL where the processor lacks it. */
static drape_context *context_at(int32_t threads, drape_simd simd) {
    drape_context_settings settings = drape_context_defaults();
    drape_context *ctx;
    settings.threads = threads;
    settings.simd = simd;
    if (drape_context_create(&settings, &ctx) == DRAPE_OK) return ctx;
    if (threads == 1) print_message("no %s here: skipped\n", drape_simd_name(simd));
    return NULL;
}

static void agrees_with_long_double(void **state) {
    (void)state;
    for (int simd = DRAPE_SIMD_BASELINE; simd <= DRAPE_SIMD_AVX512; simd++) {
        drape_context *ctx = context_at(1, (drape_simd)simd);
        test_random r = {2};
        for (int32_t rows = 0; ctx && rows < 130; rows += rows < 12 ? 1 : 13) {
            product p = random_product(&r, rows, from_heap);
            ASSERT_OK(ctx, drape_bsr3_check(ctx, &p.A));
            memset(p.y, 0xff, 3 * (size_t)rows * sizeof *p.y); /* y is set, not added to */
            ASSERT_OK(ctx, drape_multiply(ctx, &p.A, p.x, p.y));
            check_product(&p);
            long double dot = 0, size = 0;
            double got = drape_i_multiply(ctx, &p.A, p.x, p.y);
            for (int32_t i = 0; i < 3 * rows; i++) {
                dot += (long double)p.x[i] * p.y[i];
                size += fabsl((long double)p.x[i] * p.y[i]);
            }
            ASSERT_NEAR(got, (double)dot, (3 * rows + 2) * ROUNDING * (double)size);
            free_product(&p);
        }
        drape_context_destroy(ctx);
    }
}

/* An empty row gives zeros, infinities and others go where they belong. */
static void special_values(void **state) {
    (void)state;
    int64_t rowptr[4] = {0, 1, 1, 2};
    int32_t col[2] = {2, 0};
    double val[18] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    double x[9] = {1, 1, 1, NAN, NAN, NAN, INFINITY, -2, 3}, y[9];
    drape_bsr3 A = {3, rowptr, col, val};
    for (int simd = DRAPE_SIMD_BASELINE; simd <= DRAPE_SIMD_AVX512; simd++) {
        drape_context *ctx = context_at(1, (drape_simd)simd);
        if (!ctx) continue;
        ASSERT_OK(ctx, drape_multiply(ctx, &A, x, y));
        assert_true(y[0] == INFINITY && isnan(y[1]) && isnan(y[2])); /* 0 times infinity */
        assert_true(y[3] == 0 && y[4] == 0 && y[5] == 0);
        assert_true(y[6] == 6 && y[7] == 15 && y[8] == 24);
        drape_context_destroy(ctx);
    }
}

static void threads_and_levels_change_no_bit(void **state) {
    (void)state;
    static const int32_t threads[] = {1, 2, 3, 7};
    enum { ROWS = 3000 };
    test_random r = {4};
    product p = random_product(&r, ROWS, from_heap);
    double *want = from_heap(3 * ROWS * sizeof *want), dot = 0;
    for (int simd = DRAPE_SIMD_BASELINE; simd <= DRAPE_SIMD_AVX512; simd++)
        for (int k = 0; k < 4; k++) {
            drape_context *ctx = context_at(threads[k], (drape_simd)simd);
            if (!ctx) continue;
            double got = drape_i_multiply(ctx, &p.A, p.x, p.y);
            if (simd == DRAPE_SIMD_BASELINE && k == 0) {
                memcpy(want, p.y, 3 * ROWS * sizeof *want);
                dot = got;
            }
            assert_memory_equal(p.y, want, 3 * ROWS * sizeof *want);
            assert_memory_equal(&got, &dot, sizeof dot);
            drape_context_destroy(ctx);
        }
    free_product(&p);
    free(want);
}

/* ---- Ends of arrays ---- */

/* The last byte stands right before a page that may be neither read nor written. Lives until the program ends. */
static void *before_a_wall(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page + 1;
    char *memory = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + pages * page, page, PROT_NONE), 0);
    return memory + pages * page - bytes;
}

static void reads_nothing_past_the_ends(void **state) {
    (void)state;
    for (int simd = DRAPE_SIMD_BASELINE; simd <= DRAPE_SIMD_AVX512; simd++) {
        drape_context *ctx = context_at(1, (drape_simd)simd);
        test_random r = {6};
        for (int32_t rows = 0; ctx && rows < 50; rows++) {
            product p = random_product(&r, rows, before_a_wall);
            if (rows) assert_int_equal(p.col[p.rowptr[rows] - 1], rows - 1);
            ASSERT_OK(ctx, drape_bsr3_check(ctx, &p.A));
            ASSERT_OK(ctx, drape_multiply(ctx, &p.A, p.x, p.y)); /* crashes where it does */
            check_product(&p);
        }
        drape_context_destroy(ctx);
    }
}

/* ---- Refusals ---- */

static void refusals(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    test_random r = {1};
    product p = random_product(&r, 3, from_heap);
    drape_bsr3 A = p.A;
    assert_int_equal(drape_multiply(ctx, &A, NULL, p.y), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_multiply(ctx, &A, p.x, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_multiply(ctx, &A, p.x, p.x), DRAPE_ERROR_ARGUMENT);
    A.rowptr = NULL;
    assert_int_equal(drape_multiply(ctx, &A, p.x, p.y), DRAPE_ERROR_ARGUMENT);
    A = p.A;
    A.col = NULL;
    assert_int_equal(drape_multiply(ctx, &A, p.x, p.y), DRAPE_ERROR_ARGUMENT);
    A = p.A;
    A.val = NULL;
    assert_int_equal(drape_multiply(ctx, &A, p.x, p.y), DRAPE_ERROR_ARGUMENT);
    A = p.A;
    A.rows = -1;
    assert_int_equal(drape_multiply(ctx, &A, p.x, p.y), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "multiply"));
    free_product(&p);
    drape_context_destroy(ctx);
}

static void expect_refusal(drape_context *ctx, const product *p, const char *words) {
    assert_int_equal(drape_multiply(ctx, &p->A, p->x, p->y), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "multiply"));
    if (!strstr(drape_message(ctx), words)) fail_msg("no \"%s\" in: %s", words, drape_message(ctx));
}

/* A wrong column anywhere in a row, in any lane of a vector, is found and named; the first one where there are two.
 * The matrix is larger than a piece that is checked at a time, its arrays end before a wall. */
static void columns_outside(void **state) {
    (void)state;
    enum { ROWS = 301 };
    static const int32_t wrong[] = {-1, INT32_MIN, ROWS, INT32_MAX, ROWS + 3};
    test_random r = {8};
    product p = random_product(&r, ROWS, before_a_wall);
    for (int simd = DRAPE_SIMD_BASELINE; simd <= DRAPE_SIMD_AVX512; simd++) {
        drape_context *ctx = context_at(1 + simd % 2, (drape_simd)simd);
        int32_t row = 0;
        for (int64_t k = 0; ctx && k < p.rowptr[ROWS]; k++) {
            char words[80];
            int32_t right = p.col[k], later = p.col[p.rowptr[ROWS] - 1];
            while (p.rowptr[row + 1] <= k) row++;
            p.col[p.rowptr[ROWS] - 1] = -7;
            p.col[k] = wrong[k % 5];
            snprintf(words, sizeof words, "row %d of the matrix has a block in column %d;", row, p.col[k]);
            expect_refusal(ctx, &p, words);
            p.col[p.rowptr[ROWS] - 1] = later;
            p.col[k] = right;
        }
        if (ctx) ASSERT_OK(ctx, drape_multiply(ctx, &p.A, p.x, p.y));
        drape_context_destroy(ctx);
    }
}

/* Offsets that run backwards or beyond the last; differences that overflow; a matrix without blocks, but with rows.
 */
static void offsets_outside(void **state) {
    (void)state;
    enum { ROWS = 301 };
    static const int64_t wrong[] = {-1, INT64_MIN, INT64_MAX, 1000000000};
    test_random r = {9};
    product p = random_product(&r, ROWS, before_a_wall);
    for (int simd = DRAPE_SIMD_BASELINE; simd <= DRAPE_SIMD_AVX512; simd++) {
        drape_context *ctx = context_at(1, (drape_simd)simd);
        for (int32_t i = 1; ctx && i < ROWS; i++) {
            char words[80];
            int64_t right = p.rowptr[i];
            p.rowptr[i] = i % 5 == 4 ? p.rowptr[ROWS] + 1 : wrong[i % 5];
            snprintf(words, sizeof words, "row %d of the matrix goes from block", i - 1);
            expect_refusal(ctx, &p, words);
            p.rowptr[i] = right;
        }
        int64_t first = p.rowptr[0], last = p.rowptr[ROWS];
        p.rowptr[0] = 1;
        if (ctx) expect_refusal(ctx, &p, "starts with 1");
        p.rowptr[0] = first;
        p.rowptr[ROWS] = -1;
        if (ctx) expect_refusal(ctx, &p, "goes from block");
        p.rowptr[ROWS] = last;
        drape_context_destroy(ctx);
    }
    drape_context *ctx = test_context(1);
    int64_t none[3] = {0, 0, 0};
    double x[6] = {1, 1, 1, 1, 1, 1}, y[6] = {1, 1, 1, 1, 1, 1};
    const drape_bsr3 empty = {2, none, NULL, NULL};
    ASSERT_OK(ctx, drape_multiply(ctx, &empty, x, y));
    for (int k = 0; k < 6; k++) assert_true(y[k] == 0);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_long_double),
        cmocka_unit_test(special_values),
        cmocka_unit_test(threads_and_levels_change_no_bit),
        cmocka_unit_test(reads_nothing_past_the_ends),
        cmocka_unit_test(refusals),
        cmocka_unit_test(columns_outside),
        cmocka_unit_test(offsets_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
