/* drape/collider.h: objects that cloth cannot pass through.
 *
 *   drape_collider ball = {.name = "ball", .shape = DRAPE_COLLIDER_SPHERE, .radius = 0.3, .friction = 0.4};
 *   scene.colliders = &ball;
 *   scene.collider_count = 1;
 *
 * A collider is a shape in coordinates of its own, and a motion that places it in the world. Planes, spheres and
 * capsules are exact; the other shapes are made of triangles. Colliders do not affect each other. */
#ifndef DRAPE_COLLIDER_H
#define DRAPE_COLLIDER_H

#include "drape/base.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The shapes of colliders, in coordinates of their own with z up. */
typedef enum drape_collider_shape {
    DRAPE_COLLIDER_PLANE,         /* all below z = 0 */
    DRAPE_COLLIDER_SPHERE,        /* of `radius` about the origin */
    DRAPE_COLLIDER_CAPSULE,       /* all points within `radius` of a segment of `length` along z about the origin */
    DRAPE_COLLIDER_BOX,           /* of `size` about the origin */
    DRAPE_COLLIDER_CYLINDER,      /* of `radius` and `length` along z about the origin, with `sides` */
    DRAPE_COLLIDER_BOX_WITH_HOLE, /* of `size` about the origin, with a rectangular hole along z in its middle */
    DRAPE_COLLIDER_MESH           /* triangles, seen from both sides; open or closed */
} drape_collider_shape;

/* "plane", "sphere", "capsule", "box", "cylinder", "box_with_hole", "mesh"; NULL if there is no such shape. */
DRAPE_API const char *drape_collider_shape_name(drape_collider_shape shape);

/* Where a collider is at a time. A point p of its own coordinates is at position + R p; R turns by |rotation| radians
 * about the direction of `rotation`. */
typedef struct drape_collider_key {
    double time;        /* s */
    double position[3]; /* m */
    double rotation[3]; /* rad, of any length */
} drape_collider_key;

struct drape_appearance; /* drape/cloth.h */

/* An object that cloth cannot pass through: its shape and its motion. Zero means zero, except where a default is
 * given. Arrays belong to the caller. */
typedef struct drape_collider {
    const char *name; /* for messages and files; NULL: "collider" */
    drape_collider_shape shape;
    double radius;  /* m, > 0: sphere, capsule, cylinder */
    double length;  /* m, > 0: capsule (between the centres of its ends), cylinder */
    double size[3]; /* m, > 0: boxes */
    double hole[2]; /* m, > 0 and below size[0] and size[1]: box_with_hole */
    int32_t sides;  /* of a cylinder, 3..1024; 0: 64 */

    /* A mesh: vertices in its own coordinates, and triangles. */
    int32_t vertices;
    const double *positions; /* m, 3 doubles per vertex */
    int32_t triangles;
    const int32_t *triangle; /* 3 per triangle, each in [0, vertices) */
    /* A mesh that deforms: `frames` sets of positions at increasing times, instead of `positions`. Vertices move
     * straight from one to the next, and are at rest before the first and after the last. */
    int32_t frames;           /* 0: it does not deform */
    const double *frame_time; /* s, one per frame */
    const double *frame;      /* m, 3 doubles per vertex and frame */

    /* The motion: keys at increasing times. Positions and rotation vectors change linearly from one to the next, and
     * are constant before the first and after the last. Without keys, its own coordinates are those of the world. */
    int32_t key_count;
    const drape_collider_key *key;

    double rotation[3]; /* rad, as in a key: turns the shape in its own coordinates, before its keys move it */
    double thickness;   /* m, >= 0: cloth keeps this distance from it, and half of its own thickness besides */
    double friction;    /* coefficient of Coulomb's law, >= 0; a contact has the geometric mean of this and the
                           cloth's coefficient */
    const struct drape_appearance *appearance; /* in files, its color only; NULL: as the format chooses */
    uint64_t reserved[4];                      /* zero: reserved for later fields */
} drape_collider;

/* The surface of a collider for pictures, files and checks: round shapes as inscribed meshes, a plane as a square of
 * `extent` metres about its origin (<= 0: 10 m). */
typedef struct drape_collider_surface drape_collider_surface;
/* Copies what it needs. A collider that is not valid is DRAPE_ERROR_ARGUMENT, with a message that names it. */
DRAPE_API drape_status drape_collider_surface_create(drape_context *ctx, const drape_collider *collider,
                                                     double extent, drape_collider_surface **out);
DRAPE_API void drape_collider_surface_destroy(drape_collider_surface *surface); /* NULL is fine */
DRAPE_API int32_t drape_collider_surface_vertices(const drape_collider_surface *surface);
DRAPE_API int32_t drape_collider_surface_triangles(const drape_collider_surface *surface);
/* 3 per triangle, counter-clockwise seen from outside; belongs to the surface. */
DRAPE_API const int32_t *drape_collider_surface_triangle(const drape_collider_surface *surface);
/* Writes the positions of its vertices at a time (s): 3 doubles per vertex, m. */
DRAPE_API drape_status drape_collider_surface_at(const drape_collider_surface *surface, double time,
                                                 double *positions);
/* Whether it ever moves. */
DRAPE_API bool drape_collider_surface_moves(const drape_collider_surface *surface);

#ifdef __cplusplus
}
#endif

#endif
