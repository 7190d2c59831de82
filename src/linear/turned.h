/* turned.h: a problem with equalities as one without.
 *
 * With x = H y + x_p, H orthogonal and block-diagonal over groups (groups.h), x_p what is prescribed,
 *
 *     S A x = S b, (I-S) x = (I-S) z     becomes     S~ A~ y = S~ b~, (I-S~) y = 0,
 *     A~ = H'A H,   b~ = H'(b - A x_p),   S~ = H'S H,
 *
 * and S~ holds single vertices only. So every method and preconditioner takes it: they see the merged matrix in full,
 * with rows of a group connected to all neighbours of its vertices. Since H is orthogonal, all norms are the same,
 * and PPCG takes the same steps as with S and the matrix S A S + C (I-S) in x. Vertices of which all unknowns are
 * pivots drop out: of their rows and columns the diagonal block is left. The near-kernel is H'K (amg/interpolate.c).
 *
 * Couplings become H'C H: couplings again where they are over at most four vertices of y, else they are added to A~,
 * whose pattern grows for them.
 *
 * Cost per solve: a pass over A and over A~, and one product each for x_p and for the constraint forces. */
#ifndef DRAPE_LINEAR_TURNED_H
#define DRAPE_LINEAR_TURNED_H

#include "linear/couplings.h"
#include "linear/groups.h"
#include "sparse/matrix.h"

/* Memory only grows. All zero but rows = -1 is a state in which nothing was posed. */
typedef struct drape_i_turned {
    drape_problem problem; /* the turned one */
    int32_t rows;          /* -1: no memory yet */
    const drape_i_groups *G;

    /* A~ */
    drape_matrix *A;          /* NULL: none yet */
    drape_i_pattern_key from; /* of A, whose pattern it was made for, */
    uint64_t shape;           /*   and of the groups */
    drape_bsr3 view;
    drape_operator op;
    const drape_operator *given;

    /* Vectors of 3 rows numbers */
    double *b, *y, *work;
    double *kernel; /* kernel_room vectors */
    int32_t kernel_room;

    /* Couplings */
    drape_i_couplings of_x; /* those of the problem as it was given */
    drape_coupling *list;
    double *blocks; /* 144 per coupling, for those of `list` that have some */
    int32_t *large; /* couplings that are added to A~ */
    int32_t couplings, larges, room;
    double *W; /* of the coupling in hand */
} drape_i_turned;

void drape_i_turned_free(drape_context *ctx, drape_i_turned *t);
/* Makes t->problem from a problem with groups, which has been checked except for A's pattern. keep: A~ and couplings
 * are those of before. with_b: b and guess, too; x_p and what depends on it. */
drape_status drape_i_turned_pose(drape_context *ctx, const drape_problem *given, bool keep, bool with_b,
                                 drape_i_turned *t);
/* x from y; and force = (I-S) (A x - b) where it is not NULL. */
void drape_i_turned_finish(drape_context *ctx, const drape_problem *given, drape_i_turned *t, double *x,
                           double *force);

/* The rigid motions at a vertex of y, H'K: 3 x modes numbers row by row, modes 3 or 6; x may be NULL for 3. */
void drape_i_turned_modes(const drape_i_groups *G, int32_t vertex, const double *x, const double centre[3],
                          int32_t modes, double *out);

#endif
