/* hold.h: the vertices of drape_sim_hold (hold.c). */
#ifndef DRAPE_SIM_HOLD_H
#define DRAPE_SIM_HOLD_H

#include "sim/sim.h"

struct drape_i_hold {
    int32_t count;
    int32_t *vertex; /* room for all vertices, like the arrays below */
    double *target;  /* m, 3 doubles per entry */
    double *from;    /* m, 3 doubles per entry: where it was when the step began */
    bool *seen;   /* per vertex: pins hold it in the step under way; before that, it is in a list that is checked */
    double speed; /* m/s */
    double began; /* s: when the step under way began */
    bool changed; /* other vertices are held than in the step before */
};

void drape_i_hold_destroy(drape_context *ctx, int64_t vertices, drape_i_hold *hold); /* NULL is fine */
/* At the beginning of a step, after it is known which pins hold. True: other vertices are held than before. */
bool drape_i_hold_begin(drape_sim *sim);
/* Adds what is asked of the held vertices to the builder. */
drape_status drape_i_hold_constrain(drape_sim *sim, const drape_i_aim *aim, int32_t source);

#endif
