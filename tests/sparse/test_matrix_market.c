/* Matrix Market: what is read, what is refused and in which words, round trips to the bit. */
#include "drape/sparse.h"
#include "sparse/counting_allocator.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BANNER "%%MatrixMarket matrix coordinate "

static drape_status parse(drape_context *ctx, const char *text, drape_builder **out) {
    return drape_matrix_market_parse(ctx, "test.mtx", text, (int64_t)strlen(text), out);
}

static double value_at(const drape_bsr3 *A, int64_t i, int64_t j) {
    for (int64_t k = A->rowptr[i / 3]; k < A->rowptr[i / 3 + 1]; k++)
        if (A->col[k] == j / 3) return A->val[9 * k + 3 * (i % 3) + j % 3];
    return 0;
}

/* Reads text and finishes it. */
static drape_matrix *matrix_of(drape_context *ctx, const char *text) {
    drape_builder *b;
    drape_matrix *m;
    ASSERT_OK(ctx, parse(ctx, text, &b));
    ASSERT_OK(ctx, drape_builder_finish(b, &m));
    drape_builder_destroy(b);
    return m;
}

/* Text against its 3 by 3 values. */
static void expect_values(const char *text, const double want[9]) {
    drape_context *ctx = test_context(1);
    drape_matrix *m = matrix_of(ctx, text);
    drape_bsr3 A = drape_matrix_view(m);
    assert_int_equal(A.rows, 1);
    for (int k = 0; k < 9; k++)
        if (A.val[k] != want[k]) fail_msg("value %d is %.17g, not %.17g, in\n%s", k, A.val[k], want[k], text);
    drape_matrix_destroy(m);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void all_kinds_are_read(void **state) {
    (void)state;
    const double general[9] = {1, 0, 0, 0, 0, -2.5, 0, 0, 4e3}, symmetric[9] = {1, 0, 5, 0, 2, 0, 5, 0, 0};
    const double skew[9] = {0, -7, 0, 7, 0, 0, 0, 0, 0}, ones[9] = {1, 0, 1, 0, 0, 0, 1, 0, 0};
    expect_values(BANNER "real general\n3 3 3\n1 1 1\n2 3 -2.5\n3 3 4e3\n", general);
    expect_values(BANNER "real general\n3 3 3\n3 3 +4.D+3\n2 3 -25d-1\n1 1 1.", general);
    expect_values("%%matrixmarket MATRIX Coordinate REAL General\r\n% c\r\n\r\n3 3 3\r\n1 1 1\r\n\r\n"
                  "2 3 -2.5\r\n% c\r\n3 3 4e3\r\n",
                  general);
    expect_values(BANNER "real general\n%\n   %\n\n\t3\t3\t4  \n 1 1 .25 \n1 1 .75\n2 3 -2.5\n3 3 4000.0\n\n\n",
                  general);
    expect_values(BANNER "real symmetric\n3 3 3\n1 1 1\n3 1 5\n2 2 2\n", symmetric);
    expect_values(BANNER "integer symmetric\n3 3 3\n1 1 1\n3 1 +5\n2 2 2\n", symmetric);
    expect_values(BANNER "integer skew-symmetric\n3 3 1\n2 1 7\n", skew);
    expect_values(BANNER "pattern symmetric\n3 3 2\n1 1\n3 1\n", ones);
    expect_values(BANNER "pattern general\n3 3 3\n1 1\n3 1\n1 3\n", ones);
}

static void sizes_without_entries(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_builder *b;
    ASSERT_OK(ctx, parse(ctx, BANNER "real general\n0 0 0\n", &b));
    assert_int_equal(drape_builder_rows(b), 0);
    drape_builder_destroy(b);
    ASSERT_OK(ctx, parse(ctx, BANNER "real general\n7 7 0", &b));
    assert_int_equal(drape_builder_rows(b), 7);
    assert_int_equal(drape_builder_entries(b), 0);
    drape_builder_destroy(b);
    drape_context_destroy(ctx);
}

typedef struct refusal {
    const char *text, *message;
} refusal;

static const refusal refusals[] = {
    {"", "test.mtx:1: does not begin with %%MatrixMarket"},
    {"\n", "test.mtx:1: does not begin"},
    {"3 3 1\n1 1 1\n", "test.mtx:1: does not begin"},
    {"%%MatrixMarke matrix coordinate real general\n", "test.mtx:1: does not begin"},
    {"%%MatrixMarket", "test.mtx:1: object '' cannot be read, only matrix"},
    {"%%MatrixMarket vector coordinate real general\n", "test.mtx:1: object 'vector'"},
    {"%%MatrixMarket matrix array real general\n1 1\n1\n", "test.mtx:1: format 'array' cannot be read, only coord"},
    {"%%MatrixMarket matrix coord real general\n1 1\n1\n", "test.mtx:1: format 'coord'"},
    {BANNER "complex general\n1 1 1\n1 1 1 1\n", "test.mtx:1: field 'complex' cannot be read"},
    {BANNER "rea\x01l\x80 general\n", "test.mtx:1: field 'rea?l?'"},
    {BANNER "double-precision-numbers-of-many-digits general\n", "field 'double-precision-numbers-of-many...'"},
    {BANNER "real hermitian\n1 1 1\n1 1 1\n", "test.mtx:1: symmetry 'hermitian'"},
    {BANNER "real\n1 1 1\n1 1 1\n", "test.mtx:1: symmetry ''"},
    {BANNER "real general sorted\n1 1 1\n1 1 1\n", "test.mtx:1: unexpected 'sorted'"},
    {BANNER "pattern skew-symmetric\n2 2 1\n2 1\n", "test.mtx:1: a pattern cannot be skew-symmetric"},
    {BANNER "real general\n", "test.mtx:1: the file ends before the line of sizes"},
    {BANNER "real general\n% c\n\n", "test.mtx:3: the file ends before the line of sizes"},
    {BANNER "real general\n3 3\n", "test.mtx:2: the line ends before the number of entries"},
    {BANNER "real general\n3 3 1 1\n1 1 1\n", "test.mtx:2: unexpected '1'"},
    {BANNER "real general\n-3 3 1\n1 1 1\n", "test.mtx:2: '-3' is not a number of rows"},
    {BANNER "real general\n3 3.0 1\n1 1 1\n", "test.mtx:2: '3.0' is not a number of columns"},
    {BANNER "real general\n3 3 0x1\n1 1 1\n", "test.mtx:2: '0x1' is not a number of entries"},
    {BANNER "real general\n3 4 1\n1 1 1\n", "test.mtx:2: 3 rows and 4 columns: not square"},
    {BANNER "real general\n2000000000 2000000000 1\n1 1 1\n", "test.mtx:2: 2000000000 rows, but at most 65"},
    {BANNER "real general\n99999999999999999999999999 99999999999999999999999999 1\n1 1 1\n",
     "test.mtx:2: 9223372036854775807 rows"},
    {BANNER "real general\n3 3 2000000000\n1 1 1\n",
     "2000000000 entries, but the rest of the file can hold at most 2"},
    {BANNER "real general\n3 3 99999999999999999999\n1 1 1\n", "test.mtx:2: 9223372036854775807 entries"},
    {BANNER "real general\n3 3 1\n0 1 1\n", "test.mtx:3: entry (0, 1) is outside a matrix of 3"},
    {BANNER "real general\n3 3 1\n1 4 1\n", "test.mtx:3: entry (1, 4) is outside a matrix of 3"},
    {BANNER "real general\n3 3 1\n18446744073709551617 1 1\n", "test.mtx:3: entry (9223372036854775807, 1) is out"},
    {BANNER "real general\n3 3 1\n-1 1 1\n", "test.mtx:3: '-1' is not a row"},
    {BANNER "real general\n3 3 1\n1 x 1\n", "test.mtx:3: 'x' is not a column"},
    {BANNER "real general\n3 3 1\n1\n", "test.mtx:3: the line ends before the column"},
    {BANNER "real general\n3 3 1\n1 1\n", "test.mtx:3: the line ends before the value"},
    {BANNER "real general\n3 3 1\n1 1 1 1\n", "test.mtx:3: unexpected '1'"},
    {BANNER "pattern general\n3 3 1\n1 1 1\n", "test.mtx:3: unexpected '1'"},
    {BANNER "real general\n3 3 1\n1 1 nan\n", "test.mtx:3: 'nan' is not a decimal number"},
    {BANNER "real general\n3 3 1\n1 1 -inf\n", "test.mtx:3: '-inf' is not a decimal number"},
    {BANNER "real general\n3 3 1\n1 1 0x1p3\n", "test.mtx:3: '0x1p3' is not a decimal number"},
    {BANNER "real general\n3 3 1\n1 1 1,5\n", "test.mtx:3: '1,5' is not a decimal number"},
    {BANNER "real general\n3 3 1\n1 1 .\n", "test.mtx:3: '.' is not a decimal number"},
    {BANNER "real general\n3 3 1\n1 1 -\n", "test.mtx:3: '-' is not a decimal number"},
    {BANNER "real general\n3 3 1\n1 1 e5\n", "test.mtx:3: 'e5' is not a decimal number"},
    {BANNER "real general\n3 3 1\n1 1 1e\n", "test.mtx:3: '1e' is not a decimal number"},
    {BANNER "real general\n3 3 1\n1 1 1e+\n", "test.mtx:3: '1e+' is not a decimal number"},
    {BANNER "real general\n3 3 1\n1 1 1e5x\n", "test.mtx:3: '1e5x' is not a decimal number"},
    {BANNER "real general\n3 3 1\n1 1 1.2.3\n", "test.mtx:3: '1.2.3' is not a decimal number"},
    {BANNER "integer general\n3 3 1\n1 1 1.5\n", "test.mtx:3: '1.5' is not a whole number"},
    {BANNER "real general\n3 3 1\n1 1 1e309\n", "test.mtx:3: '1e309' is beyond the range of a double"},
    {BANNER "real general\n3 3 2\n1 1 1e308\n1 1 1e308\n", "test.mtx:4: the entries at (1, 1) add up beyond"},
    {BANNER "real symmetric\n3 3 1\n1 3 1\n", "test.mtx:3: entry (1, 3) is above the diagonal of a symmetric"},
    {BANNER "real skew-symmetric\n3 3 1\n1 3 1\n", "entry (1, 3) is not below the diagonal of a skew-symmetric"},
    {BANNER "real skew-symmetric\n3 3 1\n2 2 0\n", "entry (2, 2) is not below the diagonal of a skew-symmetric"},
    {BANNER "real general\n3 3 2\n1 1 1\n", "test.mtx:3: the file ends after 1 of 2 entries"},
    {BANNER "real general\n3 3 1\n1 1 1\n\n2 2 2\n", "test.mtx:5: more than the 1 entries announced"},
};

static void malformed_files_are_refused(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
        counting_allocator memory = {.left = -1};
        drape_context *ctx = counting_context(&memory);
        drape_builder *b;
        drape_status status = parse(ctx, refusals[k].text, &b);
        if (status != DRAPE_ERROR_FORMAT || !strstr(drape_message(ctx), refusals[k].message))
            fail_msg("%s: '%s' lacks '%s' for\n%s", drape_status_name(status), drape_message(ctx),
                     refusals[k].message, refusals[k].text);
        assert_null(b);
        assert_true(memory.peak < 1 << 14); /* the 1 kB of the context, and no claim believed */
        drape_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
    }
}

static void zero_bytes_are_no_end(void **state) {
    (void)state;
    static const char text[] = BANNER "real general\n3 3 1\n1 1 1\0002\n";
    drape_context *ctx = test_context(1);
    drape_builder *b;
    assert_int_equal(drape_matrix_market_parse(ctx, "x", text, sizeof text - 1, &b), DRAPE_ERROR_FORMAT);
    assert_string_equal(drape_message(ctx), "x:3: '1?2' is not a decimal number");
    drape_context_destroy(ctx);
}

static void bad_arguments(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_builder *b;
    assert_int_equal(drape_matrix_market_parse(ctx, "x", "%%", -1, &b), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_matrix_market_parse(ctx, "x", NULL, 5, &b), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_matrix_market_parse(ctx, "x", NULL, 0, &b), DRAPE_ERROR_FORMAT);
    assert_int_equal(drape_matrix_market_read(ctx, "/nonexistent/x.mtx", &b), DRAPE_ERROR_IO);
    assert_null(b);
    drape_context_destroy(ctx);
}

static const char valid[] = BANNER "real symmetric\n% c\n4 4 5\n1 1 1.5\n2 1 -.5\n3 3 2e1\n4 2 7\n4 4 1\n";

/* The byte after the text is off limits: an exact heap copy lets the sanitizer see it. */
static drape_status parse_exact(drape_context *ctx, const char *text, size_t size, drape_builder **out) {
    char *copy = malloc(size ? size : 1);
    memcpy(copy, text, size);
    drape_status status = drape_matrix_market_parse(ctx, "cut", copy, (int64_t)size, out);
    free(copy);
    return status;
}

static void truncated_and_changed(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_builder *b;
    size_t size = sizeof valid - 1;
    for (size_t cut = 0; cut <= size; cut++) {
        drape_status status = parse_exact(ctx, valid, cut, &b);
        assert_int_equal(status, cut < size - 1 ? DRAPE_ERROR_FORMAT : DRAPE_OK); /* the last newline may go */
        drape_builder_destroy(b);
    }
    for (size_t at = 0; at < size; at++)
        for (int bit = 0; bit < 8; bit++) {
            char text[sizeof valid];
            memcpy(text, valid, sizeof valid);
            text[at] = (char)(text[at] ^ 1 << bit);
            drape_status status = parse_exact(ctx, text, size, &b);
            assert_true(status == DRAPE_OK || status == DRAPE_ERROR_FORMAT);
            assert_true((status == DRAPE_OK) == (b != NULL));
            drape_builder_destroy(b);
        }
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

/* ---- Round trips ---- */

static const char *temporary_path(void) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/drape-test-%ld.mtx", (long)getpid());
    return path;
}

static double any_finite(test_random *random) {
    for (;;) {
        uint64_t bits = test_random_bits(random);
        double x;
        memcpy(&x, &bits, sizeof x);
        if (isfinite(x)) return x;
    }
}

/* A random pattern, symmetric, with values of every exponent; both zeros and the ends of the range too. */
static drape_matrix *random_matrix(drape_context *ctx, int32_t rows, bool symmetric, uint64_t seed) {
    static const double special[] = {0.0, -0.0, DBL_MAX, -DBL_MAX, DBL_MIN, 0x1p-1074, 0.1, 1.0 / 3};
    test_random random = {seed};
    drape_builder *b;
    drape_matrix *m;
    ASSERT_OK(ctx, drape_builder_create(ctx, 3 * (int64_t)rows, &b));
    for (int64_t i = 0; i < 3 * (int64_t)rows; i++)
        for (int64_t j = 0; j <= i; j++) {
            bool there = (i / 3 * 7 + j / 3 * 5) % 3 == 0 || i / 3 == j / 3;
            double value = (i + j) % 5 ? any_finite(&random) : special[test_random_below(&random, 8)];
            if (there) ASSERT_OK(ctx, drape_builder_add(b, i, j, value));
            if (there && i != j) ASSERT_OK(ctx, drape_builder_add(b, j, i, symmetric ? value : any_finite(&random)));
        }
    ASSERT_OK(ctx, drape_builder_finish(b, &m));
    drape_builder_destroy(b);
    return m;
}

static void expect_same(const drape_bsr3 *A, const drape_bsr3 *B) {
    size_t blocks = (size_t)A->rowptr[A->rows];
    assert_int_equal(A->rows, B->rows);
    assert_memory_equal(A->rowptr, B->rowptr, ((size_t)A->rows + 1) * sizeof *A->rowptr);
    assert_memory_equal(A->col, B->col, blocks * sizeof *A->col);
    assert_memory_equal(A->val, B->val, 9 * blocks * sizeof *A->val);
}

static void check_round_trip(drape_context *ctx, int32_t rows, bool symmetric) {
    drape_builder *b;
    drape_matrix *m = random_matrix(ctx, rows, symmetric, (uint64_t)rows), *again;
    drape_bsr3 A = drape_matrix_view(m);
    ASSERT_OK(ctx, drape_matrix_market_write(ctx, temporary_path(), &A, symmetric));
    ASSERT_OK(ctx, drape_matrix_market_read(ctx, temporary_path(), &b));
    assert_int_equal(drape_builder_entries(b), 9 * A.rowptr[A.rows]);
    ASSERT_OK(ctx, drape_builder_finish(b, &again));
    drape_bsr3 B = drape_matrix_view(again);
    expect_same(&A, &B);
    drape_matrix_destroy(again);
    drape_builder_destroy(b);
    drape_matrix_destroy(m);
    unlink(temporary_path());
}

static void round_trips(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    for (int32_t rows = 0; rows < 12; rows++) check_round_trip(ctx, rows, rows % 2);
    check_round_trip(ctx, 60, true);
    check_round_trip(ctx, 60, false);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

/* In a country that writes 1,5 files still say 1.5, and the program's locale is what it was. */
static void decimal_comma(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "de_DE", "fr_FR"};
    const double want[9] = {1.5, 0, 0, 0, 0, 0, 0, 0, 0};
    size_t k = 0, count = sizeof names / sizeof *names;
    while (k < count && !setlocale(LC_ALL, names[k])) k++;
    if (k == count) {
        print_message("no locale with a decimal comma is here: skipped\n");
        skip();
    }
    assert_true(*localeconv()->decimal_point == ',');
    drape_context *ctx = test_context(1);
    expect_values(BANNER "real general\n3 3 1\n1 1 1.5\n", want);
    check_round_trip(ctx, 5, true);
    assert_true(*localeconv()->decimal_point == ',');
    drape_context_destroy(ctx);
    setlocale(LC_ALL, "C");
}

static void writer_refusals(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_matrix *m = random_matrix(ctx, 3, true, 1);
    drape_bsr3 A = drape_matrix_view(m), no_values = A;
    no_values.val = NULL;
    assert_int_equal(drape_matrix_market_write(ctx, temporary_path(), &no_values, 0), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_matrix_market_write(ctx, "/nonexistent/x.mtx", &A, 0), DRAPE_ERROR_IO);
    A.val[9 * A.rowptr[1] + 2] = NAN;
    assert_int_equal(drape_matrix_market_write(ctx, temporary_path(), &A, 0), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "the block of row 1, column "));
    assert_int_equal(access(temporary_path(), F_OK), -1);
    drape_matrix_destroy(m);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static drape_status read_and_write(drape_context *ctx, const char *path) {
    drape_builder *b;
    drape_matrix *m = NULL;
    drape_status status = drape_matrix_market_read(ctx, path, &b);
    if (!status) status = drape_builder_finish(b, &m);
    if (!status) {
        drape_bsr3 A = drape_matrix_view(m);
        status = drape_matrix_market_write(ctx, path, &A, 1);
    }
    drape_matrix_destroy(m);
    drape_builder_destroy(b);
    return status;
}

static void failing_allocations(void **state) {
    (void)state;
    FILE *file = fopen(temporary_path(), "w");
    assert_non_null(file);
    fputs(valid, file);
    fclose(file);
    bool failed = true;
    for (int64_t n = 0; failed; n++) {
        counting_allocator memory = {.left = n};
        drape_context *ctx = counting_context(&memory);
        drape_status status = read_and_write(ctx, temporary_path());
        failed = memory.failed;
        assert_int_equal(status, failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
        assert_int_equal(drape_context_bytes(ctx), 0);
        drape_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
        assert_true(failed || n > 8);
    }
    unlink(temporary_path());
}

/* ---- Files from elsewhere ---- */

typedef struct outside {
    const char *file;
    const char *message; /* NULL: it is read */
    int64_t rows, entries;
    double sum; /* of all entries */
} outside;

static void check_outside(const outside *o) {
    char relative[128];
    snprintf(relative, sizeof relative, "matrices/%s", o->file);
    const char *path = test_shared_data(relative);
    if (!path) return;
    drape_context *ctx = test_context(1);
    drape_builder *b;
    drape_status status = drape_matrix_market_read(ctx, path, &b);
    if (o->message) {
        assert_int_equal(status, DRAPE_ERROR_FORMAT);
        if (!strstr(drape_message(ctx), o->message)) fail_msg("'%s' lacks '%s'", drape_message(ctx), o->message);
    } else {
        assert_ok(ctx, status, o->file);
        drape_matrix *m;
        assert_int_equal(drape_builder_rows(b), o->rows);
        assert_int_equal(drape_builder_entries(b), o->entries);
        ASSERT_OK(ctx, drape_builder_finish(b, &m));
        drape_bsr3 A = drape_matrix_view(m);
        double sum = 0;
        for (int64_t i = 0; i < o->rows; i++)
            for (int64_t j = 0; j < o->rows; j++) sum += value_at(&A, i, j);
        ASSERT_NEAR(sum, o->sum, 1e-8 * (1 + fabs(o->sum)));
        drape_matrix_destroy(m);
    }
    drape_builder_destroy(b);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void outside_files(void **state) {
    (void)state;
    static const outside files[] = {
        {"1138_bus.mtx", NULL, 1138, 4054, 1460.0402678998553},
        {"LFAT5.mtx", NULL, 14, 46, 12581499.907366203},
        {"parser/can___24.mtx", NULL, 24, 160, 160},
        {"parser/pts5ldd03.mtx", NULL, 161, 745, 3840},
        {"bcsstk01.triplet", "bcsstk01.triplet:1: does not begin", 0, 0, 0},
        {"parser/0.tri", "0.tri:1: does not begin", 0, 0, 0},
        {"parser/empty.tri", "empty.tri:1: does not begin", 0, 0, 0},
        {"parser/c.mtx", "c.mtx:1: field 'complex' cannot be read", 0, 0, 0},
        {"parser/mangle1.mtx", "mangle1.mtx:1: object 'junk'", 0, 0, 0},
        {"parser/mangle2.mtx", "mangle2.mtx:1: format 'junk'", 0, 0, 0},
        {"parser/mangle3.mtx", "mangle3.mtx:1: field 'junk'", 0, 0, 0},
        {"parser/mangle4.mtx", "mangle4.mtx:1: symmetry 'junk'", 0, 0, 0},
        {"parser/mangle5.tri", "mangle5.tri:1: does not begin", 0, 0, 0},
        {"parser/mangle6.tri", "mangle6.tri:1: does not begin", 0, 0, 0},
        {"parser/mangle7.tri", "mangle7.tri:1: does not begin", 0, 0, 0},
        {"parser/mangle8.tri", "mangle8.tri:1: does not begin", 0, 0, 0},
        {"parser/one.tri", "one.tri:1: format 'coord' cannot be read, only coordinate", 0, 0, 0},
        {"parser/two.tri", "two.tri:1: format 'coord' cannot be read, only coordinate", 0, 0, 0},
        {"parser/up.tri", "up.tri:1: does not begin", 0, 0, 0},
    };
    if (!test_shared_data("matrices")) skip();
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) check_outside(&files[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_are_read),
        cmocka_unit_test(sizes_without_entries),
        cmocka_unit_test(malformed_files_are_refused),
        cmocka_unit_test(zero_bytes_are_no_end),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(truncated_and_changed),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(decimal_comma),
        cmocka_unit_test(writer_refusals),
        cmocka_unit_test(failing_allocations),
        cmocka_unit_test(outside_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
