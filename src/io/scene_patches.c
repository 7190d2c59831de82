/* scene_patches.c: panels that are sewn onto others: pockets, patches, flaps. */
#include "base/elementary.h"
#include "io/scene_garment_parts.h"

#include <math.h>
#include <string.h>

/* The middle of the box around the pattern of a panel of the files. */
static void find_middle(const garment_reader *t, int32_t panel, double out[2]) {
    const drape_i_mesh *m = t->g->panel[panel].mesh;
    for (int32_t k = 0; k < 2; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < m->uv_vertices; i++)
            low = fmin(low, m->uv[2 * i + k]), high = fmax(high, m->uv[2 * i + k]);
        out[k] = 0.5 * (low + high);
    }
}

/* onto: {panel: front, at: [3 cm, 10 cm], turn: 5, side: back} */
static bool read_onto(const garment_reader *t, const drape_i_node *map, patch *out) {
    static const char *const keys[] = {"panel", "at", "turn", "side", NULL};
    const char *side = "front";
    double turn = 0;
    if (!drape_i_read_map(t->r, map, keys)) return false;
    drape_i_laying *how = &out->how;
    how->lower = drape_i_read_panel_name(t, map);
    if (how->lower < 0) return false;
    if (how->lower == how->upper) {
        drape_i_problem_at(&t->r->problems, map, false, "panel %s cannot be sewn onto itself",
                           t->g->name[how->lower]);
        return false;
    }
    find_middle(t, how->upper, how->middle);
    memcpy(how->at, how->middle, sizeof how->at); /* as both lie in the pattern */
    if (drape_i_node_find(map, "at") && !drape_i_read_pattern_point(t, map, "at", how->at)) return false;
    drape_i_read_number(t->r, map, "turn", DRAPE_I_ANGLE, DRAPE_I_ANY, &turn);
    const double angle = turn * (3.14159265358979323846 / 180), c = drape_i_cos(angle), s = drape_i_sin(angle);
    memcpy(how->turn, (double[4]){c, -s, s, c}, sizeof how->turn);
    drape_i_read_text(t->r, map, "side", &side);
    out->back = strcmp(side, "back") == 0;
    if (out->back || strcmp(side, "front") == 0) return true;
    drape_i_problem_at(&t->r->problems, drape_i_node_find(map, "side"), false, "side is %s; it must be front or back",
                       side);
    return false;
}

/* One path, or one for each edge in a list: where: [left-edge, bottom-edge]. */
static bool read_sewn_paths(const garment_reader *t, const drape_i_node *map, patch *out) {
    const drape_i_node *where = drape_i_node_find(map, "where");
    if (!where || where->kind != DRAPE_I_LIST) {
        out->paths = 1;
        return drape_i_read_path(t, map, "seam", out->index, &out->path[0]);
    }
    static const char *const keys[] = {"panel", "where", NULL};
    if (!drape_i_read_map(t->r, map, keys)) return false;
    for (const drape_i_node *n = where->first; n; n = n->next) {
        if (n->kind != DRAPE_I_SCALAR || out->paths == PATCH_PATHS) {
            drape_i_problem_at(&t->r->problems, n, false,
                               "where: expected one to four edges, such as [left-edge, bottom-edge, right-edge]");
            return false;
        }
        if (!drape_i_take_edge(t, map, n->text, out->how.upper, &out->path[out->paths++])) return false;
    }
    return out->paths > 0;
}

bool drape_i_read_patch(const garment_reader *t, const drape_i_node *node, int32_t index, patch *out) {
    static const char *const keys[] = {"sew", "onto", "height", NULL};
    if (!drape_i_read_map(t->r, node, keys)) return false;
    const drape_i_node *sew = drape_i_node_find(node, "sew"), *onto = drape_i_node_find(node, "onto");
    *out = (patch){.node = node, .index = index};
    if (!sew || !onto || sew->kind != DRAPE_I_MAP || onto->kind != DRAPE_I_MAP || !t->g->panel[0].mesh) {
        drape_i_problem_at(&t->r->problems, node, false,
                           "a panel is sewn onto another of the same piece by sew and onto, such as sew: {panel: "
                           "pocket, where: left-edge}, onto: {panel: front, at: [0, 0]}");
        return false;
    }
    out->how.upper = drape_i_read_panel_name(t, sew);
    if (out->how.upper < 0) return false;
    const garment_panel *upper = &t->g->panel[out->how.upper];
    const drape_i_node *place = drape_i_node_find(upper->node, "place");
    if (!t->mesh->uv) {
        drape_i_problem_at(&t->r->problems, node, false, "sew needs panels with a pattern (texture coordinates)");
        return false;
    }
    if (place && drape_i_node_find(place, "scale") == NULL)
        drape_i_warn_at(t->r, place, "place has no effect: a seam lays this panel on another one");
    for (int32_t i = 0; i < t->g->patches; i++)
        if (t->g->patch[i].how.upper == out->how.upper) {
            drape_i_problem_at(&t->r->problems, node, false,
                               "panel %s is sewn onto a panel already; give all of its edges in one entry, such as "
                               "where: [left-edge, bottom-edge]",
                               t->g->name[out->how.upper]);
            return false;
        }
    drape_i_read_number(t->r, node, "height", DRAPE_I_LENGTH, DRAPE_I_POSITIVE, &out->height);
    bool good = read_onto(t, onto, out);
    return read_sewn_paths(t, sew, out) && good;
}

bool drape_i_sew_patch(const garment_reader *t, const patch *p) {
    const int64_t triangles = drape_i_sewing_triangles(t->sewing, p->how.lower);
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < p->paths && !status; i++) {
        const drape_i_patch one = {.path = p->path[i], .how = p->how, .index = p->index};
        if (!drape_i_may_visit(t->r, p->node, (p->path[i].count + 100) * triangles)) return false;
        status = drape_i_sewing_onto(t->sewing, &one);
    }
    if (!status) status = drape_i_sewing_lift(t->sewing, &p->how);
    return status ? drape_i_garment_failed(t, p->node, status, "seam", p->index) : true;
}

/* Panels that are sewn onto others go there: the vertices of their seams exactly. */
bool drape_i_lay_patches(reader_t *r, const drape_i_garment *g, drape_i_mesh *m, double thickness, int32_t first,
                         const drape_stitch *list, int32_t count) {
    uint8_t *in = drape_i_scene_get(r, m->vertices, sizeof *in);
    if (!in) return false;
    for (int32_t i = 0; i < g->patches; i++) {
        const patch *p = &g->patch[i];
        const drape_i_mesh_group *upper = drape_i_panel_group(g, m, p->how.upper),
                                 *lower = drape_i_panel_group(g, m, p->how.lower);
        const double height = p->height > 0 ? p->height : thickness;
        drape_status status = drape_i_mesh_lay(r->ctx, m, upper, lower, &p->how, p->back ? -height : height);
        if (status) return drape_i_scene_failed(r, p->node, status);
        for (int32_t k = 0; k < upper->vertices; k++) in[upper->vertex[k]] = 1;
        for (int32_t k = 0; k < lower->vertices; k++) in[lower->vertex[k]] |= 2;
        for (int32_t k = 0; k < count; k++) {
            const int32_t a = list[k].a.vertex[0] - first, b = list[k].b.vertex[0] - first;
            if (list[k].close > 0 || !(in[a] & 1) || !(in[b] & 2)) continue;
            memcpy(m->position + 3 * (int64_t)a, m->position + 3 * (int64_t)b, 3 * sizeof *m->position);
        }
        memset(in, 0, (size_t)m->vertices);
    }
    return true;
}
