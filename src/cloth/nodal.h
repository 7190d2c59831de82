/* nodal.h: stretch and shear from the mean metric around each vertex: the membrane `nodal`. */
#ifndef DRAPE_CLOTH_NODAL_H
#define DRAPE_CLOTH_NODAL_H

#include "base/simd_level.h"
#include "cloth/model.h"

enum {
    DRAPE_I_NODAL_CONDITIONS = 3,                     /* stretch along u and along v, shear */
    DRAPE_I_NODAL_ARC = 12 * DRAPE_I_NODAL_CONDITIONS /* numbers of `arc` per point */
};
#define DRAPE_I_NODAL_ALONE 3e-5 /* the share of stiffness that triangles keep */

/* A triangle around a point: which of the point's entries its other two corners are, and their parts of w_u and w_v.
 * Those are times the square root of the triangle's weight in the mean. */
typedef struct drape_i_nodal_triangle {
    int32_t at[2];
    double du[2], dv[2];
} drape_i_nodal_triangle;

/* Points are vertices as the triangles on one side of a seam see them. Entries [first[p], first[p + 1]) are the
 * vertices around point p, itself first, and its triangles are [fan[p], fan[p + 1]). */
typedef struct drape_i_nodal {
    int32_t vertices, points;
    int64_t entries, triangles, pairs; /* first[points], fan[points], square[points] */
    int64_t room;                      /* for triangles */
    int64_t *first, *fan;
    int64_t *padded;          /* as first, with n filled up to a multiple of eight */
    int64_t *square;          /* where matrices of all pairs begin, in rows of that length */
    int32_t *node, *point_of; /* per entry */
    drape_i_nodal_triangle *triangle;
    double *fit;              /* of each point: C_11, C_22 and C_12, filled up with zeros; 0 without arcs */
    double *arc;              /* per point: A of Q for each condition, then of P; 11 22 33 12 13 23 */
    double *stiffness;        /* per point and condition: area times stiffness, N m */
    double *damping;          /* likewise, N m s */
    int64_t *row, *row_entry; /* of each vertex: the entries that are it, ascending */
} drape_i_nodal;

/* Of all pieces; with all of the stiffness but the share that triangles keep. */
drape_status drape_i_nodal_create(drape_context *ctx, const drape_i_model_input *input, drape_i_nodal **out);
void drape_i_nodal_destroy(drape_context *ctx, drape_i_nodal *nodal); /* NULL is fine */

/* Couplings as elements of two vertices each, for the pattern of a matrix; *pairs is freed by the caller, 2 * *count
 * of them. */
drape_status drape_i_nodal_pairs(drape_context *ctx, const drape_i_nodal *nodal, int32_t **pairs, int32_t *count);
/* Of each pair (a, b) of a point's entries, which block of the row of a is that of b: drape_i_nodal_slot_count of
 * them, row by row. */
static inline int64_t drape_i_nodal_slot_count(const drape_i_nodal *nodal) { return nodal ? nodal->pairs : 0; }
void drape_i_nodal_find_slots(const drape_i_nodal *nodal, const drape_bsr3 *pattern, int32_t *slot);

/* What an evaluation leaves for the rows. The block of the entries a and b of a point is
 *     sum_s sign_s gradient_s(a) gradient_s(b)' + same(a, b) I.
 * Lagged damping adds the sum of right_s(a) right_s(b)', and DRAPE_DAMPING_FULL that of left_s(a) right_s(b)'. */
typedef struct drape_i_nodal_state {
    double *gradient;     /* per entry, three vectors: zeta of each condition, times the square root of its factor */
    double *right, *left; /* likewise; left is there for DRAPE_DAMPING_FULL alone */
    double *vectors;      /* per entry: force, then K v */
    double *sign;         /* per point and condition */
    double *potential;    /* per point: energy + c dissipation, where it was wanted */
    double *same;         /* per pair a <= b, in rows as nodal.square says; without the factor of K */
} drape_i_nodal_state;

drape_status drape_i_nodal_state_create(drape_context *ctx, const drape_i_nodal *nodal, bool full,
                                        drape_i_nodal_state *state);
void drape_i_nodal_state_clear(drape_context *ctx, const drape_i_nodal *nodal, drape_i_nodal_state *state);

/* All points, on all threads; before rows are added. */
void drape_i_nodal_evaluate(drape_context *ctx, const drape_i_nodal *nodal, const drape_i_evaluation *at,
                            drape_i_nodal_state *state);

/* For rows [begin, end): force, K v and damping D + stiffness K are added. Each may be NULL. */
typedef struct drape_i_nodal_rows {
    int32_t begin, end;
    double *force, *stiff_v;
    const int64_t *rowptr; /* of the matrix */
    const int32_t *slot;
    bool upper; /* blocks left of the diagonal are left alone */
    double *val;
} drape_i_nodal_rows;

void drape_i_nodal_add(drape_context *ctx, const drape_i_nodal *nodal, const drape_i_evaluation *at,
                       const drape_i_nodal_state *state, const drape_i_nodal_rows *rows);

/* nodal_simd.c: points [begin, end) for the functions above and below. */
DRAPE_I_KERNEL(void, drape_i_nodal_points,
               (const drape_i_nodal *nodal, const drape_i_evaluation *at, drape_i_nodal_state *state, int64_t begin,
                int64_t end));
DRAPE_I_KERNEL(void, drape_i_nodal_rows,
               (const drape_i_nodal *nodal, const drape_i_evaluation *at, const drape_i_nodal_state *state,
                const drape_i_nodal_rows *rows));
DRAPE_I_KERNEL(double, drape_i_nodal_energies,
               (const drape_i_nodal *nodal, const drape_i_evaluation *at, int64_t begin, int64_t end));
DRAPE_I_KERNEL(double, drape_i_nodal_dissipations,
               (const drape_i_nodal *nodal, const drape_i_evaluation *at, int64_t begin, int64_t end));

/* The sum of state.potential. */
double drape_i_nodal_potential(drape_context *ctx, const drape_i_nodal *nodal, const drape_i_nodal_state *state);
/* J, and W as drape_i_term.dissipation. */
double drape_i_nodal_energy(drape_context *ctx, const drape_i_nodal *nodal, const drape_i_evaluation *at);
double drape_i_nodal_dissipation(drape_context *ctx, const drape_i_nodal *nodal, const drape_i_evaluation *at);

#endif
