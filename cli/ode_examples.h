/* ode_examples.h: the examples of Hauth's survey, section 2, with their exact solutions. All are linear:
 * y' = rate y (first order), x'' = -stiffness x - damping v + push (second order). */
#ifndef DRAPE_CLI_ODE_EXAMPLES_H
#define DRAPE_CLI_ODE_EXAMPLES_H

#include "drape/ode.h"

#include <stdbool.h>

typedef struct ode_example {
    const char *name, *about;
    int32_t order;
    double end;                      /* s, where the survey stops */
    double rate;                     /* 1/s */
    double stiffness, damping, push; /* 1/s^2, 1/s, m/s^2 */
    double start[2];                 /* x (or y), v */
    const char *event;               /* v passes 0 where event_of_v, else x passes event_level */
    bool event_of_v;
    double event_level;
} ode_example;

/* NULL past the end; NULL if there is none of that name. */
const ode_example *ode_example_at(int32_t index);
const ode_example *ode_example_find(const char *name);

/* x and v (or y) at t. */
void ode_example_exact(const ode_example *e, double t, double out[2]);

/* The function that the example's event is a zero of; t of its zero number k = 0, 1, ... after the start, as the
 * exact solution has them; NAN past the last. */
double ode_example_event(const ode_example *e, double x, double v);
double ode_example_event_time(const ode_example *e, int32_t k);

/* f, Jacobian and stiffest eigenvalue; the linear part is to be filled from ode_example_dense. */
drape_ode_system ode_example_system(const ode_example *e);
drape_ode_dense_settings ode_example_dense(const ode_example *e);

/* A run: integrator and dense solver, started at t = 0. */
typedef struct ode_example_run {
    drape_ode *ode;
    drape_ode_dense *dense;
} ode_example_run;

drape_status ode_example_begin(drape_context *ctx, const ode_example *e, const drape_ode_settings *settings,
                               ode_example_run *out);
void ode_example_end(ode_example_run *run);
/* Largest difference from the exact solution, over x and v, where the run stands. */
double ode_example_error(const ode_example *e, const ode_example_run *run);

#endif
