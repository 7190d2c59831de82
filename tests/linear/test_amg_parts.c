/* The parts of smoothed aggregation (linear/amg/) one by one, on every level of a hierarchy, against plain dense
 * computations. */
#include "linear/amg/hierarchy.h"
#include "linear/amg/setup.h"
#include "support/dense.h"
#include "support/random_systems.h"
#include "support/sheets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const drape_i_amg_settings three = {.theta = 0.25, .modes = 3, .levels = 16, .lanczos = 6};
static const drape_i_amg_settings six = {.theta = 0.25, .modes = 6, .levels = 16, .lanczos = 6};

/* A hierarchy and what it was made from. */
typedef struct made {
    drape_context *ctx;
    const drape_bsr3 *A;
    drape_i_near_kernel near;
    drape_i_hierarchy h;
} made;

static made make(drape_context *ctx, const drape_bsr3 *A, const drape_constraints *set, const double *x,
                 const drape_i_amg_settings *want) {
    made m = {.ctx = ctx, .A = A, .near = {set, x}};
    drape_i_amg_input in = {A, {set, x}, 1};
    ASSERT_OK(ctx, drape_i_hierarchy_build(ctx, &in, want, &m.h));
    return m;
}

static void unmake(made *m) { drape_i_hierarchy_free(m->ctx, &m->h); }

typedef void (*made_fn)(made *m);

/* What the parts are tried on: random matrices and sheets, with and without constraints, three modes and six. */
static void for_many(made_fn visit) {
    drape_context *ctx = test_context(2);
    for (int32_t directions = RANDOM_DIRECTIONS; directions <= 3; directions++) {
        random_settings want = {260, 1e4, directions == 0 ? 0 : 0.2, directions, false, 0.05, 3};
        random_system s = random_system_create(ctx, &want);
        made m = make(ctx, &s.A, s.set, NULL, &three);
        visit(&m);
        unmake(&m);
        random_system_destroy(&s);
    }
    for (int32_t modes = 3; modes <= 6; modes += 3)
        for (int32_t held = 0; held < 2; held++) {
            sheet s = sheet_create(ctx, &(sheet_settings){.nx = 21, .ny = 17, .mass = 1e-4, .seed = 5});
            if (held) sheet_hold_some(ctx, &s, 0.1);
            made m = make(ctx, &s.A, s.set, s.x, modes == 3 ? &three : &six);
            visit(&m);
            unmake(&m);
            sheet_destroy(&s);
        }
    drape_context_destroy(ctx);
}

static bool is_held(const made *m, int32_t level, int32_t i) {
    const drape_constraints *set = level == 0 ? m->near.set : NULL;
    int32_t vertex = drape_i_user_row(&m->h.level[level], i);
    if (!set || set->index[vertex] < 0) return false;
    for (int k = 0; k < 9; k++)
        if (set->held[set->index[vertex]].S[k] != 0) return false;
    return true;
}

static const float *block_of(const drape_i_fblocks *A, int32_t i, int32_t j) {
    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
        if (A->col[k] == j) return A->val + k * A->r * A->c;
    return NULL;
}

static double *dense_of(const drape_i_fblocks *A) {
    int64_t width = (int64_t)A->cols * A->c;
    double *out = dense_new(A->rows * (int64_t)A->r * width);
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
            for (int32_t e = 0; e < A->r * A->c; e++)
                out[((int64_t)A->r * i + e % A->r) * width + A->c * A->col[k] + e / A->r] =
                    A->val[k * A->r * A->c + e];
    return out;
}

static double largest_of(int64_t n, const double *x) {
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, isfinite(x[i]) ? fabs(x[i]) : INFINITY);
    return most;
}

/* ---- Bands ---- */

static int32_t band_of(const drape_i_bands *b, int32_t row) {
    int32_t band = 0;
    while (row >= b->first[band + 1]) band++;
    return band;
}

static void check_order(const drape_i_bands *b, int32_t rows) {
    bool seen[DRAPE_I_BANDS] = {false};
    assert_in_range(b->count, 1, DRAPE_I_BANDS);
    assert_int_equal(b->first[0], 0);
    assert_int_equal(b->first[b->count], rows);
    for (int32_t i = 0; i < b->count; i++) assert_true(b->first[i] < b->first[i + 1]);
    assert_int_equal(b->colour_first[0], 0);
    assert_int_equal(b->colour_first[b->colours], b->count);
    for (int32_t c = 0; c < b->colours; c++)
        for (int32_t k = b->colour_first[c]; k < b->colour_first[c + 1]; k++) {
            assert_int_equal(b->colour[b->order[k]], c);
            assert_false(seen[b->order[k]]);
            seen[b->order[k]] = true;
        }
}

static void check_coupling(const drape_i_level *l) {
    for (int32_t i = 0; i < l->A.rows; i++)
        for (int64_t k = l->A.start[i]; k < l->A.start[i + 1]; k++) {
            int32_t a = band_of(&l->bands, i), b = band_of(&l->bands, l->A.col[k]);
            assert_true(a == b || l->bands.colour[a] != l->bands.colour[b]);
        }
}

/* No coarse row is reached by two bands of one colour. */
static void check_reach(const drape_i_level *l) {
    int32_t *owner = calloc((size_t)l->P.cols * (size_t)l->reach.colours + 1, sizeof *owner);
    assert_memory_equal(l->reach.first, l->bands.first, sizeof l->bands.first);
    for (int32_t i = 0; i < l->A.rows; i++)
        for (int64_t k = l->P.start[i]; k < l->P.start[i + 1]; k++) {
            int32_t band = band_of(&l->reach, i);
            int32_t *first = &owner[(int64_t)l->P.col[k] * l->reach.colours + l->reach.colour[band]];
            assert_true(*first == 0 || *first == band + 1);
            *first = band + 1;
        }
    free(owner);
}

static void bands_cover_rows_and_keep_apart(void **state) {
    drape_context *ctx = test_context(1);
    sheet s = sheet_create(ctx, &(sheet_settings){.nx = 97, .ny = 80, .mass = 1e-4, .springs = 60, .seed = 1});
    made m = make(ctx, &s.A, NULL, s.x, &three);
    (void)state;
    for (int32_t l = 0; l < m.h.levels; l++) {
        check_order(&m.h.level[l].bands, m.h.level[l].A.rows);
        check_coupling(&m.h.level[l]);
        if (l + 1 == m.h.levels) continue;
        check_order(&m.h.level[l].reach, m.h.level[l].A.rows);
        check_reach(&m.h.level[l]);
    }
    assert_true(m.h.levels > 2 && m.h.level[0].bands.count > 8);
    unmake(&m);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

/* ---- Strength ---- */

static double norm_of_block(const float *a, int32_t n) {
    double sum = 0;
    for (int32_t k = 0; a && k < n; k++) sum += (double)a[k] * a[k];
    return sqrt(sum);
}

static double strength_of(const drape_i_fblocks *A, int32_t i, int32_t j) {
    int32_t n = A->r * A->c;
    double ii = norm_of_block(block_of(A, i, i), n), jj = norm_of_block(block_of(A, j, j), n);
    return ii > 0 && jj > 0 ? norm_of_block(block_of(A, i, j), n) / sqrt(ii * jj) : 0;
}

static void check_strength(const drape_i_level *l, double theta) {
    double *most = dense_new(l->A.rows);
    for (int32_t i = 0; i < l->A.rows; i++)
        for (int64_t k = l->A.start[i]; k < l->A.start[i + 1]; k++)
            if (l->A.col[k] != i) most[i] = fmax(most[i], strength_of(&l->A, i, l->A.col[k]));
    for (int32_t i = 0; i < l->A.rows; i++)
        for (int64_t k = l->A.start[i]; k < l->A.start[i + 1]; k++) {
            int32_t j = l->A.col[k];
            double s = i == j ? 0 : strength_of(&l->A, i, j), least = theta * fmin(most[i], most[j]);
            if (s == 0) assert_false(l->strong[k]);
            else if (fabs(s - least) > 1e-5 * least) assert_int_equal(l->strong[k], s > least);
        }
    free(most);
}

static void check_strong_symmetric(const drape_i_level *l) {
    int64_t differ = 0;
    for (int32_t i = 0; i < l->A.rows; i++)
        for (int64_t k = l->A.start[i]; k < l->A.start[i + 1]; k++)
            for (int64_t q = l->A.start[l->A.col[k]]; q < l->A.start[l->A.col[k] + 1]; q++)
                if (l->A.col[q] == i) differ += l->strong[k] != l->strong[q];
    assert_true(differ <= l->A.count / 1000); /* sums in another order: some may lie on the border */
}

static void check_levels_strength(made *m) {
    for (int32_t l = 0; l + 1 < m->h.levels; l++) {
        check_strength(&m->h.level[l], 0.25);
        check_strong_symmetric(&m->h.level[l]);
    }
}

static void strength_as_defined(void **state) {
    (void)state;
    for_many(check_levels_strength);
}

/* ---- Aggregates ---- */

static bool has_strong(const drape_i_level *l, int32_t i) {
    for (int64_t k = l->A.start[i]; k < l->A.start[i + 1]; k++)
        if (l->strong[k]) return true;
    return false;
}

/* Marks all members that can be reached from the first through strong connections; counts them. */
static int32_t spread(const drape_i_level *l, int32_t aggregate, uint8_t *seen) {
    int32_t first = l->member_first[aggregate], count = l->member_first[aggregate + 1] - first, found = 1;
    int32_t *queue = calloc((size_t)count + 1, sizeof *queue);
    seen[queue[0] = l->member[first]] = 1;
    for (int32_t at = 0; at < found; at++)
        for (int64_t k = l->A.start[queue[at]]; k < l->A.start[queue[at] + 1]; k++) {
            int32_t j = l->A.col[k];
            if (!l->strong[k] || l->aggregate[j] != aggregate || seen[j]) continue;
            seen[j] = 1;
            queue[found++] = j;
        }
    free(queue);
    return found;
}

static void check_aggregates(made *m) {
    for (int32_t n = 0; n + 1 < m->h.levels; n++) {
        const drape_i_level *l = &m->h.level[n];
        uint8_t *seen = calloc((size_t)l->A.rows + 1, 1);
        int32_t members = 0;
        for (int32_t i = 0; i < l->A.rows; i++) {
            bool special = is_held(m, n, i) || !has_strong(l, i);
            assert_true(special ? l->aggregate[i] == -1 : l->aggregate[i] >= 0 && l->aggregate[i] < l->P.cols);
            members += !special;
        }
        assert_int_equal(l->member_first[0], 0);
        assert_int_equal(l->member_first[l->P.cols], members);
        for (int32_t a = 0; a < l->P.cols; a++) {
            int32_t first = l->member_first[a], last = l->member_first[a + 1];
            assert_true(first < last);
            for (int32_t k = first; k < last; k++) assert_int_equal(l->aggregate[l->member[k]], a);
            assert_int_equal(spread(l, a, seen), last - first);
        }
        free(seen);
    }
}

static void aggregates_hold_each_node_once(void **state) {
    (void)state;
    for_many(check_aggregates);
}

/* ---- Threads ---- */

static void same_blocks(const drape_i_fblocks *a, const drape_i_fblocks *b) {
    assert_true(a->rows == b->rows && a->cols == b->cols && a->count == b->count);
    assert_memory_equal(a->start, b->start, ((size_t)a->rows + 1) * sizeof *a->start);
    assert_memory_equal(a->col, b->col, (size_t)a->count * sizeof *a->col);
    assert_memory_equal(a->val, b->val, (size_t)(a->count * a->r * a->c) * sizeof *a->val);
}

static void same_levels(const drape_i_hierarchy *a, const drape_i_hierarchy *b) {
    assert_int_equal(a->levels, b->levels);
    for (int32_t l = 0; l < a->levels; l++) {
        const drape_i_level *p = &a->level[l], *q = &b->level[l];
        same_blocks(&p->A, &q->A);
        assert_memory_equal(&p->bands, &q->bands, sizeof p->bands);
        if (l + 1 == a->levels) continue;
        assert_memory_equal(&p->reach, &q->reach, sizeof p->reach);
        assert_memory_equal(p->aggregate, q->aggregate, (size_t)p->A.rows * sizeof *p->aggregate);
        same_blocks(&p->P, &q->P);
        assert_true(p->rho == q->rho);
    }
    assert_memory_equal(a->factor, b->factor, (size_t)a->coarse * (size_t)a->coarse * sizeof *a->factor);
}

static void threads_change_nothing(void **state) {
    drape_context *one = test_context(1);
    sheet s = sheet_create(one, &(sheet_settings){.nx = 130, .ny = 140, .mass = 1e-4, .seed = 9});
    sheet_hold_some(one, &s, 0.01);
    made a = make(one, &s.A, s.set, s.x, &six);
    const int32_t threads[] = {2, 3, 7};
    (void)state;
    assert_true(s.A.rows > 2 * 8192); /* several parts of aggregate.c */
    for (int k = 0; k < 3; k++) {
        drape_context *ctx = test_context(threads[k]);
        made b = make(ctx, &s.A, s.set, s.x, &six);
        same_levels(&a.h, &b.h);
        unmake(&b);
        drape_context_destroy(ctx);
    }
    unmake(&a);
    sheet_destroy(&s);
    drape_context_destroy(one);
}

/* ---- Q and R ---- */

/* The near-kernel at row i of a level, r x modes by columns; rotations are about the first vertex. */
static void kernel_at(const made *m, int32_t level, int32_t modes, int32_t i, double *K) {
    const drape_i_level *l = &m->h.level[level];
    if (level > 0) {
        memcpy(K, l->kernel + (int64_t)l->A.r * modes * i, (size_t)(l->A.r * modes) * sizeof *K);
        return;
    }
    const int32_t vertex = drape_i_user_row(l, i);
    memset(K, 0, (size_t)(3 * modes) * sizeof *K);
    for (int k = 0; k < 3; k++) K[4 * k] = 1;
    for (int k = 0; k < 3 && modes == 6; k++) { /* e_k x p */
        double p[3];
        for (int c = 0; c < 3; c++) p[c] = m->near.x[3 * (int64_t)vertex + c] - m->near.x[c];
        K[9 + 3 * k + (k + 1) % 3] = -p[(k + 2) % 3];
        K[9 + 3 * k + (k + 2) % 3] = p[(k + 1) % 3];
    }
    const drape_constraints *set = m->near.set;
    for (int32_t c = 0; c < modes && set && set->index[vertex] >= 0; c++) {
        const double *S = set->held[set->index[vertex]].S;
        double v[3] = {K[3 * c], K[3 * c + 1], K[3 * c + 2]};
        for (int k = 0; k < 3; k++) K[3 * c + k] = S[3 * k] * v[0] + S[3 * k + 1] * v[1] + S[3 * k + 2] * v[2];
    }
}

typedef struct tentative {
    float *Q;
    double *R;
} tentative;

static tentative tentative_of(made *m, int32_t level) {
    const drape_i_level *l = &m->h.level[level];
    tentative t = {calloc((size_t)(l->A.rows * l->A.r * l->P.c) + 1, sizeof *t.Q),
                   dense_new((int64_t)l->P.cols * l->P.c * l->P.c)};
    drape_i_tentative(m->ctx, l, &m->near, l->P.c, t.Q, t.R);
    return t;
}

static void tentative_clear(tentative *t) {
    free(t->Q);
    free(t->R);
}

/* Columns are orthonormal or zero; returns how many are not zero. */
static int32_t check_orthonormal(const drape_i_level *l, const float *Q, int32_t aggregate) {
    int32_t n = l->P.c, size = l->A.r * n, rank = 0;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b <= a; b++) {
            double sum = 0;
            for (int32_t k = l->member_first[aggregate]; k < l->member_first[aggregate + 1]; k++)
                for (int32_t e = 0; e < l->A.r; e++) {
                    const float *q = Q + (int64_t)size * l->member[k];
                    sum += (double)q[l->A.r * a + e] * q[l->A.r * b + e];
                }
            if (a != b) ASSERT_NEAR(sum, 0, 1e-5);
            else if (sum != 0) ASSERT_NEAR(sum, 1, 1e-5);
            rank += a == b && sum != 0;
        }
    return rank;
}

/* |Q R - K| at row i, relative to the largest number of K there. */
static double defect_at(const made *m, int32_t level, const tentative *t, int32_t i) {
    const drape_i_level *l = &m->h.level[level];
    const int32_t r = l->A.r, n = l->P.c;
    const float *Q = t->Q + (int64_t)r * n * i;
    const double *R = t->R + (int64_t)n * n * l->aggregate[i];
    double K[36], worst = 0;
    kernel_at(m, level, n, i, K);
    for (int32_t c = 0; c < n; c++)
        for (int32_t e = 0; e < r; e++) {
            double sum = 0;
            for (int32_t k = 0; k < n; k++) sum += Q[r * k + e] * R[n * c + k];
            worst = fmax(worst, fabs(sum - K[r * c + e]));
        }
    return worst / fmax(largest_of(r * n, K), 1e-3);
}

static void check_tentative(made *m) {
    for (int32_t level = 0; level + 1 < m->h.levels; level++) {
        const drape_i_level *l = &m->h.level[level];
        tentative t = tentative_of(m, level);
        for (int32_t a = 0; a < l->P.cols; a++) check_orthonormal(l, t.Q, a);
        for (int32_t i = 0; i < l->A.rows; i++)
            if (l->aggregate[i] >= 0) ASSERT_NEAR(defect_at(m, level, &t, i), 0, 2e-5);
        tentative_clear(&t);
    }
}

static void tentative_holds_near_kernel(void **state) {
    (void)state;
    for_many(check_tentative);
}

/* How many columns of Q are not zero, over those that there could be. */
static double share_of_rank(made *m, int32_t level) {
    const drape_i_level *l = &m->h.level[level];
    tentative t = tentative_of(m, level);
    double sum = 0;
    for (int32_t a = 0; a < l->P.cols; a++) sum += check_orthonormal(l, t.Q, a);
    tentative_clear(&t);
    return sum / ((double)l->P.cols * l->P.c);
}

/* Rotations are as good about an origin far away, on all levels. */
static void origin_does_not_matter(void **state) {
    drape_context *ctx = test_context(1);
    const double away[] = {0, 1e2, 1e4, 1e5};
    (void)state;
    for (int k = 0; k < 4; k++) {
        sheet s = sheet_create(ctx, &(sheet_settings){.nx = 41, .ny = 41, .mass = 1e-4, .seed = 5});
        for (int64_t i = 0; i < 3 * (int64_t)s.A.rows; i++) s.x[i] += away[k] * (1 + (double)(i % 3));
        made m = make(ctx, &s.A, NULL, s.x, &six);
        assert_true(m.h.levels >= 3);
        check_tentative(&m);
        for (int32_t l = 0; l + 1 < m.h.levels; l++) {
            double share = share_of_rank(&m, l);
            if (share < 0.99) print_message("origin %g away, level %d: rank %.3f\n", away[k], l, share);
            assert_true(share >= 0.99);
        }
        unmake(&m);
        sheet_destroy(&s);
    }
    drape_context_destroy(ctx);
}

static void check_finite(const made *m) {
    for (int32_t n = 0; n < m->h.levels; n++) {
        const drape_i_level *l = &m->h.level[n];
        for (int64_t k = 0; k < l->A.count * l->A.r * l->A.c; k++) assert_true(isfinite(l->A.val[k]));
        for (int64_t k = 0; k < l->P.count * l->P.r * l->P.c; k++) assert_true(isfinite(l->P.val[k]));
        for (int64_t k = 0; k < (int64_t)l->A.rows * l->A.r * l->A.r; k++) assert_true(isfinite(l->inverse[k]));
    }
}

/* Vertices on a line have five modes, not six; held ones fewer still. */
static void missing_modes_are_left_out(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t held = 0; held < 3; held++) {
        sheet s = sheet_create(ctx, &(sheet_settings){.nx = 300, .ny = 1, .mass = 1e-3, .seed = 2});
        for (int32_t i = 0; i < s.A.rows; i++)
            for (int k = 0; k < 3; k++) s.x[3 * i + k] = 0.01 * i * (k + 1) - 0.3 * k;
        if (held == 1) sheet_hold_some(ctx, &s, 0.5);
        if (held == 2) sheet_hold_all(ctx, &s, 1);
        made m = make(ctx, &s.A, s.set, s.x, &six);
        check_finite(&m);
        check_tentative(&m);
        for (int32_t l = 0; l + 1 < m.h.levels; l++) {
            tentative t = tentative_of(&m, l);
            for (int32_t a = 0; a < m.h.level[l].P.cols; a++)
                assert_true(check_orthonormal(&m.h.level[l], t.Q, a) <= 5);
            tentative_clear(&t);
        }
        unmake(&m);
        sheet_destroy(&s);
    }
    drape_context_destroy(ctx);
}

/* ---- P ---- */

/* (I - omega G A_F) K by plain loops: row i, r x modes. */
static void smoothed_kernel(const made *m, int32_t level, int32_t i, double *out) {
    const drape_i_level *l = &m->h.level[level];
    const int32_t r = l->A.r, n = l->P.c;
    const double omega = (double)(float)(4. / 3 / l->rho);
    double K[36], sum[36] = {0};
    for (int64_t k = l->A.start[i]; k < l->A.start[i + 1]; k++) {
        int32_t j = l->A.col[k];
        if (l->aggregate[j] < 0) continue;
        kernel_at(m, level, n, l->strong[k] ? j : i, K);
        for (int32_t c = 0; c < n; c++)
            for (int32_t e = 0; e < r * r; e++)
                sum[r * c + e % r] += (double)l->A.val[r * r * k + e] * K[r * c + e / r];
    }
    kernel_at(m, level, n, i, out);
    for (int32_t c = 0; c < n; c++)
        for (int32_t e = 0; e < r * r; e++)
            out[r * c + e % r] -= omega * l->inverse[(int64_t)r * r * i + e] * sum[r * c + e / r];
}

static void check_interpolation(made *m) {
    for (int32_t level = 0; level + 1 < m->h.levels; level++) {
        const drape_i_level *l = &m->h.level[level];
        const int32_t r = l->A.r, n = l->P.c;
        for (int32_t i = 0; i < l->A.rows; i++) {
            double want[36], K[36];
            if (l->aggregate[i] < 0) {
                assert_true(l->P.start[i] == l->P.start[i + 1]);
                continue;
            }
            smoothed_kernel(m, level, i, want);
            kernel_at(m, level, n, i, K);
            double size = largest_of(r * n, K);
            for (int64_t k = l->P.start[i]; k < l->P.start[i + 1]; k++)
                for (int32_t c = 0; c < n; c++)
                    for (int32_t e = 0; e < r * n; e++)
                        want[r * c + e % r] -=
                            (double)l->P.val[r * n * k + e] *
                            m->h.level[level + 1].kernel[(int64_t)n * n * l->P.col[k] + n * c + e / r];
            ASSERT_NEAR(largest_of(r * n, want), 0, 1e-4 * fmax(size, 1e-3));
        }
    }
}

static void interpolation_holds_smoothed_kernel(void **state) {
    (void)state;
    for_many(check_interpolation);
}

/* ---- P'A P ---- */

static void check_galerkin(made *m) {
    for (int32_t n = 0; n + 1 < m->h.levels; n++) {
        const drape_i_level *l = &m->h.level[n];
        const drape_i_fblocks *coarse = &m->h.level[n + 1].A;
        int32_t fine = l->A.rows * l->A.r, few = coarse->rows * coarse->r;
        double *A = dense_of(&l->A), *P = dense_of(&l->P), *got = dense_of(coarse);
        double *AP = dense_new((int64_t)fine * few), *want = dense_new((int64_t)few * few);
        dense_multiply(fine, fine, few, A, P, AP);
        dense_multiply_transposed(few, fine, few, P, AP, want);
        double size = largest_of((int64_t)few * few, want);
        for (int64_t k = 0; k < (int64_t)few * few; k++) ASSERT_NEAR(got[k], want[k], 2e-6 * size);
        for (int32_t i = 0; i < few; i++)
            for (int32_t j = 0; j < i; j++)
                ASSERT_NEAR(got[(int64_t)i * few + j], got[(int64_t)j * few + i], 2e-6 * size);
        free(A), free(P), free(got), free(AP), free(want);
    }
}

static void coarse_matrix_is_the_product(void **state) {
    (void)state;
    for_many(check_galerkin);
}

/* ---- Inverse blocks ---- */

/* G A G = G, and G has the rank that A has in the free directions. */
static void check_inverse(made *m) {
    for (int32_t n = 0; n < m->h.levels; n++) {
        const drape_i_level *l = &m->h.level[n];
        const int32_t r = l->A.r;
        for (int32_t i = 0; i < l->A.rows; i++) {
            const float *a = block_of(&l->A, i, i), *g = l->inverse + (int64_t)r * r * i;
            double A[36], G[36], AG[36], GAG[36];
            for (int32_t e = 0; e < r * r; e++) A[e] = a[e], G[e] = g[e];
            dense_multiply(r, r, r, A, G, AG);
            dense_multiply(r, r, r, G, AG, GAG);
            double most = largest_of(r * r, G), trace = 0;
            for (int32_t e = 0; e < r * r; e++) {
                ASSERT_NEAR(GAG[e], G[e], 1e-3 * most);
                ASSERT_NEAR(G[e], G[e % r * r + e / r], 1e-6 * most);
                trace += e % (r + 1) == 0 ? AG[e] : 0;
            }
            ASSERT_NEAR(trace, round(trace), 1e-2);
            if (n == 0 && is_held(m, 0, i)) assert_true(most == 0);
            if (n == 0 && (!m->near.set || m->near.set->index[drape_i_user_row(l, i)] < 0))
                ASSERT_NEAR(trace, 3, 1e-2);
        }
    }
}

static void inverse_blocks(void **state) {
    (void)state;
    for_many(check_inverse);
}

/* ---- Lanczos ---- */

static void square_root3(const float *g, double *out) {
    double G[9], values[3], v[9];
    for (int k = 0; k < 9; k++) G[k] = g[k];
    dense_eigen(3, G, values, v);
    for (int k = 0; k < 9; k++) {
        out[k] = 0;
        for (int j = 0; j < 3; j++) out[k] += v[3 * (k / 3) + j] * sqrt(fmax(values[j], 0)) * v[3 * (k % 3) + j];
    }
}

/* The largest eigenvalue of G^1/2 A G^1/2. */
static double largest_eigenvalue(const drape_i_level *l) {
    int32_t n = 3 * l->A.rows;
    double *A = dense_of(&l->A), *root = dense_new((int64_t)n * n), *half = dense_new((int64_t)n * n);
    double *values = dense_new(n);
    for (int32_t i = 0; i < l->A.rows; i++) {
        double g[9];
        square_root3(l->inverse + 9 * (int64_t)i, g);
        for (int k = 0; k < 9; k++) root[(3 * (int64_t)i + k / 3) * n + 3 * i + k % 3] = g[k];
    }
    dense_multiply(n, n, n, A, root, half);
    dense_multiply(n, n, n, root, half, A);
    dense_eigen(n, A, values, NULL);
    double largest = values[n - 1];
    free(A), free(root), free(half), free(values);
    return largest;
}

static double lanczos_share(made *m) {
    double got, want = largest_eigenvalue(&m->h.level[0]);
    ASSERT_OK(m->ctx, drape_i_lanczos(m->ctx, &m->h.level[0], 6, &got));
    print_message("Lanczos: %.3f, the largest eigenvalue is %.3f: share %.3f\n", got, want, got / want);
    return got / want;
}

static void lanczos_comes_near(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        random_settings want = {64, 1e4, seed % 2 ? 0 : 0.2, RANDOM_DIRECTIONS, false, 0, seed};
        random_system s = random_system_create(ctx, &want);
        made m = make(ctx, &s.A, s.set, NULL, &three);
        double share = lanczos_share(&m);
        assert_true(share > 0.85 && share < 1.001);
        unmake(&m);
        random_system_destroy(&s);
        sheet cloth = sheet_create(ctx, &(sheet_settings){.nx = 8, .ny = 8, .mass = 1e-5, .seed = seed});
        if (seed % 2) sheet_hold_some(ctx, &cloth, 0.1);
        m = make(ctx, &cloth.A, cloth.set, NULL, &three);
        share = lanczos_share(&m);
        assert_true(share > 0.85 && share < 1.001);
        unmake(&m);
        sheet_destroy(&cloth);
    }
    drape_context_destroy(ctx);
}

/* ---- The coarsest level ---- */

static void check_factor(made *m) {
    const drape_i_fblocks *A = &m->h.level[m->h.levels - 1].A;
    int32_t n = m->h.coarse;
    double *want = dense_of(A), worst = 0, size = largest_of((int64_t)n * n, want);
    assert_int_equal(n, A->rows * A->r);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j <= i; j++) {
            double sum = 0, there = want[(int64_t)i * n + j];
            for (int32_t k = 0; k <= j; k++) sum += m->h.factor[(int64_t)i * n + k] * m->h.factor[(int64_t)j * n + k];
            if (i == j && there == 0) there = 1; /* a direction that is not there */
            worst = fmax(worst, fabs(sum - there));
        }
    ASSERT_NEAR(worst, 0, 1e-12 * size);
    free(want);
}

static void coarse_factor(void **state) {
    (void)state;
    for_many(check_factor);
}

/* A matrix that is small enough is factored at once: one cycle solves. */
static void small_matrix_is_solved_by_one_cycle(void **state) {
    drape_context *ctx = test_context(1);
    random_settings want = {90, 100, 0.3, RANDOM_DIRECTIONS, false, 0.1, 4};
    random_system s = random_system_create(ctx, &want);
    made m = make(ctx, &s.A, s.set, NULL, &three);
    drape_i_level *l = &m.h.level[0];
    double *x = dense_new(270), *expected = dense_new(270);
    (void)state;
    assert_int_equal(m.h.levels, 1);
    drape_i_filter(s.set, s.b);
    for (int32_t i = 0; i < 270; i++) l->b[i / 3 * 4 + i % 3] = (float)s.b[i];
    drape_i_cycle(ctx, &m.h);
    for (int32_t i = 0; i < 270; i++) x[i] = l->x[i / 3 * 4 + i % 3];
    random_reference(&s, expected);
    ASSERT_NEAR(distance_of(270, x, expected), 0, 1e-5 * norm_of(270, expected));
    free(x), free(expected);
    unmake(&m);
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

/* ---- All of them ---- */

/* Vertices in random order, so many that the finest level puts them into an order of its own. */
static void order_of_vertices_does_not_matter(void **state) {
    drape_context *ctx = test_context(2);
    sheet s = sheet_create(ctx, &(sheet_settings){.nx = 60, .ny = 60, .mass = 1e-4, .shuffled = true, .seed = 6});
    bool *seen = calloc((size_t)s.A.rows, sizeof *seen);
    (void)state;
    sheet_hold_some(ctx, &s, 0.05);
    made m = make(ctx, &s.A, s.set, s.x, &six);
    const drape_i_level *l = &m.h.level[0];
    assert_non_null(l->user);
    for (int32_t i = 0; i < s.A.rows; i++) {
        assert_false(seen[l->user[i]]);
        seen[l->user[i]] = true;
        for (int64_t k = l->A.start[i]; k < l->A.start[i + 1]; k++) {
            assert_int_equal(s.A.col[l->source[k]], l->user[l->A.col[k]]);
            assert_in_range(l->source[k], s.A.rowptr[l->user[i]], s.A.rowptr[l->user[i] + 1] - 1);
        }
    }
    check_order(&l->bands, s.A.rows);
    check_coupling(l);
    check_reach(l);
    check_levels_strength(&m);
    check_aggregates(&m);
    check_tentative(&m);
    check_interpolation(&m);
    check_inverse(&m);
    free(seen);
    unmake(&m);
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_cover_rows_and_keep_apart),
        cmocka_unit_test(strength_as_defined),
        cmocka_unit_test(aggregates_hold_each_node_once),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(tentative_holds_near_kernel),
        cmocka_unit_test(origin_does_not_matter),
        cmocka_unit_test(missing_modes_are_left_out),
        cmocka_unit_test(interpolation_holds_smoothed_kernel),
        cmocka_unit_test(coarse_matrix_is_the_product),
        cmocka_unit_test(inverse_blocks),
        cmocka_unit_test(lanczos_comes_near),
        cmocka_unit_test(coarse_factor),
        cmocka_unit_test(small_matrix_is_solved_by_one_cycle),
        cmocka_unit_test(order_of_vertices_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
