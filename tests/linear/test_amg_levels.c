/* Operations on the levels of a hierarchy (linear/amg/): products, sweeps, transfers, the coarsest solve and the
 * cycle, against plain computations in double. Bits depend on neither threads, vector width nor history. How levels
 * are set up has tests of its own, test_amg_parts.c. */
#include "linear/amg/kernels.h"
#include "linear/constraints.h"
#include "support/amg_levels.h"
#include "support/dense.h"
#include "support/random_systems.h"
#include "support/sheets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Levels made by hand ---- */

/* A random U: each row has up to `blocks` blocks within `width` of the diagonal, and with the probability `far` one
 * anywhere. */
typedef struct hand_made {
    int32_t rows, r, blocks, width;
    double far;
} hand_made;

static int compare_columns(const void *a, const void *b) { return *(const int32_t *)a - *(const int32_t *)b; }

/* The columns of row i, ascending, once each. */
static int32_t random_columns(const hand_made *h, test_random *r, int32_t i, int32_t *out) {
    int32_t count = 0, kept = 0, left = h->rows - 1 - i;
    if (left == 0) return 0;
    for (int32_t k = 0; k < h->blocks; k++)
        out[count++] = i + 1 + test_random_below(r, left < h->width ? left : h->width);
    if (test_random_unit(r) < h->far) out[count++] = i + 1 + test_random_below(r, left);
    qsort(out, (size_t)count, sizeof *out, compare_columns);
    for (int32_t k = 0; k < count; k++)
        if (k == 0 || out[k] != out[k - 1]) out[kept++] = out[k];
    return kept;
}

static drape_i_level level_by_hand(drape_context *ctx, const hand_made *h) {
    drape_i_level l = {0};
    const int64_t room = (int64_t)h->rows * (h->blocks + 1), length = (int64_t)h->rows * DRAPE_I_STRIDE(h->r);
    int32_t *col = calloc((size_t)room + 1, sizeof *col), *count = calloc((size_t)h->rows + 1, sizeof *count);
    int64_t total = 0;
    test_random r = {(uint64_t)h->rows};
    for (int32_t i = 0; i < h->rows; i++) total += count[i] = random_columns(h, &r, i, col + total);
    ASSERT_OK(ctx, drape_i_upper_alloc(ctx, h->rows, h->r, total, &l.A));
    for (int32_t i = 0; i < h->rows; i++) l.A.start[i + 1] = l.A.start[i] + count[i];
    memcpy(l.A.col, col, (size_t)total * sizeof *col);
    for (int64_t k = 0; k < total * h->r * h->r; k++)
        l.A.val[k] = (float)test_random_between(&r, -1, 1) / (float)(h->r * h->blocks);
    ASSERT_OK(ctx, drape_i_upper_finish_pattern(ctx, &l.A));
    l.numbers = 3 * length;
    l.vectors = drape_i_fvector(ctx, l.numbers);
    l.x = l.vectors, l.b = l.x + length, l.t = l.b + length;
    free(col), free(count);
    return l;
}

static void level_clear(drape_context *ctx, drape_i_level *l) {
    drape_i_fvector_free(ctx, l->vectors, l->numbers);
    drape_i_upper_free(ctx, &l->A);
}

static void for_hand_made(void (*visit)(drape_context *ctx, drape_i_level *l)) {
    const hand_made cases[] = {{1, 3, 2, 4, 0},          {7, 6, 2, 3, 0},           {1023, 3, 4, 40, 0.1},
                               {1024, 3, 4, 40, 0},      {1025, 6, 4, 300, 0.2},    {5000, 3, 5, 90, 0.01},
                               {3000, 6, 3, 2999, 0},    {10000, 3, 3, 100, 0.003}, {40000, 3, 2, 300, 0},
                               {150000, 3, 2, 500, 0.05}};
    drape_context *ctx = test_context(1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        drape_i_level l = level_by_hand(ctx, &cases[k]);
        visit(ctx, &l);
        level_clear(ctx, &l);
    }
    drape_context_destroy(ctx);
}

/* All vector widths that there are, with 1 to 4 threads. */
static void for_contexts(void (*visit)(drape_context *ctx, void *data), void *data) {
    for (int simd = DRAPE_SIMD_BASELINE; simd <= DRAPE_SIMD_AVX512; simd++)
        for (int32_t threads = 1; threads <= 4; threads++) {
            drape_context *ctx = amg_context(threads, (drape_simd)simd);
            if (!ctx) continue;
            visit(ctx, data);
            drape_context_destroy(ctx);
        }
}

/* ---- References ---- */

/* sum = sum of A_ij x_j over j != i */
static void row_sum(const amg_whole *w, int32_t i, const double *x, double *sum) {
    const int32_t r = w->A->r;
    double a[36];
    for (int32_t e = 0; e < r; e++) sum[e] = 0;
    for (int64_t k = w->start[i]; k < w->start[i + 1]; k++) {
        amg_whole_block(w, i, k, a);
        for (int32_t e = 0; e < r * r; e++) sum[e / r] += a[e] * x[(int64_t)r * w->col[k] + e % r];
    }
}

/* y = (I + U + U') x */
static void multiply(const amg_whole *w, const double *x, double *y) {
    const int32_t r = w->A->r;
    for (int32_t i = 0; i < w->A->rows; i++) {
        row_sum(w, i, x, y + (int64_t)r * i);
        for (int32_t e = 0; e < r; e++) y[(int64_t)r * i + e] += x[(int64_t)r * i + e];
    }
}

/* Gauss and Seidel's sweep, in place: colour by colour, the rows of a band from the last to the first; or all of that
 * in the opposite order. */
static void sweep(const amg_whole *w, const double *b, double *x, bool back) {
    const drape_i_bands *bands = &w->A->bands;
    const int32_t r = w->A->r;
    double sum[6];
    for (int32_t k = 0; k < bands->count; k++) {
        int32_t band = bands->order[back ? bands->count - 1 - k : k];
        int32_t first = bands->first[band], last = bands->first[band + 1];
        for (int32_t n = first; n < last; n++) {
            int32_t i = back ? n : first + last - 1 - n;
            row_sum(w, i, x, sum);
            for (int32_t e = 0; e < r; e++) x[(int64_t)r * i + e] = b[(int64_t)r * i + e] - sum[e];
        }
    }
}

static void all_near(int64_t n, const double *got, const double *want, double error) {
    error *= 1 + amg_largest(n, want);
    for (int64_t i = 0; i < n; i++) ASSERT_NEAR(got[i], want[i], error);
}

static void same_numbers(int64_t n, const double *a, const double *b) {
    assert_memory_equal(a, b, (size_t)n * sizeof *a);
}

/* ---- Multiplying ---- */

typedef struct trial {
    drape_i_level *l;
    const double *b, *start; /* right-hand side; x before the last sweep */
    double *x, *t;           /* results of the first context, NULL before that */
    bool last;
} trial;

/* The first result is kept, all others are the same. */
static void keep_or_compare(const drape_i_level *l, const float *got, double **kept) {
    const int64_t n = (int64_t)l->A.rows * l->A.r;
    double *numbers = dense_new(n);
    amg_collect(l, got, numbers);
    if (*kept) {
        same_numbers(n, numbers, *kept);
        free(numbers);
    } else *kept = numbers;
}

static void try_multiply(drape_context *ctx, void *data) {
    trial *t = data;
    amg_spread(t->l, t->b, t->l->b);
    amg_spread(t->l, t->b, t->l->x); /* anything */
    drape_i_upper_multiply(ctx, &t->l->A, t->l->b, t->l->x);
    keep_or_compare(t->l, t->l->x, &t->x);
}

static void check_multiply(drape_context *ctx, drape_i_level *l) {
    const int64_t n = (int64_t)l->A.rows * l->A.r;
    test_random r = {4};
    double *b = amg_random(&r, n), *want = dense_new(n);
    amg_whole w = amg_whole_of(&l->A);
    trial t = {.l = l, .b = b};
    (void)ctx;
    for_contexts(try_multiply, &t);
    multiply(&w, b, want);
    all_near(n, t.x, want, 1e-6);
    amg_whole_clear(&w);
    free(b), free(want), free(t.x);
}

static void products_with_half_a_matrix(void **state) {
    (void)state;
    for_hand_made(check_multiply);
}

/* ---- Sweeps ---- */

typedef struct sweeping {
    drape_simd simd;
    const drape_i_level *l;
    void (*const *kernel)(const drape_i_level *level, int32_t band);
} sweeping;

static void sweep_band(void *data, int32_t band) {
    const sweeping *s = data;
    s->kernel[s->simd](s->l, band);
}

static void try_sweep(drape_context *ctx, void *data) {
    trial *t = data;
    sweeping first = {ctx->simd, t->l, drape_i_gs_first_at}, border = {ctx->simd, t->l, drape_i_gs_border_at};
    sweeping last = {ctx->simd, t->l, drape_i_gs_last_at};
    amg_spread(t->l, t->b, t->l->b);
    amg_spread(t->l, t->start, t->l->x); /* the first: anything */
    amg_spread(t->l, t->start, t->l->t);
    if (t->last) drape_i_bands_coloured(ctx, &t->l->A.bands, true, sweep_band, &last);
    else {
        drape_i_bands_coloured(ctx, &t->l->A.bands, false, sweep_band, &first);
        drape_i_bands_all(ctx, &t->l->A.bands, sweep_band, &border);
        keep_or_compare(t->l, t->l->t, &t->t);
    }
    keep_or_compare(t->l, t->l->x, &t->x);
}

/* x = (I + F)^-1 b, F what comes before in the order of the sweep, and the residual b - A x in t */
static void check_first(drape_context *ctx, drape_i_level *l) {
    const int64_t n = (int64_t)l->A.rows * l->A.r;
    test_random r = {5};
    double *b = amg_random(&r, n), *start = amg_random(&r, n), *want = dense_new(n), *residual = dense_new(n);
    amg_whole w = amg_whole_of(&l->A);
    trial t = {.l = l, .b = b, .start = start};
    (void)ctx;
    for_contexts(try_sweep, &t);
    sweep(&w, b, want, false);
    all_near(n, t.x, want, 2e-6);
    multiply(&w, want, residual);
    for (int64_t i = 0; i < n; i++) residual[i] = b[i] - residual[i];
    all_near(n, t.t, residual, 2e-6);
    amg_whole_clear(&w);
    free(b), free(start), free(want), free(residual), free(t.x), free(t.t);
}

/* x = (I + F')^-1 (b - F x) */
static void check_last(drape_context *ctx, drape_i_level *l) {
    const int64_t n = (int64_t)l->A.rows * l->A.r;
    test_random r = {6};
    double *b = amg_random(&r, n), *start = amg_random(&r, n), *want = dense_new(n);
    amg_whole w = amg_whole_of(&l->A);
    trial t = {.l = l, .b = b, .start = start, .last = true};
    (void)ctx;
    for_contexts(try_sweep, &t);
    memcpy(want, start, (size_t)n * sizeof *want);
    sweep(&w, b, want, true);
    all_near(n, t.x, want, 2e-6);
    amg_whole_clear(&w);
    free(b), free(start), free(want), free(t.x);
}

static void first_sweep_and_its_residual(void **state) {
    (void)state;
    for_hand_made(check_first);
}

static void last_sweep(void **state) {
    (void)state;
    for_hand_made(check_last);
}

/* What the sweeps above are tried on has one band and many, few colours and as many as bands. */
static int32_t most_bands, most_colours, most_borders;

static void note_bands(drape_context *ctx, drape_i_level *l) {
    (void)ctx;
    if (l->A.bands.count > most_bands) most_bands = l->A.bands.count;
    if (l->A.bands.colours > most_colours) most_colours = l->A.bands.colours;
    if (l->A.borders > most_borders) most_borders = l->A.borders;
    print_message("%6d rows of %d: %2d bands, %2d colours, %6d borders\n", l->A.rows, l->A.r, l->A.bands.count,
                  l->A.bands.colours, l->A.borders);
    assert_true(l->A.rows >= 1024 || l->A.borders == 0);
}

static void sweeps_met_all_kinds_of_bands(void **state) {
    (void)state;
    for (int simd = DRAPE_SIMD_BASELINE; simd <= DRAPE_SIMD_AVX512; simd++)
        if (!drape_i_simd_available((drape_simd)simd))
            print_message("no %s here: not tried\n", drape_simd_name((drape_simd)simd));
    for_hand_made(note_bands);
    assert_true(most_bands == DRAPE_I_BANDS && most_colours == DRAPE_I_BANDS && most_borders > 1000);
}

/* ---- Between levels ---- */

/* y = P x or P' x */
static void apply_interpolation(const drape_i_fblocks *P, bool transposed, const double *x, double *y) {
    const int32_t r = P->r, c = P->c;
    memset(y, 0, (size_t)(transposed ? (int64_t)P->cols * c : (int64_t)P->rows * r) * sizeof *y);
    for (int32_t i = 0; i < P->rows; i++)
        for (int64_t k = P->start[i]; k < P->start[i + 1]; k++)
            for (int32_t e = 0; e < r * c; e++) {
                int64_t row = (int64_t)r * i + e / c, col = (int64_t)c * P->col[k] + e % c;
                double p = P->val[r * c * k + e];
                if (transposed) y[col] += p * x[row];
                else y[row] += p * x[col];
            }
}

static void check_transfers_at(const drape_i_level *fine, const drape_i_level *coarse, int simd) {
    const int64_t n = (int64_t)fine->A.rows * fine->A.r, few = (int64_t)coarse->A.rows * coarse->A.r;
    test_random r = {2};
    double *t = amg_random(&r, n), *x = amg_random(&r, n), *e = amg_random(&r, few);
    double *got = dense_new(n + few), *want = dense_new(n + few);
    amg_spread(fine, t, fine->t);
    amg_spread(fine, x, fine->x);
    amg_spread(coarse, e, coarse->x);
    memset(coarse->b, 0, (size_t)(DRAPE_I_STRIDE(coarse->A.r) * (int64_t)coarse->A.rows) * sizeof *coarse->b);
    for (int32_t band = 0; band < fine->A.bands.count; band++) drape_i_restrict_at[simd](fine, coarse->b, band);
    drape_i_prolong_at[simd](fine, coarse->x, 0, fine->A.rows);
    apply_interpolation(&fine->P, true, t, want);
    amg_collect(coarse, coarse->b, got);
    all_near(few, got, want, 1e-5);
    apply_interpolation(&fine->P, false, e, want);
    for (int64_t i = 0; i < n; i++) want[i] += x[i];
    amg_collect(fine, fine->x, got);
    all_near(n, got, want, 2e-6);
    free(t), free(x), free(e), free(got), free(want);
}

static void check_transfers(amg_made *m) {
    for (int simd = DRAPE_SIMD_BASELINE; simd <= DRAPE_SIMD_AVX512; simd++)
        for (int32_t l = 0; l + 1 < m->h.levels && drape_i_simd_available((drape_simd)simd); l++)
            check_transfers_at(&m->h.level[l], &m->h.level[l + 1], simd);
}

static void transfers_apply_interpolation(void **state) {
    (void)state;
    amg_for_many(check_transfers);
}

/* ---- The coarsest level ---- */

/* The factor is L and L' in one. */
static void check_factor(amg_made *m) {
    const int64_t n = m->h.coarse;
    if (n == 0) return;
    double *want = amg_dense(&m->h.level[m->h.levels - 1].A), *f = m->h.factor, worst = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0;
            for (int64_t k = 0; k <= j; k++) sum += f[i * n + k] * f[j * n + k];
            worst = fmax(worst, fabs(sum - want[i * n + j]));
            assert_true(f[i * n + j] == f[j * n + i]);
        }
    ASSERT_NEAR(worst, 0, 1e-12);
    free(want);
}

static void check_coarse_solve(amg_made *m) {
    const drape_i_level *l = &m->h.level[m->h.levels - 1];
    const int32_t n = m->h.coarse;
    test_random r = {9};
    if (n == 0) return;
    assert_int_equal(n, l->A.rows * l->A.r);
    double *b = amg_random(&r, n), *x = dense_new(n), *A = amg_dense(&l->A);
    amg_spread(l, b, l->b);
    drape_i_coarse_solve(&m->h);
    amg_collect(l, l->x, x);
    assert_true(dense_cholesky(n, A));
    dense_cholesky_solve(n, A, b);
    all_near(n, x, b, 1e-6);
    free(A), free(b), free(x);
}

static void coarsest_level_is_solved(void **state) {
    (void)state;
    amg_for_many(check_factor);
    amg_for_many(check_coarse_solve);
}

/* One that is not positive definite is taken as I. */
static void coarsest_level_may_be_bad(void **state) {
    drape_context *ctx = test_context(1);
    drape_i_hierarchy h = {.levels = 1, .coarse = 21};
    test_random r = {3};
    double *b = amg_random(&r, 21), *x = dense_new(21);
    (void)state;
    h.level[0] = level_by_hand(ctx, &(hand_made){7, 3, 2, 3, 0});
    h.factor = dense_new(21 * 21);
    h.column = dense_new(21);
    for (int32_t bad = 0; bad < 2; bad++) {
        h.level[0].A.val[0] = bad ? NAN : 40;
        drape_i_coarse_factor(&h);
        amg_spread(&h.level[0], b, h.level[0].b);
        drape_i_coarse_solve(&h);
        amg_collect(&h.level[0], h.level[0].x, x);
        same_numbers(21, x, b);
    }
    level_clear(ctx, &h.level[0]);
    free(h.factor), free(h.column), free(b), free(x);
    drape_context_destroy(ctx);
}

/* A matrix that is small enough is factored at once: one cycle solves, W'b before it and W x after. */
static void small_matrix_is_solved_by_one_cycle(void **state) {
    drape_context *ctx = test_context(1);
    random_settings wanted = {50, 60, 0.3, RANDOM_DIRECTIONS, false, 0.1, 4};
    random_system s = random_system_create(ctx, &wanted);
    drape_i_amg_settings want = amg_settings(3);
    amg_made m = amg_make(ctx, &s.A, s.set, NULL, &want);
    drape_i_level *l = &m.h.level[0];
    double *b = dense_new(150), *x = dense_new(150), *unscaled = dense_new(150), *expected = dense_new(150);
    (void)state;
    assert_int_equal(m.h.levels, 1);
    for (int32_t i = 0; i < 50; i++)
        for (int e = 0; e < 9; e++) b[3 * i + e % 3] += l->scale[9 * i + e] * s.b[3 * i + e / 3] * m.in.scale;
    amg_spread(l, b, l->b);
    drape_i_cycle(ctx, &m.h);
    amg_collect(l, l->x, x);
    for (int32_t i = 0; i < 50; i++)
        for (int e = 0; e < 9; e++) unscaled[3 * i + e / 3] += l->scale[9 * i + e] * x[3 * i + e % 3];
    random_reference(&s, expected);
    ASSERT_NEAR(distance_of(150, unscaled, expected), 0, 1e-5 * norm_of(150, expected));
    free(b), free(x), free(unscaled), free(expected);
    amg_unmake(&m);
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

/* ---- The cycle ---- */

static void run_cycle(amg_made *m, const double *b, double *x) {
    const drape_i_level *l = &m->h.level[0];
    amg_spread(l, b, l->b);
    drape_i_cycle(m->ctx, &m->h);
    amg_collect(l, l->x, x);
}

/* M, dense, by applying the cycle to unit vectors. */
static double *cycle_matrix(amg_made *m) {
    const int64_t n = (int64_t)m->h.level[0].A.rows * m->h.level[0].A.r;
    double *M = dense_new(n * n), *unit = dense_new(n);
    for (int64_t i = 0; i < n; i++) {
        unit[i] = 1;
        run_cycle(m, unit, M + n * i);
        unit[i] = 0;
    }
    free(unit);
    return M;
}

/* L'M L, for A = L L': the eigenvalues of M A. */
static double *between_factors(int32_t n, double *L, const double *M) {
    double *ML = dense_new((int64_t)n * n), *out = dense_new((int64_t)n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) L[i * n + j] = 0;
    dense_multiply(n, n, n, M, L, ML);
    dense_multiply_transposed(n, n, n, L, ML, out);
    free(ML);
    return out;
}

/* M is symmetric and positive definite, and with sweeps of Gauss and Seidel no eigenvalue of M A is above 1. */
static void check_cycle(amg_made *m) {
    const int32_t n = m->h.level[0].A.rows * m->h.level[0].A.r;
    double *M = cycle_matrix(m), *A = amg_dense(&m->h.level[0].A), size = amg_largest((int64_t)n * n, M), worst = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) worst = fmax(worst, fabs(M[i * n + j] - M[j * n + i]));
    print_message("%4d unknowns, %d levels, degree %d: asymmetry %.1e\n", n, m->h.levels, m->h.degree, worst / size);
    assert_true(m->h.levels > 1 && worst <= 1e-5 * size);
    assert_true(dense_cholesky(n, A));
    double *MA = between_factors(n, A, M);
    for (int64_t k = 0; k < (int64_t)n * n; k++) MA[k] = (k % (n + 1) == 0 ? 1.001 : 0) - MA[k];
    assert_true(m->h.degree > 0 || dense_cholesky(n, MA));
    assert_true(dense_cholesky(n, M));
    free(M), free(A), free(MA);
}

static void cycle_is_symmetric_positive_definite(void **state) {
    drape_context *ctx = test_context(2);
    (void)state;
    for (int32_t k = 0; k < 8; k++) {
        drape_i_amg_settings want = amg_settings(k % 2 ? 6 : 3);
        sheet s = sheet_create(ctx, &(sheet_settings){.nx = 13, .ny = 11, .mass = 1e-3, .isolated = 2, .seed = 3});
        want.degree = k / 2 % 2 ? 2 : 0;
        want.unfiltered = k / 4;
        if (k / 2 % 2 == k / 4) sheet_hold_some(ctx, &s, 0.1);
        amg_made m = amg_make(ctx, &s.A, s.set, s.x, &want);
        check_cycle(&m);
        amg_unmake(&m);
        sheet_destroy(&s);
    }
    drape_context_destroy(ctx);
}

/* With many bands and colours: on some vectors. */
static void check_cycle_on_vectors(amg_made *m) {
    const int64_t n = (int64_t)m->h.level[0].A.rows * m->h.level[0].A.r;
    test_random r = {8};
    for (int k = 0; k < 3; k++) {
        double *u = amg_random(&r, n), *v = amg_random(&r, n), *Mu = dense_new(n), *Mv = dense_new(n);
        double uu = 0, vv = 0, uv = 0, vu = 0;
        run_cycle(m, u, Mu);
        run_cycle(m, v, Mv);
        for (int64_t i = 0; i < n; i++)
            uu += u[i] * Mu[i], vv += v[i] * Mv[i], uv += u[i] * Mv[i], vu += v[i] * Mu[i];
        assert_true(uu > 0 && vv > 0);
        ASSERT_NEAR(uv, vu, 1e-5 * sqrt(uu * vv));
        free(u), free(v), free(Mu), free(Mv);
    }
}

static void larger_cycles_are_symmetric(void **state) {
    (void)state;
    amg_for_many(check_cycle_on_vectors);
}

/* ---- Bits ---- */

static void same_floats(int64_t n, const float *a, const float *b) {
    assert_true((a == NULL) == (b == NULL));
    if (a) assert_memory_equal(a, b, (size_t)n * sizeof *a);
}

static void same_upper(const drape_i_upper *a, const drape_i_upper *b) {
    assert_true(a->rows == b->rows && a->r == b->r && a->count == b->count && a->borders == b->borders);
    assert_memory_equal(a->start, b->start, ((size_t)a->rows + 1) * sizeof *a->start);
    assert_memory_equal(a->col, b->col, (size_t)a->count * sizeof *a->col);
    assert_memory_equal(a->inner, b->inner, (size_t)a->rows * sizeof *a->inner);
    assert_memory_equal(&a->bands, &b->bands, sizeof a->bands);
    same_floats(a->count * a->r * a->r, a->val, b->val);
}

static void same_interpolation(const drape_i_level *a, const drape_i_level *b) {
    assert_true(a->rho == b->rho && a->P.cols == b->P.cols && a->P.count == b->P.count);
    assert_memory_equal(a->aggregate, b->aggregate, (size_t)a->A.rows * sizeof *a->aggregate);
    assert_memory_equal(a->P.start, b->P.start, ((size_t)a->A.rows + 1) * sizeof *a->P.start);
    assert_memory_equal(a->P.col, b->P.col, (size_t)a->P.count * sizeof *a->P.col);
    assert_memory_equal(&a->recipe.reach, &b->recipe.reach, sizeof a->recipe.reach);
    same_floats(a->P.count * a->P.r * a->P.c, a->P.val, b->P.val);
}

static void same_levels(const drape_i_hierarchy *a, const drape_i_hierarchy *b) {
    assert_true(a->levels == b->levels && a->coarse == b->coarse);
    for (int32_t n = 0; n < a->levels; n++) {
        const drape_i_level *p = &a->level[n], *q = &b->level[n];
        same_upper(&p->A, &q->A);
        same_floats((int64_t)p->A.rows * p->A.r * p->A.r, p->scale, q->scale);
        if (n + 1 < a->levels) same_interpolation(p, q);
    }
    same_numbers((int64_t)a->coarse * a->coarse, a->factor, b->factor);
}

typedef struct bits {
    const sheet *s;
    const drape_i_amg_settings *want;
    amg_made first;
    const double *b;
    double *x; /* one cycle, with what `first` is */
} bits;

static void compare_bits(drape_context *ctx, void *data) {
    bits *d = data;
    const int64_t n = 3 * (int64_t)d->s->A.rows;
    amg_made m = amg_make(ctx, &d->s->A, d->s->set, d->s->x, d->want);
    double *x = dense_new(n);
    same_levels(&d->first.h, &m.h);
    drape_i_hierarchy_refresh(ctx, &m.in, &m.h);
    same_levels(&d->first.h, &m.h);
    run_cycle(&m, d->b, x);
    same_numbers(n, x, d->x);
    free(x);
    amg_unmake(&m);
}

static void compare_all(const sheet_settings *wanted, const drape_i_amg_settings *want) {
    drape_context *one = test_context(1);
    sheet s = sheet_create(one, wanted);
    test_random r = {1};
    sheet_hold_some(one, &s, 0.01);
    bits d = {&s, want, amg_make(one, &s.A, s.set, s.x, want), amg_random(&r, 3 * (int64_t)s.A.rows),
              dense_new(3 * (int64_t)s.A.rows)};
    run_cycle(&d.first, d.b, d.x);
    for_contexts(compare_bits, &d);
    free((double *)d.b), free(d.x);
    amg_unmake(&d.first);
    sheet_destroy(&s);
    drape_context_destroy(one);
}

/* More than 2 * 8192 rows: several parts of aggregate.c. */
static void threads_and_vectors_change_nothing(void **state) {
    drape_i_amg_settings three = amg_settings(3), six = amg_settings(6);
    (void)state;
    six.degree = 2;
    compare_all(&(sheet_settings){.nx = 130, .ny = 140, .mass = 1e-4, .seed = 9}, &three);
    compare_all(&(sheet_settings){.nx = 100, .ny = 110, .mass = 1e-4, .shuffled = true, .seed = 9}, &six);
    three.unfiltered = true;
    compare_all(&(sheet_settings){.nx = 45, .ny = 45, .mass = 1e-3, .springs = 3000, .hubs = true, .seed = 9},
                &three);
}

/* Values that come, go and come back leave no trace. */
static void refresh_forgets(void **state) {
    drape_context *ctx = test_context(2);
    (void)state;
    for (int32_t k = 0; k < 4; k++) {
        sheet s =
            sheet_create(ctx, &(sheet_settings){.nx = 40, .ny = 45, .mass = 1e-3, .shuffled = k > 1, .seed = 3});
        drape_i_amg_settings want = amg_settings(k % 2 ? 6 : 3);
        const int64_t count = 9 * s.A.rowptr[s.A.rows];
        double *kept = dense_new(count);
        memcpy(kept, s.A.val, (size_t)count * sizeof *kept);
        sheet_hold_some(ctx, &s, 0.05);
        amg_made a = amg_make(ctx, &s.A, s.set, s.x, &want), b = amg_make(ctx, &s.A, s.set, s.x, &want);
        for (int64_t i = 0; i < count; i++) s.A.val[i] *= i % 7 ? -3 : 1e30;
        sheet_hold_all(ctx, &s, 1);
        drape_i_hierarchy_refresh(ctx, &b.in, &b.h);
        memcpy(s.A.val, kept, (size_t)count * sizeof *kept);
        sheet_hold_some(ctx, &s, 0.05);
        drape_i_hierarchy_refresh(ctx, &b.in, &b.h);
        same_levels(&a.h, &b.h);
        amg_unmake(&a), amg_unmake(&b);
        free(kept);
        sheet_destroy(&s);
    }
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_with_half_a_matrix),
        cmocka_unit_test(first_sweep_and_its_residual),
        cmocka_unit_test(last_sweep),
        cmocka_unit_test(sweeps_met_all_kinds_of_bands),
        cmocka_unit_test(transfers_apply_interpolation),
        cmocka_unit_test(coarsest_level_is_solved),
        cmocka_unit_test(coarsest_level_may_be_bad),
        cmocka_unit_test(small_matrix_is_solved_by_one_cycle),
        cmocka_unit_test(cycle_is_symmetric_positive_definite),
        cmocka_unit_test(larger_cycles_are_symmetric),
        cmocka_unit_test(threads_and_vectors_change_nothing),
        cmocka_unit_test(refresh_forgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
