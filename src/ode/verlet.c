/* verlet.c: the Stoermer-Verlet or leapfrog method for M x'' = f, Hauth's (41) and (42):
 *
 *   v_{n+1/2} = v_{n-1/2} + h a_n,   x_{n+1} = x_n + h v_{n+1/2},   a_n = M^-1 f(t_n, x_n, v_{n-1/2})
 *
 * written so that v at whole steps is there too: each kick h a_n is given in two halves, v_n between them. The first
 * half kick from v_0 is the start that the survey's (44) and (45) leave out, and without which the order is 1.
 *
 * Forces that depend on the velocity get that of half a step ago: the method stays explicit, and becomes of order 1.
 * One evaluation a step: slope keeps a_n in its v part. */
#include "ode/ode.h"

/* next = (x + h (v + h/2 a), v + h/2 a) */
static void kick_and_drift(drape_ode *ode, double h) {
    int64_t n = ode->size;
    double *x = ode->past[0], *v = x + n, *a = ode->slope + n;
    drape_i_ode_sum half = {0}, drift = {0};
    drape_i_ode_sum_add(&half, 1, v);
    drape_i_ode_sum_add(&half, 0.5 * h, a);
    drape_i_ode_sum_form(ode->ctx, &half, n, ode->next + n);
    drape_i_ode_sum_add(&drift, 1, x);
    drape_i_ode_sum_add(&drift, h, ode->next + n);
    drape_i_ode_sum_form(ode->ctx, &drift, n, ode->next);
}

drape_status drape_i_ode_verlet_step(drape_ode *ode, double h, drape_ode_reason *reason) {
    int64_t n = ode->size;
    drape_status status = DRAPE_OK;
    if (!ode->slope_known) status = drape_i_ode_derivative(ode, ode->t, ode->past[0], ode->slope, reason);
    if (status || *reason) return status;
    ode->slope_known = true;
    kick_and_drift(ode, h);
    status = drape_i_ode_derivative(ode, ode->t + h, ode->next, ode->next_slope, reason);
    if (status || *reason) return status;
    ode->next_slope_known = true;
    drape_i_ode_sum kick = {0};
    drape_i_ode_sum_add(&kick, 1, ode->next + n);
    drape_i_ode_sum_add(&kick, 0.5 * h, ode->next_slope + n);
    drape_i_ode_sum_form(ode->ctx, &kick, n, ode->next + n);
    return DRAPE_OK;
}
