/* tr_bdf2.c: the trapezoidal rule to a place inside the step, then BDF2 through the beginning, that place and the end
 * (Bank et al. 1985; Hosea and Shampine 1996). With g = 2 - sqrt 2 both stages have the same c = g h / 2, and the
 * same matrix where the system is linear:
 *
 *   Y_g = Y_0 + c F(t, Y_0) + c F(t + g h, Y_g)
 *   Y_1 = (Y_g - (1 - g)^2 Y_0) / (g (2 - g)) + c F(t + h, Y_1)
 *
 * Order 2, L-stable, and needs no state before the present one, so nothing restarts. F(t, Y_0) is that of the step
 * before, (Y_1 - psi)/c: an evaluation would not know what the constraints carry.
 *
 * At the start there is no such slope, and after a step whose result was projected it is wrong. Contact that moves a
 * few vertices leaves large forces between them and their neighbours, and the trapezoidal rule would follow them.
 * Then the step is that of Alexander (1977). It has the same c and the same stability function, and uses no slope of
 * the beginning:
 *
 *   Y_g = Y_0 + c F(t + c, Y_g)
 *   Y_1 = Y_0 + (h - c) (Y_g - Y_0)/c + c F(t + h, Y_1) */
#include "ode/ode.h"

static const double G = 0.58578643762690495; /* 2 - sqrt 2 */

static drape_status solve_stage(drape_ode *ode, double h, double ahead, drape_ode_reason *reason) {
    drape_i_ode_stage stage = {.t = ode->t + ahead * h, .c = 0.5 * G * h};
    drape_i_ode_guess(ode, h, ahead);
    return drape_i_ode_solve(ode, &stage, reason);
}

/* The slope at the end of the second stage. */
static void keep_slope(drape_ode *ode, double h) {
    const double share = 1 / (0.5 * G * h);
    drape_i_ode_sum slope = {0};
    drape_i_ode_sum_add(&slope, share, ode->newton.Y);
    drape_i_ode_sum_add(&slope, -share, ode->newton.psi);
    drape_i_ode_sum_form(ode->ctx, &slope, ode->length, ode->next_slope);
    ode->next_slope_known = true;
}

/* psi = of_Y Y + of_state Y_0 */
static void set_psi(drape_ode *ode, double of_Y, double of_state) {
    drape_i_ode_sum psi = {0};
    drape_i_ode_sum_add(&psi, of_Y, ode->newton.Y);
    drape_i_ode_sum_add(&psi, of_state, ode->past[0]);
    drape_i_ode_sum_form(ode->ctx, &psi, ode->length, ode->newton.psi);
}

static drape_status trapezoid(drape_ode *ode, double h, drape_ode_reason *reason) {
    drape_i_ode_sum psi = {0};
    drape_i_ode_sum_add(&psi, 1, ode->past[0]);
    drape_i_ode_sum_add(&psi, 0.5 * G * h, ode->slope);
    drape_i_ode_sum_form(ode->ctx, &psi, ode->length, ode->newton.psi);
    drape_status status = solve_stage(ode, h, G, reason);
    if (!status && !*reason) set_psi(ode, 1 / (G * (2 - G)), -(1 - G) * (1 - G) / (G * (2 - G)));
    return status;
}

static drape_status euler(drape_ode *ode, double h, drape_ode_reason *reason) {
    drape_i_vector_copy(ode->ctx, ode->length, ode->past[0], ode->newton.psi);
    drape_status status = solve_stage(ode, h, 0.5 * G, reason);
    if (!status && !*reason) set_psi(ode, (2 - G) / G, 1 - (2 - G) / G);
    return status;
}

/* Dense output begins with the slope at the beginning (interpolate.c). */
static drape_status find_slope(drape_ode *ode, drape_ode_reason *reason) {
    if (ode->slope_known || !ode->settings.dense_output) return DRAPE_OK;
    drape_status status = drape_i_ode_derivative(ode, ode->t, ode->past[0], ode->slope, reason);
    ode->slope_known = !status && !*reason;
    return status;
}

drape_status drape_i_ode_tr_bdf2_step(drape_ode *ode, double h, drape_ode_reason *reason) {
    const bool smooth = ode->slope_continues;
    drape_status status = find_slope(ode, reason);
    if (status || *reason) return status;
    status = smooth ? trapezoid(ode, h, reason) : euler(ode, h, reason);
    if (status || *reason) return status;
    status = solve_stage(ode, h, 1, reason);
    if (status || *reason) return status;
    drape_i_vector_copy(ode->ctx, ode->length, ode->newton.Y, ode->next);
    keep_slope(ode, h);
    return DRAPE_OK;
}
