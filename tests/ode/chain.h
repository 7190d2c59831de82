/* chain.h: a nonlinear second order system with everything that drape_ode_system can have. It is a chain of masses in
 * the plane, hung from the origin by springs with rest length and damping, under gravity. */
#ifndef DRAPE_TESTS_ODE_CHAIN_H
#define DRAPE_TESTS_ODE_CHAIN_H

#include "base/attributes.h"
#include "drape/ode.h"
#include "support/testing.h"

#include <math.h>
#include <string.h>

enum { CHAIN_LINKS = 4, CHAIN_SIZE = 2 * CHAIN_LINKS };

typedef struct chain {
    double k, damping, rest, gravity; /* N/m, N s/m, m, m/s^2 */
    double mass[CHAIN_LINKS];         /* kg */
    bool linear_springs;              /* the Jacobian is that of springs without rest length, Hauth's (50) */
    bool nailed;                      /* the first mass is held where it is */
    uint64_t stamp;
    double K[CHAIN_SIZE * CHAIN_SIZE], D[CHAIN_SIZE * CHAIN_SIZE];
} chain;

DRAPE_UNUSED static chain chain_make(double k, double damping) {
    return (chain){.k = k, .damping = damping, .rest = 0.25, .gravity = 9.81, .mass = {0.1, 0.3, 0.2, 0.4}};
}

/* Stretched out sideways, the last mass thrown upwards. */
static void chain_start(const chain *c, double *x, double *v) {
    for (int32_t i = 0; i < CHAIN_LINKS; i++) {
        x[2 * i] = c->rest * (i + 1);
        x[2 * i + 1] = 0.02 * i;
        v[2 * i] = 0;
        v[2 * i + 1] = i == CHAIN_LINKS - 1 ? 1 : 0;
    }
}

/* The vector of link i, from the one above it (the nail for i = 0), and its length. */
static double link_of(const double *x, int32_t i, double d[2]) {
    for (int32_t a = 0; a < 2; a++) d[a] = x[2 * i + a] - (i ? x[2 * (i - 1) + a] : 0);
    return sqrt(d[0] * d[0] + d[1] * d[1]);
}

static drape_status chain_f(void *user, double t, const double *x, const double *v, double *out) {
    const chain *c = user;
    (void)t;
    for (int32_t i = 0; i < CHAIN_LINKS; i++) {
        out[2 * i] = 0;
        out[2 * i + 1] = -c->mass[i] * c->gravity;
    }
    for (int32_t i = 0; i < CHAIN_LINKS; i++) {
        double d[2], length = link_of(x, i, d);
        for (int32_t a = 0; a < 2; a++) {
            double speed = v[2 * i + a] - (i ? v[2 * (i - 1) + a] : 0);
            double force = c->k * (length - c->rest) * d[a] / length + c->damping * speed;
            out[2 * i + a] -= force;
            if (i) out[2 * (i - 1) + a] += force;
        }
    }
    return DRAPE_OK;
}

/* B, 2 x 2, into the four places of link i. */
static void chain_scatter(double *matrix, int32_t i, double B[2][2]) {
    for (int32_t a = 0; a < 2; a++)
        for (int32_t b = 0; b < 2; b++) {
            int32_t p = 2 * i, q = 2 * (i - 1);
            matrix[(p + a) * CHAIN_SIZE + p + b] -= B[a][b];
            if (!i) continue;
            matrix[(q + a) * CHAIN_SIZE + q + b] -= B[a][b];
            matrix[(p + a) * CHAIN_SIZE + q + b] += B[a][b];
            matrix[(q + a) * CHAIN_SIZE + p + b] += B[a][b];
        }
}

static drape_status chain_jacobian(void *user, double t, const double *x, const double *v, double *K, double *D) {
    const chain *c = user;
    (void)t, (void)v;
    for (int32_t i = 0; i < CHAIN_LINKS; i++) {
        double d[2], length = link_of(x, i, d), share = c->linear_springs ? 0 : c->rest / length;
        double B[2][2], R[2][2] = {{c->damping, 0}, {0, c->damping}};
        for (int32_t a = 0; a < 2; a++)
            for (int32_t b = 0; b < 2; b++)
                B[a][b] = c->k * ((1 - share) * (a == b) + share * d[a] * d[b] / (length * length));
        chain_scatter(K, i, B);
        chain_scatter(D, i, R);
    }
    return DRAPE_OK;
}

static drape_status chain_mass_times(void *user, const double *in, double *out) {
    const chain *c = user;
    for (int32_t i = 0; i < CHAIN_SIZE; i++) out[i] = c->mass[i / 2] * in[i];
    return DRAPE_OK;
}

static drape_status chain_mass_solve(void *user, double *r) {
    const chain *c = user;
    for (int32_t i = 0; i < CHAIN_SIZE; i++) r[i] /= c->mass[i / 2];
    return DRAPE_OK;
}

static double chain_energy_of_springs(const chain *c, const double *x) {
    double V = 0;
    for (int32_t i = 0; i < CHAIN_LINKS; i++) {
        double d[2], stretch = link_of(x, i, d) - c->rest;
        V += c->k * stretch * stretch / 2 + c->mass[i] * c->gravity * x[2 * i + 1];
    }
    return V;
}

DRAPE_UNUSED static drape_status chain_potential(void *user, const drape_ode_point *at, double *out) {
    const chain *c = user;
    double R = 0;
    for (int32_t i = 0; i < CHAIN_LINKS; i++) {
        double w[2], speed = link_of(at->v, i, w);
        R += c->damping * speed * speed / 2;
    }
    *out = chain_energy_of_springs(c, at->x) + at->c * R;
    return DRAPE_OK;
}

DRAPE_UNUSED static drape_status chain_stiffness_times(void *user, const drape_ode_point *at, const double *p,
                                                       double *out) {
    chain *c = user;
    memset(c->K, 0, sizeof c->K);
    chain_jacobian(c, at->t, at->x, at->v, c->K, c->D);
    for (int32_t i = 0; i < CHAIN_SIZE; i++) {
        out[i] = 0;
        for (int32_t j = 0; j < CHAIN_SIZE; j++) out[i] += c->K[i * CHAIN_SIZE + j] * p[j];
    }
    return DRAPE_OK;
}

DRAPE_UNUSED static uint64_t chain_stamp(void *user) { return ((chain *)user)->stamp; }

/* A dense solver for it; destroyed by the caller. */
static drape_ode_dense *chain_dense(drape_context *ctx, chain *c) {
    double mass[CHAIN_SIZE * CHAIN_SIZE] = {0};
    drape_ode_dense *dense;
    for (int32_t i = 0; i < CHAIN_SIZE; i++) mass[i * (CHAIN_SIZE + 1)] = c->mass[i / 2];
    drape_ode_dense_settings s = {
        .order = 2, .size = CHAIN_SIZE, .user = c, .jacobian = chain_jacobian, .mass = mass, .stamp = chain_stamp};
    ASSERT_OK(ctx, drape_ode_dense_create(ctx, &s, &dense));
    return dense;
}

static drape_ode_system chain_system(chain *c) {
    return (drape_ode_system){.order = 2,
                              .size = CHAIN_SIZE,
                              .user = c,
                              .f = chain_f,
                              .mass_times = chain_mass_times,
                              .mass_solve = chain_mass_solve};
}

/* Integrator and dense solver, started. */
typedef struct chain_run {
    chain c;
    drape_ode_dense *dense;
    drape_ode *ode;
} chain_run;

DRAPE_UNUSED static void chain_begin(drape_context *ctx, const drape_ode_settings *s, chain_run *run) {
    double x[CHAIN_SIZE], v[CHAIN_SIZE];
    drape_ode_system system = chain_system(&run->c);
    run->dense = chain_dense(ctx, &run->c);
    system.linear = drape_ode_dense_linear(run->dense);
    ASSERT_OK(ctx, drape_ode_create(ctx, &system, s, &run->ode));
    chain_start(&run->c, x, v);
    ASSERT_OK(ctx, drape_ode_start(run->ode, 0, x, v));
}

DRAPE_UNUSED static void chain_finish(chain_run *run) {
    drape_ode_destroy(run->ode);
    drape_ode_dense_destroy(run->dense);
}

DRAPE_UNUSED static double chain_distance(const double *a, const double *b) {
    double largest = 0;
    for (int32_t i = 0; i < CHAIN_SIZE; i++) largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

#endif
