/* integrate.h: the integrators of drape/ode.h on a cloth.
 *
 * A step of the scene is one call of drape_ode_advance on the system of cloth_system.c. What holds the cloth is the
 * same for all of that step; a multistep method begins anew when that changes. */
#ifndef DRAPE_SIM_INTEGRATE_H
#define DRAPE_SIM_INTEGRATE_H

#include "drape/ode.h"
#include "sim/sim.h"

typedef struct drape_i_integrator {
    drape_ode *ode;
    drape_ode_settings settings;
    drape_solver *mass_solver; /* of a consistent mass in explicit methods; else NULL */
    bool same_matrix;          /* the solver has seen the matrix, with what is held now */
    double constant_c;         /* s: sim->A is the matrix of that c wherever the cloth is; 0: it is not */
    double constant_drag;      /* N s/m^3: the forces' air_drag in it */
    double *held_before;       /* 3 doubles per pinned vertex: velocities before constrain() */
    double *carried;           /* 3 doubles per vertex: (I-S) of the last residual */
    double *change;            /* 3 doubles per vertex, linearised steps: the change up to where they linearise */
    double *before[2];         /* 3 doubles per vertex: x and v before respond(); NULL where it does nothing */
    double stiffest[2];        /* see stiffest.c */
    int64_t stiffest_step;     /* of the scene, in which that was found; -1: never */
    double *lanczos[3];        /* 3 doubles per vertex each; explicit methods only */
} drape_i_integrator;

/* Zeros in the integration of a scene become its defaults. */
drape_integration drape_i_integration_resolve(const drape_integration *given);
/* Whether that is "linearised-euler". */
bool drape_i_integration_is_linearised(const drape_integration *s);
/* How tightly linear systems are solved, mostly: what the solver chooses its preconditioner by. */
double drape_i_integration_tolerance(const drape_scene *scene);

drape_status drape_i_integrator_create(drape_sim *sim, const drape_scene *scene);
void drape_i_integrator_destroy(drape_sim *sim);
/* Drops what was found in earlier steps and would be found again, but for the past of multistep methods. */
void drape_i_integrator_forget(drape_i_integrator *it);
/* Begins anew from the state of the simulation. */
drape_status drape_i_integrator_start(drape_sim *sim);
/* After a step that failed: goes on from the state of the simulation. */
void drape_i_integrator_take_back(drape_sim *sim, drape_status status);
/* From the state of the simulation to that one step of the scene later. */
drape_status drape_i_integrate(drape_sim *sim, bool other_pins);

/* cloth_system.c: M x'' = f(x, v) of the cloth as a table of functions; user is the drape_sim. */
drape_ode_system drape_i_cloth_system(drape_sim *sim, bool implicit);

/* stiffest.c: the eigenvalue that limits explicit steps, 1/s. */
void drape_i_cloth_stiffest(void *user, double t, const double *x, const double *v, double lambda[2]);

#endif
