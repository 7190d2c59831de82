/* ode_problem.h: what `drape ode` integrates, an example of its own or a system from a shared library. */
#ifndef DRAPE_CLI_ODE_PROBLEM_H
#define DRAPE_CLI_ODE_PROBLEM_H

#include "cli.h"
#include "drape/ode_plugin.h"
#include "ode_examples.h"

typedef struct ode_problem {
    drape_ode_plugin table;     /* everything about it */
    const ode_example *example; /* NULL: it is from a library */
    drape_ode_events events;    /* of an example */
    void *library;
} ode_problem;

/* By the name of an example, or the path of a shared library: a word with a / in it, or that ends in .so. False after
 * a complaint. */
bool ode_problem_open(const char *name, ode_problem *out);
void ode_problem_close(ode_problem *p);

/* ode_plugin.c: the same for a library alone. */
bool ode_is_plugin(const char *name);
bool ode_plugin_open(const char *path, ode_problem *out);

/* Numbers in x and v together. */
int64_t ode_problem_length(const ode_problem *p);

/* Whether linear systems can be solved with what it has: then `newton` is the default, else `matrix-free`. */
bool ode_problem_has_matrix(const ode_problem *p);

/* An integrator of it and the dense solver that it may need, started. */
typedef struct ode_run {
    drape_ode *ode;
    drape_ode_dense *dense;
    double *exact; /* ode_problem_length numbers */
} ode_run;

drape_status ode_run_begin(drape_context *ctx, const ode_problem *p, const drape_ode_settings *settings,
                           ode_run *out);
void ode_run_end(ode_run *run);
/* The exact solution at t, in run->exact; false: it is not known. */
bool ode_run_exact(const ode_problem *p, const ode_run *run, double t);
/* Largest difference from it over x and v, where the run stands; NAN: it is not known. */
double ode_run_error(const ode_problem *p, const ode_run *run);

#endif
