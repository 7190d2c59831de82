/* sd.c: steepest descent, for learning and for comparing with (Chen 2009, section 3.3): from x go along the residual
 * to the lowest point of x'Ax/2 - b'x on that line.
 *
 *     alpha = r'r / r'Ar,   x <- x + alpha r,   r <- r - alpha A r
 *
 * Each residual is orthogonal to the one before, so it zigzags: the error shrinks by (k - 1)/(k + 1) an iteration, k
 * the condition number, where CG has sqrt k. */
#include "linear/method.h"

static drape_status solve(drape_i_solve *s) {
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
    .name = "sd", .about = "steepest descent, for learning", .vectors = 3, .solve = solve};
