/* The parts that a hierarchy of smoothed aggregation (linear/amg/) is set up from, one by one, on every level,
 * against plain computations in double. What is done with a level afterwards has tests of its own, test_amg_levels.c.
 *
 * Levels are in scaled unknowns (level.h), so numbers are about 1. An error of single precision grows with |W|, which
 * is large where a block was nearly singular. */
#include "linear/amg/kernels.h"
#include "support/amg_levels.h"
#include "support/dense.h"
#include "support/random_systems.h"
#include "support/sheets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* out = a b, a of m x k, b of k x n, all row by row */
static void product(int32_t m, int32_t k, int32_t n, const double *a, const double *b, double *out) {
    dense_multiply(m, k, n, a, b, out);
}

static void widen(int32_t count, const float *from, double *to) {
    for (int32_t e = 0; e < count; e++) to[e] = from[e];
}

/* W of row i of a level, as doubles, and how large it is. */
static double scale_at(const drape_i_level *l, int32_t i, double *W) {
    const int32_t size = l->A.r * l->A.r;
    const float *from = l->scale + (int64_t)size * i;
    if (W) widen(size, from, W);
    return amg_norm(size, from);
}

/* ---- Bands ---- */

static void check_order(const drape_i_bands *b, int32_t rows) {
    bool seen[DRAPE_I_BANDS] = {false};
    assert_in_range(b->count, 1, DRAPE_I_BANDS);
    assert_int_equal(b->first[0], 0);
    assert_int_equal(b->first[b->count], rows);
    for (int32_t i = 0; i < b->count; i++) assert_true(b->first[i] < b->first[i + 1]);
    for (int32_t i = 0; i < b->count; i++) assert_int_equal(b->first[i] / b->length, i);
    for (int32_t i = 0; i < b->count; i++) assert_int_equal((b->first[i + 1] - 1) / b->length, i);
    assert_int_equal(b->colour_first[0], 0);
    assert_int_equal(b->colour_first[b->colours], b->count);
    for (int32_t c = 0; c < b->colours; c++)
        for (int32_t k = b->colour_first[c]; k < b->colour_first[c + 1]; k++) {
            assert_int_equal(b->colour[b->order[k]], c);
            assert_false(seen[b->order[k]]);
            seen[b->order[k]] = true;
        }
}

/* Bands of one colour are not coupled; inner blocks are those that stay in their band. */
static void check_coupling(const drape_i_upper *A) {
    const drape_i_bands *b = &A->bands;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            int32_t mine = i / b->length, other = A->col[k] / b->length;
            assert_true(A->col[k] > (k > A->start[i] ? A->col[k - 1] : i) && A->col[k] < A->rows);
            assert_int_equal(k < A->start[i] + A->inner[i], mine == other);
            if (mine != other) assert_int_not_equal(b->colour[mine], b->colour[other]);
        }
}

/* Borders are the rows with blocks in other bands; their lower ones are listed, all and ascending. */
static void check_borders(const drape_i_upper *A) {
    amg_whole w = amg_whole_of(A);
    int32_t n = 0;
    for (int32_t i = 0; i < A->rows; i++) {
        int32_t band = i / A->bands.length;
        bool border = false;
        if (i == A->bands.first[band]) assert_int_equal(A->border_first[band], n);
        for (int64_t k = w.start[i]; k < w.start[i + 1]; k++) border |= w.col[k] / A->bands.length != band;
        if (!border) continue;
        assert_true(n < A->borders);
        assert_int_equal(A->border[n], i);
        int64_t m = A->lower_start[n];
        for (int64_t k = w.start[i]; k < w.start[i + 1]; k++) {
            if (w.col[k] > i || w.col[k] / A->bands.length == band) continue;
            assert_true(m < A->lower_start[n + 1]);
            assert_int_equal(A->lower_col[m], w.col[k]);
            assert_int_equal(A->lower_block[m++], w.block[k]);
        }
        assert_int_equal(m, A->lower_start[++n]);
    }
    assert_int_equal(n, A->borders);
    assert_int_equal(A->border_first[A->bands.count], n);
    amg_whole_clear(&w);
}

/* No coarse column is touched by two bands of one colour: by P's rows i, or by the rows j > i that i is coupled
 * with. */
static void check_reach(const drape_i_level *l) {
    const drape_i_bands *b = &l->recipe.reach;
    int32_t *owner = calloc((size_t)l->P.cols * (size_t)b->colours + 1, sizeof *owner);
    assert_memory_equal(b->first, l->A.bands.first, sizeof b->first);
    for (int32_t i = 0; i < l->A.rows; i++) {
        if (l->P.start[i] == l->P.start[i + 1]) continue;
        for (int64_t k = l->A.start[i] - 1; k < l->A.start[i + 1]; k++) {
            int32_t j = k < l->A.start[i] ? i : l->A.col[k], band = i / b->length;
            for (int64_t q = l->P.start[j]; q < l->P.start[j + 1]; q++) {
                int32_t *first = &owner[(int64_t)l->P.col[q] * b->colours + b->colour[band]];
                assert_true(*first == 0 || *first == band + 1);
                *first = band + 1;
            }
        }
    }
    free(owner);
}

static void check_bands(amg_made *m) {
    for (int32_t n = 0; n < m->h.levels; n++) {
        const drape_i_level *l = &m->h.level[n];
        check_order(&l->A.bands, l->A.rows);
        check_coupling(&l->A);
        check_borders(&l->A);
        if (n + 1 == m->h.levels) continue;
        check_order(&l->recipe.reach, l->A.rows);
        check_reach(l);
    }
}

static void bands_cover_rows_and_keep_apart(void **state) {
    drape_context *ctx = test_context(1);
    sheet s = sheet_create(ctx, &(sheet_settings){.nx = 111, .ny = 100, .mass = 1e-4, .springs = 60, .seed = 1});
    drape_i_amg_settings want = amg_settings(3);
    amg_made m = amg_make(ctx, &s.A, NULL, s.x, &want);
    (void)state;
    check_bands(&m);
    assert_true(m.h.levels > 2 && m.h.level[0].A.bands.count >= 8 && m.h.level[0].A.borders > 100);
    assert_true(m.h.level[1].A.bands.count > 1);
    amg_unmake(&m);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
    amg_for_many(check_bands);
}

/* ---- The finest level ---- */

/* Where block k of row i of the finest level stands in the caller's matrix. */
static int64_t source_of(const amg_made *m, int32_t i, int64_t k) {
    const drape_i_level *l = &m->h.level[0];
    int32_t row = drape_i_user_row(l, i), col = drape_i_user_row(l, l->A.col[k]);
    int64_t q = m->in.A->rowptr[row];
    while (q < m->in.A->rowptr[row + 1] && m->in.A->col[q] != col) q++;
    assert_true(q < m->in.A->rowptr[row + 1]);
    if (l->source) assert_int_equal(l->source[k], q - m->in.A->rowptr[row]);
    return q;
}

static void check_finest_pattern(amg_made *m) {
    const drape_i_level *l = &m->h.level[0];
    bool *seen = calloc((size_t)l->A.rows + 1, sizeof *seen);
    int64_t diagonal = 0;
    assert_true((l->user != NULL) == (l->source != NULL));
    assert_int_equal(l->A.rows, m->in.A->rows);
    for (int32_t i = 0; i < l->A.rows; i++) {
        int32_t row = drape_i_user_row(l, i);
        assert_false(seen[row]);
        seen[row] = true;
        for (int64_t q = m->in.A->rowptr[i]; q < m->in.A->rowptr[i + 1]; q++) diagonal += m->in.A->col[q] == i;
        for (int64_t k = l->A.start[i]; k < l->A.start[i + 1]; k++) source_of(m, i, k);
    }
    assert_int_equal(2 * l->A.count + diagonal, m->in.A->rowptr[l->A.rows]);
    free(seen);
}

/* W_i'a W_j of the finest level, a being nine numbers of the caller's */
static void scaled(const amg_made *m, int32_t i, const double *a, int32_t j, double *out) {
    double Wi[9], Wj[9], A[9], AW[9];
    scale_at(&m->h.level[0], i, Wi);
    scale_at(&m->h.level[0], j, Wj);
    for (int e = 0; e < 9; e++) A[e] = a[e] * m->in.scale;
    product(3, 3, 3, A, Wj, AW);
    dense_multiply_transposed(3, 3, 3, Wi, AW, out);
}

static const double *diagonal_of(const drape_bsr3 *A, int32_t row) {
    for (int64_t k = A->rowptr[row]; k < A->rowptr[row + 1]; k++)
        if (A->col[k] == row) return A->val + 9 * k;
    return NULL;
}

/* W_i'A_ii W_i: the identity on the free directions, that is a projection of their number. */
static void projection_at(const amg_made *m, int32_t i, double *out) {
    const double *a = diagonal_of(m->in.A, drape_i_user_row(&m->h.level[0], i));
    assert_non_null(a);
    scaled(m, i, a, i, out);
}

static void check_projection(const amg_made *m, int32_t i) {
    double S[9], W[9], SW[9], one[9], twice[9], size = scale_at(&m->h.level[0], i, W);
    double error =
        2e-6 * fmax(1, size * size * amg_largest(9, diagonal_of(m->in.A, drape_i_user_row(&m->h.level[0], i))) *
                           m->in.scale);
    amg_filter_at(m, i, S);
    product(3, 3, 3, S, W, SW);
    for (int e = 0; e < 9; e++) ASSERT_NEAR(SW[e], W[e], 1e-6 * size);
    projection_at(m, i, one);
    product(3, 3, 3, one, one, twice);
    for (int e = 0; e < 9; e++) ASSERT_NEAR(twice[e], one[e], error);
    for (int e = 0; e < 9; e++) ASSERT_NEAR(one[e], one[e % 3 * 3 + e / 3], error);
    ASSERT_NEAR(one[0] + one[4] + one[8], S[0] + S[4] + S[8], error);
    if (amg_is_held(m, 0, i)) assert_true(size == 0);
}

static void check_finest_values(amg_made *m) {
    const drape_i_level *l = &m->h.level[0];
    for (int32_t i = 0; i < l->A.rows; i++) {
        check_projection(m, i);
        for (int64_t k = l->A.start[i]; k < l->A.start[i + 1]; k++) {
            const double *a = m->in.A->val + 9 * source_of(m, i, k);
            double want[9], size = scale_at(l, i, NULL) * scale_at(l, l->A.col[k], NULL) * amg_largest(9, a);
            scaled(m, i, a, l->A.col[k], want);
            double error =
                1e-7 * amg_largest(9, want) + 1e-14 * size * m->in.scale; /* of the result, not on the way */
            for (int e = 0; e < 9; e++) ASSERT_NEAR(l->A.val[9 * k + e], want[e], error);
        }
    }
}

static void finest_level_is_the_scaled_matrix(void **state) {
    (void)state;
    amg_for_many(check_finest_pattern);
    amg_for_many(check_finest_values);
}

/* A symmetric block, stiff in two directions that are oblique to the axes and soft across. */
static void oblique_block(test_random *r, double soft, double out[9]) {
    double u[3], length2 = 0;
    for (int k = 0; k < 3; k++) u[k] = test_random_between(r, 0.5, 1), length2 += u[k] * u[k];
    for (int e = 0; e < 9; e++) out[e] = (e % 4 == 0) - (1 - soft) * u[e / 3] * u[e % 3] / length2;
}

/* Each connection of A becomes such a block, the same everywhere; with its mass on the diagonal A stays symmetric and
 * positive definite. */
static void make_oblique(const drape_bsr3 *A, double soft, double mass) {
    double block[9];
    oblique_block(&(test_random){12}, soft, block);
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            double times = -1;
            if (A->col[k] == i) times = (double)(A->rowptr[i + 1] - A->rowptr[i] - 1) + mass;
            for (int e = 0; e < 9; e++) A->val[9 * k + e] = times * block[e];
        }
}

/* W_i'a W_j in floats all the way; returns how far that is from what it should be. */
static double error_in_floats(const amg_made *m, int32_t i, const double *a, int32_t j, const double *want) {
    const float *Wi = m->h.level[0].scale + 9 * (int64_t)i, *Wj = m->h.level[0].scale + 9 * (int64_t)j;
    float aW[9];
    double worst = 0;
    for (int e = 0; e < 9; e++) {
        aW[e] = 0;
        for (int k = 0; k < 3; k++) aW[e] += (float)(a[e / 3 * 3 + k] * m->in.scale) * Wj[3 * k + e % 3];
    }
    for (int e = 0; e < 9; e++) {
        float sum = 0;
        for (int k = 0; k < 3; k++) sum += Wi[3 * k + e / 3] * aW[3 * k + e % 3];
        worst = fmax(worst, fabs(sum - want[e]));
    }
    return worst;
}

/* Soft directions beside stiff ones lose nothing but the last rounding: floats would leave a few digits. */
static void soft_directions_are_scaled_well(void **state) {
    drape_context *ctx = test_context(1);
    const drape_i_amg_settings want = amg_settings(3);
    sheet s = sheet_create(ctx, &(sheet_settings){.nx = 20, .ny = 20, .mass = 1e-3, .seed = 3});
    double worst = 0, in_floats = 0;
    (void)state;
    make_oblique(&s.A, 1e-5, 1e-2);
    amg_made m = amg_make(ctx, &s.A, NULL, s.x, &want);
    const drape_i_level *l = &m.h.level[0];
    for (int32_t i = 0; i < l->A.rows; i++)
        for (int64_t k = l->A.start[i]; k < l->A.start[i + 1]; k++) {
            const double *a = m.in.A->val + 9 * source_of(&m, i, k);
            double U[9];
            scaled(&m, i, a, l->A.col[k], U);
            for (int e = 0; e < 9; e++) worst = fmax(worst, fabs(l->A.val[9 * k + e] - U[e]) / amg_largest(9, U));
            in_floats = fmax(in_floats, error_in_floats(&m, i, a, l->A.col[k], U) / amg_largest(9, U));
        }
    print_message("stiff and soft, 1e5: U is right to %.1e, in floats it would be to %.1e\n", worst, in_floats);
    assert_true(worst <= 1e-6 && in_floats > 1e-4);
    check_finest_values(&m);
    amg_unmake(&m);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

/* ---- Strength ---- */

static double theta_of(const amg_made *m, bool for_interpolation) {
    return for_interpolation && m->want.unfiltered ? 0 : m->want.theta;
}

static drape_i_graph graph_of(const amg_made *m, int32_t level, bool for_interpolation) {
    drape_i_graph g;
    ASSERT_OK(m->ctx, drape_i_strength(m->ctx, &m->h.level[level].A, theta_of(m, for_interpolation), &g));
    return g;
}

/* Strong: at least theta times the largest of either row. */
static void check_strong(const drape_i_upper *A, const drape_i_graph *g, double theta) {
    double *most = dense_new(A->rows);
    amg_whole w = amg_whole_of(A);
    const int32_t size = A->r * A->r;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = w.start[i]; k < w.start[i + 1]; k++)
            most[i] = fmax(most[i], amg_norm(size, A->val + size * w.block[k]));
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            double s = amg_norm(size, A->val + size * k), least = theta * fmin(most[i], most[A->col[k]]);
            if (s == 0) assert_false(g->strong[k]);
            else if (fabs(s - least) > 1e-5 * least) assert_int_equal(g->strong[k], s > least);
        }
    amg_whole_clear(&w);
    free(most);
}

/* The graph has the strong connections of both halves, ascending, so it is symmetric. */
static void check_graph(const drape_i_upper *A, const drape_i_graph *g) {
    amg_whole w = amg_whole_of(A);
    int64_t at = 0;
    assert_int_equal(g->rows, A->rows);
    for (int32_t i = 0; i < A->rows; i++) {
        assert_int_equal(g->start[i], at);
        for (int64_t k = w.start[i]; k < w.start[i + 1]; k++) {
            if (!g->strong[w.block[k]]) continue;
            assert_true(at < g->count);
            assert_int_equal(g->col[at++], w.col[k]);
        }
    }
    assert_int_equal(g->start[A->rows], at);
    assert_int_equal(g->count, at);
    amg_whole_clear(&w);
}

static void check_strength(amg_made *m) {
    for (int32_t l = 0; l < m->h.levels; l++) {
        const double thetas[] = {0, 0.25, 0.4, 0.9};
        for (int k = 0; k < 4; k++) {
            drape_i_graph g;
            ASSERT_OK(m->ctx, drape_i_strength(m->ctx, &m->h.level[l].A, thetas[k], &g));
            check_strong(&m->h.level[l].A, &g, thetas[k]);
            check_graph(&m->h.level[l].A, &g);
            drape_i_graph_free(m->ctx, &g);
        }
    }
}

static void strength_as_defined(void **state) {
    (void)state;
    amg_for_many(check_strength);
}

/* ---- Aggregates ---- */

/* Marks all members that can be reached from the first through strong connections; counts them. */
static int32_t spread(const drape_i_level *l, const drape_i_graph *g, int32_t aggregate, uint8_t *seen) {
    int32_t first = l->member_first[aggregate], count = l->member_first[aggregate + 1] - first, found = 1;
    int32_t *queue = calloc((size_t)count + 1, sizeof *queue);
    seen[queue[0] = l->member[first]] = 1;
    for (int32_t at = 0; at < found; at++)
        for (int64_t k = g->start[queue[at]]; k < g->start[queue[at] + 1]; k++) {
            int32_t j = g->col[k];
            if (l->aggregate[j] != aggregate || seen[j]) continue;
            seen[j] = 1;
            queue[found++] = j;
        }
    free(queue);
    return found;
}

static void check_members(const drape_i_level *l, const drape_i_graph *g) {
    uint8_t *seen = calloc((size_t)l->A.rows + 1, 1);
    assert_int_equal(l->member_first[0], 0);
    for (int32_t a = 0; a < l->P.cols; a++) {
        int32_t first = l->member_first[a], last = l->member_first[a + 1];
        assert_true(first < last);
        for (int32_t k = first; k < last; k++) assert_int_equal(l->aggregate[l->member[k]], a);
        for (int32_t k = first + 1; k < last; k++) assert_true(l->member[k] > l->member[k - 1]);
        assert_int_equal(spread(l, g, a, seen), last - first);
    }
    free(seen);
}

static void check_aggregates(amg_made *m) {
    for (int32_t n = 0; n + 1 < m->h.levels; n++) {
        const drape_i_level *l = &m->h.level[n];
        drape_i_graph g = graph_of(m, n, false);
        int32_t members = 0;
        for (int32_t i = 0; i < l->A.rows; i++) {
            bool special = amg_is_held(m, n, i) || g.start[i] == g.start[i + 1];
            assert_true(special ? l->aggregate[i] == -1 : l->aggregate[i] >= 0 && l->aggregate[i] < l->P.cols);
            members += !special;
        }
        assert_int_equal(l->member_first[l->P.cols], members);
        check_members(l, &g);
        drape_i_graph_free(m->ctx, &g);
    }
}

static void aggregates_hold_each_node_once(void **state) {
    (void)state;
    amg_for_many(check_aggregates);
}

/* ---- Q and R ---- */

/* K = Q R of a level, aggregate by aggregate. */
typedef struct tentative {
    drape_i_tentative_parts parts;
    float *Q, *coarse, *undo; /* what parts points to */
    double *R, *inverse;      /* the same as coarse and undo */
} tentative;

static tentative tentative_of(amg_made *m, int32_t level) {
    const drape_i_level *l = &m->h.level[level];
    const int64_t squares = (int64_t)l->P.cols * l->P.c * l->P.c;
    tentative t = {.Q = drape_i_fvector(m->ctx, (int64_t)l->A.rows * l->A.r * l->P.c),
                   .coarse = drape_i_fvector(m->ctx, squares),
                   .undo = drape_i_fvector(m->ctx, squares),
                   .R = dense_new(squares),
                   .inverse = dense_new(squares)};
    assert_true(t.Q && t.coarse && t.undo);
    amg_restore_kernel(m, level);
    drape_i_tentative(m->ctx, &m->in, l, t.Q, t.coarse, t.undo);
    t.parts = (drape_i_tentative_parts){t.Q, t.coarse, t.undo};
    for (int64_t e = 0; e < squares; e++) t.R[e] = t.coarse[e], t.inverse[e] = t.undo[e];
    return t;
}

static void tentative_clear(const amg_made *m, int32_t level, tentative *t) {
    const drape_i_level *l = &m->h.level[level];
    const int64_t squares = (int64_t)l->P.cols * l->P.c * l->P.c;
    drape_i_fvector_free(m->ctx, t->Q, (int64_t)l->A.rows * l->A.r * l->P.c);
    drape_i_fvector_free(m->ctx, t->coarse, squares);
    drape_i_fvector_free(m->ctx, t->undo, squares);
    free(t->R), free(t->inverse);
}

/* Columns are orthonormal or zero; returns how many are not zero. */
static int32_t check_orthonormal(const drape_i_level *l, const float *Q, int32_t aggregate) {
    const int32_t n = l->P.c, r = l->A.r;
    int32_t rank = 0;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b <= a; b++) {
            double sum = 0;
            for (int32_t k = l->member_first[aggregate]; k < l->member_first[aggregate + 1]; k++)
                for (int32_t e = 0; e < r; e++) {
                    const float *q = Q + (int64_t)r * n * l->member[k] + n * e;
                    sum += (double)q[a] * q[b];
                }
            if (a != b) ASSERT_NEAR(sum, 0, 1e-5);
            else if (sum != 0) ASSERT_NEAR(sum, 1, 1e-5);
            rank += a == b && sum != 0;
        }
    return rank;
}

/* Translations, and rotations about the first vertex, as far as row i of the finest level is free: 3 x modes. */
static void modes_at(const amg_made *m, int32_t modes, int32_t i, double *K) {
    const double *x = m->in.near.x, *at = modes == 6 ? x + 3 * (int64_t)drape_i_user_row(&m->h.level[0], i) : NULL;
    double S[9], all[18] = {0};
    for (int k = 0; k < 3; k++) all[(modes + 1) * k] = 1;
    for (int k = 0; k < 3 && modes == 6; k++) { /* e_k x p */
        int next = (k + 1) % 3, last = (k + 2) % 3;
        all[6 * next + 3 + k] = -(at[last] - x[last]);
        all[6 * last + 3 + k] = at[next] - x[next];
    }
    amg_filter_at(m, i, S);
    product(3, 3, modes, S, all, K);
}

/* (Q R)_i: the near-kernel in the scaled unknowns. */
static void kernel_at(const drape_i_level *l, const tentative *t, int32_t i, double *K) {
    const int32_t r = l->A.r, n = l->P.c;
    double Q[36];
    widen(r * n, t->Q + (int64_t)r * n * i, Q);
    product(r, n, n, Q, t->R + (int64_t)n * n * l->aggregate[i], K);
}

/* On the finest level W K is what the near-kernel is to be, and nothing of K lies where W is blind. */
static void check_finest_kernel(const amg_made *m, const tentative *t, int32_t i) {
    const drape_i_level *l = &m->h.level[0];
    const int32_t n = l->P.c;
    double K[18], W[9], got[18], want[18], one[9], kept[18], size = scale_at(l, i, W);
    kernel_at(l, t, i, K);
    product(3, 3, n, W, K, got);
    modes_at(m, n, i, want);
    double error = 4e-6 * (amg_largest(3 * n, want) + size * amg_largest(3 * n, K));
    for (int32_t e = 0; e < 3 * n; e++) ASSERT_NEAR(got[e], want[e], error);
    projection_at(m, i, one);
    product(3, 3, n, one, K, kept);
    for (int32_t e = 0; e < 3 * n; e++)
        ASSERT_NEAR(kept[e], K[e], 4e-6 * fmax(1, size * size) * amg_largest(3 * n, K));
}

/* Coarser ones have it ready; missing directions have none. */
static void check_coarse_kernel(const drape_i_level *l, const tentative *t, int32_t i) {
    const int32_t n = l->P.c;
    double K[36], W[36], want[36];
    widen(n * n, l->kernel + (int64_t)n * n * i, want);
    kernel_at(l, t, i, K);
    scale_at(l, i, W);
    for (int32_t e = 0; e < n * n; e++) ASSERT_NEAR(K[e], want[e], 1e-5 * fmax(amg_largest(n * n, want), 1e-6));
    for (int32_t e = 0; e < n * n; e++)
        if (W[e / n * (n + 1)] == 0) assert_true(t->Q[(int64_t)n * n * i + e] == 0);
}

/* R^-1 undoes R on the columns that Q has: both are upper triangular, and R^-1 R has a one for each of those. */
static void check_inverse(const drape_i_level *l, const tentative *t, int32_t aggregate) {
    const int32_t n = l->P.c;
    const double *R = t->R + (int64_t)n * n * aggregate, *inverse = t->inverse + (int64_t)n * n * aggregate;
    double got[36];
    product(n, n, n, inverse, R, got);
    double error = 1e-6 * amg_largest(n * n, inverse) * amg_largest(n * n, R);
    for (int32_t e = 0; e < n * n; e++) {
        int32_t row = e / n, col = e % n;
        bool there = R[row * (n + 1)] != 0 && R[col * (n + 1)] != 0;
        if (col < row) assert_true(R[e] == 0 && inverse[e] == 0);
        if (!there && col != row) continue; /* a column that is missing depends on those before it */
        ASSERT_NEAR(got[e], there && row == col, error);
    }
}

static void check_tentative(amg_made *m) {
    for (int32_t level = 0; level + 1 < m->h.levels; level++) {
        const drape_i_level *l = &m->h.level[level];
        tentative t = tentative_of(m, level);
        for (int32_t a = 0; a < l->P.cols; a++) check_orthonormal(l, t.Q, a), check_inverse(l, &t, a);
        for (int32_t i = 0; i < l->A.rows; i++) {
            if (l->aggregate[i] < 0) continue;
            if (level == 0) check_finest_kernel(m, &t, i);
            else check_coarse_kernel(l, &t, i);
        }
        tentative_clear(m, level, &t);
    }
}

static void tentative_holds_near_kernel(void **state) {
    (void)state;
    amg_for_many(check_tentative);
}

/* How many columns of Q are not zero, over those that there could be. */
static double share_of_rank(amg_made *m, int32_t level) {
    const drape_i_level *l = &m->h.level[level];
    tentative t = tentative_of(m, level);
    double sum = 0;
    for (int32_t a = 0; a < l->P.cols; a++) sum += check_orthonormal(l, t.Q, a);
    tentative_clear(m, level, &t);
    return sum / ((double)l->P.cols * l->P.c);
}

/* Rotations are as good about an origin far away, on all levels. */
static void origin_does_not_matter(void **state) {
    drape_context *ctx = test_context(1);
    const double away[] = {0, 1e2, 1e4, 1e5};
    const drape_i_amg_settings want = amg_settings(6);
    (void)state;
    for (int k = 0; k < 4; k++) {
        sheet s = sheet_create(ctx, &(sheet_settings){.nx = 41, .ny = 41, .mass = 1e-4, .seed = 5});
        for (int64_t i = 0; i < 3 * (int64_t)s.A.rows; i++) s.x[i] += away[k] * (1 + (double)(i % 3));
        amg_made m = amg_make(ctx, &s.A, NULL, s.x, &want);
        assert_true(m.h.levels >= 3);
        check_tentative(&m);
        for (int32_t l = 0; l + 1 < m.h.levels; l++) {
            double share = share_of_rank(&m, l);
            if (share < 0.99) print_message("origin %g away, level %d: rank %.3f\n", away[k], l, share);
            assert_true(share >= 0.99);
        }
        amg_unmake(&m);
        sheet_destroy(&s);
    }
    drape_context_destroy(ctx);
}

static void all_finite(int64_t count, const float *x) {
    for (int64_t k = 0; k < count; k++) assert_true(isfinite(x[k]));
}

static void check_finite(const amg_made *m) {
    for (int32_t n = 0; n < m->h.levels; n++) {
        const drape_i_level *l = &m->h.level[n];
        all_finite(l->A.count * l->A.r * l->A.r, l->A.val);
        all_finite((int64_t)l->A.rows * l->A.r * l->A.r, l->scale);
        if (l->P.val) all_finite(l->P.count * l->P.r * l->P.c, l->P.val);
    }
}

/* ---- P ---- */

/* P before its columns were scaled; the level's own values stay. */
static float *raw_interpolation(amg_made *m, int32_t level, const tentative *t) {
    drape_i_level *l = &m->h.level[level];
    const size_t bytes = (size_t)(l->P.count * l->P.r * l->P.c + 1) * sizeof(float);
    float *raw = malloc(bytes), *kept = l->P.val;
    l->P.val = drape_i_fvector(m->ctx, l->P.count * l->P.r * l->P.c);
    assert_true(raw && l->P.val);
    drape_i_interpolation_values(m->ctx, l, &t->parts, 4. / 3 / l->rho);
    memcpy(raw, l->P.val, bytes);
    drape_i_fvector_free(m->ctx, l->P.val, l->P.count * l->P.r * l->P.c);
    l->P.val = kept;
    return raw;
}

/* Which block of row i of P is in column J; -1: none */
static int64_t place_in(const drape_i_fblocks *P, int32_t i, int32_t J) {
    for (int64_t k = P->start[i]; k < P->start[i + 1]; k++)
        if (P->col[k] == J) return k - P->start[i];
    return -1;
}

typedef struct smoothing {
    const drape_i_level *l;
    const amg_whole *whole;
    const drape_i_graph *graph;
    const tentative *t;
} smoothing;

/* What row j is to aggregate I, in which it is not: Q_j R_J R_I^-1. Returns how large the numbers are on the way. */
static double foreign(const smoothing *s, int32_t j, int32_t I, double *out) {
    const int32_t r = s->l->A.r, n = s->l->P.c;
    const double *inverse = s->t->inverse + (int64_t)n * n * I;
    double K[36];
    kernel_at(s->l, s->t, j, K);
    product(r, n, n, K, inverse, out);
    return n * amg_largest(r * n, K) * amg_largest(n * n, inverse);
}

/* What entry k of row i does to P_i, and to which of its blocks. Strong connections, and any within row i's own
 * aggregate, go to their aggregate's block; weak ones to row i's own. Returns how large the numbers are on the way.
 */
static double smoothing_at(const smoothing *s, int32_t i, int64_t k, int64_t *at, double *AQ) {
    const drape_i_level *l = s->l;
    const int32_t r = l->A.r, n = l->P.c, j = s->whole->col[k], I = l->aggregate[i], J = l->aggregate[j];
    double a[36], Q[36], size = 1;
    bool strong = I == J || s->graph->strong[s->whole->block[k]];
    *at = strong ? place_in(&l->P, i, J) : -1;
    if (strong && *at < 0) assert_int_equal(l->P.start[i + 1] - l->P.start[i], DRAPE_I_REACH);
    if (*at >= 0) widen(r * n, s->t->Q + (int64_t)r * n * j, Q);
    else {
        size = foreign(s, j, I, Q);
        *at = place_in(&l->P, i, I);
    }
    amg_whole_block(s->whole, i, k, a);
    product(r, r, n, a, Q, AQ);
    return amg_largest(r * r, a) * size;
}

/* ((I - omega A_F) Q)_i, a block of r x n for each one of P's row i. Returns how large the numbers are that are
 * summed. */
static double smoothed_row(const smoothing *s, int32_t i, double *out) {
    const drape_i_level *l = s->l;
    const int32_t r = l->A.r, n = l->P.c, own = (int32_t)place_in(&l->P, i, l->aggregate[i]);
    const double omega = (float)(4. / 3 / l->rho);
    double AQ[36], size = 1;
    memset(out, 0, (size_t)(DRAPE_I_REACH * r * n) * sizeof *out);
    assert_true(own >= 0);
    for (int64_t k = s->whole->start[i]; k < s->whole->start[i + 1]; k++) {
        int64_t at;
        if (l->aggregate[s->whole->col[k]] < 0) continue;
        size += smoothing_at(s, i, k, &at, AQ);
        for (int32_t e = 0; e < r * n; e++) out[r * n * at + e] -= omega * AQ[e];
    }
    for (int32_t e = 0; e < r * n; e++) out[r * n * own + e] += (1 - omega) * s->t->Q[(int64_t)r * n * i + e];
    return size;
}

/* Block k of P, in row i, is what it was before times W_J. */
static void check_column_scaled(const drape_i_level *l, const drape_i_level *coarse, int64_t k, const float *raw) {
    const int32_t r = l->A.r, n = l->P.c;
    double before[36], W[36], want[36], size = scale_at(coarse, l->P.col[k], W);
    widen(r * n, raw + r * n * k, before);
    product(r, n, n, before, W, want);
    for (int32_t e = 0; e < r * n; e++)
        ASSERT_NEAR(l->P.val[r * n * k + e], want[e], 1e-6 * size * amg_largest(r * n, before));
}

static void check_smoothed_rows(amg_made *m, int32_t level, const smoothing *s) {
    const drape_i_level *l = s->l;
    const int32_t size = l->A.r * l->P.c;
    float *raw = raw_interpolation(m, level, s->t);
    double *want = dense_new(DRAPE_I_REACH * 36);
    for (int32_t i = 0; i < l->A.rows; i++) {
        double sum = 0;
        if (l->aggregate[i] < 0) assert_true(l->P.start[i] == l->P.start[i + 1]);
        else sum = smoothed_row(s, i, want);
        for (int64_t k = l->P.start[i]; k < l->P.start[i + 1]; k++) {
            for (int32_t e = 0; e < size; e++)
                ASSERT_NEAR(raw[size * k + e], want[size * (k - l->P.start[i]) + e], 1e-6 * sum);
            if (k > l->P.start[i]) assert_true(l->P.col[k] > l->P.col[k - 1]);
            check_column_scaled(l, l + 1, k, raw);
        }
    }
    free(want);
    free(raw);
}

static void check_interpolation(amg_made *m) {
    for (int32_t level = 0; level + 1 < m->h.levels; level++) {
        const drape_i_level *l = &m->h.level[level];
        tentative t = tentative_of(m, level);
        amg_whole w = amg_whole_of(&l->A);
        drape_i_graph g = graph_of(m, level, true);
        check_smoothed_rows(m, level, &(smoothing){l, &w, &g, &t});
        drape_i_graph_free(m->ctx, &g);
        amg_whole_clear(&w);
        tentative_clear(m, level, &t);
    }
}

static void interpolation_is_smoothed(void **state) {
    (void)state;
    amg_for_many(check_interpolation);
}

/* The coarse near-kernel interpolated is the smoothed fine one: P K_c = P_raw R */
static void check_smoothed_kernel(amg_made *m) {
    for (int32_t level = 0; level + 1 < m->h.levels; level++) {
        const drape_i_level *l = &m->h.level[level], *coarse = l + 1;
        const int32_t r = l->A.r, n = l->P.c;
        tentative t = tentative_of(m, level);
        float *raw = raw_interpolation(m, level, &t);
        amg_restore_kernel(m, level + 1);
        for (int64_t k = 0; k < l->P.count; k++) {
            const int32_t J = l->P.col[k];
            double P[36], K[36], before[36], got[36], want[36], W[36], size = scale_at(coarse, J, W);
            widen(r * n, l->P.val + r * n * k, P);
            widen(r * n, raw + r * n * k, before);
            widen(n * n, coarse->kernel + (int64_t)n * n * J, K);
            product(r, n, n, P, K, got);
            product(r, n, n, before, t.R + (int64_t)n * n * J, want);
            double error = 1e-5 * fmax(1, size * size) * amg_largest(n * n, t.R + (int64_t)n * n * J);
            for (int32_t e = 0; e < r * n; e++) ASSERT_NEAR(got[e], want[e], error);
        }
        free(raw);
        tentative_clear(m, level, &t);
    }
}

static void interpolation_holds_smoothed_kernel(void **state) {
    (void)state;
    amg_for_many(check_smoothed_kernel);
}

/* Whether P R = (I - omega A) K is to be expected of row i: its aggregate and those of its neighbours have all modes.
 * Rows that are held have nothing to give. */
static bool has_all_modes(const amg_made *m, int32_t level, const smoothing *s, const int32_t *rank, int32_t i) {
    const drape_i_level *l = s->l;
    bool all = l->aggregate[i] >= 0 && rank[l->aggregate[i]] == l->P.c;
    for (int64_t k = s->whole->start[i]; all && k < s->whole->start[i + 1]; k++) {
        int32_t j = s->whole->col[k];
        all = l->aggregate[j] >= 0 ? rank[l->aggregate[j]] == l->P.c : amg_is_held(m, level, j);
    }
    return all;
}

/* out = ((I - omega A) K)_i, all connections counted alike */
static void smoothed_kernel_row(const smoothing *s, int32_t i, double *out) {
    const drape_i_level *l = s->l;
    const int32_t r = l->A.r, n = l->P.c;
    const double omega = (float)(4. / 3 / l->rho);
    double K[36], a[36], AK[36];
    kernel_at(l, s->t, i, K);
    for (int32_t e = 0; e < r * n; e++) out[e] = (1 - omega) * K[e];
    for (int64_t k = s->whole->start[i]; k < s->whole->start[i + 1]; k++) {
        if (l->aggregate[s->whole->col[k]] < 0) continue;
        kernel_at(l, s->t, s->whole->col[k], K);
        amg_whole_block(s->whole, i, k, a);
        product(r, r, n, a, K, AK);
        for (int32_t e = 0; e < r * n; e++) out[e] -= omega * AK[e];
    }
}

/* (P R)_i */
static void interpolated_kernel_row(const smoothing *s, const float *raw, int32_t i, double *out) {
    const drape_i_fblocks *P = &s->l->P;
    const int32_t r = P->r, n = P->c;
    double p[36], PR[36];
    memset(out, 0, (size_t)(r * n) * sizeof *out);
    for (int64_t k = P->start[i]; k < P->start[i + 1]; k++) {
        widen(r * n, raw + r * n * k, p);
        product(r, n, n, p, s->t->R + (int64_t)n * n * P->col[k], PR);
        for (int32_t e = 0; e < r * n; e++) out[e] += PR[e];
    }
}

/* How far (P R)_i is from ((I - omega A) K)_i, times R_I^-1: in units of Q, whose numbers are about 1. */
static double kernel_error(const smoothing *s, const float *raw, int32_t i) {
    const int32_t r = s->l->A.r, n = s->l->P.c;
    double got[36], want[36], error[36];
    interpolated_kernel_row(s, raw, i, got);
    smoothed_kernel_row(s, i, want);
    for (int32_t e = 0; e < r * n; e++) got[e] -= want[e];
    product(r, n, n, got, s->t->inverse + (int64_t)n * n * s->l->aggregate[i], error);
    return amg_largest(r * n, error);
}

/* Rounding grows with the distance from the first vertex, which rotations are about, over the width of an aggregate,
 * which may be next to nothing. What is left out altogether shows as a hundredth and more. Returns how many rows were
 * looked at. */
static int64_t check_kept_kernel(amg_made *m, int32_t level, const smoothing *s) {
    const drape_i_level *l = s->l;
    float *raw = raw_interpolation(m, level, s->t);
    int32_t *rank = calloc((size_t)l->P.cols + 1, sizeof *rank);
    int64_t rows = 0;
    for (int32_t a = 0; a < l->P.cols; a++) rank[a] = check_orthonormal(l, s->t->Q, a);
    for (int32_t i = 0; i < l->A.rows; i++) {
        if (!has_all_modes(m, level, s, rank, i)) continue;
        ASSERT_NEAR(kernel_error(s, raw, i), 0, 1e-3);
        rows++;
    }
    free(raw), free(rank);
    return rows;
}

static int64_t kept_rows[2]; /* with three modes, with six */

/* However many connections are weak, the near-kernel is interpolated as if all were strong. */
static void check_near_kernel(amg_made *m) {
    for (int32_t level = 0; level + 1 < m->h.levels; level++) {
        const drape_i_level *l = &m->h.level[level];
        tentative t = tentative_of(m, level);
        amg_whole w = amg_whole_of(&l->A);
        kept_rows[l->P.c == 6] += check_kept_kernel(m, level, &(smoothing){l, &w, NULL, &t});
        amg_whole_clear(&w);
        tentative_clear(m, level, &t);
    }
}

static void weak_connections_keep_the_near_kernel(void **state) {
    drape_context *ctx = test_context(2);
    (void)state;
    amg_for_many(check_near_kernel);
    for (int32_t modes = 3; modes <= 6; modes += 3) { /* soft across, so that most connections are weak */
        sheet s = sheet_create(ctx, &(sheet_settings){.nx = 60, .ny = 50, .mass = 1e-5, .aspect = 5, .seed = 8});
        drape_i_amg_settings want = amg_settings(modes);
        want.theta = 0.7;
        amg_made m = amg_make(ctx, &s.A, NULL, s.x, &want);
        check_near_kernel(&m);
        amg_unmake(&m);
        sheet_destroy(&s);
    }
    print_message("rows that interpolate the near-kernel: %d with three modes, %d with six\n", (int)kept_rows[0],
                  (int)kept_rows[1]);
    assert_true(kept_rows[0] > 1000 && kept_rows[1] > 1000);
    drape_context_destroy(ctx);
}

/* ---- P'A P ---- */

/* want (few x few) += P_i' a P_j; size (blocks) the norms of that. */
static void add_product(const drape_i_fblocks *P, int32_t i, const double *a, int32_t j, double *want, double *size) {
    const int32_t r = P->r, n = P->c;
    const int64_t few = (int64_t)P->cols * n;
    double p[36], q[36], aq[36], paq[36];
    for (int64_t kj = P->start[j]; kj < P->start[j + 1]; kj++) {
        widen(r * n, P->val + r * n * kj, q);
        product(r, r, n, a, q, aq);
        for (int64_t ki = P->start[i]; ki < P->start[i + 1]; ki++) {
            widen(r * n, P->val + r * n * ki, p);
            dense_multiply_transposed(n, r, n, p, aq, paq);
            size[(int64_t)P->col[ki] * P->cols + P->col[kj]] += dense_norm(r * n, p) * dense_norm(r * n, aq);
            for (int32_t e = 0; e < n * n; e++)
                want[((int64_t)n * P->col[ki] + e / n) * few + n * P->col[kj] + e % n] += paq[e];
        }
    }
}

/* P'(I + U + U') P, dense, with the level's own P. */
static double *galerkin_of(const drape_i_level *l, double *size) {
    const int64_t few = (int64_t)l->P.cols * l->P.c;
    double *want = dense_new(few * few), a[36], one[36] = {0};
    amg_whole w = amg_whole_of(&l->A);
    for (int32_t e = 0; e < l->A.r; e++) one[(l->A.r + 1) * e] = 1;
    for (int32_t i = 0; i < l->A.rows; i++) {
        add_product(&l->P, i, one, i, want, size);
        for (int64_t k = w.start[i]; k < w.start[i + 1]; k++) {
            amg_whole_block(&w, i, k, a);
            add_product(&l->P, i, a, w.col[k], want, size);
        }
    }
    amg_whole_clear(&w);
    return want;
}

/* Directions that are missing in a coarse row have no I either. */
static void remove_missing(const drape_i_level *coarse, double *dense) {
    const int32_t n = coarse->A.r;
    const int64_t few = (int64_t)coarse->A.rows * n;
    for (int64_t i = 0; i < few; i++)
        if (coarse->scale[n * n * (i / n) + i % n * (n + 1)] == 0) dense[i * few + i] = 0;
}

/* Returns the worst error over what is allowed: single precision of all that is summed, and of W. */
static double galerkin_error(const drape_i_level *l, const drape_i_level *coarse) {
    const int32_t n = l->P.c, rows = coarse->A.rows;
    const int64_t few = (int64_t)rows * n;
    double *size = dense_new((int64_t)rows * rows), *want = galerkin_of(l, size), *got = amg_dense(&coarse->A);
    double worst = 0;
    remove_missing(coarse, got);
    for (int64_t k = 0; k < few * few; k++) {
        int64_t J = k / few / n, K = k % few / n;
        double W = fmax(scale_at(coarse, (int32_t)J, NULL), 1) * fmax(scale_at(coarse, (int32_t)K, NULL), 1);
        double error = fabs(got[k] - want[k]) / (1e-5 * (W + size[J * rows + K]));
        worst = error <= worst ? worst : error;
    }
    free(want), free(got), free(size);
    return worst;
}

static void check_galerkin(amg_made *m) {
    for (int32_t n = 0; n + 1 < m->h.levels; n++) {
        double worst = galerkin_error(&m->h.level[n], &m->h.level[n + 1]);
        if (!(worst <= 1)) print_message("level %d: %.2f of what is allowed\n", n, worst);
        assert_true(worst <= 1);
    }
}

static void coarse_matrix_is_the_product(void **state) {
    (void)state;
    amg_for_many(check_galerkin);
}

/* W has nothing in missing directions, and neither have U and P; all others are there. */
static void check_missing(amg_made *m) {
    for (int32_t level = 1; level < m->h.levels; level++) {
        const drape_i_level *l = &m->h.level[level], *fine = l - 1;
        const int32_t n = l->A.r;
        for (int32_t i = 0; i < l->A.rows; i++) {
            const float *W = l->scale + (int64_t)n * n * i;
            for (int32_t e = 0; e < n * n; e++) {
                bool missing = W[e / n * (n + 1)] == 0 || W[e % n * (n + 1)] == 0;
                if (missing || e % n < e / n) assert_true(W[e] == 0);
            }
        }
        for (int64_t k = 0; k < fine->P.count; k++)
            for (int32_t e = 0; e < fine->P.r * n; e++)
                if (l->scale[(int64_t)n * n * fine->P.col[k] + e % n * (n + 1)] == 0)
                    assert_true(fine->P.val[fine->P.r * n * k + e] == 0);
        for (int32_t i = 0; i < l->A.rows; i++)
            for (int64_t k = l->A.start[i]; k < l->A.start[i + 1]; k++)
                for (int32_t e = 0; e < n * n; e++)
                    if (l->scale[(int64_t)n * n * i + e / n * (n + 1)] == 0 ||
                        l->scale[(int64_t)n * n * l->A.col[k] + e % n * (n + 1)] == 0)
                        assert_true(l->A.val[n * n * k + e] == 0);
    }
}

static void missing_directions_are_zero(void **state) {
    (void)state;
    amg_for_many(check_missing);
}

static void check_setup(amg_made *m) {
    check_bands(m);
    check_finite(m);
    check_strength(m);
    check_aggregates(m);
    check_tentative(m);
    check_interpolation(m);
    check_smoothed_kernel(m);
    check_near_kernel(m);
    check_galerkin(m);
    check_missing(m);
}

/* Places in the recipe that do not fit into a byte. */
static void hub_has_a_long_recipe(void **state) {
    drape_context *ctx = test_context(2);
    const sheet_settings wanted = {.nx = 64, .ny = 64, .mass = 1e-3, .springs = 7000, .hubs = true, .seed = 7};
    sheet s = sheet_create(ctx, &wanted);
    (void)state;
    for (int32_t modes = 3; modes <= 6; modes += 3) {
        drape_i_amg_settings want = amg_settings(modes);
        want.unfiltered = modes == 3;
        amg_made m = amg_make(ctx, &s.A, NULL, s.x, &want);
        const drape_i_level *l = &m.h.level[0], *coarse = &m.h.level[1];
        int64_t longest = 0, widest = 0;
        for (int32_t J = 0; J < coarse->A.rows; J++)
            longest = longest > coarse->A.start[J + 1] - coarse->A.start[J]
                          ? longest
                          : coarse->A.start[J + 1] - coarse->A.start[J];
        for (int32_t i = 0; i < l->A.rows; i++)
            widest = widest > l->P.start[i + 1] - l->P.start[i] ? widest : l->P.start[i + 1] - l->P.start[i];
        print_message("hubs, %d modes: rows of %d blocks, coarse ones of %d, P's of %d\n", modes, l->recipe.widest,
                      (int)longest, (int)widest);
        assert_true(longest > DRAPE_I_FAR + 1 && l->recipe.widest > DRAPE_I_FAR + 1);
        assert_true(widest <= DRAPE_I_REACH && (modes == 6 || widest == DRAPE_I_REACH));
        check_setup(&m);
        amg_unmake(&m);
    }
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

/* ---- What is not there ---- */

/* Vertices on a line have five modes, not six; held ones fewer still. */
static void missing_modes_are_left_out(void **state) {
    drape_context *ctx = test_context(1);
    const drape_i_amg_settings want = amg_settings(6);
    (void)state;
    for (int32_t held = 0; held < 3; held++) {
        sheet s = sheet_create(ctx, &(sheet_settings){.nx = 300, .ny = 1, .mass = 1e-3, .seed = 2});
        for (int32_t i = 0; i < s.A.rows; i++)
            for (int k = 0; k < 3; k++) s.x[3 * i + k] = 0.01 * i * (k + 1) - 0.3 * k;
        if (held == 1) sheet_hold_some(ctx, &s, 0.5);
        if (held == 2) sheet_hold_all(ctx, &s, 1);
        amg_made m = amg_make(ctx, &s.A, s.set, s.x, &want);
        assert_true(m.h.levels > 1);
        check_setup(&m);
        for (int32_t l = 0; l + 1 < m.h.levels; l++) {
            tentative t = tentative_of(&m, l);
            for (int32_t a = 0; a < m.h.level[l].P.cols; a++)
                assert_true(check_orthonormal(&m.h.level[l], t.Q, a) <= 5);
            tentative_clear(&m, l, &t);
        }
        amg_unmake(&m);
        sheet_destroy(&s);
    }
    drape_context_destroy(ctx);
}

/* Vertices 0 .. rows-1 in all directions, and all others in the first `directions`. */
static void hold_part(drape_context *ctx, sheet *s, int32_t rows, int32_t directions) {
    drape_constraint *list = calloc((size_t)s->A.rows + 1, sizeof *list);
    int32_t count = 0;
    for (int32_t i = 0; i < s->A.rows; i++) {
        int32_t held = i < rows ? 3 : directions;
        if (held > 0)
            list[count++] =
                (drape_constraint){.vertex = i, .directions = held, .direction = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    }
    ASSERT_OK(ctx, drape_constraints_set(s->set, list, count));
    free(list);
}

/* Held regions have no aggregates, no P and no numbers in U. */
static void held_regions_stay_out(void **state) {
    drape_context *ctx = test_context(2);
    sheet s = sheet_create(ctx, &(sheet_settings){.nx = 30, .ny = 50, .mass = 1e-3, .seed = 2});
    (void)state;
    for (int32_t k = 0; k < 6; k++) {
        const drape_i_amg_settings want = amg_settings(k % 2 ? 6 : 3);
        const int32_t rows = k < 4 ? s.A.rows / 2 : s.A.rows;
        hold_part(ctx, &s, rows, k / 2);
        amg_made m = amg_make(ctx, &s.A, s.set, s.x, &want);
        const drape_i_level *l = &m.h.level[0];
        assert_true(rows == s.A.rows ? m.h.levels == 1 && m.h.coarse == 0 : m.h.levels > 1);
        check_setup(&m);
        check_finest_values(&m);
        for (int32_t i = 0; i < rows; i++) {
            assert_true(l->aggregate[i] == -1 && scale_at(l, i, NULL) == 0);
            for (int64_t e = 9 * l->A.start[i]; e < 9 * l->A.start[i + 1]; e++) assert_true(l->A.val[e] == 0);
        }
        amg_unmake(&m);
    }
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

/* Vertices that nothing refers to: without any number, without even a diagonal block. */
static void unreferenced_vertices(void **state) {
    drape_context *ctx = test_context(2);
    const sheet_settings wanted = {.nx = 30, .ny = 40, .mass = 0, .isolated = 7, .seed = 2};
    sheet s = sheet_create(ctx, &wanted);
    const int32_t last = s.A.rows - 7;
    int64_t *rowptr = calloc((size_t)s.A.rows + 1, sizeof *rowptr);
    drape_bsr3 without = s.A;
    (void)state;
    memcpy(rowptr, s.A.rowptr, ((size_t)s.A.rows + 1) * sizeof *rowptr);
    for (int32_t i = last; i < s.A.rows; i++) rowptr[i + 1] = rowptr[last];
    without.rowptr = rowptr;
    for (int32_t k = 0; k < 4; k++) {
        const drape_i_amg_settings want = amg_settings(k % 2 ? 6 : 3);
        amg_made m = amg_make(ctx, k < 2 ? &s.A : &without, NULL, s.x, &want);
        const drape_i_level *l = &m.h.level[0];
        check_finest_pattern(&m);
        check_bands(&m), check_finite(&m), check_aggregates(&m), check_interpolation(&m), check_galerkin(&m);
        for (int32_t i = last; i < s.A.rows; i++) {
            double W[9];
            scale_at(l, i, W);
            assert_true(l->aggregate[i] == -1 && W[0] > 0 && W[4] > 0 && W[8] > 0);
        }
        amg_unmake(&m);
    }
    free(rowptr);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

/* Vertices in random order, which the finest level replaces by one of its own; few bands, or more. */
static void check_order_of(drape_context *ctx, int32_t nx, int32_t ny, int32_t bands) {
    sheet s = sheet_create(ctx, &(sheet_settings){.nx = nx, .ny = ny, .mass = 1e-4, .shuffled = true, .seed = 6});
    sheet_hold_some(ctx, &s, 0.05);
    for (int32_t modes = 3; modes <= 6; modes += 3) {
        const drape_i_amg_settings want = amg_settings(modes);
        amg_made m = amg_make(ctx, &s.A, s.set, s.x, &want);
        assert_non_null(m.h.level[0].user);
        assert_int_equal(m.h.level[0].A.bands.count, bands);
        assert_true(m.h.level[0].A.bands.colours <= 3);
        check_finest_pattern(&m);
        check_finest_values(&m);
        if (modes == 3) check_setup(&m);
        else check_bands(&m), check_aggregates(&m), check_tentative(&m), check_interpolation(&m);
        amg_unmake(&m);
    }
    sheet_destroy(&s);
}

static void order_of_vertices_does_not_matter(void **state) {
    drape_context *ctx = test_context(2);
    (void)state;
    check_order_of(ctx, 60, 60, 4);
    check_order_of(ctx, 100, 94, 8);
    drape_context_destroy(ctx);
}

/* An order in which neighbours stand near each other is kept, and so is any where there is but one band. */
static void good_orders_are_kept(void **state) {
    drape_context *ctx = test_context(1);
    const drape_i_amg_settings want = amg_settings(3);
    (void)state;
    for (int32_t k = 0; k < 3; k++) {
        const int32_t sizes[] = {60, 100, 30};
        sheet s = sheet_create(
            ctx, &(sheet_settings){.nx = sizes[k], .ny = sizes[k], .mass = 1e-4, .shuffled = k == 2, .seed = 6});
        amg_made m = amg_make(ctx, &s.A, NULL, s.x, &want);
        assert_null(m.h.level[0].user);
        amg_unmake(&m);
        sheet_destroy(&s);
    }
    drape_context_destroy(ctx);
}

/* ---- Other values ---- */

/* Multiplies each block by f_i f_j: still symmetric and positive definite. */
static void stiffen(const drape_bsr3 *A, test_random *r) {
    double *f = dense_new(A->rows);
    for (int32_t i = 0; i < A->rows; i++) f[i] = test_random_between(r, 0.8, 1.2);
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            for (int e = 0; e < 9; e++) A->val[9 * k + e] *= f[i] * f[A->col[k]];
    free(f);
}

/* Other values and other constraints, with aggregates and patterns as they were. */
static void refreshed_levels_are_as_good(void **state) {
    drape_context *ctx = test_context(2);
    test_random r = {5};
    (void)state;
    for (int32_t k = 0; k < 4; k++) {
        sheet s =
            sheet_create(ctx, &(sheet_settings){.nx = 40, .ny = 36, .mass = 1e-3, .shuffled = k > 1, .seed = 6});
        const drape_i_amg_settings want = amg_settings(k % 2 ? 6 : 3);
        sheet_hold_some(ctx, &s, 0.03);
        amg_made m = amg_make(ctx, &s.A, s.set, s.x, &want);
        stiffen(&s.A, &r);
        hold_part(ctx, &s, 200, 0);
        drape_i_hierarchy_refresh(ctx, &m.in, &m.h);
        check_finest_values(&m);
        check_finite(&m);
        check_tentative(&m);
        check_galerkin(&m);
        check_missing(&m);
        amg_unmake(&m);
        sheet_destroy(&s);
    }
    drape_context_destroy(ctx);
}

/* ---- Lanczos ---- */

static double largest_eigenvalue(const drape_i_upper *A) {
    const int32_t n = A->rows * A->r;
    double *dense = amg_dense(A), *values = dense_new(n);
    dense_eigen(n, dense, values, NULL);
    double largest = values[n - 1];
    free(dense), free(values);
    return largest;
}

/* From below, nearer with more iterations, and within a few percent. */
static void check_lanczos(const amg_made *m) {
    const drape_i_level *l = &m->h.level[0];
    double want = largest_eigenvalue(&l->A), before = 0;
    for (int32_t iterations = 4; iterations <= 16; iterations += 6) {
        double rho;
        ASSERT_OK(m->ctx, drape_i_lanczos(m->ctx, &l->A, iterations, &rho));
        double share = rho / want;
        print_message("Lanczos, %2d iterations: %.4f of the largest eigenvalue, %.3f\n", iterations, share, want);
        assert_true(share >= before && share < 1 + 1e-5);
        assert_true(share > (iterations < 6 ? 0.75 : 0.93));
        before = share - 1e-5;
    }
}

static void lanczos_comes_near(void **state) {
    drape_context *ctx = test_context(1);
    const drape_i_amg_settings want = amg_settings(3);
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        random_settings wanted = {64, 1e4, seed % 2 ? 0 : 0.2, RANDOM_DIRECTIONS, false, 0, seed};
        random_system s = random_system_create(ctx, &wanted);
        amg_made m = amg_make(ctx, &s.A, s.set, NULL, &want);
        check_lanczos(&m);
        amg_unmake(&m);
        random_system_destroy(&s);
        sheet cloth = sheet_create(ctx, &(sheet_settings){.nx = 8, .ny = 8, .mass = 1e-5, .seed = seed});
        if (seed % 2) sheet_hold_some(ctx, &cloth, 0.1);
        m = amg_make(ctx, &cloth.A, cloth.set, NULL, &want);
        check_lanczos(&m);
        amg_unmake(&m);
        sheet_destroy(&cloth);
    }
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_cover_rows_and_keep_apart),
        cmocka_unit_test(finest_level_is_the_scaled_matrix),
        cmocka_unit_test(soft_directions_are_scaled_well),
        cmocka_unit_test(strength_as_defined),
        cmocka_unit_test(aggregates_hold_each_node_once),
        cmocka_unit_test(tentative_holds_near_kernel),
        cmocka_unit_test(origin_does_not_matter),
        cmocka_unit_test(interpolation_is_smoothed),
        cmocka_unit_test(interpolation_holds_smoothed_kernel),
        cmocka_unit_test(weak_connections_keep_the_near_kernel),
        cmocka_unit_test(coarse_matrix_is_the_product),
        cmocka_unit_test(missing_directions_are_zero),
        cmocka_unit_test(hub_has_a_long_recipe),
        cmocka_unit_test(missing_modes_are_left_out),
        cmocka_unit_test(held_regions_stay_out),
        cmocka_unit_test(unreferenced_vertices),
        cmocka_unit_test(order_of_vertices_does_not_matter),
        cmocka_unit_test(good_orders_are_kept),
        cmocka_unit_test(refreshed_levels_are_as_good),
        cmocka_unit_test(lanczos_comes_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
