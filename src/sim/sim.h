/* sim.h: a simulation from inside. */
#ifndef DRAPE_SIM_SIM_H
#define DRAPE_SIM_SIM_H

#include "base/context.h"
#include "drape/sim.h"

struct drape_i_integrator;

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
    double *dv;      /* velocity change of the last step: the guess for the next */
    double *f, *Kv;  /* force, stiffness times velocity; f becomes the right-hand side */
    double *b;       /* the same memory as f */
    double matrix_c; /* s: the c of A = M + c D + c^2 K; 0: there is no system yet */
    drape_unknowns unknowns;
    drape_matrix *mass_matrix;             /* NULL: lumped */
    struct drape_i_integrator *integrator; /* NULL: linearised Euler steps */

    int32_t held_count, pin_count, key_count;
    int32_t held_now;               /* vertices in `held` */
    drape_constraint *pinned;       /* all vertices of all pins, in their order */
    drape_constraint *held;         /* those that are held in this step, with their z: what the solver gets */
    double *anchor;                 /* where each pinned vertex's motion begins, 3 each */
    drape_pin *pins;                /* the scene's, with `count` only */
    drape_motion_key *keys;         /* of all pins */
    double *inverse_mass;           /* one a vertex, zero where held: for the limit of strain, else NULL */
    const double *constraint_force; /* of the last step; NULL before it */
    bool *holding;                  /* pin_count: which hold in this step */
};

/* Finds out which pins hold in the step from the present time on; true where others did in the step before. */
bool drape_i_sim_grip(drape_sim *sim);
/* Which pins held in the step that led to the present time; for a state that was restored. */
void drape_i_sim_regrip(drape_sim *sim);

/* Where what is held must be: anchor + displacement at t. */
typedef struct drape_i_aim {
    double t, c;         /* s */
    const double *x, *v; /* the velocity change (target(t) - x) / c - v is prescribed; v may be NULL: 0 */
    double factor;       /* the unknown is this times the velocity change */
} drape_i_aim;

/* Sets each held vertex's z. */
drape_status drape_i_sim_constrain(drape_sim *sim, const drape_i_aim *aim);
/* The same vertices are held, with z = 0. */
drape_status drape_i_sim_hold_still(drape_sim *sim);
/* Takes over the scene's pins; needs the constraints. */
drape_status drape_i_sim_hold(drape_sim *sim, const drape_scene *scene);
void drape_i_sim_anchor(drape_sim *sim); /* motions begin at the present positions */
void drape_i_sim_release(drape_sim *sim);

/* The same for scenes that are simulated alike, another for others. */
uint64_t drape_i_scene_hash(const drape_scene *scene);

/* ---- mass.c: the mass matrix of linear finite elements ---- */

drape_status drape_i_sim_mass_create(drape_sim *sim, const drape_scene *scene);
/* A += factor (consistent - lumped) */
void drape_i_sim_mass_correct(drape_sim *sim, double factor);
/* out = M in, either mass matrix; returns in' M in. */
double drape_i_sim_mass_times(drape_sim *sim, const double *in, double *out);

/* ---- step.c: what steps of every kind share ---- */

void drape_i_sim_remember(drape_sim *sim); /* the state, as that before the step */
/* Where a material has a limit of strain. Vertices that are held, in whatever directions, are not moved. */
drape_status drape_i_sim_limit_strain(drape_sim *sim);
void drape_i_sim_energies(drape_sim *sim, drape_certificate *c);

#endif
