/* The contract that every method keeps with every preconditioner it takes, against dense solves of the reduced
 * system: right answers with right constraints and forces, or a reason. */
#include "support/pairs.h"
#include "support/random_systems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *numbers(int64_t count) {
    double *x = calloc((size_t)count + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static void fill(test_random *r, double *x, int32_t n) {
    for (int32_t i = 0; i < n; i++) x[i] = test_random_between(r, -1, 1);
}

static drape_problem problem_of(const random_system *s, const double *guess) {
    return (drape_problem){.A = &s->A, .b = s->b, .constraints = s->set, .guess = guess};
}

static drape_solve_result solve(drape_context *ctx, const drape_problem *problem,
                                const drape_solve_settings *settings, double *x) {
    drape_solve_result result;
    drape_status status = drape_solve(ctx, problem, settings, x, &result);
    if (status) fail_msg("%s, %s: %s", settings->method, settings->precond, drape_message(ctx));
    PAIR_TRUE(settings, drape_reason_name(result.reason) != NULL);
    return result;
}

/* Nothing is called converged that is not. */
static void check_honest(const drape_solve_settings *settings, const drape_solve_result *result, double enough) {
    if (result->reason == DRAPE_CONVERGED) PAIR_TRUE(settings, result->true_residual <= enough);
}

/* ---- Against the dense solution ---- */

/* (I-S) x = (I-S) z to rounding, vertex by vertex: what of x is in no free direction. */
static void check_constraints(const drape_solve_settings *settings, const random_system *s, const double *x) {
    long double *reduced = calloc((size_t)s->free + 1, sizeof *reduced);
    double *back = numbers(3 * (int64_t)s->rows);
    double size = 1e-300;
    random_reduce(s, x, reduced);
    random_expand(s, reduced, back);
    for (int64_t i = 0; i < 3 * (int64_t)s->rows; i++) size = fmax(size, fabs(x[i]));
    for (int64_t i = 0; i < 3 * (int64_t)s->rows; i++) PAIR_NEAR(settings, x[i], back[i], 1e-14 * size);
    free(back);
    free(reduced);
}

/* What of v is in no free direction of vertex i. */
static void complement(const random_basis *basis, const long double *v, long double out[3]) {
    for (int k = 0; k < 3; k++) {
        out[k] = v[k];
        for (int32_t a = 0; a < basis->count; a++)
            for (int c = 0; c < 3; c++) out[k] -= basis->u[a][k] * basis->u[a][c] * v[c];
    }
}

/* The force is what of A x - b is in no free direction, and on a free vertex exactly nothing. */
static void check_force(const drape_solve_settings *settings, const random_system *s, const double *x,
                        const double *force) {
    long double *defect = calloc(3 * (size_t)s->rows + 1, sizeof *defect), want[3];
    random_defect(s, x, defect);
    for (int32_t i = 0; i < s->rows; i++) {
        complement(&s->basis[i], defect + 3 * i, want);
        for (int k = 0; k < 3; k++) {
            if (s->basis[i].count == 3) PAIR_TRUE(settings, force[3 * i + k] == 0);
            PAIR_NEAR(settings, force[3 * i + k], (double)want[k], 1e-13);
        }
    }
    free(defect);
}

static void check_answer(const drape_solve_settings *settings, const random_system *s, const double *x,
                         const double *want, const drape_solve_result *result) {
    int64_t n = 3 * (int64_t)s->rows;
    double error = distance_of(n, x, want), size = norm_of(n, want);
    PAIR_REASON(settings, result->reason, DRAPE_CONVERGED);
    PAIR_TRUE(settings, result->residual <= settings->tol);
    PAIR_TRUE(settings, pair_is_direct(settings) ? result->residual == -1 : result->residual >= 0);
    if (pair_is_direct(settings)) PAIR_TRUE(settings, result->iterations == 0);
    PAIR_NEAR(settings, error, 0, 1e-10 * size);
    check_constraints(settings, s, x);
    check_force(settings, s, x, result->constraint_force);
    PAIR_NEAR(settings, result->true_residual, random_true_residual(s, x), 1e-13);
}

typedef void (*reference_fn)(const random_system *s, double *x);

static void check_solution(drape_context *ctx, const random_system *s, const drape_solve_settings *settings,
                           reference_fn reference) {
    int64_t n = 3 * (int64_t)s->rows;
    double *x = numbers(n), *want = numbers(n);
    drape_solver *solver;
    drape_solve_result result;
    drape_problem problem = problem_of(s, NULL);
    reference(s, want);
    ASSERT_OK(ctx, drape_solver_create(ctx, settings, &solver));
    ASSERT_OK(ctx, drape_solver_solve(solver, &problem, x, &result));
    check_answer(settings, s, x, want, &result);
    drape_solver_destroy(solver);
    free(x);
    free(want);
}

static void check_pair(drape_context *ctx, const drape_solve_settings *settings) {
    static const int32_t sizes[] = {1, 2, 3, 5, 8, 17, 31, 60};
    drape_solve_settings tight = *settings;
    tight.tol = 1e-13;
    for (int k = 0; k < (int)(sizeof sizes / sizeof *sizes); k++)
        for (int32_t directions = RANDOM_DIRECTIONS; directions <= 3; directions++)
            for (int moving = 0; moving < 2; moving++) {
                random_settings make = {.rows = sizes[k], .condition = 200, .directions = directions};
                make.held = directions == 0 ? 0 : 0.3;
                make.moving = moving;
                make.isolated = k % 3 == 2 ? 0.2 : 0;
                make.seed = (uint64_t)(1000 * k + 10 * directions + moving + 17);
                random_system s = random_system_create(ctx, &make);
                check_solution(ctx, &s, &tight, random_reference);
                random_system_destroy(&s);
            }
}

static void agrees_with_dense(void **state) {
    (void)state;
    for_every_pair(check_pair);
}

/* A harder matrix, a looser tolerance: far from the solution the true residual has many right digits. Steepest
 * descent may not get there. */
static void check_residual(drape_context *ctx, const drape_solve_settings *settings) {
    random_settings make = {
        .rows = 30, .condition = 1e4, .held = 0.4, .directions = RANDOM_DIRECTIONS, .moving = true};
    bool slow = pair_uses(settings, "sd");
    for (make.seed = 1; make.seed <= 5; make.seed++) {
        random_system s = random_system_create(ctx, &make);
        drape_solve_settings loose = *settings;
        double x[90];
        drape_problem problem = problem_of(&s, NULL);
        loose.tol = 1e-3;
        if (slow) loose.max_iterations = 100;
        drape_solve_result result = solve(ctx, &problem, &loose, x);
        double want = random_true_residual(&s, x);
        if (!slow) PAIR_REASON(settings, result.reason, DRAPE_CONVERGED);
        PAIR_NEAR(settings, result.true_residual, want, 1e-12);
        if (strcmp(settings->precond, "none") == 0 && strncmp(settings->method, "mpcg-", 5) != 0 &&
            !pair_is_direct(settings))
            PAIR_NEAR(settings, result.residual, want, 1e-11); /* the same norm, of b^ in both */
        random_system_destroy(&s);
    }
}

static void true_residual_is_true(void **state) {
    (void)state;
    for_every_pair(check_residual);
}

/* A tolerance below rounding: the iteration may go on for nothing, and BiCGStab may break down, but x stays where it
 * is. Rounding that leaves the range of S and is not filtered out again would make it grow without end. */
static void check_below_rounding(drape_context *ctx, const drape_solve_settings *settings) {
    random_settings make = {
        .rows = 30, .condition = 50, .held = 0.5, .directions = RANDOM_DIRECTIONS, .moving = true};
    for (make.seed = 1; make.seed <= 10; make.seed++) {
        random_system s = random_system_create(ctx, &make);
        double x[90], want[90];
        drape_solve_settings tight = *settings;
        drape_problem problem = problem_of(&s, NULL);
        tight.tol = 1e-25;
        tight.max_iterations = 1000;
        drape_solve_result result = solve(ctx, &problem, &tight, x);
        random_reference(&s, want);
        if (pair_is_symmetric(settings))
            PAIR_TRUE(settings, result.reason == DRAPE_CONVERGED || result.reason == DRAPE_ITERATION_LIMIT);
        PAIR_NEAR(settings, distance_of(90, x, want), 0, 1e-13 * norm_of(90, want));
        check_constraints(settings, &s, x);
        random_system_destroy(&s);
    }
}

static void tolerance_below_rounding(void **state) {
    (void)state;
    for_every_pair(check_below_rounding);
}

/* ---- Guesses ---- */

static void check_solution_as_guess(drape_context *ctx, const drape_solve_settings *settings) {
    if (!pair_takes_guess(settings)) return;
    random_settings make = {
        .rows = 25, .condition = 100, .held = 0.4, .directions = RANDOM_DIRECTIONS, .moving = true};
    for (make.seed = 1; make.seed <= 5; make.seed++) {
        random_system s = random_system_create(ctx, &make);
        double want[75], x[75];
        random_reference(&s, want);
        drape_problem problem = problem_of(&s, want);
        drape_solve_settings usual = *settings;
        usual.tol = 1e-10;
        drape_solve_result result = solve(ctx, &problem, &usual, x);
        PAIR_REASON(settings, result.reason, DRAPE_CONVERGED);
        PAIR_TRUE(settings, result.iterations == 0);
        PAIR_NEAR(settings, distance_of(75, x, want), 0, 1e-15 * norm_of(75, want));
        random_system_destroy(&s);
    }
}

static void solution_as_guess_takes_no_iteration(void **state) {
    (void)state;
    for_every_pair(check_solution_as_guess);
}

/* A guess in the array of x, and the same guess elsewhere: the same bits; and a guess changes no solution. */
static void check_alias(drape_context *ctx, const drape_solve_settings *settings) {
    random_settings make = {
        .rows = 20, .condition = 50, .held = 0.3, .directions = RANDOM_DIRECTIONS, .moving = true};
    random_system s = random_system_create(ctx, &make);
    double guess[60], x[60], same[60], want[60];
    test_random r = {8};
    drape_solve_settings tight = *settings;
    tight.tol = 1e-13;
    for (int i = 0; i < 60; i++) same[i] = guess[i] = test_random_between(&r, -10, 10);
    drape_problem apart = problem_of(&s, guess), together = problem_of(&s, same);
    drape_solve_result a = solve(ctx, &apart, &tight, x), b = solve(ctx, &together, &tight, same);
    PAIR_REASON(settings, a.reason, DRAPE_CONVERGED);
    PAIR_TRUE(settings, a.iterations == b.iterations);
    assert_memory_equal(x, same, sizeof x);
    random_reference(&s, want);
    PAIR_NEAR(settings, distance_of(60, x, want), 0, 1e-10 * norm_of(60, want));
    random_system_destroy(&s);
}

static void guess_may_be_x(void **state) {
    (void)state;
    for_every_pair(check_alias);
}

/* ---- Right-hand sides of zero ---- */

static void check_zero_rhs(drape_context *ctx, const drape_solve_settings *settings) {
    test_random r = {1};
    for (int moving = 0; moving < 2; moving++) {
        random_settings make = {12, 50, 0.4, RANDOM_DIRECTIONS, moving, 0, 3};
        random_system s = random_system_create(ctx, &make);
        double x[36], guess[36], want[36];
        drape_solve_settings tight = *settings;
        drape_problem problem = problem_of(&s, guess);
        tight.tol = 1e-13;
        memset(s.b, 0, sizeof x);
        random_reference(&s, want);
        fill(&r, guess, 36);
        drape_solve_result result = solve(ctx, &problem, &tight, x);
        PAIR_REASON(settings, result.reason, DRAPE_CONVERGED);
        PAIR_NEAR(settings, distance_of(36, x, want), 0, 1e-10 * norm_of(36, want));
        if (!moving) PAIR_TRUE(settings, result.iterations == 0);
        random_system_destroy(&s);
    }
}

static void zero_right_hand_side(void **state) {
    (void)state;
    for_every_pair(check_zero_rhs);
}

/* b = A (I-S) z to the bit, so b^ = 0: ends at once with x = (I-S) z, whatever the guess. */
static void check_zero_norm(drape_context *ctx, const drape_solve_settings *settings) {
    random_settings make = {20, 50, 0.3, 3, true, 0, 4};
    random_system s = random_system_create(ctx, &make);
    double x[60], guess[60], fixed[60] = {0};
    test_random r = {1};
    for (int32_t k = 0; k < s.held; k++) memcpy(fixed + 3 * s.list[k].vertex, s.list[k].z, 3 * sizeof *fixed);
    ASSERT_OK(ctx, drape_multiply(ctx, &s.A, fixed, s.b));
    fill(&r, guess, 60);
    drape_problem problem = problem_of(&s, guess);
    drape_solve_result result = solve(ctx, &problem, settings, x);
    PAIR_REASON(settings, result.reason, DRAPE_CONVERGED);
    PAIR_TRUE(settings, result.iterations == 0);
    PAIR_TRUE(settings, result.residual == (pair_is_direct(settings) ? -1 : 0));
    PAIR_TRUE(settings, result.true_residual == 0);
    assert_memory_equal(x, fixed, sizeof x);
    random_system_destroy(&s);
}

/* b = 0 and a z that lies in the free directions alone: the answer is zero, though z is not. */
static void check_ignored_part(drape_context *ctx, const drape_solve_settings *settings) {
    random_settings make = {20, 50, 0.5, 1, false, 0, 4};
    random_system s = random_system_create(ctx, &make);
    double x[60], zero[60] = {0};
    for (int32_t k = 0; k < s.held; k++) s.list[k] = (drape_constraint){s.list[k].vertex, 1, {{1, 0, 0}}, {0, 1, -2}};
    memset(s.b, 0, sizeof x);
    random_system_hold(ctx, &s);
    drape_problem problem = problem_of(&s, NULL);
    drape_solve_result result = solve(ctx, &problem, settings, x);
    PAIR_REASON(settings, result.reason, DRAPE_CONVERGED);
    PAIR_TRUE(settings, result.iterations == 0);
    PAIR_NEAR(settings, distance_of(60, x, zero), 0, 0);
    random_system_destroy(&s);
}

static void zero_norm_ends_at_once(void **state) {
    (void)state;
    for_every_pair(check_zero_norm);
    for_every_pair(check_ignored_part);
}

/* ---- Indefinite matrices ---- */

/* BiCGStab solves these too. */
static void check_negative(drape_context *ctx, const drape_solve_settings *settings) {
    random_settings make = {
        .rows = 15, .condition = 50, .held = 0.3, .directions = RANDOM_DIRECTIONS, .moving = true};
    for (make.seed = 1; make.seed <= 5; make.seed++) {
        random_system s = random_system_create(ctx, &make);
        double x[45];
        drape_problem problem = problem_of(&s, NULL);
        for (int64_t k = 0; k < 9 * s.A.rowptr[s.rows]; k++) s.A.val[k] = -s.A.val[k];
        drape_solve_result result = solve(ctx, &problem, settings, x);
        if (pair_is_symmetric(settings)) PAIR_REASON(settings, result.reason, DRAPE_INDEFINITE);
        if (pair_is_symmetric(settings)) PAIR_TRUE(settings, result.iterations == 0);
        check_honest(settings, &result, 2 * settings->tol);
        for (int i = 0; i < 45; i++) PAIR_TRUE(settings, isfinite(x[i]));
        check_constraints(settings, &s, x);
        random_system_destroy(&s);
    }
}

/* Nothing but zeros. */
static void check_nothing(drape_context *ctx, const drape_solve_settings *settings) {
    random_settings make = {15, 50, 0.3, RANDOM_DIRECTIONS, true, 0, 1};
    random_system s = random_system_create(ctx, &make);
    double x[45];
    drape_problem problem = problem_of(&s, NULL);
    memset(s.A.val, 0, 9 * (size_t)s.A.rowptr[s.rows] * sizeof *s.A.val);
    drape_solve_result result = solve(ctx, &problem, settings, x);
    PAIR_REASON(settings, result.reason, pair_is_symmetric(settings) ? DRAPE_INDEFINITE : DRAPE_BREAKDOWN);
    check_constraints(settings, &s, x);
    random_system_destroy(&s);
}

/* One bad direction in an otherwise good matrix: found, if not at once. */
static void check_one_bad_direction(drape_context *ctx, const drape_solve_settings *settings) {
    random_settings make = {.rows = 15, .condition = 50, .held = 0.2, .directions = 1};
    int32_t found = 0;
    for (make.seed = 1; make.seed <= 20; make.seed++) {
        random_system s = random_system_create(ctx, &make);
        double x[45], g[6];
        test_random r = {make.seed};
        int32_t nodes[2] = {4, 4};
        drape_solve_settings tight = *settings;
        drape_problem problem = problem_of(&s, NULL);
        fill(&r, g, 6);
        random_add_element(&s.A, nodes, 2, g, -test_random_between(&r, 0, 1));
        tight.tol = 1e-9;
        tight.max_iterations = 2000;
        drape_solve_result result = solve(ctx, &problem, &tight, x);
        found += result.reason == DRAPE_INDEFINITE;
        if (pair_is_symmetric(settings) && !pair_uses(settings, "sd")) /* which may go to and fro without end */
            PAIR_TRUE(settings, result.reason == DRAPE_INDEFINITE || result.reason == DRAPE_CONVERGED);
        check_honest(settings, &result, 1e-5);
        random_system_destroy(&s);
    }
    if (pair_is_symmetric(settings)) PAIR_TRUE(settings, found >= 5);
}

static void indefinite_matrices(void **state) {
    (void)state;
    for_every_pair(check_negative);
    for_every_pair(check_nothing);
    for_every_pair(check_one_bad_direction);
}

/* ---- Singular matrices ---- */

enum { CHAIN = 12, CHAIN_UNKNOWNS = 3 * CHAIN };

/* The Laplacian of a ring with random weights, times I: constant vectors are its kernel. */
typedef struct laplacian {
    int64_t rowptr[CHAIN + 1];
    int32_t col[3 * CHAIN];
    double val[27 * CHAIN], b[CHAIN_UNKNOWNS], y[CHAIN_UNKNOWNS];
    drape_bsr3 A;
} laplacian;

static void add_block(laplacian *l, int32_t i, int32_t j, double value) {
    for (int64_t k = l->rowptr[i]; k < l->rowptr[i + 1]; k++)
        for (int d = 0; d < 3 && l->col[k] == j; d++) l->val[9 * k + 4 * d] += value;
}

static int by_number(const void *a, const void *b) { return *(const int32_t *)a - *(const int32_t *)b; }

static void make_laplacian(drape_context *ctx, laplacian *l, uint64_t seed) {
    test_random r = {seed};
    memset(l, 0, sizeof *l);
    l->A = (drape_bsr3){CHAIN, l->rowptr, l->col, l->val};
    for (int32_t i = 0; i < CHAIN; i++) {
        int32_t row[] = {(i + CHAIN - 1) % CHAIN, i, (i + 1) % CHAIN};
        qsort(row, 3, sizeof *row, by_number);
        memcpy(l->col + 3 * i, row, sizeof row);
        l->rowptr[i + 1] = 3 * (i + 1);
    }
    for (int32_t i = 0; i < CHAIN; i++) {
        int32_t j = (i + 1) % CHAIN;
        double weight = 1 + test_random_below(&r, 8); /* whole numbers: the kernel is exact */
        add_block(l, i, i, weight);
        add_block(l, j, j, weight);
        add_block(l, i, j, -weight);
        add_block(l, j, i, -weight);
    }
    for (int i = 0; i < CHAIN_UNKNOWNS; i++) l->y[i] = test_random_below(&r, 100);
    ASSERT_OK(ctx, drape_multiply(ctx, &l->A, l->y, l->b));
}

/* A right-hand side in the range: solved. A factorisation may stumble over the last pivot, and say so. */
static void check_consistent(drape_context *ctx, const drape_solve_settings *settings) {
    for (uint64_t seed = 1; seed <= 10; seed++) {
        laplacian l;
        double x[CHAIN_UNKNOWNS];
        make_laplacian(ctx, &l, seed);
        drape_problem problem = {.A = &l.A, .b = l.b};
        drape_solve_settings usual = *settings;
        usual.tol = 1e-8;
        drape_solve_result result = solve(ctx, &problem, &usual, x);
        if (!pair_is_direct(settings)) PAIR_REASON(settings, result.reason, DRAPE_CONVERGED);
        check_honest(settings, &result, 1e-6);
    }
}

/* One outside the range: no answer, and said so in the end. */
static void check_inconsistent(drape_context *ctx, const drape_solve_settings *settings) {
    for (uint64_t seed = 1; seed <= 10; seed++)
        for (int size = 0; size < 3; size++) {
            laplacian l;
            double x[CHAIN_UNKNOWNS];
            make_laplacian(ctx, &l, seed);
            for (int i = 0; i < CHAIN; i++) l.b[3 * i + 1] += pow(10, size);
            drape_problem problem = {.A = &l.A, .b = l.b};
            drape_solve_settings few = *settings;
            few.max_iterations = 1000;
            drape_solve_result result = solve(ctx, &problem, &few, x);
            PAIR_TRUE(settings, result.reason != DRAPE_CONVERGED);
        }
}

/* One vertex held makes it regular; held along one direction it is singular along the others only. */
static void check_held_laplacian(drape_context *ctx, const drape_solve_settings *settings) {
    laplacian l;
    double x[CHAIN_UNKNOWNS];
    drape_constraints *set;
    drape_constraint whole = {.vertex = 3, .directions = 3}, one = {3, 1, {{0, 1, 0}}, {0, 0, 0}};
    drape_solve_settings tight = *settings;
    make_laplacian(ctx, &l, 5);
    for (int k = 0; k < 3; k++) whole.z[k] = l.y[9 + k];
    one.z[1] = l.y[10];
    ASSERT_OK(ctx, drape_constraints_create(ctx, CHAIN, &set));
    drape_problem problem = {.A = &l.A, .b = l.b, .constraints = set};
    tight.tol = 1e-12;
    ASSERT_OK(ctx, drape_constraints_set(set, &whole, 1));
    drape_solve_result result = solve(ctx, &problem, &tight, x);
    PAIR_REASON(settings, result.reason, DRAPE_CONVERGED);
    PAIR_NEAR(settings, distance_of(CHAIN_UNKNOWNS, x, l.y), 0, 1e-9 * norm_of(CHAIN_UNKNOWNS, l.y));
    ASSERT_OK(ctx, drape_constraints_set(set, &one, 1));
    tight.tol = 1e-8;
    result = solve(ctx, &problem, &tight, x);
    if (!pair_is_direct(settings)) PAIR_REASON(settings, result.reason, DRAPE_CONVERGED);
    check_honest(settings, &result, 1e-6);
    drape_constraints_destroy(set);
}

/* A vertex without any stiffness: nothing pulls at it, or something does. */
static void check_loose_vertex(drape_context *ctx, const drape_solve_settings *settings) {
    for (int pulled = 0; pulled < 2; pulled++) {
        random_settings make = {12, 50, 0, 0, false, 1, 3};
        random_system s = random_system_create(ctx, &make);
        double x[36];
        assert_int_equal(s.A.rowptr[5], 5); /* all are isolated */
        memset(s.A.val + 45, 0, 9 * sizeof *s.A.val);
        for (int k = 15; k < 18; k++) s.b[k] = pulled;
        drape_problem problem = problem_of(&s, NULL);
        drape_solve_settings few = *settings;
        few.max_iterations = 2000;
        drape_solve_result result = solve(ctx, &problem, &few, x);
        if (pulled) PAIR_TRUE(settings, result.reason != DRAPE_CONVERGED);
        else if (!pair_is_direct(settings)) PAIR_REASON(settings, result.reason, DRAPE_CONVERGED);
        check_honest(settings, &result, 1e-3);
        random_system_destroy(&s);
    }
}

static void singular_matrices(void **state) {
    (void)state;
    for_every_pair(check_consistent);
    for_every_pair(check_inconsistent);
    for_every_pair(check_held_laplacian);
    for_every_pair(check_loose_vertex);
}

/* ---- Unsymmetric matrices ---- */

/* The symmetric part stays positive definite, so that there is an answer. BiCGStab gives it; where the other part is
 * the larger one SSOR is no help to it. */
static void check_bicgstab(drape_context *ctx, const drape_solve_settings *settings) {
    static const double strengths[] = {1e-7, 1e-3, 0.03, 0.1};
    if (pair_is_symmetric(settings)) return;
    drape_solve_settings tight = *settings;
    tight.tol = 1e-12;
    for (int k = 0; k < (strcmp(settings->precond, "ssor") == 0 ? 3 : 4); k++)
        for (int32_t directions = RANDOM_DIRECTIONS; directions <= 3; directions++)
            for (int32_t rows = 1; rows < 60; rows += 19) {
                random_settings make = {rows, 20, 0.3, directions, rows % 2, 0, (uint64_t)(4 * rows + k)};
                random_system s = random_system_create(ctx, &make);
                test_random r = {7 + (uint64_t)k};
                random_add_skew(&s.A, &r, strengths[k]);
                check_solution(ctx, &s, &tight, random_reference_unsymmetric);
                random_system_destroy(&s);
            }
}

/* The others say so, or their answer is right all the same. */
static void check_unsymmetric(drape_context *ctx, const drape_solve_settings *settings) {
    static const double strengths[] = {1e-3, 0.05, 1, 30};
    int32_t refused = 0;
    if (!pair_is_symmetric(settings)) return;
    for (int k = 0; k < 4; k++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            random_settings make = {25, 50, 0.3, RANDOM_DIRECTIONS, true, 0, seed};
            random_system s = random_system_create(ctx, &make);
            test_random r = {seed};
            double x[75];
            drape_problem problem = problem_of(&s, NULL);
            drape_solve_settings few = *settings;
            few.max_iterations = 1000;
            random_add_skew(&s.A, &r, strengths[k]);
            drape_solve_result result = solve(ctx, &problem, &few, x);
            PAIR_TRUE(settings, result.reason == DRAPE_CONVERGED || result.reason == DRAPE_UNSYMMETRIC ||
                                    result.reason == DRAPE_NOT_FINITE);
            refused += result.reason == DRAPE_UNSYMMETRIC;
            check_honest(settings, &result, 1e-3);
            PAIR_NEAR(settings, result.true_residual, random_true_residual(&s, x), 1e-9 * result.true_residual);
            random_system_destroy(&s);
        }
    PAIR_TRUE(settings, refused > 0 || pair_is_single(settings)); /* small ones multigrid solves at once */
}

/* A pattern that is not symmetric either: the lower bidiagonal matrix 1, -1/2, whose solution runs down the chain. */
static void check_bidiagonal(drape_context *ctx, const drape_solve_settings *settings) {
    enum { ROWS = 20 };
    int64_t rowptr[ROWS + 1] = {0, 1};
    int32_t col[2 * ROWS] = {0};
    double val[18 * ROWS] = {0}, b[3 * ROWS] = {1, 2, 3}, x[3 * ROWS];
    for (int32_t i = 1; i < ROWS; i++) {
        rowptr[i + 1] = rowptr[i] + 2;
        col[rowptr[i]] = i - 1;
        col[rowptr[i] + 1] = i;
    }
    for (int32_t i = 0; i < ROWS; i++)
        for (int64_t k = rowptr[i]; k < rowptr[i + 1]; k++)
            for (int d = 0; d < 3; d++) val[9 * k + 4 * d] = col[k] == i ? 1 : -0.5;
    drape_bsr3 A = {ROWS, rowptr, col, val};
    drape_problem problem = {.A = &A, .b = b};
    drape_solve_settings tight = *settings;
    tight.tol = 1e-12;
    tight.max_iterations = 1000;
    if (pair_is_symmetric(settings)) { /* it looks like half a matrix, and is no other for these methods */
        PAIR_TRUE(settings, drape_solve(ctx, &problem, &tight, x, NULL) == DRAPE_ERROR_ARGUMENT);
        return;
    }
    drape_solve_result result = solve(ctx, &problem, &tight, x);
    check_honest(settings, &result, 1e-9);
    PAIR_REASON(settings, result.reason, DRAPE_CONVERGED);
    for (int32_t i = 0; i < 3 * ROWS; i++) PAIR_NEAR(settings, x[i], (i % 3 + 1) * ldexp(1, -(i / 3)), 1e-10);
}

static void unsymmetric_matrices(void **state) {
    (void)state;
    for_every_pair(check_bicgstab);
    for_every_pair(check_unsymmetric);
    for_every_pair(check_bidiagonal);
}

/* ---- Numbers that are not finite ---- */

/* A factorisation finds a pivot that is no number not to be positive. */
static void expect_not_finite(drape_context *ctx, const random_system *s, const drape_solve_settings *settings,
                              const double *guess) {
    double x[30];
    drape_problem problem = problem_of(s, guess);
    drape_solve_result result = solve(ctx, &problem, settings, x);
    if (pair_is_direct(settings)) PAIR_TRUE(settings, result.reason != DRAPE_CONVERGED);
    else PAIR_REASON(settings, result.reason, DRAPE_NOT_FINITE);
}

static void check_not_finite(drape_context *ctx, const drape_solve_settings *settings) {
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1e200}; /* 1e200 has no square */
    for (int moving = 0; moving < 2; moving++)
        for (int k = 0; k < 4; k++) {
            random_settings make = {10, 50, 0.3, RANDOM_DIRECTIONS, moving, 0, 9};
            random_system s = random_system_create(ctx, &make);
            int32_t free_vertex = 0;
            while (s.basis[free_vertex].count < 3) free_vertex++;
            int64_t diagonal = s.A.rowptr[free_vertex];
            while (s.A.col[diagonal] != free_vertex) diagonal++;
            double *numbers_in_turn[] = {&s.b[3 * free_vertex], &s.A.val[0], &s.A.val[9 * diagonal + 4]};
            for (int which = 0; which < 3; which++) {
                double before = *numbers_in_turn[which];
                if (which > 0 && isfinite(bad[k])) continue; /* a huge number in A is just a huge number */
                *numbers_in_turn[which] = bad[k];
                expect_not_finite(ctx, &s, settings, NULL);
                *numbers_in_turn[which] = before;
            }
            double guess[30] = {0};
            guess[3 * free_vertex] = bad[k];
            if (pair_takes_guess(settings)) expect_not_finite(ctx, &s, settings, guess);
            random_system_destroy(&s);
        }
}

/* What is wrong with S or z is refused where it is set, and the constraints stay as they were. */
static void check_bad_filter(drape_context *ctx, const drape_solve_settings *settings) {
    random_settings make = {10, 50, 0.3, RANDOM_DIRECTIONS, true, 0, 9};
    random_system s = random_system_create(ctx, &make);
    double S[90], z[30], x[30], same[30];
    drape_problem problem = problem_of(&s, NULL);
    drape_solve_settings tight = *settings;
    tight.tol = 1e-12;
    solve(ctx, &problem, &tight, x);
    drape_constraints_filter(s.set, S, z);
    for (int trial = 0; trial < 4; trial++) {
        double bad_S[90], bad_z[30];
        memcpy(bad_S, S, sizeof S);
        memcpy(bad_z, z, sizeof z);
        if (trial == 0) bad_S[40] = 0.5; /* no projection */
        if (trial == 1) bad_S[37] = 1;   /* not symmetric: an oblique one */
        if (trial == 2) bad_S[36] = NAN;
        if (trial == 3) bad_z[3 * s.list[0].vertex] = INFINITY;
        assert_int_equal(drape_constraints_set_filter(s.set, bad_S, bad_z), DRAPE_ERROR_ARGUMENT);
    }
    solve(ctx, &problem, &tight, same);
    assert_memory_equal(x, same, sizeof x);
    ASSERT_OK(ctx, drape_constraints_set_filter(s.set, S, z));
    drape_solve_result result = solve(ctx, &problem, &tight, same);
    PAIR_REASON(settings, result.reason, DRAPE_CONVERGED);
    PAIR_NEAR(settings, distance_of(30, x, same), 0, 1e-10 * norm_of(30, x));
    random_system_destroy(&s);
}

static void numbers_that_are_wrong(void **state) {
    (void)state;
    for_every_pair(check_not_finite);
    for_every_pair(check_bad_filter);
}

/* ---- Limits ---- */

/* A preconditioner may be so good that five iterations are enough. */
static void check_limit(drape_context *ctx, const drape_solve_settings *settings) {
    random_settings make = {40, 1e4, 0.2, RANDOM_DIRECTIONS, true, 0, 2};
    random_system s = random_system_create(ctx, &make);
    double x[120];
    drape_solve_settings few = *settings;
    drape_problem problem = problem_of(&s, NULL);
    few.tol = 1e-12;
    for (few.max_iterations = 1; few.max_iterations <= 5 && !pair_is_direct(settings); few.max_iterations++) {
        drape_solve_result result = solve(ctx, &problem, &few, x);
        check_constraints(settings, &s, x);
        PAIR_TRUE(settings, result.iterations <= few.max_iterations);
        if (result.reason == DRAPE_CONVERGED && !pair_is_blockwise(settings)) continue;
        PAIR_REASON(settings, result.reason, DRAPE_ITERATION_LIMIT);
        PAIR_TRUE(settings, result.iterations == few.max_iterations);
        PAIR_TRUE(settings, result.residual > few.tol);
    }
    random_system_destroy(&s);
}

static void iteration_limit(void **state) {
    (void)state;
    for_every_pair(check_limit);
}

/* ---- Units ---- */

/* A and b times `force`, b and z times `length`: x is to grow with the second and to know nothing of the first. */
static int32_t solve_in_units(drape_context *ctx, const drape_solve_settings *settings, double force, double length,
                              double *x) {
    random_settings make = {40, 30, 0.3, RANDOM_DIRECTIONS, true, 0, 6};
    random_system s = random_system_create(ctx, &make);
    double guess[120];
    test_random r = {2};
    drape_problem problem = problem_of(&s, guess);
    fill(&r, guess, 120);
    for (int64_t k = 0; k < 9 * s.A.rowptr[s.rows]; k++) s.A.val[k] *= force;
    for (int32_t i = 0; i < 120; i++) s.b[i] *= force * length, guess[i] *= length;
    for (int32_t k = 0; k < s.held; k++)
        for (int c = 0; c < 3; c++) s.list[k].z[c] *= length;
    random_system_hold(ctx, &s);
    drape_solve_result result = solve(ctx, &problem, settings, x);
    PAIR_REASON(settings, result.reason, DRAPE_CONVERGED);
    for (int32_t i = 0; i < 120; i++) x[i] /= length;
    random_system_destroy(&s);
    return result.iterations;
}

/* The largest exponent for which every square and product is finite. p'Ap grows with the third power of the unit if
 * there is no preconditioner, and the square of BiCGStab's A A r with about the sixth. */
static int largest_exponent(const drape_solve_settings *settings) {
    if (strcmp(settings->precond, "none") != 0 && pair_is_blockwise(settings)) return 400;
    return pair_is_symmetric(settings) ? 300 : 200;
}

/* Powers of two change no bit (even ones, for the sake of square roots); other numbers no more than rounding does. */
static void check_units(drape_context *ctx, const drape_solve_settings *settings) {
    double x[120], same[120];
    if (pair_uses(settings, "mpcg-printed")) return; /* test_mpcg.c */
    int32_t want = solve_in_units(ctx, settings, 1, 1, x), most = largest_exponent(settings);
    for (int exponent = -most; exponent <= most; exponent += 100) {
        PAIR_TRUE(settings, solve_in_units(ctx, settings, ldexp(1, exponent), 1, same) == want);
        assert_memory_equal(x, same, sizeof x);
        PAIR_TRUE(settings,
                  solve_in_units(ctx, settings, ldexp(1, exponent / 2), ldexp(1, -exponent / 2), same) == want);
        assert_memory_equal(x, same, sizeof x);
    }
    for (int k = 0; k < 2; k++) {
        int32_t got = solve_in_units(ctx, settings, k ? 1e3 : 1e-3, k ? 7e-5 : 300, same);
        PAIR_TRUE(settings, abs(got - want) <= (pair_is_symmetric(settings) ? 0 : 2 + want / 10));
    }
}

static void units_do_not_matter(void **state) {
    (void)state;
    for_every_pair(check_units);
}

/* ---- Odd shapes ---- */

static void check_all_held(drape_context *ctx, const drape_solve_settings *settings) {
    random_settings make = {10, 50, 1, 3, true, 0, 2};
    random_system s = random_system_create(ctx, &make);
    double x[30];
    drape_problem problem = problem_of(&s, NULL);
    drape_solve_result result = solve(ctx, &problem, settings, x);
    assert_int_equal(s.held, 10);
    PAIR_REASON(settings, result.reason, DRAPE_CONVERGED);
    PAIR_TRUE(settings, result.iterations == 0);
    for (int32_t k = 0; k < s.held; k++)
        for (int c = 0; c < 3; c++) PAIR_TRUE(settings, x[3 * s.list[k].vertex + c] == s.list[k].z[c]);
    random_system_destroy(&s);
}

static void check_no_vertices(drape_context *ctx, const drape_solve_settings *settings) {
    double nothing[1] = {7};
    int64_t rowptr[1] = {0};
    drape_bsr3 A = {.rows = 0, .rowptr = rowptr, .val = nothing};
    drape_constraints *set;
    ASSERT_OK(ctx, drape_constraints_create(ctx, 0, &set));
    ASSERT_OK(ctx, drape_constraints_set(set, NULL, 0));
    drape_problem problem = {.A = &A, .b = nothing, .constraints = set, .guess = nothing};
    drape_solve_result result = solve(ctx, &problem, settings, nothing);
    PAIR_REASON(settings, result.reason, DRAPE_CONVERGED);
    PAIR_TRUE(settings, result.iterations == 0);
    PAIR_TRUE(settings, nothing[0] == 7);
    drape_constraints_destroy(set);
}

/* Vertices without neighbours: A is block diagonal, and its own preconditioner. */
static void check_isolated(drape_context *ctx, const drape_solve_settings *settings) {
    random_settings make = {10, 50, 0.5, RANDOM_DIRECTIONS, true, 1, 2};
    random_system s = random_system_create(ctx, &make);
    assert_int_equal(s.A.rowptr[10], 10);
    drape_solve_settings tight = *settings;
    tight.tol = 1e-13;
    check_solution(ctx, &s, &tight, random_reference);
    random_system_destroy(&s);
}

/* Rows without a diagonal block are no cloth's, and no reason to crash. */
static void check_no_diagonal(drape_context *ctx, const drape_solve_settings *settings) {
    int64_t rowptr[] = {0, 1, 2};
    int32_t col[] = {1, 0};
    double val[18] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}, b[6] = {1, 2, 3, -1, -2, -3}, x[6];
    drape_bsr3 A = {2, rowptr, col, val};
    drape_problem problem = {.A = &A, .b = b};
    drape_solve_result result = solve(ctx, &problem, settings, x);
    if (pair_is_blockwise(settings) && pair_is_symmetric(settings)) /* P is one: b'Ab = -28 */
        PAIR_REASON(settings, result.reason, DRAPE_INDEFINITE);
    check_honest(settings, &result, 1e-4);
}

static void odd_shapes(void **state) {
    (void)state;
    for_every_pair(check_all_held);
    for_every_pair(check_no_vertices);
    for_every_pair(check_isolated);
    for_every_pair(check_no_diagonal);
}

/* ---- Who goes with whom ---- */

static void claims_are_kept(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    int32_t pairs = 0, taken = 0;
    for (int32_t m = 0; drape_method_name(m); m++)
        for (int32_t p = 0; drape_precond_name(p); p++) {
            drape_solve_settings s = drape_solve_defaults();
            drape_solver *solver;
            s.method = drape_method_name(m), s.precond = drape_precond_name(p), s.direct = &dense_direct;
            int takes = drape_method_takes(s.method, s.precond);
            drape_status status = drape_solver_create(ctx, &s, &solver);
            PAIR_TRUE(&s, status == (takes ? DRAPE_OK : DRAPE_ERROR_ARGUMENT));
            if (!takes) PAIR_TRUE(&s, strstr(drape_message(ctx), s.method) && strstr(drape_message(ctx), s.precond));
            drape_solver_destroy(solver);
            taken += takes;
        }
    for (drape_solve_settings s; pair_at(pairs, &s);) pairs++;
    assert_int_equal(pairs, taken);
    assert_false(drape_method_takes("gauss", "none") || drape_method_takes("cg", NULL) ||
                 drape_method_takes(NULL, "x"));
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_dense),        cmocka_unit_test(true_residual_is_true),
        cmocka_unit_test(tolerance_below_rounding), cmocka_unit_test(solution_as_guess_takes_no_iteration),
        cmocka_unit_test(guess_may_be_x),           cmocka_unit_test(zero_right_hand_side),
        cmocka_unit_test(zero_norm_ends_at_once),   cmocka_unit_test(indefinite_matrices),
        cmocka_unit_test(singular_matrices),        cmocka_unit_test(unsymmetric_matrices),
        cmocka_unit_test(numbers_that_are_wrong),   cmocka_unit_test(iteration_limit),
        cmocka_unit_test(units_do_not_matter),      cmocka_unit_test(odd_shapes),
        cmocka_unit_test(claims_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
