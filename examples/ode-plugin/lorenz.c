/* Lorenz's equations, chaotic for these coefficients: a system that is nothing but its right-hand side. */
#include <drape/ode_plugin.h>

static drape_status f(void *user, double t, const double *y, const double *v, double *out) {
    const double sigma = 10, rho = 28, beta = 8.0 / 3;
    (void)user, (void)t, (void)v; /* first order: v is NULL */
    out[0] = sigma * (y[1] - y[0]);
    out[1] = y[0] * (rho - y[2]) - y[1];
    out[2] = y[0] * y[1] - beta * y[2];
    return DRAPE_OK;
}

static const double start[] = {1, 1, 1};
static const char *const names[] = {"x", "y", "z"};

static const drape_ode_plugin lorenz = {
    DRAPE_ODE_PLUGIN_HEAD,
    .name = "lorenz",
    .about = "Lorenz's equations",
    .names = names,
    .system = {.order = 1, .size = 3, .f = f},
    .end = 20,
    .x = start,
};

const drape_ode_plugin *drape_ode_plugin_get(void) { return &lorenz; }
