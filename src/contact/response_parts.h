/* response_parts.h: shared by the files of the response: scratch memory, the search for hits, and contacts as linear
 * inequalities. */
#ifndef DRAPE_CONTACT_RESPONSE_PARTS_H
#define DRAPE_CONTACT_RESPONSE_PARTS_H

#include "base/vec3.h"
#include "contact/response.h"

enum {
    DRAPE_I_MOST_PASSES = 8,
    DRAPE_I_MOST_ROUNDS = 32,
};

/* A pair that is not proved apart by its `separation`, which is somewhat more than the floor. */
typedef struct drape_i_hit {
    drape_ccd_kind kind;
    int64_t pair;
    double time; /* before which it is apart, in [0, 1] */
} drape_i_hit;

/* What is known of the pairs of one kind, in the order of drape_i_world.pairs. */
typedef struct drape_i_verdicts {
    int64_t room;
    double *floor;      /* m: drape_i_world_floor */
    double *separation; /* m: somewhat more, so that a step does not begin where the last one was just let through */
    double *time;       /* of the last check */
    uint8_t *planned;   /* truncation has a plane for it */
} drape_i_verdicts;

/* Pairs of one kind that are checked again. */
typedef struct drape_i_selection {
    int64_t room;
    int64_t *pair;
    int32_t (*vertex)[4];
    double *separation, *time;
} drape_i_selection;

/* n.sum w_i x_i >= target at the end of the step. */
typedef struct drape_i_impact {
    int32_t vertex[4];
    double w[4];          /* sum up to zero, to rounding */
    vec3 n;               /* unit */
    vec3 arm;             /* sum w_i x_i at the start */
    vec3 anchor;          /* sum w_i x_i at the end where nothing slides, except for what it has along n */
    double target, slack; /* m; slack: how much more it is than the separation */
    double friction;
    bool free; /* all four vertices can move */
    /* Of zones: */
    double lambda; /* impulse along n, kg m as all impulses here */
    vec3 drag;     /* impulse across n */
    double yield;  /* kg: the impulse that changes the gap by 1 m */
    int32_t zone;
} drape_i_impact;

/* How free vertices move as a rigid body: what keeps the angular momentum. */
typedef struct drape_i_body {
    double mass;
    vec3 centre;
    double inverse[6]; /* of the tensor of inertia: xx, xy, xz, yy, yz, zz; zero where it has none */
} drape_i_body;

typedef struct drape_i_zones drape_i_zones; /* zones.c */

struct drape_i_response {
    drape_context *ctx;
    int32_t vertices;
    const drape_i_response_request *request; /* of the run */
    drape_i_world *world;
    drape_i_response_counts counts;
    drape_i_trouble trouble;

    double *given;    /* ends as given */
    double *searched; /* ends for which pairs were searched for */
    double *full;     /* truncation: ends before it */
    double *part;     /* truncation: how much of its way each vertex goes, in [0, 1] */
    uint8_t *changed; /* the end changed since the last check */
    uint8_t *moved;
    bool proved; /* all pairs are apart with the ends as they are */
    double room; /* m: how far an end may be from the one searched for without another search */

    drape_i_verdicts verdicts[2];
    drape_i_selection selection;
    drape_i_hit *hit;
    int64_t hits, hit_room;
    drape_i_impact *contact;
    int64_t contacts, contact_room;
    drape_i_zones *zones;
};

DRAPE_INLINE void vec3_put(double *p, vec3 a) { p[0] = a.x, p[1] = a.y, p[2] = a.z; }

/* Makes room for `need` items of `size` bytes, and half as many again; what was in it is kept. */
drape_status drape_i_response_grow(drape_context *ctx, void **memory, int64_t *room, int64_t need, size_t size);

/* ---- Hits: response.c ---- */

/* Looks at all pairs, or at those with a vertex that changed and those that were hits; and fills `hit`. Pairs that
 * are `planned` are left out. */
drape_status drape_i_response_check(drape_i_response *r, bool all);
/* Searches for pairs, where ends are too far from where they were in the last search. *again: it did. */
drape_status drape_i_response_search(drape_i_response *r, bool *again);
/* The end of a vertex: every change goes through this. */
void drape_i_response_move(drape_i_response *r, int32_t vertex, vec3 to);
/* Ends of coupled vertices go to where they keep their equalities. */
void drape_i_response_project(drape_i_response *r);
/* Records what is in the way, unless something was recorded before. */
void drape_i_response_blame_pair(drape_i_response *r, const drape_i_hit *hit);

/* What the response keeps a pair apart by, m; and from where on it leaves it alone, which is never less. */
double drape_i_response_separation(double floor, double round);
double drape_i_response_reach(double floor, double distance, double round);

/* ---- Planes: planes.c ---- */

/* Moves vertices that are too near to planes, or below them, up, with friction. Returns how many. */
int32_t drape_i_response_lift(drape_i_response *r);
/* Whether a vertex ends near any plane, below, or not far above. */
bool drape_i_response_near_plane(const drape_i_response *r, int32_t vertex);
/* The contact of a vertex with plane `index` of the world. */
drape_i_impact drape_i_response_on_plane(const drape_i_response *r, int32_t index, int32_t vertex);
/* Whether every vertex is above every plane by the floor at the end; notes the first that is not. */
bool drape_i_response_above(drape_i_response *r);

/* ---- Contacts: impulses.c ---- */

/* Fills `contact` from `hit`, without those about which nothing can be done. */
drape_status drape_i_response_contacts(drape_i_response *r);
/* m: how far apart two parts should end that begin a gap apart along the direction of their contact. */
double drape_i_response_target(double gap, double separation, double reach);
void drape_i_body_add(drape_i_body *body, double mass, vec3 x); /* first round: mass and centre */
void drape_i_body_invert(drape_i_body *body, double tensor[6]); /* at the end: inverts its tensor of inertia */
void drape_i_body_inertia(const drape_i_body *body, double mass, vec3 x, double tensor[6]);
vec3 drape_i_body_turn(const drape_i_body *body, vec3 momentum); /* the rotation that has this angular momentum */

drape_status drape_i_response_impulses(drape_i_response *r);

/* ---- Impact zones: zones.c ---- */

drape_status drape_i_zones_create(drape_context *ctx, int32_t vertices, drape_i_zones **out);
void drape_i_zones_destroy(drape_context *ctx, drape_i_zones *zones);
drape_status drape_i_response_zones(drape_i_response *r);

/* ---- Truncation: truncation.c ---- */

/* *possible false: nothing can be shortened that would help. */
drape_status drape_i_response_truncate(drape_i_response *r, bool *possible);
/* Holds all movable vertices of a pair where they are at the start. False where they already are. */
bool drape_i_response_freeze(drape_i_response *r, const drape_i_hit *hit);

/* ---- The gate: gate.c ---- */

/* Whether all coordinates are; notes the first vertex of which one is not. */
bool drape_i_response_finite(drape_i_response *r);
/* Looks at everything at the floor; fills `hit` with what is not apart. */
drape_status drape_i_response_judge(drape_i_response *r, bool *kept);

#endif
