/* model.h: what a force model is: terms, each a set of elements with the kernels that evaluate eight of them.
 *
 * To add a model: a file that fills a drape_i_model, its kernels in *_simd.c files, one line in models.c. */
#ifndef DRAPE_CLOTH_MODEL_H
#define DRAPE_CLOTH_MODEL_H

#include "base/simd_level.h"
#include "cloth/topology.h"
#include "drape/cloth.h"
#include "sparse/assembly.h"

/* At which state, and what of it: kernels find it through their data. */
typedef struct drape_i_evaluation {
    const double *x, *v;       /* 3 a vertex */
    double damping, stiffness; /* element matrix = damping D + stiffness K */
    drape_jacobian jacobian;
    drape_damping_jacobian damping_jacobian;
} drape_i_evaluation;

/* Elastic energies of eight elements, J. */
typedef void (*drape_i_energy_fn)(const void *data, const int32_t elements[DRAPE_I_LANES],
                                  double energy[DRAPE_I_LANES]);

typedef struct drape_i_term {
    drape_elements elements;
    const drape_i_batch_fn *batch;   /* a variant per SIMD level */
    const drape_i_energy_fn *energy; /* likewise; NULL: the term has none */
    const void *data;                /* handed to both */
    bool damped;                     /* with DRAPE_DAMPING_FULL its batches have a `lower` */
} drape_i_term;

enum { DRAPE_I_MODEL_TERMS = 4 };

/* One piece's geometry at rest, in material space, made by rest.c. */
typedef struct drape_i_rest_triangle {
    double area;         /* m^2 */
    double du[3], dv[3]; /* w_u = sum du_i x_i, w_v = sum dv_i x_i; 1/m */
} drape_i_rest_triangle;

typedef struct drape_i_rest_hinge {
    double length2; /* squared length of the edge, m^2 */
    double area;    /* of its two triangles, m^2 */
    double angle;   /* at rest, rad */
} drape_i_rest_hinge;

/* What a model is made from. The arrays outlive the model, but for `rest_*`, which it copies from. */
typedef struct drape_i_model_input {
    int32_t triangles, vertices, piece_count;
    const int32_t (*triangle)[3];
    const drape_i_hinges *hinges;
    const drape_i_rest_triangle *rest_triangle;
    const drape_i_rest_hinge *rest_hinge;
    const int32_t *piece_of_triangle;
    const drape_piece *pieces;
    const double *area;                   /* m^2, one a vertex */
    const drape_i_evaluation *evaluation; /* lives at this address as long as the cloth */
} drape_i_model_input;

typedef struct drape_i_springs drape_i_springs; /* springs.h */

typedef struct drape_i_model {
    const char *name;
    /* Fills terms and *term_count; *state is handed to destroy. */
    drape_status (*create)(drape_context *ctx, const drape_i_model_input *input, drape_i_term *terms,
                           int32_t *term_count, void **state);
    void (*destroy)(drape_context *ctx, void *state);
    /* What it is made of; NULL: not of springs, so it has neither a linear Jacobian nor a limit of strain. */
    const drape_i_springs *(*springs)(const void *state);
} drape_i_model;

const drape_i_model *drape_i_model_find(const char *name);

extern const drape_i_model drape_i_baraff_witkin, drape_i_choi_ko, drape_i_provot;

#endif
