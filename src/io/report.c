/* report.c: what a run was and what each step did, as JSON. docs/report.md lists the keys. */
#include "base/file.h"
#include "io/format.h"
#include "sim/sim.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

struct drape_report {
    drape_context *ctx;
    json_t *root;  /* owns all below */
    json_t *steps; /* borrowed from root */
    bool contact;  /* something in the scene can touch something */
};

static drape_status no_memory(drape_context *ctx) {
    return drape_i_fail(ctx, DRAPE_ERROR_MEMORY, "report: out of memory");
}

/* JSON has no infinity and no NaN; null stands for them. */
static json_t *number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

/* JSON is UTF-8, a file name in a message may be any bytes: then '?' stands for what is not ASCII. */
static json_t *utf8(const char *words) {
    char ascii[DRAPE_I_MESSAGE_SIZE];
    size_t n = 0;
    json_t *exact = json_string(words);
    if (exact) return exact;
    for (; words[n] && n + 1 < sizeof ascii; n++) ascii[n] = (unsigned char)words[n] < 128 ? words[n] : '?';
    ascii[n] = 0;
    return json_string(ascii);
}

/* The processor's name as Linux gives it; unknown elsewhere. */
static void processor_name(char *out, size_t size) {
    char line[256];
    snprintf(out, size, "unknown");
    FILE *info = fopen("/proc/cpuinfo", "r");
    while (info && fgets(line, sizeof line, info)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        colon[strcspn(colon, "\n")] = 0;
        snprintf(out, size, "%s", colon + 2);
        break;
    }
    if (info) fclose(info);
}

static json_t *machine(const drape_context *ctx) {
    char processor[128];
    processor_name(processor, sizeof processor);
    return json_pack("{s:s, s:i, s:s, s:s, s:s}", "processor", processor, "threads", drape_context_threads(ctx),
                     "simd", drape_simd_name(drape_context_simd(ctx)), "compiler", __VERSION__, "drape",
                     drape_version());
}

/* What the solver gave up in a step. */
static json_t *fallbacks(const drape_solve_result *solved) {
    json_t *list = json_array();
    for (int32_t i = 0; i < solved->fallbacks; i++) {
        const drape_fallback *f = &solved->fallback[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:i}", "method", f->method, "precond", f->precond,
                                              "why", f->why, "iterations", f->iterations));
    }
    return list;
}

/* What the integrator did in a step. */
static json_t *integrator(const drape_certificate_ode *c) {
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:o}", "reason", drape_ode_reason_name(c->reason),
                     "substeps", c->substeps, "rejected", c->rejected, "evaluations", c->evaluations, "newton",
                     c->newton_iterations, "cuts", c->cuts, "unconverged", c->unconverged, "newton_error",
                     number(c->newton_error));
}

/* The forces that act and have an energy. */
static json_t *forces(const drape_certificate_energy *e) {
    json_t *list = json_array();
    for (int32_t i = 0; i < e->force_count; i++)
        if (!isnan(e->force[i].energy))
            json_array_append_new(
                list, json_pack("{s:o, s:o}", "name", utf8(e->force[i].name), "energy", number(e->force[i].energy)));
    return list;
}

/* Where energy came from and went to. */
static json_t *balance(const drape_certificate_energy *e) {
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "start", number(e->start), "fabric", number(e->fabric),
                     "wind", number(e->wind), "pins", number(e->pins), "integrator", number(e->integrator),
                     "unbalanced", number(e->unbalanced), "checked", (int)e->checked);
}

/* What touched in a step, and how it was kept apart. */
static json_t *contact(const drape_certificate_contact *c) {
    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:{s:f, s:f, s:f}}", "count",
                     c->count, "held", c->held, "sliding", c->sliding, "released", c->released, "springs", c->springs,
                     "passes", c->passes, "zones", c->zones, "cuts", c->cuts, "pairs", (json_int_t)c->pairs, "hits",
                     (json_int_t)c->hits, "moved", (json_int_t)c->moved, "truncated", (json_int_t)c->truncated,
                     "seconds", "broad", c->broad, "narrow", c->narrow, "response", c->response);
}

static json_t *settings(const drape_scene *s) {
    const drape_forces *f = &s->forces;
    const drape_solve_settings *v = &s->solve;
    const drape_integration resolved = drape_i_integration_resolve(&s->integration), *i = &resolved;
    return json_pack(
        "{s:f, s:i, s:i, s:[f, f, f], s:[f, f, f], s:f, s:f, s:s, s:s, s:s, s:s, s:s, s:f, s:i, s:s, "
        "s:f, s:f, s:b, s:s, s:s, s:s, s:s, s:s}",
        "step", s->step, "steps_per_frame", s->steps_per_frame, "frames", s->frames, "gravity", f->gravity[0],
        f->gravity[1], f->gravity[2], "wind", f->wind[0], f->wind[1], f->wind[2], "drag", f->drag, "air_drag",
        f->air_drag, "model", s->cloth.model ? s->cloth.model : drape_cloth_defaults().model, "jacobian",
        drape_jacobian_name(s->cloth.jacobian), "damping_jacobian",
        drape_damping_jacobian_name(s->cloth.damping_jacobian), "method", v->method, "precond",
        v->precond ? v->precond : drape_method_default_precond(v->method), "tolerance", v->tol, "max_iterations",
        v->max_iterations, "stop", drape_stop_name(v->stop), "floor", v->floor, "omega", v->omega > 0 ? v->omega : 1,
        "tune", v->tune != DRAPE_TUNE_OFF, "integrator", i->ode.method, "newton",
        drape_ode_newton_kind_name(i->ode.newton.kind), "control", drape_ode_control_name(i->ode.control), "unknowns",
        drape_unknowns_name(i->unknowns), "mass", drape_mass_matrix_name(i->mass));
}

static json_t *cloth(drape_sim *sim) {
    const drape_cloth *c = drape_sim_cloth(sim);
    return json_pack("{s:i, s:i, s:i}", "vertices", drape_cloth_vertices(c), "triangles", drape_cloth_triangles(c),
                     "hinges", drape_cloth_hinges(c));
}

drape_status drape_report_create(drape_context *ctx, const drape_scene *scene, drape_sim *sim, drape_report **out) {
    drape_report *r;
    if (out) *out = NULL;
    if (!ctx || !scene || !sim || !out)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_report_create: scene, sim or out is NULL");
    if (!DRAPE_NEW(ctx, r, 1)) return DRAPE_ERROR_MEMORY;
    r->ctx = ctx;
    r->contact = sim->contact != NULL;
    r->root = json_pack("{s:o, s:o, s:o, s:o, s:I, s:[]}", "scene", utf8(scene->name), "machine", machine(ctx),
                        "cloth", cloth(sim), "settings", settings(scene), "resumed_after",
                        (json_int_t)drape_sim_steps(sim), "steps");
    r->steps = json_object_get(r->root, "steps");
    if (!r->steps) {
        drape_report_destroy(r);
        return no_memory(ctx);
    }
    *out = r;
    return DRAPE_OK;
}

drape_status drape_report_step(drape_report *r, const drape_certificate *c) {
    if (!r || !c)
        return drape_i_fail(r ? r->ctx : NULL, DRAPE_ERROR_ARGUMENT,
                            "drape_report_step: report or certificate is NULL");
    const drape_solve_result *l = &c->linear;
    json_t *step =
        json_pack("{s:I, s:f, s:s, s:i, s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:f, s:f, s:f, s:f}}",
                  "step", (json_int_t)c->step, "time", c->time, "reason", drape_reason_name(l->reason), "iterations",
                  l->iterations, "method", l->method, "precond", l->precond, "modes", l->modes, "fallbacks",
                  fallbacks(l), "residual", number(l->residual), "true_residual", number(l->true_residual), "kinetic",
                  number(c->energy.kinetic), "elastic", number(c->energy.elastic), "weight", number(c->energy.weight),
                  "stretch", number(c->stretch), "seconds", "assemble", c->seconds.assemble, "precondition",
                  c->seconds.precondition, "solve", c->seconds.solve, "update", c->seconds.update);
    if (step && (json_object_set_new(step, "forces", forces(&c->energy)) != 0 ||
                 json_object_set_new(step, "energy", balance(&c->energy)) != 0 ||
                 json_object_set_new(step, "integrator", integrator(&c->ode)) != 0 ||
                 (r->contact && json_object_set_new(step, "contact", contact(&c->contact)) != 0))) {
        json_decref(step);
        step = NULL;
    }
    return step && json_array_append_new(r->steps, step) == 0 ? DRAPE_OK : no_memory(r->ctx);
}

static int write_text(const char *text, size_t size, void *file) {
    drape_i_file_write(file, text, size);
    return 0;
}

drape_status drape_report_write(drape_report *r, const char *path, const char *outcome) {
    drape_i_file file;
    if (!r || !path || !outcome)
        return drape_i_fail(r ? r->ctx : NULL, DRAPE_ERROR_ARGUMENT,
                            "drape_report_write: report, path or outcome is NULL");
    if (json_object_set_new(r->root, "outcome", utf8(outcome)) != 0) return no_memory(r->ctx);
    drape_status status = drape_i_file_create(r->ctx, path, &file);
    if (status) return status;
    if (json_dump_callback(r->root, write_text, &file, JSON_INDENT(1) | JSON_PRESERVE_ORDER) != 0) {
        drape_i_file_abandon(r->ctx, &file);
        return no_memory(r->ctx);
    }
    drape_i_file_write(&file, "\n", 1);
    return drape_i_file_commit(r->ctx, &file);
}

void drape_report_destroy(drape_report *r) {
    if (!r) return;
    json_decref(r->root);
    DRAPE_FREE(r->ctx, r, 1);
}
