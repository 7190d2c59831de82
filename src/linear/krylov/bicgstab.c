/* bicgstab.c: BiCGStab (van der Vorst 1992) for matrices that are not symmetric, with the preconditioner on the
 * right, in the two ways that Ascher and Boxerman (2003, section 6, remark 2) propose for constraints:
 *
 *   bicgstab           on B x = c of their eq. (6), B = S A + (I-S), c = S b + (I-S) z; the preconditioner is that of
 *                      the prefiltered matrix. All vectors lie in the range of S, where B is S A; I - S, which would
 *                      mix units, need not be added.
 *   bicgstab-filtered  on A x = b, with every product filtered as in MPCG; the preconditioner is that of A
 *
 *     rho = r~'r,   beta = (rho / rho before)(alpha / omega),   p <- r + beta (p - omega v),
 *     v = S A M^-1 p,   alpha = rho / r~'v,   s = r - alpha v,
 *     t = S A M^-1 s,   omega = t's / t't,   x <- x + alpha M^-1 p + omega M^-1 s,   r <- s - omega t
 *
 * r~ is the first residual. Both ways start from S y + (I-S) z, and so keep the constraints except for rounding. r
 * and p stay in the range of S except for rounding. The method would magnify that until it is most of x's error, or
 * until r no longer shrinks, so both are filtered on every pass. rho or omega that vanish are a breakdown. The method
 * then restarts from the present x with its residual. It gives up after RESTARTS of them in a row that did not halve
 * the residual. Cost per iteration: two multiplies, two applications. */
#include "linear/method.h"

#include <math.h>

typedef struct vectors {
    double *r, *shadow, *p, *v, *s, *t, *p_hat, *s_hat;
} vectors;

static const double VANISHED = 1e-14; /* cosine of two vectors that are orthogonal except for rounding */
enum { RESTARTS = 4 };

/* out = M^-1 in, in the range of S; a prefiltered preconditioner stays there by itself. */
static void precondition(drape_i_solve *s, bool filtered, const double *in, double *out) {
    drape_i_precondition(s, in, out);
    if (filtered) drape_i_project(s, out);
}

/* One iteration from r, p, v and rho = r~'r; false: a number vanished. */
static bool iterate(drape_i_solve *s, bool filtered, vectors *w, double rho, double *alpha, double *omega) {
    precondition(s, filtered, w->p, w->p_hat);
    drape_i_times_filtered(s, w->p_hat, w->v);
    double along = drape_i_inner(s, w->shadow, w->v);
    if (along == 0) return false;
    *alpha = rho / along;
    drape_i_copy(s, w->r, w->s);
    drape_i_add(s, -*alpha, w->v, w->s);
    precondition(s, filtered, w->s, w->s_hat);
    drape_i_times_filtered(s, w->s_hat, w->t);
    double tt = drape_i_norm2(s, w->t);
    *omega = tt > 0 ? drape_i_inner(s, w->t, w->s) / tt : 0;
    drape_i_add(s, *alpha, w->p_hat, s->x);
    drape_i_add(s, *omega, w->s_hat, s->x);
    drape_i_copy(s, w->s, w->r);
    drape_i_add(s, -*omega, w->t, w->r);
    drape_i_project(s, w->r);
    s->result->iterations++;
    return true;
}

/* p <- r + beta (p - omega v) */
static void turn(drape_i_solve *s, vectors *w, double beta, double omega) {
    drape_i_add(s, -omega, w->v, w->p);
    drape_i_combine(s, w->r, beta, w->p);
    drape_i_project(s, w->p);
}

/* From a fresh shadow residual until it ends or breaks down; true: it ended, with a reason. */
static bool run(drape_i_solve *s, bool filtered, vectors *w, double rr) {
    double rho = rr, shadow2 = rr, alpha = 1, omega = 1;
    drape_i_copy(s, w->r, w->shadow);
    drape_i_copy(s, w->r, w->p);
    for (;;) {
        if (!iterate(s, filtered, w, rho, &alpha, &omega)) return false;
        rr = drape_i_norm2(s, w->r);
        if (!drape_i_go_on(s, rr, rr)) return true;
        double before = rho;
        rho = drape_i_inner(s, w->shadow, w->r);
        if (fabs(rho) <= VANISHED * sqrt(shadow2) * sqrt(rr) || omega == 0) return false;
        turn(s, w, rho / before * (alpha / omega), omega);
    }
}

static drape_status solve(drape_i_solve *s, bool filtered) {
    vectors w = {s->work[0], s->work[1], s->work[2], s->work[3], s->work[4], s->work[5], s->work[6], s->work[7]};
    drape_i_begin_unpreconditioned(s, s->problem->guess, w.r, w.t);
    double rr = drape_i_norm2(s, w.r);
    bool ended = !drape_i_go_on(s, rr, rr);
    for (int32_t vain = 0; !ended && vain < RESTARTS;) {
        double before = rr;
        ended = run(s, filtered, &w, rr);
        if (ended) break;
        drape_i_residual(s, s->x, w.r);
        rr = drape_i_norm2(s, w.r);
        ended = !drape_i_go_on(s, rr, rr);
        vain = rr < before / 4 ? 0 : vain + 1;
    }
    if (!ended) s->result->reason = DRAPE_BREAKDOWN;
    return DRAPE_OK;
}

static drape_status solve_whole(drape_i_solve *s) { return solve(s, false); }
static drape_status solve_filtered(drape_i_solve *s) { return solve(s, true); }

const drape_i_method drape_i_method_bicgstab = {.name = "bicgstab",
                                                .about = "BiCGStab on Ascher and Boxerman's B x = c; A need not be "
                                                         "symmetric",
                                                .preconditioned = true,
                                                .prefiltered = true,
                                                .unsymmetric = true,
                                                .vectors = 8,
                                                .solve = solve_whole};
const drape_i_method drape_i_method_bicgstab_filtered = {.name = "bicgstab-filtered",
                                                         .about = "BiCGStab filtered as MPCG is; A need not be "
                                                                  "symmetric",
                                                         .preconditioned = true,
                                                         .unsymmetric = true,
                                                         .vectors = 8,
                                                         .solve = solve_filtered};
