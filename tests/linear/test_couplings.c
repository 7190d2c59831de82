/* Couplings beside the matrix. Every method with every preconditioner that it supports gives the solution of the
 * merged matrix, in the same bits for any threads and vector width. A warm solver allocates nothing. */
#include "linear/precond.h"
#include "sparse/counting_allocator.h"
#include "support/dense.h"
#include "support/pairs.h"
#include "support/random_systems.h"
#include "support/sheets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 3001, ROOM = MANY / 5 };

/* A list of random couplings and the numbers that its blocks point to. */
typedef struct random_couplings {
    drape_couplings view;
    drape_coupling list[ROOM];
    double blocks[ROOM][144];
} random_couplings;

static double diagonal_of(const drape_bsr3 *A) {
    double sum = 0;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            if (A->col[k] == i) sum += (A->val[9 * k] + A->val[9 * k + 4] + A->val[9 * k + 8]) / (3 * A->rows);
    return sum;
}

/* k (g g' + h h') over all its unknowns: rank two, so no spring. */
static void fill_blocks(test_random *r, int32_t n, double k, double *blocks) {
    double g[12], h[12];
    for (int32_t i = 0; i < n; i++) g[i] = test_random_between(r, -1, 1), h[i] = test_random_between(r, -1, 1);
    for (int32_t i = 0; i < n * n; i++) blocks[i] = k * (g[i / n] * g[i % n] + h[i / n] * h[i % n]);
}

/* k w w' (I + g g'): stiff in all directions, so multigrid takes it as a tie. */
static void fill_tie(test_random *r, const drape_coupling *c, double *blocks) {
    const int32_t n = 3 * c->count;
    double g[3];
    for (int32_t k = 0; k < 3; k++) g[k] = test_random_between(r, -1, 1);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            blocks[n * i + j] = c->k * (c->w[i / 3] * c->w[j / 3]) * (g[i % 3] * g[j % 3] + (i % 3 == j % 3 ? 1 : 0));
}

static void choose_vertices(test_random *r, int32_t rows, drape_coupling *c) {
    c->count = 1 + test_random_below(r, rows < DRAPE_COUPLING_VERTICES ? rows : DRAPE_COUPLING_VERTICES);
    for (int32_t a = 0; a < c->count;) {
        bool taken = false;
        c->vertex[a] = test_random_below(r, rows);
        for (int32_t b = 0; b < a; b++) taken |= c->vertex[b] == c->vertex[a];
        a += !taken;
    }
}

/* Some 0.01 to 100 times as stiff as the diagonal of A; a third of them with blocks, half of those ties. */
static void make_couplings(test_random *r, const drape_bsr3 *A, int32_t count, random_couplings *out) {
    double diagonal = diagonal_of(A);
    out->view = (drape_couplings){count, out->list};
    for (int32_t i = 0; i < count; i++) {
        drape_coupling *c = &out->list[i];
        *c = (drape_coupling){.k = diagonal * pow(10, test_random_between(r, -2, 2))};
        choose_vertices(r, A->rows, c);
        for (int32_t a = 0; a < c->count; a++) c->w[a] = test_random_between(r, -1, 1);
        for (int32_t k = 0; k < 3; k++) c->n[k] = test_random_between(r, -1, 1);
        if (test_random_below(r, 3) > 0) continue;
        if (test_random_below(r, 2) > 0) fill_tie(r, c, out->blocks[i]);
        else fill_blocks(r, 3 * c->count, c->k, out->blocks[i]);
        c->blocks = out->blocks[i];
    }
}

/* Two thirds of them ties. */
static void make_ties(test_random *r, const drape_bsr3 *A, int32_t count, random_couplings *out) {
    make_couplings(r, A, count, out);
    for (int32_t i = 0; i < count; i++) {
        if (i % 3 == 0) continue;
        fill_tie(r, &out->list[i], out->blocks[i]);
        out->list[i].blocks = out->blocks[i];
    }
}

/* The same system with A and the couplings in one matrix, which the caller destroys. */
static random_system merged_of(drape_context *ctx, const random_system *s, const random_couplings *couplings,
                               drape_matrix **matrix) {
    random_system merged = *s;
    ASSERT_OK(ctx, drape_couplings_merge(ctx, &s->A, &couplings->view, matrix));
    merged.A = drape_matrix_view(*matrix);
    return merged;
}

static drape_problem problem_of(const random_system *s, const random_couplings *couplings) {
    return (drape_problem){.A = &s->A, .b = s->b, .constraints = s->set, .couplings = couplings->view};
}

/* ---- The contract ---- */

static void check_forces(const drape_solve_settings *settings, const random_system *merged, const double *x,
                         const double *force) {
    long double *defect = calloc(3 * (size_t)merged->rows, sizeof *defect);
    random_defect(merged, x, defect);
    for (int32_t i = 0; i < merged->rows; i++) {
        const random_basis *basis = &merged->basis[i];
        for (int k = 0; k < 3; k++) {
            long double want = defect[3 * i + k];
            for (int32_t a = 0; a < basis->count; a++)
                for (int c = 0; c < 3; c++) want -= basis->u[a][k] * basis->u[a][c] * defect[3 * i + c];
            PAIR_NEAR(settings, force[3 * i + k], (double)want, 1e-11);
        }
    }
    free(defect);
}

static void check_solution(drape_context *ctx, const drape_solve_settings *settings, const random_system *s,
                           const random_couplings *couplings) {
    int64_t n = 3 * (int64_t)s->rows;
    double *x = calloc((size_t)n, sizeof *x), *want = calloc((size_t)n, sizeof *want);
    drape_matrix *matrix;
    random_system merged = merged_of(ctx, s, couplings, &matrix);
    drape_problem problem = problem_of(s, couplings);
    drape_solver *solver;
    drape_solve_result result;
    random_reference(&merged, want);
    ASSERT_OK(ctx, drape_solver_create(ctx, settings, &solver));
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &result));
    PAIR_REASON(settings, result.reason, DRAPE_CONVERGED);
    PAIR_NEAR(settings, distance_of(n, x, want), 0, 1e-10 * norm_of(n, want));
    PAIR_NEAR(settings, result.true_residual, random_true_residual(&merged, x), 1e-12);
    check_forces(settings, &merged, x, result.constraint_force);
    drape_solver_destroy(solver);
    drape_matrix_destroy(matrix);
    free(x);
    free(want);
}

static void check_pair(drape_context *ctx, const drape_solve_settings *settings) {
    static const int32_t sizes[] = {1, 3, 10, 60};
    static random_couplings couplings;
    test_random r = {7};
    for (int k = 0; k < 4; k++)
        for (int share = 0; share <= 20; share += 10) {
            random_settings make = {.rows = sizes[k], .condition = 20, .held = 0.3, .directions = RANDOM_DIRECTIONS};
            make.moving = true;
            make.seed = (uint64_t)(100 * k + share + 1);
            random_system s = random_system_create(ctx, &make);
            drape_solve_settings tight = *settings;
            tight.tol = 1e-14;
            tight.max_iterations = 1000000;
            make_couplings(&r, &s.A, (share * sizes[k] + 99) / 100, &couplings);
            check_solution(ctx, &tight, &s, &couplings);
            random_system_destroy(&s);
        }
}

static void solves_with_the_merged_matrix(void **state) {
    (void)state;
    for_every_pair(check_pair);
}

/* So many ties that multigrid makes levels for them. */
static void many_ties(void **state) {
    (void)state;
    static random_couplings couplings;
    drape_context *ctx = test_context(2);
    test_random r = {8};
    for (uint64_t seed = 1; seed <= 6; seed++) {
        random_settings make = {60, 20, 0.3, RANDOM_DIRECTIONS, true, 0, seed};
        random_system s = random_system_create(ctx, &make);
        drape_solve_settings settings = drape_solve_defaults();
        settings.precond = "amg";
        settings.tol = 1e-14;
        make_ties(&r, &s.A, 90, &couplings);
        check_solution(ctx, &settings, &s, &couplings);
        random_system_destroy(&s);
    }
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

static int32_t solve_in(drape_context *ctx, const random_system *s, const random_couplings *couplings,
                        const drape_solve_settings *settings, double *x) {
    drape_constraints *set; /* of this context */
    drape_problem problem = problem_of(s, couplings);
    drape_solve_result result;
    ASSERT_OK(ctx, drape_constraints_create(ctx, s->rows, &set));
    ASSERT_OK(ctx, drape_constraints_set(set, s->list, s->held));
    problem.constraints = set;
    ASSERT_OK(ctx, drape_solve(ctx, &problem, settings, x, &result));
    drape_constraints_destroy(set);
    return result.iterations;
}

static void same_bits(const random_system *s, const random_couplings *couplings,
                      const drape_solve_settings *settings) {
    static const int32_t threads[] = {1, 2, 5};
    double *want = calloc(6 * MANY, sizeof *want), *x = want + 3 * MANY;
    drape_context *first = context_at(1, DRAPE_SIMD_BASELINE);
    int32_t iterations = solve_in(first, s, couplings, settings, want);
    drape_context_destroy(first);
    for (int simd = DRAPE_SIMD_BASELINE; simd < DRAPE_SIMD_BEST; simd++)
        for (int k = 0; k < 3; k++) {
            drape_context *ctx = context_at(threads[k], (drape_simd)simd);
            if (!ctx) continue; /* not on this processor */
            PAIR_TRUE(settings, solve_in(ctx, s, couplings, settings, x) == iterations);
            assert_memory_equal(x, want, 3 * MANY * sizeof *x);
            drape_context_destroy(ctx);
        }
    free(want);
}

/* All but "direct", whose arithmetic is its own. */
static void threads_and_levels_change_no_bit(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    static random_couplings couplings;
    random_settings make = {MANY, 1e4, 0.1, RANDOM_DIRECTIONS, true, 0.01, 11};
    random_system s = random_system_create(ctx, &make);
    test_random r = {3};
    drape_solve_settings settings;
    make_couplings(&r, &s.A, ROOM, &couplings);
    for (int32_t k = 0; pair_at(k, &settings); k++) {
        settings.max_iterations = 10;
        if (!pair_is_direct(&settings)) same_bits(&s, &couplings, &settings);
    }
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

/* Lists of none are no lists, to the bit. */
static void check_none(drape_context *ctx, const drape_solve_settings *settings) {
    static random_couplings couplings;
    random_settings make = {30, 50, 0.3, RANDOM_DIRECTIONS, true, 0, 5};
    random_system s = random_system_create(ctx, &make);
    double x[90], same[90];
    drape_problem problem = {.A = &s.A, .b = s.b, .constraints = s.set};
    ASSERT_OK(ctx, drape_solve(ctx, &problem, settings, x, NULL));
    problem.couplings.list = couplings.list;
    ASSERT_OK(ctx, drape_solve(ctx, &problem, settings, same, NULL));
    assert_memory_equal(x, same, sizeof x);
    random_system_destroy(&s);
}

static void none_is_none(void **state) {
    (void)state;
    for_every_pair(check_none);
}

/* ---- Memory ---- */

/* Another list in every solve: the answer is right, and nothing is allocated unless the list grows. A direct solver
 * factors another pattern each time. */
static void check_warm(const drape_solve_settings *settings) {
    enum { ROWS = 40, MOST = 10 };
    static random_couplings couplings;
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    random_settings make = {ROWS, 20, 0.3, RANDOM_DIRECTIONS, true, 0, 6};
    random_system s = random_system_create(ctx, &make);
    drape_solve_settings tight = *settings;
    drape_solver *solver;
    double x[3 * ROWS], want[3 * ROWS];
    test_random r = {2};
    tight.tol = 1e-14;
    tight.max_iterations = 1000000;
    ASSERT_OK(ctx, drape_solver_create(ctx, &tight, &solver));
    make_couplings(&r, &s.A, MOST, &couplings);
    for (int32_t i = 0; i < MOST; i++) { /* as large a list as there will be */
        while (couplings.list[i].count < DRAPE_COUPLING_VERTICES) choose_vertices(&r, ROWS, &couplings.list[i]);
        fill_blocks(&r, 3 * DRAPE_COUPLING_VERTICES, couplings.list[i].k, couplings.blocks[i]);
        couplings.list[i].blocks = couplings.blocks[i];
    }
    for (int k = 0; k < 8; k++) {
        drape_problem problem = problem_of(&s, &couplings);
        drape_matrix *matrix;
        int64_t bytes = drape_context_bytes(ctx);
        memory.left = k == 0 || pair_is_direct(settings) ? -1 : 0; /* the next request fails */
        ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, NULL));
        memory.left = -1;
        PAIR_TRUE(settings, !memory.failed);
        if (k > 0 && !pair_is_direct(settings)) PAIR_TRUE(settings, drape_context_bytes(ctx) == bytes);
        random_system merged = merged_of(ctx, &s, &couplings, &matrix);
        random_reference(&merged, want);
        PAIR_NEAR(settings, distance_of(3 * ROWS, x, want), 0, 1e-9 * norm_of(3 * ROWS, want));
        drape_matrix_destroy(matrix);
        make_couplings(&r, &s.A, k == 3 ? 0 : test_random_below(&r, MOST + 1), &couplings);
    }
    drape_solver_destroy(solver);
    random_system_destroy(&s);
    drape_context_destroy(ctx);
    PAIR_TRUE(settings, memory.live == 0);
}

static void other_lists_allocate_nothing(void **state) {
    (void)state;
    drape_solve_settings settings;
    for (int32_t k = 0; pair_at(k, &settings); k++) check_warm(&settings);
}

static drape_status solve_twice(drape_context *ctx, const random_system *s, random_couplings *couplings,
                                const drape_solve_settings *settings, const int32_t counts[2]) {
    drape_solver *solver;
    double x[120];
    drape_problem problem = problem_of(s, couplings);
    drape_status status = drape_solver_create(ctx, settings, &solver);
    for (int k = 0; k < 2 && !status; k++) {
        problem.couplings.count = counts[k];
        status = drape_solver_solve(solver, &problem, x, NULL);
    }
    drape_solver_destroy(solver);
    return status;
}

/* spare: some of the memory is only asked for so that a later solve need not, and is done without. */
static void fail_each(drape_context *ctx, counting_allocator *memory, const random_system *s,
                      random_couplings *couplings, const drape_solve_settings *settings, const int32_t counts[2],
                      bool spare) {
    int64_t bytes = drape_context_bytes(ctx), live = memory->live;
    for (int64_t n = 0;; n++) {
        memory->left = n;
        memory->failed = false;
        drape_status status = solve_twice(ctx, s, couplings, settings, counts);
        PAIR_TRUE(settings, status == DRAPE_OK || (memory->failed && status == DRAPE_ERROR_MEMORY));
        PAIR_TRUE(settings, status == DRAPE_ERROR_MEMORY || !memory->failed || spare);
        PAIR_TRUE(settings, drape_context_bytes(ctx) == bytes && memory->live == live);
        if (!memory->failed) break;
    }
    memory->left = -1;
}

/* Every single request for memory fails once. */
static void failing_allocations(void **state) {
    (void)state;
    static random_couplings couplings;
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    random_settings make = {40, 50, 0.3, RANDOM_DIRECTIONS, true, 0, 6};
    random_system s = random_system_create(ctx, &make);
    drape_solve_settings settings;
    test_random r = {2};
    make_couplings(&r, &s.A, 10, &couplings);
    for (int32_t k = 0; pair_at(k, &settings); k++)
        fail_each(ctx, &memory, &s, &couplings, &settings, (int32_t[]){3, 10}, false);
    settings = drape_solve_defaults();
    settings.precond = "amg";
    make_ties(&r, &s.A, 60, &couplings);
    fail_each(ctx, &memory, &s, &couplings, &settings, (int32_t[]){40, 60}, true);
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

/* ---- The same matrix again ---- */

/* What was made for a matrix and its couplings is kept where the caller says that both are the same. */
static void check_same(drape_context *ctx, const drape_solve_settings *settings) {
    static random_couplings couplings;
    random_settings make = {30, 20, 0.3, RANDOM_DIRECTIONS, true, 0, 8};
    random_system s = random_system_create(ctx, &make);
    test_random r = {5};
    drape_solver *told, *untold;
    make_couplings(&r, &s.A, 6, &couplings);
    drape_problem problem = problem_of(&s, &couplings), same = problem;
    same.same_matrix = 1;
    ASSERT_OK(ctx, drape_solver_create(ctx, settings, &told));
    ASSERT_OK(ctx, drape_solver_create(ctx, settings, &untold));
    for (int k = 0; k < 3; k++) {
        double x[90] = {0}, again[90] = {0};
        drape_solve_result a, b;
        ASSERT_OK(ctx, drape_solver_solve(told, &same, x, &a));
        ASSERT_OK(ctx, drape_solver_solve(untold, &problem, again, &b));
        assert_memory_equal(x, again, sizeof x);
        PAIR_TRUE(settings, a.iterations == b.iterations && a.bytes_moved <= b.bytes_moved);
        for (int i = 0; i < 90; i++) s.b[i] = test_random_between(&r, -1, 1);
    }
    drape_solver_destroy(told);
    drape_solver_destroy(untold);
    random_system_destroy(&s);
}

static void same_couplings_are_kept(void **state) {
    (void)state;
    for_every_pair(check_same);
}

/* ---- In a matrix ---- */

/* C, dense, from its definition. */
static void add_dense(const drape_couplings *couplings, int32_t n, double *out) {
    for (int32_t i = 0; i < couplings->count; i++) {
        const drape_coupling *c = &couplings->list[i];
        for (int32_t p = 0; p < 9 * c->count * c->count; p++) {
            int32_t row = p / (3 * c->count), col = p % (3 * c->count), a = row / 3, b = col / 3;
            double value = c->blocks ? c->blocks[p] : c->k * c->w[a] * c->w[b] * c->n[row % 3] * c->n[col % 3];
            out[(3 * c->vertex[a] + row % 3) * n + 3 * c->vertex[b] + col % 3] += value;
        }
    }
}

static void merging(void **state) {
    (void)state;
    enum { ROWS = 25, N = 3 * ROWS };
    static random_couplings couplings;
    static double want[N * N], got[N * N];
    drape_context *ctx = test_context(1);
    test_random r = {9};
    for (int32_t count = 0; count <= 40; count += 20) {
        random_settings make = {ROWS, 50, 0.3, RANDOM_DIRECTIONS, true, 0.2, (uint64_t)count};
        random_system s = random_system_create(ctx, &make);
        drape_matrix *matrix;
        make_couplings(&r, &s.A, count, &couplings);
        random_system merged = merged_of(ctx, &s, &couplings, &matrix);
        ASSERT_OK(ctx, drape_bsr3_check(ctx, &merged.A));
        dense_from_bsr3(&s.A, want);
        add_dense(&couplings.view, N, want);
        dense_from_bsr3(&merged.A, got);
        for (int k = 0; k < N * N; k++) ASSERT_NEAR(got[k], want[k], 1e-12 * (1 + fabs(want[k])));
        if (count == 0) assert_int_equal(merged.A.rowptr[ROWS], s.A.rowptr[ROWS]);
        drape_matrix_destroy(matrix);
        random_system_destroy(&s);
    }
    drape_context_destroy(ctx);
}

/* A pattern that holds the couplings gives the values of the merged matrix; one that does not is refused. */
static void prefiltering(void **state) {
    (void)state;
    enum { ROWS = 20 };
    static random_couplings couplings;
    drape_context *ctx = test_context(1);
    random_settings make = {ROWS, 50, 0.3, RANDOM_DIRECTIONS, true, 0, 3};
    random_system s = random_system_create(ctx, &make);
    test_random r = {9};
    drape_matrix *wide, *matrix;
    make_couplings(&r, &s.A, 8, &couplings);
    ASSERT_OK(ctx, drape_couplings_merge(ctx, &s.A, &couplings.view, &matrix));
    drape_coupling none[8];
    memcpy(none, couplings.list, sizeof none);
    for (int i = 0; i < 8; i++) none[i].k = 0, none[i].blocks = NULL;
    ASSERT_OK(ctx, drape_couplings_merge(ctx, &s.A, &(drape_couplings){8, none}, &wide));
    const drape_bsr3 padded = drape_matrix_view(wide), merged = drape_matrix_view(matrix);
    int64_t numbers = 9 * padded.rowptr[ROWS];
    double *val = dense_new(numbers), *want = dense_new(numbers), rhs[3 * ROWS], want_rhs[3 * ROWS];
    drape_problem beside = {.A = &padded, .b = s.b, .constraints = s.set, .couplings = couplings.view};
    drape_problem inside = {.A = &merged, .b = s.b, .constraints = s.set};
    ASSERT_OK(ctx, drape_prefilter(ctx, &beside, val, rhs));
    ASSERT_OK(ctx, drape_prefilter(ctx, &inside, want, want_rhs));
    for (int64_t k = 0; k < numbers; k++) ASSERT_NEAR(val[k], want[k], 1e-13 * (1 + fabs(want[k])));
    for (int k = 0; k < 3 * ROWS; k++) ASSERT_NEAR(rhs[k], want_rhs[k], 1e-12 * (1 + fabs(want_rhs[k])));
    beside.A = &s.A;
    int64_t bytes = drape_context_bytes(ctx);
    assert_int_equal(drape_prefilter(ctx, &beside, val, rhs), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "drape_couplings_merge"));
    assert_int_equal(drape_context_bytes(ctx), bytes);
    free(val);
    free(want);
    drape_matrix_destroy(wide);
    drape_matrix_destroy(matrix);
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

/* ---- Multigrid ---- */

enum { SIDE = 201, FOLDED = 20000 };

/* A sheet folded along its middle line and held at one edge. It has springs between vertices that lie on each other,
 * springs from a vertex to a triangle, or blocks that tie the vertices: A_ii, or I as stiff as that. Mixed: the
 * blocks A_ii on one half of the fold, springs on the other. */
typedef struct folded {
    sheet s;
    drape_couplings view;
    drape_coupling *list;
    double (*blocks)[36];
} folded;

static const double *block_of(const drape_bsr3 *A, int32_t i) {
    for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
        if (A->col[k] == i) return A->val + 9 * k;
    fail();
    return NULL;
}

typedef enum fold { FOLD_SPRINGS, FOLD_TRIANGLES, FOLD_BLOCKS, FOLD_IDENTITY, FOLD_MIXED, FOLDS } fold;

static void fill_pair(const double *block, double *to) {
    for (int m = 0; m < 36; m++) to[m] = (m / 18 == m % 6 / 3 ? 1 : -1) * block[m / 6 % 3 * 3 + m % 3];
}

static drape_coupling folded_coupling(fold kind, int32_t a, int32_t b, int32_t side, const double *A,
                                      double *blocks) {
    const double k = (A[0] + A[4] + A[8]) / 3, identity[9] = {k, 0, 0, 0, k, 0, 0, 0, k};
    if (kind == FOLD_SPRINGS) return (drape_coupling){2, {a, b}, k, {1, -1}, {0.1, 0.2, 0.97}, NULL};
    if (kind == FOLD_TRIANGLES)
        return (drape_coupling){4, {a, b, b - 1, b + side}, k, {1, -0.4, -0.35, -0.25}, {0, 0, 1}, NULL};
    fill_pair(kind == FOLD_IDENTITY ? identity : A, blocks);
    return (drape_coupling){2, {a, b}, 0, {0}, {0}, blocks};
}

static folded folded_create(drape_context *ctx, int32_t side, int32_t count, fold kind, bool shuffled) {
    folded f = {.s = sheet_create(
                    ctx, &(sheet_settings){.nx = side, .ny = side, .mass = 1e-3, .shuffled = shuffled, .seed = 3})};
    drape_constraint *edge = calloc((size_t)side, sizeof *edge);
    f.list = calloc((size_t)count, sizeof *f.list);
    f.blocks = calloc((size_t)count, sizeof *f.blocks);
    for (int32_t i = 0; i < side; i++) edge[i] = (drape_constraint){.vertex = i, .directions = 3};
    ASSERT_OK(ctx, drape_constraints_set(f.s.set, edge, side));
    for (int32_t j = 0; j + 1 < side; j++)
        for (int32_t i = 1; i <= side / 2 && f.view.count < count; i++) {
            int32_t a = j * side + i - 1, b = j * side + side - i, n = f.view.count++;
            fold one = kind != FOLD_MIXED ? kind : n < count / 2 ? FOLD_BLOCKS : FOLD_SPRINGS;
            f.list[n] = folded_coupling(one, a, b, side, block_of(&f.s.A, a), f.blocks[n]);
        }
    f.view.list = f.list;
    free(edge);
    return f;
}

static void folded_destroy(folded *f) {
    sheet_destroy(&f->s);
    free(f->list);
    free(f->blocks);
}

static int32_t iterations_of(drape_context *ctx, drape_solver *solver, const drape_problem *problem) {
    double *x = calloc(3 * (size_t)problem->A->rows, sizeof *x);
    drape_solve_result result;
    ASSERT_OK(ctx, drape_solver_solve(solver, problem, x, &result));
    assert_int_equal(result.reason, DRAPE_CONVERGED);
    free(x);
    return result.iterations;
}

/* Multigrid that was set up for A alone, against a fresh one for the merged matrix. What was made for A stays. */
static void compare_folded(drape_context *ctx, fold kind, int32_t modes) {
    folded f = folded_create(ctx, SIDE, FOLDED, kind, false);
    drape_solve_settings settings = drape_solve_defaults();
    drape_solver *kept, *fresh;
    drape_matrix *matrix;
    settings.precond = "amg";
    settings.amg.modes = modes;
    ASSERT_OK(ctx, drape_couplings_merge(ctx, &f.s.A, &f.view, &matrix));
    const drape_bsr3 sum = drape_matrix_view(matrix);
    drape_problem problem = {.A = &f.s.A, .b = f.s.b, .constraints = f.s.set, .positions = f.s.x}, merged = problem;
    merged.A = &sum;
    ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &fresh));
    ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &kept));
    int32_t want = iterations_of(ctx, fresh, &merged), alone = iterations_of(ctx, kept, &problem);
    problem.couplings = f.view;
    assert_int_equal(f.view.count, FOLDED);
    int32_t got = iterations_of(ctx, kept, &problem);
    print_message("%d modes, kind %d: %d iterations without couplings, %d merged, %d beside\n", modes, (int)kind,
                  alone, want, got);
    assert_true(got <= 1.5 * want);
    problem.couplings = (drape_couplings){0};
    assert_int_equal(iterations_of(ctx, kept, &problem), alone);
    drape_solver_destroy(kept);
    drape_solver_destroy(fresh);
    drape_matrix_destroy(matrix);
    folded_destroy(&f);
}

static void folded_sheet(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    for (int32_t modes = 3; modes <= 6; modes += 3)
        for (int kind = 0; kind < FOLDS; kind++) compare_folded(ctx, (fold)kind, modes);
    drape_context_destroy(ctx);
}

/* All affine motions: 12 vectors. */
static double *affine_motions(const sheet *s) {
    const int64_t rows = s->A.rows;
    double *out = calloc(36 * (size_t)rows, sizeof *out);
    for (int32_t v = 0; v < 12; v++)
        for (int64_t i = 0; i < rows; i++) out[3 * rows * v + 3 * i + v % 3] = v < 3 ? 1 : s->x[3 * i + v / 3 - 1];
    return out;
}

/* Several levels: the answer is that of the merged matrix, also where the vertices are in no order. */
static void levels_solve_the_merged_matrix(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    for (int k = 0; k < 4 * FOLDS; k++) {
        folded f = folded_create(ctx, 61, 1500, (fold)(k % FOLDS), k >= 2 * FOLDS);
        drape_solve_settings settings = drape_solve_defaults();
        int64_t n = 3 * (int64_t)f.s.A.rows;
        double *motions = affine_motions(&f.s);
        double *x = calloc((size_t)n, sizeof *x), *want = calloc((size_t)n, sizeof *want);
        drape_solve_result result;
        drape_matrix *matrix;
        settings.precond = "amg";
        settings.tol = 1e-12;
        settings.amg.modes = k % 2 ? 6 : 3;
        settings.amg.cycle = k % 4 == 1 ? DRAPE_CYCLE_W : DRAPE_CYCLE_V;
        settings.amg.smoother = k % 4 == 2 ? DRAPE_SMOOTHER_CHEBYSHEV : DRAPE_SMOOTHER_GAUSS_SEIDEL;
        ASSERT_OK(ctx, drape_couplings_merge(ctx, &f.s.A, &f.view, &matrix));
        const drape_bsr3 sum = drape_matrix_view(matrix);
        drape_problem problem = {.A = &f.s.A, .b = f.s.b, .constraints = f.s.set, .positions = f.s.x};
        problem.couplings = f.view;
        if (k % 4 == 3) problem.near_kernel = motions, problem.near_kernel_count = 12;
        ASSERT_OK(ctx, drape_solve(ctx, &problem, &settings, x, &result));
        assert_int_equal(result.reason, DRAPE_CONVERGED);
        problem.A = &sum;
        problem.couplings = (drape_couplings){0};
        settings.precond = "block_diagonal";
        ASSERT_OK(ctx, drape_solve(ctx, &problem, &settings, want, NULL));
        ASSERT_NEAR(distance_of(n, x, want), 0, 1e-8 * norm_of(n, want));
        drape_matrix_destroy(matrix);
        folded_destroy(&f);
        free(motions);
        free(x);
        free(want);
    }
    drape_context_destroy(ctx);
}

/* Symmetric to single precision, whose rounding a W-cycle raises, and positive definite, however stiff the couplings.
 */
static void check_definite(drape_context *ctx, const folded *f, const drape_solve_settings *settings) {
    const drape_i_precond *amg = drape_i_precond_find("amg");
    drape_i_couplings C = {0};
    drape_problem problem = {.A = &f->s.A, .constraints = f->s.set, .positions = f->s.x};
    int64_t n = 3 * (int64_t)f->s.A.rows;
    double *u = calloc(4 * (size_t)n, sizeof *u), *v = u + n, *Pu = v + n, *Pv = Pu + n, shift;
    void *state;
    test_random r = {1};
    ASSERT_OK(ctx, drape_i_couplings_set(ctx, f->s.A.rows, &f->view, &C));
    ASSERT_OK(ctx, amg->create(ctx, &f->s.A, settings, &state));
    ASSERT_OK(ctx, amg->refresh(ctx, state, &problem, f->s.set, &C, &shift));
    for (int k = 0; k < 5; k++) {
        double uPv = 0, vPu = 0;
        for (int64_t i = 0; i < n; i++) u[i] = test_random_between(&r, -1, 1), v[i] = test_random_between(&r, -1, 1);
        double uPu = amg->apply(ctx, state, u, Pu), vPv = amg->apply(ctx, state, v, Pv);
        for (int64_t i = 0; i < n; i++) uPv += u[i] * Pv[i], vPu += v[i] * Pu[i];
        assert_true(uPu > 0 && vPv > 0);
        ASSERT_NEAR(uPv, vPu, (settings->amg.cycle == DRAPE_CYCLE_W ? 1e-3 : 1e-4) * sqrt(uPu * vPv));
    }
    amg->destroy(ctx, state);
    drape_i_couplings_free(ctx, &C);
    free(u);
}

static void levels_are_definite(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    for (int k = 0; k < 4 * FOLDS; k++) {
        folded f = folded_create(ctx, 41, 700, (fold)(k % FOLDS), k % 2);
        drape_solve_settings settings = drape_solve_defaults();
        settings.amg.modes = k % 4 < 2 ? 3 : 6;
        settings.amg.cycle = k >= 8 ? DRAPE_CYCLE_W : DRAPE_CYCLE_V;
        settings.amg.smoother = k % 4 == 3 ? DRAPE_SMOOTHER_CHEBYSHEV : DRAPE_SMOOTHER_GAUSS_SEIDEL;
        for (int32_t i = 0; i < f.view.count && k >= 2 * FOLDS; i++) {
            f.list[i].k *= 1e4;
            for (int m = 0; m < 36; m++) f.blocks[i][m] *= 1e4;
        }
        check_definite(ctx, &f, &settings);
        folded_destroy(&f);
    }
    drape_context_destroy(ctx);
}

/* As other_lists_allocate_nothing, with several levels. */
static void levels_allocate_nothing(void **state) {
    (void)state;
    enum { COUNT = 300 };
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    folded f = folded_create(ctx, 61, COUNT, FOLD_TRIANGLES, false);
    drape_solve_settings settings = drape_solve_defaults();
    drape_problem problem = {.A = &f.s.A, .b = f.s.b, .constraints = f.s.set, .couplings = f.view};
    double *x = calloc(3 * (size_t)f.s.A.rows, sizeof *x);
    drape_solver *solver;
    drape_solve_result result;
    test_random r = {4};
    settings.precond = "amg";
    ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
    for (int k = 0; k < 6; k++) {
        for (int32_t i = 0; i < COUNT; i++) do
                choose_vertices(&r, f.s.A.rows, &f.list[i]);
            while (f.list[i].count < DRAPE_COUPLING_VERTICES);
        memory.left = k == 0 ? -1 : 0; /* the next request fails */
        ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &result));
        memory.left = -1;
        assert_false(memory.failed);
        assert_int_equal(result.reason, DRAPE_CONVERGED);
    }
    drape_solver_destroy(solver);
    folded_destroy(&f);
    free(x);
    drape_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
}

/* The same with ties for half of the list: without couplings, with as many as there will be, then with others tied,
 * the same with other strengths, fewer, and none. */
static void ties_allocate_nothing(void **state) {
    (void)state;
    enum { COUNT = 300, ROUNDS = 9 };
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    folded f = folded_create(ctx, 61, COUNT, FOLD_MIXED, false);
    drape_solve_settings settings = drape_solve_defaults();
    drape_problem problem = {.A = &f.s.A, .b = f.s.b, .constraints = f.s.set, .couplings = f.view};
    double *x = calloc(3 * (size_t)f.s.A.rows, sizeof *x);
    drape_solver *solver;
    drape_solve_result result;
    test_random r = {4};
    settings.precond = "amg";
    ASSERT_OK(ctx, drape_solver_create(ctx, &settings, &solver));
    for (int k = 0; k < ROUNDS; k++) {
        for (int32_t i = 0; i < COUNT && k % 2; i++) do
                choose_vertices(&r, f.s.A.rows, &f.list[i]);
            while (f.list[i].count != 2);
        for (int32_t i = 0; i < COUNT && k % 2 == 0; i++)
            for (int m = 0; m < 36; m++) f.blocks[i][m] *= 2;
        problem.couplings.count = k == 0 || k == 7 ? 0 : k == 5 ? COUNT / 4 : COUNT;
        memory.left = k < 2 ? -1 : 0; /* the next request fails */
        ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &result));
        memory.left = -1;
        assert_false(memory.failed);
        assert_int_equal(result.reason, DRAPE_CONVERGED);
    }
    drape_solver_destroy(solver);
    folded_destroy(&f);
    free(x);
    drape_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
}

/* ---- Messages ---- */

static void refused_couplings(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    random_settings make = {10, 50, 0.3, RANDOM_DIRECTIONS, true, 0, 3};
    random_system s = random_system_create(ctx, &make);
    double x[30], want[30], skew[36] = {1, 2}, endless[36] = {NAN}, negative[36] = {-1};
    const drape_coupling good = {.count = 2, .vertex = {3, 7}, .k = 1, .w = {1, -1}, .n = {0, 0, 1}};
    const struct {
        drape_coupling c;
        const char *fragment;
    } bad[] = {
        {{.count = 0}, "has 0 vertices"},
        {{.count = 5}, "has 5 vertices"},
        {{.count = 2, .vertex = {3, 10}}, "vertex 10"},
        {{.count = 2, .vertex = {-1, 3}}, "vertex -1"},
        {{.count = 3, .vertex = {3, 4, 3}}, "vertex 3 twice"},
        {{.count = 2, .vertex = {3, 4}, .k = -1}, "k is -1"},
        {{.count = 2, .vertex = {3, 4}, .k = INFINITY}, "k is not"},
        {{.count = 2, .vertex = {3, 4}, .k = NAN}, "k is not"},
        {{.count = 2, .vertex = {3, 4}, .k = 1, .w = {1, NAN}}, "weight"},
        {{.count = 2, .vertex = {3, 4}, .k = 1, .n = {0, INFINITY}}, "direction"},
        {{.count = 2, .vertex = {3, 4}, .blocks = skew}, "not symmetric"},
        {{.count = 2, .vertex = {3, 4}, .blocks = endless}, "blocks"},
        {{.count = 2, .vertex = {3, 4}, .blocks = negative}, "semidefinite"},
    };
    drape_solver *solver;
    drape_problem problem = {.A = &s.A, .b = s.b, .constraints = s.set, .couplings = {1, &good}};
    ASSERT_OK(ctx, drape_solver_create(ctx, NULL, &solver));
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, want, NULL));
    for (int k = 0; k < (int)(sizeof bad / sizeof *bad); k++) {
        drape_coupling list[] = {good, good, bad[k].c};
        drape_matrix *matrix;
        problem.couplings = (drape_couplings){3, list};
        assert_int_equal(drape_solver_solve(solver, &problem, x, NULL), DRAPE_ERROR_ARGUMENT);
        if (!strstr(drape_message(ctx), bad[k].fragment) || !strstr(drape_message(ctx), "coupling 2"))
            fail_msg("'%s' lacks '%s', or the coupling", drape_message(ctx), bad[k].fragment);
        assert_int_equal(drape_couplings_merge(ctx, &s.A, &problem.couplings, &matrix), DRAPE_ERROR_ARGUMENT);
        assert_null(matrix);
        drape_solver_forget(solver);
        problem.couplings = (drape_couplings){1, &good}; /* none of this spoiled it */
        ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, NULL));
        assert_memory_equal(x, want, sizeof x);
    }
    problem.couplings = (drape_couplings){-1, &good};
    assert_int_equal(drape_solver_solve(solver, &problem, x, NULL), DRAPE_ERROR_ARGUMENT);
    problem.couplings = (drape_couplings){1, NULL};
    assert_int_equal(drape_solver_solve(solver, &problem, x, NULL), DRAPE_ERROR_ARGUMENT);
    drape_solver_destroy(solver);
    random_system_destroy(&s);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_with_the_merged_matrix),
        cmocka_unit_test(many_ties),
        cmocka_unit_test(threads_and_levels_change_no_bit),
        cmocka_unit_test(none_is_none),
        cmocka_unit_test(other_lists_allocate_nothing),
        cmocka_unit_test(failing_allocations),
        cmocka_unit_test(same_couplings_are_kept),
        cmocka_unit_test(merging),
        cmocka_unit_test(prefiltering),
        cmocka_unit_test(folded_sheet),
        cmocka_unit_test(levels_solve_the_merged_matrix),
        cmocka_unit_test(levels_are_definite),
        cmocka_unit_test(levels_allocate_nothing),
        cmocka_unit_test(ties_allocate_nothing),
        cmocka_unit_test(refused_couplings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
