/* rings.c: see rings.h.
 *
 * Points inside whose neighbours do not determine a quadratic function, as in valence 4, take those beyond the
 * opposite edges in addition. Points of the border stay with their neighbours. Rings lie in material space, where the
 * pattern's seams are borders. */
#include "cloth/rings.h"

#include "base/vec3.h"
#include "cloth/patch.h"

#include <math.h>
#include <stdlib.h>

/* SOUND: singular value from which on a fit is taken as it is. FLAT: rad, the rest angle up to which a hinge counts
 * as flat. */
static const double SOUND = 0.1, FLAT = 1e-3;

typedef drape_i_rings builder;

static int64_t corners(const builder *b) { return 3 * (int64_t)b->in->triangles; }

static void find_flat(builder *b) {
    const drape_i_model_input *in = b->in;
    for (int32_t p = 0, vertex = 0, triangle = 0; p < in->piece_count; p++) {
        b->flat[p] = true;
        b->first_vertex[p] = vertex, b->first_triangle[p] = triangle;
        vertex += in->pieces[p].vertices, triangle += in->pieces[p].triangles;
    }
    for (int32_t i = 0; i < in->hinges->count; i++)
        if (fabs(in->rest_hinge[i].angle) > FLAT) b->flat[in->piece_of_triangle[in->hinges->triangle[i][0]]] = false;
}

/* ---- points of material space ---- */

typedef struct key {
    int32_t vertex, uv;
    int32_t corner;
} key;

static int compare_keys(const void *a, const void *b) {
    const key *p = a, *q = b;
    if (p->vertex != q->vertex) return p->vertex < q->vertex ? -1 : 1;
    if (p->uv != q->uv) return p->uv < q->uv ? -1 : 1;
    return (p->corner > q->corner) - (p->corner < q->corner);
}

static int32_t uv_of(const builder *b, int32_t t, int32_t k) {
    const drape_i_model_input *in = b->in;
    const drape_piece *p = &in->pieces[in->piece_of_triangle[t]];
    const int64_t own = t - b->first_triangle[in->piece_of_triangle[t]];
    return p->uv && p->uv_triangle ? p->uv_triangle[3 * own + k] : 0;
}

static drape_status find_points(builder *b) {
    const int64_t n = corners(b);
    key *keys;
    if (!DRAPE_NEW(b->ctx, keys, n)) return DRAPE_ERROR_MEMORY;
    for (int64_t c = 0; c < n; c++)
        keys[c] = (key){b->in->triangle[c / 3][c % 3], uv_of(b, (int32_t)(c / 3), (int32_t)(c % 3)), (int32_t)c};
    qsort(keys, (size_t)n, sizeof *keys, compare_keys);
    for (int64_t i = 0; i < n; i++) {
        bool again = i > 0 && keys[i].vertex == keys[i - 1].vertex && keys[i].uv == keys[i - 1].uv;
        if (!again)
            b->point[b->count++] = (drape_i_ring_point){
                .vertex = keys[i].vertex, .piece = b->in->piece_of_triangle[keys[i].corner / 3], .first = (int32_t)i};
        b->corner[i] = keys[i].corner;
        b->point_of[keys[i].corner] = b->count - 1;
        b->point[b->count - 1].area += b->in->rest_triangle[keys[i].corner / 3].area / 3;
    }
    b->point[b->count].first = (int32_t)n;
    DRAPE_FREE(b->ctx, keys, n);
    return DRAPE_OK;
}

/* The corner of triangle t at a vertex. */
static int32_t corner_at(const builder *b, int32_t t, int32_t vertex) {
    const int32_t *c = b->in->triangle[t];
    return 3 * t + (c[0] == vertex ? 0 : c[1] == vertex ? 1 : 2);
}

bool drape_i_rings_joins(const builder *b, int32_t hinge) {
    const int32_t *node = b->in->hinges->node[hinge], *t = b->in->hinges->triangle[hinge];
    for (int32_t e = 0; e < 2; e++)
        if (b->point_of[corner_at(b, t[0], node[e])] != b->point_of[corner_at(b, t[1], node[e])]) return false;
    return true;
}

static void find_borders(builder *b) {
    const drape_i_hinges *hinges = b->in->hinges;
    for (int64_t c = 0; c < corners(b); c++) b->hinge_of[c] = -1;
    for (int32_t i = 0; i < hinges->count; i++) {
        const int32_t *node = hinges->node[i], *t = hinges->triangle[i];
        if (!drape_i_rings_joins(b, i)) continue;
        for (int32_t side = 0; side < 2; side++) b->hinge_of[corner_at(b, t[side], node[2 + side])] = i;
    }
    for (int32_t i = 0; i < b->count; i++) { /* inside, where both edges of every triangle are joined */
        b->point[i].inside = true;
        for (int32_t c = b->point[i].first; c < b->point[i + 1].first; c++) {
            int32_t t = b->corner[c] / 3, k = b->corner[c] % 3;
            if (b->hinge_of[3 * t + (k + 1) % 3] < 0 || b->hinge_of[3 * t + (k + 2) % 3] < 0)
                b->point[i].inside = false;
        }
    }
}

/* ---- rings ---- */

static void add_node(int32_t *nodes, int32_t *count, int32_t which) {
    for (int32_t i = 0; i < *count; i++)
        if (nodes[i] == which) return;
    if (*count < DRAPE_I_RING_NODES) nodes[(*count)++] = which;
}

static void add_ring(const builder *b, int32_t center, int32_t *nodes, int32_t *count) {
    for (int32_t c = b->point[center].first; c < b->point[center + 1].first; c++) {
        int32_t t = b->corner[c] / 3;
        for (int32_t k = 0; k < 3; k++) add_node(nodes, count, b->point_of[3 * t + k]);
    }
}

/* The points beyond the edges opposite to the center. */
static void add_flaps(const builder *b, int32_t center, int32_t *nodes, int32_t *count) {
    for (int32_t c = b->point[center].first; c < b->point[center + 1].first; c++) {
        int32_t hinge = b->hinge_of[b->corner[c]], t = b->corner[c] / 3;
        if (hinge < 0) continue;
        int32_t side = b->in->hinges->triangle[hinge][0] == t;
        int32_t other = b->in->hinges->triangle[hinge][side];
        add_node(nodes, count, b->point_of[corner_at(b, other, b->in->hinges->node[hinge][2 + side])]);
    }
}

/* Material coordinates of the points, those of pieces without uv in the plane of the center's first triangle. */
static void find_coordinates(const builder *b, int32_t count, const int32_t *nodes, double *y) {
    const drape_i_ring_point *center = &b->point[nodes[0]];
    const drape_piece *p = &b->in->pieces[center->piece];
    const drape_i_rest_triangle *rest = &b->in->rest_triangle[b->corner[center->first] / 3];
    const int32_t *c = b->in->triangle[b->corner[center->first] / 3];
    const int32_t start = b->first_vertex[center->piece];
    vec3 u = {0}, v = {0};
    for (int32_t k = 0; k < 3 && !p->uv; k++) {
        vec3 x = vec3_at(p->rest + 3 * (int64_t)(c[k] - start));
        u = vec3_add(u, vec3_scale(rest->du[k], x));
        v = vec3_add(v, vec3_scale(rest->dv[k], x));
    }
    for (int32_t i = 0; i < count; i++) {
        const drape_i_ring_point *at = &b->point[nodes[i]];
        int32_t corner = b->corner[at->first];
        if (p->uv) {
            int64_t m = p->uv_triangle ? uv_of(b, corner / 3, corner % 3) : at->vertex - start;
            y[2 * i] = p->uv[2 * m], y[2 * i + 1] = p->uv[2 * m + 1];
        } else {
            vec3 x = vec3_sub(vec3_at(p->rest + 3 * (int64_t)(at->vertex - start)),
                              vec3_at(p->rest + 3 * (int64_t)(center->vertex - start)));
            y[2 * i] = vec3_dot(x, u), y[2 * i + 1] = vec3_dot(x, v);
        }
    }
}

double drape_i_rings_fit(builder *b, int32_t count, const int32_t *nodes, double *h) {
    find_coordinates(b, count, nodes, b->y);
    return drape_i_patch_fit(count, b->y, b->C, b->residual, h, b->work);
}

static int compare_points(const void *a, const void *b) {
    const int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

int32_t drape_i_rings_nodes(builder *b, int32_t center, int32_t *nodes) {
    int32_t count = 0;
    double h;
    nodes[count++] = center;
    add_ring(b, center, nodes, &count);
    if (b->point[center].inside && drape_i_rings_fit(b, count, nodes, &h) < SOUND)
        add_flaps(b, center, nodes, &count);
    if (b->point[center].inside && drape_i_rings_fit(b, count, nodes, &h) < SOUND)
        for (int32_t i = 1, ring = count; i < ring; i++) add_ring(b, nodes[i], nodes, &count);
    qsort(nodes + 1, (size_t)count - 1, sizeof *nodes, compare_points);
    return count;
}

/* ---- all of it ---- */

static bool allocate(builder *b) {
    drape_context *ctx = b->ctx;
    const int64_t n = corners(b), most = DRAPE_I_RING_NODES;
    return DRAPE_NEW(ctx, b->flat, b->in->piece_count) && DRAPE_NEW(ctx, b->first_vertex, b->in->piece_count) &&
           DRAPE_NEW(ctx, b->first_triangle, b->in->piece_count) && DRAPE_NEW(ctx, b->point_of, n) &&
           DRAPE_NEW(ctx, b->corner, n) && DRAPE_NEW(ctx, b->hinge_of, n) && DRAPE_NEW(ctx, b->point, n + 1) &&
           DRAPE_NEW(ctx, b->y, 2 * most) && DRAPE_NEW(ctx, b->C, 3 * most) &&
           DRAPE_NEW(ctx, b->residual, most * most) && DRAPE_NEW(ctx, b->work, 9 * most);
}

void drape_i_rings_clear(builder *b) {
    drape_context *ctx = b->ctx;
    const int64_t n = corners(b), most = DRAPE_I_RING_NODES;
    DRAPE_FREE(ctx, b->flat, b->in->piece_count);
    DRAPE_FREE(ctx, b->first_vertex, b->in->piece_count);
    DRAPE_FREE(ctx, b->first_triangle, b->in->piece_count);
    DRAPE_FREE(ctx, b->point_of, n);
    DRAPE_FREE(ctx, b->corner, n);
    DRAPE_FREE(ctx, b->hinge_of, n);
    DRAPE_FREE(ctx, b->point, n + 1);
    DRAPE_FREE(ctx, b->y, 2 * most);
    DRAPE_FREE(ctx, b->C, 3 * most);
    DRAPE_FREE(ctx, b->residual, most * most);
    DRAPE_FREE(ctx, b->work, 9 * most);
}

drape_status drape_i_rings_create(drape_context *ctx, const drape_i_model_input *input, drape_i_rings *out) {
    *out = (drape_i_rings){.ctx = ctx, .in = input};
    drape_status status = allocate(out) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
    if (!status) find_flat(out), status = find_points(out);
    if (!status) find_borders(out);
    return status;
}
