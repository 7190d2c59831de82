/* world.c: the pairs that come near each other in a step. For triangles they are found by trees (tree.c). Round
 * colliders are compared with the triangles and edges of the cloth directly, in blocks with a box around each. */
#include "contact/world.h"
#include "base/parallel.h"
#include "contact/tree.h"

#include <math.h>
#include <string.h>

enum {
    GRAIN = 2048,
    MOTION_GRAIN = 8192, /* coordinates */
    BLOCK = 64           /* triangles, or edges, that share a box */
};

static const double SHARE = 0.01; /* of the thickness, that is always kept */

/* ---- Creating ---- */

static drape_status create_trees(drape_i_world *w, const drape_i_world_settings *s) {
    drape_status status = drape_contact_tree_create(w->ctx, s->vertices, s->triangles, s->triangle, &w->cloth);
    if (status || !w->colliders || w->colliders->triangles == 0) return status;
    status =
        drape_contact_tree_create(w->ctx, w->points, w->colliders->triangles, w->colliders->triangle[0], &w->objects);
    return status ? status : drape_contact_tree_set_first_vertex(w->objects, w->cloth_vertices);
}

static drape_status list_planes(drape_i_world *w) {
    int32_t count = w->colliders ? w->colliders->count : 0;
    for (int32_t i = 0; i < count; i++) w->plane_count += w->colliders->item[i].shape == DRAPE_COLLIDER_PLANE;
    if (!DRAPE_NEW(w->ctx, w->plane, w->plane_count)) return DRAPE_ERROR_MEMORY;
    for (int32_t i = 0, k = 0; i < count; i++)
        if (w->colliders->item[i].shape == DRAPE_COLLIDER_PLANE) w->plane[k++] = i;
    return DRAPE_OK;
}

static drape_status allocate(drape_i_world *w, const drape_i_world_settings *s) {
    int64_t numbers = 3 * (int64_t)w->vertices;
    w->triangles = s->triangles;
    w->triangle = w->cloth->triangle;
    w->edges = drape_contact_tree_edges(w->cloth, NULL);
    w->blocks[0] = (w->triangles + BLOCK - 1) / BLOCK;
    w->blocks[1] = (w->edges + BLOCK - 1) / BLOCK;
    if (!DRAPE_NEW(w->ctx, w->start, numbers) || !DRAPE_NEW(w->ctx, w->end, numbers) ||
        !DRAPE_NEW(w->ctx, w->box[0], w->blocks[0]) || !DRAPE_NEW(w->ctx, w->box[1], w->blocks[1]))
        return DRAPE_ERROR_MEMORY;
    return DRAPE_OK;
}

static drape_status build(drape_i_world *w, const drape_i_world_settings *s) {
    w->cloth_vertices = s->vertices;
    w->thickness = s->thickness;
    w->friction = s->friction;
    w->piece = s->piece, w->pieces = s->pieces;
    w->pair_thickness = s->pair_thickness, w->pair_friction = s->pair_friction;
    w->self = s->self;
    for (int32_t i = 0; i < s->vertices; i++) w->thickest = fmax(w->thickest, s->thickness[i]);
    for (int64_t i = 0; s->piece && i < (int64_t)s->pieces * s->pieces; i++)
        w->thickest = fmax(w->thickest, s->pair_thickness[i]);
    drape_status status = DRAPE_OK;
    if (s->collider_count > 0)
        status = drape_i_colliders_create(w->ctx, s->colliders, s->collider_count, &w->colliders);
    if (status) return status;
    w->points = w->colliders ? w->colliders->points : 0;
    if ((int64_t)w->points + w->cloth_vertices > INT32_MAX)
        return drape_i_fail(w->ctx, DRAPE_ERROR_ARGUMENT, "colliders and cloth have more than %d vertices",
                            INT32_MAX);
    w->vertices = w->cloth_vertices + w->points;
    status = create_trees(w, s);
    if (!status) status = list_planes(w);
    if (!status && w->self) status = drape_contact_pairs_create(w->ctx, &w->found);
    if (!status && w->objects) status = drape_contact_pairs_create(w->ctx, &w->met);
    return status ? status : allocate(w, s);
}

drape_status drape_i_world_create(drape_context *ctx, const drape_i_world_settings *settings, drape_i_world **out) {
    drape_i_world *w;
    *out = NULL;
    if (!DRAPE_NEW(ctx, w, 1)) return DRAPE_ERROR_MEMORY;
    w->ctx = ctx;
    drape_status status = build(w, settings);
    if (status) drape_i_world_destroy(w);
    else *out = w;
    return status;
}

static void free_pairs(drape_context *ctx, drape_i_pairs *p) {
    DRAPE_FREE(ctx, p->vertex, p->room);
    DRAPE_FREE(ctx, p->collider, p->room);
    DRAPE_FREE(ctx, p->distance, p->room);
    DRAPE_FREE(ctx, p->round, p->room);
    *p = (drape_i_pairs){0};
}

void drape_i_world_destroy(drape_i_world *w) {
    if (!w) return;
    drape_context *ctx = w->ctx;
    for (int32_t k = 0; k < 2; k++) {
        free_pairs(ctx, &w->pairs[k]);
        DRAPE_FREE(ctx, w->box[k], w->blocks[k]);
    }
    DRAPE_FREE(ctx, w->start, 3 * (int64_t)w->vertices);
    DRAPE_FREE(ctx, w->end, 3 * (int64_t)w->vertices);
    DRAPE_FREE(ctx, w->plane, w->plane_count);
    drape_contact_pairs_destroy(w->found);
    drape_contact_pairs_destroy(w->met);
    drape_contact_tree_destroy(w->cloth);
    drape_contact_tree_destroy(w->objects);
    drape_i_colliders_destroy(w->colliders);
    DRAPE_FREE(ctx, w, 1);
}

void drape_i_world_forget(drape_i_world *w) {
    drape_contact_tree_forget(w->cloth);
    if (w->objects) drape_contact_tree_forget(w->objects);
}

/* Positions of the cloth on their way into the world. */
typedef struct moving {
    drape_i_world *w;
    const double *x0, *x1;
    int64_t length; /* of a piece of the loop */
    double largest[DRAPE_I_CHUNKS];
} moving;

static double largest_of(const double *x, int64_t count, double most) {
    for (int64_t i = 0; i < count; i++) most = fabs(x[i]) > most ? fabs(x[i]) : most;
    return most;
}

static void move_chunk(void *data, int64_t begin, int64_t end) {
    moving *m = data;
    int64_t count = end - begin;
    memcpy(m->w->start + begin, m->x0 + begin, (size_t)count * sizeof *m->x0);
    memcpy(m->w->end + begin, m->x1 + begin, (size_t)count * sizeof *m->x1);
    m->largest[begin / m->length] = largest_of(m->x1 + begin, count, largest_of(m->x0 + begin, count, 0));
}

void drape_i_world_set_motion(drape_i_world *w, const double *x0, double t0, const double *x1, double t1) {
    int64_t numbers = 3 * (int64_t)w->cloth_vertices, points = 3 * (int64_t)w->points;
    moving m = {.w = w, .x0 = x0, .x1 = x1, .length = drape_i_chunk_length(numbers, MOTION_GRAIN)};
    drape_i_loop(w->ctx, numbers, MOTION_GRAIN, move_chunk, &m);
    w->start_time = t0;
    w->end_time = t1;
    if (w->colliders) {
        drape_i_colliders_at(w->colliders, t0, w->start + numbers);
        drape_i_colliders_at(w->colliders, t1, w->end + numbers);
    }
    w->largest = largest_of(m.largest, DRAPE_I_CHUNKS, 0);
    w->largest = largest_of(w->end + numbers, points, largest_of(w->start + numbers, points, w->largest));
}

/* ---- Lists of pairs ---- */

/* Doubles them as needed, so that a list that grows slowly seldom allocates. */
static drape_status make_room(drape_context *ctx, drape_i_pairs *p, int64_t count) {
    if (count <= p->room) return DRAPE_OK;
    drape_i_pairs next = {.count = p->count, .room = count + count / 2};
    if (!DRAPE_NEW_RAW(ctx, next.vertex, next.room) || !DRAPE_NEW_RAW(ctx, next.collider, next.room) ||
        !DRAPE_NEW_RAW(ctx, next.distance, next.room) || !DRAPE_NEW_RAW(ctx, next.round, next.room)) {
        free_pairs(ctx, &next);
        return DRAPE_ERROR_MEMORY;
    }
    if (p->count > 0) {
        memcpy(next.vertex, p->vertex, (size_t)p->count * sizeof *p->vertex);
        memcpy(next.collider, p->collider, (size_t)p->count * sizeof *p->collider);
        memcpy(next.distance, p->distance, (size_t)p->count * sizeof *p->distance);
        memcpy(next.round, p->round, (size_t)p->count * sizeof *p->round);
    }
    free_pairs(ctx, p);
    *p = next;
    return DRAPE_OK;
}

/* Where the pairs of a list of the broad phase go. */
typedef struct taking {
    const drape_i_world *w;
    drape_contact_list list;
    drape_i_pairs *to;
    int64_t first;
} taking;

static double keep_apart(const drape_i_world *w, const int32_t vertex[4], drape_ccd_kind kind, int32_t *collider) {
    int32_t n = w->cloth_vertices, other = kind == DRAPE_CCD_VERTEX_FACE ? 1 : 2;
    int32_t a = vertex[0], b = vertex[other];
    *collider = -1;
    if (a < n && b < n) return drape_i_world_thickness(w, a, b);
    *collider = w->colliders->point_owner[(a < n ? b : a) - n];
    return w->colliders->item[*collider].thickness + 0.5 * w->thickness[a < n ? a : b];
}

static void take_chunk(void *data, int64_t begin, int64_t end) {
    const taking *t = data;
    drape_ccd_kind kind = t->to == &t->w->pairs[DRAPE_CCD_EDGE_EDGE] ? DRAPE_CCD_EDGE_EDGE : DRAPE_CCD_VERTEX_FACE;
    for (int64_t i = begin; i < end; i++) {
        int64_t k = t->first + i;
        memcpy(t->to->vertex[k], t->list.vertex + 4 * i, sizeof t->to->vertex[k]);
        t->to->distance[k] = keep_apart(t->w, t->to->vertex[k], kind, &t->to->collider[k]);
        t->to->round[k] = 0;
    }
}

static drape_status take(drape_i_world *w, const drape_contact_pairs *found, drape_contact_kind from,
                         drape_ccd_kind kind) {
    drape_i_pairs *to = &w->pairs[kind];
    taking t = {w, drape_contact_pairs_list(found, from), to, to->count};
    drape_status status = make_room(w->ctx, to, to->count + t.list.count);
    if (status) return status;
    drape_i_loop(w->ctx, t.list.count, GRAIN, take_chunk, &t);
    to->count += t.list.count;
    return DRAPE_OK;
}

/* ---- Round colliders ---- */

static void box_grow(drape_i_world_box *box, const double *p) {
    for (int32_t k = 0; k < 3; k++) {
        box->low[k] = p[k] < box->low[k] ? p[k] : box->low[k];
        box->high[k] = p[k] > box->high[k] ? p[k] : box->high[k];
    }
}

static drape_i_world_box box_of(const drape_i_world *w, const int32_t *vertex, int32_t count) {
    drape_i_world_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t i = 0; i < count; i++) {
        box_grow(&box, w->start + 3 * (int64_t)vertex[i]);
        box_grow(&box, w->end + 3 * (int64_t)vertex[i]);
    }
    return box;
}

/* Whether two boxes come as near as `distance`, to rounding. */
static bool boxes_meet(const drape_i_world_box *a, const drape_i_world_box *b, double distance) {
    double square = 0;
    for (int32_t k = 0; k < 3; k++) {
        double above = a->low[k] - b->high[k], below = b->low[k] - a->high[k];
        double between = above > below ? above : below;
        square += between > 0 ? between * between : 0;
    }
    return square <= distance * distance;
}

typedef struct boxing {
    drape_i_world *w;
    const int32_t *vertex;
    int32_t each, count, which;
} boxing;

static void box_chunk(void *data, int64_t begin, int64_t end) {
    const boxing *b = data;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i * BLOCK, last = first + BLOCK < b->count ? first + BLOCK : b->count;
        b->w->box[b->which][i] = box_of(b->w, b->vertex + b->each * first, (int32_t)((last - first) * b->each));
    }
}

/* A round collider against the triangles (its points) or the edges (its segment) of the cloth. */
typedef struct meeting {
    drape_i_world *w;
    const int32_t *vertex; /* of the cloth's triangles or edges */
    int32_t each, count, which, collider;
    drape_i_world_box box;
    double distance; /* m: without the cloth's thickness; with the radius */
    double reach;    /* m: at which boxes meet */
} meeting;

/* vertex[4] of the pairs of element i; for triangles, one for each point of the collider. */
static drape_status add_round(const meeting *m, int64_t i) {
    drape_i_world *w = m->w;
    const drape_i_collider *c = &w->colliders->item[m->collider];
    int32_t point = w->cloth_vertices + c->first_point, pairs = m->which == 0 ? c->points : 1;
    drape_i_pairs *to = &w->pairs[m->which];
    drape_status status = make_room(w->ctx, to, to->count + pairs);
    if (status) return status;
    for (int32_t p = 0; p < pairs; p++, to->count++) {
        int32_t *vertex = to->vertex[to->count];
        const int32_t *element = m->vertex + m->each * i;
        if (m->which == 0) {
            vertex[0] = point + p;
            memcpy(vertex + 1, element, 3 * sizeof *vertex);
        } else {
            memcpy(vertex, element, 2 * sizeof *vertex);
            vertex[2] = point;
            vertex[3] = point + 1;
        }
        to->collider[to->count] = m->collider;
        to->distance[to->count] = m->distance + 0.5 * w->thickness[element[0]];
        to->round[to->count] = c->radius;
    }
    return DRAPE_OK;
}

static drape_status meet(const meeting *m) {
    const drape_i_world *w = m->w;
    for (int64_t block = 0; block < w->blocks[m->which]; block++) {
        int64_t first = block * BLOCK, last = first + BLOCK < m->count ? first + BLOCK : m->count;
        if (!boxes_meet(&m->box, &w->box[m->which][block], m->reach)) continue;
        for (int64_t i = first; i < last; i++) {
            drape_i_world_box box = box_of(w, m->vertex + m->each * i, m->each);
            drape_status status = boxes_meet(&m->box, &box, m->reach) ? add_round(m, i) : DRAPE_OK;
            if (status) return status;
        }
    }
    return DRAPE_OK;
}

static drape_status find_round(drape_i_world *w, int32_t collider, double margin) {
    const drape_i_collider *c = &w->colliders->item[collider];
    int32_t point[2] = {w->cloth_vertices + c->first_point, w->cloth_vertices + c->first_point + c->points - 1};
    const int32_t *edge;
    drape_contact_tree_edges(w->cloth, &edge);
    meeting m = {.w = w,
                 .vertex = w->triangle[0],
                 .each = 3,
                 .count = w->triangles,
                 .which = DRAPE_CCD_VERTEX_FACE,
                 .collider = collider,
                 .box = box_of(w, point, 2),
                 .distance = c->radius + c->thickness,
                 .reach = (c->radius + c->thickness + 0.5 * w->thickest + margin) * (1 + 1e-12)};
    drape_status status = meet(&m);
    if (status || c->points < 2) return status;
    m.vertex = edge, m.each = 2, m.count = w->edges, m.which = DRAPE_CCD_EDGE_EDGE;
    return meet(&m);
}

static bool is_round(const drape_i_collider *c) {
    return c->shape == DRAPE_COLLIDER_SPHERE || c->shape == DRAPE_COLLIDER_CAPSULE;
}

static drape_status find_all_round(drape_i_world *w, double margin) {
    bool any = false, segments = false;
    const int32_t *edge;
    for (int32_t i = 0; w->colliders && i < w->colliders->count; i++) {
        any |= is_round(&w->colliders->item[i]);
        segments |= is_round(&w->colliders->item[i]) && w->colliders->item[i].points > 1;
    }
    if (!any) return DRAPE_OK;
    drape_contact_tree_edges(w->cloth, &edge);
    boxing b[2] = {{w, w->triangle[0], 3, w->triangles, 0}, {w, edge, 2, w->edges, 1}};
    for (int32_t k = 0; k < (segments ? 2 : 1); k++) drape_i_loop(w->ctx, w->blocks[k], 16, box_chunk, &b[k]);
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < w->colliders->count && !status; i++)
        if (is_round(&w->colliders->item[i])) status = find_round(w, i, margin);
    return status;
}

/* ---- All pairs ---- */

static double thickest_object(const drape_i_world *w) {
    double most = 0;
    for (int32_t i = 0; i < w->colliders->count; i++) most = fmax(most, w->colliders->item[i].thickness);
    return most;
}

static uint32_t options_of(const drape_i_world *w) { return w->mixed ? 0 : DRAPE_CONTACT_TOGETHER; }

static drape_status find_objects(drape_i_world *w, double margin, double more) {
    int64_t first = 3 * (int64_t)w->cloth_vertices;
    drape_contact_motion motion = {.start = w->start + first, .end = w->end + first};
    motion.margin = thickest_object(w) + 0.5 * margin + more;
    drape_status status = drape_contact_tree_update(w->objects, &motion);
    if (!status) status = drape_contact_tree_against(w->cloth, w->objects, options_of(w), w->met);
    if (!status) status = take(w, w->met, DRAPE_CONTACT_VERTEX_TRIANGLE, DRAPE_CCD_VERTEX_FACE);
    if (!status) status = take(w, w->met, DRAPE_CONTACT_TRIANGLE_VERTEX, DRAPE_CCD_VERTEX_FACE);
    if (!status) status = take(w, w->met, DRAPE_CONTACT_EDGE_EDGE, DRAPE_CCD_EDGE_EDGE);
    return status;
}

static drape_status find_self(drape_i_world *w) {
    drape_status status = drape_contact_tree_self(w->cloth, options_of(w), w->found);
    if (!status) status = take(w, w->found, DRAPE_CONTACT_VERTEX_TRIANGLE, DRAPE_CCD_VERTEX_FACE);
    if (!status) status = take(w, w->found, DRAPE_CONTACT_EDGE_EDGE, DRAPE_CCD_EDGE_EDGE);
    return status;
}

/* What crossed at the start, and may do so until it is apart. */
static bool is_exempt(const drape_i_world *w, drape_ccd_kind kind, const int32_t vertex[4]) {
    int32_t split = kind == DRAPE_CCD_VERTEX_FACE ? 1 : 2;
    bool first = false, second = false;
    for (int32_t k = 0; w->exempt && k < 4; k++)
        if (w->exempt[vertex[k]]) *(k < split ? &first : &second) = true;
    return first && second;
}

/* Whether a stitch joins two vertices of the cloth. */
static bool are_joined(const drape_i_world *w, int32_t a, int32_t b) {
    if (a >= w->cloth_vertices || b >= w->cloth_vertices) return false;
    for (int32_t k = w->joined_first[a]; k < w->joined_first[a + 1]; k++)
        if (w->joined[k] == b) return true;
    return false;
}

static bool is_joined(const drape_i_world *w, drape_ccd_kind kind, const int32_t vertex[4]) {
    int32_t split = kind == DRAPE_CCD_VERTEX_FACE ? 1 : 2;
    for (int32_t i = 0; w->joined_first && i < split; i++)
        for (int32_t j = split; j < 4; j++)
            if (are_joined(w, vertex[i], vertex[j])) return true;
    return false;
}

/* Cloth that is pinched. */
static bool is_aside(const drape_i_world *w, int32_t collider, const int32_t vertex[4]) {
    bool aside = false;
    for (int32_t k = 0; w->aside && collider >= 0 && k < 4; k++)
        aside |= vertex[k] < w->cloth_vertices && drape_i_world_sets_aside(w, vertex[k], collider);
    return aside;
}

/* Vertices that are one point become the first of them. False: the parts have one in common, or the pair is there
 * once more, since the point is the vertex of several. */
static bool merge(const drape_i_world *w, drape_ccd_kind kind, int32_t vertex[4]) {
    const int32_t n = w->cloth_vertices, split = kind == DRAPE_CCD_VERTEX_FACE ? 1 : 2;
    if (split == 1 && vertex[0] < n && w->same[vertex[0]] != vertex[0]) return false;
    for (int32_t i = 0; i < 4; i++)
        if (vertex[i] < n) vertex[i] = w->same[vertex[i]];
    for (int32_t i = 0; i < split; i++)
        for (int32_t j = split; j < 4; j++)
            if (vertex[i] == vertex[j]) return false;
    return true;
}

static void drop_exempt(drape_i_world *w, drape_ccd_kind kind) {
    drape_i_pairs *p = &w->pairs[kind];
    int64_t kept = 0;
    for (int64_t i = 0; i < p->count; i++) {
        const int32_t *v = p->vertex[i];
        if (w->same && !merge(w, kind, p->vertex[i])) continue;
        if (is_exempt(w, kind, v) || is_aside(w, p->collider[i], v) || is_joined(w, kind, v)) continue;
        if (kept == i) {
            kept++;
            continue;
        }
        memmove(p->vertex[kept], v, sizeof p->vertex[kept]);
        p->collider[kept] = p->collider[i];
        p->distance[kept] = p->distance[i];
        p->round[kept++] = p->round[i];
    }
    p->count = kept;
}

void drape_i_world_drop(drape_i_world *w) {
    for (int32_t kind = 0; kind < 2 && (w->exempt || w->aside || w->joined_first || w->same); kind++)
        drop_exempt(w, (drape_ccd_kind)kind);
}

drape_status drape_i_world_find(drape_i_world *w, double margin, double more) {
    drape_contact_motion motion = {.start = w->start, .end = w->end, .margin = 0.5 * (w->thickest + margin)};
    w->pairs[0].count = w->pairs[1].count = 0;
    drape_status status = drape_contact_tree_update(w->cloth, &motion);
    if (!status && w->objects) status = find_objects(w, margin, more);
    if (!status) status = find_all_round(w, margin + more);
    if (!status && w->self) status = find_self(w);
    if (!status) drape_i_world_drop(w);
    return status;
}

/* ---- How near is too near ---- */

double drape_i_world_floor(const drape_i_world *w, double distance, double round) {
    return round + fmax(SHARE * (distance - round), 8 * 0x1p-23 * w->largest);
}
