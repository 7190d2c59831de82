/* sim.h: a simulation from inside, and the parts of a step.
 *
 * A step of any kind goes through the same parts, each of which is one function:
 *
 *   begin      step.c: keeps the state, finds out which pins hold
 *   constrain  drape_i_sim_constrain: what is held, and what is prescribed of it
 *   assemble   drape_i_sim_assemble: forces and matrices
 *   solve      drape_i_sim_solve: the linear system
 *   advance    step.c: the new state
 *   respond    drape_i_sim_respond: what changes the state after the solve
 *   check      step.c: takes back a step that led nowhere
 *   certify    step.c
 *
 * The linearised step calls them in this order (step.c). Integrators of drape/ode.h call constrain, assemble, solve
 * and respond as often as their method asks, through the functions of cloth_system.c. */
#ifndef DRAPE_SIM_SIM_H
#define DRAPE_SIM_SIM_H

#include "base/context.h"
#include "cloth/force.h"
#include "drape/sim.h"

struct drape_i_integrator;

/* What the parts of a step add to, for its certificate. */
typedef struct drape_i_spent {
    int32_t solves, iterations; /* linear ones */
    drape_certificate_seconds seconds;
} drape_i_spent;

struct drape_sim {
    drape_context *ctx;
    drape_cloth *cloth;
    drape_assembler *forces;                         /* on the cloth */
    drape_force_energy force_energy[DRAPE_I_FORCES]; /* of the last certificate */
    drape_solver *solver;
    drape_matrix *A;
    drape_constraints *constraints;
    int32_t vertices;
    double h; /* s */
    int64_t steps;
    int64_t steps_before; /* done elsewhere: before a checkpoint that was restored */
    uint64_t scene;       /* drape_i_scene_hash of what it was made of */

    /* 3 doubles per vertex each; those that a scene does not need are NULL (sim.c). */
    double *x, *v;         /* state: m, m/s */
    const double *start;   /* positions at time 0; the cloth's */
    double *x_old, *v_old; /* state at the beginning of the last step */
    double *b;             /* right-hand side of the last linear system */
    double *dv;            /* velocity change of the last linearised step: the guess for the next */
    double *f, *Kv;        /* linearised steps: force, stiffness times velocity */
    double *dx;            /* linearised steps for positions: the unknown, */
    double *hv, *Ahv;      /*   h v, which is its guess, and A h v */
    double *impulse;       /* N s: what held in the last step, where the solver does not return that itself */
    double *momentum;      /* M v of a consistent mass, for the kinetic energy */

    double matrix_c; /* s: the c of A = M + c D + c^2 K; 0: there is no system yet */
    drape_unknowns unknowns;
    drape_matrix *mass_matrix;             /* NULL: lumped */
    struct drape_i_integrator *integrator; /* NULL: linearised Euler steps */

    /* The step under way, or the last one. */
    drape_i_spent spent;
    drape_solve_result solved; /* its last linear solve */
    drape_certificate_ode did; /* what its integrator did */

    int32_t held_count, pin_count, key_count;
    int32_t held_now;               /* vertices in `held` */
    drape_constraint *pinned;       /* all vertices of all pins, in their order */
    drape_constraint *held;         /* those that are held in this step, merged, with their z: what the solver gets */
    double *anchor;                 /* where each pinned vertex's motion begins, 3 doubles each */
    drape_pin *pins;                /* the scene's, with `count` only */
    drape_motion_key *keys;         /* of all pins */
    double *inverse_mass;           /* one per vertex, zero where held: for the limit of strain, else NULL */
    const double *constraint_force; /* of the last step; NULL before it */
    bool *holding;                  /* pin_count: which hold in this step */
    drape_constraint_builder *builder; /* merges what pins ask of the same vertex */
    bool contradiction_told;           /* since pins took hold or let go */
};

DRAPE_INLINE int64_t drape_i_sim_numbers(const drape_sim *sim) { return 3 * (int64_t)sim->vertices; }
DRAPE_INLINE bool drape_i_sim_solves_for_positions(const drape_sim *sim) {
    return sim->unknowns == DRAPE_UNKNOWN_POSITION;
}

/* ---- pins.c: constrain ---- */

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

/* ---- step.c: assemble, solve, respond ---- */

/* What A is assembled of for a stage with this c, for either unknown: M + c D + c^2 K, or that over c^2. */
drape_assembly drape_i_sim_system(const drape_sim *sim, double c);
/* All forces and their Jacobians, and the mass. A is sim->A, or NULL: forces only. */
drape_status drape_i_sim_assemble(drape_sim *sim, const drape_assembly *what, drape_matrix *A);
/* Solves sim->A u = sim->b under sim->constraints; of the problem's other fields those are used that `posed` has set.
 * The result is in sim->solved. */
drape_status drape_i_sim_solve(drape_sim *sim, const drape_problem *posed, double *u);

/* Whether respond may change anything. */
bool drape_i_sim_responds(const drape_sim *sim);
/* Changes the state that a step of h led to, where forces alone do not keep it admissible: the limit of strain.
 * Vertices that are held, in whatever directions, are not moved. */
drape_status drape_i_sim_respond(drape_sim *sim, double h, double *x, double *v);

/* ---- scene_hash.c ---- */

/* The same for scenes that are simulated alike, another for others. */
uint64_t drape_i_scene_hash(const drape_scene *scene);

/* ---- mass.c: the mass matrix of linear finite elements ---- */

drape_status drape_i_sim_mass_create(drape_sim *sim, const drape_scene *scene);
/* A += factor (consistent - lumped) */
void drape_i_sim_mass_correct(drape_sim *sim, double factor);
/* out = M in, either mass matrix; returns in' M in. */
double drape_i_sim_mass_times(drape_sim *sim, const double *in, double *out);

#endif
