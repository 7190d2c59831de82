/* live.c: loading, stepping, holding; see live.h. */
#include "live.h"

#include <emscripten.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

live_page live;

static const int32_t KEPT_ITERATIONS = 400; /* of a residual history */

bool live_good(drape_status status) {
    if (status) strncpy(live.message, drape_message(live.ctx), sizeof live.message - 1);
    return status == DRAPE_OK;
}

static void keep_warning(void *user, drape_log_level level, const char *message) {
    (void)user;
    if (level <= DRAPE_LOG_WARNING) strncpy(live.warning, message, sizeof live.warning - 1);
}

EMSCRIPTEN_KEEPALIVE int live_begin(int threads) {
    drape_context_settings settings = {.threads = threads, .log = keep_warning};
    return drape_context_create(&settings, &live.ctx);
}

EMSCRIPTEN_KEEPALIVE const char *live_message(void) { return live.message; }
/* Once each. */
EMSCRIPTEN_KEEPALIVE const char *live_warning(void) {
    static char told[sizeof live.warning];
    memcpy(told, live.warning, sizeof told);
    live.warning[0] = 0;
    return told;
}

/* ---- choosing ---- */

EMSCRIPTEN_KEEPALIVE void live_choose(const char *fabric, const char *model, const char *integrator,
                                      const char *method, const char *precond) {
    live_choices *c = &live.choices;
    const struct {
        char *to;
        const char *from;
    } words[] = {{c->fabric, fabric},
                 {c->model, model},
                 {c->integrator, integrator},
                 {c->method, method},
                 {c->precond, precond}};
    for (int i = 0; i < 5; i++) {
        memset(words[i].to, 0, sizeof c->fabric);
        strncpy(words[i].to, words[i].from, sizeof c->fabric - 1);
    }
}

EMSCRIPTEN_KEEPALIVE void live_choose_numbers(int resolution, double step, double tolerance, int self) {
    live.choices.resolution = resolution;
    live.choices.step = step;
    live.choices.tolerance = tolerance;
    live.choices.self = self;
}

static drape_forces forces_of(const drape_scene *scene) {
    drape_forces forces = scene->forces;
    if (isnan(live.choices.wind[0])) return forces;
    memcpy(forces.wind, live.choices.wind, sizeof forces.wind);
    return forces;
}

/* The air from now on; the first number NaN: that of the scene. */
EMSCRIPTEN_KEEPALIVE int live_wind(double x, double y, double z) {
    live.choices.wind[0] = x;
    live.choices.wind[1] = y;
    live.choices.wind[2] = z;
    if (!live.sim) return 0;
    live.forces = forces_of(drape_loaded_scene_data(live.loaded));
    return !live_good(drape_sim_set_forces(live.sim, &live.forces));
}

static drape_status apply_choices(drape_scene *scene) {
    const live_choices *c = &live.choices;
    for (int32_t i = 0; i < scene->piece_count; i++)
        if (c->fabric[0]) drape_fabric_find(c->fabric, &scene->pieces[i].material);
    if (c->model[0]) scene->cloth.model = c->model;
    if (c->method[0]) scene->solve.method = c->method;
    if (c->precond[0]) scene->solve.precond = c->precond;
    else if (c->method[0]) scene->solve.precond = NULL; /* what the scene names may not go with another method */
    if (c->tolerance > 0) scene->solve.tol = c->tolerance;
    if (c->step > 0) scene->step = c->step;
    scene->solve.history = KEPT_ITERATIONS;
    scene->solve.max_iterations = 2000; /* a page must go on */
    scene->forces = forces_of(scene);
    if (c->self) {
        live.contact = scene->contact ? *scene->contact : (drape_contact_settings){0};
        live.contact.self = c->self > 0;
        scene->contact = &live.contact;
    }
    return DRAPE_OK;
}

/* ---- loading ---- */

static void replace(drape_loaded_scene *loaded, drape_sim *sim, drape_collider_meshes *objects) {
    drape_sim_destroy(live.sim);
    drape_collider_meshes_destroy(live.objects);
    drape_loaded_scene_destroy(live.loaded);
    for (int i = 0; i < 2; i++) {
        drape_solver_destroy(live.compared[i].solver);
        live.compared[i].solver = NULL;
    }
    free(live.material);
    live.loaded = loaded;
    live.sim = sim;
    live.objects = objects;
    live.forces = drape_loaded_scene_data(loaded)->forces;
    live.material = live_material_of(drape_loaded_scene_data(loaded));
    live.triangles = drape_cloth_triangles(drape_sim_cloth(sim));
    memset(live.numbers, 0, sizeof live.numbers);
    live.numbers[LIVE_TIME] = drape_sim_time(sim);
}

static drape_status go_on(drape_sim *sim) {
    drape_status status = live_transfer(live.sim, sim);
    return status ? status : drape_sim_set_time(sim, drape_sim_time(live.sim));
}

/* Takes a scene with the choices of live_choose. go: 0 from its start; 1 from the present state on; 2 from its start.
 * With 1 and 2 it must also survive one step; otherwise the present scene stays. */
EMSCRIPTEN_KEEPALIVE int live_load(const char *name, const char *text, int go) {
    const live_choices *c = &live.choices;
    drape_scene_options options = {.resolution = c->resolution,
                                   .integrator = c->integrator[0] ? c->integrator : NULL};
    drape_loaded_scene *loaded = NULL;
    drape_sim *sim = NULL;
    drape_collider_meshes *objects = NULL;
    drape_status status = drape_scene_parse(live.ctx, name, text, (int64_t)strlen(text), &options, &loaded);
    if (!status) status = apply_choices(drape_loaded_scene_edit(loaded));
    if (!status) status = drape_sim_create(live.ctx, drape_loaded_scene_data(loaded), &sim);
    if (!status) status = drape_collider_meshes_create(live.ctx, drape_loaded_scene_data(loaded), &objects);
    if (!status && go == 1 && live.sim) status = go_on(sim);
    if (!status && go) status = drape_sim_step(sim, NULL);
    if (live_good(status)) {
        replace(loaded, sim, objects);
        return 0;
    }
    drape_sim_destroy(sim);
    drape_collider_meshes_destroy(objects);
    drape_loaded_scene_destroy(loaded);
    return 1;
}

/* ---- what it is ---- */

EMSCRIPTEN_KEEPALIVE int live_vertices(void) { return drape_cloth_vertices(drape_sim_cloth(live.sim)); }
EMSCRIPTEN_KEEPALIVE int live_triangles(void) { return live.triangles; }
EMSCRIPTEN_KEEPALIVE const int32_t *live_triangle(void) { return drape_cloth_triangle(drape_sim_cloth(live.sim)); }
EMSCRIPTEN_KEEPALIVE const double *live_rest(void) { return drape_cloth_rest(drape_sim_cloth(live.sim)); }
EMSCRIPTEN_KEEPALIVE const float *live_material(void) { return live.material; }
EMSCRIPTEN_KEEPALIVE int live_pieces(void) { return drape_cloth_pieces(drape_sim_cloth(live.sim)); }
EMSCRIPTEN_KEEPALIVE const drape_piece_range *live_piece(int i) {
    return drape_cloth_piece(drape_sim_cloth(live.sim), i);
}
/* 0xrrggbb, or -1: the scene says nothing about it. */
static int color_of(const drape_appearance *a) {
    return a && a->colored ? a->color[0] << 16 | a->color[1] << 8 | a->color[2] : -1;
}
EMSCRIPTEN_KEEPALIVE int live_piece_color(int i) {
    return color_of(drape_loaded_scene_data(live.loaded)->pieces[i].appearance);
}
EMSCRIPTEN_KEEPALIVE double live_step_length(void) { return drape_loaded_scene_data(live.loaded)->step; }
EMSCRIPTEN_KEEPALIVE const double *live_scene_wind(void) { return live.forces.wind; }

EMSCRIPTEN_KEEPALIVE int live_objects(void) { return drape_collider_meshes_count(live.objects); }
EMSCRIPTEN_KEEPALIVE const drape_frame_mesh *live_object(int i) {
    return drape_collider_meshes_at(live.objects, drape_sim_time(live.sim)) + i;
}
EMSCRIPTEN_KEEPALIVE int live_object_color(int i) {
    return color_of(drape_collider_meshes_appearance(live.objects)[i]);
}

/* ---- running ---- */

static void note(const drape_certificate *c) {
    double contact = c->contact.broad + c->contact.narrow + c->contact.response + c->contact.touch + c->contact.gate;
    double *n = live.numbers;
    n[LIVE_STEPS] = (double)c->step;
    n[LIVE_ITERATIONS] = c->linear.iterations;
    n[LIVE_NEWTON] = c->ode.newton_iterations;
    n[LIVE_RESIDUAL] = c->linear.residual;
    n[LIVE_STRETCH] = c->stretch;
    n[LIVE_ASSEMBLE] = c->seconds.assemble;
    n[LIVE_PRECONDITION] = c->seconds.precondition;
    n[LIVE_SOLVE] = c->seconds.solve;
    n[LIVE_CONTACT] = contact;
    n[LIVE_UPDATE] = fmax(c->seconds.update - contact, 0);
    n[LIVE_KINETIC] = c->energy.kinetic;
    n[LIVE_ELASTIC] = c->energy.elastic;
    n[LIVE_WEIGHT] = c->energy.weight;
    n[LIVE_TAKEN] = c->energy.fabric + c->energy.integrator;
    n[LIVE_HISTORY] = c->linear.history_count;
    n[LIVE_CONVERGED] = c->linear.reason == DRAPE_CONVERGED;
    n[LIVE_TOUCHING] = c->contact.count + c->contact.springs;
}

EMSCRIPTEN_KEEPALIVE int live_step(void) {
    if (!live_good(drape_sim_step(live.sim, &live.last))) return 1;
    note(&live.last);
    live.numbers[LIVE_TIME] = drape_sim_time(live.sim);
    return 0;
}

EMSCRIPTEN_KEEPALIVE const double *live_numbers(void) { return live.numbers; }
EMSCRIPTEN_KEEPALIVE const double *live_positions(void) { return drape_sim_positions(live.sim); }
EMSCRIPTEN_KEEPALIVE const drape_iteration *live_history(void) { return live.last.linear.history; }
EMSCRIPTEN_KEEPALIVE const char *live_method(void) { return live.last.linear.method; }
EMSCRIPTEN_KEEPALIVE const char *live_precond(void) { return live.last.linear.precond; }

/* count 0: lets go. */
EMSCRIPTEN_KEEPALIVE int live_hold(int count, const int32_t *vertices, const double *target, double speed) {
    drape_hold hold = {.count = count, .vertices = vertices, .target = target, .speed = speed};
    return !live_good(drape_sim_hold(live.sim, &hold));
}

/* ---- two solvers on the system of the last step ---- */

static bool same_words(const live_solver *s, const char *method, const char *precond) {
    return s->solver && strcmp(s->method, method) == 0 && strcmp(s->precond, precond) == 0;
}

static drape_status make_solver(live_solver *s, const char *method, const char *precond) {
    if (same_words(s, method, precond)) return DRAPE_OK;
    drape_solve_settings settings = drape_loaded_scene_data(live.loaded)->solve;
    strncpy(s->method, method, sizeof s->method - 1);
    strncpy(s->precond, precond, sizeof s->precond - 1);
    settings.method = s->method;
    settings.precond = s->precond;
    drape_solver_destroy(s->solver);
    s->solver = NULL;
    return drape_solver_create(live.ctx, &settings, &s->solver);
}

static bool make_room(int64_t size) {
    if (live.x_size >= size) return true;
    free(live.x);
    live.x = malloc((size_t)size * sizeof *live.x);
    live.x_size = live.x ? size : 0;
    return live.x != NULL;
}

/* Solves it with solver `which`, 0 or 1, from zero and with a set-up of its own: nothing of earlier systems counts. */
EMSCRIPTEN_KEEPALIVE int live_compare(int which, const char *method, const char *precond) {
    live_solver *s = &live.compared[which];
    drape_problem problem;
    drape_status status = drape_sim_system(live.sim, &problem);
    if (!status) status = make_solver(s, method, precond);
    if (!status && !make_room(3 * (int64_t)problem.A->rows)) return 1;
    drape_solver_forget(s->solver);
    if (!status) status = drape_solver_solve(s->solver, &problem, live.x, &s->result);
    return !live_good(status);
}
EMSCRIPTEN_KEEPALIVE int live_compared_iterations(int which) { return live.compared[which].result.iterations; }
EMSCRIPTEN_KEEPALIVE int live_compared_reason(int which) { return (int)live.compared[which].result.reason; }
EMSCRIPTEN_KEEPALIVE double live_compared_seconds(int which, int setup) {
    return setup ? live.compared[which].result.setup_seconds : live.compared[which].result.solve_seconds;
}
EMSCRIPTEN_KEEPALIVE const char *live_compared_precond(int which) { return live.compared[which].result.precond; }
EMSCRIPTEN_KEEPALIVE int live_compared_count(int which) { return live.compared[which].result.history_count; }
EMSCRIPTEN_KEEPALIVE const drape_iteration *live_compared_history(int which) {
    return live.compared[which].result.history;
}

/* ---- files ---- */

EMSCRIPTEN_KEEPALIVE int live_export_begin(const char *path, double fps) {
    const drape_scene *scene = drape_loaded_scene_data(live.loaded);
    drape_animation what = {
        .cloth = drape_sim_cloth(live.sim), .fps = fps, .title = scene->name, .pieces = scene->pieces};
    return !live_good(drape_writer_open(live.ctx, path, &what, &live.writer));
}

EMSCRIPTEN_KEEPALIVE int live_export_frame(const double *positions, double time) {
    drape_frame frame = {.positions = positions,
                         .meshes = drape_collider_meshes_at(live.objects, time),
                         .mesh_appearance = drape_collider_meshes_appearance(live.objects),
                         .mesh_count = drape_collider_meshes_count(live.objects)};
    return !live_good(drape_writer_frame(live.writer, &frame));
}

EMSCRIPTEN_KEEPALIVE int live_export_end(void) {
    drape_writer *writer = live.writer;
    live.writer = NULL;
    return !live_good(drape_writer_close(writer));
}
