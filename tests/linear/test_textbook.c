/* What textbooks say of steepest descent and conjugate gradients, on the example of Shewchuk (1994) and Chen (2009,
 * eq. 25) and on random matrices. Iterate k is where a solve of at most k iterations ends. */
#include "support/dense.h"
#include "support/random_systems.h"

#include <math.h>
#include <string.h>

/* [3 2; 2 6] and (2, -8) in the first two of three unknowns. The solution is (2, -2, 0). */
typedef struct example {
    int64_t rowptr[2];
    int32_t col[1];
    double val[9], b[3];
    drape_bsr3 A;
} example;

static void make_example(example *e) {
    *e = (example){.rowptr = {0, 1}, .col = {0}, .val = {3, 2, 0, 2, 6, 0, 0, 0, 1}, .b = {2, -8, 0}};
    e->A = (drape_bsr3){1, e->rowptr, e->col, e->val};
}

static drape_solve_result iterate(drape_context *ctx, const drape_problem *problem, const char *method,
                                  const char *precond, int32_t iterations, double *x) {
    drape_solve_settings settings = {.method = method, .precond = precond, .tol = 1e-14};
    drape_solve_result result;
    settings.max_iterations = iterations;
    ASSERT_OK(ctx, drape_solve(ctx, problem, &settings, x, &result));
    return result;
}

static double dot(int32_t n, const double *a, const double *b) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void residual(const drape_bsr3 *A, const double *b, const double *x, double *r) {
    for (int32_t i = 0; i < 3 * A->rows; i++) r[i] = b[i];
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            for (int e = 0; e < 9; e++) r[3 * i + e / 3] -= A->val[9 * k + e] * x[3 * A->col[k] + e % 3];
}

/* sqrt((x - y)'A (x - y)) */
static double energy_distance(const drape_bsr3 *A, const double *x, const double *y) {
    double e[90] = {0}, Ae[90];
    const double zero[90] = {0};
    for (int32_t i = 0; i < 3 * A->rows; i++) e[i] = x[i] - y[i];
    residual(A, zero, e, Ae);
    return sqrt(-dot(3 * A->rows, e, Ae));
}

/* ---- The example in the plane ---- */

static void cg_ends_in_two_steps(void **state) {
    (void)state;
    static const double starts[][3] = {{0, 0, 0}, {-2, -2, 0}, {10, -7, 0}}, solution[] = {2, -2, 0};
    drape_context *ctx = test_context(1);
    example e;
    double x[3];
    make_example(&e);
    for (int k = 0; k < 3; k++) {
        drape_problem problem = {.A = &e.A, .b = e.b, .guess = starts[k]};
        drape_solve_result result = iterate(ctx, &problem, "cg", NULL, 100, x);
        assert_int_equal(result.reason, DRAPE_CONVERGED);
        assert_int_equal(result.iterations, 2);
        ASSERT_NEAR(distance_of(3, x, solution), 0, 1e-14);
        assert_true(iterate(ctx, &problem, "sd", NULL, 100, x).iterations > 10);
    }
    drape_context_destroy(ctx);
}

/* Chen's eq. 36 with d1 = r1 + beta1 d0, by hand. */
static void cg_by_hand(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    example e;
    double x[3];
    make_example(&e);
    drape_problem problem = {.A = &e.A, .b = e.b};
    double r0[] = {2, -8}, r0r0 = 68, alpha = r0r0 / (3 * 4 + 2 * 2 * 2 * -8 + 6 * 64);
    iterate(ctx, &problem, "cg", NULL, 1, x);
    for (int k = 0; k < 2; k++) ASSERT_NEAR(x[k], alpha * r0[k], 1e-15);
    assert_true(x[2] == 0);
    drape_context_destroy(ctx);
}

static void sd_zigzags(void **state) {
    (void)state;
    enum { STEPS = 25 };
    const double start[3] = {-2, -2, 0}, solution[3] = {2, -2, 0};
    const double kappa = 7.0 / 2; /* eigenvalues 7 and 2 */
    drape_context *ctx = test_context(1);
    example e;
    double want[3], r[3], before[3], x[3];
    make_example(&e);
    memcpy(want, start, sizeof want);
    drape_problem problem = {.A = &e.A, .b = e.b, .guess = start};
    double error = energy_distance(&e.A, start, solution);
    residual(&e.A, e.b, start, r);
    for (int k = 1; k <= STEPS; k++) {
        double Ar[3], minus[3] = {-r[0], -r[1], -r[2]}, zero[3] = {0};
        residual(&e.A, zero, minus, Ar); /* A r */
        double alpha = dot(3, r, r) / dot(3, r, Ar);
        for (int i = 0; i < 3; i++) want[i] += alpha * r[i], before[i] = r[i];
        iterate(ctx, &problem, "sd", NULL, k, x);
        ASSERT_NEAR(distance_of(3, x, want), 0, 1e-13);
        residual(&e.A, e.b, x, r);
        ASSERT_NEAR(dot(3, r, before), 0, 1e-13);
        double now = energy_distance(&e.A, x, solution);
        assert_true(now <= (kappa - 1) / (kappa + 1) * error + 1e-14);
        error = now;
    }
    drape_context_destroy(ctx);
}

/* Eq. 24 is reached where the start is the worst there is: components of the error in inverse proportion to the
 * eigenvalues. */
static void sd_bound_is_sharp(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    example e;
    make_example(&e);
    const double solution[3] = {2, -2, 0}, kappa = 3.5;
    /* eigenvectors (1, 2) of 7 and (2, -1) of 2 */
    const double start[3] = {2 + 1.0 / 7 + 2.0 / 2, -2 + 2.0 / 7 - 1.0 / 2, 0};
    drape_problem problem = {.A = &e.A, .b = e.b, .guess = start};
    double x[3], error = energy_distance(&e.A, start, solution);
    for (int k = 1; k <= 10; k++) {
        iterate(ctx, &problem, "sd", NULL, k, x);
        error *= (kappa - 1) / (kappa + 1);
        ASSERT_NEAR(energy_distance(&e.A, x, solution), error, 1e-12 * error + 1e-14);
    }
    drape_context_destroy(ctx);
}

/* With P = A one step is enough. */
static void exact_preconditioner(void **state) {
    (void)state;
    static const char *const methods[] = {"pcg", "ppcg", "mpcg", "filtered-cg", "bicgstab"};
    const double start[3] = {-2, -2, 5}, solution[3] = {2, -2, 0};
    drape_context *ctx = test_context(1);
    example e;
    make_example(&e);
    drape_problem problem = {.A = &e.A, .b = e.b, .guess = start};
    for (int k = 0; k < 5; k++) {
        double x[3];
        drape_solve_result result = iterate(ctx, &problem, methods[k], "block_diagonal", 100, x);
        assert_int_equal(result.reason, DRAPE_CONVERGED);
        assert_int_equal(result.iterations, 1);
        ASSERT_NEAR(distance_of(3, x, solution), 0, 1e-14);
    }
    drape_context_destroy(ctx);
}

/* ---- Random matrices ---- */

enum { ROWS = 20, UNKNOWNS = 3 * ROWS, STEPS = 15 };

/* The iterates of a method from zero, and the solution. */
typedef struct path {
    random_system s;
    double x[STEPS + 1][UNKNOWNS], solution[UNKNOWNS];
} path;

static void walk(drape_context *ctx, path *p, const char *method, uint64_t seed) {
    random_settings make = {ROWS, 100, 0, 0, false, 0, seed};
    p->s = random_system_create(ctx, &make);
    drape_problem problem = {.A = &p->s.A, .b = p->s.b};
    random_reference(&p->s, p->solution);
    memset(p->x[0], 0, sizeof p->x[0]);
    for (int k = 1; k <= STEPS; k++) iterate(ctx, &problem, method, NULL, k, p->x[k]);
}

/* The steps between iterates are A-orthogonal to each other, the residuals orthogonal (eqs. 26, 34), until rounding
 * has grown with the first eigenvalue found. */
static void directions_are_conjugate(void **state) {
    (void)state;
    enum { FEW = 10 };
    drape_context *ctx = test_context(1);
    const double zero[UNKNOWNS] = {0};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        path p;
        double d[FEW][UNKNOWNS], Ad[FEW][UNKNOWNS], r[FEW][UNKNOWNS];
        walk(ctx, &p, "cg", seed);
        for (int k = 0; k < FEW; k++) {
            for (int i = 0; i < UNKNOWNS; i++) d[k][i] = p.x[k][i] - p.x[k + 1][i];
            residual(&p.s.A, zero, d[k], Ad[k]);
            residual(&p.s.A, p.s.b, p.x[k], r[k]);
        }
        for (int i = 0; i < FEW; i++)
            for (int j = 0; j < i; j++) {
                double size = sqrt(dot(UNKNOWNS, d[i], Ad[i]) * dot(UNKNOWNS, d[j], Ad[j]));
                ASSERT_NEAR(dot(UNKNOWNS, d[i], Ad[j]) / size, 0, 1e-8);
                size = norm_of(UNKNOWNS, r[i]) * norm_of(UNKNOWNS, r[j]);
                ASSERT_NEAR(dot(UNKNOWNS, r[i], r[j]) / size, 0, 1e-8);
            }
        random_system_destroy(&p.s);
    }
    drape_context_destroy(ctx);
}

static double condition_of(const drape_bsr3 *A) {
    static double dense[UNKNOWNS * UNKNOWNS], values[UNKNOWNS];
    dense_from_bsr3(A, dense);
    dense_eigen(UNKNOWNS, dense, values, NULL);
    return values[UNKNOWNS - 1] / values[0];
}

/* The energy norm falls in every step, within the bounds of eqs. 24 and 37, and CG's is the lower one; |x - x*| falls
 * too with CG (Hestenes and Stiefel 1952, theorem 6:3). */
static void energy_falls(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        path cg, sd;
        walk(ctx, &cg, "cg", seed);
        walk(ctx, &sd, "sd", seed);
        double kappa = condition_of(&cg.s.A), root = sqrt(kappa), length = norm_of(UNKNOWNS, cg.solution);
        double start = energy_distance(&cg.s.A, cg.x[0], cg.solution), cg_error = start, sd_error = start;
        for (int k = 1; k <= STEPS; k++) {
            double now = energy_distance(&cg.s.A, cg.x[k], cg.solution);
            double other = energy_distance(&sd.s.A, sd.x[k], sd.solution);
            double away = distance_of(UNKNOWNS, cg.x[k], cg.solution);
            assert_true(now < cg_error && away < length);
            assert_true(now <= 2 * pow((root - 1) / (root + 1), k) * start);
            assert_true(other <= (kappa - 1) / (kappa + 1) * sd_error);
            assert_true(now <= other * (1 + 1e-12));
            cg_error = now, sd_error = other, length = away;
        }
        random_system_destroy(&cg.s);
        random_system_destroy(&sd.s);
    }
    drape_context_destroy(ctx);
}

/* x_k is the best point of the whole Krylov space: no step along any residual so far makes it better. */
static void best_in_krylov_space(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    path p;
    walk(ctx, &p, "cg", 7);
    for (int k = 1; k <= STEPS; k++) {
        double error = energy_distance(&p.s.A, p.x[k], p.solution);
        for (int j = 0; j < k; j++) {
            double r[UNKNOWNS], moved[UNKNOWNS];
            residual(&p.s.A, p.s.b, p.x[j], r);
            for (int sign = -1; sign <= 1; sign += 2) {
                double step = sign * 1e-3 * norm_of(UNKNOWNS, p.solution) / norm_of(UNKNOWNS, r);
                for (int i = 0; i < UNKNOWNS; i++) moved[i] = p.x[k][i] + step * r[i];
                assert_true(energy_distance(&p.s.A, moved, p.solution) > error);
            }
        }
    }
    random_system_destroy(&p.s);
    drape_context_destroy(ctx);
}

/* As many iterations as there are different eigenvalues: three here. */
static void few_eigenvalues(void **state) {
    (void)state;
    enum { VERTICES = 12 };
    drape_context *ctx = test_context(1);
    int64_t rowptr[VERTICES + 1] = {0};
    int32_t col[VERTICES];
    double val[9 * VERTICES] = {0}, b[3 * VERTICES], x[3 * VERTICES];
    test_random r = {4};
    for (int i = 0; i < VERTICES; i++) {
        rowptr[i + 1] = i + 1;
        col[i] = i;
        for (int k = 0; k < 3; k++) val[9 * i + 4 * k] = pow(10, (i + k) % 3), b[3 * i + k] = test_random_unit(&r);
    }
    drape_bsr3 A = {VERTICES, rowptr, col, val};
    drape_problem problem = {.A = &A, .b = b};
    drape_solve_result result = iterate(ctx, &problem, "cg", NULL, 3, x);
    assert_true(result.true_residual < 1e-12);
    assert_int_equal(result.iterations, 3);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cg_ends_in_two_steps), cmocka_unit_test(cg_by_hand),
        cmocka_unit_test(sd_zigzags),           cmocka_unit_test(sd_bound_is_sharp),
        cmocka_unit_test(exact_preconditioner), cmocka_unit_test(directions_are_conjugate),
        cmocka_unit_test(energy_falls),         cmocka_unit_test(best_in_krylov_space),
        cmocka_unit_test(few_eigenvalues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
