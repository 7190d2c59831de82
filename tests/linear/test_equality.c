/* Equalities between vertices: every method with every preconditioner that it takes gives the answer and the forces
 * of a dense solve with Lagrange multipliers. Bits are the same for any number of threads and any vector width. A
 * warm solver allocates nothing. */
#include "linear/groups.h"
#include "sparse/counting_allocator.h"
#include "support/pairs.h"
#include "support/random_systems.h"
#include "support/sheets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 400, LARGEST = 12 };

typedef struct equalities {
    int32_t count, redundant; /* those after `count` repeat others */
    drape_equality list[MOST];
} equalities;

/* ---- Random groups ---- */

static bool is_held(const random_system *s, int32_t vertex) {
    for (int32_t i = 0; i < s->held; i++)
        if (s->list[i].vertex == vertex && s->list[i].directions > 0) return true;
    return false;
}

static drape_equality random_equality(test_random *r, const int32_t *pool, int32_t size, int32_t leader) {
    drape_equality e = {.count = 1, .vertex = {leader}, .w = {1}};
    int32_t count = size < DRAPE_EQUALITY_VERTICES ? size : DRAPE_EQUALITY_VERTICES;
    count = 2 + test_random_below(r, count - 1);
    while (e.count < count) {
        int32_t v = pool[test_random_below(r, size)];
        bool taken = false;
        for (int32_t b = 0; b < e.count; b++) taken |= e.vertex[b] == v;
        if (taken) continue;
        e.vertex[e.count] = v;
        e.w[e.count++] = test_random_between(r, -0.6, 0.6);
    }
    e.directions = 1 + test_random_below(r, 3);
    for (int32_t k = 0; k < 9; k++) e.direction[k / 3][k % 3] = test_random_between(r, -1, 1);
    for (int32_t k = 0; k < 3; k++) e.value[k] = test_random_between(r, -1, 1);
    return e;
}

/* Groups of up to 12 vertices. Each equality is led by a vertex of its own that nothing else holds, so that there is
 * a solution; a quarter of them is repeated, times 2.5. */
static void make_groups(test_random *r, const random_system *s, equalities *out) {
    out->count = out->redundant = 0;
    for (int32_t first = 0; first < s->rows;) {
        int32_t size = 1 + test_random_below(r, LARGEST), pool[LARGEST];
        if (first + size > s->rows) size = s->rows - first;
        for (int32_t k = 0; k < size; k++) pool[k] = (13 * (first + k)) % s->rows; /* far from each other */
        for (int32_t k = 0; k < size && size > 1 && out->count < MOST / 2; k++)
            if (!is_held(s, pool[k]) && test_random_below(r, 3) == 0)
                out->list[out->count++] = random_equality(r, pool, size, pool[k]);
        first += size;
    }
    for (int32_t i = 0; i < out->count; i += 4) {
        drape_equality *e = &out->list[out->count + out->redundant++];
        *e = out->list[i];
        for (int32_t a = 0; a < e->count; a++) e->w[a] *= 2.5;
        for (int32_t k = 0; k < 3; k++) e->value[k] *= 2.5;
    }
}

static void couple(drape_context *ctx, drape_constraints *set, const equalities *e) {
    ASSERT_OK(ctx, drape_constraints_couple(set, e->list, e->count + e->redundant, 0));
}

/* ---- With Lagrange multipliers ---- */

/* Rows C x = w, dense: what is held of single vertices, then the equalities; how many. */
static int32_t rows_of(const random_system *s, const equalities *e, long double *C, long double *w) {
    const int32_t n = 3 * s->rows;
    int32_t m = 0;
    for (int32_t i = 0; i < s->held + e->count; i++) {
        const drape_constraint *c = i < s->held ? &s->list[i] : NULL;
        const drape_equality *q = c ? NULL : &e->list[i - s->held];
        for (int32_t k = 0; k < (c ? c->directions : q->directions); k++, m++) {
            const int32_t directions = c ? c->directions : q->directions;
            w[m] = 0;
            for (int32_t j = 0; j < 3; j++) {
                double d = directions == 3 ? k == j : c ? c->direction[k][j] : q->direction[k][j];
                w[m] += (long double)d * (c ? c->z[j] : q->value[j]);
                for (int32_t a = 0; a < (c ? 1 : q->count); a++)
                    C[(int64_t)n * m + 3 * (c ? c->vertex : q->vertex[a]) + j] += (long double)d * (c ? 1 : q->w[a]);
            }
        }
    }
    return m;
}

/* Elimination with pivots. */
static void eliminate(int32_t n, long double *A, long double *b) {
    for (int32_t k = 0; k < n; k++) {
        int32_t p = k;
        for (int32_t i = k + 1; i < n; i++)
            if (fabsl(A[(int64_t)n * i + k]) > fabsl(A[(int64_t)n * p + k])) p = i;
        assert_true(A[(int64_t)n * p + k] != 0);
        for (int32_t j = 0; j < n; j++) {
            long double swap = A[(int64_t)n * k + j];
            A[(int64_t)n * k + j] = A[(int64_t)n * p + j];
            A[(int64_t)n * p + j] = swap;
        }
        long double swap = b[k];
        b[k] = b[p];
        b[p] = swap;
        for (int32_t i = k + 1; i < n; i++) {
            long double factor = A[(int64_t)n * i + k] / A[(int64_t)n * k + k];
            for (int32_t j = k; j < n && factor != 0; j++) A[(int64_t)n * i + j] -= factor * A[(int64_t)n * k + j];
            b[i] -= factor * b[k];
        }
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t j = i + 1; j < n; j++) b[i] -= A[(int64_t)n * i + j] * b[j];
        b[i] /= A[(int64_t)n * i + i];
    }
}

static void add_matrix(const drape_bsr3 *A, int32_t size, long double *K) {
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            for (int32_t m = 0; m < 9; m++)
                K[(int64_t)size * (3 * i + m / 3) + 3 * A->col[k] + m % 3] += A->val[9 * k + m];
}

/* A x - C'l = b, C x = w; force = C'l. */
static void with_multipliers(drape_context *ctx, const random_system *s, const drape_couplings *couplings,
                             const equalities *e, double *x, double *force) {
    const int32_t n = 3 * s->rows;
    long double *C = calloc((size_t)n * (size_t)(3 * s->held + 3 * e->count + 1), sizeof *C);
    long double *w = calloc((size_t)(3 * s->held + 3 * e->count + 1), sizeof *w);
    const int32_t m = rows_of(s, e, C, w), size = n + m;
    long double *K = calloc((size_t)size * (size_t)size, sizeof *K), *u = calloc((size_t)size, sizeof *u);
    drape_matrix *merged;
    ASSERT_OK(ctx, drape_couplings_merge(ctx, &s->A, couplings, &merged));
    drape_bsr3 A = drape_matrix_view(merged);
    add_matrix(&A, size, K);
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j < n; j++) {
            K[(int64_t)size * (n + i) + j] = C[(int64_t)n * i + j];
            K[(int64_t)size * j + n + i] = -C[(int64_t)n * i + j];
        }
    for (int32_t i = 0; i < size; i++) u[i] = i < n ? s->b[i] : w[i - n];
    eliminate(size, K, u);
    for (int32_t j = 0; j < n; j++) {
        long double sum = 0;
        for (int32_t i = 0; i < m; i++) sum += C[(int64_t)n * i + j] * u[n + i];
        x[j] = (double)u[j];
        force[j] = (double)sum;
    }
    drape_matrix_destroy(merged);
    free(C), free(w), free(K), free(u);
}

/* ---- The contract ---- */

/* Springs between random vertices, so that some have vertices of several groups. */
static int32_t make_springs(test_random *r, int32_t rows, drape_coupling *list) {
    if (rows < 5) return 0;
    for (int32_t i = 0; i < 6; i++) {
        list[i] = (drape_coupling){.count = 2 + i % 3, .k = 0.1 + i};
        for (int32_t a = 0; a < list[i].count;) {
            bool taken = false;
            list[i].vertex[a] = test_random_below(r, rows);
            for (int32_t b = 0; b < a; b++) taken |= list[i].vertex[b] == list[i].vertex[a];
            a += !taken;
        }
        for (int32_t a = 0; a < list[i].count; a++) list[i].w[a] = test_random_between(r, -1, 1);
        for (int32_t k = 0; k < 3; k++) list[i].n[k] = test_random_between(r, -1, 1);
    }
    return 6;
}

static void check_solution(drape_context *ctx, const drape_solve_settings *settings, random_system *s,
                           const equalities *e, const drape_couplings *couplings) {
    const int64_t n = 3 * (int64_t)s->rows;
    double *x = calloc((size_t)(4 * n), sizeof *x), *want = x + n, *force = x + 2 * n, *guess = x + 3 * n;
    drape_problem problem = {.A = &s->A, .b = s->b, .constraints = s->set, .couplings = *couplings, .guess = guess};
    drape_solver *solver;
    drape_solve_result result;
    test_random r = {5};
    for (int64_t i = 0; i < n; i++) guess[i] = test_random_between(&r, -1, 1);
    with_multipliers(ctx, s, couplings, e, want, force);
    ASSERT_OK(ctx, drape_solver_create(ctx, settings, &solver));
    for (int again = 0; again < 2; again++) {
        ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &result));
        PAIR_REASON(settings, result.reason, DRAPE_CONVERGED);
        PAIR_NEAR(settings, distance_of(n, x, want), 0, 1e-10 * norm_of(n, want));
        PAIR_NEAR(settings, distance_of(n, result.constraint_force, force), 0, 1e-10 * (1 + norm_of(n, force)));
        problem.same_matrix = true;
    }
    drape_solver_destroy(solver);
    free(x);
}

static void check_pair(drape_context *ctx, const drape_solve_settings *settings) {
    static const int32_t sizes[] = {2, 7, 24, 60};
    static equalities e;
    drape_coupling springs[6];
    test_random r = {17};
    for (int k = 0; k < 4; k++)
        for (int part = 0; part < 3; part++) {
            random_settings make = {sizes[k], 20, 0.25, RANDOM_DIRECTIONS, true, 0, (uint64_t)(10 * k + part + 1)};
            random_system s = random_system_create(ctx, &make);
            drape_solve_settings tight = *settings;
            drape_couplings couplings = {part == 2 ? make_springs(&r, sizes[k], springs) : 0, springs};
            tight.tol = 1e-14;
            tight.max_iterations = 1000000;
            make_groups(&r, &s, &e);
            couple(ctx, s.set, &e);
            check_solution(ctx, &tight, &s, &e, &couplings);
            random_system_destroy(&s);
        }
}

static void solves_as_with_multipliers(void **state) {
    (void)state;
    for_every_pair(check_pair);
}

/* ---- A as a function ---- */

typedef struct function {
    drape_context *ctx;
    const drape_bsr3 *A;
} function;

static void multiply(void *user, const double *x, double *y) {
    function *f = user;
    drape_multiply(f->ctx, f->A, x, y);
}

static void operators_take_them(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    static equalities e;
    random_settings make = {30, 20, 0.25, RANDOM_DIRECTIONS, true, 0, 3};
    random_system s = random_system_create(ctx, &make);
    test_random r = {4};
    double x[90], want[90], force[90];
    make_groups(&r, &s, &e);
    couple(ctx, s.set, &e);
    with_multipliers(ctx, &s, &(drape_couplings){0}, &e, want, force);
    function f = {ctx, &s.A};
    drape_operator op = {.rows = 30, .multiply = multiply, .user = &f};
    drape_problem problem = {.op = &op, .b = s.b, .constraints = s.set, .tol = 1e-14};
    ASSERT_OK(ctx, drape_solve(ctx, &problem, NULL, x, NULL));
    assert_true(distance_of(90, x, want) <= 1e-10 * norm_of(90, want));
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

/* ---- S is an orthogonal projection, block-diagonal over groups ---- */

static void projects(void **state) {
    (void)state;
    drape_context *ctx = test_context(2);
    static equalities e;
    for (uint64_t seed = 1; seed < 9; seed++) {
        random_settings make = {60, 20, 0.25, RANDOM_DIRECTIONS, true, 0, seed};
        random_system s = random_system_create(ctx, &make);
        test_random r = {seed};
        double v[180], Sv[180], SSv[180], rest[180], z[180];
        make_groups(&r, &s, &e);
        couple(ctx, s.set, &e);
        for (int k = 0; k < 180; k++) Sv[k] = rest[k] = v[k] = test_random_between(&r, -1, 1);
        drape_i_filter(s.set, Sv);
        drape_i_filter_complement(s.set, 60, rest);
        memcpy(SSv, Sv, sizeof Sv);
        drape_i_filter(s.set, SSv);
        double inner = 0;
        for (int k = 0; k < 180; k++) {
            assert_true(fabs(SSv[k] - Sv[k]) < 1e-14 && fabs(Sv[k] + rest[k] - v[k]) < 1e-14);
            inner += Sv[k] * rest[k];
        }
        assert_true(fabs(inner) < 1e-13);
        drape_i_blend(s.set, 60, v, z); /* S v + (I-S) z keeps all equalities, and what is held of vertices */
        for (int32_t i = 0; i < e.count; i++) {
            const drape_equality *q = &e.list[i];
            for (int32_t k = 0; k < q->directions; k++) {
                double sum = 0, size = 0;
                for (int32_t j = 0; j < 3; j++) {
                    double d = q->directions == 3 ? k == j : q->direction[k][j];
                    sum -= d * q->value[j];
                    for (int32_t a = 0; a < q->count; a++) sum += d * q->w[a] * z[3 * q->vertex[a] + j];
                    size += fabs(d);
                }
                assert_true(fabs(sum) < 1e-12 * (1 + size));
            }
        }
        random_system_destroy(&s);
    }
    drape_context_destroy(ctx);
}

/* z = S P^-1 S r: symmetric, and within the range of S. */
static void preconditioners_stand_alone(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    static equalities e;
    random_settings make = {40, 20, 0.25, RANDOM_DIRECTIONS, true, 0, 3};
    random_system s = random_system_create(ctx, &make);
    test_random r = {4};
    make_groups(&r, &s, &e);
    couple(ctx, s.set, &e);
    for (int32_t k = 0; drape_precond_name(k); k++) {
        drape_precond *P;
        double a[120], b[120], Pa[120], Pb[120], S[120], dot[2] = {0};
        bool unsymmetric = strcmp(drape_precond_name(k), "ilu") == 0;
        ASSERT_OK(ctx, drape_precond_create(ctx, drape_precond_name(k), &s.A, NULL, &P));
        ASSERT_OK(ctx, drape_precond_refresh(P, &(drape_problem){.A = &s.A, .constraints = s.set}));
        for (int i = 0; i < 120; i++) a[i] = test_random_between(&r, -1, 1), b[i] = test_random_between(&r, -1, 1);
        ASSERT_OK(ctx, drape_precond_apply(P, a, Pa));
        ASSERT_OK(ctx, drape_precond_apply(P, b, Pb));
        memcpy(S, Pa, sizeof S);
        drape_i_filter(s.set, S);
        for (int i = 0; i < 120; i++) {
            dot[0] += b[i] * Pa[i], dot[1] += a[i] * Pb[i];
            assert_true(fabs(S[i] - Pa[i]) < 1e-13 * norm_of(120, Pa));
        }
        if (!unsymmetric) assert_true(fabs(dot[0] - dot[1]) < 1e-5 * norm_of(120, a) * norm_of(120, Pb));
        drape_precond_destroy(P);
    }
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

/* ---- Bits and memory ---- */

enum { ROWS = 3001 };

static int32_t solve_in(drape_context *ctx, const random_system *s, const equalities *e,
                        const drape_solve_settings *settings, double *x) {
    drape_constraints *set;
    drape_solve_result result;
    ASSERT_OK(ctx, drape_constraints_create(ctx, s->rows, &set));
    ASSERT_OK(ctx, drape_constraints_set(set, s->list, s->held));
    couple(ctx, set, e);
    drape_problem problem = {.A = &s->A, .b = s->b, .constraints = set};
    ASSERT_OK(ctx, drape_solve(ctx, &problem, settings, x, &result));
    drape_constraints_destroy(set);
    return result.iterations;
}

static drape_context *context_at(int32_t threads, drape_simd simd) {
    drape_context_settings settings = drape_context_defaults();
    drape_context *ctx;
    settings.threads = threads;
    settings.simd = simd;
    return drape_context_create(&settings, &ctx) == DRAPE_OK ? ctx : NULL;
}

static void same_bits(const random_system *s, const equalities *e, const drape_solve_settings *settings) {
    static const int32_t threads[] = {1, 2, 5};
    double *want = calloc(6 * ROWS, sizeof *want), *x = want + 3 * ROWS;
    drape_context *first = context_at(1, DRAPE_SIMD_BASELINE);
    int32_t iterations = solve_in(first, s, e, settings, want);
    drape_context_destroy(first);
    for (int simd = DRAPE_SIMD_BASELINE; simd < DRAPE_SIMD_BEST; simd++)
        for (int k = 0; k < 3; k++) {
            drape_context *ctx = context_at(threads[k], (drape_simd)simd);
            if (!ctx) continue; /* not on this processor */
            PAIR_TRUE(settings, solve_in(ctx, s, e, settings, x) == iterations);
            assert_memory_equal(x, want, 3 * ROWS * sizeof *x);
            drape_context_destroy(ctx);
        }
    free(want);
}

static void threads_and_levels_change_no_bit(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    static equalities e;
    random_settings make = {ROWS, 1e4, 0.1, RANDOM_DIRECTIONS, true, 0.01, 11};
    random_system s = random_system_create(ctx, &make);
    test_random r = {3};
    drape_solve_settings settings;
    make_groups(&r, &s, &e);
    for (int32_t k = 0; pair_at(k, &settings); k++) {
        settings.max_iterations = 10;
        if (!pair_is_direct(&settings)) same_bits(&s, &e, &settings);
    }
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

/* Other weights and values in every solve. */
static void check_warm(const drape_solve_settings *settings) {
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    static equalities e;
    random_settings make = {40, 20, 0.3, RANDOM_DIRECTIONS, true, 0, 6};
    random_system s = random_system_create(ctx, &make);
    drape_solver *solver;
    drape_coupling springs[6];
    double x[120];
    test_random r = {2};
    ASSERT_OK(ctx, drape_solver_create(ctx, settings, &solver));
    make_groups(&r, &s, &e);
    drape_couplings couplings = {make_springs(&r, 40, springs), springs};
    for (int k = 0; k < 6; k++) {
        drape_problem problem = {.A = &s.A, .b = s.b, .constraints = s.set, .couplings = couplings};
        memory.left = k == 0 || pair_is_direct(settings) ? -1 : 0; /* the next request fails */
        ASSERT_OK(ctx, drape_constraints_set(s.set, s.list, s.held));
        couple(ctx, s.set, &e);
        ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, NULL));
        memory.left = -1;
        PAIR_TRUE(settings, !memory.failed);
        for (int32_t i = 0; i < e.count; i++) e.list[i].value[0] += 0.01 * k;
        e.redundant = 0;
    }
    drape_solver_destroy(solver);
    random_system_destroy(&s);
    drape_context_destroy(ctx);
    PAIR_TRUE(settings, memory.live == 0);
}

static void a_warm_solver_allocates_nothing(void **state) {
    (void)state;
    drape_solve_settings settings;
    for (int32_t k = 0; pair_at(k, &settings); k++) check_warm(&settings);
}

/* Every request for memory fails once; nothing is lost, and the next try is right. */
static void memory_may_run_out(void **state) {
    (void)state;
    counting_allocator memory = {.left = -1};
    drape_context *ctx = counting_context(&memory);
    static equalities e;
    random_settings make = {40, 20, 0.3, RANDOM_DIRECTIONS, true, 0, 6};
    random_system s = random_system_create(ctx, &make);
    drape_coupling springs[6];
    double x[120];
    test_random r = {2};
    make_groups(&r, &s, &e);
    drape_couplings couplings = {make_springs(&r, 40, springs), springs};
    int64_t live = memory.live;
    drape_solve_settings settings = drape_solve_defaults();
    settings.precond = "amg";
    for (int64_t n = 0;; n++) {
        drape_constraints *set = NULL;
        memory.left = n;
        memory.failed = false;
        drape_status status = drape_constraints_create(ctx, 40, &set);
        if (!status) status = drape_constraints_set(set, s.list, s.held);
        if (!status) status = drape_constraints_couple(set, e.list, e.count, 0);
        drape_problem problem = {.A = &s.A, .b = s.b, .constraints = set, .couplings = couplings};
        if (!status) status = drape_solve(ctx, &problem, &settings, x, NULL);
        drape_constraints_destroy(set);
        memory.left = -1;
        assert_int_equal(memory.live, live);
        if (!memory.failed) break;
        assert_true(status == DRAPE_ERROR_MEMORY || status == DRAPE_OK); /* some of it is done without */
    }
    random_system_destroy(&s);
    drape_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
}

/* ---- Iterations ---- */

static int32_t iterations_of(drape_context *ctx, const sheet *s, const char *precond) {
    drape_solve_settings settings = drape_solve_defaults();
    drape_solve_result result;
    double *x = calloc(3 * (size_t)s->A.rows, sizeof *x);
    settings.precond = precond;
    drape_problem problem = {.A = &s->A, .b = s->b, .constraints = s->set, .positions = s->x};
    ASSERT_OK(ctx, drape_solve(ctx, &problem, &settings, x, &result));
    assert_int_equal(result.reason, DRAPE_CONVERGED);
    free(x);
    return result.iterations;
}

/* One vertex in a hundred is stitched to another that is far from it. */
static void stitches_cost_few_iterations(void **state) {
    (void)state;
    static const char *const preconds[] = {"block_diagonal", "amg"};
    drape_context *ctx = test_context(2);
    static equalities e;
    sheet s = sheet_create(ctx, &(sheet_settings){.nx = 80, .ny = 80, .mass = 1e-3, .seed = 1});
    test_random r = {9};
    bool taken[6400] = {false};
    for (e.count = 0; e.count < 32;) {
        int32_t a = test_random_below(&r, 6400), b = test_random_below(&r, 6400);
        if (a == b || taken[a] || taken[b]) continue;
        taken[a] = taken[b] = true;
        e.list[e.count++] = (drape_equality){.count = 2, .vertex = {a, b}, .w = {1, -1}, .directions = 3};
    }
    for (int k = 0; k < 2; k++) {
        ASSERT_OK(ctx, drape_constraints_set(s.set, NULL, 0));
        int32_t without = iterations_of(ctx, &s, preconds[k]);
        couple(ctx, s.set, &e);
        int32_t with = iterations_of(ctx, &s, preconds[k]);
        printf("%s: %d iterations without, %d with stitches\n", preconds[k], without, with);
        assert_true(with <= 1.3 * without);
    }
    sheet_destroy(&s);
    drape_context_destroy(ctx);
}

/* ---- What bad input gets ---- */

static void expect(drape_context *ctx, drape_constraints *set, const drape_equality *list, int32_t count,
                   const char *words) {
    assert_int_equal(drape_constraints_couple(set, list, count, 0), DRAPE_ERROR_ARGUMENT);
    if (!strstr(drape_message(ctx), words)) fail_msg("\"%s\" has no \"%s\"", drape_message(ctx), words);
    assert_int_equal(drape_constraints_coupled(set), 0);
}

static void bad_input_is_named(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_constraints *set;
    drape_equality list[80];
    const drape_equality good = {.count = 2, .vertex = {3, 5}, .w = {1, -1}, .directions = 3};
    ASSERT_OK(ctx, drape_constraints_create(ctx, 100, &set));
    for (int i = 0; i < 80; i++) list[i] = good, list[i].vertex[0] = i, list[i].vertex[1] = i + 1;
    expect(ctx, set, list, 80, "81 vertices, from 0 to 80");
    list[0] = good, list[0].vertex[1] = 100;
    expect(ctx, set, list, 1, "names vertex 100 of 100");
    list[0] = good, list[0].vertex[1] = 3;
    expect(ctx, set, list, 1, "names vertex 3 twice");
    list[0] = good, list[0].w[0] = list[0].w[1] = 0;
    expect(ctx, set, list, 1, "all its weights are 0");
    list[0] = good, list[0].w[1] = NAN;
    expect(ctx, set, list, 1, "weight of vertex 5");
    list[0] = good, list[0].value[2] = INFINITY;
    expect(ctx, set, list, 1, "value is not a finite number");
    list[0] = good, list[0].directions = 1;
    expect(ctx, set, list, 1, "has no length");
    list[0] = good, list[0].count = 5;
    expect(ctx, set, list, 1, "5 vertices");
    list[0] = list[1] = good, list[1].value[0] = 1e-3;
    expect(ctx, set, list, 2, "of vertices 3, 5, contradicts");
    list[1].yields = true;
    ASSERT_OK(ctx, drape_constraints_couple(set, list, 2, 0));
    assert_int_equal(drape_constraints_yielded(set), 1);
    assert_int_equal(drape_constraints_coupled(set), 2);
    {
        drape_constraint pins[2] = {{.vertex = 3, .directions = 3},
                                    {.vertex = 5, .directions = 3, .z = {0, 1e-3, 0}}};
        ASSERT_OK(ctx, drape_constraints_set(set, pins, 2));
        expect(ctx, set, &good, 1, "of vertices 3, 5, contradicts");
    }
    drape_constraints_destroy(set);
    drape_context_destroy(ctx);
}

/* What cannot take them says so. */
static void prefilter_refuses(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    random_settings make = {10, 20, 0, 0, false, 0, 6};
    random_system s = random_system_create(ctx, &make);
    const drape_equality e = {.count = 2, .vertex = {3, 5}, .w = {1, -1}, .directions = 3};
    double val[9 * 100];
    ASSERT_OK(ctx, drape_constraints_couple(s.set, &e, 1, 0));
    assert_int_equal(drape_prefilter(ctx, &(drape_problem){.A = &s.A, .constraints = s.set}, val, NULL),
                     DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "equalities"));
    random_system_destroy(&s);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_as_with_multipliers),
        cmocka_unit_test(operators_take_them),
        cmocka_unit_test(projects),
        cmocka_unit_test(preconditioners_stand_alone),
        cmocka_unit_test(threads_and_levels_change_no_bit),
        cmocka_unit_test(a_warm_solver_allocates_nothing),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(stitches_cost_few_iterations),
        cmocka_unit_test(bad_input_is_named),
        cmocka_unit_test(prefilter_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
