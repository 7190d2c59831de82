/* crossings.c: counts what crosses in a frame.
 *
 * Every pair of triangles whose boxes meet is tested once (pair.h). A pair within the cloth is tested from the
 * triangle with the lower number, a pair of cloth and another body from the triangle of the cloth. An edge belongs to
 * the first triangle that has it, and only that one tests it, so that no edge counts twice. Vertices, edges and
 * triangles are numbered over all bodies, the cloth first; the numbers that the caller sees are those within a body.
 *
 * There are two passes. The first counts the crossings of each triangle of the cloth. The second stores them, each
 * triangle in its own place, and skips triangles without crossings. So the list does not depend on threads, and
 * frames without crossings, the usual ones, take a single pass. */
#include "drape/crossings.h"
#include "base/context.h"
#include "base/parallel.h"
#include "crossings/orient.h"
#include "crossings/pair.h"
#include "crossings/tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A body within the numbers over all of them. */
typedef struct body {
    int32_t vertex, vertices, triangle, triangles;
    drape_i_tree tree;
} body;

struct drape_crossings {
    drape_context *ctx;
    int32_t bodies;
    body *body;
    int32_t vertices, triangles;
    double *x;
    int32_t (*triangle)[3];
    uint8_t *owned;       /* of each triangle: bit k where edge k belongs to it */
    int64_t *found;       /* of each triangle of the cloth: crossings; then where they go in the list, and its end */
    drape_crossing *list; /* of the last frame */
    int64_t list_room;    /* what it has room for */
};

const char *drape_crossing_kind_name(drape_crossing_kind kind) {
    static const char *const names[] = {"edge", "triangles", "touch"};
    return (int)kind >= 0 && (size_t)kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

/* ---- Creating ---- */

static drape_status check_mesh(drape_context *ctx, const drape_crossings_mesh *mesh, int32_t number) {
    if (mesh->vertices < 0 || mesh->triangles < 0 || (mesh->triangles > 0 && !mesh->triangle))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "body %d: %d vertices, %d triangles%s", number, mesh->vertices,
                            mesh->triangles, mesh->triangle ? "" : ", which are NULL");
    for (int64_t i = 0; i < 3 * (int64_t)mesh->triangles; i++)
        if (mesh->triangle[i] < 0 || mesh->triangle[i] >= mesh->vertices)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                                "body %d: triangle %lld has vertex %d, but there are %d vertices", number,
                                (long long)(i / 3), mesh->triangle[i], mesh->vertices);
    return drape_i_check_reserved(ctx, "drape_crossings_mesh", mesh->reserved, 4);
}

static const drape_crossings_mesh *mesh_of(const drape_crossings_bodies *bodies, int32_t number) {
    return number == 0 ? &bodies->cloth : bodies->others + number - 1;
}

static drape_status check_bodies(drape_context *ctx, const drape_crossings_bodies *bodies) {
    int64_t vertices = 0, triangles = 0;
    if (bodies->other_count < 0 || bodies->other_count == INT32_MAX || (bodies->other_count > 0 && !bodies->others))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_crossings_create: %d other bodies, or they are NULL",
                            bodies->other_count);
    drape_status status = drape_i_check_reserved(ctx, "drape_crossings_bodies", bodies->reserved, 4);
    for (int32_t b = 0; b <= bodies->other_count && !status; b++) {
        status = check_mesh(ctx, mesh_of(bodies, b), b);
        vertices += mesh_of(bodies, b)->vertices;
        triangles += mesh_of(bodies, b)->triangles;
    }
    if (!status && (vertices > INT32_MAX || triangles > INT32_MAX))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%lld vertices and %lld triangles: at most %d can be counted",
                            (long long)vertices, (long long)triangles, INT32_MAX);
    return status;
}

typedef struct half_edge {
    int32_t low, high; /* vertices */
    int32_t triangle, side;
} half_edge;

static int compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int by_vertices(const void *p, const void *q) {
    const half_edge *a = p, *b = q;
    int order = compare(a->low, b->low);
    if (order == 0) order = compare(a->high, b->high);
    if (order == 0) order = compare(a->triangle, b->triangle);
    return order ? order : compare(a->side, b->side);
}

/* Gives every edge to its first triangle. */
static drape_status assign_edges(drape_crossings *s) {
    half_edge *half;
    int64_t count = 3 * (int64_t)s->triangles;
    if (!DRAPE_NEW(s->ctx, half, count)) return DRAPE_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        const int32_t *corner = s->triangle[i / 3];
        int32_t a = corner[i % 3], b = corner[(i + 1) % 3];
        half[i] = (half_edge){a < b ? a : b, a < b ? b : a, (int32_t)(i / 3), (int32_t)(i % 3)};
    }
    qsort(half, (size_t)count, sizeof *half, by_vertices);
    for (int64_t i = 0; i < count; i++) {
        bool again = i > 0 && half[i].low == half[i - 1].low && half[i].high == half[i - 1].high;
        if (!again && half[i].low != half[i].high) s->owned[half[i].triangle] |= (uint8_t)(1 << half[i].side);
    }
    DRAPE_FREE(s->ctx, half, count);
    return DRAPE_OK;
}

static drape_status adopt(drape_crossings *s, const drape_crossings_bodies *bodies) {
    drape_status status = DRAPE_OK;
    if (!DRAPE_NEW(s->ctx, s->body, s->bodies)) return DRAPE_ERROR_MEMORY;
    for (int32_t b = 0; b < s->bodies; b++) {
        const drape_crossings_mesh *mesh = mesh_of(bodies, b);
        s->body[b] = (body){s->vertices, mesh->vertices, s->triangles, mesh->triangles, {0}};
        s->vertices += mesh->vertices;
        s->triangles += mesh->triangles;
    }
    if (!DRAPE_NEW(s->ctx, s->x, 3 * (int64_t)s->vertices) || !DRAPE_NEW(s->ctx, s->triangle, s->triangles) ||
        !DRAPE_NEW(s->ctx, s->owned, s->triangles) || !DRAPE_NEW(s->ctx, s->found, (int64_t)s->body[0].triangles + 1))
        return DRAPE_ERROR_MEMORY;
    for (int32_t b = 0; b < s->bodies && !status; b++) {
        const body *to = s->body + b;
        for (int64_t i = 0; i < 3 * (int64_t)to->triangles; i++)
            s->triangle[to->triangle + i / 3][i % 3] = to->vertex + mesh_of(bodies, b)->triangle[i];
        status = drape_i_tree_create(s->ctx, to->triangles, &s->body[b].tree);
    }
    return status ? status : assign_edges(s);
}

drape_status drape_crossings_create(drape_context *ctx, const drape_crossings_bodies *bodies, drape_crossings **out) {
    drape_crossings *s;
    if (out) *out = NULL;
    if (!ctx || !bodies || !out)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_crossings_create: bodies or out is NULL");
    drape_status status = check_bodies(ctx, bodies);
    if (status) return status;
    if (!DRAPE_NEW(ctx, s, 1)) return DRAPE_ERROR_MEMORY;
    s->ctx = ctx;
    s->bodies = bodies->other_count + 1;
    status = adopt(s, bodies);
    if (status) drape_crossings_destroy(s);
    else *out = s;
    return status;
}

void drape_crossings_destroy(drape_crossings *s) {
    if (!s) return;
    drape_context *ctx = s->ctx;
    if (s->found) DRAPE_FREE(ctx, s->found, (int64_t)s->body[0].triangles + 1);
    if (s->owned) DRAPE_FREE(ctx, s->owned, s->triangles);
    if (s->triangle) DRAPE_FREE(ctx, s->triangle, s->triangles);
    if (s->x) DRAPE_FREE(ctx, s->x, 3 * (int64_t)s->vertices);
    for (int32_t b = 0; s->body && b < s->bodies; b++) drape_i_tree_destroy(ctx, &s->body[b].tree);
    if (s->body) DRAPE_FREE(ctx, s->body, s->bodies);
    if (s->list) DRAPE_FREE(ctx, s->list, s->list_room);
    DRAPE_FREE(ctx, s, 1);
}

/* ---- A frame ---- */

/* Copies a body's coordinates into the range of exact signs. */
static drape_status take_positions(drape_crossings *s, int32_t number, const double *from) {
    const body *b = s->body + number;
    double *to = s->x + 3 * (int64_t)b->vertex;
    if (!from && b->vertices > 0)
        return drape_i_fail(s->ctx, DRAPE_ERROR_ARGUMENT, "drape_crossings_count: no positions of body %d", number);
    for (int64_t i = 0; i < 3 * (int64_t)b->vertices; i++) {
        double size = fabs(from[i]);
        if (!(size <= DRAPE_I_ORIENT_MOST)) {
            char where[32] = "";
            if (number > 0) snprintf(where, sizeof where, " of body %d", number);
            return drape_i_fail(s->ctx, DRAPE_ERROR_NUMBER, "vertex %lld%s is %s: its %c is %g", (long long)(i / 3),
                                where, isfinite(from[i]) ? "too far away" : "not finite", "xyz"[i % 3], from[i]);
        }
        to[i] = size < DRAPE_I_ORIENT_LEAST ? 0 : from[i];
    }
    return DRAPE_OK;
}

static void build_tree(drape_crossings *s, body *b) {
    for (int32_t t = 0; t < b->triangles; t++) {
        const int32_t *corner = s->triangle[b->triangle + t];
        drape_i_box *box = b->tree.box + t;
        memcpy(box->low, s->x + 3 * (int64_t)corner[0], sizeof box->low);
        memcpy(box->high, box->low, sizeof box->high);
        for (int k = 1; k < 3; k++)
            for (int axis = 0; axis < 3; axis++) {
                double x = s->x[3 * (int64_t)corner[k] + axis];
                if (x < box->low[axis]) box->low[axis] = x;
                if (x > box->high[axis]) box->high[axis] = x;
            }
    }
    drape_i_tree_build(&b->tree);
}

/* Numbers are over all bodies here. */
static drape_i_facet facet(const drape_crossings *s, int32_t triangle) {
    const int32_t *corner = s->triangle[triangle];
    return (drape_i_facet){
        .x = {s->x + 3 * (int64_t)corner[0], s->x + 3 * (int64_t)corner[1], s->x + 3 * (int64_t)corner[2]},
        .vertex = {corner[0], corner[1], corner[2]},
        .owned = s->owned[triangle]};
}

/* One triangle of the cloth, against everything. */
typedef struct visit {
    const drape_crossings *s;
    int32_t triangle, other_body;
    drape_i_facet facet;
    int64_t count;
    drape_crossing *to; /* NULL: only counting */
} visit;

static void put(visit *v, drape_crossing_kind kind, bool swapped, int edge, int32_t other) {
    if (!v->to) {
        v->count++;
        return;
    }
    int32_t body_of[2] = {0, v->other_body}, triangle[2] = {v->triangle, other};
    int first = swapped ? 1 : 0;
    drape_crossing *c = v->to + v->count++;
    *c = (drape_crossing){.kind = kind,
                          .body = {body_of[first], body_of[1 - first]},
                          .edge = {-1, -1},
                          .triangle = {triangle[first], triangle[1 - first]}};
    if (edge < 0) return;
    const body *b = v->s->body + c->body[0];
    const int32_t *corner = v->s->triangle[b->triangle + c->triangle[0]];
    int32_t p = corner[edge] - b->vertex, q = corner[(edge + 1) % 3] - b->vertex;
    c->edge[0] = p < q ? p : q;
    c->edge[1] = p < q ? q : p;
}

static void look_at(void *user, int32_t other) {
    visit *v = user;
    drape_i_pair pair;
    if (v->other_body == 0 && other <= v->triangle) return;
    drape_i_facet with = facet(v->s, v->s->body[v->other_body].triangle + other);
    if (!drape_i_pair_test(&v->facet, &with, &pair)) return;
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 3; k++)
            if (pair.edge[side][k] != DRAPE_I_APART)
                put(v, pair.edge[side][k] == DRAPE_I_CROSS ? DRAPE_CROSSING_EDGE : DRAPE_CROSSING_TOUCH, side == 1, k,
                    other);
    if (pair.cross) put(v, DRAPE_CROSSING_TRIANGLES, false, -1, other);
}

static int64_t visit_triangle(const drape_crossings *s, int32_t triangle, drape_crossing *to) {
    visit v = {.s = s, .triangle = triangle, .facet = facet(s, triangle), .to = to};
    const drape_i_box *box = s->body[0].tree.box + triangle;
    for (; v.other_body < s->bodies; v.other_body++)
        drape_i_tree_search(&s->body[v.other_body].tree, box, look_at, &v);
    return v.count;
}

static void count_range(void *data, int64_t begin, int64_t end) {
    drape_crossings *s = data;
    for (int64_t t = begin; t < end; t++) s->found[t] = visit_triangle(s, (int32_t)t, NULL);
}

static void list_range(void *data, int64_t begin, int64_t end) {
    drape_crossings *s = data;
    for (int64_t t = begin; t < end; t++)
        if (s->found[t + 1] > s->found[t]) visit_triangle(s, (int32_t)t, s->list + s->found[t]);
}

static int by_place(const void *p, const void *q) {
    const drape_crossing *a = p, *b = q;
    int order = compare(a->kind, b->kind);
    for (int k = 0; k < 2 && !order; k++) order = compare(a->body[k], b->body[k]);
    if (!order) order = compare(a->triangle[0], b->triangle[0]);
    for (int k = 0; k < 2 && !order; k++) order = compare(a->edge[k], b->edge[k]);
    return order ? order : compare(a->triangle[1], b->triangle[1]);
}

/* Room for what was counted, and where each triangle's share begins. */
static drape_status make_room(drape_crossings *s) {
    int64_t total = 0;
    for (int32_t t = 0; t <= s->body[0].triangles; t++) {
        int64_t here = t < s->body[0].triangles ? s->found[t] : 0;
        s->found[t] = total;
        total += here;
    }
    if (total <= s->list_room) return DRAPE_OK;
    if (s->list) DRAPE_FREE(s->ctx, s->list, s->list_room);
    s->list_room = total + total / 2;
    if (DRAPE_NEW(s->ctx, s->list, s->list_room)) return DRAPE_OK;
    s->list_room = 0;
    return DRAPE_ERROR_MEMORY;
}

static void sum_up(const drape_crossing *list, drape_crossings_result *out) {
    for (int64_t i = 0; i < out->count; i++) {
        drape_crossing_counts *to = list[i].body[0] == 0 && list[i].body[1] == 0 ? &out->self : &out->others;
        if (list[i].kind == DRAPE_CROSSING_EDGE) to->edges++;
        else if (list[i].kind == DRAPE_CROSSING_TRIANGLES) to->triangles++;
        else to->touches++;
    }
    out->crossings = list;
}

enum { GRAIN = 64 }; /* triangles: each takes about 2 microseconds, far more where much crosses */

drape_status drape_crossings_count(drape_crossings *s, const double *positions, const double *const *others,
                                   drape_crossings_result *out) {
    if (out) *out = (drape_crossings_result){0};
    if (!s || !out)
        return drape_i_fail(s ? s->ctx : NULL, DRAPE_ERROR_ARGUMENT,
                            "drape_crossings_count: the search or out is NULL");
    drape_status status = take_positions(s, 0, positions);
    for (int32_t b = 1; b < s->bodies && !status; b++) status = take_positions(s, b, others ? others[b - 1] : NULL);
    if (status) return status;
    for (int32_t b = 0; b < s->bodies; b++) build_tree(s, s->body + b);
    drape_i_loop(s->ctx, s->body[0].triangles, GRAIN, count_range, s);
    status = make_room(s);
    if (status) return status;
    out->count = s->found[s->body[0].triangles];
    if (out->count == 0) return DRAPE_OK;
    drape_i_loop(s->ctx, s->body[0].triangles, GRAIN, list_range, s);
    qsort(s->list, (size_t)out->count, sizeof *s->list, by_place);
    sum_up(s->list, out);
    return DRAPE_OK;
}
