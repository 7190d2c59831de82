/* stitches.h: points of the cloth that are held together.
 *
 * The offset of a stitch is D x = sum of w[a] x_a over the vertices of both points, those of b with the sign turned.
 * In the held directions it must be g(t) = r(t) g(0), r falling smoothly from 1 to 0 within `close`. An exact one is
 * an equality of the linear solves,
 *
 *     D u = factor ((g(t) - D x) / c - D v),
 *
 * whose target is the offset at the end of the step, so that errors do not add up. If contact has kept a stitch open,
 * each step closes half of the rest; closing it at once would throw the cloth into what is in the way. A soft one is
 * a spring,
 *
 *     energy k/2 |P (D x - g)|^2,   force on vertex a: -k w[a] P (D x - g),   K_ab = k w[a] w[b] P. */
#ifndef DRAPE_SIM_STITCHES_H
#define DRAPE_SIM_STITCHES_H

#include "sim/sim.h"

typedef struct drape_i_stitch {
    int32_t number; /* in the scene */
    int32_t count, vertex[DRAPE_EQUALITY_VERTICES];
    double w[DRAPE_EQUALITY_VERTICES];
    int32_t sides[DRAPE_EQUALITY_VERTICES]; /* 1: of point a, 2: of b, 3: of both */
    int32_t directions;
    double direction[3][3];
    double P[9]; /* onto the held directions */
    double stiffness, close;
    double gap[3]; /* m: D x at the start */
    double lag[3]; /* m: D x - g at the beginning of the step, where contact kept it open */
} drape_i_stitch;

/* Soft stitches with this number of vertices each: a force. */
typedef struct drape_i_springs {
    drape_sim *sim;
    int32_t count, *node, *stitch; /* their vertices; which stitch each is */
} drape_i_springs;

typedef struct drape_i_stitches {
    int32_t count, exact; /* exact ones come first */
    drape_i_stitch *item;
    drape_i_springs springs[DRAPE_EQUALITY_VERTICES + 1]; /* by the number of vertices */

    /* Exact ones */
    drape_equality *list; /* those, then what contact asks of stitched vertices, which yields */
    int32_t listed, room;
    double *before;      /* 12 doubles per exact one: velocities before constrain() */
    double tolerance;    /* of the equalities, in units of the unknown */
    drape_status failed; /* the last constrain() of an integrator */

    /* Groups of vertices that exact ones couple */
    int32_t *group; /* per vertex: its group; -1: in no exact one */
    int32_t groups, members;
    int32_t *first, *member; /* groups + 1; vertices by group */
    int32_t *tight; /* per vertex: its group, where that has no open stitch and is more than one point; or -1 */

    int32_t *same; /* per vertex: the first of those that closed stitches make one point, in all directions */

    /* Vertices that any stitch joins: for each, in first .. first + 1 of joined */
    int32_t *joined_first, *joined; /* vertices + 1 */
    int64_t joins;
} drape_i_stitches;

/* Checks and copies; before the assembler has made a matrix, since soft ones are in its pattern. Nothing where the
 * scene has none. */
drape_status drape_i_stitches_create(drape_sim *sim, const drape_scene *scene);
void drape_i_stitches_destroy(drape_sim *sim);
/* Takes the gaps at the start, and checks that pins and stitches can go together. */
drape_status drape_i_stitches_place(drape_sim *sim);

/* At the beginning of a step: how far contact has left exact ones behind. */
void drape_i_stitches_begin(drape_sim *sim);
/* The equalities join the constraints, which have just been set: aimed at the end of a step; for no change; for that
 * of u, 3 doubles per vertex. */
drape_status drape_i_stitches_constrain(drape_sim *sim, const drape_i_aim *aim);
drape_status drape_i_stitches_hold_still(drape_sim *sim);
drape_status drape_i_stitches_follow(drape_sim *sim, const double *u);
/* What contact asks of a vertex: through the builder, or for a stitched vertex as an equality that yields. */
drape_status drape_i_stitches_add_contact(drape_sim *sim, int32_t source, const drape_constraint *what);

/* Keeps the velocities of stitched vertices; whether they are others now, by more than rounding. */
void drape_i_stitches_keep(drape_sim *sim, const double *v);
bool drape_i_stitches_changed(const drape_sim *sim, const double *v);

/* J: what closing springs were given from t0 to t1, with the mean of the positions in mean_x. */
double drape_i_stitches_work(const drape_sim *sim, double t0, double t1);
/* Moves ends, m, of stitched vertices so that exact stitches are as they must be at t; lighter ones more, and those
 * of inverse mass 0 not. */
void drape_i_stitches_project(const drape_sim *sim, double t, const double *inverse_mass, double *x);

/* Whether a stitch joins vertices of two triangles of the cloth. */
bool drape_i_stitches_join(const drape_sim *sim, int32_t triangle, int32_t other);
/* Finds out which vertices are one point from x, at the beginning of a step, on to t, its end. */
void drape_i_stitches_weld(const drape_sim *sim, const double *x, double t);
/* A vertex that is held in all directions holds those that are stitched to it in all. One that stands for several has
 * the mass of all. */
void drape_i_stitches_spread_holds(const drape_sim *sim, double *inverse_mass);

DRAPE_INLINE bool drape_i_stitched(const drape_sim *sim, int32_t vertex) {
    return sim->stitches && sim->stitches->exact > 0 && sim->stitches->group[vertex] >= 0;
}

#endif
