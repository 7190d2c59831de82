/* scenes.c: the built-in scenes. To add one: a function that fills a scene, one line in the table.
 *
 * pinned, drooping, reentrant: Tamstorf, Jones and McCormick (2015), section 10: 1 m x 1 m of cotton, starting flat,
 *   h = 2 ms, tolerance 1e-5.
 * four-corners: Ascher and Boxerman (2003), section 5; the paper gives no parameters, these are one set that comes
 *   near its tables.
 * chen: the 4 x 4 sheet of Chen's MPCG report with the parameters of its code, 1.5 m wide. */
#include "base/arena.h"
#include "drape/sim.h"
#include "sim/grid.h"

#include <string.h>

enum { LEAST_RESOLUTION = 2, MOST_RESOLUTION = 8192 };

/* A scene and the memory of its arrays. */
typedef struct owned_scene {
    drape_scene scene; /* first: the address of one is that of the other */
    drape_i_arena arena;
} owned_scene;

typedef struct builder {
    drape_context *ctx;
    owned_scene *out;
    int32_t resolution;
    drape_i_grid grid;
} builder;

static void *get(builder *b, int64_t count, size_t size) {
    return drape_i_arena_get(b->ctx, &b->out->arena, count, size);
}

/* One piece of `side` m on the grid, cells at or beyond `cut` in both directions left out, with room for pins. */
static drape_status add_sheet(builder *b, double side, int32_t cut, int32_t pins) {
    drape_scene *s = &b->out->scene;
    b->grid = (drape_i_grid){
        .nx = b->resolution, .ny = b->resolution, .cut_x = cut, .cut_y = cut, .width = side, .height = side};
    drape_status status = drape_i_grid_make(b->ctx, &b->out->arena, &b->grid);
    if (status) return status;
    s->pieces = get(b, 1, sizeof *s->pieces);
    s->pins = get(b, pins, sizeof *s->pins);
    if (!s->pieces || !s->pins) return DRAPE_ERROR_MEMORY;
    s->piece_count = 1;
    s->pieces[0] = (drape_piece){.vertices = b->grid.vertices,
                                 .rest = b->grid.rest,
                                 .triangles = b->grid.triangles,
                                 .triangle = b->grid.triangle[0],
                                 .uv = b->grid.uv,
                                 .material = drape_material_defaults()};
    return DRAPE_OK;
}

/* Pins the grid's vertices (i, j) that the test picks, in all directions. */
static drape_status pin_where(builder *b, bool (*picks)(const drape_i_grid *g, int32_t i, int32_t j)) {
    drape_scene *s = &b->out->scene;
    int32_t *vertices = get(b, b->grid.vertices, sizeof *vertices), count = 0;
    if (!vertices) return DRAPE_ERROR_MEMORY;
    for (int32_t j = 0; j < b->grid.ny; j++)
        for (int32_t i = 0; i < b->grid.nx; i++) {
            int32_t v = b->grid.number[i + (int64_t)b->grid.nx * j];
            if (v >= 0 && picks(&b->grid, i, j)) vertices[count++] = v;
        }
    s->pins[s->pin_count++] = (drape_pin){.count = count, .vertices = vertices, .directions = 3};
    return DRAPE_OK;
}

static bool on_edge(const drape_i_grid *g, int32_t i, int32_t j) {
    return i == 0 || j == 0 || i == g->nx - 1 || j == g->ny - 1;
}
static bool on_left_or_right(const drape_i_grid *g, int32_t i, int32_t j) {
    (void)j;
    return i == 0 || i == g->nx - 1;
}
static bool on_cut(const drape_i_grid *g, int32_t i, int32_t j) {
    return (i == g->cut_x && j >= g->cut_y) || (j == g->cut_y && i >= g->cut_x);
}
static bool on_corner(const drape_i_grid *g, int32_t i, int32_t j) {
    return (i == 0 || i == g->nx - 1) && (j == 0 || j == g->ny - 1);
}

static drape_status make_pinned(builder *b) {
    drape_status status = add_sheet(b, 1, b->resolution - 1, 1);
    return status ? status : pin_where(b, on_edge);
}

static drape_status make_drooping(builder *b) {
    drape_status status = add_sheet(b, 1, b->resolution - 1, 1);
    return status ? status : pin_where(b, on_left_or_right);
}

static drape_status make_reentrant(builder *b) {
    if (b->resolution < 3)
        return drape_i_fail(b->ctx, DRAPE_ERROR_ARGUMENT, "resolution is %d; an L-shape takes at least 3",
                            b->resolution);
    drape_status status = add_sheet(b, 1, (b->resolution - 1) / 2, 1);
    return status ? status : pin_where(b, on_cut);
}

static drape_status make_four_corners(builder *b) {
    const double side = 1.4, stiffness = 130, period = 5, amplitude = 0.1, damping = 1e-3; /* damping in N s/m */
    drape_scene *s = &b->out->scene;
    drape_status status = add_sheet(b, side, b->resolution - 1, 1);
    if (!status) status = pin_where(b, on_corner);
    if (status) return status;
    s->pieces[0].material = (drape_material){.density = 0.1,
                                             .stretch = {stiffness, stiffness},
                                             .shear = stiffness,
                                             .bend = 2e-5,
                                             .damping_stretch = damping / stiffness,
                                             .damping_shear = damping / stiffness};
    s->pins[0].motion =
        (drape_motion){.kind = DRAPE_MOTION_SINE, .amplitude = {0, 0, amplitude}, .frequency = 1 / period};
    s->forces = (drape_forces){.air_drag = 0.01};
    s->solve.tol = 0.01;
    s->step = 0.05;
    s->steps_per_frame = 1;
    s->frames = 100;
    return DRAPE_OK;
}

static drape_status make_chen(builder *b) {
    const double side = 1.5, vertex_mass = 0.2, push = 2; /* m, kg, N */
    drape_scene *s = &b->out->scene;
    drape_status status = add_sheet(b, side, b->resolution - 1, 1);
    if (!status) status = pin_where(b, on_corner);
    double *mass = get(b, b->grid.vertices, sizeof *mass);
    double *force = get(b, 3 * (int64_t)b->grid.vertices, sizeof *force);
    if (status || !mass || !force) return status ? status : DRAPE_ERROR_MEMORY;
    for (int32_t i = 0; i < b->grid.vertices; i++) mass[i] = vertex_mass;
    int32_t middle = b->resolution / 2;
    force[3 * (int64_t)(middle + b->resolution * middle) + 2] = -push;
    s->pieces[0].mass = mass;
    /* In the report's grid units all stiffnesses are 2; with energies proportional to area that is this. */
    s->pieces[0].material = (drape_material){.density = 1, .stretch = {1, 1}, .shear = 0.140625, .bend_hinge = 2};
    s->forces = (drape_forces){.vertex = force};
    s->cloth.jacobian = DRAPE_JACOBIAN_FULL;
    s->solve.tol = 1e-12;
    s->step = 0.02;
    s->steps_per_frame = 1;
    s->frames = 100;
    return DRAPE_OK;
}

static const struct entry {
    const char *name, *description;
    int32_t resolution;
    drape_status (*make)(builder *b);
} scenes[] = {
    {"pinned", "1 m x 1 m of cotton held at all edges sinks under gravity", 51, make_pinned},
    {"drooping", "1 m x 1 m of cotton held at two opposite edges sinks under gravity", 51, make_drooping},
    {"reentrant", "an L-shape of cotton held along its inner corner droops", 51, make_reentrant},
    {"four-corners", "four corners move up and down, no gravity (Ascher and Boxerman 2003)", 17, make_four_corners},
    {"chen", "a small sheet held at its corners, pushed in the middle (Chen's MPCG report)", 5, make_chen},
};

enum { COUNT = sizeof scenes / sizeof *scenes };

const char *drape_scene_name(int32_t i) { return i >= 0 && i < COUNT ? scenes[i].name : NULL; }
const char *drape_scene_description(int32_t i) { return i >= 0 && i < COUNT ? scenes[i].description : NULL; }

static drape_status make(drape_context *ctx, const struct entry *entry, int32_t resolution, drape_scene **out) {
    owned_scene *scene;
    if (!DRAPE_NEW(ctx, scene, 1)) return DRAPE_ERROR_MEMORY;
    scene->scene = (drape_scene){.name = entry->name,
                                 .forces = drape_forces_defaults(),
                                 .cloth = drape_cloth_defaults(),
                                 .solve = drape_solve_defaults(),
                                 .step = 0.002,
                                 .steps_per_frame = 20,
                                 .frames = 25};
    builder b = {.ctx = ctx, .out = scene, .resolution = resolution};
    drape_status status = entry->make(&b);
    if (status) drape_scene_destroy(ctx, &scene->scene);
    else *out = &scene->scene;
    return status;
}

drape_status drape_scene_builtin(drape_context *ctx, const char *name, int32_t resolution, drape_scene **out) {
    *out = NULL;
    if (resolution != 0 && (resolution < LEAST_RESOLUTION || resolution > MOST_RESOLUTION))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "resolution is %d; it must lie in %d..%d", resolution,
                            LEAST_RESOLUTION, MOST_RESOLUTION);
    for (int32_t i = 0; i < COUNT; i++)
        if (strcmp(scenes[i].name, name) == 0)
            return make(ctx, &scenes[i], resolution ? resolution : scenes[i].resolution, out);
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "there is no scene \"%s\"", name);
}

void drape_scene_destroy(drape_context *ctx, drape_scene *scene) {
    if (!scene) return;
    owned_scene *owned = (owned_scene *)scene;
    drape_i_arena_free(ctx, &owned->arena);
    DRAPE_FREE(ctx, owned, 1);
}
