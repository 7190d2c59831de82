/* newton.c: the equation of an implicit stage by Newton's method in its variants, Hauth's section 3.
 *
 *   Y = psi + c F(t, Y)
 *
 * First order: G(Y) = Y - psi - c f(t, Y), with the matrix I - c J. Second order: x = psi_x + c v is put in and the
 * rest multiplied by M, which leaves half the unknowns and, where K and D are, a symmetric matrix:
 *
 *   G(v) = M (v - psi_v) - c f(t, psi_x + c v, v),   A = M - c D - c^2 K.
 *
 * (The survey writes (46) to (48) for all of Y, leaves the h out of (48), and begins to count at 1.)
 *
 * A correction s solves A s = -G to |A s + G| <= eta |G|. The corrections tell when to stop. They shrink by a rate,
 * so that after s an error of about rate / (1 - rate) |s| is left (Hairer and Wanner II, IV.8). The rate is
 * remembered from stage to stage, so a stage that is as easy as the last needs one evaluation of f, not two.
 *
 * A matrix that is kept (DRAPE_ODE_SIMPLIFIED) was made for c' and serves for c while they differ by less than 30 %.
 * Its corrections are then wrong by a factor between 1 (where M is most of A) and c'/c or its square (where D or K
 * is). Multiplied by 2 / (1 + c/c') they are right in the middle (Brown, Hindmarsh and Petzold 1994 on VODE and
 * DASPK). Where corrections shrink too slowly the next one gets a new matrix. Corrections without one are krylov.c's.
 */
#include "ode/ode.h"

#include <float.h>
#include <math.h>

/* Of the rate: what is assumed where none was seen; least and most that is believed; how it fades unseen. */
static const double RATE_UNSEEN = 0.5, RATE_LEAST = 1e-3, RATE_MOST = 0.9, RATE_FADES = 1.5;
static const double DIVERGES = 2; /* corrections that grow by this factor end the iteration, without a line search */
static const double SHARE_OF_ERROR = 0.1; /* of the tolerance of the local error */
enum { GUESS_KEPT = 3, MANY_CORRECTIONS = 4 };
static const double SHARE_OF_SURPRISE = 0.3, LEAST_TOLERANCE = 0.003; /* see newton.tolerance */
static const double ROUNDING = 16 * DBL_EPSILON; /* corrections this small, relative to what they correct, are none */
static const double ETA_TIGHT = 1e-10, ETA_LOOSE = 0.02;
static const double SAME_C = 1e-9, NEAR_C = 0.3; /* relative */
static const double RATE_STALE = 0.5;            /* from here on a new matrix is worth its price */
/* Eisenstat and Walker 1996, choice 2: eta = 0.9 (|G| / |G before|)^2, not much below the last one, at most 0.9. */
static const double EW_FIRST = 0.1, EW_GAMMA = 0.9, EW_MOST = 0.9, EW_GUARD = 0.1, EW_LEAST = 1e-6;

typedef struct iteration {
    double G, G_before; /* norms of the residual */
    double s, s_before; /* norms of the correction, over the tolerance */
    double eta;         /* of the last linear solve */
    int32_t count;
} iteration;

static drape_ode_point point_of(const drape_ode *ode, const drape_i_ode_stage *stage) {
    double *Y = ode->newton.Y;
    return (drape_ode_point){stage->t, stage->c, Y, drape_i_ode_velocity(ode, Y)};
}

/* ---- Residual and correction ---- */

/* x = psi_x + c v in newton.Y */
static void complete(drape_ode *ode, const drape_i_ode_stage *stage) {
    drape_i_ode_newton_memory *m = &ode->newton;
    if (!drape_i_ode_is_second(ode)) return;
    drape_i_ode_sum x = {0};
    drape_i_ode_sum_add(&x, 1, m->psi);
    drape_i_ode_sum_add(&x, stage->c, m->Y + ode->size);
    drape_i_ode_sum_form(ode->ctx, &x, ode->size, m->Y);
}

void drape_i_ode_move(drape_ode *ode, const drape_i_ode_stage *stage, double alpha) {
    double *unknown = ode->newton.Y + (ode->length - ode->size);
    drape_i_ode_sum sum = {0};
    ode->newton.E_known = false;
    drape_i_ode_sum_add(&sum, 1, unknown);
    drape_i_ode_sum_add(&sum, alpha, ode->newton.s);
    drape_i_ode_sum_form(ode->ctx, &sum, ode->size, unknown);
    complete(ode, stage);
}

/* f at Y, and the potential there where P is not NULL. */
static drape_status force(drape_ode *ode, const drape_i_ode_stage *stage, double *P) {
    const drape_ode_system *system = &ode->system;
    const drape_ode_point at = point_of(ode, stage);
    ode->counts.f++;
    if (!P) return system->f(system->user, at.t, at.x, at.v, ode->newton.force);
    ode->counts.potentials++;
    return system->f_with_potential(system->user, &at, ode->newton.force, P);
}

/* r before it is filtered; with_potential: and E. */
static drape_status whole_residual(drape_ode *ode, const drape_i_ode_stage *stage, bool with_potential,
                                   drape_ode_reason *reason) {
    drape_i_ode_newton_memory *m = &ode->newton;
    const drape_ode_system *system = &ode->system;
    int64_t n = ode->size, skip = ode->length - n;
    double P = 0;
    drape_status said = force(ode, stage, with_potential ? &P : NULL);
    drape_i_ode_sum lag = {0}, r = {0};
    drape_i_ode_sum_add(&lag, 1, m->psi + skip);
    drape_i_ode_sum_add(&lag, -1, m->Y + skip);
    drape_i_ode_sum_form(ode->ctx, &lag, n, m->product);
    if (!said && system->mass_times) {
        said = system->mass_times(system->user, m->product, m->r);
        drape_i_ode_sum_add(&r, 1, m->r);
    } else {
        drape_i_ode_sum_add(&r, 1, m->product);
    }
    if (said) return drape_i_ode_take(ode, said, "f", stage->t, reason);
    if (with_potential) {
        m->E = 0.5 * drape_i_ode_dot(ode, n, m->product, system->mass_times ? m->r : m->product) + P;
        m->E_known = true;
    }
    drape_i_ode_sum_add(&r, stage->c, m->force);
    drape_i_ode_sum_form(ode->ctx, &r, n, m->r);
    return DRAPE_OK;
}

static void filter_residual(drape_ode *ode) {
    const drape_ode_system *system = &ode->system;
    if (system->filter) system->filter(system->user, DRAPE_ODE_FILTER_RESIDUAL, ode->newton.r);
}

drape_status drape_i_ode_residual(drape_ode *ode, const drape_i_ode_stage *stage, drape_ode_reason *reason) {
    drape_status status = whole_residual(ode, stage, drape_i_ode_has_joint_potential(ode), reason);
    if (!status && !*reason) filter_residual(ode);
    return status;
}

/* Whether the matrix of the last prepare may serve here. */
static bool is_kept(drape_ode *ode, const drape_i_ode_stage *stage, uint64_t stamp) {
    const drape_i_ode_newton_memory *m = &ode->newton;
    bool near = m->made_c > 0 && fabs(stage->c / m->made_c - 1) <= NEAR_C;
    return ode->settings.newton.kind == DRAPE_ODE_SIMPLIFIED && near && m->made_stamp == stamp;
}

static drape_status prepare(drape_ode *ode, const drape_i_ode_stage *stage, drape_ode_reason *reason) {
    drape_i_ode_newton_memory *m = &ode->newton;
    const drape_ode_linear *linear = &ode->system.linear;
    if (ode->settings.newton.kind == DRAPE_ODE_MATRIX_FREE) return DRAPE_OK;
    uint64_t stamp = linear->stamp ? linear->stamp(linear->user) : 0;
    if (is_kept(ode, stage, stamp)) return DRAPE_OK;
    drape_ode_point at = point_of(ode, stage);
    m->made_c = 0;
    ode->counts.jacobians++;
    drape_status said = linear->prepare(linear->user, &at);
    if (said == DRAPE_ERROR_NUMBER) {
        *reason = drape_i_ode_stop(ode, DRAPE_ODE_LINEAR_FAILED,
                                   "the matrix of the step to t = %g s is singular, c = %g s", stage->t, stage->c);
        return DRAPE_OK;
    }
    m->made_c = stage->c;
    m->made_stamp = stamp;
    m->made_here = true;
    if (ode->settings.newton.kind == DRAPE_ODE_SIMPLIFIED) m->rate = 0; /* another matrix, another rate */
    return said;
}

/* Scales a correction by a matrix that was made for another c; ends of equal steps are but rounded. */
static void fit_to_c(drape_ode *ode, const drape_i_ode_stage *stage) {
    drape_i_ode_newton_memory *m = &ode->newton;
    double ratio = m->made_c > 0 ? stage->c / m->made_c : 1;
    drape_i_ode_sum sum = {0};
    if (fabs(ratio - 1) <= SAME_C) return;
    drape_i_ode_sum_add(&sum, 2 / (1 + ratio), m->s);
    drape_i_ode_sum_form(ode->ctx, &sum, ode->size, m->s);
}

/* s with A s = r */
static drape_status correct(drape_ode *ode, const drape_i_ode_stage *stage, double eta, drape_ode_reason *reason) {
    drape_i_ode_newton_memory *m = &ode->newton;
    const drape_ode_linear *linear = &ode->system.linear;
    drape_ode_request request = {point_of(ode, stage), m->r, eta, drape_i_ode_is_second(ode) ? m->psi : NULL};
    drape_ode_answer answer = {0};
    ode->counts.newton++;
    ode->counts.linear_solves++;
    m->in_step++;
    drape_status said = ode->settings.newton.kind == DRAPE_ODE_MATRIX_FREE
                            ? drape_i_ode_krylov_solve(ode, stage, eta, &answer)
                            : linear->solve(linear->user, &request, m->s, &answer);
    ode->counts.linear_iterations += answer.iterations;
    if (said && said != DRAPE_ERROR_NUMBER) return said;
    if (said || answer.failed)
        *reason = drape_i_ode_stop(ode, DRAPE_ODE_LINEAR_FAILED,
                                   "the linear solver failed after %d iterations in the step to t = %g s",
                                   answer.iterations, stage->t);
    else fit_to_c(ode, stage);
    return DRAPE_OK;
}

/* ---- Norms, and how tightly to solve ---- */

/* The largest change of x by the correction s, over the tolerance. */
static double largest_move(drape_ode *ode, const drape_i_ode_stage *stage) {
    const drape_i_ode_newton_memory *m = &ode->newton;
    double tolerance = ode->settings.newton.tolerance;
    int64_t where;
    drape_i_ode_sum unexpected = {0};
    drape_i_ode_sum_add(&unexpected, 1, m->Y);
    drape_i_ode_sum_add(&unexpected, stage->c, m->s);
    drape_i_ode_sum_add(&unexpected, -1, m->extrapolated);
    drape_i_ode_sum_form(ode->ctx, &unexpected, ode->size, m->product);
    double share = SHARE_OF_SURPRISE * drape_i_ode_most(ode, m->product, &where);
    tolerance = fmin(tolerance, fmax(share, LEAST_TOLERANCE * tolerance));
    return stage->c * drape_i_ode_most(ode, m->s, &where) / tolerance;
}

/* |s| relative to the tolerance. If newton.tolerance is set, |s| is the largest change of x; under error control, the
 * norm of the error; else the root mean square over all of Y */
static double correction_norm(drape_ode *ode, const drape_i_ode_stage *stage) {
    const drape_ode_settings *o = &ode->settings;
    const drape_i_ode_newton_memory *m = &ode->newton;
    bool second = drape_i_ode_is_second(ode);
    const drape_i_ode_measured change = {m->Y, m->s, m->s, second ? stage->c : 1};
    if (ode->wants_error) {
        double atol = SHARE_OF_ERROR * o->atol, atol_v = o->atol_v > 0 ? SHARE_OF_ERROR * o->atol_v : atol;
        const drape_i_ode_gauge gauge = {SHARE_OF_ERROR * o->rtol, atol, atol_v, o->largest};
        return drape_i_ode_norm(ode, &gauge, &change) / ode->control.share;
    }
    if (second && o->newton.tolerance > 0) return largest_move(ode, stage);
    return drape_i_ode_norm(ode, &(drape_i_ode_gauge){o->newton.rtol, o->newton.atol, o->newton.atol, false},
                            &change);
}

/* A correction that is but rounding of what the residual is computed from. */
static bool is_rounding(drape_ode *ode) {
    const drape_i_ode_newton_memory *m = &ode->newton;
    int64_t n = ode->size, skip = ode->length - n;
    double ss = drape_i_ode_dot(ode, n, m->s, m->s);
    double scale =
        drape_i_ode_dot(ode, n, m->psi + skip, m->psi + skip) + drape_i_ode_dot(ode, n, m->Y + skip, m->Y + skip);
    return ss <= ROUNDING * ROUNDING * scale;
}

/* Second order: a correction that moves x by no more than its rounding. What rests without forces has no v to compare
 * with, its potential is the square of rounding, and no search finds anything lower. */
static bool moves_nothing(drape_ode *ode, const drape_i_ode_stage *stage) {
    const drape_i_ode_newton_memory *m = &ode->newton;
    if (!drape_i_ode_is_second(ode)) return false;
    double move = stage->c * sqrt(drape_i_ode_dot(ode, ode->size, m->s, m->s));
    return move <= ROUNDING * sqrt(drape_i_ode_dot(ode, ode->size, m->Y, m->Y));
}

static double forcing(const drape_ode *ode, const iteration *it) {
    const drape_ode_newton *o = &ode->settings.newton;
    if (o->kind == DRAPE_ODE_NEWTON || o->kind == DRAPE_ODE_LINEARISED) return o->eta > 0 ? o->eta : ETA_TIGHT;
    if (o->kind != DRAPE_ODE_EISENSTAT_WALKER && o->kind != DRAPE_ODE_MATRIX_FREE)
        return o->eta > 0 ? o->eta : ETA_LOOSE;
    if (it->count == 0) return o->eta > 0 ? o->eta : EW_FIRST;
    double ratio = it->G / it->G_before, eta = EW_GAMMA * ratio * ratio, guard = EW_GAMMA * it->eta * it->eta;
    if (guard > EW_GUARD && guard > eta) eta = guard;
    return eta > EW_MOST ? EW_MOST : eta < EW_LEAST ? EW_LEAST : eta;
}

/* ---- The iteration ---- */

/* The rate to reckon with after this correction. */
static double believed_rate(const drape_ode *ode, const iteration *it) {
    double rate = it->count > 1 ? it->s / it->s_before : ode->newton.rate > 0 ? ode->newton.rate : RATE_UNSEEN;
    if (rate < it->eta && it->eta > ETA_TIGHT) rate = it->eta;
    return rate < RATE_LEAST ? RATE_LEAST : rate;
}

static void remember_rate(drape_ode *ode, const iteration *it, double rate) {
    double *kept = &ode->newton.rate;
    if (it->count == 1 && *kept == 0) return;
    *kept = it->count > 1 ? rate : *kept * RATE_FADES;
    if (*kept > RATE_MOST) *kept = RATE_MOST;
    if (*kept < RATE_LEAST) *kept = RATE_LEAST;
}

/* The error that is left in the stage, over the tolerance. */
static void note_left(drape_ode *ode, double left) {
    double *kept = &ode->newton.left;
    if (*kept < 0 || left < 0) *kept = -1;
    else if (left > *kept) *kept = left;
}

/* Judges the correction s: true where after it no more is needed. */
static bool is_last(drape_ode *ode, const drape_i_ode_stage *stage, iteration *it, drape_ode_reason *reason) {
    it->s_before = it->s;
    it->s = correction_norm(ode, stage);
    it->count++;
    if (!isfinite(it->s)) {
        *reason = drape_i_ode_stop(ode, DRAPE_ODE_NOT_FINITE,
                                   "Newton's correction %d of the step to t = %g s is not a finite number", it->count,
                                   stage->t);
        return false;
    }
    double rate = believed_rate(ode, it);
    if ((rate < 1 && rate / (1 - rate) * it->s <= 1) || is_rounding(ode)) {
        remember_rate(ode, it, rate);
        note_left(ode, rate < 1 && rate / (1 - rate) * it->s < 1 ? rate / (1 - rate) * it->s : 1);
        return true;
    }
    if (it->count > 1 && rate > RATE_STALE && ode->settings.newton.kind == DRAPE_ODE_SIMPLIFIED &&
        !ode->newton.made_here)
        ode->newton.made_c = 0;
    if (it->count > 1 && rate > DIVERGES && ode->settings.newton.line_search == DRAPE_ODE_SEARCH_OFF)
        *reason = drape_i_ode_stop(ode, DRAPE_ODE_NEWTON_DIVERGED,
                                   "Newton's iteration diverges in the step to t = %g s: correction %d is %.3g times "
                                   "the one before",
                                   stage->t, it->count, rate);
    return false;
}

/* The residual at Y as a correction: A is M and what damps, so that A^-1 r is at most about M^-1 r. Without M^-1, the
 * last correction as much smaller as the residual has become. */
static drape_status residual_as_correction(drape_ode *ode, const drape_i_ode_stage *stage, const iteration *it,
                                           double *size, drape_ode_reason *reason) {
    drape_i_ode_newton_memory *m = &ode->newton;
    const drape_ode_system *system = &ode->system;
    double G = sqrt(drape_i_ode_dot(ode, ode->size, m->r, m->r));
    *size = it->G > 0 ? G / it->G * it->s : 0;
    if (system->mass_times && !system->mass_solve) return DRAPE_OK;
    drape_i_vector_copy(ode->ctx, ode->size, m->r, m->s);
    ode->counts.mass_solves += system->mass_solve != NULL;
    drape_status said = system->mass_solve ? system->mass_solve(system->user, m->s) : DRAPE_OK;
    if (said) return drape_i_ode_take(ode, said, "M^-1", stage->t, reason);
    *size = is_rounding(ode) ? 0 : correction_norm(ode, stage);
    return DRAPE_OK;
}

/* Whether what was thought to be the last correction was. Matrix-free systems are solved only roughly, and the
 * remaining residual of a stiff system may hide large errors of its slow parts. So the residual itself must be small
 * there.
 */
static drape_status confirm(drape_ode *ode, const drape_i_ode_stage *stage, const iteration *it, bool *last,
                            drape_ode_reason *reason) {
    double size = 0;
    if (ode->settings.newton.kind != DRAPE_ODE_MATRIX_FREE || is_rounding(ode)) return DRAPE_OK;
    drape_status status = drape_i_ode_residual(ode, stage, reason);
    if (!status && !*reason) status = residual_as_correction(ode, stage, it, &size, reason);
    if (!status && !*reason) *last = size <= 1;
    return status;
}

static drape_status iterate(drape_ode *ode, const drape_i_ode_stage *stage, drape_ode_reason *reason) {
    drape_i_ode_newton_memory *m = &ode->newton;
    int32_t most = ode->settings.newton.max_iterations;
    iteration it = {0};
    drape_status status = drape_i_ode_residual(ode, stage, reason);
    while (!status && !*reason && it.count < most) {
        it.G_before = it.G;
        it.G = sqrt(drape_i_ode_dot(ode, ode->size, m->r, m->r));
        it.eta = forcing(ode, &it);
        status = prepare(ode, stage, reason);
        if (!status && !*reason) status = correct(ode, stage, it.eta, reason);
        if (status || *reason) break;
        bool last = is_last(ode, stage, &it, reason);
        bool done = last;
        if (!*reason) status = drape_i_ode_search(ode, stage, &last, reason);
        if (done && !status && *reason == DRAPE_ODE_SEARCH_FAILED && moves_nothing(ode, stage)) {
            *reason = DRAPE_ODE_DONE;
            ode->text[0] = 0;
            return DRAPE_OK;
        }
        if (last && !status && !*reason) status = confirm(ode, stage, &it, &last, reason);
        if (last && !status && !*reason) {
            if (it.count >= MANY_CORRECTIONS && !m->guess_state) m->guess_kept = 0;
            return DRAPE_OK;
        }
    }
    if (it.count > 0) note_left(ode, it.s);
    if (it.count > 0) drape_i_ode_most(ode, m->s, &m->worst);
    if (!status && !*reason)
        *reason =
            drape_i_ode_stop(ode, DRAPE_ODE_NEWTON_LIMIT,
                             "Newton's iteration has not converged after %d corrections in the step to t = %g s: "
                             "the last is %.3g times the tolerance",
                             it.count, stage->t, it.s);
    return status;
}

/* r += c K (psi_x + c v - x): for x and v that do not fit each other, as Baraff and Witkin's, who linearise at the
 * state before. Then x is as if it fitted. */
static drape_status fit_position(drape_ode *ode, const drape_i_ode_stage *stage, drape_ode_reason *reason) {
    drape_i_ode_newton_memory *m = &ode->newton;
    drape_i_ode_sum gap = {0}, r = {0};
    drape_ode_point at = point_of(ode, stage);
    drape_i_ode_sum_add(&gap, 1, m->psi);
    drape_i_ode_sum_add(&gap, stage->c, m->Y + ode->size);
    drape_i_ode_sum_add(&gap, -1, m->Y);
    drape_i_ode_sum_form(ode->ctx, &gap, ode->size, m->product);
    drape_status said = ode->system.stiffness_times(ode->system.user, &at, m->product, m->force);
    if (said) return drape_i_ode_take(ode, said, "K", stage->t, reason);
    drape_i_ode_sum_add(&r, 1, m->r);
    drape_i_ode_sum_add(&r, stage->c, m->force);
    drape_i_ode_sum_form(ode->ctx, &r, ode->size, m->r);
    return DRAPE_OK;
}

static drape_status linearise(drape_ode *ode, const drape_i_ode_stage *stage, drape_ode_reason *reason) {
    iteration it = {0};
    bool at_state = drape_i_ode_is_second(ode) && ode->system.stiffness_times;
    if (!at_state) complete(ode, stage);
    drape_status status = whole_residual(ode, stage, false, reason);
    if (!status && !*reason && at_state) status = fit_position(ode, stage, reason);
    if (!status && !*reason) filter_residual(ode);
    if (!status && !*reason) status = prepare(ode, stage, reason);
    if (!status && !*reason) status = correct(ode, stage, forcing(ode, &it), reason);
    if (!status && !*reason) drape_i_ode_move(ode, stage, 1);
    note_left(ode, -1);
    return status;
}

static void prescribe(drape_ode *ode, const drape_i_ode_stage *stage) {
    bool as_stage = !(stage->held_c > 0);
    drape_i_ode_prescribe(ode, as_stage ? stage->t : stage->held_t, as_stage ? stage->c : stage->held_c,
                          ode->newton.psi, ode->newton.Y);
}

/* Keeps the unconverged result, if the settings say so. */
static bool is_forgiven(drape_ode *ode, drape_ode_reason reason) {
    bool newtons =
        reason == DRAPE_ODE_NEWTON_LIMIT || reason == DRAPE_ODE_NEWTON_DIVERGED || reason == DRAPE_ODE_SEARCH_FAILED;
    bool wanted = ode->settings.newton.keep_unconverged && ode->settings.control == DRAPE_ODE_FIXED;
    if (!newtons || !wanted) return false;
    ode->counts.unconverged++;
    ode->newton.unconverged++;
    ode->newton.forgiven = reason;
    ode->text[0] = 0;
    return true;
}

/* Extrapolation is the better guess for smooth motion, but amplifies rough motion. If there is a potential, it
 * decides between the extrapolation in Y and the previous state. What was better is not asked again for a few stages,
 * nor is it any longer once Newton's iteration takes many corrections from an extrapolation. */
static drape_status choose_guess(drape_ode *ode, const drape_i_ode_stage *stage, drape_ode_reason *reason) {
    drape_i_ode_newton_memory *m = &ode->newton;
    const drape_ode_newton *o = &ode->settings.newton;
    double extrapolated, state;
    if (o->guess_from_state || o->guess_extrapolated || !m->guessed || !drape_i_ode_has_potential(ode))
        return DRAPE_OK;
    if (m->guess_kept-- > 0) {
        if (!m->guess_state) return DRAPE_OK;
        drape_i_vector_copy(ode->ctx, ode->length, ode->past[0], m->Y);
        prescribe(ode, stage);
        complete(ode, stage);
        return DRAPE_OK;
    }
    drape_status status = drape_i_ode_potential(ode, stage, &extrapolated, reason);
    if (status) return status;
    bool usable = !*reason && isfinite(extrapolated);
    *reason = DRAPE_ODE_DONE;
    drape_i_vector_copy(ode->ctx, ode->length, m->Y, m->first);
    drape_i_vector_copy(ode->ctx, ode->length, ode->past[0], m->Y);
    prescribe(ode, stage);
    complete(ode, stage);
    status = drape_i_ode_potential(ode, stage, &state, reason);
    if (status || *reason) return status;
    m->guess_state = !usable || extrapolated > state;
    m->guess_kept = GUESS_KEPT;
    if (!m->guess_state) drape_i_vector_copy(ode->ctx, ode->length, m->first, m->Y);
    m->E = m->guess_state ? state : extrapolated;
    m->E_known = true;
    return DRAPE_OK;
}

static drape_status solve_checked(drape_ode *ode, const drape_i_ode_stage *stage, drape_ode_reason *reason) {
    drape_i_ode_newton_memory *m = &ode->newton;
    complete(ode, stage);
    m->E_known = false;
    drape_status status = choose_guess(ode, stage, reason);
    if (status || *reason) return status;
    drape_i_vector_copy(ode->ctx, ode->length, m->Y, m->first);
    status = iterate(ode, stage, reason);
    bool stale = ode->settings.newton.kind == DRAPE_ODE_SIMPLIFIED && !m->made_here;
    if (!*reason) return status;
    m->rate = 0;
    if (!stale || status) return status;
    m->made_c = 0; /* again with a matrix made here */
    *reason = DRAPE_ODE_DONE;
    drape_i_vector_copy(ode->ctx, ode->length, m->first, m->Y);
    m->E_known = false;
    return iterate(ode, stage, reason);
}

drape_status drape_i_ode_solve(drape_ode *ode, const drape_i_ode_stage *stage, drape_ode_reason *reason) {
    drape_i_ode_newton_memory *m = &ode->newton;
    m->made_here = false;
    m->last_c = 0;
    m->stages++;
    prescribe(ode, stage);
    if (ode->settings.newton.kind == DRAPE_ODE_LINEARISED) return linearise(ode, stage, reason);
    drape_ode_point lagged = {.t = stage->t, .c = stage->c, .x = m->extrapolated};
    if (ode->system.lag) ode->system.lag(ode->system.user, &lagged);
    drape_status status = solve_checked(ode, stage, reason);
    if (ode->system.lag) ode->system.lag(ode->system.user, NULL);
    m->guessed = false;
    if (!status && is_forgiven(ode, *reason)) *reason = DRAPE_ODE_DONE;
    m->last_t = stage->t;
    m->last_c = stage->c;
    return status;
}

void drape_ode_damp(drape_ode *ode, bool on) {
    if (ode) ode->damped = on && ode->settings.control == DRAPE_ODE_FIXED;
}

drape_ode_stage drape_ode_last_stage(const drape_ode *ode) {
    if (!ode) return (drape_ode_stage){0};
    const drape_i_ode_newton_memory *m = &ode->newton;
    if (!(m->last_c > 0)) return (drape_ode_stage){.number = m->stages};
    return (drape_ode_stage){.number = m->stages,
                             .t = m->last_t,
                             .c = m->last_c,
                             .x = m->Y,
                             .v = drape_i_ode_velocity(ode, m->Y),
                             .psi = m->psi,
                             .psi_v = drape_i_ode_velocity(ode, m->psi),
                             .lagged_x = ode->system.lag ? m->extrapolated : NULL};
}
