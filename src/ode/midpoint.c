/* midpoint.c: the implicit midpoint rule, Hauth's (32): with Y = (Y_0 + Y_1)/2 it is an implicit Euler step of h/2
 * and an explicit one,
 *
 *   Y = Y_0 + h/2 F(t + h/2, Y),   Y_1 = 2 Y - Y_0.
 *
 * What is prescribed of x is so at the ends of steps: v between them is (x_1 - x_0)/h, and 2 v - v_0 would swing from
 * step to step, so that v at the end is taken to be the same. */
#include "ode/ode.h"

drape_status drape_i_ode_midpoint_step(drape_ode *ode, double h, drape_ode_reason *reason) {
    drape_i_ode_stage half = {ode->t + 0.5 * h, 0.5 * h, ode->t + h, h};
    drape_i_vector_copy(ode->ctx, ode->length, ode->past[0], ode->newton.psi);
    drape_i_ode_guess(ode, h, 0.5);
    drape_status status = drape_i_ode_solve(ode, &half, reason);
    if (status || *reason) return status;
    drape_i_ode_sum sum = {0};
    drape_i_ode_sum_add(&sum, 2, ode->newton.Y);
    drape_i_ode_sum_add(&sum, -1, ode->past[0]);
    drape_i_ode_sum_form(ode->ctx, &sum, ode->length, ode->next);
    drape_i_ode_prescribe(ode, ode->t + h, h, ode->past[0], ode->next);
    return DRAPE_OK;
}
