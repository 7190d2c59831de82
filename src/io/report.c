/* report.c: what a run was and what each step did, as JSON. docs/report.md lists the keys. */
#include "base/file.h"
#include "io/format.h"
#include "sim/sim.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct drape_report {
    drape_context *ctx;
    json_t *root;  /* owns all below */
    json_t *steps; /* borrowed from root */
    bool contact;  /* something in the scene can touch something */
    drape_verdict verdict;

    char *path;          /* owned: where the spill is beside; NULL: steps are kept in root */
    drape_i_spill spill; /* the text of the steps, with commas between them */
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
    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:{s:f, s:f, s:f, s:f, s:f}}",
                     "count", c->count, "held", c->held, "sliding", c->sliding, "released", c->released, "springs",
                     c->springs, "passes", c->passes, "zones", c->zones, "cuts", c->cuts, "pairs",
                     (json_int_t)c->pairs, "hits", (json_int_t)c->hits, "moved", (json_int_t)c->moved, "truncated",
                     (json_int_t)c->truncated, "pinched", (json_int_t)c->pinched, "seconds", "broad", c->broad,
                     "narrow", c->narrow, "response", c->response, "touch", c->touch, "gate", c->gate);
}

/* Null where the wind does not change. */
static json_t *wind_variation(const drape_wind_variation *w) {
    if (!w) return json_null();
    return json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:I}", "keys", w->key_count, "gust", w->gust, "gust_time",
                     w->gust_time, "gust_length", w->gust_length, "turbulence", w->turbulence, "turbulence_length",
                     w->turbulence_length, "turbulence_time", w->turbulence_time, "seed", (json_int_t)w->seed);
}

static json_t *settings(const drape_scene *s) {
    const drape_forces *f = &s->forces;
    const drape_solve_settings *v = &s->solve;
    const drape_integration resolved = drape_i_integration_resolve(&s->integration), *i = &resolved;
    return json_pack(
        "{s:f, s:i, s:i, s:[f, f, f], s:[f, f, f], s:f, s:f, s:o, s:s, s:s, s:s, s:s, s:s, s:f, s:i, s:s, "
        "s:f, s:f, s:b, s:s, s:s, s:s, s:s, s:s, s:s, s:s}",
        "step", s->step, "steps_per_frame", s->steps_per_frame, "frames", s->frames, "gravity", f->gravity[0],
        f->gravity[1], f->gravity[2], "wind", f->wind[0], f->wind[1], f->wind[2], "drag", f->drag, "air_drag",
        f->air_drag, "wind_variation", wind_variation(f->variation), "model",
        s->cloth.model ? s->cloth.model : drape_cloth_defaults().model, "jacobian",
        drape_jacobian_name(s->cloth.jacobian), "damping_jacobian",
        drape_damping_jacobian_name(s->cloth.damping_jacobian), "method", v->method, "precond",
        v->precond ? v->precond : drape_method_default_precond(v->method), "tolerance", v->tol, "max_iterations",
        v->max_iterations, "stop", drape_stop_name(v->stop), "floor", v->floor, "omega", v->omega > 0 ? v->omega : 1,
        "tune", v->tune != DRAPE_TUNE_OFF, "integrator", i->ode.method, "newton",
        drape_ode_newton_kind_name(i->ode.newton.kind), "control", drape_ode_control_name(i->ode.control), "unknowns",
        drape_unknowns_name(i->unknowns), "mass", drape_mass_matrix_name(i->mass), "bending",
        drape_bending_name(s->cloth.bending), "membrane", drape_membrane_name(s->cloth.membrane));
}

/* What there is to say of the run. */
static json_t *verdict(const drape_verdict *v) {
    return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:b}", "steps", (json_int_t)v->steps, "unconverged",
                     (json_int_t)v->unconverged, "stretch", number(v->stretch), "stretch_time",
                     number(v->stretch_time), "energy", number(v->energy), "integrator", number(v->integrator),
                     "share", number(v->share), "touched", (int)v->touched);
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
    r->root = json_pack("{s:o, s:o, s:o, s:o, s:I, s:[]}", "scene", utf8(scene->name ? scene->name : ""), "machine",
                        machine(ctx), "cloth", cloth(sim), "settings", settings(scene), "resumed_after",
                        (json_int_t)drape_sim_steps(sim), "steps");
    r->steps = json_object_get(r->root, "steps");
    if (!r->steps) {
        drape_report_destroy(r);
        return no_memory(ctx);
    }
    *out = r;
    return DRAPE_OK;
}

/* jansson 2.14 does not look whether a key could be written, and json_dumps leaves it out where there is no memory
 * for it. So the buffer is our own, and remembers. */
typedef struct dumped {
    char *text;
    size_t used, room;
    bool failed;
} dumped;

static int take_text(const char *text, size_t size, void *user) {
    dumped *d = user;
    if (d->failed) return -1;
    if (d->used + size + 1 > d->room) {
        size_t room = 2 * (d->used + size + 1);
        char *larger = realloc(d->text, room);
        d->failed = !larger;
        if (!larger) return -1;
        d->text = larger;
        d->room = room;
    }
    memcpy(d->text + d->used, text, size);
    d->used += size;
    d->text[d->used] = 0;
    return 0;
}

/* To be freed; NULL: no memory. */
static char *dump(const json_t *value, size_t flags) {
    dumped d = {0};
    if (json_dump_callback(value, take_text, &d, flags | JSON_PRESERVE_ORDER) == 0 && !d.failed) return d.text;
    free(d.text);
    return NULL;
}

drape_status drape_report_spill(drape_report *r, const char *path) {
    if (!r || !path)
        return drape_i_fail(r ? r->ctx : NULL, DRAPE_ERROR_ARGUMENT, "drape_report_spill: report or path is NULL");
    if (r->path || json_array_size(r->steps) > 0)
        return drape_i_fail(r->ctx, DRAPE_ERROR_ARGUMENT, "drape_report_spill: after the first step, or twice");
    int64_t room = (int64_t)strlen(path) + 1;
    if (!DRAPE_NEW(r->ctx, r->path, room)) return DRAPE_ERROR_MEMORY;
    memcpy(r->path, path, (size_t)room);
    return drape_i_spill_create(r->ctx, r->path, &r->spill);
}

/* As it is in the list of steps: a line below the other, with two spaces more before each. */
static drape_status append_step(drape_report *r, const char *text) {
    const char *before = r->spill.size > 0 ? ",\n  " : "\n  ";
    drape_status status = DRAPE_OK;
    while (*text && !status) {
        size_t line = strcspn(text, "\n");
        status = drape_i_spill_append(r->ctx, &r->spill, before, strlen(before));
        if (!status) status = drape_i_spill_append(r->ctx, &r->spill, text, line);
        text += line + (text[line] == '\n');
        before = "\n  ";
    }
    return status;
}

drape_status drape_report_step(drape_report *r, const drape_certificate *c) {
    if (!r || !c)
        return drape_i_fail(r ? r->ctx : NULL, DRAPE_ERROR_ARGUMENT,
                            "drape_report_step: report or certificate is NULL");
    const drape_solve_result *l = &c->linear;
    drape_verdict_add(&r->verdict, c);
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
    if (!step) return no_memory(r->ctx);
    if (!r->spill.stream) return json_array_append_new(r->steps, step) == 0 ? DRAPE_OK : no_memory(r->ctx);
    char *text = dump(step, JSON_INDENT(1));
    json_decref(step);
    drape_status status = text ? append_step(r, text) : no_memory(r->ctx);
    free(text);
    return status;
}

static drape_status copy_spill(drape_report *r, drape_i_file *file) {
    char part[1 << 14];
    drape_status status = DRAPE_OK;
    for (int64_t at = 0; at < r->spill.size && !status;) {
        int64_t left = r->spill.size - at, bytes = left < (int64_t)sizeof part ? left : (int64_t)sizeof part;
        status = drape_i_spill_read(r->ctx, &r->spill, at, part, (size_t)bytes);
        if (!status) drape_i_file_write(file, part, (size_t)bytes);
        at += bytes;
    }
    return status;
}

/* The whole report; the steps that wait on the disk go between the brackets of an empty list. */
static drape_status write_all(drape_report *r, drape_i_file *file) {
    static const char list[] = "\n \"steps\": [";
    char *text = dump(r->root, JSON_INDENT(1));
    if (!text) return no_memory(r->ctx);
    char *steps = r->spill.size > 0 ? strstr(text, list) : NULL; /* a text of the report holds no end of a line */
    size_t head = steps ? (size_t)(steps - text) + strlen(list) : strlen(text);
    drape_i_file_write(file, text, head);
    drape_status status = steps ? copy_spill(r, file) : DRAPE_OK;
    if (steps) drape_i_file_write(file, "\n ", 2);
    drape_i_file_write(file, text + head, strlen(text + head));
    drape_i_file_write(file, "\n", 1);
    free(text);
    return status;
}

drape_status drape_report_write(drape_report *r, const char *path, const char *outcome) {
    drape_i_file file;
    if (!r || !path || !outcome)
        return drape_i_fail(r ? r->ctx : NULL, DRAPE_ERROR_ARGUMENT,
                            "drape_report_write: report, path or outcome is NULL");
    if (json_object_set_new(r->root, "outcome", utf8(outcome)) != 0 ||
        json_object_set_new(r->root, "verdict", verdict(&r->verdict)) != 0)
        return no_memory(r->ctx);
    drape_status status = drape_i_file_create(r->ctx, path, &file);
    if (status) return status;
    status = write_all(r, &file);
    if (status) drape_i_file_abandon(r->ctx, &file);
    else status = drape_i_file_commit(r->ctx, &file);
    return status;
}

void drape_report_destroy(drape_report *r) {
    if (!r) return;
    json_decref(r->root);
    drape_i_spill_destroy(&r->spill);
    if (r->path) DRAPE_FREE(r->ctx, r->path, (int64_t)strlen(r->path) + 1);
    DRAPE_FREE(r->ctx, r, 1);
}
