/* solid.c: signed distances from colliders. Round shapes and planes have formulas. A mesh is searched triangle by
 * triangle, except those whose boxes are too far away. This takes O(triangles) per query, which is acceptable because
 * few vertices are caught. At a corner or an edge of a mesh, several triangles are equally near, and some may face
 * away. So the triangle whose normal makes the smallest angle with the line to the nearest point decides. */
#include "contact/solid.h"

#include "contact/closest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SAME = 1e-9; /* relative: distances to triangles that share the nearest point */

static bool is_round(const drape_i_collider *c) {
    return c->shape == DRAPE_COLLIDER_SPHERE || c->shape == DRAPE_COLLIDER_CAPSULE;
}

/* ---- Sides ---- */

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Closed, and each edge is passed once in either direction. */
static bool is_closed(const int32_t (*triangle)[3], int32_t count, uint64_t *edge) {
    int64_t n = 3 * (int64_t)count;
    for (int64_t i = 0; i < n; i++) {
        const int32_t *t = triangle[i / 3];
        edge[i] = (uint64_t)(uint32_t)t[i % 3] << 32 | (uint32_t)t[(i + 1) % 3];
    }
    qsort(edge, (size_t)n, sizeof *edge, compare);
    for (int64_t i = 0; i < n; i++) {
        uint64_t back = edge[i] << 32 | edge[i] >> 32;
        if ((i > 0 && edge[i] == edge[i - 1]) || !bsearch(&back, edge, (size_t)n, sizeof *edge, compare))
            return false;
    }
    return n > 0;
}

/* m^3, times 6. */
static double volume(const drape_i_world *w, const int32_t (*triangle)[3], int32_t count) {
    const double *x = w->start + 3 * (int64_t)w->cloth_vertices, *o = x + 3 * (int64_t)triangle[0][0];
    double sum = 0;
    for (int32_t t = 0; t < count; t++) {
        double e[3][3];
        for (int32_t i = 0; i < 3; i++)
            for (int32_t k = 0; k < 3; k++) e[i][k] = x[3 * (int64_t)triangle[t][i] + k] - o[k];
        for (int32_t k = 0; k < 3; k++) {
            int32_t l = (k + 1) % 3, m = (k + 2) % 3;
            sum += e[0][k] * (e[1][l] * e[2][m] - e[1][m] * e[2][l]);
        }
    }
    return sum;
}

drape_status drape_i_solid_sides(const drape_i_world *w, int8_t *side) {
    const drape_i_colliders *c = w->colliders;
    for (int32_t i = 0; c && i < c->count; i++) {
        const drape_i_collider *item = &c->item[i];
        const int32_t(*triangle)[3] = (const int32_t(*)[3])c->triangle + item->first_triangle;
        int64_t edges = 3 * (int64_t)item->triangles;
        uint64_t *edge;
        side[i] = 1;
        if (item->triangles == 0) continue;
        if (!DRAPE_NEW_RAW(w->ctx, edge, edges)) return DRAPE_ERROR_MEMORY;
        double size = is_closed(triangle, item->triangles, edge) ? volume(w, triangle, item->triangles) : 0;
        side[i] = (int8_t)((size > 0) - (size < 0));
        DRAPE_FREE(w->ctx, edge, edges);
    }
    return DRAPE_OK;
}

/* ---- Points ---- */

static drape_i_solid_near from_plane(const drape_i_world *w, int32_t collider, bool at_end, const double p[3]) {
    const drape_i_collider *c = &w->colliders->item[collider];
    const double *o = (at_end ? w->end : w->start) + 3 * ((int64_t)w->cloth_vertices + c->first_point);
    drape_i_solid_near near = {.corner = {-1, -1, -1}};
    drape_i_collider_normal(w->colliders, collider, at_end ? w->end_time : w->start_time, near.n);
    for (int32_t k = 0; k < 3; k++) near.gap += near.n[k] * (p[k] - o[k]);
    return near;
}

/* e from the nearest point, `length` long; up to now n is any unit vector. */
static void set_normal(drape_i_solid_near *near, const double e[3], double length) {
    for (int32_t k = 0; k < 3 && length > 0; k++) near->n[k] = e[k] / length;
}

static drape_i_solid_near from_round(const drape_i_world *w, int32_t collider, bool at_end, const double p[3]) {
    const drape_i_collider *c = &w->colliders->item[collider];
    const double *a = (at_end ? w->end : w->start) + 3 * ((int64_t)w->cloth_vertices + c->first_point);
    const double *b = a + 3 * (c->points - 1);
    drape_i_solid_near near = {.corner = {-1, -1, -1}, .n = {0, 0, 1}};
    double d[3], e[3], along = 0, square = 0;
    for (int32_t k = 0; k < 3; k++) {
        d[k] = b[k] - a[k];
        square += d[k] * d[k];
        along += d[k] * (p[k] - a[k]);
    }
    double t = square > 0 ? fmin(1, fmax(0, along / square)) : 0;
    for (int32_t k = 0; k < 3; k++) e[k] = p[k] - (a[k] + t * d[k]);
    double length = sqrt(drape_i_dot3(e, e));
    set_normal(&near, e, length);
    near.gap = length - c->radius;
    return near;
}

/* m^2: at least, to the box around a triangle. */
static double box_distance(const double p[3], const double *const corner[3]) {
    double sum = 0;
    for (int32_t k = 0; k < 3; k++) {
        double low = fmin(corner[0][k], fmin(corner[1][k], corner[2][k]));
        double high = fmax(corner[0][k], fmax(corner[1][k], corner[2][k]));
        double d = fmax(0, fmax(low - p[k], p[k] - high));
        sum += d * d;
    }
    return sum;
}

/* Unit, or zero. */
static void normal_of(const double *const corner[3], double n[3]) {
    for (int32_t k = 0; k < 3; k++) {
        int32_t l = (k + 1) % 3, m = (k + 2) % 3;
        n[k] = (corner[1][l] - corner[0][l]) * (corner[2][m] - corner[0][m]) -
               (corner[1][m] - corner[0][m]) * (corner[2][l] - corner[0][l]);
    }
    double length = sqrt(drape_i_dot3(n, n));
    for (int32_t k = 0; k < 3 && length > 0; k++) n[k] /= length;
}

static drape_i_solid_near from_mesh(const drape_i_world *w, int32_t collider, int8_t side, bool at_end,
                                    const double p[3]) {
    static const int32_t all[4] = {0, 1, 2, 3};
    const drape_i_colliders *c = w->colliders;
    const double *x = (at_end ? w->end : w->start) + 3 * (int64_t)w->cloth_vertices;
    drape_i_solid_near near = {.corner = {-1, -1, -1}, .gap = INFINITY, .n = {0, 0, 1}};
    double least = INFINITY, steepest = -1, facing = 1;
    for (int32_t t = 0; t < c->item[collider].triangles; t++) {
        const int32_t *v = c->triangle[c->item[collider].first_triangle + t];
        const double *corner[3] = {x + 3 * (int64_t)v[0], x + 3 * (int64_t)v[1], x + 3 * (int64_t)v[2]};
        if (box_distance(p, corner) > least * (1 + SAME)) continue;
        double four[12], weight[4], e[3], n[3];
        memcpy(four, p, 3 * sizeof *p);
        for (int32_t i = 0; i < 3; i++) memcpy(four + 3 * (i + 1), corner[i], 3 * sizeof *p);
        drape_i_closest(DRAPE_CCD_VERTEX_FACE, four, all, weight);
        drape_i_between(four, all, weight, e);
        double square = drape_i_dot3(e, e), length = sqrt(square);
        if (square > least * (1 + SAME)) continue;
        normal_of(corner, n);
        double cosine = length > 0 ? drape_i_dot3(e, n) / length : 1;
        if (square >= least * (1 - SAME) && !(fabs(cosine) > steepest)) continue;
        least = fmin(least, square);
        steepest = fabs(cosine);
        facing = side != 0 && side * cosine < 0 ? -1 : 1;
        for (int32_t k = 0; k < 3; k++) {
            near.n[k] = length > 0 ? facing * e[k] / length : (side < 0 ? -1 : 1) * n[k];
            near.corner[k] = w->cloth_vertices + v[k];
            near.weight[k] = -weight[k + 1];
        }
        near.gap = facing * length;
    }
    return near;
}

drape_i_solid_near drape_i_solid_from(const drape_i_world *w, int32_t collider, int8_t side, bool at_end,
                                      const double p[3]) {
    const drape_i_collider *c = &w->colliders->item[collider];
    if (c->shape == DRAPE_COLLIDER_PLANE) return from_plane(w, collider, at_end, p);
    return is_round(c) ? from_round(w, collider, at_end, p) : from_mesh(w, collider, side, at_end, p);
}

/* ---- Triangles of the cloth ---- */

static double pair_distance(const drape_i_world *w, drape_ccd_kind kind, const int32_t vertex[4]) {
    double weight[4], e[3];
    drape_i_closest(kind, w->start, vertex, weight);
    drape_i_between(w->start, vertex, weight, e);
    return sqrt(drape_i_dot3(e, e));
}

/* 6 times the volume of a tetrahedron. */
static double orient(const double *a, const double *b, const double *c, const double *d) {
    double u[3], v[3], q[3];
    for (int32_t k = 0; k < 3; k++) u[k] = b[k] - a[k], v[k] = c[k] - a[k], q[k] = d[k] - a[k];
    return q[0] * (u[1] * v[2] - u[2] * v[1]) + q[1] * (u[2] * v[0] - u[0] * v[2]) +
           q[2] * (u[0] * v[1] - u[1] * v[0]);
}

/* Whether the segment from p to q passes through the inside of a triangle; near its border distances tell. */
static bool pierces(const double *x, int32_t p, int32_t q, const int32_t t[3]) {
    const double *a = x + 3 * (int64_t)p, *b = x + 3 * (int64_t)q, *c[3];
    for (int32_t i = 0; i < 3; i++) c[i] = x + 3 * (int64_t)t[i];
    if ((orient(c[0], c[1], c[2], a) > 0) == (orient(c[0], c[1], c[2], b) > 0)) return false;
    bool first = orient(a, b, c[0], c[1]) > 0;
    return first == (orient(a, b, c[1], c[2]) > 0) && first == (orient(a, b, c[2], c[0]) > 0);
}

static double between_triangles(const drape_i_world *w, const int32_t a[3], const int32_t b[3]) {
    double least = INFINITY;
    for (int32_t i = 0; i < 3; i++) {
        if (pierces(w->start, a[i], a[(i + 1) % 3], b) || pierces(w->start, b[i], b[(i + 1) % 3], a)) return -1;
        least = fmin(least, pair_distance(w, DRAPE_CCD_VERTEX_FACE, (const int32_t[4]){a[i], b[0], b[1], b[2]}));
        least = fmin(least, pair_distance(w, DRAPE_CCD_VERTEX_FACE, (const int32_t[4]){b[i], a[0], a[1], a[2]}));
        for (int32_t j = 0; j < 3; j++)
            least = fmin(least, pair_distance(w, DRAPE_CCD_EDGE_EDGE,
                                              (const int32_t[4]){a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]}));
    }
    return least;
}

static bool boxes_are_near(const double *x, const int32_t a[3], const int32_t b[3], double distance) {
    for (int32_t k = 0; k < 3; k++) {
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (int32_t i = 0; i < 3; i++) {
            double p = x[3 * (int64_t)a[i] + k], q = x[3 * (int64_t)b[i] + k];
            low[0] = fmin(low[0], p), high[0] = fmax(high[0], p);
            low[1] = fmin(low[1], q), high[1] = fmax(high[1], q);
        }
        if (low[0] > high[1] + distance || low[1] > high[0] + distance) return false;
    }
    return true;
}

static double mesh_to_triangle(const drape_i_world *w, int32_t collider, int8_t side, const int32_t triangle[3],
                               double enough) {
    const drape_i_colliders *c = w->colliders;
    const drape_i_collider *item = &c->item[collider];
    drape_i_solid_near near = drape_i_solid_from(w, collider, side, false, w->start + 3 * (int64_t)triangle[0]);
    if (!(near.gap > 0)) return near.gap;
    double least = fmin(enough, near.gap);
    for (int32_t t = 0; t < item->triangles && least > 0; t++) {
        int32_t other[3];
        for (int32_t i = 0; i < 3; i++) other[i] = w->cloth_vertices + c->triangle[item->first_triangle + t][i];
        if (boxes_are_near(w->start, triangle, other, least))
            least = fmin(least, between_triangles(w, triangle, other));
    }
    return least;
}

static double round_to_triangle(const drape_i_world *w, int32_t collider, const int32_t t[3]) {
    const drape_i_collider *c = &w->colliders->item[collider];
    int32_t p = w->cloth_vertices + c->first_point, q = p + c->points - 1;
    double least = INFINITY;
    if (c->points > 1 && pierces(w->start, p, q, t)) return -c->radius;
    for (int32_t i = p; i <= q; i++)
        least = fmin(least, pair_distance(w, DRAPE_CCD_VERTEX_FACE, (const int32_t[4]){i, t[0], t[1], t[2]}));
    for (int32_t i = 0; i < 3 && c->points > 1; i++)
        least = fmin(least, pair_distance(w, DRAPE_CCD_EDGE_EDGE, (const int32_t[4]){t[i], t[(i + 1) % 3], p, q}));
    return least - c->radius;
}

double drape_i_solid_to_triangle(const drape_i_world *w, int32_t collider, int8_t side, const int32_t triangle[3],
                                 double enough) {
    const drape_i_collider *c = &w->colliders->item[collider];
    if (is_round(c)) return round_to_triangle(w, collider, triangle);
    if (c->shape != DRAPE_COLLIDER_PLANE) return mesh_to_triangle(w, collider, side, triangle, enough);
    double least = INFINITY;
    for (int32_t i = 0; i < 3; i++)
        least = fmin(least, from_plane(w, collider, false, w->start + 3 * (int64_t)triangle[i]).gap);
    return least;
}
