/* Damping and wind whose geometry is taken at other positions than the elastic forces. Compares forces and Jacobians
 * with differences, and checks their potential and the power that they take. Of three states, one under sanitizers.
 */
#include "cloth/crumpled.h"
#include "cloth/force.h"

enum { SEEDS = TEST_CASES(3), HALVINGS = 3, STEPS = 7 };

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

static const double STAGE = 0.1; /* c of a stage x = x0 + c v, s */

static double stage_error(const rig *r, const double *want, double step) {
    return jacobian_error(r, want, STAGE, 1, step);
}

static double find_potential(const rig *r, const double *x, const double *v) {
    double potential;
    ASSERT_OK(r->c.ctx, drape_i_assembler_potential(r->c.forces, 0, STAGE, x, v, r->lagged, &potential));
    return potential;
}

/* want = f; minus the gradient of the potential by v, over c, where x follows v as in a stage. */
static double force_error(const rig *r, const double *want, double step) {
    int32_t n = r->c.n;
    double *x = dense_new(n), *v = dense_new(n), *got = dense_new(n);
    memcpy(x, r->c.x, (size_t)n * sizeof *x), memcpy(v, r->c.v, (size_t)n * sizeof *v);
    for (int32_t i = 0; i < n; i++) {
        x[i] = r->c.x[i] + STAGE * step, v[i] = r->c.v[i] + step;
        double high = find_potential(r, x, v);
        x[i] = r->c.x[i] - STAGE * step, v[i] = r->c.v[i] - step;
        double low = find_potential(r, x, v);
        x[i] = r->c.x[i], v[i] = r->c.v[i];
        got[i] = -(high - low) / (2 * step * STAGE);
    }
    double error = dense_difference(n, got, want);
    free(x), free(v), free(got);
    return error;
}

static double stiffness_error(const rig *r, const double *want, double step) {
    return jacobian_error(r, want, 1, 0, step);
}

/* ---- forces and matrices ---- */

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

/* ---- the potential of a stage ---- */

static void test_force_is_minus_the_gradient_of_the_potential(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        rig r = rig_create(seed, 1, DRAPE_JACOBIAN_FULL, DRAPE_DAMPING_SYMMETRIC);
        double *force = dense_new(r.c.n);
        assert_true(drape_i_assembler_has_potential(r.c.forces, true));
        find_force(&r, r.c.x, r.c.v, r.lagged, force);
        check_order("force", force_error, &r, force, 4e-3, 1e-9);
        free(force);
        rig_destroy(&r);
    }
}

static void push(void *user, const drape_force_point *at, drape_vertex_force *out) {
    (void)user;
    for (int32_t i = 0; i < at->vertices; i++) out->force[3 * i] += 1;
}

static double push_energy(void *user, const drape_force_point *at) {
    double energy = 0;
    (void)user;
    for (int32_t i = 0; i < at->vertices; i++) energy -= at->x[3 * i];
    return energy;
}

/* With room for the potentials of elements and without, and with a force of a program's own, whose kernels give none.
 */
static void check_potential_with_forces(rig *r, bool kept) {
    double *alone = dense_new(r->c.n), *with = dense_new(r->c.n);
    drape_assembly what = {.x = r->c.x, .v = r->c.v, .lagged_x = r->lagged, .damping = 1, .stiffness = STAGE};
    drape_i_potential potential = {.c = STAGE};
    double want = find_potential(r, r->c.x, r->c.v);
    find_force(r, r->c.x, r->c.v, r->lagged, alone);
    what.force = with;
    ASSERT_OK(r->c.ctx, drape_i_assembler_run_potential(r->c.forces, &what, r->c.A, &potential));
    assert_memory_equal(alone, with, (size_t)r->c.n * sizeof *with);
    ASSERT_NEAR(potential.value, want, kept ? 1e-13 * fabs(want) : 0);
    potential.c = 2 * STAGE; /* the dissipations are in it */
    ASSERT_OK(r->c.ctx, drape_i_assembler_run_potential(r->c.forces, &what, r->c.A, &potential));
    assert_true(fabs(potential.value - want) > 1e-3 * fabs(want));
    free(alone), free(with);
}

static void test_potential_comes_with_the_forces(void **state) {
    const drape_force own = {.name = "own", .all = push, .all_energy = push_energy};
    (void)state;
    for (int psd = 0; psd < 2; psd++) {
        rig r = rig_create(6, 1, psd ? DRAPE_JACOBIAN_PSD : DRAPE_JACOBIAN_FULL, DRAPE_DAMPING_SYMMETRIC);
        check_potential_with_forces(&r, false);
        ASSERT_OK(r.c.ctx, drape_i_assembler_keep_potentials(r.c.forces));
        check_potential_with_forces(&r, true);
        ASSERT_OK(r.c.ctx, drape_assembler_add(r.c.forces, &own));
        check_potential_with_forces(&r, true);
        rig_destroy(&r);
    }
}

static void test_jacobian_of_a_stage_is_exact(void **state) {
    (void)state;
    for (int psd = 0; psd < 2; psd++) {
        rig r = rig_create(2, 1, psd ? DRAPE_JACOBIAN_PSD : DRAPE_JACOBIAN_FULL, DRAPE_DAMPING_SYMMETRIC);
        double *A = dense_new((int64_t)r.c.n * r.c.n);
        drape_assembly what = {.x = r.c.x, .v = r.c.v, .lagged_x = r.lagged, .damping = 1, .stiffness = STAGE};
        what.exactness = 1;
        ASSERT_OK(r.c.ctx, drape_assembler_run(r.c.forces, &what, r.c.A));
        drape_bsr3 view = drape_matrix_view(r.c.A);
        dense_from_bsr3(&view, A);
        check_order(psd ? "D + c K, psd with exactness 1" : "D + c K", stage_error, &r, A, 2e-3, 1e-8);
        free(A);
        rig_destroy(&r);
    }
}

static void test_only_lagged_damping_and_wind_have_a_potential(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        bool damped = i % 2, wind = i / 2;
        rig r = rig_create(1, damped, DRAPE_JACOBIAN_PSD, DRAPE_DAMPING_SYMMETRIC);
        drape_forces forces = {.wind = {1, 2, 3}, .drag = wind ? 2 : 0, .air_drag = 1};
        ASSERT_OK(r.c.ctx, drape_assembler_set_forces(r.c.forces, &forces));
        assert_true(drape_i_assembler_has_potential(r.c.forces, true));
        assert_int_equal(drape_i_assembler_has_potential(r.c.forces, false), !damped && !wind);
        rig_destroy(&r);
    }
}

static void test_own_forces_have_the_potential_that_they_say(void **state) {
    (void)state;
    const drape_force forces[3] = {
        {.name = "with", .all = push, .all_energy = push_energy},
        {.name = "without", .all = push},
        {.name = "moving", .all = push, .all_energy = push_energy, .velocity_dependent = true}};
    for (int i = 0; i < 3; i++) {
        rig r = rig_create(1, 1, DRAPE_JACOBIAN_PSD, DRAPE_DAMPING_SYMMETRIC);
        ASSERT_OK(r.c.ctx, drape_assembler_add(r.c.forces, &forces[i]));
        assert_int_equal(drape_i_assembler_has_potential(r.c.forces, true), i == 0);
        rig_destroy(&r);
    }
}

/* ---- a fold that is pressed flat ---- */

/* Two triangles with an angle between them, across the y axis. */
static void fold(double angle, double x[12]) {
    const double flat[12] = {0, 0, 0, 0, 0.1, 0, -0.1, 0.04, 0, 0.1 * cos(angle), 0.06, 0.1 * sin(angle)};
    memcpy(x, flat, sizeof flat);
}

/* The energy of a fold, and its force as it comes from `before`. */
static double fold_energy(drape_context *ctx, drape_assembler *forces, double angle, double before,
                          double force[12]) {
    double x[12], lagged[12], energy, with;
    const double v[12] = {0};
    fold(angle, x);
    fold(before, lagged);
    drape_assembly what = {.x = x, .v = v, .lagged_x = lagged, .force = force};
    drape_i_potential potential = {.c = STAGE};
    ASSERT_OK(ctx, drape_i_assembler_potential(forces, 0, STAGE, x, v, lagged, &energy));
    ASSERT_OK(ctx, drape_i_assembler_run_potential(forces, &what, NULL, &potential));
    with = potential.value;
    ASSERT_NEAR(with, energy, 1e-13 * energy);
    return energy;
}

/* Cloth that is curved at rest: energy and force are continuous where a fold passes through itself, from whichever
 * side it comes. With a jump there Newton's method came to a halt in front of it. */
static void test_folds_pass_through_themselves(void **state) {
    const double pi = 3.14159265358979323846, step = 1e-9;
    const int32_t triangle[6] = {0, 1, 2, 0, 3, 1};
    double rest[12], near[12], far[12];
    (void)state;
    fold(0.4, rest);
    const drape_piece piece = {.vertices = 4,
                               .triangles = 2,
                               .rest = rest,
                               .triangle = triangle,
                               .material = {.density = 0.2, .stretch = {1, 1}, .shear = 1, .bend = 0.1}};
    drape_context *ctx = test_context(1);
    drape_cloth *cloth;
    drape_assembler *forces;
    ASSERT_OK(ctx, drape_cloth_create(ctx, &piece, 1, NULL, &cloth));
    ASSERT_OK(ctx, drape_assembler_create(cloth, &(drape_forces){0}, &forces));
    ASSERT_OK(ctx, drape_i_assembler_keep_potentials(forces)); /* those that come with forces are sums of their own */
    for (int side = -1; side <= 1; side += 2) {
        double before = side * (pi - 0.3);
        double here = fold_energy(ctx, forces, side * (pi - step), before, near);
        double there = fold_energy(ctx, forces, side * (pi + step), before, far);
        print_message("on both sides of %+d pi: %.12g and %.12g J\n", side, here, there);
        assert_true(fabs(there - here) > 0 && fabs(there - here) < 1e-7 * here);
        ASSERT_NEAR(dense_difference(12, far, near), 0, 1e-7);
    }
    drape_assembler_destroy(forces);
    drape_cloth_destroy(cloth);
    drape_context_destroy(ctx);
}

/* ---- power ---- */

static double find_power(const rig *r, int32_t index, const double *v, const double *lagged) {
    double power;
    ASSERT_OK(r->c.ctx, drape_assembler_dissipation(r->c.forces, index, 0, r->c.x, v, lagged, &power));
    return power;
}

/* -(force at velocity v - force at rest).v */
static double lost(const rig *r, const double *v, const double *lagged) {
    double *moving = dense_new(r->c.n), *still = dense_new(r->c.n), *zero = dense_new(r->c.n), sum = 0;
    find_force(r, r->c.x, v, lagged, moving);
    find_force(r, r->c.x, zero, lagged, still);
    for (int32_t i = 0; i < r->c.n; i++) sum -= (moving[i] - still[i]) * v[i];
    free(moving), free(still), free(zero);
    return sum;
}

static double pushed(const rig *r, const double *v, const double *lagged) {
    double *force = dense_new(r->c.n), sum = 0;
    find_force(r, r->c.x, v, lagged, force);
    for (int32_t i = 0; i < r->c.n; i++) sum -= force[i] * v[i];
    free(force);
    return sum;
}

static void test_power_is_force_times_velocity(void **state) {
    (void)state;
    for (int at_x = 0; at_x < 2; at_x++) {
        rig r = rig_create(8, 1, DRAPE_JACOBIAN_PSD, DRAPE_DAMPING_SYMMETRIC);
        const double *lagged = at_x ? NULL : r.lagged;
        double sum = find_power(&r, DRAPE_I_FORCE_MODEL, r.c.v, lagged), with, without;
        ASSERT_OK(r.c.ctx, drape_assembler_set_forces(r.c.forces, &(drape_forces){0}));
        ASSERT_NEAR(sum, lost(&r, r.c.v, lagged), 1e-12 * sum);
        assert_true(sum > 0);
        without = pushed(&r, r.c.v, lagged);
        for (int air = 0; air < 2; air++) {
            drape_forces forces = {.wind = {9, 5, 7}, .drag = air ? 0 : 300, .air_drag = air ? 200 : 0};
            ASSERT_OK(r.c.ctx, drape_assembler_set_forces(r.c.forces, &forces));
            double power = find_power(&r, air ? DRAPE_I_FORCE_AIR_DRAG : DRAPE_I_FORCE_WIND, r.c.v, lagged);
            with = pushed(&r, r.c.v, lagged);
            ASSERT_NEAR(power, with - without, 1e-12 * fabs(without));
            assert_true(fabs(power) > 1e-3 * fabs(without));
        }
        rig_destroy(&r);
    }
}

/* Damping takes nothing out of a rigid motion of the lagged positions, and never gives. */
static void test_damping_never_gives(void **state) {
    (void)state;
    rig r = rig_create(9, 1, DRAPE_JACOBIAN_PSD, DRAPE_DAMPING_SYMMETRIC);
    test_random random = {5};
    double *v = dense_new(r.c.n), typical = find_power(&r, DRAPE_I_FORCE_MODEL, r.c.v, r.lagged);
    for (int32_t i = 0; i < 100; i++) {
        for (int32_t k = 0; k < r.c.n; k++) v[k] = test_random_between(&random, -1, 1);
        assert_true(find_power(&r, DRAPE_I_FORCE_MODEL, v, r.lagged) > 0);
    }
    for (int32_t i = 0; i < r.c.n; i += 3) {
        const double *x = r.lagged + i, spin[3] = {1, -2, 0.5};
        v[i] = 3 + spin[1] * x[2] - spin[2] * x[1];
        v[i + 1] = 1 + spin[2] * x[0] - spin[0] * x[2];
        v[i + 2] = -2 + spin[0] * x[1] - spin[1] * x[0];
    }
    ASSERT_NEAR(find_power(&r, DRAPE_I_FORCE_MODEL, v, r.lagged), 0, 1e-20 * typical);
    free(v);
    rig_destroy(&r);
}

/* Air that blows faster than the cloth drives it, slower air brakes it. */
static void test_wind_gives_and_takes(void **state) {
    (void)state;
    rig r = rig_create(9, 1, DRAPE_JACOBIAN_PSD, DRAPE_DAMPING_SYMMETRIC);
    double *v = dense_new(r.c.n);
    for (int32_t i = 0; i < r.c.n; i += 3) v[i] = 1;
    for (int fast = 0; fast < 2; fast++) {
        drape_forces forces = {.wind = {fast ? 2 : 0.5, 0, 0}, .drag = 3, .air_drag = 2};
        ASSERT_OK(r.c.ctx, drape_assembler_set_forces(r.c.forces, &forces));
        assert_int_equal(find_power(&r, DRAPE_I_FORCE_WIND, v, r.lagged) < 0, fast);
        assert_int_equal(find_power(&r, DRAPE_I_FORCE_AIR_DRAG, v, r.lagged) < 0, fast);
    }
    free(v);
    rig_destroy(&r);
}

static void test_power_of_forces_that_have_none(void **state) {
    (void)state;
    rig r = rig_create(1, 0, DRAPE_JACOBIAN_PSD, DRAPE_DAMPING_SYMMETRIC);
    assert_true(find_power(&r, DRAPE_I_FORCE_MODEL, r.c.v, r.lagged) == 0); /* it is not damped */
    assert_true(isnan(find_power(&r, DRAPE_I_FORCE_GRAVITY, r.c.v, r.lagged)));
    ASSERT_OK(r.c.ctx, drape_assembler_set_forces(r.c.forces, &(drape_forces){0}));
    assert_true(isnan(find_power(&r, DRAPE_I_FORCE_WIND, r.c.v, r.lagged)));
    ASSERT_OK(r.c.ctx, drape_assembler_add(r.c.forces, &(drape_force){.name = "own", .all = push}));
    assert_true(isnan(find_power(&r, DRAPE_I_BUILT_IN_FORCES, r.c.v, r.lagged)));
    rig_destroy(&r);
}

/* ---- what stays as it is ---- */

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
        cmocka_unit_test(test_force_is_minus_the_gradient_of_the_potential),
        cmocka_unit_test(test_potential_comes_with_the_forces),
        cmocka_unit_test(test_jacobian_of_a_stage_is_exact),
        cmocka_unit_test(test_only_lagged_damping_and_wind_have_a_potential),
        cmocka_unit_test(test_own_forces_have_the_potential_that_they_say),
        cmocka_unit_test(test_folds_pass_through_themselves),
        cmocka_unit_test(test_power_is_force_times_velocity),
        cmocka_unit_test(test_damping_never_gives),
        cmocka_unit_test(test_wind_gives_and_takes),
        cmocka_unit_test(test_power_of_forces_that_have_none),
        cmocka_unit_test(test_full_damping_adds_nothing),
        cmocka_unit_test(test_collapsed_geometry_is_finite),
    };
    CRUMPLED_RUN("cloth.lagged", tests);
}
