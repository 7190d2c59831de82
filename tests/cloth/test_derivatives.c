/* Forces and Jacobians against central differences, whose error must fall with the square of the step. Extrapolated
 * from two steps, with an error of fourth order, they must agree to 1e-9. Of three states, one under sanitizers. */
#include "cloth/crumpled.h"

enum { SEEDS = TEST_CASES(3), HALVINGS = 3, EXTRAPOLATIONS = 4 };
static const double BEST = 1e-9;

/* ---- errors of differences as functions of the step, relative ---- */

typedef struct problem {
    const crumpled *c;
    double *want;               /* what the differences should give */
    double *got, *plus, *minus; /* n x n numbers each */
    double *state;              /* n: x, displaced */
} problem;

static problem problem_create(const crumpled *c) {
    int64_t n2 = (int64_t)c->n * c->n;
    problem p = {c, dense_new(n2), dense_new(n2), dense_new(n2), dense_new(n2), dense_new(c->n)};
    memcpy(p.state, c->x, (size_t)c->n * sizeof *p.state);
    return p;
}

static void problem_destroy(problem *p) {
    free(p->want), free(p->got), free(p->plus), free(p->minus), free(p->state);
}

/* want = f; got = -dE/dx */
static double force_error(const problem *p, double step) {
    int32_t n = p->c->n;
    for (int32_t i = 0; i < n; i++) {
        p->state[i] = p->c->x[i] + step;
        double high = drape_cloth_energy(p->c->cloth, p->state);
        p->state[i] = p->c->x[i] - step;
        double low = drape_cloth_energy(p->c->cloth, p->state);
        p->state[i] = p->c->x[i];
        p->got[i] = -(high - low) / (2 * step);
    }
    return dense_difference(n, p->got, p->want);
}

/* to = scale df/dx at velocity v, n x n */
static void difference_force(const problem *p, const double *v, double scale, double step, double *to) {
    int32_t n = p->c->n;
    for (int32_t j = 0; j < n; j++) {
        p->state[j] = p->c->x[j] + step;
        crumpled_force(p->c, p->state, v, p->plus);
        p->state[j] = p->c->x[j] - step;
        crumpled_force(p->c, p->state, v, p->minus);
        p->state[j] = p->c->x[j];
        for (int32_t i = 0; i < n; i++) to[i * n + j] = scale * (p->plus[i] - p->minus[i]) / (2 * step);
    }
}

/* want = K; got = -df/dx without velocity */
static double jacobian_error(const problem *p, double step) {
    double *rest = dense_new(p->c->n);
    difference_force(p, rest, -1, step, p->got);
    free(rest);
    return dense_difference((int64_t)p->c->n * p->c->n, p->got, p->want);
}

/* want = K with damping and velocity, nothing left out; got = -df/dx */
static double exact_jacobian_error(const problem *p, double step) {
    difference_force(p, p->c->v, -1, step, p->got);
    return dense_difference((int64_t)p->c->n * p->c->n, p->got, p->want);
}

/* got -= half the derivative of D along v */
static void subtract_half_of_d_along_v(const problem *p, double step) {
    int32_t n = p->c->n;
    for (int32_t i = 0; i < n; i++) p->state[i] = p->c->x[i] + step * p->c->v[i];
    crumpled_matrix(p->c, p->state, p->c->v, 0, 1, 0, p->plus);
    for (int32_t i = 0; i < n; i++) p->state[i] = p->c->x[i] - step * p->c->v[i];
    crumpled_matrix(p->c, p->state, p->c->v, 0, 1, 0, p->minus);
    memcpy(p->state, p->c->x, (size_t)n * sizeof *p->state);
    for (int32_t i = 0; i < n * n; i++) p->got[i] -= 0.5 * (p->plus[i] - p->minus[i]) / (2 * step);
}

/* want = K with damping and velocity.
 *
 * With g = dC/dx and H = d2C/dx2 of the conditions and D = sum c g g', the damping force is -D v, so that
 *     -df/dx = K0 + G,   G = d(D v)/dx = sum c (g.v) H + c g (H v)',
 * and the documented part to leave out is R = sum c g (H v)'. In w, z: R(z, w) = sum c (g.z) (v'H w) is a Christoffel
 * symbol of D: with S_w(y, z) the derivative of y'D z along w,
 *     2 R(z, w) = S_w(v, z) + S_v(w, z) - S_z(v, w),   R = (G - G' + dD/dv)/2.
 * Hence got = -df/dx - R = -df/dx - (G - G')/2 - (dD along v)/2. Since K0 is symmetric, -df/dx has G's antisymmetric
 * part, so the first two are the symmetric part of -df/dx. */
static double damped_jacobian_error(const problem *p, double step) {
    int32_t n = p->c->n;
    double *J = dense_new((int64_t)n * n);
    difference_force(p, p->c->v, -1, step, J);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) p->got[i * n + j] = 0.5 * (J[i * n + j] + J[j * n + i]);
    free(J);
    subtract_half_of_d_along_v(p, step);
    return dense_difference((int64_t)n * n, p->got, p->want);
}

/* That of (4 d(step/2) - d(step))/3, without the error of second order. It is in `got` then. */
static double extrapolated_error(double (*error)(const problem *, double), const problem *p, int64_t n, double step) {
    double *coarse = dense_new(n);
    error(p, step);
    memcpy(coarse, p->got, (size_t)n * sizeof *coarse);
    error(p, step / 2);
    for (int64_t i = 0; i < n; i++) p->got[i] = (4 * p->got[i] - coarse[i]) / 3;
    free(coarse);
    return dense_difference(n, p->got, p->want);
}

/* The order over the first halvings is 2, and the best error of all extrapolations is below BEST. n: numbers. */
static void check_order(const char *what, double (*error)(const problem *, double), const problem *p, int64_t n,
                        double step) {
    double e[HALVINGS + 1], least = INFINITY;
    for (int32_t i = 0; i <= HALVINGS; i++) e[i] = error(p, ldexp(step, -i));
    for (int32_t i = 0; i < EXTRAPOLATIONS && least > BEST; i++)
        least = fmin(least, extrapolated_error(error, p, n, ldexp(step, -2 * i)));
    print_message("%s: errors %.2e %.2e %.2e %.2e, orders", what, e[0], e[1], e[2], e[3]);
    for (int32_t i = 0; i < HALVINGS; i++) print_message(" %.3f", log2(e[i] / e[i + 1]));
    print_message(", extrapolated %.1e\n", least);
    for (int32_t i = 0; i < HALVINGS; i++) ASSERT_NEAR(log2(e[i] / e[i + 1]), 2, 0.3);
    ASSERT_NEAR(least, 0, BEST);
}

/* ---- tests ---- */

static void test_force_is_minus_the_gradient_of_energy(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        crumpled c = crumpled_create(seed, 1, DRAPE_JACOBIAN_FULL);
        problem p = problem_create(&c);
        double *still = dense_new(c.n);
        crumpled_force(&c, c.x, still, p.want);
        check_order("force", force_error, &p, c.n, 4e-4);
        free(still);
        problem_destroy(&p);
        crumpled_destroy(&c);
    }
}

static void test_full_jacobian_is_that_of_the_force(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        crumpled c = crumpled_create(seed, 1, DRAPE_JACOBIAN_FULL);
        problem p = problem_create(&c);
        double *still = dense_new(c.n);
        crumpled_matrix(&c, c.x, still, 0, 0, 1, p.want);
        check_order("jacobian", jacobian_error, &p, (int64_t)c.n * c.n, 4e-4);
        free(still);
        problem_destroy(&p);
        crumpled_destroy(&c);
    }
}

static void test_full_jacobian_with_damping_leaves_out_what_it_says(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        crumpled c = crumpled_create(seed, 1, DRAPE_JACOBIAN_FULL);
        problem p = problem_create(&c);
        double *still = dense_new(c.n), *elastic = dense_new((int64_t)c.n * c.n);
        crumpled_matrix(&c, c.x, still, 0, 0, 1, elastic);
        crumpled_matrix(&c, c.x, c.v, 0, 0, 1, p.want);
        assert_true(dense_difference((int64_t)c.n * c.n, p.want, elastic) > 0.1); /* damping does matter here */
        check_order("damped jacobian", damped_jacobian_error, &p, (int64_t)c.n * c.n, 2e-4);
        free(still), free(elastic);
        problem_destroy(&p);
        crumpled_destroy(&c);
    }
}

static void test_full_jacobian_with_full_damping_is_exact(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        crumpled c = crumpled_create_damped(seed, 1, DRAPE_JACOBIAN_FULL, DRAPE_DAMPING_FULL);
        problem p = problem_create(&c);
        crumpled_matrix(&c, c.x, c.v, 0, 0, 1, p.want);
        check_order("exact jacobian", exact_jacobian_error, &p, (int64_t)c.n * c.n, 2e-4);
        problem_destroy(&p);
        crumpled_destroy(&c);
    }
}

/* ---- the part of the damping that is not symmetric ---- */

/* n x n: K at the wild state. */
static double *stiffness_matrix(uint64_t seed, drape_jacobian jacobian, drape_damping_jacobian damping, int32_t *n) {
    crumpled c = crumpled_create_damped(seed, 1, jacobian, damping);
    double *K = dense_new((int64_t)c.n * c.n);
    ASSERT_OK(c.ctx,
              drape_assembler_set_forces(c.forces, &(drape_forces){.wind = {9, 5, 7}, .drag = 3, .air_drag = 2}));
    crumpled_matrix(&c, c.x, c.v, 0, 0, 1, K);
    *n = c.n;
    crumpled_destroy(&c);
    return K;
}

/* |K - K'| / |K| */
static double asymmetry(int32_t n, const double *K) {
    double *transposed = dense_new((int64_t)n * n);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) transposed[i * n + j] = K[j * n + i];
    double result = dense_difference((int64_t)n * n, transposed, K);
    free(transposed);
    return result;
}

static void test_only_full_damping_is_unsymmetric(void **state) {
    (void)state;
    for (int psd = 0; psd < 2; psd++) {
        int32_t n;
        drape_jacobian jacobian = psd ? DRAPE_JACOBIAN_PSD : DRAPE_JACOBIAN_FULL;
        double *with = stiffness_matrix(1, jacobian, DRAPE_DAMPING_FULL, &n);
        double *without = stiffness_matrix(1, jacobian, DRAPE_DAMPING_SYMMETRIC, &n);
        print_message("|K - K'| / |K|: %.3g with the whole damping, %.1e without\n", asymmetry(n, with),
                      asymmetry(n, without));
        assert_true(asymmetry(n, with) > 0.1);
        ASSERT_NEAR(asymmetry(n, without), 0, 1e-14);
        free(with), free(without);
    }
}

/* The positive semidefinite part is taken of the rest alone. */
static void test_full_damping_adds_the_same_to_both_jacobians(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        double *K[2][2];
        int32_t n;
        for (int i = 0; i < 4; i++)
            K[i / 2][i % 2] = stiffness_matrix(seed, i / 2 ? DRAPE_JACOBIAN_FULL : DRAPE_JACOBIAN_PSD,
                                               i % 2 ? DRAPE_DAMPING_FULL : DRAPE_DAMPING_SYMMETRIC, &n);
        for (int j = 0; j < 2; j++)
            for (int64_t i = 0; i < (int64_t)n * n; i++) K[j][1][i] -= K[j][0][i];
        ASSERT_NEAR(dense_difference((int64_t)n * n, K[0][1], K[1][1]), 0, 1e-13);
        for (int i = 0; i < 4; i++) free(K[i / 2][i % 2]);
    }
}

/* damping D + stiffness K, to the bit, where nothing is damped and where nothing moves. */
static void test_full_damping_without_damping_is_the_symmetric_one(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        drape_jacobian jacobian = i % 2 ? DRAPE_JACOBIAN_FULL : DRAPE_JACOBIAN_PSD;
        crumpled a = crumpled_create_damped(3, i / 2, jacobian, DRAPE_DAMPING_SYMMETRIC);
        crumpled b = crumpled_create_damped(3, i / 2, jacobian, DRAPE_DAMPING_FULL);
        int64_t n2 = (int64_t)a.n * a.n;
        double *A = dense_new(n2), *B = dense_new(n2);
        if (i / 2) memset(a.v, 0, (size_t)a.n * sizeof *a.v);
        crumpled_matrix(&a, a.x, a.v, 2, 0.1, 0.01, A);
        crumpled_matrix(&b, a.x, a.v, 2, 0.1, 0.01, B);
        assert_memory_equal(A, B, (size_t)n2 * sizeof *A);
        free(A), free(B);
        crumpled_destroy(&a), crumpled_destroy(&b);
    }
}

/* Central differences in v have no error of their own: damping is linear in v, drag quadratic. */
static void check_d(const crumpled *c, const char *what) {
    int32_t n = c->n;
    const double step = 1e-3;
    double *D = dense_new((int64_t)n * n), *J = dense_new((int64_t)n * n), *v = dense_new(n);
    double *plus = dense_new(n), *minus = dense_new(n);
    crumpled_matrix(c, c->x, c->v, 0, 1, 0, D);
    memcpy(v, c->v, (size_t)n * sizeof *v);
    for (int32_t j = 0; j < n; j++) {
        v[j] = c->v[j] + step;
        crumpled_force(c, c->x, v, plus);
        v[j] = c->v[j] - step;
        crumpled_force(c, c->x, v, minus);
        v[j] = c->v[j];
        for (int32_t i = 0; i < n; i++) J[i * n + j] = -(plus[i] - minus[i]) / (2 * step);
    }
    double error = dense_difference((int64_t)n * n, J, D);
    print_message("%s: D off by %.1e\n", what, error);
    ASSERT_NEAR(error, 0, 1e-10);
    free(D), free(J), free(v), free(plus), free(minus);
}

static void test_d_is_the_derivative_in_v(void **state) {
    (void)state;
    drape_forces drag = {.wind = {9, -5, 7}, .drag = 3}, air = {.wind = {2, 3, 4}, .air_drag = 5}, all = drag;
    all.air_drag = 5;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        crumpled c = crumpled_create(seed, 1, seed % 2 ? DRAPE_JACOBIAN_FULL : DRAPE_JACOBIAN_PSD);
        check_d(&c, "damping");
        ASSERT_OK(c.ctx, drape_assembler_set_forces(c.forces, &all));
        check_d(&c, "damping, drag and air_drag");
        crumpled_destroy(&c);
        c = crumpled_create(seed, 0, DRAPE_JACOBIAN_PSD);
        ASSERT_OK(c.ctx, drape_assembler_set_forces(c.forces, &drag));
        check_d(&c, "drag");
        ASSERT_OK(c.ctx, drape_assembler_set_forces(c.forces, &air));
        check_d(&c, "air_drag");
        crumpled_destroy(&c);
    }
}

static void check_stiff_v(drape_jacobian jacobian, drape_damping_jacobian damping, uint64_t seed) {
    crumpled c = crumpled_create_damped(seed, 1, jacobian, damping);
    int32_t n = c.n;
    double *K = dense_new((int64_t)n * n), *Kv = dense_new(n), *stiff_v = dense_new(n);
    ASSERT_OK(c.ctx,
              drape_assembler_set_forces(c.forces, &(drape_forces){.wind = {9, 5, 7}, .drag = 3, .air_drag = 2}));
    crumpled_matrix(&c, c.x, c.v, 0, 0, 1, K);
    dense_multiply(n, n, 1, K, c.v, Kv);
    /* whatever the scales of the matrix are */
    drape_assembly what = {.x = c.x, .v = c.v, .mass = 3, .damping = 5, .stiffness = 7, .stiff_v = stiff_v};
    ASSERT_OK(c.ctx, drape_assembler_run(c.forces, &what, c.A));
    ASSERT_NEAR(dense_difference(n, stiff_v, Kv), 0, 1e-13);
    free(K), free(Kv), free(stiff_v);
    crumpled_destroy(&c);
}

static void test_stiff_v_is_k_times_v(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        check_stiff_v(DRAPE_JACOBIAN_FULL, DRAPE_DAMPING_SYMMETRIC, seed);
        check_stiff_v(DRAPE_JACOBIAN_PSD, DRAPE_DAMPING_SYMMETRIC, seed);
        check_stiff_v(DRAPE_JACOBIAN_FULL, DRAPE_DAMPING_FULL, seed);
        check_stiff_v(DRAPE_JACOBIAN_PSD, DRAPE_DAMPING_FULL, seed);
    }
}

static void test_a_is_the_sum_of_its_parts(void **state) {
    (void)state;
    crumpled c = crumpled_create(7, 1, DRAPE_JACOBIAN_PSD);
    int64_t n2 = (int64_t)c.n * c.n;
    double *M = dense_new(n2), *D = dense_new(n2), *K = dense_new(n2), *A = dense_new(n2);
    ASSERT_OK(c.ctx,
              drape_assembler_set_forces(c.forces, &(drape_forces){.wind = {9, 5, 7}, .drag = 3, .air_drag = 2}));
    crumpled_matrix(&c, c.x, c.v, 1, 0, 0, M);
    crumpled_matrix(&c, c.x, c.v, 0, 1, 0, D);
    crumpled_matrix(&c, c.x, c.v, 0, 0, 1, K);
    crumpled_matrix(&c, c.x, c.v, 900, 0.4, 0.02, A);
    for (int64_t i = 0; i < n2; i++) K[i] = 900 * M[i] + 0.4 * D[i] + 0.02 * K[i];
    ASSERT_NEAR(dense_difference(n2, A, K), 0, 1e-14);
    for (int32_t i = 0; i < c.n; i++)
        for (int32_t j = 0; j < c.n; j++)
            assert_true(M[i * c.n + j] == (i == j ? drape_cloth_mass(c.cloth)[i / 3] : 0));
    free(M), free(D), free(K), free(A);
    crumpled_destroy(&c);
}

static void test_vectors_alone_have_the_same_bits(void **state) {
    (void)state;
    crumpled c = crumpled_create(5, 1, DRAPE_JACOBIAN_PSD);
    size_t bytes = (size_t)c.n * sizeof(double);
    double *f = dense_new(c.n), *s = dense_new(c.n), *f2 = dense_new(c.n), *s2 = dense_new(c.n);
    drape_assembly what = {
        .x = c.x, .v = c.v, .mass = 1, .damping = 0.1, .stiffness = 0.01, .force = f, .stiff_v = s};
    ASSERT_OK(c.ctx, drape_assembler_run(c.forces, &what, c.A));
    what.force = f2, what.stiff_v = s2;
    ASSERT_OK(c.ctx, drape_assembler_run(c.forces, &what, NULL));
    assert_memory_equal(f, f2, bytes);
    assert_memory_equal(s, s2, bytes);
    memset(f2, 0, bytes);
    what.stiff_v = NULL;
    ASSERT_OK(c.ctx, drape_assembler_run(c.forces, &what, NULL));
    assert_memory_equal(f, f2, bytes);
    free(f), free(s), free(f2), free(s2);
    crumpled_destroy(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_force_is_minus_the_gradient_of_energy),
        cmocka_unit_test(test_full_jacobian_is_that_of_the_force),
        cmocka_unit_test(test_full_jacobian_with_damping_leaves_out_what_it_says),
        cmocka_unit_test(test_full_jacobian_with_full_damping_is_exact),
        cmocka_unit_test(test_only_full_damping_is_unsymmetric),
        cmocka_unit_test(test_full_damping_adds_the_same_to_both_jacobians),
        cmocka_unit_test(test_full_damping_without_damping_is_the_symmetric_one),
        cmocka_unit_test(test_d_is_the_derivative_in_v),
        cmocka_unit_test(test_stiff_v_is_k_times_v),
        cmocka_unit_test(test_a_is_the_sum_of_its_parts),
        cmocka_unit_test(test_vectors_alone_have_the_same_bits),
    };
    CRUMPLED_RUN("cloth.derivatives", tests);
}
