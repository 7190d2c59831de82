/* mesh.c: what the readers of meshes share: polygons become triangles, names become groups; and which reader a file
 * is for. */
#include "io/mesh.h"
#include "base/file.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- polygons ----
 *
 * Ears are cut off, always the one with the shortest diagonal, which keeps triangles fat.
 *
 * Corners are seen along the normal of Newell's formula, the coordinate in which it is largest left out. A corner is
 * an ear if it is convex and no other corner lies in its triangle or on its boundary. Corners at exactly the place of
 * one of its own do not count, so that holes connected by a double edge pass. A cut changes this only for the corner
 * before and the one after (G. H. Meisters, "Polygons have ears", The American Mathematical Monthly 82, 1975), so
 * that all takes O(corners^2). With no ear left (the polygon crosses itself, or all lies on a line) the shortest
 * diagonal is cut, ear or not. */

static void newell_normal(const drape_i_polygon *p, double normal[3]) {
    for (int32_t k = 0; k < 3; k++) {
        int32_t u = (k + 1) % 3, v = (k + 2) % 3;
        normal[k] = 0;
        for (int32_t i = 0; i < p->corners; i++) {
            const double *a = p->x[i], *b = p->x[(i + 1) % p->corners];
            normal[k] += (a[u] - b[u]) * (a[v] + b[v]);
        }
    }
}

static void flatten(drape_i_polygon *p) {
    double normal[3];
    int32_t k = 0;
    newell_normal(p, normal);
    if (fabs(normal[1]) > fabs(normal[k])) k = 1;
    if (fabs(normal[2]) > fabs(normal[k])) k = 2;
    for (int32_t i = 0; i < p->corners; i++) {
        p->flat[i][0] = p->x[i][(k + 1) % 3];
        p->flat[i][1] = normal[k] < 0 ? -p->x[i][(k + 2) % 3] : p->x[i][(k + 2) % 3];
    }
}

/* Twice the area of the triangle, positive counter-clockwise. */
static double turn(const double *a, const double *b, const double *c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static bool same_place(const double *a, const double *b) { return a[0] == b[0] && a[1] == b[1]; }

static bool is_ear(const drape_i_polygon *p, int32_t i) {
    const double *a = p->flat[p->previous[i]], *b = p->flat[i], *c = p->flat[p->next[i]];
    if (!(turn(a, b, c) > 0)) return false;
    for (int32_t j = p->next[p->next[i]]; j != p->previous[i]; j = p->next[j]) {
        const double *q = p->flat[j];
        if (same_place(q, a) || same_place(q, b) || same_place(q, c)) continue;
        if (turn(a, b, q) >= 0 && turn(b, c, q) >= 0 && turn(c, a, q) >= 0) return false;
    }
    return true;
}

static void look_at(drape_i_polygon *p, int32_t i) {
    const double *a = p->x[p->previous[i]], *c = p->x[p->next[i]];
    double u = c[0] - a[0], v = c[1] - a[1], w = c[2] - a[2];
    p->diagonal[i] = u * u + v * v + w * w;
    p->ear[i] = is_ear(p, i);
}

/* Begins after `first`, so that the diagonal of a square starts at its first corner. */
static int32_t shortest(const drape_i_polygon *p, int32_t first, int32_t left) {
    int32_t best = p->next[first], i = p->next[first];
    for (int32_t k = 0; k < left; k++, i = p->next[i])
        if (p->ear[i] > p->ear[best] || (p->ear[i] == p->ear[best] && p->diagonal[i] < p->diagonal[best])) best = i;
    return best;
}

/* The lowest corner first: a triangle stays as it is. */
static void put_corners(int32_t out[3], int32_t a, int32_t b, int32_t c) {
    if (b < a && b < c) out[0] = b, out[1] = c, out[2] = a;
    else if (c < a && c < b) out[0] = c, out[1] = a, out[2] = b;
    else out[0] = a, out[1] = b, out[2] = c;
}

void drape_i_polygon_cut(drape_i_polygon *p) {
    int32_t n = p->corners, first = 0;
    DRAPE_ASSERT(n >= 3 && n <= DRAPE_I_POLYGON_MOST);
    flatten(p);
    for (int32_t i = 0; i < n; i++) {
        p->next[i] = (i + 1) % n;
        p->previous[i] = (i + n - 1) % n;
    }
    for (int32_t i = 0; i < n; i++) look_at(p, i);
    for (int32_t t = 0; t < n - 2; t++) {
        int32_t i = shortest(p, first, n - t), a = p->previous[i], c = p->next[i];
        put_corners(p->triangle[t], a, i, c);
        p->next[a] = c;
        p->previous[c] = a;
        if (first == i) first = c;
        look_at(p, a);
        look_at(p, c);
    }
}

/* ---- faces ---- */

static void put_triangle(drape_i_mesh *mesh, const drape_i_mesh_face *face, const int32_t corner[3], int64_t at) {
    for (int32_t k = 0; k < 3; k++) {
        mesh->triangle[at][k] = face->vertex[corner[k]];
        if (mesh->uv_triangle) mesh->uv_triangle[at][k] = face->uv[corner[k]];
    }
}

static int32_t find_twice(const int32_t t[3]) {
    if (t[0] == t[1]) return t[0];
    return t[1] == t[2] || t[2] == t[0] ? t[2] : -1;
}

bool drape_i_mesh_may_cut(drape_i_mesh_face *face, int64_t file_size) {
    static const int64_t FREE = 200000000, PER_BYTE = 20; /* a corner takes 4 bytes or more */
    face->work += (int64_t)face->corners * face->corners;
    return face->work <= FREE + PER_BYTE * file_size;
}

int32_t drape_i_mesh_add_face(drape_i_mesh *mesh, drape_i_mesh_face *face, int64_t *triangles) {
    drape_i_polygon *p = &face->polygon;
    int32_t twice = -1;
    p->corners = face->corners;
    for (int32_t i = 0; i < p->corners; i++)
        memcpy(p->x[i], mesh->position + 3 * (int64_t)face->vertex[i], sizeof p->x[i]);
    drape_i_polygon_cut(p);
    if (face->no_uv) mesh->uv_missing += p->corners - 2;
    for (int32_t t = 0; t < p->corners - 2; t++) {
        put_triangle(mesh, face, p->triangle[t], *triangles);
        int32_t wrong = find_twice(mesh->triangle[*triangles]);
        if (wrong < 0) ++*triangles;
        else if (twice < 0) twice = wrong;
    }
    return twice;
}

/* ---- groups ----
 *
 * Runs sorted by name are side by side, and are one group. A vertex gets the group's number as its mark when it is
 * first met there, so each is listed once. */

/* Runs [begin, end) of one name. */
typedef struct range {
    int64_t order, begin, end;
} range;

static int compare_names(const drape_i_group_run *p, const drape_i_group_run *q) {
    int64_t shorter = p->length < q->length ? p->length : q->length;
    int order = shorter ? memcmp(p->name, q->name, (size_t)shorter) : 0;
    return order ? order : (p->length > q->length) - (p->length < q->length);
}

static int compare_runs(const void *a, const void *b) {
    const drape_i_group_run *p = a, *q = b;
    int order = compare_names(p, q);
    return order ? order : (p->order > q->order) - (p->order < q->order);
}

static int compare_ranges(const void *a, const void *b) {
    const range *p = a, *q = b;
    return (p->order > q->order) - (p->order < q->order);
}

static int compare_vertices(const void *a, const void *b) {
    int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

/* Returns how many ranges there are; *characters: in all names, with a zero after each. */
static int64_t find_ranges(int64_t runs, drape_i_group_run *run, range *out, int64_t *characters) {
    int64_t count = 0;
    *characters = 0;
    qsort(run, (size_t)runs, sizeof *run, compare_runs);
    for (int64_t i = 0, end; i < runs; i = end) {
        for (end = i + 1; end < runs && compare_names(&run[i], &run[end]) == 0;) end++;
        out[count++] = (range){run[i].order, i, end};
        *characters += run[i].length + 1;
    }
    qsort(out, (size_t)count, sizeof *out, compare_ranges);
    return count;
}

/* The vertices under a range, ascending; out NULL: only counts them. mark differs from every mark set before. */
static int32_t list_vertices(const drape_i_mesh *mesh, const drape_i_group_run *run, range r, int32_t mark,
                             int32_t *marks, int32_t *out) {
    int32_t count = 0;
    for (int64_t i = r.begin; i < r.end; i++)
        for (int32_t t = run[i].first; t < run[i].end; t++)
            for (int32_t k = 0; k < 3; k++) {
                int32_t v = mesh->triangle[t][k];
                DRAPE_ASSERT(t >= 0 && t < mesh->triangles && v >= 0 && v < mesh->vertices);
                if (marks[v] == mark) continue;
                marks[v] = mark;
                if (out) out[count] = v;
                count++;
            }
    if (out) qsort(out, (size_t)count, sizeof *out, compare_vertices);
    return count;
}

static int32_t list_triangles(const drape_i_group_run *run, range r, int32_t *out) {
    int32_t count = 0;
    for (int64_t i = r.begin; i < r.end; i++)
        for (int32_t t = run[i].first; t < run[i].end; t++, count++)
            if (out) out[count] = t;
    return count;
}

drape_status drape_i_groups_build(drape_context *ctx, drape_i_arena *arena, drape_i_arena *scratch, int64_t runs,
                                  drape_i_group_run *run, drape_i_mesh *mesh) {
    int64_t characters, vertices = 0, triangles = 0;
    range *ranges = drape_i_arena_get(ctx, scratch, runs, sizeof *ranges);
    int32_t *marks = drape_i_arena_get(ctx, scratch, mesh->vertices, sizeof *marks);
    if (!ranges || !marks) return DRAPE_ERROR_MEMORY;
    int32_t count = (int32_t)find_ranges(runs, run, ranges, &characters);
    for (int32_t g = 0; g < count; g++) {
        vertices += list_vertices(mesh, run, ranges[g], g + 1, marks, NULL);
        triangles += list_triangles(run, ranges[g], NULL);
    }

    char *name = drape_i_arena_get(ctx, arena, characters, 1);
    int32_t *vertex = drape_i_arena_get(ctx, arena, vertices, sizeof *vertex);
    int32_t *triangle = drape_i_arena_get(ctx, arena, triangles, sizeof *triangle);
    mesh->group = drape_i_arena_get(ctx, arena, count, sizeof *mesh->group);
    if (!name || !vertex || !triangle || !mesh->group) return DRAPE_ERROR_MEMORY;
    mesh->groups = count;
    for (int32_t g = 0; g < count; g++) {
        const drape_i_group_run *first = &run[ranges[g].begin];
        memcpy(name, first->name, (size_t)first->length);
        mesh->group[g].name = name;
        mesh->group[g].vertex = vertex;
        mesh->group[g].vertices = list_vertices(mesh, run, ranges[g], -1 - g, marks, vertex);
        mesh->group[g].triangle = triangle;
        mesh->group[g].triangles = list_triangles(run, ranges[g], triangle);
        triangle += mesh->group[g].triangles;
        name += first->length + 1;
        vertex += mesh->group[g].vertices;
        vertices -= mesh->group[g].vertices;
    }
    DRAPE_ASSERT(vertices == 0); /* both passes met the same vertices */
    return DRAPE_OK;
}

/* ---- the end ---- */

static drape_status find_unreferenced(drape_context *ctx, drape_i_arena *scratch, drape_i_mesh *m) {
    uint8_t *used = drape_i_arena_get(ctx, scratch, m->vertices, sizeof *used);
    if (!used) return DRAPE_ERROR_MEMORY;
    for (int32_t t = 0; t < m->triangles; t++)
        for (int32_t k = 0; k < 3; k++) used[m->triangle[t][k]] = 1;
    m->first_unreferenced = -1;
    for (int32_t v = m->vertices - 1; v >= 0; v--)
        if (!used[v]) {
            m->unreferenced++;
            m->first_unreferenced = v;
        }
    return DRAPE_OK;
}

drape_status drape_i_mesh_finish(drape_context *ctx, drape_i_arena *scratch, const char *name, drape_i_mesh *m) {
    drape_status status = find_unreferenced(ctx, scratch, m);
    if (status || !m->uv_missing) return status;
    drape_i_log(ctx, DRAPE_LOG_WARNING,
                "%s: %d of %d triangles have no texture coordinates (vt, texcoord), so none are used", name,
                m->uv_missing, m->triangles);
    m->uv = NULL;
    m->uv_triangle = NULL;
    m->uv_vertices = 0;
    return DRAPE_OK;
}

/* ---- problems ---- */

const char *drape_i_mesh_what(drape_context *ctx, const char *name, int64_t line) {
    char number[32] = "";
    const char *message = drape_message(ctx);
    if (line > 0) snprintf(number, sizeof number, "%lld:", (long long)line);
    size_t head = strlen(name) + 1 + strlen(number) + 1; /* "name:12: " */
    return strlen(message) > head ? message + head : message;
}

/* ---- files ---- */

bool drape_i_mesh_is_ply(const char *path, const char *data, int64_t size) {
    if (size >= 4 && memcmp(data, "ply", 3) == 0 && (data[3] == '\n' || data[3] == '\r')) return true;
    return drape_i_ends_in(path, ".ply");
}

drape_status drape_i_mesh_read(drape_context *ctx, drape_i_arena *arena, const char *path,
                               const drape_i_mesh_listener *listener, drape_i_mesh *out) {
    char *data;
    int64_t size;
    *out = (drape_i_mesh){0};
    drape_status status = drape_i_file_read(ctx, path, &data, &size);
    if (status) return status;
    bool ply = drape_i_mesh_is_ply(path, data, size);
    status = ply ? drape_i_ply_parse(ctx, arena, path, data, size, listener, out)
                 : drape_i_obj_parse(ctx, arena, path, data, size, listener, out);
    DRAPE_FREE(ctx, data, size + 1);
    return status;
}
