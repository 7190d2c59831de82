/* PLY and OBJ files that were written are read back: every bit of the positions, triangles and texture coordinates.
 */
#include "io/format_tools.h"
#include "io/mesh.h"
#include "support/frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum wanted { NO_UV, UV_OF_VERTICES, UV_OF_CORNERS } wanted;

static void assert_positions(const test_frames *t, const drape_i_mesh *m, bool single) {
    assert_int_equal(m->vertices, drape_cloth_vertices(t->cloth));
    assert_int_equal(m->triangles, drape_cloth_triangles(t->cloth));
    assert_memory_equal(m->triangle, drape_cloth_triangle(t->cloth), 3 * (size_t)m->triangles * sizeof(int32_t));
    for (int64_t i = 0; i < t->numbers; i++) {
        double want = single ? (double)(float)t->x[i] : t->x[i];
        assert_memory_equal(&m->position[i], &want, sizeof want);
    }
}

/* Whatever they are numbered by, each corner has its pair. */
static void assert_texture(const drape_animation *what, const drape_i_mesh *m, bool single) {
    int64_t corner = 0;
    for (int32_t p = 0; p < drape_cloth_pieces(what->cloth); p++) {
        drape_i_texture texture = drape_i_texture_of(what->pieces, p);
        for (int64_t i = 0; i < 3 * (int64_t)what->pieces[p].triangles; i++, corner++)
            for (int32_t k = 0; k < 2; k++) {
                double want = texture.uv[2 * texture.corner[i] + k];
                if (single) want = (double)(float)want;
                assert_true(m->uv[2 * m->uv_triangle[corner / 3][corner % 3] + k] == want);
            }
    }
}

static void assert_read_back(test_frames *t, const drape_animation *what, const char *ending, wanted uv) {
    drape_i_arena arena = {0};
    drape_i_mesh mesh;
    char name[32];
    bool single = strcmp(ending, ".ply") == 0;
    snprintf(name, sizeof name, "b%s", ending);
    test_frames_write(t, name, what, 3);
    for (int32_t f = 0; f < 3; f++) {
        snprintf(name, sizeof name, "b_%04d%s", f, ending);
        ASSERT_OK(t->ctx, drape_i_mesh_read(t->ctx, &arena, test_frames_path(t, name), NULL, &mesh));
        test_frames_fill(t, f);
        assert_positions(t, &mesh, single);
        assert_int_equal(mesh.uv != NULL, uv != NO_UV);
        if (uv != NO_UV) assert_texture(what, &mesh, single);
        if (single && uv == UV_OF_CORNERS) assert_int_equal(mesh.uv_vertices, 3 * mesh.triangles);
        if (uv == UV_OF_VERTICES) assert_int_equal(mesh.uv_vertices, mesh.vertices);
    }
    drape_i_arena_free(t->ctx, &arena);
}

static void without_texture_coordinates(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3); /* the last piece has none, so the file has none */
    assert_read_back(t, &what, ".ply", NO_UV);
    what = test_frames_animation(t, 0, 2);
    what.pieces = NULL;
    assert_read_back(t, &what, ".ply", NO_UV);
    assert_read_back(t, &what, ".obj", NO_UV);
}

static void with_texture_coordinates_of_vertices(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 1);
    assert_read_back(t, &what, ".ply", UV_OF_VERTICES);
    assert_read_back(t, &what, ".obj", UV_OF_VERTICES);
}

static void with_texture_coordinates_of_corners(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 2);
    assert_read_back(t, &what, ".ply", UV_OF_CORNERS);
    assert_read_back(t, &what, ".obj", UV_OF_CORNERS);
}

static void the_header_names_the_pieces(void **state) {
    test_frames *t = *state;
    drape_animation what = test_frames_animation(t, 0, 3);
    int64_t size;
    test_frames_write(t, "b.ply", &what, 1);
    char *data = (char *)test_frames_read(t, "b_0000.ply", &size);
    assert_true(strncmp(data, "ply\nformat binary_little_endian 1.0\n", 36) == 0);
    assert_non_null(strstr(data, "\ncomment piece 24 vertices from 0, 30 faces from 0: left \"one\"\n"));
    assert_non_null(strstr(data, "\ncomment piece 4 vertices from 39, 2 faces from 46: 3_\n"));
    assert_non_null(strstr(data, "\nproperty float nz\nelement face 48\n"));
    free(data);
}

/* A paraboloid's normals, to first order, and unit length everywhere. */
static void normals_are_those_of_the_surface(void **state) {
    test_frames *t = *state;
    test_mesh grid = test_mesh_grid(40, 40, 1, 1);
    drape_piece piece = test_mesh_piece(&grid);
    drape_cloth *cloth;
    ASSERT_OK(t->ctx, drape_cloth_create(t->ctx, &piece, 1, NULL, &cloth));
    double *x = calloc(3 * (size_t)grid.vertices, sizeof *x), *n = calloc(3 * (size_t)grid.vertices, sizeof *n);
    for (int32_t i = 0; i < grid.vertices; i++) {
        double u = grid.uv[2 * i] - 0.5, v = grid.uv[2 * i + 1] - 0.5;
        x[3 * i] = u, x[3 * i + 1] = v, x[3 * i + 2] = u * u - v * v;
    }
    drape_i_normals(cloth, x, n);
    for (int32_t i = 0; i < grid.vertices; i++) {
        double du = -2 * x[3 * i], dv = 2 * x[3 * i + 1], square = 0, along;
        for (int32_t k = 0; k < 3; k++) square += n[3 * i + k] * n[3 * i + k];
        along = n[3 * i] * du + n[3 * i + 1] * dv + n[3 * i + 2];
        ASSERT_NEAR(square, 1, 1e-14);
        ASSERT_NEAR(along * along / (1 + du * du + dv * dv), 1, 2e-3); /* the rim is one-sided */
    }
    memset(x, 0, 3 * (size_t)grid.vertices * sizeof *x);
    drape_i_normals(cloth, x, n);
    assert_true(n[0] == 0 && n[1] == 0 && n[2] == 1); /* all in one point: no direction, but a normal */
    free(x), free(n);
    drape_cloth_destroy(cloth);
    test_mesh_clear(&grid);
}

#define WITH_FRAMES(test) cmocka_unit_test_setup_teardown(test, test_frames_begin, test_frames_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FRAMES(without_texture_coordinates),         WITH_FRAMES(with_texture_coordinates_of_vertices),
        WITH_FRAMES(with_texture_coordinates_of_corners), WITH_FRAMES(the_header_names_the_pieces),
        WITH_FRAMES(normals_are_those_of_the_surface),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
