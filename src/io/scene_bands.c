/* scene_bands.c: `bands:` of a piece. They give triangles another material: those of a group, or those whose middle
 * is within some width of a path, in the pattern. A band that is shrunk has shorter triangles in the pattern: along
 * the path, or along the warp without one. Its triangles then have pattern vertices of their own, since shrunk ones
 * no longer fit together in the plane. */
#include "io/scene_garment_parts.h"

#include <math.h>
#include <string.h>

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

static bool lay_band(const garment_reader *t, const drape_i_node *map, int32_t index, band_path *out) {
    drape_i_path path;
    if (!drape_i_read_path(t, map, "band", index, &path)) return false;
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

bool drape_i_lay_bands(garment_reader *t, const drape_i_node *list) {
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

typedef struct band_reader {
    reader_t *r;
    const drape_i_garment *g;
    drape_i_mesh *mesh;
    drape_piece *piece;
    int32_t *material_of;
    drape_material *material;
    int32_t materials;
    double (*shrink)[3]; /* per triangle: direction in the pattern, and the ratio; 0: none */
    int32_t shrunk;
} band_reader;

static void put_in_band(band_reader *b, int32_t t, int32_t material, double ratio, double u, double v) {
    if (material >= 0) b->material_of[t] = material;
    if (!(ratio > 0)) return;
    b->shrunk += b->shrink[t][2] == 0;
    b->shrink[t][0] = u, b->shrink[t][1] = v, b->shrink[t][2] = ratio;
}

static bool band_along(band_reader *b, const drape_i_node *node, const band_path *path, double width,
                       int32_t material, double ratio) {
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

static bool band_of_group(band_reader *b, const drape_i_node *node, int32_t material, double ratio) {
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

static bool read_band(band_reader *b, const drape_i_node *node, int32_t index) {
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
static bool shrink_pattern(band_reader *b) {
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

static void take_panel_materials(band_reader *b) {
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
    band_reader b = {.r = r, .g = garment, .mesh = source->mesh, .piece = out};
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
