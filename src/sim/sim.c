/* sim.c: creating a simulation from a scene, looking at it, exporting its linear system. */
#include "base/file.h"
#include "base/vector.h"
#include "sim/attach.h"
#include "sim/contact.h"
#include "sim/stitches.h"

#include <math.h>
#include <string.h>

/* A vector of 3 doubles per vertex, and whether the scene needs it. */
typedef struct vector {
    double **place;
    bool needed;
} vector;

enum { VECTORS = 16 };

static void list_vectors(drape_sim *sim, const drape_integration *s, vector out[VECTORS]) {
    bool linearised = drape_i_integration_is_linearised(s);
    bool positions = s->unknowns == DRAPE_UNKNOWN_POSITION, consistent = s->mass == DRAPE_MASS_CONSISTENT;
    const vector all[VECTORS] = {{&sim->x, true},
                                 {&sim->v, true},
                                 {&sim->x_old, true},
                                 {&sim->v_old, true},
                                 {&sim->b, true},
                                 {&sim->dv, true},
                                 {&sim->f, linearised},
                                 {&sim->Kv, linearised},
                                 {&sim->dv_old, linearised && !positions},
                                 {&sim->dx, linearised && positions},
                                 {&sim->hv, linearised && positions},
                                 {&sim->Ahv, linearised && positions},
                                 {&sim->mean_x, true},
                                 {&sim->mean_v, true},
                                 {&sim->impulse, !linearised || positions},
                                 {&sim->momentum, consistent}};
    memcpy(out, all, sizeof all);
}

static drape_status check_scene(drape_context *ctx, const drape_scene *s) {
    drape_status status = drape_i_check_reserved(ctx, "drape_scene", s->reserved, 2);
    if (!status) status = drape_i_check_reserved(ctx, "drape_integration", s->integration.reserved, 6);
    if (status) return status;
    double most = s->integration.max_stretch;
    if (most != 0 && !(most > 1))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "max_stretch is %g; it must be above 1, or 0 for the default",
                            most);
    if (!isfinite(s->step) || !(s->step > 0))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "the time step is %g s; it must be above 0", s->step);
    if (s->collider_count < 0 || (s->collider_count > 0 && !s->colliders))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "no list of %d colliders", s->collider_count);
    if (s->pin_count < 0 || (s->pin_count > 0 && !s->pins))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "no list of %d pins", s->pin_count);
    if (s->steps_per_frame < 1 || s->frames < 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%d steps per frame and %d frames; expected at least 1 and 0",
                            s->steps_per_frame, s->frames);
    return DRAPE_OK;
}

static drape_status allocate(drape_sim *sim, const drape_integration *s) {
    vector list[VECTORS];
    list_vectors(sim, s, list);
    for (int32_t i = 0; i < VECTORS; i++)
        if (list[i].needed && !DRAPE_NEW(sim->ctx, *list[i].place, drape_i_sim_numbers(sim)))
            return DRAPE_ERROR_MEMORY;
    if (drape_cloth_limits_strain(sim->cloth) && !DRAPE_NEW(sim->ctx, sim->inverse_mass, sim->vertices))
        return DRAPE_ERROR_MEMORY;
    return DRAPE_OK;
}

/* What steps the scene; needs all else. */
static drape_status choose_integrator(drape_sim *sim, const drape_scene *scene) {
    drape_status status = DRAPE_OK;
    const drape_integration *s = &scene->integration;
    sim->unknowns = s->unknowns;
    if (!drape_unknowns_name(s->unknowns) || !drape_mass_matrix_name(s->mass))
        return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT,
                            "integration: unknowns is %d and mass is %d; each must be 0 or 1", (int)s->unknowns,
                            (int)s->mass);
    if (s->mass == DRAPE_MASS_CONSISTENT) status = drape_i_sim_mass_create(sim, scene);
    return status ? status : drape_i_integrator_create(sim, scene);
}

static drape_status check_finite(drape_sim *sim, const double *values, const char *name) {
    for (int64_t i = 0; values && i < drape_i_sim_numbers(sim); i++)
        if (!isfinite(values[i]))
            return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "%s of vertex %lld is %g; it must be finite", name,
                                (long long)(i / 3), values[i]);
    return DRAPE_OK;
}

static void place(drape_sim *sim, const drape_scene *scene) {
    double *x = sim->x;
    for (int32_t p = 0; p < scene->piece_count && !scene->start; p++) {
        size_t count = 3 * (size_t)scene->pieces[p].vertices;
        memcpy(x, scene->pieces[p].rest, count * sizeof *x);
        x += count;
    }
    if (scene->start) {
        memcpy(sim->x, scene->start, 3 * (size_t)sim->vertices * sizeof *sim->x);
        memcpy(sim->placed, scene->start, 3 * (size_t)sim->vertices * sizeof *sim->x);
    }
    if (scene->velocity) memcpy(sim->v, scene->velocity, 3 * (size_t)sim->vertices * sizeof *sim->v);
    drape_i_sim_anchor(sim);
}

/* The scene's pins, and those of what is attached to colliders. */
static drape_status hold(drape_sim *sim, const drape_scene *scene) {
    drape_scene with;
    drape_status status = drape_i_attachments_create(sim->ctx, scene, sim->vertices, &with, &sim->attachments);
    return status ? status : drape_i_sim_hold(sim, &with);
}

static drape_status build(drape_sim *sim, const drape_scene *scene) {
    drape_context *ctx = sim->ctx;
    drape_status status = check_scene(ctx, scene);
    if (status) return status;
    drape_solve_settings solve = scene->solve;
    solve.tol = drape_i_integration_tolerance(scene);
    status = drape_cloth_create(ctx, scene->pieces, scene->piece_count, &scene->cloth, &sim->cloth);
    if (status) return status;
    sim->vertices = drape_cloth_vertices(sim->cloth);
    sim->h = scene->step;
    sim->start = drape_cloth_rest(sim->cloth);
    status = allocate(sim, &scene->integration);
    if (!status && scene->start && !DRAPE_NEW(ctx, sim->placed, drape_i_sim_numbers(sim)))
        status = DRAPE_ERROR_MEMORY;
    if (!status) status = drape_assembler_create(sim->cloth, &scene->forces, &sim->forces);
    if (!status) status = drape_i_stitches_create(sim, scene);
    if (!status) status = drape_assembler_matrix(sim->forces, &sim->A);
    if (!status) status = drape_solver_create(ctx, &solve, &sim->solver);
    if (!status) status = drape_constraints_create(ctx, sim->vertices, &sim->constraints);
    if (!status) status = hold(sim, scene);
    if (!status) status = drape_i_soft_pins_add(sim);
    if (!status) status = check_finite(sim, scene->velocity, "velocity at the start");
    if (!status) status = check_finite(sim, scene->start, "position at the start");
    if (!status) place(sim, scene);
    if (!status) status = drape_i_stitches_place(sim);
    if (!status) drape_i_sim_check_prepare(sim, scene);
    if (!status) status = drape_i_contact_create(sim, scene);
    if (!status) sim->scene = drape_i_scene_hash(scene);
    if (!status) status = choose_integrator(sim, scene);
    return status;
}

drape_status drape_sim_create(drape_context *ctx, const drape_scene *scene, drape_sim **out) {
    return drape_i_sim_create_part(ctx, scene, NULL, out);
}

drape_status drape_i_sim_create_part(drape_context *ctx, const drape_scene *scene, const drape_i_spread *spread,
                                     drape_sim **out) {
    drape_sim *sim;
    if (out) *out = NULL;
    if (!ctx || !out) return DRAPE_ERROR_ARGUMENT;
    if (!scene) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "a simulation needs a scene, not NULL");
    if (!DRAPE_NEW(ctx, sim, 1)) return DRAPE_ERROR_MEMORY;
    sim->ctx = ctx;
    sim->spread = spread;
    drape_status status = build(sim, scene);
    if (status) drape_sim_destroy(sim);
    else *out = sim;
    return status;
}

void drape_sim_destroy(drape_sim *sim) {
    if (!sim) return;
    drape_context *ctx = sim->ctx;
    vector list[VECTORS];
    drape_i_integrator_destroy(sim);
    drape_i_contact_destroy(sim);
    drape_matrix_destroy(sim->mass_matrix);
    drape_i_sim_release(sim);
    drape_i_stitches_destroy(sim);
    drape_i_attachments_destroy(sim->attachments);
    drape_constraints_destroy(sim->constraints);
    drape_solver_destroy(sim->solver);
    drape_matrix_destroy(sim->A);
    list_vectors(sim, &(drape_integration){0}, list);
    for (int32_t i = 0; i < VECTORS; i++) DRAPE_FREE(ctx, *list[i].place, drape_i_sim_numbers(sim));
    DRAPE_FREE(ctx, sim->inverse_mass, sim->vertices);
    DRAPE_FREE(ctx, sim->placed, drape_i_sim_numbers(sim));
    drape_assembler_destroy(sim->forces);
    drape_cloth_destroy(sim->cloth);
    DRAPE_FREE(ctx, sim, 1);
}

double drape_i_sim_dot(const drape_sim *sim, const double *x, const double *y) {
    const drape_ode_spread *s = sim->spread ? &sim->spread->ode : NULL;
    double sum = 0;
    if (!s) return drape_i_dot(sim->ctx, drape_i_sim_numbers(sim), x, y);
    for (int32_t i = 0; i < s->range_count; i++) {
        const int64_t first = s->range[2 * i];
        sum += drape_i_dot(sim->ctx, s->range[2 * i + 1] - first, x + first, y + first);
    }
    s->sum(s->user, &sum);
    return sum;
}

const drape_cloth *drape_sim_cloth(const drape_sim *sim) { return sim ? sim->cloth : NULL; }
const drape_solver *drape_sim_solver(const drape_sim *sim) { return sim ? sim->solver : NULL; }
double drape_sim_time(const drape_sim *sim) { return sim ? (double)sim->steps * sim->h : 0; }
int64_t drape_sim_steps(const drape_sim *sim) { return sim ? sim->steps : 0; }
const double *drape_sim_positions(const drape_sim *sim) { return sim ? sim->x : NULL; }
const double *drape_sim_velocities(const drape_sim *sim) { return sim ? sim->v : NULL; }
const double *drape_sim_constraint_forces(const drape_sim *sim) { return sim ? sim->constraint_force : NULL; }

drape_status drape_sim_set_state(drape_sim *sim, const double *x, const double *v) {
    if (!sim) return DRAPE_ERROR_ARGUMENT;
    size_t bytes = (size_t)drape_i_sim_numbers(sim) * sizeof *x;
    drape_status status = check_finite(sim, x, "the position");
    if (!status) status = check_finite(sim, v, "the velocity");
    if (status) return status;
    double before = drape_i_balance_before_change(sim);
    if (x) memmove(sim->x, x, bytes);
    if (v) memmove(sim->v, v, bytes);
    drape_i_balance_after_change(sim, before);
    return sim->integrator ? drape_i_integrator_start(sim) : DRAPE_OK;
}

drape_status drape_sim_set_time(drape_sim *sim, double time) {
    if (!sim) return DRAPE_ERROR_ARGUMENT;
    if (!(time >= 0) || !(time / sim->h <= (double)DRAPE_I_MOST_STEPS))
        return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT,
                            "time: %g s is none that a simulation can have in steps of %g s", time, sim->h);
    double before = drape_i_balance_before_change(sim);
    sim->steps = sim->steps_before = (int64_t)(time / sim->h + 0.5);
    sim->constraint_force = NULL;
    sim->balance_checked = false;
    drape_i_sim_restore_active_pins(sim);
    drape_i_sim_take_hold_again(sim);
    drape_i_sim_forget(sim);
    drape_i_balance_after_change(sim, before);
    return sim->integrator ? drape_i_integrator_start(sim) : DRAPE_OK;
}

static drape_status need_system(drape_sim *sim, const char *who) {
    if (sim->steps == sim->steps_before)
        return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "%s: there was no step yet", who);
    if (!(sim->matrix_c > 0))
        return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "%s: an explicit integrator solves no linear system",
                            who);
    return DRAPE_OK;
}

drape_status drape_sim_system(drape_sim *sim, drape_problem *out) {
    if (!sim) return DRAPE_ERROR_ARGUMENT;
    if (!out) return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "system: a drape_problem is needed, not NULL");
    drape_status status = need_system(sim, "system");
    if (status) return status;
    sim->view = drape_matrix_view(sim->A);
    *out = (drape_problem){.A = &sim->view, .b = sim->b, .constraints = sim->constraints, .positions = sim->x_old};
    if (sim->contact) out->couplings = drape_i_contact_couplings(sim);
    return DRAPE_OK;
}

drape_status drape_sim_export_system(drape_sim *sim, const char *path) {
    if (!sim) return DRAPE_ERROR_ARGUMENT;
    drape_context *ctx = sim->ctx;
    double *S = NULL, *z = NULL;
    if (!path) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "export: a file name is needed, not NULL");
    drape_status status = need_system(sim, "export");
    if (status) return status;
    if (drape_constraints_coupled(sim->constraints) > 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "export: system files hold constraints of single vertices, and stitches couple several; "
                            "make the stitches soft");
    status = DRAPE_ERROR_MEMORY;
    if (DRAPE_NEW(ctx, S, 9 * (int64_t)sim->vertices) && DRAPE_NEW(ctx, z, 3 * (int64_t)sim->vertices)) {
        drape_constraints_filter(sim->constraints, S, z);
        drape_system system = {.A = drape_matrix_view(sim->A),
                               .constrained = drape_constraints_count(sim->constraints),
                               .h = sim->h,
                               .S = S,
                               .b = sim->b,
                               .z = z,
                               .rest = (double *)sim->start, /* only read */
                               .cur = sim->x_old};
        status = drape_system_write(ctx, path, &system);
    }
    DRAPE_FREE(ctx, S, 9 * (int64_t)sim->vertices);
    DRAPE_FREE(ctx, z, 3 * (int64_t)sim->vertices);
    return status;
}

/* ---- forces ---- */

drape_status drape_sim_set_forces(drape_sim *sim, const drape_forces *forces) {
    if (!sim) return DRAPE_ERROR_ARGUMENT;
    double before = drape_i_balance_before_change(sim);
    drape_status status = drape_assembler_set_forces(sim->forces, forces);
    drape_i_balance_after_change(sim, before);
    return status;
}

drape_assembler *drape_sim_assembler(drape_sim *sim) { return sim ? sim->forces : NULL; }
int32_t drape_sim_force_count(const drape_sim *sim) { return sim ? drape_assembler_count(sim->forces) : 0; }

const char *drape_sim_force_name(const drape_sim *sim, int32_t index) {
    return sim ? drape_assembler_name(sim->forces, index) : NULL;
}

drape_status drape_sim_force_energy(drape_sim *sim, int32_t index, double *out) {
    return sim ? drape_assembler_energy(sim->forces, index, drape_sim_time(sim), sim->x, out) : DRAPE_ERROR_ARGUMENT;
}

/* A checkpoint of a simulation with other forces is that of another scene. */
static void hash_force(drape_sim *sim, const drape_force *f) {
    const int32_t sizes[2] = {f->elements.nodes_per_element, f->elements.count};
    uint64_t hash = drape_i_hash(sim->scene, f->name, strlen(f->name));
    if (f->element) {
        hash = drape_i_hash(hash, sizes, sizeof sizes);
        hash = drape_i_hash(hash, f->elements.nodes, (size_t)sizes[0] * (size_t)sizes[1] * sizeof *f->elements.nodes);
    }
    sim->scene = hash;
}

drape_status drape_sim_add_force(drape_sim *sim, const drape_force *force) {
    if (!sim) return DRAPE_ERROR_ARGUMENT;
    drape_matrix **const matrices[] = {&sim->A, &sim->mass_matrix};
    double before = drape_i_balance_before_change(sim);
    drape_status status = drape_i_assembler_add(sim->forces, force, matrices, 2);
    if (status) return status;
    drape_i_balance_after_change(sim, before);
    hash_force(sim, force);
    if (!sim->integrator) return DRAPE_OK;
    drape_i_integrator_forget(sim->integrator);
    return drape_i_integrator_start(sim);
}
