/* events.c: times at which functions of the solution change their sign, located on the dense output.
 *
 * The signs at the ends of a step decide whether there is an event in it. The bracket [a, b] has the old sign at a
 * and the new one (or zero) at b. It is then shortened by the ITP method (Oliveira and Takahashi 2021). This never
 * takes more than one evaluation beyond those of bisection, and superlinearly fewer where g is smooth:
 *
 *   interpolate   x_f, where the line through both ends is zero
 *   truncate      x_t, x_f moved towards the middle by k_1 (b - a)^2
 *   project       x_t held within r of the middle, so that the bound of bisection stays
 *
 * with k_1 = 0.2 / (b_0 - a_0) and one evaluation of slack. The event is at b. */
#include "ode/ode.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double SHARE_OF_STEP = 1e-10, DIGITS = 8 * DBL_EPSILON, TRUNCATE = 0.2;
enum { SLACK = 1 };

typedef struct found {
    int32_t index;
    bool rising;
    double t;
} found;

struct drape_i_ode_watch {
    drape_ode_events events; /* its arrays are copied to the two below */
    drape_ode_direction *direction;
    bool *terminal;
    bool *ended; /* those that ended a step at ended_t */
    double ended_t;
    double *before, *after, *inside; /* g at the ends of a step, and in it */
    found *found;
};

/* ---- Setting ---- */

static drape_status bad(drape_ode *ode, const char *what) {
    return drape_i_fail(ode->ctx, DRAPE_ERROR_ARGUMENT, "ode: events: %s", what);
}

static drape_status check(drape_ode *ode, const drape_ode_events *e) {
    drape_status status = drape_i_check_reserved(ode->ctx, "drape_ode_events", e->reserved, 4);
    if (status) return status;
    if (!ode->settings.dense_output) return bad(ode, "they need settings.dense_output");
    if (e->count < 1 || e->count > DRAPE_ODE_MOST_EVENTS)
        return drape_i_fail(ode->ctx, DRAPE_ERROR_ARGUMENT, "ode: events: count is %d, but must be 1 to %d", e->count,
                            DRAPE_ODE_MOST_EVENTS);
    if (!e->g) return bad(ode, "there is no g");
    if (!(e->tolerance >= 0) || !isfinite(e->tolerance))
        return bad(ode, "the tolerance must be a finite number of seconds, 0 or more");
    for (int32_t i = 0; e->direction && i < e->count; i++)
        if ((unsigned)e->direction[i] > DRAPE_ODE_FALLING)
            return drape_i_fail(ode->ctx, DRAPE_ERROR_ARGUMENT, "ode: events: direction[%d] is %d", i,
                                (int)e->direction[i]);
    return DRAPE_OK;
}

void drape_i_ode_watch_destroy(drape_context *ctx, drape_i_ode_watch *w) {
    if (!w) return;
    int32_t n = w->events.count;
    DRAPE_FREE(ctx, w->direction, n);
    DRAPE_FREE(ctx, w->terminal, n);
    DRAPE_FREE(ctx, w->ended, n);
    DRAPE_FREE(ctx, w->before, n);
    DRAPE_FREE(ctx, w->after, n);
    DRAPE_FREE(ctx, w->inside, n);
    DRAPE_FREE(ctx, w->found, n);
    DRAPE_FREE(ctx, w, 1);
}

static drape_status create(drape_context *ctx, const drape_ode_events *events, drape_i_ode_watch **out) {
    drape_i_ode_watch *w;
    int32_t n = events->count;
    if (!DRAPE_NEW(ctx, w, 1)) return DRAPE_ERROR_MEMORY;
    w->events = *events;
    bool good = DRAPE_NEW(ctx, w->direction, n) && DRAPE_NEW(ctx, w->terminal, n) && DRAPE_NEW(ctx, w->ended, n) &&
                DRAPE_NEW(ctx, w->before, n) && DRAPE_NEW(ctx, w->after, n) && DRAPE_NEW(ctx, w->inside, n) &&
                DRAPE_NEW(ctx, w->found, n);
    if (!good) {
        drape_i_ode_watch_destroy(ctx, w);
        return DRAPE_ERROR_MEMORY;
    }
    if (events->direction) memcpy(w->direction, events->direction, (size_t)n * sizeof *w->direction);
    if (events->terminal) memcpy(w->terminal, events->terminal, (size_t)n * sizeof *w->terminal);
    *out = w;
    return DRAPE_OK;
}

drape_status drape_ode_watch(drape_ode *ode, const drape_ode_events *events) {
    drape_i_ode_watch *w = NULL;
    if (!ode) return DRAPE_ERROR_ARGUMENT;
    drape_status status = events ? check(ode, events) : DRAPE_OK;
    if (!status && events) status = create(ode->ctx, events, &w);
    if (status) return status;
    drape_i_ode_watch_destroy(ode->ctx, ode->watch);
    ode->watch = w;
    return DRAPE_OK;
}

/* ---- Looking ---- */

static drape_status evaluate(drape_ode *ode, double t, const double *Y, double *g, drape_ode_reason *reason) {
    const drape_ode_events *e = &ode->watch->events;
    const double *v = drape_i_ode_is_second(ode) ? Y + ode->size : NULL;
    drape_status said = e->g(e->user, t, Y, v, g);
    return said ? drape_i_ode_take(ode, said, "an event", t, reason) : DRAPE_OK;
}

/* g at a time of the span, into `inside`. */
static drape_status evaluate_inside(drape_ode *ode, double t, drape_ode_reason *reason) {
    drape_status status = drape_i_ode_span_at(ode, t, ode->span.scratch);
    if (status) return drape_i_ode_take(ode, status, "the solution inside of the step", t, reason);
    return evaluate(ode, t, ode->span.scratch, ode->watch->inside, reason);
}

static double tolerance(const drape_ode *ode) {
    const drape_i_ode_span *span = &ode->span;
    double wanted = ode->watch->events.tolerance > 0 ? ode->watch->events.tolerance : SHARE_OF_STEP * span->h;
    return fmax(wanted, DIGITS * fmax(fabs(span->begin), fabs(span->end)));
}

/* Where to evaluate next: the ITP method, `bound` the length that bisection would have reached by now. */
static double inside_bracket(double a, double g_a, double b, double g_b, double k, double bound) {
    double middle = a + 0.5 * (b - a), line = (g_b * a - g_a * b) / (g_b - g_a);
    double towards = middle < line ? -1 : 1, shift = k * (b - a) * (b - a), room = bound - 0.5 * (b - a);
    double x = shift <= fabs(middle - line) ? line + towards * shift : middle;
    if (!(fabs(x - middle) <= room)) x = middle - towards * fmax(room, 0);
    return x > a && x < b ? x : middle;
}

/* Moves *b to the event of function i, whose sign is that of g_a at a and another at *b. */
static drape_status locate(drape_ode *ode, int32_t i, double a, double g_a, double *b, double g_b,
                           drape_ode_reason *reason) {
    double tol = tolerance(ode), k = TRUNCATE / (*b - a), bound = 0.5 * tol;
    while (bound < *b - a) bound *= 2; /* (tol / 2) 2^n, n the halvings that are needed */
    for (bound *= 1 << SLACK; *b - a > tol; bound *= 0.5) {
        double x = inside_bracket(a, g_a, *b, g_b, k, bound);
        if (!(x > a && x < *b)) break; /* the digits are used up */
        drape_status status = evaluate_inside(ode, x, reason);
        if (status || *reason) return status;
        double g = ode->watch->inside[i];
        if (g_a < 0 ? g >= 0 : g <= 0) *b = x, g_b = g;
        else a = x, g_a = g;
    }
    return DRAPE_OK;
}

/* The signs to start from: where g is zero, or has just ended a step, those a little later. */
static drape_status resolve_start(drape_ode *ode, double later, bool *moved, drape_ode_reason *reason) {
    drape_i_ode_watch *w = ode->watch;
    *moved = false;
    for (int32_t i = 0; i < w->events.count; i++) {
        w->ended[i] = w->ended[i] && ode->span.begin == w->ended_t;
        *moved = *moved || w->ended[i] || w->before[i] == 0;
    }
    if (!*moved || later >= ode->span.end) return DRAPE_OK;
    drape_status status = evaluate_inside(ode, later, reason);
    if (status || *reason) return status;
    for (int32_t i = 0; i < w->events.count; i++)
        if (w->ended[i] || w->before[i] == 0) w->before[i] = w->inside[i], w->ended[i] = true;
    return DRAPE_OK;
}

/* Whether function i has an event in the span, and which. */
static bool changes_sign(const drape_i_ode_watch *w, int32_t i, bool *rising) {
    double before = w->before[i], after = w->after[i];
    *rising = before < 0 && after >= 0;
    if (!*rising && !(before > 0 && after <= 0)) return false;
    return w->direction[i] == DRAPE_ODE_BOTH || (w->direction[i] == DRAPE_ODE_RISING) == *rising;
}

static void insert(found *list, int32_t count, found new) {
    int32_t j = count;
    for (; j > 0 && list[j - 1].t > new.t; j--) list[j] = list[j - 1];
    list[j] = new;
}

/* All events of the span, in the order of time. */
static drape_status find(drape_ode *ode, int32_t *count, drape_ode_reason *reason) {
    drape_i_ode_watch *w = ode->watch;
    const drape_i_ode_span *span = &ode->span;
    double later = span->begin + 2 * tolerance(ode);
    bool moved, rising;
    *count = 0;
    drape_status status = evaluate(ode, span->begin, span->first, w->before, reason);
    if (!status && !*reason) status = evaluate(ode, span->end, ode->past[0], w->after, reason);
    if (!status && !*reason) status = resolve_start(ode, later, &moved, reason);
    for (int32_t i = 0; i < w->events.count && !status && !*reason; i++) {
        if (!changes_sign(w, i, &rising)) continue;
        double b = span->end;
        status = locate(ode, i, w->ended[i] ? later : span->begin, w->before[i], &b, w->after[i], reason);
        if (!status && !*reason) insert(w->found, (*count)++, (found){i, rising, b});
    }
    return status;
}

/* ---- Reporting, and the end of a run ---- */

static drape_status report(drape_ode *ode, const found *f) {
    const drape_ode_events *e = &ode->watch->events;
    double *Y = ode->span.scratch;
    if (!e->report) return DRAPE_OK;
    drape_status status = drape_i_ode_span_at(ode, f->t, Y);
    if (status) return status;
    const drape_ode_event event = {.index = f->index,
                                   .rising = f->rising,
                                   .terminal = ode->watch->terminal[f->index],
                                   .t = f->t,
                                   .x = Y,
                                   .v = drape_i_ode_velocity(ode, Y)};
    return e->report(e->user, &event);
}

/* Makes the solution at t the state. The data of the span stay where they are. */
static drape_status cut_off(drape_ode *ode, double t) {
    drape_i_ode_span *span = &ode->span;
    if (t == span->end) return DRAPE_OK;
    drape_status status = drape_i_ode_span_at(ode, t, span->spare);
    if (status) return status;
    double *end = ode->past[0];
    ode->past[0] = span->spare;
    span->spare = end;
    span->end = ode->t = t;
    drape_i_ode_forget(ode);
    return DRAPE_OK;
}

drape_status drape_i_ode_watch_step(drape_ode *ode, int64_t *event, drape_ode_reason *reason) {
    drape_i_ode_watch *w = ode->watch;
    int32_t count;
    drape_status status = find(ode, &count, reason);
    for (int32_t i = 0; i < w->events.count; i++) w->ended[i] = false;
    if (status || *reason) return status;
    double end = INFINITY;
    for (int32_t k = 0; k < count && !status && w->found[k].t <= end; k++) {
        const found *f = &w->found[k];
        status = report(ode, f);
        if (!w->terminal[f->index]) continue;
        w->ended[f->index] = true;
        if (*event >= 0) continue;
        *event = f->index;
        end = w->ended_t = f->t;
        *reason = drape_i_ode_stop(ode, DRAPE_ODE_EVENT, "event %d at t = %.17g s", f->index, f->t);
    }
    if (*event >= 0 && !status) status = cut_off(ode, end);
    return status;
}
