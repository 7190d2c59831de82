/* world.h: everything that can touch in a step: the cloth's vertices, then the points of the colliders. They move
 * from `start` to `end` along straight lines. It also has the pairs that come near each other during the step. */
#ifndef DRAPE_CONTACT_WORLD_H
#define DRAPE_CONTACT_WORLD_H

#include "contact/collider.h"
#include "drape/contact.h"

/* Pairs of one kind (drape_ccd_kind): a vertex and the corners of a triangle, or the ends of two edges. Where one of
 * the two belongs to a collider it may be either; a sphere is a vertex, a capsule an edge whose ends are vertices
 * too. */
typedef struct drape_i_pairs {
    int64_t count, room;
    int32_t (*vertex)[4]; /* numbered over cloth and colliders */
    int32_t *collider;    /* -1: cloth and cloth */
    double *distance;     /* m: how far apart both are kept: thickness, and the radius of a round collider */
    double *round;        /* m: the part of `distance` within which the collider is solid: its radius, or 0 */
} drape_i_pairs;

typedef struct drape_i_world_box {
    double low[3], high[3];
} drape_i_world_box;

/* The colliders that a vertex of the cloth ignores, because they pinch it. Doubles: a section of checkpoints. */
enum { DRAPE_I_MOST_ASIDE = 4 };
typedef struct drape_i_aside {
    double collider[DRAPE_I_MOST_ASIDE]; /* its number and 1 more, rising; then zeros */
} drape_i_aside;

typedef struct drape_i_world {
    drape_context *ctx;
    int32_t cloth_vertices, points, vertices; /* vertices: their sum */
    drape_contact_tree *cloth;                /* tree of the cloth's triangles */
    drape_contact_tree *objects;              /* of all triangles of colliders; NULL: there are none */
    drape_i_colliders *colliders;             /* NULL: none */
    const double *thickness;                  /* m, one per vertex of the cloth */
    const double *friction;                   /* one per vertex of the cloth */
    const int32_t *piece;                     /* one per vertex of the cloth; NULL: there are no pairs of pieces */
    int32_t pieces;
    const double *pair_thickness, *pair_friction; /* pieces^2 each; below 0: of both pieces' own */
    double thickest;                              /* m: the largest of thickness */
    bool self;                                    /* whether cloth meets cloth */
    bool mixed;                                   /* pairs also of vertices that are stopped on their way */
    const uint8_t *exempt; /* one per vertex of all, or NULL: two parts which both have a vertex that is not 0 are no
                              pair, and such a vertex may be below planes */
    const drape_i_aside *aside; /* one per vertex of the cloth, or NULL: a part of the cloth with such a vertex and a
                                   collider that it has set aside are no pair */
    const int32_t
        *joined_first;     /* one per vertex of the cloth and one more, or NULL: the vertices that stitches join it */
    const int32_t *joined; /*   with are joined[first .. next first - 1]; two parts of which one has a vertex that
                              is joined with one of the other are no pair, as if they had it in common */
    const int32_t *same; /* one per vertex of the cloth, or NULL: the first of those that are one point, which stands
                            for all of them in pairs */
    double *start, *end; /* m, 3 doubles per vertex of all */
    double start_time, end_time; /* s */
    drape_i_pairs pairs[2];      /* by drape_ccd_kind, of the last drape_i_world_find */
    drape_contact_pairs *found;  /* scratch: cloth and cloth */
    drape_contact_pairs *met;    /* scratch: cloth and colliders; lists of their own, whose rooms fit them */
    double largest;              /* m: the largest coordinate of start and end */
    int32_t triangles, edges;    /* of the cloth */
    int32_t (*triangle)[3];      /* the tree's */
    drape_i_world_box *box[2];   /* around blocks of the cloth's triangles and edges: for round colliders */
    int32_t blocks[2];
    int32_t *plane; /* colliders that are planes, plane_count of them */
    int32_t plane_count;
} drape_i_world;

typedef struct drape_i_world_settings {
    int32_t vertices, triangles; /* of the cloth */
    const int32_t *triangle;
    const double *thickness, *friction; /* one per vertex; must live on */
    const int32_t *piece;               /* these likewise; see drape_i_world */
    int32_t pieces;
    const double *pair_thickness, *pair_friction;
    const drape_collider *colliders;
    int32_t collider_count;
    bool self;
} drape_i_world_settings;

drape_status drape_i_world_create(drape_context *ctx, const drape_i_world_settings *settings, drape_i_world **out);
void drape_i_world_destroy(drape_i_world *world); /* NULL is fine */

/* Thickness (m) and friction between the cloth at two vertices. */
DRAPE_INLINE double drape_i_world_thickness(const drape_i_world *w, int32_t a, int32_t b) {
    double given = w->piece ? w->pair_thickness[(int64_t)w->piece[a] * w->pieces + w->piece[b]] : -1;
    return given < 0 ? 0.5 * (w->thickness[a] + w->thickness[b]) : given;
}
DRAPE_INLINE double drape_i_world_pair_friction(const drape_i_world *w, int32_t a, int32_t b) {
    return w->piece ? w->pair_friction[(int64_t)w->piece[a] * w->pieces + w->piece[b]] : -1;
}

/* Whether a vertex of the cloth does not meet a collider, because that is set aside. */
DRAPE_INLINE bool drape_i_world_sets_aside(const drape_i_world *world, int32_t vertex, int32_t collider) {
    for (int32_t k = 0; world->aside && k < DRAPE_I_MOST_ASIDE; k++)
        if (world->aside[vertex].collider[k] == collider + 1) return true;
    return false;
}

/* Sets the motion: the cloth from x0 to x1, the colliders from where they are at t0 to where they are at t1. */
void drape_i_world_set_motion(drape_i_world *world, const double *x0, double t0, const double *x1, double t1);

/* Fills `pairs` with all that come nearer than their `distance` + `margin` (m), or + `more` with a collider, when all
 * vertices move from start to end simultaneously; it may include others. So a fast sheet has no more pairs than one
 * at rest. The list stays complete while ends are changed by no more than half of what it has to spare. With `mixed`
 * it stays complete whatever parts of their ways vertices go: of a fast, fine sheet that is many times as much.
 * Planes are in no pair: each vertex of the cloth meets each plane. The same pairs in the same order whatever the
 * threads; allocates only where there are more than ever before. */
drape_status drape_i_world_find(drape_i_world *world, double margin, double more);

/* Leaves out pairs that have become exempt, or were set aside, since they were found. */
void drape_i_world_drop(drape_i_world *world);

/* Lets what is found next depend on nothing but the positions then, also its order. */
void drape_i_world_forget(drape_i_world *world);

/* m: how near a pair may come at most in a step that is kept. That is the radius of a round collider plus a hundredth
 * of the rest of its `distance`. It is at least 8 units in the last place of the largest coordinate in single
 * precision, so that files that store positions so show no false crossing. */
double drape_i_world_floor(const drape_i_world *world, double distance, double round);

#endif
