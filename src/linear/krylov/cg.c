/* cg.c: conjugate gradients as in the textbooks, to be read from the top: without a preconditioner, with one, and
 * with the filter of constraints; and steepest descent, to compare with. mpcg.c and ppcg.c build on these. */
#include "linear/method.h"

/* ---- Conjugate gradients ---- */

/* The conjugate gradient method of Hestenes and Stiefel (1952), as Chen has it (2021, section
 * 3.4, with d_1 = r_1 + beta_1 d_0 and alpha = d'r / d'Ad put right).
 *
 *     alpha = r'r / p'Ap,   x <- x + alpha p,   r <- r - alpha A p,
 *     beta = (r'r now) / (r'r before),   p <- r + beta p
 *
 * The directions p are A-orthogonal. So in the energy norm sqrt(e'Ae), x is the best of all points of the Krylov
 * space of dimension k after k iterations, and of the whole space after n. */
static drape_status solve_cg(drape_i_solve *s) {
    double *r = s->work[0], *p = s->work[1], *q = s->work[2], alpha, beta = 0;
    double rr = drape_i_begin(s, s->problem->guess, r, p, q); /* P = I, so that p = r */
    while (drape_i_go_on(s, rr, rr)) {
        double curvature = drape_i_times_filtered(s, p, q);
        if (!drape_i_step_length(s, rr, beta, curvature, &alpha)) break;
        drape_i_add(s, alpha, p, s->x);
        drape_i_add(s, -alpha, q, r);
        double before = rr;
        rr = drape_i_norm2(s, r);
        beta = rr / before;
        drape_i_combine(s, r, beta, p);
    }
    return DRAPE_OK;
}

const drape_i_method drape_i_method_cg = {
    .name = "cg", .about = "conjugate gradients without a preconditioner", .vectors = 3, .solve = solve_cg};

/* ---- Preconditioned ---- */

/* Preconditioned conjugate gradients as in the textbooks: CG on P^-1 A in the inner product of P.
 *
 *     h = P^-1 r,   delta = r'h,   alpha = delta / p'Ap,   x <- x + alpha p,   r <- r - alpha A p,
 *     beta = (delta now) / (delta before),   p <- h + beta p
 *
 * P comes from the prefiltered matrix. ppcg.c does the same in fewer passes over memory; this one is to be read. */
drape_status drape_i_solve_pcg(drape_i_solve *s, bool improve) {
    double *r = s->work[0], *p = s->work[1], *q = s->work[2], *h = s->work[3], alpha, beta = 0;
    double delta = improve ? drape_i_begin_nearest(s, s->problem->guess, r, p, h, q)
                           : drape_i_begin(s, s->problem->guess, r, p, q); /* p = P^-1 r */
    while (drape_i_go_on(s, delta, drape_i_norm2_if_wanted(s, r))) {
        double curvature = drape_i_times_filtered(s, p, q);
        if (!drape_i_step_length(s, delta, beta, curvature, &alpha)) break;
        drape_i_add(s, alpha, p, s->x);
        drape_i_add(s, -alpha, q, r);
        drape_i_project(s, r); /* or what rounding leaves outside the range of S outlives the rest of r */
        double before = delta;
        delta = drape_i_precondition(s, r, h);
        beta = delta / before;
        drape_i_combine(s, h, beta, p);
    }
    return DRAPE_OK;
}

static drape_status solve_pcg(drape_i_solve *s) { return drape_i_solve_pcg(s, false); }

const drape_i_method drape_i_method_pcg = {.name = "pcg",
                                           .about = "preconditioned conjugate gradients, as in the textbooks",
                                           .preconditioned = true,
                                           .prefiltered = true,
                                           .vectors = 4,
                                           .solve = solve_pcg};

/* ---- Filtered ---- */

/* The filtered CG of Hauth (2004, algorithm 4), P his projection, our S.
 *
 *     r = S (b - A v),   z = S M^-1 r,   rho = <r, z>,   p <- z + (rho / rho_1) p,   q = S A p,
 *     alpha = rho / <p, q>,   v <- v + alpha p,   r <- r - alpha q
 *
 * Corrected: the loop goes on while the residual is large; it starts from (I-S) z + S y; rho is computed on every
 * pass; the first p is z. The norm of b means that of b^ = S (b - A (I-S) z). So repaired it is MPCG with the filter
 * applied to the product A p in place of the residual. M is made from A, not from the prefiltered matrix. */
static drape_status solve_filtered_cg(drape_i_solve *s) {
    double *r = s->work[0], *p = s->work[1], *q = s->work[2], *z = s->work[3], alpha, beta = 0;
    double rho = drape_i_begin(s, s->problem->guess, r, p, q); /* p = M^-1 r */
    drape_i_project(s, p);
    while (drape_i_go_on(s, rho, drape_i_norm2_if_wanted(s, r))) {
        double curvature = drape_i_times_filtered(s, p, q);
        if (!drape_i_step_length(s, rho, beta, curvature, &alpha)) break;
        drape_i_add(s, alpha, p, s->x);
        drape_i_add(s, -alpha, q, r);
        drape_i_project(s, r); /* or what rounding leaves outside the range of S outlives the rest of r */
        double rho_1 = rho;
        drape_i_precondition(s, r, z);
        drape_i_project(s, z);
        rho = drape_i_inner(s, r, z);
        beta = rho / rho_1;
        drape_i_combine(s, z, beta, p);
    }
    return DRAPE_OK;
}

const drape_i_method drape_i_method_filtered_cg = {.name = "filtered-cg",
                                                   .about = "Hauth's filtered CG, corrected",
                                                   .preconditioned = true,
                                                   .vectors = 4,
                                                   .solve = solve_filtered_cg};

/* ---- Steepest descent ---- */

/* Steepest descent, for learning and for comparing with (Chen 2021, section 3.3): from x go along the residual
 * to the lowest point of x'Ax/2 - b'x on that line.
 *
 *     alpha = r'r / r'Ar,   x <- x + alpha r,   r <- r - alpha A r
 *
 * Each residual is orthogonal to the one before, so it zigzags: the error shrinks by (k - 1)/(k + 1) an iteration, k
 * the condition number, where CG has sqrt k. */
static drape_status solve_sd(drape_i_solve *s) {
    double *r = s->work[0], *q = s->work[1], *scratch = s->work[2], alpha;
    double rr = drape_i_begin(s, s->problem->guess, r, q, scratch); /* P = I */
    while (drape_i_go_on(s, rr, rr)) {
        double curvature = drape_i_times_filtered(s, r, q);
        if (!drape_i_step_length(s, rr, 0, curvature, &alpha)) break;
        drape_i_add(s, alpha, r, s->x);
        drape_i_add(s, -alpha, q, r);
        rr = drape_i_norm2(s, r);
    }
    return DRAPE_OK;
}

const drape_i_method drape_i_method_sd = {
    .name = "sd", .about = "steepest descent, for learning", .vectors = 3, .solve = solve_sd};
