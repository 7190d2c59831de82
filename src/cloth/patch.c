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
 * see a linear map. Damping uses the angles of hinges (baraff_witkin.c).
 *
 * rings.c says which vertices there are around a vertex. At a border the curvature across it is 0, as it is where
 * nothing bends a free edge. So a strip whose first two columns are held is clamped in the middle between them.
 *
 * Patches lie in material space, where the pattern's seams are borders; hinges hold the pieces together across them.
 */
#include "cloth/patch.h"

#include "cloth/rings.h"

#include <math.h>
#include <string.h>

/* Bending of cantilevers in all directions, on all kinds of meshes, is nearest to theory between 20 and 40
 * (docs/notes/models.md). */
static const double STABLE = 25;

typedef struct builder {
    drape_context *ctx;
    const drape_i_model_input *in;
    drape_i_rings rings;
    int64_t *first, room; /* the patches */
    int32_t *node, *node_point;
    int32_t *center; /* of each patch, its point */
} builder;

/* ---- which pieces ---- */

static bool has_bending(const drape_material *m) {
    return m->bend_hinge == 0 && (m->bend > 0 || m->bend_weft > 0 || m->bend_twist > 0);
}

static bool has_patches(const builder *b, int32_t piece) {
    const drape_piece *p = &b->in->pieces[piece];
    return b->rings.flat[piece] && has_bending(&p->material) && !p->materials;
}

static void find_covered(const builder *b, bool *covered) {
    const drape_i_hinges *hinges = b->in->hinges;
    for (int32_t i = 0; i < hinges->count; i++)
        covered[i] =
            has_patches(b, b->in->piece_of_triangle[hinges->triangle[i][0]]) && drape_i_rings_joins(&b->rings, i);
}

/* ---- patches ---- */

static bool make_room(builder *b, int64_t used) {
    if (used + DRAPE_I_RING_NODES <= b->room) return true;
    int64_t room = 2 * b->room + 1024 * DRAPE_I_RING_NODES;
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
    for (int32_t i = 0; i < b->rings.count; i++) {
        if (!has_patches(b, b->rings.point[i].piece)) continue;
        if (!make_room(b, b->first[*count])) return DRAPE_ERROR_MEMORY;
        b->center[*count] = i;
        b->first[*count + 1] = b->first[*count] + drape_i_rings_nodes(&b->rings, i, b->node_point + b->first[*count]);
        (*count)++;
    }
    if (!DRAPE_NEW(b->ctx, b->node, b->room)) return DRAPE_ERROR_MEMORY;
    for (int64_t i = 0; i < b->first[*count]; i++) b->node[i] = b->rings.point[b->node_point[i]].vertex;
    return DRAPE_OK;
}

static drape_status fill(void *data, int32_t patch, double *matrix) {
    builder *b = data;
    const int32_t n = (int32_t)(b->first[patch + 1] - b->first[patch]);
    const drape_i_ring_point *center = &b->rings.point[b->center[patch]];
    const drape_material *m = &b->in->pieces[center->piece].material;
    const double weft = m->bend_weft > 0 ? m->bend_weft : m->bend,
                 twist = m->bend_twist > 0 ? m->bend_twist : m->bend;
    double h;
    drape_i_rings_fit(&b->rings, n, b->node_point + b->first[patch], &h);
    const double *u = b->rings.C, *v = b->rings.C + n, *w = b->rings.C + 2 * (int64_t)n;
    const double hold = STABLE * sqrt(m->bend * weft) / (h * h * h * h);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            matrix[(int64_t)i * n + j] =
                center->area * (((m->bend * u[i] * u[j] + weft * v[i] * v[j]) + 2 * twist * w[i] * w[j]) +
                                hold * b->rings.residual[(int64_t)i * n + j]);
    return DRAPE_OK;
}

/* ---- all of it ---- */

static bool allocate(builder *b) {
    const int64_t n = 3 * (int64_t)b->in->triangles;
    return DRAPE_NEW(b->ctx, b->first, n + 1) && DRAPE_NEW(b->ctx, b->center, n);
}

static void clear(builder *b) {
    const int64_t n = 3 * (int64_t)b->in->triangles;
    DRAPE_FREE(b->ctx, b->first, n + 1);
    DRAPE_FREE(b->ctx, b->center, n);
    DRAPE_FREE(b->ctx, b->node, b->room);
    DRAPE_FREE(b->ctx, b->node_point, b->room);
    drape_i_rings_clear(&b->rings);
}

drape_status drape_i_patch_create(drape_context *ctx, const drape_i_model_input *input, bool *covered,
                                  drape_i_quadratic **out) {
    builder b = {.ctx = ctx, .in = input};
    int32_t count = 0;
    *out = NULL;
    drape_status status = drape_i_rings_create(ctx, input, &b.rings);
    if (!status) status = allocate(&b) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
    if (!status) find_covered(&b, covered), status = choose_patches(&b, &count);
    const drape_i_patches patches = {count, b.first, b.node, &b, fill};
    if (!status && count > 0) status = drape_i_quadratic_create(ctx, input->vertices, &patches, out);
    clear(&b);
    return status;
}
