/* explicit.c: explicit Runge-Kutta methods from their Butcher tables, Hauth's (19).
 *
 *   k'_i = F(t + c_i h, Y + h sum_{j<i} a_ij k'_j),   next = Y + h sum b_i k'_i,   error = h sum (b_i - e_i) k'_i
 *
 * Where the last row of a is b the last stage is taken at the new state, and is the first of the next step. */
#include "ode/ode.h"

#include <string.h>

static drape_i_ode_sum weighted_stages(const drape_ode *ode, double h, const double *weight) {
    drape_i_ode_sum sum = {0};
    for (int32_t j = 0; j < ode->method.tableau->stages; j++) drape_i_ode_sum_add(&sum, h * weight[j], ode->stage[j]);
    return sum;
}

/* out = past[0] + h sum weight[j] stage[j] */
static void advance(drape_ode *ode, double h, const double *weight, double *out) {
    drape_i_ode_sum sum = weighted_stages(ode, h, weight);
    drape_i_ode_sum_add(&sum, 1, ode->past[0]);
    drape_i_ode_sum_form(ode->ctx, &sum, ode->length, out);
}

static bool ends_at_next(const drape_ode_tableau *T) {
    const double *last = T->a + (int64_t)(T->stages - 1) * T->stages;
    return T->stages > 1 && memcmp(last, T->b, (size_t)T->stages * sizeof *last) == 0;
}

static void estimate(drape_ode *ode, double h) {
    const drape_ode_tableau *T = ode->method.tableau;
    double difference[DRAPE_ODE_MOST_STAGES];
    for (int32_t i = 0; i < T->stages; i++) difference[i] = T->b[i] - T->embedded[i];
    drape_i_ode_sum sum = weighted_stages(ode, h, difference);
    drape_i_ode_sum_form(ode->ctx, &sum, ode->length, ode->error);
    ode->error_order = T->order < T->embedded_order ? T->order : T->embedded_order;
    ode->error_known = true;
}

drape_status drape_i_ode_explicit_step(drape_ode *ode, double h, drape_ode_reason *reason) {
    const drape_ode_tableau *T = ode->method.tableau;
    drape_status status = DRAPE_OK;
    ode->stage[0] = ode->slope;
    if (!ode->slope_known) status = drape_i_ode_derivative(ode, ode->t, ode->past[0], ode->slope, reason);
    if (status || *reason) return status;
    ode->slope_known = true;
    for (int32_t i = 1; i < T->stages; i++) {
        advance(ode, h, T->a + (int64_t)i * T->stages, ode->stage_state);
        status = drape_i_ode_derivative(ode, ode->t + T->c[i] * h, ode->stage_state, ode->stage[i], reason);
        if (status || *reason) return status;
    }
    advance(ode, h, T->b, ode->next);
    if (T->embedded && ode->wants_error) estimate(ode, h);
    ode->next_slope_known = ends_at_next(T);
    if (ode->next_slope_known) { /* the vectors change roles; what next_slope held is of no use */
        double *last = ode->stage[T->stages - 1];
        ode->stage[T->stages - 1] = ode->next_slope;
        ode->next_slope = last;
    }
    return DRAPE_OK;
}
