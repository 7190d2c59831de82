/* vector.c: cuts the vectors into chunks. Bound by memory: every vector of a sum is read once. */
#include "ode/vector.h"

#include "base/parallel.h"

#include <math.h>
#include <string.h>

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
