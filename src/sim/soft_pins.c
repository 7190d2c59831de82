/* soft_pins.c: pins that pull their vertices by springs instead of holding them.
 *
 * Let k be the stiffness, P the projection onto the held directions, and c(t) the position that the motion
 * prescribes:
 *
 *   energy k/2 |P (x - c)|^2,   force -k P (x - c),   K = k P, positive semidefinite.
 *
 * The end of the spring is moved from outside. Over a step, with means of both ends, it gives k P (c - x).(c1 - c0).
 * It takes k P (c - x).(x1 - x0) back as the force on the cloth. The difference is the change of the energy, exactly.
 * They are one force of the list, a function over all positions, which one thread calls: motions may be callbacks. */
#include "sim/sim.h"

#include <math.h>
#include <string.h>

/* The projection onto the directions of a constraint. */
static void project(const drape_constraint *c, double P[9]) {
    double q[3][3];
    int32_t found = 0;
    memset(P, 0, 9 * sizeof *P);
    if (c->directions == 3) {
        P[0] = P[4] = P[8] = 1;
        return;
    }
    for (int32_t i = 0; i < c->directions; i++) { /* Gram and Schmidt */
        double *n = q[found], square = 0;
        memcpy(n, c->direction[i], sizeof q[found]);
        for (int32_t j = 0; j < found; j++) {
            double along = (n[0] * q[j][0] + n[1] * q[j][1]) + n[2] * q[j][2];
            for (int32_t k = 0; k < 3; k++) n[k] -= along * q[j][k];
        }
        for (int32_t k = 0; k < 3; k++) square += n[k] * n[k];
        for (int32_t k = 0; k < 3; k++) n[k] /= sqrt(square);
        found++;
    }
    for (int32_t j = 0; j < found; j++)
        for (int32_t k = 0; k < 9; k++) P[k] += q[j][k / 3] * q[j][k % 3];
}

static void times(const double P[9], const double a[3], double out[3]) {
    for (int32_t k = 0; k < 3; k++) out[k] = (P[3 * k] * a[0] + P[3 * k + 1] * a[1]) + P[3 * k + 2] * a[2];
}

typedef void visit_fn(void *data, int32_t vertex, double stiffness, const double P[9], const double target[3]);

/* Every vertex of every spring that acts. */
static void visit(const drape_sim *sim, double t, visit_fn *fn, void *data) {
    for (int32_t p = 0, first = 0; p < sim->pin_count; first += sim->pins[p++].count) {
        double k = sim->pins[p].stiffness, P[9], target[3];
        if (!sim->holding[p] || !(k > 0) || sim->pins[p].count == 0) continue;
        project(&sim->pinned[first], P);
        for (int32_t i = first; i < first + sim->pins[p].count; i++) {
            drape_i_pin_target(sim, p, first, i, t, target);
            fn(data, sim->pinned[i].vertex, k, P, target);
        }
    }
}

typedef struct evaluation {
    const double *x;
    drape_vertex_force *out;
    double energy;
} evaluation;

static void stretch_of(const evaluation *e, int32_t vertex, const double P[9], const double target[3], double s[3]) {
    double off[3];
    for (int32_t k = 0; k < 3; k++) off[k] = e->x[3 * (int64_t)vertex + k] - target[k];
    times(P, off, s);
}

static void add_force(void *data, int32_t vertex, double stiffness, const double P[9], const double target[3]) {
    evaluation *e = data;
    double s[3];
    stretch_of(e, vertex, P, target, s);
    for (int32_t k = 0; k < 3; k++) e->out->force[3 * (int64_t)vertex + k] -= stiffness * s[k];
    for (int32_t k = 0; k < 9 && e->out->stiffness; k++)
        e->out->stiffness[9 * (int64_t)vertex + k] += stiffness * P[k];
}

static void add_energy(void *data, int32_t vertex, double stiffness, const double P[9], const double target[3]) {
    evaluation *e = data;
    double s[3];
    stretch_of(e, vertex, P, target, s);
    e->energy += 0.5 * stiffness * ((s[0] * s[0] + s[1] * s[1]) + s[2] * s[2]);
}

static void evaluate(void *user, const drape_force_point *at, drape_vertex_force *out) {
    evaluation e = {.x = at->x, .out = out};
    visit(user, at->time, add_force, &e);
}

static double energy(void *user, const drape_force_point *at) {
    evaluation e = {.x = at->x};
    visit(user, at->time, add_energy, &e);
    return e.energy;
}

drape_status drape_i_soft_pins_add(drape_sim *sim) {
    const drape_force force = {.name = "soft_pins", .user = sim, .all = evaluate, .all_energy = energy};
    return sim->soft_pins ? drape_i_assembler_add(sim->forces, &force, NULL, 0) : DRAPE_OK;
}

double drape_i_soft_pins_work(const drape_sim *sim, double t0, double t1) {
    double work = 0;
    for (int32_t p = 0, first = 0; p < sim->pin_count; first += sim->pins[p++].count) {
        double P[9], c[2][3], pull[3], force[3];
        if (!sim->holding[p] || !(sim->pins[p].stiffness > 0) || sim->pins[p].count == 0) continue;
        project(&sim->pinned[first], P);
        for (int32_t i = first; i < first + sim->pins[p].count; i++) {
            drape_i_pin_target(sim, p, first, i, t0, c[0]);
            drape_i_pin_target(sim, p, first, i, t1, c[1]);
            for (int32_t k = 0; k < 3; k++)
                pull[k] = 0.5 * (c[0][k] + c[1][k]) - sim->mean_x[3 * (int64_t)sim->pinned[i].vertex + k];
            times(P, pull, force);
            for (int32_t k = 0; k < 3; k++) work += sim->pins[p].stiffness * force[k] * (c[1][k] - c[0][k]);
        }
    }
    return work;
}
