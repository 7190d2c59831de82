/* integrate.c: a step of the scene by an integrator of drape/ode.h. */
#include "sim/integrate.h"

#include "base/parallel.h"
#include "base/timer.h"
#include "ode/ode.h"

#include <string.h>

enum { GRAIN = 4096 };

/* ---- Settings ---- */

drape_integration drape_integration_defaults(void) {
    drape_integration s = {.ode = drape_ode_defaults()};
    s.ode.method = DRAPE_LINEARISED_EULER;
    s.ode.rtol = 1e-3;
    s.ode.atol = 1e-5;   /* m */
    s.ode.atol_v = 1e-3; /* m/s */
    s.ode.newton.kind = DRAPE_ODE_INEXACT;
    s.ode.newton.rtol = 1e-6;
    s.ode.newton.atol = 1e-9;
    s.ode.newton.max_iterations = 100;
    s.ode.newton.line_search = DRAPE_ODE_SEARCH_SLOPE;
    return s;
}

const char *drape_integrator_name(int32_t index) {
    return index == 0 ? DRAPE_LINEARISED_EULER : drape_ode_method_name(index - 1);
}

const char *drape_unknowns_name(int32_t unknowns) {
    return unknowns == DRAPE_UNKNOWN_VELOCITY ? "velocity" : unknowns == DRAPE_UNKNOWN_POSITION ? "position" : NULL;
}

const char *drape_mass_matrix_name(int32_t mass) {
    return mass == DRAPE_MASS_LUMPED ? "lumped" : mass == DRAPE_MASS_CONSISTENT ? "consistent" : NULL;
}

static bool is_linearised(const drape_integration *s) {
    return !s->ode.tableau && (!s->ode.method || strcmp(s->ode.method, DRAPE_LINEARISED_EULER) == 0);
}

double drape_i_integration_tolerance(const drape_scene *scene) {
    const drape_ode_newton *newton = &scene->integration.ode.newton;
    if (is_linearised(&scene->integration)) return scene->solve.tol;
    if (newton->eta > 0) return newton->eta;
    if (newton->kind == DRAPE_ODE_LINEARISED) return scene->solve.tol;
    return newton->kind == DRAPE_ODE_NEWTON ? 1e-10 : 0.02; /* as drape/ode.h has it */
}

static drape_ode_settings ode_settings(const drape_scene *scene) {
    drape_ode_settings s = scene->integration.ode;
    s.step = s.control == DRAPE_ODE_ERROR ? 0 : scene->step;
    if (s.newton.kind == DRAPE_ODE_LINEARISED && s.newton.eta == 0) s.newton.eta = scene->solve.tol;
    return s;
}

/* ---- Creating ---- */

static bool is_damped(const drape_scene *scene) {
    for (int32_t p = 0; p < scene->piece_count; p++) {
        const drape_material *m = &scene->pieces[p].material;
        if (m->damping_stretch > 0 || m->damping_shear > 0 || m->damping_bend > 0) return true;
    }
    return false;
}

static bool is_known(const drape_ode_settings *s) {
    return s->tableau || (s->method && drape_ode_method_order(s->method) > 0);
}

static drape_status allocate(drape_sim *sim, bool implicit) {
    drape_i_integrator *it = sim->integrator;
    int64_t n = 3 * (int64_t)sim->vertices;
    bool good = DRAPE_NEW(sim->ctx, it->carried, n) && DRAPE_NEW(sim->ctx, it->impulse, n) &&
                DRAPE_NEW(sim->ctx, it->held_before, 3 * (int64_t)sim->held_count);
    for (int32_t i = 0; i < 3 && good && !implicit; i++) good = DRAPE_NEW(sim->ctx, it->lanczos[i], n);
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

/* Conjugate gradients on a mass matrix need some ten iterations whatever the mesh. */
static drape_status create_mass_solver(drape_sim *sim) {
    drape_solve_settings s = drape_solve_defaults();
    s.precond = "block_diagonal";
    s.tol = 1e-12;
    return drape_solver_create(sim->ctx, &s, &sim->integrator->mass_solver);
}

drape_status drape_i_integrator_create(drape_sim *sim, const drape_scene *scene) {
    drape_ode_settings s = ode_settings(scene);
    if (is_linearised(&scene->integration)) return DRAPE_OK;
    if (!is_known(&s)) return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "there is no integrator \"%s\"", s.method);
    bool implicit = !s.tableau && drape_ode_method_implicit(s.method);
    if (!DRAPE_NEW(sim->ctx, sim->integrator, 1)) return DRAPE_ERROR_MEMORY;
    drape_i_integrator *it = sim->integrator;
    it->settings = s;
    it->damped = is_damped(scene);
    it->stiffest_step = -1;
    drape_ode_system system = drape_i_cloth_system(sim, implicit);
    it->potential = system.potential;
    drape_status status = allocate(sim, implicit);
    if (!status) status = drape_ode_create(sim->ctx, &system, &s, &it->ode);
    if (!status && sim->mass_matrix) status = create_mass_solver(sim);
    return status;
}

void drape_i_integrator_destroy(drape_sim *sim) {
    drape_i_integrator *it = sim->integrator;
    int64_t n = 3 * (int64_t)sim->vertices;
    if (!it) return;
    drape_ode_destroy(it->ode);
    drape_solver_destroy(it->mass_solver);
    DRAPE_FREE(sim->ctx, it->carried, n);
    DRAPE_FREE(sim->ctx, it->impulse, n);
    DRAPE_FREE(sim->ctx, it->held_before, 3 * (int64_t)sim->held_count);
    for (int32_t i = 0; i < 3; i++) DRAPE_FREE(sim->ctx, it->lanczos[i], n);
    DRAPE_FREE(sim->ctx, sim->integrator, 1);
}

void drape_i_integrator_forget(drape_i_integrator *it) {
    it->stiffest_step = -1;
    it->constant_c = 0;
    it->same_matrix = false;
    if (it->mass_solver) drape_solver_forget(it->mass_solver);
}

/* ---- Stepping ---- */

/* Begins anew where other pins hold, or the state is not the one that the integrator left. */
static drape_status resume(drape_sim *sim) {
    drape_ode *ode = sim->integrator->ode;
    size_t bytes = 3 * (size_t)sim->vertices * sizeof *sim->x;
    bool others = drape_i_sim_grip(sim), begun = ode->past_count > 0;
    if (others) sim->integrator->same_matrix = false;
    double now = drape_sim_time(sim);
    drape_i_aim aim = {.t = now + sim->h, .c = sim->h, .x = sim->x, .v = sim->v, .factor = 1};
    drape_status status = drape_i_sim_constrain(sim, &aim); /* whom is held; what is prescribed is asked for later */
    if (!status) status = drape_i_sim_hold_still(sim);
    if (status) return status;
    bool same = begun && drape_ode_time(ode) == now && memcmp(drape_ode_x(ode), sim->x, bytes) == 0 &&
                memcmp(drape_ode_v(ode), sim->v, bytes) == 0;
    ode->system.potential = drape_i_cloth_has_potential(sim) ? sim->integrator->potential : NULL;
    return others || !same ? drape_ode_start(ode, now, sim->x, sim->v) : DRAPE_OK;
}

typedef struct impulses {
    const double *solved, *carried;
    double *out;
    double of_solved, of_carried;
} impulses;

static void impulse_chunk(void *data, int64_t begin, int64_t end) {
    const impulses *p = data;
    for (int64_t i = begin; i < end; i++)
        p->out[i] = (p->solved ? p->of_solved * p->solved[i] : 0) - p->of_carried * p->carried[i];
}

/* The forces of the last stage, over the whole step: (I-S) (A d - r) / c, r before it was filtered. */
static void find_impulse(drape_sim *sim) {
    drape_i_integrator *it = sim->integrator;
    bool implicit = it->solved.method != NULL;
    double share = implicit ? sim->h / sim->matrix_c : sim->h;
    impulses p = {implicit ? it->solved.constraint_force : NULL, it->carried, it->impulse, share, share};
    if (sim->unknowns == DRAPE_UNKNOWN_POSITION) p.of_solved *= sim->matrix_c;
    drape_i_loop(sim->ctx, 3 * (int64_t)sim->vertices, GRAIN, impulse_chunk, &p);
    sim->constraint_force = it->impulse;
}

/* The state of before stands: sim->x and v have not been touched. */
static drape_status refuse(drape_sim *sim) {
    sim->constraint_force = NULL;
    return drape_i_fail(sim->ctx, DRAPE_ERROR_NUMBER,
                        "step %lld (t = %g s): %s; the state is that of before this step", (long long)sim->steps + 1,
                        (double)(sim->steps + 1) * sim->h, drape_ode_explain(sim->integrator->ode));
}

static void certify(drape_sim *sim, const drape_ode_counts *before, const drape_ode_result *result,
                    drape_certificate *c) {
    const drape_i_integrator *it = sim->integrator;
    const drape_solve_result *solved = &it->solved;
    drape_ode_counts now = drape_ode_count(it->ode);
    bool any = solved->method != NULL;
    *c = (drape_certificate){.step = sim->steps,
                             .time = drape_sim_time(sim),
                             .reason = solved->reason,
                             .iterations = (int32_t)it->spent.linear_iterations,
                             .residual = solved->residual,
                             .true_residual = solved->true_residual,
                             .method = any ? solved->method : "none",
                             .precond = any ? solved->precond : "none",
                             .modes = solved->modes,
                             .fallbacks = solved->fallbacks,
                             .ode_reason = it->ode->newton.forgiven,
                             .substeps = (int32_t)(now.steps - before->steps),
                             .rejected = (int32_t)(now.rejected - before->rejected),
                             .evaluations = (int32_t)(now.f - before->f),
                             .newton_iterations = (int32_t)(now.newton - before->newton),
                             .cuts = (int32_t)(now.cuts - before->cuts),
                             .unconverged = (int32_t)(now.unconverged - before->unconverged),
                             .newton_error = result->newton_error,
                             .assemble_seconds = it->spent.assemble_seconds,
                             .precondition_seconds = it->spent.precondition_seconds,
                             .solve_seconds = it->spent.solve_seconds};
    memcpy(c->fallback, solved->fallback, sizeof c->fallback);
    drape_i_sim_energies(sim, c);
}

/* All the time of a step that is none of the other parts'. */
static double rest_of(double seconds, const drape_i_spent *spent) {
    double rest = seconds - spent->assemble_seconds - spent->precondition_seconds - spent->solve_seconds;
    return rest > 0 ? rest : 0;
}

drape_status drape_i_integrator_step(drape_sim *sim, drape_certificate *certificate) {
    drape_i_integrator *it = sim->integrator;
    size_t bytes = 3 * (size_t)sim->vertices * sizeof *sim->x;
    double begin = drape_i_seconds();
    drape_ode_result result;
    drape_ode_counts before = drape_ode_count(it->ode);
    it->spent = (drape_i_spent){0};
    it->solved = (drape_solve_result){.reason = DRAPE_CONVERGED};
    it->ode->newton.forgiven = DRAPE_ODE_DONE;
    drape_i_sim_remember(sim);
    drape_status status = resume(sim);
    if (!status) status = drape_ode_advance(it->ode, (double)(sim->steps + 1) * sim->h, &result);
    if (status) return status;
    if (result.reason) return refuse(sim);
    memcpy(sim->x, drape_ode_x(it->ode), bytes);
    memcpy(sim->v, drape_ode_v(it->ode), bytes);
    sim->steps++;
    find_impulse(sim);
    status = drape_i_sim_limit_strain(sim);
    if (status || !certificate) return status;
    certify(sim, &before, &result, certificate);
    certificate->update_seconds = rest_of(drape_i_seconds() - begin, &it->spent);
    return DRAPE_OK;
}
