/* spread_sim.c: a simulation over processes: the simulation of each part is drape's own, with the linear solves, sums
 * and failures of all of them together (drape_i_spread). */
#include "mpi/spread_sim.h"

#include <math.h>

/* ---- What the parts do together ---- */

/* Added up on the first process and sent to the others: the same bits everywhere. */
static void sum_all(void *user, double *value) {
    const drape_petsc_sim *s = user;
    double sum = 0;
    MPI_Reduce(value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, s->comm);
    MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, s->comm);
    *value = sum;
}

/* MPI's own maximum says nothing about NaN. */
static void largest_of_all(void *user, double *value) {
    const drape_petsc_sim *s = user;
    double mine[2] = {*value != *value, *value != *value ? 0 : *value}, all[2];
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, s->comm);
    *value = all[0] > 0 ? NAN : all[1];
}

static drape_status solve_all(void *user, const drape_problem *problem, double *x, drape_solve_result *result) {
    drape_petsc_sim *s = user;
    return drape_petsc_solver_solve(s->solver, problem, x, result);
}

static drape_status agree(void *user, drape_status status) {
    drape_petsc_sim *s = user;
    return drape_petsc_agree(s->ctx, s->comm, status);
}

/* ---- Creating ---- */

static drape_status create_sim(drape_petsc_sim *s) {
    drape_i_part *p = &s->part;
    drape_solve_settings settings = p->scene.solve;
    settings.tol = drape_i_integration_tolerance(&p->scene);
    s->spread = (drape_i_spread){.ode = {.range_count = p->range_count,
                                         .range = p->range,
                                         .size = 3 * p->all,
                                         .user = s,
                                         .sum = sum_all,
                                         .largest = largest_of_all},
                                 .original = p->original,
                                 .user = s,
                                 .solve = solve_all,
                                 .agree = agree};
    drape_status status = drape_petsc_solver_create(s->ctx, s->comm, &p->vertices, &settings, &s->solver);
    if (status) return status;
    return drape_petsc_agree(s->ctx, s->comm, drape_i_sim_create_part(s->ctx, &p->scene, &s->spread, &s->sim));
}

drape_status drape_petsc_sim_load(drape_context *ctx, MPI_Comm comm, const char *name,
                                  const drape_scene_options *options, drape_petsc_sim **out) {
    drape_petsc_sim *s;
    if (out) *out = NULL;
    if (!ctx || !name || !out) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "petsc: name or out is NULL");
    drape_status status = DRAPE_NEW(ctx, s, 1) ? DRAPE_OK : DRAPE_ERROR_MEMORY;
    status = drape_petsc_agree(ctx, comm, status);
    if (status) return status;
    s->ctx = ctx;
    s->comm = comm;
    status = drape_i_part_read(ctx, comm, name, options, &s->part);
    s->load_bytes = ctx->most_bytes;
    if (!status) status = create_sim(s);
    if (status) drape_petsc_sim_destroy(s);
    else *out = s;
    return status;
}

void drape_petsc_sim_destroy(drape_petsc_sim *s) {
    if (!s) return;
    drape_sim_destroy(s->sim);
    drape_petsc_solver_destroy(s->solver);
    drape_i_part_free(&s->part);
    DRAPE_FREE(s->ctx, s, 1);
}

/* ---- Stepping and looking ---- */

drape_status drape_petsc_sim_step(drape_petsc_sim *s, drape_certificate *certificate) {
    return s ? drape_sim_step(s->sim, certificate) : DRAPE_ERROR_ARGUMENT;
}

const drape_scene *drape_petsc_sim_scene(const drape_petsc_sim *s) { return s ? &s->part.scene : NULL; }
const drape_petsc_part *drape_petsc_sim_part(const drape_petsc_sim *s) { return s ? &s->part.vertices : NULL; }
int64_t drape_petsc_sim_vertices(const drape_petsc_sim *s) { return s ? s->part.all : 0; }
int64_t drape_petsc_sim_steps(const drape_petsc_sim *s) { return s ? drape_sim_steps(s->sim) : 0; }
double drape_petsc_sim_time(const drape_petsc_sim *s) { return s ? drape_sim_time(s->sim) : 0; }
const double *drape_petsc_sim_positions(const drape_petsc_sim *s) { return s ? drape_sim_positions(s->sim) : NULL; }
const int32_t *drape_petsc_sim_numbers(const drape_petsc_sim *s) { return s ? s->part.row : NULL; }
int64_t drape_petsc_sim_load_bytes(const drape_petsc_sim *s) { return s ? s->load_bytes : 0; }
int64_t drape_petsc_sim_bytes(const drape_petsc_sim *s) { return s ? drape_context_bytes(s->ctx) : 0; }

int32_t drape_i_own_run_end(const drape_i_part *p, int32_t i) {
    const int32_t *own = p->vertices.own, count = p->vertices.own_count;
    while (i + 1 < count && own[i + 1] == own[i] + 1 && p->row[own[i + 1]] == p->row[own[i]] + 1) i++;
    return i + 1;
}
