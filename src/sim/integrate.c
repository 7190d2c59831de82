/* integrate.c: a step of the scene by an integrator of drape/ode.h. */
#include "sim/contact.h"

#include "base/elementary.h"
#include "base/parallel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GRAIN = 4096 };

/* How tightly Newton's method solves: what is left of linear systems where a tolerance in metres is set, and of the
 * stage where none is. */
static const double LOOSE_TOLERANCE = 1e-3, TIGHT_TOLERANCE = 1e-5; /* m */
static const double MAX_STRETCH = 2;
/* Of multistep methods above order two, of which none is A-stable (Dahlquist 1963). Vibrations of a few vertices that
 * they let grow are gone after so many steps of BDF2. */
static const double DAMPED_STEPS = 32;
static const double NEWTON_ETA = 0.07, NEWTON_RTOL = 1e-6, NEWTON_ATOL = 1e-9;

/* ---- Settings ---- */

drape_integration drape_integration_defaults(void) {
    drape_integration s = {.ode = drape_ode_defaults(), .max_stretch = MAX_STRETCH};
    s.ode.method = "bdf2";
    s.ode.rtol = 1e-3;
    s.ode.atol = 1e-5;   /* m */
    s.ode.atol_v = 1e-3; /* m/s */
    s.ode.newton.kind = DRAPE_ODE_INEXACT;
    s.ode.newton.rtol = s.ode.newton.atol = 0;
    s.ode.newton.max_iterations = 200;
    s.ode.newton.line_search = DRAPE_ODE_SEARCH_SLOPE;
    return s;
}

static void replace_zero(double *value, double usual) {
    if (*value == 0) *value = usual;
}

/* Methods that damp what the step does not resolve take what Newton's iteration leaves with it. In others it would
 * stay, and grow. */
static bool damps(const char *method) {
    return strcmp(method, "bdf2") == 0 || strcmp(method, "implicit-euler") == 0 || strcmp(method, "tr-bdf2") == 0;
}

drape_integration drape_i_integration_resolve(const drape_integration *given) {
    const drape_integration usual = drape_integration_defaults();
    drape_integration s = *given;
    drape_ode_newton *n = &s.ode.newton;
    if (!s.ode.method) s.ode.method = usual.ode.method;
    if (strcmp(s.ode.method, DRAPE_PREVIEW) == 0) s.ode.method = DRAPE_LINEARISED_EULER;
    replace_zero(&s.max_stretch, usual.max_stretch);
    replace_zero(&s.ode.rtol, usual.ode.rtol);
    replace_zero(&s.ode.atol, usual.ode.atol);
    replace_zero(&s.ode.atol_v, usual.ode.atol_v);
    if (s.ode.max_steps == 0) s.ode.max_steps = usual.ode.max_steps;
    if (s.ode.few == 0) s.ode.few = usual.ode.few;
    if (s.ode.many == 0) s.ode.many = usual.ode.many;
    if (n->kind == DRAPE_ODE_NEWTON_DEFAULT) n->kind = usual.ode.newton.kind;
    if (n->max_iterations == 0) n->max_iterations = usual.ode.newton.max_iterations;
    replace_zero(&n->tolerance, damps(s.ode.method) ? LOOSE_TOLERANCE : TIGHT_TOLERANCE);
    if (n->rtol != 0 || n->atol != 0) n->tolerance = -1;
    if (n->tolerance < 0) replace_zero(&n->rtol, NEWTON_RTOL);
    if (n->tolerance < 0) replace_zero(&n->atol, NEWTON_ATOL);
    bool loose = n->tolerance > TIGHT_TOLERANCE && s.ode.control != DRAPE_ODE_ERROR && n->kind == DRAPE_ODE_INEXACT;
    if (loose) replace_zero(&n->eta, NEWTON_ETA);
    if (n->line_search == DRAPE_ODE_SEARCH_DEFAULT) n->line_search = usual.ode.newton.line_search;
    return s;
}

const char *drape_integrator_name(int32_t index) {
    return index == 0 ? DRAPE_LINEARISED_EULER : index == 1 ? DRAPE_PREVIEW : drape_ode_method_name(index - 2);
}

const char *drape_unknowns_name(drape_unknowns unknowns) {
    return unknowns == DRAPE_UNKNOWN_VELOCITY ? "velocity" : unknowns == DRAPE_UNKNOWN_POSITION ? "position" : NULL;
}

const char *drape_mass_matrix_name(drape_mass_matrix mass) {
    return mass == DRAPE_MASS_LUMPED ? "lumped" : mass == DRAPE_MASS_CONSISTENT ? "consistent" : NULL;
}

bool drape_i_integration_is_linearised(const drape_integration *given) {
    const drape_ode_settings s = drape_i_integration_resolve(given).ode;
    return !s.tableau && strcmp(s.method, DRAPE_LINEARISED_EULER) == 0;
}

/* The factor of an undamped vibration's amplitude in a step, angle = frequency times step. One linearised step of
 * backward Euler is the whole step where forces are linear. */
static drape_status amplification(drape_context *ctx, const drape_integration *given, double angle, double *factor) {
    drape_ode_settings s = drape_i_integration_resolve(given).ode;
    drape_ode_stability at;
    if (drape_i_integration_is_linearised(given)) s.method = "implicit-euler";
    if (!s.tableau && drape_ode_method_second_order(s.method))
        return drape_ode_stability_oscillator(ctx, &s, angle * angle, 0, factor);
    drape_status status = drape_ode_stability_at(ctx, &s, 0, angle, &at);
    if (!status) *factor = at.radius;
    return status;
}

drape_status drape_integration_damping(drape_context *ctx, const drape_integration *integration, double step,
                                       double frequency, double *ratio) {
    const drape_integration usual = {0};
    double angle = frequency * step, factor;
    if (!ctx) return DRAPE_ERROR_ARGUMENT;
    if (!ratio) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_integration_damping: ratio is NULL");
    if (!(step > 0) || !(frequency > 0) || !(angle > 0) || !isfinite(angle))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "drape_integration_damping: step %g s and frequency %g rad/s must be above 0, and finite",
                            step, frequency);
    if (!integration) integration = &usual;
    drape_status status = drape_i_check_reserved(ctx, "drape_integration", integration->reserved, 6);
    if (!status) status = amplification(ctx, integration, angle, &factor);
    if (!status) *ratio = -drape_i_ln(factor) / angle;
    return status;
}

static double solver_tolerance(const drape_scene *scene) {
    return scene->solve.tol == 0 ? drape_solve_defaults().tol : scene->solve.tol;
}

double drape_i_integration_tolerance(const drape_scene *scene) {
    const drape_ode_settings s = drape_i_integration_resolve(&scene->integration).ode;
    if (drape_i_integration_is_linearised(&scene->integration)) return solver_tolerance(scene);
    if (s.newton.eta > 0) return s.newton.eta;
    if (s.newton.kind == DRAPE_ODE_LINEARISED) return solver_tolerance(scene);
    return s.newton.kind == DRAPE_ODE_NEWTON ? 1e-10 : 0.02; /* as drape/ode.h has it */
}

static drape_ode_settings ode_settings(const drape_scene *scene) {
    drape_ode_settings s = drape_i_integration_resolve(&scene->integration).ode;
    s.step = s.control == DRAPE_ODE_ERROR ? 0 : scene->step;
    if (s.newton.kind == DRAPE_ODE_LINEARISED && s.newton.eta == 0) s.newton.eta = solver_tolerance(scene);
    return s;
}

/* ---- Creating ---- */

static bool is_known(const drape_ode_settings *s) { return s->tableau || drape_ode_method_order(s->method) > 0; }

static drape_status unknown_integrator(drape_context *ctx, const char *name) {
    char known[400] = "";
    size_t used = 0;
    for (int32_t i = 0; drape_integrator_name(i) && used < sizeof known; i++)
        used +=
            (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", drape_integrator_name(i));
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "unknown integrator \"%s\"; known: %s", name, known);
}

static drape_status allocate(drape_sim *sim, bool implicit) {
    drape_i_integrator *it = sim->integrator;
    int64_t n = drape_i_sim_numbers(sim);
    bool linearises = implicit && it->settings.newton.kind == DRAPE_ODE_LINEARISED;
    bool good = DRAPE_NEW(sim->ctx, it->carried, n) &&
                DRAPE_NEW(sim->ctx, it->held_before, 3 * (int64_t)sim->held_room) &&
                (!linearises || DRAPE_NEW(sim->ctx, it->change, n));
    for (int32_t i = 0; i < 2 && good && drape_i_sim_responds(sim); i++) good = DRAPE_NEW(sim->ctx, it->before[i], n);
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
    if (drape_i_integration_is_linearised(&scene->integration)) return DRAPE_OK;
    if (!is_known(&s)) return unknown_integrator(sim->ctx, s.method);
    if (s.newton.kind == DRAPE_ODE_MATRIX_FREE) /* knows nothing of pins and contacts that let go in the solve */
        return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT,
                            "Newton's method without a matrix (matrix-free) is for drape/ode.h alone, not for cloth");
    bool implicit = !s.tableau && drape_ode_method_implicit(s.method);
    if (!DRAPE_NEW(sim->ctx, sim->integrator, 1)) return DRAPE_ERROR_MEMORY;
    drape_i_integrator *it = sim->integrator;
    it->settings = s;
    it->halvings =
        implicit && s.control == DRAPE_ODE_FIXED && !scene->integration.stop_on_failure ? DRAPE_I_HALVINGS : 0;
    it->guards = implicit && !damps(s.method);
    it->damps_for = drape_ode_method_order(s.method) > 2 ? DAMPED_STEPS : 1;
    it->stiffest_step = -1;
    s.begin_low = drape_i_sim_responds(sim);
    drape_ode_system system = drape_i_cloth_system(sim, implicit);
    drape_status status = allocate(sim, implicit);
    if (!status && implicit) status = drape_i_assembler_keep_potentials(sim->forces);
    if (!status) status = drape_ode_create(sim->ctx, &system, &s, &it->ode);
    if (!status && sim->mass_matrix) status = create_mass_solver(sim);
    return status ? status : drape_i_integrator_start(sim);
}

void drape_i_integrator_destroy(drape_sim *sim) {
    drape_i_integrator *it = sim->integrator;
    int64_t n = drape_i_sim_numbers(sim);
    if (!it) return;
    drape_ode_destroy(it->ode);
    drape_solver_destroy(it->mass_solver);
    DRAPE_FREE(sim->ctx, it->carried, n);
    DRAPE_FREE(sim->ctx, it->change, n);
    DRAPE_FREE(sim->ctx, it->held_before, 3 * (int64_t)sim->held_room);
    for (int32_t i = 0; i < 2; i++) DRAPE_FREE(sim->ctx, it->before[i], n);
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

drape_status drape_i_integrator_start(drape_sim *sim) {
    return drape_ode_start(sim->integrator->ode, drape_sim_time(sim), sim->x, sim->v);
}

/* Where there was only no memory, say, and it has not got beyond the beginning of the step, its past is still good.
 * After a failure of the numbers it is not: a control has got to the shortest of steps. */
void drape_i_integrator_take_back(drape_sim *sim, drape_status status) {
    if (status == DRAPE_ERROR_NUMBER || drape_ode_time(sim->integrator->ode) != drape_sim_time(sim))
        drape_i_integrator_start(sim);
}

/* Which vertices are held from `begin` to `end`; what is prescribed of them is asked for later, stage by stage. */
static drape_status hold(drape_sim *sim, double begin, double end, bool other_pins) {
    drape_i_aim aim = {.t = end, .c = sim->h / sim->parts, .x = sim->x, .v = sim->v, .factor = 1};
    drape_status status = sim->contact ? drape_i_contact_look(sim, begin, end) : DRAPE_OK;
    if (!status) status = drape_i_sim_agree(sim, drape_i_sim_constrain(sim, &aim));
    if (!status) status = drape_i_sim_hold_still(sim);
    if (sim->contact) sim->integrator->same_matrix = false;
    if (status || !other_pins) return status;
    sim->integrator->same_matrix = false;
    return drape_i_integrator_start(sim);
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

/* The forces of the last stage, over the part of the step: (I-S) (A d - r) / c, r before it was filtered. */
static void find_impulse(drape_sim *sim) {
    bool implicit = sim->spent.solves > 0;
    double h = sim->h / sim->parts, share = implicit ? h / sim->matrix_c : h;
    impulses p = {implicit ? sim->solved.constraint_force : NULL, sim->integrator->carried, sim->impulse, share,
                  share};
    if (drape_i_sim_solves_for_positions(sim)) p.of_solved *= sim->matrix_c;
    drape_i_loop(sim->ctx, drape_i_sim_numbers(sim), GRAIN, impulse_chunk, &p);
    sim->constraint_force = sim->impulse;
}

static drape_certificate_ode difference(const drape_ode_counts *before, const drape_ode_counts *now,
                                        const drape_ode_result *result) {
    return (drape_certificate_ode){.reason = result->forgiven,
                                   .substeps = (int32_t)(now->steps - before->steps),
                                   .rejected = (int32_t)(now->rejected - before->rejected),
                                   .evaluations = (int32_t)(now->f - before->f),
                                   .newton_iterations = (int32_t)(now->newton - before->newton),
                                   .cuts = (int32_t)(now->cuts - before->cuts),
                                   .unconverged = result->unconverged,
                                   .newton_error = result->newton_error};
}

/* Where Newton's iteration did not converge: the vertex that its last correction moves most, and what pushes it. */
static void name_culprit(drape_sim *sim, const drape_ode_result *result, char *out, size_t size) {
    const drape_assembly *at = &sim->integrator->last;
    out[0] = 0;
    if (result->worst < 0 || !at->x) return;
    int32_t vertex = (int32_t)(result->worst / 3);
    int32_t force = drape_i_assembler_largest(sim->forces, at, vertex, sim->impulse);
    snprintf(out, size, ", most at vertex %d, which %s pushes most", vertex,
             drape_assembler_name(sim->forces, force));
}

static drape_status refuse(drape_sim *sim, double end, const drape_ode_result *result) {
    const char *force = drape_i_assembler_explain(sim->forces);
    char culprit[160];
    name_culprit(sim, result, culprit, sizeof culprit);
    return drape_i_fail(sim->ctx, DRAPE_ERROR_NUMBER,
                        "step %lld (t = %g s): %s%s%s%s; the state is that before this step",
                        (long long)sim->steps + 1, end, drape_ode_explain(sim->integrator->ode), culprit,
                        force ? ": " : "", force ? force : "");
}

/* Whether a shorter step may help. */
static bool is_newtons(drape_ode_reason reason) {
    return reason == DRAPE_ODE_NEWTON_LIMIT || reason == DRAPE_ODE_NEWTON_DIVERGED ||
           reason == DRAPE_ODE_SEARCH_FAILED || reason == DRAPE_ODE_LINEAR_FAILED || reason == DRAPE_ODE_NOT_FINITE;
}

/* To `end`, in halves where a fixed step fails. The state is that after the last good step in any case. */
static drape_status advance(drape_sim *sim, double end, int32_t halvings, drape_ode_result *result) {
    drape_i_integrator *it = sim->integrator;
    drape_ode *ode = it->ode;
    double begin = drape_ode_time(ode);
    drape_status status = drape_ode_advance(ode, end, result);
    if (status || !result->reason) return status;
    bool last = halvings == 0 || !is_newtons(result->reason);
    it->yielded = sim->contact && sim->contact->no_room && drape_i_pinch_yield(sim, last);
    if (last || it->yielded) return status;
    if (sim->contact) {
        sim->contact->cuts++;
        sim->contact->no_room = false;
    }
    status = advance(sim, begin + 0.5 * (end - begin), halvings - 1, result);
    return status || result->reason ? status : advance(sim, end, halvings - 1, result);
}

/* Once more from its beginning, where cloth that was caught is not held as it was. */
static drape_status advance_part(drape_sim *sim, double begin, double end, bool other_pins,
                                 drape_ode_result *result) {
    drape_ode *ode = sim->integrator->ode;
    size_t bytes = (size_t)drape_i_sim_numbers(sim) * sizeof *sim->x;
    drape_status status;
    do {
        status = hold(sim, begin, end, other_pins);
        other_pins = false;
        sim->integrator->yielded = false;
        if (!status) status = advance(sim, end, sim->integrator->halvings, result);
        if (!status && sim->integrator->yielded && drape_ode_time(ode) != begin)
            status = drape_ode_start(ode, begin, sim->x, sim->v);
    } while (!status && sim->integrator->yielded);
    if (status || result->reason) return status;
    memcpy(sim->x, drape_ode_x(ode), bytes);
    memcpy(sim->v, drape_ode_v(ode), bytes);
    find_impulse(sim);
    if (sim->contact) drape_i_contact_finish(sim, sim->impulse);
    return DRAPE_OK;
}

drape_status drape_i_integrate(drape_sim *sim, bool other_pins) {
    drape_ode *ode = sim->integrator->ode;
    drape_ode_result result;
    drape_ode_counts before = drape_ode_count(ode);
    int64_t stages = drape_ode_last_stage(ode).number;
    double begin = drape_sim_time(sim);
    sim->integrator->damped = sim->integrator->guards && (sim->parts > 1 || sim->balance.damp > 0);
    drape_ode_damp(ode, sim->integrator->damped);
    for (int32_t i = 1; i <= sim->parts; i++) {
        double end = ((double)sim->steps + (double)i / sim->parts) * sim->h;
        drape_status status = advance_part(sim, begin, end, other_pins, &result);
        if (status) return status;
        if (result.reason) return refuse(sim, end, &result);
        other_pins = false;
        begin = end;
        if (sim->parts > 1) drape_i_contact_sum_impulse(sim, i == 1);
    }
    drape_ode_counts now = drape_ode_count(ode);
    sim->did = difference(&before, &now, &result);
    drape_ode_stage last = drape_ode_last_stage(ode);
    bool one = last.number == stages + 1 && sim->did.substeps == 1 && sim->did.rejected == 0;
    sim->last_stage = one ? last : (drape_ode_stage){0};
    return DRAPE_OK;
}
