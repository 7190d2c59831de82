/* search.c: how far to go along a correction s.
 *
 * Armijo's rule. Where the system has a potential, on the incremental potential, whose gradient is G,
 *
 *   E(v) = (v - psi_v)' M (v - psi_v) / 2 + P(v),   E(v + a s) <= E(v) + 1e-4 a G's,
 *
 * if s goes down in it at all; else on the residual, |G(v + a s)| <= (1 - 1e-4 a) |G(v)|. The evaluation of f at the
 * new place is the one that the next iteration needs anyway; where the system gives P with it, it comes first. A
 * correction that is thought to be the last is checked too where there is a potential: every step that is taken goes
 * down in it. Without one it is taken as it is. Where the change of E is lost in the rounding of its sums, the slope
 * decides, as below.
 *
 * DRAPE_ODE_SEARCH_SLOPE, if there is no potential: the slope g(a) = G(v + a s)'s starts below 0 when A is positive
 * definite. s is short enough if g(a) <= 0.9 |g(0)|: then the lowest point along s has not been passed, or not by
 * far. Steps against stiff springs are cut as by a potential. |G|, which consists almost only of the stiff part,
 * would not let the soft springs make any move that bends a stiff one a little. */
#include "ode/ode.h"

#include <float.h>
#include <math.h>

enum { MOST_CUTS = 20 };
static const double ARMIJO = 1e-4;
static const double SLOPE = 0.9;                /* of the slope at the beginning: what is enough of a decrease */
static const double ROUNDING = 8 * DBL_EPSILON; /* differences of E below this share of it say nothing */
static const double UNCLEAR = 1e-11; /* differences of E below this share of its parts leave it to the slope */

bool drape_i_ode_has_potential(const drape_ode *ode) {
    const drape_ode_system *system = &ode->system;
    return system->potential && (!system->has_potential || system->has_potential(system->user));
}

bool drape_i_ode_has_joint_potential(const drape_ode *ode) {
    return ode->system.f_with_potential && ode->settings.newton.line_search != DRAPE_ODE_SEARCH_OFF &&
           drape_i_ode_has_potential(ode);
}

drape_status drape_i_ode_potential(drape_ode *ode, const drape_i_ode_stage *stage, double *E,
                                   drape_ode_reason *reason) {
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
    *E = 0.5 * drape_i_ode_dot(ode, n, m->product, product) + P;
    return said ? drape_i_ode_take(ode, said, "the potential", stage->t, reason) : DRAPE_OK;
}

typedef struct merit {
    bool by_potential, by_slope;
    double E, slope; /* at the beginning: E, and G's < 0 */
    double G;        /* |G| */
} merit;

/* Whether a difference of E may be rounding error of the sums that make up E. These include the stage's kinetic
 * energy and, with either sign, its changes by the forces. */
static bool is_rounding(drape_ode *ode, double difference, double E) {
    const drape_i_ode_newton_memory *m = &ode->newton;
    int64_t n = ode->size, skip = ode->length - n;
    const double *v = m->Y + skip, *Mv = v;
    if (ode->system.mass_times && ode->system.mass_times(ode->system.user, v, m->force) == DRAPE_OK) Mv = m->force;
    return fabs(difference) <= UNCLEAR * (fabs(E) + drape_i_ode_dot(ode, n, v, Mv));
}

/* Judging by r, the lowest place along s was passed by far. */
static bool has_passed_lowest(drape_ode *ode, const merit *start) {
    return -drape_i_ode_dot(ode, ode->size, ode->newton.r, ode->newton.s) > -SLOPE * start->slope;
}

/* Whether the place in newton.Y, a share alpha along s, is low enough; *E is the potential there, where the search
 * goes by it. Where the place is, and is not the last, r is computed there. */
static drape_status is_lower(drape_ode *ode, const drape_i_ode_stage *stage, const merit *start, double alpha,
                             bool last, double *E, bool *lower, drape_ode_reason *reason) {
    drape_i_ode_newton_memory *m = &ode->newton;
    drape_status status = DRAPE_OK;
    *lower = false;
    if (start->by_potential) {
        bool joint = !last && drape_i_ode_has_joint_potential(ode);
        status = joint ? drape_i_ode_residual(ode, stage, reason) : drape_i_ode_potential(ode, stage, E, reason);
        if (status || *reason) return status;
        if (joint) *E = m->E;
        *lower = *E <= start->E + ARMIJO * alpha * start->slope + ROUNDING * fabs(start->E);
        m->E = *E;
        m->E_known = *lower;
        bool unclear = !*lower && is_rounding(ode, *E - start->E, *E);
        if (!joint && (unclear || (*lower && !last))) status = drape_i_ode_residual(ode, stage, reason);
        if (unclear && !status && !*reason) *lower = !has_passed_lowest(ode, start);
        return status;
    }
    status = drape_i_ode_residual(ode, stage, reason);
    if (status || *reason) return status;
    if (start->by_slope) {
        *lower = !has_passed_lowest(ode, start);
        return DRAPE_OK;
    }
    double G = sqrt(drape_i_ode_dot(ode, ode->size, m->r, m->r));
    *lower = G <= (1 - ARMIJO * alpha) * start->G;
    return DRAPE_OK;
}

static drape_status begin(drape_ode *ode, const drape_i_ode_stage *stage, merit *start, drape_ode_reason *reason) {
    drape_i_ode_newton_memory *m = &ode->newton;
    drape_status status = DRAPE_OK;
    start->G = sqrt(drape_i_ode_dot(ode, ode->size, m->r, m->r));
    start->slope = -drape_i_ode_dot(ode, ode->size, m->r, m->s);
    start->by_potential = drape_i_ode_has_potential(ode) && start->slope < 0;
    start->by_slope = ode->settings.newton.line_search == DRAPE_ODE_SEARCH_SLOPE && start->slope < 0;
    if (start->by_potential && !m->E_known) status = drape_i_ode_potential(ode, stage, &m->E, reason);
    start->E = m->E;
    return status;
}

/* What the system allows of s. */
static double allowed(drape_ode *ode, const drape_i_ode_stage *stage) {
    const drape_ode_system *system = &ode->system;
    drape_ode_point at = {stage->t, stage->c, ode->newton.Y, drape_i_ode_velocity(ode, ode->newton.Y)};
    double share = system->bound ? system->bound(system->user, &at, ode->newton.s) : 1;
    return share > 0 ? fmin(share, 1) : 0;
}

/* A fraction of s shorter than alpha, which led to E. It minimises the parabola through E there and E and its slope
 * at the beginning, limited to between a tenth and a half of alpha. */
static double shorter(const merit *start, double alpha, double E) {
    double bend = E - start->E - alpha * start->slope;
    double lowest = start->by_potential && bend > 0 ? -0.5 * start->slope * alpha * alpha / bend : 0.5 * alpha;
    return fmin(fmax(lowest, 0.1 * alpha), 0.5 * alpha);
}

static drape_status go_down(drape_ode *ode, const drape_i_ode_stage *stage, const merit *start, double alpha,
                            bool *last, drape_ode_reason *reason) {
    const double whole = alpha;
    bool lower = false;
    drape_i_ode_move(ode, stage, alpha);
    for (int32_t cuts = 0; cuts <= MOST_CUTS; cuts++) {
        double E = NAN;
        *last = *last && alpha == 1;
        drape_status status = is_lower(ode, stage, start, alpha, *last, &E, &lower, reason);
        if (status || (lower && !*reason)) return status;
        *reason = DRAPE_ODE_DONE; /* where f cannot be computed it is not lower either */
        ode->counts.cuts++;
        double next = shorter(start, alpha, E);
        drape_i_ode_move(ode, stage, next - alpha);
        alpha = next;
    }
    drape_i_ode_move(ode, stage, -alpha);
    *reason = drape_i_ode_stop(ode, DRAPE_ODE_SEARCH_FAILED,
                               "no part of Newton's correction reduces the residual in the step to t = %g s: "
                               "residual %.3g, fractions of the correction from %.3g to %.3g",
                               stage->t, start->G, alpha, whole);
    return DRAPE_OK;
}

drape_status drape_i_ode_search(drape_ode *ode, const drape_i_ode_stage *stage, bool *last,
                                drape_ode_reason *reason) {
    merit start = {0};
    bool checked = drape_i_ode_has_potential(ode) || ode->system.bound;
    if (ode->settings.newton.line_search == DRAPE_ODE_SEARCH_OFF || (*last && !checked)) {
        drape_i_ode_move(ode, stage, 1);
        return *last ? DRAPE_OK : drape_i_ode_residual(ode, stage, reason);
    }
    drape_status status = begin(ode, stage, &start, reason);
    if (status || *reason) return status;
    double alpha = allowed(ode, stage);
    if (alpha > 0) return go_down(ode, stage, &start, alpha, last, reason);
    *reason = drape_i_ode_stop(ode, DRAPE_ODE_SEARCH_FAILED,
                               "no part of Newton's correction is allowed in the step to t = %g s", stage->t);
    return DRAPE_OK;
}
