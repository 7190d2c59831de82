/* drape/crossings.h: finds triangles that pass through each other, with exact arithmetic (docs/crossings.md).
 *
 *   const drape_crossings_mesh cloth = {.vertices = n, .triangles = m, .triangle = corners};
 *   drape_crossings *search;
 *   drape_crossings_create(ctx, &(drape_crossings_bodies){.cloth = cloth}, &search);
 *   drape_crossings_result found;
 *   drape_crossings_count(search, positions, NULL, &found);                          // frame by frame
 *   if (found.self.edges + found.self.triangles > 0) ...
 *
 * A cloth is tested against itself and against any number of other bodies, such as colliders. The other bodies are
 * not tested against each other. The code shares nothing with the simulation, since it is meant to check it. */
#ifndef DRAPE_CROSSINGS_H
#define DRAPE_CROSSINGS_H

#include "drape/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The triangles of a body; zero means zero. A triangle with a vertex twice is allowed. */
typedef struct drape_crossings_mesh {
    int32_t vertices, triangles; /* >= 0 */
    const int32_t *triangle;     /* 3 per triangle, each below `vertices` */
    uint64_t reserved[4];        /* zero: reserved for later fields */
} drape_crossings_mesh;

/* Body 0 is the cloth, body k is others[k - 1]. Zero means zero. */
typedef struct drape_crossings_bodies {
    drape_crossings_mesh cloth;
    const drape_crossings_mesh *others;
    int32_t other_count;
    uint64_t reserved[4]; /* zero: reserved for later fields */
} drape_crossings_bodies;

/* What a crossing is. */
typedef enum drape_crossing_kind {
    DRAPE_CROSSING_EDGE,      /* an edge passes through the interior of a triangle, with its ends on both sides */
    DRAPE_CROSSING_TRIANGLES, /* two triangles that are not in one plane have interior points in common, or an edge of
                                 one passes through the other */
    DRAPE_CROSSING_TOUCH /* an edge and a triangle that meet but do not cross, except at a shared vertex. An end lies
                            on the triangle, two edges meet, or they overlap within a plane */
} drape_crossing_kind;

DRAPE_API const char *drape_crossing_kind_name(drape_crossing_kind kind); /* "edge", "triangles", "touch"; or NULL */

/* A crossing or a touch. */
typedef struct drape_crossing {
    drape_crossing_kind kind;
    int32_t body[2]; /* of the edge, or of the first triangle; of the other triangle */
    int32_t edge[2]; /* vertices of the edge within its body, the lower first; -1, -1: two triangles */
    int32_t
        triangle[2]; /* the first triangle that has the edge, or the first of two; the other. Within their bodies */
} drape_crossing;

/* How many there are of each kind. Each edge is counted once per triangle, however many triangles it belongs to. */
typedef struct drape_crossing_counts {
    int64_t edges, triangles, touches;
} drape_crossing_counts;

/* What a count has found. */
typedef struct drape_crossings_result {
    drape_crossing_counts self;   /* cloth and cloth */
    drape_crossing_counts others; /* cloth and other bodies, edges of either */
    int64_t count;                /* of `crossings`: the sum of all six */
    /* Sorted by kind, body, triangle and edge; owned by the search and valid until it counts again. */
    const drape_crossing *crossings;
    uint64_t reserved[4]; /* zero */
} drape_crossings_result;

/* A search for crossings of bodies whose triangles stay the same while their vertices move. */
typedef struct drape_crossings drape_crossings;

/* Creates a search. The meshes are copied. */
DRAPE_API drape_status drape_crossings_create(drape_context *ctx, const drape_crossings_bodies *bodies,
                                              drape_crossings **out);
/* Counts the crossings with the cloth's vertices at `positions` and those of body k at others[k - 1]. Both hold 3
 * doubles per vertex, in any unit; others may be NULL if there are no other bodies. The result does not depend on the
 * number of threads.
 *
 * The signs are exact for coordinates of a magnitude of 1e-75 to 1e90; smaller ones count as zero. A coordinate that
 * is larger or not finite is DRAPE_ERROR_NUMBER, and the message names the vertex. */
DRAPE_API drape_status drape_crossings_count(drape_crossings *search, const double *positions,
                                             const double *const *others, drape_crossings_result *out);
DRAPE_API void drape_crossings_destroy(drape_crossings *search); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
