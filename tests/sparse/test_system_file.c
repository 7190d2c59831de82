/* System files: the bytes of one written by hand, round trips, and everything a reader must not believe. */
#include "drape/sparse.h"
#include "sparse/counting_allocator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Three vertices; 0 and 1 coupled, 1 and 2 coupled: seven blocks, an odd number, so there is padding.
 * Vertex 0 is held, vertex 1 slides in a plane, vertex 2 is free. */
enum { ROWS = 3, BLOCKS = 7 };

typedef struct sample {
    int64_t rowptr[ROWS + 1];
    int32_t col[BLOCKS];
    double val[9 * BLOCKS], S[9 * ROWS], b[3 * ROWS], z[3 * ROWS], rest[3 * ROWS], cur[3 * ROWS];
} sample;

static void fill(double *x, int count, test_random *random) {
    for (int k = 0; k < count; k++) x[k] = test_random_between(random, -10, 10);
}

static drape_system sample_system(sample *s) {
    test_random random = {5};
    *s = (sample){.rowptr = {0, 2, 5, 7}, .col = {0, 1, 0, 1, 2, 1, 2}};
    fill(s->val, 9 * BLOCKS, &random);
    fill(s->b, 3 * ROWS, &random);
    fill(s->z, 3 * ROWS, &random);
    fill(s->rest, 3 * ROWS, &random);
    fill(s->cur, 3 * ROWS, &random);
    const double p[3] = {1 / sqrt(14), 2 / sqrt(14), 3 / sqrt(14)};
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 3; c++) s->S[9 + 3 * a + c] = (a == c) - p[a] * p[c];
        s->S[18 + 4 * a] = 1;
    }
    return (drape_system){.A = {ROWS, s->rowptr, s->col, s->val},
                          .constrained = 2,
                          .h = 0.02,
                          .S = s->S,
                          .b = s->b,
                          .z = s->z,
                          .rest = s->rest,
                          .cur = s->cur};
}

/* Where things stand in the sample's file. */
enum {
    AT_N = 8,
    AT_NNZB = 16,
    AT_CONSTRAINED = 24,
    AT_H = 32,
    AT_ROWPTR = 40,
    AT_COL = AT_ROWPTR + 8 * (ROWS + 1),
    AT_PADDING = AT_COL + 4 * BLOCKS,
    AT_VAL = AT_PADDING + 4,
    AT_S = AT_VAL + 72 * BLOCKS,
    AT_B = AT_S + 72 * ROWS,
    AT_Z = AT_B + 24 * ROWS,
    AT_REST = AT_Z + 24 * ROWS,
    AT_CUR = AT_REST + 24 * ROWS,
    SIZE = AT_CUR + 24 * ROWS,
};

static void sample_bytes(unsigned char bytes[SIZE]) {
    sample s;
    drape_system system = sample_system(&s);
    const int64_t head[3] = {ROWS, BLOCKS, 2};
    memset(bytes, 0, SIZE);
    memcpy(bytes, "DRAPESY1", 8);
    memcpy(bytes + AT_N, head, sizeof head);
    memcpy(bytes + AT_H, &system.h, 8);
    memcpy(bytes + AT_ROWPTR, s.rowptr, sizeof s.rowptr);
    memcpy(bytes + AT_COL, s.col, sizeof s.col);
    memcpy(bytes + AT_VAL, s.val, sizeof s.val);
    memcpy(bytes + AT_S, s.S, sizeof s.S);
    memcpy(bytes + AT_B, s.b, sizeof s.b);
    memcpy(bytes + AT_Z, s.z, sizeof s.z);
    memcpy(bytes + AT_REST, s.rest, sizeof s.rest);
    memcpy(bytes + AT_CUR, s.cur, sizeof s.cur);
}

static const char *temporary_path(void) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/drape-test-%ld.system", (long)getpid());
    return path;
}

static void expect_same(const drape_system *x, const drape_system *y) {
    size_t n = (size_t)x->A.rows, blocks = (size_t)x->A.rowptr[n];
    assert_int_equal(x->A.rows, y->A.rows);
    assert_int_equal(x->constrained, y->constrained);
    assert_true(x->h == y->h);
    assert_memory_equal(x->A.rowptr, y->A.rowptr, (n + 1) * sizeof *x->A.rowptr);
    assert_memory_equal(x->A.col, y->A.col, blocks * sizeof *x->A.col);
    assert_memory_equal(x->A.val, y->A.val, 9 * blocks * sizeof(double));
    assert_memory_equal(x->S, y->S, 9 * n * sizeof(double));
    assert_memory_equal(x->b, y->b, 3 * n * sizeof(double));
    assert_memory_equal(x->z, y->z, 3 * n * sizeof(double));
    assert_memory_equal(x->rest, y->rest, 3 * n * sizeof(double));
    assert_memory_equal(x->cur, y->cur, 3 * n * sizeof(double));
}

static bool is_empty(const drape_system *s) {
    return !s->A.rows && !s->A.rowptr && !s->A.col && !s->A.val && !s->S && !s->b && !s->z && !s->rest && !s->cur;
}

/* The writer's bytes are the documented ones, and reading gives the same system. */
static void round_trip(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    sample s;
    drape_system system = sample_system(&s), again;
    unsigned char wanted[SIZE], got[SIZE + 1];
    sample_bytes(wanted);
    ASSERT_OK(ctx, drape_system_write(ctx, temporary_path(), &system));
    FILE *file = fopen(temporary_path(), "rb");
    assert_non_null(file);
    assert_int_equal(fread(got, 1, sizeof got, file), SIZE);
    fclose(file);
    assert_memory_equal(got, wanted, SIZE);
    ASSERT_OK(ctx, drape_system_read(ctx, temporary_path(), &again));
    expect_same(&system, &again);
    drape_system_clear(ctx, &again);
    assert_true(is_empty(&again));
    drape_system_clear(ctx, &again);
    assert_int_equal(drape_context_bytes(ctx), 0);
    unlink(temporary_path());
    drape_context_destroy(ctx);
}

static void no_vertices(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    const int64_t rowptr[1] = {0};
    drape_system system = {.A.rowptr = rowptr, .h = 1}, again;
    ASSERT_OK(ctx, drape_system_write(ctx, temporary_path(), &system));
    ASSERT_OK(ctx, drape_system_read(ctx, temporary_path(), &again));
    assert_int_equal(again.A.rows, 0);
    drape_system_clear(ctx, &again);
    assert_int_equal(drape_context_bytes(ctx), 0);
    unlink(temporary_path());
    drape_context_destroy(ctx);
}

/* ---- What is refused ---- */

/* Parses an exact heap copy at an odd address, so that a sanitizer sees a step too far or a misaligned load. */
static drape_status parse(drape_context *ctx, const unsigned char *bytes, size_t size, drape_system *out) {
    unsigned char *copy = malloc(size + 1);
    memcpy(copy + 1, bytes, size);
    drape_status status = drape_system_parse(ctx, "sys", copy + 1, (int64_t)size, out);
    free(copy);
    assert_true(status == DRAPE_OK || is_empty(out));
    return status;
}

typedef struct change {
    int at, size;
    union {
        int64_t i;
        double d;
    } to;
    const char *message;
} change;

#define INTEGER(at, value, message)                                                                                  \
    { at, 8, {.i = (value)}, message }
#define COLUMN(k, value, message)                                                                                    \
    { AT_COL + 4 * (k), 4, {.i = (value)}, message }
#define REAL(at, value, message)                                                                                     \
    { at, 8, {.d = (value)}, message }

static const change changes[] = {
    {0, 1, {.i = 'd'}, "sys: does not begin with DRAPESY1"},
    {7, 1, {.i = '2'}, "sys: does not begin with DRAPESY1"},
    INTEGER(AT_N, -1, "sys: -1 vertices and 7 blocks do not fit"),
    INTEGER(AT_N, INT64_MAX, "sys: 9223372036854775807 vertices and 7 blocks do not fit"),
    INTEGER(AT_N, INT64_C(1) << 32, "do not fit"),
    INTEGER(AT_N, 4, "4 vertices and 7 blocks take"),
    INTEGER(AT_N, 2, "2 vertices and 7 blocks take"),
    INTEGER(AT_NNZB, -7, "-7 blocks do not fit"),
    INTEGER(AT_NNZB, INT64_MIN, "do not fit"),
    INTEGER(AT_NNZB, INT64_MAX / 76 + 2, "do not fit"),
    INTEGER(AT_NNZB, 8, "3 vertices and 8 blocks take"),
    INTEGER(AT_CONSTRAINED, 1, "sys: 1 vertices are declared as constrained, but 2 are"),
    INTEGER(AT_CONSTRAINED, -2, "sys: -2 vertices are declared"),
    REAL(AT_H, 0.0, "sys: the time step h = 0 is not positive"),
    REAL(AT_H, -1.0, "sys: the time step h = -1 is not positive"),
    REAL(AT_H, NAN, "is not positive and finite"),
    REAL(AT_H, INFINITY, "is not positive and finite"),
    INTEGER(AT_ROWPTR, 1, "sys: rowptr begins with 1"),
    INTEGER(AT_ROWPTR + 8, -1, "sys: row 0 goes from 0 to -1"),
    INTEGER(AT_ROWPTR + 8, INT64_MAX, "sys: row 0 goes from 0 to 9223372036854775807 of 7 blocks"),
    INTEGER(AT_ROWPTR + 8, 8, "sys: row 0 goes from 0 to 8 of 7 blocks"),
    INTEGER(AT_ROWPTR + 8, 6, "sys: row 1 goes from 6 to 5"),
    INTEGER(AT_ROWPTR + 16, INT64_MIN, "sys: row 1 goes from 2 to -9223372036854775808"),
    INTEGER(AT_ROWPTR + 24, 6, "sys: rowptr ends with 6 of 7 blocks"),
    INTEGER(AT_ROWPTR + 8, 0, "sys: row 0 has no diagonal block"),
    COLUMN(0, -1, "sys: row 0 has column -1, outside 0 .. 2"),
    COLUMN(1, 3, "sys: row 0 has column 3, outside 0 .. 2"),
    COLUMN(1, INT32_MIN, "sys: row 0 has column -2147483648"),
    COLUMN(1, 0, "sys: row 0 has column 0 after 0; columns must increase"),
    COLUMN(4, 1, "sys: row 1 has column 1 after 1"),
    {AT_PADDING, 1, {.i = 1}, "sys: the padding"},
    {AT_PADDING + 3, 1, {.i = 128}, "sys: the padding"},
    REAL(AT_VAL, NAN, "sys: the block of row 0, column 0 holds a value that is not finite"),
    REAL(AT_VAL + 72 * 4 + 64, -INFINITY, "sys: the block of row 1, column 2 holds a value that is not finite"),
    REAL(AT_S + 72, NAN, "sys: S of vertex 1 is not finite"),
    REAL(AT_S + 72 * 2 + 64, 0.5, "sys: S of vertex 2 is not an orthogonal"),
    REAL(AT_S + 72 * 2 + 8, 1.0, "sys: S of vertex 2 is not an orthogonal"),
    REAL(AT_S + 72 * 2, 1e300, "sys: S of vertex 2 is not an orthogonal"),
    REAL(AT_S, 1e-8, "sys: S of vertex 0 is not an orthogonal"),
    REAL(AT_S + 72 * 2, 0.0, "2 vertices are declared as constrained, but 3 are"),
    REAL(AT_B, NAN, "sys: b of vertex 0 is not finite"),
    REAL(AT_Z + 24 + 16, INFINITY, "sys: z of vertex 1 is not finite"),
    REAL(AT_REST + 48, NAN, "sys: rest of vertex 2 is not finite"),
    REAL(AT_CUR + 48 + 16, NAN, "sys: cur of vertex 2 is not finite"),
};

static void changed_files_are_refused(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    unsigned char bytes[SIZE];
    drape_system system;
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        sample_bytes(bytes);
        memcpy(bytes + changes[k].at, &changes[k].to, (size_t)changes[k].size);
        drape_status status = parse(ctx, bytes, SIZE, &system);
        if (status != DRAPE_ERROR_FORMAT || !strstr(drape_message(ctx), changes[k].message))
            fail_msg("%s: '%s' lacks '%s'", drape_status_name(status), drape_message(ctx), changes[k].message);
        assert_int_equal(drape_context_bytes(ctx), 0);
    }
    drape_context_destroy(ctx);
}

/* S S = S alone is not enough: an oblique projection is refused, and rounding below 1e-9 is not. */
static void projections(void **state) {
    (void)state;
    const double oblique[9] = {1, 1, 0, 0, 0, 0, 0, 0, 1}, rounded[9] = {1e-17, 0, 0, 0, 1, 1e-13, 0, 1.1e-13, 0};
    drape_context *ctx = test_context(1);
    unsigned char bytes[SIZE];
    drape_system system;
    sample_bytes(bytes);
    memcpy(bytes + AT_S, oblique, sizeof oblique);
    assert_int_equal(parse(ctx, bytes, SIZE, &system), DRAPE_ERROR_FORMAT);
    assert_non_null(strstr(drape_message(ctx), "S of vertex 0 is not an orthogonal"));
    memcpy(bytes + AT_S, rounded, sizeof rounded);
    ASSERT_OK(ctx, parse(ctx, bytes, SIZE, &system));
    drape_system_clear(ctx, &system);
    drape_context_destroy(ctx);
}

static void truncated_files_are_refused(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    unsigned char bytes[SIZE + 8] = {0};
    drape_system system;
    sample_bytes(bytes);
    for (size_t size = 0; size <= SIZE + 8; size++) {
        drape_status status = parse(ctx, bytes, size, &system);
        assert_int_equal(status, size == SIZE ? DRAPE_OK : DRAPE_ERROR_FORMAT);
        assert_non_null(strstr(drape_message(ctx), size < 40 ? "less than a header" : ""));
        drape_system_clear(ctx, &system);
    }
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void expect_consistent(drape_context *ctx, const drape_system *s) {
    assert_true(s->h > 0 && isfinite(s->h));
    ASSERT_OK(ctx, drape_bsr3_check(ctx, &s->A));
    assert_int_equal(s->A.rows, ROWS);
    assert_int_equal(s->A.rowptr[ROWS], BLOCKS);
    for (int32_t i = 0; i < ROWS; i++) {
        int diagonals = 0;
        for (int64_t k = s->A.rowptr[i]; k < s->A.rowptr[i + 1]; k++) diagonals += s->A.col[k] == i;
        assert_int_equal(diagonals, 1);
    }
}

/* Every value of every byte before the values: refused, or still a consistent system, which only another h or
 * another column can give. */
static void flipped_bytes(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    unsigned char bytes[SIZE];
    drape_system system;
    int accepted = 0;
    sample_bytes(bytes);
    for (int at = 0; at < AT_VAL; at++)
        for (int flip = 1; flip < 256; flip++) {
            bytes[at] ^= (unsigned char)flip;
            drape_status status = parse(ctx, bytes, SIZE, &system);
            bytes[at] ^= (unsigned char)flip;
            assert_true(status == DRAPE_OK || status == DRAPE_ERROR_FORMAT);
            if (status) continue;
            accepted++;
            assert_true((at >= AT_H && at < AT_ROWPTR) || (at >= AT_COL && at < AT_PADDING));
            expect_consistent(ctx, &system);
            drape_system_clear(ctx, &system);
        }
    assert_true(accepted > 0);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

/* Bytes of the values: the reader's only limit is what the checks say. */
static void changed_values(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    unsigned char bytes[SIZE];
    test_random random = {9};
    sample_bytes(bytes);
    for (int k = 0; k < 20000; k++) {
        drape_system system;
        int at = AT_VAL + test_random_below(&random, SIZE - AT_VAL);
        unsigned char before = bytes[at];
        bytes[at] = (unsigned char)test_random_below(&random, 256);
        if (parse(ctx, bytes, SIZE, &system) == DRAPE_OK) {
            for (int i = 0; i < 9 * BLOCKS; i++) assert_true(isfinite(system.A.val[i]));
            drape_system_clear(ctx, &system);
        }
        bytes[at] = before;
    }
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void expect_refusal(drape_context *ctx, const drape_system *system, const char *fragment) {
    assert_int_equal(drape_system_write(ctx, temporary_path(), system), DRAPE_ERROR_ARGUMENT);
    if (!strstr(drape_message(ctx), fragment)) fail_msg("'%s' lacks '%s'", drape_message(ctx), fragment);
    assert_int_equal(access(temporary_path(), F_OK), -1);
}

static void writer_refusals(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    sample s;
    drape_system good = sample_system(&s), bad;
    expect_refusal(ctx, (bad = good, bad.A.rows = -1, &bad), "-1 rows");
    expect_refusal(ctx, (bad = good, bad.A.rowptr = NULL, &bad), "no rowptr");
    expect_refusal(ctx, (bad = good, bad.A.col = NULL, &bad), "an array of the system is missing");
    expect_refusal(ctx, (bad = good, bad.rest = NULL, &bad), "an array of the system is missing");
    expect_refusal(ctx, (bad = good, bad.h = 0, &bad), "h = 0");
    expect_refusal(ctx, (bad = good, bad.constrained = 3, &bad), "3 vertices are declared");
    s.rowptr[1] = 9;
    expect_refusal(ctx, &good, "row 0 goes from 0 to 9 of 7 blocks");
    s.rowptr[1] = 2;
    s.col[1] = 3;
    expect_refusal(ctx, &good, "row 0 has column 3");
    s.col[1] = 1;
    s.val[9 * 5] = NAN;
    expect_refusal(ctx, &good, "row 2, column 1");
    s.val[9 * 5] = 0;
    s.S[18] = 0.5;
    expect_refusal(ctx, &good, "S of vertex 2 is not an orthogonal");
    s.S[18] = 1;
    assert_int_equal(drape_system_write(ctx, "/nonexistent/x", &good), DRAPE_ERROR_IO);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void bad_arguments(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_system system;
    assert_int_equal(drape_system_parse(ctx, "x", NULL, 40, &system), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_system_parse(ctx, "x", "DRAPESY1", -1, &system), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_system_read(ctx, "/nonexistent/x", &system), DRAPE_ERROR_IO);
    assert_true(is_empty(&system));
    drape_system_clear(ctx, NULL);
    drape_context_destroy(ctx);
}

static void failing_allocations(void **state) {
    (void)state;
    sample s;
    drape_system system = sample_system(&s);
    bool failed = true;
    for (int64_t n = 0; failed; n++) {
        counting_allocator memory = {.left = n};
        drape_context *ctx = counting_context(&memory);
        drape_system again = {0};
        drape_status status = drape_system_write(ctx, temporary_path(), &system);
        if (!status) status = drape_system_read(ctx, temporary_path(), &again);
        failed = memory.failed;
        assert_int_equal(status, failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
        assert_true(!failed || is_empty(&again));
        assert_true(failed || n > 8);
        drape_system_clear(ctx, &again);
        assert_int_equal(drape_context_bytes(ctx), 0);
        drape_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
    }
    unlink(temporary_path());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(no_vertices),
        cmocka_unit_test(changed_files_are_refused),
        cmocka_unit_test(projections),
        cmocka_unit_test(truncated_files_are_refused),
        cmocka_unit_test(flipped_bytes),
        cmocka_unit_test(changed_values),
        cmocka_unit_test(writer_refusals),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
