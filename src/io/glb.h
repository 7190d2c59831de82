/* glb.h: what the files of the GLB writer share. */
#ifndef DRAPE_IO_GLB_H
#define DRAPE_IO_GLB_H

#include "base/arena.h"
#include "io/format_tools.h"

/* The cloth as glTF wants it: a vertex has one pair of texture coordinates, so those on a seam are doubled. */
typedef struct drape_i_glb_piece {
    const drape_piece_range *range;
    int32_t vertices;
    const int32_t *source; /* the cloth's vertex that each stands for */
    const int32_t *corner; /* 3 per triangle, into these vertices */
    bool textured;
    const int32_t *uv_source; /* into texture.uv; NULL without */
    drape_i_texture texture;
} drape_i_glb_piece;

/* The frames of a run on their way to a file. What the file holds, in this order, with the counts below:
 *
 *   accessors   corners of every piece; texture coordinates of those that have some; times and weights of the
 *               animation; then frame by frame and piece by piece positions and normals
 *   views       corners; positions and normals; texture coordinates; times and weights (the last two where there are
 * any)
 *
 * Positions and normals of the frames behind the first are differences from it: morph targets. */
typedef struct drape_i_glb {
    drape_i_recording *recording;
    drape_i_arena arena;
    int32_t pieces, textured; /* textured: how many of them have texture coordinates */
    drape_i_glb_piece *piece;
    int64_t corners, vertices, uv_vertices; /* of all pieces, doubles and all */
    double *base, *base_normal;             /* 3 a vertex of the cloth: the first frame */
} drape_i_glb;

/* glTF's axes: (x, y, z) of the cloth, z up, becomes (x, z, -y). Component k of a position or normal in frame f, as
 * it stands in the file. now and base: of the frame and of the first, 3 a vertex of the cloth. */
double drape_i_glb_component(int64_t frame, const double *now, const double *base, int64_t vertex, int32_t k);

/* Bytes of the views, 0 for one that is not there. */
typedef struct drape_i_glb_sizes {
    int64_t corners, vectors, uv, animation, all;
} drape_i_glb_sizes;

drape_i_glb_sizes drape_i_glb_size(const drape_i_glb *g, int64_t frames);

/* The JSON of the file. Reads every frame, for its bounds. */
drape_status drape_i_glb_json(drape_context *ctx, drape_i_glb *g, drape_i_file *file);

#endif
