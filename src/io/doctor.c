/* doctor.c: drape_check: what is examined, and what the readers report.
 *
 * A mesh file is examined as a piece of the default material. For a scene, the readers report every piece with its
 * position and every problem of the file. If there is no error, the checks of the run follow. Then the simulation is
 * created, and with an explicit integrator the first step is taken. What readers log as a warning becomes a finding
 * too. */
#include "io/doctor.h"
#include "base/text.h"
#include "io/mesh.h"
#include "io/scene_reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- findings: counted and reported ---- */

enum { MESSAGE_SIZE = 1000, EXAMPLES = 5 };

static int64_t examples(const drape_i_doctor *d) {
    return d->options->examples > 0 ? d->options->examples : EXAMPLES;
}

static void tell_finding(const drape_i_doctor *d, const drape_i_defect *defect, const drape_i_about *about,
                         int64_t count, const char *message) {
    drape_finding f = d->place;
    if (!d->options->finding) return;
    f.severity = defect->severity;
    f.code = defect->code;
    f.advice = defect->advice;
    f.message = message;
    f.count = count;
    if (about) {
        f.vertex_count = about->vertices, f.vertex = about->vertex;
        f.triangle_count = about->triangles, f.triangle = about->triangle;
    }
    d->options->finding(d->options->user, &f);
}

/* Texts of files may hold anything; a message is one line. */
static void flatten(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < ' ') *text = ' ';
}

void drape_i_found(drape_i_doctor *d, drape_i_defect *defect, const drape_i_about *about, const char *format, ...) {
    char message[MESSAGE_SIZE];
    int head = 0;
    va_list arguments;
    ++*(defect->severity == DRAPE_SEVERITY_ERROR ? &d->summary->errors : &d->summary->warnings);
    if (++defect->seen > examples(d)) return;
    if (d->mesh) head = snprintf(message, sizeof message, "%s: ", d->mesh);
    if (head >= MESSAGE_SIZE) head = MESSAGE_SIZE - 1;
    va_start(arguments, format);
    vsnprintf(message + head, sizeof message - (size_t)head, format, arguments);
    va_end(arguments);
    flatten(message);
    tell_finding(d, defect, about, 1, message);
}

void drape_i_found_all(drape_i_doctor *d, const drape_i_defect *defect) {
    char message[MESSAGE_SIZE];
    int64_t more = defect->seen - examples(d);
    if (more <= 0) return;
    snprintf(message, sizeof message, "%s%s%lld more of this kind, %lld in all", d->mesh ? d->mesh : "",
             d->mesh ? ": " : "", (long long)more, (long long)defect->seen);
    flatten(message);
    tell_finding(d, defect, NULL, more, message);
}

/* ---- where a finding is ---- */

/* What the listeners below collect about a file. */
typedef struct examination {
    drape_i_doctor d;
    const char *name;                       /* of what is checked */
    const char *mesh;                       /* whose problems are being reported, in a scene; or NULL */
    drape_i_defect lines, numbers, repeats; /* of it */
    drape_i_defect noted;
    drape_status status; /* DRAPE_ERROR_MEMORY: an examination found none */
} examination;

static void set_place(drape_i_doctor *d, const drape_i_node *node, const char *mesh, const char *piece) {
    d->place = (drape_finding){.file = node->file,
                               .line = node->line,
                               .column = node->line ? node->column : 0,
                               .source = node->line ? node->line_text : NULL,
                               .piece = piece};
    d->mesh = mesh;
}

/* ---- lines of mesh files ---- */

static const char LINE_ADVICE[] = "export the mesh again, or correct the line";

static void begin_mesh(examination *h, const char *mesh) {
    h->mesh = mesh;
    h->d.incomplete = false;
    h->lines = (drape_i_defect){DRAPE_SEVERITY_ERROR, "bad-line", LINE_ADVICE, 0};
    h->numbers = (drape_i_defect){
        DRAPE_SEVERITY_ERROR, "not-finite",
        "the program that wrote the file made a mistake; correct it there, and export the mesh again", 0};
    h->repeats = (drape_i_defect){DRAPE_SEVERITY_ERROR, "repeated-vertex",
                                  "delete the face, or give it three different vertices", 0};
}

static void end_mesh(examination *h) {
    drape_i_found_all(&h->d, &h->lines);
    drape_i_found_all(&h->d, &h->numbers);
    drape_i_found_all(&h->d, &h->repeats);
    h->d.incomplete = h->lines.seen + h->repeats.seen > 0;
    h->mesh = NULL;
}

static drape_i_defect *line_defect(examination *h, const char *code) {
    if (strcmp(code, h->numbers.code) == 0) return &h->numbers;
    return strcmp(code, h->repeats.code) == 0 ? &h->repeats : &h->lines;
}

static void on_line(void *user, int64_t line, const char *code, const char *what) {
    examination *h = user;
    h->d.place.line = line > 0 && line <= INT32_MAX ? (int32_t)line : 0;
    drape_i_found(&h->d, line_defect(h, code), NULL, "%s", what);
    h->d.place.line = 0;
}

static void on_scene_line(void *user, const drape_i_node *place, const char *mesh, int64_t line, const char *code,
                          const char *what) {
    examination *h = user;
    if (h->mesh && h->mesh != mesh) end_mesh(h);
    if (!h->mesh) begin_mesh(h, mesh);
    set_place(&h->d, place, NULL, NULL);
    if (line > 0) drape_i_found(&h->d, line_defect(h, code), NULL, "%s:%lld: %s", mesh, (long long)line, what);
    else drape_i_found(&h->d, line_defect(h, code), NULL, "%s: %s", mesh, what);
}

/* ---- messages of readers ---- */

/* Takes "name:12: " or "name: " off a message; *line becomes 0 without one. */
static const char *take_place(const char *message, const char *name, int32_t *line) {
    const int32_t most = 100000000;
    const char *rest = message + strlen(name);
    *line = 0;
    if (strncmp(message, name, strlen(name)) != 0 || *rest != ':') return message;
    for (rest++; *rest >= '0' && *rest <= '9' && *line < most; rest++) *line = 10 * *line + (*rest - '0');
    if (*line > 0 && *rest == ':') rest++;
    return *rest == ' ' ? rest + 1 : rest;
}

/* Failures are logged too, but they come back as a status, or go to the listeners. */
static void on_log(void *user, drape_log_level level, const char *message) {
    examination *h = user;
    drape_i_doctor quiet = h->d;
    if (level != DRAPE_LOG_WARNING) return;
    h->d.mesh = NULL; /* the message names its file */
    h->d.place = (drape_finding){.file = h->name};
    message = take_place(message, h->name, &h->d.place.line);
    drape_i_found(&h->d, &h->noted, NULL, "%s", message);
    h->d = quiet;
}

/* ---- pieces ---- */

static void examine_piece(examination *h, const drape_piece *p, bool from_file) {
    h->d.summary->pieces++;
    h->d.summary->vertices += p->vertices;
    h->d.summary->triangles += p->triangles;
    if (from_file && drape_i_examine_topology(&h->d, p)) h->status = DRAPE_ERROR_MEMORY;
    drape_i_examine_shape(&h->d, p);
    h->d.incomplete = false;
}

static void on_piece(void *user, const drape_i_node *place, const char *mesh, const drape_piece *p) {
    examination *h = user;
    const drape_i_node *material = drape_i_node_find(place->parent, "material");
    set_place(&h->d, place, NULL, p->name);
    bool own = h->mesh == mesh;
    if (h->mesh) end_mesh(h);
    if (!own) h->d.incomplete = false;
    h->d.mesh = mesh;
    examine_piece(h, p, mesh != NULL);
    set_place(&h->d, material ? material : place, NULL, p->name);
    drape_i_examine_material(&h->d, p);
    h->d.place = (drape_finding){0};
}

/* ---- scenes ---- */

static void on_problem(void *user, const drape_i_problem *problem, int32_t more) {
    examination *h = user;
    drape_i_defect kind = {DRAPE_SEVERITY_ERROR, problem ? problem->code : "bad-scene", NULL, 0};
    h->d.place = (drape_finding){0};
    h->d.mesh = NULL;
    if (problem)
        h->d.place = (drape_finding){.file = problem->file,
                                     .line = problem->line,
                                     .column = problem->line ? problem->column : 0,
                                     .source = problem->source};
    if (problem) drape_i_found(&h->d, &kind, NULL, "%s", problem->what);
    else drape_i_found(&h->d, &kind, NULL, "%d more problems are not listed; correct those above first", more);
    if (!problem) h->d.summary->errors += more - 1;
}

static bool is_explicit(const drape_scene *scene) {
    const char *method = scene->integration.ode.method;
    return method && drape_ode_method_order(method) > 0 && !drape_ode_method_implicit(method);
}

/* Whether a fixed step is beyond the stability limit depends on an eigenvalue of the cloth, which a run estimates
 * before its first step. So that step is taken: it costs some 60 multiplies, and no linear solve. */
static drape_status try_first_step(examination *h, const drape_scene *scene, drape_sim *sim) {
    drape_i_defect kind = {DRAPE_SEVERITY_ERROR, "unstable-step",
                           "use steps no longer than that (time.step), or an implicit integrator", 0};
    bool fixed = scene->integration.ode.control == DRAPE_ODE_FIXED;
    if (!is_explicit(scene) || !fixed || scene->frames == 0) return DRAPE_OK;
    drape_status status = drape_sim_step(sim, NULL);
    if (status == DRAPE_ERROR_MEMORY) return status;
    if (status) drape_i_found(&h->d, &kind, NULL, "%s", drape_message(h->d.ctx));
    return DRAPE_OK;
}

/* Whether cloth that starts elsewhere than at its rest positions is in balance there. */
static void find_residual(examination *h, const drape_scene *scene, drape_sim *sim) {
    const double least = 1e-6;
    drape_equilibrium_result found;
    if (!scene->start || drape_sim_find_equilibrium(sim, &(drape_equilibrium_settings){.max_iterations = -1}, &found))
        return;
    h->d.summary->residual = found.residual;
    h->d.summary->at_rest = found.residual < least && !scene->velocity;
}

/* The entry that a message about stitches or an attachment is about; NULL: it is about something else. */
static const drape_i_node *entry_of(const drape_loaded_scene *loaded, const char *message) {
    static const char attachment[] = "attachment ";
    const drape_i_node *node = loaded->attach_node;
    if (strncmp(message, "stitches: ", 10) == 0)
        return loaded->stitch_node ? loaded->stitch_node : loaded->piece_node[0]; /* else they are of its seams */
    if (strncmp(message, attachment, sizeof attachment - 1) != 0) return NULL;
    for (int64_t k = strtol(message + sizeof attachment - 1, NULL, 10); node && k > 0; k--) node = node->next;
    return node;
}

/* What no check above has found: creating the simulation decides. */
static drape_status try_to_build(examination *h, const char *name, const drape_loaded_scene *loaded) {
    drape_sim *sim;
    drape_i_defect kind = {DRAPE_SEVERITY_ERROR, "refused", NULL, 0};
    drape_scene scene = loaded->scene;
    if (h->d.options->direct) scene.solve.direct = h->d.options->direct;
    drape_status status = drape_sim_create(h->d.ctx, &scene, &sim);
    if (status == DRAPE_ERROR_MEMORY) return status;
    h->d.place = (drape_finding){.file = name};
    h->d.mesh = NULL;
    const drape_i_node *entry = status ? entry_of(loaded, drape_message(h->d.ctx)) : NULL;
    if (entry) set_place(&h->d, entry, NULL, NULL);
    if (status) {
        drape_i_found(&h->d, &kind, NULL, "%s", drape_message(h->d.ctx));
        return DRAPE_OK;
    }
    find_residual(h, &scene, sim);
    status = try_first_step(h, &scene, sim);
    drape_sim_destroy(sim);
    return status;
}

static drape_status check_scene(examination *h, const char *name) {
    const drape_i_scene_listener listener = {h, on_problem, on_scene_line, on_piece};
    drape_check_summary *s = h->d.summary;
    drape_scene_options how = h->d.options->scene;
    drape_loaded_scene *loaded = NULL;
    how.problem = NULL;
    drape_status status = drape_i_scene_load(h->d.ctx, name, &how, &listener, &loaded);
    const drape_scene *scene = drape_loaded_scene_data(loaded);
    if (h->mesh) end_mesh(h);
    if (status && status != DRAPE_ERROR_MEMORY && s->errors > 0) return DRAPE_OK; /* it was reported */
    if (!status && scene) {
        s->frames = scene->frames, s->steps_per_frame = scene->steps_per_frame, s->step = scene->step;
        s->controlled = scene->integration.ode.control == DRAPE_ODE_ERROR;
        h->d.place = (drape_finding){.file = name};
        if (s->errors == 0) status = drape_i_examine_run(&h->d, scene);
        if (s->errors == 0 && !status) status = drape_i_examine_contact(&h->d, loaded);
        if (s->errors == 0 && !status) status = try_to_build(h, name, loaded);
        drape_i_found_all(&h->d, &h->noted), h->noted.seen = 0; /* vibrations come after all findings */
        if (s->errors == 0 && !status) status = drape_i_examine_vibrations(&h->d, scene);
    }
    drape_loaded_scene_destroy(loaded);
    return status;
}

/* ---- meshes ---- */

/* A failure that is not about a single line: "name:12: what", or "name: what". */
static void on_failure(examination *h, const char *name, drape_i_defect kind) {
    const char *message = take_place(drape_message(h->d.ctx), name, &h->d.place.line);
    drape_i_found(&h->d, &kind, NULL, "%s", message);
    h->d.place.line = 0;
}

static drape_status check_mesh(examination *h, const char *path) {
    const drape_i_mesh_listener listener = {on_line, h};
    drape_i_arena arena = {0};
    drape_i_mesh m;
    begin_mesh(h, NULL);
    drape_status status = drape_i_mesh_read(h->d.ctx, &arena, path, &listener, &m);
    end_mesh(h);
    if (status == DRAPE_ERROR_FORMAT) {
        on_failure(h, path,
                   (drape_i_defect){DRAPE_SEVERITY_ERROR, "bad-mesh",
                                    "check that it is a complete mesh file; export it again", 0});
        status = DRAPE_OK;
    } else if (!status) {
        drape_piece p = {.vertices = m.vertices, .rest = m.position, .triangles = m.triangles};
        p.triangle = (const int32_t *)m.triangle;
        p.uv = m.uv, p.uv_triangle = (const int32_t *)m.uv_triangle, p.uv_vertices = m.uv_vertices;
        p.material = drape_material_defaults();
        examine_piece(h, &p, true);
    }
    drape_i_arena_free(h->d.ctx, &arena);
    return status;
}

/* ---- point caches ---- */

static drape_status check_cache(examination *h, const char *path) {
    drape_check_summary *s = h->d.summary;
    drape_cache *cache = NULL;
    drape_status status = drape_cache_open(h->d.ctx, path, &cache);
    if (status == DRAPE_ERROR_FORMAT) {
        on_failure(
            h, path,
            (drape_i_defect){DRAPE_SEVERITY_ERROR, "bad-cache", "the file may be incomplete; write it again", 0});
        return DRAPE_OK;
    }
    if (status) return status;
    s->vertices = drape_cache_describe(cache)->vertices;
    s->frames = drape_cache_describe(cache)->frames;
    drape_cache_close(cache);
    return DRAPE_OK;
}

static drape_status check_any(examination *h, const char *name) {
    if (drape_i_ends_in(name, ".obj") || drape_i_ends_in(name, ".ply")) return check_mesh(h, name);
    if (drape_i_ends_in(name, ".pc2") || drape_i_ends_in(name, ".mdd")) return check_cache(h, name);
    return check_scene(h, name);
}

const char *drape_severity_name(drape_severity severity) {
    static const char *const names[] = {"warning", "error"};
    return (unsigned)severity < sizeof names / sizeof *names ? names[severity] : NULL;
}

drape_status drape_check_scene(drape_context *ctx, const drape_scene *scene, const drape_check_options *options,
                               drape_check_summary *summary) {
    static const drape_check_options none;
    drape_check_summary own;
    if (!ctx || !scene) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_check_scene: scene is NULL");
    drape_status status =
        options ? drape_i_check_reserved(ctx, "drape_check_options", options->reserved, 7) : DRAPE_OK;
    if (status) return status;
    drape_i_doctor d = {.ctx = ctx, .options = options ? options : &none, .summary = summary ? summary : &own};
    *d.summary = (drape_check_summary){.frames = scene->frames,
                                       .steps_per_frame = scene->steps_per_frame,
                                       .step = scene->step,
                                       .controlled = scene->integration.ode.control == DRAPE_ODE_ERROR,
                                       .residual = -1};
    for (int32_t i = 0; i < scene->piece_count; i++) {
        d.summary->pieces++;
        d.summary->vertices += scene->pieces[i].vertices;
        d.summary->triangles += scene->pieces[i].triangles;
    }
    return drape_i_examine_run(&d, scene);
}

drape_status drape_check(drape_context *ctx, const char *name, const drape_check_options *options,
                         drape_check_summary *summary) {
    static const drape_check_options none;
    drape_check_summary own;
    if (!ctx || !name) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_check: name is NULL");
    drape_status status =
        options ? drape_i_check_reserved(ctx, "drape_check_options", options->reserved, 7) : DRAPE_OK;
    if (status) return status;
    examination h = {.d = {.ctx = ctx, .options = options ? options : &none, .summary = summary ? summary : &own}};
    void (*log)(void *, drape_log_level, const char *) = ctx->log;
    void *log_user = ctx->log_user;
    *h.d.summary = (drape_check_summary){.residual = -1};
    h.noted = (drape_i_defect){DRAPE_SEVERITY_WARNING, "noted", NULL, 0};
    h.d.place.file = h.name = name;
    ctx->log = on_log, ctx->log_user = &h;
    status = check_any(&h, name);
    ctx->log = log, ctx->log_user = log_user;
    drape_i_found_all(&h.d, &h.noted);
    if (!status && h.status) return drape_i_fail(ctx, h.status, "%s: out of memory", name);
    return status;
}
