/* cloth.h: the internals of a cloth. It does not change once it is created. */
#ifndef DRAPE_CLOTH_CLOTH_H
#define DRAPE_CLOTH_CLOTH_H

#include "base/arena.h"
#include "cloth/nodal.h"
#include "cloth/quadratic.h"

struct drape_cloth {
    drape_context *ctx;
    drape_cloth_settings settings;
    int32_t piece_count, vertices, triangles;
    drape_i_arena names;
    drape_piece_range *piece;
    int32_t (*triangle)[3];
    drape_i_hinges hinges;
    drape_i_rest_triangle *rest_triangle;
    double *rest;        /* 3 doubles per vertex */
    double *mass, *area; /* one per vertex */

    const drape_i_model *model;
    void *model_state;
    bool limited;               /* a material has a limit of strain */
    bool stiffens;              /* a material does, with strain */
    bool damped;                /* a material is damped: the model's forces have no potential */
    drape_i_quadratic *bending; /* a part of the model; NULL: all of its forces are those of the terms */
    drape_i_nodal *membrane;    /* likewise: of DRAPE_MEMBRANE_NODAL */
    drape_i_term terms[DRAPE_I_MODEL_TERMS];
    int32_t term_count;
};

/* The triangle of drape_cloth_stretch; 0 if there is none. */
int32_t drape_i_cloth_longest(const drape_cloth *cloth, const double *x);

#endif
