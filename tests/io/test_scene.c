/* Scenes from text: every key, what it becomes, overrides, meshes, and memory that runs out. What is refused is in
 * test_wrong_scenes.sh. */
#include "sparse/counting_allocator.h"
#include "support/strips.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 256 };

typedef struct fixture {
    drape_context *ctx;
    char folder[PATH_SIZE]; /* for mesh files */
    drape_loaded_scene *loaded;
    drape_scene *scene; /* the last one that was read */
    int64_t bytes;
} fixture;

static const char *path_in(const fixture *f, const char *name) {
    static char path[2 * PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    return path;
}

static void forget(fixture *f) {
    drape_loaded_scene_destroy(f->loaded);
    f->scene = NULL;
    assert_int_equal(drape_context_bytes(f->ctx), f->bytes);
}

static drape_status try_to_read(fixture *f, const char *text, const drape_scene_options *options) {
    char name[2 * PATH_SIZE];
    forget(f);
    snprintf(name, sizeof name, "%s", path_in(f, "test.yaml"));
    drape_status status = drape_scene_parse(f->ctx, name, text, (int64_t)strlen(text), options, &f->loaded);
    f->scene = drape_loaded_scene_edit(f->loaded);
    return status;
}

/* Lives until the next one is read. */
static const drape_scene *read_with(fixture *f, const char *text, const drape_scene_options *options) {
    ASSERT_OK(f->ctx, try_to_read(f, text, options));
    return f->scene;
}

static const drape_scene *read_text(fixture *f, const char *text) { return read_with(f, text, NULL); }

/* A scene of one piece: what stands after "grid: {width: 1 m, resolution: 5" (and closes the brace), and the rest.
 */
static const drape_scene *read_grid(fixture *f, const char *grid, const char *rest) {
    char text[2000];
    snprintf(text, sizeof text, "drape: 1\ncloth:\n  - name: sheet\n    grid: {%s}\n%s", grid, rest);
    return read_text(f, text);
}

static const drape_scene *read_piece(fixture *f, const char *rest) {
    return read_grid(f, "width: 1 m, resolution: 5", rest);
}

static void refuse(fixture *f, const char *text, const drape_scene_options *options, const char *part) {
    assert_int_equal(try_to_read(f, text, options), DRAPE_ERROR_FORMAT);
    assert_null(f->scene);
    if (!strstr(drape_message(f->ctx), part)) fail_msg("\"%s\" does not say \"%s\"", drape_message(f->ctx), part);
    assert_int_equal(drape_context_bytes(f->ctx), f->bytes);
}

static void near3(const double *got, double x, double y, double z) {
    const double want[3] = {x, y, z};
    for (int32_t k = 0; k < 3; k++) ASSERT_NEAR(got[k], want[k], 1e-15 * (1 + fabs(want[k])));
}

static void same3(const double *got, double x, double y, double z) {
    assert_true(got[0] == x && got[1] == y && got[2] == z);
}

static drape_sim *make_sim(fixture *f) {
    drape_sim *sim;
    ASSERT_OK(f->ctx, drape_sim_create(f->ctx, f->scene, &sim));
    return sim;
}

/* ---- the head ---- */

static void test_smallest_scene(void **state) {
    fixture *f = *state;
    const drape_scene *s = read_text(f, "drape: 1\ncloth: [{grid: {}}]\n");
    drape_material cotton = drape_material_defaults();
    assert_string_equal(s->name, "test");
    assert_int_equal(s->piece_count, 1);
    assert_string_equal(s->pieces[0].name, "cloth");
    assert_int_equal(s->pieces[0].vertices, 51 * 51);
    assert_memory_equal(&s->pieces[0].material, &cotton, sizeof cotton);
    assert_int_equal(s->pin_count, 0);
    assert_null(s->velocity);
    assert_null(s->forces.vertex);
    same3(s->forces.gravity, 0, 0, -9.81);
    assert_true(!s->forces.still_air && !s->forces.variation && s->forces.air_drag == 0);
    assert_int_equal(s->frames, 25);
    assert_int_equal(s->steps_per_frame, 20);
    ASSERT_NEAR(s->step, 0.002, 1e-18);
    assert_int_equal(s->output_count, 0);
    assert_string_equal(s->cloth.model, drape_cloth_defaults().model);
    assert_string_equal(s->solve.method, drape_solve_defaults().method);
}

static void test_name(void **state) {
    fixture *f = *state;
    assert_string_equal(read_text(f, "drape: 1\nname: my flag\ncloth: [{grid: {}}]\n")->name, "my flag");
    assert_string_equal(read_text(f, "drape: 1\nname: '1'\ncloth: [{grid: {}}]\n")->name, "1");
}

/* JSON is YAML too; so are other line ends and a byte order mark. */
static void test_other_spellings(void **state) {
    fixture *f = *state;
    assert_int_equal(read_text(f, "{\"drape\": 1, \"cloth\": [{\"grid\": {\"resolution\": 3}}]}")->pieces[0].vertices,
                     9);
    assert_int_equal(read_text(f, "drape: 1\r\ncloth:\r\n- grid:\r\n    resolution: 3\r\n")->pieces[0].vertices, 9);
    assert_int_equal(read_text(f, "\xef\xbb\xbf"
                                  "drape: 1\ncloth: [{grid: {resolution: 3}}]")
                         ->pieces[0]
                         .vertices,
                     9);
    assert_int_equal(read_text(f, "---\ndrape: 1\ncloth: [{grid: {resolution: 3}}]\n...\n")->pieces[0].vertices, 9);
}

/* ---- grids ---- */

static void test_square_grid(void **state) {
    fixture *f = *state;
    const drape_piece *p = read_grid(f, "width: 2 m, resolution: 3", "")->pieces;
    assert_int_equal(p->vertices, 9);
    assert_int_equal(p->triangles, 8);
    same3(p->rest, -1, -1, 0);
    same3(p->rest + 3 * 1, 0, -1, 0); /* row by row */
    same3(p->rest + 3 * 8, 1, 1, 0);
    for (int32_t i = 0; i < 9; i++)
        assert_true(p->uv[2 * i] == p->rest[3 * i] && p->uv[2 * i + 1] == p->rest[3 * i + 1]);
}

static void test_resolutions(void **state) {
    static const struct {
        const char *grid;
        int32_t nx, ny;
    } cases[] = {
        {"width: 1 m", 51, 51},
        {"width: 1 m, height: 50 cm, resolution: 11", 11, 6},
        {"width: 50 cm, height: 1 m, resolution: 11", 11, 21},
        {"width: 1 m, height: 0.34 m, resolution: 4", 4, 2},
        {"width: 1 m, height: 1 mm, resolution: 4", 4, 2},     /* two at least */
        {"width: 1 mm, height: 1 km, resolution: 2", 2, 8192}, /* and no more than that */
        {"width: 1 m, height: 1 m, resolution: [3, 7]", 3, 7},
        {"width: 1 m, resolution: 2", 2, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const drape_piece *p = read_grid(*state, cases[i].grid, "")->pieces;
        assert_int_equal(p->vertices, cases[i].nx * cases[i].ny);
        assert_int_equal(p->triangles, 2 * (cases[i].nx - 1) * (cases[i].ny - 1));
    }
}

/* Two cells side by side: the diagonals of the second go the other way. */
static void test_diagonals(void **state) {
    fixture *f = *state;
    const int32_t one_way[4][3] = {{0, 1, 4}, {0, 4, 3}, {1, 2, 5}, {1, 5, 4}};
    const int32_t alternating[4][3] = {{0, 1, 4}, {0, 4, 3}, {1, 2, 4}, {2, 5, 4}};
    const char *two = "width: 2, height: 1, resolution: [3, 2]";
    char grid[100];
    assert_memory_equal(read_grid(f, two, "")->pieces[0].triangle, one_way, sizeof one_way);
    snprintf(grid, sizeof grid, "%s, diagonals: one-way", two);
    assert_memory_equal(read_grid(f, grid, "")->pieces[0].triangle, one_way, sizeof one_way);
    snprintf(grid, sizeof grid, "%s, diagonals: alternating", two);
    assert_memory_equal(read_grid(f, grid, "")->pieces[0].triangle, alternating, sizeof alternating);
}

static void test_cut_grid(void **state) {
    fixture *f = *state;
    assert_int_equal(read_grid(f, "resolution: 5, cut: [0.5, 0.5]", "")->pieces[0].vertices, 25 - 4);
    assert_int_equal(f->scene->pieces[0].triangles, 2 * (16 - 4));
    for (int32_t i = 0; i < 21; i++) { /* nothing in the upper right quarter */
        const double *x = f->scene->pieces[0].rest + 3 * i;
        assert_true(x[0] <= 0 || x[1] <= 0);
    }
    assert_int_equal(read_grid(f, "resolution: 5, cut: [0.75, 0.25]", "")->pieces[0].vertices, 25 - 3);
    assert_int_equal(read_grid(f, "resolution: 5, cut: [1, 1]", "")->pieces[0].vertices, 25);
}

static void test_irregular_grids(void **state) {
    fixture *f = *state;
    double first[3 * 81], second[3 * 81];
    const drape_piece *p = read_grid(f, "resolution: 9, irregular: false", "")->pieces;
    memcpy(first, p->rest, sizeof first);
    p = read_grid(f, "resolution: 9, irregular: true", "")->pieces;
    assert_int_equal(p->vertices, 81);
    assert_int_equal(p->triangles, 128);
    assert_memory_not_equal(p->rest, first, sizeof first);
    for (int32_t i = 0; i < 81; i++)
        assert_true(p->uv[2 * i] == p->rest[3 * i] && p->uv[2 * i + 1] == p->rest[3 * i + 1]);
    same3(p->rest, -0.5, -0.5, 0); /* corners stay */
    memcpy(first, p->rest, sizeof first);
    p = read_grid(f, "resolution: 9, irregular: true, seed: 1", "")->pieces; /* the default */
    assert_memory_equal(p->rest, first, sizeof first);
    p = read_grid(f, "resolution: 9, irregular: true, seed: 2", "")->pieces;
    assert_memory_not_equal(p->rest, first, sizeof first);
    memcpy(second, p->rest, sizeof second);
    drape_scene_options options = {.irregular = true};
    p = read_with(f, "drape: 1\ncloth: [{grid: {resolution: 9, seed: 2}}]", &options)->pieces;
    assert_memory_equal(p->rest, second, sizeof second);
}

static void test_resolution_option(void **state) {
    fixture *f = *state;
    drape_scene_options options = {.resolution = 7};
    const char *text = "drape: 1\ncloth: [{grid: {resolution: [3, 4]}}, {grid: {width: 1, height: 2}}]";
    assert_int_equal(read_with(f, text, &options)->pieces[0].vertices, 49);
    assert_int_equal(f->scene->pieces[1].vertices, 7 * 13);
    options.resolution = 1;
    assert_int_equal(try_to_read(f, text, &options), DRAPE_ERROR_ARGUMENT);
}

/* ---- place ---- */

/* Where the corner (0.5, 0.5, 0) of a square goes. */
static const double *corner(fixture *f, const char *place) {
    char rest[300];
    snprintf(rest, sizeof rest, "    place: {%s}\n", place);
    return read_piece(f, rest)->pieces[0].rest + 3 * 24;
}

static void test_place(void **state) {
    fixture *f = *state;
    near3(corner(f, "translate: [1, 2 m, -30 cm]"), 1.5, 2.5, -0.3);
    same3(corner(f, "rotate: [90, 0, 0]"), 0.5, 0, 0.5);
    same3(corner(f, "rotate: [0, 90, 0]"), 0, 0.5, -0.5);
    same3(corner(f, "rotate: [0, 0, 90]"), -0.5, 0.5, 0);
    same3(corner(f, "rotate: [180, 0, 0]"), 0.5, -0.5, 0);
    same3(corner(f, "rotate: [0, 0, -90 deg]"), 0.5, -0.5, 0);
    same3(corner(f, "rotate: [0, 0, 270]"), 0.5, -0.5, 0);
    same3(corner(f, "rotate: [0, 0, 3600]"), 0.5, 0.5, 0);
    near3(corner(f, "rotate: [0, 0, 45]"), 0, sqrt(0.5), 0);
    near3(corner(f, "rotate: [0, 0, 0.7853981633974483 rad]"), 0, sqrt(0.5), 0);
    near3(corner(f, "rotate: [30, 0, 0]"), 0.5, 0.5 * sqrt(0.75), 0.25);
    same3(corner(f, "rotate: [90, 0, 90]"), 0, 0.5, 0.5);  /* about x first, then z */
    same3(corner(f, "rotate: [90, 90, 0]"), 0.5, 0, -0.5); /* then y */
    near3(corner(f, "scale: 3"), 1.5, 1.5, 0);
    near3(corner(f, "translate: [1, 0, 0], rotate: [0, 0, 90], scale: 2"), 0, 1, 0); /* scale, rotate, translate */
}

/* A piece that is made larger is a larger piece, not a stretched one. */
static void test_scale_takes_the_pattern_along(void **state) {
    fixture *f = *state;
    corner(f, "scale: 3, rotate: [20, 30, 40]");
    drape_sim *sim = make_sim(f);
    ASSERT_NEAR(drape_cloth_stretch(drape_sim_cloth(sim), drape_sim_positions(sim)), 1, 1e-14);
    drape_sim_destroy(sim);
}

static void test_up_is_y(void **state) {
    fixture *f = *state;
    const drape_scene *s =
        read_text(f, "drape: 1\n"
                     "up: y\n"
                     "cloth:\n"
                     "  - grid: {resolution: 3}\n"
                     "    place: {translate: [1, 2, 3]}\n"
                     "    velocity: [1, 2, 3]\n"
                     "    pins:\n"
                     "      - {where: top-left, directions: [[1, 2, 3]]}\n"
                     "      - {where: center, move: {sine: {amplitude: 2, frequency: 1}}}\n"
                     "      - {where: bottom-left, move: {linear: {velocity: [1, 2, 3]}}}\n"
                     "      - {where: bottom-right, move: {keys: [{time: 0, offset: [1, 2, 3]}]}}\n"
                     "      - {box: [[1.4, 2.4, 2.9], [1.6, 2.6, 3.1]]}\n"
                     "    loads:\n"
                     "      - {vertices: [1], force: [1, 2, 3]}\n"
                     "forces: {gravity: [1, 2, 3], wind: {velocity: [4, 5, 6]}}\n");
    same3(s->pieces[0].rest, 0.5, -3, 1.5); /* (0.5, 1.5, 3) */
    same3(s->velocity, 1, -3, 2);
    same3(s->pins[0].direction[0], 1, -3, 2);
    same3(s->pins[1].motion.amplitude, 0, 0, 2);
    same3(s->pins[2].motion.velocity, 1, -3, 2);
    same3(s->pins[3].motion.key[0].offset, 1, -3, 2);
    assert_int_equal(s->pins[4].count, 1);
    assert_int_equal(s->pins[4].vertices[0], 8);
    same3(s->forces.vertex + 3, 1, -3, 2);
    same3(s->forces.gravity, 1, -3, 2);
    same3(s->forces.wind, 4, -6, 5);
    same3(read_text(f, "drape: 1\nup: y\ncloth: [{grid: {}}]")->forces.gravity, 0, 0, -9.81);
    same3(read_text(f, "drape: 1\nup: z\ncloth: [{grid: {}}]")->pieces[0].rest, -0.5, -0.5, 0);
}

/* ---- material, mass, velocity ---- */

static void test_materials(void **state) {
    fixture *f = *state;
    drape_material want;
    assert_true(drape_fabric_find("denim", &want));
    assert_memory_equal(&read_piece(f, "    material: denim\n")->pieces[0].material, &want, sizeof want);
    want.density = 0.3, want.stretch[0] = 5000, want.stretch[1] = 4000, want.damping_bend = 0;
    const char *changed =
        "    material: {fabric: denim, density: 300 g/m^2, stretch: [5 kN/m, 4 kN/m], damping: {bend: 0}}\n";
    assert_memory_equal(&read_piece(f, changed)->pieces[0].material, &want, sizeof want);
    want = drape_material_defaults();
    want.stretch[0] = want.stretch[1] = 300, want.shear = 7, want.bend = 2e-6, want.bend_hinge = 3e-6;
    want.damping_stretch = want.damping_shear = want.damping_bend = 1e-3;
    changed = "    material: {stretch: 300, shear: 7 N/m, bend: 2e-6 N m, bend_hinge: 3e-6, damping: 1 ms}\n";
    assert_memory_equal(&read_piece(f, changed)->pieces[0].material, &want, sizeof want);
    want = drape_material_defaults();
    want.damping_stretch = 1, want.damping_shear = 2, want.damping_bend = 3;
    changed = "    material: {damping: {stretch: 1 s, shear: 2 s, bend: 3 s}}\n";
    assert_memory_equal(&read_piece(f, changed)->pieces[0].material, &want, sizeof want);
    want = drape_material_defaults();
    want.spring_stretch = 130, want.spring_shear = 120, want.spring_bend = 2e-5, want.strain_limit = 0.1;
    changed =
        "    material: {spring_stretch: 130 N/m, spring_shear: 120, spring_bend: 2e-5 N m^2, strain_limit: 10 %}\n"
        "model: choi_ko\n";
    assert_memory_equal(&read_piece(f, changed)->pieces[0].material, &want, sizeof want);
    changed = "    material: {spring_stretch: 130, spring_shear: 120, spring_bend: 2e-5 N/m, strain_limit: 0.1}\n"
              "model: provot\n";
    assert_memory_equal(&read_piece(f, changed)->pieces[0].material, &want, sizeof want);
}

/* Whichever way it is given, the material has a damping time. */
static void test_damping_by_ratio(void **state) {
    fixture *f = *state;
    drape_material want = drape_material_defaults();
    want.stretch[0] = 1000, want.stretch[1] = 300, want.density = 0.2;
    const drape_vibration stretch = DRAPE_VIBRATION_STRETCH, shear = DRAPE_VIBRATION_SHEAR;
    want.damping_stretch = drape_damping_time(&want, stretch, 0.3, 0.05);
    want.damping_shear = drape_damping_time(&want, shear, 2, 1 / (1.5 * drape_vibration_frequency(&want, shear, 2)));
    want.damping_bend = 1e-3;
    const char *given = "    material:\n      damping: {stretch: {ratio: 5 %, length: 30 cm}, "
                        "shear: {decay: 1.5 s, length: 2 m}, bend: 1 ms}\n"
                        "      density: 0.2\n      stretch: [1000, 300]\n";
    assert_memory_equal(&read_piece(f, given)->pieces[0].material, &want, sizeof want);
    ASSERT_NEAR(want.damping_shear, 2 / (1.5 * 2.4674011002723397 / 4 * 500), 1e-15); /* 2 / (decay w^2) */
    want = drape_material_defaults();
    want.damping_stretch = drape_damping_time(&want, stretch, 1, 0.02);
    want.damping_bend = drape_damping_time(&want, DRAPE_VIBRATION_BEND, 0.1, 1.2);
    given = "    material: {damping: {stretch: {ratio: 0.02}, bend: {ratio: 1.2}}}\n";
    assert_memory_equal(&read_piece(f, given)->pieces[0].material, &want, sizeof want);
}

static void test_every_fabric(void **state) {
    for (int32_t i = 0; drape_fabric_name(i); i++) {
        char text[100];
        drape_material want;
        snprintf(text, sizeof text, "    material: %s\n", drape_fabric_name(i));
        assert_true(drape_fabric_find(drape_fabric_name(i), &want));
        assert_memory_equal(&read_piece(*state, text)->pieces[0].material, &want, sizeof want);
    }
}

static void test_mass_and_velocity(void **state) {
    fixture *f = *state;
    const drape_scene *s = read_text(f, "drape: 1\n"
                                        "cloth:\n"
                                        "  - {grid: {resolution: 2}}\n"
                                        "  - {grid: {resolution: 2}, mass: 3 g, velocity: [1, 0, 36 km/h]}\n"
                                        "  - {grid: {resolution: 2}}\n");
    assert_null(s->pieces[0].mass);
    for (int32_t i = 0; i < 4; i++) ASSERT_NEAR(s->pieces[1].mass[i], 0.003, 1e-18);
    for (int32_t i = 0; i < 12; i++) {
        double speed = i / 4 == 1 ? 1 : 0;
        near3(s->velocity + 3 * i, speed, 0, 10 * speed);
    }
}

/* ---- pins ---- */

static void check_picked(const drape_pin *pin, int32_t count, const int32_t *vertices) {
    assert_int_equal(pin->count, count);
    for (int32_t i = 0; i < count; i++) assert_int_equal(pin->vertices[i], vertices[i]);
}

/* A grid of 3 x 4, numbered 0 1 2 / 3 4 5 / 6 7 8 / 9 10 11 from below. */
static void picks(fixture *f, const char *how, int32_t count, const int32_t *vertices) {
    char text[300];
    snprintf(text, sizeof text, "    pins: [{%s}]\n", how);
    check_picked(read_grid(f, "width: 2, height: 3, resolution: [3, 4]", text)->pins, count, vertices);
}
#define PICKS(f, how, ...)                                                                                           \
    picks(f, how, (int32_t)(sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)), (int32_t[]){__VA_ARGS__})

static void test_places(void **state) {
    fixture *f = *state;
    PICKS(f, "where: left-edge", 0, 3, 6, 9);
    PICKS(f, "where: right-edge", 2, 5, 8, 11);
    PICKS(f, "where: bottom-edge", 0, 1, 2);
    PICKS(f, "where: top-edge", 9, 10, 11);
    PICKS(f, "where: all-edges", 0, 1, 2, 3, 5, 6, 8, 9, 10, 11);
    PICKS(f, "where: corners", 0, 2, 9, 11);
    PICKS(f, "where: bottom-left", 0);
    PICKS(f, "where: bottom-right", 2);
    PICKS(f, "where: top-left", 9);
    PICKS(f, "where: top-right", 11);
    PICKS(f, "where: center", 7);
    PICKS(f, "where: all", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    PICKS(f, "where: [top-right, bottom-left, top-right]", 0, 11); /* each once, in order */
}

static void test_cut_edges(void **state) {
    fixture *f = *state;
    const drape_scene *s = read_grid(f, "resolution: 5, cut: [0.5, 0.5]", "    pins: [{where: cut-edges}]\n");
    assert_int_equal(s->pins[0].count, 5);
    for (int32_t i = 0; i < 5; i++) {
        const double *x = s->pieces[0].rest + 3 * s->pins[0].vertices[i];
        assert_true((x[0] == 0 && x[1] >= 0) || (x[1] == 0 && x[0] >= 0));
    }
}

static void test_other_ways_to_pick(void **state) {
    fixture *f = *state;
    PICKS(f, "at: [[0, 0], [0.5, 1]]", 0, 10);
    PICKS(f, "at: [[0.3, 0.3]]", 4); /* the nearest */
    PICKS(f, "vertices: [7, 3, 7]", 3, 7);
    PICKS(f, "box: [[-1, -1.5, 0], [0, -0.5, 0]]", 0, 1, 3, 4);           /* sides belong to it */
    PICKS(f, "box: [[0, -0.5 m, 1], [-100 cm, -1.5 m, -1]]", 0, 1, 3, 4); /* corners in any order */
    PICKS(f, "where: top-left, at: [[1, 1]], vertices: [0], box: [[1, -1.5, 0], [1, -1.5, 0]]", 0, 2, 9, 11);
}

/* Numbers that are no sums of powers of two must not put a box's side beside the vertices on it. */
static void test_box_of_awkward_numbers(void **state) {
    fixture *f = *state;
    for (int32_t n = 2; n < 30; n++) {
        char grid[100], rest[300];
        snprintf(grid, sizeof grid, "width: 0.%d m, resolution: %d", n, n);
        snprintf(rest, sizeof rest,
                 "    place: {rotate: [0, 0, 30], translate: [0.1, 0.7, 0.%d]}\n    pins: [{box: [[-9, -9, 0.%d], "
                 "[9, 9, 0.%d]]}]\n",
                 n, n, n);
        assert_int_equal(read_grid(f, grid, rest)->pins[0].count, n * n);
    }
}

/* Positions in boxes are the placed ones; vertices count within their piece. */
static void test_pins_of_pieces(void **state) {
    fixture *f = *state;
    const drape_scene *s = read_text(f, "drape: 1\n"
                                        "cloth:\n"
                                        "  - {grid: {resolution: 2}}\n"
                                        "  - grid: {resolution: 2}\n"
                                        "    place: {translate: [0, 0, 5]}\n"
                                        "    pins:\n"
                                        "      - {vertices: [0]}\n"
                                        "      - {box: [[0, 0, 5], [1, 1, 5]]}\n"
                                        "  - {grid: {resolution: 2}, pins: [{where: top-edge}]}\n");
    assert_int_equal(s->pin_count, 3);
    check_picked(&s->pins[0], 1, (int32_t[]){4});
    check_picked(&s->pins[1], 1, (int32_t[]){7});
    check_picked(&s->pins[2], 2, (int32_t[]){10, 11});
}

static void test_directions(void **state) {
    fixture *f = *state;
    assert_int_equal(read_piece(f, "    pins: [{where: corners}]\n")->pins[0].directions, 3);
    const drape_pin *pin = read_piece(f, "    pins: [{where: corners, directions: [[0, 0, 2]]}]\n")->pins;
    assert_int_equal(pin->directions, 1);
    same3(pin->direction[0], 0, 0, 2);
    pin = read_piece(f, "    pins: [{where: corners, directions: [[0, 0, 1], [1, 1, 0]]}]\n")->pins;
    assert_int_equal(pin->directions, 2);
    same3(pin->direction[1], 1, 1, 0);
    pin = read_piece(f, "    pins: [{where: corners, directions: [[0, 0, 1], [1, 1, 0], [1, 0, 0]]}]\n")->pins;
    assert_int_equal(pin->directions, 3);
}

static const drape_motion *motion(fixture *f, const char *directions, const char *move) {
    char text[400];
    snprintf(text, sizeof text, "    pins: [{where: corners, %smove: {%s}}]\n", directions, move);
    return &read_piece(f, text)->pins[0].motion;
}

static void test_motions(void **state) {
    fixture *f = *state;
    assert_int_equal(read_piece(f, "    pins: [{where: corners}]\n")->pins[0].motion.kind, DRAPE_MOTION_FIXED);
    const drape_motion *m = motion(f, "", "linear: {velocity: [1, 2 cm/s, 0]}");
    assert_int_equal(m->kind, DRAPE_MOTION_LINEAR);
    near3(m->velocity, 1, 0.02, 0);
    m = motion(f, "", "sine: {amplitude: [1 cm, 0, 2 cm], frequency: 0.5 Hz, phase: 90}");
    assert_int_equal(m->kind, DRAPE_MOTION_SINE);
    near3(m->amplitude, 0.01, 0, 0.02);
    assert_true(m->frequency == 0.5 && m->phase == 0.25);
    m = motion(f, "", "sine: {amplitude: 10 cm, frequency: 2}"); /* upwards */
    near3(m->amplitude, 0, 0, 0.1);
    assert_true(m->phase == 0);
    m = motion(f, "directions: [[3, 0, 4]], ", "sine: {amplitude: 10 cm, frequency: 2}"); /* along the direction */
    near3(m->amplitude, 0.06, 0, 0.08);
    m = motion(f, "", "keys: [{time: 0, offset: [0, 0, 0]}, {time: 500 ms, offset: [1 cm, 0, 0]}]");
    assert_int_equal(m->kind, DRAPE_MOTION_KEYS);
    assert_int_equal(m->key_count, 2);
    ASSERT_NEAR(m->key[1].time, 0.5, 1e-16);
    near3(m->key[1].offset, 0.01, 0, 0);
}

static void test_poses_are_read(void **state) {
    fixture *f = *state;
    const drape_motion *m =
        motion(f, "", "keys: [{time: 0}, {time: 1, offset: [1, 0, 0], turn: [0, 0, 180], scale: 2}]");
    assert_int_equal(m->kind, DRAPE_MOTION_POSES);
    assert_int_equal(m->path->poses, 2);
    near3(m->path->pose[0].scale, 1, 1, 1);
    near3(m->path->pose[1].scale, 2, 2, 2);
    near3(m->path->pose[1].rotation, 0, 0, 3.14159265358979324);
    near3(m->path->pose[1].offset, 1, 0, 0);
    near3(m->path->centre, 0, 0, 0); /* the middle of the corners */
    m = motion(f, "", "center: [1 cm, 2, 3], keys: [{time: 0, scale: [1, 2, 3]}]");
    near3(m->path->centre, 0.01, 2, 3);
    near3(m->path->pose[0].scale, 1, 2, 3);
    const drape_pin *pin = read_piece(f, "    pins: [{where: left-edge, move: {keys: [{time: 0, turn: [1, 2, 3 rad], "
                                         "scale: [1, 2, 3]}]}}]\nup: y\n")
                               ->pins;
    near3(pin->motion.path->pose[0].scale, 1, 3, 2);
    near3(pin->motion.path->centre, -0.5, 0, 0);
    near3(pin->motion.path->pose[0].rotation, 0.017453292519943295, -3, 2 * 0.017453292519943295);
}

static void test_soft_pins_and_nearest_vertices(void **state) {
    fixture *f = *state;
    const drape_pin *pin =
        read_piece(f, "    pins: [{nearest: [[-9, -9, 3], [0.1, 0.01, 0], [0.5, 0.5, 0]], stiffness: 2 kN/m}]\n")
            ->pins;
    check_picked(pin, 3, (int32_t[]){0, 12, 24});
    assert_true(pin->stiffness == 2000);
    assert_true(read_piece(f, "    pins: [{where: corners}]\n")->pins[0].stiffness == 0);
}

static void test_turn_is_read(void **state) {
    fixture *f = *state;
    const drape_motion *m = motion(f, "", "turn: {axis: [0, 3, 4], center: [1 cm, 0, 2], rate: -0.5 Hz}");
    assert_int_equal(m->kind, DRAPE_MOTION_TURN);
    near3(m->velocity, 0, -0.6 * 3.14159265358979324, -0.8 * 3.14159265358979324);
    near3(m->centre, 0.01, 0, 2);
}

/* ---- curves ---- */

static double length_between(const double *x, int32_t a, int32_t b) {
    double sum = 0;
    for (int32_t k = 0; k < 3; k++) sum += (x[3 * a + k] - x[3 * b + k]) * (x[3 * a + k] - x[3 * b + k]);
    return sqrt(sum);
}

/* A ribbon along a half circle, given by few points in another unit: as long as it should be, straight across, and
 * its pattern flat. */
static void test_curves(void **state) {
    enum { ALONG = 61, ACROSS = 3 };
    const double PI = 3.14159265358979324;
    char text[2000], points[1000] = "";
    for (int i = 0; i <= 12; i++) {
        size_t used = strlen(points);
        snprintf(points + used, sizeof points - used, "%s[%.17g, 0, %.17g]", i > 0 ? ", " : "", 40 * cos(PI * i / 12),
                 40 * sin(PI * i / 12));
    }
    snprintf(text, sizeof text,
             "drape: 1\ncloth: [{grid: {width: 3, height: 0.1, resolution: [%d, %d], curve: [%s]}}]\n", ALONG, ACROSS,
             points);
    const drape_piece *piece = read_text(*state, text)->pieces;
    const double *x = piece->rest, radius = 3 / PI;
    assert_int_equal(piece->vertices, ALONG * ACROSS);
    for (int32_t i = 0; i < ALONG; i++) {
        const double *middle = x + 3 * (ALONG + i);
        ASSERT_NEAR(hypot(middle[0], middle[2]), radius, 0.01 * radius); /* least so at the ends */
        ASSERT_NEAR(middle[1], 0, 1e-12);
        ASSERT_NEAR(x[3 * i + 1], -0.05, 1e-12);
        ASSERT_NEAR(length_between(x, i, 2 * ALONG + i), 0.1, 1e-12);
        if (i > 0)
            ASSERT_NEAR(length_between(x, ALONG + i, ALONG + i - 1), 3.0 / (ALONG - 1), 1e-3 * 3 / (ALONG - 1));
        ASSERT_NEAR(piece->uv[2 * i], 3.0 * i / (ALONG - 1) - 1.5, 1e-14);
    }
    /* Along x it is the grid itself. */
    piece =
        read_text(*state, "drape: 1\ncloth: [{grid: {width: 2, resolution: 5, curve: [[-9, 0, 0], [9, 0, 0]]}}]\n")
            ->pieces;
    for (int32_t i = 0; i < piece->vertices; i++) {
        for (int32_t k = 0; k < 2; k++) ASSERT_NEAR(piece->rest[3 * i + k], piece->uv[2 * i + k], 1e-14);
        ASSERT_NEAR(piece->rest[3 * i + 2], 0, 1e-14);
    }
}

/* ---- tubes ---- */

/* A regular tube is at rest, closed (every edge has two triangles except for those of both ends), and as long and
 * wide as the grid. The ends of an irregular one lie at the same height all around, and its pattern fits. */
static void test_tubes(void **state) {
    fixture *f = *state;
    for (int32_t irregular = 0; irregular < 2; irregular++) {
        char text[200];
        snprintf(text, sizeof text,
                 "drape: 1\ncloth: [{grid: {width: 2, height: 1, resolution: 25, tube: true, "
                 "irregular: %s}}]\n",
                 irregular ? "true" : "false");
        const drape_scene *s = read_text(f, text);
        assert_int_equal(s->pieces[0].vertices, 24 * 13);
        assert_int_equal(s->pieces[0].triangles, 2 * 24 * 12);
        drape_sim *sim = make_sim(f);
        const drape_cloth *cloth = drape_sim_cloth(sim);
        assert_int_equal(drape_cloth_hinges(cloth), (3 * 2 * 24 * 12 - 2 * 24) / 2);
        double stretch = drape_cloth_stretch(cloth, drape_sim_positions(sim));
        ASSERT_NEAR(stretch, 1, irregular ? 0.01 : 1e-12);
        for (int32_t i = 0; i < 24; i++) {
            const double *x = s->pieces[0].rest + 3 * (int64_t)i, *y = x + 3 * 24 * 12;
            ASSERT_NEAR(x[1], -0.5, 1e-15);
            ASSERT_NEAR(y[1], 0.5, 1e-15);
            ASSERT_NEAR(2 * 24 * sqrt(x[0] * x[0] + x[2] * x[2]) * sin(3.14159265358979324 / 24), 2, 1e-12);
        }
        drape_sim_destroy(sim);
    }
}

/* ---- motions as they are simulated ---- */

/* Vertex 8, at (0.5, 0.5, 0), turns about an axis along y through (0.2, 7, 0.4), from the start or from later on. */
static void check_turn(fixture *f, const char *from, double held_after) {
    char text[400];
    snprintf(text, sizeof text,
             "drape: 1\ncloth:\n  - grid: {resolution: 3}\n    pins:\n      - {where: [top-left, bottom-left]}\n"
             "      - {where: top-right, %smove: {turn: {axis: [0, 2, 0], center: [0.2, 7, 0.4], rate: 0.25}}}\n"
             "time: {step: 20 ms, fps: 10, duration: 1 s}\n",
             from);
    read_text(f, text);
    drape_sim *sim = make_sim(f);
    double start[3] = {0.5, 0.5, 0};
    for (int32_t i = 0; i < 10; i++) {
        test_run(f->ctx, sim, f->scene->steps_per_frame);
        const double *x = drape_sim_positions(sim) + 3 * 8;
        double t = 0.1 * (i + 1) - held_after, angle = 0.5 * 3.14159265358979324 * t;
        if (t < 0.05) memcpy(start, x, sizeof start);
        if (t < 0.05) continue;
        double a = start[0] - 0.2, b = start[2] - 0.4;
        ASSERT_NEAR(x[0], 0.2 + cos(angle) * a + sin(angle) * b, 1e-12);
        ASSERT_NEAR(x[1], start[1], 1e-12);
        ASSERT_NEAR(x[2], 0.4 - sin(angle) * a + cos(angle) * b, 1e-12);
    }
    drape_sim_destroy(sim);
}

static void test_simulated_turn(void **state) {
    check_turn(*state, "", 0);
    check_turn(*state, "from: 0.3 s, ", 0.3);
}

/* Height of vertex v after each of `count` frames. */
static void heights(fixture *f, int32_t v, int32_t count, double *z) {
    drape_sim *sim = make_sim(f);
    for (int32_t i = 0; i < count; i++) {
        test_run(f->ctx, sim, f->scene->steps_per_frame);
        z[i] = drape_sim_positions(sim)[3 * v + 2];
    }
    drape_sim_destroy(sim);
}

static void test_simulated_motions(void **state) {
    fixture *f = *state;
    double z[10];
    const char *head = "drape: 1\ncloth:\n  - grid: {resolution: 3}\n    pins:\n";
    char text[1000];
    snprintf(text, sizeof text,
             "%s"
             "      - {where: top-left, move: {sine: {amplitude: 10 cm, frequency: 1 Hz, phase: 90}}}\n"
             "      - {where: top-right, move: {keys: [{time: 0.2, offset: [0, 0, 0]}, {time: 0.6, offset: [0, 0, "
             "0.2]}]}}\n"
             "      - {where: bottom-left, move: {linear: {velocity: [0, 0, 0.5]}}}\n"
             "time: {step: 20 ms, fps: 10, duration: 1 s}\n",
             head);
    read_text(f, text);
    assert_int_equal(f->scene->frames, 10);
    heights(f, 6, 10, z);
    for (int32_t i = 0; i < 10; i++)
        ASSERT_NEAR(z[i], 0.1 * (cos(2 * 3.14159265358979324 * 0.1 * (i + 1)) - 1), 1e-12);
    heights(f, 8, 10, z);
    for (int32_t i = 0; i < 10; i++) ASSERT_NEAR(z[i], 0.2 * fmin(1, fmax(0, (0.1 * (i + 1) - 0.2) / 0.4)), 1e-12);
    heights(f, 0, 10, z);
    for (int32_t i = 0; i < 10; i++) ASSERT_NEAR(z[i], 0.05 * (i + 1), 1e-12);
}

static void test_pin_that_lets_go(void **state) {
    fixture *f = *state;
    double z[10];
    read_text(f, "drape: 1\ncloth:\n  - grid: {resolution: 3}\n    pins: [{where: all, until: 0.5 s}]\n"
                 "time: {step: 10 ms, fps: 10, duration: 1 s}\n");
    assert_true(f->scene->pins[0].from == 0 && f->scene->pins[0].until == 0.5);
    heights(f, 4, 10, z);
    for (int32_t i = 0; i < 5; i++) assert_true(z[i] == 0);
    for (int32_t i = 5; i < 10; i++) { /* free fall from then on, which BDF2 gets right */
        double t = 0.1 * (i - 4);
        ASSERT_NEAR(z[i], -9.81 * t * t / 2, 1e-9);
    }
}

static void test_pin_that_takes_hold_later(void **state) {
    fixture *f = *state;
    double z[10];
    read_text(f, "drape: 1\ncloth:\n  - grid: {resolution: 3}\n"
                 "    pins: [{where: all, from: 0.5 s, move: {linear: {velocity: [0, 0, 1]}}}]\n"
                 "time: {step: 10 ms, fps: 10, duration: 1 s}\n");
    assert_true(f->scene->pins[0].from == 0.5 && f->scene->pins[0].until == DRAPE_FOREVER);
    heights(f, 4, 10, z);
    for (int32_t i = 0; i < 5; i++) {
        double t = 0.1 * (i + 1);
        ASSERT_NEAR(z[i], -9.81 * t * t / 2, 1e-9);
    }
    for (int32_t i = 5; i < 10; i++) ASSERT_NEAR(z[i], z[4] + 0.1 * (i - 4), 1e-12); /* from where it was */
}

/* ---- loads, forces ---- */

static void test_loads(void **state) {
    fixture *f = *state;
    const drape_scene *s = read_text(f, "drape: 1\n"
                                        "cloth:\n"
                                        "  - {grid: {resolution: 2}}\n"
                                        "  - grid: {resolution: 2}\n"
                                        "    loads:\n"
                                        "      - {where: top-edge, force: [0, 0, -2 N]}\n"
                                        "      - {where: top-left, force: [1 kN, 0, 0]}\n");
    for (int32_t i = 0; i < 6; i++) same3(s->forces.vertex + 3 * i, 0, 0, 0);
    same3(s->forces.vertex + 3 * 6, 1000, 0, -2); /* they add up */
    same3(s->forces.vertex + 3 * 7, 0, 0, -2);
}

static void test_forces(void **state) {
    fixture *f = *state;
    const drape_forces *g = &read_piece(f, "forces: {gravity: [0, 0, -1.62 m/s^2], air_drag: 0.5}\n")->forces;
    same3(g->gravity, 0, 0, -1.62);
    assert_true(g->air_drag == 0.5 && g->drag == drape_forces_defaults().drag && !g->still_air && !g->variation);
    g = &read_piece(f, "forces: {wind: {velocity: [1, 2, 3 m/s]}}\n")->forces;
    same3(g->wind, 1, 2, 3);
    assert_true(g->drag == 1.2 && !g->still_air && !g->variation);
    g = &read_piece(f, "forces: {wind: {}}\n")->forces;
    assert_true(g->drag == 1.2 && g->still_air);
    g = &read_piece(f, "forces: {wind: {velocity: [1, 0, 0], drag: 2.4 kg/m^3}}\n")->forces;
    assert_true(g->drag == 2.4);
}

static void test_wind_that_changes(void **state) {
    fixture *f = *state;
    const drape_wind_variation *w =
        read_piece(f, "forces: {wind: {velocity: [4, 0, 0], gusts: {strength: 30 %, time: 1.5 s, length: 2 m}, "
                      "turbulence: {strength: 80 cm/s, length: 40 cm}, seed: 7}}\n")
            ->forces.variation;
    assert_non_null(w);
    assert_true(w->gust == 0.3 && w->gust_time == 1.5 && w->gust_length == 2 && w->key_count == 0);
    assert_true(w->turbulence == 0.8 && w->turbulence_length == 0.4 && w->turbulence_time == 0 && w->seed == 7);
    w = read_piece(f, "up: y\nforces: {wind: {keys: [{time: 1 s, velocity: [1, 2, 3]}, {time: 2 s, velocity: [0, 0, "
                      "0]}]}}\n")
            ->forces.variation;
    assert_true(w->key_count == 2 && w->key[0].time == 1 && w->key[1].time == 2 && w->gust == 0);
    same3(w->key[0].velocity, 1, -3, 2);
}

/* ---- time, solver, output ---- */

static void test_time(void **state) {
    static const struct {
        const char *time;
        int32_t frames, steps;
        double step;
    } cases[] = {
        {"step: 2 ms, fps: 24", 24, 21, 1.0 / 504},
        {"step: 2 ms, fps: 25", 25, 20, 0.002},
        {"step: 50 ms, fps: 25", 25, 1, 0.04}, /* no step is longer than a frame */
        {"step: 40 ms, fps: 25", 25, 1, 0.04},
        {"step: 39 ms, fps: 25", 25, 2, 0.02},
        {"step: 1 ms, fps: 30, duration: 2 s", 60, 34, 1.0 / 1020},
        {"duration: 0", 0, 20, 0.002},
        {"duration: 1 min", 1500, 20, 0.002},
        {"duration: 0.07 s", 2, 20, 0.002}, /* 1.75 frames */
        {"frames: 7", 7, 20, 0.002},
        {"frames: 0", 0, 20, 0.002},
        {"fps: 0.5, step: 0.5 s, frames: 3", 3, 4, 0.5},
        {"fps: 1 kHz, step: 1 ms", 1000, 1, 0.001},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[100];
        snprintf(text, sizeof text, "time: {%s}\n", cases[i].time);
        const drape_scene *s = read_piece(*state, text);
        assert_int_equal(s->frames, cases[i].frames);
        assert_int_equal(s->steps_per_frame, cases[i].steps);
        ASSERT_NEAR(s->step, cases[i].step, 1e-15 * cases[i].step);
    }
}

static void test_solver_and_model(void **state) {
    fixture *f = *state;
    const drape_scene *s =
        read_piece(f, "solver: {method: mpcg-original, precond: diagonal, tolerance: 1e-8, "
                      "max_iterations: 77}\nmodel: baraff_witkin\njacobian: full\ndamping_jacobian: full\n");
    assert_string_equal(s->solve.method, "mpcg-original");
    assert_string_equal(s->solve.precond, "diagonal");
    assert_true(s->solve.tol == 1e-8);
    assert_int_equal(s->solve.max_iterations, 77);
    s = read_piece(f, "solver: {stop: energy, floor: 1e-12, omega: 1.5}\n");
    assert_string_equal(s->solve.method, drape_solve_defaults().method);
    assert_string_equal(s->solve.precond, "auto");
    assert_int_equal(s->solve.stop, DRAPE_STOP_ENERGY);
    assert_true(s->solve.floor == 1e-12);
    assert_true(s->solve.omega == 1.5);
    assert_int_equal(read_piece(f, "solver: {stop: residual}\n")->solve.stop, DRAPE_STOP_RESIDUAL);
    s = read_piece(f, "solver: {precond: amg, amg: {modes: 6, theta: 0.1, levels: 5, reuse: patterns}}\n");
    assert_string_equal(s->solve.precond, "amg");
    assert_true(s->solve.amg.modes == 6 && s->solve.amg.theta == 0.1);
    assert_true(s->solve.amg.levels == 5 && s->solve.amg.reuse == DRAPE_REUSE_PATTERNS);
    s = read_piece(f, "solver: {precond: amg, amg: {modes: 3, reuse: everything}}\n");
    assert_true(s->solve.amg.modes == 3 && s->solve.amg.theta == drape_solve_defaults().amg.theta);
    assert_true(s->solve.amg.levels == drape_solve_defaults().amg.levels &&
                s->solve.amg.reuse == DRAPE_REUSE_EVERYTHING);
    assert_true(s->solve.amg.smoother == DRAPE_SMOOTHER_GAUSS_SEIDEL && s->solve.amg.degree == 2);
    assert_true(s->solve.amg.cycle == DRAPE_CYCLE_V && !s->solve.amg.unfiltered);
    assert_int_equal(read_piece(f, "solver: {amg: {reuse: nothing}}\n")->solve.amg.reuse, DRAPE_REUSE_NOTHING);
    s = read_piece(f, "solver: {amg: {smoother: chebyshev, degree: 3, cycle: w, unfiltered: true}}\n");
    assert_true(s->solve.amg.smoother == DRAPE_SMOOTHER_CHEBYSHEV && s->solve.amg.degree == 3);
    assert_true(s->solve.amg.cycle == DRAPE_CYCLE_W && s->solve.amg.unfiltered);
    assert_int_equal(s->solve.amg.reuse, DRAPE_REUSE_EVERYTHING);
    s = read_piece(f, "solver: {amg: {smoother: gauss-seidel, cycle: v, unfiltered: false}}\n");
    assert_true(s->solve.amg.smoother == DRAPE_SMOOTHER_GAUSS_SEIDEL && s->solve.amg.cycle == DRAPE_CYCLE_V);
    assert_false(s->solve.amg.unfiltered);
    s = read_piece(f, "solver: {method: cg, tolerance: 1e-3}\nmodel: baraff_witkin\njacobian: full\n"
                      "damping_jacobian: full\n");
    assert_string_equal(s->solve.method, "cg");
    assert_string_equal(s->solve.precond, "auto");
    assert_int_equal(s->solve.stop, DRAPE_STOP_PRECONDITIONED);
    assert_string_equal(s->cloth.model, "baraff_witkin");
    assert_int_equal(s->cloth.jacobian, DRAPE_JACOBIAN_FULL);
    assert_int_equal(s->cloth.damping_jacobian, DRAPE_DAMPING_FULL);
    s = read_piece(f, "jacobian: psd\ndamping_jacobian: symmetric\n");
    assert_int_equal(s->cloth.jacobian, DRAPE_JACOBIAN_PSD);
    assert_int_equal(s->cloth.damping_jacobian, DRAPE_DAMPING_SYMMETRIC);
    s = read_piece(f, "model: provot\njacobian: linear\n");
    assert_string_equal(s->cloth.model, "provot");
    assert_int_equal(s->cloth.jacobian, DRAPE_JACOBIAN_LINEAR);
    assert_int_equal(read_piece(f, "jacobian: full\n")->cloth.damping_jacobian, DRAPE_DAMPING_SYMMETRIC);
}

static void test_output(void **state) {
    fixture *f = *state;
    const drape_scene *s = read_piece(f, "output: flag.html\n");
    assert_int_equal(s->output_count, 1);
    assert_string_equal(s->output[0], "flag.html");
    s = read_piece(f, "output: [a.obj, out/b.html]\n");
    assert_int_equal(s->output_count, 2);
    assert_string_equal(s->output[1], "out/b.html");
    assert_int_equal(read_piece(f, "output: []\n")->output_count, 0);
    assert_int_equal(read_piece(f, "output: [a..b.html, x/..y/c.obj]\n")->output_count, 2);
}

/* However deep a text is nested, what it takes in memory is little. */
static void test_deep_nesting(void **state) {
    fixture *f = *state;
    enum { SIZE = 1 << 20 };
    char *text = malloc(SIZE + 1);
    memset(text, '[', SIZE);
    text[SIZE] = 0;
    refuse(f, text, NULL, "1:1001: nested too deeply");
    for (int32_t i = 0; i + 4 <= SIZE; i += 4) memcpy(text + i, "{a: ", 4);
    refuse(f, text, NULL, "nested too deeply");
    strcpy(text, "drape: 1\ncloth: ");
    memset(text + 16, '[', 40);
    text[56] = 0;
    refuse(f, text, NULL, "nested too deeply");
    free(text);
}

/* A scene may not write anywhere; the user of the program may. */
static void test_output_elsewhere(void **state) {
    fixture *f = *state;
    static const char *const names[] = {"/tmp/a.html", "../a.html", "x/../../a.html"};
    drape_scene_options trust = {.trust_paths = true};
    char text[200];
    for (int32_t i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "drape: 1\ncloth: [{grid: {resolution: 2}}]\noutput: %s\n", names[i]);
        refuse(f, text, NULL, "is outside the current folder");
        assert_string_equal(read_with(f, text, &trust)->output[0], names[i]);
    }
}

/* ---- overrides ---- */

static const char *const FLAG = "drape: 1\n"
                                "cloth:\n"
                                "  - {name: pole, grid: {resolution: 2}}\n"
                                "  - name: flag\n"
                                "    grid: {width: 1 m, resolution: 3}\n"
                                "    pins:\n"
                                "      - {where: left-edge}\n"
                                "      - {where: top-right}\n"
                                "time: {frames: 3}\n";

static const drape_scene * override(fixture *f, const char *const *set, int32_t count) {
    drape_scene_options options = {.set = set, .set_count = count};
    return read_with(f, FLAG, &options);
}
#define OVERRIDE(f, ...)                                                                                             \
    override(f, (const char *const[]){__VA_ARGS__}, (int32_t)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)))

static void test_overrides(void **state) {
    fixture *f = *state;
    assert_int_equal(OVERRIDE(f, "time.frames=7")->frames, 7);
    ASSERT_NEAR(OVERRIDE(f, "time.step=1ms")->step, 0.001, 1e-18);                   /* a key that was not there */
    assert_true(OVERRIDE(f, "forces.wind.velocity=[1, 0, 0]")->forces.wind[0] == 1); /* in maps that were not there */
    assert_true(OVERRIDE(f, "solver={tolerance: 1e-7, method: mpcg}")->solve.tol == 1e-7);
    assert_string_equal(OVERRIDE(f, "solver.method=bicgstab", "solver.precond=ilu")->solve.precond, "ilu");
    assert_int_equal(OVERRIDE(f, "cloth.1.grid.resolution=5")->pieces[1].vertices, 25);
    assert_int_equal(OVERRIDE(f, "cloth.flag.grid.resolution=5")->pieces[1].vertices, 25);
    assert_int_equal(OVERRIDE(f, "cloth.flag.pins.1.where=bottom-right")->pins[1].vertices[0], 4 + 2);
    assert_int_equal(OVERRIDE(f, "cloth.flag.pins.0={vertices: [4]}")->pins[0].count, 1);
    assert_int_equal(OVERRIDE(f, "cloth.flag.pins=[]")->pin_count, 0);
    assert_int_equal(
        OVERRIDE(f, "cloth.pole.mesh=none.obj", "cloth.pole={grid: {resolution: 3}}")->pieces[0].vertices, 9);
    assert_string_equal(OVERRIDE(f, "name=a=b")->name, "a=b");
    assert_int_equal(OVERRIDE(f, "time.frames=7", "time.frames=8")->frames, 8); /* the last one holds */
    assert_int_equal(OVERRIDE(f, "cloth=[{name: new, grid: {}}]", "cloth.new.grid.resolution=2")->pieces[0].vertices,
                     4);
    assert_int_equal(OVERRIDE(f, "output=[a.html, b.obj]")->output_count, 2);
}

static void test_wrong_overrides(void **state) {
    static const char *const wrong[][2] = {
        {"time", "expected path=value"},         {"time.frames=", "expected path=value"},
        {"=1", "expected path=value"},           {"cloth.sail.mass=1", "there is no \"sail\""},
        {"cloth.7.mass=1", "there is no \"7\""}, {"cloth.-9999999999999999999.mass=1", "there is no"},
        {"drape.x=1", "there is no \"drape\""},  {"time.frames=[", "--set time.frames=["},
        {"time.frames=x", "frames: \"x\""},      {"tiem.frames=1", "did you mean \"time\"?"},
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        drape_scene_options options = {.set = &wrong[i][0], .set_count = 1};
        refuse(f, FLAG, &options, wrong[i][1]);
        assert_int_equal(strncmp(drape_message(f->ctx), "--set ", 6), 0);
    }
}

/* ---- problems ---- */

typedef struct received {
    int32_t count;
    char text[10][200];
} received;

static void receive(void *user, const char *text) {
    received *h = user;
    if (h->count < 10) snprintf(h->text[h->count], sizeof h->text[0], "%s", text);
    h->count++;
}

/* All are told, in the order of the file; the message is the first. */
static void test_all_problems(void **state) {
    fixture *f = *state;
    received h = {0};
    drape_scene_options options = {.problem = receive, .problem_user = &h};
    refuse(f,
           "drape: 1\n"
           "cloth:\n"
           "  - {grid: {width: 1 kg}, material: velvet}\n"
           "  - {grid: {resolution: 3}, pins: [{where: top}]}\n"
           "time: {fps: x}\n"
           "up: x\n",
           &options, "test.yaml:3:20: width");
    assert_int_equal(h.count, 5);
    static const char *const places[] = {":3:20: width", ":3:37: unknown fabric", ":4:44: there is no place",
                                         ":5:13: fps", ":6:5: up"};
    for (int32_t i = 0; i < 5; i++)
        if (!strstr(h.text[i], places[i])) fail_msg("%s is not the place of %s", places[i], h.text[i]);
    assert_non_null(strstr(h.text[4], "\n    up: x"));
}

/* A file that is wrong everywhere is told about in so many words, not in millions. */
static void test_too_many_problems(void **state) {
    fixture *f = *state;
    received h = {0};
    drape_scene_options options = {.problem = receive, .problem_user = &h};
    enum { COUNT = 100000 };
    char *text = malloc(3 * COUNT + 100);
    size_t used = (size_t)sprintf(text, "drape: 1\ncloth: [{grid: {}, pins: [{vertices: [x");
    for (int32_t i = 0; i < COUNT; i++) used += (size_t)sprintf(text + used, ", x");
    sprintf(text + used, "]}]}]\n");
    refuse(f, text, &options, "vertices: \"x\" is not a number");
    assert_in_range(h.count, 50, 1000);
    free(text);
}

/* ---- meshes ---- */

static void write_mesh(const fixture *f, const char *name, const char *text) {
    FILE *file = fopen(path_in(f, name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* A square of 3 by 3 in two triangles that are groups; texture coordinates from 0 to 1, in an order of their own. */
static const char *const SQUARE = "v 0 0 0\nv 3 0 0\nv 3 3 0\nv 0 3 0\n"
                                  "vt 1 1\nvt 0 0\nvt 1 0\nvt 0 1\n"
                                  "g low all\nf 1/2 2/3 3/1\ng high all\nf 1/2 3/1 4/4\n";

static const drape_scene *read_mesh(fixture *f, const char *rest) {
    char text[500];
    snprintf(text, sizeof text, "drape: 1\ncloth:\n  - mesh: square.obj\n%s", rest);
    write_mesh(f, "square.obj", SQUARE);
    return read_text(f, text);
}

static void test_mesh_without_uv(void **state) {
    fixture *f = *state;
    const drape_piece *p = read_mesh(f, "    uv: false\n")->pieces;
    assert_int_equal(p->vertices, 4);
    assert_int_equal(p->triangles, 2);
    assert_null(p->uv);
    same3(p->rest + 3 * 2, 3, 3, 0);
    write_mesh(f, "plain.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
    p = read_text(f, "drape: 1\ncloth: [{mesh: plain.obj}]")->pieces;
    assert_int_equal(p->triangles, 2); /* a polygon is cut */
    assert_null(p->uv);
}

/* The texture covers 1 m^2 of 9: refused, and the number that the message gives is the right one. */
static void test_uv_scale(void **state) {
    fixture *f = *state;
    char text[200], *number;
    write_mesh(f, "square.obj", SQUARE);
    for (int32_t i = 0; i < 3; i++) { /* the suggestion holds whatever stood there before, and in other units */
        static const char *const before[] = {"", "    uv_scale: 20\n", "    unit: 1 cm\n"};
        snprintf(text, sizeof text, "drape: 1\ncloth:\n  - mesh: square.obj\n%s", before[i]);
        refuse(f, text, NULL, "scale them with uv_scale: 3");
        number = strstr(drape_message(f->ctx), "uv_scale: ") + 10;
        snprintf(text, sizeof text, "drape: 1\ncloth:\n  - mesh: square.obj\n    uv_scale: %.*s\n%s",
                 (int)strcspn(number, ","), number, i == 2 ? before[i] : "");
        const drape_piece *p = read_text(f, text)->pieces;
        double unit = i == 2 ? 0.01 : 1;
        assert_int_equal(p->uv_vertices, 4);
        ASSERT_NEAR(p->uv[0], 3 * unit, 1e-15);
        assert_int_equal(p->uv_triangle[0], 1); /* 1/2 */
        drape_sim *sim = make_sim(f);
        ASSERT_NEAR(drape_cloth_stretch(drape_sim_cloth(sim), drape_sim_positions(sim)), 1, 1e-12);
        drape_sim_destroy(sim);
    }
    refuse(f, "drape: 1\ncloth: [{mesh: square.obj, uv_scale: 20}]", NULL, "slack");
    refuse(f, "drape: 1\ncloth: [{mesh: square.obj}]", NULL, "stretched");
    write_mesh(f, "flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1\n");
    refuse(f, "drape: 1\ncloth: [{mesh: flat.obj}]", NULL, "ignore them with uv: false");
}

static void test_mesh_units(void **state) {
    fixture *f = *state;
    const drape_piece *p =
        read_mesh(f, "    unit: 1 cm\n    uv: false\n    place: {scale: 2, translate: [1, 0, 0]}\n")->pieces;
    near3(p->rest + 3 * 2, 1.06, 0.06, 0);
    p = read_mesh(f, "    unit: 1 in\n    uv: false\n")->pieces;
    near3(p->rest + 3 * 2, 0.0762, 0.0762, 0);
    p = read_mesh(f, "    unit: in\n    uv: false\n")->pieces;
    near3(p->rest + 3 * 2, 0.0762, 0.0762, 0);
    p = read_mesh(f, "    unit: mm\n    uv: false\n")->pieces;
    near3(p->rest + 3 * 2, 0.003, 0.003, 0);
    refuse(f, "drape: 1\ncloth: [{mesh: square.obj, uv: false, unit: kg}]", NULL, "the unit \"kg\" does not fit");
    refuse(f, "drape: 1\ncloth: [{mesh: square.obj, uv: false, unit: 0 m}]", NULL, "unit");
}

/* `up` of a piece is that of its file; what comes out has z up, whatever the scene has. */
static void test_mesh_axes(void **state) {
    fixture *f = *state;
    static const struct {
        const char *scene, *piece;
        double want[3]; /* of (1, 2, 3) in the file, moved by (10, 20, 30) in the scene */
    } cases[] = {
        {"", "", {11, 22, 33}},         {"", ", up: z", {11, 22, 33}},         {"", ", up: y", {11, 17, 32}},
        {"up: y\n", "", {11, -33, 22}}, {"up: y\n", ", up: y", {11, -33, 22}}, {"up: y\n", ", up: z", {11, -28, 23}},
    };
    char text[256];
    write_mesh(f, "plain.obj", "v 1 2 3\nv 1 0 0\nv 1 1 0\nf 1 2 3\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "drape: 1\n%scloth: [{mesh: plain.obj%s, place: {translate: [10, 20, 30]}}]",
                 cases[i].scene, cases[i].piece);
        same3(read_text(f, text)->pieces->rest, cases[i].want[0], cases[i].want[1], cases[i].want[2]);
    }
    refuse(f, "drape: 1\ncloth: [{mesh: plain.obj, up: x}]", NULL, "up is x; it must be z or y");
    refuse(f, "drape: 1\ncloth: [{grid: {}, up: y}]", NULL, "up works only for a piece with `mesh:`; leave it out");
}

static void test_mesh_of_ply(void **state) {
    fixture *f = *state;
    static const char text[] = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                               "property float z\nproperty float s\nproperty float t\nelement face 1\n"
                               "property list uchar int vertex_indices\nend_header\n"
                               "0 0 0 5 5\n1 0 0 6 5\n0 1 0 5 6\n3 0 1 2\n";
    static const char *const names[] = {"a.ply", "a.mesh"}; /* it is told by how it begins, too */
    char scene[64];
    for (int i = 0; i < 2; i++) {
        write_mesh(f, names[i], text);
        snprintf(scene, sizeof scene, "drape: 1\ncloth: [{mesh: %s, unit: cm}]", names[i]);
        const drape_piece *p = read_text(f, scene)->pieces;
        assert_int_equal(p->vertices, 3);
        near3(p->rest + 3, 0.01, 0, 0);
        assert_true(fabs(p->uv[2] - 0.06) < 1e-15);
    }
    write_mesh(f, "b.PLY", "v 0 0 0\n");
    refuse(f, "drape: 1\ncloth: [{mesh: b.PLY}]", NULL, "b.PLY:1: not a PLY file");
}

static void test_mesh_groups(void **state) {
    fixture *f = *state;
    check_picked(read_mesh(f, "    uv: false\n    pins: [{group: low}]\n")->pins, 3, (int32_t[]){0, 1, 2});
    check_picked(read_mesh(f, "    uv: false\n    pins: [{group: high}]\n")->pins, 3, (int32_t[]){0, 2, 3});
    check_picked(read_mesh(f, "    uv: false\n    pins: [{group: [low, high]}]\n")->pins, 4, (int32_t[]){0, 1, 2, 3});
    check_picked(read_mesh(f, "    uv: false\n    pins: [{vertices: [3]}]\n")->pins, 1, (int32_t[]){3});
    check_picked(read_mesh(f, "    uv: false\n    pins: [{box: [[3, 0, 0], [3, 3, 0]]}]\n")->pins, 2,
                 (int32_t[]){1, 2});
}

static void test_paths(void **state) {
    fixture *f = *state;
    drape_scene_options trust = {.trust_paths = true}, none = {.no_files = true};
    char text[3 * PATH_SIZE];
    write_mesh(f, "plain.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n");
    snprintf(text, sizeof text, "drape: 1\ncloth: [{mesh: %s}]", path_in(f, "plain.obj"));
    refuse(f, text, NULL, "is outside the scene's folder");
    assert_int_equal(read_with(f, text, &trust)->pieces[0].vertices, 3);
    snprintf(text, sizeof text, "drape: 1\ncloth: [{mesh: ..%s}]", strrchr(path_in(f, "plain.obj"), '/'));
    refuse(f, text, NULL, "is outside the scene's folder");
    refuse(f, text, &trust, "cannot open"); /* looked for, and not there */
    refuse(f, "drape: 1\ncloth: [{mesh: plain.obj}]", &none, "does not allow files");
}

/* A link beside the scene may lead within its folder, not out of it. */
static void test_links(void **state) {
    fixture *f = *state;
    drape_scene_options trust = {.trust_paths = true};
    char outside[] = "/tmp/drape-test-outside-XXXXXX";
    const char *text = "drape: 1\ncloth: [{mesh: outside.obj}]";
    int file = mkstemp(outside);
    assert_true(file >= 0 && write(file, "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n", 32) == 32);
    close(file);
    write_mesh(f, "plain.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n");
    assert_int_equal(symlink("plain.obj", path_in(f, "inside.obj")), 0);
    assert_int_equal(symlink(outside, path_in(f, "outside.obj")), 0);
    assert_int_equal(read_text(f, "drape: 1\ncloth: [{mesh: inside.obj}]")->pieces[0].vertices, 3);
    refuse(f, text, NULL, "is outside the scene's folder");
    assert_int_equal(read_with(f, text, &trust)->pieces[0].vertices, 3);
    unlink(outside);
    unlink(path_in(f, "inside.obj"));
    unlink(path_in(f, "outside.obj"));
}

/* A scene file, and scenes by name. */
static void test_load(void **state) {
    fixture *f = *state;
    char name[2 * PATH_SIZE];
    forget(f);
    write_mesh(f, "plain.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n");
    write_mesh(f, "my.scene.yml", "drape: 1\ncloth: [{mesh: plain.obj}]\n");
    snprintf(name, sizeof name, "%s", path_in(f, "my.scene.yml"));
    ASSERT_OK(f->ctx, drape_scene_load(f->ctx, name, NULL, &f->loaded));
    f->scene = drape_loaded_scene_edit(f->loaded);
    assert_string_equal(f->scene->name, "my.scene");
    assert_int_equal(f->scene->pieces[0].vertices, 3);
    forget(f);
    ASSERT_OK(f->ctx, drape_scene_load(f->ctx, "flag", NULL, &f->loaded));
    f->scene = drape_loaded_scene_edit(f->loaded);
    assert_string_equal(f->scene->name, "flag");
    forget(f);
    assert_int_equal(drape_scene_load(f->ctx, "flga", NULL, &f->loaded), DRAPE_ERROR_ARGUMENT);
    assert_null(f->loaded);
    assert_non_null(strstr(drape_message(f->ctx), "did you mean \"flag\"?"));
    assert_int_equal(drape_scene_load(f->ctx, "none.yaml", NULL, &f->loaded), DRAPE_ERROR_IO);
    assert_null(f->loaded);
    assert_int_equal(drape_scene_load(f->ctx, "./flag", NULL, &f->loaded), DRAPE_ERROR_IO); /* a slash: a file */
    drape_loaded_scene_destroy(NULL);
}

/* A loaded scene is its own type: data to read, data to change, and copies that leave it alone. */
static void test_loaded_scenes_own_themselves(void **state) {
    fixture *f = *state;
    drape_loaded_scene *loaded = NULL;
    drape_scene_options options = {.resolution = 4};
    forget(f);
    ASSERT_OK(f->ctx, drape_scene_load(f->ctx, "flag", &options, &loaded));
    const drape_scene *data = drape_loaded_scene_data(loaded);
    drape_scene mine = *data;
    mine.frames = data->frames + 7;
    mine.step = 1e-3;
    assert_int_not_equal(drape_loaded_scene_data(loaded)->frames, mine.frames);
    drape_loaded_scene_edit(loaded)->frames = 5;
    assert_int_equal(data->frames, 5);
    drape_sim *sim;
    ASSERT_OK(f->ctx, drape_sim_create(f->ctx, &mine, &sim));
    drape_loaded_scene_destroy(loaded); /* the simulation has copied what it needs */
    ASSERT_OK(f->ctx, drape_sim_step(sim, NULL));
    assert_true(drape_sim_time(sim) == 1e-3);
    drape_sim_destroy(sim);
    assert_null(drape_loaded_scene_data(NULL));
    assert_null(drape_loaded_scene_edit(NULL));
}

static void jittered(fixture *f, uint64_t seed, double *out) {
    const drape_scene_options options = {.resolution = 5, .jitter = 1e-3, .seed = seed};
    drape_loaded_scene *plain, *loaded;
    ASSERT_OK(f->ctx, drape_scene_builtin(f->ctx, "hammock", 5, &plain));
    ASSERT_OK(f->ctx, drape_scene_load(f->ctx, "hammock", &options, &loaded));
    const drape_scene *a = drape_loaded_scene_data(plain), *b = drape_loaded_scene_data(loaded);
    double most = 0;
    int32_t n = 0;
    for (int32_t p = 0; p < a->piece_count; p++) {
        assert_memory_equal(a->pieces[p].uv, b->pieces[p].uv, 2 * (size_t)a->pieces[p].vertices * sizeof(double));
        for (int32_t i = 0; i < 3 * a->pieces[p].vertices; i++) {
            double d = b->pieces[p].rest[i] - a->pieces[p].rest[i];
            most = fmax(most, fabs(d));
            if (n < 30) out[n++] = d;
        }
    }
    assert_true(most <= 1e-3 + 1e-15 && most > 0.9e-3);
    for (int32_t p = 0; p < a->pin_count; p++) assert_int_equal(a->pins[p].count, b->pins[p].count);
    drape_loaded_scene_destroy(plain);
    drape_loaded_scene_destroy(loaded);
}

static void test_jitter(void **state) {
    fixture *f = *state;
    double d[3][30];
    jittered(f, 1, d[0]), jittered(f, 1, d[1]), jittered(f, 2, d[2]);
    assert_memory_equal(d[0], d[1], sizeof d[0]);
    for (int32_t i = 0; i < 30; i++) assert_true(d[0][i] != d[2][i]);
    drape_loaded_scene *loaded;
    assert_int_equal(drape_scene_load(f->ctx, "flag", &(drape_scene_options){.jitter = -1}, &loaded),
                     DRAPE_ERROR_ARGUMENT);
    assert_string_equal(drape_message(f->ctx), "jitter is -1 m; it must lie in 0..1");
}

static void test_null_and_reserved_get_a_status(void **state) {
    fixture *f = *state;
    drape_loaded_scene *loaded = (drape_loaded_scene *)1;
    drape_scene_options options = {.set_count = 1};
    assert_int_equal(drape_scene_load(NULL, "flag", NULL, &loaded), DRAPE_ERROR_ARGUMENT);
    assert_null(loaded);
    assert_int_equal(drape_scene_load(f->ctx, NULL, NULL, &loaded), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_scene_load(f->ctx, "flag", NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_scene_builtin(f->ctx, NULL, 0, &loaded), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_scene_builtin(f->ctx, "flag", 0, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_scene_parse(f->ctx, "a", NULL, 3, NULL, &loaded), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_scene_load(f->ctx, "flag", &options, &loaded), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(f->ctx), "no list of 1 settings"));
    options = (drape_scene_options){.reserved = {[3] = 1}};
    assert_int_equal(drape_scene_load(f->ctx, "flag", &options, &loaded), DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(f->ctx), "drape_scene_options.reserved"));
    assert_int_equal(drape_check(f->ctx, NULL, NULL, NULL), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_check(NULL, "flag", NULL, NULL), DRAPE_ERROR_ARGUMENT);
    drape_check_options check = {.reserved = {1}};
    assert_int_equal(drape_check(f->ctx, "flag", &check, NULL), DRAPE_ERROR_ARGUMENT);
    assert_string_equal(drape_severity_name(DRAPE_SEVERITY_ERROR), "error");
    assert_null(drape_severity_name((drape_severity)2));
}

/* ---- locale ---- */

/* A locale with a decimal comma, made in the fixture's folder where none is installed. */
static bool enter_comma_locale(const fixture *f) {
    char command[3 * PATH_SIZE];
    for (int attempt = 0; attempt < 2; attempt++) {
        if (setlocale(LC_ALL, "de_DE.UTF-8") && strcmp(localeconv()->decimal_point, ",") == 0) return true;
        snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1", f->folder);
        if (attempt > 0 || system(command) != 0) break;
        setenv("LOCPATH", f->folder, 1);
    }
    return false;
}

/* A host program's decimal comma is not the scene's. */
static void test_comma_locale(void **state) {
    fixture *f = *state;
    char command[2 * PATH_SIZE];
    bool entered = enter_comma_locale(f);
    if (entered) {
        near3(read_grid(f, "width: 1.5 m, resolution: 2", "    place: {scale: 1.5}\n")->pieces[0].rest, -1.125,
              -1.125, 0);
        refuse(f, "drape: 1\ncloth:\n  - grid:\n      width: 1,5 m\n", NULL, "not a comma");
        assert_string_equal(localeconv()->decimal_point, ","); /* put back */
    }
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf '%s/de_DE.UTF-8'", f->folder);
    if (system(command) != 0) print_message("%s: cannot be removed\n", f->folder);
    if (!entered) {
        print_message("no locale with a decimal comma, and none can be made: skipped\n");
        skip();
    }
}

/* ---- memory ---- */

static const char *const EVERYTHING =
    "drape: 1\n"
    "name: everything\n"
    "up: y\n"
    "cloth:\n"
    "  - name: a\n"
    "    grid: {width: 1 m, height: 2 m, resolution: 33, irregular: true, cut: [0.5, 0.5]}\n"
    "    place: {scale: 2, rotate: [1, 2, 3], translate: [1, 2, 3]}\n"
    "    material: {fabric: silk, damping: {bend: 0}}\n"
    "    mass: 1 g\n"
    "    velocity: [1, 0, 0]\n"
    "    pins:\n"
    "      - {where: [bottom-edge], directions: [[1, 0, 0]], until: 2 s}\n"
    "      - {at: [[0, 0.5]], move: {keys: [{time: 0, offset: [0, 0, 0]}, {time: 1, offset: [0, 0, 1]}]}}\n"
    "    loads: [{where: center, force: [0, 0, 1]}]\n"
    "  - {name: b, mesh: square.obj, uv_scale: 3, pins: [{group: low}]}\n"
    "colliders:\n"
    "  - {name: c, shape: capsule, radius: 1, length: 2, move: {keys: [{time: 1}, {time: 2, turn: [0, 9, 0]}]}}\n"
    "  - {name: d, mesh: square.obj, place: {translate: [9, 9, 9]}}\n"
    "contact: {distance: 1 mm}\n"
    "forces: {wind: {velocity: [1, 2, 3]}}\n"
    "output: [a.obj, b.html]\n";

static bool fail_request(fixture *f, const char *text, int64_t n) {
    static const char *const set[] = {"time.step=1 ms", "cloth.b.material=wool"};
    counting_allocator memory = {.left = n};
    drape_scene_options options = {.set = set, .set_count = 2};
    drape_loaded_scene *loaded = (drape_loaded_scene *)1;
    char name[2 * PATH_SIZE];
    drape_context *ctx = counting_context(&memory);
    snprintf(name, sizeof name, "%s", path_in(f, "test.yaml"));
    drape_status status = drape_scene_parse(ctx, name, text, (int64_t)strlen(text), &options, &loaded);
    bool wrong = text != EVERYTHING;
    assert_int_equal(status, memory.failed ? DRAPE_ERROR_MEMORY : wrong ? DRAPE_ERROR_FORMAT : DRAPE_OK);
    if (memory.failed && !strstr(drape_message(ctx), "memory"))
        fail_msg("request %d: %s", (int)n, drape_message(ctx));
    if (status) assert_null(loaded);
    drape_loaded_scene_destroy(loaded);
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
    return memory.failed;
}

/* Of a good scene and of one with problems. */
static void test_every_request_may_fail(void **state) {
    fixture *f = *state;
    write_mesh(f, "square.obj", SQUARE);
    static const char *const texts[] = {
        NULL,
        "drape: 2\ncloth: [{name: b, grid: {width: x}, material: y}, {mesh: none.obj}, {grid: {}, pins: [{at: 3}]}]"};
    for (int32_t i = 0; i < 2; i++) {
        int64_t n = 0;
        while (n < 1000 && fail_request(f, i ? texts[i] : EVERYTHING, n)) n++;
        print_message("%d requests\n", (int)n);
        assert_in_range(n, 3, 999);
    }
}

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    if (!f) return -1;
    snprintf(f->folder, sizeof f->folder, "%s/drape-scene-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(f->folder)) return -1;
    f->ctx = test_context(1);
    f->bytes = drape_context_bytes(f->ctx);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    static const char *const files[] = {"square.obj", "plain.obj", "flat.obj", "my.scene.yml"};
    fixture *f = *state;
    forget(f);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) remove(path_in(f, files[i]));
    rmdir(f->folder);
    drape_context_destroy(f->ctx);
    free(f);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_smallest_scene),
        TEST(test_name),
        TEST(test_other_spellings),
        TEST(test_square_grid),
        TEST(test_resolutions),
        TEST(test_diagonals),
        TEST(test_cut_grid),
        TEST(test_irregular_grids),
        TEST(test_resolution_option),
        TEST(test_place),
        TEST(test_scale_takes_the_pattern_along),
        TEST(test_up_is_y),
        TEST(test_materials),
        TEST(test_damping_by_ratio),
        TEST(test_every_fabric),
        TEST(test_mass_and_velocity),
        TEST(test_places),
        TEST(test_cut_edges),
        TEST(test_other_ways_to_pick),
        TEST(test_box_of_awkward_numbers),
        TEST(test_pins_of_pieces),
        TEST(test_directions),
        TEST(test_motions),
        TEST(test_simulated_motions),
        TEST(test_turn_is_read),
        TEST(test_poses_are_read),
        TEST(test_soft_pins_and_nearest_vertices),
        TEST(test_simulated_turn),
        TEST(test_curves),
        TEST(test_tubes),
        TEST(test_jitter),
        TEST(test_pin_that_lets_go),
        TEST(test_pin_that_takes_hold_later),
        TEST(test_loads),
        TEST(test_forces),
        TEST(test_wind_that_changes),
        TEST(test_time),
        TEST(test_solver_and_model),
        TEST(test_output),
        TEST(test_output_elsewhere),
        TEST(test_deep_nesting),
        TEST(test_overrides),
        TEST(test_wrong_overrides),
        TEST(test_all_problems),
        TEST(test_too_many_problems),
        TEST(test_mesh_without_uv),
        TEST(test_uv_scale),
        TEST(test_mesh_units),
        TEST(test_mesh_axes),
        TEST(test_mesh_of_ply),
        TEST(test_mesh_groups),
        TEST(test_paths),
        TEST(test_links),
        TEST(test_load),
        TEST(test_loaded_scenes_own_themselves),
        TEST(test_null_and_reserved_get_a_status),
        TEST(test_comma_locale),
        TEST(test_every_request_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
