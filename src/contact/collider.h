/* collider.h: the colliders of a scene inside the library: moving points, and the shapes between them.
 *
 * The points of all colliders are numbered one collider after the other. A mesh (also a box, a cylinder or a box with
 * a hole) has its vertices as points. A sphere has one point, its centre; a capsule has two, the centres of its ends;
 * a plane has one, its origin. Spheres and capsules are round: a point or a segment, and a distance around it. */
#ifndef DRAPE_CONTACT_COLLIDER_H
#define DRAPE_CONTACT_COLLIDER_H

#include "base/context.h"
#include "drape/collider.h"

typedef struct drape_i_collider {
    const char *name; /* owned */
    drape_collider_shape shape;
    int32_t first_point, points;
    int32_t first_triangle, triangles; /* 0 for planes, spheres and capsules */
    double radius;                     /* m: around points and segments of round shapes; else 0 */
    double thickness, friction;        /* as given */
    bool moves;
    bool deforms;
} drape_i_collider;

typedef struct drape_i_colliders {
    drape_context *ctx;
    int32_t count, points, triangles;
    int32_t listed;                         /* what item and motion have room for: count, once created */
    drape_i_collider *item;                 /* count */
    int32_t (*triangle)[3];                 /* of all meshes, into the points of all colliders */
    int32_t *triangle_owner;                /* collider of each triangle */
    int32_t *point_owner;                   /* collider of each point */
    struct drape_i_collider_motion *motion; /* count: keys, shapes and frames; collider.c */
} drape_i_colliders;

/* The form of a collider in its own coordinates, owned by who asked for it. */
typedef struct drape_i_collider_form {
    int32_t points, triangles;
    double *point;          /* m, 3 doubles per point */
    int32_t (*triangle)[3]; /* counter-clockwise seen from outside */
} drape_i_collider_form;

/* Checks and copies. DRAPE_ERROR_ARGUMENT, with a message that names the collider and what is wrong with it. */
drape_status drape_i_colliders_create(drape_context *ctx, const drape_collider *colliders, int32_t count,
                                      drape_i_colliders **out);
void drape_i_colliders_destroy(drape_i_colliders *colliders); /* NULL is fine */

/* Where all points are at a time, 3 doubles each. */
void drape_i_colliders_at(const drape_i_colliders *colliders, double time, double *x);
/* The upward normal of a plane at a time; unit length to rounding. */
void drape_i_collider_normal(const drape_i_colliders *colliders, int32_t collider, double time, double normal[3]);
/* Where what is at `from` at time t0, fixed to a collider that does not deform, is at time t1. */
void drape_i_collider_carry(const drape_i_colliders *colliders, int32_t collider, double t0, double t1,
                            const double from[3], double to[3]);
/* Whether the triangles of a collider, whose points are at `points`, enclose the point p: they do where they are
 * closed and it is inside, whichever way they run. */
bool drape_i_collider_encloses(const drape_i_colliders *colliders, int32_t collider, const double *points,
                               const double p[3]);

/* One collider by itself: whether it is valid. number: its place in the list, for one without a name; -1: none. */
drape_status drape_i_collider_check(drape_context *ctx, const drape_collider *collider, int32_t number);

/* ---- Shapes: collider_shape.c; of colliders that are valid ---- */

/* What cloth meets: points of round shapes and planes, triangles of the others. */
drape_status drape_i_form_solid(drape_context *ctx, const drape_collider *collider, drape_i_collider_form *out);
/* The surface: round shapes inscribed, a plane as a square of `extent`, m. */
drape_status drape_i_form_surface(drape_context *ctx, const drape_collider *collider, double extent,
                                  drape_i_collider_form *out);
void drape_i_form_free(drape_context *ctx, drape_i_collider_form *shape);

#endif
