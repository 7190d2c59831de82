/* scene_paths.c: paths along the boundary of panels, and points of their patterns. */
#include "io/scene_garment_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool drape_i_garment_failed(const garment_reader *t, const drape_i_node *node, drape_status status, const char *what,
                            int32_t index) {
    if (status == DRAPE_ERROR_MEMORY) t->r->problems.status = status;
    else drape_i_problem_at(&t->r->problems, node, false, "%s %d: %s", what, index, drape_message(t->r->ctx));
    return false;
}

/* Which panel a path lies on; -1 after a problem. */
int32_t drape_i_read_panel_name(const garment_reader *t, const drape_i_node *map) {
    const char *name = NULL;
    const drape_i_node *node = drape_i_node_find(map, "panel");
    drape_i_read_text(t->r, map, "panel", &name);
    if (t->g->panels == 1 && !name) return 0;
    for (int32_t i = 0; name && i < t->g->panels; i++)
        if (t->g->name[i] && strcmp(t->g->name[i], name) == 0) return i;
    if (name) drape_i_problem_at(&t->r->problems, node, false, "there is no panel \"%s\" in this piece", name);
    else
        drape_i_problem_at(&t->r->problems, map, false, "a path needs the name of its panel, such as panel: %s",
                           t->g->name[0]);
    return -1;
}

/* vertices: [0, 12], as the panel's file counts them. */
static int32_t read_numbers(const garment_reader *t, const drape_i_node *node, int32_t panel, int32_t *out) {
    int32_t first = t->g->first[panel], most = t->g->first[panel + 1] - first, count = 0;
    for (const drape_i_node *n = node->first; n; n = n->next) {
        if (!drape_i_node_whole(t->r, n, 0, most - 1, &out[count])) return 0;
        out[count++] += first;
    }
    return count;
}

/* nearest: [[0, 0, 1 m], ...]: the boundary vertices of the panel nearest to these points. */
static int32_t read_points(const garment_reader *t, const drape_i_node *node, int32_t panel, int32_t *out) {
    int32_t count = 0;
    for (const drape_i_node *n = node->first; n; n = n->next, count++) {
        double point[3], least = INFINITY;
        if (!drape_i_node_vector(t->r, n, DRAPE_I_LENGTH, DRAPE_I_ANY, point)) return 0;
        if (!drape_i_may_visit(t->r, n, t->g->first[panel + 1] - t->g->first[panel])) return 0;
        out[count] = t->g->first[panel];
        for (int32_t v = t->g->first[panel]; v < t->g->first[panel + 1]; v++) {
            if (!drape_i_sewing_on_boundary(t->sewing, v)) continue;
            const double *x = t->mesh->position + 3 * (int64_t)v;
            double square = 0;
            for (int32_t k = 0; k < 3; k++) square += (x[k] - point[k]) * (x[k] - point[k]);
            if (square < least) out[count] = v, least = square;
        }
    }
    return count;
}

static bool walk(const garment_reader *t, const drape_i_node *map, const drape_i_node *node, int32_t panel,
                 int32_t (*read)(const garment_reader *, const drape_i_node *, int32_t, int32_t *), const char *what,
                 int32_t index, drape_i_path *out) {
    int32_t count = node->kind == DRAPE_I_LIST ? drape_i_node_count(node) : 0;
    if (count < 2) {
        drape_i_problem_at(&t->r->problems, node, false,
                           "%s: expected at least two, the ends of the path and what it passes between them",
                           node->key);
        return false;
    }
    int32_t *over = drape_i_scene_get(t->r, count, sizeof *over);
    if (!over || read(t, node, panel, over) != count) return false;
    drape_status status = drape_i_sewing_walk(t->sewing, count, over, out);
    return status ? drape_i_garment_failed(t, map, status, what, index) : true;
}

static bool collect_group(const garment_reader *t, const drape_i_node *map, const char *group, int32_t panel,
                          const char *what, int32_t index, drape_i_path *out) {
    char full[512];
    const char *name = t->g->name[panel];
    snprintf(full, sizeof full, "%s%s%s", name ? name : "", name ? "/" : "", group);
    for (int32_t i = 0; i < t->mesh->groups; i++) {
        const drape_i_mesh_group *g = &t->mesh->group[i];
        if (strcmp(g->name, full) != 0) continue;
        drape_status status = drape_i_sewing_collect(t->sewing, g->vertices, g->vertex, out);
        return status ? drape_i_garment_failed(t, map, status, what, index) : true;
    }
    drape_i_problem_at(&t->r->problems, drape_i_node_find(map, "group"), false, "%s has no group \"%s\"",
                       name ? name : "the mesh file", group);
    return false;
}

/* where: left-edge of a panel that is a grid. */
bool drape_i_take_edge(const garment_reader *t, const drape_i_node *map, const char *edge, int32_t panel,
                       drape_i_path *out) {
    static const char *const names[] = {"left-edge", "right-edge", "bottom-edge", "top-edge"};
    const drape_i_grid *g = t->g->panel[panel].grid;
    const drape_i_node *node = drape_i_node_find(map, "where");
    int32_t which = 0;
    while (which < 4 && strcmp(names[which], edge) != 0) which++;
    if (which == 4 || !g) {
        drape_i_problem_at(&t->r->problems, node, false,
                           g ? "where is %s; an edge of a grid is left-edge, right-edge, bottom-edge or top-edge"
                             : "where: %s is for grids; on a mesh use vertices, group or nearest",
                           edge);
        return false;
    }
    int32_t count = which < 2 ? g->ny : g->nx;
    out->vertex = drape_i_scene_get(t->r, count, sizeof *out->vertex);
    out->ordered = false;
    out->count = 0;
    for (int32_t i = 0; out->vertex && i < count; i++) {
        int32_t column = which == 0   ? 0
                         : which == 1 ? g->nx - 1
                                      : i,
                row = which == 2   ? 0
                      : which == 3 ? g->ny - 1
                                   : i;
        int32_t v = g->number[column + (int64_t)g->nx * row];
        if (v >= 0) out->vertex[out->count++] = t->g->first[panel] + v;
    }
    for (int32_t i = 0; out->vertex && i < out->count; i++)
        if (!drape_i_sewing_on_boundary(t->sewing, out->vertex[i])) {
            drape_i_problem_at(&t->r->problems, node, false, "where: the %s of this grid is not on its boundary",
                               edge);
            return false;
        }
    return out->vertex && out->count >= 2;
}

/* {panel: front, vertices: [0, 12]}; also group, nearest or where in place of vertices. */
bool drape_i_read_path(const garment_reader *t, const drape_i_node *map, const char *what, int32_t index,
                       drape_i_path *out) {
    static const char *const keys[] = {"panel", "vertices", "group", "nearest", "where", NULL};
    const char *word;
    int32_t ways = 0;
    if (!drape_i_read_map(t->r, map, keys)) return false;
    for (int32_t i = 1; keys[i]; i++) ways += drape_i_node_find(map, keys[i]) != NULL;
    int32_t panel = drape_i_read_panel_name(t, map);
    if (panel < 0) return false;
    if (ways != 1) {
        drape_i_problem_at(&t->r->problems, map, false,
                           "a path is given by one of vertices, group, nearest and where");
        return false;
    }
    const drape_i_node *numbers = drape_i_node_find(map, "vertices"), *points = drape_i_node_find(map, "nearest");
    if (numbers) return walk(t, map, numbers, panel, read_numbers, what, index, out);
    if (points) return walk(t, map, points, panel, read_points, what, index, out);
    if (drape_i_read_text(t->r, map, "group", &word)) return collect_group(t, map, word, panel, what, index, out);
    return drape_i_read_text(t->r, map, "where", &word) && drape_i_take_edge(t, map, word, panel, out);
}

/* Two numbers with the unit of lengths. */
bool drape_i_read_pattern_point(const garment_reader *t, const drape_i_node *map, const char *key, double out[2]) {
    const drape_i_node *list = drape_i_node_find(map, key);
    if (!list || list->kind != DRAPE_I_LIST || drape_i_node_count(list) != 2) {
        drape_i_problem_at(
            &t->r->problems, list ? list : map, false,
            "%s: expected a point of the pattern of the panel, two lengths such as [10 cm, -5 cm]; the "
            "middle of a grid is [0, 0]",
            key);
        return false;
    }
    return drape_i_node_number(t->r, list->first, DRAPE_I_LENGTH, DRAPE_I_ANY, &out[0]) &&
           drape_i_node_number(t->r, list->first->next, DRAPE_I_LENGTH, DRAPE_I_ANY, &out[1]);
}
