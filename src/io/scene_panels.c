/* scene_panels.c: `panels:` of a piece: meshes of files or grids, which become one mesh with a group per panel. */
#include "io/scene_garment_parts.h"

#include <stdio.h>
#include <string.h>

enum { MOST_PANELS = 1000 };

static bool read_panel_shape(reader_t *r, const drape_i_node *node, garment_panel *p, drape_i_mesh_source *source) {
    const drape_i_node *grid = drape_i_node_find(node, "grid"), *mesh = drape_i_node_find(node, "mesh");
    if (!grid == !mesh) {
        drape_i_problem_at(&r->problems, node, false, "a panel needs `grid:` or `mesh:`%s", grid ? ", not both" : "");
        return false;
    }
    if (mesh) return drape_i_read_mesh_file(r, node, mesh, NULL, source);
    drape_piece made = {0};
    drape_i_shape shape = {0};
    drape_i_mesh *m = drape_i_scene_get(r, 1, sizeof *m);
    if (!m || !drape_i_read_grid(r, grid, &made, &shape)) return false;
    const drape_i_grid *g = p->grid = shape.grid;
    *m = (drape_i_mesh){.vertices = g->vertices,
                        .position = g->rest,
                        .triangles = g->triangles,
                        .triangle = g->triangle,
                        .uv_vertices = g->uv_vertices ? g->uv_vertices : g->vertices,
                        .uv = g->uv,
                        .uv_triangle = g->uv_triangle ? g->uv_triangle : g->triangle,
                        .first_unreferenced = -1};
    *source = (drape_i_mesh_source){.mesh = m, .use_uv = true, .uv_unit = 1, .good = true};
    return true;
}

static bool read_panel(reader_t *r, const drape_i_node *node, int32_t index, drape_i_garment *g,
                       drape_i_mesh_source *source) {
    static const char *const keys[] = {"name", "grid",     "mesh",  "unit",     "up",
                                       "uv",   "uv_scale", "place", "material", NULL};
    garment_panel *p = &g->panel[index];
    p->node = node;
    g->name[index] = "panel";
    if (!drape_i_read_map(r, node, keys)) return false;
    g->name[index] = drape_i_read_unique_name(r, node, "panel", g->name, index);
    const drape_i_node *material = drape_i_node_find(node, "material");
    p->material = drape_material_defaults();
    p->has_material = material && drape_i_read_material(r, material, &p->material);
    drape_i_placement place = drape_i_read_place(r, node);
    if (!read_panel_shape(r, node, p, source)) return false;
    drape_i_mesh *m = source->mesh;
    drape_i_move_points(&place, m->vertices, m->position);
    for (int64_t i = 0; m->uv && i < 2 * (int64_t)m->uv_vertices; i++) m->uv[i] *= place.scale;
    if (!source->use_uv) m->uv = NULL, m->uv_triangle = NULL, m->uv_vertices = 0;
    p->mesh = m;
    return true;
}

/* Room for all panels in one mesh. */
static bool make_room(reader_t *r, const drape_i_garment *g, drape_i_mesh *out) {
    int64_t vertices = 0, triangles = 0, points = 0;
    int32_t groups = 0;
    for (int32_t i = 0; i < g->panels; i++) {
        const drape_i_mesh *m = g->panel[i].mesh;
        vertices += m->vertices, triangles += m->triangles, points += m->uv_vertices, groups += 1 + m->groups;
    }
    if (vertices > DRAPE_I_MOST_VERTICES || points > 2 * (int64_t)DRAPE_I_MOST_VERTICES ||
        triangles > INT32_MAX / 8) {
        drape_i_problem_at(&r->problems, g->panel[0].node, false, "the panels have too many vertices together");
        return false;
    }
    *out = (drape_i_mesh){.first_unreferenced = -1, .groups = groups};
    out->position = drape_i_scene_get(r, 3 * vertices, sizeof *out->position);
    out->triangle = drape_i_scene_get(r, triangles, sizeof *out->triangle);
    out->group = drape_i_scene_get(r, groups, sizeof *out->group);
    if (points > 0) {
        out->uv = drape_i_scene_get(r, 2 * points, sizeof *out->uv);
        out->uv_triangle = drape_i_scene_get(r, triangles, sizeof *out->uv_triangle);
        if (!out->uv || !out->uv_triangle) return false;
    }
    return out->position && out->triangle && out->group;
}

/* A group of the panel, or the panel itself where from is NULL; numbers move on by those of the panels before. */
static bool append_group(reader_t *r, const char *panel, const drape_i_mesh_group *from, const drape_i_mesh *m,
                         const drape_i_mesh *before, drape_i_mesh_group *to) {
    size_t room = strlen(panel) + (from ? strlen(from->name) + 1 : 0) + 1;
    char *name = drape_i_scene_get(r, (int64_t)room, 1);
    int32_t vertices = from ? from->vertices : m->vertices, triangles = from ? from->triangles : m->triangles;
    int32_t *vertex = drape_i_scene_get(r, vertices, sizeof *vertex);
    int32_t *triangle = drape_i_scene_get(r, triangles, sizeof *triangle);
    if (!name || !vertex || !triangle) return false;
    snprintf(name, room, "%s%s%s", panel, from ? "/" : "", from ? from->name : "");
    for (int32_t i = 0; i < vertices; i++) vertex[i] = before->vertices + (from ? from->vertex[i] : i);
    for (int32_t i = 0; i < triangles; i++) triangle[i] = before->triangles + (from ? from->triangle[i] : i);
    *to = (drape_i_mesh_group){name, vertices, vertex, triangles, triangle};
    return true;
}

static bool append_panel(reader_t *r, const char *name, const drape_i_mesh *m, int32_t *group, drape_i_mesh *out) {
    memcpy(out->position + 3 * (int64_t)out->vertices, m->position, 3 * (size_t)m->vertices * sizeof *m->position);
    for (int32_t t = 0; t < m->triangles; t++)
        for (int32_t k = 0; k < 3; k++) {
            out->triangle[out->triangles + t][k] = out->vertices + m->triangle[t][k];
            if (out->uv) out->uv_triangle[out->triangles + t][k] = out->uv_vertices + m->uv_triangle[t][k];
        }
    if (out->uv) memcpy(out->uv + 2 * (int64_t)out->uv_vertices, m->uv, 2 * (size_t)m->uv_vertices * sizeof *m->uv);
    for (int32_t i = -1; i < m->groups; i++)
        if (!append_group(r, name, i < 0 ? NULL : &m->group[i], m, out, &out->group[(*group)++])) return false;
    out->vertices += m->vertices, out->triangles += m->triangles, out->uv_vertices += m->uv_vertices;
    return true;
}

const drape_i_node *drape_i_find_garment_list(reader_t *r, const drape_i_node *piece, const char *key, int32_t most) {
    const drape_i_node *list = drape_i_node_find(piece, key);
    if (!list) return NULL;
    int32_t count = list->kind == DRAPE_I_LIST ? drape_i_node_count(list) : 0;
    if (count >= 1 && count <= most) return list;
    drape_i_problem_at(&r->problems, list, false,
                       "%s: expected a list of 1 to %d entries, each after a dash and a space", key, most);
    return NULL;
}

drape_i_garment *drape_i_make_garment(reader_t *r, int32_t panels) {
    drape_i_garment *g = drape_i_scene_get(r, 1, sizeof *g);
    if (!g) return NULL;
    g->panels = panels;
    g->panel = drape_i_scene_get(r, panels, sizeof *g->panel);
    g->name = drape_i_scene_get(r, panels, sizeof *g->name);
    g->first = drape_i_scene_get(r, panels + 1, sizeof *g->first);
    return g->panel && g->name && g->first ? g : NULL;
}

/* A list of maps, not too long; NULL after a problem, and where it is not there. */
bool drape_i_read_panels(reader_t *r, const drape_i_node *piece, drape_i_mesh_source *out,
                         drape_i_garment **garment) {
    const drape_i_node *list = drape_i_find_garment_list(r, piece, "panels", MOST_PANELS);
    static const char *const not_here[] = {"unit", "up", "uv", "uv_scale", NULL};
    for (int32_t i = 0; not_here[i]; i++) {
        const drape_i_node *extra = drape_i_node_find(piece, not_here[i]);
        if (extra)
            drape_i_problem_at(&r->problems, extra, true, "%s: write it at each of the panels that need it",
                               extra->key);
    }
    drape_i_garment *g = list ? drape_i_make_garment(r, drape_i_node_count(list)) : NULL;
    drape_i_mesh *m = drape_i_scene_get(r, 1, sizeof *m);
    if (!g || !m) return false;
    bool good = true, all_good = true;
    int32_t index = 0, group = 0;
    double unit = 1;
    for (const drape_i_node *n = list->first; n; n = n->next, index++) {
        drape_i_mesh_source source = {0};
        if (!read_panel(r, n, index, g, &source)) {
            good = false;
            continue;
        }
        all_good = all_good && source.good && source.mesh->unreferenced == 0;
        if (index == 0) unit = source.uv_unit;
    }
    for (int32_t i = 1; good && i < g->panels; i++)
        if (!g->panel[i].mesh->uv != !g->panel[0].mesh->uv) {
            drape_i_problem_at(&r->problems, g->panel[i].node, false,
                               "panel %s has %s pattern (texture coordinates), but panel %s has %s; all panels of a "
                               "piece need one, or none (uv: false)",
                               g->name[i], g->panel[i].mesh->uv ? "a" : "no", g->name[0],
                               g->panel[0].mesh->uv ? "one" : "none");
            good = false;
        }
    if (!good || !make_room(r, g, m)) return false;
    for (int32_t i = 0; i < g->panels; i++) {
        g->first[i] = m->vertices;
        if (!append_panel(r, g->name[i], g->panel[i].mesh, &group, m)) return false;
    }
    g->first[g->panels] = m->vertices;
    *out = (drape_i_mesh_source){.mesh = m, .use_uv = m->uv != NULL, .uv_unit = unit, .good = all_good};
    *garment = g;
    return true;
}

/* The group that a panel is. The groups of its file follow it. */
const drape_i_mesh_group *drape_i_panel_group(const drape_i_garment *g, const drape_i_mesh *m, int32_t panel) {
    int32_t group = 0;
    for (int32_t i = 0; i < panel; i++) group += 1 + g->panel[i].mesh->groups;
    return &m->group[group];
}
