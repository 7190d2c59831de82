/* nodal.c: the matrices of the membrane `nodal`. nodal_evaluate.c has its forces.
 *
 * The metric of vertex v is the mean over its triangles t, with weights a_t / sum a_t (a_t area in material space),
 *     G_ij(v) = mean_t (w_i . w_j)_t + arc_ij(v),   i, j one of u and v,   w_u = sum_k du_k x_k (bw_triangle_simd.c).
 * It has two stiff conditions per vertex, sqrt(G_uu) - 1 and sqrt(G_vv) - 1, where triangles have four: so cloth
 * folds on meshes whose edges do not follow the threads. (Dohrmann et al. 2000 average strains in this way.)
 *
 * The arc. Triangles are inscribed in the sheet, and their edges are chords. C(y, y) are the second derivatives at v
 * of the quadratic function nearest to its ring (patch_fit.c). An edge e is then the chord of an arc whose length
 * squared is |x_e|^2 + |C(e, e)|^2/12, up to terms of sixth order. As (w_i . w_j)_t = -sum_{k<l} m_kl |x_k - x_l|^2
 * with m_kl = (d_ik d_jl + d_il d_jk)/2, the metric of the sheet is that of the triangle and arc_ij = -1/12 mean_t
 * sum_{k<l} m_kl |C(e_kl, e_kl)|^2. Without it a thread that crosses tilted triangles seems longer than it is: where
 * a curtain folds, its lower edge rises. The arc of a thread that bends itself is the term |C_ii|^2 in G_ii. Without
 * that one, sharp folds along edges that follow the threads are free, and cloth is softer on such meshes than on
 * others. Pieces that are curved at rest have no arcs: the lengths of their edges are those of the material.
 *
 * Both are quadratic in the positions of the ring, G = x' Q x, with a constant matrix Q per condition whose rows sum
 * to zero. Q is P - N with P and N positive semidefinite, P the sum of the terms with a positive factor. The matrices
 * are not stored, only what they are made of: du and dv of the triangles, and for the arcs the rows C of the fit,
 *     sum_kl f_kl |C(e_kl, e_kl)|^2 = sum_ab A_ab (C_a x).(C_b x),   a, b one of 11, 22, 12,
 * with a 3x3 matrix A for each of Q and P. That is some 750 bytes per vertex.
 *
 * Triangles keep a small share of their energy, which holds what the mean does not see. It resists folding as
 * triangles do: shares above a ten-thousandth make silk stiff on a Cusick disc (docs/notes/models.md). */
#include "cloth/nodal.h"

#include "cloth/rings.h"
#include "sparse/matrix.h"

#include <math.h>

enum { N = DRAPE_I_RING_NODES, CONDITIONS = DRAPE_I_NODAL_CONDITIONS, ARC = DRAPE_I_NODAL_ARC };

void drape_i_nodal_destroy(drape_context *ctx, drape_i_nodal *q) {
    if (!q) return;
    DRAPE_FREE(ctx, q->first, (int64_t)q->points + 1);
    DRAPE_FREE(ctx, q->fan, (int64_t)q->points + 1);
    DRAPE_FREE(ctx, q->fit, q->padded ? 3 * q->padded[q->points] : 0);
    DRAPE_FREE(ctx, q->padded, (int64_t)q->points + 1);
    DRAPE_FREE(ctx, q->square, (int64_t)q->points + 1);
    DRAPE_FREE(ctx, q->node, q->entries);
    DRAPE_FREE(ctx, q->point_of, q->entries);
    DRAPE_FREE(ctx, q->triangle, q->room);
    DRAPE_FREE(ctx, q->arc, ARC * (int64_t)q->points);
    DRAPE_FREE(ctx, q->stiffness, CONDITIONS * (int64_t)q->points);
    DRAPE_FREE(ctx, q->damping, CONDITIONS * (int64_t)q->points);
    DRAPE_FREE(ctx, q->row, (int64_t)q->vertices + 2);
    DRAPE_FREE(ctx, q->row_entry, q->entries);
    DRAPE_FREE(ctx, q, 1);
}

/* ---- the matrices of a point ---- */

typedef struct builder {
    drape_i_rings rings;
    drape_i_nodal *q;
    int32_t n, node[N]; /* of the point */
    double *arc;        /* likewise; NULL: it has none */
} builder;

/* Which of the ring's points the corners of a triangle are; false: the ring is too large to hold all of them. */
static bool find_corners(const builder *b, int32_t t, int32_t at[3]) {
    for (int32_t k = 0; k < 3; k++) {
        const int32_t which = b->rings.point_of[3 * (int64_t)t + k];
        at[k] = 0;
        while (at[k] < b->n && b->node[at[k]] != which) at[k]++;
        if (at[k] == b->n) return false;
    }
    return true;
}

/* Adds f C(e, e)' C(e, e) to a condition's matrices, with C(e, e) = sum_a g_a C_a. */
static void add_arc(builder *b, int32_t condition, double f, const double g[3]) {
    const double squares[6] = {g[0] * g[0], g[1] * g[1], g[2] * g[2], g[0] * g[1], g[0] * g[2], g[1] * g[2]};
    double *Q = b->arc + 6 * condition, *P = b->arc + 6 * (CONDITIONS + condition);
    for (int32_t i = 0; i < 6; i++) {
        Q[i] += f * squares[i];
        if (f > 0) P[i] += f * squares[i];
    }
}

/* The edge from corner k to l of a triangle of the weight w. */
static void add_edge(builder *b, double w, const drape_i_rest_triangle *rest, int32_t k, int32_t l,
                     const int32_t at[3]) {
    const double *d[2] = {rest->du, rest->dv}, *y = b->rings.y;
    const double e1 = y[2 * at[l]] - y[2 * at[k]], e2 = y[2 * at[l] + 1] - y[2 * at[k] + 1];
    const double g[3] = {e1 * e1, e2 * e2, 2 * e1 * e2};
    for (int32_t s = 0; s < 2; s++) add_arc(b, s, -w / 12 * (d[s][k] * d[s][l]), g);
    add_arc(b, 2, -w / 24 * (rest->du[k] * rest->dv[l] + rest->du[l] * rest->dv[k]), g);
}

static void add_triangle(builder *b, double w, int32_t t, const int32_t at[3]) {
    const drape_i_rest_triangle *rest = &b->rings.in->rest_triangle[t];
    drape_i_nodal_triangle *to = &b->q->triangle[b->q->triangles++];
    const int32_t center = at[0] == 0 ? 0 : at[1] == 0 ? 1 : 2;
    for (int32_t i = 0; i < 2; i++) {
        const int32_t k = (center + 1 + i) % 3;
        to->at[i] = at[k];
        to->du[i] = sqrt(w) * rest->du[k], to->dv[i] = sqrt(w) * rest->dv[k];
    }
    if (!b->arc) return;
    add_edge(b, w, rest, 0, 1, at);
    add_edge(b, w, rest, 0, 2, at);
    add_edge(b, w, rest, 1, 2, at);
}

static void add_material(builder *b, int32_t p, int32_t t) {
    const drape_material *m = b->rings.in->material[t];
    const double a = (1 - DRAPE_I_NODAL_ALONE) * b->rings.in->rest_triangle[t].area / 3;
    double *k = b->q->stiffness + CONDITIONS * (int64_t)p, *c = b->q->damping + CONDITIONS * (int64_t)p;
    for (int32_t s = 0; s < 2; s++) k[s] += a * m->stretch[s], c[s] += a * m->stretch[s] * m->damping_stretch;
    k[2] += a * m->shear, c[2] += a * m->shear * m->damping_shear;
}

/* Its rows sum to zero. */
static void keep_fit(builder *b, int32_t p) {
    const int64_t room = b->q->padded[p + 1] - b->q->padded[p];
    for (int32_t a = 0; a < 3; a++) {
        double *row = b->q->fit + 3 * b->q->padded[p] + a * room;
        for (int32_t i = 1; i < b->n; i++) {
            row[i] = b->rings.C[a * b->n + i];
            row[0] -= row[i];
        }
    }
}

static void fill_point(builder *b, int32_t p) {
    const drape_i_ring_point *point = &b->rings.point[p];
    double h, area = 0;
    int32_t at[3];
    const bool arcs = b->rings.flat[point->piece];
    b->arc = arcs ? b->q->arc + ARC * (int64_t)p : NULL;
    drape_i_rings_fit(&b->rings, b->n, b->node, &h);
    if (arcs) keep_fit(b, p);
    for (int32_t e = point->first; e < b->rings.point[p + 1].first; e++)
        if (find_corners(b, b->rings.corner[e] / 3, at))
            area += b->rings.in->rest_triangle[b->rings.corner[e] / 3].area;
    for (int32_t e = point->first; e < b->rings.point[p + 1].first; e++) {
        const int32_t t = b->rings.corner[e] / 3;
        if (find_corners(b, t, at)) add_triangle(b, b->rings.in->rest_triangle[t].area / area, t, at);
        add_material(b, p, t);
    }
}

/* ---- all of them ---- */

static bool find_rows(drape_context *ctx, drape_i_nodal *q) {
    if (!DRAPE_NEW(ctx, q->row, (int64_t)q->vertices + 2) || !DRAPE_NEW(ctx, q->row_entry, q->entries)) return false;
    int64_t *next = q->row + 1;
    for (int64_t e = 0; e < q->entries; e++) next[q->node[e] + 1]++;
    for (int32_t i = 0; i < q->vertices; i++) next[i + 1] += next[i];
    for (int64_t e = 0; e < q->entries; e++) q->row_entry[next[q->node[e]]++] = e;
    return true;
}

static bool count_entries(drape_context *ctx, builder *b) {
    drape_i_nodal *q = b->q;
    q->points = b->rings.count;
    q->room = 3 * (int64_t)b->rings.in->triangles;
    if (!DRAPE_NEW(ctx, q->first, (int64_t)q->points + 1) || !DRAPE_NEW(ctx, q->fan, (int64_t)q->points + 1) ||
        !DRAPE_NEW(ctx, q->padded, (int64_t)q->points + 1) || !DRAPE_NEW(ctx, q->square, (int64_t)q->points + 1))
        return false;
    for (int32_t p = 0; p < q->points; p++) {
        const int64_t n = drape_i_rings_nodes(&b->rings, p, b->node);
        const int64_t room = (n + DRAPE_I_LANES - 1) / DRAPE_I_LANES * DRAPE_I_LANES;
        q->first[p + 1] = q->first[p] + n;
        q->padded[p + 1] = q->padded[p] + room;
        q->square[p + 1] = q->square[p] + n * room;
    }
    q->entries = q->first[q->points], q->pairs = q->square[q->points];
    return DRAPE_NEW(ctx, q->node, q->entries) && DRAPE_NEW(ctx, q->point_of, q->entries) &&
           DRAPE_NEW(ctx, q->triangle, q->room) && DRAPE_NEW(ctx, q->fit, 3 * q->padded[q->points]) &&
           DRAPE_NEW(ctx, q->arc, ARC * (int64_t)q->points) &&
           DRAPE_NEW(ctx, q->stiffness, CONDITIONS * (int64_t)q->points) &&
           DRAPE_NEW(ctx, q->damping, CONDITIONS * (int64_t)q->points);
}

static drape_status build(drape_context *ctx, builder *b) {
    drape_i_nodal *q = b->q;
    if (!count_entries(ctx, b)) return DRAPE_ERROR_MEMORY;
    for (int32_t p = 0; p < q->points; p++) {
        b->n = drape_i_rings_nodes(&b->rings, p, b->node);
        for (int32_t i = 0; i < b->n; i++) {
            q->node[q->first[p] + i] = b->rings.point[b->node[i]].vertex;
            q->point_of[q->first[p] + i] = p;
        }
        fill_point(b, p);
        q->fan[p + 1] = q->triangles;
    }
    return find_rows(ctx, q) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

drape_status drape_i_nodal_create(drape_context *ctx, const drape_i_model_input *input, drape_i_nodal **out) {
    builder *b;
    *out = NULL;
    if (!DRAPE_NEW(ctx, b, 1)) return DRAPE_ERROR_MEMORY;
    drape_status status = drape_i_rings_create(ctx, input, &b->rings);
    if (!status && !DRAPE_NEW(ctx, b->q, 1)) status = DRAPE_ERROR_MEMORY;
    if (!status) b->q->vertices = input->vertices, status = build(ctx, b);
    drape_i_rings_clear(&b->rings);
    if (status) drape_i_nodal_destroy(ctx, b->q);
    else *out = b->q;
    DRAPE_FREE(ctx, b, 1);
    return status;
}

/* ---- for the pattern of a matrix ---- */

drape_status drape_i_nodal_pairs(drape_context *ctx, const drape_i_nodal *q, int32_t **pairs, int32_t *count) {
    int64_t next = 0, total = 0;
    *count = 0;
    *pairs = NULL;
    for (int32_t p = 0; p < q->points; p++) {
        const int64_t n = q->first[p + 1] - q->first[p];
        total += n * (n - 1) / 2;
    }
    if (total > INT32_MAX)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "the membrane couples %lld pairs of vertices, which are too many", (long long)total);
    if (!DRAPE_NEW(ctx, *pairs, 2 * total)) return DRAPE_ERROR_MEMORY;
    for (int32_t p = 0; p < q->points; p++)
        for (int64_t a = q->first[p]; a < q->first[p + 1]; a++)
            for (int64_t c = a + 1; c < q->first[p + 1]; c++)
                (*pairs)[next++] = q->node[a], (*pairs)[next++] = q->node[c];
    *count = (int32_t)total;
    return DRAPE_OK;
}

void drape_i_nodal_find_slots(const drape_i_nodal *q, const drape_bsr3 *pattern, int32_t *slot) {
    for (int32_t p = 0; p < q->points; p++) {
        const int64_t n = q->first[p + 1] - q->first[p], room = q->padded[p + 1] - q->padded[p];
        const int32_t *node = q->node + q->first[p];
        int32_t *to = slot + q->square[p];
        for (int64_t a = 0; a < n; a++)
            for (int64_t c = 0; c < n; c++) {
                const int64_t block = drape_i_matrix_find(pattern, node[a], node[c]);
                DRAPE_ASSERT(block >= 0);
                to[a * room + c] = (int32_t)(block - pattern->rowptr[node[a]]);
            }
    }
}
