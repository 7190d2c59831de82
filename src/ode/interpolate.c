/* interpolate.c: dense output, the solution inside the last step.
 *
 * All but one of the interpolants are polynomials by values and slopes at given places
 * (drape_i_ode_confluent_weights): with theta = (t - begin) / h,
 *
 *   one step, slopes kept           values and slopes at theta = 0 and 1: the Hermite cubic
 *   the same in two halves          and at 1/2
 *   one step, no slopes             values alone; of a second order system, x with v as its slope
 *   BDF of k steps                  the values of the step's own formula at the k + 1 last states
 *   the first k - 1 steps of BDF    all values since the start and the slopes at both ends; at the start itself none:
 *                                   there a stiff system's slope may be that of a layer which the step does not
 * resolve
 *
 * The order of a method is kept by a polynomial of one degree less; so the line will do for methods of order 2. For
 * implicit-midpoint it is the polynomial of collocation, and f at the ends of its steps, of which it knows nothing,
 * would enlarge the errors there by h |lambda|. Its x is a parabola: x_1 - x_0 = h (v_0 + v_1) / 2, so that v is x'.
 *
 * Explicit methods with stages k_i may have a polynomial of degree 4, the Hermite cubic H and one term more (Hairer,
 * Noersett and Wanner I, II.6):
 *
 *   u(theta) = H(theta) + theta^2 (1 - theta)^2 h sum_i d_i k_i.
 *
 * The error of H is theta^2 (1 - theta)^2 h^4 y''''/24 + O(h^5), so h sum d_i k_i = h^4 y''''/24 + O(h^5) makes that
 * of u O(h^5). Tree by tree: sum d_i = sum d_i c_i = sum d_i c_i^2 = sum d_i a_ij c_j = 0. And for the four trees of
 * order 4: sum d_i c_i^3 = 1/4, sum d_i c_i a_ij c_j = 1/8, sum d_i a_ij c_j^2 = 1/12, sum d_i a_ij a_jk c_k = 1/24.
 * u has the values and slopes of the steps at both ends: it is continuously differentiable over all steps.
 *
 * Cost: one sum of at most nine vectors for each time that is asked for. */
#include "ode/ode.h"

#include <math.h>
#include <string.h>

/* ---- What is kept ---- */

void drape_i_ode_keep_start(drape_ode *ode) {
    if (!ode->settings.dense_output || !ode->method.keeps_slope) return;
    drape_i_vector_copy(ode->ctx, ode->length, ode->slope, ode->span.old_slope);
}

void drape_i_ode_keep_middle(drape_ode *ode) {
    drape_i_ode_span *span = &ode->span;
    if (!ode->settings.dense_output) return;
    drape_i_vector_copy(ode->ctx, ode->length, ode->past[0], span->middle);
    if (ode->method.keeps_slope) drape_i_vector_copy(ode->ctx, ode->length, ode->slope, span->middle_slope);
    span->halved = true;
}

/* Y' of the stage is (Y - psi) / c. Stiff parts of it are damped, as f at the extrapolated state would not be. */
void drape_i_ode_add_slope(drape_ode *ode, double share, double c, bool first) {
    drape_i_ode_sum sum = {0};
    if (!ode->settings.dense_output) return;
    if (!first) drape_i_ode_sum_add(&sum, 1, ode->next_slope);
    drape_i_ode_sum_add(&sum, share / c, ode->newton.Y);
    drape_i_ode_sum_add(&sum, -share / c, ode->newton.psi);
    drape_i_ode_sum_form(ode->ctx, &sum, ode->length, ode->next_slope);
}

/* ---- The data that the interpolant of a step uses ---- */

static void add(drape_i_ode_span *span, double at, const double *value, const double *slope) {
    span->data[span->count++] = (drape_i_ode_datum){at, false, value};
    if (slope) span->data[span->count++] = (drape_i_ode_datum){at, true, slope};
}

/* Ends, and what is between two halves. Where the method keeps slopes, they have changed roles when the step was
 * pushed: that of the end is `slope`, and that of the beginning was left in next_slope. */
static void note_one_step(drape_ode *ode, drape_i_ode_span *span) {
    bool kept = ode->method.keeps_slope;
    double *start = span->halved ? span->old_slope : ode->next_slope;
    span->line = !kept && drape_i_ode_is_second(ode);
    span->asks_slope = kept && !ode->method.extension;
    add(span, 0, ode->past[1], kept ? start : span->line ? ode->past[1] : NULL);
    if (span->halved) add(span, 0.5, span->middle, kept ? span->middle_slope : span->line ? span->middle : NULL);
    add(span, 1, ode->past[0], kept ? ode->slope : span->line ? ode->past[0] : NULL);
}

static void note_bdf(drape_ode *ode, drape_i_ode_span *span, double h) {
    int32_t before = ode->past_count - 1, steps = ode->method.steps < before ? ode->method.steps : before;
    bool begins = before < ode->method.steps && !ode->ramps;
    double back = 0;
    add(span, 1, ode->past[0], begins ? ode->next_slope : NULL);
    for (int32_t j = 1; j <= steps; back += ode->past_step[j++])
        add(span, -back / h, ode->past[j], begins && j == 1 && span->old_slope_known ? span->old_slope : NULL);
    span->old_slope_known = begins;
    if (!begins) return;
    double *older = span->old_slope; /* good until the next step computes another */
    span->old_slope = ode->next_slope;
    ode->next_slope = older;
}

void drape_i_ode_span_note(drape_ode *ode, double begin, double h) {
    drape_i_ode_span *span = &ode->span;
    if (!ode->settings.dense_output) return;
    span->known = true;
    span->begin = begin;
    span->h = h;
    span->end = ode->t;
    span->count = 0;
    span->first = ode->past[1];
    span->last = ode->past[0];
    span->line = span->asks_slope = false;
    if (ode->method.multistep) note_bdf(ode, span, h);
    else note_one_step(ode, span);
}

/* The slope at the new state, where the step has not found it; it is then that of the next step, too. */
static drape_status complete(drape_ode *ode) {
    drape_i_ode_span *span = &ode->span;
    drape_ode_reason reason = DRAPE_ODE_DONE;
    if (!span->asks_slope) return DRAPE_OK;
    drape_status status = DRAPE_OK;
    if (!ode->slope_known) status = drape_i_ode_derivative(ode, ode->t, ode->past[0], ode->slope, &reason);
    if (status) return status;
    if (reason) return drape_i_fail(ode->ctx, DRAPE_ERROR_NUMBER, "ode: %s", ode->text);
    ode->slope_known = true;
    span->asks_slope = false;
    return DRAPE_OK;
}

/* ---- The solution at a time ---- */

/* The x part, or y (offset 0), or the v part (offset size). The slope of x is v of the state: that of the methods may
 * be of another time, as Verlet's. */
static void by_data(drape_ode *ode, double theta, int64_t offset, double *out) {
    const drape_i_ode_span *span = &ode->span;
    double x[DRAPE_I_ODE_MOST_DATA] = {0}, weight[DRAPE_I_ODE_MOST_DATA];
    bool slope[DRAPE_I_ODE_MOST_DATA] = {false};
    const double *vector[DRAPE_I_ODE_MOST_DATA];
    int32_t count = 0;
    bool of_x = drape_i_ode_is_second(ode) && offset == 0;
    for (int32_t j = 0; j < span->count; j++) {
        const drape_i_ode_datum *d = &span->data[j];
        if (d->slope && span->line && !of_x) continue;
        x[count] = d->at;
        slope[count] = d->slope;
        vector[count++] = d->slope && of_x ? d[-1].vector + ode->size : d->vector + offset;
    }
    drape_i_ode_confluent_weights(count, x, slope, theta, weight);
    drape_i_ode_sum sum = {0};
    for (int32_t j = 0; j < count; j++)
        drape_i_ode_sum_add(&sum, slope[j] ? span->h * weight[j] : weight[j], vector[j]);
    drape_i_ode_sum_form(ode->ctx, &sum, ode->size, out);
}

/* The Hermite cubic, here with the slopes of the stages for x too, and the term of degree 4. */
static void by_extension(drape_ode *ode, double theta, int64_t offset, double *out) {
    const drape_i_ode_span *span = &ode->span;
    const drape_ode_tableau *T = ode->method.tableau;
    double rest = 1 - theta, bump = theta * theta * rest * rest;
    drape_i_ode_sum sum = {0};
    drape_i_ode_sum_add(&sum, rest * rest * (1 + 2 * theta), span->first + offset);
    drape_i_ode_sum_add(&sum, theta * theta * (3 - 2 * theta), span->last + offset);
    for (int32_t i = 0; i < T->stages; i++) {
        const double *k = i == 0 ? span->data[1].vector : i == T->stages - 1 ? span->data[3].vector : ode->stage[i];
        double weight = ode->method.extension[i] * bump;
        if (i == 0) weight += theta * rest * rest;
        if (i == T->stages - 1) weight -= theta * theta * rest;
        drape_i_ode_sum_add(&sum, span->h * weight, k + offset);
    }
    drape_i_ode_sum_form(ode->ctx, &sum, ode->size, out);
}

static void part_at(drape_ode *ode, double t, int64_t offset, double *out) {
    const drape_i_ode_span *span = &ode->span;
    double theta = (t - span->begin) / span->h;
    if (t == span->begin) drape_i_vector_copy(ode->ctx, ode->size, span->first + offset, out);
    else if (t == span->end) drape_i_vector_copy(ode->ctx, ode->size, ode->past[0] + offset, out);
    else if (ode->method.extension) by_extension(ode, theta, offset, out);
    else by_data(ode, theta, offset, out);
}

drape_status drape_i_ode_span_at(drape_ode *ode, double t, double *Y) {
    drape_status status = complete(ode);
    if (status) return status;
    part_at(ode, t, 0, Y);
    if (drape_i_ode_is_second(ode)) part_at(ode, t, ode->size, Y + ode->size);
    return DRAPE_OK;
}

bool drape_ode_last_step(const drape_ode *ode, double *begin, double *end) {
    if (!ode || !ode->span.known) return false;
    if (begin) *begin = ode->span.begin;
    if (end) *end = ode->span.end;
    return true;
}

drape_status drape_ode_interpolate(drape_ode *ode, double t, double *x, double *v) {
    if (!ode) return DRAPE_ERROR_ARGUMENT;
    const drape_i_ode_span *span = &ode->span;
    if (!ode->settings.dense_output)
        return drape_i_fail(ode->ctx, DRAPE_ERROR_ARGUMENT, "ode: interpolating needs settings.dense_output");
    if (!span->known)
        return drape_i_fail(ode->ctx, DRAPE_ERROR_ARGUMENT,
                            "ode: there is no step to interpolate in; take one first");
    if (!(t >= span->begin && t <= span->end))
        return drape_i_fail(ode->ctx, DRAPE_ERROR_ARGUMENT, "ode: t = %g s is outside the last step, %g s to %g s", t,
                            span->begin, span->end);
    if (v && !drape_i_ode_is_second(ode))
        return drape_i_fail(ode->ctx, DRAPE_ERROR_ARGUMENT, "ode: a first order system has no v");
    drape_status status = complete(ode);
    if (status) return status;
    if (x) part_at(ode, t, 0, x);
    if (v) part_at(ode, t, ode->size, v);
    return DRAPE_OK;
}
