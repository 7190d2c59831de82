/* ode_examples.c: see ode_examples.h. Three misprints of the survey are corrected here. In example 3 "g_z = -10z_0 =
 * -1" means g_z = -10 and z_0 = -1. The caption of figure 5(c) has another equation than example 2, whose solution is
 * right for y'' = -2.5 y - 5 y'. Section 2.5's "y'' = 5y" means -5 y. */
#include "ode_examples.h"

#include <math.h>
#include <string.h>

static const ode_example examples[] = {
    {.name = "1a",
     .about = "y' = 2 y, which grows",
     .order = 1,
     .end = 1,
     .rate = 2,
     .start = {1, 0},
     .event = "y = 2",
     .event_level = 2},
    {.name = "1b",
     .about = "y' = -15 y, which is stiff",
     .order = 1,
     .end = 1,
     .rate = -15,
     .start = {1, 0},
     .event = "y = 0.5",
     .event_level = 0.5},
    {.name = "2",
     .about = "y'' = -2.5 y - 5 y', overdamped",
     .order = 2,
     .end = 10,
     .stiffness = 2.5,
     .damping = 5,
     .start = {0, 1},
     .event = "y' = 0",
     .event_of_v = true},
    {.name = "3", /* k/m = 1000, d/m = 10, push = k l_0/m + g_z */
     .about = "a mass on a damped spring, pulled down: z'' = 1000 (-1 - z) - 10 z' - 10",
     .order = 2,
     .end = 2,
     .stiffness = 1000,
     .damping = 10,
     .push = -1010,
     .start = {-1, -5},
     .event = "z = -1.01", /* where it would rest */
     .event_level = -1.01},
    {.name = "oscillator",
     .about = "y'' = -5 y, without damping",
     .order = 2,
     .end = 10,
     .stiffness = 5,
     .start = {0, 1},
     .event = "y = 0"},
};

enum { EXAMPLES = sizeof examples / sizeof *examples };

const ode_example *ode_example_at(int32_t i) { return i >= 0 && i < EXAMPLES ? &examples[i] : NULL; }

const ode_example *ode_example_find(const char *name) {
    for (int32_t i = 0; i < EXAMPLES; i++)
        if (strcmp(examples[i].name, name) == 0) return &examples[i];
    return NULL;
}

/* ---- Exact solutions ---- */

/* Relative to the rest length: u'' = -k u - d u' with p = d/2 and w^2 = |k - p^2| gives e^(-pt) (u_0 C + (v_0 + p
 * u_0) S). C and S are the cosine, and the sine over w, of w t, or their hyperbolic counterparts. */
static void exact_second(const ode_example *e, double t, double out[2]) {
    double rest = e->push / e->stiffness, p = e->damping / 2, square = e->stiffness - p * p, w = sqrt(fabs(square));
    double C = square > 0 ? cos(w * t) : cosh(w * t), S = (square > 0 ? sin(w * t) : sinh(w * t)) / w;
    double u = e->start[0] - rest, slope = e->start[1] + p * u, fade = exp(-p * t);
    out[0] = rest + fade * (u * C + slope * S);
    out[1] = fade * (slope * C - square * u * S) - p * fade * (u * C + slope * S);
}

void ode_example_exact(const ode_example *e, double t, double out[2]) {
    out[1] = 0;
    if (e->order == 1) out[0] = e->start[0] * exp(e->rate * t);
    else exact_second(e, t, out);
}

/* ---- Events ---- */

double ode_example_event(const ode_example *e, double x, double v) { return e->event_of_v ? v : x - e->event_level; }

/* From rest length, as above: u = 0 where tan(w t) = -w u_0 / (v_0 + p u_0). Overdamped from u_0 = 0: v = 0 where
 * tanh(w t) = w / p, once. */
double ode_example_event_time(const ode_example *e, int32_t k) {
    const double pi = 3.14159265358979323846;
    if (e->order == 1) return k == 0 ? log(e->event_level / e->start[0]) / e->rate : NAN;
    double p = e->damping / 2, square = e->stiffness - p * p, w = sqrt(fabs(square));
    if (e->event_of_v) return k == 0 ? atanh(w / p) / w : NAN;
    double u = e->start[0] - e->push / e->stiffness, phase = atan(-u * w / (e->start[1] + p * u));
    return (phase + (phase > 0 ? k : k + 1) * pi) / w;
}

/* ---- The system ---- */

static drape_status evaluate(void *user, double t, const double *x, const double *v, double *out) {
    const ode_example *e = user;
    (void)t;
    out[0] = e->order == 1 ? e->rate * x[0] : e->push - e->stiffness * x[0] - e->damping * v[0];
    return DRAPE_OK;
}

static drape_status jacobian(void *user, double t, const double *x, const double *v, double *K, double *D) {
    const ode_example *e = user;
    (void)t, (void)x, (void)v;
    K[0] = e->order == 1 ? e->rate : -e->stiffness;
    if (D) D[0] = -e->damping;
    return DRAPE_OK;
}

/* The zeros of s^2 + d s + k. */
static void stiffest(void *user, double t, const double *x, const double *v, double lambda[2]) {
    const ode_example *e = user;
    (void)t, (void)x, (void)v;
    double p = e->damping / 2, square = p * p - e->stiffness;
    lambda[0] = e->order == 1 ? e->rate : square > 0 ? -p - sqrt(square) : -p;
    lambda[1] = e->order == 1 || square > 0 ? 0 : sqrt(-square);
}

drape_ode_system ode_example_system(const ode_example *e) {
    return (drape_ode_system){
        .order = e->order, .size = 1, .user = (void *)e, .f = evaluate, .stiffest = stiffest}; /* only read */
}

drape_ode_dense_settings ode_example_dense(const ode_example *e) {
    return (drape_ode_dense_settings){.order = e->order, .size = 1, .user = (void *)e, .jacobian = jacobian};
}

/* ---- A run ---- */

drape_status ode_example_begin(drape_context *ctx, const ode_example *e, const drape_ode_settings *settings,
                               ode_example_run *out) {
    drape_ode_system system = ode_example_system(e);
    drape_ode_dense_settings dense = ode_example_dense(e);
    *out = (ode_example_run){NULL, NULL};
    drape_status status = drape_ode_dense_create(ctx, &dense, &out->dense);
    if (status) return status;
    system.linear = drape_ode_dense_linear(out->dense);
    status = drape_ode_create(ctx, &system, settings, &out->ode);
    if (!status) status = drape_ode_start(out->ode, 0, e->start, e->order == 2 ? e->start + 1 : NULL);
    if (status) ode_example_end(out);
    return status;
}

void ode_example_end(ode_example_run *run) {
    drape_ode_destroy(run->ode);
    drape_ode_dense_destroy(run->dense);
    *run = (ode_example_run){NULL, NULL};
}

double ode_example_error(const ode_example *e, const ode_example_run *run) {
    double exact[2], error;
    ode_example_exact(e, drape_ode_time(run->ode), exact);
    error = fabs(drape_ode_x(run->ode)[0] - exact[0]);
    if (e->order == 1) return error;
    double of_v = fabs(drape_ode_v(run->ode)[0] - exact[1]);
    return of_v > error ? of_v : error;
}
