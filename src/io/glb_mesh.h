/* glb_mesh.h: the cloth as glTF wants it: a vertex has one pair of texture coordinates, so those on a seam are
 * doubled.
 */
#ifndef DRAPE_IO_GLB_MESH_H
#define DRAPE_IO_GLB_MESH_H

#include "base/arena.h"
#include "io/surface.h"

typedef struct drape_i_glb_piece {
    const drape_piece_range *range;
    int32_t vertices;
    const int32_t *source; /* the cloth's vertex that each stands for */
    const int32_t *corner; /* 3 a triangle, into these vertices */
    bool textured;
    const int32_t *uv_source; /* into texture.uv; NULL without */
    drape_i_texture texture;
} drape_i_glb_piece;

/* One a piece, in the arena. The first of a vertex's doubles has its number in the piece. O(corners), where few
 * corners meet at a vertex. */
drape_status drape_i_glb_pieces(drape_context *ctx, drape_i_arena *arena, const drape_cloth *cloth,
                                const drape_piece *pieces, drape_i_glb_piece **out);

#endif
