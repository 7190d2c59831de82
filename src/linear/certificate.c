/* certificate.c: what is certain about x once a method is through: the true residual, the constraint forces, the
 * estimate of the error, and why it failed where it did. */
#include "base/parallel.h"
#include "linear/solver.h"

#include <float.h>
#include <math.h>

static const double DRIFT = 10;          /* how many times the residual computed afresh may be the iteration's own */
static const double ROUNDED_OFF = 1e-10; /* and what it may be in any case, relative to b^ */
static const double ROUNDINGS = 100;     /* or what it may be over the rounding of b - A x */
static const double LOST = 1e-4;         /* but not that much */
static const double ASYMMETRY = 1e-8;    /* A_ij - A_ji' that is no rounding, relative to the largest of their row */

typedef struct forces {
    const double *b;
    double *Ax, *force, *r;
} forces;

static void force_chunk(void *data, int64_t begin, int64_t end) {
    const forces *f = data;
    for (int64_t i = begin; i < end; i++) {
        f->r[i] = f->b[i] - f->Ax[i];
        f->force[i] = f->Ax[i] - f->b[i];
    }
}

/* sum[r] += row r of |C_i| |x|, of vertex i */
static void add_couplings(const drape_i_couplings *C, int32_t i, const double *x, double sum[3]) {
    int32_t v = drape_i_any_couplings(C) ? C->index[i] : -1;
    double block[9];
    for (int64_t e = v < 0 ? 0 : C->first[v]; v >= 0 && e < C->first[v + 1]; e++) {
        const drape_coupling *c = &C->list[C->coupled[e].coupling];
        const int32_t a = drape_i_coupling_place(c, i);
        for (int32_t b = 0; b < c->count; b++) {
            drape_i_coupling_block(c, a, b, block);
            for (int32_t m = 0; m < 9; m++) sum[m / 3] += fabs(block[m] * x[3 * (int64_t)c->vertex[b] + m % 3]);
        }
    }
}

/* |S (|A| |x| + |b|)| times the rounding of a number: what b - A x cannot be brought below for sure. */
static double rounding_level(const drape_i_solve *s) {
    const drape_bsr3 *A = s->problem->A;
    double sum2 = 0;
    for (int32_t i = 0; i < A->rows; i++) {
        double sum[3];
        for (int32_t r = 0; r < 3; r++) {
            sum[r] = fabs(s->problem->b[3 * (int64_t)i + r]);
            for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
                for (int32_t c = 0; c < 3; c++)
                    sum[r] += fabs(A->val[9 * k + 3 * r + c] * s->x[3 * (int64_t)A->col[k] + c]);
        }
        add_couplings(s->couplings, i, s->x, sum);
        for (int32_t r = 0; r < 3; r++) sum2 += sum[r] * sum[r];
    }
    return DBL_EPSILON * sqrt(sum2);
}

/* The iteration's own residual is far below the one computed afresh, and rounding does not explain it. */
static bool drifted(const drape_i_solve *s, double own, double size, double scale) {
    bool direct = s->result->residual < 0; /* has none of its own */
    double enough = direct ? s->settings->tol * scale : DRIFT * own;
    if (!(size > enough + ROUNDED_OFF * scale)) return false;
    return size > LOST * scale || size > ROUNDINGS * rounding_level(s);
}

/* From A x computed afresh; the method's work vectors are free by now but for the residual it came to, in work[0]. */
void drape_i_certify(drape_i_solve *s, double *force) {
    drape_solve_result *result = s->result;
    double scale = sqrt(s->stopping->rhs_norm2), own = sqrt(drape_i_norm2(s, s->work[0]));
    double *r = s->work[0], *Ax = s->work[1];
    drape_i_times(s, s->x, Ax);
    drape_i_loop(s->ctx, drape_i_length(s), DRAPE_I_GRAIN, force_chunk, &(forces){s->problem->b, Ax, force, r});
    drape_i_project(s, r);
    drape_i_project_out(s, force);
    double size = sqrt(drape_i_norm2(s, r));
    result->true_residual = scale > 0 ? size / scale : size;
    if (result->reason != DRAPE_CONVERGED) return;
    if (!isfinite(size)) result->reason = DRAPE_NOT_FINITE;
    else if (drifted(s, own, size, scale)) result->reason = DRAPE_INACCURATE;
}

void drape_i_conclude(drape_i_solve *s) {
    drape_i_stopping *t = s->stopping;
    drape_solve_result *result = s->result;
    bool known = t->has_energy && result->iterations > 0;
    double tail = known ? drape_i_energy_error2(t, result->iterations) : 0,
           all = t->start_energy + t->total_gain + tail;
    result->energy_error = known && all > 0 ? sqrt(tail / all) : -1;
    drape_i_finish_history(t, known ? tail : -1);
    result->history = t->history;
    result->history_count = t->count;
}

/* Why a method that needs symmetry failed. A P that is not symmetric has no norm, and what looks like one may vanish
 * while r does not. */
void drape_i_explain_failure(const drape_i_solve *s, const drape_i_method *method) {
    drape_solve_result *result = s->result;
    bool failed = result->reason == DRAPE_ITERATION_LIMIT || result->reason == DRAPE_INDEFINITE ||
                  result->reason == DRAPE_SINGULAR || result->reason == DRAPE_INACCURATE;
    bool doubtful = result->reason == DRAPE_CONVERGED && result->true_residual > sqrt(s->settings->tol);
    if ((failed || doubtful) && !method->unsymmetric && drape_bsr3_asymmetry(s->problem->A, NULL, NULL) > ASYMMETRY)
        result->reason = DRAPE_UNSYMMETRIC;
}
