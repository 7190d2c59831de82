/* scene_garment.c: `panels:`, `seams:` and `bands:` of a piece: a garment from its sewing pattern.
 *
 * Panels are meshes of files or grids, each with a place of its own. They become one mesh with a group per panel;
 * seams weld it (mesh_sew.c); then it is refined (mesh_refine.c). Bands give triangles another material: those of a
 * group, or those whose middle is within some width of a path, in the pattern. A band that is shrunk has shorter
 * triangles in the pattern: along the path, or along the warp without one. Its triangles then have pattern vertices
 * of their own, since shrunk ones no longer fit together in the plane. */
#include "io/scene_garment.h"
#include "base/elementary.h"
#include "io/mesh_sew.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_PANELS = 1000, MOST_SEAMS = 10000, MOST_BANDS = 1000, MOST_BUTTONS = 1000 };

static const double OPEN = 1e-6;      /* m: as in sim/stitches.c */
static const double USUAL_GAP = 0.02; /* m */
static const double USUAL_EASE = 0.1; /* the longer path may be longer by so much */

typedef struct garment_panel {
    const drape_i_node *node;
    const drape_i_mesh *mesh;
    const drape_i_grid *grid; /* NULL: a file */
    drape_material material;
    bool has_material;
} garment_panel;

/* An edge of a path, in the pattern (or in space, if there is none), with its triangle in the files. */
typedef struct segment {
    double a[3], b[3];
    int32_t triangle;
} segment;

typedef struct band_path {
    int32_t count;
    segment *segment;
} band_path;

enum { PATCH_PATHS = 4 };

/* A panel that is sewn onto another. */
typedef struct patch {
    const drape_i_node *node;
    drape_i_laying how;
    int32_t index, paths; /* of the seam */
    drape_i_path path[PATCH_PATHS];
    double height; /* m: how far above the panel below it starts; 0: the thickness */
    bool back;     /* on the side of the panel below from which its normals point away */
} patch;

/* Two places of panels, in their patterns. */
typedef struct button {
    const drape_i_node *node;
    int32_t panel[2];
    double at[2][2], soft, close;
} button;

struct drape_i_garment {
    int32_t panels;
    garment_panel *panel;
    const char **name; /* NULL where a mesh is the only panel */
    int32_t *first;    /* vertices; panels + 1 of them */
    int32_t *island;   /* of each of the files' triangles: its connected part of the pattern */
    int32_t bands;
    band_path *band;
    int32_t drawn; /* vertices that are drawn together */
    const drape_i_drawn *pair;
    int32_t patches; /* panels that are sewn onto others, in the order of the scene */
    struct patch *patch;
    int32_t buttons;
    struct button *button;
};

/* ---- panels ---- */

static bool read_panel_shape(reader_t *r, const drape_i_node *node, garment_panel *p, drape_i_mesh_source *source) {
    const drape_i_node *grid = drape_i_node_find(node, "grid"), *mesh = drape_i_node_find(node, "mesh");
    if (!grid == !mesh) {
        drape_i_problem_at(&r->problems, node, false, "a panel needs `grid:` or `mesh:`%s", grid ? ", not both" : "");
        return false;
    }
    if (mesh) return drape_i_read_mesh_file(r, node, mesh, source);
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

static drape_i_garment *make_garment(reader_t *r, int32_t panels) {
    drape_i_garment *g = drape_i_scene_get(r, 1, sizeof *g);
    if (!g) return NULL;
    g->panels = panels;
    g->panel = drape_i_scene_get(r, panels, sizeof *g->panel);
    g->name = drape_i_scene_get(r, panels, sizeof *g->name);
    g->first = drape_i_scene_get(r, panels + 1, sizeof *g->first);
    return g->panel && g->name && g->first ? g : NULL;
}

/* A list of maps, not too long; NULL after a problem, and where it is not there. */
static const drape_i_node *find_list(reader_t *r, const drape_i_node *piece, const char *key, int32_t most) {
    const drape_i_node *list = drape_i_node_find(piece, key);
    if (!list) return NULL;
    int32_t count = list->kind == DRAPE_I_LIST ? drape_i_node_count(list) : 0;
    if (count >= 1 && count <= most) return list;
    drape_i_problem_at(&r->problems, list, false,
                       "%s: expected a list of 1 to %d entries, each after a dash and a space", key, most);
    return NULL;
}

bool drape_i_read_panels(reader_t *r, const drape_i_node *piece, drape_i_mesh_source *out,
                         drape_i_garment **garment) {
    const drape_i_node *list = find_list(r, piece, "panels", MOST_PANELS);
    static const char *const not_here[] = {"unit", "up", "uv", "uv_scale", NULL};
    for (int32_t i = 0; not_here[i]; i++) {
        const drape_i_node *extra = drape_i_node_find(piece, not_here[i]);
        if (extra)
            drape_i_problem_at(&r->problems, extra, true, "%s: write it at each of the panels that need it",
                               extra->key);
    }
    drape_i_garment *g = list ? make_garment(r, drape_i_node_count(list)) : NULL;
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

/* ---- paths ---- */

typedef struct tailor {
    reader_t *r;
    drape_i_garment *g;
    drape_i_mesh *mesh;
    drape_i_sewing *sewing;
} tailor;

static bool failed(const tailor *t, const drape_i_node *node, drape_status status, const char *what, int32_t index) {
    if (status == DRAPE_ERROR_MEMORY) t->r->problems.status = status;
    else drape_i_problem_at(&t->r->problems, node, false, "%s %d: %s", what, index, drape_message(t->r->ctx));
    return false;
}

/* Which panel a path lies on; -1 after a problem. */
static int32_t read_panel_name(const tailor *t, const drape_i_node *map) {
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
static int32_t read_numbers(const tailor *t, const drape_i_node *node, int32_t panel, int32_t *out) {
    int32_t first = t->g->first[panel], most = t->g->first[panel + 1] - first, count = 0;
    for (const drape_i_node *n = node->first; n; n = n->next) {
        if (!drape_i_node_whole(t->r, n, 0, most - 1, &out[count])) return 0;
        out[count++] += first;
    }
    return count;
}

/* nearest: [[0, 0, 1 m], ...]: the boundary vertices of the panel nearest to these points. */
static int32_t read_points(const tailor *t, const drape_i_node *node, int32_t panel, int32_t *out) {
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

static bool walk(const tailor *t, const drape_i_node *map, const drape_i_node *node, int32_t panel,
                 int32_t (*read)(const tailor *, const drape_i_node *, int32_t, int32_t *), const char *what,
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
    return status ? failed(t, map, status, what, index) : true;
}

static bool collect_group(const tailor *t, const drape_i_node *map, const char *group, int32_t panel,
                          const char *what, int32_t index, drape_i_path *out) {
    char full[512];
    const char *name = t->g->name[panel];
    snprintf(full, sizeof full, "%s%s%s", name ? name : "", name ? "/" : "", group);
    for (int32_t i = 0; i < t->mesh->groups; i++) {
        const drape_i_mesh_group *g = &t->mesh->group[i];
        if (strcmp(g->name, full) != 0) continue;
        drape_status status = drape_i_sewing_collect(t->sewing, g->vertices, g->vertex, out);
        return status ? failed(t, map, status, what, index) : true;
    }
    drape_i_problem_at(&t->r->problems, drape_i_node_find(map, "group"), false, "%s has no group \"%s\"",
                       name ? name : "the mesh file", group);
    return false;
}

/* where: left-edge of a panel that is a grid. */
static bool take_edge(const tailor *t, const drape_i_node *map, const char *edge, int32_t panel, drape_i_path *out) {
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
static bool read_path(const tailor *t, const drape_i_node *map, const char *what, int32_t index, drape_i_path *out) {
    static const char *const keys[] = {"panel", "vertices", "group", "nearest", "where", NULL};
    const char *word;
    int32_t ways = 0;
    if (!drape_i_read_map(t->r, map, keys)) return false;
    for (int32_t i = 1; keys[i]; i++) ways += drape_i_node_find(map, keys[i]) != NULL;
    int32_t panel = read_panel_name(t, map);
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
    return drape_i_read_text(t->r, map, "where", &word) && take_edge(t, map, word, panel, out);
}

/* ---- panels that are sewn onto others ---- */

/* Two numbers with the unit of lengths. */
static bool read_pattern_point(const tailor *t, const drape_i_node *map, const char *key, double out[2]) {
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

/* The middle of the box around the pattern of a panel of the files. */
static void find_middle(const tailor *t, int32_t panel, double out[2]) {
    const drape_i_mesh *m = t->g->panel[panel].mesh;
    for (int32_t k = 0; k < 2; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < m->uv_vertices; i++)
            low = fmin(low, m->uv[2 * i + k]), high = fmax(high, m->uv[2 * i + k]);
        out[k] = 0.5 * (low + high);
    }
}

/* onto: {panel: front, at: [3 cm, 10 cm], turn: 5, side: back} */
static bool read_onto(const tailor *t, const drape_i_node *map, patch *out) {
    static const char *const keys[] = {"panel", "at", "turn", "side", NULL};
    const char *side = "front";
    double turn = 0;
    if (!drape_i_read_map(t->r, map, keys)) return false;
    drape_i_laying *how = &out->how;
    how->lower = read_panel_name(t, map);
    if (how->lower < 0) return false;
    if (how->lower == how->upper) {
        drape_i_problem_at(&t->r->problems, map, false, "panel %s cannot be sewn onto itself",
                           t->g->name[how->lower]);
        return false;
    }
    find_middle(t, how->upper, how->middle);
    memcpy(how->at, how->middle, sizeof how->at); /* as both lie in the pattern */
    if (drape_i_node_find(map, "at") && !read_pattern_point(t, map, "at", how->at)) return false;
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
static bool read_sewn_paths(const tailor *t, const drape_i_node *map, patch *out) {
    const drape_i_node *where = drape_i_node_find(map, "where");
    if (!where || where->kind != DRAPE_I_LIST) {
        out->paths = 1;
        return read_path(t, map, "seam", out->index, &out->path[0]);
    }
    static const char *const keys[] = {"panel", "where", NULL};
    if (!drape_i_read_map(t->r, map, keys)) return false;
    for (const drape_i_node *n = where->first; n; n = n->next) {
        if (n->kind != DRAPE_I_SCALAR || out->paths == PATCH_PATHS) {
            drape_i_problem_at(&t->r->problems, n, false,
                               "where: expected one to four edges, such as [left-edge, bottom-edge, right-edge]");
            return false;
        }
        if (!take_edge(t, map, n->text, out->how.upper, &out->path[out->paths++])) return false;
    }
    return out->paths > 0;
}

static bool read_patch(const tailor *t, const drape_i_node *node, int32_t index, patch *out) {
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
    out->how.upper = read_panel_name(t, sew);
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

static bool sew_patch(const tailor *t, const patch *p) {
    const int64_t triangles = drape_i_sewing_triangles(t->sewing, p->how.lower);
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < p->paths && !status; i++) {
        const drape_i_patch one = {.path = p->path[i], .how = p->how, .index = p->index};
        if (!drape_i_may_visit(t->r, p->node, (p->path[i].count + 100) * triangles)) return false;
        status = drape_i_sewing_onto(t->sewing, &one);
    }
    if (!status) status = drape_i_sewing_lift(t->sewing, &p->how);
    return status ? failed(t, p->node, status, "seam", p->index) : true;
}

/* ---- seams ---- */

static bool read_seam(const tailor *t, const drape_i_node *node, int32_t index, drape_i_seam *out) {
    static const char *const keys[] = {"join", "gather", "ease", "gap", "close", NULL};
    if (!drape_i_read_map(t->r, node, keys)) return false;
    const drape_i_node *join = drape_i_node_find(node, "join");
    double ease = USUAL_EASE;
    *out = (drape_i_seam){.gap = USUAL_GAP, .index = index};
    if (!join || join->kind != DRAPE_I_LIST || drape_i_node_count(join) != 2) {
        drape_i_problem_at(
            &t->r->problems, join ? join : node, false,
            "a seam needs join, a list of two paths, such as [{vertices: [0, 9]}, {vertices: [20, 29]}]; or sew and "
            "onto");
        return false;
    }
    drape_i_read_truth(t->r, node, "gather", &out->gather);
    drape_i_read_number(t->r, node, "ease", DRAPE_I_PLAIN, DRAPE_I_NOT_NEGATIVE, &ease);
    drape_i_read_number(t->r, node, "close", DRAPE_I_TIME, DRAPE_I_NOT_NEGATIVE, &out->close);
    drape_i_read_number(t->r, node, "gap", DRAPE_I_LENGTH, DRAPE_I_NOT_NEGATIVE, &out->gap);
    out->ease = 1 + ease;
    bool first = read_path(t, join->first, "seam", index, &out->path[0]);
    return read_path(t, join->first->next, "seam", index, &out->path[1]) && first;
}

static bool is_patch(const drape_i_node *seam) {
    return seam->kind == DRAPE_I_MAP && (drape_i_node_find(seam, "sew") || drape_i_node_find(seam, "onto"));
}

static bool sew(const tailor *t, const drape_i_node *list) {
    int32_t count = drape_i_node_count(list), index = 0, edges = drape_i_sewing_boundary_edges(t->sewing);
    int32_t before = t->r->problems.count;
    if (2 * (int64_t)count > edges) {
        drape_i_problem_at(&t->r->problems, list, true,
                           "%d seams join two edges each or more, but the boundary has only %d edges", count, edges);
        return false;
    }
    drape_i_seam *seam = drape_i_scene_get(t->r, count, sizeof *seam);
    t->g->patch = drape_i_scene_get(t->r, count, sizeof *t->g->patch);
    if (!seam || !t->g->patch) return false;
    /* All paths first: they follow the boundary as the files have it. */
    for (const drape_i_node *n = list->first; n; n = n->next, index++) {
        if (!is_patch(n)) read_seam(t, n, index, &seam[index]);
        else if (read_patch(t, n, index, &t->g->patch[t->g->patches])) t->g->patches++;
    }
    if (t->r->problems.count > before || t->r->problems.status == DRAPE_ERROR_MEMORY) return false;
    index = 0;
    int32_t patches = 0;
    for (const drape_i_node *n = list->first; n; n = n->next, index++) {
        if (is_patch(n)) {
            if (!sew_patch(t, &t->g->patch[patches++])) return false;
            continue;
        }
        drape_status status = drape_i_sewing_weld(t->sewing, &seam[index]);
        if (status) return failed(t, n, status, "seam", index);
    }
    return true;
}

/* ---- paths of bands ---- */

/* Connected parts of the pattern, which may lie over each other there. */
static bool find_islands(reader_t *r, const drape_i_mesh *m, drape_i_garment *g) {
    int32_t points = m->uv ? m->uv_vertices : m->vertices;
    int32_t *parent = drape_i_scene_get(r, points, sizeof *parent);
    g->island = drape_i_scene_get(r, m->triangles, sizeof *g->island);
    if (!parent || !g->island) return false;
    for (int32_t i = 0; i < points; i++) parent[i] = i;
    for (int32_t t = 0; t < m->triangles; t++) {
        const int32_t *c = m->uv ? m->uv_triangle[t] : m->triangle[t];
        for (int32_t k = 1; k < 3; k++) {
            int32_t a = c[0], b = c[k];
            while (parent[a] != a) a = parent[a] = parent[parent[a]];
            while (parent[b] != b) b = parent[b] = parent[parent[b]];
            if (a < b) parent[b] = a;
            else parent[a] = b;
        }
    }
    for (int32_t t = 0; t < m->triangles; t++) {
        int32_t a = m->uv ? m->uv_triangle[t][0] : m->triangle[t][0];
        while (parent[a] != a) a = parent[a];
        g->island[t] = a;
    }
    return true;
}

static void point_of(const drape_i_mesh *m, int32_t triangle, int32_t vertex, double out[3]) {
    const int32_t *c = m->triangle[triangle];
    int32_t k = c[0] == vertex ? 0 : c[1] == vertex ? 1 : 2;
    out[2] = 0;
    if (m->uv) memcpy(out, m->uv + 2 * (int64_t)m->uv_triangle[triangle][k], 2 * sizeof *out);
    else memcpy(out, m->position + 3 * (int64_t)vertex, 3 * sizeof *out);
}

/* The triangle of a boundary edge. */
static int32_t triangle_at(const drape_i_mesh *m, int32_t a, int32_t b) {
    for (int32_t t = 0; t < m->triangles; t++) {
        const int32_t *c = m->triangle[t];
        bool has_a = c[0] == a || c[1] == a || c[2] == a, has_b = c[0] == b || c[1] == b || c[2] == b;
        if (has_a && has_b) return t;
    }
    return 0;
}

static bool lay_band(const tailor *t, const drape_i_node *map, int32_t index, band_path *out) {
    drape_i_path path;
    if (!read_path(t, map, "band", index, &path)) return false;
    if (!drape_i_may_visit(t->r, map, (int64_t)path.count * t->mesh->triangles)) return false;
    out->count = path.count - 1;
    out->segment = drape_i_scene_get(t->r, out->count, sizeof *out->segment);
    for (int32_t i = 0; out->segment && i < out->count; i++) {
        segment *s = &out->segment[i];
        s->triangle = triangle_at(t->mesh, path.vertex[i], path.vertex[i + 1]);
        point_of(t->mesh, s->triangle, path.vertex[i], s->a);
        point_of(t->mesh, s->triangle, path.vertex[i + 1], s->b);
    }
    return out->segment != NULL;
}

static bool lay_bands(tailor *t, const drape_i_node *list) {
    int32_t index = 0;
    bool good = true;
    t->g->bands = drape_i_node_count(list);
    t->g->band = drape_i_scene_get(t->r, t->g->bands, sizeof *t->g->band);
    if (!t->g->band || !find_islands(t->r, t->mesh, t->g)) return false;
    for (const drape_i_node *n = list->first; n; n = n->next, index++) {
        const drape_i_node *along = n->kind == DRAPE_I_MAP ? drape_i_node_find(n, "along") : NULL;
        if (along) good = lay_band(t, along, index, &t->g->band[index]) && good;
    }
    return good;
}

/* ---- buttons ---- */

/* join: [{panel: front, at: [0, 10 cm]}, {panel: back, at: [0, 10 cm]}] */
static bool read_button(const tailor *t, const drape_i_node *node, button *out) {
    static const char *const keys[] = {"join", "close", "soft", NULL}, *const place[] = {"panel", "at", NULL};
    if (!drape_i_read_map(t->r, node, keys)) return false;
    const drape_i_node *join = drape_i_node_find(node, "join");
    if (!join || join->kind != DRAPE_I_LIST || drape_i_node_count(join) != 2) {
        drape_i_problem_at(
            &t->r->problems, join ? join : node, false,
            "a button needs join, a list of two places of the pattern, such as [{panel: front, at: [0, "
            "10 cm]}, {panel: back, at: [0, 10 cm]}]");
        return false;
    }
    out->node = node;
    drape_i_read_number(t->r, node, "close", DRAPE_I_TIME, DRAPE_I_NOT_NEGATIVE, &out->close);
    drape_i_read_number(t->r, node, "soft", DRAPE_I_STIFFNESS, DRAPE_I_POSITIVE, &out->soft);
    int32_t k = 0;
    for (const drape_i_node *n = join->first; n; n = n->next, k++) {
        if (!drape_i_read_map(t->r, n, place)) return false;
        out->panel[k] = read_panel_name(t, n);
        if (out->panel[k] < 0 || !read_pattern_point(t, n, "at", out->at[k])) return false;
    }
    return true;
}

static bool read_buttons(const tailor *t, const drape_i_node *list) {
    bool good = t->mesh->uv && t->g->panel[0].mesh;
    if (!good)
        drape_i_problem_at(&t->r->problems, list, true,
                           "buttons are places in the pattern of panels; a piece without `panels:`, or without "
                           "texture coordinates, has none: use `stitches:`");
    t->g->button = drape_i_scene_get(t->r, drape_i_node_count(list), sizeof *t->g->button);
    for (const drape_i_node *n = list->first; n && good && t->g->button; n = n->next)
        good = read_button(t, n, &t->g->button[t->g->buttons++]);
    return good && t->g->button;
}

bool drape_i_sew_garment(reader_t *r, const drape_i_node *piece, drape_i_mesh_source *source,
                         drape_i_garment **garment) {
    bool wants_seams = drape_i_node_find(piece, "seams"), wants_bands = drape_i_node_find(piece, "bands"),
         wants_buttons = drape_i_node_find(piece, "buttons");
    if (!wants_seams && !wants_bands && !wants_buttons) return true;
    const drape_i_node *seams = find_list(r, piece, "seams", MOST_SEAMS);
    const drape_i_node *bands = find_list(r, piece, "bands", MOST_BANDS);
    const drape_i_node *buttons = find_list(r, piece, "buttons", MOST_BUTTONS);
    if ((wants_seams && !seams) || (wants_bands && !bands) || (wants_buttons && !buttons)) return false;
    drape_i_mesh *m = source->mesh;
    if (!*garment) {
        *garment = make_garment(r, 1);
        if (!*garment) return false;
        (*garment)->first[1] = m->vertices;
        if (!source->use_uv) m->uv = NULL, m->uv_triangle = NULL, m->uv_vertices = 0;
    }
    tailor t = {.r = r, .g = *garment, .mesh = m};
    drape_status status =
        drape_i_sewing_begin(r->ctx, &r->out->arena, m, t.g->panels, t.g->name, t.g->first, &t.sewing);
    if (status) return drape_i_scene_failed(r, seams ? seams : bands ? bands : buttons, status);
    if (bands && !lay_bands(&t, bands)) return false;
    if (buttons && !read_buttons(&t, buttons)) return false;
    if (!seams) return true;
    if (!sew(&t, seams)) return false;
    status = drape_i_sewing_end(t.sewing);
    t.g->drawn = drape_i_sewing_drawn(t.sewing, &t.g->pair);
    return status ? drape_i_scene_failed(r, seams, status) : true;
}

/* ---- seams that are drawn together ---- */

static void add_stitch(drape_stitch *out, int32_t *count, int32_t first, int32_t a, int32_t b, double close) {
    if (a == b) return; /* both sides of a dart begin there */
    drape_stitch *s = &out[(*count)++];
    *s = (drape_stitch){.a = {.count = 1, .vertex = {first + a}}, .b = {.count = 1, .vertex = {first + b}}};
    s->directions = 3;
    s->close = close;
}

/* Vertices of the files and those that refining put between them. A loop comes back to where it began. */
static void stitch_seams(const drape_i_garment *g, const drape_i_mesh *m, int32_t first, drape_stitch *list,
                         int32_t *count) {
    int32_t parts = m->parts > 1 ? m->parts : 1, begin = 0;
    for (int32_t i = 0; i < g->drawn; i++) {
        const drape_i_drawn *d = &g->pair[i];
        if (d->begins) begin = i;
        for (int32_t k = 1; k < parts && !d->begins; k++)
            add_stitch(list, count, first, drape_i_mesh_on_edge(m, d[-1].a, d->a, k),
                       drape_i_mesh_on_edge(m, d[-1].b, d->b, k), d->close);
        bool again = i > begin && d->a == g->pair[begin].a && d->b == g->pair[begin].b;
        if (!again && !d->known) add_stitch(list, count, first, d->a, d->b, d->close);
    }
}

/* The group that a panel is. The groups of its file follow it. */
static const drape_i_mesh_group *group_of(const drape_i_garment *g, const drape_i_mesh *m, int32_t panel) {
    int32_t group = 0;
    for (int32_t i = 0; i < panel; i++) group += 1 + g->panel[i].mesh->groups;
    return &m->group[group];
}

/* Panels that are sewn onto others go there: the vertices of their seams exactly. */
static bool lay_patches(reader_t *r, const drape_i_garment *g, drape_i_mesh *m, double thickness, int32_t first,
                        const drape_stitch *list, int32_t count) {
    uint8_t *in = drape_i_scene_get(r, m->vertices, sizeof *in);
    if (!in) return false;
    for (int32_t i = 0; i < g->patches; i++) {
        const patch *p = &g->patch[i];
        const drape_i_mesh_group *upper = group_of(g, m, p->how.upper), *lower = group_of(g, m, p->how.lower);
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

/* The vertex of a panel nearest to a point of its pattern. */
static int32_t nearest_in_pattern(const drape_i_mesh *m, const drape_i_mesh_group *panel, const double p[2]) {
    double least = INFINITY;
    int32_t best = -1;
    for (int32_t i = 0; i < panel->triangles; i++)
        for (int32_t k = 0; k < 3; k++) {
            const int32_t t = panel->triangle[i];
            const double *x = m->uv + 2 * (int64_t)m->uv_triangle[t][k];
            const double square = (x[0] - p[0]) * (x[0] - p[0]) + (x[1] - p[1]) * (x[1] - p[1]);
            if (square < least) least = square, best = m->triangle[t][k];
        }
    return best;
}

static bool sew_buttons(reader_t *r, const drape_i_garment *g, const drape_i_mesh *m, int32_t first,
                        drape_stitch *list, int32_t *count) {
    for (int32_t i = 0; i < g->buttons; i++) {
        const button *b = &g->button[i];
        int32_t v[2];
        for (int32_t k = 0; k < 2; k++) v[k] = nearest_in_pattern(m, group_of(g, m, b->panel[k]), b->at[k]);
        const double *p = m->position + 3 * (int64_t)v[0], *q = m->position + 3 * (int64_t)v[1];
        const double apart =
            sqrt(((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1])) + (p[2] - q[2]) * (p[2] - q[2]));
        if (apart > OPEN && !(b->close > 0) && !(b->soft > 0)) {
            drape_i_problem_at(&r->problems, b->node, false,
                               "button %d: its two places are %.4g m apart at the start; give it a time to close in, "
                               "such as close: 0.3 s, or make it soft",
                               i, apart);
            return false;
        }
        const int32_t before = *count;
        add_stitch(list, count, first, v[0], v[1], b->close);
        if (*count > before) list[before].stiffness = b->soft;
    }
    return true;
}

bool drape_i_stitch_garment(reader_t *r, const drape_i_garment *g, drape_i_mesh *m, int32_t first, double thickness) {
    if (!g || (g->drawn == 0 && g->buttons == 0)) return true;
    int32_t parts = m->parts > 1 ? m->parts : 1;
    drape_i_seam_stitches *made = drape_i_scene_get(r, 1, sizeof *made);
    drape_stitch *list = drape_i_scene_get(r, (int64_t)g->drawn * parts + g->buttons, sizeof *list);
    if (!made || !list) return false;
    stitch_seams(g, m, first, list, &made->count);
    if (g->patches > 0 && !lay_patches(r, g, m, thickness, first, list, made->count)) return false;
    if (!sew_buttons(r, g, m, first, list, &made->count)) return false;
    made->stitch = list;
    made->before = r->seam_stitches;
    r->seam_stitches = made;
    return true;
}

/* ---- bands ---- */

/* The file's triangle that triangle t of the mesh as it is now is a part of. */
static int32_t file_triangle(const drape_i_mesh *m, int32_t t) {
    int32_t before = m->parts > 1 ? (int32_t)(t / ((int64_t)m->parts * m->parts)) : t;
    return m->cut_from ? m->cut_from[before] : before;
}

static void middle_of(const drape_i_mesh *m, int32_t t, double out[3]) {
    memset(out, 0, 3 * sizeof *out);
    for (int32_t k = 0; k < 3; k++) {
        double p[3];
        point_of(m, t, m->triangle[t][k], p);
        for (int32_t d = 0; d < 3; d++) out[d] += p[d] / 3;
    }
}

/* Squared distance of a point from a segment. */
static double distance2(const segment *s, const double p[3]) {
    double along = 0, length2 = 0, square = 0;
    for (int32_t k = 0; k < 3; k++) {
        along += (p[k] - s->a[k]) * (s->b[k] - s->a[k]);
        length2 += (s->b[k] - s->a[k]) * (s->b[k] - s->a[k]);
    }
    double share = length2 > 0 ? fmin(fmax(along / length2, 0), 1) : 0;
    for (int32_t k = 0; k < 3; k++) {
        double d = s->a[k] + share * (s->b[k] - s->a[k]) - p[k];
        square += d * d;
    }
    return square;
}

typedef struct bander {
    reader_t *r;
    const drape_i_garment *g;
    drape_i_mesh *mesh;
    drape_piece *piece;
    int32_t *material_of;
    drape_material *material;
    int32_t materials;
    double (*shrink)[3]; /* per triangle: direction in the pattern, and the ratio; 0: none */
    int32_t shrunk;
} bander;

static void put_in_band(bander *b, int32_t t, int32_t material, double ratio, double u, double v) {
    if (material >= 0) b->material_of[t] = material;
    if (!(ratio > 0)) return;
    b->shrunk += b->shrink[t][2] == 0;
    b->shrink[t][0] = u, b->shrink[t][1] = v, b->shrink[t][2] = ratio;
}

static bool band_along(bander *b, const drape_i_node *node, const band_path *path, double width, int32_t material,
                       double ratio) {
    int32_t count = 0;
    if (!drape_i_may_visit(b->r, node, (int64_t)path->count * b->mesh->triangles)) return false;
    for (int32_t t = 0; t < b->mesh->triangles; t++) {
        double p[3], least = width * width;
        const segment *nearest = NULL;
        int32_t island = b->g->island[file_triangle(b->mesh, t)];
        middle_of(b->mesh, t, p);
        for (int32_t i = 0; i < path->count; i++) {
            const segment *s = &path->segment[i];
            if (b->g->island[s->triangle] != island) continue;
            double square = distance2(s, p);
            if (square < least) least = square, nearest = s;
        }
        if (!nearest) continue;
        double u = nearest->b[0] - nearest->a[0], v = nearest->b[1] - nearest->a[1], length = sqrt(u * u + v * v);
        put_in_band(b, t, material, ratio, length > 0 ? u / length : 1, length > 0 ? v / length : 0);
        count++;
    }
    if (count > 0) return true;
    drape_i_problem_at(&b->r->problems, node, false,
                       "no triangle has its middle within %.4g m of the path; use a larger width, or a finer mesh "
                       "(resolution)",
                       width);
    return false;
}

static bool band_of_group(bander *b, const drape_i_node *node, int32_t material, double ratio) {
    for (int32_t i = 0; i < b->mesh->groups; i++) {
        const drape_i_mesh_group *group = &b->mesh->group[i];
        if (strcmp(group->name, node->text) != 0) continue;
        for (int32_t k = 0; k < group->triangles; k++) put_in_band(b, group->triangle[k], material, ratio, 1, 0);
        return true;
    }
    drape_i_problem_at(&b->r->problems, node, false,
                       "there is no group \"%s\"; panels are groups, and those of their files are "
                       "called PANEL/GROUP",
                       node->text);
    return false;
}

static bool read_band(bander *b, const drape_i_node *node, int32_t index) {
    static const char *const keys[] = {"along", "width", "group", "material", "shrink", NULL};
    const drape_i_range share = {0, 1, true};
    double width = 0, ratio = 0;
    if (!drape_i_read_map(b->r, node, keys)) return false;
    const drape_i_node *along = drape_i_node_find(node, "along"), *group = drape_i_node_find(node, "group");
    const drape_i_node *material = drape_i_node_find(node, "material");
    if (!along == !group || (along && !drape_i_node_find(node, "width")) ||
        (group && (group->kind != DRAPE_I_SCALAR || drape_i_node_find(node, "width")))) {
        drape_i_problem_at(&b->r->problems, node, false,
                           "a band needs either a group, or a path and a width: along: {...}, width: 3 cm");
        return false;
    }
    drape_i_read_number(b->r, node, "shrink", DRAPE_I_PLAIN, share, &ratio);
    if (along && !drape_i_read_number(b->r, node, "width", DRAPE_I_LENGTH, DRAPE_I_POSITIVE, &width)) return false;
    if (ratio > 0 && !b->mesh->uv) {
        drape_i_problem_at(&b->r->problems, drape_i_node_find(node, "shrink"), true,
                           "shrink needs a pattern (texture coordinates)");
        return false;
    }
    int32_t number = -1;
    if (material) {
        number = b->materials++;
        b->material[number] = b->piece->material;
        if (!drape_i_read_material(b->r, material, &b->material[number])) return false;
    }
    return along ? band_along(b, node, &b->g->band[index], width, number, ratio)
                 : band_of_group(b, group, number, ratio);
}

/* Pattern vertices of their own for triangles that shrink: p + (ratio - 1) (d.p) d, relative to the first corner. */
static bool shrink_pattern(bander *b) {
    drape_i_mesh *m = b->mesh;
    int64_t points = (int64_t)m->uv_vertices + 3 * (int64_t)b->shrunk;
    double *uv = drape_i_scene_get(b->r, 2 * points, sizeof *uv);
    if (!uv || points > INT32_MAX) return false;
    memcpy(uv, m->uv, 2 * (size_t)m->uv_vertices * sizeof *uv);
    for (int32_t t = 0; t < m->triangles; t++) {
        const double *d = b->shrink[t];
        if (d[2] == 0) continue;
        const double *origin = m->uv + 2 * (int64_t)m->uv_triangle[t][0];
        for (int32_t k = 0; k < 3; k++) {
            const double *p = m->uv + 2 * (int64_t)m->uv_triangle[t][k];
            double along = (d[2] - 1) * ((p[0] - origin[0]) * d[0] + (p[1] - origin[1]) * d[1]);
            int32_t v = m->uv_vertices++;
            uv[2 * (int64_t)v] = p[0] + along * d[0];
            uv[2 * (int64_t)v + 1] = p[1] + along * d[1];
            /* The old corners are still needed for the next ones: numbers change when all three are there. */
            if (k == 2)
                for (int32_t c = 0; c < 3; c++) m->uv_triangle[t][c] = v - 2 + c;
        }
    }
    m->uv = uv;
    return true;
}

static void take_panel_materials(bander *b) {
    for (int32_t i = 0, group = 0; b->g && b->g->panel[0].mesh && i < b->g->panels; i++) {
        if (b->g->panel[i].has_material) {
            int32_t number = b->materials++;
            b->material[number] = b->g->panel[i].material;
            for (int32_t k = 0; k < b->mesh->group[group].triangles; k++)
                b->material_of[b->mesh->group[group].triangle[k]] = number;
        }
        group += 1 + b->g->panel[i].mesh->groups;
    }
}

bool drape_i_read_bands(reader_t *r, const drape_i_node *piece, drape_i_mesh_source *source,
                        const drape_i_garment *garment, drape_piece *out) {
    const drape_i_node *list = drape_i_node_find(piece, "bands");
    if (!list && !(garment && garment->panel[0].mesh)) return true;
    int32_t most = (garment ? garment->panels : 0) + (list ? drape_i_node_count(list) : 0), index = 0;
    bander b = {.r = r, .g = garment, .mesh = source->mesh, .piece = out};
    b.material_of = drape_i_scene_get(r, source->mesh->triangles, sizeof *b.material_of);
    b.material = drape_i_scene_get(r, most, sizeof *b.material);
    b.shrink = drape_i_scene_get(r, list ? source->mesh->triangles : 0, sizeof *b.shrink);
    if (!b.material_of || !b.material || !b.shrink) return false;
    for (int32_t t = 0; t < source->mesh->triangles; t++) b.material_of[t] = -1;
    take_panel_materials(&b);
    bool good = true;
    for (const drape_i_node *n = list ? list->first : NULL; n; n = n->next, index++)
        good = read_band(&b, n, index) && good;
    if (b.materials > 0)
        out->materials = b.material, out->material_of = b.material_of, out->material_count = b.materials;
    return good && (b.shrunk == 0 || shrink_pattern(&b));
}
