/* rest.h: a piece at rest: interior edges of its mesh, lengths, areas and angles. */
#ifndef DRAPE_CLOTH_REST_H
#define DRAPE_CLOTH_REST_H

#include "base/context.h"
#include "drape/cloth.h"

/* A hinge: the edge from node[0] to node[1], then the corners opposite to it in its two triangles. */
typedef struct drape_i_hinges {
    int32_t count;
    int32_t (*node)[4];
    int32_t (*triangle)[2]; /* the triangles that node[2] and node[3] belong to */
} drape_i_hinges;

/* Hinges in the order in which their second triangle comes. An edge of three triangles is an error that names it. */
drape_status drape_i_hinges_find(drape_context *ctx, int32_t triangles, const int32_t (*triangle)[3],
                                 drape_i_hinges *out);
void drape_i_hinges_clear(drape_context *ctx, drape_i_hinges *hinges);

/* One piece's geometry at rest, in material space. */
typedef struct drape_i_rest_triangle {
    double area;         /* m^2 */
    double du[3], dv[3]; /* w_u = sum du_i x_i, w_v = sum dv_i x_i; 1/m */
} drape_i_rest_triangle;

typedef struct drape_i_rest_hinge {
    double length2; /* squared length of the edge, m^2 */
    double area;    /* of its two triangles, m^2 */
    double angle;   /* at rest, rad */
} drape_i_rest_hinge;

/* Checks a piece's counts, indices and numbers; messages name vertex and triangle (counted within the piece). */
drape_status drape_i_piece_check(drape_context *ctx, int32_t piece, const drape_piece *p);

/* What triangle t of the piece is made of. */
static inline const drape_material *drape_i_piece_material(const drape_piece *p, int32_t t) {
    int32_t part = p->materials && p->material_of ? p->material_of[t] : -1;
    return part >= 0 ? &p->materials[part] : &p->material;
}

/* Triangle t of the piece. A triangle without area in material space is an error. */
drape_status drape_i_rest_triangle_find(drape_context *ctx, int32_t piece, const drape_piece *p, int32_t t,
                                        drape_i_rest_triangle *out);

/* Hinge between triangles a and b of the piece, on nodes[0..3] of it; area is the sum of theirs. */
void drape_i_rest_hinge_find(const drape_piece *p, const int32_t nodes[4], const int32_t triangles[2], double area,
                             drape_i_rest_hinge *out);

#endif
