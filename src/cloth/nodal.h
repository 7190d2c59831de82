/* nodal.h: stretch and shear from the mean metric around each vertex: the membrane `nodal`. */
#ifndef DRAPE_CLOTH_NODAL_H
#define DRAPE_CLOTH_NODAL_H

#include "base/simd_level.h"
#include "cloth/model.h"

enum {
    DRAPE_I_NODAL_CONDITIONS = 3, /* stretch along u and along v, shear */
    DRAPE_I_NODAL_MOST = 48       /* most vertices of a ring: DRAPE_I_RING_NODES, a multiple of eight */
};
#define DRAPE_I_NODAL_ALONE 3e-5 /* the share of stiffness that triangles keep */

/* Points are vertices as the triangles on one side of a seam see them. Entries [first[p], first[p + 1]) are the
 * vertices around point p, itself first. square[p] is where its matrices begin: three of n rows, which are filled up
 * with zeros to a multiple of eight. */
typedef struct drape_i_nodal {
    int32_t vertices, points;
    int64_t entries, numbers; /* first[points], square[points] */
    int64_t *first, *square;
    int64_t *padded; /* as first, with rings of a multiple of eight: where the vectors of an evaluation begin */
    int32_t *node, *point_of;  /* per entry */
    double *metric, *positive; /* Q and P of the head of nodal.c */
    double *stiffness;         /* per point and condition: area times stiffness, N m */
    double *damping;           /* likewise, N m s */
    int64_t *row, *row_entry;  /* of each vertex: the entries that are it, ascending */
} drape_i_nodal;

/* Of all pieces; with all of the stiffness but the share that triangles keep. */
drape_status drape_i_nodal_create(drape_context *ctx, const drape_i_model_input *input, drape_i_nodal **out);
void drape_i_nodal_destroy(drape_context *ctx, drape_i_nodal *nodal); /* NULL is fine */

/* Couplings as elements of two vertices each, for the pattern of a matrix; *pairs is freed by the caller, 2 * *count
 * of them. */
drape_status drape_i_nodal_pairs(drape_context *ctx, const drape_i_nodal *nodal, int32_t **pairs, int32_t *count);
/* Of each pair (a, b) of a point's entries, which block of the row of a is that of b: drape_i_nodal_slot_count of
 * them, in rows as those of the matrices. */
static inline int64_t drape_i_nodal_slot_count(const drape_i_nodal *nodal) {
    return nodal ? nodal->numbers / DRAPE_I_NODAL_CONDITIONS : 0;
}
void drape_i_nodal_find_slots(const drape_i_nodal *nodal, const drape_bsr3 *pattern, int32_t *slot);

/* What an evaluation leaves for the rows. */
typedef struct drape_i_nodal_state {
    double *gradient; /* of each point: zeta of the three conditions, as nodal_simd.c reads it */
    double *other;    /* likewise: zeta at lagged_x, or the unsymmetric part of the damping */
    double *vectors;  /* per entry: force, then K v */
    double *weights;  /* per point and condition, NODAL_WEIGHTS of nodal_evaluate.c */
    double *same;     /* of each point: the part of the matrix that is a multiple of the identity for each pair */
} drape_i_nodal_state;

drape_status drape_i_nodal_state_create(drape_context *ctx, const drape_i_nodal *nodal, drape_i_nodal_state *state);
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

/* Vectors y and out: three components, DRAPE_I_NODAL_MOST numbers apart. */
DRAPE_I_KERNEL(void, drape_i_nodal_multiply,
               (int64_t n, int64_t room, double scale, const double *m, const double *y, double *out));
DRAPE_I_KERNEL(void, drape_i_nodal_merge,
               (int64_t count, const double p[3], const double q[3], const double *P, const double *Q, double *out));
DRAPE_I_KERNEL(void, drape_i_nodal_products,
               (int64_t room, const double w[3], const double a[9], const double *same, const double *vectors,
                double *out));

/* J, and W as drape_i_term.dissipation. */
double drape_i_nodal_energy(drape_context *ctx, const drape_i_nodal *nodal, const drape_i_evaluation *at);
double drape_i_nodal_dissipation(drape_context *ctx, const drape_i_nodal *nodal, const drape_i_evaluation *at);

#endif
