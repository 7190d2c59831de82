/* Van der Pol's equation y'' = mu (1 - y^2) y' - y as a system of first order, y[0] = y and y[1] = y'. It is stiff
 * for large mu: implicit methods solve it with the Jacobian that stands here. */
#include <drape/ode_plugin.h>

static const double mu = 100;

static drape_status f(void *user, double t, const double *y, const double *v, double *out) {
    (void)user, (void)t, (void)v; /* first order: v is NULL */
    out[0] = y[1];
    out[1] = mu * (1 - y[0] * y[0]) * y[1] - y[0];
    return DRAPE_OK;
}

/* K[2 * i + j] is the derivative of f_i by y_j; both K and, for second order, D are zero before. */
static drape_status jacobian(void *user, double t, const double *y, const double *v, double *K, double *D) {
    (void)user, (void)t, (void)v, (void)D;
    K[1] = 1;
    K[2] = -2 * mu * y[0] * y[1] - 1;
    K[3] = mu * (1 - y[0] * y[0]);
    return DRAPE_OK;
}

/* The event: y rises through zero. */
static drape_status height(void *user, double t, const double *y, const double *v, double *g) {
    (void)user, (void)t, (void)v;
    g[0] = y[0];
    return DRAPE_OK;
}

static const double start[] = {2, 0};
static const char *const names[] = {"y", "y'"};
static const char *const event_names[] = {"rise"};
static const drape_ode_direction rising[] = {DRAPE_ODE_RISING};
static const drape_ode_events events = {.count = 1, .g = height, .direction = rising};

static const drape_ode_plugin van_der_pol = {
    DRAPE_ODE_PLUGIN_HEAD,
    .name = "van-der-pol",
    .about = "y'' = 100 (1 - y^2) y' - y, a relaxation oscillation",
    .names = names,
    .system = {.order = 1, .size = 2, .f = f},
    .jacobian = jacobian,
    .end = 500,
    .x = start,
    .events = &events,
    .event_names = event_names,
};

const drape_ode_plugin *drape_ode_plugin_get(void) { return &van_der_pol; }
