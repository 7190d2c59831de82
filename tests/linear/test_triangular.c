/* ssor, ichol and ilu against their definitions, M multiplied out with plain loops in the order of the sweeps; and
 * the same bits always. */
#include "linear/constraints.h"
#include "linear/precond/triangular.h"
#include "sparse/counting_allocator.h"
#include "support/random_systems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const drape_i_precond drape_i_precond_ssor, drape_i_precond_ichol, drape_i_precond_ilu;

/* Refreshes and says what shift that took. */
static double refresh(drape_context *ctx, const drape_i_precond *P, void *state, const drape_bsr3 *A,
                      const drape_constraints *set) {
    double shift = 0;
    const drape_problem problem = {.A = A};
    ASSERT_OK(ctx, P->refresh(ctx, state, &problem, set, NULL, &shift));
    return shift;
}

static double *numbers(int64_t count) {
    double *x = calloc((size_t)count + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static double *random_numbers(test_random *r, int64_t count) {
    double *x = numbers(count);
    for (int64_t i = 0; i < count; i++) x[i] = test_random_between(r, -1, 1);
    return x;
}

/* ---- Reference ---- */

static int64_t find(const drape_bsr3 *A, int32_t i, int32_t j) {
    for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
        if (A->col[k] == j) return k;
    return -1;
}

/* x = a^-1 x, by elimination with pivots. */
static void solve3(const double *a, double x[3]) {
    double m[3][4];
    for (int r = 0; r < 3; r++) {
        memcpy(m[r], a + 3 * r, 3 * sizeof(double));
        m[r][3] = x[r];
    }
    for (int c = 0; c < 3; c++) {
        int best = c;
        for (int r = c + 1; r < 3; r++)
            if (fabs(m[r][c]) > fabs(m[best][c])) best = r;
        for (int k = 0; k < 4; k++) {
            double t = m[c][k];
            m[c][k] = m[best][k], m[best][k] = t;
        }
        for (int r = 0; r < 3; r++)
            for (int k = 3; r != c && k >= c; k--) m[r][k] -= m[r][c] / m[c][c] * m[c][k];
    }
    for (int r = 0; r < 3; r++) x[r] = m[r][3] / m[r][r];
}

static void add_times(const double *a, const double *x, double factor, double out[3]) {
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) out[r] += factor * a[3 * r + c] * x[c];
}

/* out += D x / w + sum V_ij x_j over those before, or after */
static void half_product(const drape_bsr3 *V, const drape_i_sweep_order *o, bool before, double omega,
                         const double *x, double *out) {
    for (int32_t i = 0; i < V->rows; i++)
        for (int64_t k = V->rowptr[i]; k < V->rowptr[i + 1]; k++) {
            int32_t j = V->col[k];
            bool wanted = before ? o->place[j] < o->place[i] : o->place[j] > o->place[i];
            if (i == j || wanted) add_times(V->val + 9 * k, x + 3 * j, i == j ? 1 / omega : 1, out + 3 * i);
        }
}

/* |M h - r| <= tolerance |r|, M = w/(2-w) (D/w + L) D^-1 (D/w + U), V = L + D + U */
static void check_inverse(const drape_bsr3 *V, const drape_i_sweep_order *o, double omega, const double *h,
                          const double *r, double tolerance) {
    int64_t n = 3 * (int64_t)V->rows;
    double *y = numbers(n), *out = numbers(n);
    half_product(V, o, false, omega, h, y);
    for (int32_t i = 0; i < V->rows; i++) solve3(V->val + 9 * find(V, i, i), y + 3 * i);
    half_product(V, o, true, omega, y, out);
    for (int64_t i = 0; i < n; i++) out[i] *= omega / (2 - omega);
    ASSERT_NEAR(distance_of(n, out, r), 0, tolerance * norm_of(n, r));
    free(y);
    free(out);
}

/* The incomplete factorisation as it stands in triangular_factor.c's head, in place. Every block (k, k) is there. */
static void reference_block(const drape_bsr3 *V, const drape_i_sweep_order *o, int32_t i, int64_t at) {
    int32_t j = V->col[at];
    for (int32_t p = 0; p < V->rows; p++) {
        int32_t k = o->row[p];
        int64_t ik = find(V, i, k), kj = find(V, k, j);
        if (p >= o->place[i] || p >= o->place[j]) return;
        if (ik < 0 || kj < 0) continue;
        for (int c = 0; c < 3; c++) {
            double column[3] = {V->val[9 * kj + c], V->val[9 * kj + 3 + c], V->val[9 * kj + 6 + c]}, less[3] = {0};
            solve3(V->val + 9 * find(V, k, k), column);
            add_times(V->val + 9 * ik, column, 1, less);
            for (int r = 0; r < 3; r++) V->val[9 * at + 3 * r + c] -= less[r];
        }
    }
}

static void reference_factor(const drape_bsr3 *V, const drape_i_sweep_order *o) {
    for (int32_t p = 0; p < V->rows; p++)
        for (int32_t q = 0; q < V->rows; q++) {
            int64_t at = find(V, o->row[p], o->row[q]);
            if (at >= 0) reference_block(V, o, o->row[p], at);
        }
}

/* ---- Matrices ---- */

typedef struct built {
    drape_matrix *matrix;
    drape_bsr3 A;
} built;

static void destroy_built(built *b) { drape_matrix_destroy(b->matrix); }

/* A grid of so many vertices each way, with random semidefinite triangles; called[v] is what vertex v is called. */
static built grid(drape_context *ctx, int32_t side, const int32_t *called, double mass) {
    int32_t count = 0, (*triangles)[3] = calloc(2 * (size_t)side * (size_t)side + 1, sizeof *triangles);
    test_random r = {3};
    built b;
    for (int32_t y = 0; y + 1 < side; y++)
        for (int32_t x = 0; x + 1 < side; x++) {
            int32_t v = y * side + x, corner[2][3] = {{v, v + 1, v + side}, {v + 1, v + side + 1, v + side}};
            for (int t = 0; t < 2; t++, count++)
                for (int c = 0; c < 3; c++) triangles[count][c] = called ? called[corner[t][c]] : corner[t][c];
        }
    drape_elements mesh = {3, count, triangles[0]};
    ASSERT_OK(ctx, drape_matrix_from_elements(ctx, side * side, &mesh, 1, &b.matrix));
    b.A = drape_matrix_view(b.matrix);
    for (int32_t t = 0; t < count; t++)
        for (int k = 0; k < 2; k++) {
            double g[9];
            for (int c = 0; c < 9; c++) g[c] = test_random_between(&r, -1, 1);
            random_add_element(&b.A, triangles[t], 3, g, 1);
        }
    for (int32_t i = 0; i < side * side; i++)
        for (int c = 0; c < 3; c++) b.A.val[9 * find(&b.A, i, i) + 4 * c] += mass;
    free(triangles);
    return b;
}

static int32_t *shuffled(int32_t count) {
    int32_t *names = calloc((size_t)count, sizeof *names);
    test_random r = {11};
    for (int32_t i = 0; i < count; i++) {
        int32_t j = test_random_below(&r, i + 1);
        names[i] = names[j];
        names[j] = i;
    }
    return names;
}

/* About `others` blocks per row at random places, and the diagonal: neither values nor pattern symmetric. */
static built unsymmetric(drape_context *ctx, int32_t rows, int32_t others, uint64_t seed) {
    test_random r = {seed};
    built b;
    int64_t *rowptr = calloc((size_t)rows + 1, sizeof *rowptr), at = 0;
    int32_t *col = calloc((size_t)rows * (size_t)rows, sizeof *col);
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t j = 0; j < rows; j++)
            if (i == j || test_random_below(&r, rows) < others) col[at++] = j;
        rowptr[i + 1] = at;
    }
    drape_bsr3 pattern = {rows, rowptr, col, NULL};
    ASSERT_OK(ctx, drape_matrix_copy(ctx, &pattern, &b.matrix));
    b.A = drape_matrix_view(b.matrix);
    for (int64_t k = 0; k < 9 * at; k++) b.A.val[k] = test_random_between(&r, -1, 1);
    for (int32_t i = 0; i < rows; i++)
        for (int c = 0; c < 3; c++) b.A.val[9 * find(&b.A, i, i) + 4 * c] += 2 * others + 3;
    free(rowptr);
    free(col);
    return b;
}

/* ---- M h = r ---- */

static void check_ssor(drape_context *ctx, const drape_bsr3 *A, int32_t least_chunk, double omega, double tolerance) {
    test_random random = {5};
    double *r = random_numbers(&random, 3 * (int64_t)A->rows), *h = numbers(3 * (int64_t)A->rows);
    drape_i_triangular t;
    ASSERT_OK(ctx, drape_i_triangular_create(ctx, A, least_chunk, &t));
    t.omega = omega;
    assert_true(refresh(ctx, &drape_i_precond_ssor, &t, A, NULL) == 0);
    double dot = drape_i_triangular_apply(ctx, &t, r, h), want = 0;
    check_inverse(A, &t.order, omega, h, r, tolerance);
    for (int64_t i = 0; i < 3 * (int64_t)A->rows; i++) want += r[i] * h[i];
    ASSERT_NEAR(dot, want, 1e-11 * norm_of(3 * (int64_t)A->rows, r) * norm_of(3 * (int64_t)A->rows, h));
    drape_i_triangular_destroy(ctx, &t);
    free(r);
    free(h);
}

static void check_factor(drape_context *ctx, const drape_bsr3 *A, int32_t least_chunk, bool symmetric) {
    test_random random = {6};
    double *r = random_numbers(&random, 3 * (int64_t)A->rows), *h = numbers(3 * (int64_t)A->rows);
    drape_i_factor *f;
    drape_matrix *copy;
    ASSERT_OK(ctx, drape_i_factor_create(ctx, A, symmetric, least_chunk, &f));
    ASSERT_OK(ctx, drape_matrix_copy(ctx, A, &copy));
    drape_bsr3 V = drape_matrix_view(copy);
    assert_true(drape_i_factor_refresh(ctx, f, A, NULL, NULL) == 0);
    drape_i_triangular_apply(ctx, drape_i_factor_triangular(f), r, h);
    reference_factor(&V, &drape_i_factor_triangular(f)->order);
    check_inverse(&V, &drape_i_factor_triangular(f)->order, 1, h, r, 1e-11);
    drape_matrix_destroy(copy);
    drape_i_factor_destroy(ctx, f);
    free(r);
    free(h);
}

static void agree_with_their_definitions(void **state) {
    (void)state;
    static const int32_t chunks[] = {1, 2, 5, 1000};
    static const double omegas[] = {0.5, 1, 1.7};
    drape_context *ctx = test_context(2);
    int64_t before = drape_context_bytes(ctx);
    for (int c = 0; c < 4; c++) {
        built sheet = grid(ctx, 7, NULL, 2), wild = unsymmetric(ctx, 40, 4, 9);
        for (int w = 0; w < 3; w++) {
            check_ssor(ctx, &sheet.A, chunks[c], omegas[w], 1e-12);
            check_ssor(ctx, &wild.A, chunks[c], omegas[w], 1e-12);
        }
        check_factor(ctx, &sheet.A, chunks[c], true);
        check_factor(ctx, &sheet.A, chunks[c], false);
        check_factor(ctx, &wild.A, chunks[c], false);
        destroy_built(&sheet);
        destroy_built(&wild);
    }
    assert_int_equal(drape_context_bytes(ctx), before);
    drape_context_destroy(ctx);
}

/* ---- Orders ---- */

/* Every row once, and no two chunks of a colour coupled, not even by a block in one direction. */
static void check_order(drape_context *ctx, const drape_bsr3 *A, int32_t least, int32_t most_colours,
                        bool reordered) {
    drape_i_triangular t;
    ASSERT_OK(ctx, drape_i_triangular_create(ctx, A, least, &t));
    const drape_i_sweep_order *o = &t.order;
    int32_t *chunk_of = calloc((size_t)A->rows + 1, sizeof *chunk_of), *colour_of = calloc(1000, sizeof *colour_of);
    for (int32_t c = 0; c < o->colours; c++)
        for (int32_t k = o->colour[c]; k < o->colour[c + 1]; k++) colour_of[k] = c;
    for (int32_t k = 0; k < o->chunks; k++)
        for (int32_t p = o->chunk[k]; p < o->chunk[k + 1]; p++) chunk_of[o->row[p]] = k;
    for (int32_t i = 0; i < A->rows; i++) {
        assert_int_equal(o->row[o->place[i]], i);
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            int32_t a = chunk_of[i], b = chunk_of[A->col[k]];
            assert_true(a == b || colour_of[a] != colour_of[b]);
        }
    }
    assert_true(o->colours <= most_colours);
    assert_int_equal(o->breadth_first, reordered);
    free(chunk_of);
    free(colour_of);
    drape_i_triangular_destroy(ctx, &t);
}

static void chunks_of_a_colour_are_apart(void **state) {
    (void)state;
    enum { SIDE = 100 };
    drape_context *ctx = test_context(1);
    int32_t *names = shuffled(SIDE * SIDE);
    built sheet = grid(ctx, SIDE, NULL, 1), mixed = grid(ctx, SIDE, names, 1), wild = unsymmetric(ctx, 60, 2, 1);
    check_order(ctx, &sheet.A, DRAPE_I_LEAST_CHUNK, 2, false);
    check_order(ctx, &mixed.A, DRAPE_I_LEAST_CHUNK, 3, true);
    check_ssor(ctx, &sheet.A, 0, 1.2, 1e-11);
    check_ssor(ctx, &mixed.A, 0, 1.2, 1e-11);
    drape_i_triangular t;
    ASSERT_OK(ctx, drape_i_triangular_create(ctx, &wild.A, 1, &t));
    bool reordered = t.order.breadth_first;
    drape_i_triangular_destroy(ctx, &t);
    check_order(ctx, &wild.A, 1, 60, reordered);
    destroy_built(&sheet);
    destroy_built(&mixed);
    destroy_built(&wild);
    free(names);
    drape_context_destroy(ctx);
}

/* ---- Symmetric, positive definite ---- */

static void *make(drape_context *ctx, const drape_i_precond *P, const drape_bsr3 *A) {
    drape_solve_settings settings = drape_solve_defaults();
    void *state;
    settings.omega = 1.3;
    ASSERT_OK(ctx, P->create(ctx, A, &settings, &state));
    return state;
}

static void check_symmetry(drape_context *ctx, const drape_i_precond *P, const drape_bsr3 *A) {
    int64_t n = 3 * (int64_t)A->rows;
    test_random random = {8};
    void *state = make(ctx, P, A);
    refresh(ctx, P, state, A, NULL);
    for (int k = 0; k < 5; k++) {
        double *u = random_numbers(&random, n), *v = random_numbers(&random, n), *Mu = numbers(n), *Mv = numbers(n);
        double uMv = 0, vMu = 0;
        assert_true(P->apply(ctx, state, u, Mu) > 0);
        assert_true(P->apply(ctx, state, v, Mv) > 0);
        for (int64_t i = 0; i < n; i++) uMv += u[i] * Mv[i], vMu += v[i] * Mu[i];
        ASSERT_NEAR(uMv, vMu, 1e-12 * norm_of(n, u) * norm_of(n, Mv));
        free(u), free(v), free(Mu), free(Mv);
    }
    P->destroy(ctx, state);
}

static void symmetric_and_positive_definite(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    built small = grid(ctx, 10, NULL, 0.1), large = grid(ctx, 70, NULL, 0.1);
    const drape_i_precond *which[] = {&drape_i_precond_ssor, &drape_i_precond_ichol};
    for (int p = 0; p < 2; p++) {
        assert_true(which[p]->symmetric == (p == 1) && !which[p]->unsymmetric);
        check_symmetry(ctx, which[p], &small.A);
        check_symmetry(ctx, which[p], &large.A);
    }
    assert_true(drape_i_precond_ilu.unsymmetric && !drape_i_precond_ilu.symmetric);
    destroy_built(&small);
    destroy_built(&large);
    drape_context_destroy(ctx);
}

/* ichol of a pattern that is not symmetric: what has no mirror image does not count, and M stays symmetric. */
static void ichol_of_an_unsymmetric_pattern(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    for (uint64_t seed = 1; seed < 10; seed++) {
        built wild = unsymmetric(ctx, 30, 3, seed);
        check_symmetry(ctx, &drape_i_precond_ichol, &wild.A);
        destroy_built(&wild);
    }
    drape_context_destroy(ctx);
}

/* ---- Exact where there is no fill ---- */

static int32_t iterations(drape_context *ctx, const drape_bsr3 *A, const char *method, const char *precond,
                          double *shift) {
    test_random random = {4};
    int64_t n = 3 * (int64_t)A->rows;
    double *b = random_numbers(&random, n), *x = numbers(n);
    drape_solve_settings settings = drape_solve_defaults();
    drape_problem problem = {.A = A, .b = b};
    drape_solve_result result;
    settings.method = method;
    settings.precond = precond;
    settings.tol = 1e-8;
    ASSERT_OK(ctx, drape_solve(ctx, &problem, &settings, x, &result));
    assert_int_equal(result.reason, DRAPE_CONVERGED);
    if (shift) *shift = result.shift;
    free(b);
    free(x);
    return result.iterations;
}

static void factorisations_of_chains_are_exact(void **state) {
    (void)state;
    enum { ROWS = 300 };
    drape_context *ctx = test_context(1);
    int32_t pairs[ROWS - 1][2];
    test_random r = {2};
    drape_matrix *matrix;
    for (int32_t i = 0; i + 1 < ROWS; i++) pairs[i][0] = i, pairs[i][1] = i + 1;
    drape_elements chain = {2, ROWS - 1, pairs[0]};
    ASSERT_OK(ctx, drape_matrix_from_elements(ctx, ROWS, &chain, 1, &matrix));
    drape_bsr3 A = drape_matrix_view(matrix);
    for (int32_t i = 0; i + 1 < ROWS; i++)
        for (int k = 0; k < 4; k++) {
            double g[6];
            for (int c = 0; c < 6; c++) g[c] = test_random_between(&r, -1, 1);
            random_add_element(&A, pairs[i], 2, g, 1);
        }
    for (int32_t i = 0; i < ROWS; i++)
        for (int c = 0; c < 3; c++) A.val[9 * find(&A, i, i) + 4 * c] += 0.01;
    assert_int_equal(iterations(ctx, &A, "ppcg", "ichol", NULL), 1);
    for (int64_t k = 0; k < 9 * A.rowptr[ROWS]; k++) A.val[k] += test_random_between(&r, -0.1, 0.1);
    assert_int_equal(iterations(ctx, &A, "bicgstab", "ilu", NULL), 1);
    drape_matrix_destroy(matrix);
    drape_context_destroy(ctx);
}

/* ---- Prefiltered ---- */

/* h = S M^-1 S r with M made from the prefiltered matrix itself. */
static void explicit_way(drape_context *ctx, const drape_i_precond *P, const random_system *s, const double *r,
                         double *h) {
    drape_bsr3 filtered = s->A;
    double *Sr = numbers(3 * (int64_t)s->rows);
    filtered.val = numbers(9 * s->A.rowptr[s->rows]);
    drape_problem problem = {.A = &s->A, .b = s->b, .constraints = s->set};
    ASSERT_OK(ctx, drape_prefilter(ctx, &problem, filtered.val, NULL));
    memcpy(Sr, r, 3 * (size_t)s->rows * sizeof *r);
    drape_i_filter(s->set, Sr);
    void *state = make(ctx, P, &filtered);
    refresh(ctx, P, state, &filtered, NULL);
    P->apply(ctx, state, Sr, h);
    drape_i_filter(s->set, h);
    P->destroy(ctx, state);
    free(filtered.val);
    free(Sr);
}

static void check_prefiltered(drape_context *ctx, const drape_i_precond *P, const random_system *s) {
    int64_t n = 3 * (int64_t)s->rows;
    test_random random = {1};
    double *r = random_numbers(&random, n), *h = numbers(n), *want = numbers(n), *again = numbers(n);
    void *state = make(ctx, P, &s->A);
    refresh(ctx, P, state, &s->A, s->set);
    P->apply(ctx, state, r, h);
    explicit_way(ctx, P, s, r, want);
    ASSERT_NEAR(distance_of(n, h, want), 0, 1e-12 * norm_of(n, want));
    memcpy(again, h, (size_t)n * sizeof *h);
    drape_i_filter(s->set, again);
    ASSERT_NEAR(distance_of(n, h, again), 0, 1e-14 * norm_of(n, want));
    P->destroy(ctx, state);
    free(r), free(h), free(want), free(again);
}

static void prefiltered_as_if_formed(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        random_settings settings = {50, 100, 0.4, RANDOM_DIRECTIONS, true, seed % 2 ? 0 : 0.2, seed};
        random_system s = random_system_create(ctx, &settings);
        check_prefiltered(ctx, &drape_i_precond_ssor, &s);
        check_prefiltered(ctx, &drape_i_precond_ichol, &s);
        check_prefiltered(ctx, &drape_i_precond_ilu, &s);
        random_system_destroy(&s);
    }
    drape_context_destroy(ctx);
}

/* ---- Breakdown ---- */

/* m (4 x 4) with every number times I. */
static drape_bsr3 times_identity(const double m[4][4], int64_t rowptr[5], int32_t col[16], double val[144]) {
    int64_t at = 0;
    memset(val, 0, 144 * sizeof *val);
    rowptr[0] = 0;
    for (int32_t i = 0; i < 4; i++) {
        for (int32_t j = 0; j < 4; j++) {
            if (m[i][j] == 0) continue;
            for (int c = 0; c < 3; c++) val[9 * at + 4 * c] = m[i][j];
            col[at++] = j;
        }
        rowptr[i + 1] = at;
    }
    return (drape_bsr3){4, rowptr, col, val};
}

/* Kershaw (1978): positive definite, and its incomplete factor has the pivots 3, 5/3, 3/5, -5. */
static void kershaws_matrix_is_shifted(void **state) {
    (void)state;
    static const double kershaw[4][4] = {{3, -2, 0, 2}, {-2, 3, -2, 0}, {0, -2, 3, -2}, {2, 0, -2, 3}};
    int64_t rowptr[5];
    int32_t col[16];
    double val[144], shift = -1, larger;
    drape_context *ctx = test_context(1);
    drape_bsr3 A = times_identity(kershaw, rowptr, col, val);
    assert_true(iterations(ctx, &A, "ppcg", "ichol", &shift) <= 12);
    assert_true(shift > 0 && shift < 1);
    for (int32_t i = 0; i < 4; i++)
        for (int64_t k = rowptr[i]; k < rowptr[i + 1]; k++)
            for (int c = 0; col[k] != i && c < 9; c++) val[9 * k + c] *= 3; /* indefinite now: it takes more */
    void *p = make(ctx, &drape_i_precond_ichol, &A);
    larger = refresh(ctx, &drape_i_precond_ichol, p, &A, NULL);
    assert_true(larger > shift);
    drape_i_precond_ichol.destroy(ctx, p);
    check_symmetry(ctx, &drape_i_precond_ichol, &A);
    drape_context_destroy(ctx);
}

static void ilu_shifts_singular_pivots(void **state) {
    (void)state;
    static const double singular[4][4] = {{1, 1, 0, 0}, {1, 1, 1, 0}, {0, 1, 1, 0}, {0, 0, 0, 1}};
    int64_t rowptr[5];
    int32_t col[16];
    double val[144], r[12], h[12];
    drape_context *ctx = test_context(1);
    drape_bsr3 A = times_identity(singular, rowptr, col, val);
    void *p = make(ctx, &drape_i_precond_ilu, &A);
    for (int i = 0; i < 12; i++) r[i] = i - 5;
    assert_true(refresh(ctx, &drape_i_precond_ilu, p, &A, NULL) > 0);
    drape_i_precond_ilu.apply(ctx, p, r, h);
    for (int i = 0; i < 12; i++) assert_true(isfinite(h[i]));
    drape_i_precond_ilu.destroy(ctx, p);
    drape_context_destroy(ctx);
}

/* Values that no factorisation can take leave a preconditioner that is defined, and the next one is as if nothing had
 * been. */
static void survives_numbers_that_are_none(void **state) {
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY, -1, 0};
    drape_context *ctx = test_context(1);
    const drape_i_precond *which[] = {&drape_i_precond_ssor, &drape_i_precond_ichol, &drape_i_precond_ilu};
    built sheet = grid(ctx, 6, NULL, 1);
    double r[108], want[108], h[108], *val = numbers(9 * sheet.A.rowptr[36]);
    memcpy(val, sheet.A.val, 9 * (size_t)sheet.A.rowptr[36] * sizeof *val);
    for (int i = 0; i < 108; i++) r[i] = sin(i);
    for (int p = 0; p < 3; p++) {
        void *made = make(ctx, which[p], &sheet.A);
        refresh(ctx, which[p], made, &sheet.A, NULL);
        which[p]->apply(ctx, made, r, want);
        for (int k = 0; k < 5; k++) {
            for (int c = 0; c < 9; c++) sheet.A.val[9 * find(&sheet.A, 14, 14) + c] = bad[k];
            assert_true(isfinite(refresh(ctx, which[p], made, &sheet.A, NULL)));
            which[p]->apply(ctx, made, r, h);
            for (int i = 0; i < 108; i++) assert_true(isfinite(h[i]));
            memcpy(sheet.A.val, val, 9 * (size_t)sheet.A.rowptr[36] * sizeof *val);
            refresh(ctx, which[p], made, &sheet.A, NULL);
            which[p]->apply(ctx, made, r, h);
            assert_memory_equal(h, want, sizeof h);
        }
        which[p]->destroy(ctx, made);
    }
    destroy_built(&sheet);
    free(val);
    drape_context_destroy(ctx);
}

/* ---- Bits ---- */

static drape_context *context_at(int32_t threads, drape_simd simd) {
    drape_context_settings settings = drape_context_defaults();
    drape_context *ctx;
    settings.threads = threads;
    settings.simd = simd;
    return drape_context_create(&settings, &ctx) == DRAPE_OK ? ctx : NULL;
}

typedef struct answer {
    double shift, dot;
    double *h;
} answer;

static answer answer_of(drape_context *ctx, const drape_i_precond *P, const drape_bsr3 *A) {
    int64_t n = 3 * (int64_t)A->rows;
    test_random random = {1};
    double *r = random_numbers(&random, n);
    void *state = make(ctx, P, A);
    answer a = {.h = numbers(n)};
    a.shift = refresh(ctx, P, state, A, NULL);
    a.dot = P->apply(ctx, state, r, a.h);
    P->destroy(ctx, state);
    free(r);
    return a;
}

static void check_bits(const drape_i_precond *P, const drape_bsr3 *A) {
    static const int32_t threads[] = {1, 2, 3, 7};
    answer want = {.h = NULL};
    for (int simd = DRAPE_SIMD_BASELINE; simd <= DRAPE_SIMD_AVX512; simd++)
        for (int k = 0; k < 4; k++) {
            drape_context *ctx = context_at(threads[k], (drape_simd)simd);
            if (!ctx) continue;
            answer a = answer_of(ctx, P, A);
            if (want.h) {
                assert_true(a.shift == want.shift && a.dot == want.dot);
                assert_memory_equal(a.h, want.h, 3 * (size_t)A->rows * sizeof *a.h);
                free(a.h);
            } else want = a;
            drape_context_destroy(ctx);
        }
    free(want.h);
}

/* With a mass that lets the factors be and one that they break down with. */
static void threads_and_levels_change_no_bit(void **state) {
    (void)state;
    enum { SIDE = 95 };
    drape_context *ctx = test_context(1);
    int32_t *names = shuffled(SIDE * SIDE);
    for (int k = 0; k < 4; k++) {
        built sheet = grid(ctx, SIDE, k % 2 ? names : NULL, k < 2 ? 1 : 1e-6);
        check_bits(&drape_i_precond_ssor, &sheet.A);
        check_bits(&drape_i_precond_ichol, &sheet.A);
        check_bits(&drape_i_precond_ilu, &sheet.A);
        destroy_built(&sheet);
    }
    free(names);
    drape_context_destroy(ctx);
}

/* ---- Memory ---- */

static void check_memory(const drape_i_precond *P, const drape_bsr3 *A) {
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    int64_t n = 3 * (int64_t)A->rows, before = memory.live;
    double *r = numbers(n), *h = numbers(n);
    drape_solve_settings settings = drape_solve_defaults();
    drape_status status = DRAPE_ERROR_MEMORY;
    void *state = NULL;
    int64_t requests = 0;
    for (; status; requests++) { /* every request fails once */
        memory.left = requests;
        status = P->create(ctx, A, &settings, &state);
        assert_true(status == DRAPE_OK || status == DRAPE_ERROR_MEMORY);
        if (status) assert_int_equal(memory.live, before);
    }
    assert_true(requests > 5);
    memory.left = 0;
    memory.failed = false;
    for (int k = 0; k < 2; k++) {
        refresh(ctx, P, state, A, NULL);
        P->apply(ctx, state, r, h);
    }
    assert_false(memory.failed);
    memory.left = -1;
    assert_true(P->traffic(state) > 72 * (A->rowptr[A->rows] - A->rows));
    P->destroy(ctx, state);
    assert_int_equal(memory.live, before);
    drape_context_destroy(ctx);
    free(r);
    free(h);
}

static void allocate_in_create_alone(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    int32_t *names = shuffled(75 * 75);
    built sheet = grid(ctx, 75, names, 1e-6); /* shuffled, and breaks down: all there is to be done */
    check_memory(&drape_i_precond_ssor, &sheet.A);
    check_memory(&drape_i_precond_ichol, &sheet.A);
    check_memory(&drape_i_precond_ilu, &sheet.A);
    destroy_built(&sheet);
    free(names);
    drape_context_destroy(ctx);
}

/* ---- Odd shapes ---- */

/* Isolated vertices, one of them, none: M is the block diagonal. */
static void check_isolated(drape_context *ctx, const drape_i_precond *P, int32_t rows) {
    int64_t *rowptr = calloc((size_t)rows + 1, sizeof *rowptr);
    int32_t *col = calloc((size_t)rows + 1, sizeof *col);
    double *val = numbers(9 * (int64_t)rows), *r = numbers(3 * (int64_t)rows), *h = numbers(3 * (int64_t)rows);
    for (int32_t i = 0; i < rows; i++) {
        static const double block[9] = {2, 1, 0, 1, 3, 0, 0, 0, 4};
        rowptr[i + 1] = i + 1;
        col[i] = i;
        memcpy(val + 9 * i, block, sizeof block);
        r[3 * i] = 3, r[3 * i + 1] = 4, r[3 * i + 2] = 4 * i;
    }
    drape_bsr3 A = {rows, rowptr, col, val};
    drape_solve_settings settings = drape_solve_defaults();
    void *state;
    ASSERT_OK(ctx, P->create(ctx, &A, &settings, &state));
    refresh(ctx, P, state, &A, NULL);
    double dot = P->apply(ctx, state, r, h), want = 0;
    for (int32_t i = 0; i < rows; i++) {
        ASSERT_NEAR(h[3 * i], 1, 1e-15);
        ASSERT_NEAR(h[3 * i + 1], 1, 1e-15);
        ASSERT_NEAR(h[3 * i + 2], i, 1e-15 * i);
        want += 7 + 4.0 * i * i;
    }
    ASSERT_NEAR(dot, want, 1e-12 * want);
    P->destroy(ctx, state);
    free(rowptr), free(col), free(val), free(r), free(h);
}

static void isolated_vertices(void **state) {
    (void)state;
    static const int32_t rows[] = {0, 1, 2, 5000};
    drape_context *ctx = test_context(2);
    int64_t before = drape_context_bytes(ctx);
    for (int k = 0; k < 4; k++) {
        check_isolated(ctx, &drape_i_precond_ssor, rows[k]);
        check_isolated(ctx, &drape_i_precond_ichol, rows[k]);
        check_isolated(ctx, &drape_i_precond_ilu, rows[k]);
    }
    assert_int_equal(drape_context_bytes(ctx), before);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agree_with_their_definitions),       cmocka_unit_test(chunks_of_a_colour_are_apart),
        cmocka_unit_test(symmetric_and_positive_definite),    cmocka_unit_test(ichol_of_an_unsymmetric_pattern),
        cmocka_unit_test(factorisations_of_chains_are_exact), cmocka_unit_test(prefiltered_as_if_formed),
        cmocka_unit_test(kershaws_matrix_is_shifted),         cmocka_unit_test(ilu_shifts_singular_pivots),
        cmocka_unit_test(survives_numbers_that_are_none),     cmocka_unit_test(threads_and_levels_change_no_bit),
        cmocka_unit_test(allocate_in_create_alone),           cmocka_unit_test(isolated_vertices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
