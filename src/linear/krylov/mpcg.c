/* mpcg.c: the modified preconditioned conjugate gradient method for S A x = S b, (I-S) x = (I-S) z, after Baraff and
 * Witkin (1998) as corrected by Ascher and Boxerman (2003, section 3). It is PCG on U'A U with S = U U', which
 * nobody forms.
 *
 *   A matrix, b right-hand side, S filter, z prescribed values, P preconditioner; r residual, p direction,
 *   s = A p, h = P^-1 r, delta = r'P^-1 r, b_delta what it is compared with.
 *
 * Corrected: starts from S y + (I-S) z with a guess y, b_delta = b^'P^-1 b^ with b^ = S (b - A (I-S) z).
 * Original:  starts from z,                             b_delta = (Sb)'P^-1 (Sb).
 * Printed:   the same with (Sb)'P (Sb), which depends on the units of A and b.
 *
 * Departures from the paper: b_delta = 0 ends at once with x = (I-S) z (the printed loop never ends). Where Sb = 0
 * but b^ is not, the original forms compare with b^'P^-1 b^. They stop with a reason at p'Ap <= 0, and at numbers
 * that are not finite. r is filtered where the paper filters s = S A p, which is the same in exact arithmetic. But p
 * never sees what rounding leaves outside the range of S. Filtering r keeps it out of delta, where it would make the
 * iteration diverge near the end. P is made from A, not from the prefiltered matrix. Cost per iteration: one
 * multiply, one application of P^-1, 9 reads and 4 writes of a vector. */
#include "linear/method.h"

typedef enum form { CORRECTED, ORIGINAL, PRINTED } form;

/* b_delta of the two older forms; 0 where Sb is 0. */
static double original_norm(drape_i_solve *s, form f, double *Sb, double *h) {
    drape_i_copy(s, s->problem->b, Sb);
    drape_i_project(s, Sb);
    s->stopping->b_norm2 = drape_i_norm2(s, Sb);
    return f == PRINTED ? s->precond->norm2(s->ctx, s->precond_state, Sb) : drape_i_precondition(s, Sb, h);
}

/* Sets x to where the iteration starts, r to its residual and h to P^-1 r; returns r'h. */
static double start(drape_i_solve *s, form f, double *r, double *h, double *scratch) {
    double delta = drape_i_begin(s, f == CORRECTED ? s->problem->guess : NULL, r, h, scratch);
    if (f == CORRECTED) return delta;
    double original = original_norm(s, f, scratch, s->work[2]);
    if (original > 0) s->stopping->b_delta = original;
    else s->stopping->b_norm2 = s->stopping->rhs_norm2;
    return delta;
}

static drape_status solve(drape_i_solve *s, form f) {
    double *r = s->work[0], *p = s->work[1], *q = s->work[2], *h = s->work[3], alpha, beta = 0;
    double delta = start(s, f, r, p, h); /* p = P^-1 r */
    drape_i_project(s, p);
    while (drape_i_go_on(s, delta, drape_i_norm2_if_wanted(s, r))) {
        double curvature = drape_i_times(s, p, q); /* p'Ap; p = S p makes it p'SA p */
        if (!drape_i_step_length(s, delta, beta, curvature, &alpha)) break;
        drape_i_advance_both(s, alpha, p, q, r); /* x += alpha p, r -= alpha q */
        drape_i_project(s, r);
        double before = delta;
        delta = drape_i_precondition(s, r, h);
        beta = delta / before;
        drape_i_combine(s, h, beta, p); /* p <- S (h + beta p) */
        drape_i_project(s, p);
    }
    return DRAPE_OK;
}

static drape_status solve_corrected(drape_i_solve *s) { return solve(s, CORRECTED); }
static drape_status solve_original(drape_i_solve *s) { return solve(s, ORIGINAL); }
static drape_status solve_printed(drape_i_solve *s) { return solve(s, PRINTED); }

const drape_i_method drape_i_method_mpcg = {.name = "mpcg",
                                            .about = "modified PCG, corrected by Ascher and Boxerman",
                                            .preconditioned = true,
                                            .vectors = 4,
                                            .solve = solve_corrected};
const drape_i_method drape_i_method_mpcg_original = {.name = "mpcg-original",
                                                     .about =
                                                         "modified PCG of Baraff and Witkin: no guess, relative to "
                                                         "(Sb)'P^-1 (Sb)",
                                                     .preconditioned = true,
                                                     .vectors = 4,
                                                     .solve = solve_original};
const drape_i_method drape_i_method_mpcg_printed = {.name = "mpcg-printed",
                                                    .about =
                                                        "the same relative to (Sb)'P (Sb), as printed; depends on "
                                                        "units",
                                                    .preconditioned = true,
                                                    .wants_norm2 = true,
                                                    .vectors = 4,
                                                    .solve = solve_printed};
