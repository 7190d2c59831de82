/* scene_load.c: a scene from YAML text: the top level, and everything that is no cloth; and the scenes that ship. */
#include "base/file.h"
#include "base/text.h"
#include "cloth/grid.h"
#include "io/scene_reader.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_FRAMES = 1000000,
    MOST_OUTPUTS = 16,
    MOST_NAMES = DRAPE_I_MOST_NAMES,
    MOST_LEVELS = 16,
    MOST_DEGREE = 8,
    MOST_LANCZOS = 16
};

static const int64_t MOST_BYTES = 64 << 20; /* of a scene file: vertex lists can be long, but not that long */

/* ---- forces, time, solver, model, output ---- */

/* A number above 0 that must be there. */
static bool read_needed(reader_t *r, const drape_i_node *map, const char *key, drape_i_dimension dimension,
                        const char *example, double *out) {
    if (drape_i_node_find(map, key)) return drape_i_read_number(r, map, key, dimension, DRAPE_I_POSITIVE, out);
    drape_i_problem_at(&r->problems, map, true, "%s: expected a %s, such as %s: %s", map->key, key, key, example);
    return false;
}

static void read_gusts(reader_t *r, const drape_i_node *map, drape_wind_variation *w) {
    static const char *const keys[] = {"strength", "time", "length", NULL};
    if (!map || !drape_i_read_map(r, map, keys)) return;
    w->gust_time = 2;
    w->gust_length = 3;
    read_needed(r, map, "strength", DRAPE_I_SHARE, "30 %", &w->gust);
    drape_i_read_number(r, map, "time", DRAPE_I_TIME, DRAPE_I_POSITIVE, &w->gust_time);
    drape_i_read_number(r, map, "length", DRAPE_I_LENGTH, DRAPE_I_POSITIVE, &w->gust_length);
}

static void read_turbulence(reader_t *r, const drape_i_node *map, drape_wind_variation *w) {
    static const char *const keys[] = {"strength", "time", "length", NULL};
    if (!map || !drape_i_read_map(r, map, keys)) return;
    w->turbulence_length = 0.5;
    read_needed(r, map, "strength", DRAPE_I_SPEED, "1 m/s", &w->turbulence);
    drape_i_read_number(r, map, "length", DRAPE_I_LENGTH, DRAPE_I_POSITIVE, &w->turbulence_length);
    drape_i_read_number(r, map, "time", DRAPE_I_TIME, DRAPE_I_POSITIVE, &w->turbulence_time);
}

/* keys: [{time: 0 s, velocity: [0, 0, 0]}, ...], times rising. */
static void read_wind_keys(reader_t *r, const drape_i_node *list, drape_wind_variation *w) {
    static const char *const names[] = {"time", "velocity", NULL};
    if (!list) return;
    if (list->kind != DRAPE_I_LIST || !list->first) {
        drape_i_problem_at(&r->problems, list, false,
                           "keys: expected a list, such as [{time: 0 s, velocity: [4 m/s, 0, 0]}, ...]");
        return;
    }
    int32_t count = drape_i_node_count(list), i = 0, before = r->problems.count;
    drape_wind_key *all = drape_i_scene_get(r, count, sizeof *all);
    for (const drape_i_node *n = list->first; n && all; n = n->next, i++) {
        if (!drape_i_read_map(r, n, names)) return;
        if (!drape_i_node_find(n, "time") || !drape_i_node_find(n, "velocity"))
            drape_i_problem_at(
                &r->problems, n, false,
                "a key of the wind needs a time and a velocity, such as {time: 0 s, velocity: [4 m/s, 0, 0]}");
        drape_i_read_number(r, n, "time", DRAPE_I_TIME, DRAPE_I_NOT_NEGATIVE, &all[i].time);
        if (drape_i_read_vector(r, n, "velocity", DRAPE_I_SPEED, DRAPE_I_ANY, all[i].velocity))
            drape_i_turn_up(r, all[i].velocity);
        if (i > 0 && r->problems.count == before && !(all[i].time > all[i - 1].time))
            drape_i_problem_at(&r->problems, n, false, "the times of keys must increase, but %g s comes after %g s",
                               all[i].time, all[i - 1].time);
    }
    w->key = all;
    w->key_count = all ? count : 0;
}

static bool is_still(const double v[3]) { return v[0] == 0 && v[1] == 0 && v[2] == 0; }

/* Where a scene names the wind there is air, also where that does not move. */
static void read_wind(reader_t *r, const drape_i_node *wind, drape_forces *f) {
    static const char *const keys[] = {"velocity", "keys", "drag", "gusts", "turbulence", "seed", NULL};
    const drape_i_node *velocity, *by_keys, *gusts, *turbulence, *seed;
    int32_t number = 1;
    if (!wind || !drape_i_read_map(r, wind, keys)) return;
    velocity = drape_i_node_find(wind, "velocity"), by_keys = drape_i_node_find(wind, "keys");
    gusts = drape_i_node_find(wind, "gusts"), turbulence = drape_i_node_find(wind, "turbulence");
    seed = drape_i_node_find(wind, "seed");
    if (drape_i_read_vector(r, wind, "velocity", DRAPE_I_SPEED, DRAPE_I_ANY, f->wind)) drape_i_turn_up(r, f->wind);
    drape_i_read_number(r, wind, "drag", DRAPE_I_DENSITY, DRAPE_I_NOT_NEGATIVE, &f->drag);
    drape_i_read_whole(r, wind, "seed", 0, INT32_MAX, &number);
    f->still_air = is_still(f->wind);
    if (velocity && by_keys)
        drape_i_problem_at(&r->problems, by_keys, true,
                           "wind: velocity and keys both set the wind; give only one of them");
    if (gusts && !by_keys && is_still(f->wind))
        drape_i_problem_at(
            &r->problems, gusts, true,
            "gusts are a fraction of the wind, but there is no wind; give it a velocity, or use turbulence");
    if (seed && !gusts && !turbulence)
        drape_i_problem_at(&r->problems, seed, true,
                           "seed has no effect without gusts or turbulence; add one of them, or leave it out");
    if (!by_keys && !gusts && !turbulence) return;
    drape_wind_variation *w = drape_i_scene_get(r, 1, sizeof *w);
    if (!w) return;
    w->seed = (uint64_t)number;
    read_wind_keys(r, by_keys, w);
    read_gusts(r, gusts, w);
    read_turbulence(r, turbulence, w);
    f->variation = w;
}

static void read_forces(reader_t *r, const drape_i_node *map) {
    static const char *const keys[] = {"gravity", "wind", "air_drag", NULL};
    drape_forces *f = &r->out->scene.forces;
    if (!map || !drape_i_read_map(r, map, keys)) return;
    if (drape_i_read_vector(r, map, "gravity", DRAPE_I_ACCELERATION, DRAPE_I_ANY, f->gravity))
        drape_i_turn_up(r, f->gravity);
    drape_i_read_number(r, map, "air_drag", DRAPE_I_AIR_DRAG, DRAPE_I_NOT_NEGATIVE, &f->air_drag);
    read_wind(r, drape_i_node_find(map, "wind"), f);
}

/* Frames are hit exactly: the step becomes the largest one not above the wanted that divides a frame's time. With
 * `accuracy`, which scene_integrator.c reads, that is the longest step, and without `step` it is the whole frame. */
static void read_time(reader_t *r, const drape_i_node *map) {
    static const char *const keys[] = {"step", "accuracy", "fps", "duration", "frames", NULL};
    drape_scene *s = &r->out->scene;
    double step = drape_i_node_find(map, "accuracy") ? INFINITY : 0.002, fps = 25, duration = 1;
    const drape_i_range fps_range = {1e-3, 1e6, false};
    if (map && drape_i_read_map(r, map, keys)) {
        drape_i_read_number(r, map, "step", DRAPE_I_TIME, DRAPE_I_POSITIVE, &step);
        drape_i_read_number(r, map, "fps", DRAPE_I_FREQUENCY, fps_range, &fps);
        drape_i_read_number(r, map, "duration", DRAPE_I_TIME, DRAPE_I_NOT_NEGATIVE, &duration);
    }
    const drape_i_node *asked = drape_i_node_find(map, "step");
    if (asked && step * fps > 1.01)
        drape_i_warn_at(
            r, asked,
            "a step of %g s is longer than a frame, so steps are one frame long, 1/%g s; usual steps are 2 to 5 ms",
            step, fps);
    double frames = floor(duration * fps + 0.5), per_frame = ceil(1 / (fps * step) - 1e-9);
    const drape_i_node *count = drape_i_node_find(map, "frames");
    if (count && drape_i_node_find(map, "duration"))
        drape_i_problem_at(&r->problems, count, true,
                           "frames and duration both set the length of the run; give only one of them");
    if (frames > MOST_FRAMES || per_frame > MOST_FRAMES) {
        drape_i_problem_at(&r->problems, map, true, "%g frames of %g steps each are too many; use at most %d of each",
                           frames, per_frame, MOST_FRAMES);
        return;
    }
    s->frames = (int32_t)frames;
    drape_i_read_whole(r, map, "frames", 0, MOST_FRAMES, &s->frames);
    s->steps_per_frame = per_frame < 1 ? 1 : (int32_t)per_frame;
    s->step = 1 / (fps * s->steps_per_frame);
}

bool drape_i_read_name(reader_t *r, const drape_i_node *map, const char *key, const char *(*name)(int32_t),
                       const char **out) {
    const char *names[MOST_NAMES + 1] = {0}, *word;
    const drape_i_node *node = drape_i_node_find(map, key);
    for (int32_t i = 0; i < MOST_NAMES && name(i); i++) names[i] = name(i);
    if (!drape_i_read_text(r, map, key, &word)) return !node;
    for (int32_t i = 0; names[i]; i++)
        if (strcmp(names[i], word) == 0) {
            *out = names[i];
            return true;
        }
    char known[400];
    drape_i_join(names, known, sizeof known);
    drape_i_problem_at(&r->problems, node, false, "unknown %s \"%s\"; known: %s", key, word, known);
    return false;
}

bool drape_i_read_index(reader_t *r, const drape_i_node *map, const char *key, const char *(*name)(int32_t),
                        int32_t *out) {
    const char *word = NULL;
    bool good = drape_i_read_name(r, map, key, name, &word);
    for (int32_t i = 0; word && name(i); i++)
        if (strcmp(name(i), word) == 0) *out = i;
    return good;
}

/* The names that settings take: "auto", then those of the tables. */
static const char *method_name(int32_t i) { return i == 0 ? "auto" : drape_method_name(i - 1); }
static const char *precond_name(int32_t i) { return i == 0 ? "auto" : drape_precond_name(i - 1); }

static const char *stop_name(int32_t i) { return drape_stop_name((drape_stop)i); }
static const char *smoother_name(int32_t i) { return drape_smoother_name((drape_smoother)i); }
static const char *cycle_name(int32_t i) { return drape_cycle_name((drape_cycle)i); }
static const char *recipe_name(int32_t i) { return drape_recipe_name((drape_recipe)i); }
static const char *reuse_name(int32_t i) { return drape_reuse_name((drape_reuse)i); }

/* Of things that are there, not all go together. */
static void check_pairs(reader_t *r, const drape_i_node *map, const drape_solve_settings *s) {
    if (s->precond && !drape_method_takes(s->method, s->precond))
        drape_i_problem_at(
            &r->problems, drape_i_node_find(map, "precond"), false,
            "the method %s cannot be used with the preconditioner %s; `drape solve --list` shows which can",
            s->method, s->precond);
    if (s->stop == DRAPE_STOP_ENERGY && strcmp(s->method, "auto") != 0 && !drape_method_needs_symmetry(s->method))
        drape_i_problem_at(&r->problems, drape_i_node_find(map, "stop"), false,
                           "the method %s has no energy norm to stop on; use stop: residual, which every method has",
                           s->method);
}

static void read_modes(reader_t *r, const drape_i_node *map, int32_t *out) {
    const char *word;
    if (!drape_i_read_text(r, map, "modes", &word)) return;
    if (strcmp(word, "3") == 0) *out = 3;
    else if (strcmp(word, "6") == 0) *out = 6;
    else
        drape_i_problem_at(&r->problems, drape_i_node_find(map, "modes"), false, "modes is %s; it must be 3 or 6",
                           word);
}

static void read_amg(reader_t *r, const drape_i_node *map, drape_amg_settings *s) {
    static const char *const keys[] = {"modes",        "theta",      "levels", "smoother", "degree",
                                       "cycle",        "unfiltered", "reuse",  "lanczos",  "dominance",
                                       "relax_kernel", "recipe",     NULL};
    const drape_i_range theta = {0, 0.99, true}, dominance = {0, 0.99, false};
    int32_t reuse = (int32_t)s->reuse, smoother = (int32_t)s->smoother, cycle = (int32_t)s->cycle;
    int32_t recipe = (int32_t)s->recipe;
    if (!map || !drape_i_read_map(r, map, keys)) return;
    read_modes(r, map, &s->modes);
    drape_i_read_number(r, map, "theta", DRAPE_I_PLAIN, theta, &s->theta);
    drape_i_read_whole(r, map, "levels", 1, MOST_LEVELS, &s->levels);
    drape_i_read_index(r, map, "smoother", smoother_name, &smoother);
    drape_i_read_whole(r, map, "degree", 1, MOST_DEGREE, &s->degree);
    drape_i_read_index(r, map, "cycle", cycle_name, &cycle);
    drape_i_read_truth(r, map, "unfiltered", &s->unfiltered);
    drape_i_read_index(r, map, "reuse", reuse_name, &reuse);
    drape_i_read_whole(r, map, "lanczos", 1, MOST_LANCZOS, &s->lanczos);
    drape_i_read_number(r, map, "dominance", DRAPE_I_PLAIN, dominance, &s->dominance);
    drape_i_read_truth(r, map, "relax_kernel", &s->relax_kernel);
    drape_i_read_index(r, map, "recipe", recipe_name, &recipe);
    s->smoother = (drape_smoother)smoother;
    s->cycle = (drape_cycle)cycle;
    s->reuse = (drape_reuse)reuse;
    s->recipe = (drape_recipe)recipe;
}

enum { MOST_RECALL = 4 }; /* see drape_solve_settings */

static void read_solver(reader_t *r, const drape_i_node *map) {
    static const char *const keys[] = {"method", "precond", "tolerance", "max_iterations", "stop",
                                       "floor",  "omega",   "amg",       "recall",         NULL};
    drape_solve_settings *s = &r->out->scene.solve;
    const drape_i_range tolerance = {1e-15, 0.5, false}, omega = {0, 1.99, true};
    int32_t stop = (int32_t)s->stop;
    if (!map || !drape_i_read_map(r, map, keys)) return;
    bool known = drape_i_read_name(r, map, "method", method_name, &s->method);
    known &= drape_i_read_name(r, map, "precond", precond_name, &s->precond);
    known &= drape_i_read_index(r, map, "stop", stop_name, &stop);
    s->stop = (drape_stop)stop;
    if (known) check_pairs(r, map, s);
    drape_i_read_number(r, map, "tolerance", DRAPE_I_PLAIN, tolerance, &s->tol);
    drape_i_read_whole(r, map, "max_iterations", 1, INT32_MAX, &s->max_iterations);
    drape_i_read_number(r, map, "floor", DRAPE_I_PLAIN, DRAPE_I_NOT_NEGATIVE, &s->floor);
    drape_i_read_number(r, map, "omega", DRAPE_I_PLAIN, omega, &s->omega);
    drape_i_read_whole(r, map, "recall", 0, MOST_RECALL, &s->recall);
    read_amg(r, drape_i_node_find(map, "amg"), &s->amg);
}

static void read_damping_jacobian(reader_t *r, const drape_i_node *root, drape_cloth_settings *c) {
    const char *word, *key = "damping_jacobian";
    if (!drape_i_read_text(r, root, key, &word) || strcmp(word, "symmetric") == 0) return;
    if (strcmp(word, "full") == 0) c->damping_jacobian = DRAPE_DAMPING_FULL;
    else
        drape_i_problem_at(&r->problems, drape_i_node_find(root, key), false,
                           "%s is %s; it must be symmetric or full", key, word);
}

static const char *jacobian_name(int32_t index) { return drape_jacobian_name((drape_jacobian)index); }

static const char *bending_name(int32_t index) { return drape_bending_name((drape_bending)index); }

static const char *membrane_name(int32_t index) { return drape_membrane_name((drape_membrane)index); }

static void read_model(reader_t *r, const drape_i_node *root) {
    drape_cloth_settings *c = &r->out->scene.cloth;
    drape_i_read_name(r, root, "model", drape_model_name, &c->model);
    int32_t jacobian = (int32_t)c->jacobian;
    drape_i_read_index(r, root, "jacobian", jacobian_name, &jacobian);
    c->jacobian = (drape_jacobian)jacobian;
    read_damping_jacobian(r, root, c);
    int32_t bending = 0;
    drape_i_read_index(r, root, "bending", bending_name, &bending);
    c->bending = (drape_bending)bending;
    int32_t membrane = 0;
    drape_i_read_index(r, root, "membrane", membrane_name, &membrane);
    c->membrane = (drape_membrane)membrane;
}

static const char *pinch_name(int32_t i) { return drape_pinch_name((drape_pinch)i); }
static const char *law_name(int32_t i) { return drape_contact_law_name((drape_contact_law)i); }
static const char *preset_name(int32_t i) { return drape_contact_preset_name((drape_contact_preset)i); }

/* between: [shirt, trousers]; false after a problem. */
static bool read_between(reader_t *r, const drape_i_node *pair, int32_t piece[2]) {
    const drape_i_node *list = drape_i_node_find(pair, "between");
    if (!list || list->kind != DRAPE_I_LIST || drape_i_node_count(list) != 2) {
        drape_i_problem_at(
            &r->problems, list ? list : pair, false,
            "pairs: expected between with the names of two pieces, such as between: [shirt, trousers]");
        return false;
    }
    int32_t k = 0;
    for (const drape_i_node *n = list->first; n; n = n->next, k++) {
        int32_t p = 0, count = r->out->scene.piece_count;
        while (p < count && !(n->kind == DRAPE_I_SCALAR && strcmp(r->out->scene.pieces[p].name, n->text) == 0)) p++;
        if (p == count) {
            drape_i_problem_at(&r->problems, n, false, "between: there is no piece \"%s\"",
                               n->kind == DRAPE_I_SCALAR ? n->text : "");
            return false;
        }
        piece[k] = p;
    }
    return true;
}

enum { MOST_CONTACT_PAIRS = 10000 };

/* pairs: [{between: [shirt, trousers], thickness: 2 mm, friction: 0.1}] */
static void read_contact_pairs(reader_t *r, const drape_i_node *contact, drape_contact_settings *s) {
    static const char *const keys[] = {"between", "thickness", "friction", NULL};
    const drape_i_node *list = drape_i_node_find(contact, "pairs");
    int32_t count = list && list->kind == DRAPE_I_LIST ? drape_i_node_count(list) : 0;
    if (!list) return;
    if (count < 1 || count > MOST_CONTACT_PAIRS) {
        drape_i_problem_at(&r->problems, list, false, "pairs: expected a list of 1 to %d entries, each after a dash",
                           MOST_CONTACT_PAIRS);
        return;
    }
    drape_contact_pair *pairs = drape_i_scene_get(r, count, sizeof *pairs);
    if (!pairs) return;
    s->pairs = pairs;
    for (const drape_i_node *n = list->first; n; n = n->next) {
        drape_contact_pair *p = &pairs[s->pair_count];
        *p = (drape_contact_pair){.thickness = -1, .friction = -1};
        if (!drape_i_read_map(r, n, keys) || !read_between(r, n, p->piece)) continue;
        drape_i_read_number(r, n, "thickness", DRAPE_I_LENGTH, DRAPE_I_NOT_NEGATIVE, &p->thickness);
        drape_i_read_number(r, n, "friction", DRAPE_I_PLAIN, DRAPE_I_NOT_NEGATIVE, &p->friction);
        s->pair_count++;
    }
}

/* A map, or the name of a preset alone. */
static void read_contact(reader_t *r, const drape_i_node *root) {
    static const char *const keys[] = {"self",  "allow_crossings", "distance", "law",
                                       "pinch", "preset",          "pairs",    NULL};
    const drape_i_node *map = drape_i_node_find(root, "contact");
    drape_contact_settings *s = map ? drape_i_scene_get(r, 1, sizeof *s) : NULL;
    bool word = map && map->kind == DRAPE_I_SCALAR && *map->text;
    int32_t pinch = 0, preset = 0, law = 0;
    if (!s || (!word && !drape_i_read_map(r, map, keys))) return;
    drape_i_read_index(r, word ? root : map, word ? "contact" : "preset", preset_name, &preset);
    drape_i_read_index(r, word ? NULL : map, "pinch", pinch_name, &pinch);
    drape_i_read_index(r, word ? NULL : map, "law", law_name, &law);
    s->pinch = (drape_pinch)pinch;
    s->law = (drape_contact_law)law;
    s->preset = (drape_contact_preset)preset;
    r->out->scene.contact = s;
    if (word) return;
    drape_i_read_truth(r, map, "self", &s->self);
    drape_i_read_truth(r, map, "allow_crossings", &s->allow_crossings);
    drape_i_read_number(r, map, "distance", DRAPE_I_LENGTH, DRAPE_I_POSITIVE, &s->distance);
    read_contact_pairs(r, map, s);
}

static void unknown_format(reader_t *r, const drape_i_node *node) {
    const char *endings[MOST_NAMES + 1] = {0};
    char known[200];
    for (int32_t i = 0; i < MOST_NAMES && drape_writer_extension(i); i++) endings[i] = drape_writer_extension(i);
    drape_i_join(endings, known, sizeof known);
    drape_i_problem_at(&r->problems, node, false, "output: %s has an unknown extension; use one of %s", node->text,
                       known);
}

static void read_output(reader_t *r, const drape_i_node *node) {
    drape_scene *s = &r->out->scene;
    const drape_i_node *first = node && node->kind == DRAPE_I_LIST ? node->first : node;
    const char **all = drape_i_scene_get(r, MOST_OUTPUTS, sizeof *all);
    for (const drape_i_node *n = first; n && all; n = node->kind == DRAPE_I_LIST ? n->next : NULL) {
        if (n->kind != DRAPE_I_SCALAR || !*n->text) {
            drape_i_problem_at(&r->problems, n, false, "output: expected the name of a file, such as flag.html");
        } else if (!drape_writer_knows(n->text)) {
            unknown_format(r, n);
        } else if (n->line > 0 && !r->options->trust_paths && /* 0: of --set */
                   (drape_i_path_climbs(n->text) || drape_i_output_leads_out(r, n->text))) {
            drape_i_problem_at(
                &r->problems, n, false,
                "output: %s is outside the current folder; allow it with --trust-paths, or name the file with -o",
                n->text);
        } else if (s->output_count == MOST_OUTPUTS) {
            drape_i_problem_at(&r->problems, n, false, "more than %d outputs", MOST_OUTPUTS);
        } else {
            all[s->output_count++] = n->text;
        }
    }
    s->output = all;
}

/* ---- the whole ---- */

static void read_head(reader_t *r, const drape_i_node *root) {
    int32_t version = 0;
    const char *name = NULL;
    if (!drape_i_node_find(root, "drape"))
        drape_i_problem_at(&r->problems, root, false,
                           "the line `drape: 1`, the version of the format, is missing; add it at the top");
    if (drape_i_read_whole(r, root, "drape", 1, INT32_MAX, &version) && version != 1)
        drape_i_problem_at(
            &r->problems, drape_i_node_find(root, "drape"), false,
            "this program reads version 1 of the format, not %d; write `drape: 1`, or use a newer program", version);
    if (drape_i_read_text(r, root, "name", &name)) r->out->scene.name = name;
    drape_i_read_up(r, root, &r->y_up);
}

/* What is found from here on belongs to this part of a scene. */
static void begin_part(reader_t *r, const char *code) { r->problems.code = code; }

/* Whether exact stitches hold each vertex from the start; NULL: there are no stitches, or no memory. */
static bool *stitched_vertices(reader_t *r) {
    const drape_scene *s = &r->out->scene;
    bool *stitched = s->stitch_count ? drape_i_scene_get(r, r->vertices, sizeof *stitched) : NULL;
    for (int32_t i = 0; stitched && i < s->stitch_count; i++) {
        const drape_stitch *t = &s->stitches[i];
        const drape_cloth_point *ends[] = {&t->a, &t->b};
        for (int32_t e = 0; e < 2 && t->stiffness == 0 && t->close == 0; e++)
            for (int32_t k = 0; k < ends[e]->count; k++) stitched[ends[e]->vertex[k]] = true;
    }
    return stitched;
}

/* After all that finds vertices by place. Vertices that stitches hold together stay where they are. */
static void jitter_pieces(reader_t *r) {
    const bool *stays = stitched_vertices(r);
    for (int32_t p = 0; p < r->out->scene.piece_count; p++) {
        const drape_i_shape *shape = &r->shapes[p];
        double *x = (double *)shape->position; /* ours: made or read here */
        for (int64_t i = 0; x && i < shape->vertices; i++) {
            const int64_t v = shape->first_vertex + i;
            if (stays && stays[v]) continue;
            const uint64_t number = (uint64_t)(r->out->parts.number ? r->out->parts.number[v] : v);
            uint64_t state = drape_i_mix(drape_i_mix(r->options->seed) ^ number);
            for (int32_t k = 0; k < 3; k++) x[3 * i + k] += r->options->jitter * drape_i_random_signed(&state);
        }
    }
}

static void read_root(reader_t *r, const drape_i_node *root) {
    static const char *const keys[] = {
        "drape",    "name",       "up",        "cloth",    "forces",           "time",
        "solver",   "output",     "model",     "jacobian", "damping_jacobian", "bending",
        "membrane", "integrator", "colliders", "contact",  "max_stretch",      "start",
        "stitches", "attach",     NULL};
    const drape_i_range stretch = {1, 1e12, true};
    if (!drape_i_read_map(r, root, keys)) return;
    read_head(r, root);
    begin_part(r, "bad-forces");
    read_forces(r, drape_i_node_find(root, "forces"));
    begin_part(r, "bad-time");
    read_time(r, drape_i_node_find(root, "time"));
    begin_part(r, "bad-solver");
    read_solver(r, drape_i_node_find(root, "solver"));
    begin_part(r, "bad-model");
    read_model(r, root);
    begin_part(r, "bad-integrator");
    drape_i_read_integrator(r, root);
    drape_i_read_number(r, root, "max_stretch", DRAPE_I_PLAIN, stretch, &r->out->scene.integration.max_stretch);
    begin_part(r, "bad-output");
    read_output(r, drape_i_node_find(root, "output"));
    begin_part(r, "bad-cloth");
    drape_i_read_pieces(r, root);
    begin_part(r, "bad-collider");
    drape_i_read_colliders(r, root);
    begin_part(r, "bad-contact");
    read_contact(r, root);
    begin_part(r, "bad-stitches");
    drape_i_read_stitches(r, root);
    begin_part(r, "bad-attach");
    drape_i_read_attachments(r, root);
    if (r->options->jitter > 0) jitter_pieces(r);
}

/* The part of a path between the last slash and the last dot. */
static const char *stem(reader_t *r, const char *path) {
    const char *slash = strrchr(path, '/'), *begin = slash ? slash + 1 : path, *dot = strrchr(begin, '.');
    size_t length = dot ? (size_t)(dot - begin) : strlen(begin);
    char *copy = drape_i_scene_get(r, (int64_t)length + 1, 1);
    if (copy) memcpy(copy, begin, length);
    return copy ? copy : "scene";
}

static void tell(const reader_t *r) {
    int32_t kept = 0;
    for (const drape_i_problem *p = r->problems.first; p; p = p->next, kept++)
        r->listener->problem(r->listener->user, p, 0);
    if (r->problems.count > kept) r->listener->problem(r->listener->user, NULL, r->problems.count - kept);
}

static drape_status report(reader_t *r) {
    const drape_scene_options *o = r->options;
    for (const drape_i_problem *p = r->problems.first; p && o->problem; p = p->next)
        o->problem(o->problem_user, p->text);
    if (r->listener) tell(r);
    if (r->problems.status == DRAPE_ERROR_MEMORY)
        return drape_i_fail(r->ctx, DRAPE_ERROR_MEMORY, "%s: out of memory", r->path);
    if (!r->problems.first) return DRAPE_OK;
    return drape_i_fail(r->ctx, r->problems.status, "%s", r->problems.first->text);
}

/* The files that were read, in their order. */
static void list_files(reader_t *r) {
    const char **list = drape_i_scene_get(r, r->files, sizeof *list);
    int32_t i = r->files;
    for (const struct drape_i_file_read *f = r->last_file; f && list; f = f->before) list[--i] = f->path;
    r->out->file = list;
    r->out->files = list ? r->files : 0;
}

static drape_status parse(reader_t *r, const char *name, const char *text, int64_t size) {
    drape_i_c_locale locale;
    drape_status status = drape_i_c_locale_enter(r->ctx, &locale);
    if (status) return status;
    drape_scene *s = &r->out->scene;
    *s = (drape_scene){.forces = drape_forces_defaults(),
                       .cloth = drape_cloth_defaults(),
                       .solve = drape_solve_defaults(),
                       .integration = drape_integration_defaults()};
    s->name = stem(r, name);
    drape_i_node *root = drape_i_yaml_parse(&r->problems, name, text, size);
    for (int32_t i = 0; root && i < r->options->set_count; i++)
        drape_i_yaml_override(&r->problems, root, r->options->set[i]);
    if (root) read_root(r, root);
    list_files(r);
    drape_i_c_locale_leave(&locale);
    return report(r);
}

static drape_status check_options(drape_context *ctx, const drape_scene_options *o) {
    if (!o) return DRAPE_OK;
    if (o->resolution && (o->resolution < DRAPE_I_LEAST_RESOLUTION || o->resolution > DRAPE_I_MOST_RESOLUTION))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "resolution is %d; it must lie in %d..%d", o->resolution,
                            DRAPE_I_LEAST_RESOLUTION, DRAPE_I_MOST_RESOLUTION);
    if (o->set_count < 0 || (o->set_count > 0 && !o->set))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_scene_options: no list of %d settings", o->set_count);
    if (!(o->jitter >= 0 && o->jitter <= 1))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "jitter is %g m; it must lie in 0..1", o->jitter);
    return drape_i_check_reserved(ctx, "drape_scene_options", o->reserved, sizeof o->reserved / sizeof *o->reserved);
}

/* Files are looked for beside a name in the folder. */
static drape_status find_folder(reader_t *r, const char *folder) {
    static const char name[] = "/scene";
    size_t length = strlen(folder);
    char *path = drape_i_arena_get(r->ctx, &r->out->arena, (int64_t)(length + sizeof name), 1);
    if (!path) return DRAPE_ERROR_MEMORY;
    memcpy(path, folder, length);
    memcpy(path + length, name, sizeof name);
    r->path = path;
    return DRAPE_OK;
}

/* How a scene is read; all may be NULL. */
typedef struct manner {
    const drape_scene_options *options;
    const drape_i_scene_listener *listener;
    const drape_i_windows *windows;
} manner;

static drape_status parse_scene(drape_context *ctx, const char *name, const char *text, int64_t size, manner how,
                                drape_loaded_scene **out) {
    static const drape_scene_options none;
    const drape_scene_options *options = how.options;
    drape_loaded_scene *loaded;
    *out = NULL;
    drape_status status = check_options(ctx, options);
    if (status) return status;
    if (size < 0 || size > MOST_BYTES)
        return drape_i_fail(ctx, DRAPE_ERROR_FORMAT, "%s: %lld bytes are too many for a scene; is it a scene file?",
                            name, (long long)size);
    if (!DRAPE_NEW(ctx, loaded, 1)) return DRAPE_ERROR_MEMORY;
    loaded->ctx = ctx;
    reader_t r = {.ctx = ctx, .out = loaded, .options = options ? options : &none, .path = name};
    r.listener = how.listener;
    r.windows = how.windows;
    r.problems = (drape_i_problems){.ctx = ctx, .arena = &loaded->arena};
    if (options && options->folder) status = find_folder(&r, options->folder);
    if (!status) status = parse(&r, name, text, size);
    if (status) drape_loaded_scene_destroy(loaded);
    else *out = loaded;
    return status;
}

drape_status drape_scene_parse(drape_context *ctx, const char *name, const char *text, int64_t size,
                               const drape_scene_options *options, drape_loaded_scene **out) {
    if (out) *out = NULL;
    if (!ctx || !name || !text || !out)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_scene_parse: name, text or out is NULL");
    return parse_scene(ctx, name, text, size, (manner){options, NULL, NULL}, out);
}

static drape_status read_file(drape_context *ctx, const char *path, manner how, drape_loaded_scene **out) {
    char *text;
    int64_t size;
    drape_status status = drape_i_file_read(ctx, path, &text, &size);
    if (status) return status;
    status = parse_scene(ctx, path, text, size, how, out);
    drape_i_free(ctx, text, size + 1, 1);
    return status;
}

/* ---- the scenes that ship with the program ----
 *
 * To add one: scenes/NAME.yaml, and two lines here. CMake embeds the files as drape_i_scene_NAME_yaml, ending in a
 * zero. */

extern const unsigned char drape_i_scene_pinned_yaml[], drape_i_scene_drooping_yaml[], drape_i_scene_reentrant_yaml[],
    drape_i_scene_four_corners_yaml[], drape_i_scene_chen_yaml[], drape_i_scene_flag_yaml[],
    drape_i_scene_curtain_yaml[], drape_i_scene_hammock_yaml[], drape_i_scene_banner_yaml[],
    drape_i_scene_drop_horizontal_yaml[], drape_i_scene_sphere_yaml[], drape_i_scene_tablecloth_yaml[],
    drape_i_scene_tablecloth_square_yaml[], drape_i_scene_tablecloth_pulled_yaml[], drape_i_scene_slope_yaml[],
    drape_i_scene_needles_yaml[], drape_i_scene_drop_vertical_yaml[], drape_i_scene_funnel_yaml[],
    drape_i_scene_stack_yaml[], drape_i_scene_rollers_yaml[], drape_i_scene_pinch_yaml[], drape_i_scene_twist_yaml[],
    drape_i_scene_knot_yaml[], drape_i_scene_walk_yaml[], drape_i_scene_character_yaml[], drape_i_scene_apron_yaml[],
    drape_i_scene_character_run_yaml[];

static const struct entry {
    const char *name, *description;
    const unsigned char *text;
    const char *stand_in; /* the scene that runs where its files are not at hand; NULL: it needs none */
} shipped[] = {
    {"flag", "a flag of silk on its pole, in the wind", drape_i_scene_flag_yaml, NULL},
    {"curtain", "a curtain on rings, drawn aside and let back", drape_i_scene_curtain_yaml, NULL},
    {"hammock", "a hammock of denim under a canopy of cotton: two pieces", drape_i_scene_hammock_yaml, NULL},
    {"banner", "denim against silk, side by side", drape_i_scene_banner_yaml, NULL},
    {"apron", "an apron with a pocket and buttons is tied around a body", drape_i_scene_apron_yaml, NULL},
    {"pinned", "1 m x 1 m of cotton held at all edges sinks under gravity", drape_i_scene_pinned_yaml, NULL},
    {"drooping", "1 m x 1 m of cotton held at two opposite edges sinks under gravity", drape_i_scene_drooping_yaml,
     NULL},
    {"reentrant", "an L-shape of cotton held along its inner corner droops", drape_i_scene_reentrant_yaml, NULL},
    {"four-corners", "four corners move up and down, no gravity (Ascher and Boxerman 2003)",
     drape_i_scene_four_corners_yaml, NULL},
    {"drop-horizontal", "a sheet falls flat on a box with a hole", drape_i_scene_drop_horizontal_yaml, NULL},
    {"sphere", "a sheet falls over a ball that turns", drape_i_scene_sphere_yaml, NULL},
    {"tablecloth", "a tablecloth falls on a round table", drape_i_scene_tablecloth_yaml, NULL},
    {"tablecloth-square", "a tablecloth falls on a square table", drape_i_scene_tablecloth_square_yaml, NULL},
    {"tablecloth-pulled", "a tablecloth is pulled off a round table", drape_i_scene_tablecloth_pulled_yaml, NULL},
    {"slope", "a sheet on an inclined plane, held by friction", drape_i_scene_slope_yaml, NULL},
    {"needles", "a sheet falls on 10 x 10 blunt needles", drape_i_scene_needles_yaml, NULL},
    {"drop-vertical", "a sheet falls edge-on on a box with a hole, and folds", drape_i_scene_drop_vertical_yaml,
     NULL},
    {"funnel", "three sheets are pushed through a funnel", drape_i_scene_funnel_yaml, NULL},
    {"stack", "ten sheets fall on each other, and a ball is thrown into them", drape_i_scene_stack_yaml, NULL},
    {"rollers", "a sheet is drawn through a narrow gap between two rollers", drape_i_scene_rollers_yaml, NULL},
    {"twist", "a tube whose ends turn against each other", drape_i_scene_twist_yaml, NULL},
    {"knot", "a ribbon in an overhand knot is pulled tight", drape_i_scene_knot_yaml, NULL},
    {"pinch", "two balls close on a sheet, overlap, and open again", drape_i_scene_pinch_yaml, NULL},
    {"walk", "trousers and a skirt on a body that walks", drape_i_scene_walk_yaml, NULL},
    {"character", "trousers and a T-shirt on a body that walks, from files (--data); without them, walk",
     drape_i_scene_character_yaml, "walk"},
    {"character-run", "the same body in a hurry, from the same files; without them, walk",
     drape_i_scene_character_run_yaml, "walk"},
    {"chen", "a small sheet held at its corners, pushed in the middle (Chen's MPCG report)", drape_i_scene_chen_yaml,
     NULL},
};

enum { SHIPPED = sizeof shipped / sizeof *shipped };

const char *drape_scene_name(int32_t i) { return i >= 0 && i < SHIPPED ? shipped[i].name : NULL; }
const char *drape_scene_description(int32_t i) { return i >= 0 && i < SHIPPED ? shipped[i].description : NULL; }
const char *drape_scene_text(int32_t i) { return i >= 0 && i < SHIPPED ? (const char *)shipped[i].text : NULL; }

const char *drape_scene_stand_in(int32_t i) { return i >= 0 && i < SHIPPED ? shipped[i].stand_in : NULL; }

static const char *text_of(const char *name) {
    int32_t i = 0;
    while (strcmp(shipped[i].name, name) != 0) i++;
    return (const char *)shipped[i].text;
}

static drape_status read_shipped(drape_context *ctx, const char *name, manner how, drape_loaded_scene **out) {
    const char *names[MOST_NAMES + 1] = {0};
    for (int32_t i = 0; i < MOST_NAMES && drape_scene_name(i); i++) {
        const char *text = drape_scene_text(i);
        names[i] = drape_scene_name(i);
        if (shipped[i].stand_in && !(how.options && how.options->folder)) text = text_of(shipped[i].stand_in);
        if (strcmp(names[i], name) == 0) return parse_scene(ctx, name, text, (int64_t)strlen(text), how, out);
    }
    char file[256];
    int length = snprintf(file, sizeof file, "%s.yaml", name);
    if (length > 0 && length < (int)sizeof file && access(file, R_OK) == 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "there is no built-in scene \"%s\", but there is a file %s; did you mean that?", name,
                            file);
    const char *nearest = drape_i_nearest(name, names);
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "unknown scene \"%s\"%s%s%s (`drape scenes` lists them)", name,
                        nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
}

/* ---- by name ---- */

drape_status drape_scene_load(drape_context *ctx, const char *name, const drape_scene_options *options,
                              drape_loaded_scene **out) {
    if (out) *out = NULL;
    if (!ctx || !name || !out)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_scene_load: name or out is NULL");
    return drape_i_scene_load(ctx, name, options, NULL, out);
}

static drape_status load(drape_context *ctx, const char *name, manner how, drape_loaded_scene **out) {
    *out = NULL;
    bool file = strchr(name, '/') || drape_i_ends_in(name, ".yaml") || drape_i_ends_in(name, ".yml");
    return file ? read_file(ctx, name, how, out) : read_shipped(ctx, name, how, out);
}

drape_status drape_i_scene_load(drape_context *ctx, const char *name, const drape_scene_options *options,
                                const drape_i_scene_listener *listener, drape_loaded_scene **out) {
    return load(ctx, name, (manner){options, listener, NULL}, out);
}

drape_status drape_i_scene_load_part(drape_context *ctx, const char *name, const drape_scene_options *options,
                                     const drape_i_windows *windows, drape_loaded_scene **out) {
    return load(ctx, name, (manner){options, NULL, windows}, out);
}

drape_status drape_scene_builtin(drape_context *ctx, const char *name, int32_t resolution, drape_loaded_scene **out) {
    drape_scene_options options = {.resolution = resolution};
    if (out) *out = NULL;
    if (!ctx || !name || !out)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "drape_scene_builtin: name or out is NULL");
    return read_shipped(ctx, name, (manner){&options, NULL, NULL}, out);
}

const char *drape_loaded_scene_file(const drape_loaded_scene *loaded, int32_t index) {
    return loaded && index >= 0 && index < loaded->files ? loaded->file[index] : NULL;
}

const drape_scene *drape_loaded_scene_data(const drape_loaded_scene *loaded) {
    return loaded ? &loaded->scene : NULL;
}

drape_scene *drape_loaded_scene_edit(drape_loaded_scene *loaded) { return loaded ? &loaded->scene : NULL; }

void drape_loaded_scene_destroy(drape_loaded_scene *loaded) {
    if (!loaded) return;
    drape_context *ctx = loaded->ctx;
    drape_i_arena_free(ctx, &loaded->arena);
    DRAPE_FREE(ctx, loaded, 1);
}
