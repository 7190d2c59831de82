/* sim.h: a simulation from inside. */
#ifndef DRAPE_SIM_SIM_H
#define DRAPE_SIM_SIM_H

#include "base/context.h"
#include "drape/sim.h"

struct drape_sim {
    drape_context *ctx;
    drape_cloth *cloth;
    drape_solver *solver;
    drape_matrix *A;
    drape_constraints *constraints;
    int32_t vertices;
    double h; /* s */
    int64_t steps;
    int64_t steps_before; /* done elsewhere: before a checkpoint that was restored */
    uint64_t scene;       /* drape_i_scene_hash of what it was made of */
    double gravity[3];    /* m/s^2 */

    double *x, *v; /* state: m, m/s */
    double *start; /* positions at time 0, where weight is zero */
    double *x_old; /* state at the start of the last step */
    double *v_old;
    double *dv;     /* velocity change of the last step: the guess for the next */
    double *f, *Kv; /* force, stiffness times velocity; f becomes the right-hand side */
    double *b;      /* the same memory as f */

    int32_t held_count, pin_count, key_count;
    drape_constraint *pinned;       /* all vertices of all pins, in their order */
    drape_constraint *held;         /* those that are held in this step, with their z: what the solver gets */
    double *anchor;                 /* where each pinned vertex's motion begins, 3 each */
    drape_pin *pins;                /* the scene's, with `count` only */
    drape_motion_key *keys;         /* of all pins */
    int32_t holding;                /* how many of `held` there are in this step */
    double *inverse_mass;           /* one a vertex, zero where held: for the limit of strain, else NULL */
    const double *constraint_force; /* of the last step; NULL before it */
};

/* Sets each held vertex's z to what takes it along its pin's motion from the present time to the next. */
drape_status drape_i_sim_constrain(drape_sim *sim);
/* Takes over the scene's pins; needs the constraints. */
drape_status drape_i_sim_hold(drape_sim *sim, const drape_scene *scene);
void drape_i_sim_anchor(drape_sim *sim); /* motions begin at the present positions */
void drape_i_sim_release(drape_sim *sim);

/* The same for scenes that are simulated alike, another for others. */
uint64_t drape_i_scene_hash(const drape_scene *scene);

#endif
