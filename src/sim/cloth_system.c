/* cloth_system.c: a cloth as the system M x'' = f(x, v) that the integrators of drape/ode.h take. The parts of a step
 * (sim.h) become the functions of drape_ode_system; there is also M where it is consistent.
 *
 * Newton's matrix is A = M + c D + c^2 K with the cloth's K = -df/dx and D = -df/dv. Solved for positions, it is
 * divided by c^2, and the right-hand side by c. For pins, constrain() puts the prescribed velocities into the
 * guess of a stage, and corrections are solved for with z = 0. So the line search compares like with like.
 * The forces of pins are filtered out of residuals, and kept for drape_sim_constraint_forces.
 *
 * A linearised step (DRAPE_ODE_LINEARISED) has one system. Like step.c and Ascher and Boxerman (2003), it is solved
 * for the whole change u since the state before. With u_0 the change up to where the residual r was taken,
 *
 *     A u = r + A u_0,   (I-S) u = (I-S) u_0,   guess u_0;   the correction is u - u_0.
 *
 * Otherwise it would not matter which form of MPCG solves it: with z = 0 and no guess both are the same.
 *
 * With DRAPE_JACOBIAN_LINEAR and no wind on triangles, A depends only on c, and is computed once for each c. */
#include "base/parallel.h"
#include "base/vector.h"
#include "linear/groups.h"
#include "sim/contact.h"
#include "sim/stitches.h"
#include "sparse/matrix.h"
#include "sparse/multiply.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 4096 };

static const double SAME_C = 1e-9; /* relative */

/* After so many corrections, those that shrink by less want an exact Jacobian, where they are solved for tightly
 * enough to gain by it. */
enum { SEVERAL = 4 };
static const double SLOW = 0.5, TIGHT = 0.02;

/* A correction whose linear residual is no more than this is used anyway, which is better than none. */
static const double GOOD_FOR_SOMETHING = 0.5;

/* ---- The mass matrix of linear finite elements ----
 *
 * m_ij = density area (1 + delta_ij) / 12 of each triangle. Its rows sum up to the lumped masses, so weight is the
 * same with both. Blocks are m_ij I on the pattern of the Jacobians; a step adds consistent - lumped to what
 * drape_assembler_run gives. */

static drape_status check_masses(drape_sim *sim, const drape_scene *scene) {
    for (int32_t p = 0; p < scene->piece_count; p++)
        if (scene->pieces[p].mass)
            return drape_i_fail(
                sim->ctx, DRAPE_ERROR_ARGUMENT,
                "piece %d: a consistent mass matrix is computed from the density, but the vertices have "
                "masses of their own; leave these out, or use a lumped mass matrix",
                p);
    return DRAPE_OK;
}

static void add_triangle(const drape_bsr3 *M, const int32_t corner[3], double twelfth) {
    for (int32_t i = 0; i < 3; i++)
        for (int32_t j = 0; j < 3; j++) {
            double *block = M->val + 9 * drape_i_matrix_find(M, corner[i], corner[j]);
            for (int32_t k = 0; k < 3; k++) block[4 * k] += i == j ? 2 * twelfth : twelfth;
        }
}

drape_status drape_i_sim_mass_create(drape_sim *sim, const drape_scene *scene) {
    const drape_cloth *c = sim->cloth;
    drape_status status = check_masses(sim, scene);
    if (!status) status = drape_assembler_matrix(sim->forces, &sim->mass_matrix);
    if (status) return status;
    drape_bsr3 M = drape_matrix_view(sim->mass_matrix);
    for (int32_t p = 0; p < scene->piece_count; p++) {
        const drape_piece_range *range = &c->piece[p];
        for (int32_t t = range->first_triangle; t < range->first_triangle + range->triangles; t++)
            add_triangle(&M, c->triangle[t],
                         drape_i_piece_material(&scene->pieces[p], t - range->first_triangle)->density *
                             c->rest_triangle[t].area / 12);
    }
    return DRAPE_OK;
}

typedef struct mass_operands {
    drape_sim *sim;
    drape_bsr3 A, M;
    double factor;
    const double *in;
    double *out;
} mass_operands;

static void correct_rows(void *data, int64_t begin, int64_t end) {
    const mass_operands *o = data;
    for (int64_t k = 9 * o->A.rowptr[begin]; k < 9 * o->A.rowptr[end]; k++) o->A.val[k] += o->factor * o->M.val[k];
    for (int64_t i = begin; i < end; i++) {
        double *block = o->A.val + 9 * drape_i_matrix_find(&o->A, (int32_t)i, (int32_t)i);
        for (int32_t k = 0; k < 3; k++) block[4 * k] -= o->factor * drape_cloth_mass(o->sim->cloth)[i];
    }
}

void drape_i_sim_mass_correct(drape_sim *sim, double factor) {
    if (!sim->mass_matrix || factor == 0) return;
    mass_operands o = {
        .sim = sim, .A = drape_matrix_view(sim->A), .M = drape_matrix_view(sim->mass_matrix), .factor = factor};
    drape_i_loop(sim->ctx, sim->vertices, DRAPE_I_GRAIN, correct_rows, &o);
}

static void lumped_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    const mass_operands *o = data;
    const double *mass = drape_cloth_mass(o->sim->cloth);
    for (int64_t i = begin; i < end; i++)
        for (int32_t k = 0; k < 3; k++) {
            o->out[3 * i + k] = mass[i] * o->in[3 * i + k];
            sums[0] += o->in[3 * i + k] * o->out[3 * i + k];
        }
}

double drape_i_sim_mass_times(drape_sim *sim, const double *in, double *out) {
    mass_operands o = {.sim = sim, .in = in, .out = out};
    double square;
    if (sim->mass_matrix) {
        drape_bsr3 M = drape_matrix_view(sim->mass_matrix);
        return drape_i_multiply(sim->ctx, &M, in, out);
    }
    drape_i_sum(sim->ctx, sim->vertices, GRAIN, lumped_chunk, &o, 1, &square);
    return square;
}

/* ---- Short forms for vectors of 3 doubles per vertex ---- */

static void scale(drape_sim *sim, double factor, const double *in, double *out) {
    drape_i_scale(sim->ctx, drape_i_sim_numbers(sim), factor, in, out);
}

static void add(drape_sim *sim, double factor, const double *in, double *out) {
    drape_i_axpy(sim->ctx, drape_i_sim_numbers(sim), factor, in, out);
}

/* ---- Whether a matrix can be kept ---- */

/* Whether sim->A is the matrix for c already. Ends of equal steps are but rounded. */
static bool is_made(const drape_sim *sim, double c) {
    const drape_i_integrator *it = sim->integrator;
    bool same_c = fabs(c - it->constant_c) <= SAME_C * c;
    return it->constant_c > 0 && same_c && drape_i_assembler_constant_jacobian(sim->forces) &&
           it->constant_drag == sim->forces->outside.forces.air_drag;
}

static void note_made(drape_sim *sim, double c) {
    drape_i_integrator *it = sim->integrator;
    sim->matrix_c = c;
    it->constant_c = drape_i_assembler_constant_jacobian(sim->forces) ? c : 0;
    it->constant_drag = sim->forces->outside.forces.air_drag;
    it->same_matrix = false;
}

/* ---- Forces and masses ---- */

/* In a stage whose line search uses the potential, the next prepare() will be at the same state. So the matrix is
 * assembled with the forces, in half the time of doing one after the other. */
static drape_status evaluate(drape_sim *sim, double t, const double *x, const double *v, double *out,
                             drape_i_potential *potential) {
    drape_i_integrator *it = sim->integrator;
    bool both = it->lagged_x && drape_i_assembler_has_potential(sim->forces, true) &&
                it->settings.newton.kind != DRAPE_ODE_SIMPLIFIED && !is_made(sim, it->stage_c);
    drape_assembly what = both ? drape_i_sim_system(sim, it->stage_c) : (drape_assembly){0};
    what.time = t;
    what.x = x;
    what.v = v;
    what.lagged_x = it->lagged_x;
    what.exactness = both ? it->exactness : 0;
    what.clamped = it->lagged_x && it->indefinite;
    what.force = out;
    it->last = what;
    drape_status status = drape_i_sim_assemble_potential(sim, &what, both ? sim->A : NULL, potential);
    if (!status && both) note_made(sim, it->stage_c);
    it->made_with_force = both && !status;
    return status;
}

static drape_status force(void *user, double t, const double *x, const double *v, double *out) {
    return evaluate(user, t, x, v, out, NULL);
}

static drape_status force_with_potential(void *user, const drape_ode_point *at, double *out, double *potential) {
    drape_sim *sim = user;
    drape_i_potential p = {.c = at->c};
    drape_status status = evaluate(user, at->t, at->x, at->v, out, &p);
    *potential = p.value;
    if (!status && sim->contact) *potential += drape_i_contact_potential(sim, at->t, at->c, at->x, at->v);
    return status;
}

static drape_status mass_times(void *user, const double *in, double *out) {
    drape_i_sim_mass_times(user, in, out);
    return DRAPE_OK;
}

/* What the constraints carry of r, before it is filtered. */
static void carry(drape_sim *sim, const double *r) {
    double *carried = sim->integrator->carried;
    memcpy(carried, r, (size_t)drape_i_sim_numbers(sim) * sizeof *r);
    drape_i_filter_complement(sim->constraints, sim->vertices, carried);
}

typedef struct division {
    const double *mass;
    double *r;
} division;

static void divide_chunk(void *data, int64_t begin, int64_t end) {
    const division *d = data;
    for (int64_t i = begin; i < end; i++)
        for (int32_t k = 0; k < 3; k++) d->r[3 * i + k] /= d->mass[i];
}

/* r = M^-1 r, without acceleration in directions that are held. */
static drape_status mass_solve(void *user, double *r) {
    drape_sim *sim = user;
    carry(sim, r);
    if (sim->mass_matrix) {
        drape_status status = drape_i_sim_hold_still(sim); /* a linearised step has left what it prescribed */
        if (status) return status;
        drape_bsr3 M = drape_matrix_view(sim->mass_matrix);
        memcpy(sim->b, r, (size_t)drape_i_sim_numbers(sim) * sizeof *r);
        drape_problem problem = {.A = &M, .b = sim->b, .constraints = sim->constraints};
        return drape_solver_solve(sim->integrator->mass_solver, &problem, r, NULL);
    }
    division d = {drape_cloth_mass(sim->cloth), r};
    drape_i_loop(sim->ctx, sim->vertices, DRAPE_I_GRAIN, divide_chunk, &d);
    if (drape_i_any_groups(sim->constraints))
        drape_i_groups_accelerate(sim->constraints->groups, d.mass, r, sim->integrator->carried);
    drape_i_filter(sim->constraints, r);
    return DRAPE_OK;
}

/* ---- The linear algebra of Newton's method ---- */

static drape_status prepare(void *user, const drape_ode_point *at) {
    drape_sim *sim = user;
    drape_i_integrator *it = sim->integrator;
    if (it->made_with_force || is_made(sim, at->c)) return DRAPE_OK;
    drape_assembly what = drape_i_sim_system(sim, at->c);
    what.time = at->t;
    what.x = at->x;
    what.v = at->v;
    what.lagged_x = it->lagged_x;
    what.exactness = it->lagged_x ? it->exactness : 0;
    what.clamped = it->lagged_x && it->indefinite;
    drape_status status = drape_i_sim_assemble(sim, &what, sim->A);
    if (!status) note_made(sim, at->c);
    return status;
}

/* Which Jacobian: the clamped one is positive definite everywhere, and brings the first corrections nearer as fast as
 * any; under compression, corrections then shrink by a constant factor. Where that is slow, the exact one is tried;
 * it makes them shrink quadratically. Where conjugate gradients find out that it is not positive definite, the
 * clamped one takes its place for the rest of the stage; so it does with DRAPE_JACOBIAN_FULL. */

static drape_status solve_clamped(drape_sim *sim, const drape_ode_request *request, drape_problem *posed, double *d) {
    drape_i_integrator *it = sim->integrator;
    it->exactness = 0;
    it->indefinite = true;
    it->made_with_force = false;
    drape_status status = prepare(sim, &request->at);
    if (!status && sim->contact) drape_i_contact_couple(sim, request->at.t, request->at.x, sim->matrix_c);
    posed->same_matrix = false;
    return status ? status : drape_i_sim_solve(sim, posed, d);
}

/* Whether the matrix of this stage may be clamped, and is not yet. */
static bool is_exact(const drape_sim *sim) {
    const drape_i_integrator *it = sim->integrator;
    bool full = sim->cloth->settings.jacobian == DRAPE_JACOBIAN_FULL;
    return it->lagged_x && !it->indefinite && (it->exactness > 0 || full);
}

static void choose_exactness(drape_sim *sim, const drape_ode_request *request, const double *d) {
    drape_i_integrator *it = sim->integrator;
    double move = sqrt(drape_i_sim_dot(sim, d, d));
    bool slow = ++it->corrections >= SEVERAL && move > SLOW * it->last_move && request->tol <= TIGHT;
    if (slow && !it->indefinite) it->exactness = 1;
    it->last_move = move;
}

static double scale_of_residual(const drape_sim *sim) {
    return drape_i_sim_solves_for_positions(sim) ? 1 / sim->matrix_c : 1;
}

typedef struct shift {
    drape_sim *sim;
    const double *psi_x, *v; /* of the stage; where the residual was taken */
    double c;
} shift;

/* u_0: psi_x + c v - x, which is where the step has its x, or v - v before. */
static void change_chunk(void *data, int64_t begin, int64_t end) {
    const shift *s = data;
    const drape_i_integrator *it = s->sim->integrator;
    const double *x = drape_ode_x(it->ode), *v = drape_ode_v(it->ode);
    if (drape_i_sim_solves_for_positions(s->sim))
        for (int64_t i = begin; i < end; i++) it->change[i] = (s->psi_x[i] - x[i]) + s->c * s->v[i];
    else
        for (int64_t i = begin; i < end; i++) it->change[i] = s->v[i] - v[i];
}

/* b = r + A u_0, z = u_0, guess u_0 */
static drape_status pose_whole_change(drape_sim *sim, const drape_ode_request *request, drape_problem *problem) {
    shift s = {sim, request->psi_x, request->at.v, sim->matrix_c};
    const double *u = sim->integrator->change;
    drape_bsr3 A = drape_matrix_view(sim->A);
    drape_i_loop(sim->ctx, drape_i_sim_numbers(sim), GRAIN, change_chunk, &s);
    drape_i_multiply(sim->ctx, &A, u, sim->b);
    if (sim->contact) drape_i_contact_multiply(sim, u, sim->b);
    add(sim, scale_of_residual(sim), request->r, sim->b);
    for (int64_t i = 0; i < sim->held_now; i++)
        memcpy(sim->held[i].z, u + 3 * (int64_t)sim->held[i].vertex, sizeof sim->held[i].z);
    problem->guess = u;
    drape_status status = drape_constraints_set(sim->constraints, sim->held, sim->held_now);
    return status ? status : drape_i_stitches_follow(sim, u);
}

/* Contacts that pull are released, and their forces become a part of the residual. */
static drape_status solve_released(drape_sim *sim, const drape_ode_request *request, drape_problem *posed,
                                   double *d) {
    drape_i_integrator *it = sim->integrator;
    double factor = drape_i_sim_solves_for_positions(sim) ? sim->matrix_c : 1;
    if (drape_i_contact_release(sim, sim->solved.constraint_force, factor, it->carried) == 0) return DRAPE_OK;
    drape_i_aim aim = {.t = request->at.t, .c = request->at.c, .x = request->at.x, .factor = 1};
    drape_status status = drape_i_sim_constrain(sim, &aim);
    if (!status) status = drape_i_sim_hold_still(sim);
    if (status) return status;
    add(sim, 1, request->r, it->carried);
    memcpy(sim->b, it->carried, (size_t)drape_i_sim_numbers(sim) * sizeof *sim->b);
    drape_i_filter_complement(sim->constraints, sim->vertices, it->carried);
    drape_i_filter(sim->constraints, sim->b);
    memcpy(request->r, sim->b, (size_t)drape_i_sim_numbers(sim) * sizeof *sim->b);
    scale(sim, scale_of_residual(sim), sim->b, sim->b);
    posed->same_matrix = false;
    posed->released = true;
    return drape_i_sim_solve(sim, posed, d);
}

static drape_status solve(void *user, const drape_ode_request *request, double *d, drape_ode_answer *answer) {
    drape_sim *sim = user;
    drape_i_integrator *it = sim->integrator;
    bool whole = it->settings.newton.kind == DRAPE_ODE_LINEARISED;
    drape_problem posed = {.positions = request->at.x, .tol = request->tol, .same_matrix = it->same_matrix};
    drape_status status = sim->stitches ? sim->stitches->failed : DRAPE_OK;
    if (status) return status;
    if (sim->contact && drape_i_contact_couple(sim, request->at.t, request->at.x, sim->matrix_c))
        posed.same_matrix = false;
    if (whole) status = pose_whole_change(sim, request, &posed);
    else scale(sim, scale_of_residual(sim), request->r, sim->b);
    if (!status) status = drape_i_sim_solve(sim, &posed, d);
    if (!status && sim->solved.reason == DRAPE_INDEFINITE && is_exact(sim))
        status = solve_clamped(sim, request, &posed, d);
    if (!status && sim->contact && !whole) status = solve_released(sim, request, &posed, d);
    if (status) return status;
    it->same_matrix = true;
    if (it->lagged_x) choose_exactness(sim, request, d);
    if (whole) add(sim, -1, it->change, d);
    if (drape_i_sim_solves_for_positions(sim)) scale(sim, 1 / sim->matrix_c, d, d);
    const drape_solve_result *solved = &sim->solved;
    answer->iterations = solved->iterations;
    answer->failed = solved->reason != DRAPE_CONVERGED && !(solved->true_residual <= GOOD_FOR_SOMETHING);
    return DRAPE_OK;
}

/* out = df/dx p = -K p. The matrix is that of the next prepare() afterwards. */
static drape_status stiffness_times(void *user, const drape_ode_point *at, const double *p, double *out) {
    drape_sim *sim = user;
    drape_assembly what = {.time = at->t, .x = at->x, .v = at->v, .stiffness = 1};
    sim->integrator->constant_c = 0;
    drape_status status = drape_i_sim_assemble(sim, &what, sim->A);
    if (status) return status;
    drape_bsr3 K = drape_matrix_view(sim->A);
    drape_i_multiply(sim->ctx, &K, p, out);
    scale(sim, -1, out, out);
    return DRAPE_OK;
}

/* ---- The potential ---- */

static drape_status potential(void *user, const drape_ode_point *at, double *out) {
    drape_sim *sim = user;
    drape_status status =
        drape_i_assembler_potential(sim->forces, at->t, at->c, at->x, at->v, sim->integrator->lagged_x, out);
    if (!status && sim->contact) *out += drape_i_contact_potential(sim, at->t, at->c, at->x, at->v);
    return status;
}

static bool has_potential(void *user) {
    const drape_sim *sim = user;
    return !sim->spread && drape_i_assembler_has_potential(sim->forces, sim->integrator->lagged_x != NULL);
}

/* Damping and wind have a potential with their geometry as it is at the extrapolated positions (drape/force.h). */
static void lag(void *user, const drape_ode_point *at) {
    drape_i_integrator *it = ((drape_sim *)user)->integrator;
    it->lagged_x = at ? at->x : NULL;
    it->stage_c = at ? at->c : 0;
    it->exactness = it->settings.newton.kind == DRAPE_ODE_NEWTON ? 1 : 0;
    it->indefinite = false;
    it->corrections = 0;
    it->made_with_force = false;
}

/* ---- Constraints ---- */

static void filter(void *user, drape_ode_filtered what, double *r) {
    drape_sim *sim = user;
    if (what == DRAPE_ODE_FILTER_RESIDUAL) carry(sim, r);
    drape_i_filter(sim->constraints, r);
}

static bool constrain(void *user, const drape_ode_point *at, double *v) {
    drape_sim *sim = user;
    double *before = sim->integrator->held_before;
    drape_i_aim aim = {.t = at->t, .c = at->c, .x = at->x, .factor = 1};
    bool changed = false;
    drape_status status = drape_i_sim_constrain(sim, &aim);
    if (sim->stitches) sim->stitches->failed = status;
    if (status) return false; /* a target that is not finite: the state tells soon; for stitches, the next solve */
    drape_i_stitches_keep(sim, v);
    for (int64_t i = 0; i < sim->held_now; i++)
        memcpy(before + 3 * i, v + 3 * (int64_t)sim->held[i].vertex, 3 * sizeof *v);
    if (drape_i_any_groups(sim->constraints))
        drape_i_groups_impose(sim->constraints->groups, drape_cloth_mass(sim->cloth), v);
    drape_postfilter(sim->constraints, v);
    for (int64_t i = 0; i < sim->held_now; i++)
        for (int32_t k = 0; k < 3; k++) changed |= before[3 * i + k] != v[3 * (int64_t)sim->held[i].vertex + k];
    changed |= drape_i_stitches_changed(sim, v);
    drape_i_sim_hold_still(sim);
    return changed;
}

/* ---- The response ---- */

typedef struct response {
    const drape_i_integrator *it;
    const double *x, *v;
} response;

static void sum_changes(void *data, int64_t begin, int64_t end, double *sums) {
    const response *r = data;
    const double *x_before = r->it->before[0], *v_before = r->it->before[1];
    for (int64_t i = begin; i < end; i++) {
        double dx = r->x[i] - x_before[i], dv = r->v[i] - v_before[i];
        sums[0] += dx * dx;
        sums[1] += dv * dv;
    }
}

static drape_status project(void *user, drape_ode_projection *state) {
    drape_sim *sim = user;
    const drape_i_integrator *it = sim->integrator;
    size_t bytes = (size_t)drape_i_sim_numbers(sim) * sizeof(double);
    response r = {it, state->x, state->v};
    memcpy(it->before[0], state->x, bytes);
    memcpy(it->before[1], state->v, bytes);
    drape_status status =
        drape_i_sim_respond(sim, state->t, state->h, drape_ode_x(it->ode), state->x, state->v, state);
    if (status) return status;
    drape_i_sum(sim->ctx, drape_i_sim_numbers(sim), GRAIN, sum_changes, &r, 2, state->change);
    for (int32_t k = 0; k < 2; k++) state->change[k] = sqrt(state->change[k]);
    return DRAPE_OK;
}

drape_ode_system drape_i_cloth_system(drape_sim *sim, bool implicit) {
    return (drape_ode_system){.order = 2,
                              .size = drape_i_sim_numbers(sim),
                              .user = sim,
                              .f = force,
                              .mass_times = mass_times,
                              .mass_solve = mass_solve,
                              .linear = {.user = sim, .prepare = prepare, .solve = solve},
                              .stiffness_times = stiffness_times,
                              .potential = potential,
                              .has_potential = has_potential,
                              .f_with_potential = force_with_potential,
                              .lag = lag,
                              .filter = filter,
                              .constrain = constrain,
                              .spread = sim->spread ? &sim->spread->ode : NULL,
                              .project = drape_i_sim_responds(sim) ? project : NULL,
                              .stiffest = implicit ? NULL : drape_i_cloth_stiffest};
}
