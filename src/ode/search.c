/* search.c: how far to go along a correction s.
 *
 * Armijo's rule with halving. Where the system has a potential, on the incremental potential, whose gradient is G,
 *
 *   E(v) = (v - psi_v)' M (v - psi_v) / 2 + P(v),   E(v + a s) <= E(v) + 1e-4 a G's,
 *
 * if s goes down in it at all; else on the residual, |G(v + a s)| <= (1 - 1e-4 a) |G(v)|. The evaluation of f at the
 * new place is the one that the next iteration needs anyway.
 *
 * DRAPE_ODE_SEARCH_SLOPE, where there is no potential: the slope g(a) = G(v + a s)'s starts below 0 when A is
 * positive definite, and s is short enough where g(a) <= 0.9 |g(0)|: the lowest place on the way has not been passed,
 * or not by far. Steps against stiff springs are cut as by a potential, while |G|, in which the stiff part is nearly
 * all, would forbid the soft ones every move that bends a stiff spring a little. */
#include "ode/ode.h"

#include <float.h>
#include <math.h>

enum { MOST_CUTS = 20 };
static const double ARMIJO = 1e-4;
static const double SLOPE = 0.9;                /* of the slope at the beginning: what is enough of a decrease */
static const double ROUNDING = 8 * DBL_EPSILON; /* differences of E below this share of it say nothing */

/* The incremental potential at newton.Y. */
static drape_status potential(drape_ode *ode, const drape_i_ode_stage *stage, double *E, drape_ode_reason *reason) {
    drape_i_ode_newton_memory *m = &ode->newton;
    const drape_ode_system *system = &ode->system;
    int64_t n = ode->size, skip = ode->length - n;
    drape_ode_point at = {stage->t, stage->c, m->Y, drape_i_ode_velocity(ode, m->Y)};
    double P = 0;
    drape_i_ode_sum lag = {0};
    drape_i_ode_sum_add(&lag, 1, m->Y + skip);
    drape_i_ode_sum_add(&lag, -1, m->psi + skip);
    drape_i_ode_sum_form(ode->ctx, &lag, n, m->product);
    ode->counts.potentials++;
    drape_status said = system->potential(system->user, &at, &P);
    const double *product = m->product;
    if (!said && system->mass_times) {
        said = system->mass_times(system->user, m->product, m->force);
        product = m->force;
    }
    *E = 0.5 * drape_i_dot(ode->ctx, n, m->product, product) + P;
    return said ? drape_i_ode_take(ode, said, "the potential", stage->t, reason) : DRAPE_OK;
}

typedef struct merit {
    bool by_potential, by_slope;
    double E, slope; /* at the beginning: E, and G's < 0 */
    double G;        /* |G| */
} merit;

/* Whether the place in newton.Y, a share alpha along s, is low enough; r is computed there where it is. */
static drape_status is_lower(drape_ode *ode, const drape_i_ode_stage *stage, const merit *start, double alpha,
                             bool *lower, drape_ode_reason *reason) {
    drape_status status = DRAPE_OK;
    *lower = false;
    if (start->by_potential) {
        double E;
        status = potential(ode, stage, &E, reason);
        if (status || *reason) return status;
        *lower = E <= start->E + ARMIJO * alpha * start->slope + ROUNDING * fabs(start->E);
        return *lower ? drape_i_ode_residual(ode, stage, reason) : DRAPE_OK;
    }
    status = drape_i_ode_residual(ode, stage, reason);
    if (status || *reason) return status;
    if (start->by_slope) {
        *lower = -drape_i_dot(ode->ctx, ode->size, ode->newton.r, ode->newton.s) <= -SLOPE * start->slope;
        return DRAPE_OK;
    }
    double G = sqrt(drape_i_dot(ode->ctx, ode->size, ode->newton.r, ode->newton.r));
    *lower = G <= (1 - ARMIJO * alpha) * start->G;
    return DRAPE_OK;
}

static bool has_potential(const drape_ode_system *system) {
    return system->potential && (!system->has_potential || system->has_potential(system->user));
}

static drape_status begin(drape_ode *ode, const drape_i_ode_stage *stage, merit *start, drape_ode_reason *reason) {
    const drape_i_ode_newton_memory *m = &ode->newton;
    start->G = sqrt(drape_i_dot(ode->ctx, ode->size, m->r, m->r));
    start->slope = -drape_i_dot(ode->ctx, ode->size, m->r, m->s);
    start->by_potential = has_potential(&ode->system) && start->slope < 0;
    start->by_slope = ode->settings.newton.line_search == DRAPE_ODE_SEARCH_SLOPE && start->slope < 0;
    return start->by_potential ? potential(ode, stage, &start->E, reason) : DRAPE_OK;
}

drape_status drape_i_ode_search(drape_ode *ode, const drape_i_ode_stage *stage, drape_ode_reason *reason) {
    merit start = {0};
    double alpha = 1;
    bool lower = false;
    if (ode->settings.newton.line_search == DRAPE_ODE_SEARCH_OFF) {
        drape_i_ode_move(ode, stage, 1);
        return drape_i_ode_residual(ode, stage, reason);
    }
    drape_status status = begin(ode, stage, &start, reason);
    if (status || *reason) return status;
    drape_i_ode_move(ode, stage, 1);
    for (int32_t cuts = 0; cuts <= MOST_CUTS; cuts++) {
        status = is_lower(ode, stage, &start, alpha, &lower, reason);
        if (status || (lower && !*reason)) return status;
        *reason = DRAPE_ODE_DONE; /* where f cannot be computed it is not lower either */
        ode->counts.cuts++;
        alpha /= 2;
        drape_i_ode_move(ode, stage, -alpha);
    }
    *reason = drape_i_ode_stop(ode, DRAPE_ODE_SEARCH_FAILED,
                               "no part of Newton's correction goes down in the step to t = %g s: residual %.3g",
                               stage->t, start.G);
    return DRAPE_OK;
}
