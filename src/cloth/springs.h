/* springs.h: springs of a triangle mesh, for the models that are made of them. */
#ifndef DRAPE_CLOTH_SPRINGS_H
#define DRAPE_CLOTH_SPRINGS_H

#include "cloth/model.h"

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

#endif
