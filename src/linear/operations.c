/* operations.c: the vocabulary that methods are written in. Everything is threaded; the bits depend on neither
 * threads nor vector width. Traffic counts each vector and each number of A once a pass. */
#include "base/parallel.h"
#include "base/vector.h"
#include "linear/method.h"
#include "sparse/multiply.h"

#include <math.h>
#include <string.h>

static const double INDEPENDENT = 1e-10; /* how much of one of two directions must be left beside the other */

enum {
    ROW_GRAIN = 128,
    VECTOR_GRAIN = 4096,
    VERTEX = 3 * sizeof(double),
    BLOCK = 9 * sizeof(double) + sizeof(int32_t)
};

int64_t drape_i_length(const drape_i_solve *s) { return 3 * (int64_t)s->problem->A->rows; }

/* Counts this number of passes over a vector. */
static void count_vectors(drape_i_solve *s, int32_t passes) {
    s->result->bytes_moved += passes * (int64_t)VERTEX * s->problem->A->rows;
}

static void count_multiply(drape_i_solve *s) {
    const drape_bsr3 *A = s->problem->A;
    s->result->bytes_moved += BLOCK * A->rowptr[A->rows] + (int64_t)sizeof(int64_t) * A->rows;
    s->result->bytes_moved += drape_i_couplings_traffic(s->couplings);
    count_vectors(s, 2);
}

static double times_operator(drape_i_solve *s, const double *in, double *out) {
    s->problem->op->multiply(s->problem->op->user, in, out);
    return drape_i_dot(s->ctx, drape_i_length(s), in, out);
}

double drape_i_times(drape_i_solve *s, const double *in, double *out) {
    count_multiply(s);
    if (s->problem->op) return times_operator(s, in, out);
    return drape_i_coupled_multiply(s->ctx, s->problem->A, s->couplings, in, out);
}

typedef struct product {
    const drape_problem *problem;
    const drape_i_couplings *couplings; /* NULL: none */
    const double *in;
    double *out;
    drape_simd simd;
    bool prefiltered; /* `in` is in the range of S */
} product;

/* Rows that are held in all directions are not part of the prefiltered matrix. The product is zero there, and so is
 * `in`, so the dot product has the same bits as with those rows. */
static double multiply_free_rows(const product *p, int64_t begin, int64_t end) {
    double dot = 0;
    int32_t at = -1;
    while (begin < end) {
        int64_t fixed = drape_i_next_fixed(p->problem->constraints, begin, end, &at);
        dot = drape_i_multiply_rows_onto_at[p->simd](p->problem->A, p->in, p->out, begin, fixed, dot);
        if (fixed < end) memset(p->out + 3 * fixed, 0, VERTEX);
        begin = fixed + 1;
    }
    return dot;
}

static void times_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    const product *p = data;
    sums[0] = p->prefiltered ? multiply_free_rows(p, begin, end)
                             : drape_i_multiply_rows_at[p->simd](p->problem->A, p->in, p->out, begin, end);
    if (p->couplings) sums[0] += drape_i_couplings_add_rows(p->couplings, p->in, p->out, begin, end);
    drape_i_filter_rows(p->problem->constraints, p->out, begin, end); /* while they are in the cache */
}

static double times_filtered(drape_i_solve *s, const double *in, double *out, bool prefiltered) {
    const drape_i_couplings *couplings = drape_i_any_couplings(s->couplings) ? s->couplings : NULL;
    product p = {s->problem, couplings, in, out, s->ctx->simd, prefiltered};
    double dot;
    count_multiply(s);
    if (s->problem->op) {
        dot = times_operator(s, in, out);
        drape_i_project(s, out);
        return dot;
    }
    if (couplings) drape_i_couplings_begin(s->ctx, couplings, in);
    drape_i_sum(s->ctx, s->problem->A->rows, ROW_GRAIN, times_chunk, &p, 1, &dot);
    return dot;
}

double drape_i_times_filtered(drape_i_solve *s, const double *in, double *out) {
    return times_filtered(s, in, out, false);
}

double drape_i_times_prefiltered(drape_i_solve *s, const double *in, double *out) {
    return times_filtered(s, in, out, true);
}

double drape_i_precondition(drape_i_solve *s, const double *r, double *h) {
    s->result->bytes_moved += s->precond->traffic(s->precond_state);
    return s->precond->apply(s->ctx, s->precond_state, r, h);
}

void drape_i_project(drape_i_solve *s, double *v) { drape_i_filter(s->problem->constraints, v); }

void drape_i_project_out(drape_i_solve *s, double *v) {
    drape_i_filter_complement(s->problem->constraints, s->problem->A->rows, v);
}

typedef struct difference {
    const double *b;
    double *out;
} difference;

static void subtract_chunk(void *data, int64_t begin, int64_t end) {
    const difference *d = data;
    for (int64_t i = begin; i < end; i++) d->out[i] = d->b[i] - d->out[i];
}

void drape_i_residual(drape_i_solve *s, const double *from, double *out) {
    drape_i_times(s, from, out);
    count_vectors(s, 3);
    drape_i_loop(s->ctx, drape_i_length(s), VECTOR_GRAIN, subtract_chunk, &(difference){s->problem->b, out});
    drape_i_project(s, out);
}

void drape_i_copy(drape_i_solve *s, const double *from, double *to) {
    count_vectors(s, 2);
    memcpy(to, from, (size_t)drape_i_length(s) * sizeof *to);
}

double drape_i_inner(drape_i_solve *s, const double *a, const double *b) {
    count_vectors(s, a == b ? 1 : 2);
    return drape_i_dot(s->ctx, drape_i_length(s), a, b);
}

double drape_i_norm2(drape_i_solve *s, const double *a) { return drape_i_inner(s, a, a); }

double drape_i_norm2_if_wanted(drape_i_solve *s, const double *r) {
    return s->stopping->wants_norm2 ? drape_i_norm2(s, r) : 0;
}

void drape_i_advance_both(drape_i_solve *s, double a, const double *p, const double *q, double *r) {
    count_vectors(s, 6);
    drape_i_advance(s->ctx, drape_i_length(s), a, p, q, s->x, r);
}

void drape_i_add(drape_i_solve *s, double a, const double *x, double *y) {
    count_vectors(s, 3);
    drape_i_axpy(s->ctx, drape_i_length(s), a, x, y);
}

void drape_i_combine(drape_i_solve *s, const double *h, double b, double *p) {
    count_vectors(s, 3);
    drape_i_xpby(s->ctx, drape_i_length(s), b, h, p);
}

/* ---- The start ---- */

/* out = b^ = S (b - A (I-S) z). Where nothing moves that is S b, without a multiply. */
static void projected_rhs(drape_i_solve *s, double *out, double *scratch) {
    const drape_constraints *set = s->problem->constraints;
    if (set && set->moving) {
        drape_i_blend(set, s->problem->A->rows, NULL, scratch);
        drape_i_residual(s, scratch, out);
    } else {
        drape_i_copy(s, s->problem->b, out);
        drape_i_project(s, out);
    }
}

/* x = S y + (I-S) z. Where b^ = 0 the answer is (I-S) z, whatever the guess. Returns the guess that was taken. */
static const double *place(drape_i_solve *s, const double *guess) {
    if (!(s->stopping->rhs_norm2 > 0)) guess = NULL;
    drape_i_blend(s->problem->constraints, s->problem->A->rows, guess, s->x);
    return guess;
}

void drape_i_begin_unpreconditioned(drape_i_solve *s, const double *guess, double *r, double *scratch) {
    projected_rhs(s, r, scratch);
    s->stopping->rhs_norm2 = s->stopping->b_norm2 = s->stopping->b_delta = drape_i_norm2(s, r);
    if (place(s, guess)) drape_i_residual(s, s->x, r); /* otherwise x = (I-S) z and r = b^ already */
}

/* y'b^ + y'r for the start y = S x: what y'Ay of the solution is beyond e'Ae of the start. b^ is in `rhs`. */
static double start_energy(drape_i_solve *s, const double *rhs, const double *r, double *y) {
    drape_i_copy(s, s->x, y);
    drape_i_project(s, y);
    return drape_i_inner(s, y, rhs) + drape_i_inner(s, y, r);
}

double drape_i_begin(drape_i_solve *s, const double *guess, double *r, double *h, double *scratch) {
    drape_i_stopping *t = s->stopping;
    projected_rhs(s, r, scratch);
    t->rhs_norm2 = t->b_norm2 = drape_i_norm2(s, r);
    t->b_delta = drape_i_precondition(s, r, h);
    if (!place(s, guess)) return t->b_delta; /* x = (I-S) z and r = b^ already */
    drape_i_copy(s, r, scratch);
    drape_i_residual(s, s->x, r);
    t->start_energy = start_energy(s, scratch, r, h);
    return drape_i_precondition(s, r, h);
}

/* x = c[0] y + c[1] h is nearest to the solution in the energy norm, of y = S x and h = P^-1 b^:
 *
 *     c[0] y'Ay + c[1] y'Ah = y'b^,    c[0] y'Ah + c[1] h'Ah = h'b^
 *
 * False: numbers are not what they should be. */
static bool nearest_of_both(double yAy, double yAh, double hAh, double yb, double hb, double c[2]) {
    const double determinant = yAy * hAh - yAh * yAh;
    if (!(yAy > 0) || !(hAh > 0) || !(hb > 0) || !(determinant > INDEPENDENT * yAy * hAh)) return false;
    c[0] = (yb * hAh - hb * yAh) / determinant;
    c[1] = (hb * yAy - yb * yAh) / determinant;
    return isfinite(c[0]) && isfinite(c[1]);
}

/* Changes x and r = b^ - A y to those of the nearest; h and b = b^ are lost. */
static void take_nearest(drape_i_solve *s, double *r, double *h, double *b, double *q) {
    drape_i_stopping *t = s->stopping;
    const double hAh = drape_i_times_filtered(s, h, q), yAh = drape_i_inner(s, s->x, q);
    const double yb = drape_i_inner(s, s->x, b), yAy = 2 * yb - t->start_energy;
    double c[2];
    if (!nearest_of_both(yAy, yAh, hAh, yb, t->b_delta, c)) return;
    count_vectors(s, 4);
    drape_i_scale(s->ctx, drape_i_length(s), 1 - c[0], b, b);
    drape_i_scale(s->ctx, drape_i_length(s), c[1], h, h);
    drape_i_combine(s, b, c[0], r); /* A y = b^ - r: r = b^ - c[0] A y - c[1] A h */
    drape_i_add(s, -c[1], q, r);
    drape_i_combine(s, h, c[0], s->x);
    drape_i_blend(s->problem->constraints, s->problem->A->rows, s->x, s->x);
    t->start_energy = c[0] * yb + c[1] * t->b_delta;
}

double drape_i_begin_nearest(drape_i_solve *s, const double *guess, double *r, double *h, double *b, double *q) {
    drape_i_stopping *t = s->stopping;
    projected_rhs(s, r, q);
    t->rhs_norm2 = t->b_norm2 = drape_i_norm2(s, r);
    t->b_delta = drape_i_precondition(s, r, h);
    if (!place(s, guess)) return t->b_delta;
    drape_i_copy(s, r, b);
    drape_i_residual(s, s->x, r);
    t->start_energy = start_energy(s, b, r, q);
    if (t->start_energy < 0) take_nearest(s, r, h, b, q);
    return drape_i_precondition(s, r, h);
}
