/* energy.c: the energies of a state, and where energy comes from and goes to.
 *
 * Over a step of h, from x0, v0 to x1, v1, with the means x = (x0 + x1)/2 and v = (v0 + v1)/2, and the velocity of
 * the path, u = (x1 - x0)/h:
 *
 *   fabric      h times the power that the model's damping takes at (x, u)
 *   wind        h times the power that wind and air_drag give at (x, u)
 *   pins        v.g, g what the pins carry, N s, and what the ends of soft ones give (soft_pins.c)
 *
 * v M (v1 - v0) is the change of the kinetic energy exactly, and the midpoint rule gives the work of the other forces
 * to second order. Work is done along the path. If the step does not resolve a vibration, v is not u, and damping
 * at v would be several times what the fabric takes. The three are summed up step by step. What the integrator takes
 * follows from them and from the energies now and at the start: no energy is needed in steps that nobody looks at.
 *
 * The rest of the balance must come from the integrator, and not from a force that was forgotten. The equation of
 * motion shows which it is. For a step with one implicit stage it is h/c M (v_s - psi) = h f + g. The stage is at
 * x_s, v_s (the end of the step; its middle, for the midpoint rule), and f are the forces there. For the linearised
 * step the equation is A dv = b + g. The work of the difference of both sides,
 *
 *   unbalanced  v.(h/c M (v_s - psi) - h f - g), or v.(A dv - b - g),
 *
 * is the residual that the solver left. It takes another evaluation of the forces, so it is computed only
 * on request. */
#include "base/parallel.h"
#include "sim/contact.h"
#include "sim/stitches.h"
#include "sparse/multiply.h"

#include <math.h>

enum { GRAIN = 4096 };

/* ---- How much there is ---- */

static void sum_kinetic(void *data, int64_t begin, int64_t end, double *sums) {
    const drape_sim *sim = data;
    const double *mass = drape_cloth_mass(sim->cloth);
    for (int64_t i = begin; i < end; i++) {
        const double *v = sim->v + 3 * i;
        sums[0] += mass[i] * ((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]);
    }
}

double drape_i_sim_kinetic(drape_sim *sim) {
    double twice;
    if (sim->mass_matrix) return drape_i_sim_mass_times(sim, sim->v, sim->momentum) / 2;
    drape_i_sum(sim->ctx, sim->vertices, GRAIN, sum_kinetic, sim, 1, &twice);
    return twice / 2;
}

/* What each force holds, one after the other, as the list has them; returns the sum. */
static double potential(drape_sim *sim) {
    double sum = 0;
    for (int32_t i = 0; i < drape_assembler_count(sim->forces); i++) {
        drape_force_energy *e = &sim->force_energy[i];
        e->name = drape_assembler_name(sim->forces, i);
        drape_assembler_energy(sim->forces, i, drape_sim_time(sim), sim->x, &e->energy);
        sum += isnan(e->energy) ? 0 : e->energy;
    }
    return sum;
}

static double total(drape_sim *sim) {
    double k = drape_i_sim_kinetic(sim);
    return k + potential(sim);
}

drape_certificate_energy drape_i_sim_measure_energy(drape_sim *sim) {
    const drape_i_balance *b = &sim->balance;
    double k = drape_i_sim_kinetic(sim), now = k + potential(sim), start = b->begun ? b->start : now;
    return (drape_certificate_energy){.kinetic = k,
                                      .elastic = sim->force_energy[DRAPE_I_FORCE_MODEL].energy,
                                      .weight = sim->force_energy[DRAPE_I_FORCE_GRAVITY].energy,
                                      .force_count = drape_assembler_count(sim->forces),
                                      .checked = sim->balance_checked,
                                      .force = sim->force_energy,
                                      .start = start,
                                      .fabric = b->fabric,
                                      .wind = b->wind,
                                      .pins = b->pins,
                                      .integrator = (start - now) + (b->wind + b->pins) - b->fabric,
                                      .unbalanced = b->unbalanced};
}

/* Relative to what moves, and to what was taken so far. */
static const double GIVES = 0.01;

/* Whether the next step of a method that may add energy must damp, after each of its steps. Blows and friction count
 * as the integrator's share, and what they took is not for it to give back. What colliders that move give is not
 * known, and is taken for the integrator's, too: while they push, such methods give way to others. What a few
 * vertices gain may be made up for by what all others lose; so steps damp for a while once they have begun to. */
void drape_i_balance_guard(drape_sim *sim) {
    drape_i_balance *b = &sim->balance;
    drape_certificate_energy e = drape_i_sim_measure_energy(sim);
    double about = e.kinetic + fmax(e.elastic, 0) + fmax(e.fabric, 0) + fmax(-e.wind, 0) + fmax(-e.pins, 0);
    if (sim->contact && drape_i_contact_acted(sim->contact) && e.integrator > b->taken) b->taken = e.integrator;
    b->damp = e.integrator < b->taken - GIVES * about ? sim->integrator->damps_for : fmax(b->damp - 1, 0);
}

/* Of a single step, relative to what there was without it. The first steps from rest have less to compare with. */
static const double LEAPS = 1;

bool drape_i_balance_leapt(drape_sim *sim, double integrator_before) {
    drape_certificate_energy e = drape_i_sim_measure_energy(sim);
    double about = e.kinetic + fmax(e.elastic, 0) + fmax(e.fabric, 0) + fmax(-e.wind, 0) + fmax(-e.pins, 0);
    double added = integrator_before - e.integrator;
    return added > LEAPS * fmax(about - added, 0);
}

drape_status drape_sim_energy(drape_sim *sim, drape_certificate_energy *out) {
    if (!sim || !out) return DRAPE_ERROR_ARGUMENT;
    *out = drape_i_sim_measure_energy(sim);
    return DRAPE_OK;
}

/* ---- The sums ---- */

/* A checkpoint holds finite numbers only: a power that overflows is left to the integrator's share. */
static void add(double *sum, double change) {
    if (isfinite(*sum + change)) *sum += change;
}

void drape_i_balance_begin(drape_sim *sim) {
    if (sim->balance.begun) return;
    sim->balance = (drape_i_balance){.begun = 1};
    add(&sim->balance.start, total(sim));
}

double drape_i_balance_before_change(drape_sim *sim) { return sim->balance.begun ? total(sim) : 0; }

void drape_i_balance_after_change(drape_sim *sim, double before) {
    if (sim->balance.begun) add(&sim->balance.start, total(sim) - before);
}

/* ---- A step ---- */

static void mean_chunk(void *data, int64_t begin, int64_t end) {
    const drape_sim *sim = data;
    for (int64_t i = begin; i < end; i++) {
        sim->mean_x[i] = 0.5 * (sim->x_old[i] + sim->x[i]);
        sim->mean_v[i] = (sim->x[i] - sim->x_old[i]) / sim->h;
    }
}

/* The mean velocity times what the pins carry. */
static void sum_pins(void *data, int64_t begin, int64_t end, double *sums) {
    const drape_sim *sim = data;
    const double *u = sim->v_old, *v = sim->v, *g = sim->constraint_force;
    double even = 0, odd = 0; /* which do not wait for one another */
    int64_t i = begin;
    for (; i + 1 < end; i += 2) {
        even += (u[i] + v[i]) * g[i];
        odd += (u[i + 1] + v[i + 1]) * g[i + 1];
    }
    if (i < end) even += (u[i] + v[i]) * g[i];
    sums[0] += 0.5 * (even + odd);
}

static void mean_velocity_chunk(void *data, int64_t begin, int64_t end) {
    const drape_sim *sim = data;
    for (int64_t i = begin; i < end; i++) sim->mean_v[i] = 0.5 * (sim->v_old[i] + sim->v[i]);
}

/* W: what a force takes out at mean_x and mean_v; 0 where it does not act. */
static double power_of(drape_sim *sim, int32_t force, double time) {
    double power;
    drape_status status =
        drape_assembler_dissipation(sim->forces, force, time, sim->mean_x, sim->mean_v, NULL, &power);
    return status || isnan(power) ? 0 : power;
}

/* The sides of an equation of motion, number by number: inertia M (v - psi) - share (f - b). */
typedef struct equation {
    const drape_sim *sim;
    const double *v, *psi; /* NULL: no such term */
    const double *f, *b;   /* b NULL: zero */
    double inertia, share;
} equation;

/* Their work at the mean velocity, with M moved to that. */
static void work_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    const equation *e = data;
    const double *u = e->sim->mean_v, *Mu = e->sim->mass_matrix ? e->sim->momentum : NULL;
    const double *mass = drape_cloth_mass(e->sim->cloth);
    for (int64_t i = begin; i < end; i++) {
        double f = e->b ? e->f[i] - e->b[i] : e->f[i];
        if (e->v) sums[0] += e->inertia * (Mu ? Mu[i] : mass[i / 3] * u[i]) * (e->v[i] - e->psi[i]);
        sums[0] -= e->share * u[i] * f;
    }
}

static double work_of(drape_sim *sim, equation *e) {
    double sum;
    if (e->v && sim->mass_matrix) drape_i_sim_mass_times(sim, sim->mean_v, sim->momentum);
    drape_i_sum(sim->ctx, drape_i_sim_numbers(sim), GRAIN, work_chunk, e, 1, &sum);
    return sum;
}

/* mean_x takes the forces of the stage. */
static bool work_of_stage(drape_sim *sim, double *work) {
    const drape_ode_stage *last = &sim->last_stage;
    drape_assembly what = {
        .x = last->x, .v = last->v, .lagged_x = last->lagged_x, .time = last->t, .force = sim->mean_x};
    if (!(last->c > 0) || drape_i_sim_assemble(sim, &what, NULL)) return false;
    *work = work_of(sim, &(equation){.sim = sim,
                                     .v = last->v,
                                     .psi = last->psi_v,
                                     .f = sim->mean_x,
                                     .inertia = sim->h / last->c,
                                     .share = sim->h});
    return true;
}

/* mean_x takes A dv. */
static bool work_of_linearised(drape_sim *sim, double *work) {
    bool positions = drape_i_sim_solves_for_positions(sim);
    drape_bsr3 A = drape_matrix_view(sim->A);
    drape_i_multiply(sim->ctx, &A, positions ? sim->dx : sim->dv, sim->mean_x);
    if (sim->contact) drape_i_contact_multiply(sim, positions ? sim->dx : sim->dv, sim->mean_x);
    *work = work_of(sim, &(equation){.sim = sim, .f = sim->mean_x, .b = sim->b, .share = positions ? -sim->h : -1});
    return true;
}

void drape_i_balance_step(drape_sim *sim) {
    drape_i_balance *b = &sim->balance;
    double time = ((double)sim->steps + 0.5) * sim->h, work;
    drape_i_loop(sim->ctx, drape_i_sim_numbers(sim), GRAIN, mean_chunk, sim);
    add(&b->fabric, sim->h * power_of(sim, DRAPE_I_FORCE_MODEL, time));
    add(&b->wind, -sim->h * power_of(sim, DRAPE_I_FORCE_AIR_DRAG, time));
    add(&b->wind, -sim->h * power_of(sim, DRAPE_I_FORCE_WIND, time));
    double pins;
    drape_i_sum(sim->ctx, drape_i_sim_numbers(sim), GRAIN, sum_pins, sim, 1, &pins);
    add(&b->pins, pins);
    if (sim->soft_pins)
        add(&b->pins, drape_i_soft_pins_work(sim, (double)sim->steps * sim->h, (double)(sim->steps + 1) * sim->h));
    if (sim->stitches)
        add(&b->pins, drape_i_stitches_work(sim, (double)sim->steps * sim->h, (double)(sim->steps + 1) * sim->h));
    if (sim->checks_balance) drape_i_loop(sim->ctx, drape_i_sim_numbers(sim), GRAIN, mean_velocity_chunk, sim);
    sim->balance_checked = sim->checks_balance && sim->parts == 1 &&
                           (sim->integrator ? work_of_stage(sim, &work) : work_of_linearised(sim, &work));
    if (sim->balance_checked) add(&b->unbalanced, work - pins);
}

drape_status drape_sim_check_energy(drape_sim *sim, bool on) {
    if (!sim) return DRAPE_ERROR_ARGUMENT;
    sim->checks_balance = on;
    return DRAPE_OK;
}
