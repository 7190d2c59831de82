/* begin.c: one step of order p from implicit Euler steps alone, to begin multistep methods with.
 *
 * T_m, the result of m implicit Euler steps of h/m, has an error in powers of h/m. The combination
 *
 *   sum_m w_m T_m,   w_m = prod_{i != m} m / (m - i),   m = 1..p
 *
 * has the first p - 1 of them taken out: order p. (Aitken and Neville's scheme with the harmonic sequence; Deuflhard
 * 1985.) It damps stiff components as implicit Euler does, which explicit beginnings would blow up. p (p + 1) / 2
 * solves. A multistep method of order k keeps its order when its few first states are wrong by O(h^k), for which
 * steps of order k - 1 would do; but then theirs is most of the error (three quarters of it in the survey's example
 * 1b by BDF2).
 *
 * Where an estimate of the error is wanted, it is the difference to the combination of order p - 1. */
#include "ode/ode.h"

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
        if (drape_i_ode_estimates(ode)) add_to_estimate(ode, m, order);
    }
    return DRAPE_OK;
}
