/* rings.h: the vertices around each vertex in material space, and fits of quadratic functions to them. */
#ifndef DRAPE_CLOTH_RINGS_H
#define DRAPE_CLOTH_RINGS_H

#include "cloth/model.h"

enum { DRAPE_I_RING_NODES = 48 }; /* most of a ring: of more neighbours, some are left out */

/* A point of material space: a vertex as the triangles on one side of a seam see it. */
typedef struct drape_i_ring_point {
    int32_t vertex, piece;
    int32_t first; /* of its corners in `corner` */
    bool inside;   /* no border of the pattern goes through it */
    double area;   /* m^2: a third of its triangles' */
} drape_i_ring_point;

typedef struct drape_i_rings {
    drape_context *ctx;
    const drape_i_model_input *in;
    bool *flat; /* per piece: it is flat at rest, by its hinges */
    int32_t count;
    drape_i_ring_point *point;              /* count + 1 */
    int32_t *point_of;                      /* per corner, which is 3 times the triangle plus 0, 1 or 2 */
    int32_t *corner;                        /* corners of each point, one point after the other, ascending */
    int32_t *hinge_of;                      /* per corner: the hinge opposite to it, -1: none that joins its sides */
    int32_t *first_vertex, *first_triangle; /* per piece */
    double *y, *C, *residual, *work;        /* of the last fit */
} drape_i_rings;

drape_status drape_i_rings_create(drape_context *ctx, const drape_i_model_input *input, drape_i_rings *out);
void drape_i_rings_clear(drape_i_rings *rings);

/* Whether both triangles of a hinge see its edge at the same points. */
bool drape_i_rings_joins(const drape_i_rings *rings, int32_t hinge);
/* The points of the ring of a point: itself, then its neighbours in ascending order, with more beyond them where
 * those inside do not determine a quadratic function. Returns how many, at most DRAPE_I_RING_NODES. */
int32_t drape_i_rings_nodes(drape_i_rings *rings, int32_t center, int32_t *nodes);
/* Fits to such points: material coordinates (m, 2 per point) are left in `y`; the rest is as drape_i_patch_fit. */
double drape_i_rings_fit(drape_i_rings *rings, int32_t count, const int32_t *nodes, double *h);

#endif
