/* rest.h: lengths, areas and angles of a piece at rest. */
#ifndef DRAPE_CLOTH_REST_H
#define DRAPE_CLOTH_REST_H

#include "cloth/model.h"

/* Checks a piece's counts, indices and numbers; messages name vertex and triangle (counted within the piece). */
drape_status drape_i_piece_check(drape_context *ctx, int32_t piece, const drape_piece *p);

/* Triangle t of the piece. A triangle without area in material space is an error. */
drape_status drape_i_rest_triangle_find(drape_context *ctx, int32_t piece, const drape_piece *p, int32_t t,
                                        drape_i_rest_triangle *out);

/* Hinge between triangles a and b of the piece, on nodes[0..3] of it; area is the sum of theirs. */
void drape_i_rest_hinge_find(const drape_piece *p, const int32_t nodes[4], const int32_t triangles[2], double area,
                             drape_i_rest_hinge *out);

#endif
