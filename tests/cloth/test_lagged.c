/* Damping and wind whose geometry is taken at other positions than those at which the elastic forces are: forces and
 * Jacobians against differences. */
#include "cloth/crumpled.h"

enum { SEEDS = 3, HALVINGS = 3, STEPS = 7 };

/* A crumpled cloth in wind, and positions near its own. */
typedef struct rig {
    crumpled c;
    double *lagged;
} rig;

static rig rig_create(uint64_t seed, double damping, drape_jacobian jacobian, drape_damping_jacobian full) {
    rig r = {.c = crumpled_create_damped(seed, damping, jacobian, full)};
    test_random random = {seed + 100};
    drape_forces forces = {.gravity = {1, -2, 3}, .wind = {9, 5, 7}, .drag = 3, .air_drag = 2};
    ASSERT_OK(r.c.ctx, drape_assembler_set_forces(r.c.forces, &forces));
    r.lagged = dense_new(r.c.n);
    for (int32_t i = 0; i < r.c.n; i++) r.lagged[i] = r.c.x[i] + test_random_between(&random, -0.02, 0.02);
    return r;
}

static void rig_destroy(rig *r) {
    free(r->lagged);
    crumpled_destroy(&r->c);
}

static void find_force(const rig *r, const double *x, const double *v, const double *lagged, double *force) {
    drape_assembly what = {.x = x, .v = v, .lagged_x = lagged, .force = force};
    ASSERT_OK(r->c.ctx, drape_assembler_run(r->c.forces, &what, NULL));
}

/* n x n: damping D + stiffness K; free it. */
static double *find_matrix(const rig *r, const double *v, const double *lagged, double damping, double stiffness) {
    double *dense = dense_new((int64_t)r->c.n * r->c.n);
    drape_assembly what = {.x = r->c.x, .v = v, .lagged_x = lagged, .damping = damping, .stiffness = stiffness};
    ASSERT_OK(r->c.ctx, drape_assembler_run(r->c.forces, &what, r->c.A));
    drape_bsr3 view = drape_matrix_view(r->c.A);
    dense_from_bsr3(&view, dense);
    return dense;
}

/* ---- differences ---- */

/* The error of differences with a step, relative to `want`. */
typedef double (*error_fn)(const rig *r, const double *want, double step);

/* The order over the first halvings is 2, and the best error of all steps is below `best`. */
static void check_order(const char *what, error_fn error, const rig *r, const double *want, double step,
                        double best) {
    double e[STEPS], least = INFINITY;
    for (int32_t i = 0; i < STEPS; step /= i++ < HALVINGS ? 2 : 4) {
        e[i] = error(r, want, step);
        least = fmin(least, e[i]);
    }
    print_message("%s: errors %.2e %.2e %.2e %.2e, orders", what, e[0], e[1], e[2], e[3]);
    for (int32_t i = 0; i < HALVINGS; i++) print_message(" %.3f", log2(e[i] / e[i + 1]));
    print_message(", best %.1e\n", least);
    for (int32_t i = 0; i < HALVINGS; i++) ASSERT_NEAR(log2(e[i] / e[i + 1]), 2, 0.3);
    ASSERT_NEAR(least, 0, best);
}

/* Of -(d force/d x dx + d force/d v dv) against want, with dx = along_x and dv = along_v times each unit vector. */
static double jacobian_error(const rig *r, const double *want, double along_x, double along_v, double step) {
    int32_t n = r->c.n;
    double *x = dense_new(n), *v = dense_new(n), *plus = dense_new(n), *minus = dense_new(n);
    double *J = dense_new((int64_t)n * n);
    memcpy(x, r->c.x, (size_t)n * sizeof *x), memcpy(v, r->c.v, (size_t)n * sizeof *v);
    for (int32_t j = 0; j < n; j++) {
        x[j] = r->c.x[j] + step * along_x, v[j] = r->c.v[j] + step * along_v;
        find_force(r, x, v, r->lagged, plus);
        x[j] = r->c.x[j] - step * along_x, v[j] = r->c.v[j] - step * along_v;
        find_force(r, x, v, r->lagged, minus);
        x[j] = r->c.x[j], v[j] = r->c.v[j];
        for (int32_t i = 0; i < n; i++) J[i * n + j] = -(plus[i] - minus[i]) / (2 * step);
    }
    double error = dense_difference((int64_t)n * n, J, want);
    free(x), free(v), free(plus), free(minus), free(J);
    return error;
}

static double stiffness_error(const rig *r, const double *want, double step) {
    return jacobian_error(r, want, 1, 0, step);
}

/* ---- tests ---- */

/* K has nothing of damping or wind, and nothing is left out of it. */
static void test_k_is_exact(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        rig r = rig_create(seed, 1, DRAPE_JACOBIAN_FULL, DRAPE_DAMPING_SYMMETRIC);
        double *still = dense_new(r.c.n), *elastic = find_matrix(&r, still, NULL, 0, 1);
        double *K = find_matrix(&r, r.c.v, r.lagged, 0, 1), *unlagged = find_matrix(&r, r.c.v, NULL, 0, 1);
        int64_t n2 = (int64_t)r.c.n * r.c.n;
        check_order("K", stiffness_error, &r, K, 2e-4, 1e-8);
        ASSERT_NEAR(dense_difference(n2, K, elastic), 0, 1e-14);
        assert_true(dense_difference(n2, unlagged, elastic) > 0.1); /* velocities do matter here */
        free(still), free(elastic), free(K), free(unlagged);
        rig_destroy(&r);
    }
}

/* Central differences in v have no error of their own: damping is linear in v, drag quadratic. */
static void test_d_is_exact(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        rig r = rig_create(seed, 1, DRAPE_JACOBIAN_FULL, DRAPE_DAMPING_SYMMETRIC);
        double *D = find_matrix(&r, r.c.v, r.lagged, 1, 0), *there = find_matrix(&r, r.c.v, NULL, 1, 0);
        double error = jacobian_error(&r, D, 0, 1, 1e-3);
        print_message("D off by %.1e\n", error);
        ASSERT_NEAR(error, 0, 1e-10);
        assert_true(dense_difference((int64_t)r.c.n * r.c.n, there, D) > 0.1); /* so do the lagged positions */
        free(D), free(there);
        rig_destroy(&r);
    }
}

static void test_stiff_v_is_k_times_v(void **state) {
    (void)state;
    for (int psd = 0; psd < 2; psd++) {
        rig r = rig_create(4, 1, psd ? DRAPE_JACOBIAN_PSD : DRAPE_JACOBIAN_FULL, DRAPE_DAMPING_FULL);
        double *K = find_matrix(&r, r.c.v, r.lagged, 0, 1), *want = dense_new(r.c.n), *got = dense_new(r.c.n);
        dense_multiply(r.c.n, r.c.n, 1, K, r.c.v, want);
        drape_assembly what = {.x = r.c.x, .v = r.c.v, .lagged_x = r.lagged, .stiff_v = got};
        ASSERT_OK(r.c.ctx, drape_assembler_run(r.c.forces, &what, NULL));
        ASSERT_NEAR(dense_difference(r.c.n, got, want), 0, 1e-13);
        free(K), free(want), free(got);
        rig_destroy(&r);
    }
}

/* The force is the same, and D. So is K without damping. */
static void test_lagged_at_x_is_unlagged(void **state) {
    (void)state;
    for (int psd = 0; psd < 2; psd++) {
        rig r = rig_create(5, 1, psd ? DRAPE_JACOBIAN_PSD : DRAPE_JACOBIAN_FULL, DRAPE_DAMPING_SYMMETRIC);
        int64_t n2 = (int64_t)r.c.n * r.c.n;
        double *there = dense_new(r.c.n), *here = dense_new(r.c.n);
        find_force(&r, r.c.x, r.c.v, r.c.x, there);
        find_force(&r, r.c.x, r.c.v, NULL, here);
        ASSERT_NEAR(dense_difference(r.c.n, there, here), 0, 1e-14);
        double *D[2] = {find_matrix(&r, r.c.v, r.c.x, 1, 0), find_matrix(&r, r.c.v, NULL, 1, 0)};
        ASSERT_NEAR(dense_difference(n2, D[0], D[1]), 0, 1e-14);
        rig_destroy(&r);
        r = rig_create(5, 0, psd ? DRAPE_JACOBIAN_PSD : DRAPE_JACOBIAN_FULL, DRAPE_DAMPING_SYMMETRIC);
        double *K[2] = {find_matrix(&r, r.c.v, r.c.x, 0, 1), find_matrix(&r, r.c.v, NULL, 0, 1)};
        ASSERT_NEAR(dense_difference(n2, K[0], K[1]), 0, 1e-14);
        for (int i = 0; i < 2; i++) free(D[i]), free(K[i]);
        free(there), free(here);
        rig_destroy(&r);
    }
}

/* |A - A'| / |A| */
static double asymmetry(int32_t n, const double *A) {
    double *transposed = dense_new((int64_t)n * n);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) transposed[i * n + j] = A[j * n + i];
    double result = dense_difference((int64_t)n * n, transposed, A);
    free(transposed);
    return result;
}

static void test_full_damping_adds_nothing(void **state) {
    (void)state;
    for (int psd = 0; psd < 2; psd++) {
        drape_jacobian jacobian = psd ? DRAPE_JACOBIAN_PSD : DRAPE_JACOBIAN_FULL;
        rig a = rig_create(6, 1, jacobian, DRAPE_DAMPING_SYMMETRIC),
            b = rig_create(6, 1, jacobian, DRAPE_DAMPING_FULL);
        double *A = find_matrix(&a, a.c.v, a.lagged, 0.1, 0.01), *B = find_matrix(&b, b.c.v, b.lagged, 0.1, 0.01);
        assert_memory_equal(A, B, (size_t)a.c.n * (size_t)a.c.n * sizeof *A);
        ASSERT_NEAR(asymmetry(a.c.n, A), 0, 1e-14);
        free(A), free(B);
        rig_destroy(&a), rig_destroy(&b);
    }
}

/* Everything in one point, everything on one line. */
static void test_collapsed_geometry_is_finite(void **state) {
    (void)state;
    rig r = rig_create(7, 1, DRAPE_JACOBIAN_PSD, DRAPE_DAMPING_SYMMETRIC);
    double *force = dense_new(r.c.n);
    for (int axes = 0; axes < 2; axes++) {
        memset(r.lagged, 0, (size_t)r.c.n * sizeof *r.lagged);
        for (int32_t i = 0; i < r.c.n; i += 3) r.lagged[i] = axes ? r.c.x[i] : 0;
        find_force(&r, r.c.x, r.c.v, r.lagged, force);
        double *A = find_matrix(&r, r.c.v, r.lagged, 1, 1);
        for (int32_t i = 0; i < r.c.n; i++) assert_true(isfinite(force[i]));
        for (int64_t i = 0; i < (int64_t)r.c.n * r.c.n; i++) assert_true(isfinite(A[i]));
        free(A);
    }
    free(force);
    rig_destroy(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_k_is_exact),
        cmocka_unit_test(test_d_is_exact),
        cmocka_unit_test(test_stiff_v_is_k_times_v),
        cmocka_unit_test(test_lagged_at_x_is_unlagged),
        cmocka_unit_test(test_full_damping_adds_nothing),
        cmocka_unit_test(test_collapsed_geometry_is_finite),
    };
    CRUMPLED_RUN("cloth.lagged", tests);
}
