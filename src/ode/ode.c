/* ode.c: creating an integrator, its state and its past. */
#include "ode/ode.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

drape_ode_settings drape_ode_defaults(void) {
    return (drape_ode_settings){
        .method = "implicit-euler",
        .rtol = 1e-3,
        .atol = 1e-6,
        .max_steps = 10000000,
        .few = 2,
        .many = 6,
        .newton = {.kind = DRAPE_ODE_NEWTON,
                   .max_iterations = 20,
                   .rtol = 1e-9,
                   .atol = 1e-12,
                   .line_search = DRAPE_ODE_SEARCH_DESCENT,
                   .restart = 30,
                   .max_products = 300},
    };
}

static void replace_zero(double *value, double usual) {
    if (*value == 0) *value = usual;
}

/* A tolerance: zero becomes the default, and a negative one, "none", becomes zero. */
static void resolve_tolerance(double *value, double usual) {
    replace_zero(value, usual);
    if (*value < 0) *value = 0;
}

/* Zeros become defaults. */
static drape_ode_settings resolve(const drape_ode_settings *given) {
    const drape_ode_settings usual = drape_ode_defaults();
    drape_ode_settings s = given ? *given : usual;
    drape_ode_newton *n = &s.newton;
    if (!s.method) s.method = usual.method;
    resolve_tolerance(&s.rtol, usual.rtol);
    resolve_tolerance(&s.atol, usual.atol);
    if (s.atol_v < 0) s.atol_v = 0;
    if (s.max_steps == 0) s.max_steps = usual.max_steps;
    if (s.few == 0) s.few = usual.few;
    if (s.many == 0) s.many = usual.many;
    if (n->kind == DRAPE_ODE_NEWTON_DEFAULT) n->kind = usual.newton.kind;
    if (n->max_iterations == 0) n->max_iterations = usual.newton.max_iterations;
    resolve_tolerance(&n->rtol, usual.newton.rtol);
    resolve_tolerance(&n->atol, usual.newton.atol);
    if (n->tolerance < 0) n->tolerance = 0;
    if (n->restart == 0) n->restart = usual.newton.restart;
    if (n->max_products == 0) n->max_products = usual.newton.max_products;
    if (n->line_search == DRAPE_ODE_SEARCH_DEFAULT) n->line_search = usual.newton.line_search;
    return s;
}

/* ---- Names ---- */

const char *drape_ode_reason_name(drape_ode_reason reason) {
    static const char *const names[] = {"done",
                                        "Newton iteration limit",
                                        "Newton diverged",
                                        "line search failed",
                                        "linear solver failed",
                                        "not a finite number",
                                        "unstable step",
                                        "step too small",
                                        "step limit",
                                        "event"};
    return (unsigned)reason < sizeof names / sizeof *names ? names[reason] : NULL;
}

const char *drape_ode_newton_kind_name(drape_ode_newton_kind kind) {
    static const char *const names[] = {"default",    "newton",     "inexact",    "eisenstat-walker",
                                        "simplified", "linearised", "matrix-free"};
    return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

const char *drape_ode_control_name(drape_ode_control control) {
    static const char *const names[] = {"fixed", "error", "newtons"};
    return (unsigned)control < sizeof names / sizeof *names ? names[control] : NULL;
}

const char *drape_ode_search_name(drape_ode_search search) {
    static const char *const names[] = {"default", "off", "descent", "slope"};
    return (unsigned)search < sizeof names / sizeof *names ? names[search] : NULL;
}

const char *drape_ode_filtered_name(drape_ode_filtered what) {
    static const char *const names[] = {"residual", "error of x", "error of v"};
    return (unsigned)what < sizeof names / sizeof *names ? names[what] : NULL;
}

/* ---- Checking what was given ---- */

static drape_status bad(drape_context *ctx, const char *what, double value, const char *wanted) {
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "ode: %s is %g, but must be %s", what, value, wanted);
}

static bool are_tolerances(double rtol, double atol) {
    return rtol >= 0 && atol >= 0 && isfinite(rtol) && isfinite(atol) && rtol + atol > 0;
}

static drape_status check_newton(drape_context *ctx, const drape_ode_newton *n) {
    if (!drape_ode_newton_kind_name(n->kind)) return bad(ctx, "newton.kind", n->kind, "a drape_ode_newton_kind");
    if (!(n->eta >= 0 && n->eta < 1)) return bad(ctx, "newton.eta", n->eta, "at least 0 and below 1");
    if (!drape_ode_search_name(n->line_search))
        return bad(ctx, "newton.line_search", n->line_search, "a drape_ode_search");
    if (n->max_iterations < 1) return bad(ctx, "newton.max_iterations", n->max_iterations, "at least 1");
    if (n->restart < 1 || n->restart > DRAPE_ODE_MOST_RESTART)
        return bad(ctx, "newton.restart", n->restart, "1 to 256");
    if (n->max_products < 1) return bad(ctx, "newton.max_products", n->max_products, "at least 1");
    if (!(n->tolerance >= 0) || !isfinite(n->tolerance))
        return bad(ctx, "newton.tolerance", n->tolerance, "finite and at least 0");
    if (!are_tolerances(n->rtol, n->atol))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "ode: newton.rtol %g and newton.atol %g must be finite, and one of them above 0 (0 in "
                            "the settings is the default; negative is none)",
                            n->rtol, n->atol);
    return DRAPE_OK;
}

static drape_status check_steps(drape_context *ctx, const drape_ode_settings *s) {
    if (!isfinite(s->step) || s->step < 0 || (s->step == 0 && s->control != DRAPE_ODE_ERROR))
        return bad(ctx, "step", s->step, "a finite number of seconds above 0");
    if (!(s->min_step >= 0) || !(s->max_step >= 0) || (s->max_step > 0 && s->max_step < s->min_step))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "ode: min_step %g s and max_step %g s must not be negative, nor in the wrong order",
                            s->min_step, s->max_step);
    if (s->max_steps < 1) return bad(ctx, "max_steps", (double)s->max_steps, "at least 1");
    if (!are_tolerances(s->rtol, s->atol) || !(s->atol_v >= 0))
        return drape_i_fail(
            ctx, DRAPE_ERROR_ARGUMENT,
            "ode: rtol %g and atol %g must be finite, atol_v %g a number, and rtol or atol above 0 (0 "
            "in the settings is the default; negative is none)",
            s->rtol, s->atol, s->atol_v);
    if (!(s->per >= 0) || !isfinite(s->per)) return bad(ctx, "per", s->per, "a finite number of seconds, 0 or more");
    if (s->control == DRAPE_ODE_NEWTONS && !(s->few >= 1 && s->many > s->few))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "ode: few %d must be at least 1 and below many %d", s->few,
                            s->many);
    return DRAPE_OK;
}

static drape_status check_system(drape_context *ctx, const drape_ode_system *y, const drape_i_ode_method *m,
                                 bool matrix_free) {
    if (y->order != 1 && y->order != 2) return bad(ctx, "the system's order", y->order, "1 or 2");
    if (y->size < 1 || y->size > INT64_MAX / 1024)
        return bad(ctx, "the system's size", (double)y->size, "at least 1");
    if (!y->f) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "ode: the system has no f");
    if (m->second_order_only && y->order == 1)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "ode: %s is for second order systems only", m->name);
    if (m->implicit && !matrix_free && (!y->linear.prepare || !y->linear.solve))
        return drape_i_fail(
            ctx, DRAPE_ERROR_ARGUMENT,
            "ode: %s is implicit and needs linear.prepare and linear.solve (drape_ode_dense has both; "
            "newton.kind DRAPE_ODE_MATRIX_FREE needs neither)",
            m->name);
    if (y->order == 2 && !y->mass_times != !y->mass_solve && (m->implicit ? !y->mass_times : !y->mass_solve))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "ode: %s needs the system's %s", m->name,
                            m->implicit ? "mass_times" : "mass_solve");
    if (m->implicit && m->keeps_slope && y->mass_times && !y->mass_solve)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "ode: %s needs the system's mass_solve for its first slope",
                            m->name);
    if (y->order == 1 && (y->mass_times || y->mass_solve))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "ode: a first order system has no mass");
    return DRAPE_OK;
}

static drape_status unknown_method(drape_context *ctx, const char *method) {
    char known[DRAPE_I_ODE_TEXT] = "";
    size_t used = 0;
    for (int32_t i = 0; drape_ode_method_name(i) && used < sizeof known; i++)
        used +=
            (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", drape_ode_method_name(i));
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "ode: unknown method \"%s\"; known: %s", method, known);
}

static drape_status choose_method(drape_context *ctx, const drape_ode_settings *s, drape_i_ode_method *out) {
    const drape_i_ode_method *found = drape_i_ode_method_find(s->tableau ? "rk4" : s->method);
    if (!found) return unknown_method(ctx, s->method);
    *out = *found;
    if (s->tableau) {
        drape_status status = drape_i_ode_tableau_check(ctx, s->tableau);
        if (status) return status;
        out->name = s->tableau->name ? s->tableau->name : "your Butcher table";
        out->tableau = s->tableau; /* in rk4's row, which has no extension of its own */
        out->order = s->tableau->order;
        out->estimates = s->tableau->embedded != NULL;
    }
    if (s->control == DRAPE_ODE_NEWTONS && !out->implicit)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "ode: %s has no Newton iterations that could control its steps", out->name);
    if (!drape_ode_control_name(s->control)) return bad(ctx, "control", s->control, "a drape_ode_control");
    return DRAPE_OK;
}

/* ---- Memory ---- */

/* Hands out one vector after the other; with memory NULL it only counts. */
typedef struct carver {
    double *memory;
    int64_t used;
} carver;

static double *carve(void *from, int64_t count) {
    enum { LINE = 8 }; /* doubles in a cache line */
    carver *c = from;
    double *vector = c->memory ? c->memory + c->used : NULL;
    c->used += (count + LINE - 1) / LINE * LINE;
    return vector;
}

static void carve_all(drape_ode *ode, carver *c) {
    drape_i_ode_newton_memory *m = &ode->newton;
    double **whole[] = {&ode->next, &ode->big, &ode->slope, &ode->next_slope, &ode->error};
    for (int32_t i = 0; i < ode->past_room; i++) ode->past[i] = carve(c, ode->length);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) *whole[i] = carve(c, ode->length);
    if (ode->method.tableau) {
        for (int32_t i = 1; i < ode->method.tableau->stages; i++) ode->stage[i] = carve(c, ode->length);
        ode->stage_state = carve(c, ode->length);
    }
    if (ode->settings.dense_output) {
        drape_i_ode_span *span = &ode->span;
        double **kept[] = {&span->old_slope, &span->middle, &span->middle_slope, &span->scratch, &span->spare};
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) *kept[i] = carve(c, ode->length);
    }
    if (!ode->method.implicit) return;
    double **halves[] = {&m->r, &m->s, &m->force, &m->product}, **states[] = {&m->psi, &m->Y, &m->first};
    if (ode->system.lag || ode->settings.newton.tolerance > 0) m->extrapolated = carve(c, ode->length);
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) *halves[i] = carve(c, ode->size);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) *states[i] = carve(c, ode->length);
    if (ode->settings.newton.kind == DRAPE_ODE_MATRIX_FREE) drape_i_ode_krylov_carve(ode, carve, c);
}

static drape_status allocate(drape_ode *ode) {
    carver count = {0};
    carve_all(ode, &count);
    ode->memory_count = count.used;
    if (!DRAPE_NEW(ode->ctx, ode->memory, count.used)) return DRAPE_ERROR_MEMORY;
    carver real = {ode->memory, 0};
    carve_all(ode, &real);
    return DRAPE_OK;
}

static drape_status check_reserved_fields(drape_context *ctx, const drape_ode_system *system,
                                          const drape_ode_settings *s) {
    drape_status status = drape_i_check_reserved(ctx, "drape_ode_system", system->reserved, 3);
    if (!status) status = drape_i_check_reserved(ctx, "drape_ode_settings", s->reserved, 6);
    return status ? status : drape_i_check_reserved(ctx, "drape_ode_newton", s->newton.reserved, 2);
}

drape_status drape_ode_create(drape_context *ctx, const drape_ode_system *system, const drape_ode_settings *settings,
                              drape_ode **out) {
    drape_ode_settings s = resolve(settings);
    drape_i_ode_method method;
    drape_ode *ode;
    if (out) *out = NULL;
    if (!ctx || !out) return DRAPE_ERROR_ARGUMENT;
    if (!system) return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "ode: a system is needed, not NULL");
    drape_status status = check_reserved_fields(ctx, system, &s);
    if (!status) status = choose_method(ctx, &s, &method);
    if (!status) status = check_steps(ctx, &s);
    if (!status) status = check_newton(ctx, &s.newton);
    if (!status) status = check_system(ctx, system, &method, s.newton.kind == DRAPE_ODE_MATRIX_FREE);
    if (status) return status;
    if (!DRAPE_NEW(ctx, ode, 1)) return DRAPE_ERROR_MEMORY;
    ode->ctx = ctx;
    ode->system = *system;
    ode->settings = s;
    ode->method = method;
    ode->size = system->size;
    ode->length = system->order * system->size;
    ode->past_room = method.implicit ? method.order + 2 : 2; /* extrapolation of that order, and one to take back */
    status = allocate(ode);
    if (!status && system->stiffest && !method.implicit) status = drape_i_ode_shadow_create(ode);
    if (status) {
        drape_ode_destroy(ode);
        return status;
    }
    *out = ode;
    return DRAPE_OK;
}

void drape_ode_destroy(drape_ode *ode) {
    if (!ode) return;
    drape_context *ctx = ode->ctx;
    drape_ode_destroy(ode->shadow);
    drape_i_ode_watch_destroy(ctx, ode->watch);
    DRAPE_FREE(ctx, ode->memory, ode->memory_count);
    DRAPE_FREE(ctx, ode, 1);
}

/* ---- The state and its past ---- */

static drape_status check_state(drape_ode *ode, const double *values, const char *name) {
    for (int64_t i = 0; i < ode->size; i++)
        if (!isfinite(values[i]))
            return drape_i_fail(ode->ctx, DRAPE_ERROR_ARGUMENT, "ode: %s[%lld] of the start is %g", name,
                                (long long)i, values[i]);
    return DRAPE_OK;
}

drape_status drape_ode_start(drape_ode *ode, double t, const double *x, const double *v) {
    if (!ode) return DRAPE_ERROR_ARGUMENT;
    bool second = drape_i_ode_is_second(ode);
    if (!isfinite(t)) return bad(ode->ctx, "the time of the start", t, "finite");
    if (!x || !v != !second)
        return drape_i_fail(ode->ctx, DRAPE_ERROR_ARGUMENT, "ode: a start of %s",
                            second ? "a second order system needs x and v" : "a first order system needs x and no v");
    drape_status status = check_state(ode, x, second ? "x" : "y");
    if (!status && second) status = check_state(ode, v, "v");
    if (status) return status;
    ode->t = t;
    drape_i_vector_copy(ode->ctx, ode->size, x, ode->past[0]);
    if (second) drape_i_vector_copy(ode->ctx, ode->size, v, ode->past[0] + ode->size);
    drape_i_ode_forget(ode);
    ode->span.known = false;
    ode->text[0] = 0;
    return DRAPE_OK;
}

void drape_i_ode_forget(drape_ode *ode) {
    ode->past_count = 1;
    ode->slope_known = ode->slope_continues = ode->span.old_slope_known = false;
    ode->newton.made_c = ode->newton.rate = 0;
    ode->newton.guess_kept = 0;
    ode->control = (drape_i_ode_control_memory){0};
}

void drape_i_ode_push(drape_ode *ode, double h) {
    int32_t last = ode->past_room - 1;
    double *oldest = ode->past[last];
    for (int32_t j = last; j > 0; j--) {
        ode->past[j] = ode->past[j - 1];
        ode->past_step[j] = ode->past_step[j - 1];
    }
    ode->past[0] = ode->next;
    ode->past_step[0] = h;
    ode->next = oldest;
    if (ode->past_count < ode->past_room) ode->past_count++;
    if (!ode->method.keeps_slope) return; /* slope is that of the start and stays */
    double *slope = ode->slope;
    ode->slope = ode->next_slope;
    ode->next_slope = slope;
    ode->slope_known = ode->slope_continues = ode->next_slope_known;
    ode->next_slope_known = false;
}

void drape_i_ode_pop(drape_ode *ode) {
    int32_t last = ode->past_room - 1;
    double *newest = ode->past[0];
    for (int32_t j = 0; j < last; j++) {
        ode->past[j] = ode->past[j + 1];
        ode->past_step[j] = ode->past_step[j + 1];
    }
    ode->past[last] = newest;
    ode->past_count--;
    if (ode->method.keeps_slope) ode->slope_known = ode->slope_continues = false;
}

/* By the polynomial through as many states as the method's order has use for: its error is then of that order. */
/* out = the polynomial through the last `count` states, `ahead` steps of h after the last. */
static void extrapolate(drape_ode *ode, int32_t count, double h, double ahead, double *out) {
    double x[DRAPE_I_ODE_MOST_PAST] = {0}, weight[DRAPE_I_ODE_MOST_PAST], back = 0;
    for (int32_t j = 0; j < count; j++) {
        x[j] = -(back / h);
        back += ode->past_step[j];
    }
    drape_i_ode_value_weights(count, x, ahead, weight);
    drape_i_ode_sum sum = {0};
    for (int32_t j = 0; j < count; j++) drape_i_ode_sum_add(&sum, weight[j], ode->past[j]);
    drape_i_ode_sum_form(ode->ctx, &sum, ode->length, out);
}

void drape_i_ode_guess(drape_ode *ode, double h, double ahead) {
    const drape_ode_newton *newton = &ode->settings.newton;
    int32_t count = ode->past_count < ode->method.order + 1 ? ode->past_count : ode->method.order + 1;
    bool from_state = newton->guess_from_state || newton->kind == DRAPE_ODE_LINEARISED;
    extrapolate(ode, from_state ? 1 : count, h, ahead, ode->newton.Y);
    ode->newton.guessed = !from_state && count > 1;
    if (!ode->newton.extrapolated) return;
    if (from_state) extrapolate(ode, count, h, ahead, ode->newton.extrapolated);
    else drape_i_vector_copy(ode->ctx, ode->length, ode->newton.Y, ode->newton.extrapolated);
}

double drape_ode_time(const drape_ode *ode) { return ode ? ode->t : 0; }
const double *drape_ode_x(const drape_ode *ode) { return ode ? ode->past[0] : NULL; }
const double *drape_ode_v(const drape_ode *ode) { return ode ? drape_i_ode_velocity(ode, ode->past[0]) : NULL; }
drape_ode_counts drape_ode_count(const drape_ode *ode) { return ode ? ode->counts : (drape_ode_counts){0}; }
const char *drape_ode_explain(const drape_ode *ode) { return ode ? ode->text : ""; }

/* ---- What the system says ---- */

drape_ode_reason drape_i_ode_stop(drape_ode *ode, drape_ode_reason reason, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(ode->text, sizeof ode->text, format, arguments);
    va_end(arguments);
    return reason;
}

drape_status drape_i_ode_take(drape_ode *ode, drape_status said, const char *who, double t,
                              drape_ode_reason *reason) {
    if (said != DRAPE_ERROR_NUMBER) return said;
    *reason = drape_i_ode_stop(ode, DRAPE_ODE_NOT_FINITE, "%s cannot be computed at t = %g s", who, t);
    return DRAPE_OK;
}

bool drape_i_ode_prescribe(drape_ode *ode, double t, double c, const double *psi_x, double *Y) {
    drape_ode_point at = {t, c, psi_x, NULL};
    if (!ode->system.constrain || !drape_i_ode_is_second(ode)) return false;
    return ode->system.constrain(ode->system.user, &at, Y + ode->size);
}

drape_status drape_i_ode_derivative(drape_ode *ode, double t, double *Y, double *out, drape_ode_reason *reason) {
    const drape_ode_system *system = &ode->system;
    int64_t n = ode->size;
    bool second = drape_i_ode_is_second(ode);
    double *a = second ? out + n : out;
    ode->counts.f++;
    drape_status said = system->f(system->user, t, Y, drape_i_ode_velocity(ode, Y), a);
    if (!said && second && system->mass_solve) {
        ode->counts.mass_solves++;
        said = system->mass_solve(system->user, a);
    }
    if (second) drape_i_vector_copy(ode->ctx, n, Y + n, out);
    return said ? drape_i_ode_take(ode, said, "f", t, reason) : DRAPE_OK;
}
