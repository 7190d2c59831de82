/* scene_cloth.c: `cloth:`, a list of pieces: a grid or a mesh file, its place, its material. */
#include "base/elementary.h"
#include "cloth/grid.h"
#include "io/mesh.h"
#include "io/mesh_sew.h"
#include "io/scene_garment.h"
#include "io/scene_reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PIECES = 10000,
    MOST_POINTS = 10000, /* of a curve */
    MOST_PARTS = 256,    /* of an edge */
    FEWEST_AROUND = 4    /* vertices along the width of a tube, of which the first and the last are one */
};

static const double DEFAULT_THICKNESS = 1e-3;          /* m */
static const double RADIANS = 0.017453292519943295769; /* per degree */

typedef drape_i_placement placement;

/* ---- place ---- */

/* Exact at multiples of a right angle, so that a sheet that is turned upright stays straight. */
static void sine_cosine(double degrees, double *s, double *c) {
    double quarters = degrees / 90;
    if (quarters == floor(quarters) && fabs(quarters) < 1e6) {
        static const double sines[4] = {0, 1, 0, -1};
        int32_t quarter = (int32_t)(quarters - 4 * floor(quarters / 4));
        *s = sines[quarter];
        *c = sines[(quarter + 1) % 4];
    } else {
        *s = drape_i_sin(degrees * RADIANS);
        *c = drape_i_cos(degrees * RADIANS);
    }
}

void drape_i_move_points(const placement *p, int64_t count, double *points) {
    static const int32_t plane[3][2] = {{1, 2}, {2, 0}, {0, 1}}; /* a turn about axis k moves these two */
    double s[3], c[3];
    for (int32_t k = 0; k < 3; k++) sine_cosine(p->rotate[k], &s[k], &c[k]);
    for (int64_t i = 0; i < count; i++) {
        double *x = points + 3 * i;
        for (int32_t k = 0; k < 3; k++) x[k] *= p->scale;
        for (int32_t k = 0; k < 3; k++) {
            double *a = &x[plane[k][0]], *b = &x[plane[k][1]], old = *a;
            *a = c[k] * old - s[k] * *b;
            *b = s[k] * old + c[k] * *b;
        }
        for (int32_t k = 0; k < 3; k++) x[k] += p->translate[k];
    }
}

void drape_i_place_points(const reader_t *r, const placement *p, int64_t count, double *points) {
    drape_i_move_points(p, count, points);
    for (int64_t i = 0; i < count; i++) drape_i_turn_up(r, points + 3 * i);
}

/* The pattern grows with the piece, so that it is as slack or tight as before. */
static void place_piece(const reader_t *r, const placement *p, drape_piece *piece, drape_i_shape *shape) {
    int32_t pattern = !piece->uv ? 0 : piece->uv_triangle ? piece->uv_vertices : piece->vertices;
    double *uv = (double *)piece->uv; /* ours: made or read here */
    for (int64_t i = 0; i < 2 * (int64_t)pattern; i++) uv[i] *= p->scale;
    if (pattern > 0) shape->uv_unit *= p->scale;
    drape_i_place_points(r, p, piece->vertices, (double *)piece->rest);
}

/* Whether a number without a unit is a multiple of pi/12 to four digits, which degrees never are. */
static bool looks_like_radians(const drape_i_node *n) {
    const double part = 0.26179938779914943654; /* pi/12 */
    char *end;
    double number = n->kind == DRAPE_I_SCALAR ? fabs(strtod(n->text, &end)) : 0;
    if (!(number > 0 && number < 7) || *end) return false;
    double multiple = floor(number / part + 0.5);
    return fabs(number - multiple * part) < 1e-3 && fabs(number - floor(number + 0.5)) > 1e-3;
}

static void question_radians(reader_t *r, const drape_i_node *rotate) {
    for (const drape_i_node *n = rotate->first; n; n = n->next)
        if (looks_like_radians(n))
            drape_i_warn_at(r, n, "rotate: %s degrees look like radians; if you mean radians, write %s rad", n->text,
                            n->text);
}

placement drape_i_read_place(reader_t *r, const drape_i_node *piece) {
    static const char *const keys[] = {"scale", "rotate", "translate", NULL};
    placement p = {.scale = 1};
    const drape_i_node *node = drape_i_node_find(piece, "place");
    if (!node || !drape_i_read_map(r, node, keys)) return p;
    drape_i_read_number(r, node, "scale", DRAPE_I_PLAIN, DRAPE_I_POSITIVE, &p.scale);
    if (drape_i_read_vector(r, node, "rotate", DRAPE_I_ANGLE, DRAPE_I_ANY, p.rotate))
        question_radians(r, drape_i_node_find(node, "rotate"));
    drape_i_read_vector(r, node, "translate", DRAPE_I_LENGTH, DRAPE_I_ANY, p.translate);
    return p;
}

/* ---- grids ---- */

/* One number: vertices along the width, as many along the height as make the cells nearly square. */
static void read_resolution(reader_t *r, const drape_i_node *grid, drape_i_grid *g) {
    const drape_i_node *node = drape_i_node_find(grid, "resolution");
    g->nx = r->options->resolution ? r->options->resolution : 51;
    if (node && node->kind == DRAPE_I_LIST && !r->options->resolution) {
        if (drape_i_node_count(node) != 2) {
            drape_i_problem_at(&r->problems, node, false,
                               "resolution: expected one number, or two, such as [101, 51]");
            return;
        }
        drape_i_node_whole(r, node->first, DRAPE_I_LEAST_RESOLUTION, DRAPE_I_MOST_RESOLUTION, &g->nx);
        drape_i_node_whole(r, node->first->next, DRAPE_I_LEAST_RESOLUTION, DRAPE_I_MOST_RESOLUTION, &g->ny);
        return;
    }
    if (node && !r->options->resolution)
        drape_i_node_whole(r, node, DRAPE_I_LEAST_RESOLUTION, DRAPE_I_MOST_RESOLUTION, &g->nx);
    double ny = floor((g->nx - 1) * g->height / g->width + 0.5) + 1;
    g->ny = ny < DRAPE_I_LEAST_RESOLUTION  ? DRAPE_I_LEAST_RESOLUTION
            : ny > DRAPE_I_MOST_RESOLUTION ? DRAPE_I_MOST_RESOLUTION
                                           : (int32_t)ny;
}

/* cut: [0.5, 0.5] leaves out the cells beyond these fractions of width and height. */
static void read_cut(reader_t *r, const drape_i_node *grid, drape_i_grid *g) {
    const drape_i_node *node = drape_i_node_find(grid, "cut");
    const drape_i_range share = {0, 1, true};
    double x = 1, y = 1;
    if (node && (node->kind != DRAPE_I_LIST || drape_i_node_count(node) != 2)) {
        drape_i_problem_at(&r->problems, node, false, "cut: expected two fractions, such as [0.5, 0.5]");
    } else if (node) {
        drape_i_node_number(r, node->first, DRAPE_I_PLAIN, share, &x);
        drape_i_node_number(r, node->first->next, DRAPE_I_PLAIN, share, &y);
    }
    g->cut_x = (int32_t)floor(x * (g->nx - 1));
    g->cut_y = (int32_t)floor(y * (g->ny - 1));
    if (g->cut_x == 0 && g->cut_y == 0)
        drape_i_problem_at(&r->problems, node, false, "cut: nothing is left of the grid; use larger fractions");
}

static void read_diagonals(reader_t *r, const drape_i_node *grid, drape_i_grid *g) {
    const char *word;
    if (!drape_i_read_text(r, grid, "diagonals", &word)) return;
    g->alternating = strcmp(word, "alternating") == 0;
    if (!g->alternating && strcmp(word, "one-way") != 0)
        drape_i_problem_at(&r->problems, drape_i_node_find(grid, "diagonals"), false,
                           "diagonals is %s; it must be one-way or alternating", word);
}

static bool is_irregular(reader_t *r, const drape_i_node *grid, int32_t *seed) {
    bool irregular = false;
    drape_i_read_truth(r, grid, "irregular", &irregular);
    drape_i_read_whole(r, grid, "seed", 0, INT32_MAX, seed);
    return irregular || r->options->irregular;
}

static bool make_irregular(reader_t *r, const drape_i_node *grid, const drape_i_shape *shape, int32_t seed,
                           drape_i_grid *g) {
    drape_status status;
    if (g->loose) status = r->windows->irregular(r->ctx, (uint64_t)seed, shape->tube, shape->plan, g);
    else if (shape->tube) status = drape_i_irregular_tube(r->ctx, (uint64_t)seed, g);
    else status = drape_i_irregular(r->ctx, (uint64_t)seed, g->vertices, g->uv, g->triangles, g->triangle);
    if (status) return drape_i_scene_failed(r, grid, status);
    for (int64_t i = 0; i < g->vertices; i++)
        for (int32_t k = 0; k < 2; k++) g->rest[3 * i + k] = g->uv[2 * i + k];
    return true;
}

/* A few words may ask for any number of grids: a limit keeps what they take in memory known. */
static bool has_room(reader_t *r, const drape_i_node *node, const drape_i_grid *g) {
    if ((int64_t)g->nx * g->ny <= DRAPE_I_MOST_VERTICES - (int64_t)r->out->parts.vertices) return true;
    drape_i_problem_at(&r->problems, node, false,
                       "with this grid of %d by %d the scene has more than %d vertices; lower the resolution", g->nx,
                       g->ny, DRAPE_I_MOST_VERTICES);
    return false;
}

static bool roll_up(reader_t *r, drape_i_grid *g) {
    if (!drape_i_grid_roll(r->ctx, &r->out->arena, g)) return true;
    r->problems.status = DRAPE_ERROR_MEMORY;
    return false;
}

static bool read_tube(reader_t *r, const drape_i_node *grid, const drape_i_grid *g) {
    bool tube = false;
    drape_i_read_truth(r, grid, "tube", &tube);
    if (tube && g->nx < FEWEST_AROUND)
        drape_i_problem_at(&r->problems, grid, false,
                           "the tube has resolution %d; it needs at least %d vertices along its width", g->nx,
                           FEWEST_AROUND);
    if (tube && drape_i_node_find(grid, "cut"))
        drape_i_problem_at(&r->problems, drape_i_node_find(grid, "cut"), true,
                           "cut cannot be used with a tube; leave out one of them");
    return tube;
}

/* curve: [[0, 0, 0], [1 m, 0, 0]] bends a grid that is made. */
static bool read_curve(reader_t *r, const drape_i_node *grid, bool tube, drape_i_grid *g) {
    const drape_i_node *list = drape_i_node_find(grid, "curve");
    int32_t count = list && list->kind == DRAPE_I_LIST ? drape_i_node_count(list) : 0, at = 0;
    if (!list) return true;
    if (tube) drape_i_problem_at(&r->problems, list, true, "curve cannot be used with a tube; leave out one of them");
    else if (count < 2 || count > MOST_POINTS)
        drape_i_problem_at(&r->problems, list, false,
                           "curve: expected 2 to %d points, such as [[0, 0, 0], [1 m, 0, 0]]", MOST_POINTS);
    if (tube || count < 2 || count > MOST_POINTS) return false;
    double *point = drape_i_scene_get(r, 3 * (int64_t)count, sizeof *point);
    if (!point) return false;
    for (const drape_i_node *n = list->first; n; n = n->next, at++) {
        double *p = point + 3 * (int64_t)at;
        if (!drape_i_node_vector(r, n, DRAPE_I_LENGTH, DRAPE_I_ANY, p)) return false;
        if (at > 0 && p[0] == p[-3] && p[1] == p[-2] && p[2] == p[-1]) {
            drape_i_problem_at(&r->problems, n, false,
                               "curve: this point is the same as the one before it; leave one of them out");
            return false;
        }
    }
    drape_status status = drape_i_grid_bend(r->ctx, &r->out->arena, g, point, count);
    return status ? drape_i_scene_failed(r, list, status) : true;
}

/* Of a tube whole rows. */
static void choose_window(const drape_i_window *window, bool tube, drape_i_grid *g) {
    const int32_t size[2] = {g->nx, g->ny};
    g->partly = true;
    g->window = *window;
    for (int32_t k = 0; k < 2; k++) {
        if (g->window.to[k] > size[k]) g->window.to[k] = size[k];
        if (g->window.from[k] > g->window.to[k]) g->window.from[k] = g->window.to[k];
    }
    if (tube) g->window.from[0] = 0, g->window.to[0] = g->nx;
}

bool drape_i_read_grid(reader_t *r, const drape_i_node *node, drape_piece *piece, drape_i_shape *shape) {
    static const char *const keys[] = {"width", "height", "resolution", "diagonals", "irregular",
                                       "seed",  "cut",    "tube",       "curve",     NULL};
    drape_i_grid *g = drape_i_scene_get(r, 1, sizeof *g);
    int32_t before = r->problems.count;
    if (!g || !drape_i_read_map(r, node, keys)) return false;
    g->width = 1;
    drape_i_read_number(r, node, "width", DRAPE_I_LENGTH, DRAPE_I_POSITIVE, &g->width);
    g->height = g->width;
    drape_i_read_number(r, node, "height", DRAPE_I_LENGTH, DRAPE_I_POSITIVE, &g->height);
    read_resolution(r, node, g);
    if (r->problems.count > before) return false;
    read_cut(r, node, g);
    read_diagonals(r, node, g);
    bool tube = shape->tube = read_tube(r, node, g);
    if (r->problems.count > before || !has_room(r, node, g)) return false;
    int32_t seed = 1;
    bool irregular = is_irregular(r, node, &seed);
    if (shape->window) choose_window(shape->window, tube, g);
    g->loose = g->partly && irregular;
    if (drape_i_grid_make(r->ctx, &r->out->arena, g)) {
        r->problems.status = DRAPE_ERROR_MEMORY;
        return false;
    }
    if ((irregular && !make_irregular(r, node, shape, seed, g)) || (tube && !roll_up(r, g))) return false;
    if (!read_curve(r, node, tube, g)) return false;
    piece->vertices = g->vertices, piece->rest = g->rest, piece->uv = g->uv;
    piece->triangles = g->triangles, piece->triangle = g->triangle[0];
    if (tube) piece->uv_vertices = g->uv_vertices, piece->uv_triangle = g->uv_triangle[0];
    shape->grid = g;
    shape->uv_unit = 1;
    return true;
}

/* ---- mesh files ---- */

static const char *refuse_path(reader_t *r, const drape_i_node *node) {
    drape_i_problem_at(&r->problems, node, false,
                       "%s: %s is outside the scene's folder; move it there, or allow it with --trust-paths",
                       node->key, node->text);
    return NULL;
}

const char *drape_i_path_beside(reader_t *r, const drape_i_node *node) {
    const char *slash = strrchr(r->path, '/');
    size_t folder = slash ? (size_t)(slash - r->path) + 1 : 0, length = strlen(node->text);
    bool trust = r->options->trust_paths;
    if (r->options->no_files) {
        drape_i_problem_at(&r->problems, node, false,
                           "%s: the program that reads this scene does not allow files; leave it out", node->key);
        return NULL;
    }
    if (!trust && drape_i_path_climbs(node->text)) return refuse_path(r, node);
    if (node->text[0] == '/') folder = 0;
    char *path = drape_i_scene_get(r, (int64_t)(folder + length) + 1, 1);
    if (!path) return NULL;
    memcpy(path, r->path, folder);
    memcpy(path + folder, node->text, length);
    if (!trust && drape_i_path_leads_out(r, path)) return refuse_path(r, node);
    drape_i_note_file(r, path);
    return path;
}

static double area_of(const double *x, int32_t dimension, const int32_t (*triangle)[3], int32_t count) {
    double total = 0;
    for (int32_t t = 0; t < count; t++) {
        double e[2][3] = {{0}}, n[3];
        for (int32_t k = 0; k < dimension; k++)
            for (int32_t j = 0; j < 2; j++)
                e[j][k] = x[(int64_t)dimension * triangle[t][j + 1] + k] - x[(int64_t)dimension * triangle[t][0] + k];
        for (int32_t k = 0; k < 3; k++)
            n[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
        total += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    }
    return total;
}

/* Texture coordinates often are no lengths. Where they cannot be, say so instead of simulating nonsense. */
static void check_uv(reader_t *r, const drape_i_node *node, const drape_i_mesh *m, double uv_scale) {
    const double most = 2; /* how far the areas may differ */
    double flat = area_of(m->uv, 2, (const int32_t(*)[3])m->uv_triangle, m->triangles);
    double solid = area_of(m->position, 3, (const int32_t(*)[3])m->triangle, m->triangles);
    if (flat <= most * solid && solid <= most * flat) return;
    if (!(flat > 0 && solid > 0))
        drape_i_problem_at(
            &r->problems, node, false,
            "the texture coordinates cover %.4g m^2, but the mesh covers %.4g m^2; ignore them with uv: false", flat,
            solid);
    else
        drape_i_problem_at(&r->problems, node, false,
                           "the texture coordinates cover %.4g m^2, but the mesh covers %.4g m^2, so the cloth would "
                           "start %s; scale them with uv_scale: %.4g, or ignore them with uv: false",
                           flat, solid, flat > solid ? "slack" : "stretched", uv_scale * sqrt(solid / flat));
}

/* `unit: 1 cm`, or just `unit: cm`. */
void drape_i_read_unit(reader_t *r, const drape_i_node *piece, double *out) {
    const drape_i_node *node = drape_i_node_find(piece, "unit");
    char text[32];
    if (!node) return;
    drape_i_node once = *node;
    bool bare = node->kind == DRAPE_I_SCALAR && strlen(node->text) < sizeof text - 2 && node->text[0] >= 'A';
    if (bare) {
        snprintf(text, sizeof text, "1 %s", node->text);
        once.text = text;
    }
    drape_i_node_number(r, &once, DRAPE_I_LENGTH, DRAPE_I_POSITIVE, out);
}

void drape_i_turn_axes(bool file_y_up, int64_t count, double *points) {
    for (int64_t i = 0; i < count; i++) {
        double *x = points + 3 * i, y = x[1], z = x[2];
        x[1] = file_y_up ? -z : z;
        x[2] = file_y_up ? y : -y;
    }
}

/* The problems of a mesh file on their way to the scene's listener. */
typedef struct mesh_forwarder {
    const reader_t *r;
    const drape_i_node *node;
    const char *path;
    int64_t count; /* how many went on */
} mesh_forwarder;

static void pass_on(void *user, int64_t line, const char *code, const char *what) {
    mesh_forwarder *f = user;
    const drape_i_scene_listener *to = f->r->listener;
    f->count++;
    to->mesh_problem(to->user, f->node, f->path, line, code, what);
}

static void refuse_unreferenced(reader_t *r, const drape_i_node *node, const char *path, const drape_i_mesh *m) {
    if (m->unreferenced == 0 || r->listener) return;
    if (m->unreferenced == 1)
        drape_i_problem_at(&r->problems, node, false,
                           "%s: vertex %d belongs to no triangle; delete it, as a loose vertex has no mass", path,
                           m->first_unreferenced);
    else
        drape_i_problem_at(&r->problems, node, false,
                           "%s: %d vertices belong to no triangle (the first is vertex %d); delete them, as loose "
                           "vertices have no mass",
                           path, m->unreferenced, m->first_unreferenced);
}

/* resolution: 3 mm: every edge is divided into as many parts as make the mean one no longer than that. */
static bool refine_mesh(reader_t *r, const drape_i_node *piece, drape_i_mesh *m) {
    const drape_i_node *node = drape_i_node_find(piece, "resolution");
    double wanted;
    if (!node) return true;
    if (!drape_i_read_number(r, piece, "resolution", DRAPE_I_LENGTH, DRAPE_I_POSITIVE, &wanted)) return false;
    double parts = ceil(drape_i_mesh_mean_edge(m) / wanted * (1 - 1e-9));
    if (!(parts <= MOST_PARTS)) {
        drape_i_problem_at(&r->problems, node, true,
                           "resolution: the mean edge of the mesh is %.4g m long and would be divided into more than "
                           "%d parts; use a larger resolution",
                           drape_i_mesh_mean_edge(m), MOST_PARTS);
        return false;
    }
    drape_status status = drape_i_mesh_refine(r->ctx, &r->out->arena, parts < 1 ? 1 : (int32_t)parts,
                                              DRAPE_I_MOST_VERTICES - (int64_t)r->out->parts.vertices, m);
    return status ? drape_i_scene_failed(r, node, status) : true;
}

/* rest_angles: flat: the cloth is flat at rest, as its pattern is; shape: it is bent as the mesh is. */
static void read_rest_angles(reader_t *r, const drape_i_node *node, drape_piece *piece) {
    const char *word;
    if (!drape_i_read_text(r, node, "rest_angles", &word)) return;
    piece->flat = strcmp(word, "flat") == 0;
    if (!piece->flat && strcmp(word, "shape") != 0)
        drape_i_problem_at(&r->problems, drape_i_node_find(node, "rest_angles"), false,
                           "rest_angles is %s; it must be flat or shape", word);
}

/* A pattern that turns over at an edge makes a sheet that is folded and as long on top as below. */
static void check_fold(reader_t *r, const drape_i_node *node, const drape_i_mesh *m) {
    int32_t t, other;
    if (drape_i_mesh_find_fold(r->ctx, m, &t, &other)) {
        r->problems.status = DRAPE_ERROR_MEMORY;
        return;
    }
    if (t < 0) return;
    const int32_t *a = m->triangle[t], *b = m->triangle[other];
    drape_i_problem_at(
        &r->problems, node, false,
        "the pattern is folded over: its triangles %d (vertices %d, %d, %d) and %d (vertices %d, %d, %d) "
        "lie on the same side of their edge; unfold the texture coordinates, or ignore them with uv: "
        "false",
        t, a[0], a[1], a[2], other, b[0], b[1], b[2]);
}

/* In the pattern and in space, of triangles that belong to this part of the scene. */
static void measure_part(drape_i_mesh_part *part, const drape_i_mesh *m) {
    part->measured = true;
    for (int32_t t = 0; t < m->triangles; t++) {
        if (!part->chosen[m->triangle[t][0]]) continue;
        part->area[0] += area_of(m->uv, 2, (const int32_t(*)[3])m->uv_triangle + t, 1);
        part->area[1] += area_of(m->position, 3, (const int32_t(*)[3])m->triangle + t, 1);
    }
}

/* All of a file, or a part of one that can be divided. */
static drape_status read_file(reader_t *r, const char *path, const drape_i_mesh_choice *choice,
                              const drape_i_mesh_listener *listener, drape_i_mesh_part **part, drape_i_mesh *m) {
    drape_status status = DRAPE_OK;
    *part = NULL;
    if (choice) status = r->windows->mesh(r->ctx, &r->out->arena, path, choice, part, m);
    return status || *part ? status : drape_i_mesh_read(r->ctx, &r->out->arena, path, listener, m);
}

bool drape_i_read_mesh_file(reader_t *r, const drape_i_node *map, const drape_i_node *node,
                            const drape_i_mesh_choice *choice, drape_i_mesh_source *out) {
    drape_i_mesh *m = drape_i_scene_get(r, 1, sizeof *m);
    double unit = 1, uv_scale = 1;
    drape_i_mesh_part *part;
    *out = (drape_i_mesh_source){.use_uv = true};
    if (!m) return false;
    if (node->kind != DRAPE_I_SCALAR || !*node->text) {
        drape_i_problem_at(&r->problems, node, false, "mesh: expected the name of an OBJ or PLY file");
        return false;
    }
    bool y_up = r->y_up;
    drape_i_read_unit(r, map, &unit);
    drape_i_read_up(r, map, &y_up);
    drape_i_read_number(r, map, "uv_scale", DRAPE_I_PLAIN, DRAPE_I_POSITIVE, &uv_scale);
    drape_i_read_truth(r, map, "uv", &out->use_uv);
    const char *path = drape_i_path_beside(r, node);
    if (!path) return false;
    mesh_forwarder forwarder = {r, node, path, 0};
    drape_i_mesh_listener listener = {pass_on, &forwarder};
    drape_status status = read_file(r, path, choice, r->listener ? &listener : NULL, &part, m);
    r->problems.code = "bad-mesh";
    if (status) return drape_i_scene_file_failed(r, node, status);
    for (int64_t i = 0; i < 3 * (int64_t)m->vertices; i++) m->position[i] *= unit;
    if (y_up != r->y_up) drape_i_turn_axes(y_up, m->vertices, m->position);
    for (int64_t i = 0; m->uv && i < 2 * (int64_t)m->uv_vertices; i++) m->uv[i] *= unit * uv_scale;
    refuse_unreferenced(r, node, path, m);
    if (out->use_uv && m->uv && !forwarder.count) {
        r->problems.code = "uv-no-lengths";
        if (part) measure_part(part, m);
        else check_uv(r, node, m, uv_scale);
        r->problems.code = "uv-folded";
        check_fold(r, node, m);
    }
    *out = (drape_i_mesh_source){.mesh = m,
                                 .file = path,
                                 .use_uv = out->use_uv,
                                 .uv_unit = unit * uv_scale,
                                 .good = !forwarder.count,
                                 .part = part};
    return true;
}

/* The piece is the mesh, sewn and refined. */
static void take_mesh(const drape_i_mesh_source *from, drape_piece *piece, drape_i_shape *shape) {
    const drape_i_mesh *m = from->mesh;
    piece->vertices = m->vertices, piece->rest = m->position;
    piece->triangles = m->triangles, piece->triangle = m->triangle[0];
    if (from->use_uv && m->uv)
        piece->uv = m->uv, piece->uv_triangle = m->uv_triangle[0], piece->uv_vertices = m->uv_vertices;
    shape->mesh = m;
    shape->part = from->part;
    shape->file = from->file;
    shape->uv_unit = from->uv_unit;
}

/* What of a mesh belongs to this part of the scene; NULL: all of it. */
static const drape_i_mesh_choice *find_choice(const reader_t *r, const drape_i_node *piece, int32_t index) {
    static const char *const whole[] = {"resolution", "seams", "bands", "buttons"};
    static const drape_i_mesh_choice nothing;
    if (!r->windows || !r->windows->mesh || drape_i_picks_need_piece(piece)) return NULL;
    for (int32_t i = 0; i < 4; i++)
        if (drape_i_node_find(piece, whole[i])) return NULL;
    *r->windows->divides = true;
    return index < r->windows->count ? &r->windows->choice[index] : &nothing;
}

static bool read_mesh(reader_t *r, const drape_i_node *piece_node, drape_piece *piece, drape_i_shape *shape) {
    const drape_i_node *mesh = drape_i_node_find(piece_node, "mesh");
    drape_i_mesh_source source;
    drape_i_garment *garment = NULL;
    int32_t before = r->problems.count;
    const drape_i_mesh_choice *choice = find_choice(r, piece_node, (int32_t)(shape - r->shapes));
    bool good = mesh ? drape_i_read_mesh_file(r, piece_node, mesh, choice, &source)
                     : drape_i_read_panels(r, piece_node, &source, &garment);
    if (!good) return false;
    bool whole = source.good && source.mesh->unreferenced == 0 && r->problems.count == before;
    bool sewn = true;
    if (whole) {
        r->problems.code = "bad-seam";
        sewn = drape_i_sew_garment(r, piece_node, &source, &garment) && refine_mesh(r, piece_node, source.mesh) &&
               drape_i_stitch_garment(r, garment, source.mesh, shape->first_vertex, piece->thickness) &&
               drape_i_read_bands(r, piece_node, &source, garment, piece);
    }
    take_mesh(&source, piece, shape);
    return source.good && sewn;
}

/* ---- a piece ---- */

static bool read_shape(reader_t *r, const drape_i_node *node, drape_piece *piece, drape_i_shape *shape) {
    static const char *const ways[] = {"grid", "mesh", "panels"};
    const drape_i_node *grid = drape_i_node_find(node, "grid");
    int32_t given = 0;
    for (int32_t i = 0; i < 3; i++) given += drape_i_node_find(node, ways[i]) != NULL;
    static const char *const mesh_only[] = {"unit",  "up",    "uv",      "uv_scale", "resolution",
                                            "seams", "bands", "buttons", NULL};
    if (given != 1) {
        drape_i_problem_at(&r->problems, node, false, "a piece needs %s",
                           given ? "one of `grid:`, `mesh:` and `panels:`; leave the others out"
                                 : "`grid:`, `mesh:` or `panels:`, such as grid: {width: 1 m}");
        return false;
    }
    for (int32_t i = 0; grid && mesh_only[i]; i++) {
        const drape_i_node *extra = drape_i_node_find(node, mesh_only[i]);
        if (extra)
            drape_i_problem_at(&r->problems, extra, true, "%s works only for a piece with `mesh:`; leave it out",
                               extra->key);
    }
    return grid ? drape_i_read_grid(r, grid, piece, shape) : read_mesh(r, node, piece, shape);
}

/* mass: of every vertex, in place of what the density gives. */
static void read_mass(reader_t *r, const drape_i_node *node, drape_piece *piece) {
    double mass;
    if (!drape_i_read_number(r, node, "mass", DRAPE_I_MASS, DRAPE_I_POSITIVE, &mass)) return;
    if (r->out->scene.integration.mass == DRAPE_MASS_CONSISTENT) {
        drape_i_problem_at(&r->problems, drape_i_node_find(node, "mass"), true,
                           "mass: a consistent mass matrix is computed from the density; leave mass out, or use "
                           "integrator: {mass: lumped}");
        return;
    }
    double *all = drape_i_scene_get(r, piece->vertices, sizeof *all);
    if (!all) return;
    for (int32_t i = 0; i < piece->vertices; i++) all[i] = mass;
    piece->mass = all;
}

static void tell_piece(reader_t *r, const drape_i_node *node, drape_piece *piece, const drape_i_shape *shape) {
    const drape_i_node *place = drape_i_node_find(node, shape->grid ? "grid" : shape->file ? "mesh" : "panels");
    r->listener->piece(r->listener->user, place, shape->file, piece);
}

static void read_piece(reader_t *r, const drape_i_node *node, int32_t index, const char **names) {
    static const char *const keys[] = {"name",        "grid",      "mesh",     "unit",  "up",      "uv",
                                       "uv_scale",    "place",     "material", "mass",  "pins",    "loads",
                                       "velocity",    "thickness", "friction", "color", "texture", "resolution",
                                       "rest_angles", "panels",    "seams",    "bands", "buttons", NULL};
    static const drape_i_window empty;
    drape_piece *piece = &r->out->scene.pieces[index];
    drape_i_shape *shape = &r->shapes[index];
    *piece = (drape_piece){.name = "cloth",
                           .material = drape_material_defaults(),
                           .thickness = DEFAULT_THICKNESS,
                           .friction = DRAPE_I_SCENE_FRICTION};
    shape->first_vertex = r->vertices;
    names[index] = piece->name;
    if (!drape_i_read_map(r, node, keys)) return;
    piece->name = names[index] = drape_i_read_unique_name(r, node, "cloth", names, index);
    drape_i_read_number(r, node, "thickness", DRAPE_I_LENGTH, DRAPE_I_NOT_NEGATIVE, &piece->thickness);
    drape_i_read_number(r, node, "friction", DRAPE_I_PLAIN, DRAPE_I_NOT_NEGATIVE, &piece->friction);
    read_rest_angles(r, node, piece);
    const drape_i_node *material = drape_i_node_find(node, "material");
    r->problems.code = "bad-material";
    if (material) drape_i_read_material(r, material, &piece->material);
    r->problems.code = "bad-cloth";
    placement place = drape_i_read_place(r, node);
    if (r->windows && !drape_i_picks_need_piece(node)) {
        const bool given = index < r->windows->count;
        shape->window = given ? &r->windows->window[index] : &empty;
        shape->plan = given ? &r->windows->plan[index] : NULL;
    }
    bool good = read_shape(r, node, piece, shape);
    r->problems.code = "bad-cloth";
    if (piece->rest) {
        place_piece(r, &place, piece, shape);
        read_mass(r, node, piece);
        drape_i_read_piece_appearance(r, node, shape, piece);
    }
    if (piece->rest && r->listener) tell_piece(r, node, piece, shape);
    if (!good) return;
    const drape_i_grid *partly = shape->grid && shape->grid->partly ? shape->grid : NULL;
    shape->all = piece->vertices;
    if (partly) shape->all = drape_i_grid_count(partly, shape->tube);
    if (shape->part) shape->all = shape->part->vertices;
    if (shape->all > INT32_MAX - r->out->parts.vertices) {
        drape_i_problem_at(&r->problems, node, false,
                           "the pieces have too many vertices in total; use coarser meshes");
        return;
    }
    shape->vertices = piece->vertices;
    shape->position = piece->rest;
    r->vertices += piece->vertices;
    r->out->parts.piece[index] =
        (drape_i_whole_piece){r->out->parts.vertices, shape->all, partly, shape->part, shape->tube};
    r->out->parts.vertices += shape->all;
}

/* Of a part of the scene: in the whole one. */
static void number_vertices(reader_t *r) {
    if (!r->windows) return;
    int32_t *number = r->out->parts.number = drape_i_scene_get(r, r->vertices, sizeof *number);
    for (int32_t p = 0; number && p < r->out->scene.piece_count; p++) {
        const drape_i_whole_piece *whole = &r->out->parts.piece[p];
        const drape_i_window *w = whole->grid ? &whole->grid->window : NULL;
        int32_t *at = number + r->shapes[p].first_vertex;
        for (int32_t v = 0; !w && v < r->shapes[p].vertices; v++)
            at[v] = whole->first + (whole->mesh ? whole->mesh->number[v] : v);
        for (int32_t j = w ? w->from[1] : 0; w && j < w->to[1]; j++)
            for (int32_t i = w->from[0]; i < w->to[0]; i++) {
                int32_t v = drape_i_grid_vertex(whole->grid, i, j);
                if (v >= 0) at[v] = whole->first + drape_i_grid_number(whole->grid, whole->tube, i, j);
            }
    }
}

static void read_velocities(reader_t *r, const drape_i_node *list) {
    double *all = NULL;
    int32_t piece = 0;
    for (const drape_i_node *n = list->first; n; n = n->next, piece++) {
        double v[3];
        if (!drape_i_read_vector(r, n, "velocity", DRAPE_I_SPEED, DRAPE_I_ANY, v)) continue;
        drape_i_turn_up(r, v);
        if (!all) all = drape_i_scene_get(r, 3 * (int64_t)r->vertices, sizeof *all);
        for (int64_t i = 0; all && i < r->shapes[piece].vertices; i++)
            memcpy(all + 3 * (r->shapes[piece].first_vertex + i), v, sizeof v);
    }
    r->out->scene.velocity = all;
}

void drape_i_read_pieces(reader_t *r, const drape_i_node *root) {
    drape_scene *s = &r->out->scene;
    const drape_i_node *list = drape_i_node_find(root, "cloth");
    if (!list || list->kind != DRAPE_I_LIST || !list->first) {
        drape_i_problem_at(&r->problems, list ? list : root, false,
                           list ? "cloth: expected a list of pieces, each after a dash and a space"
                                : "`cloth:` is missing; add a list of pieces, each after a dash and a space");
        return;
    }
    int32_t count = drape_i_node_count(list), index = 0;
    if (count > MOST_PIECES) {
        drape_i_problem_at(&r->problems, list, true, "more than %d pieces", MOST_PIECES);
        return;
    }
    s->pieces = drape_i_scene_get(r, count, sizeof *s->pieces);
    r->shapes = drape_i_scene_get(r, count, sizeof *r->shapes);
    const drape_i_node **nodes = drape_i_scene_get(r, count, sizeof *nodes);
    const char **names = drape_i_scene_get(r, count, sizeof *names);
    r->out->parts.piece = drape_i_scene_get(r, count, sizeof *r->out->parts.piece);
    if (!s->pieces || !r->shapes || !nodes || !names || !r->out->parts.piece) return;
    s->piece_count = count;
    r->out->piece_node = nodes;
    if (drape_i_node_find(root, "start") || drape_i_node_find(root, "stitches") || drape_i_node_find(root, "attach"))
        r->windows = NULL;
    for (const drape_i_node *n = list->first; n; n = n->next, index++) {
        nodes[index] = n;
        read_piece(r, n, index, names);
    }
    number_vertices(r);
    read_velocities(r, list);
    r->problems.code = "bad-start";
    drape_i_read_start(r, root);
    r->problems.code = "bad-pin";
    drape_i_read_pins(r, list);
    r->problems.code = "bad-load";
    drape_i_read_loads(r, list);
}
