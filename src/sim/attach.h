/* attach.h: cloth that is held to colliders. attach.c describes how. */
#ifndef DRAPE_SIM_ATTACH_H
#define DRAPE_SIM_ATTACH_H

#include "sim/sim.h"

typedef struct drape_i_attachments drape_i_attachments;

/* Finds the nearest points, and makes a pin for each attached vertex. *with: the scene with these pins after its
 * own; their list lives as long as *out, and so do the motions. Nothing where the scene has none. */
drape_status drape_i_attachments_create(drape_context *ctx, const drape_scene *scene, int32_t vertices,
                                        drape_scene *with, drape_i_attachments **out);
/* The point of triangles whose vertices are at x that is nearest to p: its corners and their weights; how far away,
 * m, infinite where there are none. */
double drape_i_nearest_on(const double *x, int32_t triangles, const int32_t *triangle, const double p[3],
                          int32_t corner[3], double w[3]);
void drape_i_attachments_destroy(drape_i_attachments *all); /* NULL is fine */

#endif
