/* ode_problem.c: see ode_problem.h. */
#include "ode_problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Examples ---- */

static void exact_of_example(void *user, double t, double *x, double *v) {
    double both[2];
    ode_example_exact(user, t, both);
    x[0] = both[0];
    if (v) v[0] = both[1];
}

static drape_status event_of_example(void *user, double t, const double *x, const double *v, double *g) {
    (void)t;
    g[0] = ode_example_event(user, x[0], v ? v[0] : 0);
    return DRAPE_OK;
}

static bool open_example(const char *name, ode_problem *out) {
    const ode_example *e = ode_example_find(name);
    if (!e) {
        complain("unknown example %s; `drape ode --list` shows them (the name of a library ends in .so)", name);
        return false;
    }
    *out =
        (ode_problem){.example = e, .events = {.count = 1, .user = (void *)e, .g = event_of_example}}; /* only read */
    out->table = (drape_ode_plugin){DRAPE_ODE_PLUGIN_HEAD,
                                    .name = e->name,
                                    .about = e->about,
                                    .system = ode_example_system(e),
                                    .jacobian = ode_example_dense(e).jacobian,
                                    .end = e->end,
                                    .x = e->start,
                                    .v = e->order == 2 ? e->start + 1 : NULL,
                                    .exact = exact_of_example,
                                    .events = &out->events,
                                    .event_names = &e->event};
    return true;
}

bool ode_problem_open(const char *name, ode_problem *out) {
    return ode_is_plugin(name) ? ode_plugin_open(name, out) : open_example(name, out);
}

int64_t ode_problem_length(const ode_problem *p) { return p->table.system.order * p->table.system.size; }

static bool has_solver(const ode_problem *p) {
    return p->table.system.linear.prepare && p->table.system.linear.solve;
}

bool ode_problem_has_matrix(const ode_problem *p) { return has_solver(p) || p->table.jacobian; }

/* ---- Runs ---- */

static drape_status make_dense(drape_context *ctx, const ode_problem *p, drape_ode_dense **out) {
    const drape_ode_plugin *t = &p->table;
    const drape_ode_dense_settings dense = {.order = t->system.order,
                                            .size = (int32_t)t->system.size,
                                            .user = t->system.user,
                                            .jacobian = t->jacobian,
                                            .mass = t->mass};
    return drape_ode_dense_create(ctx, &dense, out);
}

drape_status ode_run_begin(drape_context *ctx, const ode_problem *p, const drape_ode_settings *settings,
                           ode_run *out) {
    drape_ode_system system = p->table.system;
    drape_status status = DRAPE_OK;
    bool matrix = settings->newton.kind != DRAPE_ODE_MATRIX_FREE && drape_ode_method_implicit(settings->method);
    *out = (ode_run){.exact = malloc((size_t)ode_problem_length(p) * sizeof *out->exact)};
    if (!out->exact) status = DRAPE_ERROR_MEMORY;
    if (!status && matrix && p->table.jacobian && !has_solver(p)) {
        status = make_dense(ctx, p, &out->dense);
        if (!status) system.linear = drape_ode_dense_linear(out->dense);
    }
    if (!status) status = drape_ode_create(ctx, &system, settings, &out->ode);
    if (!status) status = drape_ode_start(out->ode, p->table.begin, p->table.x, p->table.v);
    if (status) ode_run_end(out);
    return status;
}

void ode_run_end(ode_run *run) {
    drape_ode_destroy(run->ode);
    drape_ode_dense_destroy(run->dense);
    free(run->exact);
    *run = (ode_run){0};
}

bool ode_run_exact(const ode_problem *p, const ode_run *run, double t) {
    const drape_ode_system *system = &p->table.system;
    if (!p->table.exact) return false;
    p->table.exact(system->user, t, run->exact, system->order == 2 ? run->exact + system->size : NULL);
    return true;
}

static double largest(const double *a, const double *b, int64_t count) {
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= most)) most = fabs(a[i] - b[i]);
    return most;
}

double ode_run_error(const ode_problem *p, const ode_run *run) {
    int64_t n = p->table.system.size;
    if (!ode_run_exact(p, run, drape_ode_time(run->ode))) return NAN;
    double of_x = largest(drape_ode_x(run->ode), run->exact, n);
    if (p->table.system.order == 1) return of_x;
    double of_v = largest(drape_ode_v(run->ode), run->exact + n, n);
    return of_v > of_x ? of_v : of_x;
}
