#include "support/meshes.h"

#include "support/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void place_vertices(test_mesh *m, int32_t nx, int32_t ny, double width, double height) {
    for (int32_t j = 0, v = 0; j <= ny; j++)
        for (int32_t i = 0; i <= nx; i++, v++) {
            m->rest[3 * v] = m->uv[2 * v] = width * i / nx;
            m->rest[3 * v + 1] = m->uv[2 * v + 1] = height * j / ny;
        }
}

/* The two triangles of the cell whose lower left corner is `corner`. */
static void cut_cell(int32_t corner, int32_t nx, bool other_way, int32_t *t) {
    int32_t a = corner, b = a + 1, c = a + nx + 1, d = c + 1;
    const int32_t one[6] = {a, b, d, a, d, c}, other[6] = {a, b, c, b, d, c};
    memcpy(t, other_way ? other : one, sizeof one);
}

test_mesh test_mesh_grid(int32_t nx, int32_t ny, double width, double height) {
    test_mesh m = {.vertices = (nx + 1) * (ny + 1), .triangles = 2 * nx * ny};
    m.rest = dense_new(3 * (int64_t)m.vertices);
    m.uv = dense_new(2 * (int64_t)m.vertices);
    m.triangle = calloc(3 * (size_t)m.triangles, sizeof *m.triangle);
    if (!m.triangle) abort();
    place_vertices(&m, nx, ny, width, height);
    for (int32_t j = 0, cell = 0; j < ny; j++)
        for (int32_t i = 0; i < nx; i++, cell++) cut_cell(j * (nx + 1) + i, nx, false, m.triangle + 6 * cell);
    return m;
}

static void move_vertices(test_mesh *m, int32_t nx, int32_t ny, double width, double height, test_random *r) {
    for (int32_t j = 0, v = 0; j <= ny; j++)
        for (int32_t i = 0; i <= nx; i++, v++) {
            double dx = test_random_between(r, -0.25, 0.25) * width / nx;
            double dy = test_random_between(r, -0.25, 0.25) * height / ny;
            if (i > 0 && i < nx) m->uv[2 * v] = m->rest[3 * v] += dx;
            if (j > 0 && j < ny) m->uv[2 * v + 1] = m->rest[3 * v + 1] += dy;
        }
}

static void swap_triangles(int32_t *a, int32_t *b) {
    int32_t t[3];
    memcpy(t, a, sizeof t);
    memmove(a, b, sizeof t);
    memcpy(b, t, sizeof t);
}

static void shuffle_triangles(test_mesh *m, test_random *r) {
    for (int32_t t = m->triangles - 1; t > 0; t--)
        swap_triangles(m->triangle + 3 * t, m->triangle + 3 * test_random_below(r, t + 1));
    for (int32_t t = 0; t < m->triangles; t++) {
        int32_t *c = m->triangle + 3 * t, from = test_random_below(r, 3), old[3];
        memcpy(old, c, sizeof old);
        int32_t step = 1 + test_random_below(r, 2);
        for (int32_t k = 0; k < 3; k++) c[k] = old[(from + k * step) % 3];
    }
}

test_mesh test_mesh_irregular(int32_t nx, int32_t ny, double width, double height, test_random *r) {
    test_mesh m = test_mesh_grid(nx, ny, width, height);
    move_vertices(&m, nx, ny, width, height, r);
    for (int32_t j = 0, cell = 0; j < ny; j++)
        for (int32_t i = 0; i < nx; i++, cell++)
            cut_cell(j * (nx + 1) + i, nx, test_random_below(r, 2), m.triangle + 6 * cell);
    shuffle_triangles(&m, r);
    return m;
}

void test_mesh_clear(test_mesh *m) {
    free(m->rest);
    free(m->uv);
    free(m->triangle);
    *m = (test_mesh){0};
}

void test_mesh_turn_uv(test_mesh *m, double angle) {
    for (int32_t i = 0; i < m->vertices; i++) {
        double u = m->uv[2 * i], v = m->uv[2 * i + 1];
        m->uv[2 * i] = cos(angle) * u - sin(angle) * v;
        m->uv[2 * i + 1] = sin(angle) * u + cos(angle) * v;
    }
}

drape_piece test_mesh_piece(const test_mesh *m) {
    return (drape_piece){.vertices = m->vertices,
                         .rest = m->rest,
                         .triangles = m->triangles,
                         .triangle = m->triangle,
                         .uv = m->uv,
                         .material = drape_material_defaults()};
}

void test_random_rotation(test_random *r, double R[9]) {
    double q[4], length;
    do {
        for (int i = 0; i < 4; i++) q[i] = test_random_between(r, -1, 1);
        length = dense_norm(4, q);
    } while (length < 0.1 || length > 1);
    for (int i = 0; i < 4; i++) q[i] /= length;
    double w = q[0], x = q[1], y = q[2], z = q[3];
    const double turn[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                            2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                            2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(R, turn, sizeof turn);
}

void test_move(int32_t count, const double *x, const double R[9], const double c[3], double *to) {
    for (int64_t i = 0; i < 3 * (int64_t)count; i += 3) {
        double a = x[i], b = x[i + 1], d = x[i + 2];
        for (int32_t k = 0; k < 3; k++) to[i + k] = R[3 * k] * a + R[3 * k + 1] * b + R[3 * k + 2] * d + c[k];
    }
}

void test_assemble(drape_context *ctx, const drape_cloth *cloth, const drape_forces *forces,
                   const drape_assembly *what, drape_matrix **A) {
    drape_assembler *assembler;
    ASSERT_OK(ctx, drape_assembler_create(cloth, forces, &assembler));
    if (A) ASSERT_OK(ctx, drape_assembler_matrix(assembler, A));
    ASSERT_OK(ctx, drape_assembler_run(assembler, what, A ? *A : NULL));
    drape_assembler_destroy(assembler);
}
