/* soups.h: patches of cloth thrown at each other and at colliders, and a check of every pair of them by brute force.
 */
#ifndef DRAPE_TESTS_SOUPS_H
#define DRAPE_TESTS_SOUPS_H

#include "contact/response.h"
#include "support/testing.h"

enum { SOUP_SIDE = 3 }; /* vertices along a side of a patch, whose side has a length of 1 */

typedef enum soup_objects {
    SOUP_NONE = 0,
    SOUP_MESH = 1, /* loose triangles */
    SOUP_SPHERE = 2,
    SOUP_CAPSULE = 4,
    SOUP_PLANE = 8,
    SOUP_ALL = 15
} soup_objects;

typedef struct soup_recipe {
    int32_t patches;
    uint32_t objects; /* soup_objects */
    bool moving;      /* colliders move and turn */
    double thickness; /* m, of the cloth */
    double friction;  /* of everything */
    double speed;     /* m per step, of patches towards the middle; vertices differ by a tenth of it */
    double pinned;    /* share of vertices that cannot be moved, but move as they like */
} soup_recipe;

typedef struct soup {
    drape_context *ctx;
    int32_t vertices, triangles, edges;
    int32_t (*triangle)[3], (*edge)[2];
    double *x0, *x1, *thickness, *friction, *inverse_mass; /* inverse_mass: with points of colliders */
    drape_i_world *world;
    drape_i_response *response;
} soup;

/* Cloth of these triangles, all at the origin, of masses 1 kg, with colliders: a world by hand. */
typedef struct soup_parts {
    int32_t vertices, triangles;
    const int32_t *triangle;
    double thickness, friction;
    const drape_collider *colliders;
    int32_t collider_count;
} soup_parts;
soup soup_of(drape_context *ctx, const soup_parts *parts);

/* At the start all pairs are farther apart than the response keeps them. */
soup make_soup(drape_context *ctx, test_random *r, const soup_recipe *recipe);
void free_soup(soup *s);

/* Sets the motion of the world again from x0 and x1, from time 0 to 1. */
void start_soup(soup *s);

/* How many pairs, of all there are, are not apart by their floor on the way from start to end; `times` larger floors.
 */
int64_t soup_violations(const soup *s, const double *start, const double *end, double times);
/* Crossings at positions of the cloth, and of meshes among the colliders at the end of the step. */
int64_t soup_crossings(const soup *s, const double *x);

#endif
