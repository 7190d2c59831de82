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
 * Departures from the paper: b_delta = 0 ends at once with x = (I-S) z (the printed loop never ends); where Sb = 0
 * but b^ is not, the original forms compare with b^'P^-1 b^; p'Ap <= 0 and numbers that are not finite stop with a
 * reason. r is filtered where the paper filters s = S A p: the same in exact arithmetic, and what rounding leaves
 * outside the range of S, which p never gets to see, does not stay in delta and make the iteration diverge near the
 * end. Cost an iteration: one multiply, one application of P^-1, 9 reads and 4 writes of a vector. */
#include "linear/method.h"
#include "linear/vector.h"
#include "sparse/multiply.h"

#include <math.h>
#include <string.h>

typedef enum form { CORRECTED, ORIGINAL, PRINTED } form;

typedef struct vectors {
    double *r, *p, *s, *h;
} vectors;

static int64_t length(const drape_i_solve *s) { return 3 * (int64_t)s->problem->A->rows; }

static double apply_inverse(drape_i_solve *s, const double *r, double *h) {
    return s->precond->apply(s->ctx, s->precond_state, r, h);
}

/* out = S (b - A x), x in `from`; scratch must not be out. */
static void residual(drape_i_solve *s, const double *from, double *scratch, double *out) {
    const double *b = s->problem->b;
    drape_i_multiply(s->ctx, s->problem->A, from, scratch);
    for (int64_t i = 0; i < length(s); i++) out[i] = b[i] - scratch[i];
    drape_i_filter(s->problem->constraints, out);
}

/* r = b^ = S (b - A (I-S) z). Where nothing moves that is S b, without a multiply. */
static void filtered_rhs(drape_i_solve *s, vectors *v) {
    const drape_constraints *set = s->problem->constraints;
    if (set && set->moving) {
        drape_i_blend(set, s->problem->A->rows, NULL, v->p);
        residual(s, v->p, v->s, v->r);
    } else {
        memcpy(v->r, s->problem->b, (size_t)length(s) * sizeof *v->r);
        drape_i_filter(set, v->r);
    }
}

/* b_delta of the two older forms; 0 where Sb is 0. */
static double original_norm(drape_i_solve *s, form f, vectors *v) {
    memcpy(v->p, s->problem->b, (size_t)length(s) * sizeof *v->p);
    drape_i_filter(s->problem->constraints, v->p);
    return f == PRINTED ? s->precond->norm2(s->ctx, s->precond_state, v->p) : apply_inverse(s, v->p, v->h);
}

/* Sets x to where the iteration starts and r to its residual; returns b_delta. */
static double start(drape_i_solve *s, form f, vectors *v) {
    const drape_constraints *set = s->problem->constraints;
    int32_t rows = s->problem->A->rows;
    filtered_rhs(s, v);
    double corrected = apply_inverse(s, v->r, v->h);
    double original = f == CORRECTED ? 0 : original_norm(s, f, v);
    const double *guess = f == CORRECTED && corrected > 0 ? s->problem->guess : NULL;
    drape_i_blend(set, rows, guess, s->x);
    if (guess) residual(s, s->x, v->s, v->r); /* otherwise x = (I-S) z and r = b^ already */
    return original > 0 ? original : corrected;
}

enum { GO_ON = -1 };

/* A drape_reason to stop before the next iteration, or GO_ON. */
static int verdict(const drape_i_solve *s, double delta, double b_delta) {
    const double tol = s->settings->tol;
    if (!isfinite(delta) || !isfinite(b_delta)) return DRAPE_NOT_FINITE;
    if (delta < 0) return DRAPE_INDEFINITE;
    if (delta <= tol * tol * b_delta) return DRAPE_CONVERGED;
    return s->result->iterations < s->settings->max_iterations ? GO_ON : DRAPE_ITERATION_LIMIT;
}

static void iterate(drape_i_solve *s, double b_delta, vectors *v) {
    const drape_constraints *set = s->problem->constraints;
    drape_solve_result *result = s->result;
    int reason;
    double delta = apply_inverse(s, v->r, v->p); /* p = S P^-1 r */
    drape_i_filter(set, v->p);
    for (result->iterations = 0; (reason = verdict(s, delta, b_delta)) == GO_ON; result->iterations++) {
        double curvature = drape_i_multiply(s->ctx, s->problem->A, v->p, v->s); /* p'Ap; p = S p makes it p's */
        if (!(curvature > 0)) {
            reason = isfinite(curvature) ? DRAPE_INDEFINITE : DRAPE_NOT_FINITE;
            break;
        }
        drape_i_advance(s->ctx, length(s), delta / curvature, v->p, v->s, s->x,
                        v->r); /* x += alpha p, r -= alpha s */
        drape_i_filter(set, v->r);
        double before = delta;
        delta = apply_inverse(s, v->r, v->h);                          /* h <- P^-1 r, delta <- r'h */
        drape_i_direct(s->ctx, length(s), delta / before, v->h, v->p); /* p <- S (h + beta p) */
        drape_i_filter(set, v->p);
    }
    result->reason = (drape_reason)reason;
    result->residual = b_delta > 0 ? sqrt(delta / b_delta) : 0;
}

static void solve(drape_i_solve *s, form f) {
    vectors v = {s->work[0], s->work[1], s->work[2], s->work[3]};
    double b_delta = start(s, f, &v);
    iterate(s, b_delta, &v);
}

static void solve_corrected(drape_i_solve *s) { solve(s, CORRECTED); }
static void solve_original(drape_i_solve *s) { solve(s, ORIGINAL); }
static void solve_printed(drape_i_solve *s) { solve(s, PRINTED); }

const drape_i_method drape_i_method_mpcg = {"mpcg", solve_corrected};
const drape_i_method drape_i_method_mpcg_original = {"mpcg_original", solve_original};
const drape_i_method drape_i_method_mpcg_printed = {"mpcg_printed", solve_printed};
