/* step.c: one linearised step of backward Euler (Baraff and Witkin 1998, eq. 16):
 *
 *     (M + h D + h^2 K) dv = h (f - h K v),   K = -df/dx, D = -df/dv,
 *     v <- v + dv,   x <- x + h v.
 *
 * or, with positions as unknowns (Ascher and Boxerman 2003), the same divided by h^2 and solved for dx = h (v + dv):
 *
 *     (M/h^2 + D/h + K) dx = f + (M/h + D) v = f - h K v + A h v,   v <- dx/h,   x <- x + dx.
 *
 * Then the limit of strain, where a material has one. */
#include "base/parallel.h"
#include "base/timer.h"
#include "sim/integrate.h"
#include "sparse/multiply.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 4096 };

void drape_i_sim_remember(drape_sim *sim) {
    size_t bytes = 3 * (size_t)sim->vertices * sizeof *sim->x;
    memcpy(sim->x_old, sim->x, bytes);
    memcpy(sim->v_old, sim->v, bytes);
}

static void rhs_chunk(void *data, int64_t begin, int64_t end) {
    drape_sim *sim = data;
    for (int64_t i = begin; i < end; i++) sim->b[i] = sim->h * (sim->f[i] - sim->h * sim->Kv[i]);
}

/* b = f - h K v, and h v in place of K v */
static void position_rhs_chunk(void *data, int64_t begin, int64_t end) {
    drape_sim *sim = data;
    for (int64_t i = begin; i < end; i++) {
        sim->b[i] = sim->f[i] - sim->h * sim->Kv[i];
        sim->Kv[i] = sim->h * sim->v[i];
    }
}

static void add_chunk(void *data, int64_t begin, int64_t end) {
    drape_sim *sim = data;
    for (int64_t i = begin; i < end; i++) sim->b[i] += sim->dv[i];
}

static bool solves_for_positions(const drape_sim *sim) { return sim->unknowns == DRAPE_UNKNOWN_POSITION; }

static void form_rhs(drape_sim *sim) {
    int64_t n = 3 * (int64_t)sim->vertices;
    drape_bsr3 A = drape_matrix_view(sim->A);
    if (!solves_for_positions(sim)) {
        drape_i_loop(sim->ctx, n, GRAIN, rhs_chunk, sim);
        return;
    }
    drape_i_loop(sim->ctx, n, GRAIN, position_rhs_chunk, sim);
    drape_i_multiply(sim->ctx, &A, sim->Kv, sim->dv);
    drape_i_loop(sim->ctx, n, GRAIN, add_chunk, sim);
}

/* A = M + h D + h^2 K, b = h (f - h K v); or both for positions */
static drape_status assemble(drape_sim *sim) {
    double h = sim->h;
    drape_assembly what = {
        .x = sim->x, .v = sim->v, .mass = 1, .damping = h, .stiffness = h * h, .force = sim->f, .stiff_v = sim->Kv};
    if (solves_for_positions(sim)) what.mass = 1 / (h * h), what.damping = 1 / h, what.stiffness = 1;
    drape_status status = drape_cloth_assemble(sim->cloth, &what, sim->A);
    if (status) return status;
    drape_i_sim_mass_correct(sim, what.mass);
    sim->matrix_c = h;
    form_rhs(sim);
    return DRAPE_OK;
}

static drape_status constrain(drape_sim *sim) {
    bool positions = solves_for_positions(sim);
    drape_i_aim aim = {.t = (double)(sim->steps + 1) * sim->h,
                       .c = sim->h,
                       .x = sim->x,
                       .v = positions ? NULL : sim->v,
                       .factor = positions ? sim->h : 1};
    drape_i_sim_grip(sim);
    return drape_i_sim_constrain(sim, &aim);
}

/* dx becomes dv; forces become impulses, where h v was. */
static void to_velocities_chunk(void *data, int64_t begin, int64_t end) {
    drape_sim *sim = data;
    for (int64_t i = begin; i < end; i++) {
        sim->dv[i] = sim->dv[i] / sim->h - sim->v[i];
        sim->Kv[i] = sim->h * sim->constraint_force[i];
    }
}

static drape_status solve(drape_sim *sim, drape_solve_result *result) {
    drape_bsr3 A = drape_matrix_view(sim->A);
    bool positions = solves_for_positions(sim);
    drape_problem problem = {.A = &A,
                             .b = sim->b,
                             .constraints = sim->constraints,
                             .guess = positions ? sim->Kv : sim->dv,
                             .positions = sim->x};
    drape_status status = drape_solver_solve(sim->solver, &problem, sim->dv, result);
    if (status) return status;
    sim->constraint_force = result->constraint_force;
    if (positions) {
        drape_i_loop(sim->ctx, 3 * (int64_t)sim->vertices, GRAIN, to_velocities_chunk, sim);
        sim->constraint_force = sim->Kv;
    }
    return DRAPE_OK;
}

static void advance_chunk(void *data, int64_t begin, int64_t end) {
    drape_sim *sim = data;
    for (int64_t i = begin; i < end; i++) {
        sim->v[i] += sim->dv[i];
        sim->x[i] += sim->h * sim->v[i];
    }
}

static void advance(drape_sim *sim) {
    drape_i_loop(sim->ctx, 3 * (int64_t)sim->vertices, GRAIN, advance_chunk, sim);
    sim->steps++;
}

drape_status drape_i_sim_limit_strain(drape_sim *sim) {
    const double *mass = drape_cloth_mass(sim->cloth);
    if (!drape_cloth_limits_strain(sim->cloth)) return DRAPE_OK;
    for (int32_t i = 0; i < sim->vertices; i++) sim->inverse_mass[i] = 1 / mass[i];
    for (int32_t i = 0; i < sim->held_now; i++) sim->inverse_mass[sim->held[i].vertex] = 0;
    return drape_cloth_limit_strain(sim->cloth, sim->inverse_mass, sim->h, sim->x, sim->v);
}

static void count_wrong(void *data, int64_t begin, int64_t end, double *sums) {
    const drape_sim *sim = data;
    for (int64_t i = begin; i < end; i++) sums[0] += isfinite(sim->x[i]) && isfinite(sim->v[i]) ? 0 : 1;
}

/* The vertex to name: the first whose state or right-hand side is not finite, else the one that is pushed most. */
static int64_t find_culprit(const drape_sim *sim) {
    int64_t worst = 0;
    for (int64_t i = 0; i < 3 * (int64_t)sim->vertices; i++) {
        if (!isfinite(sim->x[i]) || !isfinite(sim->v[i]) || !isfinite(sim->b[i])) return i / 3;
        if (fabs(sim->b[i]) > fabs(sim->b[worst])) worst = i;
    }
    return worst / 3;
}

/* Takes the step back where it led to a number that is not finite, or where the solve met one and gave up. */
static drape_status check(drape_sim *sim, drape_reason reason) {
    double wrong;
    drape_i_sum(sim->ctx, 3 * (int64_t)sim->vertices, GRAIN, count_wrong, sim, 1, &wrong);
    if (wrong == 0 && reason != DRAPE_NOT_FINITE) return DRAPE_OK;
    int64_t culprit = find_culprit(sim);
    size_t bytes = 3 * (size_t)sim->vertices * sizeof *sim->x;
    memcpy(sim->x, sim->x_old, bytes);
    memcpy(sim->v, sim->v_old, bytes);
    memset(sim->dv, 0, bytes);
    sim->constraint_force = NULL;
    sim->steps--;
    return drape_i_fail(sim->ctx, DRAPE_ERROR_NUMBER,
                        "step %lld (t = %g s): numbers at vertex %lld are no longer finite; the state is that of "
                        "before this step",
                        (long long)sim->steps + 1, (double)(sim->steps + 1) * sim->h, (long long)culprit);
}

static void sum_energies(void *data, int64_t begin, int64_t end, double *sums) {
    const drape_sim *sim = data;
    const double *mass = drape_cloth_mass(sim->cloth);
    for (int64_t i = begin; i < end; i++) {
        const double *v = sim->v + 3 * i, *x = sim->x + 3 * i, *x0 = sim->start + 3 * i, *g = sim->gravity;
        sums[0] += mass[i] * ((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]);
        sums[1] += mass[i] * ((g[0] * (x[0] - x0[0]) + g[1] * (x[1] - x0[1])) + g[2] * (x[2] - x0[2]));
    }
}

void drape_i_sim_energies(drape_sim *sim, drape_certificate *c) {
    double sums[2];
    drape_i_sum(sim->ctx, sim->vertices, GRAIN, sum_energies, sim, 2, sums);
    if (sim->mass_matrix) sums[0] = drape_i_sim_mass_times(sim, sim->v, sim->v_old); /* which is of no more use */
    c->kinetic = sums[0] / 2;
    c->elastic = drape_cloth_energy(sim->cloth, sim->x);
    c->weight = -sums[1];
    c->stretch = drape_cloth_stretch(sim->cloth, sim->x);
}

static void certify(drape_sim *sim, const drape_solve_result *solved, drape_certificate *c) {
    *c = (drape_certificate){.step = sim->steps,
                             .time = drape_sim_time(sim),
                             .reason = solved->reason,
                             .iterations = solved->iterations,
                             .residual = solved->residual,
                             .true_residual = solved->true_residual,
                             .method = solved->method,
                             .precond = solved->precond,
                             .modes = solved->modes,
                             .fallbacks = solved->fallbacks,
                             .substeps = 1,
                             .evaluations = 1,
                             .newton_iterations = 1,
                             .newton_error = -1,
                             .precondition_seconds = solved->setup_seconds,
                             .solve_seconds = solved->solve_seconds};
    memcpy(c->fallback, solved->fallback, sizeof c->fallback);
    drape_i_sim_energies(sim, c);
}

static drape_status step_linearised(drape_sim *sim, drape_certificate *certificate) {
    drape_solve_result solved;
    double begin = drape_i_seconds();
    drape_i_sim_remember(sim);
    drape_status status = assemble(sim);
    double assembled = drape_i_seconds();
    if (!status) status = constrain(sim);
    if (!status) status = solve(sim, &solved);
    if (status) return status;
    double updating = drape_i_seconds();
    advance(sim);
    status = drape_i_sim_limit_strain(sim);
    if (!status) status = check(sim, solved.reason);
    if (status || !certificate) return status;
    certify(sim, &solved, certificate);
    certificate->assemble_seconds = assembled - begin;
    certificate->update_seconds = drape_i_seconds() - updating;
    return DRAPE_OK;
}

drape_status drape_sim_step(drape_sim *sim, drape_certificate *certificate) {
    return sim->integrator ? drape_i_integrator_step(sim, certificate) : step_linearised(sim, certificate);
}
