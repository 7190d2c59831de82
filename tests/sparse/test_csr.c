/* Scalar compressed rows and columns become the block rows that the builder makes of the same entries. */
#include "drape/sparse.h"
#include "sparse/counting_allocator.h"
#include "support/testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A random matrix in every form at once: entries in any order within a row, some of them several times. */
typedef struct scalar_matrix {
    int64_t rows, entries;
    int32_t *start32, *index32;
    int64_t *start64, *index64;
    double *val;
} scalar_matrix;

typedef enum shape { ANY, LOWER, UPPER } shape;

static void *room(int64_t count, size_t size) {
    void *memory = calloc((size_t)count + 1, size);
    assert_non_null(memory);
    return memory;
}

static scalar_matrix make(int64_t rows, shape which, uint64_t seed) {
    const int32_t per_row = 5;
    test_random r = {seed};
    scalar_matrix m = {.rows = rows,
                       .start32 = room(rows + 1, 4),
                       .start64 = room(rows + 1, 8),
                       .index32 = room(per_row * rows, 4),
                       .index64 = room(per_row * rows, 8),
                       .val = room(per_row * rows, 8)};
    for (int64_t i = 0; i < rows; i++) {
        int32_t count = test_random_below(&r, per_row + 1);
        for (int32_t k = 0; k < count; k++) {
            int32_t j = test_random_below(&r, (int32_t)rows);
            if ((which == LOWER && j > i) || (which == UPPER && j < i)) continue;
            m.index32[m.entries] = j;
            m.index64[m.entries] = j;
            m.val[m.entries++] = test_random_between(&r, -1, 1);
        }
        m.start32[i + 1] = (int32_t)m.entries;
        m.start64[i + 1] = m.entries;
    }
    return m;
}

static void clear(scalar_matrix *m) {
    free(m->start32), free(m->index32), free(m->start64), free(m->index64), free(m->val);
}

/* In the four widths of indices. */
static drape_csr view(const scalar_matrix *m, int widths) {
    return (drape_csr){.rows = m->rows,
                       .start32 = widths & 1 ? m->start32 : NULL,
                       .start64 = widths & 1 ? NULL : m->start64,
                       .index32 = widths & 2 ? m->index32 : NULL,
                       .index64 = widths & 2 ? NULL : m->index64,
                       .val = m->val};
}

/* The same by the builder. */
static drape_matrix *build(drape_context *ctx, const scalar_matrix *m, bool columns, bool mirror, double factor) {
    drape_builder *b;
    drape_matrix *out;
    ASSERT_OK(ctx, drape_builder_create(ctx, m->rows, &b));
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t k = m->start64[i]; k < m->start64[i + 1]; k++) {
            int64_t row = columns ? m->index64[k] : i, column = columns ? i : m->index64[k];
            ASSERT_OK(ctx, drape_builder_add(b, row, column, factor * m->val[k]));
            if (mirror && row != column) ASSERT_OK(ctx, drape_builder_add(b, column, row, factor * m->val[k]));
        }
    ASSERT_OK(ctx, drape_builder_finish(b, &out));
    drape_builder_destroy(b);
    return out;
}

static void assert_same(const drape_matrix *got, const drape_matrix *want) {
    drape_bsr3 a = drape_matrix_view(got), b = drape_matrix_view(want);
    assert_int_equal(a.rows, b.rows);
    assert_memory_equal(a.rowptr, b.rowptr, ((size_t)b.rows + 1) * sizeof *b.rowptr);
    assert_memory_equal(a.col, b.col, (size_t)b.rowptr[b.rows] * sizeof *b.col);
    for (int64_t k = 0; k < 9 * b.rowptr[b.rows]; k++) assert_true(a.val[k] == b.val[k]);
}

static void check_all_widths(drape_context *ctx, const scalar_matrix *m, bool columns, drape_csr_stored stored) {
    double *twice = room(m->entries, sizeof *twice);
    for (int64_t k = 0; k < m->entries; k++) twice[k] = 2 * m->val[k];
    drape_matrix *once = build(ctx, m, columns, stored == DRAPE_CSR_MIRROR, 1);
    drape_matrix *doubled = build(ctx, m, columns, stored == DRAPE_CSR_MIRROR, 2);
    for (int widths = 0; widths < 4; widths++) {
        drape_csr A = view(m, widths);
        drape_matrix *matrix, *alone;
        drape_csr_map *map;
        A.stored = stored;
        drape_status (*convert)(drape_context *, const drape_csr *, drape_matrix **, drape_csr_map **) =
            columns ? drape_bsr3_from_csc : drape_bsr3_from_csr;
        ASSERT_OK(ctx, convert(ctx, &A, &matrix, &map));
        assert_same(matrix, once);
        ASSERT_OK(ctx, drape_csr_map_refresh(map, twice, matrix));
        assert_same(matrix, doubled);
        ASSERT_OK(ctx, drape_csr_map_refresh(map, m->val, matrix));
        assert_same(matrix, once);
        drape_csr_map_destroy(map);
        ASSERT_OK(ctx, convert(ctx, &A, &alone, NULL));
        assert_same(alone, once);
        drape_matrix_destroy(alone);
        drape_matrix_destroy(matrix);
    }
    drape_matrix_destroy(once);
    drape_matrix_destroy(doubled);
    free(twice);
}

static void is_what_the_builder_makes(void **state) {
    const int64_t sizes[] = {0, 1, 2, 3, 4, 7, 100, 999, 3001};
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        drape_context *ctx = test_context(threads);
        const int64_t before = drape_context_bytes(ctx);
        for (int s = 0; s < 9; s++)
            for (int columns = 0; columns < 2; columns++) {
                scalar_matrix any = make(sizes[s], ANY, 1 + (uint64_t)s),
                              lower = make(sizes[s], LOWER, 20 + (uint64_t)s),
                              upper = make(sizes[s], UPPER, 40 + (uint64_t)s);
                check_all_widths(ctx, &any, columns, DRAPE_CSR_TRIANGULAR);
                if (sizes[s] >= 100) check_all_widths(ctx, &any, columns, DRAPE_CSR_WHOLE);
                check_all_widths(ctx, &lower, columns, DRAPE_CSR_TRIANGULAR);
                check_all_widths(ctx, &lower, columns, DRAPE_CSR_MIRROR);
                check_all_widths(ctx, &upper, columns, DRAPE_CSR_MIRROR);
                clear(&any), clear(&lower), clear(&upper);
            }
        assert_int_equal(drape_context_bytes(ctx), before);
        drape_context_destroy(ctx);
    }
}

/* ---- What is refused ---- */

static void refused(drape_context *ctx, const drape_csr *A, const char *by_rows, const char *by_columns) {
    drape_matrix *matrix = (drape_matrix *)A;
    drape_csr_map *map = (drape_csr_map *)A;
    assert_int_equal(drape_bsr3_from_csr(ctx, A, &matrix, &map), DRAPE_ERROR_ARGUMENT);
    if (!strstr(drape_message(ctx), by_rows)) fail_msg("'%s' lacks '%s'", drape_message(ctx), by_rows);
    assert_true(!matrix && !map);
    assert_int_equal(drape_bsr3_from_csc(ctx, A, &matrix, &map), DRAPE_ERROR_ARGUMENT);
    if (!strstr(drape_message(ctx), by_columns)) fail_msg("'%s' lacks '%s'", drape_message(ctx), by_columns);
    assert_int_equal(drape_context_bytes(ctx), 0);
}

static void bad_views(void **state) {
    const int32_t start[] = {0, 2, 3, 5}, whole[] = {0, 1, 1, 0, 2}, upper[] = {0, 1, 1, 2, 2};
    const int32_t falls[] = {0, 3, 2, 5}, late[] = {1, 2, 3, 5}, out_of_range[] = {0, 1, 3, 0, 2},
                  negative[] = {0, -1, 1, 0, 2};
    const int64_t start64[] = {0, 2, 3, 5};
    double val[] = {1, 2, 3, 4, 5}, bad[] = {1, 2, 3, NAN, 5};
    const drape_csr good = {.rows = 3, .start32 = start, .index32 = whole, .val = val};
    drape_context *ctx = test_context(1);
    drape_csr A = good;
    (void)state;
    A.rows = -1;
    refused(ctx, &A, "-1 rows", "-1 rows");
    A = good, A.start64 = start64;
    refused(ctx, &A, "exactly one of start32 and start64", "start64");
    A = good, A.start32 = NULL;
    refused(ctx, &A, "exactly one of start32 and start64", "start64");
    A = good, A.index32 = NULL;
    refused(ctx, &A, "exactly one of index32 and index64", "index64");
    A = good, A.val = NULL;
    refused(ctx, &A, "val is missing", "val is missing");
    A = good, A.start32 = falls;
    refused(ctx, &A, "row 1 goes from entry 3 to 2", "column 1 goes from entry 3 to 2");
    A = good, A.start32 = late;
    refused(ctx, &A, "begins with 1", "begins with 1");
    A = good, A.index32 = out_of_range;
    refused(ctx, &A, "row 1 has column 3, outside 0 .. 2", "column 1 has row 3, outside 0 .. 2");
    A = good, A.index32 = negative;
    refused(ctx, &A, "row 0 has column -1", "column 0 has row -1");
    A = good, A.val = bad;
    refused(ctx, &A, "row 2, column 0 is nan", "row 0, column 2 is nan");
    A = good, A.stored = DRAPE_CSR_MIRROR;
    refused(ctx, &A, "entries in both: row 2, column 0 and row 0, column 1",
            "entries in both: row 1, column 0 and row 0, column 2");
    A = good, A.index32 = upper;
    refused(ctx, &A, "one triangle only: there is one in row 0, column 1",
            "one triangle only: there is one in row 1, column 0");
    A = good, A.stored = (drape_csr_stored)3;
    refused(ctx, &A, "stored is 3", "stored is 3");
    A = good, A.reserved[3] = 1;
    refused(ctx, &A, "drape_csr.reserved", "drape_csr.reserved");
    drape_context_destroy(ctx);
}

static void bad_calls(void **state) {
    const int32_t start[] = {0, 1, 2, 3, 4}, index[] = {0, 1, 2, 3};
    double val[] = {1, 2, 3, 4}, bad[] = {1, 2, 3, INFINITY};
    const drape_csr A = {.rows = 4, .start32 = start, .index32 = index, .val = val};
    drape_csr small = A;
    drape_context *ctx = test_context(1);
    drape_matrix *matrix, *other;
    drape_csr_map *map, *none;
    (void)state;
    small.rows = 3;
    assert_int_equal(drape_bsr3_from_csr(NULL, &A, &matrix, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_bsr3_from_csr(ctx, NULL, &matrix, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_bsr3_from_csr(ctx, &A, NULL, &none), DRAPE_ERROR_ARGUMENT);
    ASSERT_OK(ctx, drape_bsr3_from_csr(ctx, &A, &matrix, &map));
    ASSERT_OK(ctx, drape_bsr3_from_csc(ctx, &small, &other, NULL));
    assert_int_equal(drape_csr_map_refresh(NULL, val, matrix), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_csr_map_refresh(map, NULL, matrix), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_csr_map_refresh(map, val, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_csr_map_refresh(map, val, other), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_csr_map_refresh(map, bad, matrix), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "row 3, column 3 is inf"));
    drape_csr_map_destroy(map);
    drape_csr_map_destroy(NULL);
    drape_matrix_destroy(matrix);
    drape_matrix_destroy(other);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

/* Each request for memory fails once: an error, and nothing is left. A refresh asks for none. */
static void memory_runs_out(void **state) {
    scalar_matrix m = make(50, LOWER, 3);
    drape_csr A = view(&m, 3);
    bool done = false;
    (void)state;
    A.stored = DRAPE_CSR_MIRROR;
    for (int64_t n = 0; !done; n++) {
        counting_allocator memory = {.left = n};
        drape_context *ctx = counting_context(&memory);
        drape_matrix *matrix;
        drape_csr_map *map;
        drape_status status = drape_bsr3_from_csc(ctx, &A, &matrix, &map);
        done = !memory.failed;
        assert_int_equal(status, done ? DRAPE_OK : DRAPE_ERROR_MEMORY);
        assert_true(done == (matrix != NULL) && done == (map != NULL) && n < 20);
        memory.left = 0;
        if (done) ASSERT_OK(ctx, drape_csr_map_refresh(map, m.val, matrix));
        drape_csr_map_destroy(map);
        drape_matrix_destroy(matrix);
        drape_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
    }
    clear(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_what_the_builder_makes),
        cmocka_unit_test(bad_views),
        cmocka_unit_test(bad_calls),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
