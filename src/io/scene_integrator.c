/* scene_integrator.c: the section `integrator` of a scene: a word, or a map. */
#include "io/scene_reader.h"
#include "sim/sim.h"

#include <math.h>
#include <string.h>

enum { MOST_ITERATIONS = 1000000 };

static const drape_i_range TOLERANCE = {0, 0.5, false};

static const char *failure_name(int32_t i) {
    static const char *const names[] = {"divide", "stop", "continue"};
    return i >= 0 && i < 3 ? names[i] : NULL;
}
static const char *guess_name(int32_t i) {
    static const char *const names[] = {"lower", "extrapolation", "state"};
    return i >= 0 && i < 3 ? names[i] : NULL;
}

/* Words of enums; those that begin with a default, for zeros in a struct, have no word for it in a file. */
static const char *newton_name(int32_t i) {
    return i < 0 || i + DRAPE_ODE_NEWTON == DRAPE_ODE_MATRIX_FREE /* the last; not for scenes */
               ? NULL
               : drape_ode_newton_kind_name((drape_ode_newton_kind)(i + DRAPE_ODE_NEWTON));
}
static const char *search_name(int32_t i) {
    return i < 0 ? NULL : drape_ode_search_name((drape_ode_search)(i + DRAPE_ODE_SEARCH_OFF));
}
static const char *control_name(int32_t i) { return drape_ode_control_name((drape_ode_control)i); }
static const char *unknowns_name(int32_t i) { return drape_unknowns_name((drape_unknowns)i); }
static const char *mass_name(int32_t i) { return drape_mass_matrix_name((drape_mass_matrix)i); }

/* A tolerance of 0 in a file is none; in a struct zero would be the default. */
static double none_if_zero(double tolerance) { return tolerance == 0 ? -1 : tolerance; }

static bool given(const drape_i_node *map, const char *key) { return drape_i_node_find(map, key) != NULL; }

/* A kind that its name alone can give, as in `newton: inexact`. */
static const drape_i_node *map_or_word(reader_t *r, const drape_i_node *map, const char *key,
                                       const char *(*name)(int32_t), int32_t *out) {
    const drape_i_node *node = drape_i_node_find(map, key);
    if (!node || node->kind == DRAPE_I_MAP) return node;
    drape_i_read_index(r, map, key, name, out);
    return NULL;
}

static void read_newton(reader_t *r, const drape_i_node *section, drape_ode_newton *n) {
    static const char *const keys[] = {"kind",      "eta",         "max_iterations", "rtol", "atol",
                                       "tolerance", "line_search", "guess",          NULL};
    const drape_i_range eta = {0, 0.99, true};
    int32_t kind = (int32_t)n->kind - DRAPE_ODE_NEWTON, search = (int32_t)n->line_search - DRAPE_ODE_SEARCH_OFF;
    int32_t guess = n->guess_from_state ? 2 : n->guess_extrapolated;
    const drape_i_node *map = map_or_word(r, section, "newton", newton_name, &kind);
    if (map && drape_i_read_map(r, map, keys)) {
        drape_i_read_index(r, map, "kind", newton_name, &kind);
        drape_i_read_number(r, map, "eta", DRAPE_I_PLAIN, eta, &n->eta);
        drape_i_read_whole(r, map, "max_iterations", 1, MOST_ITERATIONS, &n->max_iterations);
        drape_i_read_number(r, map, "rtol", DRAPE_I_PLAIN, TOLERANCE, &n->rtol);
        drape_i_read_number(r, map, "atol", DRAPE_I_SPEED, DRAPE_I_NOT_NEGATIVE, &n->atol);
        drape_i_read_number(r, map, "tolerance", DRAPE_I_LENGTH, DRAPE_I_POSITIVE, &n->tolerance);
        drape_i_read_index(r, map, "line_search", search_name, &search);
        drape_i_read_index(r, map, "guess", guess_name, &guess);
        if (given(map, "rtol") && given(map, "atol") && n->rtol == 0 && n->atol == 0)
            drape_i_problem_at(&r->problems, map, true,
                               "newton: rtol and atol are both 0; one of them must be above 0");
        if (given(map, "tolerance") && (given(map, "rtol") || given(map, "atol")))
            drape_i_problem_at(&r->problems, drape_i_node_find(map, "tolerance"), false,
                               "newton: tolerance replaces rtol and atol; give either tolerance or these two");
        if (given(map, "rtol")) n->rtol = none_if_zero(n->rtol);
        if (given(map, "atol")) n->atol = none_if_zero(n->atol);
    }
    n->kind = (drape_ode_newton_kind)(kind + DRAPE_ODE_NEWTON);
    n->line_search = (drape_ode_search)(search + DRAPE_ODE_SEARCH_OFF);
    n->guess_from_state = guess == 2;
    n->guess_extrapolated = guess == 1;
}

static void read_control(reader_t *r, const drape_i_node *section, drape_ode_settings *s) {
    static const char *const keys[] = {"by", "rtol", "atol", "atol_v", "min_step", "max_step", "few", "many", NULL};
    int32_t by = (int32_t)s->control;
    const drape_i_node *map = map_or_word(r, section, "control", control_name, &by);
    if (map && drape_i_read_map(r, map, keys)) {
        drape_i_read_index(r, map, "by", control_name, &by);
        drape_i_read_number(r, map, "rtol", DRAPE_I_PLAIN, TOLERANCE, &s->rtol);
        drape_i_read_number(r, map, "atol", DRAPE_I_LENGTH, DRAPE_I_NOT_NEGATIVE, &s->atol);
        drape_i_read_number(r, map, "atol_v", DRAPE_I_SPEED, DRAPE_I_NOT_NEGATIVE, &s->atol_v);
        drape_i_read_number(r, map, "min_step", DRAPE_I_TIME, DRAPE_I_NOT_NEGATIVE, &s->min_step);
        drape_i_read_number(r, map, "max_step", DRAPE_I_TIME, DRAPE_I_NOT_NEGATIVE, &s->max_step);
        drape_i_read_whole(r, map, "few", 1, MOST_ITERATIONS, &s->few);
        drape_i_read_whole(r, map, "many", 1, MOST_ITERATIONS, &s->many);
    }
    s->control = (drape_ode_control)by;
    s->rtol = none_if_zero(s->rtol);
    s->atol = none_if_zero(s->atol);
    s->atol_v = none_if_zero(s->atol_v); /* that is as atol */
}

static void read_section(reader_t *r, const drape_i_node *map, drape_integration *s) {
    static const char *const keys[] = {"method", "newton", "control", "unknowns", "mass", "on_failure", NULL};
    int32_t unknowns = (int32_t)s->unknowns, mass = (int32_t)s->mass;
    int32_t failure = s->ode.newton.keep_unconverged ? 2 : s->stop_on_failure;
    if (!drape_i_read_map(r, map, keys)) return;
    drape_i_read_name(r, map, "method", drape_integrator_name, &s->ode.method);
    read_newton(r, map, &s->ode.newton);
    read_control(r, map, &s->ode);
    drape_i_read_index(r, map, "unknowns", unknowns_name, &unknowns);
    drape_i_read_index(r, map, "mass", mass_name, &mass);
    drape_i_read_index(r, map, "on_failure", failure_name, &failure);
    s->ode.newton.keep_unconverged = failure == 2;
    s->stop_on_failure = failure == 1;
    s->unknowns = (drape_unknowns)unknowns;
    s->mass = (drape_mass_matrix)mass;
}

/* The option wins over the file. */
static void read_option(reader_t *r, drape_integration *s) {
    const char *wanted = r->options->integrator;
    if (!wanted) return;
    for (int32_t i = 0; drape_integrator_name(i); i++)
        if (strcmp(drape_integrator_name(i), wanted) == 0) {
            s->ode.method = drape_integrator_name(i);
            return;
        }
    const char *names[DRAPE_I_MOST_NAMES + 1] = {0};
    char known[400];
    for (int32_t i = 0; i < DRAPE_I_MOST_NAMES && drape_integrator_name(i); i++) names[i] = drape_integrator_name(i);
    drape_i_join(names, known, sizeof known);
    drape_i_problem_at(&r->problems, NULL, false, "unknown integrator \"%s\"; known: %s", wanted, known);
}

/* Of things that are there, not all go together. */
static void check(reader_t *r, const drape_i_node *node, const drape_integration *s) {
    const drape_ode_settings *o = &s->ode;
    bool linearised = drape_i_integration_is_linearised(s);
    const drape_i_node *at = node && node->kind == DRAPE_I_MAP ? drape_i_node_find(node, "control") : NULL;
    if (linearised && o->control != DRAPE_ODE_FIXED)
        drape_i_problem_at(&r->problems, at, false,
                           "the integrator %s takes only fixed steps; use control: fixed, or implicit-euler",
                           o->method);
    if (!linearised && o->control == DRAPE_ODE_NEWTONS && !drape_ode_method_implicit(o->method))
        drape_i_problem_at(
            &r->problems, at, false,
            "the integrator %s has no Newton iterations that could control its steps; use control: error", o->method);
    if (o->control == DRAPE_ODE_NEWTONS && o->few >= o->many)
        drape_i_problem_at(&r->problems, at, false, "control: few is %d; it must be below many, %d", o->few, o->many);
    if (o->max_step > 0 && o->max_step < o->min_step)
        drape_i_problem_at(&r->problems, at, false, "control: max_step is %g s; it must not be below min_step, %g s",
                           o->max_step, o->min_step);
    if (o->rtol <= 0 && o->atol <= 0)
        drape_i_problem_at(&r->problems, at, false, "control: rtol and atol are both 0; one of them must be above 0");
}

/* Steps by their error in metres per frame. The time of a frame is known by now. */
static void read_accuracy(reader_t *r, const drape_i_node *root, drape_integration *s) {
    const drape_i_node *time = drape_i_node_find(root, "time"), *integrator = drape_i_node_find(root, "integrator");
    const drape_i_node *at = time && time->kind == DRAPE_I_MAP ? drape_i_node_find(time, "accuracy") : NULL;
    const drape_i_node *control =
        integrator && integrator->kind == DRAPE_I_MAP ? drape_i_node_find(integrator, "control") : NULL;
    const drape_scene *scene = &r->out->scene;
    double accuracy = 0;
    if (!at || !drape_i_read_number(r, time, "accuracy", DRAPE_I_LENGTH, DRAPE_I_POSITIVE, &accuracy)) return;
    if (control) {
        drape_i_problem_at(&r->problems, control, true,
                           "control and time.accuracy both set the length of steps; give only one of them");
        return;
    }
    if (drape_i_integration_is_linearised(s)) {
        drape_i_problem_at(&r->problems, at, true,
                           "accuracy: the integrator %s takes fixed steps and does not estimate its error; use step "
                           "instead, or another integrator, such as bdf2",
                           s->ode.method);
        return;
    }
    s->ode.control = DRAPE_ODE_ERROR;
    s->ode.rtol = -1;
    s->ode.atol = accuracy;
    s->ode.atol_v = INFINITY;
    s->ode.per = scene->step * scene->steps_per_frame;
    s->ode.largest = true;
}

void drape_i_read_integrator(reader_t *r, const drape_i_node *root) {
    const drape_i_node *node = drape_i_node_find(root, "integrator");
    drape_integration *s = &r->out->scene.integration;
    if (node && node->kind == DRAPE_I_MAP) read_section(r, node, s);
    else if (node) drape_i_read_name(r, root, "integrator", drape_integrator_name, &s->ode.method);
    read_option(r, s);
    check(r, node, s);
    read_accuracy(r, root, s);
}
