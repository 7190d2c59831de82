/* method.h: what a method is, and the operations it is written in.
 *
 * To add one: a file in krylov/ that fills a drape_i_method, one line in registry.c.
 *
 * All methods but `direct` work on the projected system  S A y = b^,  b^ = S (b - A (I-S) z),  y in the range of S,
 * x = y + (I-S) z. The prefiltered matrix S A S + C (I-S) need not be formed. Its product with p is S A p, as long
 * as every direction p lies in the range of S. */
#ifndef DRAPE_LINEAR_METHOD_H
#define DRAPE_LINEAR_METHOD_H

#include "linear/constraints.h"
#include "linear/couplings.h"
#include "linear/precond.h"
#include "linear/stopping.h"

enum { DRAPE_I_WORK_VECTORS = 8 };

/* A solve under way. */
typedef struct drape_i_solve {
    drape_context *ctx;
    const drape_problem *problem;
    const drape_i_couplings *couplings; /* of the problem; NULL or empty: none */
    const drape_solve_settings *settings;
    const drape_i_precond *precond;
    void *precond_state;                /* refreshed with A's values */
    double *work[DRAPE_I_WORK_VECTORS]; /* as many as the method asked for, 3 rows each */
    double *x;
    void *method_state;
    drape_i_stopping *stopping;
    drape_solve_result *result;
} drape_i_solve;

typedef struct drape_i_method {
    const char *name, *about;
    bool preconditioned; /* takes preconditioners at all */
    bool prefiltered;    /* it needs them made from the prefiltered matrix, not from A */
    bool unsymmetric;    /* A need not be symmetric, nor the preconditioner */
    bool wants_norm2;    /* it needs the preconditioner's norm2 */
    int32_t vectors;     /* work vectors, 3 at least: the certificate uses them too */
    /* x, iterations, reason and residual; leaves r in work[0]. An error status is for failures that are not an
     * answer. */
    drape_status (*solve)(drape_i_solve *s);
    /* What it keeps from solve to solve while the pattern stays; may be NULL. */
    drape_status (*create)(drape_context *ctx, const drape_bsr3 *A, const drape_solve_settings *settings,
                           void **state);
    void (*destroy)(drape_context *ctx, void *state);
} drape_i_method;

const drape_i_method *drape_i_method_find(const char *name);
bool drape_i_method_takes(const drape_i_method *method, const drape_i_precond *precond);

extern const drape_i_method drape_i_method_sd, drape_i_method_cg, drape_i_method_pcg, drape_i_method_mpcg,
    drape_i_method_mpcg_original, drape_i_method_mpcg_printed, drape_i_method_filtered_cg, drape_i_method_ppcg,
    drape_i_method_bicgstab, drape_i_method_bicgstab_filtered, drape_i_method_direct;

/* cg.c: the method pcg; improve: a guess that is worse than none (drape_i_begin_nearest). */
drape_status drape_i_solve_pcg(drape_i_solve *s, bool improve);

/* ---- Operations; each adds the bytes it reads and writes to the result ---- */

int64_t drape_i_length(const drape_i_solve *s); /* 3 rows */

/* Here and below A is the matrix with its couplings. */

/* out = A in; returns in'A in. */
double drape_i_times(drape_i_solve *s, const double *in, double *out);
/* out = S A in; returns in'A in, which is in'S A in for an `in` in the range of S. */
double drape_i_times_filtered(drape_i_solve *s, const double *in, double *out);
/* The same for an `in` in the range of S: rows of vertices that are held in all directions are not read. */
double drape_i_times_prefiltered(drape_i_solve *s, const double *in, double *out);
/* h = P^-1 r; returns r'h. Methods that are prefiltered get an h in the range of S, from S r. */
double drape_i_precondition(drape_i_solve *s, const double *r, double *h);
/* v = S v, v = (I-S) v */
void drape_i_project(drape_i_solve *s, double *v);
void drape_i_project_out(drape_i_solve *s, double *v);
/* out = S (b - A from) */
void drape_i_residual(drape_i_solve *s, const double *from, double *out);

void drape_i_copy(drape_i_solve *s, const double *from, double *to);
double drape_i_inner(drape_i_solve *s, const double *a, const double *b);
double drape_i_norm2(drape_i_solve *s, const double *a);                      /* a'a */
void drape_i_add(drape_i_solve *s, double a, const double *x, double *y);     /* y += a x */
void drape_i_combine(drape_i_solve *s, const double *h, double b, double *p); /* p = h + b p */

double drape_i_norm2_if_wanted(drape_i_solve *s, const double *r); /* r'r, or 0 where nobody asks for it */
void drape_i_advance_both(drape_i_solve *s, double a, const double *p, const double *q,
                          double *r); /* x += a p, r -= a q */

/* How all of them begin, with the guess y (or NULL). Sets the norms of b^, x = S y + (I-S) z, r = S (b - A x) and h =
 * P^-1 r; returns r'h. scratch: another vector, of which nothing is expected. */
double drape_i_begin(drape_i_solve *s, const double *guess, double *r, double *h, double *scratch);
/* The same, but a guess farther from the solution than zero, in the energy norm, gives way to the nearest combination
 * of it and P^-1 b^, which costs a product. That happens in long steps, where the soft motion of the step before
 * would stretch the cloth as it is now. b and q: vectors of which nothing is expected. */
double drape_i_begin_nearest(drape_i_solve *s, const double *guess, double *r, double *h, double *b, double *q);
/* The same for methods without a P-norm: 2-norms only, no h. */
void drape_i_begin_unpreconditioned(drape_i_solve *s, const double *guess, double *r, double *scratch);

/* ---- When to stop ---- */

/* Judges x after result->iterations iterations from delta = r'P^-1 r and rr = r'r; false: the reason is set. */
bool drape_i_go_on(drape_i_solve *s, double delta, double rr);
/* The step length delta / p'Ap of a CG-like method, p = P^-1 r + beta (the p before). Counts the iteration, and how
 * much it takes off the energy of the error. False, with the reason set, where p'Ap is not positive. */
bool drape_i_step_length(drape_i_solve *s, double delta, double beta, double curvature, double *alpha);

#endif
