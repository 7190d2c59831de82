/* What must not change: under rigid motions, with the mesh, with the way the same cloth is told. */
#include "cloth/crumpled.h"

static drape_cloth *make_cloth(drape_context *ctx, const test_mesh *m, const drape_material *material) {
    drape_cloth *cloth;
    drape_piece piece = test_mesh_piece(m);
    piece.material = *material;
    drape_cloth_settings settings = drape_cloth_defaults();
    settings.model = crumpled_model;
    ASSERT_OK(ctx, drape_cloth_create(ctx, &piece, 1, &settings, &cloth));
    return cloth;
}

static void find_force(drape_context *ctx, const drape_cloth *cloth, const double *x, const double *v, double *f) {
    test_assemble(ctx, cloth, &(drape_forces){0}, &(drape_assembly){.x = x, .v = v, .force = f}, NULL);
}

static double sum_of(int32_t n, const double *a, int32_t stride) {
    double sum = 0;
    for (int32_t i = 0; i < n; i += stride) sum += a[i];
    return sum;
}

static double largest(int32_t n, const double *a) {
    double most = 0;
    for (int32_t i = 0; i < n; i++) most = fmax(most, fabs(a[i]));
    return most;
}

static double area_of(const drape_cloth *cloth) {
    return sum_of(drape_cloth_vertices(cloth), drape_cloth_area(cloth), 1);
}

/* Sum of f, and of x cross f. */
static void net(int32_t n, const double *x, const double *f, double force[3], double torque[3]) {
    for (int32_t k = 0; k < 3; k++) force[k] = torque[k] = 0;
    for (int32_t i = 0; i < n; i += 3)
        for (int32_t k = 0; k < 3; k++) {
            int32_t a = i + (k + 1) % 3, b = i + (k + 2) % 3;
            force[k] += f[i + k];
            torque[k] += x[a] * f[b] - x[b] * f[a];
        }
}

/* v = w cross x + c */
static void rigid_velocity(int32_t n, const double *x, const double w[3], const double c[3], double *v) {
    for (int32_t i = 0; i < n; i += 3)
        for (int32_t k = 0; k < 3; k++)
            v[i + k] = w[(k + 1) % 3] * x[i + (k + 2) % 3] - w[(k + 2) % 3] * x[i + (k + 1) % 3] + c[k];
}

/* ---- rigid motions ---- */

static void test_rest_shape_moved_rigidly_feels_nothing(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_material material = drape_material_defaults();
    test_random r = {1};
    test_mesh m = test_mesh_irregular(6, 5, 1.2, 1, &r);
    crumpled_curve(&m);
    free(m.uv), m.uv = NULL;
    drape_cloth *cloth = make_cloth(ctx, &m, &material);
    int32_t n = 3 * m.vertices;
    double *x = dense_new(n), *v = dense_new(n), *f = dense_new(n);
    for (int32_t i = 0; i < 20; i++) {
        double R[9], c[3] = {test_random_between(&r, -5, 5), 1, test_random_between(&r, -5, 5)};
        test_random_rotation(&r, R);
        test_move(m.vertices, m.rest, R, c, x);
        find_force(ctx, cloth, x, v, f);
        ASSERT_NEAR(largest(n, f), 0, 1e-10 * material.stretch[0]);
        ASSERT_NEAR(drape_cloth_energy(cloth, x), 0, 1e-20 * material.stretch[0]);
        ASSERT_NEAR(drape_cloth_stretch(cloth, x), 1, 1e-12);
    }
    free(x), free(v), free(f);
    drape_cloth_destroy(cloth);
    test_mesh_clear(&m);
    drape_context_destroy(ctx);
}

static void test_rigid_velocity_is_not_damped(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        crumpled c = crumpled_create(seed, 1, DRAPE_JACOBIAN_PSD);
        const double w[3] = {3, -2, 5}, drift[3] = {1, 7, -4};
        double *f = dense_new(c.n), *still = dense_new(c.n), *damped = dense_new(c.n), *v = dense_new(c.n);
        crumpled_force(&c, c.x, v, still);
        crumpled_force(&c, c.x, c.v, damped);
        rigid_velocity(c.n, c.x, w, drift, v);
        crumpled_force(&c, c.x, v, f);
        for (int32_t i = 0; i < c.n; i++) f[i] -= still[i], damped[i] -= still[i];
        ASSERT_NEAR(dense_norm(c.n, f) / dense_norm(c.n, damped), 0, 1e-9);
        free(f), free(still), free(damped), free(v);
        crumpled_destroy(&c);
    }
}

/* Newton's third law, and no torque either. */
static void test_internal_forces_are_in_balance(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        crumpled c = crumpled_create(seed, 1, DRAPE_JACOBIAN_PSD);
        double *f = dense_new(c.n), force[3], torque[3];
        crumpled_force(&c, c.x, c.v, f);
        net(c.n, c.x, f, force, torque);
        ASSERT_NEAR(dense_norm(3, force) / dense_norm(c.n, f), 0, 1e-10);
        ASSERT_NEAR(dense_norm(3, torque) / (dense_norm(c.n, f) * dense_norm(c.n, c.x)), 0, 1e-10);
        free(f);
        crumpled_destroy(&c);
    }
}

/* E(R x + c) = E(x), f(R x + c, R v + d) = R f(x, v). */
static void test_energy_and_force_turn_with_the_cloth(void **state) {
    (void)state;
    const double origin[3] = {0, 0, 0}, c0[3] = {3, -1, 2};
    test_random r = {9};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        crumpled c = crumpled_create(seed, 1, DRAPE_JACOBIAN_PSD);
        double R[9], *x = dense_new(c.n), *v = dense_new(c.n), *f = dense_new(c.n), *g = dense_new(c.n);
        test_random_rotation(&r, R);
        test_move(c.n / 3, c.x, R, c0, x);
        test_move(c.n / 3, c.v, R, c0, v);
        double energy = drape_cloth_energy(c.cloth, c.x);
        ASSERT_NEAR(drape_cloth_energy(c.cloth, x) / energy, 1, 1e-12);
        ASSERT_NEAR(drape_cloth_stretch(c.cloth, x) / drape_cloth_stretch(c.cloth, c.x), 1, 1e-12);
        crumpled_force(&c, c.x, c.v, g);
        test_move(c.n / 3, g, R, origin, f);
        crumpled_force(&c, x, v, g);
        ASSERT_NEAR(dense_difference(c.n, g, f), 0, 1e-11);
        free(x), free(v), free(f), free(g);
        crumpled_destroy(&c);
    }
}

/* ---- masses and outside forces ---- */

static void test_masses(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    test_random r = {2};
    test_mesh m = test_mesh_irregular(5, 7, 0.8, 1.5, &r);
    drape_piece piece[2] = {test_mesh_piece(&m), test_mesh_piece(&m)};
    double *mass = dense_new(m.vertices);
    for (int32_t i = 0; i < m.vertices; i++) mass[i] = test_random_between(&r, 0.1, 1);
    piece[0].material.density = 0.7;
    piece[1].mass = mass;
    drape_cloth *cloth;
    ASSERT_OK(ctx, drape_cloth_create(ctx, piece, 2, NULL, &cloth));
    const double *got = drape_cloth_mass(cloth);
    assert_int_equal(drape_cloth_vertices(cloth), 2 * m.vertices);
    ASSERT_NEAR(sum_of(m.vertices, got, 1), 0.7 * 0.8 * 1.5, 1e-13);
    for (int32_t i = 0; i < m.vertices; i++) ASSERT_NEAR(got[i], 0.7 * drape_cloth_area(cloth)[i], 1e-15);
    for (int32_t i = 0; i < m.vertices; i++) assert_true(got[m.vertices + i] == mass[i]);
    ASSERT_NEAR(area_of(cloth), 2 * 0.8 * 1.5, 1e-13);
    free(mass);
    drape_cloth_destroy(cloth);
    test_mesh_clear(&m);
    drape_context_destroy(ctx);
}

static void test_gravity_and_vertex_forces(void **state) {
    (void)state;
    crumpled c = crumpled_create(4, 1, DRAPE_JACOBIAN_PSD);
    double *f = dense_new(c.n), *push = dense_new(c.n), *inside = dense_new(c.n);
    test_random r = {3};
    for (int32_t i = 0; i < c.n; i++) push[i] = test_random_between(&r, -1, 1);
    crumpled_force(&c, c.x, c.v, inside);
    drape_forces forces = drape_forces_defaults();
    forces.gravity[0] = 2;
    forces.vertex = push;
    ASSERT_OK(c.ctx, drape_assembler_set_forces(c.forces, &forces));
    crumpled_force(&c, c.x, c.v, f);
    double total = sum_of(c.n / 3, drape_cloth_mass(c.cloth), 1);
    ASSERT_NEAR(sum_of(c.n, f, 3), 2 * total + sum_of(c.n, push, 3), 1e-11);
    ASSERT_NEAR(sum_of(c.n - 2, f + 2, 3), -9.81 * total + sum_of(c.n - 2, push + 2, 3), 1e-11);
    for (int32_t i = 0; i < c.n; i++)
        ASSERT_NEAR(f[i], inside[i] + drape_cloth_mass(c.cloth)[i / 3] * forces.gravity[i % 3] + push[i], 1e-12);
    free(f), free(push), free(inside);
    crumpled_destroy(&c);
}

/* Net force on a flat 2 x 0.5 sheet with normal z that moves with `velocity`. */
static void net_wind(drape_cloth *cloth, drape_context *ctx, const test_mesh *m, const drape_forces *forces,
                     const double velocity[3], double force[3]) {
    int32_t n = 3 * m->vertices;
    double *v = dense_new(n), *f = dense_new(n), torque[3];
    for (int32_t i = 0; i < n; i++) v[i] = velocity[i % 3];
    test_assemble(ctx, cloth, forces, &(drape_assembly){.x = m->rest, .v = v, .force = f}, NULL);
    net(n, m->rest, f, force, torque);
    free(v), free(f);
}

static void test_wind_on_a_flat_sheet(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    test_random r = {4};
    test_mesh m = test_mesh_irregular(7, 3, 2, 0.5, &r);
    drape_material material = drape_material_defaults();
    drape_cloth *cloth = make_cloth(ctx, &m, &material);
    const double still[3] = {0, 0, 0}, moving[3] = {1, 2, 4};
    double f[3];
    net_wind(cloth, ctx, &m, &(drape_forces){.wind = {0, 0, 6}, .drag = 1.3}, still, f);
    ASSERT_NEAR(f[2], 1.3 / 2 * 36 * 1, 1e-10);
    ASSERT_NEAR(hypot(f[0], f[1]), 0, 1e-10);
    net_wind(cloth, ctx, &m, &(drape_forces){.wind = {8, -9, -6}, .drag = 1.3}, moving, f);
    ASSERT_NEAR(f[2], -1.3 / 2 * 100 * 1, 1e-10);
    ASSERT_NEAR(hypot(f[0], f[1]), 0, 1e-10);
    net_wind(cloth, ctx, &m, &(drape_forces){.wind = {5, 0, 1}, .air_drag = 0.7}, moving, f);
    ASSERT_NEAR(f[0], 0.7 * 4, 1e-10);
    ASSERT_NEAR(f[1], 0.7 * -2, 1e-10);
    ASSERT_NEAR(f[2], 0.7 * -3, 1e-10);
    drape_cloth_destroy(cloth);
    test_mesh_clear(&m);
    drape_context_destroy(ctx);
}

/* ---- energies that are known ---- */

/* x = F (u, v), F of three rows and two columns: w_u and w_v. */
static void map_uv(const test_mesh *m, const double F[6], double *x) {
    for (int32_t i = 0; i < m->vertices; i++)
        for (int32_t k = 0; k < 3; k++) x[3 * i + k] = F[2 * k] * m->uv[2 * i] + F[2 * k + 1] * m->uv[2 * i + 1];
}

static void check_homogeneous(test_mesh m, double area) {
    drape_context *ctx = test_context(1);
    const drape_material material = {.density = 1, .stretch = {70, 40}, .shear = 25, .bend = 3};
    test_random r = {5};
    test_mesh_turn_uv(&m, 0.7);
    drape_cloth *cloth = make_cloth(ctx, &m, &material);
    double *x = dense_new(3 * (int64_t)m.vertices);
    for (int32_t i = 0; i < 30; i++) {
        double F[6], uu = 0, vv = 0, uv = 0;
        for (int32_t k = 0; k < 6; k++) F[k] = test_random_between(&r, -1.5, 1.5);
        for (int32_t k = 0; k < 3; k++)
            uu += F[2 * k] * F[2 * k], vv += F[2 * k + 1] * F[2 * k + 1], uv += F[2 * k] * F[2 * k + 1];
        map_uv(&m, F, x);
        double want = 70 * pow(sqrt(uu) - 1, 2) + 40 * pow(sqrt(vv) - 1, 2) + 25 * uv * uv;
        ASSERT_NEAR(drape_cloth_energy(cloth, x) / (area / 2 * want), 1, 1e-12);
        ASSERT_NEAR(drape_cloth_stretch(cloth, x), sqrt(fmax(uu, vv)), 1e-12);
    }
    free(x);
    drape_cloth_destroy(cloth);
    test_mesh_clear(&m);
    drape_context_destroy(ctx);
}

static void test_energy_of_homogeneous_states_is_exact_on_any_mesh(void **state) {
    (void)state;
    test_random r = {6};
    check_homogeneous(test_mesh_grid(1, 1, 2, 0.5), 1);
    check_homogeneous(test_mesh_grid(4, 3, 2, 0.5), 1);
    check_homogeneous(test_mesh_grid(32, 24, 2, 0.5), 1);
    check_homogeneous(test_mesh_irregular(3, 3, 2, 0.5, &r), 1);
    check_homogeneous(test_mesh_irregular(20, 17, 2, 0.5, &r), 1);
}

/* Rolled up so that columns of cells become flat facets with the angle kappa a between them. Only the n - 1 edges
 * along the axis bend, and weights 3 e^2/(A1+A2) with k = B/2.4 make 3/2.4 of B/2 kappa^2 area of it. */
static void check_cylinder(int32_t n, double angle) {
    drape_context *ctx = test_context(1);
    const double B = 0.03, a = 0.1, area = n * n * a * a, kappa = angle / a;
    test_mesh m = test_mesh_grid(n, n, n * a, n * a);
    drape_cloth *cloth = make_cloth(ctx, &m, &(drape_material){.density = 1, .bend = B});
    double *x = dense_new(3 * (int64_t)m.vertices), radius = a / (2 * sin(angle / 2));
    for (int32_t i = 0; i < m.vertices; i++) {
        double turn = angle * (i % (n + 1));
        x[3 * i] = radius * sin(turn), x[3 * i + 1] = m.rest[3 * i + 1], x[3 * i + 2] = radius * (1 - cos(turn));
    }
    double want = 3 / 2.4 * B / 2 * kappa * kappa * area * (n - 1) / n;
    ASSERT_NEAR(drape_cloth_energy(cloth, x) / want, 1, 1e-10);
    free(x);
    drape_cloth_destroy(cloth);
    test_mesh_clear(&m);
    drape_context_destroy(ctx);
}

static void test_cylinder(void **state) {
    (void)state;
    check_cylinder(4, 0.5);
    check_cylinder(10, -0.1);
    check_cylinder(20, 1.5);
}

/* Bending energy of a strip one cell wide at the heights kappa/2 x^2 + twist x y. */
static double strip_energy(drape_cloth *cloth, const test_mesh *m, double kappa, double twist, double *x) {
    for (int32_t i = 0; i < m->vertices; i++) {
        double u = m->rest[3 * i], v = m->rest[3 * i + 1];
        x[3 * i] = u, x[3 * i + 1] = v, x[3 * i + 2] = kappa / 2 * u * u + twist * u * v;
    }
    return drape_cloth_energy(cloth, x);
}

/* A strip that may twist freely has the rigidity B. Per cell the edge across bends by kappa + twist, the diagonal by
 * sqrt 2 twist. 3 (kappa + twist)^2 + 12 twist^2 is least, 2.4 kappa^2, at twist = -kappa/5. */
static void test_narrow_strip(void **state) {
    (void)state;
    enum { CELLS = 200 };
    drape_context *ctx = test_context(1);
    const double B = 0.03, a = 0.01, kappa = 1e-4;
    test_mesh m = test_mesh_grid(CELLS, 1, CELLS * a, a);
    drape_cloth *cloth = make_cloth(ctx, &m, &(drape_material){.density = 1, .bend = B});
    double *x = dense_new(3 * (int64_t)m.vertices);
    double left = strip_energy(cloth, &m, kappa, -kappa, x), middle = strip_energy(cloth, &m, kappa, 0, x);
    double right = strip_energy(cloth, &m, kappa, kappa, x);
    double slope = (right - left) / 2, curvature = left - 2 * middle + right, best = -slope / curvature;
    ASSERT_NEAR(best, -0.2, 1e-2);
    double least = strip_energy(cloth, &m, kappa, best * kappa, x);
    double want = B / 2 * kappa * kappa * CELLS * a * a;
    print_message("narrow strip: %.4f of B, twist %.4f of kappa\n", least / want, best);
    ASSERT_NEAR(least / want, 1, 2.0 / CELLS);
    free(x);
    drape_cloth_destroy(cloth);
    test_mesh_clear(&m);
    drape_context_destroy(ctx);
}

/* ---- the same cloth told otherwise ---- */

typedef struct answer {
    double energy, stretch, *f, *A;
} answer;

static answer evaluate(drape_context *ctx, const drape_piece *piece, const double *x, const double *v) {
    drape_cloth *cloth;
    drape_matrix *A;
    int64_t n = 3 * (int64_t)piece->vertices;
    answer a = {.f = dense_new(n), .A = dense_new(n * n)};
    drape_cloth_settings settings = drape_cloth_defaults();
    settings.model = crumpled_model;
    ASSERT_OK(ctx, drape_cloth_create(ctx, piece, 1, &settings, &cloth));
    drape_assembly what = {.x = x, .v = v, .mass = 1, .damping = 0.1, .stiffness = 0.01, .force = a.f};
    test_assemble(ctx, cloth, NULL, &what, &A);
    drape_bsr3 view = drape_matrix_view(A);
    dense_from_bsr3(&view, a.A);
    a.energy = drape_cloth_energy(cloth, x);
    a.stretch = drape_cloth_stretch(cloth, x);
    drape_matrix_destroy(A);
    drape_cloth_destroy(cloth);
    return a;
}

static void answer_clear(answer *a) { free(a->f), free(a->A); }

/* Every triangle has material-space corners of its own, moved by (du, dv) for each triangle. */
static drape_piece cut_apart(const test_mesh *m, double du, double dv, double *uv, int32_t *corner) {
    drape_piece piece = test_mesh_piece(m);
    for (int32_t i = 0; i < 3 * m->triangles; i++) {
        corner[i] = i;
        uv[2 * i] = m->uv[2 * m->triangle[i]] + (i / 3) * du;
        uv[2 * i + 1] = m->uv[2 * m->triangle[i] + 1] + (i / 3) * dv;
    }
    piece.uv = uv, piece.uv_triangle = corner, piece.uv_vertices = 3 * m->triangles;
    return piece;
}

static void test_seams(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    test_random r = {7};
    test_mesh m = test_mesh_irregular(4, 4, 1, 1, &r);
    test_mesh_turn_uv(&m, 0.3);
    int32_t n = 3 * m.vertices, *corner = calloc(3 * (size_t)m.triangles, sizeof *corner);
    double *x = dense_new(n), *v = dense_new(n), *uv = dense_new(6 * (int64_t)m.triangles);
    for (int32_t i = 0; i < n; i++) {
        x[i] = m.rest[i] + test_random_between(&r, -0.05, 0.05);
        v[i] = test_random_between(&r, -1, 1);
    }
    drape_piece shared = test_mesh_piece(&m), own = cut_apart(&m, 0, 0, uv, corner);
    answer a = evaluate(ctx, &shared, x, v), b = evaluate(ctx, &own, x, v);
    assert_memory_equal(a.f, b.f, (size_t)n * sizeof *a.f);
    assert_memory_equal(a.A, b.A, (size_t)n * (size_t)n * sizeof *a.A);
    assert_true(a.energy == b.energy && a.stretch == b.stretch);
    drape_piece moved = cut_apart(&m, 1.5, -0.7, uv, corner);
    answer c = evaluate(ctx, &moved, x, v);
    ASSERT_NEAR(dense_difference(n, c.f, a.f), 0, 1e-11);
    ASSERT_NEAR(dense_difference((int64_t)n * n, c.A, a.A), 0, 1e-11);
    answer_clear(&a), answer_clear(&b), answer_clear(&c);
    free(x), free(v), free(uv), free(corner);
    test_mesh_clear(&m);
    drape_context_destroy(ctx);
}

static void test_flat_sheet_without_uv_rests_in_any_plane(void **state) {
    (void)state;
    const double axes[3][9] = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 1, 1, 0, 0, 0, 1, 0}, {0, 1, 0, 0, 0, 1, 1, 0, 0}};
    const double c[3] = {0.3, 1, -2};
    drape_context *ctx = test_context(1);
    drape_material material = drape_material_defaults();
    test_random r = {8};
    for (int32_t i = 0; i < 30; i++) {
        double R[9];
        test_mesh m = test_mesh_irregular(5, 4, 1, 0.7, &r);
        if (i < 3) memcpy(R, axes[i], sizeof R);
        else test_random_rotation(&r, R);
        test_move(m.vertices, m.rest, R, c, m.rest);
        free(m.uv), m.uv = NULL;
        drape_cloth *cloth = make_cloth(ctx, &m, &material);
        ASSERT_NEAR(drape_cloth_energy(cloth, m.rest), 0, 1e-20 * material.stretch[0]);
        ASSERT_NEAR(area_of(cloth), 0.7, 1e-12);
        drape_cloth_destroy(cloth);
        test_mesh_clear(&m);
    }
    drape_context_destroy(ctx);
}

/* Warp lies along the first of x, y, z that is not normal to the sheet; `warp` is where that is. */
static void check_warp(const double R[9], int32_t warp) {
    const double c[3] = {0, 0, 0};
    drape_context *ctx = test_context(1);
    test_random r = {10};
    test_mesh m = test_mesh_irregular(3, 3, 1, 1, &r);
    test_move(m.vertices, m.rest, R, c, m.rest);
    free(m.uv), m.uv = NULL;
    drape_cloth *cloth = make_cloth(ctx, &m, &(drape_material){.density = 1, .stretch = {100, 0}});
    double *x = dense_new(3 * (int64_t)m.vertices);
    for (int32_t i = 0; i < 3 * m.vertices; i++) x[i] = m.rest[i] * (i % 3 == warp ? 1.2 : 3);
    ASSERT_NEAR(drape_cloth_energy(cloth, x), 100.0 / 2 * 0.04, 1e-12);
    free(x);
    drape_cloth_destroy(cloth);
    test_mesh_clear(&m);
    drape_context_destroy(ctx);
}

static void test_warp_without_uv(void **state) {
    (void)state;
    check_warp((const double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, 0);  /* normal z */
    check_warp((const double[9]){0, 1, 0, -1, 0, 0, 0, 0, 1}, 0); /* the same, turned */
    check_warp((const double[9]){0, 1, 0, 0, 0, 1, 1, 0, 0}, 0);  /* normal y */
    check_warp((const double[9]){0, 0, 1, 1, 0, 0, 0, 1, 0}, 1);  /* normal x */
}

int main(void) {
    const struct CMUnitTest of_baraff_witkin[] = {
        cmocka_unit_test(test_masses),
        cmocka_unit_test(test_energy_of_homogeneous_states_is_exact_on_any_mesh),
        cmocka_unit_test(test_cylinder),
        cmocka_unit_test(test_narrow_strip),
        cmocka_unit_test(test_warp_without_uv),
    };
    const struct CMUnitTest of_all[] = {
        cmocka_unit_test(test_rest_shape_moved_rigidly_feels_nothing),
        cmocka_unit_test(test_rigid_velocity_is_not_damped),
        cmocka_unit_test(test_internal_forces_are_in_balance),
        cmocka_unit_test(test_energy_and_force_turn_with_the_cloth),
        cmocka_unit_test(test_gravity_and_vertex_forces),
        cmocka_unit_test(test_wind_on_a_flat_sheet),
        cmocka_unit_test(test_seams),
        cmocka_unit_test(test_flat_sheet_without_uv_rests_in_any_plane),
    };
    int of_one = cmocka_run_group_tests_name("cloth.invariance", of_baraff_witkin, NULL, NULL);
    if (of_one) return of_one;
    CRUMPLED_RUN("cloth.invariance", of_all);
}
