/* forces.c: the forces that every cloth has: its model, gravity, the air's drag on vertices, loads, and the wind on
 * triangles (wind_simd.c).
 *
 *   gravity    m_i g                            energy -m_i g.(x_i - rest_i)
 *   air_drag   k a_i (w - v_i)                  dissipation k a_i |v_i - w|^2/2, D = k a_i I
 *   load       given, per vertex                energy -load_i.(x_i - rest_i)
 *
 * with m_i mass and a_i area of vertex i, w the wind. Dissipations of the model and of the wind are exact where their
 * geometry is at given positions (lagged_x). */
#include "base/parallel.h"
#include "cloth/force.h"

#include <math.h>
#include <string.h>

drape_forces drape_forces_defaults(void) {
    return (drape_forces){.gravity = {0, 0, -9.81}, .drag = 1.2}; /* air, and a drag coefficient of 1 */
}

drape_status drape_i_forces_check(drape_context *ctx, const drape_forces *f) {
    for (int32_t k = 0; k < 3; k++)
        if (!isfinite(f->gravity[k]) || !isfinite(f->wind[k]))
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "forces: gravity and wind must be finite numbers");
    if (!isfinite(f->drag) || f->drag < 0 || !isfinite(f->air_drag) || f->air_drag < 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "forces: drag is %g and air_drag %g; both must be 0 or more",
                            f->drag, f->air_drag);
    drape_status status = drape_i_check_reserved(ctx, "drape_forces", f->reserved, 6);
    return status || !f->variation ? status : drape_i_wind_check(ctx, f->variation);
}

/* ---- the model ---- */

static const drape_i_quadratic *bending_of(const drape_i_force *force) {
    return ((const drape_i_outside *)force->data)->cloth->bending;
}

static const drape_i_nodal *membrane_of(const drape_i_force *force) {
    return ((const drape_i_outside *)force->data)->cloth->membrane;
}

static void add_membrane(const drape_i_force *force, const drape_i_evaluation *at, const drape_i_rows *rows) {
    drape_i_nodal_add(((const drape_i_outside *)force->data)->cloth->ctx, membrane_of(force), at, rows->membrane,
                      &(drape_i_nodal_rows){.begin = rows->begin,
                                            .end = rows->end,
                                            .force = rows->force,
                                            .stiff_v = rows->stiff_v,
                                            .rowptr = rows->A.rowptr,
                                            .slot = rows->membrane_slot,
                                            .upper = rows->upper,
                                            .val = rows->A.val});
}

static void add_bending(const drape_i_force *force, const drape_i_evaluation *at, const drape_i_rows *rows) {
    drape_context *ctx = ((const drape_i_outside *)force->data)->cloth->ctx;
    drape_i_quadratic_add(ctx, bending_of(force),
                          &(drape_i_quadratic_rows){.begin = rows->begin,
                                                    .end = rows->end,
                                                    .x = at->x,
                                                    .v = at->v,
                                                    .stiffness = at->stiffness,
                                                    .force = rows->force,
                                                    .stiff_v = rows->stiff_v,
                                                    .rowptr = rows->A.rowptr,
                                                    .slot = rows->slot,
                                                    .upper = rows->upper,
                                                    .diagonal = rows->diagonal,
                                                    .val = rows->A.val});
}

static void add_model_rows(const drape_i_force *force, const drape_i_evaluation *at, const drape_i_rows *rows) {
    if (bending_of(force)) add_bending(force, at, rows);
    if (membrane_of(force)) add_membrane(force, at, rows);
}

static double rows_potential(const drape_i_force *force, drape_context *ctx, const drape_i_evaluation *at) {
    double energy = 0;
    if (bending_of(force)) energy += drape_i_quadratic_energy(ctx, bending_of(force), at->x);
    if (membrane_of(force)) energy += drape_i_nodal_potential(ctx, membrane_of(force), at->membrane);
    return energy;
}

static double model_energy(const drape_i_force *force, drape_context *ctx, const drape_i_evaluation *at) {
    double energy = drape_i_terms_energy(ctx, force->terms, force->term_count, at);
    if (membrane_of(force)) energy += drape_i_nodal_energy(ctx, membrane_of(force), at);
    return bending_of(force) ? energy + drape_i_quadratic_energy(ctx, bending_of(force), at->x) : energy;
}

static double model_dissipation(const drape_i_force *force, drape_context *ctx, const drape_i_evaluation *at) {
    double total = 0;
    if (!((const drape_i_outside *)force->data)->cloth->damped) return 0;
    for (int32_t t = 0; t < force->term_count; t++)
        total += drape_i_term_sum(ctx, &force->terms[t], force->terms[t].dissipation, at);
    if (membrane_of(force)) total += drape_i_nodal_dissipation(ctx, membrane_of(force), at);
    return total;
}

static double model_power(const drape_i_force *force, drape_context *ctx, const drape_i_evaluation *at) {
    return 2 * model_dissipation(force, ctx, at);
}

static bool has_model_potential(const drape_cloth *cloth) {
    bool all = true;
    for (int32_t t = 0; t < cloth->term_count; t++) all &= !cloth->terms[t].damped || cloth->terms[t].dissipation;
    return all || !cloth->damped;
}

/* ---- gravity, loads ---- */

static void add_gravity(const drape_i_force *force, const drape_i_evaluation *at, const drape_i_rows *rows) {
    const drape_i_outside *o = force->data;
    const double *g = o->forces.gravity, *mass = o->cloth->mass;
    (void)at;
    for (int64_t i = rows->begin; i < rows->end && rows->force; i++)
        for (int32_t k = 0; k < 3; k++) rows->force[3 * i + k] += mass[i] * g[k];
}

static void add_load(const drape_i_force *force, const drape_i_evaluation *at, const drape_i_rows *rows) {
    const double *load = ((const drape_i_outside *)force->data)->forces.vertex;
    (void)at;
    for (int64_t i = 3 * (int64_t)rows->begin; i < 3 * (int64_t)rows->end && rows->force; i++)
        rows->force[i] += load[i];
}

static bool has_load(const drape_i_force *force) {
    return ((const drape_i_outside *)force->data)->forces.vertex != NULL;
}

typedef struct sum_job {
    const drape_i_outside *outside;
    const drape_i_evaluation *at;
} sum_job;

static void sum_gravity(void *data, int64_t begin, int64_t end, double *sums) {
    const sum_job *j = data;
    const double *g = j->outside->forces.gravity, *mass = j->outside->cloth->mass;
    for (int64_t i = begin; i < end; i++) {
        const double *x = j->at->x + 3 * i, *rest = j->outside->cloth->rest + 3 * i;
        sums[0] -= mass[i] * ((g[0] * (x[0] - rest[0]) + g[1] * (x[1] - rest[1])) + g[2] * (x[2] - rest[2]));
    }
}

static void sum_load(void *data, int64_t begin, int64_t end, double *sums) {
    const sum_job *j = data;
    const double *load = j->outside->forces.vertex, *rest = j->outside->cloth->rest;
    for (int64_t i = 3 * begin; i < 3 * end; i++) sums[0] -= load[i] * (j->at->x[i] - rest[i]);
}

static double sum_vertices(const drape_i_force *force, drape_context *ctx, const drape_i_evaluation *at,
                           drape_i_sum_fn fn) {
    sum_job job = {force->data, at};
    double sum;
    drape_i_sum(ctx, job.outside->cloth->vertices, DRAPE_I_GRAIN, fn, &job, 1, &sum);
    return sum;
}

static double gravity_energy(const drape_i_force *force, drape_context *ctx, const drape_i_evaluation *at) {
    return sum_vertices(force, ctx, at, sum_gravity);
}

static double load_energy(const drape_i_force *force, drape_context *ctx, const drape_i_evaluation *at) {
    return sum_vertices(force, ctx, at, sum_load);
}

/* ---- air ---- */

drape_status drape_i_outside_set(drape_i_outside *o, const drape_forces *forces) {
    drape_context *ctx = o->cloth->ctx;
    drape_i_wind_field *field = NULL;
    int64_t n = 3 * (int64_t)o->cloth->vertices;
    drape_status status = forces->variation ? drape_i_wind_field_create(ctx, forces, &field) : DRAPE_OK;
    if (!status && field && field->modes > 0 &&
        !((o->air || DRAPE_NEW(ctx, o->air, n)) && (o->air_x || DRAPE_NEW(ctx, o->air_x, n))))
        status = DRAPE_ERROR_MEMORY;
    if (status) {
        drape_i_wind_field_destroy(ctx, field);
        return status;
    }
    drape_i_wind_field_destroy(ctx, o->field);
    o->field = field;
    o->air_time = NAN;
    o->forces = *forces;
    o->forces.variation = field ? &field->settings : NULL;
    memcpy(o->mean, forces->wind, sizeof o->mean);
    o->wind.air = field && field->modes > 0 ? o->air : NULL;
    return DRAPE_OK;
}

void drape_i_outside_clear(drape_i_outside *o) {
    drape_context *ctx = o->cloth->ctx;
    int64_t n = 3 * (int64_t)o->cloth->vertices;
    drape_i_wind_field_destroy(ctx, o->field);
    DRAPE_FREE(ctx, o->air, n);
    DRAPE_FREE(ctx, o->air_x, n);
}

void drape_i_outside_find_air(drape_i_outside *o, const drape_i_evaluation *at) {
    const double *x = drape_i_damping_x(at);
    size_t bytes = 3 * (size_t)o->cloth->vertices * sizeof *x;
    if (!o->field || (o->forces.drag == 0 && o->forces.air_drag == 0)) return;
    bool same = at->time == o->air_time && (!o->wind.air || memcmp(x, o->air_x, bytes) == 0);
    if (same) return;
    o->air_time = at->time;
    drape_i_wind_mean(o->field, at->time, o->mean);
    if (!o->wind.air) return;
    memcpy(o->air_x, x, bytes);
    drape_i_wind_field_at(o->cloth->ctx, o->field, at->time, o->cloth->vertices, x, o->air);
}

static const double *air_of(const drape_i_outside *o, int64_t vertex) {
    return o->wind.air ? o->wind.air + 3 * vertex : o->mean;
}

static void add_air_drag(const drape_i_force *force, const drape_i_evaluation *at, const drape_i_rows *rows) {
    const drape_i_outside *o = force->data;
    for (int64_t i = rows->begin; i < rows->end; i++) {
        const double *wind = air_of(o, i);
        double drag = o->forces.air_drag * o->cloth->area[i];
        for (int32_t k = 0; k < 3 && rows->force; k++) rows->force[3 * i + k] += drag * (wind[k] - at->v[3 * i + k]);
        if (!rows->A.val) continue;
        double *block = rows->A.val + 9 * (rows->A.rowptr[i] + rows->diagonal[i]);
        for (int32_t k = 0; k < 3; k++) block[4 * k] += at->damping * drag;
    }
}

static bool has_air_drag(const drape_i_force *force) {
    return ((const drape_i_outside *)force->data)->forces.air_drag != 0;
}

static void sum_air_drag(void *data, int64_t begin, int64_t end, double *sums) {
    const sum_job *j = data;
    const drape_forces *f = &j->outside->forces;
    for (int64_t i = begin; i < end; i++)
        for (int32_t k = 0; k < 3; k++) {
            double relative = j->at->v[3 * i + k] - air_of(j->outside, i)[k];
            sums[0] += 0.5 * f->air_drag * j->outside->cloth->area[i] * relative * relative;
        }
}

static double air_dissipation(const drape_i_force *force, drape_context *ctx, const drape_i_evaluation *at) {
    return sum_vertices(force, ctx, at, sum_air_drag);
}

/* -force.v */
static void sum_air_power(void *data, int64_t begin, int64_t end, double *sums) {
    const sum_job *j = data;
    const drape_forces *f = &j->outside->forces;
    for (int64_t i = begin; i < end; i++)
        for (int32_t k = 0; k < 3; k++) {
            double v = j->at->v[3 * i + k];
            sums[0] += f->air_drag * j->outside->cloth->area[i] * (v - air_of(j->outside, i)[k]) * v;
        }
}

static double air_power(const drape_i_force *force, drape_context *ctx, const drape_i_evaluation *at) {
    return sum_vertices(force, ctx, at, sum_air_power);
}

static double wind_dissipation(const drape_i_force *force, drape_context *ctx, const drape_i_evaluation *at) {
    return drape_i_term_sum(ctx, force->terms, force->terms->dissipation, at);
}

static double wind_power(const drape_i_force *force, drape_context *ctx, const drape_i_evaluation *at) {
    return drape_i_term_sum(ctx, force->terms, drape_i_wind_power_at, at);
}

bool drape_i_forces_have_drag(const drape_forces *f) {
    bool moves = f->variation || f->wind[0] != 0 || f->wind[1] != 0 || f->wind[2] != 0;
    return f->drag != 0 && (moves || f->still_air);
}

static bool has_drag(const drape_i_force *force) {
    return drape_i_forces_have_drag(&((const drape_i_outside *)force->data)->forces);
}

/* ---- all of them ---- */

void drape_i_forces_fill(drape_i_outside *o, const drape_cloth *cloth, drape_i_force out[DRAPE_I_BUILT_IN_FORCES]) {
    o->cloth = cloth;
    o->wind = (drape_i_wind_data){cloth->triangle[0], &o->forces, o->mean, NULL};
    o->wind_term = (drape_i_term){.elements = {3, cloth->triangles, cloth->triangle[0]},
                                  .batch = drape_i_wind_at,
                                  .potential = true,
                                  .dissipation = drape_i_wind_dissipation_at,
                                  .data = &o->wind};
    const drape_i_force forces[DRAPE_I_BUILT_IN_FORCES] = {
        [DRAPE_I_FORCE_MODEL] = {.name = cloth->model->name,
                                 .term_count = cloth->term_count,
                                 .terms = cloth->terms,
                                 .add_rows = cloth->bending || cloth->membrane ? add_model_rows : NULL,
                                 .rows_potential = cloth->bending || cloth->membrane ? rows_potential : NULL,
                                 .energy = model_energy,
                                 .dissipation = model_dissipation,
                                 .power = model_power,
                                 .has_potential = !cloth->damped,
                                 .has_lagged_potential = has_model_potential(cloth),
                                 .constant_jacobian = cloth->settings.jacobian == DRAPE_JACOBIAN_LINEAR},
        [DRAPE_I_FORCE_GRAVITY] = {.name = "gravity",
                                   .add_rows = add_gravity,
                                   .energy = gravity_energy,
                                   .has_potential = true,
                                   .has_lagged_potential = true,
                                   .constant_jacobian = true},
        [DRAPE_I_FORCE_AIR_DRAG] = {.name = "air_drag",
                                    .is_active = has_air_drag,
                                    .add_rows = add_air_drag,
                                    .dissipation = air_dissipation,
                                    .power = air_power,
                                    .has_potential = true,
                                    .has_lagged_potential = true,
                                    .constant_jacobian = true},
        [DRAPE_I_FORCE_LOAD] = {.name = "load",
                                .is_active = has_load,
                                .add_rows = add_load,
                                .energy = load_energy,
                                .has_potential = true,
                                .has_lagged_potential = true,
                                .constant_jacobian = true},
        [DRAPE_I_FORCE_WIND] = {.name = "wind",
                                .term_count = 1,
                                .terms = &o->wind_term,
                                .is_active = has_drag,
                                .dissipation = wind_dissipation,
                                .power = wind_power,
                                .has_lagged_potential = true},
    };
    for (int32_t i = 0; i < DRAPE_I_BUILT_IN_FORCES; i++) {
        out[i] = forces[i];
        out[i].data = o;
    }
}

/* ---- the wind by itself ---- */

drape_status drape_forces_wind_at(drape_context *ctx, const drape_forces *forces, double time, int64_t count,
                                  const double *points, double *velocities) {
    drape_i_wind_field *field;
    if (!ctx) return DRAPE_ERROR_ARGUMENT;
    if (!forces || count < 0 || (count > 0 && (!points || !velocities)) || !isfinite(time))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "drape_forces_wind_at: forces, points or velocities are NULL, there are %lld points, or "
                            "the time is not finite",
                            (long long)count);
    drape_status status = drape_i_forces_check(ctx, forces);
    if (status) return status;
    for (int64_t i = 0; i < 3 * count && !forces->variation; i++) velocities[i] = forces->wind[i % 3];
    if (!forces->variation) return DRAPE_OK;
    status = drape_i_wind_field_create(ctx, forces, &field);
    if (status) return status;
    drape_i_wind_field_at(ctx, field, time, count, points, velocities);
    drape_i_wind_field_destroy(ctx, field);
    return DRAPE_OK;
}
