/* step.c: the step of a scene.
 *
 * This file contains the linearised step of backward Euler (Baraff and Witkin 1998, eq. 16):
 *
 *     (M + h D + h^2 K) dv = h (f - h K v),   K = -df/dx, D = -df/dv,
 *     v <- v + dv,   x <- x + h v.
 *
 * or, with positions as unknowns (Ascher and Boxerman 2003), the same divided by h^2 and solved for dx = h (v + dv):
 *
 *     (M/h^2 + D/h + K) dx = f + (M/h + D) v = f - h K v + A h v,   v <- dx/h,   x <- x + dx.
 *
 * Other integrators repeat the middle of the step (integrate.c). */
#include "base/parallel.h"
#include "base/timer.h"
#include "sim/contact.h"
#include "sim/stitches.h"
#include "sparse/multiply.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 4096, MOST_DIVIDED = 8 };

static size_t bytes_of(const drape_sim *sim) { return (size_t)drape_i_sim_numbers(sim) * sizeof(double); }

/* ---- begin ---- */

/* Keeps the state; true where other pins hold than in the step before. */
static bool begin(drape_sim *sim) {
    memcpy(sim->x_old, sim->x, bytes_of(sim));
    memcpy(sim->v_old, sim->v, bytes_of(sim));
    if (sim->dv_old) memcpy(sim->dv_old, sim->dv, bytes_of(sim));
    sim->spent = (drape_i_spent){0};
    sim->parts = sim->divide = 1;
    sim->solved = (drape_solve_result){.reason = DRAPE_CONVERGED, .method = "none", .precond = "none"};
    drape_i_stitches_begin(sim);
    return drape_i_sim_update_active_pins(sim);
}

/* ---- constrain ---- */

static drape_status constrain(drape_sim *sim) {
    bool positions = drape_i_sim_solves_for_positions(sim);
    drape_i_aim aim = {.t = sim->until,
                       .c = sim->dt,
                       .x = sim->x,
                       .v = positions ? NULL : sim->v,
                       .factor = positions ? sim->dt : 1};
    return drape_i_sim_constrain(sim, &aim);
}

/* ---- assemble ---- */

drape_assembly drape_i_sim_system(const drape_sim *sim, double c) {
    if (drape_i_sim_solves_for_positions(sim))
        return (drape_assembly){.mass = 1 / (c * c), .damping = 1 / c, .stiffness = 1};
    return (drape_assembly){.mass = 1, .damping = c, .stiffness = c * c};
}

drape_status drape_i_sim_assemble(drape_sim *sim, const drape_assembly *what, drape_matrix *A) {
    return drape_i_sim_assemble_potential(sim, what, A, NULL);
}

drape_status drape_i_sim_assemble_potential(drape_sim *sim, const drape_assembly *what, drape_matrix *A,
                                            drape_i_potential *potential) {
    double began = drape_i_seconds();
    drape_status status = drape_i_sim_agree(sim, drape_i_assembler_run_potential(sim->forces, what, A, potential));
    if (A == sim->A && sim->contact) sim->contact->owns = 0; /* they are gone with the old matrix */
    if (!status && A) drape_i_sim_mass_correct(sim, what->mass);
    if (!status && sim->contact)
        drape_i_contact_forces(sim, what->time, what->x, what->v, what->force, what->stiff_v);
    sim->spent.seconds.assemble += drape_i_seconds() - began;
    return status;
}

static void rhs_chunk(void *data, int64_t begin, int64_t end) {
    drape_sim *sim = data;
    for (int64_t i = begin; i < end; i++) sim->b[i] = sim->dt * (sim->f[i] - sim->dt * sim->Kv[i]);
}

/* b = f - h K v; and h v */
static void position_rhs_chunk(void *data, int64_t begin, int64_t end) {
    drape_sim *sim = data;
    for (int64_t i = begin; i < end; i++) {
        sim->b[i] = sim->f[i] - sim->dt * sim->Kv[i];
        sim->hv[i] = sim->dt * sim->v[i];
    }
}

static void add_chunk(void *data, int64_t begin, int64_t end) {
    drape_sim *sim = data;
    for (int64_t i = begin; i < end; i++) sim->b[i] += sim->Ahv[i];
}

static void form_rhs(drape_sim *sim) {
    int64_t n = drape_i_sim_numbers(sim);
    drape_bsr3 A = drape_matrix_view(sim->A);
    if (!drape_i_sim_solves_for_positions(sim)) {
        drape_i_loop(sim->ctx, n, GRAIN, rhs_chunk, sim);
        return;
    }
    drape_i_loop(sim->ctx, n, GRAIN, position_rhs_chunk, sim);
    drape_i_multiply(sim->ctx, &A, sim->hv, sim->Ahv);
    if (sim->contact) drape_i_contact_multiply(sim, sim->hv, sim->Ahv);
    drape_i_loop(sim->ctx, n, GRAIN, add_chunk, sim);
}

/* A = M + h D + h^2 K, b = h (f - h K v); or both for positions */
static drape_status assemble(drape_sim *sim) {
    drape_assembly what = drape_i_sim_system(sim, sim->dt);
    what.time = sim->until;
    what.x = sim->x;
    what.v = sim->v;
    what.force = sim->f;
    what.stiff_v = sim->Kv;
    drape_status status = drape_i_sim_assemble(sim, &what, sim->A);
    const char *force = status == DRAPE_ERROR_NUMBER ? drape_i_assembler_explain(sim->forces) : NULL;
    if (force)
        return drape_i_fail(sim->ctx, status, "step %lld (t = %g s): %s; the state is that before this step",
                            (long long)sim->steps + 1, what.time, force);
    if (status) return status;
    double assembled = drape_i_seconds();
    sim->matrix_c = sim->dt;
    if (sim->contact) drape_i_contact_couple(sim, sim->until, sim->x, sim->dt);
    form_rhs(sim);
    sim->spent.seconds.assemble += drape_i_seconds() - assembled;
    return DRAPE_OK;
}

/* ---- solve ---- */

drape_status drape_i_sim_solve(drape_sim *sim, const drape_problem *posed, double *u) {
    drape_bsr3 A = drape_matrix_view(sim->A);
    drape_problem problem = *posed;
    problem.A = &A;
    problem.b = sim->b;
    problem.constraints = sim->constraints;
    if (sim->contact) problem.couplings = drape_i_contact_couplings(sim);
    drape_status status = sim->spread ? sim->spread->solve(sim->spread->user, &problem, u, &sim->solved)
                                      : drape_solver_solve(sim->solver, &problem, u, &sim->solved);
    if (status) return status;
    sim->spent.solves++;
    sim->spent.iterations += sim->solved.iterations;
    sim->spent.bytes_moved += sim->solved.bytes_moved;
    sim->spent.seconds.precondition += sim->solved.setup_seconds;
    sim->spent.seconds.solve += sim->solved.solve_seconds;
    return DRAPE_OK;
}

/* The velocity change from that of positions, and impulses from forces. */
static void to_velocities_chunk(void *data, int64_t begin, int64_t end) {
    drape_sim *sim = data;
    for (int64_t i = begin; i < end; i++) {
        sim->dv[i] = sim->dx[i] / sim->dt - sim->v[i];
        sim->impulse[i] = sim->dt * sim->solved.constraint_force[i];
    }
}

/* released: contacts that the last solve found to pull were let go. */
static drape_status solve_linearised(drape_sim *sim, bool released) {
    bool positions = drape_i_sim_solves_for_positions(sim);
    drape_problem posed = {.guess = positions ? sim->hv : sim->dv, .positions = sim->x, .released = released};
    drape_status status = drape_i_sim_solve(sim, &posed, positions ? sim->dx : sim->dv);
    if (status) return status;
    if (positions) drape_i_loop(sim->ctx, drape_i_sim_numbers(sim), GRAIN, to_velocities_chunk, sim);
    sim->constraint_force = positions ? sim->impulse : sim->solved.constraint_force;
    sim->did = (drape_certificate_ode){.substeps = 1, .evaluations = 1, .newton_iterations = 1, .newton_error = -1};
    return DRAPE_OK;
}

/* Contacts only push. Releases those that would pull, and returns how many. */
static int32_t release(drape_sim *sim) {
    int32_t springs = drape_i_contact_release_springs(sim);
    int32_t touches = drape_i_contact_release(sim, sim->constraint_force, 1, NULL);
    if (springs == 0) return touches;
    drape_i_contact_couple(sim, sim->until, sim->x, sim->dt);
    form_rhs(sim);
    return springs + touches;
}

static drape_status solve(drape_sim *sim) {
    drape_status status = solve_linearised(sim, false);
    if (status || !sim->contact || release(sim) == 0) return status;
    status = constrain(sim);
    return status ? status : solve_linearised(sim, true);
}

/* ---- advance ---- */

static void advance_chunk(void *data, int64_t begin, int64_t end) {
    drape_sim *sim = data;
    for (int64_t i = begin; i < end; i++) {
        sim->v[i] += sim->dv[i];
        sim->x[i] += sim->dt * sim->v[i];
    }
}

static void advance(drape_sim *sim) { drape_i_loop(sim->ctx, drape_i_sim_numbers(sim), GRAIN, advance_chunk, sim); }

/* ---- respond ---- */

bool drape_i_sim_responds(const drape_sim *sim) { return sim->contact || drape_cloth_limits_strain(sim->cloth); }

static drape_status limit_strain(drape_sim *sim, double h, double *x, double *v) {
    const double *mass = drape_cloth_mass(sim->cloth);
    if (!drape_cloth_limits_strain(sim->cloth)) return DRAPE_OK;
    for (int32_t i = 0; i < sim->vertices; i++) sim->inverse_mass[i] = 1 / mass[i];
    for (int32_t i = 0; i < sim->held_now; i++) sim->inverse_mass[sim->held[i].vertex] = 0;
    for (int32_t i = 0; sim->stitches && i < sim->stitches->members; i++)
        sim->inverse_mass[sim->stitches->member[i]] = 0;
    return drape_cloth_limit_strain(sim->cloth, sim->inverse_mass, h, x, v);
}

drape_status drape_i_sim_respond(drape_sim *sim, double t, double h, const double *x0, double *x, double *v,
                                 drape_ode_projection *past) {
    drape_status status = limit_strain(sim, h, x, v);
    return status || !sim->contact ? status : drape_i_contact_respond(sim, t, h, x0, x, v, past);
}

/* ---- check: check.c ---- */

/* The state before the step remains. Once there is memory, the step gives the bits of one that never failed. */
static drape_status take_back(drape_sim *sim, drape_status status) {
    if (sim->dv_old && status == DRAPE_ERROR_MEMORY) memcpy(sim->dv, sim->dv_old, bytes_of(sim));
    memcpy(sim->x, sim->x_old, bytes_of(sim));
    memcpy(sim->v, sim->v_old, bytes_of(sim));
    sim->constraint_force = NULL;
    if (sim->contact) drape_i_pinch_take_back(sim);
    if (sim->integrator) drape_i_integrator_take_back(sim, status);
    return status;
}

/* A step that failed for want of room, although it was cut, says between what. */
static drape_status explain_contact(drape_sim *sim, drape_status status) {
    if (status != DRAPE_ERROR_NUMBER || !sim->contact || !sim->contact->no_room) return status;
    return drape_i_fail(sim->ctx, status,
                        "step %lld (t = %g s): contact leaves no space between %s, even in steps of 1/%d; the state "
                        "is that before this step",
                        (long long)sim->steps + 1, (double)(sim->steps + 1) * sim->h, sim->contact->stuck,
                        1 << DRAPE_I_HALVINGS);
}

/* ---- certify ---- */

static void certify(drape_sim *sim, double began, drape_certificate *c) {
    *c = (drape_certificate){.step = sim->steps,
                             .time = drape_sim_time(sim),
                             .stretch = drape_i_sim_largest(sim, sim->stretch),
                             .linear = sim->solved,
                             .ode = sim->did,
                             .energy = sim->spread ? (drape_certificate_energy){0} : drape_i_sim_measure_energy(sim),
                             .contact = sim->contact ? sim->contact->did : (drape_certificate_contact){0},
                             .seconds = sim->spent.seconds};
    if (sim->contact) c->contact.cuts = sim->contact->cuts;
    if (sim->contact) c->contact.pinched = drape_i_pinch_count(sim->contact);
    c->linear.iterations = sim->spent.iterations;
    c->linear.bytes_moved = sim->spent.bytes_moved;
    double rest = drape_i_seconds() - began - c->seconds.assemble - c->seconds.precondition - c->seconds.solve;
    c->seconds.update = rest > 0 ? rest : 0;
}

/* ---- The step ---- */

/* A part of the step, mostly all of it, from where it begins. */
static drape_status step_part(drape_sim *sim) {
    drape_status status = sim->contact ? drape_i_contact_look(sim, sim->until - sim->dt, sim->until) : DRAPE_OK;
    if (!status) status = drape_i_sim_agree(sim, constrain(sim));
    if (!status) status = assemble(sim);
    if (!status) status = solve(sim);
    if (status) return status;
    advance(sim);
    const double *x0 = sim->contact ? sim->contact->x0 : sim->x_old;
    status = drape_i_sim_respond(sim, sim->until, sim->dt, x0, sim->x, sim->v, NULL);
    if (!status && sim->contact) drape_i_contact_finish(sim, sim->constraint_force);
    return status;
}

/* In halves, those again, where contact leaves no room. */
static drape_status step_linearised(drape_sim *sim, double dt, double until, int32_t halvings) {
    drape_status status;
    do {
        sim->dt = dt;
        sim->until = until;
        status = step_part(sim);
        if (status != DRAPE_ERROR_NUMBER || !sim->contact || !drape_i_contact_take_back(sim)) return status;
    } while (drape_i_pinch_yield(sim, halvings == 0));
    if (halvings == 0) return status;
    sim->contact->cuts++;
    status = step_linearised(sim, 0.5 * dt, until - 0.5 * dt, halvings - 1);
    return status ? status : step_linearised(sim, 0.5 * dt, until, halvings - 1);
}

/* The parts of the step that cloth slides over rims in. */
static drape_status step_parts(drape_sim *sim) {
    drape_status status = DRAPE_OK;
    for (int32_t i = 1; i <= sim->parts && !status; i++) {
        double until = ((double)sim->steps + (double)i / sim->parts) * sim->h;
        status = step_linearised(sim, sim->h / sim->parts, until, DRAPE_I_HALVINGS);
        if (!status && sim->parts > 1) drape_i_contact_sum_impulse(sim, i == 1);
    }
    sim->did.substeps = sim->parts;
    return status;
}

static drape_status try_step(drape_sim *sim, bool other_pins) {
    drape_i_balance balance = sim->balance;
    sim->parts = sim->divide;
    sim->incredible = false;
    if (sim->contact) drape_i_contact_start(sim);
    drape_status status = sim->contact ? drape_i_contact_plan(sim) : DRAPE_OK;
    if (!status) status = sim->integrator ? drape_i_integrate(sim, other_pins) : step_parts(sim);
    if (!status) {
        status = drape_i_sim_agree(sim, drape_i_sim_check(sim));
        sim->incredible = status == DRAPE_ERROR_NUMBER;
    }
    if (status) return take_back(sim, explain_contact(sim, status));
    if (!sim->spread) drape_i_balance_step(sim);
    status = sim->spread ? DRAPE_OK : drape_i_sim_check_energy(sim);
    if (status) {
        sim->balance = balance;
        sim->incredible = true;
        return take_back(sim, status);
    }
    sim->steps++;
    return DRAPE_OK;
}

/* A method that may add energy does a step again, damped, in which it failed, or added more energy than there was.
 * before: what the integrator had taken until then. */
static drape_status try_guarded(drape_sim *sim, bool other_pins, double before) {
    const drape_i_balance balance = sim->balance;
    drape_status status = try_step(sim, other_pins);
    bool failed = status == DRAPE_ERROR_NUMBER;
    if (sim->integrator->damped || (status && !failed) || (!status && !drape_i_balance_leapt(sim, before)))
        return status;
    sim->balance = balance;
    sim->balance.damp = sim->integrator->damps_for;
    if (!status) {
        sim->steps--;
        take_back(sim, DRAPE_OK);
    }
    status = try_step(sim, false);
    if (status) sim->balance = balance;
    return status;
}

/* In shorter parts where the state after the step is not credible: what contact moves after the solve may stretch
 * stiff cloth too far. */
static drape_status try_divided(drape_sim *sim, bool other_pins, bool guards, double before) {
    drape_status status;
    for (;;) {
        status = guards ? try_guarded(sim, other_pins, before) : try_step(sim, other_pins);
        bool divides = sim->contact && sim->integrator && sim->integrator->halvings > 0;
        if (!status || !sim->incredible || !divides || sim->divide == MOST_DIVIDED) return status;
        sim->divide *= 2;
        other_pins = false;
    }
}

drape_status drape_sim_step(drape_sim *sim, drape_certificate *certificate) {
    if (!sim) return DRAPE_ERROR_ARGUMENT;
    double began = drape_i_seconds();
    if (!sim->spread) drape_i_balance_begin(sim);
    bool guards = sim->integrator && sim->integrator->guards && !sim->spread;
    double before = guards ? drape_i_sim_measure_energy(sim).integrator : 0;
    bool other_pins = drape_i_sim_largest(sim, begin(sim)) > 0;
    drape_status status = try_divided(sim, other_pins, guards, before);
    if (status) return status;
    if (sim->integrator && sim->integrator->guards) drape_i_balance_guard(sim);
    if (certificate) certify(sim, began, certificate);
    return DRAPE_OK;
}
