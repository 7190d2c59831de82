/* step.c: steps of given, equal or controlled lengths.
 *
 * A step is tried, and pushed onto the past when it is good; until then the state is the one before. */
#include "ode/ode.h"

#include <float.h>
#include <math.h>

static const double DIGITS_ALLOW = 0.9995; /* a step that is named in four digits can be taken */
static const double HARDLY_MORE = 1e-9;    /* a share of a step that is not a step of its own */
static const double AFTER_FAILURE = 0.25, GROW = 1.25, SHRINK = 0.5;

static bool is_finite(drape_ode *ode, const double *Y) {
    return isfinite(drape_i_ode_dot(ode, ode->length, Y, Y)); /* also where a square overflows */
}

static drape_status check_step(drape_ode *ode, double h) {
    if (ode->past_count == 0) return drape_i_fail(ode->ctx, DRAPE_ERROR_ARGUMENT, "ode: call drape_ode_start first");
    if (!isfinite(h) || h <= 0)
        return drape_i_fail(ode->ctx, DRAPE_ERROR_ARGUMENT, "ode: a step of %g s: it must be finite and above 0", h);
    if (ode->t + h == ode->t || !isfinite(ode->t + h))
        return drape_i_fail(ode->ctx, DRAPE_ERROR_ARGUMENT, "ode: a step of %g s changes nothing at t = %g s", h,
                            ode->t);
    return DRAPE_OK;
}

static drape_status check_end(drape_ode *ode, double end) {
    if (ode->past_count == 0) return drape_i_fail(ode->ctx, DRAPE_ERROR_ARGUMENT, "ode: call drape_ode_start first");
    if (!isfinite(end) || end < ode->t)
        return drape_i_fail(ode->ctx, DRAPE_ERROR_ARGUMENT, "ode: the end t = %g s is not after t = %g s", end,
                            ode->t);
    return DRAPE_OK;
}

static void report(const drape_ode *ode, drape_ode_reason reason, double h, double error, drape_ode_result *out) {
    const drape_i_ode_newton_memory *m = &ode->newton;
    if (out)
        *out = (drape_ode_result){.reason = reason,
                                  .t = ode->t,
                                  .step = h,
                                  .error = error,
                                  .newton = m->in_step,
                                  .newton_error = m->left,
                                  .unconverged = m->unconverged,
                                  .forgiven = m->forgiven,
                                  .worst = m->worst,
                                  .event = -1};
}

/* What is counted for each call of drape_ode_step, next and advance. */
static void begin_call(drape_ode *ode) {
    ode->text[0] = 0;
    ode->newton.unconverged = 0;
    ode->newton.forgiven = DRAPE_ODE_DONE;
    ode->newton.worst = -1;
    ode->span.known = false; /* also where the call takes no step */
}

static void push(drape_ode *ode, double h, double t) {
    bool same = ode->past_count > 1 && fabs(h - ode->past_step[0]) <= HARDLY_MORE * h;
    ode->control.equal = same ? ode->control.equal + 1 : 1;
    drape_i_ode_push(ode, h);
    ode->t = t;
    ode->counts.steps++;
}

/* ---- What the system changes after a step ---- */

/* Whether the changes of x and v are within the estimated local error of next. */
static bool is_within_error(drape_ode *ode, const double change[2]) {
    double *e = ode->error;
    if (!ode->error_known) return false;
    if (!ode->wants_error) drape_i_ode_filter_error(ode);
    return change[0] <= sqrt(drape_i_ode_dot(ode, ode->size, e, e)) &&
           (!drape_i_ode_is_second(ode) ||
            change[1] <= sqrt(drape_i_ode_dot(ode, ode->size, e + ode->size, e + ode->size)));
}

static void show_past(drape_ode *ode, double t, drape_ode_projection *state) {
    state->past_count = ode->past_count < ode->past_room ? ode->past_count : ode->past_room;
    for (int32_t i = 0; i < state->past_count; t -= ode->past_step[i++]) {
        state->past_x[i] = ode->past[i];
        state->past_v[i] = drape_i_ode_velocity(ode, ode->past[i]);
        state->past_time[i] = t;
    }
}

/* Lets the system change next; *restart: by more than a multistep method can continue from. */
static drape_status project(drape_ode *ode, double h, double t, bool *restart, drape_ode_reason *reason) {
    const drape_ode_system *system = &ode->system;
    drape_ode_projection state = {.t = t, .h = h, .x = ode->next, .v = drape_i_ode_velocity(ode, ode->next)};
    *restart = false;
    if (!system->project) return DRAPE_OK;
    if (ode->method.multistep) show_past(ode, t - h, &state);
    drape_status said = system->project(system->user, &state);
    if (said) return drape_i_ode_take(ode, said, "the projection of the state", t, reason);
    if (state.change[0] == 0 && state.change[1] == 0) return DRAPE_OK;
    if (!is_finite(ode, ode->next)) {
        *reason =
            drape_i_ode_stop(ode, DRAPE_ODE_NOT_FINITE,
                             "the projected state at t = %g s is not a finite number, after a step of %g s", t, h);
        return DRAPE_OK;
    }
    *restart = ode->method.multistep && !state.past_changed && !is_within_error(ode, state.change);
    ode->next_slope_known = false; /* it was found at another state */
    ode->counts.projected++;
    return DRAPE_OK;
}

/* Makes next, a good step, the state at t; unless the system cannot project it. */
static drape_status accept(drape_ode *ode, double h, double t, drape_ode_reason *reason) {
    bool restart;
    drape_status status = project(ode, h, t, &restart, reason);
    if (status || *reason) return status;
    double begin = ode->t;
    push(ode, h, t);
    drape_i_ode_span_note(ode, begin, h);
    if (restart) drape_i_ode_forget(ode);
    ode->counts.restarts += restart;
    return DRAPE_OK;
}

drape_status drape_i_ode_try(drape_ode *ode, double h, drape_ode_reason *reason) {
    *reason = DRAPE_ODE_DONE;
    ode->next_slope_known = ode->error_known = ode->span.known = ode->span.halved = false;
    ode->error_order = ode->method.order;
    if (!ode->method.implicit && drape_i_ode_prescribe(ode, ode->t + h, h, ode->past[0], ode->past[0]))
        ode->slope_known = false; /* it was found with another v */
    drape_status status = ode->method.step(ode, h, reason);
    if (!status && !*reason && !is_finite(ode, ode->next))
        *reason =
            drape_i_ode_stop(ode, DRAPE_ODE_NOT_FINITE,
                             "the state at t = %g s is not a finite number, after a step of %g s", ode->t + h, h);
    return status;
}

/* Refuses what is beyond the stability limit. */
static drape_status try_stable(drape_ode *ode, double h, drape_ode_reason *reason) {
    double longest = h;
    drape_status status = drape_i_ode_stable_step(ode, h, &longest);
    *reason = DRAPE_ODE_DONE;
    ode->newton.in_step = 0;
    ode->newton.left = 0;
    if (status) return status;
    if (longest >= h) return drape_i_ode_try(ode, h, reason);
    *reason =
        drape_i_ode_stop(ode, DRAPE_ODE_UNSTABLE,
                         "the step of %g s is unstable: %s takes at most %.4g s at t = %g s, where the system has "
                         "the eigenvalue %.4g%+.4gi 1/s",
                         h, ode->method.name, DIGITS_ALLOW * longest, ode->t, ode->stiffest[0], ode->stiffest[1]);
    return DRAPE_OK;
}

/* Reports a step; one that was good, after looking for events in it. */
static drape_status finish(drape_ode *ode, drape_ode_reason reason, double h, double error,
                           drape_ode_result *result) {
    int64_t event = -1;
    drape_status status = DRAPE_OK;
    if (!reason && ode->watch) {
        status = drape_i_ode_watch_step(ode, &event, &reason);
        if (event >= 0) h = ode->span.end - ode->span.begin;
    }
    report(ode, reason, h, error, result);
    if (result) result->event = event;
    return status;
}

/* A step of h that ends at t. */
static drape_status fixed_step(drape_ode *ode, double h, double t, drape_ode_result *result) {
    drape_ode_reason reason;
    drape_status status = check_step(ode, h);
    if (status) return status;
    ode->wants_error = false;
    ode->ramps = drape_i_ode_begins_low(ode);
    ode->text[0] = 0;
    status = try_stable(ode, h, &reason);
    if (!status && !reason) status = accept(ode, h, t, &reason);
    if (status) return status;
    return finish(ode, reason, h, -1, result);
}

drape_status drape_ode_step(drape_ode *ode, double h, drape_ode_result *result) {
    if (!ode) return DRAPE_ERROR_ARGUMENT;
    begin_call(ode);
    return fixed_step(ode, h, ode->t + h, result);
}

/* ---- Controlled steps ---- */

static double least_step(const drape_ode *ode) {
    double digits = 16 * DBL_EPSILON * fabs(ode->t);
    double least = ode->settings.min_step > digits ? ode->settings.min_step : digits;
    return least > DBL_MIN ? least : DBL_MIN;
}

/* The proposal cut so that the limit is hit, and no crumb of a step is left before it. */
static double cut_to_limit(const drape_ode *ode, double h, double left) {
    double most = ode->settings.max_step;
    if (most > 0 && h > most) h = most;
    if (h >= left * (1 - HARDLY_MORE)) return left;
    return h > 0.5 * left ? 0.5 * left : h;
}

static drape_status first_proposal(drape_ode *ode, double limit, drape_ode_reason *reason) {
    double *h = &ode->control.proposal;
    *reason = DRAPE_ODE_DONE;
    if (*h > 0) return DRAPE_OK;
    *h = ode->settings.step;
    return *h > 0 ? DRAPE_OK : drape_i_ode_first_step(ode, limit, h, reason);
}

/* One try under the control: the next proposal, and whether the step was good. */
static drape_status try_controlled(drape_ode *ode, double h, double *proposal, double *error,
                                   drape_ode_reason *reason) {
    drape_status status;
    ode->newton.in_step = 0;
    ode->newton.left = 0;
    if (ode->settings.control == DRAPE_ODE_ERROR) {
        status = drape_i_ode_try_with_error(ode, h, error, reason);
        if (!status && !*reason) *proposal = drape_i_ode_propose(ode, h, *error, *error <= 1);
    } else {
        status = drape_i_ode_try(ode, h, reason);
        int32_t newton = ode->newton.in_step, few = ode->settings.few, many = ode->settings.many;
        *proposal = newton <= few ? GROW * h : newton >= many ? SHRINK * h : h;
    }
    if (*reason) *proposal = AFTER_FAILURE * h;
    return status;
}

/* The length of the next try; or the reason why there is none. */
static drape_status length_of_try(drape_ode *ode, double left, double *h, drape_ode_reason *reason) {
    double stable, least = least_step(ode);
    *h = cut_to_limit(ode, ode->control.proposal, left);
    drape_status status = drape_i_ode_stable_step(ode, *h, &stable);
    if (stable < *h) *h = stable;
    if (*h >= left || *h >= least) return status;
    *reason = DRAPE_ODE_STEP_TOO_SMALL;
    if (!ode->text[0]) /* else it says why the tries failed */
        drape_i_ode_stop(ode, *reason, "at t = %g s the step would have to be shorter than %g s", ode->t, least);
    return status;
}

/* Steps that fail or have too large an error are undone and repeated with a shorter length. */
static drape_status controlled_step(drape_ode *ode, double limit, drape_ode_result *result) {
    drape_ode_reason reason;
    drape_status status = first_proposal(ode, limit, &reason);
    double left = limit - ode->t, h = 0, proposal = 0, error = -1;
    ode->wants_error = ode->ramps = ode->settings.control == DRAPE_ODE_ERROR;
    ode->control.after_reject = false;
    while (!status && !reason) {
        status = length_of_try(ode, left, &h, &reason);
        if (!status && !reason) status = try_controlled(ode, h, &proposal, &error, &reason);
        if (status || reason == DRAPE_ODE_STEP_TOO_SMALL) break;
        bool good = !reason && error <= 1, cut = h < ode->control.proposal; /* then the proposal is still valid */
        if (!good || !cut || proposal > ode->control.proposal) ode->control.proposal = proposal;
        if (good) {
            ode->text[0] = 0;
            status = accept(ode, h, h == left ? limit : ode->t + h, &reason);
            if (status || !reason) break;
            ode->control.proposal = AFTER_FAILURE * h;
        }
        ode->counts.rejected++;
        ode->control.after_reject = true;
        reason = DRAPE_ODE_DONE;
    }
    if (!status) return finish(ode, reason, h, error, result);
    report(ode, reason, h, error, result);
    return status;
}

static drape_status next(drape_ode *ode, double limit, drape_ode_result *result) {
    double left = limit - ode->t, h = ode->settings.step;
    ode->text[0] = 0;
    if (left == 0) return report(ode, DRAPE_ODE_DONE, 0, -1, result), DRAPE_OK;
    if (ode->settings.control != DRAPE_ODE_FIXED) return controlled_step(ode, limit, result);
    if (h >= left * (1 - HARDLY_MORE)) return fixed_step(ode, left, limit, result);
    return fixed_step(ode, h, ode->t + h, result);
}

drape_status drape_ode_next(drape_ode *ode, double limit, drape_ode_result *result) {
    if (!ode) return DRAPE_ERROR_ARGUMENT;
    drape_status status = check_end(ode, limit);
    if (status) return status;
    begin_call(ode);
    return next(ode, limit, result);
}

/* ---- To an end ---- */

static drape_status advance_evenly(drape_ode *ode, double end, drape_ode_result *result) {
    double begin = ode->t, span = end - begin, count = ceil(span / ode->settings.step - HARDLY_MORE);
    if (count < 1) count = 1;
    if (count > (double)ode->settings.max_steps) {
        drape_ode_reason reason =
            drape_i_ode_stop(ode, DRAPE_ODE_STEP_LIMIT, "%g s in steps of %g s are %.0f, more than max_steps %lld",
                             span, ode->settings.step, count, (long long)ode->settings.max_steps);
        return report(ode, reason, 0, -1, result), DRAPE_OK;
    }
    double h = span / count;
    for (double i = 1; i <= count; i++) {
        drape_status status = fixed_step(ode, h, i == count ? end : begin + i * h, result);
        if (status || result->reason) return status;
    }
    return DRAPE_OK;
}

drape_status drape_ode_advance(drape_ode *ode, double end, drape_ode_result *result) {
    drape_ode_result unwanted;
    if (!ode) return DRAPE_ERROR_ARGUMENT;
    drape_status status = check_end(ode, end);
    if (!result) result = &unwanted;
    if (status) return status;
    begin_call(ode);
    report(ode, DRAPE_ODE_DONE, 0, -1, result);
    if (ode->t == end) return DRAPE_OK;
    if (ode->settings.control == DRAPE_ODE_FIXED) return advance_evenly(ode, end, result);
    for (int64_t i = 0; i < ode->settings.max_steps; i++) {
        status = next(ode, end, result);
        if (status || result->reason || ode->t == end) return status;
    }
    result->reason = drape_i_ode_stop(ode, DRAPE_ODE_STEP_LIMIT, "%lld steps, and only at t = %g s of %g s",
                                      (long long)ode->settings.max_steps, ode->t, end);
    return DRAPE_OK;
}
