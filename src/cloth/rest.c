/* rest.c: pieces at rest: whether their numbers are sound, which triangles meet at an edge, and the geometry that
 * models are made from. */
#include "cloth/rest.h"

#include "base/elementary.h"
#include "base/vec3.h"

#include <math.h>
#include <stdlib.h>

/* ---- Checks ---- */

static bool finite_all(const double *a, int64_t n, int64_t *where) {
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(a[i])) {
            *where = i;
            return false;
        }
    return true;
}

/* Stiffness may not fall with strain, and rises around a knee above 0. */
static drape_status check_curves(drape_context *ctx, int32_t piece, const drape_material *m) {
    const struct {
        const char *name;
        double soft, stiff, knee;
    } curves[] = {{"stretch along warp", m->stretch[0], m->stretch_stiff[0], m->stretch_knee[0]},
                  {"stretch along weft", m->stretch[1], m->stretch_stiff[1], m->stretch_knee[1]},
                  {"shear", m->shear, m->shear_stiff, m->shear_knee}};
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++) {
        if (!(curves[i].stiff > 0)) continue;
        if (curves[i].stiff < curves[i].soft)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                "piece %d: material: %s falls from %g to %g N/m at the knee; it can only rise", piece,
                                curves[i].name, curves[i].soft, curves[i].stiff);
        if (!(curves[i].knee > 0))
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                "piece %d: material: %s stiffens to %g N/m, but its knee is 0; it must be above 0",
                                piece, curves[i].name, curves[i].stiff);
    }
    return DRAPE_OK;
}

static drape_status check_material(drape_context *ctx, int32_t piece, const drape_material *m) {
    const struct {
        const char *name;
        double value;
        bool positive;
    } fields[] = {{"density", m->density, true},
                  {"stretch along warp", m->stretch[0], false},
                  {"stretch along weft", m->stretch[1], false},
                  {"shear", m->shear, false},
                  {"bend", m->bend, false},
                  {"bend_hinge", m->bend_hinge, false},
                  {"bend_weft", m->bend_weft, false},
                  {"bend_twist", m->bend_twist, false},
                  {"spring_stretch", m->spring_stretch, false},
                  {"spring_shear", m->spring_shear, false},
                  {"spring_bend", m->spring_bend, false},
                  {"strain_limit", m->strain_limit, false},
                  {"stretch_stiff along warp", m->stretch_stiff[0], false},
                  {"stretch_stiff along weft", m->stretch_stiff[1], false},
                  {"stretch_knee along warp", m->stretch_knee[0], false},
                  {"stretch_knee along weft", m->stretch_knee[1], false},
                  {"shear_stiff", m->shear_stiff, false},
                  {"shear_knee", m->shear_knee, false},
                  {"damping_stretch", m->damping_stretch, false},
                  {"damping_shear", m->damping_shear, false},
                  {"damping_bend", m->damping_bend, false}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (!isfinite(fields[i].value) || fields[i].value < 0 || (fields[i].positive && fields[i].value == 0))
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "piece %d: material: %s is %g; it must be %s", piece,
                                fields[i].name, fields[i].value, fields[i].positive ? "above 0" : "0 or more");
    return check_curves(ctx, piece, m);
}

static drape_status check_corners(drape_context *ctx, int32_t piece, const drape_piece *p) {
    for (int32_t t = 0; t < p->triangles; t++) {
        const int32_t *c = p->triangle + 3 * (int64_t)t;
        for (int32_t k = 0; k < 3; k++)
            if (c[k] < 0 || c[k] >= p->vertices)
                return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "piece %d: triangle %d names vertex %d of %d", piece,
                                    t, c[k], p->vertices);
        if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0])
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "piece %d: triangle %d has vertex %d twice", piece, t,
                                c[0] == c[1] ? c[0] : c[2]);
        for (int32_t k = 0; k < 3 && p->uv && p->uv_triangle; k++) {
            int32_t uv = p->uv_triangle[3 * (int64_t)t + k];
            if (uv < 0 || uv >= p->uv_vertices)
                return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                    "piece %d: triangle %d names material-space vertex %d of %d", piece, t, uv,
                                    p->uv_vertices);
        }
    }
    return DRAPE_OK;
}

/* Parts of other materials. */
static drape_status check_parts(drape_context *ctx, int32_t piece, const drape_piece *p) {
    if (!p->materials || !p->material_of) return DRAPE_OK;
    for (int32_t i = 0; i < p->material_count; i++) {
        drape_status status = drape_i_check_reserved(ctx, "drape_material", p->materials[i].reserved, 6);
        if (!status) status = check_material(ctx, piece, &p->materials[i]);
        if (status) return status;
    }
    for (int32_t t = 0; t < p->triangles; t++)
        if (p->material_of[t] < -1 || p->material_of[t] >= p->material_count)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "piece %d: triangle %d has material %d of %d", piece, t,
                                p->material_of[t], p->material_count);
    return DRAPE_OK;
}

drape_status drape_i_piece_check(drape_context *ctx, int32_t piece, const drape_piece *p) {
    int64_t where = 0;
    drape_status status = drape_i_check_reserved(ctx, "drape_piece", p->reserved, 2);
    if (!status) status = drape_i_check_reserved(ctx, "drape_material", p->material.reserved, 6);
    if (status) return status;
    if (p->vertices < 1 || p->triangles < 0 || !p->rest || (p->triangles > 0 && !p->triangle))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "piece %d: %d vertices and %d triangles, or an array missing",
                            piece, p->vertices, p->triangles);
    if (!finite_all(p->rest, 3 * (int64_t)p->vertices, &where))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "piece %d: vertex %lld is not a finite point", piece,
                            (long long)(where / 3));
    if (p->uv && !finite_all(p->uv, 2 * (int64_t)(p->uv_triangle ? p->uv_vertices : p->vertices), &where))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "piece %d: material-space vertex %lld is not a finite point",
                            piece, (long long)(where / 2));
    for (int32_t i = 0; i < p->vertices && p->mass; i++)
        if (!isfinite(p->mass[i]) || !(p->mass[i] > 0))
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "piece %d: vertex %d has mass %g; it must be above 0",
                                piece, i, p->mass[i]);
    status = check_corners(ctx, piece, p);
    if (!status) status = check_material(ctx, piece, &p->material);
    return status ? status : check_parts(ctx, piece, p);
}

/* ---- Interior edges, found by sorting half edges ----
 *
 * A half edge is (lower vertex, higher vertex, triangle, corner opposite). Sorted, the halves of an edge stand side
 * by side. The hinges are then sorted by their later triangle, so that hinges, triangles and (in a mesh that was
 * made in order) vertices run through memory together. */

typedef struct half_edge {
    int32_t low, high, triangle, opposite;
} half_edge;

static int compare_edges(const void *a, const void *b) {
    const half_edge *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return (p->triangle > q->triangle) - (p->triangle < q->triangle);
}

typedef struct hinge {
    int32_t node[4], triangle[2];
} hinge;

static int compare_hinges(const void *a, const void *b) {
    const hinge *p = a, *q = b;
    if (p->triangle[1] != q->triangle[1]) return p->triangle[1] < q->triangle[1] ? -1 : 1;
    return (p->triangle[0] > q->triangle[0]) - (p->triangle[0] < q->triangle[0]);
}

static bool same_edge(const half_edge *a, const half_edge *b) { return a->low == b->low && a->high == b->high; }

static void list_half_edges(int32_t triangles, const int32_t (*triangle)[3], half_edge *halves) {
    for (int32_t t = 0; t < triangles; t++)
        for (int32_t c = 0; c < 3; c++) {
            int32_t a = triangle[t][(c + 1) % 3], b = triangle[t][(c + 2) % 3];
            halves[3 * (int64_t)t + c] = (half_edge){a < b ? a : b, a < b ? b : a, t, triangle[t][c]};
        }
}

static drape_status pair_halves(drape_context *ctx, int64_t n, const half_edge *h, hinge *hinges, int32_t *count) {
    *count = 0;
    for (int64_t i = 0; i + 1 < n; i++) {
        if (!same_edge(&h[i], &h[i + 1])) continue;
        if (i + 2 < n && same_edge(&h[i], &h[i + 2]))
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                "the edge from vertex %d to %d belongs to three triangles or more (%d, %d, %d)",
                                h[i].low, h[i].high, h[i].triangle, h[i + 1].triangle, h[i + 2].triangle);
        hinges[(*count)++] =
            (hinge){{h[i].low, h[i].high, h[i].opposite, h[i + 1].opposite}, {h[i].triangle, h[i + 1].triangle}};
        i++;
    }
    qsort(hinges, (size_t)*count, sizeof *hinges, compare_hinges);
    return DRAPE_OK;
}

static drape_status copy_hinges(drape_context *ctx, int32_t count, const hinge *hinges, drape_i_hinges *out) {
    out->count = count;
    if (!DRAPE_NEW(ctx, out->node, count) || !DRAPE_NEW(ctx, out->triangle, count)) {
        drape_i_hinges_clear(ctx, out);
        return DRAPE_ERROR_MEMORY;
    }
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = 0; k < 4; k++) out->node[i][k] = hinges[i].node[k];
        for (int32_t k = 0; k < 2; k++) out->triangle[i][k] = hinges[i].triangle[k];
    }
    return DRAPE_OK;
}

drape_status drape_i_hinges_find(drape_context *ctx, int32_t triangles, const int32_t (*triangle)[3],
                                 drape_i_hinges *out) {
    int64_t n = 3 * (int64_t)triangles;
    half_edge *halves;
    hinge *hinges = NULL;
    int32_t count;
    *out = (drape_i_hinges){0};
    drape_status status = DRAPE_ERROR_MEMORY;
    if (DRAPE_NEW(ctx, halves, n) && DRAPE_NEW(ctx, hinges, n / 2 + 1)) {
        list_half_edges(triangles, triangle, halves);
        qsort(halves, (size_t)n, sizeof *halves, compare_edges);
        status = pair_halves(ctx, n, halves, hinges, &count);
        if (!status) status = copy_hinges(ctx, count, hinges, out);
    }
    DRAPE_FREE(ctx, hinges, n / 2 + 1);
    DRAPE_FREE(ctx, halves, n);
    return status;
}

void drape_i_hinges_clear(drape_context *ctx, drape_i_hinges *hinges) {
    DRAPE_FREE(ctx, hinges->node, hinges->count);
    DRAPE_FREE(ctx, hinges->triangle, hinges->count);
    *hinges = (drape_i_hinges){0};
}

/* ---- Geometry ----
 *
 * The map from material space to space is w = [x1-x0, x2-x0] Dm^-1 with Dm = [u1-u0 u2-u0; v1-v0 v2-v0] (Baraff and
 * Witkin 1998, eq. 9); its coefficients du_i, dv_i are kept. */

/* Without uv: axes in the triangle's plane, u along the first of x, y, z that is not nearly normal to it. */
static void flat_coordinates(const drape_piece *p, const int32_t *c, double uv[3][2]) {
    vec3 x0 = vec3_at(p->rest + 3 * (int64_t)c[0]);
    vec3 e1 = vec3_sub(vec3_at(p->rest + 3 * (int64_t)c[1]), x0);
    vec3 e2 = vec3_sub(vec3_at(p->rest + 3 * (int64_t)c[2]), x0);
    vec3 normal = vec3_cross(e1, e2);
    double length = vec3_length(normal);
    vec3 n = vec3_scale(length > 0 ? 1 / length : 0, normal);
    const double nearly_normal = 0.99;
    vec3 axis = fabs(n.x) < nearly_normal ? (vec3){1, 0, 0} : (vec3){0, 1, 0};
    vec3 u = vec3_sub(axis, vec3_scale(vec3_dot(axis, n), n));
    u = vec3_scale(1 / vec3_length(u), u);
    vec3 v = vec3_cross(n, u);
    uv[0][0] = uv[0][1] = 0;
    uv[1][0] = vec3_dot(e1, u), uv[1][1] = vec3_dot(e1, v);
    uv[2][0] = vec3_dot(e2, u), uv[2][1] = vec3_dot(e2, v);
}

static void material_coordinates(const drape_piece *p, int32_t t, double uv[3][2]) {
    const int32_t *c = p->triangle + 3 * (int64_t)t;
    if (!p->uv) {
        flat_coordinates(p, c, uv);
        return;
    }
    const int32_t *m = p->uv_triangle ? p->uv_triangle + 3 * (int64_t)t : c;
    for (int32_t k = 0; k < 3; k++)
        for (int32_t d = 0; d < 2; d++) uv[k][d] = p->uv[2 * (int64_t)m[k] + d];
}

drape_status drape_i_rest_triangle_find(drape_context *ctx, int32_t piece, const drape_piece *p, int32_t t,
                                        drape_i_rest_triangle *out) {
    double m[3][2];
    material_coordinates(p, t, m);
    double u1 = m[1][0] - m[0][0], u2 = m[2][0] - m[0][0], v1 = m[1][1] - m[0][1], v2 = m[2][1] - m[0][1];
    double determinant = u1 * v2 - u2 * v1;
    double longest = fmax(fmax(u1 * u1 + v1 * v1, u2 * u2 + v2 * v2), (u2 - u1) * (u2 - u1) + (v2 - v1) * (v2 - v1));
    const double least = 1e-12; /* height over length below which the inverse means nothing */
    if (!(fabs(determinant) > least * longest))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "piece %d: triangle %d has no area in material space", piece,
                            t);
    out->area = 0.5 * fabs(determinant);
    out->du[1] = v2 / determinant, out->du[2] = -v1 / determinant;
    out->dv[1] = -u2 / determinant, out->dv[2] = u1 / determinant;
    out->du[0] = -(out->du[1] + out->du[2]);
    out->dv[0] = -(out->dv[1] + out->dv[2]);
    return DRAPE_OK;
}

/* Squared length in material space of the edge between nodes a and b of triangle t. */
static double edge_length2(const drape_piece *p, int32_t t, int32_t a, int32_t b) {
    const int32_t *c = p->triangle + 3 * (int64_t)t;
    double m[3][2];
    int32_t i = 0, j = 0;
    material_coordinates(p, t, m);
    for (int32_t k = 0; k < 3; k++) {
        if (c[k] == a) i = k;
        if (c[k] == b) j = k;
    }
    double u = m[j][0] - m[i][0], v = m[j][1] - m[i][1];
    return u * u + v * v;
}

/* The angle from -m2 to m3 about the edge, as in bw_hinge_simd.c. */
static double rest_angle(const drape_piece *p, const int32_t nodes[4]) {
    vec3 x0 = vec3_at(p->rest + 3 * (int64_t)nodes[0]);
    vec3 e = vec3_sub(vec3_at(p->rest + 3 * (int64_t)nodes[1]), x0);
    vec3 a = vec3_sub(vec3_at(p->rest + 3 * (int64_t)nodes[2]), x0);
    vec3 b = vec3_sub(vec3_at(p->rest + 3 * (int64_t)nodes[3]), x0);
    vec3 n2 = vec3_cross(e, a), n3 = vec3_cross(e, b);
    double length = vec3_length(e);
    return drape_i_atan2(vec3_dot(n3, a) * length, -vec3_dot(n2, n3));
}

void drape_i_rest_hinge_find(const drape_piece *p, const int32_t nodes[4], const int32_t triangles[2], double area,
                             drape_i_rest_hinge *out) {
    out->length2 =
        0.5 * (edge_length2(p, triangles[0], nodes[0], nodes[1]) + edge_length2(p, triangles[1], nodes[0], nodes[1]));
    out->area = area;
    out->angle = p->flat ? 0 : rest_angle(p, nodes);
}
