/* sdirk2.c: the diagonally implicit Runge-Kutta method of order 2 with two equal stages (Alexander 1977, SIAM J.
 * Numer. Anal. 14), with g = 1 - 1/sqrt 2:
 *
 *   Y_a = Y_0 + g h F(t + g h, Y_a)
 *   Y_1 = Y_0 + (1 - g) h F(t + g h, Y_a) + g h F(t + h, Y_1)
 *
 * A-stable, and what the step does not resolve is damped at once (L-stable). F of the first stage is (Y_a - Y_0)/(g
 * h), so nothing is evaluated besides. */
#include "ode/ode.h"

static const double G = 0.29289321881345254;

drape_i_ode_stepper drape_i_ode_sdirk2_step;

/* Y = psi + g h F(at, Y), from a guess; Y is in newton.Y. */
static drape_status solve_stage(drape_ode *ode, double h, double ahead, drape_ode_reason *reason) {
    drape_i_ode_stage stage = {.t = ode->t + ahead * h, .c = G * h};
    drape_i_ode_guess(ode, h, ahead);
    return drape_i_ode_solve(ode, &stage, reason);
}

drape_status drape_i_ode_sdirk2_step(drape_ode *ode, double h, drape_ode_reason *reason) {
    drape_i_vector_copy(ode->ctx, ode->length, ode->past[0], ode->newton.psi);
    drape_status status = solve_stage(ode, h, G, reason);
    if (status || *reason) return status;
    drape_i_ode_sum psi = {0};
    drape_i_ode_sum_add(&psi, 1 - (1 - G) / G, ode->past[0]);
    drape_i_ode_sum_add(&psi, (1 - G) / G, ode->newton.Y);
    drape_i_ode_sum_form(ode->ctx, &psi, ode->length, ode->newton.psi);
    status = solve_stage(ode, h, 1, reason);
    if (status || *reason) return status;
    drape_i_vector_copy(ode->ctx, ode->length, ode->newton.Y, ode->next);
    return DRAPE_OK;
}
