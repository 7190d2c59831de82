/* springs.h: springs of a triangle mesh, what the models made of them share, and what their kernels read. */
#ifndef DRAPE_CLOTH_SPRINGS_H
#define DRAPE_CLOTH_SPRINGS_H

#include "cloth/model.h"

/* ---- springs.c: which there are ---- */

typedef enum drape_i_spring_kind {
    DRAPE_I_SPRING_STRETCH, /* along an edge that carries warp or weft */
    DRAPE_I_SPRING_SHEAR,   /* along a diagonal of a cell */
    DRAPE_I_SPRING_BEND     /* between the far ends of two edges that go straight on through a vertex */
} drape_i_spring_kind;

typedef struct drape_i_spring {
    drape_i_spring_kind kind;
    int32_t piece;
    double length;    /* at rest, m, > 0 */
    double stiffness; /* N/m; of a bend spring 0: its model says what it is made of */
    double area;      /* of a bend spring: the sheet whose bending it carries, m^2 */
    double most;      /* length above which strain limiting shortens it, m; INFINITY: never */
} drape_i_spring;

/* Stretch and shear springs in the order of their edges, then those of bending. */
struct drape_i_springs {
    int32_t count, in_plane; /* all; those that do not bend, which come first */
    int32_t (*node)[2];
    drape_i_spring *spring;
};

/* tension_only: springs that are slack when compressed get the constants that make the moduli right for those. */
drape_status drape_i_springs_find(drape_context *ctx, const drape_i_model_input *input, bool tension_only,
                                  drape_i_springs *out);
void drape_i_springs_clear(drape_context *ctx, drape_i_springs *springs);

/* ---- spring_models.c ---- */

/* A straight spring's record: m, N/m, N s/m. */
enum { SPRING_LENGTH, SPRING_STIFFNESS, SPRING_DAMPING, SPRING_SIZE };

/* An arc's record, which spring_simd.c explains: m, N m^2, N/m, share of the length, J, N s/m. */
enum { ARC_LENGTH, ARC_RIGIDITY, ARC_FIRST, ARC_SWITCH, ARC_OFFSET, ARC_DAMPING, ARC_SIZE };

typedef struct drape_i_spring_data {
    const int32_t *nodes;
    double *records;
} drape_i_spring_data;

/* One term of straight springs and, where there are two, one of another kind for the bend springs. */
typedef struct drape_i_spring_model {
    drape_i_springs springs;
    drape_i_spring_data straight, arcs;
    int32_t straight_count, arc_count;
} drape_i_spring_model;

/* Finds the springs; the first `straight_count` of them get records of their own, the others are arcs: all are
 * straight unless `arcs`. Records are zero. */
drape_status drape_i_spring_model_create(drape_context *ctx, const drape_i_model_input *input, bool tension_only,
                                         bool arcs, drape_i_spring_model **out);
void drape_i_spring_model_destroy(drape_context *ctx, void *state);
const drape_i_springs *drape_i_spring_model_springs(const void *state);
/* Fills the record of straight spring i with its stiffness and the damping of its kind. */
void drape_i_spring_fill(drape_i_spring_model *model, const drape_piece *pieces, int32_t i, double stiffness);

/* ---- spring_simd.c ---- */

DRAPE_I_KERNEL(void, drape_i_spring, (const void *data, const void *at, const int32_t *elements, drape_i_batch *out));
DRAPE_I_KERNEL(void, drape_i_spring_energy,
               (const void *data, const drape_i_evaluation *at, const int32_t *elements, double *energy));
DRAPE_I_KERNEL(void, drape_i_spring_dissipation, /* of threads too */
               (const void *data, const drape_i_evaluation *at, const int32_t *elements, double *dissipation));
DRAPE_I_KERNEL(void, drape_i_thread, (const void *data, const void *at, const int32_t *elements, drape_i_batch *out));
DRAPE_I_KERNEL(void, drape_i_thread_energy,
               (const void *data, const drape_i_evaluation *at, const int32_t *elements, double *energy));
DRAPE_I_KERNEL(void, drape_i_arc, (const void *data, const void *at, const int32_t *elements, drape_i_batch *out));
DRAPE_I_KERNEL(void, drape_i_arc_energy,
               (const void *data, const drape_i_evaluation *at, const int32_t *elements, double *energy));
DRAPE_I_KERNEL(void, drape_i_arc_dissipation,
               (const void *data, const drape_i_evaluation *at, const int32_t *elements, double *dissipation));

#endif
