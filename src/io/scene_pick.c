/* scene_pick.c: vertices by name (edges and corners of a grid), number, box, or group of the mesh file. */
#include "io/mesh.h"
#include "io/scene_reader.h"

#include <math.h>
#include <string.h>

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
    bool *picked; /* one a vertex of the piece */
} picking;

static const double BOX_SLACK = 1e-9; /* m: rounding must not put a vertex on a box's side outside */

static void pick_place(picking *p, const drape_i_node *node) {
    const char *names[PLACES + 1] = {0};
    const drape_i_grid *g = p->shape->grid;
    for (int32_t k = 0; k < PLACES; k++) names[k] = places[k].name;
    if (node->kind != DRAPE_I_SCALAR) {
        drape_i_problem_at(&p->r->problems, node, false, "where: a name such as left-edge is wanted");
        return;
    }
    if (!g) {
        drape_i_problem_at(&p->r->problems, node, false,
                           "where: names are for grids; on a mesh use group, box or vertices");
        return;
    }
    for (int32_t k = 0; k < PLACES; k++) {
        if (strcmp(places[k].name, node->text) != 0) continue;
        for (int32_t j = 0; j < g->ny; j++)
            for (int32_t i = 0; i < g->nx; i++) {
                int32_t v = g->number[i + (int64_t)g->nx * j];
                if (v >= 0 && places[k].test(g, i, j)) p->picked[v] = true;
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
                           "at: this is for grids; on a mesh use group, box or vertices");
        return;
    }
    if (node->kind != DRAPE_I_LIST) {
        drape_i_problem_at(&p->r->problems, node, false, "at: a list of places is wanted, as in [[0.5, 1]]");
        return;
    }
    for (const drape_i_node *n = node->first; n; n = n->next) {
        if (n->kind != DRAPE_I_LIST || drape_i_node_count(n) != 2) {
            drape_i_problem_at(&p->r->problems, n, false,
                               "at: two fractions in brackets are wanted for each place, as in [[0.5, 1]]");
            return;
        }
        if (!drape_i_node_number(p->r, n->first, DRAPE_I_PLAIN, share, &f[0]) ||
            !drape_i_node_number(p->r, n->first->next, DRAPE_I_PLAIN, share, &f[1]))
            return;
        int32_t i = (int32_t)floor(f[0] * (g->nx - 1) + 0.5), j = (int32_t)floor(f[1] * (g->ny - 1) + 0.5);
        int32_t v = g->number[i + (int64_t)g->nx * j];
        if (v < 0)
            drape_i_problem_at(&p->r->problems, n, false, "at: there is no cloth at this place: `cut` leaves it out");
        else p->picked[v] = true;
    }
}

static void pick_numbers(picking *p, const drape_i_node *node) {
    int32_t v;
    if (!node) return;
    if (node->kind != DRAPE_I_LIST) {
        drape_i_problem_at(&p->r->problems, node, false, "vertices: a list of numbers is wanted, as in [0, 7]");
        return;
    }
    for (const drape_i_node *n = node->first; n; n = n->next)
        if (drape_i_node_whole(p->r, n, 0, p->shape->vertices - 1, &v)) p->picked[v] = true;
}

static void pick_box(picking *p, const drape_i_node *node) {
    double low[3], high[3];
    if (!node) return;
    if (node->kind != DRAPE_I_LIST || drape_i_node_count(node) != 2) {
        drape_i_problem_at(&p->r->problems, node, false, "box: two corners are wanted, as in [[0, 0, 0], [1, 1, 1]]");
        return;
    }
    if (!drape_i_node_vector(p->r, node->first, DRAPE_I_LENGTH, DRAPE_I_ANY, low) ||
        !drape_i_node_vector(p->r, node->first->next, DRAPE_I_LENGTH, DRAPE_I_ANY, high))
        return;
    drape_i_turn_up(p->r, low), drape_i_turn_up(p->r, high);
    for (int64_t i = 0; i < p->shape->vertices; i++) {
        bool inside = true;
        for (int32_t k = 0; k < 3; k++) {
            double x = p->shape->position[3 * i + k];
            inside = inside && x >= fmin(low[k], high[k]) - BOX_SLACK && x <= fmax(low[k], high[k]) + BOX_SLACK;
        }
        if (inside) p->picked[i] = true;
    }
}

/* One group of the mesh file. */
static void pick_group(picking *p, const drape_i_node *node) {
    const drape_i_mesh *m = p->shape->mesh;
    const char *names[MOST_NAMES + 1] = {0};
    char known[400];
    if (node->kind != DRAPE_I_SCALAR) {
        drape_i_problem_at(&p->r->problems, node, false, "group: the name of a group of the mesh file is wanted");
        return;
    }
    for (int32_t g = 0; m && g < m->groups; g++) {
        if (g < MOST_NAMES) names[g] = m->group[g].name;
        if (strcmp(m->group[g].name, node->text) != 0) continue;
        for (int32_t i = 0; i < m->group[g].vertices; i++) p->picked[m->group[g].vertex[i]] = true;
        return;
    }
    drape_i_join(names, known, sizeof known);
    if (!m) drape_i_problem_at(&p->r->problems, node, false, "group: this is for meshes; on a grid use where or at");
    else if (!m->groups) drape_i_problem_at(&p->r->problems, node, false, "group: the mesh file has no groups");
    else
        drape_i_problem_at(&p->r->problems, node, false, "the mesh file has no group \"%s\"; known: %s", node->text,
                           known);
}

/* One name or a list of them. */
static void pick_each(picking *p, const drape_i_node *node, void (*pick)(picking *, const drape_i_node *)) {
    if (!node) return;
    if (node->kind != DRAPE_I_LIST) {
        pick(p, node);
        return;
    }
    for (const drape_i_node *n = node->first; n; n = n->next) pick(p, n);
}

static int32_t list_picked(const picking *p, const int32_t **out) {
    int32_t count = 0, n = 0;
    for (int32_t i = 0; i < p->shape->vertices; i++) count += p->picked[i];
    int32_t *list = drape_i_scene_get(p->r, count, sizeof *list);
    *out = list;
    if (!list) return 0;
    for (int32_t i = 0; i < p->shape->vertices; i++)
        if (p->picked[i]) list[n++] = p->shape->first_vertex + i;
    return count;
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
                       "no vertex of the piece is there; it lies in [[%.4g, %.4g, %.4g], [%.4g, %.4g, %.4g]]", low[0],
                       low[1], low[2], high[0], high[1], high[2]);
}

int32_t drape_i_pick_vertices(reader_t *r, const drape_i_node *map, int32_t piece, const int32_t **out) {
    static const char *const keys[] = {DRAPE_I_PICK_KEYS, NULL};
    const drape_i_shape *shape = &r->shapes[piece];
    int32_t before = r->problems.count, ways = 0;
    if (!r->picked) r->picked = drape_i_scene_get(r, r->vertices, sizeof *r->picked);
    if (!r->picked) return 0;
    picking p = {r, shape, r->picked};
    memset(p.picked, 0, (size_t)shape->vertices * sizeof *p.picked);
    pick_each(&p, drape_i_node_find(map, "where"), pick_place);
    pick_fractions(&p, drape_i_node_find(map, "at"));
    pick_numbers(&p, drape_i_node_find(map, "vertices"));
    pick_box(&p, drape_i_node_find(map, "box"));
    pick_each(&p, drape_i_node_find(map, "group"), pick_group);
    int32_t count = list_picked(&p, out);
    for (int32_t i = 0; keys[i]; i++) ways += drape_i_node_find(map, keys[i]) != NULL;
    if (count == 0 && r->problems.count == before && ways) say_where_it_is(r, map, shape);
    else if (count == 0 && r->problems.count == before)
        drape_i_problem_at(&r->problems, map, false, "which vertices? Say it with where, at, vertices, box or group");
    return count;
}
