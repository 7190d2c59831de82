/* cg.c: the conjugate gradient method of Hestenes and Stiefel (1952), as the course notes have it (Chen 2009, section
 * 3.4, with d_1 = r_1 + beta_1 d_0 and alpha = d'r / d'Ad put right). Read this one first.
 *
 *     alpha = r'r / p'Ap,   x <- x + alpha p,   r <- r - alpha A p,
 *     beta = (r'r now) / (r'r before),   p <- r + beta p
 *
 * The directions p are A-orthogonal, so that after k iterations x is the best of all points of the Krylov space of
 * dimension k in the energy norm sqrt(e'Ae), and of a space of dimension n in n iterations. */
#include "linear/method.h"

static drape_status solve(drape_i_solve *s) {
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
    .name = "cg", .about = "conjugate gradients without a preconditioner", .vectors = 3, .solve = solve};
