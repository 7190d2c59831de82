/* Vectors from files: Matrix Market in both formats, raw doubles; what is refused and in which words. */
#include "drape/sparse.h"
#include "sparse/counting_allocator.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ARRAY      "%%MatrixMarket matrix array real general\n"
#define COORDINATE "%%MatrixMarket matrix coordinate real general\n"

enum { COUNT = 3 };

static drape_status parse(drape_context *ctx, const char *text, double *out) {
    return drape_vector_parse(ctx, "b.mtx", text, (int64_t)strlen(text), COUNT, out);
}

static void expect_values(const char *text, double a, double b, double c) {
    drape_context *ctx = test_context(1);
    double x[COUNT] = {NAN, NAN, NAN}, want[COUNT] = {a, b, c};
    ASSERT_OK(ctx, parse(ctx, text, x));
    for (int i = 0; i < COUNT; i++)
        if (x[i] != want[i]) fail_msg("number %d is %.17g, not %.17g, in\n%s", i, x[i], want[i], text);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void all_kinds_are_read(void **state) {
    (void)state;
    expect_values(ARRAY "3 1\n1\n-2.5\n4e3\n", 1, -2.5, 4000);
    expect_values(ARRAY "% c\n\n 3 1 \r\n1.\n% c\n-25d-1\n+4.D+3", 1, -2.5, 4000);
    expect_values("%%matrixmarket MATRIX Array INTEGER General\n3 1\n1\n-2\n+3\n", 1, -2, 3);
    expect_values(COORDINATE "3 1 3\n3 1 4e3\n1 1 1\n2 1 -2.5\n", 1, -2.5, 4000);
    expect_values(COORDINATE "3 1 3\n2 1 .25\n2 1 .5\n3 1 1e-300\n", 0, 0.75, 1e-300);
    expect_values(COORDINATE "3 1 0\n", 0, 0, 0);
}

static void doubles_are_read(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    const double bits[COUNT] = {-0.0, DBL_MAX, 0x1p-1074};
    double x[COUNT];
    ASSERT_OK(ctx, drape_vector_parse(ctx, "b.bin", bits, sizeof bits, COUNT, x));
    assert_memory_equal(x, bits, sizeof bits);
    ASSERT_OK(ctx, drape_vector_parse(ctx, "b.bin", NULL, 0, 0, NULL));
    ASSERT_OK(ctx, drape_vector_parse(ctx, "b.mtx", ARRAY "0 1\n", sizeof ARRAY "0 1\n" - 1, 0, NULL));
    drape_context_destroy(ctx);
}

typedef struct refusal {
    const char *text, *message;
} refusal;

static const refusal refusals[] = {
    {"", "b.mtx: no Matrix Market file, and 0 bytes are not 3 doubles"},
    {"1 2 3\n", "b.mtx: no Matrix Market file, and 6 bytes are not 3 doubles"},
    {"%%MatrixMarke matrix", "b.mtx: no Matrix Market file, and 20 bytes"},
    {"%%MatrixMarkets matrix array real general\n3 1\n1\n2\n3\n", "b.mtx:1: does not begin"},
    {"%%MatrixMarket", "b.mtx:1: object ''"},
    {"%%MatrixMarket vector array real general\n", "b.mtx:1: object 'vector'"},
    {"%%MatrixMarket matrix dense real general\n", "b.mtx:1: format 'dense' cannot be read, only array and coord"},
    {"%%MatrixMarket matrix array complex general\n", "b.mtx:1: field 'complex'"},
    {"%%MatrixMarket matrix coordinate pattern general\n", "b.mtx:1: field 'pattern'"},
    {"%%MatrixMarket matrix array real symmetric\n", "b.mtx:1: symmetry 'symmetric' cannot be read, only general"},
    {"%%MatrixMarket matrix array real general x\n", "b.mtx:1: unexpected 'x'"},
    {ARRAY, "b.mtx:1: the file ends before the line of sizes"},
    {ARRAY "3\n", "b.mtx:2: the line ends before the number of columns"},
    {ARRAY "3 1 3\n", "b.mtx:2: unexpected '3'"},
    {ARRAY "2 1\n1\n2\n", "b.mtx:2: 2 rows and 1 columns; expected 3 rows and one column"},
    {ARRAY "3 2\n", "b.mtx:2: 3 rows and 2 columns; expected 3 rows"},
    {ARRAY "1 3\n", "b.mtx:2: 1 rows and 3 columns"},
    {ARRAY "99999999999999999999 1\n", "b.mtx:2: 9223372036854775807 rows"},
    {ARRAY "-3 1\n", "b.mtx:2: '-3' is not a number of rows"},
    {ARRAY "3 1\n1\n2\n", "b.mtx:4: the file ends after 2 of 3 numbers"},
    {ARRAY "3 1\n1\n2\n3\n4\n", "b.mtx:6: more than the 3 numbers promised"},
    {ARRAY "3 1\n1 2\n3\n", "b.mtx:3: unexpected '2'"},
    {ARRAY "3 1\n1\nnan\n3\n", "b.mtx:4: 'nan' is not a decimal number"},
    {ARRAY "3 1\n1\n-inf\n3\n", "b.mtx:4: '-inf' is not a decimal number"},
    {ARRAY "3 1\n1\n1e999\n3\n", "b.mtx:4: '1e999' is beyond the range of a double"},
    {ARRAY "3 1\n1\n1,5\n3\n", "b.mtx:4: '1,5' is not a decimal number"},
    {"%%MatrixMarket matrix array integer general\n3 1\n1\n1.5\n3\n", "b.mtx:4: '1.5' is not a whole number"},
    {COORDINATE "3 1\n", "b.mtx:2: the line ends before the number of entries"},
    {COORDINATE "3 1 1\n0 1 1\n", "b.mtx:3: entry (0, 1) is outside a vector of 3"},
    {COORDINATE "3 1 1\n4 1 1\n", "b.mtx:3: entry (4, 1) is outside a vector of 3"},
    {COORDINATE "3 1 1\n1 2 1\n", "b.mtx:3: entry (1, 2) is outside a vector of 3"},
    {COORDINATE "3 1 1\n1 1\n", "b.mtx:3: the line ends before the value"},
    {COORDINATE "3 1 2\n1 1 1e308\n1 1 1e308\n", "b.mtx:4: the entries of row 1 add up beyond"},
    {COORDINATE "3 1 99999999999999999999\n1 1 1\n", "b.mtx:3: the file ends after 1 of 9223372036854775807"},
};

static void malformed_files_are_refused(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
        counting_allocator memory = {.left = -1};
        drape_context *ctx = counting_context(&memory);
        double x[COUNT];
        drape_status status = parse(ctx, refusals[k].text, x);
        if (status != DRAPE_ERROR_FORMAT || !strstr(drape_message(ctx), refusals[k].message))
            fail_msg("%s: '%s' lacks '%s' for\n%s", drape_status_name(status), drape_message(ctx),
                     refusals[k].message, refusals[k].text);
        assert_true(memory.peak < 1 << 14); /* the context alone */
        drape_context_destroy(ctx);
    }
}

static void doubles_that_are_refused(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    double bits[COUNT + 1] = {1, 2, 3, 4}, x[COUNT];
    assert_int_equal(drape_vector_parse(ctx, "b", bits, sizeof bits, COUNT, x), DRAPE_ERROR_FORMAT);
    assert_string_equal(drape_message(ctx), "b: no Matrix Market file, and 32 bytes are not 3 doubles");
    assert_int_equal(drape_vector_parse(ctx, "b", bits, 8 * COUNT + 1, COUNT, x), DRAPE_ERROR_FORMAT);
    assert_int_equal(drape_vector_parse(ctx, "b", bits, 8 * COUNT - 1, COUNT, x), DRAPE_ERROR_FORMAT);
    bits[1] = NAN;
    assert_int_equal(drape_vector_parse(ctx, "b", bits, 8 * COUNT, COUNT, x), DRAPE_ERROR_FORMAT);
    assert_string_equal(drape_message(ctx), "b: number 2 of 3 is not finite");
    bits[1] = -INFINITY;
    assert_int_equal(drape_vector_parse(ctx, "b", bits, 8 * COUNT, COUNT, x), DRAPE_ERROR_FORMAT);
    assert_int_equal(drape_vector_parse(ctx, "b", bits, -1, COUNT, x), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_vector_parse(ctx, "b", NULL, 8, COUNT, x), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_vector_parse(ctx, "b", bits, 8 * COUNT, -1, x), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_vector_parse(ctx, "b", bits, 8 * COUNT, COUNT, NULL), DRAPE_ERROR_ARGUMENT);
    drape_context_destroy(ctx);
}

/* Where a file that ends there still says something whole. */
static size_t last_digit(const char *text) { return strlen(text) - 1; }

/* Every cut and every flipped bit of a good file, without a byte after it: the sanitizer watches. */
static void truncated_and_changed(void **state) {
    (void)state;
    static const char *const good[] = {ARRAY "% c\n3 1\n1.5\n-2\n-3\n", COORDINATE "3 1 2\n1 1 1.5\n3 1 -2\n"};
    drape_context *ctx = test_context(1);
    for (size_t g = 0; g < 2; g++)
        for (size_t cut = 0, size = strlen(good[g]); cut <= size; cut++)
            for (int bit = -1; bit < 8; bit++) {
                char *copy = malloc(cut ? cut : 1);
                double x[COUNT];
                memcpy(copy, good[g], cut);
                if (bit >= 0 && cut) copy[cut * 7 / 11] ^= (char)(1 << bit);
                drape_status status = drape_vector_parse(ctx, "cut", copy, (int64_t)cut, COUNT, x);
                assert_true(status == DRAPE_OK || status == DRAPE_ERROR_FORMAT);
                if (bit < 0) assert_true((status == DRAPE_OK) == (cut >= last_digit(good[g]))); /* a newline may go */
                free(copy);
            }
    drape_context_destroy(ctx);
}

static void files(void **state) {
    (void)state;
    char path[64];
    drape_context *ctx = test_context(1);
    const double want[COUNT] = {1, 2, 3};
    double x[COUNT];
    snprintf(path, sizeof path, "/tmp/drape-test-%ld.bin", (long)getpid());
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(want, sizeof *want, COUNT, file);
    fclose(file);
    ASSERT_OK(ctx, drape_vector_read(ctx, path, COUNT, x));
    assert_memory_equal(x, want, sizeof want);
    unlink(path);
    assert_int_equal(drape_vector_read(ctx, path, COUNT, x), DRAPE_ERROR_IO);
    assert_int_equal(drape_vector_read(ctx, "/tmp", COUNT, x), DRAPE_ERROR_IO);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_are_read),          cmocka_unit_test(doubles_are_read),
        cmocka_unit_test(malformed_files_are_refused), cmocka_unit_test(doubles_that_are_refused),
        cmocka_unit_test(truncated_and_changed),       cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
