/* integrate.h: the integrators of drape/ode.h on a cloth.
 *
 * A step of the scene is one call of drape_ode_advance on the system of cloth_system.c. What holds the cloth is the
 * same for all of that step; a multistep method begins anew when that changes, or the host has changed the state. */
#ifndef DRAPE_SIM_INTEGRATE_H
#define DRAPE_SIM_INTEGRATE_H

#include "drape/ode.h"
#include "sim/sim.h"

/* What the parts of a step add to, for its certificate. */
typedef struct drape_i_spent {
    int64_t linear_iterations;
    double assemble_seconds, precondition_seconds, solve_seconds;
} drape_i_spent;

typedef struct drape_i_integrator {
    drape_ode *ode;
    drape_ode_settings settings;
    bool damped;               /* some material is: there is no potential then */
    drape_solver *mass_solver; /* of a consistent mass in explicit methods; else NULL */
    drape_solve_result solved; /* the last linear solve of the step; method NULL: there was none */
    drape_i_spent spent;       /* in the step under way */
    bool same_matrix;          /* the solver has seen the matrix, with what is held now */
    double constant_c;         /* s: sim->A is the matrix of that c wherever the cloth is; 0: it is not */
    double constant_drag;      /* N s/m^3: the forces' air_drag in it */
    double *held_before;       /* 3 a pinned vertex: velocities before constrain() */
    drape_status (*potential)(void *user, const drape_ode_point *at, double *out); /* of the system */
    double *carried, *impulse; /* 3 a vertex: (I-S) of the last residual; what held in the last step, N s */
    double stiffest[2];        /* see stiffest.c */
    int64_t stiffest_step;     /* of the scene, in which that was found; -1: never */
    double *lanczos[3];        /* 3 a vertex each; explicit methods only */
} drape_i_integrator;

drape_status drape_i_integrator_create(drape_sim *sim, const drape_scene *scene);
/* How tightly linear systems are solved, mostly: what the solver chooses its preconditioner by. */
double drape_i_integration_tolerance(const drape_scene *scene);
void drape_i_integrator_destroy(drape_sim *sim);
/* Drops what was found in earlier steps and would be found again, but for the past of multistep methods. */
void drape_i_integrator_forget(drape_i_integrator *it);
drape_status drape_i_integrator_step(drape_sim *sim, drape_certificate *certificate);

/* cloth_system.c: M x'' = f(x, v) of the cloth as a table of functions; user is the drape_sim. */
drape_ode_system drape_i_cloth_system(drape_sim *sim, bool implicit);
/* Whether all forces have a potential, for the line search. */
bool drape_i_cloth_has_potential(const drape_sim *sim);

/* stiffest.c: the eigenvalue that limits explicit steps, 1/s. */
void drape_i_cloth_stiffest(void *user, double t, const double *x, const double *v, double lambda[2]);

#endif
