/* model.h: what a force model is: terms, each a set of elements with the kernels that evaluate eight of them.
 *
 * To add a model: a file that fills a drape_i_model, its kernels in *_simd.c files, one line in models.c. */
#ifndef DRAPE_CLOTH_MODEL_H
#define DRAPE_CLOTH_MODEL_H

#include "base/simd_level.h"
#include "cloth/rest.h"
#include "drape/cloth.h"
#include "sparse/assembly.h"

#include <stddef.h>

/* At which state, and what of it: handed to all kernels. */
typedef struct drape_i_evaluation {
    double time;               /* s */
    const double *x, *v;       /* 3 doubles per vertex; an energy does not look at v */
    const double *lagged_x;    /* where the geometry of damping and wind is taken; NULL: at x */
    double damping, stiffness; /* element matrix = damping D + stiffness K */
    drape_jacobian jacobian;
    double exactness; /* with DRAPE_JACOBIAN_PSD, in [0, 1]: what negative eigenvalues are multiplied by */
    drape_damping_jacobian damping_jacobian;
    bool matrix, stiff_v; /* whether blocks, and K v, are wanted; kernels may give them in any case */
    bool potential;       /* whether batches must give energy + c dissipation as their scalar */
    double c;             /* s */
    const struct drape_i_nodal_state *membrane; /* that of the nodal membrane at this state; NULL: not evaluated */
} drape_i_evaluation;

/* How a kernel treats the damping of a condition C, whose force is -c (g.v) g with g = dC/dx. */
typedef enum drape_i_damping {
    DRAPE_I_DAMPING_SYMMETRIC, /* g at x; of -df/dx the part c (g.v) d2C/dx2 is in K */
    DRAPE_I_DAMPING_FULL,      /* g at x; all of -df/dx is in K, and the batches have a `lower` */
    DRAPE_I_DAMPING_LAGGED     /* g at lagged_x, which does not depend on x: none of it is in K */
} drape_i_damping;

static inline drape_i_damping drape_i_damping_of(const drape_i_evaluation *at) {
    if (at->lagged_x) return DRAPE_I_DAMPING_LAGGED;
    return at->damping_jacobian == DRAPE_DAMPING_FULL ? DRAPE_I_DAMPING_FULL : DRAPE_I_DAMPING_SYMMETRIC;
}

/* Where the geometry of damping and wind is taken. */
static inline const double *drape_i_damping_x(const drape_i_evaluation *at) {
    return at->lagged_x ? at->lagged_x : at->x;
}

/* A number for each of eight elements: energies, J, or dissipations, W. */
typedef void (*drape_i_energy_fn)(const void *data, const drape_i_evaluation *at,
                                  const int32_t elements[DRAPE_I_LANES], double energy[DRAPE_I_LANES]);

typedef struct drape_i_term {
    drape_elements elements;
    const drape_i_batch_fn *batch;   /* a variant per SIMD level; `at` is a drape_i_evaluation */
    const drape_i_energy_fn *energy; /* likewise; NULL: the term has none */
    /* Likewise; NULL: the term has none. R(v) with the geometry at drape_i_damping_x: with lagged_x the force is
     * -d energy/dx - d dissipation/dv, exactly. */
    const drape_i_energy_fn *dissipation;
    const void *data; /* handed to all */
    bool potential;   /* its batches give that of drape_i_evaluation */
    bool damped;      /* with DRAPE_DAMPING_FULL its batches have a `lower` */
    bool unsymmetric; /* its batches always have one */
} drape_i_term;

enum { DRAPE_I_MODEL_TERMS = 5 };

/* For models that bend alike in all directions. */
static inline double drape_i_mean_bend(const drape_material *m) {
    return m->bend_weft > 0 ? 0.5 * (m->bend + m->bend_weft) : m->bend;
}

/* What a model is made from. The arrays outlive the model, except for `rest_*`, which it copies from. */
typedef struct drape_i_model_input {
    int32_t triangles, vertices, piece_count;
    const int32_t (*triangle)[3];
    const drape_i_hinges *hinges;
    const drape_i_rest_triangle *rest_triangle;
    const drape_i_rest_hinge *rest_hinge;
    const int32_t *piece_of_triangle;
    const drape_piece *pieces;
    const drape_material *const *material; /* of each triangle */
    drape_membrane membrane;
    const double *area;  /* m^2, one per vertex */
    const bool *covered; /* per hinge: its bending is that of a drape_i_quadratic; NULL: none is */
} drape_i_model_input;

typedef struct drape_i_springs drape_i_springs; /* springs.h */

/* A row of the table of models (models.c), which says all that others need to know about it. */
typedef struct drape_i_model {
    const char *name;
    const char *about;                  /* one line */
    const drape_material_field *fields; /* of a material that it looks at, ended by one without a name */
    bool linear_jacobian;               /* takes DRAPE_JACOBIAN_LINEAR; then it has springs() */
    bool strain_limit;                  /* takes a strain_limit; then it has springs() */
    drape_bending bending;   /* its own; DRAPE_BENDING_OF_MODEL: it is not made of triangles and takes no other */
    drape_membrane membrane; /* likewise */
    /* Fills terms and *term_count; *state is handed to destroy. */
    drape_status (*create)(drape_context *ctx, const drape_i_model_input *input, drape_i_term *terms,
                           int32_t *term_count, void **state);
    void (*destroy)(drape_context *ctx, void *state);
    /* What it is made of; NULL: not of springs. */
    const drape_i_springs *(*springs)(const void *state);
} drape_i_model;

/* Rows of `fields` that models share. Defaults are those of drape_material_defaults; a test compares them. */
#define DRAPE_I_FIELD(field, count, unit, value, about)                                                              \
    { #field, unit, about, value, offsetof(drape_material, field), count }
#define DRAPE_I_SHEET_FIELDS                                                                                         \
    DRAPE_I_FIELD(density, 1, "kg/m^2", 0.15, "mass per area"),                                                      \
        DRAPE_I_FIELD(stretch, 2, "N/m", 5000, "stretch stiffness along warp and weft"),                             \
        DRAPE_I_FIELD(shear, 1, "N/m", 100, "shear stiffness"),                                                      \
        DRAPE_I_FIELD(bend, 1, "N m", 1e-5, "bending rigidity, that of the warp"),                                   \
        DRAPE_I_FIELD(bend_weft, 1, "N m", 0, "bending rigidity of the weft, where it is another"),                  \
        DRAPE_I_FIELD(damping_stretch, 1, "s", 2e-4, "damping of stretch over its stiffness"),                       \
        DRAPE_I_FIELD(damping_shear, 1, "s", 2e-4, "damping of shear over its stiffness"),                           \
        DRAPE_I_FIELD(damping_bend, 1, "s", 2e-4, "damping of bending over its stiffness")
#define DRAPE_I_SPRING_FIELDS                                                                                        \
    DRAPE_I_FIELD(spring_stretch, 1, "N/m", 0, "constant of every stretch spring, in place of stretch"),             \
        DRAPE_I_FIELD(spring_shear, 1, "N/m", 0, "constant of every shear spring, in place of shear"),               \
        DRAPE_I_FIELD(strain_limit, 1, "", 0, "most elongation of a stretch or shear spring after a step")

/* NULL: the default, which is the first row. Without such a model NULL. */
const drape_i_model *drape_i_model_find(const char *name);
/* Names of the models for which `has` is true, or all where it is NULL, for messages: "a, b". */
void drape_i_model_list(bool (*has)(const drape_i_model *model), char *out, size_t size);

#endif
