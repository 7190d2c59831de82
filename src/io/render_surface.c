/* render_surface.c: cloth and meshes of a frame as one list of triangles with normals.
 *
 * Normals are means over the triangles of a vertex with Max's weights, cross(a, b) / (|a|^2 |b|^2) for edges a and b.
 * They are exact for vertices on a sphere, and even on grids of any diagonals (N. Max, Weights for computing vertex
 * normals from facet normals, 1999). Cloth is smooth; of other meshes only triangles that meet at less than CREASE
 * are. */
#include "io/render.h"

#include <string.h>

static const double LARGE = 3;      /* times the size of the cloth */
static const double CREASE = 0.766; /* cosine of 40 degrees */

static bool is_finite(const double *x) { return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]); }

static drape_i_box box_of(int32_t vertices, const double *x) {
    drape_i_box box = drape_i_box_empty();
    for (int64_t v = 0; v < vertices; v++)
        if (is_finite(x + 3 * v)) drape_i_box_add(&box, x + 3 * v);
    return box;
}

bool drape_i_is_large(const drape_frame_mesh *mesh, double cloth) {
    drape_i_box box = box_of(mesh->vertices, mesh->positions);
    return drape_i_box_diagonal(&box) > LARGE * cloth;
}

/* ---- Joining ---- */

typedef struct part {
    int32_t vertices, triangles;
    const double *x;
    const int32_t *triangle;
} part;

/* Triangles that have an end nowhere are left out. */
static void add_part(drape_i_surface *s, const part *p, const int32_t *paint, int32_t same_paint) {
    memcpy(s->x + 3 * (int64_t)s->vertices, p->x, 3 * (size_t)p->vertices * sizeof *s->x);
    for (int64_t t = 0; t < p->triangles; t++) {
        const int32_t *c = p->triangle + 3 * t;
        if (!is_finite(p->x + 3 * (int64_t)c[0]) || !is_finite(p->x + 3 * (int64_t)c[1]) ||
            !is_finite(p->x + 3 * (int64_t)c[2]))
            continue;
        for (int k = 0; k < 3; k++) s->corner[s->triangles][k] = s->vertices + c[k];
        s->paint[s->triangles++] = paint ? paint[t] : same_paint;
    }
    s->vertices += p->vertices;
}

static part part_of(const drape_frame_mesh *m) {
    return (part){m->vertices, m->triangles, m->positions, m->triangle};
}

static void add_meshes(drape_i_surface *s, const drape_i_painted_cloth *cloth, double size, const drape_frame *frame,
                       bool large) {
    for (int32_t i = 0; i < frame->mesh_count; i++) {
        const drape_frame_mesh *m = frame->meshes + i;
        part p = part_of(m);
        if (drape_i_is_large(m, size) == large) add_part(s, &p, NULL, cloth->paints + i);
    }
}

static void copy_paints(drape_i_surface *s, const drape_i_painted_cloth *cloth, const drape_frame *frame) {
    memcpy(s->paints, cloth->paint, (size_t)cloth->paints * sizeof *s->paints);
    for (int32_t i = 0; i < frame->mesh_count; i++)
        s->paints[cloth->paints + i] =
            drape_i_object_paint(frame->mesh_appearance ? frame->mesh_appearance[i] : NULL);
}

/* ---- Normals ---- */

static vec3 corner_normal(const drape_i_surface *s, int64_t t, int k) {
    const int32_t *c = s->corner[t];
    vec3 at = vec3_at(s->x + 3 * (int64_t)c[k]);
    vec3 a = vec3_sub(vec3_at(s->x + 3 * (int64_t)c[(k + 1) % 3]), at);
    vec3 b = vec3_sub(vec3_at(s->x + 3 * (int64_t)c[(k + 2) % 3]), at);
    double weight = vec3_dot(a, a) * vec3_dot(b, b);
    return weight > 0 ? vec3_scale(1 / weight, vec3_cross(a, b)) : (vec3){0, 0, 0};
}

static vec3 unit_or(vec3 a, vec3 otherwise) {
    double length = vec3_length(a);
    return length > 0 && isfinite(length) ? vec3_scale(1 / length, a) : otherwise;
}

static vec3 face_normal(const drape_i_surface *s, int64_t t) {
    const int32_t *c = s->corner[t];
    vec3 at = vec3_at(s->x + 3 * (int64_t)c[0]);
    vec3 a = vec3_sub(vec3_at(s->x + 3 * (int64_t)c[1]), at), b = vec3_sub(vec3_at(s->x + 3 * (int64_t)c[2]), at);
    return unit_or(vec3_cross(a, b), (vec3){0, 0, 1});
}

/* Which corners (3 t + k) are at each vertex, one vertex after the other. */
typedef struct corner_lists {
    int64_t *start; /* vertices + 1 */
    int32_t *corner;
} corner_lists;

static bool list_corners(drape_context *ctx, drape_i_arena *memory, const drape_i_surface *s, corner_lists *out) {
    const int32_t *vertex = s->corner[0];
    int64_t corners = 3 * (int64_t)s->triangles;
    out->start = drape_i_arena_get(ctx, memory, (int64_t)s->vertices + 2, sizeof *out->start);
    out->corner = drape_i_arena_get(ctx, memory, corners, sizeof *out->corner);
    if (!out->start || !out->corner) return false;
    for (int64_t c = 0; c < corners; c++) out->start[vertex[c] + 2]++;
    for (int32_t v = 0; v < s->vertices; v++) out->start[v + 2] += out->start[v + 1];
    for (int64_t c = 0; c < corners; c++) out->corner[out->start[vertex[c] + 1]++] = (int32_t)c;
    return true;
}

/* The mean over triangles of vertex v that meet that of normal `own` smoothly. */
static vec3 mean_normal(const drape_i_surface *s, const corner_lists *lists, int32_t v, vec3 own, double crease) {
    vec3 sum = {0, 0, 0};
    for (int64_t i = lists->start[v]; i < lists->start[v + 1]; i++) {
        int32_t other = lists->corner[i];
        if (crease > -1 && vec3_dot(own, face_normal(s, other / 3)) < crease) continue;
        sum = vec3_add(sum, corner_normal(s, other / 3, other % 3));
    }
    return unit_or(sum, own);
}

static bool make_normals(drape_context *ctx, drape_i_arena *memory, drape_i_surface *s, int32_t cloth) {
    corner_lists lists;
    if (!list_corners(ctx, memory, s, &lists)) return false;
    const vec3 none = {0, 0, 0};
    for (int32_t v = 0; v < s->vertices; v++) s->upright[v] = mean_normal(s, &lists, v, none, -1);
    for (int64_t t = 0; t < s->triangles; t++) {
        vec3 own = face_normal(s, t);
        for (int k = 0; k < 3; k++) {
            vec3 smooth = s->upright[s->corner[t][k]];
            if (t >= cloth) smooth = mean_normal(s, &lists, s->corner[t][k], own, CREASE);
            s->normal[t][k] = unit_or(smooth, own);
        }
    }
    return true;
}

/* ---- All of it ---- */

static drape_status allocate(drape_context *ctx, drape_i_arena *memory, const drape_i_painted_cloth *cloth,
                             const drape_frame *frame, drape_i_surface *s) {
    int64_t vertices = cloth->vertices, triangles = cloth->triangles;
    for (int32_t i = 0; i < frame->mesh_count; i++) {
        vertices += frame->meshes[i].vertices;
        triangles += frame->meshes[i].triangles;
    }
    if (vertices > INT32_MAX / 3 || triangles > INT32_MAX / 3)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "too many triangles for a picture");
    s->x = drape_i_arena_get(ctx, memory, 3 * vertices, sizeof *s->x);
    s->upright = drape_i_arena_get(ctx, memory, vertices, sizeof *s->upright);
    s->open = drape_i_arena_get(ctx, memory, vertices, sizeof *s->open);
    s->corner = drape_i_arena_get(ctx, memory, triangles, sizeof *s->corner);
    s->normal = drape_i_arena_get(ctx, memory, triangles, sizeof *s->normal);
    s->paint = drape_i_arena_get(ctx, memory, triangles, sizeof *s->paint);
    s->paints = drape_i_arena_get(ctx, memory, cloth->paints + frame->mesh_count, sizeof *s->paints);
    bool got = s->x && s->upright && s->open && s->corner && s->normal && s->paint && s->paints;
    return got ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

drape_status drape_i_surface_make(drape_context *ctx, drape_i_arena *memory, const drape_i_painted_cloth *cloth,
                                  double size, const drape_frame *frame, drape_i_surface *out) {
    drape_i_surface s = {0};
    drape_status status = allocate(ctx, memory, cloth, frame, &s);
    if (status) return status;
    part p = {cloth->vertices, cloth->triangles, frame->positions, cloth->triangle};
    copy_paints(&s, cloth, frame);
    add_part(&s, &p, cloth->paint_of, 0);
    int32_t of_cloth = s.triangles;
    add_meshes(&s, cloth, size, frame, false);
    s.casters = s.triangles;
    s.caster_corners = s.vertices;
    add_meshes(&s, cloth, size, frame, true);
    if (!make_normals(ctx, memory, &s, of_cloth)) return DRAPE_ERROR_MEMORY;
    *out = s;
    return DRAPE_OK;
}
