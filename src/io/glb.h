/* glb.h: what the files of the GLB writer share. */
#ifndef DRAPE_IO_GLB_H
#define DRAPE_IO_GLB_H

#include "base/arena.h"
#include "io/appearance.h"
#include "io/format_tools.h"

/* The cloth as glTF requires it: a vertex has one pair of texture coordinates, so those on a seam are doubled. */
typedef struct drape_i_glb_piece {
    const drape_piece_range *range;
    int32_t vertices;
    const int32_t *source; /* the vertex of the cloth for each */
    const int32_t *corner; /* 3 per triangle, into these vertices */
    bool textured;
    const int32_t *uv_source; /* into texture.uv; NULL without */
    drape_i_texture texture;
} drape_i_glb_piece;

/* How a mesh beside the cloth moves. */
typedef enum drape_i_glb_motion { DRAPE_I_GLB_RESTS, DRAPE_I_GLB_RIGID, DRAPE_I_GLB_FREE } drape_i_glb_motion;

typedef struct drape_i_glb_object {
    int32_t place; /* among the meshes of a frame */
    int64_t first; /* of its numbers among those of all meshes, and among the recording's extras */
    int32_t vertices, triangles;
    double middle[3];          /* of its vertices in the first frame */
    drape_i_glb_motion motion; /* so far */
} drape_i_glb_object;

/* The frames of a run on their way to a file. What the file holds, in this order, with the counts below:
 *
 *   accessors   corners of every piece; texture coordinates of those that have some; times and weights of the
 *               animation; then frame by frame and piece by piece positions and normals
 *   views       corners; positions and normals; texture coordinates; times and weights (the last two where there are
 * any)
 *
 * After these come the accessors and views of the meshes beside the cloth (glb_objects.c), then one view per image
 * (glb_materials.c).
 *
 * Positions and normals of the frames after the first are differences from it: morph targets. */
typedef struct drape_i_glb {
    drape_i_recording *recording;
    int64_t expected; /* frames; 0: not known */
    drape_i_arena arena;
    int32_t pieces, textured; /* textured: how many of them have texture coordinates */
    drape_i_glb_piece *piece;
    int64_t corners, vertices, uv_vertices; /* of all pieces, doubles and all */
    double *base, *base_normal;             /* 3 per vertex of the cloth: the first frame */
    int32_t objects;                        /* meshes beside the cloth, without empty ones */
    drape_i_glb_object *object;
    double *object_base; /* positions of all meshes in the first frame */
    drape_i_images images;
} drape_i_glb;

/* glTF's axes: (x, y, z) of the cloth, z up, becomes (x, z, -y). Component k of a position or normal in frame f, as
 * it is in the file. now and base: of the frame and of the first, 3 per vertex of the cloth. */
double drape_i_glb_component(int64_t frame, const double *now, const double *base, int64_t vertex, int32_t k);

/* Bytes of the views, 0 for one that is not there. */
typedef struct drape_i_glb_sizes {
    int64_t corners, vectors, uv, animation, cloth; /* cloth: the sum of those before */
    int64_t objects, images, all;
} drape_i_glb_sizes;

drape_i_glb_sizes drape_i_glb_size(const drape_i_glb *g, int64_t frames);

/* The JSON of the file. Reads every frame, for its bounds. */
drape_status drape_i_glb_json(drape_context *ctx, drape_i_glb *g, drape_i_file *file);

/* ---- glb_materials.c ---- */

/* Numbers of the materials of a piece and of an object. */
int32_t drape_i_glb_piece_material(const drape_i_glb *g, int32_t piece);
int32_t drape_i_glb_object_material(const drape_i_glb *g, int32_t object);
/* All materials, and the images and textures that they name; view: the first one of the images. */
void drape_i_glb_materials(const drape_i_glb *g, int32_t view, drape_i_file *file);

int64_t drape_i_glb_images_size(const drape_i_glb *g); /* bytes, padding and all */
void drape_i_glb_image_views(const drape_i_glb *g, int64_t offset, drape_i_file *file);
void drape_i_glb_put_images(const drape_i_glb *g, drape_i_binary *out);

/* ---- glb_objects.c ---- */

/* Looks at the meshes of a frame, before it is recorded. */
drape_status drape_i_glb_objects_frame(drape_context *ctx, drape_i_glb *g, const drape_frame *frame);

typedef struct drape_i_glb_object_sizes {
    int64_t corners, vectors, motion; /* bytes of their views, 0 for one that is not there */
    int64_t accessors;                /* how many they have */
    int32_t views;                    /* likewise */
} drape_i_glb_object_sizes;
drape_i_glb_object_sizes drape_i_glb_objects_size(const drape_i_glb *g, int64_t frames);

drape_status drape_i_glb_put_objects(drape_context *ctx, drape_i_glb *g, drape_i_binary *out);
/* Their parts of the JSON, each after that of the cloth. accessor, view: the first ones that are theirs. */
void drape_i_glb_object_nodes(const drape_i_glb *g, drape_i_file *file);
void drape_i_glb_object_meshes(const drape_i_glb *g, int64_t accessor, drape_i_file *file);
void drape_i_glb_object_samplers(const drape_i_glb *g, int64_t times, int64_t accessor, drape_i_file *file);
void drape_i_glb_object_channels(const drape_i_glb *g, drape_i_file *file);
void drape_i_glb_object_views(const drape_i_glb *g, int64_t offset, drape_i_file *file);
drape_status drape_i_glb_object_accessors(drape_context *ctx, drape_i_glb *g, int view, drape_i_file *file);

#endif
