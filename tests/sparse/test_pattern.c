/* Block rows from elements against a brute-force pattern; the check of a view; copies. */
#include "drape/sparse.h"
#include "sparse/counting_allocator.h"
#include "sparse/matrix.h"

#include <string.h>

enum { MAX_SETS = 4, MAX_ELEMENTS = 30, MAX_ROWS = 50, MAX_NODES = 8 };

typedef struct mesh {
    int32_t rows, set_count;
    drape_elements sets[MAX_SETS];
    int32_t nodes[MAX_SETS][MAX_ELEMENTS * MAX_NODES];
} mesh;

/* Sets of elements of one to eight nodes, some repeated within an element; the odd vertices are sometimes in none. */
static void random_mesh(test_random *r, mesh *m) {
    m->rows = 1 + test_random_below(r, MAX_ROWS);
    m->set_count = test_random_below(r, MAX_SETS + 1);
    int32_t step = 1 + test_random_below(r, 2);
    for (int32_t s = 0; s < m->set_count; s++) {
        m->sets[s] = (drape_elements){1 + test_random_below(r, MAX_NODES), test_random_below(r, MAX_ELEMENTS + 1),
                                      m->nodes[s]};
        for (int32_t i = 0; i < m->sets[s].count * m->sets[s].nodes_per_element; i++)
            m->nodes[s][i] = test_random_below(r, (m->rows + step - 1) / step) * step;
    }
}

static void brute_force(const mesh *m, bool wanted[MAX_ROWS][MAX_ROWS]) {
    memset(wanted, 0, sizeof(bool[MAX_ROWS][MAX_ROWS]));
    for (int32_t i = 0; i < m->rows; i++) wanted[i][i] = true;
    for (int32_t s = 0; s < m->set_count; s++)
        for (int32_t e = 0, k = m->sets[s].nodes_per_element; e < m->sets[s].count; e++)
            for (int32_t a = 0; a < k; a++)
                for (int32_t b = 0; b < k; b++) wanted[m->nodes[s][k * e + a]][m->nodes[s][k * e + b]] = true;
}

static void random_elements(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    test_random r = {1};
    static mesh m;
    static bool wanted[MAX_ROWS][MAX_ROWS];
    for (int trial = 0; trial < 1000; trial++) {
        drape_matrix *matrix;
        random_mesh(&r, &m);
        brute_force(&m, wanted);
        ASSERT_OK(ctx, drape_matrix_from_elements(ctx, m.rows, m.sets, m.set_count, &matrix));
        drape_bsr3 A = drape_matrix_view(matrix);
        ASSERT_OK(ctx, drape_bsr3_check(ctx, &A));
        assert_int_equal(A.rows, m.rows);
        for (int32_t i = 0; i < m.rows; i++) {
            int64_t k = A.rowptr[i];
            for (int32_t j = 0; j < m.rows; j++) { /* the columns increase, so this meets them all */
                assert_int_equal(drape_i_matrix_find(&A, i, j), wanted[i][j] ? k : -1);
                if (wanted[i][j]) assert_int_equal(A.col[k++], j);
            }
            assert_int_equal(k, A.rowptr[i + 1]);
        }
        for (int64_t k = 0; k < 9 * A.rowptr[m.rows]; k++) assert_true(A.val[k] == 0);
        drape_matrix_destroy(matrix);
    }
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

static void no_rows_and_no_elements(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_matrix *matrix;
    const drape_elements empty = {.nodes_per_element = 3};
    for (int32_t rows = 0; rows < 4; rows++)
        for (int32_t sets = 0; sets < 2; sets++) {
            ASSERT_OK(ctx, drape_matrix_from_elements(ctx, rows, sets ? &empty : NULL, sets, &matrix));
            drape_bsr3 A = drape_matrix_view(matrix);
            ASSERT_OK(ctx, drape_bsr3_check(ctx, &A));
            assert_int_equal(A.rows, rows);
            assert_int_equal(A.rowptr[rows], rows); /* the diagonal */
            drape_matrix_destroy(matrix);
        }
    drape_matrix_destroy(NULL);
    drape_context_destroy(ctx);
}

static void expect_refusal(drape_context *ctx, drape_status status, const char *fragment) {
    assert_int_equal(status, DRAPE_ERROR_ARGUMENT);
    if (!strstr(drape_message(ctx), fragment)) fail_msg("'%s' lacks '%s'", drape_message(ctx), fragment);
}

static void refused_elements(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_matrix *matrix;
    int32_t nodes[18] = {0, 1, 2, 2, 1, 3, 3, 0, 1};
    drape_elements sets[2] = {{3, 3, nodes}, {3, 3, nodes}};
    expect_refusal(ctx, drape_matrix_from_elements(ctx, -1, sets, 2, &matrix), "-1 rows");
    assert_null(matrix);
    expect_refusal(ctx, drape_matrix_from_elements(ctx, 3, sets, 2, &matrix), "element 1 of set 0 names node 3 of 3");
    assert_null(matrix);
    expect_refusal(ctx, drape_matrix_from_elements(ctx, 0, sets, 2, &matrix), "element 0 of set 0 names node 0 of 0");
    sets[1].nodes_per_element = 0;
    expect_refusal(ctx, drape_matrix_from_elements(ctx, 4, sets, 2, &matrix), "element set 1: 3 elements of 0 nodes");
    sets[1].nodes_per_element = 9;
    expect_refusal(ctx, drape_matrix_from_elements(ctx, 4, sets, 2, &matrix), "element set 1: 3 elements of 9 nodes");
    sets[1] = (drape_elements){3, -1, nodes};
    expect_refusal(ctx, drape_matrix_from_elements(ctx, 4, sets, 2, &matrix), "element set 1: -1 elements");
    sets[1] = (drape_elements){3, 3, nodes};
    nodes[8] = -1;
    expect_refusal(ctx, drape_matrix_from_elements(ctx, 4, sets, 2, &matrix),
                   "element 2 of set 0 names node -1 of 4");
    assert_null(matrix);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

/* ---- The check of a view ---- */

typedef struct view {
    int64_t rowptr[5];
    int32_t col[8];
    double val[72];
} view;

static const view good = {.rowptr = {0, 2, 5, 5, 8}, .col = {0, 3, 0, 1, 2, 1, 2, 3}};

static drape_bsr3 view_of(view *v) { return (drape_bsr3){4, v->rowptr, v->col, v->val}; }

static void refuse_view(drape_context *ctx, const drape_bsr3 *A, const char *fragment) {
    drape_matrix *copy;
    expect_refusal(ctx, drape_bsr3_check(ctx, A), fragment);
    expect_refusal(ctx, drape_matrix_copy(ctx, A, &copy), fragment);
    assert_null(copy);
}

/* Of a good view one number at a time is spoiled. */
static void check_catches_every_kind(void **state) {
    (void)state;
    static const struct {
        int place; /* in rowptr, or in col from 10 on */
        int64_t value;
        const char *fragment;
    } bad[] = {
        {0, 1, "start with 0"},
        {0, -1, "start with 0"},
        {1, -1, "row 0"},
        {1, 6, "row 0"},
        {2, 1, "row 1"},
        {3, 4, "row 2"},
        {4, 4, "row 1"},
        {4, 10, "row 3"},
        {4, INT64_MAX, "row 3"},
        {2, INT64_MIN, "row 1"},
        {10 + 0, -1, "row 0"},
        {10 + 0, 3, "row 0"},
        {10 + 1, 4, "row 0"},
        {10 + 3, 0, "row 1"},
        {10 + 4, 1, "row 1"},
        {10 + 4, 0, "row 1"},
        {10 + 5, INT32_MIN, "row 3"},
        {10 + 7, 2, "row 3"},
        {10 + 7, INT32_MAX, "row 3"},
    };
    drape_context *ctx = test_context(1);
    view v = good;
    drape_bsr3 A = view_of(&v);
    ASSERT_OK(ctx, drape_bsr3_check(ctx, &A));
    for (int k = 0; k < (int)(sizeof bad / sizeof *bad); k++) {
        v = good;
        if (bad[k].place < 10) v.rowptr[bad[k].place] = bad[k].value;
        else v.col[bad[k].place - 10] = (int32_t)bad[k].value;
        refuse_view(ctx, &A, bad[k].fragment);
    }
    v = good;
    A.rows = -1;
    refuse_view(ctx, &A, "-1 rows");
    A = view_of(&v);
    A.rowptr = NULL;
    refuse_view(ctx, &A, "rowptr");
    A = view_of(&v);
    A.col = NULL;
    refuse_view(ctx, &A, "columns");
    memset(v.rowptr, 0, sizeof v.rowptr); /* no blocks: no columns wanted */
    ASSERT_OK(ctx, drape_bsr3_check(ctx, &A));
    drape_context_destroy(ctx);
}

/* ---- Copies ---- */

static void copies_are_deep(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_matrix *copy, *zeros;
    view v = good;
    const double zero[72] = {0};
    for (int k = 0; k < 72; k++) v.val[k] = k + 0.5;
    const view before = v;
    drape_bsr3 A = view_of(&v);
    ASSERT_OK(ctx, drape_matrix_copy(ctx, &A, &copy));
    A.val = NULL;
    ASSERT_OK(ctx, drape_matrix_copy(ctx, &A, &zeros));
    memset(&v, 0xff, sizeof v); /* the copies do not care */
    for (int k = 0; k < 2; k++) {
        drape_bsr3 C = drape_matrix_view(k ? zeros : copy);
        assert_int_equal(C.rows, 4);
        assert_memory_equal(C.rowptr, before.rowptr, sizeof before.rowptr);
        assert_memory_equal(C.col, before.col, sizeof before.col);
        assert_memory_equal(C.val, k ? zero : before.val, sizeof before.val);
    }
    drape_matrix_destroy(copy);
    drape_matrix_destroy(zeros);
    int64_t nothing = 0;
    A = (drape_bsr3){.rows = 0, .rowptr = &nothing};
    ASSERT_OK(ctx, drape_matrix_copy(ctx, &A, &copy));
    assert_int_equal(drape_matrix_view(copy).rows, 0);
    drape_matrix_destroy(copy);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

/* Matrices on one pattern may be destroyed in any order; the pattern goes with the last. */
static void shared_patterns(void **state) {
    (void)state;
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const int32_t nodes[3] = {0, 2, 3};
    const drape_elements set = {3, 1, nodes};
    drape_context *ctx = test_context(1);
    for (int k = 0; k < 6; k++) {
        drape_matrix *all[3];
        ASSERT_OK(ctx, drape_i_pattern_from_elements(ctx, 4, &set, 1, &all[0]));
        ASSERT_OK(ctx, drape_i_matrix_on_pattern(all[0], &all[1]));
        ASSERT_OK(ctx, drape_i_matrix_on_pattern(all[0], &all[2]));
        drape_bsr3 A = drape_matrix_view(all[1]), B = drape_matrix_view(all[2]);
        assert_ptr_equal(A.col, B.col);
        assert_ptr_equal(A.rowptr, B.rowptr);
        assert_ptr_not_equal(A.val, B.val);
        for (int i = 0; i < 3; i++) {
            drape_matrix_destroy(all[orders[k][i]]);
            for (int left = i + 1; left < 3; left++) {
                drape_bsr3 L = drape_matrix_view(all[orders[k][left]]);
                ASSERT_OK(ctx, drape_bsr3_check(ctx, &L));
            }
        }
        assert_int_equal(drape_context_bytes(ctx), 0);
    }
    drape_context_destroy(ctx);
}

/* ---- Memory ---- */

static drape_status build(drape_context *ctx) {
    const int32_t triangles[] = {0, 1, 2, 2, 1, 3}, edges[] = {0, 3, 4, 4};
    const drape_elements sets[2] = {{3, 2, triangles}, {2, 2, edges}};
    drape_matrix *matrix, *copy = NULL;
    drape_status status = drape_matrix_from_elements(ctx, 6, sets, 2, &matrix);
    if (status) {
        assert_null(matrix);
        return status;
    }
    drape_bsr3 A = drape_matrix_view(matrix);
    status = drape_matrix_copy(ctx, &A, &copy);
    if (status) assert_null(copy);
    drape_matrix_destroy(matrix);
    drape_matrix_destroy(copy);
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
        if (memory.failed) continue;
        assert_true(n > 8);
        return;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_elements),     cmocka_unit_test(no_rows_and_no_elements),
        cmocka_unit_test(refused_elements),    cmocka_unit_test(check_catches_every_kind),
        cmocka_unit_test(copies_are_deep),     cmocka_unit_test(shared_patterns),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
