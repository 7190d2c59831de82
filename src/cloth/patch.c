/* patch.c: bending from second derivatives in material space, from a patch of vertices around each vertex.
 *
 * At each vertex v the quadratic function nearest to the positions of v and its neighbours is fitted (patch_fit.c).
 * x,ij(v) = sum_k C^ij_k x_k are its second derivatives, and r_k is what it does not fit. With A_v the vertex's area,
 * h the patch's size and B = sqrt(B_u B_v),
 *
 *     E = sum_v A_v/2 (B_u |x,11|^2 + B_v |x,22|^2 + 2 B_t |x,12|^2 + STABLE B/h^4 sum_k |r_k|^2).
 *
 * The first part is exact for constant curvature on every mesh. The second vanishes there, and resists the shapes
 * that the fit does not see (the idea of virtual elements, Beirao da Veiga et al. 2013). Cloth that does not stretch
 * has second derivatives along its normal, so |x,ij|^2 is the square of a curvature. Then E, which is quadratic in x,
 * is the bending energy (Bergou et al. 2006 do the same to hinges). E is the same for x in any frame, and does not
 * see a linear map. Damping goes by the angles of hinges (baraff_witkin.c).
 *
 * Interior vertices whose neighbours do not determine a quadratic function, as in valence 4, take the vertices beyond
 * the opposite edges in addition. Vertices of the border stay with their neighbours. The curvature across the border
 * is 0 there, as it is where nothing bends a free edge. So a strip whose first two columns are held is clamped in the
 * middle between them.
 *
 * Patches lie in material space, where the pattern's seams are borders; hinges hold the pieces together across them.
 */
#include "cloth/patch.h"

#include "base/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* STABLE: bending of cantilevers in all directions, on all kinds of meshes, is nearest to theory between 20 and 40
 * (docs/notes/models.md). SOUND: singular value from which on a fit is taken as it is. FLAT: rad, the rest angle up
 * to which a hinge counts as flat. */
static const double STABLE = 25, SOUND = 0.1, FLAT = 1e-3;
enum { MOST_NODES = 48 }; /* of a patch: of more neighbours, some are left out */

/* A point of material space: a vertex as the triangles on one side of a seam see it. */
typedef struct point {
    int32_t vertex, piece;
    int32_t first; /* of its corners in `corner` */
    bool inside;   /* no border of the pattern goes through it */
    double area;
} point;

typedef struct builder {
    drape_context *ctx;
    const drape_i_model_input *in;
    bool *flat; /* per piece: has patches */
    int32_t point_count;
    int32_t *point_of; /* per corner */
    int32_t *corner;   /* corners of each point, one point after the other */
    int32_t *hinge_of; /* per corner: the hinge at the edge opposite to it, -1: none that joins material space */
    int32_t *first_vertex, *first_triangle; /* per piece */
    point *points;                          /* point_count + 1 */
    int64_t *first, room;                   /* the patches */
    int32_t *node, *node_point;
    int32_t *center; /* of each patch, its point */
    double *y, *C, *residual, *work;
} builder;

static int64_t corners(const builder *b) { return 3 * (int64_t)b->in->triangles; }

/* ---- which pieces ---- */

static bool has_bending(const drape_material *m) {
    return m->bend_hinge == 0 && (m->bend > 0 || m->bend_weft > 0 || m->bend_twist > 0);
}

static void find_flat(builder *b) {
    const drape_i_model_input *in = b->in;
    for (int32_t p = 0, vertex = 0, triangle = 0; p < in->piece_count; p++) {
        b->flat[p] = has_bending(&in->pieces[p].material) && !in->pieces[p].materials;
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
            b->points[b->point_count++] = (point){
                .vertex = keys[i].vertex, .piece = b->in->piece_of_triangle[keys[i].corner / 3], .first = (int32_t)i};
        b->corner[i] = keys[i].corner;
        b->point_of[keys[i].corner] = b->point_count - 1;
        b->points[b->point_count - 1].area += b->in->rest_triangle[keys[i].corner / 3].area / 3;
    }
    b->points[b->point_count].first = (int32_t)n;
    DRAPE_FREE(b->ctx, keys, n);
    return DRAPE_OK;
}

/* The corner of triangle t at a vertex. */
static int32_t corner_at(const builder *b, int32_t t, int32_t vertex) {
    const int32_t *c = b->in->triangle[t];
    return 3 * t + (c[0] == vertex ? 0 : c[1] == vertex ? 1 : 2);
}

/* Whether both triangles of a hinge see its edge at the same points. */
static bool joins(const builder *b, int32_t hinge) {
    const int32_t *node = b->in->hinges->node[hinge], *t = b->in->hinges->triangle[hinge];
    for (int32_t e = 0; e < 2; e++)
        if (b->point_of[corner_at(b, t[0], node[e])] != b->point_of[corner_at(b, t[1], node[e])]) return false;
    return true;
}

static void find_borders(builder *b, bool *covered) {
    const drape_i_hinges *hinges = b->in->hinges;
    for (int64_t c = 0; c < corners(b); c++) b->hinge_of[c] = -1;
    for (int32_t i = 0; i < hinges->count; i++) {
        const int32_t *node = hinges->node[i], *t = hinges->triangle[i];
        covered[i] = b->flat[b->in->piece_of_triangle[t[0]]] && joins(b, i);
        for (int32_t side = 0; side < 2 && covered[i]; side++) b->hinge_of[corner_at(b, t[side], node[2 + side])] = i;
    }
    for (int32_t i = 0; i < b->point_count; i++) { /* inside, where both edges of every triangle are joined */
        b->points[i].inside = true;
        for (int32_t c = b->points[i].first; c < b->points[i + 1].first; c++) {
            int32_t t = b->corner[c] / 3, k = b->corner[c] % 3;
            if (b->hinge_of[3 * t + (k + 1) % 3] < 0 || b->hinge_of[3 * t + (k + 2) % 3] < 0)
                b->points[i].inside = false;
        }
    }
}

/* ---- patches ---- */

static void add_node(int32_t *nodes, int32_t *count, int32_t which) {
    for (int32_t i = 0; i < *count; i++)
        if (nodes[i] == which) return;
    if (*count < MOST_NODES) nodes[(*count)++] = which;
}

static void add_ring(const builder *b, int32_t center, int32_t *nodes, int32_t *count) {
    for (int32_t c = b->points[center].first; c < b->points[center + 1].first; c++) {
        int32_t t = b->corner[c] / 3;
        for (int32_t k = 0; k < 3; k++) add_node(nodes, count, b->point_of[3 * t + k]);
    }
}

/* The points beyond the edges opposite to the center. */
static void add_flaps(const builder *b, int32_t center, int32_t *nodes, int32_t *count) {
    for (int32_t c = b->points[center].first; c < b->points[center + 1].first; c++) {
        int32_t hinge = b->hinge_of[b->corner[c]], t = b->corner[c] / 3;
        if (hinge < 0) continue;
        int32_t side = b->in->hinges->triangle[hinge][0] == t;
        int32_t other = b->in->hinges->triangle[hinge][side];
        add_node(nodes, count, b->point_of[corner_at(b, other, b->in->hinges->node[hinge][2 + side])]);
    }
}

/* Material coordinates of the points, those of pieces without uv in the plane of the center's first triangle. */
static void find_coordinates(const builder *b, int32_t count, const int32_t *nodes, double *y) {
    const point *center = &b->points[nodes[0]];
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
        const point *at = &b->points[nodes[i]];
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

static double fit(builder *b, int32_t count, const int32_t *nodes, double *h) {
    find_coordinates(b, count, nodes, b->y);
    return drape_i_patch_fit(count, b->y, b->C, b->residual, h, b->work);
}

static int compare_points(const void *a, const void *b) {
    const int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

/* The center, then its neighbours in ascending order. */
static int32_t choose_nodes(builder *b, int32_t center, int32_t *nodes) {
    int32_t count = 0;
    double h;
    nodes[count++] = center;
    add_ring(b, center, nodes, &count);
    if (b->points[center].inside && fit(b, count, nodes, &h) < SOUND) add_flaps(b, center, nodes, &count);
    if (b->points[center].inside && fit(b, count, nodes, &h) < SOUND)
        for (int32_t i = 1, ring = count; i < ring; i++) add_ring(b, nodes[i], nodes, &count);
    qsort(nodes + 1, (size_t)count - 1, sizeof *nodes, compare_points);
    return count;
}

static bool make_room(builder *b, int64_t used) {
    if (used + MOST_NODES <= b->room) return true;
    int64_t room = 2 * b->room + 1024 * MOST_NODES;
    int32_t *node;
    if (!DRAPE_NEW(b->ctx, node, room)) return false;
    if (used > 0) memcpy(node, b->node_point, (size_t)used * sizeof *node);
    DRAPE_FREE(b->ctx, b->node_point, b->room);
    b->node_point = node;
    b->room = room;
    return true;
}

static drape_status choose_patches(builder *b, int32_t *count) {
    *count = 0;
    for (int32_t i = 0; i < b->point_count; i++) {
        if (!b->flat[b->points[i].piece]) continue;
        if (!make_room(b, b->first[*count])) return DRAPE_ERROR_MEMORY;
        b->center[*count] = i;
        b->first[*count + 1] = b->first[*count] + choose_nodes(b, i, b->node_point + b->first[*count]);
        (*count)++;
    }
    if (!DRAPE_NEW(b->ctx, b->node, b->room)) return DRAPE_ERROR_MEMORY;
    for (int64_t i = 0; i < b->first[*count]; i++) b->node[i] = b->points[b->node_point[i]].vertex;
    return DRAPE_OK;
}

static drape_status fill(void *data, int32_t patch, double *matrix) {
    builder *b = data;
    const int32_t n = (int32_t)(b->first[patch + 1] - b->first[patch]);
    const point *center = &b->points[b->center[patch]];
    const drape_material *m = &b->in->pieces[center->piece].material;
    const double weft = m->bend_weft > 0 ? m->bend_weft : m->bend,
                 twist = m->bend_twist > 0 ? m->bend_twist : m->bend;
    double h;
    fit(b, n, b->node_point + b->first[patch], &h);
    const double *u = b->C, *v = b->C + n, *w = b->C + 2 * (int64_t)n;
    const double hold = STABLE * sqrt(m->bend * weft) / (h * h * h * h);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            matrix[(int64_t)i * n + j] =
                center->area * (((m->bend * u[i] * u[j] + weft * v[i] * v[j]) + 2 * twist * w[i] * w[j]) +
                                hold * b->residual[(int64_t)i * n + j]);
    return DRAPE_OK;
}

/* ---- all of it ---- */

static bool allocate(builder *b) {
    drape_context *ctx = b->ctx;
    const int64_t n = corners(b), most = MOST_NODES;
    return DRAPE_NEW(ctx, b->flat, b->in->piece_count) && DRAPE_NEW(ctx, b->first_vertex, b->in->piece_count) &&
           DRAPE_NEW(ctx, b->first_triangle, b->in->piece_count) && DRAPE_NEW(ctx, b->point_of, n) &&
           DRAPE_NEW(ctx, b->corner, n) && DRAPE_NEW(ctx, b->hinge_of, n) && DRAPE_NEW(ctx, b->points, n + 1) &&
           DRAPE_NEW(ctx, b->first, n + 1) && DRAPE_NEW(ctx, b->center, n) && DRAPE_NEW(ctx, b->y, 2 * most) &&
           DRAPE_NEW(ctx, b->C, 3 * most) && DRAPE_NEW(ctx, b->residual, most * most) &&
           DRAPE_NEW(ctx, b->work, 9 * most);
}

static void clear(builder *b) {
    drape_context *ctx = b->ctx;
    const int64_t n = corners(b), most = MOST_NODES;
    DRAPE_FREE(ctx, b->flat, b->in->piece_count);
    DRAPE_FREE(ctx, b->first_vertex, b->in->piece_count);
    DRAPE_FREE(ctx, b->first_triangle, b->in->piece_count);
    DRAPE_FREE(ctx, b->point_of, n);
    DRAPE_FREE(ctx, b->corner, n);
    DRAPE_FREE(ctx, b->hinge_of, n);
    DRAPE_FREE(ctx, b->points, n + 1);
    DRAPE_FREE(ctx, b->first, n + 1);
    DRAPE_FREE(ctx, b->center, n);
    DRAPE_FREE(ctx, b->y, 2 * most);
    DRAPE_FREE(ctx, b->C, 3 * most);
    DRAPE_FREE(ctx, b->residual, most * most);
    DRAPE_FREE(ctx, b->work, 9 * most);
    DRAPE_FREE(ctx, b->node, b->room);
    DRAPE_FREE(ctx, b->node_point, b->room);
}

drape_status drape_i_patch_create(drape_context *ctx, const drape_i_model_input *input, bool *covered,
                                  drape_i_quadratic **out) {
    builder b = {.ctx = ctx, .in = input};
    int32_t count = 0;
    *out = NULL;
    drape_status status = allocate(&b) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
    if (!status) find_flat(&b), status = find_points(&b);
    if (!status) find_borders(&b, covered), status = choose_patches(&b, &count);
    const drape_i_patches patches = {count, b.first, b.node, &b, fill};
    if (!status && count > 0) status = drape_i_quadratic_create(ctx, input->vertices, &patches, out);
    clear(&b);
    return status;
}
