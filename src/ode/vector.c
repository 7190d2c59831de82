/* vector.c: sums of states with factors, and the factors that interpolate between states. */
#include "ode/vector.h"

#include "base/parallel.h"
#include "ode/ode.h"

#include <math.h>
#include <string.h>

/* ---- Sums, cut into chunks. Bound by memory: every vector of a sum is read once. ---- */

enum { GRAIN = 4096, STRIP = 256 }; /* a strip of the result stays in the nearest cache while terms are added */

void drape_i_ode_sum_add(drape_i_ode_sum *sum, double factor, const double *vector) {
    if (factor == 0) return;
    DRAPE_ASSERT(sum->count >= 0 && sum->count < DRAPE_I_ODE_MOST_TERMS);
    sum->factor[sum->count] = factor;
    sum->vector[sum->count++] = vector;
}

typedef struct operands {
    const drape_i_ode_sum *sum;
    const double *a, *b;
    double *out;
    double factor, rtol, atol;
} operands;

static void form_strip(const operands *o, int64_t begin, int64_t length) {
    double strip[STRIP] = {0}; /* not in place: out may be a vector of the sum */
    for (int32_t k = 0; k < o->sum->count; k++) {
        const double *v = o->sum->vector[k] + begin, factor = o->sum->factor[k];
        for (int64_t i = 0; i < length; i++) strip[i] += factor * v[i];
    }
    memcpy(o->out + begin, strip, (size_t)length * sizeof *strip);
}

static void form_chunk(void *data, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += STRIP) form_strip(data, i, end - i < STRIP ? end - i : STRIP);
}

void drape_i_ode_sum_form(drape_context *ctx, const drape_i_ode_sum *sum, int64_t n, double *out) {
    operands o = {.sum = sum, .out = out};
    drape_i_loop(ctx, n, GRAIN, form_chunk, &o);
}

static void weighted_chunk(void *data, int64_t begin, int64_t end, double *sums) {
    const operands *o = data;
    for (int64_t i = begin; i < end; i++) {
        double e = o->factor * o->a[i], share = e == 0 ? 0 : e / (o->atol + o->rtol * fabs(o->b[i]));
        sums[0] += share * share;
    }
}

double drape_i_ode_weighted(drape_context *ctx, int64_t n, double factor, const double *e, const double *y,
                            double rtol, double atol) {
    operands o = {.a = e, .b = y, .factor = factor, .rtol = rtol, .atol = atol};
    double sum;
    drape_i_sum(ctx, n, GRAIN, weighted_chunk, &o, 1, &sum);
    return sum;
}

/* ---- Interpolation ----
 *
 * Lagrange's polynomials are l_j(x) = prod_{i != j} (x - x_i) / (x_j - x_i), and their derivatives
 *
 *   l_j'(x_e) = prod_{i != j, e} (x_e - x_i) / prod_{i != j} (x_j - x_i),   l_e'(x_e) = sum_{i != e} 1 / (x_e - x_i).
 *
 * On equidistant nodes the latter are the coefficients of Hauth's table 3. A derivative S at the last node L adds
 * w(x) (S - p'(x_L)) / w'(x_L) with w(x) = prod (x - x_i). */

/* prod over i of (from - x_i), without i = skip and i = skip_too */
static double product(int32_t count, const double *x, double from, int32_t skip, int32_t skip_too) {
    double p = 1;
    for (int32_t i = 0; i < count; i++)
        if (i != skip && i != skip_too) p *= from - x[i];
    return p;
}

void drape_i_ode_value_weights(int32_t count, const double *x, double at, double *weight) {
    DRAPE_ASSERT(count >= 1 && count <= DRAPE_I_ODE_MOST_PAST + 1);
    for (int32_t j = 0; j < count; j++) weight[j] = product(count, x, at, j, j) / product(count, x, x[j], j, j);
}

void drape_i_ode_slope_weights(int32_t count, const double *x, int32_t e, double *weight) {
    DRAPE_ASSERT(e >= 0 && e < count);
    weight[e] = 0;
    for (int32_t i = 0; i < count; i++)
        if (i != e) weight[e] += 1 / (x[e] - x[i]);
    for (int32_t j = 0; j < count; j++)
        if (j != e) weight[j] = product(count, x, x[e], j, e) / product(count, x, x[j], j, j);
}

double drape_i_ode_hermite_weights(int32_t count, const double *x, double at, double *weight) {
    double slope[DRAPE_I_ODE_MOST_PAST + 1];
    int32_t last = count - 1;
    DRAPE_ASSERT(count >= 1 && count <= DRAPE_I_ODE_MOST_PAST + 1);
    double share = product(count, x, at, -1, -1) / product(count, x, x[last], last, last);
    drape_i_ode_value_weights(count, x, at, weight);
    drape_i_ode_slope_weights(count, x, last, slope);
    for (int32_t j = 0; j < count; j++) weight[j] -= share * slope[j];
    return share;
}

/* Newton's form with divided differences, of which those over one node alone are the slopes: once for each datum,
 * which is 1 while the others are 0. */
static double basis_at(int32_t count, const double *x, const bool *slope, double at, int32_t datum) {
    double c[DRAPE_I_ODE_MOST_DATA];
    for (int32_t i = 0; i < count; i++) c[i] = (slope[i] ? i - 1 : i) == datum;
    for (int32_t level = 1; level < count; level++)
        for (int32_t i = count - 1; i >= level; i--)
            c[i] = level == 1 && slope[i] ? i == datum : (c[i] - c[i - 1]) / (x[i] - x[i - level]);
    double p = c[count - 1];
    for (int32_t i = count - 2; i >= 0; i--) p = p * (at - x[i]) + c[i];
    return p;
}

void drape_i_ode_confluent_weights(int32_t count, const double *x, const bool *slope, double at, double *weight) {
    DRAPE_ASSERT(count >= 1 && count <= DRAPE_I_ODE_MOST_DATA);
    for (int32_t j = 0; j < count; j++) weight[j] = basis_at(count, x, slope, at, j);
}

typedef struct largest_job {
    const double *e;
    int64_t chunk;
    int64_t where[DRAPE_I_CHUNKS];
} largest_job;

/* A NaN is larger than everything. */
static bool is_larger(double a, double b) { return !isnan(b) && !(fabs(a) <= fabs(b)); }

static void find_largest(void *data, int64_t begin, int64_t end) {
    largest_job *job = data;
    int64_t where = begin;
    for (int64_t i = begin + 1; i < end; i++)
        if (is_larger(job->e[i], job->e[where])) where = i;
    job->where[begin / job->chunk] = where;
}

double drape_i_ode_largest(drape_context *ctx, int64_t n, const double *e, int64_t *where) {
    largest_job job = {.e = e, .chunk = drape_i_chunk_length(n, DRAPE_I_GRAIN)};
    drape_i_loop(ctx, n, DRAPE_I_GRAIN, find_largest, &job);
    *where = job.where[0];
    for (int64_t i = 1; i * job.chunk < n; i++)
        if (is_larger(e[job.where[i]], e[*where])) *where = job.where[i];
    return fabs(e[*where]);
}

typedef struct weighted_job {
    operands o;
    int64_t chunk;
    double most[DRAPE_I_CHUNKS];
} weighted_job;

static void find_weighted(void *data, int64_t begin, int64_t end) {
    weighted_job *job = data;
    const operands *o = &job->o;
    double most = 0;
    for (int64_t i = begin; i < end; i++) {
        double e = o->factor * o->a[i], share = e == 0 ? 0 : e / (o->atol + o->rtol * fabs(o->b[i]));
        if (is_larger(share, most)) most = share;
    }
    job->most[begin / job->chunk] = fabs(most);
}

double drape_i_ode_weighted_largest(drape_context *ctx, int64_t n, double factor, const double *e, const double *y,
                                    double rtol, double atol) {
    weighted_job job = {.o = {.a = e, .b = y, .factor = factor, .rtol = rtol, .atol = atol},
                        .chunk = drape_i_chunk_length(n, DRAPE_I_GRAIN)};
    double most = 0;
    drape_i_loop(ctx, n, DRAPE_I_GRAIN, find_weighted, &job);
    for (int64_t i = 0; i * job.chunk < n; i++)
        if (is_larger(job.most[i], most)) most = job.most[i];
    return most;
}
