/* cloth.h: a cloth from inside. */
#ifndef DRAPE_CLOTH_CLOTH_H
#define DRAPE_CLOTH_CLOTH_H

#include "base/arena.h"
#include "cloth/model.h"
#include "cloth/wind.h"

enum { DRAPE_I_TERMS = DRAPE_I_MODEL_TERMS + 1 }; /* the model's, then the wind */

struct drape_cloth {
    drape_context *ctx;
    drape_cloth_settings settings;
    int32_t piece_count, vertices, triangles;
    drape_i_arena names;
    drape_piece_range *piece;
    int32_t (*triangle)[3];
    drape_i_hinges hinges;
    drape_i_rest_triangle *rest_triangle;
    double *mass, *area; /* one a vertex */

    const drape_i_model *model;
    void *model_state;
    bool limited;                  /* a material has a limit of strain */
    drape_i_evaluation evaluation; /* what the kernels look at during an assembly */
    drape_forces forces;
    drape_i_wind_data wind;
    drape_i_term terms[DRAPE_I_TERMS];
    int32_t term_count; /* the wind is the last */

    drape_matrix *pattern; /* shared by all matrices of this cloth */
    drape_i_assembly *plan;
};

#endif
