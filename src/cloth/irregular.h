/* irregular.h: an irregular triangulation out of a regular one. */
#ifndef DRAPE_CLOTH_IRREGULAR_H
#define DRAPE_CLOTH_IRREGULAR_H

#include "base/context.h"

/* Turns a triangulation of the plane (uv: 2 a vertex; triangles counter-clockwise) in place into an irregular one of
 * the same domain with as many vertices and triangles. Vertices keep their numbers: inner ones move, those on a
 * straight part of the boundary move along it in their order, corners stay. The result is Delaunay, the boundary
 * being kept, and no angle is below 20 degrees or, where the input is worse than that, below the input's smallest.
 * Triangles are ordered by their first corner, which is their lowest vertex. The result follows from the input and
 * the seed to the last bit.
 *
 * DRAPE_ERROR_ARGUMENT: a triangle is clockwise, flat or names no vertex, or an edge has more than two triangles. */
drape_status drape_i_irregular(drape_context *ctx, uint64_t seed, int32_t vertices, double *uv, int32_t triangles,
                               int32_t (*triangle)[3]);

#endif
