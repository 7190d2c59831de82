/* pcg.c: preconditioned conjugate gradients as in the textbooks: CG on P^-1 A in the inner product of P.
 *
 *     h = P^-1 r,   delta = r'h,   alpha = delta / p'Ap,   x <- x + alpha p,   r <- r - alpha A p,
 *     beta = (delta now) / (delta before),   p <- h + beta p
 *
 * P comes from the prefiltered matrix. ppcg.c does the same in fewer passes over memory; this one is to be read. */
#include "linear/method.h"

static drape_status solve(drape_i_solve *s) {
    double *r = s->work[0], *p = s->work[1], *q = s->work[2], *h = s->work[3], alpha, beta = 0;
    double delta = drape_i_begin(s, s->problem->guess, r, p, q); /* p = P^-1 r */
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

const drape_i_method drape_i_method_pcg = {.name = "pcg",
                                           .about = "preconditioned conjugate gradients, as in the textbooks",
                                           .preconditioned = true,
                                           .prefiltered = true,
                                           .vectors = 4,
                                           .solve = solve};
