/* filtered_cg.c: the filtered CG of Hauth (2004, algorithm 4), P his projection, our S.
 *
 *     r = S (b - A v),   z = S M^-1 r,   rho = <r, z>,   p <- z + (rho / rho_1) p,   q = S A p,
 *     alpha = rho / <p, q>,   v <- v + alpha p,   r <- r - alpha q
 *
 * Put right: the loop goes on while the residual is large; it starts from (I-S) z + S y; rho is computed on every
 * pass; the first p is z; the norm of b means that of b^ = S (b - A (I-S) z). So repaired it is MPCG with the filter
 * applied to the product A p in place of the residual. M is made from A, not from the prefiltered matrix. */
#include "linear/method.h"

static drape_status solve(drape_i_solve *s) {
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
                                                   .solve = solve};
