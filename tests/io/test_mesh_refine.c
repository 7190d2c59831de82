/* Refined meshes: the same surface and pattern, groups and pins that follow, numbers that stay. */
#include "drape/io.h"
#include "io/mesh.h"
#include "support/folder.h"
#include "support/meshes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Two panels that meet at an edge, which is a seam of the pattern: six pattern vertices for four in space. */
static const char two_panels[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 1\n"
                                 "vt 0 0\nvt 1 0\nvt 0 1\nvt 2 0\nvt 2 1.5\nvt 3 0\n"
                                 "g left\nf 1/1 2/2 3/3\ng right\nf 2/4 4/6 3/5\n";

typedef struct refining {
    drape_context *ctx;
    drape_i_arena arena;
    drape_i_mesh mesh;
} refining;

static void refine(refining *r, int32_t parts) {
    *r = (refining){.ctx = test_context(1)};
    ASSERT_OK(r->ctx, drape_i_obj_parse(r->ctx, &r->arena, "two.obj", two_panels, (int64_t)strlen(two_panels), NULL,
                                        &r->mesh));
    ASSERT_OK(r->ctx, drape_i_mesh_refine(r->ctx, &r->arena, parts, 1000000, &r->mesh));
}

static void refine_end(refining *r) {
    drape_i_arena_free(r->ctx, &r->arena);
    assert_int_equal(drape_context_bytes(r->ctx), 0);
    drape_context_destroy(r->ctx);
}

static double area(const double *x, int32_t dimension, const int32_t *c) {
    double e[2][3] = {{0}}, n[3];
    for (int32_t k = 0; k < dimension; k++)
        for (int32_t j = 0; j < 2; j++)
            e[j][k] = x[(int64_t)dimension * c[j + 1] + k] - x[(int64_t)dimension * c[0] + k];
    for (int32_t k = 0; k < 3; k++)
        n[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
    return 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

/* A finer mesh has n^2 triangles for one, all of the same size, in space and in the pattern. Euler's number is that
 * of a disk in space, and of two disks in the pattern. */
static void test_divides_evenly(void **state) {
    (void)state;
    for (int32_t n = 1; n <= 7; n++) {
        refining r;
        refine(&r, n);
        const drape_i_mesh *m = &r.mesh;
        assert_int_equal(m->triangles, 2 * n * n);
        assert_int_equal(m->vertices, (n + 1) * (n + 1));
        assert_int_equal(m->uv_vertices, (n + 1) * (n + 2));
        for (int32_t t = 0; t < m->triangles; t++) {
            bool left = t < n * n;
            assert_true(fabs(area(m->position, 3, m->triangle[t]) * n * n - (left ? 0.5 : sqrt(3.0) / 2)) < 1e-12);
            assert_true(fabs(area(m->uv, 2, m->uv_triangle[t]) * n * n - (left ? 0.5 : 0.75)) < 1e-12);
        }
        refine_end(&r);
    }
}

/* No two vertices are one, and every vertex has a triangle. */
static void test_shares_edges(void **state) {
    (void)state;
    refining r;
    refine(&r, 5);
    const drape_i_mesh *m = &r.mesh;
    bool used[36] = {0};
    for (int32_t t = 0; t < m->triangles; t++)
        for (int32_t k = 0; k < 3; k++) used[m->triangle[t][k]] = true;
    for (int32_t v = 0; v < m->vertices; v++) {
        assert_true(used[v]);
        for (int32_t w = 0; w < v; w++)
            assert_true(memcmp(m->position + 3 * v, m->position + 3 * w, 3 * sizeof(double)) != 0);
    }
    refine_end(&r);
}

static void test_groups_follow(void **state) {
    (void)state;
    refining r;
    refine(&r, 4);
    assert_int_equal(r.mesh.groups, 2);
    for (int32_t g = 0; g < 2; g++) {
        const drape_i_mesh_group *group = &r.mesh.group[g];
        assert_int_equal(group->triangles, 16);
        assert_int_equal(group->vertices, 15);
        for (int32_t i = 0; i < group->triangles; i++) assert_int_equal(group->triangle[i], 16 * g + i);
        for (int32_t i = 1; i < group->vertices; i++) assert_true(group->vertex[i] > group->vertex[i - 1]);
    }
    refine_end(&r);
}

static void test_refuses_too_many(void **state) {
    (void)state;
    refining r = {.ctx = test_context(1)};
    ASSERT_OK(r.ctx,
              drape_i_obj_parse(r.ctx, &r.arena, "two.obj", two_panels, (int64_t)strlen(two_panels), NULL, &r.mesh));
    assert_int_equal(drape_i_mesh_refine(r.ctx, &r.arena, 10, 120, &r.mesh), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(r.ctx), "121 vertices"));
    refine_end(&r);
}

/* ---- scenes ---- */

static drape_loaded_scene *load(drape_context *ctx, const char *folder, const char *piece) {
    char text[2048], path[600];
    snprintf(path, sizeof path, "%s/two.obj", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(two_panels, f);
    fclose(f);
    snprintf(path, sizeof path, "%s/scene.yaml", folder);
    snprintf(text, sizeof text, "drape: 1\ncloth:\n  - mesh: two.obj\n    %s\n", piece);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    drape_loaded_scene *loaded;
    drape_scene_options options = {0};
    drape_status status = drape_scene_load(ctx, path, &options, &loaded);
    if (status) return NULL;
    return loaded;
}

/* The mean edge is about 1.3 m: four parts. A pin at two file vertices holds the edge between them, too. */
static void test_resolution_of_a_scene(void **state) {
    (void)state;
    char folder[] = "/tmp/drape-refine-XXXXXX";
    assert_non_null(mkdtemp(folder));
    drape_context *ctx = test_context(1);
    drape_loaded_scene *loaded = load(ctx, folder,
                                      "resolution: 35 cm\n    rest_angles: flat\n"
                                      "    pins: [{vertices: [0, 1]}, {group: right}, {vertices: [3]}]");
    assert_non_null(loaded);
    const drape_scene *scene = drape_loaded_scene_data(loaded);
    assert_int_equal(scene->pieces[0].vertices, 25);
    assert_true(scene->pieces[0].flat);
    assert_int_equal(scene->pins[0].count, 5);
    for (int32_t i = 0; i < 5; i++) {
        const double *x = scene->pieces[0].rest + 3 * scene->pins[0].vertices[i];
        assert_true(x[1] == 0 && x[2] == 0);
    }
    assert_int_equal(scene->pins[1].count, 15);
    assert_int_equal(scene->pins[2].count, 1);
    drape_loaded_scene_destroy(loaded);
    assert_null(load(ctx, folder, "resolution: 1 um"));
    assert_non_null(strstr(drape_message(ctx), "more than 256 parts"));
    assert_null(load(ctx, folder, "rest_angles: round"));
    assert_non_null(strstr(drape_message(ctx), "it must be flat or shape"));
    drape_context_destroy(ctx);
    test_folder_entries(folder, true);
    rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_divides_evenly),        cmocka_unit_test(test_shares_edges),
        cmocka_unit_test(test_groups_follow),         cmocka_unit_test(test_refuses_too_many),
        cmocka_unit_test(test_resolution_of_a_scene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
