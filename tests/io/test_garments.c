/* Garments from patterns: panels, seams that are welded, darts, bands and elastics; and what is refused, with its
 * words. */
#include "drape/io.h"
#include "drape/sim.h"
#include "support/folder.h"
#include "support/meshes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/drape-garments-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void **state) {
    (void)state;
    test_folder_entries(folder, true);
    return rmdir(folder);
}

static void write_file(const char *name, const char *text) {
    FILE *f = fopen(test_path_in(folder, name), "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static drape_loaded_scene *load(drape_context *ctx, const char *cloth) {
    char text[4096];
    drape_loaded_scene *loaded = NULL;
    drape_scene_options options = {0};
    snprintf(text, sizeof text, "drape: 1\ncloth:\n%s", cloth);
    write_file("scene.yaml", text);
    return drape_scene_load(ctx, test_path_in(folder, "scene.yaml"), &options, &loaded) ? NULL : loaded;
}

static drape_loaded_scene *load_good(drape_context *ctx, const char *cloth) {
    drape_loaded_scene *loaded = load(ctx, cloth);
    if (!loaded) fail_msg("%s", drape_message(ctx));
    return loaded;
}

/* The scene is refused, with this in the message, and the place of it. */
static void assert_refused(const char *cloth, const char *want) {
    drape_context *ctx = test_context(1);
    drape_loaded_scene *loaded = load(ctx, cloth);
    assert_null(loaded);
    if (!strstr(drape_message(ctx), want)) fail_msg("%s: expected \"%s\"", drape_message(ctx), want);
    assert_non_null(strstr(drape_message(ctx), "scene.yaml:"));
    drape_context_destroy(ctx);
}

/* Boundary edges: each of one triangle. */
static int32_t boundary_edges(const drape_piece *p) {
    int32_t count = 0;
    for (int32_t t = 0; t < p->triangles; t++)
        for (int32_t k = 0; k < 3; k++) {
            int32_t a = p->triangle[3 * t + k], b = p->triangle[3 * t + (k + 1) % 3], shared = 0;
            for (int32_t u = 0; u < p->triangles; u++) {
                const int32_t *c = p->triangle + 3 * u;
                bool has_a = c[0] == a || c[1] == a || c[2] == a, has_b = c[0] == b || c[1] == b || c[2] == b;
                shared += has_a && has_b;
            }
            assert_true(shared <= 2);
            count += shared == 1;
        }
    return count;
}

static double pattern_area(const drape_piece *p) {
    double sum = 0;
    for (int32_t t = 0; t < p->triangles; t++) {
        const int32_t *c = p->uv_triangle + 3 * t;
        const double *a = p->uv + 2 * c[0], *b = p->uv + 2 * c[1], *d = p->uv + 2 * c[2];
        sum += 0.5 * fabs((b[0] - a[0]) * (d[1] - a[1]) - (b[1] - a[1]) * (d[0] - a[0]));
    }
    return sum;
}

/* Two sheets face to face, 1 cm apart, both upright. */
#define FRONT_AND_BACK(right)                                                                                        \
    "  - name: bag\n"                                                                                                \
    "    panels:\n"                                                                                                  \
    "      - {name: front, grid: {width: 40 cm, height: 60 cm, resolution: [5, 7]}}\n"                               \
    "      - {name: back, grid: {width: 40 cm, height: 60 cm, resolution: " right "}, place: {translate: [0, 0, 1 "  \
    "cm]}}\n"

#define SIDES                                                                                                        \
    "    seams:\n"                                                                                                   \
    "      - join: [{panel: front, where: left-edge}, {panel: back, where: left-edge}]\n"                            \
    "      - join: [{panel: front, where: right-edge}, {panel: back, where: right-edge}]\n"

/* A tube: the sides are gone from the boundary, welded vertices lie half way, the pattern is as large as before. */
static void test_welds_two_panels(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_loaded_scene *loaded = load_good(ctx, FRONT_AND_BACK("[5, 7]") SIDES);
    const drape_piece *p = &drape_loaded_scene_data(loaded)->pieces[0];
    assert_int_equal(p->vertices, 2 * 35 - 2 * 7);
    assert_int_equal(boundary_edges(p), 4 * 4);
    assert_true(fabs(pattern_area(p) - 2 * 0.24) < 1e-12);
    int32_t between = 0;
    for (int32_t v = 0; v < p->vertices; v++) between += p->rest[3 * v + 2] == 0.005;
    assert_int_equal(between, 14);
    drape_loaded_scene_destroy(loaded);
    drape_context_destroy(ctx);
}

/* Panels of different resolution: each gets what the other has, unless they are nearly at the same place. */
static void test_welds_unequal_panels(void **state) {
    (void)state;
    static const char *const other[] = {FRONT_AND_BACK("[4, 5]") SIDES, FRONT_AND_BACK("[9, 13]") SIDES,
                                        FRONT_AND_BACK("[3, 2]") SIDES, FRONT_AND_BACK("[6, 20]") SIDES};
    static const int32_t across[] = {4, 9, 3, 6};
    for (int32_t i = 0; i < 4; i++) {
        drape_context *ctx = test_context(1);
        drape_loaded_scene *loaded = load_good(ctx, other[i]);
        const drape_scene *scene = drape_loaded_scene_data(loaded);
        const drape_piece *p = &scene->pieces[0];
        assert_int_equal(boundary_edges(p), 2 * (4 + across[i] - 1));
        assert_true(fabs(pattern_area(p) - 2 * 0.24) < 1e-12);
        drape_sim *sim;
        ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim)); /* no triangle without an area, every vertex has a mass */
        drape_sim_destroy(sim);
        drape_loaded_scene_destroy(loaded);
        drape_context_destroy(ctx);
    }
}

/* A sheet with a notch of 20 degrees becomes a cone. */
static const char wedge[] = "v 0 0 0\nv 1 0 0\nv 0.5 0.9 0\nv -0.5 0.9 0\nv -1 0 0\nv -0.17 -0.98 0\nv 0.17 -0.98 0\n"
                            "vt 0 0\nvt 1 0\nvt 0.5 0.9\nvt -0.5 0.9\nvt -1 0\nvt -0.17 -0.98\nvt 0.17 -0.98\n"
                            "f 1/1 2/2 3/3\nf 1/1 3/3 4/4\nf 1/1 4/4 5/5\nf 1/1 5/5 6/6\nf 1/1 7/7 2/2\n";

static void test_sews_a_dart(void **state) {
    (void)state;
    write_file("wedge.obj", wedge);
    drape_context *ctx = test_context(1);
    drape_loaded_scene *loaded =
        load_good(ctx, "  - mesh: wedge.obj\n    resolution: 60 cm\n    pins: [{vertices: [5]}]\n"
                       "    seams: [{join: [{vertices: [0, 5]}, {vertices: [0, 6]}], gap: 50 cm}]\n");
    const drape_scene *scene = drape_loaded_scene_data(loaded);
    const drape_piece *p = &scene->pieces[0];
    assert_int_equal(boundary_edges(p), 5 * 2); /* two parts each: the notch is closed */
    assert_int_equal(p->vertices, 16);          /* six, and one on each of ten edges */
    const double *x = p->rest + 3 * scene->pins[0].vertices[0];
    assert_true(x[0] == 0 && x[1] == -0.98); /* vertex 5 of the file, which is 6 as well */
    drape_loaded_scene_destroy(loaded);
    drape_context_destroy(ctx);
}

static void test_paths_by_group_and_place(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    write_file("left.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 1 0.5 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvt 1 0.5\n"
                           "g side\nf 1/1 2/2 5/5\nf 4/4 5/5 3/3\ng rest\nf 1/1 5/5 4/4\n");
    write_file("right.obj",
               "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3 4/4\n");
    drape_loaded_scene *loaded = load_good(
        ctx, "  - panels: [{name: l, mesh: left.obj}, {name: r, mesh: right.obj, place: {translate: [1 m, 0, "
             "0]}, material: denim}]\n"
             "    seams: [{join: [{panel: l, nearest: [[1.1 m, 0, 0], [1.1 m, 1.1 m, 0]]}, {panel: r, "
             "vertices: [0, 3]}], gap: 1 um}]\n"
             "    pins: [{group: l/side}, {group: r}, {vertices: [5]}]\n");
    const drape_scene *scene = drape_loaded_scene_data(loaded);
    const drape_piece *p = &scene->pieces[0];
    assert_int_equal(p->vertices, 7);
    assert_int_equal(boundary_edges(p), 6);
    assert_int_equal(scene->pins[0].count, 5);
    assert_int_equal(scene->pins[1].count, 5); /* its four corners and the vertex that left's side has */
    assert_int_equal(scene->pins[2].count, 1); /* vertex 0 of r, which is vertex 1 of l */
    assert_int_equal(scene->pins[2].vertices[0], 1);
    drape_material denim = drape_material_defaults();
    assert_true(drape_fabric_find("denim", &denim));
    int32_t of_denim = 0;
    for (int32_t t = 0; t < p->triangles; t++)
        of_denim += p->material_of[t] >= 0 && p->materials[p->material_of[t]].density == denim.density;
    assert_int_equal(of_denim, 3);
    drape_loaded_scene_destroy(loaded);
    drape_context_destroy(ctx);
}

/* The mass of a sheet with a hem of twice the density on a quarter of it. */
static void test_bands_have_their_material(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_loaded_scene *loaded = load_good(
        ctx, "  - material: {density: 0.1}\n"
             "    panels: [{name: sheet, grid: {width: 1 m, resolution: 9}}]\n"
             "    bands: [{along: {panel: sheet, where: bottom-edge}, width: 25 cm, material: {density: 0.2}}]\n");
    const drape_scene *scene = drape_loaded_scene_data(loaded);
    drape_cloth *cloth;
    ASSERT_OK(ctx, drape_cloth_create(ctx, scene->pieces, 1, NULL, &cloth));
    double mass = 0;
    for (int32_t v = 0; v < drape_cloth_vertices(cloth); v++) mass += drape_cloth_mass(cloth)[v];
    assert_true(fabs(mass - 0.125) < 1e-12);
    drape_cloth_destroy(cloth);
    drape_loaded_scene_destroy(loaded);
    drape_context_destroy(ctx);
}

/* A strip all of elastic, free of gravity: it is at rest at half its length, and as wide as before. */
static void test_elastic_is_shorter_at_rest(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_loaded_scene *loaded =
        load_good(ctx, "  - panels: [{name: strip, grid: {width: 1 m, height: 10 cm, resolution: [11, 2]}}]\n"
                       "    bands: [{along: {panel: strip, where: bottom-edge}, width: 1 m, shrink: 0.5}]\n");
    const drape_scene *scene = drape_loaded_scene_data(loaded);
    drape_cloth *cloth;
    ASSERT_OK(ctx, drape_cloth_create(ctx, scene->pieces, 1, NULL, &cloth));
    int32_t n = drape_cloth_vertices(cloth);
    double x[3 * 22];
    assert_int_equal(n, 22);
    memcpy(x, drape_cloth_rest(cloth), sizeof x);
    assert_true(fabs(drape_cloth_stretch(cloth, x) - 2) < 1e-9);
    for (int32_t v = 0; v < n; v++) x[3 * v] *= 0.5;
    assert_true(drape_cloth_energy(cloth, x) < 1e-20);
    drape_cloth_destroy(cloth);
    drape_loaded_scene_destroy(loaded);
    drape_context_destroy(ctx);
}

static void test_refuses_seams(void **state) {
    (void)state;
    write_file("wedge.obj", wedge);
    assert_refused(
        FRONT_AND_BACK("[5, 7]") "    seams: [{join: [{panel: front, where: left-edge}, {panel: back, where: "
                                 "top-edge}], gap: 1 m}]\n",
        "the ratio is 1.5, at most 1.1 is allowed; write gather: true");
    assert_refused(
        FRONT_AND_BACK("[5, 7]") "    seams: [{join: [{panel: front, where: left-edge}, {panel: back, where: "
                                 "right-edge}]}]\n",
        "start 0.4001 m apart; at most 0.02 m is allowed (gap)");
    assert_refused(
        FRONT_AND_BACK("[5, 7]") "    seams: [{join: [{panel: front, vertices: [0, 30]}, {panel: back, "
                                 "vertices: [30, 0]}]}]\n",
        "the seam crosses over: it joins vertex 0 of panel front with vertex 30 of panel back, but vertex 0 "
        "of panel back is nearer");
    assert_refused(FRONT_AND_BACK("[5, 7]") SIDES "      - join: [{panel: front, vertices: [4, 14]}, {panel: back, "
                                                  "vertices: [0, 10]}]\n        gap: 1 m\n",
                   "seam 2: it crosses seam 1: both have the edge from vertex 4 of panel front to vertex 9 of panel "
                   "front");
    assert_refused(FRONT_AND_BACK("[5, 7]") "    seams: [{join: [{panel: front, vertices: [0, 12]}, {panel: back, "
                                            "vertices: [0, 30]}]}]\n",
                   "vertex 12 of panel front is not on the boundary");
    assert_refused(
        "  - mesh: wedge.obj\n    seams: [{join: [{vertices: [0, 5]}, {vertices: [0, 6]}], gap: 1 m}, {join: "
        "[{vertices: [1, 2]}, {vertices: [3, 4]}]}, {join: [{vertices: [1, 2]}, {vertices: [3, 4]}]}, {join: "
        "[{vertices: [1, 2]}, {vertices: [3, 4]}]}]\n",
        "4 seams join two edges each or more, but the boundary has only 7 edges");
    assert_refused(
        FRONT_AND_BACK("[5, 7]") "    seams: [{join: [{panel: side, where: left-edge}, {panel: back, where: "
                                 "left-edge}]}]\n",
        "there is no panel \"side\"");
    assert_refused("  - mesh: wedge.obj\n    seams: [{join: [{vertices: [1, 2]}, {vertices: [2, 3]}], gap: 2 m}]\n",
                   "seams sew an edge to a point");
    assert_refused("  - mesh: wedge.obj\n    seams: [{join: [{vertices: [1, 2]}, {vertices: [3, 2]}], gap: 2 m}]\n",
                   "seams cross: the edge from");
}

/* Gathering: the longer side of a seam is drawn in. */
static void test_gathers(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_loaded_scene *loaded = load_good(
        ctx,
        "  - panels: [{name: skirt, grid: {width: 60 cm, height: 20 cm, resolution: [13, 5]}}, {name: band, grid: "
        "{width: 40 cm, height: 5 cm, resolution: [9, 2]}, place: {translate: [0, 12.5 cm, 0]}}]\n"
        "    seams: [{join: [{panel: skirt, where: top-edge}, {panel: band, where: bottom-edge}], gather: true, "
        "gap: 15 cm}]\n");
    const drape_piece *p = &drape_loaded_scene_data(loaded)->pieces[0];
    assert_true(fabs(pattern_area(p) - (0.12 + 0.02)) < 1e-12);
    drape_loaded_scene_destroy(loaded);
    drape_context_destroy(ctx);
}

static void test_refuses_a_folded_pattern(void **state) {
    (void)state;
    write_file("folded.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0.9 0.1\nf 1/1 2/2 3/3\n"
                             "f 1/1 3/3 4/4\n");
    assert_refused("  - {mesh: folded.obj}\n", "the pattern is folded over: its triangles 0 (vertices 0, 1, 2) and 1 "
                                               "(vertices 0, 2, 3) lie on the same side of their edge");
    drape_context *ctx = test_context(1);
    drape_loaded_scene_destroy(load_good(ctx, "  - {mesh: folded.obj, uv: false}\n"));
    drape_context_destroy(ctx);
}

static void test_refuses_bands(void **state) {
    (void)state;
    write_file("wedge.obj", wedge);
    assert_refused("  - {mesh: wedge.obj, bands: [{group: hem}]}\n", "there is no group \"hem\"");
    assert_refused("  - {mesh: wedge.obj, bands: [{along: {vertices: [1, 2]}}]}\n", "a band needs either a group");
    assert_refused("  - {mesh: wedge.obj, bands: [{along: {vertices: [1, 2]}, width: 1 mm}]}\n",
                   "no triangle has its middle within 0.001 m");
    assert_refused(
        "  - {mesh: wedge.obj, uv: false, bands: [{along: {vertices: [1, 2]}, width: 1 m, shrink: 0.5}]}\n",
        "shrink needs a pattern");
    assert_refused("  - {mesh: wedge.obj, bands: [{along: {vertices: [1, 2]}, width: 1 m, shrink: 1.5}]}\n",
                   "shrink");
}

/* Panels 6 cm apart are drawn together in 0.4 s, also where they were refined, and stay so to 1e-6 m. */
static void test_draws_seams_together(void **state) {
    (void)state;
    drape_context *ctx = test_context(1);
    drape_loaded_scene *loaded = load_good(
        ctx,
        "  - name: bag\n    resolution: 5 cm\n"
        "    panels:\n      - {name: front, grid: {width: 40 cm, height: 40 cm, resolution: [5, 5]}}\n"
        "      - {name: back, grid: {width: 40 cm, height: 40 cm, resolution: [5, 4]}, place: {translate: [0, 0, 6 "
        "cm]}}\n"
        "    seams:\n"
        "      - {join: [{panel: front, where: left-edge}, {panel: back, where: left-edge}], close: 0.4 s}\n"
        "      - {join: [{panel: front, where: right-edge}, {panel: back, where: right-edge}], close: 0.4 s}\n"
        "    pins: [{nearest: [[0, 0, 0]]}]\n"
        "forces: {gravity: [0, 0, 0]}\ntime: {step: 4 ms, fps: 25, duration: 1 s}\n");
    const drape_scene *scene = drape_loaded_scene_data(loaded);
    assert_true(scene->stitch_count >= 2 * (2 * 3 + 1));
    drape_sim *sim;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    double farthest = 0;
    for (int32_t i = 0; i < 150; i++) ASSERT_OK(ctx, drape_sim_step(sim, NULL));
    const double *x = drape_sim_positions(sim);
    for (int32_t i = 0; i < scene->stitch_count; i++) {
        const double *a = x + 3 * (int64_t)scene->stitches[i].a.vertex[0],
                     *b = x + 3 * (int64_t)scene->stitches[i].b.vertex[0];
        for (int32_t k = 0; k < 3; k++) farthest = fmax(farthest, fabs(a[k] - b[k]));
        const double *p = scene->pieces[0].rest + 3 * (int64_t)scene->stitches[i].a.vertex[0],
                     *q = scene->pieces[0].rest + 3 * (int64_t)scene->stitches[i].b.vertex[0];
        assert_true(fabs(p[0] - q[0]) < 1e-12 && fabs(p[1] - q[1]) < 1e-12 && fabs(fabs(p[2] - q[2]) - 0.06) < 1e-12);
    }
    if (!(farthest < 1e-6)) fail_msg("%g m apart", farthest);
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    drape_context_destroy(ctx);
}

/* ---- panels that are sewn onto others ---- */

#define POCKET(front, pocket, how)                                                                                   \
    "  - name: bag\n    thickness: 1 mm\n"                                                                           \
    "    panels:\n      - {name: front, grid: {width: 40 cm, height: 60 cm, resolution: " front "}}\n"               \
    "      - {name: pocket, grid: {width: 16 cm, height: 12 cm, resolution: " pocket "}}\n"                          \
    "    seams:\n      - sew: {panel: pocket, where: [left-edge, bottom-edge, right-edge]}\n        onto: {panel: "  \
    "front" how "}\n"

/* The place of a vertex in the pattern: that of the first triangle that has it. */
static const double *pattern_of(const drape_piece *p, int32_t vertex) {
    for (int32_t i = 0; i < 3 * p->triangles; i++)
        if (p->triangle[i] == vertex) return p->uv + 2 * p->uv_triangle[i];
    return NULL;
}

/* Pairs of vertices lie on each other, in space and in the patterns. What is not sewn lies at the height. The
 * patterns are as large as they were, and no triangle is a sliver. */
static void check_pocket(const char *cloth, double turn, const double at[2], double height) {
    drape_context *ctx = test_context(1);
    drape_loaded_scene *loaded = load_good(ctx, cloth);
    const drape_scene *scene = drape_loaded_scene_data(loaded);
    const drape_piece *p = &scene->pieces[0];
    const double c = cos(turn), s = sin(turn);
    int32_t above = 0, sewn = 0;
    assert_true(fabs(pattern_area(p) - (0.24 + 0.0192)) < 1e-12);
    boundary_edges(p); /* no edge has three triangles */
    for (int32_t i = 0; i < scene->stitch_count; i++) {
        const int32_t a = scene->stitches[i].a.vertex[0], b = scene->stitches[i].b.vertex[0];
        const double *u = pattern_of(p, a), *v = pattern_of(p, b);
        assert_true(scene->stitches[i].close == 0 && a != b);
        for (int32_t k = 0; k < 3; k++) assert_true(p->rest[3 * a + k] == p->rest[3 * b + k]);
        assert_true(fabs(c * u[0] - s * u[1] + at[0] - v[0]) < 1e-9 &&
                    fabs(s * u[0] + c * u[1] + at[1] - v[1]) < 1e-9);
        for (int32_t k = 0; k < i; k++)
            assert_true(scene->stitches[k].a.vertex[0] != a && scene->stitches[k].b.vertex[0] != b);
        sewn++;
    }
    for (int32_t v = 0; v < p->vertices; v++) {
        const double z = p->rest[3 * v + 2];
        assert_true(fabs(z) < 1e-12 || fabs(z - height) < 1e-12);
        above += fabs(z) >= 1e-12;
    }
    assert_true(sewn >= 6 && above >= 1);
    for (int32_t t = 0; t < p->triangles; t++) {
        const double *a = p->uv + 2 * p->uv_triangle[3 * t], *b = p->uv + 2 * p->uv_triangle[3 * t + 1],
                     *d = p->uv + 2 * p->uv_triangle[3 * t + 2];
        const double area = (b[0] - a[0]) * (d[1] - a[1]) - (b[1] - a[1]) * (d[0] - a[0]);
        const double edge = fmax(hypot(b[0] - a[0], b[1] - a[1]), hypot(d[0] - a[0], d[1] - a[1]));
        if (!(area > 0.02 * edge * edge)) fail_msg("triangle %d: %g m^2, an edge of %g m", t, area, edge);
    }
    drape_sim *sim; /* nothing crosses at the start */
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    drape_context_destroy(ctx);
}

static void test_sews_a_pocket(void **state) {
    (void)state;
    static const double middle[2] = {0, 0}, off[2] = {0.03, -0.07}, edge[2] = {-0.12, -0.24};
    check_pocket(POCKET("[21, 31]", "[9, 7]", "") "contact: {self: true}\n", 0, middle, 1e-3);
    check_pocket(POCKET("[21, 31]", "[9, 7]", ", at: [3 cm, -7 cm]") "contact: {self: true}\n", 0, off, 1e-3);
    check_pocket(POCKET("[17, 29]", "[23, 18]", ", at: [3 cm, -7 cm]") "contact: {self: true}\n", 0, off, 1e-3);
    check_pocket(POCKET("[41, 53]", "[5, 4]", ", at: [3 cm, -7 cm], turn: 0.2 rad") "contact: {self: true}\n", 0.2,
                 off, 1e-3);
    check_pocket(POCKET("[21, 31]", "[9, 7]", ", at: [3 cm, -7 cm], turn: 0.2 rad, side: back") "contact: {self: "
                                                                                                "true}\n",
                 0.2, off, -1e-3);
    check_pocket(POCKET("[21, 31]", "[9, 7]", ", at: [3 cm, -7 cm]") "        height: 3 mm\n    resolution: 8 mm\n"
                                                                     "contact: {self: true}\n",
                 0, off, 3e-3);
    /* Two of its edges lie on edges of the panel below. */
    check_pocket(POCKET("[21, 31]", "[9, 7]", ", at: [-12 cm, -24 cm]") "contact: {self: true}\n", 0, edge, 1e-3);
}

static void test_refuses_pockets(void **state) {
    (void)state;
    assert_refused(POCKET("[21, 31]", "[9, 7]", ", at: [15 cm, 0]"), "the path leaves panel front");
    assert_refused(POCKET("[21, 31]", "[9, 7]", ", at: [15 cm]"), "at: expected a point of the pattern");
    assert_refused(POCKET("[21, 31]", "[9, 7]", ", side: left"), "side is left; it must be front or back");
    assert_refused(POCKET("[21, 31]", "[9, 7]", "") "      - {sew: {panel: pocket, where: top-edge}, onto: {panel: "
                                                    "front}}\n",
                   "panel pocket is sewn onto a panel already");
    assert_refused(POCKET("[21, 31]", "[9, 7]", "") "      - {sew: {panel: front, where: top-edge}, onto: {panel: "
                                                    "front}}\n",
                   "panel front cannot be sewn onto itself");
    assert_refused(POCKET("[21, 31]", "[9, 7]", "") "      - {sew: {panel: front, where: top-edge}}\n",
                   "by sew and onto");
    assert_refused(POCKET("[21, 31]", "[9, 7]", "") "    buttons: [{join: [{panel: front, at: [0, 0]}]}]\n",
                   "a button needs join, a list of two places");
    assert_refused(
        POCKET("[21, 31]", "[9, 7]", "") "    buttons: [{join: [{panel: front, at: [0, 0]}, {panel: pocket, "
                                         "at: [0, 5 cm]}]}]\n",
        "button 0: its two places are 0.0");
    assert_refused("  - {mesh: wedge.obj, buttons: [{join: [{at: [0, 0]}, {at: [0, 1]}]}]}\n",
                   "buttons are places in the pattern of panels");
}

/* How far apart the two sides of a stitch are, m. */
static double gap_of(const drape_stitch *s, const double *x) {
    double most = 0;
    for (int32_t k = 0; k < 3; k++) most = fmax(most, fabs(x[3 * s->a.vertex[0] + k] - x[3 * s->b.vertex[0] + k]));
    return most;
}

/* A front with a pocket hangs in front of a back: the pocket stays sewn on, one button closes exactly, the other is a
 * spring. Bits do not depend on the number of threads. */
static void test_buttons_close(void **state) {
    (void)state;
    double *first = NULL;
    int32_t vertices = 0;
    for (int32_t threads = 1; threads <= 2; threads++) {
        drape_context *ctx = test_context(threads);
        drape_loaded_scene *loaded = load_good(
            ctx,
            "  - name: bag\n    thickness: 2 mm\n    rest_angles: flat\n    panels:\n"
            "      - {name: back, grid: {width: 20 cm, height: 20 cm, resolution: 11}}\n"
            "      - {name: front, grid: {width: 20 cm, height: 20 cm, resolution: 11}, place: {translate: [0, 0, "
            "3 cm]}}\n"
            "      - {name: pocket, grid: {width: 9 cm, height: 7 cm, resolution: 7}}\n"
            "    seams:\n"
            "      - {sew: {panel: pocket, where: [left-edge, bottom-edge, right-edge]}, onto: {panel: front}}\n"
            "    buttons:\n"
            "      - {join: [{panel: front, at: [-8 cm, 8 cm]}, {panel: back, at: [-8 cm, 8 cm]}], close: 0.2 s}\n"
            "      - {join: [{panel: front, at: [8 cm, 8 cm]}, {panel: back, at: [8 cm, 8 cm]}], soft: 2 N/m}\n"
            "    pins: [{nearest: [[-8 cm, -8 cm, 0], [8 cm, -8 cm, 0]]}]\n"
            "forces: {gravity: [0, 0, 0]}\ncontact: {self: true}\ntime: {step: 4 ms, duration: 1 s}\n");
        const drape_scene *scene = drape_loaded_scene_data(loaded);
        const int32_t buttons = scene->stitch_count - 2;
        assert_true(buttons >= 10);
        assert_true(scene->stitches[buttons].close == 0.2 && scene->stitches[buttons].stiffness == 0);
        assert_true(scene->stitches[buttons + 1].close == 0 && scene->stitches[buttons + 1].stiffness == 2);
        drape_sim *sim;
        ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
        for (int32_t i = 0; i < 60; i++) {
            ASSERT_OK(ctx, drape_sim_step(sim, NULL));
            for (int32_t k = 0; k < buttons; k++)
                assert_true(gap_of(&scene->stitches[k], drape_sim_positions(sim)) < 1e-6);
        }
        const double *x = drape_sim_positions(sim);
        assert_true(gap_of(&scene->stitches[buttons], x) < 1e-6);
        assert_true(gap_of(&scene->stitches[buttons + 1], x) < 0.03);
        if (!first) {
            vertices = scene->pieces[0].vertices;
            first = malloc(3 * (size_t)vertices * sizeof *first);
            assert_non_null(first);
            memcpy(first, x, 3 * (size_t)vertices * sizeof *first);
        }
        assert_memory_equal(first, x, 3 * (size_t)vertices * sizeof *first);
        drape_sim_destroy(sim);
        drape_loaded_scene_destroy(loaded);
        drape_context_destroy(ctx);
    }
    free(first);
}

/* How high a sheet comes to rest above another one, m, and how far it was carried along by that one's motion. */
static double rest_on_sheet(const char *contact, double *carried) {
    char text[2048];
    drape_context *ctx = test_context(1);
    snprintf(text, sizeof text,
             "  - name: lower\n    grid: {width: 40 cm, resolution: 21}\n    thickness: 1 mm\n    friction: 0.5\n"
             "    pins: [{where: all, move: {linear: {velocity: [5 cm/s, 0, 0]}}}]\n"
             "  - name: upper\n    grid: {width: 20 cm, resolution: [7, 9]}\n    thickness: 1 mm\n    friction: 0.5\n"
             "    place: {translate: [0, 0, 5 mm]}\n"
             "contact: {self: true%s}\ntime: {step: 4 ms, frames: 20}\n",
             contact);
    drape_loaded_scene *loaded = load_good(ctx, text);
    drape_sim *sim;
    ASSERT_OK(ctx, drape_sim_create(ctx, drape_loaded_scene_data(loaded), &sim));
    for (int32_t i = 0; i < 200; i++) ASSERT_OK(ctx, drape_sim_step(sim, NULL));
    const drape_piece_range *upper = drape_cloth_piece(drape_sim_cloth(sim), 1);
    const double *x = drape_sim_positions(sim), *rest = drape_cloth_rest(drape_sim_cloth(sim));
    double height = 0;
    *carried = 0;
    for (int64_t v = upper->first_vertex; v < upper->first_vertex + upper->vertices; v++) {
        height += x[3 * v + 2] / upper->vertices;
        *carried += (x[3 * v] - rest[3 * v]) / upper->vertices;
    }
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
    drape_context_destroy(ctx);
    return height;
}

/* The lower sheet goes 4 cm in 0.8 s. */
static void test_pairs_of_pieces(void **state) {
    (void)state;
    double carried;
    double alone = rest_on_sheet("", &carried);
    assert_true(alone > 0.5e-3 && alone < 1.6e-3 && carried > 0.03);
    double apart = rest_on_sheet(", pairs: [{between: [upper, lower], thickness: 3 mm, friction: 0}]", &carried);
    assert_true(apart > 2 * alone && apart < 4.5e-3 && fabs(carried) < 0.01);
    assert_refused("  - {name: a, grid: {}}\ncontact: {self: true, pairs: [{between: [a, b]}]}\n",
                   "there is no piece \"b\"");
    assert_refused("  - {name: a, grid: {}}\ncontact: {self: true, pairs: [{friction: 1}]}\n",
                   "expected between with the names of two pieces");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_welds_two_panels),
        cmocka_unit_test(test_welds_unequal_panels),
        cmocka_unit_test(test_sews_a_dart),
        cmocka_unit_test(test_paths_by_group_and_place),
        cmocka_unit_test(test_bands_have_their_material),
        cmocka_unit_test(test_elastic_is_shorter_at_rest),
        cmocka_unit_test(test_refuses_seams),
        cmocka_unit_test(test_gathers),
        cmocka_unit_test(test_refuses_a_folded_pattern),
        cmocka_unit_test(test_refuses_bands),
        cmocka_unit_test(test_pairs_of_pieces),
        cmocka_unit_test(test_draws_seams_together),
        cmocka_unit_test(test_sews_a_pocket),
        cmocka_unit_test(test_refuses_pockets),
        cmocka_unit_test(test_buttons_close),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
