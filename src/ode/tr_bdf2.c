/* tr_bdf2.c: the trapezoidal rule to a place inside the step, then BDF2 through the beginning, that place and the end
 * (Bank et al. 1985; Hosea and Shampine 1996). With g = 2 - sqrt 2 both stages have the same c = g h / 2, and the
 * same matrix where the system is linear:
 *
 *   Y_g = Y_0 + c F(t, Y_0) + c F(t + g h, Y_g)
 *   Y_1 = (Y_g - (1 - g)^2 Y_0) / (g (2 - g)) + c F(t + h, Y_1)
 *
 * Order 2, L-stable, and needs no state before the present one, so nothing restarts. F(t, Y_0) is that of the step
 * before, (Y_1 - psi)/c: an evaluation would not know what the constraints carry. */
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

drape_status drape_i_ode_tr_bdf2_step(drape_ode *ode, double h, drape_ode_reason *reason) {
    drape_status status = DRAPE_OK;
    if (!ode->slope_known) status = drape_i_ode_derivative(ode, ode->t, ode->past[0], ode->slope, reason);
    if (status || *reason) return status;
    ode->slope_known = true;
    drape_i_ode_sum trapezoid = {0}, bdf2 = {0};
    drape_i_ode_sum_add(&trapezoid, 1, ode->past[0]);
    drape_i_ode_sum_add(&trapezoid, 0.5 * G * h, ode->slope);
    drape_i_ode_sum_form(ode->ctx, &trapezoid, ode->length, ode->newton.psi);
    status = solve_stage(ode, h, G, reason);
    if (status || *reason) return status;
    drape_i_ode_sum_add(&bdf2, 1 / (G * (2 - G)), ode->newton.Y);
    drape_i_ode_sum_add(&bdf2, -(1 - G) * (1 - G) / (G * (2 - G)), ode->past[0]);
    drape_i_ode_sum_form(ode->ctx, &bdf2, ode->length, ode->newton.psi);
    status = solve_stage(ode, h, 1, reason);
    if (status || *reason) return status;
    drape_i_vector_copy(ode->ctx, ode->length, ode->newton.Y, ode->next);
    keep_slope(ode, h);
    return DRAPE_OK;
}
