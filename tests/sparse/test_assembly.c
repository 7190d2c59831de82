/* The threaded assembly against the plain one, element after element, to the bit. Both go window by window of 64
 * rows, an element belonging to the window of its lowest node; in a window set by set, in a set in ascending order.
 */
#include "sparse/assembly.h"
#include "sparse/counting_allocator.h"
#include "sparse/matrix.h"

#include <string.h>

enum { SETS = 2 };

/* ---- Elements that mean nothing, but are always the same ---- */

/* A number in (-1, 1) times a power of two, from the numbers that name an entry. */
static double scramble(int32_t set, int32_t element, int32_t entry) {
    test_random r = {((uint64_t)set << 56) + ((uint64_t)element << 16) + (uint64_t)entry + 1};
    uint64_t bits = test_random_bits(&r);
    return ((double)(bits >> 11) * 0x1p-52 - 1) * (double)(1 << (bits & 15));
}

static int32_t pairs(int32_t nodes) { return nodes * (nodes + 1) / 2; }

/* Entry `k` of the block of a pair a <= b, and component k of a vector: not symmetric, not even for a = b. */
static double block_entry(int32_t set, int32_t e, int32_t pair, int32_t k) { return scramble(set, e, 9 * pair + k); }
/* The same of the block of (b, a), a < b, where it is not the transpose. */
static double lower_entry(int32_t set, int32_t e, int32_t pair, int32_t k) {
    return scramble(set, e, 500 + 9 * pair + k);
}
static double vector_entry(int32_t set, int32_t e, int32_t which, int32_t k) {
    return scramble(set, e, 1000 * (which + 1) + k);
}

typedef struct kernel_data {
    int32_t set, nodes;
} kernel_data;

static const kernel_data data_of[SETS] = {{0, 3}, {1, 4}};
static const void *const kernel_datas[SETS] = {&data_of[0], &data_of[1]};

static void kernel(const void *data, const void *at, const int32_t elements[DRAPE_I_LANES], drape_i_batch *out) {
    const kernel_data *d = data;
    assert_ptr_equal(at, data_of); /* what the job hands on */
    for (int32_t lane = 0; lane < DRAPE_I_LANES; lane++) {
        for (int32_t i = 0; i < 9 * pairs(d->nodes); i++)
            out->blocks[i][lane] = block_entry(d->set, elements[lane], i / 9, i % 9);
        for (int32_t w = 0; w < DRAPE_I_ELEMENT_VECTORS; w++)
            for (int32_t k = 0; k < 3 * d->nodes; k++)
                out->vectors[w][k][lane] = vector_entry(d->set, elements[lane], w, k);
    }
}

/* Gives all blocks, but those (b, a) that it must not: they are not numbers. */
static void unsymmetric_kernel(const void *data, const void *at, const int32_t elements[DRAPE_I_LANES],
                               drape_i_batch *out) {
    const kernel_data *d = data;
    kernel(data, at, elements, out);
    memset(out->lower, 0xff, sizeof out->lower);
    for (int32_t a = 0, pair = 0; a < d->nodes; a++)
        for (int32_t b = a; b < d->nodes; b++, pair++)
            for (int32_t i = 9 * pair; i < 9 * pair + 9 && b > a; i++)
                for (int32_t lane = 0; lane < DRAPE_I_LANES; lane++)
                    out->lower[i][lane] = lower_entry(d->set, elements[lane], pair, i % 9);
}

/* ---- Meshes ---- */

typedef struct mesh {
    int32_t rows;
    int32_t *nodes[SETS];
    drape_elements sets[SETS];
    drape_matrix *matrix;
} mesh;

/* Different nodes: near each other, and sometimes anywhere, so that elements lie across parts. */
static void random_nodes(test_random *r, int32_t rows, int32_t count, int32_t *nodes) {
    int32_t first = test_random_below(r, rows), reach = test_random_below(r, 8) && rows > 20 ? 20 : rows;
    for (int32_t a = 0; a < count;) {
        nodes[a] = (first + test_random_below(r, reach)) % rows;
        bool again = false;
        for (int32_t b = 0; b < a; b++) again |= nodes[b] == nodes[a];
        a += !again;
    }
}

static mesh random_mesh(drape_context *ctx, uint64_t seed, int32_t rows, const int32_t counts[SETS]) {
    test_random r = {seed};
    mesh m = {.rows = rows};
    for (int32_t s = 0; s < SETS; s++) {
        int32_t k = data_of[s].nodes;
        m.nodes[s] = calloc((size_t)(k * counts[s]) + 1, sizeof **m.nodes);
        for (int32_t e = 0; e < counts[s]; e++) random_nodes(&r, rows, k, m.nodes[s] + k * e);
        m.sets[s] = (drape_elements){k, counts[s], m.nodes[s]};
    }
    ASSERT_OK(ctx, drape_matrix_from_elements(ctx, rows, m.sets, SETS, &m.matrix));
    return m;
}

static void free_mesh(mesh *m) {
    drape_matrix_destroy(m->matrix);
    for (int32_t s = 0; s < SETS; s++) free(m->nodes[s]);
}

/* ---- Both ways ---- */

typedef struct outcome {
    int64_t blocks, n;
    double *val, *vectors[DRAPE_I_ELEMENT_VECTORS];
} outcome;

static outcome new_outcome(const mesh *m) {
    outcome o = {.blocks = drape_matrix_view(m->matrix).rowptr[m->rows], .n = 3 * (int64_t)m->rows};
    o.val = calloc(9 * (size_t)o.blocks + 1, sizeof *o.val);
    memset(o.val, 0xff, 9 * (size_t)o.blocks * sizeof *o.val); /* the run must clear them */
    for (int32_t w = 0; w < DRAPE_I_ELEMENT_VECTORS; w++) o.vectors[w] = calloc((size_t)o.n + 1, sizeof *o.val);
    return o;
}

static void free_outcome(outcome *o) {
    free(o->val);
    for (int32_t w = 0; w < DRAPE_I_ELEMENT_VECTORS; w++) free(o->vectors[w]);
}

/* What rows start from: the diagonal and the vectors get a number of their own. */
typedef struct beginning {
    const mesh *m;
    outcome *o;
    bool matrix;
} beginning;

static void start(void *data, int32_t begin, int32_t end) {
    beginning *b = data;
    drape_bsr3 A = drape_matrix_view(b->m->matrix);
    for (int32_t i = begin; i < end; i++) {
        int64_t diagonal = drape_i_matrix_find(&A, i, i);
        for (int k = 0; k < 9 && b->matrix; k++) {
            assert_true(b->o->val[9 * diagonal + k] == 0); /* already zero */
            b->o->val[9 * diagonal + k] = scramble(7, i, k);
        }
        for (int32_t w = 0; w < DRAPE_I_ELEMENT_VECTORS; w++)
            for (int k = 0; k < 3; k++) b->o->vectors[w][3 * i + k] = scramble(8 + w, i, k);
    }
}

static void add_naively(const mesh *m, int32_t s, int32_t e, bool unsymmetric, outcome *o) {
    drape_bsr3 A = drape_matrix_view(m->matrix);
    int32_t k = data_of[s].nodes, pair = 0;
    const int32_t *nodes = m->nodes[s] + k * e;
    for (int32_t w = 0; w < DRAPE_I_ELEMENT_VECTORS; w++)
        for (int32_t c = 0; c < 3 * k; c++) o->vectors[w][3 * nodes[c / 3] + c % 3] += vector_entry(s, e, w, c);
    for (int32_t a = 0; a < k; a++)
        for (int32_t b = a; b < k; b++, pair++)
            for (int32_t i = 0; i < 9; i++) {
                o->val[9 * drape_i_matrix_find(&A, nodes[a], nodes[b]) + i] += block_entry(s, e, pair, i);
                double *mirror = o->val + 9 * drape_i_matrix_find(&A, nodes[b], nodes[a]);
                if (a == b) continue;
                if (unsymmetric) mirror[i] += lower_entry(s, e, pair, i);
                else mirror[i % 3 * 3 + i / 3] += block_entry(s, e, pair, i);
            }
}

enum { WINDOW = 64 };

static int32_t lowest(const mesh *m, int32_t s, int32_t e) {
    const int32_t k = data_of[s].nodes, *nodes = m->nodes[s] + k * e;
    int32_t low = nodes[0];
    for (int32_t a = 1; a < k; a++) low = nodes[a] < low ? nodes[a] : low;
    return low;
}

static outcome naive(const mesh *m, const drape_i_batch_fn *kernels) {
    outcome o = new_outcome(m);
    memset(o.val, 0, 9 * (size_t)o.blocks * sizeof *o.val);
    start(&(beginning){m, &o, true}, 0, m->rows);
    for (int32_t window = 0; window <= m->rows / WINDOW; window++)
        for (int32_t s = 0; s < SETS; s++)
            for (int32_t e = 0; e < m->sets[s].count && kernels[s]; e++)
                if (lowest(m, s, e) / WINDOW == window) add_naively(m, s, e, kernels[s] == unsymmetric_kernel, &o);
    return o;
}

/* With and without the matrix, and with each choice of vectors. */
static void check_run(drape_i_assembly *assembly, const mesh *m, const drape_i_batch_fn *kernels, int choice) {
    outcome want = naive(m, kernels), got = new_outcome(m);
    bool matrix = choice & 1, unsymmetric[SETS], any = false;
    for (int32_t s = 0; s < SETS; s++) any |= unsymmetric[s] = kernels[s] == unsymmetric_kernel;
    drape_i_assembly_job job = {.A = drape_matrix_view(m->matrix),
                                .start = start,
                                .kernels = kernels,
                                .kernel_data = kernel_datas,
                                .at = data_of,
                                .unsymmetric = any ? unsymmetric : NULL,
                                .start_data = &(beginning){m, &got, matrix}};
    job.A.val = matrix ? got.val : NULL;
    for (int32_t w = 0; w < DRAPE_I_ELEMENT_VECTORS; w++)
        if (choice >> (w + 1) & 1) job.vectors[w] = got.vectors[w];
    for (int again = 0; again < 2; again++) { /* a second run does not add to the first */
        drape_i_assembly_run(assembly, &job);
        if (matrix) assert_memory_equal(got.val, want.val, 9 * (size_t)want.blocks * sizeof *want.val);
        for (int32_t w = 0; w < DRAPE_I_ELEMENT_VECTORS; w++)
            if (job.vectors[w])
                assert_memory_equal(got.vectors[w], want.vectors[w], (size_t)want.n * sizeof *want.val);
    }
    free_outcome(&want);
    free_outcome(&got);
}

static void check_mesh(uint64_t seed, int32_t rows, int32_t triangles, int32_t hinges) {
    static const int32_t threads[] = {1, 2, 3, 7};
    const drape_i_batch_fn choices[][SETS] = {{kernel, kernel},
                                              {NULL, kernel},
                                              {NULL, NULL},
                                              {unsymmetric_kernel, unsymmetric_kernel},
                                              {kernel, unsymmetric_kernel},
                                              {unsymmetric_kernel, NULL}};
    for (int k = 0; k < 4; k++) {
        drape_context *ctx = test_context(threads[k]);
        int64_t bytes = drape_context_bytes(ctx);
        mesh m = random_mesh(ctx, seed, rows, (int32_t[SETS]){triangles, hinges});
        drape_bsr3 A = drape_matrix_view(m.matrix);
        drape_i_assembly *assembly;
        ASSERT_OK(ctx, drape_i_assembly_create(ctx, &A, m.sets, SETS, &assembly));
        for (size_t c = 0; c < sizeof choices / sizeof *choices; c++) check_run(assembly, &m, choices[c], 7);
        for (int choice = 0; choice < 7 && rows < 1000; choice++) {
            check_run(assembly, &m, choices[0], choice);
            check_run(assembly, &m, choices[4], choice);
        }
        drape_i_assembly_destroy(assembly);
        free_mesh(&m);
        assert_int_equal(drape_context_bytes(ctx), bytes);
        drape_context_destroy(ctx);
    }
}

static void same_bits_as_in_order(void **state) {
    (void)state;
    check_mesh(1, 4, 1, 1);
    check_mesh(2, 9, 8, 0);
    check_mesh(3, 9, 0, 17);
    check_mesh(4, 50, 0, 0);
    check_mesh(5, 300, 500, 300);
    check_mesh(6, 511, 100, 700); /* one part of 256 rows is the least */
    check_mesh(7, 2000, 1500, 900);
    check_mesh(8, 7777, 2000, 1200); /* as many parts as threads allow */
}

/* An element whose nodes are not all different adds to one block twice. */
static void repeated_nodes(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    int32_t triangles[6] = {0, 1, 0, 2, 2, 2}, hinges[4] = {1, 1, 3, 3};
    mesh m = {.rows = 4, .nodes = {triangles, hinges}, .sets = {{3, 2, triangles}, {4, 1, hinges}}};
    const drape_i_batch_fn kernels[SETS] = {kernel, kernel};
    drape_i_assembly *assembly;
    ASSERT_OK(ctx, drape_matrix_from_elements(ctx, m.rows, m.sets, SETS, &m.matrix));
    drape_bsr3 A = drape_matrix_view(m.matrix);
    ASSERT_OK(ctx, drape_i_assembly_create(ctx, &A, m.sets, SETS, &assembly));
    outcome want = naive(&m, kernels), got = new_outcome(&m);
    drape_i_assembly_job job = {.A = A,
                                .start = start,
                                .start_data = &(beginning){&m, &got, true},
                                .kernels = kernels,
                                .kernel_data = kernel_datas,
                                .at = data_of};
    job.A.val = got.val;
    drape_i_assembly_run(assembly, &job);
    for (int64_t i = 0; i < 9 * want.blocks; i++) /* the two orders within an element differ by rounding */
        ASSERT_NEAR(got.val[i], want.val[i], 1e-10);
    free_outcome(&want);
    free_outcome(&got);
    drape_i_assembly_destroy(assembly);
    drape_matrix_destroy(m.matrix);
    drape_context_destroy(ctx);
}

static void no_rows(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    mesh m = {.sets = {{3, 0, NULL}, {4, 0, NULL}}};
    const drape_i_batch_fn kernels[SETS] = {kernel, kernel};
    drape_i_assembly *assembly;
    ASSERT_OK(ctx, drape_matrix_from_elements(ctx, 0, m.sets, SETS, &m.matrix));
    drape_bsr3 A = drape_matrix_view(m.matrix);
    ASSERT_OK(ctx, drape_i_assembly_create(ctx, &A, m.sets, SETS, &assembly));
    drape_i_assembly_job job = {.A = A,
                                .start = start,
                                .start_data = &(beginning){&m, NULL, true},
                                .kernels = kernels,
                                .kernel_data = kernel_datas,
                                .at = data_of};
    drape_i_assembly_run(assembly, &job);
    drape_i_assembly_destroy(assembly);
    drape_i_assembly_destroy(NULL);
    drape_matrix_destroy(m.matrix);
    drape_context_destroy(ctx);
}

/* An element that the pattern does not couple. */
static void refusal(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    const int32_t pattern[6] = {0, 1, 2, 2, 3, 4}, other[3] = {1, 2, 3};
    const drape_elements set = {3, 2, pattern}, wrong = {3, 1, other};
    drape_matrix *matrix;
    drape_i_assembly *assembly;
    ASSERT_OK(ctx, drape_matrix_from_elements(ctx, 5, &set, 1, &matrix));
    drape_bsr3 A = drape_matrix_view(matrix);
    int64_t bytes = drape_context_bytes(ctx);
    assert_int_equal(drape_i_assembly_create(ctx, &A, &wrong, 1, &assembly), DRAPE_ERROR_ARGUMENT);
    assert_null(assembly);
    assert_non_null(strstr(drape_message(ctx), "(1, 3)"));
    assert_int_equal(drape_context_bytes(ctx), bytes);
    drape_matrix_destroy(matrix);
    drape_context_destroy(ctx);
}

static void failing_allocations(void **state) {
    (void)state;
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    mesh m = random_mesh(ctx, 5, 100, (int32_t[SETS]){50, 30});
    drape_bsr3 A = drape_matrix_view(m.matrix);
    int64_t bytes = drape_context_bytes(ctx);
    for (int64_t n = 0;; n++) {
        drape_i_assembly *assembly;
        memory.left = n;
        memory.failed = false;
        drape_status status = drape_i_assembly_create(ctx, &A, m.sets, SETS, &assembly);
        assert_int_equal(status, memory.failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
        assert_true(!assembly == memory.failed);
        drape_i_assembly_destroy(assembly);
        assert_int_equal(drape_context_bytes(ctx), bytes);
        if (memory.failed) continue;
        assert_true(n > 6);
        break;
    }
    memory.left = -1;
    free_mesh(&m);
    drape_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_as_in_order),
        cmocka_unit_test(repeated_nodes),
        cmocka_unit_test(no_rows),
        cmocka_unit_test(refusal),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
