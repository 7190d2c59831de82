/* surface.h: what a mesh file holds beside places and triangles: normals and texture coordinates.
 *
 * Texture coordinates are the cloth's material space, in m: a picture of 1 x 1 covers a metre of cloth, and a mesh
 * that is read back has its sewing pattern. */
#ifndef DRAPE_IO_SURFACE_H
#define DRAPE_IO_SURFACE_H

#include "drape/cloth.h"

#include <stdbool.h>

/* Unit normals at the vertices, 3 each: the mean of the triangles around, by area. (0, 0, 1) where that has no
 * direction. One pass over the triangles in their order. */
void drape_i_normals(const drape_cloth *cloth, const double *x, double *normal);
/* Those of one piece; the others are left as they are. */
void drape_i_piece_normals(const drape_cloth *cloth, const drape_piece_range *piece, const double *x, double *normal);

/* The texture coordinates of a piece. */
typedef struct drape_i_texture {
    const double *uv; /* 2 each; NULL: it has none */
    int32_t count;
    const int32_t *corner; /* 3 a triangle, into uv */
    bool seams;            /* a vertex can have several; else uv is numbered as the vertices are */
} drape_i_texture;

/* pieces may be NULL. */
drape_i_texture drape_i_texture_of(const drape_piece *pieces, int32_t index);

#endif
