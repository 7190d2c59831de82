/* drape/ode_plugin.h: a system of your own for `drape ode`, from a shared library.
 *
 *   #include <drape/ode_plugin.h>
 *   static drape_status f(void *user, double t, const double *y, const double *v, double *out) {
 *       (void)user, (void)t, (void)v;
 *       out[0] = -15 * y[0];
 *       return DRAPE_OK;
 *   }
 *   static const double start[] = {1};
 *   const drape_ode_plugin *drape_ode_plugin_get(void) {
 *       static const drape_ode_plugin decay = {DRAPE_ODE_PLUGIN_HEAD, .name = "decay", .end = 1, .x = start,
 *                                              .system = {.order = 1, .size = 1, .f = f}};
 *       return &decay;
 *   }
 *
 *   cc -shared -fPIC decay.c -o decay.so && drape ode ./decay.so --method dormand-prince --adaptive
 *
 * The library is not linked with drape. docs/ode.md says more, and examples/ode-plugin is a complete project. */
#ifndef DRAPE_ODE_PLUGIN_H
#define DRAPE_ODE_PLUGIN_H

#include "drape/ode.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DRAPE_ODE_PLUGIN_API DRAPE_API /* visible outside your library; it is not drape's own function */

enum {
    DRAPE_ODE_PLUGIN_VERSION = 1,
    DRAPE_ODE_PLUGIN_MOST = 10000000 /* numbers in y, or in x and v each */
};

/* The first two fields; `drape ode` refuses a library that was compiled with another header. */
#define DRAPE_ODE_PLUGIN_HEAD .version = DRAPE_ODE_PLUGIN_VERSION, .bytes = (int32_t)sizeof(drape_ode_plugin)

/* A system and its start, for `drape ode`. */
typedef struct drape_ode_plugin {
    int32_t version; /* DRAPE_ODE_PLUGIN_VERSION */
    int32_t bytes;   /* sizeof(drape_ode_plugin) */
    const char *name;
    const char *about;        /* one line; NULL: none */
    const char *const *names; /* of the system.size numbers in x, for people; NULL: x[0], x[1], ... */
    /* order, size (1..DRAPE_ODE_PLUGIN_MOST) and f are required; all other fields may be NULL. Implicit methods use
     * linear.prepare and linear.solve; without those `jacobian`; without that DRAPE_ODE_MATRIX_FREE. */
    drape_ode_system system;
    /* See drape_ode_dense_settings; called with the system's `user`; systems of up to 2048 numbers. NULL: none. */
    drape_status (*jacobian)(void *user, double t, const double *x, const double *v, double *K, double *D);
    const double *mass;  /* M for `jacobian`, size x size; NULL: the identity */
    double begin, end;   /* s: where it starts, and where it ends without --until */
    const double *x, *v; /* the start, system.size numbers each, finite; v NULL for first order */
    /* The exact solution: x and v (NULL for first order) at t. Called with the system's `user`. NULL if it is not
     * known. */
    void (*exact)(void *user, double t, double *x, double *v);
    const drape_ode_events *events; /* what --events looks for; its `report` is not called. NULL: none */
    const char *const *event_names; /* events->count of them; NULL: numbers */
    uint64_t reserved[8];           /* zero: reserved for later fields */
} drape_ode_plugin;

/* The one function that the library must have. What it returns must stay valid as long as the library is loaded. */
DRAPE_ODE_PLUGIN_API const drape_ode_plugin *drape_ode_plugin_get(void);

#ifdef __cplusplus
}
#endif

#endif
