/* solid.h: how far inside or outside of a collider points and triangles are, for cloth that is caught between
 * colliders (sim/contact_pinch.c). Whether a step is kept does not depend on it; the narrow phase decides that. */
#ifndef DRAPE_CONTACT_SOLID_H
#define DRAPE_CONTACT_SOLID_H

#include "contact/world.h"

/* The surface of a collider, seen from a point. */
typedef struct drape_i_solid_near {
    double gap;        /* m: from the surface, below 0 inside; of a mesh that is open never below 0 */
    double n[3];       /* out of the collider, unit */
    int32_t corner[3]; /* of the nearest triangle of a mesh, in the world's numbers; else -1 */
    double weight[3];  /* of the nearest point in it */
} drape_i_solid_near;

/* One byte per collider. 1: it has an inside, and its triangles are counter-clockwise seen from outside; -1: they are
 * clockwise; 0: the mesh is open, or its triangles do not agree. */
drape_status drape_i_solid_sides(const drape_i_world *world, int8_t *side);

/* From p to a collider at the start of the world's motion, or at its end. */
drape_i_solid_near drape_i_solid_from(const drape_i_world *world, int32_t collider, int8_t side, bool at_end,
                                      const double p[3]);

/* m: from a collider to a triangle of the cloth, both at the start; below 0 where they cross or it is inside. What is
 * farther than `enough` may come out as `enough`. */
double drape_i_solid_to_triangle(const drape_i_world *world, int32_t collider, int8_t side, const int32_t triangle[3],
                                 double enough);

#endif
