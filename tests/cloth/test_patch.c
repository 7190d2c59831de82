/* Bending by patches: exact for constant curvature, whatever the mesh, the axes and the seams of the pattern. */
#include "cloth/cloth.h"
#include "cloth/patch.h"
#include "support/dense.h"
#include "support/meshes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- meshes ---- */

/* Square cells with diagonals as on a chessboard: interior vertices of valence 4 and 8. */
static test_mesh alternating(int32_t n, double length) {
    test_mesh m = test_mesh_grid(n, n, length, length);
    for (int32_t j = 0, t = 0; j < n; j++)
        for (int32_t i = 0; i < n; i++, t += 2) {
            int32_t a = j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
            const int32_t one[6] = {a, b, d, a, d, c}, other[6] = {a, b, c, b, d, c};
            memcpy(m.triangle + 3 * t, (i + j) % 2 ? one : other, sizeof one);
        }
    return m;
}

typedef test_mesh (*mesh_fn)(void);
static test_mesh one_way(void) { return test_mesh_grid(12, 12, 1.2, 1.2); }
static test_mesh chessboard(void) { return alternating(12, 1.2); }
static test_mesh irregular(void) {
    test_random r = {3};
    return test_mesh_irregular(12, 12, 1.2, 1.2, &r);
}
static test_mesh flat_cells(void) { return test_mesh_grid(24, 8, 1.2, 1.2); }
static const mesh_fn meshes[] = {one_way, chessboard, irregular, flat_cells};
enum { MESHES = sizeof meshes / sizeof *meshes };

static drape_cloth *make(drape_context *ctx, const drape_piece *piece) {
    drape_cloth_settings settings = drape_cloth_defaults();
    drape_cloth *cloth;
    settings.bending = DRAPE_BENDING_PATCH;
    ASSERT_OK(ctx, drape_cloth_create(ctx, piece, 1, &settings, &cloth));
    return cloth;
}

/* z = k_u u^2/2 + k_v v^2/2 + k_uv u v over the material coordinates, which are the positions in the plane. */
static double *bent(const test_mesh *m, const double k[3]) {
    double *x = dense_new(3 * (int64_t)m->vertices);
    for (int32_t i = 0; i < m->vertices; i++) {
        double u = m->uv[2 * i], v = m->uv[2 * i + 1];
        x[3 * i] = m->rest[3 * i], x[3 * i + 1] = m->rest[3 * i + 1];
        x[3 * i + 2] = k[0] * u * u / 2 + k[1] * v * v / 2 + k[2] * u * v;
    }
    return x;
}

static void forces_at(drape_context *ctx, drape_cloth *cloth, const double *x, double *f) {
    double *v = dense_new(3 * (int64_t)drape_cloth_vertices(cloth));
    test_assemble(ctx, cloth, &(drape_forces){0}, &(drape_assembly){.x = x, .v = v, .force = f}, NULL);
    free(v);
}

/* ---- tests ---- */

/* Points of a ring of `n` around (0, 0), not regular, some of them twice as far away. */
static void test_fit_is_exact_for_quadratic_functions(void **state) {
    (void)state;
    enum { MOST = 12 };
    test_random r = {4};
    for (int32_t n = 6; n <= MOST; n++)
        for (int32_t again = 0; again < 20; again++) {
            double y[2 * MOST] = {0}, C[3 * MOST], R[MOST * MOST], work[9 * MOST], h, f[MOST], left = 0;
            for (int32_t k = 1; k < n; k++) {
                double angle = 6.283185307179586 * (k + test_random_between(&r, -0.2, 0.2)) / (n - 1);
                double radius = 0.01 * (k % 2 + test_random_between(&r, 0.7, 1.3));
                y[2 * k] = 0.5 + radius * cos(angle), y[2 * k + 1] = -0.3 + radius * sin(angle);
            }
            y[0] = 0.5, y[1] = -0.3;
            double c[6];
            for (int32_t k = 0; k < 6; k++) c[k] = test_random_between(&r, -1, 1);
            for (int32_t k = 0; k < n; k++) {
                double a = y[2 * k], b = y[2 * k + 1];
                f[k] = c[0] + c[1] * a + c[2] * b + c[3] * a * a / 2 + c[4] * b * b / 2 + c[5] * a * b;
            }
            if (drape_i_patch_fit(n, y, C, R, &h, work) < 0.1) continue;
            for (int32_t i = 0; i < 3; i++) {
                double second = 0;
                for (int32_t k = 0; k < n; k++) second += C[i * n + k] * (f[k] - f[0]);
                ASSERT_NEAR(second, c[3 + i], 1e-10);
            }
            for (int32_t i = 0; i < n; i++) {
                double sum = 0;
                for (int32_t k = 0; k < n; k++) sum += R[i * n + k] * (f[k] - f[0]);
                left = fmax(left, fabs(sum));
            }
            ASSERT_NEAR(left, 0, 1e-14);
        }
}

/* Cylinders in several directions and saddles. The energy is that of the area in which the curvature is determined,
 * so it lies between that of the interior vertices and that of all. On a grid there are no forces but near the
 * border. */
static void test_constant_curvature(void **state) {
    (void)state;
    static const double k[][3] = {{1, 0, 0}, {0, 1, 0}, {0.25, 0.75, 0.4330127018922193}, {1, -1, 0}, {0, 0, 1}};
    drape_context *ctx = test_context(1);
    for (int32_t m = 0; m < MESHES; m++)
        for (size_t s = 0; s < sizeof k / sizeof *k; s++) {
            test_mesh mesh = meshes[m]();
            drape_piece piece = test_mesh_piece(&mesh);
            piece.material = (drape_material){.density = 1, .bend = 2};
            drape_cloth *cloth = make(ctx, &piece);
            assert_non_null(cloth->bending);
            double *x = bent(&mesh, k[s]), *f = dense_new(3 * (int64_t)mesh.vertices), inside = 0, border = 0;
            forces_at(ctx, cloth, x, f);
            for (int32_t i = 0; i < mesh.vertices; i++) {
                const double *at = mesh.rest + 3 * i, depth = 0.46;
                bool far = fmin(fmin(at[0], at[1]), fmin(1.2 - at[0], 1.2 - at[1])) > depth;
                double *where = far ? &inside : &border;
                *where = fmax(*where, fabs(f[3 * i + 2]));
            }
            if (meshes[m] == one_way || meshes[m] == flat_cells) ASSERT_NEAR(inside / border, 0, 1e-10);
            double square = k[s][0] * k[s][0] + k[s][1] * k[s][1] + 2 * k[s][2] * k[s][2];
            double energy = drape_cloth_energy(cloth, x) / (2.0 / 2 * square), inner = 0;
            for (int32_t i = 0; i < mesh.vertices; i++) {
                const double *at = mesh.rest + 3 * i, e = 1e-9;
                if (at[0] > e && at[1] > e && at[0] < 1.2 - e && at[1] < 1.2 - e) inner += drape_cloth_area(cloth)[i];
            }
            assert_true(energy > inner * (1 - 1e-10) && energy < 1.44 * (1 + 1e-10));
            free(x), free(f);
            drape_cloth_destroy(cloth);
            test_mesh_clear(&mesh);
        }
    drape_context_destroy(ctx);
}

/* A vertex with its neighbours; returns how many. */
static int32_t ring_of(const test_mesh *m, int32_t vertex, int32_t *nodes) {
    int32_t count = 1;
    nodes[0] = vertex;
    for (int32_t t = 0; t < m->triangles; t++) {
        const int32_t *c = m->triangle + 3 * t;
        if (c[0] != vertex && c[1] != vertex && c[2] != vertex) continue;
        for (int32_t k = 0; k < 3; k++) {
            int32_t i = 0;
            while (i < count && nodes[i] != c[k]) i++;
            if (i == count) nodes[count++] = c[k];
        }
    }
    return count;
}

/* Energy of a vertex of the border, per area and rigidity, from the fit to it and its neighbours. */
static double border_energy(const test_mesh *m, int32_t vertex, const double *x) {
    enum { MOST = 24 };
    int32_t nodes[MOST], n = ring_of(m, vertex, nodes);
    double y[2 * MOST], C[3 * MOST], R[MOST * MOST], work[9 * MOST], h, second[3] = {0}, left = 0;
    assert_true(n <= MOST);
    for (int32_t k = 0; k < n; k++)
        for (int32_t a = 0; a < 2; a++) y[2 * k + a] = m->uv[2 * nodes[k] + a];
    drape_i_patch_fit(n, y, C, R, &h, work);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t a = 0; a < 3; a++) second[a] += C[a * n + i] * x[3 * nodes[i] + 2];
        for (int32_t j = 0; j < n; j++) left += x[3 * nodes[i] + 2] * R[i * n + j] * x[3 * nodes[j] + 2];
    }
    const double stable = 25; /* STABLE of patch.c */
    return (second[0] * second[0] + second[1] * second[1] + 2 * second[2] * second[2] + stable * left / pow(h, 4)) /
           2;
}

/* The patch test: cylinders and saddles have their exact energy at the interior vertices of every mesh. */
static void test_interior_energy_is_exact(void **state) {
    (void)state;
    static const double k[][3] = {{1, 0, 0}, {0, 1, 0}, {0.25, 0.75, 0.4330127018922193}, {1, -1, 0}, {0, 0, 1}};
    drape_context *ctx = test_context(1);
    for (int32_t m = 0; m < MESHES; m++)
        for (size_t s = 0; s < sizeof k / sizeof *k; s++) {
            test_mesh mesh = meshes[m]();
            drape_piece piece = test_mesh_piece(&mesh);
            piece.material = (drape_material){.density = 1, .bend = 2};
            drape_cloth *cloth = make(ctx, &piece);
            double *x = bent(&mesh, k[s]), energy = drape_cloth_energy(cloth, x), area = 0;
            for (int32_t i = 0; i < mesh.vertices; i++) {
                const double *at = mesh.rest + 3 * i, e = 1e-9, own = drape_cloth_area(cloth)[i];
                if (at[0] > e && at[1] > e && at[0] < 1.2 - e && at[1] < 1.2 - e) area += own;
                else energy -= 2 * own * border_energy(&mesh, i, x);
            }
            double square = k[s][0] * k[s][0] + k[s][1] * k[s][1] + 2 * k[s][2] * k[s][2];
            ASSERT_NEAR(energy / (square * area), 1, 1e-10);
            free(x);
            drape_cloth_destroy(cloth);
            test_mesh_clear(&mesh);
        }
    drape_context_destroy(ctx);
}

/* On a grid the vertices of the ends x = 0 and x = L do not see the bending across them, and all others see it. */
static void test_energy_of_bent_grids(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    for (int32_t turned = 0; turned < 2; turned++) {
        test_mesh mesh = test_mesh_grid(12, 7, 1.2, 0.7);
        drape_piece piece = test_mesh_piece(&mesh);
        piece.material = (drape_material){.density = 1, .bend = 2, .bend_weft = 3, .bend_twist = 5};
        drape_cloth *cloth = make(ctx, &piece);
        const double k[3] = {turned ? 0 : 0.7, turned ? 0.7 : 0, 0};
        double *x = bent(&mesh, k), area = turned ? 1.2 * 0.6 : 1.1 * 0.7;
        ASSERT_NEAR(drape_cloth_energy(cloth, x) / ((turned ? 3.0 : 2.0) / 2 * 0.49 * area), 1, 1e-10);
        free(x);
        drape_cloth_destroy(cloth);
        test_mesh_clear(&mesh);
    }
    drape_context_destroy(ctx);
}

/* With the same rigidity in all directions it does not matter how warp and weft lie. */
static void test_isotropic_energy_does_not_depend_on_the_axes(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    double energy[4];
    for (int32_t i = 0; i < 4; i++) {
        test_mesh mesh = irregular();
        const double k[3] = {1, 0.3, 0.4};
        double *x = bent(&mesh, k);
        test_mesh_turn_uv(&mesh, 0.7 * i);
        drape_piece piece = test_mesh_piece(&mesh);
        if (i == 3) piece.uv = NULL;
        piece.material = (drape_material){.density = 1, .bend = 2};
        drape_cloth *cloth = make(ctx, &piece);
        energy[i] = drape_cloth_energy(cloth, x);
        ASSERT_NEAR(energy[i] / energy[0], 1, 1e-10);
        free(x);
        drape_cloth_destroy(cloth);
        test_mesh_clear(&mesh);
    }
    drape_context_destroy(ctx);
}

/* A linear map has no second derivatives: no energy and no force, however stretched. */
static void test_linear_maps_do_not_bend(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    test_mesh mesh = irregular();
    drape_piece piece = test_mesh_piece(&mesh);
    piece.material = (drape_material){.density = 1, .bend = 2};
    drape_cloth *cloth = make(ctx, &piece);
    double *x = dense_new(3 * (int64_t)mesh.vertices), *f = dense_new(3 * (int64_t)mesh.vertices);
    for (int32_t i = 0; i < mesh.vertices; i++) {
        double u = mesh.uv[2 * i], v = mesh.uv[2 * i + 1];
        x[3 * i] = 100 + 2 * u - v, x[3 * i + 1] = 0.3 * u + v, x[3 * i + 2] = -50 + u + 3 * v;
    }
    forces_at(ctx, cloth, x, f);
    for (int32_t i = 0; i < 3 * mesh.vertices; i++) ASSERT_NEAR(f[i], 0, 1e-7); /* k is up to 1e6 N/m, x 100 m */
    free(x), free(f);
    drape_cloth_destroy(cloth);
    test_mesh_clear(&mesh);
    drape_context_destroy(ctx);
}

static void test_curved_pieces_and_hinge_stiffness_keep_hinges(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    for (int32_t curved = 0; curved < 2; curved++) {
        test_mesh mesh = one_way();
        for (int32_t i = 0; i < mesh.vertices && curved; i++) mesh.rest[3 * i + 2] = 0.2 * sin(3 * mesh.rest[3 * i]);
        drape_piece piece = test_mesh_piece(&mesh);
        piece.material.bend_hinge = curved ? 0 : 1e-3;
        drape_cloth *cloth = make(ctx, &piece);
        assert_null(cloth->bending);
        assert_int_equal(cloth->term_count, 2);
        assert_int_equal(cloth->terms[1].elements.count, drape_cloth_hinges(cloth));
        drape_cloth_destroy(cloth);
        test_mesh_clear(&mesh);
    }
    drape_context_destroy(ctx);
}

/* A pattern of two halves: the hinges of the seam stay, and no patch reaches over it. */
static void test_seams_are_hinges(void **state) {
    (void)state;
    enum { N = 8 };
    drape_context *ctx = test_context(1);
    test_mesh mesh = test_mesh_grid(N, N, 0.8, 0.8);
    double *uv = dense_new(4 * (int64_t)mesh.vertices);
    int32_t *corner = calloc(3 * (size_t)mesh.triangles, sizeof *corner);
    for (int32_t i = 0; i < 2 * mesh.vertices; i++) { /* the second half lies 5 m away, upside down */
        int32_t v = i % mesh.vertices;
        bool second = i >= mesh.vertices;
        uv[2 * i] = second ? 5 - mesh.uv[2 * v] : mesh.uv[2 * v], uv[2 * i + 1] = mesh.uv[2 * v + 1];
    }
    for (int32_t t = 0; t < mesh.triangles; t++) {
        double middle = 0;
        for (int32_t k = 0; k < 3; k++) middle += mesh.rest[3 * mesh.triangle[3 * t + k]] / 3;
        for (int32_t k = 0; k < 3; k++)
            corner[3 * t + k] = mesh.triangle[3 * t + k] + (middle > 0.4 ? mesh.vertices : 0);
    }
    drape_piece piece = test_mesh_piece(&mesh);
    piece.uv = uv, piece.uv_triangle = corner, piece.uv_vertices = 2 * mesh.vertices;
    drape_cloth *cloth = make(ctx, &piece);
    assert_non_null(cloth->bending);
    assert_int_equal(cloth->terms[1].elements.count, N);
    for (int32_t i = 0; i < mesh.vertices; i++)
        for (int64_t e = cloth->bending->rowptr[i]; e < cloth->bending->rowptr[i + 1]; e++) {
            double a = mesh.rest[3 * i] - 0.4, b = mesh.rest[3 * cloth->bending->col[e]] - 0.4;
            assert_true(a * b > -1e-9);
        }
    drape_cloth_destroy(cloth);
    free(uv), free(corner);
    test_mesh_clear(&mesh);
    drape_context_destroy(ctx);
}

/* A hub of many triangles, more than a patch takes. */
static void test_hub(void **state) {
    (void)state;
    enum { RIM = 200 };
    drape_context *ctx = test_context(1);
    double rest[3 * (RIM + 1)] = {0};
    int32_t triangle[3 * RIM];
    for (int32_t i = 0; i < RIM; i++) {
        rest[3 * (i + 1)] = cos(i * 6.283185307179586 / RIM),
                      rest[3 * (i + 1) + 1] = sin(i * 6.283185307179586 / RIM);
        triangle[3 * i] = 0, triangle[3 * i + 1] = 1 + i, triangle[3 * i + 2] = 1 + (i + 1) % RIM;
    }
    drape_piece piece = {.vertices = RIM + 1, .rest = rest, .triangles = RIM, .triangle = triangle};
    piece.material = drape_material_defaults();
    drape_cloth *cloth = make(ctx, &piece);
    assert_true(drape_cloth_energy(cloth, rest) < 1e-12);
    drape_cloth_destroy(cloth);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fit_is_exact_for_quadratic_functions),
        cmocka_unit_test(test_constant_curvature),
        cmocka_unit_test(test_interior_energy_is_exact),
        cmocka_unit_test(test_energy_of_bent_grids),
        cmocka_unit_test(test_isotropic_energy_does_not_depend_on_the_axes),
        cmocka_unit_test(test_linear_maps_do_not_bend),
        cmocka_unit_test(test_curved_pieces_and_hinge_stiffness_keep_hinges),
        cmocka_unit_test(test_seams_are_hinges),
        cmocka_unit_test(test_hub),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
