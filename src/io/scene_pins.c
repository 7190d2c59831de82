/* scene_pins.c: `pins` and `loads` of the pieces, and the vertices that they select. These are given by name (edges
 * and corners of a grid), place, number, box, group of the mesh file, or nearest points. */
#include "io/mesh.h"
#include "io/scene_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PINS = 100000 };

static const double RADIANS = 0.017453292519943295769; /* per degree */

/* What pins and loads may cost, whatever the scene says: a few seconds, and memory in proportion to the cloth. */
static const int64_t MOST_VISITS = 1000000000;                       /* vertices looked at */
static const int64_t ENTRIES_FREE = 1000000, ENTRIES_PER_VERTEX = 4; /* vertices picked */

#define PICK_KEYS DRAPE_I_PICK_KEYS

/* ---- which vertices ---- */

typedef bool (*grid_test)(const drape_i_grid *g, int32_t i, int32_t j);

static bool left(const drape_i_grid *g, int32_t i, int32_t j) { return (void)g, (void)j, i == 0; }
static bool right(const drape_i_grid *g, int32_t i, int32_t j) { return (void)j, i == g->nx - 1; }
static bool bottom(const drape_i_grid *g, int32_t i, int32_t j) { return (void)g, (void)i, j == 0; }
static bool top(const drape_i_grid *g, int32_t i, int32_t j) { return (void)i, j == g->ny - 1; }
static bool edges(const drape_i_grid *g, int32_t i, int32_t j) {
    return left(g, i, j) || right(g, i, j) || bottom(g, i, j) || top(g, i, j);
}
static bool bottom_left(const drape_i_grid *g, int32_t i, int32_t j) { return left(g, i, j) && bottom(g, i, j); }
static bool bottom_right(const drape_i_grid *g, int32_t i, int32_t j) { return right(g, i, j) && bottom(g, i, j); }
static bool top_left(const drape_i_grid *g, int32_t i, int32_t j) { return left(g, i, j) && top(g, i, j); }
static bool top_right(const drape_i_grid *g, int32_t i, int32_t j) { return right(g, i, j) && top(g, i, j); }
static bool corners(const drape_i_grid *g, int32_t i, int32_t j) {
    return (left(g, i, j) || right(g, i, j)) && (bottom(g, i, j) || top(g, i, j));
}
static bool centre(const drape_i_grid *g, int32_t i, int32_t j) { return i == g->nx / 2 && j == g->ny / 2; }
static bool cut(const drape_i_grid *g, int32_t i, int32_t j) {
    return (i == g->cut_x && j >= g->cut_y) || (j == g->cut_y && i >= g->cut_x);
}
static bool everything(const drape_i_grid *g, int32_t i, int32_t j) { return (void)g, (void)i, (void)j, true; }

static const struct place {
    const char *name;
    grid_test test;
} places[] = {
    {"left-edge", left},    {"right-edge", right},    {"bottom-edge", bottom},      {"top-edge", top},
    {"all-edges", edges},   {"corners", corners},     {"bottom-left", bottom_left}, {"bottom-right", bottom_right},
    {"top-left", top_left}, {"top-right", top_right}, {"center", centre},           {"cut-edges", cut},
    {"all", everything}};

enum { PLACES = sizeof places / sizeof *places, MOST_NAMES = 32 };

typedef struct picking {
    reader_t *r;
    const drape_i_shape *shape;
    bool *picked;  /* one per vertex of the piece */
    int32_t *list; /* those that are picked, in the order in which they were */
    int32_t count;
    uint32_t places; /* whose vertices are picked already, a bit each */
} picking;

static void pick(picking *p, int32_t v) {
    if (p->picked[v]) return;
    p->picked[v] = true;
    p->list[p->count++] = v;
}

bool drape_i_may_visit(reader_t *r, const drape_i_node *node, int64_t vertices) {
    bool before = r->visits > MOST_VISITS;
    r->visits += vertices;
    if (r->visits <= MOST_VISITS) return true;
    if (!before)
        drape_i_problem_at(
            &r->problems, node, false,
            "pins and loads search more than %lld vertices in total; use fewer of them, or list vertices",
            (long long)MOST_VISITS);
    return false;
}

static const double BOX_SLACK = 1e-9; /* m: rounding must not put a vertex on a box's side outside */

static void pick_place(picking *p, const drape_i_node *node) {
    const char *names[PLACES + 1] = {0};
    const drape_i_grid *g = p->shape->grid;
    for (int32_t k = 0; k < PLACES; k++) names[k] = places[k].name;
    if (node->kind != DRAPE_I_SCALAR) {
        drape_i_problem_at(&p->r->problems, node, false, "where: expected a name, such as left-edge");
        return;
    }
    if (!g) {
        drape_i_problem_at(&p->r->problems, node, false,
                           "where: names are for grids; on a mesh use group, box or vertices");
        return;
    }
    for (int32_t k = 0; k < PLACES; k++) {
        if (strcmp(places[k].name, node->text) != 0) continue;
        bool again = p->places & 1u << k;
        p->places |= 1u << k;
        if (again || !drape_i_may_visit(p->r, node, (int64_t)g->nx * g->ny)) return;
        for (int32_t j = g->window.from[1]; j < g->window.to[1]; j++)
            for (int32_t i = g->window.from[0]; i < g->window.to[0]; i++) {
                int32_t v = drape_i_grid_vertex(g, i, j);
                if (v >= 0 && places[k].test(g, i, j)) pick(p, v);
            }
        return;
    }
    char known[400];
    drape_i_join(names, known, sizeof known);
    drape_i_problem_at(&p->r->problems, node, false, "there is no place \"%s\" on a grid; known: %s", node->text,
                       known);
}

/* at: [[0.25, 1], ...]: the vertices nearest to these fractions of width and height. */
static void pick_fractions(picking *p, const drape_i_node *node) {
    const drape_i_grid *g = p->shape->grid;
    const drape_i_range share = {0, 1, false};
    double f[2];
    if (!node) return;
    if (!g) {
        drape_i_problem_at(&p->r->problems, node, false,
                           "at: works only on grids; on a mesh use group, box or vertices");
        return;
    }
    if (node->kind != DRAPE_I_LIST) {
        drape_i_problem_at(&p->r->problems, node, false, "at: expected a list of places, such as [[0.5, 1]]");
        return;
    }
    for (const drape_i_node *n = node->first; n; n = n->next) {
        if (n->kind != DRAPE_I_LIST || drape_i_node_count(n) != 2) {
            drape_i_problem_at(&p->r->problems, n, false,
                               "at: expected two fractions in brackets for each place, such as [[0.5, 1]]");
            return;
        }
        if (!drape_i_node_number(p->r, n->first, DRAPE_I_PLAIN, share, &f[0]) ||
            !drape_i_node_number(p->r, n->first->next, DRAPE_I_PLAIN, share, &f[1]))
            return;
        int32_t i = (int32_t)floor(f[0] * (g->nx - 1) + 0.5), j = (int32_t)floor(f[1] * (g->ny - 1) + 0.5);
        int32_t v = drape_i_grid_vertex(g, i, j);
        if (!drape_i_grid_has(g, i, j))
            drape_i_problem_at(&p->r->problems, n, false,
                               "at: there is no cloth at this place because `cut` removes it; choose another place");
        else if (v >= 0) pick(p, v);
    }
}

/* Of a refined mesh, all of whose picked vertices are the file's: the new ones on edges and triangles between them.
 */
static void pick_between(picking *p, const drape_i_mesh *m) {
    for (int32_t v = m->unrefined; v < m->vertices; v++) {
        bool all = true;
        for (int32_t k = 0; k < 3 && m->origin[v].vertex[k] >= 0; k++) all = all && p->picked[m->origin[v].vertex[k]];
        if (all) pick(p, v);
    }
}

static int compare_vertices(const void *a, const void *b) {
    int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

/* Where a number of the mesh file is in the part of it that was read; -1: nowhere. */
static int32_t place_in_part(const drape_i_shape *shape, int32_t number) {
    const int32_t *at =
        bsearch(&number, shape->part->number, (size_t)shape->vertices, sizeof number, compare_vertices);
    return at ? (int32_t)(at - shape->part->number) : -1;
}

/* The vertex that has this number in the piece, or in the mesh file; -1: it was not read. */
static int32_t vertex_of(const drape_i_shape *shape, int32_t number) {
    int32_t i, j;
    if (shape->part) return shape->vertices > 0 ? place_in_part(shape, number) : -1;
    if (shape->mesh) return drape_i_mesh_of_file(shape->mesh, number);
    if (!shape->grid->partly) return number;
    drape_i_grid_find(shape->grid, shape->tube, number, &i, &j);
    return drape_i_grid_vertex(shape->grid, i, j);
}

static void pick_numbers(picking *p, const drape_i_node *node) {
    int32_t v;
    if (!node) return;
    if (node->kind != DRAPE_I_LIST) {
        drape_i_problem_at(&p->r->problems, node, false, "vertices: expected a list of numbers, such as [0, 7]");
        return;
    }
    const drape_i_mesh *m = p->shape->mesh;
    int32_t most = m && m->file_vertices ? m->file_vertices : p->shape->all;
    for (const drape_i_node *n = node->first; n; n = n->next)
        if (drape_i_node_whole(p->r, n, 0, most - 1, &v) && (v = vertex_of(p->shape, v)) >= 0) pick(p, v);
    if (m && m->origin) pick_between(p, m);
}

static void pick_box(picking *p, const drape_i_node *node) {
    double low[3], high[3];
    if (!node) return;
    if (node->kind != DRAPE_I_LIST || drape_i_node_count(node) != 2) {
        drape_i_problem_at(&p->r->problems, node, false, "box: expected two corners, such as [[0, 0, 0], [1, 1, 1]]");
        return;
    }
    if (!drape_i_node_vector(p->r, node->first, DRAPE_I_LENGTH, DRAPE_I_ANY, low) ||
        !drape_i_node_vector(p->r, node->first->next, DRAPE_I_LENGTH, DRAPE_I_ANY, high))
        return;
    drape_i_turn_up(p->r, low), drape_i_turn_up(p->r, high);
    if (!drape_i_may_visit(p->r, node, p->shape->vertices)) return;
    for (int32_t i = 0; i < p->shape->vertices; i++) {
        bool inside = true;
        for (int32_t k = 0; k < 3; k++) {
            double x = p->shape->position[3 * (int64_t)i + k];
            inside = inside && x >= fmin(low[k], high[k]) - BOX_SLACK && x <= fmax(low[k], high[k]) + BOX_SLACK;
        }
        if (inside) pick(p, i);
    }
}

/* nearest: [[0, 0, 1 m], ...]: the vertices nearest to these points. */
static void pick_nearest(picking *p, const drape_i_node *node) {
    if (!node) return;
    if (node->kind != DRAPE_I_LIST || !node->first || node->first->kind != DRAPE_I_LIST) {
        drape_i_problem_at(&p->r->problems, node, false, "nearest: expected a list of points, such as [[0, 0, 1 m]]");
        return;
    }
    for (const drape_i_node *n = node->first; n; n = n->next) {
        double point[3], least = INFINITY;
        int32_t nearest = 0;
        if (!drape_i_node_vector(p->r, n, DRAPE_I_LENGTH, DRAPE_I_ANY, point)) return;
        drape_i_turn_up(p->r, point);
        if (!drape_i_may_visit(p->r, n, p->shape->vertices)) return;
        for (int32_t i = 0; i < p->shape->vertices; i++) {
            const double *x = p->shape->position + 3 * (int64_t)i;
            double square = 0;
            for (int32_t k = 0; k < 3; k++) square += (x[k] - point[k]) * (x[k] - point[k]);
            if (square < least) nearest = i, least = square;
        }
        pick(p, nearest);
    }
}

/* One group of the mesh file. */
static void pick_group(picking *p, const drape_i_node *node) {
    const drape_i_mesh *m = p->shape->mesh;
    const char *names[MOST_NAMES + 1] = {0};
    char known[400];
    if (node->kind != DRAPE_I_SCALAR) {
        drape_i_problem_at(&p->r->problems, node, false, "group: expected the name of a group of the mesh file");
        return;
    }
    if (m && !drape_i_may_visit(p->r, node, m->groups)) return;
    for (int32_t g = 0; m && g < m->groups; g++) {
        if (g < MOST_NAMES) names[g] = m->group[g].name;
        if (strcmp(m->group[g].name, node->text) != 0) continue;
        if (!drape_i_may_visit(p->r, node, m->group[g].vertices)) return;
        for (int32_t i = 0; i < m->group[g].vertices; i++) pick(p, m->group[g].vertex[i]);
        return;
    }
    if (p->shape->part) return; /* it may be elsewhere */
    drape_i_join(names, known, sizeof known);
    if (!m)
        drape_i_problem_at(&p->r->problems, node, false, "group: works only on meshes; on a grid use where or at");
    else if (!m->groups)
        drape_i_problem_at(&p->r->problems, node, false,
                           "group: the mesh file has no groups; use box, vertices or nearest");
    else
        drape_i_problem_at(&p->r->problems, node, false, "the mesh file has no group \"%s\"; known: %s", node->text,
                           known);
}

/* One name or a list of them. */
static void pick_each(picking *p, const drape_i_node *node, void (*pick_one)(picking *, const drape_i_node *)) {
    if (!node) return;
    if (node->kind != DRAPE_I_LIST) {
        pick_one(p, node);
        return;
    }
    for (const drape_i_node *n = node->first; n; n = n->next) pick_one(p, n);
}

/* Ascending, numbered over all pieces; the marks are taken back. */
static int32_t list_picked(picking *p, const drape_i_node *map, const int32_t **out) {
    reader_t *r = p->r;
    bool ascending = true;
    for (int32_t i = 0; i < p->count; i++) {
        p->picked[p->list[i]] = false;
        ascending = ascending && (i == 0 || p->list[i] > p->list[i - 1]);
    }
    int64_t most = ENTRIES_FREE + ENTRIES_PER_VERTEX * r->out->parts.vertices;
    r->entries += p->count;
    if (r->entries > most) {
        if (r->entries - p->count <= most)
            drape_i_problem_at(
                &r->problems, map, false,
                "pins and loads hold more than %lld vertices in total, most of them repeatedly; use fewer of them",
                (long long)most);
        return 0;
    }
    int32_t *list = drape_i_scene_get(r, p->count, sizeof *list);
    *out = list;
    if (!list) return 0;
    if (!ascending) qsort(p->list, (size_t)p->count, sizeof *p->list, compare_vertices);
    for (int32_t i = 0; i < p->count; i++) list[i] = p->shape->first_vertex + p->list[i];
    return p->count;
}

/* In the axes of the scene file, so that the numbers can be copied into a box. */
static void say_where_it_is(reader_t *r, const drape_i_node *map, const drape_i_shape *shape) {
    double low[3], high[3];
    for (int32_t k = 0; k < 3; k++) {
        int32_t axis = r->y_up && k > 0 ? 3 - k : k; /* (x, -z, y) is kept where y is up */
        double sign = r->y_up && k == 2 ? -1 : 1, least = INFINITY, most = -INFINITY;
        for (int64_t i = 0; i < shape->vertices; i++) {
            least = fmin(least, sign * shape->position[3 * i + axis]);
            most = fmax(most, sign * shape->position[3 * i + axis]);
        }
        low[k] = least, high[k] = most;
    }
    drape_i_problem_at(&r->problems, map, false,
                       "no vertex of the piece is there; move or enlarge the region: the piece lies in [[%.4g, %.4g, "
                       "%.4g], [%.4g, %.4g, %.4g]]",
                       low[0], low[1], low[2], high[0], high[1], high[2]);
}

/* That there are none may be so in this part of the scene alone. */
static void note_pick(reader_t *r, const drape_i_node *map, int32_t count) {
    drape_i_scene_parts *parts = &r->out->parts;
    drape_i_pick *pick = drape_i_scene_get(r, 1, sizeof *pick);
    if (!pick) return;
    *pick = (drape_i_pick){map, count, parts->last_pick};
    parts->last_pick = pick;
    parts->picks++;
}

static bool depends_on_others(const drape_i_node *entry) {
    const drape_i_node *move = drape_i_node_find(entry, "move");
    if (drape_i_node_find(entry, "nearest")) return true;
    if (!move || drape_i_node_find(move, "center")) return false;
    if (drape_i_node_find(move, "frames")) return true;
    const drape_i_node *keys = drape_i_node_find(move, "keys");
    for (const drape_i_node *n = keys ? keys->first : NULL; n; n = n->next)
        if (drape_i_node_find(n, "turn") || drape_i_node_find(n, "scale")) return true;
    return false;
}

bool drape_i_picks_need_piece(const drape_i_node *piece) {
    static const char *const keys[] = {"pins", "loads"};
    for (int32_t k = 0; k < 2; k++) {
        const drape_i_node *list = drape_i_node_find(piece, keys[k]);
        for (const drape_i_node *n = list ? list->first : NULL; n; n = n->next)
            if (depends_on_others(n)) return true;
    }
    return false;
}

int32_t drape_i_pick_vertices(reader_t *r, const drape_i_node *map, int32_t piece, const int32_t **out) {
    static const char *const keys[] = {PICK_KEYS, NULL};
    const drape_i_shape *shape = &r->shapes[piece];
    int32_t before = r->problems.count, ways = 0;
    if (!r->picked) r->picked = drape_i_scene_get(r, r->vertices, sizeof *r->picked);
    if (!r->picked_list) r->picked_list = drape_i_scene_get(r, r->vertices, sizeof *r->picked_list);
    *out = NULL;
    if (!r->picked || !r->picked_list) return 0;
    picking p = {.r = r, .shape = shape, .picked = r->picked, .list = r->picked_list};
    pick_each(&p, drape_i_node_find(map, "where"), pick_place);
    pick_fractions(&p, drape_i_node_find(map, "at"));
    pick_numbers(&p, drape_i_node_find(map, "vertices"));
    pick_box(&p, drape_i_node_find(map, "box"));
    pick_each(&p, drape_i_node_find(map, "group"), pick_group);
    pick_nearest(&p, drape_i_node_find(map, "nearest"));
    int32_t count = list_picked(&p, map, out);
    for (int32_t i = 0; keys[i]; i++) ways += drape_i_node_find(map, keys[i]) != NULL;
    if (r->windows && ways) note_pick(r, map, count);
    else if (count == 0 && r->problems.count == before && ways && r->visits <= MOST_VISITS)
        say_where_it_is(r, map, shape);
    else if (count == 0 && r->problems.count == before)
        drape_i_problem_at(&r->problems, map, false,
                           "no vertices are given; name them with where, at, vertices, box, group or nearest");
    return count;
}

/* ---- motion ---- */

/* A length, along the pin's first direction (z where it is held in all), or three of them. */
static void read_amplitude(reader_t *r, const drape_i_node *map, const drape_pin *pin, double out[3]) {
    const drape_i_node *node = drape_i_node_find(map, "amplitude");
    double length;
    if (!node) {
        drape_i_problem_at(&r->problems, map, true, "sine: expected an amplitude, such as amplitude: [0, 0, 10 cm]");
    } else if (node->kind == DRAPE_I_LIST) {
        if (drape_i_node_vector(r, node, DRAPE_I_LENGTH, DRAPE_I_ANY, out)) drape_i_turn_up(r, out);
    } else if (drape_i_node_number(r, node, DRAPE_I_LENGTH, DRAPE_I_ANY, &length)) {
        double along[3] = {0, 0, 1}, size2 = 0;
        if (pin->directions < 3) memcpy(along, pin->direction[0], sizeof along);
        for (int32_t k = 0; k < 3; k++) size2 += along[k] * along[k];
        for (int32_t k = 0; k < 3 && size2 > 0; k++) out[k] = length * along[k] / sqrt(size2);
    }
}

static void read_sine(reader_t *r, const drape_i_node *map, const drape_pin *pin, drape_motion *out) {
    static const char *const keys[] = {"amplitude", "frequency", "phase", NULL};
    double degrees = 0;
    if (!drape_i_read_map(r, map, keys)) return;
    out->kind = DRAPE_MOTION_SINE;
    read_amplitude(r, map, pin, out->amplitude);
    if (!drape_i_node_find(map, "frequency"))
        drape_i_problem_at(&r->problems, map, true, "sine: expected a frequency, such as frequency: 1 Hz");
    drape_i_read_number(r, map, "frequency", DRAPE_I_FREQUENCY, DRAPE_I_NOT_NEGATIVE, &out->frequency);
    drape_i_read_number(r, map, "phase", DRAPE_I_ANGLE, DRAPE_I_ANY, &degrees);
    out->phase = degrees / 360;
}

static void read_linear(reader_t *r, const drape_i_node *map, drape_motion *out) {
    static const char *const keys[] = {"velocity", NULL};
    if (!drape_i_read_map(r, map, keys)) return;
    out->kind = DRAPE_MOTION_LINEAR;
    if (drape_i_read_vector(r, map, "velocity", DRAPE_I_SPEED, DRAPE_I_ANY, out->velocity))
        drape_i_turn_up(r, out->velocity);
    else if (!drape_i_node_find(map, "velocity"))
        drape_i_problem_at(&r->problems, map, true, "linear: expected a velocity, such as velocity: [0, 0, 10 cm/s]");
}

static void read_turn(reader_t *r, const drape_i_node *map, drape_motion *out) {
    static const char *const keys[] = {"axis", "center", "rate", NULL};
    static const double full_turn = 6.28318530717958647692;
    double axis[3] = {0}, rate = 0;
    int32_t before = r->problems.count;
    if (!drape_i_read_map(r, map, keys)) return;
    if (!drape_i_node_find(map, "axis") || !drape_i_node_find(map, "rate"))
        drape_i_problem_at(&r->problems, map, true,
                           "turn: expected an axis and a rate, such as {axis: [0, 0, 1], rate: 0.5 Hz}");
    drape_i_read_vector(r, map, "axis", DRAPE_I_PLAIN, DRAPE_I_ANY, axis);
    drape_i_read_number(r, map, "rate", DRAPE_I_FREQUENCY, DRAPE_I_ANY, &rate);
    drape_i_read_vector(r, map, "center", DRAPE_I_LENGTH, DRAPE_I_ANY, out->centre);
    double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    if (r->problems.count == before && !(length > 0))
        drape_i_problem_at(&r->problems, drape_i_node_find(map, "axis"), false,
                           "the axis has length zero; use one such as [0, 0, 1]");
    if (r->problems.count > before) return;
    drape_i_turn_up(r, axis), drape_i_turn_up(r, out->centre);
    out->kind = DRAPE_MOTION_TURN;
    for (int32_t k = 0; k < 3; k++) out->velocity[k] = full_turn * rate * (axis[k] / length);
}

/* One number for all axes, or three. */
static void read_scale(reader_t *r, const drape_i_node *map, double out[3]) {
    const drape_i_node *node = drape_i_node_find(map, "scale");
    double all;
    if (!node) return;
    if (node->kind == DRAPE_I_LIST) {
        if (drape_i_node_vector(r, node, DRAPE_I_PLAIN, DRAPE_I_POSITIVE, out) && r->y_up) {
            double up = out[1];
            out[1] = out[2], out[2] = up;
        }
    } else if (drape_i_node_number(r, node, DRAPE_I_PLAIN, DRAPE_I_POSITIVE, &all)) {
        for (int32_t k = 0; k < 3; k++) out[k] = all;
    }
}

/* {time: 0 s, offset: [0, 0, 0], turn: [0, 0, 90], scale: 1}; `posed`: it may have a turn or a scale. */
static void read_key(reader_t *r, const drape_i_node *n, bool posed, drape_motion_pose *out) {
    static const char *const names[] = {"time", "offset", "turn", "scale", NULL};
    *out = (drape_motion_pose){.scale = {1, 1, 1}};
    if (!drape_i_read_map(r, n, names)) return;
    if (!drape_i_node_find(n, "time") || (!posed && !drape_i_node_find(n, "offset")))
        drape_i_problem_at(&r->problems, n, false,
                           posed ? "a key needs a time, such as time: 1 s"
                                 : "a key needs a time and an offset, such as {time: 1 s, offset: [0, 0, 10 cm]}");
    drape_i_read_number(r, n, "time", DRAPE_I_TIME, DRAPE_I_NOT_NEGATIVE, &out->time);
    if (drape_i_read_vector(r, n, "offset", DRAPE_I_LENGTH, DRAPE_I_ANY, out->offset))
        drape_i_turn_up(r, out->offset);
    if (drape_i_read_vector(r, n, "turn", DRAPE_I_ANGLE, (drape_i_range){-1e9, 1e9, false}, out->rotation))
        drape_i_turn_up(r, out->rotation);
    for (int32_t k = 0; k < 3; k++) out->rotation[k] *= RADIANS;
    read_scale(r, n, out->scale);
}

/* Keys that only move the pin are a motion of their own, which needs no centre. */
static void set_keys(reader_t *r, const drape_motion_pose *all, int32_t count, drape_motion *out) {
    drape_motion_key *keys = drape_i_scene_get(r, count, sizeof *keys);
    for (int32_t i = 0; i < count && keys; i++) {
        keys[i].time = all[i].time;
        memcpy(keys[i].offset, all[i].offset, sizeof keys[i].offset);
    }
    out->kind = DRAPE_MOTION_KEYS;
    out->key_count = keys ? count : 0;
    out->key = keys;
}

/* keys: [{time: 0 s, offset: [0, 0, 0]}, ...], times rising. */
static void read_keys(reader_t *r, const drape_i_node *list, drape_motion *out) {
    bool posed = false;
    if (list->kind != DRAPE_I_LIST || !list->first) {
        drape_i_problem_at(&r->problems, list, false,
                           "keys: expected a list, such as [{time: 0 s, offset: [0, 0, 0]}, ...]");
        return;
    }
    for (const drape_i_node *n = list->first; n; n = n->next)
        posed = posed || drape_i_node_find(n, "turn") || drape_i_node_find(n, "scale");
    int32_t count = drape_i_node_count(list), i = 0, before = r->problems.count;
    drape_motion_pose *all = drape_i_scene_get(r, count, sizeof *all);
    for (const drape_i_node *n = list->first; n && all; n = n->next, i++) {
        read_key(r, n, posed, &all[i]);
        if (i > 0 && r->problems.count == before && !(all[i].time > all[i - 1].time))
            drape_i_problem_at(&r->problems, n, false, "the times of keys must increase, but %g s comes after %g s",
                               all[i].time, all[i - 1].time);
    }
    if (!all || r->problems.count > before) return;
    if (!posed) {
        set_keys(r, all, count, out);
        return;
    }
    drape_motion_path *path = drape_i_scene_get(r, 1, sizeof *path);
    if (!path) return;
    path->poses = count, path->pose = all;
    out->kind = DRAPE_MOTION_POSES;
    out->path = path;
}

/* Where keys turn and scale about: `center`, or the middle of the pinned vertices. */
static void read_centre(reader_t *r, const drape_i_node *map, const drape_i_shape *shape, drape_pin *pin) {
    const drape_i_node *node = drape_i_node_find(map, "center");
    double centre[3] = {0};
    if (pin->motion.kind != DRAPE_MOTION_POSES) {
        if (node && pin->motion.kind == DRAPE_MOTION_KEYS)
            drape_i_problem_at(&r->problems, node, true,
                               "center works only with keys that have a turn or a scale; leave it out");
        return;
    }
    if (node) {
        if (drape_i_node_vector(r, node, DRAPE_I_LENGTH, DRAPE_I_ANY, centre)) drape_i_turn_up(r, centre);
    } else {
        const double *start = r->out->scene.start;
        for (int32_t i = 0; i < pin->count; i++)
            for (int32_t k = 0; k < 3; k++) {
                int64_t v = pin->vertices[i];
                centre[k] +=
                    (start ? start[3 * v + k] : shape->position[3 * (v - shape->first_vertex) + k]) / pin->count;
            }
    }
    drape_motion_path *path = (drape_motion_path *)(uintptr_t)pin->motion.path; /* made by read_keys */
    memcpy(path->centre, centre, sizeof centre);
}

/* After the pin's vertices are there. */
static void read_motion(reader_t *r, const drape_i_node *map, int32_t piece, drape_pin *pin) {
    static const char *const kinds[] = {"linear", "sine", "keys", "turn", "frames", "center", NULL};
    if (!map || !drape_i_read_map(r, map, kinds)) return;
    const drape_i_node *n = map->first;
    if (n && strcmp(n->key, "center") == 0) n = n->next;
    if (!n || drape_i_node_count(map) != (drape_i_node_find(map, "center") ? 2 : 1)) {
        drape_i_problem_at(&r->problems, map, true, "move: expected one of linear, sine, keys, turn and frames");
        return;
    }
    if (drape_i_node_find(map, "center") && strcmp(n->key, "keys") != 0)
        drape_i_problem_at(&r->problems, drape_i_node_find(map, "center"), true,
                           "center works only with keys that have a turn or a scale; leave it out");
    if (strcmp(n->key, "linear") == 0) read_linear(r, n, &pin->motion);
    if (strcmp(n->key, "sine") == 0) read_sine(r, n, pin, &pin->motion);
    if (strcmp(n->key, "turn") == 0) read_turn(r, n, &pin->motion);
    if (strcmp(n->key, "frames") == 0) drape_i_read_followed_frames(r, n, piece, pin);
    if (strcmp(n->key, "keys") != 0) return;
    read_keys(r, n, &pin->motion);
    read_centre(r, map, &r->shapes[piece], pin);
}

/* ---- pins ---- */

/* The volume that the directions span, of their lengths' product; one direction spans all. */
static double spanned(int32_t count, double d[3][3]) {
    double n[3], product = 1, inner = 0;
    if (count < 2) return 1;
    for (int32_t k = 0; k < 3; k++)
        n[k] = d[0][(k + 1) % 3] * d[1][(k + 2) % 3] - d[0][(k + 2) % 3] * d[1][(k + 1) % 3];
    for (int32_t i = 0; i < count; i++) product *= sqrt(d[i][0] * d[i][0] + d[i][1] * d[i][1] + d[i][2] * d[i][2]);
    for (int32_t k = 0; k < 3; k++) inner += n[k] * (count == 2 ? n[k] : d[2][k]);
    return (count == 2 ? sqrt(inner) : fabs(inner)) / product;
}

void drape_i_read_directions(reader_t *r, const drape_i_node *node, int32_t *directions, double direction[3][3]) {
    *directions = 3;
    if (!node) return;
    int32_t count = node->kind == DRAPE_I_LIST ? drape_i_node_count(node) : 0, i = 0;
    if (count < 1 || count > 3) {
        drape_i_problem_at(&r->problems, node, false, "directions: expected one to three, such as [[0, 0, 1]]");
        return;
    }
    for (const drape_i_node *n = node->first; n; n = n->next, i++) {
        double *d = direction[i];
        if (!drape_i_node_vector(r, n, DRAPE_I_PLAIN, DRAPE_I_ANY, d)) return;
        drape_i_turn_up(r, d);
        if (!(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > 0))
            drape_i_problem_at(&r->problems, n, false,
                               "a direction of length zero holds nothing; use one such as [0, 0, 1]");
    }
    *directions = count;
    const double least = 1e-6;
    if (spanned(count, direction) < least)
        drape_i_problem_at(&r->problems, node, false,
                           "directions: one of them is a combination of the others; leave it out");
}

static void read_pin(reader_t *r, const drape_i_node *node, int32_t piece) {
    static const char *const keys[] = {PICK_KEYS, "directions", "move", "from", "until", "stiffness", NULL};
    drape_scene *s = &r->out->scene;
    drape_pin *pin = &s->pins[s->pin_count];
    if (!drape_i_read_map(r, node, keys)) return;
    drape_i_read_directions(r, drape_i_node_find(node, "directions"), &pin->directions, pin->direction);
    pin->until = DRAPE_FOREVER;
    drape_i_read_number(r, node, "from", DRAPE_I_TIME, DRAPE_I_NOT_NEGATIVE, &pin->from);
    drape_i_read_number(r, node, "until", DRAPE_I_TIME, DRAPE_I_NOT_NEGATIVE, &pin->until);
    if (!(pin->until > pin->from))
        drape_i_problem_at(&r->problems, node, false, "until is %g s; it must be after from, %g s", pin->until,
                           pin->from);
    drape_i_read_number(r, node, "stiffness", DRAPE_I_STIFFNESS, DRAPE_I_POSITIVE, &pin->stiffness);
    pin->count = drape_i_pick_vertices(r, node, piece, &pin->vertices);
    read_motion(r, drape_i_node_find(node, "move"), piece, pin);
    s->pin_count++;
}

/* The entries of a key that is a list in every piece that has it. */
static int32_t count_entries(reader_t *r, const drape_i_node *cloth, const char *key) {
    int64_t count = 0;
    for (const drape_i_node *piece = cloth->first; piece; piece = piece->next) {
        const drape_i_node *list = drape_i_node_find(piece, key);
        if (list && list->kind != DRAPE_I_LIST) {
            drape_i_problem_at(&r->problems, list, false, "%s: expected a list, each entry after a dash and a space",
                               key);
            continue;
        }
        if (list) count += drape_i_node_count(list);
    }
    if (count > MOST_PINS) {
        drape_i_problem_at(&r->problems, cloth, true, "more than %d %s", MOST_PINS, key);
        return 0;
    }
    return (int32_t)count;
}

/* The first entry of such a list; NULL too where the piece has no vertices to pick. */
static const drape_i_node *first_entry(const reader_t *r, const drape_i_node *piece, int32_t index, const char *key) {
    const drape_i_node *list = drape_i_node_find(piece, key);
    return list && list->kind == DRAPE_I_LIST && r->shapes[index].position ? list->first : NULL;
}

void drape_i_read_pins(reader_t *r, const drape_i_node *cloth) {
    int32_t count = count_entries(r, cloth, "pins"), index = 0;
    r->out->scene.pins = drape_i_scene_get(r, count, sizeof *r->out->scene.pins);
    if (!count || !r->out->scene.pins) return;
    for (const drape_i_node *piece = cloth->first; piece; piece = piece->next, index++) {
        for (const drape_i_node *n = first_entry(r, piece, index, "pins"); n; n = n->next) read_pin(r, n, index);
    }
}

/* loads: [{where: center, force: [0, 0, -2 N]}]: that force on each of the vertices. */
void drape_i_read_loads(reader_t *r, const drape_i_node *cloth) {
    static const char *const keys[] = {PICK_KEYS, "force", NULL};
    int32_t count = count_entries(r, cloth, "loads"), index = 0;
    double *load = count ? drape_i_scene_get(r, 3 * (int64_t)r->vertices, sizeof *load) : NULL;
    if (!load) return;
    for (const drape_i_node *piece = cloth->first; piece; piece = piece->next, index++) {
        for (const drape_i_node *n = first_entry(r, piece, index, "loads"); n; n = n->next) {
            const int32_t *vertices;
            double force[3] = {0};
            if (!drape_i_read_map(r, n, keys)) continue;
            if (!drape_i_node_find(n, "force"))
                drape_i_problem_at(&r->problems, n, false, "a load needs a force, such as force: [0, 0, -2 N]");
            drape_i_read_vector(r, n, "force", DRAPE_I_FORCE, DRAPE_I_ANY, force);
            drape_i_turn_up(r, force);
            int32_t picked = drape_i_pick_vertices(r, n, index, &vertices);
            for (int32_t i = 0; i < picked; i++)
                for (int32_t k = 0; k < 3; k++) load[3 * (int64_t)vertices[i] + k] += force[k];
        }
    }
    r->out->scene.forces.vertex = load;
}
