/* groups.h: equalities between vertices (drape_equality), group by group.
 *
 * Vertices that equalities couple, directly or through others, form a group. Its equalities, and what is held of its
 * vertices by themselves, are rows C x = w over its n = 3 size unknowns. Householder reflections make C lower
 * triangular,
 *
 *     C H = L,   H orthogonal, n x n,   x = H y,
 *
 * with one unknown of y, the pivot, per independent row. So the columns of H at the pivots are an orthonormal basis
 * of what is held. The pivots of y are known (L y = w); the other unknowns of y are free. In the unknowns y an
 * equality is a constraint of single vertices along x, y and z; `turned` is the set of those. S = H S~ H' is
 * block-diagonal over groups (Tamstorf, Jones and McCormick 2015, section 8).
 *
 * Rows are taken by rank: what is held of single vertices, equalities, equalities that yield; within a rank the one
 * with the most left of it first. A row of which no more than 1e-6 of its length is left depends on the others. The
 * pivot of a row is its largest unknown, the first of them: then y differs least from x.
 *
 * Cost: O(n^3) per group, so that groups have a limit; the work on others depends on the number of equalities. */
#ifndef DRAPE_LINEAR_GROUPS_H
#define DRAPE_LINEAR_GROUPS_H

#include "linear/constraints.h"

/* Vertices of a group. The turned matrix has dense rows for the group and its neighbours, and H has 9 numbers per
 * pair. With 64 vertices that is 300 kB, and a row ten times as long as others. */
enum { DRAPE_I_GROUP_MOST = 64, DRAPE_I_GROUP_UNKNOWNS = 3 * DRAPE_I_GROUP_MOST };

typedef struct drape_i_group {
    int32_t first, size; /* its vertices in `member` */
    int32_t rows;        /* of C */
    int32_t pivots;
    int64_t H;       /* where its H begins, row by row */
    int64_t C;       /* where its rows begin, of 3 size numbers each */
    int32_t row;     /* the first of its rows among all */
    bool scalar;     /* H is (a matrix of size x size) times the 3x3 identity */
    int32_t wrong;   /* a row that contradicts others; -1: none */
    double by;       /* by how much */
    int32_t yielded; /* rows that yielded */
} drape_i_group;

/* A row of C. */
typedef struct drape_i_group_row {
    int32_t equality; /* -1: of a vertex by itself */
    int32_t rank;     /* 0..2 */
    bool done;
    double w;
} drape_i_group_row;

/* Memory only grows. */
struct drape_i_groups {
    drape_context *ctx;
    int32_t vertices;
    int32_t count; /* 0: none, and nothing below is to be looked at but `of` */
    drape_i_group *group;
    int32_t members;
    int32_t *member; /* vertices by group, ascending in each */
    int32_t *of;     /* vertices: group; -1: none */
    int32_t *place;  /* vertices: which of its group it is */
    double *H;
    double *y;      /* 3 per member: what is prescribed of pivots, 0 for the others */
    uint8_t *pivot; /* 3 per member: 1 for a pivot */
    double *C;
    drape_i_group_row *row;
    int32_t rows;
    int32_t yielded;
    uint64_t shape;            /* of members and of those that have three pivots: what patterns depend on */
    bool moving;               /* some y is not zero */
    drape_constraints *turned; /* what is held of y, with z = 0 */
    /* Room: */
    int32_t group_room, member_room, row_room;
    int64_t H_room, C_room;
};

DRAPE_INLINE bool drape_i_any_groups(const drape_constraints *set) {
    return set && set->groups && set->groups->count > 0;
}
/* Whether all unknowns of y at a vertex are pivots. */
DRAPE_INLINE bool drape_i_group_fixes(const drape_i_groups *G, int32_t vertex) {
    if (G->of[vertex] < 0) return false;
    const uint8_t *p = G->pivot + 3 * ((int64_t)G->group[G->of[vertex]].first + G->place[vertex]);
    return p[0] && p[1] && p[2];
}
/* The 3x3 block of H between two vertices of a group, x_i = ... + H_ij y_j. */
void drape_i_group_block(const drape_i_groups *G, int32_t group, int32_t i, int32_t j, double out[9]);

void drape_i_groups_destroy(drape_i_groups *groups); /* NULL is fine */
/* Leaves none; NULL is fine. */
void drape_i_groups_clear(drape_i_groups *groups);

/* v = H v, or H'v, in place. */
void drape_i_groups_turn(const drape_i_groups *G, bool back, double *v);
/* v = S v, or (I-S) v, at the vertices of groups. */
void drape_i_groups_filter(const drape_i_groups *G, bool complement, double *v);
/* At the vertices of groups, M has the masses, one per vertex, and a = M^-1 f on entry. a becomes the acceleration
 * that keeps the equalities: M a + Q l = f, Q'a = 0. force = Q l is what they carry of f; it may be NULL. */
void drape_i_groups_accelerate(const drape_i_groups *G, const double *mass, double *a, double *force);
/* v gets what is prescribed, at the vertices of groups, by the least impulses, M dv = Q l: those of equalities
 * between vertices leave the momentum as it is. */
void drape_i_groups_impose(const drape_i_groups *G, const double *mass, double *v);
/* v += H y of what is prescribed, at the vertices of groups. */
void drape_i_groups_prescribe(const drape_i_groups *G, double *v);

#endif
