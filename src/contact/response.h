/* response.h: removes contacts from the end of a step by impulses with friction, impact zones and truncation. Then
 * every step must pass the gate. response.c describes the order of these stages.
 *
 *   drape_i_world_set_motion(world, x0, t0, x1, t1);
 *   drape_i_response_run(response, &(drape_i_response_request){.world = world, .inverse_mass = m}, &counts, &kept);
 *   if (kept) ...   // world->end holds positions that were reached without a contact
 *   else ...        // drape_i_response_trouble_of says what was in the way; try a shorter step
 *
 * What is promised. Let f be drape_i_world_floor of a pair, and let all pairs be farther apart than f at the start.
 * If `kept`, every pair stays farther apart than f on straight paths from `start` to `end`, including all rounding.
 * Every vertex of the cloth is at least f above every plane at the end, and all positions are finite. If only
 * movable vertices move, `kept` is always true. Only vertices of the cloth are moved, and of those only the ones
 * whose inverse mass is not zero. */
#ifndef DRAPE_CONTACT_RESPONSE_H
#define DRAPE_CONTACT_RESPONSE_H

#include "contact/world.h"

typedef struct drape_i_response
    drape_i_response; /* owns all scratch; allocates only where there is more than before */

/* For a world with this number of vertices, cloth and colliders together. */
drape_status drape_i_response_create(drape_context *ctx, int32_t vertices, drape_i_response **out);
void drape_i_response_destroy(drape_i_response *response); /* NULL is fine */

typedef struct drape_i_response_request {
    drape_i_world *world;       /* start and end are set; the cloth's part of end is changed */
    const double *inverse_mass; /* 1/kg, one per vertex of cloth and colliders; 0: cannot be moved */
    /* Groups of vertices that equalities couple, or NULL. Impulses and zones move their ends to where `project` wants
     * them; ways are shortened for a whole group alike, which keeps linear equalities. */
    const int32_t *group, *group_first, *member; /* per vertex of the cloth: -1: none; members by group */
    int32_t groups;
    void (*project)(void *user, double *x); /* m, 3 doubles per vertex of the cloth */
    void *user;
    bool found;             /* drape_i_world_find was called from this start, with `margin` */
    double margin;          /* m; where it is too small, or nothing was found yet, the response calls it */
    const double *searched; /* the ends of the cloth that it was called for; NULL: those of this motion */
    bool paper;             /* impulses and zones only, no truncation */
    /* For tests and measurements: leave out a stage. */
    bool no_impulses, no_zones;
} drape_i_response_request;

typedef struct drape_i_response_counts {
    int64_t pairs;       /* of the last search */
    int64_t hits;        /* pairs that were not apart at first */
    int32_t passes;      /* of impulses */
    int32_t zone_rounds; /* of impact zones */
    int32_t zones;       /* after the last round */
    int32_t truncated;   /* vertices that went only a part of their way */
    int64_t moved;       /* vertices whose end differs from the one given */
    int64_t lowered;     /* pairs that began nearer than their floor, and had to keep 63/64 of that only */
    int32_t searches;    /* calls of drape_i_world_find */
    double seconds_find, seconds_narrow, seconds_gate, seconds_response;
} drape_i_response_counts;

/* *kept false: no positions without contacts were found; world->end is then not usable. counts may be NULL. */
drape_status drape_i_response_run(drape_i_response *response, const drape_i_response_request *request,
                                  drape_i_response_counts *counts, bool *kept);

/* Of the last run: one byte per vertex of cloth and colliders, not 0 where `end` differs from the one given. */
const uint8_t *drape_i_response_moved(const drape_i_response *response);

typedef enum drape_i_trouble_kind {
    DRAPE_I_TROUBLE_NONE,
    DRAPE_I_TROUBLE_PAIR,      /* not apart */
    DRAPE_I_TROUBLE_PLANE,     /* a vertex is too near to a plane, or below it */
    DRAPE_I_TROUBLE_NOT_FINITE /* of a vertex, a coordinate */
} drape_i_trouble_kind;

typedef struct drape_i_trouble {
    drape_i_trouble_kind kind;
    drape_ccd_kind pair;
    int32_t vertex[4]; /* of the pair; or the vertex, and -1 */
    int32_t collider;  /* -1: none */
} drape_i_trouble;

/* The first thing that stood in the way of the last run, or of the last gate. */
const drape_i_trouble *drape_i_response_trouble_of(const drape_i_response *response);

/* The gate by itself: searches for pairs and looks at all of them, at planes and at every coordinate, without
 * changing anything. */
drape_status drape_i_response_gate(drape_i_response *response, drape_i_world *world, bool *kept);

#endif
