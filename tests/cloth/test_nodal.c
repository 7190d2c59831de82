/* The membrane `nodal`: exact for uniform strain on every mesh, hardly any strain where triangles lock, resistance to
 * every shape. */
#include "cloth/cloth.h"
#include "support/dense.h"
#include "support/meshes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static drape_cloth *make(drape_context *ctx, const test_mesh *m, const drape_material *material,
                         drape_membrane membrane) {
    drape_piece piece = test_mesh_piece(m);
    drape_cloth_settings settings = drape_cloth_defaults();
    drape_cloth *cloth;
    piece.material = *material;
    settings.membrane = membrane;
    ASSERT_OK(ctx, drape_cloth_create(ctx, &piece, 1, &settings, &cloth));
    return cloth;
}

static double energy_of(drape_context *ctx, const test_mesh *m, const drape_material *material,
                        drape_membrane membrane, const double *x) {
    drape_cloth *cloth = make(ctx, m, material, membrane);
    double energy = drape_cloth_energy(cloth, x);
    drape_cloth_destroy(cloth);
    return energy;
}

static test_mesh irregular(int32_t cells, double length) {
    test_random r = {7};
    return test_mesh_irregular(cells, cells, length, length, &r);
}

/* Patch test: a linear map of an irregular mesh has the energy of the sheet, and no force but at the border. */
static void test_uniform_strain(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    const drape_material material = {.density = 1, .stretch = {700, 400}, .shear = 50};
    const double a = 1.05, b = 0.97, g = 0.04, length = 1.2;
    test_mesh m = irregular(12, length);
    const int64_t n = 3 * (int64_t)m.vertices;
    double *x = dense_new(n), *v = dense_new(n), *f = dense_new(n), inside = 0, border = 0;
    for (int32_t i = 0; i < m.vertices; i++) {
        x[3 * i] = a * m.uv[2 * i] + g * m.uv[2 * i + 1];
        x[3 * i + 1] = 0.8 * b * m.uv[2 * i + 1], x[3 * i + 2] = 0.6 * b * m.uv[2 * i + 1];
    }
    const double cu = a - 1, cv = sqrt(g * g + b * b) - 1, cs = a * g;
    const double want = length * length / 2 * (700 * cu * cu + 400 * cv * cv + 50 * cs * cs);
    drape_cloth *cloth = make(ctx, &m, &material, DRAPE_MEMBRANE_NODAL);
    assert_non_null(cloth->membrane);
    ASSERT_NEAR(drape_cloth_energy(cloth, x) / want, 1, 1e-12);
    test_assemble(ctx, cloth, &(drape_forces){0}, &(drape_assembly){.x = x, .v = v, .force = f}, NULL);
    for (int32_t i = 0; i < m.vertices; i++) {
        const double *at = m.rest + 3 * i, depth = 0.26;
        bool far = fmin(fmin(at[0], at[1]), fmin(length - at[0], length - at[1])) > depth;
        double *where = far ? &inside : &border;
        for (int32_t k = 0; k < 3; k++) *where = fmax(*where, fabs(f[3 * i + k]));
    }
    printf("largest force inside over that at the border: %.1e\n", inside / border);
    assert_true(inside < 1e-12 * border);
    drape_cloth_destroy(cloth);
    free(x), free(v), free(f);
    test_mesh_clear(&m);
    drape_context_destroy(ctx);
}

/* Vertices on a cylinder whose axis is along the weft: threads of the weft are straight and as long as at rest, but
 * on tilted triangles they seem longer. Their energy is that error. */
static void test_cylinder(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    const drape_material material = {.density = 1, .stretch = {0, 1000}};
    test_mesh m = irregular(16, 1.6);
    double *x = dense_new(3 * (int64_t)m.vertices);
    for (int32_t again = 0; again < 2; again++) {
        const double radius = again ? 0.4 : 0.2; /* curvature times cell: 0.25, 0.5 */
        for (int32_t i = 0; i < m.vertices; i++) {
            x[3 * i] = radius * sin(m.uv[2 * i] / radius);
            x[3 * i + 1] = m.uv[2 * i + 1];
            x[3 * i + 2] = radius * cos(m.uv[2 * i] / radius);
        }
        double triangles = energy_of(ctx, &m, &material, DRAPE_MEMBRANE_BARAFF_WITKIN, x);
        double pairs = energy_of(ctx, &m, &material, DRAPE_MEMBRANE_PAIRED, x);
        double nodal = energy_of(ctx, &m, &material, DRAPE_MEMBRANE_NODAL, x);
        printf("radius %g m: energy of triangles %.3g J, of pairs %.2g and nodal %.2g of it\n", radius, triangles,
               pairs / triangles, nodal / triangles);
        assert_true(pairs < triangles);
        assert_true(nodal < 0.02 * triangles);
    }
    free(x);
    test_mesh_clear(&m);
    drape_context_destroy(ctx);
}

/* No shape without resistance: K at rest holds everything in the plane but the three rigid motions. */
static void test_every_shape_is_held(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    const drape_material material = {.density = 1, .stretch = {1, 1}, .shear = 0.1};
    test_mesh m = irregular(6, 0.6);
    const int32_t vertices = m.vertices, n = 2 * vertices;
    double *v = dense_new(3 * (int64_t)vertices), *K = dense_new(9 * (int64_t)vertices * vertices);
    double *plane = dense_new((int64_t)n * n), *eigen = dense_new(n);
    drape_cloth *cloth = make(ctx, &m, &material, DRAPE_MEMBRANE_NODAL);
    drape_assembler *assembler;
    drape_matrix *A;
    ASSERT_OK(ctx, drape_assembler_create(cloth, &(drape_forces){0}, &assembler));
    ASSERT_OK(ctx, drape_assembler_matrix(assembler, &A));
    ASSERT_OK(ctx, drape_assembler_run(assembler, &(drape_assembly){.x = m.rest, .v = v, .stiffness = 1}, A));
    drape_bsr3 view = drape_matrix_view(A);
    dense_from_bsr3(&view, K);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            plane[i * n + j] = K[(int64_t)(3 * (i / 2) + i % 2) * 3 * vertices + 3 * (j / 2) + j % 2];
    dense_eigen(n, plane, eigen, NULL);
    int32_t zero = 0;
    double least = HUGE_VAL;
    for (int32_t i = 0; i < n; i++) {
        if (fabs(eigen[i]) < 1e-9) zero++;
        else least = fmin(least, eigen[i]);
    }
    printf("%d motions without resistance, the weakest other has %.2g N/m\n", zero, least);
    assert_int_equal(zero, 3);
    assert_true(least > 0);
    drape_matrix_destroy(A);
    drape_assembler_destroy(assembler);
    drape_cloth_destroy(cloth);
    free(v), free(K), free(plane), free(eigen);
    test_mesh_clear(&m);
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniform_strain),
        cmocka_unit_test(test_cylinder),
        cmocka_unit_test(test_every_shape_is_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
