/* bdf.c: backward differentiation of k steps, k = 1 (implicit Euler) to 6, on any steps.
 *
 * The polynomial through the k last states and the new one has the right slope at the new one. With times in steps of
 * h, counted from the new one, x_0 = 0 > x_1 > ... > x_k, and alpha_j = l_j'(0) (vector.h),
 *
 *   sum_j alpha_j Y_{1-j} = h F(t_1, Y_1)      (Hauth's (36) with table 3: alpha_0 is the newest)
 *
 * so psi = -sum_{j>0} alpha_j Y_{1-j} / alpha_0 and c = h / alpha_0. Order k (not k + 1, as printed).
 *
 * Error: the guess extrapolates from the same k states and one more datum at x_e, the state before them or the slope
 * where it all began. Its error is alpha_0 (-x_e) times that of the step, with the other sign, so the step's is
 * (next - guess) / (1 + alpha_0 (-x_e)).
 *
 * The first k - 1 steps: extrapolated implicit Euler steps of order k - 1, which keep order k. Where the error is
 * controlled they are of 1, 2, ... steps, which the control makes short. So they are for k > 2 with
 * settings.begin_low, where states are not smooth in h. */
#include "ode/ode.h"

/* ---- The beginning: one step of order p from implicit Euler steps alone ----
 *
 * T_m, the result of m implicit Euler steps of h/m, has an error in powers of h/m. The combination
 *
 *   sum_m w_m T_m,   w_m = prod_{i != m} m / (m - i),   m = 1..p
 *
 * has the first p - 1 of them taken out: order p. (Aitken and Neville's scheme with the harmonic sequence; Deuflhard
 * 1985.) It damps stiff components as implicit Euler does, which explicit beginnings would blow up. p (p + 1) / 2
 * solves. A multistep method of order k keeps its order if its first states are wrong by O(h^k), which steps of order
 * k - 1 achieve. But then their error is most of the total (three quarters of it in the survey's example 1b by BDF2).
 *
 * If an estimate of the error is needed, it is the difference to the combination of order p - 1. */

static double share_of(int32_t m, int32_t order) {
    double w = 1;
    for (int32_t i = 1; i <= order; i++)
        if (i != m) w *= (double)m / (double)(m - i);
    return w;
}

/* newton.Y = the state after m implicit Euler steps of h / m */
static drape_status small_steps(drape_ode *ode, int32_t m, double h, drape_ode_reason *reason) {
    double c = h / m;
    drape_i_vector_copy(ode->ctx, ode->length, ode->past[0], ode->newton.Y);
    for (int32_t i = 1; i <= m; i++) {
        drape_i_vector_copy(ode->ctx, ode->length, ode->newton.Y, ode->newton.psi);
        if (ode->newton.extrapolated)
            drape_i_vector_copy(ode->ctx, ode->length, ode->newton.Y, ode->newton.extrapolated);
        drape_i_ode_stage stage = {.t = ode->t + i * c, .c = c};
        drape_status status = drape_i_ode_solve(ode, &stage, reason);
        if (status || *reason) return status;
    }
    return DRAPE_OK;
}

static void add_to_estimate(drape_ode *ode, int32_t m, int32_t order) {
    double lower = m < order ? share_of(m, order - 1) : 0;
    drape_i_ode_sum sum = {0};
    if (m > 1) drape_i_ode_sum_add(&sum, 1, ode->error);
    drape_i_ode_sum_add(&sum, share_of(m, order) - lower, ode->newton.Y);
    drape_i_ode_sum_form(ode->ctx, &sum, ode->length, ode->error);
    ode->error_order = order - 1;
    ode->error_known = m == order && order > 1;
}

drape_status drape_i_ode_begin_step(drape_ode *ode, int32_t order, double h, drape_ode_reason *reason) {
    for (int32_t m = 1; m <= order; m++) {
        drape_status status = small_steps(ode, m, h, reason);
        if (status || *reason) return status;
        drape_i_ode_sum sum = {0};
        if (m > 1) drape_i_ode_sum_add(&sum, 1, ode->next);
        drape_i_ode_sum_add(&sum, share_of(m, order), ode->newton.Y);
        drape_i_ode_sum_form(ode->ctx, &sum, ode->length, ode->next);
        drape_i_ode_add_slope(ode, share_of(m, order), h / m, m == 1);
        if (drape_i_ode_estimates(ode)) add_to_estimate(ode, m, order);
    }
    return DRAPE_OK;
}

/* ---- Backward differentiation ---- */

/* x[0] = 0 is the new state, x[j] is past[j - 1]. */
static void place_nodes(const drape_ode *ode, double h, int32_t past, double *x) {
    double back = h;
    x[0] = 0;
    for (int32_t j = 0; j < past; j++) {
        x[j + 1] = -(back / h);
        back += ode->past_step[j];
    }
}

/* psi and c of this many steps; alpha_0. */
static double set_equation(drape_ode *ode, int32_t steps, const double *x) {
    double alpha[DRAPE_I_ODE_MOST_PAST + 1];
    drape_i_ode_sum psi = {0};
    drape_i_ode_slope_weights(steps + 1, x, 0, alpha);
    for (int32_t j = 1; j <= steps; j++) drape_i_ode_sum_add(&psi, -alpha[j] / alpha[0], ode->past[j - 1]);
    drape_i_ode_sum_form(ode->ctx, &psi, ode->length, ode->newton.psi);
    return alpha[0];
}

/* The guess that the error is measured against, into ode->error, and where the error is controlled into newton.Y;
 * returns -x_e, or -1 where there is no such guess. To judge what `project` changed, a guess of one order less will
 * do while the past is short: its difference to next counts in full, as with x_e = 0. */
static double guess_for_error(drape_ode *ode, double h, int32_t steps, const double *x) {
    double weight[DRAPE_I_ODE_MOST_PAST + 1], e = -1;
    drape_i_ode_sum sum = {0};
    if (ode->past_count > steps) {
        drape_i_ode_value_weights(steps + 1, x + 1, 0, weight);
        for (int32_t j = 0; j <= steps; j++) drape_i_ode_sum_add(&sum, weight[j], ode->past[j]);
        e = -x[steps + 1];
    } else if (ode->slope_known && ode->past_count == steps) { /* slope is still that of the start */
        double share = drape_i_ode_hermite_weights(steps, x + 1, 0, weight);
        for (int32_t j = 0; j < steps; j++) drape_i_ode_sum_add(&sum, weight[j], ode->past[j]);
        drape_i_ode_sum_add(&sum, share * h, ode->slope);
        e = -x[steps];
    } else if (!ode->wants_error && steps > 1) {
        drape_i_ode_value_weights(steps, x + 1, 0, weight);
        for (int32_t j = 0; j < steps; j++) drape_i_ode_sum_add(&sum, weight[j], ode->past[j]);
        e = 0;
    }
    if (e < 0) return e;
    drape_i_ode_sum_form(ode->ctx, &sum, ode->length, ode->error);
    if (ode->wants_error && !ode->settings.newton.guess_from_state)
        drape_i_vector_copy(ode->ctx, ode->length, ode->error, ode->newton.Y);
    return e;
}

static void estimate(drape_ode *ode, int32_t steps, double alpha, double e) {
    double share = 1 / (1 + alpha * e);
    drape_i_ode_sum sum = {0};
    drape_i_ode_sum_add(&sum, share, ode->next);
    drape_i_ode_sum_add(&sum, -share, ode->error);
    drape_i_ode_sum_form(ode->ctx, &sum, ode->length, ode->error);
    ode->error_order = steps;
    ode->error_known = true;
}

/* Methods of more than two steps are not A-stable: vibrations that the step resolves poorly grow. */
enum { MOST_STABLE_STEPS = 2 };

/* The weights of an extrapolation have both signs, and grow with the order: 64.8 for six steps. */
bool drape_i_ode_begins_low(const drape_ode *ode) {
    return ode->settings.begin_low && ode->method.steps > MOST_STABLE_STEPS;
}

drape_status drape_i_ode_bdf_step(drape_ode *ode, double h, drape_ode_reason *reason) {
    int32_t steps = ode->method.steps;
    if (ode->damped && steps > MOST_STABLE_STEPS) steps = MOST_STABLE_STEPS;
    double x[DRAPE_I_ODE_MOST_PAST + 1], e = -1;
    if (ode->past_count < steps) {
        if (!ode->ramps) return drape_i_ode_begin_step(ode, steps, h, reason);
        steps = ode->past_count;
    }
    place_nodes(ode, h, ode->past_count < ode->past_room ? ode->past_count : ode->past_room, x);
    double alpha = set_equation(ode, steps, x);
    drape_i_ode_guess(ode, h, 1);
    if (drape_i_ode_estimates(ode)) e = guess_for_error(ode, h, steps, x);
    drape_i_ode_stage stage = {.t = ode->t + h, .c = h / alpha};
    drape_status status = drape_i_ode_solve(ode, &stage, reason);
    if (status || *reason) return status;
    drape_i_vector_copy(ode->ctx, ode->length, ode->newton.Y, ode->next);
    if (e >= 0) estimate(ode, steps, alpha, e);
    /* The slope of the start stays until the past is long enough to do without. */
    ode->next_slope_known = false;
    return DRAPE_OK;
}
